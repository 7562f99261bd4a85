/* Robots that a .zw file imports, and formulas over them: the same motion as constraints, springs
 * and dampers of the robot's own file, and as equations in which no robot stands; exact
 * derivatives; a balance of energy that closes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "import.h"
#include "system/bodies/bodies.h"

/* What passes through the joints is the same, whatever pulls on the bodies. */
static void same_wrenches(world *one, world *two, double tolerance)
{
    int count = zw_count(one->system, ZW_KIND_JOINT);
    zw_wrench a[8], b[8];
    assert_true(count <= 8 && count == zw_count(two->system, ZW_KIND_JOINT));
    assert_int_equal(zw_forward(one->system, one->state, one->work, NULL, NULL), ZW_OK);
    assert_int_equal(zw_forward(two->system, two->state, two->work, NULL, NULL), ZW_OK);
    assert_int_equal(zw_wrenches(one->system, one->state, one->work, ZW_KIND_JOINT, a, NULL),
                     ZW_OK);
    assert_int_equal(zw_wrenches(two->system, two->state, two->work, ZW_KIND_JOINT, b, NULL),
                     ZW_OK);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            close_to("force", a[i].force[k], b[i].force[k], tolerance);
            close_to("moment", a[i].moment[k], b[i].moment[k], tolerance);
        }
    }
}

/* ---- Against the robot's own elements -------------------------------------------------------- */

/* A point of the arm on a sphere about a point: written, and as a constraint of distance. */
static void a_circle_is_a_distance(void **state)
{
    (void)state;
    zw_error error = {0};
    world w = formulas("import \"arm.xml\" as arm\n"
                       "param a = 0.9, c = 0.6, r = 0.5\n"
                       "start arm.shoulder = 0.2, arm.elbow = 0.7\n"
                       "constraint circle: (arm.hand.x - a)^2 + arm.hand.y^2 + (arm.hand.z - c)^2 "
                       "= r^2\n");
    zw_model *model = zw_model_read(FOLDER "arm.xml", NULL, &error);
    assert_non_null(model);
    zw_equality_def rod = zw_equality_default();
    int site = zw_model_find(model, ZW_KIND_SITE, "hand");
    const zw_site_def *hand = zw_model_def(model, ZW_KIND_SITE, site);
    rod.kind = ZW_EQUALITY_DISTANCE;
    rod.first = hand->body;
    rod.second = 0;
    rod.placed = 1;
    memcpy(rod.pos1, hand->pos, sizeof rod.pos1);
    rod.pos2[0] = 0.9;
    rod.pos2[2] = 0.6;
    rod.distance = 0.5;
    assert_true(zw_model_add_equality(model, &rod, &error) >= 0);
    zw_key_def key = zw_key_default();
    const double q[3] = {0.2, 0.7, 0};
    key.start = 1;
    key.qpos_count = 3;
    key.qpos = q;
    assert_true(zw_model_add_key(model, &key, &error) >= 0);
    world v = {.model = model};
    v.system = zw_system_compile(model, NULL, &error);
    v.work = zw_work_create(v.system, &error);
    v.state = zw_state_create(v.system, v.work, NULL, &error);
    assert_non_null(v.state);
    memcpy(state_q(w.state), state_q(v.state), sizeof q); /* the ways to the circle differ */
    world_forward(&w);
    world_forward(&v);
    same("acceleration", &w, &v, ZW_FIELD_A, 1e-10);
    /* |u|^2 = r^2 and |u| = r have the same force: its multipliers are 2 r apart */
    close_to("force", world_field(&w, ZW_FIELD_LAMBDA)[0] * 2 * 0.5,
             world_field(&v, ZW_FIELD_LAMBDA)[0], 1e-9);
    same_motion(&w, &v, 3, 1e-11);
    same_wrenches(&w, &v, 1e-8);
    world_end(&w);
    world_end(&v);
}

/* Springs and dampers of joints, by the file of the robot and by formulas. */
static void springs_and_dampers(void **state)
{
    (void)state;
    world w = formulas("import \"arm.xml\"\n"
                       "potential 3/2*(shoulder - 0.1)^2 + 2/2*(elbow + 0.2)^2 + 40/2*reach^2\n"
                       "rayleigh 0.3/2*shoulder'^2 + 0.1/2*elbow'^2\n"
                       "force reach: -0.7*reach'\n");
    world v = file("arm_springs.xml");
    same_motion(&w, &v, 2, 1e-11);
    close_to("energy", world_field(&w, ZW_FIELD_ENERGY)[0], world_field(&v, ZW_FIELD_ENERGY)[0],
             1e-10);
    close_to("work", w.state->work, v.state->work, 1e-10);
    world_end(&w);
    world_end(&v);
}

