/* A contradiction is claimed only with a proof, and the proof is checked with the data of the
 * problem alone: no metric, no factor, no scale of the solver enters.
 *
 * Farkas. Let y be multipliers that the blocks may have, however large (y in K: any for equalities,
 * y >= 0 for inequalities, in the friction cone for cones; for boxes towards infinite limits only:
 * finite ones contradict nothing). Every admissible motion has y . (A a - b) >= 0,
 * for residuals lie in the dual cone. So with g = A' y
 *
 *     g . a >= b . y   for all admissible a,                                              (1)
 *
 * and if g = 0 but b . y > 0, there is none. In numbers g is never 0; what is asked for is
 *
 *     |g_j| <= ROUND (|A|' |y|)_j              for every coordinate j                     (2)
 *     b . y >= SURE  sum_i |y_i| (|b_i| + |A_i| |a_free|)                                 (3)
 *     y_i = 0                                  where row i has a compliance: it gives way.
 *
 * What that proves. By (1) and (2), an admissible a has
 *
 *     sum_i |y_i| |A_i| |a|  >=  b . y / ROUND :                                          (4)
 *
 * its terms in the rows of the proof are, by (3), at least SURE/ROUND = 1e5 times larger than at
 * the free motion or than b, and cancel each other to the thirteenth digit. (A contradiction of the
 * size of b itself: 1e13 times.) Said of the data: some A~ with |A~ - A| <= ROUND |A|, entry by
 * entry, has A~' y = 0 exactly, so that rows that agree with the given ones to thirteen digits do
 * contradict each other, by more than eight digits of b can be wrong. (2) is asked coordinate by
 * coordinate and not in a norm: a row of a0 >= 1, -a0 + 1e-30 a1 >= 0 is short of a1, and still a1
 * = 1e30 is a motion. g is summed in double precision, wrong by (entries in column j) eps/2
 * (|A|'|y|)_j: below ROUND up to 900 entries.
 *
 * Polish. A solver that fails leaves a candidate y with A' y small, not a proof. Close to it, in
 * relative change, is the y that cancels exactly: with the unknowns t,
 *
 *     y = sum_v t_v e_v,     minimise |t - t0|^2   subject to   (A' e_v) t = 0,           (5)
 *
 * an unknown for each row on which y acts, e_v = y_i, t0 = 1. A cone inside of which y lies has one
 * for each of its rows; one with y on its surface, one for the ray and one for each direction
 * across, a tangent plane; then y is moved to the nearest point of K again, and (5) is solved anew.
 * (5) is the projection of t0 on the null space of G = (A' e_v): G = [L 0] Q' by reflections, t = Q
 * (0, last part of Q' t0). Reflections from the right are stable row by row of G, so that g_j comes
 * out at round-off of row j of G, which is (2). Unknowns that vanish, or change their sign, are
 * left out. */
#include "gauss/dense/proof.h"

#include <math.h>
#include <string.h>

#include "gauss/rows.h"
#include "gauss/tolerances.h"
#include "math/cone.h"
#include "math/dense/dense.h"

/* Round-off: of sums, beside their terms; of a unit row of G, beside the rows before it; of an
 * unknown. SURE is what a proof gains, beside the terms of the gain. */
static const double ROUND = 1e-13, SURE = 1e-8;

/* On the surface: within this of it. */
static const double SURFACE = 1e-6;

enum { ROUNDS = 8 };

void gauss_proof_lay_out(gauss_proof *proof, base_arena *arena, int n, int m, size_t capacity)
{
    size_t columns = (size_t)n, rows = (size_t)m;
    proof->capacity = columns * rows < capacity ? columns * rows : capacity;
    proof->y = base_arena_doubles(arena, rows);
    proof->G = base_arena_doubles(arena, proof->capacity);
    proof->t = base_arena_doubles(arena, rows);
    proof->turn = base_arena_doubles(arena, rows * ZW_CONE_ROWS);
    proof->at = base_arena_ints(arena, rows);
    proof->rows = base_arena_ints(arena, rows);
    proof->order = base_arena_ints(arena, columns);
    proof->beta = base_arena_doubles(arena, columns);
    proof->distance = base_arena_doubles(arena, 2 * columns);
    proof->g = base_arena_doubles(arena, 2 * columns);
}

/* ---- The check ------------------------------------------------------------------------------- */

/* The factor that makes row i of a cone self-dual; 0: it carries no force. */
static double weight_of(const gauss_proof *proof, const zw_block *block, int i)
{
    double mu = i == 0 ? 1.0 : proof->smooth ? 0.0 : block->friction[i - 1];
    return mu < GAUSS_NO_FRICTION ? 0.0 : mu;
}

/* Self-dual r of the part y of one cone. */
static void to_self_dual(const gauss_proof *proof, const zw_block *block, const double *y,
                         double *r)
{
    for (int i = 0; i < block->rows; i++) {
        double weight = weight_of(proof, block, i);
        r[i] = weight > 0.0 ? y[i] / weight : 0.0;
    }
}

