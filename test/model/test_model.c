/* The model alone: growing lists, source locations, and the display of errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static void lists_grow_and_keep(void **state)
{
    (void)state;
    zw_model *m = model_create();
    assert_non_null(m);
    for (int i = 0; i < 1000; i++) {
        char name[20];
        snprintf(name, sizeof name, "x%d", i);
        model_coord *coord = model_add_coord(m);
        assert_non_null(coord);
        assert_int_equal(coord->speed, EXPR_NONE);
        assert_int_equal(coord->start, EXPR_ZERO);
        coord->name = model_text_copy(name, strlen(name));
        model_constraint *c = model_add_constraint(m);
        assert_true(c->friction == EXPR_NONE && c->restitution == EXPR_NONE);
        assert_non_null(model_add_param(m));
        assert_non_null(model_add_event(m));
        assert_non_null(model_add_check(m));
        assert_non_null(model_add_plot(m));
        assert_int_equal(model_add_draw(m)->radius, EXPR_NONE);
    }
    assert_string_equal(m->coord[0].name, "x0");
    assert_string_equal(m->coord[999].name, "x999");
    assert_int_equal(m->metric, EXPR_NONE);
    zw_model_free(m);
    zw_model_free(NULL);
}

static void memory_may_end(void **state)
{
    (void)state;
    for (int k = 1; k <= 30; k++) {
        base_alloc_fail_after(k);
        zw_model *m = model_create();
        for (int i = 0; m != NULL && i < 20; i++) {
            int before = m->coord_count;
            model_coord *coord = model_add_coord(m);
            assert_int_equal(m->coord_count, before + (coord != NULL));
            model_add_place(m, 0, i, 1, 1);
        }
        base_alloc_fail_after(0);
        zw_model_free(m);
    }
}

static zw_model *with_text(const char *name, const char *text)
{
    zw_model *m = model_create();
    model_file *file = m != NULL ? model_add_file(m) : NULL;
    assert_non_null(file);
    file->name = model_text_copy(name, strlen(name));
    file->text = model_text_copy(text, strlen(text));
    return m;
}

static void assert_shown(const char *text, int line, int column, int length, const char *wanted)
{
    zw_model *m = with_text("a.zw", text);
    zw_error error;
    int place = model_add_place(m, 0, line, column, length);
    assert_int_equal(model_fail(m, &error, ZW_BAD_INPUT, place, "message %d", 7), ZW_BAD_INPUT);
    assert_string_equal(error.text, wanted);
    assert_string_equal(error.file, "a.zw");
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
    assert_int_equal(model_fail(m, NULL, ZW_BAD_INPUT, place, "nobody listens"), ZW_BAD_INPUT);
    zw_model_free(m);
}

static void the_line_is_shown_with_a_caret(void **state)
{
    (void)state;
    assert_shown("one\ntwo three\nfour", 2, 5, 5, "message 7\ntwo three\n    ^~~~~");
    assert_shown("one", 1, 4, 1, "message 7\none\n   ^");
    assert_shown("one\r\ntwo", 1, 1, 20, "message 7\none\n^~~");
    assert_shown("\ta\tb", 1, 4, 1, "message 7\n\ta\tb\n\t \t^");
    assert_shown("\xc3\xa4\xc3\xb6 x", 1, 4, 1, "message 7\n\xc3\xa4\xc3\xb6 x\n   ^");
    assert_shown("a\x1b[31m\xff x", 1, 9, 1, "message 7\na?[31m? x\n        ^");
    assert_shown("", 1, 1, 1, "message 7"); /* a blank line is not shown */
    assert_shown("one\n", 2, 1, 1, "message 7");
}

static void long_lines_are_cut_around_the_caret(void **state)
{
    (void)state;
    char text[5001];
    for (int i = 0; i < 5000; i++) {
        text[i] = (char)('a' + i % 26);
    }
    text[5000] = 0;
    for (int column = 1; column <= 5000; column += 37) {
        zw_model *m = with_text("a.zw", text);
        zw_error error;
        model_fail(m, &error, ZW_BAD_INPUT, model_add_place(m, 0, 1, column, 3000), "message");
        const char *line = strchr(error.text, '\n') + 1;
        const char *under = strchr(line, '\n') + 1;
        const char *caret = strchr(under, '^');
        assert_non_null(caret);
        assert_int_equal(line[caret - under], text[column - 1]); /* it points at the letter */
        assert_true(strlen(line) < 250);
        zw_model_free(m);
    }
}

/* Whatever the lengths, the caret is not lost and nothing overflows. */
static void long_stories_leave_room(void **state)
{
    (void)state;
    char message[3000], name[400];
    memset(message, 's', sizeof message - 1);
    memset(name, 'n', sizeof name - 1);
    message[sizeof message - 1] = name[sizeof name - 1] = 0;
    zw_model *m = with_text(name, "some text");
    zw_error error;
    model_fail(m, &error, ZW_BAD_INPUT, model_add_place(m, 0, 1, 6, 4), "%s", message);
    assert_non_null(strstr(error.text, "\nsome text\n     ^~~~"));
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    assert_memory_equal(error.file, "...nnn", 6);
    zw_model_free(m);
}

static void a_failure_without_a_place(void **state)
{
    (void)state;
    zw_model *m = with_text("a.zw", "some text");
    zw_error error;
    model_fail(m, &error, ZW_NO_MEMORY, -1, "out of memory");
    assert_int_equal(error.status, ZW_NO_MEMORY);
    assert_string_equal(error.text, "out of memory");
    assert_string_equal(error.file, "a.zw");
    assert_int_equal(error.line, 0);
    zw_model_free(m);
}

static void neighbours_share_a_place(void **state)
{
    (void)state;
    zw_model *m = with_text("a.zw", "some text");
    int a = model_add_place(m, 0, 1, 1, 4);
    assert_int_equal(model_add_place(m, 0, 1, 1, 4), a);
    assert_int_equal(model_add_place(m, 0, 1, 6, 4), a + 1);
    zw_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_grow_and_keep),
        cmocka_unit_test(memory_may_end),
        cmocka_unit_test(the_line_is_shown_with_a_caret),
        cmocka_unit_test(long_lines_are_cut_around_the_caret),
        cmocka_unit_test(long_stories_leave_room),
        cmocka_unit_test(a_failure_without_a_place),
        cmocka_unit_test(neighbours_share_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
