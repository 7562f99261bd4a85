/* Reverse sweeps: derivatives of a number phi that depends on velocities and positions of bodies.
 *
 * At a position of a tree let X = sum of S_d x_d be the field of motions for speeds x, about a
 * fixed point O. Moving coordinate d turns and shifts all bodies below it in the tree by S_d. With
 * X_d the motion of the body that carries dof d, and x and x* the cross products of motions and
 * forces, these have
 *
 *     dX_b = S_d x (X_b - X_d)
 *
 * For slopes W_b of phi by X_b, and T_b by a twist of body b with all X as they are,
 *
 *     dphi/dx_d = S_d . sum W_b
 *     dphi/dq_d = S_d . (sum (X_b x* W_b + T_b) - X_d x* sum W_b)       sums: all bodies below d
 *
 * as W . (S x Z) = S . (Z x* W): one sweep from the tips to the root, whatever phi is. The dofs of
 * a ball turn with each other and have the same X_d.
 *
 * If phi contains the velocity at a centre of mass c, with slope f: c moves with its body, which
 * changes phi by f . (w x dc) = dc . (f x w), w the angular velocity of the field.
 *
 * Contacts.  Rows of a contact are the motion of its second body relative to the first, at its
 * point and along its frame. The point moves with the shapes as in touch.c, or is the midpoint of
 * two points of the bodies (impulse_stay.c); for a wrench (t, f) of the rows there, dphi = dp . (f
 * x angular velocity). Slopes by the frame become those by its normal: t = (1 - n n') e / |...|,
 * the third axis is n x t, with e an axis of the world, or that of a capsule on a plane. */
#include "look/sensitivity/back.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collide/vector.h"
#include "math/elementary.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

int back_create(back_place *p, const zw_system *system)
{
    const tree_mechanism *tree = system->tree;
    size_t bodies = (size_t)tree->bodies, n = (size_t)system->n, work = (size_t)tree->at.count;
    size_t six = (2 * BACK_FIELDS + 2) * bodies + (1 + BACK_FIELDS) * n;
    *p = (back_place){.system = system};
    p->sweeps = base_alloc((work + 6 * six + n + 1) * sizeof(double));
    if (!p->sweeps) {
        return 0;
    }
    memset(p->sweeps, 0, (work + 6 * six + n + 1) * sizeof(double));
    p->S = (back_six *)(p->sweeps + work);
    back_six *at = p->S + n;
    for (int k = 0; k < BACK_FIELDS; k++) {
        p->X[k] = at;
        p->W[k] = p->X[k] + bodies;
        p->before[k] = p->W[k] + bodies;
        at = p->before[k] + n;
    }
    p->T = at;
    p->sum = p->T + bodies;
    p->q_by = (double *)(p->sum + bodies);
    return 1;
}

void back_free(back_place *p)
{
    base_free(p->sweeps);
    *p = (back_place){0};
}

/* ---- Motions --------------------------------------------------------------------------------- */

static const double *com_of(const back_place *p, int body)
{
    return p->sweeps + p->system->tree->at.com + 3 * body;
}

/* A motion about O, expressed at c. */
static void see(const back_place *p, const double *X, const double *c, double *to)
{
    double arm[3], part[3];
    v3_sub(arm, c, p->O);
    v3_cross(part, X, arm);
    for (int k = 0; k < 3; k++) {
        to[k] = X[k];
        to[3 + k] = X[3 + k] + part[k];
    }
}

/* to += by times a wrench at c, expressed about O. */
static void pull(const back_place *p, const double *wrench, const double *c, double by, double *to)
{
    double arm[3], part[3];
    v3_sub(arm, c, p->O);
    v3_cross(part, arm, wrench + 3);
    for (int k = 0; k < 3; k++) {
        to[k] += by * (wrench[k] + part[k]);
        to[3 + k] += by * wrench[3 + k];
    }
}

/* out = m x* f */
static void cross_force(const double *m, const double *f, double *out)
{
    double part[3];
    v3_cross(out, m, f);
    v3_cross(part, m + 3, f + 3);
    v3_add(out, out, 1, part);
    v3_cross(out + 3, m, f + 3);
}

