/* zwang certify: is a recorded path a motion of the system? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* There are several passes over the path; the bar must not go back. */
static int poll(void *user, double time)
{
    double *furthest = user;
    *furthest = fmax(*furthest, time);
    cli_progress_show(*furthest);
    return cli_interrupted();
}

/* ---- The metric ----------------------------------------------------------------------------- */

static int complain(const char *what, const char *which)
{
    fprintf(stderr, "zwang: --metric %s%s\n", what, which);
    return CLI_USAGE;
}

/* x also stands for x[1], x[2], ... Returns the number of coordinates. */
static int put_weight(const zw_system *system, const char *name, double value, double *metric)
{
    int n = zw_count(system, ZW_KIND_COORD), found = 0;
    size_t length = strlen(name);
    for (int i = 0; i < n; i++) {
        const char *coord = zw_name(system, ZW_KIND_COORD, i);
        if (!strncmp(coord, name, length) && (!coord[length] || coord[length] == '[')) {
            metric[(size_t)i * (size_t)n + (size_t)i] = value;
            found++;
        }
    }
    return found;
}

/* The end of an item of a list; x[1,2] has its own comma. */
static char *item_end(char *at)
{
    for (int depth = 0; *at && (depth > 0 || *at != ','); at++) {
        depth += (*at == '[') - (*at == ']');
    }
    return at;
}

/* "x=1,y=5" onto the diagonal. The text is modified. */
static int read_weights(const zw_system *system, char *text, double *metric)
{
    int n = zw_count(system, ZW_KIND_COORD);
    for (char *at = text, *end; *at; at = end) {
        at += strspn(at, " ");
        char *equals = strchr(at, '=');
        double value;
        end = item_end(at);
        end = *end ? (*end = 0, end + 1) : end;
        if (!equals || equals == at || equals >= end || !zw_number(equals + 1, &value)) {
            return complain("takes identity or x=1,y=5, not ", at);
        }
        *equals = 0;
        if (!(value > 0)) {
            return complain("must be positive, for ", at);
        }
        if (put_weight(system, at, value, metric) == 0) {
            return complain("names an unknown coordinate: ", at);
        }
    }
    for (int i = 0; i < n; i++) {
        if (metric[(size_t)i * (size_t)n + (size_t)i] == 0) {
            return complain("says nothing about ", zw_name(system, ZW_KIND_COORD, i));
        }
    }
    return CLI_OK;
}

/* Fills *metric, which the caller frees; NULL: the mass matrix. */
static int read_metric(const cli_arguments *arguments, const zw_system *system, double **metric)
{
    int code = CLI_OK;
    if (!arguments->metric) {
        return CLI_OK;
    }
    size_t n = (size_t)zw_count(system, ZW_KIND_COORD), length = strlen(arguments->metric) + 1;
    char *text = malloc(length);
    *metric = calloc(n * n + 1, sizeof **metric);
    if (!text || !*metric) {
        code = complain("does not fit into memory", "");
    } else if (!strcmp(arguments->metric, "identity")) {
        for (size_t i = 0; i < n; i++) {
            (*metric)[i * n + i] = 1;
        }
    } else {
        memcpy(text, arguments->metric, length);
        code = read_weights(system, text, *metric);
    }
    free(text);
    return code;
}

/* ---- Results --------------------------------------------------------------------------------- */

typedef struct finding {
    const cli_arguments *arguments;
    const zw_system *system;
    zw_path_about about;
    const zw_trial *trial;
    const zw_trial_report *report;
} finding;

