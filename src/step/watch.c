/* What a run measures, and what it passes to the observer.
 *
 * Samples come from the dense output, projected back onto the constraints; the observer sees them
 * with the principle solved there, certificate included. Contact forces there are those of the
 * method: for method impulse the mean forces over the last step, for method soft those of its law
 * at the instant; the other methods have none. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "step/run.h"
#include "step/sleep/sleep.h"

static double larger(double x, double y)
{
    return x > y || isnan(x) ? x : y;
}

static void note_violation(run *r, const double *violation)
{
    zw_run_summary *summary = r->summary;
    summary->violation_position = larger(violation[0], summary->violation_position);
    summary->violation_velocity = larger(violation[1], summary->violation_velocity);
    summary->certificate = larger(r->work->certificate, summary->certificate);
}

static void note_checks(run *r, double t, const double *value)
{
    const zw_model *model = r->system->model;
    zw_run_summary *summary = r->summary;
    summary->checked += model->check_count > 0;
    for (int i = 0; i < model->check_count; i++) {
        if (r->shown == 0) {
            r->first[i] = value[i];
        }
        double allowed = model->check[i].tolerance * (1 + fabs(r->first[i]));
        if (summary->check_failed < 0 && !(fabs(value[i] - r->first[i]) <= allowed)) {
            summary->check_failed = i;
            summary->check_time = t;
        }
    }
}

/* E - E(start) - W, the energy theorem (3.14), at the ends of steps and on both sides of jumps, the
 * points that the method computes. Samples between them are interpolated, and the effect of
 * interpolation on the energy is no error of the motion; so the figure does not depend on where
 * samples are. */
static void note_energy(run *r, double energy, double work)
{
    zw_run_summary *summary = r->summary;
    if (r->shown == 0) {
        summary->energy_start = energy;
    }
    summary->energy_end = energy;
    summary->work = work - r->start_work;
    double miss = fabs(energy - summary->energy_start - summary->work);
    summary->energy_drift = larger(miss / (1 + fabs(summary->energy_start)), summary->energy_drift);
}

/* The energy is that of all bodies, most of which may sleep: then it is evaluated once in so many
 * steps that this costs no more than the steps of the awake bodies. */
static zw_status measure_energy(run *r, double t, const double *y, zw_error *error)
{
    const zw_system *system = r->system;
    const step_sleep *sleep = r->impulse ? r->impulse->sleep : NULL;
    if (sleep) {
        r->unmeasured += 1 + (sleep->inner ? sleep->part.system.n : 0);
        if (r->unmeasured < system->n) {
            return ZW_OK;
        }
        r->unmeasured = 0;
    }
    zw_status status =
        system_evaluate(system, r->work, PART_ENERGY, t, y, y + system->nq, NULL, NULL, error);
    if (status == ZW_OK) {
        note_energy(r, r->work->out[PART_ENERGY][0],
                    system->works ? y[r->motion.size - 1] : r->state->work);
    }
    return status;
}

/* A sample between steps: r->sample. The sliding directions of the steps are kept in r->state
 * meanwhile. */
static void take_sample(run *r, double t, const double *y)
{
    system_keep_slip(r->work, r->state);
    memcpy(r->sample, r->state, r->state->bytes);
    motion_unpack(&r->motion, t, y, r->sample);
}

