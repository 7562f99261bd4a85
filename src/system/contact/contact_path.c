/* Do bodies pass through each other within a step?
 *
 * A step leads from q0 to q1 = q0 (+) h u along the path q(t) = q0 (+) t u, 0 <= t <= h. For two
 * geoms, with n the direction in which they are `gap` apart at some time t,
 *
 *     sep(t + s) = gap along n at t + s,     with n as it was
 *
 * is a lower bound of their distance later, by a plane normal to n. It decreases by no more than
 *
 *     (c + R) s + A s^2/2                    c: approach speed of the centres along n
 *                                            R: bound on the approach by rotation along n
 *                                            A: bound of the accelerations of all points
 *
 * so that they cannot meet before this equals the gap; from there the test is repeated.
 * (Conservative advancement, Mirtich 1996; Zhang, Lee and Kim 2006 for articulated bodies. The
 * second-order term makes the first-order one exact, where they bound the whole motion by the
 * fastest point.) For long s, where the parabola is a poor bound, two more bounds hold: no point
 * moves farther than its largest speed allows; and rotation moves no point farther than the extent
 * of the geom. The best of the three is used.
 *
 * The same holds backwards. A pair that is not proved apart for the whole path from its start is
 * tested from its end: as parabolas of half the length are four times flatter, the two tests
 * together suffice for most pairs that come close. (Not if one is a mesh or a field: nothing is
 * found behind its triangles.) The remaining interval is marched through. All pairs stop at common
 * instants, the ends of eighths of the path, where each body is placed once; only pairs so close
 * that they need shorter advances are tested at other times, with the kinematics of the two bodies
 * only.
 *
 * R. A point at x from the centre moves along n with n . (omega x x) <= |n x omega| r. Rotation
 * does not change a sphere: r = 0. For a capsule only the axis counts: |n . (omega x axis)| half
 * its length. For a body of revolution only the rotation of its axis counts: |omega x axis| r. So
 * rolling wheels cost no more than sliding bodies.
 *
 * A. With all speeds u constant, angular velocities are W_i = W_parent + sum of the rates of the
 * joints at most, their rates of change E_i = E_parent + sum of W_before * rate, as each joint's
 * axis is carried by the body before it, and the centre of mass of body i, at a distance l from
 * that of its parent, has an acceleration of B_i = B_parent + (E_i + W_i^2) l + 2 W_i slide. Free
 * bodies have E = 0, and B = W^2 times the distance of the centre from the joint's origin. Rates of
 * a robot's joints partly cancel: if the motion at one instant is known, |omega_i| there plus E_i h
 * bounds W_i as well, and the speed of the centre there plus B_i h its speed.
 *
 * Planes that rotate: r of the plane is the distance of the other geom from the plane's origin.
 *
 * Depth. Two geoms that contain spheres of radius r1 and r2 can only pass through each other if the
 * penetration reaches r1 + r2 somewhere on the path. If a pair is part of the step's problem, i.e.
 * touches at the start or at the end, a quarter of that depth is allowed in between (a body that
 * tips over an edge dips by r angle^2/8, as its joint moves straight). On planes, which have no
 * other side, a sixteenth of the size of the geom. Other pairs must not touch at all, unless the
 * rest of the path is shorter than that depth. */
#include "system/contact/contact_path.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collide/vector.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

enum { MANIFOLD = 128 };

/* ---- Bounds of all bodies -------------------------------------------------------------------- */

void contact_path_lay_out(contact_path *path, const zw_system *system, base_arena *arena)
{
    path->system = system;
    double **of_bodies[] = {&path->turn, &path->twist, &path->speed, &path->bend};
    for (int k = 0; k < 4; k++) {
        *of_bodies[k] = base_arena_doubles(arena, (size_t)system->tree->bodies);
    }
    path->length = base_arena_doubles(arena, (size_t)system->tree->bodies);
    path->out = base_arena_doubles(arena, (size_t)system->bodies->contact->geom_count);
    path->q = base_arena_doubles(arena, (size_t)system->nq);
    path->sweeps = base_arena_doubles(arena, (size_t)system->tree->at.count);
    for (int k = 0; k < CONTACT_PATH_INSTANTS; k++) {
        path->instant[k] = base_arena_doubles(arena, (size_t)system->tree->at.count);
    }
    path->known = base_arena_bytes(arena, CONTACT_PATH_INSTANTS * (size_t)system->tree->bodies);
}

