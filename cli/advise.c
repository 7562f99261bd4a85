/* zwang check of a robot: advice, from what was read and from the initial state. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Starts another line; the first has the label. */
static void begin(int *said)
{
    cli_label(stdout, (*said)++ ? "" : "would help");
}

static int count_of(const cli_world *world, zw_kind kind)
{
    return zw_model_count(world->model, kind);
}

/* The first named keyframe, if none is chosen; NULL: there is none. */
static const char *key_of(const cli_arguments *arguments, const cli_world *world)
{
    for (int i = 0; i < count_of(world, ZW_KIND_KEY) && !arguments->key; i++) {
        const zw_key_def *key = zw_model_def(world->model, ZW_KIND_KEY, i);
        if (key->name && key->name[0]) {
            return key->name;
        }
    }
    return NULL;
}

static int is_urdf(const cli_arguments *arguments)
{
    const char *end = strrchr(arguments->file, '.');
    return end && strcmp(end, ".urdf") == 0;
}

/* Bodies that overlap by more than one step can separate; SPEED is that of docs/bodies.md. */
static void advise_overlaps(const cli_arguments *arguments, const cli_world *world, int *said)
{
    static const double SPEED = 0.5;
    cli_touching t = cli_touching_of(world);
    const zw_contact *worst = NULL;
    double far = SPEED * zw_model_world(world->model)->timestep;
    for (int k = 0; k < t.count; k++) {
        if (-t.list[k].gap > far) {
            worst = &t.list[k];
            far = -worst->gap;
        }
    }
    if (worst) {
        begin(said);
        printf("%s and %s overlap by %.3g and will be pushed apart at %.3g m/s: <exclude "
               "body1=\"%s\" body2=\"%s\"/> in <contact>%s if they are meant to overlap, else "
               "another pose",
               worst->body_name[0], worst->body_name[1], far, SPEED, worst->body_name[0],
               worst->body_name[1],
               is_urdf(arguments) ? " of an MJCF file (zwang export makes it from this one)" : "");
        if (key_of(arguments, world)) {
            printf(", say --key %s", key_of(arguments, world));
        }
        printf("\n");
    }
    free(t.list);
}

/* Free bodies with weight, in a world without anything to rest on or hang from. */
static void advise_floor(const cli_world *world, int *said)
{
    const double *g = zw_model_world(world->model)->gravity;
    int free_bodies = 0, fixed = count_of(world, ZW_KIND_EQUALITY);
    for (int j = 0; j < count_of(world, ZW_KIND_JOINT); j++) {
        const zw_joint_def *joint = zw_model_def(world->model, ZW_KIND_JOINT, j);
        free_bodies += joint->kind == ZW_JOINT_FREE;
    }
    for (int k = 0; k < count_of(world, ZW_KIND_GEOM); k++) {
        const zw_geom_def *geom = zw_model_def(world->model, ZW_KIND_GEOM, k);
        fixed += geom->body == 0;
    }
    if (free_bodies > 0 && fixed == 0 && (g[0] != 0 || g[1] != 0 || g[2] != 0)) {
        begin(said);
        printf("a floor, else it falls forever: `ground z = 0` in a .zw file that imports it, or "
               "<geom type=\"plane\" size=\"5 5 1\"/> in the world\n");
    }
}

/* Files of URDF do not say whether the base moves. */
static void advise_base(const cli_arguments *arguments, const cli_world *world, int *said)
{
    int moves = !is_urdf(arguments) || arguments->base != ZW_BASE_DEFAULT;
    for (int j = 0; j < count_of(world, ZW_KIND_JOINT); j++) {
        const zw_joint_def *joint = zw_model_def(world->model, ZW_KIND_JOINT, j);
        moves |= joint->kind == ZW_JOINT_FREE;
    }
    if (!moves) {
        begin(said);
        printf("--base free, if it is to walk, drive or fly: the base of a URDF file is fixed to "
               "the world unless this is said\n");
    }
}

static void advise_controls(const cli_world *world, int *said)
{
    zw_view control = zw_field(world->system, world->state, world->work, ZW_FIELD_PARAM);
    int any = 0;
    for (int i = 0; i < control.count; i++) {
        any |= control.data[i] != 0;
    }
    if (count_of(world, ZW_KIND_ACTUATOR) > 0 && control.count > 0 && !any) {
        begin(said);
        printf("a control: all are 0; --set %s=X gives one\n",
               zw_name(world->system, ZW_KIND_PARAM, 0));
    }
}

/* Rods of a loop that are meant to be redundant but differ in length: as rigid constraints they
 * lock it. */
static void advise_loops(const cli_world *world, int *said)
{
    double independence = zw_work_motion(world->work)->independence;
    if (count_of(world, ZW_KIND_EQUALITY) > 0 && independence > 0 &&
        independence < CLI_NEARLY_SINGULAR) {
        begin(said);
        printf("loops whose lengths agree: equalities are within %.2g of being redundant, and held "
               "exactly they may lock what is meant to move; --method soft lets it\n",
               independence);
    }
}

void cli_advise(const cli_arguments *arguments, const cli_world *world)
{
    int said = 0;
    const char *mesh = zw_model_missing_mesh(world->model);
    if (!zw_model_world(world->model)) {
        return;
    }
    if (mesh) {
        begin(&said);
        printf("the mesh %s, without which contacts cannot be computed%s\n", mesh,
               strncmp(mesh, "package://", 10) == 0
                   ? ": --package NAME=PATH says where package://NAME is"
                   : "");
    }
    if (zw_count(world->system, ZW_KIND_COORD) == 0) {
        begin(&said);
        printf("a joint, so that something moves; or import this file into another\n");
        return;
    }
    advise_overlaps(arguments, world, &said);
    if (world->assembly.position_change > 1e-9 && key_of(arguments, world)) {
        begin(&said);
        printf("--key %s: the default pose violates its constraints\n", key_of(arguments, world));
    }
    advise_loops(world, &said);
    advise_base(arguments, world, &said);
    advise_floor(world, &said);
    advise_controls(world, &said);
}
