/* One world alone. */
#include "gauss/augment/augment.h"
#include "math/four.h"

#define zw_real double
#define zw_mask int
#define LANE AUGMENT_ONE
#define AUGMENT_LANES 1
#define AUGMENT_ALONE

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

static void clear_tiles(augment1 *s)
{
    (void)s;
}

static void put_tile(const augment1 *s, const augment_block1 *a, const augment_block1 *b,
                     unsigned both, const double *tile)
{
    (void)both;
    augment_put(s->problem, a->slot[0], b->slot[0], tile);
}

/* ---- What works on four numbers at a time, with the bits of the eight worlds ------------------
 */

/* H = L' D L, and x = L' \ x */
static void factor(const augment1 *s, double *x, int *good)
{
    memcpy(s->lower, s->H, (size_t)s->straight->entries * sizeof *s->lower);
    *good = *good && paths_factor(s->straight, NULL, s->lower);
    paths_solve_half(s->straight, s->lower, x);
}

/* Numbers of y for each dof: one world alone works on four at a time, of which the last is 0. */
ZW_INLINE int room_of(int width)
{
    return width == 3 ? 4 : width;
}

/* Three rows at once: as halve_by does for each. */
ZW_INLINE void halve_three(const augment1 *s, augment_block1 *k)
{
    const paths_shape *shape = s->straight;
    const double *J = k->J;
    zw_real4 sum = {0};
    for (int i = 0; i < k->supports; i++) {
        four_put(k->y + 4 * i, (zw_real4){0});
    }
    for (int c = 0; c < k->columns; c++) {
        zw_real4 row = {J[c], J[k->columns + c], J[2 * k->columns + c], 0};
        four_put(k->y + 4 * s->at[k->column[c]], row);
        sum += row * s->v0[k->column[c]];
    }
    for (int i = k->supports - 1; i >= 0; i--) {
        int d = k->support[i], above = shape->depth[d] - 1;
        const double *row = s->lower + shape->start[d];
        zw_real4 own = four_at(k->y + 4 * i) * row[above];
        sum += own * s->eased[d];
        for (int t = above - 1, a = shape->parent[d]; t >= 0; t--, a = shape->parent[a]) {
            double *to = k->y + 4 * s->at[a];
            four_put(to, four_at(to) - row[t] * own);
        }
    }
    for (int r = 0; r < 3; r++) {
        k->free[r] = sum[r];
    }
}

/* The part of W of two blocks of three rows, as tile_by has it. */
ZW_INLINE void tile_three(const augment1 *s, const augment_block1 *a, const augment_block1 *b,
                          double *to)
{
    const paths_shape *shape = s->straight;
    zw_real4 sum[3] = {{0}, {0}, {0}};
    for (int i = 0, j = 0; i < a->supports && j < b->supports;) {
        int d = a->support[i], e = b->support[j];
        if (d == e) {
            double inverse = s->lower[shape->start[d] + shape->depth[d] - 1];
            zw_real4 other = four_at(b->y + 4 * j);
            for (int r = 0; r < 3; r++) {
                sum[r] += (a->y[4 * i + r] * inverse) * other;
            }
        }
        i += d <= e;
        j += d >= e;
    }
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            to[3 * r + c] = sum[r][c];
        }
    }
}

#include "gauss/augment/augment.lane.h"
