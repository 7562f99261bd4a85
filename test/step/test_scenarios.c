/* Contacts against solutions in closed form, and how the error shrinks with the step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/pose.h"
#include "scene/touch.h"

#define G 9.81

static touch parsed(const char *inner, const char *key)
{
    static char text[4000];
    touch s;
    snprintf(text, sizeof text, "<mujoco><compiler angle='radian'/>%s</mujoco>", inner);
    if (touch_parse(&s, text, key) != ZW_OK) {
        fail_msg("%s", s.error.text);
    }
    return s;
}

static void run_to(touch *s, double t, double h)
{
    if (touch_run(s, t, h) != ZW_OK) {
        fail_msg("%s", s->error.text);
    }
    assert_true(s->certificate <= 1e-8 && s->depth <= 1e-9);
}

/* Signorini's law at the end of every step: what pushed in it has not left. */
static void run_and_look(touch *s, double t, double h)
{
    zw_contact list[16];
    int steps = (int)lround(t / h);
    for (int k = 1; k <= steps; k++) {
        run_to(s, k < steps ? k * h : t, h);
        int count = zw_contacts(s->system, s->state, s->work, list, 16, &s->error);
        assert_in_range(count, 0, 16);
        for (int i = 0; i < count; i++) {
            if (list[i].force[0] > 0 && list[i].gap > 1e-12) {
                fail_msg("t = %g: %g N, %g m apart", k * h, list[i].force[0], list[i].gap);
            }
        }
    }
}

