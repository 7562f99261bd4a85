/* MuJoCo's soft constraints for rigid bodies, so that its models give its numbers.
 *
 * Everything that holds or touches is a row with a place r (0: it holds; r < 0: broken by so much)
 * and a speed J v. A row would like its acceleration to be that of a damped spring,
 *
 *     aref = -B (J v) - K d r,
 *
 * and gives way to what pulls: J a - aref + R lambda = 0, R = (1 - d)/d * A0. d in (0, 1) is the
 * impedance, a curve over |r| (soft.c); A0 is about the diagonal of J M^-1 J', from numbers that
 * are found once, in the reference pose (soft_weight.c). With d = 1 it is the rigid law. So the
 * motion is Gauss's minimum with compliance R,
 *
 *     minimise  1/2 (a - a_free)' M (a - a_free)     subject to     J a - aref + R lambda  in  K*.
 *
 * As R > 0, lambda is a function of J a (soft_law.c), and a is the minimum of a function without
 * constraints: the one that soft_newton.c finds. Rows are equalities, limits (lambda >= 0),
 * friction of joints and tendons (lambda in a box), contacts, elliptic (a cone) or pyramidal
 * (2 (d - 1) edges n +- mu_j t_j, each lambda >= 0).
 *
 * Of the curvature J' v, the rate of the rows, aref has the part of constraints between frames and
 * no other; so has MuJoCo. */
#ifndef ZW_SYSTEM_SOFT_H
#define ZW_SYSTEM_SOFT_H

#include "math/dense/paths.h"
#include "math/lane.h"
#include "math/sparse/ldl.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"

/* ---- soft.c: the law of one row -------------------------------------------------------------- */

/* d at a distance r, of either sign, from where the law begins. */
double soft_impedance(const double imp[5], double r);
/* Its slope by r, for r of either sign; at the ends of its curve one of the two that there are. */
double soft_impedance_slope(const double imp[5], double r);

typedef struct soft_spring {
    double K, B;
} soft_spring;
/* Time constants below 2 h would be unstable: they count as that. */
soft_spring soft_spring_of(const zw_soft *law, double h);

/* The law of two geoms that touch: of the one of higher priority, else mixed. */
zw_soft soft_mix(const zw_geom_def *a, const zw_geom_def *b);

/* ---- soft_law.c: the force of a block of rows ------------------------------------------------ */

typedef enum soft_kind {
    SOFT_EQUAL,
    SOFT_ABOVE,   /* lambda >= 0 */
    SOFT_BOX,     /* |lambda| <= most */
    SOFT_PYRAMID, /* edges n + mu_1 t_1, n - mu_1 t_1, n + mu_2 t_2, ..., each as SOFT_ABOVE */
    SOFT_CONE,    /* sum of (lambda_j / mu_j)^2 <= lambda_0^2 */
    SOFT_MASS     /* no row: `most` is a mass that moves along the direction */
} soft_kind;

/* Products of the factor of a bent island: where there are more, it is large (soft_large.c). So no
 * way in it is longer than the cube root of six times that. */
#define SOFT_TOO_LONG 1e6
enum { SOFT_DEEPEST = 184 };

/* Products a dof from which on chains are factored as articulated bodies: soft_deep.c. */
#define SOFT_DEEP 1600

/* Between the parts of a step the warps of a GPU wait for each other: so they ask for the same
 * instructions at the same time, of which there is little room near its units. */
#ifndef SOFT_MEET
#define SOFT_MEET(s) ((void)(s))
#endif

enum { SOFT_GROUP = 8, SOFT_WIDE = 6, SOFT_SQUARE = SOFT_WIDE * (SOFT_WIDE + 1) / 2 };

/* Of a block at some x = J a. */
typedef struct soft_reply {
    int state;             /* what pushes: as long as it is the same, the force is linear in x, */
    int curved;            /* but where this is set */
    double force[6];       /* along the directions */
    double C[SOFT_SQUARE]; /* -d force / dx, lower triangle by rows */
    double rest[6];        /* force + C x */
} soft_reply;

/* Rows that share their columns. */
typedef struct soft_block {
    soft_kind kind;
    int rows, first;    /* in b and D */
    int width, columns; /* J[width][stride]; stride: columns, and zeros to a multiple of four */
    int stride;
    int group;     /* so many blocks from here on share their columns; 0: within such a group */
    int J, column; /* where they are in value[] and column[]; columns rise */
    int whole;     /* columns are all the dofs on the way from the root to the last */
    int of;        /* of constraints: which; of contacts: which point */
    int next;      /* of the same island; -1: none */
    int held;      /* the body that it holds to the world, without J (soft_deep.c); 0: it has J */
    double mu[5], most;
    double x[6], move[6]; /* J a, and how it would change */
    soft_reply now, then; /* at x, and at x + move */
} soft_block;

/* b = aref, D = 1/R: those of the block's rows. */
void soft_law(const soft_block *k, const double *b, const double *D, const double *x,
              soft_reply *to);
/* The same; of a pyramid only state, curved and force. */
void soft_law_force(const soft_block *k, const double *b, const double *D, const double *x,
                    soft_reply *to);

