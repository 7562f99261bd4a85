/* Numbers of a model among the unknowns: systems with a bit less and more of one. */
#ifndef ZW_LOOK_NUMBER_H
#define ZW_LOOK_NUMBER_H

#include <math.h>

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

/* How far slopes over the nearer and the farther places differ, of each number (but for those that
 * are small beside the largest). */
static inline double number_apart(size_t count, double *const y[4])
{
    double most = 0, off = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(y[2][i] - y[1][i]));
    }
    for (size_t i = 0; i < count; i++) {
        double near = y[2][i] - y[1][i], far = 0.5 * (y[3][i] - y[0][i]);
        off = fmax(off, fabs(near - far) / (fabs(near) + 1e-2 * most + 1e-300));
    }
    return off;
}

/* The slopes of `count` numbers; 1. */
static inline int number_slopes(size_t count, double *const y[4], double step, double *to)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = number_slope((const double[4]){y[0][i], y[1][i], y[2][i], y[3][i]}, step);
    }
    return 1;
}

/* Ways are shortened by NUMBER_SHORTER until slopes agree to NUMBER_AGREE: those over the nearer
 * and the farther places, or those of one way and the next. (Of a smooth function the first differ
 * by the square of the way and the others by its fourth power; of one that bends, as drag, v |v|,
 * does, both by the way itself.) Of two that agree the longer one has less round-off, and if the
 * shorter is worse in itself, that has taken over. */
#define NUMBER_AGREE 1e-8
#define NUMBER_SWITCHES 1e-3 /* slopes that differ by more are of something that does */
#define NUMBER_SHORTER 16.0

/* Another way: its slopes are taken if they are better, and *apart is theirs (HUGE_VAL: none yet).
 * 0: what there is in `to` is enough. */
static inline int number_improve(size_t count, double *const y[4], double step, double *apart,
                                 double *to)
{
    double off = number_apart(count, y), most = 0, differs = 0;
    if (off > *apart) {
        return *apart > NUMBER_SWITCHES;
    }
    for (size_t i = 0; i < count && *apart < HUGE_VAL; i++) {
        most = fmax(most, fabs(to[i]));
    }
    for (size_t i = 0; i < count && *apart < HUGE_VAL; i++) {
        const double f[4] = {y[0][i], y[1][i], y[2][i], y[3][i]};
        differs = fmax(differs,
                       fabs(number_slope(f, step) - to[i]) / (fabs(to[i]) + 1e-2 * most + 1e-300));
    }
    if (*apart < HUGE_VAL && differs < NUMBER_AGREE) {
        return 0;
    }
    *apart = off;
    return number_slopes(count, y, step, to);
}

#endif
