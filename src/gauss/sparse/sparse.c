/* Large sparse problems, in the order of solve.c:
 *
 *     the pattern of K, once                               sparse_pattern.c
 *     units, scaled rows                                   sparse_pattern.c
 *     factor, refine                                       sparse_kkt.c, math/sparse/ldl.c
 *     rank, redundant and contradicting equalities         sparse_equality.c, sparse_null.c
 *     cones: convex law, Coulomb's law                     sparse_convex.c, sparse_coulomb.c
 *
 * No matrix of order n x n or m x m is ever formed; a chain costs the same per link, however long.
 *
 * Limits. Distances between rows enter K squared: rows nearer to dependence than 3e-7 (in the mass
 * metric) count as dependent, where the dense algebra goes to 1e-10. */
#include "gauss/sparse/sparse.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "gauss/internal.h"
#include "gauss/metric.h"
#include "gauss/rows.h"
#include "gauss/sparse/sparse_kkt.h"
#include "math/dense/dense.h"

/* ---- Room ---------------------------------------------------------------------------------- */

static void lay_out_rows(gauss_sparse *s, base_arena *arena, int cones)
{
    size_t me = (size_t)s->me, mc = (size_t)s->mc, m = (size_t)s->m, room = (size_t)s->null_room;
    double **by_row[] = {&s->scale,   &s->length, &s->E,    &s->c,    &s->r,    &s->w,    &s->r_new,
                         &s->start_r, &s->centre, &s->v[0], &s->v[1], &s->v[2], &s->v[3], &s->key};
    for (size_t i = 0; i < sizeof by_row / sizeof *by_row; i++) {
        *by_row[i] = base_arena_doubles(arena, m);
    }
    s->off = base_arena_bytes(arena, m);
    s->sure = base_arena_bytes(arena, me);
    s->order = base_arena_ints(arena, m);
    s->next = base_arena_ints(arena, m);
    s->twin = base_arena_ints(arena, me);
    s->twin_sign = base_arena_doubles(arena, me);
    s->weight = base_arena_doubles(arena, me);
    s->circuit = base_arena_doubles(arena, room * me);
    s->circuit_row = base_arena_ints(arena, room);
    s->null = base_arena_doubles(arena, room * me);
    s->turn = base_arena_doubles(arena, mc * CONE_MAX);
    s->slip = base_arena_doubles(arena, mc);
    s->shift = base_arena_doubles(arena, (size_t)cones);
}

static void lay_out(const zw_gauss *problem, gauss_sparse *s, base_arena *arena, int cones,
                    size_t entries)
{
    size_t n = (size_t)s->n, q = (size_t)s->q, m = (size_t)s->m, N = (size_t)s->N;
    const zw_rows *A = &problem->A;
    s->start = base_arena_ints(arena, N + 1);
    s->row = base_arena_ints(arena, entries);
    s->value = base_arena_doubles(arena, entries);
    s->base = base_arena_doubles(arena, entries);
    s->sign = base_arena_bytes(arena, N);
    s->smooth = base_arena_bytes(arena, (size_t)problem->block_count * sizeof *s->smooth);
    s->slot = base_arena_ints(arena, A->dense == NULL && m > 0 ? (size_t)A->start[s->m] : 0);
    s->reference = base_arena_doubles(arena, n);
    s->force = base_arena_doubles(arena, n);
    double **by_column[] = {&s->unit,    &s->f,    &s->x,    &s->x_new,
                            &s->start_x, &s->y[0], &s->y[1], &s->y[2]};
    for (size_t i = 0; i < sizeof by_column / sizeof *by_column; i++) {
        *by_column[i] = base_arena_doubles(arena, q);
    }
    double **whole[] = {&s->rhs, &s->sol, &s->res, &s->step, &s->best, &s->kept};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        *whole[i] = base_arena_doubles(arena, N);
    }
    s->krylov = base_arena_doubles(arena, (size_t)(2 * s->steps + 1) * N);
    lay_out_rows(s, arena, cones);
}

static int fit(int low, long wish, int high)
{
    return wish < low ? low : wish > high ? high : (int)wish;
}

