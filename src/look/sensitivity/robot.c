/* Motions of robots with the derivatives of their states by unknowns, computed step by step:
 *
 *     z' = s_x z + s_p        for the map x' = s(x, p) of a step, with the slopes of steps.c and
 *                             rigid.c
 *
 * for initial coordinates and speeds, parameters (always, or for a part of the time) and numbers of
 * the model. For one cost and many unknowns the backward pass (gradient.c) is cheaper; a fit needs
 * all of z. */
#include "look/sensitivity/robot.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/rigid/rigid.h"
#include "look/sensitivity/steps.h"
#include "model/bodies.h"
#include "system/work.h"
#include "tree/tree.h"

typedef struct follower {
    const robot_problem *p;
    const zw_system *system; /* with the numbers of x */
    zw_system *own;          /* the same, if there are numbers among the unknowns */
    zw_work *work;
    zw_state *state;
    sens_rigid *rigid;
    sens_steps *steps;
    const char **name; /* [names] numbers among the unknowns */
    int names;
    double *was;        /* [count] their original values */
    int known;          /* for how many unknowns these are known */
    size_t state_count; /* 2 n, and activations */
    double *S;          /* [state_count][state_count + params + names] of a step by method soft */
    double *z;          /* [count][2 n] */
    double *act;        /* [count][activations] */
    double *next;       /* [state_count] */
    double *by_name;    /* [names] scratch */
    void *memory;
} follower;

/* ---- Unknowns -------------------------------------------------------------------------------- */

zw_status robot_plan(const zw_system *system, const zw_state *state, const zw_run_options *options,
                     zw_run_options *plan, zw_error *error)
{
    zw_run_options requested = *options;
    requested.observer = NULL;
    requested.poll = NULL;
    if (requested.method == ZW_METHOD_DEFAULT &&
        zw_run_plan(system, state, &requested, plan, NULL) == ZW_OK &&
        plan->method != ZW_METHOD_SOFT) {
        requested.method = ZW_METHOD_IMPULSE;
    }
    zw_status status = zw_run_plan(system, state, &requested, plan, error);
    if (status == ZW_OK && plan->method != ZW_METHOD_SOFT && plan->method != ZW_METHOD_IMPULSE) {
        return base_fail(
            error, ZW_BAD_INPUT,
            "derivatives of motions of robots go along with methods impulse and soft, not with %s",
            zw_method_name(plan->method));
    }
    return status;
}

int robot_speed_of(const zw_system *system, int c)
{
    const tree_mechanism *tree = system->tree;
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = &tree->joint[j];
        int shifts = joint->kind == TREE_FREE ? 3 : joint->kind == TREE_BALL ? 0 : 1;
        if (c >= joint->q && c < joint->q + shifts) {
            return joint->v + c - joint->q;
        }
    }
    return -1;
}

static int has_loops(const zw_system *system)
{
    int any = 0;
    for (int r = 0; r < system->m; r++) {
        any |= system->row_kind[r] != SYSTEM_CONTACT;
    }
    return any;
}

zw_status robot_check(const robot_problem *p, zw_error *error)
{
    const zw_system *system = p->system;
    for (int k = 0; k < p->count; k++) {
        const zw_unknown *by = &p->unknown[k];
        int most = by->kind == ZW_UNKNOWN_START   ? system->nq
                   : by->kind == ZW_UNKNOWN_SPEED ? system->n
                   : by->kind == ZW_UNKNOWN_PARAM ? system->shape.params
                                                  : 1 << 20;
        if (by->kind > ZW_UNKNOWN_NUMBER || by->index < 0 || by->index >= most ||
            (by->kind == ZW_UNKNOWN_NUMBER && !p->model)) {
            return base_fail(error, ZW_BAD_INPUT, "unknown %d is none of this system", k);
        }
        if (by->kind == ZW_UNKNOWN_START && robot_speed_of(system, by->index) < 0) {
            return base_fail(error, ZW_BAD_INPUT,
                             "%s is a part of a quaternion, and cannot start elsewhere alone",
                             zw_name(system, ZW_KIND_COORD, by->index));
        }
    }
    return ZW_OK;
}

