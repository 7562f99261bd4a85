/* Initial deviations, and their projection onto active constraints.
 *
 * A file gives initial coordinates and some initial speeds; assembly (system/state.c) moves the
 * positions to the nearest ones that the constraints admit, keeps the given speeds as far as
 * possible, and determines the others. impulse.c has the derivatives of all of this. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "look/sensitivity/sensitivity.h"

#define STILL 1e-12 /* relative to the largest speed: a slip of zero */

/* Deviations of the parameters; those that are computed from others follow these. */
static void fill_params(zw_sensitivity *s)
{
    size_t params = (size_t)s->params;
    memset(s->param, 0, (size_t)s->count * params * sizeof *s->param);
    for (int c = 0; c < s->count; c++) {
        double *to = s->param + (size_t)c * params;
        int changes = s->unknown[c].kind == ZW_UNKNOWN_PARAM;
        if (!changes) {
            continue;
        }
        to[s->unknown[c].index] = 1;
        for (size_t round = 0; changes && round < params; round++) {
            changes = 0;
            for (int k = 0; k < s->params; k++) {
                const sens_way way = {.param = to};
                double x = sens_along(s, s->f.param + k, &way);
                int own = k == s->unknown[c].index;
                changes |= !own && x != to[k];
                to[k] = own ? 1 : x;
            }
        }
    }
}

/* The initial values in the text, and their deviations; held[]: speeds that were given. */
static void fill_written(zw_sensitivity *s, int as_written)
{
    const zw_model *model = s->system->model;
    size_t n = (size_t)s->n;
    int kept = 1;
    for (size_t i = 0; i < n; i++) {
        int f = s->f.start + (int)i, own_q = s->given.q && !isnan(s->given.q[i]);
        int own_v = s->given.v && !isnan(s->given.v[i]);
        double q = state_q(s->now)[i], v = state_v(s->now)[i];
        s->q0[i] = !as_written ? q : own_q ? s->given.q[i] : sens_value(s, f);
        s->v0[i] = !as_written ? v : own_v ? s->given.v[i] : sens_value(s, f + (int)n);
        s->held[i] = as_written && (own_v || model->coord[i].speed != EXPR_NONE);
        kept &= !s->held[i] || fabs(v - s->v0[i]) <= 1e-12 * (1 + fabs(s->v0[i]));
        s->q0[i] = fabs(q - s->q0[i]) <= 1e-14 * (1 + fabs(q)) ? q : s->q0[i];
        s->v0[i] = fabs(v - s->v0[i]) <= 1e-14 * (1 + fabs(v)) ? v : s->v0[i];
        for (size_t c = 0; c < (size_t)s->count; c++) {
            const zw_unknown *by = &s->unknown[c];
            const sens_way way = {.param = s->param + c * (size_t)s->params};
            int own = by->index == (int)i;
            double *x = s->z + c * 2 * n;
            x[i] = own && by->kind == ZW_UNKNOWN_START;
            x[n + i] = own && by->kind == ZW_UNKNOWN_SPEED;
            if (as_written && by->kind == ZW_UNKNOWN_PARAM) {
                x[i] = own_q ? 0 : sens_along(s, f, &way);
                x[n + i] = own_v ? 0 : sens_along(s, f + (int)n, &way);
            }
        }
    }
    for (size_t i = 0; i < n && !kept; i++) {
        s->held[i] = 0;
    }
}

/* Lists the rows that are active in these modes; one-sided ones only if `all`. */
static void list_rows(zw_sensitivity *s, const int *mode, int all)
{
    const zw_system *system = s->system;
    for (int r = 0; r < system->m; r++) {
        int c = system->row_constraint[r], contact = system->row_kind[r] == SYSTEM_CONTACT;
        s->acts[r] = contact ? all && mode[c] != SYSTEM_OPEN : 1;
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        int rough = system->slip[c].width > 0;
        s->does[c] = all && rough && mode[c] == SYSTEM_STUCK ? SENS_STICKS : SENS_APART;
    }
}

static zw_status onto(zw_sensitivity *s, const step_kinks *kinks, const int *mode, double *z,
                      double *most, zw_error *error)
{
    size_t all = 2 * (size_t)s->n * (size_t)s->count;
    double size = 1;
    *most = 0;
    if (s->system->m == 0) {
        return ZW_OK;
    }
    list_rows(s, mode, 1);
    const sens_push push = {.v0 = state_v(s->now), .acts = s->acts, .does = s->does};
    memcpy(s->middle, z, all * sizeof *z);
    zw_status status = sens_settle(s, kinks, &push, NULL, z, NULL, error);
    status = status == ZW_OK ? sens_impulse(s, kinks, &push, z, NULL, error) : status;
    for (size_t i = 0; i < all; i++) {
        *most = fmax(*most, fabs(z[i] - s->middle[i]));
        size = fmax(size, fabs(z[i]));
    }
    *most /= size;
    return status;
}

zw_status sens_project(zw_sensitivity *s, run *r, double *z, double *most, zw_error *error)
{
    return onto(s, &r->guards.kinks, r->work->mode, z, most, error);
}

/* A contact at rest whose friction does not stick begins to slide at once. For a small initial
 * speed the direction of friction differs until the motion has turned, so that derivatives by
 * speeds are one-sided. */
static void note_friction(zw_sensitivity *s)
{
    const zw_system *system = s->system;
    double fast = 0;
    for (int i = 0; i < s->n; i++) {
        fast = fmax(fast, fabs(state_v(s->now)[i]));
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        double slip = 0;
        for (int k = 0; k < system->slip[c].width; k++) {
            slip = hypot(slip, sens_value(s, s->f.slip[c] + k));
        }
        if (system->slip[c].width > 0 && s->mode[c] != SYSTEM_OPEN && s->mode[c] != SYSTEM_STUCK &&
            slip <= STILL * fast) {
            sens_note_kink(s, "friction that begins to slide");
        }
    }
}

zw_status sens_begin(zw_sensitivity *s, const zw_state *state, int as_written, const double *along,
                     zw_error *error)
{
    const zw_system *system = s->system;
    double most;
    if (as_written && state->impacts > 0) {
        return base_fail(error, ZW_BAD_INPUT,
                         "the file begins with an impact: their derivatives are not supported yet");
    }
    memcpy(s->now, state, state->bytes);
    for (int c = 0; c < system->model->constraint_count; c++) {
        s->mode[c] = (int)state_mode(s->now)[c];
    }
    sens_functions_run(s, NULL, NULL, NULL);
    note_friction(s);
    fill_params(s);
    fill_written(s, as_written);
    if (along) {
        memcpy(s->z, along, 2 * (size_t)s->n * (size_t)s->count * sizeof *s->z);
    }
    list_rows(s, s->mode, 0);
    const sens_push push = {.v0 = s->v0, .acts = s->acts, .does = s->does, .held = s->held};
    zw_status status = sens_settle(s, NULL, &push, s->q0, s->z, NULL, error);
    status = status == ZW_OK ? sens_impulse(s, NULL, &push, s->z, NULL, error) : status;
    status = status == ZW_OK ? onto(s, NULL, s->mode, s->z, &most, error) : status;
    if (status == ZW_OK && system->m > 0 && most > 1e-9) {
        sens_note_kink(s, "a contact that is closed at the start");
    }
    s->known = 0;
    memset(s->t_by, 0, (size_t)s->count * sizeof *s->t_by);
    return status;
}
