/* Non-ideal constraint forces: friction that depends on the reaction, Fan et al. (2005), sections 3
 * to 5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/solved.h"

#include <string.h>

#define EXACT 1e-12

/* Sliding friction on a wire: C = -mu |reaction| v/|v|. */
typedef struct sliding {
    double mu, v[3];
    int calls;
} sliding;

static void sliding_law(void *user, const double *lambda, const double *reaction, double *C)
{
    sliding *f = user;
    (void)lambda;
    for (int i = 0; i < 3; i++) {
        C[i] = -f->mu * norm(3, reaction) * f->v[i] / norm(3, f->v);
    }
    f->calls++;
}

/* ---- A bead on a wire ------------------------------------------------------------------------ */

/* A circle of radius r in the vertical plane x, z, bead at angle phi from the lowest point, speed
 * v: rows x.a = -v^2 (distance) and y = 0. Reaction N = m (v^2/r + g cos phi) towards the centre,
 * and along the wire r phi'' = -g sin phi - mu N/m. */
static void bead_on_a_circle(void **state)
{
    (void)state;
    const double m = 0.5, r = 2.0, g = 9.81, phi = 0.7, v = 3.0, mu = 0.2;
    const double t[3] = {cos(phi), 0, sin(phi)}, n[3] = {-sin(phi), 0, cos(phi)};
    const double A[6] = {-n[0], 0, -n[2], 0, 1, 0}, b[2] = {-v * v / r, 0};
    const double mass[3] = {m, m, m}, free[3] = {0, 0, -g};
    const zw_block block[2] = {{.name = "wire", .kind = ZW_EQUALITY, .rows = 1},
                               {.name = "plane", .kind = ZW_EQUALITY, .rows = 1}};
    double N = m * (v * v / r + g * cos(phi)), along = -g * sin(phi) - mu * N / m;
    for (int on = ZW_ON_IDEAL_REACTION; on <= ZW_ON_TOTAL_REACTION; on++) {
        sliding friction = {.mu = mu, .v = {v * t[0], v * t[1], v * t[2]}};
        zw_gauss problem = {.n = 3,
                            .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                            .free = free,
                            .block_count = 2,
                            .block = block,
                            .A.dense = A,
                            .b = b,
                            .law = sliding_law,
                            .law_user = &friction,
                            .law_on = (zw_nonideal_on)on};
        solved s = solve(&problem, NULL);
        assert_status(s, ZW_OK);
        assert_true(friction.calls > 0);
        for (int i = 0; i < 3; i++) {
            assert_close(s.motion.a[i], along * t[i] + v * v / r * n[i], EXACT);
            assert_close(s.motion.F_L[i], N * n[i], EXACT);
            assert_close(s.motion.F_C[i], -mu * N * t[i], EXACT);
            assert_close(s.motion.C[i], -mu * N * t[i], EXACT);
        }
        solved_free(&s);
    }
}

/* A fixed C and a law together: both act. */
static void law_adds_to_C(void **state)
{
    (void)state;
    const double A[3] = {0, 0, 1}, free[3] = {0, 0, -10}, C[3] = {0, 2, 5};
    const zw_block block = {.name = "table", .kind = ZW_EQUALITY, .rows = 1};
    sliding friction = {.mu = 0.1, .v = {1, 0, 0}};
    zw_gauss problem = {.n = 3,
                        .free = free,
                        .block_count = 1,
                        .block = &block,
                        .A.dense = A,
                        .C = C,
                        .law = sliding_law,
                        .law_user = &friction};
    solved s = solve(&problem, NULL);
    assert_status(s, ZW_OK);
    const double a[3] = {-1, 2, 0}, F_L[3] = {0, 0, 10}, F_C[3] = {-1, 2, 0};
    assert_all_close(3, s.motion.a, a, EXACT); /* the ideal reaction is 10 */
    assert_all_close(3, s.motion.F_L, F_L, EXACT);
    assert_all_close(3, s.motion.F_C, F_C, EXACT);
    assert_close(s.motion.lambda[0], 5.0, EXACT); /* C carries half the weight */
    solved_free(&s);
    problem.law_on = ZW_ON_TOTAL_REACTION;
    s = solve(&problem, NULL);
    assert_status(s, ZW_OK);
    assert_close(s.motion.a[0], -0.5, EXACT); /* the total reaction is 5 */
    assert_close(s.motion.lambda[0], 5.0, EXACT);
    solved_free(&s);
}

