/* Parameters and initial values that minimise a cost, as the `cost` and `vary` lines of a .zw file
 * define them.
 *
 *     zw_optimum *best = zw_optimise(model, system, NULL, &error);
 *     zw_optimum_report_of(best).cost, zw_optimum_look(best, 0).value
 *     zw_optimum_free(best);
 *
 * Sequential quadratic programming (Kraft 1988; for many unknowns Nocedal's L-BFGS), both of the
 * library NLopt, with exact derivatives of the motion (sensitivity.h), for robots by one backward
 * sweep over their steps. A parameter that is a function of time is one unknown per interval of
 * that function. The result is a local minimum near the start. */
#ifndef ZWANG_OPTIMISE_H
#define ZWANG_OPTIMISE_H

#include "zwang/sensitivity.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct zw_optimise_options {
    zw_run_options
        run;     /* method dop853 or rk4, for robots impulse or soft; the observer is not called */
    int motions; /* the most that are computed; 0: 1000 */
    zw_poll *poll; /* called from time to time; nonzero stops with ZW_INTERRUPTED; or NULL */
    void *user;
} zw_optimise_options;

typedef struct zw_optimum zw_optimum;

/* Starts from the values in the model; NULL options are the defaults. ZW_BAD_INPUT: the model has
 * no cost or varies nothing, the library was built without NLopt, or derivatives of something are
 * not supported.
 */
zw_optimum *zw_optimise(const zw_model *model, const zw_system *system,
                        const zw_optimise_options *options, zw_error *error);
void zw_optimum_free(zw_optimum *optimum);

typedef struct zw_optimum_report {
    int unknowns, motions;
    double before, cost; /* at the values in the model, and at the end */
    double slope;  /* the largest derivative of the cost by an unknown that is not at a bound */
    int converged; /* 0: it stopped at the limit on motions */
    int kinks;     /* in the derivatives at the end: sensitivity.h */
} zw_optimum_report;

typedef struct zw_optimum_value {
    const char *name; /* "m", "x(0)", "x'(0)"; "F(0.5)": the interval of F that begins at 0.5 */
    double before, value, low, high;
    int at_bound; /* -1: at the lower, 1: at the upper, 0: at neither */
} zw_optimum_value;

zw_optimum_report zw_optimum_report_of(const zw_optimum *optimum);
zw_optimum_value zw_optimum_look(const zw_optimum *optimum, int unknown);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
