/* Rolling and sliding: contact points that are closed at both ends of a step.
 *
 * Where contacts are only those of the step's end (impulse_contact.c), an impulse J(q1)' r acts at
 * a point that the body has not rolled to yet when its momentum changes: backward Euler. A body
 * that rocks on its curved side with frequency n is damped at the rate h n^2/4, an error of order
 * one that is harmless in impacts and stacks; but motions that are slow compared with the rocking
 * are lost in it. (Kane and Levinson's rattleback pitches with n = 107/s. At 1 ms the damping is
 * 2.9/s, where the reversal of its spin grows by 2/s: it never turns back.)
 *
 * So, for a point that is closed at q0 and present at q1,
 *
 *     P+ - P- = ... + J' r,         J = (1 - c) J(q0) + c J(q1)
 *     gap(q1) >= 0,                 slip = ((1 - c) J(q0) + (1 + c) J(q1))/2 u   across it
 *
 * With c = 0 the impulses act at q0, as those of impulse_close.c do at q1, with the momenta in the
 * middle between them, and slip is what the trapezoidal rule makes of it. Turned round in time,
 * (q0, q1, u, w) -> (q1, q0, -w, -u), these are the same equations where the point sticks: rolling
 * keeps its energy, up to an oscillation of O(h). Being explicit in where the impulse acts, they
 * are stable only for h n < 2. n is measured: where a body turns by phi = h omega across the
 * normal, and its point shifts by s against its centre of mass, its push N has the moment s x N;
 * about e = phi/|phi|, n^2 = -e . (s x N)/(|phi| (e' J e + m (e x r)^2)), N being the push, at
 * least the weight. (A ball or a wheel has s = 0.) Then c = clamp(((h n)^2 - 0.1)/0.9, 0, 1):
 * motions that a step cannot resolve are damped. The same for rotation: c is at least theta, and as
 * theta has it (balance_ramp) for the angle by which the body turns and its arm r with it.
 *
 * All points of two bodies have one c, the largest of them: otherwise a body that does not move
 * against the other would have slips by different rules, which no motion makes zero together, and
 * friction would stress it to the limit (as it did for a foot on four points, one of which had c =
 * 0.09).
 *
 * c is rounded up to the next of LEVELS equal parts. So it is a constant of the step, but for the
 * places where it jumps by one of them: what it was found from, pushes and iterates of the first
 * rounds, has no part in how the end of the step changes with its start, and derivatives
 * (look/rigid) need not know it.
 *
 * In the kernel's problem J is the row, and slip - J u of the iterate goes to the right side, as
 * the gap does. As J hardly changes from round to round, the balance does not show whether the
 * right-hand sides have converged: impulse_unsettled does. That is Newton's method for gap(q1)
 * except for the derivative, J(q1). Where an impulse changes much (a jam), the rounds may not
 * converge without it: then the step is taken with c = 1 for all. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/pose.h"
#include "step/impulse/impulse.h"
#include "system/bodies/balance.h"

#define SEEN 0.25                 /* (h n)^2 from which it is damped, */
#define LOST 1.0                  /* and up to which part of it */
enum { LEVELS = 16, SETTLE = 4 }; /* SETTLE: rounds in which the push may tell how fast it swings */
#define STILL 1e-9                /* radians a step: that gives no radius */

zw_status impulse_rolling_create(impulse_rolling *rolling, size_t points, size_t wide)
{
    *rolling = (impulse_rolling){.list = base_alloc(points * sizeof *rolling->list),
                                 .of = base_alloc(points * sizeof *rolling->of),
                                 .J = base_alloc(points * 18 * wide * sizeof *rolling->J)};
    return rolling->list && rolling->of && rolling->J ? ZW_OK : ZW_NO_MEMORY;
}

void impulse_rolling_free(impulse_rolling *rolling)
{
    base_free(rolling->list);
    base_free(rolling->of);
    base_free(rolling->J);
    *rolling = (impulse_rolling){0};
}

static int same_pair(const contact_point *a, const contact_key *b)
{
    return memcmp(a->key.geom, b->geom, sizeof b->geom) == 0;
}

/* Points of a pair are consecutive. */
static int is_alone(const contact_work *found, int k)
{
    const contact_point *point = &found->point[k];
    return !(k > 0 && same_pair(point, &point[-1].key)) &&
           !(k + 1 < found->count && same_pair(point, &point[1].key));
}

/* The feature as which point k was found; 0: it is from an earlier round. */
static int origin_of(const impulse_contacts *t, int k, uint32_t *origin)
{
    const impulse_stays *it = (t->stay.differs ? t->stay.next : t->stay.list) + k;
    *origin = it->origin;
    return !it->carried;
}