/* ---- The problem ----------------------------------------------------------------------------- */

/* The law of two geoms, as their points need it. */
typedef struct soft_pair {
    int is_there;
    uint32_t geom[2];
    double imp[5];
    soft_spring spring, across; /* across: of friction */
    double A0;
} soft_pair;

enum { SOFT_PAIRS = 1024 };

/* A limit of one coordinate: coef q - limit < margin, or it does nothing; q = -1: no such limit. */
typedef struct soft_watch {
    int q, dof, length;
    double coef, limit, margin;
    soft_spring spring;
} soft_watch;

/* Dofs first..end-1 are a tree of their own: what roots at the world. */
typedef struct soft_tree {
    int first, end;
    int next;           /* of the same island; -1: none */
    int block;          /* first of its blocks, if it is the first of its island */
    int bent;           /* and whether it needs a pattern of its own */
    int kind;           /* the first tree of the same pattern */
    int is_deep;        /* its ways are long: soft_deep.c, */
    int body, body_end; /* with its bodies */
    paths_shape shape;  /* pattern of M's rows, in numbers from `first` */
} soft_tree;

/* A pattern of its own, in numbers of the island. */
typedef struct soft_bend {
    int *dof, *parent, *depth, *start, *block;
} soft_bend;

/* Trees that rows hold together; soft_island.c. */
typedef struct soft_island {
    int tree, block; /* first ones */
    int n;
    const int *dof; /* [n] which; NULL: they are in a row, */
    int first;      /* from this one */
    paths_shape shape;
    double *H; /* its entries, then those of the factor */
    soft_bend bend;
    int is_large; /* no pattern: soft_large.c */
    int is_deep;  /* it is one tree, and no rows are between two bodies: soft_deep.c */
} soft_island;

typedef struct soft_problem {
    int meets; /* SOFT_MEET waits */
    const zw_system *system;
    zw_work *work;
    double step; /* of the steps; */
    double h;    /* likewise, for soft_spring_of; 0: it is not to be safe */

    /* soft_weight.c: 1/effective mass in the reference pose. */
    double (*part)[2]; /* [parts] of shifts and turns at the centre of mass */
    double *dof;       /* [n] mean over the dofs of a free or ball joint of one kind */
    double *length;    /* [lengths] */

    /* Rows: constraints that hold, contacts, friction; then tendons with a mass. */
    int rows, blocks, entries, columns;
    int row_capacity, entry_capacity, block_capacity;
    soft_block *block;
    int *column;
    double *value;
    double *b, *D;     /* aref, 1/compliance */
    int first_contact; /* block; `contacts` of them, the constraints before */
    int contacts;

    /* What they are made from. */
    int has_frames;     /* some constraint is between frames */
    soft_watch *watch;  /* [constraints] */
    int is_there;       /* something may touch */
    double near;        /* points are looked for up to this gap: 0 unless asked for */
    contact_work found; /* points; most with gap < 0 have a block */
    double *J;          /* of one point */
    double *scratch;    /* for the rows of a group, and for those as bent islands have them */
    int *J_column;
    soft_pair *pair;        /* [SOFT_PAIRS] by their geoms */
    const soft_pair *match; /* [matches] or, on a device, those of all that may touch; else NULL */

    /* soft_island.c */
    int trees, islands;
    soft_tree *tree;
    soft_island *island; /* [trees] */
    int *leader;         /* [trees] the first tree of the island of each: math/partition.h */
    int *tree_of;        /* [n] */
    double **row;        /* [n] the row of H of each dof, */
    int *level;          /* [n] and where its column is in the rows of others */
    int is_bent;         /* some of these are not those of M */
    int *local;          /* [n] numbers in islands that are bent */
    int *bend_capacity, bend_used;
    int bent_capacity;
    double *bent_H;
    struct soft_large *large; /* [trees] by the first tree of an island that needs it */

    /* soft_newton.c */
    double *H;                     /* of all islands that are not bent */
    double *force;                 /* [n] all that is applied */
    double *push;                  /* [n] J' lambda */
    double *a;                     /* [n] */
    double *guess;                 /* [n] a of the last solution, */
    double *before;                /* [n] and of the one before: where the next begins; after it */
    double *back;                  /* [n] scratch */
    double *x, *y, *Ma, *diagonal; /* [n] */
    double *held, *wrench, *deep;  /* [bodies][21], [bodies][6], [n] of soft_deep.c */
    int holds;                     /* contacts of deep trees with the world have no J */
    zw_real8 *lot;                 /* for eight islands at once */

    /* step/soft_step.c, soft_implicit.c */
    double *lower, *upper; /* [entries of M] M - h d force/dv: H_dj in row d, and H_jd */
    double *stage;         /* [nq + 4 (n + carried)] of Runge and Kutta */
    int only_pushes;       /* a is found otherwise: what no row holds needs none */
    int iterations;        /* of the last solution: the most of an island */
    double slope;          /* what it left of M a - force - J' lambda: its length, */
    double certificate;    /* and in proportion to that of its parts, the worst island's */
    void *memory;
} soft_problem;

