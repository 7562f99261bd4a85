/* Small mechanical systems written by hand, as a step_lagrangian and as a field y' = f(t, y): what
 * the tests of src/step integrate. All functions are static: a test uses those that it needs. */
#ifndef ZWANG_TEST_STEP_MECHANICS_H
#define ZWANG_TEST_STEP_MECHANICS_H

#include "math/dense/dense.h"
#include "step/ode/ode.h"

#include <math.h>
#include <string.h>

enum { MECHANICS_MOST = 8 };

#define GRAVITY 9.81

/* A system with m rows of constraints; `position` computes the holonomic ones. */
typedef struct mechanics {
    int n, m, linear;
    const int *holonomic;
    void (*momentum)(double t, const double *q, const double *v, double *p);
    void (*force)(double t, const double *q, const double *v, double *g);
    void (*metric)(double t, const double *q, const double *v, double *M); /* n x n */
    void (*position)(double t, const double *q, double *r);
    void (*velocity)(double t, const double *q, const double *v, double *r);
    void (*rows)(double t, const double *q, const double *v, double *A); /* m x n */
    double (*energy)(double t, const double *q, const double *v);

    /* [M A'; A 0] factored */
    double kkt[MECHANICS_MOST * MECHANICS_MOST], A[MECHANICS_MOST * MECHANICS_MOST];
    int pivot[MECHANICS_MOST];
    long solves;
} mechanics;

static inline zw_status mechanics_momentum(void *user, double t, const double *q, const double *v,
                                           double *p, zw_error *error)
{
    (void)error;
    ((mechanics *)user)->momentum(t, q, v, p);
    return ZW_OK;
}

static inline zw_status mechanics_force(void *user, double t, const double *q, const double *v,
                                        double *g, zw_error *error)
{
    (void)error;
    ((mechanics *)user)->force(t, q, v, g);
    return ZW_OK;
}

static inline zw_status mechanics_position(void *user, double t, const double *q, double *r,
                                           zw_error *error)
{
    (void)error;
    ((mechanics *)user)->position(t, q, r);
    return ZW_OK;
}

static inline zw_status mechanics_velocity(void *user, double t, const double *q, const double *v,
                                           double *r, zw_error *error)
{
    (void)error;
    ((mechanics *)user)->velocity(t, q, v, r);
    return ZW_OK;
}

static inline zw_status mechanics_linearise(void *user, double t, const double *q, const double *v,
                                            zw_error *error)
{
    mechanics *s = user;
    int n = s->n, m = s->m, all = n + m;
    double M[MECHANICS_MOST * MECHANICS_MOST];
    (void)error;
    memset(s->kkt, 0, sizeof s->kkt);
    s->metric(t, q, v, M);
    if (m > 0) {
        s->rows(t, q, v, s->A);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            s->kkt[i * all + j] = M[i * n + j];
        }
        for (int j = 0; j < m; j++) {
            s->kkt[i * all + n + j] = -s->A[j * n + i];
            s->kkt[(n + j) * all + i] = s->A[j * n + i];
        }
    }
    dense_lu(all, s->kkt, all, s->pivot, 1e-300);
    return ZW_OK;
}

