/* Broken files and their messages: NAME.zw (.xml, .urdf) in a folder must give exactly the text of
 * NAME.txt. With ZW_BLESS=1 in the environment the messages are written instead: review them
 * before committing. */
#ifndef ZW_TEST_READ_BROKEN_H
#define ZW_TEST_READ_BROKEN_H

#include "reading.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static inline char *broken_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    size_t got = fread(text, 1, size - 1, file);
    text[got] = 0;
    fclose(file);
    return text;
}

static inline int broken_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline int broken_ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), wanted = strlen(end);
    return length > wanted && strcmp(name + length - wanted, end) == 0;
}

/* Names of files in this folder with one of two endings, in order. */
static inline int broken_list(const char *const ending[2], char *name[], int most)
{
    DIR *folder = opendir(".");
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (broken_ends_in(entry->d_name, ending[0]) || broken_ends_in(entry->d_name, ending[1])) {
            assert_true(count < most);
            name[count++] = strdup(entry->d_name);
        }
    }
    closedir(folder);
    qsort(name, (size_t)count, sizeof *name, broken_compare);
    return count;
}

/* 1 if the message is the expected one. */
static inline int broken_check(const char *name)
{
    zw_error error;
    char said[1400], wanted[1400], path[300];
    zw_model *model = zw_model_read(name, NULL, &error);
    if (model != NULL) {
        zw_model_free(model);
        print_error("%s: was read without complaint\n", name);
        return 0;
    }
    snprintf(said, sizeof said, "%s:%d:%d: %s\n", error.file, error.line, error.column, error.text);
    snprintf(path, sizeof path, "%.*s.txt", (int)(strrchr(name, '.') - name), name);
    if (getenv("ZW_BLESS") != NULL) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fputs(said, file);
        fclose(file);
    }
    const char *known = broken_text(path, wanted, sizeof wanted);
    if (error.status != ZW_BAD_INPUT || known == NULL || strcmp(said, known) != 0) {
        print_error("%s\n  said:   %s\n  wanted: %s\n", name, said, known ? known : "(no file)");
        return 0;
    }
    return 1;
}

/* All files of the folder with these endings; at least so many. */
static inline void broken_explained(const char *folder, const char *const ending[2], int least)
{
    char *name[1000];
    assert_int_equal(chdir(folder), 0);
    int count = broken_list(ending, name, 1000), wrong = 0;
    for (int i = 0; i < count; i++) {
        wrong += !broken_check(name[i]);
        free(name[i]);
    }
    print_message("%d broken files\n", count);
    assert_true(count >= least);
    assert_int_equal(wrong, 0);
}

#endif
