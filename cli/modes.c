/* zwang rest and zwang modes: equilibria, and small motions about them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { SHOWN = 24 };

static const char *stability_text(zw_stability stability)
{
    return stability == ZW_STABLE    ? "stable: all modes decay"
           : stability == ZW_NEUTRAL ? "neutral: no mode grows, some do not decay"
                                     : "unstable";
}

static const char *stability_word(zw_stability stability)
{
    return stability == ZW_STABLE ? "stable" : stability == ZW_NEUTRAL ? "neutral" : "unstable";
}

static int is_still(const cli_world *world)
{
    zw_view v = zw_field(world->system, world->state, world->work, ZW_FIELD_V);
    int still = 1;
    for (int i = 0; i < v.count; i++) {
        still &= v.data[i] == 0;
    }
    return still;
}

/* ---- Text output ----------------------------------------------------------------------------- */

static void show_place(const cli_arguments *arguments, const cli_world *world)
{
    zw_view q = zw_field(world->system, world->state, world->work, ZW_FIELD_Q);
    int shown = arguments->all || q.count <= SHOWN + 1 ? q.count : SHOWN;
    cli_head(stdout, "Coordinates");
    for (int i = 0; i < shown; i++) {
        printf("  %-20s %.12g\n", zw_name(world->system, ZW_KIND_COORD, i),
               cli_tidy(q.data[i], 1e4));
    }
    if (shown < q.count) {
        printf("  and %d more; --all shows them\n", q.count - shown);
    }
}

static void show_rest(const zw_rest_report *report)
{
    cli_label(stdout, "rest");
    printf("after %d step%s, accelerations of %.2g are left; moved by %.6g\n", report->iterations,
           report->iterations == 1 ? "" : "s", report->acceleration, report->moved);
}

/* The largest components, with their phases. */
static void show_shape(const zw_system *system, const double *shape)
{
    enum { PARTS = 4 };
    int n = zw_count(system, ZW_KIND_SPEED), said = 0;
    double below = INFINITY;
    for (int k = 0; k < n && said < PARTS; k++) {
        double most = 0;
        int best = -1;
        for (int i = 0; i < n; i++) {
            double size = hypot(shape[2 * i], shape[2 * i + 1]);
            if (size > most && size < below) {
                most = size;
                best = i;
            }
        }
        if (best < 0 || most < 1e-3) {
            break;
        }
        below = most;
        for (int i = best; i < n && said < PARTS; i++) { /* all of equal size */
            double size = hypot(shape[2 * i], shape[2 * i + 1]);
            if (size == most) {
                double im = fabs(shape[2 * i + 1]) > 1e-9 ? shape[2 * i + 1] : 0;
                printf("%s%s %.4g", said++ ? ", " : "", zw_name(system, ZW_KIND_SPEED, i),
                       fabs(shape[2 * i]) > 1e-9 ? shape[2 * i] : 0);
                if (im != 0) {
                    printf("%+.4gi", im);
                }
            }
        }
    }
}

static void show_frozen(const cli_world *world, const zw_modes *modes)
{
    if (zw_modes_frozen(modes)) {
        cli_label(stdout, "note");
        printf("forces or constraints depend on time: taken as they are at t = %.9g, as if they "
               "stayed so\n",
               zw_field(world->system, world->state, world->work, ZW_FIELD_TIME).data[0]);
    }
}

static void show_modes(const cli_arguments *arguments, const cli_world *world,
                       const zw_modes *modes, double period)
{
    int count = zw_modes_count(modes), shown = arguments->all || count <= SHOWN + 1 ? count : SHOWN;
    cli_label(stdout, "stability");
    printf("%s\n", stability_text(zw_modes_stability(modes)));
    show_frozen(world, modes);
    double unsteady = zw_modes_unsteady(modes);
    if (unsteady > 1e-8) {
        cli_label(stdout, "note");
        printf("%s by %.2g: these modes hold for this instant only\n",
               period > 0 ? "after the period the motion has not returned to its start"
                          : "the motion is not steady",
               unsteady);
    }
    cli_head(stdout, "Modes");
    printf("  %12s %12s %12s %10s   shape\n", "growth 1/s", "frequency", "in Hz", "damping");
    for (int k = 0; k < shown; k++) {
        zw_mode mode = zw_modes_look(modes, k);
        printf("  %12.6g %12.6g %12.6g %10.4g   ", cli_tidy(mode.growth, 1e3),
               cli_tidy(mode.frequency, 1e3), cli_tidy(mode.frequency, 1e3) / (2 * acos(-1)),
               cli_tidy(mode.damping, 1e3));
        show_shape(world->system, zw_modes_shape(modes, k));
        printf("\n");
    }
    if (shown < count) {
        printf("  and %d more; --all shows them\n", count - shown);
    }
}

