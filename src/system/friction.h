/* Sliding friction as a law for the kernel. */
#ifndef ZW_SYSTEM_FRICTION_H
#define ZW_SYSTEM_FRICTION_H

#include "system/work.h"

/* Give the solver's problem the law of what slides where PART_TERMS has been evaluated; 0: nothing
 * does. Dry friction of bodies needs no law: it is added to solver->C. */
int friction_set_up(const zw_system *system, zw_work *work, system_solver *solver);

#endif
