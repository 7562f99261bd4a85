/* Steps of long chains, in pieces: chain.c. */
#ifndef ZW_STEP_CHAIN_H
#define ZW_STEP_CHAIN_H

#include "step/impulse/impulse.h"
#include "system/bodies/bodies_chain.h"

typedef struct step_chain {
    zw_work *work;       /* of the pieces, */
    step_impulse *inner; /* and their stepper */
    step_impulse *whole; /* in the coordinates of the joints; NULL: not needed yet */
    int is_whole;        /* it has taken the last step */
    zw_run_options plan;
    double *q0, *v0, *q1, *v1; /* of the pieces */
    double *mode;              /* [constraints] */
    void *memory;
} step_chain;

/* impulse_create for a system with long chains: system/bodies/bodies_chain.c. */
step_impulse *chain_create(const zw_system *system, zw_work *work, zw_error *error);
void chain_free(step_chain *z);
void chain_set_plan(step_chain *z, const zw_run_options *plan);
zw_status chain_step(step_impulse *s, double t, double h, const double *q0, const double *v0,
                     double *q1, double *v1, zw_error *error);
void chain_modes(const step_impulse *s, double *mode);

#endif
