/* Where rows lose rank. The kernel normalises rows to length one, which hides one way to lose rank:
 * a row that vanishes. With angles, the row "the ends of two bars have the same x" is A = s A^ as
 * the bars become parallel to x, s = w (t - t*), and A^ is smooth; but phi is known to round-off e,
 * and its consequences to e/s, as in leap.c. What counts as small is relative to the row's own
 * past: f = |A|/(its largest length in this run). The rows diag(f) L^ have, with the columns x of
 * the inverse of L^,
 *
 *     sum of 1/s^2 = sum_j |x_j|^2/f_j^2 ~ sum_j |x_j|^2 + sum_j (1/f_j^2 - 1),
 *
 * exact for orthogonal rows and for f = 1, and as linear in t - t* near t* as the margin of leap.c
 * must be. With sparse algebra the margin is the least s, which is small in a long chain because of
 * its length alone, so it is taken relative to its largest value in this run. Rows that are always
 * zero, such as "the same z" of a planar mechanism, are round-off of the other rows of their
 * constraint and are ignored. */
#include "step/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

step_motion motion_of(const zw_system *system, zw_work *work, double *stage)
{
    int carried = system->carried;
    double *longest = stage + system->nq + system->n + carried + 1;
    memset(longest, 0, (size_t)system->m * sizeof *longest);
    return (step_motion){.system = system,
                         .work = work,
                         .carried = carried,
                         .size = system->nq + system->n + carried + system->works,
                         .stage = stage,
                         .at_node = 1,
                         .first = -1,
                         .margin = 1,
                         .longest = longest};
}

static zw_status accelerate(step_motion *motion, double t, const double *y, double *dy,
                            zw_error *error)
{
    int nq = motion->system->nq;
    if (motion->work->stop && system_stops(motion->work->stop)) {
        return base_fail_as(error, ZW_INTERRUPTED);
    }
    system_rates(motion->system, y, y + nq, dy);
    zw_status status =
        system_accelerate(motion->system, motion->work, t, y, y + nq, dy + nq, error);
    int rank = motion->work->motion->rows > 0 ? motion->work->motion->answer.rank : 0;
    motion->first = motion->first < 0 ? rank : motion->first;
    if (motion->system->works) {
        dy[motion->size - 1] = motion->work->power;
    }
    return status;
}

/* Over the active rows: the least f, and in *sum the sum of 1/f^2 - 1. At nodes the largest lengths
 * are updated. */
static double shortest(step_motion *motion, int node, double *sum)
{
    const zw_system *system = motion->system;
    const system_solver *solver = motion->work->motion;
    const double *A = motion->work->out[PART_TERMS] + system->at.A;
    double least = 1.0, *longest = motion->longest;
    *sum = 0.0;
    for (int c = 0; c < system->model->constraint_count; c++) {
        int first = system->first_row[c], end = system->first_row[c + 1];
        double most = 0.0;
        if (solver->role[c] != SOLVER_EQUAL && solver->role[c] != SOLVER_EQUAL_HELD) {
            continue;
        }
        for (int r = first; r < end; r++) {
            most = fmax(most, longest[r]);
        }
        for (int r = first; r < end; r++) {
            double square = 0.0;
            for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
                square += A[k] * A[k];
            }
            longest[r] = node ? fmax(longest[r], sqrt(square)) : longest[r];
            if (longest[r] > 1e-9 * most && square < longest[r] * longest[r]) {
                double f = sqrt(square) / longest[r];
                least = fmin(least, f);
                *sum += 1.0 / (f * f) - 1.0;
            }
        }
    }
    return least;
}

/* At a point of the manifold: also the margin of the rows there. */
static zw_status accelerate_at_node(step_motion *motion, double t, const double *y, double *dy,
                                    zw_error *error)
{
    system_solver *solver = motion->work->motion;
    solver->options.margin = 1;
    zw_status status = accelerate(motion, t, y, dy, error);
    solver->options.margin = 0;
    motion->margin = 1.0;
    if (solver->rows > 0 && solver->answer.rank > 0) {
        double sum, margin = solver->answer.margin;
        motion->most = fmax(motion->most, margin);
        margin /= motion->system->sparse ? motion->most : 1.0;
        shortest(motion, 1, &sum);
        motion->margin = 1.0 / sqrt(1.0 / (margin * margin) + sum);
    }
    return status;
}

/* Rows that depend on each other only on the manifold (Bricard's mechanism) are independent and
 * contradictory off it, where the stages of a step are; and where rows are about to lose rank (a
 * parallelogram that lies flat), a point at a distance d from the manifold has accelerations
 * with errors of d divided by the distance from that instant. In both cases the field is
 * evaluated at the nearest point of the manifold instead: it is as smooth, and on the manifold
 * it is the same. */
zw_status motion_field(void *user, double t, const double *y, double *dy, zw_error *error)
{
    enum { SINGULAR = 20 }; /* rows closer to dependence than 1/SINGULAR */
    step_motion *motion = user;
    system_solver *solver = motion->work->motion;
    if (motion->alone) {
        motion->careful = motion->at_node = 0;
        motion->rank = solver->rows;
        solver->warm = 0;
    }
    int node = motion->at_node;
    motion->at_node = 0;
    if (!motion->careful || node) {
        zw_status status = node ? accelerate_at_node(motion, t, y, dy, error)
                                : accelerate(motion, t, y, dy, error);
        if (status != ZW_OK || solver->rows == 0) {
            return status;
        }
        double sum, least = fmin(solver->answer.independence, shortest(motion, node, &sum));
        least = node && motion->system->sparse ? fmin(least, motion->margin) : least;
        int singular = SINGULAR * least < 1;
        motion->rank = node ? solver->answer.rank : motion->rank;
        motion->careful = singular || solver->answer.rank > motion->rank ||
                          (motion->careful && motion->rank < solver->rows);
        if (node || !motion->careful) {
            return ZW_OK;
        }
    }
    memcpy(motion->stage, y, (size_t)motion->size * sizeof *y);
    zw_status status = motion_project(motion, t, motion->stage, error);
    motion->at_node = 0;
    return status == ZW_OK ? accelerate(motion, t, motion->stage, dy, error) : status;
}

