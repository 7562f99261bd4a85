/* The equations of a robot at a state, for given accelerations and multipliers; slopes_bodies.c
 * differentiates them.
 *
 *     known    M a - force
 *     push     sum over active rows of B' l
 *     rate     B a + B' v of each row; of points B' v is a difference along q (+) s v
 *     slip     B v
 */
#include "look/slopes/slopes_bodies.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies.h"
#include "system/events/tangent.h"
#include "tree/sweeps.h"

/* ---- Creating and freeing -------------------------------------------------------------------- */

static void lay_out(slopes_bodies *s, base_arena *arena)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, wide = 2 * (size_t)system->bodies->widest + 1;
    s->q = base_arena_doubles(arena, (size_t)system->nq);
    s->v = base_arena_doubles(arena, n);
    s->w = base_arena_doubles(arena, n);
    s->param = base_arena_doubles(arena, (size_t)system->shape.params);
    s->sweeps = base_arena_doubles(arena, (size_t)system->tree->at.count);
    s->J = base_arena_doubles(arena, 6 * wide);
    s->control_side = base_arena_ints(arena, (size_t)s->system->shape.params);
    s->column = base_arena_ints(arena, wide);
}

slopes_bodies *slopes_bodies_create(const zw_system *system, int simple, zw_error *error)
{
    base_arena arena = {0};
    slopes_bodies *s = base_alloc(sizeof *s);
    if (!s) {
        base_no_memory(error);
        return NULL;
    }
    s->system = system;
    s->simple = simple;
    lay_out(s, &arena);
    s->memory = base_alloc(arena.used + 1);
    arena = (base_arena){.block = s->memory};
    if (s->memory) {
        lay_out(s, &arena);
    }
    s->work = s->memory ? zw_work_create(system, error) : NULL;
    if (!s->work || (zw_contact_capacity(system) > 0 &&
                     contact_work_create(&s->found, system->bodies->contact) != ZW_OK)) {
        slopes_bodies_free(s);
        base_no_memory(error);
        return NULL;
    }
    return s;
}

void slopes_bodies_free(slopes_bodies *s)
{
    if (s) {
        if (zw_contact_capacity(s->system) > 0) {
            contact_work_free(&s->found);
        }
        zw_work_free(s->work);
        base_free(s->hold);
        base_free(s->B);
        base_free(s->y);
        base_free(s->psi_by);
        base_free(s->K);
        base_free(s->by);
        base_free(s->memory);
        base_free(s);
    }
}

/* ---- The equations --------------------------------------------------------------------------- */

size_t slopes_width(const slopes_bodies *s)
{
    return 2 * (size_t)s->system->n + 2 * (size_t)s->values + (size_t)s->system->m;
}

slopes_equation slopes_part(const slopes_bodies *s, double *y)
{
    size_t n = (size_t)s->system->n, values = (size_t)s->values;
    return (slopes_equation){y, y + n, y + 2 * n, y + 2 * n + values, y + 2 * n + 2 * values};
}

zw_status slopes_points_find(slopes_bodies *s, const double *sweeps, zw_error *error)
{
    return contact_find(s->system, &s->found, sweeps, 0, s->reach, error);
}

const contact_point *slopes_point(const slopes_bodies *s, const contact_key *key)
{
    for (int k = 0; k < s->found.count; k++) {
        const contact_key *it = &s->found.point[k].key;
        if (it->geom[0] == key->geom[0] && it->geom[1] == key->geom[1] &&
            it->feature == key->feature) {
            return &s->found.point[k];
        }
    }
    return NULL;
}

/* ---- Points that are carried ------------------------------------------------------------------
 *
 * Where the smallest motion makes other parts of two shapes touch (the corners of boxes of one
 * size, face on face), a point has no derivative of its own. It is then assumed to move with its
 * first body, and counts as a kink. */

void slopes_point_keep(const zw_system *system, const double *sweeps, slopes_hold *it)
{
    static const double none[3] = {0};
    const double *R = sweeps + system->tree->at.R + 9 * it->point.body[0];
    double origin[3];
    tree_point(system->tree, it->point.body[0], none, sweeps, origin);
    for (int i = 0; i < 4; i++) { /* the position, and three axes */
        const double *x = i == 0 ? it->point.pos : it->point.frame + 3 * (i - 1);
        for (int k = 0; k < 3; k++) {
            it->local[3 * i + k] = 0;
            for (int j = 0; j < 3; j++) {
                it->local[3 * i + k] += R[3 * j + k] * (x[j] - (i == 0 ? origin[j] : 0));
            }
        }
    }
}

