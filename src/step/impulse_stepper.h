/* Steps of method impulse as a stepper. The caller owns `impulse`, which must outlive it. */
#ifndef ZW_STEP_IMPULSE_STEPPER_H
#define ZW_STEP_IMPULSE_STEPPER_H

#include "step/impulse/impulse.h"
#include "step/whole.h"

/* impulse_create for all steps of a motion: by islands, and long chains in pieces. */
step_impulse *impulse_open(const zw_system *system, zw_work *work, zw_error *error);

stepper *impulse_stepper(step_impulse *impulse, double h, zw_error *error);

#endif
