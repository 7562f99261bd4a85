/* Derivatives of the gap and slip of a point by the speeds of a step, for Newton's method
 * (impulse_chord.c).
 *
 * Gap.  q1 = q0 (+) h u. Where coordinates are angles or lengths, a change d of u moves the bodies
 * by h S d, S at q1. Where they turn by exp(h u), along the body's axes, it moves them by h S T d
 * with
 *
 *     T = 1 - h/2 u x + h^2/6 u x u x + O(h^3)
 *
 * (all of it: balance_turning).
 *
 * Slip.  Of a point x of a body, with dof i among those that move it, V_i the motion of all before
 * it and s_i(x) how fast a unit speed of i moves x,
 *
 *     d v(x)/dq_i = w_i x (v(x) - v_i(x)) + W_i x s_i(x)
 *
 * (the axes from i on turn by w_i, and x moves in the motion W_i of what comes before).
 * If the point of contact moves by z_i instead of s_i(x), W x (z_i - s_i(x)) comes to that, W the
 * turning of the body, and to the speed of the other body its own W x z_i. On a plane z_i is s_i(x)
 * of what has edges, and s_i of the centre of what is round; of two other bodies each is taken for
 * half of that. Along the normal it is half of it always, as the point is in the middle of the gap.
 * The slip of a step is that of (1 - c)/2 J(q0) + (1 + c)/2 J(q1) (impulse_roll.c), so its slope is
 *
 *     (1 - c)/2 J(q0) + (1 + c)/2 (J(q1) + h d(J u)/dq T)
 *
 * along the axes of q0. What is left out is O(h^2), but for pairs that meet in edges or bend
 * towards each other. */
#include <string.h>

#include "step/impulse/impulse.h"

/* The motion of a body at the contact point, after removing dofs. */
typedef struct moving {
    double all[3], turn[3]; /* of the body: of the point, and its turning; */
    double v[3], w[3];      /* up to the current dof */
    double part;            /* the fraction of the body's motion that the contact point follows, */
    double centre[3];       /* as this point of it does, relative to the contact point */
    int dof;
} moving;

