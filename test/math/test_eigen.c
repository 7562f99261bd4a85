/* Eigenvalues of real matrices: closed forms, and A x = value x for random ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "math/dense/eigen.h"
#include "scene/dice.h"

enum { MOST = 40 };

/* Largest |A x - value x| over all, relative to the size of A. */
static double residual(int n, const double *A, const double *value, const double *vector)
{
    double far = 0, size = 1e-300;
    for (int k = 0; k < n * n; k++) {
        size = fmax(size, fabs(A[k]));
    }
    for (int k = 0; k < n; k++) {
        const double *x = vector + (size_t)(2 * n) * (size_t)k;
        for (int i = 0; i < n; i++) {
            double re = -(value[2 * k] * x[2 * i] - value[2 * k + 1] * x[2 * i + 1]);
            double im = -(value[2 * k] * x[2 * i + 1] + value[2 * k + 1] * x[2 * i]);
            for (int j = 0; j < n; j++) {
                re += A[i * n + j] * x[2 * j];
                im += A[i * n + j] * x[2 * j + 1];
            }
            far = fmax(far, hypot(re, im) / size);
        }
    }
    return far;
}

static void test_random(void **state)
{
    (void)state;
    static double A[MOST * MOST], value[2 * MOST], vector[2 * MOST * MOST];
    for (uint64_t seed = 1; seed <= 200; seed++) {
        dice d = dice_of(seed);
        int n = dice_int(&d, 1, MOST);
        double trace = 0, sum = 0, other = 0;
        for (int k = 0; k < n * n; k++) {
            A[k] = dice_chance(&d, 0.5) ? dice_between(&d, -1, 1) : 0;
        }
        for (int i = 0; i < n; i++) {
            trace += A[i * n + i];
        }
        assert_int_equal(dense_eigen(n, A, value, vector), 1);
        for (int k = 0; k < n; k++) {
            sum += value[2 * k];
            other += value[2 * k + 1];
        }
        assert_true(fabs(sum - trace) <= 1e-12 * n);
        assert_true(fabs(other) <= 1e-12 * n);
        assert_true(residual(n, A, value, vector) <= 1e-12 * n);
    }
}

/* The companion matrix of (x - 1)(x - 2)...(x - 6), and badly scaled. */
static void test_closed_forms(void **state)
{
    (void)state;
    const double c[6] = {720, -1764, 1624, -735, 175, -21};
    double A[36] = {0}, value[12];
    for (int i = 0; i < 6; i++) {
        A[i * 6 + 5] = -c[i];
        if (i > 0) {
            A[i * 6 + i - 1] = 1;
        }
    }
    assert_int_equal(dense_eigen(6, A, value, NULL), 1);
    for (int want = 1; want <= 6; want++) {
        double near = 1e300;
        for (int k = 0; k < 6; k++) {
            near = fmin(near, hypot(value[2 * k] - want, value[2 * k + 1]));
        }
        assert_true(near <= 1e-10);
    }
    const double B[4] = {0, 1e8, -4e-8, 0}; /* +- 2i */
    assert_int_equal(dense_eigen(2, B, value, NULL), 1);
    assert_true(fabs(value[0]) <= 1e-14 && fabs(fabs(value[1]) - 2) <= 1e-14);
    const double C[4] = {1, NAN, 0, 1};
    assert_int_equal(dense_eigen(2, C, value, NULL), 0);
    base_alloc_fail_after(1);
    assert_int_equal(dense_eigen(2, B, value, NULL), -1);
    base_alloc_fail_after(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_closed_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
