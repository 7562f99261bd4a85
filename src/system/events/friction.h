/* Sliding friction as a law for the kernel. */
#ifndef ZW_SYSTEM_FRICTION_H
#define ZW_SYSTEM_FRICTION_H

#include "system/work.h"

/* Sets the friction law of sliding constraints in the solver's problem, after PART_TERMS; 0:
 * nothing slides. Dry friction of bodies needs no law: it is added to solver->C. */
int friction_set_up(const zw_system *system, zw_work *work, system_solver *solver);
/* The force of dry friction c on the coordinates after zw_forward, held or sliding: added to sum.
 */
void friction_add_dry(const zw_system *system, const zw_work *work, int c, double *sum);

#endif
