/* The kernel compared with independent exact solutions: reference_data.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/reference_data.h"
#include "gauss/solved.h"

#include <string.h>

#define TIGHT 1e-12 /* the references suggest 1e-10 */
#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

/* One block for each row, named after its number. */
static const char *const row_names[] = {"row 0", "row 1", "row 2", "row 3", "row 4", "row 5"};

static void blocks_of_rows(int m, zw_block_kind kind, zw_block *block)
{
    for (int i = 0; i < m; i++) {
        block[i] = (zw_block){.name = row_names[i], .kind = kind, .rows = 1};
    }
}

/* ---- D01 ---------------------------------------------------------------------------------- */

static void underdetermined(const reference_underdetermined *c)
{
    zw_block block[6];
    blocks_of_rows(c->m, ZW_EQUALITY, block);
    zw_gauss problem = {.n = c->n,
                        .free = c->s,
                        .block_count = c->m,
                        .block = block,
                        .A.dense = c->A,
                        .b = c->b,
                        .C = c->c};
    zw_gauss_options options = {.least_squares = 1};
    solved s = solve(&problem, &options);
    assert_status(s, c->consistent ? ZW_OK : ZW_CONFLICT);
    assert_int_equal(s.motion.rank, c->rank);
    assert_int_equal(s.motion.conflict_count > 0, !c->consistent);
    assert_all_close(c->n, s.motion.a, c->xdd, TIGHT);
    assert_all_close(c->n, s.motion.F_N, c->s, TIGHT);
    assert_all_close(c->n, s.motion.F_L, c->v1, TIGHT);
    assert_all_close(c->n, s.motion.F_C, c->v2, TIGHT);
    assert_all_close(c->m, s.motion.residual, c->residual, TIGHT);
    for (int k = 0; k < c->virtual_count; k++) { /* eqs. (44), (46) */
        assert_close(dot(c->n, c->v[k], s.motion.F_L), 0.0, TIGHT);
        assert_close(dot(c->n, c->v[k], s.motion.F_C), c->v_c[k], TIGHT);
    }
    assert_close(dot(c->n, s.motion.F_L, s.motion.F_C), 0.0, TIGHT); /* eq. (47) */
    solved_free(&s);
}

static void D01_underdetermined_systems(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(reference_D01); i++) {
        print_message("    %s\n", reference_D01[i].name);
        underdetermined(&reference_D01[i]);
    }
}

/* ---- C06 ---------------------------------------------------------------------------------- */

static void split(const reference_split *c)
{
    zw_block block[6];
    blocks_of_rows(c->m, ZW_EQUALITY, block);
    zw_gauss problem = {.n = c->n,
                        .metric = {.kind = ZW_METRIC_DENSE, .value = c->M},
                        .free = c->a,
                        .block_count = c->m,
                        .block = block,
                        .A.dense = c->A,
                        .b = c->b,
                        .C = c->C};
    solved s = solve(&problem, NULL);
    assert_status(s, ZW_OK);
    assert_int_equal(s.motion.rank, c->rank);
    assert_all_close(c->n, s.motion.a, c->xdd, TIGHT);
    assert_all_close(c->n, s.motion.F_N, c->F_N, TIGHT);
    assert_all_close(c->n, s.motion.F_L, c->F_L, TIGHT);
    assert_all_close(c->n, s.motion.F_C, c->F_C, TIGHT);
    assert_close(2.0 * s.motion.Z, c->Z, TIGHT);
    for (int k = 0; k < c->virtual_count; k++) { /* eqs. (32), (35) */
        const double *v = c->v[k];
        double F_L = dot(c->n, v, s.motion.F_L), F_C = dot(c->n, v, s.motion.F_C);
        assert_close(F_L, 0.0, TIGHT);
        assert_close(F_L + F_C, c->v_C[k], TIGHT);
    }
    solved_free(&s);

    /* Eq. (26): with C among the applied forces the motion is the same. */
    double force[4];
    for (int i = 0; i < c->n; i++) {
        force[i] = c->F_N[i] + c->C[i];
    }
    problem.free = problem.C = NULL;
    problem.force = force;
    s = solve(&problem, NULL);
    assert_status(s, ZW_OK);
    assert_all_close(c->n, s.motion.a, c->xdd, TIGHT);
    assert_close(2.0 * s.motion.Z, c->Z_extended, TIGHT);
    solved_free(&s);
}

