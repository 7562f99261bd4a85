/* The self-dual cone: nearest points, their slope, and the scaling of interior points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/cone.h"
#include "math/jordan.h"
#include "scene/bounds.h"
#include "scene/dice.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 2000 };

#define EXACT 1e-14

static double dot(int d, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < d; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

static double norm(int d, const double *x)
{
    return sqrt(dot(d, x, x));
}

/* How deep x lies in the cone: x_N - |x_T|. */
static double depth(int d, const double *x)
{
    return x[0] - norm(d - 1, x + 1);
}

static int random_point(dice *d, double *z)
{
    int size = dice_int(d, 1, CONE_MAX);
    double scale = dice_power(d, -6, 6);
    for (int i = 0; i < size; i++) {
        z[i] = scale * dice_bell(d) * (i == 0 ? 2.0 : 1.0);
    }
    return size;
}

static int random_inside(dice *d, int size, double *z)
{
    double scale = dice_power(d, -3, 3);
    for (int i = 1; i < size; i++) {
        z[i] = scale * dice_bell(d);
    }
    z[0] = norm(size - 1, z + 1) * (1.0 + dice_power(d, -4, 1)) + 1e-3 * scale;
    return size;
}

/* ---- Nearest points -------------------------------------------------------------------------- */

/* Moreau: z = p - n with p and n in the cone (it is its own dual) and p.n = 0; and no other point
 * is that. The answer gives the side. */
static void projection(void **state)
{
    (void)state;
    dice d = dice_of(1);
    int sides[3] = {0};
    for (int k = 0; k < TRIALS; k++) {
        double z[CONE_MAX], p[CONE_MAX], rest[CONE_MAX] = {0}, again[CONE_MAX];
        int size = random_point(&d, z);
        cone_side side = cone_project(size, z, p);
        double scale = norm(size, z);
        sides[side]++;
        for (int i = 0; i < size; i++) {
            rest[i] = p[i] - z[i];
        }
        assert_small(-depth(size, p), EXACT * scale);
        assert_small(-depth(size, rest), EXACT * scale);
        assert_small(fabs(dot(size, p, rest)), EXACT * scale * scale);
        assert_int_equal(side == CONE_INSIDE, memcmp(p, z, (size_t)size * sizeof *p) == 0);
        assert_int_equal(side == CONE_OUTSIDE, norm(size, p) == 0.0);
        cone_project(size, p, again);
        for (int i = 0; i < size; i++) {
            assert_small(fabs(again[i] - p[i]), 4 * EXACT * scale);
        }
    }
    assert_true(sides[0] > 50 && sides[1] > 50 && sides[2] > 50);
}

/* In place, at the tip and on the axis. */
static void projection_of_special_points(void **state)
{
    (void)state;
    for (int size = 1; size <= CONE_MAX; size++) {
        double zero[CONE_MAX] = {0}, up[CONE_MAX] = {2}, down[CONE_MAX] = {-2}, p[CONE_MAX];
        cone_project(size, zero, p);
        assert_true(norm(size, p) == 0.0);
        assert_int_equal(cone_project(size, up, p), CONE_INSIDE);
        assert_true(p[0] == 2.0 && norm(size, p) == 2.0);
        assert_int_equal(cone_project(size, down, p), CONE_OUTSIDE);
        assert_true(norm(size, p) == 0.0);
    }
    double side[3] = {0, 3, 4}, p[3];
    assert_int_equal(cone_project(3, side, p), CONE_BETWEEN);
    assert_small(fabs(p[0] - 2.5) + fabs(p[1] - 1.5) + fabs(p[2] - 2.0), 1e-15);
    assert_int_equal(cone_project(3, side, side), CONE_BETWEEN);
    assert_memory_equal(side, p, sizeof p);
}

/* Nearest points move no faster than the points themselves. */
static void projection_does_not_expand(void **state)
{
    (void)state;
    dice d = dice_of(2);
    for (int k = 0; k < TRIALS; k++) {
        double x[CONE_MAX], y[CONE_MAX], p[CONE_MAX], q[CONE_MAX], before[CONE_MAX],
            after[CONE_MAX];
        int size = random_point(&d, x);
        double scale = norm(size, x);
        for (int i = 0; i < size; i++) {
            y[i] = x[i] + 0.5 * scale * dice_bell(&d);
        }
        cone_project(size, x, p);
        cone_project(size, y, q);
        for (int i = 0; i < size; i++) {
            before[i] = x[i] - y[i];
            after[i] = p[i] - q[i];
        }
        assert_small(dot(size, after, after),
                     dot(size, after, before) + EXACT * scale * scale); /* firmly */
    }
}

/* ---- Slope ----------------------------------------------------------------------------------- */