/* ---- JSON output ----------------------------------------------------------------------------- */

static void put_modes(cli_json *json, const cli_world *world, const zw_modes *modes)
{
    int n = zw_count(world->system, ZW_KIND_SPEED);
    cli_json_text(json, "stability", stability_word(zw_modes_stability(modes)));
    cli_json_number(json, "unsteady", zw_modes_unsteady(modes));
    cli_json_bool(json, "frozen", zw_modes_frozen(modes));
    cli_json_open(json, "speeds", '[');
    for (int i = 0; i < n; i++) {
        cli_json_text(json, NULL, zw_name(world->system, ZW_KIND_SPEED, i));
    }
    cli_json_close(json, ']');
    cli_json_open(json, "modes", '[');
    for (int k = 0; k < zw_modes_count(modes); k++) {
        zw_mode mode = zw_modes_look(modes, k);
        const double *shape = zw_modes_shape(modes, k);
        cli_json_open(json, NULL, '{');
        cli_json_number(json, "growth", mode.growth);
        cli_json_number(json, "frequency", mode.frequency);
        cli_json_number(json, "damping", mode.damping);
        cli_json_open(json, "multiplier", '[');
        cli_json_number(json, NULL, mode.multiplier[0]);
        cli_json_number(json, NULL, mode.multiplier[1]);
        cli_json_close(json, ']');
        for (int part = 0; part < 2; part++) {
            cli_json_open(json, part ? "shape_imaginary" : "shape", '[');
            for (int i = 0; i < n; i++) {
                cli_json_number(json, NULL, shape[2 * i + part]);
            }
            cli_json_close(json, ']');
        }
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void put(const cli_arguments *arguments, const cli_world *world, const zw_rest_report *rest,
                const zw_modes *modes)
{
    cli_json json = {.to = stdout};
    zw_view q = zw_field(world->system, world->state, world->work, ZW_FIELD_Q);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "zwang", zw_version());
    cli_json_text(&json, "file", arguments->file);
    cli_json_bool(&json, "ok", 1);
    cli_json_open(&json, "coordinates", '{');
    for (int i = 0; i < q.count; i++) {
        cli_json_number(&json, zw_name(world->system, ZW_KIND_COORD, i), q.data[i]);
    }
    cli_json_close(&json, '}');
    if (rest) {
        cli_json_int(&json, "iterations", rest->iterations);
        cli_json_number(&json, "acceleration", rest->acceleration);
        cli_json_number(&json, "moved", rest->moved);
    }
    put_modes(&json, world, modes);
    cli_json_close(&json, '}');
    printf("\n");
}

/* ---- Animation ------------------------------------------------------------------------------- */

enum { SECONDS = 4, PER_SECOND = 25, CYCLES = 2, MOVED = 12 };
static const double swing = 0.2; /* amplitude of the largest coordinate: m or rad */

static zw_status write_picture(void *user, const char *path, int piped, zw_error *error)
{
    zw_record *record = user;
    zw_record_plain(record, piped);
    return zw_record_write(record, NULL, path, error);
}

/* All modes, one after another, as samples of a motion that oscillates in each for a while. */
static zw_status move_all(const cli_world *world, const zw_modes *modes, zw_record *record,
                          zw_error *error)
{
    const double turn = 2 * acos(-1);
    int count = zw_modes_count(modes) < MOVED ? zw_modes_count(modes) : MOVED;
    zw_state *state = NULL;
    zw_status status = zw_state_copy(world->state, &state, error);
    for (int k = 0; k < count * SECONDS * PER_SECOND && status == ZW_OK; k++) {
        int mode = k / (SECONDS * PER_SECOND), i = k % (SECONDS * PER_SECOND);
        double phase = turn * CYCLES * i / (SECONDS * PER_SECOND), t = (double)k / PER_SECOND;
        double size = swing * sin(phase / (2 * CYCLES)); /* begins and ends at the equilibrium */
        status = zw_modes_move(modes, mode, size, phase, world->state, state, world->work, error);
        if (status == ZW_OK) {
            status =
                zw_state_set(world->system, state, world->work, ZW_FIELD_TIME, 0, 1, &t, error);
        }
        if (status == ZW_OK) {
            zw_forward(world->system, state, world->work, NULL, NULL);
            int kind = k == 0 ? ZW_SAMPLE_START : ZW_SAMPLE_OUTPUT;
            zw_record_observe(record, (zw_sample_kind)kind, -1, world->system, state, world->work);
        }
    }
    zw_state_free(state);
    return status;
}

static zw_status show_pictures(const cli_arguments *arguments, const cli_world *world,
                               const zw_modes *modes, zw_error *error)
{
    if (arguments->output_count == 0) {
        return ZW_OK;
    }
    zw_record *record = zw_record_create(world->system, error);
    zw_status status = record ? move_all(world, modes, record, error) : ZW_NO_MEMORY;
    cli_arguments silent = *arguments;
    silent.quiet |= arguments->json;
    if (status == ZW_OK &&
        cli_outputs_write(&silent, write_picture, record, "", stdout) != CLI_OK) {
        status = ZW_NO_FILE;
    }
    zw_record_free(record);
    return status;
}

/* ---- The commands --------------------------------------------------------------------------- */

/* At an equilibrium if `rests`, else at the present state. */
static zw_status look(const cli_arguments *arguments, cli_world *world, int rests, int with_place,
                      zw_error *error)
{
    zw_rest_report rest = {0};
    double period = arguments->period;
    zw_status status = ZW_OK;
    if (rests) {
        status =
            zw_rest(world->model, world->system, world->state, world->work, NULL, &rest, error);
    }
    zw_modes *modes =
        status == ZW_OK ? zw_modes_create(world->model, world->system, world->state, period, error)
                        : NULL;
    if (!modes) {
        return status != ZW_OK ? status : error->status;
    }
    if (arguments->json) {
        put(arguments, world, rests ? &rest : NULL, modes);
    } else {
        if (rests) {
            show_rest(&rest);
        } else {
            cli_label(stdout, period > 0 ? "period" : "motion");
            printf(period > 0 ? "of %.9g, from the start\n"
                              : "along the motion as it is at t = %.9g\n",
                   period > 0
                       ? period
                       : zw_field(world->system, world->state, world->work, ZW_FIELD_TIME).data[0]);
        }
        if (with_place) {
            show_place(arguments, world);
            printf("\n");
            cli_label(stdout, "stability");
            printf("%s\n", stability_text(zw_modes_stability(modes)));
            show_frozen(world, modes);
        } else {
            show_modes(arguments, world, modes, period);
        }
    }
    status = show_pictures(arguments, world, modes, error);
    zw_modes_free(modes);
    return status;
}

static int command(const cli_arguments *arguments, int is_rest)
{
    cli_world world;
    zw_error error = {0};
    int possible = cli_outputs_possible(arguments);
    if (possible != CLI_OK) {
        return possible;
    }
    int code = cli_load(arguments, &world, &error);
    if (code == CLI_OK) {
        zw_status status = cli_go_there(arguments, &world, &error);
        int rests = is_rest || (arguments->period == 0 && arguments->at == 0 && is_still(&world));
        status = status == ZW_OK ? look(arguments, &world, rests, is_rest, &error) : status;
        code = cli_code_of(status);
        error.status = error.status ? error.status : status;
    }
    if (code != CLI_OK) {
        if (arguments->json) {
            cli_explain_json_error(arguments, &error);
        }
        cli_show_error(&error);
    }
    cli_unload(&world);
    return code;
}

int cli_rest(const cli_arguments *arguments)
{
    return command(arguments, 1);
}

int cli_modes(const cli_arguments *arguments)
{
    return command(arguments, 0);
}