static inline zw_status mechanics_solve(void *user, const double *impulse, const double *wanted,
                                        double *u, double *reaction, zw_error *error)
{
    mechanics *s = user;
    int n = s->n, m = s->m, all = n + m;
    double x[MECHANICS_MOST];
    (void)error;
    memcpy(x, impulse, (size_t)n * sizeof *x);
    if (m > 0) {
        memcpy(x + n, wanted, (size_t)m * sizeof *x);
    }
    dense_lu_solve(all, s->kkt, all, s->pivot, x);
    memcpy(u, x, (size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        reaction[i] = 0.0;
        for (int j = 0; j < m; j++) {
            reaction[i] += s->A[j * n + i] * x[n + j];
        }
    }
    s->solves++;
    return ZW_OK;
}

static inline step_lagrangian mechanics_lagrangian(mechanics *s)
{
    return (step_lagrangian){.n = s->n,
                             .m = s->m,
                             .holonomic = s->holonomic,
                             .linear = s->linear,
                             .user = s,
                             .momentum = mechanics_momentum,
                             .force = mechanics_force,
                             .position = mechanics_position,
                             .velocity = mechanics_velocity,
                             .linearise = mechanics_linearise,
                             .solve = mechanics_solve};
}

/* A dummy field, for tests that do not use dense output. */
static inline zw_status mechanics_no_field(void *user, double t, const double *y, double *dy,
                                           zw_error *error)
{
    const mechanics *s = user;
    (void)t;
    (void)error;
    memcpy(dy, y + s->n, (size_t)s->n * sizeof *dy);
    memset(dy + s->n, 0, (size_t)s->n * sizeof *dy);
    return ZW_OK;
}

/* ---- A pendulum of length 1 in the plane, y upward ------------------------------------------- */

static inline void unit_metric2(double t, const double *q, const double *v, double *M)
{
    (void)t, (void)q, (void)v;
    M[0] = M[3] = 1.0;
    M[1] = M[2] = 0.0;
}

static inline void unit_momentum2(double t, const double *q, const double *v, double *p)
{
    (void)t, (void)q;
    p[0] = v[0];
    p[1] = v[1];
}

static inline void pendulum_force(double t, const double *q, const double *v, double *g)
{
    (void)t, (void)q, (void)v;
    g[0] = 0.0;
    g[1] = -GRAVITY;
}

static inline void pendulum_position(double t, const double *q, double *r)
{
    (void)t;
    r[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0);
}

static inline void pendulum_velocity(double t, const double *q, const double *v, double *r)
{
    (void)t;
    r[0] = q[0] * v[0] + q[1] * v[1];
}

static inline void pendulum_rows(double t, const double *q, const double *v, double *A)
{
    (void)t, (void)v;
    A[0] = q[0];
    A[1] = q[1];
}

static inline double pendulum_energy(double t, const double *q, const double *v)
{
    (void)t;
    return 0.5 * (v[0] * v[0] + v[1] * v[1]) + GRAVITY * q[1];
}

static inline mechanics pendulum(void)
{
    return (mechanics){.n = 2,
                       .m = 1,
                       .linear = 1,
                       .momentum = unit_momentum2,
                       .force = pendulum_force,
                       .metric = unit_metric2,
                       .position = pendulum_position,
                       .velocity = pendulum_velocity,
                       .rows = pendulum_rows,
                       .energy = pendulum_energy};
}

/* x = lambda q and y'' = lambda q - g with lambda from q.q'' + v.v = 0. */
static inline zw_status pendulum_field(void *user, double t, const double *y, double *dy,
                                       zw_error *error)
{
    (void)user, (void)t, (void)error;
    double lambda = (GRAVITY * y[1] - y[2] * y[2] - y[3] * y[3]) / (y[0] * y[0] + y[1] * y[1]);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = lambda * y[0];
    dy[3] = lambda * y[1] - GRAVITY;
    return ZW_OK;
}

static inline zw_status pendulum_project(void *user, double t, double *y, zw_error *error)
{
    (void)user, (void)t, (void)error;
    double r = sqrt(y[0] * y[0] + y[1] * y[1]);
    y[0] /= r;
    y[1] /= r;
    double out = y[0] * y[2] + y[1] * y[3];
    y[2] -= out * y[0];
    y[3] -= out * y[1];
    return ZW_OK;
}

/* The period of a pendulum of length 1 let go at angle `most`, by the arithmetic-geometric mean. */
static inline double pendulum_period(double most)
{
    double a = 1.0, b = cos(0.5 * most);
    for (int i = 0; i < 8; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 2.0 * acos(-1.0) / (a * sqrt(GRAVITY));
}

/* ---- Two points on rods of length 1 ---------------------------------------------------------- */

static inline void two_points_metric(double t, const double *q, const double *v, double *M)
{
    (void)t, (void)q, (void)v;
    memset(M, 0, 16 * sizeof *M);
    for (int i = 0; i < 4; i++) {
        M[5 * i] = 1.0;
    }
}

static inline void two_points_momentum(double t, const double *q, const double *v, double *p)
{
    (void)t, (void)q;
    memcpy(p, v, 4 * sizeof *p);
}

static inline void two_points_force(double t, const double *q, const double *v, double *g)
{
    (void)t, (void)q, (void)v;
    g[0] = g[2] = 0.0;
    g[1] = g[3] = -GRAVITY;
}

static inline void two_points_position(double t, const double *q, double *r)
{
    (void)t;
    double x = q[2] - q[0], y = q[3] - q[1];
    r[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0);
    r[1] = 0.5 * (x * x + y * y - 1.0);
}

static inline void two_points_velocity(double t, const double *q, const double *v, double *r)
{
    (void)t;
    r[0] = q[0] * v[0] + q[1] * v[1];
    r[1] = (q[2] - q[0]) * (v[2] - v[0]) + (q[3] - q[1]) * (v[3] - v[1]);
}

static inline void two_points_rows(double t, const double *q, const double *v, double *A)
{
    (void)t, (void)v;
    double x = q[2] - q[0], y = q[3] - q[1];
    const double rows[8] = {q[0], q[1], 0.0, 0.0, -x, -y, x, y};
    memcpy(A, rows, sizeof rows);
}

static inline double two_points_energy(double t, const double *q, const double *v)
{
    (void)t;
    return 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]) + GRAVITY * (q[1] + q[3]);
}

