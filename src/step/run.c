/* The motion from now to the end.
 *
 *     take a step; if something happens in it, it ends there
 *     show the samples that lie in it
 *     do what happened: the kernel decides about contacts, the model about resets and stops
 */
#include "step/run.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "step/ode/control.h"
#include "step/sleep/sleep.h"
#include "system/law.h"

static step_method ode_method(zw_method method)
{
    switch (method) {
    case ZW_METHOD_RK4:
        return STEP_RK4;
    case ZW_METHOD_EULER:
        return STEP_EULER;
    case ZW_METHOD_VARIATIONAL:
        return STEP_VARIATIONAL;
    case ZW_METHOD_VARIATIONAL4:
        return STEP_VARIATIONAL4;
    case ZW_METHOD_MIDPOINT:
        return STEP_MIDPOINT;
    case ZW_METHOD_STIFF:
        return STEP_RADAU;
    case ZW_METHOD_BDF:
        return STEP_BDF;
    case ZW_METHOD_IMPULSE:
    case ZW_METHOD_SOFT:
        return STEP_GIVEN;
    default:
        return STEP_DOP853;
    }
}

/* ---- Events --------------------------------------------------------------------------------- */

/* `set` lines: all right-hand sides first, then the assignments. */
static zw_status reset(run *r, const model_event *event, zw_error *error)
{
    zw_state *state = r->state;
    const expr_inputs now = {.t = state->t,
                             .param = state_param(state),
                             .q = state_q(state),
                             .v = state_v(state),
                             .a = r->work->a,
                             .lambda = r->work->lambda};
    const expr_inputs in = system_inputs(r->system, r->work, &now);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < event->reset_count; k++) {
            const model_reset *set = &event->reset[k];
            double *list = set->kind == MODEL_SET_COORD   ? state_q(state)
                           : set->kind == MODEL_SET_SPEED ? state_v(state)
                                                          : state_param(state);
            if (pass == 1) {
                list[set->index] = r->reset[k];
            } else if (expr_value(r->system->model->graph, set->value, &in, &r->reset[k]) !=
                       ZW_OK) {
                return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
            }
        }
    }
    return ZW_OK;
}

static double energy_of(const run *r)
{
    return zw_field(r->system, r->state, r->work, ZW_FIELD_ENERGY).data[0];
}

/* A jump of the state changes the energy by work that nobody integrates. */
static zw_status apply(run *r, const model_event *event, zw_error *error)
{
    zw_state *state = r->state;
    if (event->reset_count == 0) {
        return ZW_OK;
    }
    double before = energy_of(r);
    zw_status status = reset(r, event, error);
    if (status != ZW_OK) {
        return status;
    }
    system_bind(r->system, r->work, state_param(state));
    double *q = state_q(state), *v = state_v(state);
    status = system_project_position(r->system, r->work, state->t, q, v, error);
    if (status == ZW_OK) {
        status = law_follow(r->system, r->work, state->t, q, v, error);
    }
    if (status == ZW_OK) {
        status = system_project_velocity(r->system, r->work, state->t, q, v, error);
    }
    state->work += energy_of(r) - before;
    return status;
}

static zw_status note_slip(run *r, zw_error *error)
{
    const step_ode_view *at = step_ode_look(r->ode);
    return r->guards.count == 0
               ? ZW_OK
               : system_note_slip(r->system, r->work, at->t, at->y, at->y + r->system->nq, error);
}

static zw_status count_repeats(run *r, int c, zw_error *error)
{
    const zw_model *model = r->system->model;
    double t = r->state->t;
    if (!run_repeats(r, t)) {
        return ZW_OK;
    }
    return model_fail(model, error, ZW_NO_STEP, c < 0 ? -1 : model->constraint[c].place,
                      "at t = %.9g %s%s changes without end", t,
                      c < 0 ? "the state" : "constraint ", c < 0 ? "" : model->constraint[c].name);
}

/* Contacts and friction from now on; constraint c asks for it, or an event (-1). An impact is shown
 * from both sides. */
