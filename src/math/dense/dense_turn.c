/* Jacobi's rotations, which make a symmetric matrix diagonal. */
#include <math.h>

#include "math/dense/dense.h"

/* Columns p and q of M. */
static void turn_columns(double *M, int n, int p, int q, double c, double s)
{
    for (double *row = M; row < M + n * n; row += n) {
        double x = row[p], y = row[q];
        row[p] = c * x - s * y;
        row[q] = s * x + c * y;
    }
}

void dense_turn(double *A, double *V, int n, int p, int q)
{
    double apq = A[p * n + q];
    if (apq == 0) {
        return;
    }
    double way = (A[q * n + q] - A[p * n + p]) / (2 * apq);
    double t = (way >= 0 ? 1 : -1) / (fabs(way) + sqrt(1 + way * way));
    double c = 1 / sqrt(1 + t * t), s = t * c;
    turn_columns(A, n, p, q, c, s);
    turn_columns(V, n, p, q, c, s);
    for (int k = 0; k < n; k++) {
        double x = A[p * n + k], y = A[q * n + k];
        A[p * n + k] = c * x - s * y;
        A[q * n + k] = s * x + c * y;
    }
    A[p * n + q] = A[q * n + p] = 0;
}