gauss_sparse *gauss_sparse_create(const zw_gauss *problem, const zw_gauss_work *work)
{
    gauss_sparse shape = {.n = work->n, .me = work->me, .mc = work->mc, .m = work->m};
    shape.has_compliance = problem->compliance != NULL;
    shape.q = shape.n + (shape.has_compliance ? shape.mc : 0);
    shape.N = shape.q + shape.m;
    shape.null_room = fit(0, SPARSE_NULL_ROOM / (shape.me + 1) + 8, shape.me);
    shape.steps = fit(4, SPARSE_KRYLOV_ROOM / (2 * shape.N + 1), SPARSE_KRYLOV);
    size_t entries = sparse_pattern_entries(problem, &shape);
    if (entries > INT_MAX / 2) {
        return NULL;
    }
    base_arena count = {.block = NULL, .used = sizeof shape};
    lay_out(problem, &shape, &count, work->cone_count, entries);
    unsigned char *block = base_alloc(count.used);
    if (block == NULL) {
        return NULL;
    }
    base_arena carve = {.block = block, .used = sizeof shape};
    lay_out(problem, &shape, &carve, work->cone_count, entries);
    gauss_sparse *s = memcpy(block, &shape, sizeof shape);
    s->cone_count = work->cone_count;
    s->cone = work->cone;
    sparse_pattern(problem, work, s, work->undetermined);
    s->ldl = sparse_ldl_analyse(s->N, s->start, s->row, s->sign);
    if (s->ldl == NULL) {
        base_free(block);
        return NULL;
    }
    return s;
}

void gauss_sparse_free(gauss_sparse *s)
{
    if (s != NULL) {
        sparse_ldl_free(s->ldl);
        base_free(s);
    }
}

/* ---- The numbers of one problem ------------------------------------------------------------ */

