/* Large sparse problems, in the order of solve.c:
 *
 *     the pattern of K, once                               sparse_pattern.c
 *     units, scaled rows                                   sparse_pattern.c
 *     factor, refine                                       sparse_kkt.c, math/sparse/ldl.c
 *     rank, redundant and contradicting equalities         sparse_equality.c, sparse_null.c
 *     cones, where there are any: the proximal Newton method of steps, with all rows, finds
 *     their forces; then the equalities under that load  contact/sparse_prox.c
 *
 * No matrix of order n x n or m x m is ever formed; a chain costs the same per link, however long.
 *
 * Limits. Distances between rows enter K squared: rows nearer to dependence than 3e-7 (in the mass
 * metric) count as dependent, where the dense algebra goes to 1e-10. */
#include "gauss/sparse/sparse.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "gauss/contact/sparse_prox.h"
#include "gauss/internal.h"
#include "gauss/metric.h"
#include "gauss/rows.h"
#include "gauss/sparse/sparse_kkt.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"

/* ---- Room ---------------------------------------------------------------------------------- */

static void lay_out_rows(gauss_sparse *s, base_arena *arena)
{
    size_t me = (size_t)s->me, capacity = (size_t)s->null_capacity;
    double **by_row[] = {&s->scale, &s->length, &s->E,    &s->c,    &s->r,
                         &s->w,     &s->r_new,  &s->v[0], &s->v[1], &s->key};
    for (size_t i = 0; i < sizeof by_row / sizeof *by_row; i++) {
        *by_row[i] = base_arena_doubles(arena, me);
    }
    s->off = base_arena_bytes(arena, me);
    s->sure = base_arena_bytes(arena, me);
    s->order = base_arena_ints(arena, me);
    s->next = base_arena_ints(arena, me);
    s->twin = base_arena_ints(arena, me);
    s->twin_sign = base_arena_doubles(arena, me);
    s->weight = base_arena_doubles(arena, me);
    s->circuit = base_arena_doubles(arena, capacity * me);
    s->circuit_row = base_arena_ints(arena, capacity);
    s->null = base_arena_doubles(arena, capacity * me);
}

static void lay_out(const zw_gauss *problem, gauss_sparse *s, base_arena *arena, int rows,
                    size_t entries)
{
    size_t n = (size_t)s->n, N = (size_t)s->N;
    const zw_rows *A = &problem->A;
    s->start = base_arena_ints(arena, N + 1);
    s->row = base_arena_ints(arena, entries);
    s->value = base_arena_doubles(arena, entries);
    s->base = base_arena_doubles(arena, entries);
    s->sign = base_arena_bytes(arena, N);
    s->slot = base_arena_ints(arena, A->dense == NULL && rows > 0 ? (size_t)A->start[rows] : 0);
    double **by_column[] = {&s->reference, &s->force, &s->unit, &s->f,   &s->x,
                            &s->x_new,     &s->y[0],  &s->y[1], &s->free};
    for (size_t i = 0; i < sizeof by_column / sizeof *by_column; i++) {
        *by_column[i] = base_arena_doubles(arena, n);
    }
    double **whole[] = {&s->rhs, &s->sol, &s->res, &s->step};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        *whole[i] = base_arena_doubles(arena, N);
    }
    s->krylov = base_arena_doubles(arena, (size_t)(2 * SPARSE_KRYLOV + 1) * N);
    lay_out_rows(s, arena);
}

static int fit(int low, long value, int high)
{
    return value < low ? low : value > high ? high : (int)value;
}

gauss_sparse *gauss_sparse_create(const zw_gauss *problem, const zw_gauss_work *work)
{
    gauss_sparse shape = {.n = work->n, .me = work->me, .N = work->n + work->me};
    shape.null_capacity = fit(0, SPARSE_NULL_CAPACITY / (shape.me + 1) + 8, shape.me);
    size_t entries = sparse_pattern_entries(problem, &shape);
    if (entries > INT_MAX / 2) {
        return NULL;
    }
    base_arena count = {.block = NULL, .used = sizeof shape};
    lay_out(problem, &shape, &count, work->m, entries);
    unsigned char *block = base_alloc(count.used);
    if (block == NULL) {
        return NULL;
    }
    base_arena carve = {.block = block, .used = sizeof shape};
    lay_out(problem, &shape, &carve, work->m, entries);
    gauss_sparse *s = memcpy(block, &shape, sizeof shape);
    sparse_pattern(problem, work, s, work->undetermined);
    s->ldl = sparse_ldl_analyse(s->N, s->start, s->row, s->sign);
    s->cones = work->mc > 0 ? sparse_prox_create() : NULL;
    if (s->ldl == NULL || (work->mc > 0 && s->cones == NULL)) {
        gauss_sparse_free(s);
        return NULL;
    }
    return s;
}

