/* Small matrices on the paths of a tree.
 *
 * Unknowns are the nodes of a tree in which parents have smaller numbers than their children, and
 * H_ij = 0 unless one of i, j is an ancestor of the other: the inertia of a mechanism, and what
 * rows add to it whose columns are all on one path. Eliminating the last node changes only pairs of
 * its ancestors, so a factor fills nothing. Row i holds the path from the root to i, in the order
 * of depths; rows begin at multiples of four, so that they are worked on four numbers at a time.
 *
 * Any symmetric pattern is one on paths once the tree is bent far enough (paths_bend): that is its
 * elimination tree, and at worst a single path, which is a full triangle. */
#ifndef ZW_MATH_PATHS_H
#define ZW_MATH_PATHS_H

enum { PATHS_RUN = 4 }; /* nodes that are eliminated together, at most */

typedef struct paths_shape {
    int n, entries;
    const int *parent, *depth; /* [n] depth: nodes from the root to here */
    const int *start;          /* [n] where rows begin: multiples of four */
    int blocks;
    const int *block; /* [blocks+1] first nodes of runs in which each is the parent of the next */
} paths_shape;

/* i becomes an ancestor of k > i; what were ancestors stay ancestors. */
static inline void paths_bend(int *parent, int k, int i)
{
    while (i >= 0 && parent[k] != i) {
        int p = parent[k];
        if (p > i) {
            k = p;
        } else { /* p is to be an ancestor of i then */
            parent[k] = i;
            k = i;
            i = p;
        }
    }
}

/* The shape of a tree of n nodes, in room for depth[n], start[n], block[n+1]. */
paths_shape paths_find(int n, const int *parent, int *depth, int *start, int *block);

/* H from the entries of M, whose rows have no gaps and are followed by whatever; y = M x. */
void paths_copy(const paths_shape *shape, const double *M, double *H);
void paths_multiply(const paths_shape *shape, const double *M, const double *x, double *y);
/* y = H x, H being symmetric, with gaps. */
void paths_times(const paths_shape *shape, const double *H, const double *x, double *y);

/* H + diagonal (NULL: none) = L' D L, in place; 0: it is not positive. Then x = that \ x. */
int paths_factor(const paths_shape *shape, const double *diagonal, double *H);
void paths_solve(const paths_shape *shape, const double *H, double *x);
void paths_solve_half(const paths_shape *shape, const double *H, double *x); /* x = L' \ x */
/* Sums over ancestors go from the root on: entries that are 0, and more of them, change no bit. */
void paths_solve_in_order(const paths_shape *shape, const double *H, double *x);

/* The same without symmetry: row i of `lower` has H_ij and that of `upper` H_ji, j being i and its
 * ancestors. H = U L without pivoting, for what is near a symmetric one. 0: a pivot vanished. */
int paths_factor_skew(const paths_shape *shape, double *lower, double *upper);
void paths_solve_skew(const paths_shape *shape, const double *lower, const double *upper,
                      double *x);

/* ---- Rows whose columns are on one path ------------------------------------------------------ */

/* Rows of J stand `gap` apart, those of w `stride`; column t of w is that of node column[t], and J
 * has its columns at the places of the path. row[] and level[], by nodes: their rows in H, and
 * where they are themselves in it. H += w' J up to the diagonal. */
void paths_fold(int rows, int count, const int *column, const double *J, int gap, const double *w,
                int stride, double *const *row, const int *level);

/* Strides are multiples of four: w = D J (D[rows][rows]), y = J x, y = J' f, carried = |J| |x| and
 * pushes = |J|' |f|. */
void paths_rows_weigh(int rows, int stride, const double *J, const double *D, double *w);
void paths_rows_times(int rows, int stride, const double *J, const double *x, double *y);
void paths_rows_push(int rows, int stride, const double *J, const double *f, double *y);
/* y += J' f, row by row: rows with f = 0 change no bit. */
void paths_rows_add(int rows, int stride, const double *J, const double *f, double *y);
void paths_rows_sizes(int rows, int stride, const double *J, const double *x, const double *f,
                      double *carried, double *pushes);

#endif
