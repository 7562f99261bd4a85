/* A curve in pixels becomes the data of an SVG path, without the points that would not be visible.
 *
 * Three sieves in a row, each with a memory that does not grow with the data:
 * 1. Bins, if x only grows: of the points above one half pixel the first, lowest, highest and last.
 * 2. A cone: from the last point kept, as long as one straight line passes all that came since
 *    within the tolerance, nothing more is kept (Williams 1978, "An efficient algorithm for the
 *    piecewise linear approximation of planar curves"; turning points are kept as well).
 * 3. Cover, if x does not only grow: a stretch that runs over cells that are inked already is left
 *    out, so that an orbit that fills its region does not fill the file. */
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
    bool directed;      /* the cone is set: */
    double middle;      /* its first direction */
    double least, most; /* and its sides from there */
} record_cone;

typedef struct record_pen {
    bool down;       /* the path goes on from (x, y) */
    long x, y;       /* in hundredths of a pixel */
    record_spot end; /* where the curve is, inked or not */
    bool begun;
} record_pen;

typedef struct record_thin {
    record_file *file; /* NULL: only count */
    size_t kept;
    bool growing; /* x only grows: bins; else cover */
    double tolerance;
    double cell;            /* of the cover */
    unsigned char *covered; /* a bit for each cell; NULL: no cover */
    int columns, rows;      /* of cells */
    record_bin bin;
    record_cone cone;
    record_pen pen;
} record_thin;

/* Bytes of a cover for a picture so large. */
size_t record_thin_cover_size(double width, double height, double cell);
/* Start a curve; `cover` has record_thin_cover_size bytes, all 0, or is NULL for a growing x. */
void record_thin_begin(record_thin *thin, record_file *file, double tolerance, double width,
                       double height, unsigned char *cover, double cell);
void record_thin_add(record_thin *thin, double x, double y); /* not finite: a gap */
void record_thin_end(record_thin *thin);

#endif
