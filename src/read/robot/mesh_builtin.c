/* Meshes that MJCF makes from a few numbers: <mesh builtin="..." params="..."/>.
 *
 * All have the size 1 (a scale follows), and the vertices are those of MuJoCo, up to its rounding
 * to floats:
 *
 *   sphere k             an icosahedron whose triangles are cut into four, k times, corners on
 *                        the sphere
 *   hemisphere k         z >= 0 of an octahedron with k + 1 rows of triangles from the pole to the
 *                        equator, on the sphere, with a lid
 *   supersphere n e m    with c(w, p) = sign(cos w) |cos w|^p and s(w, p) likewise of the sine:
 *                        (c(v, m) c(u, e), c(v, m) s(u, e), s(v, m)), n steps of u around the axis
 *                        and of v from pole to pole
 *   supertorus n r p t   ((1 + r c(v, p)) c(u, t), (1 + r c(v, p)) s(u, t), r s(v, p))
 *   cone n r             a polygon of n corners at z = -1, and at z = 1 one of radius r, or a point
 *   wedge n m a b g      points of the sphere around -z: n by m cells over angles of +-a and +-b
 *                        degrees, whose edges are dense in the middle: x -> g x^5 + (1 - g) x
 *   plate n m            a grid of n by m points at z = -1, each in the middle of a cell
 *
 * The cone and the wedge have no faces here: a mesh without faces is the hull of its vertices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "math/elementary.h"
#include "read/robot/mjcf.h"

enum { SPHERE, HEMISPHERE, CONE, SUPERSPHERE, SUPERTORUS, WEDGE, PLATE };

static const struct {
    int params;
    int whole; /* how many of them, at the start, are whole numbers */
    double least[5], most[5];
    const char *words;
} kinds[] = {
    [SPHERE] = {1, 1, {0}, {4}, "how often its triangles are cut (0 to 4)"},
    [HEMISPHERE] = {1, 1, {0}, {10}, "its rows of triangles, less one (0 to 10)"},
    [CONE] = {2, 1, {3, 0}, {1e4, 1e6}, "corners (3 to 10000) and the radius at the top"},
    [SUPERSPHERE] =
        {3, 1, {3, 0, 0}, {1e3, 1e3, 1e3}, "steps (3 to 1000) and two exponents (0 to 1000)"},
    [SUPERTORUS] = {4,
                    1,
                    {3, 1e-9, 1e-9, 1e-9},
                    {1e3, 1, 1e3, 1e3},
                    "steps (3 to 1000), a radius (above 0, to 1) and two exponents above 0"},
    [WEDGE] = {5,
               2,
               {1, 1, 1e-9, 1e-9, 0},
               {1e3, 1e3, 180, 90, 1},
               "two numbers of cells (1 to 1000), two angles (to 180, to 90), and a part (0 to 1)"},
    [PLATE] = {2, 2, {1, 1}, {1e3, 1e3}, "two numbers of points (1 to 1000)"},
};

/* 1: added; 0: no memory. */
static int point(read_mesh *mesh, double x, double y, double z)
{
    return read_mesh_add_vertex(mesh, (double[3]){x, y, z}) >= 0;
}

static int on_sphere(read_mesh *mesh, double x, double y, double z)
{
    double r = sqrt(x * x + y * y + z * z);
    return point(mesh, x / r, y / r, z / r);
}

static int face(read_mesh *mesh, int a, int b, int c)
{
    return read_mesh_add_face(mesh, a, b, c) >= 0;
}

/* Two triangles; a to d in order around the quadrilateral. */
static int quad(read_mesh *mesh, int a, int b, int c, int d)
{
    return face(mesh, a, b, d) && face(mesh, b, c, d);
}

/* ---- Of the sphere --------------------------------------------------------------------------- */

/* The midpoint of the edge from a to b. Each edge belongs to two triangles, which traverse it in
 * opposite directions; next[6 i + k] are the other ends and midpoints of the edges at the lower
 * corner i. */
static int middle_of(read_mesh *mesh, int *next, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    int *own = &next[12 * low];
    int k = 0;
    while (k < 6 && own[2 * k] != 0 && own[2 * k] != high) {
        k++;
    }
    if (own[2 * k] == 0) {
        double x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = (mesh->vertex[a][i] + mesh->vertex[b][i]) / 2;
        }
        own[2 * k] = high;
        own[2 * k + 1] = mesh->vertex_count;
        if (!on_sphere(mesh, x[0], x[1], x[2])) {
            return -1;
        }
    }
    return own[2 * k + 1];
}

