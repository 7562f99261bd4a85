/* zwang check: what the file describes, without running it. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

enum { SHOWN = 8 };

static void show_coordinates(const cli_world *world)
{
    int n = zw_count(world->system, ZW_KIND_COORD);
    cli_label(stdout, "coordinates");
    printf(n > 0 ? "%d:" : "%d: nothing can move, no body has a joint", n);
    for (int i = 0; i < n && i < SHOWN; i++) {
        printf(" %s", zw_name(world->system, ZW_KIND_COORD, i));
    }
    if (n > SHOWN) {
        printf(" and %d more", n - SHOWN);
    }
    printf("\n");
}

/* The contents of a robot file; masses are those of all bodies, fixed ones included. */
static void show_robot(const cli_world *world)
{
    static const struct {
        zw_kind kind;
        const char *one, *many;
    } list[] = {{ZW_KIND_JOINT, "joint", "joints"},
                {ZW_KIND_GEOM, "geom", "geoms"},
                {ZW_KIND_MESH, "mesh", "meshes"},
                {ZW_KIND_HFIELD, "height field", "height fields"},
                {ZW_KIND_SITE, "site", "sites"},
                {ZW_KIND_TENDON, "tendon", "tendons"},
                {ZW_KIND_EQUALITY, "equality", "equalities"},
                {ZW_KIND_ACTUATOR, "actuator", "actuators"},
                {ZW_KIND_SENSOR, "sensor", "sensors"},
                {ZW_KIND_KEY, "key", "keys"}};
    int bodies = zw_model_count(world->model, ZW_KIND_BODY);
    zw_inertia *inertia = bodies > 0 ? calloc((size_t)bodies, sizeof *inertia) : NULL;
    double mass = 0;
    if (!inertia || !zw_model_world(world->model)) {
        free(inertia);
        return;
    }
    cli_label(stdout, "robot");
    cli_show_count(stdout, bodies - 1, "body", "bodies");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        int count = zw_model_count(world->model, list[i].kind);
        if (count > 0) {
            printf(", ");
            cli_show_count(stdout, count, list[i].one, list[i].many);
        }
    }
    if (zw_model_inertia(world->model, inertia, NULL) == ZW_OK) {
        for (int i = 1; i < bodies; i++) {
            mass += inertia[i].mass;
        }
        printf("; mass %.6g", mass);
    }
    printf("\n");
    free(inertia);
}

static void show_constraints(const cli_world *world, const zw_constraint *list)
{
    enum { KINDS = 4, DRY = 3 };
    static const char *const word[] = {"holonomic", "nonholonomic", "one-sided", "dry friction"};
    int count = zw_count(world->system, ZW_KIND_CONSTRAINT), of[KINDS] = {0}, said = 0;
    for (int c = 0; c < count; c++) {
        of[list[c].rows == 0 ? DRY : (int)list[c].kind]++;
    }
    cli_label(stdout, "constraints");
    printf("%d", count);
    for (int k = 0; k < KINDS; k++) {
        if (of[k] > 0) {
            printf("%s %d %s", said++ ? "," : ":", of[k], word[k]);
        }
    }
    if (zw_count(world->system, ZW_KIND_ROW) != count) {
        printf(" (%d rows)", zw_count(world->system, ZW_KIND_ROW));
    }
    printf("\n");
}

/* For a robot, whose joints have two limits each, only the active ones. */
static void show_contacts(const cli_world *world, const zw_constraint *list)
{
    static const char *const word[] = {"open", "closed", "sliding", "stuck"};
    int count = zw_count(world->system, ZW_KIND_CONSTRAINT), said = 0, left = 0;
    int robot = zw_model_world(world->model) != NULL;
    for (int c = 0; c < count; c++) {
        if ((list[c].kind != ZW_ONE_SIDED && list[c].friction == 0) ||
            (robot && list[c].mode == ZW_MODE_OPEN && list[c].position > 0)) {
            continue;
        }
        if (said == SHOWN) {
            left++;
            continue;
        }
        cli_label(stdout, said++ ? "" : "contacts");
        printf("%s is %s", zw_name(world->system, ZW_KIND_CONSTRAINT, c), word[list[c].mode]);
        if (list[c].mode == ZW_MODE_OPEN) {
            printf(", gap %.6g", list[c].position);
        }
        if (list[c].friction > 0) {
            printf(", friction %.6g", list[c].friction);
        }
        printf("\n");
    }
    if (left > 0) {
        cli_label(stdout, "");
        printf("and %d more\n", left);
    }
}

/* Coordinates that only constraints determine. */
static int show_masses(const cli_world *world)
{
    int *coord = calloc((size_t)zw_count(world->system, ZW_KIND_COORD) + 1, sizeof(int));
    int count = coord ? zw_massless(world->work, coord) : 0;
    if (count > 0) {
        cli_label(stdout, "singular M");
        printf("held by constraints only");
        for (int i = 0; i < count && i < SHOWN; i++) {
            printf("%s %s", i ? "," : "", zw_name(world->system, ZW_KIND_SPEED, coord[i]));
        }
        if (count > SHOWN) {
            printf(" and %d more", count - SHOWN);
        }
        printf("\n");
    }
    free(coord);
    return count;
}

