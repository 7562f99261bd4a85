/* The law of one row or cone, as prox.c uses it: z -> P(z), its modes and its slopes. */
#ifndef ZW_GAUSS_PROX_LAW_H
#define ZW_GAUSS_PROX_LAW_H

#include "math/cone.h"
#include "zwang/gauss.h"

/* OPEN: a cone does not push; a row of its own is at the lower end of its interval, of an
 * inequality at 0. FULL: at the upper end. */
typedef enum prox_mode { PROX_OPEN, PROX_HELD, PROX_SLIDES, PROX_FULL } prox_mode;

/* Where a unit is on its law. */
typedef struct prox_state {
    prox_mode mode;
    double curve; /* slides: z_N/|z_T|, and where to */
    double t[CONE_MAX];
} prox_state;

/* A row of its own, or a cone. */
typedef struct prox_unit {
    int at, rows;
    double low, high;     /* one row: where its multiplier may be; all numbers: an equality */
    double soft;          /* one row: what is left of a push, as it gives way; 1: all of it */
    int columns, *column; /* those that its rows have entries in, rising */
    int rises;            /* they stand so in the rows, in all of them */
    prox_state now, used; /* used: in the current factors */
} prox_unit;

/* low and high of a row of this block. */
void prox_interval(const zw_block *block, double scale, prox_unit *it);
/* lambda = P(z), and where that is. */
void prox_project(int coulomb, const prox_unit *it, const double *z, prox_state *now,
                  double *lambda);
/* At the very start: what pushed holds, or slides, and what did not holds if it comes nearer by
 * more than `least`. */
void prox_guess(prox_unit *it, const double *r, const double *z, double least);
/* lambda = P(z) continued from r as if nothing changed its mode, whatever z; by the slopes of
 * `used` where they are the ones that are solved with, else by those of there. */
void prox_carry_on(int coulomb, prox_unit *it, int by_used, const double *r, const double *z,
                   double *lambda);
/* D, d x d, of what slides there. */
void prox_slope(int coulomb, int d, const prox_state *there, double D[CONE_MAX][CONE_MAX]);

#endif
