/* The variational integrator: orders, constraints, and energy without a slope. */
#include "step/integrate.h"

#include "base/memory.h"
#include "scene/campaign.h"
#include "step/mechanics.h"

#include <stdlib.h>
#include <string.h>

static stepper *make(mechanics *s, step_method method, double h, const double *y)
{
    step_lagrangian lagrangian = mechanics_lagrangian(s);
    step_ode_options options = {.method = method,
                                .n = 2 * s->n,
                                .field = mechanics_no_field,
                                .user = s,
                                .step = h,
                                .lagrangian = &lagrangian};
    return begin(&options, 0.0, y);
}

static const double pendulum_y[4] = {0.9092974268256817, 0.4161468365471424, 0.0, 0.0}; /* 2 rad */
static const double angles_y[4] = {1.0, 0.5, 0.0, 0.0};

static void two_points_start(double *y)
{
    memset(y, 0, 8 * sizeof *y);
    y[0] = sin(angles_y[0]);
    y[1] = -cos(angles_y[0]);
    y[2] = y[0] + sin(angles_y[1]);
    y[3] = y[1] - cos(angles_y[1]);
}

/* ---- Orders ---------------------------------------------------------------------------------- */

/* Against DOP853 on `field` if there is one, else against the method of order 4 with short steps.
 */
static void check_order(const char *name, mechanics s, step_field *field, const double *y,
                        double end, step_method method, int first)
{
    enum { COUNT = 5 };
    double h[COUNT], error[COUNT], wanted[2 * MECHANICS_MOST];
    int n = 2 * s.n, order = method == STEP_VARIATIONAL ? 2 : 4;
    step_ode_options exact = {.n = n, .field = field, .tolerance = 1e-14};
    stepper *ode =
        field != NULL ? begin(&exact, 0.0, y) : make(&s, STEP_VARIATIONAL4, end / (32 * 16), y);
    go(ode, end);
    memcpy(wanted, stepper_look(ode)->y, (size_t)n * sizeof(double));
    stepper_free(ode);
    for (int k = 0; k < COUNT; k++) {
        h[k] = end / (first << k);
        ode = make(&s, method, h[k], y);
        go(ode, end);
        error[k] = distance(n, stepper_look(ode)->y, wanted);
        stepper_free(ode);
    }
    print_message("%s: errors %.1e .. %.1e, order %.3f\n", name, error[0], error[COUNT - 1],
                  observed_order(COUNT, h, error));
    assert_near(observed_order(COUNT, h, error), order, 0.1);
}

static void orders(void **state)
{
    (void)state;
    double points[8], planet[4];
    two_points_start(points);
    kepler_start(0.3, planet);
    for (step_method m = STEP_VARIATIONAL; m <= STEP_VARIATIONAL4; m++) {
        int first = m == STEP_VARIATIONAL ? 60 : 32;
        check_order("pendulum", pendulum(), pendulum_field, pendulum_y, 1.0, m, first);
        check_order("two points", two_points(), NULL, points, 1.0, m, 20);
        check_order("angles", angles(), angles_field, angles_y, 1.0, m, first);
        check_order("kepler", kepler(), kepler_field, planet, 3.0, m, first);
    }
}

/* The double pendulum in points and in angles is the same motion. */
static void points_and_angles_agree(void **state)
{
    (void)state;
    double y[8];
    two_points_start(y);
    mechanics a = two_points(), b = angles();
    stepper *points = make(&a, STEP_VARIATIONAL4, 0.001, y);
    stepper *turns = make(&b, STEP_VARIATIONAL4, 0.001, angles_y);
    go(points, 2.0);
    go(turns, 2.0);
    const double *q = stepper_look(turns)->y;
    const double wanted[2] = {sin(q[0]), -cos(q[0])};
    assert_small(distance(2, stepper_look(points)->y, wanted), 1e-9);
    stepper_free(points);
    stepper_free(turns);
}

/* ---- Energy ---------------------------------------------------------------------------------- */

typedef struct drift {
    double most; /* largest |E - E0| */
    double slope,
        doubt; /* energy gained over the whole run by a fitted line, and its standard error */
    double violation; /* of positions and velocities */
    double solves;    /* per step */
} drift;

