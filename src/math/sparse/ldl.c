/* The multifrontal factorisation K = L D L' with signs of the pivots known beforehand.
 *
 * Order. P K P' is factored; order_minimum_degree gives P such that every pivot exists (order.c). A
 * quasi-definite matrix (M > 0, E > 0) has the factors for any P: R. J. Vanderbei, Symmetric
 * quasidefinite matrices, SIAM J. Optim. 5 (1995) 100-113.
 *
 * Fronts. Columns of L with (nearly) the same structure, one above the other in the elimination
 * tree, form a *super* (sparse.c). With its w columns and the m rows below them it is one dense
 * lower trapezoid, [ F11  .  ]   w      L11 D L11' = F11,   L21 = F21 L11'^-1 D^-1, [ F21 F22 ]   m
 * U = F22 - L21 D L21'. F is the sum of K's entries in those columns and of the U of the super's
 * children in the tree; all rows of a child's U are columns or rows of the parent's front, at
 * places known since the analysis. Supers are numbered in postorder, so the U of the children lie
 * on top of a stack. I. S. Duff, J. K. Reid, The multifrontal solution of indefinite sparse
 * symmetric linear equations, ACM Trans. Math. Software 9 (1983) 302-325.
 *
 * Replaced pivots. The pivot of row i is made of terms whose magnitudes add up to
 *     s_i = |K_ii| + sum_k L_ik^2 |d_k|,
 * so rounding leaves about DBL_EPSILON s_i where exact arithmetic leaves zero. A pivot with
 * sign d <= floor s_i is therefore taken for zero, and sign floor s_i put in its place.
 *
 * Invariants
 * 1. Super s has columns first[s]..first[s+1]-1 in the new numbering and rows
 *    row[row_begin[s]..row_begin[s+1]) below, ascending; w and m are their numbers.
 * 2. Its panel is column-major with w + m rows and w columns; above its diagonal nothing is read.
 * 3. place[k] says for row[k] where it is in the parent's front: < w a column, else a row below.
 * 4. Every sum has an order fixed by the pattern: same numbers, same bits. Vector widths do not
 *    matter, because vector operations here never add up lanes.
 * 5. After the analysis nothing is allocated.
 *
 * Limits. A panel has at most INT_MAX numbers. L is stored with explicit zeros (sparse_ldl_stored).
 * No pivoting: the error grows with max L_ik^2 |d_k| / |K|; the caller refines. */
#include "math/sparse/ldl.h"

#include "base/memory.h"
#include "math/lane.h"
#include "math/sparse/order.h"
#include "math/sparse/sparse.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LDL_BLOCK = 32 }; /* columns that are factored before the rest of the front is updated */

/* Four numbers side by side; loads need no alignment. */
typedef double ldl_quad __attribute__((vector_size(32), aligned(8), may_alias));

struct sparse_ldl {
    int n;
    int supers;
    int entries;   /* of K, as given */
    int tallest;   /* largest w + m */
    size_t rows;   /* sum of m */
    size_t panels; /* sum of w (w + m) */
    size_t depth;  /* the stack's largest height */
    size_t fill;

    /* Pattern, made by the analysis. */
    int *perm;           /* [n] perm[new] = old */
    signed char *sign;   /* [n] +-1, new numbering */
    int *first;          /* [supers+1] invariant 1 */
    size_t *row_begin;   /* [supers+1] */
    int *row;            /* [rows] */
    int *place;          /* [rows] invariant 3 */
    size_t *panel_begin; /* [supers+1] */
    int *child;          /* [supers] first child, -1: none */
    int *sibling;        /* [supers] next child of the same parent, ascending */
    int *entry_begin;    /* [supers+1] */
    int *entry;          /* [entries] which number of K ... */
    int *slot;           /* [entries] ... adds to which place of the panel */

    /* Numbers, made by sparse_ldl_factor. */
    double *panel;           /* [panels] */
    double *d;               /* [n] new numbering */
    double *pivot;           /* [n] caller's numbering */
    unsigned char *replaced; /* [n] caller's numbering */

    /* Scratch. */
    double *size;  /* [n] s_i */
    double *front; /* [tallest] */
    double *x;     /* [n] */
    double *stack; /* [depth] */
};

