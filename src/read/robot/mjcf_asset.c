/* Meshes of MJCF: from files or vertices, moved and scaled; and primitives fitted to them. */
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/file/file.h"
#include "read/robot/mjcf.h"
#include "read/zw/zw.h"

enum { MJCF_PLATE = 7 }; /* of builtin meshes; has no volume */

const char *mjcf_asset_name(mjcf *m, const char *file)
{
    const char *name = file + read_path_folder(file);
    const char *dot = strrchr(name, '.');
    return xml_keep(&m->xml, name, dot != NULL ? (size_t)(dot - name) : strlen(name));
}

static char *asset_path(mjcf *m, int element, const char *file)
{
    const char *folder = m->compiler.meshdir != NULL ? m->compiler.meshdir : m->compiler.assetdir;
    const char *name = m->compiler.strippath ? file + read_path_folder(file) : file;
    return mjcf_path(m, element, folder, name);
}

char *mjcf_asset_bytes(mjcf *m, int element, const char *file, const char *what, char **path,
                       size_t *length, int *missing)
{
    *path = NULL;
    if (!m->limits.files) {
        form_fail(&m->xml, element, "file", "other files cannot be read here");
        return NULL;
    }
    *path = asset_path(m, element, file);
    if (*path == NULL) {
        return NULL;
    }
    read_file_state state;
    char *bytes = read_file_bytes(m->xml.options, *path, length, &state);
    if (state == READ_FILE_NO_MEMORY) {
        xml_no_memory(&m->xml);
    } else if (state == READ_FILE_MISSING && missing != NULL) {
        *missing = 1;
    } else if (bytes == NULL) {
        int large = state == READ_FILE_TOO_LARGE;
        form_fail(&m->xml, element, "file", "the %s '%.200s' %s%s", what, *path,
                  large ? "has more than " READ_FILE_MOST_TEXT : "cannot be opened",
                  large ? "" : read_similar_file(m->xml.options, *path).text);
    }
    return bytes;
}

const mjcf_lost *mjcf_lost_mesh(const mjcf *m, const char *name)
{
    for (int i = 0; i < m->lost_count; i++) {
        if (strcmp(m->lost[i].name, name) == 0) {
            return &m->lost[i];
        }
    }
    return NULL;
}

/* An error only if a geom needs it for more than display (mjcf_body.c). */
static int lose(mjcf *m, int element, const char *name, const char *path)
{
    const char *kept = xml_keep(&m->xml, path, strlen(path));
    if (kept == NULL ||
        !base_list_reserve(&m->lost, &m->lost_capacity, m->lost_count, sizeof *m->lost)) {
        return xml_no_memory(&m->xml);
    }
    m->lost[m->lost_count++] = (mjcf_lost){.name = name, .path = kept, .element = element};
    return mjcf_note(m, element, "file (not found; for display only)");
}

/* Returns 2 if the file is missing. */
static int mesh_from_file(mjcf *m, int element, const mjcf_mesh *x, read_mesh *mesh)
{
    char *path, why[200] = "";
    size_t length;
    int missing = 0;
    char *bytes = mjcf_asset_bytes(m, element, x->file, "mesh", &path, &length, &missing);
    int ok = bytes != NULL ? read_mesh_bytes(mesh, path, bytes, length, why) : 0;
    if (missing) {
        ok = lose(m, element, x->name, path) ? 2 : 0;
        base_free(path);
        return ok;
    }
    if (ok < 0) {
        xml_no_memory(&m->xml);
    } else if (ok == 0 && bytes != NULL) {
        form_fail(&m->xml, element, "file", "'%.200s': %s", path, why);
    }
    base_free(bytes);
    base_free(path);
    return ok > 0 && (!mesh->more || mjcf_note(m, element, "file (objects after its first one)"));
}

