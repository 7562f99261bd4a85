/* The principle at an instant, with the contact law of a run.
 *
 * Coulomb's law has accelerations (system/contact/contact_now.c). The convex law is defined for
 * steps only: a sliding contact lifts off at once, and accelerations would be those after
 * separation. So its contacts exert the mean forces of a first step from the state, as known
 * forces. The soft law has forces at every instant; there the constraints of the robot are as soft
 * as contacts, and the kernel is not used:
 *
 *     M a = F^N + J' lambda,     Z = 1/2 (a - a_free)' M (a - a_free) = 1/2 (a - a_free) . J'
 * lambda */
#include <string.h>

#include "base/error.h"
#include "step/run.h"

zw_status run_look_softly(const zw_system *system, const zw_state *state, zw_work *work, double h,
                          zw_error *error)
{
    if (work->soft && work->soft->step != h) { /* its springs depend on the step */
        soft_free(work->soft);
        work->soft = NULL;
    }
    system_bind(system, work, state_param((zw_state *)state)); /* only read */
    zw_status status = work->soft ? ZW_OK : soft_create(system, work, h, &work->soft, error);
    status = status == ZW_OK ? soft_show(work->soft, state, error) : status;
    if (status == ZW_OK && work->touched) {
        work->touched->of = state_digest(state, 1);
    }
    return status;
}

static zw_status forward_softly(const zw_system *system, const zw_state *state, zw_work *work,
                                double h, zw_error *error)
{
    zw_status status = system_forward(system, state, work, TOUCH_SOFTLY, error);
    status = status == ZW_OK ? run_look_softly(system, state, work, h, error) : status;
    if (status != ZW_OK) {
        return status;
    }
    const soft_problem *soft = work->soft;
    const double *a_free = zw_field(system, state, work, ZW_FIELD_A_FREE).data;
    double Z = 0;
    for (int i = 0; i < system->n; i++) {
        Z += 0.5 * (soft->a[i] - a_free[i]) * soft->push[i];
    }
    memset(work->spare[0], 0, (size_t)system->n * sizeof(double));
    work->shown = (zw_motion){.n = system->n,
                              .a = soft->a,
                              .F_N = soft->force,
                              .F_L = soft->push,
                              .F_C = work->spare[0],
                              .C = work->spare[0],
                              .Z = Z,
                              .independence = 1,
                              .margin = 1,
                              .certificate = {.stationarity = soft->certificate,
                                              .worst = soft->certificate,
                                              .worst_block = -1},
                              .method = "soft"};
    work->shows_soft = 1;
    return ZW_OK;
}

/* Which one-sided constraints are closed, and which friction sticks, may be due to other controls
 * than those of the state, or to none, as after steps of the soft law. Then it is decided anew, in
 * a copy: if that includes an impact, the speeds are those before it. */
zw_status run_forward_by_law(const zw_system *system, const zw_state *state, zw_work *work,
                             zw_error *error)
{
    if (!state->undecided || (system->contact_count == 0 && !system->has_friction)) {
        return system_forward(system, state, work, TOUCH_BY_LAW, error);
    }
    zw_state *now = NULL;
    zw_status status = zw_state_copy(state, &now, error);
    if (status == ZW_OK) {
        system_bind(system, work, state_param(now));
        status = system_decide(system, work, now, NULL, error);
    }
    if (status == ZW_OK) {
        memcpy(now->data, state->data, (size_t)(state->nq + state->n) * sizeof *now->data);
        status = system_forward(system, now, work, TOUCH_BY_LAW, error);
    }
    if (status == ZW_OK && work->touched) {
        work->touched->of = state_digest(state, 1);
    }
    zw_state_free(now);
    return status;
}

zw_status zw_forward(const zw_system *system, const zw_state *state, zw_work *work,
                     const zw_run_options *options, zw_error *error)
{
    zw_run_options requested = options ? *options : (zw_run_options){0}, plan;
    requested.time = state->t + 1;
    requested.every = 1;
    zw_status status = zw_run_plan(system, state, &requested, &plan, error);
    if (status != ZW_OK) {
        return status;
    }
    if (plan.contact == ZW_CONTACT_SOFT) {
        return forward_softly(system, state, work, plan.step, error);
    }
    if (plan.contact != ZW_CONTACT_CONVEX || zw_contact_capacity(system) == 0) {
        return run_forward_by_law(system, state, work, error);
    }
    status = run_first_contacts(system, state, work, &plan, error);
    if (status == ZW_OK) {
        status = system_forward(system, state, work, TOUCH_AS_PUSHED, error);
    }
    if (status == ZW_OK && work->touched) {
        work->touched->of = state_digest(state, 1);
    }
    return status;
}
