/* Back onto the constraints, by the nearest way in the metric of the masses: again Gauss's problem,
 * with the wanted change in place of the acceleration.
 *
 *     minimise 1/2 d' M d   subject to   A d = -phi(q)      q += d,  until phi stays
 *
 * Newton's method with fresh rows; on an accepted step the first correction is already of the size
 * of the local error, so two or three rounds reach round-off. Rows are taken in the least-squares
 * sense: off the manifold, redundant rows contradict each other by what they are violated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "system/tangent.h"
#include "system/work.h"

enum { ROUNDS = 30 };

/* The rows of a solver, the largest residual among them, and which it is. What sticks must not
 * slide: `slip` has its speeds, or is NULL. */
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

/* Round-off of a residual: its row times the size of what it is evaluated at. */
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
        solver->b[i] = 0; /* held coordinates stay */
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

/* The worst row, and who else stands against it: all that are off by a tenth as much. */
static zw_status cannot(const system_solver *solver, const double *left, int row, int speeds,
                        double t, double residual, zw_error *error)
{
    const zw_system *system = solver->system;
    const model_constraint *list = system->model->constraint;
    char others[200] = "";
    size_t used = 0;
    int worst = system->row_constraint[row], last = worst;
    for (int i = 0; i < solver->rows && used + 1 < sizeof others; i++) {
        int r = solver->row_of[i], c = r >= 0 ? system->row_constraint[r] : worst;
        if (c != worst && c != last && fabs(left[r]) >= 0.1 * residual) {
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%.60s",
                                     used ? ", " : "; nor, with it, ", list[c].name);
            last = c;
        }
    }
    return model_fail(system->model, error, ZW_CONFLICT, list[worst].place,
                      "at t = %.9g no nearby %s constraint %s (off by %.3g)%s", t,
                      speeds ? "speeds satisfy" : "position satisfies", list[worst].name, residual,
                      others);
}

/* One loop for both levels: part says which residuals, x is what moves. */
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
            return status == ZW_BAD_INPUT ? system_tell(solver, t, status, error) : status;
        }
    }
    return before <= 1e-9
               ? ZW_OK
               : cannot(solver, work->out[part], row, part == PART_VELOCITY, t, before, error);
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
    }
    return status;
}
