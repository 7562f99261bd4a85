/* A path inside the cones to the solution of Coulomb's problem, or of the convex one.
 *
 * De Saxce's form of the law: with y = w + |w_T| e, e the normal, r and y are in the cone and
 * r . y = 0; in the algebra of the cone (math/jordan.h) r o y = 0. Between an inner point and the
 * solution lies
 *
 *     M x = J' r,     z = w_N,     y = (z + |w_T|, w_T),     r o y = mu e,     mu -> 0,         (1)
 *
 * with z a variable of its own: as long as z > 0, y is inside its cone wherever x goes, so that the
 * only things that must be kept inside are z and r, and what is wrong with M x = J' r and z = w_N
 * shrinks by 1 - alpha in a step of length alpha, slip or not. There is no proof that the path
 * reaches the solution, but usually it does, in ten to twenty steps whatever the contacts do. Under
 * the convex law there is no |w_T|: y = w, all of y is a variable of its own and is kept inside the
 * cone, and this is the interior point method for Gauss's minimum (Nesterov and Todd 1998), which
 * converges.
 *
 * Steps.  With Nesterov and Todd's scaling S of y and r, S y = S^-1 r = l, the third equation of
 * (1) becomes S dy + S^-1 dr = q = l \ (sigma mu e - l o l - correction), dy = T J dx - p with T =
 * 1 + e t', t the direction of w_T, and p = (z - w_N) e; under the convex law T = 1 and p = y - w.
 * Without dr and dy:
 *
 *     (M + J' S^2 T J) dx = J' (r + S q + S^2 p) - M x. (2)
 *
 * sigma and the correction are Mehrotra's; where that step is short, one towards the centre is
 * taken instead. A step is shortened until no r o y is far from mu e, because |w_T| is not linear.
 * An equality row has G = FIRM / (J M^-1 J') and r = r - G w, as in the method of multipliers.
 *
 * Start. At the r and x of some sweeps, moved inside so that mu is a small share of the energy of
 * the worst violation, V^2 / (J M^-1 J'). Without sweeps at x = 0, and with all of it; under the
 * convex law with FAR times it, as a step divides mu by ten or more there, and from near the
 * boundary the steps of what is heavy on something light would be short.
 *
 * End. The last digits are left to Newton's method (sparse_prox_newton.c), which starts with the
 * modes: by the larger of the eigenvalues of r and of y, scaled by J M^-1 J'. It is tried when the
 * certificate has fallen to TRY, and again each time mu has fallen by 100. Where the path gets
 * stuck it is tried with its full effort. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "gauss/contact/sparse_prox_inner.h"
#include "math/cone.h"
#include "math/dense/dense.h"

enum { STUCK = 8, CUTS = 8, LAST = 16, PATIENT = 40 };
#define FIRM 1e6     /* of equality rows */
#define FAR 1e6      /* mu to begin with, of the worst energy */
#define INSIDE 0.9   /* friction to begin with, of what the cone admits */
#define TRY 1e-5     /* a certificate from which Newton's method should arrive */
#define CENTRAL 0.01 /* the least eigenvalue of r o y, of mu */
#define SHORT 0.1    /* a step */

void many_path_lay_out(sparse_prox *s, base_arena *arena)
{
    many_path *p = &s->path;
    double **rows[] = {&p->r, &p->y, &p->w, &p->dr, &p->dy, &p->q, &p->slip};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        *rows[k] = base_arena_doubles(arena, (size_t)s->t.rows);
    }
    p->x = base_arena_doubles(arena, (size_t)s->t.n);
    p->z = base_arena_doubles(arena, (size_t)s->t.units);
    p->dz = base_arena_doubles(arena, (size_t)s->t.units);
    p->scaling = base_arena_bytes(arena, (size_t)s->t.units * sizeof *p->scaling);
}

static int is_cone(const many_unit *u)
{
    return u->kind != ZW_EQUALITY;
}

/* ---- Where to begin -------------------------------------------------------------------------- */

/* The energy of the worst violation, as if each were alone. */
static double violation(const many_table *t)
{
    double worst = 0;
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        double w = fmax(0, -t->c[u->first]);
        worst = fmax(worst, w * w * u->normal);
    }
    return worst;
}

