/* The contact forces at the beginning of a run by method impulse: those of its first step. */
#include "base/error.h"
#include "base/memory.h"
#include "step/impulse_stepper.h"
#include "step/run.h"

/* Errors are ignored here: the run itself will encounter and report them. */
static void try_step(const zw_system *system, zw_state *state, zw_work *work, zw_work *own,
                     const zw_run_options *options, double *next)
{
    zw_error ignored;
    step_impulse *impulse = impulse_open(system, own, &ignored);
    if (!impulse) {
        return;
    }
    system_bind(system, own, state_param(state));
    impulse_set_plan(impulse, options);
    if (impulse_step(impulse, state->t, options->step, state_q(state), state_v(state), next,
                     next + system->nq, &ignored) == ZW_OK) {
        contact_list_free(work->touched);
        work->touched = own->touched;
        own->touched = NULL;
    }
    impulse_free(impulse);
}

zw_status run_first_contacts(const zw_system *system, const zw_state *state, zw_work *work,
                             const zw_run_options *options, zw_error *error)
{
    size_t size = (size_t)system->nq + (size_t)system->n + (size_t)system->carried + 1;
    zw_work *own = zw_work_create(system, error);
    double *next = base_alloc(size * sizeof *next);
    if (own && next) {
        try_step(system, (zw_state *)state, work, own, options, next); /* not modified */
    }
    zw_status status = own && next ? ZW_OK : base_no_memory(error);
    base_free(next);
    zw_work_free(own);
    return status;
}

int run_is_seen(const run *r)
{
    return r->options.observer || r->system->model->check_count > 0;
}

zw_status run_try_contacts(run *r, zw_error *error)
{
    const zw_system *system = r->system;
    int known = r->work->touched && r->work->touched->of != 0 &&
                (r->work->touched->rests || zw_sleepers(system, r->state, NULL, NULL) == 0);
    return !run_is_seen(r) || known || zw_contact_capacity(system) == 0
               ? ZW_OK
               : run_first_contacts(system, r->state, r->work, &r->options, error);
}
