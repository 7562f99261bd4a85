/* Loads of joints and constraints: known reactions, Newton-Euler equations of every body, action
 * and reaction, multipliers of the same mechanism written as equations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "robots.h"
#include "tree/sweeps.h"

static zw_wrench *wrenches(robot *r, zw_kind kind)
{
    zw_wrench *list = calloc((size_t)zw_count(r->system, kind) + 1, sizeof *list);
    assert_non_null(list);
    robot_accelerations(r);
    assert_int_equal(zw_wrenches(r->system, r->state, r->work, kind, list, &r->error), ZW_OK);
    return list;
}

static zw_wrench wrench_of(robot *r, zw_kind kind, const char *name)
{
    zw_wrench *list = wrenches(r, kind);
    int i = zw_id(r->system, kind, name);
    assert_true(i >= 0);
    zw_wrench it = list[i];
    free(list);
    return it;
}

static double along(const double *x, const double *e)
{
    return model_dot(x, e);
}

/* Let go at rest from the horizontal, a point mass pulls with 3 m g cos(theta) on its rod. */
static void pendulum(void **state)
{
    (void)state;
    robot r = robot_read(
        "<mujoco><compiler angle='radian'/><option gravity='0 0 -9.81'/><worldbody>"
        "<body name='bob' pos='0.3 0.1 2'><joint name='pin' axis='0 1 0'/>"
        "<inertial pos='0 0 -0.7' mass='2.5' diaginertia='0 0 0'/></body></worldbody></mujoco>");
    for (int k = 0; k < 20; k++) {
        double theta = -1.5 + 0.15 * k, w = sqrt(2 * 9.81 * cos(theta) / 0.7);
        state_q(r.state)[0] = theta;
        state_v(r.state)[0] = w;
        zw_wrench it = wrench_of(&r, ZW_KIND_JOINT, "pin");
        double rod[3] = {sin(theta), 0, cos(theta)}; /* from the bob up to the pin */
        double across[3] = {cos(theta), 0, -sin(theta)};
        close_to("pull", along(it.force, rod), 3 * 2.5 * 9.81 * cos(theta), 1e-12 * 80);
        close_to("across", along(it.force, across), 0, 1e-12 * 80);
        close_to("about the axis", it.drive[0], 0, 1e-13 * 80);
        for (int j = 0; j < 3; j++) {
            close_to("moment", it.moment[j], 0, 1e-12 * 80);
            close_to("at", it.at[j], (double[]){0.3, 0.1, 2}[j], 1e-15);
        }
    }
    robot_end(&r);
}

/* A long branched thing with all that pushes: a free trunk, hinges, slide, ball, welds, springs,
 * dampers, dry friction, tendon, motors, thruster, weight taken off, a loop and a coupling. */
