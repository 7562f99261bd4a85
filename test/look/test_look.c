/* Laws of zwang/look.h: frames, masses, forces and momenta are consistent with each other, for
 * robots and for equations; compare_look.mjs compares with MuJoCo. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../system/numbers.h"
#include "../system/world.h"
#include "base/memory.h"
#include "zwang/look.h"

static zw_error error;

static void near(double x, double y, double bound)
{
    if (!(fabs(x - y) <= bound * (1 + fabs(y)))) {
        fail_msg("%.17g is not %.17g", x, y);
    }
}

static double times(const double *row, const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += row[i] * v[i];
    }
    return sum;
}

/* ---- Equations ------------------------------------------------------------------------------ */

/* A pendulum of length l on a pivot that is moved: (s(t), 0) + l (sin th, -cos th). */
static void test_points(void **state)
{
    (void)state;
    world w = world_of("param l = 0.7, m = 2, g = 9.81\n"
                       "coord th = 0.4\nspeed th' = 1.3\n"
                       "point pivot = (0.1*sin(3*t), 0)\n"
                       "point bob = pivot + l*(sin(th), -cos(th))\n"
                       "mass m at bob\ngravity (0, -g)\n");
    zw_probe *probe = zw_probe_create(w.model, w.system, &error);
    zw_frame bob;
    zw_frame_motion now;
    double J[3], a = 0.9, l = 0.7, th = 0.4, rate = 1.3;
    assert_non_null(probe);
    assert_int_equal(zw_point_count(probe), 2);
    assert_int_equal(zw_frame_find(probe, "bob", &bob, &error), ZW_OK);
    assert_int_equal(zw_frame_look(probe, w.state, &bob, 1, &a, &now, &error), ZW_OK);
    assert_int_equal(zw_frame_jacobian(probe, w.state, &bob, J, NULL, &error), ZW_OK);
    assert_int_equal(now.dimension, 2);
    near(now.pos[0], l * sin(th), 1e-15);
    near(now.velocity[0], 0.3 + l * cos(th) * rate, 1e-15);
    near(now.velocity[1], l * sin(th) * rate, 1e-15);
    near(now.acceleration[0], l * cos(th) * a - l * sin(th) * rate * rate, 1e-15);
    near(now.acceleration[1], l * sin(th) * a + l * cos(th) * rate * rate, 1e-15);
    near(J[0], l * cos(th), 1e-15);
    near(J[1], l * sin(th), 1e-15);
    assert_int_equal(zw_frame_jacobian(probe, w.state, &bob, J, J, &error), ZW_BAD_INPUT);

    /* L = m/2 (l^2 th'^2 + 2 l cos(th) th' s') + m g l cos(th), s' = 0.3 cos 3t */
    double force, p, M;
    assert_int_equal(zw_mass(probe, w.state, &M, &error), ZW_OK);
    near(M, 2 * l * l, 1e-15);
    assert_int_equal(zw_momenta(probe, w.state, &p, &error), ZW_OK);
    near(p, 2 * (l * l * rate + l * cos(th) * 0.3), 1e-15);
    assert_int_equal(zw_force_look(probe, w.state, ZW_FORCE_POTENTIAL, &force, &error), ZW_OK);
    near(force, -2 * 9.81 * l * sin(th), 1e-14);
    assert_int_equal(zw_force_look(probe, w.state, ZW_FORCE_GRAVITY, &force, &error), ZW_BAD_INPUT);
    zw_probe_free(probe);
    world_end(&w);
}

static void test_equation_rows(void **state)
{
    (void)state;
    world w = world_of("param m = 1, g = 9.81\ncoord x = 0.6, y = -0.8\nspeed x' = 0.8, y' = 0.6\n"
                       "mass m at (x, y)\ngravity (0, -g)\nconstraint rod: x^2 + y^2 = 1\n");
    zw_probe *probe = zw_probe_create(w.model, w.system, &error);
    double A[2], b, phi, psi;
    assert_int_equal(zw_rows_look(probe, w.state, A, &b, &phi, &psi, &error), ZW_OK);
    near(A[0], 1.2, 1e-15);
    near(A[1], -1.6, 1e-15);
    near(b, -2, 1e-15); /* x x'' + y y'' = -(x'^2 + y'^2), times 2 */
    near(phi, 0, 1e-15);
    near(psi, 0, 1e-15);
    zw_probe_free(probe);
    world_end(&w);
}

