/* Expat's events to a tree. Expat tells where an element begins; where its attributes stand is
 * found by walking through the tag once more (expat has already seen that it is well-formed). */
#include "read/file/xml.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/file/file.h"

#ifdef ZW_HAVE_EXPAT
#include <expat.h>
#endif

/* ---- Strings -------------------------------------------------------------------------------- */

typedef struct xml_chunk {
    struct xml_chunk *before;
    size_t used, size;
    char text[];
} xml_chunk;

enum { CHUNK = 1 << 16 };

const char *xml_keep(xml_tree *tree, const char *text, size_t length)
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

static int place_at(xml_tree *tree, int file, int line, int column, size_t length)
{
    int place = tree->status == ZW_OK
                    ? model_add_place(tree->model, file, line, column, length > 0 ? (int)length : 1)
                    : -1;
    if (place < 0) {
        xml_no_memory(tree);
    }
    return place;
}

int xml_place(xml_tree *tree, int element)
{
    const xml_element *e = &tree->element[element];
    return place_at(tree, e->file, e->line, e->column, strlen(e->name) + 1);
}

int xml_place_name(xml_tree *tree, int element, int attribute)
{
    const xml_attribute *a = &tree->attribute[attribute];
    return place_at(tree, tree->element[element].file, a->name_line, a->name_column,
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
    for (int k = 0; !whole && k <= word; k++) { /* to the beginning of word k */
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
    return place_at(tree, file, line, column, length);
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
                     "%s wants finite numbers", a->name);
            return -1;
        }
        if (count < most) {
            list[count] = value;
        }
        count += count < INT_MAX;
        at += length;
    }
}

#ifdef ZW_HAVE_EXPAT

/* ---- Expat ---------------------------------------------------------------------------------- */

typedef struct xml_event {
    xml_tree *tree;
    XML_Parser parser;
    int file;
    const char *text;
    int root, open, depth;
    long offset; /* the cursor: its line and column are known */
    int line, column;
} xml_event;

/* Memory as everywhere in the library; the size stands before each block, for realloc. */
enum { HEADER = 16 };