static const char *const BEAST =
    "<mujoco><compiler angle='radian'/><option gravity='0.3 -0.5 -9'><flag "
    "contact='disable'/></option><worldbody>"
    "<body name='trunk' pos='0.1 0.2 1.5' quat='1 0.2 -0.1 0.3'><freejoint name='base'/>"
    "  <geom type='box' size='0.2 0.1 0.3'/><site name='engine' pos='0.1 0 0' quat='1 0.3 0 0.1'/>"
    "  <body name='hip' pos='0.2 0 -0.1' quat='1 0 0.5 0'>"
    "    <joint name='a' axis='1 0 0' pos='0 0 0.1' ref='0.2' armature='0.02' damping='0.3'/>"
    "    <joint name='b' axis='0 -1 0.4' pos='0 0 0.1' stiffness='3' springref='0.4'"
    "           frictionloss='0.2'/>"
    "    <joint name='c' type='slide' axis='0 0 -2' stiffness='40' ref='0.1'/>"
    "    <geom type='capsule' size='0.1' fromto='0 0 0 0.2 0.1 -0.3'/>"
    "    <body name='plate' pos='0 0 -0.4'><geom type='sphere' size='0.1'/>"
    "      <site name='jet' pos='0.05 0.02 0' quat='1 0 0.2 0.1'/>"
    "      <body name='foot' pos='0.1 0.1 0'><joint name='d' type='ball' pos='0.05 0 0.02'"
    "        damping='0.1'/>"
    "        <geom type='cylinder' size='0.1 0.2' pos='0 0 -0.15'/></body>"
    "    </body></body>"
    "  <body name='arm' pos='-0.2 0 0.1' gravcomp='0.4'><joint name='e' axis='0 1 0'/>"
    "    <geom type='box' size='0.2 0.05 0.05' pos='-0.2 0 0'/>"
    "    <body name='hand' pos='-0.4 0 0'><joint name='f' axis='0 0 1'/>"
    "      <geom type='box' size='0.1 0.05 0.05' pos='-0.1 0 0'/>"
    "      <body name='tip' pos='-0.2 0 0'><geom type='sphere' size='0.06'/></body></body></body>"
    "</body></worldbody>"
    "<equality><connect name='tether' body1='tip' body2='plate' anchor='0 0.03 0'/>"
    "  <joint name='gear' joint1='f' joint2='e' polycoef='0 0.5 0.1 0 0'/></equality>"
    "<tendon><fixed name='t' stiffness='7' damping='0.4' springlength='0.3'>"
    "  <joint joint='a' coef='1.5'/><joint joint='c' coef='-2'/></fixed></tendon>"
    "<actuator><motor joint='a' gear='3'/><position joint='b' kp='20'/>"
    "  <motor joint='d' gear='1 2 3'/><motor joint='base' gear='1 2 3 0.1 0.2 0.3'/>"
    "  <motor site='jet' gear='0 0 2 0.1 0.2 -0.3'/><motor tendon='t' gear='1.5'/></actuator>"
    "</mujoco>";

static void shake(robot *r, unsigned *seed)
{
    double *q = state_q(r->state), *v = state_v(r->state);
    memcpy(q, r->system->bodies->q, (size_t)r->system->nq * sizeof *q);
    for (int i = 0; i < r->system->n; i++) {
        v[i] = 0.3 * dice(seed);
    }
    system_move(r->system, q, 1, v);
    for (int i = 0; i < r->system->n; i++) {
        v[i] = 2 * dice(seed);
    }
    for (int i = 0; i < r->system->shape.params; i++) {
        state_param(r->state)[i] = 3 * dice(seed);
    }
    system_bind(r->system, r->work, state_param(r->state));
    assert_int_equal(system_project_position(r->system, r->work, 0, q, v, &r->error), ZW_OK);
    assert_int_equal(system_project_velocity(r->system, r->work, 0, q, v, &r->error), ZW_OK);
    assert_int_equal(system_decide(r->system, r->work, r->state, NULL, &r->error), ZW_OK);
}

/* Along its own speeds a joint does what all forces on coordinates do there, less armature: those
 * of motors, springs and so on, and of constraints that act on coordinates. */
