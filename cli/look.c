/* zwang look: poses, Jacobians, masses and forces of a mechanism at one instant. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { SHOWN = 12 };

/* One object that is shown. */
typedef struct seen {
    const char *name;
    zw_frame frame;
    zw_frame_motion motion;
} seen;

typedef struct look_at {
    const cli_arguments *arguments;
    const cli_world *world;
    zw_probe *probe;
    int n, count;
    seen *list;
    double *scratch; /* [n * n + 6 n] */
} look_at;

static const struct {
    zw_force kind;
    const char *word;
    int robots; /* 1: for robots only, 2: for equations only */
} forces[] = {{ZW_FORCE_SPEEDS, "speeds", 0},   {ZW_FORCE_GRAVITY, "gravity", 1},
              {ZW_FORCE_SPRING, "springs", 1},  {ZW_FORCE_MOTOR, "motors", 1},
              {ZW_FORCE_PASSIVE, "passive", 1}, {ZW_FORCE_POTENTIAL, "potential", 2},
              {ZW_FORCE_APPLIED, "applied", 2}, {ZW_FORCE_ALL, "all", 0}};
enum { FORCES = sizeof forces / sizeof *forces };

static int is_robot(const look_at *s)
{
    return zw_count(s->world->system, ZW_KIND_BODY) > 0;
}

static int has_force(const look_at *s, int k)
{
    return forces[k].robots == 0 || (forces[k].robots == 1) == is_robot(s);
}

/* Collects what was requested, or everything. */
static zw_status gather(look_at *s, zw_error *error)
{
    const cli_arguments *arguments = s->arguments;
    const double *a = zw_field(s->world->system, s->world->state, s->world->work, ZW_FIELD_A).data;
    int robot = is_robot(s), asked = arguments->frame_count;
    zw_status status = ZW_OK;
    s->count = asked   ? asked
               : robot ? zw_count(s->world->system, ZW_KIND_BODY) - 1
                       : zw_point_count(s->probe);
    s->list = calloc((size_t)s->count + 1, sizeof *s->list);
    s->scratch = calloc((size_t)s->n * (size_t)s->n + 6 * (size_t)s->n + 1, sizeof *s->scratch);
    if (!s->list || !s->scratch) {
        return ZW_NO_MEMORY;
    }
    for (int i = 0; i < s->count && status == ZW_OK; i++) {
        seen *it = &s->list[i];
        if (asked) {
            it->name = arguments->frame[i];
            status = zw_frame_find(s->probe, it->name, &it->frame, error);
        } else if (robot) {
            it->name = zw_name(s->world->system, ZW_KIND_BODY, i + 1);
            it->frame = (zw_frame){.body = i + 1, .quat = {1, 0, 0, 0}};
        } else {
            it->name = zw_point_name(s->probe, i);
            it->frame = (zw_frame){.body = -1, .point = i};
        }
        if (status == ZW_OK) {
            status = zw_frame_look(s->probe, s->world->state, &it->frame, 1, a, &it->motion, error);
        }
    }
    return status;
}

/* ---- Text output ----------------------------------------------------------------------------- */

static int name_width(const look_at *s)
{
    size_t width = 10;
    for (int i = 0; i < s->count; i++) {
        size_t length = strlen(s->list[i].name);
        width = length > width ? length : width;
    }
    for (int i = 0; i < s->n; i++) {
        size_t length = strlen(zw_name(s->world->system, ZW_KIND_SPEED, i));
        width = length > width ? length : width;
    }
    return (int)width;
}

static void show_vector(const double *x, int count)
{
    double size = 1e-3;
    for (int k = 0; k < count; k++) {
        size = fabs(x[k]) > size ? fabs(x[k]) : size;
    }
    for (int k = 0; k < count; k++) {
        printf(" %11.5g", cli_tidy(x[k], 10 * size));
    }
}

static void show_frames(const look_at *s, int width)
{
    int shown = s->arguments->all || s->count <= SHOWN + 1 ? s->count : SHOWN;
    static const char *const part[] = {"Places", "Velocities", "Accelerations"};
    if (s->count == 0) {
        return;
    }
    for (int what = 0; what < 3; what++) {
        cli_head(stdout, part[what]);
        printf("  %-*s %11s %11s %11s", width, "", "x", "y", "z");
        static const char *const turning[][4] = {
            {"qw", "qx", "qy", "qz"}, {"spin x", "spin y", "spin z"}, {"spin' x", "y", "z"}};
        for (int k = 0; k < (what == 0 ? 4 : 3) && is_robot(s); k++) {
            printf(" %11s", turning[what][k]);
        }
        printf("\n");
        for (int i = 0; i < shown; i++) {
            const zw_frame_motion *m = &s->list[i].motion;
            const double *const lin[] = {m->pos, m->velocity, m->acceleration};
            const double *const ang[] = {m->quat, m->spin, m->spin_rate};
            printf("  %-*s", width, s->list[i].name);
            show_vector(lin[what], m->dimension);
            if (is_robot(s)) {
                show_vector(ang[what], what == 0 ? 4 : 3);
            }
            printf("\n");
        }
        if (shown < s->count) {
            printf("  and %d more; --all shows them\n", s->count - shown);
        }
    }
}

