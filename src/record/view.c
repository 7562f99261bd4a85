#include "record/view.h"

#include "base/list.h"
#include "base/memory.h"
#include "record/copy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double record_first_finite(const record_table *table, int column)
{
    const double *value = record_table_column(table, column);
    for (size_t row = 0; row < table->row_count; row++) {
        if (isfinite(value[row])) {
            return value[row];
        }
    }
    return 0;
}

double record_time_of(const record_table *table, size_t row)
{
    return table->time >= 0 ? record_table_column(table, table->time)[row] : (double)row;
}

void record_view_free(record_view *view)
{
    base_free(view->chart);
    *view = (record_view){0};
}

static const char *time_name(const record_table *table)
{
    return table->time >= 0 ? table->column[table->time].name : "sample";
}

static record_chart *add_chart(record_view *view, zw_error *error)
{
    if (!base_list_reserve(&view->chart, &view->capacity, view->count, sizeof *view->chart)) {
        record_no_memory(error);
        return NULL;
    }
    view->chart[view->count] = (record_chart){.x_label = "", .y_label = ""};
    return &view->chart[view->count++];
}

/* Cut at the boundary of a UTF-8 character. */
static void set_title(record_chart *chart, const char *first, const char *link, const char *second)
{
    char *title = chart->title;
    size_t capacity = sizeof chart->title;
    if (snprintf(title, capacity, "%s%s%s", first, link, second) >= (int)capacity) {
        size_t end = capacity - 4;
        while (end > 0 && ((unsigned char)title[end] & 0xc0) == 0x80) {
            end--;
        }
        memcpy(title + end, "\xe2\x80\xa6", 4);
    }
}

static zw_status add_plot(record_view *view, const record_table *table, const record_plot *plot,
                          zw_error *error)
{
    record_chart *chart = add_chart(view, error);
    if (chart == NULL) {
        return ZW_NO_MEMORY;
    }
    chart->kind = plot->kind;
    chart->log_y = plot->log_y;
    chart->color = plot->color;
    memcpy(chart->fields, plot->fields, sizeof chart->fields);
    chart->x = plot->kind == RECORD_PLOT_TIME ? table->time : plot->x;
    chart->curve_count = plot->y_count < RECORD_CURVES ? plot->y_count : RECORD_CURVES;
    chart->left_out = plot->y_count - chart->curve_count;
    memcpy(chart->curve, plot->y, (size_t)chart->curve_count * sizeof *plot->y);

    const char *x_name = chart->x >= 0 ? table->column[chart->x].name : time_name(table);
    const char *y_name = table->column[plot->y[0]].name;
    chart->x_label = plot->x_label != NULL ? plot->x_label : x_name;
    chart->y_label = plot->y_label != NULL ? plot->y_label : plot->y_count == 1 ? y_name : "";
    if (plot->title != NULL && plot->title[0] != '\0') {
        set_title(chart, plot->title, "", "");
    } else {
        char names[sizeof chart->title] = "";
        for (int i = 0; i < chart->curve_count && strlen(names) < 40; i++) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                     table->column[plot->y[i]].name);
        }
        set_title(chart, names, " over ", x_name);
    }
    return ZW_OK;
}

static double peak_of(const record_table *table, int column)
{
    const double *value = record_table_column(table, column);
    double peak = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        double size = fabs(value[row]);
        peak = isfinite(size) && size > peak ? size : peak;
    }
    return peak;
}

/* Adds the column; if the chart is full, the column with the smallest peak is dropped. */
static void take_largest(record_chart *chart, double *peak, int column, double its_peak)
{
    int at = chart->curve_count;
    if (at == RECORD_CURVES) {
        chart->left_out++;
        at = 0;
        for (int i = 1; i < RECORD_CURVES; i++) {
            at = peak[i] <= peak[at] ? i : at;
        }
        if (its_peak <= peak[at]) {
            return;
        }
        /* Close the gap, so that curves keep the order of the columns. */
        memmove(&chart->curve[at], &chart->curve[at + 1],
                (size_t)(RECORD_CURVES - 1 - at) * sizeof chart->curve[0]);
        memmove(&peak[at], &peak[at + 1], (size_t)(RECORD_CURVES - 1 - at) * sizeof peak[0]);
        at = RECORD_CURVES - 1;
    } else {
        chart->curve_count++;
    }
    chart->curve[at] = column;
    peak[at] = its_peak;
}