/* ---- Analysis -------------------------------------------------------------------------------- */

/* Scratch of the analysis; [n] unless noted. */
typedef struct ldl_plan {
    int *perm;         /* perm[new] = old */
    int *position;     /* position[old] = new */
    int *begin, *list; /* [n+1], [entries] row lists */
    int *parent;       /* of columns */
    int *count;        /* entries of L below the diagonal of a column */
    int *mark;
    double *returned; /* of a super: the U of its children together */
    sparse_supers supers;
} ldl_plan;

static void ldl_plan_layout(ldl_plan *p, base_arena *arena, int n, int entries)
{
    size_t count = (size_t)n;
    p->perm = base_arena_ints(arena, count);
    p->position = base_arena_ints(arena, count);
    p->begin = base_arena_ints(arena, count + 1);
    p->list = base_arena_ints(arena, (size_t)entries);
    p->parent = base_arena_ints(arena, count);
    p->count = base_arena_ints(arena, count);
    p->mark = base_arena_ints(arena, count);
    p->returned = base_arena_doubles(arena, count);
    sparse_supers_layout(&p->supers, arena, n);
}

/* Sizes of all arrays of f. Returns 0 if one of them cannot be counted. */
static int ldl_measure(sparse_ldl *f, const ldl_plan *p)
{
    const sparse_supers *t = &p->supers;
    double panels = 0, height = 0, depth = 0;
    for (int s = 0; s < f->supers; s++) {
        int w = t->first[s + 1] - t->first[s], m = t->below[s], parent = t->parent[s];
        double square = (double)m * m, panel = (double)w * ((double)w + m);
        if (panel > INT_MAX) {
            return 0;
        }
        f->tallest = w + m > f->tallest ? w + m : f->tallest;
        f->rows += (size_t)m;
        panels += panel;
        depth = fmax(depth, height + square);
        height += square - p->returned[s];
        if (parent >= 0) {
            p->returned[parent] += square;
        }
    }
    f->panels = (size_t)panels;
    f->depth = (size_t)depth;
    return panels + depth + (double)f->rows < (double)(PTRDIFF_MAX / 32);
}

static void ldl_layout(sparse_ldl *f, base_arena *arena)
{
    size_t n = (size_t)f->n, supers = (size_t)f->supers, entries = (size_t)f->entries;
    (void)base_arena_bytes(arena, sizeof *f);
    f->panel = base_arena_doubles(arena, f->panels);
    f->d = base_arena_doubles(arena, n);
    f->pivot = base_arena_doubles(arena, n);
    f->size = base_arena_doubles(arena, n);
    f->x = base_arena_doubles(arena, n);
    f->front = base_arena_doubles(arena, (size_t)f->tallest);
    f->stack = base_arena_doubles(arena, f->depth);
    f->row_begin = base_arena_bytes(arena, (supers + 1) * sizeof(size_t));
    f->panel_begin = base_arena_bytes(arena, (supers + 1) * sizeof(size_t));
    f->perm = base_arena_ints(arena, n);
    f->first = base_arena_ints(arena, supers + 1);
    f->row = base_arena_ints(arena, f->rows);
    f->place = base_arena_ints(arena, f->rows);
    f->child = base_arena_ints(arena, supers);
    f->sibling = base_arena_ints(arena, supers);
    f->entry_begin = base_arena_ints(arena, supers + 1);
    f->entry = base_arena_ints(arena, entries);
    f->slot = base_arena_ints(arena, entries);
    f->sign = base_arena_bytes(arena, n);
    f->replaced = base_arena_bytes(arena, n);
}

static void ldl_fill_begins(sparse_ldl *f, const sparse_supers *t)
{
    for (int s = 0; s < f->supers; s++) {
        size_t w = (size_t)(t->first[s + 1] - t->first[s]), m = (size_t)t->below[s];
        f->first[s + 1] = t->first[s + 1];
        f->row_begin[s + 1] = f->row_begin[s] + m;
        f->panel_begin[s + 1] = f->panel_begin[s] + w * (w + m);
    }
}

