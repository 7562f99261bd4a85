/* Rolling and gliding: bodies with rolling elements move as the same systems written as equations,
 * and as closed forms require. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "robots.h"
#include "world.h"

static zw_equality_def element(int kind, const char *name, int of, double radius)
{
    zw_equality_def def = zw_equality_default();
    def.kind = kind;
    def.name = name;
    def.first = of;
    def.second = 0;
    def.radius = radius;
    return def;
}

static void add(zw_model *model, const zw_equality_def *def)
{
    zw_error error = {0};
    if (zw_model_add_equality(model, def, &error) < 0) {
        fail_msg("%s", error.text);
    }
}

static int body(zw_model *model, int parent, const char *name, double mass, double across,
                double along)
{
    zw_error error = {0};
    zw_body_def def = zw_body_default();
    def.name = name;
    def.parent = parent;
    def.inertial = 1;
    def.mass = mass;
    def.inertia[0] = def.inertia[1] = across;
    def.inertia[2] = along;
    int index = zw_model_add_body(model, &def, &error);
    if (index < 0) {
        fail_msg("%s", error.text);
    }
    return index;
}

/* Moves in the plane: x, y, and a turn about z. */
static int in_plane(zw_model *model, const char *name, double mass, double inertia, double ahead)
{
    int index = body(model, 0, name, mass, inertia, inertia);
    zw_error error = {0};
    zw_body_def def = *(const zw_body_def *)zw_model_def(model, ZW_KIND_BODY, index);
    def.com[0] = ahead;
    assert_int_equal(zw_model_change(model, ZW_KIND_BODY, index, &def, &error), ZW_OK);
    robot_joint(model, index, ZW_JOINT_SLIDE, "x", 1, 0, 0);
    robot_joint(model, index, ZW_JOINT_SLIDE, "y", 0, 1, 0);
    robot_joint(model, index, ZW_JOINT_HINGE, "th", 0, 0, 1);
    return index;
}

static world example(const char *name, const zw_setting *setting, int count)
{
    char path[500];
    world w = {0};
    snprintf(path, sizeof path, ZW_SOURCE_DIR "/examples/%s", name);
    w.model = zw_model_read(path, &(zw_read_options){.settings = setting, .setting_count = count},
                            &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s", w.error.text);
    }
    return w;
}

static void held(const zw_run_summary *summary)
{
    assert_true(summary->violation_position <= 1e-12);
    assert_true(summary->violation_velocity <= 1e-12);
    assert_true(summary->energy_drift <= 1e-9);
}

/* ---- A disc --------------------------------------------------------------------------------- */

static robot disc(double lean, double circling, double spin)
{
    const double R = 0.5;
    zw_model *model = robot_new();
    int index = body(model, 0, "disc", 1, R * R / 4, R * R / 2);
    robot_joint(model, index, ZW_JOINT_FREE, "free", 0, 0, 1);
    zw_equality_def wheel = element(ZW_EQUALITY_WHEEL, "rolls", index, R);
    add(model, &wheel);
    double w3 = spin + circling * cos(lean);
    const double q[7] = {0, 0, R * sin(lean), cos(lean / 2), sin(lean / 2), 0, 0};
    const double v[6] = {-R * w3, 0, 0, 0, circling * sin(lean), w3};
    zw_error error = {0};
    zw_key_def key = zw_key_default();
    key.start = 1;
    key.qpos_count = 7;
    key.qpos = q;
    key.qvel_count = 6;
    key.qvel = v;
    assert_true(zw_model_add_key(model, &key, &error) >= 0);
    return robot_of(model);
}

