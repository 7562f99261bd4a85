/* Sliding contacts that share a load which rigid bodies do not determine (a box on four corners).
 *
 * K of a half (rigid_piece.c) is regular if the slopes a of its equations w = 0 by the speeds are
 * independent. Rows that hold may depend on each other: their multipliers then push the same in
 * many ways, and nothing follows from that. But if the normal of a contact that slides depends on
 * them, sum_j t_j a_j = 0, its load and theirs can be exchanged, friction moves along with them,
 * and Coulomb's law has a family of solutions with different motions. The step has taken the one of
 * stiff bodies (gauss/contact/choose.c): that with the least sum of R_i lambda_i^2 over the loads,
 * R_i = sum_k B_ik^2/H_kk. Along a family lambda changes by t (and friction follows), so that
 *
 *     sum_j t_j R_j lambda_j = 0
 *
 * with R = 0 for rows that are no loads. The change of this stands in place of the equation of one
 * of the dependent rows, which holds by those of the others. t and R are those of the solution:
 * they change by what the bodies turn in a step.
 *
 * A step whose solution is an end of the family, where a load is zero, has the slopes on the side
 * where that contact goes on without a load, as if it were open. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "look/rigid/rigid.h"

#define DEPENDS 1e-8 /* of a row's length: as for the rank of K (rigid_solve.c) */
#define EMPTY 1e-6   /* of the largest: a load that is zero, or a part in t */

/* Orthonormal rows of length n, and what each is of the rows they were made of. */
typedef struct basis {
    int n, count, wide;
    double *row; /* [count][n] */
    double *of;  /* [count + 1][wide]; the last: of the row just added, or 0 = of . rows */
} basis;

