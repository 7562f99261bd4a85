/* MuJoCo's soft constraints for rigid bodies, reproducing its numbers.
 *
 * Every constraint, limit, friction and contact is a set of rows with a position r (0: satisfied; r
 * < 0: violated by |r|) and a speed J v. The reference acceleration of a row is that of a damped
 * spring,
 *
 *     aref = -B (J v) - K d r,
 *
 * and the row is compliant: J a - aref + R lambda = 0, R = (1 - d)/d * A0. d in (0, 1) is the
 * impedance, a curve over |r| (soft.c); A0 approximates the diagonal of J M^-1 J', from numbers
 * computed once, in the reference pose (soft_weight.c). With d = 1 it is the rigid law. So the
 * motion is Gauss's minimum with compliance R,
 *
 *     minimise  1/2 (a - a_free)' M (a - a_free)     subject to     J a - aref + R lambda  in  K*.
 *
 * As R > 0, lambda is a function of J a (soft_law.c), and a is the minimum of an unconstrained
 * function, which soft_newton.c finds. Rows are equalities, limits (lambda >= 0), friction of
 * joints and tendons (lambda in a box), contacts, elliptic (a cone) or pyramidal (2 (d - 1) edges
 * n +- mu_j t_j, each lambda >= 0).
 *
 * The term J' v, from the rate of the rows, is included in aref only for constraints between
 * frames, as in MuJoCo. */
#ifndef ZW_SYSTEM_SOFT_H
#define ZW_SYSTEM_SOFT_H

#include "math/dense/paths.h"
#include "math/lane.h"
#include "math/sparse/ldl.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "system/soft/tolerances.h"

/* ---- soft.c: the law of one row -------------------------------------------------------------- */

/* d at a distance r, of either sign. */
double soft_impedance(const double imp[5], double r);
/* Its derivative by r, for r of either sign; at the corners of its curve one of the two one-sided
 * values. */
double soft_impedance_slope(const double imp[5], double r);

typedef struct soft_spring {
    double K, B;
} soft_spring;
/* Time constants below 2 h would be unstable and are raised to 2 h. */
soft_spring soft_spring_of(const zw_soft *law, double h);

/* The parameters of two geoms in contact: those of the geom with higher priority, else combined. */
zw_soft soft_mix(const zw_geom_def *a, const zw_geom_def *b);

/* ---- soft_law.c: the force of a block of rows ------------------------------------------------ */

typedef enum soft_kind {
    SOFT_EQUAL,
    SOFT_ABOVE,   /* lambda >= 0 */
    SOFT_BOX,     /* |lambda| <= most */
    SOFT_PYRAMID, /* edges n + mu_1 t_1, n - mu_1 t_1, n + mu_2 t_2, ..., each as SOFT_ABOVE */
    SOFT_CONE,    /* sum of (lambda_j / mu_j)^2 <= lambda_0^2 */
    SOFT_MASS     /* not a row: `most` is a mass that moves along the direction */
} soft_kind;

/* Between the parts of a step the warps of a GPU wait for each other, so that they execute the same
 * instructions at the same time, as the instruction cache is small. */
#ifndef SOFT_MEET
#define SOFT_MEET(s) ((void)(s))
#endif

enum { SOFT_GROUP = 8, SOFT_WIDE = 6, SOFT_SQUARE = SOFT_WIDE * (SOFT_WIDE + 1) / 2 };

/* The response of a block at some x = J a. */
typedef struct soft_reply {
    int state;       /* the set of active rows: while it is the same, the force is linear in x, */
    int curved;      /* unless this is set */
    double force[6]; /* along the directions */
    double C[SOFT_SQUARE]; /* -d force / dx, lower triangle by rows */
    double rest[6];        /* force + C x */
} soft_reply;

/* Rows that share their columns. */
typedef struct soft_block {
    soft_kind kind;
    int rows, first;    /* in b and D */
    int width, columns; /* J[width][stride]; stride: columns, and zeros to a multiple of four */
    int stride;
    int group; /* number of blocks from here on that share their columns; 0: within such a group */
    int J, column; /* offsets in value[] and column[]; columns are in rising order */
    int whole;     /* columns are all the dofs on the path from the root to the last */
    int of;        /* index of the constraint, contact point, dry friction or length */
    int next;      /* of the same island; -1: none */
    int held; /* the body in contact with the world, if J is not formed (soft_deep.c); 0: it has J
               */
    double mu[5], most;
    double x[6], move[6]; /* J a, and its change in a step */
    soft_reply now, then; /* at x, and at x + move */
} soft_block;

/* b = aref, D = 1/R: those of the block's rows. */
void soft_law(const soft_block *k, const double *b, const double *D, const double *x,
              soft_reply *to);
/* The same; for a pyramid only state, curved and force. */
void soft_law_force(const soft_block *k, const double *b, const double *D, const double *x,
                    soft_reply *to);

/* ---- The problem ----------------------------------------------------------------------------- */

/* The parameters of two geoms, as needed for their points. */
typedef struct soft_pair {
    int is_there;
    uint32_t geom[2];
    double imp[5];
    soft_spring spring, across; /* across: for friction */
    double A0;
} soft_pair;

