/* A motion of a robot by its steps, with the derivatives of its states by unknowns: robot.c. */
#ifndef ZW_LOOK_ROBOT_H
#define ZW_LOOK_ROBOT_H

#include "system/system.h"
#include "zwang/sensitivity.h"

typedef struct robot_problem {
    const zw_system *system; /* of the unchanged model */
    zw_model *model; /* in which numbers are set and then restored; NULL: none are unknowns */
    const zw_unknown *unknown;
    int count;
    const char *const *number;  /* names of the unknowns of kind number */
    const double *from, *until; /* [count] when a parameter is an unknown: from[k] <= t < until[k];
                                   NULL: always */
    zw_run_options run;         /* as of robot_plan */
    double end;
} robot_problem;

/* Gets the state after this many steps and the slopes of its coordinates (along speeds) and speeds
 * by the unknowns, z[count][2 n]. Return nonzero to stop. */
typedef int robot_observer(void *user, long step, const zw_state *state, const double *z);

/* The options of the steps of this motion: method impulse or soft. ZW_BAD_INPUT: another method was
 * requested. */
zw_status robot_plan(const zw_system *system, const zw_state *state, const zw_run_options *options,
                     zw_run_options *plan, zw_error *error);
/* ZW_BAD_INPUT: this robot does not have one of the unknowns. */
zw_status robot_check(const robot_problem *p, zw_error *error);
/* The value of an unknown in the model, from one of its states. */
zw_status robot_origin(const robot_problem *p, int unknown, zw_state *state, double *x,
                       zw_error *error);
/* The whole motion at x. */
zw_status robot_follow(const robot_problem *p, const double *x, robot_observer *observer,
                       void *user, int *kinks, zw_error *error);
/* robot_start.c: the state at x by assembly, and its slopes z[count][2 n], which are 0 before. */
zw_status robot_start(const robot_problem *p, const zw_system *system, zw_work *work,
                      const double *x, zw_state **state, double *z, zw_error *error);
/* The speed along which initial coordinate c is varied; -1: it is part of a quaternion. */
int robot_speed_of(const zw_system *system, int c);
/* How coordinate c changes with q moved along z[n]. */
double robot_coordinate(const zw_system *system, const double *q, const double *z, int c);

#endif