static void arm_of(const step_impulse *s, const double *sweeps, int body, const double *place,
                   double *r)
{
    const double *com = sweeps + s->system->tree->at.com + 3 * body;
    for (int i = 0; i < 3; i++) {
        r[i] = place[i] - com[i];
    }
}

/* The rows of entry i: at q0; what is used of them; at q1, in the frame of q0. */
static double *rows_of(const impulse_contacts *t, int i, int used)
{
    return t->rolling.J + (size_t)(3 * i + used) * 6 * (size_t)t->wide;
}

static double times(int count, const double *row, const int *column, const double *v)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += row[i] * v[column[i]];
    }
    return sum;
}

/* The first entry of the bodies of the last one: points are ordered by their geoms, so that those
 * of one body are next to each other. */
static int first_of_bodies(const impulse_rolling *rolling, int last)
{
    const impulse_roller *list = rolling->list, *it = &list[last];
    int first = last;
    for (int i = last - 1; i >= 0 && list[i].body[0] == it->body[0]; i--) {
        if (list[i].body[1] == it->body[1]) {
            first = list[i].first;
            break;
        }
    }
    return first;
}

/* Point k, which is closed at q0. */
static void begin(step_impulse *s, const double *sweeps, int k)
{
    impulse_contacts *t = &s->touch;
    const contact_point *point = &t->found.point[k];
    const double *J = t->J + (size_t)k * 6 * (size_t)t->wide;
    const int *column = t->column + (size_t)k * (size_t)t->wide;
    impulse_roller *it = &t->rolling.list[t->rolling.count];
    int n = t->columns[k];
    *it = (impulse_roller){.key = point->key, .columns = n, .part = t->rolling.off ? 1 : -1};
    it->alone = is_alone(&t->found, k);
    memcpy(it->frame, point->frame, sizeof it->frame);
    for (int b = 0; b < 2; b++) {
        arm_of(s, sweeps, point->body[b], point->pos, it->arm[b]);
        it->body[b] = point->body[b];
    }
    it->first = first_of_bodies(&t->rolling, t->rolling.count);
    for (int r = 0; r < point->rows; r++) {
        double speed = times(n, J + r * n, column, s->v0);
        for (int i = 0; i < 3; i++) {
            it->begun[r / 3 * 3 + i] += speed * point->frame[r % 3 * 3 + i];
        }
    }
    memcpy(rows_of(t, t->rolling.count++, 0), J, (size_t)(point->rows * n) * sizeof(double));
}

void impulse_roll_begin(step_impulse *s, const double *sweeps)
{
    impulse_contacts *t = &s->touch;
    double touching = impulse_touching(s);
    t->rolling.count = 0;
    for (int k = 0; k < t->found.count && s->close < 1; k++) {
        if (fabs(t->found.point[k].gap) <= touching) {
            begin(s, sweeps, k);
        }
    }
}

/* The point of an entry among those just found; -1: it is missing. */
static int find_again(const impulse_contacts *t, const impulse_roller *it)
{
    int alone = -1;
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        if (same_pair(point, &it->key)) {
            if (point->key.feature == it->key.feature) {
                return k;
            }
            alone = it->alone && is_alone(&t->found, k) ? k : alone;
        }
    }
    return alone;
}

int impulse_roller_point(const step_impulse *s, int entry)
{
    return find_again(&s->touch, &s->touch.rolling.list[entry]);
}

int impulse_roll_again(step_impulse *s, const double *sweeps)
{
    impulse_contacts *t = &s->touch;
    if (t->rolling.count == 0) {
        return 1;
    }
    if (contact_find(s->system, &t->found, sweeps, s->h, t->near, NULL) != ZW_OK) {
        return 0;
    }
    for (int i = 0; i < t->rolling.count; i++) {
        impulse_roller *it = &t->rolling.list[i];
        int k = find_again(t, it);
        if (k < 0) {
            return 0;
        }
        const contact_point *point = &t->found.point[k];
        int *column = t->column + (size_t)k * (size_t)t->wide;
        int n = contact_rows(s->system, point, sweeps, column, rows_of(t, i, 0));
        if (n != it->columns) {
            return 0;
        }
        memcpy(it->frame, point->frame, sizeof it->frame);
        for (int b = 0; b < 2; b++) {
            arm_of(s, sweeps, point->body[b], point->pos, it->arm[b]);
        }
    }
    return 1;
}

