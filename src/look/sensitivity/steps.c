/* A step of a robot by the soft law, and the backward pass over it.
 *
 * The step (step/soft_step.h): the accelerations `as` of the soft law, then those of the step, then
 * speeds and coordinates,
 *
 *     M as = f + J' lambda(J as)                              as minimises (system/soft/soft.h)
 *     (M + h D) a = f + J' lambda,    v1 = v0 + h a,    q1 = q0 (+) h v1
 *
 * with everything evaluated at (q0, v0). f are all forces, those of inertia included. (Without
 * dampers that are integrated implicitly, a is as.) The step solves both equations, so they are
 * differentiated by the implicit function theorem: with H = M + J' C J, C = -d lambda/dx, and "|"
 * for derivatives at constant accelerations,
 *
 *     H das = df - d(M as)| + d(J' lambda)|as
 *     (M + h D) da = df - d(M a)| + d(J' lambda)|as - J' C J das
 *
 * Backward pass.  For slopes g of a number by a: y = (M + h D) \ g, z = -H \ J' C J y, w = y + z,
 * and
 *
 *     g . da = w . df + w . d(J' lambda)|as - y . d(M a)| - z . d(M as)|
 *
 * (w = H \ g without such dampers.) df - d(M a) together are -d(M a + bias) of the tree
 * (tree/differ.c) and the forces along constant directions (slopes_pull.c); d(J' lambda) is in
 * steps_touch.c. This takes two solves and two sweeps; no matrix of the step is formed. Of systems
 * with forces along directions that turn, or with implicit integrators, df - d(M a) is from
 * steps_general.c, and so is the part of loops in d(J' lambda).
 *
 * q1 = q0 (+) h v1: back_advance. */
#include "look/sensitivity/steps.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tree/differ.h"
#include "tree/sweeps.h"

void steps_note_kink(sens_steps *s, const char *name)
{
    s->kink_count++;
    s->kink = name;
}

/* ---- Creating and freeing -------------------------------------------------------------------- */

static void lay_out(sens_steps *s, base_arena *arena)
{
    const tree_mechanism *tree = s->system->tree;
    size_t n = (size_t)s->system->n, nq = (size_t)s->system->nq, acts = (size_t)s->acts;
    double **speeds[] = {&s->a, &s->as, &s->y, &s->z, &s->w, &s->push};
    double **squares[] = {&s->by_q, &s->by_v, &s->by_q_soft, &s->by_v_soft};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        *speeds[k] = base_arena_doubles(arena, n);
    }
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++) {
        *squares[k] = base_arena_doubles(arena, n * n);
    }
    s->v0 = base_arena_doubles(arena, n + acts);
    s->v1 = base_arena_doubles(arena, n + acts);
    s->act_by = base_arena_doubles(arena, acts);
    s->q0 = base_arena_doubles(arena, nq);
    s->q1 = base_arena_doubles(arena, nq);
    s->scratch = base_arena_doubles(arena, tree_differ_scratch(tree));
    s->control_side = base_arena_ints(arena, (size_t)s->system->shape.params);
    s->stage = base_arena_doubles(arena, s->rk4 ? steps_rk4_size(s) : 0);
}

static zw_status not_yet(zw_error *error, const char *what)
{
    return base_fail(error, ZW_BAD_INPUT, "derivatives of %s are not supported yet", what);
}

static zw_status check(const zw_system *system, zw_error *error)
{
    return system->bodies->integrator == ZW_INTEGRATOR_RK4 && system->carried > 0
               ? not_yet(error, "actuators with activations in steps by MuJoCo's RK4")
               : ZW_OK;
}

/* Do inertia and applied forces have slopes in closed form? And the rows beside contacts? */
static int is_smooth_closed(const zw_system *system)
{
    zw_error ignored = {0};
    return slopes_pulls_check(system, &ignored) == ZW_OK && system->carried == 0 &&
           (system->bodies->integrator == ZW_INTEGRATOR_EULER ||
            system->bodies->integrator == ZW_INTEGRATOR_RK4);
}

static int are_rows_closed(const zw_system *system)
{
    int closed = 1;
    for (int k = 0; k < system->bodies->constraint_count; k++) {
        closed &= slopes_is_constant(&system->bodies->constraint[k]);
    }
    return closed;
}

