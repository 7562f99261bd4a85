/* Singular values by rotations of columns (Hestenes 1958): each pair of columns is turned until it
 * is orthogonal, over and over. Small values come out with their own relative accuracy if the
 * columns were scaled to one length (Demmel and Veselic 1992). */
#include <math.h>
#include <string.h>

#include "look/fit/fit.h"

static void turn(long rows, int n, double *A, int j, int k, double c, double s)
{
    for (long i = 0; i < rows; i++) {
        double *row = A + (size_t)i * (size_t)n, x = row[j], y = row[k];
        row[j] = c * x - s * y;
        row[k] = s * x + c * y;
    }
}

static double product(long rows, int n, const double *A, int j, int k)
{
    double sum = 0;
    for (long i = 0; i < rows; i++) {
        sum += A[(size_t)i * (size_t)n + (size_t)j] * A[(size_t)i * (size_t)n + (size_t)k];
    }
    return sum;
}

/* Largest first. */
static void sort(long rows, int n, double *A, double *s, double *V)
{
    for (int j = 0; j < n; j++) {
        int best = j;
        for (int k = j + 1; k < n; k++) {
            best = s[k] > s[best] ? k : best;
        }
        if (best != j) {
            double t = s[j];
            s[j] = s[best];
            s[best] = t;
            turn(rows, n, A, j, best, 0, -1);
            turn(n, n, V, j, best, 0, -1);
        }
    }
}

void fit_singular(long rows, int n, double *A, double *s, double *V)
{
    enum { SWEEPS = 60 };
    memset(V, 0, (size_t)n * (size_t)n * sizeof *V);
    for (int i = 0; i < n; i++) {
        V[(size_t)i * (size_t)n + (size_t)i] = 1;
    }
    for (int sweep = 0, turned = 1; turned && sweep < SWEEPS; sweep++) {
        turned = 0;
        for (int j = 0; j < n; j++) {
            for (int k = j + 1; k < n; k++) {
                double a = product(rows, n, A, j, j), b = product(rows, n, A, k, k);
                double g = product(rows, n, A, j, k);
                if (fabs(g) <= 1e-15 * sqrt(a * b) || g == 0) {
                    continue;
                }
                double z = (b - a) / (2 * g);
                double t = (z >= 0 ? 1 : -1) / (fabs(z) + sqrt(1 + z * z));
                double c = 1 / sqrt(1 + t * t);
                turn(rows, n, A, j, k, c, c * t);
                turn(n, n, V, j, k, c, c * t);
                turned = 1;
            }
        }
    }
    for (int j = 0; j < n; j++) {
        s[j] = sqrt(product(rows, n, A, j, j));
    }
    sort(rows, n, A, s, V);
}