/* Speeds are rows here, and x, y, z columns, since there are many speeds. */
static zw_status show_jacobian(const look_at *s, const seen *it, int width, zw_error *error)
{
    int n = s->n, robot = is_robot(s), moved = 0;
    zw_status status = zw_frame_jacobian(s->probe, s->world->state, &it->frame, s->scratch,
                                         robot ? s->scratch + 3 * n : NULL, error);
    if (status != ZW_OK) {
        return status;
    }
    printf("\nJacobian of %s: its velocity%s for unit speeds\n", it->name,
           robot ? " and spin" : "");
    printf("  %-*s %11s %11s %11s", width, "", "x", "y", "z");
    printf(robot ? " %11s %11s %11s\n" : "\n", "spin x", "spin y", "spin z");
    for (int i = 0; i < n; i++) {
        double column[6], size = 0;
        for (int k = 0; k < 6; k++) {
            column[k] = k < 3 || robot ? s->scratch[k * n + i] : 0;
            size += fabs(column[k]);
        }
        if (size > 0) {
            printf("  %-*s", width, zw_name(s->world->system, ZW_KIND_SPEED, i));
            show_vector(column, it->motion.dimension);
            if (robot) {
                show_vector(column + 3, 3);
            }
            printf("\n");
            moved++;
        }
    }
    if (moved < n) {
        printf("  %d other speed%s not move it\n", n - moved, n - moved == 1 ? " does" : "s do");
    }
    return ZW_OK;
}

static zw_status show_mass(const look_at *s, int width, zw_error *error)
{
    int n = s->n;
    zw_status status = zw_mass(s->probe, s->world->state, s->scratch, error);
    if (status != ZW_OK || n == 0) {
        return status;
    }
    cli_head(stdout, "Mass matrix M");
    if (n > SHOWN && !s->arguments->all) {
        printf("  %d x %d with %d entries in its lower triangle; --all or --json shows them\n", n,
               n, zw_mass_pattern_of(s->probe).entries);
        return ZW_OK;
    }
    for (int i = 0; i < n; i++) {
        printf("  %-*s", width, zw_name(s->world->system, ZW_KIND_SPEED, i));
        show_vector(s->scratch + (size_t)i * (size_t)n, n);
        printf("\n");
    }
    return ZW_OK;
}

static zw_status show_forces(const look_at *s, int width, zw_error *error)
{
    int n = s->n, columns = 0, shown = s->arguments->all || n <= SHOWN + 1 ? n : SHOWN;
    double *table = calloc(FORCES * (size_t)n + 1, sizeof *table);
    zw_status status = table ? ZW_OK : ZW_NO_MEMORY;
    if (!table) {
        return status;
    }
    cli_head(stdout, "Forces on the speeds");
    printf("  %-*s", width, "");
    for (int k = 0; k < FORCES && status == ZW_OK; k++) {
        if (has_force(s, k)) {
            printf(" %11s", forces[k].word);
            status = zw_force_look(s->probe, s->world->state, forces[k].kind,
                                   table + (size_t)columns++ * (size_t)n, error);
        }
    }
    printf("\n");
    for (int i = 0; i < shown && status == ZW_OK; i++) {
        double row[FORCES];
        for (int k = 0; k < columns; k++) {
            row[k] = table[(size_t)k * (size_t)n + (size_t)i];
        }
        printf("  %-*s", width, zw_name(s->world->system, ZW_KIND_SPEED, i));
        show_vector(row, columns);
        printf("\n");
    }
    if (shown < n) {
        printf("  and %d more; --all shows them\n", n - shown);
    }
    free(table);
    return status;
}

static zw_status show_momentum(const look_at *s, zw_error *error)
{
    zw_momentum all;
    if (!is_robot(s)) {
        return ZW_OK;
    }
    zw_status status = zw_momentum_look(s->probe, s->world->state, 0, &all, error);
    cli_head(stdout, "All together");
    printf("  mass %.6g\n  centre of mass  ", all.mass);
    show_vector(all.com, 3);
    printf("\n  its velocity    ");
    show_vector(all.velocity, 3);
    printf("\n  angular momentum");
    show_vector(all.spin, 3);
    printf("   about it\n");
    return status;
}

static zw_status show(const look_at *s, zw_error *error)
{
    int width = name_width(s);
    printf("%s at t = %.9g\n", s->arguments->file,
           zw_field(s->world->system, s->world->state, s->world->work, ZW_FIELD_TIME).data[0]);
    show_frames(s, width);
    zw_status status = ZW_OK;
    for (int i = 0; i < s->arguments->frame_count && status == ZW_OK; i++) {
        status = show_jacobian(s, &s->list[i], width, error);
    }
    status = status != ZW_OK ? status : show_mass(s, width, error);
    status = status != ZW_OK ? status : show_forces(s, width, error);
    return status != ZW_OK ? status : show_momentum(s, error);
}

