/* The certificate: how far a claimed answer is from the law, from the data alone.
 *
 * Units. Coordinate j is measured in unit_j = sqrt(M_jj), a row in its length in these units, so
 * that forces and residuals both come out as sqrt(energy). Cones are first made self-dual:
 * residuals of tangential rows times friction, multipliers divided by it.
 *
 * Scales. Forces are compared with   R = max(|M (a - a_free)|, |C|) + 1e-3 max(|M a_free|, |a|),
 * residuals with                     V = max(violation of a_free, |w|) + 1e-3 max(|A| |a| + |b|, R)
 * (largest entries; |w| of blocks that push, and all of it only over blocks that push or that
 * a_free violates: a contact far away has no say). R, in the same units, is what a row has to
 * undo where it stops a coordinate dead: then a and w are round-off, and of a given force only a
 * rough a_free is known. (And where a row has nothing to undo: a knee that is just straight while
 * its owner falls.) The small additions keep a constraint force that is tiny beside what it is the
 * difference of from being judged by round-off. Multipliers take no
 * part in these scales: internal forces could inflate them and hide an error. But what sixteen
 * digits cannot hold is granted: forces of nearly parallel constraints that cancel leave GRANTED
 * |A|'|lambda| behind, whoever computes them, and a large multiplier is on the surface of its cone
 * to GRANTED of itself and no better. That much is subtracted from the error, but never more than
 * GRANTED_MOST of R. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/metric.h"
#include "gauss/rows.h"
#include "math/cone.h"
#include "math/dense.h"
#include "zwang/gauss.h"

static const double GRANTED = 64.0 * DBL_EPSILON, GRANTED_MOST = 1e-8;

static double larger(double x, double y)
{
    return x > y ? x : y;
}

/* What x has above `granted`; a NaN stays. */
static double above(double x, double granted)
{
    double rest = x - granted;
    return rest > 0.0 || rest != rest ? rest : 0.0;
}

typedef struct judge {
    const zw_gauss *problem;
    zw_contact_law contact;
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
    double R, V;
    zw_certificate *out;
} judge;

size_t zw_gauss_certify_scratch(const zw_gauss *problem)
{
    return 5 * (size_t)problem->n + 5 * (size_t)gauss_row_count(problem) + 1;
}

