#include "step/equations8/equations8.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/lanes.h"
#include "step/events/kink.h"
#include "step/events/pulse.h"
#include "step/ode/dop853.h"

#define ABSURD 1e30 /* worlds with larger numbers step alone: their energy may overflow */

static const system_part parts[EQUATIONS8_TAPES] = {[EQUATIONS8_TERMS] = PART_TERMS,
                                                    [EQUATIONS8_POSITION] = PART_POSITION,
                                                    [EQUATIONS8_VELOCITY] = PART_VELOCITY,
                                                    [EQUATIONS8_METRIC] = PART_METRIC,
                                                    [EQUATIONS8_ENERGY] = PART_ENERGY};

/* ---- Whether lanes can be used, and memory --------------------------------------------------- */

int equations8_takes(const zw_system *system)
{
    const zw_model *model = system->model;
    int plain = !system->tree && !system->sparse && !system->has_friction && system->C_count == 0 &&
                system->carried == 0 && !system->law.loose && model->event_count == 0 &&
                system->m <= system->n && !kinks_exist(system);
    for (int c = 0; c < model->constraint_count && plain; c++) {
        plain = model->constraint[c].relation == MODEL_EQUAL &&
                model->constraint[c].friction == EXPR_NONE;
    }
    int pulses = plain ? pulses_exist(system) : 0;
    return pulses < 0 ? -1 : plain && !pulses;
}

int equations8_takes_plan(const zw_run_options *plan)
{
    return plan->method == ZW_METHOD_RK4 && plan->step > 0;
}

static zw_real8 *vectors(base_arena *arena, size_t count)
{
    return base_arena_bytes(arena, count * sizeof(zw_real8));
}

static void lay_out_tapes(equations8 *s, base_arena *arena)
{
    for (int k = 0; k < EQUATIONS8_TAPES; k++) {
        const system_tape *tape = &s->system->tape[parts[k]];
        s->part[k] = (equations8_tape){
            .tape = tape,
            .registers = (double *)vectors(arena, expr_tape_registers(tape->code)),
            .out = vectors(arena, (size_t)tape->count)};
    }
}

static void lay_out(equations8 *s, base_arena *arena)
{
    const zw_system *system = s->system;
    size_t size = (size_t)s->size, n = (size_t)system->n, m = (size_t)system->m;
    zw_real8 **of_size[] = {&s->y0,   &s->low0, &s->f0,    &s->y1,
                            &s->low1, &s->f1,   &s->trial, &s->increment};
    zw_real8 **of_one[] = {&s->t, &s->margin0, &s->margin1, &s->certificate0, &s->certificate1};
    double **times[] = {&s->t0, &s->t1, &s->shown};
    for (size_t k = 0; k < sizeof of_size / sizeof *of_size; k++) {
        *of_size[k] = vectors(arena, size);
    }
    for (size_t k = 0; k < sizeof of_one / sizeof *of_one; k++) {
        *of_one[k] = vectors(arena, 1);
    }
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        *times[k] = (double *)vectors(arena, 1);
    }
    s->good = base_arena_bytes(arena, sizeof *s->good);
    s->stage = vectors(arena, 4 * size);
    s->longest0 = vectors(arena, m);
    s->longest1 = vectors(arena, m);
    s->param = vectors(arena, (size_t)system->shape.params);
    s->M = vectors(arena, n * n);
    s->A = vectors(arena, m * n);
    s->b = vectors(arena, m);
    s->place = base_arena_ints(arena, m);
    s->scratch = base_arena_doubles(arena, size + m);
    lay_out_tapes(s, arena);
    gauss_equal8_layout(&s->answer, system->n, system->m, arena);
}

static void prepare(equations8 *s)
{
    for (int k = 0; k < EQUATIONS8_TAPES; k++) {
        expr_tape_prepare8(s->part[k].tape->code, (const double *)s->param, s->part[k].registers);
    }
}

equations8 *equations8_create(const zw_system *system, const zw_run_options *plan)
{
    base_arena arena = {0};
    equations8 *s = base_alloc(sizeof *s);
    if (!s) {
        return NULL;
    }
    *s = (equations8){.system = system, .plan = *plan, .size = 2 * system->n + system->works};
    lay_out(s, &arena);
    s->memory = base_alloc(arena.used);
    if (!s->memory) {
        base_free(s);
        return NULL;
    }
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena);
    for (int r = 0; r < system->m; r++) {
        if (system->row_kind[r] != SYSTEM_VELOCITY) {
            s->place[s->places++] = r;
        }
    }
    prepare(s);
    return s;
}

