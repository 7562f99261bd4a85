/* Equality rows of any rank, sparse.
 *
 * Twins. Parallel rows are the usual redundancy, and there may be many: they are found by sorting
 * the rows by one random projection each, the first of them represents all, the others are
 * inactive.
 *
 * Rank. K is factored; a vanishing pivot (the squared distance of a row from those eliminated
 * before it, relative to its length in the mass metric) is a dependent row, becomes inactive too,
 * and K is factored again. What is left has full rank, so that solutions are unique and refine
 * well. Pivots are only hints: whether a row depends on others is decided by the distance |B' y| of
 * its best combination y, which is not squared. A row that turns out to be independent becomes
 * active again; if its pivot vanishes all the same, it gets SPARSE_FIRM, and refinement does the
 * rest.
 *
 * Names, conflicts and least norms come from the null vectors of the dependent rows
 * (sparse_null.c), as in equality.c. If there are too many to store, the rows that the elimination
 * reached last are called redundant, conflicts are found row by row, and the multipliers are those
 * of the active rows.
 *
 * The pivot of a coordinate vanishes where M is singular and no row eliminated before constrains
 * it. Then `soft` is added to the diagonal of M and its effect is removed by refinement; in an
 * undetermined direction K + soft has a response of size 1/soft. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "gauss/internal.h"
#include "gauss/sparse/sparse_kkt.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"

/* The maximum number of rows with small pivots that are examined more closely. */
enum { SUSPECTS = 32 };
/* Mass added to all scaled coordinates of a singular metric: a larger one while the rank is found,
 * which separates rows better, and a smaller one afterwards, which refinement removes sooner. */
static const double SOFT_RANK = 1e-2, SOFT = 1e-4;
/* A unit direction is undetermined if its mass and its rows together amount to less than this. */
static const double UNDETERMINED_FLOOR = 1e-12;

/* ---- Rank ---------------------------------------------------------------------------------- */

int sparse_equality_factor(zw_gauss_work *work, gauss_sparse *s)
{
    if (s->holds_equality) {
        return 1;
    }
    const double *base = s->base + 1;
    for (int p = 0; p < s->me; p++) {
        if (p >= s->me || s->off[p]) {
            sparse_kkt_row_off(s, p);
        } else {
            sparse_kkt_row(s, p, base + s->start[s->n + p], s->E[p]);
        }
    }
    s->holds_equality = 1;
    return sparse_kkt_factor(work, s);
}

/* Find the direction of the largest response of K by inverse iteration, and list those of its
 * coordinates that neither mass nor rows determine. */
static zw_status check_determined(zw_gauss_work *work, gauss_sparse *s, zw_error *error)
{
    double *v = s->rhs, *x = s->sol, gain = 0.0;
    memset(v, 0, (size_t)s->N * sizeof *v);
    for (int j = 0; j < s->n; j++) {
        v[j] = sparse_dice(j);
    }
    for (int k = 0; k < 16 && (k == 0 || gain * s->soft > 1e-3); k++) {
        double size = dense_norm(s->n, v);
        memset(x, 0, (size_t)s->N * sizeof *x);
        for (int j = 0; j < s->n; j++) {
            x[j] = v[j] / size;
        }
        sparse_ldl_solve(s->ldl, x);
        gain = dense_norm(s->n, x);
        memcpy(v, x, (size_t)s->n * sizeof *v);
    }
    if (!(gain * s->soft > 1e-3)) {
        return ZW_OK;
    }
    memset(v + s->n, 0, (size_t)(s->N - s->n) * sizeof *v);
    dense_scale(s->n, 1.0 / gain, v);
    sparse_rows_times(s, v, s->w);
    sparse_metric_times(s, v, s->y[0]);
    double energy = dense_dot(s->n, v, s->y[0]), held = dense_norm(s->me, s->w);
    if (energy < -1e-9) {
        return base_fail(error, ZW_NOT_A_METRIC, "the metric is indefinite");
    }
    if (energy + held * held > UNDETERMINED_FLOOR) {
        return ZW_OK;
    }
    double largest = 0.0;
    for (int j = 0; j < s->n; j++) {
        v[j] /= s->unit[j];
        largest = fmax(largest, fabs(v[j]));
    }
    base_fail(error, ZW_UNDETERMINED, "nothing determines the direction of unknowns");
    for (int j = 0; j < s->n; j++) {
        if (fabs(v[j]) > GAUSS_NAMED * largest) {
            work->undetermined[work->undetermined_count++] = j;
            base_fail_more(error, " %d", j);
        }
    }
    base_fail_more(error, ": it has neither mass nor constraint");
    return ZW_UNDETERMINED;
}

