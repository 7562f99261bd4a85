/* Steps over singular instants (leaps).
 *
 * The rows A(q) of a mechanism may lose rank for an instant t* (a parallelogram that lies flat)
 * while the motion passes through it smoothly: there two branches of phi(q) = 0 cross, and the
 * motion stays on one of them. Only our formulas are singular. Let s = w (t - t*), w the rate at
 * which the rows turn.
 *
 *   The smallest singular value of the rows is ~ |s|, and so is the distance of the branches.
 *   Round-off e of phi moves the nearest point of the manifold by e/s along the weak direction. A
 *   position off by d has speeds off by w d/s, and speeds off by u have accelerations off by 2 w
 *   u/s: A a = b with A = O(s) and b linear in both. So accelerations on the manifold have the
 *   round-off 2 w^2 e/s^3; off the manifold, where the stages of a Runge-Kutta step are, they have
 *   errors of (w^2 d/s^2 + w u/s), however smooth the field is on it. That leads to wrong branches
 *   and vanishing steps.
 *
 * The weak direction is orthogonal to the motion in the metric of the masses; errors along it
 * affect the motion only as far as the direction turns within a step. So nothing is lost at s =
 * 0.05, where the noise is 1e-11 w^2, as long as the field is not evaluated closer than that.
 *
 * A leap is one step of a collocation method, symmetric about t*, with a gap without nodes (the
 * hole) around it. Its nodes x in (-1, 1), t = middle + half x, are the zeros of the Chebyshev
 * polynomial T_10 mapped to both sides,
 *
 *     x^2 = (1 + D^2)/2 + (1 - D^2)/2 cos((2j - 1) pi/20),     D = 0.15, j = 1..10,
 *
 * which minimise the largest |prod (x - x_j)| on D <= |x| <= 1. No node is nearer to t* than 0.17
 * half, twice as far as Gauss's nodes; the price is a factor cosh(20 D) = 10 on the interpolation
 * error in the hole, and on noise. A wider hole costs more in that than it gains in s^3. More nodes
 * would allow a longer half but a smaller D, and nothing is gained.
 *
 * With k_j = f(P y_j), P the projection onto the manifold, and l_j Lagrange's polynomials,
 *
 *     y_i = y0 + half sum_j k_j int_x0^{x_i} l_j dx,
 *
 * solved by Gauss-Seidel sweeps: f P, unlike f, has bounded derivatives wherever P finds the
 * branch, so they contract like half df/dy, divided by the number of nodes. To find the branch it
 * suffices that the first guess is off by less than s: it comes from Adams formulas, node after
 * node. x0 is the start of the step: -1 as a rule, but if the motion begins near t* (for example
 * after a stop there), the nodes extend into its past, where the solution exists as well.
 *
 * Error. The field along the solution is expanded in Legendre polynomials up to P_19. The last two
 * coefficients c_18, c_19 estimate the truncation: integrated, at most 2 half c / 39. Where the
 * rows only approach a loss of rank, to a distance d, the motion turns away within s = d and the
 * field has poles there: the coefficients do not decay, and the leap is rejected.
 *
 * Round-off. Sweeps end when they change the result by less than a hundredth of the tolerance, or
 * when the change stops decreasing: the rest is noise, and a smaller step would have more. It is
 * accepted up to fifty thousand times the round-off of the largest number in the state, which
 * causes it (e above): angles after ten revolutions have more of it than points that return.
 *
 * Prediction. `margin` falls to zero as |t - t*|. Two of its values, at the ends of the last step,
 * give t* accurately enough to start, and two at nodes before the hole accurately enough to place
 * it.
 *
 * The caller's largest step does not apply to leaps: steps that are short compared with the hole
 * may end on a wrong branch: a crank of 1 m that folds at 5 rad/s did so with all steps below 8 ms,
 * while its energy was kept to 1e-9.
 *
 * Limits. Ordinary steps continue where the motion turns back within a hundredth of such a
 * position, inside the hole of any possible leap; from a start at t* itself, where the rank is
 * already lost and the margin measures the remaining rows; and where many loops become singular in
 * quick succession. */
#include "step/ode/leap.h"

