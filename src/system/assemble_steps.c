/* The steps of assembly: assemble.c derives them. */
#include <math.h>
#include <string.h>

#include "gauss/tolerances.h"
#include "math/elementary.h"
#include "system/assemble_inner.h"
#include "tree/sweeps.h"

enum { RESTORE = 60, HALVES = 14, DESCEND = 400, RECENT = 5, IDLE = 60 };

static const double ADMITTED = 1e-11; /* relative to the largest violation met: counts as none */
static const double NEAREST = 1e-12;  /* the last step, relative to the distance: derivatives by the
                                         start are those of the nearest position */
static const double ULPS =
    1e-14; /* steps below this times 1 + the largest coordinate count as zero */
static const double STALL = 1e-9; /* and below this if round-off prevents progress */
static const double SOFT = 1e-3;  /* compliance of rows that contradict each other */

int assemble_is_one_sided(const zw_system *system, int c)
{
    return system->model->constraint[c].relation == MODEL_AT_LEAST;
}

void assemble_copy_place(const assemble_search *s, double *to, const double *from)
{
    memcpy(to, from, (size_t)s->system->nq * sizeof *to);
}

/* ---- Distances ------------------------------------------------------------------------------ */

/* product = M x */
static void metric_times(const assemble_search *s, const double *x, double *product)
{
    const zw_system *system = s->system;
    memset(product, 0, (size_t)system->n * sizeof *product);
    for (int j = 0; j < system->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            int i = system->M_row[k];
            product[i] += s->M[k] * x[j];
            product[j] += i != j ? s->M[k] * x[i] : 0;
        }
    }
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* The largest |x_i|. */
static double largest(int n, const double *x)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

int assemble_is_small(const assemble_search *s, const double *q, double part)
{
    return largest(s->system->n, s->d) <= part * (1 + largest(s->system->nq, q));
}

double assemble_metric_square(const assemble_search *s, const double *x)
{
    metric_times(s, x, s->product);
    return dot(s->system->n, x, s->product);
}

/* y = J' y for the rotation vector p. */
static void through_rotation(const double *p, double *y)
{
    double square = dot(3, p, p), size = sqrt(square), c = 1.0 / 12 + square / 720;
    if (size > 0.01) {
        double sine, cosine;
        math_sincos(0.5 * size, &sine, &cosine);
        c = (1 - 0.5 * size * cosine / sine) / square;
    }
    double across[3], twice[3];
    for (int pass = 0; pass < 2; pass++) {
        const double *x = pass == 0 ? y : across;
        double *to = pass == 0 ? across : twice;
        to[0] = p[1] * x[2] - p[2] * x[1];
        to[1] = p[2] * x[0] - p[0] * x[2];
        to[2] = p[0] * x[1] - p[1] * x[0];
    }
    for (int k = 0; k < 3; k++) {
        y[k] += c * twice[k] - 0.5 * across[k];
    }
}

/* delta, f's gradient, and 2 f. */
double assemble_look_back(assemble_search *s, const double *q)
{
    const zw_system *system = s->system;
    if (system->tree) {
        tree_difference(system->tree, q, s->start, s->delta);
    } else {
        for (int i = 0; i < system->n; i++) {
            s->delta[i] = q[i] - s->start[i];
        }
    }
    metric_times(s, s->delta, s->gradient);
    double square = dot(system->n, s->delta, s->gradient);
    for (int j = 0; system->tree && j < system->tree->joints; j++) {
        const tree_joint *joint = &system->tree->joint[j];
        int at = joint->v + (joint->kind == TREE_FREE ? 3 : 0);
        if (joint->kind == TREE_FREE || joint->kind == TREE_BALL) {
            through_rotation(s->delta + at, s->gradient + at);
        }
    }
    return square;
}

void assemble_move_from(const assemble_search *s, const double *from, double length,
                        const double *d, double *to)
{
    assemble_copy_place(s, to, from);
    system_move(s->system, to, length, d);
}

/* ---- Constraints ---------------------------------------------------------------------------- */

double assemble_violated_by(const assemble_search *s, int r, const double *phi)
{
    system_row kind = s->system->row_kind[r];
    return kind == SYSTEM_VELOCITY ? 0 : kind == SYSTEM_CONTACT ? fmax(0, -phi[r]) : fabs(phi[r]);
}

double assemble_sum_of_violations(assemble_search *s, const double *q)
{
    double sum = 0;
    zw_error ignored;
    if (system_evaluate(s->system, s->work, PART_POSITION, s->t, q, s->v, NULL, NULL, &ignored) !=
        ZW_OK) {
        return INFINITY;
    }
    for (int r = 0; r < s->system->m; r++) {
        sum += s->weight[r] * assemble_violated_by(s, r, s->work->out[PART_POSITION]);
    }
    return isfinite(sum) ? sum : INFINITY;
}

