/* Parameters and initial values that minimise a cost, as the `cost` and `vary` lines of a .zw file
 * define them.
 *
 *     zw_optimum *best = zw_optimise(model, system, NULL, &error);
 *     zw_optimum_report_of(best).cost, zw_optimum_look(best, 0).value
 *     zw_optimum_free(best);
 *
 * Sequential quadratic programming (Kraft 1988; for many unknowns Nocedal's L-BFGS), both of the
 * library NLopt, with exact derivatives of the motion (sensitivity.h), of robots by one backward
 * sweep over their steps. A parameter that is a function of time is an unknown in each of its
 * parts. It finds a local minimum near the start. */
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
        run;       /* method dop853 or rk4, of robots impulse or soft; its observer is not asked */
    int motions;   /* at most; 0: 1000 */
    zw_poll *poll; /* asked now and then; nonzero stops with ZW_INTERRUPTED; or NULL */
    void *user;
} zw_optimise_options;

typedef struct zw_optimum zw_optimum;

/* Begins where the model is; options NULL: the usual ones. ZW_BAD_INPUT: the model has no cost or
 * varies nothing, the library was built without NLopt, or derivatives of something are not
 * supported.
 */
zw_optimum *zw_optimise(const zw_model *model, const zw_system *system,
                        const zw_optimise_options *options, zw_error *error);
void zw_optimum_free(zw_optimum *optimum);

typedef struct zw_optimum_report {
    int unknowns, motions;
    double before, cost; /* where the model is; and at the end */
    double slope;        /* the largest slope of the cost by an unknown that is not at a bound */
    int converged;       /* 0: the number of motions was not enough */
    int kinks;           /* of the derivatives at the end: sensitivity.h */
} zw_optimum_report;

typedef struct zw_optimum_value {
    const char *name; /* "m", "x(0)", "x'(0)", "F(0.5)": of the part that begins then */
    double before, value, low, high;
    int at_bound; /* -1: the lower, 1: the upper */
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
