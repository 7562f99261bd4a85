/* zwang sweep: many motions, one table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int poll(void *user, double time)
{
    (void)user;
    (void)time;
    return cli_interrupted();
}

static void progress(void *user, int done, int runs)
{
    (void)user;
    (void)runs;
    cli_progress_show(done);
}

/* The model as `zwang run` would read it, with other settings. */
static zw_model *read_model(void *user, const char *path, const zw_read_options *read,
                            zw_error *error)
{
    zw_model *model = zw_model_read(path, read, error);
    if (model && !cli_adjust_model(user, model, error)) {
        zw_model_free(model);
        model = NULL;
    }
    return model;
}

static zw_status write_sweep(void *user, const char *path, int piped, zw_error *error)
{
    return zw_sweep_write(user, path, piped, error);
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* The number of columns from this one on that are points of one quantity: "x 1", "x 2", ... */
static int points_from(const zw_sweep *sweep, int column)
{
    const char *name = zw_sweep_name(sweep, column);
    size_t stem = strlen(name);
    char next[300];
    int count = 1;
    if (stem < 3 || strcmp(name + stem - 2, " 1") != 0) {
        return 1;
    }
    do {
        snprintf(next, sizeof next, "%.*s %d", (int)(stem - 2), name, ++count);
    } while (!strcmp(next, zw_sweep_name(sweep, column + count - 1)));
    return count - 1;
}

/* The range of a quantity over all runs; points are one quantity. Returns the number of its
 * columns. */
static int show_range(FILE *to, const zw_sweep *sweep, int column, const char *after)
{
    double low = INFINITY, high = -INFINITY;
    int columns = points_from(sweep, column), count = 0, lowest = 0, highest = 0;
    const char *name = zw_sweep_name(sweep, column);
    for (int k = 0; k < columns * zw_sweep_count(sweep); k++) {
        int run = k / columns;
        double value = zw_sweep_value(sweep, run, column + k % columns);
        if (value < low) {
            low = value;
            lowest = run;
        }
        if (value > high) {
            high = value;
            highest = run;
        }
        count += !isnan(value);
    }
    fprintf(to, "  %-28.*s", (int)strlen(name) - (columns > 1 ? 2 : 0), name);
    if (count == 0) {
        fprintf(to, " in no run%s%s\n", after ? " after t = " : "", after ? after : "");
        return columns;
    }
    fprintf(to, " %.9g (run %d) to %.9g (run %d)", low, lowest, high, highest);
    if (columns > 1) {
        fprintf(to, ", %d points\n", count);
    } else if (count < zw_sweep_done(sweep)) {
        fprintf(to, "; in %d of %d runs\n", count, zw_sweep_done(sweep));
    } else {
        fputc('\n', to);
    }
    return columns;
}

static void show_failures(FILE *to, const zw_sweep *sweep)
{
    enum { SHOWN = 3 };
    int shown = 0;
    for (int run = 0; run < zw_sweep_count(sweep) && shown < SHOWN; run++) {
        const char *status = zw_sweep_status(sweep, run);
        if (status && strcmp(status, "ok") != 0) {
            cli_label(to, shown++ ? "" : "failed");
            fprintf(to, "run %d: %s\n", run, status);
        }
    }
    if (zw_sweep_failed(sweep) > SHOWN) {
        cli_label(to, "");
        fprintf(to, "and %d more\n", zw_sweep_failed(sweep) - SHOWN);
    }
}

/* Extremes, means and periods are computed from curves through samples: are those close enough? */
static void show_doubt(FILE *to, const zw_sweep *sweep, int column)
{
    double most = 0;
    for (int run = 0; run < zw_sweep_count(sweep); run++) {
        double doubt = zw_sweep_value(sweep, run, column);
        most = doubt > most ? doubt : most;
    }
    if (most > 1e-6) {
        cli_label(to, "doubt");
        fprintf(to,
                "%.1g: samples are too far apart for accurate extremes, means and periods; try a "
                "smaller --every\n",
                most);
    }
}

static void show_summary(FILE *to, const cli_arguments *arguments, const zw_sweep *sweep,
                         double wall, int before)
{
    enum { DIAGNOSTICS = 5 };
    int last = zw_sweep_columns(sweep) - DIAGNOSTICS;
    cli_label(to, "sweep");
    fprintf(to, "%s: ", arguments->file);
    cli_show_count(to, zw_sweep_count(sweep), "run", "runs");
    fprintf(to, ", %d failed, ", zw_sweep_failed(sweep));
    cli_show_time(to, wall);
    if (before > 0) {
        fprintf(to, "; %d were done before", before);
    }
    fputc('\n', to);
    show_failures(to, sweep);
    show_doubt(to, sweep, zw_sweep_columns(sweep) - 1);
    cli_head(to, "quantities");
    for (int i = arguments->over_count; i < last;) {
        i += show_range(to, sweep, i, arguments->after);
    }
}

/* ---- The command ---------------------------------------------------------------------------- */

/* The journal is next to the first output file, under its own name. */
static const char *journal_of(const cli_arguments *arguments, char name[PATH_MAX])
{
    for (int i = 0; i < arguments->output_count; i++) {
        const char *path = arguments->output[i];
        if (strcmp(path, "-") && strncmp(path, "/dev/", 5) && strlen(path) + 10 < PATH_MAX) {
            snprintf(name, PATH_MAX, "%s.journal", path);
            return name;
        }
    }
    return NULL;
}

static int finish(const cli_arguments *arguments, zw_sweep *sweep, zw_status status,
                  const zw_error *error, int journal)
{
    FILE *talk = cli_outputs_use_stdout(arguments) ? stderr : stdout;
    if (status == ZW_INTERRUPTED) {
        fprintf(stderr, "zwang: interrupted: %d of %d runs are done%s\n", zw_sweep_done(sweep),
                zw_sweep_count(sweep),
                journal ? "; the same command continues with the others" : "");
        return CLI_INTERRUPTED;
    }
    if (status != ZW_OK) {
        cli_show_error(error);
        return cli_code_of(status);
    }
    int code = cli_outputs_write(arguments, write_sweep, sweep, "", talk);
    if (code == CLI_OK) {
        zw_sweep_forget(sweep);
        code = zw_sweep_failed(sweep) > 0 ? CLI_FAILED : CLI_OK;
    }
    return code;
}

static int carry_out(const cli_arguments *arguments, zw_sweep *sweep, int journal)
{
    FILE *talk = cli_outputs_use_stdout(arguments) ? stderr : stdout;
    zw_error error = {0};
    int before = zw_sweep_done(sweep);
    cli_catch_interrupt();
    cli_progress_runs(before, zw_sweep_count(sweep));
    double start = cli_clock();
    zw_status status = zw_sweep_run(sweep, &error);
    cli_progress_end();
    if (status == ZW_OK && !arguments->quiet) {
        show_summary(talk, arguments, sweep, cli_clock() - start, before);
    }
    fflush(stdout);
    return finish(arguments, sweep, status, &error, journal);
}

/* All ranks but the first: they run, and print nothing. */
static int help_out(zw_sweep *sweep)
{
    zw_error error = {0};
    cli_catch_interrupt();
    zw_sweep_run(sweep, &error); /* rank 0 receives the error */
    return CLI_OK;
}

static zw_sweep *make_sweep(const cli_arguments *arguments, const zw_sweep_ranks *ranks,
                            const char *journal, int *code)
{
    zw_error error = {0};
    zw_sweep_options options = {.read = {.settings = arguments->setting,
                                         .setting_count = arguments->setting_count,
                                         .base = arguments->base,
                                         .balance_inertia = arguments->balance,
                                         .packages = arguments->package,
                                         .package_count = arguments->package_count},
                                .reader = read_model,
                                .over = arguments->over,
                                .over_count = arguments->over_count,
                                .keep = arguments->keep,
                                .after = arguments->after,
                                .samples = arguments->samples,
                                .seed = (uint64_t)arguments->seed,
                                .run = arguments->run,
                                .threads = arguments->threads,
                                .journal = journal,
                                .user = (void *)arguments,
                                .progress = ranks->rank == 0 ? progress : NULL,
                                .ranks = ranks};
    options.run.poll = poll;
    zw_sweep *sweep = zw_sweep_create(arguments->file, &options, &error);
    if (!sweep) {
        *code = error.file[0] || error.status != ZW_BAD_INPUT ? cli_model_code(error.status)
                                                              : CLI_USAGE;
        if (ranks->rank == 0) {
            cli_show_error(&error);
        }
    }
    return sweep;
}

/* Reports errors of the file first. Rank 0 prints for all. */
static int check(const cli_arguments *arguments, int speaks)
{
    zw_error error = {0};
    cli_world world;
    int code = cli_load_system(arguments, &world, &error);
    if (code != CLI_OK) {
        return speaks ? cli_fail(arguments, &error, code) : code;
    }
    cli_unload(&world);
    return speaks ? cli_outputs_possible(arguments) : CLI_OK;
}

static int sweep_in(const cli_arguments *arguments, const zw_sweep_ranks *ranks)
{
    char name[PATH_MAX];
    int first = ranks->rank == 0, code = check(arguments, first);
    const char *journal = first ? journal_of(arguments, name) : NULL;
    zw_sweep *sweep = code == CLI_OK ? make_sweep(arguments, ranks, journal, &code) : NULL;
    if (ranks->count > 1 && !cli_ranks_agree(sweep != NULL) && sweep) {
        if (first) {
            fputs("zwang: another rank cannot make this sweep: has it the same files?\n", stderr);
        }
        zw_sweep_free(sweep);
        return CLI_FAILED;
    }
    if (sweep) {
        code = first ? carry_out(arguments, sweep, journal != NULL) : help_out(sweep);
    }
    zw_sweep_free(sweep);
    return code;
}

int cli_sweep(const cli_arguments *arguments)
{
    zw_sweep_ranks ranks;
    if (arguments->over_count == 0) {
        fputs("zwang: sweep needs parameters: for example --over \"m = 1..2 : 10\"\n", stderr);
        return CLI_USAGE;
    }
    int shared = cli_ranks_begin(&ranks), code = sweep_in(arguments, &ranks);
    return shared ? cli_ranks_end(code) : code;
}
