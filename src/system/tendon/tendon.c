/* Spatial tendons at an instant; tendon.h has the formulas. */
#include "system/tendon/tendon.h"

#include <math.h>
#include <string.h>

#include "model/pose.h"
#include "system/tendon/wrap.h"
#include "tree/sweeps.h"

/* A point of the path: its body, and its velocity over it (zero at sites). */
typedef struct way_point {
    int body, part;
    double place[3], slip[3];
} way_point;

/* The path between two sites: two points, or four and an arc. */
typedef struct way_part {
    int count;
    way_point point[4];
    double arc, divisor;
} way_part;

static way_point at_frame(const tree_mechanism *tree, const bodies_frame *frame,
                          const double *sweeps)
{
    way_point p = {.body = frame->body, .part = frame->part};
    tree_point(tree, frame->body, frame->pos, sweeps, p.place);
    return p;
}

/* The axes of a frame as rows. */
static void axes_of(const tree_mechanism *tree, const bodies_frame *frame, const double *sweeps,
                    double axis[3][3])
{
    const double *R = sweeps + tree->at.R + 9 * frame->body;
    double own[9];
    model_quat_matrix(frame->quat, own);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            axis[i][k] = R[3 * k] * own[i] + R[3 * k + 1] * own[3 + i] + R[3 * k + 2] * own[6 + i];
        }
    }
}

/* The velocity of a site relative to the body of the shape, at the site. */
static void relative_velocity(const tree_mechanism *tree, const way_point *site, int body,
                              const double *sweeps, double v[3])
{
    double own[6], other[6];
    tree_point_velocity(tree, site->body, site->place, sweeps, own);
    tree_point_velocity(tree, body, site->place, sweeps, other);
    for (int k = 0; k < 3; k++) {
        v[k] = own[3 + k] - other[3 + k];
    }
}

static void into(double axis[3][3], const double x[3], double seen[3])
{
    for (int i = 0; i < 3; i++) {
        seen[i] = model_dot(axis[i], x);
    }
}

static void out_of(double axis[3][3], const double seen[3], double x[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] = axis[0][k] * seen[0] + axis[1][k] * seen[1] + axis[2][k] * seen[2];
    }
}

/* Wraps around the shape, if the path touches it; moving: velocities are needed, and available. */
static void wrap(const tree_mechanism *tree, const bodies_stop *stop, int coarse, int moving,
                 const double *sweeps, way_part *part)
{
    way_point centre = at_frame(tree, &stop->frame, sweeps);
    wrap_shape shape = {
        .cylinder = stop->kind == STOP_CYLINDER, .radius = stop->radius, .coarse = coarse};
    wrap_answer answer;
    double axis[3][3], x[2][3], v[2][3] = {{0}}, side[3], d[3];
    axes_of(tree, &stop->frame, sweeps, axis);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            d[k] = part->point[i].place[k] - centre.place[k];
        }
        into(axis, d, x[i]);
        if (moving) {
            relative_velocity(tree, &part->point[i], centre.body, sweeps, d);
            into(axis, d, v[i]);
        }
    }
    if (stop->has_side) {
        way_point at = at_frame(tree, &stop->side, sweeps);
        for (int k = 0; k < 3; k++) {
            d[k] = at.place[k] - centre.place[k];
        }
        into(axis, d, side);
        shape.side = side;
    }
    if (!wrap_around(&shape, x, v, &answer)) {
        return;
    }
    part->point[3] = part->point[1];
    part->count = 4;
    part->arc = answer.arc;
    for (int i = 0; i < 2; i++) {
        way_point *p = &part->point[1 + i];
        p->body = centre.body;
        p->part = centre.part;
        out_of(axis, answer.point[i], p->place);
        out_of(axis, answer.speed[i], p->slip);
        for (int k = 0; k < 3; k++) {
            p->place[k] += centre.place[k];
        }
    }
}

/* The part of the path from stop `at`, a site; returns the stop at its end, or -1: a branch
 * ends. */
static int next_part(const tree_mechanism *tree, const bodies_stop *stop, const bodies_path *path,
                     int at, int coarse, int moving, const double *sweeps, way_part *part)
{
    int end = path->first + path->count, over = stop[at + 1].kind != STOP_SITE;
    if (at + 1 >= end || stop[at + 1].begins) {
        return -1;
    }
    int to = at + 1 + over;
    *part = (way_part){.count = 2, .divisor = stop[to].divisor};
    part->point[0] = at_frame(tree, &stop[at].frame, sweeps);
    part->point[1] = at_frame(tree, &stop[to].frame, sweeps);
    if (over) {
        wrap(tree, &stop[at + 1], coarse, moving, sweeps, part);
    }
    return to;
}