static int mesh_from_numbers(mjcf *m, int element, const mjcf_mesh *x, read_mesh *mesh)
{
    double *number = NULL;
    int count = 0;
    char why[200] = "";
    if (x->params == 0) {
        return form_fail(&m->xml, element, NULL, "a builtin mesh needs params");
    }
    if (!mjcf_list(m, element, x->params, &number, &count)) {
        return 0;
    }
    int ok = read_mesh_builtin(mesh, x->builtin - 1, number, count, why);
    base_free(number);
    return ok < 0    ? xml_no_memory(&m->xml)
           : ok == 0 ? form_fail(&m->xml, element, "params", "%s", why)
                     : 1;
}

static int mesh_from_text(mjcf *m, int element, const mjcf_mesh *x, zw_mesh_def *def,
                          double **vertex, int **face)
{
    double *corner = NULL;
    int numbers = 0, corners = 0;
    if (!mjcf_list(m, element, x->vertex, vertex, &numbers) ||
        !mjcf_list(m, element, x->face, &corner, &corners)) {
        return 0;
    }
    int ok = 1;
    *face = corners > 0 ? base_alloc((size_t)corners * sizeof **face) : NULL;
    if (numbers % 3 != 0) {
        ok = form_fail(&m->xml, element, "vertex", "vertices have three numbers each; there are %d",
                       numbers);
    } else if (corners % 3 != 0) {
        ok = form_fail(&m->xml, element, "face", "faces have three corners each; there are %d",
                       corners);
    } else if (corners > 0 && *face == NULL) {
        ok = xml_no_memory(&m->xml);
    }
    for (int i = 0; ok && i < corners; i++) {
        if (!(corner[i] >= 0 && corner[i] < numbers / 3) || corner[i] != floor(corner[i])) {
            ok = form_fail(&m->xml, element, "face", "vertices have the numbers 0 to %d, not %g",
                           numbers / 3 - 1, corner[i]);
        } else {
            (*face)[i] = (int)corner[i];
        }
    }
    base_free(corner);
    def->vertex_count = numbers / 3;
    def->vertex = *vertex;
    def->face_count = corners / 3;
    def->face = *face;
    return ok;
}

/* First the reference frame, then the scale; a reflection reverses the faces. */
static void mesh_move(const mjcf_mesh *x, double *vertex, int vertex_count, int *face,
                      int face_count)
{
    double back[4] = {x->refquat[0], -x->refquat[1], -x->refquat[2], -x->refquat[3]};
    for (int v = 0; v < vertex_count; v++) {
        double *p = &vertex[3 * v];
        for (int i = 0; i < 3; i++) {
            p[i] -= x->refpos[i];
        }
        model_rotate(back, p, p);
        for (int i = 0; i < 3; i++) {
            p[i] *= x->scale[i];
        }
    }
    if (x->scale[0] * x->scale[1] * x->scale[2] < 0) {
        for (int f = 0; f < face_count; f++) {
            int swap = face[3 * f + 1];
            face[3 * f + 1] = face[3 * f + 2];
            face[3 * f + 2] = swap;
        }
    }
}

static int mesh_add(mjcf *m, int element, mjcf_mesh *x, zw_mesh_def *def, double *vertex, int *face)
{
    if (!model_quat_unit(x->refquat)) {
        return form_fail(&m->xml, element, "refquat", "a quaternion cannot be all zeros");
    }
    mesh_move(x, vertex, def->vertex_count, face, def->face_count);
    def->name = x->name;
    def->rule = x->inertia >= 0     ? x->inertia /* the words are in the order of the rules */
                : m->compiler.exact ? ZW_MESH_EXACT
                                    : ZW_MESH_LEGACY;
    def->place = xml_place(&m->xml, element);
    return mjcf_add(m, ZW_KIND_MESH, def, NULL);
}

