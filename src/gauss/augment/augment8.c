/* Eight worlds at once, or on a GPU one in each thread. */
#include "gauss/augment/augment_together.h"

#define zw_real zw_real8
#define zw_mask zw_mask8
#define LANE AUGMENT_EIGHT
#define AUGMENT_LANES LANES

ZW_INLINE zw_mask8 not_of(zw_mask8 mask)
{
    return ~mask;
}

ZW_INLINE int any_of(zw_mask8 mask)
{
    return lane_any8(mask);
}

ZW_INLINE double lane_of(const zw_real8 *x, int lane)
{
    return (*x)[lane];
}

ZW_INLINE void put_lane(zw_real8 *x, int lane, double value)
{
    (*x)[lane] = value;
}

ZW_INLINE int is_lane(const zw_mask8 *mask, int lane)
{
    return (*mask)[lane] != 0;
}

ZW_INLINE void set_lane(zw_mask8 *mask, int lane, int on)
{
    (*mask)[lane] = on ? -1 : 0;
}

ZW_INLINE unsigned bits_of(const zw_mask8 *mask)
{
    unsigned bits = 0;
    for (int l = 0; l < LANES; l++) {
        bits |= (unsigned)((*mask)[l] != 0) << l;
    }
    return bits;
}

#if ZW_LANES > 1
static size_t together_bytes(void)
{
    return augment_together_bytes();
}

static void restart(augment8 *s, zw_mask8 which)
{
    augment_restart_together(s->together, s->problem, bits_of(&which));
}

static long advance(augment8 *s)
{
    return augment_advance_together(s->together, s->problem);
}

static void clear_tiles(augment8 *s)
{
    augment_clear_together(s->together);
}

static void put_tile(const augment8 *s, const augment_block8 *a, const augment_block8 *b,
                     unsigned both, const zw_real8 *tile)
{
    augment_put_tile(s->together, s->problem, (const int *const[]){a->slot, b->slot},
                     (const int[]){a->place, b->place}, (const int[]){a->width, b->width}, both,
                     tile);
}
#else /* a thread of a GPU: the rows of one world */
static size_t together_bytes(void)
{
    return 0;
}

static void restart(augment8 *s, zw_mask8 which)
{
    if (is_lane(&which, 0)) {
        augment_restart(s->problem);
    }
}

static long advance(augment8 *s)
{
    return augment_advance(s->problem);
}

static void clear_tiles(augment8 *s)
{
    (void)s;
}

static void put_tile(const augment8 *s, const augment_block8 *a, const augment_block8 *b,
                     unsigned both, const zw_real8 *tile)
{
    double value[9] = {0};
    (void)both;
    for (int i = 0; i < a->width * b->width; i++) {
        value[i] = lane_of(&tile[i], 0);
    }
    augment_put(s->problem, a->slot[0], b->slot[0], value);
}
#endif

ZW_INLINE int room_of(int width)
{
    return width;
}

#include "gauss/augment/augment.lane.h"