sens_steps *steps_create(const zw_system *system, double h, zw_error *error)
{
    base_arena arena = {0};
    if (check(system, error) != ZW_OK) {
        return NULL;
    }
    sens_steps *s = base_alloc(sizeof *s);
    if (!s) {
        base_no_memory(error);
        return NULL;
    }
    *s = (sens_steps){.system = system, .h = h, .acts = system->carried};
    int by = system->bodies->integrator;
    s->rk4 = by == ZW_INTEGRATOR_RK4;
    s->implicit = by != ZW_INTEGRATOR_EULER && !s->rk4;
    s->damped = by == ZW_INTEGRATOR_EULER && soft_is_damped(system);
    s->closed = is_smooth_closed(system);
    lay_out(s, &arena);
    s->memory = base_alloc(arena.used + 1);
    int good = s->memory && back_create(&s->place, system);
    s->work = good ? zw_work_create(system, error) : NULL;
    if (!good) {
        base_no_memory(error);
    }
    if (!s->work || soft_create(system, s->work, h, &s->soft, error) != ZW_OK ||
        (!(s->closed && are_rows_closed(system)) && steps_general_make(s, error) != ZW_OK)) {
        steps_free(s);
        return NULL;
    }
    s->soft->near = STEPS_NEAR;
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena);
    return s;
}

void steps_free(sens_steps *s)
{
    if (s) {
        steps_numbers_free(s);
        steps_general_free(s);
        soft_free(s->soft);
        zw_work_free(s->work);
        back_free(&s->place);
        base_free(s->touch);
        base_free(s->memory);
        base_free(s);
    }
}

/* ---- A step ---------------------------------------------------------------------------------- */

zw_status steps_take(sens_steps *s, double t, const double *q, const double *v, const double *param,
                     zw_error *error)
{
    const zw_system *system = s->system;
    double gained = 0;
    memcpy(s->q0, q, (size_t)system->nq * sizeof *q);
    memcpy(s->v0, v, (size_t)(system->n + s->acts) * sizeof *v);
    s->t = t;
    s->looked = 0;
    system_bind(system, s->work, param);
    soft_forget(s->soft); /* a repeated step has the same bits */
    return soft_step(s->soft, t, s->h, s->q0, s->v0, s->q1, s->v1, &gained, error);
}

/* ---- Common to all backward passes over a step ----------------------------------------------- */

/* Once for all backward passes over a step. */
static zw_status look(sens_steps *s, zw_error *error)
{
    const zw_system *system = s->system;
    const tree_mechanism *tree = system->tree;
    soft_problem *soft = s->soft;
    size_t bytes = (size_t)system->n * sizeof(double);
    if (s->looked) {
        return ZW_OK;
    }
    if (s->work->group) { /* the work does not hold all sweeps of a group */
        tree_kinematics(tree, s->q0, s->work->sweeps);
        tree_composite(tree, s->work->sweeps);
    }
    memcpy(s->a, soft->a, bytes);
    memcpy(s->as, soft->a, bytes);
    if ((s->damped || s->implicit) && soft->blocks > 0) {
        for (int i = 0; i < system->n; i++) {
            s->as[i] = soft->force[i] + soft->push[i];
        }
        if (!soft_factor_masses(soft, NULL)) {
            return base_fail(error, ZW_NOT_A_METRIC, "the masses are not positive");
        }
        soft_solve_masses(soft, s->as);
    }
    zw_status status = s->general ? steps_general_look(s, error) : ZW_OK;
    if (status != ZW_OK) {
        return status;
    }
    if (s->closed && s->damped && soft->blocks > 0) {
        tree_differ(tree, s->v0, s->as, s->work->sweeps, s->scratch, s->by_q_soft, s->by_v_soft);
    }
    if (s->closed) {
        tree_differ(tree, s->v0, s->a, s->work->sweeps, s->scratch, s->by_q, s->by_v);
    }
    back_set(&s->place, s->q0);
    back_field(&s->place, STEPS_A, s->as);
    back_field(&s->place, STEPS_V, s->v0);
    if (!steps_touch_look(s)) {
        return base_no_memory(error);
    }
    s->looked = 1;
    return ZW_OK;
}

/* ---- Backward pass --------------------------------------------------------------------------- */

/* The backward pass over q1 = q0 (+) h v1: adds slopes by v1 to v_by; q_by becomes that by q0. */
static void move_back(sens_steps *s, double *q_by, double *v_by)
{
    size_t bytes = (size_t)s->system->n * sizeof *q_by;
    memcpy(s->push, q_by, bytes);
    memset(q_by, 0, bytes);
    back_advance(s->system, s->v1, s->h, s->push, q_by, v_by);
}

typedef struct puller {
    const double *w;
    double *q_by, *v_by, *param_by;
} puller;

static void pull_back(void *user, const slopes_pull *pull)
{
    const puller *to = user;
    double along = 0;
    for (int i = 0; i < pull->count; i++) {
        along += pull->coef[i] * to->w[pull->dof[i]];
    }
    for (int i = 0; i < pull->count; i++) {
        to->q_by[pull->dof[i]] += along * pull->by_length * pull->coef[i];
        to->v_by[pull->dof[i]] += along * pull->by_rate * pull->coef[i];
    }
    if (to->param_by && pull->param >= 0) {
        to->param_by[pull->param] += along * pull->by_control;
    }
}

