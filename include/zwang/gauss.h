/* Gauss's principle of least constraint, alone and usable with nothing else.
 *
 *     minimise   Z(a) = 1/2 (a - a_free)' M (a - a_free)     subject to     A a - b  in  K*
 *
 * M is the metric of the masses, a_free the motion without constraints, and K* says what each block
 * of rows admits: nothing (equality), one side (inequality), or a dual friction cone; or a box
 * limits the multiplier instead (a motor, dry friction). Coulomb's law is the same problem with the
 * residual of each cone shifted along its normal by its own sliding speed (De Saxce). The unknowns
 * may be accelerations and forces, or velocities at the end of a step and impulses: the problem is
 * the same.
 *
 * Signs: the constraints push with A' lambda, so M (a - a_free) = A' lambda + C, and inequality and
 * normal multipliers are >= 0.
 *
 * The three main calls:
 *
 *     zw_gauss_work *work = zw_gauss_work_create(&problem, &options, &error);
 *     zw_status status = zw_gauss_solve(&problem, &options, work, &motion, &error);
 *     zw_gauss_work_free(work);
 */
#ifndef ZWANG_GAUSS_H
#define ZWANG_GAUSS_H

#include <stddef.h>

#include "zwang/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- The metric M ------------------------------------------------------------------------- */

typedef enum zw_metric_kind {
    ZW_METRIC_IDENTITY, /* no masses: Fan et al. (2005), section 6 */
    ZW_METRIC_DIAGONAL, /* value[n] */
    ZW_METRIC_DENSE,    /* value[n*n], symmetric; the lower triangle is read */
    ZW_METRIC_BLOCKS,   /* block_count square blocks, one after another in value, each as DENSE */
    ZW_METRIC_SPARSE,  /* compressed columns: start[n+1], row[], value[]; the lower triangle is read
                        */
    ZW_METRIC_OPERATOR /* given by functions: for a tree of bodies, for instance */
} zw_metric_kind;

/* A metric that factors itself, M = L L'. All calls get `self`; x and y have n entries. An
 * operator's L need not be triangular. */
typedef struct zw_metric_operator {
    void *self;
    void (*apply)(void *self, const double *x, double *y); /* y = M x */
    void (*diagonal)(void *self, double *d);               /* d = diag(M) */
    zw_status (*factor)(void *self);                       /* M = L L', or ZW_NOT_A_METRIC */
    void (*solve_lower)(void *self, double *x);            /* x = L \ x */
    void (*solve_upper)(void *self, double *x);            /* x = L' \ x */
} zw_metric_operator;

typedef struct zw_metric {
    zw_metric_kind kind;
    const double *value;
    int block_count;
    const int *block_size;
    const int *start;
    const int *row;
    const zw_metric_operator *operator_;
} zw_metric;

/* ---- Constraint rows ---------------------------------------------------------------------- */

typedef enum zw_block_kind {
    ZW_EQUALITY,   /* residual = 0, lambda free */
    ZW_INEQUALITY, /* residual >= 0, lambda >= 0, one of them 0; row by row */
    ZW_CONE,       /* a contact: 1 to 6 rows: normal, slide, slide, spin, roll, roll */
    ZW_BOX /* limit[0] <= lambda <= limit[1]: residual = 0 between the limits, >= 0 at the lower and
              <= 0 at the upper one; row by row */
} zw_block_kind;

#define ZW_CONE_ROWS 6

/* Consecutive rows that belong together. The residual of a row is A a - b + compliance * lambda. A
 * cone admits |(lambda_i / friction_i)| <= lambda_normal: one ellipsoid for sliding, spinning and
 * rolling together. */
typedef struct zw_block {
    const char *name; /* for messages; may be NULL */
    zw_block_kind kind;
    int rows;
    double friction[ZW_CONE_ROWS - 1]; /* cone: coefficient of row 1, 2, ...; 0 is none */
    double limit[2]; /* box: may be infinite, and may be equal, which prescribes the force */
} zw_block;

/* The rows of all blocks, one under another: dense (row-major, m x n) or compressed by rows. */
typedef struct zw_rows {
    const double *dense;
    const int *start; /* m+1; used if dense is NULL */
    const int *column;
    const double *value;
} zw_rows;

