/* The backward pass over a step of method impulse: derivatives g of a number by (q1, v1) become
 * those by (q0, v0) and the controls, with one transposed solve for each of the two problems of a
 * piece.
 *
 * A piece satisfies F(u, lambda; q0, v0) = 0 and G(v1, mu; u, lambda, q0) = 0 (rigid_piece.c), and
 * q1 = q0 (+) h u. With the modes that there are,
 *
 *     G_(v1,mu)' z1 = (g_v, 0),              g_u = g_q q1_u - z1 . G_u,   g_lambda = -z1 . G_lambda
 *     F_(u,lambda)' z0 = (g_u, g_lambda),    g_q0 = g_q q1_q0 - z1 . G_q0 - z0 . F_q0
 *
 * The derivatives of z . F and z . G are in rigid_phi.c.
 *
 * Rows of F_(u,lambda) are slopes of phi for unit z. Where contacts depend on each other it has a
 * null space, of multipliers that push nothing: g has no part in it, and any z of least size does.
 *
 * Where a piece ends as something meets, its length h follows: c . q1(h) = const for the row c of
 * the gap. With the slopes g_h by the length and those of c . q1 itself, a_h, the way back of g
 * less (g_h - g_rest)/a_h times that of c, g_rest being the slope by the time that is left. Pieces
 * that are part of what was left hand their share of g_h on to it.
 *
 * An act of an impact is M(q) (v+ - v-) = B' p with w+ + e w- or the laws of rows: the same. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/rigid/rigid_back.h"
#include "look/slopes/slopes.h"

#define RANK 1e-11
#define OFF 1e-6   /* of the terms of an equation: it does not hold */
#define LOOSE 1e-9 /* multipliers that are not determined move nothing, up to this */
enum { SIDES = 2 };

/* ---- Transposed solves ----------------------------------------------------------------------- */

/* K' of a half: row j has the slopes of all equations by unknown j. 0: no memory. */
static int put_matrix(rigid_way *way, int second, rigid_slopes *scratch)
{
    const rigid_half *half = &way->it->half[second];
    int n = way->system->n, size = n + half->unknowns;
    size_t wide = (size_t)size;
    if (!rigid_grow(&way->K, &way->K_capacity, 2 * wide * wide + 2 * wide) ||
        !rigid_grow(&way->y, &way->y_capacity, (size_t)half->rows + 1)) {
        return 0;
    }
    double *z = way->K + 2 * wide * wide, *column = z + wide;
    double *by = second || way->it->impact ? scratch->v1 : scratch->u;
    memset(z, 0, wide * sizeof *z);
    for (int i = 0; i < size; i++) {
        memset(by, 0, (size_t)n * sizeof *by);
        z[i] = 1;
        rigid_find_slopes(way, second, z, scratch);
        z[i] = 0;
        for (int j = 0; j < n; j++) {
            way->K[(size_t)j * wide + (size_t)i] = by[j];
        }
    }
    for (int j = n; j < size; j++) {
        memset(column, 0, wide * sizeof *column);
        rigid_push_unknown(half, n, j - n, column);
        memcpy(way->K + (size_t)j * wide, column, wide * sizeof *column);
    }
    return 1;
}

/* Does z satisfy K' z = g, up to a part of its terms? */
static int is_solved(int size, const double *K, const double *z, const double *g)
{
    double off = 0, most = 0;
    for (int i = 0; i < size; i++) {
        double sum = -g[i], part = fabs(g[i]);
        for (int j = 0; j < size; j++) {
            double term = K[(size_t)i * (size_t)size + (size_t)j] * z[j];
            sum += term;
            part += fabs(term);
        }
        off = fmax(off, fabs(sum));
        most = fmax(most, part);
    }
    return off <= LOOSE * most;
}

/* Equations that are dependent must be so wherever the step begins: for z with K' z = 0, z . F has
 * no derivative by q0. If it has, contacts cannot all stay as they are. */
static int is_consistent(rigid_way *way, int second, const double *null, rigid_slopes *scratch)
{
    size_t n = (size_t)way->system->n, size = n + (size_t)way->it->half[second].unknowns;
    const double *K = way->K + size * size;
    double most = 0, off = 0;
    memset(scratch->q0, 0, n * sizeof(double));
    rigid_find_slopes(way, second, null, scratch);
    for (size_t i = 0; i < n; i++) {
        double part = 0;
        for (size_t j = 0; j < size; j++) {
            part += fabs(K[i * size + j] * null[j]);
        }
        most = fmax(most, part);
        off = fmax(off, fabs(scratch->q0[i]));
    }
    return off * (way->it->impact ? 1 : way->it->h) <= OFF * most;
}

