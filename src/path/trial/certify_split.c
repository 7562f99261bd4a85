/* R = [T] - F - C, taken apart in the metric B: what the constraints can exert, and the rest.
 *
 * With the accelerations a_s that the system itself would have (certify_model.c), M a_s = F + C +
 * N with the reaction N = A' lambda_s; so R = N + M d, d = a - a_s. The constraints can exert any
 * A' lambda, and
 *
 *     R = A' lambda + R_t,    B x = R_t,    A x = 0
 *
 * is Gauss's problem with the metric B, the force R, the rows A and b = 0: its motion is x and its
 * multipliers are -lambda. As N is normal, the force M d gives the same x, and is small where R is
 * not. A closed contact takes part as an equality, since a_s has been found with it pushing. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/dense/dense.h"
#include "math/dense/small.h"
#include "path/trial/certify.h"

enum { POLL = 1024 };

static const double *terms(const path_judge *judge, int at)
{
    return judge->work->out[PART_TERMS] + at;
}

void judge_weigh(const path_judge *judge, const double *x, double *y)
{
    const zw_system *system = judge->system;
    const double *M = terms(judge, system->at.M);
    memset(y, 0, (size_t)judge->n * sizeof *y);
    for (int j = 0; j < judge->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            int i = system->M_row[k];
            y[i] += M[k] * x[j];
            y[j] += i == j ? 0 : M[k] * x[i];
        }
    }
}

/* ---- B \ x ------------------------------------------------------------------------------------
 */

/* H = M + s A' A, lower triangle. */
static void fill_dense(const path_judge *judge, double s, double *H)
{
    const zw_system *system = judge->system;
    const double *M = terms(judge, system->at.M), *A = terms(judge, system->at.A);
    int n = judge->n;
    memset(H, 0, (size_t)n * (size_t)n * sizeof *H);
    for (int j = 0; j < n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            H[system->M_row[k] * n + j] = M[k];
        }
    }
    for (int r = 0; r < judge->m && s > 0; r++) {
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            for (int l = system->A_start[r]; l < system->A_start[r + 1]; l++) {
                int i = system->A_column[k], j = system->A_column[l];
                if (j <= i) {
                    H[i * n + j] += s * A[k] * A[l];
                }
            }
        }
    }
}

/* The size of M relative to that of A' A. */
static double completion(const path_judge *judge)
{
    const zw_system *system = judge->system;
    const double *A = terms(judge, system->at.A);
    double mass = 0, rows = 0;
    for (int j = 0; j < judge->n; j++) {
        mass += fabs(terms(judge, system->at.M)[system->M_start[j]]);
    }
    for (int k = 0; k < system->A_start[judge->m]; k++) {
        rows += A[k] * A[k];
    }
    return rows > 0 && mass > 0 ? mass / rows : 1;
}

static zw_status solve_large(path_judge *judge, double t, double *x, zw_error *error)
{
    system_solver *bare = judge->bare;
    const system_rows rows = {.A = terms(judge, judge->system->at.A),
                              .b = terms(judge, judge->system->at.b),
                              .slip = terms(judge, judge->system->at.slip)};
    solver_fill(bare, terms(judge, judge->system->at.M), rows, x, NULL);
    zw_status status = solver_solve(bare, error);
    if (status != ZW_OK) {
        return system_tell(bare, t, status, error);
    }
    memcpy(x, bare->answer.a, (size_t)judge->n * sizeof *x);
    return ZW_OK;
}

/* Where M is singular, the rows complete it: directions that only constraints hold carry normal
 * forces only. */
zw_status judge_metric_solve(path_judge *judge, double t, double *x, zw_error *error)
{
    int n = judge->n;
    double *H = judge->room[3];
    if (judge->factor) {
        small_ldl_solve(n, judge->factor, x);
        return ZW_OK;
    }
    if (judge->system->sparse) {
        return solve_large(judge, t, x, error);
    }
    fill_dense(judge, 0, H);
    if (small_ldl(n, H, 0)) {
        fill_dense(judge, completion(judge), H);
        if (small_ldl(n, H, 0)) {
            return base_fail(error, ZW_UNDETERMINED,
                             "at t = %.9g some coordinates have neither mass nor constraint", t);
        }
    }
    small_ldl_solve(n, H, x);
    return ZW_OK;
}

/* ---- The extra force
 * ---------------------------------------------------------------------------------
 */

/* The projection in a metric of the caller's: a solver like that of the motion. */
static zw_status other_solver(path_judge *judge, zw_error *error)
{
    const zw_work *work = judge->work;
    size_t bytes = (size_t)judge->constraints * sizeof(int);
    if (judge->other && memcmp(judge->other_mode, work->mode, bytes) == 0) {
        return ZW_OK;
    }
    solver_free(judge->other);
    judge->other = solver_create(judge->system, work->motion->role, NULL, 0, error);
    if (!judge->other) {
        return ZW_NO_MEMORY;
    }
    memcpy(judge->other_mode, work->mode, bytes);
    return ZW_OK;
}

