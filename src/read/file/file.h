/* Files and paths, for all readers. */
#ifndef ZW_READ_FILE_H
#define ZW_READ_FILE_H

#include <stddef.h>

#include "zwang/zwang.h"

typedef enum read_file_state {
    READ_FILE_THERE,
    READ_FILE_MISSING,    /* it cannot be opened */
    READ_FILE_UNREADABLE, /* it cannot be read */
    READ_FILE_TOO_LARGE,  /* more than READ_FILE_MOST bytes */
    READ_FILE_NO_MEMORY
} read_file_state;

#define READ_FILE_MOST (1L << 28)
#define READ_FILE_MOST_TEXT "256 MB"

/* All bytes of a file with a final zero, to be freed with base_free. If the options give files in
 * memory, it is one of those, else (also with NULL options) one on the disk. */
char *read_file_bytes(const zw_read_options *options, const char *path, size_t *length,
                      read_file_state *state);

int read_file_there(const zw_read_options *options, const char *path); /* can it be opened? */

/* a/./b and a/x/../b are a/b: a file has one name. */
void read_path_tidy(char *path);

/* Joins the first `folder_length` bytes of `folder` and the path, and normalises the result; an
 * absolute path replaces the folder. NULL: no memory. */
char *read_path_join(const char *folder, size_t folder_length, const char *path, size_t length);

/* Length of the folder part of a file name, with its slash. */
size_t read_path_folder(const char *name);

/* Converts the characters to a number, independent of the locale; 0: they are not a number. It may
 * be infinite ("inf", or too large) or NaN ("nan"). */
int read_decimal(const char *text, size_t length, double *value);

#endif
