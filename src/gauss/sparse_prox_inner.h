/* What the files of the proximal method share; the story is in sparse_prox.c. */
#ifndef ZW_GAUSS_SPARSE_PROX_INNER_H
#define ZW_GAUSS_SPARSE_PROX_INNER_H

#include "gauss/sparse_prox.h"
#include "gauss/sparse_prox_table.h"
#include "math/front.h"

struct sparse_prox {
    many_table t;
    int m; /* rows of the problem */
    front *front;

    /* memory: of one solve, scratch of the tables, the pattern */
    unsigned char *block, *marks, *pattern;
    size_t room, mark_room, pattern_room;

    /* the pattern that the front was analysed for; known_nodes < 0: none */
    int known_nodes;
    int *known_size, *known_start, *known_row;
    int *pair; /* [t.pairs] of units in play: entry of the pattern */
    int *fill; /* [t.nodes] */

    double kappa;
    double *r;              /* [rows] the centre */
    double *x, *w, *pi, *F; /* an iterate: a - a_free, w, the multipliers, what is */
    unsigned char *state;   /* left of the balance, and what the units do */
    double *x_new, *w_new, *pi_new, *F_new;
    unsigned char *state_new;  /* the same at the end of a step */
    double *d, *dw, *y;        /* the step; scratch [n] */
    double *x_good;            /* [n] where the centre was last moved */
    double *r_swept, *x_swept; /* what sweeps have come to */
    unsigned char *factored;   /* [units] the states in the factors */
    int has_factor;

    double *a, *lambda, *best_a, *best_lambda, *residual; /* of the user: n and m */
    double *scratch;                                      /* of the certificate */
    zw_certificate proof, best_proof;
    double best; /* certificate */
    int iterations, factorizations;
};

/* A block of at least this many bytes; what was in it is lost. 0: no memory. */
int many_room(unsigned char **block, size_t *room, size_t need);

/* sparse_prox_law.c: pi of one unit at r and w, and what it does. */
int many_law(const many_unit *u, double kappa, const double *r, const double *w, double *pi);
/* How many times `way` may be added to r until the unit does something else: opens, or begins to
 * slide. What slides already stays on its cone. */
double many_way_to_change(const many_unit *u, int state, const double *r, const double *way);
/* The slopes G = - d pi / d w of a unit that is not open, d x d. */
void many_slope(const sparse_prox *s, int unit, double *G);

/* sparse_prox_matrix.c: H = M + J' G J at s->w, s->state, factored. 0: there is no factor. */
int many_factor(sparse_prox *s);

#endif