/* A motor by a formula does what a position servo does. */
static void motors(void **state)
{
    (void)state;
    world w = formulas("import \"arm.xml\" as arm\n"
                       "param kp = 20\n"
                       "motor arm.turn_elbow = kp*(0.5 - arm.elbow)\n");
    world v = file("arm_servo.xml");
    state_param(v.state)[0] = 0.5;
    same_motion(&w, &v, 2, 1e-11);
    world_end(&w);
    world_end(&v);
}

/* Muscles whose shortest and longest lengths are found by pulling, before formulas exist. */
static void muscles(void **state)
{
    (void)state;
#define MUSCLES "import \"../../read/mjcf_now/muscle_range.xml\" as r\n"
    world w = formulas(MUSCLES "motor r.t = 0.4\nmotor r.j = 0.1 + 0.3\n");
    world v = formulas(MUSCLES);
    state_param(v.state)[0] = state_param(v.state)[1] = 0.4;
    same_motion(&w, &v, 0.3, 1e-11);
    world_end(&w);
    world_end(&v);
}

/* A force and a torque on the hand: as motors at its site have them. */
static void wrenches(void **state)
{
    (void)state;
    world w = formulas("import \"arm.xml\"\n"
                       "force (0.3, 0.1, 0.7) at hand\n"
                       "torque (0.2, -0.5, 0.1) at hand\n");
    world v =
        formulas("import \"arm.xml\"\n"
                 "let ex = hand.ex\n"
                 "let ez = hand.ez\n"
                 "let F = (0.3, 0.1, 0.7)\n"
                 "force (F . hand.ex)*hand.ex + (F . hand.ey)*hand.ey + (F . ez)*ez at hand.p\n"
                 /* a couple of two forces has the moment (p - q) x F */
                 "point p = hand + hand.ey\n"
                 "let M = (0.2, -0.5, 0.1)\n"
                 /* M = (M . ey) ey + ey x (M x ey) */
                 "force (M x hand.ey) at p\n"
                 "force -(M x hand.ey) at hand\n"
                 "point s = hand + ez\n"
                 "force (M . hand.ey)*(hand.ey x ez) at s\n"
                 "force -(M . hand.ey)*(hand.ey x ez) at hand\n");
    same_motion(&w, &v, 1, 1e-11);
    world_end(&w);
    world_end(&v);
}

/* Among limits that are hit and joints that stick: a coupling, written and of the file. */
static void among_limits_and_dry_friction(void **state)
{
    (void)state;
    world w = formulas("import \"arm_rough.xml\"\n"
                       "constraint tie: elbow = 0.1 + 0.5*shoulder + 0.1*shoulder^2\n");
    world v = file("arm_tied.xml");
    zw_run_summary one = world_run(&w, 2, 1e-12);
    world_run(&v, 2, 1e-12);
    close_to("at its limit", state_q(w.state)[0], 0.9, 1e-10);
    same("place", &w, &v, ZW_FIELD_Q, 1e-9);
    same("speed", &w, &v, ZW_FIELD_V, 1e-9);
    assert_true(one.energy_drift <= 1e-9 && one.violation_position <= 1e-12);
    assert_string_equal(zw_name(w.system, ZW_KIND_CONSTRAINT, 0), "tie");
    world_end(&w);
    world_end(&v);
}

/* URDF, in space, by the names of links and joints. */
static void urdf(void **state)
{
    (void)state;
    world w = formulas("import \"arm.urdf\" as r\n"
                       "potential 5*r.tool.com.z + 3*r.swing^2\n"
                       "constraint wall: r.tool.com.x <= 0.4\n"
                       "plot time r.tool.com.x, r.swing\n");
    zw_run_summary summary = world_run(&w, 2, 1e-11);
    assert_true(summary.energy_drift <= 1e-9);
    world_end(&w);
}

/* ---- Against equations ----------------------------------------------------------------------- */

/* A pendulum on a cart, with a wall, a gear, an event and a bit of everything. */
static const char *const body_text = "import \"cart.xml\" as c\n"
                                     "param k = 5\n"
                                     "start c.th = 0.4\n"
                                     "speed c.x' = 0.3\n"
                                     "constraint wall: c.bob.x <= 0.2, restitution 0.5\n"
                                     "constraint gear: c.wheel' = 3*c.x' + 0.2*c.bob.v.x*c.x\n"
                                     "potential k/2*c.x^2 + 0.3*c.bob.ex.x^3\n"
                                     "rayleigh 0.05*|c.bob.v|^2 + 0.02*c.bob.w.y^2\n"
                                     "event swing: c.bob.x = 0.1 rising, set k = 0.9*k\n"
                                     "check energy\n"
                                     "plot time c.x, c.bob.x, energy, kinetic_energy, "
                                     "potential_energy, c.bob.x'', lambda(gear)\n";

