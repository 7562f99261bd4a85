/* Skips pairs that cannot have met since they were last tested.
 *
 * By bounding spheres. If two geoms were d apart, their distance is at least d minus the distances
 * that both have moved. Geoms are in groups (a tree; or all moving geoms), and a group has
 * travelled s: the sum over all tests of the longest distance that one of its bounding spheres or,
 * for a capsule, its axis has moved. A pair within a group found d apart at s is skipped until
 *
 *     s' > s + d/2 - half of the margin.
 *
 * By shapes. Robots have many parts whose spheres overlap although they are apart. So for convex
 * shapes with edges, a pair that was found to be d apart, by a separating plane, is skipped by the
 * motion of these two geoms alone, including rotation: no point moves farther than |p' - p| + |R' -
 * R| r / sqrt(2), r being its distance from the position p of the geom, and |.| the Frobenius norm.
 * (A rotation by an angle c about any axis moves it by at most 2 r sin(c/2), and |R' - R| = 2
 * sqrt(2) sin(c/2).) With s the sum of these, the pair is skipped as long as
 *
 *     s_a' + s_b' + margin < s_a + s_b + d.
 *
 * That is conservative: results do not depend on the history. Distances are measured between the
 * poses at which contact_find was called, whatever happened in between. Sums are rounded
 * upwards. */
#include <math.h>

#include "base/memory.h"
#include "collide/vector.h"
#include "system/contact/contacts.h"

#define UP (1 + 5e-16)   /* a sum times this is not below the exact one */
#define MORE (1 + 1e-12) /* the same for a distance with its square roots */
#define LESS (1 - 1e-12) /* and for a lower bound, downwards */

int contact_wait_create(contact_wait *wait, const contact_world *world, int groups, int matches)
{
    size_t geoms = (size_t)world->geom_count;
    *wait = (contact_wait){.before = base_alloc((6 * geoms + 1) * sizeof(double)),
                           .half = base_alloc((geoms + 1) * sizeof(double)),
                           .travel = base_alloc(((size_t)groups + 1) * sizeof(double)),
                           .need = base_alloc(((size_t)groups + 1) * sizeof(double)),
                           .until = base_alloc(((size_t)matches + 1) * sizeof(double)),
                           .last = base_alloc((geoms + 1) * sizeof(collide_pose)),
                           .lever = base_alloc((geoms + 1) * sizeof(double)),
                           .way = base_alloc((geoms + 1) * sizeof(double)),
                           .apart = base_alloc(((size_t)matches + 1) * sizeof(double))};
    for (int i = 0; i < world->geom_count && wait->half && wait->lever; i++) {
        const collide_shape *shape = &world->geom[i].shape;
        wait->half[i] = shape->kind == COLLIDE_CAPSULE ? shape->size[1] : 0;
        wait->lever[i] = shape->kind <= COLLIDE_CAPSULE ? wait->half[i] : world->geom[i].radius;
        wait->by_shape |= contact_is_edged((int)shape->kind) && !world->still[i];
    }
    return wait->before && wait->half && wait->travel && wait->need && wait->until && wait->last &&
           wait->lever && wait->way && wait->apart;
}

void contact_wait_free(contact_wait *wait)
{
    base_free(wait->before);
    base_free(wait->half);
    base_free(wait->travel);
    base_free(wait->need);
    base_free(wait->until);
    base_free(wait->last);
    base_free(wait->lever);
    base_free(wait->way);
    base_free(wait->apart);
    *wait = (contact_wait){0};
}

/* The distance that a geom has moved since the last test, including rotation. */
static void add_way(const contact_work *work, contact_wait *wait, int g)
{
    const collide_pose *now = &work->pose[g];
    collide_pose *last = &wait->last[g];
    double shift = 0, turn = 0;
    for (int i = 0; i < 3; i++) {
        double d = now->pos[i] - last->pos[i];
        shift += d * d;
    }
    for (int i = 0; i < 9; i++) {
        double d = now->R[i] - last->R[i];
        turn += d * d;
    }
    double way = sqrt(shift) + wait->lever[g] * sqrt(0.5 * turn);
    wait->way[g] = (wait->way[g] + way * MORE) * UP;
    *last = *now;
}

/* |x - y| of the positions and of the ends of the axes: (a + b)^2 <= 2 (a^2 + b^2). */
void contact_wait_move(const contact_work *work, contact_wait *wait, int group, const int *geom,
                       int count, double margin)
{
    double most = 0, reach = 0;
    for (int k = 0; k < count; k++) {
        const collide_pose *pose = &work->pose[geom[k]];
        double *before = wait->before + 6 * geom[k], half = wait->half[geom[k]], sum = 0;
        for (int i = 0; i < 3; i++) {
            double x = pose->pos[i], y = half * pose->R[3 * i + 2];
            double dx = x - before[i], dy = y - before[3 + i];
            sum += dx * dx + dy * dy;
            before[i] = x;
            before[3 + i] = y;
        }
        most = sum > most ? sum : most;
        reach = work->reach[geom[k]] > reach ? work->reach[geom[k]] : reach;
        if (wait->by_shape) {
            add_way(work, wait, geom[k]);
        }
    }
    wait->travel[group] = (wait->travel[group] + sqrt(2 * most) * MORE) * UP;
    wait->need[group] = 0.51 * margin + 1.01 * reach + wait->travel[group];
}

/* A lower bound of the distance of two geoms. */
static double apart(const contact_world *world, const contact_work *work,
                    const contact_match *match)
{
    const contact_geom *a = &world->geom[match->a], *b = &world->geom[match->b];
    const collide_pose *at_a = &work->pose[match->a], *at_b = &work->pose[match->b];
    double to[3];
    if ((match->plane == 1 && !world->still[match->a]) ||
        (match->plane == 2 && !world->still[match->b])) {
        return -1; /* points of a rotating plane may move any distance */
    }
    if (a->shape.kind <= COLLIDE_CAPSULE && b->shape.kind <= COLLIDE_CAPSULE) {
        return collide_clearance(&a->shape, at_a, &b->shape, at_b);
    }
    v3_sub(to, at_b->pos, at_a->pos);
    if (match->plane != 0) {
        const double *R = match->plane == 1 ? at_a->R : at_b->R;
        double height = R[2] * to[0] + R[5] * to[1] + R[8] * to[2];
        return match->plane == 1 ? height - b->radius : -height - a->radius;
    }
    return sqrt(v3_dot(to, to)) - match->radius;
}

void contact_wait_see(const contact_world *world, const contact_work *work, contact_wait *wait,
                      int group, int index, const contact_match *match, int found, double by_plane)
{
    double d = found ? -1 : apart(world, work, match) - match->margin;
    double ways = wait->way[match->a] + wait->way[match->b];
    wait->apart[index] = found || !(by_plane > 0) ? -1 : ways * (2 - UP) + by_plane * LESS;
    wait->until[index] = d > 0 ? wait->travel[group] + CONTACT_HALF * d : -1;
}