static zw_status show(run *r, zw_sample_kind kind, int event, const zw_state *state,
                      zw_error *error)
{
    int pushed = r->options.method == ZW_METHOD_IMPULSE; /* by the forces of the last step */
    int hidden = r->impulse && r->impulse->sleep && sleep_hides(r->impulse);
    zw_status status = ZW_OK;
    if (hidden && run_is_seen(r)) {
        zw_state *now = (zw_state *)state; /* not modified */
        status = sleep_list_rest(r->impulse, state->t, r->options.step, state_q(now), state_v(now),
                                 error);
        hidden = 0;
    }
    if (status == ZW_OK) {
        system_touch touch = pushed ? TOUCH_AS_PUSHED : r->soft ? TOUCH_SOFTLY : TOUCH_IGNORED;
        status = system_forward(r->system, state, r->work, touch, error);
    }
    if (status == ZW_OK && r->soft) {
        status = soft_show(r->soft, state, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    /* a sample before an impact was measured at the end of its step, with the constraints of that
     * time, which may have changed since */
    if (kind != ZW_SAMPLE_JUMP || state == r->state) {
        note_violation(r, zw_field(r->system, state, r->work, ZW_FIELD_VIOLATION).data);
    }
    if (kind != ZW_SAMPLE_OUTPUT) {
        note_energy(r, zw_field(r->system, state, r->work, ZW_FIELD_ENERGY).data[0], state->work);
    }
    note_checks(r, state->t, zw_field(r->system, state, r->work, ZW_FIELD_OUTPUT).data);
    if (r->work->touched) { /* the contacts of the step that leads here */
        r->work->touched->of = (pushed && !hidden) || r->soft ? state_digest(state, 1) : 0;
    }
    r->shown++;
    if (r->options.observer &&
        r->options.observer(r->options.user, kind, event, r->system, state, r->work)) {
        r->summary->interrupted = 1;
        r->over = 1;
    }
    return ZW_OK;
}

/* A contact that slides at a sample may be at rest at the end of the step; it continues from there
 * with the direction that it had there, whether it is observed or not. */
zw_status run_show(run *r, zw_sample_kind kind, int event, const zw_state *state, zw_error *error)
{
    zw_status status = show(r, kind, event, state, error);
    if (state != r->state) {
        system_take_slip(r->work, r->state);
    }
    return status;
}

void run_note_impacts(run *r, const system_impact *made)
{
    r->summary->impacts += made->count;
    r->summary->impact_loss += made->count > 0 ? made->loss : 0;
}

/* Checks are evaluated at the ends of steps. Those of accelerations and forces need a
 * solve there. */
static zw_status check_step(run *r, double t, const double *y, zw_error *error)
{
    const zw_system *system = r->system;
    const zw_model *model = system->model;
    unsigned depends = 0;
    for (int i = 0; i < model->check_count; i++) {
        expr_id value = model->check[i].value; /* EXPR_NONE: the energy */
        depends |= value == EXPR_NONE ? 0u : expr_graph_node(model->graph, value)->depends;
    }
    if (model->check_count == 0) {
        return ZW_OK;
    }
    zw_status status = ZW_OK;
    if (depends & (EXPR_ON_ACCEL | EXPR_ON_LAMBDA)) {
        take_sample(r, t, y);
        status = system_forward(system, r->sample, r->work,
                                r->impulse ? TOUCH_AS_PUSHED : TOUCH_IGNORED, error);
        system_take_slip(r->work, r->state);
    }
    if (status == ZW_OK) {
        status = system_evaluate(system, r->work, PART_OUTPUTS, t, y, y + system->nq, r->work->a,
                                 r->work->lambda, error);
    }
    if (status == ZW_OK) {
        note_checks(r, t, r->work->out[PART_OUTPUTS]);
    }
    return status;
}

zw_status run_measure_step(run *r, double t, const double *y, zw_error *error)
{
    double violation[2] = {0, 0};
    zw_status status = ZW_OK;
    if (r->impulse && r->impulse->sleep) {
        sleep_violation(r->impulse, t, violation);
    } else {
        status = system_violation(r->system, r->work, t, y, y + r->system->nq, violation, error);
    }
    if (status == ZW_OK) {
        note_violation(r, violation);
        status = measure_energy(r, t, y, error);
        status = status == ZW_OK ? check_step(r, t, y, error) : status;
    }
    return status;
}

zw_status run_show_outputs(run *r, double until, zw_error *error)
{
    zw_status status = ZW_OK;
    while (status == ZW_OK && !r->over && r->options.every > 0) {
        double t = r->start + (double)r->output * r->options.every;
        if (t > until || t >= r->options.time) {
            break;
        }
        status = stepper_interpolate(r->stepper, t, r->y, error);
        if (status == ZW_OK) {
            status = r->soft ? ZW_OK : motion_project(&r->motion, t, r->y, error);
            r->motion.at_node = 0; /* this point is not part of the steps */
        }
        if (status == ZW_CONFLICT &&
            r->impulse) { /* within a step with a landing: only for display */
            status = stepper_interpolate(r->stepper, t, r->y, error);
        }
        if (status == ZW_OK) {
            take_sample(r, t, r->y);
            status = run_show(r, ZW_SAMPLE_OUTPUT, -1, r->sample, error);
        }
        r->output++;
    }
    return status;
}

zw_status run_show_marks(run *r, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    double end = at->t;
    int count = 0;
    zw_status status = ZW_OK;
    const step_mark *mark = r->guards.scan ? step_events_marks(r->guards.scan, &count) : NULL;
    for (int i = 0; i < count && status == ZW_OK && !r->over; i++) {
        double t = mark[i].t;
        int event = r->guards.part_of[mark[i].which];
        double next = r->start + (double)r->output * r->options.every;
        if (!r->quiet && r->options.every > 0 && next <= t) {
            status = at->t == end ? ZW_OK : stepper_retake(r->stepper, end, error);
            status = status == ZW_OK ? run_show_outputs(r, t, error) : status;
        }
        if (status == ZW_OK && !r->over && at->t != t) {
            status = stepper_retake(r->stepper, t, error);
        }
        if (status == ZW_OK && !r->over) {
            take_sample(r, at->t, at->y);
            r->summary->events++;
            status = run_show(r, ZW_SAMPLE_EVENT, event, r->sample, error);
        }
    }
    return status == ZW_OK && !r->over && at->t != end ? stepper_retake(r->stepper, end, error)
                                                       : status;
}