static const char *const equation_text =
    "param k = 5, m = 0.5, l = 0.8\n"
    "coord x = 0, th = 0.4, wheel = 0\n"
    "speed x' = 0.3\n"
    "point bob = (x - l*sin(th), -l*cos(th))\n"
    "mass 2 at (x, 0), m at bob\n"
    "gravity (0, -9.81)\n"
    "inertia 0.01 of th\n"
    "inertia 0.02 of wheel\n"
    "let ex = cos(th)\n"
    "constraint wall: bob.x <= 0.2, restitution 0.5\n"
    "constraint gear: wheel' = 3*x' + 0.2*bob'.x*x\n"
    "potential k/2*x^2 + 0.3*ex^3\n"
    "rayleigh 0.05*|bob'|^2 + 0.02*th'^2\n"
    "event swing: bob.x = 0.1 rising, set k = 0.9*k\n"
    "check energy\n"
    "plot time x, bob.x, energy, kinetic_energy, potential_energy, bob.x'', lambda(gear)\n";

static void formulas_are_the_equations(void **state)
{
    (void)state;
    world w = formulas(body_text), v = world_of(equation_text);
    same("start", &w, &v, ZW_FIELD_V, 1e-13);
    zw_run_summary one = world_run(&w, 4, 1e-13), two = world_run(&v, 4, 1e-13);
    same("place", &w, &v, ZW_FIELD_Q, 1e-9);
    same("speed", &w, &v, ZW_FIELD_V, 1e-9);
    close_to("k", world_field(&w, ZW_FIELD_PARAM)[0], world_field(&v, ZW_FIELD_PARAM)[0], 1e-14);
    print_message("%ld events\n", one.events);
    assert_int_equal(one.events, two.events);
    assert_true(one.events >= 2);
    assert_true(one.violation_velocity <= 1e-12);
    close_to("balance", one.energy_drift, 0, 1e-10);
    world_forward(&w);
    world_forward(&v);
    same("acceleration", &w, &v, ZW_FIELD_A, 1e-8);
    zw_view x = zw_field(w.system, w.state, w.work, ZW_FIELD_OUTPUT);
    zw_view y = zw_field(v.system, v.state, v.work, ZW_FIELD_OUTPUT);
    assert_true(x.count >= 15 && y.count == 15); /* one check, seven curves; then draws */
    for (int i = 0; i < 15; i++) {
        close_to("output", x.data[i], y.data[i], 1e-7 * (1 + fabs(y.data[i])));
    }
    world_end(&w);
    world_end(&v);
}

/* A bob that falls to the floor, slides and is dragged back: one point in the plane, the same in
 * space, and its slip as a speed. */
static void friction_is_the_equations(void **state)
{
    (void)state;
    static const char *const how[] = {"at (c.bob.x, c.bob.z)", "at c.bob", "slip c.bob.v.x"};
    for (int i = 0; i < 3; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "import \"cart.xml\" as c\n"
                 "start c.th = 0.9\n"
                 "constraint floor: c.bob.z >= -0.7, restitution 0.2, friction 0.3 %s\n"
                 "force c.x: 6*cos(3*t)\n",
                 how[i]);
        world w = formulas(text);
        world v =
            world_of("param m = 0.5, l = 0.8\n"
                     "coord x = 0, th = 0.9, wheel = 0\n"
                     "point bob = (x - l*sin(th), -l*cos(th))\n"
                     "mass 2 at (x, 0), m at bob\n"
                     "gravity (0, -9.81)\n"
                     "inertia 0.01 of th\n"
                     "inertia 0.02 of wheel\n"
                     "force x: 6*cos(3*t)\n"
                     "constraint floor: bob.y >= -0.7, restitution 0.2, friction 0.3 at bob\n");
        for (int k = 1; k <= 4; k++) {
            zw_run_summary one = world_run(&w, 0.5 * k, 1e-12);
            world_run(&v, 0.5 * k, 1e-12);
            same("place", &w, &v, ZW_FIELD_Q, 1e-8);
            same("speed", &w, &v, ZW_FIELD_V, 1e-8);
            assert_true(state_mode(w.state)[0] == state_mode(v.state)[0]);
            assert_true(one.energy_drift <= 1e-9);
        }
        close_to("work", w.state->work, v.state->work, 1e-8);
        world_end(&w);
        world_end(&v);
    }
}

