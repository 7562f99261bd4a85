#include "read/file/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/decimal.h"

enum { FIRST_BYTES = 1 << 16 };

static FILE *disk_open(const char *path)
{
#ifdef ZW_NO_DISK /* the studio's engine: all files are in memory */
    (void)path;
    return NULL;
#else
    return fopen(path, "rb");
#endif
}

/* For streams that can seek; pipes cannot. A folder can, but has nothing to read. */
static int is_too_long(FILE *stream)
{
    int known = fseek(stream, 0, SEEK_END) == 0;
    long length = known ? ftell(stream) : 0;
    rewind(stream);
    int too_long = length >= READ_FILE_MOST && fgetc(stream) != EOF;
    rewind(stream);
    return too_long;
}

/* All bytes of the stream, with a final zero. */
static char *stream_bytes(FILE *stream, size_t *length, read_file_state *state)
{
    size_t capacity = FIRST_BYTES, used = 0;
    char *text = base_alloc(capacity);
    *state = READ_FILE_THERE;
    while (text != NULL) {
        size_t got = fread(text + used, 1, capacity - used - 1, stream);
        used += got;
        if (got == 0) {
            break;
        }
        if (used == capacity - 1) {
            int more = 2 * capacity <= (size_t)READ_FILE_MOST;
            char *wider = more ? base_alloc(2 * capacity) : NULL;
            *state = more ? READ_FILE_THERE : READ_FILE_TOO_LARGE;
            if (wider != NULL) {
                memcpy(wider, text, used);
            }
            base_free(text);
            text = wider;
            capacity *= 2;
        }
    }
    if (text == NULL) {
        *state = *state == READ_FILE_TOO_LARGE ? *state : READ_FILE_NO_MEMORY;
    } else if (ferror(stream)) {
        base_free(text);
        text = NULL;
        *state = READ_FILE_UNREADABLE;
    }
    *length = text != NULL ? used : 0;
    return text;
}

static int is_in_memory(const zw_read_options *options)
{
    return options != NULL && options->files != NULL;
}

/* The file of this name that the caller has in memory, or NULL. */
static const zw_file *file_in_memory(const zw_read_options *options, const char *path)
{
    for (int i = 0; i < options->file_count; i++) {
        if (strcmp(options->files[i].name, path) == 0) {
            return &options->files[i];
        }
    }
    return NULL;
}

static char *memory_bytes(const zw_file *file, size_t *length, read_file_state *state)
{
    *length = 0;
    *state = file == NULL                           ? READ_FILE_MISSING
             : file->size >= (size_t)READ_FILE_MOST ? READ_FILE_TOO_LARGE
                                                    : READ_FILE_NO_MEMORY;
    char *text = *state == READ_FILE_NO_MEMORY ? base_alloc(file->size + 1) : NULL;
    if (text == NULL) {
        return NULL;
    }
    if (file->size > 0) {
        memcpy(text, file->bytes, file->size);
    }
    text[file->size] = 0;
    *length = file->size;
    *state = READ_FILE_THERE;
    return text;
}

static char *disk_bytes(const char *path, size_t *length, read_file_state *state)
{
    FILE *stream = disk_open(path);
    if (stream == NULL) {
        *state = READ_FILE_MISSING;
        return NULL;
    }
    char *text = NULL;
    *length = 0;
    *state = READ_FILE_TOO_LARGE;
    if (!is_too_long(stream)) {
        text = stream_bytes(stream, length, state);
    }
    fclose(stream);
    return text;
}

char *read_file_bytes(const zw_read_options *options, const char *path, size_t *length,
                      read_file_state *state)
{
    char *text = is_in_memory(options) ? memory_bytes(file_in_memory(options, path), length, state)
                                       : disk_bytes(path, length, state);
    if (text != NULL && options != NULL && options->seen != NULL) {
        zw_file file = {.name = path, .bytes = text, .size = *length};
        options->seen(options->user, &file);
    }
    return text;
}

int read_file_there(const zw_read_options *options, const char *path)
{
    if (is_in_memory(options)) {
        return file_in_memory(options, path) != NULL;
    }
    FILE *stream = disk_open(path);
    if (stream != NULL) {
        fclose(stream);
    }
    return stream != NULL;
}

/* Every folder kept in the path ends with a slash. */
void read_path_tidy(char *path)
{
    size_t root = path[0] == '/';
    size_t used = root;
    for (const char *at = path + root; *at != 0;) {
        size_t length = strcspn(at, "/");
        int folder = at[length] == '/';
        int up = length == 2 && strncmp(at, "..", 2) == 0 && used > root;
        size_t last = used; /* start of the previous folder */
        while (up && last > root && (last == used || path[last - 1] != '/')) {
            last--;
        }
        if (up && strncmp(path + last, "../", 3) != 0) {
            used = last;
        } else if (length > 0 && !(length == 1 && *at == '.')) {
            memmove(path + used, at, length + (size_t)folder);
            used += length + (size_t)folder;
        }
        at += length + (size_t)folder;
    }
    path[used] = 0;
}

char *read_path_join(const char *folder, size_t folder_length, const char *path, size_t length)
{
    if (length > 0 && path[0] == '/') {
        folder_length = 0;
    }
    int slash = folder_length > 0 && folder[folder_length - 1] != '/';
    char *joined = base_alloc(folder_length + (size_t)slash + length + 1);
    if (joined == NULL) {
        return NULL;
    }
    memcpy(joined, folder, folder_length);
    if (slash) {
        joined[folder_length] = '/';
    }
    memcpy(joined + folder_length + slash, path, length);
    read_path_tidy(joined);
    return joined;
}

size_t read_path_folder(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? (size_t)(slash - name) + 1 : 0;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

int read_decimal(const char *text, size_t length, double *value)
{
    return length > 0 && length < MATH_DECIMAL_LONGEST &&
           math_decimal(text, text + length, value) == (int)length;
}