static int gives_way(const zw_gauss *problem, int at, int rows)
{
    for (int i = at; i < at + rows && problem->compliance != NULL; i++) {
        if (problem->compliance[i] > 0.0) {
            return 1;
        }
    }
    return 0;
}

/* y to the nearest point of K; nothing in rows that give way. */
static void into_cones(const zw_gauss *problem, gauss_proof *proof)
{
    for (int k = 0, at = 0; k < problem->block_count; at += problem->block[k++].rows) {
        const zw_block *block = &problem->block[k];
        double *y = proof->y + at, r[CONE_MAX];
        if (block->kind == ZW_CONE) {
            to_self_dual(proof, block, y, r);
            cone_project(block->rows, r, r);
            for (int i = 0; i < block->rows; i++) {
                y[i] = r[i] * weight_of(proof, block, i);
            }
            if (gives_way(problem, at, block->rows)) {
                memset(y, 0, (size_t)block->rows * sizeof *y);
            }
            continue;
        }
        for (int i = 0; i < block->rows; i++) {
            int box = block->kind == ZW_BOX;
            int wrong = (block->kind == ZW_INEQUALITY && !(y[i] > 0.0)) ||
                        (box && !isinf(block->limit[y[i] > 0.0]));
            y[i] = wrong || gives_way(problem, at + i, 1) ? 0.0 : y[i];
        }
    }
}

int gauss_proof_holds(const zw_gauss *problem, const double *free, gauss_proof *proof)
{
    int n = problem->n, m = gauss_row_count(problem);
    double *g = proof->g, *size = proof->g + n, gain = 0.0, terms = 0.0;
    into_cones(problem, proof);
    memset(g, 0, 2 * (size_t)n * sizeof *g);
    for (int i = 0; i < m; i++) {
        double y = proof->y[i], b = problem->b != NULL ? problem->b[i] : 0.0;
        if (y != 0.0) {
            gauss_row_add(problem, i, y, g);
            gauss_row_add_size(problem, i, y, size);
            gain += y * b;
            terms += fabs(y) * (fabs(b) + gauss_row_dot_size(problem, i, free));
        }
    }
    for (int j = 0; j < n; j++) {
        if (!(fabs(g[j]) <= ROUND * size[j])) {
            return 0;
        }
    }
    return gain > 0.0 && gain >= SURE * terms && isfinite(terms);
}

/* ---- The polish ------------------------------------------------------------------------------ */

/* One more unknown: `turn` on the rows from `at`, with the value t. */
static int add_unknown(gauss_proof *proof, int v, int at, int rows, const double *turn, double t)
{
    memcpy(proof->turn + (long)v * ZW_CONE_ROWS, turn, (size_t)rows * sizeof *turn);
    proof->at[v] = at;
    proof->rows[v] = rows;
    proof->t[v] = t;
    return v + 1;
}

/* y on the surface: the ray, and the directions across it (the reflection that takes e_1 to u). */
static int add_surface(gauss_proof *proof, const zw_block *block, int at, const double *r,
                       double length, int v)
{
    double u[CONE_MAX] = {0.0}, normal[CONE_MAX] = {0.0}, ray[CONE_MAX], square = 0.0;
    ray[0] = r[0];
    for (int i = 1; i < block->rows; i++) {
        u[i] = r[i] / length;
        ray[i] = r[0] * u[i] * weight_of(proof, block, i);
        normal[i] = u[i] + (i == 1 ? (u[1] > 0.0 ? 1.0 : -1.0) : 0.0);
        square += normal[i] * normal[i];
    }
    v = add_unknown(proof, v, at, block->rows, ray, 1.0);
    for (int column = 2; column < block->rows; column++) {
        double turn[CONE_MAX] = {0.0};
        for (int i = 1; i < block->rows; i++) {
            double part = (i == column ? 1.0 : 0.0) - 2.0 * normal[i] * normal[column] / square;
            turn[i] = r[0] * part * weight_of(proof, block, i);
        }
        v = add_unknown(proof, v, at, block->rows, turn, 0.0);
    }
    return v;
}

static int add_cone(gauss_proof *proof, const zw_block *block, int at, int v)
{
    double r[CONE_MAX] = {0.0};
    to_self_dual(proof, block, proof->y + at, r);
    double length = cone_tangent(block->rows, r);
    if (!(r[0] > 0.0)) {
        return v;
    }
    if (length > (1.0 - SURFACE) * r[0]) {
        return add_surface(proof, block, at, r, length, v);
    }
    for (int i = at; i < at + block->rows; i++) {
        if (proof->y[i] != 0.0) {
            v = add_unknown(proof, v, i, 1, proof->y + i, 1.0);
        }
    }
    return v;
}

