/* Every allocation of a reading may fail: the answer is ZW_NO_MEMORY, nothing leaks (the sanitizer
 * build sees to that), and the next reading is not disturbed. */
#include "reading.h"

#include "base/memory.h"
#include "read/xml.h"
#include "zwang/bodies.h"

static void fail_each(const char *path, int least)
{
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
    assert_true(failures > least);
}

static void mjcf_without_memory(void **state)
{
    (void)state;
    fail_each(ZW_SOURCE_DIR "/test/read/everything.xml", 100);
}

static void urdf_without_memory(void **state)
{
    (void)state;
    fail_each(ZW_SOURCE_DIR "/test/read/urdf/arm.urdf", 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mjcf_without_memory),
        cmocka_unit_test(urdf_without_memory),
    };
    if (!xml_available()) {
        puts("skipped: built without expat");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
