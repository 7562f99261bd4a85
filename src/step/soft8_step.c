#include "step/soft8_step.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/lanes.h"
#include "step/soft_step.h"
#include "tree/sweeps.h"

/* Beyond that worlds step alone: their energy may overflow. */
#define ABSURD LANE_LIMIT(1e30, 1e12)

int soft8_takes_plan(const zw_system *system, const zw_run_options *plan)
{
    return plan->method == ZW_METHOD_SOFT && plan->step > 0 && system->model->event_count == 0 &&
           !(system->bodies && system->bodies->adhesion_count > 0) && !kinks_exist(system);
}

/* ---- In and out ----------------------------------------------------------------------------- */

void soft8_read(const zw_system *system, const zw_run_options *plan, zw_state *state,
                soft8_clock *clock, double *x)
{
    double time;
    *clock = (soft8_clock){.t = state->t, .work = state->work, .grid.step = plan->step};
    if (!run_soft_grid(system, state, plan, &clock->grid, &time)) {
        step_grid_start(&clock->grid, state->t);
    }
    memcpy(x, state_q(state), (size_t)(system->nq + system->n + state->params) * sizeof *x);
}

void soft8_write(const zw_system *system, const zw_run_options *plan, const soft8_clock *clock,
                 const double *x, zw_state *state)
{
    if (clock->steps > 0) {
        memcpy(state_q(state), x, (size_t)(system->nq + system->n + state->params) * sizeof *x);
        state->t = clock->t;
        state->work = clock->work;
        state->impacts = 0;
        run_note_soft(system, state, plan, &clock->grid);
    }
}

/* The clock after the step; 0: the step does not end after h, and its world steps alone. */
static int aim(const soft8 *s, soft8_clock *clock)
{
    double time[STEP_GRID_NUMBERS], limit = clock->t + s->h;
    step_grid_keep(&clock->grid, clock->t, time);
    step_aimed aimed = step_grid_aim(&clock->grid, time[0], limit);
    clock->t = step_grid_pass(&clock->grid, &aimed, limit);
    clock->steps++;
    return !aimed.cut && aimed.h == s->h && clock->t == limit;
}

static void load(soft8 *s, int count, soft8_clock *const *clock, double *const *x)
{
    const double *q[LANES], *v[LANES], *param[LANES];
    s->lanes = count;
    for (int l = 0; l < LANES; l++) {
        q[l] = x[l < count ? l : count - 1];
        v[l] = q[l] + s->system->nq;
        param[l] = v[l] + s->system->n;
        s->good[l] = l < count && clock[l] ? -1 : 0;
        s->repeats[l] = ~s->good[l];
    }
    math_to_lanes(s->system->nq, q, s->q);
    math_to_lanes(s->system->n, v, s->v);
    math_to_lanes(s->system->shape.params, param, s->param);
}

ZW_CLONES static void sort_out(soft8 *s)
{
    zw_mask8 good = s->good;
    CREW_FOR (i, s->system->nq) {
        good &= lane_size8(s->q[i]) < ABSURD;
    }
    CREW_FOR (i, s->system->n) {
        good &= lane_size8(s->v[i]) < ABSURD;
    }
    CREW_FOR (i, s->system->shape.params) {
        good &= lane_size8(s->param[i]) < ABSURD;
    }
    s->good = CREW_ALL8(good);
}

/* ---- The step ------------------------------------------------------------------------------- */

ZW_CLONES static void sum_forces(soft8 *s)
{
    CREW_FOR (i, s->system->n) {
        s->x[i] = s->force[i] + s->push[i];
    }
    CREW_MEET();
}

#ifdef ZW_FLOAT
/* q and v of the good lanes, in double precision. The work is not used. */
static void move(soft8 *s, const zw_real8 *a, int count, double *const *x, zw_real8 *gained)
{
    const zw_system *system = s->system;
    for (int i = 0; i < system->n; i++) {
        s->good &= a[i] * 0.0 == 0.0;
    }
    for (int l = 0; l < count; l++) {
        double *v = x[l] + system->nq;
        for (int i = 0; i < system->n && s->good[l]; i++) {
            v[i] += s->h * a[i][l];
        }
        if (s->good[l]) {
            tree_advance(system->tree, x[l], v, &s->h, x[l]);
        }
    }
    *gained = (zw_real8){0};
}
#else
/* Replaces v by v1, and computes the work of forces without a potential: as step_once in
 * soft_step.c. (A crew does not sum the work, which is not used there.) */
