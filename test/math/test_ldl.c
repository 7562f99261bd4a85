/* K = L D L': equal to dense elimination, signs as predicted, redundant rows found, same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "math/sparse/ldl.h"
#include "math/sparse/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOOR 1e-11

/* A matrix under construction: columns are appended. */
typedef struct matrix {
    int n, entries, capacity;
    int *start, *row;
    double *value;
    signed char *sign;
} matrix;

static double uniform(void) /* -1..1 */
{
    return 2.0 * rand() / RAND_MAX - 1;
}

static matrix matrix_new(int n, int capacity)
{
    matrix k = {.capacity = capacity};
    k.start = calloc((size_t)n + 1, sizeof(int));
    k.row = calloc((size_t)capacity + 1, sizeof(int));
    k.value = calloc((size_t)capacity + 1, sizeof(double));
    k.sign = calloc((size_t)n + 1, 1);
    return k;
}

static void matrix_free(matrix *k)
{
    free(k->start);
    free(k->row);
    free(k->value);
    free(k->sign);
}

static void matrix_entry(matrix *k, int row, double value)
{
    assert_true(k->entries < k->capacity);
    k->row[k->entries] = row;
    k->value[k->entries++] = value;
    k->start[k->n] = k->entries;
}

static void matrix_column(matrix *k, int sign, double diagonal)
{
    k->sign[k->n] = (signed char)sign;
    k->start[k->n + 1] = k->entries;
    k->n++;
    matrix_entry(k, k->n - 1, diagonal);
}

/* M diagonally dominant, A random, -E on the rows; some entries are repeated. */
static matrix matrix_random(int n, double E)
{
    matrix k = matrix_new(n, 20 * n + 1);
    int coordinates = n - rand() % (n / 2 + 1);
    for (int i = 0; i < n; i++) {
        int row = i >= coordinates, reach = row ? coordinates : i;
        matrix_column(&k, row ? -1 : 1, row ? -E : 6 + uniform());
        for (int e = rand() % 4 + 2 * row; e > 0 && reach > 0; e--) {
            matrix_entry(&k, rand() % reach, row ? uniform() : 0.5 * uniform());
        }
    }
    for (int e = 0; e < n / 8; e++) {
        matrix_entry(&k, n - 1, k.sign[n - 1] * 0.1);
    }
    return k;
}

/* The same matrix, given by entries on the other side of the diagonal; with `mixed`, some of them.
 */
static void matrix_flip(matrix *k, int mixed)
{
    matrix t = matrix_new(k->n, k->capacity);
    for (int c = 0; c < k->n; c++) {
        matrix_column(&t, k->sign[c], 0);
        for (int j = 0; j < k->n; j++) {
            for (int p = k->start[j]; p < k->start[j + 1]; p++) {
                int stays = mixed && p % 2, column = stays ? j : k->row[p];
                if (column == c) {
                    matrix_entry(&t, stays ? k->row[p] : j, k->value[p]);
                }
            }
        }
    }
    matrix_free(k);
    *k = t;
}

/* An open chain or net of points in space, mass 1 + i/n, distance rows in random directions, E = 0.
 */
static matrix matrix_net(int width, int height)
{
    int points = width * height;
    matrix k = matrix_new(5 * points, 17 * points);
    for (int i = 0; i < 3 * points; i++) {
        matrix_column(&k, 1, 1 + (double)(i / 3) / points);
    }
    for (int a = 0; a < points; a++) {
        int other[2] = {a % width + 1 < width ? a + 1 : -1, a + width < points ? a + width : -1};
        for (int e = 0; e < 2; e++) {
            if (other[e] >= 0) {
                matrix_column(&k, -1, 0);
                for (int c = 0; c < 3; c++) {
                    double g = uniform();
                    matrix_entry(&k, 3 * a + c, g);
                    matrix_entry(&k, 3 * other[e] + c, -g);
                }
            }
        }
    }
    return k;
}

static double largest(int n, const double *x)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

/* r = b - K x; returns max |r|. */
static double residual(const matrix *k, const double *b, const double *x, double *r)
{
    sparse_multiply(k->n, k->start, k->row, k->value, x, r);
    for (int i = 0; i < k->n; i++) {
        r[i] = b[i] - r[i];
    }
    return largest(k->n, r);
}

