/* Equilibria and modes: closed forms, the benchmark bicycle, Kapitza's pendulum. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../system/world.h"
#include "base/memory.h"
#include "system/bodies/bodies.h"
#include "zwang/modes.h"

static zw_error error;

static void near(double x, double y, double bound)
{
    if (!(fabs(x - y) <= bound * (1 + fabs(y)))) {
        fail_msg("%.17g is not %.17g", x, y);
    }
}

static zw_modes *modes_of(world *w, double period)
{
    zw_modes *modes = zw_modes_create(w->model, w->system, w->state, period, &error);
    if (!modes) {
        fail_msg("%s", error.text);
    }
    return modes;
}

static void rest(world *w)
{
    zw_rest_report report;
    if (zw_rest(w->model, w->system, w->state, w->work, NULL, &report, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
}

/* A pendulum with friction: s^2 + c/(m l^2) s + g/l = 0; once as an angle, once on a rod. */
static void test_pendulum(void **state)
{
    (void)state;
    static const char *const text[] = {
        "param m = 2, l = 0.7, g = 9.81, c = 0.3\ncoord th = 0.4\n"
        "mass m at l*(sin(th), -cos(th))\ngravity (0, -g)\nrayleigh c/2*th'^2\n",
        "param m = 2, l = 0.7, g = 9.81, c = 0.3\ncoord x = 0.3, y = -0.6\nmass m at (x, y)\n"
        "gravity (0, -g)\nconstraint rod: x^2 + y^2 = l^2\nrayleigh c/2/l^2*(x'^2 + y'^2)\n"};
    for (int k = 0; k < 2; k++) {
        world w = world_of(text[k]);
        rest(&w);
        zw_modes *modes = modes_of(&w, 0);
        double d = 0.3 / (2 * 0.49) / 2, omega = sqrt(9.81 / 0.7);
        assert_int_equal(zw_modes_count(modes), 1);
        zw_mode mode = zw_modes_look(modes, 0);
        near(mode.growth, -d, 1e-13);
        near(mode.frequency, sqrt(omega * omega - d * d), 1e-13);
        near(mode.damping, d / omega, 1e-13);
        assert_int_equal(zw_modes_stability(modes), ZW_STABLE);
        assert_true(zw_modes_unsteady(modes) < 1e-12);
        zw_modes_free(modes);
        world_end(&w);
    }
}

/* The modes of a state that is no equilibrium, nor on a steady motion, are marked: a pendulum held
 * aside, one that passes its lowest point (where nothing accelerates), one on a rod, a ball that
 * falls. A drifting one is steady. */
static void test_unsteady(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int steady;
    } all[] = {
        {"coord th = 0.4\nmass 1 at (sin(th), -cos(th))\ngravity (0, -9.81)\n", 0},
        {"coord th = 0\nspeed th' = 1\nmass 1 at (sin(th), -cos(th))\ngravity (0, -9.81)\n", 0},
        {"coord x = 0.6, y = -0.8\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
         "constraint rod: x^2 + y^2 = 1\n",
         0},
        {"coord y = 1\nmass 1 at (0, y)\ngravity (0, -9.81)\n", 0},
        {"coord x = 1, y = 0\nspeed x' = 2\nmass 1 at (x, y)\nforce y: -4*y\n", 1},
        {"coord th = 0\nmass 1 at (sin(th), -cos(th))\ngravity (0, -9.81)\n", 1},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        world w = world_of(all[k].text);
        zw_modes *modes = modes_of(&w, 0);
        double unsteady = zw_modes_unsteady(modes);
        assert_true(all[k].steady ? unsteady < 1e-14 : unsteady > 0.1);
        zw_modes_free(modes);
        world_end(&w);
    }
}

/* Over a period modes may be much faster than the period: s = -d +- i r of each oscillator. What
 * decays by more than 1e12 is lost in the error of the map. */
