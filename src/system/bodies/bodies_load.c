/* Forces between bodies.
 *
 * Let a be the accelerations of Gauss's principle, and cut the tree above body i. The wrench of its
 * parent balances the subtree beyond the cut against everything else,
 *
 *     F_i = sum over k in the subtree of (J alpha + omega x J omega,  m (a_c - g)) - W_k
 *
 * (tree.h), where W_k acts on body k from outside the tree: constraints, with the wrench c' lambda
 * of their rows c and multipliers lambda (as A = c J), contacts, formulas over points and axes,
 * motors on sites, gravity compensation, fluid forces, spatial tendons, which pull on the points of
 * their path. Forces on coordinates (motors, springs, dampers and dry friction of joints, fixed
 * tendons, limits, couplings) act between the two sides of a joint: they are part of F_i, and S_d .
 * F_i = tau_d - armature_d a_d is the force of a joint along its own speed d (newton.lane.h
 * reversed). The rest of F_i is the reaction, which does no work.
 *
 * The bodies are those of the model, not of the tree, in which welded ones are fused: so F_i is
 * known for a weld, too. Each has its own inertia, and the motion of the tree's body. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "system/tendon/tendon.h"
#include "tree/sweeps.h"

/* Adds sign times a wrench about `place` to one about `point`. */
static void add_shifted(double *sum, const double *point, double sign, const double *wrench,
                        const double *place)
{
    double arm[3], turn[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = place[k] - point[k];
    }
    model_cross(turn, arm, wrench + 3);
    for (int k = 0; k < 3; k++) {
        sum[k] += sign * (wrench[k] + turn[k]);
        sum[3 + k] += sign * wrench[3 + k];
    }
}

static void times_symmetric(const double I[6], const double x[3], double y[3])
{
    y[0] = I[0] * x[0] + I[3] * x[1] + I[4] * x[2];
    y[1] = I[3] * x[0] + I[1] * x[1] + I[5] * x[2];
    y[2] = I[4] * x[0] + I[5] * x[1] + I[2] * x[2];
}

void bodies_part_inertia(const zw_system *system, const zw_work *work, int part, const double x[3],
                         double y[3])
{
    const bodies_part *it = &system->bodies->part[part];
    const double *R = work->sweeps + system->tree->at.R + 9 * it->frame.body;
    double local[3], moment[3];
    for (int k = 0; k < 3; k++) {
        local[k] = R[k] * x[0] + R[3 + k] * x[1] + R[6 + k] * x[2];
    }
    times_symmetric(it->inertia, local, moment);
    for (int k = 0; k < 3; k++) {
        y[k] = model_dot(R + 3 * k, moment);
    }
}

void bodies_part_centre(const zw_system *system, const zw_work *work, int part, double place[3])
{
    const bodies_part *it = &system->bodies->part[part];
    tree_point(system->tree, it->frame.body, it->com, work->sweeps, place);
}

/* J alpha + omega x J omega and m (a_c - g), about the centre of mass. */
static void newton_euler(const zw_system *system, const zw_work *work, int part, double *F)
{
    const bodies_part *it = &system->bodies->part[part];
    const double *omega = work->sweeps + system->tree->at.V + 6 * it->frame.body;
    double place[3], A[6], spin[3], turn[3];
    bodies_part_centre(system, work, part, place);
    tree_point_acceleration(system->tree, it->frame.body, place, work->sweeps, A);
    bodies_part_inertia(system, work, part, A, F);
    bodies_part_inertia(system, work, part, omega, spin);
    model_cross(turn, omega, spin);
    for (int k = 0; k < 3; k++) {
        F[k] += turn[k];
        F[3 + k] = it->mass * (A[3 + k] - system->tree->gravity[k]);
    }
}

void bodies_relieve(const zw_system *system, zw_work *work, int part, const double *wrench,
                    const double *place)
{
    double centre[3];
    bodies_part_centre(system, work, part, centre);
    add_shifted(work->load + 6 * part, centre, -1, wrench, place);
}

