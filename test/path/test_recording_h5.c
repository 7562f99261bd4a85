/* Recordings as HDF5 from other programs: lists at the root or in groups, of any number type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifndef ZW_HAVE_HDF5

#include <stdio.h>

int main(void)
{
    puts("skipped: built without HDF5 (Debian: libhdf5-dev)");
    return 77;
}

#else

#include <hdf5.h>
#include <math.h>

#include "path/recording/recording.h"
#include "record/scratch.h"

static zw_model *model;
static zw_system *body;

static int begin(void **state)
{
    model = zw_model_parse("coord x = 1, y = 0\nkinetic (x'^2 + y'^2)/2\n", "test.zw", NULL, NULL);
    body = model != NULL ? zw_system_compile(model, NULL, NULL) : NULL;
    return body != NULL ? scratch_begin(state) : -1;
}

static int end(void **state)
{
    zw_system_free(body);
    zw_model_free(model);
    return scratch_end(state);
}

typedef struct list {
    const char *place; /* "group/name" */
    hid_t type;        /* in the file; 0: double */
    int rank;
    hsize_t size[2];
    double value[4];
} list;

static void make(const list *lists, int count)
{
    hid_t file = H5Fcreate(scratch("x.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t link = H5Pcreate(H5P_LINK_CREATE);
    assert_true(file >= 0 && link >= 0 && H5Pset_create_intermediate_group(link, 1) >= 0);
    for (int i = 0; i < count; i++) {
        const list *l = &lists[i];
        hid_t space = H5Screate_simple(l->rank, l->size, NULL);
        hid_t set = H5Dcreate2(file, l->place, l->type != 0 ? l->type : H5T_IEEE_F64LE, space, link,
                               H5P_DEFAULT, H5P_DEFAULT);
        assert_true(space >= 0 && set >= 0);
        assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, l->value) >= 0);
        H5Dclose(set);
        H5Sclose(space);
    }
    H5Pclose(link);
    assert_true(H5Fclose(file) >= 0);
}

static zw_path *must_read(void)
{
    zw_error error = {0};
    zw_path *path = zw_path_read(body, scratch("x.h5"), NULL, &error);
    if (path == NULL) {
        print_error("%s\n", error.text);
    }
    assert_non_null(path);
    return path;
}

static void must_fail(const char *message)
{
    zw_error error = {0};
    assert_null(zw_path_read(body, scratch("x.h5"), NULL, &error));
    if (strstr(error.text, message) == NULL) {
        print_error("%s\nwanted: %s\n", error.text, message);
    }
    assert_non_null(strstr(error.text, message));
    assert_int_equal(error.status, ZW_BAD_INPUT);
    assert_int_equal(error.line, 0);
}

static void lists_at_the_root(void **state)
{
    (void)state;
    const list lists[] = {
        {"time", H5T_STD_I32BE, 1, {3}, {0, 1, 2}},
        {"x", H5T_IEEE_F32LE, 2, {1, 3}, {1, 2, 3}},
        {"y", 0, 2, {3, 1}, {4, 5, 6}},
        {"table", 0, 2, {2, 2}, {1, 2, 3, 4}},
        {"y_dot", H5T_STD_U8LE, 1, {3}, {7, 8, 9}},
        {"xd", 0, 1, {3}, {0, 0, 1}},
        {"extra/mass", 0, 1, {1}, {1}},
    };
    make(lists, 7);
    zw_path *path = must_read();
    zw_path_about about = zw_path_look(path);
    assert_int_equal(about.samples, 3);
    assert_int_equal(about.speeds, 1);
    assert_string_equal(about.ignored_as, "mass");
    assert_true(path->t[2] == 2 && path->q[2] == 2 && path->q[5] == 6 && path->v[4] == 1);
    assert_true(path->v[1] == 7);
    zw_path_free(path);
}

static void lists_in_a_group(void **state)
{
    (void)state;
    const list lists[] = {{"run/t", 0, 1, {2}, {0, 1}},
                          {"run/x", 0, 1, {2}, {3, 4}},
                          {"other/y", 0, 1, {2}, {5, 6}},
                          {"other/deeper/x", 0, 1, {2}, {5, 6}}};
    make(lists, 4);
    zw_path *path = must_read();
    assert_true(path->q[1] == 5 && path->q[2] == 4);
    assert_int_equal(zw_path_look(path).ignored, 0);
    zw_path_free(path);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    const list t = {"t", 0, 1, {3}, {0, 1, 2}}, x = {"x", 0, 1, {3}, {1, 2, 3}};
    const list y = {"y", 0, 1, {3}, {1, 2, 3}};
    make((list[]){t, x, {"yy", 0, 1, {3}, {1, 2, 3}}}, 3);
    must_fail("there is no column 'y' for this coordinate of the model; did you mean 'yy'?");
    make((list[]){t, x}, 2);
    must_fail("there is no column 'y' for this coordinate of the model; there are: t, x");
    make((list[]){t, x, {"y", 0, 1, {2}, {1, 2}}}, 3);
    must_fail("'y' has 2 samples, but the time 't' has 3");
    make((list[]){t, x, {"y", 0, 1, {3}, {1, NAN, 2}}}, 3);
    must_fail("'y' is not finite in sample 2");
    make((list[]){{"t", 0, 1, {3}, {0, 2, 1}}, x, y}, 3);
    must_fail("the time decreases in sample 3, from 2 to 1");
    make((list[]){{"t", 0, 1, {3}, {1, 1, 1}}, x, y}, 3);
    must_fail("all samples are of one time");
    make((list[]){t, x, y, {"again/x", 0, 1, {3}, {1, 2, 3}}}, 4);
    must_fail("there are two columns 'x'");
    make((list[]){{"t", 0, 1, {1}, {1}}, {"x", 0, 1, {1}, {1}}, {"y", 0, 1, {1}, {1}}}, 3);
    must_fail("there is one sample only");
    make((list[]){{"table", 0, 2, {2, 2}, {1, 2, 3, 4}}}, 1);
    must_fail("there are no lists of numbers");
    make(NULL, 0);
    must_fail("there are no lists of numbers");
}

/* Cut anywhere, a file gives a path or a message. */
static void damaged_files(void **state)
{
    (void)state;
    const list lists[] = {
        {"t", 0, 1, {3}, {0, 1, 2}}, {"x", 0, 1, {3}, {1, 2, 3}}, {"y", 0, 1, {3}, {1, 2, 3}}};
    make(lists, 3);
    size_t size = 0;
    char *bytes = scratch_read(scratch("x.h5"), &size);
    assert_non_null(bytes);
    for (size_t cut = 0; cut < size; cut += 97) {
        zw_error error = {0};
        FILE *file = fopen(scratch("cut.h5"), "wb");
        assert_true(file != NULL && fwrite(bytes, 1, cut, file) == cut);
        assert_int_equal(fclose(file), 0);
        zw_path *path = zw_path_read(body, scratch("cut.h5"), NULL, &error);
        assert_true(path != NULL || error.text[0] != 0);
        zw_path_free(path);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_at_the_root),
        cmocka_unit_test(lists_in_a_group),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

#endif