void gauss_sparse_free(gauss_sparse *s)
{
    if (s != NULL) {
        sparse_ldl_free(s->ldl);
        sparse_prox_free(s->cones);
        base_free(s);
    }
}

/* ---- The numbers of one problem ------------------------------------------------------------ */

/* a = M \ force; K with all rows inactive is M. */
static void move_freely(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s,
                        const double *force, double *a)
{
    int diagonal =
        problem->metric.kind == ZW_METRIC_IDENTITY || problem->metric.kind == ZW_METRIC_DIAGONAL;
    memset(s->rhs, 0, (size_t)s->N * sizeof(double));
    memset(s->sol, 0, (size_t)s->N * sizeof(double));
    for (int j = 0; j < s->n; j++) {
        double mass = s->value[s->start[j]];
        s->rhs[j] = force[j] / s->unit[j];
        s->sol[j] = mass > 0.0 ? s->rhs[j] / mass : 0.0;
        work->shifted |= !(mass > 0.0);
    }
    if (!diagonal) {
        for (int p = 0; p < s->me; p++) {
            sparse_kkt_row_off(s, p);
        }
        double soft = s->soft;
        s->soft = 0.0;
        s->holds_equality = 0;
        if (sparse_kkt_factor(work, s)) {
            work->shifted |= s->replaced > 0;
            sparse_kkt_solve(s, s->rhs, s->sol);
        }
        s->soft = soft;
    }
    for (int j = 0; j < s->n; j++) {
        a[j] = s->sol[j] / s->unit[j];
    }
}

static void free_motion(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s)
{
    size_t bytes = (size_t)s->n * sizeof(double);
    memset(s->reference, 0, bytes);
    memset(s->force, 0, bytes);
    memset(work->free, 0, bytes);
    memset(work->F_N, 0, bytes);
    if (problem->force != NULL) {
        memcpy(s->force, problem->force, bytes);
        memcpy(work->F_N, problem->force, bytes);
        move_freely(problem, work, s, s->force, work->free);
    } else if (problem->free != NULL) {
        memcpy(s->reference, problem->free, bytes);
        memcpy(work->free, problem->free, bytes);
        gauss_metric_apply(problem, problem->free, work->F_N);
    }
}

zw_status gauss_sparse_prepare(const zw_gauss *problem, zw_gauss_work *work, zw_error *error)
{
    gauss_sparse *s = work->sparse;
    work->shifted = 0;
    work->undetermined_count = work->conflict_count = work->redundant_count = 0;
    s->firm = 0; /* nothing of an earlier problem */
    memset(s->sure, 0, (size_t)s->me);
    sparse_numbers(problem, work, s);
    for (int p = 0; p < s->me; p++) {
        work->scale[work->equality_row[p]] = s->scale[p];
    }
    free_motion(problem, work, s);
    return sparse_equality_prepare(problem, work, s, error);
}

/* ---- One pass ------------------------------------------------------------------------------ */

/* f, c and V for the force C. */
static void right_side(const zw_gauss *problem, const zw_gauss_work *work, gauss_sparse *s,
                       const double *C)
{
    double V = 0.0, floor = 0.0;
    for (int j = 0; j < s->n; j++) {
        s->f[j] = (s->force[j] + (C != NULL ? C[j] : 0.0)) / s->unit[j];
    }
    for (int p = 0; p < s->me; p++) {
        int i = work->equality_row[p];
        double b = problem->b != NULL ? problem->b[i] : 0.0, scale = s->scale[p];
        s->c[p] = scale * (gauss_row_dot(problem, i, s->reference) - b);
        V = fmax(V, scale * fabs(gauss_row_dot(problem, i, work->free) - b));
        floor = fmax(floor, scale * (gauss_row_dot_size(problem, i, work->free) + fabs(b)));
    }
    s->V = fmax(V, GAUSS_SCALE_FLOOR * floor);
    s->V = s->V > 0.0 ? s->V : 1.0;
}

/* a of x, and lambda of r; cones keep theirs. */
static void to_user(const zw_gauss_work *work, const gauss_sparse *s, const double *x,
                    const double *r, double *a, double *lambda)
{
    for (int j = 0; j < s->n; j++) {
        a[j] = s->reference[j] + x[j] / s->unit[j];
    }
    for (int p = 0; p < s->me; p++) {
        lambda[work->equality_row[p]] = s->scale[p] * r[p];
    }
}

/* The certificate's worst of (x, r), and of what cones have in lambda. */
static double worst_residual(const zw_gauss *problem, zw_contact_law law, zw_gauss_work *work,
                             const double *C, const double *x, const double *r, double *lambda)
{
    zw_certificate certificate;
    to_user(work, work->sparse, x, r, work->a, lambda);
    zw_gauss_certify(problem, law, work->a, lambda, C, work->scratch, &certificate);
    return isfinite(certificate.worst) ? certificate.worst : HUGE_VAL;
}