static void slope_is_the_derivative(void **state)
{
    (void)state;
    dice d = dice_of(3);
    int compared = 0;
    for (int k = 0; k < TRIALS; k++) {
        double z[CONE_MAX], P[CONE_MAX * CONE_MAX], y[CONE_MAX], plus[CONE_MAX], minus[CONE_MAX];
        double root[CONE_MAX * CONE_MAX];
        int size = random_point(&d, z);
        double scale = norm(size, z), h = 1e-5 * scale, at[CONE_MAX];
        double edge = fmin(fabs(z[0] - norm(size - 1, z + 1)), fabs(z[0] + norm(size - 1, z + 1)));
        cone_side side = cone_slope(size, z, P);
        assert_int_equal(side, cone_project(size, z, y));
        assert_int_equal(side, cone_slope_root(size, z, root));
        for (int i = 0; i < size * size; i++) { /* its root squared is the slope */
            double sum = 0.0;
            for (int m = 0; m < size; m++) {
                sum += root[i / size * CONE_MAX + m] * root[m * CONE_MAX + i % size];
            }
            assert_small(fabs(sum - P[i / size * CONE_MAX + i % size]), 1e-14);
        }
        if (edge < 0.01 * scale || (size > 1 && norm(size - 1, z + 1) < 0.05 * scale)) {
            continue; /* a kink, or strongly curved */
        }
        compared++;
        for (int j = 0; j < size; j++) {
            memcpy(at, z, sizeof at);
            at[j] = z[j] + h;
            cone_project(size, at, plus);
            at[j] = z[j] - h;
            cone_project(size, at, minus);
            for (int i = 0; i < size; i++) {
                double slope = (plus[i] - minus[i]) / (2.0 * h);
                assert_small(fabs(P[i * CONE_MAX + j] - slope), 2e-7);
            }
        }
    }
    assert_true(compared > TRIALS / 2);
}

/* Symmetric, between 0 and I, and P z = p: the projection is homogeneous. */
static void slope_is_a_contraction(void **state)
{
    (void)state;
    dice d = dice_of(4);
    for (int k = 0; k < TRIALS; k++) {
        double z[CONE_MAX], p[CONE_MAX], P[CONE_MAX * CONE_MAX], x[CONE_MAX], Px[CONE_MAX];
        int size = random_point(&d, z);
        cone_slope(size, z, P);
        cone_project(size, z, p);
        for (int i = 0; i < size; i++) {
            x[i] = dice_bell(&d);
            for (int j = 0; j < i; j++) {
                assert_small(fabs(P[i * CONE_MAX + j] - P[j * CONE_MAX + i]), 1e-15);
            }
            assert_small(fabs(dot(size, P + i * CONE_MAX, z) - p[i]), 4 * EXACT * norm(size, z));
        }
        for (int i = 0; i < size; i++) {
            Px[i] = dot(size, P + i * CONE_MAX, x);
        }
        assert_small(dot(size, Px, Px), dot(size, Px, x) * (1.0 + EXACT) + EXACT);
        assert_small(-dot(size, Px, x), EXACT);
    }
}

/* ---- The scaling of interior points
 * -------------------------------------------------------------- */

/* W r = W^-1 s = lambda, W symmetric and positive, W^-1 undoes it. */
static void scaling(void **state)
{
    (void)state;
    dice d = dice_of(5);
    for (int k = 0; k < TRIALS; k++) {
        double r[CONE_MAX], s[CONE_MAX], x[CONE_MAX], y[CONE_MAX], Wr[CONE_MAX], Ws[CONE_MAX],
            Wx[CONE_MAX], Wy[CONE_MAX], back[CONE_MAX];
        int size = dice_int(&d, 1, CONE_MAX);
        jordan_scaling W;
        random_inside(&d, size, r);
        random_inside(&d, size, s);
        assert_true(jordan_scale(size, r, s, &W));
        jordan_apply(size, &W, r, Wr);
        jordan_apply_inverse(size, &W, s, Ws);
        double scale = sqrt(norm(size, r) * norm(size, s));
        for (int i = 0; i < size; i++) {
            assert_small(fabs(Wr[i] - W.lambda[i]), 1e-11 * scale);
            assert_small(fabs(Ws[i] - W.lambda[i]), 1e-11 * scale);
            x[i] = dice_bell(&d);
            y[i] = dice_bell(&d);
        }
        assert_true(depth(size, W.lambda) > 0.0);
        assert_small(fabs(dot(size, W.lambda, W.lambda) - dot(size, r, s)),
                     1e-12 * norm(size, r) * norm(size, s));
        jordan_apply(size, &W, x, Wx);
        jordan_apply(size, &W, y, Wy);
        double length = norm(size, Wx) * norm(size, y) + norm(size, Wy) * norm(size, x);
        assert_small(fabs(dot(size, Wx, y) - dot(size, Wy, x)), 1e-12 * length);
        assert_true(dot(size, Wx, x) > 0.0);
        jordan_apply_inverse(size, &W, Wx, back);
        for (int i = 0; i < size; i++) {
            assert_small(fabs(back[i] - x[i]), 1e-10 * norm(size, x));
        }
    }
}

