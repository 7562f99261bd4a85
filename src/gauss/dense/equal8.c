/* What zw_gauss_solve does with a problem of equalities, eight at a time: see equal8.h.
 *
 *     M = U'U;  a_free = M \ f;  X = U' \ A';  rows of X scaled to length one: D
 *     D = [L 0] Q' by reflections, the row farthest from the span of the others next
 *     L z = -c,  a = a_free + U \ Q (z, 0),  L' r = z,  lambda = scale r
 *     certificate: M a - f - A' lambda, A a - b, in their units
 *
 * The next row may differ between lanes: rows are exchanged by selects. Sums of many terms have
 * eight parts, as dense_dot's have. */
#include "gauss/dense/equal8.h"

#include "gauss/dense/equal8_metric.h"
#include "gauss/internal.h"
#include "gauss/tolerances.h"

enum { CORRECTIONS = 4 };

static zw_real8 *vectors(base_arena *arena, size_t count)
{
    return base_arena_bytes(arena, count * sizeof(zw_real8));
}

void gauss_equal8_layout(gauss_equal8 *s, int n, int m, base_arena *arena)
{
    size_t wide = (size_t)n, rows = (size_t)m;
    zw_real8 **of_n[] = {&s->a,    &s->push,  &s->free,  &s->x,      &s->unit,     &s->inverse,
                         &s->rest, &s->sizes, &s->still, &s->best_a, &s->best_push};
    zw_real8 **of_m[] = {&s->lambda, &s->scale,   &s->c,      &s->z,          &s->beta,
                         &s->square, &s->exact,   &s->order,  &s->r,          &s->w,
                         &s->pushed, &s->carried, &s->before, &s->best_lambda};
    for (size_t k = 0; k < sizeof of_n / sizeof *of_n; k++) {
        *of_n[k] = vectors(arena, wide);
    }
    for (size_t k = 0; k < sizeof of_m / sizeof *of_m; k++) {
        *of_m[k] = vectors(arena, rows);
    }
    s->U = vectors(arena, wide * wide);
    s->X = vectors(arena, wide * rows);
    s->D = vectors(arena, wide * rows);
    s->independence = vectors(arena, 1);
    s->margin = vectors(arena, 1);
    s->certificate = vectors(arena, 1);
    s->good = base_arena_bytes(arena, sizeof *s->good);
}

/* ---- The rows -------------------------------------------------------------------------------- */

/* Rows of length one, and the residuals of the free motion. */
ZW_INLINE zw_mask8 scale_rows(const gauss_problem8 *g, gauss_equal8 *s)
{
    int n = g->n, m = g->m;
    zw_mask8 good = all(0) == all(0);
    for (int e = 0; e < m; e++) {
        zw_real8 square = all(0);
        for (int j = 0; j < n; j++) {
            square += s->X[j * m + e] * s->X[j * m + e];
        }
        zw_real8 length = lane_sqrt8(square);
        good &= length > 0.0;
        s->scale[e] = 1.0 / length;
        for (int j = 0; j < n; j++) {
            s->D[e * n + j] = s->scale[e] * s->X[j * m + e];
        }
        s->c[e] = s->scale[e] * (dot(n, g->A + e * n, s->free) - g->b[e]);
        s->order[e] = all(e);
    }
    return good;
}

ZW_INLINE void swap(zw_mask8 mask, zw_real8 *x, zw_real8 *y)
{
    zw_real8 t = lane_select8(mask, *y, *x);
    *y = lane_select8(mask, *x, *y);
    *x = t;
}

