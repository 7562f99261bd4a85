/* What holds and touches in a step of the soft law, on the way back.
 *
 * A block of rows pushes with lambda(b - J a, D) (system/soft/soft_law.c), b = -B J v - K d r,
 * where the impedance d and D = 1/R, R ~ (1 - d)/d, follow the place r of the rows. Its law is
 * homogeneous: all of D by a factor is lambda by that factor. So with C = -d lambda/dx,
 *
 *     d lambda = C (db - dx) + lambda dlogD,     dlogD = d' dr/(d (1 - d)),
 *
 * and what w . J' lambda changes by, for accelerations a as they are, is the slope of
 *
 *     phi(q) = lambda . J w + beta . J a + gamma . J v + kappa r,
 *     beta = -C J w,   gamma = -B C J w,   kappa = (lambda . J w) d'/(d (1 - d)) - K (d + d' r) (C
 * J w)_r
 *
 * with all of these but J and r held. (Of a pyramid b is that of its edges.) By the speeds it is
 * J' gamma.
 *
 * Limits and couplings have a J that is constant. The rows of a contact are the motion of the
 * second body against the first, at the point p along its frame: for X of w, a, v, a field of
 * motions of all bodies, J x = frame (X2(p) - X1(p)). To change q_j is to move all that hangs on j
 * by S_j, and
 *
 *     dX_i = S_j x (X_i - X_j),     X_j that of what carries dof j
 *
 * (tree/differ.c); p and the normal go as touch.c says, dr = n . (the second less the first at p),
 * and the other two of the frame as they are chosen: t = (1 - n n') e / |...|, the third n x t,
 * with e an axis of the world, or that of a capsule that lies on a plane. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collide/vector.h"
#include "look/sensitivity/back.h"
#include "look/sensitivity/steps.h"

/* ---- Rows of any kind ------------------------------------------------------------------------ */

static double C_of(const soft_block *k, int i, int j)
{
    return k->now.C[i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i];
}

/* to = C x */
static void stiffen(const soft_block *k, const double *x, double *to)
{
    for (int i = 0; i < k->width; i++) {
        to[i] = 0;
        for (int j = 0; j < k->width; j++) {
            to[i] += C_of(k, i, j) * x[j];
        }
    }
}

static double along(const soft_problem *soft, const soft_block *k, const double *x)
{
    double sum = 0;
    for (int c = 0; c < k->columns; c++) {
        sum += soft->value[k->J + c] * x[soft->column[k->column + c]];
    }
    return sum;
}

static void add_row(const soft_problem *soft, const soft_block *k, double by, double *to)
{
    for (int c = 0; c < k->columns; c++) {
        to[soft->column[k->column + c]] += by * soft->value[k->J + c];
    }
}

/* ---- Contacts: motions at the point ---------------------------------------------------------- */

static const contact_point *point_of(const soft_problem *soft, const soft_block *k)
{
    return &soft->found.point[k->of];
}

/* A motion about c, seen at p. */
static void see(const double *X, const double *c, const double *p, double *to)
{
    double arm[3];
    v3_sub(arm, p, c);
    v3_cross(to + 3, X, arm);
    v3_add(to + 3, to + 3, 1, X + 3);
    v3_copy(to, X);
}

/* The second body against the first. */
static void see_motion(const sens_steps *s, const contact_point *point, int field, double *to)
{
    const tree_mechanism *tree = s->system->tree;
    const double *com = s->work->sweeps + tree->at.com;
    double first[6], second[6];
    see(s->motion[field][point->body[0]], com + 3 * point->body[0], point->pos, first);
    see(s->motion[field][point->body[1]], com + 3 * point->body[1], point->pos, second);
    for (int k = 0; k < 6; k++) {
        to[k] = second[k] - first[k];
    }
}

/* rows = frame X */
static void to_rows(const contact_point *point, const double *X, double *rows)
{
    for (int r = 0; r < point->rows; r++) {
        rows[r] =
            r < 3 ? v3_dot(point->frame + 3 * r, X + 3) : v3_dot(point->frame + 3 * (r - 3), X);
    }
}

