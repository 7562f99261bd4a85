/* The page: it is one file, no text breaks out of its place, and its numbers are those of the
 * table. read_pages.py reads it as browsers do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/page/page.h"
#include "record/pendulum.h"
#include "record/scratch.h"
#include "record/write.h"

static char *page_of(const record_table *table, size_t *size)
{
    zw_error error;
    assert_int_equal(record_write_html(table, scratch("x.html"), &error), ZW_OK);
    return scratch_read(scratch("x.html"), size);
}

static int occurrences(const char *text, const char *what)
{
    int count = 0;
    while ((text = strstr(text, what)) != NULL) {
        count++;
        text++;
    }
    return count;
}

/* Those of web/, by tools/build-report; without them a page is plain. */
static int has_scripts(void)
{
    return record_page_js[0] != 0;
}

static void the_page_needs_nothing_else(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = pendulum_record(100, &error);
    char *text = page_of(table, NULL);
    char *script = strstr(text, "<script>");
    assert_true((script != NULL) == has_scripts());
    assert_non_null(strstr(text, "default-src 'none'")); /* the browser loads nothing */
    assert_int_equal(occurrences(text, "</script>"), 1 + has_scripts()); /* none of it in space */
    assert_int_equal(occurrences(text, "</style>"), has_scripts() ? 1 : 2);
    if (script != NULL) {
        *script = '\0'; /* what follows is ours; it may name things on the web, as namespaces */
        assert_null(strstr(text, "http:"));
    }
    assert_null(strstr(text, "https:"));
    assert_null(strstr(text, "src="));
    assert_null(strstr(text, "{{"));
    assert_non_null(strstr(text, "<title>Double pendulum</title>"));
    assert_non_null(strstr(text, "redundant rows"));
    assert_non_null(strstr(text, "\"title\":\"Change of energy\""));
    assert_non_null(strstr(text, "\"title\":\"Constraint violation\""));
    free(text);
    record_table_free(table);
}

static void the_parts_cannot_close_their_elements(void **state)
{
    (void)state;
    const char *const part[] = {(const char *)record_page_js, (const char *)record_page_space};
    for (int i = 0; i < 2; i++) {
        assert_null(strstr(part[i], "</script"));
        assert_null(strstr(part[i], "<!--"));
    }
    assert_null(strstr((const char *)record_page_css, "</style"));
}

static void texts_stay_in_their_places(void **state)
{
    (void)state;
    zw_error error;
    const char *bad = "</script><img onerror=x>&amp;\"'\n\x01{{source}}</title></pre>";
    record_table *table = record_table_create(&error);
    for (int i = 0; i < RECORD_TEXT_COUNT; i++) {
        record_table_set_text(table, (record_text)i, bad, &error);
    }
    record_table_add_column(table, bad, RECORD_ROLE_COORD, NULL, &error);
    record_table_add_mark(table, 1, bad, &error);
    record_table_add_summary(table, bad, bad, &error);
    const record_point at = {{0, 0, 0}, {0, 0, 0}};
    record_table_add_draw(
        table,
        &(record_draw){
            .kind = RECORD_DRAW_TEXT, .dimension = 2, .point_count = 1, .point = &at, .text = bad},
        &error);
    record_table_add_row(table, &(double){1}, &error);
    char *text = page_of(table, NULL);
    assert_int_equal(occurrences(text, "</script>"), 1 + has_scripts());
    assert_int_equal(occurrences(text, "</title>"), occurrences(text, "<title>"));
    assert_int_equal(occurrences(text, "</pre>"), 1);
    assert_int_equal(occurrences(text, "<img"), 0);
    assert_null(strchr(text, '\x01'));
    free(text);
    record_table_free(table);
}

/* 1e5 rows are shown as they are; rows without end do not make a page without end. */
static void long_and_wide_recordings_stay_small(void **state)
{
    (void)state;
    zw_error error;
    size_t size;
    record_table *table = pendulum_record(100000, &error);
    char *text = page_of(table, &size);
    assert_non_null(strstr(text, "{\"rows\":100000,\"samples\":100000,"));
    assert_true(size < 22000000);
    free(text);
    record_table_free(table);

    enum { WIDE = 3000 };
    static double row[WIDE];
    static record_point point[WIDE / 2];
    table = record_table_create(&error);
    for (int c = 0; c < WIDE; c++) {
        char name[32];
        snprintf(name, sizeof name, "x[%d]", c);
        record_table_add_column(table, name, c % 2 == 0 ? RECORD_ROLE_MULTIPLIER : RECORD_ROLE_DRAW,
                                NULL, &error);
        point[c / 2].column[c % 2] = c;
    }
    const record_draw chain = {
        .kind = RECORD_DRAW_LINE, .dimension = 2, .point_count = WIDE / 2, .point = point};
    assert_int_equal(record_table_add_draw(table, &chain, &error), ZW_OK);
    for (int i = 0; i < 5000; i++) {
        for (int c = 0; c < WIDE; c++) {
            row[c] = c == 1000 ? 99 + i : (c % 7) * i;
        }
        assert_int_equal(record_table_add_row(table, row, &error), ZW_OK);
    }
    text = page_of(table, &size);
    assert_true(size < 24000000);
    assert_non_null(strstr(text, "\"leftOut\":1488")); /* 12 of 1500 forces, the largest */
    free(text);
    record_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_needs_nothing_else),
        cmocka_unit_test(the_parts_cannot_close_their_elements),
        cmocka_unit_test(texts_stay_in_their_places),
        cmocka_unit_test(long_and_wide_recordings_stay_small),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
