/* XML as a tree of elements with their positions in the text. Several files may be in one tree;
 * their texts belong to the model. Indices instead of pointers, as the lists are reallocated while
 * they grow. */
#ifndef ZW_READ_XML_H
#define ZW_READ_XML_H

#include "model/model.h"

enum { XML_MOST_DEEP = 20000, XML_MOST_ELEMENTS = 4000000, XML_MOST_ATTRIBUTES = 1000 };

typedef struct xml_attribute {
    const char *name;
    const char *value; /* entities resolved, blanks for ends of lines */
    int name_line, name_column;
    int line, column; /* of the value's first character */
    int raw;          /* offset of the value in the file's text */
    int raw_length;
} xml_attribute;

typedef struct xml_element {
    const char *name;
    int file;         /* in the model */
    int line, column; /* of its < */
    int parent, child, last, next;
    int attribute, attribute_count;
    int has_text; /* text other than blanks between its tags */
    int text,
        text_end; /* offsets of its text without surrounding blanks, including child elements */
} xml_element;

typedef struct xml_tree {
    zw_model *model;
    zw_error *error;
    const zw_read_options *options; /* for other files; NULL: the defaults */
    zw_status status;
    int count, capacity;
    xml_element *element;
    int attribute_count, attribute_capacity;
    xml_attribute *attribute;
    struct xml_chunk *chunk; /* of strings */
} xml_tree;

/* Parses file number `file` of the model (UTF-8); returns the index of its root element, -1: failed
 * (xml_parse.c). */
int xml_read(xml_tree *tree, int file);
void xml_free(xml_tree *tree);

/* The attribute of an element; -1: none. */
int xml_find(const xml_tree *tree, int element, const char *name);
const char *xml_value(const xml_tree *tree, int element, const char *name); /* NULL: none */

/* A copy that is freed with the tree; NULL: no memory, and the tree has failed. */
char *xml_keep(xml_tree *tree, const char *text, size_t length);

/* Places in the model; -1: no memory. `word` is the number of a word in the attribute's value, -1:
 * the whole value. */
int xml_place_at(xml_tree *tree, int file, int line, int column, size_t length);
int xml_place(xml_tree *tree, int element);
int xml_place_name(xml_tree *tree, int element, int attribute);
int xml_place_value(xml_tree *tree, int element, int attribute, int word);

/* Records a note about something without effect; 0: no memory. */
int xml_note_at(xml_tree *tree, int file, int line, int column, const char *text);

/* Messages; all return 0. Only the first is kept. */
int xml_fail(xml_tree *tree, int place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int xml_no_memory(xml_tree *tree);

/* The numbers of an attribute; returns how many there are (at most `most` are stored); -1: failed.
 * NaN and infinity are refused. */
int xml_numbers(xml_tree *tree, int element, int attribute, double *list, int most);
/* How many words the value has. */
int xml_word_count(const char *value);

#endif
