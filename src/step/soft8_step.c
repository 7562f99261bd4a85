#include "step/soft8_step.h"

#include <string.h>

#include "base/error.h"
#include "math/lanes.h"
#include "step/soft_step.h"
#include "tree/sweeps.h"

#define ONWARD 0.6  /* of the last change of a, as in soft_solve.c */
#define ABSURD 1e30 /* speeds and places beyond that go alone: their energy may be no number */

int soft8_takes_plan(const zw_system *system, const zw_run_options *plan)
{
    return plan->method == ZW_METHOD_SOFT && plan->step > 0 && system->model->event_count == 0 &&
           !kinks_exist(system);
}

/* ---- In and out
 * ---------------------------------------------------------------------------------- */

/* The time of a world. */
typedef struct clock {
    step_grid grid;
    int remembered; /* by the state */
    double end;     /* of the step */
} clock;

/* 0: its step does not end after h, and it goes alone. */
static int aim(const soft8 *s, const zw_run_options *plan, zw_state *state, clock *to)
{
    double t = state->t, limit = state->t + plan->step;
    to->grid = (step_grid){.step = plan->step};
    to->remembered = run_soft_grid(s->system, state, plan, &to->grid, &t);
    if (!to->remembered) {
        step_grid_start(&to->grid, t);
    }
    step_aimed aimed = step_grid_aim(&to->grid, t, limit);
    if (aimed.cut || aimed.h != s->h || state->slides > 0) {
        return 0;
    }
    to->end = step_grid_pass(&to->grid, &aimed, limit);
    return to->end == limit;
}

static void load(soft8 *s, int count, zw_state *const *state, soft8_trace *const *trace)
{
    const double *q[LANES], *v[LANES], *param[LANES], *guess[LANES], *before[LANES];
    s->lanes = count;
    for (int l = 0; l < LANES; l++) {
        int from = l < count ? l : count - 1;
        q[l] = state_q(state[from]);
        v[l] = state_v(state[from]);
        param[l] = state_param(state[from]);
        guess[l] = trace[from]->guess;
        before[l] = trace[from]->guess + s->system->n;
        s->good[l] = l < count ? -1 : 0;
        s->repeats[l] = ~s->good[l];
    }
    math_to_lanes(s->system->nq, q, s->q);
    math_to_lanes(s->system->n, v, s->v);
    math_to_lanes(state[0]->params, param, s->param);
    math_to_lanes(s->system->n, guess, s->guess);
    math_to_lanes(s->system->n, before, s->before);
}

ZW_CLONES static void sort_out(soft8 *s)
{
    zw_mask8 good = s->good;
    for (int i = 0; i < s->system->nq; i++) {
        good &= lane_size8(s->q[i]) < ABSURD;
    }
    for (int i = 0; i < s->system->n; i++) {
        good &= lane_size8(s->v[i]) < ABSURD;
        s->a[i] = s->guess[i] + ONWARD * (s->guess[i] - s->before[i]);
        s->a[i] = lane_select8(lane_size8(s->a[i]) < ABSURD, s->a[i], (zw_real8){0});
    }
    s->good = good;
}

/* ---- The step
 * ------------------------------------------------------------------------------------ */

ZW_CLONES static void sum_forces(soft8 *s)
{
    for (int i = 0; i < s->system->n; i++) {
        s->x[i] = s->force[i] + s->push[i];
    }
}

/* v1 in place of v, and the work of what has no potential: as step_once in soft_step.c. */
ZW_CLONES static void move_speeds(soft8 *s, const zw_real8 *a, zw_real8 *gained)
{
    zw_real8 sum = {0}, h = sum + s->h;
    int works = !s->system->conservative;
    for (int i = 0; i < s->system->n; i++) {
        zw_real8 pushed = s->push[i] + (works ? s->Q[i] : (zw_real8){0});
        zw_real8 v0 = s->v[i], v1 = v0 + h * a[i];
        sum += 0.5 * h * pushed * (v0 + v1);
        s->v[i] = v1;
        s->good &= v1 * 0.0 == 0.0;
    }
    *gained = sum;
}

static void find_rows(soft8 *s)
{
    s->blocks = s->entries = s->needs_blocks = s->needs_entries = 0;
    soft8_limit(s);
    soft8_meet(s);
}

static void take(soft8 *s, zw_real8 *gained)
{
    int damped = soft_is_damped(s->system);
    size_t bytes = (size_t)s->system->n * sizeof *s->push;
    zw_real8 *a = s->a, h = (zw_real8){0} + s->h;
    sort_out(s);
    soft8_smooth(s);
    find_rows(s);
    if (s->blocks > 0 || !damped) {
        soft8_minimise(s);
        memcpy(s->before, s->guess, bytes);
        memcpy(s->guess, s->a, bytes);
    } else {
        memset(s->push, 0, bytes);
    }
    if (damped) {
        sum_forces(s);
        soft8_damp(s, s->x);
        a = s->x;
    }
    move_speeds(s, a, gained);
    tree_advance8(s->system->tree, s->q, s->v, &h, s->q);
}

static void store(const soft8 *s, const zw_run_options *plan, int lane, const zw_real8 *gained,
                  const clock *time, zw_state *state, soft8_trace *trace)
{
    const double *q = (const double *)s->q + lane, *v = (const double *)s->v + lane;
    const double *guess = (const double *)s->guess + lane;
    const double *before = (const double *)s->before + lane;
    int n = s->system->n;
    for (int i = 0; i < s->system->nq; i++) {
        state_q(state)[i] = q[i * LANES];
    }
    for (int i = 0; i < n; i++) {
        state_v(state)[i] = v[i * LANES];
        trace->guess[i] = guess[i * LANES];
        trace->guess[n + i] = before[i * LANES];
    }
    trace->touch = s->touch[lane];
    state->t = time->end;
    state->work += s->system->works ? (*gained)[lane] : 0;
    state->impacts = 0;
    run_note_soft(s->system, state, plan, &time->grid, time->remembered);
}

unsigned soft8_step(soft8 *s, const zw_run_options *plan, int count, zw_state *const *state,
                    soft8_trace *const *trace)
{
    clock time[LANES];
    zw_real8 gained;
    unsigned done = 0;
    load(s, count, state, trace);
    for (int l = 0; l < count; l++) {
        s->good[l] = aim(s, plan, state[l], &time[l]) ? s->good[l] : 0;
    }
    take(s, &gained);
    if (s->needs_blocks > s->block_room || s->needs_entries > s->entry_room) {
        soft8_grow(s); /* if not, all go on alone */
    }
    for (int i = 0; i < s->system->nq; i++) {
        s->good &= s->q[i] * 0.0 == 0.0;
    }
    for (int l = 0; l < count; l++) {
        if (s->good[l]) {
            store(s, plan, l, &gained, &time[l], state[l], trace[l]);
            done |= 1U << l;
            s->taken++;
        }
    }
    return done;
}
