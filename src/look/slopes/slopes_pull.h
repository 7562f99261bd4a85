/* Forces of a robot that act along constant directions, and how they change: slopes_pull.c. */
#ifndef ZW_LOOK_SLOPES_PULL_H
#define ZW_LOOK_SLOPES_PULL_H

#include "system/bodies/bodies.h"

/* f = coef F(L, L', u), L' = coef . v: slopes of F. */
typedef struct slopes_pull {
    int count;
    const int *dof;
    const double *coef;
    double by_length, by_rate, by_control;
    int param; /* the parameter that is the control; -1: none has an effect */
    int motor; /* 1 + its index; 0: not a motor */
} slopes_pull;

/* Forces and lengths just at a limit: how many, and the name of one. */
typedef struct slopes_kinks {
    int count;
    const char *name;
} slopes_kinks;

/* ZW_BAD_INPUT: some force on these bodies acts along a direction that turns. */
zw_status slopes_pulls_check(const zw_system *system, zw_error *error);

/* Limits and linear couplings of joints and fixed tendons have rows that never change. */
int slopes_is_constant(const bodies_constraint *constraint);

/* Springs, dampers and motors at (q, v). */
typedef void slopes_visit(void *user, const slopes_pull *pull);
void slopes_pulls(const zw_system *system, zw_work *work, const double *q, const double *v,
                  slopes_visit *visit, void *user, slopes_kinks *kinks);

#endif
