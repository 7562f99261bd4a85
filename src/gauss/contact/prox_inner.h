/* What prox.c and prox_open.c share. */
#ifndef ZW_GAUSS_PROX_INNER_H
#define ZW_GAUSS_PROX_INNER_H

#include "gauss/contact/prox.h"
#include "gauss/contact/prox_law.h"

#define PROX_WEIGHT 1e5 /* k */

struct gauss_prox {
    int n, m, units, wide; /* wide: n in whole lines */
    int coulomb;
    const zw_gauss *problem;
    const gauss_piece *piece;
    prox_unit *unit;
    double *u, *p, *way, *push, *away, *free, *unit_of, *inverse; /* [wide] */
    double *scale, *b, *give, *r, *w, *lambda, *moved, *dw;       /* [m] in scaled units */
    double *out, *residual, *before, *carried;                    /* [m] */
    double *J;                                                    /* [m][wide] the rows, scaled */
    double *T;                                                    /* [CONE_MAX][wide] */
    double *M, *H, *U;                                            /* [wide][wide] */
    int *column;                                                  /* [entries] */
    size_t entries;                                               /* of all rows */
    void *memory;
    size_t bytes;
};

int prox_make_room(gauss_prox *x);   /* 0: no memory */
int prox_open_metric(gauss_prox *x); /* M in whole lines. 0: that is no metric */
void prox_open_motion(gauss_prox *x, const double *start); /* p = M free, or the force */
int prox_open_rows(gauss_prox *x,
                   const double *guess); /* 0: a cone gives way, which is for others */

#endif
