/* Suggestions for files that are missing: a similar name in the same folder. */
#include <limits.h>
#include <string.h>

#ifndef ZW_NO_DISK
#include <dirent.h>
#endif

#include "read/file/file.h"
#include "read/zw/zw.h"

/* Keeps the more similar name; of equally similar ones the first in the alphabet, as folders have
 * no order. */
static void offer(read_guess *best, const char *name)
{
    read_guess one = read_guess_start(best->text, best->length);
    read_guess_offer(&one, name, (int)strlen(name));
    if (one.distance < best->distance ||
        (one.distance != INT_MAX && one.distance == best->distance &&
         strcmp(one.best, best->best) < 0)) {
        *best = one;
    }
}

static void offer_memory(const zw_read_options *options, const char *path, size_t folder,
                         read_guess *best)
{
    for (int i = 0; i < options->file_count; i++) {
        const char *name = options->files[i].name;
        if (name && read_path_folder(name) == folder && strncmp(name, path, folder) == 0) {
            offer(best, name + folder);
        }
    }
}

static void offer_disk(const char *path, size_t folder, read_guess *best)
{
#ifdef ZW_NO_DISK
    (void)path, (void)folder, (void)best;
#else
    enum { LONGEST = 1024 };
    char name[LONGEST] = ".";
    if (folder >= LONGEST) {
        return;
    }
    if (folder > 0) {
        memcpy(name, path, folder);
        name[folder] = 0;
    }
    DIR *files = opendir(name);
    for (struct dirent *entry; files && (entry = readdir(files));) {
        if (entry->d_name[0] != '.') {
            offer(best, entry->d_name);
        }
    }
    if (files) {
        closedir(files);
    }
#endif
}

read_shown read_similar_file(const zw_read_options *options, const char *path)
{
    size_t folder = read_path_folder(path);
    read_guess best = read_guess_start(path + folder, (int)strlen(path + folder));
    if (options && options->files) {
        offer_memory(options, path, folder, &best);
    } else {
        offer_disk(path, folder, &best);
    }
    return read_guess_show(&best);
}