zw_status judge_project(path_judge *judge, double t, const double *force, double *x, double *lambda,
                        zw_error *error)
{
    const zw_system *system = judge->system;
    system_solver *solver = judge->work->motion;
    if (judge->factor) {
        zw_status status = other_solver(judge, error);
        if (status != ZW_OK) {
            return status;
        }
        solver = judge->other;
    }
    const system_rows rows = {.A = terms(judge, system->at.A),
                              .b = terms(judge, system->at.b),
                              .slip = terms(judge, system->at.slip)};
    solver_fill(solver, terms(judge, system->at.M), rows, force, NULL);
    solver->options.least_squares = 1;
    memset(solver->b, 0, (size_t)solver->rows * sizeof *solver->b);
    if (judge->factor) {
        solver->problem.metric =
            (zw_metric){.kind = ZW_METRIC_DENSE, .value = judge->options->metric};
    }
    zw_status status = solver_solve(solver, error);
    if (status == ZW_INACCURATE && solver->answer.certificate.worst < 1e-3) {
        status = ZW_OK; /* the extra force need not be known to ten digits */
    }
    if (status != ZW_OK) {
        return system_tell(solver, t, status, error);
    }
    memcpy(x, solver->answer.a, (size_t)judge->n * sizeof *x);
    solver_multipliers(solver, lambda);
    return ZW_OK;
}

/* sum of (M B^-1 M)_kk blur_k^2: what errors of the accelerations make of the extra force, at most.
 */
static zw_status error_of(path_judge *judge, double t, const double *blur, double *sum,
                          zw_error *error)
{
    const zw_system *system = judge->system;
    const double *M = terms(judge, system->at.M);
    double *unit = judge->room[2], *column = judge->room[0];
    *sum = 0;
    for (int k = 0; k < judge->n; k++) {
        if (!judge->factor) {
            *sum += fabs(M[system->M_start[k]]) * blur[k] * blur[k];
            continue;
        }
        memset(unit, 0, (size_t)judge->n * sizeof *unit);
        unit[k] = 1;
        judge_weigh(judge, unit, column);
        memcpy(unit, column, (size_t)judge->n * sizeof *unit);
        zw_status status = judge_metric_solve(judge, t, unit, error);
        if (status != ZW_OK) {
            return status;
        }
        *sum += dense_dot(judge->n, unit, column) * blur[k] * blur[k];
    }
    return ZW_OK;
}

/* extra, lambda and their sizes at sample i; the terms are those of the sample. */
static zw_status take_apart(path_judge *judge, long i, zw_error *error)
{
    zw_trial *trial = judge->trial;
    int n = judge->n, rows = judge->work->motion->rows;
    double t = trial->t[i], *force = judge->room[0], *x = judge->room[1], *less = judge->room[2];
    double *extra = trial->extra + i * n, *lambda = trial->lambda + i * judge->m;
    const double *apart = judge->apart + i * n;
    zw_status status = ZW_OK;
    judge_weigh(judge, apart, force);
    double all = dense_dot(n, apart, force);
    if (rows > 0) {
        status = judge_project(judge, t, force, x, less, error);
        for (int r = 0; r < judge->m && status == ZW_OK; r++) {
            lambda[r] -= less[r];
        }
        if (judge->factor) {
            dense_multiply_symmetric(n, judge->options->metric, n, x, extra);
        } else {
            judge_weigh(judge, x, extra);
        }
    } else {
        memcpy(extra, force, (size_t)n * sizeof *extra);
        memcpy(x, force, (size_t)n * sizeof *x);
        status = judge->factor ? judge_metric_solve(judge, t, x, error) : ZW_OK;
        memcpy(x, judge->factor ? x : apart, (size_t)n * sizeof *x);
    }
    if (status != ZW_OK) {
        return status;
    }
    double size = fmax(dense_dot(n, x, extra), 0);
    trial->hand_size[i] = sqrt(size);
    judge->away[i] = sqrt(fmax(all - size, 0));
    for (int k = 0; k < n; k++) {
        less[k] = force[k] += judge->react[i * n + k];
    }
    status = judge_metric_solve(judge, t, less, error);
    judge->square[i] = fmax(dense_dot(n, less, force), size);
    return status;
}

/* What the extra force is compared with. */
static void compare(path_judge *judge, long i)
{
    const double *a = judge->trial->a + i * judge->n;
    judge_weigh(judge, a, judge->room[2]);
    judge->forces[i] = fmax(dense_dot(judge->n, judge->room[2], a), 0);
}

/* ---- Constraints ------------------------------------------------------------------------------
 */

#define TOLERATED 8.0 /* times the error of the fit, */
#define SMALL 1e-8    /* and this of the size of the coordinates in a row */

