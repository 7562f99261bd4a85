/* Dense algebra against its definitions: factors multiply back to what they came from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/dense/dense.h"
#include "scene/bounds.h"
#include "scene/dice.h"

#include <math.h>
#include <string.h>

enum { MAX = 40, STRIDE = MAX + 3 };

#define EXACT 1e-13

static void random_matrix(dice *d, int rows, int columns, double *A)
{
    for (int i = 0; i < rows * STRIDE; i++) {
        A[i] = NAN; /* what lies between the rows is never read */
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            A[i * STRIDE + j] = dice_bell(d);
        }
    }
}

static void random_vector(dice *d, int n, double *x)
{
    for (int i = 0; i < n; i++) {
        x[i] = dice_bell(d);
    }
}

static double difference(int n, const double *x, const double *y)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fabs(x[i] - y[i]) <= most ? most : fabs(x[i] - y[i]);
    }
    return most;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static void vectors(void **state)
{
    (void)state;
    dice d = dice_of(1);
    for (int n = 0; n <= MAX; n++) {
        double x[MAX + 1], y[MAX + 1], z[MAX + 1];
        random_vector(&d, MAX + 1, x);
        random_vector(&d, MAX + 1, y);
        long double sum = 0, square = 0, size = 0;
        double most = 0.0;
        for (int i = 0; i < n; i++) {
            sum += (long double)x[i] * y[i];
            square += (long double)x[i] * x[i];
            size += fabsl((long double)x[i] * y[i]);
            most = fmax(most, fabs(x[i]));
        }
        assert_small(fabs(dense_dot(n, x, y) - (double)sum), 1e-15 * (1.0 + (double)size));
        assert_small(fabs(dense_norm(n, x) - (double)sqrtl(square)), 1e-15 * n);
        assert_true(dense_largest(n, x) == most);
        memcpy(z, y, sizeof z);
        dense_axpy(n, 0.5, x, z);
        for (int i = 0; i <= MAX; i++) {
            assert_true(z[i] == (i < n ? y[i] + 0.5 * x[i] : y[i]));
        }
        dense_scale(n, -3.0, z);
        for (int i = 0; i <= MAX; i++) {
            assert_true(z[i] == (i < n ? -3.0 * (y[i] + 0.5 * x[i]) : y[i]));
        }
    }
}

/* Extreme numbers neither overflow nor vanish in a norm. */
static void norm_of_extreme_numbers(void **state)
{
    (void)state;
    const double large[2] = {3e90, 4e90}, tiny[2] = {3e-90, 4e-90};
    assert_small(fabs(dense_norm(2, large) / 5e90 - 1.0), 1e-15);
    assert_small(fabs(dense_norm(2, tiny) / 5e-90 - 1.0), 1e-15);
}

static void products(void **state)
{
    (void)state;
    dice d = dice_of(2);
    for (int k = 0; k < 200; k++) {
        int m = dice_int(&d, 1, MAX), n = dice_int(&d, 1, MAX);
        double A[MAX * STRIDE], x[MAX], y[MAX], Ax[MAX], Aty[MAX];
        random_matrix(&d, m, n, A);
        random_vector(&d, n, x);
        random_vector(&d, m, y);
        dense_multiply(m, n, A, STRIDE, x, Ax);
        dense_multiply_transposed(m, n, A, STRIDE, y, Aty);
        for (int i = 0; i < m; i++) {
            double sum = 0.0;
            for (int j = 0; j < n; j++) {
                sum += A[i * STRIDE + j] * x[j];
            }
            assert_small(fabs(Ax[i] - sum), EXACT);
        }
        assert_small(fabs(dense_dot(m, y, Ax) - dense_dot(n, Aty, x)), EXACT * m * n);
    }
}

/* ---- Cholesky -------------------------------------------------------------------------------- */

