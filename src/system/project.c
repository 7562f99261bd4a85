/* Projection onto the constraints, the nearest point in the metric of the masses: again Gauss's
 * problem, with the correction in place of the acceleration.
 *
 *     minimise 1/2 d' M d   subject to   A d = -phi(q)      q += d,  repeated
 *
 * Newton's method with fresh rows; on an accepted step the first correction is already of the size
 * of the local error, so two or three rounds reach round-off. Rows are solved in the least-squares
 * sense: off the manifold, redundant rows contradict each other by their violations. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "system/events/tangent.h"
#include "system/work.h"

enum { ROUNDS = 30 };

/* The largest residual of the rows of a solver, and which row it is. Sticking constraints must not
 * slide: `slip` has their speeds, or is NULL. */
static double largest(const system_solver *solver, const double *residual, const double *slip,
                      int *which)
{
    double worst = 0;
    *which = -1;
    for (int i = 0; i < solver->rows; i++) {
        int r = solver->row_of[i];
        if (r == -1 && slip) {
            int c = solver->tangent_of[i] / 4;
            tangent t = tangent_look(solver->system, c, slip);
            *which = tangent_speed(&t) > worst ? solver->system->first_row[c] : *which;
            worst = fmax(worst, tangent_speed(&t));
        }
        if (r >= 0 && fabs(residual[r]) > worst) {
            worst = fabs(residual[r]);
            *which = r;
        }
    }
    return worst;
}

/* Round-off of a residual: its row times the size of its argument. */
static double noise(const zw_system *system, const system_solver *solver, const double *A,
                    const double *slip, const double *x)
{
    double worst = 0;
    for (int i = 0; i < solver->rows; i++) {
        int r = solver->row_of[i];
        double sum = 0;
        for (int k = r >= 0 ? system->A_start[r] : 0; r >= 0 && k < system->A_start[r + 1]; k++) {
            sum += fabs(A[k]) * (1e-3 + fabs(x[system->A_column[k]]));
        }
        if (r == -1) {
            tangent t = tangent_look(system, solver->tangent_of[i] / 4, slip);
            for (int k = 0; k < t.width * t.columns; k++) {
                sum += fabs(t.T[k]) * (1e-3 + fabs(x[t.column[k % t.columns]]));
            }
        }
        worst = sum > worst ? sum : worst;
    }
    return 2.3e-16 * worst;
}

static zw_status correct(const zw_system *system, zw_work *work, system_solver *solver,
                         const double *residual, const double *A, double *x, zw_error *error)
{
    double *b = work->spare[0], *zero = work->spare[1];
    for (int r = 0; r < system->m; r++) {
        b[r] = -residual[r];
    }
    memset(zero, 0, (size_t)system->n * sizeof *zero);
    const system_rows rows = {.A = A, .b = b, .slip = work->out[PART_SLIP]};
    solver_fill(solver, work->out[PART_METRIC], rows, NULL, zero);
    for (int i = 0; i < solver->rows && residual == work->out[PART_POSITION]; i++) {
        solver->b[i] = solver->row_of[i] == -1 ? 0 : solver->b[i]; /* points do not slide */
    }
    for (int i = solver->rows - solver->extra; i < solver->rows; i++) {
        solver->b[i] = 0; /* held coordinates do not move */
    }
    solver->warm = 0;
    zw_status status = solver_solve(solver, error);
    if (status == ZW_CONFLICT && solver->options.least_squares) {
        status = ZW_OK;
    }
    if (status == ZW_OK || status == ZW_INACCURATE) {
        if (residual == work->out[PART_POSITION]) {
            system_move(system, x, 1, solver->answer.a);
        } else {
            for (int i = 0; i < system->n; i++) {
                x[i] += solver->answer.a[i];
            }
        }
        return ZW_OK;
    }
    return status;
}

zw_status system_name_violated(const zw_system *system, const double *off, const int *against,
                               const char *what, double t, zw_error *error)
{
    const model_constraint *list = system->model->constraint;
    char others[200] = "";
    size_t used = 0;
    int row = 0;
    for (int r = 1; r < system->m; r++) {
        row = off[r] > off[row] ? r : row;
    }
    int worst = system->row_constraint[row], last = worst;
    for (int r = 0; r < system->m && used + 1 < sizeof others; r++) {
        int c = system->row_constraint[r];
        int named = against ? against[c] : off[r] >= 0.1 * off[row];
        if (c != worst && c != last && named) {
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%.60s",
                                     used ? ", " : " together with ", list[c].name);
            last = c;
        }
    }
    return model_fail(system->model, error, ZW_CONFLICT, list[worst].place,
                      "at t = %.9g no nearby %s constraint %s (off by %.3g)%s", t, what,
                      list[worst].name, off[row], others);
}