void back_set(back_place *p, const double *q)
{
    const tree_mechanism *tree = p->system->tree;
    tree_kinematics(tree, q, p->sweeps);
    v3_copy(p->O, com_of(p, tree->bodies > 1));
    for (int d = 0; d < p->system->n; d++) {
        const double *S = p->sweeps + tree->at.S + 6 * d, *c = com_of(p, tree->dof_body[d]);
        double arm[3], part[3];
        v3_sub(arm, p->O, c);
        v3_cross(part, S, arm);
        for (int k = 0; k < 3; k++) {
            p->S[d][k] = S[k];
            p->S[d][3 + k] = S[3 + k] + part[k];
        }
    }
    back_clear(p);
}

void back_clear(back_place *p)
{
    size_t bytes = (size_t)p->system->tree->bodies * sizeof(back_six);
    for (int k = 0; k < BACK_FIELDS; k++) {
        memset(p->W[k], 0, bytes);
    }
    memset(p->T, 0, bytes);
    memset(p->q_by, 0, (size_t)p->system->n * sizeof(double));
}

void back_field(back_place *p, int field, const double *speeds)
{
    const tree_mechanism *tree = p->system->tree;
    back_six *X = p->X[field];
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        double now[6];
        memcpy(now, X[body->parent], sizeof now);
        for (int d = body->dof; d < body->dof_end;) {
            const tree_joint *joint = &tree->joint[tree->dof_joint[d]];
            int turns = joint->kind == TREE_BALL || (joint->kind == TREE_FREE && d >= joint->v + 3);
            int end = d + (turns ? 3 : 1), first = d;
            for (; d < end; d++) {
                memcpy(p->before[field][d], now, sizeof now);
            }
            for (d = first; d < end; d++) {
                for (int k = 0; k < 6; k++) {
                    now[k] += p->S[d][k] * speeds[d];
                }
            }
        }
        memcpy(X[i], now, sizeof now);
    }
}

void back_motion(const back_place *p, int field, int body, double *to)
{
    see(p, p->X[field][body], com_of(p, body), to);
}

void back_add(back_place *p, int field, int body, const double *wrench)
{
    const double *c = com_of(p, body);
    double moved[6] = {0};
    pull(p, wrench, c, 1, p->W[field][body]);
    v3_cross(moved + 3, wrench + 3, p->X[field][body]);
    pull(p, moved, c, 1, p->T[body]);
}

void back_turn(back_place *p, int body, const double *torque)
{
    v3_add(p->T[body], p->T[body], 1, torque);
}

/* ---- Contacts -------------------------------------------------------------------------------- */

/* The axis that the frame is constructed from: of the capsule on side 0 or 1; -1: of the world. */
static int find_axis(const zw_system *system, const collide_pose *pose, const contact_point *point,
                     double *e)
{
    const contact_world *world = system->bodies->contact;
    const double *n = point->frame, *t = point->frame + 3;
    for (int side = 0; side < 2; side++) {
        uint32_t own = point->key.geom[side], other = point->key.geom[1 - side];
        const double *R = pose[own].R;
        if (world->geom[own].shape.kind == COLLIDE_CAPSULE &&
            world->geom[other].shape.kind == COLLIDE_PLANE) {
            v3_set(e, R[2], R[5], R[8]);
            double across = v3_dot(e, e) - v3_dot(e, n) * v3_dot(e, n);
            double same = v3_dot(e, t);
            if (across > 1e-24 && same * same > 0.9 * across) {
                return side;
            }
        }
    }
    int k = fabs(n[1]) < 0.5 ? 1 : 2;
    v3_set(e, k == 0, k == 1, k == 2);
    return -1;
}

int back_contact_look(const zw_system *system, const collide_pose *pose, const contact_point *point,
                      collide_choice choice, double left, back_contact *to)
{
    to->point = *point;
    to->point.gap -= left;
    to->side = find_axis(system, pose, point, to->axis);
    int known = touch_slopes(system->bodies->contact, pose, &to->point, choice, to->touch);
    for (int k = 0; k < 12; k++) {
        to->gap_by[k] = to->touch[k][6];
    }
    return known;
}

