/* Wrapping a string around spheres and cylinders.
 *
 * The shortest path over a sphere lies in the plane of its centre and the two ends; over a
 * cylinder, unrolled, it rises linearly along the path in the plane normal to the axis. So both are
 * the path around a circle of radius r in a plane: from the end x along a tangent to
 *
 *     t = (r^2 x + sign r s P x) / |x|^2,     s = sqrt(|x|^2 - r^2),     P x = (y, -x),
 *
 * along the arc, and off along another tangent. Of the two directions around, the one on the side
 * of a given point is taken, or else the one whose tangent points are closer to each other; a path
 * whose tangents cross is not valid. (MuJoCo 3.14, mju_wrap of engine_util_misc.c: the same
 * choices.)
 *
 * From inside. If the given point lies inside the shape, the string has to pass through the circle,
 * and if the straight path does not, it touches the circle at the point where both parts make the
 * same angle with the radius, which minimises its length. With A = r/|x0|, B = r/|x1|, G the angle
 * between x0 and x1, and z the sine of that angle,
 *
 *     asin(A z) + asin(B z) - 2 asin(z) + G = 0.
 *
 * Velocities. Every formula is differentiated along the motion of the ends: `v` beside `x`. They
 * are needed for the second derivative of a tendon's length, but not for the first: to first order
 * the length does not depend on the position of the tangent points. */
#include "system/tendon/wrap.h"

#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "model/pose.h"

#define PI 3.14159265358979323846

/* A moving point of the plane. */
typedef struct spot {
    double x[2], v[2];
} spot;

static double dot2(const double a[2], const double b[2])
{
    return a[0] * b[0] + a[1] * b[1];
}

/* a x b */
static double cross2(const double a[2], const double b[2])
{
    return a[0] * b[1] - a[1] * b[0];
}

/* The angular velocity of the direction of a spot. */
static double turning(const spot *p)
{
    return cross2(p->x, p->v) / dot2(p->x, p->x);
}

/* ---- Outside --------------------------------------------------------------------------------- */

static spot tangent(const spot *end, double radius, double sign)
{
    double square = dot2(end->x, end->x), s = sqrt(square - radius * radius);
    double outward = dot2(end->x, end->v), s_rate = s > 0 ? outward / s : 0;
    const double P[2] = {end->x[1], -end->x[0]}, P_rate[2] = {end->v[1], -end->v[0]};
    spot t;
    for (int k = 0; k < 2; k++) {
        t.x[k] = (radius * radius * end->x[k] + sign * radius * s * P[k]) / square;
        t.v[k] = (radius * radius * end->v[k] + sign * radius * (s_rate * P[k] + s * P_rate[k]) -
                  2 * outward * t.x[k]) /
                 square;
    }
    return t;
}

/* Do the segments a-b and c-d meet? */
static int meet(const double a[2], const double b[2], const double c[2], const double d[2])
{
    const double ab[2] = {b[0] - a[0], b[1] - a[1]}, cd[2] = {d[0] - c[0], d[1] - c[1]};
    const double ca[2] = {a[0] - c[0], a[1] - c[1]};
    double det = cross2(ab, cd), along = cross2(cd, ca) / det, other = cross2(ab, ca) / det;
    return det != 0 && along >= 0 && along <= 1 && other >= 0 && other <= 1;
}

/* The point of the segment that is nearest to the centre. */
static void nearest(const spot end[2], double at[2])
{
    const double way[2] = {end[1].x[0] - end[0].x[0], end[1].x[1] - end[0].x[1]};
    double square = dot2(way, way), part = square > 0 ? -dot2(way, end[0].x) / square : 0;
    part = fmin(fmax(part, 0), 1);
    for (int k = 0; k < 2; k++) {
        at[k] = end[0].x[k] + part * way[k];
    }
}

/* The rating of a path: by its side, or by the distance of its ends. */
static double suits(const spot way[2], const double *side)
{
    const double sum[2] = {way[0].x[0] + way[1].x[0], way[0].x[1] + way[1].x[1]};
    const double apart[2] = {way[0].x[0] - way[1].x[0], way[0].x[1] - way[1].x[1]};
    double size = sqrt(dot2(sum, sum));
    if (!side) {
        return -dot2(apart, apart);
    }
    return size > 0 ? dot2(sum, side) / size : side[0];
}

