/* Approximate minimum degree on the quotient graph, with the order that saddle points need.
 *
 * Eliminating a variable of a symmetric matrix joins all its neighbours. Minimum degree always
 * eliminates the one with the fewest. The joined graph is never formed: the eliminated variable p
 * becomes an *element* whose list L_p says "all of these are neighbours". A variable i has a list
 * of elements E_i and a list of variables A_i, and its neighbours are A_i and the union of L_e, e
 * in E_i.
 *
 * A step with pivot p (supervariable, |.| counts the variables inside):
 *   L_p = (A_p + union of L_e for e in E_p) - p;  every such e is inside p now and is dropped.
 *   For i in L_p:  E_i gets p, A_i loses what p covers; the degree is bounded from above by
 *       d_i = min( n - eliminated,  d_i + |L_p - i|,
 *                  |A_i - i| + |L_p - i| + sum over e in E_i - p of |L_e - L_p| ) (1) where all
 * |L_e - L_p| come from one sweep over the lists of i in L_p. e with L_e inside L_p is dropped too
 * (aggressive absorption); i without neighbours outside of p goes together with p (mass
 * elimination); i, j with equal lists are one supervariable from now on (found by a hash of the
 * lists).
 *
 * P. R. Amestoy, T. A. Davis, I. S. Duff, An approximate minimum degree ordering algorithm,
 * SIAM J. Matrix Anal. Appl. 17 (1996) 886-905.
 *
 * Saddle points. K = [M A'; A 0] with M > 0 has no pivot for a row eliminated too early. If every
 * row comes after all coordinates it acts on, then with P the coordinates and R the rows eliminated
 * so far, A_R is zero outside of P, hence the pivot of a next row r     is  - (Schur complement of
 * A M_PP^-1 A' for r in R + r)  <= 0, the pivot of a next coordinate is that of M on the motions
 * that the rows R allow       >  0, and a row's pivot is zero exactly if it depends on the rows R.
 * No values are needed to know that: only the order. So a row waits, outside of the degree lists,
 * until its coordinates are gone. A row with E > 0 of its own (sign -2) has a pivot at any time,
 * and leaves M + A' E^-1 A > 0 behind: it need not wait. R. Bridson, An ordering method for the
 * direct solution of saddle-point matrices (2007).
 *
 * Invariants
 * 1. size[i] > 0: live variable; < 0: in the list being built; 0: merged, eliminated or deferred.
 * 2. mark[e] = 0: element e is dropped. mark[e] >= flag: |L_e - L_p| = mark[e] - flag in this step.
 * 3. A live variable is in the degree lists exactly if blocked = 0 and it is not in the current
 * L_p.
 * 4. The lists never hold more than at the start: a step removes at least one entry of each list to
 *    which it adds p, and L_p is not longer than what it replaces. n places are spare for L_p.
 * 5. Coordinates and rows are never merged, nor a waiting row with a ready one.
 *
 * Limits: variables with more than 10 sqrt(n) neighbours are deferred to the end. A coordinate with
 * more than ORDER_HUB rows (a hub) is not waited for by a row that acts on others, too, because
 * otherwise all those rows would become a dense block; a row whose action on the others vanishes or
 * depends on other rows there then meets a zero pivot although it is independent. */
#include "math/sparse/order.h"

#include "base/memory.h"
#include "math/sparse/sparse.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { ORDER_HUB = 128 };

enum { TRAIT_ROW = 1, TRAIT_HUB = 2, TRAIT_ONLY_HUBS = 4, TRAIT_DEFERRED = 8 };