/* Constant lengths: for each body the largest distance of its centre from that of its parent,
 * without slides; for each geom its distance from the centre of its body, or for a free body from
 * its joint.
 */
void contact_path_measure(contact_path *path)
{
    const tree_mechanism *tree = path->system->tree;
    const contact_world *world = path->system->bodies->contact;
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        path->length[i] = v3_length(body->com_from_end);
        path->length[i] += body->is_free ? 0 : v3_length(body->start);
        for (int j = body->joint; j < body->joint_end && !body->is_free; j++) {
            path->length[i] += tree->joint[j].is_stepped ? v3_length(tree->joint[j].step) : 0;
        }
    }
    for (int g = 0; g < world->geom_count; g++) {
        const contact_geom *geom = &world->geom[g];
        const tree_body *body = &tree->body[geom->body];
        double to[3];
        v3_sub(to, geom->pos, body->com);
        path->out[g] = v3_length(body->is_free ? geom->pos : to);
    }
}

zw_status contact_path_create(contact_path *path, const zw_system *system)
{
    base_arena arena = {0};
    *path = (contact_path){0};
    contact_path_lay_out(path, system, &arena);
    path->memory = base_alloc(arena.used);
    arena = (base_arena){.block = path->memory};
    if (path->memory) {
        contact_path_lay_out(path, system, &arena);
        contact_path_measure(path);
    }
    return path->memory ? ZW_OK : ZW_NO_MEMORY;
}

void contact_path_free(contact_path *path)
{
    base_free(path->memory);
    *path = (contact_path){0};
}

/* Body i, after its parent; sweeps (or NULL): of an instant of the path, with the speeds u. */
static void bound_body(contact_path *path, int i, const double *sweeps)
{
    const tree_mechanism *tree = path->system->tree;
    const tree_body *body = &tree->body[i];
    int p = body->parent;
    double W = path->turn[p], E = path->twist[p], slide = 0;
    double length = path->length[i];
    for (int j = body->joint; j < body->joint_end; j++) {
        const tree_joint *joint = &tree->joint[j];
        const double *u = path->u + joint->v, *q = path->q0 + joint->q;
        double rate = joint->kind == TREE_FREE   ? v3_length(u + 3)
                      : joint->kind == TREE_BALL ? v3_length(u)
                                                 : fabs(u[0]);
        if (joint->kind == TREE_SLIDE) {
            slide += rate;
            length += fabs(q[0] - joint->rest) + path->h * rate;
        } else {
            E += W * rate;
            W += rate;
        }
    }
    const double *V = sweeps ? sweeps + tree->at.V + 6 * i : NULL;
    W = V ? v3_min(W, v3_length(V) + E * path->h) : W;
    path->turn[i] = W;
    path->twist[i] = E;
    if (body->is_free) {
        path->speed[i] = v3_length(path->u + body->dof) + W * length;
        path->bend[i] = W * W * length;
    } else {
        path->speed[i] = path->speed[p] + W * length + slide;
        path->bend[i] = path->bend[p] + (E + W * W) * length + 2 * W * slide;
    }
    path->speed[i] =
        V ? v3_min(path->speed[i], v3_length(V + 3) + path->bend[i] * path->h) : path->speed[i];
}

static void bound_bodies(contact_path *path, const double *sweeps)
{
    path->turn[0] = path->twist[0] = path->speed[0] = path->bend[0] = 0;
    for (int i = 1; i < path->system->tree->bodies; i++) {
        bound_body(path, i, sweeps);
    }
}

void contact_path_tighten(contact_path *path, const double *sweeps)
{
    bound_bodies(path, sweeps);
}

void contact_path_begin(contact_path *path, const double *q0, const double *u, double h)
{
    path->q0 = q0;
    path->u = u;
    path->h = h;
    path->start = NULL;
    path->placed = 0;
    memset(path->known, 0, CONTACT_PATH_INSTANTS * (size_t)path->system->tree->bodies);
    bound_bodies(path, NULL);
}

/* ---- Bounds of a geom ------------------------------------------------------------------------ */

typedef struct motion {
    collide_pose pose;
    double v[3], w[3];  /* velocity of the centre, angular velocity: now */
    double speed, bend; /* bounds of the centre's speed and acceleration on the path */
    double turn, twist; /* bounds of |omega| and |omega'| on the path */
    double r;           /* largest distance of rotating points from the centre */
    int kind;
} motion;