static void joints_do_what_pushes_them(void **state)
{
    (void)state;
    robot r = robot_read(BEAST);
    unsigned seed = 5;
    int n = r.system->n;
    double *wanted = calloc((size_t)n, sizeof *wanted), *part = calloc((size_t)n, sizeof *part);
    double *scratch = calloc((size_t)r.system->bodies->length_count, sizeof *scratch);
    assert_true(wanted && part && scratch);
    for (int k = 0; k < 10; k++) {
        shake(&r, &seed);
        zw_wrench *list = wrenches(&r, ZW_KIND_JOINT);
        const double *q = state_q(r.state), *v = state_v(r.state);
        double size = 0;
        /* the thruster pushes on its body and not through joints: without it */
        state_param(r.state)[4] = 0;
        system_bind(r.system, r.work, state_param(r.state));
        tree_passive(r.system->tree, q, v, wanted);
        bodies_add_motors(r.system, r.work, q, v, scratch, wanted);
        int tendon = r.system->bodies->joint_count;
        const bodies_length *t = &r.system->bodies->length[tendon];
        double tension = -7 * (bodies_length_of(r.system, r.work, tendon, q) - 0.3) -
                         0.4 * bodies_rate_of(r.system, r.work, tendon, q, v);
        for (int i = 0; i < t->count; i++) {
            const bodies_term *term = &r.system->bodies->term[t->first + i];
            wanted[term->dof] += term->coef * tension;
        }
        const char *const acting[] = {"gear", "b.dry"};
        for (int c = 0; c < 2; c++) {
            int index = zw_id(r.system, ZW_KIND_CONSTRAINT, acting[c]);
            assert_int_equal(zw_constraint_force(r.system, r.work, index, part), ZW_OK);
            for (int i = 0; i < n; i++) {
                wanted[i] += part[i];
            }
        }
        for (int i = 0; i < n; i++) {
            wanted[i] -= r.system->tree->armature[i] * r.work->a[i];
            size = fmax(size, fabs(wanted[i]));
        }
        for (int j = 0; j < r.system->bodies->joint_count; j++) {
            const tree_joint *joint = &r.system->tree->joint[r.system->bodies->joint[j].index];
            for (int i = 0; i < 3; i++) {
                size = fmax(size, fmax(fabs(list[j].force[i]), fabs(list[j].moment[i])));
            }
            for (int d = 0; d < list[j].speeds; d++) {
                close_to(r.system->bodies->joint_name[j], list[j].drive[d], wanted[joint->v + d],
                         1e-12 * size);
            }
        }
        free(list);
    }
    free(wanted);
    free(part);
    free(scratch);
    robot_end(&r);
}

/* The momentum of one body of the model, and its moment about the point `at`. */
static void momentum_of(robot *r, int part, const double at[3], double p[6])
{
    const bodies_part *it = &r->system->bodies->part[part];
    double c[3], V[6], arm[3], turn[3];
    tree_kinematics(r->system->tree, state_q(r->state), r->work->sweeps);
    tree_velocities(r->system->tree, state_v(r->state), r->work->sweeps);
    bodies_part_centre(r->system, r->work, part, c);
    tree_point_velocity(r->system->tree, it->frame.body, c, r->work->sweeps, V);
    bodies_part_inertia(r->system, r->work, part, V, p);
    for (int k = 0; k < 3; k++) {
        p[3 + k] = it->mass * V[3 + k];
        arm[k] = c[k] - at[k];
    }
    model_cross(turn, arm, p + 3);
    for (int k = 0; k < 3; k++) {
        p[k] += turn[k];
    }
}

/* A wrench of the list, on the sum about the origin. */
static void add_wrench(double sum[6], double sign, const zw_wrench *it)
{
    double turn[3];
    model_cross(turn, it->at, it->force);
    for (int k = 0; k < 3; k++) {
        sum[k] += sign * (it->moment[k] + turn[k]);
        sum[3 + k] += sign * it->force[k];
    }
}

/* Newton and Euler for each body of the motion that is really run: the rate of its momentum, by
 * differences over a short run, is what its parent, its children, gravity, weight taken off,
 * thruster and tether exert on it, as the interface reports them. */
