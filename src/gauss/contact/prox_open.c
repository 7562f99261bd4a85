/* The problem of prox.c in its units, on the paths of a tree: rows have length one in the metric of
 * M's diagonal. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/prox_inner.h"
#include "gauss/internal.h"
#include "math/dense/dense.h"

#define EASED (10 / PROX_WEIGHT) /* the force in a stress: two steps leave 1/k of it */

static int in_fours(int count)
{
    return (count + 3) / 4 * 4;
}

static void lay_out(gauss_prox *x, base_arena *arena)
{
    size_t n = (size_t)x->n, m = (size_t)x->m;
    double **vector[] = {&x->u,    &x->p,       &x->way,     &x->push,  &x->away,
                         &x->free, &x->unit_of, &x->inverse, &x->kept_u};
    double **rows[] = {&x->scale,  &x->b,       &x->give, &x->r,   &x->w,
                       &x->lambda, &x->moved,   &x->dw,   &x->out, &x->residual,
                       &x->before, &x->carried, &x->kept};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        *vector[i] = base_arena_doubles(arena, n + 1);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *rows[i] = base_arena_doubles(arena, m);
    }
    x->along = base_arena_doubles(arena, n + 4);
    x->across = base_arena_doubles(arena, n + 4);
    int **nodes[] = {&x->parent, &x->depth, &x->start, &x->level};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        *nodes[i] = base_arena_ints(arena, n);
    }
    x->block = base_arena_ints(arena, n + 1);
    x->column = base_arena_ints(arena, (size_t)x->columns);
    x->unit = base_arena_bytes(arena, m * sizeof *x->unit);
    x->group = base_arena_bytes(arena, m * sizeof *x->group);
    x->lower_row = base_arena_bytes(arena, n * sizeof *x->lower_row);
    x->upper_row = base_arena_bytes(arena, n * sizeof *x->upper_row);
}

/* Room for what the arena has counted. 0: no memory. */
static int make_room(const base_arena *counted, void **memory, size_t *bytes)
{
    if (counted->used > *bytes) {
        base_free(*memory);
        *bytes = 0;
        *memory = base_alloc(counted->used + counted->used / 2);
        *bytes = *memory ? counted->used + counted->used / 2 : 0;
    }
    return *memory != NULL;
}

int prox_make_room(gauss_prox *x)
{
    const int *from = x->problem->A.start;
    base_arena arena = {0};
    x->columns = 0;
    for (int k = 0; k < x->piece->block_count; k++) {
        const int *row = x->piece->first + x->piece->block[k];
        x->columns += from[row[1]] - from[row[0]];
    }
    lay_out(x, &arena);
    base_arena_bytes(&arena, 1);
    if (!make_room(&arena, &x->memory, &x->bytes)) {
        return 0;
    }
    arena = (base_arena){.block = x->memory};
    lay_out(x, &arena);
    return 1;
}

/* ---- The tree ------------------------------------------------------------------------------- */

/* Have these rows the columns of `row`? */
static int same_rows(const gauss_prox *x, int row, int from, int rows)
{
    const zw_rows *A = &x->problem->A;
    int first = A->start[row], wide = A->start[row + 1] - first, same = 1;
    for (int i = from; i < from + rows && same; i++) {
        same = A->start[i + 1] - A->start[i] == wide &&
               memcmp(A->column + A->start[i], A->column + first, (size_t)wide * sizeof(int)) == 0;
    }
    return same;
}

/* The columns of so many rows of the problem, each once and rising; `rises`: they did so there.
 * Rows of a point have the same. */
static int list_columns(const gauss_prox *x, int row, int rows, int *column, int *rises)
{
    const zw_rows *A = &x->problem->A;
    int count = 0, end = same_rows(x, row, row, rows) ? row + 1 : row + rows;
    *rises = end == row + 1;
    for (int i = row; i < end; i++) {
        for (int e = A->start[i]; e < A->start[i + 1]; e++) {
            int c = x->piece->local[A->column[e]], at = count;
            while (at > 0 && column[at - 1] > c) {
                at--;
                *rises = 0;
            }
            if (at > 0 && column[at - 1] == c) {
                continue;
            }
            for (int k = count++; k > at; k--) {
                column[k] = column[k - 1];
            }
            column[at] = c;
        }
    }
    return count;
}