static void show_rank(const cli_world *world, const zw_motion *motion)
{
    cli_label(stdout, "freedom");
    cli_show_count(stdout, motion->n - motion->rank, "degree", "degrees");
    printf(", rank %d\n", motion->rank);
    cli_label(stdout, "redundant");
    for (int i = 0; i < motion->redundant_count && i < SHOWN; i++) {
        printf("%s%s", i ? ", " : "", zw_work_block_name(world->work, motion->redundant[i]));
    }
    if (motion->redundant_count > SHOWN) {
        printf(" and %d more", motion->redundant_count - SHOWN);
    }
    puts(motion->redundant_count ? "" : "none");
    if (motion->independence > 0 && motion->independence < CLI_NEARLY_SINGULAR) {
        cli_label(stdout, "singular");
        printf("nearly: a row is within %.2g of the span of the others\n", motion->independence);
    }
}

static void show_start(const cli_world *world)
{
    const zw_assembly *assembly = &world->assembly;
    const double *energy = zw_field(world->system, world->state, world->work, ZW_FIELD_ENERGY).data;
    if (assembly->position_change <= 1e-9 && assembly->speed_change <= 1e-9 &&
        assembly->impacts == 0) {
        cli_label(stdout, "assembled");
        printf("as written, violation %.2g\n", assembly->violation_after);
    } else {
        cli_show_assembly(stdout, world);
        cli_label(stdout, "");
        printf("violation %.2g before, %.2g after\n", assembly->violation_before,
               assembly->violation_after);
    }
    if (energy[1] != 0 || energy[2] != 0) {
        cli_label(stdout, "energy");
        printf("%.10g (kinetic %.6g, potential %.6g)\n", energy[0], energy[1], energy[2]);
    }
}

/* The goal: are there as many conditions as unknowns? */
static zw_status show_reach(const cli_arguments *arguments, const cli_world *world, zw_error *error)
{
    zw_reach_report report = {0};
    if (!zw_reach_asked(world->system)) {
        return ZW_OK;
    }
    zw_status status = zw_reach_check(world->system, world->state, world->work, &report, error);
    if (status == ZW_OK && !arguments->quiet) {
        cli_label(stdout, "reach");
        printf("%d unknown at the start, %d asked at the end\n", report.unknowns,
               report.conditions);
    }
    return status;
}

static void show(const cli_arguments *arguments, const cli_world *world, const zw_constraint *list)
{
    const zw_motion *motion = zw_work_motion(world->work);
    show_robot(world);
    cli_show_keys(stdout, world);
    if (zw_model_world(world->model) && zw_contact_capacity(world->system) > 0) {
        cli_label(stdout, "contact");
        printf("exact, by Coulomb's law; --method soft has MuJoCo's soft contacts and its step\n");
    }
    show_coordinates(world);
    show_constraints(world, list);
    show_contacts(world, list);
    show_rank(world, motion);
    cli_show_touching(stdout, world);
    cli_show_notes(stdout, world);
    show_masses(world);
    show_start(world);
    cli_advise(arguments, world);
    cli_label(stdout, "certificate");
    printf("%.2g\n", motion->certificate.worst);
    if (zw_count(world->system, ZW_KIND_EVENT) + zw_count(world->system, ZW_KIND_CHECK) > 0) {
        cli_label(stdout, "watches");
        cli_show_count(stdout, zw_count(world->system, ZW_KIND_EVENT), "event", "events");
        printf(", ");
        cli_show_count(stdout, zw_count(world->system, ZW_KIND_CHECK), "check", "checks");
        printf("\n");
    }
}

int cli_check(const cli_arguments *arguments)
{
    cli_world world;
    zw_error error = {0};
    int code = cli_load(arguments, &world, &error);
    if (code != CLI_OK) {
        cli_show_error(&error);
        return code;
    }
    size_t capacity = (size_t)zw_count(world.system, ZW_KIND_CONSTRAINT) + 1;
    zw_constraint *list = calloc(capacity, sizeof *list);
    zw_run_options plan, run = arguments->run;
    if (zw_model_missing_mesh(world.model)) {
        run.method = ZW_METHOD_DOP853; /* it can run without contacts; the notes name the mesh */
    }
    zw_status status = list ? zw_forward(world.system, world.state, world.work,
                                         zw_model_missing_mesh(world.model) ? &run : NULL, &error)
                            : ZW_NO_MEMORY;
    if (status == ZW_OK) {
        status = zw_constraints_look(world.system, world.state, world.work, list, &error);
    }
    if (status == ZW_OK && !arguments->quiet) {
        show(arguments, &world, list);
    }
    if (status == ZW_OK) {
        status = show_reach(arguments, &world, &error);
    }
    code = status == ZW_BAD_INPUT ? CLI_MODEL : cli_code_of(status);
    if (status == ZW_OK && zw_run_plan(world.system, world.state, &run, &plan, &error) != ZW_OK) {
        code = CLI_MODEL; /* from its `run` line */
    }
    if (code != CLI_OK) {
        error.status = error.status ? error.status : status;
        cli_show_error(&error);
    }
    free(list);
    cli_unload(&world);
    return code;
}