/* ---- JSON output ----------------------------------------------------------------------------- */

static void put_numbers(cli_json *json, const char *key, const double *x, int count)
{
    cli_json_open(json, key, '[');
    for (int i = 0; i < count; i++) {
        cli_json_number(json, NULL, x[i]);
    }
    cli_json_close(json, ']');
}

static void put_matrix(cli_json *json, const char *key, const double *x, int rows, int columns)
{
    cli_json_open(json, key, '[');
    for (int r = 0; r < rows; r++) {
        put_numbers(json, NULL, x + (size_t)r * (size_t)columns, columns);
    }
    cli_json_close(json, ']');
}

static zw_status put_frame(const look_at *s, cli_json *json, const seen *it, zw_error *error)
{
    const zw_frame_motion *m = &it->motion;
    int robot = is_robot(s), n = s->n;
    zw_status status = zw_frame_jacobian(s->probe, s->world->state, &it->frame, s->scratch,
                                         robot ? s->scratch + 3 * n : NULL, error);
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", it->name);
    put_numbers(json, "position", m->pos, m->dimension);
    put_numbers(json, "velocity", m->velocity, m->dimension);
    put_numbers(json, "acceleration", m->acceleration, m->dimension);
    put_matrix(json, "jacobian", s->scratch, m->dimension, n);
    if (robot) {
        put_numbers(json, "quaternion", m->quat, 4);
        put_numbers(json, "spin", m->spin, 3);
        put_numbers(json, "spin_rate", m->spin_rate, 3);
        put_matrix(json, "jacobian_rotation", s->scratch + 3 * n, 3, n);
    }
    cli_json_close(json, '}');
    return status;
}

static zw_status put(const look_at *s, zw_error *error)
{
    cli_json json = {.to = stdout};
    zw_momentum all;
    zw_status status = ZW_OK;
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "file", s->arguments->file);
    cli_json_number(
        &json, "time",
        zw_field(s->world->system, s->world->state, s->world->work, ZW_FIELD_TIME).data[0]);
    cli_json_open(&json, "speeds", '[');
    for (int i = 0; i < s->n; i++) {
        cli_json_text(&json, NULL, zw_name(s->world->system, ZW_KIND_SPEED, i));
    }
    cli_json_close(&json, ']');
    cli_json_open(&json, "frames", '[');
    for (int i = 0; i < s->count && status == ZW_OK; i++) {
        status = put_frame(s, &json, &s->list[i], error);
    }
    cli_json_close(&json, ']');
    status = status != ZW_OK ? status : zw_mass(s->probe, s->world->state, s->scratch, error);
    put_matrix(&json, "mass_matrix", s->scratch, s->n, s->n);
    cli_json_open(&json, "forces", '{');
    for (int k = 0; k < FORCES && status == ZW_OK; k++) {
        if (has_force(s, k)) {
            status = zw_force_look(s->probe, s->world->state, forces[k].kind, s->scratch, error);
            put_numbers(&json, forces[k].word, s->scratch, s->n);
        }
    }
    cli_json_close(&json, '}');
    if (is_robot(s) && zw_momentum_look(s->probe, s->world->state, 0, &all, error) == ZW_OK) {
        cli_json_number(&json, "mass", all.mass);
        put_numbers(&json, "centre_of_mass", all.com, 3);
        put_numbers(&json, "momentum", all.momentum, 3);
        put_numbers(&json, "angular_momentum", all.spin, 3);
    }
    cli_json_close(&json, '}');
    printf("\n");
    return status;
}

int cli_look(const cli_arguments *arguments)
{
    cli_world world;
    zw_error error = {0};
    look_at s = {.arguments = arguments, .world = &world};
    int code = cli_load(arguments, &world, &error);
    if (code == CLI_OK) {
        zw_status status = cli_go_there(arguments, &world, &error);
        status = status != ZW_OK ? status
                                 : zw_forward(world.system, world.state, world.work, NULL, &error);
        s.n = zw_count(world.system, ZW_KIND_SPEED);
        s.probe = status == ZW_OK ? zw_probe_create(world.model, world.system, &error) : NULL;
        status = status != ZW_OK ? status : s.probe ? gather(&s, &error) : ZW_NO_MEMORY;
        if (status == ZW_OK) {
            status = arguments->json ? put(&s, &error) : show(&s, &error);
        }
        code = status == ZW_BAD_INPUT ? CLI_USAGE : cli_code_of(status);
        error.status = error.status ? error.status : status;
    }
    if (code != CLI_OK) {
        cli_show_error(&error);
    }
    free(s.list);
    free(s.scratch);
    zw_probe_free(s.probe);
    cli_unload(&world);
    return code;
}
