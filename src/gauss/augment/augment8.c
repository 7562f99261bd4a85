/* Eight worlds at once. */
#include "gauss/augment/augment.h"

#define zw_real zw_real8
#define zw_mask zw_mask8
#define LANE AUGMENT_EIGHT

ZW_INLINE zw_real8 select_of(zw_mask8 mask, zw_real8 x, zw_real8 y)
{
    return lane_select8(mask, x, y);
}

ZW_INLINE zw_real8 only(zw_mask8 on, zw_real8 x)
{
    return (zw_real8)(on & (zw_mask8)x);
}

ZW_INLINE zw_mask8 not_of(zw_mask8 mask)
{
    return ~mask;
}

ZW_INLINE zw_real8 size_of(zw_real8 x)
{
    return lane_size8(x);
}

ZW_INLINE zw_real8 larger(zw_real8 x, zw_real8 y)
{
    return lane_select8(x > y, x, y);
}

ZW_INLINE zw_real8 root_of(zw_real8 x)
{
    return lane_sqrt8(x);
}

ZW_INLINE int any_of(zw_mask8 mask)
{
    return lane_any8(mask);
}

ZW_INLINE int count_of(zw_mask8 mask)
{
    int count = 0;
    for (int l = 0; l < LANES; l++) {
        count += mask[l] != 0;
    }
    return count;
}

#include "gauss/augment/augment.lane.h"