/* Units with their columns, and groups of them. */
static void list_units(gauss_prox *x)
{
    const gauss_piece *piece = x->piece;
    int used = 0, last = 0; /* the first row of the current group */
    x->units = x->groups = 0;
    for (int k = 0, at = 0; k < piece->block_count; at += piece->blocks[k++].rows) {
        const zw_block *block = &piece->blocks[k];
        int step = block->kind == ZW_CONE ? block->rows : 1, from = piece->first[piece->block[k]];
        for (int i = 0; i < block->rows; i += step) {
            prox_unit *it = &x->unit[x->units];
            it->at = at + i;
            it->rows = step;
            if (x->units > 0 && same_rows(x, last, from + i, step)) {
                it->column = it[-1].column;
                it->columns = it[-1].columns;
            } else {
                it->column = x->column + used;
                it->columns = list_columns(x, from + i, step, it->column, &it->rises);
                used += it->columns;
                last = from + i;
                x->group[x->groups++] = (prox_group){.first = x->units, .at = it->at};
            }
            prox_group *group = &x->group[x->groups - 1];
            group->end = ++x->units;
            group->rows += step;
        }
    }
}

void gauss_prox_tree(const zw_metric *M, int n, const int *unknown, const int *local, int *parent)
{
    for (int i = 0; i < n; i++) {
        parent[i] = -1;
    }
    for (int i = 0; i < n && M->kind == ZW_METRIC_SPARSE; i++) {
        int j = unknown ? unknown[i] : i;
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            int r = local ? local[M->row[k]] : M->row[k];
            if (r != i) {
                paths_bend(parent, r > i ? r : i, r > i ? i : r);
            }
        }
    }
}

static void bend(gauss_prox *x)
{
    const gauss_piece *piece = x->piece;
    for (int i = 0; i < x->n && piece->parent; i++) {
        int up = piece->parent[piece->unknown[i]];
        x->parent[i] = up < 0 ? -1 : piece->local[up];
    }
    if (!piece->parent) {
        gauss_prox_tree(&x->problem->metric, x->n, piece->unknown, piece->local, x->parent);
    }
    for (int g = 0; g < x->groups; g++) {
        const prox_unit *it = &x->unit[x->group[g].first];
        for (int c = it->columns - 1; c > 0; c--) {
            paths_bend(x->parent, it->column[c], it->column[c - 1]);
        }
    }
}

static void lay_out_paths(gauss_prox *x, base_arena *arena)
{
    size_t entries = (size_t)x->shape.entries, all = 0, nodes = 0;
    for (int g = 0; g < x->groups; g++) {
        const prox_group *group = &x->group[g];
        all += (size_t)(group->rows * group->stride);
        nodes += (size_t)(group->stride);
    }
    x->M = base_arena_doubles(arena, entries);
    x->lower = base_arena_doubles(arena, entries);
    x->upper = base_arena_doubles(arena, entries);
    x->J = base_arena_doubles(arena, all + 4); /* of a row of its own four may be read */
    x->T = base_arena_doubles(arena, all + 4);
    x->path = base_arena_ints(arena, nodes);
}

int prox_open_tree(gauss_prox *x)
{
    base_arena arena = {0};
    int node = 0;
    list_units(x);
    bend(x);
    x->shape = paths_find(x->n, x->parent, x->depth, x->start, x->block);
    for (int g = 0; g < x->groups; g++) {
        prox_group *group = &x->group[g];
        const prox_unit *it = &x->unit[group->first];
        int count = it->columns;
        group->count = count < 2 ? count : x->depth[it->column[count - 1]];
        group->stride = count == 1 ? 1 : in_fours(group->count);
    }
    lay_out_paths(x, &arena);
    base_arena_bytes(&arena, 1);
    if (!make_room(&arena, &x->rows_memory, &x->rows_bytes)) {
        return 0;
    }
    arena = (base_arena){.block = x->rows_memory};
    lay_out_paths(x, &arena);
    for (int i = 0; i < x->n; i++) {
        x->level[i] = x->depth[i] - 1;
        x->lower_row[i] = x->lower + x->start[i];
        x->upper_row[i] = x->upper + x->start[i];
    }
    double *J = x->J;
    for (int g = 0; g < x->groups; g++) {
        prox_group *group = &x->group[g];
        const prox_unit *it = &x->unit[group->first];
        int d = it->columns > 0 ? it->column[it->columns - 1] : -1;
        for (int t = group->stride - 1; t >= group->count; t--) {
            x->path[node + t] = x->n; /* none */
        }
        for (int t = group->count - 1; t >= 0; t--, d = x->parent[d]) {
            x->path[node + t] = d;
        }
        group->path = x->path + node;
        group->rises = it->columns == group->count && it->rises;
        node += group->stride;
        group->J = J;
        J += group->rows * group->stride;
    }
    return 1;
}