static void test_fast_over_period(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 0, z = 0\nmass 1 at x, 1 at y, 1 at z\nforce x: -x\n"
                       "force y: -2500*y - 2*y'\nforce z: -1e6*z - 1000*z'\n");
    zw_modes *modes = modes_of(&w, 1.5);
    assert_int_equal(zw_modes_count(modes), 4);
    zw_mode slow = zw_modes_look(modes, 0), fast = zw_modes_look(modes, 1);
    near(slow.growth, 0, 1e-9);
    near(slow.frequency, 1, 1e-9);
    near(fast.growth, -1, 1e-9);
    double turned = remainder(1.5 * sqrt(2500 - 1), 2 * acos(-1)) / 1.5;
    near(fast.frequency, fabs(turned), 1e-8);
    for (int k = 2; k < 4; k++) {
        assert_true(zw_modes_look(modes, k).growth == -INFINITY);
        assert_true(zw_modes_look(modes, k).damping == 1);
    }
    assert_int_equal(zw_modes_stability(modes), ZW_NEUTRAL);
    zw_modes_free(modes);
    assert_null(zw_modes_create(w.model, w.system, w.state, 1000, &error));
    assert_non_null(strstr(error.text, "small motions are too fast"));
    world_end(&w);
}

/* On its head: s = +- sqrt(g/l); it stays there. */
static void test_upright(void **state)
{
    (void)state;
    world w = world_of("param l = 0.5, g = 10\ncoord th = pi\nmass 1 at l*(sin(th), -cos(th))\n"
                       "gravity (0, -g)\n");
    rest(&w);
    near(world_field(&w, ZW_FIELD_Q)[0], acos(-1), 1e-12);
    zw_modes *modes = modes_of(&w, 0);
    assert_int_equal(zw_modes_count(modes), 2);
    near(zw_modes_look(modes, 0).growth, sqrt(20), 1e-12);
    near(zw_modes_look(modes, 1).growth, -sqrt(20), 1e-12);
    assert_int_equal(zw_modes_stability(modes), ZW_UNSTABLE);
    zw_modes_free(modes);
    world_end(&w);

    /* a little beside it goes down */
    w = world_of("param l = 0.5, g = 10\ncoord th = pi - 0.01\nmass 1 at l*(sin(th), -cos(th))\n"
                 "gravity (0, -g)\n");
    rest(&w);
    near(world_field(&w, ZW_FIELD_Q)[0], 0, 1e-9);
    world_end(&w);
}

/* Two equal masses on three equal springs: omega^2 = k/m, 3 k/m; shapes (1, 1) and (1, -1). */
static void test_coupled(void **state)
{
    (void)state;
    world w = world_of("param m = 2, k = 30\ncoord x = 0.1, y = -0.2\n"
                       "kinetic m/2*(x'^2 + y'^2)\npotential k/2*(x^2 + (x - y)^2 + y^2)\n");
    rest(&w);
    zw_modes *modes = modes_of(&w, 0);
    assert_int_equal(zw_modes_count(modes), 2);
    assert_int_equal(zw_modes_stability(modes), ZW_NEUTRAL);
    for (int k = 0; k < 2; k++) {
        zw_mode mode = zw_modes_look(modes, k);
        const double *shape = zw_modes_shape(modes, k);
        int slow = mode.frequency < 5;
        near(mode.growth, 0, 1e-13);
        near(mode.frequency, sqrt(slow ? 15 : 45), 1e-13);
        near(shape[0] * shape[2] + shape[1] * shape[3], slow ? 1 : -1, 1e-12);
    }
    zw_modes_free(modes);
    world_end(&w);
}

/* A chain of n equal links that hangs, redundantly closed: frequencies against the same in angles.
 */
