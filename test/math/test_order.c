/* Orderings: they are permutations, they obey the saddle point's rule, their fill is that of AMD.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "math/sparse/order.h"
#include "math/sparse/sparse.h"

#ifdef ZW_HAVE_SUITESPARSE
#include <amd.h>
#endif
#include <stdlib.h>
#include <string.h>

/* A pattern under construction: columns are appended. */
typedef struct pattern {
    int n, entries;
    int *start, *row;
    signed char *sign;
} pattern;

static pattern pattern_new(int n, int entries)
{
    pattern k = {0};
    k.start = calloc((size_t)n + 1, sizeof(int));
    k.row = calloc((size_t)entries + 1, sizeof(int));
    k.sign = calloc((size_t)n + 1, 1);
    return k;
}

static void pattern_free(pattern *k)
{
    free(k->start);
    free(k->row);
    free(k->sign);
}

static void pattern_column(pattern *k, int sign)
{
    k->sign[k->n] = (signed char)sign;
    k->row[k->entries++] = k->n;
    k->start[++k->n] = k->entries;
}

static void pattern_entry(pattern *k, int row)
{
    k->row[k->entries++] = row;
    k->start[k->n] = k->entries;
}

/* Points of `dim` coordinates in a net of width x height, each joined to its neighbours by a row.
 */
static pattern pattern_net(int width, int height, int dim)
{
    int points = width * height;
    pattern k = pattern_new(points * (dim + 2), points * dim + 2 * points * (2 * dim + 1));
    for (int i = 0; i < points * dim; i++) {
        pattern_column(&k, 1);
    }
    for (int a = 0; a < points; a++) {
        int other[2] = {a % width + 1 < width ? a + 1 : -1, a + width < points ? a + width : -1};
        for (int e = 0; e < 2; e++) {
            if (other[e] >= 0) {
                pattern_column(&k, -1);
                for (int c = 0; c < dim; c++) {
                    pattern_entry(&k, a * dim + c);
                    pattern_entry(&k, other[e] * dim + c);
                }
            }
        }
    }
    return k;
}

/* Coordinates with some coupling, and rows on a few of them each. */
static pattern pattern_random(int coordinates, int rows, int most)
{
    pattern k = pattern_new(coordinates + rows, (coordinates + rows) * (most + 1));
    for (int i = 0; i < coordinates + rows; i++) {
        pattern_column(&k, i < coordinates ? 1 : -1);
        int reach = i < coordinates ? i : coordinates;
        for (int e = rand() % (most + 1); e > 0 && reach > 0; e--) {
            pattern_entry(&k, rand() % reach); /* repeated ones, too */
        }
    }
    return k;
}

static size_t pattern_fill(const pattern *k, const int *perm)
{
    size_t n = (size_t)k->n;
    int *work = calloc(5 * n + 1 + (size_t)k->entries, sizeof(int));
    int *position = work, *parent = work + n, *count = work + 2 * n, *mark = work + 3 * n;
    int *begin = work + 4 * n, *list = work + 5 * n + 1;
    sparse_invert(k->n, perm, position);
    sparse_row_lists(k->n, k->start, k->row, position, begin, list);
    sparse_tree(k->n, begin, list, parent, mark);
    size_t fill = sparse_counts(k->n, begin, list, parent, count, mark);
    free(work);
    return fill;
}

/* perm is a permutation, and with signs each row comes after its coordinates. */
static void check_order(const pattern *k, const int *perm, int signs)
{
    int *position = malloc(sizeof(int) * ((size_t)k->n + 1));
    for (int i = 0; i < k->n; i++) {
        position[i] = -1;
    }
    for (int i = 0; i < k->n; i++) {
        assert_in_range(perm[i], 0, k->n - 1);
        assert_int_equal(position[perm[i]], -1);
        position[perm[i]] = i;
    }
    for (int j = 0; signs && j < k->n; j++) {
        for (int p = k->start[j]; p < k->start[j + 1]; p++) {
            if (k->sign[j] < 0 && k->sign[k->row[p]] > 0) {
                assert_true(position[k->row[p]] < position[j]);
            }
        }
    }
    free(position);
}

