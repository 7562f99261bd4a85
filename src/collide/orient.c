/* The sign of a determinant without error, after Shewchuk (1997).
 *
 * The determinant is computed in floating point first. With u = 2^-53 its error is at most
 * (7 + 56 u) u times the sum of the moduli of its six products; beyond that bound its sign is
 * right.
 *
 * Else it is computed as an expansion: a sum of doubles, rising in size, no two of which overlap,
 * so that the last one has the sign of the sum. Three exact operations make it:
 *
 *     a + b = x + y      Knuth: x is the rounded sum, y its error
 *     a * b = x + y      Dekker: the same for the product, from factors split into 26 bits each
 *     expansion + b      one sum after the other, from the smallest component up, without zeros
 *
 * Differences of coordinates have two components, so the determinant has at most 3 * 64. Numbers
 * with few bits (meshes of single precision) rarely need more than four. */
#include "collide/orient.h"

#include <float.h>
#include <math.h>

enum { MOST_COMPONENTS = 200 };

typedef struct expansion {
    int count;
    double part[MOST_COMPONENTS];
} expansion;

static double sum_with_error(double a, double b, double *error)
{
    double x = a + b, of_b = x - a, of_a = x - of_b;
    *error = (a - of_a) + (b - of_b);
    return x;
}

static void split_in_halves(double a, double *high, double *low)
{
    const double splitter = 134217729.0; /* 2^27 + 1 */
    double c = splitter * a;
    *high = c - (c - a);
    *low = a - *high;
}

static double product_with_error(double a, double b, double *error)
{
    double x = a * b, a_high, a_low, b_high, b_low;
    split_in_halves(a, &a_high, &a_low);
    split_in_halves(b, &b_high, &b_low);
    double rest = x - a_high * b_high - a_low * b_high - a_high * b_low;
    *error = a_low * b_low - rest;
    return x;
}

static void expansion_add(expansion *e, double b)
{
    int kept = 0;
    for (int i = 0; i < e->count; i++) {
        double error;
        b = sum_with_error(b, e->part[i], &error);
        if (error != 0) {
            e->part[kept++] = error;
        }
    }
    if (b != 0) {
        e->part[kept++] = b;
    }
    e->count = kept;
}

/* e += sign * f * g for g of two components */
static void expansion_add_product(expansion *e, double sign, const double *f, int f_count,
                                  const double g[2])
{
    for (int i = 0; i < f_count; i++) {
        for (int k = 0; k < 2; k++) {
            double error, x = product_with_error(f[i], sign * g[k], &error);
            expansion_add(e, error);
            expansion_add(e, x);
        }
    }
}

static int exact_sign(const double a[3], const double b[3], const double c[3], const double p[3])
{
    double u[3][2], v[3][2], w[3][2]; /* b - a, c - a, p - a: rounded values last */
    for (int i = 0; i < 3; i++) {
        u[i][1] = sum_with_error(b[i], -a[i], &u[i][0]);
        v[i][1] = sum_with_error(c[i], -a[i], &v[i][0]);
        w[i][1] = sum_with_error(p[i], -a[i], &w[i][0]);
    }
    expansion determinant = {.count = 0};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        expansion minor = {.count = 0};
        expansion_add_product(&minor, 1, u[j], 2, v[k]);
        expansion_add_product(&minor, -1, u[k], 2, v[j]);
        expansion_add_product(&determinant, 1, minor.part, minor.count, w[i]);
    }
    double last = determinant.count > 0 ? determinant.part[determinant.count - 1] : 0;
    return (last > 0) - (last < 0);
}

int collide_side(const double a[3], const double b[3], const double c[3], const double p[3])
{
    double u[3], v[3], w[3], value = 0, moduli = 0;
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        w[i] = p[i] - a[i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double x = u[j] * v[k], y = u[k] * v[j];
        value += w[i] * (x - y);
        moduli += fabs(w[i]) * (fabs(x) + fabs(y));
    }
    const double unit = DBL_EPSILON / 2;
    if (fabs(value) > (7 + 56 * unit) * unit * moduli) {
        return value > 0 ? 1 : -1;
    }
    return exact_sign(a, b, c, p);
}