static void test_redundant(void **state)
{
    (void)state;
    world w = world_of("coord x1 = 0.1, y1 = -1, x2 = 0.2, y2 = -2\n"
                       "mass 1 at (x1, y1), 1 at (x2, y2)\ngravity (0, -9.81)\n"
                       "constraint a: x1^2 + y1^2 = 1\nconstraint b: 2*x1^2 + 2*y1^2 = 2\n"
                       "constraint c: (x2 - x1)^2 + (y2 - y1)^2 = 1\n");
    rest(&w);
    zw_modes *modes = modes_of(&w, 0);
    assert_int_equal(zw_modes_count(modes), 2);
    for (int k = 0; k < 2; k++) { /* omega^2 = (2 -+ sqrt 2) g/l */
        double f = zw_modes_look(modes, k).frequency;
        near(f * f, (2 + (f > 4 ? 1 : -1) * sqrt(2)) * 9.81, 1e-11);
        near(zw_modes_look(modes, k).growth, 0, 1e-10);
    }
    zw_modes_free(modes);
    world_end(&w);
}

/* A mass on a floor that only pushes rests on it, and slides freely: s = 0 twice. */
static void test_contact(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 0\nmass 2 at (x, y)\ngravity (0, -10)\n"
                       "potential 4*x^2\nconstraint floor: y >= 0\n");
    rest(&w);
    zw_modes *modes = modes_of(&w, 0);
    assert_int_equal(zw_modes_count(modes), 1);
    near(zw_modes_look(modes, 0).frequency, 2, 1e-13);
    zw_modes_free(modes);
    world_end(&w);
}

/* Kapitza: with pivot a cos(w t) the upper position is stable if a^2 w^2 > 2 g l (to first order).
 * The multipliers of Mathieu's equation u'' = (g/l - a w^2/l cos(w t)) u over a period have product
 * 1; their sum is that of an integration by Taylor's series, done here in steps of its own. */
static double mathieu_trace(double g, double l, double a, double w)
{
    enum { STEPS = 4000 };
    double pi = acos(-1), T = 2 * pi / w, h = T / STEPS, trace = 0;
    for (int column = 0; column < 2; column++) {
        double u = column == 0, v = column == 1;
        for (int k = 0; k < STEPS; k++) { /* Runge-Kutta on (u, v) */
            double t = k * h, ku[4], kv[4];
            static const double at[4] = {0, 0.5, 0.5, 1};
            for (int s = 0; s < 4; s++) {
                double x = u + (s ? h * at[s] * ku[s - 1] : 0),
                       y = v + (s ? h * at[s] * kv[s - 1] : 0);
                ku[s] = y;
                kv[s] = (g / l - a * w * w / l * cos(w * (t + at[s] * h))) * x;
            }
            u += h / 6 * (ku[0] + 2 * ku[1] + 2 * ku[2] + ku[3]);
            v += h / 6 * (kv[0] + 2 * kv[1] + 2 * kv[2] + kv[3]);
        }
        trace += column == 0 ? u : v;
    }
    return trace;
}

static void test_kapitza(void **state)
{
    (void)state;
    const double omega[] = {40, 70, 90, 150}, l = 0.3, a = 0.03, g = 9.81; /* limit: 80.9 */
    for (int k = 0; k < 4; k++) {
        const zw_setting setting = {"w", omega[k]};
        world w;
        assert_true(
            world_try(&w,
                      "param l = 0.3, g = 9.81, a = 0.03, w = 150\ncoord th = pi\n"
                      "point pivot = (0, a*cos(w*t))\nmass 1 at pivot + l*(sin(th), -cos(th))\n"
                      "gravity (0, -g)\n",
                      &setting, 1, NULL));
        zw_modes *modes = modes_of(&w, 2 * acos(-1) / omega[k]);
        double trace = mathieu_trace(g, l, a, omega[k]), sum = 0;
        int stable = fabs(trace) < 2;
        assert_int_equal(stable, omega[k] * omega[k] * a * a > 2 * g * l);
        assert_int_equal(zw_modes_stability(modes), stable ? ZW_NEUTRAL : ZW_UNSTABLE);
        for (int i = 0; i < zw_modes_count(modes); i++) {
            zw_mode mode = zw_modes_look(modes, i);
            sum += mode.multiplier[1] != 0 ? 2 * mode.multiplier[0] : mode.multiplier[0];
        }
        near(sum, trace, 1e-9);
        assert_true(zw_modes_unsteady(modes) < 1e-9);
        zw_modes_free(modes);
        world_end(&w);
    }
}

