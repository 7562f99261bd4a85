/* What the files of the proximal method share; see sparse_prox.c. */
#ifndef ZW_GAUSS_SPARSE_PROX_INNER_H
#define ZW_GAUSS_SPARSE_PROX_INNER_H

#include "gauss/contact/sparse_prox.h"
#include "gauss/contact/sparse_prox_table.h"
#include "math/jordan.h"
#include "math/sparse/front.h"

#define MANY_EXACT 1e-13 /* a certificate that needs no improvement */

/* sparse_prox_anderson.c: fixed points r = g(r) of maps that are linear as long as no contact does
 * something else. */
enum { MANY_KEPT = 6 }; /* earlier ones that are combined */

typedef struct many_anderson {
    double *r, *x; /* [rows], [n] where the next begins */
    double *g, *y; /* [rows], [n] where the last one has led: r in the cones, and its motion */
    double *f;     /* [rows] what it changed, in units of sqrt(energy), */
    double *unit;  /* [rows] which are these of r */
    double size;   /* |f| */
    /* differences of one to the one before, in f, g and y: the newest is in place `newest` */
    double *df[MANY_KEPT], *dg[MANY_KEPT], *dy[MANY_KEPT];
    double gram[MANY_KEPT][MANY_KEPT]; /* df . df */
    int kept, newest, known;
} many_anderson;

void many_anderson_lay_out(many_anderson *a, const many_table *t, base_arena *arena);
void many_anderson_begin(many_anderson *a, const many_table *t);
/* Discards the history: the map has changed. */
void many_anderson_forget(many_anderson *a);
/* The map leads from a->r to g, and to the motion y: computes r and x from which to continue. */
void many_anderson_mix(many_anderson *a, const many_table *t, const double *g, const double *y);

/* Where a path inside the cones has come to; by rows, unless noted. */
typedef struct many_path {
    double *x, *r, *y, *w;   /* x is [n] */
    double *dr, *dy, *q;     /* the step */
    double *slip;            /* direction of w_T; 0 at the normal */
    double *z, *dz;          /* [units] y_N - |y_T|, what w_N is to be */
    jordan_scaling *scaling; /* [units] */
    double mu;
} many_path;

/* Which nodes are coupled: size [nodes]; rows of each column, ascending. */
typedef struct many_pattern {
    int *size, *start, *row;
} many_pattern;

struct sparse_prox {
    many_table t;
    int m; /* rows of the problem */
    front *front;

    /* memory: of one solve, scratch of the tables, the pattern */
    unsigned char *block, *marks, *pattern, *spare;
    size_t capacity, mark_capacity, pattern_capacity, spare_capacity;

    /* the pattern that the front was analysed for, for so many units in play; known_nodes < 0:
     * none */
    int known_nodes, known_units;
    many_pattern known;
    int is_own; /* it was found, or found again, in this solve */
    int *pair;  /* [t.pairs] of units in play: entry of the pattern */
    int *fill;  /* [t.nodes] */

    double kappa;
    double *G;              /* [t.slopes] the slopes of the units in play */
    double *B;              /* [t.slopes] sparse_prox_pair.c: A^-1 of the units in play */
    double *r;              /* [rows] the centre */
    double *x, *w, *pi, *F; /* an iterate: a - a_free, w, the multipliers, what is */
    unsigned char *state;   /* left of the balance, and what the units do */
    double *x_new, *w_new, *pi_new, *F_new;
    unsigned char *state_new;  /* the same at the end of a step */
    double *d, *dw, *y;        /* the step; scratch [n] */
    double *x_good;            /* [n] where the centre was last moved */
    unsigned char *factored;   /* [units] the states in the factors */
    many_anderson sweeps;      /* sparse_prox_anderson.c: of sweeps, */
    double *r_swept, *x_swept; /* [rows], [n] the best result of a turn of them, */
    double swept;              /* and its error */
    many_anderson centres;     /* and of centres, */
    unsigned char *settled;    /* [units] the last of which had these states */
    many_path path;            /* sparse_prox_path.c */
    int has_factor;

    double *a, *lambda, *best_a, *best_lambda, *residual; /* of the user: n and m */
    double *scratch;                                      /* of the certificate */
    zw_certificate proof, best_proof;
    double best; /* certificate */
    int iterations, factorizations;
};

/* A block of at least this many bytes; what was in it is lost. 0: no memory. */
int many_reserve(unsigned char **block, size_t *capacity, size_t need);

/* What was requested. */
typedef struct many_task {
    const zw_gauss *problem;
    zw_contact_law contact;
    double tolerance;        /* of the certificate, */
    double aim;              /* and the target: smaller where no tolerance was requested, */
    double good;             /* and what is accepted where more is hard to achieve */
    int effort;              /* factorisations, all together, */
    int steps;               /* and those of one path, */
    int (*stop)(void *user); /* unless the caller wants an end before */
    void *user;
} many_task;

/* No further work may be started. */
static inline int many_spent(const sparse_prox *s, const many_task *task)
{
    return s->factorizations >= task->effort || (task->stop && task->stop(task->user));
}

/* How Newton's method is used. */
typedef struct many_way {
    double kappa;
    int effort; /* factorisations */
    int fails; /* how often it may restore a centre; 0: and it gives up where centres gain little */
    int cold;  /* w is that of the free motion: violated contacts will stick */
    int anywhere; /* it may also begin with many changes, and restore the first centre */
} many_way;

/* sparse_prox.c: the certificate of x and r; the best of them is kept. */
double many_certify(sparse_prox *s, const many_task *task, const double *x, const double *r);

/* sparse_prox_newton.c: from s->r and s->w. 1: solved. */
int many_newton(sparse_prox *s, const many_task *task, const many_way *way);
void many_residuals(const many_table *t, const double *x, double *w); /* w = J x + c */

/* sparse_prox_pair.c: from s->r and s->x, with at most so many factorisations; cold: nothing is
 * known of which contacts push. 1: solved. */
int many_pair(sparse_prox *s, const many_task *task, int effort, int cold);

/* sparse_prox_path.c: from the result of the sweeps, with this share of the violation's energy as
 * mu; 0: without a start. 1: solved. */
void many_path_lay_out(sparse_prox *s, base_arena *arena);
int many_follow(sparse_prox *s, const many_task *task, double share);

/* sparse_prox_law.c: pi of one unit at r and w, and what it does. OPEN is a row of its own at
 * either end of where its multiplier may be. */
int many_law(const many_unit *u, double kappa, const double *r, const double *w, double *pi);
/* The fraction of a force that remains of a compliant row: prox.c's s. */
double many_soft(const many_unit *u, double kappa);
/* How many times `way` may be added to r until the unit changes its mode: opens, or begins to
 * slide. A sliding unit stays on its cone. */
double many_way_to_change(const many_unit *u, int state, const double *r, const double *way);
/* The slopes G = - d pi / d w of a unit that is not open, d x d, at the iterate. */
void many_slope(const sparse_prox *s, int unit, double *G);

/* sparse_prox_matrix.c: H = M + J' G J with the units that are not open by s->state, factored. 0:
 * there is no factor. */
int many_factor(sparse_prox *s);

#endif
