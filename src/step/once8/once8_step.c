/* A step of eight worlds by one linearisation: impulse_step, where only a solve is needed. */
#include <math.h>
#include <string.h>

#include "math/lanes.h"
#include "step/impulse/impulse.h"
#include "step/once8/once8.h"
#include "tree/sweeps.h"

#define ABSURD 1e30   /* beyond that worlds step alone */
#define TOUCHING 1e-9 /* as in impulse_rounds.c, of the size of the mechanism */

/* ---- In and out ----------------------------------------------------------------------------- */

static void load(once8 *s, int count, once8_clock *const *clock, double *const *x)
{
    const zw_system *system = s->of->system;
    const double *q[LANES], *v[LANES], *param[LANES];
    s->of->lanes = count;
    for (int l = 0; l < LANES; l++) {
        q[l] = x[l < count ? l : count - 1];
        v[l] = q[l] + system->nq;
        param[l] = v[l] + system->n;
        s->of->good[l] = l < count && clock[l] ? -1 : 0;
        int parts = s->of->good[l] && clock[l]->parts;
        s->deepest[l] = 0.99 * (!(s->falling > 0) ? IMPULSE_OVERLAP
                                : parts           ? IMPULSE_INSIDE
                                                  : IMPULSE_SUNK);
    }
    math_to_lanes(system->nq, q, s->of->q);
    math_to_lanes(system->n, v, s->v0);
    math_to_lanes(system->shape.params, param, s->of->param);
}

ZW_CLONES static void sort_out(once8 *s)
{
    zw_mask8 good = s->of->good;
    for (int i = 0; i < s->of->system->nq; i++) {
        good &= lane_size8(s->of->q[i]) < ABSURD;
    }
    for (int i = 0; i < s->of->system->n; i++) {
        good &= lane_size8(s->v0[i]) < ABSURD;
    }
    for (int i = 0; i < s->of->system->shape.params; i++) {
        good &= lane_size8(s->of->param[i]) < ABSURD;
    }
    s->of->good = good;
}

/* ---- After the solve ------------------------------------------------------------------------ */

ZW_CLONES static void find_speeds(once8 *s)
{
    zw_mask8 good = s->of->good & s->it.good;
    for (int i = 0; i < s->it.n; i++) {
        s->u[i] = s->v0[i] + s->it.x[i];
        good &= s->u[i] * 0.0 == 0.0;
    }
    s->of->good = good;
}

ZW_INLINE zw_real8 times(const augment_block8 *k, int r, const zw_real8 *v)
{
    zw_real8 sum = {0};
    for (int c = 0; c < k->columns; c++) {
        sum += k->J[r * k->columns + c] * v[k->column[c]];
    }
    return sum;
}

ZW_INLINE zw_real8 only(zw_mask8 on, zw_real8 x)
{
    return (zw_real8)(on & (zw_mask8)x);
}

/* impulse_touching */
ZW_CLONES void once8_touching(const once8 *s, zw_real8 *to)
{
    const tree_mechanism *tree = s->of->system->tree;
    const zw_real8 *com = s->of->sweeps + tree->at.com;
    zw_real8 most = (zw_real8){0} + 1.0;
    for (int k = 3; k < 3 * tree->bodies; k++) {
        zw_real8 x = lane_size8(com[k]);
        most = lane_select8(x > most, x, most);
    }
    *to = TOUCHING * most;
}

/* impulse_contact_work and impulse_forces_work. Blocks that did not take part have no work. */
ZW_CLONES static void find_work(const once8 *s, zw_real8 *gained)
{
    zw_real8 sum = {0}, forces = {0}, touching;
    once8_touching(s, &touching);
    for (int j = 0; j < s->it.ins; j++) {
        int i = s->it.in[j];
        const augment_block8 *k = &s->it.block[i];
        if (s->about[i].constraint >= 0) {
            zw_real8 mean = 0.5 * (times(k, 0, s->v0) + times(k, 0, s->u));
            sum += only(k->on, k->found[0] * mean);
            continue;
        }
        zw_mask8 lasts = lane_size8(s->about[i].gap) <= touching;
        for (int r = 0; r < k->width; r++) {
            zw_real8 after = times(k, r, s->u), before = times(k, r, s->v0);
            zw_real8 mean = r == 0 ? lane_select8(lasts, (zw_real8){0}, after) : after;
            zw_real8 end = lane_select8(lasts, mean, before);
            sum += only(k->on, 0.5 * k->found[r] * (mean + end));
        }
    }
    for (int i = 0; i < s->it.n; i++) {
        forces += s->h * s->of->Q[i] * s->u[i];
    }
    *gained = (zw_real8){0} + sum;
    *gained += forces;
}

