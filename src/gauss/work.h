/* The workspace of one solve: every array, what fills it, how large it is.
 *
 * The kernel works in energy units. With M = L L', x = L'(a - a_free), each row of A becomes a row
 * of D = A L^-T, and Gauss's problem is: the shortest x with D x + c admissible, c = A a_free - b.
 * Blocks are then scaled so that their rows have length one (cones: their longest row, after each
 * tangential row has been multiplied by its friction coefficient, which makes every cone the
 * self-dual one, |r_T| <= r_N). In these units x, w = D x + c and r all measure sqrt(energy):
 *
 *     x = D' r,    w = D x + c,    r in K,   w (shifted for Coulomb) in K,   r . w = 0.
 *
 * Compliance R of a row is one more coordinate of unit metric that stretches the row: D gets an
 * extra column with sqrt(R), and then R lambda appears in w by itself. Nothing else depends on
 * it. */
#ifndef ZW_GAUSS_WORK_H
#define ZW_GAUSS_WORK_H

#include <stdint.h>

#include "base/memory.h"
#include "gauss/dense/proof.h"
#include "math/jordan.h"
#include "zwang/gauss.h"

/* The law of one cone at some (r, w): its value and its derivatives, stride ZW_CONE_ROWS. */
typedef struct newton_block {
    double value[ZW_CONE_ROWS];
    double by_r[ZW_CONE_ROWS * ZW_CONE_ROWS], by_w[ZW_CONE_ROWS * ZW_CONE_ROWS];
    int open;
} newton_block;

/* A cone of the core problem. One row is an interval: of an inequality from 0 on, of a box between
 * its limits. */
typedef struct gauss_cone {
    int first; /* first row, counted among the cone rows */
    int rows;
    int block; /* which block of the problem it came from */
    double
        stretch; /* factor by which its rows were scaled after the equalities had been eliminated */
    double low, high; /* one row: the interval of r */
} gauss_cone;

/* The core: find r in K with w = B B' r + c in K, r . w = 0 (with De Saxce's shift for Coulomb),
 * what is left when the equalities have been eliminated. */
typedef struct gauss_core {
    const zw_gauss *problem;     /* whose core it is: */
    struct zw_gauss_work *owner; /* a proof that nothing is admissible needs the data */
    int p, q;                    /* rows and columns of B */
    int stride;
    const double *B; /* p x q */
    int wide;        /* p, rounded up to whole lines: stride of Bt and S, and room of all p */
    double *Bt;      /* q x wide: B' */
    const double *c; /* p */
    int cone_count;
    const gauss_cone *cone;
    const gauss_cone *normal; /* the same without friction */
    int coulomb;              /* which law, now */
    int wanted;               /* the law that is requested */
    double V;                 /* size of the free violation */
    double held;              /* |x| that the equalities account for already */
    int patience;             /* number of Newton steps of a polish */
    double aim;               /* residual at which Newton stops */
    double accept;            /* residual that counts as solved */

    double *r;      /* p: in: start; out: the best multipliers found */
    double *x;      /* q: B' r */
    double *w;      /* p: B x + c */
    double R;       /* size of the constraint force */
    double rho;     /* R / V, held fixed during a Newton run */
    double error;   /* strict residual of r */
    double *best;   /* p: the best r that core_newton has found for the requested law */
    double *best_x; /* q */
    double best_error;
    double *pair;            /* q + p */
    int paired, best_paired; /* x differs from B' r */

    /* scratch */
    double *shift; /* cone_count: what the convex problem adds to each normal */
    double *S;     /* p x wide: B B' */
    int S_ready;
    double *J;               /* p x wide: Newton matrix */
    double *H;               /* q x q: Hessian of the proximal problem */
    double *E;               /* p x (q + p): rows of the convex Newton step */
    double *direction;       /* p x ZW_CONE_ROWS: their directions */
    double *beta;            /* p */
    double *distance;        /* 2 p */
    double *first_of;        /* p: the shift of normal rows, else 0 */
    jordan_scaling *scaling; /* cone_count */
    int rank;
    double *v[8];                         /* p each */
    newton_block *block;                  /* cone_count: the law and its derivatives, newton.c */
    double *keep, *start, *saved, *begin; /* p each: the portfolio's */
    double *y[5];                         /* q each */
    int *active;                          /* p */
    int *pivot;                           /* p */
    int iterations;
    int factorizations;
    const zw_gauss_options *options; /* effort and stop: core_spent */
    int stopped;                     /* the caller has asked to stop */
} gauss_core;

