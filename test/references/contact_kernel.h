/* The references on contact that are problems for the kernel alone. */
#ifndef ZW_TEST_REFERENCES_CONTACT_KERNEL_H
#define ZW_TEST_REFERENCES_CONTACT_KERNEL_H

#include "references/contact.h"

/* ---- H03 and H06: the kernel ---------------------------------------------------------------- */

/* Unknowns x, y, theta; the lower end is at (x - cos theta, y - sin theta) and slides to the left,
 * so friction mu N pulls it to the right: generalised force mu N (1, 0, sin theta). */
static void rod_friction(void *user, const double *lambda, const double *reaction, double *C)
{
    const reference_rod *c = user;
    (void)reaction;
    C[0] = c->mu * lambda[0];
    C[1] = 0.0;
    C[2] = c->mu * lambda[0] * sin(c->theta);
}

static solved rod(const reference_rod *c, zw_block_kind kind)
{
    reference_rod user = *c;
    double mass[3] = {1, 1, 1.0 / 3}, free[3] = {0, -reference_H03_g, 0};
    double A[3] = {0, 1, -cos(c->theta)}, b = -sin(c->theta) * c->theta_dot * c->theta_dot;
    zw_block block = {.name = "lower end", .kind = kind, .rows = 1};
    zw_gauss problem = {.n = 3,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .free = free,
                        .block_count = 1,
                        .block = &block,
                        .A.dense = A,
                        .b = &b,
                        .law = rod_friction,
                        .law_user = &user,
                        .law_on = ZW_ON_TOTAL_REACTION};
    return solve(&problem, NULL);
}

/* Held on a wire, the end can be pushed either way: N = -b/p always, also in the paradox. */
static void H03_alone(void)
{
    for (int i = 0; i < COUNT(reference_H03); i++) {
        const reference_rod *c = &reference_H03[i];
        solved s = rod(c, ZW_INEQUALITY);
        decide("status", (int)s.status,
               c->kind == ROD_INCONSISTENT ? (int)ZW_NO_SOLUTION : (int)ZW_OK);
        if (c->kind != ROD_INCONSISTENT && s.status == ZW_OK) {
            double N = s.motion.lambda[0];
            int lifts = c->kind == ROD_INDETERMINATE && N == 0.0;
            compare("N", N, lifts ? 0.0 : c->N);
            compare("residual", s.motion.residual[0] / (1.0 + N), lifts ? c->b : 0.0);
        }
        solved_free(&s);
        s = rod(c, ZW_EQUALITY);
        assert_status(s, ZW_OK);
        compare("N on a wire", s.motion.lambda[0], -c->b / c->p);
        solved_free(&s);
    }
}

/* Every lambda >= 0 with A' lambda = force and lambda . residual = 0 is one of the multipliers. */
static void unilateral(const reference_unilateral *c)
{
    zw_block block = {.name = "stops", .kind = ZW_INEQUALITY, .rows = c->m};
    zw_gauss problem = {.n = c->n,
                        .metric = {.kind = ZW_METRIC_DENSE, .value = c->M},
                        .free = c->a_free,
                        .block_count = 1,
                        .block = &block,
                        .A.dense = c->A,
                        .b = c->b};
    solved s = solve(&problem, NULL);
    assert_status(s, ZW_OK);
    compare("Z", 2.0 * s.motion.Z, c->Z);
    for (int j = 0; j < c->n; j++) {
        compare("acceleration", s.motion.a[j], c->acceleration[j]);
        compare("force", s.motion.F_L[j], c->force[j]);
        double force = 0.0;
        for (int i = 0; i < c->m; i++) {
            force += c->A[i * c->n + j] * s.motion.lambda[i];
        }
        compare("A' lambda", force, c->force[j]);
    }
    for (int i = 0; i < c->m; i++) {
        double reach = dot(c->n, c->A + i * c->n, c->acceleration) - c->b[i];
        assert_true(s.motion.lambda[i] >= 0.0);
        compare("lambda . residual", s.motion.lambda[i] * reach, 0.0);
        if (c->lambda_unique) {
            compare("lambda", s.motion.lambda[i], c->lambda[i]);
        }
    }
    solved_free(&s);
}

static void H06(void)
{
    for (int i = 0; i < COUNT(reference_H06); i++) {
        unilateral(&reference_H06[i]);
    }
}

#endif
