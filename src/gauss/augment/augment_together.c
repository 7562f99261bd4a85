/* Coulomb's law by augmented multipliers, for eight worlds at once: the sweeps and steps of
 * augment_newton.c, with its operations in its order, so that a lane has the bits of the world
 * alone.
 *
 * The first slots of all worlds are side by side, and the second ones, and so on, whatever they
 * are. Where a world has fewer of them, or one that is open, or one with a single row beside others
 * with three, its rows are those of the unit matrix, and its columns are zero:
 *
 *     A x = y:   what is eliminated with a factor of zero, and what a zero adds, changes no bits.
 *
 * That costs what the largest of the problems costs, for each step that one of them needs. So lanes
 * are used where enough of them have something to do; the other worlds go on alone from where they
 * are (augment_advance), which is the same to the last bit.
 *
 * W is kept side by side from the start: three rows for each slot, zeros where a world has none. A
 * world that goes on alone gets a copy; the part of slots beyond SIDES, which only steps alone
 * need, is in its problem.
 *
 * Islands. Bodies that are not connected have no entry of W in common. Slots that are connected in
 * some world are an island, which is swept and eliminated by itself: again only zeros are left out.
 */
#include "gauss/augment/augment_together.h"

#include <string.h>

#include "gauss/augment/augment_lanes.h"

size_t augment_together_bytes(void)
{
    return sizeof(augment_together);
}

/* ---- W -------------------------------------------------------------------------------------- */

void augment_clear_together(augment_together *s)
{
    s->cleared = 0;
    s->copied = s->loaded = 0;
}

/* One more slot, of which no world has anything yet. */
ZW_CLONES static void clear_slot(augment_together *s)
{
    zw_real8 zero = {0};
    int first = 3 * s->cleared++;
    for (int r = first; r < first + 3; r++) {
        for (int c = 0; c < first + 3; c++) {
            s->W[r][c] = s->W[c][r] = zero;
        }
    }
}

/* All these worlds have the two blocks in the same slots, whose rows begin at row and column. */
ZW_CLONES static void put_side_by_side(augment_together *s, int row, int column, const int *width,
                                       unsigned which, const zw_real8 *tile)
{
    zw_mask8 on;
    for (int l = 0; l < LANES; l++) {
        on[l] = -(zw_whole)(which >> l & 1);
    }
    for (int r = 0; r < width[0]; r++) {
        for (int c = 0; c < width[1]; c++) {
            zw_real8 *to = &s->W[row + r][column + c];
            *to = lane_select8(on, tile[width[1] * r + c], *to);
            s->W[column + c][row + r] = *to;
        }
    }
}

/* Into the slots a, b of these worlds. */
static void put(augment_together *s, augment_problem *problem, int a, int b, const int *width,
                unsigned which, const zw_real8 *tile)
{
    int last = a > b ? a : b;
    while (s->cleared <= last && s->cleared < SIDES) {
        clear_slot(s);
    }
    if (last < SIDES) {
        put_side_by_side(s, 3 * a, 3 * b, width, which, tile);
        return;
    }
    for (; which; which &= which - 1) {
        int l = __builtin_ctz(which);
        double value[9];
        for (int k = 0; k < width[0] * width[1]; k++) {
            value[k] = tile[k][l];
        }
        augment_put(&problem[l], a, b, value);
    }
}

void augment_put_tile(augment_together *s, augment_problem *problem, const int *const slot[2],
                      const int place[2], const int width[2], unsigned which, const zw_real8 *tile)
{
    s->copied &= ~which;
    if (place[0] >= 0 && place[1] >= 0) {
        put(s, problem, place[0], place[1], width, which, tile);
        return;
    }
    while (which) { /* those that have the blocks in the same slots as the first of them */
        int first = __builtin_ctz(which), a = slot[0][first], b = slot[1][first];
        unsigned same = 0;
        for (int l = 0; l < LANES; l++) {
            same |= (unsigned)(slot[0][l] == a && slot[1][l] == b) << l;
        }
        put(s, problem, a, b, width, which & same, tile);
        which &= ~same;
    }
}

void augment_copy_matrix(augment_together *s, augment_problem *problem, int lane)
{
    augment_problem *p = &problem[lane];
    int from[AUGMENT_ROWS], n = 0;
    if (s->copied >> lane & 1) {
        return;
    }
    for (int i = 0; i < p->slots && i < SIDES; i++) {
        for (int r = 0; r < p->slot[i].width; r++) {
            from[n++] = 3 * i + r;
        }
    }
    for (int r = 0; r < n; r++) {
        for (int c = 0; c < n; c++) {
            p->W[r * AUGMENT_ROWS + c] = s->W[from[r]][from[c]][lane];
        }
    }
    s->copied |= 1U << lane;
}

