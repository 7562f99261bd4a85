#include "step/soft_step.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "system/soft/tolerances.h"
#include "tree/group.h"

int soft_is_damped(const zw_system *system)
{
    int damped = 0;
    for (int i = 0; i < system->n; i++) {
        damped |= system->tree->damping[i] > 0;
    }
    return damped && !(system->bodies->without & ZW_WITHOUT_EULERDAMP);
}

/* Then s->a is the damped acceleration. */
static int damp(soft_problem *s, double h)
{
    const zw_system *system = s->system;
    for (int i = 0; i < system->n; i++) {
        s->diagonal[i] = h * system->tree->damping[i];
    }
    for (int i = 0; i < system->n; i++) {
        s->a[i] = s->force[i] + s->push[i];
    }
    if (s->work->group &&
        system->bodies->extra_count == 0) { /* the masses are those of the trees */
        return tree_group_solve(s->work->group, s->diagonal, s->a);
    }
    int good = soft_factor_masses(s, s->diagonal);
    soft_solve_masses(s, s->a);
    return good;
}

static zw_status no_masses(double t, zw_error *error)
{
    return base_fail(error, ZW_NOT_A_METRIC, "at t = %.9g the masses are not positive", t);
}

/* The activations after h at these rates, clamped to their ranges. */
static void activate(const soft_problem *s, double h, const double *v0, const double *rate,
                     double *v1)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int k = 0; k < bodies->act_count; k++) {
        const bodies_motor *own = &bodies->motor[bodies->act_motor[k]];
        int i = s->system->n + k;
        double act = v0[i] + bodies_activation_time(own, h) * rate[k];
        if (own->clamp_act) {
            act = act < own->act_range[0]   ? own->act_range[0]
                  : act > own->act_range[1] ? own->act_range[1]
                                            : act;
        }
        v1[i] = act;
    }
}

void soft_activate(soft_problem *s, double h, const double *v0, double *v1)
{
    bodies_activate(s->system, s->work, v0, s->a + s->system->n);
    activate(s, h, v0, s->a + s->system->n, v1);
}

/* The power of forces without a potential, constraints included, at these speeds. */
static double power(const soft_problem *s, const double *v)
{
    const double *Q = s->work->out[PART_TERMS] + s->system->at.Q;
    double sum = 0;
    for (int i = 0; i < s->system->n; i++) {
        sum += (s->push[i] + (s->system->conservative ? 0 : Q[i])) * v[i];
    }
    return sum;
}

/* ---- Euler, implicit, implicitfast ----------------------------------------------------------- */

static zw_status step_once(soft_problem *s, double t, double h, const double *q0, const double *v0,
                           double *q1, double *v1, double *gained, zw_error *error)
{
    const zw_system *system = s->system;
    int implicit = system->bodies->integrator != ZW_INTEGRATOR_EULER;
    int damped = !implicit && soft_is_damped(system);
    s->only_pushes = damped;
    zw_status status = soft_forward(s, t, q0, v0, error);
    s->only_pushes = 0;
    if (status != ZW_OK) {
        return status;
    }
    if (!(implicit ? soft_accelerate_implicitly(s, h, q0, v0) : !damped || damp(s, h))) {
        return no_masses(t, error);
    }
    const double *Q = s->work->out[PART_TERMS] + system->at.Q;
    double *more = s->x;
    memset(more, 0, (size_t)system->n * sizeof *more);
    if (implicit) {
        soft_implicit_force(s, q0, more);
    }
    for (int i = 0; i < system->n && damped; i++) { /* dampers follow the speeds at the end */
        more[i] = -s->diagonal[i] * s->a[i];
    }
    *gained = 0;
    for (int i = 0; i < system->n; i++) {
        double pushed = s->push[i] + (system->conservative ? 0 : Q[i]) + more[i];
        v1[i] = v0[i] + h * s->a[i];
        *gained += 0.5 * h * pushed * (v0[i] + v1[i]);
    }
    soft_activate(s, h, v0, v1);
    memcpy(q1, q0, (size_t)system->nq * sizeof *q1);
    system_move(system, q1, h, v1);
    return ZW_OK;
}

/* ---- RK4 ------------------------------------------------------------------------------------- */

static zw_status take_rk4(soft_problem *s, double t, double h, const double *q0, const double *v0,
                          double *q1, double *v1, double *gained, zw_error *error)
{
    static const double at[4] = {0, 0.5, 0.5, 1}, part[4] = {1, 2, 2, 1};
    const zw_system *system = s->system;
    int n = system->n, all = n + system->carried;
    double *q = s->stage, *v = q + system->nq, *mean = v + all, *rate = mean + all;
    double *before =
        rate + all; /* speeds and rates: those of the previous stage, and their means */
    memset(mean, 0, 2 * (size_t)all * sizeof *mean);
    *gained = 0;
    for (int k = 0; k < 4; k++) {
        memcpy(q, q0, (size_t)system->nq * sizeof *q);
        if (k > 0) {
            memcpy(before, v, (size_t)n * sizeof *before);
            system_move(system, q, at[k] * h, before);
        }
        for (int i = 0; i < all; i++) {
            v[i] = k > 0 ? v0[i] + at[k] * h * s->a[i] : v0[i];
        }
        zw_status status = soft_forward(s, t + at[k] * h, q, v, error);
        if (status != ZW_OK) {
            return status;
        }
        bodies_activate(system, s->work, v, s->a + n);
        *gained += h / 6 * part[k] * power(s, v);
        for (int i = 0; i < all; i++) {
            mean[i] += part[k] * v[i] / 6;
            rate[i] += part[k] * s->a[i] / 6;
        }
    }
    for (int i = 0; i < n; i++) {
        v1[i] = v0[i] + h * rate[i];
    }
    activate(s, h, v0, rate + n, v1);
    memcpy(q1, q0, (size_t)system->nq * sizeof *q1);
    system_move(system, q1, h, mean);
    return ZW_OK;
}