/* Did the last factorisation find a massless coordinate that no earlier row constrains? */
static int massless(const gauss_sparse *s)
{
    const unsigned char *replaced = sparse_ldl_replaced(s->ldl);
    int count = 0;
    for (int j = 0; j < s->n; j++) {
        count += replaced[j];
    }
    return count;
}

/* Rows whose pivots the last factorisation replaced become inactive, unless they are known to be
 * independent. Returns how many rows have changed. */
static int take_out(gauss_sparse *s)
{
    const unsigned char *replaced = sparse_ldl_replaced(s->ldl) + s->n;
    int rows = 0;
    for (int p = 0; p < s->me; p++) {
        if (!replaced[p] || s->off[p] || s->sure[p] == 2) {
            continue;
        }
        if (s->sure[p]) {
            s->sure[p] = 2;
        } else {
            s->off[p] = 1;
            s->twin[p] = -1;
        }
        rows++;
    }
    return rows;
}

/* The distance of row e from the span of the other active rows: the response y of K to a violation
 * of row e alone is nearly their null vector, if there is one, and |B' y| is not squared, so it is
 * accurate to 1e-13. */
static double distance_of(gauss_sparse *s, int e)
{
    double *y = s->v[0], length = 0.0;
    memset(s->rhs, 0, (size_t)s->N * sizeof(double));
    s->rhs[s->n + e] = 1.0;
    for (int pass = 0; pass < 2; pass++) {
        sparse_ldl_solve(s->ldl, s->rhs);
        length = dense_largest(s->me, s->rhs + s->n);
        memset(s->rhs, 0, (size_t)s->n * sizeof(double));
        dense_scale(s->me, length > 0.0 ? 1.0 / length : 0.0, s->rhs + s->n);
    }
    memset(y, 0, (size_t)s->me * sizeof *y);
    memcpy(y, s->rhs + s->n, (size_t)s->me * sizeof *y);
    length = 0.0;
    for (int k = 0; k < s->me; k++) {
        y[k] = s->off[k] ? 0.0 : y[k];
        length = fmax(length, sqrt(s->E[k]) * fabs(y[k]));
    }
    sparse_rows_force(s, y, s->y[0]);
    length = fmax(length, dense_norm(s->n, s->y[0]));
    return fabs(y[e]) > 1e-9 ? length / fabs(y[e]) : HUGE_VAL;
}

/* The error of a small pivot exceeds its own rounding error, since earlier pivots have amplified
 * it. Of the rows with small pivots that are dependent, the one with the smallest becomes inactive.
 */
static int take_out_suspect(gauss_sparse *s)
{
    const double *pivot = sparse_ldl_pivots(s->ldl) + s->n;
    double largest = dense_largest(s->me, pivot), smallest = HUGE_VAL;
    int found = -1, asked = 0;
    for (int e = 0; e < s->me && asked < SUSPECTS; e++) {
        if (s->off[e] || s->sure[e] || !(fabs(pivot[e]) < 1e-8 * largest)) {
            continue;
        }
        asked++;
        if (fabs(pivot[e]) < smallest && distance_of(s, e) < SPARSE_DISTANCE_FLOOR) {
            smallest = fabs(pivot[e]);
            found = e;
        }
    }
    if (found >= 0) {
        s->off[found] = 1;
        s->twin[found] = -1;
    }
    return found >= 0;
}

/* With many dependent rows, the first pivot that is pure round-off spoils those after it. A small
 * compliance of every row prevents that: dependent rows then have pivots of about that size. */
