/* Rows of eight worlds, as soft_rows.c for one. In worlds without a row its D and b are 0, and its
 * J is arbitrary. */
#include <math.h>

#include "system/soft8/soft8_jacobian.h"

soft8_block *soft8_add(soft8 *s, const soft8_row *row)
{
    int entries = row->is_fixed ? 0 : row->width * row->columns;
    s->needs_blocks++;
    s->needs_entries += entries;
    if (s->needs_blocks > s->block_capacity || s->needs_entries > s->entry_capacity) {
        return NULL; /* all worlds are stepped alone until there is more memory */
    }
    soft8_row *to = &s->row[s->blocks];
    *to = *row;
    to->J = s->entries;
    to->key = s->key++;
    s->entries += entries;
    return &s->block[s->blocks++];
}

/* ---- The law of a row ----------------------------------------------------------------------- */

static double clamp_impedance(double d)
{
    return d < 0.0001 ? 0.0001 : d > 0.9999 ? 0.9999 : d;
}

/* soft_impedance of soft.c. */
ZW_INLINE zw_real8 impedance8(const double imp[5], zw_real8 r)
{
    double d0 = clamp_impedance(imp[0]), d1 = clamp_impedance(imp[1]),
           middle = clamp_impedance(imp[3]);
    double power = fmax(1, imp[4]);
    zw_real8 zero = {0}, one = zero + 1.0, d;
    if (d0 == d1 || !(imp[2] > SOFT_LEAST)) {
        return zero + (zw_scalar)(0.5 * (d0 + d1));
    }
    if (power != 1 && power != 2) {
        for (int l = 0; l < LANES; l++) {
            d[l] = (zw_scalar)soft_impedance(imp, r[l]);
        }
        return d;
    }
    zw_scalar low = (zw_scalar)d0, high = (zw_scalar)d1, bend = (zw_scalar)middle;
    zw_real8 x = lane_size8(r) / (zw_scalar)imp[2], y = x;
    if (power == 2) {
        y = lane_select8(x <= bend, x * x / bend, one - (one - x) * (one - x) / (1 - bend));
    }
    d = low + y * (high - low);
    d = lane_select8(x >= 1.0, zero + high, d);
    return lane_select8(x <= 0.0, zero + low, d);
}

ZW_INLINE zw_real8 at_least8(zw_real8 x)
{
    return lane_select8(x > (zw_scalar)SOFT_LEAST, x, (zw_real8){0} + (zw_scalar)SOFT_LEAST);
}

ZW_INLINE zw_real8 compliance8(zw_real8 d, double A0)
{
    return at_least8((1.0 - d) / d * (zw_scalar)A0);
}

ZW_INLINE zw_real8 only(zw_mask8 on, zw_real8 x)
{
    return (zw_real8)(on & (zw_mask8)x);
}

/* ---- Contacts ------------------------------------------------------------------------------- */

ZW_CLONES static void fill_contact(const soft8 *s, const soft8_match *match, zw_mask8 *on,
                                   const zw_real8 *pos, const zw_real8 *frame, const zw_real8 *gap,
                                   soft8_block *k)
{
    const soft_pair *pair = &match->pair;
    zw_real8 own[SOFT_WIDE], *speed = CREW_SIZE > 1 ? k->then : own;
    zw_real8 *J = s->J + s->row[k - s->block].J;
    if (match->width == 3) {
        soft8_put_rows(s, match, 3, pos, frame, J, speed);
    } else {
        soft8_put_rows(s, match, match->width, pos, frame, J, speed);
    }
    zw_scalar B = (zw_scalar)pair->spring.B;
    zw_real8 d = impedance8(pair->imp, *gap);
    zw_real8 back = (zw_scalar)pair->spring.K * d * *gap + (zw_scalar)SOFT_HAIR;
    if (match->width == 1) {
        k->D = only(*on, 1.0 / compliance8(d, pair->A0));
        k->b[0] = only(*on, -B * speed[0] - back);
        return;
    }
    double first = match->mu[0] * match->mu[0];
    double shrink = 2 * first / fmax(SOFT_LEAST, s->system->bodies->impratio);
    k->D = only(*on, 1.0 / at_least8((zw_scalar)shrink * compliance8(d, pair->A0 * (1 + first))));
    for (int j = 1; j < match->width; j++) {
        zw_real8 along = (zw_scalar)match->mu[j - 1] * speed[j];
        k->b[2 * j - 2] = only(*on, -B * (speed[0] + along) - back);
        k->b[2 * j - 1] = only(*on, -B * (speed[0] - along) - back);
    }
}

