/* Memory: zeroed, refused on demand, carved without overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"

#include <string.h>

static void blocks_are_zeroed(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 5000; bytes = 3 * bytes + 1) {
        unsigned char *block = base_alloc(bytes);
        assert_non_null(block);
        for (size_t i = 0; i < bytes; i++) {
            assert_int_equal(block[i], 0);
        }
        memset(block, 0xff, bytes);
        base_free(block);
    }
    base_free(NULL);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX / 2;
    assert_null(base_alloc(huge));
}

/* The k-th call fails, once. */
static void failure_comes_when_told(void **state)
{
    (void)state;
    for (int k = 1; k <= 4; k++) {
        base_alloc_fail_after(k);
        for (int call = 1; call <= 6; call++) {
            void *block = base_alloc(8);
            assert_int_equal(block == NULL, call == k);
            base_free(block);
        }
    }
    base_alloc_fail_after(2);
    base_alloc_fail_after(0);
    for (int call = 0; call < 4; call++) {
        void *block = base_alloc(8);
        assert_non_null(block);
        base_free(block);
    }
}

typedef struct layout {
    double *x;
    int *i;
    unsigned char *c;
    double *y;
} layout;

static layout lay_out(base_arena *arena)
{
    layout l;
    l.x = base_arena_doubles(arena, 3);
    l.i = base_arena_ints(arena, 7);
    l.c = base_arena_bytes(arena, 5);
    l.y = base_arena_doubles(arena, 0);
    return l;
}

/* Counting and carving agree; arrays do not overlap and start where lanes may load. */
static void arena_counts_and_carves_alike(void **state)
{
    (void)state;
    base_arena count = {.block = NULL, .used = 24};
    layout none = lay_out(&count);
    assert_null(none.x);
    assert_null(none.i);
    unsigned char *block = base_alloc(count.used);
    base_arena carve = {.block = block, .used = 24};
    layout l = lay_out(&carve);
    assert_int_equal(carve.used, count.used);
    const unsigned char *x = (const unsigned char *)l.x, *i = (const unsigned char *)l.i;
    assert_true(x >= block + 24);
    assert_true(i >= x + 3 * sizeof(double));
    assert_true(l.c >= i + 7 * sizeof(int));
    assert_true(l.c + 5 <= block + count.used);
    assert_int_equal((x - block) % 64, 0);
    assert_int_equal((i - block) % 64, 0);
    assert_int_equal((l.c - block) % 64, 0);
    base_free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(failure_comes_when_told),
        cmocka_unit_test(arena_counts_and_carves_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
