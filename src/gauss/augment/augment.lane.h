/* Contacts in one linear step, of one world or of eight: what depends on the motion.
 *
 * With H = L' D L on the paths of the tree, y = L' \ J' for the rows J of a block, and e = L' \ r,
 *
 *     free = J v0 + y . D \ e,     W = y' D \ y,     u - v0 = L \ D \ (e + y lambda)
 *
 * so a row is solved for halfway only: from its columns to the root. augment_newton.c finds lambda
 * from W and free, for each world. Two blocks meet in W at the dofs that both have, the ancestors
 * that they share; nothing is filled in where points couple two branches.
 *
 * Blocks take part as they are needed: at first those that the motion without contacts violates,
 * then those that the motion after sweeps or a solution violates, until there are none. Most limits
 * never do.
 *
 * Lanes. Which blocks are looked at depends on the other worlds, but each enters the problem of a
 * world when that world needs it. All sums are those of the world alone, and have the same order.
 */
#include <string.h>

#define PATHS_REAL zw_real
#include "math/dense/paths_root.h"

/* ---- The factor of H ------------------------------------------------------------------------ */

#ifndef AUGMENT_ALONE
/* A run of nodes is eliminated, and its right-hand sides: paths.c, soft_lane.c. */
ZW_INLINE zw_mask factor_run(const LANE(augment) * s, int first, const int n, zw_real *x)
{
    const paths_shape *shape = s->straight;
    int above = shape->depth[first] - 1;
    zw_real *low[PATHS_RUN], inverse[PATHS_RUN], own[PATHS_RUN], f[PATHS_RUN], zero = {0};
    zw_mask good = zero == zero;
    for (int k = 0; k < n; k++) {
        low[k] = s->lower + shape->start[first + k];
        own[k] = x[first + k];
    }
    for (int k = n - 1; k >= 0; k--) {
        zw_real pivot = low[k][above + k];
        good &= pivot > 0.0;
        inverse[k] = 1.0 / pivot;
        x[first + k] = own[k];
        own[k] *= inverse[k];
        for (int e = k - 1; e >= 0; e--) {
            f[e] = low[k][above + e] * inverse[k];
            own[e] -= low[k][above + e] * own[k];
        }
        for (int e = k - 1; e >= 0; e--) {
            for (int c = 0; c <= above + e; c++) {
                low[e][c] -= f[e] * low[k][c];
            }
        }
        low[k][above + k] = inverse[k];
    }
    for (int t = above - 1, d = shape->parent[first]; t >= 0; t--, d = shape->parent[d]) {
        zw_real *to = s->lower + shape->start[d], sum = x[d];
        for (int k = n - 1; k >= 0; k--) {
            f[k] = low[k][t] * inverse[k];
            sum -= low[k][t] * own[k];
        }
        x[d] = sum;
        for (int c = 0; c <= t; c++) {
            zw_real entry = to[c];
            for (int k = n - 1; k >= 0; k--) {
                entry -= f[k] * low[k][c];
            }
            to[c] = entry;
        }
    }
    return good;
}

/* H = L' D L, and x = L' \ x */
ZW_CLONES static void factor(const LANE(augment) * s, zw_real *x, zw_mask *good)
{
    const paths_shape *shape = s->straight;
    zw_mask all = *good;
    memcpy(s->lower, s->H, (size_t)shape->entries * sizeof *s->lower);
    for (int b = shape->blocks - 1; b >= 0; b--) {
        int first = shape->block[b];
        switch (shape->block[b + 1] - first) {
        case 1:
            all &= factor_run(s, first, 1, x);
            break;
        case 2:
            all &= factor_run(s, first, 2, x);
            break;
        case 3:
            all &= factor_run(s, first, 3, x);
            break;
        default:
            all &= factor_run(s, first, PATHS_RUN, x);
            break;
        }
    }
    *good = all;
}
#endif

