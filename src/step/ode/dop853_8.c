/* Eight worlds. */
#include "step/ode/dop853.h"

static inline __attribute__((always_inline)) zw_real8 lane_abs8(zw_real8 x)
{
    const zw_mask8 sign = (zw_mask8)(-(zw_real8){0});
    return (zw_real8)((zw_mask8)x & ~sign);
}

#define zw_real zw_real8
#define LANE(name) name##8
#define LANE_ZERO ((zw_real8){0})
#define LANE_PART static inline __attribute__((always_inline))
#define LANE_CLONES ZW_CLONES
#define lane_select lane_select8
#define lane_abs lane_abs8
#include "step/ode/dop853.lane.h"
