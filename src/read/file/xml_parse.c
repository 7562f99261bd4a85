/* Parses the text of a file into a tree: XML 1.0 (Bray et al. 2008, fifth edition) without document
 * types, in UTF-8, in one pass over the text without a stack:
 *
 *     document  ->  declaration? misc* element misc*        misc -> comment | instruction | blanks
 *     element   ->  '<' name (blanks name '=' value)* '/>'  |  '<' ... '>' content '</' name '>'
 *     content   ->  (element | text | reference | '<![CDATA[' ... ']]>' | misc)*
 *
 * Text that is not well-formed is refused with its position. Refused as well: document types (and
 * with them entity definitions, which can expand without bound), XML_MOST_DEEP levels,
 * XML_MOST_ATTRIBUTES in one tag (they are compared in pairs), XML_MOST_ELEMENTS.
 * As in MuJoCo's reader, a comment ends with the first "-->", whatever dashes it contains, blanks
 * may precede "<?xml", and comments may have escaped dashes: files rely on all three. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "read/file/xml.h"

typedef struct parser {
    xml_tree *tree;
    const char *text; /* of file `file`, ends with a zero */
    int at;           /* everything before this has been read */
    int file, root, open, depth;
    int known, line, column; /* line and column of the character at `known` */
    int encoding, encoding_length;
} parser;

/* ---- Places and messages --------------------------------------------------------------------- */

/* Sets line and column to those of the character at `at`, which is rarely before the last one. */
static void find_line(parser *p, int at)
{
    if (at < p->known) {
        p->known = 0;
        p->line = p->column = 1;
    }
    if (p->known == 0 && at >= 3 && strncmp(p->text, "\xef\xbb\xbf", 3) == 0) {
        p->known = 3; /* a byte order mark has no column */
    }
    for (; p->known < at; p->known++) {
        char c = p->text[p->known];
        p->line += c == '\n';
        p->column = c == '\n' ? 1 : p->column + (((unsigned char)c & 0xc0) != 0x80);
    }
}

