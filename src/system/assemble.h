/* Assembly of positions: see assemble.c. */
#ifndef ZW_SYSTEM_ASSEMBLE_H
#define ZW_SYSTEM_ASSEMBLE_H

#include "system/work.h"

/* q: the admissible position nearest to the one written, in the metric of the masses there, to
 * about 1e-11 of the distance; a projection does the rest. One-sided constraints and limits that
 * are active there become SYSTEM_CLOSED. ZW_CONFLICT: none was found, and the error names the
 * conflicting constraints. */
zw_status system_assemble(const zw_system *system, zw_work *work, double t, const double *written,
                          const double *v, double *q, double *mode, zw_error *error);

#endif
