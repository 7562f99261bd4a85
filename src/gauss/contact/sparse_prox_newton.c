/* Newton's method on the method of multipliers: sparse_prox.c (1), (2).
 *
 * Newton. H = M + J' G J with G = - d pi/d w: the unit matrix times rho where a contact sticks,
 * zero where it is open; sliding along -t, t = r_T - rho w_T, the normal's slope drags that of the
 * friction along, G_TN = rho t/|t|, and G_TT = rho (r_N/|t|) (1 - t t'/|t|^2): no symmetry. Full
 * steps are taken, as shortening a step for all contacts because one of them changes its mode makes
 * no progress; only where no mode changes and slip turns too far is a step shortened. The convex
 * law has a minimum that F is the slope of: there the search along the line always leads down.
 *
 * kappa. rho = kappa / (J M^-1 J') of the row, about. With a given set of contacts that push, stick
 * and slide, a step gains the factor 1 + kappa s, s the scaled eigenvalues of J M^-1 J', and its
 * matrix need be factored once. Steps with a large kappa are as hard as the problem itself: sets
 * change by dozens, and Newton cycles. With a small one it takes many steps. So it grows where
 * steps gain little; above all where the centre drifts along a null vector of the closed contacts,
 * until one of them opens or slides: then w is constant, and kappa w is the progress. Where Newton
 * fails, the centre is restored and kappa is increased less.
 *
 * Centres. As long as no contact changes its mode, a step r -> r+ is linear, and slow modes are
 * few: the modes of towers that bend, with eigenvalues s as small as 1/N^4. So the steps are
 * accelerated (sparse_prox_anderson.c): each costs one solve with the factors that are there, where
 * a larger kappa costs a factorisation, and digits of rho w. */
#include <math.h>
#include <string.h>

#include "gauss/contact/sparse_prox_inner.h"
#include "math/dense/dense.h"

enum { STEPS = 200, CENTRES = 60, CIRCLES = 4, STALE = 3 };
#define MOST 1e5    /* of kappa */
#define EXACT 1e-12 /* a certificate at which moving the centre does not pay: test_many_cost.c */

/* ---- The balance ----------------------------------------------------------------------------- */

/* |y| in the units of sqrt(energy), the diagonal of M taken for M. */
static double size_of(const sparse_prox *s, const double *y)
{
    double sum = 0;
    for (int j = 0; j < s->t.n; j++) {
        sum += y[j] * y[j] / s->t.mass[j];
    }
    return sqrt(sum);
}

static double size_of_push(sparse_prox *s)
{
    memset(s->y, 0, (size_t)s->t.n * sizeof(double));
    many_rows_push(&s->t, s->pi, s->y);
    return size_of(s, s->y);
}

void many_residuals(const many_table *t, const double *x, double *w)
{
    many_rows_times(t, x, w);
    for (int i = 0; i < t->rows; i++) {
        w[i] += t->c[i];
    }
}

