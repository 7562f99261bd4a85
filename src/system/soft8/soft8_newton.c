/* The motion of eight worlds by the soft law: Newton's method as in soft_newton.c, all lanes
 * together, each frozen when it has converged.
 *
 * The search starts with the rows that were active in the last step of these worlds, if that is
 * known, else with all of them, and takes full steps: most lanes have the right active
 * set after two or three, and a line search costs as much as a step. Full steps may cycle; so lanes
 * that need more than a few search along the line as in soft_newton.c.
 *
 * The line. With a+ the minimum of the current quadratic function, along a + t (a+ - a) an edge has
 * lambda(t) = D max(r - t d, 0), r = b - x and d the change of x. The slope of f,
 *
 *     c1 + c2 t - sum of lambda(t) d,
 *
 * increases with t; its zero is bracketed, and Newton's steps on it are kept inside. */
#include <math.h>
#include <string.h>

#include "system/soft8/soft8_block.h"
#include "tree/sweeps.h"

enum { MOST = 24, WHOLE = 8, LOOKS = 12 }; /* WHOLE: full steps before line searches */
/* Gradient relative to its terms, also in single precision. */
#define CLOSE (sizeof(zw_scalar) == sizeof(double) ? SOFT_CLOSE : 1e-3)

ZW_INLINE zw_real8 only(zw_mask8 on, zw_real8 x)
{
    return (zw_real8)(on & (zw_mask8)x);
}

/* ---- The pattern ---------------------------------------------------------------------------- */

static void bend(soft8 *s)
{
    memcpy(s->parent, s->straight.parent, (size_t)s->system->n * sizeof *s->parent);
    for (int i = 0; i < s->actives; i++) {
        const soft8_row *k = &s->row[s->active[i]];
        for (int j = k->columns - 1; j > 0 && !k->is_straight; j--) {
            paths_bend(s->parent, k->column[j], k->column[j - 1]);
        }
    }
}

static void find_shape(soft8 *s)
{
    int n = s->system->n, bent = 0;
    LANE_MEET();
    for (int i = 0; i < s->actives; i++) {
        bent |= !s->row[s->active[i]].is_straight;
    }
    paths_shape shape = s->straight;
    if (bent) {
        CREW_MEET();
        LANE_ONE()
        {
            CREW_ONE () {
                bend(s);
                *s->bent = paths_find(n, s->parent, s->depth, s->start, s->run);
            }
        }
        LANE_MEET();
        CREW_MEET();
        shape = *s->bent;
    }
    s->shape = shape;
    CREW_FOR (d, n) {
        s->level[d] = shape.depth[d] - 1;
    }
    soft8_note_shape(s, bent);
    CREW_MEET();
}

/* ---- Along a line --------------------------------------------------------------------------- */

/* r, d and D of all edges. */
ZW_CLONES static int list_edges(const soft8 *s)
{
    zw_real8 *r = s->edge_r, *d = s->edge_d, *D = s->edge_D;
    int count = 0;
    for (int i = 0; i < s->actives; i++) {
        const soft8_near_block *k = soft8_block_at(s, s->active[i]);
        const soft8_row *row = &s->row[s->active[i]];
        zw_real8 normal = k->move[0] - k->x[0];
        for (int j = 1; j < row->width; j++) {
            zw_scalar mu = (zw_scalar)row->numbers[j - 1];
            zw_real8 at = mu * k->x[j], along = mu * k->move[j] - at;
            r[count] = k->b[2 * j - 2] - k->x[0] - at;
            d[count] = normal + along;
            D[count++] = k->D;
            r[count] = k->b[2 * j - 1] - k->x[0] + at;
            d[count] = normal - along;
            D[count++] = k->D;
        }
        if (row->width == 1) {
            r[count] = k->b[0] - k->x[0];
            d[count] = normal;
            D[count++] = k->D;
        }
    }
    return count;
}

