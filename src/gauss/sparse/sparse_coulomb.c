/* Coulomb's law, sparse.
 *
 * As in coulomb.c, the law is a fixed point of convex problems: with the slip s_k = |w_T| of every
 * contact added to its normal residual, the problem is convex (De Saxce). Newton's method takes the
 * slip as it changes, s+ = g . w_T+ with g = w_T/|w_T|, so that a direction u of the projection's
 * slope (see sparse_convex.c) gives the row
 *
 *     u . (w+ + (g . w_T+) e_N) + (compliance) u . r+ = 0:
 *
 * K with a change of rank one per sliding cone, which is not symmetric. It is solved by GMRES with
 * the symmetric factors as preconditioner (sparse_kkt.c).
 *
 * Members, in the order in which they are tried: Newton from the guess; without one, Newton from
 * the convex law's answer, as in coulomb.c, so that both choose the same of several motions;
 * splitting (sparse_split.c) from the guess or that answer, and Newton from there; with a guess,
 * Newton from the convex law's answer now; convex problems with the slips of the one before, Newton
 * tried after each; compliance from soft to rigid. Where the effort is limited, splitting comes
 * first also without a guess, as the convex law may cost more than is allowed. What none of them
 * solves, or not within the effort, is reported with the best answer met. A step of splitting
 * counts as a sixteenth of a factorisation, about what it costs. */
#include <math.h>
#include <string.h>

#include "gauss/sparse/sparse_cones.h"
#include "math/cone.h"
#include "math/dense/dense.h"

enum { NEWTON_LIMIT = 30, SHIFT_LIMIT = 25, CUTS = 5 };
enum { SPLIT_COST = 16, PATIENT = 6, HASTY = 3 };

/* What a solve carries along. */
typedef struct coulomb_run {
    const zw_gauss *problem;
    zw_gauss_work *work;
    const double *C;
    double aim, accept;
    double soft;  /* the compliance of the law that Newton works on now */
    double error; /* of the best answer to the law itself, kept in s->kept */
    int effort;   /* factorisations allowed; 0: any number */
    int split;    /* steps of splitting */
    int patience; /* Newton steps without success */
} coulomb_run;

static int exhausted(const coulomb_run *run)
{
    return run->effort > 0 &&
           run->work->core.factorizations + run->split / SPLIT_COST >= run->effort;
}

/* w = B x + c + soft r on the cones, and the slip of each: its size into shift, its direction into
 * slip. */
static void take_slips(gauss_sparse *s, double soft, const double *x, const double *r)
{
    sparse_cones_residual(s, x);
    for (int k = 0; k < s->cone_count; k++) {
        int at = s->cone[k].first, d = s->cone[k].rows;
        double *w = s->w + s->me + at;
        for (int i = 0; i < d; i++) {
            w[i] += soft * r[s->me + at + i];
        }
        s->shift[k] = dense_norm(d - 1, w + 1);
        s->slip[at] = 0.0;
        for (int i = 1; i < d; i++) {
            s->slip[at + i] = s->shift[k] > 1e-14 * s->V ? w[i] / s->shift[k] : 0.0;
        }
    }
}

/* max |r - P_K(r - rho (w + |w_T| e_N))| / R, the law with a compliance. */
static double natural(gauss_sparse *s, double soft, const double *x, const double *r)
{
    double R = sparse_cones_force(s, r), rho = R / s->V, worst = 0.0;
    take_slips(s, soft, x, r);
    for (int k = 0; k < s->cone_count; k++) {
        int at = s->me + s->cone[k].first, d = s->cone[k].rows;
        double z[CONE_MAX], p[CONE_MAX];
        for (int i = 0; i < d; i++) {
            z[i] = r[at + i] - rho * (s->w[at + i] + (i == 0 ? s->shift[k] : 0.0));
        }
        cone_project(d, z, p);
        for (int i = 0; i < d; i++) {
            worst = fmax(worst, fabs(r[at + i] - p[i]));
        }
    }
    return isfinite(worst) ? worst / R : HUGE_VAL;
}

/* The certificate decides about the law itself; a softer one is only a way to it. */
static double judge(const coulomb_run *run, const double *x, const double *r)
{
    return run->soft > 0.0 ? natural(run->work->sparse, run->soft, x, r)
                           : sparse_judge(run->problem, ZW_COULOMB, run->work, run->C, x, r);
}