static zw_status decide_now(run *r, int c, zw_error *error)
{
    system_impact made = {0};
    zw_status status = count_repeats(r, c, error);
    memcpy(r->sample, r->state, r->state->bytes);
    if (status == ZW_OK) {
        status = system_decide(r->system, r->work, r->state, &made, error);
        r->summary->events += made.count;
        run_note_impacts(r, &made);
    }
    if (status == ZW_OK && made.count > 0) {
        status = run_show(r, ZW_SAMPLE_JUMP, -1, r->sample, error);
    }
    if (status == ZW_OK && made.count > 0 && !r->over) {
        status = run_show(r, ZW_SAMPLE_JUMP, -1, r->state, error);
    }
    return status;
}

/* Kinks that have come to zero go to their other side. */
static zw_status cross_kinks(run *r, const int *fired, int count, int *crossed, zw_error *error)
{
    const step_ode_view *at = step_ode_look(r->ode);
    int first = r->guards.events + r->guards.others;
    zw_status status = ZW_OK;
    *crossed = 0;
    for (int i = 0; i < count && status == ZW_OK; i++) {
        if (fired[i] < first) {
            continue;
        }
        int k = r->guards.kink[fired[i] - first];
        *crossed = r->guards.kinks.latch;
        status = run_repeats(r, at->t)
                     ? kinks_refuse(&r->guards.kinks, k / 2, at->t, error)
                     : kinks_cross(&r->guards.kinks, k / 2, k % 2, at->t, at->y, error);
    }
    return status;
}

/* Which branches of formulas and which signs of normal forces hold from r->y on. */
static zw_status decide_branches(run *r, zw_error *error)
{
    zw_status status = kinks_decide(&r->guards.kinks, r->state->t, r->y, error);
    return status == ZW_OK ? guards_see_signs(&r->guards, r->state->t, r->y, error) : status;
}

/* The integrator stands at an event; `fired` are the guards. */
static zw_status happen(run *r, const int *fired, int count, zw_error *error)
{
    const zw_model *model = r->system->model;
    const step_ode_view *at = step_ode_look(r->ode);
    zw_status status = ZW_OK;
    int touched = 0, last = -1, crossed = 0;
    motion_unpack(&r->motion, at->t, at->y, r->state);
    status = note_slip(r, error);
    system_keep_slip(r->work, r->state);
    status = status == ZW_OK ? cross_kinks(r, fired, count, &crossed, error) : status;
    for (int k = 0; k < count && status == ZW_OK && !r->over; k++) {
        int other = fired[k] - r->guards.events;
        if (other >= r->guards.others) {
            continue;
        }
        if (other >= 0 && guards_turn_sign(&r->guards, other)) {
            crossed = 1;
            status = count_repeats(r, r->guards.constraint[other], error);
            continue;
        }
        if (other >= 0) {
            touched = 1;
            last = r->guards.constraint[other];
            continue;
        }
        const model_event *event = &model->event[fired[k]];
        r->summary->events++;
        status = run_show(r, ZW_SAMPLE_EVENT, fired[k], r->state, error);
        if (status == ZW_OK) {
            status = apply(r, event, error);
            touched |= event->reset_count > 0;
        }
        if (status == ZW_OK && event->reset_count > 0 && !r->over) {
            status = run_show(r, ZW_SAMPLE_JUMP, -1, r->state, error);
        }
        if (event->stops && status == ZW_OK) {
            r->summary->stopped_by = fired[k];
            r->over = 1;
        }
    }
    if (touched && status == ZW_OK && !r->over) {
        status = decide_now(r, last, error);
    }
    if ((touched || crossed) && status == ZW_OK && !r->over) {
        if (r->impulse && r->impulse->sleep) {
            sleep_disturb(r->impulse);
        }
        motion_pack(&r->motion, r->state, r->y);
        if (touched) {
            status = decide_branches(r, error);
        }
        status = status == ZW_OK ? step_ode_restart(r->ode, r->state->t, r->y, error) : status;
    }
    return status;
}

/* ---- The velocity form ----------------------------------------------------------------------- */

