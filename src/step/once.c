/* One step, for loops of the caller: it costs as much as a step of zw_run, and allocates nothing.
 *
 * The work keeps the stepper from call to call, with everything that a run has except samples. Its
 * memory of the motion is in the state as well (remember.c), so a step from a state that was
 * computed with another work, or saved and read, has the same bits: the stepper continues if the
 * state is the one it left, and otherwise starts there. Adaptive methods start again at every call:
 * their step control depends on the state only.
 *
 * Method impulse, where no event or kink has to be watched, writes its memory into the state
 * directly, and touches only bodies that are awake. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "step/impulse_stepper.h"
#include "step/run.h"
#include "step/sleep/sleep.h"

/* What zw_step keeps in the work. */
typedef struct step_kept {
    step_impulse *impulse; /* for method impulse; NULL: not needed yet */
    run *run;              /* for the others, the last one */
    uint64_t left;         /* the memory stamp of the state that it led to, */
    uint64_t given;        /* and the sum of its parameters */
    zw_run_summary summary;
} step_kept;

static void free_run(step_kept *kept)
{
    if (kept->run) {
        run_free(kept->run);
        base_free(kept->run);
        kept->run = NULL;
    }
}

static void free_kept(void *stepper_kept)
{
    step_kept *kept = stepper_kept;
    impulse_free(kept->impulse);
    free_run(kept);
    base_free(kept);
}

/* Is the state the one that the last step led to, and can the stepper continue from there? Method
 * impulse and the soft law also continue with other controls: remember.c. */
static int is_left(const step_kept *kept, const zw_state *state)
{
    return state->remembered != 0 && state->remembered == kept->left &&
           state->remembered == state_digest(state, !kept->run->impulse && !kept->run->soft);
}

static int is_controlled_anew(const step_kept *kept, const zw_state *state)
{
    return kept->given != state_param_sum(state);
}

/* The run by the soft law that led to this state, or NULL. */
static run *softly_led(const zw_work *work, const zw_state *state)
{
    const step_kept *kept = work->stepper;
    return kept && kept->run && kept->run->soft && is_left(kept, state) &&
                   !is_controlled_anew(kept, state)
               ? kept->run
               : NULL;
}

/* The contacts of the soft law at the end of the last step. */
static zw_status touch_softly(const zw_state *state, zw_work *work, zw_error *error)
{
    run *r = softly_led(work, state);
    zw_status status = r ? soft_show(r->soft, state, error) : ZW_OK;
    if (r && status == ZW_OK && work->touched) {
        work->touched->of = state_digest(state, 1);
    }
    return status;
}

static step_kept *kept_in(zw_work *work)
{
    if (!work->stepper) {
        work->stepper = base_alloc(sizeof(step_kept));
        work->free_stepper = free_kept;
        work->touch_stepper = touch_softly;
        if (work->stepper) {
            *(step_kept *)work->stepper = (step_kept){.summary.stopped_by = -1};
        }
    }
    return work->stepper;
}

/* ---- Method impulse -------------------------------------------------------------------------- */

/* Takes over the memory of the state: written by the stepper's last step, or by another one, or by
 * a run; if it belongs to another state, it is ignored. If a caller writes into the state directly
 * without calling zw_wake, that is noticed if the last step was ours and the change concerns an
 * awake body. */
static void take_memory(const zw_system *system, zw_state *state, step_impulse *s)
{
    int ours = state->remembered != 0 && state->remembered == s->left &&
               (!s->sleep || sleep_is_left(s, state_q(state), state_v(state)));
    s->kept = run_step_memory(system, state);
    if (ours) {
        return;
    }
    if (!run_remembers_step(state)) {
        run_forget(state);
        s->kept_used = 0;
    }
    run_begin_steps(system, state);
    if (s->sleep) {
        sleep_leave(s);
        s->sum = state_sum(state);
    }
}

void zw_wake(zw_state *state)
{
    run_forget(state);
}

static zw_status step_impulsively(const zw_system *system, zw_state *state, zw_work *work,
                                  const zw_run_options *plan, zw_error *error)
{
    step_kept *kept = kept_in(work);
    double *q = state_q(state), *v = state_v(state);
    if (!kept) {
        return base_no_memory(error);
    }
    if (!kept->impulse) {
        kept->impulse = impulse_open(system, work, error);
    }
    step_impulse *s = kept->impulse;
    if (!s) {
        return ZW_NO_MEMORY;
    }
    system_bind(system, work, state_param(state));
    impulse_set_plan(s, plan);
    take_memory(system, state, s);
    kept->summary.stopped_by = -1;
    uint64_t *sum = s->sleep ? &s->sum : NULL;
    zw_status status = sum ? sleep_step(s, state->t, plan->step, q, v, q, v, sum, error)
                           : impulse_step(s, state->t, plan->step, q, v, q, v, error);
    if (status != ZW_OK) {
        s->left = 0; /* start with an examination of all bodies */
        return status;
    }
    state->t += plan->step;
    state->work += system->works ? s->gained : 0;
    if (sum) {
        sleep_modes(s, state_mode(state), sum);
    } else {
        impulse_modes(s, state_mode(state));
    }
    run_note_step(system, state, plan);
    s->sum = sum ? s->sum : state_sum(state);
    s->left = state->remembered = state_digest_of(state, s->sum);
    work->certificate = s->residual;
    if (work->touched) {
        work->touched->of = state_digest_of(state, s->sum + state_param_sum(state));
    }
    return status;
}

/* ---- The other methods ----------------------------------------------------------------------- */

