/* Models from memory: named buffers in place of files. What they give is what files give, and no
 * disk is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zwang/bodies.h"

#define ZW(text)                                                                                   \
    {                                                                                              \
        .bytes = text, .size = sizeof text - 1                                                     \
    }

static zw_model *read_from(const char *path, const zw_file *files, int count, zw_error *error)
{
    zw_read_options options = {.files = files, .file_count = count};
    return zw_model_read(path, &options, error);
}

static uint64_t hash_after(zw_model *model, int steps)
{
    zw_error error = {0};
    assert_non_null(model);
    zw_system *system = zw_system_compile(model, NULL, &error);
    assert_non_null(system);
    zw_work *work = zw_work_create(system, &error);
    zw_state *state = zw_state_create(system, work, NULL, &error);
    assert_non_null(state);
    zw_run_options options = {.step = 0.01};
    for (int i = 0; i < steps; i++) {
        assert_int_equal(zw_step(system, state, work, &options, &error), ZW_OK);
    }
    uint64_t hash = zw_state_hash(state);
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return hash;
}

static char *bytes_of(const char *path, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, stream);
    fclose(stream);
    return bytes;
}

/* A .zw file that imports a robot, as files and as buffers: the same bits after 50 steps. */
static void test_same_bits(void **unused)
{
    (void)unused;
    zw_error error = {0};
    const char *path = ZW_SOURCE_DIR "/examples/bodies/cart_pole.zw";
    zw_file files[2] = {{.name = "m/cart_pole.zw"}, {.name = "m/cart_pole.xml"}};
    files[0].bytes = bytes_of(path, &files[0].size);
    files[1].bytes = bytes_of(ZW_SOURCE_DIR "/examples/bodies/cart_pole.xml", &files[1].size);
    zw_model *there = zw_model_read(path, NULL, &error);
    zw_model *here = read_from("m/cart_pole.zw", files, 2, &error);
    assert_true(hash_after(there, 50) == hash_after(here, 50));
    free((void *)files[0].bytes);
    free((void *)files[1].bytes);
}

/* Includes are found beside the file, meshes in meshdir; both with .. in their ways. */
static void test_includes(void **unused)
{
    (void)unused;
    static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                      "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    zw_error error = {0};
    zw_file zw[] = {ZW("include \"../parts/weight.zw\"\ncoord x = 1\nmass m at (x, 0)\n"),
                    ZW("param m = 3\n")};
    zw[0].name = "a/main.zw";
    zw[1].name = "parts/weight.zw";
    zw_model *model = read_from("a/main.zw", zw, 2, &error);
    assert_non_null(model);
    zw_model_free(model);

    zw_file robot[] = {
        ZW("<mujoco><compiler meshdir='../meshes'/><include file='body.xml'/></mujoco>"),
        ZW("<mujoco><asset><mesh name='t' file='t.obj'/></asset><worldbody><body>"
           "<freejoint/><geom type='mesh' mesh='t'/></body></worldbody></mujoco>"),
        {.name = "meshes/t.obj", .bytes = tetrahedron, .size = sizeof tetrahedron - 1}};
    robot[0].name = "robots/main.xml";
    robot[1].name = "robots/body.xml";
    model = read_from("robots/main.xml", robot, 3, &error);
    assert_non_null(model);
    zw_inertia inertia[2];
    assert_int_equal(zw_model_inertia(model, inertia, &error), ZW_OK);
    assert_true(inertia[1].mass > 166.66 && inertia[1].mass < 166.67); /* 1000/6 */
    zw_model_free(model);
}

/* What is not among them is missing, though the disk has it; the message names it and its line. */
static void test_missing(void **unused)
{
    (void)unused;
    zw_error error = {0};
    zw_file files[] = {ZW("coord x = 1\ninclude \"other.zw\"\n")};
    files[0].name = ZW_SOURCE_DIR "/examples/main.zw";
    assert_null(read_from(ZW_SOURCE_DIR "/examples/pendulum.zw", files, 1, &error));
    assert_non_null(strstr(error.text, "cannot open"));
    assert_null(read_from(ZW_SOURCE_DIR "/examples/main.zw", files, 1, &error));
    assert_int_equal(error.line, 2);
    assert_non_null(strstr(error.text, "other.zw"));
    assert_null(read_from("x.zw", files, 0, &error));

    /* Nothing in it, and a zero byte. */
    zw_file odd[] = {{.name = "none.zw"}, {.name = "zero.zw", .bytes = "coord\0x", .size = 7}};
    assert_null(read_from("none.zw", odd, 2, &error));
    assert_null(read_from("zero.zw", odd, 2, &error));
    assert_non_null(strstr(error.text, "zero byte"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits),
                                       cmocka_unit_test(test_includes),
                                       cmocka_unit_test(test_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