/* The velocity form decides about limits and friction inside its steps. */
static zw_status whole_step(void *user, double t, double h, const double *y0, double *y1,
                            zw_error *error)
{
    const step_motion *motion = user;
    run *r = motion->run;
    int nq = r->system->nq;
    double gained = 0;
    if (r->impulse && r->impulse->sleep) {
        sleep_notice(r->impulse, y0, y0 + nq);
    }
    zw_status status = r->soft ? soft_step(r->soft, t, h, y0, y0 + nq, y1, y1 + nq, &gained, error)
                               : impulse_step(r->impulse, t, h, y0, y0 + nq, y1, y1 + nq, error);
    r->seen = status == ZW_OK && r->impulse && r->impulse->sleep && sleep_is_finite(r->impulse);
    if (r->impulse && status == ZW_OK) {
        run_note_impacts(r, &(system_impact){(int)r->impulse->impacts, r->impulse->impact_loss});
        r->summary->halved += r->impulse->halved;
        r->summary->inexact += r->impulse->inexact;
    }
    if (status == ZW_OK && r->system->bodies->contact->touches) {
        int sure = r->impulse && r->impulse->sure; /* soft contacts may be passed through */
        r->summary->proved += sure;
        r->summary->unproved += !sure;
    }
    if (r->soft && status == ZW_OK) {
        soft_note(r->soft, &r->summary->contacts, &r->summary->depth);
    }
    if (r->system->works) {
        y1[motion->size - 1] = y0[motion->size - 1] + (r->soft ? gained : r->impulse->gained);
    }
    return status;
}

/* What holds now, for what is measured and shown. */
static zw_status take_modes(run *r, zw_error *error)
{
    const step_ode_view *at = step_ode_look(r->ode);
    zw_status status = ZW_OK;
    impulse_modes(r->impulse, state_mode(r->state));
    if (!r->impulse->sleep) { /* else only where it is shown: that is about all bodies */
        status = system_set_modes(r->system, r->work, state_mode(r->state), error);
    }
    r->work->certificate = r->impulse->residual;
    int count = r->work->touched ? r->work->touched->count : 0;
    r->summary->contacts = count > r->summary->contacts ? count : r->summary->contacts;
    for (int k = 0; k < count; k++) {
        r->summary->depth = fmax(r->summary->depth, 0 - r->work->touched->contact[k].gap);
        r->summary->jams += r->work->touched->contact[k].state == ZW_TOUCH_JAM;
    }
    if (r->impulse->sleep) {
        sleep_note_slip(r->impulse);
        return ZW_OK;
    }
    return status != ZW_OK || !r->system->has_friction
               ? status
               : system_note_slip(r->system, r->work, at->t, at->y, at->y + r->system->nq, error);
}

/* ---- The loop ------------------------------------------------------------------------------- */

static zw_status step(run *r, zw_error *error)
{
    const step_ode_view *at = step_ode_look(r->ode);
    double limit = at->t + r->soon < r->options.time ? at->t + r->soon : r->options.time;
    int fired = 0;
    long shown = r->shown;
    zw_status status = note_slip(r, error);
    r->soon = INFINITY;
    if (status == ZW_OK) {
        status = step_ode_advance(r->ode, limit, error);
    }
    if (status == ZW_OK && r->guards.count > 0) {
        int again = 0;
        status = run_scan(r, &fired, &again, error);
        if (status != ZW_OK || again) {
            return status;
        }
    }
    if (status == ZW_OK) {
        run_count_proved(r);
    }
    if (status == ZW_OK && r->impulse) {
        status = take_modes(r, error);
    }
    if (status == ZW_OK) {
        status = run_measure_step(r, at->t, at->y, error);
    }
    if (status == ZW_OK) {
        status = run_show_outputs(r, at->t, error);
    }
    if (status == ZW_OK && fired > 0 && !r->over) {
        status = happen(r, step_events_fired(r->guards.scan), fired, error);
        if (status == ZW_OK && !r->over) {
            status = step_events_arm(r->guards.scan, r->ode, error);
        }
    }
    /* every step is shown, those that end at a kink or where sliding stops as well */
    if (status == ZW_OK && r->options.every < 0 && r->shown == shown && at->t < r->options.time) {
        motion_unpack(&r->motion, at->t, at->y, r->state);
        status = run_show(r, ZW_SAMPLE_OUTPUT, -1, r->state, error);
    }
    return status;
}

