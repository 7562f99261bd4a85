/* The law of one row or cone, as prox.c uses it: z -> P(z), its modes and its derivatives. */
#ifndef ZW_GAUSS_PROX_LAW_H
#define ZW_GAUSS_PROX_LAW_H

#include "math/cone.h"
#include "zwang/gauss.h"

/* OPEN: a cone without force; a single row is at the lower end of its interval, which for an
 * inequality is 0. FULL: at the upper end. */
typedef enum prox_mode { PROX_OPEN, PROX_HELD, PROX_SLIDES, PROX_FULL } prox_mode;

/* The position of a unit on its law. */
typedef struct prox_state {
    prox_mode mode;
    double curve; /* sliding: z_N/|z_T|, and the direction */
    double t[CONE_MAX];
} prox_state;

/* A single row, or a cone. */
typedef struct prox_unit {
    int at, rows;
    double low, high; /* one row: the range of its multiplier; all numbers: an equality */
    double
        soft; /* one row: the fraction of a force that remains with its compliance; 1: all of it */
    int columns, *column; /* the columns of its rows, ascending */
    int rises;            /* they stand so in the rows, in all of them */
    prox_state now, used; /* used: in the current factors */
} prox_unit;

/* low and high of a row of this block. */
void prox_interval(const zw_block *block, double scale, prox_unit *it);
/* lambda = P(z), and where that is. */
void prox_project(int coulomb, const prox_unit *it, const double *z, prox_state *now,
                  double *lambda);
/* At the very start: units with a force are held, or slide; those without are held if they approach
 * by more than `least`. */
void prox_guess(prox_unit *it, const double *r, const double *z, double least);
/* lambda = P(z) extended from r as if no mode changed, for any z; with the derivatives of `used`
 * where the solve uses those, else with those at r. */
void prox_carry_on(int coulomb, prox_unit *it, int by_used, const double *r, const double *z,
                   double *lambda);
/* The largest t at which r + t way has not left the law's current mode; HUGE_VAL: it never does. */
double prox_reach(const prox_unit *it, const double *r, const double *way);
/* Multipliers of w = W lambda + q by sweeps of projected Gauss-Seidel (Coulomb's law), from those
 * that are there, until they change by this part of the largest: row by row, of friction with the
 * larger of both W_ii. W has `lines` numbers in a row, a multiple of 8, and so has lambda, 0 after
 * the last. They need no weight, and each uses forces that are within the law. Their number. */
int prox_sweeps(int units, const prox_unit *unit, const double *W, int lines, const double *q,
                double enough, double *lambda);
/* D, d x d, of what slides there. */
void prox_slope(int coulomb, int d, const prox_state *there, double D[CONE_MAX][CONE_MAX]);

#endif
