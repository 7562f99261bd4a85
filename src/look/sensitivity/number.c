#include "look/sensitivity/number.h"

#include <math.h>

#include "base/error.h"
#include "model/bodies.h"

/* The step between the systems, relative to the number. The soft law has kinks where rows begin to
 * push: the step is so small that few of them lie in between, and large enough for a round-off of
 * 1e-10. */
#define PART 0x1p-19

/* Do both have the same coordinates, rows and parameters? */
static int is_alike(const zw_system *a, const zw_system *b)
{
    return a->n == b->n && a->nq == b->nq && a->m == b->m && a->shape.params == b->shape.params;
}

zw_status number_make(number_systems *to, zw_model *model, const zw_system *like, const char *name,
                      zw_error *error)
{
    double value = 0;
    *to = (number_systems){0};
    zw_status status = zw_model_get(model, name, &value, error);
    if (status != ZW_OK) {
        return status;
    }
    to->step = PART * (value != 0 ? fabs(value) : 1);
    for (int k = 0; k < 4 && status == ZW_OK; k++) {
        status = zw_model_set(model, name, value + number_place[k] * to->step, error);
        if (status == ZW_OK) {
            to->system[k] = zw_system_compile(model, NULL, error);
            status = to->system[k] ? ZW_OK : error->status;
        }
        if (status == ZW_OK && !is_alike(to->system[k], like)) {
            status =
                base_fail(error, ZW_BAD_INPUT,
                          "%.100s changes the structure of the model, not only its numbers", name);
        }
    }
    zw_model_set(model, name, value, NULL);
    return status;
}

void number_free(number_systems *it)
{
    for (int k = 0; k < 4; k++) {
        zw_system_free(it->system[k]);
    }
    *it = (number_systems){0};
}
