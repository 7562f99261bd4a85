/* Parses options into a struct; nothing is silently ignored. */
#include <math.h>
#include <string.h>

#include "cli.h"

typedef enum option_id {
    OPTION_TIME,
    OPTION_STEP,
    OPTION_TOL,
    OPTION_ACCURACY,
    OPTION_METHOD,
    OPTION_EVERY,
    OPTION_OUTPUT,
    OPTION_PLOT,
    OPTION_REPORT,
    OPTION_AT,
    OPTION_OVER,
    OPTION_KEEP,
    OPTION_AFTER,
    OPTION_SAMPLES,
    OPTION_SEED,
    OPTION_THREADS,
    OPTION_PORT,
    OPTION_FRAME,
    OPTION_FROM,
    OPTION_PERIOD,
    OPTION_TO,
    OPTION_BEGIN,
    OPTION_SAVE,
    OPTION_HASH,
    OPTION_DIGITS,
    OPTION_PLAIN,
    OPTION_SET,
    OPTION_KEY,
    OPTION_MAXIMAL,
    OPTION_BASE,
    OPTION_PACKAGE,
    OPTION_BALANCE,
    OPTION_SLEEP,
    OPTION_MEMORYLESS,
    OPTION_CONTACT,
    OPTION_CONTACTS,
    OPTION_IMPACT,
    OPTION_NOISE,
    OPTION_COLUMN,
    OPTION_METRIC,
    OPTION_LAW,
    OPTION_JSON,
    OPTION_ALL,
    OPTION_QUIET,
    OPTION_HELP
} option_id;

typedef struct option {
    option_id id;
    const char *name;
    const char *shorthand; /* or NULL */
    int has_value;
    const char *commands; /* the commands that have it */
} option;

static const option options[] = {
    {OPTION_TIME, "--time", "-t", 1, "run sweep limit optimise"},
    {OPTION_STEP, "--step", NULL, 1, "run sweep explain look modes fit limit optimise"},
    {OPTION_TOL, "--tol", NULL, 1, "run sweep explain look modes fit limit optimise"},
    {OPTION_ACCURACY, "--accuracy", NULL, 1, "run sweep"},
    {OPTION_METHOD, "--method", NULL, 1, "run sweep explain look modes fit limit optimise"},
    {OPTION_EVERY, "--every", NULL, 1, "run sweep limit"},
    {OPTION_OUTPUT, "--output", "-o", 1, "run sweep certify inverse fit limit modes"},
    {OPTION_PLOT, "--plot", NULL, 1, "run sweep certify inverse fit limit"},
    {OPTION_REPORT, "--report", NULL, 1, "run sweep certify inverse fit limit modes"},
    {OPTION_AT, "--at", NULL, 1, "explain look modes"},
    {OPTION_OVER, "--over", NULL, 1, "sweep"},
    {OPTION_KEEP, "--keep", NULL, 1, "sweep"},
    {OPTION_AFTER, "--after", NULL, 1, "sweep"},
    {OPTION_SAMPLES, "--samples", NULL, 1, "sweep"},
    {OPTION_SEED, "--seed", NULL, 1, "sweep"},
    {OPTION_THREADS, "--threads", NULL, 1, "sweep"},
    {OPTION_PORT, "--port", NULL, 1, "view"},
    {OPTION_FRAME, "--frame", NULL, 1, "look"},
    {OPTION_FRAME, "--drive", NULL, 1, "inverse"},
    {OPTION_FRAME, "--vary", NULL, 1, "fit"},
    {OPTION_OVER, "--sigma", NULL, 1, "fit"},
    {OPTION_PERIOD, "--period", NULL, 1, "modes"},
    {OPTION_FROM, "--from", NULL, 1, "limit"},
    {OPTION_BEGIN, "--from", NULL, 1, "run"},
    {OPTION_SAVE, "--save", NULL, 1, "run"},
    {OPTION_HASH, "--hash", NULL, 0, "run"},
    {OPTION_DIGITS, "--digits", NULL, 0, "run"},
    {OPTION_PLAIN, "--plain", NULL, 0, "run"},
    {OPTION_TO, "--to", NULL, 1, "limit"},
    {OPTION_SET, "--set", NULL, 1,
     "run sweep explain look check certify inverse fit optimise rest modes limit view"},
    {OPTION_KEY, "--key", NULL, 1, "run sweep explain look check inverse rest modes view"},
    {OPTION_MAXIMAL, "--maximal", NULL, 0, "run sweep explain look check inverse rest modes"},
    {OPTION_BASE, "--base", NULL, 1, "run sweep explain look check inverse rest modes export"},
    {OPTION_PACKAGE, "--package", NULL, 1,
     "run sweep explain look check inverse rest modes export"},
    {OPTION_BALANCE, "--balance", NULL, 0,
     "run sweep explain look check inverse rest modes export"},
    {OPTION_SLEEP, "--sleep", NULL, 0, "run sweep"},
    {OPTION_MEMORYLESS, "--memoryless", NULL, 0, "run sweep"},
    {OPTION_CONTACT, "--contact", NULL, 1, "run sweep explain look"},
    {OPTION_CONTACTS, "--contacts", NULL, 1, "run"},
    {OPTION_IMPACT, "--impact", NULL, 1, "run sweep check explain look"},
    {OPTION_NOISE, "--noise", NULL, 1, "certify inverse"},
    {OPTION_COLUMN, "--column", NULL, 1, "certify inverse fit"},
    {OPTION_METRIC, "--metric", NULL, 1, "certify"},
    {OPTION_LAW, "--law", NULL, 1, "certify"},
    {OPTION_JSON, "--json", NULL, 0, "run explain look certify inverse fit optimise rest modes"},
    {OPTION_ALL, "--all", NULL, 0, "explain look inverse rest modes"},
    {OPTION_QUIET, "--quiet", "-q", 0,
     "run sweep check certify inverse fit optimise limit export view"},
    {OPTION_HELP, "--help", "-h", 0,
     "run sweep explain look check certify inverse fit optimise rest modes limit export view"},
};
enum { OPTIONS = sizeof options / sizeof *options };

