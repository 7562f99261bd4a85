/* Between arrays, one for each lane, and one array of lanes. */
#ifndef ZW_MATH_LANES_H
#define ZW_MATH_LANES_H

#include "math/lane.h"

/* to[k] = (from[0][k], from[1][k], ...) for k < count */
void math_to_lanes(int count, const double *const *from, zw_real8 *to);
/* Back, for the first lanes only. */
void math_from_lanes(int count, const zw_real8 *from, int lanes, double *const *to);

#endif
