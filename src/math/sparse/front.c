/* The multifrontal factorisation H = L U by blocks.
 *
 * As in ldl.c, from which the analysis is: nodes whose columns of L have (nearly) the same
 * structure form a super, and with the nodes below it one dense front
 *
 *     [ F11  F12 ]  w       F11 = L11 U11,  U12 = L11 \ F12,  L21 = F21 / U11,
 *     [ F21  F22 ]  m       and F22 - L21 U12 goes to the parent's front,
 *
 * only that the tree, the order and the supers are those of nodes, so that the analysis costs what
 * bodies cost and not what their speeds cost, and that H may lack symmetry, as the slopes of
 * Coulomb's law do. Rows are exchanged inside F11 only, where the pivot of the diagonal is less
 * than TENTH of the largest in its column.
 *
 * Invariants
 * 1. Super s has nodes first[s]..first[s+1]-1 in the new numbering and the nodes
 *    row[row_begin[s]..row_begin[s+1]) below, ascending. w and m count numbers, not nodes.
 * 2. [F11 F12] is at top[s], by rows; F21 at low[s], by rows. Strides leave eight numbers behind a
 *    row, so that vectors may run over its end.
 * 3. place[k] is where the numbers of node row[k] begin in the parent's front.
 * 4. Every sum has an order fixed by the pattern; no vector operation adds up lanes but lane_sum8:
 *    same numbers, same bits. */
#include "math/sparse/front.h"

#include "math/sparse/front_dense.h"

#include "base/memory.h"
#include "math/sparse/order.h"
#include "math/sparse/sparse.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

struct front {
    int nodes, supers, entries;
    int tallest;            /* largest w + m */
    size_t rows;            /* nodes below, of all supers */
    size_t unknowns, count; /* numbers in the panels */
    size_t depth;           /* of the stack */

    unsigned char *table, *pad, *plan; /* memory: what the analysis makes; numbers; its scratch */
    size_t table_capacity, pad_capacity, plan_capacity;

    int *perm;         /* [nodes] perm[new] = old */
    int *size;         /* [nodes] new numbering */
    size_t *at;        /* [nodes + 1] first unknown, new numbering */
    size_t *old_at;    /* [nodes + 1] the same, of the node's old place, new numbering */
    int *first;        /* [supers + 1] */
    size_t *row_begin; /* [supers + 1] */
    int *row, *place;  /* [rows] */
    int *child, *sibling;
    front_super *super;
    front_spot *diagonal;      /* [nodes] old numbering */
    front_spot *lower, *upper; /* [entries] */

    double *panel;  /* [count] */
    double *stack;  /* [depth] */
    double *x;      /* [unknowns] */
    double *buffer; /* [tallest + 8] */
    int *pivot;     /* [unknowns] local row that came to this place */
};

front *front_create(void)
{
    return base_alloc(sizeof(front));
}

void front_free(front *f)
{
    if (f) {
        base_free(f->table);
        base_free(f->pad);
        base_free(f->plan);
        base_free(f);
    }
}

/* ---- Analysis ------------------------------------------------------------------------------- */

/* Scratch of the analysis; [nodes] unless noted. */
typedef struct front_plan {
    int *perm, *position;
    int *begin, *list; /* [nodes + 1], [entries] row lists */
    int *parent, *count, *mark;
    double *returned; /* of a super: what its children leave on the stack */
    sparse_supers supers;
} front_plan;

static void plan_layout(front_plan *p, base_arena *arena, int nodes, int entries)
{
    size_t n = (size_t)nodes;
    p->perm = base_arena_ints(arena, n);
    p->position = base_arena_ints(arena, n);
    p->begin = base_arena_ints(arena, n + 1);
    p->list = base_arena_ints(arena, (size_t)entries);
    p->parent = base_arena_ints(arena, n);
    p->count = base_arena_ints(arena, n);
    p->mark = base_arena_ints(arena, n);
    p->returned = base_arena_doubles(arena, n);
    sparse_supers_layout(&p->supers, arena, nodes);
}

