/* A run in pieces: what one run leaves in the state for the next.
 *
 * Fixed-step methods only: the steps of an adaptive one would not end where the first piece does.
 * The memory is valid only for the state that it was written with, and for a run by the same method
 * and step; otherwise the run starts without it.
 *
 *     0 method (and half more: convex contact)   1 step   2 careful   3 rank   4 margin   5 soon
 * (-1: no such time) then how long each row has been, m numbers; then the integrator's: keep.c
 *
 * Nothing in it may depend on when the motion is observed: equal motions have equal hashes. The
 * variational methods, method impulse and the soft law use the field, and with it entries 2 to 4
 * and the rows, only for observation, so theirs are 0. */
#include <math.h>
#include <string.h>

#include "step/run.h"

enum { HEAD = 6, STEP_HEAD = 3 }; /* this header, and that of keep.c */
#define SAME 1e-8                 /* relative to the step: instants closer than this are one */

/* The start of the integrator's part. */
static int behind(const run *r)
{
    return HEAD + r->system->m;
}

static double method_of(const zw_run_options *options)
{
    return (int)options->method + (options->contact == ZW_CONTACT_CONVEX ? 0.5 : 0);
}

static int is_impulse(zw_state *state)
{
    double method = state_memory(state)[0];
    return method == ZW_METHOD_IMPULSE || method == ZW_METHOD_IMPULSE + 0.5;
}

/* Steps that depend on (q, v) alone continue with other controls too: their memory does not depend
 * on controls. */
static uint64_t digest(zw_state *state)
{
    int whole = is_impulse(state) || state_memory(state)[0] == ZW_METHOD_SOFT;
    return state_digest(state, !whole);
}

/* ---- For single steps ------------------------------------------------------------------------ */

double *run_step_memory(const zw_system *system, zw_state *state)
{
    int size = system->nq + system->n + system->carried + system->works; /* as in motion.c */
    return state_memory(state) + HEAD + system->m + STEP_HEAD + size;
}

int run_remembers_step(zw_state *state)
{
    return state->remembered != 0 && is_impulse(state) && state->remembered == digest(state);
}

void run_begin_steps(const zw_system *system, zw_state *state)
{
    double *memory = state_memory(state), *end = run_step_memory(system, state);
    memset(memory, 0, (size_t)(end - memory) * sizeof *memory);
}

void run_note_step(const zw_system *system, zw_state *state, const zw_run_options *plan)
{
    double *memory = state_memory(state), *grid = memory + HEAD + system->m;
    memory[0] = method_of(plan);
    memory[1] = plan->step;
    memory[5] = -1;
    grid[0] = grid[1] = state->t;
    state->undecided = 0;
}

/* As after a step that leaves no memory: impulse_memory.c has the header. */
void run_note_once(const zw_system *system, zw_state *state, const zw_run_options *plan)
{
    run_forget(state);
    *run_step_memory(system, state) = 1;
    run_note_step(system, state, plan);
    state->remembered = digest(state);
}

/* ---- Of steps of the soft law in lanes ------------------------------------------------------- */

int run_soft_grid(const zw_system *system, zw_state *state, const zw_run_options *plan,
                  step_grid *grid, double *t)
{
    const double *memory = state_memory(state), *kept = memory + HEAD + system->m;
    if (state->remembered == 0 || memory[0] != method_of(plan) || memory[1] != plan->step ||
        !(fabs(kept[0] - state->t) <= SAME * plan->step) || state->remembered != digest(state)) {
        return 0;
    }
    step_grid_resume(grid, kept);
    *t = kept[0];
    return 1;
}

void run_note_soft(const zw_system *system, zw_state *state, const zw_run_options *plan,
                   const step_grid *grid)
{
    double *memory = state_memory(state);
    run_forget(state);
    state->undecided = 1; /* soft steps know no modes */
    if (run_step_memory(system, state) - memory > state->memory) {
        return;
    }
    memory[0] = method_of(plan);
    memory[1] = plan->step;
    memory[5] = -1;
    step_grid_keep(grid, state->t, memory + HEAD + system->m);
    state->remembered = digest(state);
}

/* ---- Of steps of rk4 in lanes ---------------------------------------------------------------- */