static void *memory_get(size_t size)
{
    char *block = size < SIZE_MAX / 2 ? base_alloc(size + HEADER) : NULL;
    if (block == NULL) {
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    return block + HEADER;
}

static void memory_free(void *block)
{
    base_free(block != NULL ? (char *)block - HEADER : NULL);
}

static void *memory_again(void *block, size_t size)
{
    void *wider = memory_get(size);
    if (wider != NULL && block != NULL) {
        size_t before;
        memcpy(&before, (char *)block - HEADER, sizeof before);
        memcpy(wider, block, before < size ? before : size);
        memory_free(block);
    }
    return wider;
}

/* Move the cursor; it only goes back if expat has reported an error. */
static void cursor_to(xml_event *x, long offset)
{
    if (offset < x->offset) {
        x->offset = 0;
        x->line = x->column = 1;
    }
    if (x->offset == 0 && strncmp(x->text, "\xef\xbb\xbf", 3) == 0 && offset >= 3) {
        x->offset = 3; /* a mark of byte order has no column */
    }
    for (; x->offset < offset; x->offset++) {
        char c = x->text[x->offset];
        x->line += c == '\n';
        x->column = c == '\n' ? 1 : x->column + (((unsigned char)c & 0xc0) != 0x80);
    }
}

static int place_here(xml_event *x, long offset, size_t length)
{
    cursor_to(x, offset < 0 ? 0 : offset);
    return place_at(x->tree, x->file, x->line, x->column, length);
}

static void stop(xml_event *x)
{
    XML_StopParser(x->parser, XML_FALSE);
}

/* Where name and value of each attribute stand, after "<name". */
static void find_attributes(xml_event *x, xml_element *e, long at)
{
    const char *text = x->text;
    at += 1 + (long)strlen(e->name);
    for (int i = 0; i < e->attribute_count; i++) {
        xml_attribute *a = &x->tree->attribute[e->attribute + i];
        at += (long)strspn(text + at, " \t\r\n");
        cursor_to(x, at);
        a->name_line = x->line;
        a->name_column = x->column;
        at += (long)strcspn(text + at, "\"'") + 1;
        const char end[2] = {text[at - 1], 0};
        cursor_to(x, at);
        a->line = x->line;
        a->column = x->column;
        a->raw = (int)at;
        a->raw_length = (int)strcspn(text + at, end);
        at += a->raw_length + 1;
    }
}

static int add_attributes(xml_event *x, xml_element *e, const char **list)
{
    xml_tree *tree = x->tree;
    e->attribute = tree->attribute_count;
    for (; list[0] != NULL; list += 2) {
        if (!base_list_room(&tree->attribute, &tree->attribute_capacity, tree->attribute_count,
                            sizeof *tree->attribute)) {
            return xml_no_memory(tree);
        }
        xml_attribute *a = &tree->attribute[tree->attribute_count++];
        *a = (xml_attribute){.name = xml_keep(tree, list[0], strlen(list[0]))};
        a->value = a->name != NULL ? xml_keep(tree, list[1], strlen(list[1])) : NULL;
        if (a->value == NULL) {
            return 0;
        }
        e->attribute_count++;
    }
    return 1;
}

/* C0, DEL and C1 (U+0080 to U+009F): a name is printed, and these would act on the terminal. */
static int has_control(const char *name)
{
    for (const unsigned char *c = (const unsigned char *)name; *c != 0; c++) {
        if (*c < 32 || *c == 127 || (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f)) {
            return 1;
        }
    }
    return 0;
}

/* A name without control characters; else the file is refused. */
static void check_name(xml_event *x, int element)
{
    int attribute = xml_find(x->tree, element, "name");
    if (attribute >= 0 && has_control(x->tree->attribute[attribute].value)) {
        xml_fail(x->tree, xml_place_value(x->tree, element, attribute, -1),
                 "this name has a line break or another control character in it; write letters, "
                 "digits, _ . and the like");
        stop(x);
    }
}

static void on_start(void *user, const char *name, const char **attributes)
{
    xml_event *x = user;
    xml_tree *tree = x->tree;
    long at = XML_GetCurrentByteIndex(x->parser);
    if (tree->status != ZW_OK) {
        return;
    }
    if (x->depth >= XML_MOST_DEEP || tree->count >= XML_MOST_ELEMENTS) {
        xml_fail(tree, place_here(x, at, 1),
                 x->depth >= XML_MOST_DEEP ? "elements are nested more than %d deep"
                                           : "the file has more than %d elements",
                 x->depth >= XML_MOST_DEEP ? XML_MOST_DEEP : XML_MOST_ELEMENTS);
        stop(x);
        return;
    }
    xml_element e = {.parent = x->open, .child = -1, .last = -1, .next = -1, .file = x->file};
    cursor_to(x, at);
    e.line = x->line;
    e.column = x->column;
    e.name = xml_keep(tree, name, strlen(name));
    if (e.name == NULL || !add_attributes(x, &e, attributes) ||
        !base_list_room(&tree->element, &tree->capacity, tree->count, sizeof *tree->element)) {
        xml_no_memory(tree);
        stop(x);
        return;
    }
    find_attributes(x, &e, at);
    int index = tree->count++;
    tree->element[index] = e;
    if (x->open >= 0) {
        xml_element *parent = &tree->element[x->open];
        if (parent->last >= 0) {
            tree->element[parent->last].next = index;
        } else {
            parent->child = index;
        }
        parent->last = index;
    } else {
        x->root = index;
    }
    x->open = index;
    x->depth++;
    check_name(x, index);
}

static void on_end(void *user, const char *name)
{
    xml_event *x = user;
    (void)name;
    if (x->tree->status == ZW_OK) {
        x->open = x->tree->element[x->open].parent;
        x->depth--;
    }
}

static void on_text(void *user, const char *text, int length)
{
    xml_event *x = user;
    xml_element *e = x->open >= 0 ? &x->tree->element[x->open] : NULL;
    int at = (int)XML_GetCurrentByteIndex(x->parser);
    for (int i = 0; e != NULL && i < length; i++) {
        if (!is_blank(text[i])) {
            e->text = e->has_text ? e->text : at;
            e->text_end = at + XML_GetCurrentByteCount(x->parser);
            e->has_text = 1;
        }
    }
}

static void on_doctype(void *user, const char *name, const char *system, const char *public,
                       int internal)
{
    xml_event *x = user;
    (void)name, (void)system, (void)public, (void)internal;
    xml_fail(x->tree, place_here(x, XML_GetCurrentByteIndex(x->parser), 9),
             "a document type is not allowed in a robot file");
    stop(x);
}

/* What expat did not like. */
static void tell(xml_event *x)
{
    xml_tree *tree = x->tree;
    enum XML_Error code = XML_GetErrorCode(x->parser);
    if (tree->status != ZW_OK) {
        return;
    }
    if (code == XML_ERROR_NO_MEMORY) {
        xml_no_memory(tree);
        return;
    }
    int place = place_here(x, XML_GetErrorByteIndex(x->parser), 1);
    const xml_element *open = x->open >= 0 ? &tree->element[x->open] : NULL;
    if (code == XML_ERROR_TAG_MISMATCH && open != NULL) {
        xml_fail(tree, place,
                 "this closes an element that is not open; the open one is <%.60s> of line %d",
                 open->name, open->line);
    } else if (code == XML_ERROR_NO_ELEMENTS && open != NULL) {
        xml_fail(tree, xml_place(tree, x->open), "<%.60s> is not closed", open->name);
    } else if (code == XML_ERROR_NO_ELEMENTS) {
        xml_fail(tree, place, "there is no XML element in this file");
    } else if (code == XML_ERROR_UNDEFINED_ENTITY) {
        xml_fail(tree, place, "this entity is unknown");
    } else {
        xml_fail(tree, place, "this is not well-formed XML: %s", XML_ErrorString(code));
    }
}

int xml_available(void)
{
    return 1;
}

/* MuJoCo's reader is laxer than XML in two things that files rely on: a comment ends with the first
 * "-->", whatever dashes it has in it, and blanks may stand before "<?xml". Expat gets a copy in
 * which those dashes and that declaration are blanks; all places stay. NULL: no memory. */
static char *lax_copy(const char *text, size_t length)
{
    char *copy = base_alloc(length + 1);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, text, length + 1);
    size_t blanks = strspn(copy, " \t\r\n");
    char *end = blanks > 0 && strncmp(copy + blanks, "<?xml", 5) == 0 ? strstr(copy, "?>") : NULL;
    if (end != NULL) {
        memset(copy + blanks, ' ', (size_t)(end + 2 - (copy + blanks)));
    }
    for (char *at = copy; (at = strstr(at, "<!--")) != NULL && (end = strstr(at + 4, "-->"));) {
        for (at += 4; at < end; at++) {
            *at = *at == '-' ? ' ' : *at;
        }
    }
    return copy;
}