/* Includes the one-sided constraints that were violated when the residuals were last evaluated;
 * returns how many are new. */
static int take_in_violated(assemble_search *s)
{
    int count = 0;
    for (int c = 0; c < s->system->model->constraint_count; c++) {
        if (assemble_is_one_sided(s->system, c) && s->role[c] == SOLVER_ABSENT &&
            s->work->out[PART_POSITION][s->system->first_row[c]] < 0) {
            s->role[c] = SOLVER_AT_LEAST;
            count++;
        }
    }
    if (count > 0) {
        solver_free(s->solver);
        s->solver = NULL;
    }
    return count;
}

/* Residuals and rows at q, and the weights: one over the length of a row in the diagonal of the
 * metric; coordinates without mass count as the lightest one with mass. */
zw_status assemble_linearise(assemble_search *s, const double *q, zw_error *error)
{
    const zw_system *system = s->system;
    zw_status status =
        system_evaluate(system, s->work, PART_POSITION, s->t, q, s->v, NULL, NULL, error);
    const double *A = s->work->out[PART_POSITION] + system->m;
    double least = INFINITY;
    for (int i = 0; i < system->n; i++) {
        double mass = s->M[system->M_start[i]];
        least = mass > 0 && mass < least ? mass : least;
    }
    for (int r = 0; r < system->m && status == ZW_OK; r++) {
        double sum = 0;
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            double mass = s->M[system->M_start[system->A_column[k]]];
            sum += A[k] * A[k] / (mass > 0 ? mass : least < INFINITY ? least : 1);
        }
        s->weight[r] = sum > 0 ? 1 / sqrt(sum) : 0;
    }
    return status;
}

/* If the linearised rows contradict each other, they are made slightly compliant; the remaining
 * violation, the fraction SOFT of it, is left to the next step. */
zw_status assemble_solve_soft(assemble_search *s, zw_error *error)
{
    system_solver *solver = s->solver;
    for (int i = 0; i < solver->rows; i++) {
        double weight = s->weight[solver->row_of[i]];
        solver->flex[i] = weight > 0 ? SOFT / (weight * weight) : 1;
    }
    /* a different problem needs another workspace; the answer is copied to s->d before that is
     * freed */
    zw_gauss_work *rigid = solver->gauss;
    solver->gauss = NULL;
    solver->problem.compliance = solver->flex;
    solver->warm = 0;
    zw_status status = solver_solve(solver, error);
    if (status == ZW_OK || status == ZW_INACCURATE) {
        memcpy(s->d, solver->answer.a, (size_t)s->system->n * sizeof *s->d);
        status = ZW_OK;
    }
    zw_gauss_work_free(solver->gauss);
    solver->gauss = rigid;
    solver->problem.compliance = NULL;
    return status;
}

zw_status assemble_find_step(assemble_search *s, const double *q, const double *gradient,
                             zw_error *error)
{
    const zw_system *system = s->system;
    zw_status status = assemble_linearise(s, q, error);
    if (status != ZW_OK) {
        return status;
    }
    s->cost += (double)system->n * system->n * system->n;
    take_in_violated(s);
    if (!s->solver) {
        s->solver = solver_create(system, s->role, NULL, 0, error);
        if (!s->solver) {
            return ZW_NO_MEMORY;
        }
        s->solver->options.rank = GAUSS_PROJECTION_RANK;
        s->solver->options.least_squares = 1;
        s->solver->options.tolerance = 1e-13;
    }
    const double *phi = s->work->out[PART_POSITION];
    for (int r = 0; r < system->m; r++) {
        s->b[r] = -phi[r];
    }
    for (int i = 0; i < system->n; i++) {
        s->force[i] = gradient ? -gradient[i] : 0;
    }
    const system_rows rows = {.A = phi + system->m, .b = s->b};
    solver_fill(s->solver, s->M, rows, s->force, NULL);
    s->solver->warm = 0;
    status = solver_solve(s->solver, error);
    if (status == ZW_OK || status == ZW_INACCURATE) {
        memcpy(s->d, s->solver->answer.a, (size_t)system->n * sizeof *s->d);
        return ZW_OK;
    }
    if (status == ZW_CONFLICT || status == ZW_NO_SOLUTION) {
        status = assemble_solve_soft(s, error);
    }
    return status == ZW_OK ? ZW_OK : system_report_failure(s->solver, s->t, status, error);
}

/* ---- Onto the constraints ------------------------------------------------------------------- */

