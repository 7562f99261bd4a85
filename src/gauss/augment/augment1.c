/* One world alone. */
#include "gauss/augment/augment.h"

#define zw_real double
#define zw_mask int
#define LANE AUGMENT_ONE

ZW_INLINE double select_of(int mask, double x, double y)
{
    return mask ? x : y;
}

ZW_INLINE double only(int on, double x)
{
    return on ? x : 0;
}

ZW_INLINE int not_of(int mask)
{
    return !mask;
}

ZW_INLINE double size_of(double x)
{
    return fabs(x);
}

ZW_INLINE double larger(double x, double y)
{
    return x > y ? x : y;
}

ZW_INLINE double root_of(double x)
{
    return sqrt(x);
}

ZW_INLINE int any_of(int mask)
{
    return mask;
}

ZW_INLINE int count_of(int mask)
{
    return mask;
}

#include "gauss/augment/augment.lane.h"

void augment_solve1(augment1 *s)
{
    augment_begin1(s);
    augment_go_on1(s, 0);
    augment_end1(s);
}