static size_t own_fill(const pattern *k, int signs)
{
    int *perm = calloc((size_t)k->n + 1, sizeof(int));
    assert_int_equal(order_minimum_degree(k->n, k->start, k->row, signs ? k->sign : NULL, perm),
                     ORDER_OK);
    check_order(k, perm, signs);
    size_t fill = pattern_fill(k, perm);
    free(perm);
    return fill;
}

static void test_random_patterns_give_permutations(void **state)
{
    (void)state;
    srand(1);
    for (int trial = 0; trial < 3000; trial++) {
        pattern k = pattern_random(rand() % 60, rand() % 40, 1 + rand() % 6);
        own_fill(&k, 0);
        own_fill(&k, 1);
        pattern_free(&k);
    }
    for (int trial = 0; trial < 20; trial++) { /* large enough that the lists are compacted */
        pattern k = pattern_random(3000, 2000, 1 + rand() % 8);
        own_fill(&k, 0);
        own_fill(&k, 1);
        pattern_free(&k);
    }
}

static void test_dense_unknowns_go_last(void **state)
{
    (void)state;
    int n = 5000;
    pattern k = pattern_new(n, 3 * n);
    for (int i = 0; i < n; i++) {
        pattern_column(&k, 1);
        if (i > 1) { /* all joined to the first two, otherwise alone */
            pattern_entry(&k, 0);
            pattern_entry(&k, 1);
        }
    }
    assert_int_equal(own_fill(&k, 0), 2 * (n - 2) + 1);
    pattern_free(&k);
}

/* Many bodies hang on one: the rows must not wait for the hub, or they would fill a dense block. */
static void test_hub_keeps_fill_linear(void **state)
{
    (void)state;
    for (int count = 1000; count <= 100000; count *= 10) {
        pattern k = pattern_new(3 + 4 * count, 3 + 10 * count);
        for (int i = 0; i < 3 + 3 * count; i++) {
            pattern_column(&k, 1);
        }
        for (int b = 0; b < count; b++) {
            pattern_column(&k, -1);
            for (int c = 0; c < 3; c++) {
                pattern_entry(&k, c);
                pattern_entry(&k, 3 + 3 * b + c);
            }
        }
        int *perm = calloc((size_t)k.n, sizeof(int));
        assert_int_equal(order_minimum_degree(k.n, k.start, k.row, k.sign, perm), ORDER_OK);
        check_order(&k, perm, 0);
        assert_true(pattern_fill(&k, perm) <= (size_t)(6 * count + 3));
        free(perm);
        pattern_free(&k);
    }
}

static void test_chain_fill_is_linear(void **state)
{
    (void)state;
    for (int links = 100; links <= 100000; links *= 10) {
        pattern k = pattern_net(links, 1, 3);
        assert_true(own_fill(&k, 0) <= 8 * (size_t)links);
        assert_true(own_fill(&k, 1) <= 8 * (size_t)links);
        pattern_free(&k);
    }
}

/* The ordering of SuiteSparse's AMD, the reference; 0 where it is not installed. */
static int amd_ordering(const pattern *k, int *perm)
{
#ifdef ZW_HAVE_SUITESPARSE
    int status = amd_order(k->n, k->start, k->row, perm, NULL, NULL);
    return status == AMD_OK || status == AMD_OK_BUT_JUMBLED;
#else
    (void)k;
    (void)perm;
    return 0;
#endif
}

