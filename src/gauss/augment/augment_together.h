/* The rows of eight worlds at once: as augment_restart and augment_advance of each, with the same
 * bits. */
#ifndef ZW_GAUSS_AUGMENT_TOGETHER_H
#define ZW_GAUSS_AUGMENT_TOGETHER_H

#include "gauss/augment/augment.h"

typedef struct augment_together augment_together;

size_t augment_together_bytes(void);
/* For the worlds of the bits `which`. */
void augment_restart_together(augment_together *s, augment_problem *problem, unsigned which);
/* For those that are live; returns the steps of all. */
long augment_advance_together(augment_together *s, augment_problem *problem);

#endif