/* All at x, and the size of F. */
static double evaluate(const sparse_prox *s, const double *x, double *w, double *pi,
                       unsigned char *state, double *F)
{
    many_residuals(&s->t, x, w);
    for (int k = 0; k < s->t.units; k++) {
        const many_unit *u = &s->t.unit[k];
        int at = u->first;
        state[k] = (unsigned char)many_law(u, s->kappa, s->r + at, w + at, pi + at);
    }
    many_metric_times(&s->t, x, F);
    many_rows_push(&s->t, pi, F);
    return size_of(s, F);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* F . d at x + alpha d. */
static double along(const sparse_prox *s, double alpha, double xMd, double dMd)
{
    double g = xMd + alpha * dMd, pi[MANY_ROWS], w[MANY_ROWS];
    for (int k = 0; k < s->t.units; k++) {
        const many_unit *u = &s->t.unit[k];
        const double *w0 = s->w + u->first, *dw = s->dw + u->first;
        for (int i = 0; i < u->d; i++) {
            w[i] = w0[i] + alpha * dw[i];
        }
        many_law(u, s->kappa, s->r + u->first, w, pi);
        for (int i = 0; i < u->d; i++) {
            g -= dw[i] * pi[i];
        }
    }
    return g;
}

/* Where F . d vanishes, about, on the way to d: the secant method, bracketed (Illinois). */
static double search(sparse_prox *s)
{
    enum { LOOKS = 30 };
    many_metric_times(&s->t, s->d, s->y);
    many_rows_times(&s->t, s->d, s->dw);
    double xMd = dense_dot(s->t.n, s->x, s->y), dMd = dense_dot(s->t.n, s->d, s->y), alpha = 1;
    double low = 0, high = 1, g_low = along(s, 0, xMd, dMd), g_high = along(s, 1, xMd, dMd);
    double start = fabs(g_low);
    if (!(g_low < 0) || !(g_high > 0.1 * start)) {
        return 1;
    }
    for (int k = 0, side = 0; k < LOOKS; k++) {
        alpha = low + (high - low) * (-g_low) / (g_high - g_low);
        double g = along(s, alpha, xMd, dMd);
        if (fabs(g) <= 0.05 * start) {
            break;
        }
        if (g < 0) {
            low = alpha;
            g_low = g;
            g_high *= side < 0 ? 0.5 : 1;
            side = -1;
        } else {
            high = alpha;
            g_high = g;
            g_low *= side > 0 ? 0.5 : 1;
            side = 1;
        }
    }
    return alpha;
}

static double try_step(sparse_prox *s, double alpha)
{
    for (int j = 0; j < s->t.n; j++) {
        s->x_new[j] = s->x[j] + alpha * s->d[j];
    }
    return evaluate(s, s->x_new, s->w_new, s->pi_new, s->state_new, s->F_new);
}

static void swap(double **a, double **b)
{
    double *x = *a;
    *a = *b;
    *b = x;
}

static void accept(sparse_prox *s)
{
    unsigned char *state = s->state;
    s->state = s->state_new;
    s->state_new = state;
    swap(&s->x, &s->x_new);
    swap(&s->w, &s->w_new);
    swap(&s->pi, &s->pi_new);
    swap(&s->F, &s->F_new);
}

static double try_newton(sparse_prox *s)
{
    for (int j = 0; j < s->t.n; j++) {
        s->d[j] = -s->F[j];
    }
    front_solve(s->front, s->d);
    return try_step(s, 1);
}

static int changed(const sparse_prox *s, const unsigned char *before)
{
    int count = 0;
    for (int k = 0; k < s->t.units; k++) {
        count += s->state[k] != before[k];
    }
    return count;
}

/* The slopes at the iterate, factored. */
static int factor(sparse_prox *s)
{
    for (int k = 0; k < s->t.units; k++) {
        if (s->state[k] != MANY_OPEN) {
            many_slope(s, k, s->G + s->t.unit[k].G);
        }
    }
    return many_factor(s);
}

/* One Newton step from the iterate, with the factors that are there if they will do. Its size of F,
 * or a negative number: there are no factors. */
static double newton(sparse_prox *s, double left)
{
    double now = HUGE_VAL;
    if (s->has_factor && changed(s, s->factored) == 0) {
        now = try_newton(s);
    }
    if (!(now <= 0.3 * left)) {
        if (!factor(s)) {
            return -1;
        }
        now = try_newton(s);
        if (!(now <= 0.7 * left) &&
            (s->t.is_convex || memcmp(s->state, s->state_new, (size_t)s->t.units) == 0)) {
            now = try_step(s, search(s));
        }
    }
    accept(s);
    s->iterations++;
    return now;
}

/* ---- Centres -------------------------------------------------------------------------------- */

/* How a run of Newton's method goes. */
typedef struct many_run {
    const many_task *task;
    const many_way *way;
    int end;                   /* factorisations after which it ends */
    double left, least, begun; /* size of F now, the least, and when the centre was moved */
    double error, best;        /* certificate at the last centre, and the least */
    double good;               /* kappa with which the last centre was reached */
    int centres;               /* so many, */
    int stale;                 /* the last of which did not improve much */
    int circles;               /* steps since F last became smaller */
    int fails;
} many_run;

static void set_kappa(sparse_prox *s, double kappa)
{
    s->has_factor &= kappa == s->kappa;
    s->kappa = kappa;
}

/* Is the balance solved well enough for this centre? */
static int arrived(const sparse_prox *s, const many_run *run, double push)
{
    double noise = 1e-12 + 5e-16 * s->kappa; /* of rho w, whose digits end there */
    return run->left <= noise * push ||
           (run->left <= 1e-6 * push && run->left <= 1e-3 * run->begun);
}

/* The centre drifts: its next step would repeat the last one, as a null vector of J' moves no body.
 * Then it goes at once to where a unit changes its mode, and a little farther. 0: it does not
 * drift, or nothing is in the way. */
static int drift(sparse_prox *s)
{
    const many_table *t = &s->t;
    double size = 0, most = HUGE_VAL, *way = s->dw;
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        for (int i = u->first; i < u->first + u->d; i++) {
            double weight = i == u->first ? u->normal : u->tangent;
            way[i] = s->pi[i] - s->r[i];
            size += weight > 0 ? way[i] * way[i] / weight : 0;
        }
        most = fmin(most, many_way_to_change(u, s->state[k], s->pi + u->first, way + u->first));
    }
    memset(s->y, 0, (size_t)t->n * sizeof(double));
    many_rows_push(t, way, s->y);
    if (!(size_of(s, s->y) <= 1e-3 * sqrt(size)) || !(most < HUGE_VAL)) {
        return 0;
    }
    for (int i = 0; i < t->rows; i++) {
        s->r[i] = s->pi[i] + most * way[i];
    }
    return 1;
}

