/* Coulomb's law by augmented multipliers: Newton's method for u and lambda together.
 *
 * With the projection P of z = (z_n, z_t) onto the law,
 *
 *     open     z_n <= 0                     P = 0
 *     sticks   |z_t| <= mu z_n              P = z
 *     slides   else                         P = (z_n, mu z_n t),     t = z_t/|z_t|
 *
 * Coulomb's law is lambda = P(z), z = lambda - k (w - b), for one k > 0 and then for every one:
 * where it sticks w = b, and where it slides w_t is opposite to lambda_t (Alart and Curnier 1991;
 * De Saxce and Feng 1998 have it as one projection). lambda - P(z) with k = 1/G, times G, is a
 * speed: the residual of the law. G is the speed that a unit impulse gives, with each coordinate
 * alone.
 *
 * A step. For the current modes the law is linear in the results of the step, lambda and w = J u,
 * except for the direction t, which is taken from z; with k_t = mu z_n/(G (|z_t| - mu z_n)), which
 * at the solution is mu lambda_n/|w_t|, the rate at which friction turns with the slip,
 *
 *     open     lambda = 0
 *     sticks   w = b (w_t = 0)
 *     slides   w_n = b,     lambda_t = mu lambda_n t - k_t (1 - tt') w_t
 *
 * A condition w = b is replaced by lambda = lambda before - rho (w - b), with a large rho =
 * stiff/G: it misses b by (lambda - lambda before)/rho, which vanishes as steps are repeated, by a
 * factor of about 1/stiff each. Then only H must be invertible: where points can share a load in
 * many ways (four feet, the corners of a box) one of these is found, near the previous multipliers.
 * So all laws are lambda = rest - C J (u - v0), and
 *
 *     (H + J' C J) (u - v0) = r + J' rest
 *
 *     sticks   C = rho 1                         rest = lambda before - rho (J v0 - b)
 *     slides   C = (rho         0            )   rest_n likewise,
 *                  (rho mu t    k_t (1 - tt'))   rest_t = mu t rest_n - k_t (1 - tt') J_t v0
 *
 * The matrix is not symmetric where something slides, but its pattern is: it is factored on the
 * paths of the tree, extended where points couple two branches (math/dense/paths.h), without
 * pivoting. Pivots may become small: the solution is checked. Where nothing slides in any world one
 * half of the matrix is enough, and gives the same bits.
 *
 * Whole steps are taken, from points that are closed or about to be, all of them sticking, and
 * multipliers of 0. stiff is STIFF while modes change, as stiffer rows make multipliers vary wildly
 * where points can share them in many ways, and STIFFEST where they do not, unless that increased
 * the residual of the law. k_t is at most STIFFEST/G: the direction of very slow sliding turns
 * almost at once. (Both, and MOST, determine the cost of a step and how many worlds remain
 * unsolved: test_soft8.c guards these.)
 *
 * Points that cannot all stick. Two points of one foot that stick have rows that depend on each
 * other, and gaps of different size leave them right sides that do not: they contradict each other
 * by what is of second order. Then one of them slides, by as little, and its multipliers are at the
 * edge of its cone; stiff rows move them far beyond it, and change the modes. So once stiff rows
 * have changed modes or increased the residual of the law, a world's rows become stiffer only by
 * SLOWLY per step: multipliers grow to where something slides, and not much farther.
 *
 * Cycling modes. Where modes still change after CALM steps, which usually means that they cycle
 * with a period of two to five, they are decided by a mean of z and the previous one, for TURN
 * steps of 2 TURN. On steps of a humanoid that flails (bench/batch) this leaves 2 worlds in 1000
 * unsolved; without it 5, and 11 if nothing is stiffened slowly either.
 *
 * It ends where modes are the same before and after a step, and the residual of the law is CLOSE;
 * or FAIR, and not smaller after one more step: rows of points that share a load need not agree on
 * more digits than their gaps have. A world for which that fails is left to other methods.
 *
 * Lanes. All worlds take their steps together; a world that has converged is frozen. Which blocks
 * and which pattern there are depends on the others, but in a world that does not have them they
 * are zeros, which change nothing; elimination goes from the last dof to the first and solves sum
 * from the root on, whatever the pattern. So a lane has the bits of the world alone, and the last
 * few of eight can continue as single worlds: augment_alone.c. */
