/* The variation along paths of closed form and along odd ones: orders, uneven times, parts,
 * metrics, failures. */
#include <time.h>

#include "base/memory.h"
#include "path/sampled.h"

/* ---- Closed forms ---------------------------------------------------------------------------- */

/* x = sin t, y = cos t, z' = y x' under (18) with alpha = 2, beta = 0.6, lambda = sin 3t + 1/2, and
 * forces that make it so. */
#define MADE                                                                                       \
    "coord x = 0, y = 1, z = 0\nspeed x' = 1\nkinetic (x'^2 + y'^2 + z'^2)/2\n"                    \
    "let l = sin(3*t) + 0.5, r = 3*cos(3*t)\n"                                                     \
    "force x: -sin(t) - 2*(r*cos(t) - l*sin(t)) - 0.6*l*cos(t)\n"                                  \
    "force y: -cos(t) + 2*l*cos(t)\n"                                                              \
    "force z: -sin(2*t) + 2*r + 0.6*l\nconstraint plane: z' = y*x'\n"                              \
    "law mixed alpha=2 beta=0.6\n"

static void put_made(sampled *w, long i, double t)
{
    double *q = w->q + i * 3, *v = w->v + i * 3, *a = w->a + i * 3;
    w->t[i] = t;
    q[0] = v[1] = sin(t);
    q[1] = v[0] = cos(t);
    q[2] = t / 2 + sin(2 * t) / 4;
    v[1] = -v[1];
    v[2] = q[1] * v[0];
    a[0] = -q[0];
    a[1] = -q[1];
    a[2] = -sin(2 * t);
    w->true_lambda[i] = sin(3 * t) + 0.5;
}

static sampled made(const char *text, long count, double time)
{
    sampled w = sampled_create(text, count);
    for (long i = 0; i < count; i++) {
        put_made(&w, i, time * (double)i / (double)(count - 1));
    }
    return w;
}

static void the_order_of_the_discretisation(void **state)
{
    (void)state;
    double last = 0, last_lambda = 0;
    for (long count = 21; count <= 81; count = 2 * count - 1) {
        sampled w = made(MADE, count, 4);
        solved(&w);
        print_message("    %3ld samples: defect^1/2 %.1e (order %.1f), lambda %.1e (order %.1f)\n",
                      count, miss(&w), log2(last / miss(&w)), lambda_error(&w),
                      log2(last_lambda / lambda_error(&w)));
        if (last > 0) {
            assert_true(log2(last / miss(&w)) > 7);
            assert_true(log2(last_lambda / lambda_error(&w)) > 7);
        }
        last = miss(&w);
        last_lambda = lambda_error(&w);
        sampled_free(&w);
    }
    assert_true(last < 1e-9 && last_lambda < 1e-9);
}

/* The defect of what is no motion converges too, from below. */
#define PUSHED MADE "force y: 0.3*cos(2*t)\n"
static void the_order_of_the_defect(void **state)
{
    (void)state;
    double last = 0, change = 0;
    for (long count = 21; count <= 161; count = 2 * count - 1) {
        sampled w = made(PUSHED, count, 4);
        solved(&w);
        double now = w.found.defect, moved = fabs(now - last);
        print_message("    %3ld samples: defect %.12f (order %.1f)\n", count, now,
                      log2(change / moved));
        if (count > 50) {
            assert_true(log2(change / moved) > 2.5);
        }
        change = moved;
        last = now;
        sampled_free(&w);
    }
    assert_true(change < 1e-4 * last && last > 1e-3);
}

/* ---- What may be odd about a path ------------------------------------------------------------ */

