/* zwang fit: which parameters and initial values explain recordings? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { UNKNOWNS = 256, NAME = 200 };

typedef struct asked {
    zw_unknown unknown[UNKNOWNS];
    double low[UNKNOWNS], high[UNKNOWNS];
    int count;
    double *sigma; /* [2 n] */
    zw_path *path[1 + CLI_MORE];
    int paths;
    char number[UNKNOWNS][NAME]; /* for robots: names of numbers of the model */
    const char *number_list[UNKNOWNS];
    int numbers;
} asked;

/* ---- Words ---------------------------------------------------------------------------------- */

/* The coordinate named "x" or, with a mark after it, its speed: "x'". -1: none. */
static int find_coord(const zw_system *system, const char *text, size_t length, int *speed)
{
    char name[NAME];
    *speed = length > 1 && text[length - 1] == '\'';
    length -= (size_t)*speed;
    if (length >= sizeof name) {
        return -1;
    }
    memcpy(name, text, length);
    name[length] = 0;
    return zw_id(system, ZW_KIND_COORD, name);
}

/* The same, or for a robot the index of a speed. */
static int find_channel(const zw_system *system, const char *text, size_t length, int *speed)
{
    char name[NAME];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    int id = zw_count(system, ZW_KIND_BODY) > 0 ? zw_id(system, ZW_KIND_SPEED, name) : -1;
    *speed = id >= 0;
    return id >= 0 ? id : find_coord(system, text, length, speed);
}

/* Of a number of the model, lnk7.mass: a part with a similar name. */
static const char *similar_part(const zw_system *system, const char *name)
{
    static const zw_kind kinds[] = {ZW_KIND_BODY, ZW_KIND_JOINT, ZW_KIND_GEOM, ZW_KIND_ACTUATOR};
    const char *meant = NULL, *known[UNKNOWNS];
    char part[NAME];
    snprintf(part, sizeof part, "%.*s", (int)strcspn(name, "."), name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !meant; i++) {
        int count = zw_count(system, kinds[i]);
        count = count < UNKNOWNS ? count : UNKNOWNS;
        for (int k = 0; k < count; k++) {
            known[k] = zw_name(system, kinds[i], k);
        }
        meant = cli_suggest(part, known, count);
    }
    return meant && strcmp(meant, part) != 0 ? meant : NULL;
}

/* Lists the names that exist, instead of `name`. */
static int fail_vary(const zw_model *model, const zw_system *system, const char *name, zw_kind kind)
{
    enum { LISTED = 12 };
    const char *known[UNKNOWNS];
    int count = 0, starts = kind == ZW_KIND_COORD;
    char stem[NAME];
    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(name) - (starts ? 3 : 0)), name);
    for (int k = 0; k < zw_count(system, kind) && count < UNKNOWNS; k++) {
        known[count++] = zw_name(system, kind, k);
    }
    const char *meant = cli_suggest(stem, known, count);
    zw_error error = {0};
    double value;
    if (!meant && !starts && zw_count(system, ZW_KIND_BODY) > 0 &&
        zw_model_get(model, name, &value, &error) != ZW_OK) {
        const char *part = similar_part(system, name);
        fprintf(stderr, "zwang: --vary %s: %s", name, error.text);
        if (part) {
            fprintf(stderr, "; did you mean %s%s?", part, name + strcspn(name, "."));
        }
        fputc('\n', stderr);
        return CLI_USAGE;
    }
    fprintf(stderr, "zwang: --vary %s: there is no %s of that name", name,
            starts ? "coordinate" : "parameter");
    if (meant) {
        fprintf(stderr, "; did you mean %s%s?", meant, starts ? "(0)" : "");
    } else if (!starts && zw_id(system, ZW_KIND_COORD, name) >= 0) {
        fprintf(stderr, "; where that coordinate starts is written %s(0), its initial speed %s'(0)",
                name, name);
    } else if (count > 0 && count <= LISTED) {
        for (int k = 0; k < count; k++) {
            fprintf(stderr, "%s %s", k ? "," : "; there are", known[k]);
        }
    }
    fputc('\n', stderr);
    return CLI_USAGE;
}

