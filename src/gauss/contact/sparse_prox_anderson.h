/* Fixed points r = g(r) of maps that are linear as long as no contact does something else,
 * accelerated: see the .c. */
#ifndef ZW_GAUSS_SPARSE_PROX_ANDERSON_H
#define ZW_GAUSS_SPARSE_PROX_ANDERSON_H

#include "gauss/contact/sparse_prox_table.h"

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
/* What is known is known no longer: the map has changed. */
void many_anderson_forget(many_anderson *a);
/* The map leads from a->r to g, and to the motion y: r and x from which it is to go on. */
void many_anderson_mix(many_anderson *a, const many_table *t, const double *g, const double *y);

#endif
