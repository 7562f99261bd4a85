/* Radau IIA with three stages: order 5, stiffly accurate, L-stable; for stiff motions, in plain C.
 *
 * The stages z_i = y(t0 + c_i h) - y0 solve z = h (A x I) F(z), F_i = f(t0 + c_i h, y0 + z_i), and
 * y1 = y0 + z_3. Multiplied by (hA)^-1 and transformed by A^-1 = T Lambda T^-1 (Hairer and Wanner,
 * "Solving Ordinary Differential Equations II", section IV.8), with w = T^-1 z, simplified Newton
 * reads
 *
 *     (Lambda/h x I - I x J) dw = (T^-1 x I) F - (Lambda/h x I) w,
 *
 *               [ gamma    0      0   ]
 *     Lambda =  [   0    alpha  -beta ]     one system of size n and one of size 2n
 *               [   0    beta   alpha ]
 *
 * with J = f_y by difference quotients, kept as long as Newton converges fast.
 *
 * The error is (gamma/h - J) \ (f0 + (e1 z1 + e2 z2 + e3 z3)/h), the difference to an embedded
 * method of order 3, damped for stiff components; it falls like h^4. Dense output is the
 * collocation polynomial, the cubic through y0 and the three stages, with the projected end in the
 * place of the last.
 *
 * Round-off. A field with a large slope in y turns round-off of y into noise: |f_y| eps |y| in f,
 * and u = |(gamma/h - J)^-1| (|J| eps |y| + eps |f|) in the stages and in the error estimate, which
 * no shorter step makes smaller. (A spring of stiffness k with a damper c: a velocity that follows
 * a length l is known to eps l k/c, whatever its own size.) The tolerance refers to the error of
 * the method; so where it cannot be met at the second attempt, u is allowed in addition, as long as
 * it is not ten times as large. Beyond that there is no allowance, and if the step then shrinks to
 * nothing the tolerance that could be reached is reported. */
#include "math/dense/dense.h"
#include "step/ode/inner.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NEWTON = 10 };

/* Several roundings in succession, and the sums of |T^-1|, amplify u. */
static const double NOISY = 10.0, TOLERATED = 10.0;

static const double ROOT6 = 2.449489742783178098197284;
static const double GAMMA = 3.637834252744495732208419, ALPHA = 2.681082873627752133895791,
                    BETA = 3.050430199247410569426378;
static const double T[3][3] = {
    {0.09443876248897524148749008, -0.1412552950209542084279904, -0.03002919410514742449186112},
    {0.2502131229653333113765091, 0.2041293522937999319959908, 0.3829421127572619377954382},
    {1.0, 1.0, 0.0}};
static const double T_INVERSE[3][3] = {
    {4.178718591551904727346463, 0.3276828207610623870825333, 0.5233764454994495480399309},
    {-4.178718591551904727346463, -0.3276828207610623870825333, 0.4766235545005504519600691},
    {-0.5028726349457868759512473, 2.571926949855605429186785, -0.5960392048282249249688219}};

typedef struct radau {
    double *J;          /* [n * n] */
    double *real;       /* [n * n] gamma/h - J, factored */
    double *pair;       /* [2n * 2n] the block of alpha and beta, factored */
    int *real_pivot;    /* [n] */
    int *pair_pivot;    /* [2n] */
    double *z, *w, *dw; /* [3n] stages, transformed stages, Newton's change */
    double *F;          /* [3n] */
    double *noise;      /* [n] u, if have_noise */
    double *guess;      /* [4n] base and stages of the polynomial used for the guess */
    double guess_t, guess_h;
    double J_t;        /* the time of J */
    double factored_h; /* 0: not factored */
    int have_J, keep_J, have_guess;
    int have_noise, small_noise; /* of these factors; it may be allowed for */
    double last_h, last_size;    /* of the last accepted step; last_h 0: none */
    double filter_at;            /* the start of a step after a jump, or of one tried before */
    int iterations;              /* Newton's, in the last attempt */
} radau;

