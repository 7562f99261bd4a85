/* Bodies as a system: rows and their derivatives, loops that stay closed, forces, limits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "robots.h"
#include "system/bodies/bodies.h"
#include "world.h"

/* ---- Rows ----------------------------------------------------------------------------------- */

/* A tree with every kind of joint, so that constraints meet all of them. */
static zw_model *thicket(void)
{
    zw_model *model = robot_new();
    int trunk = robot_body(model, 0, "trunk", 0.1, 0.2, 1.0, 2.0);
    robot_joint(model, trunk, ZW_JOINT_FREE, "base", 0, 0, 1);
    int arm = robot_body(model, trunk, "arm", 0.3, 0.0, 0.1, 1.0);
    robot_joint(model, arm, ZW_JOINT_HINGE, "h", 0.3, 1.0, -0.2);
    int fore = robot_body(model, arm, "fore", 0.4, 0.1, 0.0, 0.7);
    robot_joint(model, fore, ZW_JOINT_BALL, "b", 0, 0, 1);
    int rail = robot_body(model, trunk, "rail", -0.2, 0.3, 0.2, 0.9);
    robot_joint(model, rail, ZW_JOINT_SLIDE, "s", 1.0, 0.2, 0.1);
    robot_joint(model, rail, ZW_JOINT_HINGE, "t", 0.0, 0.1, 1.0);
    return model;
}

static void add_frames(zw_model *model, int kind, const char *first, const char *second)
{
    zw_equality_def def = zw_equality_default();
    zw_error error = {0};
    const double pos1[3] = {0.1, -0.2, 0.3}, pos2[3] = {-0.3, 0.1, 0.2};
    const double quat1[4] = {0.9, 0.1, -0.3, 0.2}, quat2[4] = {0.5, -0.4, 0.3, 0.1};
    def.kind = kind;
    def.name = "loop";
    def.first = zw_model_find(model, ZW_KIND_BODY, first);
    def.second = zw_model_find(model, ZW_KIND_BODY, second);
    def.placed = 1;
    def.distance = 0.5;
    def.radius = 0.3;
    def.roller = 0.6;
    memcpy(def.pos1, pos1, sizeof pos1);
    memcpy(def.pos2, pos2, sizeof pos2);
    memcpy(def.quat1, quat1, sizeof quat1);
    memcpy(def.quat2, quat2, sizeof quat2);
    if (zw_model_add_equality(model, &def, &error) < 0) {
        fail_msg("%s", error.text);
    }
}