static inline mechanics two_points(void)
{
    return (mechanics){.n = 4,
                       .m = 2,
                       .linear = 1,
                       .momentum = two_points_momentum,
                       .force = two_points_force,
                       .metric = two_points_metric,
                       .position = two_points_position,
                       .velocity = two_points_velocity,
                       .rows = two_points_rows,
                       .energy = two_points_energy};
}

/* ---- The same double pendulum in its two angles: M depends on q ------------------------------ */

static inline void angles_metric(double t, const double *q, const double *v, double *M)
{
    (void)t, (void)v;
    M[0] = 2.0;
    M[1] = M[2] = cos(q[0] - q[1]);
    M[3] = 1.0;
}

static inline void angles_momentum(double t, const double *q, const double *v, double *p)
{
    (void)t;
    double c = cos(q[0] - q[1]);
    p[0] = 2.0 * v[0] + c * v[1];
    p[1] = c * v[0] + v[1];
}

static inline void angles_force(double t, const double *q, const double *v, double *g)
{
    (void)t;
    double s = sin(q[0] - q[1]) * v[0] * v[1]; /* K = v0^2 + v1^2/2 + cos(q0 - q1) v0 v1 */
    g[0] = -s - 2.0 * GRAVITY * sin(q[0]);
    g[1] = s - GRAVITY * sin(q[1]);
}

static inline double angles_energy(double t, const double *q, const double *v)
{
    (void)t;
    return v[0] * v[0] + 0.5 * v[1] * v[1] + cos(q[0] - q[1]) * v[0] * v[1] -
           GRAVITY * (2.0 * cos(q[0]) + cos(q[1]));
}

static inline mechanics angles(void)
{
    return (mechanics){.n = 2,
                       .linear = 1,
                       .momentum = angles_momentum,
                       .force = angles_force,
                       .metric = angles_metric,
                       .energy = angles_energy};
}

static inline zw_status angles_field(void *user, double t, const double *y, double *dy,
                                     zw_error *error)
{
    (void)user, (void)t, (void)error;
    double c = cos(y[0] - y[1]), s = sin(y[0] - y[1]);
    double f0 = -s * y[3] * y[3] - 2.0 * GRAVITY * sin(y[0]);
    double f1 = s * y[2] * y[2] - GRAVITY * sin(y[1]), det = 2.0 - c * c;
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = (f0 - c * f1) / det;
    dy[3] = (2.0 * f1 - c * f0) / det;
    return ZW_OK;
}

/* ---- Kepler's problem ------------------------------------------------------------------------ */

static inline void kepler_force(double t, const double *q, const double *v, double *g)
{
    (void)t, (void)v;
    double r2 = q[0] * q[0] + q[1] * q[1], r3 = r2 * sqrt(r2);
    g[0] = -q[0] / r3;
    g[1] = -q[1] / r3;
}

static inline double kepler_energy(double t, const double *q, const double *v)
{
    (void)t;
    return 0.5 * (v[0] * v[0] + v[1] * v[1]) - 1.0 / sqrt(q[0] * q[0] + q[1] * q[1]);
}

static inline mechanics kepler(void)
{
    return (mechanics){.n = 2,
                       .linear = 1,
                       .momentum = unit_momentum2,
                       .force = kepler_force,
                       .metric = unit_metric2,
                       .energy = kepler_energy};
}

static inline zw_status kepler_field(void *user, double t, const double *y, double *dy,
                                     zw_error *error)
{
    (void)user, (void)error;
    dy[0] = y[2];
    dy[1] = y[3];
    kepler_force(t, y, y + 2, dy + 2);
    return ZW_OK;
}

/* At the near point of an ellipse with semi-axis 1: period 2 pi. */
static inline void kepler_start(double eccentricity, double *y)
{
    y[0] = 1.0 - eccentricity;
    y[1] = y[2] = 0.0;
    y[3] = sqrt((1.0 + eccentricity) / (1.0 - eccentricity));
}

#endif