/* u/|u| of the straight part after point i; returns |u|. */
static double direction(const way_part *part, int i, double e[3])
{
    double size;
    for (int k = 0; k < 3; k++) {
        e[k] = part->point[i + 1].place[k] - part->point[i].place[k];
    }
    size = sqrt(model_dot(e, e));
    for (int k = 0; k < 3; k++) {
        e[k] = size > 0 ? e[k] / size : 0;
    }
    return size;
}

static int is_arc(const way_part *part, int i)
{
    return part->count == 4 && i == 1;
}

/* ---- Length and J ---------------------------------------------------------------------------- */

/* coef += e . (J of the point after the straight part i - J of that before it), over the terms,
 * which are in rising order like the dofs of a chain. What moves both bodies moves no point of the
 * part along e: w x (x1 - x0) is across it. So both chains end where they meet. */
static void pull(const tree_mechanism *tree, const bodies_term *term, int count,
                 const way_part *part, int i, const double e[3], const double *sweeps, double *coef)
{
    int d[2] = {tree->body[part->point[i].body].last_dof,
                tree->body[part->point[i + 1].body].last_dof};
    while (d[0] != d[1]) {
        int end = d[1] > d[0], dof = d[end];
        const double *S = sweeps + tree->at.S + 6 * dof;
        const double *com = sweeps + tree->at.com + 3 * tree->dof_body[dof];
        const double *place = part->point[i + end].place;
        double arm[3] = {place[0] - com[0], place[1] - com[1], place[2] - com[2]}, turn[3];
        model_cross(turn, arm, e);
        do {
            count--;
        } while (term[count].dof != dof);
        coef[count] += (end ? 1 : -1) * (model_dot(S, turn) + model_dot(S + 3, e));
        d[end] = tree->dof_parent[dof];
    }
}

double tendon_measure(const tree_mechanism *tree, const struct system_bodies *bodies, int index,
                      int coarse, const double *sweeps, double *coef)
{
    const bodies_path *path = &bodies->path[index];
    const bodies_length *own = &bodies->length[path->length];
    double length = 0;
    way_part part;
    memset(coef, 0, (size_t)own->count * sizeof *coef);
    for (int at = path->first, to; at < path->first + path->count - 1; at = to) {
        to = next_part(tree, bodies->stop, path, at, coarse, 0, sweeps, &part);
        if (to < 0) {
            to = at + 1;
            continue;
        }
        length += part.arc / part.divisor;
        for (int i = 0; i + 1 < part.count; i++) {
            double e[3];
            if (is_arc(&part, i)) {
                continue;
            }
            length += direction(&part, i, e) / part.divisor;
            for (int k = 0; k < 3; k++) {
                e[k] /= part.divisor;
            }
            pull(tree, bodies->term + own->first, own->count, &part, i, e, sweeps, coef);
        }
    }
    return length;
}

void tendon_load(const zw_system *system, zw_work *work, int index, double force)
{
    const bodies_path *path = &system->bodies->path[index];
    way_part part;
    for (int at = path->first, to; at < path->first + path->count - 1; at = to) {
        to = next_part(system->tree, system->bodies->stop, path, at, work->as_mujoco, 0,
                       work->sweeps, &part);
        for (int i = 0; to >= 0 && i + 1 < part.count; i++) {
            double e[3], pull[6] = {0}, back[6] = {0};
            direction(&part, i, e);
            for (int k = 0; k < 3 && !is_arc(&part, i); k++) {
                pull[3 + k] = force * e[k] / part.divisor;
                back[3 + k] = -pull[3 + k];
            }
            bodies_relieve(system, work, part.point[i].part, back, part.point[i].place);
            bodies_relieve(system, work, part.point[i + 1].part, pull, part.point[i + 1].place);
        }
        to = to < 0 ? at + 1 : to;
    }
}

/* ---- The second derivative ------------------------------------------------------------------- */

/* w, w' and the velocity of the point itself. */
static void motion_of(const tree_mechanism *tree, const way_point *point, const double *sweeps,
                      double w[3], double w_rate[3], double moves[3])
{
    double V[6], A[6], drag[3];
    tree_point_velocity(tree, point->body, point->place, sweeps, V);
    tree_point_acceleration(tree, point->body, point->place, sweeps, A);
    model_cross(drag, V, point->slip);
    for (int k = 0; k < 3; k++) {
        w[k] = V[3 + k];
        w_rate[k] = A[3 + k] + drag[k];
        moves[k] = V[3 + k] + point->slip[k];
    }
}

