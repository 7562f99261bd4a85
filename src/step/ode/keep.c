/* The memory of a fixed-step integrator besides t and y: the grid of its steps, the low-order parts
 * of y, the hidden entries after y, and the initial guesses of its iterations. With these another
 * integrator with the same options continues with the same bits.
 *
 *     0 time on the grid   1 origin   2 count   low[width]  hidden[width - n]  the method's own
 *
 * f at the end is not stored: it is computed again, or when it is needed. */
#include <string.h>

#include "step/ode/inner.h"

static double *own(const step_ode *ode, int *count)
{
    *count = 0;
    return ode->scheme->memory != NULL ? ode->scheme->memory(ode, count) : NULL;
}

int ode_memory(const stepper *s)
{
    const step_ode *ode = (const step_ode *)s;
    int more = 0;
    if (ode->scheme == NULL || ode->scheme->adaptive) {
        return 0;
    }
    own(ode, &more);
    return STEP_GRID_NUMBERS + ode->width + (ode->width - ode->n) + more;
}

void ode_keep(const stepper *s, double *memory)
{
    const step_ode *ode = (const step_ode *)s;
    int more = 0, hidden = ode->width - ode->n;
    const double *mine = own(ode, &more);
    step_grid_keep(&ode->grid, ode->t1, memory);
    memory += STEP_GRID_NUMBERS;
    memcpy(memory, ode->low1, (size_t)ode->width * sizeof *memory);
    memcpy(memory + ode->width, ode->y1 + ode->n, (size_t)hidden * sizeof *memory);
    if (more > 0) {
        memcpy(memory + ode->width + hidden, mine, (size_t)more * sizeof *memory);
    }
}

zw_status ode_resume(stepper *s, const double *y, const double *memory, zw_error *error)
{
    step_ode *ode = (step_ode *)s;
    int more = 0, hidden = ode->width - ode->n;
    double *mine = own(ode, &more);
    zw_status status = stepper_start(s, memory[0], y, error);
    if (status != ZW_OK) {
        return status;
    }
    step_grid_resume(&ode->grid, memory);
    memory += STEP_GRID_NUMBERS;
    size_t bytes = (size_t)ode->width * sizeof *memory;
    memcpy(ode->low0, memory, bytes);
    memcpy(ode->low1, memory, bytes);
    bytes = (size_t)hidden * sizeof *memory;
    memcpy(ode->y0 + ode->n, memory + ode->width, bytes);
    memcpy(ode->y1 + ode->n, memory + ode->width, bytes);
    if (more > 0) {
        memcpy(mine, memory + ode->width + hidden, (size_t)more * sizeof *memory);
    }
    return ZW_OK;
}