/* side: on the circle, or NULL. arc[2]: length and its rate. */
static int wrap_outside(const spot end[2], const double *side, double radius, spot point[2],
                        double arc[2])
{
    double square = radius * radius, at[2], best = 0;
    int chosen = -1;
    nearest(end, at);
    if (dot2(end[0].x, end[0].x) < square || dot2(end[1].x, end[1].x) < square || radius <= 0 ||
        (end[0].x[0] == end[1].x[0] && end[0].x[1] == end[1].x[1]) ||
        (dot2(at, at) > square && (!side || dot2(side, at) >= 0))) {
        return 0;
    }
    for (int i = 0; i < 2; i++) { /* clockwise, then anticlockwise */
        double sign = i == 0 ? 1 : -1;
        spot way[2] = {tangent(&end[0], radius, sign), tangent(&end[1], radius, -sign)};
        double good = suits(way, side);
        if (meet(end[0].x, way[0].x, end[1].x, way[1].x)) {
            continue;
        }
        if (chosen < 0 || good >= best) {
            chosen = i;
            best = good;
            memcpy(point, way, sizeof way);
        }
    }
    if (chosen < 0) {
        return 0;
    }
    double turn = chosen == 0 ? -1 : 1;
    double angle = math_atan2(turn * cross2(point[0].x, point[1].x), dot2(point[0].x, point[1].x));
    arc[0] = radius * (angle < 0 ? angle + 2 * PI : angle);
    arc[1] = radius * turn * (turning(&point[1]) - turning(&point[0]));
    return 1;
}

/* ---- From inside ----------------------------------------------------------------------------- */

/* The parameters of the equation above. */
typedef struct bend {
    double A, B, G;
} bend;

static double slope_of_asin(double A, double z)
{
    return A / sqrt(1 - A * A * z * z);
}

/* As a function of the angle phi = asin(z), in which it is smooth: its value, and its slope, which
 * is negative.
 */
static double bend_value(const bend *b, double phi, double *slope)
{
    double z, cosine;
    math_sincos(phi, &z, &cosine);
    *slope = (slope_of_asin(b->A, z) + slope_of_asin(b->B, z)) * cosine - 2;
    return math_asin(b->A * z) + math_asin(b->B * z) - 2 * phi + b->G;
}

/* To round-off: Newton's method, with bisection where a step would leave the bracket. */
static double bend_root(const bend *b)
{
    enum { MOST = 100 };
    double low = 0, high = 0.5 * PI, phi = high;
    for (int k = 0; k < MOST && high > low; k++) {
        double slope, f = bend_value(b, phi, &slope), next = phi - f / slope;
        if (f > 0) {
            low = phi;
        } else {
            high = phi;
        }
        next = next > low && next < high ? next : 0.5 * (low + high);
        if (fabs(next - phi) <= 1e-16) {
            break;
        }
        phi = next;
    }
    return phi;
}

/* As in MuJoCo: by z, from 1 - 1e-7, until the equation holds to 1e-6. 0: no convergence. */
static int bend_root_coarse(const bend *b, double *phi)
{
    const double enough = 1e-6;
    double z = 1 - 1e-7, f = -1;
    for (int k = 0; k <= 20; k++) {
        f = math_asin(b->A * z) + math_asin(b->B * z) - 2 * math_asin(z) + b->G;
        if (fabs(f) <= enough || f > 0 || f * 0 != 0) {
            break;
        }
        z -= f / (slope_of_asin(b->A, z) + slope_of_asin(b->B, z) - 2 * slope_of_asin(1, z));
    }
    *phi = math_asin(z);
    return fabs(f) <= enough;
}

/* The direction halfway between the ends, for ends in one direction. */
static spot between(const spot end[2], double radius)
{
    spot p;
    double mean[2], rate[2];
    for (int k = 0; k < 2; k++) {
        mean[k] = 0.5 * (end[0].x[k] + end[1].x[k]);
        rate[k] = 0.5 * (end[0].v[k] + end[1].v[k]);
    }
    double size = sqrt(dot2(mean, mean)), along = dot2(mean, rate) / (size * size);
    for (int k = 0; k < 2; k++) {
        p.x[k] = radius * mean[k] / size;
        p.v[k] = radius * (rate[k] - along * mean[k]) / size;
    }
    return p;
}

