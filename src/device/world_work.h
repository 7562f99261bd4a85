/* Shared by world.c and world_lanes.c. */
#ifndef ZW_DEVICE_WORLD_WORK_H
#define ZW_DEVICE_WORLD_WORK_H

#include "device/world.h"

typedef struct world_work {
    zw_work work;
    soft_problem soft;
    double *y0, *y1; /* [size] */
} world_work;

/* The numbers of a world in an array over all worlds. */
static inline double *world_row(double *array, int world, int count)
{
    return array + (size_t)world * (size_t)count;
}

/* Scratch in this memory, and what steps of a world alone expect in it. */
world_work *world_lay_out(const device_model *model, void *memory);
void world_clear(const device_model *model, world_work *w);
world_work *world_begin(const device_model *model, void *memory); /* both */
/* Fetches the state, parameters and guess of a world. */
void world_load(const device_job *job, int index, const device_model *model, world_work *w);
/* One step of the state in w->y0, as zw_step does: from the current time to one step later, on the
 * time grid. */
zw_status world_step(const device_job *job, const device_model *model, world_work *w,
                     step_grid *grid, double *t);
void world_note(const soft_problem *s, zw_status status, device_result *to);

#endif
