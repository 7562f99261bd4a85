/* The rows of A, dense or compressed. */
#ifndef ZW_GAUSS_ROWS_H
#define ZW_GAUSS_ROWS_H

#include "zwang/gauss.h"

int gauss_row_count(const zw_gauss *problem);
double gauss_row_dot(const zw_gauss *problem, int i, const double *x);        /* A_i x */
double gauss_row_dot_size(const zw_gauss *problem, int i, const double *x);   /* |A_i| |x| */
void gauss_row_add_size(const zw_gauss *problem, int i, double s, double *y); /* y += |s A_i'| */
void gauss_row_add(const zw_gauss *problem, int i, double s, double *y);      /* y += s A_i' */
void gauss_row_raise(const zw_gauss *problem, int i, double s,
                     double *y);                                /* y = max(y, |s A_i'|) */
void gauss_row_copy(const zw_gauss *problem, int i, double *y); /* y = A_i' */
/* The length of row i in a diagonal metric: sqrt(sum_j (A_ij / unit_j)^2); NULL: all units are 1.
 */
double gauss_row_length(const zw_gauss *problem, int i, const double *unit);
/* A_i a, |A_i| |a|, A_i free, and the squared length with inverse_j = 1/unit_j. */
void gauss_row_look(const zw_gauss *problem, int i, const double *a, const double *free,
                    const double *inverse, double out[4]);

/* A a - b + compliance lambda for row i. */
double gauss_row_residual(const zw_gauss *problem, int i, const double *a, const double *lambda);
/* The same for all rows. */
void gauss_rows_residual(const zw_gauss *problem, const double *a, const double *lambda, double *w);
/* y = A' lambda, y = |A|' |lambda| */
void gauss_rows_force(const zw_gauss *problem, const double *lambda, double *y);
void gauss_rows_sizes(const zw_gauss *problem, const double *lambda, double *y);

/* Do these blocks, `first` their first rows, admit the free motion as it is? Then it is their
 * solution; where the law has several (Painleve's rod, which may lift off or be stopped by an
 * impulse), the one to choose. residual[] is filled as far as evaluated. */
int gauss_rows_admit(const zw_gauss *problem, zw_contact_law law, int count, const int *block,
                     const int *first, double *residual);

#endif
