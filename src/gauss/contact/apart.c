#include "gauss/contact/apart.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/contact/islands_inner.h"

/* What is known about a piece. */
typedef struct summary {
    double Z, independence, margin;
    int rank;
    zw_certificate certificate; /* worst_block by the numbers of the whole */
    zw_status status;
} summary;

struct gauss_apart {
    gauss_islands *islands;
    buffer summary, b, vector, rows, redundant, is_redundant, undetermined;
    /* in `vector` and `rows`: */
    double *a, *F_N, *F_L, *F_C, *C, *part_C;
    double *lambda, *residual;
};

gauss_apart *gauss_apart_create(void)
{
    gauss_apart *w = base_alloc(sizeof *w);
    if (w && !(w->islands = gauss_islands_create())) {
        base_free(w);
        w = NULL;
    }
    return w;
}

void gauss_apart_free(gauss_apart *w)
{
    if (w) {
        buffer *list[] = {&w->summary,      &w->b,           &w->vector, &w->rows, &w->redundant,
                          &w->is_redundant, &w->undetermined};
        for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
            base_free(list[i]->data);
        }
        gauss_islands_free(w->islands);
        base_free(w);
    }
}

static int make_room(gauss_apart *w, const zw_gauss *problem, int m)
{
    size_t n = (size_t)problem->n, blocks = (size_t)problem->block_count;
    double *vector = islands_reserve(&w->vector, 6 * n, sizeof(double));
    double *rows = islands_reserve(&w->rows, 2 * (size_t)m, sizeof(double));
    if (!vector || !rows || !islands_reserve(&w->summary, n, sizeof(summary)) ||
        !islands_reserve(&w->b, (size_t)m, sizeof(double)) ||
        !islands_reserve(&w->redundant, blocks, sizeof(int)) ||
        !islands_reserve(&w->is_redundant, blocks, sizeof(char)) ||
        !islands_reserve(&w->undetermined, n, sizeof(int))) {
        return 0;
    }
    double **list[] = {&w->a, &w->F_N, &w->F_L, &w->F_C, &w->C, &w->part_C};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        *list[k] = vector + k * n;
    }
    w->lambda = rows;
    w->residual = rows + m;
    return 1;
}

/* ---- One piece ------------------------------------------------------------------------------ */

/* Is its right-hand side that of the last call? */
static int is_same(const gauss_apart *w, const zw_gauss *problem, const piece *p)
{
    const gauss_islands *is = w->islands;
    const int *block = (int *)is->block.data + p->first_block, *first = is->row_start.data;
    const double *old = w->b.data;
    for (int i = 0; i < p->blocks; i++) {
        size_t rows = (size_t)(first[block[i] + 1] - first[block[i]]);
        const double *b = problem->b + first[block[i]];
        if (memcmp(b, old + first[block[i]], rows * sizeof *b) != 0) {
            return 0;
        }
    }
    return 1;
}

static void put_vectors(gauss_apart *w, const piece *p, const zw_motion *motion)
{
    const int *unknown = (int *)w->islands->unknown.data + p->first_unknown;
    for (int i = 0; i < p->n; i++) {
        w->a[unknown[i]] = motion->a[i];
        w->F_N[unknown[i]] = motion->F_N[i];
        w->F_L[unknown[i]] = motion->F_L[i];
        w->F_C[unknown[i]] = motion->F_C[i];
        w->C[unknown[i]] = motion->C[i];
    }
}

static void put_rows(gauss_apart *w, const piece *p, const zw_motion *motion)
{
    const int *block = (int *)w->islands->block.data + p->first_block;
    const int *first = w->islands->row_start.data;
    char *is_redundant = w->is_redundant.data;
    for (int i = 0, r = 0; i < p->blocks; i++) {
        is_redundant[block[i]] = 0;
        for (int row = first[block[i]]; row < first[block[i] + 1]; row++, r++) {
            w->lambda[row] = motion->lambda[r];
            w->residual[row] = motion->residual[r];
        }
    }
    for (int i = 0; i < motion->redundant_count; i++) {
        is_redundant[block[motion->redundant[i]]] = 1;
    }
}

