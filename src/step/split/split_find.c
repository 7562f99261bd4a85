/* Which groups can meet in a step.
 *
 * Each geom is allowed to move, over the whole step, as far as the bound of contact_path.h says for
 * constant speeds v0, half as much again, and four times what gravity adds. Two groups are in one
 * island if the boxes of two of their geoms overlap when enlarged by that and by their margins, or
 * spheres and capsules come as near; and if these may touch. After the step, what has moved farther
 * than it was allowed to, by the sum of the same bounds over all pieces of the step, is allowed to
 * move as far as that and half as much again. If it can then meet something of another island, the
 * step of both is repeated as one; so nothing has met across islands. */
#include <math.h>

#include "collide/vector.h"
#include "math/partition.h"
#include "step/split/split.h"
#include "tree/sweeps.h"

#define MORE 1.5 /* times the way at the speeds of the start, */
#define FALL 4.0 /* and times g h^2 */

static void bound_geoms(step_impulse *s, double h, const double *q0, const double *v0)
{
    step_split *z = s->split;
    const contact_world *world = s->system->bodies->contact;
    contact_path *path = &s->touch.sweep.path;
    double fall = FALL * impulse_gravity(s) * h * h;
    tree_kinematics(s->system->tree, q0, s->work->sweeps);
    s->sees_q1 = 0;
    contact_path_begin(path, q0, v0, h);
    for (int k = 0; k < world->moving_count; k++) {
        int g = world->moving[k];
        const contact_geom *geom = &world->geom[g];
        double *low = z->lower + 3 * g, *high = z->upper + 3 * g;
        contact_place(s->system, geom, s->work->sweeps, &z->pose[g]);
        collide_bounds(&geom->shape, &z->pose[g], low, high);
        z->allowed[g] = MORE * contact_path_length(path, g) + fall;
        for (int i = 0; i < 3; i++) {
            low[i] -= z->allowed[g] + geom->margin;
            high[i] += z->allowed[g] + geom->margin;
        }
    }
}

/* By the lowest x. They are nearly sorted since the last step. */
static void sort_geoms(step_split *z, int count)
{
    for (int k = 1; k < count; k++) {
        int it = z->order[k], j = k;
        double x = z->lower[3 * it];
        while (j > 0 && (z->lower[3 * z->order[j - 1]] > x ||
                         (z->lower[3 * z->order[j - 1]] == x && z->order[j - 1] > it))) {
            z->order[j] = z->order[j - 1];
            j--;
        }
        z->order[j] = it;
    }
}

static int is_round(const contact_geom *geom)
{
    return geom->shape.kind == COLLIDE_SPHERE || geom->shape.kind == COLLIDE_CAPSULE;
}

/* Their boxes overlap along x. */
static int can_meet(const step_impulse *s, int a, int b)
{
    const step_split *z = s->split;
    const contact_world *world = s->system->bodies->contact;
    const contact_geom *x = &world->geom[a], *y = &world->geom[b];
    for (int i = 1; i < 3; i++) {
        if (z->lower[3 * a + i] > z->upper[3 * b + i] ||
            z->lower[3 * b + i] > z->upper[3 * a + i]) {
            return 0;
        }
    }
    double far = z->allowed[a] + z->allowed[b] + x->margin + y->margin;
    if (is_round(x) && is_round(y) && world->pair_count == 0 &&
        collide_clearance(&x->shape, &z->pose[a], &y->shape, &z->pose[b]) > far) {
        return 0;
    }
    return contact_may(world, s->system->tree, a, b);
}

/* Joins the groups that can meet, and returns the number of islands. */
static int join_groups(step_impulse *s)
{
    step_split *z = s->split;
    const contact_world *world = s->system->bodies->contact;
    int islands = 0, count = world->moving_count;
    sort_geoms(z, count);
    for (int k = 0; k < count; k++) {
        int a = z->order[k], group = z->groups.body[world->geom[a].body];
        for (int l = k + 1; l < count && z->lower[3 * z->order[l]] <= z->upper[3 * a]; l++) {
            int b = z->order[l], other = z->groups.body[world->geom[b].body];
            if (partition_root(z->link, group) != partition_root(z->link, other) &&
                can_meet(s, a, b)) {
                partition_join(z->link, group, other);
            }
        }
    }
    partition_flatten(z->groups.count, z->link);
    for (int g = 0; g < z->groups.count; g++) {
        islands += z->link[g] == g;
    }
    return islands;
}

int split_find(step_impulse *s, double h, const double *q0, const double *v0)
{
    partition_begin(s->split->groups.count, s->split->link);
    bound_geoms(s, h, q0, v0);
    return join_groups(s);
}

int split_find_again(step_impulse *s)
{
    step_split *z = s->split;
    int beyond = 0;
    for (int p = 0; p < z->parts; p++) {
        const split_part *part = z->now[p];
        const contact_world *world = part->part.bodies.contact;
        for (int k = 0; k < world->moving_count; k++) {
            int g = world->moving[k];
            double more = part->inner->ways[g] - z->allowed[g];
            if (!(more <= 0)) {
                more = MORE * part->inner->ways[g] - z->allowed[g];
                z->allowed[g] += more;
                beyond = 1;
                for (int i = 0; i < 3; i++) {
                    z->lower[3 * g + i] -= more;
                    z->upper[3 * g + i] += more;
                }
            }
        }
    }
    return beyond ? join_groups(s) : z->parts;
}
