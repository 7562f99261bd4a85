/* Robots read without memory: memory.h. */
#include "memory.h"

static void mjcf_without_memory(void **state)
{
    (void)state;
    memory_fails(ZW_SOURCE_DIR "/test/read/everything.xml", 100);
}

static void urdf_without_memory(void **state)
{
    (void)state;
    memory_fails(ZW_SOURCE_DIR "/test/read/urdf/arm.urdf", 50);
    memory_fails(ZW_SOURCE_DIR "/test/read/urdf/loose.urdf", 30);
    memory_fails(ZW_SOURCE_DIR "/test/read/urdf/roof.urdf", 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mjcf_without_memory),
        cmocka_unit_test(urdf_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
