#include "math/small.h"

#define zw_real double
#define zw_mask int
#define LANE(name) name
#define lane_select lane_select1
#define lane_sqrt sqrt
#include "math/small.lane.h"
