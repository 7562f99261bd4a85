/* Numbers of a model among the unknowns: systems with a bit less and more of one. */
#ifndef ZW_LOOK_NUMBER_H
#define ZW_LOOK_NUMBER_H

#include "system/system.h"

/* Multiples of `step` that the number is more by. */
static const double number_place[4] = {-2, -1, 1, 2};

typedef struct number_systems {
    double step;
    zw_system *system[4];
} number_systems;

/* A number, as zw_model_set names it; the model is changed in between, and as it was after.
 * ZW_BAD_INPUT: there is no such number, or it changes what there is, not only by how much. */
zw_status number_make(number_systems *to, zw_model *model, const zw_system *like, const char *name,
                      zw_error *error);
void number_free(number_systems *it);

/* The slope of what is f[k] at these. */
static inline double number_slope(const double f[4], double step)
{
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * step);
}

/* The same of `count` numbers. */
static inline void number_slopes(size_t count, double *const y[4], double step, double *to)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = number_slope((const double[4]){y[0][i], y[1][i], y[2][i], y[3][i]}, step);
    }
}

#endif