/* ---- Feedback -------------------------------------------------------------------------------- */

/* A ladder (m = 1, half length l = 1, inertia I = 1/3) sliding between floor and wall, angle theta
 * of the bar with the floor, at rest for an instant but about to slip: foot to the right, top down.
 * Foot at (x + cos, y - sin), top at (x - cos, y + sin). Unknowns x, y, theta.
 *   floor row  y - sin theta:  (0, 1, -cos),  reaction N1, friction -mu N1 on the foot along x
 *   wall row   x - cos theta:  (1, 0, sin),   reaction N2, friction +mu N2 on the top along y
 * Friction feeds back: the generalised forces are
 *   C = N1 mu (-1, 0, sin) + N2 mu (0, 1, cos).
 * By hand, with x = cos theta and y = sin theta, x'' = -sin theta'' and y'' = cos theta'' at rest:
 *   -sin theta'' = N2 - mu N1,   cos theta'' = -g + N1 + mu N2,
 *   I theta'' = -cos N1 + sin N2 + mu sin N1 + mu cos N2. */
typedef struct ladder {
    double mu, theta;
} ladder;

static void ladder_law(void *user, const double *lambda, const double *reaction, double *C)
{
    const ladder *f = user;
    (void)reaction;
    C[0] = -f->mu * lambda[0];
    C[1] = f->mu * lambda[1];
    C[2] = f->mu * (sin(f->theta) * lambda[0] + cos(f->theta) * lambda[1]);
}

/* The three equations above for theta'', N1, N2: N1 and N2 from the first two, then the third. */
static void ladder_by_hand(const ladder *f, double g, double *angular, double *N)
{
    double s = sin(f->theta), c = cos(f->theta), mu = f->mu, k = 1 + mu * mu;
    /* N1 = p1 + q1 theta'', N2 = p2 + q2 theta'' */
    double p1 = g / k, q1 = (c + mu * s) / k, p2 = mu * p1, q2 = mu * q1 - s;
    double left = 1.0 / 3 - (mu * s - c) * q1 - (s + mu * c) * q2;
    *angular = ((mu * s - c) * p1 + (s + mu * c) * p2) / left;
    N[0] = p1 + q1 * *angular;
    N[1] = p2 + q2 * *angular;
}

static void ladder_feeds_back(void **state)
{
    (void)state;
    const double g = 9.81, free[3] = {0, -g, 0}, mass[3] = {1, 1, 1.0 / 3};
    const double mus[4] = {0.0, 0.1, 0.2, 0.3};
    for (int k = 0; k < 4; k++) {
        ladder f = {.mu = mus[k], .theta = 0.8};
        double A[6] = {0, 1, -cos(f.theta), 1, 0, sin(f.theta)}, angular, N[2];
        const zw_block block[2] = {{.name = "floor", .kind = ZW_INEQUALITY, .rows = 1},
                                   {.name = "wall", .kind = ZW_INEQUALITY, .rows = 1}};
        zw_gauss problem = {.n = 3,
                            .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                            .free = free,
                            .block_count = 2,
                            .block = block,
                            .A.dense = A,
                            .law = ladder_law,
                            .law_user = &f,
                            .law_on = ZW_ON_TOTAL_REACTION};
        ladder_by_hand(&f, g, &angular, N);
        assert_true(N[0] > 0.0 && N[1] > 0.0 &&
                    angular < 0.0); /* contact and sliding as assumed above */
        solved s = solve(&problem, NULL);
        assert_status(s, ZW_OK);
        assert_close(s.motion.lambda[0], N[0], 1e-11);
        assert_close(s.motion.lambda[1], N[1], 1e-11);
        assert_close(s.motion.a[2], angular, 1e-11);
        assert_close(s.motion.a[0], -sin(f.theta) * angular, 1e-11);
        assert_close(s.motion.a[1], cos(f.theta) * angular, 1e-11);
        solved_free(&s);
        problem.law_on = ZW_ON_IDEAL_REACTION; /* without feedback the solution differs */
        s = solve(&problem, NULL);
        assert_status(s, ZW_OK);
        assert_int_equal(fabs(s.motion.a[2] - angular) > 1e-3, f.mu > 0.0);
        solved_free(&s);
    }
}