/* c of the head, as one of both bodies has it. */
static double part_of_body(const step_impulse *s, const double *sweeps, const impulse_roller *it,
                           const contact_point *point, int which, double push)
{
    const tree_mechanism *tree = s->system->tree;
    int body = point->body[which];
    const double *omega = sweeps + tree->at.V + 6 * body, *n = point->frame, *r = it->arm[which];
    const double *J = sweeps + tree->at.inertia + 6 * body, *lift = tree->body[body].lift;
    double now[3], e[3], over[3], turn = 0, across[3], moment[3];
    double along = model_dot(omega, n), sign = which ? 1 : -1;
    arm_of(s, sweeps, body, point->pos, now);
    for (int i = 0; i < 3; i++) {
        over[i] = now[i] - r[i];
        e[i] = omega[i] - along * n[i];
        turn += e[i] * e[i];
    }
    turn = sqrt(turn);
    double arm = fmax(model_dot(r, r), model_dot(now, now));
    double least = balance_ramp(
        fmin(arm > 0 ? model_dot(over, over) / arm : 0, s->h * s->h * model_dot(omega, omega)));
    if (!(s->h * turn > STILL)) {
        return least;
    }
    for (int i = 0; i < 3; i++) {
        e[i] /= turn;
    }
    model_cross(across, e, r);
    model_cross(moment, over, n);
    double inertia = J[0] * e[0] * e[0] + J[1] * e[1] * e[1] + J[2] * e[2] * e[2] +
                     2 * (J[3] * e[0] * e[1] + J[4] * e[0] * e[2] + J[5] * e[1] * e[2]) +
                     tree->body[body].mass * model_dot(across, across);
    double weight = fmax(sqrt(model_dot(lift, lift)), push / s->fall);
    double swing = -sign * s->h * weight * model_dot(e, moment) / (turn * inertia); /* (h n)^2 */
    double part = inertia > 0 ? (swing - SEEN) / (LOST - SEEN) : 1;
    return fmin(fmax(part, least), 1);
}

static double part_of(const step_impulse *s, const double *sweeps, const impulse_roller *it,
                      const contact_point *point, double push)
{
    double part = s->theta;
    for (int b = 0; b < 2; b++) {
        part = point->body[b] > 0 ? fmax(part, part_of_body(s, sweeps, it, point, b, push)) : part;
    }
    return part;
}

/* Rows at q1, which are along the frame of the point, along that of the entry; and those that are
 * used. */
