/* Numbers that the caller writes into a state: controls in a loop of steps, or a coordinate.
 *
 * Parameters, and with them the controls of motors, act from the next step on; what the last step
 * left for the next (initial guesses, which bodies sleep) is kept: it describes the present of the
 * motion, not its future. Writing coordinates, speeds or the time makes another state: it is
 * projected onto the constraints as after an event that sets something (happen.c), so that contacts
 * that were closed do not undo it; the change of energy counts as work, and the memory of the last
 * step is dropped. */
#include "step/set.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "step/run.h"
#include "system/law.h"
#include "tree/sweeps.h"

/* The numbers of a field of a state; NULL: it cannot be written. */
static double *numbers(const zw_system *system, zw_state *state, zw_work *work, zw_field_id field,
                       int *count)
{
    switch (field) {
    case ZW_FIELD_TIME:
    case ZW_FIELD_Q:
    case ZW_FIELD_V:
    case ZW_FIELD_PARAM:
    case ZW_FIELD_CARRIED:
    case ZW_FIELD_MOCAP:
    case ZW_FIELD_ACTIVATION: {
        zw_view view = zw_field(system, state, work, field);
        *count = view.count;
        return (double *)view.data; /* those of the state itself */
    }
    default:
        return NULL;
    }
}

/* A parameter that formulas read during the motion; others determined the structure of the
 * system. */
static zw_status check_param(const zw_model *model, int index, zw_error *error)
{
    const model_param *param = &model->param[index];
    if (param->is_size || param->is_source) {
        return model_fail(model, error, ZW_BAD_INPUT, param->place,
                          param->is_size
                              ? "parameter %s changes the structure of the model: read the file "
                                "again to change it"
                              : "other parameters were computed from %s: read the model again to "
                                "change it",
                          param->name);
    }
    return ZW_OK;
}

static zw_status fail_number(const zw_system *system, zw_field_id field, int index, double value,
                             zw_error *error)
{
    const char *name = field == ZW_FIELD_PARAM ? zw_name(system, ZW_KIND_PARAM, index)
                       : field == ZW_FIELD_Q   ? zw_name(system, ZW_KIND_COORD, index)
                       : field == ZW_FIELD_V   ? zw_name(system, ZW_KIND_SPEED, index)
                                               : "";
    return *name != 0
               ? base_fail(error, ZW_BAD_INPUT, "%s cannot be set to %g", name, value)
               : base_fail(error, ZW_BAD_INPUT, "number %d cannot be set to %g", index, value);
}

/* `now` are the present numbers of the field: a parameter may be set to its present value. */
static zw_status check(const zw_system *system, zw_field_id field, int first, int count,
                       int capacity, const double *now, const double *value, zw_error *error)
{
    if (first < 0 || count < 0 || count > capacity || first > capacity - count) {
        return base_fail(error, ZW_BAD_INPUT,
                         "numbers %d to %d of a field that has %d cannot be set", first,
                         first + count - 1, capacity);
    }
    zw_status status = ZW_OK;
    for (int k = 0; k < count && status == ZW_OK; k++) {
        if (!isfinite(value[k])) {
            status = fail_number(system, field, first + k, value[k], error);
        } else if (field == ZW_FIELD_PARAM && value[k] != now[first + k]) {
            status = check_param(system->model, first + k, error);
        }
    }
    return status;
}

/* Normalises quaternions; 0: one of them is zero. */
static int tidy(const zw_system *system, double *q, double *zeros)
{
    const double h = 0;
    int fine = 1;
    if (system->tree) {
        memset(zeros, 0, (size_t)system->n * sizeof *zeros);
        tree_advance(system->tree, q, zeros, &h, q);
    }
    for (int i = 0; i < system->nq; i++) {
        fine &= isfinite(q[i]) != 0;
    }
    return fine;
}

/* Projects onto the constraints and what is closed. */
static zw_status stay(const zw_system *system, zw_state *state, zw_work *work, zw_error *error)
{
    double *q = state_q(state), *v = state_v(state);
    zw_status status = system_project_position(system, work, state->t, q, v, error);
    if (status == ZW_OK) {
        status = law_follow(system, work, state->t, q, v, error);
    }
    return status == ZW_OK ? system_project_velocity(system, work, state->t, q, v, error) : status;
}

