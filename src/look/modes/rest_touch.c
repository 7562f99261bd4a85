/* Contacts of robots during the search for rest.
 *
 * Points that hold where a step begins are to be closed at its end. Rows of the tangent space keep
 * them so to first order; what is left is taken back by Newton's method,
 *
 *     J_n dq = -gap       of each of these points,
 *     B dq = 0            of what sticks, and of all other rows that hold,
 *
 * by the shortest dq. Nothing else may penetrate anything: a step is as long as possible without
 * that, and then ends where something lands. */
#include "look/modes/rest_touch.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/slopes/slopes_bodies.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

#define CLOSED                                                                                     \
    1e-9 /* relative to the smallest geom: gaps that count as closed; contact_now.c has 1e-6 */
enum { ROUNDS = 12 };

static int holds(const rest_touch *it, const contact_key *key)
{
    int found = 0;
    for (int h = 0; h < it->bodies->holds; h++) {
        const slopes_hold *hold = &it->bodies->hold[h];
        found |= hold->kind == HOLD_POINT && memcmp(&hold->key, key, sizeof *key) == 0;
    }
    return found;
}

static zw_status find(rest_touch *it, const double *q, zw_error *error)
{
    tree_kinematics(it->bodies->system->tree, q, it->sweeps);
    return slopes_points_find(it->bodies, it->sweeps, error);
}

/* The largest penetration of contacts that are not active. */
static double deepest(const rest_touch *it)
{
    double most = 0;
    for (int k = 0; k < it->bodies->found.count; k++) {
        const contact_point *point = &it->bodies->found.point[k];
        most = holds(it, &point->key) ? most : fmax(most, -point->gap);
    }
    return most;
}

zw_status rest_touch_begin(rest_touch *it, linear *l, const double *q, zw_error *error)
{
    const zw_system *system = l->system;
    *it = (rest_touch){0};
    if (!system->tree || zw_contact_capacity(system) == 0) {
        return ZW_OK;
    }
    slopes_bodies *s = l->slopes->bodies;
    const contact_world *world = system->bodies->contact;
    if (!l->slopes->by_bodies) {
        s->holds = s->values = s->unknowns = 0;
    }
    size_t n = (size_t)system->n, rows = (size_t)s->values + 1;
    it->sweeps = it->memory =
        base_alloc(((size_t)system->tree->at.count + rows * (n + 1) + 2 * n) * sizeof(double));
    if (!it->memory) {
        return base_no_memory(error);
    }
    it->bodies = s;
    it->row = it->sweeps + system->tree->at.count;
    it->off = it->row + rows * n;
    it->dq = it->off + rows;
    it->smallest = INFINITY;
    s->reach = 0;
    for (int i = 0; i < world->geom_count; i++) {
        double r = world->geom[i].radius;
        it->smallest = isfinite(r) ? fmin(it->smallest, r) : it->smallest;
        s->reach = isfinite(r) ? fmax(s->reach, 0.1 * r) : s->reach;
    }
    zw_status status = find(it, q, error);
    it->allowed = fmax(deepest(it) * (1 + 1e-9), CLOSED * it->smallest);
    return status;
}

void rest_touch_free(rest_touch *it)
{
    base_free(it->memory);
}

/* Fills the rows of all active constraints and their errors; returns the largest error. */
static double fill(rest_touch *it)
{
    slopes_bodies *s = it->bodies;
    size_t n = (size_t)s->system->n;
    double most = 0;
    memset(it->off, 0, (size_t)s->values * sizeof *it->off);
    memcpy(it->row, s->B, (size_t)s->values * n * sizeof *it->row);
    for (int h = 0; h < s->holds; h++) {
        const slopes_hold *hold = &s->hold[h];
        const contact_point *point = hold->kind == HOLD_POINT ? slopes_point(s, &hold->key) : NULL;
        double *row = it->row + (size_t)hold->first * n;
        if (point) {
            int columns = contact_rows(s->system, point, it->sweeps, s->column, s->J);
            memset(row, 0, n * sizeof *row);
            for (int k = 0; k < columns; k++) {
                row[s->column[k]] = s->J[k];
            }
            it->off[hold->first] = -point->gap;
            most = fmax(most, fabs(point->gap));
        }
        for (int r = hold->unknowns; r < hold->rows; r++) { /* sliding is free */
            memset(row + (size_t)r * n, 0, n * sizeof *row);
        }
    }
    return most;
}

zw_status rest_touch_close(rest_touch *it, double *q, zw_error *error)
{
    zw_status status = ZW_OK;
    double before = INFINITY;
    for (int k = 0; it->bodies && it->bodies->values > 0 && k < ROUNDS; k++) {
        slopes_bodies *s = it->bodies;
        status = find(it, q, error);
        double most = status == ZW_OK ? fill(it) : 0;
        if (status != ZW_OK || most <= 1e-3 * CLOSED * it->smallest || most > 0.5 * before) {
            return status;
        }
        before = most;
        if (!slopes_some(s->values, s->system->n, it->row, it->off, it->dq)) {
            return base_no_memory(error);
        }
        system_move(s->system, q, 1, it->dq);
    }
    return status;
}

zw_status rest_touch_sinks(rest_touch *it, const double *q, int *sinks, zw_error *error)
{
    zw_status status = it->bodies ? find(it, q, error) : ZW_OK;
    *sinks = it->bodies && status == ZW_OK && deepest(it) > it->allowed;
    return status;
}
