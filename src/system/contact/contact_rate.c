/* The rate of the contact rows: J' v, for contact_now.c.
 *
 * r = d/dt (J v) along q (+) t v includes the motion of contact points over curved surfaces and the
 * rotation of normals (a rolling ball has r_n = 0 although its material at the lowest point
 * accelerates upwards). It is computed by differences of J v over motions of CONTACT_ASIDE and
 * twice CONTACT_ASIDE of the size of the geoms, with contact searches on both sides,
 *
 *     r = (8 (psi1 - psi-1) - (psi2 - psi-2))/12 t,
 *
 * whose error is about CONTACT_ASIDE^4 and round-off / CONTACT_ASIDE: 1e-12. Where points run (on a
 * rim with a tilt, which turns them by 1/tilt times as much) motions are shortened until the outer
 * and the inner differences agree to AGREE, of whose square the error is. If a point does not
 * exist at all of them, two or one are used. At rest r = 0. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/pose.h"
#include "system/contact/contact_now_inner.h"
#include "tree/sweeps.h"

#define AGREE 1e-5
#define SHORTER 16.0
enum { SIDES = 4, TRIES = 6 }; /* Euler's disc, down to a tilt of 1e-6: test_touch_rim.c */
static const double place[SIDES] = {-2, -1, 1, 2};

/* J v of one point at such a state. */
typedef struct aside {
    int there[SIDES];
    double psi[SIDES][6];
} aside;

/* The time in which touching geoms move by CONTACT_ASIDE of their size; 0: they are at rest. */
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
    return rate > 0 ? CONTACT_ASIDE / rate : 0;
}

static double apart(const contact_point *a, const contact_point *b)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += (a->pos[i] - b->pos[i]) * (a->pos[i] - b->pos[i]);
    }
    return sum;
}

/* The same point of the same pair, or else the nearest one; points of both lists are sorted by
 * pairs. NULL: the pair has separated. */
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

/* psi = J v at q (+) t v */
static zw_status look_aside(const zw_system *system, contact_now *now, const double *q,
                            const double *v, double t, int side, aside *to, zw_error *error)
{
    double margin = 10 * CONTACT_ASIDE * contact_now_largest(system->bodies->contact);
    int from = 0;
    memcpy(now->q, q, (size_t)system->nq * sizeof *q);
    system_move(system, now->q, place[side] * t, v);
    tree_kinematics(system->tree, now->q, now->sweeps);
    tree_velocities(system->tree, v, now->sweeps);
    zw_status status = contact_find(system, &now->beside, now->sweeps, 0, margin, error);
    for (int k = 0; k < now->count && status == ZW_OK; k++) {
        const now_point *it = &now->point[k];
        const contact_point *there = same(&now->beside, &it->point, &from);
        if (there && there->rows == it->point.rows) {
            int columns = contact_rows(system, there, now->sweeps, now->column_aside, now->J_aside);
            contact_now_speed(there, columns, now->column_aside, now->J_aside, v, to[k].psi[side]);
            to[k].there[side] = 1;
        }
    }
    return status;
}

static double rate_of(const aside *it, int r, double now, double t)
{
    const int *there = it->there;
    double psi[SIDES];
    for (int k = 0; k < SIDES; k++) {
        psi[k] = it->psi[k][r] - now;
    }
    return there[0] & there[1] & there[2] & there[3]
               ? (8 * (psi[2] - psi[1]) - (psi[3] - psi[0])) / (12 * t)
           : there[1] & there[2] ? (psi[2] - psi[1]) / (2 * t)
           : there[2]            ? psi[2] / t
           : there[1]            ? -psi[1] / t
                                 : 0;
}

/* Is this too long a time for some of the points? `usual` is the square of what moves over its
 * size: far below that, round-off would decide. */
static int is_long(const contact_now *now, const aside *all, double t, double usual)
{
    double most = 2 * t * usual, off = 0;
    for (int k = 0; k < now->count; k++) {
        const aside *it = &all[k];
        int there = it->there[0] & it->there[1] & it->there[2] & it->there[3];
        for (int r = 0; r < now->point[k].point.rows && there; r++) {
            double inner = 2 * (it->psi[2][r] - it->psi[1][r]);
            most = fmax(most, fabs(inner));
            off = fmax(off, fabs(it->psi[3][r] - it->psi[0][r] - inner));
        }
    }
    return off > AGREE * most;
}

zw_status contact_now_rates(const zw_system *system, contact_now *now, const double *sweeps,
                            const double *q, const double *v, zw_error *error)
{
    double t = moment_of(system, now, sweeps);
    if (!(t > 0) || now->count == 0) {
        return ZW_OK;
    }
    aside *all = base_alloc((size_t)now->count * sizeof *all);
    zw_status status = all ? ZW_OK : base_no_memory(error);
    double usual = CONTACT_ASIDE / t * CONTACT_ASIDE / t;
    for (int tries = 0; tries < TRIES && status == ZW_OK; tries++) {
        if (tries > 0 && !is_long(now, all, t, usual)) {
            break;
        }
        t /= tries > 0 ? SHORTER : 1;
        memset(all, 0, (size_t)now->count * sizeof *all);
        for (int side = 0; side < SIDES && status == ZW_OK; side++) {
            status = look_aside(system, now, q, v, t, side, all, error);
        }
    }
    for (int k = 0; k < now->count && status == ZW_OK; k++) {
        now_point *it = &now->point[k];
        for (int r = 0; r < it->point.rows; r++) {
            it->rate[r] = rate_of(&all[k], r, it->slip[r], t);
        }
    }
    base_free(all);
    return status;
}