static void take_off_outer(const zw_system *system, zw_work *work, const double *q, const double *v)
{
    const struct system_bodies *bodies = system->bodies;
    for (int c = 0; c < bodies->constraint_count; c++) {
        const bodies_constraint *constraint = &bodies->constraint[c];
        double place[2][3], wrench[2][6];
        if (constraint->kind < CONSTRAINT_LENGTH) {
            bodies_constraint_wrench(system, work, constraint, work->push + constraint->row, place,
                                     wrench);
            bodies_relieve(system, work, constraint->frame[0].part, wrench[0], place[0]);
            bodies_relieve(system, work, constraint->frame[1].part, wrench[1], place[1]);
        }
    }
    for (int f = 0; bodies->formulas && f < bodies->formulas->frame_count; f++) {
        double place[3], wrench[6];
        if (bodies_formula_wrench(system, work, f, work->push, place, wrench)) {
            bodies_relieve(system, work, bodies->formulas->frame[f].part, wrench, place);
        }
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        if (bodies->motor[k].kind == MOTOR_SITE) {
            bodies_pull now = bodies_motor_look(system, work, k, q, v);
            bodies_relieve(system, work, bodies->motor[k].frame.part, now.wrench, now.place);
            for (int i = 0; i < 6; i++) {
                now.wrench[i] = bodies->motor[k].refers ? -now.wrench[i] : 0;
            }
            bodies_relieve(system, work, bodies->motor[k].ref.part, now.wrench, now.place);
        }
    }
    for (int k = 0; work->touched && work->touched->acts && k < work->touched->count; k++) {
        const zw_contact *contact = &work->touched->contact[k];
        double wrench[6], back[6];
        contact_wrench(contact, wrench);
        for (int i = 0; i < 6; i++) {
            back[i] = -wrench[i];
        }
        bodies_relieve(system, work, contact->body[0], back, contact->pos);
        bodies_relieve(system, work, contact->body[1], wrench, contact->pos);
    }
    for (int k = 0; k < bodies->lift_count; k++) {
        const bodies_lift *lift = &bodies->lift[k];
        double place[3], wrench[6] = {0, 0, 0, lift->force[0], lift->force[1], lift->force[2]};
        tree_point(system->tree, lift->body, lift->pos, work->sweeps, place);
        bodies_relieve(system, work, lift->part, wrench, place);
    }
}

static void take_off_fluid(const zw_system *system, zw_work *work, const double *v)
{
    for (int k = 0; k < system->bodies->fluid_count; k++) {
        bodies_flow now = bodies_fluid_look(system, work, k, v, NULL);
        double wrench[6];
        for (int i = 0; i < 3; i++) {
            wrench[i] = model_dot(now.R + 3 * i, now.force);
            wrench[3 + i] = model_dot(now.R + 3 * i, now.force + 3);
        }
        bodies_relieve(system, work, system->bodies->fluid[k].frame.part, wrench, now.place);
    }
}

/* The force along the length of a tendon: its spring and damper, motors, limits and couplings. Its
 * dry friction has no row; it counts as transmitted by the joints. */
static double tendon_force(const zw_system *system, zw_work *work, int length, const double *q,
                           const double *v)
{
    const struct system_bodies *bodies = system->bodies;
    const bodies_length *it = &bodies->length[length];
    double now = bodies_length_of(system, work, length, q), pulled = 0;
    double force = -it->stiffness * (now - fmin(fmax(now, it->rest[0]), it->rest[1])) -
                   it->damping * bodies_rate_of(system, work, length, q, v);
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        if (motor->kind == MOTOR_LENGTH && motor->length == length) {
            pulled += motor->gear[0] * bodies_motor_look(system, work, k, q, v).force;
        }
    }
    force +=
        it->force_limited ? fmin(fmax(pulled, it->force_range[0]), it->force_range[1]) : pulled;
    for (int c = 0; c < bodies->constraint_count; c++) {
        const bodies_constraint *row = &bodies->constraint[c];
        if (row->kind < CONSTRAINT_LENGTH || row->kind == CONSTRAINT_BALL) {
            continue;
        }
        double by = row->kind == CONSTRAINT_UPPER ? -1 : 1, slope = 0;
        for (int k = 4; k > 0 && row->length[1] == length; k--) {
            slope = slope * (now - it->origin) + k * row->poly[k];
        }
        force += work->push[row->row] * ((row->length[0] == length ? by : 0) - slope);
    }
    return force;
}

void bodies_load(const zw_system *system, zw_work *work, zw_state *state)
{
    const struct system_bodies *bodies = system->bodies;
    const double *q = state_q(state), *v = state_v(state);
    system_bind(system, work, state_param(state));
    tree_kinematics(system->tree, q, work->sweeps);
    tree_velocities(system->tree, v, work->sweeps);
    const expr_inputs in = {.t = state->t, .param = work->param, .q = q, .v = v};
    bodies_run_formulas(system, work, PART_TERMS, &in);
    tree_accelerations(system->tree, work->a, work->sweeps);
    memset(work->load, 0, 6 * sizeof *work->load);
    for (int i = 1; i < bodies->part_count; i++) {
        newton_euler(system, work, i, work->load + 6 * i);
    }
    take_off_outer(system, work, q, v);
    take_off_fluid(system, work, v);
    for (int p = 0; p < bodies->path_count; p++) {
        tendon_load(system, work, p, tendon_force(system, work, bodies->path[p].length, q, v));
    }
    for (int i = bodies->part_count - 1; i > 0; i--) {
        double own[3], parent[3];
        bodies_part_centre(system, work, i, own);
        bodies_part_centre(system, work, bodies->part[i].parent, parent);
        add_shifted(work->load + 6 * bodies->part[i].parent, parent, 1, work->load + 6 * i, own);
    }
}

