/* The shortest and longest length of a muscle.
 *
 * If they are not given, the muscle is pulled and pushed until nothing moves any more, as in
 * MuJoCo: in a copy of the system that has no gravity, springs, dampers, friction and contacts, but
 * limits and equalities by the soft law, the actuator is a motor whose force f on its transmission
 * J makes accelerations of a given length, f = accel/|M^-1 J'|, in one direction and then the
 * other; speeds are damped by exp(-h/fading) per step. The shortest length in the last interval of
 * the one, and the longest of the other, are the answer.
 *
 * The steps are Euler's, whatever integrator the file gives. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/elementary.h"
#include "system/bodies/bodies_build.h"
#include "system/soft/soft.h"
#include "system/soft/tolerances.h"

/* A copy of the model that shares all unchanged arrays. */
typedef struct trial_model {
    zw_model model;
    model_bodies bodies;
} trial_model;

typedef struct trial {
    zw_system *system;
    zw_work *work;
    soft_problem *soft;
    double *q, *v, *row; /* [nq], [n], [n] */
} trial;

static int is_muscle(const zw_actuator_def *a)
{
    return a->gain_law == ZW_ACTUATOR_MUSCLE || a->bias_law == ZW_ACTUATOR_MUSCLE;
}

static void *copy_of(const void *from, size_t size)
{
    void *to = base_alloc(size + 1);
    if (to && size > 0) {
        memcpy(to, from, size);
    }
    return to;
}

static void trial_model_free(trial_model *t)
{
    base_free(t->bodies.actuator);
    base_free(t->bodies.joint);
    base_free(t->bodies.tendon);
}

static zw_status trial_model_make(const bodies_builder *b, trial_model *t, zw_error *error)
{
    model_bodies *m = &t->bodies;
    t->model = *b->model;
    t->model.bodies = m;
    t->model.imported = 0; /* no formulas, and none that sets a control */
    t->model.motor_count = 0;
    *m = *b->from;
    m->actuator = copy_of(m->actuator, (size_t)m->count[ZW_KIND_ACTUATOR] * sizeof *m->actuator);
    m->joint = copy_of(m->joint, (size_t)m->count[ZW_KIND_JOINT] * sizeof *m->joint);
    m->tendon = copy_of(m->tendon, (size_t)m->count[ZW_KIND_TENDON] * sizeof *m->tendon);
    if (!m->actuator || !m->joint || !m->tendon) {
        trial_model_free(t);
        return base_no_memory(error);
    }
    m->count[ZW_KIND_KEY] = m->count[ZW_KIND_SENSOR] = 0;
    m->world.maximal = 0;
    m->world.integrator = ZW_INTEGRATOR_EULER;
    m->world.timestep = m->world.muscles.step > 0 ? m->world.muscles.step : m->world.timestep;
    m->world.density = m->world.viscosity = 0;
    m->world.without = ZW_WITHOUT_FRICTIONLOSS | ZW_WITHOUT_CONTACT | ZW_WITHOUT_SPRING |
                       ZW_WITHOUT_DAMPER | ZW_WITHOUT_GRAVITY | ZW_WITHOUT_SENSOR;
    for (int k = 0; k < m->count[ZW_KIND_ACTUATOR]; k++) {
        zw_actuator_def *a = &m->actuator[k];
        a->gain_law = a->bias_law = ZW_ACTUATOR_CONSTANT;
        a->dynamics = ZW_DYNAMICS_NONE;
        a->gain_prm[0] = 1;
        a->damp_ratio = 0;
        a->ctrl_limited = a->force_limited = a->ctrl_given = 0;
    }
    for (int k = 0; k < m->count[ZW_KIND_JOINT]; k++) {
        m->joint[k].force_limited = 0;
    }
    for (int k = 0; k < m->count[ZW_KIND_TENDON]; k++) {
        m->tendon[k].force_limited = 0;
    }
    return ZW_OK;
}

static void trial_close(trial *t)
{
    soft_free(t->soft);
    zw_work_free(t->work);
    zw_system_free(t->system);
    base_free(t->q);
}

static zw_status trial_open(const zw_model *model, trial *t, zw_error *error)
{
    zw_status status = ZW_OK;
    *t = (trial){.system = zw_system_compile(model, NULL, error)};
    t->work = t->system ? zw_work_create(t->system, error) : NULL;
    if (!t->work) {
        return error->status;
    }
    t->q = base_alloc(((size_t)t->system->nq + 2 * (size_t)t->system->n + 1) * sizeof *t->q);
    if (!t->q) {
        return base_no_memory(error);
    }
    t->v = t->q + t->system->nq;
    t->row = t->v + t->system->n;
    status = soft_create(t->system, t->work, model->bodies->world.timestep, &t->soft, error);
    return status;
}