/* Exchanges row k with the row from k on that is farthest from the span so far. */
ZW_INLINE void choose(const gauss_problem8 *g, gauss_equal8 *s, int k)
{
    int n = g->n;
    zw_real8 best = all(k), most = s->square[k];
    for (int i = k + 1; i < g->m; i++) {
        zw_mask8 farther = s->square[i] > most;
        best = lane_select8(farther, all(i), best);
        most = lane_select8(farther, s->square[i], most);
    }
    for (int i = k + 1; i < g->m; i++) {
        zw_mask8 mask = best == all(i);
        if (!lane_any8(mask)) {
            continue;
        }
        for (int j = 0; j < n; j++) {
            swap(mask, &s->D[i * n + j], &s->D[k * n + j]);
        }
        swap(mask, &s->order[i], &s->order[k]);
        swap(mask, &s->c[i], &s->c[k]);
        swap(mask, &s->square[i], &s->square[k]);
        swap(mask, &s->exact[i], &s->exact[k]);
    }
}

/* lq_reflect of row k, from column k on. */
ZW_INLINE zw_real8 reflect(const gauss_problem8 *g, gauss_equal8 *s, int k)
{
    int n = g->n, rest = n - k - 1;
    zw_real8 *x = s->D + k * n + k, tail = rest > 0 ? dot(rest, x + 1, x + 1) : all(0);
    zw_real8 first = all(0);
    for (int i = g->m - 1; i >= k; i--) {
        zw_real8 entry = s->D[i * n + k];
        first = lane_select8(entry == 0.0, first, entry);
    }
    zw_mask8 none = tail == 0.0;
    zw_real8 norm = lane_sqrt8(x[0] * x[0] + tail);
    zw_real8 alpha = lane_select8(first > 0.0, -norm, norm), v0 = x[0] - alpha;
    zw_real8 inverse = lane_select8(none, all(1), 1.0 / v0);
    for (int j = 1; j <= rest; j++) {
        x[j] *= inverse;
    }
    x[0] = lane_select8(none, x[0], alpha);
    return lane_select8(none, all(0), -v0 / alpha);
}

/* lq_apply_one, or of `four` rows. */
ZW_INLINE void apply(int n, zw_real8 beta, const zw_real8 *v, zw_real8 *x, int four)
{
    zw_real8 t = beta * (x[0] + sum_of_products(n - 1, v + 1, x + 1, four));
    x[0] -= t;
    for (int j = 1; j < n; j++) {
        x[j] += -t * v[j];
    }
}

/* lq_downdate. */
ZW_INLINE void shorten(const gauss_problem8 *g, gauss_equal8 *s, int k)
{
    int n = g->n;
    for (int i = k; i < g->m; i++) {
        const zw_real8 *row = s->D + i * n + k;
        s->square[i] -= row[-1] * row[-1];
        zw_mask8 lost = ~(s->square[i] > 1e-6 * s->exact[i]);
        if (lane_any8(lost)) {
            zw_real8 anew = dot(n - k, row, row);
            s->square[i] = lane_select8(lost, anew, s->square[i]);
            s->exact[i] = lane_select8(lost, anew, s->exact[i]);
        }
    }
}

/* D = [L 0] Q', where all rows are independent: dense_lq. */
ZW_INLINE zw_mask8 factor_rows(const gauss_problem8 *g, gauss_equal8 *s)
{
    int n = g->n, m = g->m;
    zw_mask8 good = all(0) == all(0);
    for (int i = 0; i < m; i++) {
        s->square[i] = s->exact[i] = dot(n, s->D + i * n, s->D + i * n);
    }
    for (int k = 0; k < m; k++) {
        choose(g, s, k);
        good &= s->square[k] > g->rank_floor * g->rank_floor;
        s->beta[k] = reflect(g, s, k);
        int fours = k + 1 + (m - k - 1) / 4 * 4;
        for (int i = k + 1; i < m; i++) {
            apply(n - k, s->beta[k], s->D + k * n + k, s->D + i * n + k, i < fours);
        }
        if (k + 1 < m) {
            shorten(g, s, k + 1);
        }
    }
    zw_real8 last = s->D[(m - 1) * n + m - 1];
    *s->independence = lane_size8(last);
    return good;
}

