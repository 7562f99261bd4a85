/* As one_lane.h, in single precision (device/float_lanes.h). Sweeps are those of tree/sweeps8.c. */
#ifndef ZW_DEVICE_CUDA_ONE_FLOAT_H
#define ZW_DEVICE_CUDA_ONE_FLOAT_H

#include "device/cuda/thread_lane.h"
#include "device/float_lanes.h"

#endif
