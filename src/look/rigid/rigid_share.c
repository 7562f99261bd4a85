/* Sliding contacts that share a load which rigid bodies do not determine (a box on four corners).
 *
 * K of a half (rigid_piece.c) is regular if the slopes a of its equations w = 0 by the speeds are
 * independent. Rows that hold may depend on each other: their multipliers then push the same in
 * many ways, and nothing follows from that. But if the normal of a contact that slides depends on
 * them, a_n = c A, its load and theirs can be exchanged, friction moves along with them, and
 * Coulomb's law has a family of solutions with different motions. The step has taken one of them.
 *
 * Along that family one load may be kept as it is: the motion with it, of which the other loads are
 * smooth functions, satisfies the law, and w_n = 0 holds by the equations of the others. This is
 * done for the smallest loads, one after another: in place of w_n = 0 the equation is dlambda_n =
 * 0. A step whose solution is an end of the family, where such a load is zero, has the slopes on
 * the side where that contact goes on without a load, as if it were open. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "look/rigid/rigid.h"

#define DEPENDS 1e-8 /* of a row's length: as for the rank of K (rigid_solve.c) */

/* Orthonormal rows of length n. */
typedef struct basis {
    int n, count;
    double *row;
} basis;

/* Adds what a row has beside the others. 0: it depends on them. */
static int add_row(basis *to, const double *row)
{
    size_t n = (size_t)to->n;
    double *left = to->row + (size_t)to->count * n, was = 0, is = 0;
    memcpy(left, row, n * sizeof *left);
    for (size_t j = 0; j < n; j++) {
        was += row[j] * row[j];
    }
    for (int k = 0; k < 2 * to->count; k++) { /* twice, for round-off */
        const double *other = to->row + (size_t)(k % to->count) * n;
        double along = 0;
        for (size_t j = 0; j < n; j++) {
            along += other[j] * left[j];
        }
        for (size_t j = 0; j < n; j++) {
            left[j] -= along * other[j];
        }
    }
    for (size_t j = 0; j < n; j++) {
        is += left[j] * left[j];
    }
    if (is <= DEPENDS * DEPENDS * was) {
        return 0;
    }
    for (size_t j = 0; j < n; j++) {
        left[j] /= sqrt(is);
    }
    return ++to->count;
}

/* What is known of a half while loads are chosen. */
typedef struct sharing {
    const rigid_half *half;
    const rigid_matrix *K;
    basis rows, all; /* equations by the speeds; and with them what their multipliers push */
    double *both;    /* [2 n] of one */
    int *done;       /* [blocks] */
} sharing;

/* The equation of an unknown by the speeds, then what the unknown pushes; its equation is new? */
static int add_unknown(sharing *of, int unknown, int *pushes)
{
    int n = of->rows.n, at = n + unknown;
    for (int j = 0; j < n; j++) {
        of->both[j] = *rigid_entry(of->K, at, j);
        of->both[n + j] = *rigid_entry(of->K, j, at);
    }
    *pushes = add_row(&of->all, of->both);
    return add_row(&of->rows, of->both);
}

/* The block that slides with the largest load of those that are left; -1: none. */
static int next_load(const sharing *of)
{
    const rigid_half *half = of->half;
    int most = -1;
    for (int k = 0; k < half->blocks; k++) {
        const rigid_block *it = &half->block[k];
        if (it->mode == RIGID_SLIDES && !of->done[k] &&
            (most < 0 || half->lambda[it->first] > half->lambda[half->block[most].first])) {
            most = k;
        }
    }
    return most;
}

static void keep(const rigid_matrix *K, int at, int columns, double *x)
{
    for (int j = 0; j < K->size; j++) {
        *rigid_entry(K, at, j) = *rigid_entry(K, j, at) = 0;
    }
    *rigid_entry(K, at, at) = 1;
    for (int c = 0; c < columns; c++) {
        x[(size_t)c * (size_t)K->size + (size_t)at] = 0;
    }
}

/* What holds first, then loads from the largest on. */
static int share(sharing *of, int columns, double *x)
{
    int found = 0, pushes;
    for (int k = 0; k < of->half->blocks; k++) {
        const rigid_block *it = &of->half->block[k];
        for (int i = 0; i < it->rows && it->mode == RIGID_HELD; i++) {
            add_unknown(of, it->at + i, &pushes);
        }
    }
    for (int k; (k = next_load(of)) >= 0;) {
        of->done[k] = 1;
        if (!add_unknown(of, of->half->block[k].at, &pushes)) {
            keep(of->K, of->rows.n + of->half->block[k].at, columns, x);
            found += pushes;
        }
    }
    return found;
}

int rigid_share(sens_rigid *r, const rigid_half *half, const rigid_matrix *K, int columns,
                double *x)
{
    size_t n = (size_t)r->system->n, blocks = (size_t)half->blocks;
    size_t numbers = (n + 1) * n + (2 * n + 1) * 2 * n + 2 * n;
    int slides = 0;
    for (int k = 0; k < half->blocks; k++) {
        slides += half->block[k].mode == RIGID_SLIDES;
    }
    double *memory = slides ? base_alloc(numbers * sizeof *memory + blocks * sizeof(int)) : NULL;
    if (memory) {
        sharing of = {.half = half, .K = K, .done = (int *)(memory + numbers)};
        of.rows = (basis){.n = (int)n, .row = memory};
        of.all = (basis){.n = 2 * (int)n, .row = memory + (n + 1) * n};
        of.both = of.all.row + (2 * n + 1) * 2 * n;
        memset(of.done, 0, blocks * sizeof *of.done);
        if (share(&of, columns, x) > 0) {
            rigid_note_open(r, "contacts that slide and share a load");
        }
        base_free(memory);
    }
    return !slides || memory;
}
