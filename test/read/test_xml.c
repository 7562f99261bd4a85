/* Elements and attributes have source locations, and known attacks have no effect. */
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

/* Where a text is refused, and what is said of it. */
static void what_is_not_well_formed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *said;
    } cases[] = {
        {"", 1, 1, "there is no XML element"},
        {"text <a/>", 1, 1, "text before the first element"},
        {"<a/>\n text", 2, 2, "text after the last element"},
        {"<a/>\n<b/>", 2, 1, "one root element, here <a> of line 1"},
        {"<a>\n <b></a>", 2, 5, "the open one is <b> of line 2"},
        {"<a>\n <b>", 2, 2, "<b> is not closed"},
        {"<a/></a>", 1, 5, "none is open"},
        {"<a b='1' b='2'/>", 1, 10, "b appears twice"},
        {"<a b='1'c='2'/>", 1, 9, "a blank is missing"},
        {"<a b=1/>", 1, 6, "the value of b must be in quotes"},
        {"<a b/>", 1, 5, "b needs '='"},
        {"<a b='x\n y/>", 1, 6, "this value is not closed"},
        {"<a b='<'/>", 1, 7, "'<' is not allowed in a value"},
        {"<a b='x & y'/>", 1, 9, "write &amp;"},
        {"<a b='&no;'/>", 1, 7, "this entity is unknown"},
        {"<a b='&#xd800;'/>", 1, 7, "not allowed in XML"},
        {"<a>\x01</a>", 1, 4, "U+0001 is not allowed"},
        {"<a>\xe4</a>", 1, 4, "0xe4 is not UTF-8 here; write the file in UTF-8"},
        {"<?xml version='1.0' encoding='latin1'?>\n<a>\xe4</a>", 2, 4, "says that it is latin1"},
        {"<a>]]></a>", 1, 4, "]]&gt;"},
        {"<a><!-- x</a>", 1, 4, "this comment is not closed"},
        {"<a><![CDATA[x</a>", 1, 4, "this text is not closed"},
        {"<a><?xml version='1.0'?></a>", 1, 4, "the first thing"},
        {"<?xml encoding='utf-8'?><a/>", 1, 1, "a declaration is written"},
        {"<a <b/>", 1, 4, "was expected"},
        {"<a>< b/></a>", 1, 4, "no name follows"},
        {"<a", 1, 1, "this tag is not closed"},
        {"<a></a", 1, 7, "'>' is missing"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zw_error error = {0};
        int root;
        xml_tree t = tree_of(cases[i].text, &error, &root);
        if (root != -1 || error.line != cases[i].line || error.column != cases[i].column ||
            strstr(error.text, cases[i].said) == NULL) {
            print_error("%s\n%d:%d: %s\n", cases[i].text, error.line, error.column, error.text);
            fail();
        }
        tree_done(&t);
    }
}

/* MuJoCo's reader takes these, too. */
static void laxer_than_xml(void **state)
{
    (void)state;
    zw_error error;
    int root;
    xml_tree t = tree_of("\n <?xml version='1.0'?>\n<!-- a -- b ---><a/>", &error, &root);
    assert_int_equal(root, 0);
    assert_int_equal(t.element[0].line, 3);
    tree_done(&t);
}

/* A tag is compared with itself in pairs. */
static void attributes_are_bounded(void **state)
{
    (void)state;
    enum { N = XML_MOST_ATTRIBUTES + 1 };
    zw_error error;
    int root, length = 2;
    char *text = malloc(20 * N);
    memcpy(text, "<a", 2);
    for (int i = 0; i < N; i++) {
        length += sprintf(text + length, " a%d=''", i);
    }
    memcpy(text + length, "/>", 3);
    xml_tree t = tree_of(text, &error, &root);
    assert_int_equal(root, -1);
    assert_non_null(strstr(error.text, "more than 1000 attributes"));
    tree_done(&t);
    free(text);
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
        cmocka_unit_test(what_is_not_well_formed),
        cmocka_unit_test(laxer_than_xml),
        cmocka_unit_test(attributes_are_bounded),
        cmocka_unit_test(no_document_types),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