#include <string.h>

#define PATHS_REAL zw_real
#include "math/dense/paths_root.h"

enum { MOST = 48, CALM = 12, TURN = 6 }; /* steps: at most; all by z; by a mean, or by z again */
#define MEAN 0.6                         /* of z and the one before: the share of z */
#define STIFF 1e3                        /* rho G while modes change, */
#define STIFFEST 1e6                     /* and where they do not, */
#define SLOWLY 10.0                      /* or so much stiffer each time */
#define CLOSE 1e-10 /* residual of the law relative to the largest speed of a row, */
#define FAIR 1e-6   /* or where more steps do not reduce it */

/* ---- Rows ----------------------------------------------------------------------------------- */

ZW_INLINE void times(const LANE(augment_block) * k, const int width, const zw_real *x, zw_real *to)
{
    for (int r = 0; r < width; r++) {
        const zw_real *J = k->J + r * k->columns;
        zw_real sum = {0};
        for (int c = 0; c < k->columns; c++) {
            sum += J[c] * x[k->column[c]];
        }
        to[r] = sum;
    }
}

/* Speeds before, G and rho, and which contacts are closed at first. */
ZW_CLONES static void begin(LANE(augment) * s)
{
    zw_real zero = {0};
    s->fastest = zero;
    for (int i = 0; i < s->blocks; i++) {
        LANE(augment_block) *k = &s->block[i];
        times(k, k->width, s->v0, k->w0);
        zw_real G = zero;
        for (int r = 0; r < k->width; r++) {
            zw_real sum = zero;
            for (int c = 0; c < k->columns; c++) {
                int d = k->column[c];
                zw_real J = k->J[r * k->columns + c];
                sum += J * J / s->H[s->straight->start[d] + s->straight->depth[d] - 1];
            }
            G = larger(sum, G);
            k->lambda[r] = k->w[r] = k->found[r] = zero;
        }
        k->G = select_of(G > 0.0, G, zero + 1.0);
        k->natural = 1.0 / k->G;
        k->on &= G > 0.0;
        k->closed = k->on & (k->w0[0] - k->b < s->falling);
        k->slides = (zw_mask)zero;
        k->t[0] = k->t[1] = k->turn = zero;
        for (int r = 0; r < k->width; r++) {
            s->fastest = larger(only(k->on, size_of(k->w0[r])), s->fastest);
        }
    }
}

ZW_CLONES static void list(LANE(augment) * s, const zw_mask *live)
{
    s->actives = 0;
    for (int i = 0; i < s->blocks; i++) {
        LANE(augment_block) *k = &s->block[i];
        if (any_of(k->on & *live)) {
            s->active[s->actives++] = i;
            k->any = any_of(k->closed & *live);
            k->slips = any_of(k->slides & *live);
        }
    }
}

/* rest and C for the current modes. */
ZW_CLONES static void linearise(const LANE(augment) * s)
{
    for (int i = 0; i < s->actives; i++) {
        LANE(augment_block) *k = &s->block[s->active[i]];
        if (!k->any) {
            continue;
        }
        zw_real rho = only(k->closed, s->stiff * k->natural);
        k->C[0] = rho;
        k->rest[0] = only(k->closed, k->lambda[0]) - rho * (k->w0[0] - k->b);
        if (k->width == 1) {
            continue;
        }
        zw_real x = k->t[0], y = k->t[1], turn = k->turn, push = rho * k->mu;
        k->C[1] = k->C[2] = (zw_real){0};
        k->C[3] = only(k->slides, push * x);
        k->C[6] = only(k->slides, push * y);
        k->C[4] = select_of(k->slides, turn * (y * y), rho);
        k->C[8] = select_of(k->slides, turn * (x * x), rho);
        k->C[5] = k->C[7] = only(k->slides, -(turn * (x * y)));
        zw_real full = k->mu * k->rest[0];
        for (int r = 1; r < 3; r++) {
            zw_real slips =
                full * k->t[r - 1] - (k->C[3 * r + 1] * k->w0[1] + k->C[3 * r + 2] * k->w0[2]);
            zw_real sticks = only(k->closed, k->lambda[r]) - rho * k->w0[r];
            k->rest[r] = select_of(k->slides, slips, sticks);
        }
    }
}

