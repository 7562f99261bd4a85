/* What all writers promise, and CSV: a file is complete or absent, errors name the file and the
 * reason, and what was written reads back to the last bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "record/pendulum.h"
#include "record/scratch.h"
#include "record/write.h"

#include <locale.h>

typedef zw_status (*writer)(const record_table *table, const char *path, zw_error *error);

static const writer writers[] = {record_write_csv, record_write_svg, record_write_html,
                                 record_write_h5};

static int writer_count(void)
{
    return record_has_h5() ? 4 : 3;
}

/* ---- Promises -------------------------------------------------------------------------------- */

static void bad_paths_are_reported_and_leave_nothing(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = pendulum_record(20, &error);
    for (int i = 0; i < writer_count(); i++) {
        const char *path = scratch("none/such.file");
        assert_int_equal(writers[i](table, path, &error), ZW_NO_FILE);
        assert_non_null(strstr(error.text, path));
        assert_non_null(strstr(error.text, "No such file or directory"));
        assert_string_equal(error.file, path);

        /* A folder cannot be replaced by a file; the temporary file must go again. */
        assert_int_equal(writers[i](table, scratch_folder, &error), ZW_NO_FILE);
        assert_non_null(strstr(error.text, scratch_folder));
        char temporary[300];
        snprintf(temporary, sizeof temporary, "%s.tmp~", scratch_folder);
        assert_int_equal(access(temporary, F_OK), -1);

        assert_int_equal(writers[i](table, "", &error), ZW_BAD_INPUT);
        assert_int_equal(writers[i](table, NULL, &error), ZW_BAD_INPUT);
        assert_int_equal(writers[i](NULL, scratch("x"), &error), ZW_BAD_INPUT);
        assert_int_equal(writers[i](table, scratch("none/such.file"), NULL), ZW_NO_FILE);
        assert_int_equal(scratch_count(), 0);
    }
    record_table_free(table);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
    }
    zw_error error;
    record_table *few = pendulum_record(2, &error), *many = pendulum_record(3000, &error);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(writers[i](few, "/dev/full", &error), ZW_NO_FILE);
        assert_non_null(strstr(error.text, "No space left on device"));
        assert_int_equal(writers[i](many, "/dev/full", &error), ZW_NO_FILE);
        assert_int_equal(writers[i](many, "/dev/null", &error), ZW_OK);
    }
    assert_int_equal(access("/dev/full", F_OK), 0); /* and is still the device */
    record_table_free(few);
    record_table_free(many);
}

static void no_memory_leaves_no_file(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = pendulum_record(50, &error);
    for (int i = 0; i < writer_count(); i++) {
        int k = 1;
        for (;; k++) {
            base_alloc_fail_after(k);
            zw_status status = writers[i](table, scratch("file"), &error);
            base_alloc_fail_after(0);
            if (status == ZW_OK) {
                break;
            }
            assert_int_equal(status, ZW_NO_MEMORY);
            assert_int_equal(scratch_count(), 0);
        }
        assert_true(k > 1);
        assert_int_equal(scratch_count(), 1);
        scratch_empty(NULL);
    }
    record_table_free(table);
}

static void the_same_table_gives_the_same_bytes(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = pendulum_record(200, &error);
    for (int i = 0; i < writer_count(); i++) {
        size_t one = 0, two = 0;
        assert_int_equal(writers[i](table, scratch("one"), &error), ZW_OK);
        usleep(i == 3 ? 1100000 : 0); /* HDF5 would note the second */
        assert_int_equal(writers[i](table, scratch("two"), &error), ZW_OK);
        char *first = scratch_read(scratch("one"), &one),
             *second = scratch_read(scratch("two"), &two);
        assert_int_equal(one, two);
        assert_memory_equal(first, second, one);
        assert_int_equal(scratch_count(), 2);
        free(first);
        free(second);
        scratch_empty(NULL);
    }
    record_table_free(table);
}

/* An old file is replaced when the new one is whole. */
static void a_file_is_replaced(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = pendulum_record(3, &error);
    for (int i = 0; i < writer_count(); i++) {
        FILE *old = fopen(scratch("file"), "w");
        fputs("old", old);
        fclose(old);
        assert_int_equal(writers[i](table, scratch("file"), &error), ZW_OK);
        char *text = scratch_read(scratch("file"), NULL);
        assert_true(memcmp(text, "old", 3) != 0);
        free(text);
        assert_int_equal(scratch_count(), 1);
        scratch_empty(NULL);
    }
    record_table_free(table);
}

