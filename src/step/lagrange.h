/* A system as step/ode/symplectic.h wants to see it. */
#ifndef ZW_STEP_LAGRANGE_H
#define ZW_STEP_LAGRANGE_H

#include "step/ode/symplectic.h"
#include "system/work.h"

typedef struct step_lagrange {
    const zw_system *system;
    zw_work *work;
    double *M, *A;         /* as `linearise` left them */
    double *sweeps;        /* of bodies without rows: the same, factored, in place of M */
    int *holonomic;        /* [m] */
    double *zero;          /* [n] */
    double *change, *half; /* [nq] of bodies, on the move */
    step_lagrangian view;
} step_lagrange;

/* Refuses what these methods cannot do: contacts, and friction that needs the reaction. */
zw_status lagrange_create(step_lagrange *lagrange, const zw_system *system, zw_work *work,
                          zw_error *error);
void lagrange_free(step_lagrange *lagrange);

#endif
