/* Anderson's acceleration of a map r -> g(r) whose fixed points are the solutions: a sweep over all
 * contacts, forwards and backwards (sparse_prox_sweep.c), or a step of the method of multipliers
 * (sparse_prox_newton.c). Alone they converge like Gauss-Seidel sweeps and like the method of
 * multipliers: fast where contacts are few or the weight is large, slowly where loads are
 * transmitted over long distances. With the differences of the last ones,
 *
 *     f = g(r) - r,     least |f - sum_k c_k df_k|,     r <- g - sum_k c_k dg_k,
 *
 * the next one begins where f would vanish if g were linear (D. G. Anderson, Iterative procedures
 * for nonlinear integral equations, J. ACM 12 (1965) 547-560), which g is as long as no contact
 * opens, closes or begins to slide: then this is GMRES with short memory (H. Walker, P. Ni, SIAM J.
 * Numer. Anal. 49 (2011) 1715-1735). r may leave its cones; the map leads back. Where f grows, the
 * differences belong to contacts whose modes have changed, and are dropped: combinations of them
 * also hold up what only the map itself achieves, forces that grow step by step until something
 * slides. The motion is linear in r and is combined like it. */
#include "gauss/contact/sparse_prox_inner.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

void many_anderson_begin(many_anderson *a, const many_table *t)
{
    many_anderson_forget(a);
    a->size = HUGE_VAL;
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        for (int i = 0; i < u->d; i++) {
            double weight = i > 0 ? u->tangent : u->normal;
            a->unit[u->first + i] = weight > 0 ? 1 / sqrt(weight) : 0;
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

void many_anderson_forget(many_anderson *a)
{
    a->kept = a->newest = a->known = 0;
}

/* The Gram matrix of the differences = L L'; differences that are only round-off relative to the
 * others are left out. */
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
        out[i] = !(left > DBL_EPSILON * a->gram[i][i]);
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

/* f, and the differences to the last one. */
static void note(many_anderson *a, const many_table *t, const double *g, const double *y)
{
    int rows = t->rows, n = t->n;
    int to = a->kept < MANY_KEPT ? a->kept : (a->newest + 1) % MANY_KEPT;
    double *df = a->df[to], *dg = a->dg[to], *dy = a->dy[to];
    for (int i = 0; i < rows; i++) {
        double f = (g[i] - a->r[i]) * a->unit[i];
        df[i] = f - a->f[i];
        dg[i] = g[i] - a->g[i];
        a->f[i] = f;
        a->g[i] = g[i];
    }
    for (int j = 0; j < n; j++) {
        dy[j] = y[j] - a->y[j];
        a->y[j] = y[j];
    }
    double size = sqrt(product(rows, a->f, a->f));
    if (!(size <= a->size)) {
        many_anderson_forget(a);
    }
    a->size = size;
    if (a->known) {
        a->newest = to;
        a->kept += a->kept < MANY_KEPT;
    }
    a->known = 1;
}

void many_anderson_mix(many_anderson *a, const many_table *t, const double *g, const double *y)
{
    double c[MANY_KEPT];
    note(a, t, g, y);
    memcpy(a->r, g, (size_t)t->rows * sizeof *c);
    memcpy(a->x, y, (size_t)t->n * sizeof *c);
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
}