zw_status robot_origin(const robot_problem *p, int unknown, zw_state *state, double *x,
                       zw_error *error)
{
    const zw_unknown *by = &p->unknown[unknown];
    if (by->kind == ZW_UNKNOWN_NUMBER) {
        return zw_model_get(p->model, p->number[by->index], x, error);
    }
    *x = by->kind == ZW_UNKNOWN_PARAM   ? state_param(state)[by->index]
         : by->kind == ZW_UNKNOWN_START ? state_q(state)[by->index]
                                        : state_v(state)[by->index];
    return ZW_OK;
}

double robot_coordinate(const zw_system *system, const double *q, const double *z, int c)
{
    const tree_mechanism *tree = system->tree;
    int d = robot_speed_of(system, c);
    for (int j = 0; j < tree->joints && d < 0; j++) {
        const tree_joint *joint = &tree->joint[j];
        int at = c - joint->q - (joint->kind == TREE_FREE ? 3 : 0);
        if ((joint->kind == TREE_FREE || joint->kind == TREE_BALL) && at >= 0 && at < 4) {
            const double *e = q + c - at, *w = z + joint->v + (joint->kind == TREE_FREE ? 3 : 0);
            /* e' = e (0, w)/2, w along axes of the body */
            const double turned[4] = {
                -e[1] * w[0] - e[2] * w[1] - e[3] * w[2], e[0] * w[0] + e[2] * w[2] - e[3] * w[1],
                e[0] * w[1] + e[3] * w[0] - e[1] * w[2], e[0] * w[2] + e[1] * w[1] - e[2] * w[0]};
            return turned[at] / 2;
        }
    }
    return d >= 0 ? z[d] : 0;
}

/* ---- Creating and freeing -------------------------------------------------------------------- */

static void drop(follower *f)
{
    const robot_problem *p = f->p;
    for (int k = 0; k < f->known; k++) {
        if (p->unknown[k].kind == ZW_UNKNOWN_NUMBER) {
            zw_model_set(p->model, p->number[p->unknown[k].index], f->was[k], NULL);
        }
    }
    rigid_free(f->rigid);
    steps_free(f->steps);
    zw_state_free(f->state);
    zw_work_free(f->work);
    zw_system_free(f->own);
    base_free(f->name);
    base_free(f->memory);
}

/* The system with the numbers of x. */
static zw_status set_numbers(follower *f, const double *x, zw_error *error)
{
    const robot_problem *p = f->p;
    zw_status status = ZW_OK;
    f->system = p->system;
    for (int k = 0; k < p->count && status == ZW_OK; k++) { /* first the original values of all */
        if (p->unknown[k].kind == ZW_UNKNOWN_NUMBER) {
            const char *name = p->number[p->unknown[k].index];
            status = zw_model_get(p->model, name, &f->was[k], error);
            f->name[f->names++] = name;
        }
        f->known = status == ZW_OK ? k + 1 : k;
    }
    for (int k = 0; k < p->count && status == ZW_OK; k++) {
        if (p->unknown[k].kind == ZW_UNKNOWN_NUMBER) {
            status = zw_model_set(p->model, p->number[p->unknown[k].index], x[k], error);
        }
    }
    if (status == ZW_OK && f->names > 0) {
        f->own = zw_system_compile(p->model, NULL, error);
        f->system = f->own;
        status = f->own ? ZW_OK : error->status;
    }
    return status;
}

