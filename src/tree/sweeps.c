/* One world. */
#include "tree/sweeps.h"

#include "math/elementary.h"

/* One world has its angles computed as eight at a time have: the bits are the same. */
ZW_INLINE void sincos_many(int count, const double *angle, double *sine, double *cosine)
{
    for (int k = 0; k < count; k += LANES) {
        math_sincos8(angle + k, sine + k, cosine + k);
    }
}

#define zw_real double
#define zw_mask int
#define LANE TREE_ONE
#define LANE_CLONES ZW_CLONES
#define lane_fill(c) (c)
#define lane_select lane_select1
#define lane_sqrt sqrt
#define lane_abs fabs
#define lane_not_above(x, y) (!((x) > (y)))
#define lane_sincos math_sincos
#define lane_sincos_many sincos_many
#define lane_atan2(y, x, angle) (*(angle) = math_atan2(y, x))
#include "tree/sweeps.lane.h"
