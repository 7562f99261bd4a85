/* The sparse form of Gauss's problem with equality rows, shared by the sparse*.c files.
 *
 * Unknowns x = unit (a - a_ref) and multipliers r, in the units of the certificate, but rounded to
 * powers of two, so that scaling a number does not change its digits:
 *
 *     M x - B' r = f,      w = B x + c,      rigid row: w = 0,   compliant: w + E r = 0.
 *
 * Row p is column n + p of
 *
 *     K = [ M  B' ]      K (x, -r) = (f, -c)
 *         [ B  -E ]
 *
 * whose pattern never changes. A row that is inactive is a zero row with E = 1. */
#ifndef ZW_GAUSS_SPARSE_KKT_H
#define ZW_GAUSS_SPARSE_KKT_H

#include "gauss/sparse/sparse.h"
#include "gauss/work.h"
#include "math/sparse/ldl.h"

/* Doubles reserved for null vectors of the equality rows. If more are needed, redundant rows are
 * named in elimination order and multipliers do not have least norm. */
enum { SPARSE_NULL_CAPACITY = 1 << 19 };

/* Unit rows nearer than this to the span of others depend on them. */
#define SPARSE_DISTANCE_FLOOR 1e-9

/* Compliance added, in the factors only, to rows whose pivot might vanish. */
#define SPARSE_FIRM 1e-10

/* GMRES steps between two refinements: test_sparse.c fails without any, and more do not change
 * results. */
enum { SPARSE_KRYLOV = 4 };

struct gauss_sparse {
    /* shape, fixed at creation */
    int n, me;         /* unknowns, equality rows */
    int N;             /* n + me: order of K */
    int null_capacity; /* the maximum number of stored null vectors */

    /* the pattern, filled at creation (sparse_pattern.c) */
    int *start;        /* N + 1 */
    int *row;          /* start[N]; the diagonal comes first in every column */
    signed char *sign; /* N */
    int *slot;         /* per entry of compressed A: its place after the diagonal in its column */
    sparse_ldl *ldl;

    /* numbers of the problem: gauss_sparse_prepare */
    double *unit;   /* n */
    double *scale;  /* me: as work->scale, in the order of K */
    double *length; /* me: length of the scaled row, about 1 */
    double *base;   /* start[N]: the scaled rows B, where they lie in K; nothing before start[n] */
    double *E;      /* me: scaled compliance */
    double *reference; /* n: a_ref */
    double *force;     /* n: the applied force in the user's units; zero where a_free is given */

    /* K as it is factored now */
    double *value;      /* start[N] */
    int holds_equality; /* it contains the equality rows only */
    double soft;        /* added to the diagonal of M before factoring: singular M */
    int firm;           /* all equality rows get SPARSE_FIRM in the factors */
    int replaced;       /* number of pivots that the last factorisation replaced */

    /* equalities: sparse_equality.c */
    unsigned char *off;  /* me: 1: row inactive */
    unsigned char *sure; /* me: 1: independent, though its pivot is small; 2: though it vanishes */
    int *twin;           /* me: the earlier parallel row that represents this one; itself: none */
    double *twin_sign;   /* me: row = twin_sign * row twin, in scaled units */
    double *weight;      /* me: combined scale of a row and its twins, for least norms */
    int null_count;      /* rows that depend on others, twins not counted */
    int null_known;      /* their null vectors are stored in circuit and null */
    double *circuit;     /* null_capacity x me: by pivot, the combination of rows that vanishes */
    int *circuit_row;    /* null_capacity: the redundant row of that combination */
    double *null;        /* null_capacity x me: the same space, orthonormal in the user's units */
    int *order, *next; /* me: first row in a bucket, next row in it; order is scratch afterwards */
    double *key;       /* me */

    /* one pass */
    double *f;                      /* n: the applied force and that of the cones */
    double *c;                      /* me */
    double *x, *r;                  /* n, me */
    double *w;                      /* me */
    double *x_new, *r_new;          /* n, me: a correction on trial */
    double V;                       /* size of residuals, see work.h */
    double *rhs, *sol, *res, *step; /* N each */
    double *y[2];                   /* n each */
    double *v[2];                   /* me each */
    double *krylov;                 /* (2 SPARSE_KRYLOV + 1) x N */

    struct sparse_prox *cones; /* NULL: there are none */
    double *free;              /* n: the motion without the forces of the cones */
};

/* sparse_pattern.c */
size_t sparse_pattern_entries(const zw_gauss *problem, const gauss_sparse *s); /* bound */
void sparse_pattern(const zw_gauss *problem, const zw_gauss_work *work, gauss_sparse *s, int *mark);
void sparse_numbers(const zw_gauss *problem, const zw_gauss_work *work, gauss_sparse *s);

/* sparse_kkt.c */
/* w = B x and y = B' r, of all rows, active or not. */
void sparse_rows_times(const gauss_sparse *s, const double *x, double *w);
void sparse_rows_force(const gauss_sparse *s, const double *r, double *y);
void sparse_metric_times(const gauss_sparse *s, const double *x, double *y); /* y = M x */
/* Set the column of row p: the row, and -E on the diagonal; or make the row inactive. */
void sparse_kkt_row(gauss_sparse *s, int p, const double *row, double E);
void sparse_kkt_row_off(gauss_sparse *s, int p);
/* Returns 1: factored; 0: the factors are not finite. */
int sparse_kkt_factor(zw_gauss_work *work, gauss_sparse *s);
/* sol = K \ rhs, refined; returns the remaining residual relative to rhs. */
double sparse_kkt_solve(gauss_sparse *s, const double *rhs, double *sol);

/* sparse_equality.c */
zw_status sparse_equality_prepare(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s,
                                  zw_error *error);
/* Name redundant rows, and conflicts of the right-hand side c; s->x satisfies the active rows. */
zw_status sparse_equality_check(const zw_gauss *problem, zw_gauss_work *work, gauss_sparse *s,
                                double tolerance);
/* Make c consistent with the least change, measured in the user's units. */
void sparse_equality_least_squares(gauss_sparse *s);
/* Factor K with the equality rows alone. */
int sparse_equality_factor(zw_gauss_work *work, gauss_sparse *s);
/* Solve for x and r under the force f. Returns 0 if they are not finite. */
int sparse_equality_motion(zw_gauss_work *work, gauss_sparse *s);
/* How far the active rows are from a loss of rank; 1 if no row is active. */
double sparse_equality_margin(zw_gauss_work *work, gauss_sparse *s);
/* Distribute the multipliers of the independent rows over all rows, with least norm. */
void sparse_equality_spread(gauss_sparse *s, double *r);

/* sparse_twins.c: find parallel rows; a fixed pseudorandom number in -1..1 for column j. */
void sparse_twins(gauss_sparse *s);
double sparse_dice(int j);

/* sparse_null.c: find null vectors; returns how many rows turned out to be independent and are
 * active again. */
int sparse_null_find(gauss_sparse *s);

#endif
