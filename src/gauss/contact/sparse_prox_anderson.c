/* A sweep over all contacts, forwards and backwards, is a map r -> g(r) whose fixed points are the
 * solutions. Alone it converges as Gauss and Seidel's method does: fast where contacts are few,
 * slowly where loads have far to go. With the differences of the last sweeps,
 *
 *     f = g(r) - r,     least |f - sum_k c_k df_k|,     r <- g - sum_k c_k dg_k,
 *
 * the next sweep begins where f would vanish if g were linear (D. G. Anderson, Iterative procedures
 * for nonlinear integral equations, J. ACM 12 (1965) 547-560), which g is as long as nobody opens,
 * closes or begins to slide: then this is GMRES with short memory (H. Walker, P. Ni, SIAM J. Numer.
 * Anal. 49 (2011) 1715-1735). r may leave its cones; the sweep leads back. Where f grows to more
 * than GROWS times what it was, the differences tell of contacts that do something else by now, and
 * are forgotten. The motion is linear in r and is combined like it. */
#include "gauss/contact/sparse_prox_anderson.h"

#include <math.h>
#include <string.h>

#define GROWS 2.0       /* of |f|, in one sweep */
#define DEPENDENT 1e-12 /* of |df|^2 that is no combination of the others */

void many_anderson_lay_out(many_anderson *a, const many_table *t, base_arena *arena)
{
    size_t rows = (size_t)t->rows, n = (size_t)t->n;
    double **by_row[] = {&a->r, &a->g, &a->f, &a->unit};
    for (size_t k = 0; k < sizeof by_row / sizeof *by_row; k++) {
        *by_row[k] = base_arena_doubles(arena, rows);
    }
    a->x = base_arena_doubles(arena, n);
    a->y = base_arena_doubles(arena, n);
    for (int k = 0; k < MANY_KEPT; k++) {
        a->df[k] = base_arena_doubles(arena, rows);
        a->dg[k] = base_arena_doubles(arena, rows);
        a->dy[k] = base_arena_doubles(arena, n);
    }
}

void many_anderson_begin(many_anderson *a, const many_table *t, const double *r)
{
    a->kept = a->newest = a->swept = 0;
    a->size = HUGE_VAL;
    memcpy(a->r, r, (size_t)t->rows * sizeof *r);
    many_motion(t, a->r, a->x);
    memcpy(a->g, a->r, (size_t)t->rows * sizeof *r);
    memcpy(a->y, a->x, (size_t)t->n * sizeof *r);
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        for (int i = 0; i < u->d; i++) {
            a->unit[u->first + i] = sqrt(t->W[2 * k + (i > 0)]);
        }
    }
}

/* In four sums, whose order is fixed. */
static double product(int n, const double *x, const double *y)
{
    double sum[4] = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += x[i + k] * y[i + k];
        }
    }
    for (; i < n; i++) {
        sum[0] += x[i] * y[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void forget(many_anderson *a)
{
    a->kept = a->newest = a->swept = 0;
}

/* The Gram matrix of the differences = L L'; those that depend on others are left out. */
static void factor(const many_anderson *a, double L[MANY_KEPT][MANY_KEPT], int *out)
{
    for (int i = 0; i < a->kept; i++) {
        double left = a->gram[i][i];
        for (int j = 0; j < i; j++) {
            double sum = a->gram[i][j];
            for (int k = 0; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            L[i][j] = out[j] ? 0 : sum / L[j][j];
            left -= L[i][j] * L[i][j];
        }
        out[i] = !(left > DEPENDENT * a->gram[i][i]);
        L[i][i] = out[i] ? 1 : sqrt(left);
    }
}

/* c of least |f - sum c_k df_k|. */
static void combine(many_anderson *a, int rows, double *c)
{
    double L[MANY_KEPT][MANY_KEPT];
    int out[MANY_KEPT] = {0}, n = a->kept;
    for (int i = 0; i < n; i++) {
        double both = product(rows, a->df[a->newest], a->df[i]);
        a->gram[a->newest][i] = a->gram[i][a->newest] = both;
        c[i] = product(rows, a->df[i], a->f);
    }
    factor(a, L, out);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            c[i] -= L[i][k] * c[k];
        }
        c[i] = out[i] ? 0 : c[i] / L[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            c[i] -= out[k] ? 0 : L[k][i] * c[k];
        }
        c[i] = out[i] ? 0 : c[i] / L[i][i];
    }
}

/* g, y and f of a sweep from r; the differences to those of the last one. */
static void sweep(many_anderson *a, const many_table *t)
{
    int rows = t->rows, n = t->n;
    int to = a->kept < MANY_KEPT ? a->kept : (a->newest + 1) % MANY_KEPT;
    double size = 0, *df = a->df[to], *dg = a->dg[to], *dy = a->dy[to];
    memcpy(df, a->f, (size_t)rows * sizeof *df);
    memcpy(dg, a->g, (size_t)rows * sizeof *dg);
    memcpy(dy, a->y, (size_t)n * sizeof *dy);
    memcpy(a->g, a->r, (size_t)rows * sizeof *dg);
    memcpy(a->y, a->x, (size_t)n * sizeof *dy);
    many_sweep(t, a->g, a->y);
    for (int i = 0; i < rows; i++) {
        a->f[i] = (a->g[i] - a->r[i]) * a->unit[i];
        df[i] = a->f[i] - df[i];
        dg[i] = a->g[i] - dg[i];
    }
    size = sqrt(product(rows, a->f, a->f));
    for (int j = 0; j < n; j++) {
        dy[j] = a->y[j] - dy[j];
    }
    if (!(size <= GROWS * a->size)) {
        forget(a);
    }
    a->size = size;
    if (a->swept) {
        a->newest = to;
        a->kept += a->kept < MANY_KEPT;
    }
}

void many_anderson_step(many_anderson *a, const many_table *t)
{
    double c[MANY_KEPT];
    sweep(a, t);
    memcpy(a->r, a->g, (size_t)t->rows * sizeof *c);
    memcpy(a->x, a->y, (size_t)t->n * sizeof *c);
    if (a->kept > 0) {
        combine(a, t->rows, c);
    }
    for (int k = 0; k < a->kept; k++) {
        for (int i = 0; i < t->rows; i++) {
            a->r[i] -= c[k] * a->dg[k][i];
        }
        for (int j = 0; j < t->n; j++) {
            a->x[j] -= c[k] * a->dy[k][j];
        }
    }
    a->swept = 1;
}
