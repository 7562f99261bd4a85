/* Equality rows of any rank, sparse.
 *
 * Twins. Parallel rows are the usual redundancy, and there may be many: they are found by sorting the
 * rows by one random projection each, the first of them stands for all, the others are out of play.
 *
 * Rank. K is factored; a vanishing pivot (the squared distance of a row from those eliminated
 * before it, relative to its length in the mass metric) is a dependent row, goes out of play too, and K
 * is factored again. What is left has full rank, so that solutions are unique and refine well.
 *
 * Names, conflicts and least norms come from the null vectors of the dependent rows (sparse_null.c),
 * as in equality.c. Where these are too many to hold, the dependent rows are those that the
 * elimination met last, their conflicts are found row by row, and the multipliers are those of the
 * rows in play.
 *
 * A pivot of a coordinate vanishes where M is singular and no row eliminated before holds it. Then
 * `soft` is added to the diagonal of M and its effect refined away; what nothing holds is a
 * direction that K + soft answers with 1/soft. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "gauss/internal.h"
#include "gauss/sparse_kkt.h"
#include "math/dense.h"

/* Unit rows this near are parallel; their projections may differ by so much. */
static const double TWIN_FLOOR = 1e-13, TWIN_WINDOW = 1e-11;
/* Unit rows nearer than this to the span of others depend on them; and how many are asked. */
static const double DISTANCE_FLOOR = 1e-10;
enum { SUSPECTS = 32 };
/* Mass given to all scaled coordinates of a singular metric. */
static const double SOFT = 1e-8;

/* ---- Twins --------------------------------------------------------------------------------- */

/* Heap sort: no allocation, same order every time. */
static void sift(int *order, const double *key, int root, int count)
{
    int moved = order[root];
    for (int child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && key[order[child]] < key[order[child + 1]]) {
            child++;
        }
        if (key[moved] >= key[order[child]]) {
            break;
        }
        order[root] = order[child];
        root = child;
    }
    order[root] = moved;
}

static void sort_rows(int count, int *order, const double *key)
{
    for (int i = count / 2 - 1; i >= 0; i--) {
        sift(order, key, i, count);
    }
    for (int last = count - 1; last > 0; last--) {
        int top = order[0];
        order[0] = order[last];
        order[last] = top;
        sift(order, key, 0, last);
    }
}

/* A fixed number in -1..1 for column j. */
static double dice(unsigned j)
{
    unsigned h = j * 2654435761u + 12345u;
    h = (h ^ (h >> 15)) * 2246822519u;
    h = (h ^ (h >> 13)) * 3266489917u;
    return (double)(h >> 8) / 8388608.0 - 1.0;
}

/* Is row p = +-(row e) after both have been given length one? Returns the sign, or 0. */
static int parallel(gauss_sparse *s, int e, int p, double *scatter)
{
    const double *base = s->base - s->start[s->q];
    double dot = 0.0, error = 0.0;
    for (int k = s->start[s->q + e] + 1; k < s->start[s->q + e + 1]; k++) {
        scatter[s->row[k]] = base[k] / s->length[e];
    }
    for (int k = s->start[s->q + p] + 1; k < s->start[s->q + p + 1]; k++) {
        dot += scatter[s->row[k]] * base[k];
    }
    double sign = dot < 0.0 ? -1.0 : 1.0;
    for (int k = s->start[s->q + p] + 1; k < s->start[s->q + p + 1]; k++) {
        scatter[s->row[k]] -= sign * base[k] / s->length[p];
        error = fmax(error, fabs(scatter[s->row[k]]));
        scatter[s->row[k]] = 0.0;
    }
    for (int k = s->start[s->q + e] + 1; k < s->start[s->q + e + 1]; k++) {
        error = fmax(error, fabs(scatter[s->row[k]]));
        scatter[s->row[k]] = 0.0;
    }
    return error <= TWIN_FLOOR ? (int)sign : 0;
}

/* Unite two rows under the earlier one. twin[] is a forest until twins_settle. */
static int twin_root(const gauss_sparse *s, int e)
{
    while (s->twin[e] != e) {
        e = s->twin[e];
    }
    return e;
}