void equations8_free(equations8 *s)
{
    if (s) {
        base_free(s->memory);
        base_free(s);
    }
}

/* ---- In and out ------------------------------------------------------------------------------ */

static void load_params(equations8 *s, zw_state *const *state)
{
    const double *param[LANES];
    size_t bytes = (size_t)s->system->shape.params * sizeof(zw_real8);
    zw_real8 *anew = s->stage; /* as scratch */
    for (int l = 0; l < LANES; l++) {
        param[l] = state_param(state[l < s->count ? l : 0]);
    }
    if (s->system->shape.params > 4 * s->size) {
        anew = s->param; /* no memory to compare with */
        memset(anew, 0, bytes);
    }
    math_to_lanes(s->system->shape.params, param, anew);
    if (anew == s->param || memcmp(anew, s->param, bytes) != 0) {
        memcpy(s->param, anew, anew == s->param ? 0 : bytes);
        prepare(s);
    }
}

/* Loads the state of a world; returns whether it continues from its last step. */
static int load_world(equations8 *s, int l, zw_state *state)
{
    const zw_system *system = s->system;
    run_fixed kept;
    int goes_on = run_fixed_kept(system, state, &s->plan, s->size, &kept);
    s->grid[l] = (step_grid){.step = s->plan.step};
    if (goes_on) {
        step_grid_resume(&s->grid[l], kept.grid);
    } else {
        step_grid_start(&s->grid[l], state->t);
    }
    s->t0[l] = goes_on ? kept.grid[0] : state->t;
    s->shown[l] = state->t;
    for (int i = 0; i < s->size; i++) {
        s->low0[i][l] = goes_on ? kept.low[i] : 0;
    }
    for (int r = 0; r < system->m; r++) {
        s->longest0[r][l] = goes_on ? kept.longest[r] : 0;
    }
    (*s->margin0)[l] = goes_on ? kept.margin : 1;
    (*s->good)[l] = !goes_on || (kept.careful == 0 && kept.rank == system->m) ? -1 : 0;
    return goes_on;
}

static void load_states(equations8 *s, zw_state *const *state)
{
    const double *q[LANES];
    int n = s->system->n;
    for (int l = 0; l < LANES; l++) {
        zw_state *from = state[l < s->count ? l : 0];
        q[l] = state_q(from);
        if (s->system->works) {
            s->y0[2 * n][l] = from->work;
        }
    }
    math_to_lanes(2 * n, q, s->y0); /* the speeds follow the coordinates */
}

ZW_CLONES static void sort_out(equations8 *s)
{
    for (int i = 0; i < s->size; i++) {
        *s->good &= lane_size8(s->y0[i]) < ABSURD;
    }
}

/* Computes the rates at the start, if some lane does not have them. A world that continues also
 * keeps the measure of its rows. */
static void begin(equations8 *s, zw_mask8 goes_on)
{
    const equations8_node node = {s->longest1, s->margin1, s->certificate1, &goes_on};
    zw_mask8 fresh = ~goes_on;
    memcpy(s->t, s->t0, sizeof *s->t);
    memset(s->longest1, 0, (size_t)s->system->m * sizeof *s->longest1);
    equations8_field(s, s->y0, s->f0, &node);
    equations8_run(s, EQUATIONS8_ENERGY, s->y0, s->y0 + s->system->n);
    equations8_blend(s->system->m, &fresh, s->longest1, s->longest0);
    if (s->system->m > 0) {
        equations8_blend(1, &fresh, s->margin1, s->margin0);
    }
}

void equations8_load(equations8 *s, int count, zw_state *const *state, const double *const *f)
{
    const double *known[LANES];
    zw_mask8 goes_on;
    int all_known = 1;
    s->count = count;
    load_params(s, state);
    load_states(s, state);
    for (int l = 0; l < LANES; l++) {
        int of = l < count ? l : 0;
        goes_on[l] = load_world(s, l, state[of]) ? -1 : 0;
        (*s->good)[l] = l < count ? (*s->good)[l] : 0;
        all_known &= goes_on[l] && f[of];
        known[l] = f[of];
    }
    sort_out(s);
    if (all_known) {
        math_to_lanes(s->size, known, s->f0);
    } else {
        begin(s, goes_on);
    }
}