enum { SOFT_PAIRS = 1024 };

/* A limit of one coordinate, active if coef q - limit < margin; q = -1: not such a limit. */
typedef struct soft_watch {
    int q, dof, length;
    double coef, limit, margin;
    soft_spring spring;
} soft_watch;

/* Dofs first..end-1 are one tree rooted at the world. */
typedef struct soft_tree {
    int first, end;
    int next;           /* of the same island; -1: none */
    int block;          /* first of its blocks, if it is the first of its island */
    int bent;           /* and whether it needs a separate pattern */
    int kind;           /* the first tree of the same pattern */
    int is_deep;        /* its paths are long: soft_deep.c, */
    int body, body_end; /* with its bodies */
    paths_shape shape;  /* pattern of M's rows, in numbers from `first` */
} soft_tree;

/* A separate pattern, in the numbering of the island. */
typedef struct soft_bend {
    int *dof, *parent, *depth, *start, *block;
} soft_bend;

/* Trees coupled by rows; soft_island.c. */
typedef struct soft_island {
    int tree, block; /* first ones */
    int n;
    const int *dof; /* [n] its dofs; NULL: they are contiguous, */
    int first;      /* from this one */
    paths_shape shape;
    double *H; /* its entries, then those of the factor */
    soft_bend bend;
    int is_large; /* no pattern: soft_large.c */
    int is_deep;  /* one tree without rows between two bodies: soft_deep.c */
} soft_island;

typedef struct soft_problem {
    int meets; /* SOFT_MEET waits */
    const zw_system *system;
    zw_work *work;
    double step; /* of the steps; */
    double h;    /* the same, for soft_spring_of; 0: time constants are not raised */

    /* soft_weight.c: 1/effective mass in the reference pose. */
    double (*part)[2]; /* [parts] of translations and rotations at the centre of mass */
    double *dof;       /* [n] mean over the dofs of a free or ball joint of one kind */
    double *length;    /* [lengths] */

    /* Rows: active constraints, contacts, friction; then tendons with a mass. */
    int rows, blocks, entries, columns;
    int row_capacity, entry_capacity, block_capacity;
    soft_block *block;
    int *column;
    double *value;
    double *b, *D;     /* aref, 1/compliance */
    int first_contact; /* block; `contacts` of them, the constraints before */
    int contacts;

    /* Data for filling them. */
    int has_frames;     /* some constraint is between frames */
    soft_watch *watch;  /* [constraints] */
    int is_there;       /* some geoms may touch */
    double near;        /* points are searched up to this gap; normally 0 */
    contact_work found; /* points; most with gap < 0 have a block */
    double *J;          /* of one point */
    double *scratch;    /* for the rows of a group, and in the pattern of bent islands */
    int *J_column;
    soft_pair *pair; /* [SOFT_PAIRS] by their geoms */
    const soft_pair
        *match; /* [matches] on a device: those of all pairs that may touch; else NULL */

    /* soft_island.c */
    int trees, islands;
    soft_tree *tree;
    soft_island *island; /* [trees] */
    int *leader;         /* [trees] the first tree of the island of each: math/partition.h */
    int *tree_of;        /* [n] */
    double **row;        /* [n] the row of H of each dof, */
    int *level;          /* [n] and where its column is in the rows of others */
    int is_bent;         /* some patterns differ from those of M */
    int *local;          /* [n] numbers in bent islands */
    int *bend_capacity, bend_used;
    int bent_capacity;
    double *bent_H;
    struct soft_large *large; /* [trees] by the first tree of an island that needs it */

    /* soft_newton.c */
    double *H;      /* of all islands that are not bent */
    double *force;  /* [n] all applied forces */
    double *push;   /* [n] J' lambda */
    double *a;      /* [n] */
    double *guess;  /* [n] a of the last solution, */
    double *before; /* [n] and of the previous one, for extrapolation; contiguous with it */
    double *back;   /* [n] scratch */
    double *x, *y, *Ma, *diagonal; /* [n] */
    double *held, *wrench, *deep;  /* [bodies][21], [bodies][6], [n] of soft_deep.c */
    int holds;                     /* contacts of deep trees with the world have no J */
    zw_real8 *lot;                 /* for eight islands at once */

    /* step/soft_step.c, soft_implicit.c */
    double *lower, *upper; /* [entries of M] M - h d force/dv: H_dj in row d, and H_jd */
    double *stage;         /* [nq + 4 (n + carried)] of Runge and Kutta */
    int only_pushes;       /* a is computed elsewhere: islands without rows are skipped */
    int iterations;        /* of the last solution: the most of an island */
    double slope;          /* remaining M a - force - J' lambda: its length, */
    double certificate;    /* and relative to that of its terms, for the worst island */
    void *memory;
} soft_problem;

/* ZW_BAD_INPUT: the bodies have a feature that the soft law does not support. */
zw_status soft_create(const zw_system *system, zw_work *work, double h, soft_problem **to,
                      zw_error *error);
void soft_free(soft_problem *s);

