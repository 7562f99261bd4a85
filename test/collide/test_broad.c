/* The pairs of many boxes: those that testing every pair finds, in order, whatever
 * happened before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "collide/broad.h"
#include "scene/dice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1200 };

typedef struct boxes {
    int count;
    double lower[3 * MOST], upper[3 * MOST];
    unsigned char still[MOST];
} boxes;

static void throw_boxes(boxes *b, dice *d, int count, double low_size, double high_size)
{
    b->count = count;
    for (int i = 0; i < count; i++) {
        b->still[i] = (unsigned char)dice_chance(d, 0.2);
        int endless = dice_chance(d, 0.003);
        for (int c = 3 * i; c < 3 * i + 3; c++) {
            double middle = dice_between(d, -1, 1), half = dice_power(d, low_size, high_size);
            b->lower[c] = endless ? -INFINITY : middle - half;
            b->upper[c] = endless ? INFINITY : middle + half;
        }
    }
}

/* What stands still first, then what moves. */
static zw_status update(collide_broad *broad, const boxes *b, int among, int *bad)
{
    int list[MOST], count = 0;
    for (int i = 0; i < b->count; i++) {
        if (!b->still[i]) {
            list[count++] = i;
        }
    }
    zw_status status = collide_broad_keep(broad, b->count, b->lower, b->upper, b->still, bad);
    return status == ZW_OK
               ? collide_broad_update(broad, count, list, b->lower, b->upper, among, bad)
               : status;
}

static void compare_some(collide_broad *broad, const boxes *b, int among)
{
    const int *pair;
    int bad, at = 0;
    assert_int_equal(update(broad, b, among, &bad), ZW_OK);
    int count = collide_broad_pairs(broad, &pair);
    for (int i = 0; i < b->count; i++) {
        for (int j = i + 1; j < b->count; j++) {
            int meet = among ? !(b->still[i] && b->still[j]) : b->still[i] != b->still[j];
            for (int c = 0; meet && c < 3; c++) {
                meet = b->lower[3 * i + c] <= b->upper[3 * j + c] &&
                       b->lower[3 * j + c] <= b->upper[3 * i + c];
            }
            if (meet) {
                assert_true(at < count);
                assert_int_equal(pair[2 * at], i);
                assert_int_equal(pair[2 * at + 1], j);
                at++;
            }
        }
    }
    assert_int_equal(at, count);
}

static void compare(collide_broad *broad, const boxes *b)
{
    compare_some(broad, b, 0);
    compare_some(broad, b, 1);
}

static void test_every_pair_and_no_other(void **state)
{
    (void)state;
    static boxes b;
    dice d = dice_of(3);
    collide_broad *broad = collide_broad_new();
    assert_non_null(broad);
    for (int k = 0; k < 60; k++) {
        static const double size[4][2] = {{-2, -1}, {-3, 0.5}, {-12, -11}, {1, 2}};
        throw_boxes(&b, &d, dice_int(&d, 0, k % 4 == 3 ? 100 : MOST), size[k % 4][0],
                    size[k % 4][1]);
        compare(broad, &b);
    }
    memset(b.lower, 0, sizeof b.lower); /* all in one place */
    memset(b.upper, 0, sizeof b.upper);
    b.count = 50;
    compare(broad, &b);
    for (int i = 0; i < 3 * MOST; i++) { /* at the ends of the numbers */
        b.lower[i] = i % 2 ? 1e308 : -1e308;
        b.upper[i] = b.lower[i];
    }
    compare(broad, &b);
    collide_broad_free(broad);
}

/* Nothing is asked for when nothing grows: the next allocation would fail. */
static void test_steady_without_memory(void **state)
{
    (void)state;
    static boxes b;
    dice d = dice_of(4);
    collide_broad *broad = collide_broad_new();
    throw_boxes(&b, &d, 1000, -2, -1);
    compare(broad, &b);
    base_alloc_fail_after(1);
    for (int k = 0; k < 3; k++) {
        compare(broad, &b);
    }
    assert_null(base_alloc(1)); /* it was still waiting */
    base_alloc_fail_after(0);
    collide_broad_free(broad);
}

static void test_memory_can_fail(void **state)
{
    (void)state;
    static boxes b;
    dice d = dice_of(5);
    throw_boxes(&b, &d, 800, -1, 0);
    int k = 1, bad, failed = 0;
    for (zw_status s = ZW_NO_MEMORY; s != ZW_OK && k < 200; k++) {
        base_alloc_fail_after(k);
        collide_broad *broad = collide_broad_new();
        s = broad == NULL ? ZW_NO_MEMORY : update(broad, &b, 1, &bad);
        base_alloc_fail_after(0);
        failed += s == ZW_NO_MEMORY;
        if (broad != NULL) { /* and goes on as if nothing had been */
            compare(broad, &b);
        }
        collide_broad_free(broad);
    }
    assert_true(failed > 8 && k < 200);
}

static void test_poison_is_named(void **state)
{
    (void)state;
    static boxes b;
    dice d = dice_of(6);
    const int *pair;
    int bad;
    collide_broad *broad = collide_broad_new();
    throw_boxes(&b, &d, 100, -1, 0);
    b.lower[3 * 17 + 1] = NAN;
    assert_int_equal(collide_broad_update(broad, b.count, NULL, b.lower, b.upper, 1, &bad),
                     ZW_NOT_FINITE);
    assert_int_equal(bad, 17);
    int count = collide_broad_pairs(broad, &pair);
    assert_true(count > 0);
    for (int k = 0; k < 2 * count; k++) {
        assert_int_not_equal(pair[k], 17);
    }
    collide_broad_free(broad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_and_no_other),
        cmocka_unit_test(test_steady_without_memory),
        cmocka_unit_test(test_memory_can_fail),
        cmocka_unit_test(test_poison_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