/* Well inside, all digits are there. */
static void scaling_well_inside(void **state)
{
    (void)state;
    dice d = dice_of(6);
    for (int k = 0; k < TRIALS; k++) {
        double r[CONE_MAX], s[CONE_MAX], Wr[CONE_MAX], Ws[CONE_MAX];
        int size = dice_int(&d, 1, CONE_MAX);
        jordan_scaling W;
        for (int i = 0; i < size; i++) {
            r[i] = dice_between(&d, -0.3, 0.3);
            s[i] = dice_between(&d, -30.0, 30.0);
        }
        r[0] = 1.0;
        s[0] = 100.0;
        assert_true(jordan_scale(size, r, s, &W));
        jordan_apply(size, &W, r, Wr);
        jordan_apply_inverse(size, &W, s, Ws);
        for (int i = 0; i < size; i++) {
            assert_small(fabs(Wr[i] - Ws[i]), 1e-13 * 10.0);
            assert_small(fabs(Wr[i] - W.lambda[i]), 1e-13 * 10.0);
        }
    }
}

static void scaling_wants_the_inside(void **state)
{
    (void)state;
    const double in[3] = {2, 1, 1}, out[3] = {1, 1, 1}, edge[3] = {5, 3, 4}, below[3] = {-2, 1, 1};
    jordan_scaling W;
    assert_true(jordan_scale(3, in, in, &W));
    assert_false(jordan_scale(3, in, out, &W));
    assert_false(jordan_scale(3, out, in, &W));
    assert_false(jordan_scale(3, edge, in, &W));
    assert_false(jordan_scale(3, in, below, &W));
    const double nan[3] = {NAN, 0, 0};
    assert_false(jordan_scale(3, nan, in, &W));
}

/* x o y = (x.y, x_N y_T + y_N x_T), and division undoes it. */
static void product_and_division(void **state)
{
    (void)state;
    dice d = dice_of(7);
    for (int k = 0; k < TRIALS; k++) {
        double x[CONE_MAX], y[CONE_MAX], z[CONE_MAX], back[CONE_MAX];
        int size = dice_int(&d, 1, CONE_MAX);
        for (int i = 0; i < size; i++) {
            x[i] = dice_between(&d, -0.3, 0.3);
            y[i] = dice_bell(&d);
        }
        x[0] = 1.0;
        jordan_product(size, x, y, z);
        assert_small(fabs(z[0] - dot(size, x, y)), EXACT);
        for (int i = 1; i < size; i++) {
            assert_small(fabs(z[i] - (x[0] * y[i] + y[0] * x[i])), EXACT);
        }
        jordan_divide(size, x, z, back);
        for (int i = 0; i < size; i++) {
            assert_small(fabs(back[i] - y[i]), 1e-13);
        }
    }
}

/* x + t dx is in the cone, and a little further it is not. */
static void longest_step(void **state)
{
    (void)state;
    dice d = dice_of(8);
    int cut = 0;
    for (int k = 0; k < TRIALS; k++) {
        double x[CONE_MAX], dx[CONE_MAX], at[CONE_MAX] = {0}, beyond[CONE_MAX] = {0};
        int size = dice_int(&d, 1, CONE_MAX);
        random_inside(&d, size, x);
        double scale = norm(size, x);
        for (int i = 0; i < size; i++) {
            dx[i] = scale * dice_bell(&d);
        }
        double t = jordan_step(size, x, dx, 1.0);
        assert_true(t >= 0.0 && t <= 1.0);
        for (int i = 0; i < size; i++) {
            at[i] = x[i] + t * dx[i];
            beyond[i] = x[i] + (t * 1.000001 + 1e-9) * dx[i];
        }
        assert_small(-depth(size, at), 1e-12 * (scale + norm(size, dx)));
        if (t < 1.0) {
            cut++;
            assert_true(depth(size, beyond) < 0.0);
        }
    }
    assert_true(cut > TRIALS / 4 && cut < TRIALS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection),
        cmocka_unit_test(projection_of_special_points),
        cmocka_unit_test(projection_does_not_expand),
        cmocka_unit_test(slope_is_the_derivative),
        cmocka_unit_test(slope_is_a_contraction),
        cmocka_unit_test(scaling),
        cmocka_unit_test(scaling_well_inside),
        cmocka_unit_test(scaling_wants_the_inside),
        cmocka_unit_test(product_and_division),
        cmocka_unit_test(longest_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
