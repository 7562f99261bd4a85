/* Products of blocks of rows with vectors, and their contributions to H.
 *
 * Rows of J are as long as their columns, rounded up to a multiple of four, with zeros at the end.
 * Blocks that share their columns, such as the points of one body on the floor, are a group: their
 * rows are contiguous and processed together. */
#include <string.h>

#include "math/four.h"
#include "system/soft/soft.h"

void soft_along(const soft_problem *s, int block, const double *a, int ahead)
{
    soft_block *k = &s->block[block];
    const int *column = s->column + k->column;
    double *y = s->scratch, *x = y + k->stride;
    int rows = 0;
    if (k->held) {
        soft_deep_along(s, k, s->system->tree->at.A, ahead ? k->move : k->x);
        return;
    }
    if (k->columns == 1 && k->width == 1) {
        (ahead ? k->move : k->x)[0] = s->value[k->J] * a[column[0]];
        return;
    }
    four_put(y + k->stride - 4, (zw_real4){0}); /* the last may be padding */
    for (int c = 0; c < k->columns; c++) {
        y[c] = a[column[c]];
    }
    for (int i = 0; i < k->group; i++) {
        rows += k[i].width;
    }
    paths_rows_times(rows, k->stride, s->value + k->J, y, x);
    for (int i = 0; i < k->group; i++) {
        double *to = ahead ? k[i].move : k[i].x;
        for (int r = 0; r < k[i].width; r++) {
            to[r] = *x++;
        }
    }
}

void soft_push(const soft_problem *s, int block, int rest, double *to)
{
    const soft_block *k = &s->block[block];
    const int *column = s->column + k->column;
    double *y = s->scratch, *f = y + k->stride;
    int rows = 0, state = 0;
    for (int i = 0; i < k->group; i++) {
        const double *own = rest ? k[i].now.rest : k[i].now.force;
        state |= k[i].now.state;
        for (int r = 0; r < k[i].width; r++) {
            f[rows++] = own[r];
        }
    }
    if (state == 0) {
        return;
    }
    if (k->held) {
        soft_deep_push(s, k, f);
        return;
    }
    if (k->columns == 1 && k->width == 1) {
        to[column[0]] += f[0] * s->value[k->J];
        return;
    }
    four_put(y + k->stride - 4, (zw_real4){0}); /* the last may be padding */
    for (int c = 0; c < k->columns; c++) {
        y[c] = to[column[c]];
    }
    paths_rows_add(rows, k->stride, s->value + k->J, f, y);
    for (int c = 0; c < k->columns; c++) {
        to[column[c]] = y[c];
    }
}

/* w = C J of one block; width is a constant where this is inlined, if it is 3. */
ZW_INLINE void weigh(const soft_block *k, const int width, const double *J, double *w)
{
    int stride = k->stride;
    for (int r = 0; r < width; r++, w += stride) {
        double own[SOFT_WIDE];
        for (int q = 0; q < width; q++) {
            own[q] = k->now.C[r > q ? r * (r + 1) / 2 + q : q * (q + 1) / 2 + r];
        }
        for (int c = 0; c < stride; c += 4) {
            zw_real4 sum = own[0] * four_at(J + c);
            for (int q = 1; q < width; q++) {
                sum += own[q] * four_at(J + q * stride + c);
            }
            four_put(w + c, sum);
        }
    }
}

/* The rows of J with their columns at the positions in rows of H, and zeros between them. Returns
 * the length of a row. */
static int spread(const soft_problem *s, const soft_block *k, int rows, double *to)
{
    const int *column = s->column + k->column;
    const double *J = s->value + k->J;
    int gap = (s->level[column[k->columns - 1]] + 4) / 4 * 4;
    memset(to, 0, (size_t)(rows * gap) * sizeof *to);
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < k->columns; c++) {
            to[r * gap + s->level[column[c]]] = J[r * k->stride + c];
        }
    }
    return gap;
}

ZW_CLONES static void stiffen(const soft_problem *s, const soft_block *k)
{
    const double *J = s->value + k->J;
    double *w = s->scratch;
    int rows = 0, gap = k->stride;
    for (int i = 0; i < k->group; i++) {
        if (k[i].width == 3) {
            weigh(k + i, 3, J + rows * k->stride, w + rows * k->stride);
        } else {
            weigh(k + i, k[i].width, J + rows * k->stride, w + rows * k->stride);
        }
        rows += k[i].width;
    }
    if (!k->whole) {
        gap = spread(s, k, rows, w + rows * k->stride);
        J = w + rows * k->stride;
    }
    paths_fold(rows, k->columns, s->column + k->column, J, gap, w, k->stride, s->row, s->level);
}

void soft_stiffen(const soft_problem *s, int block)
{
    const soft_block *k = &s->block[block];
    int column = s->column[k->column], any = k->kind == SOFT_MASS;
    for (int i = 0; i < k->group; i++) {
        any |= k[i].now.state != 0;
    }
    if (any && k->columns == 1 && k->width == 1) {
        double J = s->value[k->J];
        s->row[column][s->level[column]] += J * k->now.C[0] * J;
    } else if (any) {
        stiffen(s, k);
    }
}