/* Reports the residuals that a projection could not remove. */
static zw_status refuse(const system_solver *solver, zw_work *work, const double *left, int speeds,
                        double t, zw_error *error)
{
    double *off = work->spare[0];
    memset(off, 0, (size_t)solver->system->m * sizeof *off);
    for (int i = 0; i < solver->rows; i++) {
        int r = solver->row_of[i];
        if (r >= 0) {
            off[r] = fabs(left[r]);
        }
    }
    return system_name_violated(solver->system, off, NULL,
                                speeds ? "speeds satisfy" : "position satisfies", t, error);
}

/* One loop for positions and speeds: `part` selects the residuals, x is corrected. */
static zw_status project(const zw_system *system, zw_work *work, system_solver *solver,
                         system_part part, double t, double *q, double *v, double *x,
                         zw_error *error)
{
    double before = INFINITY;
    int row = -1, stalls = 0;
    if (solver->rows == 0) {
        return ZW_OK;
    }
    for (int round = 0; round < ROUNDS; round++) {
        zw_status status = system_evaluate(system, work, part, t, q, v, NULL, NULL, error);
        if (status == ZW_OK) {
            status = system_evaluate(system, work, PART_SLIP, t, q, v, NULL, NULL, error);
        }
        if (status != ZW_OK) {
            return status;
        }
        const double *residual = work->out[part], *A = residual + system->m;
        const double *slip = work->out[PART_SLIP];
        double now = largest(solver, residual, part == PART_VELOCITY ? slip : NULL, &row);
        double small = noise(system, solver, A, slip, x);
        if (now <= small || (now >= 0.5 * before && now <= 64 * small)) {
            return ZW_OK;
        }
        stalls += now >= 0.5 * before;
        if (stalls > 8) {
            break;
        }
        before = now;
        if (round == 0 || part == PART_POSITION) {
            status = system_evaluate(system, work, PART_METRIC, t, q, v, NULL, NULL, error);
        }
        if (status == ZW_OK) {
            status = correct(system, work, solver, residual, A, x, error);
        }
        if (status != ZW_OK) {
            return status == ZW_BAD_INPUT ? system_report_failure(solver, t, status, error)
                                          : status;
        }
    }
    return before <= 1e-9 ? ZW_OK
                          : refuse(solver, work, work->out[part], part == PART_VELOCITY, t, error);
}

zw_status system_project_position(const zw_system *system, zw_work *work, double t, double *q,
                                  const double *v, zw_error *error)
{
    return project(system, work, work->position, PART_POSITION, t, q, (double *)v, q, error);
}

zw_status system_project_velocity(const zw_system *system, zw_work *work, double t, const double *q,
                                  double *v, zw_error *error)
{
    return project(system, work, work->velocity, PART_VELOCITY, t, (double *)q, v, v, error);
}

zw_status system_project_velocity_with(const zw_system *system, zw_work *work,
                                       system_solver *solver, double t, const double *q, double *v,
                                       zw_error *error)
{
    return project(system, work, solver, PART_VELOCITY, t, (double *)q, v, v, error);
}

/* The largest violation of the open one-sided constraints: 0 if there is none. A gap that changes
 * at the speed psi is only known to psi times a unit in the last place of the time. */
static double deepest(const zw_system *system, const zw_work *work, double t)
{
    const double *phi = work->out[PART_POSITION], *psi = work->out[PART_VELOCITY];
    double worst = 0, tick = 4.5e-16 * fabs(t);
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (system->model->constraint[c].relation == MODEL_AT_LEAST &&
            work->mode[c] == SYSTEM_OPEN) {
            int r = system->first_row[c];
            worst = fmax(worst, -phi[r] - tick * fabs(psi[r]));
        }
    }
    return worst;
}

zw_status system_violation(const zw_system *system, zw_work *work, double t, const double *q,
                           const double *v, double violation[2], zw_error *error)
{
    int row;
    zw_status status = system_evaluate(system, work, PART_POSITION, t, q, v, NULL, NULL, error);
    if (status == ZW_OK) {
        violation[0] = largest(work->position, work->out[PART_POSITION], NULL, &row);
        status = system_evaluate(system, work, PART_VELOCITY, t, q, v, NULL, NULL, error);
    }
    if (status == ZW_OK) {
        violation[1] = largest(work->velocity, work->out[PART_VELOCITY], NULL, &row);
        violation[0] = fmax(violation[0], deepest(system, work, t));
    }
    return status;
}
