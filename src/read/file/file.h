/* Files and paths, for all readers. */
#ifndef ZW_READ_FILE_H
#define ZW_READ_FILE_H

#include <stddef.h>

#include "zwang/zwang.h"

typedef enum read_file_state {
    READ_FILE_THERE,
    READ_FILE_MISSING,    /* it cannot be opened */
    READ_FILE_UNREADABLE, /* ... or not be read */
    READ_FILE_TOO_LARGE,  /* more than READ_FILE_MOST bytes */
    READ_FILE_NO_MEMORY
} read_file_state;

#define READ_FILE_MOST (1L << 28)
#define READ_FILE_MOST_TEXT "256 MB"

/* All bytes of a file with a final zero, to be freed with base_free. Where the options give files
 * in memory it is one of those, else (also with NULL) one of the disk. */
char *read_file_bytes(const zw_read_options *options, const char *path, size_t *length,
                      read_file_state *state);

int read_file_there(const zw_read_options *options, const char *path); /* can it be opened? */

/* a/./b and a/x/../b are a/b: a file has one name. */
void read_path_tidy(char *path);

/* The first `folder_length` bytes of `folder` and the path after them, tidy; an absolute path
 * stands alone. NULL: no memory. */
char *read_path_join(const char *folder, size_t folder_length, const char *path, size_t length);

/* Bytes of the folder of this file's name, with its slash. */
size_t read_path_folder(const char *name);

/* The number that these characters are, in every locale; 0: they are none. It may be infinite
 * ("inf", or too large) or no number at all ("nan"). */
int read_decimal(const char *text, size_t length, double *value);

#endif