static void find_twins(gauss_sparse *s)
{
    const double *base = s->base - s->start[s->q];
    int count = 0, *order = s->order;
    double *scatter = s->y[0];
    memset(scatter, 0, (size_t)s->q * sizeof *scatter);
    for (int e = 0; e < s->me; e++) {
        double sum = 0.0;
        for (int k = s->start[s->q + e] + 1; k < s->start[s->q + e + 1]; k++) {
            sum += base[k] * dice((unsigned)s->row[k]);
        }
        s->twin[e] = e;
        s->key[e] = s->length[e] > 0.0 ? fabs(sum) / s->length[e] : 0.0;
        if (s->length[e] > 0.0 && s->E[e] == 0.0) {
            order[count++] = e;
        }
    }
    sort_rows(count, order, s->key);
    for (int i = 1; i < count; i++) {
        for (int j = i - 1; j >= 0 && j >= i - 16; j--) {
            int a = order[i], b = order[j];
            if (s->key[a] - s->key[b] > TWIN_WINDOW) {
                break;
            }
            if (parallel(s, b, a, scatter) != 0) {
                int first = twin_root(s, a), second = twin_root(s, b);
                s->twin[first > second ? first : second] = first > second ? second : first;
                break;
            }
        }
    }
}

/* The sign and length of each twin against its first; the weight of the whole family. */
static void settle_twins(gauss_sparse *s)
{
    double *scatter = s->y[0];
    for (int e = 0; e < s->me; e++) {
        double L = s->length[e] > 0.0 ? s->length[e] : 1.0;
        s->weight[e] = s->scale[e] > 0.0 ? L * L / (s->scale[e] * s->scale[e]) : 0.0;
        s->twin[e] = twin_root(s, e);
        s->twin_sign[e] = 1.0;
        s->off[e] = s->length[e] > 0.0 || s->E[e] > 0.0 ? 0 : 1;
        int first = s->twin[e];
        if (first < e) {
            int sign = parallel(s, first, e, scatter);
            s->twin_sign[e] = (sign < 0 ? -1.0 : 1.0) * s->length[e] / s->length[first];
            s->weight[first] += s->weight[e];
            s->off[e] = 1;
        }
    }
    for (int e = 0; e < s->me; e++) { /* weight: the scale of one row with the same norm */
        double L = s->length[e] > 0.0 ? s->length[e] : 1.0;
        s->weight[e] = s->weight[e] > 0.0 ? L / sqrt(s->weight[e]) : 0.0;
    }
}

/* ---- Rank ---------------------------------------------------------------------------------- */

int sparse_equality_factor(zw_gauss_work *work, gauss_sparse *s)
{
    if (s->holds_equality) {
        return 1;
    }
    const double *base = s->base + 1 - s->start[s->q];
    for (int p = 0; p < s->m; p++) {
        if (p >= s->me || s->off[p]) {
            sparse_kkt_row_off(s, p);
        } else {
            sparse_kkt_row(s, p, base + s->start[s->q + p], s->E[p]);
        }
    }
    s->holds_equality = 1;
    return sparse_kkt_factor(work, s);
}

/* The direction that K answers loudest to, by inverse iteration; the coordinates in it that neither
 * mass nor rows hold. */
static zw_status check_determined(zw_gauss_work *work, gauss_sparse *s, zw_error *error)
{
    double *v = s->rhs, *x = s->sol, gain = 0.0;
    memset(v, 0, (size_t)s->N * sizeof *v);
    for (int j = 0; j < s->n; j++) {
        v[j] = dice((unsigned)j);
    }
    for (int k = 0; k < 8; k++) {
        double size = dense_norm(s->n, v);
        memset(x, 0, (size_t)s->N * sizeof *x);
        for (int j = 0; j < s->n; j++) {
            x[j] = v[j] / size;
        }
        sparse_ldl_solve(s->ldl, x);
        gain = dense_norm(s->n, x);
        memcpy(v, x, (size_t)s->n * sizeof *v);
    }
    if (!(gain * s->soft > 0.5)) {
        return ZW_OK;
    }
    sparse_rows_times(s, v, s->w);
    sparse_metric_times(s, v, s->y[0]);
    double energy = dense_dot(s->n, v, s->y[0]) / (gain * gain);
    if (energy < -1e-9) {
        return base_fail(error, ZW_NOT_A_METRIC, "the metric is indefinite");
    }
    double largest = 0.0;
    for (int j = 0; j < s->n; j++) {
        v[j] /= s->unit[j];
        largest = fmax(largest, fabs(v[j]));
    }
    base_fail(error, ZW_UNDETERMINED, "nothing determines the direction of unknowns");
    for (int j = 0; j < s->n; j++) {
        if (fabs(v[j]) > 1e-6 * largest) {
            work->undetermined[work->undetermined_count++] = j;
            base_fail_more(error, " %d", j);
        }
    }
    base_fail_more(error, ": it has no mass and no constraint holds it");
    return ZW_UNDETERMINED;
}

