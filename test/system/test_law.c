/* The laws of Kozlov (2000): two formulations agree, motions have the required invariances, and the
 * force of a constraint agrees with the motion. */
#include "references/moving.h"

#define SKATE                                                                                      \
    "param m = 2, J = 0.3, w = 0.7\n"                                                              \
    "coord x = 0, y = 0.2, phi = 0.3\n"                                                            \
    "speed x' = 1, phi' = 0.5\n"                                                                   \
    "kinetic m/2*(x'^2 + y'^2) + J/2*phi'^2 + 0.1*x*y'*phi'\n"                                     \
    "potential -3*x + y^2/2\n"                                                                     \
    "force phi: -0.2*phi'\n"

static moving opened(const char *text)
{
    moving m;
    const char *failed = moving_open(&m, text, "test_law", NULL, 0);
    if (failed) {
        moving_complain(&m, "test_law", failed);
        fail();
    }
    return m;
}

static void run_to(moving *m, double time)
{
    const char *failed = moving_run(m, time, 1e-13);
    if (failed) {
        moving_complain(m, "test_law", failed);
        fail();
    }
}

/* Largest difference of the first n coordinates and speeds. */
static double apart(moving *a, moving *b, int n)
{
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double q = moving_field(a, ZW_FIELD_Q)[i] - moving_field(b, ZW_FIELD_Q)[i];
        double v = moving_field(a, ZW_FIELD_V)[i] - moving_field(b, ZW_FIELD_V)[i];
        worst = fmax(worst, fmax(fabs(q), fabs(v)));
    }
    return worst;
}

static void same_motion(const char *one, const char *two, int n, double time, double within)
{
    moving a = opened(one), b = opened(two);
    run_to(&a, time);
    run_to(&b, time);
    double worst = apart(&a, &b, n);
    print_message("    apart by %.1e; energy drift %.1e and %.1e\n", worst, a.summary.energy_drift,
                  b.summary.energy_drift);
    assert_true(worst <= within);
    assert_true(a.summary.energy_drift <= 1e-10 && b.summary.energy_drift <= 1e-10);
    moving_close(&a);
    moving_close(&b);
}

/* Phi = z' - f(x, y, x', y'), and nothing else holds z: its momentum lambda is constant, and the
 * rest moves freely with the Lagrangian L - lambda f. Here f is not linear in the speeds. */
static void a_cyclic_coordinate_can_be_eliminated(void **state)
{
    (void)state;
    same_motion("coord x = 1, y = 0.3, z = 0\nspeed x' = 0.4, y' = 0.9\n"
                "kinetic (x'^2 + y'^2)/2\npotential x^2 + 2*y^2\n"
                "constraint pace: z' = sqrt(1 + x'^2 + y'^2) + x*y'\n"
                "law vakonomic pace = 0.35\n",
                "coord x = 1, y = 0.3\nspeed x' = 0.4, y' = 0.9\n"
                "lagrangian (x'^2 + y'^2)/2 - x^2 - 2*y^2 - 0.35*(sqrt(1 + x'^2 + y'^2) + x*y')\n",
                2, 4, 1e-11);
}

/* Only alpha lambda and beta lambda act. */
static void the_scale_of_the_multiplier_is_free(void **state)
{
    (void)state;
#define BLADE SKATE "constraint edge: x'*sin(phi) - y'*cos(phi) = w*phi' + 0.1*sin(t)\n"
    same_motion(BLADE "law mixed alpha=1 beta=3 edge=0.6\n",
                BLADE "law mixed alpha=4 beta=12 edge=0.15\n", 3, 2, 1e-11);
}

/* The row times a factor: lambda divided by it; N divided by its square. */
static void the_scale_of_the_row_is_free(void **state)
{
    (void)state;
#define TALL SKATE "constraint edge: 10*(x'*sin(phi) - y'*cos(phi)) = 10*w*phi' + sin(t)\n"
    same_motion(BLADE "law mixed alpha=1 beta=3 edge=0.6\n",
                TALL "law mixed alpha=1 beta=3 edge=0.06\n", 3, 2, 1e-11);
    same_motion(BLADE "law penalty N=1e5 beta=2 edge=0.6\n",
                TALL "law penalty N=1e3 beta=2 edge=0.06\n", 3, 2, 1e-11);
}

/* (16), (17) written out by the user: added mass as kinetic energy, friction by Rayleigh. */
static void penalty_is_what_it_says(void **state)
{
    (void)state;
    same_motion(BLADE "law penalty N=50 beta=2\n",
                SKATE "speed y' = (sin(0.3) - w*0.5)/cos(0.3)\n"
                      "let slip = x'*sin(phi) - y'*cos(phi) - w*phi' - 0.1*sin(t)\n"
                      "kinetic 25*slip^2\nrayleigh 50*slip^2\n",
                3, 2, 1e-10);
    same_motion(BLADE "law penalty N=50 alpha=0 beta=2\n",
                SKATE "speed y' = (sin(0.3) - w*0.5)/cos(0.3)\n"
                      "rayleigh 50*(x'*sin(phi) - y'*cos(phi) - w*phi' - 0.1*sin(t))^2\n",
                3, 2, 1e-10);
}

/* The limits of the family: beta = 0 is vakonomic, alpha = 0 nonholonomic, exactly. */
static void the_ends_of_the_family(void **state)
{
    (void)state;
    same_motion(BLADE "law mixed alpha=2 beta=0 edge=0.3\n", BLADE "law vakonomic edge=0.6\n", 3, 2,
                1e-12);
    same_motion(BLADE "law mixed alpha=0 beta=7\n", BLADE, 3, 2, 0);
}