/* What the motion at (t, q, v) follows from: s->force, masses, rows and their islands. */
zw_status soft_set_up(soft_problem *s, double t, const double *q, const double *v, zw_error *error);
/* The motion at (t, q, v): s->a, s->push, and the replies of the blocks. */
zw_status soft_forward(soft_problem *s, double t, const double *q, const double *v,
                       zw_error *error);
/* With cones the last bits of a motion depend on the start of its search: the size of that start
 * (guess and before, contiguous), which is passed from step to step. 0: there are no cones. */
int soft_memory(const soft_problem *s);
/* Makes the search start at 0, if there may be cones. */
void soft_forget(soft_problem *s);
/* The force of contact block k (counted from s->first_contact) on its second body, along its frame:
 * normal, slide, slide, spin, roll, roll. */
void soft_contact_force(const soft_problem *s, int k, double force[6]);

/* soft_weight.c; masses have been factored for the reference pose. */
zw_status soft_weigh(soft_problem *s, zw_error *error);

/* soft_rows.c: after bodies_smooth. */
zw_status soft_fill(soft_problem *s, const double *q, const double *v, zw_error *error);
/* The parameters of two geoms; those of a point, from a cache; and after soft_fill the position r
 * of a constraint with one row. */
soft_pair soft_pair_make(const soft_problem *s, uint32_t i, uint32_t j);
const soft_pair *soft_pair_of(soft_problem *s, const contact_point *point);
double soft_row_place(const soft_problem *s, const soft_block *k, const double *q);
/* Row i of a constraint in the law is the row of bodies_fill_constraint times this. */
double soft_row_scale(const bodies_constraint *constraint, int row);
/* Does the law use a point of s->found? If so, its frame is rotated as in MuJoCo. */
int soft_takes(const soft_problem *s, int index);
/* Only the masses of tendons. 0: no memory. */
int soft_fill_masses(soft_problem *s);
/* Once for each constraint. */
soft_watch soft_watch_of(const soft_problem *s, const bodies_constraint *constraint);

/* soft_island.c: finds the trees coupled by blocks, and the pattern of H of each island. 0: no
 * memory.
 */
int soft_find_islands(soft_problem *s);
/* Once: the patterns of all trees, whose first and end are set; arrays of n, n, n + trees. */
void soft_find_trees(soft_problem *s, int *parent, int *start, int *block);

/* soft_block.c, of the group that begins at a block: */
/* x, or `move` if it is to look ahead, = J a */
void soft_along(const soft_problem *s, int block, const double *a, int ahead);
/* to += J' force, or J' rest */
void soft_push(const soft_problem *s, int block, int rest, double *to);
/* H += J' C J */
void soft_stiffen(const soft_problem *s, int block);

/* soft_lane.c: x = (H + diagonal) \ x in all lanes (diagonal may be NULL); H becomes its factor.
 * *good: lanes in which it is positive definite. */
void soft_solve_lanes(const paths_shape *shape, const zw_real8 *diagonal, zw_real8 *H, zw_real8 *x,
                      zw_mask8 *good);
/* x = H \ x for `lanes` islands of one pattern. The other lanes repeat one of them. 0: some H is
 * not positive definite. scratch: entries + n. */
int soft_solve_eight(const paths_shape *shape, double *const H[LANES], double *const x[LANES],
                     int lanes, zw_real8 *scratch);

/* soft_deep.c: whether a tree has long paths, and an island is suitable; then as paths_factor,
 * paths_solve, paths_multiply, in the numbering of all dofs. */
void soft_deep_find(const soft_problem *s, soft_tree *own);
int soft_deep_fits(const soft_problem *s, const soft_island *island);
/* For a block without J: x = J a from the motions of bodies, A or V of the sweeps; and its force on
 * the body, added to s->wrench. */
void soft_deep_along(const soft_problem *s, const soft_block *k, int motion, double *x);
void soft_deep_push(const soft_problem *s, const soft_block *k, const double *force);
/* The accelerations of bodies from those of dofs; and the wrenches as forces on dofs, added, after
 * which the wrenches are zeroed. */
void soft_deep_accelerate(const soft_problem *s, const soft_tree *own, const double *a);
void soft_deep_collect(const soft_problem *s, const soft_tree *own, double *to);
int soft_deep_factor(soft_problem *s, const soft_island *island, const double *diagonal,
                     int only_masses);
void soft_deep_solve(soft_problem *s, const soft_island *island, double *x);
void soft_deep_multiply(const soft_problem *s, const soft_tree *own, const double *x, double *y);

/* soft_newton.c: a of every island. */
zw_status soft_minimise(soft_problem *s, zw_error *error);
/* Factors M + diagonal (NULL: none), including masses of tendons; then x = that \ x. 0: not
 * positive definite. After soft_find_islands. */
int soft_factor_masses(soft_problem *s, const double *diagonal);
void soft_solve_masses(soft_problem *s, double *x);
/* After soft_forward: factors H = M + J' C J at the solution, for soft_solve_masses. 0: not
 * positive definite. */
int soft_factor(soft_problem *s);

#endif
