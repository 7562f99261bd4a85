/* Motions of equations in parts, for the backward pass over them: flow.c. */
#ifndef ZW_LOOK_FLOW_H
#define ZW_LOOK_FLOW_H

#include "system/system.h"
#include "zwang/sensitivity.h"

typedef struct sens_flow {
    const zw_system *system;
    zw_sensitivity *slopes;
    zw_work *work;
    zw_state *now; /* where the last part ended */
    zw_run_options run;
    int kink_count;
    const char *kink;
} sens_flow;

/* ZW_BAD_INPUT: derivatives of something in this system are not supported. */
sens_flow *flow_create(const zw_model *model, const zw_system *system, const zw_run_options *run,
                       zw_error *error);
void flow_free(sens_flow *flow);
/* Computes a part from a state to this time with these parameters, and its slopes if requested; it
 * ends at flow->now. */
zw_status flow_take(sens_flow *flow, const zw_state *from, const double *param, double until,
                    int differs, zw_error *error);
/* g[2 n], slopes of a number by the end of the last part, become those by its start; those by the
 * parameters are added to by_param. scratch[2 n] */
void flow_back(const sens_flow *flow, double *g, double *by_param, double *scratch);

#endif
