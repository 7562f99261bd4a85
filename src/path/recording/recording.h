/* Reading paths from files: what the readers of CSV (recording_csv.c) and HDF5 (recording_h5.c)
 * share.
 *
 * A reader collects the titles of the file's columns, recording_match says which of them are the
 * time, the coordinates and the speeds, and then the reader reads only those columns. */
#ifndef ZW_PATH_RECORDING_H
#define ZW_PATH_RECORDING_H

#include "expr/symbols.h"
#include "path/path.h"

/* A column of the file. */
typedef struct recording_title {
    char *name;
    int column, length; /* where it is in its line, in characters from 1; 0: unknown */
    int again;          /* the next column of the same name, or -1 */
    int wanted; /* 1 + its meaning: 0 the time, 1 + i coordinate i, 1 + n + i its speed; 0: not used
                 */
} recording_title;

typedef struct recording {
    const zw_system *system;
    const char *file;
    const zw_path_column *rename; /* the caller's */
    int rename_count;
    int some; /* some of the coordinates and speeds suffice */
    zw_error *error;

    char *text; /* of a CSV file, zero-terminated; NULL: none to show in a message */
    size_t size;
    int title_line; /* the line of the titles, from 1 */
    int title_count, title_capacity;
    recording_title *title;
    expr_symbols symbols; /* the names of the titles, */
    int *first;           /* [symbols] and the first column of each */

    /* results of recording_match: columns of the file */
    int *of;    /* [1 + n + speeds] of the time, the coordinates, the speeds; -1: there is none */
    int speeds; /* 1: all, 0: none, -1: some, and not used */
} recording;

/* The message with its file; with a line > 0 also the place, the line itself and a caret. */
zw_status recording_fail(const recording *r, zw_status status, int line, int column, int length,
                         const char *format, ...) __attribute__((format(printf, 6, 7)));
zw_status recording_no_memory(const recording *r);

/* Makes text of a file printable: invalid UTF-8 and control characters become "?". The text is
 * followed by a 0 somewhere. */
void recording_show(char *shown, size_t capacity, const char *text, size_t length);

zw_status recording_add_title(recording *r, const char *name, size_t length, int column,
                              int characters);

/* Fills `of` and `speeds`. */
zw_status recording_match(recording *r);

/* A path of `count` samples that notes the ignored columns; NULL: no memory. */
zw_path *recording_path(const recording *r, long count);

zw_path *recording_read_csv(recording *r);
zw_path *recording_read_h5(recording *r);

#endif