static const char *const methods[] = {"dop853", "variational", "variational4", "midpoint", "rk4",
                                      "euler",  "stiff",       "impulse",      "soft"};
enum { METHODS = sizeof methods / sizeof *methods };

static int complain(const char *what, const char *word, const char *more)
{
    fprintf(stderr, "zwang: %s %s%s\n", what, word, more);
    return CLI_USAGE;
}

/* ---- Values --------------------------------------------------------------------------------- */

static int take_setting(cli_arguments *arguments, char *text)
{
    char *equals = strchr(text, '=');
    zw_setting *setting = &arguments->setting[arguments->setting_count];
    if (arguments->setting_count == CLI_SETTINGS) {
        return complain("--set more than 256 times, from", text, " on");
    }
    if (!equals || equals == text || !zw_number(equals + 1, &setting->value)) {
        return complain("--set takes NAME=NUMBER, not", text, "");
    }
    *equals = 0;
    setting->name = text;
    arguments->setting_count++;
    return CLI_OK;
}

/* x=title; the title may contain blanks and =. */
static int take_column(cli_arguments *arguments, char *text)
{
    char *equals = strchr(text, '=');
    if (arguments->column_count == CLI_COLUMNS) {
        return complain("--column more than 256 times, from", text, " on");
    }
    if (!equals || equals == text || !equals[1]) {
        return complain("--column takes NAME=TITLE, not", text, "");
    }
    *equals = 0;
    arguments->column[arguments->column_count++] = (zw_path_column){text, equals + 1};
    return CLI_OK;
}

static int take_package(cli_arguments *arguments, char *text)
{
    char *equals = strchr(text, '=');
    if (arguments->package_count == CLI_PACKAGES) {
        return complain("--package more than 64 times, from", text, " on");
    }
    if (!equals || equals == text || !equals[1]) {
        return complain("--package takes NAME=PATH, not", text, "");
    }
    *equals = 0;
    arguments->package[arguments->package_count++] = (zw_package){text, equals + 1};
    return CLI_OK;
}

static int take_base(cli_arguments *arguments, const char *text)
{
    arguments->base = strcmp(text, "fixed") == 0  ? ZW_BASE_FIXED
                      : strcmp(text, "free") == 0 ? ZW_BASE_FREE
                                                  : ZW_BASE_DEFAULT;
    return arguments->base != ZW_BASE_DEFAULT
               ? CLI_OK
               : complain("--base takes fixed or free, not", text, "");
}

