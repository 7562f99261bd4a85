/* The principle on systems written as text: known accelerations and forces, equal formulations,
 * minimality, the energy theorem, rank, and error messages. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "system/system.h"
#include "system/world.h"

static void near(double x, double y, double tolerance)
{
    if (!(fabs(x - y) <= tolerance * (1 + fabs(y)))) {
        print_error("%.17g is not %.17g (off by %.2g)\n", x, y, fabs(x - y));
        fail();
    }
}

/* ---- Known answers -------------------------------------------------------------------------- */

/* th'' = -g/l sin th, tension m (l th'^2 + g cos th), in Cartesian coordinates. */
static void test_pendulum_at_an_instant(void **state)
{
    (void)state;
    double th = 0.7, om = 1.3, l = 1.5, m = 2, g = 9.81;
    world w = world_of("param m = 2, g = 9.81, l = 1.5, th = 0.7, om = 1.3\n"
                       "coord x = l*sin(th), y = -l*cos(th)\n"
                       "speed x' = l*cos(th)*om\n"
                       "kinetic m/2*(x'^2 + y'^2)\n"
                       "potential m*g*y\n"
                       "constraint rod: x^2 + y^2 = l^2\n");
    world_forward(&w);
    const double *a = world_field(&w, ZW_FIELD_A), *v = world_field(&w, ZW_FIELD_V);
    double tension = m * (l * om * om + g * cos(th)), acc = -g / l * sin(th);
    near(v[1], l * sin(th) * om, 1e-14);
    near(a[0], l * cos(th) * acc - l * sin(th) * om * om, 1e-13);
    near(a[1], l * sin(th) * acc + l * cos(th) * om * om, 1e-13);
    near(world_field(&w, ZW_FIELD_LAMBDA)[0] * 2 * l, -tension, 1e-13);
    double force[2];
    assert_int_equal(zw_constraint_force(w.system, w.work, 0, force), ZW_OK);
    near(hypot(force[0], force[1]), tension, 1e-13);
    assert_true(zw_work_motion(w.work)->certificate.worst < 1e-13);
    world_end(&w);
}

/* Cardin-Zanzotto (1989): K need not be quadratic. K = v^2/2 + c v^4/4 on the unit circle:
 * (1 + 3 c th'^2) th'' = -g cos th. */
static void test_nonquadratic_energy(void **state)
{
    (void)state;
    double th = -1, om = 0.8, c = 0.5, g = 3;
    world w = world_of("param c = 0.5, g = 3\n"
                       "coord x = cos(-1), y = sin(-1)\n"
                       "speed x' = -0.8*sin(-1), y' = 0.8*cos(-1)\n"
                       "kinetic (x'^2+y'^2)/2 + c*(x'^2+y'^2)^2/4\n"
                       "potential g*y\n"
                       "constraint ring: x^2 + y^2 = 1\n");
    world_forward(&w);
    const double *a = world_field(&w, ZW_FIELD_A);
    double acc = -g * cos(th) / (1 + 3 * c * om * om);
    near(a[0], -sin(th) * acc - cos(th) * om * om, 1e-13);
    near(a[1], cos(th) * acc - sin(th) * om * om, 1e-13);
    near(world_field(&w, ZW_FIELD_ENERGY)[0],
         om * om / 2 + 0.75 * c * om * om * om * om + g * sin(th), 1e-13);
    world_end(&w);
}

/* ---- Two formulations ----------------------------------------------------------------------- */

/* A Randers particle on a curve: the constraint in the plane (Gauss), and the curve's own
 * coordinate (d'Alembert, Cardin-Zanzotto 1989): the same acceleration. */
static void test_gauss_is_dalembert(void **state)
{
    (void)state;
    world w = world_of("param w = 0.4, s = 0.3, u = 1.7\n"
                       "coord x = s, y = s^2 - s^3/3\n"
                       "speed x' = u\n"
                       "let F = sqrt(x'^2 + y'^2) + w*x'\n"
                       "kinetic F^2\n"
                       "potential 2*y + x*y\n"
                       "force x: -0.1*x', y: 0.2*x\n"
                       "constraint curve: y = x^2 - x^3/3\n");
    world r = world_of("param w = 0.4\n"
                       "coord s = 0.3\n"
                       "speed s' = 1.7\n"
                       "imbed x = s, y = s^2 - s^3/3\n"
                       "let F = sqrt(x'^2 + y'^2) + w*x'\n"
                       "kinetic F^2\n"
                       "potential 2*y + x*y\n"
                       "force (-0.1*x', 0.2*x) at (x, y)\n");
    world_forward(&w);
    world_forward(&r);
    near(world_field(&w, ZW_FIELD_A)[0], world_field(&r, ZW_FIELD_A)[0], 1e-12);
    near(world_field(&w, ZW_FIELD_ENERGY)[0], world_field(&r, ZW_FIELD_ENERGY)[0], 1e-13);
    world_end(&w);
    world_end(&r);
}