static void ldl_fill_places(sparse_ldl *f, ldl_plan *p)
{
    int *at = p->mark;
    sparse_children(f->supers, p->supers.parent, f->child, f->sibling);
    for (int s = 0; s < f->supers; s++) {
        int index = 0;
        for (int j = f->first[s]; j < f->first[s + 1]; j++) {
            at[j] = index++;
        }
        for (size_t k = f->row_begin[s]; k < f->row_begin[s + 1]; k++) {
            at[f->row[k]] = index++;
        }
        for (int c = f->child[s]; c >= 0; c = f->sibling[c]) {
            for (size_t k = f->row_begin[c]; k < f->row_begin[c + 1]; k++) {
                f->place[k] = at[f->row[k]];
            }
        }
    }
}

/* Where K_ij, i >= j in the new numbering, is in the panel of j's super s. */
static int ldl_slot(const sparse_ldl *f, int s, int i, int j)
{
    int w = f->first[s + 1] - f->first[s];
    int height = w + (int)(f->row_begin[s + 1] - f->row_begin[s]);
    int local = i - f->first[s];
    if (i >= f->first[s + 1]) {
        local = w + sparse_search(height - w, f->row + f->row_begin[s], i);
    }
    return local + (j - f->first[s]) * height;
}

/* Which numbers of K go where, sorted by super, so that a front is filled while it is in the cache.
 */
static void ldl_fill_entries(sparse_ldl *f, ldl_plan *p, const int *start, const int *row)
{
    int *cursor = p->mark;
    memset(f->entry_begin, 0, sizeof(int) * ((size_t)f->supers + 1));
    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < f->n; c++) {
            for (int q = start[c]; q < start[c + 1]; q++) {
                int a = p->position[c], b = p->position[row[q]];
                int i = a > b ? a : b, j = a > b ? b : a, s = p->supers.of[j];
                if (pass == 0) {
                    f->entry_begin[s + 1]++;
                } else {
                    f->entry[cursor[s]] = q;
                    f->slot[cursor[s]++] = ldl_slot(f, s, i, j);
                }
            }
        }
        for (int s = 0; pass == 0 && s < f->supers; s++) {
            f->entry_begin[s + 1] += f->entry_begin[s];
            cursor[s] = f->entry_begin[s];
        }
    }
}

/* One block for f as measured in `shape`, with the pattern filled in. */
static sparse_ldl *ldl_build(sparse_ldl *shape, ldl_plan *p, const int *start, const int *row,
                             const signed char *sign)
{
    base_arena arena = {0};
    ldl_layout(shape, &arena);
    sparse_ldl *f = base_alloc(arena.used);
    if (f == NULL) {
        return NULL;
    }
    *f = *shape;
    arena = (base_arena){.block = (unsigned char *)f};
    ldl_layout(f, &arena);

    memcpy(f->perm, p->perm, sizeof(int) * (size_t)f->n);
    for (int i = 0; i < f->n; i++) {
        f->sign[i] = sign[p->perm[i]] < 0 ? -1 : 1;
    }
    sparse_invert(f->n, p->perm, p->position);
    sparse_row_lists(f->n, start, row, p->position, p->begin, p->list);
    ldl_fill_begins(f, &p->supers);
    sparse_supers_rows(&p->supers, f->n, p->begin, p->list, f->row_begin, f->row);
    ldl_fill_places(f, p);
    ldl_fill_entries(f, p, start, row);
    return f;
}

sparse_ldl *sparse_ldl_analyse(int n, const int *start, const int *row, const signed char *sign)
{
    if (!sparse_valid(n, start, row)) {
        return NULL;
    }
    sparse_ldl shape = {.n = n, .entries = n > 0 ? start[n] : 0}, *f = NULL;
    ldl_plan plan;
    base_arena arena = {0};
    ldl_plan_layout(&plan, &arena, n, shape.entries);
    void *block = base_alloc(arena.used);
    if (block == NULL) {
        return NULL;
    }
    arena = (base_arena){.block = block};
    ldl_plan_layout(&plan, &arena, n, shape.entries);
    if (order_minimum_degree(n, start, row, sign, plan.perm) == ORDER_OK) {
        sparse_invert(n, plan.perm, plan.position);
        sparse_row_lists(n, start, row, plan.position, plan.begin, plan.list);
        sparse_tree(n, plan.begin, plan.list, plan.parent, plan.mark);
        shape.fill = sparse_counts(n, plan.begin, plan.list, plan.parent, plan.count, plan.mark);
        sparse_supers_find(&plan.supers, n, plan.parent, plan.count, plan.perm);
        shape.supers = plan.supers.count;
        if (ldl_measure(&shape, &plan)) {
            f = ldl_build(&shape, &plan, start, row, sign);
        }
    }
    base_free(block);
    return f;
}