/* Adds what row `which` has beside the others. 0: it depends on them. */
static int add_row(basis *to, const double *row, int which)
{
    size_t n = (size_t)to->n, wide = (size_t)to->wide;
    double *left = to->row + (size_t)to->count * n, was = 0, is = 0;
    double *of = to->of ? to->of + (size_t)to->count * wide : NULL;
    memcpy(left, row, n * sizeof *left);
    for (size_t j = 0; j < wide && of; j++) {
        of[j] = (int)j == which;
    }
    for (size_t j = 0; j < n; j++) {
        was += row[j] * row[j];
    }
    for (int k = 0; k < 2 * to->count; k++) { /* twice, for round-off */
        size_t other = (size_t)(k % to->count);
        double along = 0;
        for (size_t j = 0; j < n; j++) {
            along += to->row[other * n + j] * left[j];
        }
        for (size_t j = 0; j < n; j++) {
            left[j] -= along * to->row[other * n + j];
        }
        for (size_t j = 0; j < wide && of; j++) {
            of[j] -= along * to->of[other * wide + j];
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
    for (size_t j = 0; j < wide && of; j++) {
        of[j] /= sqrt(is);
    }
    return ++to->count;
}

/* What is known of a half while loads are chosen. */
typedef struct sharing {
    const rigid_half *half;
    const rigid_matrix *K;
    basis rows, all; /* equations by the speeds; and with them what their multipliers push */
    double *both;    /* [2 n] of one */
    double *R;       /* [unknowns] of loads; 0 for other rows */
    double *law;     /* [unknowns][unknowns] that of a row which depends on others */
    int *done;       /* [blocks] */
    int *which;      /* [unknowns] such rows, */
    int count;
} sharing;

/* The equation of an unknown by the speeds, then what the unknown pushes; its equation is new? */
static int add_unknown(sharing *of, int unknown, int *pushes)
{
    int n = of->rows.n, at = n + unknown;
    for (int j = 0; j < n; j++) {
        of->both[j] = *rigid_entry(of->K, at, j);
        of->both[n + j] = *rigid_entry(of->K, j, at);
    }
    *pushes = add_row(&of->all, of->both, unknown);
    return add_row(&of->rows, of->both, unknown);
}

/* Row `unknown` depends on others: how their loads are shared. */
static void note_law(sharing *of, int unknown)
{
    size_t wide = (size_t)of->rows.wide;
    const double *t = of->rows.of + (size_t)of->rows.count * wide;
    double *law = of->law + (size_t)of->count * wide, most = 0, longest = 0, largest = 0;
    for (size_t j = 0; j < wide; j++) {
        law[j] = t[j] * of->R[j];
        most = fmax(most, fabs(law[j]));
        longest = fmax(longest, fabs(t[j]));
        largest = fmax(largest, of->R[j]);
    }
    if (!(most > EMPTY * longest * largest)) {
        return; /* what sticks holds itself, whatever the loads */
    }
    for (size_t j = 0; j < wide; j++) {
        law[j] /= most;
    }
    of->which[of->count++] = unknown;
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

/* What holds first, then loads from the largest on: how many can be exchanged so that something
 * moves. */
static int share(sharing *of, int columns, double *x)
{
    int found = 0, pushes;
    double largest = 0;
    for (int k = 0; k < of->half->blocks; k++) {
        const rigid_block *it = &of->half->block[k];
        int load = it->kind == ZW_CONE || it->kind == ZW_INEQUALITY;
        largest = load ? fmax(largest, of->half->lambda[it->first]) : largest;
        for (int i = 0; i < it->rows && it->mode == RIGID_HELD; i++) {
            if (!add_unknown(of, it->at + i, &pushes)) {
                note_law(of, it->at + i);
            }
        }
    }
    for (int k; (k = next_load(of)) >= 0;) {
        const rigid_block *it = &of->half->block[k];
        of->done[k] = 1;
        if (add_unknown(of, it->at, &pushes)) {
            continue;
        }
        found += pushes > 0;
        if (of->half->lambda[it->first] > EMPTY * largest) {
            note_law(of, it->at);
        } else {
            keep(of->K, of->rows.n + it->at, columns, x);
        }
    }
    return found;
}

/* Equations of shares in place of those of dependent rows. */
static void put_laws(const sharing *of, int columns, double *x)
{
    const rigid_matrix *K = of->K;
    int n = of->rows.n, wide = of->rows.wide;
    for (int k = 0; k < of->count; k++) {
        int at = n + of->which[k];
        K->given[at] = 1;
        for (int j = 0; j < K->size; j++) {
            *rigid_entry(K, at, j) = j < n ? 0 : of->law[k * wide + j - n];
        }
        for (int c = 0; c < columns && !K->transposed; c++) {
            x[(size_t)c * (size_t)K->size + (size_t)at] = 0;
        }
    }
}

/* R of the loads. */
static void find_mobilities(sharing *of)
{
    int n = of->rows.n;
    memset(of->R, 0, (size_t)of->rows.wide * sizeof *of->R);
    for (int k = 0; k < of->half->blocks; k++) {
        const rigid_block *it = &of->half->block[k];
        const double *B = of->half->B + (size_t)it->first * (size_t)n;
        int load = it->kind == ZW_CONE || it->kind == ZW_INEQUALITY;
        for (int j = 0; j < n && load && it->mode != RIGID_FREE && it->mode != RIGID_GIVEN; j++) {
            of->R[it->at] += B[j] * B[j] / fabs(*rigid_entry(of->K, j, j));
        }
    }
}

int rigid_share(sens_rigid *r, const rigid_half *half, const rigid_matrix *K, int columns,
                double *x)
{
    size_t n = (size_t)r->system->n, blocks = (size_t)half->blocks, u = (size_t)half->unknowns;
    size_t rows = (n + 1) * n + (n + 1) * u, all = (2 * n + 1) * 2 * n;
    size_t numbers = rows + all + 2 * n + u + u * u;
    int slides = 0;
    for (int k = 0; k < half->blocks; k++) {
        slides += half->block[k].mode == RIGID_SLIDES;
    }
    memset(K->given, 0, (size_t)K->size * sizeof *K->given);
    double *memory =
        slides ? base_alloc(numbers * sizeof *memory + (blocks + u) * sizeof(int)) : NULL;
    if (memory) {
        sharing of = {.half = half, .K = K, .done = (int *)(memory + numbers)};
        of.rows = (basis){.n = (int)n, .wide = (int)u, .row = memory, .of = memory + (n + 1) * n};
        of.all = (basis){.n = 2 * (int)n, .row = memory + rows};
        of.both = memory + rows + all;
        of.R = of.both + 2 * n;
        of.law = of.R + u;
        of.which = of.done + blocks;
        memset(of.done, 0, blocks * sizeof *of.done);
        find_mobilities(&of);
        if (share(&of, columns, x) > 0) {
            put_laws(&of, columns, x);
            rigid_note_open(r, "contacts that slide and share a load");
        }
        base_free(memory);
    }
    return !slides || memory;
}