/* Leaning and wobbling: the same centre and the same axle as examples/rolling_disk.zw. */
static void a_disc_is_the_equations(void **state)
{
    (void)state;
    const zw_setting setting[] = {{"lean", 1.1}, {"circling", 1.4}, {"spin", -6}};
    world w = example("rolling_disk.zw", setting, 3);
    robot r = disc(1.1, 1.4, -6);
    for (int k = 0; k < 5; k++) {
        zw_run_summary summary = robot_run(&r, k + 1, 1e-13);
        world_run(&w, k + 1, 1e-13);
        held(&summary);
        const double *q = state_q(r.state), *x = world_field(&w, ZW_FIELD_Q);
        double axle[3], phi = x[2], th = x[3];
        const double z[3] = {0, 0, 1};
        model_rotate(q + 3, z, axle);
        close_to("x", q[0], x[0], 1e-10);
        close_to("y", q[1], x[1], 1e-10);
        close_to("height", q[2], 0.5 * sin(th), 1e-10);
        close_to("axle x", axle[0], sin(phi) * sin(th), 1e-10);
        close_to("axle y", axle[1], -cos(phi) * sin(th), 1e-10);
        close_to("axle z", axle[2], cos(th), 1e-10);
        close_to("turning about the axle", state_v(r.state)[5],
                 world_field(&w, ZW_FIELD_V)[4] + world_field(&w, ZW_FIELD_V)[2] * cos(th), 1e-9);
    }
    assert_int_equal(zw_count(r.system, ZW_KIND_CONSTRAINT), 2);
    assert_string_equal(zw_name(r.system, ZW_KIND_CONSTRAINT, 1), "rolls.touch");
    robot_end(&r);
    world_end(&w);
}

/* ---- Blades --------------------------------------------------------------------------------- */

static void a_sleigh_is_the_equations(void **state)
{
    (void)state;
    world w = example("chaplygin_sleigh.zw", NULL, 0);
    zw_model *model = robot_new();
    int sleigh = in_plane(model, "sleigh", 1, 0.5, 0.4);
    zw_equality_def blade = element(ZW_EQUALITY_BLADE, "edge", sleigh, 0);
    blade.touch = 0;
    add(model, &blade);
    robot r = robot_of(model);
    state_v(r.state)[0] = 0.2;
    state_v(r.state)[2] = 2;
    for (int k = 0; k < 10; k++) {
        zw_run_summary summary = robot_run(&r, 2 * (k + 1), 1e-13);
        world_run(&w, 2 * (k + 1), 1e-13);
        held(&summary);
        for (int i = 0; i < 3; i++) {
            close_to("place", state_q(r.state)[i], world_field(&w, ZW_FIELD_Q)[i], 1e-10);
            close_to("speed", state_v(r.state)[i], world_field(&w, ZW_FIELD_V)[i], 1e-10);
        }
    }
    robot_accelerations(&r);
    world_forward(&w);
    close_to("push", r.work->lambda[0], world_field(&w, ZW_FIELD_LAMBDA)[0], 1e-9);
    robot_end(&r);
    world_end(&w);
}

/* In space, with touch: a body that stands on three blades, two of which do not steer, goes on a
 * circle whose centre is where the lines across them meet. */
static void blades_in_space(void **state)
{
    (void)state;
    zw_model *model = robot_new();
    int sledge = body(model, 0, "sledge", 2, 0.3, 0.4);
    robot_joint(model, sledge, ZW_JOINT_FREE, "free", 0, 0, 1);
    const double place[3][2] = {{1, 0}, {0, 0.3}, {0, -0.3}};
    const double steer = 0.4;
    for (int i = 0; i < 3; i++) {
        zw_equality_def blade = element(ZW_EQUALITY_BLADE, NULL, sledge, 0);
        memcpy(blade.pos1, place[i], sizeof place[i]);
        blade.quat1[0] = i == 0 ? cos(steer / 2) : 1;
        blade.quat1[3] = i == 0 ? sin(steer / 2) : 0;
        add(model, &blade);
    }
    robot r = robot_of(model);
    state_v(r.state)[0] = 1;
    state_v(r.state)[5] = tan(steer);
    zw_run_summary summary = robot_run(&r, 3, 1e-12);
    held(&summary);
    double radius = 1 / tan(steer), turned = 3 * tan(steer);
    close_to("x", state_q(r.state)[0], radius * sin(turned), 1e-9);
    close_to("y", state_q(r.state)[1], radius * (1 - cos(turned)), 1e-9);
    close_to("z", state_q(r.state)[2], 0, 1e-12);
    robot_accelerations(&r);
    int rank = zw_work_motion(r.work)->rank;
    assert_int_equal(rank, 5); /* six rows, and one blade says what the other did */
    robot_end(&r);
}

/* ---- Balls ---------------------------------------------------------------------------------- */

