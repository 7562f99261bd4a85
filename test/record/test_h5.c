/* HDF5: what was written is read back by the library itself. */
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

#include "record/pendulum.h"
#include "record/scratch.h"
#include "record/write.h"

#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void read_attribute(hid_t place, const char *key, char *text, size_t capacity)
{
    hid_t attribute = H5Aopen(place, key, H5P_DEFAULT);
    assert_true(attribute >= 0);
    hid_t type = H5Aget_type(attribute);
    assert_true(H5Tget_size(type) < capacity);
    assert_true(H5Aread(attribute, type, text) >= 0);
    H5Tclose(type);
    H5Aclose(attribute);
}

static void read_string(hid_t place, const char *name, char *text, size_t capacity)
{
    hid_t set = H5Dopen2(place, name, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t type = H5Dget_type(set);
    assert_true(H5Tget_size(type) < capacity);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    H5Tclose(type);
    H5Dclose(set);
}

static void check_column(hid_t group, const char *set_name, const record_table *table, int column)
{
    char text[512];
    double *value = calloc(table->row_count + 1, sizeof *value);
    hid_t set = H5Dopen2(group, set_name, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_npoints(space), table->row_count);
    if (table->row_count > 0) {
        assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
        assert_memory_equal(value, record_table_column(table, column),
                            table->row_count * sizeof *value);
    }
    read_attribute(set, "name", text, sizeof text);
    assert_string_equal(text, table->column[column].name);
    read_attribute(set, "role", text, sizeof text);
    assert_string_equal(text, record_role_text(table->column[column].role));
    H5Sclose(space);
    H5Dclose(set);
    free(value);
}

static void a_recording_reads_back(void **state)
{
    (void)state;
    zw_error error;
    char text[4096];
    record_table *table = pendulum_record(777, &error);
    assert_int_equal(record_table_add_note(table, "method", "dop853", &error), ZW_OK);
    assert_int_equal(record_table_label_row(table, "impact", &error), ZW_OK); /* of row 777 */
    assert_int_equal(record_table_label_row(table, "a longer name", &error), ZW_OK);
    assert_int_equal(record_write_h5(table, scratch("x.h5"), &error), ZW_OK);
    assert_int_equal(scratch_count(), 1);
    hid_t file = H5Fopen(scratch("x.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    read_attribute(file, "title", text, sizeof text);
    assert_string_equal(text, "Double pendulum");
    read_attribute(file, "file", text, sizeof text);
    assert_string_equal(text, "double_pendulum.zw");
    read_string(file, "source", text, sizeof text);
    assert_string_equal(text, pendulum_source);
    read_string(file, "summary/1", text, sizeof text);
    assert_string_equal(text, "rod1, rod2");
    assert_true(table->mark_count > 3);
    read_string(file, "marks/label 2", text, sizeof text);
    assert_string_equal(text, table->mark[2].label);
    read_attribute(file, "method", text, sizeof text);
    assert_string_equal(text, "dop853");
    double row[2];
    hid_t labels = H5Dopen2(file, "labels/row", H5P_DEFAULT);
    assert_true(H5Dread(labels, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, row) >= 0);
    assert_true(row[0] == 777 && row[1] == 777);
    H5Dclose(labels);
    labels = H5Dopen2(file, "labels/text", H5P_DEFAULT);
    hid_t type = H5Dget_type(labels);
    size_t width = H5Tget_size(type);
    assert_true(H5Dread(labels, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    assert_string_equal(text, "impact");
    assert_string_equal(text + width, "a longer name");
    H5Tclose(type);
    H5Dclose(labels);
    hid_t group = H5Gopen2(file, "columns", H5P_DEFAULT);
    for (int c = 0; c < table->column_count; c++) {
        check_column(group, table->column[c].name, table, c);
    }
    H5Gclose(group);
    assert_true(H5Fclose(file) >= 0);
    record_table_free(table);
}

/* Names that HDF5 would take for paths, and one that looks like what we make of them. */
static void odd_names_are_safe_and_unique(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = record_table_create(&error);
    char lengthy[400];
    memset(lengthy, 'n', sizeof lengthy);
    lengthy[sizeof lengthy - 1] = '\0';
    const char *const name[] = {"a/b", "a|b", "a|b #0", ".", "..", lengthy, "\xff<&\"'\n"};
    const char *const set[] = {"a|b #0#", "a|b", "a|b #0", ". #3", ".. #4", NULL, "\xff<&\"'\n"};
    const double row[] = {1, 2, NAN, INFINITY, -0.0, 6, 7};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(record_table_add_column(table, name[i], RECORD_ROLE_OTHER, NULL, &error),
                         ZW_OK);
    }
    for (int rows = 0; rows < 2; rows++) {
        assert_int_equal(record_write_h5(table, scratch("x.h5"), &error), ZW_OK);
        hid_t group = -1, file = H5Fopen(scratch("x.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(file >= 0 && (group = H5Gopen2(file, "columns", H5P_DEFAULT)) >= 0);
        char cut[160];
        snprintf(cut, sizeof cut, "%.120s #5", lengthy);
        for (int i = 0; i < 7; i++) {
            check_column(group, set[i] != NULL ? set[i] : cut, table, i);
        }
        H5Gclose(group);
        H5Fclose(file);
        record_table_add_row(table, row, &error);
    }
    record_table_free(table);
}

/* In a program of its own, whose files may have so many bytes: the error it got, and then HDF5's
 * own handler at exit. */
static void write_on_a_full_disk(const char *path, rlim_t most)
{
    zw_error error;
    const struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
    signal(SIGXFSZ, SIG_IGN); /* the call fails instead */
    setrlimit(RLIMIT_FSIZE, &limit);
    record_table *table = pendulum_record(777, &error);
    int status = table ? (int)record_write_h5(table, path, &error) : -1;
    int reported = status == ZW_NO_FILE && strstr(error.text, "cannot write") != NULL &&
                   (strstr(error.text, "File too large") || strstr(error.text, "No space left"));
    record_table_free(table);
    exit(reported ? 0 : 3);
}

static void full_disks_are_reported(void **state)
{
    (void)state;
    const rlim_t most[] = {0, 100, 4096, 20000, RLIM_INFINITY};
    scratch_empty(NULL);
    for (int i = 0; i < 5; i++) {
        int full = most[i] == RLIM_INFINITY, status = 0;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            write_on_a_full_disk(full ? "/dev/full" : scratch("full.h5"), most[i]);
        }
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
        assert_true(WIFEXITED(status)); /* no signal */
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(scratch_count(), 0); /* nothing is left behind */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_reads_back),
        cmocka_unit_test(odd_names_are_safe_and_unique),
        cmocka_unit_test(full_disks_are_reported),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

#endif
