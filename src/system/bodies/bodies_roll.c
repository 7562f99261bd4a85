/* Rows of rolling and gliding on a plane: wheels, mecanum wheels, balls, blades.
 *
 * Frame 1 (p1, V1 = (w1, v1)) is on the rolling body, frame 2 (p2, V2) on the body with the plane,
 * whose normal is n = z2. The contact point is p1 + rho. The constrained quantity is the material
 * velocity there relative to that of the plane,
 *
 *     u = v1 + w1 x rho - v2 - w2 x (rho + p1 - p2),       psi = d . u
 *
 * along one or two directions d in the plane. So with r = rho + p1 - p2
 *
 *     c1 = (rho x d, d),    c2 = -(r x d, d),
 *     rest = c1' . V1 + c2' . V2
 *          = (rho' x d + rho x d') . w1 - (r' x d + r x d') . w2 + d' . (v1 - v2),
 *
 * r' = rho' + v1 - v2. It remains to give rho, d and their rates.
 *
 *   ball    rho = -R n;   d = x2, y2.
 *   blade   rho = 0;      d = n x x1 / |n x x1|: across the blade, in the plane.
 *   disc    with axle a = z1: t = a x n, s = |t| (the sine of the angle between axle and normal),
 *           f = t/s the direction of rolling, rho = R a x f down in the disc;
 *           d = f, and n x f across; with rollers at an angle g from the axle, along their axis:
 *           d = cos g (n x f) + sin g f. g = 0 constrains across only, 90 degrees along only.
 *
 * Contact is n . (p1 - p2 + rho) = 0; n . rho = -R s for the disc. Its rate is n . u, because the
 * contact point is the lowest point of the body above the plane, so that its motion over the body
 * does not contribute. So it is a row of the same form, with d = n and n' = w2 x n.
 *
 * For a disc that lies flat (s = 0) the contact point is not defined, and the rows are not
 * finite. */
#include <math.h>
#include <string.h>

#include "model/pose.h"
#include "system/bodies/bodies.h"

/* A vector in the world and its rate. */
typedef struct moving {
    double x[3], rate[3];
} moving;

static moving carried(const double *x, const double *omega)
{
    moving m;
    memcpy(m.x, x, sizeof m.x);
    model_cross(m.rate, omega, x);
    return m;
}

static moving scaled(double factor, moving m)
{
    for (int k = 0; k < 3; k++) {
        m.x[k] *= factor;
        m.rate[k] *= factor;
    }
    return m;
}

static moving sum(moving p, moving q)
{
    for (int k = 0; k < 3; k++) {
        p.x[k] += q.x[k];
        p.rate[k] += q.rate[k];
    }
    return p;
}

static moving cross(const moving *p, const moving *q)
{
    moving m;
    double other[3];
    model_cross(m.x, p->x, q->x);
    model_cross(m.rate, p->rate, q->x);
    model_cross(other, p->x, q->rate);
    for (int k = 0; k < 3; k++) {
        m.rate[k] += other[k];
    }
    return m;
}

/* m/|m|: its rate is that of m without the component along it. */
static moving unit(moving m)
{
    double size = sqrt(model_dot(m.x, m.x));
    m = scaled(1 / size, m);
    double along = model_dot(m.x, m.rate);
    for (int k = 0; k < 3; k++) {
        m.rate[k] -= along * m.x[k];
    }
    return m;
}

/* psi = d . u, with the contact point p1 + rho. */
static void hold(const bodies_moving f[2], const moving *rho, const moving *d, bodies_row *r)
{
    moving apart; /* p1 - p2 */
    double *c1 = r->c[0], *c2 = r->c[1];
    for (int k = 0; k < 3; k++) {
        apart.x[k] = f[0].place[k] - f[1].place[k];
        apart.rate[k] = f[0].V[3 + k] - f[1].V[3 + k];
    }
    moving arm = sum(*rho, apart), turn1 = cross(rho, d), turn2 = cross(&arm, d);
    for (int k = 0; k < 3; k++) {
        c1[k] = turn1.x[k];
        c2[k] = -turn2.x[k];
        c1[3 + k] = d->x[k];
        c2[3 + k] = -d->x[k];
    }
    r->phi = 0;
    r->rest = model_dot(turn1.rate, f[0].V) - model_dot(turn2.rate, f[1].V) +
              model_dot(d->rate, apart.rate);
}

/* The height of the contact point over the plane. */
static void touch(const bodies_moving f[2], const moving *rho, const moving *n, bodies_row *r)
{
    double height[3];
    hold(f, rho, n, r);
    for (int k = 0; k < 3; k++) {
        height[k] = f[0].place[k] + rho->x[k] - f[1].place[k];
    }
    r->phi = model_dot(n->x, height);
}

/* The contact point and the constrained directions; returns their number. */
static int directions(const bodies_constraint *constraint, bodies_constraint_kind shape,
                      const bodies_moving f[2], moving *rho, moving d[2])
{
    moving n = carried(f[1].axis[2], f[1].V), a = carried(f[0].axis[2], f[0].V);
    moving blade = carried(f[0].axis[0], f[0].V), forward, across;
    switch (shape) {
    case CONSTRAINT_ROLL:
        *rho = scaled(-constraint->radius, n);
        d[0] = carried(f[1].axis[0], f[1].V);
        d[1] = carried(f[1].axis[1], f[1].V);
        return 2;
    case CONSTRAINT_BLADE:
        *rho = scaled(0, n);
        d[0] = unit(cross(&n, &blade));
        return 1;
    default:
        forward = unit(cross(&a, &n));
        across = cross(&n, &forward);
        *rho = scaled(constraint->radius, cross(&a, &forward));
        d[0] = forward;
        d[1] = across;
        if (shape == CONSTRAINT_MECANUM) {
            d[0] =
                sum(scaled(constraint->roller[0], across), scaled(constraint->roller[1], forward));
            return 1;
        }
        return 2;
    }
}

void bodies_roll_rows(const bodies_constraint *constraint, const bodies_moving f[2],
                      bodies_row *list)
{
    moving rho, d[2];
    int touching = constraint->kind == CONSTRAINT_TOUCH;
    int count = directions(constraint, touching ? constraint->shape : constraint->kind, f, &rho, d);
    if (touching) {
        moving n = carried(f[1].axis[2], f[1].V);
        touch(f, &rho, &n, list);
        return;
    }
    for (int i = 0; i < count; i++) {
        hold(f, &rho, &d[i], &list[i]);
    }
}

int bodies_is_rolling(const bodies_constraint *constraint)
{
    return constraint->kind >= CONSTRAINT_WHEEL && constraint->kind <= CONSTRAINT_BLADE;
}
