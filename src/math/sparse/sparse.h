/* Patterns of sparse symmetric matrices: product, adjacency, elimination tree, supers.
 *
 * A symmetric matrix K of order n is given by compressed columns: the entries of column j are
 * row[p], value[p] for start[j] <= p < start[j+1]. Each pair {i, j} is given ONCE, in either
 * triangle (even mixed); it stands for K_ij and K_ji. Entries given twice add up; a missing one is
 * zero.
 *
 * For a permutation, position[old] = new says where an unknown goes. The *row lists* of the
 * permuted matrix hold for each new i the new j < i with K_ij in the pattern: the strict lower
 * triangle by rows, which is the form in which Liu's tree algorithms read it. */
#ifndef ZW_MATH_SPARSE_H
#define ZW_MATH_SPARSE_H

#include "base/memory.h"

#include <stddef.h>

int sparse_valid(int n, const int *start,
                 const int *row); /* 1: indices in range, columns in order */

/* y = K x. */
void sparse_multiply(int n, const int *start, const int *row, const double *value, const double *x,
                     double *y);

/* The neighbours of every node in both directions, without the diagonal, each once.
 * begin[n+1], list[2*start[n]], mark[n] is scratch. Needs 2*start[n] <= INT_MAX. */
void sparse_adjacency(int n, const int *start, const int *row, int *begin, int *list, int *mark);

/* Row lists of the permuted matrix. begin[n+1], list[start[n]]. Entries may repeat. */
void sparse_row_lists(int n, const int *start, const int *row, const int *position, int *begin,
                      int *list);

/* parent[j] in the elimination tree, -1 at a root. ancestor[n] is scratch. */
void sparse_tree(int n, const int *begin, const int *list, int *parent, int *ancestor);

/* count[j]: entries of L below the diagonal of column j; returns their sum. mark[n] is scratch. */
size_t sparse_counts(int n, const int *begin, const int *list, const int *parent, int *count,
                     int *mark);

void sparse_invert(int n, const int *perm, int *position); /* position[perm[i]] = i */
int sparse_search(int count, const int *sorted, int x);    /* where x, which is there, is */

/* Lists of children, ascending: head[parent], next[child]; -1 ends. */
void sparse_children(int n, const int *parent, int *head, int *next);

/* Supers: columns of L of nearly the same structure, to be treated as one dense trapezoid.
 * sparse_supers_find numbers them in postorder and their columns consecutively. */
typedef struct sparse_supers {
    int count;
    int *first;   /* [count+1] first column of a super, new numbering */
    int *below;   /* [count] rows of a super below its columns */
    int *parent;  /* [count] parent super, -1: none */
    int *of;      /* [n] super of a column, new numbering */
    double grain; /* numbers that a column stands for: 1, or more where columns are blocks */

    /* Scratch, [n]. The last column of a super, its top, stands for it until it has its number. */
    int *mark, *head, *next, *old_perm;
    int *joined;        /* 1: this column is not a top */
    int *column, *link; /* of a top: first column of its super; next column in it */
    int *width;         /* of a top: columns of its super */
    int *above;         /* of a top: the top of the parent super, -1: none */
    double *true_size;  /* of a top: numbers of its super that are not padding */
} sparse_supers;

void sparse_supers_layout(sparse_supers *t, base_arena *arena, int n);

/* From the tree and counts of the matrix in the order perm; perm is refined to the new numbering.
 */
void sparse_supers_find(sparse_supers *t, int n, const int *parent, const int *count, int *perm);

/* The rows below each super, ascending, at row[row_begin[s]]; from row lists in the new numbering.
 */
void sparse_supers_rows(sparse_supers *t, int n, const int *begin, const int *list,
                        const size_t *row_begin, int *row);

#endif