/* Any other admissible acceleration has a larger Z. */
static void test_least_constraint(void **state)
{
    (void)state;
    world w = world_of("param m = 2\n"
                       "coord x = 1, y = 0.5, z = 0.2\n"
                       "speed x' = 0.4, y' = -1\n"
                       "kinetic m/2*(x'^2+y'^2) + z'^2*(1 + x^2)/2 + 0.3*x'*z'\n"
                       "potential 9.81*z + x*y\n"
                       "constraint roll: z' = y*x' - x*y'\n");
    world_forward(&w);
    const zw_motion *motion = zw_work_motion(w.work);
    const double *a = motion->a, *free = world_field(&w, ZW_FIELD_A_FREE);
    double M[3][3] = {{2, 0, 0.3}, {0, 2, 0}, {0.3, 0, 2}}, row[3] = {-0.5, 1, 1};
    for (int trial = 0; trial < 50; trial++) {
        double d[3] = {sin(3 * trial + 1), cos(7 * trial), 0};
        double Z = 0, Z_min = 0;
        d[2] = -(row[0] * d[0] + row[1] * d[1]) / row[2];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                Z_min += (a[i] - free[i]) * M[i][j] * (a[j] - free[j]) / 2;
                Z += (a[i] + d[i] - free[i]) * M[i][j] * (a[j] + d[j] - free[j]) / 2;
            }
        }
        near(Z_min, motion->Z, 1e-12);
        assert_true(Z > Z_min);
    }
    world_end(&w);
}

/* A chain through the dense and through the sparse algebra. */
static void make_sparse(zw_system *system)
{
    system->sparse = 1;
}

static void test_dense_is_sparse(void **state)
{
    (void)state;
    const char *text = "param n = 12, l = 1/n\n"
                       "coord x[i] = i*l, y[i] = 0.02*i^2*l for i in 1..n\n"
                       "point p[0] = (0,0)\n"
                       "point p[i] = (x[i], y[i]) for i in 1..n\n"
                       "mass 1/n at p[i] for i in 1..n\n"
                       "gravity (0, -9.81)\n"
                       "constraint link[i]: |p[i] - p[i-1]| = l for i in 1..n\n";
    world d = world_of(text), s;
    assert_true(world_try(&s, text, NULL, 0, make_sparse));
    world_run(&d, 0.3, 1e-11);
    world_run(&s, 0.3, 1e-11);
    for (int i = 0; i < 24; i++) {
        near(world_field(&d, ZW_FIELD_Q)[i], world_field(&s, ZW_FIELD_Q)[i], 1e-9);
    }
    world_end(&d);
    world_end(&s);
}

/* ---- Energy --------------------------------------------------------------------------------- */

/* E - E0 equals the integrated work, whatever does it: Cardin-Zanzotto (1989), eq. (3.14). */
static void test_energy_theorem(void **state)
{
    (void)state;
    static const char *const text[] = {
        "coord x = 1\nkinetic x'^2/2\npotential x^2/2\nforce x: cos(3*t) - 0.2*x'\n",
        "coord x = 1, y = 0\nkinetic (x'^2+y'^2)/2\npotential 9.81*y\nrayleigh 0.1*x'^2\n"
        "constraint wire: y*cos(2*t) = x*sin(2*t)\n",
        "coord x = 0.2\nspeed x' = 1\nlagrangian (1 + 0.3*sin(t))*x'^2/2 - x^4\n",
        "coord x = -1, z = 1\nspeed x' = 0.5\nkinetic x'^2 + z'^2\npotential 19.62*z\n"
        "constraint wire: z = x^2\nfriction wire: 0.2 at (x, z)\n",
        "coord x = 0, y = 0, z = 0\nspeed x' = 1, y' = 0.5\nkinetic (x'^2+y'^2+z'^2)/2\n"
        "potential 3*z + x^2\nconstraint drag: z' = 0.5*(x'^2+y'^2)\n",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        world w = world_of(text[i]);
        zw_run_summary summary = world_run(&w, 0.7, 1e-12);
        assert_true(fabs(summary.work) > 1e-3);
        near(summary.energy_end - summary.energy_start, summary.work, 1e-10);
        assert_true(summary.energy_drift < 1e-10);
        world_end(&w);
    }
}

