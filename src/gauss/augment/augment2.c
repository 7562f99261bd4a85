/* One world alone: in both lanes. */
#include "gauss/augment/augment.h"

#define zw_real zw_real2
#define zw_mask zw_mask2
#define LANE AUGMENT_TWO
enum { WIDE = 2 };
#include "gauss/augment/augment.lane.h"