/* ---- Robots --------------------------------------------------------------------------------- */

/* J v is the velocity, J a + (dJ/dt) v the acceleration; the same of the centre of mass. */
static void check_frames(const numbers *x, zw_probe *probe, double *scratch)
{
    int n = x->system->n;
    for (int i = 0; i < x->bodies; i++) {
        zw_frame frame = {.body = i, .pos = {0.1, -0.2, 0.3}, .quat = {1, 0, 0, 0}};
        zw_frame_motion now, bias;
        zw_momentum sum;
        assert_int_equal(zw_frame_look(probe, x->state, &frame, 1, x->a, &now, &error), ZW_OK);
        assert_int_equal(zw_frame_look(probe, x->state, &frame, 1, NULL, &bias, &error), ZW_OK);
        assert_int_equal(
            zw_frame_jacobian(probe, x->state, &frame, scratch, scratch + 3 * n, &error), ZW_OK);
        for (int k = 0; k < 3; k++) {
            const double *J = scratch + k * n, *turn = scratch + (3 + k) * n;
            near(times(J, x->v, n), now.velocity[k], 1e-12);
            near(times(turn, x->v, n), now.spin[k], 1e-12);
            near(times(J, x->a, n) + bias.acceleration[k], now.acceleration[k], 1e-11);
            near(times(turn, x->a, n) + bias.spin_rate[k], now.spin_rate[k], 1e-11);
        }
        assert_int_equal(zw_momentum_look(probe, x->state, i, &sum, &error), ZW_OK);
        assert_int_equal(zw_momentum_jacobian(probe, x->state, i, scratch, scratch + 3 * n, &error),
                         ZW_OK);
        for (int k = 0; k < 3 && sum.mass > 0; k++) {
            near(times(scratch + k * n, x->v, n), sum.velocity[k], 1e-12);
            near(times(scratch + (3 + k) * n, x->v, n), sum.spin[k], 1e-12);
        }
    }
}

static void check_masses(const numbers *x, zw_probe *probe, double *scratch)
{
    int n = x->system->n;
    double *y = scratch + 3 * n;
    assert_int_equal(zw_mass_times(probe, x->state, x->v, scratch, &error), ZW_OK);
    assert_int_equal(zw_momenta(probe, x->state, y, &error), ZW_OK);
    for (int i = 0; i < n; i++) {
        near(scratch[i], y[i], 1e-13);
    }
    assert_int_equal(zw_mass_solve(probe, x->state, scratch, scratch, &error), ZW_OK);
    for (int i = 0; i < n; i++) {
        near(scratch[i], x->v[i], 1e-9);
    }
}

/* Parts add up to the whole, and the whole to M a where nothing else acts. */
static void check_forces(const numbers *x, zw_probe *probe, double *scratch)
{
    static const zw_force part[] = {ZW_FORCE_SPEEDS,  ZW_FORCE_GRAVITY, ZW_FORCE_SPRING,
                                    ZW_FORCE_PASSIVE, ZW_FORCE_MOTOR,   ZW_FORCE_POTENTIAL,
                                    ZW_FORCE_APPLIED, ZW_FORCE_ALL};
    int n = x->system->n;
    double *Ma = scratch + 8 * n, size = 1;
    for (int k = 0; k < 8; k++) {
        assert_int_equal(zw_force_look(probe, x->state, part[k], scratch + k * n, &error), ZW_OK);
        for (int i = 0; i < n; i++) {
            size = fmax(size, fabs(scratch[k * n + i]));
        }
    }
    assert_int_equal(zw_mass_times(probe, x->state, x->a, Ma, &error), ZW_OK);
    for (int i = 0; i < n; i++) {
        const double *f = scratch + i;
        near((f[n] + f[2 * n]) / size, f[5 * n] / size, 1e-13);
        near((f[3 * n] + f[4 * n]) / size, f[6 * n] / size, 1e-13);
        near((f[0] + f[5 * n] + f[6 * n]) / size, f[7 * n] / size, 1e-13);
        near(Ma[i] / size, f[7 * n] / size, 1e-10);
    }
}

