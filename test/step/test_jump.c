/* Forces that jump at a kink of a formula: contacts open, stick and slide as after any other jump,
 * constraints with a kink require other speeds after it, and jumps of constraints or energies are
 * refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "system/world.h"

#define BLOCK "coord x, y\nmass 1 at (x, y)\ngravity (0, -10)\n"

/* The first two coordinates and their speeds at t = 2, in closed form. */
typedef struct jump_case {
    const char *text;
    double q[2], v[2];
    int impacts;
    double loss; /* of energy, in impacts */
} jump_case;

static const jump_case CASES[] = {
    /* friction holds up to 5 N; from t = 1 on the pull is 10 N */
    {BLOCK "force x: if(t > 1, 10, 0)\nconstraint f: y >= 0, friction 0.5\n",
     {2.5, 0},
     {5, 0},
     0,
     0},
    {BLOCK "force x: if(t > 1, 10, 0)\nconstraint f: y = 0\nfriction f: 0.5 at (x, y)\n",
     {2.5, 0},
     {5, 0},
     0,
     0},
    /* for half a second, after which it slides to rest as fast as it began */
    {BLOCK "force x: if(t > 1 and t < 1.5, 10, 0)\nconstraint f: y >= 0, friction 0.5\n",
     {1.25, 0},
     {0, 0},
     0,
     0},
    /* the coefficient of friction drops; then the normal force does */
    {BLOCK "force x: 3\nconstraint f: y >= 0, friction if(t < 1, 0.5, 0.1)\n",
     {1, 0},
     {2, 0},
     0,
     0},
    {BLOCK "force x: 3, y: if(t > 1, 5, 0)\nconstraint f: y >= 0, friction 0.5\n",
     {0.25, 0},
     {0.5, 0},
     0,
     0},
    /* at the very start */
    {BLOCK "force x: if(t > 0, 10, 0)\nconstraint f: y >= 0, friction 0.5\n",
     {10, 0},
     {10, 0},
     0,
     0},
    /* a pull lifts it, then ends */
    {BLOCK "force y: if(t > 1 and t < 1.5, 20, 0)\nconstraint f: y >= 0\n", {0, 2.5}, {0, 0}, 0, 0},
    /* held up without pressing, then let down */
    {BLOCK "force x: 2, y: if(t < 1, 10, 0)\nconstraint f: y >= 0, friction 0.1\n",
     {3.5, 0},
     {3, 0},
     0,
     0},
    /* it slides in a groove that presses from below, then from above */
    {"coord x, y\nspeed x' = 20\nmass 1 at (x, y)\ngravity (0, -10)\nforce y: if(t > 1, 25, 0)\n"
     "constraint f: y = 0\nfriction f: 0.5 at (x, y)\n",
     {17.5 + 11.25, 0},
     {7.5, 0},
     0,
     0},
    /* a drive whose speed jumps, and a mass on a spring attached to it */
    {"coord x, u\nmass 1 at x, 1 at u\nconstraint d: x = max(0, t - 1)\npotential (x - u)^2/2\n",
     {1, 0.1585290151921035},
     {1, 0.45969769413186023},
     1,
     0.5},
    /* the same through the masses: a bob on a smooth cart stays where it is */
    {"coord x, u\nkinetic (x'^2 + (x' + u')^2)/2\nconstraint d: x = max(0, t - 1)\n",
     {1, -1},
     {1, -1},
     1,
     0.5},
    /* a wire with a corner: the speed along the wire remains */
    {"coord x = -1, y\nspeed x' = 1\nmass 1 at (x, y)\nconstraint w: y = max(0, x)\n",
     {0.5, 0.5},
     {0.5, 0.5},
     1,
     0.25},
    /* the same with friction of mu times the impulse: a corner to the left, to the right; and a
     * surface with an edge, which leaves 1 - mu/sqrt(3) of the speed along it */
    {"coord x = -1, y\nspeed x' = 1\nmass 1 at (x, y)\nconstraint w: y = max(0, x)\n"
     "friction w: 0.25 at (x, y)\n",
     {0.375, 0.375},
     {0.375, 0.375},
     1,
     0.359375},
    {"coord x = -1, y\nspeed x' = 1\nmass 1 at (x, y)\nconstraint w: y = -max(0, x)\n"
     "friction w: 0.25 at (x, y)\n",
     {0.375, -0.375},
     {0.375, -0.375},
     1,
     0.359375},
    {"coord x = -1, y, z\nspeed x' = 1, y' = 1\nmass 1 at (x, y, z)\n"
     "constraint w: z = max(0, x)\nfriction w: sqrt(3)/4 at (x, y, z)\n",
     {0.375, 1.75},
     {0.375, 0.75},
     1,
     1 - 0.5 * (0.5625 + 2 * 0.140625)},
    /* a bead on a wire is struck across it, from one side and from the other */
    {"coord y, u = -1, x\nspeed y' = 1, u' = 1\nmass 1 at (x, y), 1 at u\n"
     "constraint w: x = 0\nfriction w: 0.1 at (x, y)\nconstraint hit: x >= u, restitution 1\n",
     {1.8, -1},
     {0.8, -1},
     1,
     0.18},
    {"coord y, u = 1, x\nspeed y' = 1, u' = -1\nmass 1 at (x, y), 1 at u\n"
     "constraint w: x = 0\nfriction w: 0.1 at (x, y)\nconstraint hit: u >= x, restitution 1\n",
     {1.8, 1},
     {0.8, 1},
     1,
     0.18},
    /* a wall that begins to move and throws a body off */
    {"coord x, y\nmass 1 at x, 1 at y\nconstraint w: x >= max(0, t - 1), restitution 1\n",
     {2, 0},
     {2, 0},
     1,
     0},
    /* and a drive that begins to move and throws a body off; without restitution it carries it */
    {"coord y, x\nmass 1 at x, 1 at y\nconstraint d: x = max(0, t - 1)\n"
     "constraint w: y >= x, restitution 1\n",
     {2, 1},
     {2, 1},
     1,
     0.5},
    {"coord y, x\nmass 1 at x, 1 at y\nconstraint d: x = max(0, t - 1)\n"
     "constraint w: y >= x\n",
     {1, 1},
     {1, 1},
     1,
     1},
    /* an event sets a number, which triggers another event, and that one a third, at one instant */
    {"param k = 0\ncoord x, u\nmass 1 at x, 1 at u\nforce x: 1\n"
     "event three: when u' > 0.5, set u' = 2*u'\nevent two: when k > 0, set x' = 0, set u' = 1\n"
     "event one: x = 0.5 rising, set k = 1e-6\n",
     {1, 2},
     {1, 2},
     0,
     0},
    /* an impact makes a condition true */
    {"coord x = 1, u\nspeed x' = -1\nmass 1 at x, 1 at u\nconstraint w: x >= 0, restitution 1\n"
     "event up: when x' > 0, set u' = 1\n",
     {1, 1},
     {1, 1},
     1,
     0},
    /* a potential that is switched on at rest takes work, and then pulls */
    {"coord x = 1, y\nmass 1 at x, 1 at y\npotential if(t > 1, 1, 0)*x^2/2\n",
     {0.5403023058681398, 0},
     {-0.8414709848078965, 0},
     0,
     0},
};

