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

/* A constraint for whose friction no place is given. */
typedef struct slip_where {
    int constraint;
    const system_list *own; /* the coordinates of its rows, and of its partner's */
    int *rubbed_by; /* [masses] 1 + the equation that rubs there by itself; 0: none so far */
} slip_where;

/* slip_point.c: the one mass that it can be for certain, or the question for it. */
zw_status slip_find_point(const zw_model *model, const slip_where *where, expr_id *point, int *size,
                          zw_error *error);

/* slip_check.c: refuse points that are not where their constraints push. Positions are consistent.
 */
zw_status slip_check(const zw_system *system, zw_work *work, zw_state *state, zw_error *error);

#endif