/* Projects onto the constraints, and decides which contacts are closed, stick and slide. */
static zw_status settle(const zw_system *system, zw_state *state, zw_work *work, int held,
                        zw_error *error)
{
    system_impact made = {0};
    zw_status status =
        held ? stay(system, state, work, error) : system_settle(system, work, state, error);
    status = status == ZW_OK ? system_decide(system, work, state, &made, error) : status;
    state->impact_loss = made.loss + (state->impacts > 0 ? state->impact_loss : 0);
    state->impacts += made.count; /* the next run counts them */
    return status;
}

/* Does the state satisfy the constraints with the new parameters? */
static int fits(const zw_system *system, zw_state *state, zw_work *work)
{
    double off[2] = {0, 0};
    return system_violation(system, work, state->t, state_q(state), state_v(state), off, NULL) ==
               ZW_OK &&
           fmax(off[0], off[1]) <= 1e-12;
}

/* Sets numbers that the state depends on; if that is impossible, everything is as before. */
static zw_status move(const zw_system *system, zw_state *state, zw_work *work, zw_field_id field,
                      double *to, const double *value, int count, int held, zw_error *error)
{
    zw_state *before = NULL;
    zw_status status = zw_state_copy(state, &before, error);
    if (status != ZW_OK) {
        return status;
    }
    double energy = zw_field(system, state, work, ZW_FIELD_ENERGY).data[0];
    memcpy(to, value, (size_t)count * sizeof *to);
    system_bind(system, work, state_param(state));
    status = tidy(system, state_q(state), work->spare[0])
                 ? system_set_modes(system, work, state_mode(state), error)
                 : base_fail(error, ZW_BAD_INPUT, "a quaternion of length 0 is not an orientation");
    if (status == ZW_OK && (field != ZW_FIELD_PARAM || !fits(system, state, work))) {
        run_forget(state);
        status = settle(system, state, work, held, error);
    } else {
        state->undecided = 1;
    }
    if (status == ZW_OK) {
        state->work += zw_field(system, state, work, ZW_FIELD_ENERGY).data[0] - energy;
    } else {
        memcpy(state, before, before->bytes);
    }
    zw_state_free(before);
    return status;
}

/* Moves mocap bodies: nothing else changes, as in MuJoCo. */
static zw_status place(const zw_system *system, zw_state *state, double *pose, int first,
                       const double *value, int count, zw_error *error)
{
    for (int body = first / 7; 7 * body < first + count; body++) {
        double size = 0;
        for (int k = 7 * body + 3; k < 7 * body + 7; k++) {
            int given = k >= first && k < first + count;
            size += fabs(given ? value[k - first] : pose[k]);
        }
        if (!(size > 0)) {
            return base_fail(error, ZW_BAD_INPUT, "a quaternion of length 0 is not an orientation");
        }
    }
    if (memcmp(pose + first, value, (size_t)count * sizeof *pose) != 0) {
        memcpy(pose + first, value, (size_t)count * sizeof *pose);
        system_normalise(system, state_q(state));
        run_forget(state); /* the next step looks at what it touches now */
    }
    return ZW_OK;
}

zw_status zw_state_set(const zw_system *system, zw_state *state, zw_work *work, zw_field_id field,
                       int first, int count, const double *value, zw_error *error)
{
    int capacity = 0;
    double *to = numbers(system, state, work, field, &capacity);
    if (!to) {
        return base_fail(error, ZW_BAD_INPUT, "this field is computed: it cannot be set");
    }
    zw_status status = check(system, field, first, count, capacity, to, value, error);
    if (status != ZW_OK || count == 0) {
        return status;
    }
    if (field == ZW_FIELD_PARAM && system->tree && !system->bodies->formulas) {
        memcpy(to + first, value, (size_t)count * sizeof *to); /* no formula depends on controls */
        state->undecided = 1;
        return ZW_OK;
    }
    if (field == ZW_FIELD_MOCAP) {
        return place(system, state, to, first, value, count, error);
    }
    return move(system, state, work, field, to + first, value, count, 0, error);
}

zw_status set_held(const zw_system *system, zw_state *state, zw_work *work, zw_field_id field,
                   const double *value, zw_error *error)
{
    int count = 0;
    double *to = numbers(system, state, work, field, &count);
    zw_status status = check(system, field, 0, count, count, to, value, error);
    return status == ZW_OK && count > 0
               ? move(system, state, work, field, to, value, count, 1, error)
               : status;
}