static void test_robots(void **state)
{
    (void)state;
    static const char *const file[] = {
        "examples/bodies/humanoid.xml", "examples/bodies/quadruped.xml",
        "examples/bodies/arm.xml",      "examples/bodies/stewart.xml",
        "test/read/mjcf/joints.xml",    "test/read/mjcf/drives.xml"};
    for (size_t f = 0; f < sizeof file / sizeof *file; f++) {
        char path[400];
        numbers x;
        snprintf(path, sizeof path, "%s/%s", ZW_SOURCE_DIR, file[f]);
        zw_model *model = zw_model_read(path, NULL, &error);
        assert_true(numbers_open(&x, model, &error));
        zw_probe *probe = zw_probe_create(x.model, x.system, &error);
        double *scratch = calloc(10 * (size_t)x.system->n + 10, sizeof *scratch);
        assert_non_null(probe);
        for (int k = 0; k < 3; k++) {
            numbers_draw(&x);
            assert_true(numbers_compute(&x, &error));
            check_frames(&x, probe, scratch);
            check_masses(&x, probe, scratch);
            check_forces(&x, probe, scratch);
        }
        free(scratch);
        zw_probe_free(probe);
        numbers_close(&x);
    }
}

/* ---- What cannot be ------------------------------------------------------------------------- */

static const char arm[] = "<mujoco><worldbody><body name='arm'><joint type='hinge' axis='0 1 0'/>"
                          "<geom name='rod' type='capsule' fromto='0 0 0 1 0 0' size='.02'/>"
                          "<site name='hand' pos='1 0 0'/></body></worldbody></mujoco>";

static void test_bad_input(void **state)
{
    (void)state;
    zw_model *model = zw_model_parse(arm, "arm.xml", NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *s = work ? zw_state_create(system, work, NULL, &error) : NULL;
    if (!s) {
        print_message("skipped: %s\n", error.text);
        zw_model_free(model);
        return;
    }
    zw_probe *probe = zw_probe_create(model, system, &error);
    zw_frame frame;
    zw_frame_motion now;
    zw_momentum sum;
    assert_int_equal(zw_frame_find(probe, "hand", &frame, &error), ZW_OK);
    near(frame.pos[0], 1, 0);
    assert_int_equal(zw_frame_find(probe, "com arm", &frame, &error), ZW_OK);
    near(frame.pos[0], 0.5, 1e-14);
    assert_int_equal(zw_frame_find(probe, "geom rod", &frame, &error), ZW_OK);
    assert_int_equal(zw_frame_find(probe, "geom hand", &frame, &error), ZW_BAD_INPUT);
    assert_int_equal(zw_frame_find(probe, "han", &frame, &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "did you mean site hand"));
    frame = (zw_frame){.body = 7};
    assert_int_equal(zw_frame_look(probe, s, &frame, 1, NULL, &now, &error), ZW_BAD_INPUT);
    frame = (zw_frame){.body = -1};
    assert_int_equal(zw_frame_look(probe, s, &frame, 1, NULL, &now, &error), ZW_BAD_INPUT);
    assert_int_equal(zw_momentum_look(probe, s, 2, &sum, &error), ZW_BAD_INPUT);
    zw_probe_free(probe);
    zw_state_free(s);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
}

/* Every allocation may fail. */
static void test_memory(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 0\npoint p = (x, y*x)\nmass 1 at p\nkinetic y'^2\n");
    zw_probe *probe = NULL;
    int k = 0;
    while (!probe && k++ < 1000) {
        base_alloc_fail_after(k);
        probe = zw_probe_create(w.model, w.system, &error);
        base_alloc_fail_after(0);
        assert_true(probe || error.status == ZW_NO_MEMORY);
    }
    assert_true(probe && k > 5);
    zw_probe_free(probe);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points), cmocka_unit_test(test_equation_rows),
        cmocka_unit_test(test_robots), cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
