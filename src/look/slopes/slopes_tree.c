/* Derivatives of an instant of a robot.
 *
 * r = M a + bias - springs - dampers - motors - A' lambda; M a + bias is differentiated by sweeps
 * (tree/differ.c), the forces by hand: springs and dampers of hinges, slides and fixed tendons and
 * motors on these act along constant directions,
 *
 *     f = coef F(L, L', u):     df/dq = coef F_L coef',    df/dv = coef F_L' coef',    df/du = coef
 * F_u,
 *
 * and rows of limits and of linear couplings are constant: d lambda is that of K = [M -A'; A 0].
 * Where nothing is closed, da = -M \ dr by the factors of the tree.
 *
 * What acts along directions that turn (ball springs, motors on sites, tendons through space,
 * loops, contacts, air and water) is refused by its name: its derivatives are not there yet. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/slopes/slopes.h"
#include "system/bodies/bodies.h"
#include "tree/differ.h"
#include "tree/sweeps.h"

struct slopes_tree {
    double *room, *by_q, *by_v;
};

static zw_status not_yet(zw_error *error, const char *what)
{
    return base_fail(error, ZW_BAD_INPUT, "derivatives of %s are not there yet", what);
}

static zw_status check(const zw_system *system, zw_error *error)
{
    const struct system_bodies *bodies = system->bodies;
    const tree_mechanism *tree = system->tree;
    for (int j = 0; j < tree->joints; j++) {
        int turns = tree->joint[j].kind == TREE_BALL || tree->joint[j].kind == TREE_FREE;
        if (turns && tree->joint[j].stiffness != 0) {
            return not_yet(error, "springs of ball and free joints");
        }
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        if (bodies->motor[k].kind != MOTOR_LENGTH) {
            return not_yet(error, "motors on sites, ball and free joints");
        }
        if (bodies->motor[k].formula >= 0) {
            return not_yet(error, "motors that formulas control");
        }
    }
    return bodies->formulas          ? not_yet(error, "formulas over robots")
           : bodies->path_count > 0  ? not_yet(error, "tendons through space")
           : bodies->fluid_count > 0 ? not_yet(error, "air and water")
           : bodies->lift_count > 0  ? not_yet(error, "weights that are taken off (gravcomp)")
           : bodies->extra_count > 0 ? not_yet(error, "tendons with armature")
           : tree->without_matrix    ? not_yet(error, "trees without a mass matrix")
           : system->carried > 0     ? not_yet(error, "actuators with activations")
                                     : ZW_OK;
}

zw_status slopes_tree_create(zw_slopes *slopes, zw_error *error)
{
    const zw_system *system = slopes->system;
    size_t n = (size_t)system->n;
    zw_status status = check(system, error);
    if (status != ZW_OK) {
        return status;
    }
    slopes->formulas.rows = system->n + system->m;
    slopes->tree = base_alloc(sizeof *slopes->tree);
    if (slopes->tree) {
        slopes->tree->room = base_alloc((tree_differ_room(system->tree) + 1) * sizeof(double));
        slopes->tree->by_q = base_alloc((2 * n * n + 1) * sizeof(double));
        slopes->tree->by_v = slopes->tree->by_q ? slopes->tree->by_q + n * n : NULL;
    }
    return slopes->tree && slopes->tree->room && slopes->tree->by_q
               ? ZW_OK
               : base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
}

void slopes_tree_free(struct slopes_tree *tree)
{
    if (tree) {
        base_free(tree->room);
        base_free(tree->by_q);
        base_free(tree);
    }
}

/* ---- What is active ---------------------------------------------------------------------------
 */

/* Limits and linear couplings of joints and fixed tendons have rows that never change. */
static int is_constant(const bodies_closer *closer)
{
    if (closer->kind == CLOSER_LENGTH) {
        return closer->length[1] < 0 ||
               (closer->poly[2] == 0 && closer->poly[3] == 0 && closer->poly[4] == 0);
    }
    return closer->kind == CLOSER_LOWER || closer->kind == CLOSER_UPPER;
}

static zw_status find_active(zw_slopes *s, int *size, zw_error *error)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    const zw_work *work = s->work;
    *size = system->n;
    for (int i = 0; i < system->n + system->m; i++) {
        s->active[i] = i < system->n ? i : -1;
    }
    if (work->shown_by != work->motion) {
        return not_yet(error, "contacts of robots");
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        int k = c - bodies_first_closer(bodies);
        if (work->mode[c] == SYSTEM_OPEN) {
            continue;
        }
        if (k < 0 || k >= bodies->closer_count) { /* dry friction: a constant while it slides */
            if (work->mode[c] != SYSTEM_CLOSED) {
                return not_yet(error, "friction of joints that rest");
            }
            continue;
        }
        if (!is_constant(&bodies->closer[k])) {
            return base_fail(error, ZW_BAD_INPUT,
                             "derivatives of loops of robots are not there yet: %s",
                             zw_name(system, ZW_CONSTRAINT, c));
        }
        for (int r = system->first_row[c]; r < system->first_row[c + 1]; r++) {
            s->active[system->n + r] = (*size)++;
        }
    }
    return ZW_OK;
}