static void without_hdf5_it_is_said(void **state)
{
    (void)state;
    zw_error error;
    if (record_has_h5()) {
        skip();
    }
    record_table *table = pendulum_record(3, &error);
    assert_int_equal(record_write_h5(table, scratch("x.h5"), &error), ZW_NO_FILE);
    assert_non_null(strstr(error.text, "without HDF5"));
    assert_int_equal(scratch_count(), 0);
    record_table_free(table);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void check_csv(const record_table *table)
{
    char *text = scratch_read(scratch("x.csv"), NULL);
    assert_non_null(text);
    const char *c = strchr(text, '\n') + 1;
    for (size_t row = 0; row < table->row_count; row++) {
        for (int column = 0; column < table->column_count; column++) {
            char *end;
            double value = strtod(c, &end), wanted = record_table_column(table, column)[row];
            if (isnan(wanted)) {
                assert_true(isnan(value));
            } else {
                assert_memory_equal(&value, &wanted, sizeof value);
            }
            assert_int_equal(*end, column + 1 < table->column_count ? ',' : '\n');
            c = end + 1;
        }
    }
    assert_int_equal(*c, '\0');
    free(text);
}

static void csv_reads_back_bit_by_bit(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = pendulum_record(500, &error);
    const double odd[] = {0.0,
                          -0.0,
                          1.0 / 3,
                          5e-324,
                          1.7976931348623157e308,
                          NAN,
                          INFINITY,
                          -INFINITY,
                          0.1,
                          1e22,
                          -2.5e-300,
                          123456789012345678.0,
                          1,
                          2,
                          3,
                          4,
                          5,
                          6,
                          7};
    assert_int_equal(sizeof odd / sizeof odd[0], PENDULUM_COLUMNS);
    record_table_add_row(table, odd, &error);
    assert_int_equal(record_write_csv(table, scratch("x.csv"), &error), ZW_OK);
    check_csv(table);
    char *text = scratch_read(scratch("x.csv"), NULL);
    assert_memory_equal(text, "t,th1,th2,th1',th2',energy,", 27);
    free(text);
    record_table_free(table);
}

/* Comments above, names of events after; both are absent from a plain file. */
static void csv_tells_where_it_comes_from(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = record_table_create(&error);
    const double row[2] = {1, 2};
    assert_int_equal(record_table_add_column(table, "t", RECORD_ROLE_TIME, NULL, &error), ZW_OK);
    assert_int_equal(record_table_add_column(table, "=1+1", RECORD_ROLE_COORD, NULL, &error),
                     ZW_OK);
    assert_int_equal(record_table_add_note(table, "method", "rk4\nand more", &error), ZW_OK);
    assert_int_equal(record_table_add_note(table, "method", "euler", &error), ZW_BAD_INPUT);
    assert_int_equal(record_table_add_row(table, row, &error), ZW_OK);
    assert_int_equal(record_table_label_row(table, "hit, hard", &error), ZW_OK);
    assert_int_equal(record_table_add_row(table, row, &error), ZW_OK);
    for (int plain = 0; plain < 2; plain++) {
        table->plain = plain != 0;
        assert_int_equal(record_write_csv(table, scratch("x.csv"), &error), ZW_OK);
        char *text = scratch_read(scratch("x.csv"), NULL);
        assert_string_equal(text, plain ? "t,'=1+1\n1,2\n1,2\n"
                                        : "# method: rk4 and more\nt,'=1+1,event\n1,2,\n"
                                          "1,2,\"hit, hard\"\n");
        free(text);
    }
    record_table_free(table);
}

static void csv_knows_no_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    const char *found = NULL;
    for (int i = 0; i < 4 && found == NULL; i++) {
        found = setlocale(LC_ALL, names[i]);
    }
    if (found == NULL) {
        skip(); /* no such locale here; test_svg has the numbers' own test */
    }
    zw_error error;
    record_table *table = pendulum_record(5, &error);
    zw_status status = record_write_csv(table, scratch("x.csv"), &error);
    setlocale(LC_ALL, "C");
    assert_int_equal(status, ZW_OK);
    check_csv(table);
    record_table_free(table);
}

static void csv_quotes_what_needs_it(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = record_table_create(&error);
    static const char *const name[] = {"plain", "a,b", "say \"x\"", "two\nlines", " blank", "x'"};
    for (int i = 0; i < 6; i++) {
        record_table_add_column(table, name[i], RECORD_ROLE_OTHER, NULL, &error);
    }
    assert_int_equal(record_write_csv(table, scratch("x.csv"), &error), ZW_OK);
    char *text = scratch_read(scratch("x.csv"), NULL);
    assert_string_equal(text, "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\" blank\",x'\n");
    free(text);
    record_table_free(table);
}

static void an_empty_table_is_a_file(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = record_table_create(&error);
    for (int i = 0; i < writer_count(); i++) {
        assert_int_equal(writers[i](table, scratch("file"), &error), ZW_OK);
        assert_int_equal(scratch_count(), 1);
    }
    assert_int_equal(record_table_add_row(table, NULL, &error), ZW_OK); /* rows of nothing */
    for (int i = 0; i < writer_count(); i++) {
        assert_int_equal(writers[i](table, scratch("file"), &error), ZW_OK);
    }
    record_table_free(table);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, scratch_empty)
    const struct CMUnitTest tests[] = {
        TEST(bad_paths_are_reported_and_leave_nothing),
        TEST(a_full_disk_is_reported),
        TEST(no_memory_leaves_no_file),
        TEST(the_same_table_gives_the_same_bytes),
        TEST(a_file_is_replaced),
        TEST(without_hdf5_it_is_said),
        TEST(csv_reads_back_bit_by_bit),
        TEST(csv_tells_where_it_comes_from),
        TEST(csv_knows_no_locale),
        TEST(csv_quotes_what_needs_it),
        TEST(an_empty_table_is_a_file),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
