/* Steps of the soft law by numbers of the model: mass, friction, length, gravity.
 *
 * With y, z, w of a way back (steps.c), whatever a number p changes,
 *
 *     g . da/dp = d/dp [ w . (f + J' lambda(J as)) - y . (M + h D) a - z . M as ]
 *
 * with accelerations and w, y, z as they are: the equations of the step, not its solution. The
 * slope by p is that of four systems with a bit less and more of it (number.h), whose equations are
 * looked at in the same place. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/sensitivity/steps.h"
#include "tree/sweeps.h"

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

/* push = J' lambda(J a). 0: rows of this kind are not there. */
static int push_at(soft_problem *soft, const double *a, double *push)
{
    memset(push, 0, (size_t)soft->system->n * sizeof *push);
    for (int b = 0; b < soft->blocks; b++) {
        soft_block *k = &soft->block[b];
        if (k->held || k->kind == SOFT_MASS) {
            return 0;
        }
        if (k->group == 0) {
            continue;
        }
        soft_along(soft, b, a, 0);
        for (int i = 0; i < k->group; i++) {
            soft_law_force(&k[i], soft->b + k[i].first, soft->D + k[i].first, k[i].x, &k[i].now);
        }
        soft_push(soft, b, 0, push);
    }
    return 1;
}

/* The number in brackets, by another system. */
static zw_status weigh(const sens_steps *s, soft_problem *soft, double *sum, zw_error *error)
{
    const zw_system *system = soft->system;
    double *push = s->push, *Ma = soft->x, *Mas = soft->y;
    system_bind(system, soft->work, s->work->param);
    soft->work->as_mujoco = 1;
    soft->only_pushes = s->damped;
    soft_forget(soft);
    zw_status status = soft_forward(soft, s->t, s->q0, s->v0, error);
    soft->work->as_mujoco = soft->only_pushes = 0;
    if (status != ZW_OK) {
        return status;
    }
    if (!push_at(soft, s->as, push)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "derivatives by numbers of the model with masses of tendons, or long "
                         "chains, are not supported yet");
    }
    tree_kinematics(system->tree, s->q0, soft->work->sweeps);
    tree_inertia_times(system->tree, s->a, soft->work->sweeps, Ma);
    tree_inertia_times(system->tree, s->as, soft->work->sweeps, Mas);
    *sum = 0;
    for (int i = 0; i < system->n; i++) {
        double damper = s->damped ? s->h * system->tree->damping[i] * s->a[i] : 0;
        *sum +=
            s->w[i] * (soft->force[i] + push[i]) - s->y[i] * (Ma[i] + damper) - s->z[i] * Mas[i];
    }
    return ZW_OK;
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
