#include "math/dense/small.h"

#define zw_real double
#define zw_mask int
#define LANE(name) name
#define lane_select lane_select1
#define lane_sqrt sqrt
#include "math/dense/small.lane.h"
