/* zwang inverse: which forces produce a recorded motion? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct finding {
    const cli_arguments *arguments;
    const zw_system *system;
    zw_path_about about;
    zw_inverse_path *table;
    zw_inverse_report report;
} finding;

/* ---- What is driven ------------------------------------------------------------------------- */

/* --drive NAME, or all: speeds into drive[n]; returns their number, -1: no such speed. */
static int read_drives(const cli_arguments *arguments, const zw_system *system, int *drive)
{
    int n = zw_count(system, ZW_KIND_SPEED), count = 0;
    for (int k = 0; k < arguments->frame_count; k++) {
        const char *name = arguments->frame[k];
        int all = !strcmp(name, "all"), found = 0;
        for (int i = 0; i < n; i++) {
            const char *speed = zw_name(system, ZW_KIND_SPEED, i);
            size_t length = strlen(name);
            int bare = !strncmp(name, speed, length) && !strcmp(speed + length, "'");
            if (all || bare || !strcmp(name, speed)) {
                int twice = 0;
                for (int j = 0; j < count; j++) {
                    twice |= drive[j] == i;
                }
                drive[count] = i;
                count += !twice;
                found = 1;
            }
        }
        if (!found) {
            fprintf(stderr, "zwang: --drive %s: there is no such speed; there are", name);
            for (int i = 0; i < n && i < 12; i++) {
                fprintf(stderr, "%s %s", i ? "," : "", zw_name(system, ZW_KIND_SPEED, i));
            }
            fprintf(stderr, n > 12 ? ", ...\n" : "\n");
            return -1;
        }
    }
    return count;
}

/* ---- Text output ----------------------------------------------------------------------------- */

typedef struct spread {
    double least, most, mean_square;
} spread;

static spread spread_of(zw_view column)
{
    spread s = {INFINITY, -INFINITY, 0};
    int known = 0;
    for (int i = 0; i < column.count; i++) {
        double x = column.data[i];
        if (isfinite(x)) {
            s.least = fmin(s.least, x);
            s.most = fmax(s.most, x);
            s.mean_square += x * x;
            known++;
        }
    }
    s.mean_square = known > 0 ? sqrt(s.mean_square / known) : (double)NAN;
    return s;
}

/* The columns that begin with this word, one line each. */
static void show_table(FILE *to, const finding *f, const char *title, const char *word)
{
    enum { SHOWN = 24 };
    int shown = 0, count = 0;
    for (int k = 0; k < zw_inverse_columns(f->table); k++) {
        const char *name = zw_inverse_column_name(f->table, k);
        if (strncmp(name, word, strlen(word)) != 0) {
            continue;
        }
        spread s = spread_of(zw_inverse_column(f->table, k));
        if (s.least == 0 && s.most == 0) {
            continue; /* such as limits that are never reached */
        }
        if (count++ == 0) {
            cli_head(to, title);
            fprintf(to, "  %-28s %12s %12s %12s\n", "", "least", "most", "rms");
        }
        if (shown < SHOWN || f->arguments->all) {
            fprintf(to, "  %-28s %12.6g %12.6g %12.6g\n", name, s.least, s.most, s.mean_square);
            shown++;
        }
    }
    if (shown < count) {
        fprintf(to, "  and %d more; --all shows them\n", count - shown);
    }
}

static void show(FILE *to, const finding *f)
{
    const zw_inverse_report *r = &f->report;
    cli_label(to, "recording");
    fprintf(to, "%s: ", f->arguments->recording);
    cli_show_count(to, f->about.samples, "sample", "samples");
    fprintf(to, ", t = %.9g to %.9g, %s speeds\n", f->about.start, f->about.end,
            f->about.speeds == 1 ? "with" : "without");
    cli_label(to, "fit");
    fprintf(to, "error %.2g of accelerations", r->error_acceleration);
    if (r->unknown > 0) {
        fprintf(to, "; none at ");
        cli_show_count(to, r->unknown, "sample", "samples");
        fprintf(to, ", too few between two jumps of the motion (nan in the columns)");
    }
    fputc('\n', to);
    show_table(to, f, "Forces of the motors", "force(");
    show_table(to, f, "Driving forces", "drive(");
    show_table(to, f, "Constraints", "lambda(");
    show_table(to, f, "Residual: what no allowed force can produce", "residual(");
    fputc('\n', to);
    cli_label(to, "residual");
    fprintf(to, "%.3g in Gauss's measure, the fit's error being %.3g\n", r->residual, r->error);
    if (r->worst > 0) {
        cli_label(to, "worst");
        fprintf(to, "t = %.9g: %.3g\n", r->worst_time, r->worst);
    }
    if (r->choices > 0) {
        cli_label(to, "choice");
        fprintf(to, "the motion does not determine %d number%s: %s\n", r->choices,
                r->choices == 1 ? "" : "s",
                r->least ? "the smallest motor forces are used"
                         : "the smallest forces were not found at all samples");
    }
}