/* All columns of a role over time; of many, the first ones or those with the largest peaks. */
static zw_status add_role(record_view *view, const record_table *table, record_role role,
                          const char *title, zw_error *error)
{
    const bool by_size = role == RECORD_ROLE_MULTIPLIER || role == RECORD_ROLE_VIOLATION ||
                         role == RECORD_ROLE_CONTACT || role == RECORD_ROLE_JOINT;
    record_chart chart = {.kind = RECORD_PLOT_TIME,
                          .x = table->time,
                          .x_label = time_name(table),
                          .y_label = "",
                          .forces = role == RECORD_ROLE_CONTACT || role == RECORD_ROLE_JOINT,
                          .log_y =
                              role == RECORD_ROLE_VIOLATION || role == RECORD_ROLE_CERTIFICATE};
    double peak[RECORD_CURVES] = {0};
    for (int c = 0; c < table->column_count; c++) {
        if (table->column[c].role == role) {
            take_largest(&chart, peak, c, by_size ? peak_of(table, c) : 0);
        }
    }
    if (chart.curve_count == 0) {
        return ZW_OK;
    }
    if (chart.curve_count == 1) {
        chart.y_label = table->column[chart.curve[0]].name;
    }
    set_title(&chart, title, "", "");
    record_chart *place = add_chart(view, error);
    if (place == NULL) {
        return ZW_NO_MEMORY;
    }
    *place = chart;
    return ZW_OK;
}

static zw_status add_drift(record_view *view, const record_table *table, zw_error *error)
{
    for (int c = 0; c < table->column_count; c++) {
        if (table->column[c].role == RECORD_ROLE_ENERGY) {
            record_chart *chart = add_chart(view, error);
            if (chart == NULL) {
                return ZW_NO_MEMORY;
            }
            *chart = (record_chart){.kind = RECORD_PLOT_TIME,
                                    .x = table->time,
                                    .x_label = time_name(table),
                                    .y_label = "change since the start",
                                    .curve_count = 1,
                                    .curve = {c},
                                    .drift = true};
            set_title(chart, "Change of ", "", table->column[c].name);
            return ZW_OK;
        }
    }
    return ZW_OK;
}

static zw_status fill_view(record_view *view, const record_table *table, bool full, zw_error *error)
{
    zw_status status = ZW_OK;
    for (int i = 0; i < table->plot_count && status == ZW_OK; i++) {
        status = add_plot(view, table, &table->plot[i], error);
    }
    if (status == ZW_OK && table->plot_count == 0) {
        status = add_role(view, table, RECORD_ROLE_COORD, "Coordinates", error);
    }
    if (status == ZW_OK && (full || table->plot_count == 0)) {
        status = add_role(view, table, RECORD_ROLE_ENERGY, "Energy", error);
    }
    if (status == ZW_OK && (full || table->plot_count == 0)) {
        status = add_role(view, table, RECORD_ROLE_CONTACT, "Contact forces", error);
    }
    if (full && status == ZW_OK) {
        status = add_role(view, table, RECORD_ROLE_JOINT, "Joint forces", error);
    }
    if (full && status == ZW_OK) {
        status = add_drift(view, table, error);
    }
    if (full && status == ZW_OK) {
        status = add_role(view, table, RECORD_ROLE_MULTIPLIER, "Constraint forces", error);
    }
    if (full && status == ZW_OK) {
        status = add_role(view, table, RECORD_ROLE_VIOLATION, "Constraint violation", error);
    }
    if (full && status == ZW_OK) {
        status = add_role(view, table, RECORD_ROLE_CERTIFICATE, "Certificate", error);
    }
    return status;
}

zw_status record_view_make(record_view *view, const record_table *table, bool full, zw_error *error)
{
    *view = (record_view){0};
    zw_status status = fill_view(view, table, full, error);
    if (status != ZW_OK) {
        record_view_free(view);
    }
    return status;
}
