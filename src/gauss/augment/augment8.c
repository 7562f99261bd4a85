/* Eight worlds at once. */
#include "gauss/augment/augment.h"

#define zw_real zw_real8
#define zw_mask zw_mask8
#define LANE AUGMENT_EIGHT
enum { WIDE = LANES };
#include "gauss/augment/augment.lane.h"