void equations8_store(const equations8 *s, int l, zw_state *state, double *f)
{
    const zw_system *system = s->system;
    double *q = state_q(state);
    for (int i = 0; i < 2 * system->n; i++) {
        q[i] = s->y0[i][l];
    }
    for (int i = 0; i < s->size; i++) {
        f[i] = s->f0[i][l];
    }
    state->t = s->shown[l];
    state->work = system->works ? s->y0[s->size - 1][l] : state->work;
    state->impacts = 0;
    double *low = s->scratch, *longest = s->scratch + s->size;
    for (int i = 0; i < s->size; i++) {
        low[i] = s->low0[i][l];
    }
    for (int r = 0; r < system->m; r++) {
        longest[r] = s->longest0[r][l];
    }
    const run_fixed now = {
        .rank = system->m, .margin = (*s->margin0)[l], .low = low, .longest = longest};
    run_note_fixed(system, state, &s->plan, &s->grid[l], s->size, &now);
}

/* ---- The step -------------------------------------------------------------------------------- */

/* The end time of each lane's step; a lane whose step length differs from the others steps
 * alone. */
static void aim(equations8 *s, step_grid *grid, double *shown)
{
    for (int l = 0; l < LANES; l++) {
        double limit = s->shown[l] + s->plan.step;
        grid[l] = s->grid[l];
        step_aimed aimed = step_grid_aim(&grid[l], s->t0[l], limit);
        shown[l] = step_grid_pass(&grid[l], &aimed, limit);
        s->t0[l] = aimed.t0;
        s->t1[l] = aimed.t1;
        int plain = !aimed.cut && aimed.h == s->plan.step && shown[l] == limit;
        (*s->good)[l] = plain ? (*s->good)[l] : 0;
    }
}

ZW_CLONES static void argument(const equations8 *s, double h, const zw_real8 *rate)
{
    for (int i = 0; i < s->size; i++) {
        s->trial[i] = s->y0[i] + (s->low0[i] + h * rate[i]);
    }
}

ZW_CLONES static void sum_up(const equations8 *s, double h)
{
    int n = s->size;
    const zw_real8 *k = s->stage;
    for (int i = 0; i < n; i++) {
        zw_real8 outer = k[i] + k[3 * n + i], inner = k[n + i] + k[2 * n + i];
        s->increment[i] = h * (outer + 2.0 * inner) / 6.0;
    }
}

ZW_CLONES static void set_time(const double *t0, double h, zw_real8 *t)
{
    *t = *(const zw_real8 *)(const void *)t0 + h;
}

/* As rk4_attempt and finish of step/ode. */
static void attempt(equations8 *s)
{
    static const double c[4] = {0.0, 0.5, 0.5, 1.0};
    const equations8_node node = {s->longest1, s->margin1, s->certificate1, NULL};
    double h = s->plan.step;
    memcpy(s->stage, s->f0, (size_t)s->size * sizeof *s->stage);
    for (int k = 1; k < 4; k++) {
        argument(s, c[k] * h, s->stage + (long)(k - 1) * s->size);
        set_time(s->t0, c[k] * h, s->t);
        equations8_field(s, s->trial, s->stage + (long)k * s->size, NULL);
    }
    sum_up(s, h);
    step_add8(s->size, s->y0, s->low0, s->increment, s->y1, s->low1);
    memcpy(s->t, s->t1, sizeof *s->t);
    equations8_project(s, s->y1);
    memcpy(s->longest1, s->longest0, (size_t)s->system->m * sizeof *s->longest1);
    equations8_field(s, s->y1, s->f1, &node);
}

unsigned equations8_step(equations8 *s)
{
    step_grid grid[LANES];
    double shown[LANES];
    unsigned done = 0;
    aim(s, grid, shown);
    attempt(s);
    equations8_blend(s->size, s->good, s->y1, s->y0);
    equations8_blend(s->size, s->good, s->low1, s->low0);
    equations8_blend(s->size, s->good, s->f1, s->f0);
    if (s->system->m > 0) {
        equations8_blend(s->system->m, s->good, s->longest1, s->longest0);
        equations8_blend(1, s->good, s->margin1, s->margin0);
        equations8_blend(1, s->good, s->certificate1, s->certificate0);
    }
    for (int l = 0; l < s->count; l++) {
        if ((*s->good)[l]) {
            s->grid[l] = grid[l];
            s->t0[l] = s->t1[l];
            s->shown[l] = shown[l];
            done |= 1u << l;
            s->taken++;
        }
    }
    return done;
}
