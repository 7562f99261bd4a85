/* Adapts files that are too new for Debian's MuJoCo, 2.2.2: removes what it does not support, and
 * computes masses of meshes as it does. For the comparisons with MuJoCo. */
#ifndef ZW_TEST_READ_OLDER_H
#define ZW_TEST_READ_OLDER_H

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/bodies.h"

/* MuJoCo 2.2.2 weighs a mesh as the box with its moments, later releases by its volume, as we do.
 * For the comparison our geoms are given what the old one would give them. */
static inline void older_weigh(zw_model *model)
{
    const model_bodies *b = model->bodies;
    zw_error error;
    for (int i = 0; i < b->count[ZW_KIND_GEOM]; i++) {
        zw_geom_def g = b->geom[i];
        zw_inertia in;
        if (g.shape == ZW_SHAPE_MESH && g.mass < 0 && !g.shell &&
            b->mesh[g.mesh].rule == ZW_MESH_LEGACY &&
            model_mesh_inertia(&b->mesh[g.mesh], 0, &in) > 0) {
            g.mass = 8 * g.density;
            for (int k = 0; k < 3; k++) {
                double other = in.moment[(k + 1) % 3] + in.moment[(k + 2) % 3];
                g.mass *= sqrt(1.5 * (other - in.moment[k]) / in.mass);
            }
            zw_model_change(model, ZW_KIND_GEOM, i, &g, &error);
        }
    }
}

static inline int older_is_one_of(const char *const *list, const char *word, size_t length)
{
    for (; *list != NULL; list++) {
        if (strlen(*list) == length && strncmp(*list, word, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* One tag from its < to its >, without attributes that the old release does not know. */
static inline void older_tag(const char *tag, size_t length, FILE *out)
{
    static const char *const elements[] = {
        "texture", "material", "jointactuatorfrc", "size", "global", "quality", NULL};
    static const char *const attributes[] = {
        "material",    "actuatorfrcrange", "dampratio",  "inheritrange",
        "maxhullvert", "inertia",          "integrator", NULL};
    size_t name = strcspn(tag + 1, " \t\r\n/>");
    if (older_is_one_of(elements, tag + 1, name)) {
        return;
    }
    int position = name == 8 && strncmp(tag + 1, "position", 8) == 0;
    for (size_t i = 0; i < length;) {
        size_t word = strcspn(tag + i + 1, " \t\r\n=/>\"");
        int attribute = strchr(" \t\n", tag[i]) != NULL && tag[i + 1 + word] == '=';
        if (attribute && (older_is_one_of(attributes, tag + i + 1, word) ||
                          (position && word == 2 && strncmp(tag + i + 1, "kv", 2) == 0))) {
            i += word + 3;
            i += strcspn(tag + i, "\"") + 1;
        } else if (attribute && word == 8 && strncmp(tag + i + 1, "assetdir", 8) == 0) {
            fputs(" meshdir", out);
            i += 9;
        } else {
            fputc(tag[i++], out);
        }
    }
}

static inline void older_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char *text = calloc(1, 1 << 20);
    if (in != NULL && out != NULL && text != NULL) {
        size_t length = fread(text, 1, (1 << 20) - 1, in);
        for (size_t i = 0; i < length;) {
            size_t size = 1;
            if (strncmp(text + i, "<!--", 4) == 0) {
                const char *end = strstr(text + i, "-->");
                size = end != NULL ? (size_t)(end + 3 - (text + i)) : 1;
            } else if (text[i] == '<') {
                size = strcspn(text + i, ">") + 1;
                older_tag(text + i, size, out);
            } else {
                fputc(text[i], out);
            }
            i += size;
        }
    }
    free(text);
    if (in != NULL) {
        fclose(in);
    }
    if (out != NULL) {
        fclose(out);
    }
}

/* A copy of the file's folder with simpler .xml files in it; the rest is linked. 0: none. */
static inline int older_simplify(const char *path, char folder[200], char copy[600])
{
    const char *name = strrchr(path, '/');
    char home[600], from[900], to[900];
    snprintf(folder, 200, "/tmp/compare_mjcf_XXXXXX");
    if (name == NULL || mkdtemp(folder) == NULL) {
        return 0;
    }
    snprintf(home, sizeof home, "%.*s", (int)(name - path), path);
    snprintf(copy, 600, "%s%.300s", folder, name);
    DIR *list = opendir(home);
    for (struct dirent *e; list != NULL && (e = readdir(list)) != NULL;) {
        size_t length = strlen(e->d_name);
        snprintf(from, sizeof from, "%s/%.255s", home, e->d_name);
        snprintf(to, sizeof to, "%s/%.255s", folder, e->d_name);
        if (length > 4 && strcmp(e->d_name + length - 4, ".xml") == 0) {
            older_file(from, to);
        } else if (e->d_name[0] != '.' && symlink(from, to) != 0) {
            perror(to);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
    return 1;
}

static inline void older_done(const char *folder)
{
    DIR *list = opendir(folder);
    char path[600];
    for (struct dirent *e; list != NULL && (e = readdir(list)) != NULL;) {
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%.255s", folder, e->d_name);
            unlink(path);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
    rmdir(folder);
}

#endif