/* ---- Rank, assembly, errors ----------------------------------------------------------------- */

static void test_redundant_rows_by_name(void **state)
{
    (void)state;
    world w = world_of("coord x = 0.6, y = -0.8\n"
                       "kinetic (x'^2+y'^2)/2\npotential 9.81*y\n"
                       "constraint rod: x^2 + y^2 = 1\n"
                       "constraint again: |(x, y)| = 1\n");
    world_forward(&w);
    const zw_motion *motion = zw_work_motion(w.work);
    assert_int_equal(motion->rank, 1);
    assert_int_equal(motion->redundant_count, 1);
    assert_string_equal(zw_work_block_name(w.work, motion->redundant[0]), "again");
    world_end(&w);
}

static void test_conflict_by_name(void **state)
{
    (void)state;
    world w;
    assert_false(world_try(&w,
                           "coord x = 1, y = 0\nkinetic (x'^2+y'^2)/2\n"
                           "constraint here: x = 1\nconstraint there: x = 2\n",
                           NULL, 0, NULL));
    assert_int_equal(w.error.status, ZW_CONFLICT);
    assert_non_null(strstr(w.error.text, "here"));
    world_end(&w);
}

static void test_unheld_coordinate_by_name(void **state)
{
    (void)state;
    world w = world_of("coord x = 1, ghost = 0\nkinetic x'^2/2\n");
    assert_int_equal(zw_forward(w.system, w.state, w.work, NULL, &w.error), ZW_UNDETERMINED);
    assert_non_null(strstr(w.error.text, "ghost"));
    world_end(&w);
}

static void test_assembly_says_what_it_changed(void **state)
{
    (void)state;
    world w = world_of("coord x = 1.1, y = 0\nspeed y' = 2, x' = 1\nkinetic (x'^2+y'^2)/2\n"
                       "constraint rod: x^2 + y^2 = 1\n");
    near(w.assembly.position_change, 0.1, 1e-12);
    assert_int_equal(w.assembly.position_coord, 0);
    near(w.assembly.speed_change, 1, 1e-12);
    assert_int_equal(w.assembly.speed_coord, 0);
    near(w.assembly.violation_before, 2.2, 1e-12);
    assert_true(w.assembly.violation_after < 1e-14);
    near(world_field(&w, ZW_FIELD_V)[1], 2, 1e-14);
    world_end(&w);
}

/* Given speeds stay, the others follow: the sleigh's blade. */
static void test_speeds_that_follow(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 0, th = 0.3\nspeed x' = 1, th' = 2\n"
                       "kinetic (x'^2+y'^2)/2 + 0.15*th'^2\n"
                       "constraint blade: y'*cos(th) - x'*sin(th) = 0.2*th'\n");
    const double *v = world_field(&w, ZW_FIELD_V);
    near(v[0], 1, 1e-15);
    near(v[2], 2, 1e-15);
    near(v[1], (0.2 * 2 + sin(0.3)) / cos(0.3), 1e-14);
    assert_true(w.assembly.speed_change < 1e-14);
    world_end(&w);
}

static void test_singularity_by_place(void **state)
{
    (void)state;
    world w;
    assert_true(world_try(&w, "coord x = 0\nkinetic x'^2/2\nlet bell = sin(x)/x\npotential bell\n",
                          NULL, 0, NULL));
    assert_int_equal(zw_forward(w.system, w.state, w.work, NULL, &w.error), ZW_NOT_FINITE);
    assert_int_equal(w.error.line, 3);
    assert_non_null(strstr(w.error.text, "t = 0"));
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum_at_an_instant),
        cmocka_unit_test(test_nonquadratic_energy),
        cmocka_unit_test(test_gauss_is_dalembert),
        cmocka_unit_test(test_least_constraint),
        cmocka_unit_test(test_dense_is_sparse),
        cmocka_unit_test(test_energy_theorem),
        cmocka_unit_test(test_redundant_rows_by_name),
        cmocka_unit_test(test_conflict_by_name),
        cmocka_unit_test(test_unheld_coordinate_by_name),
        cmocka_unit_test(test_assembly_says_what_it_changed),
        cmocka_unit_test(test_speeds_that_follow),
        cmocka_unit_test(test_singularity_by_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
