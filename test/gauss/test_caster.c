/* A cart on three casters: cones of six rows, whose rolling rows are 1e-4 of the sliding ones, next
 * to boxes: dry friction of an arm's joints and of hubs, and motors with force ranges. Proximal
 * steps do not find the convex solution of some of these, and 1900 factorisations were spent where
 * they had failed (10000 for Coulomb's law); interior points, with boxes, need 320 (1000). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "zwang/gauss.h"

/* Speeds: the cart's six, swivel and wheel of each caster, two joints of an arm. */
enum { CASTERS = 3, ARM = 12, N = 14, ROWS = 6 * CASTERS + 7 };

typedef struct cart {
    double M[N * N], free[N], A[ROWS * N], b[ROWS], give[ROWS];
    zw_block block[ROWS];
    int blocks, rows;
} cart;

static unsigned long seed;

static double random_number(void)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(seed >> 11) / 4503599627370496.0 - 1.0;
}

static void put_masses(cart *c)
{
    static const double mass[N] = {50,   50,   50,   3,    3,    4,   1e-3,
                                   1e-4, 1e-3, 1e-4, 1e-3, 1e-4, 0.5, 0.2};
    for (int i = 0; i < N; i++) {
        c->M[i * N + i] = mass[i];
    }
    for (int i = ARM; i < N; i++) {
        for (int j = 0; j < 6; j++) {
            c->M[i * N + j] = c->M[j * N + i] = 0.3 * random_number() * sqrt(mass[i] * mass[j]);
        }
    }
    c->M[13 * N + 12] = c->M[12 * N + 13] = 0.1;
}

/* Falling for a step, with speeds of this size; wheels turn. */
static void put_speeds(cart *c, double size)
{
    for (int i = 0; i < N; i++) {
        c->free[i] = i >= 6 && i < ARM ? 0.3 * random_number() : size * random_number();
    }
    c->free[2] -= 0.02;
    c->free[12] += 0.05 * random_number();
    c->free[13] += 0.05 * random_number();
}

static void put_caster(cart *c, int k)
{
    double x = 0.2 * cos(2.1 * k), y = 0.2 * sin(2.1 * k), angle = 3 * random_number();
    double *A = c->A + c->rows * N, trail = 0.02, radius = 0.05, high = 0.1;
    int swivel = 6 + 2 * k, wheel = swivel + 1;
    c->block[c->blocks++] = (zw_block){
        .name = "caster", .kind = ZW_CONE, .rows = 6, .friction = {1, 1, 0.005, 1e-4, 1e-4}};
    c->b[c->rows] = -1e-6 * (1 + random_number());
    A[2] = 1;
    A[3] = y;
    A[4] = -x;
    A[N] = 1;
    A[N + 4] = -high;
    A[N + 5] = -y;
    A[N + swivel] = trail * sin(angle);
    A[N + wheel] = radius * cos(angle);
    A[2 * N + 1] = 1;
    A[2 * N + 3] = high;
    A[2 * N + 5] = x;
    A[2 * N + swivel] = -trail * cos(angle);
    A[2 * N + wheel] = radius * sin(angle);
    A[3 * N + 5] = A[3 * N + swivel] = 1;
    A[4 * N + 3] = A[5 * N + 4] = 1;
    A[4 * N + wheel] = -sin(angle);
    A[5 * N + wheel] = cos(angle);
    c->rows += 6;
}

static void put_box(cart *c, int dof, double low, double high, double give)
{
    c->block[c->blocks++] =
        (zw_block){.name = "box", .kind = ZW_BOX, .rows = 1, .limit = {low, high}};
    c->give[c->rows] = give;
    c->A[c->rows++ * N + dof] = 1;
}

static void make_cart(cart *c, unsigned long number, double size)
{
    *c = (cart){0};
    seed = number;
    put_masses(c);
    put_speeds(c, size);
    for (int k = 0; k < CASTERS; k++) {
        put_caster(c, k);
    }
    for (int i = ARM; i < N; i++) {
        put_box(c, i, -1e-3, 1e-3, 0);
        put_box(c, i, -0.04, 0.04, 0.01);
    }
    put_box(c, 6, -1e-5, 1e-5, 0);
    put_box(c, 7, -INFINITY, 1e-5, 0);
    put_box(c, 8, 2e-6, 2e-6, 0);
}

static void solve(const cart *c, zw_contact_law law)
{
    zw_gauss problem = {.n = N,
                        .metric = {.kind = ZW_METRIC_DENSE, .value = c->M},
                        .free = c->free,
                        .block_count = c->blocks,
                        .block = c->block,
                        .A = {.dense = c->A},
                        .b = c->b,
                        .compliance = c->give};
    zw_gauss_options options = {.contact = law, .tolerance = 1e-10};
    zw_gauss_work *work = zw_gauss_work_create(&problem, &options, NULL);
    zw_motion motion;
    zw_error error;
    assert_non_null(work);
    assert_int_equal(zw_gauss_solve(&problem, &options, work, &motion, &error), ZW_OK);
    assert_true(motion.certificate.worst <= 1e-10);
    assert_true(motion.factorizations <= (law == ZW_CONTACT_CONVEX ? 400 : 1200));
    zw_gauss_work_free(work);
}

static void test_casters(void **state)
{
    static const double size[] = {1e-1, 1e-2, 1e-3, 1e-4};
    (void)state;
    for (int i = 0; i < 4; i++) {
        for (unsigned long number = 1; number <= 60; number++) {
            cart c;
            make_cart(&c, number, size[i]);
            solve(&c, ZW_CONTACT_COULOMB);
            solve(&c, ZW_CONTACT_CONVEX);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_casters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
