/* Volume, centre and second moments of a triangulated surface.
 *
 * A triangle (d, e, f) and an apex o make a pyramid. With d, e, f measured from o,
 *     volume  V = det(d, e, f) / 6,   centre (d + e + f) / 4,
 *     int x x' = V / 20 (dd' + ee' + ff' + ss'),   s = d + e + f,
 * (the integrals of barycentric coordinates over a simplex: 1/10 and 1/20 of its volume). Signed
 * volumes add up to those of the enclosed body, wherever o is: the exact rule. MuJoCo's usual rule
 * takes |V| instead, with o in the area-weighted centre of the surface for V and the centre of
 * mass, then with o in the centre of mass for V again and for the moments: the same where the
 * surface is seen from o from inside only (convex bodies), and forgiving where a surface is not
 * closed. For a shell of area A: centre (d + e + f) / 3, int x x' = A / 12 (dd' + ee' + ff' + ss').
 */
#include <math.h>

#include "base/memory.h"
#include "collide/hull.h"
#include "model/bodies.h"

typedef struct sums {
    double size;      /* volume or area */
    double first[3];  /* int x */
    double second[6]; /* int x x': xx yy zz xy xz yz */
} sums;

typedef struct surface {
    const double *vertex;
    const int *face;
    int face_count;
    int rule;
} surface;

static double triangle_area(const double d[3], const double e[3], const double f[3])
{
    double u[3], v[3], n[3];
    for (int i = 0; i < 3; i++) {
        u[i] = e[i] - d[i];
        v[i] = f[i] - d[i];
    }
    model_cross(n, u, v);
    return sqrt(model_dot(n, n)) / 2;
}

static double pyramid_volume(const double d[3], const double e[3], const double f[3])
{
    double n[3];
    model_cross(n, e, f);
    return model_dot(d, n) / 6;
}

/* All pyramids with their apex in o; shells: all triangles. Sums are about o. */
static sums surface_sums(const surface *s, int rule, const double o[3])
{
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    sums total = {0};
    for (int t = 0; t < s->face_count; t++) {
        double d[3], e[3], f[3], all[3];
        for (int i = 0; i < 3; i++) {
            d[i] = s->vertex[3 * s->face[3 * t] + i] - o[i];
            e[i] = s->vertex[3 * s->face[3 * t + 1] + i] - o[i];
            f[i] = s->vertex[3 * s->face[3 * t + 2] + i] - o[i];
            all[i] = d[i] + e[i] + f[i];
        }
        double size = rule == ZW_MESH_SHELL ? triangle_area(d, e, f) : pyramid_volume(d, e, f);
        size = rule == ZW_MESH_LEGACY ? fabs(size) : size;
        double one = rule == ZW_MESH_SHELL ? 3 : 4;
        double two = rule == ZW_MESH_SHELL ? 12 : 20;
        total.size += size;
        for (int i = 0; i < 3; i++) {
            total.first[i] += size * all[i] / one;
        }
        for (int k = 0; k < 6; k++) {
            int i = at[k][0], j = at[k][1];
            total.second[k] +=
                size / two * (d[i] * d[j] + e[i] * e[j] + f[i] * f[j] + all[i] * all[j]);
        }
    }
    return total;
}

static int surface_inertia(const surface *s, zw_inertia *out)
{
    double o[3] = {0, 0, 0};
    sums area = surface_sums(s, ZW_MESH_SHELL, o);
    if (!(area.size > 0)) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        o[i] = area.first[i] / area.size;
    }
    sums about = surface_sums(s, s->rule, o);
    if (!(about.size > 1e-14 * area.size * sqrt(area.size)) && s->rule != ZW_MESH_SHELL) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        o[i] += about.first[i] / about.size;
        out->com[i] = o[i];
    }
    about = surface_sums(s, s->rule, o);
    out->mass = about.size;

    /* I = trace(S) - S */
    double trace = about.second[0] + about.second[1] + about.second[2];
    double tensor[6];
    for (int k = 0; k < 6; k++) {
        tensor[k] = (k < 3 ? trace : 0) - about.second[k];
    }
    model_principal(tensor, out->quat, out->moment);
    return about.size > 0 && isfinite(trace);
}

int model_mesh_inertia(const zw_mesh_def *mesh, int shell, zw_inertia *out)
{
    surface s = {mesh->vertex, mesh->face, mesh->face_count, shell ? ZW_MESH_SHELL : mesh->rule};
    int *hull = NULL;
    if (s.face_count == 0 || s.rule == ZW_MESH_CONVEX) {
        s.face_count = collide_hull_triangles(mesh->vertex, mesh->vertex_count, &hull, NULL);
        s.face = hull;
        if (s.face_count < 0) {
            return -1;
        }
    }
    int ok = s.face_count > 0 && surface_inertia(&s, out);
    base_free(hull);
    return ok;
}
