/* Four numbers at a time, written as such: the same bits from every compiler. */
#ifndef ZW_MATH_FOUR_H
#define ZW_MATH_FOUR_H

#include <string.h>

#include "math/lane.h"

ZW_INLINE zw_real4 four_at(const double *x)
{
    zw_real4 y;
    memcpy(&y, x, sizeof y);
    return y;
}

ZW_INLINE void four_put(double *to, zw_real4 x)
{
    memcpy(to, &x, sizeof x);
}

ZW_INLINE double four_sum(zw_real4 x)
{
    return (x[0] + x[2]) + (x[1] + x[3]);
}

#endif