static zw_status create_given(run *r, zw_error *error)
{
    r->motion.run = r;
    if (r->soft) {
        return ZW_OK;
    }
    r->impulse = impulse_create(r->system, r->work, error);
    if (!r->impulse) {
        return ZW_NO_MEMORY;
    }
    impulse_set_tolerance(r->impulse, r->options.tolerance);
    impulse_set_contact(r->impulse, r->options.contact);
    return ZW_OK;
}

/* The variational methods and the velocity form keep the constraints by themselves. */
static zw_status create_ode(run *r, zw_error *error)
{
    step_ode_options options = {.method = ode_method(r->options.method),
                                .n = r->motion.size,
                                .field = motion_field,
                                .project = motion_project,
                                .user = &r->motion,
                                .exact = r->system->m > 0 ? motion_exact : NULL,
                                .margin = &r->motion.margin,
                                .tolerance = r->options.tolerance,
                                .step = r->options.step,
                                .positions = r->system->nq,
                                .speeds = r->system->n,
                                .move = r->system->tree ? motion_move : NULL};
    if (options.method == STEP_VARIATIONAL || options.method == STEP_VARIATIONAL4 ||
        options.method == STEP_MIDPOINT) {
        zw_status status = lagrange_create(&r->lagrange, r->system, r->work, error);
        r->motion.alone = 1;
        if (status != ZW_OK) {
            return status;
        }
        options.lagrangian = &r->lagrange.view;
        options.project = NULL;
    }
    if (options.method == STEP_GIVEN) {
        zw_status status = create_given(r, error);
        if (status != ZW_OK) {
            return status;
        }
        options.given = whole_step;
        options.seen = &r->seen;
        if (r->impulse) {
            options.kept_count = impulse_memory(r->impulse, &options.kept);
        }
        options.project = NULL;
    }
    r->ode = step_ode_create(&options, error);
    return r->ode ? ZW_OK : error ? error->status : ZW_NO_MEMORY;
}

static zw_status start(run *r, zw_error *error)
{
    const zw_system *system = r->system;
    system_bind(system, r->work, state_param(r->state));
    system_take_slip(r->work, r->state);
    int given = r->options.method == ZW_METHOD_IMPULSE || r->soft;
    r->work->tolerance = given ? 0 : r->options.tolerance;
    zw_status status = system_set_modes(system, r->work, state_mode(r->state), error);
    if (status == ZW_OK) {
        status = system_note_slip(system, r->work, r->state->t, state_q(r->state),
                                  state_v(r->state), error);
        system_keep_slip(r->work, r->state);
    }
    if (status == ZW_OK) { /* an energy that is no number would make every check void */
        status = system_evaluate(system, r->work, PART_ENERGY, r->state->t, state_q(r->state),
                                 state_v(r->state), NULL, NULL, error);
    }
    if (status == ZW_OK && r->options.method == ZW_METHOD_IMPULSE) {
        status = run_try_contacts(r, error);
    }
    if (status == ZW_OK) {
        status = run_show(r, ZW_SAMPLE_START, -1, r->state, error);
    }
    status = status != ZW_OK ? status : create_ode(r, error);
    if (status != ZW_OK) {
        return status;
    }
    motion_pack(&r->motion, r->state, r->y);
    status =
        guards_create(&r->guards, &r->motion, r->impulse || r->soft, r->options.tolerance, error);
    status = status == ZW_OK ? decide_branches(r, error) : status;
    if (status == ZW_OK) {
        status = run_remembers(r) ? run_resume(r, error)
                                  : step_ode_start(r->ode, r->state->t, r->y, error);
    }
    run_forget(r->state); /* until the end */
    if (status == ZW_OK && r->guards.count > 0) {
        status = step_events_arm(r->guards.scan, r->ode, error);
    }
    return status;
}

