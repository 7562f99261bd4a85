/* Every allocation may fail: the answer is ZW_NO_MEMORY, nothing leaks (the sanitizer build sees
 * to that), and the next reading is not disturbed. */
#include "reading.h"

#include "base/memory.h"

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *path = ZW_SOURCE_DIR "/test/read/everything.zw";
    zw_error error;
    int failures = 0;
    for (int k = 1;; k++) {
        base_alloc_fail_after(k);
        zw_model *model = zw_model_read(path, NULL, 0, &error);
        base_alloc_fail_after(0);
        if (model != NULL) {
            zw_model_free(model);
            break;
        }
        if (error.status != ZW_NO_MEMORY) {
            print_error("call %d: %s:%d: %s\n", k, error.file, error.line, error.text);
        }
        assert_int_equal(error.status, ZW_NO_MEMORY);
        assert_string_equal(error.text, "out of memory");
        failures++;
    }
    print_message("%d allocations made to fail\n", failures);
    assert_true(failures > 200);
}

/* The same while a mistake is being reported: either story is true. */
static void mistakes_without_memory(void **state)
{
    (void)state;
    const char *text = "param n = 3\ncoord x[i] for i in 1..n\nkinetic x[4]'^2\n";
    zw_error error;
    int failures = 0;
    for (int k = 1; k < 1000; k++) {
        base_alloc_fail_after(k);
        assert_null(zw_model_parse(text, "test.zw", NULL, 0, &error));
        base_alloc_fail_after(0);
        failures += error.status == ZW_NO_MEMORY;
        assert_true(error.status == ZW_NO_MEMORY || error.status == ZW_BAD_INPUT);
    }
    assert_true(failures > 10 && failures < 900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(mistakes_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
