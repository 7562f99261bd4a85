/* A sweep as a file: its table, or pictures of it.
 *
 * Charts have the parameter with the most values on the horizontal axis. With a second parameter of
 * many values the quantities are maps; otherwise they are curves, one for each combination of the
 * other parameters, or dots where values are random. Kept points are always dots: a bifurcation
 * diagram. */
#include "batch/sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/elementary.h"
#include "model/model.h"
#include "record/copy.h"
#include "record/table.h"
#include "record/write.h"

enum { MANY = 9 }; /* least number of values of the second parameter for a map */

typedef struct maker {
    const zw_sweep *sweep;
    record_table *table;
    zw_error *error;
    zw_status status;
    int x, y; /* parameters: across, and up in maps (-1: no maps) */
} maker;

static void put(maker *k, zw_status status)
{
    k->status = k->status == ZW_OK ? status : k->status;
}

static int add_column(maker *k, const char *name)
{
    int index = -1;
    if (k->status == ZW_OK) {
        put(k, record_table_add_column(k->table, name, RECORD_ROLE_OTHER, &index, k->error));
    }
    return index;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

/* The origin of the numbers, above the table. */
static void add_notes(maker *k)
{
    const zw_sweep *sweep = k->sweep;
    const char *const label[] = {"zwang", "sweep of", "over", "keep", "after"};
    const char *const text[] = {zw_version(), sweep->path, sweep->over_text, sweep->keep_text,
                                sweep->after};
    for (int i = 0; i < 5 && k->status == ZW_OK; i++) {
        if (text[i]) {
            put(k, record_table_add_note(k->table, label[i], text[i], k->error));
        }
    }
}

static void make_numbers(maker *k)
{
    const zw_sweep *sweep = k->sweep;
    int columns = zw_sweep_columns(sweep);
    double *row = base_alloc((size_t)(columns + 1) * sizeof *row);
    if (!row) {
        put(k, record_no_memory(k->error));
    }
    k->table->label_title = "status";
    add_notes(k);
    add_column(k, zw_sweep_find(sweep, "run") < 0 ? "run" : "run number");
    for (int i = 0; i < columns; i++) {
        add_column(k, zw_sweep_name(sweep, i));
    }
    for (int run = 0; run < sweep->runs && k->status == ZW_OK; run++) {
        if (!sweep->status[run]) {
            continue;
        }
        row[0] = run;
        for (int i = 0; i < columns; i++) {
            row[i + 1] = zw_sweep_value(sweep, run, i);
        }
        put(k, record_table_label_row(k->table, sweep->status[run], k->error));
        if (k->status == ZW_OK) {
            put(k, record_table_add_row(k->table, row, k->error));
        }
    }
    base_free(row);
}

/* ---- Pictures ------------------------------------------------------------------------------- */

static int values_of(const zw_sweep *sweep, int over)
{
    return sweep->over[over].how >= SWEEP_RANDOM ? sweep->options.samples : sweep->over[over].count;
}

static void choose_axes(maker *k)
{
    const zw_sweep *sweep = k->sweep;
    k->x = k->y = -1;
    for (int i = 0; i < sweep->over_count; i++) {
        if (k->x < 0 || values_of(sweep, i) > values_of(sweep, k->x)) {
            k->x = i;
        }
    }
    for (int i = 0; i < sweep->over_count; i++) {
        int drawn = sweep->over[i].how >= SWEEP_RANDOM || sweep->over[k->x].how >= SWEEP_RANDOM;
        if (i != k->x && !drawn && values_of(sweep, i) >= MANY &&
            sweep->runs == sweep->over[i].count * sweep->over[k->x].count) {
            k->y = i;
        }
    }
}

/* The value of a parameter as it is plotted: the logarithm where steps have equal ratios. */
static double shown(const zw_sweep *sweep, int run, int over)
{
    double value = zw_sweep_value(sweep, run, over);
    return sweep->over[over].log ? math_log(value) / 2.302585092994045684 : value;
}

static int add_axis(maker *k, int over)
{
    char name[256];
    snprintf(name, sizeof name, k->sweep->over[over].log ? "log10 %.200s" : "%.200s",
             k->sweep->over[over].name);
    return add_column(k, name);
}

/* The runs in plotting order: x varies fastest. */
static int run_of(const zw_sweep *sweep, int over, int line, int i)
{
    int below = sweep->options.samples > 0 ? sweep->options.samples : 1;
    if (sweep->over[over].how >= SWEEP_RANDOM) {
        return line * below + i;
    }
    for (int k = over + 1; k < sweep->over_count; k++) {
        below *= sweep->over[k].count;
    }
    int count = sweep->over[over].count;
    return (line / below * count + i) * below + line % below;
}

/* Adds rows of x, y (if there is one) and the quantities, with a gap after every line. */
static void add_rows(maker *k, int first, double *row)
{
    const zw_sweep *sweep = k->sweep;
    int columns = k->table->column_count, along = values_of(sweep, k->x);
    for (int line = 0; line < sweep->runs / along; line++) {
        for (int i = 0; i <= along && k->status == ZW_OK; i++) {
            int run = i < along ? run_of(sweep, k->x, line, i) : -1, at = 0;
            row[at++] = run >= 0 ? shown(sweep, run, k->x) : NAN;
            if (k->y >= 0) {
                row[at++] = run >= 0 ? shown(sweep, run, k->y) : NAN;
            }
            while (at < columns) {
                row[at++] = NAN;
            }
            int column = sweep->over_count;
            at = first;
            for (int q = 0; q < sweep->keeps.count; q++) {
                const sweep_keep *keep = &sweep->keeps.keep[q];
                row[at++] = keep->columns == 1 ? zw_sweep_value(sweep, run, column) : NAN;
                column += keep->columns;
            }
            put(k, record_table_add_row(k->table, row, k->error));
        }
    }
}

/* Adds a row for each kept point. */
static void add_points(maker *k, int first, double *row)
{
    const zw_sweep *sweep = k->sweep;
    for (int run = 0; run < sweep->runs; run++) {
        int column = sweep->over_count;
        for (int q = 0; q < sweep->keeps.count; q++) {
            const sweep_keep *keep = &sweep->keeps.keep[q];
            for (int p = 0; keep->columns > 1 && p < keep->columns && k->status == ZW_OK; p++) {
                for (int i = 0; i < k->table->column_count; i++) {
                    row[i] = NAN;
                }
                row[0] = shown(sweep, run, k->x);
                row[first + q] = zw_sweep_value(sweep, run, column + p);
                put(k, record_table_add_row(k->table, row, k->error));
            }
            column += keep->columns;
        }
    }
}

/* "max(x), 0.4 dark to 3.1 bright" */
static void title_map(const maker *k, int column, const char *name, char *title, size_t capacity)
{
    const double *value = record_table_column(k->table, column);
    double low = INFINITY, high = -INFINITY;
    for (size_t row = 0; row < k->table->row_count; row++) {
        low = value[row] < low ? value[row] : low;
        high = value[row] > high ? value[row] : high;
    }
    snprintf(title, capacity, low <= high ? "%.60s: %.4g dark, %.4g bright" : "%.60s", name, low,
             high);
}

static void add_plots(maker *k, int first)
{
    char title[120];
    const zw_sweep *sweep = k->sweep;
    for (int q = 0; q < sweep->keeps.count && k->status == ZW_OK; q++) {
        const sweep_keep *keep = &sweep->keeps.keep[q];
        int column = first + q, up = 1, drawn = sweep->over[k->x].how >= SWEEP_RANDOM;
        record_plot plot = {.kind =
                                keep->columns > 1 || drawn ? RECORD_PLOT_DOTS : RECORD_PLOT_PHASE,
                            .title = keep->title,
                            .y = &column,
                            .y_count = 1};
        if (k->y >= 0 && keep->columns == 1) {
            plot.kind = RECORD_PLOT_DOTS;
            plot.y = &up;
            plot.title = title;
            title_map(k, column, keep->title, title, sizeof title);
            plot.color = 1 + column;
            plot.fields[0] = sweep->over[k->x].count;
            plot.fields[1] = sweep->over[k->y].count;
        }
        put(k, record_table_add_plot(k->table, &plot, k->error));
    }
}

static void add_texts(maker *k)
{
    const zw_sweep *sweep = k->sweep;
    char text[200];
    zw_model *model =
        sweep_model(sweep, sweep->setting, sweep->options.read.setting_count, NULL, NULL);
    if (model) {
        const char *source = model->file_count ? model->file[0].text : "";
        put(k, record_table_set_text(k->table, RECORD_TEXT_TITLE,
                                     model->title ? model->title : sweep->path, k->error));
        put(k, record_table_set_text(k->table, RECORD_TEXT_SOURCE, source, k->error));
    }
    zw_model_free(model);
    put(k, record_table_set_text(k->table, RECORD_TEXT_FILE, sweep->path, k->error));
    snprintf(text, sizeof text, "%d of %d, %d failed", zw_sweep_done(sweep), sweep->runs,
             zw_sweep_failed(sweep));
    put(k, record_table_add_summary(k->table, "runs", text, k->error));
    put(k, record_table_add_summary(k->table, "over", sweep->over_text, k->error));
    put(k, record_table_add_summary(k->table, "keep", sweep->keep_text, k->error));
}

static void make_pictures(maker *k)
{
    const zw_sweep *sweep = k->sweep;
    choose_axes(k);
    add_texts(k);
    if (k->x < 0) {
        return; /* with one run there is nothing to plot against */
    }
    add_axis(k, k->x);
    int first = 1 + (k->y >= 0);
    if (k->y >= 0) {
        add_axis(k, k->y);
    }
    for (int q = 0; q < sweep->keeps.count; q++) {
        char name[256];
        snprintf(name, sizeof name, "%.200s", sweep->keeps.keep[q].title);
        for (int copy = 2; record_table_find(k->table, name) >= 0; copy++) {
            snprintf(name, sizeof name, "%.200s (%d)", sweep->keeps.keep[q].title, copy);
        }
        add_column(k, name);
    }
    double *row = base_alloc((size_t)(k->table->column_count + 1) * sizeof *row);
    if (!row) {
        put(k, record_no_memory(k->error));
    }
    if (k->status == ZW_OK) {
        add_rows(k, first, row);
        add_points(k, first, row);
        add_plots(k, first);
    }
    base_free(row);
}

zw_status zw_sweep_write(const zw_sweep *sweep, const char *path, int plain, zw_error *error)
{
    maker k = {.sweep = sweep, .error = error, .table = record_table_create(error)};
    const char *dot = strrchr(path, '.');
    if (!k.table) {
        return ZW_NO_MEMORY;
    }
    if (dot && (!strcmp(dot, ".svg") || !strcmp(dot, ".html"))) {
        make_pictures(&k);
    } else {
        k.table->plain = plain != 0;
        make_numbers(&k);
    }
    if (k.status == ZW_OK) {
        k.status = record_write(k.table, path, error);
    }
    record_table_free(k.table);
    return k.status;
}