int xml_read(xml_tree *tree, int file)
{
    static const XML_Memory_Handling_Suite suite = {memory_get, memory_again, memory_free};
    xml_event x = {.tree = tree, .file = file, .root = -1, .open = -1, .line = 1, .column = 1};
    x.text = tree->model->file[file].text;
    size_t length = strlen(x.text);
    char *copy = lax_copy(x.text, length);
    x.parser = XML_ParserCreate_MM("UTF-8", &suite, NULL);
    if (x.parser == NULL || copy == NULL || length > INT_MAX - 16) {
        XML_ParserFree(x.parser);
        base_free(copy);
        xml_no_memory(tree);
        return -1;
    }
    XML_SetUserData(x.parser, &x);
    XML_SetElementHandler(x.parser, on_start, on_end);
    XML_SetCharacterDataHandler(x.parser, on_text);
    XML_SetStartDoctypeDeclHandler(x.parser, on_doctype);
    if (XML_Parse(x.parser, copy, (int)length, 1) != XML_STATUS_OK) {
        tell(&x);
    }
    XML_ParserFree(x.parser);
    base_free(copy);
    return tree->status == ZW_OK ? x.root : -1;
}

#else

int xml_available(void)
{
    return 0;
}

int xml_read(xml_tree *tree, int file)
{
    (void)file;
    xml_fail(tree, -1,
             "MJCF and URDF files cannot be read: this zwang was built without expat "
             "(Debian: libexpat1-dev)");
    return -1;
}

#endif