/* x = K \ b with some refinements; returns the scaled residual. r[n]. */
static double solve(const matrix *k, sparse_ldl *f, const double *b, double *x, double *r,
                    int refinements)
{
    memcpy(x, b, sizeof(double) * (size_t)k->n);
    sparse_ldl_solve(f, x);
    for (int t = 0; t < refinements; t++) {
        residual(k, b, x, r);
        sparse_ldl_solve(f, r);
        for (int i = 0; i < k->n; i++) {
            x[i] += r[i];
        }
    }
    double scale = largest(k->entries, k->value) * largest(k->n, x) + largest(k->n, b);
    return residual(k, b, x, r) / (scale > 0 ? scale : 1);
}

/* x = K \ b by Gaussian elimination with partial pivoting. */
static void dense_solve(const matrix *k, const double *b, double *x)
{
    size_t n = (size_t)k->n;
    double *a = calloc(n * n + 1, sizeof(double));
    for (size_t j = 0; j < n; j++) {
        for (int p = k->start[j]; p < k->start[j + 1]; p++) {
            size_t i = (size_t)k->row[p];
            a[i * n + j] += k->value[p];
            a[j * n + i] += i != j ? k->value[p] : 0;
        }
    }
    memcpy(x, b, sizeof(double) * n);
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t i = c; i < n; i++) {
            best = fabs(a[i * n + c]) > fabs(a[best * n + c]) ? i : best;
        }
        for (size_t j = 0; j < n; j++) {
            double t = a[c * n + j];
            a[c * n + j] = a[best * n + j];
            a[best * n + j] = t;
        }
        double t = x[c];
        x[c] = x[best];
        x[best] = t;
        for (size_t i = c + 1; i < n; i++) {
            double s = a[i * n + c] / a[c * n + c];
            for (size_t j = c; j < n; j++) {
                a[i * n + j] -= s * a[c * n + j];
            }
            x[i] -= s * x[c];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) {
            x[i] -= a[i * n + j] * x[j];
        }
        x[i] /= a[i * n + i];
    }
    free(a);
}

static void test_random_equals_dense_elimination(void **state)
{
    (void)state;
    srand(2);
    double b[80], x[80], y[80], r[80];
    for (int trial = 0; trial < 4000; trial++) {
        int n = 1 + trial % 80;
        matrix k = matrix_random(n, trial % 3 == 0 ? 1e-3 : 1);
        if (trial % 4 > 1) {
            matrix_flip(&k, trial % 2);
        }
        sparse_ldl *f = sparse_ldl_analyse(n, k.start, k.row, k.sign);
        assert_non_null(f);
        assert_int_equal(sparse_ldl_factor(f, k.value, FLOOR), 0);
        for (int i = 0; i < n; i++) {
            b[i] = uniform();
            assert_true(k.sign[i] * sparse_ldl_pivots(f)[i] > 0);
            assert_int_equal(sparse_ldl_replaced(f)[i], 0);
        }
        assert_true(solve(&k, f, b, x, r, 1) <= 1e-12);
        dense_solve(&k, b, y);
        for (int i = 0; i < n; i++) {
            assert_true(fabs(x[i] - y[i]) <= 1e-9 * (1 + largest(n, y)));
        }
        sparse_ldl_free(f);
        matrix_free(&k);
    }
}

static void check_large(matrix k, double tolerance)
{
    size_t n = (size_t)k.n;
    double *work = calloc(3 * n, sizeof(double)), *b = work, *x = work + n, *r = work + 2 * n;
    sparse_ldl *f = sparse_ldl_analyse(k.n, k.start, k.row, k.sign);
    assert_non_null(f);
    assert_int_equal(sparse_ldl_factor(f, k.value, FLOOR), 0);
    for (int i = 0; i < k.n; i++) {
        b[i] = uniform();
    }
    assert_true(solve(&k, f, b, x, r, 1) <= tolerance);
    assert_true(sparse_ldl_stored(f) >= sparse_ldl_fill(f) + n);
    sparse_ldl_free(f);
    free(work);
    matrix_free(&k);
}

static void test_chains_and_nets(void **state)
{
    (void)state;
    check_large(matrix_net(20000, 1), 1e-12);
    check_large(matrix_net(1, 3), 1e-12);
    check_large(matrix_net(60, 60), 1e-12); /* fronts wider than a block */
    check_large(matrix_net(150, 150), 1e-12);
}

static void test_chain_storage_is_linear(void **state)
{
    (void)state;
    for (int links = 100; links <= 100000; links *= 10) {
        matrix k = matrix_net(links, 1);
        sparse_ldl *f = sparse_ldl_analyse(k.n, k.start, k.row, k.sign);
        assert_non_null(f);
        assert_true(sparse_ldl_fill(f) <= 8 * (size_t)links);
        assert_true(sparse_ldl_stored(f) <= 30 * (size_t)links);
        sparse_ldl_free(f);
        matrix_free(&k);
    }
}