static void test_net_fill_is_that_of_amd(void **state)
{
    (void)state;
    const int sizes[][2] = {{100, 3}, {200, 3}, {300, 3}, {100, 1}, {300, 1}, {150, 2}};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        pattern k = pattern_net(sizes[t][0], sizes[t][0], sizes[t][1]);
        int *perm = calloc((size_t)k.n, sizeof(int));
        double own = (double)own_fill(&k, 0), signs = (double)own_fill(&k, 1);
        if (amd_ordering(&k, perm)) {
            double amd = (double)pattern_fill(&k, perm);
            check_order(&k, perm, 0);
            assert_true(own <= 1.3 * amd);
            if (sizes[t][1] > 1) { /* no more rows than coordinates */
                assert_true(signs <= 1.3 * amd);
            }
        } else {
            print_message("    SuiteSparse's AMD is not here; fill is held to a bound instead\n");
            assert_true(own <= 60.0 * k.n && signs <= 60.0 * k.n);
        }
        free(perm);
        pattern_free(&k);
    }
}

static void test_soft_rows_need_not_wait(void **state)
{
    (void)state;
    pattern k = pattern_net(60, 60, 1); /* more rows than coordinates */
    size_t hard = own_fill(&k, 1);
    for (int i = 0; i < k.n; i++) {
        k.sign[i] = k.sign[i] < 0 ? -2 : 1;
    }
    int *perm = calloc((size_t)k.n, sizeof(int));
    assert_int_equal(order_minimum_degree(k.n, k.start, k.row, k.sign, perm), ORDER_OK);
    check_order(&k, perm, 0);
    assert_true(pattern_fill(&k, perm) < hard);
    assert_true(pattern_fill(&k, perm) == own_fill(&k, 0));
    free(perm);
    pattern_free(&k);
}

static void test_same_order_every_time(void **state)
{
    (void)state;
    pattern k = pattern_random(2000, 1500, 4);
    size_t bytes = sizeof(int) * (size_t)k.n;
    int *a = calloc(1, bytes), *b = calloc(1, bytes);
    assert_int_equal(order_minimum_degree(k.n, k.start, k.row, k.sign, a), ORDER_OK);
    assert_int_equal(order_minimum_degree(k.n, k.start, k.row, k.sign, b), ORDER_OK);
    assert_memory_equal(a, b, bytes);
    free(a);
    free(b);
    pattern_free(&k);
}

static void test_empty_and_single(void **state)
{
    (void)state;
    int start[2] = {0, 0}, row[1] = {0}, perm[1] = {7};
    assert_int_equal(order_minimum_degree(0, start, row, NULL, perm), ORDER_OK);
    assert_int_equal(order_minimum_degree(0, start, row, NULL, perm), ORDER_OK);
    assert_int_equal(perm[0], 7);
    assert_int_equal(order_minimum_degree(1, start, row, NULL, perm), ORDER_OK);
    assert_int_equal(perm[0], 0);
}

static void test_no_memory(void **state)
{
    (void)state;
    pattern k = pattern_net(5, 5, 3);
    int *perm = calloc((size_t)k.n, sizeof(int));
    memset(perm, 0x55, sizeof(int) * (size_t)k.n);
    base_alloc_fail_after(1);
    assert_int_equal(order_minimum_degree(k.n, k.start, k.row, k.sign, perm), ORDER_NO_MEMORY);
    assert_int_equal(perm[0], 0x55555555);
    base_alloc_fail_after(
        1); /* one call fails, then there is another way if SuiteSparse is there */
    int status = order_minimum_degree(k.n, k.start, k.row, NULL, perm);
    base_alloc_fail_after(0);
    if (status == ORDER_OK) {
        check_order(&k, perm, 0);
    } else {
        assert_int_equal(status, ORDER_NO_MEMORY);
    }
    free(perm);
    pattern_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_patterns_give_permutations),
        cmocka_unit_test(test_dense_unknowns_go_last),
        cmocka_unit_test(test_hub_keeps_fill_linear),
        cmocka_unit_test(test_chain_fill_is_linear),
        cmocka_unit_test(test_net_fill_is_that_of_amd),
        cmocka_unit_test(test_soft_rows_need_not_wait),
        cmocka_unit_test(test_same_order_every_time),
        cmocka_unit_test(test_empty_and_single),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
