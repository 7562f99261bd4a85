/* Long chains in pieces: bodies_chain.c. */
#ifndef ZW_SYSTEM_BODIES_CHAIN_H
#define ZW_SYSTEM_BODIES_CHAIN_H

#include "system/system.h"

/* The same bodies in pieces, for steps of long chains: bodies_chain.c. */
typedef struct bodies_chain {
    zw_system *system;
    int *q, *v; /* [nq], [n] where coordinates and speeds are in it */
    int count;  /* pieces that begin at a joint: */
    int *part;  /* [count] with this part of the given bodies, */
    int *at;    /* [count][2] whose pose and speeds are here */
    int before; /* constraints that precede those of the given bodies */
    void *memory;
} bodies_chain;

/* The state (q, v) in the coordinates of the pieces, and back. sweeps: scratch, of the given
 * tree. */
void bodies_chain_put(const zw_system *system, const double *q, const double *v, double *sweeps,
                      double *to_q, double *to_v);
void bodies_chain_get(const zw_system *system, const double *from_q, const double *from_v,
                      double *q, double *v);

#endif
