/* Non-ideal constraint forces, Fan et al. (2005), sections 3 to 5.
 *
 * The reaction without C is F^L, eq. (20). A given C, or one that a law makes of F^L, then acts in
 * the extended principle (26)-(27), which is the same problem with the free motion a_free + M \ C;
 * what it changes is F^C, eq. (21).
 *
 * A law that depends on the reaction with C acting is a fixed point lambda = G(lambda): law, then
 * principle. Friction is piecewise linear in the reaction, so the iteration is accelerated by the
 * secants of the last steps (Anderson): exact after as many steps as there are coupled reactions,
 * within one piece. If there is no fixed point, it is Painleve's paradox, and reported as such. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "gauss/internal.h"
#include "gauss/rows.h"
#include "math/dense/dense.h"

enum { MEMORY = GAUSS_LAW_MEMORY, LIMIT = 40 };
static const double STILL = 1e-13;

/* C = law + given part. 0 if the law's answer is not a number. */
static int apply_law(const zw_gauss *problem, zw_gauss_work *work, const double *lambda, double *C)
{
    int n = work->n;
    double *reaction = work->law + (2 * MEMORY + 4) * (long)work->m;
    gauss_rows_force(problem, lambda, reaction);
    memset(C, 0, (size_t)n * sizeof(double));
    if (problem->law != NULL) {
        problem->law(problem->law_user, lambda, reaction, C);
    }
    if (problem->C != NULL) {
        dense_axpy(n, 1.0, problem->C, C);
    }
    return dense_first_beyond(n, C, GAUSS_HUGE) < 0;
}

/* Solve the small least-squares problem min |f - F g| for g by normal equations with a ridge. */
static void secant_weights(int m, int count, const double *F, const double *f, double *g)
{
    double N[MEMORY * MEMORY], scale = 0.0;
    for (int i = 0; i < count; i++) {
        for (int j = i; j < count; j++) {
            N[i * MEMORY + j] = dense_dot(m, F + (long)i * m, F + (long)j * m);
        }
        scale = fmax(scale, N[i * MEMORY + i]);
        g[i] = dense_dot(m, F + (long)i * m, f);
    }
    for (int i = 0; i < count; i++) {
        N[i * MEMORY + i] += 1e-14 * scale + DBL_MIN;
    }
    if (dense_cholesky(count, N, MEMORY, 0.0) < count) {
        memset(g, 0, (size_t)count * sizeof *g);
        return;
    }
    dense_solve_upper_transposed(count, N, MEMORY, g);
    dense_solve_upper(count, N, MEMORY, g);
}

/* lambda += f, improved by the secants (dX, dF) of the last `count` steps. */
static void accelerate(int m, int count, const double *dX, const double *dF, const double *f,
                       double *lambda)
{
    double g[MEMORY];
    secant_weights(m, count, dF, f, g);
    dense_axpy(m, 1.0, f, lambda);
    for (int k = 0; k < count; k++) {
        dense_axpy(m, -g[k], dX + (long)k * m, lambda);
        dense_axpy(m, -g[k], dF + (long)k * m, lambda);
    }
}

/* Is a change f of the multipliers lost in the round-off of the applied force? A reaction that is
 * about to vanish is a difference, and known no better than that. */
static int lost(const zw_gauss *problem, zw_gauss_work *work, const double *f)
{
    double *reaction = work->law + (2 * MEMORY + 4) * (long)work->m;
    if (problem->force == NULL) {
        return 0;
    }
    gauss_rows_force(problem, f, reaction);
    return dense_largest(work->n, reaction) <= 2e-15 * dense_largest(work->n, problem->force);
}

/* Multipliers of nearly dependent rows differ from pass to pass by more than STILL, without effect
 * on the forces. The force has to be constant: does the law give, for lambda, the C that it was
 * found with, relative to C and the reaction? */
static int stands_still(const zw_gauss *problem, zw_gauss_work *work)
{
    double *again = work->scratch, *reaction = work->law + (2 * MEMORY + 4) * (long)work->m;
    if (!apply_law(problem, work, work->lambda, again)) {
        return 0;
    }
    double size = fmax(dense_largest(work->n, work->C), dense_largest(work->n, reaction));
    dense_axpy(work->n, -1.0, work->C, again);
    return dense_largest(work->n, again) <= STILL * size;
}

static zw_status fixed_point(const zw_gauss *problem, const zw_gauss_options *options,
                             zw_gauss_work *work, const char **method)
{
    long m = work->m;
    double *dX = work->law, *dF = dX + MEMORY * m, *x = dF + MEMORY * m, *f = x + m, *x_old = f + m,
           *f_old = x_old + m;
    size_t bytes = (size_t)m * sizeof(double);
    double known = dense_largest(work->m, work->lambda_ideal);
    memcpy(x, work->lambda_ideal, bytes);
    for (int k = 0; k < LIMIT; k++) {
        if (!apply_law(problem, work, x, work->C)) {
            return k == 0 ? ZW_BAD_INPUT : ZW_NO_SOLUTION;
        }
        zw_status status = gauss_pass(problem, options, work, work->C, x, work->lambda, method);
        double size = dense_largest(work->m, work->lambda);
        int grown = !isfinite(size) || dense_largest(work->m, x) > 1e6 * known;
        if (status != ZW_OK || grown) {
            return grown ? ZW_NO_SOLUTION : status;
        }
        for (long i = 0; i < m; i++) {
            f[i] = work->lambda[i] - x[i];
        }
        /* a reaction a million times the ideal one is growing, not converging */
        known = k == 0 ? fmax(known, size) : known;
        if (dense_largest(work->m, f) <= STILL * fmin(size, 1e6 * known) ||
            lost(problem, work, f) || (k > MEMORY && stands_still(problem, work))) {
            return ZW_OK;
        }
        int slot = (k - 1) % MEMORY, count = k < MEMORY ? k : MEMORY;
        for (long i = 0; k > 0 && i < m; i++) {
            dX[slot * m + i] = x[i] - x_old[i];
            dF[slot * m + i] = f[i] - f_old[i];
        }
        memcpy(x_old, x, bytes);
        memcpy(f_old, f, bytes);
        accelerate(work->m, count, dX, dF, f, x);
    }
    return ZW_NO_SOLUTION;
}

zw_status gauss_nonideal(const zw_gauss *problem, const zw_gauss_options *options,
                         zw_gauss_work *work, const char **method)
{
    memset(work->C, 0, (size_t)work->n * sizeof(double));
    zw_status status =
        gauss_pass(problem, options, work, work->C, options->guess, work->lambda_ideal, method);
    if (status != ZW_OK) {
        memcpy(work->lambda, work->lambda_ideal, (size_t)work->m * sizeof(double));
        return status;
    }
    if (problem->law != NULL && problem->law_on == ZW_ON_TOTAL_REACTION) {
        return fixed_point(problem, options, work, method);
    }
    if (!apply_law(problem, work, work->lambda_ideal, work->C)) {
        return ZW_BAD_INPUT;
    }
    return gauss_pass(problem, options, work, work->C, options->guess, work->lambda, method);
}
