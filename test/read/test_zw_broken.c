/* Broken .zw files: broken.h. New messages: ZW_BLESS=1 <build>/test/read/test_zw_broken */
#include "broken.h"

static void broken_files_are_explained(void **state)
{
    static const char *const ending[2] = {".zw", ".zw"};
    (void)state;
    broken_explained(ZW_SOURCE_DIR "/test/read/broken", ending, 230);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(broken_files_are_explained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
