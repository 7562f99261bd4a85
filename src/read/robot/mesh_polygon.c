/* Polygons of mesh files as triangles, divided as by MuJoCo's reader (tinyobjloader): where the
 * corners are not coplanar, the division affects volume and inertia.
 *
 * A quadrilateral is divided along its shorter diagonal. A larger polygon is divided by ear
 * clipping: an ear is three consecutive corners whose orientation has the sign of (first x second),
 * seen along the axis nearest to the normal of the first non-degenerate corner, with no other
 * corner inside. Numbers are floats there, and so they are here: for equal diagonals rounding
 * decides. If no ear is found, the rest of the polygon is left out. */
#include <math.h>

#include "read/robot/mjcf.h"

static float at(const read_mesh *mesh, int vertex, int axis)
{
    return (float)mesh->vertex[vertex][axis];
}

static float square_apart(const read_mesh *mesh, int a, int b)
{
    float x = at(mesh, b, 0) - at(mesh, a, 0), y = at(mesh, b, 1) - at(mesh, a, 1),
          z = at(mesh, b, 2) - at(mesh, a, 2);
    return x * x + y * y + z * z;
}

static int quadrilateral(read_mesh *mesh, const int *c)
{
    if (square_apart(mesh, c[0], c[2]) < square_apart(mesh, c[1], c[3])) {
        return read_mesh_add_face(mesh, c[0], c[1], c[2]) > 0
                   ? read_mesh_add_face(mesh, c[0], c[2], c[3])
                   : -1;
    }
    return read_mesh_add_face(mesh, c[0], c[1], c[3]) > 0
               ? read_mesh_add_face(mesh, c[1], c[2], c[3])
               : -1;
}

/* The two coordinates onto which the polygon is projected. */
static void look_along(const read_mesh *mesh, const int *c, int count, int axes[2])
{
    axes[0] = 1;
    axes[1] = 2;
    for (int k = 0; k < count; k++) {
        float e[2][3];
        for (int i = 0; i < 3; i++) {
            e[0][i] = at(mesh, c[(k + 1) % count], i) - at(mesh, c[k], i);
            e[1][i] = at(mesh, c[(k + 2) % count], i) - at(mesh, c[(k + 1) % count], i);
        }
        float x = fabsf(e[0][1] * e[1][2] - e[0][2] * e[1][1]);
        float y = fabsf(e[0][2] * e[1][0] - e[0][0] * e[1][2]);
        float z = fabsf(e[0][0] * e[1][1] - e[0][1] * e[1][0]);
        float little = 1.1920929e-7f; /* epsilon of floats */
        if (x > little || y > little || z > little) {
            axes[0] = x > y && x > z ? 1 : 0;
            axes[1] = axes[0] == 0 && z > x && z > y ? 1 : 2;
            return;
        }
    }
}

static int is_inside(const float x[3], const float y[3], float px, float py)
{
    int inside = 0;
    for (int i = 0, j = 2; i < 3; j = i++) {
        if ((y[i] > py) != (y[j] > py) && px < (x[j] - x[i]) * (py - y[i]) / (y[j] - y[i]) + x[i]) {
            inside = !inside;
        }
    }
    return inside;
}

/* Are the corners first, first + 1, first + 2 an ear? */
static int is_ear(const read_mesh *mesh, const int *c, int count, int first, const int axes[2])
{
    float x[3], y[3];
    for (int k = 0; k < 3; k++) {
        x[k] = at(mesh, c[(first + k) % count], axes[0]);
        y[k] = at(mesh, c[(first + k) % count], axes[1]);
    }
    float turn = (x[1] - x[0]) * (y[2] - y[1]) - (y[1] - y[0]) * (x[2] - x[1]);
    float area = (x[0] * y[1] - y[0] * x[1]) * 0.5f;
    int ear = !(turn * area < 0);
    for (int k = 3; k < count && ear; k++) {
        int other = c[(first + k) % count];
        ear = !is_inside(x, y, at(mesh, other, axes[0]), at(mesh, other, axes[1]));
    }
    return ear;
}

int read_mesh_polygon(read_mesh *mesh, int *c, int count)
{
    int axes[2], first = 0, tries = count, ok = 1;
    if (count == 4) {
        return quadrilateral(mesh, c);
    }
    look_along(mesh, c, count, axes);
    while (count > 3 && tries-- > 0 && ok > 0) {
        first = first >= count ? first - count : first;
        if (!is_ear(mesh, c, count, first, axes)) {
            first++;
            continue;
        }
        ok = read_mesh_add_face(mesh, c[first], c[(first + 1) % count], c[(first + 2) % count]);
        count--;
        for (int k = (first + 1) % (count + 1); k < count; k++) {
            c[k] = c[k + 1];
        }
        tries = count + 1; /* one more than the number of corners */
    }
    return count == 3 && ok > 0 ? read_mesh_add_face(mesh, c[0], c[1], c[2]) : ok;
}