/* A double pendulum of bodies, let go from the horizontal, where its field does not change to first
 * order; at rest its modes are those of M and the stiffness of its weights. */
static void test_robot(void **state)
{
    (void)state;
    world w = {0};
    w.model = zw_model_read(ZW_SOURCE_DIR "/examples/bodies/double_pendulum.xml", NULL, &error);
    w.system = zw_system_compile(w.model, NULL, &error);
    w.work = zw_work_create(w.system, &error);
    w.state = zw_state_create(w.system, w.work, NULL, &error);
    rest(&w);
    const double *q = world_field(&w, ZW_FIELD_Q), half = acos(-1) / 2;
    near(q[0], half, 1e-9);
    near(q[1], 0, 1e-9);
    zw_modes *modes = modes_of(&w, 0);
    assert_int_equal(zw_modes_count(modes), 2);
    for (int k = 0; k < 2; k++) { /* det(K - omega^2 M) = 0 with K by differences of the bias */
        double f = zw_modes_look(modes, k).frequency, det, M[3], K[4];
        near(zw_modes_look(modes, k).growth, 0, 1e-10);
        zw_forward(w.system, w.state, w.work, NULL, &error);
        memcpy(M, w.work->out[PART_TERMS] + w.system->at.M, sizeof M);
        for (int j = 0; j < 2; j++) {
            for (int i = 0; i < 2; i++) {
                K[2 * i + j] = 0;
            }
            for (int side = -1; side <= 1; side += 2) {
                double h = 1e-4, at[2] = {half, 0}, v[2] = {0, 0};
                at[j] += side * h;
                system_evaluate(w.system, w.work, PART_TERMS, 0, at, v, NULL, NULL, &error);
                for (int i = 0; i < 2; i++) {
                    K[2 * i + j] -=
                        side * w.work->out[PART_TERMS][w.system->at.force + i] / (2 * h);
                }
            }
        }
        det = (K[0] - f * f * M[0]) * (K[3] - f * f * M[2]) -
              (K[1] - f * f * M[1]) * (K[2] - f * f * M[1]);
        assert_true(fabs(det) <= 1e-6 * fabs(K[0] * K[3]));
    }
    zw_modes_free(modes);
    world_end(&w);
}

static void world_read(world *w, const char *path, const zw_setting *setting, int count)
{
    *w =
        (world){.model = zw_model_read(
                    path, &(zw_read_options){.settings = setting, .setting_count = count}, &error)};
    w->system = w->model ? zw_system_compile(w->model, NULL, &error) : NULL;
    w->work = w->system ? zw_work_create(w->system, &error) : NULL;
    w->state = w->work ? zw_state_create(w->system, w->work, &w->assembly, &error) : NULL;
    if (!w->state) {
        fail_msg("%s: %s", path, error.text);
    }
}

/* ---- A chain --------------------------------------------------------------------------------- */

/* n equal masses on n equal links: with x = w^2 l/g the mode shapes are Laguerre's polynomials, and
 * L_n(x) = 0. It is let go from the horizontal, far from rest. */
static void test_chain(void **state)
{
    (void)state;
    world w;
    double last = INFINITY, worst = 0;
    world_read(&w, ZW_SOURCE_DIR "/examples/chain.zw", NULL, 0);
    rest(&w);
    zw_modes *modes = modes_of(&w, 0);
    assert_int_equal(zw_modes_count(modes), 20);
    for (int k = 0; k < 20; k++) {
        double omega = zw_modes_look(modes, k).frequency, x = omega * omega / (20 * 9.81);
        double before = 1, now = 1 - x; /* (i + 1) L_i+1 = (2 i + 1 - x) L_i - i L_i-1 */
        for (int i = 1; i < 20; i++) {
            double next = ((2 * i + 1 - x) * now - i * before) / (i + 1);
            before = now;
            now = next;
        }
        double slope = 20 * (now - before) / x; /* x L_n' = n (L_n - L_n-1) */
        worst = fmax(worst, fabs(now / slope) / x);
        assert_true(x < last);
        last = x;
    }
    print_message("a chain of 20 links: roots of Laguerre's polynomial to %.1e\n", worst);
    assert_true(worst < 1e-8);
    zw_modes_free(modes);
    world_end(&w);
}

