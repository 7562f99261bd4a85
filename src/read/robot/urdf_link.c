/* What a URDF link is made of: its inertial, and the shapes it touches with. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "read/file/file.h"
#include "read/robot/mjcf.h"
#include "read/robot/urdf.h"

int urdf_inertial(urdf *u, int element, zw_body_def *body)
{
    int inertial = urdf_child(u, element, "inertial");
    body->inertial = 1; /* none: it weighs nothing */
    if (inertial < 0) {
        return 1;
    }
    int mass = urdf_child(u, inertial, "mass"), inertia = urdf_child(u, inertial, "inertia");
    urdf_inertia m = {0}, in = {0};
    model_pose pose;
    if (mass < 0 || xml_find(u->xml, mass, "value") < 0) {
        return form_fail(u->xml, mass >= 0 ? mass : inertial, NULL, "an inertial needs a mass");
    }
    if (!urdf_pose(u, inertial, &pose) || !form_apply(u->xml, mass, urdf_mass_rows, &m, &m.given) ||
        (inertia >= 0 && !form_apply(u->xml, inertia, urdf_inertia_rows, &in, &in.given))) {
        return 0;
    }
    if (m.value[0] < 0) {
        return form_fail(u->xml, mass, "value", "a mass cannot be negative");
    }
    static const char *const word[] = {"ixx", "iyy", "izz"};
    for (int i = 0; i < 3; i++) {
        if (in.value[i] < 0) {
            return form_fail(u->xml, inertia, word[i], "a moment of inertia cannot be negative");
        }
    }
    body->mass = m.value[0];
    memcpy(body->com, pose.pos, sizeof pose.pos);
    memcpy(body->inertia_quat, pose.quat, sizeof pose.quat);
    memcpy(body->inertia, in.value, sizeof in.value);
    return 1;
}

/* ---- Meshes --------------------------------------------------------------------------------- */

static char *bytes_at(urdf *u, const char *folder, size_t folder_length, const char *rest,
                      size_t *length, char **path)
{
    read_file_state state = READ_FILE_MISSING;
    *path = read_path_join(folder, folder_length, rest, strlen(rest));
    char *bytes = *path != NULL ? read_file_bytes(*path, length, &state) : NULL;
    if (*path == NULL || state == READ_FILE_NO_MEMORY) {
        xml_no_memory(u->xml);
    }
    if (bytes == NULL) {
        base_free(*path);
        *path = NULL;
    }
    return bytes;
}

/* package://robot/meshes/a.stl: the package is this file's folder or one above it, or stands in one
 * of them. */
static char *package_bytes(urdf *u, const char *rest, size_t *length, char **path)
{
    const char *home = u->home;
    size_t folder = read_path_folder(home);
    size_t package = strcspn(rest, "/");
    char *bytes = NULL;
    *path = NULL;
    for (int up = 0; bytes == NULL && up < 32 && u->xml->status == ZW_OK; up++) {
        bytes = bytes_at(u, home, folder, rest, length, path);
        size_t last = folder > 0 ? folder - 1 : 0; /* the folder's own name */
        while (last > 0 && home[last - 1] != '/') {
            last--;
        }
        int is_package = folder > 0 && folder - 1 - last == package && rest[package] == '/' &&
                         strncmp(home + last, rest, package) == 0;
        if (bytes == NULL && (is_package || up == 0) && rest[package] == '/') {
            bytes = bytes_at(u, home, folder, rest + package + 1, length, path);
        }
        if (folder == 0) {
            break;
        }
        folder = last;
    }
    return bytes;
}

static char *mesh_bytes(urdf *u, const char *file, size_t *length, char **path)
{
    const char *home = u->home;
    if (strncmp(file, "package://", 10) == 0) {
        return package_bytes(u, file + 10, length, path);
    }
    if (strncmp(file, "model://", 8) == 0) {
        return package_bytes(u, file + 8, length, path);
    }
    const char *plain = strncmp(file, "file://", 7) == 0 ? file + 7 : file;
    return bytes_at(u, home, read_path_folder(home), plain, length, path);
}

/* A mesh of this file and scale, made once. */
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
    ok = ok && urdf_add(u, ZW_THING_MESH, &def, index);
    base_free(vertex);
    base_free(face);
    return ok;
}

static int mesh(urdf *u, int element, const urdf_shape *s, int *index)
{
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
    int ok = bytes != NULL ? read_mesh_bytes(&file, path, bytes, length, why) : 0;
    if (ok < 0) {
        xml_no_memory(u->xml);
    } else if (bytes == NULL) {
        form_fail(u->xml, element, "filename", "the mesh '%.200s' cannot be opened", s->file);
    } else if (ok == 0) {
        form_fail(u->xml, element, "filename", "'%.200s': %s", path, why);
    }
    ok = ok > 0 && mesh_add(u, element, s, &file, index);
    read_mesh_free(&file);
    base_free(bytes);
    base_free(path);
    return ok;
}