static double lever(const contact_geom *geom)
{
    return geom->shape.kind == COLLIDE_SPHERE    ? 0
           : geom->shape.kind == COLLIDE_CAPSULE ? geom->shape.size[1]
                                                 : geom->radius;
}

static motion bounds_of(const contact_path *path, int g)
{
    const contact_geom *geom = &path->system->bodies->contact->geom[g];
    const tree_body *body = &path->system->tree->body[geom->body];
    motion m = {.kind = (int)geom->shape.kind, .r = lever(geom)};
    if (geom->body == 0) {
        return m;
    }
    m.turn = path->turn[geom->body];
    m.twist = path->twist[geom->body];
    double out = path->out[g];
    if (body->is_free) {
        m.speed = v3_length(path->u + body->dof) + m.turn * out;
        m.bend = m.turn * m.turn * out;
    } else {
        m.speed = path->speed[geom->body] + m.turn * out;
        m.bend = path->bend[geom->body] + (m.twist + m.turn * m.turn) * out;
    }
    return m;
}

/* The motion at the instant of these sweeps. */
static void motion_now(const contact_path *path, int g, const double *sweeps, motion *m)
{
    const tree_mechanism *tree = path->system->tree;
    int body = path->system->bodies->contact->geom[g].body;
    if (body > 0) {
        const double *V = sweeps + tree->at.V + 6 * body; /* of the centre of mass */
        double arm[3];
        v3_sub(arm, m->pose.pos, sweeps + tree->at.com + 3 * body);
        v3_copy(m->w, V);
        v3_cross(m->v, V, arm);
        v3_add(m->v, m->v, 1, V + 3);
    }
}

/* The end of part k of the path. */
static double instant_of(const contact_path *path, int k)
{
    return k * path->h / CONTACT_PATH_INSTANTS;
}

/* The last such instant up to the time `to`, if it is after `from`; else `to`. */
static double go_to(const contact_path *path, double from, double to)
{
    double last = instant_of(path, (int)(to / path->h * CONTACT_PATH_INSTANTS));
    return last > from && last <= to ? last : to;
}

/* Sweeps at the time t in which this body is placed. */
static const double *see_body(contact_path *path, int body, double t)
{
    const tree_mechanism *tree = path->system->tree;
    int k = (int)(t / path->h * CONTACT_PATH_INSTANTS + 0.5) - 1;
    if (t == 0 && path->start) {
        return path->start;
    }
    int shared = k >= 0 && t == instant_of(path, k + 1);
    double *sweeps = shared ? path->instant[k] : path->sweeps;
    unsigned char *known = shared ? path->known + k * tree->bodies : NULL;
    if (!known || !known[body]) {
        tree_path_body(tree, path->q0, path->u, t, body, known, path->q, sweeps);
    }
    return sweeps;
}

static motion motion_at(contact_path *path, const contact_work *work, int g, double t)
{
    const contact_geom *geom = &path->system->bodies->contact->geom[g];
    motion m = bounds_of(path, g);
    if (geom->body == 0 || (t == 0 && path->start && path->placed)) {
        m.pose = work->pose[g];
        motion_now(path, g, path->start, &m);
    } else {
        const double *sweeps = see_body(path, geom->body, t);
        contact_place(path->system, geom, sweeps, &m.pose);
        motion_now(path, g, sweeps, &m);
    }
    return m;
}

double contact_path_length(const contact_path *path, int geom)
{
    motion m = bounds_of(path, geom);
    return path->h * (m.speed + (m.turn > 0 ? m.turn * m.r : 0));
}

double contact_path_reach(const contact_path *path, int geom, const collide_pose *pose,
                          const double *sweeps)
{
    motion m = bounds_of(path, geom);
    double h = path->h, turn = 0;
    m.pose = *pose;
    motion_now(path, geom, sweeps, &m);
    if (m.turn > 0) {
        turn = m.r * v3_min(h * v3_length(m.w) + 0.5 * m.twist * h * h, m.turn * h);
    }
    return v3_min(h * v3_length(m.v) + 0.5 * m.bend * h * h, m.speed * h) + turn;
}

/* ---- Two geoms ------------------------------------------------------------------------------- */