/* ---- The matrix ----------------------------------------------------------------------------- */

static void find_shape(LANE(augment) * s)
{
    int bent = 0;
    for (int i = 0; i < s->actives; i++) {
        const LANE(augment_block) *k = &s->block[s->active[i]];
        bent |= k->any && !k->is_straight;
    }
    s->shape = *s->straight;
    if (bent) {
        memcpy(s->parent, s->straight->parent, (size_t)s->n * sizeof *s->parent);
        for (int i = 0; i < s->actives; i++) {
            const LANE(augment_block) *k = &s->block[s->active[i]];
            for (int j = k->columns - 1; j > 0 && k->any && !k->is_straight; j--) {
                paths_bend(s->parent, k->column[j], k->column[j - 1]);
            }
        }
        s->shape = paths_find(s->n, s->parent, s->depth, s->start, s->run);
    }
    for (int d = 0; d < s->n; d++) {
        s->level[d] = s->shape.depth[d] - 1;
    }
}

/* J' C J into both halves, or into the lower one alone. whole: the columns are a complete path to
 * the root, and their positions are consecutive. */
ZW_INLINE void stiffen_by(const LANE(augment) * s, const LANE(augment_block) * k, const int width,
                          const int skew, const int whole, const int slips)
{
    const int *start = s->shape.start, *level = s->level;
    int columns = k->columns;
    for (int t = 0; t < columns; t++) {
        int at = start[k->column[t]];
        zw_real low[3], up[3];
        for (int r = 0; r < width; r++) {
            low[r] = k->C[r] * k->J[t];
            up[r] = k->C[3 * r] * k->J[t];
            for (int q = 1; q < width; q++) {
                low[r] += k->C[3 * q + r] * k->J[q * columns + t];
                up[r] += k->C[3 * r + q] * k->J[q * columns + t];
            }
        }
        for (int c = 0; c <= t; c++) {
            int place = at + (whole ? c : level[k->column[c]]);
            zw_real sum = s->lower[place], other = skew ? s->upper[place] : sum;
            for (int r = 0; r < width; r++) {
                zw_real J = k->J[r * columns + c], part = low[r] * J;
                sum += part;
                other += slips ? up[r] * J : part; /* C is symmetric where nothing slides */
            }
            s->lower[place] = sum;
            if (skew) {
                s->upper[place] = other;
            }
        }
    }
}

ZW_INLINE void stiffen(const LANE(augment) * s, const LANE(augment_block) * k, const int width,
                       const int skew, const int slips)
{
    if (s->level[k->column[k->columns - 1]] == k->columns - 1) {
        stiffen_by(s, k, width, skew, 1, slips);
    } else {
        stiffen_by(s, k, width, skew, 0, slips);
    }
}

ZW_CLONES static void fill(const LANE(augment) * s, int skew)
{
    const paths_shape *straight = s->straight, *shape = &s->shape;
    int bent = shape->parent != straight->parent;
    for (int d = 0; d < s->n; d++) {
        zw_real *row = s->lower + shape->start[d];
        const zw_real *from = s->H + straight->start[d];
        for (int k = 0; bent && k < shape->depth[d]; k++) {
            row[k] = (zw_real){0};
        }
        for (int k = straight->depth[d] - 1, a = d; k >= 0; k--, a = straight->parent[a]) {
            row[bent ? s->level[a] : k] = from[k];
        }
        for (int k = 0; skew && k < shape->depth[d]; k++) {
            s->upper[shape->start[d] + k] = row[k];
        }
    }
    for (int i = 0; i < s->actives; i++) {
        const LANE(augment_block) *k = &s->block[s->active[i]];
        if (!k->any) {
            continue;
        }
        if (k->width == 3 && k->slips) {
            stiffen(s, k, 3, 1, 1);
        } else if (k->width == 3 && skew) {
            stiffen(s, k, 3, 1, 0);
        } else if (k->width == 3) {
            stiffen(s, k, 3, 0, 0);
        } else {
            stiffen(s, k, 1, skew, 0);
        }
    }
}