static void radau_layout(step_ode *ode, base_arena *arena)
{
    size_t n = (size_t)ode->n;
    radau *r = base_arena_bytes(arena, sizeof *r), counting;
    ode->more = r;
    r = r != NULL ? r : &counting;
    r->J = base_arena_doubles(arena, n * n);
    r->real = base_arena_doubles(arena, n * n);
    r->pair = base_arena_doubles(arena, 4 * n * n);
    r->real_pivot = base_arena_ints(arena, n);
    r->pair_pivot = base_arena_ints(arena, 2 * n);
    r->z = base_arena_doubles(arena, 3 * n);
    r->w = base_arena_doubles(arena, 3 * n);
    r->dw = base_arena_doubles(arena, 3 * n);
    r->F = base_arena_doubles(arena, 3 * n);
    r->noise = base_arena_doubles(arena, n);
    r->guess = base_arena_doubles(arena, 4 * n);
}

/* After a jump nothing from before is valid. */
static zw_status radau_start(step_ode *ode, double t, zw_error *error)
{
    radau *r = ode->more;
    (void)error;
    r->filter_at = t;
    r->have_J = r->have_guess = 0;
    r->factored_h = r->last_h = 0.0;
    return ZW_OK;
}

static void nodes(double c[3])
{
    c[0] = (4.0 - ROOT6) / 10.0;
    c[1] = (4.0 + ROOT6) / 10.0;
    c[2] = 1.0;
}

/* Weights of the three stages at x in the cubic through 0 and c. */
static void cubic(double x, double weight[3])
{
    double c[3];
    nodes(c);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        weight[i] = x / c[i] * ((x - c[j]) / (c[i] - c[j])) * ((x - c[k]) / (c[i] - c[k]));
    }
}

/* out = (S x I) in, three blocks of n */
static void transform(int n, const double S[3][3], const double *in, double *out)
{
    for (int i = 0; i < n; i++) {
        double a = in[i], b = in[n + i], c = in[2 * n + i];
        for (int k = 0; k < 3; k++) {
            out[(long)k * n + i] = S[k][0] * a + S[k][1] * b + S[k][2] * c;
        }
    }
}

/* ---- Jacobian and factors -------------------------------------------------------------------- */

static zw_status differentiate(step_ode *ode, zw_error *error)
{
    radau *r = ode->more;
    int n = ode->n;
    double *changed = r->F; /* scratch */
    memcpy(ode->trial, ode->y0, (size_t)n * sizeof(double));
    for (int j = 0; j < n; j++) {
        double kept = ode->trial[j];
        double delta = sqrt(DBL_EPSILON) * fmax(fabs(kept), ode->weight[j]);
        ode->trial[j] = kept + delta;
        delta = ode->trial[j] - kept; /* as rounded */
        zw_status status = step_evaluate(ode, ode->t0, ode->trial, changed, error);
        if (status != ZW_OK) {
            return status;
        }
        for (int i = 0; i < n; i++) {
            r->J[(long)i * n + j] = (changed[i] - ode->f0[i]) / delta;
        }
        ode->trial[j] = kept;
    }
    r->have_J = 1;
    r->J_t = ode->t0;
    r->factored_h = 0.0;
    return ZW_OK;
}

