#include "path/fit/basis.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/dense/dense.h"

int basis_create(path_basis *basis, int samples)
{
    *basis = (path_basis){.capacity = samples};
    basis->x = base_alloc((size_t)samples * (BASIS_MOST + 1) * sizeof(double));
    if (!basis->x) {
        return 0;
    }
    basis->p = basis->x + samples;
    return 1;
}

void basis_free(path_basis *basis)
{
    base_free(basis->x);
    basis->x = basis->p = NULL;
}

/* Computes polynomial k from x times polynomial k - 1; returns 0 if it is a linear combination of
 * those before it. */
static int next(path_basis *basis, int k)
{
    int samples = basis->samples;
    double *p = basis->p + (size_t)k * (size_t)samples, *turn = basis->turn[k - 1];
    const double *before = p - samples;
    memset(turn, 0, sizeof basis->turn[0]);
    for (int i = 0; i < samples; i++) {
        p[i] = basis->x[i] * before[i];
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < k; j++) {
            const double *other = basis->p + (size_t)j * (size_t)samples;
            double part = dense_dot(samples, other, p);
            dense_axpy(samples, -part, other, p);
            turn[j] += part;
        }
    }
    turn[k] = dense_norm(samples, p);
    basis->low[k - 1] = 0; /* in exact arithmetic k - 2: a three-term recurrence */
    while (basis->low[k - 1] < k - 2 && fabs(turn[basis->low[k - 1]]) < 1e-14) {
        basis->low[k - 1]++;
    }
    if (!(turn[k] > 1e-10)) {
        return 0;
    }
    dense_scale(samples, 1 / turn[k], p);
    return 1;
}

int basis_make(path_basis *basis, int samples, const double *t, int size)
{
    basis->samples = samples;
    basis->middle = 0.5 * (t[0] + t[samples - 1]);
    basis->half = 0.5 * (t[samples - 1] - t[0]);
    for (int i = 0; i < samples; i++) {
        basis->x[i] = samples > 1 ? (t[i] - basis->middle) / basis->half : 0;
        basis->p[i] = 1 / sqrt(samples);
    }
    basis->size = 1;
    while (basis->size < size && basis->size < samples && basis->size < BASIS_MOST &&
           next(basis, basis->size)) {
        basis->size++;
    }
    return basis->size;
}

int basis_fits(path_basis *basis, int samples, const double *t)
{
    if (samples != basis->samples || samples < 2) {
        return 0;
    }
    double middle = 0.5 * (t[0] + t[samples - 1]);
    double largest = fmax(fabs(t[0]), fabs(t[samples - 1]));
    double near = 3 * DBL_EPSILON * (largest + fabs(basis->middle));
    for (int i = 0; i < samples; i++) {
        if (!(fabs(t[i] - middle - basis->half * basis->x[i]) <= near)) {
            return 0;
        }
    }
    basis->middle = middle;
    return 1;
}

/* turn[j][j + 1] p_(j+1) = x p_j - sum_(k <= j) turn[j][k] p_k, and the derivatives of
 * that by x. */
void basis_at(const path_basis *basis, int size, double t, double f[3][BASIS_MOST])
{
    double x = (t - basis->middle) / basis->half, rate = 1 / basis->half;
    f[0][0] = 1 / sqrt(basis->samples);
    f[1][0] = f[2][0] = 0;
    for (int j = 0; j + 1 < size; j++) {
        double sum[3] = {x * f[0][j], x * f[1][j] + f[0][j], x * f[2][j] + 2 * f[1][j]};
        for (int k = basis->low[j]; k <= j; k++) {
            for (int d = 0; d < 3; d++) {
                sum[d] -= basis->turn[j][k] * f[d][k];
            }
        }
        for (int d = 0; d < 3; d++) {
            f[d][j + 1] = sum[d] / basis->turn[j][j + 1];
        }
    }
    for (int j = 0; j < size; j++) {
        f[1][j] *= rate;
        f[2][j] *= rate * rate;
    }
}
