/* Shapes that are drawn as faces: cylinders, cones, ellipsoids, meshes and height fields; all of
 * one body in one list. To keep reports small there are few faces: a mesh is drawn as the hull of
 * its farthest vertices in a hundred directions, or, if it collides as triangles, as these with the
 * vertices of each small cube merged; a height field has a limited number of cells per side. */
#include "system/bodies/bodies_solid.h"

#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "collide/hull.h"
#include "math/elementary.h"
#include "model/bodies.h"

enum { AROUND = 20, BANDS = 10, WAYS = 100, CELLS = 32, MOST_FACES = 1500 };
#define TURN 6.283185307179586

void bodies_solid_free(bodies_solid *s)
{
    base_free(s->vertex);
    base_free(s->face);
    *s = (bodies_solid){0};
}

/* Adds a point given in the geom's frame; returns its number. */
static int add_vertex(bodies_solid *s, const zw_geom_def *geom, double x, double y, double z)
{
    const double local[3] = {x, y, z};
    double at[3];
    if (s->failed ||
        !base_list_reserve(&s->vertex, &s->vertex_capacity, s->vertex_count, sizeof *s->vertex)) {
        s->failed = 1;
        return 0;
    }
    model_rotate(geom->quat, local, at);
    for (int k = 0; k < 3; k++) {
        s->vertex[s->vertex_count][k] = at[k] + geom->pos[k];
    }
    return s->vertex_count++;
}

static void add_number(bodies_solid *s, int number)
{
    if (s->failed ||
        !base_list_reserve(&s->face, &s->face_capacity, s->face_length, sizeof *s->face)) {
        s->failed = 1;
        return;
    }
    s->face[s->face_length++] = number;
}

static void add_face(bodies_solid *s, int count, const int *corner)
{
    add_number(s, count);
    for (int k = 0; k < count; k++) {
        add_number(s, corner[k]);
    }
    s->face_count++;
}

/* ---- Round ones ------------------------------------------------------------------------------ */

/* A ring of points at height z; returns the number of the first. */
static int ring(bodies_solid *s, const zw_geom_def *geom, double rx, double ry, double z)
{
    int first = s->vertex_count;
    for (int i = 0; i < AROUND; i++) {
        double sine, cosine;
        math_sincos(TURN * i / AROUND, &sine, &cosine);
        add_vertex(s, geom, rx * cosine, ry * sine, z);
    }
    return first;
}

/* Faces between two rings, the upper one second; a ring may be a single point. */
static void band(bodies_solid *s, int low, int low_is_point, int high, int high_is_point)
{
    for (int i = 0; i < AROUND; i++) {
        int j = (i + 1) % AROUND, n = 0, corner[4];
        corner[n++] = low_is_point ? low : low + i;
        if (!low_is_point) {
            corner[n++] = low + j;
        }
        corner[n++] = high_is_point ? high : high + j;
        if (!high_is_point) {
            corner[n++] = high + i;
        }
        add_face(s, n, corner);
    }
}

static void lid(bodies_solid *s, int first, int up)
{
    int corner[AROUND];
    for (int i = 0; i < AROUND; i++) {
        corner[i] = first + (up ? i : AROUND - 1 - i);
    }
    add_face(s, AROUND, corner);
}

static void add_cylinder(bodies_solid *s, const zw_geom_def *g)
{
    int low = ring(s, g, g->size[0], g->size[0], -g->size[1]);
    int high = ring(s, g, g->size[0], g->size[0], g->size[1]);
    band(s, low, 0, high, 0);
    lid(s, low, 0);
    lid(s, high, 1);
}

static void add_cone(bodies_solid *s, const zw_geom_def *g)
{
    int low = ring(s, g, g->size[0], g->size[0], -g->size[1]);
    int apex = add_vertex(s, g, 0, 0, g->size[1]);
    band(s, low, 0, apex, 1);
    lid(s, low, 0);
}

