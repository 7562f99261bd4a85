/* Which blocks contradict each other, sparse.
 *
 * When nothing is admissible, the proximal multipliers run away along a direction d in K with B' d
 * = 0 and c . d < 0 (Farkas): the blocks on which d acts cannot all hold. While they are few, they
 * are thinned by leaving out one cone after another: what is still contradictory without it does
 * not need it. The equality rows in play are independent, so their part of d follows from that of
 * the cones. */
#include <math.h>
#include <string.h>

#include "gauss/sparse_cones.h"
#include "math/dense.h"

enum { FILTER_LIMIT = 48, ROUNDS = 10 };

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
static int contradictory(zw_gauss_work *work, gauss_sparse *s)
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
        if (k >= 2 && sparse_cones_run_away(work, s, k < 8 ? 1e8 : 1e6)) {
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
        int i = p < s->me ? work->equality_row[p] : work->cone_row[p - s->me];
        int k = work->block_of[i];
        if (fabs(d[p]) > 1e-6 * largest && k != last) {
            work->conflict[work->conflict_count++] = k; /* rows of a block are neighbours */
            last = k;
        }
    }
}

void sparse_cones_conflict(zw_gauss_work *work, gauss_sparse *s)
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
        if (contradictory(work, s)) {
            memcpy(proof, s->v[2], (size_t)s->m * sizeof(double));
            count = keep_cones(s, proof);
        } else {
            memset(s->off + at, 0, (size_t)rows);
        }
    }
    memset(s->off + s->me, 0, (size_t)s->mc);
    mark_blocks(work, s, proof);
}
