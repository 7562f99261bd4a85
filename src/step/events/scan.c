/* What happens in a step that has just been taken, and whether it must be repeated. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "step/run.h"

/* An instant at which things change again and again ends the run. */
int run_repeats(run *r, double t)
{
    enum { REPEATS = 100 };
    r->repeats = t - r->last <= 8 * DBL_EPSILON * fabs(t) ? r->repeats + 1 : 0;
    r->last = t;
    return r->repeats >= REPEATS;
}

static zw_status go_to_start(run *r, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    double t = at->t_before;
    r->undone++;
    memcpy(r->y, at->y_before, (size_t)r->motion.size * sizeof(double));
    return stepper_restart(r->stepper, t, r->y, error);
}

/* Repeats the last step, from its start. */
static zw_status go_back(run *r, zw_error *error)
{
    zw_status status = go_to_start(r, error);
    return status == ZW_OK && r->guards.count > 0
               ? guards_arm(&r->guards, r->stepper, STEP_EVENTS_SAME, error)
               : status;
}

/* Steps of fixed length, and leaps, are not repeated: they count as not proved. */
zw_status run_scan_pulses(run *r, int *again, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    const zw_method method = r->options.method;
    double h = at->t - at->t_before, part;
    int proved, chooses = method == ZW_METHOD_DOP853 || method == ZW_METHOD_STIFF ||
                          method == ZW_METHOD_BDF;
    pulses_scan(&r->pulses, &r->guards.kinks, at, method, &part, &proved);
    r->unwatched = !proved;
    *again = part < 1 && chooses && !at->leapt && h > 64 * DBL_EPSILON * fabs(at->t);
    if (!*again) {
        return ZW_OK;
    }
    r->soon = h * fmax(0.5 * part, 1.0 / 16);
    return go_back(r, error);
}

/* The kink that left zero in the last step without being on a side before, and its side; -1: none.
 * The step was taken on neither branch. */
static int kink_left(const step_guards *guards, int *side)
{
    int first = guards->parts + guards->others;
    for (int i = first; i < guards->count; i++) {
        int k = guards->kink[i - first] / 2;
        const step_kink *kink = &guards->kinks.kink[k];
        *side = step_events_side(guards->scan, i);
        if (!kink->is_floor && kink->side == 0.0 && *side != 0) {
            return k;
        }
    }
    return -1;
}

/* What happens in the last step. `again`: it must be repeated, shorter if a guard has no value
 * somewhere in it, or on the branch of a kink to which it has led, or after the events that fire at
 * its start. */
zw_status run_scan(run *r, int *fired, int *again, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    double t = at->t_before, h = at->t - t;
    zw_status status = step_events_scan(r->guards.scan, r->stepper, fired, error);
    *again = 0;
    if (status == ZW_NOT_FINITE && r->guards.others > 0 && h > 64 * DBL_EPSILON * fabs(t)) {
        *again = 1;
        r->soon = h / 8;
        return go_back(r, error);
    }
    int side, k = status == ZW_OK && r->guards.kinks.latch ? kink_left(&r->guards, &side) : -1;
    if (k >= 0) {
        *again = 1;
        *fired = 0; /* whatever was found, it was on no branch */
        if (run_repeats(r, t)) {
            return kinks_refuse(&r->guards.kinks, k, t, error);
        }
        status = kinks_take(&r->guards.kinks, k, side, t, at->y_before, error);
        return status == ZW_OK ? go_back(r, error) : status;
    }
    if (status == ZW_OK && step_events_left(r->guards.scan) > 0) {
        *again = 1;
        *fired = step_events_left(r->guards.scan);
        return go_to_start(r, error);
    }
    return status;
}

/* Counts accepted steps that were proved free of unseen events, and the others. Where impacts are
 * within a step, events are searched for between the states around them, which is no proof. Steps
 * of the methods that solve for contacts count as neither if there is nothing to check: no bodies
 * that can touch, no events, no kinks, no pulses. With soft contacts bodies may pass through each
 * other. */
void run_count_proved(run *r)
{
    int proved = !r->guards.kinks.blind &&
                 (r->guards.count == 0 || step_events_proved(r->guards.scan)) &&
                 (r->pulses.count == 0 || !r->unwatched);
    if (r->impulse || r->soft) {
        int touches = r->system->bodies->contact->touches;
        if (!touches && r->guards.count == 0 && r->pulses.count == 0 && !r->guards.kinks.blind) {
            return;
        }
        proved &= !touches || (r->impulse && r->impulse->sure);
        proved &= r->guards.events == 0 || !r->impulse || r->impulse->impacts == 0;
    }
    r->summary->proved += proved;
    r->summary->unproved += !proved;
}