/* The slope of log(error) over log(h) for steps halved `count` times. */
static double order_of(const double *error, int count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int k = 0; k < count; k++) {
        double x = -k * log(2), y = log(error[k]);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

/* ---- A ball that slides and then rolls ------------------------------------------------------ */

enum { HALVES = 6 };
static const double R = 0.11, MU = 0.2;

/* Where it is at a time t after it had v and omega on the floor; and how fast it then rolls. */
static double rolled(double v, double omega, double t, double *last)
{
    double slip = v - R * omega, until = 2 * fabs(slip) / (7 * MU * G);
    double a = slip > 0 ? -MU * G : MU * G, slid = fmin(t, until);
    *last = (5 * v + 2 * R * omega) / 7;
    return v * slid + 0.5 * a * slid * slid + *last * (t - slid);
}

static double ball_error(double height, double v, double omega, double t, double h)
{
    touch s = parsed("<worldbody><geom type='plane' size='0 0 1' friction='.2 0 0'/>"
                     "<body pos='0 0 .11'><freejoint/><geom size='.11' friction='.2 0 0'/></body>"
                     "</worldbody>",
                     NULL);
    double *q = touch_field(&s, ZW_FIELD_Q), *u = touch_field(&s, ZW_FIELD_V);
    double down = sqrt(2 * G * height), air = down / G, last, x = v * air;
    double sign = v - R * omega > 0 ? 1 : -1, hit = sign * MU * down;
    q[2] += height;
    u[0] = v;
    u[4] = omega;
    run_to(&s, t, h);
    x += rolled(v - hit, omega + 2.5 * hit / R, t - air, &last);
    double doubt = height > 0 ? h : 1e-9;
    assert_true(fabs(u[0] - last) < doubt && fabs(R * u[4] - u[0]) < 1e-9);
    double off = fabs(q[0] - x);
    touch_close(&s);
    return off;
}

/* What it rolls with is exact for every step, as momentum about the floor stays; where it is, to
 * first order. With a fall before it the blow takes away mu times the speed of the fall; the arm of
 * the friction of that one step is not known better than its way. */
static void a_ball_slides_and_rolls(void **state)
{
    static const double start[][3] = {{0, 5, 0},  {0, 5, 20},  {0, 5, -60},
                                      {0, 2, 60}, {0.1, 5, 0}, {0.3, 5, -60}};
    (void)state;
    for (int i = 0; i < 6; i++) {
        double error[HALVES], h = 0.02;
        for (int k = 0; k < HALVES; k++, h /= 2) {
            error[k] = ball_error(start[i][0], start[i][1], start[i][2], 2.5, h);
        }
        print_message("ball %d: error %.1e to %.1e, order %.2f\n", i, error[0], error[HALVES - 1],
                      order_of(error, HALVES));
        assert_true(error[0] < 0.1);
        assert_true(order_of(error, HALVES) > 0.9);
    }
}

/* ---- A box that tips ------------------------------------------------------------------------ */

static double lean_after(double angle, double spin, double t, double h)
{
    char text[900];
    const double a = 0.2, b = 0.5; /* half width and height */
    snprintf(text, sizeof text,
             "<worldbody><geom type='plane' size='0 0 1' euler='0 %.17g 0' friction='.5 0 0'/>"
             "<body pos='%.17g 0 %.17g' euler='0 %.17g 0'><freejoint/>"
             "<geom type='box' size='.2 .2 .5' mass='10' friction='.5 0 0'/></body></worldbody>",
             angle, b * sin(angle), b * cos(angle), angle);
    touch s = parsed(text, NULL);
    double *u = touch_field(&s, ZW_FIELD_V), *q = touch_field(&s, ZW_FIELD_Q);
    u[0] = spin * b; /* about the edge at (a, 0) */
    u[2] = spin * a;
    u[4] = spin;
    run_to(&s, t, h);
    double lean = 2 * atan2(q[5], q[3]) - angle;
    touch_close(&s);
    return lean;
}

/* Width over height is less than mu: on a slope it tips before it slides, at atan(w/h). Spun about
 * its edge it falls over from the speed that lifts it over the edge, 1.398 rad/s. */
static void a_box_tips(void **state)
{
    (void)state;
    double tip = atan(0.4), topple = 1.3979911865175574;
    assert_true(fabs(lean_after(0.999 * tip, 0, 2, 0.01)) < 1e-9);
    assert_true(lean_after(1.001 * tip, 0, 3, 0.01) > 0.5);
    for (int k = 0; k < 2; k++) { /* first order: half the step, half the doubt */
        double h = k ? 5e-4 : 1e-3, doubt = k ? 0.01 : 0.02;
        assert_true(lean_after(0, (1 - doubt) * topple, 6, h) < 1e-6);
        assert_true(lean_after(0, (1 + doubt) * topple, 6, h) > 1);
    }
}

/* ---- A ladder ------------------------------------------------------------------------------- */

/* A capsule whose axis is the ladder, in a corner whose planes lie behind the axes by its radius.
 * No friction: it leaves the wall at sin(theta) = 2/3 sin(theta0) and keeps its speed then. */
static double ladder_speed(double h)
{
    const double theta = 1.2;
    char text[900];
    snprintf(text, sizeof text,
             "<default><geom friction='0 0 0' condim='1'/></default><worldbody>"
             "<geom type='plane' size='0 0 1' pos='0 0 -.01'/>"
             "<geom type='plane' size='0 0 1' pos='-.01 0 0' zaxis='1 0 0'/>"
             "<body pos='%.17g 0 %.17g' euler='0 %.17g 0'><freejoint/>"
             "<inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g 1e-6'/>"
             "<geom type='capsule' size='.01 1'/></body></worldbody>",
             cos(theta), sin(theta), -(acos(0) - theta), 1.0 / 3, 1.0 / 3);
    touch s = parsed(text, NULL);
    run_and_look(&s, 0.75, h);
    double speed = touch_field(&s, ZW_FIELD_V)[0];
    touch_close(&s);
    return speed;
}

static void a_ladder_leaves_the_wall(void **state)
{
    (void)state;
    double error[HALVES], h = 0.01, wanted = 1.3285546835385096;
    for (int k = 0; k < HALVES; k++, h /= 2) {
        error[k] = fabs(ladder_speed(h) - wanted);
    }
    print_message("ladder: error %.1e to %.1e, order %.2f\n", error[0], error[HALVES - 1],
                  order_of(error, HALVES));
    assert_true(error[HALVES - 1] < 1e-3);
    assert_true(order_of(error, HALVES) > 0.9);
}

/* ---- Axion's free body, and the gripper ----------------------------------------------------- */

static void momentum_of(touch *s, const double inertia[3], double L[3])
{
    const double *q = touch_field(s, ZW_FIELD_Q), *u = touch_field(s, ZW_FIELD_V);
    double own[3], quat[4];
    for (int k = 0; k < 3; k++) {
        own[k] = inertia[k] * u[3 + k];
    }
    memcpy(quat, q + 3, sizeof quat);
    model_rotate(quat, own, L);
}

/* Angular momentum of a body that tumbles freely over a floor. The step keeps that of the middles
 * of steps; speeds and places of their ends give it up to what a step turns, and it does not grow.
 */
static void a_free_body_keeps_its_momentum(void **state)
{
    const double inertia[3] = {0.1, 0.2, 0.25}, h[] = {0.001, 0.01, 0.05};
    (void)state;
    for (int k = 0; k < 3; k++) {
        touch s = parsed("<option gravity='0 0 0'/><worldbody><geom type='plane' size='0 0 1'/>"
                         "<body pos='0 0 5'><freejoint/><inertial pos='0 0 0' mass='1' "
                         "diaginertia='.1 .2 .25'/><geom type='box' size='.2 .1 .1'/></body>"
                         "</worldbody>",
                         NULL);
        double *u = touch_field(&s, ZW_FIELD_V), before[3], after[3];
        u[3] = 0.1;
        u[4] = 6;
        u[5] = 0.1;
        momentum_of(&s, inertia, before);
        for (int part = 1; part <= 10; part++) {
            double off = 0;
            run_to(&s, 2 * part, h[k]);
            momentum_of(&s, inertia, after);
            for (int i = 0; i < 3; i++) {
                off += (after[i] - before[i]) * (after[i] - before[i]);
            }
            off = sqrt(off / model_dot(before, before));
            assert_true(off < 0.5 * 6 * h[k]);
        }
        touch_close(&s);
    }
}

/* Held for a minute with the step of the file: it creeps by less than 0.01 um/s. */
static void a_held_capsule_does_not_creep(void **state)
{
    touch s;
    (void)state;
    if (touch_open(&s, ZW_SOURCE_DIR "/examples/contact/gripper_capsule.xml", "hold") != ZW_OK) {
        fail_msg("%s", s.error.text);
    }
    const double *q = touch_field(&s, ZW_FIELD_Q);
    run_to(&s, 1, 0); /* the lift has come to rest */
    double start[3] = {q[3], q[4], q[5] - q[0]}, way = 0;
    run_to(&s, 61, 0);
    for (int i = 0; i < 3; i++) {
        way = fmax(way, fabs(q[3 + i] - (i == 2 ? q[0] : 0) - start[i]));
    }
    print_message("capsule: %.1e um/s\n", 1e6 * way / 60);
    assert_true(way / 60 < 1e-8);
    touch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_slides_and_rolls),
        cmocka_unit_test(a_box_tips),
        cmocka_unit_test(a_ladder_leaves_the_wall),
        cmocka_unit_test(a_free_body_keeps_its_momentum),
        cmocka_unit_test(a_held_capsule_does_not_creep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
