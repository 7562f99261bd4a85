/* What a model asks to be shown: curves to plot and shapes to draw, for programs that draw a
 * motion. The numbers of both are in ZW_FIELD_OUTPUT (zwang.h), which is evaluated when it is read;
 * the structs here say at which index. For bodies these are the shapes and joints that reports
 * show.
 *
 *     zw_view out = zw_field(system, state, work, ZW_FIELD_OUTPUT);
 *     zw_curve curve = zw_curve_of(system, 0);
 *     double x = out.data[curve.output], y = out.data[curve.output + 1];
 */
#ifndef ZWANG_SHOW_H
#define ZWANG_SHOW_H

#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef enum zw_plot_kind {
    ZW_PLOT_TIME, /* over time */
    ZW_PLOT_PHASE,
    ZW_PLOT_XY
} zw_plot_kind;

/* One curve of a plot. Texts live as long as the system, and are never NULL. */
typedef struct zw_curve {
    zw_plot_kind kind;
    int plot; /* curves with the same number share one picture */
    const char *x_label, *label;
    int output; /* index of x; y is the next one */
} zw_curve;

int zw_curve_count(const zw_system *system);
/* All zero if there is no such curve. */
zw_curve zw_curve_of(const zw_system *system, int index);

typedef enum zw_draw_kind {
    ZW_DRAW_POINT,
    ZW_DRAW_LINE, /* through its points; with a radius: a round rod */
    ZW_DRAW_CIRCLE,
    ZW_DRAW_TRAIL,
    ZW_DRAW_SPRING,
    ZW_DRAW_POLYGON,
    ZW_DRAW_TEXT,
    ZW_DRAW_BOX,   /* a corner and its three neighbours; this and those below are for bodies only */
    ZW_DRAW_SOLID, /* an origin and three points on its axes */
    ZW_DRAW_PLANE  /* infinite: an origin, and points on two axes */
} zw_draw_kind;

typedef struct zw_draw {
    zw_draw_kind kind;
    int dimension, points; /* 2 or 3 components each */
    int output;            /* index of the first component; the radius follows the last one */
    int has_radius;
    const char *text, *colour; /* "": none */
} zw_draw;

int zw_draw_count(const zw_system *system);
zw_draw zw_draw_of(const zw_system *system, int index);

/* 1: this number of ZW_FIELD_OUTPUT belongs to a draw and never changes, whatever the parameters
 * are. */
int zw_output_is_fixed(const zw_system *system, int output);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
