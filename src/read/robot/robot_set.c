/* Applies the caller's settings after a robot file has been read. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/bodies.h"
#include "read/robot/robot.h"
#include "read/zw/zw.h"

/* By its name, or its default name: actuator3. */
static int find_motor(const model_bodies *bodies, const char *name)
{
    int index = model_find_part(bodies, ZW_KIND_ACTUATOR, name);
    for (int i = 0; i < bodies->count[ZW_KIND_ACTUATOR] && index < 0; i++) {
        char own[40];
        snprintf(own, sizeof own, "%s%d", model_part_word(ZW_KIND_ACTUATOR), i);
        index = bodies->actuator[i].name == NULL && strcmp(own, name) == 0 ? i : -1;
    }
    return index;
}

/* A suggestion: a similar name; else one whose part contains the given name: left_thigh.mass for
 * thigh.mass, or for thigh.mas. */
typedef struct meant {
    read_guess near;
    const char *part, *word;
    int part_length;
    char within[160];
} meant;

static void offer(void *user, const char *part, const char *word)
{
    meant *m = user;
    char name[160];
    snprintf(name, sizeof name, "%.100s%s%.40s", part, *part ? "." : "", word);
    read_guess_offer(&m->near, name, (int)strlen(name));
    char given[100];
    snprintf(given, sizeof given, "%.*s", m->part_length, m->part);
    if (!m->within[0] && *given && *part && strstr(part, given)) {
        read_guess guess = read_guess_start(m->word, (int)strlen(m->word));
        read_guess_offer(&guess, word, (int)strlen(word));
        if (!strcmp(m->word, word) || guess.distance != INT_MAX) {
            memcpy(m->within, name, sizeof name);
        }
    }
}

static int more(const model_bodies *bodies, const char *name, zw_error *error)
{
    int length = (int)strlen(name);
    const char *dot = strchr(name, '.');
    meant m = {.near = read_guess_start(name, length),
               .part = name,
               .word = dot ? dot + 1 : "",
               .part_length = dot ? (int)(dot - name) : 0};
    for (int i = 0; i < bodies->count[ZW_KIND_ACTUATOR]; i++) {
        const char *known = bodies->actuator[i].name;
        if (known) {
            read_guess_offer(&m.near, known, (int)strlen(known));
        }
    }
    model_settable(bodies, offer, &m);
    if (!dot) {
        base_fail(error, ZW_BAD_INPUT,
                  "there is no motor '%.60s' to set; other numbers of a robot have names such as "
                  "thigh.mass",
                  name);
    }
    read_shown shown = read_guess_show(&m.near);
    if (m.near.distance == 0) {
        return 0; /* the name exists: something else is wrong */
    }
    if (shown.text[0]) {
        base_fail_more(error, "%s", shown.text);
    } else if (m.within[0]) {
        base_fail_more(error, "; did you mean '%s'?", m.within);
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
    return zw_model_change(model, ZW_KIND_ACTUATOR, index, &def, error) == ZW_OK;
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
