/* Meshes in files: STL, binary or text, the vertices and faces of OBJ, COLLADA
 * (mesh_dae.c) and MuJoCo's MSH. Equal corners of STL triangles become one vertex. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/file/file.h"
#include "read/robot/mjcf.h"

enum { MOST_FACES = 4000000 };

typedef struct int_list {
    int count, capacity, *item;
} int_list;

void read_mesh_free(read_mesh *mesh)
{
    base_free(mesh->vertex);
    base_free(mesh->face);
}

int read_mesh_add_vertex(read_mesh *mesh, const double x[3])
{
    if (!base_list_reserve(&mesh->vertex, &mesh->vertex_capacity, mesh->vertex_count,
                           sizeof *mesh->vertex)) {
        return -1;
    }
    memcpy(mesh->vertex[mesh->vertex_count], x, sizeof *mesh->vertex);
    return mesh->vertex_count++;
}

int read_mesh_add_face(read_mesh *mesh, int a, int b, int c)
{
    if (!base_list_reserve(&mesh->face, &mesh->face_capacity, mesh->face_count,
                           sizeof *mesh->face)) {
        return -1;
    }
    int *face = mesh->face[mesh->face_count++];
    face[0] = a;
    face[1] = b;
    face[2] = c;
    return 1;
}

/* ---- STL ------------------------------------------------------------------------------------ */

/* Vertices by their coordinates: equal ones are found by a hash. */
typedef struct corner_table {
    int *slot; /* vertex + 1 */
    uint64_t mask;
} corner_table;

static int corner(read_mesh *mesh, corner_table *table, double x[3])
{
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < 3; i++) {
        x[i] += 0.0; /* -0 becomes 0 */
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
        hash ^= hash >> 31;
    }
    for (uint64_t at = hash & table->mask;; at = (at + 1) & table->mask) {
        if (table->slot[at] == 0) {
            int vertex = read_mesh_add_vertex(mesh, x);
            table->slot[at] = vertex + 1;
            return vertex;
        }
        if (memcmp(mesh->vertex[table->slot[at] - 1], x, sizeof *mesh->vertex) == 0) {
            return table->slot[at] - 1;
        }
    }
}

static int table_make(corner_table *table, size_t faces)
{
    size_t size = 64;
    while (size < 6 * faces) {
        size *= 2;
    }
    table->mask = size - 1;
    table->slot = base_alloc(size * sizeof *table->slot);
    return table->slot != NULL;
}

static int add_triangle(read_mesh *mesh, corner_table *table, double x[3][3])
{
    int v[3];
    for (int k = 0; k < 3; k++) {
        v[k] = corner(mesh, table, x[k]);
        if (v[k] < 0) {
            return -1;
        }
    }
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) {
        return 1; /* degenerate */
    }
    return read_mesh_add_face(mesh, v[0], v[1], v[2]);
}

