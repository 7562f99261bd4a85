#include "step/stepper.h"

#include <math.h>

#include "base/error.h"

void stepper_free(stepper *s)
{
    if (s) {
        s->kind->free(s);
    }
}

const stepper_view *stepper_look(const stepper *s)
{
    return &s->view;
}

zw_status stepper_start(stepper *s, double t, const double *y, zw_error *error)
{
    s->view = (stepper_view){.culprit = -1};
    return s->kind->start(s, t, y, 1, error);
}

zw_status stepper_restart(stepper *s, double t, const double *y, zw_error *error)
{
    return s->kind->start(s, t, y, 0, error);
}

int stepper_memory(const stepper *s)
{
    return s->kind->memory(s);
}

void stepper_keep(const stepper *s, double *memory)
{
    s->kind->keep(s, memory);
}

zw_status stepper_resume(stepper *s, const double *y, const double *memory, zw_error *error)
{
    zw_status status = step_grid_check(stepper_memory(s), memory, error);
    return status == ZW_OK ? s->kind->resume(s, y, memory, error) : status;
}

zw_status stepper_advance(stepper *s, double limit, zw_error *error)
{
    if (!isfinite(limit)) {
        return base_fail(error, ZW_BAD_INPUT, "integrator: the limit of time is not finite");
    }
    return limit == s->view.t ? ZW_OK : s->kind->advance(s, limit, error);
}

int stepper_is_between(double t, double a, double b)
{
    return (a <= t && t <= b) || (b <= t && t <= a);
}

zw_status stepper_interpolate(stepper *s, double t, double *y, zw_error *error)
{
    const stepper_view *view = &s->view;
    if (!stepper_is_between(t, view->t_before, view->t)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "dense output at t = %.17g: the last step is from %.17g to %.17g", t,
                         view->t_before, view->t);
    }
    return s->kind->interpolate(s, t, y, error);
}

int stepper_degree(const stepper *s)
{
    return s->kind->degree(s);
}

zw_status stepper_retake(stepper *s, double t, zw_error *error)
{
    return s->kind->retake(s, t, error);
}

zw_status stepper_sharpen(stepper *s, int *done, zw_error *error)
{
    *done = 0;
    return s->kind->sharpen ? s->kind->sharpen(s, done, error) : ZW_OK;
}

/* ---- Grids ----------------------------------------------------------------------------------- */

#define SAME 1e-9 /* relative to a step: times that differ only by round-off */

void step_grid_start(step_grid *grid, double t)
{
    grid->origin = t;
    grid->count = 0;
}

/* The grid time of a stepper whose displayed time is t. */
static double time_on(const step_grid *grid, double h, double t)
{
    double time = grid->origin + h * (double)grid->count;
    return fabs(time - t) <= SAME * grid->step ? time : t;
}

step_aimed step_grid_aim(step_grid *grid, double t0, double limit)
{
    double toward = limit > t0 ? 1.0 : -1.0, h = toward * grid->step;
    if (grid->count > 0 &&
        toward * (t0 - grid->origin) < 0.0) { /* the direction of time was reversed */
        step_grid_start(grid, t0);
    }
    step_aimed aimed = {.t0 = grid->count > 0 ? time_on(grid, h, t0) : t0,
                        .t1 = grid->origin + h * (double)(grid->count + 1),
                        .h = h};
    aimed.cut = toward * (limit - aimed.t1) < -SAME * grid->step;
    if (aimed.cut) {
        aimed.t1 = limit;
        aimed.h = limit - aimed.t0;
    }
    return aimed;
}

double step_grid_pass(step_grid *grid, const step_aimed *aimed, double limit)
{
    grid->count++;
    if (aimed->cut) {
        step_grid_start(grid, limit);
        return limit;
    }
    return fabs(limit - aimed->t1) <= SAME * grid->step ? limit : aimed->t1;
}

void step_grid_keep(const step_grid *grid, double t, double *memory)
{
    double h = t >= grid->origin ? grid->step : -grid->step;
    memory[0] = grid->count > 0 ? grid->origin + h * (double)grid->count : grid->origin;
    memory[1] = grid->origin;
    memory[2] = (double)grid->count;
}

zw_status step_grid_check(int count, const double *memory, zw_error *error)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(memory[i])) {
            return base_fail(error, ZW_BAD_INPUT,
                             "the memory of the integrator contains a number that is not finite");
        }
    }
    return count >= STEP_GRID_NUMBERS && memory[2] >= 0 && memory[2] <= 1e15
               ? ZW_OK
               : base_fail(error, ZW_BAD_INPUT,
                           "the memory of the integrator has an invalid number of steps");
}

void step_grid_resume(step_grid *grid, const double *memory)
{
    grid->origin = memory[1];
    grid->count = (long)memory[2];
}
