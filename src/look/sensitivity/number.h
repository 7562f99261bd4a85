/* Numbers of a model among the unknowns: systems with slightly smaller and larger values of one,
 * and differences of fourth order over these, with a long step and a short one (number.c). */
#ifndef ZW_LOOK_NUMBER_H
#define ZW_LOOK_NUMBER_H

#include <math.h>

#include "system/system.h"

/* The number is changed by these multiples of a step. */
static const double number_place[4] = {-2, -1, 1, 2};

enum { NUMBER_SYSTEMS = 8 }; /* four for the long step, then four for the short one */

typedef struct number_systems {
    double step[2];
    zw_system *system[NUMBER_SYSTEMS];
} number_systems;

/* name: of a number, as in zw_model_set. The model is modified and then restored. ZW_BAD_INPUT:
 * there is no such number, or it changes the structure of the system. */
zw_status number_make(number_systems *to, zw_model *model, const zw_system *like, const char *name,
                      zw_error *error);
void number_free(number_systems *it);

/* y: values of some functions in system k; 0: they are not there. */
typedef int number_look(void *user, int k, double *y);
/* to[count]: slopes of these functions; scratch[4 count]. 0: they are not there. */
int number_differ(const number_systems *it, size_t count, number_look *look, void *user,
                  double *scratch, double *to);

/* The slope of a function from its values f[k] at these places. */
static inline double number_slope(const double f[4], double step)
{
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * step);
}

/* The largest relative difference between slopes over the inner and the outer two points, measured
 * leniently for slopes that are small compared with the largest. */
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

/* The slopes of `count` functions; returns 1. */
static inline int number_slopes(size_t count, double *const y[4], double step, double *to)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = number_slope((const double[4]){y[0][i], y[1][i], y[2][i], y[3][i]}, step);
    }
    return 1;
}

/* Steps are shortened by NUMBER_SHORTER until slopes agree to NUMBER_AGREE: those over the inner
 * and the outer points, or those of one step and the next. (For a smooth function the former differ
 * by the square of the step and the latter by its fourth power; for one with a kink in its slope,
 * such as the drag v |v|, both by the step itself.) Of two steps that agree the longer one has less
 * round-off; if the shorter one is less consistent in itself, round-off dominates it. */
#define NUMBER_AGREE 1e-8
#define NUMBER_SWITCHES                                                                            \
    1e-5 /* the square of a long step is 1e-6: if slopes differ by more, the                       \
            function switches within it, and shorter steps may avoid that */
#define NUMBER_SHORTER 16.0

/* Another step: its slopes replace those in `to` if they are better; *apart is the difference of
 * those in `to` (HUGE_VAL: none yet). 0: they are accurate enough. */
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