static void compare(const char *text, const char *what, double is, double wanted, double bound)
{
    if (!(fabs(is - wanted) <= bound)) {
        fail_msg("%s%s = %.17g, expected %.17g", text, what, is, wanted);
    }
}

/* By methods that step a field; euler's first order is no test. */
static void forces_that_jump(void **unused)
{
    (void)unused;
    static const struct {
        zw_method method;
        double step, bound;
    } by[] = {
        {ZW_METHOD_DOP853, 0, 1e-10}, {ZW_METHOD_STIFF, 0, 1e-8}, {ZW_METHOD_RK4, 0.01, 1e-8}};
    for (size_t m = 0; m < sizeof by / sizeof *by; m++) {
        for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
            const jump_case *c = &CASES[k];
            world w = world_of(c->text);
            zw_run_summary s;
            const zw_run_options options = {
                .time = 2, .every = 4, .method = by[m].method, .step = by[m].step};
            if (zw_run(w.system, w.state, w.work, &options, &s, &w.error) != ZW_OK) {
                fail_msg("%s%s", c->text, w.error.text);
            }
            for (int i = 0; i < 2; i++) {
                compare(c->text, "place", world_field(&w, ZW_FIELD_Q)[i], c->q[i], by[m].bound);
                compare(c->text, "speed", world_field(&w, ZW_FIELD_V)[i], c->v[i], by[m].bound);
            }
            compare(c->text, "drift", s.energy_drift, 0, by[m].bound);
            assert_int_equal(s.impacts, c->impacts);
            compare(c->text, "loss", s.impact_loss, c->loss, by[m].bound);
            compare(c->text, "violation", s.violation_velocity, 0, 1e-9);
            world_end(&w);
        }
    }
}