static void C06_force_split(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(reference_C06); i++) {
        print_message("    %s\n", reference_C06[i].name);
        split(&reference_C06[i]);
    }
}

/* ---- A08 ---------------------------------------------------------------------------------- */

/* With r = (x1, y1), d = (x2 - x1, y2 - y1), u and w their velocities:
 *   phi1 = r.r - 1      gradient (2r, 0)       phi1'' = 0:  2 r.a1 = -2 u.u
 *   phi2 = d.d - 1      gradient (-2d, 2d)     phi2'' = 0:  2 d.(a2 - a1) = -2 w.w
 *   |r| - 1             r.a1/|r| = -u.u/|r| + (r.u)^2/|r|^3
 *   exp(phi2) - 1       exp(phi2) (phi2'' + phi2'^2) = 0 */
static void pendulum_rows(const reference_pendulum *c, double A[6][4], double b[6])
{
    double r[2] = {c->q[0], c->q[1]}, d[2] = {c->q[2] - c->q[0], c->q[3] - c->q[1]};
    double u[2] = {c->v[0], c->v[1]}, w[2] = {c->v[2] - c->v[0], c->v[3] - c->v[1]};
    double length = norm(2, r), e = exp(dot(2, d, d) - 1.0), rate = 2.0 * dot(2, d, w);
    double b1 = -2.0 * dot(2, u, u), b2 = -2.0 * dot(2, w, w);
    for (int j = 0; j < 4; j++) {
        double g1 = j < 2 ? 2.0 * r[j] : 0.0, g2 = j < 2 ? -2.0 * d[j] : 2.0 * d[j - 2];
        A[0][j] = A[1][j] = g1;
        A[2][j] = 7.0 * g2;
        A[3][j] = g1 + g2;
        A[4][j] = j < 2 ? r[j] / length : 0.0;
        A[5][j] = e * g2;
    }
    b[0] = b[1] = b1;
    b[2] = 7.0 * b2;
    b[3] = b1 + b2;
    b[4] = -dot(2, u, u) / length + pow(dot(2, r, u), 2) / pow(length, 3);
    b[5] = e * (b2 - rate * rate);
}

static void pendulum(const reference_pendulum *c)
{
    double A[6][4], b[6], free[4] = {0, -reference_A08_g, 0, -reference_A08_g};
    zw_block block[6];
    pendulum_rows(c, A, b);
    blocks_of_rows(6, ZW_EQUALITY, block);
    zw_gauss problem = {
        .n = 4, .free = free, .block_count = 6, .block = block, .A.dense = A[0], .b = b};
    solved s = solve(&problem, NULL);
    assert_status(s, ZW_OK);
    assert_int_equal(s.motion.rank, 2);
    assert_int_equal(s.motion.redundant_count, 4);
    for (int k = 0; k < 6; k++) { /* rows 0 and 2 come first in their kind */
        assert_int_equal(lists(s.motion.redundant_count, s.motion.redundant, k), k != 0 && k != 2);
    }
    assert_all_close(4, s.motion.a, c->acceleration, TIGHT);
    assert_all_close(4, s.motion.F_L, c->F_L, TIGHT);
    assert_close(2.0 * s.motion.Z, c->Z, TIGHT);
    solved_free(&s);
}

static void A08_redundant_double_pendulum(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(reference_A08); i++) {
        print_message("    %s\n", reference_A08[i].name);
        pendulum(&reference_A08[i]);
    }
}

/* ---- A09 ---------------------------------------------------------------------------------- */

