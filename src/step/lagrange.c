#include "step/lagrange.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/pose.h"
#include "step/ode/dop853.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

static zw_status evaluate(const step_lagrange *l, system_part part, double t, const double *q,
                          const double *v, zw_error *error)
{
    return system_evaluate(l->system, l->work, part, t, q, v, NULL, NULL, error);
}

static zw_status momentum(void *user, double t, const double *q, const double *v, double *p,
                          zw_error *error)
{
    const step_lagrange *l = user;
    zw_status status = evaluate(l, PART_LAGRANGE, t, q, v, error);
    memcpy(p, l->work->out[PART_LAGRANGE], (size_t)l->system->n * sizeof *p);
    return status;
}

static zw_status force(void *user, double t, const double *q, const double *v, double *g,
                       zw_error *error)
{
    const step_lagrange *l = user;
    const zw_system *system = l->system;
    zw_status status = evaluate(l, PART_LAGRANGE, t, q, v, error);
    memcpy(g, l->work->out[PART_LAGRANGE] + system->n, (size_t)system->n * sizeof *g);
    if (status == ZW_OK && system->C_count > 0) {
        status = evaluate(l, PART_TERMS, t, q, v, error);
        for (int k = 0; k < system->C_count && status == ZW_OK; k++) {
            g[system->C_coord[k]] += l->work->out[PART_TERMS][system->at.C + k];
        }
    }
    return status;
}

static zw_status position(void *user, double t, const double *q, double *r, zw_error *error)
{
    const step_lagrange *l = user;
    zw_status status = evaluate(l, PART_POSITION, t, q, l->zero, error);
    memcpy(r, l->work->out[PART_POSITION], (size_t)l->system->m * sizeof *r);
    return status;
}

static zw_status velocity(void *user, double t, const double *q, const double *v, double *r,
                          zw_error *error)
{
    const step_lagrange *l = user;
    zw_status status = evaluate(l, PART_VELOCITY, t, q, v, error);
    memcpy(r, l->work->out[PART_VELOCITY], (size_t)l->system->m * sizeof *r);
    return status;
}

/* Bodies without rows: M factored in O(n). */
static zw_status linearise_tree(void *user, double t, const double *q, const double *v,
                                zw_error *error)
{
    const step_lagrange *l = user;
    int bad = 0;
    (void)v;
    tree_kinematics(l->system->tree, q, l->sweeps);
    tree_articulate(l->system->tree, NULL, l->sweeps, &bad);
    return bad ? base_fail(error, ZW_UNDETERMINED, "at t = %.9g some speed moves no mass", t)
               : ZW_OK;
}

static zw_status solve_tree(void *user, const double *impulse, const double *wanted, double *u,
                            double *reaction, zw_error *error)
{
    const step_lagrange *l = user;
    size_t bytes = (size_t)l->system->n * sizeof *u;
    (void)wanted;
    (void)error;
    memcpy(u, impulse, bytes);
    memset(reaction, 0, bytes);
    tree_articulated_solve(l->system->tree, l->sweeps, u);
    return ZW_OK;
}

static void move(void *user, const double *q, const double *low, double h, const double *v,
                 double *next, double *next_low, double *middle)
{
    const step_lagrange *l = user;
    int nq = l->system->nq;
    tree_halfway(l->system->tree, q, v, &h, l->change, l->half);
    for (int i = 0; i < nq; i++) {
        middle[i] = q[i] + (low[i] + l->half[i]);
    }
    step_add(nq, q, low, l->change, next, next_low);
}

/* sigma of symplectic.c: for each quaternion h^2/4 (Omega . p) Omega + h/2 f x k. */
static void bend(void *user, double h, const double *v, const double *p, const double *g,
                 double *sigma)
{
    const zw_system *system = ((const step_lagrange *)user)->system;
    memset(sigma, 0, (size_t)system->n * sizeof *sigma);
    for (int j = 0; j < system->tree->joints; j++) {
        const tree_joint *joint = &system->tree->joint[j];
        if (joint->kind == TREE_HINGE || joint->kind == TREE_SLIDE) {
            continue;
        }
        int d = joint->v + (joint->kind == TREE_FREE ? 3 : 0);
        const double *omega = v + d, *mu = p + d;
        double f[3], k[3], gyro[3], twist[3], square = model_dot(omega, omega);
        double s = sqrt(1 + 0.25 * h * h * square), along = model_dot(omega, mu);
        model_cross(gyro, mu, omega);
        for (int i = 0; i < 3; i++) {
            f[i] = g[d + i] - gyro[i];
            k[i] = 0.5 * h * omega[i] / (1 + s);
        }
        model_cross(twist, f, k);
        for (int i = 0; i < 3; i++) {
            sigma[d + i] = 0.25 * h * h * along * omega[i] + 0.5 * h * twist[i];
        }
    }
}

static zw_status linearise(void *user, double t, const double *q, const double *v, zw_error *error)
{
    const step_lagrange *l = user;
    const zw_system *system = l->system;
    zw_status status = evaluate(l, PART_METRIC, t, q, v, error);
    if (status == ZW_OK) {
        status = evaluate(l, PART_VELOCITY, t, q, v, error);
    }
    memcpy(l->M, l->work->out[PART_METRIC], (size_t)system->M_start[system->n] * sizeof(double));
    memcpy(l->A, l->work->out[PART_VELOCITY] + system->m,
           (size_t)system->A_start[system->m] * sizeof(double));
    return status;
}

