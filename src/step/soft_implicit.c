/* Steps that are implicit in the speeds, as MuJoCo's integrators implicit and implicitfast.
 *
 *     (M - h D) a = force + J' lambda,     v1 = v0 + h a,     D = d force/dv at (q0, v0)
 *
 * D has the dampers of joints and tendons and the motors that follow speeds, each -c g g' along its
 * directions g; a motor at the end of its range has none; and the fluid forces J' B J
 * (bodies_fluid.c), with only the symmetric part of B for `implicitfast`. `implicit` also includes
 * the derivative of the inertial forces c(q, v). `implicitfast` leaves that out, so that D is
 * symmetric, except for single free bodies, whose gyroscopic moments are the main part of it.
 * (MuJoCo 3.14, engine_forward.c and engine_derivative.c; entries between branches of a tree, which
 * M has not, are left out there as here; so are, by `implicitfast`, those between the dofs of a
 * body whose M is always diagonal: bodies_part.c.)
 *
 * c is a quadratic form of v, so its derivative follows exactly from two of its values,
 *
 *     dc/dv e = (c(v + s e) - c(v - s e))/(2 s)     for every s > 0,
 *
 * and trees are independent: one sweep serves a dof of each.
 *
 * Elimination. Row d of M has the dofs a_0 < a_1 < ... < d on the path from the root. Eliminated
 * from the last to the first, d changes only entries between these, which are there: no fill-in, in
 * the memory of M and of its transpose. Pivots are not chosen; nor does MuJoCo. */
#include <math.h>
#include <string.h>

#include "step/soft_step.h"
#include "tree/sweeps.h"

/* H += weight g g', g[k] on dof[k], where H has entries: H_dj of row d and likewise H_jd. */
static void add_along(soft_problem *s, double weight, int count, const int *dof, const double *g)
{
    const tree_mechanism *tree = s->system->tree;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            int k = tree->start[dof[i]], end = tree->start[dof[i] + 1];
            while (k < end && tree->column[k] < dof[j]) {
                k++;
            }
            if (k < end && tree->column[k] == dof[j]) {
                s->lower[k] += weight * g[i] * g[j];
            }
        }
    }
}

/* Along a joint or tendon, with all its terms. */
static void add_length(soft_problem *s, double weight, const bodies_length *length, const double *q)
{
    const bodies_term *term = s->system->bodies->term + length->first;
    const double *coef = bodies_coef_at(s->system, s->work, q) + length->first;
    for (int k = 0; k < length->count; k++) {
        s->work->aim_dof[k] = term[k].dof;
        s->work->aim[k] = coef[k];
    }
    add_along(s, weight, length->count, s->work->aim_dof, s->work->aim);
}

/* The control is not clamped to its range, as in MuJoCo's derivative. */
static void add_motor(soft_problem *s, double h, int index, const double *q, const double *v)
{
    const zw_system *system = s->system;
    zw_work *work = s->work;
    const bodies_motor *motor = &system->bodies->motor[index];
    if (!motor->gain_law && !motor->bias_law) {
        return;
    }
    bodies_pull now = bodies_motor_look(system, work, index, q, v);
    if (motor->clamp_force && (now.force <= motor->force[0] || now.force >= motor->force[1])) {
        return;
    }
    double u = motor->act < 0 ? work->param[motor->param] : bodies_control(system, work, motor, v);
    double by_rate = bodies_motor_law(motor, u, now.length, now.rate).by_rate;
    if (by_rate != 0) {
        add_along(s, -h * by_rate, now.count, work->aim_dof, work->aim);
    }
}

static int is_free_body(const tree_mechanism *tree, int first, int end)
{
    return end - first == 6 && tree->joint[tree->dof_joint[first]].kind == TREE_FREE;
}

/* H -= h J' B J, of both triangles. */
static void add_flow(soft_problem *s, double h, int index, const double *v)
{
    const tree_mechanism *tree = s->system->tree;
    zw_work *work = s->work;
    double B[36], *J = work->jacobian;
    bodies_flow now = bodies_fluid_look(s->system, work, index, v, B);
    int root = now.count > 0 ? work->aim_dof[0] : 0, even = 0;
    if (s->system->bodies->integrator == ZW_INTEGRATOR_IMPLICIT_FAST) {
        for (int t = 0; t < s->trees && !even; t++) {
            even = s->tree[t].first <= root && root < s->tree[t].end &&
                   !is_free_body(tree, s->tree[t].first, s->tree[t].end);
        }
    }
    for (int i = 0; i < now.count; i++) {
        for (int k = tree->start[work->aim_dof[i]]; k < tree->start[work->aim_dof[i] + 1]; k++) {
            int j = 0;
            while (j < now.count && work->aim_dof[j] != tree->column[k]) {
                j++;
            }
            double low = 0, high = 0; /* row i, column j; and row j, column i */
            for (int r = 0; r < 36 && j < now.count; r++) {
                low += J[6 * i + r / 6] * B[r] * J[6 * j + r % 6];
                high += J[6 * j + r / 6] * B[r] * J[6 * i + r % 6];
            }
            s->lower[k] -= h * (even ? 0.5 * (low + high) : low);
            s->upper[k] -= h * (even ? 0.5 * (low + high) : high);
        }
    }
}

