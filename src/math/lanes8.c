/* All leaf kernels for eight worlds at once. */
#include "math/dense/small.h"

#define zw_real zw_real8
#define zw_mask zw_mask8
#define LANE(name) name##8
#define lane_select lane_select8
#define lane_sqrt lane_sqrt8
#include "math/cone.lane.h"
#include "math/dense/small.lane.h"