/* A coordinate without mass is measured by the pull of the rows that touch it. */
static void judge_units(judge *j)
{
    const zw_gauss *problem = j->problem;
    int n = problem->n, m = gauss_row_count(problem), massless = 0;
    gauss_metric_diagonal(problem, j->unit);
    for (int i = 0; i < n; i++) {
        j->unit[i] = j->unit[i] > 0.0 ? sqrt(j->unit[i]) : HUGE_VAL;
        massless += j->unit[i] == HUGE_VAL;
        j->force[i] = 0.0;
    }
    for (int i = 0; i < m && massless > 0; i++) {
        double length = gauss_row_length(problem, i, j->unit);
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
static void judge_forces(judge *j)
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
    j->R += 1e-3 * applied;
    j->R = j->R > 0.0 ? j->R : 1.0;
    gauss_rows_force(problem, j->lambda, j->step);
    for (int i = 0; i < n; i++) {
        j->force[i] -= j->step[i];
    }
    gauss_rows_sizes(problem, j->lambda, j->step);
}

/* Residuals, the factors that scale them, and the multipliers, for all rows of one block. */
static void judge_rows(judge *j, int k, int at)
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

/* The free motion; where a force was given instead, what it would be if M were its diagonal: the
 * scale needs no more. */
static void judge_free(judge *j)
{
    const zw_gauss *problem = j->problem;
    for (int i = 0; i < problem->n; i++) {
        j->free[i] = problem->force != NULL  ? problem->force[i] / (j->unit[i] * j->unit[i])
                     : problem->free != NULL ? problem->free[i]
                                             : 0.0;
    }
}

/* How far u is from what the block admits. */
static double judge_violation(const zw_block *block, int rows, const double *u)
{
    return block->kind == ZW_EQUALITY ? fabs(u[0]) : cone_gap(rows, u);
}

/* The part of V that one cone, inequality row or equality row makes: nothing, if it is open before
 * and after. */
static double judge_concern(judge *j, const zw_block *block, int at, int rows)
{
    double size = 0.0, carried = 0.0, push = 0.0;
    for (int i = at; i < at + rows; i++) {
        size = larger(size, fabs(j->w[i]));
        push = larger(push, fabs(j->r[i]));
        carried = larger(carried, j->carried[i]);
    }
    double violation = judge_violation(block, rows, j->before + at);
    int pushes = push > 1e-6 * j->R; /* a trace of a multiplier does not count */
    if (!pushes && violation == 0.0 && judge_violation(block, rows, j->w + at) == 0.0) {
        return 0.0;
    }
    return larger(violation, pushes ? size : 0.0) + 1e-3 * larger(carried, j->R);
}

/* Scaled residuals and multipliers, and V. */
static void judge_residuals(judge *j)
{
    const zw_gauss *problem = j->problem;
    j->V = 0.0;
    judge_free(j);
    for (int k = 0, at = 0; k < problem->block_count; at += problem->block[k++].rows) {
        const zw_block *block = &problem->block[k];
        int step = block->kind == ZW_CONE ? block->rows : 1;
        judge_rows(j, k, at);
        for (int i = at; i < at + block->rows; i += step) {
            j->V = larger(j->V, judge_concern(j, block, i, step));
        }
    }
    j->V = j->V > 0.0 ? j->V : 1.0;
}

static void worse(double *slot, double value)
{
    if (value > *slot || value != value) { /* a NaN stays */
        *slot = value;
    }
}

/* One cone (or inequality row) in scaled units. */
static double judge_cone(judge *j, int d, const double *r, const double *w, int shifted)
{
    double u[CONE_MAX], z[CONE_MAX], p[CONE_MAX], product = 0.0, rho = j->R / j->V;
    double push = 0.0, off = 0.0;
    for (int i = 0; i < d; i++) {
        u[i] = w[i] + (i == 0 && shifted ? cone_tangent(d, w) : 0.0);
        z[i] = r[i] - rho * u[i];
        product += r[i] * u[i];
        push = larger(push, fabs(r[i]));
    }
    double outside = cone_gap(d, u) / j->V;
    worse(&j->out->feasibility, outside);
    if (push == 0.0 && outside == 0.0) {
        return 0.0; /* open */
    }
    double granted = larger(0.0, GRANTED * push);
    granted = granted < GRANTED_MOST * j->R ? granted : GRANTED_MOST * j->R;
    worse(&j->out->complementarity, fabs(product) / (j->R * j->V));
    worse(&j->out->membership, above(cone_gap(d, r), granted) / j->R);
    cone_project(d, z, p);
    for (int i = 0; i < d; i++) {
        worse(&off, fabs(r[i] - p[i]));
    }
    double natural = above(off, granted) / j->R;
    worse(&natural, outside);
    worse(&j->out->natural, natural);
    return natural;
}

static double judge_block(judge *j, int k, int at)
{
    const zw_block *block = &j->problem->block[k];
    double worst = 0.0;
    if (block->kind == ZW_CONE) {
        worst = judge_cone(j, block->rows, j->r + at, j->w + at, j->contact == ZW_COULOMB);
        for (int i = 1; i < block->rows; i++) { /* no friction, no force */
            if (block->friction[i - 1] == 0.0) {
                worse(&worst, fabs(j->lambda[at + i]) / j->R);
                worse(&j->out->membership, fabs(j->lambda[at + i]) / j->R);
            }
        }
        return worst;
    }
    for (int i = at; i < at + block->rows; i++) {
        if (block->kind == ZW_EQUALITY) {
            worse(&worst, fabs(j->w[i]) / j->V);
            worse(&j->out->feasibility, fabs(j->w[i]) / j->V);
        } else {
            worse(&worst, judge_cone(j, 1, j->r + i, j->w + i, 0));
        }
    }
    return worst;
}

/* Primal minus dual objective: with stationarity exact it is the sum of lambda . residual. */
static double judge_gap(const judge *j)
{
    double gap = 0.0, size = 0.0;
    int m = gauss_row_count(j->problem);
    for (int i = 0; i < m; i++) {
        gap += j->r[i] * j->w[i];
        size += fabs(j->r[i] * j->w[i]);
    }
    return fabs(gap) / larger(size, j->R * j->V);
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
    judge j = {.problem = problem,
               .contact = contact,
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
               .carried = scratch + 5 * n + 4 * m,
               .out = certificate};
    if (!all_finite(n, a) || !all_finite(m, lambda) || (j.C != NULL && !all_finite(n, j.C))) {
        double none = HUGE_VAL;
        *certificate = (zw_certificate){none, none, none, none, none, none, none, -1};
        base_free(own);
        return ZW_BAD_INPUT;
    }
    memset(certificate, 0, sizeof *certificate);
    certificate->worst_block = -1;
    judge_units(&j);
    judge_forces(&j);
    judge_residuals(&j);
    for (size_t i = 0; i < n; i++) {
        double size = j.unit[i] * j.R, granted = GRANTED * j.step[i];
        granted = granted < GRANTED_MOST * size ? granted : GRANTED_MOST * size;
        worse(&certificate->stationarity, above(fabs(j.force[i]), granted) / size);
    }
    certificate->worst = certificate->stationarity;
    for (int k = 0, at = 0; k < problem->block_count; at += problem->block[k++].rows) {
        double worst = judge_block(&j, k, at);
        if (worst > certificate->worst || worst != worst) {
            certificate->worst = worst;
            certificate->worst_block = k;
        }
    }
    certificate->gap = judge_gap(&j);
    worse(&certificate->worst, certificate->membership);
    base_free(own);
    return isfinite(certificate->worst) ? ZW_OK : ZW_BAD_INPUT;
}
