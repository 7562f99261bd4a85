/* The motion from now to the end.
 *
 *     take a step; it ends where an event happens in it
 *     pass the samples within it to the observer
 *     carry out the event: the kernel decides contacts, the model resets and stops */
#include "step/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "step/impulse_stepper.h"
#include "step/ode/control.h"
#include "step/sleep/sleep.h"

/* ---- Making ---------------------------------------------------------------------------------- */

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
    default:
        return STEP_DOP853;
    }
}

/* The variational methods satisfy the constraints by themselves. */
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
    r->stepper = step_ode_create(&options, error);
    return r->stepper ? ZW_OK : error ? error->status : ZW_NO_MEMORY;
}

static zw_status create_impulse(run *r, zw_error *error)
{
    r->impulse = impulse_open(r->system, r->work, error);
    if (!r->impulse) {
        return ZW_NO_MEMORY;
    }
    impulse_set_plan(r->impulse, &r->options);
    r->stepper = impulse_stepper(r->impulse, r->options.step, error);
    return r->stepper ? ZW_OK : ZW_NO_MEMORY;
}

static zw_status create_soft(run *r, zw_error *error)
{
    r->stepper = soft_stepper(r->soft, r->options.step, error);
    return r->stepper ? ZW_OK : ZW_NO_MEMORY;
}

static zw_status create_stepper(run *r, zw_error *error)
{
    bodies_clear_adhesion(r->work);
    zw_status status = r->options.method == ZW_METHOD_IMPULSE ? create_impulse(r, error)
                       : r->options.method == ZW_METHOD_SOFT  ? create_soft(r, error)
                                                              : create_ode(r, error);
    if (status == ZW_OK) {
        status = guards_create(&r->guards, &r->motion, r->impulse || r->soft, r->options.tolerance,
                               error);
    }
    status = status == ZW_OK ? pulses_create(&r->pulses, &r->motion, error) : status;
    return status == ZW_OK && r->pulses.count > 0
               ? kinks_meet(&r->guards.kinks, r->pulses.tape, error)
               : status;
}

zw_status run_create(run *r, zw_error *error)
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
        return base_no_memory(error);
    }
    return r->options.method == ZW_METHOD_SOFT
               ? soft_create(r->system, r->work, r->options.step, &r->soft, error)
               : ZW_OK;
}

void run_free(run *r)
{
    r->work->tolerance = 0;
    guards_release(&r->guards);
    guards_free(&r->guards);
    pulses_free(&r->pulses);
    lagrange_free(&r->lagrange);
    stepper_free(r->stepper);
    impulse_free(r->impulse);
    soft_free(r->soft);
    base_free(r->y);
    base_free(r->stage);
    base_free(r->reset);
    base_free(r->first);
    zw_state_free(r->sample);
}

/* ---- The beginning --------------------------------------------------------------------------- */

/* The sample at the start. */
static zw_status show_start(run *r, zw_error *error)
{
    zw_status status = r->options.method == ZW_METHOD_IMPULSE ? run_try_contacts(r, error) : ZW_OK;
    return status == ZW_OK ? run_show(r, ZW_SAMPLE_START, -1, r->state, error) : status;
}

/* Makes the work that of the state. */
static zw_status take_state(run *r, zw_error *error)
{
    const zw_system *system = r->system;
    system_bind(system, r->work, state_param(r->state));
    system_take_slip(r->work, r->state);
    int given = r->options.method == ZW_METHOD_IMPULSE || r->options.method == ZW_METHOD_SOFT;
    r->work->tolerance = given ? 0 : r->options.tolerance;
    return system_set_modes(system, r->work, state_mode(r->state), error);
}

zw_status run_go_on(run *r, zw_error *error)
{
    r->state->remembered = 0; /* until the end */
    return take_state(r, error);
}

/* No motion is known yet. */
static void begin_afresh(run *r)
{
    int alone = r->motion.alone;
    r->motion = motion_of(r->system, r->work, r->stage);
    r->motion.alone = alone;
    r->soon = INFINITY;
    r->last = -INFINITY;
    r->repeats = 0;
}

