/* DOP853: its coefficients satisfy all order conditions, and its steps have these orders. */
#include "step/integrate.h"

#include "step/mechanics.h"
#include "step/ode/dop853_table.h"

enum { MOST_NODES = 8, S = STEP_DOP853_ALL };

/* ---- Order conditions ------------------------------------------------------------------------ */

/* A rooted tree by the levels of its nodes in preorder, root 1. A method is of order p if for each
 * tree of at most p nodes  sum_i b_i u_i = 1/gamma,  where u_i is the product over the root's
 * subtrees of sum_j a_ij u_j(subtree), and gamma the product of the sizes of all subtrees. */
typedef struct tree {
    int count, level[MOST_NODES];
} tree;

static tree first_tree(int count)
{
    tree t = {.count = count};
    for (int i = 0; i < count; i++) {
        t.level[i] = i + 1;
    }
    return t;
}

/* The next in Beyer and Hedetniemi's order; 0 after the last. */
static int next_tree(tree *t)
{
    int p = t->count - 1, q;
    while (p >= 0 && t->level[p] <= 2) {
        p--;
    }
    if (p < 0) {
        return 0;
    }
    for (q = p - 1; t->level[q] != t->level[p] - 1;) {
        q--;
    }
    for (int i = p; i < t->count; i++) {
        t->level[i] = t->level[i - (p - q)];
    }
    return 1;
}

/* u[i] for all stages, and gamma. */
static double tree_weights(const tree *t, double u[S])
{
    double value[MOST_NODES][S], gamma = 1.0;
    for (int k = t->count - 1; k >= 0; k--) {
        int size = 1, end = k + 1;
        while (end < t->count && t->level[end] > t->level[k]) {
            end++, size++;
        }
        gamma *= size;
        for (int i = 0; i < S; i++) {
            value[k][i] = 1.0;
            for (int child = k + 1; child < end; child++) {
                if (t->level[child] == t->level[k] + 1) {
                    double sum = 0.0;
                    for (int j = 0; j < i; j++) {
                        sum += step_dop853_a[i][j] * value[child][j];
                    }
                    value[k][i] *= sum;
                }
            }
        }
    }
    memcpy(u, value[0], sizeof value[0]);
    return gamma;
}

static double weigh(int count, const double *b, const double u[S])
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += b[i] * u[i];
    }
    return sum;
}

/* Weights of the interpolant at x, as dop853.c evaluates it. */
static void dense_weights(double x, double b[S])
{
    const double *w = step_dop853_a[STEP_DOP853_STAGES];
    double u = 1.0 - x;
    for (int j = 0; j < S; j++) {
        double F0 = j < STEP_DOP853_STAGES ? w[j] : 0.0, f0 = j == 0, f1 = j == STEP_DOP853_STAGES;
        double s = step_dop853_d[3][j] * x + step_dop853_d[2][j];
        s = s * u + step_dop853_d[1][j];
        s = s * x + step_dop853_d[0][j];
        s = s * u + (2.0 * F0 - f0 - f1);
        s = s * x + (f0 - F0);
        b[j] = x * (s * u + F0);
    }
}

static void order_conditions(void **state)
{
    (void)state;
    int trees = 0;
    for (int order = 1; order <= MOST_NODES; order++) {
        tree t = first_tree(order);
        do {
            double u[S], gamma = tree_weights(&t, u), b[S];
            assert_near(weigh(12, step_dop853_a[12], u), 1.0 / gamma, 1e-14);
            if (order <= 5) {
                assert_near(weigh(12, step_dop853_e5, u), 0.0, 1e-14);
            }
            if (order <= 3) {
                assert_near(weigh(12, step_dop853_e3, u), 0.0, 1e-14);
            }
            for (int k = 1; order <= 7 && k < 8; k++) {
                double x = k / 8.0;
                dense_weights(x, b);
                assert_near(weigh(S, b, u), pow(x, order) / gamma, 2e-13);
            }
            trees++;
        } while (next_tree(&t));
    }
    assert_int_equal(trees, 1 + 1 + 2 + 4 + 9 + 20 + 48 + 115);
    for (int i = 0; i < S; i++) {
        double sum = 0.0;
        for (int j = 0; j < i; j++) {
            sum += step_dop853_a[i][j];
        }
        assert_near(sum, step_dop853_c[i], 1e-14);
    }
}

