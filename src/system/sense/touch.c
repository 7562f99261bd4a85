/* Touch sensors: the sum of the normal forces of all contacts of the site's body inside the site's
 * shape, as in MuJoCo. A point outside counts, too, if the ray from it out of the body, along the
 * normal, hits the shape: the contact point may lie behind the sensor zone.
 *
 * With the point p and the direction d in the frame of the site, is there a t >= 0 with p + t d in
 * the shape (collide/ray.c)? */
#include <math.h>
#include <string.h>

#include "collide/collide.h"
#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "system/soft/tolerances.h"

static int meets(int shape, const double size[3], const double p[3], const double d[3])
{
    collide_span in = collide_ray_span((collide_kind)shape, size, p, d);
    return in.from <= in.to && in.to >= 0;
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

/* ---- Contact sensors ------------------------------------------------------------------------- */

int bodies_is_inside(const bodies_sensor *sensor, const double place[3], const double R[9],
                     const double x[3])
{
    static const double nowhere[3] = {0, 0, 0};
    double p[3], arm[3] = {x[0] - place[0], x[1] - place[1], x[2] - place[2]};
    for (int i = 0; i < 3; i++) {
        p[i] = R[i] * arm[0] + R[3 + i] * arm[1] + R[6 + i] * arm[2];
    }
    return meets(sensor->shape, sensor->zone, p, nowhere);
}

int bodies_contact_size(int data)
{
    static const int size[] = {1, 3, 3, 1, 3, 3, 3};
    int sum = 0;
    for (int k = 0; k < 7; k++) {
        sum += data >> k & 1 ? size[k] : 0;
    }
    return sum;
}

/* A contact in MuJoCo's order: the geom with the simpler shape is first. */
typedef struct reported {
    int geom[2], body[2];
    double frame[9], force[6], dist;
    const double *pos;
} reported;

static const contact_geom *geom_of(const contact_world *world, int index)
{
    int i = 0;
    while (i + 1 < world->geom_count && world->geom[i].index != index) {
        i++;
    }
    return &world->geom[i];
}

/* Exchanges the two sides, keeping the rule for tangents: the second axis is kept, the third
 * reversed, and the opposite wrench has the components (n, -t, s). `flip`: rotated by 180 degrees
 * about the third. */
static void turn_over(reported *it, int flip)
{
    for (int k = 0; k < 3; k++) {
        it->frame[k] = -it->frame[k];
        it->frame[3 + k] *= flip ? -1 : 1;
        it->frame[6 + k] *= flip ? 1 : -1;
    }
    it->force[flip ? 2 : 1] *= -1;
    it->force[flip ? 5 : 4] *= -1;
}

static reported reported_of(const contact_world *world, const zw_contact *c)
{
    static const int simple[] = {
        [ZW_SHAPE_PLANE] = 0,   [ZW_SHAPE_HFIELD] = 1,    [ZW_SHAPE_SPHERE] = 2,
        [ZW_SHAPE_CAPSULE] = 3, [ZW_SHAPE_ELLIPSOID] = 4, [ZW_SHAPE_CYLINDER] = 5,
        [ZW_SHAPE_CONE] = 5,    [ZW_SHAPE_BOX] = 6,       [ZW_SHAPE_MESH] = 7};
    const contact_geom *a = geom_of(world, c->geom[0]), *b = geom_of(world, c->geom[1]);
    const zw_pair_def *pair = contact_pair(world, (int)(a - world->geom), (int)(b - world->geom));
    double margin = pair && pair->given & 16 ? pair->margin : a->law.margin + b->law.margin;
    int x = simple[a->law.shape], y = simple[b->law.shape];
    int back = x > y || (x == y && c->geom[0] > c->geom[1]);
    reported it = {.geom = {c->geom[back], c->geom[!back]},
                   .body = {c->body[back], c->body[!back]},
                   .dist = c->gap + margin,
                   .pos = c->pos};
    memcpy(it.frame, c->frame, sizeof it.frame);
    memcpy(it.force, c->force, sizeof it.force);
    if (back) {
        turn_over(&it, 0);
    }
    return it;
}

static int is_of(const zw_system *system, const reported *it, int side, int kind, int subject)
{
    int body = it->body[side];
    while (kind == ZW_FRAME_SUBTREE && body > subject) {
        body = system->bodies->part[body].parent;
    }
    return kind == ZW_FRAME_NONE || kind == ZW_FRAME_SITE ||
           (kind == ZW_FRAME_GEOM ? it->geom[side] == subject : body == subject);
}

/* 1: it is one of the sensor's contacts; -1: with exchanged sides. */
static int chosen(const zw_system *system, const bodies_sensor *sensor, const reported *it)
{
    const int *side = sensor->side, *subject = sensor->subject;
    int first = is_of(system, it, 0, side[0], subject[0]);
    int back = is_of(system, it, 1, side[0], subject[0]);
    int second = is_of(system, it, 1, side[1], subject[1]);
    int front = is_of(system, it, 0, side[1], subject[1]);
    if (!(first || back) || !(second || front)) {
        return 0;
    }
    if (side[0] != ZW_FRAME_NONE && side[1] != ZW_FRAME_NONE) {
        return first && second ? 1 : back && front ? -1 : 0;
    }
    return side[0] != ZW_FRAME_NONE ? (first ? 1 : -1) : second ? 1 : -1;
}

static double *append(double *out, const double *x, int count)
{
    memcpy(out, x, (size_t)count * sizeof *out);
    return out + count;
}

static void put_reported(int data, const reported *it, double found, double *out)
{
    out = data & ZW_CONTACT_FOUND ? append(out, &found, 1) : out;
    out = data & ZW_CONTACT_FORCE ? append(out, it->force, 3) : out;
    out = data & ZW_CONTACT_TORQUE ? append(out, it->force + 3, 3) : out;
    out = data & ZW_CONTACT_DIST ? append(out, &it->dist, 1) : out;
    out = data & ZW_CONTACT_POS ? append(out, it->pos, 3) : out;
    out = data & ZW_CONTACT_NORMAL ? append(out, it->frame, 3) : out;
    if (data & ZW_CONTACT_TANGENT) {
        append(out, it->frame + 3, 3);
    }
}

/* Sums of all contacts of a sensor: the wrench about a point, if given, else only their centre. */
typedef struct netted {
    double force[6], middle[3], weight;
    int count;
} netted;

static void add_net(netted *to, const reported *it, int way, const double *about)
{
    double f[3] = {0}, m[3] = {0}, arm[3], turned[3], size = 0;
    for (int r = 0; r < 3; r++) {
        size += it->force[r] * it->force[r];
        for (int k = 0; k < 3; k++) {
            f[k] += way * it->frame[3 * r + k] * it->force[r];
            m[k] += way * it->frame[3 * r + k] * it->force[3 + r];
        }
    }
    for (int k = 0; k < 3; k++) {
        to->middle[k] += sqrt(size) * it->pos[k];
        arm[k] = it->pos[k] - (about ? about[k] : 0);
    }
    model_cross(turned, arm, f);
    for (int k = 0; k < 3; k++) {
        to->force[k] += f[k];
        to->force[3 + k] += m[k] + turned[k];
    }
    to->weight += sqrt(size);
    to->count++;
}

/* Selection by repeated passes: the next contact is the least one after the last. */
void bodies_sense_contacts(const zw_system *system, const zw_work *work,
                           const bodies_sensor *sensor, const double place[3], const double R[9],
                           double *out)
{
    const contact_list *list = work->touched && work->touched->acts ? work->touched : NULL;
    const contact_world *world = system->bodies->contact;
    double last = -INFINITY;
    int each = bodies_contact_size(sensor->data), last_index = -1, net = 0;
    int passes = sensor->reduce == ZW_REDUCE_NETFORCE ? 2 : sensor->number;
    netted sum[2];
    memset(sum, 0, sizeof sum);
    memset(out, 0, (size_t)sensor->size * sizeof *out);
    for (int slot = 0; list && slot < passes; slot++) {
        double best = INFINITY, found = 0;
        int index = -1, way = 0;
        for (int k = 0; k < list->count; k++) {
            reported it = reported_of(world, &list->contact[k]);
            int own = chosen(system, sensor, &it);
            if (own == 0 ||
                (sensor->side[0] == ZW_FRAME_SITE && !bodies_is_inside(sensor, place, R, it.pos))) {
                continue;
            }
            double f2 =
                it.force[0] * it.force[0] + it.force[1] * it.force[1] + it.force[2] * it.force[2];
            double key = sensor->reduce == ZW_REDUCE_MINDIST    ? it.dist
                         : sensor->reduce == ZW_REDUCE_MAXFORCE ? -f2
                                                                : 0;
            found++;
            if (sensor->reduce == ZW_REDUCE_NETFORCE) {
                add_net(&sum[net], &it, own, net ? sum[0].middle : NULL);
            } else if ((key > last || (key == last && k > last_index)) && key < best) {
                best = key;
                index = k;
                way = own;
            }
        }
        if (sensor->reduce == ZW_REDUCE_NETFORCE) {
            for (int i = 0; i < 3 && net == 0; i++) {
                sum[0].middle[i] /= fmax(sum[0].weight, SOFT_LEAST);
            }
            net = 1;
        } else if (index >= 0) {
            reported it = reported_of(world, &list->contact[index]);
            if (way < 0) {
                turn_over(&it, 1);
            }
            put_reported(sensor->data, &it, found, out + slot * each);
            last = best;
            last_index = index;
        }
    }
    if (net && sum[1].count > 0) {
        reported it = {.frame = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .pos = sum[0].middle};
        memcpy(it.force, sum[1].force, sizeof it.force);
        put_reported(sensor->data, &it, sum[1].count, out);
    }
}