/* All cones of the problem; those that take part now are in the tables of the workspace: part.c. */
typedef struct gauss_whole {
    int cone_count, mc;
    gauss_cone *cone; /* cone_count */
    int *row;         /* mc: row of A of each cone row */
    int *taken;       /* cone_count: does it take part? */
} gauss_whole;

/* Steps that the fixed point of a non-ideal law remembers. */
enum { GAUSS_LAW_MEMORY = 5 };

struct gauss_sparse;
struct gauss_primal;

struct zw_gauss_work {
    /* shape, fixed at creation */
    int n, m;   /* unknowns, rows */
    int me, mc; /* equality rows, other rows that take part: me + mc = m with all of them */
    int q_max;  /* n + compliant rows allowed: n + m if compliance was given, else n */
    int block_count;
    int cone_count;
    int is_sparse;               /* which algebra */
    struct gauss_sparse *sparse; /* NULL: dense algebra */
    struct gauss_primal *primal; /* NULL: no more cones than unknowns */

    /* tables, filled at creation */
    int *first; /* block_count + 1: first row of each block */
    int *kind;  /* block_count: its kind */
    zw_metric_kind metric_kind;
    uint64_t pattern;    /* of A and M, for sparse algebra */
    int *equality_row;   /* me: row of A of each equality row */
    int *cone_row;       /* mc: row of A of each other row */
    int *block_of;       /* m: block of each row */
    gauss_cone *cone;    /* cone_count */
    gauss_cone *normal;  /* cone_count: the same without friction */
    gauss_cone *suspect; /* cone_count: scratch for conflicts */

    /* the cones that take part: gauss_part */
    gauss_whole whole;
    int partial; /* not all do */
    int missing; /* number of violated cones that do not take part */
    int rounds;  /* how often the set may still grow */

    /* the metric: gauss_metric_factor */
    double *L;         /* n x n: U with M = U'U, whole, or its blocks, or its diagonal */
    int shifted;       /* M was singular: L factors M + A_e' W A_e */
    int held_by_cones; /* and of cones, as a proximal term */
    double *W;         /* me: W */
    double *soften;    /* me: factor of the multiplier of a compliant row of a completed metric */

    /* normal form: gauss_normal */
    int q;           /* columns of D */
    int m_wide;      /* m, rounded up to whole lines */
    double *X;       /* n x m_wide: L \ A' */
    double *D;       /* me x q_max: equality rows, then their LQ factors */
    double *B;       /* mc x q_max: cone rows */
    double *scale;   /* m: lambda = scale * r, row of D = scale * row of A L^-T */
    int stretches;   /* whether rows are scaled */
    double *free;    /* n: a_free */
    double *c;       /* m, equalities first: scaled residual of the free motion */
    double *carried; /* mc: scaled |A| |a_free| + |b|, whose round-off c carries */
    double V;        /* scale of the equality residuals: see certificate.c */

    /* equalities: gauss_equality */
    int rank;
    int *order;          /* me */
    double *beta;        /* me */
    double rank_floor;   /* from the options */
    int measures;        /* the margin is wanted */
    double margin;       /* of zw_motion */
    double independence; /* distance of the last row taken from the span of the others */
    double *distance;    /* 2 me */
    double *T;           /* rank x me: for multipliers of least norm */
    int *T_order;        /* me */
    double *T_beta;      /* me */
    double *basis;       /* me x me: orthonormal rows, in the order of the user's rows */
    double *triangle;    /* me x me: accepted rows in that basis */
    int *row_position;   /* me */
    double *z;           /* q_max */
    double *x;           /* q_max */
    double *g;           /* q_max */
    double *delta;       /* m: correction of the multipliers */
    double *kept;        /* n + m: what a refinement started from */
    double *e;           /* 3 x me */
    double *row_scratch; /* 2 x me */
    int *redundant;      /* block_count */
    int redundant_count;
    int thinning;         /* conflict.c is running: name nothing */
    int *conflict;        /* block_count */
    int *trial, *accused; /* block_count each: smaller conflicts found on the way */
    int conflict_count;
    int *undetermined; /* n */
    int undetermined_count;

    gauss_core core;
    gauss_proof proof; /* that nothing is admissible */

    /* the answer */
    zw_certificate certificate;               /* of a, lambda and C as they stand */
    double *a, *F_N, *F_L, *F_C, *C;          /* n each */
    double *lambda, *residual, *lambda_ideal; /* m each */
    double *guess;                            /* m: a copy, as the user's may be in lambda */
    double
        *scratch; /* zw_gauss_certify_scratch + 2 n, at least q_max: certificate and small things */
    double *law;  /* (2 LAW_MEMORY + 4) m + n: non-ideal fixed point */
};

#endif