/* mixed,alpha=1,beta=10, as after `law` in a file, separated by commas or blanks. */
static int take_law(zw_law *law, char *text)
{
    static const char *const laws[] = {"nonholonomic", "vakonomic", "mixed", "penalty"};
    int kind = 0, given = 0, wanted[] = {0, 0, 3, 4};
    char *next = text + strcspn(text, ", ");
    next += *next ? (*next = 0, 1) : 0;
    while (kind < 4 && strcmp(laws[kind], text) != 0) {
        kind++;
    }
    if (kind == 4) {
        return complain("there is no law", text, "; see `zwang help certify`");
    }
    *law = (zw_law){.name = laws[kind], .alpha = 1, .N = INFINITY};
    for (char *at = next; *at; at = next) {
        static const char *const name[] = {"alpha", "beta", "N"};
        double *const number[] = {&law->alpha, &law->beta, &law->N};
        int which = 0;
        next = at + strcspn(at, ", ");
        next += *next ? (*next = 0, 1) : 0;
        size_t length = strcspn(at, "=");
        while (which < 3 && (strlen(name[which]) != length || strncmp(at, name[which], length))) {
            which++;
        }
        if (kind < 2 || which > kind - 1 || !at[length] ||
            !zw_number(at + length + 1, number[which]) || !(*number[which] >= 0)) {
            return complain("--law takes mixed,alpha=1,beta=10 or penalty,N=1e4, not", at, "");
        }
        given |= 1 << which;
    }
    return (given & wanted[kind]) == wanted[kind]
               ? CLI_OK
               : complain(
                     "--law needs alpha and beta for mixed, N for penalty; something is missing in",
                     text, "");
}

static int take_positive(const option *known, const char *text, double *value)
{
    if (!zw_number(text, value)) {
        return complain(known->name, "takes a number, not ", text);
    }
    return *value > 0 ? CLI_OK : complain(known->name, "takes a positive number, not ", text);
}

static int take_time_at(const char *text, double *value)
{
    return zw_number(text, value) && *value >= 0
               ? CLI_OK
               : complain("--at takes a time, 0 or later, not", text, "");
}

static int take_every(const option *known, const char *text, double *value)
{
    if (!strcmp(text, "step")) {
        *value = -1;
        return CLI_OK;
    }
    return take_positive(known, text, value);
}

static int take_method(const char *text, zw_method *method)
{
    if (zw_method_find(text, method) == ZW_OK) {
        return CLI_OK;
    }
    const char *meant = cli_suggest(text, methods, METHODS);
    fprintf(stderr, "zwang: there is no method %s", text);
    if (meant) {
        fprintf(stderr, "; did you mean %s?\n", meant);
        return CLI_USAGE;
    }
    for (int i = 0; i < METHODS; i++) {
        fprintf(stderr, "%s %s", i ? "," : "; there are", methods[i]);
    }
    fputc('\n', stderr);
    return CLI_USAGE;
}

static int take_contact(const char *text, zw_contact_law *contact)
{
    return zw_contact_law_find(text, contact) == ZW_OK
               ? CLI_OK
               : complain("there is no contact law", text, "; the laws are coulomb, convex, soft");
}

static int take_impact(const char *text, zw_impact_law *law)
{
    return zw_impact_law_find(text, law) == ZW_OK
               ? CLI_OK
               : complain("there is no law of impact", text,
                          "; the laws are sequential, simultaneous");
}

static int take_contacts(const char *text, cli_arguments *arguments)
{
    if (strcmp(text, "all") && strcmp(text, "none")) {
        return complain("--contacts takes all or none, not", text, "");
    }
    arguments->contacts = text;
    return CLI_OK;
}

static int ends(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && !strcmp(path + length - tail, ending);
}

static int take_output(cli_arguments *arguments, const option *known, const char *path)
{
    int ok, any = known->id == OPTION_OUTPUT;
    if (any) {
        ok = !strcmp(path, "-") || !strncmp(path, "/dev/", 5) || ends(path, ".csv") ||
             ends(path, ".h5") || ends(path, ".hdf5") || ends(path, ".svg") || ends(path, ".html");
    } else {
        ok = ends(path, known->id == OPTION_PLOT ? ".svg" : ".html");
    }
    if (!ok) {
        fprintf(stderr, "zwang: %s %s: the file must end in %s\n", known->name, path,
                any                        ? ".csv, .h5, .svg or .html, or be - for a pipe"
                : known->id == OPTION_PLOT ? ".svg"
                                           : ".html");
        return CLI_USAGE;
    }
    if (arguments->output_count == CLI_OUTPUTS) {
        return complain("too many files to write, from", path, " on");
    }
    arguments->output[arguments->output_count++] = path;
    return CLI_OK;
}