#include "step/ode/control.h"

#include <math.h>
#include <string.h>

enum { NODES = LEAP_DEGREE, ORDER = 7, SWEEPS = 40, TRIES = 8, MOVES = 5 };

static const double NEAR = 0.5;     /* the margin below which its approach to zero is watched */
static const double WIDE = 0.4;     /* the margin at the ends of a leap that starts near t* */
static const double REACH = 8.0;    /* the longest `half` of a leap, in steps of the method */
static const double CENTRED = 0.02; /* accuracy of t*, in units of half; from near: */
static const double NEARLY = 0.05;  /* the sides disagree by the curvature of the margin */
static const double LEAST = 1e-13;  /* least tolerance used */
static const double NOISE = 1e-11;  /* accepted noise, relative to the state */

static const double node_side[NODES / 2] = {
    0.16887073024691535, 0.27526452968541948, 0.40700314580488800, 0.53792391957626917,
    0.65938809149967770, 0.76662073073222647, 0.85623469723417744, 0.92566108231086675,
    0.97300022543525899, 0.99698679854142180};

struct step_leap {
    double *y;              /* [NODES * n] states at the nodes */
    double *k;              /* [NODES * n] the field there */
    double *before;         /* [n] scratch */
    double x[NODES];        /* the nodes, ascending */
    double margin[NODES];   /* there */
    double S[NODES][NODES]; /* S_ij = int_-1^{x_i} l_j */
    int ready;              /* x and S are filled */

    double middle, half; /* t = middle + half x; half has the sign of the direction of time */
    double start;        /* x of t0 */
    int taken;           /* the last step is this leap */

    double margin0, margin1; /* at t0 and t1 */
    double span;             /* |t1 - t0|; 0: there is no step between them */
    double slope;            /* of the margin on the way to t0, along the motion; NAN: unknown */
    double allowed;          /* longer halves than this have been rejected on this approach */
    int lost;                /* how often t* was not where it had been predicted */
    double size; /* the error that caused the last rejection; INFINITY: another reason */
};

/* ---- Integrals of polynomials ---------------------------------------------------------------- */

/* weight_j = int_from^to l_j, l_j = 1 at x_j and 0 at the others: by the ten-point Gauss rule,
 * which is exact for all `count` <= 20. */
static void integrate(int count, const double *x, double from, double to, double *weight)
{
    static const double point[5] = {0.148874338981631211, 0.433395394129247191,
                                    0.679409568299024406, 0.865063366688984511,
                                    0.973906528517171720};
    static const double share[5] = {0.295524224714752870, 0.269266719309996355,
                                    0.219086362515982044, 0.149451349150580593,
                                    0.066671344308688138};
    double middle = 0.5 * (from + to), half = 0.5 * (to - from);
    for (int j = 0; j < count; j++) {
        weight[j] = 0.0;
        for (int g = 0; g < 10; g++) {
            double at = middle + (g % 2 == 0 ? half : -half) * point[g / 2], l = 1.0;
            for (int r = 0; r < count; r++) {
                l *= r == j ? 1.0 : (at - x[r]) / (x[j] - x[r]);
            }
            weight[j] += half * share[g / 2] * l;
        }
    }
}

static void make_ready(step_leap *leap)
{
    for (int i = 0; i < NODES / 2; i++) {
        leap->x[NODES / 2 - 1 - i] = -node_side[i];
        leap->x[NODES / 2 + i] = node_side[i];
    }
    for (int i = 0; i < NODES; i++) {
        integrate(NODES, leap->x, -1.0, leap->x[i], leap->S[i]);
    }
    leap->ready = 1;
}

void leap_layout(step_ode *ode, base_arena *arena)
{
    if (ode->option.exact == NULL || ode->scheme == NULL || !ode->scheme->adaptive) {
        return;
    }
    size_t n = (size_t)ode->n;
    step_leap *leap = base_arena_bytes(arena, sizeof *leap);
    double *y = base_arena_doubles(arena, NODES * n), *k = base_arena_doubles(arena, NODES * n);
    double *before = base_arena_doubles(arena, n);
    if (leap != NULL) {
        *leap = (step_leap){
            .y = y, .k = k, .before = before, .slope = NAN, .allowed = INFINITY, .size = INFINITY};
    }
    ode->leap = leap;
}