static contact_point carry(const zw_system *system, const double *sweeps, const slopes_hold *it)
{
    const double *R = sweeps + system->tree->at.R + 9 * it->point.body[0];
    contact_point point = it->point;
    tree_point(system->tree, it->point.body[0], it->local, sweeps, point.pos);
    for (int i = 0; i < 9; i++) {
        const double *x = it->local + 3 + 3 * (i / 3);
        point.frame[i] =
            R[3 * (i % 3)] * x[0] + R[3 * (i % 3) + 1] * x[1] + R[3 * (i % 3) + 2] * x[2];
    }
    return point;
}

/* The point of a hold among the points found; 0: it is missing, and is carried from now on. */
static int point_of(slopes_bodies *s, slopes_hold *it, const double *sweeps, contact_point *to)
{
    const contact_point *found = it->carried ? NULL : slopes_point(s, &it->key);
    if (!found && !it->carried) {
        it->carried = s->lost = 1;
        return 0;
    }
    *to = found ? *found : carry(s->system, sweeps, it);
    return 1;
}

/* B' v of all points along q (+) s v, added to their rates. */
static zw_status add_turns(slopes_bodies *s, const double *q, const double *v, double *rate,
                           zw_error *error)
{
    const zw_system *system = s->system;
    double fast = 0;
    for (int i = 0; i < system->n; i++) {
        fast = fmax(fast, fabs(v[i]));
    }
    double step = s->nearer * SLOPES_SMALL / fmax(fast, 1e-300);
    for (int k = 0; k < 4 && s->moves && fast > 0; k++) {
        memcpy(s->q, q, (size_t)system->nq * sizeof *q);
        system_move(system, s->q, number_place[k] * step, v);
        tree_kinematics(system->tree, s->q, s->sweeps);
        zw_status status = slopes_points_find(s, s->sweeps, error);
        double weight = (k % 3 ? 8 : 1) * (k == 1 || k == 3 ? -1 : 1) / (12 * step);
        for (int h = 0; h < s->holds && status == ZW_OK; h++) {
            slopes_hold *it = &s->hold[h];
            contact_point point;
            if (it->kind != HOLD_POINT || !point_of(s, it, s->sweeps, &point)) {
                continue;
            }
            int columns = contact_rows(system, &point, s->sweeps, s->column, s->J);
            for (int i = 0; i < it->rows * columns; i++) {
                rate[it->first + i / columns] += weight * s->J[i] * v[s->column[i % columns]];
            }
        }
        if (status != ZW_OK) {
            return status;
        }
    }
    return ZW_OK;
}

/* Shortens that way until half of it says the same: on a rim with a tilt points turn by 1/tilt
 * times what the bodies do. */
static zw_status choose_way(slopes_bodies *s, const double *q, const double *v, zw_error *error)
{
    enum { TRIES = 3 };
    size_t count = (size_t)s->values;
    double off = 1, most = 1, *rate = base_alloc(2 * count * sizeof *rate);
    zw_status status = rate ? ZW_OK : base_no_memory(error);
    s->nearer = 16;
    for (int tries = 0; tries < TRIES && off > SLOPES_TURNS * most && status == ZW_OK; tries++) {
        memset(rate, 0, 2 * count * sizeof *rate);
        s->nearer /= 32;
        status = add_turns(s, q, v, rate, error);
        s->nearer *= 2;
        status = status == ZW_OK ? add_turns(s, q, v, rate + count, error) : status;
        off = 0;
        for (size_t i = 0; i < count; i++) {
            off = fmax(off, fabs(rate[i] - rate[count + i]));
            most = fmax(most, fabs(rate[i]));
        }
    }
    base_free(rate);
    return status;
}

/* Adds one row with its multiplier to all quantities that it is part of; B: gets the row, or NULL.
 */
