/* What comes after a robot file has been read: settings from outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/bodies.h"
#include "read/robot/robot.h"
#include "read/zw/zw.h"

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

/* It may be a motor that was meant. */
static int more(const model_bodies *bodies, const char *name, zw_error *error)
{
    read_guess guess = read_guess_start(name, (int)strlen(name));
    int count = bodies->count[ZW_THING_ACTUATOR];
    for (int i = 0; i < count; i++) {
        const char *known = bodies->actuator[i].name;
        if (known != NULL) {
            read_guess_offer(&guess, known, (int)strlen(known));
        }
    }
    if (strchr(name, '.') == NULL) {
        base_fail(error, ZW_BAD_INPUT,
                  "there is no motor '%.60s' to be set, and other numbers of a robot have names "
                  "such as thigh.mass%s",
                  name, read_guess_show(&guess).text);
    }
    return 0;
}

static int set(zw_model *model, const zw_setting *setting, zw_error *error)
{
    int index = find_motor(model->bodies, setting->name);
    if (index < 0) {
        return zw_model_set(model, setting->name, setting->value, error) == ZW_OK ||
               more(model->bodies, setting->name, error);
    }
    zw_actuator_def def = model->bodies->actuator[index];
    def.ctrl_given = 1;
    def.ctrl = setting->value;
    return zw_model_change(model, ZW_THING_ACTUATOR, index, &def, error) == ZW_OK;
}

zw_model *robot_set(zw_model *model, const zw_setting *settings, int setting_count, zw_error *error)
{
    int ok = model != NULL && model->bodies != NULL;
    for (int k = 0; k < setting_count && ok; k++) {
        ok = set(model, &settings[k], error);
    }
    if (!ok) {
        zw_model_free(model);
        model = NULL;
    }
    return model;
}
