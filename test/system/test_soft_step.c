/* Steps of the soft law by MuJoCo's integrators, on paper; compare_soft.mjs follows whole robots.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "read/file/xml.h"
#include "step/soft_step.h"

#define H 0.002

typedef struct scene {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    soft_problem *soft;
    double q[40], v[40], gained;
} scene;

static void must(zw_status status, const zw_error *error)
{
    if (status != ZW_OK) {
        fail_msg("%s: %s", zw_status_text(status), error->text);
    }
}

static scene open_scene(const char *integrator, const char *inner)
{
    char text[4000];
    scene s = {0};
    zw_error error = {0};
    int length = snprintf(text, sizeof text,
                          "<mujoco><compiler angle='radian'/><option integrator='%s'/>%s</mujoco>",
                          integrator, inner);
    assert_true(length < (int)sizeof text);
    s.model = zw_model_parse(text, "scene.xml", NULL, &error);
    must(s.model ? ZW_OK : error.status, &error);
    s.system = zw_system_compile(s.model, NULL, &error);
    must(s.system ? ZW_OK : error.status, &error);
    s.work = zw_work_create(s.system, &error);
    must(s.work ? ZW_OK : error.status, &error);
    must(soft_create(s.system, s.work, H, &s.soft, &error), &error);
    memcpy(s.q, s.system->bodies->q, (size_t)s.system->nq * sizeof(double));
    return s;
}

static void close_scene(scene *s)
{
    soft_free(s->soft);
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
}

static void control(scene *s, const double *u)
{
    system_bind(s->system, s->work, u);
}

static zw_status take(scene *s, double h)
{
    zw_error error = {0};
    double q[40], v[40], gained = 0;
    zw_status status = soft_step(s->soft, 0, h, s->q, s->v, q, v, &gained, &error);
    s->gained += gained;
    memcpy(s->q, q, sizeof q);
    memcpy(s->v, v, sizeof v);
    return status;
}

static void assert_near(double x, double y, double within)
{
    if (!(fabs(x - y) <= within)) {
        fail_msg("%.17g is not %.17g", x, y);
    }
}

#define CART                                                                                       \
    "<worldbody><body><joint name='x' type='slide' axis='1 0 0'/>"                                 \
    "<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/></body></worldbody>"

/* m (v1 - v0) = h (kp (u - q) - kv v0 - kv (v1 - v0)): stable however large kv is, where Euler's
 * step grows by |1 - h kv/m| = 9. */
static void a_stiff_servo_is_stable(void **state)
{
    (void)state;
    static const char *const name[] = {"implicitfast", "implicit", "Euler"};
    for (int k = 0; k < 3; k++) {
        scene s = open_scene(name[k], CART
                             "<actuator><position joint='x' kp='5000' kv='10000'/></actuator>");
        double u = 0.3, q = 0.1, v = 2, largest = 0;
        control(&s, &u);
        s.q[0] = q;
        s.v[0] = v;
        for (int i = 0; i < 300; i++) {
            zw_status status = take(&s, H);
            v += H * (5000 * (u - q) - 10000 * v) / (2 + (k < 2 ? H * 10000 : 0));
            q += H * v;
            largest = fmax(largest, fabs(v));
            if (k < 2 || i < 5) {
                assert_int_equal(status, ZW_OK);
                assert_near(s.v[0], v, 1e-12 * largest);
                assert_near(s.q[0], q, 1e-12 * largest);
            }
        }
        assert_true(k == 2 ? !(largest < 1e100) : largest < 5);
        close_scene(&s);
    }
}

/* What the servo does is accounted for: kinetic energy = work, to the error of one step. */
static void its_work_is_that_of_the_step(void **state)
{
    (void)state;
    scene s = open_scene("implicitfast",
                         CART "<actuator><position joint='x' kp='5000' kv='10000'/></actuator>");
    double u = 0.3;
    control(&s, &u);
    s.v[0] = 2;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(take(&s, H), ZW_OK);
    }
    assert_near(s.gained, 0.5 * 2 * (s.v[0] * s.v[0] - 4), 1e-12);
    close_scene(&s);
}

/* Dampers that Euler's steps treat implicitly have the speeds at the end of a step. */
static void their_work_is_that_of_the_step(void **state)
{
    (void)state;
    scene s = open_scene("Euler", "<worldbody><body><joint type='slide' axis='1 0 0' "
                                  "damping='40'/><geom size='.1' mass='2'/></body></worldbody>");
    s.v[0] = 2;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(take(&s, H), ZW_OK);
    }
    assert_true(s.v[0] < 1);
    assert_near(s.gained, 0.5 * 2 * (s.v[0] * s.v[0] - 4), 1e-12);
    close_scene(&s);
}

