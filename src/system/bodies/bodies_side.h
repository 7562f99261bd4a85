/* Controls and activations at the ends of their ranges, for derivatives: bodies_force.c. */
#ifndef ZW_SYSTEM_BODIES_SIDE_H
#define ZW_SYSTEM_BODIES_SIDE_H

#include "system/bodies/bodies.h"

/* side[params] of the controls where formulas have just been evaluated: -1 below the range, 0
 * inside or at an end of it, 1 above. As work->control_side they stay so. Returns how many are at
 * an end, up to near (1 + |u|). */
int bodies_control_sides(const zw_system *system, const zw_work *work, double near, int *side);
/* Is an activation at an end of its range, from where it only increases (1) or decreases (-1)? */
int bodies_activation_end(const bodies_motor *motor, double now);

#endif
