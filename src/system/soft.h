/* MuJoCo's soft constraints for rigid bodies, so that its models give its numbers.
 *
 * Everything that holds or touches is a row with a place r (0: it holds; r < 0: broken by so much)
 * and a speed J v. A row would like its acceleration to be that of a damped spring,
 *
 *     aref = -B (J v) - K d r,
 *
 * and gives way to what pulls: J a - aref + R lambda = 0, R = (1 - d)/d * A0. d in (0, 1) is the
 * impedance, a curve over |r| (soft.c); A0 is about the diagonal of J M^-1 J', from numbers that
 * are found once, in the pose as described (soft_weight.c). With d = 1 it is the rigid law. So the
 * motion is Gauss's minimum with compliance R,
 *
 *     minimise  1/2 (a - a_free)' M (a - a_free)     subject to     J a - aref + R lambda  in  K*,
 *
 * the kernel's convex law: rows of equalities, of limits (lambda >= 0), of contacts, elliptic (a
 * cone) or pyramidal (2 (d - 1) edges n +- mu_j t_j, each lambda >= 0). Friction of joints and
 * tendons is an equality whose lambda stays in a box; soft_solve.c.
 *
 * Of the curvature J' v, the rate of the rows, aref has the part of closers between frames and no
 * other; so has MuJoCo. */
#ifndef ZW_SYSTEM_SOFT_H
#define ZW_SYSTEM_SOFT_H

#include "gauss/islands.h"
#include "math/ldl.h"
#include "system/bodies.h"
#include "system/contacts.h"

/* ---- soft.c: the law of one row -------------------------------------------------------------- */

/* d at a distance r, of either sign, from where the law begins. */
double soft_impedance(const double imp[5], double r);

typedef struct soft_spring {
    double K, B;
} soft_spring;
/* Time constants below 2 h would be unstable: they count as that. */
soft_spring soft_spring_of(const zw_soft *law, double h);

/* The law of two geoms that touch: of the one of higher priority, else mixed. */
zw_soft soft_mix(const zw_geom_def *a, const zw_geom_def *b);

/* ---- The problem ----------------------------------------------------------------------------- */

typedef struct soft_problem {
    const zw_system *system;
    zw_work *work;
    double h; /* of the steps, for soft_spring_of; 0: it is not to be safe */

    /* soft_weight.c: 1/mass, felt in the pose as described. */
    double (*part)[2]; /* [parts] of shifts and turns at the centre of mass */
    double *dof;       /* [n] mean over the dofs of a free or ball joint of one kind */
    double *length;    /* [lengths] */

    /* The masses, factored. */
    sparse_ldl *ldl;
    double *M; /* [entries] */

    /* Rows: those of closers that hold, friction, contacts. */
    int rows, blocks, entries;
    int row_room, entry_room;
    zw_block *block;
    int *start, *column;
    double *value;
    double *b, *R;     /* aref, compliance */
    double *lambda;    /* the answer */
    int *first;        /* [blocks] first rows */
    int *of;           /* [blocks] of closers: which; of contacts: which point */
    int first_contact; /* block; `contacts` of them, then friction that is inside its box */
    int contacts;

    /* What they are made from. */
    double *phi, *psi, *closer_b, *A;
    int is_there;       /* something may touch */
    contact_work found; /* points; most with gap < 0 have a block */
    double *J, *room;   /* of one point */
    int *J_column;

    /* Friction of joints and tendons: -1, 1: lambda is at that end of its box. */
    int *dry_mode;    /* [dry] */
    double *dry_R;    /* [dry] */
    double *dry_aref; /* [dry] */
    double *dry_push; /* [dry] lambda */

    gauss_islands *islands;
    gauss_islands_answer answer;
    double *force;  /* [n] all that is applied */
    double *a_free; /* [n] */
    double *push;   /* [n] J' lambda */
    double *a;      /* [n] */
    int iterations; /* of the last solution */
    double slope;   /* and what it left of M a - force - J' lambda, its length */
    void *memory;
} soft_problem;

/* ZW_BAD_INPUT: these bodies have something that the law is not made for. */
zw_status soft_create(const zw_system *system, zw_work *work, double h, soft_problem **to,
                      zw_error *error);
void soft_free(soft_problem *s);

/* The motion at (t, q, v): s->a, s->push, multipliers. */
zw_status soft_forward(soft_problem *s, double t, const double *q, const double *v,
                       zw_error *error);
/* The force of contact block k (counted from s->first_contact) on its second body, along its frame:
 * normal, slide, slide, spin, roll, roll. */
void soft_contact_force(const soft_problem *s, int k, double force[6]);

/* soft_weight.c; M is factored for the pose as described. */
zw_status soft_weigh(soft_problem *s, zw_error *error);
/* soft_solve.c: M of PART_METRIC or PART_TERMS, factored; 0: it is not positive. */
int soft_factor(soft_problem *s, const double *M);

/* soft_rows.c: after PART_TERMS. */
zw_status soft_fill(soft_problem *s, const double *q, const double *v, zw_error *error);

#endif
