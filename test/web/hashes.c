/* Hashes of states after some steps, by the studio's engine on this machine:
 *
 *     hashes FOLDER < list of "NAME STEPS [CONTACT]", one a line
 *
 * prints NAME, the steps taken and the hash, or the error's text. bits.mjs prints the same from
 * WebAssembly and compares. All files of FOLDER that models may need are given to the engine as
 * bytes, as in the page. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine.h"

static int is_wanted(const char *name)
{
    static const char *const end[] = {".zw", ".xml", ".urdf", ".obj", ".stl", ".png"};
    for (int i = 0; i < 6; i++) {
        size_t length = strlen(name), wanted = strlen(end[i]);
        if (length > wanted && strcmp(name + length - wanted, end[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static void give_file(const char *path, const char *name)
{
    FILE *stream = fopen(path, "rb");
    struct stat about;
    if (stream == NULL || stat(path, &about) != 0) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    char *bytes = malloc((size_t)about.st_size + 1);
    size_t size = fread(bytes, 1, (size_t)about.st_size, stream);
    fclose(stream);
    if (!studio_file(name, bytes, (int)size)) {
        exit(2);
    }
    free(bytes);
}

/* `inside` is the folder's name in the engine, with a slash; "" at the top. */
static void give_folder(const char *folder, const char *inside)
{
    DIR *list = opendir(folder);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        char path[1024], name[512];
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        snprintf(name, sizeof name, "%s%s", inside, entry->d_name);
        if (entry->d_name[0] == '.' || stat(path, &about) != 0) {
            continue;
        }
        if (S_ISDIR(about.st_mode)) {
            strncat(name, "/", sizeof name - strlen(name) - 1);
            give_folder(path, name);
        } else if (is_wanted(entry->d_name)) {
            give_file(path, name);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
}

int main(int count, char **argument)
{
    char line[512], name[400], contact[40];
    int steps;
    if (count != 2) {
        return 2;
    }
    give_folder(argument[1], "");
    while (fgets(line, sizeof line, stdin)) {
        int words = sscanf(line, "%399s %d %39s", name, &steps, contact);
        if (words < 2 || (words == 3 && !studio_contact(contact)) || !studio_open(name, "")) {
            printf("%s %s\n", name, studio_error());
            continue;
        }
        int taken = studio_steps(steps);
        printf("%s %d %s\n", name, taken, studio_hash());
        fflush(stdout);
    }
    studio_close();
    studio_forget_files();
    return 0;
}