/* ---- The problem -------------------------------------------------------------------------- */

/* A non-ideal force that depends on the reaction: fills C[n] from the multipliers lambda[m] and
 * their force reaction[n] = A' lambda. Sliding friction on a wire is C = -mu |reaction| v/|v|. */
typedef void zw_nonideal_law(void *user, const double *lambda, const double *reaction, double *C);

typedef enum zw_nonideal_on {
    ZW_ON_IDEAL_REACTION, /* the reaction F^L of Fan et al. (2005), eq. (20), as without C */
    ZW_ON_TOTAL_REACTION  /* the reaction with C acting: a fixed point */
} zw_nonideal_on;

typedef struct zw_gauss {
    int n; /* unknowns */
    zw_metric metric;
    const double *free;  /* a_free[n]; NULL: zero, or M \ force */
    const double *force; /* applied force [n], instead of a_free: required if M is singular */

    int block_count;
    const zw_block *block;
    zw_rows A;                /* m rows, m the sum of block[].rows */
    const double *b;          /* [m]; NULL: zero */
    const double *compliance; /* [m] >= 0; NULL: zero, that is, rigid */

    const double *C; /* non-ideal force [n]; NULL: zero */
    zw_nonideal_law *law;
    void *law_user;
    zw_nonideal_on law_on;
} zw_gauss;

/* ---- Options ------------------------------------------------------------------------------ */

/* Contact laws, in the solver and in runs. */
typedef enum zw_contact_law {
    ZW_CONTACT_DEFAULT, /* COULOMB; in a run: what the file says, else COULOMB */
    ZW_CONTACT_COULOMB, /* the laws of Signorini and Coulomb: friction opposes slip and does not
                           affect the normal residual. For bodies: method IMPULSE */
    ZW_CONTACT_CONVEX, /* Gauss's minimum itself: maximal dissipation. Sliding contacts separate (in
                          a step of bodies by friction * speed * step); sticking ones are the same
                        */
    ZW_CONTACT_SOFT    /* bodies only: MuJoCo's law, method SOFT. Not known to the kernel */
} zw_contact_law;

/* How several simultaneous impacts are resolved: docs/mathematics.md, section 22. */
typedef enum zw_impact_law {
    ZW_IMPACT_DEFAULT,     /* the file's, or SEQUENTIAL */
    ZW_IMPACT_SEQUENTIAL,  /* the fastest approach first, equal ones together, then the next */
    ZW_IMPACT_SIMULTANEOUS /* all touching contacts in one problem */
} zw_impact_law;

/* AUTO uses sparse algebra for large compressed problems; an operator metric, boxes, compliant
 * contacts, and contacts among up to a few hundred unknowns always use dense algebra. Sparse
 * algebra does not name contacts that contradict each other, and allocates memory for contacts in
 * the first solves. */
typedef enum zw_algebra { ZW_ALGEBRA_AUTO, ZW_ALGEBRA_DENSE, ZW_ALGEBRA_SPARSE } zw_algebra;

typedef struct zw_gauss_options {
    zw_contact_law contact;
    zw_algebra algebra;
    double tolerance; /* required of the certificate; 0: 1e-10, with Coulomb cones 1e-8 */
    double rank; /* equality rows, scaled to length one, that are closer than this to the span of
                    others count as dependent; 0: 1e-10. Dense algebra only */
    int least_squares; /* conflicting equalities: give the pseudoinverse motion of Fan et al. (2005)
                        */
    const double *guess; /* lambda[m] of a similar problem, to start from; or NULL */
    int margin;          /* measure zw_motion.margin */
    int guess_only;      /* Coulomb: give up early if the guess does not lead to a solution */
    int effort; /* approximate limit on factorisations, after which the best answer found is
                   returned: with ZW_JAMMED or ZW_INACCURATE if its certificate misses the
                   tolerance; 0: no limit */
    int (*stop)(void *user); /* called before every factorisation; nonzero ends the solve at once
                                with ZW_INTERRUPTED; or NULL */
    void *user;
} zw_gauss_options;

/* Coulomb's law, automatic algebra, default tolerances, no guess. A zeroed struct means the
 * same. */
zw_gauss_options zw_gauss_options_default(void);

