/* Pulling: a site on the body at the point that it holds, a site at the origin of the world, and
 * three actuators along the axes of the world that measure from there, each a spring with a damper,
 *
 *     force = k (u - x) - c x',       k = m w^2,  c = 2 m w
 *
 * critically damped for the mass m of all that hangs together there. The rate w is asked for: under
 * gravity the body hangs g / w^2 below the pointer. It is a part of the model, and so of the
 * equations: no step is too large for it, and its work is counted. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

static const zw_field_id kept_field[5] = {ZW_FIELD_TIME, ZW_FIELD_PARAM, ZW_FIELD_ACTIVATION,
                                          ZW_FIELD_Q, ZW_FIELD_V};

int studio_snapshot(void)
{
    studio_world *w = &studio;
    for (int k = 0; k < 5; k++) {
        zw_view view = zw_field(w->system, w->state, w->work, kept_field[k]);
        double *copy = realloc(w->kept[k], ((size_t)view.count + 1) * sizeof *copy);
        if (copy == NULL) {
            return studio_fail(ZW_NO_MEMORY, "out of memory");
        }
        if (view.count > 0) {
            memcpy(copy, view.data, (size_t)view.count * sizeof *copy);
        }
        w->kept[k] = copy;
        w->kept_count[k] = view.count;
    }
    return 1;
}

int studio_keep(int which, const double *values, int count)
{
    studio_world *w = &studio;
    double *copy = which >= 0 && which < 5 && count >= 0
                       ? realloc(w->kept[which], ((size_t)count + 1) * sizeof *copy)
                       : NULL;
    if (copy == NULL) {
        return studio_fail(ZW_NO_MEMORY, "out of memory");
    }
    if (count > 0) {
        memcpy(copy, values, (size_t)count * sizeof *copy);
    }
    w->kept[which] = copy;
    w->kept_count[which] = count;
    return 1;
}

/* Numbers that are as they should be already are not written: some may not be. */
int studio_take_over(void)
{
    studio_world *w = &studio;
    for (int k = 0; k < 5; k++) {
        zw_view view = zw_field(w->system, w->state, w->work, kept_field[k]);
        int count = view.count < w->kept_count[k] ? view.count : w->kept_count[k];
        int each = kept_field[k] == ZW_FIELD_PARAM; /* one by one */
        for (int i = 0; i < (each ? count : count > 0); i++) {
            const double *now = zw_field(w->system, w->state, w->work, kept_field[k]).data + i;
            size_t size = (size_t)(each ? 1 : count) * sizeof *now;
            if (memcmp(now, w->kept[k] + i, size) != 0 &&
                zw_state_set(w->system, w->state, w->work, kept_field[k], i, each ? 1 : count,
                             w->kept[k] + i, &w->error) != ZW_OK) {
                return 0;
            }
        }
    }
    return 1;
}

void studio_hide_params(int count)
{
    int all = zw_count(studio.system, ZW_KIND_PARAM);
    studio.hidden = count < 0 ? 0 : count > all ? all : count;
}

static double mass_there(int body)
{
    studio_world *w = &studio;
    zw_momentum all = {0};
    for (;;) {
        const zw_body_def *def = zw_model_def(w->model, ZW_KIND_BODY, body);
        if (def == NULL || def->parent == 0) {
            break;
        }
        body = def->parent;
    }
    zw_momentum_look(w->probe, w->state, body, &all, &w->error);
    return all.mass > 0 ? all.mass : 1;
}