static zw_status step_rk4(soft_problem *s, double t, double h, const double *q0, const double *v0,
                          double *q1, double *v1, double *gained, zw_error *error)
{
    s->work->acts_freely = 1; /* unclamped within the step */
    zw_status status = take_rk4(s, t, h, q0, v0, q1, v1, gained, error);
    s->work->acts_freely = 0;
    return status;
}

zw_status soft_step(soft_problem *s, double t, double h, const double *q0, const double *v0,
                    double *q1, double *v1, double *gained, zw_error *error)
{
    int rk4 = s->system->bodies->integrator == ZW_INTEGRATOR_RK4;
    s->work->as_mujoco = 1;
    zw_status status = (rk4 ? step_rk4 : step_once)(s, t, h, q0, v0, q1, v1, gained, error);
    s->work->as_mujoco = 0;
    return status;
}

/* ---- As a stepper ---------------------------------------------------------------------------- */

static zw_status take(step_whole *w, double t, double h, const double *y0, double *y1, int *finite,
                      zw_error *error)
{
    double gained = 0;
    int last = w->base.n - 1;
    zw_status status = soft_step(w->method, t, h, y0, y0 + w->nq, y1, y1 + w->nq, &gained, error);
    *finite = 0;
    if (w->works) {
        y1[last] = y0[last] + gained;
    }
    return status;
}

stepper *soft_stepper(soft_problem *s, double h, zw_error *error)
{
    step_whole *w = whole_create(s->system, h, error);
    if (!w) {
        return NULL;
    }
    w->take = take;
    w->method = s;
    w->kept = s->guess;
    w->kept_count = soft_memory(s);
    return &w->base;
}

void soft_note(const soft_problem *s, int *contacts, double *depth)
{
    *contacts = s->contacts > *contacts ? s->contacts : *contacts;
    for (int k = 0; k < s->contacts; k++) {
        *depth = fmax(*depth, -s->found.point[s->block[s->first_contact + k].of].gap);
    }
}

/* At the boundary of its cone or pyramid it slides. */
static int state_of(const contact_point *point, const zw_contact *to, int elliptic)
{
    double size = 0;
    for (int r = 1; r < to->rows; r++) {
        double part = to->force[r] / fmax(point->friction[r - 1], SOFT_LEAST_FRICTION);
        size = elliptic ? sqrt(size * size + part * part) : size + fabs(part);
    }
    return !(to->force[0] > 0)                ? ZW_TOUCH_OPEN
           : size < to->force[0] * (1 - 1e-9) ? ZW_TOUCH_STICK
                                              : ZW_TOUCH_SLIDE;
}

static int list_contacts(soft_problem *s, const double *v)
{
    contact_list *list = contact_list_begin(s->work, s->contacts);
    for (int k = 0; k < s->contacts && list; k++) {
        const contact_point *point = &s->found.point[s->block[s->first_contact + k].of];
        zw_contact *to = contact_list_add(list, s->system, point);
        int columns = contact_rows(s->system, point, s->work->sweeps, s->J_column, s->J);
        soft_contact_force(s, k, to->force);
        for (int r = 0; r < point->rows; r++) {
            for (int i = 0; i < columns; i++) {
                to->slip[r] += s->J[r * columns + i] * v[s->J_column[i]];
            }
        }
        to->state = state_of(point, to, s->system->bodies->elliptic);
    }
    if (list) {
        list->acts = 1;
    }
    return list != NULL;
}

/* The accelerations at a state, without effect on the following steps. */
static zw_status look_at(soft_problem *s, const zw_state *state, zw_error *error)
{
    size_t bytes = (size_t)soft_memory(s) * sizeof(double);
    double *kept = s->stage; /* memory of Runge-Kutta steps: long enough, and unused here */
    memcpy(kept, s->guess, bytes);
    zw_status status = soft_forward(s, state->t, state->data, state->data + state->nq, error);
    memcpy(s->guess, kept, bytes);
    return status;
}

zw_status soft_show(soft_problem *s, const zw_state *state, zw_error *error)
{
    const zw_system *system = s->system;
    zw_status status = look_at(s, state, error);
    if (status != ZW_OK) {
        return status;
    }
    memcpy(s->work->a, s->a, (size_t)system->n * sizeof(double));
    memset(s->work->lambda, 0, (size_t)system->m * sizeof(double));
    memset(s->work->push, 0, (size_t)system->m * sizeof(double));
    for (int k = 0; k < s->first_contact; k++) {
        const bodies_constraint *constraint = &system->bodies->constraint[s->block[k].of];
        memcpy(s->work->lambda + constraint->row, s->block[k].now.force,
               (size_t)constraint->rows * sizeof(double));
        memcpy(s->work->push + constraint->row, s->block[k].now.force,
               (size_t)constraint->rows * sizeof(double));
    }
    s->work->certificate = s->certificate;
    s->work->power = power(s, state->data + state->nq);
    return !s->is_there || list_contacts(s, state->data + state->nq) ? ZW_OK
                                                                     : base_no_memory(error);
}