static void momenta_change_by_what_is_reported(void **state)
{
    (void)state;
    robot r = robot_read(BEAST);
    const struct system_bodies *bodies = r.system->bodies;
    const double h = 1e-4, origin[3] = {0, 0, 0};
    unsigned seed = 8;
    double before[10][6], after[10][6], worst = 0, size = 0;
    assert_true(bodies->part_count <= 10);
    shake(&r, &seed);
    for (int i = 1; i < bodies->part_count; i++) {
        momentum_of(&r, i, origin, before[i]);
    }
    robot_run(&r, h, 1e-13);
    zw_wrench *body = wrenches(&r, ZW_KIND_BODY), *constraint = wrenches(&r, ZW_KIND_CONSTRAINT);
    double sum[10][6] = {{0}};
    for (int i = 1; i < bodies->part_count; i++) {
        const double *g = r.system->tree->gravity;
        double c[3], part = i == zw_id(r.system, ZW_KIND_BODY, "arm") ? 0.6 : 1;
        bodies_part_centre(r.system, r.work, i, c);
        zw_wrench weight = {.at = {c[0], c[1], c[2]}};
        for (int k = 0; k < 3; k++) {
            weight.force[k] = part * bodies->part[i].mass * g[k];
        }
        add_wrench(sum[i], 1, &weight);
        add_wrench(sum[i], 1, &body[i]);
        add_wrench(sum[bodies->part[i].parent], -1, &body[i]);
    }
    add_wrench(sum[zw_id(r.system, ZW_KIND_BODY, "plate")], 1, &constraint[0]);
    add_wrench(sum[zw_id(r.system, ZW_KIND_BODY, "tip")], -1, &constraint[0]);
    const double *q = state_q(r.state), *v = state_v(r.state);
    bodies_pull jet = bodies_motor_look(r.system, r.work, 4, q, v);
    zw_wrench thrust = {.at = {jet.place[0], jet.place[1], jet.place[2]}};
    memcpy(thrust.moment, jet.wrench, sizeof thrust.moment);
    memcpy(thrust.force, jet.wrench + 3, sizeof thrust.force);
    add_wrench(sum[zw_id(r.system, ZW_KIND_BODY, "plate")], 1, &thrust);
    robot_run(&r, 2 * h, 1e-13);
    for (int i = 1; i < bodies->part_count; i++) {
        momentum_of(&r, i, origin, after[i]);
        for (int k = 0; k < 6; k++) {
            double rate = (after[i][k] - before[i][k]) / (2 * h);
            size = fmax(size, fabs(rate));
            worst = fmax(worst, fabs(rate - sum[i][k]));
        }
    }
    print_message("Newton and Euler by differences: %.1e of %.1e\n", worst, size);
    assert_true(size > 10);
    assert_true(worst <= 1e-6 * size);
    free(body);
    free(constraint);
    robot_end(&r);
}

/* The same at an instant, to round-off; nothing is held by nothing: the free trunk gets through its
 * joint what the motor on it does, the world needs holding by as much. */
static void what_floats_is_not_held(void **state)
{
    (void)state;
    robot r = robot_read(BEAST);
    unsigned seed = 3;
    for (int k = 0; k < 10; k++) {
        shake(&r, &seed);
        double u = state_param(r.state)[3];
        zw_wrench *body = wrenches(&r, ZW_KIND_BODY), *joint = wrenches(&r, ZW_KIND_JOINT);
        int base = zw_id(r.system, ZW_KIND_JOINT, "base");
        for (int i = 0; i < 3; i++) {
            close_to("push", joint[base].force[i], u * (i + 1), 1e-11);
            close_to("world", body[0].force[i], u * (i + 1), 1e-11);
            close_to("held", joint[base].held_force[i], 0, 0);
            close_to("turn", joint[base].drive[3 + i], 0.1 * u * (i + 1), 1e-11);
        }
        free(body);
        free(joint);
    }
    robot_end(&r);
}

/* Each kind of constraint: its action on one body is the opposite of that on the other. */
static void action_and_reaction(void **state)
{
    (void)state;
    static const int kinds[] = {ZW_EQUALITY_CONNECT, ZW_EQUALITY_WELD, ZW_EQUALITY_HINGE,
                                ZW_EQUALITY_SLIDE, ZW_EQUALITY_DISTANCE};
    unsigned seed = 2;
    for (int kind = 0; kind < 5; kind++) {
        zw_model *model = robot_new();
        int first = robot_body(model, 0, "first", 0, 0, 0, 2);
        int second = robot_body(model, 0, "second", 0.4, 0.2, 0.1, 1);
        robot_joint(model, first, ZW_JOINT_FREE, "f", 0, 0, 1);
        robot_joint(model, second, ZW_JOINT_FREE, "g", 0, 0, 1);
        zw_equality_def def = zw_equality_default();
        def.kind = kinds[kind];
        def.first = first;
        def.second = second;
        def.placed = 1;
        def.distance = 0.3;
        def.pos2[1] = 0.1;
        assert_int_equal(zw_model_add_equality(model, &def, NULL), 0);
        robot r = robot_of(model);
        double push[6], place[2][3], wrench[2][6], sum[6] = {0}, size = 0;
        double *q = state_q(r.state), *v = state_v(r.state);
        for (int i = 0; i < r.system->n; i++) { /* also where the constraint is violated */
            v[i] = dice(&seed);
        }
        system_move(r.system, q, 0.3, v);
        for (int i = 0; i < 6; i++) {
            push[i] = dice(&seed);
        }
        tree_kinematics(r.system->tree, q, r.work->sweeps);
        tree_velocities(r.system->tree, v, r.work->sweeps);
        bodies_constraint_wrench(r.system, r.work, &r.system->bodies->constraint[0], push, place,
                                 wrench);
        for (int k = 0; k < 2; k++) {
            zw_wrench it = {.at = {place[k][0], place[k][1], place[k][2]}};
            memcpy(it.moment, wrench[k], sizeof it.moment);
            memcpy(it.force, wrench[k] + 3, sizeof it.force);
            add_wrench(sum, 1, &it);
        }
        for (int i = 0; i < 6; i++) {
            size = fmax(size, fabs(wrench[0][i]));
        }
        assert_true(size > 0.01);
        /* a violated connect pulls its two points together, which are apart: no couple is left
         * where the force is along their difference, and else what connect means is not defined */
        for (int i = 0; i < 6; i++) {
            if (i >= 3 || kinds[kind] >= ZW_EQUALITY_SLIDE) {
                close_to("reaction", sum[i], 0, 1e-14);
            }
        }
        robot_end(&r);
    }
}