static void add_ball(zw_model *model, int plane, double mass, double radius, const double pos[3],
                     const double tilt[4])
{
    int ball =
        body(model, 0, "ball", mass, 0.4 * mass * radius * radius, 0.4 * mass * radius * radius);
    zw_error error = {0};
    zw_body_def def = *(const zw_body_def *)zw_model_def(model, ZW_KIND_BODY, ball);
    memcpy(def.pos, pos, sizeof def.pos);
    assert_int_equal(zw_model_change(model, ZW_KIND_BODY, ball, &def, &error), ZW_OK);
    robot_joint(model, ball, ZW_JOINT_FREE, "free", 0, 0, 1);
    zw_equality_def roll = element(ZW_EQUALITY_ROLL, "roll", ball, radius);
    roll.second = plane;
    memcpy(roll.quat2, tilt, sizeof roll.quat2);
    add(model, &roll);
}

/* Down a slope: 5/7 of what a sliding block would do. */
static void a_ball_on_a_slope(void **state)
{
    (void)state;
    const double slope = 0.3, r0 = 0.2;
    const double tilt[4] = {cos(slope / 2), 0, sin(slope / 2), 0};
    const double pos[3] = {r0 * sin(slope), 0, r0 * cos(slope)};
    zw_model *model = robot_new();
    add_ball(model, 0, 3, r0, pos, tilt);
    robot r = robot_of(model);
    zw_run_summary summary = robot_run(&r, 2, 1e-12);
    held(&summary);
    double way = 5.0 / 7 * 9.81 * sin(slope) * 2;
    close_to("x", state_q(r.state)[0], pos[0] + way * cos(slope), 1e-10);
    close_to("z", state_q(r.state)[2], pos[2] - way * sin(slope), 1e-10);
    robot_end(&r);
}

/* A ball on a table that turns freely: no friction in its bearing, so energy and the angular
 * momentum about it stay; and with a heavy table the ball goes round with 2/7 of its rate
 * (Pars 1965, ch. 12: circles, for a solid ball). */
static void a_ball_on_a_turntable(void **state)
{
    (void)state;
    for (int heavy = 0; heavy < 2; heavy++) {
        const double r0 = 0.1, turn = 2, upright[4] = {1, 0, 0, 0}, pos[3] = {0.5, 0, r0};
        zw_model *model = robot_new();
        int table = body(model, 0, "table", 1, heavy ? 1e9 : 2, heavy ? 1e9 : 2);
        robot_joint(model, table, ZW_JOINT_HINGE, "pivot", 0, 0, 1);
        add_ball(model, table, 1, r0, pos, upright);
        robot r = robot_of(model);
        double *q = state_q(r.state), *v = state_v(r.state);
        v[0] = turn;
        v[1] = 0.3; /* the point that touches moves with the table, (0, turn x) */
        v[2] = 0.1;
        v[5] = v[1] / r0;
        v[4] = -(v[2] - turn * pos[0]) / r0;
        double before = v[0] * 2 + pos[0] * v[2] + 0.4 * r0 * r0 * v[6], start[2] = {v[1], v[2]};
        zw_run_summary summary = robot_run(&r, 3, 1e-12);
        assert_true(summary.violation_velocity <= 1e-12 && summary.violation_position <= 1e-12);
        if (heavy) {
            double angle = 2.0 / 7 * turn * 3;
            close_to("vx", v[1], cos(angle) * start[0] - sin(angle) * start[1], 1e-8);
            close_to("vy", v[2], sin(angle) * start[0] + cos(angle) * start[1], 1e-8);
        } else {
            const double spin[3] = {v[4], v[5], v[6]};
            double turning[3];
            model_rotate(q + 4, spin, turning);
            double after = v[0] * 2 + q[1] * v[2] - q[2] * v[1] + 0.4 * r0 * r0 * turning[2];
            close_to("angular momentum", after, before, 1e-10);
            assert_true(summary.energy_drift <= 1e-9);
        }
        robot_end(&r);
    }
}

/* ---- Rollers -------------------------------------------------------------------------------- */

/* A cart on four mecanum wheels, radius r, at (+-l, +-w), rollers crossed: wheel i turns with
 * (vx -+ vy -+ (l + w) turn)/r. */