static void table_layout(front *f, base_arena *arena)
{
    size_t n = (size_t)f->nodes, supers = (size_t)f->supers, entries = (size_t)f->entries;
    f->perm = base_arena_ints(arena, n);
    f->size = base_arena_ints(arena, n);
    f->at = base_arena_bytes(arena, (n + 1) * sizeof(size_t));
    f->old_at = base_arena_bytes(arena, (n + 1) * sizeof(size_t));
    f->first = base_arena_ints(arena, supers + 1);
    f->row_begin = base_arena_bytes(arena, (supers + 1) * sizeof(size_t));
    f->row = base_arena_ints(arena, f->rows);
    f->place = base_arena_ints(arena, f->rows);
    f->child = base_arena_ints(arena, supers);
    f->sibling = base_arena_ints(arena, supers);
    f->super = base_arena_bytes(arena, supers * sizeof *f->super);
    f->diagonal = base_arena_bytes(arena, n * sizeof *f->diagonal);
    f->lower = base_arena_bytes(arena, entries * sizeof *f->lower);
    f->upper = base_arena_bytes(arena, entries * sizeof *f->upper);
    f->x = base_arena_doubles(arena, f->unknowns);
    f->pivot = base_arena_ints(arena, f->unknowns);
}

/* *block has at least this many bytes; what was in it is lost. */
static int front_reserve(unsigned char **block, size_t *capacity, size_t need)
{
    if (need > *capacity) {
        base_free(*block);
        *capacity = 0;
        *block = base_alloc(need + need / 4);
        *capacity = *block ? need + need / 4 : 0;
    }
    return *block != NULL;
}

/* Sizes of the supers and their numbers; 0: too large. */
static int front_measure(front *f, front_plan *p)
{
    const sparse_supers *t = &p->supers;
    double height = 0, depth = 0, numbers = 0;
    f->count = f->depth = f->unknowns = 0;
    f->tallest = 0;
    for (int i = 0; i < f->nodes; i++) {
        f->at[i] = f->unknowns;
        f->unknowns += (size_t)f->size[i];
    }
    f->at[f->nodes] = f->unknowns;
    memset(p->returned, 0, sizeof(double) * (size_t)f->nodes);
    for (int s = 0; s < f->supers; s++) {
        front_super *z = &f->super[s];
        int below = 0, parent = t->parent[s];
        for (size_t k = f->row_begin[s]; k < f->row_begin[s + 1]; k++) {
            below += f->size[f->row[k]];
        }
        *z = (front_super){.x = f->at[f->first[s]], .m = below, .top = f->count};
        z->w = (int)(f->at[f->first[s + 1]] - z->x);
        z->top_stride = front_whole8((size_t)(z->w + z->m)) + 8;
        z->low_stride = front_whole8((size_t)z->w) + 8;
        z->low = z->top + (size_t)z->w * z->top_stride;
        f->count = z->low + (size_t)z->m * z->low_stride;
        numbers += (double)z->w * (double)z->top_stride + (double)z->m * (double)z->low_stride;
        f->tallest = z->w + z->m > f->tallest ? z->w + z->m : f->tallest;
        double square = (double)z->m * (double)front_whole8((size_t)z->m);
        depth = fmax(depth, height + square);
        height += square - p->returned[s];
        if (parent >= 0) {
            p->returned[parent] += square;
        }
        if (numbers + depth > (double)(PTRDIFF_MAX / 64)) {
            return 0;
        }
    }
    f->depth = (size_t)depth + 8;
    return 1;
}

/* Where the numbers of node i begin in the front of super s; it is there. */
static int front_local(const front *f, int s, int i, const int *offset)
{
    if (i < f->first[s + 1]) {
        return (int)(f->at[i] - f->super[s].x);
    }
    int count = (int)(f->row_begin[s + 1] - f->row_begin[s]);
    return offset[f->row_begin[s] + (size_t)sparse_search(count, f->row + f->row_begin[s], i)];
}

/* place[k] first says where row[k] begins in the front of its own super, for the spots; then where
 * in the parent's. */
static void front_spots(front *f, const front_plan *p, const int *start, const int *row)
{
    for (int s = 0; s < f->supers; s++) {
        int local = f->super[s].w;
        for (size_t k = f->row_begin[s]; k < f->row_begin[s + 1]; k++) {
            f->place[k] = local;
            local += f->size[f->row[k]];
        }
    }
    for (int c = 0; c < f->nodes; c++) {
        int j = p->position[c];
        const front_super *z = &f->super[p->supers.of[j]];
        size_t local = f->at[j] - z->x;
        f->diagonal[c] = (front_spot){z->top + local * z->top_stride + local, z->top_stride};
    }
    for (int c = 0; c < f->nodes; c++) {
        for (int q = start[c]; q < start[c + 1]; q++) {
            int a = p->position[row[q]], b = p->position[c];
            int i = a > b ? a : b, j = a > b ? b : a, s = p->supers.of[j];
            const front_super *z = &f->super[s];
            size_t li = (size_t)front_local(f, s, i, f->place), lj = f->at[j] - z->x;
            front_spot right = {z->top + lj * z->top_stride + li, z->top_stride};
            front_spot below = {z->top + li * z->top_stride + lj, z->top_stride};
            if (li >= (size_t)z->w) {
                below =
                    (front_spot){z->low + (li - (size_t)z->w) * z->low_stride + lj, z->low_stride};
            }
            f->lower[q] = a > b ? below : right;
            f->upper[q] = a > b ? right : below;
        }
    }
}