/* 0: it has no solution. */
static int solve_piece(gauss_apart *w, const zw_gauss *problem, const zw_gauss_options *options,
                       const piece *p, summary *to, zw_error *error)
{
    gauss_islands *is = w->islands;
    const int *unknown = (int *)is->unknown.data + p->first_unknown;
    const int *block = (int *)is->block.data + p->first_block;
    int small = p->n <= ISLANDS_SMALL;
    zw_gauss part = {.n = p->n, .block_count = p->blocks};
    zw_gauss_options requested = *options;
    zw_motion motion;
    if (!islands_make_room(is, problem, p)) {
        return 0;
    }
    double *force = is->free.data;
    for (int i = 0; i < p->n; i++) {
        force[i] = problem->force[unknown[i]];
        w->part_C[i] = problem->C ? problem->C[unknown[i]] : 0;
    }
    part.force = force;
    part.C = problem->C ? w->part_C : NULL;
    islands_cut_metric(is, problem, p, &part, small);
    islands_cut_rows(is, problem, p, &part, options->guess, small);
    requested.guess = options->guess ? is->guess.data : NULL;
    requested.algebra = small ? ZW_ALGEBRA_DENSE : ZW_ALGEBRA_SPARSE;
    zw_gauss_work *work = islands_workspace(is, &part, p->m, &requested, NULL);
    if (!work) {
        return 0;
    }
    zw_status status = zw_gauss_solve(&part, &requested, work, &motion, error);
    if (status != ZW_OK && status != ZW_INACCURATE && status != ZW_JAMMED) {
        return 0;
    }
    put_vectors(w, p, &motion);
    put_rows(w, p, &motion);
    *to = (summary){.Z = motion.Z,
                    .independence = motion.independence,
                    .margin = motion.margin,
                    .rank = motion.rank,
                    .certificate = motion.certificate,
                    .status = status};
    if (motion.certificate.worst_block >= 0) {
        to->certificate.worst_block = block[motion.certificate.worst_block];
    }
    return motion.undetermined_count == 0;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static void worsen(zw_certificate *all, const zw_certificate *one)
{
    all->stationarity = fmax(all->stationarity, one->stationarity);
    all->feasibility = fmax(all->feasibility, one->feasibility);
    all->membership = fmax(all->membership, one->membership);
    all->complementarity = fmax(all->complementarity, one->complementarity);
    all->natural = fmax(all->natural, one->natural);
    all->gap = fmax(all->gap, one->gap);
    if (one->worst > all->worst) {
        all->worst = one->worst;
        all->worst_block = one->worst_block;
    }
}

static zw_status sum_up(gauss_apart *w, const zw_gauss *problem, int m, zw_motion *motion)
{
    const char *is_redundant = w->is_redundant.data;
    int *redundant = w->redundant.data;
    zw_status first = ZW_OK;
    *motion = (zw_motion){.n = problem->n,
                          .m = m,
                          .a = w->a,
                          .lambda = w->lambda,
                          .residual = w->residual,
                          .F_N = w->F_N,
                          .F_L = w->F_L,
                          .F_C = w->F_C,
                          .C = w->C,
                          .independence = 1,
                          .margin = 1,
                          .redundant = redundant,
                          .conflict = w->undetermined.data,
                          .undetermined = w->undetermined.data,
                          .certificate = {.worst_block = -1},
                          .method = "apart"};
    for (int i = 0; i < w->islands->piece_count; i++) {
        const summary *it = (summary *)w->summary.data + i;
        motion->Z += it->Z;
        motion->rank += it->rank;
        motion->independence = fmin(motion->independence, it->independence);
        motion->margin = fmin(motion->margin, it->margin);
        worsen(&motion->certificate, &it->certificate);
        first = first == ZW_OK ? it->status : first;
    }
    for (int k = 0; k < problem->block_count; k++) {
        if (is_redundant[k]) {
            redundant[motion->redundant_count++] = k;
        }
    }
    return first;
}

int gauss_apart_solve(gauss_apart *w, const zw_gauss *problem, const zw_gauss_options *options,
                      int again, zw_motion *motion, zw_status *status, zw_error *error)
{
    gauss_islands *is = w->islands;
    zw_error failure = {0}; /* of the first piece with a failure */
    int m = 0;
    for (int k = 0; k < problem->block_count; k++) {
        m += problem->block[k].rows;
    }
    if (!problem->force || problem->law || !problem->b ||
        (!again && !islands_split(is, problem, m)) || is->piece_count < 2 ||
        (!again && !make_room(w, problem, m))) {
        return 0;
    }
    for (int i = 0; i < is->piece_count; i++) {
        const piece *p = (piece *)is->pieces.data + i;
        if (again && is_same(w, problem, p)) {
            continue;
        }
        if (!solve_piece(w, problem, options, p, (summary *)w->summary.data + i,
                         failure.status == ZW_OK ? &failure : NULL)) {
            return 0;
        }
    }
    memcpy(w->b.data, problem->b, (size_t)m * sizeof(double));
    *status = sum_up(w, problem, m, motion);
    if (*status != ZW_OK && error && failure.status != ZW_OK) {
        *error = failure;
    } else {
        base_fail(error, *status, "%s", *status == ZW_OK ? "" : zw_status_text(*status));
    }
    return 1;
}
