/* Is a point in a core? */
#include "collide/inner.h"

static int in_triangle(const double *corner, const double x[3], double slack)
{
    double e[3], f[3], n[3], out[3], at[3];
    v3_sub(e, corner + 3, corner);
    v3_sub(f, corner + 6, corner);
    v3_cross(n, e, f);
    v3_sub(at, x, corner);
    int in = v3_unit(n) > 0 && fabs(v3_dot(n, at)) <= slack;
    for (int k = 0; k < 3 && in; k++) {
        v3_sub(e, corner + 3 * ((k + 1) % 3), corner + 3 * k);
        v3_sub(at, x, corner + 3 * k);
        v3_cross(out, e, n);
        in = v3_unit(out) > 0 && v3_dot(out, at) <= slack;
    }
    return in;
}

int collide_inside(const collide_solid *s, const double p[3], double slack)
{
    double to[3], x[3];
    const double *h = s->size;
    v3_sub(to, p, s->t);
    v3_turn_back(x, s->R, to);
    double across2 = x[0] * x[0] + x[1] * x[1], r = h[0] + slack;
    switch (s->kind) {
    case COLLIDE_CAPSULE:
        return across2 <= slack * slack && fabs(x[2]) <= h[1] + slack;
    case COLLIDE_CYLINDER:
        return across2 <= r * r && fabs(x[2]) <= h[1] + slack;
    case COLLIDE_BOX:
        return fabs(x[0]) <= h[0] + slack && fabs(x[1]) <= h[1] + slack &&
               fabs(x[2]) <= h[2] + slack;
    case COLLIDE_CONE: { /* the side is below 2 half |x_xy| + radius (z - half) = 0 */
        double slant = sqrt(4 * h[1] * h[1] + h[0] * h[0]);
        return x[2] >= -h[1] - slack &&
               2 * h[1] * sqrt(across2) + h[0] * (x[2] - h[1]) <= slack * slant;
    }
    case COLLIDE_TRIANGLE:
        return in_triangle(s->corner, x, slack);
    case COLLIDE_HULL:
        for (int f = 0; f < s->hull->face_count; f++) {
            if (v3_dot(x, &s->hull->plane[4 * f]) > s->hull->plane[4 * f + 3] + slack) {
                return 0;
            }
        }
        return s->hull->face_count > 0;
    default:
        return 0;
    }
}
