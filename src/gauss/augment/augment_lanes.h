/* Eight worlds side by side: what augment_together.c and augment_steps.c have in common. */
#ifndef ZW_GAUSS_AUGMENT_LANES_H
#define ZW_GAUSS_AUGMENT_LANES_H

#include "gauss/augment/augment_numbers.h"
#include "gauss/augment/augment_together.h"

enum { SIDES = 16 };             /* slots: larger problems go one by one */
enum { ROWS = 3 * SIDES };       /* three for each slot, whatever its width in a world */
enum { STRIDE = ROWS + 1 };      /* odd: rows of a matrix do not share the lines of a cache */
enum { WORTHWHILE = LANES / 2 }; /* worlds: fewer go alone */

typedef struct lane_slot {
    int width, row; /* row: three times its index */
    zw_mask8 wide;  /* worlds in which it has three rows */
    zw_mask8 closed, slides;
    zw_real8 mu, b, free[3], G, natural, own;
    zw_real8 lambda[3], w[3], then[3], z[3], best[3], found[3], t[2], turn;
} lane_slot;

typedef struct lane_island {
    int first, slots; /* of `member` */
    int begin, rows;  /* of `line` */
} lane_island;

struct augment_together {
    augment_problem *problem; /* [LANES] */
    zw_mask8 in;              /* worlds that take part */
    unsigned loaded;          /* worlds whose slots are as their problems have them; 0: none */
    int slots, islands;
    lane_slot slot[SIDES];
    lane_island island[SIDES];
    int member[SIDES], line[ROWS];
    zw_real8 W[ROWS][STRIDE]; /* of the first slots of all worlds, since augment_clear_together; */
    int cleared;              /* of so many slots, else its entries are unknown */
    unsigned copied;          /* worlds whose problem has a copy of it */
    zw_real8 A[ROWS][STRIDE];
    zw_real8 right[ROWS];
    zw_mask8 active[ROWS];
    zw_mask8 live, mean;
    zw_real8 fastest, stiff, lost;
    zw_mask8 same, sound;
};

ZW_INLINE zw_real8 only(zw_mask8 mask, zw_real8 x)
{
    return (zw_real8)(mask & (zw_mask8)x);
}

ZW_INLINE zw_real8 larger8(zw_real8 x, zw_real8 y)
{
    return lane_select8(x > y, x, y);
}

/* ---- The law -------------------------------------------------------------------------------- */

ZW_INLINE zw_real8 put_in_law(const lane_slot *k, const zw_real8 *z, zw_real8 *to, zw_mask8 *closed,
                              zw_mask8 *slides)
{
    zw_real8 one = (zw_real8){0} + 1.0;
    *closed = z[0] > 0.0;
    to[0] = only(*closed, z[0]);
    zw_real8 most = k->mu * to[0], length = lane_sqrt8(z[1] * z[1] + z[2] * z[2]);
    *slides = *closed & (length > most);
    zw_real8 share = lane_select8(*slides, most / length, one);
    to[1] = only(*closed, share * z[1]);
    to[2] = only(*closed, share * z[2]);
    return length;
}

/* look_at of augment_newton.c in the worlds `asked`; `mean` of these by a mean. Where modes have
 * changed, `other`. */
ZW_INLINE void look_at(lane_slot *k, zw_mask8 asked, zw_mask8 mean, zw_real8 *lost, zw_real8 *size,
                       zw_mask8 *other)
{
    zw_real8 z[3], then[3], spare[3], zero = {0};
    zw_mask8 closed, slides;
    z[0] = k->lambda[0] - k->natural * (k->w[0] - k->b);
    z[1] = z[2] = zero;
    for (int r = 1; r < k->width; r++) {
        z[r] = only(k->wide, k->lambda[r] - k->natural * (k->w[r] - 0.0));
    }
    zw_real8 length = put_in_law(k, z, then, &closed, &slides);
    for (int r = 0; r < k->width; r++) {
        *lost = larger8(k->G * lane_size8(then[r] - k->lambda[r]), *lost);
    }
    *size = larger8(k->G * then[0], *size);
    if (lane_any8(mean)) {
        for (int r = 0; r < k->width; r++) {
            z[r] = lane_select8(mean, MEAN * z[r] + (1 - MEAN) * k->z[r], z[r]);
        }
        length = put_in_law(k, z, spare, &closed, &slides);
    }
    zw_mask8 turns = asked & slides;
    zw_real8 most = k->mu * z[0], turn = k->natural * most / (length - most);
    zw_real8 limit = STIFFEST * k->natural;
    turn = lane_select8(turn < limit, turn, limit);
    k->turn = lane_select8(turns, turn, k->turn);
    k->t[0] = lane_select8(turns, z[1] / length, k->t[0]);
    k->t[1] = lane_select8(turns, z[2] / length, k->t[1]);
    for (int r = 0; r < 3; r++) {
        k->then[r] = lane_select8(asked, then[r], k->then[r]);
        k->z[r] = lane_select8(asked, z[r], k->z[r]);
    }
    *other |= (closed ^ k->closed) | (slides ^ k->slides);
    k->closed = (asked & closed) | (~asked & k->closed);
    k->slides = (asked & slides) | (~asked & k->slides);
}

/* augment_together.c: puts the worlds of these bits side by side. 0: too few of them have something
 * to do together. */
int augment_load(augment_together *s, augment_problem *problem, unsigned which);
/* Puts a copy of W of this world into its problem, for steps alone. */
void augment_copy_matrix(augment_together *s, augment_problem *problem, int lane);
void augment_put_slot(const lane_slot *k, int lane, augment_slot *to);

#endif
