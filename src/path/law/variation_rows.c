/* R = [T] - F and W of Theorem 2 at one sample of a path.
 *
 * With lambda = 0 the Lagrangian of law.h is that of the system itself, so that PART_TERMS gives
 * [T] - F = M a - force; explicit non-ideal forces C are among F. Of W lambda = P lambda' + S
 * lambda, P is -alpha Phi_v and S is in PART_REACTION. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/dense/dense.h"
#include "path/law/variation.h"

#define DEPENDENT                                                                                  \
    1e-10 /* rows closer than this to the span of the others, relative to the longest row, count   \
             as dependent */

void path_rows_lay_out(path_rows *rows, const zw_system *system, base_arena *arena)
{
    size_t n = (size_t)system->n, m = (size_t)system->m, carried = (size_t)system->law.carried;
    rows->n = system->n;
    rows->carried = system->law.carried;
    rows->others = system->m - system->law.carried;
    rows->x = base_arena_doubles(arena, (2 * carried + 1) * n);
    rows->factor = base_arena_doubles(arena, n * n);
    rows->normal = base_arena_doubles(arena, (m + 1) * n);
    rows->beta = base_arena_doubles(arena, n + m + 1);
    rows->distance = base_arena_doubles(arena, 2 * m + 2);
    rows->order = base_arena_ints(arena, m + 1);
    rows->row = base_arena_ints(arena, m + 1);
    rows->v = base_arena_doubles(arena, n + carried);
    rows->held = base_arena_doubles(arena, carried);
    if (rows->row && arena->block) {
        for (int r = 0, k = 0; r < system->m; r++) {
            if (system->law.of_row[r] < 0) {
                rows->row[k++] = r;
            }
        }
    }
}

/* The upper half of M as a dense matrix. */
static void masses(const zw_system *system, const double *M, double *H)
{
    int n = system->n;
    memset(H, 0, (size_t)n * (size_t)n * sizeof *H);
    for (int j = 0; j < n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            H[j * n + system->M_row[k]] = M[k];
        }
    }
}

static void dense_row(const zw_system *system, const double *A, int r, double factor, double *x)
{
    memset(x, 0, (size_t)system->n * sizeof *x);
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        x[system->A_column[k]] = factor * A[k];
    }
}

/* An orthonormal basis of `count` rows, in normal. */
static int span(path_rows *rows, int count)
{
    double longest = 0;
    for (int r = 0; r < count; r++) {
        double length = dense_norm(rows->n, rows->normal + r * rows->n);
        longest = length > longest ? length : longest;
    }
    return dense_lq(count, rows->n, rows->normal, rows->n, DEPENDENT * longest, rows->order,
                    rows->beta, rows->distance);
}

static zw_status factorise(path_rows *rows, double t, zw_error *error)
{
    return dense_cholesky(rows->n, rows->factor, rows->n, 1e-14) == rows->n
               ? ZW_OK
               : base_fail(error, ZW_NOT_A_METRIC,
                           "at t = %.9g the metric of the path is not positive definite", t);
}

/* Fills x with W for lambda', W for lambda, and R. PART_TERMS and PART_REACTION have been
 * evaluated. */
static void fill(path_rows *rows, const path_variation *variation, long i)
{
    const zw_system *system = variation->system;
    const system_law *law = &system->law;
    const double *terms = variation->work->out[PART_TERMS];
    const double *reaction = variation->work->out[PART_REACTION];
    int n = rows->n, carried = rows->carried;
    double *R = rows->x + 2 * carried * n;
    masses(system, terms + system->at.M, rows->factor);
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) {
            rows->factor[j * n + k] = rows->factor[k * n + j];
        }
    }
    dense_multiply(n, n, rows->factor, n, variation->a + i * n, R);
    dense_axpy(n, -1, terms + system->at.force, R);
    for (int k = 0; k < system->C_count; k++) {
        R[system->C_coord[k]] -= terms[system->at.C + k];
    }
    for (int j = 0; j < carried; j++) {
        double *S = rows->x + (carried + j) * n;
        dense_row(system, terms + system->at.A, law->row[j], -law->alpha, rows->x + j * n);
        memset(S, 0, (size_t)n * sizeof *S);
        for (int k = law->reaction_start[j]; k < law->reaction_start[j + 1]; k++) {
            S[law->reaction_column[k]] = -reaction[k];
        }
    }
    for (int r = 0; r < rows->others; r++) {
        dense_row(system, terms + system->at.A, rows->row[r], 1, rows->normal + r * n);
    }
    if (variation->metric) {
        memcpy(rows->factor, variation->metric, (size_t)n * (size_t)n * sizeof(double));
    }
}