/* ---- No fixed point -------------------------------------------------------------------------- */

/* One row on one unknown, law C = -k lambda - push: lambda must be weight + k lambda + push >= 0.
 */
static void jamming_law(void *user, const double *lambda, const double *reaction, double *C)
{
    const double *k = user;
    (void)reaction;
    C[0] = -*k * lambda[0];
}

static solved jamming(double k)
{
    static const double A = 1.0, free = -1.0;
    static const zw_block block = {.name = "self-locking", .kind = ZW_INEQUALITY, .rows = 1};
    zw_gauss problem = {.n = 1,
                        .free = &free,
                        .block_count = 1,
                        .block = &block,
                        .A.dense = &A,
                        .law = jamming_law,
                        .law_user = &k,
                        .law_on = ZW_ON_TOTAL_REACTION};
    return solve(&problem, NULL);
}

/* lambda (1 - k) = 1: a solution for k < 1 only, also where plain iteration would diverge (k < -1).
 */
static void no_fixed_point_is_no_solution(void **state)
{
    (void)state;
    const double solvable[] = {-5.0, -1.0, 0.0, 0.5, 0.99}, hopeless[] = {1.0, 1.5, 4.0, 100.0};
    for (int i = 0; i < 5; i++) {
        solved s = jamming(solvable[i]);
        assert_status(s, ZW_OK);
        assert_close(s.motion.lambda[0] * (1.0 - solvable[i]), 1.0, 1e-11);
        assert_close(s.motion.a[0], 0.0, EXACT);
        solved_free(&s);
    }
    for (int i = 0; i < 4; i++) {
        solved s = jamming(hopeless[i]);
        assert_status(s, ZW_NO_SOLUTION);
        assert_true(strlen(s.error.text) > 0);
        solved_free(&s);
    }
}

static void broken_law(void *user, const double *lambda, const double *reaction, double *C)
{
    (void)lambda;
    (void)reaction;
    C[0] = user != NULL ? HUGE_VAL : NAN;
}

/* A law that returns NaN is an error. */
static void broken_law_is_not_solved(void **state)
{
    (void)state;
    const double A = 1.0, free = -1.0;
    const zw_block block = {.name = "row", .kind = ZW_EQUALITY, .rows = 1};
    for (int k = 0; k < 4; k++) {
        int user = 0;
        zw_gauss problem = {.n = 1,
                            .free = &free,
                            .block_count = 1,
                            .block = &block,
                            .A.dense = &A,
                            .law = broken_law,
                            .law_user = k % 2 ? &user : NULL,
                            .law_on = k < 2 ? ZW_ON_IDEAL_REACTION : ZW_ON_TOTAL_REACTION};
        solved s = solve(&problem, NULL);
        assert_int_not_equal(s.status, ZW_OK);
        solved_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bead_on_a_circle),         cmocka_unit_test(law_adds_to_C),
        cmocka_unit_test(ladder_feeds_back),        cmocka_unit_test(no_fixed_point_is_no_solution),
        cmocka_unit_test(broken_law_is_not_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
