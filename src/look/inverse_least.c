/* The least of all forces with the same effect.
 *
 * A force F = A' x is wanted, x being multipliers of rows within what their kinds admit: any number
 * (equality), not negative (inequality), a cone, a box. Where the rows depend on each other there
 * are many; of those
 *
 *     minimise   1/2 sum w_r x_r^2      subject to   A' x = F,   x admitted
 *
 * is unique: w is 1 for motors and REACTION for all else. It is a problem of Gauss's form once
 * more, in the unknowns x with the metric diag(w): A' x = F are equalities (some redundant, all
 * consistent), x_r >= 0 is a row of the unit matrix, and x in a cone with friction mu is the
 * condition "residual in the dual of the cone with friction 1/mu" on the unit matrix. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/inverse.h"
#include "math/dense/dense.h"

#define REACTION 1e-8
enum {
    MOST = 4000000
}; /* numbers of A up to which the rank is determined; beyond, it is unknown */

typedef struct least {
    const zw_gauss *from; /* rows x come from these */
    int n, rows;
    int blocks, m, entries; /* of the new problem */
    zw_block *block;
    int *start, *column;
    double *value, *b, *weight;
    void *memory;
} least;

/* Entry by entry: row r, column i, value. */
static int entries_of(const zw_gauss *g, int r)
{
    return g->A.dense ? g->n : g->A.start[r + 1] - g->A.start[r];
}

static double entry_of(const zw_gauss *g, int r, int k, int *column)
{
    if (g->A.dense) {
        *column = k;
        return g->A.dense[(size_t)r * (size_t)g->n + (size_t)k];
    }
    *column = g->A.column[g->A.start[r] + k];
    return g->A.value[g->A.start[r] + k];
}

/* *choices: the number of redundant rows; if A is larger than MOST, a lower bound of it. */
static zw_status dependent(const zw_gauss *g, int rows, int *choices, zw_error *error)
{
    size_t n = (size_t)g->n, m = (size_t)rows;
    *choices = rows > g->n ? rows - g->n : 0;
    if (n * m > MOST || m == 0 || n == 0) {
        return ZW_OK;
    }
    double *A = base_alloc((n * m + 4 * m + n) * sizeof *A);
    int *order = base_alloc(m * sizeof *order);
    if (!A || !order) {
        base_free(A);
        base_free(order);
        return base_no_memory(error);
    }
    for (int r = 0; r < rows; r++) {
        double *to = A + (size_t)r * n;
        memset(to, 0, n * sizeof *to);
        for (int k = 0; k < entries_of(g, r); k++) {
            int i;
            double x = entry_of(g, r, k, &i);
            to[i] += x;
        }
        double size = dense_norm(g->n, to);
        dense_scale(g->n, size > 0 ? 1 / size : 0, to);
    }
    *choices = rows - dense_lq(rows, g->n, A, g->n, 1e-10, order, A + n * m, A + n * m + m + n);
    base_free(A);
    base_free(order);
    return ZW_OK;
}

/* ---- The problem ---------------------------------------------------------------------------- */

static void lay_out(least *s, base_arena *arena, int blocks)
{
    size_t m = (size_t)s->m, rows = (size_t)s->rows;
    s->block = base_arena_bytes(arena, (size_t)blocks * sizeof *s->block);
    s->start = base_arena_ints(arena, m + 1);
    s->column = base_arena_ints(arena, (size_t)s->entries);
    s->value = base_arena_doubles(arena, (size_t)s->entries);
    s->b = base_arena_doubles(arena, m);
    s->weight = base_arena_doubles(arena, rows);
}

/* A unit row: x_r times sign, against b. */
static void add_unit(least *s, int r, double sign, double b)
{
    int at = s->start[s->m];
    s->column[at] = r;
    s->value[at] = sign;
    s->b[s->m] = b;
    s->start[++s->m] = at + 1;
}

/* A' x = F. */
static void add_sums(least *s, const double *F)
{
    const zw_gauss *g = s->from;
    memset(s->start, 0, ((size_t)s->n + 1) * sizeof *s->start);
    for (int pass = 0; pass < 2; pass++) {
        for (int r = 0; r < s->rows; r++) {
            for (int k = 0; k < entries_of(g, r); k++) {
                int i;
                double x = entry_of(g, r, k, &i);
                if (x == 0) {
                    continue;
                }
                if (pass == 1) {
                    s->column[s->start[i]] = r;
                    s->value[s->start[i]] = x;
                }
                s->start[pass == 0 ? i + 1 : i]++;
            }
        }
        if (pass == 0) {
            for (int i = 0; i < s->n; i++) {
                s->start[i + 1] += s->start[i];
            }
        }
    }
    memmove(s->start + 1, s->start, (size_t)s->n * sizeof *s->start);
    s->start[0] = 0;
    memcpy(s->b, F, (size_t)s->n * sizeof *s->b);
    s->m = s->n;
    s->block[s->blocks++] = (zw_block){.kind = ZW_EQUALITY, .rows = s->n};
}