/* x = L \ D \ x */
ZW_CLONES static void descend(const LANE(augment) * s, zw_real *x)
{
    const paths_shape *shape = s->straight;
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

/* ---- Which blocks take part ----------------------------------------------------------------- */

/* The columns and all their ancestors. */
static void find_support(const LANE(augment) * s, LANE(augment_block) * k)
{
    const int *parent = s->straight->parent;
    int *to = k->support, count = 0;
    memset(s->at, 0, (size_t)s->n * sizeof *s->at);
    for (int c = 0; c < k->columns; c++) {
        for (int d = k->column[c]; d >= 0 && !s->at[d]; d = parent[d]) {
            s->at[d] = 1;
        }
    }
    for (int d = 0; d < s->n; d++) {
        if (s->at[d]) {
            s->at[d] = count;
            to[count++] = d;
        }
    }
    k->supports = count;
}

/* y = L' \ J', and the speeds without contacts: J v0 + y . D \ (L' \ r). */
ZW_INLINE void halve_by(const LANE(augment) * s, LANE(augment_block) * k, const int width)
{
    const paths_shape *shape = s->straight;
    zw_real zero = {0}, own[3], sum[3];
    for (int i = 0; i < width * k->supports; i++) {
        k->y[i] = zero;
    }
    for (int r = 0; r < width; r++) {
        sum[r] = zero;
        for (int c = 0; c < k->columns; c++) {
            zw_real J = k->J[r * k->columns + c];
            k->y[width * s->at[k->column[c]] + r] = J;
            sum[r] += J * s->v0[k->column[c]];
        }
    }
    for (int i = k->supports - 1; i >= 0; i--) {
        int d = k->support[i], above = shape->depth[d] - 1;
        const zw_real *row = s->lower + shape->start[d];
        for (int r = 0; r < width; r++) {
            own[r] = k->y[width * i + r] * row[above];
            sum[r] += own[r] * s->eased[d];
        }
        for (int t = above - 1, a = shape->parent[d]; t >= 0; t--, a = shape->parent[a]) {
            zw_real *to = k->y + width * s->at[a];
            for (int r = 0; r < width; r++) {
                to[r] -= row[t] * own[r];
            }
        }
    }
    for (int r = 0; r < width; r++) {
        k->free[r] = sum[r];
    }
}

ZW_CLONES static void halve(const LANE(augment) * s, LANE(augment_block) * k)
{
    if (k->width == 3) {
#ifdef AUGMENT_ALONE
        halve_three(s, k);
#else
        halve_by(s, k, 3);
#endif
    } else {
        halve_by(s, k, 1);
    }
}

/* Blocks that x violates in worlds where they do not yet take part. */
ZW_CLONES static void find_fresh(const LANE(augment) * s, const zw_mask *asked, zw_mask *any)
{
    zw_mask all = *asked & not_of(*asked);
    for (int d = 0; d < s->n; d++) {
        s->u[d] = s->v0[d] + s->x[d];
    }
    for (int i = 0; i < s->blocks; i++) {
        LANE(augment_block) *k = &s->block[i];
        k->fresh = *asked & k->on & not_of(k->in);
        k->is_fresh = any_of(k->fresh);
        if (!k->is_fresh) {
            continue;
        }
        zw_real sum = {0};
        for (int c = 0; c < k->columns; c++) {
            sum += k->J[c] * s->u[k->column[c]];
        }
        k->fresh &= sum - k->b < 0.0;
        k->is_fresh = any_of(k->fresh);
        all |= k->fresh;
    }
    *any = all;
}

/* y of a block. 0: there is no room. */
static int know(LANE(augment) * s, LANE(augment_block) * k)
{
    if (k->supports == 0) {
        if (s->halves + room_of(k->width) > AUGMENT_HALVES) {
            return 0;
        }
        k->y = s->y + (size_t)s->halves * (size_t)s->n;
        k->support = s->support + (size_t)s->halves * (size_t)s->n;
        s->halves += room_of(k->width);
        int at = s->ins++, index = (int)(k - s->block);
        for (; at > 0 && s->in[at - 1] > index; at--) {
            s->in[at] = s->in[at - 1];
        }
        s->in[at] = index;
        find_support(s, k);
        halve(s, k);
    }
    return 1;
}

static int enter(LANE(augment) * s, LANE(augment_block) * k, int l)
{
    double free[3] = {0};
    if (!know(s, k)) {
        return 0;
    }
    for (int r = 0; r < k->width; r++) {
        free[r] = lane_of(&k->free[r], l);
    }
    k->slot[l] = augment_add(&s->problem[l], k->width, k->mu, lane_of(&k->b, l), free);
    return k->slot[l] >= 0;
}

/* Where a block is fresh it enters. */
static void enter_all(LANE(augment) * s, LANE(augment_block) * k)
{
    for (int l = 0; l < AUGMENT_LANES; l++) {
        if (is_lane(&k->fresh, l) && !(is_lane(&s->good, l) && enter(s, k, l))) {
            set_lane(&s->good, l, 0);
            set_lane(&k->fresh, l, 0);
        }
    }
    k->in |= k->fresh;
}

/* Blocks that x violates enter, those with friction first: worlds then have the same points in the
 * same slots whatever limits they have. Returns the worlds in which there are some. */
static zw_mask extend(LANE(augment) * s, zw_mask asked)
{
    zw_mask any;
    find_fresh(s, &asked, &any);
    for (int width = 3; width >= 1 && any_of(any); width -= 2) {
        for (int i = 0; i < s->blocks; i++) {
            if (s->block[i].is_fresh && s->block[i].width == width) {
                enter_all(s, &s->block[i]);
            }
        }
    }
    return any & s->good;
}

/* ---- W = y' D \ y --------------------------------------------------------------------------- */

/* The part of two blocks: over the dofs that both have. */
ZW_INLINE void tile_by(const LANE(augment) * s, const LANE(augment_block) * a,
                       const LANE(augment_block) * b, const int rows, const int columns,
                       zw_real *to)
{
    const paths_shape *shape = s->straight;
    zw_real zero = {0}, sum[9] = {zero, zero, zero, zero, zero, zero, zero, zero, zero};
    for (int i = 0, j = 0; i < a->supports && j < b->supports;) {
        int d = a->support[i], e = b->support[j];
        if (d != e) {
            i += d < e;
            j += d > e;
            continue;
        }
        zw_real inverse = s->lower[shape->start[d] + shape->depth[d] - 1];
        for (int r = 0; r < rows; r++) {
            zw_real part = a->y[room_of(rows) * i + r] * inverse;
            for (int c = 0; c < columns; c++) {
                sum[columns * r + c] += part * b->y[room_of(columns) * j + c];
            }
        }
        i++;
        j++;
    }
    for (int k = 0; k < rows * columns; k++) {
        to[k] = sum[k];
    }
}

ZW_CLONES static void tile(const LANE(augment) * s, const LANE(augment_block) * a,
                           const LANE(augment_block) * b, zw_real *to)
{
    if (a->width == 3 && b->width == 3) {
#ifdef AUGMENT_ALONE
        tile_three(s, a, b, to);
#else
        tile_by(s, a, b, 3, 3, to);
#endif
    } else if (a->width == 3) {
        tile_by(s, a, b, 3, 1, to);
    } else if (b->width == 3) {
        tile_by(s, a, b, 1, 3, to);
    } else {
        tile_by(s, a, b, 1, 1, to);
    }
}

static void find_place(LANE(augment_block) * k, unsigned in)
{
    int first = in ? __builtin_ctz(in) : 0;
    k->place = k->slot[first];
    for (int l = first + 1; l < AUGMENT_LANES; l++) {
        k->place = in >> l & 1 && k->slot[l] != k->slot[first] ? -1 : k->place;
    }
}

/* The entries of blocks that are new in some world. */
static void find_W(const LANE(augment) * s)
{
    unsigned in[AUGMENT_HALVES], fresh[AUGMENT_HALVES], good = bits_of(&s->good);
    zw_real part[9];
    for (int i = 0; i < s->ins; i++) {
        LANE(augment_block) *a = &s->block[s->in[i]];
        in[i] = bits_of(&a->in) & good;
        fresh[i] = bits_of(&a->fresh);
        find_place(a, in[i]);
        for (int j = 0; j <= i; j++) {
            unsigned both = in[i] & in[j] & (fresh[i] | fresh[j]);
            if (both) {
                const LANE(augment_block) *b = &s->block[s->in[j]];
                tile(s, a, b, part);
                put_tile(s, a, b, both, part);
            }
        }
    }
}

/* ---- Solution ------------------------------------------------------------------------------- */

/* The present multipliers of a block. */
static void collect(const LANE(augment) * s, LANE(augment_block) * k)
{
    zw_real zero = {0};
    k->lambda[0] = k->lambda[1] = k->lambda[2] = zero;
    for (int l = 0; l < AUGMENT_LANES; l++) {
        if (is_lane(&k->in, l)) {
            const augment_problem *p = &s->problem[l];
            const augment_slot *slot = &p->slot[k->slot[l]];
            const double *from = p->live ? slot->lambda : slot->best;
            put_lane(&k->lambda[0], l, from[0]);
            put_lane(&k->lambda[1], l, from[1]);
            put_lane(&k->lambda[2], l, from[2]);
        }
    }
}

ZW_INLINE void push_by(const LANE(augment) * s, const LANE(augment_block) * k, const int width)
{
    for (int c = 0; c < k->supports; c++) {
        zw_real sum = s->x[k->support[c]];
        for (int r = 0; r < width; r++) {
            sum += k->lambda[r] * k->y[room_of(width) * c + r];
        }
        s->x[k->support[c]] = sum;
    }
}

/* e + y lambda */
ZW_CLONES static void push(const LANE(augment) * s)
{
    for (int i = 0; i < s->ins; i++) {
        const LANE(augment_block) *k = &s->block[s->in[i]];
        if (k->width == 3) {
            push_by(s, k, 3);
        } else {
            push_by(s, k, 1);
        }
    }
}

void LANE(augment_lay_out)(LANE(augment) * s, int count, base_arena *arena)
{
    size_t n = (size_t)count, one = sizeof(zw_real) / sizeof(double);
    s->x = (zw_real *)base_arena_doubles(arena, n * one);
    s->u = (zw_real *)base_arena_doubles(arena, n * one);
    s->eased = (zw_real *)base_arena_doubles(arena, n * one);
    s->lower = (zw_real *)base_arena_doubles(arena, (n * (n + 1) / 2 + 4 * n) * one);
    s->y = (zw_real *)base_arena_doubles(arena, AUGMENT_HALVES * n * one);
    s->problem = (augment_problem *)base_arena_doubles(arena, AUGMENT_LANES * sizeof *s->problem /
                                                                  sizeof(double));
    augment_scratch *scratch =
        (augment_scratch *)base_arena_doubles(arena, sizeof *scratch / sizeof(double));
    for (int l = 0; l < AUGMENT_LANES; l++) {
        double *W = base_arena_doubles(arena, (size_t)AUGMENT_ROWS * AUGMENT_ROWS + 4);
        if (arena->block) {
            s->problem[l].W = W;
            s->problem[l].scratch = scratch;
        }
    }
    s->together = AUGMENT_LANES > 1 ? base_arena_bytes(arena, together_bytes()) : NULL;
    s->support = base_arena_ints(arena, AUGMENT_HALVES * n);
    s->at = base_arena_ints(arena, n);
    s->in = base_arena_ints(arena, AUGMENT_HALVES);
}

void LANE(augment_begin)(LANE(augment) * s)
{
    memcpy(s->eased, s->r, (size_t)s->n * sizeof *s->eased);
    factor(s, s->eased, &s->good);
    memcpy(s->x, s->eased, (size_t)s->n * sizeof *s->x);
    descend(s, s->x);
}

ZW_CLONES static void clear_blocks(const LANE(augment) * s)
{
    zw_real zero = {0};
    for (int i = 0; i < s->blocks; i++) {
        LANE(augment_block) *k = &s->block[i];
        k->in = k->fresh = zero != zero;
        k->supports = 0;
        k->found[0] = k->found[1] = k->found[2] = zero;
    }
}

static void clear(LANE(augment) * s)
{
    s->halves = s->ins = 0;
    clear_blocks(s);
    for (int l = 0; l < AUGMENT_LANES; l++) {
        augment_clear(&s->problem[l]);
    }
    clear_tiles(s);
}

/* Blocks that x violates enter: worlds in which there are some are unsolved, with these. */
static zw_mask take_in(LANE(augment) * s, zw_mask asked)
{
    zw_mask more = extend(s, asked);
    if (any_of(more)) {
        find_W(s);
        restart(s, more);
    }
    return more;
}

/* The motion with the current multipliers. */
static zw_mask take_more(LANE(augment) * s, zw_mask asked)
{
    memcpy(s->x, s->eased, (size_t)s->n * sizeof *s->x);
    for (int i = 0; i < s->ins; i++) {
        collect(s, &s->block[s->in[i]]);
    }
    push(s);
    descend(s, s->x);
    if (AUGMENT_LANES > 1 && s->look) {
        s->look(s->user, &asked);
    }
    return take_in(s, asked);
}

#ifdef AUGMENT_ALONE
/* Blocks that are thought to push take part from the beginning. Are there any? */
static int recall(augment1 *s)
{
    int any = 0;
    for (int i = 0; i < s->blocks && s->good; i++) {
        augment_block1 *k = &s->block[i];
        if (!k->guess || !(k->guess[0] > 0)) {
            continue;
        }
        s->good = enter(s, k, 0);
        k->fresh = k->in = any = 1;
        for (int r = 0; r < k->width && s->good; r++) {
            s->problem->slot[k->slot[0]].lambda[r] = k->guess[r];
        }
    }
    if (any && s->good) {
        find_W(s);
        augment_resume(s->problem);
    }
    return any;
}
#else
static int recall(const LANE(augment) * s)
{
    (void)s;
    return 0;
}
#endif

static void advance_all(LANE(augment) * s)
{
    for (int l = 0; l < AUGMENT_LANES; l++) {
        augment_problem *p = &s->problem[l];
        if (!is_lane(&s->good, l)) {
            p->live = p->tries = 0;
        }
    }
    s->steps += advance(s);
    for (int l = 0; l < AUGMENT_LANES; l++) {
        const augment_problem *p = &s->problem[l];
        set_lane(&s->good, l, is_lane(&s->good, l) && augment_is_solved(p));
    }
}

static void end(LANE(augment) * s)
{
    s->certificate = (zw_real){0};
    for (int l = 0; l < AUGMENT_LANES; l++) {
        put_lane(&s->certificate, l, is_lane(&s->good, l) ? s->problem[l].best : 0);
        for (int i = 0; i < s->ins; i++) {
            LANE(augment_block) *k = &s->block[s->in[i]];
            for (int r = 0; r < k->width && is_lane(&k->in, l); r++) {
                put_lane(&k->found[r], l, s->problem[l].slot[k->slot[l]].found[r]);
            }
        }
    }
}

void LANE(augment_solve)(LANE(augment) * s)
{
    clear(s);
    zw_mask asked = s->good, more;
    int resumed = recall(s);
    if (resumed) {
        advance_all(s);
        if (!any_of(s->good)) {
            s->good = asked;
            resumed = 0;
            clear(s);
        }
    }
    more = resumed ? take_more(s, s->good) : take_in(s, s->good);
    while (any_of(more)) {
        do { /* sweeps show most of what else will push */
            more = take_more(s, more);
        } while (any_of(more));
        advance_all(s);
        more = take_more(s, s->good);
    }
    end(s);
}
