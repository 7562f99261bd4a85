/* The certificate: how far a claimed answer is from the law, from the data alone.
 *
 * Units. Coordinate j is measured in unit_j = sqrt(M_jj), a row in its length in these units, so
 * that forces and residuals both come out as sqrt(energy). Cones are first made self-dual:
 * residuals of tangential rows times friction, multipliers divided by it.
 *
 * Scales. Forces are compared with R = max(|M (a - a_free)|, |C|) + 1e-3 max(|M a_free|, |a|),
 * residuals with V = max(violation of a_free, |w|) + 1e-3 max(|A| |a| + |b|, R) (largest entries;
 * |w| of blocks that push, and all of it only over blocks that push or that a_free violates: a
 * contact far away does not count). R, in the same units, is what a row has to compensate where it
 * stops a coordinate completely: then a and w are round-off, and for a given force only a rough
 * a_free is known. (And where a row has nothing to compensate: a knee that is just straight while
 * the robot falls.) The small additions prevent a constraint force that is a tiny difference of
 * large terms from being compared with round-off. Multipliers take no part in these scales:
 * internal forces could inflate them and hide an error. But what sixteen digits cannot hold is
 * granted: forces of nearly parallel constraints that cancel leave GRANTED |A|'|lambda| behind,
 * however they are computed, and a large multiplier is on the surface of its cone to GRANTED of
 * itself and no better. That much is subtracted from the error, but never more than GRANTED_MOST of
 * R. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/measured.h"
#include "gauss/metric.h"
#include "gauss/rows.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"
#include "zwang/gauss.h"

static double larger(double x, double y)
{
    return x > y ? x : y;
}

typedef struct certifier {
    const zw_gauss *problem;
    const double *a, *lambda, *C;
    double *unit;    /* n */
    double *inverse; /* n: 1/unit */
    double *free;    /* n */
    double *force;   /* n: M a - F_N, then the residual of stationarity */
    double *step;    /* n: a - a_free, then |A|' |lambda| */
    double *w;       /* m: scaled residuals */
    double *r;       /* m: scaled multipliers */
    double *scale;   /* m: factor of the residual; the multiplier's is its inverse */
    double *before;  /* m: scaled residuals of the free motion */
    double *carried; /* m: scaled |A| |a| + |b| */
    double R;
} certifier;

size_t zw_gauss_certify_scratch(const zw_gauss *problem)
{
    return 5 * (size_t)problem->n + 5 * (size_t)gauss_row_count(problem) + 1;
}

/* The unit of a coordinate without mass follows from the rows that involve it, divided by their
 * length in the masses that they move or, where they move almost none, in the largest mass:
 * otherwise a row that is about to move no mass would make all errors of its coordinates look
 * small. */
static void certify_units(certifier *j)
{
    const zw_gauss *problem = j->problem;
    int n = problem->n, m = gauss_row_count(problem), massless = 0;
    double largest = 0.0;
    gauss_metric_diagonal(problem, j->unit);
    for (int i = 0; i < n; i++) {
        j->unit[i] = j->unit[i] > 0.0 ? sqrt(j->unit[i]) : HUGE_VAL;
        massless += j->unit[i] == HUGE_VAL;
        largest = j->unit[i] < HUGE_VAL ? larger(largest, j->unit[i]) : largest;
        j->force[i] = 0.0;
    }
    largest = largest > 0.0 ? largest : 1.0;
    for (int i = 0; i < m && massless > 0; i++) {
        double length = larger(gauss_row_length(problem, i, j->unit),
                               gauss_row_length(problem, i, NULL) / largest);
        gauss_row_raise(problem, i, 1.0 / (length > 0.0 ? length : 1.0), j->force);
    }
    for (int i = 0; i < n; i++) {
        if (j->unit[i] == HUGE_VAL) {
            j->unit[i] = j->force[i] > 0.0 ? j->force[i] : 1.0;
        }
        j->inverse[i] = 1.0 / j->unit[i];
    }
}

/* Stationarity, and R. */
static void certify_forces(certifier *j)
{
    const zw_gauss *problem = j->problem;
    int n = problem->n;
    double *Ma_free = j->free;
    if (problem->force != NULL) {
        memcpy(Ma_free, problem->force, (size_t)n * sizeof *Ma_free);
        gauss_metric_apply(problem, j->a, j->force);
        for (int i = 0; i < n; i++) {
            j->force[i] -= Ma_free[i];
        }
    } else {
        for (int i = 0; i < n; i++) {
            j->step[i] = j->a[i] - (problem->free != NULL ? problem->free[i] : 0.0);
        }
        gauss_metric_apply(problem, j->step, j->force);
        if (problem->free != NULL) {
            gauss_metric_apply(problem, problem->free, Ma_free);
        } else {
            memset(Ma_free, 0, (size_t)n * sizeof *Ma_free);
        }
    }
    double applied = 0.0;
    j->R = 0.0;
    for (int i = 0; i < n; i++) {
        double C = j->C != NULL ? j->C[i] : 0.0;
        j->R = larger(j->R, larger(fabs(j->force[i]), fabs(C)) * j->inverse[i]);
        applied =
            larger(applied, larger(fabs(Ma_free[i]) * j->inverse[i], fabs(j->a[i]) * j->unit[i]));
        j->force[i] -= C;
    }
    j->R += GAUSS_SCALE_FLOOR * applied;
    j->R = j->R > 0.0 ? j->R : 1.0;
    gauss_rows_force(problem, j->lambda, j->step);
    for (int i = 0; i < n; i++) {
        j->force[i] -= j->step[i];
    }
    gauss_rows_sizes(problem, j->lambda, j->step);
}