static int mesh(mjcf *m, int element)
{
    int class_;
    const char *name = xml_value(&m->xml, element, "class");
    if (!mjcf_class_find(m, element, "class", name, 0, &class_)) {
        return 0;
    }
    mjcf_mesh x = m->class_[class_].mesh;
    zw_mesh_def def = zw_mesh_default();
    if (!form_apply(&m->xml, element, mjcf_mesh_rows, &x, &x.given)) {
        return 0;
    }
    if (x.inertia == ZW_MESH_CONVEX && xml_value(&m->xml, element, "maxhullvert") != NULL) {
        return form_fail(&m->xml, element, "maxhullvert",
                         "the inertia is that of the whole hull, not of one with fewer vertices");
    }
    if ((x.file != NULL) + (x.vertex != 0) + (x.builtin > 0) != 1) {
        return form_fail(&m->xml, element,
                         x.builtin > 0    ? "builtin"
                         : x.file != NULL ? "vertex"
                                          : NULL,
                         "a mesh has either a file or vertices, or is builtin");
    }
    if (x.name == NULL && (x.file == NULL || (x.name = mjcf_asset_name(m, x.file)) == NULL)) {
        return x.file != NULL ? 0 : form_fail(&m->xml, element, NULL, "this mesh needs a name");
    }
    if (x.vertex == 0) {
        read_mesh made = {0};
        int ok = x.file != NULL ? mesh_from_file(m, element, &x, &made)
                                : mesh_from_numbers(m, element, &x, &made);
        if (ok != 1) {
            read_mesh_free(&made);
            return ok > 0;
        }
        if (x.builtin == MJCF_PLATE) {
            x.inertia = ZW_MESH_SHELL;
        }
        def.vertex_count = made.vertex_count;
        double *vertex = made.vertex != NULL ? made.vertex[0] : NULL;
        int *face = made.face != NULL ? made.face[0] : NULL; /* a mesh of points has no faces */
        def.vertex = vertex;
        def.face_count = made.face_count;
        def.face = face;
        ok = mesh_add(m, element, &x, &def, vertex, face);
        read_mesh_free(&made);
        return ok;
    }
    double *vertex = NULL;
    int *face = NULL;
    int ok = mesh_from_text(m, element, &x, &def, &vertex, &face) &&
             mesh_add(m, element, &x, &def, vertex, face);
    base_free(vertex);
    base_free(face);
    return ok;
}

/* A colour by its name. With a texture the default colour means little and is not kept. */
static int material(mjcf *m, int element)
{
    mjcf_material x = {.rgba = {1, 1, 1, 1}, .specular = 0.5, .shininess = 0.5};
    if (!form_apply(&m->xml, element, mjcf_material_rows, &x, &x.given)) {
        return 0;
    }
    if (x.texture != NULL && (x.given & form_bit(mjcf_material_rows, "rgba")) == 0) {
        x.rgba[3] = -1;
    }
    if (!base_list_reserve(&m->material, &m->material_capacity, m->material_count,
                           sizeof *m->material)) {
        return xml_no_memory(&m->xml);
    }
    m->material[m->material_count++] = x;
    return 1;
}

void mjcf_colour(const mjcf *m, mjcf_geom *g)
{
    int said = (g->given & form_bit(mjcf_geom_rows, "rgba")) != 0;
    for (int i = 0; i < m->material_count && g->material != NULL; i++) {
        const mjcf_material *x = &m->material[i];
        if (x->name != NULL && strcmp(x->name, g->material) == 0) {
            memcpy(g->def.rgba, said ? g->def.rgba : x->rgba, sizeof x->rgba);
            g->def.shine = x->specular * x->shininess;
            return;
        }
    }
    g->def.rgba[3] =
        said && g->def.rgba[3] < 0 ? 1 : g->def.rgba[3]; /* three numbers were given: opaque */
}

int mjcf_assets(mjcf *m, int section)
{
    for (int c = m->xml.element[section].child; c >= 0; c = m->xml.element[c].next) {
        if ((mjcf_is(m, c, "mesh") && !mesh(m, c)) ||
            (mjcf_is(m, c, "material") && !material(m, c)) ||
            (mjcf_is(m, c, "hfield") && !mjcf_hfield_read(m, c)) ||
            (mjcf_is(m, c, "model") && !mjcf_model(m, c))) {
            return 0;
        }
    }
    return 1;
}

/* The half lengths of the box around the vertices, along the axes of the frame, which moves to the
 * box's centre. */