/* All arrays have n places but where noted. */
typedef struct order_graph {
    int n;
    int *neighbour_begin; /* [n+1] the matrix's own graph, unchanged */
    int *neighbour;       /* [2 entries] */
    int *list;            /* [2 entries + n] the lists of the quotient graph */
    int *where;           /* start of a variable's or element's list; -1: none */
    int *length;          /* its length; a variable has elements first, then variables */
    int *elements;        /* how many of a variable's list are elements */
    int *size;            /* invariant 1 */
    int *degree;          /* of a variable: bound (1); of an element: |L_e| */
    int *mark;            /* invariant 2 */
    int *head;            /* first variable of a degree */
    int *next, *prev;     /* degree lists; in a step: next in the bucket, hash */
    int *bucket;          /* first variable of a hash */
    int *member, *last;   /* chain of the variables merged into one, and its end */
    int *merged_into;     /* itself, if principal */
    int *waits;           /* of a row: coordinates that it waits for */
    int *blocked;         /* of a supervariable: members that wait */
    unsigned char *trait;
    int *perm;
    int end;         /* of the used part of list */
    int capacity;    /* of list */
    int flag;        /* invariant 2 */
    int largest;     /* of all |L_e| so far */
    int least;       /* no smaller degree is in the lists */
    int ordered;     /* how much of perm is written */
    int degree_of_p; /* |L_p| in this step */
} order_graph;

static void order_layout(order_graph *g, base_arena *arena, int n, size_t entries)
{
    size_t count = (size_t)n;
    g->neighbour_begin = base_arena_ints(arena, count + 1);
    g->neighbour = base_arena_ints(arena, 2 * entries);
    g->list = base_arena_ints(arena, 2 * entries + count);
    int **arrays[] = {&g->where, &g->length,      &g->elements, &g->size,   &g->degree, &g->mark,
                      &g->head,  &g->next,        &g->prev,     &g->bucket, &g->member, &g->last,
                      &g->waits, &g->merged_into, &g->blocked,  &g->perm};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k] = base_arena_ints(arena, count);
    }
    g->trait = base_arena_bytes(arena, count);
}

/* ---- Degree lists ---------------------------------------------------------------------------- */

static void order_list_insert(order_graph *g, int i)
{
    int d = g->degree[i], first = g->head[d];
    g->prev[i] = -1;
    g->next[i] = first;
    if (first >= 0) {
        g->prev[first] = i;
    }
    g->head[d] = i;
    if (d < g->least) {
        g->least = d;
    }
}

static void order_list_remove(order_graph *g, int i)
{
    int before = g->prev[i], after = g->next[i];
    if (after >= 0) {
        g->prev[after] = before;
    }
    if (before >= 0) {
        g->next[before] = after;
    } else {
        g->head[g->degree[i]] = after;
    }
}

/* ---- Dependencies ------------------------------------------------------------------------- */

static int order_waits_for(const order_graph *g, int row, int coordinate)
{
    int r = g->trait[row], c = g->trait[coordinate];
    return (r & TRAIT_ROW) && !(c & TRAIT_ROW) && (!(c & TRAIT_HUB) || (r & TRAIT_ONLY_HUBS));
}

/* The coordinates inside supervariable i are eliminated: rows that waited for the last one are
 * ready. All of them are in the current L_p, so they enter the degree lists at the end of this
 * step. */
static void order_release(order_graph *g, int i)
{
    if (g->trait[i] & TRAIT_ROW) {
        return;
    }
    for (int c = i; c >= 0; c = g->member[c]) {
        for (int q = g->neighbour_begin[c]; q < g->neighbour_begin[c + 1]; q++) {
            int r = g->neighbour[q];
            if (order_waits_for(g, r, c) && --g->waits[r] == 0) {
                int *into = g->merged_into;
                while (into[r] != r) {
                    into[r] = into[into[r]];
                    r = into[r];
                }
                g->blocked[r]--;
            }
        }
    }
}

static void order_find_hubs(order_graph *g, const signed char *sign)
{
    double dense = fmax(16, 10 * sqrt(g->n));
    for (int i = 0; i < g->n; i++) {
        int count = g->neighbour_begin[i + 1] - g->neighbour_begin[i];
        g->trait[i] = (unsigned char)((sign != NULL && sign[i] == -1 ? TRAIT_ROW : 0) |
                                      (count > dense ? TRAIT_DEFERRED | TRAIT_HUB : 0));
    }
    for (int i = 0; i < g->n; i++) {
        int rows = 0;
        for (int q = g->neighbour_begin[i]; q < g->neighbour_begin[i + 1]; q++) {
            rows += g->trait[g->neighbour[q]] & TRAIT_ROW;
        }
        if (rows > ORDER_HUB && !(g->trait[i] & TRAIT_ROW)) {
            g->trait[i] |= TRAIT_HUB;
        }
    }
}