static void factor(step_ode *ode, double h)
{
    radau *r = ode->more;
    int n = ode->n;
    memset(r->pair, 0, 4 * (size_t)n * (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++) {
        double *top = r->pair + (long)i * 2 * n, *bottom = r->pair + (long)(n + i) * 2 * n;
        for (int j = 0; j < n; j++) {
            double J = r->J[(long)i * n + j];
            r->real[(long)i * n + j] = -J;
            top[j] = -J;
            bottom[n + j] = -J;
        }
        r->real[(long)i * n + i] += GAMMA / h;
        top[i] += ALPHA / h;
        bottom[n + i] += ALPHA / h;
        top[n + i] = -BETA / h;
        bottom[i] = BETA / h;
    }
    dense_lu(n, r->real, n, r->real_pivot, DBL_MIN);
    dense_lu(2 * n, r->pair, 2 * n, r->pair_pivot, DBL_MIN);
    r->factored_h = h;
    r->have_noise = 0;
}

/* Computes u, with the inverse column by column; overwrites `trial` and dw. */
static void measure_noise(step_ode *ode)
{
    radau *r = ode->more;
    int n = ode->n;
    double *column = r->dw, *rough = ode->trial;
    for (int i = 0; i < n; i++) {
        rough[i] = fabs(ode->f0[i]);
        for (int j = 0; j < n; j++) {
            rough[i] += fabs(r->J[(long)i * n + j] * ode->y0[j]);
        }
        r->noise[i] = 0.0;
    }
    for (int j = 0; j < n; j++) {
        memset(column, 0, (size_t)n * sizeof *column);
        column[j] = DBL_EPSILON * rough[j];
        dense_lu_solve(n, r->real, n, r->real_pivot, column);
        for (int i = 0; i < n; i++) {
            r->noise[i] += fabs(column[i]);
        }
    }
    double most = 0.0; /* relative to the tolerance */
    for (int i = 0; i < n; i++) {
        most = fmax(most, NOISY * r->noise[i] / step_scale(ode, i, 0.0));
    }
    r->have_noise = 1;
    r->small_noise = most <= TOLERATED;
    ode->base.view.reachable = most > 1.0 ? most * ode->option.tolerance : 0.0;
}

/* ---- Newton ---------------------------------------------------------------------------------- */

/* Stages from the polynomial of the last step, or of an earlier attempt at this one; else zero. */
static void guess_stages(step_ode *ode, double h)
{
    radau *r = ode->more;
    int n = ode->n;
    double c[3], weight[3];
    nodes(c);
    memset(r->z, 0, 3 * (size_t)n * sizeof(double));
    for (int k = 0; r->have_guess && k < 3; k++) {
        const double *base = r->guess, *old = r->guess + n;
        cubic((ode->t0 + c[k] * h - r->guess_t) / r->guess_h, weight);
        for (int i = 0; i < n; i++) {
            double rise = weight[0] * old[i] + weight[1] * old[n + i] + weight[2] * old[2 * n + i];
            r->z[(long)k * n + i] = base[i] + rise - ode->y0[i];
        }
    }
    transform(n, T_INVERSE, r->z, r->w);
}

/* One iteration: F at the stages, the change dw, its size in units of the tolerance. */
static zw_status iterate(step_ode *ode, double h, double *size, zw_error *error)
{
    radau *r = ode->more;
    int n = ode->n;
    double c[3];
    nodes(c);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < n; i++) {
            ode->trial[i] = ode->y0[i] + (ode->low0[i] + r->z[(long)k * n + i]);
        }
        double *F = r->F + (long)k * n;
        zw_status status = step_evaluate(ode, ode->t0 + c[k] * h, ode->trial, F, error);
        if (status != ZW_OK) {
            return status;
        }
    }
    transform(n, T_INVERSE, r->F, r->dw);
    for (int i = 0; i < n; i++) { /* dw = T^-1 F - Lambda/h w */
        double w0 = r->w[i], w1 = r->w[n + i], w2 = r->w[2 * n + i];
        r->dw[i] -= GAMMA / h * w0;
        r->dw[n + i] -= (ALPHA * w1 - BETA * w2) / h;
        r->dw[2 * n + i] -= (BETA * w1 + ALPHA * w2) / h;
    }
    dense_lu_solve(n, r->real, n, r->real_pivot, r->dw);
    dense_lu_solve(2 * n, r->pair, 2 * n, r->pair_pivot, r->dw + n);
    *size = 0.0;
    for (int i = 0; i < 3 * n; i++) {
        double part = fabs(r->dw[i]) / step_scale(ode, i % n, 0.0);
        *size = part <= *size ? *size : part; /* NaN stays */
        r->w[i] += r->dw[i];
    }
    transform(n, T, r->w, r->z);
    return ZW_OK;
}