/* The wrench of numbers along the rows: moment, force. */
static void to_wrench(const contact_point *point, const double *rows, double *wrench)
{
    memset(wrench, 0, 6 * sizeof *wrench);
    for (int r = 0; r < point->rows; r++) {
        double *part = r < 3 ? wrench + 3 : wrench;
        v3_add(part, part, rows[r], point->frame + 3 * (r % 3));
    }
}

/* out += what a wrench at the point of the contact does on the dofs that move a body, times `by`.
 */
static void push(const sens_steps *s, const contact_point *point, int side, const double *wrench,
                 double by, double *out)
{
    const tree_mechanism *tree = s->system->tree;
    const double *sweeps = s->work->sweeps;
    for (int d = tree->body[point->body[side]].last_dof; d >= 0; d = tree->dof_parent[d]) {
        double S[6];
        see(sweeps + tree->at.S + 6 * d, sweeps + tree->at.com + 3 * tree->dof_body[d], point->pos,
            S);
        out[d] += by * (v3_dot(S, wrench) + v3_dot(S + 3, wrench + 3));
    }
}

/* ---- Contacts: how they change --------------------------------------------------------------- */

/* What the number changes by, for the parts of a contact. */
typedef struct parts {
    double rows[STEPS_FIELDS][6];   /* coefficients of J w, J a, J v: lambda, beta, gamma */
    double X[STEPS_FIELDS][6];      /* the motions themselves */
    double wrench[STEPS_FIELDS][6]; /* of the rows */
    double kappa;
} parts;

