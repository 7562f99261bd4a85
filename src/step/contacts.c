/* What pushes at the beginning of a run by the velocity form: what its first step will. */
#include "base/error.h"
#include "base/memory.h"
#include "step/run.h"

zw_status run_try_contacts(run *r, zw_error *error)
{
    const zw_system *system = r->system;
    int seen = r->options.observer || system->model->check_count > 0;
    if (!seen || (r->work->touched && r->work->touched->of != 0)) {
        return ZW_OK; /* nobody looks, or it is known */
    }
    zw_work *own = zw_contact_room(system) > 0 ? zw_work_create(system, error) : NULL;
    double *next =
        base_alloc((size_t)(system->nq + system->n + system->carried + 1) * sizeof *next);
    step_impulse *impulse = own && next ? impulse_create(system, own, error) : NULL;
    zw_status status = ZW_OK;
    if (zw_contact_room(system) > 0 && !impulse) {
        status = base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    } else if (impulse) {
        zw_error ignored; /* the step itself will tell */
        system_bind(system, own, state_param(r->state));
        impulse_set_tolerance(impulse, r->options.tolerance);
        if (impulse_step(impulse, r->state->t, r->options.step, state_q(r->state),
                         state_v(r->state), next, next + system->nq, &ignored) == ZW_OK) {
            contact_list_free(r->work->touched);
            r->work->touched = own->touched;
            own->touched = NULL;
        }
    }
    impulse_free(impulse);
    base_free(next);
    zw_work_free(own);
    return status;
}