/* A vertical chain: the rows act on one coordinate of each point, the others are zeros in the
 * pattern. An order that does not know saddle points meets zero pivots here. */
static void test_zeros_inside_the_pattern(void **state)
{
    (void)state;
    matrix k = matrix_net(500, 1);
    for (int j = 0; j < k.n; j++) {
        for (int p = k.start[j]; k.sign[j] < 0 && p < k.start[j + 1]; p++) {
            int which = k.row[p] % 3;
            k.value[p] *= k.row[p] != j && which == 2;
        }
    }
    check_large(k, 1e-12);
}

/* Append copies and sums of earlier rows, with E = 0. Returns how many. */
static int add_redundant_rows(matrix *k, int count)
{
    int rows[400], found = 0;
    for (int j = 0; j < k->n && found < 400; j++) {
        if (k->sign[j] < 0) {
            rows[found++] = j;
        }
    }
    for (int c = 0; c < count; c++) {
        int terms = 1 + c % 2;
        matrix_column(k, -1, 0);
        for (int t = 0; t < terms; t++) {
            int j = rows[rand() % found];
            double s = terms == 1 ? 1 : uniform();
            for (int p = k->start[j]; p < k->start[j + 1]; p++) {
                if (k->row[p] != j) {
                    matrix_entry(k, k->row[p], s * k->value[p]);
                }
            }
        }
    }
    return count;
}

static void test_redundant_rows(void **state)
{
    (void)state;
    srand(3);
    for (int trial = 0; trial < 200; trial++) {
        matrix k = matrix_net(3 + rand() % 30, 1 + trial % 3);
        int count = rand() % 8;
        k.capacity += 14 * count;
        size_t n = (size_t)(k.n + count);
        k.start = realloc(k.start, sizeof(int) * (n + 1));
        k.row = realloc(k.row, sizeof(int) * (size_t)k.capacity);
        k.value = realloc(k.value, sizeof(double) * (size_t)k.capacity);
        k.sign = realloc(k.sign, n);
        add_redundant_rows(&k, count);

        sparse_ldl *f = sparse_ldl_analyse(k.n, k.start, k.row, k.sign);
        assert_non_null(f);
        assert_int_equal(sparse_ldl_factor(f, k.value, 1e-9), count);
        int flagged = 0;
        for (int i = 0; i < k.n; i++) {
            flagged += sparse_ldl_replaced(f)[i];
            assert_true(!sparse_ldl_replaced(f)[i] || k.sign[i] < 0);
        }
        assert_int_equal(flagged, count);

        /* A consistent right side b = K y: the accelerations are y's, the forces balance. */
        double *work = calloc(4 * n, sizeof(double));
        double *y = work, *b = work + n, *x = work + 2 * n, *r = work + 3 * n;
        for (size_t i = 0; i < n; i++) {
            y[i] = uniform();
        }
        sparse_multiply(k.n, k.start, k.row, k.value, y, b);
        assert_true(solve(&k, f, b, x, r, 3) <= 1e-12);
        for (size_t i = 0; i < n; i++) {
            assert_true(k.sign[i] < 0 || fabs(x[i] - y[i]) <= 1e-8);
        }
        free(work);
        sparse_ldl_free(f);
        matrix_free(&k);
    }
}

static void test_wrong_sign_is_replaced(void **state)
{
    (void)state;
    int start[] = {0, 1, 2, 3}, row[] = {0, 1, 2};
    signed char sign[] = {1, -1, 1};
    double value[] = {-2, 3, 0};
    sparse_ldl *f = sparse_ldl_analyse(3, start, row, sign);
    assert_non_null(f);
    assert_int_equal(sparse_ldl_factor(f, value, 1e-3), 3);
    const double *d = sparse_ldl_pivots(f);
    assert_float_equal(d[0], 2e-3, 1e-15);  /* floor times |K_00| */
    assert_float_equal(d[1], -3e-3, 1e-15); /* floor times |K_11| */
    assert_float_equal(d[2], 3e-3, 1e-15);  /* made of nothing: floor times the largest entry */
    sparse_ldl_free(f);
}