/* equality.c: margin. */
ZW_INLINE zw_real8 margin(const gauss_problem8 *g, gauss_equal8 *s)
{
    zw_real8 *x = s->r, sum = all(0);
    for (int j = 0; j < g->m; j++) {
        for (int i = j; i < g->m; i++) {
            const zw_real8 *row = s->D + i * g->n;
            zw_real8 known = i > j ? dot(i - j, row + j, x + j) : all(0);
            x[i] = ((double)(i == j) - known) / row[i];
            sum += x[i] * x[i];
        }
    }
    return lane_sqrt8((double)g->m / sum);
}

/* ---- The answer ------------------------------------------------------------------------------ */

ZW_INLINE void find_motion(const gauss_problem8 *g, gauss_equal8 *s)
{
    int n = g->n, m = g->m;
    for (int k = 0; k < m; k++) { /* L z = -c */
        const zw_real8 *row = s->D + k * n;
        s->z[k] = (-s->c[k] - dot(k, row, s->z)) / row[k];
    }
    for (int j = 0; j < n; j++) {
        s->x[j] = j < m ? s->z[j] : all(0);
    }
    for (int k = m - 1; k >= 0; k--) {
        apply(n - k, s->beta[k], s->D + k * n + k, s->x + k, 0);
    }
    solve_upper(g, s->U, s->x);
    for (int j = 0; j < n; j++) {
        s->a[j] = s->free[j] + s->x[j];
    }
}

/* lambda += scale r, L' r = g. */
ZW_INLINE void push_more(const gauss_problem8 *g, gauss_equal8 *s, const zw_real8 *from)
{
    int m = g->m;
    zw_real8 *r = s->r;
    for (int k = 0; k < m; k++) {
        r[k] = from[k];
    }
    for (int k = m - 1; k >= 0; k--) {
        const zw_real8 *row = s->D + k * g->n;
        r[k] /= row[k];
        for (int j = 0; j < k; j++) {
            r[j] += -r[k] * row[j];
        }
    }
    for (int e = 0; e < m; e++) {
        zw_real8 mine = all(0);
        for (int k = 0; k < m; k++) {
            mine = lane_select8(s->order[k] == all(e), 0.0 + r[k], mine);
        }
        s->pushed[e] = mine * s->scale[e];
    }
}

/* ---- The certificate ------------------------------------------------------------------------- */

/* The residual of the equation of motion, and R: certify_forces. */
ZW_INLINE zw_real8 weigh_forces(const gauss_problem8 *g, gauss_equal8 *s)
{
    int n = g->n, m = g->m;
    zw_real8 R = all(0), applied = all(0);
    multiply(g, s->a, s->rest);
    for (int j = 0; j < n; j++) {
        zw_real8 f = g->force ? g->force[j] : all(0);
        s->unit[j] = lane_sqrt8(g->M[g->diagonal ? j : j * n + j]);
        s->inverse[j] = 1.0 / s->unit[j];
        s->rest[j] -= f;
        R = larger(R, lane_size8(s->rest[j]) * s->inverse[j]);
        applied = larger(applied,
                         larger(lane_size8(f) * s->inverse[j], lane_size8(s->a[j]) * s->unit[j]));
        s->still[j] = f / (s->unit[j] * s->unit[j]);
        s->push[j] = s->sizes[j] = all(0);
        for (int i = 0; i < m; i++) {
            zw_real8 part = s->lambda[i] * g->A[i * n + j];
            s->push[j] += part;
            s->sizes[j] += lane_size8(part);
        }
        s->rest[j] -= s->push[j];
    }
    R += GAUSS_SCALE_FLOOR * applied;
    return lane_select8(R > 0.0, R, all(1));
}