static void remember(coulomb_run *run, double error)
{
    gauss_sparse *s = run->work->sparse;
    if (error < run->error && run->soft == 0.0) {
        run->error = error;
        memcpy(s->kept, s->x, (size_t)s->q * sizeof(double));
        memcpy(s->kept + s->q, s->r, (size_t)s->m * sizeof(double));
    }
}

/* Go from (x, r) towards (x_new, r_new) as far as the law gets better; else a small step. */
static double advance(const coulomb_run *run, double error)
{
    gauss_sparse *s = run->work->sparse;
    double *x = s->best, *r = s->best + s->q, t = 1.0, next = HUGE_VAL;
    for (int cut = 0; cut < CUTS; cut++, t *= 0.5) {
        for (int j = 0; j < s->q; j++) {
            x[j] = s->x[j] + t * (s->x_new[j] - s->x[j]);
        }
        for (int p = 0; p < s->m; p++) {
            r[p] = s->r[p] + t * (s->r_new[p] - s->r[p]);
        }
        next = judge(run, x, r);
        if (next < (1.0 - 0.1 * t) * error) {
            break;
        }
    }
    memcpy(s->x, x, (size_t)s->q * sizeof(double));
    memcpy(s->r, r, (size_t)s->m * sizeof(double));
    return next;
}

/* Newton on the law with the compliance `soft` from (x, r). 1: the law itself is solved. */
static int newton(coulomb_run *run, double soft, int limit)
{
    gauss_sparse *s = run->work->sparse;
    run->soft = soft;
    double error = judge(run, s->x, s->r), least = error, aim = soft > 0.0 ? 1e-7 : run->aim;
    remember(run, error);
    for (int k = 0, stuck = 0; k < limit && error > aim && !exhausted(run); k++) {
        if (stuck >= (soft == 0.0 && least <= run->accept ? 1 : run->patience)) {
            break;
        }
        memcpy(s->centre, s->r, (size_t)s->m * sizeof(double));
        sparse_step step = {.rho = sparse_cones_force(s, s->r) / s->V,
                            .prox = 1e-11,
                            .soft = soft,
                            .centre = s->centre};
        take_slips(s, soft, s->x, s->r);
        for (int p = s->me; p < s->m; p++) { /* the step adds soft r by itself */
            s->w[p] -= soft * s->r[p];
        }
        s->bent = 1;
        int fine = sparse_cones_newton(run->work, s, &step);
        s->bent = 0;
        if (!fine) {
            break;
        }
        error = advance(run, error);
        stuck = error < 0.5 * least ? 0 : stuck + 1;
        least = fmin(error, least);
        remember(run, error);
    }
    run->soft = 0.0;
    return run->error <= run->accept;
}

/* The convex problem with the slips of the present motion. */
static void shifted_convex(coulomb_run *run)
{
    gauss_sparse *s = run->work->sparse;
    take_slips(s, 0.0, s->x, s->r);
    for (int k = 0; k < 6; k++) {
        memcpy(s->centre, s->r, (size_t)s->m * sizeof(double));
        if (!sparse_cones_proximal(run->work, s, k == 0 ? 1e-4 : 1e-8)) {
            break;
        }
        double change = 0.0;
        for (int p = 0; p < s->m; p++) {
            change = fmax(change, fabs(s->r[p] - s->centre[p]));
        }
        if (change <= 1e-9 * sparse_cones_force(s, s->r)) {
            break;
        }
    }
}

static void keep_start(gauss_sparse *s)
{
    memcpy(s->start_x, s->x, (size_t)s->q * sizeof(double));
    memcpy(s->start_r, s->r, (size_t)s->m * sizeof(double));
}

static void back_to_start(gauss_sparse *s)
{
    memcpy(s->x, s->start_x, (size_t)s->q * sizeof(double));
    memcpy(s->r, s->start_r, (size_t)s->m * sizeof(double));
}

/* Convex problems with the slips of the one before. */
static int try_shift(coulomb_run *run)
{
    gauss_sparse *s = run->work->sparse;
    for (int k = 0; k < SHIFT_LIMIT && !exhausted(run); k++) {
        back_to_start(s);
        shifted_convex(run);
        keep_start(s);
        if (newton(run, 0.0, NEWTON_LIMIT)) {
            return 1;
        }
    }
    return 0;
}