static void evaluate(robot *r, system_part part, const double *q, const double *v)
{
    zw_error error;
    if (system_evaluate(r->system, r->work, part, 0, q, v, NULL, NULL, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
}

static double row_times(const zw_system *system, const double *A, int r, const double *x)
{
    double sum = 0;
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        sum += A[k] * x[system->A_column[k]];
    }
    return sum;
}

/* At random states: A v = psi = d phi/dt and A a - b = d psi/dt, by differences of order four along
 * q(t) = q (+) (t v + t^2 a/2), v(t) = v + t a. (Along that curve the speed at t is v + t a to
 * first order in t only if it is a geodesic of each joint's group; it is to second order.) */
static void check_rows(robot *r, unsigned seed)
{
    const zw_system *system = r->system;
    int n = system->n, nq = system->nq, m = system->m;
    double q[32] = {0}, v[32] = {0}, a[32] = {0}, here[32], step[32], speed[32], phi[5][16],
           psi[5][16], b[16];
    const double h = 1e-3;
    memcpy(q, system->bodies->q, (size_t)nq * sizeof *q);
    for (int i = 0; i < n; i++) {
        v[i] = dice(&seed);
    }
    system_move(system, q, 0.7, v);
    for (int i = 0; i < n; i++) {
        v[i] = dice(&seed);
        a[i] = dice(&seed);
    }
    for (int k = -2; k <= 2; k++) {
        for (int i = 0; i < n; i++) {
            step[i] = k * h * (v[i] + 0.5 * k * h * a[i]);
            speed[i] = v[i] + k * h * a[i];
        }
        memcpy(here, q, (size_t)nq * sizeof *q);
        system_move(system, here, 1, step);
        evaluate(r, PART_POSITION, here, speed);
        memcpy(phi[k + 2], r->work->out[PART_POSITION], (size_t)m * sizeof(double));
        evaluate(r, PART_VELOCITY, here, speed);
        memcpy(psi[k + 2], r->work->out[PART_VELOCITY], (size_t)m * sizeof(double));
    }
    evaluate(r, PART_VELOCITY, q, v);
    const double *now = r->work->out[PART_VELOCITY], *A = now + m;
    evaluate(r, PART_TERMS, q, v);
    memcpy(b, r->work->out[PART_TERMS] + system->at.b, (size_t)m * sizeof *b);
    for (int i = 0; i < m; i++) {
        double phi_rate = (8 * (phi[3][i] - phi[1][i]) - (phi[4][i] - phi[0][i])) / (12 * h);
        double psi_rate = (8 * (psi[3][i] - psi[1][i]) - (psi[4][i] - psi[0][i])) / (12 * h);
        close_to("A v and psi", row_times(system, A, i, v), now[i], 1e-13 * (1 + fabs(now[i])));
        if (system->row_kind[i] != SYSTEM_VELOCITY) {
            close_to("d phi/dt and psi", phi_rate, now[i], 1e-9);
        }
        close_to("d psi/dt and A a - b", psi_rate, row_times(system, A, i, a) - b[i], 2e-9);
    }
    assert_memory_equal(A, r->work->out[PART_TERMS] + system->at.A,
                        (size_t)system->A_start[m] * sizeof *A);
}

static void rows_are_derivatives(void **state)
{
    static const int kind[] = {ZW_EQUALITY_CONNECT, ZW_EQUALITY_WELD,     ZW_EQUALITY_HINGE,
                               ZW_EQUALITY_SLIDE,   ZW_EQUALITY_DISTANCE, ZW_EQUALITY_WHEEL,
                               ZW_EQUALITY_MECANUM, ZW_EQUALITY_ROLL,     ZW_EQUALITY_BLADE};
    static const char *const pair[][2] = {
        {"fore", "rail"}, {"arm", "world"}, {"trunk", "fore"}, {"world", "rail"}};
    (void)state;
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        for (size_t p = 0; p < 4; p++) {
            zw_model *model = thicket();
            add_frames(model, kind[k], pair[p][0], pair[p][1]);
            robot r = robot_compile(model);
            for (unsigned seed = 1; seed <= 10; seed++) {
                check_rows(&r, seed);
            }
            robot_end(&r);
        }
    }
}

/* Couplings of joints and tendons, limits of joints, tendons and balls. */
static void lengths_are_derivatives(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = thicket();
    int h = zw_model_find(model, ZW_KIND_JOINT, "h"), s = zw_model_find(model, ZW_KIND_JOINT, "s");
    int t = zw_model_find(model, ZW_KIND_JOINT, "t"), b = zw_model_find(model, ZW_KIND_JOINT, "b");
    const int first[] = {h, s}, second[] = {t, h, t};
    const double coef[] = {0.7, -1.3, 0.4};
    zw_tendon_def one = zw_tendon_default(), two = zw_tendon_default();
    one.name = "one";
    one.count = 2;
    one.joint = first;
    one.coef = coef;
    one.limited = 1;
    one.range[0] = -0.2;
    one.range[1] = 3;
    two.count = 3;
    two.joint = second;
    two.coef = coef;
    assert_true(zw_model_add_tendon(model, &one, &error) == 0);
    assert_true(zw_model_add_tendon(model, &two, &error) == 1);
    zw_equality_def tie = zw_equality_default();
    const double poly[5] = {0.1, 0.5, -0.3, 0.2, 0.05};
    memcpy(tie.poly, poly, sizeof poly);
    tie.kind = ZW_EQUALITY_JOINT;
    tie.first = h;
    tie.second = t;
    assert_true(zw_model_add_equality(model, &tie, &error) >= 0);
    tie.second = -1;
    assert_true(zw_model_add_equality(model, &tie, &error) >= 0);
    tie.kind = ZW_EQUALITY_TENDON;
    tie.first = 0;
    tie.second = 1;
    assert_true(zw_model_add_equality(model, &tie, &error) >= 0);
    robot_limit(model, h, -1, 1);
    robot_limit(model, b, 0, 1.5);
    robot r = robot_compile(model);
    assert_int_equal(r.system->m, 3 + 2 + 1 + 2);
    for (unsigned seed = 1; seed <= 20; seed++) {
        check_rows(&r, seed);
    }
    robot_end(&r);
}