/* Fill waits and blocked. A row that acts on nothing but hubs waits for them, if need be at the
 * end. */
static void order_find_waits(order_graph *g)
{
    for (int r = 0; r < g->n; r++) {
        int plain = 0, deferred = 0;
        for (int q = g->neighbour_begin[r]; q < g->neighbour_begin[r + 1]; q++) {
            int t = g->trait[g->neighbour[q]];
            plain += !(t & (TRAIT_ROW | TRAIT_HUB));
            deferred += !(t & TRAIT_ROW) && (t & TRAIT_DEFERRED);
        }
        if ((g->trait[r] & TRAIT_ROW) && plain == 0) {
            g->trait[r] |= TRAIT_ONLY_HUBS;
            if (deferred > 0) {
                g->trait[r] |= TRAIT_DEFERRED;
            }
        }
        g->waits[r] = 0;
        for (int q = g->neighbour_begin[r]; q < g->neighbour_begin[r + 1]; q++) {
            g->waits[r] += order_waits_for(g, r, g->neighbour[q]);
        }
        g->blocked[r] = g->waits[r] > 0;
    }
}

static void order_begin(order_graph *g)
{
    int n = g->n;
    g->end = g->neighbour_begin[n];
    memcpy(g->list, g->neighbour, sizeof(int) * (size_t)g->end);
    g->flag = 2;
    g->least = n;
    for (int i = 0; i < n; i++) {
        g->head[i] = g->bucket[i] = g->member[i] = -1;
        g->last[i] = g->merged_into[i] = i;
        g->where[i] = g->neighbour_begin[i];
        g->length[i] = g->neighbour_begin[i + 1] - g->neighbour_begin[i];
        g->elements[i] = 0;
        g->mark[i] = 1;
        g->size[i] = !(g->trait[i] & TRAIT_DEFERRED);
    }
    for (int i = 0; i < n; i++) {
        if (g->size[i] == 0) {
            g->where[i] = -1;
            continue;
        }
        g->degree[i] = 0;
        for (int q = g->neighbour_begin[i]; q < g->neighbour_begin[i + 1]; q++) {
            g->degree[i] += g->size[g->neighbour[q]];
        }
        if (g->blocked[i] == 0) {
            order_list_insert(g, i);
        }
    }
}

/* ---- One step -------------------------------------------------------------------------------- */

/* Move all lists to the front. The first entry of each list changes places with its owner's name,
 * written as a negative number, so that one sweep meets the lists in their order. */
static void order_compact(order_graph *g)
{
    for (int i = 0; i < g->n; i++) {
        if (g->where[i] >= 0 && g->length[i] > 0) {
            int at = g->where[i];
            g->where[i] = g->list[at];
            g->list[at] = -1 - i;
        }
    }
    int to = 0;
    for (int from = 0; from < g->end;) {
        if (g->list[from] >= 0) {
            from++;
            continue;
        }
        int i = -1 - g->list[from], length = g->length[i];
        g->list[to] = g->where[i];
        g->where[i] = to;
        memmove(g->list + to + 1, g->list + from + 1, sizeof(int) * (size_t)(length - 1));
        to += length;
        from += length;
    }
    g->end = to;
}

/* Append those of list[from..to) that are live and new to L_p, which ends at g->end. */
static void order_gather(order_graph *g, int from, int to)
{
    for (int q = from; q < to; q++) {
        int i = g->list[q], size = g->size[i];
        if (size > 0) {
            g->degree_of_p += size;
            g->size[i] = -size;
            if (g->blocked[i] == 0) {
                order_list_remove(g, i);
            }
            g->list[g->end++] = i;
        }
    }
}

/* L_p at the end of the lists; p and the elements it absorbs lose theirs. */
static void order_make_element(order_graph *g, int p)
{
    if (g->end > g->capacity - g->n) {
        order_compact(g);
    }
    int begin = g->end, from = g->where[p], variables = from + g->elements[p];
    g->degree_of_p = 0;
    g->size[p] = -g->size[p];
    for (int q = from; q < variables; q++) {
        int e = g->list[q];
        if (g->mark[e] != 0) {
            order_gather(g, g->where[e], g->where[e] + g->length[e]);
            g->where[e] = -1;
            g->mark[e] = 0;
        }
    }
    order_gather(g, variables, from + g->length[p]);
    g->where[p] = begin;
    g->length[p] = g->end - begin;
}