static int take_over(cli_arguments *arguments, const char *text)
{
    if (arguments->over_count == CLI_OVERS) {
        return complain("--over more than 32 times, from", text, " on");
    }
    arguments->over[arguments->over_count++] = text;
    return CLI_OK;
}

/* A whole number from `least` to `most`. */
static int take_count(const option *known, const char *text, double least, double most,
                      double *value)
{
    if (zw_number(text, value) && *value >= least && *value <= most && *value == floor(*value)) {
        return CLI_OK;
    }
    fprintf(stderr, "zwang: %s takes a whole number from %.0f to %.0f, not %s\n", known->name,
            least, most, text);
    return CLI_USAGE;
}

static int take_int(const option *known, const char *text, double most, int *value)
{
    double number = 0;
    int code = take_count(known, text, 1, most, &number);
    *value = code == CLI_OK ? (int)number : 0;
    return code;
}

/* The positive number that an option sets; NULL: it sets none. */
static double *positive_of(cli_arguments *arguments, option_id id)
{
    switch (id) {
    case OPTION_TIME:
        return &arguments->run.time;
    case OPTION_STEP:
        return &arguments->run.step;
    case OPTION_TOL:
        return &arguments->run.tolerance;
    case OPTION_ACCURACY:
        return &arguments->run.accuracy;
    case OPTION_FROM:
        return &arguments->from;
    case OPTION_PERIOD:
        return &arguments->period;
    case OPTION_TO:
        return &arguments->to;
    case OPTION_NOISE:
        return &arguments->noise;
    default:
        return NULL;
    }
}

/* The text that an option sets; NULL: it sets none. */
static const char **text_of(cli_arguments *arguments, option_id id)
{
    switch (id) {
    case OPTION_AFTER:
        return &arguments->after;
    case OPTION_KEY:
        return &arguments->key;
    case OPTION_BEGIN:
        return &arguments->begin;
    case OPTION_SAVE:
        return &arguments->save;
    case OPTION_METRIC:
        return &arguments->metric;
    default:
        return NULL;
    }
}

static int take_keep(cli_arguments *arguments, const char *value)
{
    if (arguments->keep) {
        return complain("give --keep once, with commas between quantities;", value, " is a second");
    }
    arguments->keep = value;
    return CLI_OK;
}

static int take_value(cli_arguments *arguments, const option *known, char *value)
{
    zw_run_options *run = &arguments->run;
    double *positive = positive_of(arguments, known->id);
    const char **text = text_of(arguments, known->id);
    if (positive) {
        return take_positive(known, value, positive);
    }
    if (text) {
        *text = value;
        return CLI_OK;
    }
    switch (known->id) {
    case OPTION_METHOD:
        return take_method(value, &run->method);
    case OPTION_CONTACT:
        return take_contact(value, &run->contact);
    case OPTION_IMPACT:
        return take_impact(value, &arguments->impact);
    case OPTION_CONTACTS:
        return take_contacts(value, arguments);
    case OPTION_EVERY:
        return take_every(known, value, &run->every);
    case OPTION_OVER:
        return take_over(arguments, value);
    case OPTION_KEEP:
        return take_keep(arguments, value);
    case OPTION_SAMPLES:
        return take_int(known, value, 1e7, &arguments->samples);
    case OPTION_THREADS:
        return take_int(known, value, 1024, &arguments->threads);
    case OPTION_PORT:
        return take_int(known, value, 65535, &arguments->port);
    case OPTION_SEED:
        return take_count(known, value, 0, 9007199254740992.0, &arguments->seed);
    case OPTION_AT:
        return take_time_at(value, &arguments->at);
    case OPTION_SET:
        return take_setting(arguments, value);
    case OPTION_COLUMN:
        return take_column(arguments, value);
    case OPTION_PACKAGE:
        return take_package(arguments, value);
    case OPTION_FRAME:
        if (arguments->frame_count == CLI_FRAMES) {
            return complain(known->name, "more than 64 times, from ", value);
        }
        arguments->frame[arguments->frame_count++] = value;
        return CLI_OK;
    case OPTION_BASE:
        return take_base(arguments, value);
    case OPTION_LAW:
        return take_law(&arguments->law, value);
    default:
        return take_output(arguments, known, value);
    }
}