/* ---- Loops ---------------------------------------------------------------------------------- */

/* A crooked chain of bars in space whose end is tied to the world where it is. */
static robot tied_chain(int kind, int times)
{
    zw_model *model = robot_new();
    unsigned seed = 3;
    int body = 0;
    for (int i = 0; i < 7; i++) {
        char name[20];
        snprintf(name, sizeof name, "bar%d", i);
        double bend = i % 2 ? 0.3 : -0.3, lift = i % 4 < 2 ? 0.25 : -0.25;
        body = i ? robot_body(model, body, name, 0.4, bend, lift, 1.0)
                 : robot_body(model, body, name, 0, 0, 2, 1.0);
        robot_joint(model, body, ZW_JOINT_HINGE, NULL, dice(&seed), dice(&seed), dice(&seed));
    }
    zw_equality_def def = zw_equality_default();
    def.kind = kind;
    def.first = body;
    def.second = 0;
    def.pos1[0] = 0.5;
    if (kind == ZW_EQUALITY_DISTANCE) {
        def.placed = 1;
        def.pos2[2] = 2;
        def.pos2[0] = 2.5;
        def.distance = 1;
    }
    for (int i = 0; i < times; i++) {
        char name[20];
        zw_error error = {0};
        snprintf(name, sizeof name, "tie%d", i);
        def.name = name;
        if (zw_model_add_equality(model, &def, &error) < 0) {
            fail_msg("%s", error.text);
        }
    }
    return robot_of(model);
}

static void every_constraint_holds(void **state)
{
    static const int kind[] = {ZW_EQUALITY_CONNECT, ZW_EQUALITY_WELD, ZW_EQUALITY_HINGE,
                               ZW_EQUALITY_SLIDE, ZW_EQUALITY_DISTANCE};
    (void)state;
    for (size_t k = 0; k < 5; k++) {
        robot r = tied_chain(kind[k], 1);
        zw_run_summary summary = robot_run(&r, 10, 1e-9);
        print_message("constraint %d: position %.1e, velocity %.1e, drift %.1e, %ld steps\n",
                      kind[k], summary.violation_position, summary.violation_velocity,
                      summary.energy_drift, summary.steps);
        assert_true(summary.violation_position <= 1e-10);
        assert_true(summary.violation_velocity <= 1e-10);
        assert_true(summary.energy_drift <= 1e-6);
        robot_end(&r);
    }
}

/* A loop given three times moves as if given once, and the others are listed as redundant. */
static void redundant_constraints_do_no_harm(void **state)
{
    (void)state;
    robot one = tied_chain(ZW_EQUALITY_CONNECT, 1), three = tied_chain(ZW_EQUALITY_CONNECT, 3);
    const double *a = robot_accelerations(&one), *b = robot_accelerations(&three);
    double size = 0;
    for (int i = 0; i < one.system->n; i++) {
        size = fmax(size, fabs(a[i]));
    }
    for (int i = 0; i < one.system->n; i++) {
        close_to("acceleration", b[i], a[i], 1e-12 * size);
    }
    const zw_motion *motion = zw_work_motion(three.work);
    assert_int_equal(motion->rank, 3);
    assert_int_equal(motion->redundant_count, 2);
    for (int k = 0; k < 2; k++) {
        const char *name = zw_work_block_name(three.work, motion->redundant[k]);
        assert_true(strncmp(name, "tie", 3) == 0);
    }
    robot_end(&one);
    robot_end(&three);
}