static int take_out_many(zw_gauss_work *work, gauss_sparse *s)
{
    int firm = s->firm;
    s->firm = 1;
    s->holds_equality = 0;
    int fine = sparse_equality_factor(work, s);
    const double *pivot = sparse_ldl_pivots(s->ldl) + s->n;
    const unsigned char *replaced = sparse_ldl_replaced(s->ldl) + s->n;
    for (int e = 0; e < s->me && fine; e++) {
        int small = fabs(pivot[e]) < 10.0 * SPARSE_FIRM || replaced[e];
        if (small && !s->off[e] && !s->sure[e]) {
            s->off[e] = 1;
            s->twin[e] = -1;
        }
    }
    s->firm = firm;
    s->holds_equality = 0;
    return fine;
}

/* Factor until no active row is dependent. */
static int find_rank(zw_gauss_work *work, gauss_sparse *s)
{
    for (int k = 0; k < 24; k++) {
        s->holds_equality = 0;
        int fine = sparse_equality_factor(work, s);
        if (s->replaced != 0 && s->soft == 0.0 && massless(s)) {
            s->soft = SOFT_RANK;
            k = -1;
            continue;
        }
        if (k == 0 && s->replaced != 0) {
            fine = take_out_many(work, s) && sparse_equality_factor(work, s);
        }
        if (!fine && s->firm) {
            return 0;
        }
        if (!fine) { /* no usable factors: keep the compliance, and refine */
            s->firm = 1;
            continue;
        }
        if (!(s->replaced > 0 && take_out(s)) && !take_out_suspect(s)) {
            break;
        }
    }
    work->rank = s->null_count = 0;
    for (int e = 0; e < s->me; e++) {
        work->rank += !s->off[e];
        s->null_count += s->twin[e] < 0;
    }
    s->null_known = s->null_count <= s->null_capacity;
    return 1;
}

zw_status sparse_equality_prepare(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s,
                                  zw_error *error)
{
    (void)problem;
    sparse_twins(s);
    memset(s->sure, 0, (size_t)s->me);
    s->soft = 0.0;
    s->firm = 0;
    for (int again = 1, k = 0; again && k < 4; k++) {
        if (!find_rank(work, s)) {
            return base_fail(error, ZW_BAD_INPUT, "the numbers are too large to be factored");
        }
        again = s->null_known && s->null_count > 0 ? sparse_null_find(s) : 0;
    }
    if (s->soft == 0.0) {
        return ZW_OK;
    }
    s->soft = SOFT;
    s->holds_equality = 0;
    return sparse_equality_factor(work, s)
               ? check_determined(work, s, error)
               : base_fail(error, ZW_BAD_INPUT, "the numbers are too large to be factored");
}

/* How far the active rows are from a loss of rank. With S = B M^-1 B' of these rows, whose
 * eigenvalues are the squares s^2 of their singular values, and a fixed vector z,
 *
 *     |S^-p z|^2 = sum over the eigenvectors u of S of (u . z)^2 s^-4p,
 *
 * so (|z|/|S^-p z|)^(1/2p) approximates the least s. It vanishes with s, in proportion to it, and
 * is smooth also where several singular values coincide. S^-1 z is one solve with K. The rows of a
 * long chain have small s merely because there are many: compare with the values at other states.
 */
double sparse_equality_margin(zw_gauss_work *work, gauss_sparse *s)
{
    enum { POWER = 4 };
    double *z = s->rhs + s->n, first = 0.0, margin = 1.0;
    if (work->rank == 0 || !sparse_equality_factor(work, s)) {
        return 1.0;
    }
    memset(s->rhs, 0, (size_t)s->N * sizeof(double));
    for (int e = 0; e < s->me; e++) {
        z[e] = s->off[e] ? 0.0 : sparse_dice(e);
    }
    first = dense_norm(s->me, z);
    dense_scale(s->me, 1.0 / first, z);
    for (int k = 0; k < POWER; k++) {
        sparse_ldl_solve(s->ldl, s->rhs);
        memset(s->rhs, 0, (size_t)s->n * sizeof(double));
        for (int e = 0; e < s->me; e++) {
            z[e] = s->off[e] ? 0.0 : z[e];
        }
        double size = dense_norm(s->me, z);
        dense_scale(s->me, size > 0.0 ? 1.0 / size : 0.0, z);
        margin *= size;
    }
    return margin > 0.0 ? 1.0 / sqrt(sqrt(sqrt(margin))) : 1.0; /* the root of order 2 POWER */
}