void sparse_ldl_free(sparse_ldl *f)
{
    base_free(f);
}

/* ---- Dense kernels of a front ---------------------------------------------------------------- */

/* y -= s x */
static inline void ldl_subtract(int n, double s, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) {
        y[i] -= s * x[i];
    }
}

/* C -= L D L' for four columns of C and k columns of L: rows 0..rows-1, of which the first four are
 * those of the C columns themselves. c, l point to row 0; the strides are those of C and L. */
ZW_CLONES static void ldl_update_four(int rows, int k, const double *l, size_t l_stride,
                                      const double *d, double *c, size_t c_stride)
{
    double s[LDL_BLOCK][4];
    for (int p = 0; p < k; p++) {
        for (int q = 0; q < 4; q++) {
            s[p][q] = d[p] * l[(size_t)p * l_stride + (size_t)q];
        }
    }
    int i = 0;
    for (; i + 4 <= rows; i += 4) {
        ldl_quad sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
        const double *a = l + i;
        for (int p = 0; p < k; p++, a += l_stride) {
            ldl_quad x = *(const ldl_quad *)a;
            sum0 += x * s[p][0];
            sum1 += x * s[p][1];
            sum2 += x * s[p][2];
            sum3 += x * s[p][3];
        }
        *(ldl_quad *)(c + i) -= sum0;
        *(ldl_quad *)(c + i + c_stride) -= sum1;
        *(ldl_quad *)(c + i + 2 * c_stride) -= sum2;
        *(ldl_quad *)(c + i + 3 * c_stride) -= sum3;
    }
    for (; i < rows; i++) {
        double sum[4] = {0};
        for (int p = 0; p < k; p++) {
            double x = l[(size_t)p * l_stride + (size_t)i];
            for (int q = 0; q < 4; q++) {
                sum[q] += x * s[p][q];
            }
        }
        for (int q = 0; q < 4; q++) {
            c[(size_t)q * c_stride + (size_t)i] -= sum[q];
        }
    }
}

/* The lower trapezoid C -= L D L': `columns` columns of C with `rows` rows, k columns of L. */
static void ldl_update(int columns, int rows, int k, const double *l, size_t l_stride,
                       const double *d, double *c, size_t c_stride)
{
    int j = 0;
    for (; j + 4 <= columns; j += 4) {
        ldl_update_four(rows - j, k, l + j, l_stride, d, c + (size_t)j * (c_stride + 1), c_stride);
    }
    for (; j < columns; j++) {
        double *column = c + (size_t)j * (c_stride + 1);
        for (int p = 0; p < k; p++) {
            const double *a = l + (size_t)p * l_stride + j;
            ldl_subtract(rows - j, d[p] * a[0], a, column);
        }
    }
}

/* ---- Factorisation --------------------------------------------------------------------------- */

/* A factorisation in progress. */
typedef struct ldl_run {
    sparse_ldl *f;
    const double *value;
    double floor;
    double unit; /* size of a pivot that is made of nothing: max |K_ij| */
    size_t top;  /* height of the stack */
    int replaced;
} ldl_run;

/* Accept or replace the pivot of column j. Returns 0 if it is not finite. */
static int ldl_pivot(ldl_run *run, int j, double d, double size)
{
    sparse_ldl *f = run->f;
    if (!isfinite(d) || !isfinite(size)) {
        return 0;
    }
    double least = run->floor * (size > 0 ? size : run->unit);
    int old = f->perm[j], bad = f->sign[j] * d <= least;
    f->d[j] = bad ? f->sign[j] * least : d;
    f->pivot[old] = f->d[j];
    f->replaced[old] = (unsigned char)bad;
    run->replaced += bad;
    return 1;
}