static void a_weld_holds_a_free_body(void **state)
{
    (void)state;
    zw_model *model = robot_new();
    int box = robot_body(model, 0, "box", 0.3, -0.2, 1, 2.5);
    robot_joint(model, box, ZW_JOINT_FREE, "base", 0, 0, 1);
    zw_equality_def def = zw_equality_default();
    zw_error error = {0};
    def.kind = ZW_EQUALITY_WELD;
    def.first = box;
    def.second = 0;
    assert_true(zw_model_add_equality(model, &def, &error) >= 0);
    robot r = robot_of(model);
    double start[7];
    memcpy(start, state_q(r.state), sizeof start);
    zw_run_summary summary = robot_run(&r, 10, 1e-10);
    for (int i = 0; i < 7; i++) {
        close_to("coordinate", state_q(r.state)[i], start[i], 1e-13);
    }
    assert_true(summary.violation_position <= 1e-13);
    const double *a = robot_accelerations(&r), *lambda = r.work->lambda;
    for (int i = 0; i < 6; i++) {
        close_to("acceleration", a[i], 0, 1e-12);
    }
    close_to("weight", fabs(lambda[2]), 2.5 * 9.81, 1e-11);
    robot_end(&r);
}

static const char *const FOUR_BAR_XML =
    "<mujoco><compiler angle='radian'/><option gravity='0 0 -9.81'/><worldbody>"
    "<body name='crank'><joint name='c' axis='0 -1 0'/>"
    "  <inertial pos='0.5 0 0' mass='1' diaginertia='0.1 0.1 0.1'/>"
    "  <body name='coupler' pos='1 0 0'><joint name='p' axis='0 -1 0'/><site name='end' pos='1.5 0 "
    "0'/>"
    "    <inertial pos='0.75 0 0' mass='1.5' diaginertia='0.2 0.2 0.2'/></body></body>"
    "<body name='rocker' pos='2 0 0'><joint name='r' axis='0 -1 0'/><site name='tip' pos='1.2 0 "
    "0'/>"
    "  <inertial pos='0.6 0 0' mass='0.8' diaginertia='0.15 0.15 0.15'/></body>"
    "</worldbody><equality><connect name='pin' site1='end' site2='tip'/></equality>"
    "<keyframe><key name='there' qpos='1.1 -0.8 2.0'/></keyframe></mujoco>";

static const char *const FOUR_BAR_ZW =
    "coord c = 1.1, p = -0.8, r = 2.0\n"
    "mass 1 at (0.5*cos(c), 0.5*sin(c))\n"
    "mass 1.5 at (cos(c) + 0.75*cos(c + p), sin(c) + 0.75*sin(c + p))\n"
    "mass 0.8 at (2 + 0.6*cos(r), 0.6*sin(r))\n"
    "kinetic 0.05*c'^2 + 0.1*(c' + p')^2 + 0.075*r'^2\n"
    "gravity (0, -9.81)\n"
    "constraint pin: (cos(c) + 1.5*cos(c + p), sin(c) + 1.5*sin(c + p)) "
    "= (2 + 1.2*cos(r), 1.2*sin(r))\n";

static zw_model *started_at(const char *text, const char *key)
{
    zw_error error = {0};
    zw_model *model = zw_model_parse(text, "robot.xml", NULL, &error);
    if (!model) {
        fail_msg("%d: %s", error.line, error.text);
    }
    robot_begin_with(model, zw_model_find(model, ZW_KIND_KEY, key));
    return model;
}