/* kappa for the next centre: larger where four more of them would not do. */
static double next_kappa(const sparse_prox *s, const many_run *run, double error, double push)
{
    double gain = error / run->error;
    int drifts = run->begun <= 1e-9 * push;
    if (gain > 0.5 || error * gain * gain * gain * gain > 1e-11) {
        double target = fmin((drifts != 0 ? 100 : gain > 1 ? 100 : 2) * s->kappa, 1 / error);
        return fmax(s->kappa, fmin(target, MOST));
    }
    return s->kappa;
}

/* The next centre with the same kappa, by what the last ones have shown. */
static void mix_centres(sparse_prox *s)
{
    many_anderson *a = &s->centres;
    memcpy(a->r, s->r, (size_t)s->t.rows * sizeof(double));
    many_anderson_mix(a, &s->t, s->pi, s->x);
    memcpy(s->r, a->r, (size_t)s->t.rows * sizeof(double));
    memcpy(s->x, a->x, (size_t)s->t.n * sizeof(double));
    memcpy(s->settled, s->state, (size_t)s->t.units);
}

/* Does a contact slide? Then the map is linear only as long as slip does not turn. */
static int slides(const sparse_prox *s)
{
    int any = 0;
    for (int k = 0; k < s->t.units; k++) {
        any |= s->state[k] == MANY_SLIDE;
    }
    return any;
}

/* The balance is solved: check, and move the centre. 1: that was the last. */
static int move_centre(sparse_prox *s, many_run *run, double push)
{
    double error = many_certify(s, run->task, s->x, s->pi);
    int same = changed(s, s->settled) == 0;
    run->stale = error > 0.3 * run->best ? run->stale + 1 : 0;
    run->best = fmin(run->best, error);
    int good = run->best <= run->task->good;
    int most = same && !slides(s) ? MANY_KEPT : good && !same ? 2 : STALE;
    int enough = run->stale >= most && (good || run->way->fails == 0);
    enough |= run->stale > 1 && run->best <= 0.1 * run->task->tolerance;
    if (error <= EXACT || (run->best <= 0.01 * run->task->tolerance && run->stale > 0) || enough ||
        ++run->centres > CENTRES) {
        return 1;
    }
    run->good = s->kappa;
    if (!same) {
        many_anderson_forget(&s->centres);
    }
    if (run->stale < most) {
        mix_centres(s);
    } else if (error > 0.9 * run->error && error < 1.1 * run->error && drift(s)) {
        many_anderson_forget(&s->centres);
    } else {
        set_kappa(s, next_kappa(s, run, error, push));
        memcpy(s->r, s->pi, (size_t)s->t.rows * sizeof(double));
        many_anderson_forget(&s->centres);
    }
    run->error = error;
    memcpy(s->x_good, s->x, (size_t)s->t.n * sizeof(double));
    return 0;
}

/* Back to where the centre was moved, with a kappa nearer to what has worked. */
static void retreat(sparse_prox *s, many_run *run)
{
    double share = sqrt(s->kappa / run->good);
    if (!(share > 1.2)) {
        run->good /= 3;
        share = 1;
    }
    set_kappa(s, run->good * share);
    memcpy(s->x, s->x_good, (size_t)s->t.n * sizeof(double));
}

