/* Memory: zeroed, refused on demand, carved without overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "zwang/memory.h"
#include "zwang/zwang.h"

#include <stdlib.h>
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
static void failure_comes_when_asked(void **state)
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

/* ---- Memory of the caller's ------------------------------------------------------------------ */

typedef struct budget {
    long blocks, most, left; /* left: so many are to be had */
} budget;

static void *take(void *user, size_t bytes)
{
    budget *p = user;
    void *block = p->left > 0 ? malloc(bytes) : NULL;
    if (block) {
        memset(block, 0x5a, bytes);
        p->left--;
        p->blocks++;
        p->most = p->blocks > p->most ? p->blocks : p->most;
    }
    return block;
}

static void give_back(void *user, void *block)
{
    ((budget *)user)->blocks--;
    free(block);
}

/* A motion from reading to the end; ZW_NO_MEMORY where that was said. */
static zw_status whole_motion(void)
{
    static const char text[] = "coord x = 0.6, y = -0.8\nmass 1 at (x, y)\ngravity (0, -1)\n"
                               "constraint rod: |(x, y)| = 1\n";
    zw_error error = {.status = ZW_OK};
    zw_model *model = zw_model_parse(text, "swing.zw", NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    zw_status status =
        state ? zw_run(system, state, work, &(zw_run_options){.time = 0.1}, NULL, &error)
              : error.status;
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return status;
}

/* All comes from there, in any state, and goes back; where it ends, that is said. */
static void memory_of_the_caller(void **state)
{
    (void)state;
    budget p = {.left = 1000000}, other = {.left = 1000000};
    zw_memory_use(&(zw_memory){take, give_back, &p});
    void *early = base_alloc(100);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(((unsigned char *)early)[i], 0);
    }
    assert_int_equal(whole_motion(), ZW_OK);
    assert_int_equal(p.blocks, 1);
    assert_true(p.most > 5);
    zw_memory_use(&(zw_memory){take, give_back, &other});
    base_free(early); /* to where it came from */
    assert_int_equal(p.blocks, 0);
    assert_int_equal(other.most, 0);
    for (long few = 0; few < 400; few += 7) {
        other = (budget){.left = few};
        zw_status status = whole_motion();
        assert_true(status == ZW_OK || status == ZW_NO_MEMORY);
        assert_int_equal(other.blocks, 0);
    }
    zw_memory_use(NULL);
    assert_int_equal(whole_motion(), ZW_OK);
    assert_int_equal(other.blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_the_caller),          cmocka_unit_test(blocks_are_zeroed),
        cmocka_unit_test(impossible_sizes_are_refused),  cmocka_unit_test(failure_comes_when_asked),
        cmocka_unit_test(arena_counts_and_carves_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