static void show_recording(FILE *to, const finding *f)
{
    static const char *const speeds[] = {"speeds of some coordinates only, not used",
                                         "without speeds", "with speeds"};
    enum { SHOWN = 100 };
    const zw_path_about *about = &f->about;
    cli_label(to, "recording");
    fprintf(to, "%s: ", f->arguments->recording);
    cli_show_count(to, about->samples, "sample", "samples");
    fprintf(to, ", t = %.9g to %.9g, %s", about->start, about->end, speeds[about->speeds + 1]);
    if (f->report->pieces > 1) {
        fprintf(to, ", in %d pieces", f->report->pieces);
    }
    fputc('\n', to);
    if (f->report->speeds < 0) {
        cli_label(to, "");
        fprintf(to, "the recorded speeds are not the derivatives of the positions\n");
    }
    if (about->ignored > 0) {
        const char *names = about->ignored_as;
        size_t length = strlen(names);
        for (length = length > SHOWN ? SHOWN : length; names[length] && length > 0; length--) {
            if (!strncmp(names + length, ", ", 2)) {
                break;
            }
        }
        length = length > 0 || !names[0] ? length : SHOWN;
        while (((unsigned char)names[length] & 0xc0) == 0x80) {
            length--; /* do not cut within a character */
        }
        cli_label(to, "ignored");
        cli_show_count(to, about->ignored, "column", "columns");
        fprintf(to, ": %.*s%s\n", (int)length, names, strlen(names) > length ? ", ..." : "");
    }
}

static void show_fit(FILE *to, const finding *f)
{
    const zw_trial_report *r = f->report;
    cli_label(to, "fit");
    fprintf(to, "degree %d over %d samples, noise %.2g %s\n", r->fit_degree, r->fit_window,
            r->noise, f->arguments->noise > 0 ? "as given" : "as found");
    cli_label(to, "");
    fprintf(to, "error %.2g of positions, %.2g of speeds, %.2g of accelerations\n",
            r->error_position, r->error_speed, r->error_acceleration);
}

/* Both sides of Kozlov (2000), eq. (6): the value, and the bound that holds for all variations. */
static void show_mean(FILE *to, const finding *f)
{
    const zw_trial_report *r = f->report;
    if (r->violation_constraint >= 0) {
        cli_label(to, "violation");
        fprintf(to, "%.2g position, %.2g velocity, most of %s at t = %.9g\n", r->violation_position,
                r->violation_velocity,
                zw_name(f->system, ZW_KIND_CONSTRAINT, r->violation_constraint), r->violation_time);
    }
    cli_label(to, "inequality");
    fprintf(to, "mean |R|^2 = %.9g, at least %.9g for all variations\n", r->mean, r->mean_least);
    cli_label(to, "defect");
    fprintf(to, "%.3g, of which the fit explains %.3g\n", r->defect, r->defect_error);
    if (r->worst_coord >= 0) {
        cli_label(to, "worst");
        fprintf(to, "t = %.9g: %.6g on %s; |extra| %.3g, the fit's error %.2g\n", r->worst_time,
                r->worst_force, zw_name(f->system, ZW_KIND_COORD, r->worst_coord), r->worst,
                r->worst_error);
    }
    cli_label(to, "energy");
    fprintf(to, "change %.9g, work %.9g, difference at most %.2g\n", r->energy_change,
            r->energy_work, r->energy_defect);
}

/* One sentence, printed last. */
static void show_verdict(FILE *to, const finding *f)
{
    const zw_trial_report *r = f->report;
    const char *coord =
        r->worst_coord >= 0 ? zw_name(f->system, ZW_KIND_COORD, r->worst_coord) : "?";
    switch (r->verdict) {
    case ZW_VERDICT_MOTION:
        fprintf(to, "a motion of this system (defect %.2g, fit's own error %.2g)\n", r->defect,
                r->defect_error);
        break;
    case ZW_VERDICT_NOT_MOTION:
        if (r->speeds < 0 && !(r->worst > 3 * r->worst_error)) {
            fprintf(to,
                    "NOT a motion: at t = %.6g the recorded speed of %s is not the derivative of "
                    "its position\n",
                    r->worst_time, coord);
            break;
        }
        fprintf(to, "NOT a motion: at t = %.6g %s would need an extra force of %.4g", r->worst_time,
                coord, r->worst_force);
        if (r->worst_error > 0 && isfinite(r->worst_error)) {
            fprintf(to, " (%.3g times the fit's error)", r->worst / r->worst_error);
        }
        fputc('\n', to);
        break;
    case ZW_VERDICT_OFF:
        fprintf(to, "NOT a motion: at t = %.6g it leaves the constraint %s by %.3g",
                r->violation_time,
                r->violation_constraint >= 0
                    ? zw_name(f->system, ZW_KIND_CONSTRAINT, r->violation_constraint)
                    : "?",
                r->violation_position);
        fprintf(to, ", its speed by %.3g\n", r->violation_velocity);
        break;
    default:
        fprintf(to,
                "undecided: the recording is too coarse or too noisy (the fit's error of "
                "accelerations is %.2g)\n",
                r->error_acceleration);
    }
}

