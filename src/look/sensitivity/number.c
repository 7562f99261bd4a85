#include "look/sensitivity/number.h"

#include <math.h>

#include "base/error.h"
#include "model/bodies.h"

/* Steps between the systems, relative to the number. Equations are smooth functions of it, mostly
 * rational ones, on its own scale: at LONG the error of fourth order is 1e-14, and round-off, which
 * counts for as much as terms that cancel are larger than their sum, 1e-12. But shapes of another
 * size may touch with other parts, and the soft law has kinks where rows begin to push: slopes over
 * the inner and the outer places, which differ by 1e-7 where all is smooth, then differ by more
 * than SMOOTH, and SHORT is tried, which few kinks lie within, but which has 128 times the
 * round-off. */
#define LONG 0x1p-12
#define SHORT 0x1p-19
#define SMOOTH 1e-6

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
    to->step[0] = LONG * (value != 0 ? fabs(value) : 1);
    to->step[1] = SHORT / LONG * to->step[0];
    for (int k = 0; k < NUMBER_SYSTEMS && status == ZW_OK; k++) {
        status = zw_model_set(model, name, value + number_place[k % 4] * to->step[k / 4], error);
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
    for (int k = 0; k < NUMBER_SYSTEMS; k++) {
        zw_system_free(it->system[k]);
    }
    *it = (number_systems){0};
}

int number_differ(const number_systems *it, size_t count, number_look *look, void *user,
                  double *scratch, double *to)
{
    double apart = HUGE_VAL, *y[4];
    for (int l = 0; l < 2 && apart > SMOOTH; l++) {
        int good = 1;
        for (int k = 0; k < 4 && good; k++) {
            y[k] = scratch + (size_t)k * count;
            good = look(user, 4 * l + k, y[k]);
        }
        double off = good ? number_apart(count, y) : HUGE_VAL;
        if (off < apart) {
            apart = off;
            number_slopes(count, y, it->step[l], to);
        }
    }
    return apart < HUGE_VAL;
}
