/* Sweeps over the contacts, accelerated: see the .c. */
#ifndef ZW_GAUSS_SPARSE_PROX_ANDERSON_H
#define ZW_GAUSS_SPARSE_PROX_ANDERSON_H

#include "gauss/contact/sparse_prox_table.h"

enum { MANY_KEPT = 6 }; /* earlier sweeps that are combined */

typedef struct many_anderson {
    double *r, *x; /* [rows], [n] where the next sweep begins */
    double *g, *y; /* [rows], [n] where the last one has led: r in the cones, and its motion */
    double *f;     /* [rows] what it changed, in units of sqrt(energy), */
    double *unit;  /* [rows] which are these of r */
    double size;   /* |f| */
    /* differences of one sweep to the one before, in f, g and y: the newest is in place `newest` */
    double *df[MANY_KEPT], *dg[MANY_KEPT], *dy[MANY_KEPT];
    double gram[MANY_KEPT][MANY_KEPT]; /* df . df */
    int kept, newest, swept;
} many_anderson;

void many_anderson_lay_out(many_anderson *a, const many_table *t, base_arena *arena);
/* From r, with the motion that belongs to it. */
void many_anderson_begin(many_anderson *a, const many_table *t, const double *r);
void many_anderson_step(many_anderson *a, const many_table *t);

#endif