/* Residuals of the rows in their units, and V: certify_rows, certify_size. */
ZW_INLINE zw_real8 weigh_rows(const gauss_problem8 *g, gauss_equal8 *s, zw_real8 R)
{
    int n = g->n;
    zw_real8 V = all(0);
    for (int i = 0; i < g->m; i++) {
        const zw_real8 *row = g->A + i * n;
        zw_real8 now[8] = {{0}}, size[8] = {{0}}, before[8] = {{0}}, square[8] = {{0}};
        for (int j = 0; j < n; j++) {
            int k = part_of(j, n, 0);
            zw_real8 product = row[j] * s->a[j], scaled = row[j] * s->inverse[j];
            now[k] += product;
            size[k] += lane_size8(product);
            before[k] += row[j] * s->still[j];
            square[k] += scaled * scaled;
        }
        zw_real8 length = add_up(square);
        zw_real8 scale = lane_select8(length > 0.0, 1.0 / lane_sqrt8(length), all(1));
        s->w[i] = scale * (add_up(now) - g->b[i]);
        zw_real8 carried = scale * (add_up(size) + lane_size8(g->b[i]));
        zw_real8 violation = lane_size8(scale * (add_up(before) - g->b[i]));
        zw_real8 left = lane_size8(s->w[i]);
        zw_mask8 pushes = lane_size8(s->lambda[i] / scale) > GAUSS_PUSHES * R;
        zw_real8 concern = larger(violation, lane_select8(pushes, left, all(0))) +
                           GAUSS_SCALE_FLOOR * larger(carried, R);
        zw_mask8 idle = ~pushes & (violation == 0.0) & (left == 0.0);
        V = larger(V, lane_select8(idle, all(0), concern));
    }
    return lane_select8(V > 0.0, V, all(1));
}

ZW_INLINE void certify(const gauss_problem8 *g, gauss_equal8 *s)
{
    zw_real8 R = weigh_forces(g, s), V = weigh_rows(g, s, R), worst = all(0);
    for (int j = 0; j < g->n; j++) {
        zw_real8 size = s->unit[j] * R, granted = GAUSS_GRANTED * s->sizes[j],
                 most = GAUSS_GRANTED_MOST * size;
        granted = lane_select8(granted < most, granted, most);
        zw_real8 rest = lane_size8(s->rest[j]) - granted;
        worst = larger(worst, lane_select8(rest > 0.0, rest, all(0)) / size);
    }
    for (int i = 0; i < g->m; i++) {
        worst = larger(worst, lane_size8(s->w[i]) / V);
    }
    *s->certificate = worst;
}

/* ---- Refinement: refine.c -------------------------------------------------------------------- */

/* L dz = -w, w being what the answer leaves of the rows. */
ZW_INLINE void find_change(const gauss_problem8 *g, gauss_equal8 *s)
{
    int n = g->n, m = g->m;
    for (int e = 0; e < m; e++) {
        s->w[e] = s->scale[e] * (dot(n, g->A + e * n, s->a) - g->b[e]);
    }
    for (int k = 0; k < m; k++) {
        zw_real8 mine = all(0);
        for (int e = 0; e < m; e++) {
            mine = lane_select8(s->order[k] == all(e), s->w[e], mine);
        }
        s->z[k] = (-mine - dot(k, s->D + k * n, s->z)) / s->D[k * n + k];
    }
}

/* x = Q' (U' \ (M a - f - A' lambda)) */
ZW_INLINE void find_defect(const gauss_problem8 *g, gauss_equal8 *s)
{
    int n = g->n, m = g->m;
    multiply(g, s->a, s->x);
    for (int j = 0; j < n; j++) {
        s->x[j] -= (g->force ? g->force[j] : all(0)) + 0.0;
        for (int i = 0; i < m; i++) {
            zw_real8 more = s->x[j] + -s->lambda[i] * g->A[i * n + j];
            s->x[j] = lane_select8(s->lambda[i] == 0.0, s->x[j], more);
        }
    }
    solve_lower(g, s->U, s->x);
    for (int k = 0; k < m; k++) {
        apply(n - k, s->beta[k], s->D + k * n + k, s->x + k, 0);
    }
}

