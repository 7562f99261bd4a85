/* File formats as tables: every element and attribute, and how it is treated.
 *
 *   honoured   it is read
 *   refused    the file is not read: the message gives the name, the place and the reason (but a
 *              value without effect, such as fusestatic="false", is accepted)
 *   quiet      it has no effect here and is noted (zw_model_note)
 *   differs    likewise, but MuJoCo's motion depends on it, and the note says how (some values have
 *              no effect there either)
 *
 * The readers are driven by these tables (form_check, form_apply), docs/bodies.md is printed from
 * them, and a name that is in no table is an error in the file, or belongs to another tool
 * (form_check). */
#ifndef ZW_READ_FORM_H
#define ZW_READ_FORM_H

#include <stdint.h>

#include "read/file/xml.h"

typedef enum form_fate { FORM_HONOURED, FORM_REFUSED, FORM_QUIET, FORM_DIFFERS } form_fate;

typedef enum form_type {
    FORM_REAL, /* least to most numbers, to double[] */
    FORM_INT,  /* likewise, to int[] */
    FORM_WORD, /* index in `words`, to int */
    FORM_TEXT, /* const char * */
    FORM_LIST  /* any number of numbers: the attribute's index + 1, to int */
} form_type;

typedef struct form_row {
    const char *name;
    unsigned char fate; /* form_fate */
    unsigned char type; /* form_type */
    short least, most;
    size_t offset;
    const char
        *words;      /* FORM_WORD: "false true"; refused, differs: those without effect, or NULL */
    const char *why; /* reason for a refusal, what MuJoCo does, or a remark */
} form_row;

typedef struct form_element {
    const char *name;
    int fate;
    const form_row *row;              /* ends with name NULL; NULL: none */
    const char *quiet;                /* more attributes, without effect: "rgba user"; or NULL */
    const struct form_element *child; /* ends with name NULL; NULL: none */
    const char *why;
} form_element;

extern const form_element form_anything[]; /* as child: nested elements are not checked */

/* Rows. */
#define FORM_REALS(word, type, field, least, most)                                                 \
    {                                                                                              \
        word, FORM_HONOURED, FORM_REAL, least, most, offsetof(type, field), NULL, NULL             \
    }
#define FORM_INTS(word, type, field, least, most)                                                  \
    {                                                                                              \
        word, FORM_HONOURED, FORM_INT, least, most, offsetof(type, field), NULL, NULL              \
    }
#define FORM_WORDS(word, type, field, words)                                                       \
    {                                                                                              \
        word, FORM_HONOURED, FORM_WORD, 1, 1, offsetof(type, field), words, NULL                   \
    }
#define FORM_TEXTS(word, type, field)                                                              \
    {                                                                                              \
        word, FORM_HONOURED, FORM_TEXT, 1, 1, offsetof(type, field), NULL, NULL                    \
    }
#define FORM_LISTS(word, type, field)                                                              \
    {                                                                                              \
        word, FORM_HONOURED, FORM_LIST, 0, 0, offsetof(type, field), NULL, NULL                    \
    }
#define FORM_REFUSE(word, passes, why)                                                             \
    {                                                                                              \
        word, FORM_REFUSED, FORM_TEXT, 0, 0, 0, passes, why                                        \
    }
#define FORM_DIFFER(word, passes, why)                                                             \
    {                                                                                              \
        word, FORM_DIFFERS, FORM_TEXT, 0, 0, 0, passes, why                                        \
    }
#define FORM_END                                                                                   \
    {                                                                                              \
        NULL, 0, 0, 0, 0, 0, NULL, NULL                                                            \
    }

/* Elements. */
#define FORM_READ(word, row, quiet, child)                                                         \
    {                                                                                              \
        word, FORM_HONOURED, row, quiet, child, NULL                                               \
    }
#define FORM_NOTE(word, quiet, child)                                                              \
    {                                                                                              \
        word, FORM_QUIET, NULL, quiet, child, NULL                                                 \
    }
#define FORM_NEVER(word, why)                                                                      \
    {                                                                                              \
        word, FORM_REFUSED, NULL, NULL, form_anything, why                                         \
    }
#define FORM_LAST                                                                                  \
    {                                                                                              \
        NULL, 0, NULL, NULL, NULL, NULL                                                            \
    }

/* Are all elements and attributes from `root` on known, and none refused? Records notes. In an open
 * format (URDF: every tool adds its own names) unknown names are noted and their contents ignored,
 * unless they look like a typo of a supported one. */
int form_check(xml_tree *tree, int root, const form_element *form, int open);

/* Reads the supported attributes of an element into `target`; bit k of *given is set if row k was
 * present, else unchanged. */
int form_apply(xml_tree *tree, int element, const form_row *rows, void *target, uint64_t *given);

/* The bit of a row; 0: no such row. */
uint64_t form_bit(const form_row *rows, const char *name);

/* Is this word in a list of words? Its number, or -1. */
int form_word(const char *words, const char *word);

/* A message about the value of an attribute, or about the element if it does not have the
 * attribute. */
int form_fail(xml_tree *tree, int element, const char *attribute, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