/* impulse_modes */
ZW_CLONES static void find_closed(const once8 *s, int index, zw_mask8 *closed)
{
    const augment_block8 *k = &s->it.block[index];
    zw_real8 rate = {0}, size = {0};
    int pushes = lane_any8(k->found[0] > 0.0);
    for (int c = 0; c < k->columns && pushes; c++) {
        zw_real8 part = k->J[c] * s->u[k->column[c]];
        rate += part;
        size += lane_size8(part);
    }
    *closed = (k->found[0] > 0.0) & (lane_size8(rate) <= 1e-12 + 1e-9 * size);
}

static void unload(once8 *s, int count, double *const *x, unsigned char *const *closed)
{
    double *q[LANES], *v[LANES], *spare = (double *)s->end;
    for (int l = 0; l < count; l++) {
        q[l] = s->of->good[l] ? x[l] : spare;
        v[l] = s->of->good[l] ? x[l] + s->of->system->nq : spare;
    }
    math_from_lanes(s->of->system->nq, s->q1, count, q);
    math_from_lanes(s->it.n, s->u, count, v);
    for (int i = 0; i < s->it.blocks && s->about[i].constraint >= 0; i++) {
        zw_mask8 shut;
        find_closed(s, i, &shut);
        for (int l = 0; l < count; l++) {
            if (s->of->good[l]) {
                closed[l][s->about[i].constraint] = shut[l] != 0;
            }
        }
    }
}

/* The pairs and limits that took part in the law: worlds with the same are cheapest together. */
static void note_parts(const once8 *s, uint64_t touch[LANES])
{
    memset(touch, 0, LANES * sizeof *touch);
    for (int i = 0; i < s->it.ins; i++) {
        const once8_about *about = &s->about[s->it.in[i]];
        int part = about->constraint >= 0 ? s->of->match_count + about->constraint : about->match;
        for (int l = 0; l < LANES; l++) {
            touch[l] |= s->it.block[s->it.in[i]].in[l] ? (uint64_t)1 << part % 64 : 0;
        }
    }
}

/* ---- The step ------------------------------------------------------------------------------- */

/* 0: points are missing. */
static int find_impulses(once8 *s)
{
    memset(&s->missed, 0, sizeof s->missed);
    s->moved = 0;
    s->it.good &= s->of->good;
    s->it.user = s;
    s->it.look = SOFT8_SPARES ? once8_look : NULL;
    tree_energies8(s->of->system->tree, s->of->q, s->v0, s->of->sweeps, s->before);
    augment_solve8(&s->it);
    s->solves++;
    s->thorough = lane_any8(s->missed & s->of->good);
    return !s->thorough;
}

ZW_CLONES static void check_places(once8 *s)
{
    zw_mask8 good = s->of->good;
    for (int i = 0; i < s->of->system->nq; i++) {
        good &= s->q1[i] * 0.0 == 0.0;
    }
    s->of->good = good;
}

static void solve(once8 *s, zw_real8 *gained)
{
    const tree_mechanism *tree = s->of->system->tree;
    zw_real8 h = (zw_real8){0} + s->h;
    sort_out(s);
    once8_smooth(s);
    s->it.good = s->of->good;
    augment_begin8(&s->it);
    once8_find_rows(s);
    if (once8_lacks_room(s)) {
        return;
    }
    once8_drop_ghosts(s);
    once8_check_start(s);
    if (!find_impulses(s)) {
        return;
    }
    find_speeds(s);
    tree_advance8(tree, s->of->q, s->u, &h, s->q1);
    find_work(s, gained);
    once8_check_end(s, gained);
    check_places(s);
}

unsigned once8_step(once8 *s, int count, once8_clock *const *clock, double *const *x,
                    unsigned char *const *closed, uint64_t touch[LANES])
{
    zw_real8 gained = {0};
    unsigned done = 0;
    s->thorough = 0;
    do { /* repeated if there was no room for all rows, and now there is; or if points are missing
          */
        load(s, count, clock, x);
        solve(s, &gained);
    } while (once8_lacks_room(s) ? once8_grow(s) : s->thorough);
    if (once8_lacks_room(s)) {
        memset(&s->of->good, 0, sizeof s->of->good);
    }
    unload(s, count, x, closed);
    note_parts(s, touch);
    for (int l = 0; l < count; l++) {
        if (s->of->good[l]) {
            clock[l]->t += s->h;
            clock[l]->work += s->of->system->works ? gained[l] : 0;
            clock[l]->certificate = s->it.certificate[l];
            clock[l]->steps++;
            clock[l]->parts = 0;
            done |= 1U << l;
            s->taken++;
        }
    }
    return done;
}