/* ZW_BAD_INPUT: these bodies have something that the law is not made for. */
zw_status soft_create(const zw_system *system, zw_work *work, double h, soft_problem **to,
                      zw_error *error);
void soft_free(soft_problem *s);

/* What the motion at (t, q, v) follows from: s->force, masses, rows and their islands. */
zw_status soft_set_up(soft_problem *s, double t, const double *q, const double *v, zw_error *error);
/* The motion at (t, q, v): s->a, s->push, and the replies of the blocks. */
zw_status soft_forward(soft_problem *s, double t, const double *q, const double *v,
                       zw_error *error);
/* With cones the last bits of a motion depend on where its search began: the numbers that it begins
 * with (guess and before, in a row), which are handed from step to step. 0: there are no cones. */
int soft_memory(const soft_problem *s);
/* The search begins at 0, if there may be cones. */
void soft_forget(soft_problem *s);
/* The force of contact block k (counted from s->first_contact) on its second body, along its frame:
 * normal, slide, slide, spin, roll, roll. */
void soft_contact_force(const soft_problem *s, int k, double force[6]);

/* soft_weight.c; masses are factored for the reference pose. */
zw_status soft_weigh(soft_problem *s, zw_error *error);

/* soft_rows.c: after bodies_smooth. */
zw_status soft_fill(soft_problem *s, const double *q, const double *v, zw_error *error);
/* The law of two geoms; of those of a point, looked up; and after soft_fill the place r of a
 * constraint of one row. */
soft_pair soft_pair_make(const soft_problem *s, uint32_t i, uint32_t j);
const soft_pair *soft_pair_of(soft_problem *s, const contact_point *point);
double soft_row_place(const soft_problem *s, const soft_block *k, const double *q);
/* Does the law take a point of s->found? If so, its frame is turned as the law has it. */
int soft_takes(const soft_problem *s, int index);
/* Only the masses of tendons. 0: no memory. */
int soft_fill_masses(soft_problem *s);
/* Once for each constraint. */
soft_watch soft_watch_of(const soft_problem *s, const bodies_constraint *constraint);

/* soft_island.c: which trees the blocks hold together, and the pattern of H of each. 0: no memory.
 */
int soft_find_islands(soft_problem *s);
/* Once: the shapes of all trees, whose first and end are known; room for n, n, n + trees. */
void soft_find_trees(soft_problem *s, int *parent, int *start, int *block);

/* soft_block.c, of the group that begins at a block: */
/* x, or `move` if it is to look ahead, = J a */
void soft_along(const soft_problem *s, int block, const double *a, int ahead);
/* to += J' force, or J' rest */
void soft_push(const soft_problem *s, int block, int rest, double *to);
/* H += J' C J */
void soft_stiffen(const soft_problem *s, int block);

/* soft_lane.c: x = (H + diagonal) \ x in all lanes (diagonal may be NULL); H becomes its factor.
 * Not good: lanes in which it is not positive. */
void soft_solve_lanes(const paths_shape *shape, const zw_real8 *diagonal, zw_real8 *H, zw_real8 *x,
                      zw_mask8 *good);
/* Of `lanes` islands of one shape, x = H \ x. The other lanes repeat one of them. 0:
 * some H is not positive. room: entries + n. */
int soft_solve_eight(const paths_shape *shape, double *const H[LANES], double *const x[LANES],
                     int lanes, zw_real8 *scratch);

/* soft_deep.c: whether a tree is one of long ways, and an island fits; then as paths_factor,
 * paths_solve, paths_multiply, by numbers of all dofs. */
void soft_deep_find(const soft_problem *s, soft_tree *own);
int soft_deep_fits(const soft_problem *s, const soft_island *island);
/* A block that holds a body: x = J a from the motions of bodies, A or V of the sweeps; and its
 * force on the body, added to s->wrench. */
void soft_deep_along(const soft_problem *s, const soft_block *k, int motion, double *x);
void soft_deep_push(const soft_problem *s, const soft_block *k, const double *force);
/* The accelerations of bodies for these of dofs; what the wrenches do to the dofs, added, after
 * which they are 0 again. */
void soft_deep_accelerate(const soft_problem *s, const soft_tree *own, const double *a);
void soft_deep_collect(const soft_problem *s, const soft_tree *own, double *to);
int soft_deep_factor(soft_problem *s, const soft_island *island, const double *diagonal,
                     int only_masses);
void soft_deep_solve(soft_problem *s, const soft_island *island, double *x);
void soft_deep_multiply(const soft_problem *s, const soft_tree *own, const double *x, double *y);

/* soft_newton.c: a of every island. */
zw_status soft_minimise(soft_problem *s, zw_error *error);
/* Factors of M + diagonal, masses of tendons included (NULL: none); then x = that \ x. 0: it is not
 * positive. After soft_find_islands. */
int soft_factor_masses(soft_problem *s, const double *diagonal);
void soft_solve_masses(soft_problem *s, double *x);
/* After soft_forward: factors of H = M + J' C J at its end, for soft_solve_masses. 0: it is not
 * positive. */
int soft_factor(soft_problem *s);

#endif