/* What slides on the floor is braked by mu times what the floor gives it upwards, however small mu
 * is; but MuJoCo's law has none below 1e-5. */
static void slippery_floors_brake_little(void **state)
{
    (void)state;
    static const double friction[] = {0.3, 0.03, 0.001, 0};
    for (int k = 0; k < 4; k++) {
        char text[500];
        enum { STEPS = 300 };
        snprintf(text, sizeof text,
                 "<option cone='elliptic'/><worldbody><geom type='plane' size='0 0 1' "
                 "friction='%g 0 0'/><body pos='0 0 .1'><freejoint/>"
                 "<geom type='box' size='.5 .5 .1' friction='%g 0 0'/></body></worldbody>",
                 friction[k], friction[k]);
        scene s = open_scene("Euler", text);
        s.v[0] = 6;
        for (int i = 0; i < STEPS; i++) {
            assert_int_equal(take(&s, H), ZW_OK);
        }
        assert_near(6 - s.v[0], fmax(friction[k], 1e-5) * (STEPS * H * 9.81 + s.v[2]), 1e-9);
        close_scene(&s);
    }
}

/* At the end of its range a motor does not follow speeds. */
static void a_motor_at_its_limit_has_no_slope(void **state)
{
    (void)state;
    scene s = open_scene("implicitfast", CART "<actuator><position joint='x' kp='5000' kv='100' "
                                              "forcerange='-7 7'/></actuator>");
    double u = 1;
    control(&s, &u);
    assert_int_equal(take(&s, H), ZW_OK);
    assert_near(s.v[0], H * 7 / 2, 1e-16);
    close_scene(&s);
}

/* A gain that follows the speed: force = (g0 + g2 v) u, so that m a = g0 u + g2 v0 u + h g2 u a; at
 * an activation that is exact, too: after k steps 1 - exp(-k h/tau) of the control. */
static void gains_and_filters(void **state)
{
    (void)state;
    scene s = open_scene("implicitfast",
                         CART "<actuator><general joint='x' dyntype='filterexact' dynprm='0.01' "
                              "gaintype='affine' gainprm='3 0 -20'/></actuator>");
    double u = 0.7, v = 0, act = 0;
    control(&s, &u);
    for (int k = 1; k <= 50; k++) {
        v += H * (3 - 20 * v) * act / (2 + H * 20 * act);
        act = u * (1 - exp(-k * H / 0.01));
        assert_int_equal(take(&s, H), ZW_OK);
        assert_near(s.v[0], v, 1e-14);
        assert_near(s.v[1], act, 1e-14);
    }
    close_scene(&s);
}

/* x = A \ b, 3 x 3, by Cramer's rule. */
static void solve3(double A[3][3], const double *b, double *x)
{
    double det[4];
    for (int k = 0; k < 4; k++) {
        double B[3][3];
        memcpy(B, A, sizeof B);
        for (int i = 0; i < 3 && k < 3; i++) {
            B[i][k] = b[i];
        }
        det[k] = B[0][0] * (B[1][1] * B[2][2] - B[1][2] * B[2][1]) -
                 B[0][1] * (B[1][0] * B[2][2] - B[1][2] * B[2][0]) +
                 B[0][2] * (B[1][0] * B[2][1] - B[1][1] * B[2][0]);
    }
    for (int k = 0; k < 3; k++) {
        x[k] = det[k] / det[3];
    }
}

/* A free body turns by (I + h d(w x I w)/dw) (w1 - w0) = -h w0 x I w0, by implicitfast as well. */
static void a_free_body_has_gyroscopic_moments(void **state)
{
    (void)state;
    static const char *const name[] = {"implicitfast", "implicit"};
    static const double I[3] = {0.1, 0.25, 0.3}, w[3] = {20, -30, 45};
    double A[3][3] = {{I[0], H * (I[2] - I[1]) * w[2], H * (I[2] - I[1]) * w[1]},
                      {H * (I[0] - I[2]) * w[2], I[1], H * (I[0] - I[2]) * w[0]},
                      {H * (I[1] - I[0]) * w[1], H * (I[1] - I[0]) * w[0], I[2]}};
    double b[3] = {-H * (I[2] - I[1]) * w[1] * w[2], -H * (I[0] - I[2]) * w[0] * w[2],
                   -H * (I[1] - I[0]) * w[0] * w[1]};
    double more[3];
    solve3(A, b, more);
    for (int k = 0; k < 2; k++) {
        scene s = open_scene(name[k], "<worldbody><body><freejoint/><inertial pos='0 0 0' mass='1' "
                                      "diaginertia='0.1 0.25 0.3'/></body></worldbody>");
        memcpy(s.v + 3, w, sizeof w);
        assert_int_equal(take(&s, H), ZW_OK);
        for (int i = 0; i < 3; i++) {
            assert_near(s.v[3 + i], w[i] + more[i], 1e-13);
        }
        close_scene(&s);
    }
}