/* Is the remaining change of Newton's method noise? */
static int is_noise(const step_ode *ode, double goal)
{
    const radau *r = ode->more;
    int n = ode->n, yes = r->have_noise && r->small_noise;
    for (int i = 0; i < 3 * n && yes; i++) {
        yes = fabs(r->dw[i]) <= NOISY * r->noise[i % n] + goal * step_scale(ode, i % n, 0.0);
    }
    return yes;
}

/* Simplified Newton; *converged says whether it did. */
static zw_status newton(step_ode *ode, double h, int *converged, zw_error *error)
{
    radau *r = ode->more;
    double tolerance = ode->option.tolerance, before = 0.0, size = 0.0;
    double goal = fmax(10.0 * DBL_EPSILON / tolerance, fmin(0.03, sqrt(tolerance)));
    *converged = 0;
    r->keep_J = 0;
    for (int i = 0; i < NEWTON; i++, before = size) {
        zw_status status = iterate(ode, h, &size, error);
        if (status != ZW_OK) {
            return status;
        }
        r->iterations = i + 1;
        if (is_noise(ode, goal)) {
            *converged = 1;
            return ZW_OK;
        }
        double rate = i > 0 ? size / before : 0.5;
        if (!(rate < 0.99)) {
            return ZW_OK; /* diverges, or is NaN */
        }
        double ahead = size * rate / (1.0 - rate);
        if (ahead <= 0.1 * goal || (i > 0 && ahead <= goal)) {
            *converged = 1;
            r->keep_J = i > 0 && rate < 1e-3;
            return ZW_OK;
        }
        for (int k = i + 1; k < NEWTON - 1; k++) {
            ahead *= rate;
        }
        if (i > 0 && ahead > goal) {
            return ZW_OK; /* too slow to converge */
        }
    }
    return ZW_OK;
}

/* ---- The step -------------------------------------------------------------------------------- */

/* e = (gamma/h - J) \ (f + (e1 z1 + e2 z2 + e3 z3)/h), in trial; its size. */
static double estimate(step_ode *ode, double h, const double *f)
{
    radau *r = ode->more;
    int n = ode->n;
    double size = 0.0;
    for (int i = 0; i < n; i++) {
        double low = (13.0 + 7.0 * ROOT6) * r->z[i] + (13.0 - 7.0 * ROOT6) * r->z[n + i];
        ode->trial[i] = f[i] - (low + r->z[2 * n + i]) / (3.0 * h);
    }
    dense_lu_solve(n, r->real, n, r->real_pivot, ode->trial);
    for (int i = 0; i < n; i++) {
        double part = fabs(ode->trial[i]) / step_scale(ode, i, ode->y0[i] + r->z[2 * n + i]);
        if (!(part <= size)) {
            size = part;
            ode->base.view.culprit = i;
        }
    }
    return size;
}

/* The same where u may be allowed for. */
static double estimate_beside_noise(step_ode *ode, double h, const double *f)
{
    radau *r = ode->more;
    int n = ode->n;
    double size = 0.0;
    if (!r->have_noise) {
        measure_noise(ode);
    }
    estimate(ode, h, f);
    for (int i = 0; i < n; i++) {
        double scale = step_scale(ode, i, ode->y0[i] + r->z[2 * n + i]);
        double part = fabs(ode->trial[i]) / (scale + (r->small_noise ? NOISY * r->noise[i] : 0.0));
        size = part <= size ? size : part;
    }
    return size;
}

static void remember(step_ode *ode, double h)
{
    radau *r = ode->more;
    size_t n = (size_t)ode->n;
    memcpy(r->guess, ode->y0, n * sizeof(double));
    memcpy(r->guess + n, r->z, 3 * n * sizeof(double));
    r->guess_t = ode->t0;
    r->guess_h = h;
    r->have_guess = 1;
}