/* What the verdict takes for granted. */
static void show_assumed(FILE *to, const finding *f)
{
    const zw_trial_report *r = f->report;
    if (r->strikes > 0) {
        cli_label(to, "");
        fputs("assumed: ", to);
        cli_show_count(to, r->strikes, "jump", "jumps");
        fputs(" of speed as impulses of contacts, whose restitution and friction are not checked\n",
              to);
    }
    if (r->resets > 0) {
        cli_label(to, "");
        fputs("assumed: ", to);
        cli_show_count(to, r->resets, "jump", "jumps");
        fputs(" as those of events that set something; not checked\n", to);
    }
    if (r->gaps > 0) {
        cli_label(to, "");
        fputs("assumed: nothing about what happened in ", to);
        cli_show_count(to, r->gaps, "gap", "gaps");
        fputs(" between samples\n", to);
    }
    if (r->shapes) {
        cli_label(to, "");
        fputs(
            "assumed: no contact of shapes: where bodies touch, its forces count as extra forces\n",
            to);
    }
}

static int code_of(zw_verdict verdict)
{
    return verdict == ZW_VERDICT_MOTION   ? CLI_OK
           : verdict == ZW_VERDICT_COARSE ? CLI_FAILED
                                          : CLI_NO_MOTION;
}

/* ---- For programs --------------------------------------------------------------------------- */

static void put_fit(cli_json *json, const zw_trial_report *r)
{
    cli_json_open(json, "fit", '{');
    cli_json_int(json, "degree", r->fit_degree);
    cli_json_int(json, "window", r->fit_window);
    cli_json_number(json, "noise", r->noise);
    cli_json_number(json, "error_position", r->error_position);
    cli_json_number(json, "error_speed", r->error_speed);
    cli_json_number(json, "error_acceleration", r->error_acceleration);
    cli_json_close(json, '}');
}

static void put_moments(cli_json *json, const finding *f)
{
    const zw_trial_report *r = f->report;
    cli_json_open(json, "violation", '{');
    cli_json_number(json, "position", r->violation_position);
    cli_json_number(json, "velocity", r->violation_velocity);
    cli_json_text(json, "constraint",
                  r->violation_constraint >= 0
                      ? zw_name(f->system, ZW_KIND_CONSTRAINT, r->violation_constraint)
                      : "");
    cli_json_number(json, "time", r->violation_time);
    cli_json_close(json, '}');
    cli_json_open(json, "worst", '{');
    cli_json_number(json, "time", r->worst_time);
    cli_json_number(json, "size", r->worst);
    cli_json_number(json, "error", r->worst_error);
    cli_json_text(json, "coordinate",
                  r->worst_coord >= 0 ? zw_name(f->system, ZW_KIND_COORD, r->worst_coord) : "");
    cli_json_number(json, "force", r->worst_force);
    cli_json_close(json, '}');
    cli_json_open(json, "energy", '{');
    cli_json_number(json, "change", r->energy_change);
    cli_json_number(json, "work", r->energy_work);
    cli_json_number(json, "difference", r->energy_defect);
    cli_json_close(json, '}');
}

