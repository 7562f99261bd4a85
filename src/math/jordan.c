/* With J = diag(1, -I): det x = x_0^2 - |x_1|^2, the product x o y = (x . y, x_0 y_1 + y_0 x_1),
 * and the scaling point between r and s (Nesterov and Todd 1998): with s' = s/sqrt(det s), r' =
 * r/sqrt(det r), g = sqrt((1 + s'.r')/2), w = (s' + J r')/(2g),
 *
 *     beta = (det s / det r)^(1/4),   v = (w + e)/sqrt(2 (w_0 + 1)),   W = beta (2 v v' - J). */
#include "math/jordan.h"

#include <math.h>

static double jordan_root(int d, const double *x)
{
    double tail = 0.0;
    for (int i = 1; i < d; i++) {
        tail += x[i] * x[i];
    }
    double length = sqrt(tail);
    return x[0] > length ? sqrt((x[0] - length) * (x[0] + length)) : 0.0;
}

int jordan_scale(int d, const double *r, const double *s, jordan_scaling *W)
{
    double root_r = jordan_root(d, r), root_s = jordan_root(d, s), product = 0.0, w[6];
    if (!(root_r > 0.0) || !(root_s > 0.0) || !isfinite(root_r) || !isfinite(root_s)) {
        return 0;
    }
    for (int i = 0; i < d; i++) {
        product += (s[i] / root_s) * (r[i] / root_r);
    }
    double g = sqrt(0.5 * (1.0 + product));
    for (int i = 0; i < d; i++) {
        w[i] = (s[i] / root_s + (i == 0 ? 1.0 : -1.0) * r[i] / root_r) / (2.0 * g);
    }
    double scale = 1.0 / sqrt(2.0 * (w[0] + 1.0));
    for (int i = 0; i < d; i++) {
        W->v[i] = (w[i] + (i == 0 ? 1.0 : 0.0)) * scale;
    }
    W->beta = sqrt(root_s / root_r);
    jordan_apply(d, W, r, W->lambda);
    return 1;
}

void jordan_apply(int d, const jordan_scaling *W, const double *x, double *y)
{
    double t = 0.0;
    for (int i = 0; i < d; i++) {
        t += W->v[i] * x[i];
    }
    for (int i = 0; i < d; i++) {
        y[i] = W->beta * (2.0 * t * W->v[i] - (i == 0 ? x[i] : -x[i]));
    }
}

void jordan_apply_inverse(int d, const jordan_scaling *W, const double *x, double *y)
{
    double t = W->v[0] * x[0];
    for (int i = 1; i < d; i++) {
        t -= W->v[i] * x[i];
    }
    for (int i = 0; i < d; i++) {
        double v = i == 0 ? W->v[i] : -W->v[i];
        y[i] = (2.0 * t * v - (i == 0 ? x[i] : -x[i])) / W->beta;
    }
}

void jordan_product(int d, const double *x, const double *y, double *z)
{
    double first = x[0] * y[0];
    for (int i = 1; i < d; i++) {
        first += x[i] * y[i];
        z[i] = x[0] * y[i] + y[0] * x[i];
    }
    z[0] = first;
}

void jordan_divide(int d, const double *x, const double *y, double *z)
{
    double root = jordan_root(d, x), det = root * root, product = 0.0;
    for (int i = 1; i < d; i++) {
        product += x[i] * y[i];
    }
    double first = (x[0] * y[0] - product) / det;
    for (int i = 1; i < d; i++) {
        z[i] = (y[i] - first * x[i]) / x[0];
    }
    z[0] = first;
}

double jordan_step(int d, const double *x, const double *dx, double limit)
{
    if (d == 1) {
        return dx[0] < 0.0 ? fmin(limit, -x[0] / dx[0]) : limit;
    }
    /* det(x + t dx) = c + 2 b t + a t^2, c > 0: its first positive root */
    double a = dx[0] * dx[0], b = x[0] * dx[0], c = x[0] * x[0];
    for (int i = 1; i < d; i++) {
        a -= dx[i] * dx[i];
        b -= x[i] * dx[i];
        c -= x[i] * x[i];
    }
    double t = limit, D = b * b - a * c;
    if (D >= 0.0 && (a < 0.0 || b < 0.0)) {
        double q = -(b + (b < 0.0 ? -sqrt(D) : sqrt(D)));
        double t1 = a != 0.0 ? q / a : -1.0, t2 = q != 0.0 ? c / q : -1.0;
        t = t1 > 0.0 ? fmin(t, t1) : t;
        t = t2 > 0.0 ? fmin(t, t2) : t;
    }
    return x[0] + t * dx[0] < 0.0 ? fmin(t, -x[0] / dx[0]) : t;
}