/* a_free = M \ force, for Z and the size of residuals; K with all rows out of play is M. */
static void free_from_force(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s)
{
    int diagonal =
        problem->metric.kind == ZW_METRIC_IDENTITY || problem->metric.kind == ZW_METRIC_DIAGONAL;
    memset(s->rhs, 0, (size_t)s->N * sizeof(double));
    memset(s->sol, 0, (size_t)s->N * sizeof(double));
    for (int j = 0; j < s->n; j++) {
        double mass = s->value[s->start[j]];
        s->rhs[j] = problem->force[j] / s->unit[j];
        s->sol[j] = mass > 0.0 ? s->rhs[j] / mass : 0.0;
        work->shifted |= !(mass > 0.0);
    }
    if (!diagonal) {
        for (int p = 0; p < s->m; p++) {
            sparse_kkt_row_off(s, p);
        }
        s->soft = 0.0;
        if (sparse_kkt_factor(work, s)) {
            work->shifted |= s->replaced > 0;
            sparse_kkt_solve(s, s->rhs, s->sol);
        }
    }
    for (int j = 0; j < s->n; j++) {
        work->free[j] = s->sol[j] / s->unit[j];
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
        free_from_force(problem, work, s);
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
    for (int p = 0; p < s->m; p++) {
        work->scale[p < s->me ? work->equality_row[p] : work->cone_row[p - s->me]] = s->scale[p];
    }
    free_motion(problem, work, s);
    return sparse_equality_prepare(problem, work, s, error);
}

/* ---- One pass ------------------------------------------------------------------------------ */

static int row_of(const zw_gauss_work *work, int p)
{
    return p < work->me ? work->equality_row[p] : work->cone_row[p - work->me];
}

/* f, c and V for the force C. */
static void right_side(const zw_gauss *problem, const zw_gauss_work *work, gauss_sparse *s,
                       const double *C)
{
    double V = 0.0, floor = 0.0;
    for (int j = 0; j < s->q; j++) {
        s->f[j] = j < s->n ? (s->force[j] + (C != NULL ? C[j] : 0.0)) / s->unit[j] : 0.0;
    }
    for (int p = 0; p < s->m; p++) {
        int i = row_of(work, p);
        double b = problem->b != NULL ? problem->b[i] : 0.0, scale = s->scale[p];
        s->c[p] = scale * (gauss_row_dot(problem, i, s->reference) - b);
        V = fmax(V, scale * fabs(gauss_row_dot(problem, i, work->free) - b));
        floor = fmax(floor, scale * (gauss_row_dot_size(problem, i, work->free) + fabs(b)));
    }
    s->V = fmax(V, 1e-3 * floor);
    s->V = s->V > 0.0 ? s->V : 1.0;
}

/* a and lambda of (x, r). */
static void to_user(const zw_gauss_work *work, gauss_sparse *s, const double *x, const double *r,
                    double *a, double *lambda)
{
    for (int j = 0; j < s->n; j++) {
        a[j] = s->reference[j] + x[j] / s->unit[j];
    }
    for (int p = 0; p < s->m; p++) {
        lambda[row_of(work, p)] = s->scale[p] * r[p];
    }
}

double sparse_judge(const zw_gauss *problem, zw_contact_law law, zw_gauss_work *work,
                    const double *C, const double *x, const double *r)
{
    zw_certificate certificate;
    to_user(work, work->sparse, x, r, work->a, work->residual);
    zw_gauss_certify(problem, law, work->a, work->residual, C, work->scratch, &certificate);
    return isfinite(certificate.worst) ? certificate.worst : HUGE_VAL;
}

/* What is left of the equation of motion and of the equality rows is corrected by the rows in play;
 * cones keep their multipliers. A step that does not help is taken back. */
static void finish(const zw_gauss *problem, const zw_gauss_options *options, zw_gauss_work *work,
                   const double *C)
{
    gauss_sparse *s = work->sparse;
    double before = sparse_judge(problem, options->contact, work, C, s->x, s->r);
    for (int k = 0; k < 3 && before > 1e-3 * options->tolerance && s->me > 0; k++) {
        if (!sparse_equality_factor(work, s)) {
            return;
        }
        sparse_rows_times(s, s->x, s->w);
        sparse_rows_force(s, s->r, s->y[0]);
        sparse_metric_times(s, s->x, s->y[1]);
        for (int j = 0; j < s->q; j++) {
            s->rhs[j] = s->f[j] + s->y[0][j] - s->y[1][j];
        }
        for (int p = 0; p < s->m; p++) {
            int plays = p < s->me && !s->off[p];
            s->rhs[s->q + p] = plays ? -(s->w[p] + s->c[p] + s->E[p] * s->r[p]) : 0.0;
        }
        sparse_kkt_solve(s, s->rhs, s->sol);
        for (int j = 0; j < s->q; j++) {
            s->x_new[j] = s->x[j] + s->sol[j];
        }
        for (int p = 0; p < s->m; p++) {
            s->r_new[p] = s->r[p] - (p < s->me && !s->off[p] ? s->sol[s->q + p] : 0.0);
        }
        double after = sparse_judge(problem, options->contact, work, C, s->x_new, s->r_new);
        if (!(after < 0.9 * before)) {
            break;
        }
        before = after;
        memcpy(s->x, s->x_new, (size_t)s->q * sizeof(double));
        memcpy(s->r, s->r_new, (size_t)s->m * sizeof(double));
    }
}

/* Without friction, is anything admissible? If not, Coulomb's law has no solution either, and the
 * conflict is named. The workspace then holds the numbers of the problem again. */
static int normals_contradict(const zw_gauss *problem, const zw_gauss_options *options,
                              zw_gauss_work *work, const double *C)
{
    gauss_sparse *s = work->sparse;
    zw_gauss smooth = *problem;
    smooth.block = s->smooth;
    for (int k = 0; k < problem->block_count; k++) {
        s->smooth[k] = problem->block[k];
        memset(s->smooth[k].friction, 0, sizeof s->smooth[k].friction);
    }
    gauss_sparse_prepare(&smooth, work, NULL);
    right_side(&smooth, work, s, C);
    int contradict = sparse_equality_motion(work, s, 0) &&
                     sparse_convex(&smooth, options, work, C, 0) == ZW_CONFLICT;
    int count = work->conflict_count;
    gauss_sparse_prepare(problem, work, NULL);
    work->conflict_count = contradict ? count : 0;
    return contradict;
}

zw_status gauss_sparse_pass(const zw_gauss *problem, const zw_gauss_options *options,
                            zw_gauss_work *work, const double *C, const double *guess,
                            double *lambda, const char **method)
{
    gauss_sparse *s = work->sparse;
    right_side(problem, work, s, C);
    work->V = s->V;
    zw_status status = sparse_equality_motion(work, s, 0) ? ZW_OK : ZW_INACCURATE;
    work->margin = work->measures && status == ZW_OK ? sparse_equality_margin(work, s) : 1.0;
    if (status == ZW_OK && work->rank < s->me) {
        status = sparse_equality_check(problem, work, s, options->tolerance);
        if (work->conflict_count > 0 && options->least_squares) {
            sparse_equality_least_squares(s);
            status = sparse_equality_motion(work, s, 0) ? ZW_OK : ZW_INACCURATE;
        }
    }
    if (status != ZW_OK) {
        return status;
    }
    *method = "equality";
    if (s->mc > 0 && status == ZW_OK) {
        for (int p = s->me; p < s->m && guess != NULL; p++) {
            s->r[p] = s->scale[p] > 0.0 ? guess[row_of(work, p)] / s->scale[p] : 0.0;
        }
        if (guess != NULL) {
            sparse_equality_motion(work, s, 1);
        }
        *method = "proximal";
        status = options->contact == ZW_COULOMB
                     ? sparse_coulomb(problem, options, work, C, guess != NULL, method)
                     : sparse_convex(problem, options, work, C, guess != NULL);
    }
    sparse_equality_spread(s, s->r);
    if (work->conflict_count == 0) {
        finish(problem, options, work, C);
    }
    to_user(work, s, s->x, s->r, work->a, lambda);
    zw_gauss_certify(problem, options->contact, work->a, lambda, C, work->scratch,
                     &work->certificate);
    status = gauss_verdict(options, work, status);
    if (status == ZW_JAMMED && s->hopeless && normals_contradict(problem, options, work, C)) {
        return ZW_NO_SOLUTION;
    }
    return status;
}
