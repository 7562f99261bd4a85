/* Is every file of a folder in the list of a test? After cmocka.h. */
#ifndef ZW_TEST_SCENE_LISTED_H
#define ZW_TEST_SCENE_LISTED_H

#include <dirent.h>
#include <string.h>

/* name.zw imports name.xml. */
static inline int listed_covers(const char *listed, const char *file)
{
    size_t stem = strcspn(listed, ".");
    int imported = strcmp(listed + stem, ".zw") == 0 && strncmp(listed, file, stem) == 0 &&
                   strcmp(file + stem, ".xml") == 0;
    return imported || strcmp(listed, file) == 0;
}

/* The name of a file is the first member of what the list is made of. */
static inline void all_listed(const char *path, const void *list, size_t count, size_t size)
{
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        int known = e->d_name[0] == '.';
        for (size_t i = 0; i < count && !known; i++) {
            known = listed_covers(*(const char *const *)((const char *)list + i * size), e->d_name);
        }
        if (!known) {
            fail_msg("%s is not in the list of this test", e->d_name);
        }
    }
    closedir(folder);
}

#endif
