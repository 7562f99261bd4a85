/* Newton's method of augment_newton.c for eight worlds at once: augment_together.c says how. */
#include "gauss/augment/augment_lanes.h"

/* ---- The matrix of a step ------------------------------------------------------------------- */

/* Which rows of an island take part, and where. */
ZW_INLINE void find_active(augment_together *s, const lane_island *it)
{
    int at = 0;
    for (int i = 0; i < it->slots; i++) {
        const lane_slot *k = &s->slot[s->member[it->first + i]];
        for (int r = 0; r < k->width; r++) {
            s->active[at++] = r == 0 ? k->closed : k->closed & k->wide;
        }
    }
}

/* Row r of a slot, whose rows begin at `first` in the matrix of the island. */
ZW_INLINE void fill_row(augment_together *s, const lane_island *it, const lane_slot *k, int first,
                        const int r)
{
    const int *line = s->line + it->begin;
    zw_mask8 on = s->active[first + r], off = ~on;
    zw_real8 *row = s->A[first + r], soft = k->G / s->stiff, zero = {0}, one = zero + 1.0;
    const zw_real8 *W = s->W[k->row + r];
    zw_real8 right = (r == 0 ? k->b : zero) - k->free[r] + soft * k->lambda[r];
    if (r == 0) {
        for (int c = 0; c < it->rows; c++) {
            row[c] = only(on & s->active[c], W[line[c]]);
        }
        row[first] += soft;
    } else {
        const zw_real8 *W1 = s->W[k->row + 1], *W2 = s->W[k->row + 2];
        zw_real8 x = k->t[0], y = k->t[1], turn = k->G * k->turn, cross = -(turn * (x * y));
        zw_real8 by[2] = {r == 1 ? turn * (y * y) : cross, r == 1 ? cross : turn * (x * x)};
        zw_mask8 slides = k->slides;
        for (int c = 0; c < it->rows; c++) {
            zw_real8 slips = by[0] * W1[line[c]] + by[1] * W2[line[c]];
            row[c] = only(on & s->active[c], lane_select8(slides, slips, W[line[c]]));
        }
        row[first] = lane_select8(slides, row[first] - k->G * (k->mu * k->t[r - 1]), row[first]);
        row[first + r] += lane_select8(slides, k->G, soft);
        right = lane_select8(slides, -(by[0] * k->free[1] + by[1] * k->free[2]), right);
        row[first] = only(on, row[first]);
    }
    row[first + r] = lane_select8(off, one, row[first + r]);
    s->right[first + r] = only(on, right);
}

ZW_CLONES static void fill(augment_together *s, const lane_island *it)
{
    int first = 0;
    find_active(s, it);
    for (int i = 0; i < it->slots; i++) {
        const lane_slot *k = &s->slot[s->member[it->first + i]];
        fill_row(s, it, k, first, 0);
        if (k->width == 3) {
            fill_row(s, it, k, first, 1);
            fill_row(s, it, k, first, 2);
        }
        first += k->width;
    }
}

/* Row k is eliminated from those above it, from `first` on; row[k] is then the inverse of the
 * pivot.
 */
ZW_INLINE zw_mask8 eliminate(augment_together *s, int k, int first)
{
    zw_real8 *x = s->right, *row = s->A[k], inverse = 1.0 / row[k];
    zw_mask8 sound = lane_size8(row[k]) > 0.0;
    for (int i = first; i < k; i++) {
        zw_real8 *to = s->A[i], by = to[k] * inverse;
        for (int c = 0; c < k; c++) {
            to[c] -= by * row[c];
        }
        x[i] -= by * x[k];
    }
    row[k] = inverse;
    return sound;
}

/* The factors by which rows k and k - 1 are subtracted from row i. */
ZW_INLINE void find_factors(const augment_together *s, int k, int i, zw_real8 *by)
{
    const zw_real8 *low = s->A[k], *next = s->A[k - 1], *row = s->A[i];
    by[0] = row[k] * low[k];
    by[1] = (row[k - 1] - by[0] * low[k - 1]) * next[k - 1];
}

/* Rows k and k - 1, which are eliminated, from the rows i and j. */
ZW_INLINE void eliminate_two(augment_together *s, int k, int i, int j)
{
    const zw_real8 *low = s->A[k], *next = s->A[k - 1];
    zw_real8 *x = s->right, *a = s->A[i], *b = s->A[j], f[2], g[2];
    find_factors(s, k, i, f);
    find_factors(s, k, j, g);
    for (int c = 0; c < k - 1; c++) {
        zw_real8 one = low[c], two = next[c], of_a = a[c] - f[0] * one - f[1] * two;
        b[c] = b[c] - g[0] * one - g[1] * two;
        a[c] = of_a;
    }
    zw_real8 of_a = x[i] - f[0] * x[k] - f[1] * x[k - 1];
    x[j] = x[j] - g[0] * x[k] - g[1] * x[k - 1];
    x[i] = of_a;
}

/* right = A \ right. Two rows at a time are eliminated, one after the other for each entry. */
ZW_CLONES static void solve(augment_together *s, int n)
{
    zw_real8 *x = s->right;
    zw_mask8 sound = s->sound;
    int k = n - 1;
    for (; k >= 1; k -= 2) {
        sound &= eliminate(s, k, k - 1);
        sound &= eliminate(s, k - 1, k - 1);
        for (int i = 0; i < k - 1; i += 2) {
            eliminate_two(s, k, i, i < k - 2 ? i + 1 : i);
        }
    }
    if (k == 0) {
        sound &= eliminate(s, 0, 0);
    }
    for (k = 0; k < n; k++) {
        const zw_real8 *row = s->A[k];
        zw_real8 sum = x[k];
        for (int c = 0; c < k; c++) {
            sum -= row[c] * x[c];
        }
        x[k] = sum * row[k];
        sound &= x[k] * 0.0 == 0.0;
    }
    s->sound = sound;
}