/* Uneven times, some nearly twice. */
static void times_may_be_uneven(void **state)
{
    (void)state;
    sampled w = sampled_create(MADE, 401);
    unsigned seed = 7;
    double t = 0;
    for (long i = 0; i < 401; i++) {
        put_made(&w, i, t);
        seed = seed * 1664525u + 1013904223u;
        t += i % 50 == 49 ? 1e-7 : 0.004 + 0.012 * (seed >> 8) / 16777216.0;
    }
    solved(&w);
    print_message("    uneven: defect^1/2 %.1e, lambda %.1e, %.2f of the stated error\n", miss(&w),
                  lambda_error(&w), of_stated(&w));
    assert_true(miss(&w) < 1e-9 && lambda_error(&w) < 1e-9 && of_stated(&w) < 1);
    for (long i = 0, k = 0; i < 401; i++) { /* times of a step of 0.02, most of them lost */
        do {
            seed = seed * 1664525u + 1013904223u;
            k++;
        } while (seed >> 8 > 0.2 * 16777216);
        put_made(&w, i, 0.02 * (double)k);
    }
    solved(&w);
    print_message("    most lost: defect^1/2 %.1e, lambda %.1e, %.2f of the stated error\n",
                  miss(&w), lambda_error(&w), of_stated(&w));
    assert_true(of_stated(&w) < 4);
    sampled_free(&w);
}

/* lambda may jump between parts, and only there; few samples are no reason to fail. */
static void parts_have_their_own_lambda(void **state)
{
    (void)state;
    sampled one = sampled_along(HEISENBERG "law vakonomic plane=1\n", 201, 1);
    sampled two = sampled_along(HEISENBERG "law vakonomic plane=-2\n", 201, 1);
    sampled both = sampled_create(HEISENBERG "law vakonomic\n", 402);
    for (long i = 0; i < 402; i++) {
        const sampled *from = i < 201 ? &one : &two;
        long at = i % 201;
        both.t[i] = from->t[at] + (i < 201 ? 0 : 1);
        memcpy(both.q + i * 3, from->q + at * 3, 3 * sizeof(double));
        memcpy(both.v + i * 3, from->v + at * 3, 3 * sizeof(double));
        memcpy(both.a + i * 3, from->a + at * 3, 3 * sizeof(double));
        both.true_lambda[i] = from->true_lambda[at];
    }
    zw_error error;
    both.part[1] = 201;
    assert_int_equal(solve(&both, 2, &error), ZW_OK);
    assert_true(miss(&both) < 1e-10 && lambda_error(&both) < 1e-10);
    for (long few = 1; few < 12; few++) {
        both.part[1] = few;
        both.count = both.part[2] = 201;
        assert_int_equal(solve(&both, 2, &error), ZW_OK);
        if (few > 8) {
            assert_true(lambda_error(&both) < 1e-9);
        }
        assert_true(miss(&both) < (few > 8 ? 1e-10 : 1e-7)); /* a polynomial of degree few */
    }
    sampled_free(&one);
    sampled_free(&two);
    sampled_free(&both);
}

/* An integrable row: a constant lambda does nothing, and the answer has none. */
static void a_multiplier_that_does_nothing_is_left_out(void **state)
{
    (void)state;
    sampled w = sampled_along("coord x = 1, y = 0, z = 0\nspeed x' = 0.3, y' = 1\n"
                              "kinetic (x'^2 + y'^2 + z'^2)/2\npotential 3*y^2 + z^2 + x^2\n"
                              "constraint screw: z' = y'*cos(y) + x'\nlaw vakonomic screw = 40\n",
                              301, 3);
    double mean = 0, least = INFINITY, most = -INFINITY, size = 0;
    solved(&w);
    for (long i = 0; i < w.count; i++) {
        double apart = w.found.carried[i] - w.true_lambda[i];
        mean += w.found.carried[i] / (double)w.count;
        size = fmax(size, fabs(w.found.carried[i]));
        least = fmin(least, apart);
        most = fmax(most, apart);
    }
    print_message("    defect^1/2 %.1e, mean lambda %.1e of %.2g, constant to %.1e\n", miss(&w),
                  mean, size, most - least);
    assert_true(miss(&w) < 1e-10);
    assert_true(most - least < 1e-6 && fabs(mean) < 0.1 * size && size < 10);
    sampled_free(&w);
}

/* But with N finite, Phi = lambda/N determines it. */
static void where_R_is_silent_the_slip_tells(void **state)
{
    (void)state;
    sampled w =
        sampled_along("coord x = 1, y = 0, z = 0\nspeed x' = 0.3, y' = 1, z' = 2\n"
                      "kinetic (x'^2 + y'^2 + z'^2)/2\npotential 3*y^2 + z^2 + x^2\n"
                      "constraint screw: z' = y'*cos(y) + x'\nlaw penalty N=7 screw = 4.9\n",
                      301, 3);
    solved(&w);
    print_message("    defect^1/2 %.1e, lambda %.1e\n", miss(&w), lambda_error(&w));
    assert_true(miss(&w) < 1e-10 && lambda_error(&w) < 1e-9);
    sampled_free(&w);
}

