/* The least overlap of two shapes, by looking at all directions that can have it. */
#ifndef ZWANG_TEST_COLLIDE_REFERENCE_H
#define ZWANG_TEST_COLLIDE_REFERENCE_H

#include "collide/bodies.h"

static inline void scored(const body *a, const body *b, const double l[3], double *best)
{
    double length = sqrt(dot(l, l));
    for (int s = -1; s <= 1 && length > 1e-9; s += 2) {
        double n[3] = {s * l[0] / length, s * l[1] / length, s * l[2] / length};
        *best = fmax(*best, gap_along(a, b, n));
    }
}

static inline void cross(double out[3], const double a[3], const double b[3])
{
    for (int c = 0; c < 3; c++) {
        out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
    }
}

/* All ways from corner to corner: among them are all edges. */
static inline int ways(const body *b, double way[][3])
{
    int count = 0;
    if (b->shape.kind == COLLIDE_BOX) {
        for (int j = 0; j < 3; j++) {
            for (int i = 0; i < 3; i++) {
                way[j][i] = b->at.R[3 * i + j];
            }
        }
        return 3;
    }
    for (int i = 0; i < b->corners; i++) {
        for (int j = i + 1; j < b->corners; j++, count++) {
            for (int c = 0; c < 3; c++) {
                way[count][c] = b->corner[j][c] - b->corner[i][c];
            }
        }
    }
    return count;
}

/* Every face of the difference of two polytopes is across a face of one, that is across two of its
 * ways, or across an edge of each. */
static inline double polytope_gap(const body *a, const body *b)
{
    double wa[MOST_CORNERS * MOST_CORNERS][3], wb[MOST_CORNERS * MOST_CORNERS][3];
    int na = ways(a, wa), nb = ways(b, wb);
    double best = -INFINITY, l[3];
    for (int i = 0; i < na; i++) {
        for (int j = 0; j < nb; j++) {
            cross(l, wa[i], wb[j]);
            scored(a, b, l, &best);
        }
        for (int j = i + 1; j < na; j++) {
            cross(l, wa[i], wa[j]);
            scored(a, b, l, &best);
        }
    }
    for (int i = 0; i < nb; i++) {
        for (int j = i + 1; j < nb; j++) {
            cross(l, wb[i], wb[j]);
            scored(a, b, l, &best);
        }
    }
    return best;
}

/* The best of many directions, and from the best few downhill in ever smaller random steps. */
static inline double searched_gap(const body *a, const body *b, dice *d)
{
    enum { STARTS = 4, TRIES = 400, STEPS = 400 };
    double start[STARTS][3] = {{0}}, value[STARTS], best = -INFINITY;
    for (int i = 0; i < STARTS; i++) {
        value[i] = -INFINITY;
    }
    for (int k = 0; k < TRIES; k++) {
        double n[3];
        dice_direction(d, n);
        double g = gap_along(a, b, n);
        int low = 0;
        for (int i = 1; i < STARTS; i++) {
            low = value[i] < value[low] ? i : low;
        }
        if (g > value[low]) {
            value[low] = g;
            memcpy(start[low], n, sizeof n);
        }
    }
    for (int i = 0; i < STARTS; i++) {
        double step = 0.1;
        for (int k = 0; k < STEPS && step > 1e-9; k++) {
            double n[3], length;
            dice_direction(d, n);
            for (int c = 0; c < 3; c++) {
                n[c] = start[i][c] + step * n[c];
            }
            length = sqrt(dot(n, n));
            for (int c = 0; c < 3; c++) {
                n[c] /= length;
            }
            double g = gap_along(a, b, n);
            if (g > value[i]) {
                value[i] = g;
                memcpy(start[i], n, sizeof n);
                step *= 1.5;
            } else {
                step *= 0.85;
            }
        }
        best = fmax(best, value[i]);
    }
    return best;
}

#endif