/* ---- From worlds to lanes, and back --------------------------------------------------------- */

/* The widths of slots. */
static void align(augment_together *s)
{
    s->slots = 0;
    for (int l = 0; l < LANES; l++) {
        s->slots = s->in[l] && s->problem[l].slots > s->slots ? s->problem[l].slots : s->slots;
    }
    for (int i = 0; i < s->slots; i++) {
        lane_slot *k = &s->slot[i];
        k->row = 3 * i;
        k->width = 0;
        for (int l = 0; l < LANES; l++) {
            const augment_problem *p = &s->problem[l];
            int width = s->in[l] && i < p->slots ? p->slot[i].width : 0;
            k->width = width > k->width ? width : k->width;
            k->wide[l] = width == 3 ? -1 : 0;
        }
    }
}

static void take_slot(const augment_together *s, lane_slot *k, int i)
{
    static const augment_slot none = {0};
    for (int l = 0; l < LANES; l++) {
        const augment_problem *p = &s->problem[l];
        const augment_slot *from = s->in[l] && i < p->slots ? &p->slot[i] : &none;
        k->closed[l] = -from->closed;
        k->slides[l] = -from->slides;
        k->mu[l] = from->mu;
        k->b[l] = from->b;
        k->G[l] = from->G;
        k->natural[l] = from->natural;
        k->own[l] = from->own;
        k->turn[l] = from->turn;
        for (int r = 0; r < 3; r++) {
            k->free[r][l] = from->free[r];
            k->lambda[r][l] = from->lambda[r];
            k->z[r][l] = from->z[r];
        }
        k->t[0][l] = from->t[0];
        k->t[1][l] = from->t[1];
    }
}

/* Have two slots an entry of W in common, in some world? */
ZW_CLONES static int are_connected(const augment_together *s, const lane_slot *a,
                                   const lane_slot *b)
{
    zw_mask8 all = {0};
    for (int r = a->row; r < a->row + a->width; r++) {
        for (int c = b->row; c < b->row + b->width; c++) {
            all |= s->W[r][c] != 0.0;
        }
    }
    return lane_any8(all & s->in);
}

static void find_islands(augment_together *s)
{
    int of[SIDES], members = 0, lines = 0;
    for (int i = 0; i < s->slots; i++) {
        of[i] = i;
        for (int j = 0; j < i; j++) {
            if (of[j] != of[i] && are_connected(s, &s->slot[i], &s->slot[j])) {
                int old = of[i] > of[j] ? of[i] : of[j], now = of[i] > of[j] ? of[j] : of[i];
                for (int k = 0; k <= i; k++) {
                    of[k] = of[k] == old ? now : of[k];
                }
            }
        }
    }
    s->islands = 0;
    for (int i = 0; i < s->slots; i++) {
        if (of[i] != i) {
            continue;
        }
        lane_island *it = &s->island[s->islands++];
        *it = (lane_island){.first = members, .begin = lines};
        for (int k = i; k < s->slots; k++) {
            if (of[k] == i) {
                s->member[members++] = k;
                for (int r = 0; r < s->slot[k].width; r++) {
                    s->line[lines++] = s->slot[k].row + r;
                }
            }
        }
        it->slots = members - it->first;
        it->rows = lines - it->begin;
    }
}

int augment_load(augment_together *s, augment_problem *problem, unsigned which)
{
    int count = 0;
    s->problem = problem;
    for (int l = 0; l < LANES; l++) {
        int fits = (int)(which >> l & 1) && problem[l].slots <= SIDES;
        s->in[l] = -fits;
        count += fits;
    }
    if (count < WORTHWHILE) {
        return 0;
    }
    align(s);
    for (int i = 0; i < s->slots; i++) {
        take_slot(s, &s->slot[i], i);
    }
    find_islands(s);
    return 1;
}

/* ---- Sweeps --------------------------------------------------------------------------------- */

/* The speeds of a slot: W has the same entries by rows and by columns. */
ZW_INLINE void find_slot_speeds(const augment_together *s, const lane_island *it,
                                const lane_slot *k, const int width, zw_real8 *w)
{
    const int *line = s->line + it->begin;
    for (int r = 0; r < width; r++) {
        w[r] = k->free[r];
    }
    for (int c = 0; c < it->rows; c++) {
        const zw_real8 *W = s->W[line[c]] + k->row;
        for (int r = 0; r < width; r++) {
            w[r] += W[r] * s->right[c];
        }
    }
}

