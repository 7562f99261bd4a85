/* Touch sensors: the sum of the normal forces of all contacts of the site's body inside of the
 * site's shape, as MuJoCo has it. A point that is not inside counts, too, if the way from it out of
 * the body, along the normal, meets the shape: the point where two bodies touch may lie behind the
 * zone that is to feel it.
 *
 * With the point p and the direction d in the frame of the site, is there a t >= 0 with p + t d in
 * the shape? Each shape is an intersection (box, cylinder) or a union (capsule) of pieces along the
 * line, and a piece is an interval of t. */
#include <math.h>

#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"

typedef struct span {
    double from, to; /* empty: from > to */
} span;

static const span nothing = {1, -1};

/* |x| <= half along one axis */
static span between(double p, double d, double half)
{
    if (d == 0) {
        return fabs(p) <= half ? (span){-INFINITY, INFINITY} : nothing;
    }
    double a = (-half - p) / d, b = (half - p) / d;
    return (span){fmin(a, b), fmax(a, b)};
}

static span both(span a, span b)
{
    return (span){fmax(a.from, b.from), fmin(a.to, b.to)};
}

/* a t^2 + 2 b t + c <= 0 */
static span below(double a, double b, double c)
{
    if (a == 0) {
        return c <= 0 ? (span){-INFINITY, INFINITY} : nothing; /* then b is 0, too */
    }
    double root = b * b - a * c;
    return root < 0 ? nothing : (span){(-b - sqrt(root)) / a, (-b + sqrt(root)) / a};
}

/* |x / size| <= 1, about a centre on the z axis */
static span in_ball(const double p[3], const double d[3], const double size[3], double centre)
{
    double a = 0, b = 0, c = -1;
    for (int k = 0; k < 3; k++) {
        double x = (p[k] - (k == 2 ? centre : 0)) / size[k], y = d[k] / size[k];
        a += y * y;
        b += x * y;
        c += x * x;
    }
    return below(a, b, c);
}

static span in_tube(const double p[3], const double d[3], double radius, double half)
{
    span round = below(d[0] * d[0] + d[1] * d[1], p[0] * d[0] + p[1] * d[1],
                       p[0] * p[0] + p[1] * p[1] - radius * radius);
    return both(round, between(p[2], d[2], half));
}

static int ahead(span s)
{
    return s.from <= s.to && s.to >= 0;
}

static int meets(int shape, const double size[3], const double p[3], const double d[3])
{
    double ball[3] = {size[0], size[0], size[0]};
    switch (shape) {
    case ZW_SHAPE_BOX:
        return ahead(both(both(between(p[0], d[0], size[0]), between(p[1], d[1], size[1])),
                          between(p[2], d[2], size[2])));
    case ZW_SHAPE_CYLINDER:
        return ahead(in_tube(p, d, size[0], size[1]));
    case ZW_SHAPE_CAPSULE:
        return ahead(in_tube(p, d, size[0], size[1])) || ahead(in_ball(p, d, ball, size[1])) ||
               ahead(in_ball(p, d, ball, -size[1]));
    case ZW_SHAPE_ELLIPSOID:
        return ahead(in_ball(p, d, size, 0));
    default:
        return ahead(in_ball(p, d, ball, 0));
    }
}

double bodies_touch(const zw_work *work, const bodies_sensor *sensor, const double place[3],
                    const double R[9])
{
    const contact_list *list = work->touched && work->touched->acts ? work->touched : NULL;
    double sum = 0;
    for (int k = 0; list && k < list->count; k++) {
        const zw_contact *it = &list->contact[k];
        int first = it->body[0] == sensor->frame.part, second = it->body[1] == sensor->frame.part;
        double p[3], d[3], arm[3], sign = second ? -1 : 1;
        if (!(first || second) || !(it->force[0] > 0)) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            arm[i] = it->pos[i] - place[i];
        }
        for (int i = 0; i < 3; i++) { /* R' arm, R' normal */
            p[i] = R[i] * arm[0] + R[3 + i] * arm[1] + R[6 + i] * arm[2];
            d[i] = sign * (R[i] * it->frame[0] + R[3 + i] * it->frame[1] + R[6 + i] * it->frame[2]);
        }
        sum += meets(sensor->shape, sensor->zone, p, d) ? it->force[0] : 0;
    }
    return sum;
}