/* ---- Collision ------------------------------------------------------------------------------ */

static int shape(urdf *u, int element, zw_geom_def *g)
{
    static const struct {
        const char *name;
        int shape; /* zw_shape */
        const form_row *rows;
    } kinds[] = {{"box", ZW_SHAPE_BOX, urdf_box_rows},
                 {"cylinder", ZW_SHAPE_CYLINDER, urdf_round_rows},
                 {"capsule", ZW_SHAPE_CAPSULE, urdf_round_rows},
                 {"cone", ZW_SHAPE_CONE, urdf_round_rows},
                 {"sphere", ZW_SHAPE_SPHERE, urdf_sphere_rows},
                 {"mesh", ZW_SHAPE_MESH, urdf_mesh_rows}};
    urdf_shape s = {.scale = {1, 1, 1}};
    int kind = 0;
    while (strcmp(kinds[kind].name, u->xml->element[element].name) != 0) {
        kind++; /* it is there: the form was checked */
    }
    if (!form_apply(u->xml, element, kinds[kind].rows, &s, &s.given)) {
        return 0;
    }
    g->shape = kinds[kind].shape;
    g->triangles = s.triangles;
    for (int i = 0; i < 3 && g->shape == ZW_SHAPE_BOX; i++) {
        g->size[i] = s.size[i] / 2;
    }
    if (g->shape != ZW_SHAPE_BOX) {
        g->size[0] = s.radius;
        g->size[1] = s.length / 2;
    }
    return g->shape != ZW_SHAPE_MESH || mesh(u, element, &s, &g->mesh);
}

/* A number of a contact, where it is said. */
static int number(urdf *u, int parent, const char *name, const form_row *rows, double *number)
{
    int element = parent >= 0 ? urdf_child(u, parent, name) : -1;
    urdf_value given = {.value = *number};
    if (element >= 0 && !form_apply(u->xml, element, rows, &given, &given.given)) {
        return 0;
    }
    *number = given.value;
    return 1;
}

/* Friction and restitution: of the link as Bullet has them, or of the collision. Moments of
 * friction are asked for by being said. */
static int touch(urdf *u, int link, int element, zw_geom_def *g)
{
    double spin = 0, roll = 0;
    int contact = urdf_child(u, link, "contact");
    if (!number(u, contact, "lateral_friction", urdf_value_rows, &g->friction[0]) ||
        !number(u, element, "contact_coefficients", urdf_mu_rows, &g->friction[0]) ||
        !number(u, contact, "spinning_friction", urdf_value_rows, &spin) ||
        !number(u, contact, "rolling_friction", urdf_value_rows, &roll) ||
        !number(u, contact, "restitution", urdf_value_rows, &g->restitution)) {
        return 0;
    }
    if (spin != 0 || roll != 0) {
        g->condim = roll != 0 ? 6 : 4;
        g->friction[1] = spin;
        g->friction[2] = roll;
    }
    return 1;
}

static int collision(urdf *u, int link, int element, int body)
{
    zw_geom_def g = zw_geom_default();
    model_pose pose;
    int geometry = urdf_child(u, element, "geometry");
    int what = geometry >= 0 ? u->xml->element[geometry].child : -1;
    if (what < 0) {
        return form_fail(u->xml, element, NULL, "a collision needs a geometry");
    }
    if (!urdf_pose(u, element, &pose) || !shape(u, what, &g) || !touch(u, link, element, &g)) {
        return 0;
    }
    g.body = body;
    g.mass = 0;
    g.name = xml_value(u->xml, element, "name");
    if (g.name != NULL &&
        (*g.name == 0 || model_find_thing(u->model->bodies, ZW_THING_GEOM, g.name) >= 0)) {
        g.name = NULL; /* URDF does not ask that these differ */
    }
    memcpy(g.pos, pose.pos, sizeof pose.pos);
    memcpy(g.quat, pose.quat, sizeof pose.quat);
    g.place = xml_place(u->xml, element);
    return urdf_add(u, ZW_THING_GEOM, &g, NULL);
}

int urdf_collisions(urdf *u, int element, int body)
{
    for (int c = u->xml->element[element].child; c >= 0; c = u->xml->element[c].next) {
        if (strcmp(u->xml->element[c].name, "collision") == 0 && !collision(u, element, c, body)) {
            return 0;
        }
    }
    return 1;
}
