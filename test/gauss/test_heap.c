/* Cubic heaps of spheres: more contacts than degrees of freedom, so the forces are not unique. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "zwang/gauss.h"

enum { MOST = 64, CONTACTS = 4 * MOST, ENTRIES = 12 };

typedef struct heap {
    double mass[6 * MOST], free[6 * MOST], value[3 * CONTACTS * ENTRIES];
    int start[3 * CONTACTS + 1], column[3 * CONTACTS * ENTRIES], entries;
    zw_block block[CONTACTS];
    zw_gauss problem;
} heap;

/* Row: speed of sphere i against sphere j (-1: the ground) along `u`, where they touch at half a
 * unit from i against the axis `normal`. */
static void put_row(heap *h, int row, int i, int j, int normal, int u)
{
    for (int side = 0; side < 2; side++) {
        int body = side == 0 ? i : j, a = (normal + 1) % 3, b = (normal + 2) % 3;
        double sign = side == 0 ? 1.0 : -1.0;
        if (body < 0) {
            continue;
        }
        h->column[h->entries] = 6 * body + u;
        h->value[h->entries++] = sign;
        if (u != normal) { /* omega x (-e_normal/2) for either side, as the arms are opposite */
            h->column[h->entries] = 6 * body + 3 + (u == a ? b : a);
            h->value[h->entries++] = u == a ? -0.5 : 0.5;
        }
    }
    h->start[row + 1] = h->entries;
}

static void put_contact(heap *h, int i, int j, int normal)
{
    int k = h->problem.block_count++;
    h->block[k] = (zw_block){.name = "touch", .kind = ZW_CONE, .rows = 3, .friction = {0.5, 0.5}};
    for (int r = 0; r < 3; r++) {
        put_row(h, 3 * k + r, i, j, normal, (normal + r) % 3);
    }
}

/* side^3 spheres, pushed sideways at random. */
static heap *make(int side)
{
    heap *h = calloc(1, sizeof *h);
    int step[3] = {1, side, side * side}, count = side * side * side;
    unsigned long seed = 1;
    for (int i = 0; i < count; i++) {
        for (int d = 0; d < 6; d++) {
            seed = seed * 6364136223846793005ul + 1442695040888963407ul;
            double random = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
            h->mass[6 * i + d] = d < 3 ? 1.0 : 0.1;
            h->free[6 * i + d] = d < 2 ? 0.02 * random : d == 2 ? -0.02 : 0.0;
        }
        for (int axis = 0; axis < 3; axis++) {
            if (i / step[axis] % side > 0 || axis == 2) {
                put_contact(h, i, i / step[axis] % side > 0 ? i - step[axis] : -1, axis);
            }
        }
    }
    h->problem.n = 6 * count;
    h->problem.metric = (zw_metric){.kind = ZW_METRIC_DIAGONAL, .value = h->mass};
    h->problem.free = h->free;
    h->problem.block = h->block;
    h->problem.A = (zw_rows){.start = h->start, .column = h->column, .value = h->value};
    return h;
}

static zw_gauss_work *solve(const heap *h, zw_gauss_options options, zw_motion *motion,
                            zw_status *status)
{
    zw_gauss_work *work = zw_gauss_work_create(&h->problem, &options, NULL);
    assert_non_null(work);
    *status = zw_gauss_solve(&h->problem, &options, work, motion, NULL);
    return work;
}

static double certified(const heap *h, zw_contact_law law, const zw_motion *motion)
{
    zw_certificate certificate;
    assert_int_equal(
        zw_gauss_certify(&h->problem, law, motion->a, motion->lambda, NULL, NULL, &certificate),
        ZW_OK);
    return certificate.worst;
}

/* Dense and sparse algebra solve either law; the motion of the convex one is unique. */
static void both_algebras_solve_it(void **state)
{
    (void)state;
    heap *h = make(4);
    for (int law = ZW_CONTACT_COULOMB; law <= ZW_CONTACT_CONVEX; law++) {
        zw_motion motion[2];
        zw_gauss_work *work[2];
        double worst = 0.0;
        for (int k = 0; k < 2; k++) {
            zw_status status;
            zw_gauss_options options = {.contact = (zw_contact_law)law,
                                        .algebra = k == 0 ? ZW_ALGEBRA_DENSE : ZW_ALGEBRA_SPARSE};
            work[k] = solve(h, options, &motion[k], &status);
            assert_int_equal(status, ZW_OK);
            assert_true(certified(h, options.contact, &motion[k]) <= 1e-8);
        }
        assert_string_not_equal(motion[0].method, motion[1].method);
        for (int i = 0; i < h->problem.n; i++) {
            worst = fmax(worst, fabs(motion[0].a[i] - motion[1].a[i]));
        }
        assert_true(law == ZW_CONTACT_COULOMB || worst <= 1e-8);
        zw_gauss_work_free(work[0]);
        zw_gauss_work_free(work[1]);
    }
    free(h);
}

/* Cold and warm, a heap of 160 contacts takes few factorisations, and every run the same bits. */
static void large_heaps_are_cheap(void **state)
{
    (void)state;
    heap *h = make(4);
    zw_status status;
    zw_motion motion, again;
    zw_gauss_options options = {.algebra = ZW_ALGEBRA_SPARSE};
    zw_gauss_work *work = solve(h, options, &motion, &status);
    assert_int_equal(status, ZW_OK);
    assert_true(certified(h, ZW_CONTACT_COULOMB, &motion) <= 1e-8);
    assert_true(motion.factorizations <= 100);
    options.guess = motion.lambda;
    zw_gauss_work *other = solve(h, options, &again, &status);
    assert_int_equal(status, ZW_OK);
    assert_true(again.factorizations <= 5);
    zw_gauss_work_free(other);
    options.guess = NULL;
    other = solve(h, options, &again, &status);
    assert_memory_equal(motion.a, again.a, (size_t)motion.n * sizeof(double));
    assert_memory_equal(motion.lambda, again.lambda, (size_t)motion.m * sizeof(double));
    zw_gauss_work_free(other);
    zw_gauss_work_free(work);
    free(h);
}

/* With any limit of effort the reported certificate is true, and with enough of it the problem is
 * solved. */
static void effort_is_bounded(void **state)
{
    (void)state;
    heap *h = make(4);
    for (int effort = 1; effort <= 64; effort *= 4) {
        zw_status status;
        zw_motion motion;
        zw_gauss_options options = {.algebra = ZW_ALGEBRA_SPARSE, .effort = effort};
        zw_gauss_work *work = solve(h, options, &motion, &status);
        assert_true(status == ZW_OK || status == ZW_INACCURATE);
        assert_int_equal(status == ZW_OK, certified(h, ZW_CONTACT_COULOMB, &motion) <= 1e-8);
        assert_true(motion.factorizations <= effort + 20);
        assert_true(effort < 64 || status == ZW_OK);
        zw_gauss_work_free(work);
    }
    free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_algebras_solve_it),
        cmocka_unit_test(large_heaps_are_cheap),
        cmocka_unit_test(effort_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
