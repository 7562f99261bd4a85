/* Four numbers at a time, written as such: the same bits from every compiler. */
#ifndef ZW_SYSTEM_SOFT_FOUR_H
#define ZW_SYSTEM_SOFT_FOUR_H

#include <string.h>

#include "math/lane.h"

typedef zw_real4 soft_four;

ZW_INLINE soft_four four_at(const double *x)
{
    soft_four y;
    memcpy(&y, x, sizeof y);
    return y;
}

ZW_INLINE void four_put(double *to, soft_four x)
{
    memcpy(to, &x, sizeof x);
}

ZW_INLINE double four_sum(soft_four x)
{
    return (x[0] + x[2]) + (x[1] + x[3]);
}

#endif
