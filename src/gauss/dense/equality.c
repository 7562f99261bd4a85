/* Equality rows of any rank.
 *
 * The scaled rows are factored D = [L 0] Q' by reflections, always taking next the row farthest
 * from the span of those taken; rows nearer than the rank floor (all rows have length one in the
 * mass metric, so units, row factors and masses do not matter) depend on the others. Then x = Q (z,
 * y): z is determined by L z = -c, y is free, and the cones involve only y.
 *
 * The remainder of a cone's rows may be short: the equalities determine most of its motion already.
 * So each cone is scaled to length one again; a row shorter than NOTHING is round-off, and is
 * determined by the equalities alone.
 *
 * Names. Users expect that of two equal constraints the later one is called redundant. So the rows
 * are processed once more in their own order, in the coordinates of the row space, and a row that
 * follows from earlier ones is redundant. If its right-hand side does not follow as well, it and
 * the earlier rows that combine to it are a conflict, and a minimal one: those rows are
 * independent, so leaving out any of them leaves a consistent set. Blocks of several rows may still
 * contradict without one of them; so blocks are left out in turn until none can be.
 *
 * Multipliers. L' r = g has many solutions if rank < rows; the one of least norm in the user's own
 * rows comes from a second factorisation, of T = diag(1/scale) L. The remainder of g by round-off
 * is assigned to the independent rows. The same T gives the least-squares motion of contradicting
 * rows, the pseudoinverse of Fan et al. (2005), eq. (1). */
#include <math.h>
#include <string.h>

#include "gauss/internal.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"

static const double NOTHING = 1e-12;

/* The row of L for equality row e, as `rank` numbers in the basis of the row space. */
static void row_space_copy(const zw_gauss_work *work, int position, double *row)
{
    int upto = position < work->rank ? position + 1 : work->rank;
    memset(row, 0, (size_t)work->rank * sizeof *row);
    memcpy(row, work->D + (long)position * work->q_max, (size_t)upto * sizeof *row);
}

/* T^T, rank x me, of T = diag(1/scale) L in the order of the rows; or of L itself. */
static void factor_transposed(zw_gauss_work *work, int scaled)
{
    double *row = work->e;
    for (int position = 0; position < work->me; position++) {
        int e = work->order[position];
        row_space_copy(work, position, row);
        double scale = scaled ? work->scale[work->equality_row[e]] : 1.0;
        for (int j = 0; j < work->rank; j++) {
            work->T[(long)j * work->me + e] = scale > 0.0 ? row[j] / scale : 0.0;
        }
    }
    dense_lq(work->rank, work->me, work->T, work->me, 0.0, work->T_order, work->T_beta, work->e);
}

static void mark(int *list, int *count, int block)
{
    for (int i = 0; i < *count; i++) {
        if (list[i] == block) {
            return;
        }
    }
    list[(*count)++] = block;
}

/* Orthogonalise v (rank numbers) against the accepted basis; h gets the coefficients. Twice is
 * enough. Returns what is left. */
static double against_basis(const zw_gauss_work *work, int accepted, double *v, double *h)
{
    memset(h, 0, (size_t)accepted * sizeof *h);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < accepted; k++) {
            const double *u = work->basis + (long)k * work->me;
            double t = dense_dot(work->rank, u, v);
            h[k] += t;
            dense_axpy(work->rank, -t, u, v);
        }
    }
    return dense_norm(work->rank, v);
}

/* Row e = sum_k y_k (accepted row k): y from h by back substitution with the triangle G, where
 * accepted row k = sum_{j<=k} G_kj u_j. */
static void combine(const zw_gauss_work *work, int accepted, const double *h, double *y)
{
    memcpy(y, h, (size_t)accepted * sizeof *y);
    for (int k = accepted - 1; k >= 0; k--) {
        const double *g = work->triangle + (long)k * work->me;
        y[k] /= g[k];
        dense_axpy(k, -y[k], g, y);
    }
}