/* ---- Prediction ------------------------------------------------------------------------------ */

void leap_note(step_ode *ode)
{
    if (ode->leap != NULL) {
        ode->leap->margin1 = *ode->option.margin;
        ode->leap->span = fabs(ode->h);
    }
}

/* Rejections before t* do not count after it. */
static void forget(step_leap *leap)
{
    leap->allowed = leap->size = INFINITY;
    leap->lost = 0;
}

void leap_begin(step_ode *ode)
{
    step_leap *leap = ode->leap;
    if (leap != NULL) {
        leap->margin0 = leap->margin1 = *ode->option.margin;
        leap->span = 0.0;
        leap->slope = NAN;
        forget(leap);
        leap->taken = 0;
    }
}

void leap_stay(step_ode *ode)
{
    if (ode->leap != NULL) {
        ode->leap->margin1 = ode->leap->margin0;
        ode->leap->span = 0.0;
        ode->leap->taken = 0;
    }
}

/* The slope of the margin at the end of a leap: between the nodes before it or, in the hole and
 * just after it, of the line from t*. */
static double slope_inside(const step_leap *leap, double t)
{
    double x = (t - leap->middle) / leap->half;
    int i = NODES - 1;
    while (i > 1 && leap->x[i] > x) {
        i--;
    }
    if (i == NODES / 2 || i == NODES / 2 - 1) {
        return leap->margin1 / (x * fabs(leap->half));
    }
    double rise = leap->margin[i] - leap->margin[i - 1];
    return rise / ((leap->x[i] - leap->x[i - 1]) * fabs(leap->half));
}

void leap_step_on(step_ode *ode)
{
    step_leap *leap = ode->leap;
    if (leap == NULL) {
        return;
    }
    if (leap->taken) {
        leap->slope = slope_inside(leap, ode->t0);
    } else if (leap->span > 0.0) {
        leap->slope = (leap->margin1 - leap->margin0) / leap->span;
    }
    leap->margin0 = leap->margin1;
    leap->span = 0.0;
    leap->taken = ode->base.view.leapt = 0;
}

/* Without history: evaluates a little ahead and back. Where t* is between, the steeper side is
 * without it. */
static int probe(step_ode *ode, double toward)
{
    step_leap *leap = ode->leap;
    double reach = 0.05 * ode->next, margin[2];
    for (int side = 0; side < 2; side++) {
        double h = side == 0 ? -toward * reach : toward * reach;
        for (int i = 0; i < ode->n; i++) {
            leap->y[i] = ode->y0[i] + h * ode->f0[i];
        }
        ode->base.view.evaluations++;
        if (ode->option.exact(ode->option.user, ode->t0 + h, leap->y, leap->k, NULL) != ZW_OK) {
            return 0;
        }
        margin[side] = *ode->option.margin;
    }
    double steep = fmax(fabs(margin[0] - leap->margin0), fabs(margin[1] - leap->margin0)) / reach;
    leap->slope = margin[1] < margin[0] ? -steep : steep;
    return 1;
}

/* How far ahead (negative: behind) t* is, and the half of a leap from near it; 0: too far away. */
static int foresee(step_ode *ode, double toward, double *ahead, double *wide)
{
    step_leap *leap = ode->leap;
    if (!(leap->margin0 < NEAR) || (isnan(leap->slope) && !probe(ode, toward))) {
        return 0;
    }
    *ahead = -leap->margin0 / leap->slope;
    *wide = WIDE / fabs(leap->slope);
    if (!isfinite(*ahead) || !(*wide < INFINITY)) {
        return 0;
    }
    return *ahead > 0.0 ? *ahead < fmax(REACH * ode->next, 0.5 * *wide) : *ahead > -0.25 * *wide;
}

/* ---- The first guess ------------------------------------------------------------------------- */

/* The unit of errors of component r. */
static double scale_of(const step_ode *ode, int r, double y)
{
    return step_scale(ode, r, y) * fmax(1.0, LEAST / ode->option.tolerance);
}