/* What the last factorisation replaced: rows go out of play; a coordinate asks for `soft`. */
static int take_out(gauss_sparse *s, int *coordinates)
{
    const unsigned char *replaced = sparse_ldl_replaced(s->ldl);
    int rows = 0;
    *coordinates = 0;
    for (int j = 0; j < s->q; j++) {
        *coordinates += replaced[j];
    }
    for (int p = 0; p < s->me && *coordinates == 0; p++) {
        if (replaced[s->q + p] && !s->off[p]) {
            s->off[p] = 1;
            s->twin[p] = -1;
            rows++;
        }
    }
    return rows;
}

/* How far row e is from the span of the others in play: the answer y of K to a violation of row e alone
 * is almost their null vector if there is one, and |B' y| is not squared, so it is known to 1e-13. */
static double distance_of(gauss_sparse *s, int e)
{
    double *y = s->v[0], length = 0.0;
    memset(s->rhs, 0, (size_t)s->N * sizeof(double));
    s->rhs[s->q + e] = 1.0;
    for (int pass = 0; pass < 2; pass++) {
        sparse_ldl_solve(s->ldl, s->rhs);
        length = dense_largest(s->me, s->rhs + s->q);
        memset(s->rhs, 0, (size_t)s->q * sizeof(double));
        memset(s->rhs + s->q + s->me, 0, (size_t)s->mc * sizeof(double));
        dense_scale(s->me, length > 0.0 ? 1.0 / length : 0.0, s->rhs + s->q);
    }
    memset(y, 0, (size_t)s->m * sizeof *y);
    memcpy(y, s->rhs + s->q, (size_t)s->me * sizeof *y);
    length = 0.0;
    for (int k = 0; k < s->me; k++) {
        y[k] = s->off[k] ? 0.0 : y[k];
        length = fmax(length, sqrt(s->E[k]) * fabs(y[k]));
    }
    sparse_rows_force(s, y, s->y[0]);
    length = fmax(length, dense_norm(s->q, s->y[0]));
    return fabs(y[e]) > 1e-9 ? length / fabs(y[e]) : HUGE_VAL;
}

/* Small pivots are less sure than their own rounding tells: those before them have amplified it. The
 * dependent row among them that has the smallest pivot goes out of play. */