/* Row e minus its combination as a candidate for proof.c, with the sign that makes b . y > 0. */
static void propose(zw_gauss_work *work, int e, int accepted, const double *y, double sign)
{
    double *proof = work->proof.y;
    memset(proof, 0, (size_t)work->m * sizeof *proof);
    proof[work->equality_row[e]] = sign * work->scale[work->equality_row[e]];
    for (int k = 0; k < accepted; k++) {
        int i = work->equality_row[work->T_order[k]];
        proof[i] = -sign * y[k] * work->scale[i];
    }
}

/* Does the right-hand side of dependent row e follow too? If not, list the blocks of the rows that
 * combine to it. */
static int check_dependent(zw_gauss_work *work, int e, int accepted, const double *h,
                           double tolerance, int *list, int *count)
{
    const int *taken = work->T_order;
    double *y = work->e + 2 * (long)work->me;
    combine(work, accepted, h, y);
    double rest = work->c[e], weight = 1.0, largest = dense_largest(accepted, y);
    for (int k = 0; k < accepted; k++) {
        rest -= y[k] * work->c[taken[k]];
        weight += fabs(y[k]);
    }
    if (!(fabs(rest) > fmax(tolerance, GAUSS_GOOD) * weight * work->V)) {
        return 0;
    }
    propose(work, e, accepted, y, rest < 0.0 ? 1.0 : -1.0);
    mark(list, count, work->block_of[work->equality_row[e]]);
    for (int k = 0; k < accepted; k++) {
        if (fabs(y[k]) > GAUSS_NAMED * largest) {
            mark(list, count, work->block_of[work->equality_row[taken[k]]]);
        }
    }
    return 1;
}

static int listed(const int *list, int count, int block)
{
    for (int i = 0; i < count; i++) {
        if (list[i] == block) {
            return 1;
        }
    }
    return 0;
}

/* Row e joins the orthonormal basis. */
static void accept_row(zw_gauss_work *work, int e, int accepted, double left, const double *v,
                       const double *h)
{
    double *u = work->basis + (long)accepted * work->me;
    double *g = work->triangle + (long)accepted * work->me;
    memcpy(u, v, (size_t)work->rank * sizeof *u);
    dense_scale(work->rank, 1.0 / left, u);
    memcpy(g, h, (size_t)accepted * sizeof *g);
    g[accepted] = left;
    work->T_order[accepted] = e;
}

/* Processes the rows in their order, those of `only` (if not NULL) except block `without`.
 * Dependent rows are recorded in work->redundant if `note`; the first contradiction ends it, with
 * the blocks involved in `list`. Returns their number. */
static int walk_rows(const zw_gauss *problem, zw_gauss_work *work, double tolerance,
                     const int *only, int only_count, int without, int *list)
{
    int accepted = 0, count = 0;
    double *v = work->e, *h = work->e + work->me;
    for (int e = 0; e < work->me; e++) {
        int i = work->equality_row[e], block = work->block_of[i];
        if (only != NULL && (block == without || !listed(only, only_count, block))) {
            continue;
        }
        row_space_copy(work, work->row_position[e], v);
        double left = against_basis(work, accepted, v, h);
        if (left > work->rank_floor && accepted < work->rank) {
            accept_row(work, e, accepted++, left, v, h);
            continue;
        }
        if (only == NULL) {
            mark(work->redundant, &work->redundant_count, block);
        }
        if (count == 0 && work->scale[i] == 0.0) { /* an empty row: 0 = b */
            if (problem->b != NULL && problem->b[i] != 0.0) {
                memset(work->proof.y, 0, (size_t)work->m * sizeof(double));
                work->proof.y[i] = problem->b[i];
                mark(list, &count, block);
            }
        } else if (count == 0) {
            check_dependent(work, e, accepted, h, tolerance, list, &count);
        }
    }
    return count;
}

/* Names the redundant blocks, and a conflict from which no block can be left out. A contradiction
 * that the data do not prove (rows that are merely nearly dependent) is ignored. */