/* A bead that rubs on a wire: two-sided, at a site that two slides carry. */
static void friction_of_an_equation(void **state)
{
    (void)state;
    world w = formulas("import \"bead.xml\"\n"
                       "start x = -1, z = 1\n"
                       "speed x' = 1\n"
                       "constraint wire: bead.z = bead.x^2\n"
                       "friction wire: 0.2 at bead\n");
    world v = world_of("coord x = -1, z = 1\n"
                       "speed x' = 1\n"
                       "mass 1 at (x, z)\n"
                       "gravity (0, -9.81)\n"
                       "constraint wire: z = x^2\n"
                       "friction wire: 0.2\n");
    same_motion(&w, &v, 0.9, 1e-10);
    close_to("work", w.state->work, v.state->work, 1e-10);
    world_end(&w);
    world_end(&v);
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

/* Every kind of thing that is seen, in space, with ball and free joints: along a curve q(t) the
 * rows are what differences say. */
static void rows_are_derivatives(void **state)
{
    (void)state;
    world w = formulas("import \"space.xml\" as s\n"
                       "constraint a: s.tip.x*s.arm.ey.z + sin(s.h) = s.tip.y^2 + t*s.slide\n"
                       "constraint b: s.tip.ez . s.base.ex + (s.arm.com - s.base).z = 0.3\n"
                       "constraint c: s.tip.w . s.base.ez + s.tip.v.x*s.arm.z + s.h' = t\n"
                       "constraint d: (s.tip.p x s.base.p).y*s.h' = s.arm.w.y + s.slide'^2\n"
                       "constraint f: (s.tip.x, s.tip.z) = (s.arm.ez.x, s.base.y)\n");
    const zw_system *system = w.system;
    enum { M = 6 };
    int n = system->n, nq = system->nq, m = system->m;
    assert_int_equal(m, M);
    const double h = 1e-3;
    for (unsigned seed = 1; seed <= 10; seed++) {
        unsigned die = seed;
        double q[32], v[32], a[32], here[32], step[32], speed[32], phi[5][M], psi[5][M];
        memcpy(q, system->bodies->q, (size_t)nq * sizeof *q);
        for (int i = 0; i < n; i++) {
            v[i] = dice(&die);
        }
        system_move(system, q, 0.6, v);
        for (int i = 0; i < n; i++) {
            v[i] = dice(&die);
            a[i] = dice(&die);
        }
        for (int k = -2; k <= 2; k++) {
            for (int i = 0; i < n; i++) {
                step[i] = k * h * (v[i] + 0.5 * k * h * a[i]);
                speed[i] = v[i] + k * h * a[i];
            }
            memcpy(here, q, (size_t)nq * sizeof *q);
            system_move(system, here, 1, step);
            for (int part = 0; part < 2; part++) {
                assert_int_equal(system_evaluate(system, w.work,
                                                 part ? PART_VELOCITY : PART_POSITION, 0.7 + k * h,
                                                 here, speed, NULL, NULL, &w.error),
                                 ZW_OK);
                memcpy(part ? psi[k + 2] : phi[k + 2],
                       w.work->out[part ? PART_VELOCITY : PART_POSITION], sizeof psi[0]);
            }
        }
        assert_int_equal(
            system_evaluate(system, w.work, PART_TERMS, 0.7, q, v, NULL, NULL, &w.error), ZW_OK);
        const double *A = w.work->out[PART_TERMS] + system->at.A,
                     *b = w.work->out[PART_TERMS] + system->at.b;
        for (int r = 0; r < m; r++) {
            double along = 0;
            for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
                along += A[k] * a[system->A_column[k]];
            }
            double rate = (8 * (phi[3][r] - phi[1][r]) - (phi[4][r] - phi[0][r])) / (12 * h);
            double bend = (8 * (psi[3][r] - psi[1][r]) - (psi[4][r] - psi[0][r])) / (12 * h);
            if (system->row_kind[r] == SYSTEM_HOLONOMIC) {
                close_to("d phi/dt", rate, psi[2][r], 1e-9);
            }
            close_to("d psi/dt", bend, along - b[r], 1e-8);
        }
    }
    world_end(&w);
}

/* ---- Settings -------------------------------------------------------------------------------- */