/* ---- JSON output ----------------------------------------------------------------------------- */

static void show_json(const finding *f)
{
    const zw_inverse_report *r = &f->report;
    cli_json json = {.to = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "zwang", zw_version());
    cli_json_text(&json, "file", f->arguments->file);
    cli_json_bool(&json, "ok", 1);
    cli_json_text(&json, "recording", f->arguments->recording);
    cli_json_int(&json, "samples", r->samples);
    cli_json_int(&json, "unknown", r->unknown);
    cli_json_number(&json, "residual", r->residual);
    cli_json_number(&json, "error", r->error);
    cli_json_number(&json, "worst", r->worst);
    cli_json_number(&json, "worst_time", r->worst_time);
    cli_json_number(&json, "off", r->off);
    cli_json_number(&json, "error_acceleration", r->error_acceleration);
    cli_json_int(&json, "choices", r->choices);
    cli_json_bool(&json, "least", r->least);
    cli_json_open(&json, "columns", '{');
    for (int k = 0; k < zw_inverse_columns(f->table); k++) {
        spread s = spread_of(zw_inverse_column(f->table, k));
        cli_json_open(&json, zw_inverse_column_name(f->table, k), '{');
        cli_json_number(&json, "least", s.least);
        cli_json_number(&json, "most", s.most);
        cli_json_number(&json, "rms", s.mean_square);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, '}');
    cli_json_close(&json, '}');
}

/* ---- The command ---------------------------------------------------------------------------- */

static zw_status write_table(void *user, const char *path, int piped, zw_error *error)
{
    (void)piped;
    return zw_inverse_write(user, path, error);
}

static int find(const cli_arguments *arguments, const cli_world *world, const zw_path *path,
                const zw_inverse_options *options)
{
    zw_error error = {0};
    finding f = {.arguments = arguments, .system = world->system, .about = zw_path_look(path)};
    FILE *talk = cli_outputs_use_stdout(arguments) ? stderr : stdout;
    f.table = zw_inverse_along(world->model, world->system, path, options, &error);
    if (!f.table) {
        return cli_fail(arguments, &error, cli_code_of(error.status));
    }
    f.report = zw_inverse_report_of(f.table);
    if (!arguments->quiet && !arguments->json) {
        show(talk, &f);
    }
    cli_arguments silent = *arguments;
    silent.quiet |= arguments->json;
    int code = cli_outputs_write(&silent, write_table, f.table, "", talk);
    if (arguments->json) {
        show_json(&f);
    }
    zw_inverse_path_free(f.table);
    return code;
}

int cli_inverse(const cli_arguments *arguments)
{
    cli_world world;
    zw_error error = {0};
    if (arguments->json && cli_outputs_use_stdout(arguments)) {
        fprintf(stderr, "zwang: --json and -o - cannot both have the standard output\n");
        return CLI_USAGE;
    }
    int code = cli_load_system(arguments, &world, &error);
    if (code != CLI_OK) {
        return cli_fail(arguments, &error, code);
    }
    int *drive = calloc((size_t)zw_count(world.system, ZW_KIND_SPEED) + 1, sizeof *drive);
    int drives = drive ? read_drives(arguments, world.system, drive) : -1;
    code = drives < 0 ? CLI_USAGE : cli_outputs_possible(arguments);
    zw_path *path = code == CLI_OK
                        ? cli_read_path(arguments, world.system, arguments->recording, 0, &code)
                        : NULL;
    if (path) {
        const zw_inverse_options options = {
            .drive = drive, .drive_count = drives, .noise = arguments->noise};
        code = find(arguments, &world, path, &options);
    }
    zw_path_free(path);
    free(drive);
    cli_unload(&world);
    return code;
}