/* The same four-bar on a tilted board: its row across the plane is all round-off. */
static zw_model *tilted_four_bar(void)
{
    char text[3000];
    const char *inner = strstr(FOUR_BAR_XML, "<worldbody>") + strlen("<worldbody>");
    const char *end = strstr(FOUR_BAR_XML, "</worldbody>");
    /* gravity is turned along by the same quaternion */
    const double quat[4] = {0.6, 0.48, -0.5, 0.397994974842648}, down[3] = {0, 0, -9.81};
    double unit[4], g[3];
    memcpy(unit, quat, sizeof unit);
    assert_true(model_quat_unit(unit));
    model_rotate(unit, down, g);
    snprintf(text, sizeof text,
             "<mujoco><compiler angle='radian'/><option gravity='%.17g %.17g %.17g'/><worldbody>"
             "<body pos='3 -2 5' quat='%.17g %.17g %.17g %.17g'>%.*s</body>%s",
             g[0], g[1], g[2], unit[0], unit[1], unit[2], unit[3], (int)(end - inner), inner, end);
    return started_at(text, "there");
}

static void compare_with_equations(zw_model *model)
{
    robot bodies = robot_of(model);
    world equations = world_of(FOUR_BAR_ZW);
    for (int i = 0; i < 3; i++) {
        close_to("start", state_q(bodies.state)[i], state_q(equations.state)[i], 1e-12);
    }
    for (int second = 0; second < 4; second++) {
        memcpy(state_q(bodies.state), state_q(equations.state), 3 * sizeof(double));
        memcpy(state_v(bodies.state), state_v(equations.state), 3 * sizeof(double));
        const double *a = robot_accelerations(&bodies);
        world_forward(&equations);
        const double *b = world_field(&equations, ZW_FIELD_A);
        for (int i = 0; i < 3; i++) {
            close_to("acceleration", a[i], b[i], 1e-11 * (1 + fabs(b[i])));
        }
        robot_run(&bodies, second + 1, 1e-12);
        world_run(&equations, second + 1, 1e-12);
        for (int i = 0; i < 3; i++) {
            close_to("place", state_q(bodies.state)[i], state_q(equations.state)[i], 1e-9);
        }
    }
    robot_end(&bodies);
    world_end(&equations);
}

static void four_bar_as_equations(void **state)
{
    (void)state;
    compare_with_equations(started_at(FOUR_BAR_XML, "there"));
    compare_with_equations(tilted_four_bar());
}

/* ---- Free bodies ---------------------------------------------------------------------------- */

/* Angular momentum of a free body in the world, R diag(1, 2, 3) w. */
static void angular_momentum(const double *q, const double *v, double L[3])
{
    const double Jw[3] = {1 * v[3], 2 * v[4], 3 * v[5]};
    double unit[4];
    memcpy(unit, q + 3, sizeof unit);
    assert_true(model_quat_unit(unit));
    model_rotate(unit, Jw, L);
}

static void a_free_body_keeps_its_momentum(void **state)
{
    (void)state;
    zw_model *model = robot_new();
    zw_world_def space = *zw_model_world(model);
    memset(space.gravity, 0, sizeof space.gravity);
    zw_error error = {0};
    assert_int_equal(zw_model_set_world(model, &space, &error), ZW_OK);
    zw_body_def body = zw_body_default();
    body.inertial = 1;
    body.mass = 2;
    const double moments[6] = {1, 2, 3, 0, 0, 0};
    memcpy(body.inertia, moments, sizeof moments);
    int index = zw_model_add_body(model, &body, &error);
    robot_joint(model, index, ZW_JOINT_FREE, "f", 0, 0, 1);
    const double speeds[6] = {0.1, -0.2, 0.3, 1e-3, 1, 1e-3};
    zw_key_def key = zw_key_default();
    key.start = 1;
    key.qvel_count = 6;
    key.qvel = speeds;
    assert_true(zw_model_add_key(model, &key, &error) >= 0);
    robot r = robot_of(model);
    double before[3], after[3];
    angular_momentum(state_q(r.state), state_v(r.state), before);
    zw_run_summary summary = robot_run(&r, 1000, 1e-12);
    angular_momentum(state_q(r.state), state_v(r.state), after);
    print_message("1000 s in %ld steps: energy %.1e\n", summary.steps, summary.energy_drift);
    assert_true(summary.energy_drift < 1e-9);
    for (int k = 0; k < 3; k++) {
        close_to("angular momentum", after[k], before[k], 2e-9);
        close_to("place", state_q(r.state)[k], 1000 * speeds[k], 1e-9);
    }
    robot_end(&r);
}

