/* Saving a state to a file: the bytes of system/save.c. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "read/file/file.h"
#include "record/copy.h"
#include "record/file.h"
#include "zwang/zwang.h"

zw_status zw_state_write(const zw_state *state, const char *path, zw_error *error)
{
    record_file file;
    size_t size = zw_state_bytes(state);
    zw_status status = record_file_check(state, path, error);
    unsigned char *bytes = status == ZW_OK ? base_alloc(size) : NULL;
    if (status == ZW_OK && bytes == NULL) {
        status = record_no_memory(error);
    }
    if (status == ZW_OK) {
        status = zw_state_save(state, bytes, size, error);
    }
    if (status == ZW_OK) {
        status = record_file_open(&file, path, error);
        if (status == ZW_OK) {
            record_put_bytes(&file, bytes, size);
            status = record_file_close(&file, error);
        }
    }
    base_free(bytes);
    return status;
}

zw_state *zw_state_read(const zw_system *system, const char *path, zw_error *error)
{
    size_t size = 0;
    read_file_state found;
    errno = 0;
    char *bytes = read_file_bytes(NULL, path, &size, &found);
    zw_state *state = NULL;
    if (found == READ_FILE_NO_MEMORY) {
        base_fail(error, ZW_NO_MEMORY, "the file does not fit into memory");
    } else if (found == READ_FILE_TOO_LARGE) {
        base_fail(error, ZW_NO_FILE, "it has more than " READ_FILE_MOST_TEXT);
    } else if (bytes == NULL) {
        base_fail(error, ZW_NO_FILE, "%s",
                  errno != 0 ? strerror(errno) : zw_status_text(ZW_NO_FILE));
    } else {
        state = zw_state_restore(system, bytes, size, error);
    }
    if (state == NULL && error != NULL) {
        snprintf(error->file, sizeof error->file, "%s", path);
    }
    base_free(bytes);
    return state;
}