static void take_inertia(size_t n, const double *x, const double *by_q, const double *by_v,
                         double *q_by, double *v_by)
{
    for (size_t j = 0; j < n; j++) {
        double of_q = 0, of_v = 0;
        for (size_t i = 0; i < n; i++) {
            of_q += by_q[j * n + i] * x[i];
            of_v += by_v[j * n + i] * x[i];
        }
        q_by[j] -= of_q;
        v_by[j] -= of_v;
    }
}

/* y = W' \ y, W the matrix of the last equation of the step. 0: there are no factors. */
static int solve_last(sens_steps *s)
{
    soft_problem *soft = s->soft;
    if (s->implicit) {
        soft->work->as_mujoco = 1;
        int good = soft_implicit_solve_transposed(soft, s->h, s->q0, s->v0, s->y);
        soft->work->as_mujoco = 0;
        return good;
    }
    for (int i = 0; i < s->system->n; i++) {
        soft->diagonal[i] = s->h * s->system->tree->damping[i];
    }
    int factored = soft_factor_masses(soft, soft->diagonal);
    soft_solve_masses(soft, s->y);
    return factored;
}

/* y, z, w for the slopes g = h v_by. 0: there are no factors. */
static int solve(sens_steps *s, const double *v_by)
{
    soft_problem *soft = s->soft;
    size_t n = (size_t)s->system->n, bytes = n * sizeof(double);
    for (size_t i = 0; i < n; i++) {
        s->y[i] = s->h * v_by[i];
    }
    memset(s->z, 0, bytes);
    if (s->damped || s->implicit) {
        if (!solve_last(s)) {
            return 0;
        }
        if (soft->blocks > 0) {
            memset(s->push, 0, bytes);
            back_field(&s->place, STEPS_W, s->y);
            (s->general ? steps_general_stiffen : steps_touch_stiffen)(s, s->y, s->push);
            for (size_t i = 0; i < n; i++) {
                s->z[i] = -s->push[i];
            }
            if (!soft_factor(soft)) {
                return 0;
            }
            soft_solve_masses(soft, s->z);
        }
    } else {
        if (!soft_factor(soft)) {
            return 0;
        }
        soft_solve_masses(soft, s->y);
    }
    for (size_t i = 0; i < n; i++) {
        s->w[i] = s->y[i] + s->z[i];
    }
    return 1;
}

/* Inertia and applied forces, in closed form. */
static void inertia_back(sens_steps *s, double *q_by, double *v_by, double *param_by)
{
    size_t n = (size_t)s->system->n;
    slopes_kinks kinks = {0};
    take_inertia(n, s->y, s->by_q, s->by_v, q_by, v_by);
    if (s->damped && s->soft->blocks > 0) {
        take_inertia(n, s->z, s->by_q_soft, s->by_v_soft, q_by, v_by);
    }
    slopes_pulls(s->system, s->work, s->q0, s->v0, pull_back, &(puller){s->w, q_by, v_by, param_by},
                 &kinks);
    if (kinks.count > 0) {
        steps_note_kink(s, kinks.name);
    }
}

zw_status steps_accelerations_back(sens_steps *s, const double *by, double *q_by, double *v_by,
                                   double *param_by, zw_error *error)
{
    zw_status status = look(s, error);
    if (status != ZW_OK) {
        return status;
    }
    if (!solve(s, by)) {
        return base_fail(error, ZW_NOT_A_METRIC, "the masses are not positive");
    }
    if (s->general) {
        steps_general_back(s, s->act_by, q_by, v_by, param_by);
    }
    if (s->closed) {
        inertia_back(s, q_by, v_by, param_by);
    }
    if (s->soft->blocks > 0) {
        back_field(&s->place, STEPS_W, s->w);
        steps_touch_back(s, q_by, v_by);
    }
    return steps_numbers_back(s, s->act_by, error);
}

zw_status steps_back(sens_steps *s, const double *q1_by, const double *v1_by, double *q_by,
                     double *v_by, double *param_by, zw_error *error)
{
    size_t n = (size_t)s->system->n;
    if (s->rk4) {
        return steps_rk4_back(s, q1_by, v1_by, q_by, v_by, param_by, error);
    }
    memcpy(s->act_by, v1_by + n, (size_t)s->acts * sizeof *v_by);
    memmove(q_by, q1_by, n * sizeof *q_by);
    memmove(v_by, v1_by, n * sizeof *v_by);
    memset(v_by + n, 0, (size_t)s->acts * sizeof *v_by);
    move_back(s, q_by, v_by);
    return steps_accelerations_back(s, v_by, q_by, v_by, param_by, error);
}
