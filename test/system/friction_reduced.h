/* Systems with friction whose equations were reduced by hand: y' = f(t, y), the smallest normal
 * force and the smallest sliding speed, and positions in a fixed frame. Parameters are p[]:
 * friction, mass, and those of the system. */
#ifndef TEST_SYSTEM_FRICTION_REDUCED_H
#define TEST_SYSTEM_FRICTION_REDUCED_H

#include <math.h>

#include "system/contact.h" /* its G is a letter elsewhere */

/* ---- A bead on a curve p(u): circle, spiral, parabola, helix --------------------------------- */

typedef void curve(const double *p, double u, double x[3], double d[3], double dd[3]);

/* N = m (p'' u'^2 - g) beside the tangent, and u'' from what is along it. */
static void slide_along(curve *shape, double mu, int up, const double *p, const double *y,
                        double *f, double *press, double *slip)
{
    double x[3], d[3], dd[3], N[3], square = 0, along = 0, size = 0;
    const double g[3] = {0, up == 1 ? -G : 0, up == 2 ? -G : 0};
    shape(p, y[0], x, d, dd);
    for (int i = 0; i < 3; i++) {
        square += d[i] * d[i];
        along += d[i] * (dd[i] * y[1] * y[1] - g[i]);
    }
    for (int i = 0; i < 3; i++) {
        N[i] = dd[i] * y[1] * y[1] - g[i] - d[i] * along / square;
        size += N[i] * N[i];
    }
    *press = sqrt(size);
    *slip = fabs(y[1]) * sqrt(square);
    f[0] = y[1];
    f[1] = -along / square - mu * *press / sqrt(square) * (y[1] > 0 ? 1 : -1);
}

static void see_curve(curve *shape, const double *p, const double *y, double *seen)
{
    double x[3], d[3], dd[3];
    shape(p, y[0], x, d, dd);
    for (int i = 0; i < 3; i++) {
        seen[2 * i] = x[i];
        seen[2 * i + 1] = d[i] * y[1];
    }
}

#define CURVE(name, up)                                                                            \
    static void name##_field(const double *p, double t, const double *y, double *f, double *press, \
                             double *slip)                                                         \
    {                                                                                              \
        (void)t;                                                                                   \
        slide_along(name, p[0], up, p, y, f, press, slip);                                         \
    }                                                                                              \
    static void name##_see(const double *p, double t, const double *y, double *seen)               \
    {                                                                                              \
        (void)t;                                                                                   \
        see_curve(name, p, y, seen);                                                               \
    }

static void first_two(const double *p, double *y)
{
    y[0] = p[3];
    y[1] = p[4];
}

static void circle(const double *p, double u, double x[3], double d[3], double dd[3])
{
    x[0] = p[2] * cos(u), x[1] = p[2] * sin(u), x[2] = 0;
    d[0] = -x[1], d[1] = x[0], d[2] = 0;
    dd[0] = -x[0], dd[1] = -x[1], dd[2] = 0;
}
CURVE(circle, 1)

static void spiral(const double *p, double u, double x[3], double d[3], double dd[3])
{
    double a = p[2], c = cos(u), s = sin(u);
    x[0] = a * u * c, x[1] = a * u * s, x[2] = 0;
    d[0] = a * (c - u * s), d[1] = a * (s + u * c), d[2] = 0;
    dd[0] = a * (-2 * s - u * c), dd[1] = a * (2 * c - u * s), dd[2] = 0;
}
CURVE(spiral, 1)

static void parabola(const double *p, double u, double x[3], double d[3], double dd[3])
{
    x[0] = u, x[1] = p[2] * u * u, x[2] = 0;
    d[0] = 1, d[1] = 2 * p[2] * u, d[2] = 0;
    dd[0] = 0, dd[1] = 2 * p[2], dd[2] = 0;
}
CURVE(parabola, 1)

static void helix(const double *p, double u, double x[3], double d[3], double dd[3])
{
    circle(p, u, x, d, dd);
    x[2] = p[5] * u;
    d[2] = p[5];
}
CURVE(helix, 2)

/* ---- A point on a surface, in space ---------------------------------------------------------- */

/* a = g + N n - mu |N| w/|w|, with the normal acceleration n . a = -v H v / |grad| and the speed w
 * against the ground; all per mass. */
