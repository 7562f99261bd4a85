/* Error messages fit their buffer; every status has a text of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

#include <string.h>

static void failing_fills_the_error(void **state)
{
    (void)state;
    zw_error error;
    memset(&error, 0xaa, sizeof error);
    assert_int_equal(base_fail(&error, ZW_CONFLICT, "%s and %d", "rows", 7), ZW_CONFLICT);
    assert_int_equal(error.status, ZW_CONFLICT);
    assert_string_equal(error.text, "rows and 7");
    assert_string_equal(error.file, "");
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    base_fail_more(&error, ", %s", "more");
    assert_string_equal(error.text, "rows and 7, more");
    base_fail(&error, ZW_NO_MEMORY, "new");
    assert_string_equal(error.text, "new"); /* the old message is gone */
}

static void the_error_may_be_null(void **state)
{
    (void)state;
    assert_int_equal(base_fail(NULL, ZW_BAD_INPUT, "%d", 1), ZW_BAD_INPUT);
    base_fail_more(NULL, "%d", 2);
}

static void long_stories_are_cut(void **state)
{
    (void)state;
    struct {
        zw_error error;
        char beyond[64];
    } capacity;
    memset(&capacity, 0x55, sizeof capacity);
    base_fail(&capacity.error, ZW_CONFLICT, "start");
    for (int i = 0; i < 400; i++) {
        base_fail_more(&capacity.error, " %d", i);
    }
    assert_int_equal(strlen(capacity.error.text), sizeof capacity.error.text - 1);
    assert_memory_equal(capacity.error.text, "start 0 1 2", 11);
    for (size_t i = 0; i < sizeof capacity.beyond; i++) {
        assert_int_equal(capacity.beyond[i], 0x55);
    }
}

static void every_status_has_its_text(void **state)
{
    (void)state;
#define ZW_STATUS_COUNT(code, text) +1
    const int count = 0 ZW_STATUS_TABLE(ZW_STATUS_COUNT);
#undef ZW_STATUS_COUNT
    for (int i = 0; i < count; i++) {
        const char *text = zw_status_text((zw_status)i);
        assert_true(strlen(text) > 0);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(text, zw_status_text((zw_status)j));
        }
    }
    assert_int_equal(ZW_OK, 0);
    assert_non_null(zw_status_text((zw_status)count));
    assert_string_equal(zw_status_text((zw_status)count), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_fills_the_error),
        cmocka_unit_test(the_error_may_be_null),
        cmocka_unit_test(long_stories_are_cut),
        cmocka_unit_test(every_status_has_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
