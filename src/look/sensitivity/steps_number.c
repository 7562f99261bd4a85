/* Derivatives of steps of the soft law by numbers of the model: mass, friction, length, gravity.
 *
 * With y, z, w of a backward pass (steps.c), for any number p of the model,
 *
 *     g . da/dp = d/dp [ w . (f + J' lambda(J as)) - y . (M + h D) a - z . M as ] (steps_general.c)
 *
 * with constant accelerations and w, y, z: the equations of the step, not its solution. The slope
 * by p is a difference over four systems with slightly smaller and larger values of it (number.h),
 * whose equations are evaluated at the same state. */
#include "base/error.h"
#include "base/memory.h"
#include "look/sensitivity/steps.h"

zw_status steps_numbers_make(sens_steps *s, zw_model *model, const char *const *name, int names,
                             zw_error *error)
{
    zw_status status = ZW_OK;
    s->variant = base_alloc(((size_t)names + 1) * sizeof *s->variant);
    if (!s->variant) {
        return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    for (int i = 0; i < names && status == ZW_OK; i++) {
        steps_variant *it = &s->variant[s->names++];
        *it = (steps_variant){0};
        status = number_make(&it->of, model, s->system, name[i], error);
        for (int k = 0; k < 4 && status == ZW_OK; k++) {
            it->work[k] = zw_work_create(it->of.system[k], error);
            status = it->work[k]
                         ? soft_create(it->of.system[k], it->work[k], s->h, &it->soft[k], error)
                         : ZW_NO_MEMORY;
        }
    }
    return status;
}

void steps_numbers_free(sens_steps *s)
{
    for (int k = 0; k < 4 * s->names; k++) {
        soft_free(s->variant[k / 4].soft[k % 4]);
        zw_work_free(s->variant[k / 4].work[k % 4]);
    }
    for (int i = 0; i < s->names; i++) {
        number_free(&s->variant[i].of);
    }
    base_free(s->variant);
}

/* The quantity in brackets, in another system. */
static zw_status weigh(const sens_steps *s, soft_problem *soft, double *sum, zw_error *error)
{
    int n = soft->system->n, pushes = 0;
    double *to = base_alloc(3 * (size_t)n * sizeof *to);
    if (!to) {
        return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    system_bind(soft->system, soft->work, s->work->param);
    zw_status status = steps_evaluate(s, soft, s->q0, s->v0, to, &pushes, error);
    *sum = 0;
    for (int i = 0; i < n && status == ZW_OK; i++) {
        *sum += s->w[i] * to[i] - s->y[i] * to[n + i] - s->z[i] * to[2 * n + i];
    }
    base_free(to);
    return status;
}

zw_status steps_numbers_back(sens_steps *s, zw_error *error)
{
    zw_status status = ZW_OK;
    for (int i = 0; i < s->names && s->number_by && status == ZW_OK; i++) {
        const steps_variant *it = &s->variant[i];
        double sum[4];
        for (int k = 0; k < 4 && status == ZW_OK; k++) {
            status = weigh(s, it->soft[k], &sum[k], error);
        }
        if (status == ZW_OK) {
            s->number_by[i] += number_slope(sum, it->of.step);
        }
    }
    return status;
}