static void begin(sparse_prox *s, double share)
{
    const many_table *t = &s->t;
    many_path *p = &s->path;
    int cold = !(share > 0);
    double energy = violation(t), part = cold ? (t->is_convex ? FAR : 1) : share;
    double mu = part * (energy > 0 ? energy : 1e-30);
    if (cold) {
        memset(p->x, 0, (size_t)t->n * sizeof(double));
        memset(p->r, 0, (size_t)t->rows * sizeof(double));
    } else {
        memcpy(p->x, s->sweeps.y, (size_t)t->n * sizeof(double));
        memcpy(p->r, s->sweeps.g, (size_t)t->rows * sizeof(double));
    }
    many_residuals(t, p->x, p->w);
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        double *r = p->r + u->first, normal = fmax(u->normal, DBL_MIN);
        if (!is_cone(u)) {
            continue;
        }
        double least = mu / (r[0] + sqrt(mu * normal)), *y = p->y + u->first;
        double beyond = p->w[u->first] - (u->is_convex ? cone_tangent(u->d, p->w + u->first) : 0);
        p->z[k] = cold ? least : fmax(beyond, least);
        memcpy(y, p->w + u->first, (size_t)u->d * sizeof *y);
        y[0] = p->z[k] + cone_tangent(u->d, y);
        r[0] = fmax(r[0], mu / p->z[k]);
        double size = cone_tangent(u->d, r), shrink = INSIDE * r[0] / size;
        for (int i = 1; i < u->d && size > INSIDE * r[0]; i++) {
            r[i] *= shrink;
        }
    }
}

/* ---- One step -------------------------------------------------------------------------------- */

/* w, y, the slip and mu at x, r and z, and what is left of the balance. */
static void look(sparse_prox *s)
{
    const many_table *t = &s->t;
    many_path *p = &s->path;
    int count = 0;
    p->mu = 0;
    many_residuals(t, p->x, p->w);
    many_metric_times(t, p->x, s->F);
    many_rows_push(t, p->r, s->F);
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        const double *w = p->w + u->first;
        double *y = p->y + u->first, *slip = p->slip + u->first, speed = cone_tangent(u->d, w);
        slip[0] = 0;
        for (int i = 1; i < u->d; i++) {
            slip[i] = speed > 0 && !u->is_convex ? w[i] / speed : 0;
        }
        if (!u->is_convex) {
            memcpy(y, w, (size_t)u->d * sizeof *y);
            y[0] = p->z[k] + speed;
        }
        if (is_cone(u)) {
            p->mu += dense_dot(u->d, p->r + u->first, y);
            count++;
        }
    }
    p->mu /= count > 0 ? count : 1;
}

/* G = S^2 T of one cone. */
static void slopes(const many_unit *u, const jordan_scaling *S, const double *slip, double *G)
{
    int d = u->d;
    for (int j = 0; j < d; j++) {
        double unit[MANY_ROWS] = {0}, column[MANY_ROWS];
        unit[j] = 1;
        jordan_apply(d, S, unit, column);
        jordan_apply(d, S, column, unit);
        for (int i = 0; i < d; i++) {
            G[i * d + j] = unit[i];
        }
    }
    for (int i = 0; i < d; i++) {
        for (int j = 1; j < d; j++) {
            G[i * d + j] += G[i * d] * slip[j];
        }
    }
}

/* The matrix of (2). 0: there are no factors, or something is not inside its cone. */
static int factor(sparse_prox *s)
{
    const many_table *t = &s->t;
    many_path *p = &s->path;
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        double *G = s->G + u->G;
        s->state[k] = MANY_STICK;
        if (!is_cone(u)) {
            G[0] = FIRM * u->normal;
            continue;
        }
        if (!jordan_scale(u->d, p->y + u->first, p->r + u->first, &p->scaling[k])) {
            return 0;
        }
        slopes(u, &p->scaling[k], p->slip + u->first, G);
    }
    memset(s->factored, MANY_OPEN, (size_t)t->units);
    return many_factor(s);
}

/* p of (2) for one cone. */
static void miss(const many_path *p, const many_unit *u, int k, double *to)
{
    to[0] = p->z[k] - p->w[u->first];
    for (int i = 0; i < u->d && u->is_convex; i++) {
        to[i] = p->y[u->first + i] - p->w[u->first + i];
    }
}

