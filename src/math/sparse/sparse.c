/* Patterns of sparse symmetric matrices.
 *
 * The elimination tree. When column k of K is eliminated, its neighbours below become neighbours of
 * each other. Let parent(k) be the first of them. Then
 *     struct(L_k) without parent(k)  is contained in  struct(L_parent(k)),                      (1)
 * so the parents form a forest, and row i of L is nonzero exactly at the nodes on the tree paths
 * that lead from each j with K_ij != 0, j < i, up to i: the *row subtree* of i. (2) Liu finds the
 * parents by (2), row by row: climb from j to the root of what is known so far and hang that root
 * below i; the climb is shortened by letting every node passed point to i directly. With the tree,
 * counting is walking each row subtree once.
 *
 * J. W. H. Liu, The role of elimination trees in sparse factorization,
 * SIAM J. Matrix Anal. Appl. 11 (1990) 134-172.
 *
 * Supers. A child column set of w1 columns may join its parent's w2 columns with m2 rows below: by
 * (1) the joint trapezoid has w1 + w2 columns and the same m2 rows below, and some explicit zeros.
 * What costs no zeros is joined always (the fundamental supernodes are among it), and more if the
 * zeros are a small share: chains have tiny columns, for which zeros cost less than a front of
 * their own. C. Ashcraft, R. Grimes, The influence of relaxed supernode partitions on the
 * multifrontal method, ACM Trans. Math. Software 15 (1989) 291-309.
 *
 * Invariants
 * 1. parent[j] > j or parent[j] = -1.
 * 2. No order of a result depends on anything but the order of the input.
 *
 * Limits: sparse_counts takes time O(|L|), not O(|K|) (Gilbert, Ng and Peyton have a faster way);
 * the factorisation that follows takes more than |L| operations anyway. */
#include "math/sparse/sparse.h"

#include <string.h>

int sparse_valid(int n, const int *start, const int *row)
{
    if (n < 0 || (n > 0 && start[0] != 0)) {
        return 0;
    }
    for (int j = 0; j < n; j++) {
        if (start[j + 1] < start[j]) {
            return 0;
        }
    }
    int entries = n > 0 ? start[n] : 0;
    for (int p = 0; p < entries; p++) {
        if (row[p] < 0 || row[p] >= n) {
            return 0;
        }
    }
    return 1;
}

void sparse_multiply(int n, const int *start, const int *row, const double *value, const double *x,
                     double *y)
{
    for (int i = 0; i < n; i++) {
        y[i] = 0;
    }
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int p = start[j]; p < start[j + 1]; p++) {
            int i = row[p];
            sum += value[p] * x[i];
            if (i != j) {
                y[i] += value[p] * x[j];
            }
        }
        y[j] += sum;
    }
}

/* Turn counts in begin[1..n] into starts, and use begin[i+1] as the cursor of list i: after all
 * entries are placed the cursors have become the starts of the next lists. */
static void sparse_counts_to_cursors(int n, int *begin)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int count = begin[i + 1];
        begin[i + 1] = sum;
        sum += count;
    }
}

static void sparse_remove_repeated(int n, int *begin, int *list, int *mark)
{
    for (int i = 0; i < n; i++) {
        mark[i] = -1;
    }
    int kept = 0;
    for (int i = 0; i < n; i++) {
        int from = begin[i];
        begin[i] = kept;
        for (int p = from; p < begin[i + 1]; p++) {
            int j = list[p];
            if (mark[j] != i) {
                mark[j] = i;
                list[kept++] = j;
            }
        }
    }
    begin[n] = kept;
}

void sparse_adjacency(int n, const int *start, const int *row, int *begin, int *list, int *mark)
{
    for (int i = 0; i <= n; i++) {
        begin[i] = 0;
    }
    for (int j = 0; j < n; j++) {
        for (int p = start[j]; p < start[j + 1]; p++) {
            if (row[p] != j) {
                begin[j + 1]++;
                begin[row[p] + 1]++;
            }
        }
    }
    sparse_counts_to_cursors(n, begin);
    for (int j = 0; j < n; j++) {
        for (int p = start[j]; p < start[j + 1]; p++) {
            int i = row[p];
            if (i != j) {
                list[begin[j + 1]++] = i;
                list[begin[i + 1]++] = j;
            }
        }
    }
    sparse_remove_repeated(n, begin, list, mark);
}

void sparse_row_lists(int n, const int *start, const int *row, const int *position, int *begin,
                      int *list)
{
    for (int i = 0; i <= n; i++) {
        begin[i] = 0;
    }
    for (int c = 0; c < n; c++) {
        for (int p = start[c]; p < start[c + 1]; p++) {
            int a = position[c], b = position[row[p]];
            if (a != b) {
                begin[(a > b ? a : b) + 1]++;
            }
        }
    }
    sparse_counts_to_cursors(n, begin);
    for (int c = 0; c < n; c++) {
        for (int p = start[c]; p < start[c + 1]; p++) {
            int a = position[c], b = position[row[p]];
            if (a != b) {
                list[begin[(a > b ? a : b) + 1]++] = a > b ? b : a;
            }
        }
    }
}

void sparse_tree(int n, const int *begin, const int *list, int *parent, int *ancestor)
{
    for (int i = 0; i < n; i++) {
        parent[i] = -1;
        ancestor[i] = -1;
        for (int p = begin[i]; p < begin[i + 1]; p++) {
            int j = list[p];
            while (j != -1 && j < i) {
                int above = ancestor[j];
                ancestor[j] = i;
                if (above == -1) {
                    parent[j] = i;
                }
                j = above;
            }
        }
    }
}

