/* The tree of elements: its strings, places, messages and values. xml_parse.c fills it. */
#include "read/file/xml.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "model/bodies.h"
#include "read/file/file.h"

/* ---- Strings -------------------------------------------------------------------------------- */

typedef struct xml_chunk {
    struct xml_chunk *before;
    size_t used, size;
    char text[];
} xml_chunk;

enum { CHUNK = 1 << 16 };

char *xml_keep(xml_tree *tree, const char *text, size_t length)
{
    xml_chunk *chunk = tree->chunk;
    if (chunk == NULL || chunk->size - chunk->used < length + 1) {
        size_t size = length + 1 > CHUNK ? length + 1 : CHUNK;
        xml_chunk *more = base_alloc(sizeof *more + size);
        if (more == NULL) {
            xml_no_memory(tree);
            return NULL;
        }
        more->before = chunk;
        more->size = size;
        tree->chunk = chunk = more;
    }
    char *copy = chunk->text + chunk->used;
    memcpy(copy, text, length);
    copy[length] = 0;
    chunk->used += length + 1;
    return copy;
}

void xml_free(xml_tree *tree)
{
    while (tree->chunk != NULL) {
        xml_chunk *before = tree->chunk->before;
        base_free(tree->chunk);
        tree->chunk = before;
    }
    base_free(tree->element);
    base_free(tree->attribute);
}

/* ---- Messages -------------------------------------------------------------------------------- */

int xml_no_memory(xml_tree *tree)
{
    if (tree->status == ZW_OK) {
        tree->status = model_fail(tree->model, tree->error, ZW_NO_MEMORY, -1, "out of memory");
    }
    return 0;
}

int xml_fail(xml_tree *tree, int place, const char *format, ...)
{
    if (tree->status == ZW_OK) {
        char message[600];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(message, sizeof message, format, arguments);
        va_end(arguments);
        tree->status = model_fail(tree->model, tree->error, ZW_BAD_INPUT, place, "%s", message);
    }
    return 0;
}

int xml_place_at(xml_tree *tree, int file, int line, int column, size_t length)
{
    int place = tree->status == ZW_OK
                    ? model_add_place(tree->model, file, line, column, length > 0 ? (int)length : 1)
                    : -1;
    if (place < 0) {
        xml_no_memory(tree);
    }
    return place;
}

int xml_note_at(xml_tree *tree, int file, int line, int column, const char *text)
{
    int place = xml_place_at(tree, file, line, column, 1);
    return place >= 0 && (model_add_note(tree->model, place, text) || xml_no_memory(tree));
}

int xml_place(xml_tree *tree, int element)
{
    const xml_element *e = &tree->element[element];
    return xml_place_at(tree, e->file, e->line, e->column, strlen(e->name) + 1);
}

int xml_place_name(xml_tree *tree, int element, int attribute)
{
    const xml_attribute *a = &tree->attribute[attribute];
    return xml_place_at(tree, tree->element[element].file, a->name_line, a->name_column,
                        strlen(a->name));
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int xml_place_value(xml_tree *tree, int element, int attribute, int word)
{
    const xml_attribute *a = &tree->attribute[attribute];
    int file = tree->element[element].file;
    const char *raw = tree->model->file[file].text + a->raw;
    int line = a->line, column = a->column, at = 0;
    int whole = word < 0 || memchr(raw, '&', (size_t)a->raw_length) != NULL;
    for (int k = 0; !whole && k <= word; k++) { /* to the start of word k */
        for (int skip = 0; skip < 2; skip++) {  /* over the word before, over the blanks */
            while (at < a->raw_length && (skip ? is_blank(raw[at]) : k > 0 && !is_blank(raw[at]))) {
                column = raw[at] == '\n'                           ? 1
                         : ((unsigned char)raw[at] & 0xc0) != 0x80 ? column + 1
                                                                   : column;
                line += raw[at] == '\n';
                at++;
            }
        }
    }
    size_t length = 0;
    while (at + (int)length < a->raw_length && raw[at + (int)length] != '\n' &&
           (whole || !is_blank(raw[at + (int)length]))) {
        length++;
    }
    return xml_place_at(tree, file, line, column, length);
}

/* ---- Looking -------------------------------------------------------------------------------- */

int xml_find(const xml_tree *tree, int element, const char *name)
{
    const xml_element *e = &tree->element[element];
    for (int i = 0; i < e->attribute_count; i++) {
        if (strcmp(tree->attribute[e->attribute + i].name, name) == 0) {
            return e->attribute + i;
        }
    }
    return -1;
}

const char *xml_value(const xml_tree *tree, int element, const char *name)
{
    int attribute = xml_find(tree, element, name);
    return attribute >= 0 ? tree->attribute[attribute].value : NULL;
}

int xml_word_count(const char *value)
{
    int count = 0;
    for (int before = 1; *value != 0; value++) {
        count += before && !is_blank(*value);
        before = is_blank(*value);
    }
    return count;
}

int xml_numbers(xml_tree *tree, int element, int attribute, double *list, int most)
{
    const xml_attribute *a = &tree->attribute[attribute];
    int count = 0;
    for (const char *at = a->value;;) {
        at += strspn(at, " \t\r\n");
        size_t length = strcspn(at, " \t\r\n");
        double value;
        if (length == 0) {
            return count;
        }
        if (!read_decimal(at, length, &value)) {
            xml_fail(tree, xml_place_value(tree, element, attribute, count),
                     "'%.*s' is not a number%s", (int)(length < 60 ? length : 60), at,
                     *at == '$' ? "; if it is one of xacro's, let xacro expand the file" : "");
            return -1;
        }
        if (!isfinite(value)) {
            xml_fail(tree, xml_place_value(tree, element, attribute, count),
                     "%s needs finite numbers", a->name);
            return -1;
        }
        if (count < most) {
            list[count] = value;
        }
        count += count < INT_MAX;
        at += length;
    }
}