static void front_places(front *f, front_plan *p)
{
    int *at = p->mark;
    sparse_children(f->supers, p->supers.parent, f->child, f->sibling);
    for (int s = 0; s < f->supers; s++) {
        int index = 0;
        for (int j = f->first[s]; j < f->first[s + 1]; j++) {
            at[j] = index;
            index += f->size[j];
        }
        for (size_t k = f->row_begin[s]; k < f->row_begin[s + 1]; k++) {
            at[f->row[k]] = index;
            index += f->size[f->row[k]];
        }
        for (int c = f->child[s]; c >= 0; c = f->sibling[c]) {
            for (size_t k = f->row_begin[c]; k < f->row_begin[c + 1]; k++) {
                f->place[k] = at[f->row[k]];
            }
        }
    }
}

/* The tables, for the plan as it is. */
static int front_build(front *f, front_plan *p, const int *size, const int *start, const int *row)
{
    const sparse_supers *t = &p->supers;
    f->supers = t->count;
    f->rows = f->unknowns = 0;
    for (int s = 0; s < t->count; s++) {
        f->rows += (size_t)t->below[s];
    }
    for (int i = 0; i < f->nodes; i++) {
        f->unknowns += (size_t)size[i];
    }
    base_arena arena = {0};
    table_layout(f, &arena);
    if (!front_reserve(&f->table, &f->table_capacity, arena.used)) {
        return 0;
    }
    arena = (base_arena){.block = f->table};
    table_layout(f, &arena);
    sparse_invert(f->nodes, p->perm, p->position);
    size_t at = 0;
    for (int i = 0; i < f->nodes; i++) {
        f->perm[i] = p->perm[i];
        f->size[i] = size[p->perm[i]];
        f->old_at[p->position[i]] = at;
        at += (size_t)size[i];
    }
    f->first[0] = 0;
    f->row_begin[0] = 0;
    for (int s = 0; s < f->supers; s++) {
        f->first[s + 1] = t->first[s + 1];
        f->row_begin[s + 1] = f->row_begin[s] + (size_t)t->below[s];
    }
    sparse_row_lists(f->nodes, start, row, p->position, p->begin, p->list);
    sparse_supers_rows(&p->supers, f->nodes, p->begin, p->list, f->row_begin, f->row);
    if (!front_measure(f, p)) {
        return 0;
    }
    front_spots(f, p, start, row);
    front_places(f, p);
    return 1;
}

static void pad_layout(front *f, base_arena *arena)
{
    f->panel = base_arena_doubles(arena, f->count + 8);
    f->stack = base_arena_doubles(arena, f->depth);
    f->buffer = base_arena_doubles(arena, (size_t)f->tallest + 8);
}

int front_analyse(front *f, int nodes, const int *size, const int *start, const int *row)
{
    front_plan plan;
    base_arena arena = {0};
    f->nodes = nodes;
    f->entries = nodes > 0 ? start[nodes] : 0;
    plan_layout(&plan, &arena, nodes, f->entries);
    if (!front_reserve(&f->plan, &f->plan_capacity, arena.used)) {
        return 0;
    }
    arena = (base_arena){.block = f->plan};
    plan_layout(&plan, &arena, nodes, f->entries);
    if (order_minimum_degree(nodes, start, row, NULL, plan.perm) != ORDER_OK) {
        return 0;
    }
    sparse_invert(nodes, plan.perm, plan.position);
    sparse_row_lists(nodes, start, row, plan.position, plan.begin, plan.list);
    sparse_tree(nodes, plan.begin, plan.list, plan.parent, plan.mark);
    (void)sparse_counts(nodes, plan.begin, plan.list, plan.parent, plan.count, plan.mark);
    plan.supers.grain = nodes > 0 ? size[0] : 1;
    sparse_supers_find(&plan.supers, nodes, plan.parent, plan.count, plan.perm);
    if (!front_build(f, &plan, size, start, row)) {
        return 0;
    }
    arena = (base_arena){0};
    pad_layout(f, &arena);
    if (!front_reserve(&f->pad, &f->pad_capacity, arena.used)) {
        return 0;
    }
    arena = (base_arena){.block = f->pad};
    pad_layout(f, &arena);
    return 1;
}