static double straight_bias(const tree_mechanism *tree, const way_part *part, int i,
                            const double *sweeps)
{
    double e[3], w[2][3], w_rate[2][3], moves[2][3], along = 0, sum = 0;
    double size = direction(part, i, e);
    if (part->point[i].body == part->point[i + 1].body || size == 0) {
        return 0;
    }
    for (int s = 0; s < 2; s++) {
        motion_of(tree, &part->point[i + s], sweeps, w[s], w_rate[s], moves[s]);
    }
    for (int k = 0; k < 3; k++) {
        along += e[k] * (moves[1][k] - moves[0][k]);
    }
    for (int k = 0; k < 3; k++) {
        double e_rate = (moves[1][k] - moves[0][k] - e[k] * along) / size;
        sum += e_rate * (w[1][k] - w[0][k]) + e[k] * (w_rate[1][k] - w_rate[0][k]);
    }
    return sum / part->divisor;
}

double tendon_bias(const tree_mechanism *tree, const struct system_bodies *bodies, int index,
                   int coarse, const double *sweeps)
{
    const bodies_path *path = &bodies->path[index];
    double sum = 0;
    way_part part;
    for (int at = path->first, to; at < path->first + path->count - 1; at = to) {
        to = next_part(tree, bodies->stop, path, at, coarse, 1, sweeps, &part);
        for (int i = 0; to >= 0 && i + 1 < part.count; i++) {
            sum += is_arc(&part, i) ? 0 : straight_bias(tree, &part, i, sweeps);
        }
        to = to < 0 ? at + 1 : to;
    }
    return sum;
}

/* ---- Cached values --------------------------------------------------------------------------- */

void tendon_lay_out(const zw_system *system, zw_work *work, base_arena *arena)
{
    const struct system_bodies *bodies = system->bodies;
    if (bodies->path_count == 0) {
        return;
    }
    struct tendon_now *now = base_arena_bytes(arena, sizeof *now);
    struct tendon_now list = {
        .q = base_arena_doubles(arena, (size_t)system->nq),
        .coef = base_arena_doubles(arena, (size_t)bodies->term_count),
        .length = base_arena_doubles(arena, (size_t)bodies->path_count),
        .sweeps = base_arena_doubles(arena, (size_t)system->tree->at.count),
    };
    work->tendons = now;
    if (now) { /* not in the counting pass */
        *now = list;
    }
}

void bodies_stretch(const zw_system *system, const zw_work *work, const double *q,
                    const double *sweeps)
{
    const struct system_bodies *bodies = system->bodies;
    struct tendon_now *now = work->tendons;
    size_t bytes = (size_t)system->nq * sizeof *q;
    if (bodies->path_count == 0 ||
        (now->known && now->coarse == work->as_mujoco && memcmp(q, now->q, bytes) == 0)) {
        return;
    }
    if (!sweeps) {
        tree_kinematics(system->tree, q, now->sweeps);
        sweeps = now->sweeps;
    }
    if (!now->known) {
        memcpy(now->coef, bodies->coef, (size_t)bodies->term_count * sizeof *now->coef);
    }
    memcpy(now->q, q, bytes);
    now->known = 1;
    now->coarse = work->as_mujoco;
    for (int i = 0; i < bodies->path_count; i++) {
        int first = bodies->length[bodies->path[i].length].first;
        now->length[i] =
            tendon_measure(system->tree, bodies, i, now->coarse, sweeps, now->coef + first);
    }
}

const double *bodies_coef_at(const zw_system *system, const zw_work *work, const double *q)
{
    if (system->bodies->path_count == 0) {
        return system->bodies->coef;
    }
    bodies_stretch(system, work, q, NULL);
    return work->tendons->coef;
}

double bodies_length_of(const zw_system *system, const zw_work *work, int length, const double *q)
{
    const struct system_bodies *bodies = system->bodies;
    const bodies_length *it = &bodies->length[length];
    double sum = 0;
    if (it->path >= 0) {
        bodies_stretch(system, work, q, NULL);
        return work->tendons->length[it->path];
    }
    for (int k = it->first; k < it->first + it->count; k++) {
        sum += bodies->coef[k] * q[bodies->term[k].q];
    }
    return sum;
}

double bodies_rate_of(const zw_system *system, const zw_work *work, int length, const double *q,
                      const double *v)
{
    const bodies_length *it = &system->bodies->length[length];
    const double *coef = it->path < 0 ? system->bodies->coef : bodies_coef_at(system, work, q);
    double sum = 0;
    for (int k = it->first; k < it->first + it->count; k++) {
        sum += coef[k] * v[system->bodies->term[k].dof];
    }
    return sum;
}

double bodies_length_bias(const zw_system *system, const zw_work *work, int length)
{
    int path = system->bodies->length[length].path;
    return path < 0
               ? 0
               : tendon_bias(system->tree, system->bodies, path, work->as_mujoco, work->sweeps);
}