/* H = G'G + I, upper triangle only; below the diagonal NaN. */
static void random_definite(dice *d, int n, double *H)
{
    double G[MAX * STRIDE];
    random_matrix(d, n, n, G);
    for (int i = 0; i < n * STRIDE; i++) {
        H[i] = NAN;
    }
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            H[i * STRIDE + j] = i == j;
        }
    }
    for (int k = 0; k < n; k++) {
        dense_update_upper(n, 1.0, G + k * STRIDE, G + k * STRIDE, H, STRIDE);
    }
    for (int i = 0; i < n; i++) { /* the update is what it says */
        for (int j = i; j < n; j++) {
            double sum = i == j;
            for (int k = 0; k < n; k++) {
                sum += G[k * STRIDE + i] * G[k * STRIDE + j];
            }
            assert_small(fabs(H[i * STRIDE + j] - sum), EXACT * n);
        }
    }
}

static void cholesky(void **state)
{
    (void)state;
    dice d = dice_of(3);
    for (int n = 1; n <= MAX; n++) {
        double H[MAX * STRIDE], U[MAX * STRIDE], x[MAX], y[MAX] = {0};
        random_definite(&d, n, H);
        memcpy(U, H, sizeof U);
        assert_int_equal(dense_cholesky(n, U, STRIDE, 1e-14), n);
        for (int i = 0; i < n; i++) {
            for (int j = i; j < n; j++) {
                double sum = 0.0;
                for (int k = 0; k <= i; k++) {
                    sum += U[k * STRIDE + i] * U[k * STRIDE + j];
                }
                assert_small(fabs(sum - H[i * STRIDE + j]), EXACT * n);
            }
        }
        random_vector(&d, n, x);
        for (int i = 0; i < n; i++) { /* y = H x */
            for (int j = 0; j < n; j++) {
                y[i] += (j >= i ? H[i * STRIDE + j] : H[j * STRIDE + i]) * x[j];
            }
        }
        dense_solve_upper_transposed(n, U, STRIDE, y);
        dense_solve_upper(n, U, STRIDE, y);
        assert_small(difference(n, x, y), 1e-11);
    }
}

/* The first missing pivot is reported; the rows before it are factored. */
static void cholesky_tells_the_pivot(void **state)
{
    (void)state;
    double H[9] = {4, 2, 2, NAN, 1, 1, NAN, NAN, 5};
    assert_int_equal(dense_cholesky(3, H, 3, 1e-12), 1);
    assert_true(H[0] == 2.0 && H[1] == 1.0 && H[2] == 1.0);
    double negative[4] = {1, 2, NAN, 1}, none[1] = {0}, nan[1] = {NAN};
    assert_int_equal(dense_cholesky(2, negative, 2, 1e-12), 1);
    assert_int_equal(dense_cholesky(1, none, 1, 1e-12), 0);
    assert_int_equal(dense_cholesky(1, nan, 1, 1e-12), 0);
}

/* ---- LU -------------------------------------------------------------------------------------- */

static void elimination(void **state)
{
    (void)state;
    dice d = dice_of(4);
    for (int n = 1; n <= MAX; n++) {
        double J[MAX * STRIDE], F[MAX * MAX], x[MAX], y[MAX], Jx[MAX], back[MAX];
        random_matrix(&d, n, n, J);
        J[0] = 0.0; /* ask for pivoting */
        if (n == 1) {
            J[0] = 2.0;
        }
        for (int i = 0; i < n; i++) {
            memcpy(F + i * MAX, J + i * STRIDE, MAX * sizeof *F);
        }
        random_vector(&d, n, x);
        dense_multiply(n, n, J, STRIDE, x, Jx);
        memcpy(y, Jx, sizeof y);
        dense_solve_general(n, F, MAX, 1e-300, y);
        dense_multiply(n, n, J, STRIDE, y, back);
        assert_small(difference(n, back, Jx), 1e-12 * n); /* the residual is small always */
    }
    double zero[16] = {0}, b[2] = {1, 1};
    dense_solve_general(2, zero, 8, 1e-3, b);
    assert_small(fabs(b[0] - 1000.0) + fabs(b[1] - 1000.0), 1e-10); /* it becomes `floor` */
}