static int take_out_suspect(gauss_sparse *s)
{
    const double *pivot = sparse_ldl_pivots(s->ldl) + s->q;
    double largest = dense_largest(s->me, pivot), smallest = HUGE_VAL;
    int found = -1, asked = 0;
    for (int e = 0; e < s->me && asked < SUSPECTS; e++) {
        if (s->off[e] || !(fabs(pivot[e]) < 1e-8 * largest)) {
            continue;
        }
        asked++;
        if (fabs(pivot[e]) < smallest && distance_of(s, e) < DISTANCE_FLOOR) {
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

zw_status sparse_equality_prepare(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s,
                                  zw_error *error)
{
    (void)problem;
    int coordinates = 0;
    find_twins(s);
    settle_twins(s);
    memset(s->off + s->me, 0, (size_t)s->mc);
    s->soft = 0.0;
    s->null_count = 0;
    for (int k = 0; k < 24; k++) {
        s->holds_equality = 0;
        if (!sparse_equality_factor(work, s)) {
            return base_fail(error, ZW_BAD_INPUT, "the numbers are too large to be factored");
        }
        int rows = s->replaced > 0 ? take_out(s, &coordinates) : 0;
        rows += rows == 0 && coordinates == 0 ? take_out_suspect(s) : 0;
        s->null_count += rows;
        if (coordinates > 0 && s->soft == 0.0) {
            s->soft = SOFT;
        } else if (rows == 0) {
            break;
        }
    }
    if (s->soft > 0.0) {
        zw_status status = check_determined(work, s, error);
        if (status != ZW_OK) {
            return status;
        }
    }
    work->rank = 0;
    for (int e = 0; e < s->me; e++) {
        work->rank += !s->off[e];
    }
    s->null_known = s->null_count <= s->null_room;
    if (s->null_known && s->null_count > 0) {
        sparse_null_find(s);
    }
    return ZW_OK;
}

/* ---- Conflicts ----------------------------------------------------------------------------- */

/* Add a block to a list; rows come mostly in rising order, so the last entries are looked at. */
static void mark(int *list, int *count, int block)
{
    for (int i = *count - 1; i >= 0 && i >= *count - 64; i--) {
        if (list[i] == block) {
            return;
        }
    }
    list[(*count)++] = block;
}

/* Row e and those that combine to it contradict each other: sum y_k c_k is not zero. */
static void check_circuit(zw_gauss_work *work, gauss_sparse *s, const double *y, int e,
                          double tolerance)
{
    double rest = 0.0, weight = 0.0, largest = 0.0;
    for (int k = 0; k < s->me; k++) {
        rest += y[k] * s->c[k];
        weight += fabs(y[k]);
        largest = k != e ? fmax(largest, fabs(y[k])) : largest;
    }
    if (!(fabs(rest) > fmax(tolerance, 1e-8) * weight * s->V) || work->conflict_count > 0) {
        return;
    }
    mark(work->conflict, &work->conflict_count, work->block_of[work->equality_row[e]]);
    for (int k = 0; k < s->me; k++) {
        if (k != e && fabs(y[k]) > 1e-7 * largest) {
            mark(work->conflict, &work->conflict_count, work->block_of[work->equality_row[k]]);
        }
    }
}

/* Null vectors are not known: solve, look which dependent row is left violated, and find the rows
 * that combine to it alone. */
static void check_dependent(zw_gauss_work *work, gauss_sparse *s, double tolerance)
{
    double *w = s->w;
    memcpy(s->rhs, s->f, (size_t)s->q * sizeof(double));
    for (int p = 0; p < s->m; p++) {
        s->rhs[s->q + p] = p < s->me && !s->off[p] ? -s->c[p] : 0.0;
    }
    sparse_kkt_solve(s, s->rhs, s->sol);
    sparse_rows_times(s, s->sol, w);
    for (int e = 0; e < s->me && work->conflict_count == 0; e++) {
        if (s->twin[e] >= 0 || !(fabs(w[e] + s->c[e]) > fmax(tolerance, 1e-8) * s->V)) {
            continue;
        }
        memset(s->rhs, 0, (size_t)s->N * sizeof(double));
        for (int k = s->start[s->q + e] + 1; k < s->start[s->q + e + 1]; k++) {
            s->rhs[s->row[k]] = s->base[k - s->start[s->q]];
        }
        sparse_kkt_solve(s, s->rhs, s->sol);
        double *y = s->sol + s->q;
        y[e] = -1.0;
        check_circuit(work, s, y, e, tolerance);
    }
}

static void check_twins(zw_gauss_work *work, gauss_sparse *s, double tolerance)
{
    for (int e = 0; e < s->me && work->conflict_count == 0; e++) {
        int first = s->twin[e];
        if (first >= 0 && first < e &&
            fabs(s->c[e] - s->twin_sign[e] * s->c[first]) > fmax(tolerance, 1e-8) * 2.0 * s->V) {
            mark(work->conflict, &work->conflict_count, work->block_of[work->equality_row[e]]);
            mark(work->conflict, &work->conflict_count, work->block_of[work->equality_row[first]]);
        }
    }
}

/* c is made consistent, with the least change in the user's rows. */
static void least_squares(gauss_sparse *s)
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

zw_status sparse_equality_check(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s,
                                double tolerance, int least_squares_wanted)
{
    work->redundant_count = work->conflict_count = 0;
    for (int e = 0; e < s->me; e++) {
        s->order[e] = s->off[e];
    }
    for (int k = 0; s->null_known && k < s->null_count; k++) { /* the later row is redundant */
        int pivot = s->circuit_row[k];
        s->order[pivot] = 2;
    }
    for (int e = 0; e < s->me; e++) {
        int i = work->equality_row[e];
        int redundant = s->null_known && s->twin[e] < 0 ? 0 : s->order[e] != 0;
        if (s->null_known && s->order[e] == 2) {
            redundant = 1;
        }
        if (redundant) {
            mark(work->redundant, &work->redundant_count, work->block_of[i]);
        }
        if (s->off[e] && s->twin[e] == e && problem->b != NULL && problem->b[i] != 0.0 &&
            work->conflict_count == 0) { /* an empty row: 0 = b */
            mark(work->conflict, &work->conflict_count, work->block_of[i]);
        }
    }
    check_twins(work, s, tolerance);
    for (int k = 0; s->null_known && k < s->null_count && work->conflict_count == 0; k++) {
        int by_row = s->null_count - 1 - k; /* pivots were taken from the last row down */
        check_circuit(work, s, s->circuit + (long)by_row * s->me, s->circuit_row[by_row],
                      tolerance);
    }
    if (!s->null_known && work->conflict_count == 0) {
        if (!sparse_equality_factor(work, s)) {
            return ZW_INACCURATE;
        }
        check_dependent(work, s, tolerance);
    }
    if (work->conflict_count > 0 && least_squares_wanted) {
        least_squares(s);
        return ZW_OK;
    }
    return work->conflict_count > 0 ? ZW_CONFLICT : ZW_OK;
}

void sparse_equality_spread(gauss_sparse *s, double *r)
{
    double *v = s->v[0];
    for (int e = 0; e < s->me; e++) { /* in units in which the least norm is asked for */
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