static uint32_t little(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* An 80-byte header, the number of triangles, and 50 bytes for each: normal, corners, 2 more. */
static int stl_binary(read_mesh *mesh, const char *bytes, size_t length, char why[200])
{
    uint32_t count = length >= 84 ? little(bytes + 80) : 0;
    if (length < 84 || (length - 84) / 50 < count || count > MOST_FACES) {
        snprintf(why, 200, "the STL file is too short for its %u triangles", count);
        return 0;
    }
    corner_table table = {0};
    int ok = table_make(&table, count) ? 1 : -1;
    for (uint32_t t = 0; ok > 0 && t < count; t++) {
        const char *at = bytes + 84 + 50 * (size_t)t + 12;
        double x[3][3];
        for (int i = 0; i < 9; i++) {
            uint32_t bits = little(at + 4 * i);
            float single;
            memcpy(&single, &bits, sizeof single);
            x[i / 3][i % 3] = (double)single;
            if (!isfinite(single)) {
                snprintf(why, 200, "triangle %u has a corner that is not finite", t);
                ok = 0;
            }
        }
        ok = ok > 0 ? add_triangle(mesh, &table, x) : ok;
    }
    base_free(table.slot);
    return ok;
}

/* The next word of a text; its length, 0: the end. */
static size_t next_word(const char **at, const char *end)
{
    while (*at < end && (unsigned char)**at <= ' ') {
        (*at)++;
    }
    size_t length = 0;
    while (*at + length < end && (unsigned char)(*at)[length] > ' ') {
        length++;
    }
    return length;
}

/* `count` finite numbers; 0: there are none. */
static int next_numbers(const char **at, const char *end, double *x, int count)
{
    for (int i = 0; i < count; i++) {
        size_t length = next_word(at, end);
        if (length == 0 || !read_decimal(*at, length, &x[i]) || !isfinite(x[i])) {
            return 0;
        }
        *at += length;
    }
    return 1;
}

static int stl_text(read_mesh *mesh, const char *bytes, size_t length, char why[200])
{
    const char *end = bytes + length;
    corner_table table = {0};
    double x[3][3];
    int corners = 0, ok = table_make(&table, length / 80 + 16) ? 1 : -1;
    for (const char *at = bytes; ok > 0;) {
        size_t word = next_word(&at, end);
        if (word == 0) {
            break;
        }
        int is_vertex = word == 6 && memcmp(at, "vertex", 6) == 0;
        at += word;
        if (is_vertex && !next_numbers(&at, end, x[corners % 3], 3)) {
            snprintf(why, 200, "vertex %d of the STL file does not have three finite numbers",
                     corners);
            ok = 0;
        } else if (is_vertex && ++corners % 3 == 0) {
            ok = (uint64_t)corners * 2 < table.mask ? add_triangle(mesh, &table, x) : 0;
            if (ok == 0) {
                snprintf(why, 200, "this is not an STL file");
            }
        }
    }
    base_free(table.slot);
    return ok;
}

static int stl(read_mesh *mesh, const char *bytes, size_t length, char why[200])
{
    /* Text files begin with "solid", but so do some binary files: those have the length that their
     * header gives. */
    int fits = length >= 84 && (length - 84) / 50 >= little(bytes + 80) &&
               length == 84 + 50 * (size_t)little(bytes + 80);
    int is_text = length >= 5 && memcmp(bytes, "solid", 5) == 0 && !fits;
    return is_text ? stl_text(mesh, bytes, length, why) : stl_binary(mesh, bytes, length, why);
}

/* ---- OBJ ------------------------------------------------------------------------------------ */

/* "7", "7/1", "7//2", "-1": the vertex before the slash. */
static int obj_corner(const read_mesh *mesh, const char *word, size_t length, int *vertex)
{
    size_t digits = 0;
    double value;
    while (digits < length && word[digits] != '/') {
        digits++;
    }
    if (!read_decimal(word, digits, &value) || value != floor(value) || fabs(value) > 2e9) {
        return 0;
    }
    int number = (int)value;
    *vertex = number > 0 ? number - 1 : mesh->vertex_count + number;
    return *vertex >= 0 && *vertex < mesh->vertex_count;
}

static int obj_corners(read_mesh *mesh, const char *at, const char *end, int line, int_list *list,
                       char why[200])
{
    list->count = 0;
    for (size_t length; (length = next_word(&at, end)) > 0; at += length) {
        int vertex;
        if (!obj_corner(mesh, at, length, &vertex)) {
            snprintf(why, 200, "line %d: '%.*s' is not a vertex of the file", line,
                     (int)(length < 40 ? length : 40), at);
            return 0;
        }
        if (!base_list_reserve(&list->item, &list->capacity, list->count, sizeof *list->item)) {
            return -1;
        }
        list->item[list->count++] = vertex;
    }
    if (list->count < 3 || mesh->face_count > MOST_FACES) {
        snprintf(why, 200, "line %d: a face has at least three corners", line);
        return 0;
    }
    return 1;
}

static int obj(read_mesh *mesh, const char *bytes, size_t length, char why[200])
{
    const char *end = bytes + length;
    int line = 1, ok = 1;
    int_list corners = {0};
    for (const char *at = bytes; ok > 0 && at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        const char *word = at;
        size_t size = next_word(&word, stop);
        const char *rest = word + size;
        double x[3];
        if (size == 1 && *word == 'v') {
            ok = next_numbers(&rest, stop, x, 3);
            if (!ok) {
                snprintf(why, 200, "line %d: a vertex has three finite numbers", line);
            } else {
                ok = read_mesh_add_vertex(mesh, x) >= 0 ? 1 : -1;
            }
        } else if (size == 1 && *word == 'f' && !mesh->more) {
            ok = obj_corners(mesh, rest, stop, line, &corners, why);
            ok = ok > 0 ? read_mesh_polygon(mesh, corners.item, corners.count) : ok;
        } else if (size == 1 && (*word == 'o' || *word == 'g') && mesh->face_count > 0) {
            mesh->more = 1; /* as in MuJoCo: only the faces of the first object */
        }
        at = stop + 1;
    }
    base_free(corners.item);
    return ok;
}

/* ---- MSH ------------------------------------------------------------------------------------ */

/* MuJoCo's old format: four 4-byte integers, the numbers of vertices, normals, texture coordinates
 * and faces; the floats of these, 3, 3 and 2 each; then three integers for each face. */
static int msh(read_mesh *mesh, const char *bytes, size_t length, char why[200])
{
    uint64_t count[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4 && length >= 16; i++) {
        count[i] = little(bytes + 4 * i);
    }
    uint64_t numbers = 3 * count[0] + 3 * count[1] + 2 * count[2] + 3 * count[3];
    if (length < 16 || length != 16 + 4 * numbers) {
        snprintf(why, 200, "the length of the MSH file does not match the sizes in it");
        return 0;
    }
    const char *face = bytes + length - 12 * count[3];
    for (uint64_t i = 0; i < count[0]; i++) {
        double x[3];
        for (size_t k = 0; k < 3; k++) {
            uint32_t bits = little(bytes + 16 + 4 * (3 * i + k));
            float single;
            memcpy(&single, &bits, sizeof single);
            x[k] = (double)single;
            if (!isfinite(single)) {
                snprintf(why, 200, "vertex %lu of the MSH file is not finite", (unsigned long)i);
                return 0;
            }
        }
        if (read_mesh_add_vertex(mesh, x) < 0) {
            return -1;
        }
    }
    for (uint64_t i = 0; i < count[3]; i++) {
        uint32_t v[3] = {little(face + 12 * i), little(face + 12 * i + 4),
                         little(face + 12 * i + 8)};
        if (v[0] >= count[0] || v[1] >= count[0] || v[2] >= count[0]) {
            snprintf(why, 200, "face %lu of the MSH file has a vertex that does not exist",
                     (unsigned long)i);
            return 0;
        }
        if (read_mesh_add_face(mesh, (int)v[0], (int)v[1], (int)v[2]) < 0) {
            return -1;
        }
    }
    return 1;
}

static int ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), wanted = strlen(end);
    for (size_t i = 0; i < wanted && length >= wanted; i++) {
        char c = name[length - wanted + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != end[i]) {
            return 0;
        }
    }
    return length >= wanted;
}

int read_mesh_bytes(read_mesh *mesh, const char *name, const char *bytes, size_t length,
                    char why[200])
{
    int ok;
    if (ends_in(name, ".stl")) {
        ok = stl(mesh, bytes, length, why);
    } else if (ends_in(name, ".obj")) {
        ok = obj(mesh, bytes, length, why);
    } else if (ends_in(name, ".msh")) {
        ok = msh(mesh, bytes, length, why);
    } else if (ends_in(name, ".dae")) {
        ok = read_mesh_dae(mesh, bytes, length, why);
    } else {
        snprintf(why, 200, "meshes are read from .stl, .obj, .dae and .msh files");
        return 0;
    }
    if (ok > 0 && mesh->vertex_count < 4) { /* without faces it is the hull of its vertices */
        snprintf(why, 200, "a mesh needs at least 4 vertices, not %d", mesh->vertex_count);
        return 0;
    }
    return ok;
}
