/* The trial of a recorded path as a file: the extra force over time, and the forces of the
 * constraints. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "path/trial/trial.h"
#include "record/copy.h"
#include "record/table.h"
#include "record/view.h"
#include "record/write.h"

enum { NAME = 256, LINE = 240 };

typedef struct maker {
    const zw_trial *trial;
    record_table *table;
    zw_error *error;
    zw_status status;
    int extra, size, lambda; /* their first columns */
} maker;

/* ---- Columns and rows ----------------------------------------------------------------------- */

/* If a coordinate is called power, the column of the power gets a number. */
static int add_column(maker *k, const char *name, record_role role)
{
    int index = -1;
    char other[NAME];
    snprintf(other, sizeof other, "%s", name);
    for (int copy = 2; k->status == ZW_OK && record_table_find(k->table, other) >= 0; copy++) {
        snprintf(other, sizeof other, "%.200s (%d)", name, copy);
    }
    if (k->status == ZW_OK) {
        k->status = record_table_add_column(k->table, other, role, &index, k->error);
    }
    return index;
}

static void add_columns(maker *k)
{
    const zw_model *model = k->trial->system->model;
    char name[NAME];
    add_column(k, "t", RECORD_ROLE_TIME);
    for (int i = 0; i < model->coord_count; i++) {
        add_column(k, model->coord[i].name, RECORD_ROLE_COORD);
    }
    k->extra = k->table->column_count;
    for (int i = 0; i < model->coord_count; i++) {
        snprintf(name, sizeof name, "extra(%.200s)", model->coord[i].name);
        add_column(k, name, RECORD_ROLE_OTHER);
    }
    k->size = add_column(k, "|extra|", RECORD_ROLE_OTHER);
    add_column(k, "|extra| error", RECORD_ROLE_OTHER);
    k->lambda = k->table->column_count;
    for (int c = 0; c < model->constraint_count; c++) {
        for (int j = 0; j < model->constraint[c].rows; j++) {
            const char *one =
                model->constraint[c].rows == 1 ? "lambda(%.200s)" : "lambda(%.200s).%c";
            snprintf(name, sizeof name, one, model->constraint[c].name, "xyz"[j]);
            add_column(k, name, RECORD_ROLE_MULTIPLIER);
        }
    }
    add_column(k, "power", RECORD_ROLE_OTHER);
}

static void add_rows(maker *k)
{
    const zw_trial *trial = k->trial;
    size_t n = (size_t)trial->n, m = (size_t)trial->m;
    double *row = base_alloc((size_t)k->table->column_count * sizeof *row);
    if (row == NULL) {
        k->status = record_no_memory(k->error);
    }
    for (size_t s = 0; s < (size_t)trial->count && k->status == ZW_OK; s++) {
        double *to = row;
        *to++ = trial->t[s];
        memcpy(to, trial->q + s * n, n * sizeof *to);
        memcpy(to + n, trial->extra + s * n, n * sizeof *to);
        to += 2 * n;
        *to++ = trial->extra_size[s];
        *to++ = trial->extra_error[s];
        if (m > 0) {
            memcpy(to, trial->lambda + s * m, m * sizeof *to);
        }
        to[m] = trial->power[s];
        k->status = record_table_add_row(k->table, row, k->error);
    }
    base_free(row);
}

/* ---- Plots ---------------------------------------------------------------------------------- */

static double peak_of(const record_table *table, int column)
{
    const double *value = record_table_column(table, column);
    double peak = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        peak = fabs(value[row]) > peak ? fabs(value[row]) : peak;
    }
    return peak;
}

static void add_plot(maker *k, const char *title, const char *label, const int *column, int count,
                     bool log)
{
    record_plot plot = {.kind = RECORD_PLOT_TIME,
                        .title = title,
                        .y_label = label,
                        .y = column,
                        .y_count = count,
                        .log_y = log};
    if (k->status == ZW_OK && count > 0) {
        k->status = record_table_add_plot(k->table, &plot, k->error);
    }
}

/* Plots columns first .. first + count - 1 in the order of the table; if a chart cannot hold them
 * all, those with the largest peaks. */
static void add_plot_of(maker *k, const char *title, int first, int count)
{
    int *order = base_alloc((size_t)count * sizeof *order + 1);
    double *peak = base_alloc((size_t)count * sizeof *peak + 1);
    if (order == NULL || peak == NULL) {
        k->status = record_no_memory(k->error);
        count = 0;
    }
    for (int i = 0; i < count; i++) {
        order[i] = first + i;
        peak[i] = count > RECORD_CURVES ? peak_of(k->table, first + i) : 0;
    }
    for (int i = 0; i < count && i < RECORD_CURVES; i++) {
        int best = i;
        for (int j = i + 1; j < count; j++) {
            best = peak[order[j] - first] > peak[order[best] - first] ? j : best;
        }
        int taken = order[best];
        memmove(&order[i + 1], &order[i], (size_t)(best - i) * sizeof *order);
        order[i] = taken;
    }
    add_plot(k, title, NULL, order, count, false);
    base_free(order);
    base_free(peak);
}