/* The step s->d, halved until the violations decrease by half of the predicted amount, so that the
 * search does not jump to a distant branch; or by a thousandth, if necessary. 0: they do not
 * decrease. A constraint that becomes violated is included in the problem instead. */
static int shorten(assemble_search *s, double *q, double violated)
{
    double length = 1, other = 0;
    for (int half = 0; half < HALVES; half++, length /= 2) {
        assemble_move_from(s, q, length, s->d, s->ahead);
        double after = assemble_sum_of_violations(s, s->ahead);
        if (half == 0 && after < INFINITY && take_in_violated(s) > 0) {
            return 1;
        }
        if (after <= (1 - 0.5 * length) * violated) {
            assemble_copy_place(s, q, s->ahead);
            return 1;
        }
        other = other == 0 && after <= (1 - 1e-3 * length) * violated ? length : other;
    }
    assemble_move_from(s, q, other, s->d, s->ahead);
    assemble_copy_place(s, q, s->ahead);
    return other > 0;
}

/* q onto the constraints; *done: it got there. */
zw_status assemble_restore(assemble_search *s, double *q, int *done, zw_error *error)
{
    *done = 0;
    for (int round = 0; round < RESTORE; round++) {
        zw_status status = assemble_find_step(s, q, NULL, error);
        if (status != ZW_OK) {
            return status;
        }
        double violated = assemble_sum_of_violations(s, q);
        s->most = fmax(s->most, violated);
        if (violated <= ADMITTED * s->most || assemble_is_small(s, q, ULPS)) {
            *done = 1;
            return ZW_OK;
        }
        if (!shorten(s, q, violated)) {
            *done = assemble_is_small(s, q, STALL);
            return ZW_OK;
        }
    }
    return ZW_OK;
}

/* ---- To the nearest position ---------------------------------------------------------------- */

/* The next step length, from the last `step` and the direction `before` it. */
static double next_length(assemble_search *s, double length)
{
    int n = s->system->n;
    metric_times(s, s->step, s->product);
    double square = dot(n, s->step, s->product), fall = 0;
    for (int i = 0; i < n; i++) {
        fall += s->product[i] * (s->before[i] - s->d[i]);
    }
    double next = fall > 0 ? square / fall : 2 * length;
    return fmin(fmax(next, 1e-4), 1e4);
}

/* Moves from s->q along s->d, by this length or less, to s->trial; *length = 0: nothing nearer was
 * found. */
static zw_status go_along(assemble_search *s, double *length, double limit, double *square,
                          zw_error *error)
{
    int n = s->system->n;
    memcpy(s->before, s->d, (size_t)n * sizeof *s->d);
    for (int half = 0; half < HALVES; half++, *length /= 4) {
        int done;
        assemble_move_from(s, s->q, *length, s->before, s->trial);
        zw_status status = assemble_restore(s, s->trial, &done, error);
        if (status != ZW_OK) {
            return status;
        }
        *square = assemble_look_back(s, s->trial);
        if (done && *square <= limit) {
            for (int i = 0; i < n; i++) {
                s->step[i] = *length * s->before[i];
            }
            return ZW_OK;
        }
    }
    *length = 0;
    return ZW_OK;
}

/* s->q, which is admissible, to the nearest such position around it; *distance to it. */
zw_status assemble_descend(assemble_search *s, double *distance, zw_error *error)
{
    double recent[RECENT], length = 1, least = INFINITY, square = assemble_look_back(s, s->q);
    int idle = 0;
    for (int i = 0; i < RECENT; i++) {
        recent[i] = square;
    }
    for (int round = 0; round < DESCEND; round++) {
        double limit = 0, moved = length;
        assemble_look_back(s, s->q);
        zw_status status = assemble_find_step(s, s->q, s->gradient, error);
        if (status != ZW_OK) {
            return status;
        }
        double size = assemble_metric_square(s, s->d);
        idle = size < 0.25 * least ? 0 : idle + 1;
        least = fmin(least, size);
        if (size <= NEAREST * NEAREST * square || idle > IDLE || assemble_is_small(s, s->q, ULPS)) {
            break;
        }
        for (int i = 0; i < RECENT; i++) {
            limit = fmax(limit, recent[i]);
        }
        length = moved = round > 0 ? next_length(s, length) : 1;
        status = go_along(s, &moved, limit * (1 + 1e-10), &square, error);
        if (status != ZW_OK || moved == 0) {
            *distance = sqrt(assemble_look_back(s, s->q));
            return status;
        }
        assemble_copy_place(s, s->q, s->trial);
        recent[round % RECENT] = square;
    }
    *distance = sqrt(assemble_look_back(s, s->q));
    return ZW_OK;
}