/* ---- Interface ------------------------------------------------------------------------------ */

/* The load of a part, about `at`. */
static zw_wrench load_at(const zw_system *system, const zw_work *work, int part, const double *at)
{
    zw_wrench it = {.between = 1, .at = {at[0], at[1], at[2]}};
    double sum[6] = {0}, centre[3];
    bodies_part_centre(system, work, part, centre);
    add_shifted(sum, at, 1, work->load + 6 * part, centre);
    memcpy(it.moment, sum, sizeof it.moment);
    memcpy(it.force, sum + 3, sizeof it.force);
    memcpy(it.held_moment, sum, sizeof it.moment);
    memcpy(it.held_force, sum + 3, sizeof it.force);
    return it;
}

static zw_wrench joint_wrench(const zw_system *system, const zw_work *work, int j)
{
    const bodies_joint *from = &system->bodies->joint[j];
    const tree_joint *joint = &system->tree->joint[from->index];
    const double *S = work->sweeps + system->tree->at.S + 6 * joint->v;
    zw_wrench it =
        load_at(system, work, from->part, work->sweeps + system->tree->at.anchor + 3 * from->index);
    static const int speeds[] = {
        [TREE_FREE] = 6, [TREE_BALL] = 3, [TREE_HINGE] = 1, [TREE_SLIDE] = 1};
    it.speeds = speeds[joint->kind];
    for (int d = 0; d < it.speeds; d++) { /* a rotation or a translation */
        int shifts = joint->kind == TREE_SLIDE || (joint->kind == TREE_FREE && d < 3);
        const double *axis = S + 6 * d + (shifts ? 3 : 0);
        it.drive[d] = model_dot(axis, shifts ? it.force : it.moment);
        double *held = shifts ? it.held_force : it.held_moment;
        for (int k = 0; k < 3; k++) {
            held[k] = it.speeds > 1 ? 0 : held[k] - it.drive[d] * axis[k];
        }
    }
    return it;
}

static zw_wrench constraint_wrench(const zw_system *system, const zw_work *work, int c)
{
    zw_wrench it = {0};
    double place[2][3], wrench[2][6];
    c -= bodies_first_constraint(system->bodies);
    if (c >= 0 && c < system->bodies->constraint_count &&
        system->bodies->constraint[c].kind < CONSTRAINT_LENGTH) {
        const bodies_constraint *constraint = &system->bodies->constraint[c];
        bodies_constraint_wrench(system, work, constraint, work->push + constraint->row, place,
                                 wrench);
        it.between = 1;
        memcpy(it.at, place[1], sizeof it.at);
        memcpy(it.moment, wrench[1], sizeof it.moment);
        memcpy(it.force, wrench[1] + 3, sizeof it.force);
        memcpy(it.held_moment, wrench[1], sizeof it.moment);
        memcpy(it.held_force, wrench[1] + 3, sizeof it.force);
    }
    return it;
}

zw_status zw_wrenches(const zw_system *system, const zw_state *state, zw_work *work, zw_kind kind,
                      zw_wrench *list, zw_error *error)
{
    if (kind != ZW_KIND_JOINT && kind != ZW_KIND_BODY && kind != ZW_KIND_CONSTRAINT) {
        return base_fail(error, ZW_BAD_INPUT, "wrenches are those of joints, bodies, constraints");
    }
    if (!system->tree) {
        memset(list, 0, (size_t)zw_count(system, kind) * sizeof *list);
        return ZW_OK;
    }
    bodies_load(system, work, (zw_state *)state); /* only read */
    for (int i = 0; i < zw_count(system, kind); i++) {
        if (kind == ZW_KIND_JOINT) {
            list[i] = joint_wrench(system, work, i);
        } else if (kind == ZW_KIND_CONSTRAINT) {
            list[i] = constraint_wrench(system, work, i);
        } else {
            double origin[3];
            const bodies_frame *frame = &system->bodies->part[i].frame;
            tree_point(system->tree, frame->body, frame->pos, work->sweeps, origin);
            list[i] = load_at(system, work, i, origin);
        }
    }
    return ZW_OK;
}
