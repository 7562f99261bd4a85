/* A file that is complete or absent: writers fill a temporary one, and the last step renames it.
 *
 * After the first failure nothing more is written, so that writers need not check each call;
 * record_file_close reports the failure. */
#ifndef ZW_RECORD_FILE_H
#define ZW_RECORD_FILE_H

#include "zwang/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct record_file {
    const char *path; /* owned by the caller */
    char *temporary;  /* the file that is written until it is renamed */
    FILE *stream;
    bool failed;
    int cause; /* errno of the first failure */
} record_file;

/* "path.tmp~", or a copy of the path itself in /dev; NULL when there is no memory. */
char *record_file_temporary(const char *path);
/* "cannot write PATH: REASON" from an errno; 0: no known reason. */
zw_status record_file_fail(const char *path, int cause, zw_error *error);
zw_status record_file_check(const void *table, const char *path, zw_error *error);
/* Renames the temporary file to its final name, or removes it. */
zw_status record_file_settle(const char *temporary, const char *path, bool ok, zw_error *error);

zw_status record_file_open(record_file *file, const char *path, zw_error *error);
zw_status record_file_close(record_file *file, zw_error *error);
/* Gives up; no file remains. */
void record_file_drop(record_file *file);

void record_put_bytes(record_file *file, const void *bytes, size_t count);
void record_put(record_file *file, const char *text);
void record_putf(record_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* no %g or %f: those depend on the locale */
/* A number with this many significant digits and a decimal point in any locale; nan, inf, -inf. */
void record_put_number(record_file *file, double value, int digits);
int record_number_text(char *text, size_t capacity, double value, int digits);
int record_fixed_text(char *text, size_t capacity, double value, int decimals);
/* Text within XML or HTML, also within attributes. Control characters, which XML forbids, and
 * invalid UTF-8 become U+FFFD. */
void record_put_escaped(record_file *file, const char *text);
/* A JSON string literal that is safe within a script element. */
void record_put_json(record_file *file, const char *text);
void record_put_base64(record_file *file, const unsigned char *bytes, size_t count);

#endif