/* The masses; those of tendons as far as the pattern of H allows. */
static void fill_masses(soft_problem *s, const double *q)
{
    const struct system_bodies *bodies = s->system->bodies;
    const tree_mechanism *tree = s->system->tree;
    memcpy(s->lower, s->work->sweeps + tree->at.M, (size_t)tree->entries * sizeof *s->lower);
    for (int i = 0; i < bodies->length_count && bodies->extra_count > 0; i++) {
        if (bodies->length[i].armature != 0) {
            add_length(s, bodies->length[i].armature, &bodies->length[i], q);
        }
    }
}

/* Ma = M a, with the result of fill_masses. */
static void multiply(const soft_problem *s, const double *a, double *Ma)
{
    const tree_mechanism *tree = s->system->tree;
    memset(Ma, 0, (size_t)s->system->n * sizeof *Ma);
    for (int d = 0; d < s->system->n; d++) {
        for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
            int j = tree->column[k];
            Ma[d] += s->lower[k] * a[j];
            Ma[j] += j < d ? s->lower[k] * a[d] : 0;
        }
    }
}

/* Subtracts h D, without inertial forces. */
static void add_slopes(soft_problem *s, double h, const double *q, const double *v)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    const tree_mechanism *tree = system->tree;
    for (int d = 0; d < system->n; d++) {
        s->lower[tree->start[d + 1] - 1] += h * tree->damping[d];
    }
    for (int i = 0; i < bodies->length_count; i++) {
        if (bodies->length[i].damping != 0) {
            add_length(s, h * bodies->length[i].damping, &bodies->length[i], q);
        }
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        add_motor(s, h, k, q, v);
    }
    memcpy(s->upper, s->lower, (size_t)tree->entries * sizeof *s->upper);
    for (int k = 0; k < bodies->fluid_count; k++) {
        add_flow(s, h, k, v);
    }
}

/* ---- Inertial forces ------------------------------------------------------------------------- */

/* Does the tree include the derivative of its inertial forces? */
static int takes_inertia(const soft_problem *s, const soft_tree *it)
{
    return s->system->bodies->integrator == ZW_INTEGRATOR_IMPLICIT ||
           is_free_body(s->system->tree, it->first, it->end);
}

/* c at v with, in each tree, `by` added at its dof number k. */
static void inertial_forces(soft_problem *s, const double *v, int k, double by, double *speed,
                            double *c)
{
    memcpy(speed, v, (size_t)s->system->n * sizeof *speed);
    for (int t = 0; t < s->trees; t++) {
        int d = s->tree[t].first + k;
        if (d < s->tree[t].end && takes_inertia(s, &s->tree[t])) {
            speed[d] += by;
        }
    }
    tree_velocities(s->system->tree, speed, s->work->sweeps);
    tree_inverse(s->system->tree, NULL, NULL, s->work->sweeps, c);
}

/* H += h dc/dv_d, with `slope` = dc/dv_d: for the rows on the path of d to the root and those after
 * d. */
static void add_inertia(soft_problem *s, double h, const soft_tree *it, int d, const double *slope)
{
    const tree_mechanism *tree = s->system->tree;
    for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
        s->upper[k] += h * slope[tree->column[k]];
    }
    s->lower[tree->start[d + 1] - 1] = s->upper[tree->start[d + 1] - 1];
    for (int i = d + 1; i < it->end; i++) {
        int k = tree->start[i];
        while (k < tree->start[i + 1] && tree->column[k] < d) {
            k++;
        }
        if (k < tree->start[i + 1] && tree->column[k] == d) {
            s->lower[k] += h * slope[i];
        }
    }
}

static void add_inertias(soft_problem *s, double h, const double *v)
{
    int n = s->system->n, longest = 0;
    double *speed = s->stage, *more = s->x, *less = s->y, fast = 0;
    for (int t = 0; t < s->trees; t++) {
        const soft_tree *it = &s->tree[t];
        longest =
            takes_inertia(s, it) && it->end - it->first > longest ? it->end - it->first : longest;
    }
    for (int i = 0; i < n; i++) {
        fast = fmax(fast, fabs(v[i]));
    }
    if (longest == 0 || fast == 0) { /* dc/dv is 0 at rest */
        return;
    }
    for (int k = 0; k < longest; k++) {
        inertial_forces(s, v, k, fast, speed, more);
        inertial_forces(s, v, k, -fast, speed, less);
        for (int i = 0; i < n; i++) {
            more[i] = (more[i] - less[i]) / (2 * fast);
        }
        for (int t = 0; t < s->trees; t++) {
            int d = s->tree[t].first + k;
            if (d < s->tree[t].end && takes_inertia(s, &s->tree[t])) {
                add_inertia(s, h, &s->tree[t], d, more);
            }
        }
    }
    tree_velocities(s->system->tree, v, s->work->sweeps);
}