ZW_INLINE void correct(const gauss_problem8 *g, gauss_equal8 *s)
{
    int n = g->n, m = g->m;
    find_change(g, s);
    find_defect(g, s);
    for (int k = 0; k < n; k++) {
        if (k < m) {
            s->c[k] = s->z[k] + s->x[k];
        }
        s->x[k] = k < m ? s->z[k] : -s->x[k];
    }
    push_more(g, s, s->c);
    for (int e = 0; e < m; e++) {
        s->lambda[e] += s->pushed[e];
    }
    for (int k = m - 1; k >= 0; k--) {
        apply(n - k, s->beta[k], s->D + k * n + k, s->x + k, 0);
    }
    solve_upper(g, s->U, s->x);
    for (int j = 0; j < n; j++) {
        s->a[j] += s->x[j];
    }
}

/* Stores the solution as the best so far in these lanes; or restores the best. */
ZW_INLINE void keep(const gauss_problem8 *g, gauss_equal8 *s, zw_mask8 mask, int back)
{
    for (int j = 0; j < g->n; j++) {
        zw_real8 *a = back ? s->a : s->best_a, *push = back ? s->push : s->best_push;
        a[j] = lane_select8(mask, back ? s->best_a[j] : s->a[j], a[j]);
        push[j] = lane_select8(mask, back ? s->best_push[j] : s->push[j], push[j]);
    }
    for (int i = 0; i < g->m; i++) {
        zw_real8 *lambda = back ? s->lambda : s->best_lambda;
        lambda[i] = lane_select8(mask, back ? s->best_lambda[i] : s->lambda[i], lambda[i]);
    }
}

ZW_INLINE void refine(const gauss_problem8 *g, gauss_equal8 *s)
{
    zw_real8 best = *s->certificate;
    zw_mask8 going = best > GAUSS_SETTLED * GAUSS_SOLVED, every = all(0) == all(0);
    if (!lane_any8(going)) {
        return;
    }
    keep(g, s, every, 0);
    for (int k = 0; k < CORRECTIONS && lane_any8(going); k++) {
        correct(g, s);
        certify(g, s);
        zw_real8 now = *s->certificate;
        zw_mask8 helps = now < 0.9 * best, better = going & (now < best);
        keep(g, s, better, 0);
        best = lane_select8(better, now, best);
        going &= helps & (best > GAUSS_SETTLED * GAUSS_SOLVED);
    }
    keep(g, s, every, 1);
    *s->certificate = best;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* check.c: no number beyond the kernel's limit. */
ZW_INLINE zw_mask8 usable(int count, const zw_real8 *x)
{
    zw_mask8 good = all(0) == all(0);
    for (int i = 0; i < count; i++) {
        good &= lane_size8(x[i]) <= GAUSS_HUGE;
    }
    return good;
}

ZW_CLONES void gauss_equal8_solve(const gauss_problem8 *g, gauss_equal8 *s)
{
    int n = g->n, m = g->m;
    zw_mask8 good = usable(g->diagonal ? n : n * n, g->M) & usable(m * n, g->A) & usable(m, g->b);
    good &= factor(g, s->U);
    for (int j = 0; j < n; j++) {
        s->free[j] = g->force ? g->force[j] : all(0);
    }
    if (g->force) {
        good &= usable(n, g->force);
        solve_lower(g, s->U, s->free);
        solve_upper(g, s->U, s->free);
    }
    solve_rows(g, s->U, s->X);
    good &= scale_rows(g, s);
    good &= factor_rows(g, s);
    *s->margin = g->measures ? margin(g, s) : *s->independence;
    find_motion(g, s);
    push_more(g, s, s->z);
    for (int e = 0; e < m; e++) {
        s->lambda[e] = s->pushed[e];
    }
    certify(g, s);
    refine(g, s);
    *s->good = good & (*s->certificate <= GAUSS_SOLVED);
    for (int j = 0; j < n; j++) {
        *s->good &= s->a[j] * 0.0 == 0.0;
    }
}