void soft8_add_contact(soft8 *s, const soft8_match *match, const zw_mask8 *on, const zw_real8 *pos,
                       const zw_real8 *frame, const zw_real8 *gap)
{
    zw_mask8 here = *on;
    soft8_block *k = soft8_add(s, &(soft8_row){.kind = match->width > 1 ? SOFT_PYRAMID : SOFT_ABOVE,
                                               .width = (unsigned char)match->width,
                                               .columns = (short)match->columns,
                                               .column = match->column,
                                               .numbers = match->mu,
                                               .is_straight = match->is_straight != 0});
    if (k) {
        fill_contact(s, match, &here, pos, frame, gap, k);
    }
}

/* ---- Limits --------------------------------------------------------------------------------- */

/* b and D of a limit at r = phi - margin, as in add_limit and add_constraint. */
ZW_INLINE void fill_limit(soft8_block *k, zw_mask8 on, const double imp[5],
                          const soft_spring *spring, zw_real8 r, zw_real8 size, zw_real8 speed,
                          double weight)
{
    zw_real8 d = impedance8(imp, size);
    k->b[0] = only(on, (zw_scalar)-spring->B * speed - (zw_scalar)spring->K * d * r);
    k->D = only(on, 1.0 / compliance8(d, weight));
}

ZW_INLINE soft8_row limit_row(int columns, const int *column, const double *J, int is_straight)
{
    return (soft8_row){.kind = SOFT_ABOVE,
                       .width = 1,
                       .columns = (short)columns,
                       .column = column,
                       .numbers = J,
                       .is_fixed = 1,
                       .is_straight = is_straight != 0};
}

/* A limit of one coordinate. */
ZW_CLONES static void add_limit(soft8 *s, int index)
{
    const soft_watch *watch = &s->alone->watch[index];
    const bodies_constraint *constraint = &s->system->bodies->constraint[index];
    zw_scalar coef = (zw_scalar)watch->coef, margin = (zw_scalar)watch->margin;
    zw_real8 phi = coef * s->q[watch->q] - (zw_scalar)watch->limit;
    zw_mask8 on = (phi < margin) & s->good;
    soft8_row row = limit_row(1, &watch->dof, &watch->coef, 1);
    soft8_block *k = lane_any8(on) ? soft8_add(s, &row) : NULL;
    if (k) {
        zw_real8 r = phi - margin;
        fill_limit(k, on, constraint->soft.imp, &watch->spring, r, r, coef * s->v[watch->dof],
                   s->alone->length[watch->length]);
    }
}

/* A limit of a tendon: sums over its terms. */
ZW_CLONES static void add_tendon(soft8 *s, int index)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    const bodies_constraint *constraint = &bodies->constraint[index];
    const bodies_length *length = &bodies->length[constraint->length[0]];
    zw_scalar sign = constraint->kind == CONSTRAINT_UPPER ? -1 : 1;
    zw_scalar margin = (zw_scalar)constraint->margin;
    int start = system->A_start[constraint->row],
        columns = system->A_start[constraint->row + 1] - start;
    zw_real8 now = {0}, rate = {0};
    for (int i = length->first; i < length->first + length->count; i++) {
        now += (zw_scalar)bodies->coef[i] * s->q[bodies->term[i].q];
        rate += (zw_scalar)bodies->coef[i] * s->v[bodies->term[i].dof];
    }
    zw_real8 phi = sign * (now - (zw_scalar)constraint->limit);
    zw_mask8 on = (phi < margin) & s->good;
    soft8_row row = limit_row(columns, system->A_column + start, s->tendon_J + start,
                              s->tendon_straight[index]);
    soft8_block *k = lane_any8(on) ? soft8_add(s, &row) : NULL;
    if (k) {
        soft_spring spring = soft_spring_of(&constraint->soft, s->alone->h);
        zw_real8 r = phi - margin;
        fill_limit(k, on, constraint->soft.imp, &spring, r, lane_sqrt8(r * r), sign * rate,
                   s->alone->length[constraint->length[0]]);
    }
}

/* For CREW_EACH. */
ZW_INLINE __attribute__((unused)) int may_limit(const soft8 *s, int index)
{
    const soft_watch *watch = &s->alone->watch[index];
    zw_real8 at = s->q[watch->q < 0 ? 0 : watch->q];
    zw_real8 phi = (zw_scalar)watch->coef * at - (zw_scalar)watch->limit;
    return watch->q < 0 || lane_any8(phi < (zw_scalar)watch->margin);
}

void soft8_limit(soft8 *s)
{
    CREW_EACH (c, s->system->bodies->constraint_count, may_limit, s) {
        s->key = c;
        if (s->alone->watch[c].q >= 0) {
            add_limit(s, c);
        } else {
            add_tendon(s, c);
        }
    }
}