static zw_status set_state(follower *f, const double *x, zw_error *error)
{
    const robot_problem *p = f->p;
    size_t n = (size_t)f->system->n;
    int loops = has_loops(f->system);
    memset(f->z, 0, f->state_count * (size_t)p->count * sizeof *f->z);
    f->work = zw_work_create(f->system, error);
    zw_status status = f->work ? ZW_OK : error->status;
    if (loops && status == ZW_OK) {
        status = robot_start(p, f->system, f->work, x, &f->state, f->z, error);
    } else if (status == ZW_OK) {
        f->state = zw_state_create(f->system, f->work, NULL, error);
        status = f->state ? ZW_OK : error->status;
    }
    if (status != ZW_OK) {
        return status;
    }
    for (int k = 0; k < p->count; k++) {
        const zw_unknown *by = &p->unknown[k];
        double *z = f->z + (size_t)k * 2 * n;
        if (by->kind == ZW_UNKNOWN_PARAM && !p->from) {
            state_param(f->state)[by->index] = x[k];
        } else if (loops) {
            continue;
        } else if (by->kind == ZW_UNKNOWN_START) {
            state_q(f->state)[by->index] = x[k];
            z[robot_speed_of(f->system, by->index)] = 1;
        } else if (by->kind == ZW_UNKNOWN_SPEED) {
            state_v(f->state)[by->index] = x[k];
            z[n + (size_t)by->index] = 1;
        }
    }
    return ZW_OK;
}

