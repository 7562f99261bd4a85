/* Derivatives of steps of the soft law by numbers of the model: mass, friction, length, gravity.
 *
 * With y, z, w of a backward pass (steps.c), for any number p of the model,
 *
 *     g . da/dp = d/dp [ w . (f + J' lambda(J as)) - y . (M + h D) a - z . M as ] (steps_general.c)
 *
 * with constant accelerations and w, y, z: the equations of the step, not its solution. The slope
 * by p is a difference over systems with slightly smaller and larger values of it (number.h), whose
 * equations are evaluated at the same state. */
#include "base/error.h"
#include "base/memory.h"
#include "look/sensitivity/steps.h"

zw_status steps_numbers_make(sens_steps *s, zw_model *model, const char *const *name, int names,
                             zw_error *error)
{
    zw_status status = ZW_OK;
    s->variant = base_alloc(((size_t)names + 1) * sizeof *s->variant);
    if (!s->variant) {
        return base_no_memory(error);
    }
    if (names > 0) {
        s->plain_work = zw_work_create(s->system, error);
        status = s->plain_work ? soft_create(s->system, s->plain_work, s->h, &s->plain, error)
                               : ZW_NO_MEMORY;
    }
    for (int i = 0; i < names && status == ZW_OK; i++) {
        steps_variant *it = &s->variant[s->names++];
        *it = (steps_variant){0};
        status = number_make(&it->of, model, s->system, name[i], error);
        for (int k = 0; k < NUMBER_SYSTEMS && status == ZW_OK; k++) {
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
    for (int i = 0; i < s->names; i++) {
        for (int k = 0; k < NUMBER_SYSTEMS; k++) {
            soft_free(s->variant[i].soft[k]);
            zw_work_free(s->variant[i].work[k]);
        }
        number_free(&s->variant[i].of);
    }
    soft_free(s->plain);
    zw_work_free(s->plain_work);
    base_free(s->variant);
}

/* A number of the model of a step. */
typedef struct looking {
    const sens_steps *s;
    const steps_variant *of;
    zw_status status;
    zw_error *error;
} looking;

/* The three vectors in brackets, and the activations at the end, in another system. */
static int look(void *user, int k, double *y)
{
    looking *it = user;
    soft_problem *soft = k < 0 ? it->s->plain : it->of->soft[k];
    int pushes = 0;
    system_bind(soft->system, soft->work, it->s->work->param);
    it->status = steps_evaluate(it->s, soft, it->s->q0, it->s->v0, y, &pushes, it->error);
    return it->status == ZW_OK;
}

zw_status steps_numbers_back(sens_steps *s, const double *act_by, zw_error *error)
{
    size_t n = (size_t)s->system->n, wide = 3 * n + (size_t)s->acts;
    if (s->names == 0 || !s->number_by) {
        return ZW_OK;
    }
    double *y = base_alloc(6 * wide * sizeof *y), *to = y + 4 * wide, *y0 = y + 5 * wide;
    if (!y) {
        return base_no_memory(error);
    }
    looking here = {s, NULL, ZW_OK, error};
    look(&here, -1, y0);
    zw_status status = here.status;
    for (int i = 0; i < s->names && status == ZW_OK; i++) {
        looking at = {s, &s->variant[i], ZW_OK, error};
        int good = number_differ(&at.of->of, wide, look, &at, y0, number_noise(wide, y0), y, to);
        status = good ? ZW_OK : at.status;
        if (good == 2) {
            steps_note_kink(s, "a number of the model at which something switches");
        }
        for (size_t k = 0; k < n && status == ZW_OK; k++) {
            s->number_by[i] += s->w[k] * to[k] - s->y[k] * to[n + k] - s->z[k] * to[2 * n + k];
        }
        for (int k = 0; k < s->acts && status == ZW_OK; k++) {
            s->number_by[i] += act_by[k] * to[3 * n + (size_t)k];
        }
    }
    base_free(y);
    return status;
}
