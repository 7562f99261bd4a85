/* The motion of the soft law: Newton's method on each island; soft.h has the law.
 *
 * a is the minimum of the strongly convex, once differentiable function
 *
 *     f(a) = 1/2 a' M a - force' a + sum over blocks of s(J a),    ds/dx = -lambda(x) (soft_law.c).
 *
 * Its second derivative is H = M + J' C J, where it has one. A step leads to the minimum of the
 * quadratic function at hand,
 *
 *     H a+ = force + J' (lambda + C J a).
 *
 * Where the same rows push at a+ as at a, and none is curved, a+ is the minimum, and its bits do
 * not tell where the search began. Else the next a is the lowest point on the line through both, as
 * exactly as need be: the slope along it rises, so its zero is bracketed and Newton's steps on it
 * are kept inside. With that f sinks at each step, and without curved blocks there are finitely
 * many quadratic pieces.
 *
 * The search begins at the last a: from step to step few rows change, and most steps need one
 * factor. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/lane.h"
#include "system/soft.h"
#include "system/soft_large.h"
#include "tree/sweeps.h"

enum { MOST = 200, LOOKS = 40 };
#define EXACT 1e-13 /* of the slope beside its parts: no more can be had */
#define CLOSE 1e-10 /* where it sinks no more, this will do */
#define ENOUGH 1e-8 /* and this at the very end */

/* ---- Blocks --------------------------------------------------------------------------------- */

/* x = J a */
static void along(const soft_problem *s, const soft_block *k, const double *a, double *x)
{
    const int *column = s->column + k->column, count = k->columns;
    const double *J = s->value + k->J;
    if (k->width == 3) {
        double sum[3] = {0};
        for (int c = 0; c < count; c++) {
            double y = a[column[c]];
            sum[0] += J[c] * y;
            sum[1] += J[count + c] * y;
            sum[2] += J[2 * count + c] * y;
        }
        memcpy(x, sum, sizeof sum);
        return;
    }
    for (int r = 0; r < k->width; r++, J += count) {
        double sum = 0;
        for (int c = 0; c < count; c++) {
            sum += J[c] * a[column[c]];
        }
        x[r] = sum;
    }
}

/* to += J' f */
static void push_with(const soft_problem *s, const soft_block *k, const double *f, double *to)
{
    const int *column = s->column + k->column, count = k->columns;
    const double *J = s->value + k->J;
    if (k->width == 3) {
        for (int c = 0; c < count; c++) {
            to[column[c]] += f[0] * J[c] + f[1] * J[count + c] + f[2] * J[2 * count + c];
        }
        return;
    }
    for (int r = 0; r < k->width; r++, J += count) {
        for (int c = 0; c < count; c++) {
            to[column[c]] += f[r] * J[c];
        }
    }
}

/* w = C J, by rows of C */
static void weigh(const soft_block *k, const double *J, double *w)
{
    const double *C = k->now.C;
    int count = k->columns;
    for (int r = 0; r < k->width; r++, w += count) {
        for (int c = 0; c < count; c++) {
            w[c] = 0;
        }
        for (int q = 0; q < k->width; q++) {
            double own = C[r > q ? r * (r + 1) / 2 + q : q * (q + 1) / 2 + r];
            const double *from = J + q * count;
            for (int c = 0; c < count && own != 0; c++) {
                w[c] += own * from[c];
            }
        }
    }
}

/* H += J' C J where the columns are in a row. */
ZW_CLONES static void stiffen_whole(const soft_block *k, const int *column, const double *J,
                                    const double *w, double *const *row)
{
    int count = k->columns;
    for (int r = 0; r < k->width; r++, J += count, w += count) {
        for (int t = 0; t < count; t++) {
            double *to = row[column[t]], own = w[t];
            for (int c = 0; c <= t; c++) {
                to[c] += own * J[c];
            }
        }
    }
}

