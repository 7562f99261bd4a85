/* Where a constraint with friction rubs, as formulas; see slip.c. */
#ifndef ZW_SYSTEM_SLIP_H
#define ZW_SYSTEM_SLIP_H

#include "system/list.h"
#include "system/system.h"

/* The rows of A as they are being compiled: pattern as in the system, column[] and node[]. */
typedef struct slip_rows {
    const int *column;
    const expr_id *node;
} slip_rows;

/* Fill system->slip and system->slip_column, and append the formulas of all constraints to `out`,
 * in the order that system_slip in system.h gives. Refuses what has no direction to slide in. */
zw_status slip_derive(zw_system *system, slip_rows A, system_list *out, zw_error *error);

#endif