/* ---- Forces -----------------------------------------------------------------------------------
 */

/* known -= coef slope coef' at columns from `first` on: a force of F(L) or F(L'). */
static void add_along(zw_slopes *s, int first, int count, const int *dof, const double *coef,
                      double slope)
{
    size_t n = (size_t)s->system->n;
    for (int j = 0; j < count; j++) {
        for (int i = 0; i < count; i++) {
            s->known[(size_t)(first + dof[j]) * n + (size_t)dof[i]] -= coef[i] * slope * coef[j];
        }
    }
}

static void add_joints(zw_slopes *s)
{
    const tree_mechanism *tree = s->system->tree;
    size_t n = (size_t)s->system->n;
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = &tree->joint[j];
        if (joint->stiffness != 0) {
            s->known[(size_t)joint->v * n + (size_t)joint->v] += joint->stiffness;
        }
    }
    for (size_t d = 0; d < n; d++) {
        s->known[(n + d) * n + d] += tree->damping[d];
    }
}

static void add_lengths(zw_slopes *s, const double *q)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    const double *coef = bodies_coef_at(system, s->work, q);
    for (int k = 0; k < bodies->length_count; k++) {
        const bodies_length *length = &bodies->length[k];
        double L = bodies_length_of(system, s->work, k, q);
        int stretched = L < length->rest[0] || L > length->rest[1];
        int *dof = s->work->aim_dof;
        if (length->stiffness == 0 && length->damping == 0) {
            continue;
        }
        for (int i = 0; i < length->count; i++) {
            dof[i] = bodies->term[length->first + i].dof;
        }
        if (length->stiffness != 0 && (L == length->rest[0] || L == length->rest[1]) &&
            length->rest[0] != length->rest[1]) {
            s->answer.kinks++;
            s->answer.kink = "a spring at the end of its slack";
        }
        add_along(s, 0, length->count, dof, coef + length->first,
                  stretched || length->rest[0] == length->rest[1] ? -length->stiffness : 0);
        add_along(s, system->n, length->count, dof, coef + length->first, -length->damping);
    }
}

static int is_clamped(zw_slopes *s, double x, int limited, const double range[2])
{
    if (limited && (x == range[0] || x == range[1])) {
        s->answer.kinks++;
        s->answer.kink = "an actuator at its limit";
    }
    return limited && (x < range[0] || x > range[1]);
}

static void add_motor(zw_slopes *s, int k, const double *q, const double *v)
{
    const zw_system *system = s->system;
    const bodies_motor *motor = &system->bodies->motor[k];
    zw_work *work = s->work;
    size_t n = (size_t)system->n;
    double length = 0, rate = 0, control = work->param[motor->param];
    int count = bodies_aim(system, work, k, q, work->aim_dof, work->aim, &length);
    for (int i = 0; i < count; i++) {
        rate += work->aim[i] * v[work->aim_dof[i]];
    }
    double u = bodies_control(system, work, motor, v);
    bodies_law law = bodies_motor_law(motor, u, length, rate);
    double gain = bodies_motor_law(motor, 1, length, rate).force -
                  bodies_motor_law(motor, 0, length, rate).force;
    if (is_clamped(s, law.force, motor->clamp_force, motor->force)) {
        return;
    }
    const bodies_length *on = &system->bodies->length[motor->length];
    if (on->force_limited) {
        double sum = 0;
        for (int j = 0; j < system->bodies->motor_count; j++) {
            const bodies_motor *other = &system->bodies->motor[j];
            int same = other->kind == MOTOR_LENGTH && other->length == motor->length;
            sum += same ? other->gear[0] * bodies_motor_look(system, work, j, q, v).force : 0;
        }
        if (is_clamped(s, sum, 1, on->force_range)) {
            return;
        }
        bodies_aim(system, work, k, q, work->aim_dof, work->aim, &length);
    }
    add_along(s, 0, count, work->aim_dof, work->aim, law.by_length);
    add_along(s, system->n, count, work->aim_dof, work->aim, law.by_rate);
    if (!is_clamped(s, control, motor->clamp_control, motor->control)) {
        size_t column = 2 * n + 1 + (size_t)motor->param;
        for (int i = 0; i < count; i++) {
            s->known[column * n + (size_t)work->aim_dof[i]] -= gain * work->aim[i];
        }
    }
}

/* ---- All --------------------------------------------------------------------------------------
 */

