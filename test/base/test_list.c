/* Lists keep their contents while they grow, also when an allocation fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/list.h"
#include "base/memory.h"

static void lists_grow(void **state)
{
    (void)state;
    double *list = NULL;
    int capacity = 0;
    for (int i = 0; i < 10000; i++) {
        assert_true(base_list_reserve(&list, &capacity, i, sizeof *list));
        assert_true(capacity > i);
        assert_true(list[i] == 0); /* what is new is zeroed */
        list[i] = i;
    }
    for (int i = 0; i < 10000; i++) {
        assert_true(list[i] == i);
    }
    base_free(list);
}

static void a_list_that_cannot_grow_stays(void **state)
{
    (void)state;
    int *list = NULL, capacity = 0, count = 0;
    while (count < 100) {
        if (count == capacity) {
            int *before = list, before_capacity = capacity;
            base_alloc_fail_after(1);
            assert_false(base_list_reserve(&list, &capacity, count, sizeof *list));
            assert_true(list == before && capacity == before_capacity);
        }
        base_alloc_fail_after(0);
        assert_true(base_list_reserve(&list, &capacity, count, sizeof *list));
        list[count] = count;
        count++;
    }
    assert_int_equal(list[57], 57);
    base_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_grow),
        cmocka_unit_test(a_list_that_cannot_grow_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