static int cut_in_four(read_mesh *mesh)
{
    int count = mesh->face_count;
    int *next = base_alloc(12 * (size_t)mesh->vertex_count * sizeof *next);
    int ok = next != NULL;
    for (int f = 0; ok && f < count; f++) {
        int c[3], m[3];
        memcpy(c, mesh->face[f], sizeof c);
        for (int i = 0; i < 3; i++) {
            m[i] = middle_of(mesh, next, c[i], c[(i + 1) % 3]);
            ok = ok && m[i] >= 0;
        }
        for (int i = 0; ok && i < 3; i++) {
            ok = face(mesh, c[i], m[i], m[(i + 2) % 3]);
        }
        memcpy(mesh->face[f], m, sizeof m);
    }
    base_free(next);
    return ok;
}

/* The corners of an icosahedron are those of three golden rectangles; its triangles are triples of
 * neighbours. */
static int sphere(read_mesh *mesh, int times)
{
    double golden = (1 + sqrt(5.0)) / 2;
    int ok = 1;
    for (int axis = 0; axis < 3; axis++) {
        for (int sign = 0; sign < 4; sign++) {
            double x[3] = {0};
            x[axis] = sign & 1 ? 1 : -1;
            x[(axis + 1) % 3] = sign & 2 ? golden : -golden;
            ok = ok && on_sphere(mesh, x[0], x[1], x[2]);
        }
    }
    double near = 4 / (1 + golden * golden) + 1e-6; /* squared distance of neighbouring corners */
    for (int a = 0; ok && a < 12; a++) {
        for (int b = a + 1; b < 12; b++) {
            for (int c = a + 1; c < 12; c++) {
                const double *p[3] = {mesh->vertex[a], mesh->vertex[b], mesh->vertex[c]};
                double away[3] = {0}, turn = 0;
                for (int i = 0; i < 3; i++) {
                    int j = (i + 1) % 3, k = (i + 2) % 3;
                    for (int e = 0; e < 3; e++) {
                        double d = p[e][i] - p[(e + 1) % 3][i];
                        away[e] += d * d;
                    }
                    turn += p[0][i] * (p[1][j] * p[2][k] - p[1][k] * p[2][j]);
                }
                if (away[0] < near && away[1] < near && away[2] < near && turn > 0) {
                    ok = ok && face(mesh, a, b, c);
                }
            }
        }
    }
    for (int i = 0; ok && i < times; i++) {
        ok = cut_in_four(mesh);
    }
    return ok;
}

/* Row r has 4 r corners (the pole has one), the first of them with number 1 + 2 r (r - 1). */
static int row_corner(int row, int i)
{
    return row == 0 ? 0 : 1 + 2 * row * (row - 1) + i % (4 * row);
}

static int hemisphere(read_mesh *mesh, int rows)
{
    static const double way[5][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 0}};
    int ok = point(mesh, 0, 0, 1);
    for (int r = 1; r <= rows; r++) {
        for (int i = 0; i < 4 * r; i++) {
            const double *from = way[i / r], *to = way[i / r + 1];
            double part = (double)(i % r) / r, out = (double)r / rows;
            ok = ok && on_sphere(mesh, out * (from[0] + part * (to[0] - from[0])),
                                 out * (from[1] + part * (to[1] - from[1])), 1 - out);
        }
    }
    for (int r = 0; r < rows; r++) {
        for (int side = 0; side < 4; side++) {
            for (int i = 0; i <= r; i++) {
                int in = row_corner(r, side * r + i), out = side * (r + 1) + i;
                ok = ok && face(mesh, in, row_corner(r + 1, out), row_corner(r + 1, out + 1));
                ok = ok && (i == r || face(mesh, in, row_corner(r + 1, out + 1),
                                           row_corner(r, side * r + i + 1)));
            }
        }
    }
    ok = ok && point(mesh, 0, 0, 0);
    for (int i = 0; i < 4 * rows; i++) {
        ok = ok && face(mesh, row_corner(rows, i), mesh->vertex_count - 1, row_corner(rows, i + 1));
    }
    return ok;
}

/* ---- Surfaces of two angles ------------------------------------------------------------------ */

static double power(double x, double p)
{
    return copysign(math_pow(fabs(x), p), x);
}

static const double pi = 3.14159265358979323846;

