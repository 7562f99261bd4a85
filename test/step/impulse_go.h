/* Run robots by method impulse, or by DOP853 for comparison; a failure prints its message. */
#ifndef ZW_TEST_STEP_IMPULSE_GO_H
#define ZW_TEST_STEP_IMPULSE_GO_H

#include "scene/campaign.h"
#include "step/impulse/impulse.h"
#include "system/robots.h"

#define PI 3.14159265358979323846

static inline zw_run_summary go(robot *r, zw_method method, double time, double step,
                                zw_observer *observer, void *user)
{
    zw_run_summary summary;
    const zw_run_options options = {.method = method,
                                    .time = time,
                                    .step = method == ZW_METHOD_IMPULSE ? step : 0,
                                    .every = observer ? -1 : 0,
                                    .tolerance = 1e-12,
                                    .observer = observer,
                                    .user = user};
    if (zw_run(r->system, r->state, r->work, &options, &summary, &r->error) != ZW_OK) {
        fail_msg("step %g: %s", step, r->error.text);
    }
    return summary;
}

#endif