static void show_json(const finding *f)
{
    static const char *const verdict[] = {"motion", "not a motion", "off", "coarse"};
    const zw_trial_report *r = f->report;
    cli_json json = {.to = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "zwang", zw_version());
    cli_json_text(&json, "file", f->arguments->file);
    cli_json_bool(&json, "ok", 1);
    cli_json_text(&json, "recording", f->arguments->recording);
    cli_json_text(&json, "verdict", verdict[r->verdict]);
    cli_json_int(&json, "samples", f->about.samples);
    cli_json_int(&json, "pieces", r->pieces);
    cli_json_number(&json, "start", f->about.start);
    cli_json_number(&json, "end", f->about.end);
    cli_json_bool(&json, "speeds", f->about.speeds == 1);
    cli_json_bool(&json, "speeds_agree", r->speeds >= 0);
    cli_json_text(&json, "ignored", f->about.ignored_as);
    put_fit(&json, r);
    cli_json_number(&json, "mean", r->mean);
    cli_json_number(&json, "mean_least", r->mean_least);
    cli_json_number(&json, "defect", r->defect);
    cli_json_number(&json, "defect_error", r->defect_error);
    put_moments(&json, f);
    cli_json_open(&json, "assumed", '{');
    cli_json_int(&json, "strikes", r->strikes);
    cli_json_int(&json, "resets", r->resets);
    cli_json_int(&json, "gaps", r->gaps);
    cli_json_bool(&json, "no_contact_of_shapes", r->shapes);
    cli_json_close(&json, '}');
    cli_json_close(&json, '}');
}

/* ---- The command ---------------------------------------------------------------------------- */

static zw_status write_trial(void *user, const char *path, int piped, zw_error *error)
{
    (void)piped;
    return zw_trial_write(user, path, error);
}

static int print_finding(const finding *f, double wall)
{
    const cli_arguments *arguments = f->arguments;
    FILE *talk = cli_outputs_use_stdout(arguments) ? stderr : stdout;
    int code = code_of(f->report->verdict), text = !arguments->quiet && !arguments->json;
    if (text) {
        show_recording(talk, f);
        show_fit(talk, f);
        show_mean(talk, f);
        cli_label(talk, "time");
        cli_show_time(talk, wall);
        fputc('\n', talk);
    }
    cli_arguments silent = *arguments;
    silent.quiet |= arguments->json;
    int written = cli_outputs_write(&silent, write_trial, (void *)f->trial, "", talk);
    if (arguments->json) {
        show_json(f);
    } else if (text || code != CLI_OK) {
        fflush(stdout);
        if (text) {
            cli_label(talk, "verdict");
        } else {
            fprintf(stderr, "zwang: %s: ", arguments->recording);
        }
        show_verdict(text ? talk : stderr, f);
        if (text) {
            show_assumed(talk, f);
        }
    }
    return written != CLI_OK ? written : code;
}

/* Certifies the path that was read. */
static int certify_path(const cli_arguments *arguments, const zw_system *system,
                        const zw_path *path, const double *metric)
{
    zw_error error = {0};
    finding f = {.arguments = arguments, .system = system, .about = zw_path_look(path)};
    double furthest = f.about.start;
    zw_certify_options options = {
        .noise = arguments->noise, .metric = metric, .poll = poll, .user = &furthest};
    cli_catch_interrupt();
    cli_progress_start(f.about.start, f.about.end);
    double start = cli_clock();
    zw_trial *trial = zw_path_certify(system, path, &options, &error);
    double wall = cli_clock() - start;
    cli_progress_end();
    int code;
    if (cli_interrupted()) {
        fprintf(stderr, "zwang: interrupted; nothing was written\n");
        code = CLI_INTERRUPTED;
    } else if (!trial) {
        code = cli_fail(arguments, &error, cli_code_of(error.status));
    } else {
        f.trial = trial;
        f.report = zw_trial_look(trial);
        code = print_finding(&f, wall);
    }
    zw_trial_free(trial);
    return code;
}

int cli_certify(const cli_arguments *arguments)
{
    cli_world world;
    zw_error error = {0};
    double *metric = NULL;
    zw_path *path = NULL;
    if (arguments->json && cli_outputs_use_stdout(arguments)) {
        fprintf(stderr, "zwang: --json and -o - cannot both have the standard output\n");
        return CLI_USAGE;
    }
    int code = cli_load_system(arguments, &world, &error);
    if (code != CLI_OK) {
        return cli_fail(arguments, &error, code);
    }
    code = read_metric(arguments, world.system, &metric);
    code = code ? code : cli_outputs_possible(arguments);
    if (code == CLI_OK) {
        path = cli_read_path(arguments, world.system, arguments->recording, 0, &code);
    }
    if (path) {
        code = certify_path(arguments, world.system, path, metric);
    }
    zw_path_free(path);
    free(metric);
    cli_unload(&world);
    return code;
}
