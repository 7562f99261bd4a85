/* Every allocation of a reader may fail: it returns ZW_NO_MEMORY, nothing leaks (checked by the
 * sanitizer build), and the next call is not affected. */
#ifndef ZW_TEST_READ_MEMORY_H
#define ZW_TEST_READ_MEMORY_H

#include "reading.h"

#include "base/memory.h"

/* There are more than `least` of them. */
static inline void memory_fails(const char *path, int least)
{
    zw_error error;
    int failures = 0;
    for (int k = 1;; k++) {
        base_alloc_fail_after(k);
        zw_model *model = zw_model_read(path, NULL, &error);
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

#endif
