/* Rays: where p + t d, t >= 0, first meets the surface of a shape.
 *
 * The line is inside a convex shape for one interval of t, its span. Spans are combined from simple
 * ones:
 *
 *     slab       |x_k| <= h along one axis
 *     quadric    a t^2 + 2 b t + c <= 0, for balls, ellipsoids, tubes (radius about z) and cones
 *     box        three slabs            cylinder   tube and slab
 *     capsule    the hull of the spans of its tube between the caps and of its two balls
 *     cone       quadric and slab; of a line that is steeper than the cone only the part on the
 *                side of the apex where the shape is
 *
 * The ray meets the surface where it enters, or, from inside, where it leaves. A plane is hit from
 * its front only, within its half lengths if it has some. Triangles (mesh.c) are hit from both
 * sides. */
#include "collide/ground.h"
#include "collide/inner.h"

static const collide_span nothing = {1, -1};
static const collide_span everything = {-INFINITY, INFINITY};

static collide_span slab(double p, double d, double half)
{
    if (d == 0) {
        return p >= -half && p <= half ? everything : nothing;
    }
    double a = (-half - p) / d, b = (half - p) / d;
    return (collide_span){v3_min(a, b), v3_max(a, b)};
}

static collide_span both(collide_span a, collide_span b)
{
    return (collide_span){v3_max(a.from, b.from), v3_min(a.to, b.to)};
}

/* From the first point of either to the last. */
static collide_span around(collide_span a, collide_span b)
{
    if (!(a.from <= a.to) || !(b.from <= b.to)) {
        return a.from <= a.to ? a : b;
    }
    return (collide_span){v3_min(a.from, b.from), v3_max(a.to, b.to)};
}

/* a t^2 + 2 b t + c <= 0, a >= 0. */
static collide_span quadric(double a, double b, double c)
{
    if (a == 0) {
        return c <= 0 ? everything : nothing; /* then b is 0, too */
    }
    double root = b * b - a * c;
    return root < 0 ? nothing : (collide_span){(-b - sqrt(root)) / a, (-b + sqrt(root)) / a};
}

/* |x / size| <= 1, about a centre on the z axis. */
static collide_span ball(const double p[3], const double d[3], const double size[3], double centre)
{
    double a = 0, b = 0, c = -1;
    for (int k = 0; k < 3; k++) {
        double x = (p[k] - (k == 2 ? centre : 0)) / size[k], y = d[k] / size[k];
        a += y * y;
        b += x * y;
        c += x * x;
    }
    return quadric(a, b, c);
}

static collide_span tube(const double p[3], const double d[3], double radius, double half)
{
    return both(quadric(d[0] * d[0] + d[1] * d[1], p[0] * d[0] + p[1] * d[1],
                        p[0] * p[0] + p[1] * p[1] - radius * radius),
                slab(p[2], d[2], half));
}

/* x^2 + y^2 <= (k (half - z))^2 with k = radius / (2 half). */
static collide_span cone(const double p[3], const double d[3], double radius, double half)
{
    double k2 = radius * radius / (4 * half * half), z = half - p[2];
    double a = d[0] * d[0] + d[1] * d[1] - k2 * d[2] * d[2];
    double b = p[0] * d[0] + p[1] * d[1] + k2 * z * d[2];
    double c = p[0] * p[0] + p[1] * p[1] - k2 * z * z;
    collide_span inside = nothing;
    if (a > 0) {
        inside = quadric(a, b, c);
    } else if (a < 0) { /* outside the two roots; one of the two sides is below the apex */
        double root = b * b - a * c, s = root > 0 ? sqrt(root) : 0;
        inside = d[2] < 0 ? (collide_span){(-b - s) / a, INFINITY}
                          : (collide_span){-INFINITY, (-b + s) / a};
    } else if (b != 0) { /* along the cone's side */
        inside = b > 0 ? (collide_span){-INFINITY, -c / (2 * b)}
                       : (collide_span){-c / (2 * b), INFINITY};
    } else {
        inside = c <= 0 ? everything : nothing;
    }
    return both(inside, slab(p[2], d[2], half));
}

