/* The table: it grows, copies what it is given, refuses what makes no sense, and survives a machine
 * without memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "record/pendulum.h"

#include <stdlib.h>
#include <string.h>

static void rows_grow_and_stay(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = record_table_create(&error);
    assert_non_null(table);
    assert_null(record_table_column(table, 0));
    int index = -1;
    assert_int_equal(record_table_add_column(table, "t", RECORD_ROLE_TIME, &index, &error), ZW_OK);
    assert_int_equal(index, 0);
    assert_int_equal(record_table_add_column(table, "x'", RECORD_ROLE_SPEED, &index, NULL), ZW_OK);
    assert_int_equal(index, 1);
    for (int i = 0; i < 10000; i++) {
        const double row[] = {i, 0.5 * i};
        assert_int_equal(record_table_add_row(table, row, &error), ZW_OK);
    }
    assert_int_equal(table->row_count, 10000);
    assert_int_equal(table->time, 0);
    for (int i = 0; i < 10000; i++) {
        assert_true(record_table_column(table, 0)[i] == i);
        assert_true(record_table_column(table, 1)[i] == 0.5 * i);
    }
    record_table_free(table);
    record_table_free(NULL);
}

static void thousands_of_names_are_found(void **state)
{
    (void)state;
    record_table *table = record_table_create(NULL);
    char name[32];
    assert_int_equal(record_table_find(table, "x"), -1);
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "x[%d]", i);
        assert_int_equal(record_table_add_column(table, name, RECORD_ROLE_COORD, NULL, NULL),
                         ZW_OK);
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "x[%d]", i);
        assert_int_equal(record_table_find(table, name), i);
    }
    assert_int_equal(record_table_find(table, "x[5000]"), -1);
    record_table_free(table);
}

static void what_is_given_is_copied(void **state)
{
    (void)state;
    record_table *table = record_table_create(NULL);
    char text[16] = "first";
    assert_string_equal(table->text[RECORD_TEXT_SOURCE], "");
    record_table_set_text(table, RECORD_TEXT_TITLE, text, NULL);
    record_table_add_column(table, text, RECORD_ROLE_COORD, NULL, NULL);
    record_table_add_mark(table, 2, text, NULL);
    record_table_add_summary(table, text, text, NULL);
    int y[] = {0};
    record_point at = {{0, -1, -1}, {0, 3, 0}};
    record_plot plot = {.title = text, .y_count = 1, .y = y, .y_label = text};
    record_draw draw = {.kind = RECORD_DRAW_POINT,
                        .dimension = 2,
                        .point_count = 1,
                        .point = &at,
                        .text = text,
                        .color = "red"};
    assert_int_equal(record_table_add_plot(table, &plot, NULL), ZW_OK);
    assert_int_equal(record_table_add_draw(table, &draw, NULL), ZW_OK);
    strcpy(text, "second");
    y[0] = 7;
    at.column[0] = 9;
    assert_string_equal(table->text[RECORD_TEXT_TITLE], "first");
    assert_string_equal(table->column[0].name, "first");
    assert_string_equal(table->mark[0].label, "first");
    assert_string_equal(table->summary[0].text, "first");
    assert_string_equal(table->plot[0].title, "first");
    assert_null(table->plot[0].x_label);
    assert_int_equal(table->plot[0].y[0], 0);
    assert_string_equal(table->draw[0].text, "first");
    assert_int_equal(table->draw[0].point[0].column[0], 0);
    record_table_free(table);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = record_table_create(&error);
    const double row[] = {1, 2};
    const int good[] = {0}, bad[] = {2};
    const record_point in = {{0, 1, 0}, {0, 0, 0}}, out = {{0, 2, 0}, {0, 0, 0}},
                       far = {{-1, -1, 0}, {INFINITY, 0, 0}};
    record_table_add_column(table, "t", RECORD_ROLE_TIME, NULL, &error);
    record_table_add_column(table, "x", RECORD_ROLE_COORD, NULL, &error);
#define REFUSED(call)                                                                              \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        assert_int_equal(call, ZW_BAD_INPUT);                                                      \
        assert_int_equal(error.status, ZW_BAD_INPUT);                                              \
        assert_true(strlen(error.text) > 10);                                                      \
    } while (0)
    REFUSED(record_table_add_column(table, "x", RECORD_ROLE_COORD, NULL, &error));
    assert_non_null(strstr(error.text, "x"));
    REFUSED(record_table_add_column(table, "", RECORD_ROLE_COORD, NULL, &error));
    REFUSED(record_table_add_column(table, NULL, RECORD_ROLE_COORD, NULL, &error));
    REFUSED(record_table_add_column(table, "s", RECORD_ROLE_TIME, NULL, &error));
    REFUSED(record_table_add_column(table, "s", (record_role)77, NULL, &error));
    REFUSED(record_table_add_row(table, NULL, &error));
    REFUSED(record_table_add_mark(table, NAN, "x", &error));
    REFUSED(record_table_add_mark(table, 0, NULL, &error));
    REFUSED(record_table_add_summary(table, NULL, "x", &error));
    REFUSED(record_table_set_text(table, RECORD_TEXT_COUNT, "x", &error));
    REFUSED(record_table_add_plot(table, &(record_plot){.y_count = 0, .y = good}, &error));
    REFUSED(record_table_add_plot(table, &(record_plot){.y_count = 1, .y = bad}, &error));
    REFUSED(record_table_add_plot(
        table, &(record_plot){.kind = RECORD_PLOT_XY, .x = -1, .y_count = 1, .y = good}, &error));
    const record_draw draw = {
        .kind = RECORD_DRAW_TEXT, .dimension = 2, .point_count = 1, .point = &in, .text = "a"};
    record_draw d = draw;
    assert_int_equal(record_table_add_draw(table, &d, &error), ZW_OK);
    REFUSED((d = draw, d.text = NULL, record_table_add_draw(table, &d, &error)));
    REFUSED((d = draw, d.dimension = 4, record_table_add_draw(table, &d, &error)));
    REFUSED((d = draw, d.point_count = 2, record_table_add_draw(table, &d, &error)));
    REFUSED((d = draw, d.point = &out, record_table_add_draw(table, &d, &error)));
    REFUSED((d = draw, d.point = &far, record_table_add_draw(table, &d, &error)));
    REFUSED((d = draw, d.color = "red;}", record_table_add_draw(table, &d, &error)));
    REFUSED((d = draw, d.width = -1, record_table_add_draw(table, &d, &error)));
    REFUSED((d = draw, d.kind = RECORD_DRAW_CIRCLE, d.radius_column = 2,
             record_table_add_draw(table, &d, &error)));
    REFUSED((d = draw, d.kind = RECORD_DRAW_LINE, record_table_add_draw(table, &d, &error)));
    assert_int_equal(table->draw_count, 1);
    assert_int_equal(table->plot_count + table->mark_count + table->summary_count, 0);
    assert_int_equal(record_table_add_row(table, row, &error), ZW_OK);
    REFUSED(record_table_add_column(table, "late", RECORD_ROLE_COORD, NULL, &error));
    record_table_free(table);
}

/* Whichever request for memory fails, it is a status, and nothing is lost or leaked. */
static void no_memory_is_a_status(void **state)
{
    (void)state;
    for (int k = 1;; k++) {
        zw_error error = {0};
        base_alloc_fail_after(k);
        record_table *table = pendulum_record(300, &error);
        base_alloc_fail_after(0);
        if (table != NULL) {
            assert_true(k > 30);
            record_table_free(table);
            break;
        }
        assert_int_equal(error.status, ZW_NO_MEMORY);
    }
}