/* Means of E over BLOCKS pieces of the run, and a line through them. The means are weighted by
 * sin^4 over the piece, so that it hardly matters in which phase of its swing the energy was at the
 * ends of the piece. */
static drift run_long(mechanics s, step_method method, double h, long steps, const double *y)
{
    enum { BLOCKS = 100 };
    drift d = {0};
    double mean[BLOCKS] = {0}, sx = 0, sy = 0, sxx = 0, sxy = 0, rest = 0;
    double E0 = s.energy(0.0, y, y + s.n), r[MECHANICS_MOST] = {0};
    zw_error error = {0};
    stepper *ode = make(&s, method, h, y);
    const stepper_view *view = stepper_look(ode);
    for (int b = 0; b < BLOCKS; b++) {
        double total = 0.0;
        for (long k = 0; k < steps / BLOCKS; k++) {
            double weight = pow(sin(acos(-1.0) * ((double)k + 0.5) / (double)(steps / BLOCKS)), 4);
            assert_fine(stepper_advance(ode, 1e300, &error));
            double E = s.energy(0.0, view->y, view->y + s.n) - E0;
            mean[b] += weight * E;
            total += weight;
            d.most = fmax(d.most, fabs(E));
            for (int i = 0; i < 2 && s.m > 0; i++) {
                if (i == 0) {
                    s.position(view->t, view->y, r);
                } else {
                    s.velocity(view->t, view->y, view->y + s.n, r);
                }
                for (int j = 0; j < s.m; j++) {
                    d.violation = fmax(d.violation, fabs(r[j]));
                }
            }
        }
        mean[b] /= total;
        sx += b, sy += mean[b], sxx += (double)b * b, sxy += b * mean[b];
    }
    double slope = (BLOCKS * sxy - sx * sy) / (BLOCKS * sxx - sx * sx);
    for (int b = 0; b < BLOCKS; b++) {
        double off = mean[b] - (sy - slope * sx) / BLOCKS - slope * b;
        rest += off * off;
    }
    d.slope = BLOCKS * slope;
    d.doubt = BLOCKS * sqrt(rest / (BLOCKS - 2) / (sxx - sx * sx / BLOCKS));
    d.solves = (double)s.solves / (double)steps;
    stepper_free(ode);
    return d;
}

/* A million steps: no slope that statistics could see beyond ROUND_OFF, and none above a thousandth
 * of the energy's own swing. ZW_CAMPAIGN=small has fewer steps. What round-off leaves is 1e-12 of
 * energies of 4 to 20 after some million inner steps; without compensated sums it would be 3e-10,
 * and this test fails. */
#define ROUND_OFF 1e-11

static void energy_has_no_slope(void **state)
{
    (void)state;
    long steps = campaign_is_small() ? 20000 : 1000000;
    double points[8], planet[4];
    two_points_start(points);
    kepler_start(0.3, planet);
    const struct {
        const char *name;
        mechanics system;
        const double *y;
        double h;
    } runs[] = {{"pendulum", pendulum(), pendulum_y, 0.01},
                {"two points", two_points(), points, 0.01},
                {"angles", angles(), angles_y, 0.01},
                {"kepler", kepler(), planet, 0.03}};
    for (step_method m = STEP_VARIATIONAL; m <= STEP_VARIATIONAL4; m++) {
        for (int k = 0; k < 4; k++) {
            long count =
                m == STEP_VARIATIONAL || steps == 20000 ? steps : steps / 5; /* inner ones */
            drift d = run_long(runs[k].system, m, runs[k].h, count, runs[k].y);
            print_message("%-10s order %d: swing %.1e, slope %.1e +- %.1e, violation %.0e, "
                          "%.1f solves\n",
                          runs[k].name, m == STEP_VARIATIONAL ? 2 : 4, d.most, d.slope, d.doubt,
                          d.violation, d.solves);
            assert_small(fabs(d.slope), 4.0 * d.doubt + ROUND_OFF);
            assert_small(fabs(d.slope), 1e-3 * d.most * (steps > 20000 ? 1.0 : 100.0));
            assert_small(d.violation, 1e-14);
        }
    }
}

/* Steps so short that truncation is nothing leave round-off alone: its walk stays below what a bias
 * of a hundredth of a unit in the last place, step by step, would make. */