/* The embedded weights are not of a higher order: else there would be no estimate. */
static void estimates_see_something(void **state)
{
    (void)state;
    double u[S];
    tree t = first_tree(6);
    tree_weights(&t, u);
    assert_true(fabs(weigh(12, step_dop853_e5, u)) > 1e-5);
    t = first_tree(4);
    tree_weights(&t, u);
    assert_true(fabs(weigh(12, step_dop853_e3, u)) > 1e-5);
}

/* ---- Observed orders ------------------------------------------------------------------------- */

/* Fixed steps: any error passes, and no step may be longer. */
static step_ode_options fixed(step_field *field, int n, double h)
{
    return (step_ode_options){
        .method = STEP_DOP853, .n = n, .field = field, .tolerance = 1e200, .step = h, .first = h};
}

static zw_status circle_field(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)user, (void)t, (void)error;
    dy[0] = y[1];
    dy[1] = -y[0];
    return ZW_OK;
}

/* In a range of steps where neither higher powers of h nor round-off matter. */
static void order_of_steps_is_8(void **state)
{
    (void)state;
    enum { COUNT = 6 };
    double h[COUNT], error[COUNT], wanted[4];
    double circle[2] = {1.0, 0.0}, there[2] = {cos(10.0), -sin(10.0)};
    for (int k = 0; k < COUNT; k++) {
        h[k] = 10.0 / (24 + 4 * k);
        step_ode_options options = fixed(circle_field, 2, h[k]);
        error[k] = run_error(&options, circle, 10.0, there);
    }
    print_message("circle: errors %.1e .. %.1e, order %.3f\n", error[0], error[COUNT - 1],
                  observed_order(COUNT, h, error));
    assert_near(observed_order(COUNT, h, error), 8.0, 0.1);

    double y[4] = {sin(2.0), -cos(2.0), 0.0, 0.0};
    step_ode_options exact = fixed(pendulum_field, 4, 1.0 / 400.0);
    stepper *ode = begin(&exact, 0.0, y);
    go(ode, 1.0);
    memcpy(wanted, stepper_look(ode)->y, sizeof wanted);
    stepper_free(ode);
    for (int k = 0; k < COUNT; k++) {
        h[k] = 1.0 / (15 + 4 * k);
        step_ode_options options = fixed(pendulum_field, 4, h[k]);
        error[k] = run_error(&options, y, 1.0, wanted);
    }
    print_message("pendulum: errors %.1e .. %.1e, order %.3f\n", error[0], error[COUNT - 1],
                  observed_order(COUNT, h, error));
    assert_near(observed_order(COUNT, h, error), 8.0, 0.1);
}

static zw_status circle_project(void *user, double t, double *y, zw_error *error)
{
    (void)user, (void)t, (void)error;
    double r = sqrt(y[0] * y[0] + y[1] * y[1]);
    y[0] /= r;
    y[1] /= r;
    return ZW_OK;
}

/* Of one step from the same start, with and without projection: dense output of order 7 has a local
 * error O(h^8). */