/* `first`: where its rows begin in the island. */
ZW_INLINE void sweep_slot(augment_together *s, const lane_island *it, int first, lane_slot *k,
                          const int width)
{
    zw_real8 zero = {0}, one = zero + 1.0, w[3], *lambda = s->right + first;
    find_slot_speeds(s, it, k, width, w);
    zw_real8 now = lambda[0] - k->own * (w[0] - k->b), by;
    now = only(now > 0.0, now);
    by = now - lambda[0];
    lambda[0] = now;
    if (width == 3) {
        w[1] += s->W[k->row][k->row + 1] * by;
        w[2] += s->W[k->row][k->row + 2] * by;
        zw_real8 x = only(k->wide, lambda[1] - k->natural * w[1]);
        zw_real8 y = only(k->wide, lambda[2] - k->natural * w[2]);
        zw_real8 most = k->mu * now, square = x * x + y * y, share = one;
        zw_mask8 slides = square > most * most;
        if (lane_any8(slides)) {
            share = lane_select8(slides, most / lane_sqrt8(square), one);
        }
        lambda[1] = share * x;
        lambda[2] = share * y;
    }
}

ZW_CLONES static void sweep(augment_together *s, const lane_island *it)
{
    const int *member = s->member + it->first;
    for (int i = 0, at = 0; i < it->slots; i++) {
        const lane_slot *k = &s->slot[member[i]];
        for (int r = 0; r < k->width; r++) {
            s->right[at++] = k->lambda[r];
        }
    }
    for (int n = 0; n < SWEEPS; n++) {
        for (int i = 0, at = 0; i < it->slots; i++) {
            lane_slot *k = &s->slot[member[i]];
            if (k->width == 3) {
                sweep_slot(s, it, at, k, 3);
            } else {
                sweep_slot(s, it, at, k, 1);
            }
            at += k->width;
        }
    }
    for (int i = 0, at = 0; i < it->slots; i++) {
        lane_slot *k = &s->slot[member[i]];
        find_slot_speeds(s, it, k, k->width, k->w);
        for (int r = 0; r < k->width; r++) {
            k->lambda[r] = s->right[at++];
        }
    }
}

ZW_CLONES static void begin_slot(augment_together *s, lane_slot *k)
{
    zw_real8 G = {0}, one = G + 1.0, normal = s->W[k->row][k->row];
    for (int r = k->row; r < k->row + k->width; r++) {
        G = larger8(s->W[r][r], G);
    }
    k->G = lane_select8(G > 0.0, G, one);
    k->natural = 1.0 / k->G;
    k->own = lane_select8(normal > 0.0, 1.0 / normal, k->natural);
}

ZW_CLONES static void end_sweep(augment_together *s, lane_slot *k)
{
    zw_real8 spare[2] = {{0}};
    zw_mask8 none = {0}, other = {0};
    look_at(k, s->in, none, &spare[0], &spare[1], &other);
}

void augment_put_slot(const lane_slot *k, int l, augment_slot *to)
{
    to->closed = k->closed[l] != 0;
    to->slides = k->slides[l] != 0;
    to->G = k->G[l];
    to->natural = k->natural[l];
    to->own = k->own[l];
    to->turn = k->turn[l];
    for (int r = 0; r < to->width; r++) {
        to->lambda[r] = k->lambda[r][l];
        to->w[r] = k->w[r][l];
        to->then[r] = k->then[r][l];
        to->z[r] = k->z[r][l];
    }
    to->t[0] = k->t[0][l];
    to->t[1] = k->t[1][l];
}

void augment_restart_together(augment_together *s, augment_problem *problem, unsigned which)
{
    int together = augment_load(s, problem, which);
    s->loaded = 0;
    for (int i = 0; together && i < s->slots; i++) {
        begin_slot(s, &s->slot[i]);
    }
    for (int i = 0; i < s->islands && together; i++) {
        sweep(s, &s->island[i]);
    }
    for (int i = 0; i < s->slots && together; i++) {
        end_sweep(s, &s->slot[i]);
    }
    for (int l = 0; l < LANES; l++) {
        augment_problem *p = &problem[l];
        if (!(which >> l & 1)) {
            continue;
        }
        if (!together || !s->in[l]) {
            augment_copy_matrix(s, problem, l);
            augment_restart(p);
            continue;
        }
        p->tries = TRIES;
        augment_set_out(p);
        s->loaded |= 1U << l;
        for (int i = 0; i < p->slots; i++) {
            augment_put_slot(&s->slot[i], l, &p->slot[i]);
        }
    }
}