static void slide_over(double mu, const double *y, const double grad[3], double curved,
                       const double ground[3], double *f, double *press, double *slip)
{
    const double *v = y + 3, g[3] = {0, 0, -G};
    double size = sqrt(grad[0] * grad[0] + grad[1] * grad[1] + grad[2] * grad[2]), N, w = 0;
    N = -curved / size + G * grad[2] / size;
    for (int i = 0; i < 3; i++) {
        w += (v[i] - ground[i]) * (v[i] - ground[i]);
    }
    w = sqrt(w);
    for (int i = 0; i < 3; i++) {
        f[i] = v[i];
        f[3 + i] = g[i] + N * grad[i] / size - mu * fabs(N) * (v[i] - ground[i]) / w;
    }
    *press = fabs(N);
    *slip = w;
}

static void see_six(const double *p, double t, const double *y, double *seen)
{
    (void)p;
    (void)t;
    for (int i = 0; i < 3; i++) {
        seen[2 * i] = y[i];
        seen[2 * i + 1] = y[3 + i];
    }
}

static const double still[3] = {0, 0, 0};

static void sphere_start(const double *p, double *y)
{
    double R = p[2], h = p[3], c = cos(h), s = sin(h);
    y[0] = R * s, y[1] = 0, y[2] = -R * c;
    y[3] = p[5] * c, y[4] = p[4], y[5] = p[5] * s;
}

static void sphere_field(const double *p, double t, const double *y, double *f, double *press,
                         double *slip)
{
    (void)t;
    const double *v = y + 3;
    slide_over(p[0], y, y, v[0] * v[0] + v[1] * v[1] + v[2] * v[2], still, f, press, slip);
}

/* z = k r: the gradient of z - k r, and -k times the curvature of r. */
static void cone_start(const double *p, double *y)
{
    y[0] = p[3], y[1] = 0, y[2] = p[2] * p[3];
    y[3] = p[5], y[4] = p[4], y[5] = p[2] * p[5];
}

static void cone_field(const double *p, double t, const double *y, double *f, double *press,
                       double *slip)
{
    (void)t;
    double r = hypot(y[0], y[1]), k = p[2], turn = (y[0] * y[4] - y[1] * y[3]) / r;
    const double grad[3] = {-k * y[0] / r, -k * y[1] / r, 1};
    slide_over(p[0], y, grad, -k * turn * turn / r, still, f, press, slip);
}

/* A disk in the plane z = 0 turns with the speed y[7] by the angle y[6]. */
static void disk_start(const double *p, double *y)
{
    y[0] = p[2], y[1] = y[2] = 0;
    y[3] = p[3], y[4] = p[4], y[5] = 0;
    y[6] = 0, y[7] = p[5];
}

static void driven_disk_field(const double *p, double t, const double *y, double *f, double *press,
                              double *slip)
{
    (void)t;
    const double ground[3] = {-y[7] * y[1], y[7] * y[0], 0}, up[3] = {0, 0, 1};
    slide_over(p[0], y, up, 0, ground, f, press, slip);
    f[6] = y[7];
    f[7] = 0;
}

static void free_disk_field(const double *p, double t, const double *y, double *f, double *press,
                            double *slip)
{
    driven_disk_field(p, t, y, f, press, slip);
    f[7] = -p[1] / p[6] * (y[0] * f[4] - y[1] * f[3]); /* action = reaction */
}

static void disk_see(const double *p, double t, const double *y, double *seen)
{
    (void)p;
    (void)t;
    seen[0] = y[0], seen[1] = y[3], seen[2] = y[1], seen[3] = y[4];
    seen[4] = y[6], seen[5] = y[7];
}

/* ---- Wedges ---------------------------------------------------------------------------------- */

/* mu m s(lope) M w0: y = X, X', way down the slope, its speed. */
static void wedge_start(const double *p, double *y)
{
    y[0] = 0, y[1] = p[5], y[2] = 0, y[3] = p[4];
}

static void free_wedge_field(const double *p, double t, const double *y, double *f, double *press,
                             double *slip)
{
    (void)t;
    double mu = p[0] * (y[3] > 0 ? 1 : -1), m = p[1], M = p[3], c = cos(p[2]), s = sin(p[2]);
    /* along down, n up: m (d'' + X'' cos) = m g sin - mu N, m X'' sin = N - m g cos,
     * M X'' = -N sin + mu N cos */
    double pull = (-s + mu * c) / M, N = G * c / (1 / m - pull * s);
    f[0] = y[1];
    f[1] = pull * N;
    f[2] = y[3];
    f[3] = G * s - mu * N / m - f[1] * c;
    *press = fabs(N);
    *slip = fabs(y[3]);
}

