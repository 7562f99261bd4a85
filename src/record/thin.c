#include "record/thin.h"

#include <math.h>
#include <stdlib.h>

/* ---- Pen ------------------------------------------------------------------------------------ */

/* Hundredths of a pixel as the shortest decimal number: -0.5 is "-.5". */
static void put_hundredths(record_file *file, long value, bool glue)
{
    const char *sign = value < 0 ? "-" : glue ? " " : "";
    long size = labs(value), whole = size / 100, part = size % 100;
    record_put(file, sign);
    if (whole > 0 || part == 0) {
        record_putf(file, "%ld", whole);
    }
    if (part > 0 && part % 10 == 0) {
        record_putf(file, ".%ld", part / 10);
    } else if (part > 0) {
        record_putf(file, ".%02ld", part);
    }
}

static void pen_go(record_thin *thin, const char *letter, long x, long y)
{
    if (thin->file != NULL) {
        record_put(thin->file, letter);
        put_hundredths(thin->file, x, letter[0] == '\0');
        put_hundredths(thin->file, y, true);
    }
    thin->kept++;
}

static bool cover_cell(record_thin *thin, double x, double y)
{
    int column = (int)floor(x / thin->cell), row = (int)floor(y / thin->cell);
    column = column < 0 ? 0 : column >= thin->columns ? thin->columns - 1 : column;
    row = row < 0 ? 0 : row >= thin->rows ? thin->rows - 1 : row;
    size_t bit = (size_t)row * (size_t)thin->columns + (size_t)column;
    unsigned char mask = (unsigned char)(1u << bit % 8);
    bool fresh = (thin->covered[bit / 8] & mask) == 0;
    thin->covered[bit / 8] |= mask;
    return fresh;
}

/* Marks the cells between two points as covered; returns whether any was not. */
static bool cover_stretch(record_thin *thin, record_spot from, record_spot to)
{
    if (thin->covered == NULL) {
        return true;
    }
    double dx = to.x - from.x, dy = to.y - from.y;
    int steps = (int)ceil(fmax(fabs(dx), fabs(dy)) / thin->cell) + 1;
    bool fresh = false;
    for (int i = 0; i <= steps; i++) {
        double part = (double)i / steps;
        fresh |= cover_cell(thin, from.x + part * dx, from.y + part * dy);
    }
    return fresh;
}

static void pen_move(record_thin *thin, record_spot to)
{
    record_pen *pen = &thin->pen;
    long x = lround(100 * to.x), y = lround(100 * to.y);
    if (!pen->begun) {
        pen->begun = true;
        pen->down = false;
    } else if (cover_stretch(thin, pen->end, to)) {
        if (!pen->down) {
            pen->x = lround(100 * pen->end.x);
            pen->y = lround(100 * pen->end.y);
            pen_go(thin, "M", pen->x, pen->y);
            pen_go(thin, "l", x - pen->x, y - pen->y);
            pen->down = true;
        } else {
            pen_go(thin, "", x - pen->x, y - pen->y);
        }
        pen->x = x;
        pen->y = y;
    } else {
        pen->down = false;
    }
    pen->end = to;
}

/* ---- Cone ----------------------------------------------------------------------------------- */

static double turn(double angle)
{
    const double pi = 3.14159265358979323846;
    return angle > pi ? angle - 2 * pi : angle < -pi ? angle + 2 * pi : angle;
}

static void cone_anchor(record_thin *thin, record_spot at)
{
    thin->cone = (record_cone){.open = true, .anchor = at, .last = at, .far = at};
    pen_move(thin, at);
}

