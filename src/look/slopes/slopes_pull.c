/* Springs and dampers of hinges, slides and fixed tendons and motors on these: forces along
 * constant directions,
 *
 *     f = coef F(L, L', u):     df/dq = coef F_L coef',    df/dv = coef F_L' coef',    df/du = coef
 * F_u.
 *
 * Forces along directions that turn (ball springs, motors on sites, tendons through space, air and
 * water) are rejected with their name: they have no derivatives here. */
#include "look/slopes/slopes_pull.h"

#include "base/error.h"

static zw_status not_yet(zw_error *error, const char *what)
{
    return base_fail(error, ZW_BAD_INPUT, "derivatives of %s are not supported yet", what);
}

zw_status slopes_pulls_check(const zw_system *system, zw_error *error)
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
           : bodies->lift_count > 0  ? not_yet(error, "gravity compensation (gravcomp)")
           : bodies->extra_count > 0 ? not_yet(error, "tendons with armature")
           : tree->without_matrix    ? not_yet(error, "trees without a mass matrix")
                                     : ZW_OK;
}

int slopes_is_constant(const bodies_constraint *constraint)
{
    if (constraint->kind == CONSTRAINT_LENGTH) {
        return constraint->length[1] < 0 ||
               (constraint->poly[2] == 0 && constraint->poly[3] == 0 && constraint->poly[4] == 0);
    }
    return constraint->kind == CONSTRAINT_LOWER || constraint->kind == CONSTRAINT_UPPER;
}

static void note(slopes_kinks *kinks, const char *name)
{
    kinks->count++;
    kinks->name = name;
}

static void pull_joints(const zw_system *system, slopes_visit *visit, void *user)
{
    const tree_mechanism *tree = system->tree;
    const double one = 1;
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = &tree->joint[j];
        if (joint->stiffness != 0) {
            visit(user, &(slopes_pull){.count = 1,
                                       .dof = &joint->v,
                                       .coef = &one,
                                       .by_length = -joint->stiffness,
                                       .param = -1});
        }
    }
    for (int d = 0; d < system->n; d++) {
        if (tree->damping[d] != 0) {
            visit(user, &(slopes_pull){.count = 1,
                                       .dof = &d,
                                       .coef = &one,
                                       .by_rate = -tree->damping[d],
                                       .param = -1});
        }
    }
}

static void pull_lengths(const zw_system *system, zw_work *work, const double *q,
                         slopes_visit *visit, void *user, slopes_kinks *kinks)
{
    const struct system_bodies *bodies = system->bodies;
    const double *coef = bodies_coef_at(system, work, q);
    for (int k = 0; k < bodies->length_count; k++) {
        const bodies_length *length = &bodies->length[k];
        if (length->stiffness == 0 && length->damping == 0) {
            continue;
        }
        double L = bodies_length_of(system, work, k, q);
        int same = length->rest[0] == length->rest[1];
        int stretched = L < length->rest[0] || L > length->rest[1];
        for (int i = 0; i < length->count; i++) {
            work->aim_dof[i] = bodies->term[length->first + i].dof;
        }
        if (length->stiffness != 0 && (L == length->rest[0] || L == length->rest[1]) && !same) {
            note(kinks, "a spring at the end of its slack");
        }
        visit(user, &(slopes_pull){.count = length->count,
                                   .dof = work->aim_dof,
                                   .coef = coef + length->first,
                                   .by_length = stretched || same ? -length->stiffness : 0,
                                   .by_rate = -length->damping,
                                   .param = -1});
    }
}

static int is_clamped(double x, int limited, const double range[2], slopes_kinks *kinks)
{
    if (limited && (x == range[0] || x == range[1])) {
        note(kinks, "an actuator at its limit");
    }
    return limited && (x < range[0] || x > range[1]);
}

/* Does the sum of all motors on a length exceed its limits? */
static int is_too_much(const zw_system *system, zw_work *work, int length, const double *q,
                       const double *v, slopes_kinks *kinks)
{
    const struct system_bodies *bodies = system->bodies;
    const bodies_length *on = &bodies->length[length];
    double sum = 0;
    if (!on->force_limited) {
        return 0;
    }
    for (int j = 0; j < bodies->motor_count; j++) {
        const bodies_motor *other = &bodies->motor[j];
        int same = other->kind == MOTOR_LENGTH && other->length == length;
        sum += same ? other->gear[0] * bodies_motor_look(system, work, j, q, v).force : 0;
    }
    return is_clamped(sum, 1, on->force_range, kinks);
}

static void pull_motor(const zw_system *system, zw_work *work, int k, const double *q,
                       const double *v, slopes_visit *visit, void *user, slopes_kinks *kinks)
{
    const bodies_motor *motor = &system->bodies->motor[k];
    double length = 0, rate = 0, control = work->param[motor->param];
    if (is_too_much(system, work, motor->length, q, v, kinks)) {
        return;
    }
    int count = bodies_aim(system, work, k, q, work->aim_dof, work->aim, &length);
    for (int i = 0; i < count; i++) {
        rate += work->aim[i] * v[work->aim_dof[i]];
    }
    double u = bodies_nearest_control(motor, bodies_control(system, work, motor, v), length);
    bodies_law law = bodies_motor_law(motor, u, length, rate);
    double gain = bodies_motor_law(motor, 1, length, rate).force -
                  bodies_motor_law(motor, 0, length, rate).force;
    if (is_clamped(law.force, motor->clamp_force, motor->force, kinks)) {
        return;
    }
    int given = !is_clamped(control, motor->clamp_control, motor->control, kinks);
    visit(user, &(slopes_pull){.count = count,
                               .dof = work->aim_dof,
                               .coef = work->aim,
                               .by_length = law.by_length,
                               .by_rate = law.by_rate,
                               .by_control = gain,
                               .param = given && motor->act < 0 ? motor->param : -1,
                               .motor = 1 + k});
}

void slopes_pulls(const zw_system *system, zw_work *work, const double *q, const double *v,
                  slopes_visit *visit, void *user, slopes_kinks *kinks)
{
    pull_joints(system, visit, user);
    pull_lengths(system, work, q, visit, user, kinks);
    for (int k = 0; k < system->bodies->motor_count; k++) {
        pull_motor(system, work, k, q, v, visit, user, kinks);
    }
}