/* Columns from..to-1 of a panel, whose earlier columns are done and applied. size[height] collects
 * the s_i of the front's rows. */
static int ldl_factor_columns(ldl_run *run, int first, int from, int to, int height, double *panel,
                              double *size)
{
    const double *d = run->f->d + first;
    for (int j = from; j < to; j++) {
        double *column = panel + (size_t)j * (size_t)height;
        for (int p = from; p < j; p++) {
            const double *a = panel + (size_t)p * (size_t)height;
            ldl_subtract(height - j, d[p] * a[j], a + j, column + j);
        }
        if (!ldl_pivot(run, first + j, column[j], size[j])) {
            return 0;
        }
        double inverse = 1 / d[j], magnitude = fabs(d[j]);
        for (int i = j + 1; i < height; i++) {
            double x = column[i] * inverse;
            column[i] = x;
            size[i] += x * x * magnitude;
        }
    }
    return 1;
}

/* F += the children's U, which lie one after the other at `u`. */
static void ldl_add_children(const sparse_ldl *f, int s, int w, int m, const double *u,
                             double *panel, double *below)
{
    size_t rows = (size_t)m, height = (size_t)w + rows;
    for (int c = f->child[s]; c >= 0; c = f->sibling[c]) {
        const int *place = f->place + f->row_begin[c];
        int k = (int)(f->row_begin[c + 1] - f->row_begin[c]);
        for (int j = 0; j < k; j++, u += k) {
            int to = place[j];
            double *column = to < w ? panel + (size_t)to * height : below + (size_t)(to - w) * rows;
            int shift = to < w ? 0 : w;
            for (int i = j; i < k; i++) {
                column[place[i] - shift] += u[i];
            }
        }
    }
}

/* The children's U together. */
static size_t ldl_returned(const sparse_ldl *f, int s)
{
    size_t sum = 0;
    for (int c = f->child[s]; c >= 0; c = f->sibling[c]) {
        size_t k = f->row_begin[c + 1] - f->row_begin[c];
        sum += k * k;
    }
    return sum;
}

/* F = K's entries + the children's U; the s_i of its columns start with |K_ii|. */
static void ldl_assemble(const ldl_run *run, int s, int w, int m, const double *u, double *below)
{
    const sparse_ldl *f = run->f;
    double *panel = f->panel + f->panel_begin[s];
    size_t height = (size_t)w + (size_t)m;
    memset(panel, 0, sizeof(double) * (size_t)w * height);
    memset(below, 0, sizeof(double) * (size_t)m * (size_t)m);
    for (int q = f->entry_begin[s]; q < f->entry_begin[s + 1]; q++) {
        panel[f->slot[q]] += run->value[f->entry[q]];
    }
    for (int j = 0; j < w; j++) {
        f->front[j] = f->size[f->first[s] + j] + fabs(panel[(size_t)j * (height + 1)]);
    }
    memset(f->front + w, 0, sizeof(double) * (size_t)m);
    ldl_add_children(f, s, w, m, u, panel, below);
}

/* One super: assemble, factor, leave U on the stack in place of the children's. */
static int ldl_factor_super(ldl_run *run, int s)
{
    sparse_ldl *f = run->f;
    int first = f->first[s], w = f->first[s + 1] - first;
    int m = (int)(f->row_begin[s + 1] - f->row_begin[s]), height = w + m;
    size_t stride = (size_t)height, square = (size_t)m * (size_t)m;
    size_t bottom = run->top - ldl_returned(f, s);
    double *panel = f->panel + f->panel_begin[s], *below = f->stack + run->top;
    ldl_assemble(run, s, w, m, f->stack + bottom, below);

    for (int from = 0; from < w; from += LDL_BLOCK) {
        int to = from + LDL_BLOCK < w ? from + LDL_BLOCK : w;
        if (!ldl_factor_columns(run, first, from, to, height, panel, f->front)) {
            return 0;
        }
        const double *l = panel + (size_t)from * stride, *d = f->d + first + from;
        ldl_update(w - to, height - to, to - from, l + to, stride, d,
                   panel + (size_t)to * (stride + 1), stride);
        ldl_update(m, m, to - from, l + w, stride, d, below, (size_t)m);
    }

    const int *row = f->row + f->row_begin[s];
    for (int i = 0; i < m; i++) {
        f->size[row[i]] += f->front[w + i];
    }
    memmove(f->stack + bottom, below, sizeof(double) * square);
    run->top = bottom + square;
    return 1;
}