/* Parses one number, with nothing but blanks before `end`. */
static int take_number(const char *text, const char *end, double *value)
{
    char copy[64], *rest;
    size_t length = (size_t)(end - text);
    if (length >= sizeof copy) {
        return 0;
    }
    memcpy(copy, text, length);
    copy[length] = 0;
    *value = strtod(copy, &rest);
    return rest > copy && !rest[strspn(rest, " ")];
}

/* "0.1..2" */
static int take_bounds(const char *text, double *low, double *high)
{
    const char *dots = strstr(text, "..");
    return dots && take_number(text, dots, low) && take_number(dots + 2, dots + strlen(dots), high);
}

/* For a robot: "knee'(0)" or "base.vx(0)", which are names of speeds; "thigh.mass", a number of the
 * model. 0: none of these. */
static int take_of_robot(zw_model *model, const zw_system *system, const char *text, int starts,
                         asked *to, zw_unknown *by)
{
    char name[NAME];
    double value;
    snprintf(name, sizeof name, "%.*s", (int)(strlen(text) - (starts ? 3 : 0)), text);
    int speed = starts ? zw_id(system, ZW_KIND_SPEED, name) : -1;
    if (speed >= 0) {
        *by = (zw_unknown){ZW_UNKNOWN_SPEED, speed};
        return 1;
    }
    if (starts || zw_model_get(model, name, &value, NULL) != ZW_OK || to->numbers == UNKNOWNS) {
        return 0;
    }
    for (int k = 0; k < to->numbers; k++) {
        if (!strcmp(to->number[k], name)) {
            *by = (zw_unknown){ZW_UNKNOWN_NUMBER, k};
            return 1;
        }
    }
    *by = (zw_unknown){ZW_UNKNOWN_NUMBER, to->numbers};
    memcpy(to->number[to->numbers], name, sizeof name);
    to->number_list[to->numbers] = to->number[to->numbers];
    to->numbers++;
    return 1;
}

/* "m", "x(0)", "x'(0)", each optionally with " = 0.1..2". The text is modified. */
static int take_unknown(zw_model *model, const zw_system *system, char *text, asked *to)
{
    char *equals = strchr(text, '='), *end = equals ? equals : text + strlen(text);
    double low = -INFINITY, high = INFINITY;
    if (equals && !take_bounds(equals + 1, &low, &high)) {
        fprintf(stderr, "zwang: --vary %s: the syntax of bounds is NAME = LOW..HIGH\n", text);
        return CLI_USAGE;
    }
    if (!(low < high)) {
        fprintf(stderr, "zwang: --vary %s: the bounds leave nothing between %g and %g\n", text, low,
                high);
        return CLI_USAGE;
    }
    while (end > text && end[-1] == ' ') {
        end--;
    }
    *end = 0;
    size_t length = strlen(text);
    int starts = length > 3 && !strcmp(end - 3, "(0)"), speed = 0;
    int index =
        starts ? find_coord(system, text, length - 3, &speed) : zw_id(system, ZW_KIND_PARAM, text);
    zw_unknown by = {!starts ? ZW_UNKNOWN_PARAM
                     : speed ? ZW_UNKNOWN_SPEED
                             : ZW_UNKNOWN_START,
                     index};
    int robot = zw_count(system, ZW_KIND_BODY) > 0;
    int found =
        (robot && (index < 0 || speed) && take_of_robot(model, system, text, starts, to, &by)) ||
        (index >= 0 && !(robot && speed));
    if (length == 0) {
        fprintf(stderr, "zwang: --vary: a name is missing; \"m, mu = 0..1, x(0)\" for example\n");
        return CLI_USAGE;
    }
    if (to->count == UNKNOWNS) {
        fprintf(stderr, "zwang: --vary %s: at most %d unknowns are possible\n", text, UNKNOWNS);
        return CLI_USAGE;
    }
    if (!found) {
        return fail_vary(model, system, text, starts ? ZW_KIND_COORD : ZW_KIND_PARAM);
    }
    for (int k = 0; k < to->count; k++) {
        if (to->unknown[k].kind == by.kind && to->unknown[k].index == by.index) {
            fprintf(stderr, "zwang: --vary %s is given twice\n", text);
            return CLI_USAGE;
        }
    }
    to->unknown[to->count] = by;
    to->low[to->count] = low;
    to->high[to->count++] = high;
    return CLI_OK;
}

