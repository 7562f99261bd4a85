/* The rows of eight worlds at once: as augment_restart and augment_advance of each, with the same
 * bits. */
#ifndef ZW_GAUSS_AUGMENT_TOGETHER_H
#define ZW_GAUSS_AUGMENT_TOGETHER_H

#include "gauss/augment/augment.h"

typedef struct augment_together augment_together;

size_t augment_together_bytes(void);
/* Before entries of W are put. */
void augment_clear_together(augment_together *s);
/* The entries of W of two blocks, in their slots of the worlds of these bits, or in the same slot
 * `place` of all; -1: it is not the same. tile: [width[0]][width[1]]. Where slots have no place in
 * lanes, they go into the problem. */
void augment_put_tile(augment_together *s, augment_problem *problem, const int *const slot[2],
                      const int place[2], const int width[2], unsigned which, const zw_real8 *tile);
/* For the worlds of the bits `which`. */
void augment_restart_together(augment_together *s, augment_problem *problem, unsigned which);
/* For those that are live; returns the steps of all. */
long augment_advance_together(augment_together *s, augment_problem *problem);

#endif
