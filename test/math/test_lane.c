/* A lane of eight has the bits of the world alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "math/cone.h"
#include "math/dense/small.h"
#include "scene/dice.h"

enum { MAX = 12 };

static void assert_same_bits(double x, double y)
{
    assert_memory_equal(&x, &y, sizeof x);
}

static void cone_lanes_are_worlds(void **state)
{
    (void)state;
    dice d = dice_of(7);
    for (int trial = 0; trial < 2000; trial++) {
        int n = 1 + trial % CONE_MAX;
        zw_real8 z[CONE_MAX], p[CONE_MAX];
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < LANES; k++) {
                z[i][k] = trial % 10 == 0 ? 0.0 : dice_between(&d, -1.0, 1.0);
            }
        }
        cone_nearest8(n, z, p);
        for (int k = 0; k < LANES; k++) {
            double alone[CONE_MAX], q[CONE_MAX];
            for (int i = 0; i < n; i++) {
                alone[i] = z[i][k];
            }
            cone_project(n, alone, q);
            for (int i = 0; i < n; i++) {
                assert_same_bits(q[i], p[i][k]);
            }
        }
    }
}

/* H = G G' + 0.1 I in every lane; the last lanes are made singular now and then. */
static void fill(dice *d, int n, int trial, zw_real8 *H)
{
    for (int k = 0; k < LANES; k++) {
        double G[MAX * MAX];
        for (int i = 0; i < n * n; i++) {
            G[i] = dice_between(d, -1.0, 1.0);
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                double sum = i == j ? 0.1 : 0.0;
                for (int l = 0; l < n; l++) {
                    sum += G[i * n + l] * G[j * n + l];
                }
                H[i * n + j][k] = trial % 7 == 0 && k > 5 ? 0.0 : sum;
            }
        }
    }
}

typedef zw_mask8 factor8(int n, zw_real8 *H, double floor);
typedef void solve8(int n, const zw_real8 *L, zw_real8 *x);
typedef int factor1(int n, double *H, double floor);
typedef void solve1(int n, const double *L, double *x);

static void factors_are_worlds(factor8 *factor_all, solve8 *solve_all, factor1 *factor_one,
                               solve1 *solve_one)
{
    dice d = dice_of(11);
    for (int trial = 0; trial < 300; trial++) {
        int n = 1 + trial % MAX;
        zw_real8 H[MAX * MAX], x[MAX], L[MAX * MAX], y[MAX];
        fill(&d, n, trial, H);
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < LANES; k++) {
                x[i][k] = dice_between(&d, -1.0, 1.0);
            }
        }
        memcpy(L, H, sizeof H);
        memcpy(y, x, sizeof x);
        zw_mask8 bad = factor_all(n, L, 1e-30);
        solve_all(n, L, y);
        for (int k = 0; k < LANES; k++) {
            double h[MAX * MAX], v[MAX];
            for (int i = 0; i < n * n; i++) {
                h[i] = H[i][k];
            }
            for (int i = 0; i < n; i++) {
                v[i] = x[i][k];
            }
            int alone = factor_one(n, h, 1e-30);
            solve_one(n, h, v);
            assert_int_equal(alone != 0, bad[k] != 0);
            for (int i = 0; i < n; i++) {
                assert_same_bits(v[i], y[i][k]);
            }
            for (int i = 0; i < n && !alone; i++) { /* and they solve H v = x */
                double rest = x[i][k], size = fabs(rest);
                for (int j = 0; j < n; j++) {
                    rest -= H[i * n + j][k] * v[j];
                    size += fabs(H[i * n + j][k] * v[j]);
                }
                assert_true(fabs(rest) <= 1e-14 * n * size);
            }
        }
    }
}

static void cholesky_lanes_are_worlds(void **state)
{
    (void)state;
    factors_are_worlds(small_cholesky8, small_cholesky_solve8, small_cholesky,
                       small_cholesky_solve);
}

static void ldl_lanes_are_worlds(void **state)
{
    (void)state;
    factors_are_worlds(small_ldl8, small_ldl_solve8, small_ldl, small_ldl_solve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cone_lanes_are_worlds),
        cmocka_unit_test(cholesky_lanes_are_worlds),
        cmocka_unit_test(ldl_lanes_are_worlds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