/* The residuals of the equation of motion and of the equality rows are corrected by the active
 * rows; cones keep their multipliers. A step that does not help is undone. */
static void finish(const zw_gauss *problem, const zw_gauss_options *options, zw_gauss_work *work,
                   const double *C, double *lambda)
{
    gauss_sparse *s = work->sparse;
    double before = worst_residual(problem, options->contact, work, C, s->x, s->r, lambda);
    for (int k = 0; k < 3 && before > GAUSS_SETTLED * options->tolerance && s->me > 0; k++) {
        if (!sparse_equality_factor(work, s)) {
            return;
        }
        sparse_rows_times(s, s->x, s->w);
        sparse_rows_force(s, s->r, s->y[0]);
        sparse_metric_times(s, s->x, s->y[1]);
        for (int j = 0; j < s->n; j++) {
            s->rhs[j] = s->f[j] + s->y[0][j] - s->y[1][j];
        }
        for (int p = 0; p < s->me; p++) {
            s->rhs[s->n + p] = s->off[p] ? 0.0 : -(s->w[p] + s->c[p] + s->E[p] * s->r[p]);
        }
        sparse_kkt_solve(s, s->rhs, s->sol);
        for (int j = 0; j < s->n; j++) {
            s->x_new[j] = s->x[j] + s->sol[j];
        }
        for (int p = 0; p < s->me; p++) {
            s->r_new[p] = s->r[p] - (s->off[p] ? 0.0 : s->sol[s->n + p]);
        }
        double after =
            worst_residual(problem, options->contact, work, C, s->x_new, s->r_new, lambda);
        if (!(after < 0.9 * before)) {
            break;
        }
        before = after;
        memcpy(s->x, s->x_new, (size_t)s->n * sizeof(double));
        memcpy(s->r, s->r_new, (size_t)s->me * sizeof(double));
    }
}

/* The forces of the cones, into lambda and f; x and r of the equalities under that load. A failure
 * does not mean that there is no solution: the dense algebra decides, and names conflicts. */
static zw_status load(const zw_gauss *problem, const zw_gauss_options *options, zw_gauss_work *work,
                      const double *C, const double *guess, double *lambda)
{
    gauss_sparse *s = work->sparse;
    zw_gauss whole = *problem;
    zw_gauss_options requested = *options;
    zw_motion motion = {0};
    const double *start = problem->free != NULL ? problem->free : work->free;
    if (C != NULL) {
        move_freely(problem, work, s, C, s->free);
        for (int j = 0; j < s->n; j++) {
            s->free[j] += start[j];
        }
        start = s->free;
    }
    whole.free = start;
    whole.force = whole.C = NULL;
    whole.law = NULL;
    requested.guess = guess;
    int solved = sparse_prox_solve(s->cones, &whole, &requested, &motion);
    work->core.iterations += motion.iterations;
    work->core.factorizations += motion.factorizations;
    memset(lambda, 0, (size_t)work->m * sizeof *lambda);
    for (int i = 0; i < work->mc && solved != 0; i++) {
        lambda[work->cone_row[i]] = motion.lambda[work->cone_row[i]];
    }
    gauss_rows_force(problem, lambda, work->F_L);
    for (int j = 0; j < s->n; j++) {
        s->f[j] += work->F_L[j] / s->unit[j];
    }
    int good = sparse_equality_motion(work, s);
    return solved > 0 && good ? ZW_OK : ZW_INACCURATE;
}

zw_status gauss_sparse_pass(const zw_gauss *problem, const zw_gauss_options *options,
                            zw_gauss_work *work, const double *C, const double *guess,
                            double *lambda, const char **method)
{
    gauss_sparse *s = work->sparse;
    right_side(problem, work, s, C);
    work->V = s->V;
    zw_status status = sparse_equality_motion(work, s) ? ZW_OK : ZW_INACCURATE;
    work->margin = work->measures && status == ZW_OK ? sparse_equality_margin(work, s) : 1.0;
    if (status == ZW_OK && work->rank < s->me) {
        status = sparse_equality_check(problem, work, s, options->tolerance);
        if (work->conflict_count > 0 && options->least_squares) {
            sparse_equality_least_squares(s);
            status = sparse_equality_motion(work, s) ? ZW_OK : ZW_INACCURATE;
        }
    }
    if (status != ZW_OK) {
        return status;
    }
    *method = "equality";
    if (s->cones != NULL) {
        *method = "proximal newton";
        status = load(problem, options, work, C, guess, lambda);
    }
    sparse_equality_spread(s, s->r);
    if (work->conflict_count == 0) {
        finish(problem, options, work, C, lambda);
    }
    to_user(work, s, s->x, s->r, work->a, lambda);
    zw_gauss_certify(problem, options->contact, work->a, lambda, C, work->scratch,
                     &work->certificate);
    return gauss_verdict(options, work, status);
}