ZW_CLONES static void stiffen_three(const soft_block *k, const int *column, const double *J,
                                    const double *w, double *const *row)
{
    int count = k->columns;
    const double *J1 = J + count, *J2 = J1 + count, *w1 = w + count, *w2 = w1 + count;
    for (int t = 0; t < count; t++) {
        double *to = row[column[t]], x = w[t], y = w1[t], z = w2[t];
        for (int c = 0; c <= t; c++) {
            to[c] += x * J[c] + y * J1[c] + z * J2[c];
        }
    }
}

static void stiffen(const soft_problem *s, const soft_block *k)
{
    const int *column = s->column + k->column;
    const double *J = s->value + k->J;
    double *w = s->room;
    if (k->columns == 1 && k->width == 1) {
        s->row[column[0]][s->level[column[0]]] += J[0] * k->now.C[0] * J[0];
        return;
    }
    weigh(k, J, w);
    if (k->whole) {
        (k->width == 3 ? stiffen_three : stiffen_whole)(k, column, J, w, s->row);
        return;
    }
    for (int r = 0; r < k->width; r++, J += k->columns, w += k->columns) {
        for (int t = 0; t < k->columns; t++) {
            double *to = s->row[column[t]];
            for (int c = 0; c <= t; c++) {
                to[s->level[column[c]]] += w[t] * J[c];
            }
        }
    }
}

static void look(const soft_problem *s, soft_block *k, const double *x, soft_reply *to)
{
    soft_law(k, s->b + k->first, s->D + k->first, x, to);
}

/* ---- H of an island ------------------------------------------------------------------------- */

static void fill(soft_problem *s, const soft_island *island, int only_masses)
{
    const tree_mechanism *tree = s->system->tree;
    const double *M = s->work->sweeps + tree->at.M;
    if (!island->dof) {
        int from = tree->start[island->first], to = tree->start[island->first + island->n];
        memcpy(island->H, M + from, (size_t)(to - from) * sizeof *M);
    } else {
        memset(island->H, 0, (size_t)island->bend.entries * sizeof *M);
        for (int i = 0; i < island->n; i++) {
            int d = island->dof[i];
            for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
                s->row[d][s->level[tree->column[k]]] = M[k];
            }
        }
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        const soft_block *k = &s->block[b];
        if (k->kind == SOFT_MASS || (!only_masses && k->now.C[0] != 0)) {
            stiffen(s, k);
        }
    }
}

static int factor(soft_problem *s, const soft_island *island, const double *diagonal,
                  int only_masses)
{
    int bad = 0;
    const double *own = diagonal ? diagonal + island->first : NULL;
    if (island->is_large) {
        return soft_large_factor(s, island, diagonal, only_masses);
    }
    fill(s, island, only_masses);
    for (int i = 0; diagonal && island->dof && i < island->n; i++) {
        s->y[i] = diagonal[island->dof[i]];
        own = s->y;
    }
    tree_factor(island->shape, own, island->H, &bad);
    return !bad;
}

/* x = H \ x, by numbers of all dofs. */
static void solve(soft_problem *s, const soft_island *island, double *x)
{
    double *y = island->dof ? s->y : x + island->first;
    for (int i = 0; island->dof && i < island->n; i++) {
        y[i] = x[island->dof[i]];
    }
    if (island->is_large) {
        soft_large_solve(s, island, y);
    } else {
        tree_solve(island->shape, island->H, y);
    }
    for (int i = 0; island->dof && i < island->n; i++) {
        x[island->dof[i]] = y[i];
    }
}

int soft_factor_masses(soft_problem *s, const double *diagonal)
{
    int good = 1;
    for (int i = 0; i < s->islands; i++) {
        good &= factor(s, &s->island[i], diagonal, 1);
    }
    return good;
}

void soft_solve_masses(soft_problem *s, double *x)
{
    for (int i = 0; i < s->islands; i++) {
        solve(s, &s->island[i], x);
    }
}

