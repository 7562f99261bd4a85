/* Broken MJCF and URDF files: broken.h. New messages: ZW_BLESS=1
 * <build>/test/read/test_robot_broken
 */
#include "broken.h"

static void broken_files_are_explained(void **state)
{
    static const char *const ending[2] = {".xml", ".urdf"};
    (void)state;
    broken_explained(ZW_SOURCE_DIR "/test/read/broken_robot", ending, 140);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(broken_files_are_explained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