static void A09_inconsistent_rows(void **state)
{
    (void)state;
    zw_block block[6];
    blocks_of_rows(3, ZW_EQUALITY, block);
    zw_gauss problem = {.n = 3,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = reference_A09_M},
                        .free = reference_A09_free,
                        .block_count = 3,
                        .block = block,
                        .A.dense = reference_A09_A,
                        .b = reference_A09_b};
    solved s = solve(&problem, NULL);
    assert_status(s, ZW_CONFLICT);
    assert_int_equal(s.motion.conflict_count, 2);
    assert_true(lists(2, s.motion.conflict, 0) && lists(2, s.motion.conflict, 1));
    assert_non_null(strstr(s.error.text, "row 0"));
    assert_non_null(strstr(s.error.text, "row 1"));
    assert_null(strstr(s.error.text, "row 2"));
    solved_free(&s);

    zw_gauss_options options = {.least_squares = 1};
    s = solve(&problem, &options);
    assert_status(s, ZW_CONFLICT);
    assert_int_equal(s.motion.conflict_count, 2);
    assert_int_equal(s.motion.rank, 2);
    assert_all_close(3, s.motion.a, reference_A09_xdd, TIGHT);
    assert_all_close(3, s.motion.residual, reference_A09_residual, TIGHT);
    assert_close(norm(3, s.motion.residual), 1.0 / sqrt(5.0), TIGHT);
    solved_free(&s);
}

/* ---- E07 ---------------------------------------------------------------------------------- */

/* Remark a) of Kozlov (2000): Gauss's principle holds in any metric B, |R + B (x_c - x_a)|^2 in
 * B^-1, R = M (x_a - x_r) being the reaction of the actual motion. It is least at x_c = x_a; that
 * is the kernel's problem with the metric B and x_a - B^-1 R for the free motion. */
static double zwang_in(const double *B, const double *free, const double *x)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            sum += (x[i] - free[i]) * B[3 * i + j] * (x[j] - free[j]);
        }
    }
    return sum;
}

static solved solve_in(const double *B, const double *force, const double *free, const double *A,
                       const double *b)
{
    static const zw_block block[] = {{.name = "row", .kind = ZW_EQUALITY, .rows = 1}};
    zw_gauss problem = {.n = 3,
                        .metric = {.kind = ZW_METRIC_DENSE, .value = B},
                        .force = force,
                        .free = free,
                        .block_count = A ? 1 : 0,
                        .block = block,
                        .A.dense = A,
                        .b = b};
    return solve(&problem, NULL);
}

static void E07_any_metric(void **state)
{
    static const double M[9] = {4, 1, 0, 1, 3, -1, 0, -1, 2}, released[3] = {1, -2, 3};
    static const double A[3] = {1, 0, 2}, b[1] = {0.5};
    static const double actual[3] = {17.0 / 30, -43.0 / 15, -1.0 / 30}, R[3] = {-2.6, 0, -5.2};
    static const struct {
        double B[9], Z, Z_1_0, Z_half_minus1;
    } row[] = {{{4, 1, 0, 1, 3, -1, 0, -1, 2}, 16.9, 19.9, 38.65},
               {{1, 0, 0, 0, 1, 0, 0, 0, 1}, 33.8, 34.8, 39.05},
               {{1, 0, 0, 0, 5, 0, 0, 0, 2}, 20.28, 25.28, 27.53},
               {{2, 1, 0, 1, 2, 1, 0, 1, 2}, 32.11, 34.11, 43.61}};
    (void)state;
    solved gauss = solve_in(M, NULL, released, A, b);
    assert_all_close(3, gauss.motion.a, actual, TIGHT);
    assert_all_close(3, gauss.motion.F_L, R, TIGHT);
    solved_free(&gauss);
    for (int k = 0; k < COUNT(row); k++) {
        solved push = solve_in(row[k].B, R, NULL, NULL, NULL); /* B^-1 R */
        double free[3], here[3] = {actual[0], actual[1] + 1, actual[2]};
        double there[3] = {actual[0] + 2, actual[1] + 0.5, actual[2] - 1};
        for (int i = 0; i < 3; i++) {
            free[i] = actual[i] - push.motion.a[i];
        }
        solved s = solve_in(row[k].B, NULL, free, A, b);
        assert_all_close(3, s.motion.a, actual, TIGHT);
        assert_close(2 * s.motion.Z, row[k].Z, TIGHT);
        assert_close(zwang_in(row[k].B, free, here), row[k].Z_1_0, TIGHT);
        assert_close(zwang_in(row[k].B, free, there), row[k].Z_half_minus1, TIGHT);
        solved_free(&push);
        solved_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(D01_underdetermined_systems),
        cmocka_unit_test(C06_force_split),
        cmocka_unit_test(A08_redundant_double_pendulum),
        cmocka_unit_test(A09_inconsistent_rows),
        cmocka_unit_test(E07_any_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