/* The point of the circle at `angle` from the direction of `from`. */
static spot turned(const spot *from, double radius, double angle, double rate)
{
    double size = sqrt(dot2(from->x, from->x)), sine, cosine;
    const double e[2] = {from->x[0] / size, from->x[1] / size};
    math_sincos(angle, &sine, &cosine);
    spot p = {
        .x = {radius * (cosine * e[0] - sine * e[1]), radius * (sine * e[0] + cosine * e[1])}};
    double turn = turning(from) + rate;
    p.v[0] = -turn * p.x[1];
    p.v[1] = turn * p.x[0];
    return p;
}

static int wrap_inside(const spot end[2], double radius, int coarse, spot *point)
{
    double size[2], shrink[2], at[2], phi = 0;
    for (int k = 0; k < 2; k++) {
        size[k] = sqrt(dot2(end[k].x, end[k].x));
        shrink[k] = -dot2(end[k].x, end[k].v) / (size[k] * size[k]);
    }
    nearest(end, at);
    if (size[0] <= radius || size[1] <= radius || radius <= 0 || dot2(at, at) <= radius * radius) {
        return 0;
    }
    double across = cross2(end[0].x, end[1].x);
    bend b = {.A = radius / size[0],
              .B = radius / size[1],
              .G = math_atan2(fabs(across), dot2(end[0].x, end[1].x))};
    if (coarse && !bend_root_coarse(&b, &phi)) {
        *point = between(end, radius);
        return 1;
    }
    if (!coarse) {
        phi = bend_root(&b);
    }
    /* from the end that the other one is on the left of */
    int first = across > 0 ? 0 : 1;
    double own = first == 0 ? b.A : b.B, slope, z, cosine;
    bend_value(&b, phi, &slope);
    math_sincos(phi, &z, &cosine);
    double by_A = slope_of_asin(b.A, z) * z * shrink[0],
           by_B = slope_of_asin(b.B, z) * z * shrink[1];
    double G_rate = turning(&end[1 - first]) - turning(&end[first]);
    double phi_rate = -(by_A + by_B + G_rate) / slope;
    *point = turned(&end[first], radius, phi - math_asin(own * z),
                    (1 - slope_of_asin(own, z) * cosine) * phi_rate - (first == 0 ? by_A : by_B));
    return 1;
}

/* ---- In space -------------------------------------------------------------------------------- */

/* Two directions that span the plane, and their rates. */
typedef struct plane {
    double axis[2][3], rate[2][3];
} plane;

/* The unit vector along w, and its rate, for the rate w_rate of w. */
static double direct(const double w[3], const double w_rate[3], double e[3], double e_rate[3])
{
    double size = sqrt(model_dot(w, w)), along = model_dot(w, w_rate) / (size * size);
    for (int k = 0; k < 3; k++) {
        e[k] = w[k] / size;
        e_rate[k] = (w_rate[k] - along * w[k]) / size;
    }
    return size;
}

/* Some direction perpendicular to e, as ends collinear with the centre lie in many planes. */
static void any_across(const double e[3], double normal[3])
{
    int largest = fabs(e[1]) > fabs(e[0]) ? 1 : 0;
    double other[3] = {1, 1, 1};
    largest = fabs(e[2]) > fabs(e[largest]) ? 2 : largest;
    other[largest] = 0;
    model_cross(normal, e, other);
    model_unit(normal);
}

