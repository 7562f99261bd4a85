/* Adhesion: a motor that presses a body against what it touches.
 *
 * The force F of the motor is shared by the N points at which its body touches others: at each the
 * two are pulled together along the normal by F/N. With J_k the row of the normal at point k (rate
 * of the gap), that is the generalised force
 *
 *     -F/N sum_k J_k'
 *
 * and zero without contacts; the motor has no length. Contacts react by their law, and friction
 * grows with their normal force. A point counts if its gap is at most the `gap` of the two geoms,
 * which has no other meaning. (MuJoCo's rule.)
 *
 * Points are found at the start of a step and kept for all of it, so every iterate has the force of
 * the step's start: the two bodies get opposite forces at the same point, whose work counts as that
 * of motors. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "tree/sweeps.h"

struct bodies_adhesion {
    contact_work found;
    int count;
    contact_point *point; /* [found.capacity] */
    int *column;          /* of one point, */
    double *J;            /* and its rows */
};

void bodies_adhesion_free(struct bodies_adhesion *adhesion)
{
    if (adhesion) {
        contact_work_free(&adhesion->found);
        base_free(adhesion->point);
        base_free(adhesion->column);
        base_free(adhesion->J);
        base_free(adhesion);
    }
}

static int make_room(struct bodies_adhesion *to, int capacity)
{
    size_t bytes = ((size_t)capacity + 1) * sizeof *to->point;
    base_free(to->point);
    base_free(to->found.point);
    to->point = base_alloc(bytes);
    to->found.point = base_alloc(bytes);
    to->found.capacity = to->point && to->found.point ? capacity : 0;
    return to->found.capacity > 0;
}

static struct bodies_adhesion *create(const zw_system *system)
{
    size_t columns = 2 * (size_t)system->bodies->widest + 4;
    struct bodies_adhesion *to = base_alloc(sizeof *to);
    if (!to) {
        return NULL;
    }
    to->column = base_alloc(columns * sizeof *to->column);
    to->J = base_alloc(6 * columns * sizeof *to->J);
    if (!to->column || !to->J ||
        contact_work_create(&to->found, system->bodies->contact) != ZW_OK ||
        !make_room(to, to->found.capacity)) {
        bodies_adhesion_free(to);
        return NULL;
    }
    return to;
}

/* The largest gap of a pair. */
static double reach_of(const contact_world *world, uint32_t a, uint32_t b)
{
    const zw_pair_def *pair = contact_pair(world, (int)a, (int)b);
    return pair ? pair->gap : world->geom[a].law.gap + world->geom[b].law.gap;
}

static double most_reach(const contact_world *world)
{
    double first = 0, second = 0, most = 0;
    for (int i = 0; i < world->geom_count; i++) {
        double gap = world->geom[i].law.gap;
        second = fmax(second, fmin(gap, first));
        first = fmax(first, gap);
    }
    for (int i = 0; i < world->pair_count; i++) {
        most = fmax(most, world->pair_def[world->pair[i].index].gap);
    }
    return fmax(most, first + second);
}

void bodies_clear_adhesion(zw_work *work)
{
    if (work->adhesion) {
        work->adhesion->count = 0;
    }
}

zw_status bodies_find_adhesion(const zw_system *system, zw_work *work, const double *q,
                               const double *v, double slack, zw_error *error)
{
    const contact_world *world = system->bodies->contact;
    if (system->bodies->adhesion_count == 0 || !world || !world->touches) {
        return ZW_OK;
    }
    work->adhesion = work->adhesion ? work->adhesion : create(system);
    struct bodies_adhesion *to = work->adhesion;
    if (!to) {
        return base_no_memory(error);
    }
    to->count = 0;
    tree_kinematics(system->tree, q, work->sweeps);
    tree_velocities(system->tree, v, work->sweeps);
    double reach = most_reach(world) + slack;
    zw_status status = contact_find(system, &to->found, work->sweeps, 0, reach, error);
    if (status == ZW_TOO_LARGE &&
        make_room(to, 2 * to->found.needed)) { /* a large gap finds many points */
        status = contact_find(system, &to->found, work->sweeps, 0, reach, error);
    }
    for (int k = 0; k < to->found.count && status == ZW_OK; k++) {
        const contact_point *point = &to->found.point[k];
        if (point->gap < reach_of(world, point->key.geom[0], point->key.geom[1]) + slack) {
            to->point[to->count++] = *point;
        }
    }
    return status;
}

int bodies_aim_adhesion(const zw_system *system, zw_work *work, const bodies_motor *motor, int *dof,
                        double *coef)
{
    const struct bodies_adhesion *adhesion = work->adhesion;
    const contact_geom *geom = system->bodies->contact->geom;
    int points = 0, count = 0;
    memset(coef, 0, (size_t)system->n * sizeof *coef);
    for (int k = 0; adhesion && k < adhesion->count; k++) {
        const contact_point *point = &adhesion->point[k];
        if (geom[point->key.geom[0]].owner != motor->part &&
            geom[point->key.geom[1]].owner != motor->part) {
            continue;
        }
        int columns = contact_rows(system, point, work->sweeps, adhesion->column, adhesion->J);
        for (int i = 0; i < columns; i++) {
            coef[adhesion->column[i]] -= adhesion->J[i];
        }
        points++;
    }
    for (int i = 0; i < system->n && points > 0; i++) {
        if (coef[i] != 0) {
            dof[count] = i;
            coef[count++] = coef[i] / points;
        }
    }
    return count;
}
