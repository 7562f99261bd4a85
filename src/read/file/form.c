#include "read/file/form.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/bodies.h"
#include "read/zw/zw.h"

const form_element form_anything[] = {FORM_LAST};

int form_word(const char *words, const char *word)
{
    size_t wanted = strlen(word);
    int number = 0;
    for (const char *at = words; at != NULL && *at != 0; number++) {
        size_t length = strcspn(at, " ");
        if (length == wanted && strncmp(at, word, length) == 0) {
            return number;
        }
        at += length + (at[length] == ' ');
    }
    return -1;
}

static void offer_words(read_guess *guess, const char *words)
{
    for (const char *at = words; at != NULL && *at != 0;) {
        size_t length = strcspn(at, " ");
        read_guess_offer(guess, at, (int)length);
        at += length + (at[length] == ' ');
    }
}

int form_fail(xml_tree *tree, int element, const char *attribute, const char *format, ...)
{
    char message[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    int index = attribute != NULL ? xml_find(tree, element, attribute) : -1;
    int place = index >= 0 ? xml_place_value(tree, element, index, -1) : xml_place(tree, element);
    return xml_fail(tree, place, "%s", message);
}

/* ---- Checking ------------------------------------------------------------------------------- */

static int note(xml_tree *tree, int place, const char *element, const char *attribute)
{
    char text[160];
    snprintf(text, sizeof text, "%.70s%s%.70s", element, attribute != NULL ? " " : "",
             attribute != NULL ? attribute : "");
    return place >= 0 && (model_add_note(tree->model, place, text) || xml_no_memory(tree));
}

static int difference(xml_tree *tree, int place, const char *element, const form_row *row)
{
    char text[200];
    snprintf(text, sizeof text, "%.40s %.40s: %.100s", element, row->name, row->why);
    return place >= 0 && (model_add_difference(tree->model, place, text) || xml_no_memory(tree));
}

static const form_row *row_of(const form_element *form, const char *name)
{
    for (const form_row *row = form->row; row != NULL && row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

/* In an open format a name that is in no table belongs to another tool and is noted; but a name
 * that is one typo away from a supported one is an error. */
static int is_typo(const read_guess *guess)
{
    return guess->distance <= (guess->length < 5 ? 1 : 2);
}

static int unknown_attribute(xml_tree *tree, int element, int attribute, const form_element *form,
                             int open)
{
    const char *name = tree->attribute[attribute].name;
    int place = xml_place_name(tree, element, attribute);
    read_guess guess = read_guess_start(name, (int)strlen(name));
    for (const form_row *row = form->row; row != NULL && row->name != NULL; row++) {
        read_guess_offer(&guess, row->name, (int)strlen(row->name));
    }
    if (open && !is_typo(&guess)) {
        return note(tree, place, form->name, name);
    }
    offer_words(&guess, form->quiet);
    return xml_fail(tree, place, "<%.60s> has no attribute '%.60s'%s", form->name, name,
                    read_guess_show(&guess).text);
}

/* A refused attribute is accepted if all its words are among those that have no effect. */
static int has_no_effect(const form_row *row, const char *value)
{
    char word[24];
    int count = 0;
    for (;;) {
        value += strspn(value, " \t\r\n");
        size_t length = strcspn(value, " \t\r\n");
        if (length == 0) {
            return count > 0;
        }
        snprintf(word, sizeof word, "%.*s", length < 23 ? (int)length : 23, value);
        if (form_word(row->words, word) < 0) {
            return 0;
        }
        value += length;
        count++;
    }
}

static int check_attribute(xml_tree *tree, int element, int attribute, const form_element *form,
                           int open)
{
    const xml_attribute *a = &tree->attribute[attribute];
    const form_row *row = row_of(form, a->name);
    if (row != NULL && row->fate == FORM_REFUSED && !has_no_effect(row, a->value)) {
        return xml_fail(tree, xml_place_name(tree, element, attribute), "%s of <%s>: %s", a->name,
                        form->name, row->why);
    }
    if (row != NULL && row->fate == FORM_DIFFERS && !has_no_effect(row, a->value)) {
        return difference(tree, xml_place_name(tree, element, attribute), form->name, row);
    }
    if (row != NULL && row->fate != FORM_QUIET && row->fate != FORM_DIFFERS) {
        return 1;
    }
    if (row != NULL || form_word(form->quiet, a->name) >= 0) {
        return form->fate == FORM_QUIET || /* the element itself was noted then */
               note(tree, xml_place_name(tree, element, attribute), form->name, a->name);
    }
    if (strncmp(a->name, "xmlns", 5) == 0 || strchr(a->name, ':') != NULL) {
        return note(tree, xml_place_name(tree, element, attribute), form->name, a->name);
    }
    return unknown_attribute(tree, element, attribute, form, open);
}

static const form_element *child_of(const form_element *form, const char *name)
{
    for (const form_element *c = form->child; c != NULL && c->name != NULL; c++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

static int unknown_element(xml_tree *tree, int element, const form_element *form, int open)
{
    const char *name = tree->element[element].name;
    int place = xml_place(tree, element);
    read_guess guess = read_guess_start(name, (int)strlen(name));
    for (const form_element *c = form->child; c != NULL && c->name != NULL; c++) {
        if (!open || c->fate != FORM_QUIET) {
            read_guess_offer(&guess, c->name, (int)strlen(c->name));
        }
    }
    if (open && !is_typo(&guess)) {
        return note(tree, place, name, NULL);
    }
    return xml_fail(tree, place, "there is no <%.60s> in <%.60s>%s", name, form->name,
                    read_guess_show(&guess).text);
}

static int check_element(xml_tree *tree, int element, const form_element *form, int open)
{
    const xml_element e = tree->element[element];
    if (form->fate == FORM_REFUSED) {
        return xml_fail(tree, xml_place(tree, element), "<%s>: %s", form->name, form->why);
    }
    if (form->fate == FORM_QUIET && !note(tree, xml_place(tree, element), form->name, NULL)) {
        return 0;
    }
    if (e.has_text && form->child != form_anything &&
        !note(tree, xml_place(tree, element), form->name, "(text inside)")) {
        return 0;
    }
    for (int i = 0; i < e.attribute_count && form->child != form_anything; i++) {
        if (!check_attribute(tree, element, e.attribute + i, form, open)) {
            return 0;
        }
    }
    return 1;
}

/* Elements are checked after their parents, which have smaller indices, also across included
 * files. */
int form_check(xml_tree *tree, int root, const form_element *form, int open)
{
    const form_element **of = base_alloc((size_t)tree->count * sizeof *of);
    if (of == NULL) {
        return xml_no_memory(tree);
    }
    int ok = 1;
    of[root] = form;
    for (int i = root; ok && i < tree->count; i++) {
        const form_element *parent =
            i != root && tree->element[i].parent >= 0 ? of[tree->element[i].parent] : NULL;
        if (i == root) {
            ok = check_element(tree, i, form, open);
        } else if (parent != NULL && parent->child != form_anything) {
            of[i] = child_of(parent, tree->element[i].name);
            ok = of[i] != NULL ? check_element(tree, i, of[i], open)
                               : unknown_element(tree, i, parent, open);
        }
    }
    base_free(of);
    return ok;
}

/* ---- Reading -------------------------------------------------------------------------------- */

uint64_t form_bit(const form_row *rows, const char *name)
{
    for (int i = 0; rows[i].name != NULL; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return (uint64_t)1 << i;
        }
    }
    return 0;
}

static int apply_numbers(xml_tree *tree, int element, int attribute, const form_row *row,
                         char *target)
{
    double list[16];
    int count = xml_numbers(tree, element, attribute, list, 16);
    if (count < 0) {
        return 0;
    }
    if (count < row->least || count > row->most) {
        int place = count > row->most && row->most > 0
                        ? xml_place_value(tree, element, attribute, row->most)
                        : xml_place_value(tree, element, attribute, -1);
        if (row->least == row->most) {
            return xml_fail(tree, place, "%s takes %d number%s, not %d", row->name, row->most,
                            row->most == 1 ? "" : "s", count);
        }
        return xml_fail(tree, place, "%s takes %d to %d numbers, not %d", row->name, row->least,
                        row->most, count);
    }
    for (int i = 0; i < count; i++) {
        if (row->type == FORM_REAL) {
            memcpy(target + (size_t)i * sizeof(double), &list[i], sizeof(double));
            continue;
        }
        if (list[i] != floor(list[i]) || fabs(list[i]) > 2e9) {
            return xml_fail(tree, xml_place_value(tree, element, attribute, i),
                            "%s needs whole numbers", row->name);
        }
        int whole = (int)list[i];
        memcpy(target + (size_t)i * sizeof(int), &whole, sizeof(int));
    }
    return 1;
}

static int apply_word(xml_tree *tree, int element, int attribute, const form_row *row, char *target)
{
    const char *value = tree->attribute[attribute].value;
    int number = form_word(row->words, value);
    if (number < 0 || strchr(value, ' ') != NULL) {
        read_guess guess = read_guess_start(value, (int)strlen(value));
        offer_words(&guess, row->words);
        return xml_fail(tree, xml_place_value(tree, element, attribute, -1),
                        "%s cannot be '%.60s', but one of: %s%s", row->name, value, row->words,
                        read_guess_show(&guess).text);
    }
    memcpy(target, &number, sizeof number);
    return 1;
}

int form_apply(xml_tree *tree, int element, const form_row *rows, void *target, uint64_t *given)
{
    for (int i = 0; rows[i].name != NULL; i++) {
        const form_row *row = &rows[i];
        int attribute = row->fate == FORM_HONOURED ? xml_find(tree, element, row->name) : -1;
        char *at = (char *)target + row->offset;
        int ok = 1;
        if (attribute < 0) {
            continue;
        }
        if (row->type == FORM_REAL || row->type == FORM_INT) {
            ok = apply_numbers(tree, element, attribute, row, at);
        } else if (row->type == FORM_WORD) {
            ok = apply_word(tree, element, attribute, row, at);
        } else if (row->type == FORM_TEXT) {
            const char *value = tree->attribute[attribute].value;
            memcpy(at, &value, sizeof value);
        } else {
            int number = attribute + 1;
            memcpy(at, &number, sizeof number);
        }
        if (!ok) {
            return 0;
        }
        *given |= (uint64_t)1 << i;
    }
    return 1;
}
