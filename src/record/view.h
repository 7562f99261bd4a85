/* The charts of a table: the plots that the model requests, and those that belong to every run. */
#ifndef ZW_RECORD_VIEW_H
#define ZW_RECORD_VIEW_H

#include "record/table.h"

enum { RECORD_CURVES = 12 }; /* in one chart; more cannot be distinguished */

typedef struct record_chart {
    record_plot_kind kind;
    char title[96];
    const char *x_label, *y_label; /* never NULL */
    int x;                         /* column; -1: the number of the row */
    int curve_count;
    int curve[RECORD_CURVES]; /* columns */
    int left_out;             /* columns that did not fit */
    bool log_y;               /* |y| on a log scale */
    bool drift;               /* y minus its first finite value */
    bool forces;              /* contact forces: short peaks may be cut off */
    int color;                /* of dots: 1 + the column, 0: none */
    int fields[2];            /* size of a map of them */
} record_chart;

typedef struct record_view {
    int count, capacity;
    record_chart *chart;
} record_view;

/* The plots of the table, or else the coordinates over time. In a full view, as for a page, energy,
 * drift, violation, multipliers and certificates follow; in a brief one only energy if the table
 * has no plots. Without rows or columns there may be no chart at all. */
zw_status record_view_make(record_view *view, const record_table *table, bool full,
                           zw_error *error);
void record_view_free(record_view *view);

/* svg.c: the picture of a brief view, as an element. */
struct record_file;
zw_status record_put_svg(struct record_file *file, const record_table *table, zw_error *error);

/* The reference of a drift: the first finite value; 0 if there is none. */
double record_first_finite(const record_table *table, int column);
double record_time_of(const record_table *table, size_t row);

#endif