collide_span collide_ray_span(collide_kind kind, const double size[3], const double p[3],
                              const double d[3])
{
    const double r[3] = {size[0], size[0], size[0]};
    switch (kind) {
    case COLLIDE_BOX:
        return both(both(slab(p[0], d[0], size[0]), slab(p[1], d[1], size[1])),
                    slab(p[2], d[2], size[2]));
    case COLLIDE_CYLINDER:
        return tube(p, d, size[0], size[1]);
    case COLLIDE_CAPSULE:
        return around(tube(p, d, size[0], size[1]),
                      around(ball(p, d, r, size[1]), ball(p, d, r, -size[1])));
    case COLLIDE_ELLIPSOID:
        return ball(p, d, size, 0);
    case COLLIDE_CONE:
        return cone(p, d, size[0], size[1]);
    case COLLIDE_SPHERE:
        return ball(p, d, r, 0);
    default:
        return nothing;
    }
}

/* The outward normal at a point of the surface of a convex shape: that of the face it is farthest
 * out of. */
static void normal_at(const collide_shape *shape, const double x[3], double n[3])
{
    const double *h = shape->size;
    double across = sqrt(x[0] * x[0] + x[1] * x[1]), tall, wide;
    v3_copy(n, x);
    switch (shape->kind) {
    case COLLIDE_BOX: {
        int k = fabs(x[1]) - h[1] > fabs(x[0]) - h[0] ? 1 : 0;
        k = fabs(x[2]) - h[2] > fabs(x[k]) - h[k] ? 2 : k;
        v3_set(n, 0, 0, 0);
        n[k] = x[k] < 0 ? -1 : 1;
        break;
    }
    case COLLIDE_CYLINDER:
        v3_set(n, x[0], x[1], 0);
        if (fabs(x[2]) - h[1] > across - h[0]) {
            v3_set(n, 0, 0, x[2] < 0 ? -1 : 1);
        }
        break;
    case COLLIDE_CAPSULE:
        n[2] = x[2] > h[1] ? x[2] - h[1] : x[2] < -h[1] ? x[2] + h[1] : 0;
        break;
    case COLLIDE_ELLIPSOID:
        v3_set(n, x[0] / (h[0] * h[0]), x[1] / (h[1] * h[1]), x[2] / (h[2] * h[2]));
        break;
    case COLLIDE_CONE: /* out of its side: (2 half across + radius (z - half)) / its length */
        tall = -h[1] - x[2];
        wide = (2 * h[1] * across + h[0] * (x[2] - h[1])) / sqrt(4 * h[1] * h[1] + h[0] * h[0]);
        v3_set(n, 2 * h[1] * x[0], 2 * h[1] * x[1], h[0] * across);
        if (tall > wide) {
            v3_set(n, 0, 0, -1);
        }
        break;
    default:
        break;
    }
    v3_unit(n);
}

static double plane(const double half[3], const double p[3], const double d[3])
{
    double t = d[2] < 0 ? -p[2] / d[2] : -1;
    int out = (half[0] > 0 && fabs(p[0] + t * d[0]) > half[0]) ||
              (half[1] > 0 && fabs(p[1] + t * d[1]) > half[1]);
    return t >= 0 && !out ? t : -1;
}

double collide_ray(const collide_shape *shape, const double p[3], const double d[3],
                   double normal[3])
{
    double x[3], t;
    if (shape->kind == COLLIDE_MESH) {
        return collide_mesh_ray(shape->mesh, p, d, normal);
    }
    if (shape->kind == COLLIDE_PLANE) {
        v3_set(normal, 0, 0, 1);
        return plane(shape->size, p, d);
    }
    collide_span span = collide_ray_span(shape->kind, shape->size, p, d);
    t = span.from >= 0 ? span.from : span.to;
    if (!(span.from <= span.to && t >= 0)) {
        return -1;
    }
    v3_add(x, p, t, d);
    normal_at(shape, x, normal);
    return t;
}
