#include "step/impulse_stepper.h"

#include "base/error.h"
#include "step/chain/chain.h"
#include "step/sleep/sleep.h"
#include "step/split/split.h"

step_impulse *impulse_open(const zw_system *system, zw_work *work, zw_error *error)
{
    if (system->bodies->chain) {
        return chain_create(system, work, error);
    }
    step_impulse *s = impulse_create(system, work, error);
    if (s && !split_begin(s)) {
        impulse_free(s);
        s = NULL;
        base_no_memory(error);
    }
    return s;
}

static zw_status take(step_whole *w, double t, double h, const double *y0, double *y1, int *finite,
                      zw_error *error)
{
    step_impulse *impulse = w->method;
    int last = w->base.n - 1;
    if (impulse->sleep) {
        sleep_notice(impulse, y0, y0 + w->nq);
    }
    zw_status status = impulse_step(impulse, t, h, y0, y0 + w->nq, y1, y1 + w->nq, error);
    *finite = status == ZW_OK && impulse->sleep && sleep_is_finite(impulse);
    if (w->works) {
        y1[last] = y0[last] + impulse->gained;
    }
    return status;
}

stepper *impulse_stepper(step_impulse *impulse, double h, zw_error *error)
{
    step_whole *w = whole_create(impulse->system, h, error);
    if (!w) {
        return NULL;
    }
    w->take = take;
    w->bends = 1;
    w->method = impulse;
    w->kept_count = impulse_memory(impulse, &w->kept);
    return &w->base;
}