/* A four-bar as equations (points, rods without mass) and as bodies: the pull in each of its rods.
 * The crank is a joint of the tree, the coupler too, the rocker is a distance that closes. */
static void four_bar_as_equations(void **state)
{
    (void)state;
    static const char *const EQUATIONS =
        "param g = 9.81\n"
        "coord x1 = 0.3*sin(0.4), z1 = 0.3*cos(0.4), x2 = 0.75, z2 = 0.5\n"
        "mass 1.5 at (x1, z1), 0.8 at (x2, z2)\n"
        "gravity (0, -g)\n"
        "constraint crank: x1^2 + z1^2 = 0.09\n"
        "constraint coupler: (x2-x1)^2 + (z2-z1)^2 = 0.49\n"
        "constraint rocker: (x2-0.8)^2 + z2^2 = 0.36\n";
    zw_error error = {0};
    zw_model *model = zw_model_parse(EQUATIONS, "bar.zw", NULL, &error);
    if (!model) {
        fail_msg("%d: %s", error.line, error.text);
    }
    robot e = robot_of(model);
    robot_run(&e, 0.3, 1e-12); /* on its way */
    robot_accelerations(&e);
    const double *x = state_q(e.state), *w = state_v(e.state), *lambda = e.work->lambda;

    robot b =
        robot_read("<mujoco><compiler angle='radian'/><option gravity='0 0 -9.81'/><worldbody>"
                   "<body name='crank'><joint name='A' axis='0 1 0'/>"
                   "<inertial pos='0 0 0.3' mass='1.5' diaginertia='0 0 0'/>"
                   "<body name='coupler' pos='0 0 0.3'><joint name='P' axis='0 1 0'/>"
                   "<inertial pos='0 0 0.7' mass='0.8' diaginertia='0 0 0'/>"
                   "<site name='end' pos='0 0 0.7'/></body></body></worldbody></mujoco>");
    zw_model *again = b.model;
    zw_equality_def def = zw_equality_default();
    def.name = "rocker";
    def.kind = ZW_EQUALITY_DISTANCE;
    def.first = zw_model_find(again, ZW_KIND_BODY, "coupler");
    def.second = 0;
    def.placed = 1;
    def.pos1[2] = 0.7;
    def.pos2[0] = 0.8;
    def.distance = 0.6;
    if (zw_model_add_equality(again, &def, &error) < 0) {
        fail_msg("%s", error.text);
    }
    b.model = NULL;
    robot_end(&b);
    b = robot_compile(again);
    /* the same state: angles from the vertical */
    double c1[2] = {x[0] / 0.3, x[1] / 0.3}, c2[2] = {(x[2] - x[0]) / 0.7, (x[3] - x[1]) / 0.7};
    double t1 = atan2(c1[0], c1[1]), t2 = atan2(c2[0], c2[1]);
    b.system->bodies->q[0] = t1;
    b.system->bodies->q[1] = t2 - t1;
    b.state = zw_state_create(b.system, b.work, NULL, &b.error);
    assert_non_null(b.state);
    double w1 = (w[0] * c1[1] - w[1] * c1[0]) / 0.3;
    double w2 = ((w[2] - w[0]) * c2[1] - (w[3] - w[1]) * c2[0]) / 0.7;
    state_v(b.state)[0] = w1;
    state_v(b.state)[1] = w2 - w1;
    zw_wrench A = wrench_of(&b, ZW_KIND_JOINT, "A"), P = wrench_of(&b, ZW_KIND_JOINT, "P");
    zw_wrench constraint = wrench_of(&b, ZW_KIND_CONSTRAINT, "rocker");
    /* A' lambda of a rod: 2 lambda (p - o), on p */
    for (int k = 0; k < 3; k += 2) {
        int i = k / 2;
        double crank = 2 * lambda[0] * x[i], coupler = 2 * lambda[1] * (x[2 + i] - x[i]);
        double rocker = 2 * lambda[2] * (x[2 + i] - (i == 0 ? 0.8 : 0));
        close_to("crank", A.force[k], crank, 1e-9 * 30);
        close_to("coupler", P.force[k], coupler, 1e-9 * 30);
        close_to("rocker", -constraint.force[k], rocker, 1e-9 * 30); /* it is given for the world */
    }
    assert_true(fabs(A.force[2]) > 1 && fabs(constraint.force[2]) > 1);
    robot_end(&e);
    robot_end(&b);
}

