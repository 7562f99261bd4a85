/* Finds where a function of time changes sign. */
#ifndef ZW_STEP_ROOT_H
#define ZW_STEP_ROOT_H

#include "zwang/status.h"

typedef zw_status step_scalar(void *user, double t, double *g, zw_error *error);

/* Two times with the sign change between them: g_before is not zero, g_after is zero or of the
 * other sign. Time may run backwards. */
typedef struct step_crossing {
    double before, after;
    double g_before, g_after;
} step_crossing;

/* Narrows the crossing until `before` and `after` are at most `width` apart; 0: neighbours, up to a
 * few units in the last place. About ten evaluations for a smooth function, never more than twice
 * those of bisection. */
zw_status step_root_narrow(step_scalar *g, void *user, double width, step_crossing *crossing,
                           zw_error *error);

#endif
