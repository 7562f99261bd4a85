/* H = L U for large sparse H of a symmetric pattern of blocks, symmetric numbers or not.
 *
 * The unknowns come in nodes, say the six speeds of a body; H_ab is a block of numbers, one for
 * each pair of nodes that are neighbours. Patterns as in math/sparse/sparse.h: each pair {a, b}
 * once, a node is its own neighbour anyway.
 *
 *     front *f = front_create();
 *     front_analyse(f, nodes, size, start, row);      once per pattern
 *     front_clear(f); then add the blocks:            per set of numbers, no allocation
 *         H_aa at numbers + diagonal[a].at, row by row with this stride;
 *         H_ab with a = row[q] in column b at lower[q], and H_ba at upper[q]
 *     front_factor(f);
 *     front_solve(f, x);                              per right side
 *     front_free(f);
 *
 * Memory grows with the largest pattern and stays. */
#ifndef ZW_MATH_FRONT_H
#define ZW_MATH_FRONT_H

#include <stddef.h>

typedef struct front front;

typedef struct front_spot {
    size_t at;
    size_t stride;
} front_spot;

typedef struct front_blocks {
    double *numbers;
    const front_spot *diagonal, *lower, *upper;
} front_blocks;

front *front_create(void); /* NULL: no memory */
void front_free(front *f); /* NULL is fine */

/* 0: no memory, or too large. The pattern is not kept. */
int front_analyse(front *f, int nodes, const int *size, const int *start, const int *row);

/* Where the numbers go; holds until the next analysis. */
front_blocks front_where(const front *f);
void front_clear(front *f);

/* 0: a pivot is zero or not finite; then there is nothing to solve with. */
int front_factor(front *f);
void front_solve(front *f, double *x); /* x = H \ x, nodes one after the other */

#endif
