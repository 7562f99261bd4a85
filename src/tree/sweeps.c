/* One world. */
#include "tree/sweeps.h"

#include "math/elementary.h"

#define zw_real double
#define zw_mask int
#define LANE TREE_ONE
#define LANE_CLONES
#define lane_fill(c) (c)
#define lane_select lane_select1
#define lane_sqrt sqrt
#define lane_abs fabs
#define lane_not_above(x, y) (!((x) > (y)))
#define lane_sincos math_sincos
#define lane_atan2(y, x, angle) (*(angle) = math_atan2(y, x))
#include "tree/sweeps.lane.h"
