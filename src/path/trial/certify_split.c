/* R = [T] - F - C, divided in the metric B into what the constraints can exert and the rest.
 *
 * With the accelerations a_s that the system itself would have (certify_model.c), M a_s = F + C +
 * N with the reaction N = A' lambda_s; so R = N + M d, d = a - a_s. The constraints can exert any
 * A' lambda, and
 *
 *     R = A' lambda + R_t,    B x = R_t,    A x = 0
 *
 * is Gauss's problem with the metric B, the force R, the rows A and b = 0: its motion is x and its
 * multipliers are -lambda. As N is normal, the force M d gives the same x, and it is small where R
 * is not. A closed contact enters as an equality, since a_s has been found with it pushing. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/dense/dense.h"
#include "math/dense/small.h"
#include "path/trial/certify.h"

enum { POLL = 1024 };

static const double *terms(const path_certifier *certifier, int at)
{
    return certifier->work->out[PART_TERMS] + at;
}

void certify_weigh(const path_certifier *certifier, const double *x, double *y)
{
    const zw_system *system = certifier->system;
    const double *M = terms(certifier, system->at.M);
    memset(y, 0, (size_t)certifier->n * sizeof *y);
    for (int j = 0; j < certifier->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            int i = system->M_row[k];
            y[i] += M[k] * x[j];
            y[j] += i == j ? 0 : M[k] * x[i];
        }
    }
}

/* ---- B \ x ----------------------------------------------------------------------------------- */