static int take_vary(const cli_arguments *arguments, zw_model *model, const zw_system *system,
                     asked *to)
{
    int code = CLI_OK;
    if (arguments->frame_count == 0) {
        fprintf(stderr, "zwang: fit needs unknowns: --vary \"m, mu = 0..1, x(0)\" for example\n");
        return CLI_USAGE;
    }
    for (int k = 0; k < arguments->frame_count && code == CLI_OK; k++) {
        size_t length = strlen(arguments->frame[k]);
        char *copy = malloc(length + 1);
        if (!copy) {
            return CLI_FAILED;
        }
        memcpy(copy, arguments->frame[k], length + 1);
        for (char *item = copy, *next; item && code == CLI_OK; item = next) {
            next = strchr(item, ',');
            if (next) {
                *next++ = 0;
            }
            code = take_unknown(model, system, item + strspn(item, " "), to);
        }
        free(copy);
    }
    return code;
}

/* --sigma x=0.01 */
static int take_sigma(const cli_arguments *arguments, const zw_system *system, asked *to)
{
    int n = zw_count(system, ZW_KIND_COORD);
    for (int k = 0; k < arguments->over_count; k++) {
        const char *text = arguments->over[k], *equals = strchr(text, '=');
        char *rest = NULL;
        int speed = 0;
        int coord = equals ? find_channel(system, text, (size_t)(equals - text), &speed) : -1;
        double value = equals ? strtod(equals + 1, &rest) : 0;
        if (coord < 0 || rest == equals + 1 || *rest || !(value > 0) || !isfinite(value)) {
            fprintf(
                stderr,
                "zwang: --sigma takes NAME=X, the noise of a coordinate x or a speed x', not %s\n",
                text);
            return CLI_USAGE;
        }
        to->sigma[speed ? n + coord : coord] = value;
    }
    return CLI_OK;
}

static int take_paths(const cli_arguments *arguments, const zw_system *system, asked *to)
{
    int code = CLI_OK;
    for (int k = 0; k < 1 + arguments->more_count && code == CLI_OK; k++) {
        const char *file = k == 0 ? arguments->recording : arguments->more[k - 1];
        to->path[to->paths] = cli_read_path(arguments, system, file, 1, &code);
        to->paths += to->path[to->paths] != NULL;
    }
    return code;
}

/* ---- Text output ----------------------------------------------------------------------------- */

static void channel_name(const zw_system *system, int channel, char *text)
{
    int n = zw_count(system, ZW_KIND_COORD), robot = zw_count(system, ZW_KIND_BODY) > 0;
    int speed = channel >= n;
    snprintf(text, NAME, "%.150s%s",
             zw_name(system, speed && robot ? ZW_KIND_SPEED : ZW_KIND_COORD,
                     speed ? channel - n : channel),
             speed && !robot ? "'" : "");
}

static void show_estimates(FILE *to, const zw_fit *fit)
{
    zw_fit_report r = zw_fit_report_of(fit);
    cli_head(to, "Unknowns");
    fprintf(to, "  %-16s %16s %14s    95 %% interval\n", "", "value", "standard error");
    for (int k = 0; k < r.unknowns; k++) {
        zw_fit_estimate x = zw_fit_look(fit, k);
        fprintf(to, "  %-16s %16.9g ", zw_fit_name(fit, k), x.value);
        if (x.at_bound) {
            fprintf(to, "%14s    at its %s bound\n", "", x.at_bound < 0 ? "lower" : "upper");
        } else if (isfinite(x.error)) {
            fprintf(to, "%14.3g    %.6g to %.6g\n", x.error, x.low, x.high);
        } else {
            fprintf(to, "%14s    not determined by the recordings\n", "");
        }
    }
}

static void show_correlations(FILE *to, const zw_fit *fit)
{
    int count = zw_fit_report_of(fit).unknowns, said = 0;
    const double *c = zw_fit_correlation(fit);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            if (fabs(c[i * count + j]) >= 0.5) {
                if (said++ == 0) {
                    cli_head(to, "Correlations above one half");
                }
                fprintf(to, "  %-16s %-16s %8.4f\n", zw_fit_name(fit, j), zw_fit_name(fit, i),
                        c[i * count + j]);
            }
        }
    }
}