/* A run of nodes is eliminated, and its right-hand sides: paths.c, soft_lane.c. */
ZW_INLINE zw_mask factor_run(const LANE(augment) * s, int first, const int n, const int skew,
                             zw_real *x)
{
    const paths_shape *shape = &s->shape;
    int above = shape->depth[first] - 1;
    zw_real *low[PATHS_RUN], *up[PATHS_RUN], inverse[PATHS_RUN], own[PATHS_RUN];
    zw_real f[PATHS_RUN], g[PATHS_RUN], zero = {0};
    zw_mask good = zero == zero;
    for (int k = 0; k < n; k++) {
        low[k] = s->lower + shape->start[first + k];
        up[k] = (skew ? s->upper : s->lower) + shape->start[first + k];
        own[k] = x[first + k];
    }
    for (int k = n - 1; k >= 0; k--) {
        zw_real pivot = low[k][above + k];
        good &= size_of(pivot) > 0.0;
        inverse[k] = 1.0 / pivot;
        x[first + k] = own[k];
        own[k] *= inverse[k];
        for (int e = k - 1; e >= 0; e--) {
            f[e] = up[k][above + e] * inverse[k];
            g[e] = low[k][above + e] * inverse[k];
            own[e] -= up[k][above + e] * own[k];
        }
        for (int e = k - 1; e >= 0; e--) {
            for (int c = 0; c <= above + e; c++) {
                low[e][c] -= f[e] * low[k][c];
                if (skew) {
                    up[e][c] -= g[e] * up[k][c];
                }
            }
        }
        low[k][above + k] = inverse[k];
    }
    for (int t = above - 1, d = shape->parent[first]; t >= 0; t--, d = shape->parent[d]) {
        zw_real *to = s->lower + shape->start[d], *back = s->upper + shape->start[d], sum = x[d];
        for (int k = n - 1; k >= 0; k--) {
            f[k] = up[k][t] * inverse[k];
            g[k] = low[k][t] * inverse[k];
            sum -= up[k][t] * own[k];
        }
        x[d] = sum;
        for (int c = 0; c <= t; c++) {
            zw_real entry = to[c], other = skew ? back[c] : zero;
            for (int k = n - 1; k >= 0; k--) {
                entry -= f[k] * low[k][c];
                if (skew) {
                    other -= g[k] * up[k][c];
                }
            }
            to[c] = entry;
            if (skew) {
                back[c] = other;
            }
        }
    }
    return good;
}

ZW_INLINE zw_mask factor_all(const LANE(augment) * s, const int skew, zw_real *x)
{
    const paths_shape *shape = &s->shape;
    zw_real zero = {0};
    zw_mask good = zero == zero;
    for (int b = shape->blocks - 1; b >= 0; b--) {
        int first = shape->block[b];
        switch (shape->block[b + 1] - first) {
        case 1:
            good &= factor_run(s, first, 1, skew, x);
            break;
        case 2:
            good &= factor_run(s, first, 2, skew, x);
            break;
        case 3:
            good &= factor_run(s, first, 3, skew, x);
            break;
        default:
            good &= factor_run(s, first, PATHS_RUN, skew, x);
            break;
        }
    }
    return good;
}

