/* Coulomb's law: a portfolio around Newton's method.
 *
 * Coulomb's law is not a minimum but a fixed point of minima: with the slip s_k = |w_T| of every
 * contact known, adding s_k to its normal residual makes the problem convex (De Saxce). The
 * members, in the order in which they are tried:
 *
 *   newton      from the guess: stays on the branch of the previous instant
 *   convex      Newton from the solution of the convex law
 *   shift       convex problems with the slips of the one before, Newton tried after each; then
 *               again with half of every change, where that cycles
 *   interior    interior points whose shift follows the slip
 *   homotopy    compliance from soft to rigid, Newton at every stage
 *   sweeps      block Gauss-Seidel, Newton tried in between
 *   slow shift  shift with small shares of every change
 *
 * Selection. The velocity is not always unique. The rule: the branch that Newton reaches from the
 * guess; without a guess, the branch of the first member above that converges: first those that
 * start from the solution of the convex law, which is continuous in the data, then those that
 * follow a path to the exact law (interior, homotopy). Every member is deterministic. */
#include <math.h>
#include <string.h>

#include "gauss/dense/core.h"
#include "math/cone.h"
#include "math/dense/dense.h"

/* Newton in both forms from the present r, the second also where the first could be improved. */
static int polish(gauss_core *core, int limit)
{
    int solved = core_newton(core, CORE_SPLIT, 0.0, limit);
    if (!solved || core->error > 1e-12) {
        solved = core_newton(core, CORE_NATURAL, 0.0, limit) || solved;
    }
    return solved;
}

static int polish_inside(gauss_core *core)
{
    return polish(core, 12);
}

/* Without friction, is anything admissible? If not, Coulomb's law has no solution either. */
static int normals_contradict(gauss_core *core)
{
    const gauss_cone *cone = core->cone;
    memcpy(core->start, core->r, (size_t)core->p * sizeof(double));
    core->cone = core->normal;
    int answer = core_admissible(core);
    core->cone = cone;
    memcpy(core->r, core->start, (size_t)core->p * sizeof(double));
    return answer < 0;
}

/* `share` of the change of every slip is taken over from round to round. */
static int try_shift(gauss_core *core, double *keep, double share, int rounds)
{
    for (int round = 0; round < rounds && !core_spent(core); round++) {
        core_evaluate(core);
        for (int k = 0; k < core->cone_count; k++) {
            double slip = cone_tangent(core->cone[k].rows, core->w + core->cone[k].first);
            core->shift[k] += share * (slip - core->shift[k]);
        }
        core_convex(core, 0);
        memcpy(keep, core->r, (size_t)core->p * sizeof *keep);
        core_evaluate(core);
        if (core->error <= core->accept || polish(core, 15)) {
            return 1;
        }
        memcpy(core->r, keep, (size_t)core->p * sizeof *keep);
    }
    return 0;
}

/* Where all else fails: small shares and many rounds, from the best solution so far, then from that
 * of the convex law. Solves a third of the remaining impacts and tall stacks. */
static int try_slow_shift(gauss_core *core, double *keep, const double *start)
{
    core_recall(core);
    memset(core->shift, 0, (size_t)core->cone_count * sizeof(double));
    if (try_shift(core, keep, 0.2, 60)) {
        return 1;
    }
    memcpy(core->r, start, (size_t)core->p * sizeof(double));
    memset(core->shift, 0, (size_t)core->cone_count * sizeof(double));
    return try_shift(core, keep, 0.3, 60);
}

static int try_homotopy(gauss_core *core, double *keep, double factor)
{
    memset(core->r, 0, (size_t)core->p * sizeof(double));
    for (double delta = 10.0; delta > 1e-13 && !core_spent(core); delta *= factor) {
        core_newton(core, CORE_SPLIT, delta, 30);
        if (delta < 1e-3) {
            memcpy(keep, core->r, (size_t)core->p * sizeof *keep);
            if (polish(core, 10)) {
                return 1;
            }
            memcpy(core->r, keep, (size_t)core->p * sizeof *keep);
        }
    }
    return 0;
}

/* One block Gauss-Seidel sweep of projections along the shifted residual. */
static void sweep(gauss_core *core)
{
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, d = core->cone[k].rows;
        double z[CONE_MAX], p[CONE_MAX], w[CONE_MAX], step = 0.0;
        for (int i = 0; i < d; i++) {
            const double *row = core->B + (long)(at + i) * core->stride;
            w[i] = dense_dot(core->q, row, core->x) + core->c[at + i];
            step += dense_dot(core->q, row, row);
        }
        for (int i = 0; i < d && step > 0.0; i++) {
            z[i] = core->r[at + i] - (w[i] + (i == 0 ? cone_tangent(d, w) : 0.0)) / step;
        }
        if (step > 0.0) {
            core_project(&core->cone[k], z, p);
            for (int i = 0; i < d; i++) {
                dense_axpy(core->q, p[i] - core->r[at + i], core->B + (long)(at + i) * core->stride,
                           core->x);
                core->r[at + i] = p[i];
            }
        }
    }
}

static int try_sweeps(gauss_core *core, double *keep)
{
    int next = 20;
    core_evaluate(core);
    for (int k = 1; k <= 5000 && !core_spent(core); k++) {
        sweep(core);
        if (k == next) {
            next = next * 2;
            memcpy(keep, core->r, (size_t)core->p * sizeof *keep);
            if (polish(core, 15)) {
                return 1;
            }
            memcpy(core->r, keep, (size_t)core->p * sizeof *keep);
            core_evaluate(core);
        }
    }
    return 0;
}

int core_coulomb(gauss_core *core, int warm, int guess_only, const char **method)
{
    double *keep = core->saved, *start = core->begin;
    size_t bytes = (size_t)core->p * sizeof(double);
    memset(core->shift, 0, (size_t)core->cone_count * sizeof(double));
    *method = "newton";
    if (warm && polish(core, 15)) {
        return 1;
    }
    if (guess_only) {
        return 0;
    }
    *method = "newton from convex";
    memset(core->r, 0, bytes);
    if (core_convex(core, 1) < 0 && normals_contradict(core)) {
        return -1;
    }
    memcpy(start, core->r, bytes);
    if (polish(core, 30)) {
        return 1;
    }
    *method = "shift";
    memcpy(core->r, start, bytes);
    if (try_shift(core, keep, 1.0, 25)) {
        return 1;
    }
    memcpy(core->r, start, bytes);
    memset(core->shift, 0, (size_t)core->cone_count * sizeof(double));
    if (try_shift(core, keep, 0.5, 25)) {
        return 1;
    }
    *method = "interior";
    if (core_interior(core, 0.0, polish_inside)) {
        return 1;
    }
    *method = "homotopy";
    if (try_homotopy(core, keep, 0.1) || try_homotopy(core, keep, 0.5)) {
        return 1;
    }
    *method = "sweeps";
    memcpy(core->r, start, bytes);
    if (try_sweeps(core, keep)) {
        return 1;
    }
    *method = "slow shift";
    return try_slow_shift(core, keep, start);
}