/* ---- Conflicts ----------------------------------------------------------------------------- */

/* Append a block to a list unless it is the last one there; rows come in ascending order. */
static void mark(int *list, int *count, int block)
{
    if (*count == 0 || list[*count - 1] != block) {
        list[(*count)++] = block;
    }
}

/* Row e and the rows that combine to it, sum y_k row_k = 0, contradict each other. */
static void name_circuit(zw_gauss_work *work, const gauss_sparse *s, const double *y, int e)
{
    double largest = 0.0;
    int own = work->block_of[work->equality_row[e]];
    for (int k = 0; k < s->me; k++) {
        largest = k != e ? fmax(largest, fabs(y[k])) : largest;
    }
    mark(work->conflict, &work->conflict_count, own);
    for (int k = 0; k < s->me; k++) {
        int block = work->block_of[work->equality_row[k]];
        if (block != own && fabs(y[k]) > GAUSS_NAMED * largest) {
            mark(work->conflict, &work->conflict_count, block);
        }
    }
}

/* y . (B x + c) is the same for all x if B' y = 0. Does it differ from zero by more than the error?
 * y is known to round-off only, which counts in proportion to x. */
static int contradicts(gauss_sparse *s, const double *y, double tolerance)
{
    double rest = 0.0, weight = 0.0;
    memset(s->v[0], 0, (size_t)s->me * sizeof *y);
    for (int i = 0; i < s->me; i++) {
        rest += y[i] * s->c[i];
        weight += fabs(y[i]);
        s->v[0][i] = y[i];
    }
    sparse_rows_force(s, s->v[0], s->y[0]);
    double blur = dense_norm(s->n, s->y[0]) * dense_norm(s->n, s->x);
    return fabs(rest) > tolerance * weight * s->V + 10.0 * blur;
}

/* s->x violates dependent rows, row e most: name a conflict. If circuits are known, it is that of
 * the first row in the user's order that contradicts those before it. */
static void name_conflict(zw_gauss_work *work, gauss_sparse *s, int e, double tolerance)
{
    for (int k = s->null_count - 1; k >= 0 && s->null_known; k--) {
        const double *y =
            s->circuit + (long)k * s->me; /* pivots were taken from the last row down */
        if (contradicts(s, y, tolerance)) {
            name_circuit(work, s, y, s->circuit_row[k]);
            return;
        }
    }
    memset(s->rhs, 0, (size_t)s->N * sizeof(double));
    for (int k = s->start[s->n + e] + 1; k < s->start[s->n + e + 1]; k++) {
        s->rhs[s->row[k]] = s->base[k];
    }
    sparse_kkt_solve(s, s->rhs, s->sol);
    double *y = s->sol + s->n;
    y[e] = -1.0;
    if (contradicts(s, y, tolerance)) {
        name_circuit(work, s, y, e);
    }
}

/* The first row that contradicts its twin, or an empty row 0 = b. */
static void check_twins(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s,
                        double tolerance)
{
    for (int e = 0; e < s->me && work->conflict_count == 0; e++) {
        int first = s->twin[e], i = work->equality_row[e];
        if (first == e && s->off[e] && problem->b != NULL && problem->b[i] != 0.0) {
            mark(work->conflict, &work->conflict_count, work->block_of[i]);
        }
        if (first >= 0 && first < e &&
            fabs(s->c[e] - s->twin_sign[e] * s->c[first]) > 2.0 * tolerance * s->V) {
            mark(work->conflict, &work->conflict_count, work->block_of[work->equality_row[first]]);
            mark(work->conflict, &work->conflict_count, work->block_of[i]);
        }
    }
}

