/* Where a motion of a robot with closed loops starts, and how that depends on the unknowns.
 *
 * Coordinates and speeds among the unknowns replace those of the file, and assembly
 * (system/state.c) finds the nearest position that the loops admit and speeds that keep them
 * closed. Its derivatives are extrapolated differences of assembly alone, over s = 4.9e-4 of an
 * unknown: it is exact to about 1e-11 of the distance that it moves, which gives 1e-9 or better.
 * Numbers of the model may be lengths in a loop: they have systems with a bit more and less of them
 * (number.h). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/sensitivity/number.h"
#include "look/sensitivity/robot.h"
#include "system/work.h"
#include "tree/sweeps.h"

#define SMALL 0x1p-11

typedef struct start {
    const robot_problem *p;
    const zw_system *system;
    const double *x;
    int moved;            /* the unknown that is changed, */
    double step;          /* by multiples of this */
    const double *q0;     /* [nq] the start itself */
    zw_system *const *at; /* or other systems */
    double *q, *v;        /* [nq], [n] what is given: NAN, nothing */
    zw_status status;
    zw_error *error;
} start;

static zw_state *create(start *s, const zw_system *system, zw_work *work, double by)
{
    const state_given given = {NULL, s->q, s->v};
    for (int i = 0; i < system->nq; i++) {
        s->q[i] = NAN;
    }
    for (int i = 0; i < system->n; i++) {
        s->v[i] = NAN;
    }
    for (int k = 0; k < s->p->count; k++) {
        const zw_unknown *of = &s->p->unknown[k];
        double x = s->x[k] + (k == s->moved ? by : 0);
        if (of->kind == ZW_UNKNOWN_START) {
            s->q[of->index] = x;
        } else if (of->kind == ZW_UNKNOWN_SPEED) {
            s->v[of->index] = x;
        }
    }
    return state_create_given(system, &given, work, NULL, s->error);
}

/* y[2 n]: the start at place k of number_place, against the start itself. */
static int look(void *user, int k, double *y)
{
    start *s = user;
    const zw_system *system = s->at ? s->at[k] : s->system;
    size_t n = (size_t)system->n;
    zw_work *work = zw_work_create(system, s->error);
    zw_state *state =
        work ? create(s, system, work, s->at ? 0 : number_place[k % 4] * s->step) : NULL;
    if (state) {
        tree_difference(system->tree, state_q(state), s->q0, y);
        memcpy(y + n, state_v(state), n * sizeof *y);
    }
    zw_state_free(state);
    zw_work_free(work);
    s->status = state ? ZW_OK : s->error->status;
    return state != NULL;
}

static zw_status by_number(start *s, const char *name, double *scratch, double *to)
{
    number_systems of;
    zw_status status = number_make(&of, s->p->model, s->system, name, s->error);
    s->at = of.system;
    if (status == ZW_OK &&
        !number_differ(&of, 2 * (size_t)s->system->n, look, s, NULL, 0, scratch, to)) {
        status = s->status;
    }
    s->at = NULL;
    number_free(&of);
    return status;
}

static zw_status by_start(start *s, double *scratch, double *to)
{
    size_t two = 2 * (size_t)s->system->n;
    double *y[4];
    s->step = SMALL * (1 + fabs(s->x[s->moved]));
    for (int k = 0; k < 4; k++) {
        y[k] = scratch + (size_t)k * two;
        if (!look(s, k, y[k])) {
            return s->status;
        }
    }
    number_slopes(two, y, s->step, to);
    return ZW_OK;
}

zw_status robot_start(const robot_problem *p, const zw_system *system, zw_work *work,
                      const double *x, zw_state **state, double *z, zw_error *error)
{
    size_t n = (size_t)system->n, nq = (size_t)system->nq;
    double *memory = base_alloc((nq + 9 * n + 1) * sizeof *memory);
    if (!memory) {
        return base_no_memory(error);
    }
    start s = {.p = p, .system = system, .x = x, .moved = -1, .q = memory, .error = error};
    s.v = memory + nq;
    *state = create(&s, system, work, 0);
    zw_status status = *state ? ZW_OK : error->status;
    s.q0 = *state ? state_q(*state) : NULL;
    for (int k = 0; k < p->count && status == ZW_OK; k++) {
        const zw_unknown *of = &p->unknown[k];
        double *scratch = s.v + n, *to = z + (size_t)k * 2 * n;
        if (of->kind == ZW_UNKNOWN_NUMBER) {
            s.moved = -1;
            status = by_number(&s, p->number[of->index], scratch, to);
        } else if (of->kind == ZW_UNKNOWN_START || of->kind == ZW_UNKNOWN_SPEED) {
            s.moved = k;
            status = by_start(&s, scratch, to);
        }
    }
    base_free(memory);
    return status;
}
