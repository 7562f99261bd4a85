/* What sensors need of system/state.c and system/terms.c, which call much that a device does not
 * have. */
#include <math.h>

#include "system/bodies/bodies.h"

double *state_q(zw_state *state)
{
    return state->data;
}

double *state_v(zw_state *state)
{
    return state->data + state->nq;
}

double *state_param(zw_state *state)
{
    return state_v(state) + state->n + state->carried;
}

/* The parameters are there: world_load. */
void system_bind(const zw_system *system, zw_work *work, const double *param)
{
    (void)system, (void)work, (void)param;
}

zw_status system_evaluate(const zw_system *system, zw_work *work, system_part part, double t,
                          const double *q, const double *v, const double *a, const double *lambda,
                          zw_error *error)
{
    const expr_inputs in = {.t = t, .param = work->param, .q = q, .v = v, .a = a, .lambda = lambda};
    zw_status status = ZW_OK;
    (void)error;
    bodies_evaluate(system, work, part, &in);
    for (int i = 0; i < system->tape[part].count && status == ZW_OK; i++) {
        status = isfinite(work->out[part][i]) ? ZW_OK : ZW_NOT_FINITE;
    }
    return status;
}

/* There are no names. */
const char *zw_name(const zw_system *system, zw_kind kind, int index)
{
    (void)system, (void)kind, (void)index;
    return "";
}
