/* Which blocks contradict each other, sparse.
 *
 * When nothing is admissible, the proximal multipliers run away along a direction d in K with B' d
 * = 0 and c . d < 0 (Farkas): the blocks on which d acts cannot all hold. While they are few, they
 * are thinned by leaving out one cone after another: what is still contradictory without it does
 * not need it. The equality rows in play are independent, so their part of d follows from that of
 * the cones. */
#include <math.h>
#include <string.h>

#include "gauss/sparse/sparse_cones.h"
#include "math/dense/dense.h"

enum { FILTER_LIMIT = 48, ROUNDS = 10, CANCEL_LIMIT = 3 };

static int row_of(const zw_gauss_work *work, int p)
{
    return p < work->me ? work->equality_row[p] : work->cone_row[p - work->me];
}

/* d nearer to the null space of B', for proofs of so many rows that proof.c has no room for them:
 * the proximal step of the problem without f and c around d,
 *
 *     d+ = argmin 1/2 |B' r|^2 + delta/2 |r - d|^2     in the tangent plane of the cones at hand,
 *
 * takes what is not in the null space down to delta/(sigma^2 + delta) of itself, sigma its singular
 * value. K is factored for it already. */
static void cancel(zw_gauss_work *work, gauss_sparse *s, double delta, double *d)
{
    memset(s->rhs, 0, (size_t)s->N * sizeof(double));
    for (int k = 0; k < s->cone_count; k++) {
        int at = s->cone[k].first, rows = s->cone[k].rows;
        for (int j = at; j < at + rows; j++) {
            s->rhs[s->q + s->me + j] =
                delta * dense_dot(rows, s->turn + (long)j * CONE_MAX, d + s->me + at);
        }
    }
    sparse_kkt_solve(s, s->rhs, s->sol);
    for (int e = 0; e < s->me; e++) {
        d[e] = s->off[e] ? 0.0 : -s->sol[s->q + e];
    }
    sparse_cones_turn_back(work, s, s->sol, d);
}

/* Is d a proof, or near one? Then it is made one. */
static int proves(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s, double *d)
{
    double *y = work->proof.y;
    work->proof.smooth = 0;
    for (int p = 0; p < s->m; p++) {
        y[row_of(work, p)] = d[p] * s->scale[p];
    }
    if (!gauss_proof_find(problem, work->free, work->scale, &work->proof)) {
        return 0;
    }
    for (int p = 0; p < s->m; p++) {
        d[p] = s->scale[p] > 0.0 ? y[row_of(work, p)] / s->scale[p] : 0.0;
    }
    return 1;
}

/* The quick look keeps hopeless candidates away: every admissible x has 0 <= d . (B x + c), so |x|
 * >= -c . d / |B' d|. What is left is judged, and polished, with the data of the problem. */
int sparse_cones_run_away(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s,
                          double delta)
{
    double *d = s->v[2];
    for (int p = 0; p < s->m; p++) {
        d[p] = s->off[p] ? 0.0 : s->r[p] - s->centre[p];
    }
    double size = dense_norm(s->m, d);
    if (!(size > 0.0) || !isfinite(size)) {
        return 0;
    }
    dense_scale(s->m, 1.0 / size, d);
    sparse_rows_force(s, d, s->y[0]);
    if (!(dense_dot(s->m, s->c, d) < -1e3 * dense_norm(s->q, s->y[0]) * s->V)) {
        return 0;
    }
    for (int k = 0; k < CANCEL_LIMIT; k++) {
        if (proves(problem, work, s, d)) {
            return 1;
        }
        cancel(work, s, delta, d);
    }
    return proves(problem, work, s, d);
}

/* Cones on which d does not act go out of play; returns how many stay. */
static int keep_cones(gauss_sparse *s, const double *d)
{
    double largest = dense_largest(s->m, d);
    int count = 0;
    for (int k = 0; k < s->cone_count; k++) {
        int at = s->me + s->cone[k].first, rows = s->cone[k].rows;
        int acts = !s->off[at] && dense_largest(rows, d + at) > 1e-6 * largest;
        memset(s->off + at, acts ? 0 : 1, (size_t)rows);
        count += acts;
    }
    return count;
}

/* Do the blocks in play contradict each other? Then s->v[2] is the new proof. */
static int contradictory(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s)
{
    double delta = 1e-2;
    memset(s->r, 0, (size_t)s->m * sizeof(double));
    if (!sparse_equality_motion(work, s, 0)) {
        return 0;
    }
    for (int k = 0; k < ROUNDS; k++, delta = fmax(1e-2 * delta, 1e-9)) {
        memcpy(s->centre, s->r, (size_t)s->m * sizeof(double));
        if (!sparse_cones_proximal(work, s, delta)) {
            return 0;
        }
        if (k >= 2 && sparse_cones_run_away(problem, work, s, delta)) {
            return 1;
        }
    }
    return 0;
}

static void mark_blocks(zw_gauss_work *work, const gauss_sparse *s, const double *d)
{
    double largest = dense_largest(s->m, d);
    int last = -1;
    work->conflict_count = 0;
    for (int p = 0; p < s->m; p++) {
        int k = work->block_of[row_of(work, p)];
        if (fabs(d[p]) > 1e-6 * largest && k != last) {
            work->conflict[work->conflict_count++] = k; /* rows of a block are neighbours */
            last = k;
        }
    }
}

void sparse_cones_conflict(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s)
{
    double *proof = s->start_r;
    memcpy(proof, s->v[2], (size_t)s->m * sizeof(double));
    int count = keep_cones(s, proof);
    for (int k = s->cone_count - 1; k >= 0 && count > 1 && count <= FILTER_LIMIT; k--) {
        int at = s->me + s->cone[k].first, rows = s->cone[k].rows;
        if (s->off[at]) {
            continue;
        }
        memset(s->off + at, 1, (size_t)rows);
        if (contradictory(problem, work, s)) {
            memcpy(proof, s->v[2], (size_t)s->m * sizeof(double));
            count = keep_cones(s, proof);
        } else {
            memset(s->off + at, 0, (size_t)rows);
        }
    }
    memset(s->off + s->me, 0, (size_t)s->mc);
    mark_blocks(work, s, proof);
}
