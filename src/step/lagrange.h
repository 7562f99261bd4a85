/* A system in the form that step/ode/symplectic.h needs. */
#ifndef ZW_STEP_LAGRANGE_H
#define ZW_STEP_LAGRANGE_H

#include "step/ode/symplectic.h"
#include "system/work.h"

typedef struct step_lagrange {
    const zw_system *system;
    zw_work *work;
    double *M, *A;         /* as left by `linearise` */
    double *sweeps;        /* for bodies without rows: the same, factored, instead of M */
    int *holonomic;        /* [m] */
    double *zero;          /* [n] */
    double *change, *half; /* [nq] for bodies: a move */
    step_lagrangian view;
} step_lagrange;

/* Rejects what these methods do not support: contacts, and friction that depends on the
 * reaction. */
zw_status lagrange_create(step_lagrange *lagrange, const zw_system *system, zw_work *work,
                          zw_error *error);
void lagrange_free(step_lagrange *lagrange);

#endif