#define LINKS(ball)                                                                                \
    "<worldbody><body><joint name='a' axis='0 0 1' damping='0.3'/><geom type='capsule' size='.04'" \
    " fromto='0 0 0 .3 0 .1'/><body pos='.3 0 .1'><joint name='b' " ball " damping='0.1'/>"        \
    "<geom type='box' size='.1 .03 .05' pos='.1 0 0'/><body pos='.2 0 0'>"                         \
    "<joint name='c' axis='0 1 .4'/><joint name='d' type='slide' axis='1 0 .2'/>"                  \
    "<geom type='capsule' size='.03' fromto='0 0 0 0 .2 0'/></body></body></body></worldbody>"
#define CHAIN                                                                                      \
    LINKS("type='ball'")                                                                           \
    "<tendon><fixed name='t' damping='0.4'><joint joint='a' coef='1'/><joint joint='c' "           \
    "coef='-2'/>"                                                                                  \
    "</fixed></tendon><actuator><position joint='c' kp='30' kv='4'/><velocity tendon='t' kv='2'/>" \
    "<general joint='b' gear='1 .5 -.3' gainprm='1' biastype='affine' biasprm='0 -1 -.7'/>"        \
    "</actuator>"

/* (M - h D) a = force with D by differences of the force, inertial forces included. */
static void the_slope_is_that_of_the_force(void **state)
{
    (void)state;
    scene s = open_scene("implicit", CHAIN);
    const zw_system *system = s.system;
    static const double u[3] = {0.2, -1, 0.4}, v[6] = {2, -3, 5, 1, 4, -0.7};
    double force[6], left[6] = {0}, by[2][6], q[40], next[40], gained;
    double h = 0.05, e = 1e-3; /* a quadratic function has exact central differences */
    int n = system->n;
    zw_error error = {0};
    assert_int_equal(n, 6);
    control(&s, u);
    memcpy(s.v, v, sizeof v);
    must(soft_forward(s.soft, 0, s.q, s.v, &error), &error);
    memcpy(force, s.soft->force, sizeof force);
    must(soft_step(s.soft, 0, h, s.q, s.v, q, next, &gained, &error), &error);
    must(system_evaluate(system, s.work, PART_TERMS, 0, s.q, s.v, NULL, NULL, &error), &error);
    const double *M = s.work->out[PART_TERMS] + system->at.M;
    for (int j = 0; j < n; j++) {
        double a = (next[j] - v[j]) / h;
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            int i = system->M_row[k];
            left[i] += M[k] * a;
            left[j] += i != j ? M[k] * (next[i] - v[i]) / h : 0;
        }
    }
    for (int j = 0; j < n; j++) {
        for (int side = 0; side < 2; side++) {
            s.v[j] = v[j] + (side ? e : -e);
            must(soft_forward(s.soft, 0, s.q, s.v, &error), &error);
            memcpy(by[side], s.soft->force, sizeof by[side]);
        }
        s.v[j] = v[j];
        for (int i = 0; i < n; i++) {
            left[i] -= (next[j] - v[j]) * (by[1][i] - by[0][i]) / (2 * e);
        }
    }
    for (int i = 0; i < n; i++) {
        assert_near(left[i], force[i], 1e-9);
    }
    close_scene(&s);
}

/* The error of a swing of 0.2 s falls by 2 and 16 where steps are halved. (Where balls turn, RK4
 * has order two: it takes the mean of speeds along the axes of a body that turns.) */