/* A holonomic row moves alike under all laws, however it is written. */
static void integrable_rows_do_not_care(void **state)
{
    (void)state;
#define BEAD                                                                                       \
    "coord x = 1, y = 0, z = 0\nspeed y' = 1, z' = 0.5\nkinetic (x'^2+y'^2+z'^2)/2\n"              \
    "potential 3*y + z^2\nconstraint cylinder: x^2 + y^2 = 1\n"
    same_motion(BEAD "constraint screw: z' = y'*cos(y)\n",
                BEAD "constraint screw: z' = y'*cos(y)\nlaw vakonomic screw = 0.4\n", 3, 3, 1e-11);
}

/* The force of the constraint is the whole of (18): what is left of [T] when the applied forces are
 * taken away, M and F written out by hand. */
static void the_force_is_the_whole_of_18(void **state)
{
    const char *const law[] = {"law vakonomic edge=0.5\n", "law mixed alpha=2 beta=0.7 edge=0.5\n",
                               "law penalty N=30 alpha=2 beta=0.7 edge=0.5\n",
                               "law penalty N=30 alpha=0 beta=0.7 edge=0.5\n", ""};
    (void)state;
    for (int k = 0; k < 5; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 SKATE "constraint edge: x'*sin(phi) - y'*cos(phi) + 0.2*x'^2*y = w*phi'\n%s",
                 law[k]);
        moving held = opened(text);
        run_to(&held, 0.7);
        const double *q = moving_field(&held, ZW_FIELD_Q), *a = moving_field(&held, ZW_FIELD_A);
        const double *v = moving_field(&held, ZW_FIELD_V);
        double force[3], sum[3];
        assert_int_equal(zw_constraint_force(held.system, held.work, 0, force), ZW_OK);
        /* T = m/2 (x'^2 + y'^2) + J/2 phi'^2 + 0.1 x y' phi' */
        sum[0] = 2 * a[0] - 0.1 * v[1] * v[2] - 3;
        sum[1] = 2 * a[1] + 0.1 * (v[0] * v[2] + q[0] * a[2]) + q[1];
        sum[2] = 0.3 * a[2] + 0.1 * (v[0] * v[1] + q[0] * a[1]) + 0.2 * v[2];
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(sum[i] - force[i]) <= 1e-11 * (1 + fabs(force[i])));
        }
        moving_close(&held);
    }
}

/* What cannot be is refused by name. */
static void nonsense_is_refused(void **state)
{
    const struct {
        const char *text, *says;
    } wrong[] = {
        {"coord x = 1\nkinetic x'^2/2\nlaw vakonomic\n", "no constraint here has speeds"},
        {"coord x = 1, y = 1\nkinetic (x'^2 + y'^2)/2\nconstraint c: x' = y\n"
         "constraint f: x >= 0\nlaw vakonomic\n",
         "inequalities or friction: see f"},
        {"coord x = 1, y = 1\nconstraint c: x' = y\nlaw vakonomic\n", "systems with masses"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        moving m;
        const char *failed = moving_open(&m, wrong[i].text, "test_law", NULL, 0);
        assert_non_null(failed);
        if (!strstr(m.error.text, wrong[i].says)) {
            fail_msg("%s", m.error.text);
        }
        moving_close(&m);
    }
    moving m = opened("coord x = 1, y = 1\nkinetic (x'^2 + y'^2)/2\nconstraint c: x' = y\n"
                      "law vakonomic\n");
    zw_run_options options = {.time = 1, .method = ZW_METHOD_VARIATIONAL, .step = 0.01};
    assert_int_equal(zw_run(m.system, m.state, m.work, &options, &m.summary, &m.error),
                     ZW_BAD_INPUT);
    moving_close(&m);
}

/* lambda against the curvature of T: T + lambda Phi has x'^2 (1/2 - lambda), no metric for lambda >
 * 1/2. But y is cyclic, P = y' + lambda constant, and x moves freely with the Lagrangian x'^2/2 +
 * x'^4/2 - V - P x'^2: Legendre's condition is 1 - 2 P + 6 x'^2 > 0. */
static void legendre(void **state)
{
    (void)state;
#define CURVED "coord x = 0, y = 0\nspeed x' = 1\nkinetic (x'^2 + y'^2)/2\npotential 0.3*x^2\n"
    moving m;
    moving_open(&m, CURVED "constraint c: y' = x'^2\nlaw vakonomic c = 4\n", "test_law", NULL, 0);
    zw_status status =
        m.state ? zw_forward(m.system, m.state, m.work, NULL, &m.error) : m.error.status;
    assert_int_equal(status, ZW_NOT_A_METRIC);
    assert_non_null(strstr(m.error.text, "Legendre"));
    moving_close(&m);
    same_motion(CURVED "constraint c: y' = x'^2\nlaw vakonomic c = 1.5\n",
                "coord x = 0\nspeed x' = 1\n"
                "lagrangian x'^2/2 - 2.5*x'^2 + x'^4/2 - 0.3*x^2\n",
                1, 0.5, 1e-11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cyclic_coordinate_can_be_eliminated),
        cmocka_unit_test(the_scale_of_the_multiplier_is_free),
        cmocka_unit_test(the_scale_of_the_row_is_free),
        cmocka_unit_test(penalty_is_what_it_says),
        cmocka_unit_test(the_ends_of_the_family),
        cmocka_unit_test(integrable_rows_do_not_care),
        cmocka_unit_test(the_force_is_the_whole_of_18),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(legendre),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