/* ---- The benchmark bicycle ------------------------------------------------------------------ */

/* Meijaard, Papadopoulos, Ruina and Schwab (2007): as equations, test/look/whipple_bicycle.zw, and
 * as bodies on wheels, examples/bodies/bicycle.zw.
 * The eigenvalues of the paper's table 2: weave (a pair), capsize, caster. */
static void test_bicycle(void **state)
{
    (void)state;
    static const struct {
        double v, weave_re, weave_im, capsize, caster;
    } table[] = {
        {5, -0.77534188219585, 4.46486771378823, -0.32286642900409, -14.07838969279822},
        {3, 1.70675605663975, 2.31582447384325, -2.63366137253667, -10.35101467245920},
        {8, -2.69348683581097, 8.46037971396931, 0.14327879765713, -20.27940894394569},
    };
    for (int i = 0; i < 6; i++) {
        int k = i % 3, bodies = i > 2;
        const zw_setting setting[] = {{"v", table[k].v}, {"push", 0}};
        world w;
        world_read(&w,
                   bodies ? ZW_SOURCE_DIR "/examples/bodies/bicycle.zw"
                          : ZW_SOURCE_DIR "/test/look/whipple_bicycle.zw",
                   setting, 1 + bodies);
        zw_modes *modes = modes_of(&w, 0);
        double far[3] = {1, 1, 1};
        for (int j = 0; j < zw_modes_count(modes); j++) {
            zw_mode m = zw_modes_look(modes, j);
            far[0] =
                fmin(far[0], hypot(m.growth - table[k].weave_re, m.frequency - table[k].weave_im));
            far[1] = fmin(far[1], hypot(m.growth - table[k].capsize, m.frequency));
            far[2] = fmin(far[2], hypot(m.growth - table[k].caster, m.frequency));
        }
        print_message(
            "bicycle at %g m/s, %s: weave off by %.1e, capsize %.1e, caster %.1e, unsteady %.1e\n",
            table[k].v, bodies ? "bodies" : "equations", far[0], far[1], far[2],
            zw_modes_unsteady(modes));
        assert_true(far[0] <= 1e-10 && far[1] <= 1e-10 && far[2] <= 1e-10);
        assert_int_equal(zw_modes_stability(modes), k == 0 ? ZW_NEUTRAL : ZW_UNSTABLE);
        zw_modes_free(modes);
        world_end(&w);
    }
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void test_no_memory(void **state)
{
    (void)state;
    world w = world_of("coord x = 0.6, y = -0.8\nmass 2 at (x, y)\ngravity (0, -10)\n"
                       "constraint rod: x^2 + y^2 = 1\n");
    zw_state *at = NULL;
    int done = 0;
    assert_int_equal(zw_state_copy(w.state, &at, &error), ZW_OK);
    for (int k = 1; !done && k < 5000; k += 3) {
        zw_state_copy(at, &w.state, &error);
        base_alloc_fail_after(k);
        zw_status status = zw_rest(w.model, w.system, w.state, w.work, NULL, NULL, &error);
        zw_modes *modes =
            status == ZW_OK ? zw_modes_create(w.model, w.system, w.state, 0, &error) : NULL;
        base_alloc_fail_after(0);
        done = modes != NULL;
        if (!done && error.status != ZW_NO_MEMORY) {
            fail_msg("allocation %d: %d, %s", k, error.status, error.text);
        }
        zw_modes_free(modes);
    }
    assert_true(done);
    zw_state_free(at);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum),         cmocka_unit_test(test_unsteady),
        cmocka_unit_test(test_fast_over_period), cmocka_unit_test(test_upright),
        cmocka_unit_test(test_coupled),          cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_contact),          cmocka_unit_test(test_kapitza),
        cmocka_unit_test(test_bicycle),          cmocka_unit_test(test_robot),
        cmocka_unit_test(test_no_memory),        cmocka_unit_test(test_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
