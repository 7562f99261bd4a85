/* All sweeps over lanes, for sweeps.c and sweeps8.c; in single precision those of steps by the soft
 * law. */
#include "math/spatial.lane.h"

#include "tree/configuration.lane.h"
#include "tree/kinematics.lane.h"

#include "tree/newton.lane.h"

#include "tree/composite.lane.h"

#ifndef ZW_FLOAT
#include "tree/momenta.lane.h"

#include "tree/articulated.lane.h"
#include "tree/factor.lane.h"
#include "tree/observe.lane.h"
#endif
