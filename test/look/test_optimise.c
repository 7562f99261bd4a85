/* The minimum of a cost, where it is known in closed form; and the messages about invalid lines. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../system/world.h"
#include "scene/campaign.h"
#include "zwang/optimise.h"

#define BALL                                                                                       \
    "param m = 1, g = 9.81, a = 0.3, v = 3\ncoord x = 0, y = 0\nspeed x' = v*cos(a), y' = "        \
    "v*sin(a)\npoint p = (x, y)\nmass m at p\ngravity (0, -g)\n"
#define CART                                                                                       \
    "param m = 2, u = 1, w = 0\ncoord x = 0\nkinetic m/2*x'^2\nforce x: m*(u + w*t)\nrun time 1\n"

static zw_optimum *best(world *w, const char *text, zw_error *error)
{
    *w = world_of(text);
    return zw_optimise(w->model, w->system, NULL, error);
}

static int is_there(void)
{
    zw_error error = {0};
    world w;
    zw_optimum *o = best(&w, CART "cost (x - 1)^2\nvary u\n", &error);
    int missing = !o && strstr(error.text, "without NLopt");
    zw_optimum_free(o);
    world_end(&w);
    return !missing;
}

/* Each unknown k becomes value[k]. */
static void expect(const char *text, double cost, int count, const double *value)
{
    world w;
    zw_error error = {0};
    zw_optimum *o = best(&w, text, &error);
    if (!o) {
        fail_msg("%s", error.text);
    }
    zw_optimum_report r = zw_optimum_report_of(o);
    assert_int_equal(r.unknowns, count);
    printf("cost %.3g after %d motions, slope %.1e\n", r.cost, r.motions, r.slope);
    assert_true(fabs(r.cost - cost) < 1e-12 + 1e-9 * fabs(cost));
    for (int k = 0; k < count; k++) {
        assert_true(fabs(zw_optimum_look(o, k).value - value[k]) < 3e-5 * (1 + fabs(value[k])));
    }
    zw_optimum_free(o);
    world_end(&w);
}

static void test_known(void **state)
{
    double pi = acos(-1), W = 10; /* of the end beside the force */
    (void)state;
    if (!is_there()) {
        print_message("skipped: no NLopt\n");
        skip();
    }
    /* the farthest throw lands at v^2/g, and it is the event that ends it */
    expect(BALL "event land: y = 0 falling, stop\ncost -x\nvary a = 0..1.5\n", -9 / 9.81, 1,
           (double[]){pi / 4});
    /* through a point at a time; mass does nothing and is left alone */
    expect(BALL "param vx = 1, vy = 1\ncost (x + vx - 3)^2 + (y + vy - 1)^2 + (v - 3)^2\n"
                "vary vx, vy, v = 0..9\nrun time 0.5\n",
           0, 3, (double[]){3 - 1.5 * cos(0.3), 1 - 1.5 * sin(0.3) + 9.81 / 8, 3});
    /* start and initial speed, with a bound that is reached */
    expect(CART "cost (x - 4)^2 + (x' - 2)^2\nvary x(0), x'(0) = -1..0.5\n", 0.25, 2,
           (double[]){3, 0.5});
    /* the force u + w t, a sum over time, against the end: quadratic in both */
    double A[2][2] = {{2 + 2 * W * (0.25 + 1), 1 + 2 * W * (0.5 / 6 + 0.5)},
                      {1 + 2 * W * (0.5 / 6 + 0.5), 2.0 / 3 + 2 * W * (1.0 / 36 + 0.25)}};
    double b[2] = {2 * W * 0.5, 2 * W / 6}, det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
    double u = (b[0] * A[1][1] - b[1] * A[0][1]) / det, w = (A[0][0] * b[1] - A[1][0] * b[0]) / det;
    double x = u / 2 + w / 6, v = u + w / 2;
    expect(CART "cost over (u + w*t)^2\ncost 10*(x - 1)^2 + 10*x'^2\nvary u, w\n",
           u * u + u * w + w * w / 3 + W * ((x - 1) * (x - 1) + v * v), 2, (double[]){u, w});
}

#define GOES "param v = 1.3\ncoord x = 0\nspeed x' = v\nmass 1 at x\nrun time 2\n"