static void begin_centre(sparse_prox *s, many_run *run)
{
    run->left = evaluate(s, s->x, s->w, s->pi, s->state, s->F);
    run->least = run->begun = run->left;
    run->circles = 0;
}

/* From the iterate. 1: solved. */
static int run_newton(sparse_prox *s, many_run *run)
{
    for (int step = 0; step < STEPS && s->factorizations < run->end && !many_spent(s, run->task);
         step++) {
        double push = size_of_push(s);
        if (arrived(s, run, push)) {
            if (move_centre(s, run, push)) {
                break;
            }
            begin_centre(s, run);
            continue;
        }
        run->left = newton(s, run->left);
        if (!(run->left >= 0)) {
            break;
        }
        run->circles = run->left < 0.5 * run->least ? 0 : run->circles + 1;
        run->least = fmin(run->least, run->left);
        if (run->circles >= CIRCLES || run->left > 1e3 * run->begun) {
            if ((run->centres == 0 && !run->way->anywhere) || ++run->fails > run->way->fails) {
                break;
            }
            retreat(s, run);
            begin_centre(s, run);
        }
    }
    return s->best <= run->task->tolerance;
}

/* ---- Starting points ------------------------------------------------------------------------ */

/* The modes of the units by their r; where r and w come from elsewhere, a violated unit without
 * force will stick. */
static void guess_states(sparse_prox *s, int cold)
{
    const many_table *t = &s->t;
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        const double *r = s->r + u->first, *w = s->w + u->first;
        double size = 0, most = r[0] * (1 - 1e-9);
        for (int i = 1; i < u->d; i++) {
            size += r[i] * r[i];
        }
        double near = isfinite(u->high - u->low) ? 1e-9 * (u->high - u->low) : 0;
        int pushes = r[0] <= u->low + near    ? cold && w[0] < 0
                     : r[0] >= u->high - near ? cold && w[0] > 0
                                              : 1;
        int slides = r[0] > 0 && u->d > 1 && size >= most * most;
        s->state[k] = !pushes ? MANY_OPEN : slides ? MANY_SLIDE : MANY_STICK;
        s->pi[u->first] = r[0];
    }
}

/* x of these states: M x = J' (r - G (J x + c)). The rows' w say how fast they slide. 0: there are
 * no factors. */
static int first_step(sparse_prox *s)
{
    const many_table *t = &s->t;
    if (!factor(s)) {
        return 0;
    }
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        const double *G = s->G + u->G;
        double *pi = s->pi + u->first;
        int open = s->state[k] == MANY_OPEN, d = u->d;
        for (int i = 0; i < d; i++) {
            pi[i] = open ? 0 : s->r[u->first + i];
            if (d == 1) {
                pi[0] = open ? (s->r[u->first] > 0.5 * (u->low + u->high) ? u->high : u->low)
                             : many_soft(u, s->kappa) * pi[0];
            }
            for (int j = 0; j < d && !open; j++) {
                pi[i] -= G[i * d + j] * t->c[u->first + j];
            }
        }
    }
    memset(s->d, 0, (size_t)t->n * sizeof(double));
    many_rows_push(t, s->pi, s->d);
    dense_scale(t->n, -1, s->d);
    front_solve(s->front, s->d);
    memcpy(s->x, s->d, (size_t)t->n * sizeof(double));
    return 1;
}

int many_newton(sparse_prox *s, const many_task *task, const many_way *way)
{
    many_run run = {.task = task, .way = way};
    run.begun = run.error = run.best = HUGE_VAL;
    run.good = s->kappa = way->kappa;
    run.end = s->factorizations + way->effort;
    run.end = run.end < task->effort ? run.end : task->effort;
    s->has_factor = 0;
    many_anderson_begin(&s->centres, &s->t);
    guess_states(s, way->cold);
    if (s->factorizations >= run.end || !first_step(s)) {
        return 0;
    }
    memcpy(s->x_good, s->x, (size_t)s->t.n * sizeof(double));
    begin_centre(s, &run);
    run.begun = way->anywhere ? run.begun : HUGE_VAL;
    /* far more change than Newton's method can sort out? */
    if (!way->anywhere && changed(s, s->factored) > 24 + s->t.units / 25) {
        return 0;
    }
    return run_newton(s, &run);
}