/* The plane of the centre and both ends; the first axis points to the first end. */
static plane plane_through(double x[2][3], double v[2][3])
{
    plane p;
    double across[3], rate[3], part[3], normal[3], normal_rate[3];
    double size = direct(x[0], v[0], p.axis[0], p.rate[0]) * sqrt(model_dot(x[1], x[1]));
    model_cross(across, x[0], x[1]);
    model_cross(rate, v[0], x[1]);
    model_cross(part, x[0], v[1]);
    for (int k = 0; k < 3; k++) {
        rate[k] += part[k];
    }
    if (sqrt(model_dot(across, across)) > 1e-15 * size) { /* more than round-off */
        direct(across, rate, normal, normal_rate);
    } else {
        any_across(p.axis[0], normal);
        memset(normal_rate, 0, sizeof normal_rate);
    }
    model_cross(p.axis[1], normal, p.axis[0]);
    model_cross(p.rate[1], normal_rate, p.axis[0]);
    model_cross(part, normal, p.rate[0]);
    for (int k = 0; k < 3; k++) {
        p.rate[1][k] += part[k];
    }
    return p;
}

static spot project(const plane *p, const double x[3], const double v[3])
{
    spot s;
    for (int i = 0; i < 2; i++) {
        s.x[i] = model_dot(p->axis[i], x);
        s.v[i] = model_dot(p->axis[i], v) + model_dot(p->rate[i], x);
    }
    return s;
}

static void lift(const plane *p, const spot *s, double x[3], double v[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] = p->axis[0][k] * s->x[0] + p->axis[1][k] * s->x[1];
        v[k] = p->axis[0][k] * s->v[0] + p->axis[1][k] * s->v[1] + p->rate[0][k] * s->x[0] +
               p->rate[1][k] * s->x[1];
    }
}

/* |a - b| of two spots, and its rate. */
static void distance(const spot *a, const spot *b, double d[2])
{
    const double u[2] = {a->x[0] - b->x[0], a->x[1] - b->x[1]};
    const double w[2] = {a->v[0] - b->v[0], a->v[1] - b->v[1]};
    d[0] = sqrt(dot2(u, u));
    d[1] = d[0] > 0 ? dot2(u, w) / d[0] : 0;
}

/* Along a cylinder the height is linear in the path length in the plane. */
static void rise(double x[2][3], double v[2][3], const spot end[2], const spot point[2],
                 const double arc[2], wrap_answer *answer)
{
    double first[2], last[2];
    distance(&end[0], &point[0], first);
    distance(&end[1], &point[1], last);
    double way = first[0] + arc[0] + last[0], way_rate = first[1] + arc[1] + last[1];
    double high = x[1][2] - x[0][2], high_rate = v[1][2] - v[0][2];
    for (int i = 0; i < 2; i++) {
        double to = first[0] + i * arc[0], to_rate = first[1] + i * arc[1];
        double part = to / way;
        answer->point[i][2] = x[0][2] + high * part;
        answer->speed[i][2] = v[0][2] + high_rate * part + high * (to_rate - part * way_rate) / way;
    }
    double up = answer->point[1][2] - answer->point[0][2];
    answer->arc = sqrt(arc[0] * arc[0] + up * up);
}

int wrap_around(const wrap_shape *shape, double x[2][3], double v[2][3], wrap_answer *answer)
{
    plane p = {.axis = {{1, 0, 0}, {0, 1, 0}}};
    double arc[2] = {0, 0}, side[2], radius = shape->radius;
    int inside = shape->side && sqrt(model_dot(shape->side, shape->side)) < radius;
    spot end[2], point[2];
    if (!(model_dot(x[0], x[0]) > 0 && model_dot(x[1], x[1]) > 0)) {
        return 0;
    }
    if (!shape->cylinder) {
        p = plane_through(x, v);
    }
    for (int k = 0; k < 2; k++) {
        end[k] = project(&p, x[k], v[k]);
        side[k] = shape->side ? model_dot(p.axis[k], shape->side) : 0;
    }
    double size = sqrt(dot2(side, side));
    side[0] = size > 0 ? side[0] * radius / size : radius;
    side[1] = size > 0 ? side[1] * radius / size : 0;
    if (inside ? !wrap_inside(end, radius, shape->coarse, point)
               : !wrap_outside(end, shape->side ? side : NULL, radius, point, arc)) {
        return 0;
    }
    if (inside) {
        point[1] = point[0];
    }
    for (int i = 0; i < 2; i++) {
        lift(&p, &point[i], answer->point[i], answer->speed[i]);
    }
    answer->arc = arc[0];
    if (shape->cylinder) {
        rise(x, v, end, point, arc, answer);
    }
    return 1;
}
