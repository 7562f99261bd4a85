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
    int inward; /* 1, -1: it cannot be less (a damping of 0), or more: systems are 0 to 3 steps away
                 */
    zw_system *system[NUMBER_SYSTEMS];
} number_systems;

/* name: of a number, as in zw_model_set. The model is modified and then restored. ZW_BAD_INPUT:
 * there is no such number, or it changes the structure of the system. */
zw_status number_make(number_systems *to, zw_model *model, const zw_system *like, const char *name,
                      zw_error *error);
void number_free(number_systems *it);

/* y: values of some functions in system k; 0: they are not there. */
typedef int number_look(void *user, int k, double *y);
/* to[count]: slopes of these functions; scratch[4 count]. y0[count]: their values in the system
 * itself, with this round-off; NULL: kinks are not looked for. 0: they are not there; 2: there is a
 * kink (of two frictions that are equal the larger one counts), and they are those of one side. */
int number_differ(const number_systems *it, size_t count, number_look *look, void *user,
                  const double *y0, double noise, double *scratch, double *to);
/* The slope of a function from its values f[k] at these places. */
static inline double number_slope(const double f[4], double step)
{
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * step);
}

/* What is known of each of `count` functions: its round-off, and a slope beside which errors of its
 * own count as relative (HUGE_VAL: none). */
typedef struct number_each {
    double noise, slope;
} number_each;

/* The largest relative difference between slopes over the inner and the outer two points, beyond
 * round-off of y (of each, or NULL: noise of all), measured leniently for slopes that are small
 * compared with the largest, and with that of their own. */
static inline double number_apart(size_t count, double *const y[4], double step, double noise,
                                  const number_each *each)
{
    double most = 0, off = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(y[2][i] - y[1][i]));
    }
    for (size_t i = 0; i < count; i++) {
        double near = y[2][i] - y[1][i], far = 0.5 * (y[3][i] - y[0][i]);
        double beyond = fabs(near - far) - (each ? each[i].noise : noise);
        double least = each ? fmin(1e-2 * most, each[i].slope * step) : 1e-2 * most;
        off = fmax(off, fmax(0, beyond) / (fabs(near) + least + 1e-300));
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

/* The same of functions that can be evaluated anywhere: after a change by this much. 0: they are
 * not there. */
typedef int number_beside(void *user, double by, double *y);

typedef struct number_way {
    number_beside *look;
    void *user;
    double shift;     /* for functions that are linear so far, the places may be about here, */
    double step;      /* this far apart at most, */
    int tries;        /* and it may be shortened so often, */
    double enough;    /* until slopes over inner and outer places differ by no more */
    size_t count;     /* of functions */
    const double *y0; /* [count] their values here; NULL: kinks are not looked for */
    double noise;     /* round-off of the values, the largest; */
    const number_each *each; /* [count] of each, or NULL: the same */
    int inward;      /* 1, -1: here is an end of what there is, which goes on to this side */
    double *scratch; /* [5 count], without y0 [4 count] */
} number_way;

/* Round-off of values of this size, from as many terms as bodies have. */
#define NUMBER_NOISE 0x1p-46
static inline double number_noise(size_t count, const double *y)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(y[i]));
    }
    return NUMBER_NOISE * most;
}

#define NUMBER_ENOUGH 1e-9 /* for slopes of steps, many of which are multiplied */

/* Slopes along a way, to[count]. 0: they are not there; 2: there is a kink, and they are those of
 * one side. */
int number_along(const number_way *way, double *to);

#endif