/* Multipliers and speeds after the step, in worlds that are unsolved. */
ZW_CLONES static void spread(augment_together *s, const lane_island *it)
{
    const int *line = s->line + it->begin;
    int first = 0;
    for (int i = 0; i < it->slots; i++) {
        lane_slot *k = &s->slot[s->member[it->first + i]];
        for (int r = 0; r < k->width; r++) {
            const zw_real8 *W = s->W[k->row + r];
            zw_real8 sum = k->free[r];
            for (int c = 0; c < it->rows; c++) {
                sum += W[line[c]] * s->right[c];
            }
            k->w[r] = lane_select8(s->live, sum, k->w[r]);
            k->lambda[r] = lane_select8(s->live, s->right[first + r], k->lambda[r]);
        }
        first += k->width;
    }
}

ZW_CLONES static void look(augment_together *s)
{
    zw_real8 off = {0}, size = s->fastest, one = off + 1.0;
    zw_mask8 other = {0};
    for (int i = 0; i < s->slots; i++) {
        look_at(&s->slot[i], s->live, s->mean, &off, &size, &other);
    }
    s->lost = off / lane_select8(size > 0.0, size, one);
    s->same = ~other;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* What is remembered of the best step. */
ZW_CLONES static void keep(augment_together *s, const zw_mask8 *better)
{
    for (int i = 0; i < s->slots; i++) {
        lane_slot *k = &s->slot[i];
        for (int r = 0; r < k->width; r++) {
            k->best[r] = lane_select8(*better, k->lambda[r], k->best[r]);
            k->found[r] = lane_select8(*better, k->then[r], k->found[r]);
        }
    }
}

/* The world of a lane after a step: as in augment_newton.c. Was it the best? */
static int end_step(augment_problem *p, double lost, int same)
{
    int better = same && lost < p->best, done = p->best < FAIR && !better;
    p->best = better ? lost : p->best;
    p->careful |= !same && p->stiff > STIFF;
    p->stiff = !same ? STIFF : p->careful ? fmin(SLOWLY * p->stiff, STIFFEST) : STIFFEST;
    p->age++;
    p->live = !done && p->best > CLOSE && p->age < MOST;
    return better;
}

static void put_back(const augment_together *s, int l)
{
    augment_problem *p = &s->problem[l];
    for (int i = 0; i < p->slots; i++) {
        augment_slot *to = &p->slot[i];
        augment_put_slot(&s->slot[i], l, to);
        for (int r = 0; r < to->width && p->best < FAIR; r++) {
            to->best[r] = s->slot[i].best[r][l];
            to->found[r] = s->slot[i].found[r][l];
        }
    }
}

/* One step. Returns how many worlds remain unsolved. */
static int advance(augment_together *s, long *steps)
{
    zw_mask8 better = {0};
    int left = 0;
    for (int l = 0; l < LANES; l++) {
        int late = s->problem[l].age - CALM;
        s->stiff[l] = s->live[l] ? s->problem[l].stiff : 1;
        s->mean[l] = s->live[l] && late >= 0 && late / TURN % 2 == 0 ? -1 : 0;
    }
    s->sound = s->live;
    for (int i = 0; i < s->islands; i++) {
        fill(s, &s->island[i]);
        solve(s, s->island[i].rows);
        spread(s, &s->island[i]);
    }
    look(s);
    for (int l = 0; l < LANES; l++) {
        augment_problem *p = &s->problem[l];
        if (!s->live[l]) {
            continue;
        }
        if (!s->sound[l]) { /* it begins again alone, from where it was */
            s->live[l] = s->in[l] = 0;
            continue;
        }
        ++*steps;
        better[l] = end_step(p, s->lost[l], s->same[l] != 0) ? -1 : 0;
        s->live[l] = -p->live;
        left += p->live;
    }
    keep(s, &better);
    return left;
}

long augment_advance_together(augment_together *s, augment_problem *problem)
{
    augment_problem *p;
    unsigned live = 0;
    long steps = 0;
    struct {
        int age, careful;
        double stiff, best;
    } before[LANES];
    for (int l = 0; l < LANES; l++) {
        p = &problem[l];
        live |= (unsigned)(p->live != 0) << l;
        before[l].age = p->age;
        before[l].careful = p->careful;
        before[l].stiff = p->stiff;
        before[l].best = p->best;
    }
    if ((live && live == s->loaded) || augment_load(s, problem, live)) {
        for (int l = 0; l < LANES; l++) {
            s->fastest[l] = problem[l].fastest;
        }
        s->live = s->in;
        while (advance(s, &steps) >= WORTHWHILE) {
        }
        s->loaded = 0;
        for (int l = 0; l < LANES; l++) {
            p = &problem[l];
            if (s->in[l]) {
                put_back(s, l);
            } else if (live >> l & 1) {
                p->live = 1;
                p->age = before[l].age;
                p->careful = before[l].careful;
                p->stiff = before[l].stiff;
                p->best = before[l].best;
            }
        }
    }
    for (int l = 0; l < LANES; l++) {
        if (problem[l].live || (problem[l].tries > 0 && !augment_is_solved(&problem[l]))) {
            augment_copy_matrix(s, problem, l);
        }
        steps += augment_advance(&problem[l]);
    }
    return steps;
}
