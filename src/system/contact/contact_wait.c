/* Pairs that need not be looked at, because they cannot have met since they were last looked at.
 *
 * Of two geoms that were d apart no point can have come nearer than d less the ways of both. Geoms
 * are in groups (a tree; or all that moves), and a group has travelled s: the sum over all looks of
 * the longest way that a point of one of its geoms went, as the sphere around it or, where it is a
 * capsule, as its axis. A pair within a group that is seen to be d apart at s is left alone until
 *
 *     s' > s + d/2 - what counts as near, halved.
 *
 * That is conservative: what is found does not depend on what was seen before. Ways are measured
 * between the places at which contact_find was asked, whatever led from one to the next. */
#include <math.h>

#include "base/memory.h"
#include "collide/vector.h"
#include "system/contact/contacts.h"

#define SURE 0.49 /* in place of 1/2: round-off is nothing beside that */

int contact_wait_create(contact_wait *wait, const contact_world *world, int groups, int matches)
{
    size_t geoms = (size_t)world->geom_count;
    *wait = (contact_wait){.before = base_alloc((6 * geoms + 1) * sizeof(double)),
                           .half = base_alloc((geoms + 1) * sizeof(double)),
                           .travel = base_alloc(((size_t)groups + 1) * sizeof(double)),
                           .need = base_alloc(((size_t)groups + 1) * sizeof(double)),
                           .until = base_alloc(((size_t)matches + 1) * sizeof(double))};
    for (int i = 0; i < world->geom_count && wait->half; i++) {
        const collide_shape *shape = &world->geom[i].shape;
        wait->half[i] = shape->kind == COLLIDE_CAPSULE ? shape->size[1] : 0;
    }
    return wait->before && wait->half && wait->travel && wait->need && wait->until;
}

void contact_wait_free(contact_wait *wait)
{
    base_free(wait->before);
    base_free(wait->half);
    base_free(wait->travel);
    base_free(wait->need);
    base_free(wait->until);
    *wait = (contact_wait){0};
}

/* |x - y| of the places and of the ends of the axes: (a + b)^2 <= 2 (a^2 + b^2). */
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
    }
    wait->travel[group] += sqrt(2 * most);
    wait->need[group] = 0.51 * margin + 1.01 * reach + wait->travel[group];
}

/* How far two are apart at least. */
static double apart(const contact_world *world, const contact_work *work,
                    const contact_match *match)
{
    const contact_geom *a = &world->geom[match->a], *b = &world->geom[match->b];
    const collide_pose *at_a = &work->pose[match->a], *at_b = &work->pose[match->b];
    double to[3];
    if ((match->plane == 1 && !world->still[match->a]) ||
        (match->plane == 2 && !world->still[match->b])) {
        return -1; /* far out, a plane that turns goes any way */
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
                      int group, int index, const contact_match *match, int found)
{
    double d = found ? -1 : apart(world, work, match) - match->margin;
    wait->until[index] = d > 0 ? wait->travel[group] + SURE * d : -1;
}
