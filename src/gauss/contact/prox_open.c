/* The problem of prox.c in its units: rows have length one in the metric of M's diagonal. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/prox_inner.h"
#include "gauss/internal.h"
#include "math/dense/dense.h"

static void lay_out(gauss_prox *x, base_arena *arena)
{
    size_t wide = (size_t)x->wide, m = (size_t)x->m;
    double **vector[] = {&x->u,    &x->p,    &x->way,     &x->push,
                         &x->away, &x->free, &x->unit_of, &x->inverse};
    double **rows[] = {&x->scale, &x->b,  &x->give, &x->r,        &x->w,      &x->lambda,
                       &x->moved, &x->dw, &x->out,  &x->residual, &x->before, &x->carried};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        *vector[i] = base_arena_doubles(arena, wide);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *rows[i] = base_arena_doubles(arena, m);
    }
    x->J = base_arena_doubles(arena, m * wide);
    x->T = base_arena_doubles(arena, CONE_MAX * wide);
    x->M = base_arena_doubles(arena, wide * wide);
    x->H = base_arena_doubles(arena, wide * wide);
    x->U = base_arena_doubles(arena, wide * wide);
    x->column = base_arena_ints(arena, x->entries);
    x->unit = base_arena_bytes(arena, m * sizeof *x->unit);
}

int prox_make_room(gauss_prox *x)
{
    base_arena arena = {0};
    lay_out(x, &arena);
    if (arena.used > x->bytes) {
        base_free(x->memory);
        x->bytes = 0;
        x->memory = base_alloc(arena.used + arena.used / 2);
        if (!x->memory) {
            return 0;
        }
        x->bytes = arena.used + arena.used / 2;
    }
    arena = (base_arena){.block = x->memory};
    lay_out(x, &arena);
    return 1;
}

/* ---- The problem in scaled units ------------------------------------------------------------ */

static void zeros(double *x, int count)
{
    for (int i = 0; i < count; i++) {
        x[i] = 0;
    }
}

int prox_open_metric(gauss_prox *x)
{
    const zw_metric *M = &x->problem->metric;
    const gauss_piece *piece = x->piece;
    zeros(x->M, x->n * x->wide);
    for (int i = 0; i < x->n; i++) {
        int j = piece->unknown[i];
        if (M->kind == ZW_METRIC_DIAGONAL) {
            x->M[i * x->wide + i] = M->value[j];
            continue;
        }
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            int r = piece->local[M->row[k]];
            x->M[i * x->wide + r] = x->M[r * x->wide + i] = M->value[k];
        }
    }
    for (int i = 0; i < x->n; i++) {
        double mass = x->M[i * x->wide + i];
        if (!(mass > 0)) {
            return 0;
        }
        x->unit_of[i] = sqrt(mass);
        x->inverse[i] = 1 / x->unit_of[i];
    }
    return 1;
}

void prox_open_motion(gauss_prox *x, const double *start)
{
    const zw_gauss *problem = x->problem;
    int rest = x->wide - x->n;
    double *padded[] = {x->u, x->p, x->way, x->push, x->away, x->free, x->unit_of, x->inverse};
    for (size_t i = 0; i < sizeof padded / sizeof *padded; i++) {
        zeros(padded[i] + x->n, rest);
    }
    for (int i = 0; i < x->n; i++) {
        int j = x->piece->unknown[i];
        if (problem->force) {
            x->p[i] = problem->force[j];
            x->free[i] = x->p[i] * x->inverse[i] * x->inverse[i]; /* as certificate.c has it */
        } else {
            x->free[i] = problem->free[j];
        }
        x->u[i] = start ? start[j] : x->free[i];
    }
    if (!problem->force) {
        dense_lines_times(x->n, x->wide, x->M, x->free, x->p);
    }
}

/* J = scale A: the squares of the lengths first, then as work.h says. `from` is the block's first
 * row in the problem, `at` here. */
static void scale_block(gauss_prox *x, const zw_block *block, int from, int at)
{
    const zw_rows *A = &x->problem->A;
    int cone = block->kind == ZW_CONE;
    double longest = 0;
    for (int i = 0; i < block->rows; i++) {
        double mu = cone && i > 0 ? block->friction[i - 1] : 1, *J = x->J + (at + i) * x->wide;
        double give = x->problem->compliance ? x->problem->compliance[from + i] : 0;
        zeros(J, x->wide);
        for (int e = A->start[from + i]; e < A->start[from + i + 1]; e++) {
            J[x->piece->local[A->column[e]]] = A->value[e];
        }
        double square = dense_square(x->wide, J, x->inverse) + give;
        x->give[at + i] = give;
        x->scale[at + i] = cone ? mu : square > 0 ? 1 / sqrt(square) : 1;
        longest = fmax(longest, mu * mu * square);
    }
    double factor = cone && longest > 0 ? 1 / sqrt(longest) : 1;
    for (int i = 0; i < block->rows; i++) {
        double s = x->scale[at + i] *= factor, *J = x->J + (at + i) * x->wide;
        for (int j = 0; j < x->wide; j++) {
            J[j] *= s;
        }
        x->b[at + i] = x->problem->b ? s * x->problem->b[from + i] : 0;
        x->give[at + i] *= s * s;
    }
}

/* The columns of so many rows of the problem, each once. Rows of a point have the same. */
static int list_columns(const gauss_prox *x, int row, int rows, int *column)
{
    const zw_rows *A = &x->problem->A;
    int first = A->start[row], count = A->start[row + 1] - first;
    for (int e = 0; e < count; e++) {
        column[e] = x->piece->local[A->column[first + e]];
    }
    for (int i = row + 1; i < row + rows; i++) {
        int start = A->start[i], wide = A->start[i + 1] - start;
        size_t bytes = (size_t)wide * sizeof(int);
        if (wide == A->start[row + 1] - first &&
            memcmp(A->column + start, A->column + first, bytes) == 0) {
            continue;
        }
        for (int e = start; e < start + wide; e++) {
            int c = x->piece->local[A->column[e]], known = 0;
            for (int a = 0; a < count; a++) {
                known |= column[a] == c;
            }
            column[count] = c;
            count += !known;
        }
    }
    return count;
}

int prox_open_rows(gauss_prox *x, const double *guess)
{
    const gauss_piece *piece = x->piece;
    int at_entry = 0;
    x->units = 0;
    for (int k = 0, at = 0; k < piece->block_count; at += piece->blocks[k++].rows) {
        const zw_block *block = &piece->blocks[k];
        int step = block->kind == ZW_CONE ? block->rows : 1, from = piece->first[piece->block[k]];
        scale_block(x, block, from, at);
        for (int i = at; i < at + block->rows; i += step) {
            prox_unit *it = &x->unit[x->units++];
            it->at = i;
            it->rows = step;
            prox_interval(block, x->scale[i], it);
            it->soft = 1 / (1 + PROX_WEIGHT * x->give[i]);
            it->column = x->column + at_entry;
            it->columns = list_columns(x, from + i - at, step, it->column);
            at_entry += it->columns;
        }
        for (int i = 0; i < block->rows; i++) {
            double s = x->scale[at + i], r = guess && s > 0 ? guess[from + i] / s : 0;
            x->r[at + i] = isfinite(r) && fabs(r) >= GAUSS_TRACE ? r : 0;
            if (step > 1 && x->give[at + i] > 0) {
                return 0;
            }
        }
    }
    return 1;
}