static zw_status solve(void *user, const double *impulse, const double *wanted, double *u,
                       double *reaction, zw_error *error)
{
    const step_lagrange *l = user;
    const zw_system *system = l->system;
    const system_rows rows = {.A = l->A, .b = wanted};
    system_solver *solver = l->work->velocity; /* another one after each change of modes */
    solver_fill(solver, l->M, rows, impulse, NULL);
    solver->warm = 0;
    zw_status status = solver_solve(solver, error);
    if (status == ZW_CONFLICT && solver->options.least_squares) {
        status = ZW_OK;
    }
    if (status != ZW_OK && status != ZW_INACCURATE) {
        return status; /* there may be no solution at all */
    }
    memcpy(u, solver->answer.a, (size_t)system->n * sizeof *u);
    memcpy(reaction, solver->answer.F_L, (size_t)system->n * sizeof *reaction);
    return status;
}

/* K quadratic and rows linear in the speeds: then no entry of M or A depends on them. */
static int is_linear(const zw_system *system)
{
    const zw_model *model = system->model;
    int entries = system->M_start[system->n];
    if (system->tree) {
        return 1;
    }
    for (int k = 0; k < entries; k++) {
        if (expr_graph_node(model->graph, system->tape[PART_METRIC].out[k])->depends &
            EXPR_ON_SPEED) {
            return 0;
        }
    }
    for (int k = 0; k < system->A_start[system->m]; k++) {
        if (expr_graph_node(model->graph, system->tape[PART_VELOCITY].out[system->m + k])->depends &
            EXPR_ON_SPEED) {
            return 0;
        }
    }
    return 1;
}

static zw_status refuse(const zw_system *system, zw_error *error)
{
    const zw_model *model = system->model;
    for (int c = 0; c < model->constraint_count; c++) {
        const model_constraint *constraint = &model->constraint[c];
        if (constraint->friction != EXPR_NONE) {
            return model_fail(model, error, ZW_BAD_INPUT, constraint->place,
                              "the variational methods know no dry friction, but %s has it; use "
                              "dop853",
                              constraint->name);
        }
    }
    if (system->given.kind != MODEL_LAW_NONHOLONOMIC) {
        return model_fail(model, error, ZW_BAD_INPUT, system->given.place,
                          "the variational methods know the nonholonomic law only; use dop853");
    }
    const struct system_bodies *bodies = system->bodies;
    if (bodies && (bodies->extra_count > 0 || bodies->act_count > 0 || bodies->formulas)) {
        return base_fail(error, ZW_BAD_INPUT, "the variational methods know no %s yet; use dop853",
                         bodies->formulas        ? "formulas over robots"
                         : bodies->act_count > 0 ? "actuators with activation"
                                                 : "tendons with armature");
    }
    if (model->massless) {
        return base_fail(error, ZW_BAD_INPUT, "the variational methods need masses; use dop853");
    }
    return ZW_OK;
}

zw_status lagrange_create(step_lagrange *l, const zw_system *system, zw_work *work, zw_error *error)
{
    zw_status status = refuse(system, error);
    *l = (step_lagrange){.system = system, .work = work};
    if (status != ZW_OK) {
        return status;
    }
    l->M = base_alloc(((size_t)system->M_start[system->n] + 1) * sizeof(double));
    l->A = base_alloc(((size_t)system->A_start[system->m] + 1) * sizeof(double));
    l->zero = base_alloc(((size_t)system->n + 1) * sizeof(double));
    l->holonomic = base_alloc(((size_t)system->m + 1) * sizeof(int));
    l->change = base_alloc(((size_t)system->nq + 1) * sizeof(double));
    l->half = base_alloc(((size_t)system->nq + 1) * sizeof(double));
    int alone = system->tree && system->m == 0;
    l->sweeps = alone ? tree_work_create(system->tree, 1) : NULL;
    if (!l->M || !l->A || !l->zero || !l->holonomic || !l->change || !l->half ||
        (alone && !l->sweeps)) {
        lagrange_free(l);
        return base_no_memory(error);
    }
    for (int r = 0; r < system->m; r++) {
        l->holonomic[r] = system->row_kind[r] != SYSTEM_VELOCITY;
    }
    l->view = (step_lagrangian){.n = system->n,
                                .m = system->m,
                                .holonomic = l->holonomic,
                                .linear = is_linear(system),
                                .user = l,
                                .momentum = momentum,
                                .force = force,
                                .position = position,
                                .velocity = velocity,
                                .linearise = linearise,
                                .solve = solve};
    if (system->tree) {
        l->view.nq = system->nq;
        l->view.size = system->m > 0;
        l->view.move = move;
        l->view.bend = bend;
    }
    if (alone) {
        l->view.linearise = linearise_tree;
        l->view.solve = solve_tree;
    }
    return ZW_OK;
}

void lagrange_free(step_lagrange *l)
{
    base_free(l->M);
    base_free(l->A);
    base_free(l->zero);
    base_free(l->holonomic);
    base_free(l->change);
    base_free(l->half);
    base_free(l->sweeps);
    *l = (step_lagrange){0};
}