/* The lever of a rotating plane is the distance of the other geom. */
static void set_planes(const contact_path *path, int a, int b, motion *x, motion *y)
{
    const contact_geom *geom = path->system->bodies->contact->geom;
    double to[3];
    v3_sub(to, y->pose.pos, x->pose.pos);
    double far = v3_length(to) + (x->speed + y->speed) * path->h;
    if (x->kind == COLLIDE_PLANE) {
        x->r = x->turn > 0 ? far + geom[b].radius : 0;
    }
    if (y->kind == COLLIDE_PLANE) {
        y->r = y->turn > 0 ? far + geom[a].radius : 0;
    }
    x->r = x->turn > 0 ? x->r : 0; /* fixed planes stay infinite */
    y->r = y->turn > 0 ? y->r : 0;
}

/* An upper bound of the speed of points along n by rotation. */
static double turning(const motion *m, const double n[3])
{
    const double axis[3] = {m->pose.R[2], m->pose.R[5], m->pose.R[8]};
    double across[3];
    if (m->r == 0) {
        return 0;
    }
    switch (m->kind) {
    case COLLIDE_CAPSULE:
        v3_cross(across, m->w, axis);
        return m->r * fabs(v3_dot(n, across));
    case COLLIDE_CYLINDER:
    case COLLIDE_CONE:
        v3_cross(across, m->w, axis);
        return m->r * v3_length(across);
    default:
        v3_cross(across, m->w, n);
        return m->r * v3_length(across);
    }
}

/* Solves distance = c s + A s^2/2; INFINITY: never reached. */
static double time_of(double distance, double c, double A)
{
    double sum = c + sqrt(c * c + 2 * A * distance);
    return sum > 0 ? 2 * distance / sum : INFINITY;
}

/* For how long no point approaches along n by more than `distance`. way: 1: later, -1: earlier. */
static double safe_for(const motion *a, const motion *b, const double n[3], double distance,
                       double way)
{
    double v[3], far = 2 * (a->r + b->r);
    if (!(distance > 0)) {
        return 0;
    }
    v3_sub(v, a->v, b->v);
    double close = way * v3_dot(n, v), turn = turning(a, n) + turning(b, n), best;
    double fastest = a->speed + b->speed + a->turn * a->r + b->turn * b->r;
    double bend = a->bend + b->bend;
    double spin = (a->twist + a->turn * a->turn) * a->r + (b->twist + b->turn * b->turn) * b->r;
    best = v3_max(time_of(distance, close + turn, bend + spin), time_of(distance, fastest, 0));
    return distance > far ? v3_max(best, time_of(distance - far, close, bend)) : best;
}

double contact_path_depth(const contact_path *path, int a, int b)
{
    const contact_geom *geom = path->system->bodies->contact->geom;
    double depth = 0.5 * (geom[a].thick + geom[b].thick);
    if (geom[a].shape.kind == COLLIDE_PLANE || geom[b].shape.kind == COLLIDE_PLANE) {
        depth = v3_max(depth, 0.125 * v3_min(geom[a].radius, geom[b].radius));
    }
    return depth;
}

double contact_path_near(const contact_path *path, int a, int b)
{
    const contact_geom *geom = path->system->bodies->contact->geom;
    int plane = geom[a].shape.kind == COLLIDE_PLANE || geom[b].shape.kind == COLLIDE_PLANE;
    return plane ? INFINITY : CONTACT_PATH_NEAR * contact_path_depth(path, a, b);
}

static double size_of(const collide_pose *pose)
{
    return fabs(pose->pos[0]) + fabs(pose->pos[1]) + fabs(pose->pos[2]);
}

double contact_path_hair(const contact_path *path, const contact_work *work, int a, int b)
{
    const contact_geom *geom = path->system->bodies->contact->geom;
    double far = size_of(&work->pose[a]) + size_of(&work->pose[b]);
    return CONTACT_PATH_HAIR(geom[a].thick + geom[b].thick, far);
}

double contact_path_safe(const contact_path *path, const contact_work *work, int a, int b,
                         const double *sweeps, const double n[3], double distance, double way)
{
    motion x = bounds_of(path, a), y = bounds_of(path, b);
    x.pose = work->pose[a];
    y.pose = work->pose[b];
    motion_now(path, a, sweeps, &x);
    motion_now(path, b, sweeps, &y);
    set_planes(path, a, b, &x, &y);
    return safe_for(&x, &y, n, distance, way);
}