static void mecanum_wheels(void **state)
{
    (void)state;
    const double r0 = 0.1, l = 0.3, w = 0.2, quarter = 0.78539816339744831;
    const double place[4][2] = {{l, w}, {l, -w}, {-l, w}, {-l, -w}};
    const double sign[4] = {-1, 1, 1, -1};
    zw_model *model = robot_new();
    int cart = in_plane(model, "cart", 5, 0.4, 0);
    for (int i = 0; i < 4; i++) {
        zw_error error = {0};
        int wheel = body(model, cart, NULL, 0.3, 0.001, 0.0015);
        zw_body_def def = *(const zw_body_def *)zw_model_def(model, ZW_KIND_BODY, wheel);
        memcpy(def.pos, place[i], sizeof place[i]);
        def.quat[0] = def.quat[1] = sqrt(0.5); /* z to -y: turning forwards is negative about it */
        def.pos[2] = r0;
        assert_int_equal(zw_model_change(model, ZW_KIND_BODY, wheel, &def, &error), ZW_OK);
        robot_joint(model, wheel, ZW_JOINT_HINGE, NULL, 0, 0, 1);
        zw_equality_def roll = element(ZW_EQUALITY_MECANUM, NULL, wheel, r0);
        roll.roller = sign[i] * quarter;
        add(model, &roll);
    }
    robot r = robot_of(model);
    double *v = state_v(r.state);
    const double motion[3] = {0.7, 0.4, 0.9};
    for (int k = 0; k < 3; k++) {
        memset(v, 0, 7 * sizeof *v);
        v[k] = motion[k];
        double wanted[4];
        for (int i = 0; i < 4; i++) {
            double side = place[i][1] > 0 ? 1 : -1;
            wanted[i] = -(v[0] + sign[i] * v[1] - side * (l + w) * v[2]) / r0;
            v[3 + i] = wanted[i];
        }
        zw_run_summary summary = robot_run(&r, k + 1, 1e-12);
        held(&summary);
        for (int i = 0; i < 4; i++) { /* nothing pushes: it goes on so */
            close_to("wheel", v[3 + i], wanted[i], 1e-9);
        }
    }
    robot_end(&r);
}

/* Rollers along the axle, and across it: what a blade and what a rack holds. */
static void rollers_at_the_ends(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        zw_model *model = robot_new();
        int cart = in_plane(model, "cart", 1, 0.1, 0);
        int wheel = body(model, cart, "wheel", 1, 0.01, 0.02);
        robot_joint(model, wheel, ZW_JOINT_HINGE, "spin", 0, 1, 0);
        zw_equality_def roll = element(ZW_EQUALITY_MECANUM, NULL, wheel, 0.2);
        roll.quat1[0] = sqrt(0.5);
        roll.quat1[1] = -sqrt(0.5); /* z to y */
        roll.pos2[2] = -0.2;
        roll.roller = k * 1.5707963267948966;
        add(model, &roll);
        robot r = robot_of(model);
        double v[4] = {1, 2, 0, 3};
        zw_error error;
        assert_int_equal(system_evaluate(r.system, r.work, PART_VELOCITY, 0, state_q(r.state), v,
                                         NULL, NULL, &error),
                         ZW_OK);
        double psi = r.work->out[PART_VELOCITY][0];
        close_to("held", fabs(psi), k == 0 ? 2 : fabs(1 - 0.2 * 3), 1e-14);
        robot_end(&r);
    }
}

/* ---- Mistakes ------------------------------------------------------------------------------- */

static void mistakes(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = robot_new();
    int cart = in_plane(model, "cart", 1, 0.1, 0);
    zw_equality_def wheel = element(ZW_EQUALITY_WHEEL, "front", cart, 0);
    assert_int_equal(zw_model_add_equality(model, &wheel, &error), -1);
    assert_non_null(strstr(error.text, "positive radius"));
    wheel.radius = 1;
    wheel.roller = NAN;
    assert_int_equal(zw_model_add_equality(model, &wheel, &error), -1);
    zw_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disc_is_the_equations), cmocka_unit_test(a_sleigh_is_the_equations),
        cmocka_unit_test(blades_in_space),         cmocka_unit_test(a_ball_on_a_slope),
        cmocka_unit_test(a_ball_on_a_turntable),   cmocka_unit_test(mecanum_wheels),
        cmocka_unit_test(rollers_at_the_ends),     cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