/* Does one line from the anchor also pass this point? Then the cone is narrowed. */
static bool cone_admits(record_thin *thin, record_spot p)
{
    record_cone *cone = &thin->cone;
    double dx = p.x - cone->anchor.x, dy = p.y - cone->anchor.y;
    double distance = hypot(dx, dy);
    if (distance < cone->reach - thin->tolerance) {
        cone->last = cone->far; /* the curve turned back: keep the farthest point */
        return false;
    }
    if (distance > thin->tolerance) {
        double direction = atan2(dy, dx), half = asin(thin->tolerance / distance);
        if (!cone->directed) {
            cone->directed = true;
            cone->middle = direction;
            cone->least = -half;
            cone->most = half;
        } else {
            double angle = turn(direction - cone->middle);
            if (angle < cone->least || angle > cone->most) {
                return false;
            }
            cone->least = fmax(cone->least, angle - half);
            cone->most = fmin(cone->most, angle + half);
        }
    }
    if (distance > cone->reach) {
        cone->reach = distance;
        cone->far = p;
    }
    cone->last = p;
    return true;
}

static void cone_add(record_thin *thin, record_spot p)
{
    if (!thin->cone.open) {
        cone_anchor(thin, p);
    } else if (!cone_admits(thin, p)) {
        cone_anchor(thin, thin->cone.last);
        cone_admits(thin, p); /* a new cone admits any point */
    }
}

/* ---- Bins ----------------------------------------------------------------------------------- */

static void bin_empty(record_thin *thin)
{
    record_bin *bin = &thin->bin;
    if (bin->count > 0) {
        cone_add(thin, bin->first);
        bool low_first = bin->low_at < bin->high_at;
        if (bin->low_at > 0 && low_first) {
            cone_add(thin, bin->low);
        }
        if (bin->high_at > 0) {
            cone_add(thin, bin->high);
        }
        if (bin->low_at > 0 && !low_first) {
            cone_add(thin, bin->low);
        }
        if (bin->count > 1) {
            cone_add(thin, bin->last);
        }
    }
    bin->count = 0;
}

static void bin_add(record_thin *thin, record_spot p)
{
    record_bin *bin = &thin->bin;
    double cell = floor(2 * p.x);
    if (bin->count > 0 && cell != bin->cell) {
        bin_empty(thin);
    }
    if (bin->count == 0) {
        *bin = (record_bin){.count = 1, .cell = cell, .first = p, .low = p, .high = p, .last = p};
        return;
    }
    if (p.y < bin->low.y) {
        bin->low = p;
        bin->low_at = bin->count;
    }
    if (p.y > bin->high.y) {
        bin->high = p;
        bin->high_at = bin->count;
    }
    bin->last = p;
    bin->count++;
}

/* ---- The three filters in sequence ----------------------------------------------------------- */

static int cells(double length, double cell)
{
    return (int)ceil(length / cell) + 1;
}

size_t record_thin_cover_size(double width, double height, double cell)
{
    return (size_t)cells(width, cell) * (size_t)cells(height, cell) / 8 + 1;
}

void record_thin_begin(record_thin *thin, record_file *file, double tolerance, double width,
                       double height, unsigned char *cover, double cell)
{
    *thin = (record_thin){.file = file,
                          .growing = cover == NULL,
                          .tolerance = tolerance,
                          .cell = cell,
                          .covered = cover,
                          .columns = cells(width, cell),
                          .rows = cells(height, cell)};
}

static void thin_gap(record_thin *thin)
{
    bin_empty(thin);
    if (thin->cone.open) {
        record_cone cone = thin->cone;
        if (cone.last.x != cone.anchor.x || cone.last.y != cone.anchor.y) {
            pen_move(thin, cone.last);
        } else if (!thin->pen.down) { /* an isolated point: round caps make it a dot */
            pen_go(thin, "M", lround(100 * cone.last.x), lround(100 * cone.last.y));
            if (thin->file != NULL) {
                record_put(thin->file, "h0");
            }
        }
    }
    thin->cone.open = false;
    thin->pen = (record_pen){0};
}

void record_thin_add(record_thin *thin, double x, double y)
{
    if (!isfinite(x) || !isfinite(y)) {
        thin_gap(thin);
    } else if (thin->growing) {
        bin_add(thin, (record_spot){x, y});
    } else {
        cone_add(thin, (record_spot){x, y});
    }
}

void record_thin_end(record_thin *thin)
{
    thin_gap(thin);
}