static void orders(void **state)
{
    (void)state;
    static const char *const name[] = {"Euler", "implicit", "implicitfast", "RK4"};
    for (int k = 0; k < 4; k++) {
        double end[3];
        for (int fine = 0; fine < 3; fine++) {
            scene s = open_scene(name[k], LINKS("axis='1 .2 0'"));
            int steps = 200 << (fine == 2 ? 5 : fine);
            s.v[0] = 1;
            s.v[3] = -2;
            for (int i = 0; i < steps; i++) {
                assert_int_equal(take(&s, 0.2 / steps), ZW_OK);
            }
            end[fine] = s.q[2];
            close_scene(&s);
        }
        double ratio = (end[0] - end[2]) / (end[1] - end[2]);
        assert_true(k == 3 ? ratio > 13 && ratio < 20 : ratio > 1.8 && ratio < 2.4);
    }
}

/* Two joints at their limits that a curved equality ties: held exactly they could not move, and by
 * the soft law they do. Samples, zw_forward and zw_look ask that law alone. */
static void rows_that_contradict_each_other_give_way(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = zw_model_parse(
        "<mujoco><worldbody><body><joint name='a' type='slide' axis='0 0 -1' range='-1 0'/><geom "
        "size='0.1' contype='0' conaffinity='0'/></body><body pos='1 0 0'><joint name='b' "
        "type='slide' axis='0 0 -1' range='-1 0'/><geom size='0.1' contype='0' conaffinity='0'/>"
        "</body></worldbody><equality><joint joint1='b' joint2='a' polycoef='0 1 5 0 0'/>"
        "</equality></mujoco>",
        "scene.xml", NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *now = work ? zw_state_create(system, work, NULL, &error) : NULL;
    zw_run_options options = {.time = 0.1, .every = 0.003, .method = ZW_METHOD_SOFT};
    zw_run_summary summary;
    assert_non_null(now);
    assert_int_equal(zw_run(system, now, work, &options, &summary, &error), ZW_OK);
    assert_int_equal(zw_forward(system, now, work, &options, &error), ZW_OK);
    assert_true(zw_field(system, now, work, ZW_FIELD_VIOLATION).data[0] > 1e-4);
    assert_int_equal(zw_step(system, now, work, &options, &error), ZW_OK);
    assert_int_equal(zw_look(system, now, work, &error), ZW_OK);
    zw_state_free(now);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
}

/* A row at rest carries f = D K d r with D = d/((1 - d) A0) and A0 = 1/m1 + 1/m2 of its two sides,
 * so it gives way by r = (1 - d) tau^2 A0 f: two bodies that hang below each other. */
static void joined_bodies_sag(void **state)
{
    (void)state;
    const double tau = 0.05, d = 0.9, g = 9.81, m1 = 2, m2 = 3;
    scene s = open_scene(
        "Euler", "<worldbody><body name='a' pos='0 0 1'><freejoint/><inertial pos='0 0 0' mass='2' "
                 "diaginertia='1 1 1'/></body><body name='b' pos='0 0 .5'><freejoint/><inertial "
                 "pos='0 0 0' mass='3' diaginertia='1 1 1'/></body></worldbody><equality>"
                 "<connect body1='a' anchor='0 0 0' solref='.05 1' solimp='.9 .9 .01'/>"
                 "<connect body1='b' body2='a' anchor='0 0 0' solref='.05 1' solimp='.9 .9 .01'/>"
                 "</equality>");
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(take(&s, H), ZW_OK);
    }
    double r1 = (1 - d) * tau * tau / m1 * (m1 + m2) * g;
    double r2 = (1 - d) * tau * tau * (1 / m1 + 1 / m2) * m2 * g;
    assert_near(1 - s.q[2], r1, 1e-9);
    assert_near(0.5 - s.q[9], r1 + r2, 1e-9);
    close_scene(&s);
}

/* Likewise r = (1 - d)/d^2 f A0/K for a ball on the floor, where K belongs to the largest
 * impedance. A width of the impedance that is not a number of digits of a double is none: d is the
 * mean. */
static void widths_of_impedance(void **state)
{
    (void)state;
    static const struct {
        const char *width;
        double d;
    } row[] = {{"1e-14", 0.9}, {"1e-16", 0.7}};
    for (int k = 0; k < 2; k++) {
        char text[500];
        snprintf(text, sizeof text,
                 "<worldbody><geom type='plane' size='0 0 1' condim='1'/><body pos='0 0 .1'>"
                 "<freejoint/><geom size='.1' mass='2' condim='1' priority='1' solref='.05 1' "
                 "solimp='.5 .9 %s'/></body></worldbody>",
                 row[k].width);
        scene s = open_scene("Euler", text);
        double d = row[k].d;
        for (int i = 0; i < 3000; i++) {
            assert_int_equal(take(&s, H), ZW_OK);
        }
        assert_near(0.1 - s.q[2], (1 - d) / (d * d) * 9.81 * 0.81 * 0.05 * 0.05, 1e-9);
        close_scene(&s);
    }
}