/* da = -M \ known by the factors of the tree. 0: M has none. */
static int solve_free(zw_slopes *s)
{
    const zw_system *system = s->system;
    double *sweeps = s->work->sweeps;
    size_t n = (size_t)system->n;
    int bad = 0;
    if (system->bodies->thin_count > 0) {
        return 0;
    }
    tree_composite(system->tree, sweeps);
    tree_factor(system->tree, NULL, sweeps, &bad);
    for (size_t c = 0; c < (size_t)s->columns && !bad; c++) {
        double *x = s->a_by + c * n;
        int any = 0;
        for (size_t i = 0; i < n; i++) {
            x[i] = -s->known[c * n + i];
            any |= x[i] != 0;
        }
        if (any) {
            tree_solve(system->tree, sweeps, x);
        }
    }
    return !bad;
}

/* With rows that are closed: K = [M -A'; A 0]. */
static zw_status solve_closed(zw_slopes *s, int size, zw_error *error)
{
    const zw_system *system = s->system;
    const double *out = s->work->out[PART_TERMS];
    size_t n = (size_t)system->n, m = (size_t)system->m, wide = (size_t)size;
    memset(s->K, 0, wide * wide * sizeof *s->K);
    for (int j = 0; j < system->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            size_t i = (size_t)system->M_row[k];
            s->K[i * wide + (size_t)j] = s->K[(size_t)j * wide + i] = out[system->at.M + k];
        }
    }
    for (size_t r = 0; r < m; r++) {
        for (int k = system->A_start[r]; k < system->A_start[r + 1] && s->active[n + r] >= 0; k++) {
            size_t row = (size_t)s->active[n + r], i = (size_t)system->A_column[k];
            s->K[row * wide + i] = out[system->at.A + k];
            s->K[i * wide + row] = -out[system->at.A + k];
        }
    }
    memset(s->by, 0, (size_t)s->columns * wide * sizeof *s->by);
    for (size_t c = 0; c < (size_t)s->columns; c++) {
        for (size_t i = 0; i < n; i++) {
            s->by[c * wide + i] = -s->known[c * n + i];
        }
    }
    if (slopes_solve(size, s->columns, s->K, s->by) < 0) {
        return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    for (size_t c = 0; c < (size_t)s->columns; c++) {
        memcpy(s->a_by + c * n, s->by + c * wide, n * sizeof *s->by);
        for (size_t r = 0; r < m; r++) {
            s->lambda_by[c * m + r] =
                s->active[n + r] >= 0 ? s->by[c * wide + (size_t)s->active[n + r]] : 0;
        }
    }
    return ZW_OK;
}

/* F = A' lambda and its slopes. */
static void find_forces(zw_slopes *s)
{
    const zw_system *system = s->system;
    const double *A = s->work->out[PART_TERMS] + system->at.A;
    size_t n = (size_t)system->n, m = (size_t)system->m;
    for (int c = -1; c < s->columns; c++) {
        const double *x = c < 0 ? s->work->push : s->lambda_by + (size_t)c * m;
        double *y = c < 0 ? s->force : s->force_by + (size_t)c * n;
        memset(y, 0, n * sizeof *y);
        for (int r = 0; r < system->m; r++) {
            for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
                y[system->A_column[k]] += s->active[(int)n + r] >= 0 ? A[k] * x[r] : 0;
            }
        }
    }
}

zw_status slopes_tree_look(zw_slopes *s, zw_state *state, zw_error *error)
{
    const zw_system *system = s->system;
    const double *q = state_q(state), *v = state_v(state);
    size_t n = (size_t)system->n;
    int size;
    zw_status status = find_active(s, &size, error);
    if (status != ZW_OK) {
        return status;
    }
    tree_kinematics(system->tree, q, s->work->sweeps);
    tree_velocities(system->tree, v, s->work->sweeps);
    tree_differ(system->tree, v, s->work->a, s->work->sweeps, s->tree->room, s->tree->by_q,
                s->tree->by_v);
    memset(s->known, 0, (size_t)s->columns * n * sizeof *s->known);
    memcpy(s->known, s->tree->by_q, 2 * n * n * sizeof *s->known);
    add_joints(s);
    add_lengths(s, q);
    for (int k = 0; k < system->bodies->motor_count; k++) {
        add_motor(s, k, q, v);
    }
    memset(s->lambda_by, 0, (size_t)s->columns * (size_t)system->m * sizeof *s->lambda_by);
    if (size > system->n || !solve_free(s)) {
        status = solve_closed(s, size, error);
    }
    find_forces(s);
    for (int r = 0; r < system->m; r++) {
        int closed = s->active[system->n + r] >= 0 && system->row_kind[r] == SYSTEM_CONTACT;
        if (closed && !(s->work->push[r] > 0)) {
            s->answer.kinks++;
            s->answer.kink = zw_name(system, ZW_ROW, r);
        }
    }
    return status;
}