/* The axis that the frame is made with: of the capsule on side 0 or 1; -1: of the world. */
static int find_axis(const sens_steps *s, const contact_point *point, double *e)
{
    const contact_world *world = s->system->bodies->contact;
    const double *n = point->frame, *t = point->frame + 3;
    for (int side = 0; side < 2; side++) {
        uint32_t own = point->key.geom[side], other = point->key.geom[1 - side];
        const double *R = s->soft->found.pose[own].R;
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

/* The slopes by twists of both bodies about the point. */
static void twist_back(const sens_steps *s, const contact_point *point, const touch_change *touch,
                       const parts *of, double twist[2][6])
{
    double place[3] = {0}, g[3][3] = {{0}}, part[3], e[3], of_e[3] = {0};
    for (int x = 0; x < STEPS_FIELDS; x++) {
        v3_cross(part, of->wrench[x] + 3, of->X[x]);
        v3_add(place, place, 1, part);
        for (int r = 0; r < point->rows; r++) {
            v3_add(g[r % 3], g[r % 3], of->rows[x][r], of->X[x] + (r < 3 ? 3 : 0));
        }
    }
    int side = find_axis(s, point, e);
    if (point->rows > 1) {
        back_frame(point->frame, e, g, of_e);
    }
    for (int k = 0; k < 12; k++) {
        twist[k / 6][k % 6] = v3_dot(touch[k], place) + v3_dot(touch[k] + 3, g[0]);
    }
    v3_add(twist[0] + 3, twist[0] + 3, -of->kappa, point->frame);
    v3_add(twist[1] + 3, twist[1] + 3, of->kappa, point->frame);
    if (side >= 0 && point->rows > 1) {
        v3_cross(part, e, of_e);
        v3_add(twist[side], twist[side], 1, part);
    }
}

/* f . dX_i for a motion S of what hangs on a dof whose carrier moves by `before`. */
static double bend(const double *wrench, const double *S, const double *X, const double *before)
{
    double Z[6], turn[3], shift[3], part[3];
    for (int k = 0; k < 6; k++) {
        Z[k] = X[k] - before[k];
    }
    v3_cross(turn, S, Z);
    v3_cross(shift, S, Z + 3);
    v3_cross(part, S + 3, Z);
    v3_add(shift, shift, 1, part);
    return v3_dot(wrench, turn) + v3_dot(wrench + 3, shift);
}

/* Over all dofs that move one of the bodies. */
static void dofs_back(const sens_steps *s, const contact_point *point, int side, const parts *of,
                      const double *twist, double *q_by)
{
    const tree_mechanism *tree = s->system->tree;
    const double *sweeps = s->work->sweeps, *com = sweeps + tree->at.com, *p = point->pos;
    int body = point->body[side];
    double X[STEPS_FIELDS][6], sign = side ? 1 : -1;
    for (int x = 0; x < STEPS_FIELDS; x++) {
        see(s->motion[x][body], com + 3 * body, p, X[x]);
    }
    for (int d = tree->body[body].last_dof; d >= 0; d = tree->dof_parent[d]) {
        const double *own = com + 3 * tree->dof_body[d];
        double S[6], before[6], sum = 0;
        see(sweeps + tree->at.S + 6 * d, own, p, S);
        for (int x = 0; x < STEPS_FIELDS; x++) {
            see(s->before[x][d], own, p, before);
            sum += bend(of->wrench[x], S, X[x], before);
        }
        q_by[d] += sign * sum + v3_dot(S, twist) + v3_dot(S + 3, twist + 3);
    }
}

/* ---- Contacts: their law --------------------------------------------------------------------- */

/* C J w of the rows; for a pyramid, what its edges push with: by their b. */
static void law_back(const sens_steps *s, const soft_block *k, const double *Jw, parts *to)
{
    const soft_problem *soft = s->soft;
    const contact_point *point = point_of(soft, k);
    const soft_pair *pair = soft_pair_of(s->soft, point);
    double gap = point->gap, d = soft_impedance(pair->imp, gap), CJw[6] = {0}, pushed = 0, by_b;
    double slope = soft_impedance_slope(pair->imp, gap);
    stiffen(k, Jw, CJw);
    memcpy(to->rows[STEPS_W], k->now.force, (size_t)k->width * sizeof(double));
    for (int i = 0; i < k->width; i++) {
        pushed += k->now.force[i] * Jw[i];
        to->rows[STEPS_A][i] = -CJw[i];
        to->rows[STEPS_V][i] = -(i == 0 ? pair->spring : pair->across).B * CJw[i];
    }
    by_b = CJw[0];
    if (k->kind == SOFT_PYRAMID) { /* edges have all of it from one spring */
        for (int i = 1; i < k->width; i++) {
            to->rows[STEPS_V][i] = -pair->spring.B * CJw[i];
        }
    }
    to->kappa = pushed * slope / (d * (1 - d)) - pair->spring.K * (d + slope * gap) * by_b;
}

/* ---- Kinks ----------------------------------------------------------------------------------- */

static int is_near(double x, double size)
{
    return fabs(x) <= STEPS_NEAR * size;
}

static int is_at_kink(const soft_problem *s, const soft_block *k)
{
    const double *b = s->b + k->first, *D = s->D + k->first, *x = k->x;
    double t = 0, z0 = 0, m, near = 0;
    switch (k->kind) {
    case SOFT_ABOVE:
        return is_near(b[0] - x[0], fabs(b[0]) + fabs(x[0]));
    case SOFT_BOX:
        return is_near(fabs(D[0] * (b[0] - x[0])) - k->most, k->most);
    case SOFT_PYRAMID:
        for (int e = 0; e < k->rows; e++) {
            double edge = x[0] + (e % 2 ? -1 : 1) * k->mu[e / 2] * x[1 + e / 2];
            near += is_near(b[e] - edge, fabs(b[e]) + fabs(edge));
        }
        return near > 0;
    case SOFT_CONE:
        m = k->mu[0] * sqrt(D[0] / D[1]);
        z0 = sqrt(D[0]) * (b[0] - x[0]);
        for (int i = 1; i < k->width; i++) {
            t += D[i] * (b[i] - x[i]) * (b[i] - x[i]);
        }
        t = sqrt(t);
        return is_near(t - m * z0, t + fabs(m * z0)) || is_near(m * t + z0, m * t + fabs(z0));
    default:
        return 0;
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static int is_contact(const soft_problem *soft, int b)
{
    return b >= soft->first_contact && b < soft->first_contact + soft->contacts;
}

int steps_touch_look(sens_steps *s)
{
    const soft_problem *soft = s->soft;
    if (soft->contacts > s->touch_room) {
        base_free(s->touch);
        s->touch_room = 0;
        s->touch = base_alloc(2 * (size_t)soft->contacts * sizeof *s->touch);
        if (!s->touch) {
            return 0;
        }
        s->touch_room = 2 * soft->contacts;
    }
    for (int i = 0; i < soft->contacts; i++) {
        const soft_block *k = &soft->block[soft->first_contact + i];
        const contact_point *point = point_of(soft, k);
        if (!touch_slopes(s->system->bodies->contact, soft->found.pose, point, s->touch[i])) {
            steps_note_kink(s, "a contact of other parts of two shapes");
        }
    }
    for (int i = 0; soft->is_there && i < soft->found.count; i++) {
        if (fabs(soft->found.point[i].gap) <= soft->near) {
            steps_note_kink(s, "a contact that opens or closes");
        }
    }
    for (int b = 0; b < soft->blocks; b++) {
        if (is_at_kink(soft, &soft->block[b])) {
            steps_note_kink(s, is_contact(soft, b) ? "a contact about to slide or open"
                                                   : "a limit or friction of a joint");
        }
    }
    return 1;
}

void steps_touch_stiffen(const sens_steps *s, const double *x, double *out)
{
    const soft_problem *soft = s->soft;
    for (int b = 0; b < soft->blocks; b++) {
        const soft_block *k = &soft->block[b];
        double Jx[6], CJx[6], X[6], wrench[6];
        if (!is_contact(soft, b)) {
            add_row(soft, k, k->now.C[0] * along(soft, k, x), out);
            continue;
        }
        const contact_point *point = point_of(soft, k);
        see_motion(s, point, STEPS_W, X);
        to_rows(point, X, Jx);
        stiffen(k, Jx, CJx);
        to_wrench(point, CJx, wrench);
        push(s, point, 0, wrench, -1, out);
        push(s, point, 1, wrench, 1, out);
    }
}

/* One row, along a direction that is constant. */
static void row_back(const sens_steps *s, const soft_block *k, int dry, double *q_by, double *v_by)
{
    const soft_problem *soft = s->soft;
    const struct system_bodies *bodies = s->system->bodies;
    double Jw = along(soft, k, s->w), CJw = k->now.C[0] * Jw;
    const zw_soft *law = dry >= 0 ? &bodies->dry[dry].soft : &bodies->constraint[k->of].soft;
    soft_spring spring = soft_spring_of(law, soft->h);
    add_row(soft, k, -spring.B * CJw, v_by);
    if (dry < 0) {
        double r = soft_row_place(soft, k, s->q0), d = soft_impedance(law->imp, r);
        double slope = soft_impedance_slope(law->imp, r);
        add_row(soft, k,
                k->now.force[0] * Jw * slope / (d * (1 - d)) - spring.K * (d + slope * r) * CJw,
                q_by);
    }
}

static void contact_back(const sens_steps *s, int index, double *q_by, double *v_by)
{
    const soft_block *k = &s->soft->block[s->soft->first_contact + index];
    const contact_point *point = point_of(s->soft, k);
    double Jw[6], twist[2][6];
    parts of;
    for (int x = 0; x < STEPS_FIELDS; x++) {
        see_motion(s, point, x, of.X[x]);
    }
    to_rows(point, of.X[STEPS_W], Jw);
    law_back(s, k, Jw, &of);
    for (int x = 0; x < STEPS_FIELDS; x++) {
        to_wrench(point, of.rows[x], of.wrench[x]);
    }
    twist_back(s, point, s->touch[index], &of, twist);
    for (int side = 0; side < 2; side++) {
        dofs_back(s, point, side, &of, twist[side], q_by);
        push(s, point, side, of.wrench[STEPS_V], side ? 1 : -1, v_by);
    }
}

void steps_touch_back(sens_steps *s, double *q_by, double *v_by)
{
    const soft_problem *soft = s->soft;
    int dry = 0;
    for (int b = 0; b < soft->blocks; b++) {
        if (is_contact(soft, b)) {
            contact_back(s, b - soft->first_contact, q_by, v_by);
        } else if (soft->block[b].kind == SOFT_BOX) {
            row_back(s, &soft->block[b], dry++, q_by, v_by);
        } else {
            row_back(s, &soft->block[b], -1, q_by, v_by);
        }
    }
}
