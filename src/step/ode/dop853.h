/* The arithmetic and the step control of DOP853, for one world (dop853.c, ode.c) and for eight at
 * once (dop853_8.c, src/batch). A lane of eight has the bits of the world alone. */
#ifndef ZW_STEP_DOP853_H
#define ZW_STEP_DOP853_H

#include "math/lane.h"
#include "step/ode/dop853_table.h"
#include "zwang/status.h"

/* The argument of stage s: trial = y0 + (low0 + h sum_j a_sj k_j). */
void step_dop853_argument(int n, int s, const double *h, const double *stage, const double *y0,
                          const double *low0, double *trial);
/* sum = h sum_j w_j k_j over the first `count` stages. */
void step_dop853_sum(int n, int count, const double *w, const double *h, const double *stage,
                     double *sum);
/* error[3]: the largest E5 and E3 in units of the tolerance, and the component of that E5. */
void step_dop853_error(int n, double tolerance, const double *weight, const double *stage,
                       const double *y0, const double *increment, double *error);
/* y1 = y0 + increment, with the rounding error in low1: Knuth's TwoSum. */
void step_add(int n, const double *y0, const double *low0, const double *increment, double *y1,
              double *low1);

void step_dop853_argument8(int n, int s, const zw_real8 *h, const zw_real8 *stage,
                           const zw_real8 *y0, const zw_real8 *low0, zw_real8 *trial);
void step_dop853_sum8(int n, int count, const double *w, const zw_real8 *h, const zw_real8 *stage,
                      zw_real8 *sum);
void step_dop853_error8(int n, double tolerance, const double *weight, const zw_real8 *stage,
                        const zw_real8 *y0, const zw_real8 *increment, zw_real8 *error);
void step_add8(int n, const zw_real8 *y0, const zw_real8 *low0, const zw_real8 *increment,
               zw_real8 *y1, zw_real8 *low1);

/* The size of an error from E5 and E3, and the factor by which to lengthen the next step. */
double step_dop853_size(double h, double largest5, double largest3);
double step_dop853_growth(double last_size, double size);

#endif