static double dense_order(step_projection *project)
{
    enum { COUNT = 6 };
    double y[2] = {cos(0.6), -sin(0.6)}, h[COUNT], worst[COUNT] = {0};
    zw_error error = {0};
    for (int k = 0; k < COUNT; k++) {
        h[k] = 0.6 * pow(0.8, k);
        step_ode_options options = fixed(circle_field, 2, h[k]);
        options.project = project;
        stepper *ode = begin(&options, 0.0, y);
        assert_fine(stepper_advance(ode, h[k], &error));
        for (int i = 1; i < 20; i++) {
            double t = h[k] * i / 20.0, out[2], wanted[2] = {cos(t + 0.6), -sin(t + 0.6)};
            assert_fine(stepper_interpolate(ode, t, out, &error));
            worst[k] = fmax(worst[k], distance(2, out, wanted));
        }
        stepper_free(ode);
    }
    print_message("dense: errors %.1e .. %.1e, local order %.3f\n", worst[0], worst[COUNT - 1],
                  observed_order(COUNT, h, worst));
    return observed_order(COUNT, h, worst);
}

static void order_of_dense_output_is_7(void **state)
{
    (void)state;
    assert_near(dense_order(NULL), 8.0, 0.1);
    assert_near(dense_order(circle_project), 8.0, 0.1);
}

/* ---- Adaptive runs --------------------------------------------------------------------------- */

/* The global error follows the tolerance, and each digit costs what order 8 should: a factor
 * 10^(1/8) = 1.33 in steps. */
static void errors_follow_the_tolerance(void **state)
{
    (void)state;
    double y[4] = {sin(2.0), -cos(2.0), 0.0, 0.0}, end = pendulum_period(2.0);
    long before = 0;
    for (double tolerance = 1e-6; tolerance > 5e-14; tolerance /= 10.0) {
        step_ode_options options = {
            .n = 4, .field = pendulum_field, .project = pendulum_project, .tolerance = tolerance};
        stepper *ode = begin(&options, 0.0, y);
        go(ode, end);
        const stepper_view *view = stepper_look(ode);
        double error = distance(4, view->y, y);
        print_message("tolerance %.0e: error %.1e, %ld steps, %ld rejected\n", tolerance, error,
                      view->steps, view->rejected);
        assert_small(error, 40.0 * tolerance);
        assert_true(error > 1e-3 * tolerance); /* and is not far more accurate than asked for */
        assert_true(view->rejected <= view->steps / 4 + 3);
        assert_true(before == 0 || (double)view->steps < 1.5 * (double)before);
        assert_int_equal(view->evaluations, 2 + 12 * view->steps + 11 * view->rejected);
        before = view->steps;
        stepper_free(ode);
    }
}

/* Tolerance 1e-14 on the double pendulum and similar systems: the error is about 1e-12. */
static void tight_runs(void **state)
{
    (void)state;
    double kepler_y[4], angle_y[2 * 2] = {0.5, 0.3, 0.0, 0.0}, two_pi = 2.0 * acos(-1.0);
    kepler_start(0.2, kepler_y);
    step_ode_options options = {.n = 4, .field = kepler_field, .tolerance = 1e-14};
    double error = run_error(&options, kepler_y, two_pi, kepler_y);
    print_message("kepler, one revolution at 1e-14: %.1e\n", error);
    assert_small(error, 1e-12);

    double y[4] = {sin(2.8), -cos(2.8), 0.0, 0.0};
    options = (step_ode_options){
        .n = 4, .field = pendulum_field, .project = pendulum_project, .tolerance = 1e-14};
    error = run_error(&options, y, 2.0 * pendulum_period(2.8), y);
    print_message("pendulum from 2.8 rad, two periods at 1e-14: %.1e\n", error);
    assert_small(error, 5e-12); /* near the top an error grows */

    /* forwards and back: this needs no closed form */
    options = (step_ode_options){.n = 4, .field = angles_field, .tolerance = 1e-14};
    stepper *ode = begin(&options, 0.0, angle_y);
    go(ode, 10.0);
    go(ode, 0.0);
    error = distance(4, stepper_look(ode)->y, angle_y);
    print_message("double pendulum, 10 s there and back at 1e-14: %.1e\n", error);
    assert_small(error, 2e-12);
    stepper_free(ode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_conditions),
        cmocka_unit_test(estimates_see_something),
        cmocka_unit_test(order_of_steps_is_8),
        cmocka_unit_test(order_of_dense_output_is_7),
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(tight_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