static zw_status evaluate(step_ode *ode, int i)
{
    step_leap *leap = ode->leap;
    double *y = leap->y + (long)i * ode->n, *k = leap->k + (long)i * ode->n;
    double t = leap->middle + leap->half * leap->x[i];
    zw_status status = step_check_finite(ode->n, y, "state", t, &ode->base.view.culprit, NULL);
    if (status == ZW_OK) {
        ode->base.view.evaluations++;
        status = ode->option.exact(ode->option.user, t, y, k, NULL);
        leap->margin[i] = *ode->option.margin;
        ode->no_memory |= status == ZW_NO_MEMORY;
    }
    return status == ZW_OK
               ? step_check_finite(ode->n, k, "rate of state", t, &ode->base.view.culprit, NULL)
               : status;
}

/* Predicts node i from the polynomial through the field at the nodes from `done` up or down to i,
 * without i, and at the start as long as that is far enough from t*, or alone. */
static zw_status predict(step_ode *ode, int i, int done)
{
    step_leap *leap = ode->leap;
    int n = ode->n, back = i < done ? -1 : 1, nodes = back * (i - done), count = 0;
    double x[ORDER], weight[ORDER], from = leap->start;
    const double *k[ORDER], *y0 = ode->y0;
    if (nodes > 0) {
        from = leap->x[i - back];
        y0 = leap->y + (long)(i - back) * n;
    }
    for (; count < nodes && count < ORDER; count++) {
        int j = i - back * (count + 1);
        x[count] = leap->x[j];
        k[count] = leap->k + (long)j * n;
    }
    if (count == 0 || (count < ORDER && leap->margin0 > 1e-3)) {
        x[count] = leap->start;
        k[count++] = ode->f0;
    }
    integrate(count, x, from, leap->x[i], weight);
    double *y = leap->y + (long)i * n;
    memcpy(y, y0, (size_t)n * sizeof *y);
    for (int j = 0; j < count; j++) {
        for (int r = 0; r < n; r++) {
            y[r] += leap->half * weight[j] * k[j][r];
        }
    }
    return evaluate(ode, i);
}

/* Where the line through the margins of nodes i and j is zero. */
static double zero_of(const step_leap *leap, int i, int j)
{
    double fall = (leap->margin[i] - leap->margin[j]) / (leap->x[j] - leap->x[i]);
    return leap->x[j] + leap->margin[j] / fall;
}

/* Predicts all nodes, forwards and then backwards from the start; *zero is the location found for
 * t*. From far away it is determined before the hole, and if it is not in the middle the rest is
 * not evaluated. */
static zw_status predict_all(step_ode *ode, double *zero)
{
    const step_leap *leap = ode->leap;
    int middle = NODES / 2, first = 0;
    zw_status status = ZW_OK;
    while (first < NODES && leap->x[first] <= leap->start) {
        first++;
    }
    for (int i = first; i < NODES && status == ZW_OK; i++) {
        status = predict(ode, i, first);
        if (i > first + 1 && i < middle && first < middle - 3 &&
            leap->margin[i] > leap->margin[i - 1]) { /* t* has been passed, far from the middle */
            *zero = zero_of(leap, i - 2, i - 1);
            return status;
        }
        if (i == middle - 2 && first < middle - 3) {
            *zero = zero_of(leap, i - 1, i);
            if (!(fabs(*zero) <= CENTRED)) {
                return status;
            }
        }
    }
    for (int i = first - 1; i >= 0 && status == ZW_OK; i--) {
        status = predict(ode, i, first - 1);
    }
    if (first >= middle - 3) {
        *zero = 0.5 * (zero_of(leap, middle - 2, middle - 1) + zero_of(leap, middle + 1, middle));
    }
    return status;
}