static zw_status make(follower *f, const double *x, zw_error *error)
{
    const robot_problem *p = f->p;
    size_t n = (size_t)p->system->n, count = (size_t)p->count;
    size_t state = 2 * n + (size_t)p->system->bodies->act_count;
    size_t wide = state + (size_t)p->system->shape.params + count;
    f->memory = base_alloc((state * (wide + count + 1) + 2 * count + 1) * sizeof(double));
    f->name = base_alloc((count + 1) * sizeof *f->name);
    if (!f->memory || !f->name) {
        return base_no_memory(error);
    }
    f->state_count = state;
    f->S = f->memory;
    f->z = f->S + state * wide;
    f->act = f->z + 2 * n * count;
    f->next = f->z + state * count;
    f->was = f->next + state;
    f->by_name = f->was + count;
    for (size_t k = 0; k < count; k++) {
        f->was[k] = 0;
    }
    zw_status status = set_numbers(f, x, error);
    status = status == ZW_OK ? set_state(f, x, error) : status;
    if (status == ZW_OK && p->run.method == ZW_METHOD_IMPULSE) {
        f->rigid = rigid_create(f->system, &p->run, p->model, f->name, f->names, error);
        if (f->rigid) {
            f->rigid->h = p->run.step;
        }
    } else if (status == ZW_OK) {
        f->steps = steps_create(f->system, p->run.step, error);
        if (f->steps && f->names > 0) {
            f->steps->number_by = f->by_name;
            status = steps_numbers_make(f->steps, p->model, f->name, f->names, error);
        }
    }
    return status != ZW_OK || f->rigid || f->steps ? status
           : error->status                         ? error->status
                                                   : ZW_NO_MEMORY;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The slopes of the last step, row by row. */
static zw_status soft_slopes(follower *f, zw_error *error)
{
    size_t n = (size_t)f->system->n, params = (size_t)f->system->shape.params;
    size_t state = f->state_count, wide = state + params + (size_t)f->names;
    zw_status status = ZW_OK;
    for (size_t i = 0; i < state && status == ZW_OK; i++) {
        double *row = f->S + i * wide;
        memset(row, 0, wide * sizeof *row);
        memset(f->next, 0, state * sizeof *f->next);
        memset(f->by_name, 0, (size_t)f->names * sizeof *f->by_name);
        f->next[i] = 1;
        status = steps_back(f->steps, f->next, f->next + n, row, row + n, row + state, error);
        memcpy(row + state + params, f->by_name, (size_t)f->names * sizeof *row);
    }
    return status;
}

/* Does unknown k determine its parameter at time t? */
static int is_now(const robot_problem *p, int k, double t)
{
    return !p->from || (t >= p->from[k] && t < p->until[k]);
}

/* z' of all unknowns, with S[state_count][wide]. */
static void advance(follower *f, const double *S, double t)
{
    const robot_problem *p = f->p;
    size_t two = 2 * (size_t)f->system->n, params = (size_t)f->system->shape.params;
    size_t state = f->state_count, acts = state - two, wide = state + params + (size_t)f->names;
    for (int k = 0, name = 0; k < p->count; k++) {
        const zw_unknown *by = &p->unknown[k];
        double *z = f->z + (size_t)k * two, *act = f->act + (size_t)k * acts;
        size_t own = by->kind == ZW_UNKNOWN_PARAM && is_now(p, k, t) ? state + (size_t)by->index
                     : by->kind == ZW_UNKNOWN_NUMBER ? state + params + (size_t)name++
                                                     : wide;
        for (size_t i = 0; i < state; i++) {
            double sum = own < wide ? S[i * wide + own] : 0;
            for (size_t j = 0; j < state; j++) {
                sum += S[i * wide + j] * (j < two ? z[j] : act[j - two]);
            }
            f->next[i] = sum;
        }
        memcpy(z, f->next, two * sizeof *z);
        memcpy(act, f->next + two, acts * sizeof *act);
    }
}

static zw_status step(follower *f, double t, double *param, zw_error *error)
{
    const zw_system *system = f->system;
    double *q = state_q(f->state), *v = state_v(f->state);
    size_t nq = (size_t)system->nq, n = (size_t)system->n;
    zw_status status = f->rigid ? rigid_take(f->rigid, t, q, v, param, 1, error)
                                : steps_take(f->steps, t, q, v, param, error);
    if (status == ZW_OK && f->steps) {
        status = soft_slopes(f, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    advance(f, f->rigid ? f->rigid->by : f->S, t);
    memcpy(q, f->rigid ? f->rigid->q1 : f->steps->q1, nq * sizeof *q);
    memcpy(v, f->rigid ? f->rigid->v1 : f->steps->v1, (n + (size_t)system->carried) * sizeof *v);
    return ZW_OK;
}

static zw_status go(follower *f, const double *x, robot_observer *observer, void *user,
                    zw_error *error)
{
    const robot_problem *p = f->p;
    double t0 = f->state->t, h = p->run.step, count = ceil((p->end - t0) / h * (1 - 1e-12));
    zw_status status = ZW_OK;
    if (!(count < 1e9)) {
        return base_fail(error, ZW_BAD_INPUT, "a motion of %.3g steps takes too long", count);
    }
    long steps = (long)count;
    if (f->rigid) {
        rigid_check_start(f->rigid, state_q(f->state));
    }
    int ends = observer(user, 0, f->state, f->z);
    for (long k = 0; k < steps && status == ZW_OK && !ends; k++) {
        double t = t0 + (double)k * h, *param = state_param(f->state);
        for (int c = 0; c < p->count && p->from; c++) {
            if (p->unknown[c].kind == ZW_UNKNOWN_PARAM && is_now(p, c, t)) {
                param[p->unknown[c].index] = x[c];
            }
        }
        status = step(f, t, param, error);
        f->state->t = t0 + (double)(k + 1) * h;
        if (p->run.poll && p->run.poll(p->run.user, f->state->t)) {
            return base_fail_as(error, ZW_INTERRUPTED);
        }
        ends = status == ZW_OK && observer(user, k + 1, f->state, f->z);
    }
    return status;
}

zw_status robot_follow(const robot_problem *p, const double *x, robot_observer *observer,
                       void *user, int *kinks, zw_error *error)
{
    zw_error mine = {0};
    follower f = {.p = p};
    error = error ? error : &mine;
    zw_status status = make(&f, x, error);
    status = status == ZW_OK ? go(&f, x, observer, user, error) : status;
    if (kinks) {
        *kinks = f.rigid ? f.rigid->kink_count : f.steps ? f.steps->kink_count : 0;
    }
    drop(&f);
    return status;
}