static void show_nulls(FILE *to, const zw_fit *fit)
{
    zw_fit_report r = zw_fit_report_of(fit);
    for (int k = 0; k < r.nulls; k++) {
        const double *null = zw_fit_null(fit, k);
        int said = 0;
        cli_label(to, "unknown");
        fprintf(to, "nothing changes when ");
        for (int i = 0; i < r.unknowns; i++) {
            if (null[i] != 0) {
                fprintf(to, "%s%s by %.6g", said++ ? ", " : "", zw_fit_name(fit, i), null[i]);
            }
        }
        fprintf(to, said > 1 ? ": together\n" : "\n");
    }
}

static void show_unexplained(FILE *to, const zw_system *system, const zw_fit *fit)
{
    int count = zw_count(system, ZW_KIND_COORD) + zw_count(system, ZW_KIND_SPEED), worst = 0;
    char name[NAME];
    for (int c = 1; c < count; c++) {
        worst = zw_fit_neighbours(fit, c) < zw_fit_neighbours(fit, worst) ? c : worst;
    }
    channel_name(system, worst, name);
    cli_label(to, "note");
    fprintf(to,
            "the residuals are no noise: neighbours in %s are alike (Durbin-Watson %.3g, of noise "
            "2),\n",
            name, zw_fit_neighbours(fit, worst));
    cli_label(to, "");
    fprintf(to, "or they exceed --sigma. The model misses something, or this is one of several "
                "minima, which\n");
    cli_label(to, "");
    fprintf(to, "impacts and events make: begin with other values (--set). The errors do not "
                "hold\n");
}

static void show(FILE *to, const cli_arguments *arguments, const zw_system *system,
                 const zw_fit *fit)
{
    zw_fit_report r = zw_fit_report_of(fit);
    char name[NAME];
    cli_label(to, "recording");
    fprintf(to, "%s", arguments->recording);
    for (int k = 0; k < arguments->more_count; k++) {
        fprintf(to, ", %s", arguments->more[k]);
    }
    fprintf(to, ": %ld numbers\n", r.numbers);
    cli_label(to, "least");
    fprintf(to, "after %d steps and %d motions\n", r.iterations, r.runs);
    show_estimates(to, fit);
    show_correlations(to, fit);
    cli_head(to, "Noise");
    for (int c = 0; c < zw_count(system, ZW_KIND_COORD) + zw_count(system, ZW_KIND_SPEED); c++) {
        if (zw_fit_noise(fit, c) > 0) {
            channel_name(system, c, name);
            fprintf(to, "  %-16s %16.6g\n", name, zw_fit_noise(fit, c));
        }
    }
    fputc('\n', to);
    show_nulls(to, fit);
    if (r.unexplained > 0) {
        show_unexplained(to, system, fit);
    }
    if (r.kinks > 0) {
        cli_label(to, "note");
        fprintf(to, "another sequence of events is equally likely: errors are for this one\n");
    }
}

/* ---- JSON output ----------------------------------------------------------------------------- */