/* ---- The problem in scaled units ------------------------------------------------------------ */

int prox_open_metric(gauss_prox *x)
{
    const zw_metric *M = &x->problem->metric;
    const gauss_piece *piece = x->piece;
    memset(x->M, 0, (size_t)x->shape.entries * sizeof *x->M);
    for (int i = 0; i < x->n; i++) {
        int j = piece->unknown[i];
        if (M->kind == ZW_METRIC_DIAGONAL) {
            x->M[x->start[i] + x->level[i]] = M->value[j];
            continue;
        }
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            int r = piece->local[M->row[k]];
            x->M[r > i ? x->start[r] + x->level[i] : x->start[i] + x->level[r]] = M->value[k];
        }
    }
    for (int i = 0; i < x->n; i++) {
        double mass = x->M[x->start[i] + x->level[i]];
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
        paths_times(&x->shape, x->M, x->free, x->p);
    }
    x->u[x->n] = x->free[x->n] = x->way[x->n] = 0;
    x->knows_before = x->knows_away = 0;
}

/* Row i of the problem at J, and the square of its length. A row that has all of the path is there
 * in its order, as columns rise; x->across are 1/units along it. */
static double put_row(const gauss_prox *x, const prox_group *group, int i, double *J)
{
    const zw_rows *A = &x->problem->A;
    const double *value = A->value + A->start[i];
    const int *column = A->column + A->start[i];
    int count = A->start[i + 1] - A->start[i], whole = count == group->count && group->rises;
    double square = 0;
    for (int c = whole ? count : 0; c < group->stride; c++) {
        J[c] = 0;
    }
    for (int e = 0; e < count && whole; e++) {
        double part = value[e] * x->across[e];
        J[e] = value[e];
        square += part * part;
    }
    for (int e = 0; e < count && !whole; e++) {
        int c = x->piece->local[column[e]];
        double part = value[e] * x->inverse[c];
        J[group->stride == 1 ? 0 : x->level[c]] = value[e];
        square += part * part;
    }
    return square;
}

/* J = scale A: the squares of the lengths first, then as work.h says. `from` is the unit's first
 * row in the problem. */
static void scale_unit(gauss_prox *x, const prox_group *group, const zw_block *block,
                       const prox_unit *it, int from)
{
    int cone = block->kind == ZW_CONE, at = it->at, stride = group->stride;
    double *J = group->J + (at - group->at) * stride, longest = 0;
    for (int i = 0; i < it->rows; i++) {
        double mu = cone && i > 0 ? block->friction[i - 1] : 1;
        double give = x->problem->compliance ? x->problem->compliance[from + i] : 0;
        double square = put_row(x, group, from + i, J + i * stride) + give;
        x->give[at + i] = give;
        x->scale[at + i] = cone ? mu : square > 0 ? 1 / sqrt(square) : 1;
        longest = fmax(longest, mu * mu * square);
    }
    double factor = cone && longest > 0 ? 1 / sqrt(longest) : 1;
    for (int i = 0; i < it->rows; i++) {
        double s = x->scale[at + i] *= factor;
        for (int c = 0; c < stride; c++) {
            J[i * stride + c] *= s;
        }
        x->b[at + i] = x->problem->b ? s * x->problem->b[from + i] : 0;
        x->give[at + i] *= s * s;
    }
}

static void take_guess(gauss_prox *x, const prox_unit *it, const double *guess, int from)
{
    for (int i = 0; i < it->rows; i++) {
        double s = x->scale[it->at + i], r = guess && s > 0 ? guess[from + i] / s : 0;
        x->r[it->at + i] = isfinite(r) && fabs(r) >= GAUSS_TRACE ? r : 0;
    }
}