/* The first guess, with the hole over t*: 1; 0: there is no such t*, or it cannot be reached. */
static int place(step_ode *ode)
{
    step_leap *leap = ode->leap;
    int from_far = leap->start == -1.0;
    for (int moves = 0; moves < MOVES; moves++) {
        double zero = NAN;
        if (predict_all(ode, &zero) != ZW_OK || !(fabs(zero) < 1.0)) {
            return 0;
        }
        if (fabs(zero) <= (from_far ? CENTRED : NEARLY)) {
            return 1;
        }
        leap->middle += zero * leap->half;
        if (from_far) {
            leap->half = leap->middle - ode->t0;
        } else {
            leap->start = (ode->t0 - leap->middle) / leap->half;
        }
        if (!(fabs(leap->start) <= 1.0)) {
            return 0;
        }
    }
    return 0;
}

/* ---- Collocation ----------------------------------------------------------------------------- */

/* One sweep; returns the change of the result by the changes at all nodes, in units of the
 * tolerance. Not finite: the field failed. */
static double sweep(step_ode *ode, const double *to_start)
{
    step_leap *leap = ode->leap;
    int n = ode->n;
    double worst = 0.0, *end = leap->S[NODES - 1];
    for (int i = 0; i < NODES; i++) {
        double *y = leap->y + (long)i * n, *k = leap->k + (long)i * n;
        for (int r = 0; r < n; r++) {
            double sum = 0.0;
            for (int j = 0; j < NODES; j++) {
                sum += (leap->S[i][j] - to_start[j]) * leap->k[(long)j * n + r];
            }
            y[r] = ode->y0[r] + (ode->low0[r] + leap->half * sum);
        }
        memcpy(leap->before, k, (size_t)n * sizeof *k);
        if (evaluate(ode, i) != ZW_OK) {
            return NAN;
        }
        for (int r = 0; r < n; r++) {
            double change = leap->half * end[i] * (k[r] - leap->before[r]);
            worst = fmax(worst, fabs(change) / scale_of(ode, r, y[r]));
        }
    }
    return worst;
}

/* The noise that must be accepted, in units of the tolerance. */
static double floor_of(const step_ode *ode)
{
    double largest = 1.0;
    for (int r = 0; r < ode->n; r++) {
        largest = fmax(largest, fabs(ode->y0[r]));
    }
    return fmax(1.0, NOISE * largest / fmax(ode->option.tolerance, LEAST));
}

static int converge(step_ode *ode)
{
    double last[2] = {INFINITY, INFINITY}, to_start[NODES];
    integrate(NODES, ode->leap->x, -1.0, ode->leap->start, to_start);
    for (int s = 0; s < SWEEPS; s++) {
        double change = sweep(ode, to_start);
        if (change <= 0.01) {
            return 1;
        }
        if (!(change <= 0.5 * last[0])) { /* over two sweeps, as they may alternate */
            return change <= floor_of(ode);
        }
        last[0] = last[1];
        last[1] = change;
    }
    return 0;
}

/* The Legendre coefficients c_19 and c_18, in units of the tolerance. With d_j = 1/prod_{r != j}
 * (x_j - x_r), that of x^19 is sum d_j k_j, and, as the x_j sum to zero, that of x^18 is sum x_j
 * d_j k_j. */
static double size_of(step_ode *ode)
{
    static const double leading[2] = {67415.740585327148, 34618.893814086914}; /* of P_19, P_18 */
    const step_leap *leap = ode->leap;
    int n = ode->n;
    double d[NODES], worst = 0.0;
    for (int j = 0; j < NODES; j++) {
        d[j] = 1.0;
        for (int r = 0; r < NODES; r++) {
            d[j] /= r == j ? 1.0 : leap->x[j] - leap->x[r];
        }
    }
    for (int r = 0; r < n; r++) {
        double odd = 0.0, even = 0.0;
        for (int j = 0; j < NODES; j++) {
            odd += d[j] * leap->k[(long)j * n + r];
            even += leap->x[j] * d[j] * leap->k[(long)j * n + r];
        }
        double missing = fmax(fabs(odd) / leading[0], fabs(even) / leading[1]);
        double scale = scale_of(ode, r, leap->y[(long)(NODES - 1) * n + r]);
        double size = 2.0 * fabs(leap->half) * missing / (2 * NODES - 1) / scale;
        if (size > worst) {
            worst = size;
            ode->base.view.culprit = r;
        }
    }
    return worst;
}

/* ---- The leap -------------------------------------------------------------------------------- */