/* H = M + s A' A, lower triangle. */
static void fill_dense(const path_certifier *certifier, double s, double *H)
{
    const zw_system *system = certifier->system;
    const double *M = terms(certifier, system->at.M), *A = terms(certifier, system->at.A);
    int n = certifier->n;
    memset(H, 0, (size_t)n * (size_t)n * sizeof *H);
    for (int j = 0; j < n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            H[system->M_row[k] * n + j] = M[k];
        }
    }
    for (int r = 0; r < certifier->m && s > 0; r++) {
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
static double completion(const path_certifier *certifier)
{
    const zw_system *system = certifier->system;
    const double *A = terms(certifier, system->at.A);
    double mass = 0, rows = 0;
    for (int j = 0; j < certifier->n; j++) {
        mass += fabs(terms(certifier, system->at.M)[system->M_start[j]]);
    }
    for (int k = 0; k < system->A_start[certifier->m]; k++) {
        rows += A[k] * A[k];
    }
    return rows > 0 && mass > 0 ? mass / rows : 1;
}

static zw_status solve_large(path_certifier *certifier, double t, double *x, zw_error *error)
{
    system_solver *bare = certifier->bare;
    const system_rows rows = {.A = terms(certifier, certifier->system->at.A),
                              .b = terms(certifier, certifier->system->at.b),
                              .slip = terms(certifier, certifier->system->at.slip)};
    solver_fill(bare, terms(certifier, certifier->system->at.M), rows, x, NULL);
    zw_status status = solver_solve(bare, error);
    if (status != ZW_OK) {
        return system_report_failure(bare, t, status, error);
    }
    memcpy(x, bare->answer.a, (size_t)certifier->n * sizeof *x);
    return ZW_OK;
}

/* Where M is singular, the rows complete it: directions without mass that constraints hold carry
 * normal forces only. */
zw_status certify_metric_solve(path_certifier *certifier, double t, double *x, zw_error *error)
{
    int n = certifier->n;
    double *H = certifier->scratch[3];
    if (certifier->factor) {
        small_ldl_solve(n, certifier->factor, x);
        return ZW_OK;
    }
    if (certifier->system->sparse) {
        return solve_large(certifier, t, x, error);
    }
    fill_dense(certifier, 0, H);
    if (small_ldl(n, H, 0)) {
        fill_dense(certifier, completion(certifier), H);
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

/* The projection in a metric given by the caller: a solver like that of the motion. */
static zw_status other_solver(path_certifier *certifier, zw_error *error)
{
    const zw_work *work = certifier->work;
    size_t bytes = (size_t)certifier->constraints * sizeof(int);
    if (certifier->other && memcmp(certifier->other_mode, work->mode, bytes) == 0) {
        return ZW_OK;
    }
    solver_free(certifier->other);
    certifier->other = solver_create(certifier->system, work->motion->role, NULL, 0, error);
    if (!certifier->other) {
        return ZW_NO_MEMORY;
    }
    memcpy(certifier->other_mode, work->mode, bytes);
    return ZW_OK;
}

zw_status certify_project(path_certifier *certifier, double t, const double *force, double *x,
                          double *lambda, zw_error *error)
{
    const zw_system *system = certifier->system;
    system_solver *solver = certifier->work->motion;
    if (certifier->factor) {
        zw_status status = other_solver(certifier, error);
        if (status != ZW_OK) {
            return status;
        }
        solver = certifier->other;
    }
    const system_rows rows = {.A = terms(certifier, system->at.A),
                              .b = terms(certifier, system->at.b),
                              .slip = terms(certifier, system->at.slip)};
    solver_fill(solver, terms(certifier, system->at.M), rows, force, NULL);
    solver->options.least_squares = 1;
    memset(solver->b, 0, (size_t)solver->rows * sizeof *solver->b);
    if (certifier->factor) {
        solver->problem.metric =
            (zw_metric){.kind = ZW_METRIC_DENSE, .value = certifier->options->metric};
    }
    zw_status status = solver_solve(solver, error);
    if (status == ZW_INACCURATE && solver->answer.certificate.worst < 1e-3) {
        status = ZW_OK; /* the extra force need not be accurate to ten digits */
    }
    if (status != ZW_OK) {
        return system_report_failure(solver, t, status, error);
    }
    memcpy(x, solver->answer.a, (size_t)certifier->n * sizeof *x);
    solver_multipliers(solver, lambda);
    return ZW_OK;
}

/* sum of (M B^-1 M)_kk blur_k^2: an upper bound of the error of the extra force that errors of the
 * accelerations cause. */
static zw_status error_of(path_certifier *certifier, double t, const double *blur, double *sum,
                          zw_error *error)
{
    const zw_system *system = certifier->system;
    const double *M = terms(certifier, system->at.M);
    double *unit = certifier->scratch[2], *column = certifier->scratch[0];
    *sum = 0;
    for (int k = 0; k < certifier->n; k++) {
        if (!certifier->factor) {
            *sum += fabs(M[system->M_start[k]]) * blur[k] * blur[k];
            continue;
        }
        memset(unit, 0, (size_t)certifier->n * sizeof *unit);
        unit[k] = 1;
        certify_weigh(certifier, unit, column);
        memcpy(unit, column, (size_t)certifier->n * sizeof *unit);
        zw_status status = certify_metric_solve(certifier, t, unit, error);
        if (status != ZW_OK) {
            return status;
        }
        *sum += dense_dot(certifier->n, unit, column) * blur[k] * blur[k];
    }
    return ZW_OK;
}

/* extra, lambda and their sizes at sample i; the terms of that sample are in the work. */
static zw_status take_apart(path_certifier *certifier, long i, zw_error *error)
{
    zw_trial *trial = certifier->trial;
    int n = certifier->n, rows = certifier->work->motion->rows;
    double t = trial->t[i], *force = certifier->scratch[0], *x = certifier->scratch[1],
           *less = certifier->scratch[2];
    double *extra = trial->extra + i * n, *lambda = trial->lambda + i * certifier->m;
    const double *apart = certifier->apart + i * n;
    zw_status status = ZW_OK;
    certify_weigh(certifier, apart, force);
    double all = dense_dot(n, apart, force);
    if (rows > 0) {
        status = certify_project(certifier, t, force, x, less, error);
        for (int r = 0; r < certifier->m && status == ZW_OK; r++) {
            lambda[r] -= less[r];
        }
        if (certifier->factor) {
            dense_multiply_symmetric(n, certifier->options->metric, n, x, extra);
        } else {
            certify_weigh(certifier, x, extra);
        }
    } else {
        memcpy(extra, force, (size_t)n * sizeof *extra);
        memcpy(x, force, (size_t)n * sizeof *x);
        status = certifier->factor ? certify_metric_solve(certifier, t, x, error) : ZW_OK;
        memcpy(x, certifier->factor ? x : apart, (size_t)n * sizeof *x);
    }
    if (status != ZW_OK) {
        return status;
    }
    double size = fmax(dense_dot(n, x, extra), 0);
    trial->extra_size[i] = sqrt(size);
    certifier->away[i] = sqrt(fmax(all - size, 0));
    for (int k = 0; k < n; k++) {
        less[k] = force[k] += certifier->react[i * n + k];
    }
    status = certify_metric_solve(certifier, t, less, error);
    certifier->square[i] = fmax(dense_dot(n, less, force), size);
    return status;
}

/* What the extra force is compared with. */
static void compare(path_certifier *certifier, long i)
{
    const double *a = certifier->trial->a + i * certifier->n;
    certify_weigh(certifier, a, certifier->scratch[2]);
    certifier->forces[i] = fmax(dense_dot(certifier->n, certifier->scratch[2], a), 0);
}

/* ---- Constraints ----------------------------------------------------------------------------- */

#define TOLERATED 8.0 /* times the error of the fit, */
#define SMALL 1e-8    /* and this part of the size of the coordinates in a row */

/* |value| of row r in units of its tolerance. */
static double violation(const path_certifier *certifier, int r, double value, const double *A,
                        const double *blur, const double *size)
{
    const zw_system *system = certifier->system;
    double sum = 0, whole = 0, largest = dense_largest(certifier->n, size);
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        int i = system->A_column[k];
        sum += A[k] != 0 ? A[k] * A[k] * blur[i] * blur[i] : 0;
        whole += fabs(A[k]) * fmax(size[i], 1e-3 * largest);
    }
    double limit = TOLERATED * sqrt(sum) + SMALL * whole;
    return limit > 0 ? value / limit : value > 0 ? INFINITY : 0;
}

static void note_violation(path_certifier *certifier, long i, int r, double ratio)
{
    zw_trial_report *report = &certifier->trial->report;
    if (ratio > certifier->off || report->violation_constraint < 0) {
        certifier->off = ratio;
        report->violation_constraint = certifier->system->row_constraint[r];
        report->violation_time = certifier->trial->t[i];
    }
}

/* Checks positions as recorded, with the noise that was found in them, and the speeds of the fit.
 * If the positions satisfy a constraint, so do the true speeds: a violation by the fitted speeds is
 * reported but does not count. */
static zw_status check_constraints(path_certifier *certifier, long i, const double *v,
                                   zw_error *error)
{
    const zw_system *system = certifier->system;
    zw_trial *trial = certifier->trial;
    zw_trial_report *report = &trial->report;
    zw_work *work = certifier->work;
    const double *q = certifier->path->q + i * certifier->n;
    double t = trial->t[i], *blur = certifier->scratch[0];
    zw_status status = system_evaluate(system, work, PART_POSITION, t, q, v, NULL, NULL, error);
    for (int k = 0; k < certifier->n; k++) {
        blur[k] = hypot(certifier->blur[0][i * certifier->n + k], certifier->rest.noise[k]);
    }
    q = trial->q + i * certifier->n;
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_VELOCITY, t, q, v, NULL, NULL, error);
    }
    const double *phi = work->out[PART_POSITION], *psi = work->out[PART_VELOCITY];
    for (int r = 0; r < certifier->m && status == ZW_OK; r++) {
        int c = system->row_constraint[r], contact = system->row_kind[r] == SYSTEM_CONTACT;
        int open = certifier->mode[i * certifier->constraints + c] == SYSTEM_OPEN;
        double position = contact ? fmax(-phi[r], 0) : fabs(phi[r]);
        double speed = contact && open ? 0 : fabs(psi[r]);
        report->violation_position = fmax(report->violation_position, position);
        report->violation_velocity = fmax(report->violation_velocity, speed);
        if (system->row_kind[r] == SYSTEM_VELOCITY) {
            note_violation(certifier, i, r,
                           violation(certifier, r, speed, psi + certifier->m,
                                     certifier->blur[1] + i * certifier->n, certifier->swift));
        } else {
            note_violation(
                certifier, i, r,
                violation(certifier, r, position, phi + certifier->m, blur, certifier->size));
        }
    }
    return status;
}

