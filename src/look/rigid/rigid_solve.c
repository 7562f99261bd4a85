/* The linear systems of a piece by method impulse (rigid_piece.c): slopes of its solution.
 *
 * Their rows come from differences of the equations, so that rows that depend on each other do so
 * up to errors of these, and rows that are zero are as small as these. The answer is that of
 * slopes_solve.c; where multipliers that are not determined move something, it is one of many. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "look/rigid/rigid.h"
#include "look/slopes/slopes.h"
#include "math/dense/dense.h"

#define CONTRADICTS 1e-6
#define LOOSE 1e-9 /* multipliers that are not determined move nothing, up to this */
#define RANK 1e-8  /* rows that depend on each other do so up to errors of differences */

/* K of a half, whose columns of speeds are x[n][size]. */
static double *put_matrix(sens_rigid *r, const rigid_half *half, const double *x)
{
    int n = r->system->n, size = n + half->unknowns;
    if (!rigid_grow(&r->K, &r->K_capacity, (size_t)size * (size_t)size + (size_t)size)) {
        return NULL;
    }
    double *column = r->K + (size_t)size * (size_t)size;
    for (int j = 0; j < size; j++) {
        memset(column, 0, (size_t)size * sizeof *column);
        if (j < n) {
            memcpy(column, x + (size_t)j * (size_t)size, (size_t)size * sizeof *column);
        } else {
            rigid_push_unknown(half, n, j - n, column);
        }
        for (int i = 0; i < size; i++) {
            r->K[(size_t)i * (size_t)size + (size_t)j] = column[i];
        }
    }
    return r->K;
}

/* Are equations left that no motion fulfils? Rows that depend on each other are then of contacts
 * that cannot all stay as they are. */
static int contradicts(int size, const double *K, const double *x, const double *by)
{
    double off = 0, most = 0;
    for (int i = 0; i < size; i++) {
        double sum = -by[i], part = fabs(by[i]);
        for (int j = 0; j < size; j++) {
            double term = K[(size_t)i * (size_t)size + (size_t)j] * x[j];
            sum += term;
            part += fabs(term);
        }
        off = fmax(off, fabs(sum));
        most = fmax(most, part);
    }
    return off > CONTRADICTS * most;
}

/* Rows that are zero but for errors of differences (of a planar loop, across its plane) must not be
 * scaled up as if they said something: they, their multipliers and right sides become 0. */
static void drop_empty(int n, int size, const int *given, double *K, int columns, double *x)
{
    double longest = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = n; i < size; i++) {
            double *row = K + (size_t)i * (size_t)size;
            double most = dense_largest(given[i] ? size : n, row);
            longest = pass == 0 ? fmax(longest, most) : longest;
            for (int j = 0; j < size && pass == 1 && most <= RANK * longest; j++) {
                row[j] = K[(size_t)j * (size_t)size + (size_t)i] = 0;
            }
            for (int c = 0; c < columns && pass == 1 && most <= RANK * longest; c++) {
                x[(size_t)c * (size_t)size + (size_t)i] = 0;
            }
        }
    }
}

/* x[columns][size] = -K \ x */
zw_status rigid_solve(sens_rigid *r, const rigid_half *half, const double *speeds, int columns,
                      double *x)
{
    size_t size = (size_t)(r->system->n + half->unknowns), count = size * (size_t)columns;
    double *K = put_matrix(r, half, speeds);
    double *kept = K ? base_alloc((size * size + count) * sizeof *kept + size * sizeof(int)) : NULL;
    if (!kept) {
        return rigid_no_memory(r);
    }
    double *by = kept + size * size;
    const rigid_matrix of = {.size = (int)size, .at = K, .given = (int *)(by + count)};
    if (!rigid_share(r, half, &of, columns, x)) {
        base_free(kept);
        return rigid_no_memory(r);
    }
    drop_empty(r->system->n, (int)size, of.given, K, columns, x);
    memcpy(kept, K, size * size * sizeof *K);
    memcpy(by, x, count * sizeof *x);
    double *loose = K + size * size;
    int rank = slopes_solve_to((int)size, columns, K, x, RANK, loose, NULL), lost = 0, free = 0;
    for (size_t c = 0; c < (size_t)columns && rank >= 0 && rank < (int)size; c++) {
        lost |= contradicts((int)size, kept, x + c * size, by + c * size);
    }
    for (int j = 0; j < r->system->n && rank >= 0; j++) {
        free |= loose[j] > LOOSE;
    }
    if (lost) {
        rigid_note_kink(r, "contacts that cannot all keep their state");
    } else if (free) {
        rigid_note_open(r, "contacts that slide and share a load");
    }
    for (size_t i = 0; i < count; i++) {
        x[i] = -x[i];
    }
    base_free(kept);
    return rank < 0 ? rigid_no_memory(r) : ZW_OK;
}
