/* P J = L U with partial pivoting, for the stiff integrator. */
#include <math.h>

#include "math/dense/dense.h"
#include "math/lane.h"

static void bring_up(int n, int k, double *J, int stride, int *pivot, double floor)
{
    int best = k;
    for (int i = k + 1; i < n; i++) {
        if (fabs(J[(long)i * stride + k]) > fabs(J[(long)best * stride + k])) {
            best = i;
        }
    }
    pivot[k] = best;
    for (int j = 0; j < n && best != k; j++) {
        double t = J[(long)k * stride + j];
        J[(long)k * stride + j] = J[(long)best * stride + j];
        J[(long)best * stride + j] = t;
    }
    double *entry = J + (long)k * stride + k;
    if (fabs(*entry) < floor) {
        *entry = *entry < 0.0 ? -floor : floor;
    }
}

ZW_CLONES void dense_lu(int n, double *J, int stride, int *pivot, double floor)
{
    for (int k = 0; k < n; k++) {
        bring_up(n, k, J, stride, pivot, floor);
        const double *restrict top = J + (long)k * stride;
        double inverse = 1.0 / top[k];
        for (int i = k + 1; i < n; i++) {
            double *restrict row = J + (long)i * stride;
            double f = row[k] *= inverse;
            for (int j = k + 1; j < n; j++) {
                row[j] -= f * top[j];
            }
        }
    }
}

void dense_lu_solve(int n, const double *J, int stride, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++) {
        double t = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = t;
    }
    for (int k = 1; k < n; k++) {
        x[k] -= dense_dot(k, J + (long)k * stride, x);
    }
    dense_solve_upper(n, J, stride, x);
}
