/* The formulas of a system by parts: for equations all of it, for robots those that a file adds. */
#ifndef ZW_SYSTEM_FORMULAS_H
#define ZW_SYSTEM_FORMULAS_H

#include "system/system.h"

/* terms.c: returns their number; *list: nodes of the model's graph. */
int system_formulas(const zw_system *system, system_part part, const expr_id **list);

#endif