/* Compliance from soft to rigid, Newton at every stage. The slip then feels soft r too, which the
 * step leaves to the next one. */
static int try_homotopy(coulomb_run *run, double factor)
{
    gauss_sparse *s = run->work->sparse;
    if (!sparse_equality_motion(run->work, s, 0)) {
        return 0;
    }
    for (double soft = 10.0; soft > 1e-12 && !exhausted(run); soft *= factor) {
        newton(run, soft, 20);
        keep_start(s);
        if (soft < 1e-2 && newton(run, 0.0, 12)) {
            return 1;
        }
        back_to_start(s);
    }
    return 0;
}

/* Splitting from (x, r), then Newton: the same way again where it has gained a digit, else the
 * next.
 */
static int try_split(coulomb_run *run)
{
    static const sparse_way way[] = {
        {0.1, 1.0, 300}, {1.0, 1.0, 300}, {1.0, 0.3, 1000}, {0.3, 0.3, 2000}, {0.1, 1.0, 1000}};
    gauss_sparse *s = run->work->sparse;
    double before = HUGE_VAL;
    for (int at = 0; at < (int)(sizeof way / sizeof *way) && !exhausted(run);) {
        double error = sparse_split(run->work, &way[at], 0.1 * run->accept, &run->split);
        if (!(error < HUGE_VAL)) {
            return 0;
        }
        keep_start(s);
        if (sparse_equality_motion(run->work, s, 1) && newton(run, 0.0, NEWTON_LIMIT)) {
            return 1;
        }
        if (run->error <= 10.0 * run->accept) {
            return 1; /* within the tolerance, if not by far: more would cost more than it gives */
        }
        back_to_start(s);
        at += !(error < 0.1 * before);
        before = error;
    }
    return 0;
}

static int try_convex(coulomb_run *run)
{
    gauss_sparse *s = run->work->sparse;
    memset(s->shift, 0, (size_t)s->cone_count * sizeof(double));
    s->hopeless = sparse_convex_solve(run->problem, run->work, run->C, 1e-9, 0) == ZW_CONFLICT;
    keep_start(s);
    return newton(run, 0.0, NEWTON_LIMIT);
}

static int solve(coulomb_run *run, int warm, int guess_only, const char **method)
{
    gauss_sparse *s = run->work->sparse;
    int convex_first = !warm && run->effort == 0;
    *method = "newton";
    keep_start(s);
    run->patience = guess_only ? PATIENT : HASTY;
    if (warm && newton(run, 0.0, NEWTON_LIMIT)) {
        return 1;
    }
    if (guess_only) {
        return 0;
    }
    *method = "newton from convex";
    if (convex_first && try_convex(run)) {
        return 1;
    }
    *method = "split";
    back_to_start(s);
    if (try_split(run)) {
        return 1;
    }
    run->patience = PATIENT;
    *method = "newton from convex";
    if (!exhausted(run) && sparse_equality_motion(run->work, s, 0) && try_convex(run)) {
        return 1;
    }
    *method = exhausted(run) ? "split" : "shift";
    if (try_shift(run)) {
        return 1;
    }
    *method = exhausted(run) ? *method : "homotopy";
    return try_homotopy(run, 0.1) || try_homotopy(run, 0.5);
}

zw_status sparse_coulomb(const zw_gauss *problem, const zw_gauss_options *options,
                         zw_gauss_work *work, const double *C, int warm, const char **method)
{
    gauss_sparse *s = work->sparse;
    coulomb_run run = {.problem = problem,
                       .work = work,
                       .C = C,
                       .aim = 1e-5 * options->tolerance,
                       .accept = 0.1 * options->tolerance,
                       .effort = options->effort,
                       .error = HUGE_VAL};
    s->hopeless = 0;
    int solved = solve(&run, warm, options->guess_only, method);
    work->core.iterations += run.split;
    if (run.error < HUGE_VAL) {
        memcpy(s->x, s->kept, (size_t)s->q * sizeof(double));
        memcpy(s->r, s->kept + s->q, (size_t)s->m * sizeof(double));
    }
    return solved || run.error <= options->tolerance ? ZW_OK
           : exhausted(&run)                         ? ZW_INACCURATE
                                                     : ZW_JAMMED;
}