static int supersphere(read_mesh *mesh, const double *p)
{
    int n = (int)p[0], last = 1 + (n - 2) * n;
    int ok = point(mesh, 0, 0, -1);
    for (int i = 1; i < n; i++) {
        double v = -pi / 2 + i * pi / n, out = power(math_cos(v), p[2]);
        for (int j = 0; j < n; j++) {
            double u = -pi + j * 2 * pi / n;
            ok = ok && point(mesh, out * power(math_cos(u), p[1]), out * power(math_sin(u), p[1]),
                             power(math_sin(v), p[2]));
        }
    }
    ok = ok && point(mesh, 0, 0, 1);
    for (int j = 0; j < n; j++) {
        int k = (j + 1) % n;
        ok = ok && face(mesh, 0, 1 + k, 1 + j) && face(mesh, last + j, last + k, last + n);
        for (int row = 1; row < last; row += n) {
            ok = ok && quad(mesh, row + j, row + k, row + n + k, row + n + j);
        }
    }
    return ok;
}

static int supertorus(read_mesh *mesh, const double *p)
{
    int n = (int)p[0], ok = 1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double u = 2 * pi * i / n, v = 2 * pi * j / n;
            double out = 1 + p[1] * power(math_cos(v), p[2]);
            ok = ok && point(mesh, out * power(math_cos(u), p[3]), out * power(math_sin(u), p[3]),
                             p[1] * power(math_sin(v), p[2]));
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int i2 = (i + 1) % n, j2 = (j + 1) % n;
            ok = ok && quad(mesh, i * n + j, i2 * n + j, i2 * n + j2, i * n + j2);
        }
    }
    return ok;
}

static int cone(read_mesh *mesh, const double *p)
{
    int n = (int)p[0], ok = 1;
    for (int i = 0; i < n; i++) {
        ok = ok && point(mesh, math_cos(2 * i * pi / n), math_sin(2 * i * pi / n), -1);
    }
    for (int i = 0; p[1] > 0 && i < n; i++) {
        ok = ok && point(mesh, p[1] * math_cos(2 * i * pi / n), p[1] * math_sin(2 * i * pi / n), 1);
    }
    return ok && (p[1] > 0 || point(mesh, 0, 0, 1));
}

/* The centre of cell i of n, in radians. */
static double cell_middle(int i, int n, double degrees, double dense)
{
    double x[2];
    for (int k = 0; k < 2; k++) {
        double e = -1 + 2.0 * (i + k) / n;
        x[k] = dense * math_pow(e, 5) + (1 - dense) * e;
    }
    return (x[0] + x[1]) / 2 * degrees * pi / 180;
}

static int wedge(read_mesh *mesh, const double *p)
{
    int n = (int)p[0], m = (int)p[1], ok = 1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            double a = cell_middle(i, n, p[2], p[4]), e = cell_middle(j, m, p[3], p[4]);
            ok = ok &&
                 point(mesh, math_cos(e) * math_sin(a), math_sin(e), -math_cos(e) * math_cos(a));
        }
    }
    return ok;
}

static int plate(read_mesh *mesh, const double *p)
{
    int n = (int)p[0], m = (int)p[1], ok = 1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            ok = ok && point(mesh, -1 + (2 * i + 1.0) / n, -1 + (2 * j + 1.0) / m, -1);
        }
    }
    for (int i = 0; i + 1 < n; i++) {
        for (int j = 0; j + 1 < m; j++) {
            ok = ok && quad(mesh, i * m + j, (i + 1) * m + j, (i + 1) * m + j + 1, i * m + j + 1);
        }
    }
    return ok;
}

int read_mesh_builtin(read_mesh *mesh, int kind, const double *p, int count, char why[200])
{
    int ok = count == kinds[kind].params;
    for (int i = 0; ok && i < count; i++) {
        ok = p[i] >= kinds[kind].least[i] && p[i] <= kinds[kind].most[i] &&
             (i >= kinds[kind].whole || p[i] == floor(p[i]));
    }
    if (!ok) {
        snprintf(why, 200, "wanted: %s", kinds[kind].words);
        return 0;
    }
    ok = kind == SPHERE        ? sphere(mesh, (int)p[0])
         : kind == HEMISPHERE  ? hemisphere(mesh, (int)p[0] + 1)
         : kind == CONE        ? cone(mesh, p)
         : kind == SUPERSPHERE ? supersphere(mesh, p)
         : kind == SUPERTORUS  ? supertorus(mesh, p)
         : kind == WEDGE       ? wedge(mesh, p)
                               : plate(mesh, p);
    return ok ? 1 : -1;
}