/* A page always shows multipliers. */
static void add_plots(maker *k, bool page)
{
    int size[] = {k->size, k->size + 1};
    add_plot(k, "Extra force that would be needed, and the error of the fit", "size in the metric",
             size, 2, true);
    add_plot_of(k, "Extra force on each coordinate", k->extra, k->trial->n);
    if (!page) {
        add_plot_of(k, "Constraint forces", k->lambda, k->trial->m);
    }
}

/* ---- Descriptions ---------------------------------------------------------------------------- */

static void add_line(maker *k, const char *label, const char *text)
{
    if (k->status == ZW_OK) {
        k->status = record_table_add_summary(k->table, label, text, k->error);
    }
}

static void add_findings(maker *k)
{
    const zw_trial_report *report = &k->trial->report;
    const zw_system *system = k->trial->system;
    static const char *const verdict[] = {"a motion of this system", "not a motion of this system",
                                          "it leaves the constraints",
                                          "too coarse or too noisy to tell"};
    char text[LINE];
    add_line(k, "verdict", verdict[report->verdict]);
    snprintf(text, sizeof text, "%ld samples, t = %.6g to %.6g, %d piece%s", report->samples,
             report->start, report->end, report->pieces, report->pieces == 1 ? "" : "s");
    add_line(k, "recording", text);
    snprintf(text, sizeof text,
             "degree %d over %d samples, error %.2g, speeds %.2g, accelerations %.2g",
             report->fit_degree, report->fit_window, report->error_position, report->error_speed,
             report->error_acceleration);
    add_line(k, "fit", text);
    snprintf(text, sizeof text, "%.3g, of which the fit explains %.3g", report->defect,
             report->defect_error);
    add_line(k, "defect", text);
    if (report->worst_coord >= 0) {
        snprintf(text, sizeof text, "t = %.6g, %.100s pushed with %.4g", report->worst_time,
                 zw_name(system, ZW_KIND_COORD, report->worst_coord), report->worst_force);
        add_line(k, "worst moment", text);
    }
    if (report->violation_constraint >= 0) {
        snprintf(text, sizeof text, "%.2g position, %.2g velocity, most of %.100s at t = %.6g",
                 report->violation_position, report->violation_velocity,
                 zw_name(system, ZW_KIND_CONSTRAINT, report->violation_constraint),
                 report->violation_time);
        add_line(k, "violation", text);
    }
    snprintf(text, sizeof text, "changes by %.6g, work %.6g, difference at most %.2g",
             report->energy_change, report->energy_work, report->energy_defect);
    add_line(k, "energy", text);
}

static void add_marks(maker *k)
{
    const zw_trial *trial = k->trial;
    for (int p = 1; p < trial->pieces && k->status == ZW_OK; p++) {
        k->status = record_table_add_mark(k->table, trial->t[trial->start[p]], "jump", k->error);
    }
    if (k->status == ZW_OK && trial->report.verdict == ZW_VERDICT_NOT_MOTION) {
        k->status = record_table_add_mark(k->table, trial->report.worst_time, "worst", k->error);
    }
}

static void add_texts(maker *k)
{
    const zw_model *model = k->trial->system->model;
    const char *file = model->file_count ? model->file[0].name : "";
    const char *source = model->file_count ? model->file[0].text : "";
    k->status = record_table_set_text(k->table, RECORD_TEXT_TITLE,
                                      model->title ? model->title : file, k->error);
    if (k->status == ZW_OK) {
        k->status = record_table_set_text(k->table, RECORD_TEXT_FILE, file, k->error);
    }
    if (k->status == ZW_OK) {
        k->status = record_table_set_text(k->table, RECORD_TEXT_SOURCE, source, k->error);
    }
}

/* ---- Files ---------------------------------------------------------------------------------- */

static bool is_page(const char *file)
{
    size_t length = strlen(file);
    return length > 5 && strcmp(file + length - 5, ".html") == 0;
}

zw_status zw_trial_write(const zw_trial *trial, const char *file, zw_error *error)
{
    maker k = {.trial = trial, .error = error, .table = record_table_create(error)};
    if (k.table == NULL) {
        return ZW_NO_MEMORY;
    }
    add_texts(&k);
    add_columns(&k);
    if (k.status == ZW_OK) {
        add_rows(&k);
    }
    if (k.status == ZW_OK) {
        add_plots(&k, is_page(file));
        add_findings(&k);
        add_marks(&k);
    }
    if (k.status == ZW_OK) {
        k.status = record_write(k.table, file, error);
    }
    record_table_free(k.table);
    return k.status;
}
