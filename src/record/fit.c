/* A fit as a file: the measured values, those of the fitted motion, and the difference. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "look/fit/fit.h"
#include "record/copy.h"
#include "record/view.h"
#include "record/write.h"

enum { NAME = 200 };

static void name_of(const zw_fit *fit, int channel, char *text)
{
    int speed = channel >= fit->nq, robot = fit->system->tree != NULL;
    zw_kind kind = speed && robot ? ZW_KIND_SPEED : ZW_KIND_COORD;
    snprintf(text, NAME, "%.150s%s",
             zw_name(fit->system, kind, speed ? channel - fit->nq : channel),
             speed && !robot ? "'" : "");
}

/* Three columns for each channel: measured, fitted, residual. */
static zw_status add_columns(record_table *to, const zw_fit *fit, zw_error *error)
{
    zw_status status = record_table_add_column(to, "t", RECORD_ROLE_TIME, NULL, error);
    status = status == ZW_OK
                 ? record_table_add_column(to, "recording", RECORD_ROLE_OTHER, NULL, error)
                 : status;
    for (int c = 0; c < fit->channels && status == ZW_OK; c++) {
        static const char *const what[] = {"measured", "fitted", "residual"};
        char name[NAME], title[NAME + 16];
        name_of(fit, c, name);
        for (int k = 0; k < 3 && fit->scale[c] > 0 && status == ZW_OK; k++) {
            snprintf(title, sizeof title, "%s(%s)", what[k], name);
            status = record_table_add_column(to, title, RECORD_ROLE_OTHER, NULL, error);
        }
    }
    return status;
}

static zw_status add_rows(record_table *to, const zw_fit *fit, zw_error *error)
{
    double *row = base_alloc((size_t)to->column_count * sizeof *row);
    zw_status status = row ? ZW_OK : record_no_memory(error);
    for (long i = 0; i < fit->rows && status == ZW_OK;) {
        const fit_row *first = &fit->row[i];
        const zw_path *path = fit->problem.recording[first->recording];
        int at = 2;
        row[0] = path->t[first->sample];
        row[1] = first->recording + 1;
        for (int c = 0; c < fit->channels; c++) {
            const fit_row *now = &fit->row[i];
            if (fit->scale[c] == 0) {
                continue;
            }
            int here = i < fit->rows && now->recording == first->recording &&
                       now->sample == first->sample && now->channel == c;
            double x = !here         ? 0
                       : c < fit->nq ? path->q[now->sample * fit->nq + c]
                                     : path->v[now->sample * fit->n + c - fit->nq];
            row[at] = here ? x : (double)NAN;
            row[at + 1] = here ? x - fit->residual[i] : (double)NAN;
            row[at + 2] = here ? fit->residual[i] : (double)NAN;
            at += 3;
            i += here;
        }
        status = record_table_add_row(to, row, error);
    }
    base_free(row);
    return status;
}

/* For each channel the measured and fitted values, then all residuals. */
static zw_status add_plots(record_table *to, const zw_fit *fit, zw_error *error)
{
    int residual[RECORD_CURVES], count = 0, at = 2;
    zw_status status = ZW_OK;
    for (int c = 0; c < fit->channels && status == ZW_OK; c++) {
        if (fit->scale[c] > 0) {
            int y[] = {at, at + 1};
            char name[NAME];
            name_of(fit, c, name);
            const record_plot plot = {
                .kind = RECORD_PLOT_TIME, .title = name, .y = y, .y_count = 2};
            status = record_table_add_plot(to, &plot, error);
            if (count < RECORD_CURVES) {
                residual[count++] = at + 2;
            }
            at += 3;
        }
    }
    const record_plot plot = {
        .kind = RECORD_PLOT_TIME, .title = "Residuals", .y = residual, .y_count = count};
    return status == ZW_OK ? record_table_add_plot(to, &plot, error) : status;
}

static zw_status add_summary(record_table *to, const zw_fit *fit, zw_error *error)
{
    zw_status status = ZW_OK;
    for (int k = 0; k < fit->count && status == ZW_OK; k++) {
        zw_fit_estimate x = zw_fit_look(fit, k);
        char text[NAME];
        snprintf(text, sizeof text, "%.9g, standard error %.3g", x.value, x.error);
        status = record_table_add_summary(to, zw_fit_name(fit, k), text, error);
    }
    return status;
}

zw_status zw_fit_write(const zw_fit *fit, const char *file, zw_error *error)
{
    const zw_model *model = fit->system->model;
    const char *source = model->file_count ? model->file[0].name : "";
    record_table *to = record_table_create(error);
    zw_status status = to ? record_table_set_text(to, RECORD_TEXT_TITLE,
                                                  model->title ? model->title : source, error)
                          : ZW_NO_MEMORY;
    status = status == ZW_OK ? record_table_set_text(to, RECORD_TEXT_FILE, source, error) : status;
    status = status == ZW_OK ? add_columns(to, fit, error) : status;
    status = status == ZW_OK ? add_rows(to, fit, error) : status;
    status = status == ZW_OK ? add_plots(to, fit, error) : status;
    status = status == ZW_OK ? add_summary(to, fit, error) : status;
    status = status == ZW_OK ? record_write(to, file, error) : status;
    record_table_free(to);
    return status;
}
