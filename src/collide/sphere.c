/* A sphere with every convex shape that is not round itself (round.c): the signed distance of its
 * centre from the other's surface.
 *
 * In the other shape's frame let c be the centre, q the nearest point of the surface and m the unit
 * normal there: c = q + d m. Outside, d is the distance; inside, d < 0, and -d is the depth. The
 * distance of the surfaces is d - r in both cases: the ball of radius |d| around c touches the
 * surface at q and nowhere crosses it. */
#include "collide/inner.h"

static double box_distance(const double c[3], const double h[3], double m[3])
{
    int inside = 1, near = 0;
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        m[i] = c[i] > h[i] ? c[i] - h[i] : c[i] < -h[i] ? c[i] + h[i] : 0;
        inside = inside && m[i] == 0;
        if (h[i] - fabs(c[i]) < least) {
            least = h[i] - fabs(c[i]);
            near = i;
        }
    }
    if (!inside) {
        return v3_unit(m);
    }
    m[near] = c[near] < 0 ? -1 : 1;
    return -least;
}

/* From (across, z) in the half plane through the axis back to space. */
static void around_axis(const double c[3], double across, double m_across, double m_z, double m[3])
{
    double x = across > 0 ? c[0] / across : 1, y = across > 0 ? c[1] / across : 0;
    v3_set(m, m_across * x, m_across * y, m_z);
}

static double cylinder_distance(const double c[3], const double h[3], double m[3])
{
    double across = sqrt(c[0] * c[0] + c[1] * c[1]);
    double out = across - h[0], up = fabs(c[2]) - h[1], side = c[2] < 0 ? -1 : 1;
    if (out <= 0 && up <= 0) {
        around_axis(c, across, out > up ? 1 : 0, out > up ? 0 : side, m);
        return out > up ? out : up;
    }
    out = out > 0 ? out : 0;
    up = up > 0 ? up : 0;
    double d = sqrt(out * out + up * up);
    around_axis(c, across, out / d, side * up / d, m);
    return d;
}

/* A triangle in the half plane: apex (0, h), rim (r, -h), and the base below. */
static double cone_distance(const double c[3], const double size[3], double m[3])
{
    double r = size[0], h = size[1], across = sqrt(c[0] * c[0] + c[1] * c[1]);
    double slant = sqrt(4 * h * h + r * r);
    double nx = slant > 0 ? 2 * h / slant : 0, nz = slant > 0 ? r / slant : 1; /* of the side */
    double side = nx * across + nz * (c[2] - h), below = -h - c[2];
    if (side <= 0 && below <= 0) {
        around_axis(c, across, side > below ? nx : 0, side > below ? nz : -1, m);
        return side > below ? side : below;
    }
    /* nearest of the side: apex + s (nz, -nx), 0 <= s <= slant; and of the base: (p, -h) */
    double s = v3_min(v3_max(nz * across - nx * (c[2] - h), 0), slant);
    double p = v3_min(across, r);
    double x1 = across - s * nz, z1 = c[2] - h + s * nx, x2 = across - p, z2 = c[2] + h;
    double d1 = sqrt(x1 * x1 + z1 * z1), d2 = sqrt(x2 * x2 + z2 * z2);
    if (d2 < d1 && below > 0) {
        around_axis(c, across, x2 / d2, z2 / d2, m);
        return d2;
    }
    around_axis(c, across, d1 > 0 ? x1 / d1 : nx, d1 > 0 ? z1 / d1 : nz, m);
    return d1;
}

/* The nearest point of an ellipsoid is x_i = e_i^2 c_i / (e_i^2 + t), since c - x is along the
 * gradient x_i / e_i^2. With s = t + e_min^2 and g_i = e_i^2 - e_min^2 it lies on the surface when
 *     S(s) = sum (e_i c_i / (g_i + s))^2 = 1,    |e_min c_min| <= s <= |(e_i c_i)|.
 * 1/sqrt(S) is nearly linear: Newton's method on it, kept inside the bracket. When S(0) without
 * the shortest axis is below 1 and c_min = 0, the nearest point is off that plane, at s = 0. */