int back_contact_stay(const zw_system *system, const collide_pose *pose, const contact_point *point,
                      double end[2][3], int leads, uint32_t lead, back_contact *to)
{
    contact_point as = *point;
    double apart[3];
    as.key.feature = lead;
    to->point = *point;
    to->side = find_axis(system, pose, point, to->axis);
    memset(to->touch, 0, sizeof to->touch);
    int known =
        !leads || touch_slopes(system->bodies->contact, pose, &as, COLLIDE_COMPLETE, to->touch);
    v3_sub(apart, end[1], end[0]);
    for (int k = 0; k < 12; k++) {
        double unit[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2}, arm[3], way[3];
        int side = k / 6, turns = k % 6 < 3;
        v3_sub(arm, end[side], point->pos);
        v3_cross(way, unit, arm);
        for (int i = 0; i < 3; i++) {
            way[i] = turns ? way[i] : unit[i];
            to->touch[k][i] = 0.5 * way[i];
        }
        to->gap_by[k] =
            (side ? 1 : -1) * v3_dot(point->frame, way) + v3_dot(to->touch[k] + 3, apart);
    }
    return known;
}

/* Slopes g[3][3] by the frame of a contact become g[0] by its normal; of_e: by the axis e that the
 * frame is constructed from. */
static void turn_frame(const double *frame, const double *e, double g[3][3], double *of_e)
{
    const double *n = frame, *t = frame + 3;
    double part[3], h[3], length, along = v3_dot(e, n), inner;
    v3_cross(part, t, g[2]);
    v3_add(g[0], g[0], 1, part);
    v3_cross(part, g[2], n);
    v3_add(g[1], g[1], 1, part);
    for (int k = 0; k < 3; k++) {
        part[k] = e[k] - along * n[k];
    }
    length = sqrt(v3_dot(part, part));
    inner = v3_dot(t, g[1]);
    for (int k = 0; k < 3; k++) {
        h[k] = (g[1][k] - inner * t[k]) / length;
    }
    inner = v3_dot(n, h);
    for (int k = 0; k < 3; k++) {
        of_e[k] = h[k] - inner * n[k];
        g[0][k] -= inner * e[k] + along * h[k];
    }
}

/* Adds slopes by the position of the point, its normal and its gap. */
static void move_point(back_place *p, const back_contact *at, const double *place,
                       const double *normal, double kappa)
{
    const contact_point *point = &at->point;
    for (int side = 0; side < 2; side++) {
        double twist[6];
        for (int k = 0; k < 6; k++) {
            const double *touch = at->touch[6 * side + k];
            twist[k] =
                v3_dot(touch, place) + v3_dot(touch + 3, normal) + kappa * at->gap_by[6 * side + k];
        }
        pull(p, twist, point->pos, 1, p->T[point->body[side]]);
    }
}

void back_frame_add(back_place *p, const back_contact *at, double g[3][3])
{
    double of_e[3], part[3];
    const double none[3] = {0};
    if (at->point.rows > 1) {
        turn_frame(at->point.frame, at->axis, g, of_e);
    }
    move_point(p, at, none, g[0], 0);
    if (at->side >= 0 && at->point.rows > 1) {
        v3_cross(part, at->axis, of_e);
        back_turn(p, at->point.body[at->side], part);
    }
}

/* The motion of the second body of a contact relative to the first, at its point. */
static void see_contact(const back_place *p, const contact_point *point, int field, double *to)
{
    double first[6];
    see(p, p->X[field][point->body[0]], point->pos, first);
    see(p, p->X[field][point->body[1]], point->pos, to);
    for (int k = 0; k < 6; k++) {
        to[k] -= first[k];
    }
}

void back_rows_see(const back_place *p, const back_contact *at, int field, double *rows)
{
    double D[6];
    see_contact(p, &at->point, field, D);
    for (int r = 0; r < at->point.rows; r++) {
        rows[r] = v3_dot(at->point.frame + 3 * (r % 3), D + (r < 3 ? 3 : 0));
    }
}

void back_rows_add(back_place *p, const back_contact *at, int count, const back_rows *of,
                   const double *frame, double g[3][3])
{
    const contact_point *point = &at->point;
    double own[3][3] = {{0}}, place[3] = {0};
    const double none[3] = {0};
    double(*frames)[3] = g ? g : own;
    for (int x = 0; x < BACK_FIELDS; x++) {
        double D[6], wrench[6] = {0}, part[3];
        see_contact(p, point, x, D);
        for (int r = 0; r < count; r++) {
            double *to = r < 3 ? wrench + 3 : wrench;
            v3_add(to, to, of->rows[x][r], frame + 3 * (r % 3));
            v3_add(frames[r % 3], frames[r % 3], of->rows[x][r], D + (r < 3 ? 3 : 0));
        }
        pull(p, wrench, point->pos, -1, p->W[x][point->body[0]]);
        pull(p, wrench, point->pos, 1, p->W[x][point->body[1]]);
        v3_cross(part, wrench + 3, D);
        v3_add(place, place, 1, part);
    }
    move_point(p, at, place, none, of->kappa);
    if (!g) {
        back_frame_add(p, at, own);
    }
}