static void name_dependent_rows(const zw_gauss *problem, zw_gauss_work *work, double tolerance)
{
    int *smaller = work->trial;
    for (int i = 0; i < work->me; i++) {
        work->row_position[work->order[i]] = i;
    }
    work->conflict_count = walk_rows(problem, work, tolerance, NULL, 0, -1, work->conflict);
    for (int k = 0; k < work->conflict_count; k++) {
        int count = walk_rows(problem, work, tolerance, work->conflict, work->conflict_count,
                              work->conflict[k], smaller);
        if (count > 0) { /* still contradictory without it: go on with that set */
            memcpy(work->conflict, smaller, (size_t)count * sizeof *smaller);
            work->conflict_count = count;
            k = -1;
        }
    }
    work->proof.smooth = 1;
    if (work->conflict_count > 0 &&
        !gauss_proof_find(problem, work->free, work->scale, &work->proof)) {
        work->conflict_count = 0;
    }
}

/* Scales every cone to length one in the coordinates that the equalities leave free. */
static void stretch_cones(zw_gauss_work *work)
{
    int free = work->q - work->rank;
    for (int k = 0; k < work->cone_count; k++) {
        work->cone[k].stretch = work->normal[k].stretch = 1.0;
    }
    if (work->rank == 0) {
        return;
    }
    for (int k = 0; k < work->cone_count; k++) {
        gauss_cone *cone = &work->cone[k];
        double longest = 0.0;
        for (int j = 0; j < cone->rows; j++) {
            double *row = work->B + (long)(cone->first + j) * work->q_max;
            double length = dense_norm(free, row + work->rank);
            if (length <= NOTHING) {
                memset(row + work->rank, 0, (size_t)free * sizeof *row);
                length = 0.0;
            }
            longest = fmax(longest, length);
        }
        double stretch = longest > 0.0 && work->stretches ? 1.0 / longest : 1.0;
        cone->stretch = work->normal[k].stretch = stretch;
        for (int j = 0; j < cone->rows; j++) {
            int i = work->cone_row[cone->first + j];
            work->scale[i] *= cone->stretch;
            dense_scale(work->q, cone->stretch, work->B + (long)(cone->first + j) * work->q_max);
        }
    }
}

/* sqrt(rank) / |L^+| in the norm of Frobenius, which is the root of the sum of 1/s^2 over the
 * singular values s > 0 of all rows: as smooth as the rows are, whichever of them were taken and in
 * what order, where the last pivot jumps with that. With rows left over, L^T = R Q' has a
 * triangular R of the same s. The inverse column by column, by forward substitution. */
static double margin(zw_gauss_work *work)
{
    const double *L = work->D;
    long stride = work->q_max;
    if (work->rank < work->me) {
        factor_transposed(work, 0);
        L = work->T;
        stride = work->me;
    }
    double *x = work->e, sum = 0.0;
    for (int j = 0; j < work->rank; j++) {
        for (int i = j; i < work->rank; i++) {
            const double *row = L + i * stride;
            x[i] = ((i == j) - (i > j ? dense_dot(i - j, row + j, x + j) : 0.0)) / row[i];
            sum += x[i] * x[i];
        }
    }
    return work->rank > 0 ? sqrt((double)work->rank / sum) : 1.0;
}

/* Where the multipliers of one row may be, in the scale that they have now. */
static void set_intervals(const zw_gauss *problem, zw_gauss_work *work)
{
    for (int k = 0; k < work->cone_count; k++) {
        gauss_cone *cone = &work->cone[k], *normal = &work->normal[k];
        const zw_block *block = &problem->block[cone->block];
        double scale = work->scale[work->cone_row[cone->first]];
        cone->low = block->kind == ZW_BOX ? block->limit[0] / scale : 0.0;
        cone->high = block->kind == ZW_BOX ? block->limit[1] / scale : HUGE_VAL;
        normal->low = cone->low;
        normal->high = cone->high;
    }
}

void gauss_equality_factor(const zw_gauss *problem, zw_gauss_work *work)
{
    work->rank = dense_lq(work->me, work->q, work->D, work->q_max, work->rank_floor, work->order,
                          work->beta, work->distance);
    int last = work->rank - 1;
    work->independence = last >= 0 ? fabs(work->D[(long)last * work->q_max + last]) : 1.0;
    work->margin = work->measures ? margin(work) : work->independence;
    dense_lq_apply_transposed_rows(work->rank, work->q, work->D, work->q_max, work->beta, work->mc,
                                   work->B, work->q_max);
    stretch_cones(work);
    set_intervals(problem, work);
}

