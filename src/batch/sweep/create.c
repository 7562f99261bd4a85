/* Creates a sweep: parses its texts, looks up names, lays out the table; every error of the command
 * is found here, before the first run. */
#include "batch/sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "model/model.h"
#include "system/system.h"

static zw_status no_memory(zw_error *error)
{
    return base_fail(error, ZW_NO_MEMORY, "out of memory");
}

static char *copy_text(const char *text)
{
    size_t length = strlen(text);
    char *copy = base_alloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
    }
    return copy;
}

static char *join(const char *const *text, int count)
{
    size_t capacity = 1, used = 0;
    for (int i = 0; i < count; i++) {
        capacity += strlen(text[i]) + 2;
    }
    char *all = base_alloc(capacity);
    for (int i = 0; all && i < count; i++) {
        used += (size_t)snprintf(all + used, capacity - used, "%s%s", i ? "; " : "", text[i]);
    }
    return all;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static zw_status copy_options(zw_sweep *sweep, const char *path, const zw_sweep_options *given,
                              zw_error *error)
{
    int settings = given->read.setting_count;
    sweep->options = *given;
    sweep->path = copy_text(path);
    sweep->journal_path = given->journal ? copy_text(given->journal) : NULL;
    sweep->after = given->after ? copy_text(given->after) : NULL;
    sweep->over_text = join(given->over, given->over_count);
    sweep->keep_text = copy_text(given->keep ? given->keep : "");
    sweep->setting = base_alloc((size_t)(settings + 1) * sizeof *sweep->setting);
    if (!sweep->path || !sweep->setting || !sweep->over_text || !sweep->keep_text ||
        (given->journal && !sweep->journal_path) || (given->after && !sweep->after)) {
        return no_memory(error);
    }
    for (int i = 0; i < settings; i++) {
        sweep->setting[i] = given->read.settings[i];
    }
    sweep->options.read.settings = sweep->setting;
    return ZW_OK;
}

static zw_status read_overs(zw_sweep *sweep, zw_error *error)
{
    const zw_sweep_options *options = &sweep->options;
    int count = options->over_count;
    sweep->over = base_alloc((size_t)(count + 1) * sizeof *sweep->over);
    if (!sweep->over) {
        return no_memory(error);
    }
    for (int i = 0; i < count; i++) {
        zw_status status = sweep_over_read(&sweep->over[i], options->over[i], error);
        sweep->over_count = i + 1;
        if (status != ZW_OK) {
            return status;
        }
        const char *name = sweep->over[i].name;
        for (int k = 0; k < i; k++) {
            if (!strcmp(sweep->over[k].name, name)) {
                return base_fail(error, ZW_BAD_INPUT, "%.60s varies twice", name);
            }
        }
        for (int k = 0; k < options->read.setting_count; k++) {
            if (!strcmp(options->read.settings[k].name, name)) {
                return base_fail(error, ZW_BAD_INPUT, "%.60s is both set and varied", name);
            }
        }
    }
    sweep->runs = sweep_over_runs(sweep->over, count, options->samples, error);
    zw_status status = sweep->runs > 0 ? ZW_OK : ZW_BAD_INPUT;
    for (int i = 0; i < count && status == ZW_OK; i++) {
        status = sweep_over_rank(&sweep->over[i], options->samples, options->seed, error);
    }
    return status;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Tries each name with its first value: reading the file shows whether it exists. */
static zw_status try_names(zw_sweep *sweep, zw_error *error)
{
    int fixed = sweep->options.read.setting_count;
    zw_status status = ZW_OK;
    for (int i = 0; i < sweep->over_count && status == ZW_OK; i++) {
        sweep->setting[fixed] = (zw_setting){sweep->over[i].name, zw_sweep_value(sweep, 0, i)};
        zw_model *model = sweep_model(sweep, sweep->setting, fixed + 1, NULL, error);
        status = model ? ZW_OK : error->status;
        zw_model_free(model);
    }
    return status;
}

static void hash_text_of(const zw_sweep *sweep, const zw_model *model, uint64_t *hash)
{
    const zw_sweep_options *options = &sweep->options;
    *hash = base_hash_text(*hash, zw_version());
    for (int i = 0; i < model->file_count; i++) {
        *hash = base_hash_text(*hash, model->file[i].text);
    }
    for (int i = 0; i < options->over_count; i++) {
        *hash = base_hash_text(*hash, options->over[i]);
    }
    for (int i = 0; i < options->read.setting_count; i++) {
        *hash = base_hash_text(*hash, options->read.settings[i].name);
        *hash = base_hash_numbers(*hash, 1, &options->read.settings[i].value);
    }
    *hash = base_hash_text(base_hash_text(*hash, options->keep), options->after);
}

/* The hash of everything that the table depends on: the texts, the mechanics, the start, the
 * options. */
static void take_hash(zw_sweep *sweep, const zw_model *model, const zw_system *system)
{
    const zw_run_options *run = &sweep->options.run;
    const double number[] = {run->time, run->every, run->step, run->tolerance, run->accuracy};
    const int choice[] = {(int)run->method, (int)run->contact, (int)zw_model_impact(model),
                          sweep->options.samples, run->memoryless};
    uint64_t hash = BASE_HASH_START;
    hash_text_of(sweep, model, &hash);
    hash = base_hash_numbers(hash, sizeof number / sizeof *number, number);
    hash = base_hash_ints(hash, sizeof choice / sizeof *choice, choice);
    hash = base_hash_word(base_hash_word(hash, sweep->options.seed), system->fingerprint);
    zw_work *work = zw_work_create(system, NULL);
    zw_state *state = work ? zw_state_create(system, work, NULL, NULL) : NULL;
    sweep->hash = state ? base_hash_word(hash, zw_state_hash(state)) : hash;
    zw_state_free(state);
    zw_work_free(work);
}

/* An error in a formula has its place in a line that the user did not write: the formula is
 * better. */
static void place_in_formula(const sweep_keeps *keeps, zw_error *error)
{
    if (strcmp(error->file, "--keep") == 0 && error->line >= 1 &&
        error->line <= keeps->expr_count) {
        zw_error found = *error;
        base_fail(error, found.status, "\"%.100s\": %.*s", keeps->expr[found.line - 1],
                  (int)strcspn(found.text, "\n"), found.text);
    }
}

/* Formulas are read as part of the file, so that their errors are reported like any other. */
static zw_status try_formulas(zw_sweep *sweep, zw_error *error)
{
    int fixed = sweep->options.read.setting_count;
    sweep->lines = sweep->is_robot ? NULL : sweep_keeps_lines(&sweep->keeps);
    sweep_source *source = base_alloc((size_t)(sweep->keeps.expr_count + 1) * sizeof *source);
    if (!source || (!sweep->is_robot && !sweep->lines)) {
        base_free(source);
        return no_memory(error);
    }
    zw_model *model = sweep_model(sweep, sweep->setting, fixed, sweep->lines, error);
    zw_system *system = model ? zw_system_compile(model, NULL, error) : NULL;
    zw_status status =
        system ? sweep_sources(&sweep->keeps, model, system, sweep->is_robot, source, error)
               : error->status;
    if (status != ZW_OK && error) {
        place_in_formula(&sweep->keeps, error);
    }
    base_free(source);
    zw_system_free(system);
    zw_model_free(model);
    return status;
}

static zw_status look_up(zw_sweep *sweep, zw_error *error)
{
    zw_model *model =
        sweep_model(sweep, sweep->setting, sweep->options.read.setting_count, NULL, error);
    zw_system *system = model ? zw_system_compile(model, NULL, error) : NULL;
    zw_status status = system ? ZW_OK : error->status;
    if (status == ZW_OK) {
        sweep->is_robot = model->bodies && !model->imported;
        take_hash(sweep, model, system);
        status = sweep_keeps_bind(&sweep->keeps, sweep->after, system, error);
    }
    zw_system_free(system);
    zw_model_free(model);
    status = status == ZW_OK ? try_formulas(sweep, error) : status;
    return status == ZW_OK ? try_names(sweep, error) : status;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* If a parameter is called `end`, the column of the end gets a number. */
static int add_name(zw_sweep *sweep, int *count, const char *name, int point)
{
    char text[256], own[256];
    snprintf(own, sizeof own, point > 0 ? "%.200s %d" : "%.200s", name, point);
    snprintf(text, sizeof text, "%s", own);
    for (int copy = 2; zw_sweep_find(sweep, text) >= 0; copy++) {
        snprintf(text, sizeof text, "%.230s (%d)", own, copy);
    }
    sweep->name[*count] = copy_text(text);
    return sweep->name[(*count)++] != NULL;
}

static zw_status make_table(zw_sweep *sweep, zw_error *error)
{
    static const char *const diagnostics[] = {"end", "steps", "certificate", "drift", "doubt"};
    size_t runs = (size_t)sweep->runs, width;
    int count = 0, ok = 1;
    sweep->width = sweep->keeps.columns + SWEEP_DIAGNOSTICS;
    width = (size_t)sweep->width;
    if (runs * width > 500000000) {
        return base_fail(error, ZW_BAD_INPUT, "%d runs with %d numbers each are too many",
                         sweep->runs, sweep->width);
    }
    sweep->name = base_alloc((size_t)zw_sweep_columns(sweep) * sizeof *sweep->name);
    sweep->value = base_alloc(runs * width * sizeof *sweep->value);
    sweep->status = base_alloc(runs * sizeof *sweep->status);
    if (!sweep->name || !sweep->value || !sweep->status) {
        return no_memory(error);
    }
    for (int i = 0; ok && i < sweep->over_count; i++) {
        ok = add_name(sweep, &count, sweep->over[i].name, 0);
    }
    for (int i = 0; ok && i < sweep->keeps.count; i++) {
        const sweep_keep *keep = &sweep->keeps.keep[i];
        for (int k = 0; ok && k < keep->columns; k++) {
            ok = add_name(sweep, &count, keep->title, keep->columns > 1 ? k + 1 : 0);
        }
    }
    for (int i = 0; ok && i < SWEEP_DIAGNOSTICS; i++) {
        ok = add_name(sweep, &count, diagnostics[i], 0);
    }
    return ok ? ZW_OK : no_memory(error);
}

zw_sweep *zw_sweep_create(const char *path, const zw_sweep_options *options, zw_error *error)
{
    zw_error own = {0}, *failure = error ? error : &own;
    zw_sweep *sweep = base_alloc(sizeof *sweep);
    if (!sweep || !path || !options) {
        base_fail(failure, sweep ? ZW_BAD_INPUT : ZW_NO_MEMORY,
                  sweep ? "a sweep needs a file and options" : "out of memory");
        base_free(sweep);
        return NULL;
    }
    sweep->journal = -1;
    pthread_mutex_init(&sweep->lock, NULL);
    zw_status status = copy_options(sweep, path, options, failure);
    if (status == ZW_OK && options->run.observer) {
        status = base_fail(failure, ZW_BAD_INPUT, "a sweep has no observer");
    }
    status = status == ZW_OK ? read_overs(sweep, failure) : status;
    status = status == ZW_OK ? sweep_keeps_read(&sweep->keeps, options->keep, failure) : status;
    status = status == ZW_OK ? look_up(sweep, failure) : status;
    status = status == ZW_OK ? make_table(sweep, failure) : status;
    status = status == ZW_OK ? sweep_journal_open(sweep, failure) : status;
    if (status != ZW_OK) {
        zw_sweep_free(sweep);
        return NULL;
    }
    sweep->options.over = NULL; /* owned by the caller */
    sweep->options.keep = NULL;
    return sweep;
}

void zw_sweep_free(zw_sweep *sweep)
{
    if (!sweep) {
        return;
    }
    sweep_journal_close(sweep);
    for (int i = 0; i < sweep->over_count; i++) {
        sweep_over_clear(&sweep->over[i]);
    }
    for (int i = 0; sweep->name && i < zw_sweep_columns(sweep); i++) {
        base_free(sweep->name[i]);
    }
    for (int i = 0; sweep->status && i < sweep->runs; i++) {
        base_free(sweep->status[i]);
    }
    sweep_keeps_clear(&sweep->keeps);
    base_free(sweep->over);
    base_free(sweep->name);
    base_free(sweep->status);
    base_free(sweep->value);
    base_free(sweep->path);
    base_free(sweep->journal_path);
    base_free(sweep->after);
    base_free(sweep->over_text);
    base_free(sweep->keep_text);
    base_free(sweep->setting);
    base_free(sweep->lines);
    pthread_mutex_destroy(&sweep->lock);
    base_free(sweep);
}

/* ---- Looking --------------------------------------------------------------------------------- */

int zw_sweep_count(const zw_sweep *sweep)
{
    return sweep->runs;
}

int zw_sweep_done(const zw_sweep *sweep)
{
    return atomic_load(&sweep->done);
}

int zw_sweep_failed(const zw_sweep *sweep)
{
    return atomic_load(&sweep->failed);
}

int zw_sweep_columns(const zw_sweep *sweep)
{
    return sweep->over_count + sweep->width;
}

const char *zw_sweep_name(const zw_sweep *sweep, int column)
{
    return column >= 0 && column < zw_sweep_columns(sweep) ? sweep->name[column] : "";
}

int zw_sweep_find(const zw_sweep *sweep, const char *name)
{
    for (int i = 0; i < zw_sweep_columns(sweep) && sweep->name[i]; i++) {
        if (!strcmp(sweep->name[i], name)) {
            return i;
        }
    }
    return -1;
}

double zw_sweep_value(const zw_sweep *sweep, int run, int column)
{
    int over = sweep->over_count;
    if (run < 0 || run >= sweep->runs || column < 0 || column >= zw_sweep_columns(sweep)) {
        return NAN;
    }
    if (column >= over) {
        return sweep->status[run]
                   ? sweep->value[(size_t)run * (size_t)sweep->width + (size_t)(column - over)]
                   : NAN;
    }
    return sweep_over_value(sweep->over, over, sweep->options.samples, sweep->options.seed, run,
                            column);
}

const char *zw_sweep_status(const zw_sweep *sweep, int run)
{
    return run >= 0 && run < sweep->runs ? sweep->status[run] : NULL;
}