static int add_hand(int body, const double at[3], double mass, double rate)
{
    static const char *const name[3] = {"studio hand x", "studio hand y", "studio hand z"};
    studio_world *w = &studio;
    zw_site_def grip = zw_site_default(), origin = zw_site_default();
    grip.body = body;
    memcpy(grip.pos, at, sizeof grip.pos);
    int held = zw_model_add_site(w->model, &grip, &w->error);
    int from = held >= 0 ? zw_model_add_site(w->model, &origin, &w->error) : -1;
    for (int k = 0; k < 3; k++) {
        zw_actuator_def pull = zw_actuator_default();
        pull.name = name[k];
        pull.drive = ZW_DRIVE_SITE;
        pull.target = held;
        pull.refsite = from;
        memset(pull.gear, 0, sizeof pull.gear);
        pull.gear[k] = 1;
        pull.gain_prm[0] = mass * rate * rate;
        pull.bias_law = ZW_ACTUATOR_AFFINE;
        pull.bias_prm[1] = -mass * rate * rate;
        pull.bias_prm[2] = -2 * mass * rate;
        if (from < 0 || zw_model_add_actuator(w->model, &pull, &w->error) < 0) {
            return 0;
        }
    }
    return 1;
}

/* The last three actuators and the last two sites. */
static void remove_hand(int actuators, int sites)
{
    studio_world *w = &studio;
    zw_error ignored;
    while (zw_model_count(w->model, ZW_KIND_ACTUATOR) > actuators) {
        zw_model_remove(w->model, ZW_KIND_ACTUATOR, zw_model_count(w->model, ZW_KIND_ACTUATOR) - 1,
                        &ignored);
    }
    while (zw_model_count(w->model, ZW_KIND_SITE) > sites) {
        zw_model_remove(w->model, ZW_KIND_SITE, zw_model_count(w->model, ZW_KIND_SITE) - 1,
                        &ignored);
    }
}

/* The model has changed: the system anew, the state as it was. */
static int renew(void)
{
    studio_world *w = &studio;
    w->system = zw_system_compile(w->model, NULL, &w->error);
    return w->system && studio_furnish() && studio_take_over();
}

static void drop_system(void)
{
    studio_unfurnish();
    zw_system_free(studio.system);
    studio.system = NULL;
}

int studio_grab(int body, double x, double y, double z, double rate)
{
    studio_world *w = &studio;
    const double at[3] = {x, y, z};
    if (zw_count(w->system, ZW_KIND_BODY) == 0 || body <= 0 || !(rate > 0) || !studio_release() ||
        !studio_snapshot()) {
        return studio_fail(ZW_BAD_INPUT, "there is no such body");
    }
    int actuators = zw_model_count(w->model, ZW_KIND_ACTUATOR);
    int sites = zw_model_count(w->model, ZW_KIND_SITE);
    double mass = mass_there(body);
    drop_system();
    if (add_hand(body, at, mass, rate) && renew()) {
        w->grip = zw_id(w->system, ZW_KIND_PARAM, "studio hand x");
        w->held = 1;
        studio_hide_params(3);
        double to[3];
        zw_frame frame = {.body = body, .pos = {x, y, z}, .quat = {1, 0, 0, 0}};
        zw_frame_motion now = {0};
        zw_frame_look(w->probe, w->state, &frame, 1, NULL, &now, &w->error);
        memcpy(to, now.pos, sizeof to);
        return studio_pull(to[0], to[1], to[2]);
    }
    zw_error why = w->error;
    if (w->system != NULL) {
        drop_system();
    }
    remove_hand(actuators, sites);
    renew();
    w->error = why;
    return 0;
}

int studio_pull(double x, double y, double z)
{
    studio_world *w = &studio;
    const double to[3] = {x, y, z};
    return w->held && w->grip >= 0 &&
           zw_state_set(w->system, w->state, w->work, ZW_FIELD_PARAM, w->grip, 3, to, &w->error) ==
               ZW_OK;
}

int studio_release(void)
{
    studio_world *w = &studio;
    if (!w->held) {
        return 1;
    }
    if (!studio_snapshot()) {
        return 0;
    }
    w->held = w->hidden = 0;
    drop_system();
    remove_hand(zw_model_count(w->model, ZW_KIND_ACTUATOR) - 3,
                zw_model_count(w->model, ZW_KIND_SITE) - 2);
    return renew();
}
