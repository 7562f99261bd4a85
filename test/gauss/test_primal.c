/* Many more contacts than unknowns: a plate on a table, touched in a grid of points with friction.
 *
 * Any resultant of the contact forces can also be produced at the corners: the plate moves as on
 * its four corners alone, which the dense core solves. The cost depends on the number of unknowns,
 * not of rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gauss/solved.h"

enum { SIDE = 25, POINTS = SIDE * SIDE, UNKNOWNS = 7 }; /* a plate, and a slide beside it */

typedef struct plate {
    zw_gauss problem;
    zw_block block[POINTS + 1];
    double M[UNKNOWNS], force[UNKNOWNS], C[UNKNOWNS], A[3 * POINTS + 1][UNKNOWNS];
} plate;

/* Three rows of a point at (x, y, -h) of a plate centred at 0: normal and two tangents. */
static void put_point(double A[3][UNKNOWNS], double x, double y, double h)
{
    memset(A, 0, 3 * sizeof *A);
    A[0][2] = A[1][0] = A[2][1] = 1;
    A[0][3] = y, A[0][4] = -x; /* w x r, by rows */
    A[1][4] = -h, A[1][5] = -y;
    A[2][3] = h, A[2][5] = x;
}

/* A plate of 2 kg, 1 m by 1 m, touched in side x side points, pushed with px, py and the moment
 * turn; the slide of 1 kg is tied to its motion along x. */
static void make(plate *p, int side, double mu, double px, double py, double turn)
{
    *p = (plate){.M = {2, 2, 2, 0.2, 0.2, 0.4, 1}, .force = {px, py, -20, 0, 0, turn, 0}};
    for (int i = 0; i < side * side; i++) {
        double x = (double)(i % side) / (side - 1) - 0.5, y = (double)(i / side) / (side - 1) - 0.5;
        p->block[i] = (zw_block){.name = "point", .kind = ZW_CONE, .rows = 3, .friction = {mu, mu}};
        put_point(&p->A[3 * i], x, y, 0.05);
    }
    p->block[side * side] = (zw_block){.name = "tie", .kind = ZW_EQUALITY, .rows = 1};
    p->A[3 * side * side][0] = 1;
    p->A[3 * side * side][6] = -1;
    p->problem = (zw_gauss){.n = UNKNOWNS,
                            .metric = {.kind = ZW_METRIC_DIAGONAL, .value = p->M},
                            .force = p->force,
                            .block_count = side * side + 1,
                            .block = p->block,
                            .A = {.dense = &p->A[0][0]}};
}

static plate all, corners;

static void compare(zw_contact_law law, double mu, double px, double py, double turn, double *a)
{
    zw_gauss_options options = {.contact = law, .algebra = ZW_ALGEBRA_DENSE};
    make(&all, SIDE, mu, px, py, turn);
    make(&corners, 2, mu, px, py, turn);
    solved s = solve(&all.problem, &options), t = solve(&corners.problem, &options);
    assert_status(s, ZW_OK);
    assert_status(t, ZW_OK);
    assert_below(certify(&all.problem, law, s.motion.a, s.motion.lambda, NULL).worst, 1e-10);
    assert_int_equal(s.motion.factorizations, 0);         /* of the core, with its 1876 rows */
    if (turn == 0 || norm(UNKNOWNS, t.motion.a) < 1e-9) { /* sliding points turn with the plate */
        assert_true(difference(UNKNOWNS, s.motion.a, t.motion.a) < 1e-9);
    }
    assert_int_equal(s.motion.rank, 1);
    memcpy(a, s.motion.a, UNKNOWNS * sizeof *a);
    solved_free(&s);
    solved_free(&t);
}

static void holds_and_slides(void **state)
{
    double a[UNKNOWNS];
    (void)state;
    for (int law = ZW_CONTACT_COULOMB; law <= ZW_CONTACT_CONVEX; law++) {
        compare((zw_contact_law)law, 0.5, 6, 3, 0, a); /* 6.7 < 10 */
        assert_true(norm(UNKNOWNS, a) < 1e-9);
        compare((zw_contact_law)law, 0.5, 0, 0, 1, a);
        assert_true(norm(UNKNOWNS, a) < 1e-9);
    }
    compare(ZW_CONTACT_COULOMB, 0.5, 16, 0, 0, a); /* of 3 kg together */
    assert_close(a[0], (16 - 10) / 3.0, 1e-9);
    assert_close(a[6], (16 - 10) / 3.0, 1e-9);
    compare(ZW_CONTACT_COULOMB, 0.25, 0, 9, 0, a);
    assert_close(a[1], (9 - 5) / 2.0, 1e-9);
}

/* The plate turns in place, with less acceleration than without friction, which acts at every
 * point. The motion under Coulomb's law is not a minimum of Z. */
static void turns_in_place(void **state)
{
    double a[UNKNOWNS];
    (void)state;
    compare(ZW_CONTACT_COULOMB, 0.2, 0, 0, 4, a);
    assert_true(a[5] > 0 && a[5] < 4 / 0.4);
    assert_true(fabs(a[0]) < 1e-6 && fabs(a[1]) < 1e-6);
}

/* A known force C beside the reaction. */
static void with_a_known_force(void **state)
{
    zw_gauss_options options = {.algebra = ZW_ALGEBRA_DENSE};
    (void)state;
    make(&all, SIDE, 0.5, 16, 0, 0);
    all.C[0] = -3;
    all.problem.C = all.C;
    solved s = solve(&all.problem, &options);
    assert_status(s, ZW_OK);
    assert_close(s.motion.a[0], 1, 1e-9);
    assert_int_equal(s.motion.factorizations, 0);
    assert_close(s.motion.F_C[0], -2, 1e-9); /* on the plate; the slide takes the other 1 N */
    solved_free(&s);
}

/* Contacts that contradict each other are left to the core and not reported as solved. */
static void contradictions_are_named(void **state)
{
    static double b[3 * POINTS + 1];
    zw_gauss_options options = {.algebra = ZW_ALGEBRA_DENSE, .effort = 20};
    (void)state;
    make(&all, 12, 0, 0, 0, 0);
    for (int i = 0; i < 3 * 144;
         i += 6) { /* every second normal is reversed, yet both gaps must open */
        b[i] = b[i + 3] = 1;
        for (int j = 0; j < UNKNOWNS; j++) {
            all.A[i + 3][j] = -all.A[i][j];
        }
    }
    all.problem.b = b;
    solved s = solve(&all.problem, &options);
    assert_true(s.status != ZW_OK);
    solved_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_and_slides),
        cmocka_unit_test(turns_in_place),
        cmocka_unit_test(with_a_known_force),
        cmocka_unit_test(contradictions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