/* Integrands that jump and bend where the motion comes by: x = v t, until t = 2. */
static void test_kinks_of_costs(void **state)
{
    (void)state;
    if (!is_there()) {
        print_message("skipped: no NLopt\n");
        skip();
    }
    /* the time beyond 1 is 2 - 1/v: least is -2 + 1/v + v^2/16 at v^3 = 8 */
    expect(GOES "cost over -if(x > 1, 1, 0)\ncost v^2/16\nvary v = 0.6..9\n", -1.25, 1,
           (double[]){2});
    /* the integral of |v t - 1| is 2 v - 2 + 1/v */
    expect(GOES "cost over abs(x - 1)\nvary v = 0.6..9\n", 2 * sqrt(2) - 2, 1,
           (double[]){sqrt(0.5)});
    /* that of floor(x) is 4 - 3/v as long as 2 < 2 v < 3 */
    expect(GOES "cost over -floor(x)\ncost v^3/1.2^4\nvary v = 1.05..1.45\n",
           -4 + 3 / 1.2 + 1 / 1.2, 1, (double[]){1.2});
    /* a wall at 1 throws it back by half: the integral of x'^2 is 3/4 v + v^2/2 */
    expect(GOES "constraint wall: x <= 1, restitution 0.5\ncost over x'^2\ncost -2.75*v\n"
                "vary v = 0.6..9\n",
           -2, 1, (double[]){2});
    /* an event sets a speed of 1 at x = 1: the integral is v + 2 - 1/v */
    expect(GOES "event gate: x = 1, set x' = 1\ncost over -x'^2\ncost 1.25*v\nvary v = 0.6..9\n",
           -1, 1, (double[]){2});
}

/* ball_throw and curling_box, with mass and friction among the unknowns; and a pole. */
static void test_examples(void **state)
{
    static const struct {
        const char *file, *name;
        double value;
    } of[] = {{"throw.zw", "m", 2}, {"curling.zw", "mu", 1.4 / 5 / 9.81}, {"swing_up.zw", NULL, 0}};
    (void)state;
    if (!is_there()) {
        print_message("skipped: no NLopt\n");
        skip();
    }
    for (int i = 0; i < 3; i++) {
        char path[300];
        zw_error error = {0};
        world w = {0};
        snprintf(path, sizeof path, ZW_SOURCE_DIR "/examples/%s", of[i].file);
        w.model = zw_model_read(path, NULL, &error);
        w.system = w.model ? zw_system_compile(w.model, NULL, &error) : NULL;
        zw_optimum *o = w.system ? zw_optimise(w.model, w.system, NULL, &error) : NULL;
        if (!o) {
            fail_msg("%s: %s", path, error.text);
        }
        zw_optimum_report r = zw_optimum_report_of(o);
        printf("%s: %.3g after %d motions\n", of[i].file, r.cost, r.motions);
        assert_true(r.converged && r.cost < 1e-12);
        for (int k = 0; k < r.unknowns; k++) {
            zw_optimum_value x = zw_optimum_look(o, k);
            if (of[i].name && !strcmp(x.name, of[i].name)) {
                assert_true(fabs(x.value - of[i].value) < 1e-6 * of[i].value);
            }
        }
        zw_optimum_free(o);
        world_end(&w);
    }
}

/* A narrow valley: one search stops in it after some 200 or 300 motions, with a cost of 0.5 and
 * slopes that are none of a minimum; another one from there goes on. */
static void test_valley(void **state)
{
    const int motions = campaign_is_small() ? 30 : 400;
    const zw_optimise_options options = {.run = {.step = 0.02}, .motions = motions};
    zw_error error = {0};
    world w = {0};
    (void)state;
    if (!is_there()) {
        print_message("skipped: no NLopt\n");
        skip();
    }
    w.model = zw_model_read(ZW_SOURCE_DIR "/examples/bodies/pole_swings_up.zw", NULL, &error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &error) : NULL;
    zw_optimum *o = w.system ? zw_optimise(w.model, w.system, &options, &error) : NULL;
    if (!o) {
        fail_msg("%s", error.text);
    }
    zw_optimum_report r = zw_optimum_report_of(o);
    printf("a pole: %.3g after %d motions, converged %d\n", r.cost, r.motions, r.converged);
    assert_true(!r.converged && r.motions == motions);
    assert_true(r.cost < 0.45 || campaign_is_small());
    zw_optimum_free(o);
    world_end(&w);
}

/* A kilogram goes from 0 to 1 with a force that is constant in four parts of its time. With
 * c_k = T - (the middle of part k), x = sum u_k h c_k and v = sum u_k h; the least of
 * W (x - 1)^2 + W v^2 + sum h u_k^2 has u_k = -W ((x - 1) c_k + v). */
static void expect_parts(zw_optimum *o, double wide)
{
    const double W = 50, h = 0.25;
    double A = 0, B = 0;
    for (int k = 0; k < 4; k++) {
        double c = 1 - h * (k + 0.5);
        A += c * c * h;
        B += c * h;
    }
    double e = -1 / (1 + W * A - W * W * B * B / (1 + W)), v = -W * B * e / (1 + W);
    assert_int_equal(zw_optimum_report_of(o).unknowns, 4);
    for (int k = 0; k < 4; k++) {
        zw_optimum_value x = zw_optimum_look(o, k);
        double known = -W * (e * (1 - h * (k + 0.5)) + v);
        if (!(fabs(x.value - known) < wide)) {
            fail_msg("%s is %.12g, should be %.12g", x.name, x.value, known);
        }
    }
}

