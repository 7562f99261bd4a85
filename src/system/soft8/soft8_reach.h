/* Extents of shapes in eight worlds. */
#ifndef ZW_SYSTEM_SOFT8_REACH_H
#define ZW_SYSTEM_SOFT8_REACH_H

#include <math.h>

#include "system/soft8/soft8.h"

ZW_INLINE zw_real8 dot8(const zw_real8 *a, const zw_real8 *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* An upper bound of the extent of a shape from its position along a unit vector. */
ZW_INLINE zw_real8 reach8(const contact_geom *geom, const soft8_pose *at, const zw_real8 *u)
{
    const double *size = geom->shape.size;
    zw_real8 sum = (zw_real8){0} + (zw_scalar)geom->radius;
    if (geom->shape.kind == COLLIDE_BOX) {
        sum = (zw_real8){0};
        for (int j = 0; j < 3; j++) {
            zw_real8 axis[3] = {at->R[j], at->R[3 + j], at->R[6 + j]};
            sum += (zw_scalar)size[j] * lane_size8(dot8(axis, u));
        }
    } else if (geom->shape.kind == COLLIDE_CAPSULE || geom->shape.kind == COLLIDE_CYLINDER) {
        zw_real8 axis[3] = {at->R[2], at->R[5], at->R[8]};
        sum = (zw_scalar)fabs(size[0]) + (zw_scalar)fabs(size[1]) * lane_size8(dot8(axis, u));
    }
    return sum;
}

#endif