/* mark[e] = flag + |L_e - L_p| for all elements e that meet L_p. */
static void order_measure_overlaps(order_graph *g, int p)
{
    for (int q = g->where[p]; q < g->end; q++) {
        int i = g->list[q], size = -g->size[i];
        for (int k = g->where[i]; k < g->where[i] + g->elements[i]; k++) {
            int e = g->list[k];
            if (g->mark[e] >= g->flag) {
                g->mark[e] -= size;
            } else if (g->mark[e] != 0) {
                g->mark[e] = g->degree[e] + g->flag - size;
            }
        }
    }
}

static void order_emit(order_graph *g, int i)
{
    for (int k = i; k >= 0; k = g->member[k]) {
        g->perm[g->ordered++] = k;
    }
}

static void order_eliminate_with(order_graph *g, int i)
{
    g->degree_of_p += g->size[i]; /* size is negative here */
    g->size[i] = 0;
    g->where[i] = -1;
    order_emit(g, i);
    order_release(g, i);
}

/* New lists, degree and hash for i in L_p. */
static void order_update_variable(order_graph *g, int p, int i)
{
    int first = g->where[i], variables = first + g->elements[i], end = first + g->length[i];
    int to = first, degree = 0;
    unsigned hash = 0;
    for (int k = first; k < variables; k++) {
        int e = g->list[k], outside = g->mark[e] - g->flag;
        if (g->mark[e] != 0 && outside > 0) {
            degree += outside;
            hash += (unsigned)e;
            g->list[to++] = e;
        } else if (g->mark[e] != 0) { /* L_e is inside L_p */
            g->mark[e] = 0;
            g->where[e] = -1;
        }
    }
    int elements = to - first;
    for (int k = variables; k < end; k++) {
        int j = g->list[k];
        if (g->size[j] > 0) {
            degree += g->size[j];
            hash += (unsigned)j;
            g->list[to++] = j;
        }
    }
    if (degree == 0 && to == first && g->blocked[i] == 0) {
        order_eliminate_with(g, i);
        return;
    }
    /* p comes first: the first variable and the first element make room. */
    g->list[to] = g->list[first + elements];
    g->list[first + elements] = g->list[first];
    g->list[first] = p;
    g->elements[i] = elements + 1;
    g->length[i] = to - first + 1;
    g->degree[i] = degree < g->degree[i] ? degree : g->degree[i];
    int key = (int)((hash + (unsigned)p) % (unsigned)g->n);
    g->prev[i] = key;
    g->next[i] = g->bucket[key];
    g->bucket[key] = i;
}

/* Is j's list that of i, whose entries are marked with flag? */
static int order_same_list(const order_graph *g, int i, int j)
{
    if (g->length[i] != g->length[j] || g->elements[i] != g->elements[j] ||
        ((g->trait[i] ^ g->trait[j]) & TRAIT_ROW) || (g->blocked[i] > 0) != (g->blocked[j] > 0)) {
        return 0;
    }
    for (int k = g->where[j] + 1; k < g->where[j] + g->length[j]; k++) {
        if (g->mark[g->list[k]] != g->flag) {
            return 0;
        }
    }
    return 1;
}

static void order_merge(order_graph *g, int i, int j)
{
    g->size[i] += g->size[j];
    g->size[j] = 0;
    g->where[j] = -1;
    g->blocked[i] += g->blocked[j];
    g->merged_into[j] = i;
    g->member[g->last[i]] = j;
    g->last[i] = g->last[j];
}