static void settings(void **state)
{
    (void)state;
    const zw_setting setting[] = {{"k", 7}, {"arm.turn_elbow", 2.5}};
    world w = formulas_with("import \"arm.xml\" as arm\nparam k = 1\npotential k*arm.elbow^2\n",
                            setting, 2);
    const double *param = world_field(&w, ZW_FIELD_PARAM);
    assert_true(param[0] == 7 && param[1] == 2.5);
    assert_string_equal(zw_name(w.system, ZW_KIND_PARAM, 1), "arm.turn_elbow");
    assert_string_equal(zw_name(w.system, ZW_KIND_SPEED, 1), "arm.elbow'");
    world_end(&w);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        int line;
    } list[] = {
        {"import \"arm.xml\"\nconstraint a: world.x = 1\n", "has nothing in it that moves", 2},
        {"import \"arm.xml\"\nstart hand.x = 1\n", "not a coordinate of the robot", 2},
        {"import \"arm.xml\"\nevent a: elbow = 1, set hand.x = 2\n", "cannot be set", 2},
        {"import \"arm.xml\"\nconstraint a: hand.v.x >= 1\n", "may not have speeds", 2},
        {"import \"arm.xml\"\nconstraint a: hand.z >= 0, friction 1\n", "where does", 2},
        {"import \"arm_rough.xml\"\nconstraint a: hand.z >= 0, friction 1 at hand\n",
         "beside dry friction of joints", 0},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        zw_error error = {0};
        zw_model *model = zw_model_parse(list[i].text, FOLDER "test.zw", NULL, &error);
        zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
        assert_null(system);
        if (strstr(error.text, list[i].message) == NULL || error.line != list[i].line) {
            fail_msg("line %d: '%s' says nothing of %s", error.line, error.text, list[i].message);
        }
        zw_model_free(model);
    }
}

/* A formula without a value is reported with its place in the text. */
static void singular_formulas(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = zw_model_parse("import \"arm.xml\"\npotential 1/(elbow - reach)\n",
                                     FOLDER "test.zw", NULL, &error);
    zw_system *system = zw_system_compile(model, NULL, &error);
    zw_work *work = zw_work_create(system, &error);
    zw_state *start = zw_state_create(system, work, NULL, &error);
    assert_non_null(start);
    assert_int_equal(zw_forward(system, start, work, NULL, &error), ZW_NOT_FINITE);
    assert_int_equal(error.line, 2);
    assert_non_null(strstr(error.text, "has no finite value"));
    zw_state_free(start);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
}

static const char *const other_text =
    "import \"arm.xml\" as a\n"
    "motor a.turn_elbow = -a.elbow'\n"
    "torque (0, 0, 1) at a.hand\n"
    "roll tip: a.tool radius 0.1 on z = -3*cos(0), without touch\n"
    "event b: a.hand.x = 0.4, set a.elbow' = 0\n"
    "draw text \"hand\" at a.hand colour red\n"
    "plot time lambda(tip).x\n"
    "title \"an arm\"\n"
    "run method dop853\n";

static int try_all(const char *text, zw_error *error)
{
    zw_model *model = zw_model_parse(text, FOLDER "test.zw", NULL, error);
    zw_system *system = model ? zw_system_compile(model, NULL, error) : NULL;
    zw_work *work = system ? zw_work_create(system, error) : NULL;
    zw_state *start = work ? zw_state_create(system, work, NULL, error) : NULL;
    int there = start != NULL;
    zw_state_free(start);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return there;
}

static void no_memory_is_no_crash(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int failures = 0, there = 0;
        for (int k = 1; k < 10000 && !there; k++) {
            zw_error error = {0};
            base_alloc_fail_after(k);
            there = try_all(i == 0 ? body_text : other_text, &error);
            base_alloc_fail_after(0);
            failures += !there;
            if (!there && error.status != ZW_NO_MEMORY) {
                fail_msg("allocation %d: %s", k, error.text);
            }
        }
        print_message("%d allocations failed one by one\n", failures);
        assert_true(failures > 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_circle_is_a_distance),
        cmocka_unit_test(springs_and_dampers),
        cmocka_unit_test(motors),
        cmocka_unit_test(muscles),
        cmocka_unit_test(wrenches),
        cmocka_unit_test(among_limits_and_dry_friction),
        cmocka_unit_test(urdf),
        cmocka_unit_test(formulas_are_the_equations),
        cmocka_unit_test(friction_is_the_equations),
        cmocka_unit_test(friction_of_an_equation),
        cmocka_unit_test(rows_are_derivatives),
        cmocka_unit_test(settings),
        cmocka_unit_test(refusals),
        cmocka_unit_test(singular_formulas),
        cmocka_unit_test(no_memory_is_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
