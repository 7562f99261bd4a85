/* Methods by name, and the options of a run. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "step/run.h"
#include "system/bodies/bodies.h"

static const char *const method_name[] = {"default", "dop853",   "variational", "variational4",
                                          "rk4",     "euler",    "stiff",       "bdf",
                                          "impulse", "midpoint", "soft"};
enum { METHODS = sizeof method_name / sizeof *method_name };

const char *zw_method_name(zw_method method)
{
    return (int)method >= 0 && (int)method < METHODS ? method_name[method] : "?";
}

zw_status zw_method_find(const char *name, zw_method *method)
{
    for (int i = 0; i < METHODS; i++) {
        if (strcmp(name, method_name[i]) == 0) {
            *method = (zw_method)i;
            return ZW_OK;
        }
    }
    return ZW_BAD_INPUT;
}

static const char *const law_name[] = {"default", "coulomb", "convex", "soft"};
enum { CONTACTS = sizeof law_name / sizeof *law_name };

const char *zw_contact_law_name(zw_contact_law law)
{
    return (int)law >= 0 && (int)law < CONTACTS ? law_name[law] : "?";
}

zw_status zw_contact_law_find(const char *name, zw_contact_law *law)
{
    for (int i = 0; i < CONTACTS; i++) {
        if (strcmp(name, law_name[i]) == 0) {
            *law = (zw_contact_law)i;
            return ZW_OK;
        }
    }
    return ZW_BAD_INPUT;
}

static const char *const impact_name[] = {"default", "sequential", "simultaneous"};
enum { IMPACTS = sizeof impact_name / sizeof *impact_name };

const char *zw_impact_law_name(zw_impact_law law)
{
    return (int)law >= 0 && (int)law < IMPACTS ? impact_name[law] : "?";
}

zw_status zw_impact_law_find(const char *name, zw_impact_law *law)
{
    for (int i = 0; i < IMPACTS; i++) {
        if (strcmp(name, impact_name[i]) == 0) {
            *law = (zw_impact_law)i;
            return ZW_OK;
        }
    }
    return ZW_BAD_INPUT;
}

static int fixed_step(zw_method method)
{
    return method == ZW_METHOD_RK4 || method == ZW_METHOD_EULER ||
           method == ZW_METHOD_VARIATIONAL || method == ZW_METHOD_VARIATIONAL4 ||
           method == ZW_METHOD_IMPULSE || method == ZW_METHOD_MIDPOINT || method == ZW_METHOD_SOFT;
}

/* More steps would never finish: a typing error. */
#define MOST_STEPS 1e12

static zw_status check(const zw_run_options *options, double now, zw_error *error)
{
    if (!(isfinite(options->time) && options->time > now)) {
        return base_fail(error, ZW_BAD_INPUT, "the final time %g is not after the present one, %g",
                         options->time, now);
    }
    if (!(isfinite(options->every) && isfinite(options->step) && options->step >= 0)) {
        return base_fail(error, ZW_BAD_INPUT, "step %g or output interval %g is not a duration",
                         options->step, options->every);
    }
    double most = options->method == ZW_METHOD_IMPULSE ? 1 : 0.1;
    if (!(options->tolerance >= 1e-15 && options->tolerance <= most)) {
        return base_fail(error, ZW_BAD_INPUT, "tolerance %g is not between 1e-15 and %g",
                         options->tolerance, most);
    }
    if (!(options->accuracy >= 0 && options->accuracy <= 0.1)) {
        return base_fail(error, ZW_BAD_INPUT, "accuracy %g is not between 0 and 0.1",
                         options->accuracy);
    }
    if (options->memoryless && !(options->method == ZW_METHOD_IMPULSE && options->tolerance >= 1)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "steps without memory are those of method impulse by one linearisation "
                         "(tolerance 1), not of method %s with tolerance %g",
                         zw_method_name(options->method), options->tolerance);
    }
    if (fixed_step(options->method) && !(options->step > 0)) {
        return base_fail(error, ZW_BAD_INPUT, "method %s needs a step",
                         zw_method_name(options->method));
    }
    if (options->step > 0 && (options->time - now) / options->step > MOST_STEPS) {
        return base_fail(error, ZW_BAD_INPUT,
                         "with steps of %g this would take more than 1e12 steps", options->step);
    }
    if (options->every > 0 && (options->time - now) / options->every > MOST_STEPS) {
        return base_fail(error, ZW_BAD_INPUT,
                         "up to t = %g there would be more than 1e12 samples, one every %g",
                         options->time, options->every);
    }
    return ZW_OK;
}

/* A law that is friction alone has time constants of 1/(beta N), and one between that and
 * alpha/beta: law.h. */
static int is_stiff(const zw_system *system, double time)
{
    enum { MOST = 100 }; /* largest number of coordinates: its Jacobian is dense */
    const system_law *law = &system->law;
    if (system->bodies && system->n <= MOST && system->bodies->damping_rate * time > 2e4) {
        return 1; /* an explicit method would need a step for every six of these */
    }
    return law->loose || (law->carried > 0 && law->beta * time > 1e5 * law->alpha);
}

/* Features of bodies that method impulse does not support; NULL: it can be used. */
static const char *beyond_impulse(const struct system_bodies *bodies)
{
    const bodies_formulas *formulas = bodies->formulas;
    if (formulas && formulas->rough) {
        return "friction of constraints that are formulas";
    }
    for (int c = 0; formulas && c < formulas->constraints; c++) {
        if (bodies->shown->constraint[c].restitution != EXPR_NONE) {
            return "restitution of constraints that are formulas";
        }
    }
    for (int p = 0; p < bodies->path_count; p++) {
        if (bodies->length[bodies->path[p].length].armature != 0) {
            return "armature of tendons through space";
        }
    }
    return NULL;
}