/* to += a x b */
static void add_cross(double *to, const double *a, const double *b)
{
    to[0] += a[1] * b[2] - a[2] * b[1];
    to[1] += a[2] * b[0] - a[0] * b[2];
    to[2] += a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static moving begin(const step_impulse *s, const contact_point *point, int side)
{
    const tree_mechanism *tree = s->system->tree;
    const contact_geom *geom = s->system->bodies->contact->geom;
    const contact_geom *own = &geom[point->key.geom[side]], *other = &geom[point->key.geom[!side]];
    const double *sweeps = s->work->sweeps;
    int body = point->body[side];
    const double *V = sweeps + tree->at.V + 6 * body, *com = sweeps + tree->at.com + 3 * body;
    int round = own->shape.kind == COLLIDE_SPHERE || own->shape.kind == COLLIDE_CAPSULE;
    double out = round ? (side ? 1 : -1) * own->shape.size[0] : 0;
    const double r[3] = {point->pos[0] - com[0], point->pos[1] - com[1], point->pos[2] - com[2]};
    moving it = {.dof = tree->body[body].last_dof,
                 .part = own->shape.kind == COLLIDE_PLANE     ? 0
                         : other->shape.kind == COLLIDE_PLANE ? 1
                                                              : 0.5};
    memcpy(it.all, V + 3, sizeof it.all);
    add_cross(it.all, V, r);
    memcpy(it.v, it.all, sizeof it.v);
    for (int i = 0; i < 3; i++) {
        it.w[i] = it.turn[i] = V[i];
        it.centre[i] = out * point->frame[i];
    }
    return it;
}

/* How fast a unit speed of dof d moves the point x. */
static void speed_by(const step_impulse *s, int d, const double *x, double *to)
{
    const tree_mechanism *tree = s->system->tree;
    const double *S = s->work->sweeps + tree->at.S + 6 * d;
    const double *com = s->work->sweeps + tree->at.com + 3 * tree->dof_body[d];
    const double r[3] = {x[0] - com[0], x[1] - com[1], x[2] - com[2]};
    memcpy(to, S + 3, 3 * sizeof *to);
    add_cross(to, S, r);
}

/* Does dof d turn together with others, by exp? Then *first is the first of the three. */
static int turns_by_exp(const tree_mechanism *tree, int d, int *first)
{
    const tree_joint *joint = &tree->joint[tree->dof_joint[d]];
    *first = joint->kind == TREE_FREE ? joint->v + 3 : joint->v;
    return (joint->kind == TREE_FREE || joint->kind == TREE_BALL) && d >= *first;
}

/* v and w become those of what comes before the current dof, which moves the point so; axes that
 * turn together come after all of them. */
static void take_away(const step_impulse *s, const double *pos, const double *at, moving *it)
{
    const tree_mechanism *tree = s->system->tree;
    int first, together = turns_by_exp(tree, it->dof, &first);
    int count = !together ? 1 : it->dof == first + 2 ? 3 : 0;
    for (int d = it->dof; d > it->dof - count; d--) {
        double own[3];
        const double *S = s->work->sweeps + tree->at.S + 6 * d, *by = d == it->dof ? at : own;
        if (d != it->dof) {
            speed_by(s, d, pos, own);
        }
        for (int i = 0; i < 3; i++) {
            it->v[i] -= s->u[d] * by[i];
            it->w[i] -= s->u[d] * S[i];
        }
    }
}

/* d/dq of the current dof of what the body of `it` moves at the point, against the other: with the
 * terms of one factor together,
 *
 *     w_i x (v - v_i) + (W_i - W) x s_i + (W - W') x z_i,      W' the turning of the other body
 *
 * Then the dof before it is the current one. */
static void take(const step_impulse *s, const contact_point *point, moving *it, const moving *other,
                 double *rate)
{
    const tree_mechanism *tree = s->system->tree;
    const double *S = s->work->sweeps + tree->at.S + 6 * it->dof, *n = point->frame;
    double at[3], way[3], rest[3], before[3], against[3];
    speed_by(s, it->dof, point->pos, at);
    take_away(s, point->pos, at, it);
    memcpy(way, at, sizeof way);
    add_cross(way, S, it->centre);
    double nearer = (0.5 - it->part) * dot(way, n);
    for (int i = 0; i < 3; i++) {
        way[i] = it->part * way[i] + nearer * n[i];
        rest[i] = it->all[i] - it->v[i];
        before[i] = it->w[i] - it->turn[i];
        against[i] = it->turn[i] - other->turn[i];
        rate[i] = 0;
    }
    add_cross(rate, S, rest);
    add_cross(rate, before, at);
    add_cross(rate, against, way);
    it->dof = tree->dof_parent[it->dof];
}

/* With row . (u x d) = (row x u) . d. */
void impulse_turn_row(const step_impulse *s, int count, const int *column, double *row)
{
    for (int k = 0; k + 2 < count; k++) {
        int first;
        if (!turns_by_exp(s->system->tree, column[k], &first) || column[k] != first) {
            continue;
        }
        const double *u = s->u + first;
        double once[3] = {0}, twice[3] = {0}, part[2];
        balance_turning(u, s->h, part);
        add_cross(once, row + k, u);
        add_cross(twice, once, u);
        for (int i = 0; i < 3; i++) {
            row[k + i] += part[1] * twice[i] - part[0] * once[i];
        }
        k += 2;
    }
}

void impulse_contact_slopes(const step_impulse *s, int k, double *slope)
{
    const impulse_contacts *t = &s->touch;
    const contact_point *point = &t->found.point[k];
    const int *column = t->column + (size_t)k * (size_t)t->wide;
    const double *J1 = t->J + (size_t)k * 6 * (size_t)t->wide, *J0 = J1, *frame = point->frame;
    double c = 1;
    const impulse_roller *it = impulse_rolled(s, k);
    const int n = t->columns[k], rows = point->rows < 3 ? point->rows : 3;
    if (it) {
        impulse_roller_rows(s, k, &J0, &J1);
        frame = it->frame;
        c = it->part;
    }
    moving side[2] = {begin(s, point, 0), begin(s, point, 1)};
    memcpy(slope, J1, (size_t)n * sizeof *slope);
    for (int e = n - 1; e >= 0 && rows > 1; e--) {
        int which = side[1].dof >= side[0].dof;
        double rate[3], by = which ? s->h : -s->h;
        take(s, point, &side[which], &side[!which], rate);
        for (int r = 1; r < rows; r++) {
            slope[r * n + e] = by * dot(frame + 3 * r, rate);
        }
    }
    for (int r = 0; r < rows; r++) {
        impulse_turn_row(s, n, column, slope + r * n);
    }
    for (int i = n; i < rows * n; i++) {
        slope[i] = 0.5 * ((1 - c) * J0[i] + (1 + c) * (J1[i] + slope[i]));
    }
}

/* ---- Residuals of the laws ------------------------------------------------------------------- */

double impulse_depth(const step_impulse *s)
{
    double worst = 0;
    for (int k = 0; k < s->touch.found.count; k++) {
        worst = fmax(worst, -s->touch.found.point[k].gap);
    }
    return worst;
}

/* Friction of block b is the multiplier l_r = -mu_r^2 w_r/|mu w| l_n of the slip w, or less where w
 * = 0. With x_r = l_r/mu_r and y_r = mu_r w_r that is x = P(x - y/k) for every k > 0, P to the
 * nearest in the disc of radius l_n; k is how fast the point gets by a unit impulse. What x is off
 * from that, times k, is a speed. *most: the largest speed of a point, with what its push gives it.
 */
static double friction_miss(const step_impulse *s, int b, double *most)
{
    const impulse_problem *p = &s->problem;
    double x[6] = {0}, z[6] = {0}, k = 0, size = 0, length = 0, sum = 0;
    double push = fmax(p->guess[p->first[b]], 0);
    const double *H = s->H.value; /* the diagonal comes first */
    const int *start = s->H.start;
    int rows = p->block[b].rows;
    for (int r = 1; r < rows; r++) {
        int i = p->first[b] + r;
        double w = -p->b[i], mu = p->block[b].friction[r - 1], by = 0;
        for (int e = p->start[i]; e < p->start[i + 1]; e++) {
            double part = p->value[e] * s->u[p->column[e]];
            w += part;
            part = mu * fabs(part);
            size = part > size ? part : size;
            by += p->value[e] * p->value[e] / H[start[p->column[e]]];
        }
        k = fmax(k, mu * mu * by);
        x[r] = mu > 0 ? p->guess[i] / mu : 0;
        z[r] = mu * w;
    }
    for (int r = 1; r < rows && k > 0; r++) {
        z[r] = x[r] - z[r] / k;
        length += z[r] * z[r];
    }
    length = sqrt(length);
    for (int r = 1; r < rows && k > 0; r++) {
        double off = x[r] - z[r] * (length > push ? push / length : 1);
        sum += off * off;
    }
    *most = fmax(*most, size + k * push);
    return k * sqrt(sum);
}

/* Signorini: the gap if it is open, or the displacement that its force gives in a step, whichever
 * is less. */
static double push_miss(const step_impulse *s, int b)
{
    const impulse_problem *p = &s->problem;
    int i = p->first[b];
    double gap = -p->b[i], by = 0;
    for (int e = p->start[i]; e < p->start[i + 1]; e++) {
        gap += p->value[e] * s->u[p->column[e]];
        by += p->value[e] * p->value[e] / matrix_diagonal(&s->H, p->column[e]);
    }
    return s->h * fmin(fmax(gap, 0), fmax(by * p->guess[i], 0));
}

impulse_miss impulse_law_miss(const step_impulse *s)
{
    const impulse_problem *p = &s->problem;
    impulse_miss miss = {0};
    double most = 0;
    for (int b = 0; b < p->blocks && p->options.contact != ZW_CONTACT_CONVEX; b++) {
        if (p->key[b] >= IMPULSE_CONTACTS) {
            miss.way = fmax(miss.way, push_miss(s, b));
            miss.slip = fmax(miss.slip, p->block[b].rows > 1 ? friction_miss(s, b, &most) : 0);
        }
    }
    miss.slip = most > 0 ? miss.slip / most : 0;
    miss.fastest = most;
    return miss;
}

void impulse_mark_misses(const step_impulse *s, impulse_miss most, double *excess)
{
    const impulse_problem *p = &s->problem;
    const impulse_contacts *t = &s->touch;
    const int coulomb = p->options.contact != ZW_CONTACT_CONVEX;
    const int held = impulse_violation(s) <= most.way;
    for (int b = 0; b < p->blocks; b++) {
        double fastest = 0;
        int contact = p->key[b] >= IMPULSE_CONTACTS, i = p->first[b];
        int off = contact && coulomb &&
                  (push_miss(s, b) > most.way ||
                   (p->block[b].rows > 1 && friction_miss(s, b, &fastest) > most.slip));
        off |= !contact && !held;
        for (int e = p->start[i]; e < p->start[i + 1] && off; e++) {
            excess[p->column[e]] = INFINITY;
        }
    }
    for (int k = 0; k < t->found.count; k++) {
        int roller = t->rolling.count > 0 ? t->rolling.of[k] : -1;
        int off = -t->found.point[k].gap > most.way ||
                  (roller >= 0 && t->rolling.list[roller].off > most.way);
        for (int i = 0; i < t->columns[k] && off; i++) {
            excess[t->column[(size_t)k * (size_t)t->wide + (size_t)i]] = INFINITY;
        }
    }
}