/* The pyramid of a capsule on the floor turns with the capsule, however nearly it is upright: a
 * scene that is turned about the vertical has the same motion, turned. */
static void pyramids_turn_with_capsules(void **state)
{
    (void)state;
    const double tilt = 0.25, turn = 0.6;
    double q[2][3];
    for (int k = 0; k < 2; k++) {
        double a = k * turn, c = cos(a), e = sin(a), half = 0.5 * tilt;
        scene s = open_scene("Euler", "<worldbody><geom type='plane' size='0 0 1'/><body pos='0 0 "
                                      ".38'><freejoint/><geom type='capsule' size='.1 .3'/></body>"
                                      "</worldbody>");
        double start[] = {cos(0.5 * a) * cos(half), -sin(0.5 * a) * sin(half),
                          cos(0.5 * a) * sin(half), sin(0.5 * a) * cos(half)};
        memcpy(s.q + 3, start, sizeof start);
        s.v[0] = 2 * c - 1 * e;
        s.v[1] = 2 * e + 1 * c;
        for (int i = 0; i < 100; i++) {
            assert_int_equal(take(&s, H), ZW_OK);
        }
        q[k][0] = c * s.q[0] + e * s.q[1];
        q[k][1] = -e * s.q[0] + c * s.q[1];
        q[k][2] = s.q[2];
        close_scene(&s);
    }
    assert_true(hypot(q[0][0] - 0.4, q[0][1] - 0.2) > 1e-3); /* friction has acted */
    for (int i = 0; i < 3; i++) {
        assert_near(q[1][i], q[0][i], 1e-11);
    }
}

/* The mass of a tendon is inertia, whatever else acts along the tendon: dry friction of next to
 * nothing, or a second tendon beside it that shares the mass, changes nothing. (Both once
 * counted as an applied force where joints have dampers, 1 % off after half a second.) */
static void tendons_with_mass(void **state)
{
#define TENDON(name, more)                                                                         \
    "<fixed name='" name "' " more                                                                 \
    "><joint joint='a' coef='1'/><joint joint='b' coef='-2'/></fixed>"
    static const char *const tendon[] = {TENDON("t", "armature='.3'"),
                                         TENDON("t", "armature='.3' frictionloss='1e-13'"),
                                         TENDON("t", "armature='.1'") TENDON("s", "armature='.2'")};
    double end[3][2] = {{0}};
    (void)state;
    for (int k = 0; k < 3; k++) {
        char text[2000];
        zw_error error = {0};
        snprintf(text, sizeof text,
                 "<worldbody><body><joint name='a' axis='0 1 0' damping='.5'/><geom size='.05' "
                 "pos='.3 0 0'/><body pos='.3 0 0'><joint name='b' axis='0 1 .3' damping='.5'/>"
                 "<geom size='.04' pos='.3 .1 0'/></body></body></worldbody><tendon>%s</tendon>",
                 tendon[k]);
        scene s = open_scene("Euler", text);
        for (int step = 0; step < 250; step++) {
            must(soft_step(s.soft, 0, H, s.q, s.v, s.q, s.v, &s.gained, &error), &error);
        }
        memcpy(end[k], s.v, sizeof end[k]);
        close_scene(&s);
    }
    printf("tendons with mass: %.9g, %.1e, %.1e\n", end[0][1], end[1][1] - end[0][1],
           end[2][1] - end[0][1]);
    assert_true(fabs(end[1][1] - end[0][1]) < 1e-9 && fabs(end[2][1] - end[0][1]) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stiff_servo_is_stable),
        cmocka_unit_test(its_work_is_that_of_the_step),
        cmocka_unit_test(their_work_is_that_of_the_step),
        cmocka_unit_test(slippery_floors_brake_little),
        cmocka_unit_test(joined_bodies_sag),
        cmocka_unit_test(widths_of_impedance),
        cmocka_unit_test(pyramids_turn_with_capsules),
        cmocka_unit_test(a_motor_at_its_limit_has_no_slope),
        cmocka_unit_test(gains_and_filters),
        cmocka_unit_test(a_free_body_has_gyroscopic_moments),
        cmocka_unit_test(the_slope_is_that_of_the_force),
        cmocka_unit_test(orders),
        cmocka_unit_test(tendons_with_mass),
        cmocka_unit_test(rows_that_contradict_each_other_give_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