zw_status motion_project(void *user, double t, double *y, zw_error *error)
{
    step_motion *motion = user;
    double *v = y + motion->system->nq;
    system_normalise(motion->system, y);
    zw_status status = system_project_position(motion->system, motion->work, t, y, v, error);
    if (status == ZW_OK) {
        status = system_project_velocity(motion->system, motion->work, t, y, v, error);
    }
    motion->at_node = 1;
    return status;
}

void motion_move(void *user, double *q, double h, const double *v)
{
    const step_motion *motion = user;
    system_move(motion->system, q, h, v);
}

/* At rest, so that no speeds can contradict each other. */
int motion_rank_beside(step_motion *motion, double t, const double *y)
{
    int n = motion->system->n, nq = motion->system->nq;
    unsigned seed = 1;
    double *at = motion->stage, *rate = motion->work->spare[0];
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        rate[i] = (double)(seed >> 8) / 8388608.0 - 1.0;
    }
    memcpy(at, y, (size_t)motion->size * sizeof *at);
    system_move(motion->system, at, 1e-3, rate);
    memset(at + nq, 0, (size_t)n * sizeof *at);
    zw_status status = system_accelerate(motion->system, motion->work, t, at, at + nq, rate, NULL);
    return status == ZW_OK && motion->work->motion->rows > 0 ? motion->work->motion->answer.rank
                                                             : -1;
}

/* For right sides b, without forces, the multipliers are S^-1 b, S = A M^-1 A': near a loss of rank
 * that is, for nearly every b, the combination of rows that is about to vanish. */
int motion_name_singular(step_motion *motion, double t, const double *y, char *text,
                         size_t capacity)
{
    enum { NAMES = 4 };
    const zw_system *system = motion->system;
    zw_work *work = motion->work;
    system_solver *solver = work->motion;
    const double *out = work->out[PART_TERMS];
    double *zero = work->spare[0], *b = work->spare[1], most = 0.0;
    size_t used = 0;
    int names = 0;
    zw_error ignored;
    if (motion->margin > 0.05 || solver->rows == 0 ||
        system_evaluate(system, work, PART_TERMS, t, y, y + system->nq, NULL, NULL, &ignored)) {
        return 0;
    }
    memset(zero, 0, (size_t)system->n * sizeof *zero);
    for (int r = 0; r < system->m; r++) {
        b[r] = 0.0;
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            b[r] += (1.0 + 0.1 * (r % 7)) * fabs(out[system->at.A + k]);
        }
    }
    const system_rows rows = {.A = out + system->at.A, .b = b, .slip = out + system->at.slip};
    solver_fill(solver, out + system->at.M, rows, zero, NULL);
    solver->warm = 0;
    zw_status status = solver_solve(solver, &ignored);
    if (status != ZW_OK && status != ZW_INACCURATE) {
        return 0;
    }
    for (int i = 0; i < solver->rows; i++) {
        most = fmax(most, fabs(solver->answer.lambda[i]));
    }
    text[0] = 0;
    for (int k = 0, i = 0; k < solver->block_count && names < NAMES; k++) {
        int pulls = 0;
        for (int end = i + solver->block[k].rows; i < end; i++) {
            pulls |= fabs(solver->answer.lambda[i]) > 0.1 * most;
        }
        if (pulls && used + 1 < capacity) {
            used += (size_t)snprintf(text + used, capacity - used, "%s%.40s", names++ ? ", " : "",
                                     solver->block[k].name);
        }
    }
    return names > 0;
}

/* For a point that is not part of the steps. */
zw_status motion_exact(void *user, double t, double *y, double *dy, zw_error *error)
{
    step_motion *motion = user;
    int node = motion->at_node;
    zw_status status = motion_project(motion, t, y, error);
    motion->at_node = node;
    return status == ZW_OK ? accelerate_at_node(motion, t, y, dy, error) : status;
}

void motion_pack(const step_motion *motion, const zw_state *state, double *y)
{
    int n = motion->system->n, nq = motion->system->nq;
    zw_state *from = (zw_state *)state; /* not modified */
    memcpy(y, state_q(from), (size_t)nq * sizeof *y);
    memcpy(y + nq, state_v(from), (size_t)(n + motion->carried) * sizeof *y);
    if (motion->system->works) {
        y[motion->size - 1] = state->work;
    }
}

void motion_unpack(const step_motion *motion, double t, const double *y, zw_state *state)
{
    int n = motion->system->n, nq = motion->system->nq;
    state->t = t;
    memcpy(state_q(state), y, (size_t)nq * sizeof *y);
    memcpy(state_v(state), y + nq, (size_t)(n + motion->carried) * sizeof *y);
    if (motion->system->works) {
        state->work = y[motion->size - 1];
    }
    if (state->slides > 0) { /* its current value, whichever call evaluated it last */
        zw_error ignored;
        system_note_slip(motion->system, motion->work, t, y, y + nq, &ignored);
        system_keep_slip(motion->work, state);
    }
}
