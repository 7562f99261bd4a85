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

/* ---- From worlds to lanes, and back --------------------------------------------------------- */

/* Where slots begin. 0: there are too many rows. */
static int align(augment_together *s)
{
    s->slots = s->rows = 0;
    for (int l = 0; l < LANES; l++) {
        s->slots = s->in[l] && s->problem[l].slots > s->slots ? s->problem[l].slots : s->slots;
    }
    for (int i = 0; i < s->slots; i++) {
        lane_slot *k = &s->slot[i];
        k->row = s->rows;
        k->width = 0;
        for (int l = 0; l < LANES; l++) {
            const augment_problem *p = &s->problem[l];
            int width = s->in[l] && i < p->slots ? p->slot[i].width : 0;
            k->width = width > k->width ? width : k->width;
            k->wide[l] = width == 3 ? -1 : 0;
        }
        s->rows += k->width;
        if (s->rows > ROWS) {
            return 0;
        }
    }
    return 1;
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

/* W of one world, to its places. */
static void take_matrix(augment_together *s, int l)
{
    const augment_problem *p = &s->problem[l];
    int to[AUGMENT_ROWS];
    for (int i = 0, n = 0; i < p->slots; i++) {
        for (int r = 0; r < p->slot[i].width; r++) {
            to[n++] = s->slot[i].row + r;
        }
    }
    for (int r = 0; r < p->rows; r++) {
        zw_real8 *row = s->W[to[r]];
        const double *from = p->W + r * AUGMENT_ROWS;
        for (int c = 0; c < p->rows; c++) {
            row[to[c]][l] = from[c];
        }
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
    return lane_any8(all);
}

static void find_islands(augment_together *s)
{
    int of[AUGMENT_SLOTS], members = 0, lines = 0;
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
        s->in[l] = which >> l & 1 ? -1 : 0;
        count += (int)(which >> l & 1);
    }
    if (count < WORTHWHILE || !align(s)) {
        return 0;
    }
    for (int r = 0; r < s->rows; r++) {
        memset(s->W[r], 0, (size_t)s->rows * sizeof *s->W[r]);
    }
    for (int l = 0; l < LANES; l++) {
        if (s->in[l]) {
            take_matrix(s, l);
        }
    }
    for (int i = 0; i < s->slots; i++) {
        take_slot(s, &s->slot[i], i);
    }
    find_islands(s);
    return 1;
}

/* ---- Sweeps --------------------------------------------------------------------------------- */

ZW_INLINE void change(augment_together *s, const int *line, int lines, int row, zw_real8 by)
{
    const zw_real8 *W = s->W[row];
    for (int c = 0; c < lines; c++) {
        s->w[line[c]] += by * W[line[c]];
    }
}

ZW_INLINE void sweep_slot(augment_together *s, const int *line, int lines, lane_slot *k)
{
    zw_real8 zero = {0}, one = zero + 1.0, *w = s->w + k->row;
    zw_real8 before[3] = {k->lambda[0], k->lambda[1], k->lambda[2]};
    zw_real8 now = before[0] - k->own * (w[0] - k->b);
    k->lambda[0] = only(now > 0.0, now);
    change(s, line, lines, k->row, k->lambda[0] - before[0]);
    if (k->width == 3) {
        zw_real8 x = only(k->wide, before[1] - k->natural * w[1]);
        zw_real8 y = only(k->wide, before[2] - k->natural * w[2]);
        zw_real8 most = k->mu * k->lambda[0], square = x * x + y * y;
        zw_real8 share = lane_select8(square > most * most, most / lane_sqrt8(square), one);
        k->lambda[1] = share * x;
        k->lambda[2] = share * y;
        change(s, line, lines, k->row + 1, k->lambda[1] - before[1]);
        change(s, line, lines, k->row + 2, k->lambda[2] - before[2]);
    }
}

ZW_CLONES static void sweep(augment_together *s, const lane_island *it)
{
    const int *line = s->line + it->begin, *member = s->member + it->first;
    for (int i = 0; i < it->slots; i++) {
        const lane_slot *k = &s->slot[member[i]];
        for (int r = 0; r < k->width; r++) {
            s->w[k->row + r] = k->free[r];
        }
    }
    for (int i = 0; i < it->slots; i++) {
        const lane_slot *k = &s->slot[member[i]];
        for (int r = 0; r < k->width; r++) {
            change(s, line, it->rows, k->row + r, k->lambda[r]);
        }
    }
    for (int n = 0; n < SWEEPS; n++) {
        for (int i = 0; i < it->slots; i++) {
            sweep_slot(s, line, it->rows, &s->slot[member[i]]);
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
    for (int r = 0; r < k->width; r++) {
        k->w[r] = s->w[k->row + r];
    }
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
    for (int i = 0; i < s->slots && together; i++) {
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
        if (!together) {
            augment_restart(p);
            continue;
        }
        p->tries = TRIES;
        augment_set_out(p);
        for (int i = 0; i < p->slots; i++) {
            augment_put_slot(&s->slot[i], l, &p->slot[i]);
        }
    }
}