front_blocks front_where(const front *f)
{
    return (front_blocks){f->panel, f->diagonal, f->lower, f->upper};
}

void front_clear(front *f)
{
    memset(f->panel, 0, (f->count + 8) * sizeof(double));
}

/* ---- Factorisation -------------------------------------------------------------------------- */

static size_t front_square(const front_super *z)
{
    return (size_t)z->m * front_whole8((size_t)z->m);
}

/* F += what the children left, one behind the other at u. */
static void front_children(const front *f, int s, const double *u, double *rest)
{
    const front_super *z = &f->super[s];
    double *top = f->panel + z->top, *low = f->panel + z->low;
    size_t w = (size_t)z->w, rs = front_whole8((size_t)z->m);
    for (int c = f->child[s]; c >= 0; c = f->sibling[c]) {
        size_t us = front_whole8((size_t)f->super[c].m), from = f->row_begin[c],
               to = f->row_begin[c + 1];
        for (size_t k = from; k < to; k++) {
            for (int r = 0; r < f->size[f->row[k]]; r++, u += us) {
                size_t i = (size_t)f->place[k] + (size_t)r, at = 0;
                double *left = i < w ? top + i * z->top_stride : low + (i - w) * z->low_stride;
                double *right = i < w ? left : rest + (i - w) * rs - w;
                for (size_t q = from; q < to; q++) {
                    size_t j = (size_t)f->place[q];
                    double *y = (j < w ? left : right) + j;
                    int n = f->size[f->row[q]];
                    for (int e = 0; e < n; e++) {
                        y[e] += u[at + (size_t)e];
                    }
                    at += (size_t)n;
                }
            }
        }
    }
}

int front_factor(front *f)
{
    size_t top = 0;
    for (int s = 0; s < f->supers; s++) {
        const front_super *z = &f->super[s];
        size_t returned = 0, square = front_square(z);
        for (int c = f->child[s]; c >= 0; c = f->sibling[c]) {
            returned += front_square(&f->super[c]);
        }
        double *u = f->stack + (top - returned), *rest = f->stack + top;
        memset(rest, 0, square * sizeof *rest);
        front_children(f, s, u, rest);
        if (!front_dense(z, f->panel + z->top, f->panel + z->low, f->pivot + z->x, rest)) {
            return 0;
        }
        memmove(u, rest, square * sizeof *rest);
        top = top - returned + square;
    }
    return 1;
}

/* ---- Solution ------------------------------------------------------------------------------- */

/* The numbers below super s: into t, or taken from x. */
static void front_below(const front *f, int s, double *t, int take)
{
    for (size_t k = f->row_begin[s]; k < f->row_begin[s + 1]; k++) {
        int i = f->row[k], n = f->size[i];
        double *x = f->x + f->at[i];
        for (int e = 0; e < n; e++) {
            if (take) {
                x[e] -= t[e];
            } else {
                t[e] = x[e];
            }
        }
        t += n;
    }
}

/* The nodes' numbers from their old places to the new, or back. */
static void front_carry(const front *f, double *x, int back)
{
    for (int i = 0; i < f->nodes; i++) {
        double *new = f->x + f->at[i], *old = x + f->old_at[i];
        memcpy(back ? old : new, back ? new : old, (size_t)f->size[i] * sizeof *x);
    }
}

void front_solve(front *f, double *x)
{
    front_carry(f, x, 0);
    double *t = f->buffer;
    for (int s = 0; s < f->supers; s++) {
        const front_super *z = &f->super[s];
        memcpy(t, f->x + z->x, (size_t)z->w * sizeof *t);
        front_forward(z, f->panel, f->pivot + z->x, t);
        memcpy(f->x + z->x, t, (size_t)z->w * sizeof *t);
        front_below(f, s, t + z->w, 1);
    }
    for (int s = f->supers - 1; s >= 0; s--) {
        const front_super *z = &f->super[s];
        memcpy(t, f->x + z->x, (size_t)z->w * sizeof *t);
        front_below(f, s, t + z->w, 0);
        front_backward(z, f->panel, t);
        memcpy(f->x + z->x, t, (size_t)z->w * sizeof *t);
    }
    front_carry(f, x, 1);
}