/* ---- The answer --------------------------------------------------------------------------- */

/* How far a claimed answer is from satisfying the law, computed from the data of the problem alone.
 * Every number is relative: forces to the size of the constraint force, residuals to the size of
 * the violation that the free motion has; see docs/mathematics.md for the scales. */
typedef struct zw_certificate {
    double stationarity;    /* M (a - a_free) - A' lambda - C */
    double feasibility;     /* distance of the residuals from the sets that the blocks allow */
    double membership;      /* distance of the multipliers from their cones */
    double complementarity; /* lambda . residual, shifted for Coulomb */
    double natural;  /* strict measure: distance of lambda from the projection of lambda - residual
                        onto its cone */
    double gap;      /* primal minus dual objective, over their size (convex law) */
    double worst;    /* max of stationarity, feasibility, membership and natural */
    int worst_block; /* where `worst` is attained; -1: stationarity */
} zw_certificate;

/* Pointers belong to the workspace and hold until its next solve. */
typedef struct zw_motion {
    int n, m;
    const double *a;        /* [n] the motion */
    const double *lambda;   /* [m] multipliers; of least norm where rows are redundant */
    const double *residual; /* [m] A a - b + compliance lambda */
    const double *F_N;      /* [n] M a_free: Newton, Fan et al. (2005), eq. (19) */
    const double *F_L;      /* [n] ideal constraint force: Lagrange, eq. (20) */
    const double *F_C;      /* [n] what C adds: Coulomb, eq. (21); F_N + F_L + F_C = M a */
    const double *C;        /* [n] the non-ideal force in the end */
    double Z; /* 1/2 (a - a_free)' M (a - a_free); if M is singular, 1/2 a' M a - a' force */

    int rank;            /* of the equality rows */
    double independence; /* distance of the row that the kernel picks last from the span of the
                            others, all scaled to length one. Small: nearly singular. Dense algebra
                            only, else 1 */
    double margin; /* if requested: sqrt(r / sum of 1/s^2) over the r singular values s > 0 of these
                      rows, scaled to length one. 1 where they are orthogonal; smooth towards a
                      singular point. With sparse algebra: about the smallest s. If not requested:
                      as independence */
    int redundant_count;     /* equality blocks with rows that follow from earlier rows */
    const int *redundant;    /* their indices */
    int conflict_count;      /* blocks that contradict each other; a minimal set */
    const int *conflict;     /* their indices */
    int undetermined_count;  /* coordinates with neither mass nor constraint */
    const int *undetermined; /* their indices */

    zw_certificate certificate;
    const char
        *method; /* the method that found the answer, e.g. "equality", "newton from convex" */
    int iterations;
    int factorizations;
} zw_motion;

/* ---- Calls -------------------------------------------------------------------------------- */

/* A workspace for problems of this shape: same n, metric kind and pattern, blocks and row pattern;
 * numbers may change. NULL on failure, with the reason in `error` (which may be NULL). */
typedef struct zw_gauss_work zw_gauss_work;
zw_gauss_work *zw_gauss_work_create(const zw_gauss *problem, const zw_gauss_options *options,
                                    zw_error *error);
void zw_gauss_work_free(zw_gauss_work *work);

/* Find the motion. Allocates nothing. `motion` is filled as far as the status allows: after
 * ZW_INACCURATE and ZW_JAMMED with the best answer and its certificate; where there is no answer,
 * the certificate is infinite. `options` and `error` may be NULL. */
zw_status zw_gauss_solve(const zw_gauss *problem, const zw_gauss_options *options,
                         zw_gauss_work *work, zw_motion *motion, zw_error *error);

/* Certify any claimed answer, from here or from another program, to a problem that
 * zw_gauss_work_create would accept. A `law` is not evaluated: pass the force that it gave as C.
 * C[n] is the non-ideal force claimed to act; NULL: problem->C. `scratch` holds
 * zw_gauss_certify_scratch doubles; NULL: allocated for the call. */
size_t zw_gauss_certify_scratch(const zw_gauss *problem);
zw_status zw_gauss_certify(const zw_gauss *problem, zw_contact_law contact, const double *a,
                           const double *lambda, const double *C, double *scratch,
                           zw_certificate *certificate);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