static void test_time(void **state)
{
    static const char text[] = "param u = 0\ncoord x = 0\nkinetic x'^2/2\nforce x: u\ncost 50*(x - "
                               "1)^2 + 50*x'^2\ncost over u^2\nrun time 1\n";
    char all[400];
    world w;
    zw_error error = {0};
    (void)state;
    if (!is_there()) {
        skip();
    }
    snprintf(all, sizeof all, "%svary u(t) = -100..100 in 4\n", text);
    zw_optimum *o = best(&w, all, &error);
    assert_non_null(o);
    expect_parts(o, 1e-5);
    assert_string_equal(zw_optimum_look(o, 1).name, "u(0.25)");
    zw_optimum_free(o);
    world_end(&w);

    snprintf(all, sizeof all, "%svary u(t) = -2..2 in 8\n", text); /* bounds hold */
    o = best(&w, all, &error);
    assert_non_null(o);
    assert_true(zw_optimum_look(o, 0).at_bound > 0);
    for (int k = 0; k < 8; k++) {
        assert_true(fabs(zw_optimum_look(o, k).value) <= 2);
    }
    zw_optimum_free(o);
    world_end(&w);

    w = (world){0}; /* a robot, by its steps */
    w.model = zw_model_read(ZW_SOURCE_DIR "/test/look/rail.zw", NULL, &error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &error) : NULL;
    o = w.system ? zw_optimise(w.model, w.system, NULL, &error) : NULL;
    if (!o) {
        fail_msg("%s", error.text);
    }
    expect_parts(o, 1e-5);
    zw_optimum_free(o);
    world_end(&w);

    snprintf(all, sizeof all, "param k = 2*u\n%svary u(t)\n", text); /* what follows from it */
    w = (world){0};
    w.model = zw_model_parse(all, "test.zw", NULL, &error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &error) : NULL;
    o = w.system ? zw_optimise(w.model, w.system, NULL, &error) : NULL;
    assert_null(o);
    assert_non_null(strstr(error.text, "function of time"));
    world_end(&w);
}

static void test_messages(void **state)
{
    static const struct {
        const char *line, *message;
        int column;
    } of[] = {{"vary q", "'q' is not known", 6},
              {"vary x", "x(0)", 6},
              {"vary x(1)", "expected (0)", 8},
              {"vary x(t)", "x(0)", 6},
              {"vary u(t) = 0..1 in 0", "whole number", 0},
              {"vary u(t) = 0..1 in 2.5", "whole number", 0},
              {"vary m = 3..1", "the lower bound is above", 10},
              {"vary m = 3", "'..'", 0},
              {"vary u, m, u", "twice", 12},
              {"vary n", "changes the structure of the model", 6},
              {"cost floor(x)", "floor", 6},
              {"cost 1 + piecewise(x > 1, x, 0)", "jumps", 0},
              {"cost x''", "acceleration", 6},
              {"cost over", "", 0}};
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char text[600];
        zw_error error = {0};
        snprintf(text, sizeof text, CART "param n = 3\nparam k[i] = i for i in 1..n\n%s\n",
                 of[k].line);
        zw_model *model = zw_model_parse(text, "test.zw", NULL, &error);
        if (model) {
            fail_msg("'%s' was read", of[k].line);
        }
        assert_int_equal(error.line, 8);
        if (!strstr(error.text, of[k].message) || (of[k].column && error.column != of[k].column)) {
            fail_msg("'%s': %d: %s", of[k].line, error.column, error.text);
        }
    }
    static const char *const none[][2] = {{CART "vary u\n", "cost"}, {CART "cost x\n", "vary"}};
    for (int k = 0; k < 2; k++) {
        world w;
        zw_error error = {0};
        assert_null(best(&w, none[k][0], &error));
        assert_int_equal(error.status, ZW_BAD_INPUT);
        assert_non_null(strstr(error.text, none[k][1]));
        world_end(&w);
    }
    world w; /* of two costs, the one that has no value is shown */
    zw_error error = {0};
    assert_null(best(&w, CART "cost x^2\ncost log(-1 - x^2)\nvary u\n", &error));
    assert_int_equal(error.status, ZW_NOT_FINITE);
    assert_non_null(strstr(error.text, "cost log(-1 - x^2)"));
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),    cmocka_unit_test(test_kinks_of_costs),
        cmocka_unit_test(test_examples), cmocka_unit_test(test_valley),
        cmocka_unit_test(test_time),     cmocka_unit_test(test_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
