/* zwang explain robot.xml: forces and moments of joints and loop closures; sensors. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

/* All wrenches of a kind, which the caller frees; NULL: there are none to show. */
static zw_wrench *wrenches(const cli_world *world, zw_kind kind)
{
    int count = zw_count(world->system, kind), some = 0;
    zw_wrench *list = calloc((size_t)count + 1, sizeof *list);
    if (list && zw_wrenches(world->system, world->state, world->work, kind, list, NULL) == ZW_OK) {
        for (int i = 0; i < count; i++) {
            some |= list[i].between;
        }
    }
    if (!some) {
        free(list);
        return NULL;
    }
    return list;
}

/* Round-off relative to the largest numbers is shown as 0. */
static double size_of(const zw_wrench *list, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            most = fmax(most, fmax(fabs(list[i].force[k]), fabs(list[i].moment[k])));
        }
    }
    return 10 * most;
}

static void show_wrenches(const cli_arguments *arguments, const cli_world *world, zw_kind kind,
                          const char *title)
{
    zw_wrench *list = wrenches(world, kind);
    cli_table t = cli_table_of(arguments, world, kind);
    if (!list) {
        return;
    }
    double size = size_of(list, t.count);
    cli_head(stdout, title);
    printf("  %-*s %35s %35s%s\n", t.width, "", "force x, y, z", "moment x, y, z",
           kind == ZW_KIND_JOINT ? "   drive" : "");
    for (int i = 0; i < t.shown; i++) {
        const zw_wrench *it = &list[i];
        if (!it->between) {
            continue;
        }
        printf("  %-*s", t.width, zw_name(world->system, kind, i));
        for (int k = 0; k < 3; k++) {
            printf(" %11.5g", cli_tidy(it->force[k], size));
        }
        for (int k = 0; k < 3; k++) {
            printf(" %11.5g", cli_tidy(it->moment[k], size));
        }
        for (int d = 0; d < it->speeds; d++) {
            printf("%s%.6g", d ? ", " : "   ", cli_tidy(it->drive[d], size));
        }
        printf("\n");
    }
    cli_show_left_out(&t);
    free(list);
}

static void show_numbers(const cli_arguments *arguments, const cli_world *world, zw_kind kind,
                         zw_field_id field, const char *title)
{
    zw_view view = zw_field(world->system, world->state, world->work, field);
    cli_table t = cli_table_of(arguments, world, kind);
    if (t.count == 0) {
        return;
    }
    cli_head(stdout, title);
    for (int i = 0; i < t.shown; i++) {
        printf("  %-*s %14.6g\n", t.width, zw_name(world->system, kind, i),
               cli_tidy(view.data[i], 1));
    }
    cli_show_left_out(&t);
}

void cli_explain_bodies(const cli_arguments *arguments, const cli_world *world)
{
    show_wrenches(arguments, world, ZW_KIND_JOINT,
                  "Joints: force and moment on the body at its anchor; drive: the part along the "
                  "joint's axes");
    show_wrenches(arguments, world, ZW_KIND_CONSTRAINT,
                  "Loop constraints: force and moment on the second body, about its frame");
    cli_explain_touching(arguments, world);
    show_numbers(arguments, world, ZW_KIND_ACTIVATION, ZW_FIELD_ACTIVATION, "Activations");
    show_numbers(arguments, world, ZW_KIND_READING, ZW_FIELD_SENSOR, "Sensors");
}

static void put_vector(cli_json *json, const char *key, const double *x, int count)
{
    cli_json_open(json, key, '[');
    for (int k = 0; k < count; k++) {
        cli_json_number(json, NULL, x[k]);
    }
    cli_json_close(json, ']');
}

static void put_wrenches(cli_json *json, const cli_world *world, zw_kind kind, const char *key)
{
    zw_wrench *list = wrenches(world, kind);
    if (!list) {
        return;
    }
    cli_json_open(json, key, '[');
    for (int i = 0; i < zw_count(world->system, kind); i++) {
        const zw_wrench *it = &list[i];
        if (!it->between) {
            continue;
        }
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", zw_name(world->system, kind, i));
        put_vector(json, "at", it->at, 3);
        put_vector(json, "force", it->force, 3);
        put_vector(json, "moment", it->moment, 3);
        if (kind == ZW_KIND_JOINT) {
            put_vector(json, "drive", it->drive, it->speeds);
            put_vector(json, "held_force", it->held_force, 3);
            put_vector(json, "held_moment", it->held_moment, 3);
        }
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    free(list);
}

static void put_numbers(cli_json *json, const cli_world *world, zw_kind kind, zw_field_id field,
                        const char *key)
{
    zw_view view = zw_field(world->system, world->state, world->work, field);
    if (view.count == 0) {
        return;
    }
    cli_json_open(json, key, '{');
    for (int i = 0; i < view.count; i++) {
        cli_json_number(json, zw_name(world->system, kind, i), view.data[i]);
    }
    cli_json_close(json, '}');
}

void cli_explain_json_bodies(cli_json *json, const cli_world *world)
{
    put_wrenches(json, world, ZW_KIND_BODY, "bodies");
    put_wrenches(json, world, ZW_KIND_JOINT, "joints");
    put_wrenches(json, world, ZW_KIND_CONSTRAINT, "closures");
    cli_explain_json_touching(json, world);
    put_numbers(json, world, ZW_KIND_ACTIVATION, ZW_FIELD_ACTIVATION, "activations");
    put_numbers(json, world, ZW_KIND_READING, ZW_FIELD_SENSOR, "sensors");
}
