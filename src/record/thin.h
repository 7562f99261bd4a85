/* Turns a curve in pixels into the data of an SVG path, without the points that would not be
 * visible.
 *
 * Three filters in sequence, each of constant memory:
 * 1. Bins, if x never decreases: of the points within half a pixel of x, the first, lowest, highest
 *    and last are kept.
 * 2. A cone: as long as one straight line from the last point kept passes all later points within
 *    the tolerance, no further point is kept (Williams 1978, "An efficient algorithm for the
 *    piecewise linear approximation of planar curves"; turning points are kept as well).
 * 3. Cover, if x decreases somewhere: parts of the curve over cells that are covered already are
 *    left out, so that a trajectory that fills its region does not fill the file. */
#ifndef ZW_RECORD_THIN_H
#define ZW_RECORD_THIN_H

#include "record/file.h"

typedef struct record_spot {
    double x, y;
} record_spot;

typedef struct record_bin {
    int count; /* points in it */
    double cell;
    record_spot first, low, high, last;
    int low_at, high_at;
} record_bin;

typedef struct record_cone {
    bool open;                /* there is an anchor */
    record_spot anchor, last; /* */
    record_spot far;          /* farthest from the anchor, at distance `reach` */
    double reach;
    bool directed;      /* the cone has been set: */
    double middle;      /* its first direction */
    double least, most; /* and its sides from there */
} record_cone;

typedef struct record_pen {
    bool down;       /* the path continues from (x, y) */
    long x, y;       /* in hundredths of a pixel */
    record_spot end; /* the current end of the curve, drawn or not */
    bool begun;
} record_pen;

typedef struct record_thin {
    record_file *file; /* NULL: only count */
    size_t kept;
    bool growing; /* x never decreases: bins; else cover */
    double tolerance;
    double cell;            /* of the cover */
    unsigned char *covered; /* a bit for each cell; NULL: no cover */
    int columns, rows;      /* of cells */
    record_bin bin;
    record_cone cone;
    record_pen pen;
} record_thin;

/* The size in bytes of a cover for a picture of this size. */
size_t record_thin_cover_size(double width, double height, double cell);
/* Starts a curve; `cover` has record_thin_cover_size bytes, all 0, or is NULL if x never
 * decreases. */
void record_thin_begin(record_thin *thin, record_file *file, double tolerance, double width,
                       double height, unsigned char *cover, double cell);
void record_thin_add(record_thin *thin, double x, double y); /* not finite: a gap */
void record_thin_end(record_thin *thin);

#endif