static void round_off_does_not_creep(void **state)
{
    (void)state;
    double y[4] = {sin(0.1), -cos(0.1), 0.0, 0.0};
    drift d = run_long(pendulum(), STEP_VARIATIONAL4, 1e-4, 100000, y);
    print_message("round-off alone: most %.1e, slope %.1e\n", d.most, d.slope);
    assert_small(d.most, 4e-15);
}

/* ---- Reversibility --------------------------------------------------------------------------- */

static void there_and_back(void **state)
{
    (void)state;
    double y[8];
    two_points_start(y);
    for (step_method m = STEP_VARIATIONAL; m <= STEP_VARIATIONAL4; m++) {
        mechanics s = two_points();
        stepper *ode = make(&s, m, 0.02, y);
        go(ode, 4.0);
        go(ode, 0.0);
        assert_small(distance(8, stepper_look(ode)->y, y), 1e-11);
        stepper_free(ode);
    }
}

/* ---- Nonholonomic rows: a skate on a slope --------------------------------------------------- */

/* q = (x, y, angle); the skate does not slip sideways: psi = x' sin - y' cos = 0. Gravity pulls
 * along x. Known motion from rest with spin w: cycloids, x = g/(2 w^2) sin^2 w t. */
static void skate_metric(double t, const double *q, const double *v, double *M)
{
    (void)t, (void)q, (void)v;
    memset(M, 0, 9 * sizeof *M);
    M[0] = M[4] = M[8] = 1.0;
}

static void skate_momentum(double t, const double *q, const double *v, double *p)
{
    (void)t, (void)q;
    memcpy(p, v, 3 * sizeof *p);
}

static void skate_force(double t, const double *q, const double *v, double *g)
{
    (void)t, (void)q, (void)v;
    g[0] = 1.0;
    g[1] = g[2] = 0.0;
}

static void skate_rows(double t, const double *q, const double *v, double *A)
{
    (void)t, (void)v;
    A[0] = sin(q[2]);
    A[1] = -cos(q[2]);
    A[2] = 0.0;
}

static void skate_velocity(double t, const double *q, const double *v, double *r)
{
    (void)t;
    r[0] = sin(q[2]) * v[0] - cos(q[2]) * v[1];
}

static void skate_position(double t, const double *q, double *r)
{
    (void)t, (void)q;
    r[0] = NAN; /* not looked at */
}

static const int not_holonomic[1] = {0};

static mechanics skate(void)
{
    return (mechanics){.n = 3,
                       .m = 1,
                       .linear = 1,
                       .holonomic = not_holonomic,
                       .momentum = skate_momentum,
                       .force = skate_force,
                       .metric = skate_metric,
                       .position = skate_position,
                       .velocity = skate_velocity,
                       .rows = skate_rows};
}

static void skate_on_a_slope(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    double y[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 1.0}, h[COUNT], error[COUNT], end = 4.0;
    /* w = 1: u' = cos t along the skate, u = sin t; x = sin^2(t)/2, y = t/2 - sin(2t)/4 */
    const double wanted[3] = {0.5 * sin(end) * sin(end), 0.5 * end - 0.25 * sin(2.0 * end), end};
    for (step_method m = STEP_VARIATIONAL; m <= STEP_VARIATIONAL4; m++) {
        for (int k = 0; k < COUNT; k++) {
            mechanics s = skate();
            double r;
            h[k] = end / (20 << k);
            stepper *ode = make(&s, m, h[k], y);
            go(ode, end);
            const double *now = stepper_look(ode)->y;
            error[k] = distance(3, now, wanted);
            skate_velocity(end, now, now + 3, &r);
            assert_small(fabs(r), 1e-15);
            stepper_free(ode);
        }
        print_message("skate: errors %.1e .. %.1e, order %.3f\n", error[0], error[COUNT - 1],
                      observed_order(COUNT, h, error));
        assert_near(observed_order(COUNT, h, error), m == STEP_VARIATIONAL ? 2.0 : 4.0, 0.1);
    }
}

/* ---- A kinetic energy that is not quadratic, on a moving circle, with friction --------------- */

/* K = (|v|^2)/2 + (|v|^2)^2/4 (Cardin-Zanzotto 1989: Finsler), V = q_y, Q = -v/5, |q|^2 = (1 +
 * t/10)^2. */
