/* What comes after a robot file has been read: settings from outside, and what is not computed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/bodies.h"
#include "read/robot.h"
#include "read/zw.h"

/* ---- Settings ------------------------------------------------------------------------------- */

/* By its name, or as it is called without one: actuator3. */
static int find_motor(const model_bodies *bodies, const char *name)
{
    int index = model_find_thing(bodies, ZW_THING_ACTUATOR, name);
    for (int i = 0; i < bodies->count[ZW_THING_ACTUATOR] && index < 0; i++) {
        char own[40];
        snprintf(own, sizeof own, "%s%d", model_thing_word(ZW_THING_ACTUATOR), i);
        index = bodies->actuator[i].name == NULL && strcmp(own, name) == 0 ? i : -1;
    }
    return index;
}

static int refuse(const model_bodies *bodies, const char *name, zw_error *error)
{
    read_guess guess = read_guess_start(name, (int)strlen(name));
    int count = bodies->count[ZW_THING_ACTUATOR];
    for (int i = 0; i < count; i++) {
        const char *known = bodies->actuator[i].name;
        if (known != NULL) {
            read_guess_offer(&guess, known, (int)strlen(known));
        }
    }
    base_fail(error, ZW_BAD_INPUT,
              count > 0
                  ? "there is no motor '%.60s' to be set; of a robot, only its motors can be%s"
                  : "'%.60s' cannot be set: this robot has no motors%s",
              name, read_guess_show(&guess).text);
    return 0;
}

static int set(zw_model *model, const zw_setting *setting, zw_error *error)
{
    int index = find_motor(model->bodies, setting->name);
    if (index < 0) {
        return refuse(model->bodies, setting->name, error);
    }
    zw_actuator_def def = model->bodies->actuator[index];
    def.ctrl_given = 1;
    def.ctrl = setting->value;
    return zw_model_change(model, ZW_THING_ACTUATOR, index, &def, error) == ZW_OK;
}

/* ---- Contact -------------------------------------------------------------------------------- */

/* The body that carries another one: itself if it has joints, or is the world. */
static void find_carriers(const model_bodies *b, int *carrier)
{
    for (int j = 0; j < b->count[ZW_THING_JOINT]; j++) {
        carrier[b->joint[j].body] |= b->joint[j].closes < 0;
    }
    for (int i = 0; i < b->count[ZW_THING_BODY]; i++) {
        carrier[i] = i == 0 ? 0 : carrier[i] ? i : carrier[b->body[i].parent];
    }
}

/* Could these two touch? Those of one body, or of a body and its parent, are left alone. */
static int may_touch(const model_bodies *b, const int *carrier, int i, int j)
{
    const zw_geom_def *x = &b->geom[i], *y = &b->geom[j];
    int masks = (x->contype & y->conaffinity) || (y->contype & x->conaffinity);
    int c = carrier[x->body], d = carrier[y->body];
    int above_c = c ? carrier[b->body[c].parent] : 0, above_d = d ? carrier[b->body[d].parent] : 0;
    int related = c == d || (above_c == d && d != 0) || (above_d == c && c != 0);
    return masks && !related;
}

int robot_note(zw_model *model)
{
    static const char text[] =
        "contact between geoms is for the methods impulse and soft; with others they pass through";
    const model_bodies *b = model->bodies;
    int geoms = b->count[ZW_THING_GEOM], first = -1;
    int *carrier = base_alloc((size_t)b->count[ZW_THING_BODY] * sizeof *carrier);
    if (carrier == NULL) {
        return 0;
    }
    find_carriers(b, carrier);
    for (int i = 0; i < geoms && first < 0; i++) {
        for (int j = 0; j < i && first < 0; j++) {
            first = may_touch(b, carrier, i, j) ? i : -1;
        }
    }
    base_free(carrier);
    first = first < 0 && b->count[ZW_THING_PAIR] > 0 ? b->pair[0].geom1 : first;
    if (first < 0 || (b->world.without & (ZW_WITHOUT_CONTACT | ZW_WITHOUT_CONSTRAINT))) {
        return 1;
    }
    return model_add_note(model, b->geom[first].place, text);
}

zw_model *robot_set(zw_model *model, const zw_setting *settings, int setting_count, zw_error *error)
{
    int ok = model != NULL && model->bodies != NULL;
    for (int k = 0; k < setting_count && ok; k++) {
        ok = set(model, &settings[k], error);
    }
    if (ok && !robot_note(model)) {
        base_fail(error, ZW_NO_MEMORY, "out of memory");
        ok = 0;
    }
    if (!ok) {
        zw_model_free(model);
        model = NULL;
    }
    return model;
}
