/* What blocks of rows do to vectors and to H.
 *
 * Rows of J are as long as their columns, rounded up to a multiple of four, with zeros at the end.
 * Blocks that share their columns, as the points of one body on the floor, are a group: their rows
 * stand behind each other, and are worked on together. */
#include <string.h>

#include "system/soft/soft.h"
#include "system/soft/soft_four.h"

ZW_CLONES static void multiply(const double *J, int rows, int stride, const double *y, double *x)
{
    for (int r = 0; r < rows; r++, J += stride) {
        soft_four sum = four_at(J) * four_at(y);
        for (int c = 4; c < stride; c += 4) {
            sum += four_at(J + c) * four_at(y + c);
        }
        x[r] = four_sum(sum);
    }
}

void soft_along(const soft_problem *s, int block, const double *a, int ahead)
{
    soft_block *k = &s->block[block];
    const int *column = s->column + k->column;
    double *y = s->room, *x = y + k->stride;
    int rows = 0;
    if (k->held) {
        soft_deep_along(s, k, s->system->tree->at.A, ahead ? k->move : k->x);
        return;
    }
    if (k->columns == 1 && k->width == 1) {
        (ahead ? k->move : k->x)[0] = s->value[k->J] * a[column[0]];
        return;
    }
    four_put(y + k->stride - 4, (soft_four){0}); /* the last may be nobody's */
    for (int c = 0; c < k->columns; c++) {
        y[c] = a[column[c]];
    }
    for (int i = 0; i < k->group; i++) {
        rows += k[i].width;
    }
    multiply(s->value + k->J, rows, k->stride, y, x);
    for (int i = 0; i < k->group; i++) {
        double *to = ahead ? k[i].move : k[i].x;
        for (int r = 0; r < k[i].width; r++) {
            to[r] = *x++;
        }
    }
}

ZW_CLONES static void add_rows(const double *J, int rows, int stride, const double *f, double *y)
{
    for (int c = 0; c < stride; c += 4) {
        soft_four sum = f[0] * four_at(J + c);
        for (int r = 1; r < rows; r++) {
            sum += f[r] * four_at(J + r * stride + c);
        }
        four_put(y + c, sum);
    }
}

void soft_push(const soft_problem *s, int block, int rest, double *to)
{
    const soft_block *k = &s->block[block];
    const int *column = s->column + k->column;
    double *y = s->room, *f = y + k->stride;
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
    add_rows(s->value + k->J, rows, k->stride, f, y);
    for (int c = 0; c < k->columns; c++) {
        to[column[c]] += y[c];
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
            soft_four sum = own[0] * four_at(J + c);
            for (int q = 1; q < width; q++) {
                sum += own[q] * four_at(J + q * stride + c);
            }
            four_put(w + c, sum);
        }
    }
}

/* 4 * parts numbers of a row of H: rows of J and w stand gap and stride apart; parts is a constant
 * where this is inlined. */
ZW_INLINE void add_part(const int rows, int gap, int stride, const double *J, const double *w,
                        const int parts, double *to)
{
    soft_four sum[4];
    for (int p = 0; p < parts; p++) {
        sum[p] = four_at(to + 4 * p);
    }
    for (int r = 0; r < rows; r++, J += gap, w += stride) {
        for (int p = 0; p < parts; p++) {
            sum[p] += *w * four_at(J + 4 * p);
        }
    }
    for (int p = 0; p < parts; p++) {
        four_put(to + 4 * p, sum[p]);
    }
}

/* A row of H, up to its place `last`: sixteen at once. */
ZW_INLINE void add_row(const int rows, int gap, int stride, int last, const double *J,
                       const double *w, double *to)
{
    for (int c = 0; c <= last; c += 16) {
        switch ((last - c) / 4) {
        case 0:
            add_part(rows, gap, stride, J + c, w, 1, to + c);
            break;
        case 1:
            add_part(rows, gap, stride, J + c, w, 2, to + c);
            break;
        case 2:
            add_part(rows, gap, stride, J + c, w, 3, to + c);
            break;
        default:
            add_part(rows, gap, stride, J + c, w, 4, to + c);
            break;
        }
    }
}

ZW_INLINE void add_all(const soft_problem *s, const soft_block *k, const int rows, int gap,
                       const double *J, const double *w)
{
    const int *column = s->column + k->column;
    for (int t = 0; t < k->columns; t++) {
        add_row(rows, gap, k->stride, s->level[column[t]], J, w + t, s->row[column[t]]);
    }
}

/* The rows of J with their columns at the places that these have in rows of H, zeros between them.
 * Answers the length of a row. */
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
    double *w = s->room;
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
    switch (rows) { /* one point, two, more */
    case 3:
        add_all(s, k, 3, gap, J, w);
        break;
    case 6:
        add_all(s, k, 6, gap, J, w);
        break;
    default:
        add_all(s, k, rows, gap, J, w);
        break;
    }
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