static zw_status go(run *r, zw_error *error)
{
    zw_status status = start(r, error);
    const step_ode_view *at = r->ode ? step_ode_look(r->ode) : NULL;
    at = at && at->y ? at : NULL; /* it could not even be started */
    long steps = 0;
    int polled = 0;
    double t = r->start;
    while (status == ZW_OK && !r->over && at->t < r->options.time) {
        status = step(r, error);
        if (status == ZW_OK) {
            const step_pace pace = {.steps = at->steps,
                                    .start = r->start,
                                    .t = at->t,
                                    .end = r->options.time,
                                    .largest = r->options.step,
                                    .stiff = step_ode_is_stiff(r->ode),
                                    .reachable = at->reachable};
            status = step_progress(&pace, &steps, &t, error);
        }
        if (!r->over && r->options.poll && r->options.poll(r->options.user, at->t)) {
            r->summary->interrupted = r->over = polled = 1;
        }
    }
    if (at) {
        if (!(r->over && r->summary->stopped_by >= 0)) {
            motion_unpack(&r->motion, at->t, at->y, r->state);
        }
        r->summary->steps = at->steps;
        r->summary->rejected = at->rejected;
        r->summary->evaluations = at->evaluations;
    }
    r->summary->end = r->state->t;
    if (status == ZW_OK) {
        run_remember(r);
    }
    if (status == ZW_OK && !r->summary->interrupted) {
        return run_show(r, ZW_SAMPLE_END, -1, r->state, error);
    }
    zw_error ignored; /* the end is shown as far as it can be */
    if ((status != ZW_OK || polled) && at) {
        run_show(r, ZW_SAMPLE_END, -1, r->state, &ignored);
    }
    return status;
}

static zw_status allocate(run *r, zw_error *error)
{
    size_t resets = 0;
    for (int i = 0; i < r->system->model->event_count; i++) {
        size_t count = (size_t)r->system->model->event[i].reset_count;
        resets = count > resets ? count : resets;
    }
    size_t size = (size_t)r->system->nq + (size_t)r->system->n + (size_t)r->system->carried + 1;
    r->y = base_alloc(size * sizeof(double));
    r->stage = base_alloc((size + (size_t)r->system->m) * sizeof(double));
    r->sample = state_allocate(r->system);
    r->first = base_alloc(((size_t)r->system->model->check_count + 1) * sizeof(double));
    r->reset = base_alloc((resets + 1) * sizeof(double));
    if (!r->y || !r->stage || !r->sample || !r->first || !r->reset) {
        return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    r->motion = motion_of(r->system, r->work, r->stage);
    return r->options.method == ZW_METHOD_SOFT
               ? soft_create(r->system, r->work, r->options.step, &r->soft, error)
               : ZW_OK;
}

zw_status zw_run(const zw_system *system, zw_state *state, zw_work *work,
                 const zw_run_options *options, zw_run_summary *summary, zw_error *error)
{
    zw_run_summary local;
    run r = {.system = system,
             .state = state,
             .work = work,
             .summary = summary ? summary : &local,
             .start = state->t,
             .start_work = state->work,
             .output = 1,
             .soon = INFINITY,
             .last = -INFINITY};
    contact_list_keep(work->touched, state); /* for the first sample */
    *r.summary =
        (zw_run_summary){.stopped_by = -1, .check_failed = -1, .start = state->t, .end = state->t};
    run_note_impacts(&r, &(system_impact){.count = state->impacts, .loss = state->impact_loss});
    state->impacts = 0;
    zw_status status = run_complete(system, options, state->t, &r.options, error);
    if (status == ZW_OK) {
        r.summary->method = r.options.method;
        r.summary->contact = r.options.contact;
        r.summary->tolerance = r.options.tolerance;
        r.summary->step = r.options.step;
        status = allocate(&r, error);
    }
    if (status == ZW_OK) {
        status = go(&r, error);
        if (status == ZW_INACCURATE || status == ZW_CONFLICT || status == ZW_NO_STEP) {
            run_tell_singular(&r, error);
        }
    }
    work->tolerance = 0;
    kinks_release(&r.guards.kinks);
    guards_free(&r.guards);
    lagrange_free(&r.lagrange);
    impulse_free(r.impulse);
    soft_free(r.soft);
    step_ode_free(r.ode);
    base_free(r.y);
    base_free(r.stage);
    base_free(r.reset);
    base_free(r.first);
    zw_state_free(r.sample);
    return status;
}
