/* Names. */
#include <math.h>
#include <string.h>

#include "gauss/sparse_cones.h"
#include "math/dense.h"

void sparse_cones_conflict(zw_gauss_work *work, gauss_sparse *s)
{
    double *d = s->v[2], largest = 0.0;
    for (int p = 0; p < s->m; p++) {
        largest = fmax(largest, fabs(d[p]));
    }
    int last = -1;
    for (int p = 0; p < s->m; p++) {
        int i = p < s->me ? work->equality_row[p] : work->cone_row[p - s->me], k = work->block_of[i];
        if (fabs(d[p]) > 1e-6 * largest && k != last) {
            work->conflict[work->conflict_count++] = k;
            last = k;
        }
    }
}