/* A number that is set while friction holds is a jump, too: in a loop of zw_step or between runs.
 */
static void a_parameter_that_is_set(void **unused)
{
    (void)unused;
    /* friction holds 5: much more, and hardly more */
    for (int k = 0; k < 4; k++) {
        const int way = k % 2;
        const double F = k < 2 ? 10 : 5.001;
        world w = world_of("param F = 0\n" BLOCK "force x: F\n"
                           "constraint f: y >= 0, friction 0.5\n");
        zw_run_summary s;
        zw_run_options options = {.time = 1, .every = 4};
        assert_int_equal(zw_run(w.system, w.state, w.work, &options, &s, &w.error), ZW_OK);
        assert_int_equal(
            zw_state_set(w.system, w.state, w.work, ZW_FIELD_PARAM, 0, 1, &F, &w.error), ZW_OK);
        options.time = way ? 2 : 0;
        options.step = way ? 0 : 0.25;
        for (int i = 0; i < 4 && !way; i++) {
            assert_int_equal(zw_step(w.system, w.state, w.work, &options, &w.error), ZW_OK);
        }
        if (way) {
            assert_int_equal(zw_run(w.system, w.state, w.work, &options, &s, &w.error), ZW_OK);
        }
        compare("set: ", "place", world_field(&w, ZW_FIELD_Q)[0], (F - 5) / 2, 1e-10);
        compare("set: ", "speed", world_field(&w, ZW_FIELD_V)[0], F - 5, 1e-10);
        world_end(&w);
    }
}

/* At the limit of static friction the derivative of the pull decides: mu N (1 + t - 200 t^2) starts
 * at the limit and makes it slide for 7.5 ms, though a hundredth of a second later it would be
 * held. mu N = 5 and m = 1, so v = 5 (t^2/2 - 200 t^3/3). */
static void what_comes_next(void **unused)
{
    (void)unused;
    world w = world_of(BLOCK "force x: if(t < 0.05, 5*(1 + t - 200*t^2), 0)\n"
                             "constraint f: y >= 0, friction 0.5\n");
    zw_run_summary s = world_run(&w, 2, 1e-12);
    const double t = 0.0075;
    compare("border: ", "place", world_field(&w, ZW_FIELD_Q)[0],
            5 * (t * t * t / 6 - 200 * t * t * t * t / 12), 1e-13);
    compare("border: ", "drift", s.energy_drift, 0, 1e-12);
    world_end(&w);
}

/* Two events that trigger each other without end are an error. */
static void events_without_end(void **unused)
{
    (void)unused;
    world w = world_of("param k = 0\ncoord x\nmass 1 at x\nevent go: t = 1, set k = 1\n"
                       "event on: when k > 0.5, set k = 0\nevent off: when k < 0.5, set k = 1\n");
    zw_run_summary s;
    const zw_run_options options = {.time = 2, .every = 4};
    assert_int_equal(zw_run(w.system, w.state, w.work, &options, &s, &w.error), ZW_NO_STEP);
    assert_non_null(strstr(w.error.text, "changes again and again"));
    world_end(&w);
}

static void what_nothing_can_follow(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *message;
    } row[] = {
        {"coord x\nmass 1 at x\nconstraint w: x = if(t > 1, 1, 0)\n", "constraint w jumps by 1"},
        {"coord x\nmass 1 at x\nconstraint w: x >= if(t > 1, 1, 0)\n", "constraint w jumps by 1"},
        {"coord x\nspeed x' = 1\nkinetic if(t > 1, 2, 1)*x'^2/2\n",
         "the kinetic energy jumps by 0.5"},
        {"coord x\nspeed x' = 2\nmass 1 at x\npotential if(x > 1, 1.5, 0)\n",
         "the potential energy jumps by 1.5"},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        world w = world_of(row[k].text);
        zw_run_summary s;
        const zw_run_options options = {.time = 2, .every = 4};
        assert_int_not_equal(zw_run(w.system, w.state, w.work, &options, &s, &w.error), ZW_OK);
        if (!strstr(w.error.text, row[k].message)) {
            fail_msg("%s%s", row[k].text, w.error.text);
        }
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_that_jump),        cmocka_unit_test(a_parameter_that_is_set),
        cmocka_unit_test(what_comes_next),         cmocka_unit_test(events_without_end),
        cmocka_unit_test(what_nothing_can_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