static int fail(parser *p, int at, int length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int fail(parser *p, int at, int length, const char *format, ...)
{
    char message[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    find_line(p, at);
    int place = xml_place_at(p->tree, p->file, p->line, p->column, (size_t)length);
    return xml_fail(p->tree, place, "%s", message);
}

/* ---- Characters ------------------------------------------------------------------------------ */

/* The code of the character at s and its bytes; 0 bytes: not UTF-8, or the end. */
static int decode(const char *s, unsigned *code)
{
    const unsigned char *b = (const unsigned char *)s;
    int length = b[0] < 0x80 ? b[0] != 0 : b[0] < 0xc2 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    *code = length < 2 ? b[0] : b[0] & (0x7fu >> length);
    for (int k = 1; k < length; k++) {
        if ((b[k] & 0xc0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (b[k] & 0x3fu);
    }
    int longer = (length == 3 && *code < 0x800) || (length == 4 && *code < 0x10000);
    return longer || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : length;
}

static int is_blank(unsigned c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int is_character(unsigned c)
{
    return c >= 32 ? c != 0xfffe && c != 0xffff : is_blank(c);
}

/* Productions 4 and 4a: may c begin a name, or be part of one? */
static int in_name(unsigned c, int first)
{
    static const unsigned begins[][2] = {
        {':', ':'},         {'A', 'Z'},       {'_', '_'},       {'a', 'z'},       {0xc0, 0xd6},
        {0xd8, 0xf6},       {0xf8, 0x2ff},    {0x370, 0x37d},   {0x37f, 0x1fff},  {0x200c, 0x200d},
        {0x2070, 0x218f},   {0x2c00, 0x2fef}, {0x3001, 0xd7ff}, {0xf900, 0xfdcf}, {0xfdf0, 0xfffd},
        {0x10000, 0xeffff}, {'-', '.'},       {'0', '9'},       {0xb7, 0xb7},     {0x300, 0x36f},
        {0x203f, 0x2040}};
    for (int k = 0; k < (first ? 16 : 21); k++) {
        if (c >= begins[k][0] && c <= begins[k][1]) {
            return 1;
        }
    }
    return 0;
}

/* Skips one valid character; 0: refused. */
static int pass_character(parser *p, unsigned *code)
{
    int length = decode(p->text + p->at, code);
    if (length == 0) {
        int latin = p->encoding_length > 0;
        return fail(p, p->at, 1, "the byte 0x%02x is not UTF-8 here%s%.*s%s",
                    (unsigned)(unsigned char)p->text[p->at],
                    latin ? "; the file says that it is " : "; write the file in UTF-8",
                    latin ? p->encoding_length : 0, p->text + p->encoding,
                    latin ? ", and only UTF-8 is read" : "");
    }
    if (!is_character(*code)) {
        return fail(p, p->at, 1, "the character U+%04X is not allowed in XML", *code);
    }
    p->at += length;
    return 1;
}

static int pass_blanks(parser *p)
{
    int before = p->at;
    while (is_blank((unsigned char)p->text[p->at])) {
        p->at++;
    }
    return p->at > before;
}

/* Skips a name; returns its length, 0: there is none. */
static int pass_name(parser *p)
{
    int begin = p->at, length;
    unsigned code;
    while ((length = decode(p->text + p->at, &code)) > 0 && in_name(code, p->at == begin)) {
        p->at += length;
    }
    return p->at - begin;
}

static int starts(const parser *p, const char *word)
{
    return strncmp(p->text + p->at, word, strlen(word)) == 0;
}

/* Skips what begins at `begin` and ends with `end`. */
static int pass_until(parser *p, int begin, const char *end, const char *what)
{
    unsigned code;
    while (!starts(p, end)) {
        if (p->text[p->at] == 0) {
            return fail(p, begin, 2, "this %s is not closed: '%s' is missing", what, end);
        }
        if (!pass_character(p, &code)) {
            return 0;
        }
    }
    p->at += (int)strlen(end);
    return 1;
}

/* ---- References ------------------------------------------------------------------------------ */

static int digit_of(char c, unsigned base)
{
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 16;
    return digit < (int)base ? digit : -1;
}

/* "&#65;", "&#x41;": at is after "&#". */
static int pass_number(parser *p, int begin, unsigned *code)
{
    unsigned base = p->text[p->at] == 'x' ? 16 : 10;
    p->at += base == 16;
    int first = p->at, digit;
    for (*code = 0; (digit = digit_of(p->text[p->at], base)) >= 0; p->at++) {
        *code = *code > 0x10ffff ? *code : *code * base + (unsigned)digit;
    }
    if (p->at == first || p->text[p->at] != ';') {
        return fail(p, begin, p->at - begin + 1, "'&#' needs the number of a character and ';'");
    }
    p->at++;
    if (*code > 0x10ffff || !is_character(*code) || (*code >= 0xd800 && *code < 0xe000)) {
        return fail(p, begin, p->at - begin, "this character is not allowed in XML");
    }
    return 1;
}

/* Skips a reference; gives the character it stands for. */
static int pass_reference(parser *p, unsigned *code)
{
    static const struct {
        const char *name;
        unsigned code;
    } known[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    int begin = p->at++;
    if (p->text[p->at] == '#') {
        p->at++;
        return pass_number(p, begin, code);
    }
    const char *name = p->text + p->at;
    size_t length = (size_t)pass_name(p);
    if (length == 0 || p->text[p->at] != ';') {
        return fail(p, begin, 1, "'&' begins an entity, as &lt; is; write &amp; for the sign");
    }
    p->at++;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strlen(known[k].name) == length && memcmp(known[k].name, name, length) == 0) {
            *code = known[k].code;
            return 1;
        }
    }
    return fail(p, begin, p->at - begin, "this entity is unknown");
}

static char *encode(char *to, unsigned c)
{
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *to++ = (char)(more == 0 ? c : (0xff00u >> (more + 1) & 0xffu) | c >> 6 * more);
    while (more-- > 0) {
        *to++ = (char)(0x80u | (c >> 6 * more & 0x3fu));
    }
    return to;
}

/* ---- Tags ------------------------------------------------------------------------------------ */

/* Skips a quoted value; `to` gets its characters, with a space for each blank and end of line. They
 * never take more bytes than the source. */
static int pass_value(parser *p, char quote, char *to)
{
    int begin = p->at - 1;
    unsigned code;
    for (char c; (c = p->text[p->at]) != quote;) {
        if (c == 0) {
            return fail(p, begin, 1, "this value is not closed: %c is missing", quote);
        }
        if (c == '<') {
            return fail(p, p->at, 1,
                        "'<' is not allowed in a value; write &lt;, or close the value before");
        }
        if (c == '&' ? !pass_reference(p, &code) : !pass_character(p, &code)) {
            return 0;
        }
        if (c == '\r' && p->text[p->at] == '\n') {
            continue;
        }
        to = encode(to, c != '&' && is_blank(code) ? ' ' : code);
    }
    *to = 0;
    p->at++;
    return 1;
}

static int add_attribute(parser *p, int begin, int length)
{
    xml_tree *tree = p->tree;
    xml_element *e = &tree->element[tree->count - 1];
    xml_attribute a = {.name = xml_keep(tree, p->text + begin, (size_t)length)};
    if (a.name == NULL || !base_list_reserve(&tree->attribute, &tree->attribute_capacity,
                                             tree->attribute_count, sizeof *tree->attribute)) {
        return xml_no_memory(tree);
    }
    if (xml_find(tree, tree->count - 1, a.name) >= 0) {
        return fail(p, begin, length, "the attribute %.60s appears twice in this tag", a.name);
    }
    if (e->attribute_count >= XML_MOST_ATTRIBUTES) {
        return fail(p, begin, length, "one element has more than %d attributes",
                    XML_MOST_ATTRIBUTES);
    }
    find_line(p, begin);
    a.name_line = p->line;
    a.name_column = p->column;
    pass_blanks(p);
    if (p->text[p->at] != '=') {
        return fail(p, p->at, 1, "the attribute %.60s needs '=' and a value", a.name);
    }
    p->at++;
    pass_blanks(p);
    char quote = p->text[p->at];
    if (quote != '"' && quote != '\'') {
        return fail(p, p->at, 1, "the value of %.60s must be in quotes", a.name);
    }
    a.raw = ++p->at;
    find_line(p, a.raw);
    a.line = p->line;
    a.column = p->column;
    const char *end = strchr(p->text + a.raw, quote);
    char *value =
        xml_keep(tree, p->text + a.raw, end != NULL ? (size_t)(end - p->text) - (size_t)a.raw : 0);
    if (value == NULL || !pass_value(p, quote, value)) {
        return 0;
    }
    a.value = value;
    a.raw_length = p->at - 1 - a.raw;
    tree->attribute[tree->attribute_count++] = a;
    e->attribute_count++;
    return 1;
}

/* C0, DEL and C1 (U+0080 to U+009F): names are printed, and these would control the terminal. */
static int has_control(const char *name)
{
    for (const unsigned char *c = (const unsigned char *)name; *c != 0; c++) {
        if (*c < 32 || *c == 127 || (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f)) {
            return 1;
        }
    }
    return 0;
}

/* A new element, child of the open one, at "<"; its name has this length. */
static int add_element(parser *p, int begin, int length)
{
    xml_tree *tree = p->tree;
    xml_element e = {.parent = p->open, .child = -1, .last = -1, .next = -1, .file = p->file};
    if (p->depth >= XML_MOST_DEEP) {
        return fail(p, begin, 1, "elements are nested more than %d deep", XML_MOST_DEEP);
    }
    if (tree->count >= XML_MOST_ELEMENTS) {
        return fail(p, begin, 1, "the file has more than %d elements", XML_MOST_ELEMENTS);
    }
    if (p->open < 0 && p->root >= 0) {
        const xml_element *root = &tree->element[p->root];
        return fail(p, begin, length + 1, "a file has one root element, here <%.60s> of line %d",
                    root->name, root->line);
    }
    find_line(p, begin);
    e.line = p->line;
    e.column = p->column;
    e.name = xml_keep(tree, p->text + begin + 1, (size_t)length);
    e.attribute = tree->attribute_count;
    if (e.name == NULL ||
        !base_list_reserve(&tree->element, &tree->capacity, tree->count, sizeof *tree->element)) {
        return xml_no_memory(tree);
    }
    int index = tree->count++;
    tree->element[index] = e;
    if (p->open >= 0) {
        xml_element *parent = &tree->element[p->open];
        *(parent->last >= 0 ? &tree->element[parent->last].next : &parent->child) = index;
        parent->last = index;
    } else {
        p->root = index;
    }
    p->open = index;
    p->depth++;
    return 1;
}

static int close_element(parser *p)
{
    p->open = p->tree->element[p->open].parent;
    p->depth--;
    return 1;
}

static int begin_tag(parser *p)
{
    int begin = p->at++, length = pass_name(p);
    if (length == 0) {
        return fail(p, begin, 1, "'<' begins a tag, and no name follows; write &lt; for the sign");
    }
    if (!add_element(p, begin, length)) {
        return 0;
    }
    for (;;) {
        int blanks = pass_blanks(p), at = p->at;
        if (p->text[at] == '>' || starts(p, "/>")) {
            break;
        }
        if (p->text[at] == 0) {
            return fail(p, begin, length + 1, "this tag is not closed: '>' is missing");
        }
        length = pass_name(p);
        if (length == 0 || !blanks) {
            return fail(p, at, 1,
                        length == 0 ? "an attribute, '>' or '/>' was expected"
                                    : "a blank is missing between the attributes");
        }
        if (!add_attribute(p, at, length)) {
            return 0;
        }
    }
    int name = xml_find(p->tree, p->open, "name");
    if (name >= 0 && has_control(p->tree->attribute[name].value)) {
        return xml_fail(p->tree, xml_place_value(p->tree, p->open, name, -1),
                        "this name has a line break or another control character in it; write "
                        "letters, digits, _ . and the like");
    }
    int empty = p->text[p->at] == '/';
    p->at += 1 + empty;
    return empty ? close_element(p) : 1;
}

static int end_tag(parser *p)
{
    int begin = p->at;
    p->at += 2;
    const char *name = p->text + p->at;
    size_t length = (size_t)pass_name(p);
    if (p->open < 0 && p->root >= 0 && strcmp(p->tree->element[p->root].name, "mujoco") == 0 &&
        strncmp(p->text + begin, "</mujoco>", 9) == 0) { /* MuJoCo accepts it (Unitree's G1) */
        find_line(p, p->at++);
        return xml_note_at(p->tree, p->file, p->line, p->column - 8, "/mujoco (a second time)");
    }
    if (p->open < 0) {
        return fail(p, begin, (int)length + 2, "this closes an element, and none is open");
    }
    const xml_element *open = &p->tree->element[p->open];
    if (length != strlen(open->name) || memcmp(open->name, name, length) != 0) {
        return fail(p, begin, (int)length + 2,
                    "this closes an element that is not open; the open one is <%.60s> of line %d",
                    open->name, open->line);
    }
    pass_blanks(p);
    if (p->text[p->at] != '>') {
        return fail(p, p->at, 1, "'>' is missing after </%.60s", open->name);
    }
    p->at++;
    return close_element(p);
}

/* ---- Between tags ---------------------------------------------------------------------------- */

/* Records the text from `begin` on, unless it is blank. */
static int add_text(parser *p, int begin, unsigned code)
{
    if (is_blank(code)) {
        return 1;
    }
    if (p->open < 0) {
        return fail(p, begin, 1,
                    p->root < 0 ? "there is text before the first element"
                                : "there is text after the last element");
    }
    xml_element *e = &p->tree->element[p->open];
    e->text = e->has_text ? e->text : begin;
    e->text_end = p->at;
    e->has_text = 1;
    return 1;
}

static int pass_text(parser *p)
{
    int begin = p->at;
    unsigned code;
    if (starts(p, "]]>") && p->open >= 0) {
        return fail(p, begin, 3, "']]>' is not allowed in text; write ]]&gt;");
    }
    int ok =
        p->text[begin] == '&' && p->open >= 0 ? pass_reference(p, &code) : pass_character(p, &code);
    /* outside the root element only literal blanks are allowed */
    return ok && add_text(p, begin, code);
}

static int pass_cdata(parser *p)
{
    int begin = p->at;
    unsigned code;
    if (p->open < 0) {
        return add_text(p, begin, '<');
    }
    for (p->at += 9; !starts(p, "]]>");) {
        int at = p->at;
        if (p->text[at] == 0) {
            return fail(p, begin, 9, "this text is not closed: ']]>' is missing");
        }
        if (!pass_character(p, &code) || !add_text(p, at, code)) {
            return 0;
        }
    }
    p->at += 3;
    return 1;
}

/* "<?name ...?>". The name xml is reserved. */
static int pass_instruction(parser *p)
{
    int begin = p->at;
    p->at += 2;
    const char *name = p->text + p->at;
    int length = pass_name(p);
    if (length == 0) {
        return fail(p, begin, 2, "'<?' must be followed by a name");
    }
    if (length == 3 && (name[0] | 32) == 'x' && (name[1] | 32) == 'm' && (name[2] | 32) == 'l') {
        return fail(p, begin, 5, "the declaration <?xml ... ?> is the first thing in a file");
    }
    if (!starts(p, "?>") && !pass_blanks(p)) {
        return fail(p, p->at, 1, "a blank or '?>' is missing after the name");
    }
    return pass_until(p, begin, "?>", "instruction");
}

/* <?xml version="1.0" encoding="utf-8" standalone="yes"?>, the last two of them optional. */
static int pass_declaration(parser *p)
{
    static const char *const words[] = {"version", "encoding", "standalone"};
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    int begin = p->at, next = 0;
    for (p->at += 5;;) {
        int blanks = pass_blanks(p), at = p->at;
        if (starts(p, "?>") && next > 0) {
            p->at += 2;
            return 1;
        }
        int length = pass_name(p), k = next;
        while (k < 3 && ((int)strlen(words[k]) != length ||
                         strncmp(p->text + at, words[k], (size_t)length) != 0)) {
            k++;
        }
        pass_blanks(p);
        int is = p->text[p->at] == '=';
        p->at += is;
        pass_blanks(p);
        char quote = p->text[p->at];
        int value = p->at + 1, count = quote != 0 ? (int)strspn(p->text + value, plain) : 0;
        if (!blanks || k == 3 || (next == 0) != (k == 0) || !is ||
            (quote != '"' && quote != '\'') || count == 0 || p->text[value + count] != quote ||
            (k == 1 && strchr("0123456789._-", p->text[value]) != NULL)) {
            return fail(p, begin, 5, "a declaration is written <?xml version=\"1.0\"?>");
        }
        if (k == 2 && (count != 3 || strncmp(p->text + value, "yes", 3) != 0) &&
            (count != 2 || strncmp(p->text + value, "no", 2) != 0)) {
            return fail(p, value, count, "standalone is yes or no");
        }
        if (k == 1) {
            p->encoding = value;
            p->encoding_length = count < 60 ? count : 60;
        }
        p->at = value + count + 1;
        next = k + 1;
    }
}

static int pass_next(parser *p)
{
    int begin = p->at;
    if (p->text[begin] != '<') {
        return pass_text(p);
    }
    int escaped = starts(p, "<!-\\-"); /* by an editor */
    if (escaped || starts(p, "<!--")) {
        find_line(p, begin);
        p->at += 4 + escaped;
        int noted = !escaped || xml_note_at(p->tree, p->file, p->line, p->column, "comment <!-\\-");
        return noted && pass_until(p, begin, escaped ? "-\\->" : "-->", "comment");
    }
    if (starts(p, "<![CDATA[")) {
        return pass_cdata(p);
    }
    if (starts(p, "<!DOCTYPE")) {
        return fail(p, begin, 9, "a document type is not allowed in a robot file");
    }
    switch (p->text[begin + 1]) {
    case '?':
        return pass_instruction(p);
    case '/':
        return end_tag(p);
    case '!':
        return fail(p, begin, 2, "'<!' begins a comment, <!-- ... -->, or <![CDATA[ ... ]]>");
    default:
        return begin_tag(p);
    }
}

int xml_read(xml_tree *tree, int file)
{
    parser p = {.tree = tree, .file = file, .root = -1, .open = -1, .line = 1, .column = 1};
    p.text = tree->model->file[file].text;
    if (strlen(p.text) > INT_MAX - 16) {
        xml_fail(tree, -1, "the file is too long");
        return -1;
    }
    p.at = starts(&p, "\xef\xbb\xbf") ? 3 : 0;
    pass_blanks(&p);
    int ok =
        !starts(&p, "<?xml") || !is_blank((unsigned char)p.text[p.at + 5]) || pass_declaration(&p);
    while (ok && p.text[p.at] != 0) {
        ok = pass_next(&p);
    }
    if (ok && p.open >= 0) {
        xml_fail(tree, xml_place(tree, p.open), "<%.60s> is not closed",
                 tree->element[p.open].name);
    } else if (ok && p.root < 0) {
        fail(&p, p.at, 1, "there is no XML element in this file");
    }
    return tree->status == ZW_OK ? p.root : -1;
}