static void symmetric(void **state)
{
    (void)state;
    dice d = dice_of(6);
    for (int n = 1; n <= MAX; n++) {
        double A[MAX * STRIDE], M[MAX * STRIDE], x[MAX], y[MAX], Ax[MAX];
        random_matrix(&d, n, n, A);
        random_vector(&d, n, x);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                A[i * STRIDE + j] = A[j * STRIDE + i];
                M[i * STRIDE + j] = j <= i ? A[i * STRIDE + j] : NAN; /* never read */
            }
        }
        dense_multiply(n, n, A, STRIDE, x, Ax);
        dense_multiply_symmetric(n, M, STRIDE, x, y);
        assert_small(difference(n, y, Ax), 1e-13 * n);
    }
}

/* Whole lines at once are the sums that dense_combine makes one by one, bit by bit. */
static void product(void **state)
{
    (void)state;
    dice d = dice_of(5);
    for (int m = 1; m <= 9; m++) {
        double s[MAX * STRIDE], rows[MAX * STRIDE], Y[9 * MAX] = {0}, y[9 * MAX] = {0};
        random_matrix(&d, MAX, MAX, s);
        random_matrix(&d, MAX, MAX, rows);
        dense_product(m % 2, m, 11, 3 + 2 * m, s, 1, STRIDE, rows, STRIDE, Y, MAX);
        for (int a = 0; a < m; a++) {
            dense_combine(11, 3 + 2 * m, s + a, STRIDE, rows, STRIDE, y + a * MAX);
        }
        assert_memory_equal(Y, y, sizeof Y);
    }
}

/* ---- LQ and rank ----------------------------------------------------------------------------- */

/* A (rows as ordered) = [L 0] Q', and Q is orthogonal. */
static void check_lq(int m, int n, const double *A, double tolerance, int expected)
{
    double F[MAX * STRIDE], beta[MAX], distance[2 * MAX], row[MAX], unit[MAX];
    int order[MAX], seen[MAX] = {0};
    memcpy(F, A, sizeof F);
    int rank = dense_lq(m, n, F, STRIDE, tolerance, order, beta, distance);
    assert_int_equal(rank, expected);
    for (int i = 0; i < m; i++) {
        assert_true(order[i] >= 0 && order[i] < m && !seen[order[i]]++);
        memcpy(row, A + order[i] * STRIDE, (size_t)n * sizeof *row);
        double length = dense_norm(n, row);
        dense_lq_apply_transposed(rank, n, F, STRIDE, beta, row); /* Q' a = the row of [L 0] */
        for (int j = 0; j < n; j++) {
            int in_L = j <= i && j < rank;
            double L = in_L ? F[i * STRIDE + j] : 0.0;
            assert_small(fabs(row[j] - L), EXACT * (1 + length) + (in_L ? 0.0 : tolerance));
        }
        dense_lq_apply(rank, n, F, STRIDE, beta, row);
        assert_small(difference(n, row, A + order[i] * STRIDE), EXACT * (1 + length));
    }
    for (int i = 0; i + 1 < rank; i++) { /* farthest first */
        assert_true(fabs(F[(i + 1) * STRIDE + i + 1]) <= fabs(F[i * STRIDE + i]) * (1 + 1e-12));
    }
    for (int j = 0; j < n; j++) {
        memset(unit, 0, sizeof unit);
        unit[j] = 1.0;
        dense_lq_apply(rank, n, F, STRIDE, beta, unit);
        assert_small(fabs(dense_norm(n, unit) - 1.0), EXACT);
    }
}