static double ellipsoid_root(const double e[3], const double c[3], const double g[3], double low,
                             double high)
{
    double s = low > 0 ? low : 0.5 * high;
    for (int k = 0; k < 200; k++) {
        double sum = 0, slope = 0;
        for (int i = 0; i < 3; i++) {
            double q = g[i] + s > 0 ? e[i] * c[i] / (g[i] + s) : 0;
            sum += q * q;
            slope += g[i] + s > 0 ? q * q / (g[i] + s) : 0;
        }
        if (sum > 1) {
            low = s;
        } else {
            high = s;
        }
        double next = slope > 0 ? s + (sqrt(sum) - 1) * sum / slope : low;
        next = next > low && next < high ? next : low + 0.5 * (high - low);
        if (next == s || !(fabs(next - s) > 1e-16 * s)) {
            return next;
        }
        s = next;
    }
    return s;
}

static double ellipsoid_distance(const double c[3], const double e[3], double m[3])
{
    int least = e[1] < e[0] ? 1 : 0;
    least = e[2] < e[least] ? 2 : least;
    double g[3], flat = 0, ec[3], x[3];
    for (int i = 0; i < 3; i++) {
        g[i] = (e[i] - e[least]) * (e[i] + e[least]);
        ec[i] = e[i] * c[i];
        double q = g[i] > 0 ? ec[i] / g[i] : 0;
        flat += q * q;
    }
    int others = 0; /* c has a component along an axis equal to the shortest */
    for (int i = 0; i < 3; i++) {
        others |= g[i] <= 0 && ec[i] != 0;
    }
    double s = 0;
    if (others || flat > 1) {
        s = ellipsoid_root(e, c, g, fabs(ec[least]), v3_length(ec));
    }
    double rest = 1;
    for (int i = 0; i < 3; i++) {
        double q = g[i] + s > 0 ? c[i] / (g[i] + s) : 0;
        m[i] = q;
        x[i] = e[i] * e[i] * q;
        rest -= (e[i] * q) * (e[i] * q);
    }
    if (s == 0) { /* off the plane normal to the shortest axis, or a shape without volume */
        x[least] = e[least] * sqrt(v3_max(rest, 0));
        m[least] = e[least] > 0 ? sqrt(v3_max(rest, 0)) / e[least] : c[least] < 0 ? -1 : 1;
    }
    if (!(v3_unit(m) > 0)) {
        v3_set(m, 0, 0, 0);
        m[least] = 1;
    }
    double away[3];
    v3_sub(away, c, x);
    return v3_dot(m, away);
}

/* Inside all faces, the nearest face is the one with the least depth. */
static double hull_depth(const double c[3], const collide_hull *hull, double m[3], int *face)
{
    double most = -INFINITY;
    *face = 0;
    for (int f = 0; f < hull->face_count; f++) {
        double d = v3_dot(c, &hull->plane[4 * f]) - hull->plane[4 * f + 3];
        if (d > most) {
            most = d;
            *face = f;
        }
    }
    if (hull->face_count > 0) {
        v3_copy(m, &hull->plane[4 * *face]);
    }
    return hull->face_count > 0 ? most : INFINITY;
}

void collide_sphere(const collide_solid *a, const collide_solid *b, collide_sink *sink)
{
    double c[3], m[3] = {0, 0, 1}, d, n[3], x[3];
    const double to[3] = {a->t[0] - b->t[0], a->t[1] - b->t[1], a->t[2] - b->t[2]};
    int face = 0;
    v3_turn_back(c, b->R, to);
    switch (b->kind) {
    case COLLIDE_ELLIPSOID:
        d = ellipsoid_distance(c, b->size, m);
        break;
    case COLLIDE_CYLINDER:
        d = cylinder_distance(c, b->size, m);
        break;
    case COLLIDE_BOX:
        d = box_distance(c, b->size, m);
        break;
    case COLLIDE_CONE:
        d = cone_distance(c, b->size, m);
        break;
    default:
        d = hull_depth(c, b->hull, m, &face);
        if (d > 0) {
            if (d <= sink->margin + a->radius || b->hull->face_count == 0) {
                collide_convex(a, b, sink);
            }
            return;
        }
    }
    v3_turn(n, b->R, m);
    v3_add(x, a->t, -0.5 * (d + a->radius), n);
    v3_scale(n, -1);
    collide_emit(sink, x, n, d - a->radius, (uint32_t)face);
}
