/* The law of one block in lanes, for soft8_block.c and for warps of a GPU
 * (device/cuda/warp_newton.c). LAW_BLOCK and LAW_NUMBER: a block and a number where these have
 * them. */
#ifndef ZW_SYSTEM_SOFT8_LAW_H
#define ZW_SYSTEM_SOFT8_LAW_H

#include "system/soft8/soft8.h"

ZW_INLINE zw_real8 only(zw_mask8 on, zw_real8 x)
{
    return (zw_real8)(on & (zw_mask8)x);
}

/* Derivatives and constant terms of the active edges. */
ZW_INLINE void slopes_pyramid(LAW_BLOCK *k, const double *friction, const int width)
{
    zw_real8 D = k->D, one = (zw_real8){0} + 1.0, pushing = {0}, rest = {0};
    for (int j = 1; j < width; j++) {
        zw_scalar mu = (zw_scalar)friction[j - 1];
        zw_mask8 up = k->up[j - 1], down = k->down[j - 1];
        zw_real8 plus = only(up, one), minus = only(down, one);
        zw_real8 b_plus = only(up, D * k->b[2 * j - 2]), b_minus = only(down, D * k->b[2 * j - 1]);
        LAW_NUMBER *C = k->C + j * (j + 1) / 2;
        pushing += plus + minus;
        rest += b_plus + b_minus;
        k->rest[j] = mu * (b_plus - b_minus);
        C[0] = (plus - minus) * mu * D;
        for (int i = 1; i < j; i++) {
            C[i] = (zw_real8){0};
        }
        C[j] = (plus + minus) * mu * mu * D;
    }
    k->C[0] = pushing * D;
    k->rest[0] = rest;
}

ZW_INLINE zw_mask8 any_edge(const LAW_BLOCK *k, int width)
{
    zw_mask8 any = k->up[0];
    for (int j = 1; j < width; j++) {
        any |= k->up[j - 1] | k->down[j - 1];
    }
    return any;
}

ZW_INLINE int pairs_of(const soft8_row *row)
{
    return row->width > 1 ? row->width - 1 : 1;
}

/* The modes of a block as bits: HERE, and for pair j UP << j, DOWN << j. */
enum { HERE = 1, UP = 2, DOWN = 64 };

/* In single precision an edge at its kink may change in every step: r = b - x is the difference of
 * numbers with errors of a few units of round-off (x is a sum over the columns of J, and a comes
 * from a solve), so its sign means nothing below TIE (|b| + |x|), and neither does the force D |r|
 * of the edge, relative to the terms of the equation of motion. Such a change does not count. In
 * double precision all do: bits of the minimum are those of the active edges. */
#define TIE ((zw_scalar)(32 * 0x1p-24))
ZW_INLINE zw_mask8 differs(zw_mask8 on, zw_mask8 was, zw_real8 b, zw_real8 x)
{
    zw_mask8 other = on ^ was;
    if (sizeof(zw_scalar) < sizeof(double)) {
        other &= lane_size8(b - x) > TIE * (lane_size8(b) + lane_size8(x));
    }
    return other;
}

/* The active edges at x, and their forces. Returns the lanes in which they have changed. */
ZW_INLINE zw_mask8 look_pyramid(LAW_BLOCK *k, const double *friction, const int width,
                                const LAW_NUMBER *x, LAW_NUMBER *force)
{
    zw_real8 normal = {0}, D = k->D;
    zw_mask8 other = {0};
    for (int j = 1; j < width; j++) {
        zw_scalar mu = (zw_scalar)friction[j - 1];
        zw_real8 along = mu * x[j];
        zw_real8 plus = D * (k->b[2 * j - 2] - x[0] - along);
        zw_real8 minus = D * (k->b[2 * j - 1] - x[0] + along);
        zw_mask8 up = plus > 0.0, down = minus > 0.0;
        plus = only(up, plus);
        minus = only(down, minus);
        other |= differs(up, k->up[j - 1], k->b[2 * j - 2], x[0] + along);
        other |= differs(down, k->down[j - 1], k->b[2 * j - 1], x[0] - along);
        k->up[j - 1] = up;
        k->down[j - 1] = down;
        normal += plus + minus;
        force[j] = mu * (plus - minus);
    }
    force[0] = normal;
    return other;
}

ZW_INLINE zw_mask8 look_above(LAW_BLOCK *k, const LAW_NUMBER *x, LAW_NUMBER *force)
{
    zw_real8 lambda = k->D * (k->b[0] - x[0]);
    zw_mask8 up = lambda > 0.0, other = differs(up, k->up[0], k->b[0], x[0]);
    force[0] = only(up, lambda);
    k->up[0] = up;
    return other;
}

ZW_INLINE zw_mask8 look(const soft8_row *row, LAW_BLOCK *k, const LAW_NUMBER *x, LAW_NUMBER *force)
{
    if (row->width == 3) {
        return look_pyramid(k, row->numbers, 3, x, force);
    }
    if (row->kind == SOFT_PYRAMID) {
        return look_pyramid(k, row->numbers, row->width, x, force);
    }
    return look_above(k, x, force);
}

#endif