/* Slope and its derivative at t, from the edges. */
ZW_CLONES static void look_along(const soft8 *s, int edges, const zw_real8 *t, zw_real8 *slope,
                                 zw_real8 *rise)
{
    zw_real8 sum = *slope, more = *rise, at = *t;
    for (int e = 0; e < edges; e++) {
        zw_real8 d = s->edge_d[e], D = s->edge_D[e], lambda = D * (s->edge_r[e] - at * d);
        zw_mask8 on = lambda > 0.0;
        sum -= only(on, lambda * d);
        more += only(on, D * d * d);
    }
    *slope = sum;
    *rise = more;
}

typedef struct line {
    zw_real8 c1, c2, at, low, high, first;
    zw_mask8 open; /* not converged yet */
    int edges;
} line;

/* c1 = x . (M a - force), c2 = x . M x, x = a+ - a */
ZW_CLONES static void begin_line(soft8 *s, const zw_mask8 *live, line *to)
{
    zw_real8 c1 = {0}, zero = {0}, slope, rise = {0};
    CREW_FOR (d, s->system->n) {
        s->x[d] -= s->a[d];
    }
    CREW_MEET();
    for (int d = 0; d < s->system->n; d++) {
        c1 += s->x[d] * (s->Ma[d] - s->force[d]);
    }
    to->c1 = slope = c1;
    look_along(s, to->edges, &zero, &slope, &rise);
    to->first = slope;
    slope = -slope - rise; /* as H x is minus the gradient */
    to->c2 = lane_select8(slope > zero, slope, zero);
    to->at = zero + 1.0;
    to->low = zero;
    to->high = zero + INFINITY;
    to->open = *live;
}

ZW_CLONES static void bracket(line *to, const zw_real8 *slope, const zw_real8 *rise)
{
    zw_real8 at = to->at;
    zw_mask8 open = to->open & (lane_size8(*slope) > (zw_scalar)1e-3 * lane_size8(to->first));
    zw_mask8 below = *slope < 0.0;
    to->low = lane_select8(open & below, at, to->low);
    to->high = lane_select8(open & ~below, at, to->high);
    zw_real8 next = at - *slope / *rise;
    zw_mask8 inside = (next > to->low) & (next < to->high), endless = to->high == INFINITY;
    zw_real8 middle = lane_select8(endless, 2.0 * at, 0.5 * (to->low + to->high));
    to->at = lane_select8(open, lane_select8(inside, next, middle), at);
    to->open = open;
}

/* Moves a and x of the blocks to the minimum on the line. */
ZW_CLONES static void go(soft8 *s, const zw_mask8 *live, const zw_real8 *to)
{
    zw_real8 at = only(*live, *to);
    CREW_FOR (d, s->system->n) {
        s->a[d] += at * s->x[d];
    }
    CREW_FOR (i, s->actives) {
        soft8_near_block *k = soft8_block_at(s, s->active[i]);
        for (int r = 0; r < s->row[s->active[i]].width; r++) {
            k->x[r] += at * (k->move[r] - k->x[r]);
        }
    }
    CREW_MEET();
}

static void go_along(soft8 *s, zw_mask8 live)
{
    line way = {.edges = list_edges(s)};
    CREW_MEET();
    tree_multiply8(s->system->tree, NULL, s->sweeps, s->a, s->Ma);
    begin_line(s, &live, &way);
    for (int k = 0; k < LOOKS && lane_any8(way.open); k++) {
        zw_real8 slope = way.c1 + way.at * way.c2, rise = way.c2;
        look_along(s, way.edges, &way.at, &slope, &rise);
        bracket(&way, &slope, &rise);
    }
    go(s, &live, &way.at);
}

/* ---- The minimum ---------------------------------------------------------------------------- */

/* H a+ = force + J' rest */
static zw_mask8 aim(soft8 *s)
{
    zw_mask8 good;
    CREW_IN_ROUND();
    soft8_fill(s, 1);
    CREW_IN_ROUND();
    lane_copy8(s->system->n, s->force, s->x);
    soft8_push(s, 1, s->x);
    CREW_IN_ROUND();
    soft_solve_lanes(&s->shape, NULL, s->H, s->x, &good);
    return good;
}