static void test_not_finite(void **state)
{
    (void)state;
    matrix k = matrix_net(6, 4);
    double b[1000] = {1}, x[1000], r[1000];
    sparse_ldl *f = sparse_ldl_analyse(k.n, k.start, k.row, k.sign);
    assert_non_null(f);
    for (int p = 0; p < k.entries; p++) {
        double kept = k.value[p];
        k.value[p] = NAN;
        assert_int_equal(sparse_ldl_factor(f, k.value, FLOOR), -1);
        k.value[p] = p % 2 ? INFINITY : -INFINITY;
        assert_int_equal(sparse_ldl_factor(f, k.value, FLOOR), -1);
        k.value[p] = kept;
    }
    assert_int_equal(sparse_ldl_factor(f, k.value, FLOOR), 0); /* and no trace is left */
    assert_true(solve(&k, f, b, x, r, 1) <= 1e-12);
    sparse_ldl_free(f);
    matrix_free(&k);
}

static void test_same_bits(void **state)
{
    (void)state;
    matrix k = matrix_net(40, 40);
    size_t n = (size_t)k.n, bytes = n * sizeof(double);
    double *x = calloc(3 * n, sizeof(double)), *first = x + n, *b = x + 2 * n;
    for (size_t i = 0; i < n; i++) {
        b[i] = uniform();
    }
    for (int t = 0; t < 4; t++) {
        sparse_ldl *f = sparse_ldl_analyse(k.n, k.start, k.row, k.sign);
        assert_non_null(f);
        for (int again = 0; again < 3; again++) {
            double kept = k.value[0];
            k.value[0] = 17 + again; /* other numbers in between */
            assert_int_equal(sparse_ldl_factor(f, k.value, FLOOR), 0);
            k.value[0] = kept;
            assert_int_equal(sparse_ldl_factor(f, k.value, FLOOR), 0);
            memcpy(x, b, bytes);
            sparse_ldl_solve(f, x);
            if (t + again == 0) {
                memcpy(first, x, bytes);
            }
            assert_memory_equal(x, first, bytes);
        }
        sparse_ldl_free(f);
    }
    free(x);
    matrix_free(&k);
}

static void test_empty_and_single(void **state)
{
    (void)state;
    int start[] = {0, 1}, row[] = {0};
    signed char sign[] = {-1};
    double value[] = {-4}, x[] = {2};
    sparse_ldl *f = sparse_ldl_analyse(0, start, row, sign);
    assert_non_null(f);
    assert_int_equal(sparse_ldl_factor(f, value, FLOOR), 0);
    sparse_ldl_solve(f, x);
    assert_int_equal(sparse_ldl_fill(f), 0);
    sparse_ldl_free(f);

    f = sparse_ldl_analyse(1, start, row, sign);
    assert_non_null(f);
    assert_int_equal(sparse_ldl_factor(f, value, FLOOR), 0);
    sparse_ldl_solve(f, x);
    assert_true(x[0] == -0.5);
    sparse_ldl_free(f);
    sparse_ldl_free(NULL);
}

static void test_invalid_pattern(void **state)
{
    (void)state;
    int start[] = {0, 1, 2}, bad_start[] = {0, 2, 1}, row[] = {0, 1}, bad_row[] = {0, 2};
    signed char sign[] = {1, 1};
    assert_null(sparse_ldl_analyse(2, bad_start, row, sign));
    assert_null(sparse_ldl_analyse(2, start, bad_row, sign));
    assert_null(sparse_ldl_analyse(-1, start, row, sign));
}

static void test_no_memory(void **state)
{
    (void)state;
    matrix k = matrix_net(10, 3);
    sparse_ldl *f = NULL;
    int failures = 0;
    for (; f == NULL; failures++) {
        assert_true(failures < 20);
        base_alloc_fail_after(failures + 1);
        f = sparse_ldl_analyse(k.n, k.start, k.row, k.sign);
    }
    base_alloc_fail_after(0);
    assert_int_equal(failures, 4); /* plan, order, factor: three calls, then success */
    base_alloc_fail_after(1);      /* what follows allocates nothing */
    assert_int_equal(sparse_ldl_factor(f, k.value, FLOOR), 0);
    double x[1000] = {1};
    sparse_ldl_solve(f, x);
    assert_null(base_alloc(1)); /* so the failure is still to come */
    sparse_ldl_free(f);
    matrix_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_equals_dense_elimination),
        cmocka_unit_test(test_chains_and_nets),
        cmocka_unit_test(test_chain_storage_is_linear),
        cmocka_unit_test(test_zeros_inside_the_pattern),
        cmocka_unit_test(test_redundant_rows),
        cmocka_unit_test(test_wrong_sign_is_replaced),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_empty_and_single),
        cmocka_unit_test(test_invalid_pattern),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