/* The unknowns for y; their number. */
static int unknowns(const zw_gauss *problem, gauss_proof *proof)
{
    int v = 0;
    for (int k = 0, at = 0; k < problem->block_count; at += problem->block[k++].rows) {
        const zw_block *block = &problem->block[k];
        if (block->kind == ZW_CONE) {
            v = add_cone(proof, block, at, v);
            continue;
        }
        for (int i = at; i < at + block->rows; i++) {
            if (proof->y[i] != 0.0) {
                v = add_unknown(proof, v, i, 1, proof->y + i, 1.0);
            }
        }
    }
    return v;
}

/* G for `count` unknowns, a unit row for each coordinate touched; their number, -1: no room. */
static int fill(const zw_gauss *problem, gauss_proof *proof, int count)
{
    int n = problem->n, touched = 0;
    double *size = proof->g, *column = proof->g + n;
    memset(size, 0, (size_t)n * sizeof *size);
    for (int v = 0; v < count; v++) {
        for (int i = 0; i < proof->rows[v]; i++) {
            double turn = proof->turn[(long)v * ZW_CONE_ROWS + i];
            gauss_row_add_size(problem, proof->at[v] + i, turn, size);
        }
    }
    for (int j = 0; j < n; j++) {
        touched += size[j] > 0.0;
    }
    if ((size_t)touched * (size_t)count > proof->capacity) {
        return -1;
    }
    for (int v = 0; v < count; v++) {
        memset(column, 0, (size_t)n * sizeof *column);
        for (int i = 0; i < proof->rows[v]; i++) {
            double turn = proof->turn[(long)v * ZW_CONE_ROWS + i];
            gauss_row_add(problem, proof->at[v] + i, turn, column);
        }
        for (int j = 0, row = 0; j < n; j++) {
            if (size[j] > 0.0) {
                proof->G[(size_t)row++ * (size_t)count + (size_t)v] = column[j] / size[j];
            }
        }
    }
    return touched;
}

/* t becomes its projection on the null space of G. */
static void project(gauss_proof *proof, int touched, int count)
{
    for (int j = 0; j < touched; j++) {
        double *row = proof->G + (size_t)j * (size_t)count, length = dense_norm(count, row);
        dense_scale(count, length > 0.0 ? 1.0 / length : 0.0, row);
    }
    int rank = dense_lq(touched, count, proof->G, count, ROUND, proof->order, proof->beta,
                        proof->distance);
    dense_lq_apply_transposed(rank, count, proof->G, count, proof->beta, proof->t);
    memset(proof->t, 0, (size_t)rank * sizeof(double));
    dense_lq_apply(rank, count, proof->G, count, proof->beta, proof->t);
}

/* y = sum_v t_v e_v, without what has vanished. */
static void collect(const zw_gauss *problem, gauss_proof *proof, int count)
{
    memset(proof->y, 0, (size_t)gauss_row_count(problem) * sizeof(double));
    for (int v = 0; v < count; v++) {
        for (int i = 0; i < proof->rows[v] && fabs(proof->t[v]) > ROUND; i++) {
            double turn = proof->turn[(long)v * ZW_CONE_ROWS + i];
            proof->y[proof->at[v] + i] += proof->t[v] * turn;
        }
    }
}

/* Removes what is below `floor` relative to the largest part of y (in a cone: relative to its
 * normal). */
static void leave_out(const zw_gauss *problem, const double *scale, double floor,
                      gauss_proof *proof)
{
    int m = gauss_row_count(problem);
    double largest = 0.0;
    for (int i = 0; i < m; i++) {
        largest = fmax(largest, fabs(proof->y[i]) / (scale[i] > 0.0 ? scale[i] : 1.0));
    }
    for (int k = 0, at = 0; k < problem->block_count; at += problem->block[k++].rows) {
        int cone = problem->block[k].kind == ZW_CONE;
        double beside = largest;
        for (int i = at; i < at + problem->block[k].rows; i++) {
            double size = fabs(proof->y[i]) / (scale[i] > 0.0 ? scale[i] : 1.0);
            int stays = size > floor * beside;
            proof->y[i] = stays ? proof->y[i] : 0.0;
            beside = !cone || i > at ? beside : stays ? size : HUGE_VAL;
        }
    }
}

int gauss_proof_find(const zw_gauss *problem, const double *free, const double *scale,
                     gauss_proof *proof)
{
    double floor = 1e-12;
    for (int round = 0; round < ROUNDS; round++, floor = fmin(10.0 * floor, 1e-6)) {
        leave_out(problem, scale, floor, proof);
        if (gauss_proof_holds(problem, free, proof)) {
            return 1;
        }
        int count = unknowns(problem, proof), touched = count > 0 ? fill(problem, proof, count) : 0;
        if (count == 0 || touched < 0) {
            return 0;
        }
        project(proof, touched, count);
        collect(problem, proof, count);
    }
    return gauss_proof_holds(problem, free, proof);
}
