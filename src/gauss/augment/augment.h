/* Contacts with Coulomb's law in one linear step, for one world and for eight (design:
 * math/lane.h).
 *
 *     H (u - v0) = r + J' lambda                   H symmetric, on the paths of a tree
 *
 *     w = J u:     0 <= lambda_n  _|_  w_n - b >= 0
 *                  |lambda_t| <= mu lambda_n,   lambda_t = -mu lambda_n w_t/|w_t|  where w_t != 0
 *
 * augment.lane.h has the method. */
#ifndef ZW_GAUSS_AUGMENT_H
#define ZW_GAUSS_AUGMENT_H

#include "math/dense/paths.h"
#include "math/lane.h"

#define AUGMENT_ONE(name) name##1
#define AUGMENT_EIGHT(name) name##8

#define zw_real double
#define zw_mask int
#define LANE AUGMENT_ONE
#include "gauss/augment/augment_list.lane.h"
#undef zw_real
#undef zw_mask
#undef LANE

#define zw_real zw_real8
#define zw_mask zw_mask8
#define LANE AUGMENT_EIGHT
#include "gauss/augment/augment_list.lane.h"
#undef zw_real
#undef zw_mask
#undef LANE

/* One world: u - v0 in x, and the multipliers. */
void augment_solve1(augment1 *s);

/* One world, with memory for it: augment_alone.c */
typedef struct augment_alone {
    augment1 it;
    paths_shape straight;
    int *depth, *start, *run;           /* of straight */
    double *H, *r, *v0;                 /* of it */
    int block_capacity, entry_capacity; /* of it.block, J */
    double *J;
    void *memory;
} augment_alone;

/* For n unknowns on the paths of a tree. 0: no memory */
int augment_alone_create(augment_alone *a, int n, const int *parent);
void augment_alone_free(augment_alone *a);
int augment_alone_grow(augment_alone *a, int blocks, int entries);

/* Eight worlds: the same. The last unsolved ones continue in `alone`, which has room for all
 * blocks; the number of steps taken there is added to *steps. */
void augment_solve8(augment8 *s, augment_alone *alone, long *steps);

#endif