/* x = (H + J' C J) \ x */
ZW_CLONES static void solve(const LANE(augment) * s, int skew, zw_real *x, zw_mask *good)
{
    const paths_shape *shape = &s->shape;
    *good = skew ? factor_all(s, 1, x) : factor_all(s, 0, x);
    for (int b = 0; b < shape->blocks; b++) {
        int first = shape->block[b];
        switch (shape->block[b + 1] - first) {
        case 1:
            from_root(shape, first, 1, 1, s->lower, x);
            break;
        case 2:
            from_root(shape, first, 2, 1, s->lower, x);
            break;
        case 3:
            from_root(shape, first, 3, 1, s->lower, x);
            break;
        default:
            from_root(shape, first, PATHS_RUN, 1, s->lower, x);
            break;
        }
    }
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* r + J' rest */
ZW_CLONES static void push(const LANE(augment) * s, zw_real *to)
{
    memcpy(to, s->r, (size_t)s->n * sizeof *to);
    for (int i = 0; i < s->actives; i++) {
        const LANE(augment_block) *k = &s->block[s->active[i]];
        for (int c = 0; c < k->columns && k->any; c++) {
            zw_real sum = to[k->column[c]];
            for (int r = 0; r < k->width; r++) {
                sum += k->rest[r] * k->J[r * k->columns + c];
            }
            to[k->column[c]] = sum;
        }
    }
}

/* P of the law at z, and which of it is closed and slides. */
ZW_INLINE void put_in_law(const LANE(augment_block) * k, const int width, const zw_real *z,
                          zw_real *to, zw_mask *closed, zw_mask *slides, zw_real *length)
{
    zw_real zero = {0};
    *closed = k->on & (z[0] > 0.0);
    *slides = *closed & (zero != zero);
    to[0] = only(*closed, z[0]);
    if (width == 3) {
        zw_real most = k->mu * to[0];
        *length = root_of(z[1] * z[1] + z[2] * z[2]);
        *slides = *closed & (*length > most);
        zw_real share =
            select_of(*slides, most / select_of(*slides, *length, zero + 1.0), zero + 1.0);
        for (int r = 1; r < 3; r++) {
            to[r] = only(*closed, share * z[r]);
        }
    }
}

/* The multipliers after the step, and the law there. Returns where modes have changed. */
ZW_INLINE zw_mask look_at(LANE(augment_block) * k, const int width, const int mean, zw_real *lost,
                          zw_real *size)
{
    zw_real zero = {0}, off = zero, length = zero, most_turn = STIFFEST * k->natural;
    zw_real z[3] = {zero, zero, zero};
    zw_mask closed, slides;
    for (int r = 0; r < width; r++) {
        zw_real now = zero, miss = k->w0[r] + k->w[r] - (r == 0 ? k->b : zero);
        if (k->any) {
            now = k->rest[r];
            for (int q = 0; q < width; q++) {
                now -= k->C[3 * r + q] * k->w[q];
            }
        }
        k->lambda[r] = now;
        z[r] = now - k->natural * miss;
    }
    put_in_law(k, width, z, k->then, &closed, &slides, &length);
    for (int r = 0; r < width; r++) {
        off = larger(size_of(k->then[r] - k->lambda[r]), off);
    }
    if (mean) {
        zw_real spare[3];
        for (int r = 0; r < width; r++) {
            z[r] = MEAN * z[r] + (1 - MEAN) * k->z[r];
        }
        put_in_law(k, width, z, spare, &closed, &slides, &length);
    }
    for (int r = 0; r < width; r++) {
        k->z[r] = z[r];
    }
    if (width == 3) {
        zw_real by = 1.0 / select_of(slides, length, zero + 1.0), most = k->mu * only(closed, z[0]);
        zw_real turn = k->natural * most / (length - most);
        k->turn = select_of(turn < most_turn, turn, most_turn);
        k->t[0] = z[1] * by;
        k->t[1] = z[2] * by;
    }
    zw_mask other = (closed ^ k->closed) | (slides ^ k->slides);
    k->closed = closed;
    k->slides = slides;
    *lost = larger(only(k->on, k->G * off), *lost);
    *size = larger(only(k->on, k->G * k->then[0]), *size);
    return other;
}

/* Does an open block stay open? Its normal row decides, and most limits are like that. (But then z
 * is not recorded for means.) */
ZW_INLINE int stays_open(LANE(augment_block) * k, const zw_real *to)
{
    zw_real zero = {0}, w;
    times(k, 1, to, &w);
    if (k->any || any_of(k->on & (zero - k->natural * (k->w0[0] + w - k->b) > 0.0))) {
        return 0;
    }
    for (int r = 0; r < k->width; r++) {
        k->lambda[r] = k->then[r] = zero;
    }
    k->closed = k->slides = (zw_mask)zero;
    return 1;
}

ZW_CLONES static void look(const LANE(augment) * s, zw_mask *same, zw_real *lost)
{
    zw_real off = {0}, size = s->fastest;
    zw_mask other = off != off;
    int late = s->iterations - CALM, mean = late >= 0 && late / TURN % 2 == 0;
    for (int i = 0; i < s->actives; i++) {
        LANE(augment_block) *k = &s->block[s->active[i]];
        if (late < -1 && stays_open(k, s->to)) {
            continue;
        }
        if (k->width == 3) {
            times(k, 3, s->to, k->w);
            other |= mean ? look_at(k, 3, 1, &off, &size) : look_at(k, 3, 0, &off, &size);
        } else {
            times(k, 1, s->to, k->w);
            other |= mean ? look_at(k, 1, 1, &off, &size) : look_at(k, 1, 0, &off, &size);
        }
    }
    *same = not_of(other);
    *lost = off / select_of(size > 0.0, size, (zw_real){0} + 1.0);
}

/* Worlds that have converged. */
ZW_CLONES static void arrive(const LANE(augment) * s, const zw_mask *here)
{
    for (int d = 0; d < s->n; d++) {
        s->x[d] = select_of(*here, s->to[d], s->x[d]);
    }
    for (int i = 0; i < s->actives; i++) {
        LANE(augment_block) *k = &s->block[s->active[i]];
        for (int r = 0; r < k->width; r++) {
            k->found[r] = select_of(*here, k->then[r], k->found[r]);
        }
    }
}

ZW_CLONES static void stiffen_where(LANE(augment) * s, const zw_mask *same, const zw_mask *worse)
{
    zw_real zero = {0};
    zw_mask well = *same & not_of(*worse);
    s->careful |= not_of(well) & (s->stiff > STIFF);
    zw_real more = select_of(s->careful, SLOWLY * s->stiff, zero + STIFFEST);
    more = select_of(more < STIFFEST, more, zero + STIFFEST);
    s->stiff = select_of(well, more, zero + STIFF);
}

/* One step of all worlds that have not converged. */
static void advance(LANE(augment) * s)
{
    zw_real zero = {0}, lost;
    zw_mask same, positive;
    int skew = 0;
    list(s, &s->live);
    for (int i = 0; i < s->actives; i++) {
        skew |= s->block[s->active[i]].slips;
    }
    find_shape(s);
    linearise(s);
    fill(s, skew);
    push(s, s->to);
    solve(s, skew, s->to, &positive);
    s->good &= positive;
    s->live &= positive;
    look(s, &same, &lost);
    zw_mask better = s->live & same & (lost < s->best), worse = lost > s->before;
    zw_mask done = (s->best < FAIR) & not_of(better);
    s->best = select_of(better, lost, s->best);
    arrive(s, &better);
    stiffen_where(s, &same, &worse);
    s->before = select_of(same, lost, zero + 1.0);
    s->live &= not_of(done | (s->best <= CLOSE));
    s->iterations++;
}

void LANE(augment_begin)(LANE(augment) * s)
{
    zw_real zero = {0};
    memset(s->x, 0, (size_t)s->n * sizeof *s->x);
    begin(s);
    s->live = s->good;
    s->stiff = zero + STIFF;
    s->careful = zero != zero;
    s->before = zero + 1.0;
    s->best = zero + FAIR;
    s->iterations = 0;
}

void LANE(augment_go_on)(LANE(augment) * s, int few)
{
    while (count_of(s->live) > few && s->iterations < MOST) {
        advance(s);
    }
}

void LANE(augment_end)(LANE(augment) * s)
{
    s->certificate = only(s->best < FAIR, s->best);
    s->good &= s->best < FAIR;
}
