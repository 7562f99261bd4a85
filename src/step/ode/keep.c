/* What a fixed-step integrator knows beside t and y: the grid of its steps, the low-order parts of
 * y, what the method hides behind y, and where its iterations begin. With these another integrator
 * of the same options goes on with the same bits.
 *
 *     0 time on the grid   1 origin   2 count   low[width]  hidden[width - n]  the method's own
 *
 * f at the end is not among them: it is computed again, or when it is asked for. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "step/ode/inner.h"

enum { HEAD = 3 };

static double *own(const step_ode *ode, int *count)
{
    *count = 0;
    return ode->scheme->memory != NULL ? ode->scheme->memory(ode, count) : NULL;
}

int step_ode_memory(const step_ode *ode)
{
    int more = 0;
    if (ode->scheme == NULL || ode->scheme->adaptive) {
        return 0;
    }
    own(ode, &more);
    return HEAD + ode->width + (ode->width - ode->n) + more;
}

void step_ode_keep(const step_ode *ode, double *memory)
{
    int more = 0, hidden = ode->width - ode->n;
    const double *mine = own(ode, &more);
    /* a limit that is a grid point but for round-off has taken its place: the next step does not
     * begin there but on the grid */
    double h = ode->t1 >= ode->origin ? ode->option.step : -ode->option.step;
    memory[0] = ode->count > 0 ? ode->origin + h * (double)ode->count : ode->origin;
    memory[1] = ode->origin;
    memory[2] = (double)ode->count;
    memory += HEAD;
    memcpy(memory, ode->low1, (size_t)ode->width * sizeof *memory);
    memcpy(memory + ode->width, ode->y1 + ode->n, (size_t)hidden * sizeof *memory);
    if (more > 0) {
        memcpy(memory + ode->width + hidden, mine, (size_t)more * sizeof *memory);
    }
}

zw_status step_ode_resume(step_ode *ode, const double *y, const double *memory, zw_error *error)
{
    int more = 0, hidden = ode->width - ode->n, count = step_ode_memory(ode);
    double *mine = own(ode, &more);
    for (int i = 0; i < count; i++) {
        if (!isfinite(memory[i])) {
            return base_fail(error, ZW_BAD_INPUT,
                             "what the integrator is to remember is no number");
        }
    }
    if (count == 0 || !(memory[2] >= 0 && memory[2] <= 1e15)) {
        return base_fail(error, ZW_BAD_INPUT, "the integrator cannot remember such steps");
    }
    zw_status status = step_ode_start(ode, memory[0], y, error);
    if (status != ZW_OK) {
        return status;
    }
    ode->origin = memory[1];
    ode->count = (long)memory[2];
    memory += HEAD;
    size_t bytes = ode->scheme == &step_scheme_given ? 0 : (size_t)ode->width * sizeof *memory;
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
