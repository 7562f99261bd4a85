/* Equations read without memory: memory.h. */
#include "memory.h"

static void every_allocation_may_fail(void **state)
{
    (void)state;
    memory_fails(ZW_SOURCE_DIR "/test/read/everything.zw", 180);
}

/* The same while a mistake is being reported: either message is true. */
static void mistakes_without_memory(void **state)
{
    (void)state;
    const char *text = "param n = 3\ncoord x[i] for i in 1..n\nkinetic x[4]'^2\n";
    zw_error error;
    int failures = 0;
    for (int k = 1; k < 1000; k++) {
        base_alloc_fail_after(k);
        assert_null(zw_model_parse(text, "test.zw", NULL, &error));
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