static void put_unknowns(cli_json *json, const zw_fit *fit)
{
    zw_fit_report r = zw_fit_report_of(fit);
    const double *c = zw_fit_correlation(fit);
    cli_json_open(json, "unknowns", '{');
    for (int k = 0; k < r.unknowns; k++) {
        zw_fit_estimate x = zw_fit_look(fit, k);
        cli_json_open(json, zw_fit_name(fit, k), '{');
        cli_json_number(json, "value", x.value);
        cli_json_number(json, "error", x.error);
        cli_json_number(json, "low", x.low);
        cli_json_number(json, "high", x.high);
        cli_json_int(json, "at_bound", x.at_bound);
        cli_json_open(json, "correlation", '[');
        for (int j = 0; j < r.unknowns; j++) {
            cli_json_number(json, NULL, c[k * r.unknowns + j]);
        }
        cli_json_close(json, ']');
        cli_json_close(json, '}');
    }
    cli_json_close(json, '}');
    cli_json_open(json, "cannot_tell", '[');
    for (int k = 0; k < r.nulls; k++) {
        cli_json_open(json, NULL, '{');
        for (int i = 0; i < r.unknowns; i++) {
            if (zw_fit_null(fit, k)[i] != 0) {
                cli_json_number(json, zw_fit_name(fit, i), zw_fit_null(fit, k)[i]);
            }
        }
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

static void show_json(const cli_arguments *arguments, const zw_system *system, const zw_fit *fit)
{
    zw_fit_report r = zw_fit_report_of(fit);
    cli_json json = {.to = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "zwang", zw_version());
    cli_json_text(&json, "file", arguments->file);
    cli_json_bool(&json, "ok", 1);
    cli_json_int(&json, "numbers", r.numbers);
    cli_json_int(&json, "iterations", r.iterations);
    cli_json_int(&json, "runs", r.runs);
    cli_json_number(&json, "cost", r.cost);
    cli_json_int(&json, "kinks", r.kinks);
    cli_json_int(&json, "unexplained", r.unexplained);
    put_unknowns(&json, fit);
    cli_json_open(&json, "noise", '{');
    for (int c = 0; c < zw_count(system, ZW_KIND_COORD) + zw_count(system, ZW_KIND_SPEED); c++) {
        if (zw_fit_noise(fit, c) > 0) {
            char name[NAME];
            channel_name(system, c, name);
            cli_json_number(&json, name, zw_fit_noise(fit, c));
        }
    }
    cli_json_close(&json, '}');
    cli_json_close(&json, '}');
}

/* ---- The command ---------------------------------------------------------------------------- */

static int poll(void *user, double time)
{
    (void)user;
    (void)time;
    return cli_interrupted();
}

static zw_status write_fit(void *user, const char *path, int piped, zw_error *error)
{
    (void)piped;
    return zw_fit_write(user, path, error);
}

static int find(const cli_arguments *arguments, const cli_world *world, const asked *by)
{
    zw_error error = {0};
    FILE *talk = cli_outputs_use_stdout(arguments) ? stderr : stdout;
    const zw_fit_problem problem = {.unknown = by->unknown,
                                    .unknowns = by->count,
                                    .low = by->low,
                                    .high = by->high,
                                    .recording = (const zw_path *const *)by->path,
                                    .recordings = by->paths,
                                    .sigma = by->sigma,
                                    .run = arguments->run,
                                    .poll = poll,
                                    .number = by->number_list,
                                    .model = world->model};
    cli_catch_interrupt();
    zw_fit *fit = zw_fit_create(world->model, world->system, &problem, &error);
    if (!fit) {
        if (cli_interrupted()) {
            fprintf(stderr, "zwang: interrupted; nothing was written\n");
            return CLI_INTERRUPTED;
        }
        return cli_fail(arguments, &error, cli_code_of(error.status));
    }
    if (!arguments->quiet && !arguments->json) {
        show(talk, arguments, world->system, fit);
    }
    cli_arguments silent = *arguments;
    silent.quiet |= arguments->json;
    int code = cli_outputs_write(&silent, write_fit, fit, "", talk);
    if (arguments->json) {
        show_json(arguments, world->system, fit);
    }
    zw_fit_free(fit);
    return code;
}

int cli_fit(const cli_arguments *arguments)
{
    static asked by;
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
    by = (asked){0};
    by.sigma = calloc((size_t)zw_count(world.system, ZW_KIND_COORD) +
                          (size_t)zw_count(world.system, ZW_KIND_SPEED) + 1,
                      sizeof *by.sigma);
    code = by.sigma ? take_vary(arguments, world.model, world.system, &by) : CLI_FAILED;
    code = code == CLI_OK ? take_sigma(arguments, world.system, &by) : code;
    code = code == CLI_OK ? cli_outputs_possible(arguments) : code;
    code = code == CLI_OK ? take_paths(arguments, world.system, &by) : code;
    code = code == CLI_OK ? find(arguments, &world, &by) : code;
    for (int k = 0; k < by.paths; k++) {
        zw_path_free(by.path[k]);
    }
    free(by.sigma);
    cli_unload(&world);
    return code;
}
