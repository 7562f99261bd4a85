/* One world alone. */
#include "gauss/augment/augment.h"

#define zw_real double
#define zw_mask int
#define LANE AUGMENT_ONE
#define AUGMENT_LANES 1

ZW_INLINE int not_of(int mask)
{
    return !mask;
}

ZW_INLINE int any_of(int mask)
{
    return mask;
}

ZW_INLINE double lane_of(const double *x, int lane)
{
    (void)lane;
    return *x;
}

ZW_INLINE void put_lane(double *x, int lane, double value)
{
    (void)lane;
    *x = value;
}

ZW_INLINE int is_lane(const int *mask, int lane)
{
    (void)lane;
    return *mask;
}

ZW_INLINE void set_lane(int *mask, int lane, int on)
{
    (void)lane;
    *mask = on;
}

ZW_INLINE unsigned bits_of(const int *mask)
{
    return *mask != 0;
}

static size_t together_bytes(void)
{
    return 0;
}

static void restart(augment1 *s, int which)
{
    if (which) {
        augment_restart(s->problem);
    }
}

static long advance(augment1 *s)
{
    return augment_advance(s->problem);
}

#include "gauss/augment/augment.lane.h"
