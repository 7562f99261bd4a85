/* Does the constraint act at the given contact point?
 *
 * slip.c has a formula for the error of the force at the point (`miss`): it is 0 in every
 * configuration if the constraint depends on the point, relative to the surface, alone. A formula
 * that is not 0 may vanish by chance in the initial state, so it is also evaluated nearby: the
 * coordinates are moved by 1e-3 and 1e-1 of their sizes and of one, and projected onto the
 * constraints. If that fails (a formula has no value there, the projection does not converge),
 * nothing is concluded. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/events/slip.h"
#include "system/events/tangent.h"
#include "system/work.h"

/* The square of a relative error: round-off is below 1e-25, a missing term is of the order of
 * one. */
#define MISSED 1e-12

/* Pseudo-random numbers from -1 to 1, the same in every run. */
static double next_number(uint64_t *generator)
{
    *generator = *generator * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*generator >> 11) / 4503599627370496.0 - 1;
}

/* The first constraint whose force misses its point, by the outputs of PART_SLIP; -1: none. In the
 * initial state (`strict`) NaN counts as a miss. */
static int first_miss(const zw_system *system, const zw_work *work, int strict)
{
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (system->slip[c].width > 0) {
            double miss = tangent_look(system, c, work->out[PART_SLIP]).miss;
            if (strict ? !(miss < MISSED) : miss >= MISSED) {
                return c;
            }
        }
    }
    return -1;
}

static int has_points(const zw_system *system)
{
    int any = 0;
    for (int c = 0; c < system->model->constraint_count; c++) {
        any |= system->slip[c].width > 0 && system->slip[c].rows > 0 &&
               system->model->constraint[c].slip_count == 0;
    }
    return any;
}

/* Trial k: moves from the state to q; returns the time there. */
static double move_away(const zw_system *system, zw_state *state, int k, uint64_t *generator,
                        double *q, double *v)
{
    double part = k % 2 ? 1e-1 : 1e-3;
    const double *q0 = state_q(state);
    memcpy(q, q0, (size_t)system->nq * sizeof *q);
    for (int i = 0; i < system->n; i++) {
        double size = k < 2 && i < system->nq ? fabs(q0[i]) : 1;
        v[i] = part * size * next_number(generator);
    }
    system_move(system, q, 1, v);
    memcpy(v, state_v(state), (size_t)(system->n + system->carried) * sizeof *v);
    return state->t + part * next_number(generator) * (k < 2 ? fabs(state->t) : 1);
}

static int look_around(const zw_system *system, zw_work *work, zw_state *state, double *q)
{
    enum { TRIALS = 4 };
    double *v = q + system->nq;
    uint64_t generator = 1;
    int missed = -1;
    for (int k = 0; k < TRIALS && missed < 0; k++) {
        zw_error ignored;
        double t = move_away(system, state, k, &generator, q, v);
        if (system_project_position(system, work, t, q, v, &ignored) == ZW_OK &&
            system_evaluate(system, work, PART_SLIP, t, q, v, NULL, NULL, &ignored) == ZW_OK) {
            missed = first_miss(system, work, 0);
        }
    }
    return missed;
}

zw_status slip_check(const zw_system *system, zw_work *work, zw_state *state, zw_error *error)
{
    zw_error ignored;
    if (!has_points(system)) {
        return ZW_OK;
    }
    size_t size = (size_t)(system->nq + system->n + system->carried) + 1;
    double *q = base_alloc(size * sizeof *q);
    if (!q) {
        return base_no_memory(error);
    }
    system_evaluate(system, work, PART_SLIP, state->t, state_q(state), state_v(state), NULL, NULL,
                    &ignored);
    int c = first_miss(system, work, 1);
    c = c < 0 ? look_around(system, work, state, q) : c;
    base_free(q);
    if (c < 0) {
        return ZW_OK;
    }
    const model_constraint *constraint = &system->model->constraint[c];
    return model_fail(system->model, error, ZW_BAD_INPUT, constraint->friction_place,
                      "constraint %s does not push at this point alone. Give the point that "
                      "touches as it is seen from what it slides on: for a block at (x2, y2) on a "
                      "wedge at (x1, 0) that is `at (x2 - x1, y2)`, on one that turns its place in "
                      "the wedge's own axes. Or give the speed of sliding: `slip e`",
                      constraint->name);
}