static void take_flag(cli_arguments *arguments, option_id id)
{
    int *flag = id == OPTION_JSON         ? &arguments->json
                : id == OPTION_ALL        ? &arguments->all
                : id == OPTION_HASH       ? &arguments->hash
                : id == OPTION_DIGITS     ? &arguments->digits
                : id == OPTION_PLAIN      ? &arguments->plain
                : id == OPTION_QUIET      ? &arguments->quiet
                : id == OPTION_MAXIMAL    ? &arguments->maximal
                : id == OPTION_BALANCE    ? &arguments->balance
                : id == OPTION_SLEEP      ? &arguments->sleep
                : id == OPTION_MEMORYLESS ? &arguments->run.memoryless
                                          : &arguments->help;
    *flag = 1;
}

/* ---- Options -------------------------------------------------------------------------------- */

static int unknown(const char *command, const char *word)
{
    const char *name[OPTIONS];
    int count = 0;
    for (int i = 0; i < OPTIONS; i++) {
        if (strstr(options[i].commands, command)) {
            name[count++] = options[i].name;
        }
    }
    const char *meant = cli_suggest(word, name, count);
    fprintf(stderr, "zwang: %s has no option %s; ", command, word);
    if (meant) {
        fprintf(stderr, "did you mean %s?\n", meant);
    } else {
        fprintf(stderr, "`zwang help %s` lists them\n", command);
    }
    return CLI_USAGE;
}

/* The option that a word names, and the start of a value within the word (NULL: there is none). */
static const option *find(const char *command, char *word, char **value)
{
    char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    *value = equals ? equals + 1 : NULL;
    for (int i = 0; i < OPTIONS; i++) {
        const option *known = &options[i];
        if (!strstr(known->commands, command)) {
            continue;
        }
        if (strlen(known->name) == length && !strncmp(word, known->name, length)) {
            return known;
        }
        if (known->shorthand && word[1] != '-' && word[1] == known->shorthand[1] &&
            (known->has_value || !word[2])) {
            *value = word[2] ? word + 2 : NULL;
            return known;
        }
    }
    return NULL;
}

/* Parses one option and its value, if any; *used counts the words. */
static int take(const char *command, int count, char **word, cli_arguments *arguments, int *used)
{
    char *value;
    const option *known = find(command, word[0], &value);
    *used = 1;
    if (!known) {
        word[0][strcspn(word[0], "=")] = 0;
        return unknown(command, word[0]);
    }
    if (!known->has_value) {
        take_flag(arguments, known->id);
        return value ? complain(known->name, "takes no value", "") : CLI_OK;
    }
    if (!value) {
        if (count < 2) {
            return complain(known->name, "needs a value", "");
        }
        value = word[1];
        *used = 2;
    }
    return take_value(arguments, known, value);
}

int cli_parse(const char *command, int count, char **word, cli_arguments *arguments)
{
    int plain = 0; /* after "--" all words are files */
    *arguments = (cli_arguments){0};
    int wants_recording =
        !strcmp(command, "certify") || !strcmp(command, "inverse") || !strcmp(command, "fit");
    const char **second = wants_recording              ? &arguments->recording
                          : !strcmp(command, "export") ? &arguments->target
                          : !strcmp(command, "view")   ? &arguments->recording
                                                       : NULL;
    for (int i = 0; i < count;) {
        int used = 1, code = CLI_OK;
        if (!plain && !strcmp(word[i], "--")) {
            plain = 1;
        } else if (!plain && word[i][0] == '-' && word[i][1]) {
            code = take(command, count - i, word + i, arguments, &used);
        } else if (arguments->file && second && !*second) {
            *second = word[i];
        } else if (arguments->file && !strcmp(command, "fit") && arguments->more_count < CLI_MORE) {
            arguments->more[arguments->more_count++] = word[i];
        } else if (arguments->file) {
            code = complain("one file at a time; what is", word[i], "?");
        } else {
            arguments->file = word[i];
        }
        if (code != CLI_OK || arguments->help) {
            return code;
        }
        i += used;
    }
    int optional = !strcmp(command, "view");
    if (second && !optional && arguments->file && arguments->file[0] && (!*second || !**second)) {
        fprintf(stderr, "zwang: %s %s after %s\n", command,
                wants_recording ? "which recording? Give a .csv or .h5 file"
                                : "to which file? Give the name of an .xml file",
                arguments->file);
        return CLI_USAGE;
    }
    if (arguments->begin && arguments->key) {
        return complain("--from and --key both give the initial state; use one", arguments->key,
                        "");
    }
    if (!arguments->file || !arguments->file[0]) {
        fprintf(stderr, "zwang: %s needs a file (.zw, .xml or .urdf)%s; see `zwang help %s`\n",
                command, wants_recording ? " and a recording" : "", command);
        return CLI_USAGE;
    }
    return CLI_OK;
}