/* z[sides][size] = -K' \ z */
static zw_status solve(rigid_way *way, sens_rigid *r, int second, int sides, rigid_slopes *scratch)
{
    size_t n = (size_t)way->system->n, size = n + (size_t)way->it->half[second].unknowns;
    if (!put_matrix(way, second, scratch)) {
        return rigid_no_memory(r);
    }
    double *g = base_alloc((size_t)(sides + 1) * size * sizeof *g + size * sizeof(int));
    if (!g) {
        return rigid_no_memory(r);
    }
    double *null = g + (size_t)sides * size;
    const rigid_matrix K = {
        .size = (int)size, .transposed = 1, .at = way->K, .given = (int *)(null + size)};
    if (!rigid_share(r, &way->it->half[second], &K, sides, way->z)) {
        base_free(g);
        return rigid_no_memory(r);
    }
    memcpy(way->K + size * size, way->K, size * size * sizeof(double));
    memcpy(g, way->z, (size_t)sides * size * sizeof *g);
    int rank = slopes_solve_to((int)size, sides, way->K, way->z, RANK, NULL, null);
    if (rank >= 0 && rank < (int)size && !is_consistent(way, second, null, scratch)) {
        rigid_note_kink(r, "contacts that cannot all keep their state");
    }
    for (int k = 0; k < sides && rank >= 0 && rank < (int)size; k++) {
        if (!is_solved((int)size, way->K + size * size, way->z + (size_t)k * size,
                       g + (size_t)k * size)) {
            rigid_note_open(r, "contacts that slide and share a load");
        }
    }
    for (size_t i = 0; i < (size_t)sides * size; i++) {
        way->z[i] = K.given[i % size] ? 0 : -way->z[i]; /* a share depends on nothing else */
    }
    base_free(g);
    return rank < 0 ? rigid_no_memory(r) : ZW_OK;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* A way back: slopes by the end, which become those by the start; by the length; by all else. */
typedef struct side {
    double *g; /* [2 n] */
    double h;
    double *param, *number;
    double *q0, *v0, *u; /* [n] scratch */
    double sigma;
} side;

/* z . E of the numbers and the length. */
static void add_columns(const rigid_way *way, const sens_rigid *r, int second, const double *z,
                        side *to)
{
    size_t size = (size_t)(way->system->n + way->it->half[second].unknowns);
    for (int c = 0; c < 1 + r->names; c++) {
        const double *E = way->it->E[second] + (size_t)c * size;
        double sum = 0;
        for (size_t i = 0; i < size; i++) {
            sum += z[i] * E[i];
        }
        *(c == 0 ? &to->h : &to->number[c - 1]) += sum;
    }
}

static void add_spent(const rigid_way *way, const double *z, double *of_lambda)
{
    const rigid_half *half = way->it->half;
    int n = way->system->n;
    for (int b = 0; b < half[1].blocks; b++) {
        const rigid_block *it = &half[1].block[b], *was = rigid_spends(half, it);
        const double *B = half[1].B + (size_t)it->first * (size_t)n;
        for (int j = 0; j < n && was && was->mode == RIGID_HELD; j++) {
            of_lambda[was->at] += z[j] * B[j];
        }
    }
}

static rigid_slopes slopes_to(rigid_way *way, side *to)
{
    return (rigid_slopes){
        .q0 = to->q0, .v0 = to->v0, .u = to->u, .v1 = way->none, .param = to->param};
}

/* One half of all sides, whose z are there. */
static void half_back(rigid_way *way, const sens_rigid *r, int second, int sides, side *to)
{
    size_t size = (size_t)(way->system->n + way->it->half[second].unknowns);
    for (int k = 0; k < sides; k++) {
        const double *z = way->z + (size_t)k * size;
        rigid_slopes by = slopes_to(way, &to[k]);
        rigid_find_slopes(way, second, z, &by);
        to[k].sigma += by.sigma;
        add_columns(way, r, second, z, &to[k]);
    }
}

static zw_status piece_back(rigid_way *way, sens_rigid *r, int sides, side *to,
                            rigid_slopes *scratch)
{
    const rigid_record *it = way->it;
    size_t n = (size_t)way->system->n, first = n + (size_t)it->half[0].unknowns;
    size_t second = n + (size_t)it->half[1].unknowns;
    size_t wide = first > second ? first : second;
    double *of_lambda[SIDES];
    if (!rigid_way_open(way, r) ||
        !rigid_grow(&way->z, &way->z_capacity, SIDES * (first + wide) + 1)) {
        return rigid_no_memory(r);
    }
    memset(way->z, 0, (size_t)sides * second * sizeof *way->z);
    for (int k = 0; k < sides; k++) {
        memcpy(way->z + (size_t)k * second, to[k].g + n, n * sizeof *way->z);
    }
    zw_status status = solve(way, r, 1, sides, scratch);
    if (status != ZW_OK) {
        return status;
    }
    half_back(way, r, 1, sides, to);
    for (int k = 0; k < sides; k++) {
        of_lambda[k] = way->z + SIDES * wide + (size_t)k * first;
        memset(of_lambda[k], 0, first * sizeof(double));
        add_spent(way, way->z + (size_t)k * second, of_lambda[k]);
        to[k].h += back_advance(way->system, it->u, it->h, to[k].g, to[k].q0, to[k].u);
    }
    for (int k = 0; k < sides; k++) {
        double *z = way->z + (size_t)k * first;
        memcpy(z, to[k].u, n * sizeof *z);
        memcpy(z + n, of_lambda[k], (first - n) * sizeof *z);
    }
    status = solve(way, r, 0, sides, scratch);
    if (status == ZW_OK) {
        half_back(way, r, 0, sides, to);
    }
    for (int k = 0; k < sides && status == ZW_OK; k++) {
        rigid_slopes by = slopes_to(way, &to[k]);
        by.sigma = to[k].sigma;
        rigid_follow_sigma(way, &by);
        memcpy(to[k].g, to[k].q0, n * sizeof(double));
        memcpy(to[k].g + n, to[k].v0, n * sizeof(double));
    }
    return status;
}

static zw_status impact_back(rigid_way *way, sens_rigid *r, side *to, rigid_slopes *scratch)
{
    size_t n = (size_t)way->system->n, size = n + (size_t)way->it->half[0].unknowns;
    if (!rigid_way_open(way, r) || !rigid_grow(&way->z, &way->z_capacity, size + 1)) {
        return rigid_no_memory(r);
    }
    memset(way->z, 0, size * sizeof *way->z);
    memcpy(way->z, to->g + n, n * sizeof *way->z);
    memcpy(to->q0, to->g, n * sizeof(double));
    zw_status status = solve(way, r, 0, 1, scratch);
    if (status == ZW_OK) {
        half_back(way, r, 0, 1, to);
        memcpy(to->g, to->q0, n * sizeof(double));
        memcpy(to->g + n, to->v0, n * sizeof(double));
    }
    return status;
}

/* Scratch of both sides, all 0. NULL: no memory. */
static double *clear_sides(rigid_way *way, const sens_rigid *r, side to[SIDES])
{
    size_t n = (size_t)way->system->n, params = (size_t)way->system->shape.params;
    size_t each = 5 * n + params + (size_t)r->names, more = 4 * n + params;
    if (!rigid_grow(&way->numbers, &way->n_capacity, SIDES * each + more + 1)) {
        return NULL;
    }
    memset(way->numbers, 0, (SIDES * each + more) * sizeof(double));
    for (int k = 0; k < SIDES; k++) {
        double *at = way->numbers + (size_t)k * each;
        to[k] = (side){.g = at,
                       .q0 = at + 2 * n,
                       .v0 = at + 3 * n,
                       .u = at + 4 * n,
                       .param = at + 5 * n,
                       .number = at + 5 * n + params};
    }
    return way->numbers + SIDES * each;
}

/* The length of a piece that ends where something meets; or its part of what was left. */
static void follow_length(const rigid_record *it, size_t n, size_t params, int names, side *to,
                          double *rest)
{
    if (!it->hits) {
        *rest = it->part * to[0].h + (1 - it->part) * *rest;
        return;
    }
    double by = -(to[0].h - *rest) / to[1].h;
    for (size_t i = 0; i < 2 * n; i++) {
        to[0].g[i] += by * to[1].g[i];
    }
    for (size_t i = 0; i < params; i++) {
        to[0].param[i] += by * to[1].param[i];
    }
    for (int i = 0; i < names; i++) {
        to[0].number[i] += by * (to[1].number[i] + it->gap_by[i]);
    }
}

zw_status rigid_back(sens_rigid *r, double *g, double *by_param, double *by_number)
{
    rigid_way *way = r->way;
    size_t n = (size_t)r->system->n, params = (size_t)r->system->shape.params;
    double rest = 0;
    zw_status status = ZW_OK;
    way->work = r->here.work;
    way->law = rigid_is_coulomb(r);
    for (int k = rigid_tape_count(r->tape) - 1; k >= 0 && status == ZW_OK; k--) {
        side to[SIDES];
        double *more = clear_sides(way, r, to);
        if (!more) {
            return rigid_no_memory(r);
        }
        rigid_slopes scratch = {.q0 = more,
                                .v0 = more + n,
                                .u = more + 2 * n,
                                .v1 = more + 3 * n,
                                .param = more + 4 * n};
        way->it = rigid_tape_record(r->tape, k);
        memcpy(to[0].g, g, 2 * n * sizeof *g);
        if (way->it->hits) {
            memcpy(to[1].g, way->it->row, n * sizeof *g);
        }
        status = way->it->impact ? impact_back(way, r, to, &scratch)
                                 : piece_back(way, r, 1 + way->it->hits, to, &scratch);
        if (status == ZW_OK && !way->it->impact) {
            follow_length(way->it, n, params, r->names, to, &rest);
        }
        memcpy(g, to[0].g, 2 * n * sizeof *g);
        for (size_t i = 0; i < params; i++) {
            by_param[i] += to[0].param[i];
        }
        for (int i = 0; i < r->names && by_number; i++) {
            by_number[i] += to[0].number[i];
        }
    }
    return status;
}
