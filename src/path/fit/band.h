/* Least squares whose unknowns stand in a row, each equation with a few neighbours of them.
 *
 * Equations are turned into the triangle one by one, by rotations (no normal equations: the
 * condition is not squared). The triangle is as wide as the equations are; time and memory grow
 * with the number of unknowns and of equations. */
#ifndef ZW_PATH_BAND_H
#define ZW_PATH_BAND_H

typedef struct path_band {
    long size;   /* unknowns */
    int width;   /* of an equation */
    double *row; /* [size * (width + 1)] unknown i and those after it; the right side is last */
    double rest; /* sum of squares of what the equations leave over */
} path_band;

/* No equations yet but `small` x_i = 0: what nothing else says is small. */
void band_clear(path_band *band, double small);
/* x[0..width - 1] are the coefficients of unknowns first .. first + width - 1, x[width] the right
 * side; x is used up. `first` never decreases. */
void band_add(path_band *band, long first, double *x);
/* An unknown that nothing is said about, not even small, is 0. */
void band_solve(const path_band *band, double *x);

#endif