/* Residuals, the factors that scale them, and the multipliers, for all rows of one block. */
static void certify_rows(certifier *j, int k, int at)
{
    const zw_gauss *problem = j->problem;
    const zw_block *block = &problem->block[k];
    double longest = 0.0;
    for (int i = at; i < at + block->rows; i++) {
        double b = problem->b != NULL ? problem->b[i] : 0.0, look[4];
        double R = problem->compliance != NULL ? problem->compliance[i] : 0.0;
        double mu = block->kind == ZW_CONE && i > at ? block->friction[i - at - 1] : 1.0;
        gauss_row_look(problem, i, j->a, j->free, j->inverse, look);
        j->w[i] = look[0] - b + R * j->lambda[i];
        j->carried[i] = look[1] + fabs(b);
        j->before[i] = look[2] - b;
        double square = look[3] + R;
        j->scale[i] = block->kind == ZW_CONE ? mu : square > 0.0 ? 1.0 / sqrt(square) : 1.0;
        longest = larger(longest, mu * mu * square);
    }
    double factor = block->kind == ZW_CONE && longest > 0.0 ? 1.0 / sqrt(longest) : 1.0;
    for (int i = at; i < at + block->rows; i++) {
        double s = j->scale[i] *= factor;
        j->w[i] *= s;
        j->carried[i] *= s;
        j->before[i] *= s;
        j->r[i] = s > 0.0 && j->lambda[i] != 0.0 ? j->lambda[i] / s : 0.0;
    }
}

/* The free motion; where a force was given instead, the one for M replaced by its diagonal, which
 * is enough for the scale. */
static void certify_free(certifier *j)
{
    const zw_gauss *problem = j->problem;
    for (int i = 0; i < problem->n; i++) {
        j->free[i] = problem->force != NULL  ? problem->force[i] / (j->unit[i] * j->unit[i])
                     : problem->free != NULL ? problem->free[i]
                                             : 0.0;
    }
}

/* Scaled residuals and multipliers. */
static void certify_residuals(certifier *j)
{
    const zw_gauss *problem = j->problem;
    certify_free(j);
    for (int k = 0, at = 0; k < problem->block_count; at += problem->block[k++].rows) {
        certify_rows(j, k, at);
    }
}

static int all_finite(size_t n, const double *x)
{
    return dense_first_beyond((long)n, x, DBL_MAX) < 0;
}

zw_status zw_gauss_certify(const zw_gauss *problem, zw_contact_law contact, const double *a,
                           const double *lambda, const double *C, double *scratch,
                           zw_certificate *certificate)
{
    size_t n = (size_t)problem->n, m = (size_t)gauss_row_count(problem);
    double *own =
        scratch == NULL ? base_alloc(zw_gauss_certify_scratch(problem) * sizeof *own) : NULL;
    scratch = scratch != NULL ? scratch : own;
    if (scratch == NULL) {
        return ZW_NO_MEMORY;
    }
    certifier j = {.problem = problem,
                   .a = a,
                   .lambda = lambda,
                   .C = C != NULL ? C : problem->C,
                   .unit = scratch,
                   .free = scratch + n,
                   .force = scratch + 2 * n,
                   .step = scratch + 3 * n,
                   .inverse = scratch + 4 * n,
                   .w = scratch + 5 * n,
                   .r = scratch + 5 * n + m,
                   .scale = scratch + 5 * n + 2 * m,
                   .before = scratch + 5 * n + 3 * m,
                   .carried = scratch + 5 * n + 4 * m};
    if (!all_finite(n, a) || !all_finite(m, lambda) || (j.C != NULL && !all_finite(n, j.C))) {
        double none = HUGE_VAL;
        *certificate = (zw_certificate){none, none, none, none, none, none, none, -1};
        base_free(own);
        return ZW_BAD_INPUT;
    }
    certify_units(&j);
    certify_forces(&j);
    certify_residuals(&j);
    gauss_measured verdict = {.n = problem->n,
                              .m = (int)m,
                              .block_count = problem->block_count,
                              .block = problem->block,
                              .contact = contact,
                              .lambda = lambda,
                              .unit = j.unit,
                              .force = j.force,
                              .pushes = j.step,
                              .w = j.w,
                              .r = j.r,
                              .scale = j.scale,
                              .before = j.before,
                              .carried = j.carried,
                              .R = j.R};
    gauss_measured_certify(&verdict);
    *certificate = verdict.out;
    base_free(own);
    return isfinite(certificate->worst) ? ZW_OK : ZW_BAD_INPUT;
}