int sparse_ldl_factor(sparse_ldl *f, const double *value, double floor)
{
    ldl_run run = {.f = f, .value = value, .floor = fmax(floor, DBL_EPSILON)};
    for (int q = 0; q < f->entries; q++) {
        run.unit = fmax(run.unit, fabs(value[q]));
    }
    run.unit = run.unit > 0 ? run.unit : 1;
    memset(f->size, 0, sizeof(double) * (size_t)f->n);
    for (int s = 0; s < f->supers; s++) {
        if (!ldl_factor_super(&run, s)) {
            return -1;
        }
    }
    return run.replaced;
}

/* ---- Solution -------------------------------------------------------------------------------- */

/* x = L \ x for one super: its own columns first, what they take from the rows below in one sum. */
static void ldl_forward(const sparse_ldl *f, int s, double *x, double *t)
{
    int first = f->first[s], w = f->first[s + 1] - first;
    const int *row = f->row + f->row_begin[s];
    int m = (int)(f->row_begin[s + 1] - f->row_begin[s]), height = w + m;
    const double *column = f->panel + f->panel_begin[s];
    memcpy(t, x + first, sizeof(double) * (size_t)w);
    memset(t + w, 0, sizeof(double) * (size_t)m);
    for (int j = 0; j < w; j++, column += height) {
        ldl_subtract(height - j - 1, t[j], column + j + 1, t + j + 1);
    }
    memcpy(x + first, t, sizeof(double) * (size_t)w);
    for (int i = 0; i < m; i++) {
        x[row[i]] += t[w + i];
    }
}

/* x = L' \ (D \ x) for one super; the rows below are known. */
static void ldl_backward(const sparse_ldl *f, int s, double *x, double *t)
{
    int first = f->first[s], w = f->first[s + 1] - first;
    const int *row = f->row + f->row_begin[s];
    int m = (int)(f->row_begin[s + 1] - f->row_begin[s]), height = w + m;
    for (int i = 0; i < m; i++) {
        t[w + i] = x[row[i]];
    }
    for (int j = w - 1; j >= 0; j--) {
        const double *column = f->panel + f->panel_begin[s] + (size_t)j * (size_t)height;
        double sum[4] = {0};
        int i = j + 1;
        for (; i + 4 <= height; i += 4) {
            for (int q = 0; q < 4; q++) {
                sum[q] += column[i + q] * t[i + q];
            }
        }
        for (; i < height; i++) {
            sum[0] += column[i] * t[i];
        }
        t[j] = x[first + j] / f->d[first + j] - ((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
    memcpy(x + first, t, sizeof(double) * (size_t)w);
}

void sparse_ldl_solve(sparse_ldl *f, double *x)
{
    for (int i = 0; i < f->n; i++) {
        f->x[i] = x[f->perm[i]];
    }
    for (int s = 0; s < f->supers; s++) {
        ldl_forward(f, s, f->x, f->front);
    }
    for (int s = f->supers - 1; s >= 0; s--) {
        ldl_backward(f, s, f->x, f->front);
    }
    for (int i = 0; i < f->n; i++) {
        x[f->perm[i]] = f->x[i];
    }
}

/* ---- What is known about the factor ---------------------------------------------------------- */

const double *sparse_ldl_pivots(const sparse_ldl *f)
{
    return f->pivot;
}

const unsigned char *sparse_ldl_replaced(const sparse_ldl *f)
{
    return f->replaced;
}

size_t sparse_ldl_fill(const sparse_ldl *f)
{
    return f->fill;
}

size_t sparse_ldl_stored(const sparse_ldl *f)
{
    return f->panels;
}
