/* The tables at the end of docs/bodies.md, from "## MJCF" on, are printed from those that drive the
 * readers; what stands before is written there by hand. After a change of the tables:
 *
 *     ZW_BLESS=1 <build>/test/read/test_bodies_doc
 */
#include "robots.h"

#include <stdlib.h>

#include "read/robot/mjcf.h"
#include "read/robot/urdf.h"

#define PAGE ZW_SOURCE_DIR "/docs/bodies.md"
#define BEGINNING "\n## MJCF\n"

typedef struct page {
    char *text;
    size_t used, capacity;
    const form_element *seen[100];
    int seen_count;
} page;

static void put(page *p, const char *text)
{
    size_t length = strlen(text);
    assert_true(p->used + length < p->capacity);
    memcpy(p->text + p->used, text, length + 1);
    p->used += length;
}

/* Names one after the other; `kind` of the rows. */
static void put_rows(page *p, const form_element *e, int fate, int in_default)
{
    int count = 0;
    for (const form_row *row = e->row; row != NULL && row->name != NULL; row++) {
        if (row->fate != fate || (in_default && form_word(mjcf_never_in_default, row->name) >= 0)) {
            continue;
        }
        put(p, count++ > 0 ? (fate != FORM_HONOURED ? "; " : ", ") : "");
        put(p, row->name);
        if (fate != FORM_HONOURED) {
            if (row->words != NULL && row->words[0] != 0) {
                put(p, " (");
                put(p, row->words);
                put(p, ")");
            }
            put(p, ": ");
            put(p, row->why);
        }
    }
}

static void put_quiet(page *p, const char *words)
{
    for (const char *at = words; at != NULL && *at != 0;) {
        size_t length = strcspn(at, " ");
        char word[80];
        snprintf(word, sizeof word, "%.*s%s", (int)length, at, at[length] == ' ' ? ", " : "");
        put(p, word);
        at += length + (at[length] == ' ');
    }
}

static void put_element(page *p, const char *path, const form_element *e)
{
    put(p, "| `");
    put(p, path);
    put(p, "` | ");
    if (e->fate == FORM_REFUSED) {
        put(p, " | **refused**: ");
        put(p, e->why);
        put(p, " | | |\n");
        return;
    }
    int in_default = strncmp(path, "default/", 8) == 0 && strcmp(e->name, "default") != 0;
    put_rows(p, e, FORM_HONOURED, in_default);
    put(p, " | ");
    put_rows(p, e, FORM_REFUSED, in_default);
    put(p, " | ");
    put(p, e->fate == FORM_QUIET ? "**all of it** " : "");
    put_quiet(p, e->quiet);
    put(p, " | ");
    put_rows(p, e, FORM_DIFFERS, in_default);
    put(p, " |\n");
}

static void put_tree(page *p, const char *path, const form_element *e)
{
    put_element(p, path, e);
    for (int i = 0; i < p->seen_count; i++) {
        if (p->seen[i] == e->child) {
            return; /* bodies in bodies */
        }
    }
    if (e->child == NULL || e->child == form_anything) {
        return;
    }
    assert_true(p->seen_count < 100);
    p->seen[p->seen_count++] = e->child;
    for (const form_element *c = e->child; c->name != NULL; c++) {
        char inner[200];
        const char *outer = e->child == mjcf_in_body      ? "body"
                            : e->child == mjcf_in_default ? "default"
                                                          : e->name;
        snprintf(inner, sizeof inner, "%s/%s", outer, c->name);
        put_tree(p, inner, c);
    }
}

static const char *const head =
    "\n| element | honoured | refused | without effect | MuJoCo differs |\n"
    "|---|---|---|---|---|\n";

static void put_tables(page *p)
{
    put(p, BEGINNING "\n`<include file=\"...\"/>` is honoured everywhere. What stands in "
                     "`<body>` may also stand in\n`<worldbody>` (but joints and inertial), "
                     "`<frame>` and `<replicate>`.\n");
    put(p, head);
    put_tree(p, "mujoco", &mjcf_form);
    put(p, "\n## URDF\n");
    put(p, head);
    put_tree(p, "robot", &urdf_form);
}

static void the_page_is_what_the_tables_say(void **state)
{
    (void)state;
    page p = {.capacity = 200000};
    char *known = malloc(p.capacity);
    p.text = malloc(p.capacity);
    FILE *file = fopen(PAGE, "rb");
    assert_true(file != NULL && known != NULL && p.text != NULL);
    known[fread(known, 1, p.capacity - 1, file)] = 0;
    fclose(file);
    char *tables = strstr(known, BEGINNING);
    assert_non_null(tables);
    put_tables(&p);
    if (getenv("ZW_BLESS") != NULL) {
        file = fopen(PAGE, "wb");
        assert_non_null(file);
        fprintf(file, "%.*s%s", (int)(tables - known), known, p.text);
        fclose(file);
    } else if (strcmp(tables, p.text) != 0) {
        print_error("docs/bodies.md is not what the tables say: run ZW_BLESS=1 test_bodies_doc\n");
        fail();
    }
    free(known);
    free(p.text);
}

/* Every honoured row has a place in its target, words where it wants words, at most 64 rows; every
 * refusal says why. */
static void check_rows(const form_element *e, int depth)
{
    int count = 0;
    for (const form_row *row = e->row; row != NULL && row->name != NULL; row++, count++) {
        assert_true(row->type != FORM_WORD || row->words != NULL);
        assert_true(row->fate == FORM_HONOURED || (row->why != NULL && strlen(row->why) > 5));
        assert_true(row->most <= 16 && row->least <= row->most);
        assert_true(form_word(e->quiet, row->name) < 0); /* not both */
    }
    assert_true(count <= 64);
    assert_true(e->fate != FORM_REFUSED || e->why != NULL);
    for (const form_element *c = e->child; depth < 4 && c != NULL && c->name != NULL; c++) {
        check_rows(c, depth + 1);
    }
}

static void tables_are_sound(void **state)
{
    (void)state;
    check_rows(&mjcf_form, 0);
    check_rows(&urdf_form, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_what_the_tables_say),
        cmocka_unit_test(tables_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