/* z = -(T)^+ c_user: the motion that violates contradicting rows least, in the user's own units. */
static void least_squares(const zw_gauss *problem, zw_gauss_work *work)
{
    double *t = work->e + 2 * (long)work->me;
    factor_transposed(work, 1);
    for (int e = 0; e < work->me; e++) {
        int i = work->equality_row[e];
        double b = problem->b != NULL ? problem->b[i] : 0.0;
        t[e] = work->scale[i] > 0.0 ? -work->c[e] / work->scale[i] : b;
    }
    dense_lq_apply_transposed(work->rank, work->me, work->T, work->me, work->T_beta, t);
    for (int k = work->rank - 1; k >= 0; k--) { /* Lt' z = t */
        t[k] /= work->T[(long)k * work->me + k];
        dense_axpy(k, -t[k], work->T + (long)k * work->me, t);
    }
    for (int k = 0; k < work->rank; k++) {
        work->z[work->T_order[k]] = t[k];
    }
}

zw_status gauss_equality_particular(const zw_gauss *problem, zw_gauss_work *work, double tolerance,
                                    int least_squares_wanted)
{
    work->redundant_count = work->thinning ? work->redundant_count : 0;
    work->conflict_count = 0;
    for (int k = 0; k < work->rank; k++) { /* L z = -c */
        const double *row = work->D + (long)k * work->q_max;
        work->z[k] = (-work->c[work->order[k]] - dense_dot(k, row, work->z)) / row[k];
    }
    if (work->rank < work->me && !work->thinning) {
        name_dependent_rows(problem, work, tolerance);
    }
    if (work->conflict_count > 0 && least_squares_wanted) {
        least_squares(problem, work);
        return ZW_OK;
    }
    return work->conflict_count > 0 ? ZW_CONFLICT : ZW_OK;
}

/* x = L' \ x for the triangle of the independent rows. */
static void solve_transposed(const zw_gauss_work *work, double *x)
{
    for (int k = work->rank - 1; k >= 0; k--) {
        const double *row = work->D + (long)k * work->q_max;
        x[k] /= row[k];
        dense_axpy(k, -x[k], row, x);
    }
}

/* r of least norm in user's units, by the second factorisation; its force may be poor where rows
 * are long and short. */
static void least_norm(zw_gauss_work *work, const double *g, double *r)
{
    int me = work->me;
    double *t = work->e + 2 * (long)me;
    factor_transposed(work, 1);
    memset(t, 0, (size_t)me * sizeof *t);
    for (int k = 0; k < work->rank; k++) { /* Lt t = g */
        const double *row = work->T + (long)k * me;
        t[k] = (g[work->T_order[k]] - dense_dot(k, row, t)) / row[k];
    }
    dense_lq_apply(work->rank, me, work->T, me, work->T_beta, t);
    for (int e = 0; e < me; e++) {
        double scale = work->scale[work->equality_row[e]];
        r[e] = scale > 0.0 ? t[e] / scale : 0.0;
    }
}

void gauss_equality_multipliers(zw_gauss_work *work, const double *g, double *lambda)
{
    double *rest = work->row_scratch, *r = work->row_scratch + work->me;
    memset(r, 0, (size_t)work->me * sizeof *r);
    memcpy(rest, g, (size_t)work->rank * sizeof *rest);
    if (work->rank < work->me) {
        least_norm(work, g, r);
        for (int k = 0; k < work->me; k++) { /* rest = g - L' r */
            int length = k < work->rank ? k + 1 : work->rank;
            dense_axpy(length, -r[work->order[k]], work->D + (long)k * work->q_max, rest);
        }
    }
    solve_transposed(work, rest); /* the independent rows push the rest */
    for (int k = 0; k < work->rank; k++) {
        r[work->order[k]] += rest[k];
    }
    for (int e = 0; e < work->me; e++) {
        int i = work->equality_row[e];
        lambda[i] = r[e] * work->scale[i] * work->soften[e];
    }
}
