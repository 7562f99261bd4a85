/* The finished runs, in a file that survives termination of the program at any moment.
 *
 * A header identifies the sweep; then follows a line for each finished run: its number, the bits of
 * its results, its status, and a hash of all that. Each line is appended by one call; one that is
 * cut short, by kill -9 or a full disk, has a wrong hash and is ignored, and so is a damaged one.
 * Lines are in the order in which runs finish, which may be any; the table is sorted by run. A lock
 * keeps out a second program. */
#define _POSIX_C_SOURCE 200809L
#include "batch/sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

enum { HASHED = 18 /* " " and 16 digits and the end of the line */ };

static zw_status fail(const zw_sweep *sweep, const char *what, int cause, zw_error *error)
{
    return base_fail(error, ZW_NO_FILE, "cannot %s the journal %.300s: %s", what,
                     sweep->journal_path, cause ? strerror(cause) : "it was cut short");
}

static int write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t put = write(file, text, length);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return 0;
        }
        text += put;
        length -= (size_t)put;
    }
    return 1;
}

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = BASE_HASH_START;
    for (size_t i = 0; i < length; i++) {
        hash = base_hash_word(hash, (unsigned char)text[i]);
    }
    return hash;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Reads one line without its line end: a finished run, if the line is intact. */
int sweep_journal_take(zw_sweep *sweep, char *line, size_t length)
{
    if (length < HASHED) {
        return -1;
    }
    size_t body = length - (HASHED - 1);
    if (line[body] != ' ' || strtoull(line + body + 1, NULL, 16) != hash_of(line, body)) {
        return -1;
    }
    line[body] = 0;
    char *at = line;
    long run = strtol(at, &at, 10);
    if (run < 0 || run >= sweep->runs || sweep->status[run]) {
        return -1;
    }
    double *value = sweep->value + (size_t)run * (size_t)sweep->width;
    for (int i = 0; i < sweep->width; i++) {
        uint64_t bits = strtoull(at, &at, 16);
        memcpy(&value[i], &bits, sizeof bits);
    }
    return *at == ' ' && sweep_set_status(sweep, (int)run, at + 1) ? (int)run : -1;
}

static void take_lines(zw_sweep *sweep, char *text, size_t length, size_t *whole)
{
    size_t at = *whole;
    while (at < length) {
        char *end = memchr(text + at, '\n', length - at);
        if (!end) {
            return;
        }
        *end = 0;
        sweep_journal_take(sweep, text + at, (size_t)(end - text) - at);
        at = (size_t)(end - text) + 1;
        *whole = at;
    }
}

int sweep_journal_head(const zw_sweep *sweep, char head[SWEEP_HEAD])
{
    return snprintf(head, SWEEP_HEAD, "zwang sweep 1 %016" PRIx64 " %d %d\n", sweep->hash,
                    sweep->runs, sweep->width);
}

static char *read_all(const zw_sweep *sweep, size_t *length, zw_error *error)
{
    struct stat about;
    if (fstat(sweep->journal, &about) != 0) {
        fail(sweep, "read", errno, error);
        return NULL;
    }
    char *text = base_alloc((size_t)about.st_size + 1);
    *length = 0;
    while (text && *length < (size_t)about.st_size) {
        ssize_t got = read(sweep->journal, text + *length, (size_t)about.st_size - *length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        *length += (size_t)got;
    }
    if (!text) {
        base_fail(error, ZW_NO_MEMORY, "out of memory");
    }
    return text;
}

/* ---- The file ------------------------------------------------------------------------------- */

static zw_status lock(const zw_sweep *sweep, zw_error *error)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(sweep->journal, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN)) {
        return ZW_OK; /* a file system may lack locks */
    }
    return base_fail(error, ZW_NO_FILE, "another sweep is using %.300s", sweep->journal_path);
}

zw_status sweep_journal_open(zw_sweep *sweep, zw_error *error)
{
    char head[SWEEP_HEAD];
    size_t length, whole = (size_t)sweep_journal_head(sweep, head);
    if (!sweep->journal_path) {
        return ZW_OK;
    }
    sweep->journal = open(sweep->journal_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (sweep->journal < 0) {
        return fail(sweep, "open", errno, error);
    }
    zw_status status = lock(sweep, error);
    char *text = status == ZW_OK ? read_all(sweep, &length, error) : NULL;
    if (!text) {
        return status == ZW_OK ? error ? error->status : ZW_NO_FILE : status;
    }
    if (length < whole && !memcmp(text, head, length)) { /* new, or its header was cut short */
        length = 0;
    } else if (length < whole || memcmp(text, head, whole) != 0) {
        base_free(text);
        return base_fail(error, ZW_BAD_INPUT,
                         "%.300s is the journal of another sweep: other values, quantities, "
                         "options, or another model. Remove it, or give another output",
                         sweep->journal_path);
    } else {
        take_lines(sweep, text, length, &whole);
        length = whole;
    }
    base_free(text);
    if (ftruncate(sweep->journal, (off_t)length) != 0 || lseek(sweep->journal, 0, SEEK_END) < 0 ||
        (length == 0 && !write_all(sweep->journal, head, strlen(head)))) {
        return fail(sweep, "write", errno, error);
    }
    return ZW_OK;
}

char *sweep_journal_line(const zw_sweep *sweep, int run)
{
    const double *value = sweep->value + (size_t)run * (size_t)sweep->width;
    size_t capacity = 64 + 17 * (size_t)sweep->width + strlen(sweep->status[run]) + HASHED, used;
    char *line = base_alloc(capacity);
    if (!line) {
        return NULL;
    }
    used = (size_t)snprintf(line, capacity, "%d", run);
    for (int i = 0; i < sweep->width; i++) {
        used += (size_t)snprintf(line + used, capacity - used, " %016" PRIx64,
                                 base_hash_bits(value[i]));
    }
    used += (size_t)snprintf(line + used, capacity - used, " %s", sweep->status[run]);
    snprintf(line + used, capacity - used, " %016" PRIx64 "\n", hash_of(line, used));
    return line;
}

int sweep_journal_add(zw_sweep *sweep, int run, zw_error *error)
{
    if (sweep->journal < 0) {
        return 1;
    }
    char *line = sweep_journal_line(sweep, run);
    if (!line) {
        base_fail(error, ZW_NO_MEMORY, "out of memory");
        return 0;
    }
    pthread_mutex_lock(&sweep->lock);
    int ok = write_all(sweep->journal, line, strlen(line));
    int cause = errno;
    pthread_mutex_unlock(&sweep->lock);
    base_free(line);
    if (!ok) {
        fail(sweep, "write", cause, error);
    }
    return ok;
}

void sweep_journal_close(zw_sweep *sweep)
{
    if (sweep->journal >= 0) {
        close(sweep->journal);
        sweep->journal = -1;
    }
}

void zw_sweep_forget(const zw_sweep *sweep)
{
    if (sweep->journal_path) {
        unlink(sweep->journal_path);
    }
}
