/* Formulas of the sliding of constraints with friction; see slip.c. */
#ifndef ZW_SYSTEM_SLIP_H
#define ZW_SYSTEM_SLIP_H

#include "system/list.h"
#include "system/system.h"

/* The rows of A as they are being compiled: pattern as in the system, column[] and node[]. */
typedef struct slip_rows {
    const int *column;
    const expr_id *node;
} slip_rows;

/* Fills system->slip and system->slip_column, and appends the formulas of all constraints to `out`,
 * in the order that system_slip in system.h gives. Refuses constraints without a direction of
 * sliding. */
zw_status slip_derive(zw_system *system, slip_rows A, system_list *out, zw_error *error);

/* A constraint whose friction has no contact point. */
typedef struct slip_where {
    int constraint;
    const system_list *own; /* the coordinates of its rows, and of its partner's */
    int *friction_at;       /* [masses] 1 + the constraint with friction there; 0: none so far */
} slip_where;

/* slip_point.c: the position of the mass, if it is unambiguous, or an error that asks for it. */
zw_status slip_find_point(const zw_model *model, const slip_where *where, expr_id *point, int *size,
                          zw_error *error);

/* slip_check.c: refuses points at which their constraints do not act. Positions are consistent.
 */
zw_status slip_check(const zw_system *system, zw_work *work, zw_state *state, zw_error *error);

#endif
