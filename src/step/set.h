/* Writing numbers into a state. */
#ifndef ZW_STEP_SET_H
#define ZW_STEP_SET_H

#include "system/system.h"

/* zw_state_set for small changes of a state whose closed contacts and sticking friction are to stay
 * as they are: all numbers of Q or V, moved onto them. */
zw_status set_held(const zw_system *system, zw_state *state, zw_work *work, zw_field_id field,
                   const double *value, zw_error *error);

#endif