/* A run by this plan, not yet started. */
static zw_status make_run(step_kept *kept, const zw_system *system, zw_work *work,
                          const zw_run_options *plan, zw_error *error)
{
    kept->run = base_alloc(sizeof *kept->run);
    if (!kept->run) {
        return base_no_memory(error);
    }
    *kept->run = (run){
        .system = system, .work = work, .options = *plan, .summary = &kept->summary, .quiet = 1};
    return run_create(kept->run, error);
}

static int same_plan(const zw_run_options *a, const zw_run_options *b)
{
    return a->method == b->method && a->step == b->step && a->tolerance == b->tolerance &&
           a->contact == b->contact && a->accuracy == b->accuracy && a->memoryless == b->memoryless;
}

static zw_status take_steps(step_kept *kept, zw_state *state, const zw_run_options *plan,
                            zw_error *error)
{
    run *r = kept->run;
    kept->summary = (zw_run_summary){.stopped_by = -1, .check_failed = -1};
    r->state = state;
    r->options.time = plan->time;
    r->start = state->t;
    r->over = 0;
    r->goes_on = r->stepper && is_left(kept, state) && !guards_have_branches(&r->guards) &&
                 (r->impulse || r->guards.count == 0 || !is_controlled_anew(kept, state));
    kept->left = 0;
    state->impacts = 0;
    zw_status status = r->goes_on ? run_go_on(r, error) : run_begin(r, error);
    const stepper_view *at = status == ZW_OK ? stepper_look(r->stepper) : NULL;
    long steps = at ? at->steps : 0;
    status = status == ZW_OK ? run_on(r, error) : status;
    guards_release(&r->guards);
    if (status != ZW_OK) {
        if (at && at->steps == steps) { /* the time, not its place on the grid of steps */
            state->t = r->start;
        }
        kept->summary.end = state->t;
        run_forget(state);
        if (status == ZW_INACCURATE || status == ZW_CONFLICT || status == ZW_NO_STEP) {
            run_tell_singular(r, error);
        }
        return status;
    }
    if (r->soft) {
        r->work->certificate = r->soft->certificate;
    }
    run_remember(r);
    kept->left = state->remembered;
    kept->given = state_param_sum(state);
    if (r->work->touched) { /* 0: the contacts of no state; zw_look finds them */
        int hidden = r->impulse && r->impulse->sleep && sleep_hides(r->impulse);
        r->work->touched->of = r->impulse && !hidden ? state_digest(state, 1) : 0;
    }
    return ZW_OK;
}

static zw_status step_as_run(const zw_system *system, zw_state *state, zw_work *work,
                             const zw_run_options *plan, zw_error *error)
{
    step_kept *kept = kept_in(work);
    zw_status status = ZW_OK;
    if (!kept) {
        return base_no_memory(error);
    }
    if (kept->run && !same_plan(&kept->run->options, plan)) {
        free_run(kept);
    }
    if (!kept->run) {
        status = make_run(kept, system, work, plan, error);
    }
    status = status == ZW_OK ? take_steps(kept, state, plan, error) : status;
    if (status != ZW_OK) {
        free_run(kept);
    }
    return status;
}

int step_stopped_by(const zw_work *work)
{
    const step_kept *kept = work->stepper;
    return kept ? kept->summary.stopped_by : -1;
}

zw_status zw_look(const zw_system *system, const zw_state *state, zw_work *work, zw_error *error)
{
    const step_kept *kept = work->stepper;
    const step_impulse *s = kept ? kept->impulse : NULL;
    uint64_t digest = state_digest(state, 1);
    if (softly_led(work, state)) {
        zw_status status = system_forward(system, state, work, TOUCH_SOFTLY, error);
        return status == ZW_OK ? touch_softly(state, work, error) : status;
    }
    int led = (s && state->remembered == s->left) ||
              (kept && kept->run && kept->run->impulse && is_left(kept, state));
    if (!led || !work->touched || work->touched->of != digest) {
        return run_forward_by_law(system, state, work, error);
    }
    zw_status status = system_forward(system, state, work, TOUCH_AS_PUSHED, error);
    work->touched->of = status == ZW_OK ? digest : 0;
    return status;
}

zw_status step_plan(const zw_system *system, const zw_state *state, const zw_run_options *options,
                    zw_run_options *plan, zw_error *error)
{
    zw_run_options requested = options ? *options : (zw_run_options){0};
    requested.observer = NULL;
    if (requested.step == 0) { /* that of the file */
        requested.time = state->t + 1;
        requested.every = 1;
        zw_status status = zw_run_plan(system, state, &requested, plan, error);
        if (status != ZW_OK) {
            return status;
        }
        requested.step = plan->step;
    }
    if (requested.step == 0) {
        return base_fail(
            error, ZW_BAD_INPUT,
            "the step is not given: set `step` in the options, or in the file (run step 0.01)");
    }
    requested.time = state->t + requested.step;
    requested.every = requested.step;
    return zw_run_plan(system, state, &requested, plan, error);
}

zw_status zw_step(const zw_system *system, zw_state *state, zw_work *work,
                  const zw_run_options *options, zw_error *error)
{
    zw_run_options plan;
    zw_status status = step_plan(system, state, options, &plan, error);
    if (status != ZW_OK) {
        return status;
    }
    int alone =
        plan.method == ZW_METHOD_IMPULSE && system->model->event_count == 0 && !kinks_exist(system);
    system_stop stop = {.poll = plan.poll, .user = plan.user, .t = state->t};
    work->stop = stop.poll ? &stop : NULL;
    status = alone ? step_impulsively(system, state, work, &plan, error)
                   : step_as_run(system, state, work, &plan, error);
    work->stop = NULL;
    return stop.said ? base_fail_as(error, ZW_INTERRUPTED) : status;
}