void sparse_equality_least_squares(gauss_sparse *s)
{
    double *sum = s->v[0], *weight = s->v[1];
    for (int e = 0; e < s->me; e++) {
        int first = s->twin[e] >= 0 ? s->twin[e] : e;
        double t = s->twin_sign[e], u = s->scale[e] > 0.0 ? 1.0 / s->scale[e] : 0.0;
        if (first == e) {
            sum[e] = weight[e] = 0.0;
        }
        sum[first] += t * u * u * s->c[e];
        weight[first] += t * t * u * u;
    }
    for (int e = 0; e < s->me; e++) {
        int first = s->twin[e] >= 0 ? s->twin[e] : e;
        if (first == e) {
            sum[e] = weight[e] > 0.0 ? sum[e] / weight[e] : 0.0;
            sum[e] = s->weight[e] > 0.0 ? sum[e] / s->weight[e] : 0.0;
        } else {
            sum[e] = 0.0;
        }
    }
    for (int pass = 0; pass < 2 && s->null_known; pass++) {
        for (int k = 0; k < s->null_count; k++) {
            const double *u = s->null + (long)k * s->me;
            dense_axpy(s->me, -dense_dot(s->me, u, sum), u, sum);
        }
    }
    for (int e = 0; e < s->me; e++) {
        int first = s->twin[e] >= 0 ? s->twin[e] : e;
        s->c[e] = s->twin_sign[e] * s->weight[first] * sum[first];
    }
}

/* Rows that follow from earlier ones. */
static void name_redundant(zw_gauss_work *work, gauss_sparse *s)
{
    for (int e = 0; e < s->me; e++) { /* dependent rows without circuits are named directly */
        s->order[e] = s->off[e] && (s->twin[e] >= 0 || !s->null_known);
    }
    for (int k = 0; s->null_known && k < s->null_count; k++) {
        s->order[s->circuit_row[k]] = 1;
    }
    for (int e = 0; e < s->me; e++) {
        if (s->order[e]) {
            mark(work->redundant, &work->redundant_count, work->block_of[work->equality_row[e]]);
        }
    }
}

zw_status sparse_equality_check(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s,
                                double tolerance)
{
    int worst = -1;
    tolerance = fmax(tolerance, GAUSS_GOOD);
    double most = tolerance * s->V;
    work->redundant_count = work->conflict_count = 0;
    name_redundant(work, s);
    check_twins(problem, work, s, tolerance);
    sparse_rows_times(s, s->x, s->w);
    for (int e = 0; e < s->me && work->conflict_count == 0; e++) {
        if (s->twin[e] < 0 && fabs(s->w[e] + s->c[e]) > most) {
            most = fabs(s->w[e] + s->c[e]);
            worst = e;
        }
    }
    if (worst >= 0) {
        name_conflict(work, s, worst, tolerance);
    }
    return work->conflict_count > 0 ? ZW_CONFLICT : ZW_OK;
}

void sparse_equality_spread(gauss_sparse *s, double *r)
{
    double *v = s->v[0];
    for (int e = 0; e < s->me; e++) { /* in the units in which the norm is minimised */
        v[e] = r[e] * s->weight[e];
    }
    for (int pass = 0; pass < 2 && s->null_known && s->null_count > 0; pass++) {
        for (int k = 0; k < s->null_count; k++) {
            const double *u = s->null + (long)k * s->me;
            dense_axpy(s->me, -dense_dot(s->me, u, v), u, v);
        }
    }
    for (int e = 0; e < s->me; e++) {
        int first = s->twin[e] >= 0 ? s->twin[e] : e;
        double u = s->scale[e] > 0.0 ? s->weight[first] / s->scale[e] : 0.0;
        double total = s->weight[first] > 0.0 ? v[first] / s->weight[first] : 0.0;
        r[e] = s->length[e] > 0.0 || s->E[e] > 0.0 ? s->twin_sign[e] * u * u * total : 0.0;
    }
}

int sparse_equality_motion(zw_gauss_work *work, gauss_sparse *s)
{
    if (!sparse_equality_factor(work, s)) {
        return 0;
    }
    memcpy(s->rhs, s->f, (size_t)s->n * sizeof(double));
    for (int e = 0; e < s->me; e++) {
        s->rhs[s->n + e] = s->off[e] ? 0.0 : -s->c[e];
    }
    sparse_kkt_solve(s, s->rhs, s->sol);
    memcpy(s->x, s->sol, (size_t)s->n * sizeof(double));
    for (int e = 0; e < s->me; e++) {
        s->r[e] = s->off[e] ? 0.0 : -s->sol[s->n + e];
    }
    return 1;
}