ZW_CLONES static void move_speeds(soft8 *s, const zw_real8 *a, zw_real8 *gained)
{
    zw_real8 sum = {0}, h = sum + s->h;
    zw_mask8 good = s->good;
    int works = !s->system->conservative, damped = a == s->x;
    CREW_FOR (i, s->system->n) {
        zw_real8 pushed = s->push[i] + (works ? s->Q[i] : (zw_real8){0});
        pushed -= damped ? s->h * s->system->tree->damping[i] * a[i] : (zw_real8){0};
        zw_real8 v0 = s->v[i], v1 = v0 + h * a[i];
        sum += 0.5 * h * pushed * (v0 + v1);
        s->v[i] = v1;
        good &= v1 * 0.0 == 0.0;
    }
    s->good = CREW_ALL8(good);
    *gained = sum;
    CREW_MEET();
}

/* q and v of the good lanes; those of the others are written where they are not read. */
static void unload(soft8 *s, int count, double *const *x)
{
    double *q[LANES], *v[LANES], *spare = (double *)s->push;
    for (int l = 0; l < count; l++) {
        q[l] = s->good[l] ? x[l] : spare;
        v[l] = s->good[l] ? x[l] + s->system->nq : spare;
    }
    math_from_lanes(s->system->nq, s->q, count, q);
    math_from_lanes(s->system->n, s->v, count, v);
}

ZW_CLONES static void check_places(soft8 *s)
{
    zw_mask8 good = s->good;
    CREW_FOR (i, s->system->nq) {
        good &= s->q[i] * 0.0 == 0.0;
    }
    s->good = CREW_ALL8(good);
}

static void move(soft8 *s, const zw_real8 *a, int count, double *const *x, zw_real8 *gained)
{
    zw_real8 h = (zw_real8){0} + s->h;
    move_speeds(s, a, gained);
    tree_advance8(s->system->tree, s->q, s->v, &h, s->q);
    check_places(s);
    unload(s, count, x);
}
#endif

static void find_rows(soft8 *s)
{
    LANE_MEET();
    s->blocks = s->entries = s->needs_blocks = s->needs_entries = 0;
    soft8_limit(s);
    soft8_meet(s);
    CREW_TOGETHER();
    if (soft8_lacks_room(s)) {
        memset(&s->good, 0, sizeof s->good);
    }
}

/* Returns the accelerations of the speeds. */
static const zw_real8 *accelerate(soft8 *s)
{
    int damped = soft_is_damped(s->system);
    s->settled = (zw_mask8){0};
    sort_out(s);
    soft8_smooth(s);
    CREW_TOGETHER();
    find_rows(s);
    if (s->blocks > 0 || !damped) {
        soft8_minimise(s);
    } else {
        lane_clear8(s->system->n, s->push);
        memset(&s->residual, 0, sizeof s->residual);
        s->iterations = 0;
        while (CREW_ROUND(0)) {
        }
    }
    CREW_TOGETHER();
    if (damped) {
        sum_forces(s);
        soft8_damp(s, s->x);
    }
    return damped ? s->x : s->a;
}

unsigned soft8_step(soft8 *s, int count, soft8_clock *const *clock, double *const *x,
                    uint64_t touch[LANES])
{
    soft8_clock next[LANES];
    const zw_real8 *a;
    zw_real8 gained;
    unsigned done = 0;
    do { /* repeated if there was no room for all rows, and now there is */
        load(s, count, clock, x);
        for (int l = 0; l < count; l++) {
            if (clock[l]) {
                next[l] = *clock[l];
                s->good[l] = aim(s, &next[l]) ? s->good[l] : 0;
            }
        }
        a = accelerate(s);
    } while (soft8_lacks_room(s) && soft8_grow(s));
    move(s, a, count, x, &gained);
    for (int l = 0; l < count; l++) {
        touch[l] = s->touch[l];
        if (s->good[l]) {
            next[l].work += s->system->works ? gained[l] : 0;
            next[l].certificate = sqrt(s->residual[l]);
            *clock[l] = next[l];
            done |= 1U << l;
            s->taken++;
        }
    }
    return done;
}

/* ---- Steps in single precision, checked ------------------------------------------------------ */

#if !defined(ZW_FLOAT) && CREW_SIZE == 1
void soft8_certify(soft8 *s, soft8_clock *const *clock, double *const *x, double *const *moved,
                   double certificate[LANES])
{
    load(s, LANES, clock, x);
    accelerate(s);
    zw_mask8 good = s->good;
    math_to_lanes(s->system->n, (const double *const *)moved, s->a);
    soft8_compare(s, s->a);
    for (int l = 0; l < LANES; l++) {
        certificate[l] = good[l] ? sqrt(s->residual[l]) : 0;
    }
}
#endif
