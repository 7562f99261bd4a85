/* A fit in pieces that are divided at jumps. */
#include "path/fit/fit.h"

enum { ROUNDS = 6 };

/* Divides the pieces further: both lists are sorted, and no cut coincides with the start of a
 * piece. */
static void cut(const path_fit *fit, int *parts, long *start)
{
    int to = *parts + fit->cuts, from = *parts, next = fit->cuts - 1;
    *parts = to;
    while (next >= 0) {
        start[to--] = start[from] > fit->cut[next] ? start[from--] : fit->cut[next--];
    }
}

zw_status path_fit_parts(path_fit *fit, path_samples *samples, int *parts, long *start,
                         zw_error *error)
{
    zw_status status = ZW_OK;
    samples->start = start;
    for (int round = 0; round < ROUNDS && status == ZW_OK; round++) {
        samples->pieces = *parts;
        path_fit_free(fit);
        status = path_fit_make(fit, samples, error);
        if (status != ZW_OK || fit->cuts == 0) {
            break;
        }
        cut(fit, parts, start);
    }
    return status;
}
