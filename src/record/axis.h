/* The scale of a chart: the position of a value, and ticks at 1, 2 or 5 times a power of ten. */
#ifndef ZW_RECORD_AXIS_H
#define ZW_RECORD_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum { RECORD_TICKS = 24 };

typedef struct record_axis {
    bool log;         /* then low, high, step and ticks are exponents of ten */
    bool zero;        /* a log axis of zeros only, which are drawn at the bottom */
    double low, high; /* the ends */
    double step;      /* */
    int factor;       /* labels are values divided by 10^factor */
    int tick_count;   /* */
    double tick[RECORD_TICKS];
} record_axis;

/* An axis for data within [low, high] (low > high: there are no data), extended by `margin` of its
 * length at both ends, with about `wanted` ticks. */
void record_axis_make(record_axis *axis, double low, double high, bool log, double margin,
                      int wanted);

/* Extends the axis with the larger scale, so that a unit has the same length along both. */
void record_axis_equalise(record_axis *x, record_axis *y, double width, double height, int wanted);

/* 0 at the low end, 1 at the high end; NaN for values that cannot be shown: those that are not
 * finite, and 0 on a log axis unless all values are 0. */
double record_axis_place(const record_axis *axis, double value);

/* The tick's label in UTF-8. */
void record_axis_label(const record_axis *axis, double tick, char *text, size_t capacity);

/* " ×10⁻³" if the labels are divided by something, else "". */
void record_axis_factor_text(const record_axis *axis, char *text, size_t capacity);

#endif