static void lq_of_full_rank(void **state)
{
    (void)state;
    dice d = dice_of(5);
    for (int k = 0; k < 200; k++) {
        int m = dice_int(&d, 1, MAX), n = dice_int(&d, 1, MAX);
        double A[MAX * STRIDE];
        random_matrix(&d, m, n, A);
        check_lq(m, n, A, 1e-10, m < n ? m : n);
    }
}

/* Copies, multiples, sums and zeros do not count. */
static void lq_of_dependent_rows(void **state)
{
    (void)state;
    dice d = dice_of(6);
    for (int k = 0; k < 200; k++) {
        int n = dice_int(&d, 2, MAX), rank = dice_int(&d, 1, n), m = dice_int(&d, rank, MAX);
        double A[MAX * STRIDE];
        random_matrix(&d, m, n, A);
        for (int i = rank; i < m; i++) {
            int p = dice_int(&d, 0, rank - 1), q = dice_int(&d, 0, rank - 1);
            double s = i % 4 == 0 ? 0.0 : dice_bell(&d), t = i % 3 == 0 ? 0.0 : dice_bell(&d);
            for (int j = 0; j < n; j++) {
                A[i * STRIDE + j] = s * A[p * STRIDE + j] + t * A[q * STRIDE + j];
            }
        }
        check_lq(m, n, A, 1e-10, rank);
    }
}

/* Unit rows that are 1e-9 apart are two, those that are 1e-13 apart are one: the distance decides.
 */
static void lq_of_graded_rows(void **state)
{
    (void)state;
    dice d = dice_of(7);
    for (int k = 0; k < 100; k++) {
        int n = dice_int(&d, 3, 12), expected = 0;
        double A[MAX * STRIDE];
        random_matrix(&d, 2 * (n / 2), n, A);
        for (int i = 0; i < 2 * (n / 2); i++) {
            dense_scale(n, 1.0 / dense_norm(n, A + i * STRIDE), A + i * STRIDE);
        }
        for (int i = 0; i < n / 2; i++) { /* row 2 i + 1: near row 2 i, along an axis of its own */
            double apart = i % 2 == 0 ? 1e-9 : 1e-13;
            memcpy(A + (2 * i + 1) * STRIDE, A + 2 * i * STRIDE, (size_t)n * sizeof *A);
            A[(2 * i + 1) * STRIDE + 2 * i] += 30 * apart;
            expected += i % 2 == 0 ? 2 : 1;
        }
        double F[MAX * STRIDE], beta[MAX], distance[2 * MAX];
        int order[MAX];
        memcpy(F, A, sizeof F);
        assert_int_equal(dense_lq(2 * (n / 2), n, F, STRIDE, 1e-10, order, beta, distance),
                         expected);
    }
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* Alignment of the data does not change a bit. */
static void bits_do_not_depend_on_alignment(void **state)
{
    (void)state;
    dice d = dice_of(8);
    _Alignas(64) double x[MAX + 8], y[MAX + 8], u[MAX + 8], v[MAX + 8];
    for (int n = 0; n <= MAX; n++) {
        random_vector(&d, n, x);
        random_vector(&d, n, y);
        double expected = dense_dot(n, x, y);
        for (int shift = 1; shift < 8; shift++) {
            memcpy(u + shift, x, (size_t)n * sizeof *x);
            memcpy(v + 8 - shift, y, (size_t)n * sizeof *y);
            double got = dense_dot(n, u + shift, v + 8 - shift);
            assert_memory_equal(&got, &expected, sizeof got);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors),
        cmocka_unit_test(norm_of_extreme_numbers),
        cmocka_unit_test(products),
        cmocka_unit_test(cholesky),
        cmocka_unit_test(cholesky_tells_the_pivot),
        cmocka_unit_test(elimination),
        cmocka_unit_test(product),
        cmocka_unit_test(symmetric),
        cmocka_unit_test(lq_of_full_rank),
        cmocka_unit_test(lq_of_dependent_rows),
        cmocka_unit_test(lq_of_graded_rows),
        cmocka_unit_test(bits_do_not_depend_on_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
