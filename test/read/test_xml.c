/* Elements and attributes know where they stand, and attacks come to nothing. */
#include "robots.h"

#include <stdlib.h>

#include "read/file/file.h"

static xml_tree tree_of(const char *text, zw_error *error, int *root)
{
    xml_tree tree = {.model = model_create(), .error = error};
    model_file *file = model_add_file(tree.model);
    file->name = model_text_copy("t.xml", 5);
    file->text = model_text_copy(text, strlen(text));
    *root = xml_read(&tree, 0);
    return tree;
}

static void tree_done(xml_tree *tree)
{
    zw_model_free(tree->model);
    xml_free(tree);
}

static void places(void **state)
{
    (void)state;
    zw_error error;
    int root;
    xml_tree t =
        tree_of("\xef\xbb\xbf<?xml version='1.0'?>\n<a  x = \"1\"\n   y='2 3'>\n <!-- <no/> -->"
                "\n\t<b\xc3\xa4 z='\xc3\xa4 \n 7'/><c>text</c></a>\n",
                &error, &root);
    assert_int_equal(root, 0);
    assert_int_equal(t.count, 3);
    const xml_element *a = &t.element[0], *b = &t.element[1], *c = &t.element[2];
    assert_int_equal(a->line, 2);
    assert_int_equal(a->column, 1);
    assert_int_equal(a->attribute_count, 2);
    const xml_attribute *x = &t.attribute[0], *y = &t.attribute[1], *z = &t.attribute[2];
    assert_int_equal(x->name_column, 5);
    assert_int_equal(x->column, 10);
    assert_int_equal(y->name_line, 3);
    assert_int_equal(y->name_column, 4);
    assert_int_equal(b->line, 5);
    assert_int_equal(b->column, 2);
    assert_int_equal(b->parent, 0);
    assert_int_equal(z->column, 9); /* letters are counted, not bytes */
    int place = xml_place_value(&t, 1, 2, 1);
    assert_int_equal(t.model->place[place].line, 6);
    assert_int_equal(t.model->place[place].column, 2);
    assert_int_equal(c->has_text, 1);
    assert_int_equal(b->next, 2);
    assert_int_equal(c->next, -1);
    tree_done(&t);
}

static void entities_of_xml_are_known(void **state)
{
    (void)state;
    zw_error error;
    int root;
    xml_tree t = tree_of("<a x='&lt;&#65;&amp;&quot;'/>", &error, &root);
    assert_int_equal(root, 0);
    assert_string_equal(xml_value(&t, 0, "x"), "<A&\"");
    assert_null(xml_value(&t, 0, "y"));
    tree_done(&t);
}

/* A billion laughs: refused before they are expanded. */
static void no_document_types(void **state)
{
    (void)state;
    zw_error error;
    int root;
    xml_tree t = tree_of("<!DOCTYPE z [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><z>&b;</z>",
                         &error, &root);
    assert_int_equal(root, -1);
    assert_non_null(strstr(error.text, "document type"));
    tree_done(&t);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    enum { N = XML_MOST_DEEP + 1 };
    zw_error error;
    int root;
    char *text = malloc(3 * N + 1);
    for (int i = 0; i < N; i++) {
        memcpy(text + 3 * i, "<a>", 3);
    }
    text[3 * N] = 0;
    xml_tree t = tree_of(text, &error, &root);
    assert_int_equal(root, -1);
    assert_non_null(strstr(error.text, "deep"));
    tree_done(&t);
    free(text);
}

static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int ok;
        double value;
    } cases[] = {
        {"1", 1, 1},        {"-.5", 1, -0.5}, {"+2.", 1, 2},        {"1e-3", 1, 1e-3},
        {"1E+10", 1, 1e10}, {".", 0, 0},      {"", 0, 0},           {"-", 0, 0},
        {"1e", 0, 0},       {"0x10", 0, 0},   {"1,5", 0, 0},        {"1f", 0, 0},
        {"--1", 0, 0},      {"1.2.3", 0, 0},  {"INF", 1, INFINITY}, {"-inf", 1, -INFINITY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 0;
        int ok = read_decimal(cases[i].text, strlen(cases[i].text), &value);
        assert_int_equal(ok, cases[i].ok);
        assert_true(!ok || value == cases[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),
        cmocka_unit_test(entities_of_xml_are_known),
        cmocka_unit_test(no_document_types),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(numbers),
    };
    return ROBOT_TESTS(tests);
}
