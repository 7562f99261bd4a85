/* One step, for loops of the caller's.
 *
 * The velocity form keeps its room in the work from step to step, so that such a loop allocates
 * nothing; the others begin anew each time. */
#include <string.h>

#include "base/error.h"
#include "step/impulse.h"
#include "step/run.h"

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
    zw_status status = impulse_step(s, state->t, plan->step, q, v, q, v, error);
    if (status == ZW_OK) {
        state->t += plan->step;
        state->work += system->works ? s->gained : 0;
        impulse_modes(s, state_mode(state));
        work->certificate = s->residual;
        if (work->touched) {
            work->touched->of = state_digest(state); /* for zw_contacts */
        }
    }
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