size_t sparse_counts(int n, const int *begin, const int *list, const int *parent, int *count,
                     int *mark)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++) {
        count[i] = 0;
        mark[i] = i;
        for (int p = begin[i]; p < begin[i + 1]; p++) {
            for (int j = list[p]; mark[j] != i; j = parent[j]) {
                mark[j] = i;
                count[j]++;
                sum++;
            }
        }
    }
    return sum;
}

void sparse_invert(int n, const int *perm, int *position)
{
    for (int i = 0; i < n; i++) {
        position[perm[i]] = i;
    }
}

int sparse_search(int count, const int *sorted, int x)
{
    int low = 0, high = count - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sorted[middle] < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void sparse_children(int n, const int *parent, int *head, int *next)
{
    for (int j = 0; j < n; j++) {
        head[j] = -1;
    }
    for (int j = n - 1; j >= 0; j--) {
        next[j] = -1;
        if (parent[j] >= 0) {
            next[j] = head[parent[j]];
            head[parent[j]] = j;
        }
    }
}

/* ---- Supers ---------------------------------------------------------------------------------- */

void sparse_supers_layout(sparse_supers *t, base_arena *arena, int n)
{
    size_t count = (size_t)n;
    t->grain = 1;
    t->first = base_arena_ints(arena, count + 1);
    int **arrays[] = {&t->below, &t->parent,   &t->of,     &t->mark,   &t->head, &t->next,
                      &t->above, &t->old_perm, &t->joined, &t->column, &t->link, &t->width};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k] = base_arena_ints(arena, count);
    }
    t->true_size = base_arena_doubles(arena, count);
}

/* Is a front of `width` columns with `zeros` of `stored` numbers wasted better than two fronts?
 * The shares were found by timing chains and nets; the results do not depend on them much. */
static int sparse_worth_joining(double width, double zeros, double stored)
{
    double share = zeros / stored;
    return (width <= 16 && share < 0.4) || (width <= 48 && share < 0.15) || share < 0.05;
}

/* Start with every column as a super, and let children join, from the leaves to the roots. */
static void sparse_supers_join(sparse_supers *t, int n, const int *parent, const int *count)
{
    sparse_children(n, parent, t->head, t->next);
    for (int j = 0; j < n; j++) {
        t->width[j] = 1;
        t->column[j] = j;
        t->link[j] = -1;
        t->joined[j] = 0;
        t->true_size[j] = 1 + (double)count[j];
        for (int pass = 0; pass < 2; pass++) { /* first those that cost nothing */
            for (int c = t->head[j]; c >= 0; c = t->next[c]) {
                double w = (double)t->width[c] + t->width[j];
                double stored = w * (w + 1) / 2 + w * count[j];
                double zeros = stored - t->true_size[c] - t->true_size[j];
                if (t->joined[c] ||
                    (pass == 0 ? zeros > 0 : !sparse_worth_joining(w * t->grain, zeros, stored))) {
                    continue;
                }
                t->joined[c] = 1;
                t->link[c] = t->column[j]; /* c is the last column of its super */
                t->column[j] = t->column[c];
                t->width[j] += t->width[c];
                t->true_size[j] += t->true_size[c];
            }
        }
    }
}

/* above of every top, and the children of each in the tree of tops. */
static void sparse_supers_link(sparse_supers *t, int n, const int *parent)
{
    int *top = t->mark;
    for (int j = n - 1; j >= 0; j--) {
        top[j] = t->joined[j] ? top[parent[j]] : j;
    }
    for (int j = 0; j < n; j++) {
        t->above[j] = t->joined[j] || parent[j] < 0 ? -1 : top[parent[j]];
    }
    sparse_children(n, t->above, t->head, t->next);
}

/* The next super's number goes to the one with this top; its columns get the next places. */
static void sparse_supers_number(sparse_supers *t, int top, int below, int *perm)
{
    int s = t->count++, columns = t->first[s];
    for (int j = t->column[top]; j >= 0; j = t->link[j]) {
        perm[columns] = t->old_perm[j];
        t->of[columns++] = s;
    }
    t->first[s + 1] = columns;
    t->below[s] = below;
    t->parent[s] = t->above[top]; /* a top for now */
    t->mark[top] = s;
}

void sparse_supers_find(sparse_supers *t, int n, const int *parent, const int *count, int *perm)
{
    sparse_supers_join(t, n, parent, count);
    sparse_supers_link(t, n, parent);
    memcpy(t->old_perm, perm, sizeof(int) * (size_t)n);
    t->count = 0;
    t->first[0] = 0;
    for (int root = 0; root < n; root++) {
        if (t->joined[root] || t->above[root] >= 0) {
            continue;
        }
        for (int top = root; top >= 0;) {
            int child = t->head[top];
            if (child >= 0) { /* down to the next child */
                t->head[top] = t->next[child];
                top = child;
            } else { /* all children have their numbers: up again */
                sparse_supers_number(t, top, count[top], perm);
                top = t->above[top];
            }
        }
    }
    for (int s = 0; s < t->count; s++) {
        t->parent[s] = t->parent[s] < 0 ? -1 : t->mark[t->parent[s]];
    }
}

/* Row i is in every super on the paths of its row subtree, (2). */
void sparse_supers_rows(sparse_supers *t, int n, const int *begin, const int *list,
                        const size_t *row_begin, int *row)
{
    int *seen = t->mark, *filled = t->width;
    for (int s = 0; s < t->count; s++) {
        seen[s] = -1;
        filled[s] = 0;
    }
    for (int i = 0; i < n; i++) {
        seen[t->of[i]] = i;
        for (int q = begin[i]; q < begin[i + 1]; q++) {
            for (int s = t->of[list[q]]; seen[s] != i; s = t->parent[s]) {
                seen[s] = i;
                row[row_begin[s] + (size_t)filled[s]++] = i;
            }
        }
    }
}