/* A row that found no memory can be added again. */
static void a_failed_row_leaves_the_others(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = record_table_create(&error);
    record_table_add_column(table, "t", RECORD_ROLE_TIME, NULL, &error);
    int failures = 0;
    for (int i = 0; i < 500;) {
        const double row = i;
        base_alloc_fail_after(failures % 2 == 0);
        zw_status status = record_table_add_row(table, &row, &error);
        base_alloc_fail_after(0);
        failures += status != ZW_OK;
        i += status == ZW_OK;
        failures += status == ZW_OK && failures % 2 == 1;
    }
    assert_true(failures > 4);
    for (int i = 0; i < 500; i++) {
        assert_true(record_table_column(table, 0)[i] == i);
    }
    record_table_free(table);
}

static void roles_have_names(void **state)
{
    (void)state;
    assert_string_equal(record_role_text(RECORD_ROLE_TIME), "time");
    assert_string_equal(record_role_text(RECORD_ROLE_CERTIFICATE), "certificate");
    assert_string_equal(record_role_text((record_role)99), "other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_grow_and_stay),      cmocka_unit_test(thousands_of_names_are_found),
        cmocka_unit_test(what_is_given_is_copied), cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(no_memory_is_a_status),   cmocka_unit_test(a_failed_row_leaves_the_others),
        cmocka_unit_test(roles_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