/* Points of a pair, with gaps minus the margin of the two, and the nearest of them. */
typedef struct look {
    collide_point point[MANIFOLD];
    int count;
    double gap;
} look;

/* 0: they are farther apart than `far`. */
static int look_at(const contact_path *path, const contact_match *match, const motion *x,
                   const motion *y, double far, look *out)
{
    const contact_geom *geom = path->system->bodies->contact->geom;
    int count = collide_pair(&geom[match->a].shape, &x->pose, &geom[match->b].shape, &y->pose,
                             far + match->margin, out->point, MANIFOLD);
    out->count = count < MANIFOLD ? count : MANIFOLD;
    out->gap = INFINITY;
    for (int k = 0; k < out->count; k++) {
        out->point[k].gap -= match->margin;
        out->gap = v3_min(out->gap, out->point[k].gap);
    }
    return count > 0;
}

static int are_pieces(const motion *x, const motion *y)
{
    return contact_is_pieces(x->kind) || contact_is_pieces(y->kind);
}

/* For how long no point comes closer than -depth, later (way 1) or earlier (-1). For convex shapes
 * the plane of the nearest point bounds all points; fields and meshes consist of convex pieces,
 * each with its own. */
static double look_along(const look *seen, const motion *x, const motion *y, double depth,
                         double way)
{
    int pieces = are_pieces(x, y);
    double best = INFINITY;
    for (int k = 0; k < seen->count; k++) {
        const collide_point *point = &seen->point[k];
        if (pieces || point->gap == seen->gap) {
            best = v3_min(best, safe_for(x, y, point->normal, point->gap + depth, way));
            if (!pieces) {
                break;
            }
        }
    }
    return best;
}

/* The time from which, by the test from the end of the path, the two come no closer than -depth;
 * pairs farther apart than `far` there are not examined. */
static double free_from(contact_path *path, const contact_work *work, const contact_match *match,
                        double far, double depth)
{
    look there;
    motion x = motion_at(path, work, match->a, path->h);
    motion y = motion_at(path, work, match->b, path->h);
    set_planes(path, match->a, match->b, &x, &y);
    if (!look_at(path, match, &x, &y, far, &there)) {
        return 0;
    }
    return path->h - look_along(&there, &x, &y, depth, -1);
}

double contact_path_meet(contact_path *path, const contact_work *work, int a, int b, double until,
                         int seen, int *sure)
{
    const contact_match match = contact_match_of(path->system->bodies->contact, a, b);
    double depth = contact_path_depth(path, a, b), hair = contact_path_hair(path, work, a, b);
    double t = 0, touched = -1;
    int apart = 1;
    look here;
    for (int k = 0; k < CONTACT_PATH_LOOKS; k++) {
        motion x = motion_at(path, work, a, t), y = motion_at(path, work, b, t);
        set_planes(path, a, b, &x, &y);
        double fastest = x.speed + y.speed + x.turn * x.r + y.turn * y.r;
        if (!look_at(path, &match, &x, &y, fastest * (until - t) + hair, &here) ||
            (k == 0 && here.gap < -0.5 * depth)) {
            return INFINITY; /* too far apart, or overlapping from the start */
        }
        double gap = here.gap;
        if (k == 0) {
            apart = gap > hair;
            if (seen < 0 && !apart) {
                return INFINITY;
            }
            seen = seen > 0 || !apart;
        }
        touched = touched < 0 && gap <= hair ? t : touched;
        if (gap > -0.5 * depth && fastest * (until - t) <= 0.5 * depth) {
            return INFINITY; /* the rest of the path is too short to pass through */
        }
        if (!seen && gap <= hair) { /* contacts from behind a mesh are ignored */
            return gap >= -depth - hair ? t : INFINITY;
        }
        if (seen && gap <= -0.5 * depth) {
            return apart ? touched : 0.5 * t;
        }
        double before = t;
        t += look_along(&here, &x, &y, seen ? depth : 0, 1);
        if (t < until && k == 0 && !are_pieces(&x, &y)) {
            double far = fastest * path->h + hair;
            until = v3_min(until, free_from(path, work, &match, far, seen ? depth : 0));
        }
        if (t >= until) {
            return INFINITY;
        }
        t = go_to(path, before, t);
    }
    *sure = 0;
    return apart ? t : 0.5 * t;
}