/* ---- One island ----------------------------------------------------------------------------- */

/* y = M x of the trees alone */
static void multiply(const soft_problem *s, const soft_island *island, const double *x, double *y)
{
    const tree_mechanism *tree = s->system->tree;
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        const soft_tree *own = &s->tree[t];
        tree_multiply(&own->shape, NULL, s->work->sweeps + tree->at.M + tree->start[own->first],
                      x + own->first, y + own->first);
    }
}

typedef struct measure {
    double slope, size; /* squares of lengths */
} measure;

/* push, and what is left of M a - force - push. That is left in x. */
static measure measure_slope(soft_problem *s, const soft_island *island)
{
    measure m = {0};
    double Ma = 0, applied = 0, pushed = 0;
    multiply(s, island, s->a, s->Ma);
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        size_t bytes = (size_t)(s->tree[t].end - s->tree[t].first) * sizeof(double);
        memset(s->push + s->tree[t].first, 0, bytes);
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        const soft_block *k = &s->block[b];
        if (k->kind == SOFT_MASS) {
            double back = -k->now.force[0];
            push_with(s, k, &back, s->Ma);
        } else if (k->now.state != 0) {
            push_with(s, k, k->now.force, s->push);
        }
    }
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            double g = s->Ma[d] - s->force[d] - s->push[d];
            s->x[d] = g;
            m.slope += g * g;
            Ma += s->Ma[d] * s->Ma[d];
            applied += s->force[d] * s->force[d];
            pushed += s->push[d] * s->push[d];
        }
    }
    m.size = fmax(Ma, fmax(applied, pushed));
    return m;
}

/* The zero of the slope along the line to a + (x - a): c1 + c2 t - sum of lambda . move. */
static double search(soft_problem *s, const soft_island *island)
{
    double c1 = 0, c2 = 0, low = 0, high = INFINITY, at = 1, first = 0;
    soft_reply reply;
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            s->x[d] -= s->a[d];
        }
    }
    multiply(s, island, s->a, s->Ma);
    multiply(s, island, s->x, s->y);
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            c1 += s->x[d] * (s->Ma[d] - s->force[d]);
            c2 += s->x[d] * s->y[d];
        }
    }
    for (int eval = -1; eval < LOOKS; eval++) {
        double t = eval < 0 ? 0 : at, slope = c1 + t * c2, curve = c2;
        for (int b = island->block; b >= 0; b = s->block[b].next) {
            soft_block *k = &s->block[b];
            double x[6];
            for (int i = 0; i < k->width; i++) {
                x[i] = k->x[i] + t * k->move[i];
            }
            look(s, k, x, &reply);
            for (int i = 0; i < k->width; i++) {
                slope -= reply.force[i] * k->move[i];
                for (int j = 0; j <= i; j++) {
                    curve +=
                        (i == j ? 1 : 2) * reply.C[i * (i + 1) / 2 + j] * k->move[i] * k->move[j];
                }
            }
        }
        if (eval < 0) {
            first = fabs(slope);
            continue;
        }
        if (fabs(slope) <= 1e-3 * first) {
            break;
        }
        *(slope < 0 ? &low : &high) = at;
        double next = at - slope / curve;
        at = next > low && next < high ? next : isinf(high) ? 2 * at : 0.5 * (low + high);
    }
    return at;
}

/* s->x = a+, and what the blocks would do there; answers whether the pieces are the same. */
static int aim(soft_problem *s, const soft_island *island)
{
    int same = 1;
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        const soft_tree *own = &s->tree[t];
        memcpy(s->x + own->first, s->force + own->first,
               (size_t)(own->end - own->first) * sizeof(double));
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        const soft_block *k = &s->block[b];
        if (k->kind != SOFT_MASS && k->now.state != 0) {
            push_with(s, k, k->now.rest, s->x);
        }
    }
    solve(s, island, s->x);
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        soft_block *k = &s->block[b];
        along(s, k, s->x, k->move);
        look(s, k, k->move, &k->then);
        same &= k->then.state == k->now.state && !k->then.curved;
    }
    return same;
}

