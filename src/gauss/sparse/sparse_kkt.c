/* K: products, rows active and inactive, factor, solve.
 *
 * The factors are those of K plus small changes (replaced pivots, `soft` on the diagonal of a
 * singular M, SPARSE_FIRM on nearly dependent rows), so a solution is refined with K itself: plain
 * correction steps as long as they gain a digit each, else GMRES with the factors as
 * preconditioner, which needs one step for each eigenvalue that the changes have moved. */
#include <math.h>
#include <string.h>

#include "gauss/sparse/sparse_kkt.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"
#include "math/sparse/sparse.h"

void sparse_rows_times(const gauss_sparse *s, const double *x, double *w)
{
    const double *base = s->base;
    for (int p = 0; p < s->me; p++) {
        double sum = 0.0;
        for (int k = s->start[s->n + p] + 1; k < s->start[s->n + p + 1]; k++) {
            sum += base[k] * x[s->row[k]];
        }
        w[p] = sum;
    }
}

void sparse_rows_force(const gauss_sparse *s, const double *r, double *y)
{
    const double *base = s->base;
    memset(y, 0, (size_t)s->n * sizeof *y);
    for (int p = 0; p < s->me; p++) {
        for (int k = s->start[s->n + p] + 1; k < s->start[s->n + p + 1] && r[p] != 0.0; k++) {
            y[s->row[k]] += base[k] * r[p];
        }
    }
}

void sparse_metric_times(const gauss_sparse *s, const double *x, double *y)
{
    sparse_multiply(s->n, s->start, s->row, s->value, x, y);
}

void sparse_kkt_row(gauss_sparse *s, int p, const double *row, double E)
{
    int begin = s->start[s->n + p], end = s->start[s->n + p + 1];
    s->value[begin] = -E;
    memcpy(s->value + begin + 1, row, (size_t)(end - begin - 1) * sizeof *row);
}

void sparse_kkt_row_off(gauss_sparse *s, int p)
{
    int begin = s->start[s->n + p], end = s->start[s->n + p + 1];
    memset(s->value + begin, 0, (size_t)(end - begin) * sizeof *s->value);
    s->value[begin] = -1.0;
}

int sparse_kkt_factor(zw_gauss_work *work, gauss_sparse *s)
{
    double *kept = s->step;
    for (int j = 0; j < s->n + s->me; j++) {
        kept[j] = s->value[s->start[j]];
        s->value[s->start[j]] += j < s->n                                           ? s->soft
                                 : j >= s->n && (s->sure[j - s->n] == 2 || s->firm) ? -SPARSE_FIRM
                                                                                    : 0.0;
    }
    s->replaced = sparse_ldl_factor(s->ldl, s->value, s->firm ? SPARSE_FIRM : GAUSS_PIVOT_FLOOR);
    for (int j = 0; j < s->n + s->me; j++) {
        s->value[s->start[j]] = kept[j];
    }
    work->core.factorizations++;
    return s->replaced >= 0;
}

/* res = rhs - K sol; returns its largest entry. */
static double residual(const gauss_sparse *s, const double *rhs, const double *sol, double *res)
{
    sparse_multiply(s->N, s->start, s->row, s->value, sol, res);
    for (int i = 0; i < s->N; i++) {
        res[i] = rhs[i] - res[i];
    }
    return dense_largest(s->N, res);
}

/* The least-squares weights of the Krylov basis: R y = g after the rotations. */
typedef struct krylov_fit {
    double H[SPARSE_KRYLOV + 1][SPARSE_KRYLOV];
    double cosine[SPARSE_KRYLOV], sine[SPARSE_KRYLOV], g[SPARSE_KRYLOV + 1];
} krylov_fit;

/* Rotate column j of H to upper triangular form; returns the remaining residual. */
static double fit_rotate(krylov_fit *fit, int j)
{
    for (int i = 0; i < j; i++) {
        double a = fit->H[i][j], b = fit->H[i + 1][j];
        fit->H[i][j] = fit->cosine[i] * a + fit->sine[i] * b;
        fit->H[i + 1][j] = -fit->sine[i] * a + fit->cosine[i] * b;
    }
    double a = fit->H[j][j], b = fit->H[j + 1][j], length = sqrt(a * a + b * b);
    fit->cosine[j] = length > 0.0 ? a / length : 1.0;
    fit->sine[j] = length > 0.0 ? b / length : 0.0;
    fit->H[j][j] = length;
    fit->g[j + 1] = -fit->sine[j] * fit->g[j];
    fit->g[j] *= fit->cosine[j];
    return fabs(fit->g[j + 1]);
}