/* q of one cone, and what it adds to r on the right side of (2). */
static void aim(const many_path *p, const many_unit *u, int k, double target, int correct,
                double *push)
{
    const jordan_scaling *S = &p->scaling[k];
    int d = u->d, at = u->first;
    double h[MANY_ROWS], a[MANY_ROWS], b[MANY_ROWS], wrong[MANY_ROWS] = {0};
    jordan_product(d, S->lambda, S->lambda, h);
    h[0] -= target;
    if (correct) {
        double both[MANY_ROWS];
        jordan_apply(d, S, p->dy + at, a);
        jordan_apply_inverse(d, S, p->dr + at, b);
        jordan_product(d, a, b, both);
        for (int i = 0; i < d; i++) {
            h[i] += both[i];
        }
    }
    jordan_divide(d, S->lambda, h, p->q + at);
    miss(p, u, k, wrong);
    jordan_apply(d, S, wrong, a);
    for (int i = 0; i < d; i++) {
        p->q[at + i] = -p->q[at + i];
        a[i] += p->q[at + i];
    }
    jordan_apply(d, S, a, push + at);
}

/* dr, dy and dz of one cone for s->dw = J dx; how far it may go. */
static double follow_cone(const many_path *p, const many_unit *u, int k, const double *dw)
{
    const jordan_scaling *S = &p->scaling[k];
    int d = u->d, at = u->first;
    double a[MANY_ROWS], wrong[MANY_ROWS] = {0}, most = 1;
    miss(p, u, k, wrong);
    p->dz[k] = dw[at] - wrong[0];
    p->dy[at] = p->dz[k];
    for (int i = 1; i < d; i++) {
        p->dy[at + i] = dw[at + i] - wrong[i];
        p->dy[at] += p->slip[at + i] * dw[at + i];
    }
    jordan_apply(d, S, p->dy + at, a);
    for (int i = 0; i < d; i++) {
        a[i] = p->q[at + i] - a[i];
    }
    jordan_apply(d, S, a, p->dr + at);
    most = jordan_step(d, p->r + at, p->dr + at, 2);
    if (u->is_convex) {
        return fmin(most, jordan_step(d, p->y + at, p->dy + at, 2));
    }
    return p->dz[k] < 0 ? fmin(most, -p->z[k] / p->dz[k]) : most;
}

/* The step towards r o y = target e: dx in s->d, dr, dy, dz; how far it may go, at most 2. */
static double direction(sparse_prox *s, double target, int correct)
{
    const many_table *t = &s->t;
    many_path *p = &s->path;
    double most = 2, *push = s->pi;
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        if (is_cone(u)) {
            aim(p, u, k, target, correct, push);
        } else {
            p->q[u->first] = push[u->first] = -s->G[u->G] * p->w[u->first];
        }
    }
    memcpy(s->d, s->F, (size_t)t->n * sizeof(double));
    many_rows_push(t, push, s->d);
    dense_scale(t->n, -1, s->d);
    front_solve(s->front, s->d);
    many_rows_times(t, s->d, s->dw);
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        if (is_cone(u)) {
            most = fmin(most, follow_cone(p, u, k, s->dw));
        } else {
            p->dr[u->first] = p->q[u->first] - s->G[u->G] * s->dw[u->first];
        }
    }
    return most;
}

/* r . y of all cones, over their number, when they have gone on by alpha; *least: the smallest
 * eigenvalue of r o y, about, and *before as it is now, both over mu. */
static double product(const sparse_prox *s, double alpha, double *least, double *before)
{
    const many_path *p = &s->path;
    double sum = 0;
    int count = 0;
    *least = *before = HUGE_VAL;
    for (int k = 0; k < s->t.units; k++) {
        const many_unit *u = &s->t.unit[k];
        double r[MANY_ROWS], y[MANY_ROWS], z = p->z[k] + alpha * p->dz[k];
        int d = u->d, at = u->first;
        if (!is_cone(u)) {
            continue;
        }
        for (int i = 0; i < d; i++) {
            r[i] = p->r[at + i] + alpha * p->dr[at + i];
            y[i] = u->is_convex ? p->y[at + i] + alpha * p->dy[at + i]
                                : p->w[at + i] + alpha * s->dw[at + i];
        }
        double slip = cone_tangent(d, y), push = cone_tangent(d, r);
        z = u->is_convex ? y[0] - slip : z;
        y[0] = z + slip;
        double dot = dense_dot(d, r, y), l = p->scaling[k].lambda[0];
        l -= cone_tangent(d, p->scaling[k].lambda);
        sum += dot;
        count++;
        double inside = (r[0] - push) * (r[0] + push) * z * (y[0] + slip) / (2 * dot);
        *least = fmin(*least, d > 1 ? inside : dot);
        *before = fmin(*before, l * l / p->mu);
    }
    sum /= count > 0 ? count : 1;
    *least /= sum;
    return sum;
}