static void take(soft_problem *s, const soft_island *island)
{
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        const soft_tree *own = &s->tree[t];
        memcpy(s->a + own->first, s->x + own->first,
               (size_t)(own->end - own->first) * sizeof(double));
    }
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        soft_block *k = &s->block[b];
        memcpy(k->x, k->move, sizeof k->x);
        k->now = k->then;
    }
}

/* What the blocks do at s->a. */
static void look_all(soft_problem *s, const soft_island *island)
{
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        soft_block *k = &s->block[b];
        along(s, k, s->a, k->x);
        look(s, k, k->x, &k->now);
    }
}

static void go_along(soft_problem *s, const soft_island *island)
{
    for (int b = island->block; b >= 0; b = s->block[b].next) {
        soft_block *k = &s->block[b];
        for (int i = 0; i < k->width; i++) {
            k->move[i] -= k->x[i];
        }
    }
    double at = search(s, island);
    for (int t = island->tree; t >= 0; t = s->tree[t].next) {
        for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
            s->a[d] += at * s->x[d];
        }
    }
    look_all(s, island);
}

/* Round-off of a+, taken back with the factor at hand: a -= H \ slope, which is in s->x. */
static measure polish(soft_problem *s, const soft_island *island, measure m)
{
    for (int round = 0; round < 3 && m.slope > EXACT * EXACT * m.size; round++) {
        solve(s, island, s->x);
        for (int t = island->tree; t >= 0; t = s->tree[t].next) {
            for (int d = s->tree[t].first; d < s->tree[t].end; d++) {
                s->a[d] -= s->x[d];
            }
        }
        look_all(s, island);
        measure next = measure_slope(s, island);
        int better = next.slope < 0.25 * m.slope;
        m = next;
        if (!better) {
            break;
        }
    }
    return m;
}

/* 0: H is not positive. */
static int minimise(soft_problem *s, const soft_island *island, measure *m, int *iterations)
{
    double best = INFINITY;
    look_all(s, island);
    for (*iterations = 1; *iterations <= MOST; ++*iterations) {
        if (!factor(s, island, NULL, 0)) {
            return 0;
        }
        int same = aim(s, island);
        if (same) {
            take(s, island);
        } else {
            go_along(s, island);
        }
        *m = measure_slope(s, island);
        if (same) {
            *m = m->slope > CLOSE * CLOSE * m->size ? polish(s, island, *m) : *m;
            return 1;
        }
        double left = m->slope / (m->size > 0 ? m->size : 1);
        if (left <= EXACT * EXACT || (left <= CLOSE * CLOSE && left > 0.25 * best)) {
            return 1;
        }
        best = fmin(best, left);
    }
    return 1;
}

zw_status soft_minimise(soft_problem *s, zw_error *error)
{
    double slope = 0, worst = 0;
    s->iterations = 0;
    for (int i = 0; i < s->islands; i++) {
        measure m = {0};
        int iterations = 0;
        if (!minimise(s, &s->island[i], &m, &iterations)) {
            return base_fail(error, ZW_NOT_A_METRIC, "the masses are not positive");
        }
        slope += m.slope;
        worst = fmax(worst, m.size > 0 ? m.slope / m.size : 0);
        s->iterations = iterations > s->iterations ? iterations : s->iterations;
        if (!(m.slope <= ENOUGH * ENOUGH * m.size)) {
            return base_fail(error, ZW_INACCURATE,
                             "the soft law could be solved to a part of %.1e of its forces only",
                             sqrt(m.slope / m.size));
        }
    }
    s->slope = sqrt(slope);
    s->certificate = sqrt(worst);
    return ZW_OK;
}
