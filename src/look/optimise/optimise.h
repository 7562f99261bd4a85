/* Internals of optimisation: optimise.c creates and frees it and has the search, optimise_motion.c
 * motions of equations with their costs, optimise_robot.c those of robots. */
#ifndef ZW_LOOK_OPTIMISE_H
#define ZW_LOOK_OPTIMISE_H

#include "look/sensitivity/sensitivity.h"
#include "zwang/optimise.h"

struct zw_optimum {
    const zw_model *model; /* that has the costs */
    const zw_system *system;
    zw_optimise_options options;
    zw_sensitivity *flow; /* of equations */
    zw_work *work;
    int count;
    zw_unknown *unknown;
    double *from, *until; /* [count] when this unknown is the value of its parameter */
    double *x, *origin, *low, *high, *slope, *trial; /* [count] */
    double *param, *q, *v;
    char **name;
    int over;    /* some cost is over time */
    int cuts;    /* number of times at which some function of time jumps */
    double *cut; /* [cuts] these, increasing, with the start and the end */
    double start;
    zw_optimum_report report;

    /* the current motion */
    double cost;
    int infinite;     /* the first cost without a value; -1: none */
    double *gradient; /* [count] */
    zw_error *error;
    zw_status status;
    void *memory;
};

/* Is unknown k the value of its parameter at time t? */
int optimise_is_now(const zw_optimum *o, int k, double t);
/* o->cost and the gradient at x. */
zw_status optimise_motion(zw_optimum *o, const double *x, double *gradient);
zw_status optimise_robot(zw_optimum *o, const double *x, double *gradient);
zw_status optimise_robot_prepare(zw_optimum *o, zw_state *state);
/* Reports a cost that had no value; ZW_OK: all have one. */
zw_status optimise_finite(const zw_optimum *o, double t);

#endif
