/* The effects of events, contacts and kinks on a run. */
#include <string.h>

#include "base/error.h"
#include "step/run.h"
#include "step/sleep/sleep.h"

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
                return base_no_memory(error);
            }
        }
    }
    return ZW_OK;
}

static double energy_of(const run *r)
{
    return zw_field(r->system, r->state, r->work, ZW_FIELD_ENERGY).data[0];
}

/* A jump of the state changes the energy by work that is not integrated. */
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
    status = system_settle(r->system, r->work, state, error);
    state->work += energy_of(r) - before;
    return status;
}

zw_status run_note_slip(run *r, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
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
                      "at t = %.9g %s%s changes again and again", t,
                      c < 0 ? "the state" : "constraint ", c < 0 ? "" : model->constraint[c].name);
}

/* Decides contacts and friction from now on; constraint c requires it, or an event or kink (-1). An
 * impact is recorded before and after. */
static zw_status decide_now(run *r, int c, int at_kink, zw_error *error)
{
    system_impact made = {0};
    zw_status status = count_repeats(r, c, error);
    memcpy(r->sample, r->state, r->state->bytes);
    if (status == ZW_OK) {
        status = at_kink ? system_decide_at_kink(r->system, r->work, r->state, &made, error)
                         : system_decide(r->system, r->work, r->state, &made, error);
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

/* At a kink a constraint may bend, which requires other speeds (system_decide_at_kink), and a
 * potential may jump in time, which does work. But nothing can follow a jump of a constraint, of a
 * kinetic energy or of a potential in space: that would take an infinite force. Jumps are changes
 * above JUMP, relative to the value; smaller ones are round-off, which projections remove. */
static const double JUMP = 1e-9;

typedef struct energies {
    double all, kinetic;
} energies;

static zw_status energies_at(run *r, energies *e, zw_error *error)
{
    const zw_state *state = r->state;
    zw_status status = system_evaluate(r->system, r->work, PART_ENERGY, state->t, state_q(r->state),
                                       state_v(r->state), NULL, NULL, error);
    *e = (energies){.all = r->work->out[PART_ENERGY][0], .kinetic = r->work->out[PART_ENERGY][1]};
    return status;
}

/* `of_time`: all crossed kinks depend on time alone. */
static zw_status note_jump_of_energy(run *r, const energies *before, int k, int of_time,
                                     zw_error *error)
{
    energies now;
    zw_status status = energies_at(r, &now, error);
    double all = now.all - before->all, kinetic = now.kinetic - before->kinetic;
    double bound = JUMP * (1 + fabs(before->all) + fabs(before->kinetic));
    if (status != ZW_OK || (fabs(kinetic) <= bound && (of_time || fabs(all) <= bound))) {
        r->state->work += all;
        return status;
    }
    const zw_model *model = r->system->model;
    int moves = fabs(kinetic) > bound;
    return model_fail(model, error, ZW_NO_STEP,
                      expr_graph_node(model->graph, r->guards.kinks.kink[k].node)->place,
                      "at t = %.9g the %s energy jumps by %.3g, which takes a force without bound; "
                      "let it change continuously%s",
                      r->state->t, moves ? "kinetic" : "potential", moves ? kinetic : all,
                      moves ? "" : ", or set the speeds by an event");
}

static zw_status refuse_jump_of_place(run *r, zw_error *error)
{
    const zw_system *system = r->system;
    zw_state *state = r->state;
    zw_status status = system_evaluate(system, r->work, PART_POSITION, state->t, state_q(state),
                                       state_v(state), NULL, NULL, error);
    for (int i = 0; i < system->m && status == ZW_OK; i++) {
        const model_constraint *c = &system->model->constraint[system->row_constraint[i]];
        double phi = r->work->out[PART_POSITION][i];
        if (c->relation == MODEL_AT_LEAST ? phi < -JUMP : fabs(phi) > JUMP) {
            return model_fail(
                system->model, error, ZW_NO_STEP, c->place,
                "at t = %.9g constraint %s jumps by %.3g, and nothing can follow; let "
                "it change continuously, or set the coordinates by an event",
                state->t, c->name, fabs(phi));
        }
    }
    return status;
}

/* Moves kinks that have come to zero to their other side. */
static zw_status cross_kinks(run *r, const int *fired, int count, int *crossed, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    int first = r->guards.events + r->guards.others, of_time = 1, k = 0;
    energies before;
    *crossed = 0;
    if (count == 0 || fired[count - 1] < first) { /* kinks are the last */
        return ZW_OK;
    }
    zw_status status = energies_at(r, &before, error);
    int *guard = r->guards.crossing, crossing = 0;
    for (int i = 0; i < count && status == ZW_OK; i++) {
        if (fired[i] < first) {
            continue;
        }
        k = guard[crossing++] = r->guards.kink[fired[i] - first];
        of_time &= r->guards.kinks.kink[k / 2].of_time;
        *crossed = r->guards.kinks.latch;
        status =
            run_repeats(r, at->t) ? kinks_refuse(&r->guards.kinks, k / 2, at->t, error) : ZW_OK;
    }
    if (status == ZW_OK) {
        status = kinks_cross(&r->guards.kinks, guard, crossing, at->t, at->y, error);
    }
    if (status == ZW_OK && *crossed) {
        status = note_jump_of_energy(r, &before, k / 2, of_time, error);
        status = status == ZW_OK ? refuse_jump_of_place(r, error) : status;
    }
    return status;
}

/* Begins the next smooth piece. Where the state has jumped, all branches are decided again; those
 * of crossed kinks are known. */
static zw_status go_on(run *r, int jumped, int crossed, zw_error *error)
{
    zw_status status = ZW_OK;
    if (r->impulse && r->impulse->sleep) {
        sleep_disturb(r->impulse);
    }
    motion_pack(&r->motion, r->state, r->y);
    if (jumped) {
        status = guards_decide(&r->guards, r->state->t, r->y, error);
    } else if (crossed) {
        status = guards_see_signs(&r->guards, r->state->t, r->y, error);
    }
    return status == ZW_OK ? stepper_restart(r->stepper, r->state->t, r->y, error) : status;
}

/* Events `fired` were triggered by what has just happened: derivatives along the run would need to
 * know what their time depends on. */
zw_status run_follows_jump(run *r, const int *fired, int count, zw_error *error)
{
    const zw_model *model = r->system->model;
    for (int k = 0; k < count; k++) {
        const model_event *event = &model->event[fired[k]];
        if (r->follower && (event->reset_count > 0 || event->stops)) {
            return model_fail(model, error, ZW_BAD_INPUT, event->place,
                              "at t = %.9g a jump sets off event %s: derivatives of that are not "
                              "supported yet",
                              r->state->t, event->name);
        }
    }
    return ZW_OK;
}

/* The integrator is at an event; `fired` are the guards. At a kink forces may jump, so that
 * contacts open, stick or slide as after any other jump. */
zw_status run_happen(run *r, const int *fired, int count, zw_error *error)
{
    const zw_model *model = r->system->model;
    const stepper_view *at = stepper_look(r->stepper);
    zw_status status = ZW_OK;
    int touched = 0, last = -1, crossed = 0, turned = 0;
    motion_unpack(&r->motion, at->t, at->y, r->state);
    status = run_note_slip(r, error);
    system_keep_slip(r->work, r->state);
    status = status == ZW_OK ? cross_kinks(r, fired, count, &crossed, error) : status;
    for (int k = 0; k < count && status == ZW_OK && !r->over; k++) {
        int other = fired[k] - r->guards.events;
        if (other >= r->guards.others) {
            continue;
        }
        if (other >= 0 && guards_turn_sign(&r->guards, other)) {
            turned = 1;
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
    r->jumped = touched || crossed;
    if (r->jumped && status == ZW_OK && !r->over) {
        status = decide_now(r, last, crossed, error);
    }
    if ((touched || crossed || turned) && status == ZW_OK && !r->over) {
        status = go_on(r, touched, crossed, error);
    }
    return status;
}