int prox_open_rows(gauss_prox *x, const double *guess)
{
    const gauss_piece *piece = x->piece;
    const prox_group *group = x->group;
    prox_unit *it = x->unit;
    for (int k = 0, at = 0; k < piece->block_count; at += piece->blocks[k++].rows) {
        const zw_block *block = &piece->blocks[k];
        int end = at + block->rows, first = piece->first[piece->block[k]] - at;
        for (; it < x->unit + x->units && it->at < end; it++) {
            if (it - x->unit >= group->end || it == x->unit) {
                group = it == x->unit ? x->group : group + 1;
                for (int t = 0; t < group->count; t++) {
                    x->across[t] = x->inverse[group->path[t]];
                }
            }
            scale_unit(x, group, block, it, first + it->at);
            take_guess(x, it, guess, first + it->at);
            prox_interval(block, x->scale[it->at], it);
            it->soft = 1 / (1 + PROX_WEIGHT * x->give[it->at]);
            for (int i = 0; i < it->rows && it->rows > 1; i++) {
                if (x->give[it->at + i] > 0) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

/* ---- Rows and motions ------------------------------------------------------------------------ */

/* What a path sees of a vector, whose entry n is 0; and the other way. */
static const double *gather(const gauss_prox *x, const prox_group *group, const double *a)
{
    for (int t = 0; t < group->stride; t += 4) {
        const int *d = group->path + t;
        double *to = x->along + t;
        to[0] = a[d[0]];
        to[1] = a[d[1]];
        to[2] = a[d[2]];
        to[3] = a[d[3]];
    }
    return x->along;
}

static void scatter(const prox_group *group, const double *from, double *to)
{
    for (int t = 0; t < group->stride; t += 4) {
        const int *d = group->path + t;
        to[d[0]] += from[t];
        to[d[1]] += from[t + 1];
        to[d[2]] += from[t + 2];
        to[d[3]] += from[t + 3];
    }
}

void prox_rows_times(const gauss_prox *x, const double *a, double *y)
{
    for (int g = 0; g < x->groups; g++) {
        const prox_group *group = &x->group[g];
        if (group->stride == 1) {
            for (int r = 0; r < group->rows; r++) {
                y[group->at + r] = group->J[r] * a[group->path[0]];
            }
        } else {
            paths_rows_times(group->rows, group->stride, group->J, gather(x, group, a),
                             y + group->at);
        }
    }
}

void prox_rows_push(const gauss_prox *x, const double *f, double *to)
{
    memset(to, 0, ((size_t)x->n + 1) * sizeof *to);
    for (int g = 0; g < x->groups; g++) {
        const prox_group *group = &x->group[g];
        if (group->stride == 1) {
            for (int r = 0; r < group->rows; r++) {
                to[group->path[0]] += group->J[r] * f[group->at + r];
            }
            continue;
        }
        paths_rows_push(group->rows, group->stride, group->J, f + group->at, x->along);
        scatter(group, x->along, to);
    }
}

void prox_rows_sizes(const gauss_prox *x)
{
    memset(x->push, 0, ((size_t)x->n + 1) * sizeof *x->push);
    for (int g = 0; g < x->groups; g++) {
        const prox_group *group = &x->group[g];
        double *carried = x->carried + group->at;
        const double *moved = x->moved + group->at;
        if (group->stride == 1) {
            for (int r = 0; r < group->rows; r++) {
                carried[r] = fabs(group->J[r]) * fabs(x->u[group->path[0]]);
                x->push[group->path[0]] += fabs(group->J[r]) * fabs(moved[r]);
            }
            continue;
        }
        paths_rows_sizes(group->rows, group->stride, group->J, gather(x, group, x->u), moved,
                         carried, x->across);
        scatter(group, x->across, x->push);
    }
}

/* ---- Stress ---------------------------------------------------------------------------------- */

/* Held rows that contradict each other, as of feet on the floor and of joints that are stuck, leave
 * w = J u - b with J' w = 0: u stays, and every step adds the same -k w to r, a stress that needs
 * no force. It grows until something slides, opens or yields, after thousands of such steps; so r
 * goes there at once, as far as no unit leaves its mode. 0: none ever does, or there is a force. */
int prox_stress(gauss_prox *x)
{
    double far = HUGE_VAL;
    for (int i = 0; i < x->m; i++) {
        x->dw[i] = x->moved[i] - x->r[i];
    }
    prox_rows_push(x, x->dw, x->push);
    for (int i = 0; i < x->n; i++) {
        x->push[i] *= x->inverse[i];
    }
    if (!(dense_norm(x->n, x->push) <= EASED * dense_norm(x->m, x->dw))) {
        return 0;
    }
    for (int k = 0; k < x->units; k++) {
        const int at = x->unit[k].at;
        far = fmin(far, prox_reach(&x->unit[k], x->moved + at, x->dw + at));
    }
    for (int i = 0; i < x->m && far < HUGE_VAL; i++) {
        x->r[i] = x->moved[i] + far * x->dw[i];
    }
    return far < HUGE_VAL;
}