static void put_row(slopes_bodies *s, const slopes_equation *to, const double *a, const double *v,
                    int at, double lambda, int columns, const int *column, const double *J,
                    double *B)
{
    for (int k = 0; k < columns; k++) {
        to->push[column[k]] += lambda * J[k];
        to->rate[at] += J[k] * a[column[k]];
        to->slip[at] += J[k] * v[column[k]];
        if (B) {
            B[(size_t)at * (size_t)s->system->n + (size_t)column[k]] += J[k];
        }
    }
}

static void put_constraint(slopes_bodies *s, const slopes_hold *it, const slopes_equation *to,
                           const double *a, const double *v, double *B)
{
    const zw_system *system = s->system;
    const double *out = s->work->out[PART_TERMS];
    if (it->kind == HOLD_ROW) {
        int r = it->index, from = system->A_start[r];
        put_row(s, to, a, v, it->first, it->lambda[0], system->A_start[r + 1] - from,
                system->A_column + from, out + system->at.A + from, B);
        to->rate[it->first] -= out[system->at.b + r];
        to->slip[it->first] = s->work->out[PART_VELOCITY][r];
        return;
    }
    tangent t = tangent_look(system, it->index, out + system->at.slip);
    double limit = it->kind == HOLD_SLIP ? out[system->at.mu + it->index] : 1;
    put_row(s, to, a, v, it->first, it->lambda[0] * limit, t.columns, t.column, t.T, B);
    to->rate[it->first] += t.bias[0];
}

static void put_masses(const slopes_bodies *s, const double *a, double *to)
{
    const zw_system *system = s->system;
    const double *out = s->work->out[PART_TERMS], *M = out + system->at.M;
    for (int i = 0; i < system->n; i++) {
        to[i] = -out[system->at.force + i];
    }
    for (int k = 0; k < system->C_count; k++) {
        to[system->C_coord[k]] -= out[system->at.C + k];
    }
    for (int j = 0; j < system->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            int i = system->M_row[k];
            to[i] += M[k] * a[j];
            to[j] += i != j ? M[k] * a[i] : 0;
        }
    }
}

static zw_status put_points(slopes_bodies *s, const slopes_equation *to, const double *a,
                            const double *q, const double *v, double *B, zw_error *error)
{
    zw_status status = ZW_OK;
    int points = 0;
    for (int h = 0; h < s->holds; h++) {
        points += s->hold[h].kind == HOLD_POINT;
    }
    if (points == 0) {
        return ZW_OK;
    }
    status = slopes_points_find(s, s->work->sweeps, error);
    for (int h = 0; h < s->holds && status == ZW_OK; h++) {
        slopes_hold *it = &s->hold[h];
        contact_point point;
        if (it->kind != HOLD_POINT || !point_of(s, it, s->work->sweeps, &point)) {
            continue;
        }
        int columns = contact_rows(s->system, &point, s->work->sweeps, s->column, s->J);
        for (int r = 0; r < it->rows; r++) {
            put_row(s, to, a, v, it->first + r, it->lambda[r], columns, s->column,
                    s->J + r * columns, B);
        }
    }
    status = status == ZW_OK && s->nearer == 0 ? choose_way(s, q, v, error) : status;
    return status == ZW_OK ? add_turns(s, q, v, to->rate, error) : status;
}

/* All equations at a state, for given accelerations and multipliers. */
zw_status slopes_equations(slopes_bodies *s, double t, const double *q, const double *v,
                           const double *param, const double *a, double *y, double *B,
                           zw_error *error)
{
    const zw_system *system = s->system;
    zw_work *work = s->work;
    slopes_equation to = slopes_part(s, y);
    memset(y, 0, slopes_width(s) * sizeof *y);
    system_bind(system, work, param);
    zw_status status = system_evaluate(system, work, PART_TERMS, t, q, v, NULL, NULL, error);
    if (status == ZW_OK && system->m > 0) {
        status = system_evaluate(system, work, PART_VELOCITY, t, q, v, NULL, NULL, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    if (!s->simple) {
        put_masses(s, a, to.known);
    }
    for (int h = 0; h < s->holds; h++) {
        if (s->hold[h].kind != HOLD_POINT) {
            put_constraint(s, &s->hold[h], &to, a, v, B);
        }
    }
    const double *A = work->out[PART_TERMS] + system->at.A;
    for (int r = 0; r < system->m; r++) {
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            to.Aw[r] += A[k] * s->w[system->A_column[k]];
        }
    }
    return put_points(s, &to, a, q, v, B, error);
}
