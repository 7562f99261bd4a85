/* How fast the rows of contacts turn: J' v, for contact_now.c.
 *
 * r = d/dt (J v) along q (+) t v holds how points wander over curved surfaces and normals turn (a
 * ball that rolls has r_n = 0 although the matter at its lowest point accelerates upwards). It is
 * found by central differences of J v over a motion of ASIDE of the size of things, the collision
 * routines being asked on both sides; error about ASIDE^2 and round-off / ASIDE. At rest r = 0. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/pose.h"
#include "system/contact/contact_now_inner.h"
#include "tree/sweeps.h"

#define ASIDE 1e-5

/* The time in which what touches moves by ASIDE of its size; 0: it stands still. */
static double moment_of(const zw_system *system, const contact_now *now, const double *sweeps)
{
    const contact_world *world = system->bodies->contact;
    double rate = 0;
    for (int k = 0; k < now->count; k++) {
        for (int side = 0; side < 2; side++) {
            const contact_geom *geom = &world->geom[now->point[k].point.key.geom[side]];
            double V[6] = {0};
            if (geom->body > 0) {
                tree_point_velocity(system->tree, geom->body, now->point[k].point.pos, sweeps, V);
            }
            rate = fmax(rate,
                        sqrt(model_dot(V, V)) + sqrt(model_dot(V + 3, V + 3)) /
                                                    contact_now_size(world, &now->point[k].point));
        }
    }
    return rate > 0 ? ASIDE / rate : 0;
}

static double apart(const contact_point *a, const contact_point *b)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += (a->pos[i] - b->pos[i]) * (a->pos[i] - b->pos[i]);
    }
    return sum;
}

/* The same point of the same pair, or else its nearest; points of both lists are sorted by pairs.
 * NULL: that pair has come apart. */
static const contact_point *same(const contact_work *list, const contact_point *point, int *from)
{
    const contact_point *nearest = NULL;
    while (*from < list->count && (list->point[*from].key.geom[0] < point->key.geom[0] ||
                                   (list->point[*from].key.geom[0] == point->key.geom[0] &&
                                    list->point[*from].key.geom[1] < point->key.geom[1]))) {
        ++*from;
    }
    for (int k = *from; k < list->count; k++) {
        const contact_point *it = &list->point[k];
        if (memcmp(it->key.geom, point->key.geom, sizeof it->key.geom) != 0) {
            break;
        }
        if (it->key.feature == point->key.feature) {
            return it;
        }
        nearest = !nearest || apart(it, point) < apart(nearest, point) ? it : nearest;
    }
    return nearest;
}

/* psi = J v at q (+) t v, less that of now, into the rates of the points; `sides` counts. */
static zw_status look_aside(const zw_system *system, contact_now *now, const double *q,
                            const double *v, double t, int *sides, zw_error *error)
{
    double margin = 10 * ASIDE * contact_now_largest(system->bodies->contact);
    int from = 0;
    memcpy(now->q, q, (size_t)system->nq * sizeof *q);
    system_move(system, now->q, t, v);
    tree_kinematics(system->tree, now->q, now->sweeps);
    tree_velocities(system->tree, v, now->sweeps);
    zw_status status = contact_find(system, &now->beside, now->sweeps, 0, margin, error);
    for (int k = 0; k < now->count && status == ZW_OK; k++) {
        now_point *it = &now->point[k];
        const contact_point *there = same(&now->beside, &it->point, &from);
        double psi[6] = {0};
        if (!there || there->rows != it->point.rows) {
            continue;
        }
        int columns = contact_rows(system, there, now->sweeps, now->column_aside, now->J_aside);
        contact_now_speed(there, columns, now->column_aside, now->J_aside, v, psi);
        sides[k]++;
        for (int r = 0; r < there->rows; r++) {
            it->rate[r] += (psi[r] - it->slip[r]) / t;
        }
    }
    return status;
}

zw_status contact_now_rates(const zw_system *system, contact_now *now, const double *sweeps,
                            const double *q, const double *v, zw_error *error)
{
    double t = moment_of(system, now, sweeps);
    if (!(t > 0) || now->count == 0) {
        return ZW_OK;
    }
    int *sides = base_alloc((size_t)now->count * sizeof *sides);
    zw_status status = sides ? look_aside(system, now, q, v, t, sides, error)
                             : base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    if (status == ZW_OK) {
        status = look_aside(system, now, q, v, -t, sides, error);
    }
    for (int k = 0; k < now->count && status == ZW_OK; k++) {
        for (int r = 0; r < 6 && sides[k] > 1; r++) {
            now->point[k].rate[r] *= 0.5; /* the mean of both sides: a central difference */
        }
    }
    base_free(sides);
    return status;
}