static void add_ellipsoid(bodies_solid *s, const zw_geom_def *g)
{
    int below = add_vertex(s, g, 0, 0, -g->size[2]), is_point = 1;
    for (int k = 1; k < BANDS; k++) {
        double sine, cosine;
        math_sincos(TURN / 2 * k / BANDS, &sine, &cosine);
        int here = ring(s, g, g->size[0] * sine, g->size[1] * sine, -g->size[2] * cosine);
        band(s, below, is_point, here, 0);
        below = here;
        is_point = 0;
    }
    band(s, below, 0, add_vertex(s, g, 0, 0, g->size[2]), 1);
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* The farthest vertices in directions spread evenly by the golden angle; returns their number. */
static int farthest(const zw_mesh_def *mesh, double *out)
{
    int chosen[WAYS], count = 0, stride = 1 + mesh->vertex_count / 4000; /* a sample of many */
    for (int k = 0; k < WAYS; k++) {
        double z = 1 - (2 * k + 1.0) / WAYS, r = sqrt(1 - z * z), sine, cosine, most = -INFINITY;
        int best = 0, known = 0;
        math_sincos(2.399963229728653 * k, &sine, &cosine);
        for (int i = 0; i < mesh->vertex_count; i += stride) {
            const double *v = mesh->vertex + 3 * i;
            double d = r * cosine * v[0] + r * sine * v[1] + z * v[2];
            best = d > most ? i : best;
            most = d > most ? d : most;
        }
        for (int i = 0; i < count; i++) {
            known |= chosen[i] == best;
        }
        if (!known) {
            memcpy(out + 3 * count, mesh->vertex + 3 * best, 3 * sizeof *out);
            chosen[count++] = best;
        }
    }
    return count;
}

static void add_hull(bodies_solid *s, const zw_geom_def *g, const zw_mesh_def *mesh)
{
    double point[3 * WAYS];
    struct collide_hull *hull = collide_hull_new(point, farthest(mesh, point));
    int first = s->vertex_count;
    s->failed |= hull == NULL;
    for (int i = 0; hull && i < hull->vertex_count; i++) {
        const double *v = hull->vertex + 3 * i;
        add_vertex(s, g, v[0], v[1], v[2]);
    }
    for (int f = 0; hull && f < hull->face_count; f++) {
        int from = hull->face_start[f], count = hull->face_start[f + 1] - from;
        add_number(s, count);
        for (int k = 0; k < count; k++) {
            add_number(s, first + hull->ring[from + k]);
        }
        s->face_count++;
    }
    collide_hull_free(hull);
}

/* The index of the cube that contains a vertex, with `cubes` per side. */
static int cube_of(const double *v, const double low[3], double side, int cubes)
{
    int at = 0;
    for (int k = 0; k < 3; k++) {
        double x = side > 0 ? (v[k] - low[k]) / side : 0;
        at = at * cubes + (x < cubes - 1 ? (int)x : cubes - 1);
    }
    return at;
}

/* The number of triangles that remain if the vertices of each cube are merged; cube[] of the
 * vertices. */
static int count_left(const zw_mesh_def *mesh, const double low[3], double way, int cubes,
                      int *cube)
{
    int left = 0;
    for (int i = 0; i < mesh->vertex_count; i++) {
        cube[i] = cube_of(mesh->vertex + 3 * i, low, way / cubes, cubes);
    }
    for (int f = 0; f < mesh->face_count; f++) {
        const int *c = mesh->face + 3 * f;
        left += cube[c[0]] != cube[c[1]] && cube[c[1]] != cube[c[2]] && cube[c[2]] != cube[c[0]];
    }
    return left;
}

static void add_triangles(bodies_solid *s, const zw_geom_def *g, const zw_mesh_def *mesh)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int cubes = 64, *cube = base_alloc((size_t)mesh->vertex_count * sizeof *cube);
    int *number = NULL;
    for (int i = 0; i < 3 * mesh->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->vertex[i]);
        high[i % 3] = fmax(high[i % 3], mesh->vertex[i]);
    }
    double way = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
    for (int i = 0; cube && mesh->face_count <= MOST_FACES && i < mesh->vertex_count; i++) {
        cube[i] = i; /* few vertices are all kept */
    }
    while (cube && mesh->face_count > MOST_FACES &&
           count_left(mesh, low, way, cubes, cube) > MOST_FACES) {
        cubes = cubes * 4 / 5;
    }
    size_t cells = mesh->face_count > MOST_FACES ? (size_t)cubes * (size_t)cubes * (size_t)cubes
                                                 : (size_t)mesh->vertex_count;
    number = cube ? base_alloc(cells * sizeof *number)
                  : NULL; /* [cells] number of the cube's vertex + 1 */
    s->failed |= number == NULL;
    for (int f = 0; number && f < mesh->face_count && !s->failed; f++) {
        int corner[3];
        const int *c = mesh->face + 3 * f;
        if (cube[c[0]] == cube[c[1]] || cube[c[1]] == cube[c[2]] || cube[c[2]] == cube[c[0]]) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            int *known = &number[cube[c[k]]];
            const double *v = mesh->vertex + 3 * c[k];
            *known = *known ? *known : add_vertex(s, g, v[0], v[1], v[2]) + 1;
            corner[k] = *known - 1;
        }
        add_face(s, 3, corner);
    }
    base_free(cube);
    base_free(number);
}

/* ---- Height fields --------------------------------------------------------------------------- */

static void add_field(bodies_solid *s, const zw_geom_def *g, const zw_hfield_def *field)
{
    int nx = field->columns - 1 < CELLS ? field->columns - 1 : CELLS;
    int ny = field->rows - 1 < CELLS ? field->rows - 1 : CELLS;
    int first = s->vertex_count;
    for (int j = 0; j <= ny; j++) {
        for (int i = 0; i <= nx; i++) {
            int column = (int)((long long)i * (field->columns - 1) / nx);
            int row = (int)((long long)j * (field->rows - 1) / ny);
            add_vertex(s, g, field->half[0] * (2.0 * column / (field->columns - 1) - 1),
                       field->half[1] * (2.0 * row / (field->rows - 1) - 1),
                       field->height[row * field->columns + column]);
        }
    }
    for (int j = 0; j < ny; j++) {
        for (int i = 0; i < nx; i++) {
            int o = first + j * (nx + 1) + i;
            const int corner[4] = {o, o + 1, o + nx + 2, o + nx + 1};
            add_face(s, 4, corner);
        }
    }
}

static int add_shape(bodies_solid *s, const struct model_bodies *from, const zw_geom_def *geom)
{
    switch ((zw_shape)geom->shape) {
    case ZW_SHAPE_ELLIPSOID:
        add_ellipsoid(s, geom);
        return 1;
    case ZW_SHAPE_CYLINDER:
        add_cylinder(s, geom);
        return 1;
    case ZW_SHAPE_CONE:
        add_cone(s, geom);
        return 1;
    case ZW_SHAPE_HFIELD:
        add_field(s, geom, &from->hfield[geom->hfield]);
        return 1;
    case ZW_SHAPE_MESH:
        if (geom->triangles) {
            add_triangles(s, geom, &from->mesh[geom->mesh]);
        } else {
            add_hull(s, geom, &from->mesh[geom->mesh]);
        }
        return 1;
    default:
        return 0;
    }
}

int bodies_solid_add(bodies_solid *s, const struct model_bodies *from, const zw_geom_def *geom)
{
    int added = add_shape(s, from, geom);
    s->rgba = added && !s->rgba && geom->rgba[3] >= 0 ? geom->rgba : s->rgba;
    return added;
}