static zw_status radau_attempt(step_ode *ode, double h, double *size, zw_error *error)
{
    radau *r = ode->more;
    int n = ode->n, converged = 0;
    zw_status status = ZW_OK;
    if (!r->have_J || (!r->keep_J && r->J_t != ode->t0)) {
        status = differentiate(ode, error);
    }
    for (int fresh = r->J_t == ode->t0; status == ZW_OK && !converged; fresh = 1) {
        if (r->factored_h != h) {
            factor(ode, h);
        }
        guess_stages(ode, h);
        status = newton(ode, h, &converged, error);
        if (status == ZW_OK && !converged && fresh && !r->have_noise) {
            measure_noise(ode);
            if (r->small_noise) {
                continue;
            }
        }
        if (status == ZW_OK && !converged && fresh) {
            r->have_guess = 0;
            *size = 256.0; /* quarters the step */
            return ZW_OK;
        }
        if (status == ZW_OK && !converged) {
            status = differentiate(ode, error);
        }
    }
    if (status != ZW_OK) {
        r->have_guess = 0;
        return status;
    }
    memcpy(ode->increment, r->z + 2L * n, (size_t)n * sizeof(double));
    ode->base.view.culprit = -1;
    *size = estimate(ode, h, ode->f0);
    /* A stiff component that is off its equilibrium at the start, after a jump or by the error of
     * the step before, appears in full whatever h is, although it decays: a second filter removes
     * it. But not at the first attempt: where the equilibrium moves, it would also hide true
     * errors. */
    if (*size > 1.0 && r->filter_at == ode->t0) {
        for (int i = 0; i < n; i++) {
            ode->trial[i] += ode->y0[i];
        }
        if (step_evaluate(ode, ode->t0, ode->trial, r->F, NULL) == ZW_OK) {
            *size = fmin(estimate(ode, h, r->F), estimate_beside_noise(ode, h, r->F));
        }
    }
    if (*size > 1.0) {
        *size = fmin(*size, estimate_beside_noise(ode, h, ode->f0));
    }
    r->filter_at = ode->t0;
    remember(ode, h);
    return ZW_OK;
}

static zw_status radau_prepare(step_ode *ode, zw_error *error)
{
    (void)ode;
    (void)error;
    return ZW_OK;
}

static void radau_interpolate(const step_ode *ode, double x, double *y)
{
    const radau *r = ode->more;
    int n = ode->n;
    double weight[3];
    cubic(x, weight);
    for (int i = 0; i < n; i++) {
        double rise = (ode->y1[i] - ode->y0[i]) + (ode->low1[i] - ode->low0[i]);
        double sum = weight[0] * r->z[i] + weight[1] * r->z[n + i] + weight[2] * rise;
        y[i] = ode->y0[i] + (ode->low0[i] + sum);
    }
}

/* size^(-1/4), less if Newton was slow, and not more than Gustafsson's prediction from the trend of
 * the last two steps; a small change is not worth a new factorisation. */
static double radau_grow(const step_ode *ode, double size)
{
    radau *r = ode->more;
    double slow = (2.0 * NEWTON + 1.0) / (2.0 * NEWTON + r->iterations);
    double least = fmax(size, 1e-8), growth = 0.9 * slow / sqrt(sqrt(least));
    if (r->last_h != 0.0) {
        double trend = sqrt(sqrt(r->last_size / least) / sqrt(least));
        growth = fmin(growth, 0.9 * fabs(ode->h / r->last_h) * trend);
    }
    r->last_h = ode->h;
    r->last_size = fmax(least, 1e-2);
    return growth >= 1.0 && growth <= 1.2 ? 1.0 : growth;
}

const step_scheme step_scheme_radau = {
    .name = "radau",
    .adaptive = 1,
    .roots = 2,
    .layout = radau_layout,
    .attempt = radau_attempt,
    .prepare = radau_prepare,
    .interpolate = radau_interpolate,
    .start = radau_start,
    .grow = radau_grow,
};