/* ---- All ------------------------------------------------------------------------------------- */

static zw_status split(path_certifier *certifier, long i, zw_error *error)
{
    const zw_system *system = certifier->system;
    zw_trial *trial = certifier->trial;
    zw_work *work = certifier->work;
    const double *q = trial->q + i * certifier->n, *v = trial->v + i * certifier->n;
    double t = trial->t[i], miss = 0;
    for (int c = 0; c < certifier->constraints; c++) {
        certifier->modes[c] = certifier->mode[i * certifier->constraints + c];
    }
    zw_status status = system_set_modes(system, work, certifier->modes, error);
    status = status == ZW_OK ? certify_law_speeds(certifier, i, q, v, &v, error) : status;
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_TERMS, t, q, v, NULL, NULL, error);
    }
    if (status == ZW_OK && !certify_law_varies(certifier)) {
        status = take_apart(certifier, i, error);
    }
    if (status == ZW_OK) {
        compare(certifier, i);
    }
    if (status == ZW_OK) {
        status = error_of(certifier, t, certifier->blur[2] + i * certifier->n, &miss, error);
        trial->extra_error[i] = hypot(sqrt(miss), certifier->grid_error[i]);
    }
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_ENERGY, t, q, v, NULL, NULL, error);
        certifier->energy[i] = work->out[PART_ENERGY][0];
    }
    return status == ZW_OK && certifier->m > 0 ? check_constraints(certifier, i, v, error) : status;
}

zw_status certify_split(path_certifier *certifier, zw_error *error)
{
    zw_status status = ZW_OK;
    if (certifier->lanes && !certifier->factor) {
        return certify_lanes_split(certifier, error);
    }
    status = certify_law_find(certifier, certifier->trial->a, error);
    for (long i = 0; i < certifier->count && status == ZW_OK; i++) {
        status = i % POLL == POLL - 1 ? certify_polled(certifier, i, error) : ZW_OK;
        status = status == ZW_OK ? split(certifier, i, error) : status;
    }
    return status;
}