/* Attempts a leap as predicted, by +-half around t0 + ahead. If it is rejected, `allowed` is a
 * length that may succeed. */
static int attempt(step_ode *ode, double ahead, double half)
{
    step_leap *leap = ode->leap;
    if (!leap->ready) {
        make_ready(leap);
    }
    leap->middle = ode->t0 + ahead;
    leap->half = half;
    leap->start = ahead == half ? -1.0 : -ahead / half;
    if (!place(ode)) {
        leap->allowed = ++leap->lost < 4 ? 0.6 * fabs(half) : 0.0;
        return 0;
    }
    if (!converge(ode)) {
        leap->allowed = 0.7 * fabs(leap->half);
        return 0;
    }
    double size = size_of(ode), before = leap->size, root = sqrt(sqrt(sqrt(sqrt(size))));
    leap->size = size;
    if (!(size <= floor_of(ode))) {
        int falls =
            size <= 0.5 * before; /* otherwise there is a pole, and a shorter leap is no better */
        leap->allowed = falls ? fabs(leap->half) * fmin(fmax(0.9 / root, 0.3), 0.9) : 0.0;
        return 0;
    }
    return 1;
}

static void aim(step_ode *ode, double limit)
{
    double t1 = ode->leap->middle + ode->leap->half;
    if ((limit > ode->t0) == (t1 > limit)) {
        t1 = limit;
    }
    ode->t1 = t1;
    ode->h = t1 - ode->t0;
    leap_increment(ode, t1, ode->increment);
}

int leap_try(step_ode *ode, double *limit)
{
    step_leap *leap = ode->leap;
    double toward = *limit > ode->t0 ? 1.0 : -1.0, ahead, wide;
    if (leap == NULL) {
        return 0;
    }
    if (!foresee(ode, toward, &ahead, &wide)) {
        forget(leap);
        return 0;
    }
    for (int tries = 0; tries < TRIES; tries++) {
        int far = ahead >= (tries == 0 ? 0.5 : 0.2) * wide;
        double half = fmin(far ? ahead : wide, leap->allowed);
        if (half < 0.05 * wide) {
            return 0; /* no leap */
        }
        if (half < fabs(ahead)) { /* a shorter one, later */
            double room = fmin(fmax(ahead - half, 0.05 * ahead), fabs(*limit - ode->t0));
            *limit = ahead > 0.0 ? ode->t0 + toward * room : *limit;
            return 0;
        }
        if (attempt(ode, toward * ahead, toward * half)) {
            aim(ode, *limit);
            return 1;
        }
        ode->base.view.rejected++;
        if (leap->allowed > 0.0) {
            ahead = toward * (leap->middle - ode->t0);
        }
    }
    return 0;
}

void leap_accept(step_ode *ode)
{
    ode->leap->taken = ode->base.view.leapt = 1;
    forget(ode->leap);
}

void leap_refuse(step_ode *ode)
{
    ode->base.view.rejected++;
    ode->leap->allowed = 0.7 * fabs(ode->leap->half);
}

/* ---- Inside ---------------------------------------------------------------------------------- */

int leap_taken(const step_ode *ode)
{
    return ode->leap != NULL && ode->leap->taken;
}

void leap_increment(const step_ode *ode, double t, double *increment)
{
    const step_leap *leap = ode->leap;
    double weight[NODES];
    integrate(NODES, leap->x, leap->start, (t - leap->middle) / leap->half, weight);
    for (int r = 0; r < ode->n; r++) {
        double sum = 0.0;
        for (int j = 0; j < NODES; j++) {
            sum += weight[j] * leap->k[(long)j * ode->n + r];
        }
        increment[r] = leap->half * sum;
    }
}

/* The projection of the end is distributed along the step. */
void leap_interpolate(const step_ode *ode, double t, double *y)
{
    double x = (t - ode->t0) / ode->h;
    leap_increment(ode, t, y);
    for (int r = 0; r < ode->n; r++) {
        double rise = (ode->y1[r] - ode->y0[r]) + (ode->low1[r] - ode->low0[r]);
        y[r] = ode->y0[r] + (ode->low0[r] + (y[r] + x * (rise - ode->increment[r])));
    }
}