/* The length of the step: all of it, unless it leads away from the path. */
static double length(const sparse_prox *s, double most, double sigma)
{
    double alpha = fmin(1, 0.99 * most), mu = s->path.mu;
    for (int cut = 0; cut < CUTS; cut++, alpha *= 0.6) {
        double least, before, next = product(s, alpha, &least, &before);
        if (least >= fmin(CENTRAL, 0.3 * before) && next <= (1 + 5 * alpha * (1 - sigma)) * mu) {
            break;
        }
    }
    return alpha;
}

/* 0: there is no step. */
static int advance(sparse_prox *s)
{
    const many_table *t = &s->t;
    many_path *p = &s->path;
    if (!factor(s)) {
        return 0;
    }
    double least, before, most = direction(s, 0, 0);
    double gain = product(s, fmin(1, most), &least, &before) / p->mu;
    double sigma = fmin(fmax(gain * gain * gain, 1e-8), 1);
    most = direction(s, sigma * p->mu, 1);
    if (most < SHORT) {
        sigma = fmax(sigma, 0.5);
        most = direction(s, sigma * p->mu, 0);
    }
    double alpha = length(s, most, sigma);
    if (!(alpha > 0)) {
        return 0;
    }
    for (int j = 0; j < t->n; j++) {
        p->x[j] += alpha * s->d[j];
    }
    for (int i = 0; i < t->rows; i++) {
        p->r[i] += alpha * p->dr[i];
    }
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        p->z[k] += is_cone(u) ? alpha * p->dz[k] : 0;
        for (int i = u->first; i < u->first + u->d && u->is_convex; i++) {
            p->y[i] += alpha * p->dy[i];
        }
    }
    s->iterations++;
    return 1;
}

/* ---- Where it ends --------------------------------------------------------------------------- */

/* s->r and s->w for Newton's method, r on the cones and in them as it is going to be. */
static void read_off(sparse_prox *s)
{
    const many_table *t = &s->t;
    const many_path *p = &s->path;
    memcpy(s->r, p->r, (size_t)t->rows * sizeof(double));
    memcpy(s->w, p->w, (size_t)t->rows * sizeof(double));
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        const double *y = p->y + u->first;
        double *r = s->r + u->first, push = cone_tangent(u->d, r);
        if (!is_cone(u)) {
            continue;
        }
        double z = u->is_convex ? y[0] - cone_tangent(u->d, y) : p->z[k];
        int open = r[0] + push < u->normal * z;
        int slides = r[0] - push < u->normal * (y[0] + cone_tangent(u->d, y));
        double inside = r[0] * (1 - 1e-8), to = slides ? r[0] : inside;
        double share = open ? 0 : slides || push > inside ? to / push : 1;
        r[0] = open ? 0 : r[0];
        for (int i = 1; i < u->d; i++) {
            r[i] *= push > 0 ? share : 0;
        }
    }
}

int many_follow(sparse_prox *s, const many_task *task, double share)
{
    static const many_way polish = {.kappa = 1e5, .effort = LAST};
    static const many_way patient = {.kappa = 100, .effort = PATIENT, .fails = 6, .anywhere = 1};
    many_path *p = &s->path;
    double lowest = HUGE_VAL, next = HUGE_VAL;
    int stuck = 0;
    if (s->t.boxes) {
        return 0; /* no cones: they have no path */
    }
    begin(s, share);
    for (int step = 0; step < task->steps && !many_spent(s, task); step++) {
        look(s);
        double error = many_certify(s, task, p->x, p->r);
        stuck = p->mu > 0.5 * lowest ? stuck + 1 : 0;
        lowest = stuck > 0 ? lowest : p->mu;
        int try = next < HUGE_VAL ? p->mu < next : error <= TRY, lost = stuck >= STUCK;
        if (try || lost) {
            next = 0.01 * p->mu;
            read_off(s);
            if (many_newton(s, task, lost ? &patient : &polish) || s->best <= task->good || lost) {
                break;
            }
        }
        if (!advance(s)) {
            break;
        }
    }
    return s->best <= task->tolerance;
}