/* |value| of row r over what is tolerated. */
static double violation(const path_judge *judge, int r, double value, const double *A,
                        const double *blur, const double *size)
{
    const zw_system *system = judge->system;
    double sum = 0, whole = 0, largest = dense_largest(judge->n, size);
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        int i = system->A_column[k];
        sum += A[k] != 0 ? A[k] * A[k] * blur[i] * blur[i] : 0;
        whole += fabs(A[k]) * fmax(size[i], 1e-3 * largest);
    }
    double limit = TOLERATED * sqrt(sum) + SMALL * whole;
    return limit > 0 ? value / limit : value > 0 ? INFINITY : 0;
}

static void note_violation(path_judge *judge, long i, int r, double ratio)
{
    zw_trial_report *report = &judge->trial->report;
    if (ratio > judge->off || report->violation_constraint < 0) {
        judge->off = ratio;
        report->violation_constraint = judge->system->row_constraint[r];
        report->violation_time = judge->trial->t[i];
    }
}

/* Positions as they were recorded, with the noise that was found in them; speeds of the fit. A path
 * whose positions keep a constraint has the speeds for it: what the fit's say is reported, but does
 * not count.
 */
static zw_status check_constraints(path_judge *judge, long i, const double *v, zw_error *error)
{
    const zw_system *system = judge->system;
    zw_trial *trial = judge->trial;
    zw_trial_report *report = &trial->report;
    zw_work *work = judge->work;
    const double *q = judge->path->q + i * judge->n;
    double t = trial->t[i], *blur = judge->room[0];
    zw_status status = system_evaluate(system, work, PART_POSITION, t, q, v, NULL, NULL, error);
    for (int k = 0; k < judge->n; k++) {
        blur[k] = hypot(judge->blur[0][i * judge->n + k], judge->rest.noise[k]);
    }
    q = trial->q + i * judge->n;
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_VELOCITY, t, q, v, NULL, NULL, error);
    }
    const double *phi = work->out[PART_POSITION], *psi = work->out[PART_VELOCITY];
    for (int r = 0; r < judge->m && status == ZW_OK; r++) {
        int c = system->row_constraint[r], contact = system->row_kind[r] == SYSTEM_CONTACT;
        int open = judge->mode[i * judge->constraints + c] == SYSTEM_OPEN;
        double position = contact ? fmax(-phi[r], 0) : fabs(phi[r]);
        double speed = contact && open ? 0 : fabs(psi[r]);
        report->violation_position = fmax(report->violation_position, position);
        report->violation_velocity = fmax(report->violation_velocity, speed);
        if (system->row_kind[r] == SYSTEM_VELOCITY) {
            note_violation(judge, i, r,
                           violation(judge, r, speed, psi + judge->m, judge->blur[1] + i * judge->n,
                                     judge->swift));
        } else {
            note_violation(judge, i, r,
                           violation(judge, r, position, phi + judge->m, blur, judge->size));
        }
    }
    return status;
}

/* ---- All --------------------------------------------------------------------------------------
 */

static zw_status split(path_judge *judge, long i, zw_error *error)
{
    const zw_system *system = judge->system;
    zw_trial *trial = judge->trial;
    zw_work *work = judge->work;
    const double *q = trial->q + i * judge->n, *v = trial->v + i * judge->n;
    double t = trial->t[i], miss = 0;
    for (int c = 0; c < judge->constraints; c++) {
        judge->modes[c] = judge->mode[i * judge->constraints + c];
    }
    zw_status status = system_set_modes(system, work, judge->modes, error);
    status = status == ZW_OK ? judge_law_speeds(judge, i, q, v, &v, error) : status;
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_TERMS, t, q, v, NULL, NULL, error);
    }
    if (status == ZW_OK && !judge_law_varies(judge)) {
        status = take_apart(judge, i, error);
    }
    if (status == ZW_OK) {
        compare(judge, i);
    }
    if (status == ZW_OK) {
        status = error_of(judge, t, judge->blur[2] + i * judge->n, &miss, error);
        trial->hand_error[i] = hypot(sqrt(miss), judge->grid_error[i]);
    }
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_ENERGY, t, q, v, NULL, NULL, error);
        judge->energy[i] = work->out[PART_ENERGY][0];
    }
    return status == ZW_OK && judge->m > 0 ? check_constraints(judge, i, v, error) : status;
}

zw_status judge_split(path_judge *judge, zw_error *error)
{
    zw_status status = ZW_OK;
    if (judge->lanes && !judge->factor) {
        return judge_lanes_split(judge, error);
    }
    status = judge_law_find(judge, judge->trial->a, error);
    for (long i = 0; i < judge->count && status == ZW_OK; i++) {
        status = i % POLL == POLL - 1 ? judge_polled(judge, i, error) : ZW_OK;
        status = status == ZW_OK ? split(judge, i, error) : status;
    }
    return status;
}
