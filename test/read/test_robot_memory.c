/* Robots read without memory: memory.h. */
#include "memory.h"

static void mjcf_without_memory(void **state)
{
    (void)state;
    memory_fails(ZW_SOURCE_DIR "/test/read/everything.xml", 100);
    static const char *const file[] = {
        "attach_whole.xml",   "builtin_mesh.xml",   "cable.xml", "fit_box.xml",
        "include_beside.xml", "muscle_range.xml",   "rays.xml",  "refsites.xml",
        "tendons.xml",        "replicate_names.xml"};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s/test/read/mjcf_now/%s", ZW_SOURCE_DIR, file[i]);
        print_message("%s: ", file[i]);
        memory_fails(path, 10);
    }
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
