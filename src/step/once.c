/* One step, for loops of the caller's.
 *
 * The velocity form keeps its room in the work from step to step, so that such a loop allocates
 * nothing; the others begin anew each time. */
#include <string.h>

#include "base/error.h"
#include "step/impulse/impulse.h"
#include "step/run.h"
#include "step/sleep/sleep.h"

static void free_stepper(void *stepper)
{
    impulse_free(stepper);
}

static step_impulse *stepper_of(const zw_system *system, zw_work *work, zw_error *error)
{
    if (!work->stepper) {
        work->stepper = impulse_create(system, work, error);
        work->free_stepper = free_stepper;
    }
    return work->stepper;
}

/* The memory of the state becomes that of the stepper: written by its last step, or by another one,
 * or by a run; or it is of another state, and so of none. Who writes into the state by hand and
 * does not say so (zw_wake) is seen if the last step was ours and he changed what is awake. */
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
    step_impulse *s = stepper_of(system, work, error);
    double *q = state_q(state), *v = state_v(state);
    if (!s) {
        return ZW_NO_MEMORY;
    }
    system_bind(system, work, state_param(state));
    impulse_set_tolerance(s, plan->tolerance);
    impulse_set_contact(s, plan->contact);
    take_memory(system, state, s);
    uint64_t *sum = s->sleep ? &s->sum : NULL;
    zw_status status = sum ? sleep_step(s, state->t, plan->step, q, v, q, v, sum, error)
                           : impulse_step(s, state->t, plan->step, q, v, q, v, error);
    if (status != ZW_OK) {
        s->left = 0; /* begin with a look at all there is */
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

zw_status zw_look(const zw_system *system, const zw_state *state, zw_work *work, zw_error *error)
{
    const step_impulse *s = work->stepper;
    uint64_t digest = state_digest(state, 1);
    if (!s || !work->touched || work->touched->of != digest || state->remembered != s->left) {
        return zw_forward(system, state, work, error);
    }
    zw_status status = system_forward(system, state, work, TOUCH_AS_PUSHED, error);
    work->touched->of = status == ZW_OK ? digest : 0;
    return status;
}

zw_status zw_step(const zw_system *system, zw_state *state, zw_work *work, zw_method method,
                  double h, zw_error *error)
{
    const zw_run_options options = {.step = h, .method = method};
    return zw_step_by(system, state, work, &options, error);
}

zw_status zw_step_by(const zw_system *system, zw_state *state, zw_work *work,
                     const zw_run_options *options, zw_error *error)
{
    const zw_run_options wish = {.time = state->t + options->step,
                                 .every = options->step,
                                 .step = options->step,
                                 .tolerance = options->tolerance,
                                 .method = options->method,
                                 .contact = options->contact};
    zw_run_options plan;
    zw_run_summary summary = {0};
    zw_status status = zw_run_plan(system, state, &wish, &plan, error);
    if (status != ZW_OK) {
        return status;
    }
    return plan.method == ZW_METHOD_IMPULSE ? step_impulsively(system, state, work, &plan, error)
                                            : zw_run(system, state, work, &plan, &summary, error);
}
