/* Meshes of URDF: found by package, read once each, scaled. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "read/file/file.h"
#include "read/robot/mjcf.h"
#include "read/robot/urdf.h"

/* ---- Meshes --------------------------------------------------------------------------------- */

static char *bytes_at(urdf *u, const char *folder, size_t folder_length, const char *rest,
                      size_t *length, char **path)
{
    read_file_state state = READ_FILE_MISSING;
    *path = read_path_join(folder, folder_length, rest, strlen(rest));
    char *bytes = *path != NULL ? read_file_bytes(u->xml->options, *path, length, &state) : NULL;
    if (*path == NULL || state == READ_FILE_NO_MEMORY) {
        xml_no_memory(u->xml);
    }
    if (bytes == NULL) {
        base_free(*path);
        *path = NULL;
    }
    return bytes;
}

/* A file in a folder, relative to the first `base` bytes of the path of the robot's file. */
static char *folder_bytes(urdf *u, size_t base, const char *folder, const char *name,
                          size_t *length, char **path)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *inner = base_alloc(size), *bytes = NULL;
    *path = NULL;
    if (inner == NULL) {
        xml_no_memory(u->xml);
        return NULL;
    }
    snprintf(inner, size, "%s/%s", folder, name);
    bytes = bytes_at(u, u->home, base, inner, length, path);
    base_free(inner);
    return bytes;
}

/* package://robot/meshes/a.stl, by the packages given by the caller. */
static char *named_package_bytes(urdf *u, const char *rest, size_t *length, char **path)
{
    const zw_read_options *options = u->limits.options;
    size_t package = strcspn(rest, "/");
    for (int i = 0; options != NULL && i < options->package_count; i++) {
        const zw_package *p = &options->packages[i];
        if (strlen(p->name) != package || strncmp(p->name, rest, package) != 0) {
            continue;
        }
        return folder_bytes(u, 0, p->path, rest + package + (rest[package] == '/'), length, path);
    }
    return NULL;
}

/* The package is the folder of this file or one above it, whatever its name, or a subfolder of one
 * of them; the nearest is taken. */
static char *package_bytes(urdf *u, const char *rest, size_t *length, char **path)
{
    const char *home = u->home;
    size_t folder = read_path_folder(home);
    size_t package = strcspn(rest, "/");
    char *bytes = named_package_bytes(u, rest, length, path);
    for (int up = 0; bytes == NULL && up < 32 && u->xml->status == ZW_OK; up++) {
        bytes = bytes_at(u, home, folder, rest, length, path);
        if (bytes == NULL && rest[package] == '/') {
            bytes = bytes_at(u, home, folder, rest + package + 1, length, path);
        }
        if (folder == 0) {
            break;
        }
        folder--; /* the folder above */
        while (folder > 0 && home[folder - 1] != '/') {
            folder--;
        }
    }
    return bytes;
}

static char *mesh_bytes(urdf *u, const char *file, size_t *length, char **path)
{
    const char *home = u->home;
    *path = NULL;
    if (strncmp(file, "package://", 10) == 0) {
        file += 10;
        return package_bytes(u, file + strspn(file, "/"), length, path);
    }
    if (strncmp(file, "model://", 8) == 0) {
        return package_bytes(u, file + 8, length, path);
    }
    const char *plain = strncmp(file, "file://", 7) == 0 ? file + 7 : file;
    return bytes_at(u, home, read_path_folder(home), plain, length, path);
}

/* In the folder of <mujoco><compiler meshdir=""/></mujoco>: as in MuJoCo, only the last component
 * of the path is used. */
static char *meshdir_bytes(urdf *u, const char *file, size_t *length, char **path)
{
    const char *folder = u->compiler.meshdir;
    *path = NULL;
    return folder != NULL ? folder_bytes(u, read_path_folder(u->home), folder,
                                         file + read_path_folder(file), length, path)
                          : NULL;
}

static int mesh_add(urdf *u, int element, const urdf_shape *s, const read_mesh *file, int *index)
{
    zw_mesh_def def = zw_mesh_default();
    double *vertex = base_alloc((size_t)file->vertex_count * 3 * sizeof *vertex);
    int *face = base_alloc((size_t)file->face_count * 3 * sizeof *face);
    int ok = vertex != NULL && face != NULL ? 1 : xml_no_memory(u->xml);
    int mirror = s->scale[0] * s->scale[1] * s->scale[2] < 0;
    for (int i = 0; ok && i < 3 * file->vertex_count; i++) {
        vertex[i] = file->vertex[i / 3][i % 3] * s->scale[i % 3];
    }
    for (int i = 0; ok && i < 3 * file->face_count; i++) {
        int k = i % 3;
        face[i] = file->face[i / 3][mirror && k > 0 ? 3 - k : k];
    }
    def.vertex_count = file->vertex_count;
    def.vertex = vertex;
    def.face_count = file->face_count;
    def.face = face;
    def.place = ok ? xml_place(u->xml, element) : -1;
    ok = ok && urdf_add(u, ZW_KIND_MESH, &def, index);
    base_free(vertex);
    base_free(face);
    return ok;
}

/* The first missing file is stored for runs with contacts. */
static int note_missing(urdf *u, int element, const char *file)
{
    model_bodies *bodies = u->model->bodies;
    char text[160];
    snprintf(text, sizeof text, "mesh '%.80s' (there is no such file: nothing touches it)", file);
    if (bodies->missing_mesh == NULL) {
        bodies->missing_mesh = model_text_copy(file, strlen(file));
        if (bodies->missing_mesh == NULL) {
            return xml_no_memory(u->xml);
        }
    }
    return urdf_note(u, element, text);
}

int urdf_mesh(urdf *u, int element, const urdf_shape *s, int *index)
{
    *index = -1;
    if (s->file == NULL) {
        return form_fail(u->xml, element, NULL, "a mesh needs a filename");
    }
    if (!u->limits.files) {
        return form_fail(u->xml, element, "filename", "other files cannot be read here");
    }
    read_mesh file = {0};
    size_t length;
    char *path, why[200] = "";
    char *bytes = mesh_bytes(u, s->file, &length, &path);
    if (bytes == NULL) {
        bytes = meshdir_bytes(u, s->file, &length, &path);
    }
    int ok = bytes != NULL ? read_mesh_bytes(&file, path, bytes, length, why) : 0;
    if (bytes == NULL && u->xml->status == ZW_OK) {
        return u->seeing || note_missing(u, element, s->file);
    }
    if (ok < 0) {
        xml_no_memory(u->xml);
    } else if (ok == 0) {
        form_fail(u->xml, element, "filename", "'%.200s': %s", path, why);
    }
    ok = ok > 0 && mesh_add(u, element, s, &file, index);
    read_mesh_free(&file);
    base_free(bytes);
    base_free(path);
    return ok;
}