/* Fixed steps: their errors fall with their order. */
static double tumble(zw_method method, double step)
{
    static const double speeds[6] = {0.1, -0.2, 0.3, 0.4, 1, -0.3};
    zw_error error = {0};
    zw_model *model = robot_new();
    int body = robot_body(model, 0, "body", 0, 0, 0, 1);
    robot_joint(model, body, ZW_JOINT_FREE, "f", 0, 0, 1);
    int arm = robot_body(model, body, "arm", 0.5, 0, 0, 1);
    robot_joint(model, arm, ZW_JOINT_HINGE, "h", 0, 1, 0);
    zw_key_def key = zw_key_default();
    double start[7];
    memcpy(start, speeds, sizeof speeds);
    start[6] = 2;
    key.start = 1;
    key.qvel_count = 7;
    key.qvel = start;
    assert_true(zw_model_add_key(model, &key, &error) >= 0);
    robot r = robot_of(model);
    const zw_run_options options = {
        .time = 1, .every = 1, .method = method, .step = step, .tolerance = 1e-13};
    if (zw_run(r.system, r.state, r.work, &options, NULL, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
    double x = state_q(r.state)[3] + 2 * state_q(r.state)[5] + state_q(r.state)[0];
    robot_end(&r);
    return x;
}

static void fixed_steps_have_their_order(void **state)
{
    (void)state;
    double exact = tumble(ZW_METHOD_DOP853, 0);
    double coarse = tumble(ZW_METHOD_EULER, 0.002) - exact;
    close_to("Euler", coarse / (tumble(ZW_METHOD_EULER, 0.001) - exact), 2, 0.1);
    coarse = tumble(ZW_METHOD_RK4, 0.02) - exact;
    close_to("RK4", coarse / (tumble(ZW_METHOD_RK4, 0.01) - exact), 16, 1.5);
}

/* ---- Refusals and memory -------------------------------------------------------------------- */

/* A weld of what is one body: of a file it is listed, of calls it is refused. */
static void what_ties_nothing(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = zw_model_parse(
        "<mujoco><worldbody><body name='a'><joint name='j'/><geom size='1'/><body name='b' pos='1 "
        "0 0'><geom size='1'/></body></body></worldbody><equality><weld body1='a' "
        "body2='b'/></equality></mujoco>",
        "weld.xml", NULL, &error);
    assert_non_null(model);
    assert_int_equal(zw_model_note_count(model), 1);
    assert_non_null(strstr(zw_model_note(model, 0).text, "fixed to each other"));
    zw_system *system = zw_system_compile(model, NULL, &error);
    assert_non_null(system);
    assert_int_equal(zw_count(system, ZW_KIND_CONSTRAINT), 0);
    zw_system_free(system);
    zw_equality_def weld = *(const zw_equality_def *)zw_model_def(model, ZW_KIND_EQUALITY, 0);
    weld.active = 1;
    assert_int_equal(zw_model_change(model, ZW_KIND_EQUALITY, 0, &weld, &error), ZW_OK);
    assert_null(zw_system_compile(model, NULL, &error));
    assert_non_null(strstr(error.text, "ties a body to itself"));
    zw_model_free(model);
}

/* Scenes and objects: a system without coordinates, whose problem has the empty answer. */
static void what_cannot_move_is_a_system(void **state)
{
    (void)state;
    static const char *const list[] = {
        "<mujoco/>", "<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>",
        "<robot name='r'><link name='a'/></robot>"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        zw_error error = {0};
        zw_model *model = zw_model_parse(list[i], "still.xml", NULL, &error);
        assert_non_null(model);
        zw_system *system = zw_system_compile(model, NULL, &error);
        zw_work *work = system ? zw_work_create(system, &error) : NULL;
        zw_state *begin = work ? zw_state_create(system, work, NULL, &error) : NULL;
        assert_non_null(begin);
        assert_int_equal(zw_count(system, ZW_KIND_SPEED), 0);
        assert_int_equal(zw_forward(system, begin, work, NULL, &error), ZW_OK);
        assert_true(zw_work_motion(work)->certificate.worst == 0);
        assert_int_equal(zw_step(system, begin, work,
                                 &(zw_run_options){.method = ZW_METHOD_DEFAULT, .step = 0.5},
                                 &error),
                         ZW_OK);
        assert_true(zw_field(system, begin, work, ZW_FIELD_TIME).data[0] == 0.5);
        zw_state_free(begin);
        zw_work_free(work);
        zw_system_free(system);
        zw_model_free(model);
    }
}

/* All the way to a state: 1 if it got there. */
static int try_all(const zw_model *model, zw_error *error)
{
    zw_system *system = zw_system_compile(model, NULL, error);
    zw_work *work = system ? zw_work_create(system, error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, error) : NULL;
    int there = state != NULL;
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    return there;
}

static void no_memory_is_no_crash(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = thicket();
    int hinge = zw_model_find(model, ZW_KIND_JOINT, "h");
    zw_joint_def joint = *(const zw_joint_def *)zw_model_def(model, ZW_KIND_JOINT, hinge);
    joint.frictionloss = 0.1;
    assert_int_equal(zw_model_change(model, ZW_KIND_JOINT, hinge, &joint, &error), ZW_OK);
    robot_limit(model, hinge, 0, 1);
    zw_equality_def tie = zw_equality_default();
    tie.first = zw_model_find(model, ZW_KIND_BODY, "fore");
    tie.second = zw_model_find(model, ZW_KIND_BODY, "rail");
    assert_true(zw_model_add_equality(model, &tie, &error) >= 0);
    zw_actuator_def def = zw_actuator_default();
    def.target = hinge;
    def.dynamics = ZW_DYNAMICS_INTEGRATOR;
    assert_true(zw_model_add_actuator(model, &def, &error) >= 0);
    zw_sensor_def sensor = zw_sensor_default();
    sensor.kind = ZW_SENSOR_FRAMEPOS;
    sensor.frame = ZW_FRAME_BODY;
    sensor.target = tie.first;
    assert_true(zw_model_add_sensor(model, &sensor, &error) >= 0);
    zw_tendon_def tendon = zw_tendon_default();
    tendon.count = 1;
    tendon.joint = &hinge;
    tendon.coef = &(const double){2};
    tendon.armature = 0.1;
    assert_true(zw_model_add_tendon(model, &tendon, &error) >= 0);
    int failures = 0, there = 0;
    for (int k = 1; k < 10000 && !there; k++) {
        error = (zw_error){0};
        base_alloc_fail_after(k);
        there = try_all(model, &error);
        base_alloc_fail_after(0);
        failures += !there;
        assert_true(there || error.status == ZW_NO_MEMORY);
    }
    print_message("%d allocations failed one by one\n", failures);
    assert_true(failures > 100);
    zw_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_derivatives),
        cmocka_unit_test(lengths_are_derivatives),
        cmocka_unit_test(every_constraint_holds),
        cmocka_unit_test(redundant_constraints_do_no_harm),
        cmocka_unit_test(a_weld_holds_a_free_body),
        cmocka_unit_test(four_bar_as_equations),
        cmocka_unit_test(a_free_body_keeps_its_momentum),
        cmocka_unit_test(fixed_steps_have_their_order),
        cmocka_unit_test(what_ties_nothing),
        cmocka_unit_test(what_cannot_move_is_a_system),
        cmocka_unit_test(no_memory_is_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
