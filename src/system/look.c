/* Constraints at an instant, and coordinates without inertia, for users. */
#include <math.h>
#include <string.h>

#include "math/dense/dense.h"
#include "system/events/friction.h"
#include "system/law.h"

static double larger(double x, double y)
{
    return fabs(x) > y || isnan(x) ? fabs(x) : y;
}

static zw_constraint_mode mode_now(const model_constraint *constraint, int mode)
{
    if (mode == SYSTEM_OPEN) {
        return ZW_MODE_OPEN;
    }
    if (mode == SYSTEM_STUCK || mode == SYSTEM_HELD) {
        return ZW_MODE_STUCK;
    }
    return constraint->friction != EXPR_NONE ? ZW_MODE_SLIDING : ZW_MODE_CLOSED;
}

/* The force of constraint c on the coordinates: A' lambda, or under the laws of Kozlov (2000) the
 * reaction of law.h; added to sum[n]. */
static void add_force(const zw_system *system, const zw_work *work, int c, double *sum)
{
    const double *A = work->out[PART_TERMS] + system->at.A;
    if (system->first_row[c] == system->first_row[c + 1]) {
        friction_add_dry(system, work, c, sum);
    }
    for (int r = system->first_row[c]; r < system->first_row[c + 1]; r++) {
        if (law_add_force(system, work, r, sum)) {
            continue;
        }
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            sum[system->A_column[k]] += A[k] * work->push[r];
        }
    }
}

zw_status zw_constraint_force(const zw_system *system, const zw_work *work, int constraint,
                              double *force)
{
    if (constraint < 0 || constraint >= system->model->constraint_count) {
        return ZW_BAD_INPUT;
    }
    memset(force, 0, (size_t)system->n * sizeof *force);
    add_force(system, work, constraint, force);
    return ZW_OK;
}

static zw_constraint describe(const zw_system *system, const zw_work *work, int c, int mode)
{
    const model_constraint *constraint = &system->model->constraint[c];
    int first = system->first_row[c];
    int one_sided = constraint->relation == MODEL_AT_LEAST;
    zw_constraint it = {.kind = one_sided                                    ? ZW_ONE_SIDED
                                : system->row_kind[first] == SYSTEM_VELOCITY ? ZW_NONHOLONOMIC
                                                                             : ZW_HOLONOMIC,
                        .mode = mode_now(constraint, mode),
                        .first_row = first,
                        .rows = constraint->rows};
    if (constraint->friction != EXPR_NONE) {
        it.friction = work->out[PART_TERMS][system->at.mu + c];
    }
    for (int r = first; r < first + constraint->rows; r++) {
        double position = work->out[PART_POSITION][r], velocity = work->out[PART_VELOCITY][r];
        it.position = one_sided ? position : larger(position, it.position);
        it.velocity = one_sided ? velocity : larger(velocity, it.velocity);
    }
    return it;
}

zw_status zw_constraints_look(const zw_system *system, const zw_state *state, zw_work *work,
                              zw_constraint *list, zw_error *error)
{
    zw_state *now = (zw_state *)state; /* only read */
    const double *q = state_q(now), *v = state_v(now);
    system_bind(system, work, state_param(now));
    zw_status status =
        system_evaluate(system, work, PART_POSITION, state->t, q, v, NULL, NULL, error);
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_VELOCITY, state->t, q, v, NULL, NULL, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    double *sum = work->spare[0];
    for (int c = 0; c < system->model->constraint_count; c++) {
        list[c] = describe(system, work, c, (int)state_mode(now)[c]);
        zw_constraint_force(system, work, c, sum);
        list[c].force = dense_norm(system->n, sum);
    }
    return ZW_OK;
}

int zw_massless(const zw_work *work, int *coord)
{
    zw_motion motion = {0};
    int count = 0;
    if (!work->shown_by) {
        return 0;
    }
    zw_gauss bare = work->shown_by->problem;
    bare.block_count = 0;
    bare.law = NULL;
    bare.C = NULL;
    zw_gauss_work *gauss = zw_gauss_work_create(&bare, &work->shown_by->options, NULL);
    if (gauss && zw_gauss_solve(&bare, NULL, gauss, &motion, NULL) == ZW_UNDETERMINED) {
        count = motion.undetermined_count;
        memcpy(coord, motion.undetermined, (size_t)count * sizeof *coord);
    }
    zw_gauss_work_free(gauss);
    return count;
}