/* ---- All together ---------------------------------------------------------------------------- */

static void add_six(double *to, const double *from)
{
    for (int k = 0; k < 6; k++) {
        to[k] += from[k];
    }
}

static double dot_six(const double *a, const double *b)
{
    return v3_dot(a, b) + v3_dot(a + 3, b + 3);
}

void back_gather(back_place *p, double *const speeds_by[BACK_FIELDS])
{
    const tree_mechanism *tree = p->system->tree;
    double turned[6];
    for (int i = 1; i < tree->bodies; i++) {
        memcpy(p->sum[i], p->T[i], sizeof p->sum[i]);
        for (int x = 0; x < BACK_FIELDS; x++) {
            cross_force(p->X[x][i], p->W[x][i], turned);
            add_six(p->sum[i], turned);
        }
    }
    for (int i = tree->bodies - 1; i > 0; i--) {
        const tree_body *body = &tree->body[i];
        for (int d = body->dof; d < body->dof_end; d++) {
            double by = dot_six(p->S[d], p->sum[i]);
            for (int x = 0; x < BACK_FIELDS; x++) {
                cross_force(p->before[x][d], p->W[x][i], turned);
                by -= dot_six(p->S[d], turned);
                if (speeds_by[x]) {
                    speeds_by[x][d] += dot_six(p->S[d], p->W[x][i]);
                }
            }
            p->q_by[d] += by;
        }
        if (body->parent > 0) {
            add_six(p->sum[body->parent], p->sum[i]);
            for (int x = 0; x < BACK_FIELDS; x++) {
                add_six(p->W[x][body->parent], p->W[x][i]);
            }
        }
    }
}

/* Rotations of ball joints are along the axes of the body: q1 = q0 exp(p), p = a w, gives
 *
 *     dq1 = exp(-p) dq0 + Jr(p) a dw,     Jr(p) = 1 - (1 - cos)/p^2 [p] + (p - sin)/p^3 [p]^2
 *
 * Slopes by the rotation at its end become those by the rotation at its start and by its speeds. */
static void turn_back(const double *w, double a, const double *g, double *q_by, double *u_by)
{
    double p[3] = {a * w[0], a * w[1], a * w[2]}, once[3], twice[3];
    double x = v3_dot(p, p), angle = sqrt(x), sine = math_sin(angle), cosine = math_cos(angle);
    int small = x < 1e-4;
    double zero = small ? 1 - x / 6 * (1 - x / 20) : sine / angle;
    double one = small ? 0.5 - x / 24 * (1 - x / 30) : (1 - cosine) / x;
    double two = small ? 1.0 / 6 - x / 120 * (1 - x / 42) : (angle - sine) / (x * angle);
    v3_cross(once, p, g); /* transposed: [p]' = -[p] */
    v3_cross(twice, p, once);
    for (int k = 0; k < 3; k++) {
        u_by[k] += a * (g[k] + one * once[k] + two * twice[k]);
        q_by[k] += g[k] + zero * once[k] + one * twice[k];
    }
}

double back_advance(const zw_system *system, const double *u, double a, const double *q1_by,
                    double *q0_by, double *u_by)
{
    const tree_mechanism *tree = system->tree;
    double by_a = 0;
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = &tree->joint[j];
        int d = joint->v, shifts = joint->kind == TREE_FREE ? 3 : joint->kind == TREE_BALL ? 0 : 1;
        for (int k = d; k < d + shifts; k++) {
            u_by[k] += a * q1_by[k];
            q0_by[k] += q1_by[k];
        }
        if (joint->kind == TREE_FREE || joint->kind == TREE_BALL) {
            turn_back(u + d + shifts, a, q1_by + d + shifts, q0_by + d + shifts, u_by + d + shifts);
        }
    }
    for (int d = 0; d < system->n; d++) {
        by_a += q1_by[d] * u[d];
    }
    return by_a;
}
