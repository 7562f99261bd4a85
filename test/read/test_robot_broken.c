/* Broken MJCF and URDF files and what is said about them: test/read/broken_robot/NAME.xml (.urdf)
 * must give, to the letter, NAME.txt. A new message is first read aloud, then written with
 *
 *     ZW_BLESS=1 <build>/test/read/test_robot_broken
 */
#include "reading.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "read/xml.h"

static char *file_text(const char *path, char *room, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    size_t got = fread(room, 1, size - 1, file);
    room[got] = 0;
    fclose(file);
    return room;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), wanted = strlen(end);
    return length > wanted && strcmp(name + length - wanted, end) == 0;
}

/* Names of robot files in this folder, in order. */
static int broken_files(char *name[], int most)
{
    DIR *folder = opendir(".");
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (ends_in(entry->d_name, ".xml") || ends_in(entry->d_name, ".urdf")) {
            assert_true(count < most);
            name[count++] = strdup(entry->d_name);
        }
    }
    closedir(folder);
    qsort(name, (size_t)count, sizeof *name, compare_names);
    return count;
}

/* 1 if the message is the expected one. */
static int judge(const char *name)
{
    zw_error error;
    char said[1400], wanted[1400], path[300];
    zw_model *model = zw_model_read(name, NULL, 0, &error);
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
    const char *known = file_text(path, wanted, sizeof wanted);
    if (error.status != ZW_BAD_INPUT || known == NULL || strcmp(said, known) != 0) {
        print_error("%s\n  said:   %s\n  wanted: %s\n", name, said, known ? known : "(no file)");
        return 0;
    }
    return 1;
}

static void broken_files_are_explained(void **state)
{
    (void)state;
    char *name[1000];
    assert_int_equal(chdir(ZW_SOURCE_DIR "/test/read/broken_robot"), 0);
    int count = broken_files(name, 1000), wrong = 0;
    for (int i = 0; i < count; i++) {
        wrong += !judge(name[i]);
        free(name[i]);
    }
    print_message("%d broken files\n", count);
    assert_true(count >= 140);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(broken_files_are_explained)};
    if (!xml_available()) {
        puts("skipped: built without expat");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