/* Checks M a - force - push, tree by tree: if it is within SOFT_CLOSE for each tree, it is for
 * every island. */
ZW_CLONES static void check(soft8 *s)
{
    zw_real8 zero = {0}, worst = zero;
    for (int t = 0; t < s->alone->trees; t++) {
        zw_real8 slope = zero, Ma = zero, applied = zero, pushed = zero;
        for (int d = s->alone->tree[t].first; d < s->alone->tree[t].end; d++) {
            zw_real8 g = s->Ma[d] - s->force[d] - s->push[d];
            slope += g * g;
            Ma += s->Ma[d] * s->Ma[d];
            applied += s->force[d] * s->force[d];
            pushed += s->push[d] * s->push[d];
        }
        zw_real8 size = lane_select8(Ma > applied, Ma, applied);
        size = lane_select8(pushed > size, pushed, size);
        s->good &= slope <= (zw_scalar)(0.25 * CLOSE * CLOSE) * size;
        zw_real8 part = slope / lane_select8(size > zero, size, zero + 1.0);
        worst = lane_select8(part > worst, part, worst);
    }
    s->residual = worst;
}

/* The full step, in lanes that have not converged. */
ZW_CLONES static void go_all_the_way(soft8 *s, const zw_mask8 *live)
{
    CREW_FOR (d, s->system->n) {
        s->a[d] = lane_select8(*live, s->x[d], s->a[d]);
    }
    CREW_FOR (i, s->actives) {
        soft8_near_block *k = soft8_block_at(s, s->active[i]);
        for (int r = 0; r < s->row[s->active[i]].width; r++) {
            k->x[r] = k->move[r];
        }
    }
    CREW_MEET();
}

/* One step of Newton's method; returns the lanes that need another. */
static zw_mask8 improve(soft8 *s, zw_mask8 live, int turn)
{
    zw_mask8 same;
    soft8_list(s, &live);
    find_shape(s);
    soft8_slopes(s);
    zw_mask8 positive = aim(s);
    s->good &= positive;
    live &= positive;
    CREW_IN_ROUND();
    soft8_along(s);
    soft8_ahead(s, &same);
    same &= live;
    soft8_arrive(s, &same);
    live &= ~same;
    if (turn < WHOLE) {
        go_all_the_way(s, &live);
    } else if (lane_any8(live)) {
        go_along(s, live);
        soft8_law(s);
    }
    return live;
}

void soft8_minimise(soft8 *s)
{
    zw_mask8 live = s->good & ~s->repeats;
    soft8_begin(s);
    lane_clear8(s->system->n, s->a);
    s->iterations = 0;
#ifdef LANE_SETTLE
    soft8_list(s, &live);
    find_shape(s);
    live = soft8_settle(s, live);
#endif
    int turn = 0, goes;
    while (goes = lane_any8(live) && turn < MOST, CREW_ROUND(goes)) {
        if (goes) {
            live = improve(s, live, turn++);
        }
    }
    s->iterations += turn;
    s->good &= ~live;
    lane_clear8(s->system->n, s->push);
    soft8_push(s, 0, s->push);
    tree_multiply8(s->system->tree, NULL, s->sweeps, s->a, s->Ma);
    check(s);
}

void soft8_compare(soft8 *s, const zw_real8 *a)
{
    tree_multiply8(s->system->tree, s->diagonal, s->sweeps, a, s->Ma);
    check(s);
}

void soft8_damp(soft8 *s, zw_real8 *x)
{
    zw_mask8 good;
#ifdef LANE_SETTLE
    if (soft8_damp_settled(s, x)) {
        return;
    }
#endif
    s->shape = s->straight;
    soft8_note_shape(s, 0);
    soft8_fill(s, 0);
    soft_solve_lanes(&s->straight, s->diagonal, s->H, x, &good);
    s->good &= good;
}
