/* What prox.c and prox_open.c share. */
#ifndef ZW_GAUSS_PROX_INNER_H
#define ZW_GAUSS_PROX_INNER_H

#include "gauss/contact/prox.h"
#include "gauss/contact/prox_law.h"
#include "math/dense/paths.h"

#define PROX_WEIGHT 1e5    /* k */
enum { PROX_SWEPT = 128 }; /* rows: what has more is not swept */

/* Units that follow each other and see the same unknowns: a path of the tree, with zeros
 * where they do not; or one unknown alone. */
typedef struct prox_group {
    int first, end;  /* units */
    int at, rows;    /* rows */
    int count;       /* nodes of the path, */
    const int *path; /* [stride] from the root on; n: none */
    int rises;       /* rows have all of it, in its order */
    int stride;      /* of J: count in fours; 1 for one unknown alone */
    double *J;       /* [rows][stride] scaled */
} prox_group;

struct gauss_prox {
    int n, m, units, groups;
    int coulomb;
    const zw_gauss *problem;
    const gauss_piece *piece;
    prox_unit *unit;
    prox_group *group;
    double *u, *p, *way, *push, *away, *free, *unit_of, *inverse; /* [n+1], 0 after */
    double *scale, *b, *give, *r, *w, *lambda, *moved, *dw;       /* [m] in scaled units */
    double *out, *residual, *before, *carried;                    /* [m] */
    double kept_left, *kept_u, *kept; /* the best of what is no solution, [n], [m], and how far */
    int knows_before;                 /* that is J free - b already, */
    int knows_away;                   /* and away is that of u */

    /* The tree of unknowns, bent until the metric and all rows are on paths of it. */
    paths_shape shape;
    int *parent, *depth, *start, *block, *level; /* [n], [n], [n], [n+1], [n] */
    double **lower_row, **upper_row;             /* [n] rows of these: */
    double *M, *lower, *upper;                   /* [entries] */
    int is_skew;                                 /* the factors have no symmetry */
    double *J, *T;                               /* all rows, and as many weighted ones */
    double *along, *across;                      /* [n in fours] along a path */
    double *W;                                   /* [PROX_SWEPT][PROX_SWEPT]; NULL: not yet */
    int *path, *column;                          /* lists of nodes */
    int columns, path_used;                      /* of all units; taken of path[] */
    void *memory, *rows_memory;
    size_t bytes, rows_bytes;
};

int prox_make_room(gauss_prox *x); /* 0: no memory */
/* The tree: 0 if there is no memory for matrices and rows on its paths. */
int prox_open_tree(gauss_prox *x);
int prox_open_metric(gauss_prox *x);                       /* 0: that is no metric */
void prox_open_motion(gauss_prox *x, const double *start); /* p = M free, or the force */
int prox_open_rows(gauss_prox *x,
                   const double *guess); /* 0: a cone gives way, which is for others */

int prox_stress(gauss_prox *x); /* has it gone on to where a contradiction ends? */

/* y = J x, and to = J' f. */
void prox_rows_times(const gauss_prox *x, const double *a, double *y);
void prox_rows_push(const gauss_prox *x, const double *f, double *to);
/* carried = |J| |u|, push = |J|' |moved| */
void prox_rows_sizes(const gauss_prox *x);

#endif