static void odd_momentum(double t, const double *q, const double *v, double *p)
{
    (void)t, (void)q;
    double s = 1.0 + v[0] * v[0] + v[1] * v[1];
    p[0] = s * v[0];
    p[1] = s * v[1];
}

static void odd_metric(double t, const double *q, const double *v, double *M)
{
    (void)t, (void)q;
    double s = 1.0 + v[0] * v[0] + v[1] * v[1];
    M[0] = s + 2.0 * v[0] * v[0];
    M[1] = M[2] = 2.0 * v[0] * v[1];
    M[3] = s + 2.0 * v[1] * v[1];
}

static void odd_force(double t, const double *q, const double *v, double *g)
{
    (void)t, (void)q;
    g[0] = -0.2 * v[0];
    g[1] = -1.0 - 0.2 * v[1];
}

static void odd_position(double t, const double *q, double *r)
{
    double R = 1.0 + 0.1 * t;
    r[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - R * R);
}

static void odd_velocity(double t, const double *q, const double *v, double *r)
{
    r[0] = q[0] * v[0] + q[1] * v[1] - 0.1 * (1.0 + 0.1 * t);
}

static mechanics odd(void)
{
    return (mechanics){.n = 2,
                       .m = 1,
                       .momentum = odd_momentum,
                       .force = odd_force,
                       .metric = odd_metric,
                       .position = odd_position,
                       .velocity = odd_velocity,
                       .rows = pendulum_rows};
}

/* M a = g + lambda q, q.a + |v|^2 = R R'' + R'^2 = 0.01 */
static zw_status odd_field(void *user, double t, const double *y, double *dy, zw_error *error)
{
    mechanics s = odd();
    double g[2], x[2], reaction[2], wanted = 0.01 - y[2] * y[2] - y[3] * y[3];
    (void)user, (void)error;
    odd_force(t, y, y + 2, g);
    mechanics_linearise(&s, t, y, y + 2, NULL);
    mechanics_solve(&s, g, &wanted, x, reaction, NULL);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = x[0];
    dy[3] = x[1];
    return ZW_OK;
}

static void finsler_on_a_moving_circle(void **state)
{
    (void)state;
    const double y[4] = {1.0, 0.0, 0.1, 0.8};
    for (step_method m = STEP_VARIATIONAL; m <= STEP_VARIATIONAL4; m++) {
        check_order("odd", odd(), odd_field, y, 2.0, m, 16);
        mechanics s = odd();
        stepper *ode = make(&s, m, 0.01, y);
        double r, worst = 0.0;
        for (int i = 0; i < 300; i++) {
            assert_int_equal(stepper_advance(ode, 1e9, NULL), ZW_OK);
            const stepper_view *view = stepper_look(ode);
            odd_position(view->t, view->y, &r);
            worst = fmax(worst, fabs(r));
            odd_velocity(view->t, view->y, view->y + 2, &r);
            worst = fmax(worst, fabs(r));
        }
        assert_small(worst, 1e-14);
        stepper_free(ode);
    }
}

/* ---- Dense output, retakes, rest ------------------------------------------------------------- */

/* y = (q, v, rest) with rest' = v_y: rest = q_y - q_y(0). */
static zw_status with_rest(void *user, double t, const double *y, double *dy, zw_error *error)
{
    zw_status status = pendulum_field(user, t, y, dy, error);
    dy[4] = y[3];
    return status;
}

