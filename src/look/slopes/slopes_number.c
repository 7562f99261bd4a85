/* Derivatives at an instant of a robot by numbers of its model: masses, inertias, sizes, friction,
 * gravity.
 *
 * The equations of slopes_bodies.c are evaluated in systems with slightly smaller and larger values
 * of the number (number.h), with accelerations, multipliers and the active set fixed. Their slope
 * is the difference of fourth order: nothing is solved again. Sliding friction is differentiated by
 * hand, as there: with rho = |mu u|,
 *
 *     l_i = -mu_i^2 u_i/rho l_n,      dl_i = -(2 mu_i dmu_i - mu_i^2 drho/rho) u_i/rho l_n,
 *     drho = sum of mu_i dmu_i u_i^2/rho */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/slopes/slopes_bodies.h"

zw_status slopes_numbers_create(zw_slopes *slopes, zw_model *model, const char *const *number,
                                zw_error *error)
{
    zw_status status = ZW_OK;
    if (slopes->numbers > 0 && !slopes->system->tree) {
        return base_fail(error, ZW_BAD_INPUT,
                         "numbers of a model are those of robots: of equations parameters are "
                         "differentiated by");
    }
    slopes->variant = base_alloc(((size_t)slopes->numbers + 1) * sizeof *slopes->variant);
    if (!slopes->variant) {
        return base_no_memory(error);
    }
    memset(slopes->variant, 0, ((size_t)slopes->numbers + 1) * sizeof *slopes->variant);
    for (int j = 0; j < slopes->numbers && status == ZW_OK; j++) {
        slopes_variant *it = &slopes->variant[j];
        status = number_make(&it->of, model, slopes->system, number[j], error);
        for (int k = 0; k < NUMBER_SYSTEMS && status == ZW_OK; k++) {
            it->at[k] = slopes_bodies_create(it->of.system[k], 0, error);
            status = it->at[k] ? ZW_OK : error->status;
        }
    }
    return status;
}

void slopes_numbers_free(zw_slopes *slopes)
{
    for (int j = 0; slopes->variant && j < slopes->numbers; j++) {
        for (int k = 0; k < NUMBER_SYSTEMS; k++) {
            slopes_bodies_free(slopes->variant[j].at[k]);
        }
        number_free(&slopes->variant[j].of);
    }
    base_free(slopes->variant);
}

/* Copies the active set of `from`. 0: no memory. */
static int take_holds(slopes_bodies *to, const slopes_bodies *from)
{
    if (from->holds > to->hold_capacity) {
        base_free(to->hold);
        to->hold = base_alloc(2 * (size_t)from->holds * sizeof *to->hold);
        to->hold_capacity = to->hold ? 2 * from->holds : 0;
    }
    if (from->holds > to->hold_capacity) {
        return 0;
    }
    if (from->holds > 0) {
        memcpy(to->hold, from->hold, (size_t)from->holds * sizeof *to->hold);
    }
    to->holds = from->holds;
    to->values = from->values;
    to->unknowns = from->unknowns;
    to->moves = from->moves;
    to->reach = from->reach;
    to->nearer = from->nearer;
    to->lost = 0;
    memcpy(to->w, from->w, (size_t)from->system->n * sizeof *to->w);
    return 1;
}

typedef struct looking {
    zw_slopes *slopes;
    zw_state *state;
    const slopes_variant *of;
    zw_status status;
    zw_error *error;
} looking;

static int look(void *user, int k, double *y)
{
    looking *it = user;
    zw_state *state = it->state;
    slopes_bodies *s = it->slopes->bodies, *at = it->of->at[k];
    do { /* again whenever another point had to be carried */
        if (!take_holds(at, s)) {
            it->status = base_no_memory(it->error);
            return 0;
        }
        it->status = slopes_equations(at, state->t, state_q(state), state_v(state),
                                      state_param(state), it->slopes->work->a, y, NULL, it->error);
        for (int h = 0; h < s->holds; h++) {
            s->hold[h].carried |= at->hold[h].carried;
        }
    } while (it->status == ZW_OK && at->lost);
    return it->status == ZW_OK;
}

static void note_kink(zw_slopes *slopes)
{
    slopes->answer.kinks++;
    slopes->answer.kink = "a number of the model at which something switches";
}

zw_status slopes_number_differ(zw_slopes *slopes, zw_state *state, int number, zw_error *error)
{
    double *y = slopes->bodies->y;
    size_t wide = slopes_width(slopes->bodies);
    looking it = {slopes, state, &slopes->variant[number], ZW_OK, error};
    slopes_bodies *s = slopes->bodies;
    double *y0 = y + 6 * wide; /* as there, with all forces */
    int simple = s->simple;
    s->simple = 0;
    it.status = slopes_equations(s, state->t, state_q(state), state_v(state), state_param(state),
                                 slopes->work->a, y0, NULL, error);
    s->simple = simple;
    if (it.status != ZW_OK || s->lost) {
        return it.status;
    }
    int good =
        number_differ(&it.of->of, wide, look, &it, y0, number_noise(wide, y0), y, y + 4 * wide);
    if (good == 2) {
        note_kink(slopes);
    }
    return good ? ZW_OK : it.status;
}

/* Slopes of the friction coefficients of a point, to one side where the larger one of two that are
 * equal counts. */
static int friction_by(zw_slopes *slopes, const slopes_variant *it, const slopes_hold *hold,
                       double *dmu)
{
    double mu[5][4], step = it->of.step[0];
    int kink = 0;
    for (int k = 0; k < 4; k++) {
        const contact_point *point = slopes_point(it->at[k], &hold->key);
        for (int r = 0; r < 5 && point; r++) {
            mu[r][k] = point->friction[r];
        }
        if (!point) {
            return 0;
        }
    }
    for (int r = 0; r < 5; r++) {
        double right = mu[r][2] - hold->mu[r], left = hold->mu[r] - mu[r][1];
        int inward = it->of.inward;
        int bent = !inward && fabs(right - left) > 1e-6 * (fabs(right) + fabs(left));
        dmu[r] = inward ? (mu[r][1] - mu[r][0]) / (inward * step)
                 : bent ? right / step
                        : number_slope(mu[r], step);
        kink |= bent;
    }
    if (kink) {
        note_kink(slopes);
    }
    return 1;
}

void slopes_number_friction(zw_slopes *slopes, int number, double *push)
{
    const slopes_bodies *s = slopes->bodies;
    size_t n = (size_t)s->system->n;
    for (int h = 0; h < s->holds; h++) {
        const slopes_hold *it = &s->hold[h];
        double dmu[5], rho = 0, drho = 0;
        if (it->kind != HOLD_POINT || it->way == WAY_HELD ||
            !friction_by(slopes, &slopes->variant[number], it, dmu)) {
            continue;
        }
        for (int r = 1; r < it->rows; r++) {
            double mu = it->mu[r - 1], u = it->turn[r];
            rho += mu * u * mu * u;
            drho += mu * dmu[r - 1] * u * u;
        }
        rho = sqrt(rho);
        drho /= rho;
        for (int r = 1; r < it->rows; r++) {
            double mu = it->mu[r - 1];
            double by =
                -(2 * mu * dmu[r - 1] - mu * mu * drho / rho) * it->turn[r] / rho * it->lambda[0];
            for (size_t i = 0; i < n && by != 0; i++) {
                push[i] += by * s->B[(size_t)(it->first + r) * n + i];
            }
        }
    }
}