static void mix_rows(const impulse_roller *it, const contact_point *point, const double *J0,
                     const double *J1, double *J, double *G)
{
    const double *now = point->frame, *then = it->frame;
    double c = it->part;
    int n = it->columns;
    if (memcmp(now, then, sizeof it->frame) == 0) {
        for (int i = 0; i < 3 * n; i++) {
            G[i] = J1[i];
            J[i] = (1 - c) * J0[i] + c * J1[i];
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        double x = J1[i], y = J1[n + i], z = J1[2 * n + i], world[3];
        for (int k = 0; k < 3; k++) {
            world[k] = now[k] * x + now[3 + k] * y + now[6 + k] * z;
        }
        for (int r = 0; r < 3; r++) {
            const double *f = then + 3 * r;
            G[r * n + i] = f[0] * world[0] + f[1] * world[1] + f[2] * world[2];
            J[r * n + i] = (1 - c) * J0[r * n + i] + c * G[r * n + i];
        }
    }
}

/* Rows and right sides of point k from those of q0, and of the iterate. */
static void mix(step_impulse *s, int k, int index, double push, const double *u)
{
    impulse_contacts *t = &s->touch;
    impulse_roller *it = &t->rolling.list[index];
    const contact_point *point = &t->found.point[k];
    const double *J1 = t->J + (size_t)k * 6 * (size_t)t->wide, *J0 = rows_of(t, index, 0);
    const int *column = t->column + (size_t)k * (size_t)t->wide;
    double *J = rows_of(t, index, 1), *G = rows_of(t, index, 2), c = it->part;
    int n = it->columns, rows = point->rows < 3 ? point->rows : 3;
    for (int i = 0; i < n && rows == 1; i++) {
        J[i] = (1 - c) * J0[i] + c * J1[i];
        G[i] = J1[i];
    }
    if (rows == 3) {
        mix_rows(it, point, J0, J1, J, G);
    }
    double b[3] = {times(n, J, column, u) - point->gap / s->h};
    for (int r = 1; r < rows; r++) {
        double slip = 0.5 * ((1 - c) * times(n, J0 + r * n, column, u) +
                             (1 + c) * times(n, G + r * n, column, u));
        b[r] = times(n, J + r * n, column, u) - slip;
        it->slip[r - 1] = slip;
    }
    it->off = s->h * fmax(fabs(b[1] - it->b[1]), fabs(b[2] - it->b[2]));
    it->off = push > 0 ? it->off : 0;
    memcpy(it->b, b, sizeof b);
    for (int i = 3 * n; i < point->rows * n; i++) { /* spin and roll: those of q0 */
        J[i] = J0[i];
    }
}

/* The entry of point k among those of its pair, from `at` on; -1: none. The only point of a pair is
 * the same as the only one before, on whichever triangle of a ground it is. */
static int entry_of(const impulse_contacts *t, int k, int at)
{
    const contact_point *point = &t->found.point[k];
    const impulse_roller *list = t->rolling.list;
    uint32_t origin;
    int own = origin_of(t, k, &origin), alone = is_alone(&t->found, k);
    for (; at < t->rolling.count && same_pair(point, &list[at].key); at++) {
        int same = own && list[at].key.feature == origin;
        if ((same || (alone && list[at].alone)) && list[at].columns == t->columns[k]) {
            return at;
        }
    }
    return -1;
}

/* The push of point k in the round before. */
static double push_of(const step_impulse *s, int k)
{
    const contact_point *point = &s->touch.found.point[k];
    return problem_multiplier(&s->problem, impulse_contact_key(&point->key), 0);
}

void impulse_roll(step_impulse *s, const double *sweeps, const double *u)
{
    impulse_contacts *t = &s->touch;
    impulse_roller *list = t->rolling.list;
    for (int k = 0, at = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        while (at < t->rolling.count && (list[at].key.geom[0] < point->key.geom[0] ||
                                         (list[at].key.geom[0] == point->key.geom[0] &&
                                          list[at].key.geom[1] < point->key.geom[1]))) {
            at++;
        }
        int index = t->rolling.of[k] = entry_of(t, k, at);
        if (index >= 0 && s->rounds <= SETTLE) { /* then it is one for the rest of them */
            double part = part_of(s, sweeps, &list[index], point, push_of(s, k));
            impulse_roller *all = &list[list[index].first];
            all->found = fmax(all->found, part);
            all->part = fmax(all->part, ceil(LEVELS * all->found) / LEVELS);
        }
    }
    for (int k = 0; k < t->found.count; k++) {
        int index = t->rolling.of[k];
        if (index >= 0) {
            list[index].part = list[list[index].first].part;
            mix(s, k, index, push_of(s, k), u);
        }
    }
}

int impulse_roll_jumps(const step_impulse *s, double near)
{
    const impulse_rolling *rolling = &s->touch.rolling;
    int jumps = 0;
    for (int i = 0; i < rolling->count; i++) {
        double level = LEVELS * rolling->list[i].found;
        jumps |= level > 0 && level < LEVELS && fabs(level - rint(level)) < near;
    }
    return jumps;
}

const impulse_roller *impulse_rolled(const step_impulse *s, int k)
{
    const impulse_rolling *rolling = &s->touch.rolling;
    int index = rolling->count > 0 ? rolling->of[k] : -1;
    return index >= 0 ? &rolling->list[index] : NULL;
}

int impulse_put_roller(const step_impulse *s, impulse_problem *p, int k, int rows)
{
    const impulse_contacts *t = &s->touch;
    int index = t->rolling.count > 0 ? t->rolling.of[k] : -1;
    if (index < 0) {
        return 0;
    }
    const impulse_roller *it = &t->rolling.list[index];
    for (int r = 0; r < rows; r++) {
        problem_row(p, it->columns, t->column + (size_t)k * (size_t)t->wide,
                    rows_of(t, index, 1) + r * it->columns, r < 3 ? it->b[r] : 0);
        if (r < 3) {
            problem_slope(p, rows_of(t, index, 2) + r * it->columns);
        }
    }
    return 1;
}

void impulse_roller_rows(const step_impulse *s, int k, const double **J0, const double **J1)
{
    const impulse_contacts *t = &s->touch;
    *J0 = rows_of(t, t->rolling.of[k], 0);
    *J1 = rows_of(t, t->rolling.of[k], 2);
}

double impulse_unsettled(const step_impulse *s)
{
    const impulse_rolling *rolling = &s->touch.rolling;
    double worst = 0;
    for (int i = 0; i < rolling->count; i++) {
        worst = fmax(worst, rolling->list[i].off);
    }
    return worst;
}