static void box_around(const zw_mesh_def *mesh, model_pose *frame, double half[3])
{
    double back[4] = {frame->quat[0], -frame->quat[1], -frame->quat[2], -frame->quat[3]};
    double least[3], most[3], centre[3], shift[3];
    for (int v = 0; v < mesh->vertex_count; v++) {
        double apart[3], x[3];
        for (int i = 0; i < 3; i++) {
            apart[i] = mesh->vertex[3 * v + i] - frame->pos[i];
        }
        model_rotate(back, apart, x);
        for (int i = 0; i < 3; i++) {
            least[i] = v == 0 ? x[i] : fmin(least[i], x[i]);
            most[i] = v == 0 ? x[i] : fmax(most[i], x[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        centre[i] = (least[i] + most[i]) / 2;
        half[i] = most[i] - centre[i];
    }
    model_rotate(frame->quat, centre, shift);
    for (int i = 0; i < 3; i++) {
        frame->pos[i] += shift[i];
    }
}

/* Half lengths of a box of uniform density with the mesh's volume moments: I_x = V/3 (h_y^2 +
 * h_z^2) and so on, so h_x^2 = 3 (I_y + I_z - I_x) / (2 V). Radii are means of them. */
static void fit_inertia(const zw_inertia *in, int shape, double size[3])
{
    for (int i = 0; i < 3; i++) {
        double other = in->moment[(i + 1) % 3] + in->moment[(i + 2) % 3];
        size[i] = sqrt(fmax(0, 1.5 * (other - in->moment[i]) / in->mass));
    }
    double mean = (size[0] + size[1]) / 2;
    if (shape == ZW_SHAPE_SPHERE) {
        size[0] = (size[0] + size[1] + size[2]) / 3;
    } else if (shape == ZW_SHAPE_CAPSULE || shape == ZW_SHAPE_CYLINDER) {
        size[0] = mean;
        size[1] = shape == ZW_SHAPE_CAPSULE ? fmax(0, size[2] - mean / 2) : size[2];
    }
}

/* The smallest shape whose box contains that of the mesh (fitaabb). */
static void fit_box(const zw_mesh_def *mesh, int shape, model_pose *frame, double size[3])
{
    box_around(mesh, frame, size);
    double across = fmax(size[0], size[1]);
    if (shape == ZW_SHAPE_SPHERE) {
        size[0] = fmax(across, size[2]);
    } else if (shape == ZW_SHAPE_CAPSULE || shape == ZW_SHAPE_CYLINDER) {
        size[0] = across;
        size[1] = shape == ZW_SHAPE_CAPSULE ? size[2] - across : size[2];
    }
}

/* A primitive in place of the mesh, in the mesh's principal frame. */
int mjcf_fit(mjcf *m, int element, mjcf_geom *g, int mesh)
{
    const zw_mesh_def *def = &m->model->bodies->mesh[mesh];
    zw_inertia in;
    int ok = model_mesh_inertia(def, g->def.shell, &in);
    if (ok <= 0) {
        return ok < 0 ? xml_no_memory(&m->xml)
                      : form_fail(&m->xml, element, "mesh",
                                  "nothing can be fitted to a mesh that encloses no volume");
    }
    if (g->def.shape == ZW_SHAPE_PLANE || g->def.shape > ZW_SHAPE_BOX) {
        return form_fail(&m->xml, element, "mesh", "that shape cannot be fitted to a mesh");
    }
    model_pose frame, own, whole;
    double size[3];
    memcpy(frame.pos, in.com, sizeof frame.pos);
    memcpy(frame.quat, in.quat, sizeof frame.quat);
    if (m->compiler.fitaabb) {
        fit_box(def, g->def.shape, &frame, size);
    } else {
        fit_inertia(&in, g->def.shape, size);
    }
    for (int i = 0; i < 3; i++) {
        g->def.size[i] = size[i] * g->fitscale;
    }
    memcpy(own.pos, g->def.pos, sizeof own.pos);
    memcpy(own.quat, g->def.quat, sizeof own.quat);
    whole = model_pose_chain(&own, &frame);
    memcpy(g->def.pos, whole.pos, sizeof whole.pos);
    memcpy(g->def.quat, whole.quat, sizeof whole.quat);
    return 1;
}
