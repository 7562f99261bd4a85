/* The null vectors of dependent equality rows: names as users expect them, and least norms.
 *
 * A dependent row e is a combination y of the active rows, A' y = row e, which K gives: with
 * M x + A' y = row e and A x = 0, x vanishes. Users expect that of dependent rows the later ones
 * are called redundant, while the elimination has its own order. Row e follows from earlier rows
 * exactly if some null vector has its last entry at e. So the null vectors are brought to echelon
 * form from the last row down: the pivots are the redundant rows, and each vector is the one
 * combination of irredundant rows (a circuit) that gives its pivot: if the right-hand sides
 * disagree, a minimal conflict.
 *
 * In the user's units, orthonormal: subtracting them from multipliers gives the least norm. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "gauss/sparse/sparse_kkt.h"
#include "math/dense/dense.h"

/* An entry below this, of a null vector whose largest is 1, is round-off. */
static const double ENTRY_FLOOR = 1e-8;

/* y of dependent row e; returns the distance of the row from the span of the active rows, relative
 * to the largest term of the combination. */
static double null_vector(gauss_sparse *s, int e, double *y)
{
    memset(s->rhs, 0, (size_t)s->N * sizeof(double));
    for (int k = s->start[s->n + e] + 1; k < s->start[s->n + e + 1]; k++) {
        s->rhs[s->row[k]] = s->base[k];
    }
    sparse_kkt_solve(s, s->rhs, s->sol);
    memcpy(y, s->sol + s->n, (size_t)s->me * sizeof *y);
    y[e] = -1.0;
    memset(s->v[0], 0, (size_t)s->me * sizeof(double));
    memcpy(s->v[0], y, (size_t)s->me * sizeof(double));
    sparse_rows_force(s, s->v[0], s->y[0]);
    double distance = dense_norm(s->n, s->y[0]);
    double largest = dense_largest(s->me, y);
    dense_scale(s->me, 1.0 / largest, y);
    return distance / fmax(1.0, largest);
}

static void exchange(double *a, double *b, int count)
{
    for (int i = 0; i < count; i++) {
        double t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

/* Vector k has its last entry at e: normalise, and clear e in all others. */
static void clear_column(gauss_sparse *s, int k, int e)
{
    double *pivot = s->circuit + (long)k * s->me;
    for (int i = 0; i < s->null_count; i++) {
        double *y = s->circuit + (long)i * s->me;
        if (i != k && y[e] != 0.0) {
            dense_axpy(s->me, -y[e] / pivot[e], pivot, y);
            y[e] = 0.0;
        }
    }
    s->circuit_row[k] = e;
}

static void to_echelon(gauss_sparse *s)
{
    int k = 0;
    for (int e = s->me - 1; e >= 0 && k < s->null_count; e--) {
        int best = -1;
        double largest = ENTRY_FLOOR;
        for (int i = k; i < s->null_count; i++) {
            const double *y = s->circuit + (long)i * s->me;
            double entry = fabs(y[e]) / fmax(dense_largest(s->me, y), DBL_MIN);
            if (entry > largest) {
                largest = entry;
                best = i;
            }
        }
        if (best >= 0) {
            exchange(s->circuit + (long)best * s->me, s->circuit + (long)k * s->me, s->me);
            clear_column(s, k++, e);
        }
    }
    s->null_count = k;
}

static void orthonormalise(gauss_sparse *s)
{
    for (int k = 0; k < s->null_count; k++) {
        double *u = s->null + (long)k * s->me;
        for (int e = 0; e < s->me; e++) {
            u[e] = s->circuit[(long)k * s->me + e] * s->weight[e];
        }
        double size = dense_norm(s->me, u);
        dense_scale(s->me, size > 0.0 ? 1.0 / size : 0.0, u);
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < k; i++) {
                const double *v = s->null + (long)i * s->me;
                dense_axpy(s->me, -dense_dot(s->me, v, u), v, u);
            }
        }
        size = dense_norm(s->me, u);
        dense_scale(s->me, size > 0.0 ? 1.0 / size : 0.0, u);
    }
}

int sparse_null_find(gauss_sparse *s)
{
    int k = 0, back = 0;
    for (int e = 0; e < s->me; e++) {
        if (s->twin[e] < 0 &&
            null_vector(s, e, s->circuit + (long)(k++) * s->me) > SPARSE_DISTANCE_FLOOR) {
            s->off[e] = 0;
            s->twin[e] = e;
            s->sure[e] = 1;
            back++;
        }
    }
    if (back == 0) {
        to_echelon(s);
        orthonormalise(s);
    }
    return back;
}