/* A beam on two equal pins: each carries half, although along the beam it is undetermined. */
static void symmetric_beam(void **state)
{
    (void)state;
    robot r = robot_read(
        "<mujoco><option gravity='0 0 -10'/><worldbody><body name='beam' pos='0 0 1'><freejoint/>"
        "<geom type='box' size='1 0.1 0.1' mass='3'/>"
        "<body name='load' pos='0 0 0.2'><geom type='sphere' size='0.1' mass='2'/></body>"
        "</body></worldbody><equality>"
        "<connect name='left' body1='beam' anchor='-1 0 0'/>"
        "<connect name='right' body1='beam' anchor='1 0 0'/></equality></mujoco>");
    zw_wrench left = wrench_of(&r, ZW_KIND_CONSTRAINT, "left");
    zw_wrench right = wrench_of(&r, ZW_KIND_CONSTRAINT, "right");
    zw_wrench load = wrench_of(&r, ZW_KIND_BODY, "load"),
              world = wrench_of(&r, ZW_KIND_BODY, "world");
    /* the second body of these is the world: it gets the weight */
    close_to("left", left.force[2], -25, 1e-12);
    close_to("right", right.force[2], -25, 1e-12);
    close_to("along", left.force[0] + right.force[0], 0, 1e-12);
    close_to("weld", load.force[2], 20, 1e-12);
    close_to("world", world.force[2], 50, 1e-11);
    robot_end(&r);
}

static void refused(void **state)
{
    (void)state;
    robot r = robot_read("<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody>"
                         "</mujoco>");
    zw_wrench list[4];
    robot_accelerations(&r);
    assert_int_equal(zw_wrenches(r.system, r.state, r.work, ZW_KIND_PARAM, list, &r.error),
                     ZW_BAD_INPUT);
    assert_string_equal(zw_name(r.system, ZW_KIND_BODY, 0), "world");
    assert_string_equal(zw_name(r.system, ZW_KIND_JOINT, 0), "joint0");
    assert_string_equal(zw_name(r.system, ZW_KIND_JOINT, 1), "");
    robot_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pendulum),
                                       cmocka_unit_test(joints_do_what_pushes_them),
                                       cmocka_unit_test(momenta_change_by_what_is_reported),
                                       cmocka_unit_test(what_floats_is_not_held),
                                       cmocka_unit_test(action_and_reaction),
                                       cmocka_unit_test(four_bar_as_equations),
                                       cmocka_unit_test(symmetric_beam),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