/* Decides the branches of formulas. They may lead to other forces than those that decided the
 * contact modes of the state: where the state is at a kink, or a parameter has been set since. */
static zw_status begin_piece(run *r, zw_error *error)
{
    int denied = 0;
    motion_pack(&r->motion, r->state, r->y);
    zw_status status = guards_decide(&r->guards, r->state->t, r->y, error);
    if (status == ZW_OK) {
        status = guards_are_denied(&r->guards, r->state->t, r->y, &denied, error);
    }
    if (status == ZW_OK && denied) {
        status = system_decide(r->system, r->work, r->state, NULL, error);
        run_forget(r->state);
        motion_pack(&r->motion, r->state, r->y);
    }
    return status;
}

zw_status run_begin(run *r, zw_error *error)
{
    const zw_system *system = r->system;
    begin_afresh(r);
    zw_status status = take_state(r, error);
    if (status == ZW_OK) {
        status = system_note_slip(system, r->work, r->state->t, state_q(r->state),
                                  state_v(r->state), error);
        system_keep_slip(r->work, r->state);
    }
    if (status == ZW_OK) { /* an energy that is NaN would make every check void */
        status = system_evaluate(system, r->work, PART_ENERGY, r->state->t, state_q(r->state),
                                 state_v(r->state), NULL, NULL, error);
    }
    if (status == ZW_OK && !r->quiet) {
        status = show_start(r, error);
    }
    if (status == ZW_OK && !r->guards.motion) {
        status = create_stepper(r, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    status = begin_piece(r, error);
    step_event_start begin = run_remembers(r) ? STEP_EVENTS_RESUMED : STEP_EVENTS_AFRESH;
    if (status == ZW_OK) {
        status = run_remembers(r) ? run_resume(r, error)
                                  : stepper_start(r->stepper, r->state->t, r->y, error);
    }
    run_forget(r->state); /* until the end */
    if (status == ZW_OK && r->guards.count > 0) {
        status = guards_arm(&r->guards, r->stepper, begin, error);
    }
    if (status == ZW_OK && r->follower) {
        status = r->follower->begin(r->follower->user, r, error);
    }
    return status;
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* Shapes that overlapped before the first step. */
static void note_overlaps(run *r)
{
    const impulse_overlap *from = &r->impulse->overlap;
    zw_run_summary *to = r->summary;
    size_t used = 0, capacity = sizeof to->overlap_name;
    if (to->overlaps > 0 || from->pairs == 0) {
        return;
    }
    to->overlaps = from->pairs;
    to->overlap_depth = from->depth[0];
    to->overlaps_stuck = from->stuck;
    for (int k = 0; k < from->pairs && k < IMPULSE_NAMED && used < capacity; k++) {
        char first[48], second[48];
        contact_side_name(r->system->bodies->contact, from->key[k].geom[0], first, sizeof first);
        contact_side_name(r->system->bodies->contact, from->key[k].geom[1], second, sizeof second);
        int more = snprintf(to->overlap_name + used, capacity - used, "%s%s in %s", k ? ", " : "",
                            second, first);
        used += more > 0 ? (size_t)more : 0;
    }
}

/* The samples within a step. Places are interpolated, so a one-sided constraint that is held at one
 * end only has a gap there: it is open, or its gap would pass for a violation. */
static zw_status show_inside(run *r, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    double *mode = state_mode(r->state), *now = state_mode(r->sample);
    int differs = 0;
    if (r->quiet || r->options.every <= 0 ||
        !(r->start + (double)r->output * r->options.every < at->t)) {
        return ZW_OK;
    }
    impulse_modes(r->impulse, now);
    for (int c = 0; c < r->system->model->constraint_count; c++) {
        if ((mode[c] == SYSTEM_OPEN) != (now[c] == SYSTEM_OPEN)) {
            mode[c] = SYSTEM_OPEN;
            differs = 1;
        }
    }
    if (!differs) {
        return ZW_OK;
    }
    zw_status status = system_set_modes(r->system, r->work, mode, error);
    return status == ZW_OK ? run_show_outputs(r, nextafter(at->t, at->t_before), error) : status;
}

/* The active constraints and contacts, for measurements and samples. */
static zw_status note_impulse(run *r, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    note_overlaps(r);
    run_note_impacts(r, &(system_impact){(int)r->impulse->impacts, r->impulse->impact_loss});
    r->summary->halved += r->impulse->halved;
    r->summary->inexact += r->impulse->inexact;
    r->summary->linear += r->impulse->linear;
    r->summary->stiff += r->impulse->coarse && !r->impulse->linear;
    r->summary->late += r->impulse->late > 0;
    r->summary->slow += r->impulse->slow;
    r->summary->turned += r->impulse->turned;
    r->summary->late_by = fmax(r->summary->late_by, r->impulse->late);
    zw_status status = show_inside(r, error);
    if (status != ZW_OK) {
        return status;
    }
    impulse_modes(r->impulse, state_mode(r->state));
    if (!r->impulse->sleep) { /* otherwise only for samples: that concerns all bodies */
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

/* Takes over what the method reports about its step, and whether it is proved that nothing passed
 * through anything. */
static zw_status note_step(run *r, zw_error *error)
{
    run_count_proved(r);
    run_note_margin(r);
    if (r->soft) {
        soft_note(r->soft, &r->summary->contacts, &r->summary->depth);
    }
    return r->impulse ? note_impulse(r, error) : ZW_OK;
}

/* Carries out what the guards require, and passes it to the observer. The jump may make conditions
 * true: then their events happen at the same instant, after it. `left`: conditions that rested at
 * zero. */
static zw_status happen(run *r, int fired, int left, zw_error *error)
{
    const run_follower *with = r->follower;
    zw_status status = ZW_OK;
    int jumped = 0;
    r->nodes = 0; /* other rows may be active from here on */
    for (int round = 0; fired > 0 && status == ZW_OK && !r->over; round++) {
        const int *which;
        int count = guards_conclude(&r->guards, fired, round > 0, &which), follows = round + left;
        if (count > 0) {
            status = follows ? run_follows_jump(r, which, count, error) : ZW_OK;
            if (status == ZW_OK && with && !follows) {
                status = with->before(with->user, r, which, count, error);
            }
            status = status == ZW_OK ? run_happen(r, which, count, error) : status;
            jumped |= r->jumped;
            if (status == ZW_OK && with && !follows) {
                status = with->after(with->user, r, error);
            }
        }
        if (status == ZW_OK && !r->over) {
            step_event_start start = jumped ? STEP_EVENTS_JUMPED : STEP_EVENTS_SAME;
            status = guards_arm(&r->guards, r->stepper, start, error);
            fired = step_events_begun(r->guards.scan);
        }
    }
    return status;
}

static zw_status take_step(run *r, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    double limit = at->t + r->soon < r->options.time ? at->t + r->soon : r->options.time;
    long shown = r->shown;
    int fired = 0, again = 0;
    zw_status status = run_note_slip(r, error);
    r->soon = INFINITY;
    if (status == ZW_OK) {
        status = stepper_advance(r->stepper, limit, error);
    }
    if (status == ZW_OK && r->pulses.count > 0) {
        status = run_scan_pulses(r, &again, error);
    }
    if (status == ZW_OK && !again && r->guards.count > 0) {
        status = run_scan(r, &fired, &again, error);
        r->unseen = status != ZW_OK;
    }
    if (status != ZW_OK || again) {
        return status == ZW_OK && fired > 0 ? happen(r, fired, 1, error) : status;
    }
    status = note_step(r, error);
    if (status == ZW_OK && r->follower) {
        status = r->follower->step(r->follower->user, r, error);
    }
    if (status == ZW_OK && !r->quiet) {
        status = run_measure_step(r, at->t, at->y, error);
    }
    status = status == ZW_OK ? run_show_marks(r, error) : status;
    shown = r->shown;
    if (status == ZW_OK && !r->quiet) {
        status = run_show_outputs(r, at->t, error);
    }
    if (status == ZW_OK && fired > 0 && !r->over) {
        status = happen(r, fired, 0, error);
    }
    /* with output at every step, steps that end at a kink or where sliding stops are included */
    if (status == ZW_OK && r->options.every < 0 && r->shown == shown && at->t < r->options.time) {
        motion_unpack(&r->motion, at->t, at->y, r->state);
        status = run_show(r, ZW_SAMPLE_OUTPUT, -1, r->state, error);
    }
    return status;
}

zw_status run_on(run *r, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    zw_status status = ZW_OK;
    long steps = at->steps;
    double t = at->t;
    while (status == ZW_OK && !r->over && at->t < r->options.time) {
        system_stop *stop = r->work->stop;
        if (stop) {
            stop->t = at->t;
        }
        status = take_step(r, error);
        if (status == ZW_OK) {
            const step_pace pace = {.steps = at->steps,
                                    .start = r->start,
                                    .t = at->t,
                                    .end = r->options.time,
                                    .largest = r->options.step,
                                    .stiff = r->options.method == ZW_METHOD_STIFF ||
                                             r->options.method == ZW_METHOD_BDF,
                                    .reachable = at->reachable};
            status = step_progress(&pace, &steps, &t, error);
        }
        if (!r->over && stop && (stop->t = at->t, system_stops(stop))) {
            r->summary->interrupted = r->over = r->polled = 1;
        }
    }
    if (r->unseen) { /* events of the last step are unknown: it was not taken */
        motion_unpack(&r->motion, at->t_before, at->y_before, r->state);
    } else if (!(r->over && r->summary->stopped_by >= 0)) {
        motion_unpack(&r->motion, at->t, at->y, r->state);
    }
    return status;
}

static zw_status go(run *r, zw_error *error)
{
    r->stop = (system_stop){.poll = r->options.poll, .user = r->options.user, .t = r->start};
    r->work->stop = r->stop.poll ? &r->stop : NULL;
    zw_status status = run_begin(r, error);
    const stepper_view *at = r->stepper ? stepper_look(r->stepper) : NULL;
    at = at && at->y ? at : NULL; /* it could not even be started */
    if (status == ZW_OK) {
        status = run_on(r, error);
    } else if (at) {
        motion_unpack(&r->motion, at->t, at->y, r->state);
    }
    r->work->stop = NULL;
    if (r->stop.said) { /* the start, or a step, may be incomplete */
        r->summary->interrupted = r->polled = 1;
        status = base_clear(error);
    }
    if (at) {
        r->summary->steps = at->steps - r->undone - (r->unseen && at->t != at->t_before);
        r->summary->rejected = at->rejected + r->undone;
        r->summary->evaluations = at->evaluations;
    }
    r->summary->end = r->state->t;
    if (status == ZW_OK) {
        run_remember(r);
    }
    if (status == ZW_OK && !r->summary->interrupted) {
        return run_show(r, ZW_SAMPLE_END, -1, r->state, error);
    }
    zw_error ignored; /* the end is shown as far as possible */
    if ((status != ZW_OK || r->polled) && at) {
        run_show(r, ZW_SAMPLE_END, -1, r->state, &ignored);
    }
    return status;
}

zw_status run_followed(const zw_system *system, zw_state *state, zw_work *work,
                       const zw_run_options *options, const run_follower *follower,
                       zw_run_summary *summary, zw_error *error)
{
    zw_run_summary local;
    run r = {.system = system,
             .state = state,
             .work = work,
             .follower = follower,
             .summary = summary ? summary : &local,
             .start = state->t,
             .start_work = state->work,
             .output = 1};
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
        r.summary->accuracy = r.options.accuracy;
        r.summary->step = r.options.step;
        status = run_create(&r, error);
    }
    if (status == ZW_OK) {
        status = go(&r, error);
        if (status == ZW_INACCURATE || status == ZW_CONFLICT || status == ZW_NO_STEP) {
            run_tell_singular(&r, error);
        }
    }
    run_free(&r);
    return status;
}

zw_status zw_run(const zw_system *system, zw_state *state, zw_work *work,
                 const zw_run_options *options, zw_run_summary *summary, zw_error *error)
{
    return run_followed(system, state, work, options, NULL, summary, error);
}