/* Make one variable of those in L_p whose lists are equal. */
static void order_merge_alike(order_graph *g, int p)
{
    for (int q = g->where[p]; q < g->end; q++) {
        if (g->size[g->list[q]] == 0) {
            continue;
        }
        int key = g->prev[g->list[q]], i = g->bucket[key];
        g->bucket[key] = -1;
        for (; i >= 0 && g->next[i] >= 0; i = g->next[i]) {
            for (int k = g->where[i] + 1; k < g->where[i] + g->length[i]; k++) {
                g->mark[g->list[k]] = g->flag;
            }
            for (int before = i, j = g->next[i]; j >= 0; j = g->next[j]) {
                if (order_same_list(g, i, j)) {
                    order_merge(g, i, j);
                    g->next[before] = g->next[j];
                } else {
                    before = j;
                }
            }
            g->flag++;
        }
    }
}

/* L_p keeps its live variables; their degrees are complete; those that wait for nothing are listed.
 */
static void order_finish_element(order_graph *g, int p)
{
    int to = g->where[p], left = g->n - g->ordered;
    for (int q = g->where[p]; q < g->end; q++) {
        int i = g->list[q], size = -g->size[i];
        if (size == 0) {
            continue;
        }
        g->size[i] = size;
        int degree = g->degree[i] + g->degree_of_p - size;
        g->degree[i] = degree < left - size ? degree : left - size;
        if (g->blocked[i] == 0) {
            order_list_insert(g, i);
        }
        g->list[to++] = i;
    }
    g->end = to;
    g->length[p] = to - g->where[p];
    g->degree[p] = g->degree_of_p;
    g->size[p] = 0;
    g->mark[p] = g->length[p] > 0;
    if (g->length[p] == 0) {
        g->where[p] = -1;
    }
}

/* A flag above every mark: all marks of this step are below flag + largest. */
static void order_new_flag(order_graph *g)
{
    if (g->flag < INT_MAX - 3 * g->largest - 3 && g->flag < INT_MAX / 2) {
        g->flag += g->largest + 1;
        return;
    }
    for (int i = 0; i < g->n; i++) {
        g->mark[i] = g->mark[i] != 0;
    }
    g->flag = 2;
}

static void order_step(order_graph *g)
{
    while (g->head[g->least] < 0) {
        g->least++;
    }
    int p = g->head[g->least];
    order_list_remove(g, p);
    order_emit(g, p);
    order_make_element(g, p);
    order_release(g, p);
    if (g->degree_of_p > g->largest) {
        g->largest = g->degree_of_p;
    }
    order_measure_overlaps(g, p);
    for (int q = g->where[p]; q < g->end; q++) {
        order_update_variable(g, p, g->list[q]);
    }
    order_new_flag(g);
    order_merge_alike(g, p);
    order_finish_element(g, p);
    order_new_flag(g);
}

/* ---- The orderings --------------------------------------------------------------------------- */

static void order_run(order_graph *g, const signed char *sign)
{
    order_find_hubs(g, sign);
    order_find_waits(g);
    order_begin(g);
    int deferred = 0;
    for (int i = 0; i < g->n; i++) {
        deferred += (g->trait[i] & TRAIT_DEFERRED) != 0;
    }
    while (g->ordered < g->n - deferred) {
        order_step(g);
    }
    for (int rows = 0; rows <= TRAIT_ROW; rows++) {
        for (int i = 0; i < g->n; i++) {
            if ((g->trait[i] & TRAIT_DEFERRED) && (g->trait[i] & TRAIT_ROW) == rows) {
                g->perm[g->ordered++] = i;
            }
        }
    }
}

int order_minimum_degree(int n, const int *start, const int *row, const signed char *sign,
                         int *perm)
{
    if (n == 0) {
        return ORDER_OK;
    }
    if (start[n] > (INT_MAX - n) / 2) {
        return ORDER_TOO_LARGE;
    }
    size_t entries = (size_t)start[n];
    order_graph g = {.n = n, .capacity = 2 * start[n] + n};
    base_arena arena = {0};
    order_layout(&g, &arena, n, entries);
    void *block = base_alloc(arena.used);
    if (block == NULL) {
        return ORDER_NO_MEMORY;
    }
    arena = (base_arena){.block = block};
    order_layout(&g, &arena, n, entries);
    sparse_adjacency(n, start, row, g.neighbour_begin, g.neighbour, g.mark);
    order_run(&g, sign);
    memcpy(perm, g.perm, sizeof(int) * (size_t)n);
    base_free(block);
    return ORDER_OK;
}