static void fit_finish(krylov_fit *fit, int count, double *y)
{
    for (int i = count - 1; i >= 0; i--) {
        y[i] = fit->g[i];
        for (int k = i + 1; k < count; k++) {
            y[i] -= fit->H[i][k] * y[k];
        }
        y[i] = fit->H[i][i] > 0.0 ? y[i] / fit->H[i][i] : 0.0;
    }
}

/* sol += the best correction in the Krylov space of K (LDL')^-1 from the residual res. */
static void krylov_correct(gauss_sparse *s, double *sol, double aim)
{
    krylov_fit fit = {0};
    size_t N = (size_t)s->N;
    double *Z = s->krylov + (size_t)(SPARSE_KRYLOV + 1) * N, y[SPARSE_KRYLOV];
    int count = 0;
    memcpy(s->krylov, s->res, N * sizeof(double));
    fit.g[0] = dense_norm(s->N, s->krylov);
    if (!(fit.g[0] > 0.0) || !isfinite(fit.g[0])) {
        return;
    }
    dense_scale(s->N, 1.0 / fit.g[0], s->krylov);
    for (int j = 0; j < SPARSE_KRYLOV; j++) {
        double *z = Z + (size_t)j * N, *next = s->krylov + (size_t)(j + 1) * N;
        memcpy(z, s->krylov + (size_t)j * N, N * sizeof(double));
        sparse_ldl_solve(s->ldl, z);
        sparse_multiply(s->N, s->start, s->row, s->value, z, next);
        for (int i = 0; i < 2 * (j + 1); i++) { /* orthogonalise twice, for round-off */
            const double *u = s->krylov + (size_t)(i % (j + 1)) * N;
            double t = dense_dot(s->N, u, next);
            fit.H[i % (j + 1)][j] += t;
            dense_axpy(s->N, -t, u, next);
        }
        fit.H[j + 1][j] = dense_norm(s->N, next);
        count = j + 1;
        double left = fit.H[j + 1][j];
        if (fit_rotate(&fit, j) <= aim || !(left > 0.0)) {
            break;
        }
        dense_scale(s->N, 1.0 / left, next);
    }
    fit_finish(&fit, count, y);
    for (int j = 0; j < count; j++) {
        dense_axpy(s->N, y[j], Z + (size_t)j * N, sol);
    }
}

double sparse_kkt_solve(gauss_sparse *s, const double *rhs, double *sol)
{
    size_t bytes = (size_t)s->N * sizeof(double);
    double size = dense_largest(s->N, rhs), left = size, *trial = s->step;
    memset(sol, 0, bytes);
    memcpy(s->res, rhs, bytes);
    for (int k = 0; k < 12 && left > 0.0; k++) {
        double before = left;
        int slow = 0;
        memcpy(trial, s->res, bytes);
        sparse_ldl_solve(s->ldl, trial);
        for (int i = 0; i < s->N; i++) {
            trial[i] += sol[i];
        }
        left = residual(s, rhs, trial, s->res);
        if (left < before) {
            memcpy(sol, trial, bytes);
        } else {
            left = before;
            residual(s, rhs, sol, s->res);
            slow = 1;
        }
        if (k > 0 && left <= 4e-16 * size) {
            break;
        }
        if (slow || left > 0.1 * before) {
            if (left <= 1e-14 * size) {
                break;
            }
            memcpy(trial, sol, bytes);
            krylov_correct(s, trial, 1e-16 * size);
            double after = residual(s, rhs, trial, s->res);
            if (!(after < 0.5 * left)) {
                residual(s, rhs, sol, s->res);
                break;
            }
            memcpy(sol, trial, bytes);
            left = after;
        }
    }
    return size > 0.0 ? left / size : 0.0;
}
