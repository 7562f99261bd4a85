/* Proofs that nothing is admissible: proof.c. */
#ifndef ZW_GAUSS_PROOF_H
#define ZW_GAUSS_PROOF_H

#include "base/memory.h"
#include "zwang/gauss.h"

/* A candidate y and room to polish it. */
typedef struct gauss_proof {
    double *y;  /* m: multipliers in the user's units; filled by the search that has a candidate */
    int smooth; /* tangential rows take no part: for Coulomb's law only normals prove anything */
    double *G;  /* [capacity]: one row for each coordinate that the proof touches */
    size_t capacity;  /* numbers in G */
    double *t;        /* m: the unknowns */
    double *turn;     /* m x ZW_CONE_ROWS: what one unit of an unknown is in y */
    int *at;          /* m: the rows it acts on: first, */
    int *rows;        /* m: and how many */
    int *order;       /* n */
    double *beta;     /* n */
    double *distance; /* 2 n */
    double *g;        /* 2 n */
} gauss_proof;

void gauss_proof_lay_out(gauss_proof *proof, base_arena *arena, int n, int m, size_t capacity);

/* Do the rows of y contradict each other? y is first moved to the nearest point of K. `free` is the
 * free motion. */
int gauss_proof_holds(const zw_gauss *problem, const double *free, gauss_proof *proof);

/* The same for a candidate that is only roughly right: y is polished until it holds. `scale` is
 * that of the rows, see work.h. */
int gauss_proof_find(const zw_gauss *problem, const double *free, const double *scale,
                     gauss_proof *proof);

#endif
