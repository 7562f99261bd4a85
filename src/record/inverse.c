/* Forces along a recording as a file: the columns of inverse_path.c, and plots of the
 * motor forces. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "look/inverse_path.h"
#include "record/copy.h"
#include "record/view.h"
#include "record/write.h"

enum { LINE = 200 };

static record_role role_of(const char *name)
{
    return strcmp(name, "t") == 0             ? RECORD_ROLE_TIME
           : strncmp(name, "lambda(", 7) == 0 ? RECORD_ROLE_MULTIPLIER
                                              : RECORD_ROLE_OTHER;
}

/* A plot of the columns that begin with this word, as many as a chart can hold. */
static zw_status add_plot(record_table *table, const char *title, const char *word, zw_error *error)
{
    int column[RECORD_CURVES], count = 0;
    for (int k = 0; k < table->column_count && count < RECORD_CURVES; k++) {
        if (strncmp(table->column[k].name, word, strlen(word)) == 0) {
            column[count++] = k;
        }
    }
    const record_plot plot = {
        .kind = RECORD_PLOT_TIME, .title = title, .y = column, .y_count = count};
    return count > 0 ? record_table_add_plot(table, &plot, error) : ZW_OK;
}

static zw_status fill(record_table *to, const zw_inverse_path *from, zw_error *error)
{
    const zw_model *model = from->system->model;
    const char *file = model->file_count ? model->file[0].name : "";
    zw_status status =
        record_table_set_text(to, RECORD_TEXT_TITLE, model->title ? model->title : file, error);
    status = status == ZW_OK ? record_table_set_text(to, RECORD_TEXT_FILE, file, error) : status;
    for (int k = 0; k < from->columns && status == ZW_OK; k++) {
        status = record_table_add_column(to, from->name[k], role_of(from->name[k]), NULL, error);
    }
    double *row = base_alloc((size_t)from->columns * sizeof *row);
    status = row ? status : record_no_memory(error);
    for (long i = 0; i < from->count && status == ZW_OK; i++) {
        for (int k = 0; k < from->columns; k++) {
            row[k] = from->value[(size_t)k * (size_t)from->count + (size_t)i];
        }
        status = record_table_add_row(to, row, error);
    }
    base_free(row);
    return status;
}

static zw_status explain(record_table *to, const zw_inverse_path *from, zw_error *error)
{
    const zw_inverse_report *report = &from->report;
    char text[LINE];
    zw_status status = add_plot(to, "Forces of the motors", "force(", error);
    status = status == ZW_OK ? add_plot(to, "Driving forces", "drive(", error) : status;
    status = status == ZW_OK
                 ? add_plot(to, "Residual: what no allowed force can produce", "residual(", error)
                 : status;
    snprintf(text, sizeof text, "%.3g, the error of the fit being %.3g", report->residual,
             report->error);
    status = status == ZW_OK ? record_table_add_summary(to, "residual", text, error) : status;
    snprintf(text, sizeof text, "%d", report->choices);
    return status == ZW_OK ? record_table_add_summary(to, "open choices", text, error) : status;
}

zw_status zw_inverse_write(const zw_inverse_path *table, const char *file, zw_error *error)
{
    record_table *to = record_table_create(error);
    zw_status status = to ? fill(to, table, error) : ZW_NO_MEMORY;
    status = status == ZW_OK ? explain(to, table, error) : status;
    status = status == ZW_OK ? record_write(to, file, error) : status;
    record_table_free(to);
    return status;
}