/* Remark a): another metric sees another defect, but none where there is none. */
static void any_metric_will_do(void **state)
{
    static const double metric[9] = {5, 1, 0, 1, 2, 0.5, 0, 0.5, 1};
    (void)state;
    for (int k = 0; k < 2; k++) {
        sampled w = made(k ? PUSHED : MADE, 201, 4);
        solved(&w);
        double masses = miss(&w);
        w.found.metric = metric;
        solved(&w);
        print_message("    metric: %.1e and %.1e\n", masses, miss(&w));
        assert_true(k ? miss(&w) > 0.01 && fabs(miss(&w) - masses) > 1e-3 : miss(&w) < 1e-11);
        for (long i = 0; i < w.count; i += 10) { /* extra . B^-1 extra = size^2 */
            double dot = 0;
            for (int c = 0; c < 3; c++) {
                dot += w.found.extra[i * 3 + c] * w.found.apart[i * 3 + c];
            }
            near(dot, w.found.size[i] * w.found.size[i], 1e-13);
        }
        sampled_free(&w);
    }
}

/* Non-ideal forces, and what holonomic rows exert. */
static void other_forces_are_distinguished(void **state)
{
    (void)state;
    sampled w = sampled_along(CART "nonideal edge: x: -0.3*x' - 0.2, y: 0.1*x, phi: -0.1*u'\n"
                                   "nonideal rod: u: 0.2, w: -0.4*w'\n"
                                   "law mixed alpha=1 beta=0.5 edge=0.3, roll=-0.4\n",
                              301, 2);
    solved(&w);
    print_message("    defect^1/2 %.1e, lambda %.1e\n", miss(&w), lambda_error(&w));
    assert_true(miss(&w) < 1e-9 && lambda_error(&w) < 1e-8);
    int rod = zw_id(w.m.system, ZW_KIND_ROW, "rod");
    near(w.found.lambda[300 * 3 + rod], moving_multiplier(&w.m, "rod"), 1e-8);
    sampled_free(&w);
}

static double seconds(long count)
{
    sampled w = made(MADE, count, 40);
    clock_t start = clock();
    solved(&w);
    double time = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message(
        "    %ld samples: %.3f s, defect^1/2 %.1e, lambda %.1e, %.2f of the stated error\n", count,
        time, miss(&w), lambda_error(&w), of_stated(&w));
    assert_true(miss(&w) < 1e-9 && lambda_error(&w) < 1e-9 && of_stated(&w) < 4);
    sampled_free(&w);
    return time;
}

static void time_grows_with_the_samples(void **state)
{
    (void)state;
    double some = seconds(20001), many = seconds(100001);
    assert_true(many < 25 * (some + 0.01)); /* 5, if the machine were ours alone; squared: 25 */
}

static int refuse(void *user, double t)
{
    (void)t;
    ++*(int *)user;
    return 1;
}

static void failures_are_reported(void **state)
{
    (void)state;
    sampled w = made(MADE, 3001, 4);
    zw_error error;
    int asked = 0;
    base_alloc_fail_after(1);
    assert_int_equal(solve(&w, 1, &error), ZW_NO_MEMORY);
    base_alloc_fail_after(0);
    w.found.poll = refuse;
    w.found.user = &asked;
    assert_int_equal(solve(&w, 1, &error), ZW_INTERRUPTED);
    assert_int_equal(asked, 1);
    sampled_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_the_discretisation),
        cmocka_unit_test(the_order_of_the_defect),
        cmocka_unit_test(times_may_be_uneven),
        cmocka_unit_test(parts_have_their_own_lambda),
        cmocka_unit_test(a_multiplier_that_does_nothing_is_left_out),
        cmocka_unit_test(where_R_is_silent_the_slip_tells),
        cmocka_unit_test(any_metric_will_do),
        cmocka_unit_test(other_forces_are_distinguished),
        cmocka_unit_test(time_grows_with_the_samples),
        cmocka_unit_test(failures_are_reported),
    };
    return cmocka_run_group_tests_name("variation", tests, NULL, NULL);
}