static void add_cone(least *s, const zw_block *block, int row)
{
    zw_block cone = {.kind = ZW_CONE, .rows = 1};
    for (int r = 1; r < block->rows; r++) {
        if (!(block->friction[r - 1] > 0)) {
            add_unit(s, row + r, 1, 0);
            s->block[s->blocks++] = (zw_block){.kind = ZW_EQUALITY, .rows = 1};
        }
    }
    add_unit(s, row, 1, 0);
    for (int r = 1; r < block->rows; r++) {
        if (block->friction[r - 1] > 0) {
            add_unit(s, row + r, 1, 0);
            cone.friction[cone.rows++ - 1] = 1 / block->friction[r - 1];
        }
    }
    s->block[s->blocks++] = cone;
}

static void add_admitted(least *s, const zw_block *block, int row)
{
    if (block->kind == ZW_CONE) {
        add_cone(s, block, row);
        return;
    }
    for (int r = row; r < row + block->rows && block->kind != ZW_EQUALITY; r++) {
        int box = block->kind == ZW_BOX;
        for (int side = 0; side <= box; side++) {
            double end = box ? block->limit[side] : 0;
            if (isfinite(end)) {
                double sign = side ? -1 : 1;
                add_unit(s, r, sign, sign * end);
                s->block[s->blocks++] = (zw_block){.kind = ZW_INEQUALITY, .rows = 1};
            }
        }
    }
}

/* The most that there can be. */
static zw_status allocate(least *s, zw_error *error)
{
    base_arena arena = {0};
    int units = 2 * s->rows;
    s->m = s->n + units;
    s->entries = units;
    for (int r = 0; r < s->rows; r++) {
        s->entries += entries_of(s->from, r);
    }
    lay_out(s, &arena, 1 + units);
    s->memory = base_alloc(arena.used + 1);
    if (!s->memory) {
        return base_no_memory(error);
    }
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena, 1 + units);
    return ZW_OK;
}

static void push(const zw_gauss *g, int rows, const double *lambda, double *F)
{
    memset(F, 0, (size_t)g->n * sizeof *F);
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < entries_of(g, r); k++) {
            int i;
            double x = entry_of(g, r, k, &i);
            F[i] += x * lambda[r];
        }
    }
}

/* Does x give F? */
static int gives(const least *s, const double *x, const double *F, double *scratch)
{
    double far = 0;
    push(s->from, s->rows, x, scratch);
    for (int i = 0; i < s->n; i++) {
        far = fmax(far, fabs(scratch[i] - F[i]));
    }
    return far <= 1e-9 * (1 + dense_largest(s->n, F));
}

static zw_status solve(least *s, const double *F, double *scratch, double *lambda, int *found,
                       zw_error *error)
{
    zw_motion motion = {0};
    const zw_gauss problem = {.n = s->rows,
                              .metric = {.kind = ZW_METRIC_DIAGONAL, .value = s->weight},
                              .block_count = s->blocks,
                              .block = s->block,
                              .A = {.start = s->start, .column = s->column, .value = s->value},
                              .b = s->b};
    const zw_gauss_options options = {.contact = ZW_CONTACT_CONVEX, .algebra = ZW_ALGEBRA_DENSE};
    zw_gauss_work *work = zw_gauss_work_create(&problem, &options, error);
    if (!work) {
        return error && error->status ? error->status : ZW_NO_MEMORY;
    }
    zw_status status = zw_gauss_solve(&problem, &options, work, &motion, NULL);
    int near = status == ZW_OK || (status == ZW_INACCURATE && motion.certificate.worst < 1e-7);
    *found = near && gives(s, motion.a, F, scratch);
    if (*found) {
        memcpy(lambda, motion.a, (size_t)s->rows * sizeof *lambda);
    }
    zw_gauss_work_free(work);
    return ZW_OK;
}

zw_status inverse_least(const system_solver *solver, int first, int acts, double *lambda,
                        int *choices, int *found, zw_error *error)
{
    const zw_gauss *g = &solver->problem;
    least s = {.from = g, .n = g->n, .rows = solver->rows + solver->tail};
    zw_status status = dependent(g, s.rows, choices, error);
    *found = 1;
    if (status != ZW_OK || *choices == 0) {
        return status;
    }
    *found = 0;
    if (g->law || (double)s.rows * s.rows > MOST) {
        return ZW_OK;
    }
    double *F = base_alloc((2 * (size_t)g->n + 1) * sizeof *F);
    status = F ? allocate(&s, error) : base_no_memory(error);
    if (status == ZW_OK) {
        push(g, s.rows, lambda, F);
        add_sums(&s, F);
        for (int k = 0, row = 0; k < g->block_count; row += g->block[k++].rows) {
            add_admitted(&s, &g->block[k], row);
        }
        for (int r = 0; r < s.rows; r++) {
            s.weight[r] = r >= first && r < first + acts ? 1 : REACTION;
        }
        status = solve(&s, F, F + g->n, lambda, found, error);
    }
    base_free(F);
    base_free(s.memory);
    return status;
}