static int may_sleep(const zw_system *system)
{
    return system->tree && system->bodies->sleep > 0;
}

/* Bodies that may touch, or sleep, use the one method that supports it, if it supports everything
 * else. */
/* Is there a shape that a shape whose mesh is missing would touch? */
static int lacks_shapes(const zw_system *system)
{
    return system->tree && system->bodies->missing_mesh;
}

static zw_method by_default(const zw_system *system, double time)
{
    int touches = zw_contact_capacity(system) > 0 || lacks_shapes(system);
    if ((touches || may_sleep(system)) && !beyond_impulse(system->bodies)) {
        return ZW_METHOD_IMPULSE;
    }
    return is_stiff(system, time) ? ZW_METHOD_STIFF : ZW_METHOD_DOP853;
}

/* A contact law implies the method that can apply it. Equations use Coulomb's law. */
static zw_status choose_contact(const zw_system *system, zw_run_options *options, zw_error *error)
{
    if (options->contact == ZW_CONTACT_DEFAULT) {
        options->contact = system->model->run.contact;
    }
    if (options->contact == ZW_CONTACT_DEFAULT) {
        return ZW_OK;
    }
    const char *name = zw_contact_law_name(options->contact);
    if (*name == '?') {
        return base_fail(error, ZW_BAD_INPUT, "%d is not a contact law", (int)options->contact);
    }
    if (!system->tree) {
        return options->contact == ZW_CONTACT_COULOMB
                   ? ZW_OK
                   : base_fail(error, ZW_BAD_INPUT,
                               "contact %s is for rigid bodies, and these are equations: their "
                               "contacts are coulomb",
                               name);
    }
    zw_method needed = options->contact == ZW_CONTACT_SOFT ? ZW_METHOD_SOFT : ZW_METHOD_IMPULSE;
    if (options->method == ZW_METHOD_DEFAULT) {
        options->method = needed;
    }
    return options->method == needed
               ? ZW_OK
               : base_fail(error, ZW_BAD_INPUT, "contact %s comes with method %s, and not %s", name,
                           zw_method_name(needed), zw_method_name(options->method));
}

/* Does the method support everything in the system? */
static zw_status check_method(const zw_system *system, const zw_run_options *options,
                              zw_error *error)
{
    if (options->method == ZW_METHOD_IMPULSE && !system->tree) {
        return base_fail(error, ZW_BAD_INPUT,
                         "method impulse is for rigid bodies, and these are equations; use dop853");
    }
    if (options->method == ZW_METHOD_IMPULSE && beyond_impulse(system->bodies)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "method impulse does not support %s; use dop853 or stiff",
                         beyond_impulse(system->bodies));
    }
    if (options->contact != ZW_CONTACT_DEFAULT && lacks_shapes(system)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "the mesh '%.100s' of a colliding shape is missing; say where its package "
                         "is (--package NAME=PATH), or run without contacts (--method dop853)",
                         system->bodies->missing_mesh);
    }
    if (may_sleep(system) && options->method != ZW_METHOD_IMPULSE) {
        return base_fail(error, ZW_BAD_INPUT,
                         "bodies can sleep with method impulse only (contact coulomb or convex), "
                         "not with %s; switch sleeping off",
                         zw_method_name(options->method));
    }
    if (options->method == ZW_METHOD_SOFT && (!system->tree || system->bodies->formulas)) {
        return base_fail(error, ZW_BAD_INPUT, "method soft is for rigid bodies%s",
                         system->tree ? ", and does not support formulas over them"
                                      : ", and these are equations; use dop853");
    }
    return ZW_OK;
}

zw_status run_complete(const zw_system *system, const zw_run_options *given, double now,
                       zw_run_options *options, zw_error *error)
{
    const model_run *file = &system->model->run;
    *options = given ? *given : (zw_run_options){0};
    if (options->time == 0) {
        options->time = file->time > 0 ? file->time : 10;
    }
    if (options->every == 0) {
        options->every = file->every > 0 ? file->every : (options->time - now) / 500;
    }
    if (options->step == 0) {
        options->step = file->step;
    }
    double given_tolerance = options->tolerance > 0 ? options->tolerance : file->tolerance;
    options->tolerance = given_tolerance > 0 ? given_tolerance : 1e-10;
    if (options->method == ZW_METHOD_DEFAULT && file->method &&
        zw_method_find(file->method, &options->method) != ZW_OK) {
        return base_fail(error, ZW_BAD_INPUT,
                         "there is no method %s; the methods are dop853, variational, "
                         "variational4, midpoint, rk4, euler, stiff, bdf, impulse, soft",
                         file->method);
    }
    zw_status status = choose_contact(system, options, error);
    if (status != ZW_OK) {
        return status;
    }
    if (options->method == ZW_METHOD_DEFAULT) {
        options->method = by_default(system, options->time - now);
    }
    if (options->contact == ZW_CONTACT_DEFAULT) { /* the other methods have no contacts */
        options->contact = options->method == ZW_METHOD_SOFT      ? ZW_CONTACT_SOFT
                           : options->method == ZW_METHOD_IMPULSE ? ZW_CONTACT_COULOMB
                                                                  : ZW_CONTACT_DEFAULT;
    }
    status = check_method(system, options, error);
    if (status != ZW_OK) {
        return status;
    }
    if ((options->method == ZW_METHOD_IMPULSE || options->method == ZW_METHOD_SOFT) &&
        options->step == 0) {
        options->step = system->bodies->timestep;
    }
    return check(options, now, error);
}

zw_status zw_run_plan(const zw_system *system, const zw_state *state, const zw_run_options *options,
                      zw_run_options *plan, zw_error *error)
{
    return run_complete(system, options, state->t, plan, error);
}
