/* Banded least squares: each equation involves a few consecutive unknowns.
 *
 * Equations are added to a triangular factor one by one, by rotations; there are no normal
 * equations, so that the condition number is not squared. The band of the factor is as wide as the
 * equations. Time and memory are linear in the numbers of unknowns and equations. */
#ifndef ZW_PATH_BAND_H
#define ZW_PATH_BAND_H

typedef struct path_band {
    long size;   /* number of unknowns */
    int width;   /* number of consecutive unknowns in an equation */
    double *row; /* [size * (width + 1)] the row of unknown i: its coefficient, those of the
                    unknowns after it, and the right-hand side last */
    double rest; /* sum of squared residuals */
} path_band;

/* Starts again with the equations `small` x_i = 0 alone, which keep unknowns small that no other
 * equation determines. */
void band_clear(path_band *band, double small);
/* x[0..width - 1] are the coefficients of the unknowns first .. first + width - 1, x[width] is the
 * right-hand side; x is overwritten. `first` never decreases from call to call. */
void band_add(path_band *band, long first, double *x);
/* An unknown that no equation determines is 0. */
void band_solve(const path_band *band, double *x);

#endif