int run_fixed_kept(const zw_system *system, zw_state *state, const zw_run_options *plan, int size,
                   run_fixed *kept)
{
    const double *memory = state_memory(state), *grid = memory + HEAD + system->m;
    int fits = HEAD + system->m + STEP_HEAD + size <= state->memory;
    if (!fits || state->remembered == 0 || memory[0] != method_of(plan) ||
        memory[1] != plan->step || !(fabs(grid[0] - state->t) <= SAME * plan->step) ||
        state->remembered != digest(state)) {
        return 0;
    }
    *kept = (run_fixed){.careful = memory[2],
                        .rank = memory[3],
                        .margin = memory[4],
                        .longest = memory + HEAD,
                        .grid = grid,
                        .low = grid + STEP_HEAD};
    return 1;
}

void run_note_fixed(const zw_system *system, zw_state *state, const zw_run_options *plan,
                    const step_grid *grid, int size, const run_fixed *now)
{
    double *memory = state_memory(state), *at = memory + HEAD + system->m;
    run_forget(state);
    if (at + STEP_HEAD + size - memory > state->memory) {
        return;
    }
    memory[0] = method_of(plan);
    memory[1] = plan->step;
    memory[3] = now->rank;
    memory[4] = now->margin;
    memory[5] = -1;
    memcpy(memory + HEAD, now->longest, (size_t)system->m * sizeof *memory);
    step_grid_keep(grid, state->t, at);
    memcpy(at + STEP_HEAD, now->low, (size_t)size * sizeof *memory);
    state->remembered = digest(state);
}

/* Are its steps computed from the field? */
static int uses_field(const run *r)
{
    return !r->lagrange.system && !r->impulse && !r->soft;
}

/* ---- For runs -------------------------------------------------------------------------------- */

void run_remember(run *r)
{
    zw_state *state = r->state;
    const step_motion *motion = &r->motion;
    double *memory = state_memory(state);
    int count = r->stepper ? stepper_memory(r->stepper) : 0;
    state->undecided = r->soft != NULL;
    if (!r->goes_on) {
        run_forget(state);
    }
    /* an event that stops the run may have changed the state after the integrator's last step */
    if (count == 0 || behind(r) + count > state->memory || r->summary->stopped_by >= 0) {
        run_forget(state);
        return;
    }
    memory[0] = method_of(&r->options);
    memory[1] = r->options.step;
    if (uses_field(r)) {
        memory[2] = motion->careful;
        memory[3] = motion->rank;
        memory[4] = motion->margin;
        memcpy(memory + HEAD, motion->longest, (size_t)r->system->m * sizeof(double));
    }
    memory[5] = isfinite(r->soon) ? r->soon : -1;
    stepper_keep(r->stepper, memory + behind(r));
    state->remembered = digest(state);
}

void run_forget(zw_state *state)
{
    memset(state_memory(state), 0, (size_t)state->memory * sizeof(double));
    state->remembered = 0;
}

int run_remembers(const run *r)
{
    const double *memory = state_memory(r->state);
    int count = r->stepper ? stepper_memory(r->stepper) : 0;
    if (r->state->remembered == 0 || count == 0 || behind(r) + count > r->state->memory) {
        return 0;
    }
    for (int i = HEAD; i < behind(r); i++) {
        if (!(memory[i] >= 0 && isfinite(memory[i]))) {
            return 0;
        }
    }
    double late = fabs(memory[behind(r)] - r->state->t); /* 0 but for round-off: keep.c */
    return memory[0] == method_of(&r->options) && memory[1] == r->options.step && memory[3] >= 0 &&
           memory[3] <= r->system->m && isfinite(memory[4]) && late <= SAME * r->options.step &&
           r->state->remembered == digest(r->state);
}

zw_status run_resume(run *r, zw_error *error)
{
    const double *memory = state_memory(r->state);
    zw_status status = stepper_resume(r->stepper, r->y, memory + behind(r), error);
    if (uses_field(r)) {
        r->motion.careful = memory[2] != 0;
        r->motion.rank = (int)memory[3];
        r->motion.margin = memory[4];
        memcpy(r->motion.longest, memory + HEAD, (size_t)r->system->m * sizeof(double));
    }
    r->soon = memory[5] > 0 ? memory[5] : INFINITY;
    return status;
}