static void wedge_see(const double *p, double t, const double *y, double *seen)
{
    (void)t;
    double c = cos(p[2]), s = sin(p[2]);
    seen[0] = y[0], seen[1] = y[1];
    seen[2] = y[0] + y[2] * c, seen[3] = y[1] + y[3] * c;
    seen[4] = -y[2] * s, seen[5] = -y[3] * s;
}

/* X = A sin 3t */
static void driven_wedge_field(const double *p, double t, const double *y, double *f, double *press,
                               double *slip)
{
    double c = cos(p[2]), s = sin(p[2]), a = -9 * p[3] * sin(3 * t), N = G * c + a * s;
    f[0] = y[1];
    f[1] = 0;
    f[2] = y[3];
    f[3] = G * s - a * c - p[0] * fabs(N) * (y[3] > 0 ? 1 : -1);
    *press = fabs(N);
    *slip = fabs(y[3]);
}

static void driven_wedge_see(const double *p, double t, const double *y, double *seen)
{
    double c = cos(p[2]), s = sin(p[2]);
    seen[0] = p[3] * sin(3 * t) + y[2] * c, seen[1] = 3 * p[3] * cos(3 * t) + y[3] * c;
    seen[2] = -y[2] * s, seen[3] = -y[3] * s;
}

static void driven_wedge_start(const double *p, double *y)
{
    y[0] = y[1] = y[2] = 0, y[3] = p[4];
}

/* ---- A ladder, and a bar in a sleeve --------------------------------------------------------- */

static void ladder_start(const double *p, double *y)
{
    y[0] = p[3];
    y[1] = -p[4];
}

/* x = l cos, y = l sin; foot and top slide away: m x'' = W - mu F, m y'' = F + mu W - m g,
 * m k^2 th'' = l (sin + mu cos) W - l (cos - mu sin) F, as th falls while the ladder does. */
static void ladder_field(const double *p, double t, const double *y, double *f, double *press,
                         double *slip)
{
    (void)t;
    double mu = p[0], l = p[2], k = p[5], c = cos(y[0]), s = sin(y[0]), w = y[1] * y[1];
    /* F and W over m are linear in a = th'': first without it, then its share */
    double F[2], W[2];
    for (int i = 0; i < 2; i++) {
        double x = i ? -l * s : -l * c * w, z = i ? l * c : -l * s * w + G;
        F[i] = (z - mu * x) / (1 + mu * mu);
        W[i] = x + mu * F[i];
    }
    double near = l * (c - mu * s), far = l * (s + mu * c);
    double a = (far * W[0] - near * F[0]) / (k * k + near * F[1] - far * W[1]);
    f[0] = y[1];
    f[1] = a;
    *press = fmin(F[0] + a * F[1], W[0] + a * W[1]);
    *slip = fabs(y[1]) * 2 * l * fmin(c, s);
}

static void ladder_see(const double *p, double t, const double *y, double *seen)
{
    (void)t;
    seen[0] = p[2] * cos(y[0]), seen[1] = -p[2] * sin(y[0]) * y[1];
    seen[2] = y[0], seen[3] = y[1];
}

/* A bar through two rings a distance d apart, its middle s beyond the first: they press with
 * m g (s - d)/d and m g s/d. */
static void sleeve_start(const double *p, double *y)
{
    y[0] = p[3];
    y[1] = p[4];
}

static void sleeve_field(const double *p, double t, const double *y, double *f, double *press,
                         double *slip)
{
    (void)t;
    double d = p[2];
    f[0] = y[1];
    f[1] = -p[0] * G * (fabs(y[0] - d) + fabs(y[0])) / d * (y[1] > 0 ? 1 : -1);
    *press = fmin(fabs(y[0] - d), fabs(y[0])) * G / d;
    *slip = fabs(y[1]);
}

static void sleeve_see(const double *p, double t, const double *y, double *seen)
{
    (void)p;
    (void)t;
    seen[0] = y[0], seen[1] = y[1], seen[2] = 0, seen[3] = 0;
}

#endif
