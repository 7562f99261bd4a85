/* As warp.h, in single precision. */
#ifndef ZW_DEVICE_CUDA_WARP_FLOAT_H
#define ZW_DEVICE_CUDA_WARP_FLOAT_H

#include "device/cuda/warp.h"

#include "device/float_lanes.h"

#endif