/* One step; *length: before it. */
static zw_status advance(trial *t, const zw_muscle_search *how, int actuator, double pull, double h,
                         double *length, zw_error *error)
{
    zw_system *system = t->system;
    const bodies_motor *motor = &system->bodies->motor[actuator];
    double fades = math_exp(-h / fmax(0.01, how->fading)), sum = 0, along = 0;
    for (int i = 0; i < system->n; i++) {
        t->v[i] *= fades;
    }
    t->work->param[motor->param] = 0;
    zw_status status = soft_forward(t->soft, 0, t->q, t->v, error);
    if (status != ZW_OK) {
        return status;
    }
    memset(t->row, 0, (size_t)system->n * sizeof *t->row);
    int count = bodies_aim(system, t->work, actuator, t->q, t->work->aim_dof, t->work->aim, length);
    for (int i = 0; i < count; i++) {
        t->row[t->work->aim_dof[i]] += t->work->aim[i];
        along += t->work->aim[i] * t->work->aim[i];
    }
    if (!soft_factor_masses(t->soft, NULL)) {
        return base_fail(error, ZW_NOT_A_METRIC, "the masses are not positive");
    }
    soft_solve_masses(t->soft, t->row);
    for (int i = 0; i < system->n; i++) {
        sum += t->row[i] * t->row[i];
    }
    double by = pull * how->accel / fmax(SOFT_LEAST, sqrt(sum));
    if (how->force > 0 && fabs(by) * sqrt(along) > how->force) {
        by = pull * how->force / sqrt(along);
    }
    t->work->param[motor->param] = by;
    status = soft_forward(t->soft, 0, t->q, t->v, error);
    for (int i = 0; i < system->n && status == ZW_OK; i++) {
        t->v[i] += h * t->soft->a[i];
    }
    if (status == ZW_OK) {
        system_move(system, t->q, h, t->v);
    }
    return status;
}

/* One direction. `change`: the variation of the length in the last interval. */
static zw_status pull_one_way(trial *t, const zw_muscle_search *how, int actuator, double pull,
                              double h, double *reach, double *change, zw_error *error)
{
    double least = INFINITY, most = -INFINITY, length, now = 0;
    memcpy(t->q, t->system->bodies->q, (size_t)t->system->nq * sizeof *t->q);
    memset(t->v, 0, (size_t)t->system->n * sizeof *t->v);
    while (now < how->time) {
        zw_status status = advance(t, how, actuator, pull, h, &length, error);
        if (status != ZW_OK) {
            return status;
        }
        now += h;
        if (now > how->time - how->window) {
            least = fmin(least, length);
            most = fmax(most, length);
        }
    }
    *change = most - least;
    *reach = pull < 0 ? least : most;
    return ZW_OK;
}

static zw_status search(const bodies_builder *b, trial *t, double h, int actuator, double reach[2],
                        zw_error *error)
{
    const zw_muscle_search *how = &b->from->world.muscles;
    const zw_actuator_def *from = &b->from->actuator[actuator];
    double change[2];
    for (int side = 0; side < 2; side++) {
        zw_status status =
            pull_one_way(t, how, actuator, 2 * side - 1, h, &reach[side], &change[side], error);
        if (status != ZW_OK) {
            return status;
        }
    }
    t->work->param[t->system->bodies->motor[actuator].param] = 0;
    if (fmax(change[0], change[1]) <= how->tolerance * (reach[1] - reach[0]) &&
        reach[0] < reach[1]) {
        return ZW_OK;
    }
    return model_fail(
        b->model, error, ZW_BAD_INPUT, from->place,
        "actuator '%.60s': the shortest and longest length of this muscle were not found by "
        "pulling (from %g to %g, still changing by %g); give them by lengthrange",
        from->name ? from->name : "", reach[0], reach[1], fmax(change[0], change[1]));
}

/* Are the lengths given, or can they be taken from limits? */
static int is_given(const model_bodies *m, const zw_actuator_def *a, double reach[2])
{
    const zw_muscle_search *how = &m->world.muscles;
    const double *range = a->length_range;
    int said = !how->always && range[0] < range[1];
    if (!said && how->limits && a->drive == ZW_DRIVE_TENDON && m->tendon[a->target].limited) {
        range = m->tendon[a->target].range;
        said = 1;
    }
    if (!said && how->limits &&
        (a->drive == ZW_DRIVE_JOINT || a->drive == ZW_DRIVE_JOINT_IN_PARENT) &&
        m->joint[a->target].limited) {
        range = m->joint[a->target].range;
        said = 1;
    }
    memcpy(reach, range, 2 * sizeof *reach);
    return said;
}

zw_status bodies_find_reach(bodies_builder *b, zw_error *error)
{
    const model_bodies *m = b->from;
    int count = m->count[ZW_KIND_ACTUATOR], open = 0;
    zw_error none;
    error = error ? error : &none;
    trial_model copy;
    trial t = {0};
    b->reach = base_alloc(((size_t)count + 1) * sizeof *b->reach);
    if (!b->reach) {
        return base_no_memory(error);
    }
    for (int k = 0; k < count; k++) {
        open += is_muscle(&m->actuator[k]) && !is_given(m, &m->actuator[k], b->reach[k]);
    }
    if (open == 0) {
        return ZW_OK;
    }
    zw_status status = trial_model_make(b, &copy, error);
    if (status != ZW_OK) {
        return status;
    }
    status = trial_open(&copy.model, &t, error);
    for (int k = 0; k < count && status == ZW_OK; k++) {
        if (is_muscle(&m->actuator[k]) && !is_given(m, &m->actuator[k], b->reach[k])) {
            status = search(b, &t, copy.bodies.world.timestep, k, b->reach[k], error);
        }
    }
    trial_close(&t);
    trial_model_free(&copy);
    return status;
}
