/* Eight worlds. */
#include "tree/sweeps.h"

#include "math/elementary.h"

#ifndef ZW_FLOAT
ZW_INLINE void sincos8(zw_real8 x, zw_real8 *sine, zw_real8 *cosine)
{
    math_sincos8((const double *)&x, (double *)sine, (double *)cosine);
}

ZW_INLINE void atan28(zw_real8 y, zw_real8 x, zw_real8 *angle)
{
    math_atan28((const double *)&y, (const double *)&x, (double *)angle);
}
#else
/* Computed in double precision and rounded. */
ZW_INLINE void sincos8(zw_real8 x, zw_real8 *sine, zw_real8 *cosine)
{
    for (int l = 0; l < LANES; l++) {
        double s, c;
        math_sincos(x[l], &s, &c);
        (*sine)[l] = (zw_scalar)s;
        (*cosine)[l] = (zw_scalar)c;
    }
}

ZW_INLINE void atan28(zw_real8 y, zw_real8 x, zw_real8 *angle)
{
    for (int l = 0; l < LANES; l++) {
        (*angle)[l] = (zw_scalar)math_atan2(y[l], x[l]);
    }
}
#endif

ZW_INLINE void sincos_many8(int count, const zw_real8 *angle, zw_real8 *sine, zw_real8 *cosine)
{
    for (int k = 0; k < count; k++) {
        sincos8(angle[k], sine + k, cosine + k);
    }
}

ZW_INLINE zw_real8 fill8(double c)
{
    zw_scalar x = (zw_scalar)c;
#if ZW_LANES == 8
    return (zw_real8){x, x, x, x, x, x, x, x};
#else
    return (zw_real8){x};
#endif
}

#define zw_real zw_real8
#define zw_mask zw_mask8
#define LANE TREE_EIGHT
#define LANE_CLONES ZW_CLONES
#define lane_fill fill8
#define lane_select lane_select8
#define lane_any lane_any8
#define lane_sqrt lane_sqrt8
#define lane_abs lane_size8
#define lane_not_above(x, y) (~((x) > (y)))
#define lane_sincos sincos8
#define lane_sincos_many sincos_many8
#define lane_atan2 atan28
#include "tree/sweeps.lane.h"
