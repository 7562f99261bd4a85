/* Assembly of positions: see assemble.c. */
#ifndef ZW_SYSTEM_ASSEMBLE_H
#define ZW_SYSTEM_ASSEMBLE_H

#include "system/work.h"

/* q: the position nearest to the one written, in the metric of the masses there, that all
 * constraints admit, to some 1e-11 of the way; the rest is for a projection. One-sided constraints
 * and limits that it rests on become SYSTEM_CLOSED. ZW_CONFLICT: none was found, and the error
 * names what stands against each other. */
zw_status system_assemble(const zw_system *system, zw_work *work, double t, const double *written,
                          const double *v, double *q, double *mode, zw_error *error);

#endif
