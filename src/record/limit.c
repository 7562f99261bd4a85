/* The limits as a file: rows of numbers, or charts of the distances and of the paths. */
#include "path/law/limit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "record/copy.h"
#include "record/table.h"
#include "record/write.h"

enum {
    NAME = 256,
    LINE = 240,
    SHOWN = 3, /* coordinates in the pictures */
    PATHS = 3  /* paths of each: the limit and the first values of N */
};

typedef struct maker {
    const zw_limit *limit;
    record_table *table;
    zw_error *error;
    zw_status status;
    int coord[SHOWN], shown; /* which, and how many */
    int paths;
    int first; /* column of log10 N; then the distances */
} maker;

/* If a coordinate is called distance, the column of distances gets a number. */
static int add_column(maker *k, const char *name, record_role role)
{
    int index = -1;
    char other[NAME];
    snprintf(other, sizeof other, "%.200s", name);
    for (int copy = 2; k->status == ZW_OK && record_table_find(k->table, other) >= 0; copy++) {
        snprintf(other, sizeof other, "%.200s (%d)", name, copy);
    }
    if (k->status == ZW_OK) {
        k->status = record_table_add_column(k->table, other, role, &index, k->error);
    }
    return index;
}

static void add_row(maker *k, const double *row)
{
    if (k->status == ZW_OK) {
        k->status = record_table_add_row(k->table, row, k->error);
    }
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static void make_rows(maker *k)
{
    static const char *const name[] = {"N",       "distance", "distance_time", "distance_end",
                                       "ratio",   "phi",      "multiplier",    "steps",
                                       "rejected"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        add_column(k, name[i], RECORD_ROLE_OTHER);
    }
    for (int i = 0; i < k->limit->count; i++) {
        const zw_limit_row *r = &k->limit->row[i];
        const double row[] = {r->N,   r->distance,   r->distance_time, r->distance_end,    r->ratio,
                              r->phi, r->multiplier, (double)r->steps, (double)r->rejected};
        add_row(k, row);
    }
}

/* ---- Pictures ------------------------------------------------------------------------------- */

/* The largest distance of coordinate i from the limit, for the smallest N. */
static double strays(const zw_limit *limit, int i)
{
    const limit_path *limit_one = &limit->path[0], *other = &limit->path[1];
    double worst = 0;
    for (int s = 0; limit->count > 1 && s < limit_one->count && s < other->count; s++) {
        size_t at = (size_t)s * 2 * (size_t)limit->n + (size_t)i;
        double size = 1 + fabs(limit_one->y[at]);
        worst = fmax(worst, fabs(other->y[at] - limit_one->y[at]) / size);
    }
    return worst;
}

/* The coordinates with the largest distances, in decreasing order. */
static void choose_coords(maker *k)
{
    double stray[SHOWN];
    for (int i = 0; i < k->limit->n; i++) {
        double its = strays(k->limit, i);
        int at = k->shown;
        while (at > 0 && stray[at - 1] < its) {
            at--;
        }
        k->shown += k->shown < SHOWN;
        for (int j = k->shown - 1; j > at; j--) {
            stray[j] = stray[j - 1];
            k->coord[j] = k->coord[j - 1];
        }
        if (at < SHOWN) {
            stray[at] = its;
            k->coord[at] = i;
        }
    }
}

static void add_picture_columns(maker *k)
{
    const model_coord *coord = k->limit->model->coord;
    char name[NAME];
    add_column(k, "t", RECORD_ROLE_TIME);
    for (int c = 0; c < k->shown; c++) {
        for (int p = 0; p < k->paths; p++) {
            const char *one = coord[k->coord[c]].name;
            snprintf(name, sizeof name, p == 0 ? "%.200s" : "%.200s, N = %g", one,
                     k->limit->row[p].N);
            add_column(k, name, p == 0 ? RECORD_ROLE_COORD : RECORD_ROLE_OTHER);
        }
    }
    k->first = add_column(k, "log10 N", RECORD_ROLE_OTHER);
    add_column(k, "distance", RECORD_ROLE_OTHER);
    add_column(k, "at the end", RECORD_ROLE_OTHER);
    add_column(k, "as 1/N", RECORD_ROLE_OTHER);
}

/* Row s: sample s of the paths, and the distances for the s-th N; NaN where there is none. */
static void fill_row(const maker *k, int s, double *row)
{
    const zw_limit *limit = k->limit;
    const limit_path *main = &limit->path[0];
    int n = limit->n, last = main->count - 1;
    double *to = row;
    *to++ = main->t[s < last ? s : last];
    for (int c = 0; c < k->shown; c++) {
        for (int p = 0; p < k->paths; p++) {
            const limit_path *path = &limit->path[p];
            size_t at = (size_t)s * 2 * (size_t)n + (size_t)k->coord[c];
            *to++ = s < path->count && s <= last && path->t[s] == main->t[s] ? path->y[at] : NAN;
        }
    }
    const zw_limit_row *r = s + 1 < limit->count ? &limit->row[s + 1] : NULL;
    const zw_limit_row *final = &limit->row[limit->count - 1];
    *to++ = r ? log10(r->N) : NAN;
    *to++ = r ? r->distance : NAN;
    *to++ = r ? r->distance_end : NAN;
    *to++ = r ? final->distance * (final->N / r->N) : NAN;
}

static void add_plot(maker *k, const record_plot *plot)
{
    if (k->status == ZW_OK) {
        k->status = record_table_add_plot(k->table, plot, k->error);
    }
}

static void add_plots(maker *k)
{
    int y[PATHS] = {k->first + 1, k->first + 2, k->first + 3};
    char title[NAME];
    add_plot(k, &(record_plot){.kind = RECORD_PLOT_PHASE,
                               .title = "Distance from the limit",
                               .x = k->first,
                               .y = y,
                               .y_count = 3,
                               .y_label = "|x - limit|/(1 + |limit|)",
                               .log_y = true});
    for (int c = 0; c < k->shown; c++) {
        for (int p = 0; p < k->paths; p++) {
            y[p] = 1 + c * k->paths + p;
        }
        snprintf(title, sizeof title, "%.80s of the limit and for some N",
                 k->limit->model->coord[k->coord[c]].name);
        add_plot(k, &(record_plot){
                        .kind = RECORD_PLOT_TIME, .title = title, .y = y, .y_count = k->paths});
    }
}

static void add_lines(maker *k)
{
    zw_limit_order order = zw_limit_order_of(k->limit);
    zw_law law = zw_limit_law(k->limit);
    char label[40], text[LINE];
    snprintf(text, sizeof text, "%s, alpha = %g, beta = %g", law.name, law.alpha, law.beta);
    k->status = k->status == ZW_OK ? record_table_add_summary(k->table, "limit", text, k->error)
                                   : k->status;
    for (int i = 1; i < k->limit->count && k->status == ZW_OK; i++) {
        const zw_limit_row *r = &k->limit->row[i];
        snprintf(label, sizeof label, "N = %g", r->N);
        snprintf(text, sizeof text, "distance %.3g, |Phi| %.2g, |N Phi - lambda| %.2g, %ld steps",
                 r->distance, r->phi, r->multiplier, r->steps);
        k->status = record_table_add_summary(k->table, label, text, k->error);
    }
    if (k->status == ZW_OK && order.rows > 1) {
        snprintf(text, sizeof text, "%.4f between N = %g and %g", order.order, order.from,
                 order.to);
        k->status = record_table_add_summary(k->table, "order", text, k->error);
    }
}

static void add_texts(maker *k)
{
    const zw_model *model = k->limit->model;
    const char *file = model->file_count ? model->file[0].name : "";
    const char *text[RECORD_TEXT_COUNT] = {[RECORD_TEXT_TITLE] = model->title ? model->title : file,
                                           [RECORD_TEXT_FILE] = file,
                                           [RECORD_TEXT_SOURCE] =
                                               model->file_count ? model->file[0].text : ""};
    for (int i = 0; i < RECORD_TEXT_COUNT && k->status == ZW_OK; i++) {
        k->status = record_table_set_text(k->table, (record_text)i, text[i], k->error);
    }
}

static void make_pictures(maker *k)
{
    int samples = k->limit->path[0].count, rows = k->limit->count - 1;
    k->paths = k->limit->count < PATHS ? k->limit->count : PATHS;
    add_texts(k);
    choose_coords(k);
    add_picture_columns(k);
    double *row = base_alloc((size_t)k->table->column_count * sizeof *row + 1);
    if (!row) {
        k->status = record_no_memory(k->error);
    }
    for (int s = 0; k->status == ZW_OK && (s < samples || s < rows); s++) {
        fill_row(k, s, row);
        add_row(k, row);
    }
    base_free(row);
    add_plots(k);
    add_lines(k);
}

zw_status zw_limit_write(const zw_limit *limit, const char *file, zw_error *error)
{
    maker k = {.limit = limit, .error = error, .table = record_table_create(error)};
    const char *dot = strrchr(file, '.');
    if (k.table == NULL) {
        return ZW_NO_MEMORY;
    }
    if (limit->count > 0 && dot && (!strcmp(dot, ".svg") || !strcmp(dot, ".html"))) {
        make_pictures(&k);
    } else {
        make_rows(&k);
    }
    if (k.status == ZW_OK) {
        k.status = record_write(k.table, file, error);
    }
    record_table_free(k.table);
    return k.status;
}