static void dense_output_and_retakes(void **state)
{
    (void)state;
    for (step_method m = STEP_VARIATIONAL; m <= STEP_VARIATIONAL4; m++) {
        mechanics s = pendulum();
        step_lagrangian lagrangian = mechanics_lagrangian(&s);
        double y[5] = {0}, out[5], r;
        zw_error error = {0};
        memcpy(y, pendulum_y, sizeof pendulum_y);
        step_ode_options options = {
            .method = m, .n = 5, .field = with_rest, .step = 0.01, .lagrangian = &lagrangian};
        stepper *ode = begin(&options, 0.0, y);
        const stepper_view *view = stepper_look(ode);
        while (view->t < 1.0) {
            assert_fine(stepper_advance(ode, 1.0, &error));
            double a = view->t_before, b = view->t, middle[5];
            assert_near(view->y[4], view->y[1] - y[1], m == STEP_VARIATIONAL ? 2e-3 : 1e-6);
            memcpy(out, view->y, sizeof out);
            assert_fine(stepper_interpolate(ode, 0.5 * (a + b), middle, &error));
            assert_fine(stepper_retake(ode, 0.5 * (a + b), &error));
            assert_small(distance(5, middle, view->y), 2e-4);
            pendulum_position(0.0, view->y, &r);
            assert_small(fabs(r), 1e-15);
            assert_fine(stepper_retake(ode, b, &error));
            assert_small(distance(5, out, view->y), 1e-14);
        }
        stepper_free(ode);
    }
}

/* ---- Failures -------------------------------------------------------------------------------- */

static int broken_after;

static zw_status broken_force(void *user, double t, const double *q, const double *v, double *g,
                              zw_error *error)
{
    return broken_after-- > 0 ? mechanics_force(user, t, q, v, g, error) : ZW_CONFLICT;
}

static zw_status broken_solve(void *user, const double *impulse, const double *wanted, double *u,
                              double *reaction, zw_error *error)
{
    return broken_after-- > 0 ? mechanics_solve(user, impulse, wanted, u, reaction, error)
                              : ZW_UNDETERMINED;
}

/* Wherever a callback fails, the step is refused and the state stays. */
static void failures_leave_the_state(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        for (int after = 0; after < 12; after++) {
            mechanics s = pendulum();
            step_lagrangian lagrangian = mechanics_lagrangian(&s);
            if (kind == 0) {
                lagrangian.force = broken_force;
            } else {
                lagrangian.solve = broken_solve;
            }
            step_ode_options options = {.method = STEP_VARIATIONAL4,
                                        .n = 4,
                                        .field = pendulum_field,
                                        .step = 0.01,
                                        .lagrangian = &lagrangian};
            stepper *ode = begin(&options, 0.0, pendulum_y);
            broken_after = after;
            assert_int_equal(stepper_advance(ode, 1.0, NULL),
                             kind == 0 ? ZW_CONFLICT : ZW_UNDETERMINED);
            assert_true(stepper_look(ode)->t == 0.0);
            assert_memory_equal(stepper_look(ode)->y, pendulum_y, sizeof pendulum_y);
            broken_after = 1000;
            go(ode, 0.02);
            stepper_free(ode);
        }
    }
}

/* A step far too long does not converge, and says so. */
static void long_steps_are_refused(void **state)
{
    (void)state;
    mechanics s = pendulum();
    zw_error error = {0};
    double y[4] = {0.0, -1.0, 9.0, 0.0};
    stepper *ode = make(&s, STEP_VARIATIONAL, 30.0, y);
    assert_int_equal(stepper_advance(ode, 1e9, &error), ZW_INACCURATE);
    assert_true(strstr(error.text, "shorter step") != NULL);
    stepper_free(ode);
}

static void memory_that_is_not_there(void **state)
{
    (void)state;
    mechanics s = pendulum();
    step_lagrangian lagrangian = mechanics_lagrangian(&s);
    step_ode_options options = {.method = STEP_VARIATIONAL,
                                .n = 4,
                                .field = mechanics_no_field,
                                .user = &s,
                                .step = 0.1,
                                .lagrangian = &lagrangian};
    zw_error error = {0};
    base_alloc_fail_after(1);
    assert_null(step_ode_create(&options, &error));
    base_alloc_fail_after(0);
    assert_int_equal(error.status, ZW_NO_MEMORY);
    lagrangian.solve = NULL;
    assert_null(step_ode_create(&options, &error));
    assert_int_equal(error.status, ZW_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
        cmocka_unit_test(points_and_angles_agree),
        cmocka_unit_test(energy_has_no_slope),
        cmocka_unit_test(round_off_does_not_creep),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(skate_on_a_slope),
        cmocka_unit_test(finsler_on_a_moving_circle),
        cmocka_unit_test(dense_output_and_retakes),
        cmocka_unit_test(failures_leave_the_state),
        cmocka_unit_test(long_steps_are_refused),
        cmocka_unit_test(memory_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
