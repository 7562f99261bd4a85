/* Random metrics. */
#include <math.h>

#include "random.h"

/* M = H M H for the diagonal block of `size` at `at`, H = I - 2 v v' a random reflection. */
static void reflect(growth *g, int at, int size)
{
    double v[64], p[64], length = 0, s = 0;
    int n = g->d->n;
    for (int i = 0; i < size; i++) {
        v[i] = dice_bell(&g->dice);
        length += v[i] * v[i];
    }
    length = sqrt(length);
    for (int i = 0; i < size; i++)
        v[i] /= length;

    double *M = g->d->M + at * n + at;
    for (int i = 0; i < size; i++) {
        p[i] = 0;
        for (int j = 0; j < size; j++)
            p[i] += M[i * n + j] * v[j];
        s += v[i] * p[i];
    }
    for (int i = 0; i < size; i++) {
        for (int j = 0; j <= i; j++) {
            M[i * n + j] += 4 * s * v[i] * v[j] - 2 * (v[i] * p[j] + p[i] * v[j]);
            M[j * n + i] = M[i * n + j];
        }
    }
}

/* A dense symmetric block with eigenvalues mass * 10^(-spread .. spread), both ends taken. */
static void dense_part(growth *g, int at, int size, double mass, double spread)
{
    int n = g->d->n;
    for (int i = 0; i < size; i++) {
        double x = dice_between(&g->dice, -spread, spread);
        if (size > 1 && i < 2)
            x = i == 0 ? -spread : spread;
        g->d->M[(at + i) * n + at + i] = mass * power_of_ten(x);
    }
    for (int i = 0; i < 4 && size > 1; i++)
        reflect(g, at, size);
}

/* Masses on the diagonal, and links between neighbours: M += w (e_i + x e_j)(e_i + x e_j)'. */
static void sparse_metric(growth *g, double spread)
{
    int n = g->d->n;
    double *M = g->d->M;
    for (int i = 0; i < n; i++)
        M[i * n + i] = dice_power(&g->dice, -spread, spread);
    for (int i = 1; i < n; i++) {
        int j = dice_chance(&g->dice, 0.7) ? i - 1 : dice_int(&g->dice, 0, i - 1);
        double w = dice_power(&g->dice, -spread, spread), x = dice_bell(&g->dice);
        M[i * n + i] += w;
        M[j * n + j] += w * x * x;
        M[i * n + j] += w * x;
        M[j * n + i] += w * x;
    }
}

void random_metric(growth *g, zw_metric_kind kind)
{
    draft *d = g->d;
    int n = d->n;
    double hard = g->want.difficulty;

    if (kind == ZW_METRIC_DENSE) {
        dense_part(g, 0, n, dice_power(&g->dice, -1, 1), 4 * hard);
    } else if (kind == ZW_METRIC_SPARSE) {
        sparse_metric(g, 3 * hard);
    } else if (kind == ZW_METRIC_BLOCKS) {
        for (int at = 0; at < n; at += d->part[d->parts++]) {
            int size = dice_int(&g->dice, 1, 6);
            if (size > n - at)
                size = n - at;
            d->part[d->parts] = size;
            dense_part(g, at, size, dice_power(&g->dice, -3 * hard, 3 * hard), hard);
        }
    } else {
        for (int i = 0; i < n; i++)
            d->M[i * n + i] =
                kind == ZW_METRIC_IDENTITY ? 1.0 : dice_power(&g->dice, -3 * hard, 3 * hard);
    }
}

void random_massless(growth *g)
{
    draft *d = g->d;
    int n = d->n, count = dice_int(&g->dice, 1, n < 6 ? 1 : 3);
    int block = draft_block(d, ZW_EQUALITY, count, "massless");
    int step = n / count;

    for (int k = 0; k < count; k++) {
        int row = d->first[block] + k, c = k * step;
        random_row_fresh(g, row);
        for (int i = 0; i < n; i++)
            d->M[i * n + c] = d->M[c * n + i] = 0;
        for (int i = 0; i < count; i++)
            draft_row(d, row)[i * step] = 0;
        draft_row(d, row)[c] = dice_between(&g->dice, 1, 2);

        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += draft_row(d, row)[j] * d->witness[j];
        g->at[row] = d->b[row] = sum;
    }
}
