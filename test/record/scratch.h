/* A folder of its own for each test program, and what is in it. */
#ifndef ZW_TEST_RECORD_SCRATCH_H
#define ZW_TEST_RECORD_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_folder[256];

static inline int scratch_begin(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof scratch_folder, "%.200s/zwang-record-XXXXXX",
             base != NULL ? base : "/tmp");
    return mkdtemp(scratch_folder) != NULL ? 0 : -1;
}

/* The path of a file there; good until the call after the next. */
static inline const char *scratch(const char *name)
{
    static char path[2][512];
    static int turn;
    turn = 1 - turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch_folder, name);
    return path[turn];
}

static inline int scratch_count(void)
{
    int count = 0;
    DIR *folder = opendir(scratch_folder);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(folder);
    return count;
}

static inline int scratch_empty(void **state)
{
    (void)state;
    DIR *folder = opendir(scratch_folder);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] != '.') {
            remove(scratch(entry->d_name));
        }
    }
    closedir(folder);
    return 0;
}

static inline int scratch_end(void **state)
{
    scratch_empty(state);
    return rmdir(scratch_folder);
}

/* The whole file, ended by a 0; NULL when there is none. The caller frees it. */
static inline char *scratch_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)length + 1);
    if (text != NULL && fread(text, 1, (size_t)length, file) != (size_t)length) {
        free(text);
        text = NULL;
    }
    fclose(file);
    if (size != NULL) {
        *size = (size_t)length;
    }
    return text;
}

#endif