static zw_status hold(path_rows *rows, const path_variation *variation, double t, const double *q,
                      zw_error *error)
{
    const zw_system *system = variation->system;
    zw_work *work = variation->work;
    zw_status status =
        system_evaluate(system, work, PART_VELOCITY, t, q, rows->v, NULL, NULL, error);
    for (int j = 0; j < rows->carried && status == ZW_OK; j++) {
        rows->held[j] = work->out[PART_VELOCITY][system->law.row[j]] / system->law.flex;
    }
    return status;
}

zw_status path_rows_look(path_rows *rows, const path_variation *variation, long i, zw_error *error)
{
    const zw_system *system = variation->system;
    int n = rows->n, vectors = 2 * rows->carried + 1;
    double t = variation->t[i];
    const double *q = variation->q + i * n, *a = variation->a + i * n;
    memcpy(rows->v, variation->v + i * n, (size_t)n * sizeof(double));
    memset(rows->v + n, 0, (size_t)rows->carried * sizeof(double));
    zw_status status =
        system_evaluate(system, variation->work, PART_TERMS, t, q, rows->v, NULL, NULL, error);
    if (status == ZW_OK) {
        status =
            system_evaluate(system, variation->work, PART_REACTION, t, q, rows->v, a, NULL, error);
    }
    if (status == ZW_OK && system->law.flex > 0) {
        status = hold(rows, variation, t, q, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    fill(rows, variation, i);
    status = factorise(rows, t, error);
    if (status != ZW_OK) {
        return status;
    }
    for (int k = 0; k < vectors; k++) {
        dense_solve_upper_transposed(n, rows->factor, n, rows->x + k * n);
    }
    const double *R = rows->x + (vectors - 1) * n;
    rows->square = dense_dot(n, R, R);
    for (int r = 0; r < rows->others; r++) {
        dense_solve_upper_transposed(n, rows->factor, n, rows->normal + r * n);
    }
    rows->rank = rows->others > 0 ? span(rows, rows->others) : 0;
    dense_lq_apply_transposed_rows(rows->rank, n, rows->normal, n, rows->beta, vectors, rows->x, n);
    return ZW_OK;
}

void path_rows_take(const path_rows *rows, double *x, double *lambda)
{
    int n = rows->n;
    for (int r = 0; r < rows->others; r++) {
        lambda[rows->row[r]] = 0;
    }
    for (int r = rows->rank - 1; r >= 0; r--) { /* L' lambda = x */
        double push = x[r] / rows->normal[r * n + r];
        lambda[rows->row[rows->order[r]]] = push;
        dense_axpy(r, -push, rows->normal + r * n, x);
        x[r] = 0;
    }
    dense_lq_apply(rows->rank, n, rows->normal, n, rows->beta, x);
}

void path_rows_force(const path_rows *rows, const double *x, double *force)
{
    int n = rows->n;
    memset(force, 0, (size_t)n * sizeof *force);
    for (int j = 0; j < n; j++) {
        dense_axpy(n - j, x[j], rows->factor + j * n + j, force + j);
    }
}

void path_rows_apart(const path_rows *rows, double *x)
{
    dense_solve_upper(rows->n, rows->factor, rows->n, x);
}
