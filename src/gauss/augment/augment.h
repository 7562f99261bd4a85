/* Contacts with Coulomb's law in one linear step, for one world and for eight (design:
 * math/lane.h).
 *
 *     H (u - v0) = r + J' lambda                   H symmetric, on the paths of a tree
 *
 *     w = J u:     0 <= lambda_n  _|_  w_n - b >= 0
 *                  |lambda_t| <= mu lambda_n,   lambda_t = -mu lambda_n w_t/|w_t|  where w_t != 0
 *
 * augment.lane.h goes from H and J to the rows that may push, and from their multipliers to u;
 * augment_newton.c solves the law for these rows. */
#ifndef ZW_GAUSS_AUGMENT_H
#define ZW_GAUSS_AUGMENT_H

#include "base/memory.h"
#include "math/dense/paths.h"
#include "math/lane.h"

/* ---- The rows of one world: augment_newton.c ------------------------------------------------- */

/* Blocks and rows that take part in the problem of a world, at most; and rows of eight worlds. (A
 * world on a GPU has less memory, and with more rows leaves its step to the processor.) */
#ifdef ZW_AUGMENT_ROWS
enum { AUGMENT_SLOTS = 40, AUGMENT_ROWS = ZW_AUGMENT_ROWS, AUGMENT_HALVES = 128 };
#else
enum { AUGMENT_SLOTS = 40, AUGMENT_ROWS = 96, AUGMENT_HALVES = 128 };
#endif

/* A block that takes part. */
typedef struct augment_slot {
    int width, row;           /* where its rows are in W */
    int closed, slides;       /* modes at z */
    double mu, b, free[3];    /* its speeds without contacts */
    double G, natural;        /* speed by a unit impulse; 1/G */
    double own;               /* 1/W of the normal row */
    double lambda[3], w[3];   /* multipliers after a step, and speeds */
    double then[3];           /* multipliers projected onto the law */
    double z[3];              /* by which modes were decided */
    double best[3], found[3]; /* lambda and then of the best step */
    double t[2], turn;        /* for sliding: direction of friction, and how it turns */
} augment_slot;

/* For a step. */
typedef struct augment_scratch {
    double A[AUGMENT_ROWS][AUGMENT_ROWS], right[AUGMENT_ROWS], w[AUGMENT_ROWS];
    int line[AUGMENT_ROWS], lines; /* rows of closed slots */
} augment_scratch;

typedef struct augment_problem {
    int slots, rows;
    augment_slot slot[AUGMENT_SLOTS];
    double *W; /* [AUGMENT_ROWS][AUGMENT_ROWS] of its rows, and room for four more numbers */
    augment_scratch *scratch;
    int age, live;  /* steps so far; unsolved */
    int tries;      /* how often it may begin again */
    int careful;    /* it gets stiffer slowly */
    double fastest; /* the largest free speed of its rows */
    double stiff;   /* rho G */
    double best;    /* residual of the law, of the best step */
} augment_problem;

void augment_clear(augment_problem *p);
/* Adds a block, closed and sticking; returns its slot, -1: there are too many. Its rows of W must
 * follow. */
int augment_add(augment_problem *p, int width, double mu, double b, const double *free);
/* The entries of W of two slots. */
void augment_put(augment_problem *p, int a, int b, const double *tile);
/* After blocks were added: sweeps, by which it is known roughly what pushes. */
void augment_restart(augment_problem *p);
/* The same where the multipliers are known roughly, from a problem that was like this one. */
void augment_resume(augment_problem *p);
/* The numbers with which steps begin. */
void augment_set_out(augment_problem *p);
/* Steps until it is solved, or until it is clear that it will not be; returns how many. */
int augment_advance(augment_problem *p);
int augment_is_solved(const augment_problem *p);

/* ---- The motion of one world or of eight: augment.lane.h --------------------------------------
 */

#define AUGMENT_ONE(name) name##1
#define AUGMENT_EIGHT(name) name##8

#define zw_real double
#define zw_mask int
#define LANE AUGMENT_ONE
#define AUGMENT_LANES 1
#include "gauss/augment/augment_list.lane.h"
#undef zw_real
#undef zw_mask
#undef LANE
#undef AUGMENT_LANES

#define zw_real zw_real8
#define zw_mask zw_mask8
#define LANE AUGMENT_EIGHT
#define AUGMENT_LANES LANES
#include "gauss/augment/augment_list.lane.h"
#undef zw_real
#undef zw_mask
#undef LANE
#undef AUGMENT_LANES

/* One world, with memory for it: augment_alone.c */
typedef struct augment_alone {
    augment1 it;
    paths_shape straight;
    int *depth, *start, *run; /* of straight */
    double *H;                /* of it */
    int block_capacity;       /* of it.block */
    void *memory;
} augment_alone;

/* For n unknowns on the paths of a tree. 0: no memory */
int augment_alone_create(augment_alone *a, int n, const int *parent);
void augment_alone_free(augment_alone *a);
int augment_alone_grow(augment_alone *a, int blocks);

#endif
