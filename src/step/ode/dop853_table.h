/* The coefficients of DOP853 (Dormand and Prince's method of order 8 with the error estimates of
 * orders 5 and 3 and the dense output of order 7 by Hairer, Norsett and Wanner, "Solving Ordinary
 * Differential Equations I", section II.5-II.6). test/step/test_dop853.c checks the order
 * conditions. */
#ifndef ZW_STEP_DOP853_TABLE_H
#define ZW_STEP_DOP853_TABLE_H

enum { STEP_DOP853_STAGES = 12, STEP_DOP853_ALL = 16 };

/* Stage i is f(t + c_i h, y + h sum_j a_ij k_j). Row 12 holds the weights of the step itself, so
 * stage 12 is the first of the next step; 13 to 15 serve dense output only. */
extern const double step_dop853_c[STEP_DOP853_ALL];
extern const double step_dop853_a[STEP_DOP853_ALL][STEP_DOP853_ALL - 1];

/* Weights of the step minus those of the embedded methods of order 5 and 3. */
extern const double step_dop853_e5[STEP_DOP853_STAGES];
extern const double step_dop853_e3[STEP_DOP853_STAGES];

/* Coefficients 4 to 7 of the interpolant are h sum_j d_ij k_j; see dop853.c. */
extern const double step_dop853_d[4][STEP_DOP853_ALL];

#endif