/* ---- Elimination ----------------------------------------------------------------------------- */

/* H_ad of a column becomes H_ad/H_dd, and H the remainder. 0: a pivot is zero. */
static int eliminate(soft_problem *s)
{
    const tree_mechanism *tree = s->system->tree;
    for (int d = s->system->n - 1; d >= 0; d--) {
        int first = tree->start[d], last = tree->start[d + 1] - 1;
        double pivot = s->lower[last];
        if (!(fabs(pivot) > 0)) {
            return 0;
        }
        for (int i = first; i < last; i++) { /* a_i; its row begins at: */
            int row = tree->start[tree->column[i]] - first;
            double f = s->upper[i] /= pivot;
            for (int j = first; j <= i; j++) {
                s->lower[row + j] -= f * s->lower[j];
            }
            for (int j = i + 1; j < last; j++) {
                s->upper[tree->start[tree->column[j]] + i - first] -= f * s->lower[j];
            }
        }
    }
    return 1;
}

/* x = H \ x */
static void substitute(const soft_problem *s, double *x)
{
    const tree_mechanism *tree = s->system->tree;
    for (int d = s->system->n - 1; d >= 0; d--) {
        for (int k = tree->start[d]; k < tree->start[d + 1] - 1; k++) {
            x[tree->column[k]] -= s->upper[k] * x[d];
        }
    }
    for (int d = 0; d < s->system->n; d++) {
        int last = tree->start[d + 1] - 1;
        for (int k = tree->start[d]; k < last; k++) {
            x[d] -= s->lower[k] * x[tree->column[k]];
        }
        x[d] /= s->lower[last];
    }
}

/* Between dofs of such bodies, implicitfast neglects the slopes. */
static void leave_simple(soft_problem *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    const tree_mechanism *tree = s->system->tree;
    for (int j = 0; j < bodies->joint_count; j++) {
        const tree_joint *joint = &tree->joint[bodies->joint[j].index];
        int end = joint->v + (joint->kind == TREE_BALL ? 3 : 1);
        for (int d = joint->v; d < end && bodies->part[bodies->joint[j].part].simple; d++) {
            for (int k = tree->start[d]; k < tree->start[d + 1] - 1; k++) {
                s->lower[k] = s->upper[k] = 0;
            }
        }
    }
}

/* M becomes M - h D. */
static void add_all(soft_problem *s, double h, const double *q, const double *v)
{
    s->work->ahead = s->step;
    add_slopes(s, h, q, v);
    s->work->ahead = 0;
    add_inertias(s, h, v);
    leave_simple(s);
}

void soft_implicit_times(soft_problem *s, double h, const double *q, const double *v,
                         const double *a, double *to)
{
    const tree_mechanism *tree = s->system->tree;
    fill_masses(s, q);
    add_all(s, h, q, v);
    memset(to, 0, (size_t)s->system->n * sizeof *to);
    for (int d = 0; d < s->system->n; d++) {
        for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
            int j = tree->column[k];
            to[d] += s->lower[k] * a[j];
            to[j] += j < d ? s->upper[k] * a[d] : 0;
        }
    }
}

/* H = U L, U with ones: x = L' \ x, then U' \ x */
int soft_implicit_solve_transposed(soft_problem *s, double h, const double *q, const double *v,
                                   double *x)
{
    const tree_mechanism *tree = s->system->tree;
    fill_masses(s, q);
    add_all(s, h, q, v);
    if (!eliminate(s)) {
        return 0;
    }
    for (int d = s->system->n - 1; d >= 0; d--) {
        int last = tree->start[d + 1] - 1;
        x[d] /= s->lower[last];
        for (int k = tree->start[d]; k < last; k++) {
            x[tree->column[k]] -= s->lower[k] * x[d];
        }
    }
    for (int d = 0; d < s->system->n; d++) {
        for (int k = tree->start[d]; k < tree->start[d + 1] - 1; k++) {
            x[d] -= s->upper[k] * x[tree->column[k]];
        }
    }
    return 1;
}

int soft_accelerate_implicitly(soft_problem *s, double h, const double *q, const double *v)
{
    fill_masses(s, q);
    for (int i = 0; i < s->system->n; i++) {
        s->Ma[i] = s->force[i] + s->push[i];
    }
    if (s->system->bodies->extra_count > 0) { /* what the masses used here need for the same a */
        multiply(s, s->a, s->Ma);
    }
    add_all(s, h, q, v);
    if (!eliminate(s)) {
        return 0;
    }
    memcpy(s->a, s->Ma, (size_t)s->system->n * sizeof *s->a);
    substitute(s, s->a);
    return 1;
}

void soft_implicit_force(soft_problem *s, const double *q, double *more)
{
    fill_masses(s, q);
    multiply(s, s->a, more);
    for (int i = 0; i < s->system->n; i++) {
        more[i] -= s->Ma[i];
    }
}
