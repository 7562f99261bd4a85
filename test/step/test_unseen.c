/* No event is missed: random systems with many events, compared with motions computed here
 * independently: free flights and constant forces in closed form, the time of the next event by
 * formulas or by a dense search with tiny steps.
 *
 * Impacts multiply what two motions differ by: disks of diameter d that fly a way l part by a
 * factor of about l/d. So after every event the motion here goes on from zwang's state. What is
 * compared are the time of every event and the state after it, with one flight and one impact
 * between them, and all are held to the same bound.
 *
 *     test_unseen [systems]        campaign of that many systems (a sample without it) */
#include "step/unseen.h"

#include "scene/campaign.h"
#include "scene/dice.h"

enum { BODIES = 4 };
static int systems = 0;
static history mine, zwang;

/* The smallest root of a s^2 + b s + c above `after`, or infinity. */
static double root_after(double a, double b, double c, double after)
{
    double best = INFINITY, roots[2] = {INFINITY, INFINITY};
    if (a == 0) {
        roots[0] = b != 0 ? -c / b : INFINITY;
    } else {
        double square = b * b - 4 * a * c;
        if (square < 0) {
            return INFINITY;
        }
        double half = -0.5 * (b + copysign(sqrt(square), b));
        roots[0] = half / a;
        roots[1] = half != 0 ? c / half : INFINITY;
    }
    for (int i = 0; i < 2; i++) {
        best = roots[i] > after && roots[i] < best ? roots[i] : best;
    }
    return best;
}

/* ---- Disks ------------------------------------------------------------------------------------*/

typedef struct disks {
    int n;
    double x[BODIES], y[BODIES], vx[BODIES], vy[BODIES], m[BODIES], d, e;
} disks;

/* Time to the next collision, and of which two; nearly grazing ones make *doubtful. */
static double next_collision(const disks *s, int *one, int *two, int *doubtful)
{
    double best = INFINITY;
    for (int i = 0; i < s->n; i++) {
        for (int j = i + 1; j < s->n; j++) {
            double x = s->x[j] - s->x[i], y = s->y[j] - s->y[i];
            double u = s->vx[j] - s->vx[i], v = s->vy[j] - s->vy[i];
            double along = x * u + y * v, square = u * u + v * v;
            double miss = fabs(x * v - y * u) / sqrt(square);
            *doubtful |= fabs(miss / s->d - 1) < 1e-6;
            if (along >= 0 || miss >= s->d) {
                continue;
            }
            double t = (-along - sqrt((s->d * s->d - miss * miss) * square)) / square;
            *doubtful |= fabs(t - best) < 1e-7;
            if (t < best) {
                best = t;
                *one = i;
                *two = j;
            }
        }
    }
    return best;
}

static void fly(disks *s, double t)
{
    for (int i = 0; i < s->n; i++) {
        s->x[i] += s->vx[i] * t;
        s->y[i] += s->vy[i] * t;
    }
}

static void collide(disks *s, int i, int j)
{
    double x = (s->x[j] - s->x[i]) / s->d, y = (s->y[j] - s->y[i]) / s->d;
    double u = (s->vx[j] - s->vx[i]) * x + (s->vy[j] - s->vy[i]) * y;
    double p = -(1 + s->e) * u / (1 / s->m[i] + 1 / s->m[j]);
    s->vx[i] -= p * x / s->m[i];
    s->vy[i] -= p * y / s->m[i];
    s->vx[j] += p * x / s->m[j];
    s->vy[j] += p * y / s->m[j];
}

static disks random_disks(dice *d)
{
    disks s = {.n = dice_int(d, 2, BODIES), .d = dice_power(d, -2.0, -0.3)};
    s.e = dice_chance(d, 0.5) ? 1 : dice_between(d, 0.3, 1);
    for (int i = 0; i < s.n; i++) { /* all aim near the origin */
        double a = dice_between(d, 0, 6.28), r = (1 + i) * dice_power(d, 0, 1.5),
               speed = dice_power(d, -0.3, 1.3);
        double off = dice_between(d, -0.7, 0.7) * s.d;
        s.x[i] = r * cos(a) - off * sin(a);
        s.y[i] = r * sin(a) + off * cos(a);
        s.vx[i] = -cos(a) * speed * (i + 1);
        s.vy[i] = -sin(a) * speed * (i + 1);
        s.m[i] = dice_between(d, 0.5, 3);
    }
    if (dice_chance(d, 0.8)) { /* they meet there at one time, within half a diameter */
        double when = dice_between(d, 0.5, 5);
        for (int i = 0; i < s.n; i++) {
            double r = sqrt(s.x[i] * s.x[i] + s.y[i] * s.y[i]);
            double v = sqrt(s.vx[i] * s.vx[i] + s.vy[i] * s.vy[i]);
            double scale = (r + dice_between(d, -0.5, 0.5) * s.d) / (when * v);
            s.vx[i] *= scale;
            s.vy[i] *= scale;
        }
    }
    return s;
}

static int write_disks(const disks *s, char *text, int capacity)
{
    int at = 0, apart = 1;
    for (int i = 0; i < s->n; i++) {
        at += snprintf(text + at, (size_t)(capacity - at),
                       "coord x%d = %.17g, y%d = %.17g\nspeed x%d' = %.17g, y%d' = %.17g\n"
                       "mass %.17g at (x%d, y%d)\n",
                       i, s->x[i], i, s->y[i], i, s->vx[i], i, s->vy[i], s->m[i], i, i);
    }
    for (int i = 0; i < s->n; i++) {
        for (int j = i + 1; j < s->n; j++) {
            double x = s->x[i] - s->x[j], y = s->y[i] - s->y[j];
            apart &= x * x + y * y > 1.1 * s->d * s->d;
            at += snprintf(
                text + at, (size_t)(capacity - at),
                "constraint c%d%d: (x%d-x%d)^2 + (y%d-y%d)^2 >= %.17g, restitution %.17g\n", i, j,
                i, j, i, j, s->d * s->d, s->e);
        }
    }
    return apart;
}

static moment disks_moment(const disks *s, double t)
{
    moment now = {.t = t};
    for (int i = 0; i < s->n; i++) {
        now.y[2 * i] = s->x[i];
        now.y[2 * i + 1] = s->y[i];
        now.y[2 * (s->n + i)] = s->vx[i];
        now.y[2 * (s->n + i) + 1] = s->vy[i];
    }
    return now;
}

static void disks_from(disks *s, const moment *now)
{
    for (int i = 0; i < s->n; i++) {
        s->x[i] = now->y[2 * i];
        s->y[i] = now->y[2 * i + 1];
        s->vx[i] = now->y[2 * (s->n + i)];
        s->vy[i] = now->y[2 * (s->n + i) + 1];
    }
}

/* The motion, from the states of `guide` after its events if there is one. 0: something is so close
 * that what happens is undetermined. */
static int follow_disks(disks s, double end, const history *guide, history *to)
{
    double t = 0;
    int one = 0, two = 0, doubtful = 0;
    for (to->count = 0;;) {
        double step = next_collision(&s, &one, &two, &doubtful);
        doubtful |= fabs(t + step - end) < 1e-6 || to->count == MOST / 2;
        if (doubtful && !guide) {
            return 0;
        }
        if (t + step > end || to->count == MOST) {
            break;
        }
        t += step;
        fly(&s, step);
        collide(&s, one, two);
        to->after[to->count++] = disks_moment(&s, t);
        if (guide && to->count <= guide->count) {
            t = guide->after[to->count - 1].t;
            disks_from(&s, &guide->after[to->count - 1]);
        }
    }
    fly(&s, end - t);
    to->end = disks_moment(&s, end);
    return 1;
}

/* 1: compared. */
static int compare_disks(dice *d, tally *sum)
{
    char text[4096];
    disks s = random_disks(d);
    if (!write_disks(&s, text, sizeof text) || !follow_disks(s, 8, NULL, &mine)) {
        return 0;
    }
    tell_by_zwang(text, 8, &zwang, sum);
    follow_disks(s, 8, &zwang, &mine);
    compare_histories(text, &mine, &zwang, 4 * s.n, sum);
    return 1;
}

/* ---- Beads on a vertical wire, above a floor ------------------------------------------------- */

typedef struct beads {
    int n;
    double g, e, y[4], v[4], m[4]; /* from 1; 0 is the floor */
} beads;

static double next_bounce(const beads *s, int *which, int *doubtful)
{
    double best = INFINITY;
    for (int i = 1; i <= s->n; i++) {
        double gap = i == 1 ? s->y[1] : s->y[i] - s->y[i - 1];
        double speed = i == 1 ? s->v[1] : s->v[i] - s->v[i - 1];
        double t = root_after(i == 1 ? -0.5 * s->g : 0.0, speed, gap, 1e-9);
        *doubtful |= fabs(t - best) < 1e-6 || t < 1e-4;
        if (t < best) {
            best = t;
            *which = i;
        }
    }
    return best;
}

static void fall(beads *s, double t)
{
    for (int i = 1; i <= s->n; i++) {
        s->y[i] += s->v[i] * t - 0.5 * s->g * t * t;
        s->v[i] -= s->g * t;
    }
}

static void bounce(beads *s, int i)
{
    if (i == 1) {
        s->y[1] = 0;
        s->v[1] *= -s->e;
        return;
    }
    double p = -(1 + s->e) * (s->v[i] - s->v[i - 1]) / (1 / s->m[i] + 1 / s->m[i - 1]);
    s->y[i] = s->y[i - 1];
    s->v[i] += p / s->m[i];
    s->v[i - 1] -= p / s->m[i - 1];
}

static moment beads_moment(const beads *s, double t)
{
    moment now = {.t = t};
    memcpy(now.y, s->y + 1, (size_t)s->n * sizeof(double));
    memcpy(now.y + s->n, s->v + 1, (size_t)s->n * sizeof(double));
    return now;
}

static int follow_beads(beads s, double end, const history *guide, history *to)
{
    double t = 0;
    int which = 0, doubtful = 0;
    for (to->count = 0;;) {
        double step = next_bounce(&s, &which, &doubtful);
        doubtful |= fabs(t + step - end) < 1e-6 || to->count == 12;
        if (doubtful && !guide) {
            return 0;
        }
        if (t + step > end || to->count == MOST) {
            break;
        }
        t += step;
        fall(&s, step);
        bounce(&s, which);
        to->after[to->count++] = beads_moment(&s, t);
        if (guide && to->count <= guide->count) {
            const moment *now = &guide->after[to->count - 1];
            t = now->t;
            memcpy(s.y + 1, now->y, (size_t)s.n * sizeof(double));
            memcpy(s.v + 1, now->y + s.n, (size_t)s.n * sizeof(double));
        }
    }
    fall(&s, end - t);
    to->end = beads_moment(&s, end);
    return 1;
}

static int compare_beads(dice *d, tally *sum)
{
    char text[2048];
    beads s = {.n = dice_int(d, 1, 3), .g = dice_between(d, 1, 20), .e = dice_between(d, 0.6, 1)};
    int at = 0;
    size_t capacity = sizeof text;
    for (int i = 1; i <= s.n; i++) {
        s.y[i] = s.y[i - 1] + dice_between(d, 0.05, 1);
        s.v[i] = dice_between(d, -3, 3);
        s.m[i] = dice_between(d, 0.5, 2);
        at += snprintf(text + at, capacity - (size_t)at,
                       "coord y%d = %.17g\nspeed y%d' = %.17g\nmass %.17g at (0, y%d)\n", i, s.y[i],
                       i, s.v[i], s.m[i], i);
    }
    at += snprintf(text + at, capacity - (size_t)at,
                   "gravity (0, -%.17g)\nconstraint c1: y1 >= 0, restitution %.17g\n", s.g, s.e);
    for (int i = 2; i <= s.n; i++) {
        at += snprintf(text + at, capacity - (size_t)at,
                       "constraint c%d: y%d - y%d >= 0, restitution %.17g\n", i, i, i - 1, s.e);
    }
    double end = dice_between(d, 0.5, 2);
    if (!follow_beads(s, end, NULL, &mine)) {
        return 0;
    }
    tell_by_zwang(text, end, &zwang, sum);
    follow_beads(s, end, &zwang, &mine);
    compare_histories(text, &mine, &zwang, 2 * s.n, sum);
    return 1;
}

/* ---- Gates in time: pulses of any width ------------------------------------------------------ */

/* The end of a step of zwang's that is nearest to a time; a step that does not end there is seen.
 */
static const moment *step_at(const char *text, double t, tally *sum)
{
    const moment *best = &zwang.step[0];
    for (int i = 1; i < zwang.steps; i++) {
        best = fabs(zwang.step[i].t - t) < fabs(best->t - t) ? &zwang.step[i] : best;
    }
    sum->time = fmax(sum->time, fabs(best->t - t));
    if (!(fabs(best->t - t) <= TIMES)) {
        print_error("%s\nno step ends at %.15g, the nearest at %.15g\n", text, t, best->t);
        fail();
    }
    sum->events++;
    return best;
}

static int compare_gates(dice *d, tally *sum)
{
    char text[2048];
    int n = dice_int(d, 1, 5), at;
    double end = 10, x = 0, v = 0, edge[10];
    at = snprintf(text, sizeof text, "coord x = 0\nmass 1 at x\nforce x: 0");
    for (int i = 0; i < n; i++) {
        double from = dice_between(d, 0.1, 8), to = from + dice_power(d, -9, 0.2);
        double force = dice_sign(d, dice_between(d, 1, 100)); /* 1e-9 * 1 is more than the bound */
        static const char *const form[] = {
            " + if(t > %.17g and t < %.17g, %.17g, 0)",
            " + if(not (t <= %.17g or t >= %.17g), %.17g, 0)",
            " + if(t < %.17g, 0, if(t < %.17g, %.17g, 0))",
            " + (sign(t - %.17g) - sign(t - %.17g))/2*%.17g",
        };
        at +=
            snprintf(text + at, sizeof text - (size_t)at, form[dice_int(d, 0, 3)], from, to, force);
        v += force * (to - from);
        x += force * (to - from) * (end - 0.5 * (to + from));
        edge[2 * i] = from;
        edge[2 * i + 1] = to;
    }
    snprintf(text + at, sizeof text - (size_t)at, "\n");
    tell_by_zwang(text, end, &zwang, sum);
    for (int i = 0; i < 2 * n; i++) {
        step_at(text, edge[i], sum);
    }
    compare_moments(text, &(moment){end, {x, v}}, &zwang.end, 2, sum);
    return 1;
}

/* ---- Nested conditions: a force that is constant in each cell of (x, t) ---------------------- */

enum { LEVELS = 3 };

typedef struct cells {
    double level[LEVELS], moment, force[LEVELS + 1][2], x, v;
} cells;

/* The time to the border of the cell on one side. */
static double time_to_border(const cells *s, int border, double a)
{
    if (border < 0 || border >= LEVELS) {
        return INFINITY;
    }
    double c = s->x - s->level[border];
    if (c != 0) {
        return root_after(0.5 * a, s->v, c, 0);
    }
    double back = a != 0 ? -2 * s->v / a : INFINITY; /* just come through it */
    return back > 0 ? back : INFINITY;
}

/* 0: it hovers, or turns at a border. With `text`, from zwang's states at its crossings. */
static int follow_cells(cells s, double end, const char *text, tally *sum)
{
    double t = 0;
    int cell = (s.x >= s.level[0]) + (s.x >= s.level[1]) + (s.x >= s.level[2]), crossings = 0;
    while (t < end) {
        double a = s.force[cell][t >= s.moment], stop = t < s.moment ? s.moment : end;
        double step = stop - t;
        int next = cell;
        for (int side = 0; side < 2; side++) { /* down to level[cell - 1], up to level[cell] */
            double until = time_to_border(&s, cell - 1 + side, a);
            if (until < step) {
                step = until;
                next = side ? cell + 1 : cell - 1;
            }
        }
        s.x += s.v * step + 0.5 * a * step * step;
        s.v += a * step;
        t = next == cell ? stop : t + step;
        if (next != cell) {
            s.x = s.level[next > cell ? cell : next];
            if (++crossings > 40 || fabs(s.v) < 1e-3) {
                return 0;
            }
        }
        if (text && t < end) {
            const moment *there = step_at(text, t, sum);
            compare_moments(text, &(moment){t, {s.x, s.v}}, there, 2, sum);
            t = next == cell ? t : there->t;
            s.v = there->y[1];
            s.x = next == cell ? there->y[0] : s.x;
        }
        cell = next;
    }
    mine.end = (moment){end, {s.x, s.v}};
    return 1;
}

static int compare_cells(dice *d, tally *sum)
{
    char text[2048], *to = text;
    cells s;
    s.moment = dice_between(d, 0.5, 4);
    s.x = dice_between(d, -2, 2);
    s.v = dice_between(d, -4, 4);
    s.level[0] = dice_between(d, -1, -0.3);
    s.level[1] = s.level[0] + dice_power(d, -6, -0.3);
    s.level[2] = s.level[1] + dice_power(d, -6, -0.3);
    int at = snprintf(to, sizeof text,
                      "coord x = %.17g\nspeed x' = %.17g\nmass 1 at x\nforce x: ", s.x, s.v);
    for (int i = 0; i <= LEVELS; i++) {
        s.force[i][0] = dice_between(d, -10, 10);
        s.force[i][1] = dice_between(d, -10, 10);
        at += i < LEVELS
                  ? snprintf(to + at, sizeof text - (size_t)at,
                             "if(x < %.17g, if(t < %.17g, %.17g, %.17g), ", s.level[i], s.moment,
                             s.force[i][0], s.force[i][1])
                  : snprintf(to + at, sizeof text - (size_t)at, "if(t >= %.17g, %.17g, %.17g)",
                             s.moment, s.force[i][1], s.force[i][0]);
    }
    snprintf(to + at, sizeof text - (size_t)at, ")))\n");
    if (!follow_cells(s, 5, NULL, sum)) {
        return 0;
    }
    tell_by_zwang(text, 5, &zwang, sum);
    if (follow_cells(s, 5, text, sum)) {
        compare_moments(text, &mine.end, &zwang.end, 2, sum);
    }
    return 1;
}

/* ---- A polygon that falls on a floor --------------------------------------------------------- */

typedef struct polygon {
    int n;
    double y, v, angle, turn, r, inertia, g, e; /* of mass one */
} polygon;

static double corner(const polygon *p, int i, double t)
{
    return p->y + p->v * t - 0.5 * p->g * t * t +
           p->r * sin(p->angle + p->turn * t + 6.283185307179586 * i / p->n);
}

/* The first time at which a corner comes to the floor: a dense search, then bisection. */
static double next_touch(const polygon *p, double until, int *which, int *doubtful)
{
    double best = INFINITY, tiny = 2e-4;
    for (int i = 0; i < p->n; i++) {
        double before = corner(p, i, 1e-7);
        *doubtful |= before < 0;
        for (double t = tiny; t < until && t < best + tiny; t += tiny) {
            double now = corner(p, i, t);
            double middle = corner(p, i, t - 0.5 * tiny);
            *doubtful |= now > 0 && fmin(now, middle) < 1e-6; /* nearly touching */
            if (now <= 0) {
                double a = t - tiny, b = t;
                for (int k = 0; k < 60; k++) {
                    double c = 0.5 * (a + b);
                    *(corner(p, i, c) > 0 ? &a : &b) = c;
                }
                *doubtful |= fabs(b - best) < 1e-5 || b < 1e-3;
                if (b < best) {
                    best = b;
                    *which = i;
                }
                break;
            }
        }
    }
    return best;
}

static int follow_polygon(polygon p, double end, const history *guide, history *to)
{
    double t = 0;
    for (to->count = 0;;) {
        int i = 0, doubtful = to->count == 6;
        double step = next_touch(&p, end - t, &i, &doubtful);
        if (!guide && (doubtful || fabs(t + step - end) < 1e-4)) {
            return 0;
        }
        double go = fmin(step, end - t);
        p.y += p.v * go - 0.5 * p.g * go * go;
        p.v -= p.g * go;
        p.angle += p.turn * go;
        t += go;
        if (step > go || to->count == MOST) {
            to->end = (moment){end, {p.y, p.angle, p.v, p.turn}};
            return 1;
        }
        double arm = p.r * cos(p.angle + 6.283185307179586 * i / p.n), u = p.v + arm * p.turn;
        double push = -(1 + p.e) * u / (1 + arm * arm / p.inertia);
        p.v += push;
        p.turn += push * arm / p.inertia;
        to->after[to->count++] = (moment){t, {p.y, p.angle, p.v, p.turn}};
        if (!guide && fabs(u) < 0.05) {
            return 0; /* times of slow touches are known less well */
        }
        if (guide && to->count <= guide->count) {
            const moment *now = &guide->after[to->count - 1];
            t = now->t;
            p.y = now->y[0], p.angle = now->y[1], p.v = now->y[2], p.turn = now->y[3];
        }
    }
}

static int compare_polygons(dice *d, tally *sum)
{
    char text[2048];
    polygon p = {.n = dice_int(d, 3, 6),
                 .y = dice_between(d, 1.2, 2),
                 .v = dice_between(d, -2, 2),
                 .angle = dice_between(d, 0, 6),
                 .turn = dice_between(d, -30, 30),
                 .r = dice_between(d, 0.3, 1),
                 .g = dice_between(d, 2, 15),
                 .e = dice_between(d, 0.7, 1)};
    p.inertia = p.r * p.r * dice_between(d, 0.2, 0.5);
    double end = dice_between(d, 0.8, 1.6);
    int at = snprintf(text, sizeof text,
                      "coord y = %.17g, a = %.17g\nspeed y' = %.17g, a' = %.17g\n"
                      "kinetic y'^2/2 + %.17g*a'^2/2\npotential %.17g*y\n",
                      p.y, p.angle, p.v, p.turn, p.inertia, p.g);
    for (int i = 0; i < p.n; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "constraint c%d: y + %.17g*sin(a + %.17g) >= 0, restitution %.17g\n", i, p.r,
                       6.283185307179586 * i / p.n, p.e);
    }
    if (!follow_polygon(p, end, NULL, &mine)) {
        return 0;
    }
    tell_by_zwang(text, end, &zwang, sum);
    follow_polygon(p, end, &zwang, &mine);
    compare_histories(text, &mine, &zwang, 4, sum);
    return 1;
}

/* ---- All --------------------------------------------------------------------------------------*/

static void nothing_passes_unseen(void **unused)
{
    static const struct {
        const char *name;
        int (*compare)(dice *, tally *);
    } kind[] = {{"disks", compare_disks},
                {"beads", compare_beads},
                {"gates", compare_gates},
                {"cells", compare_cells},
                {"polygons", compare_polygons}};
    (void)unused;
    int each = systems > 0 ? (systems + 4) / 5 : campaign(60);
    for (int k = 0; k < 5; k++) {
        tally sum = {0};
        int done = 0;
        for (unsigned seed = 0; done < each; seed++) {
            dice d = dice_of(1000000u * (unsigned)k + seed);
            done += kind[k].compare(&d, &sum);
        }
        print_message("%d %s: %ld events, none missed, times to %.1e s, states to %.1e; %ld steps "
                      "without proof\n",
                      done, kind[k].name, sum.events, sum.time, sum.state, sum.unproved);
    }
}

int main(int count, char **argument)
{
    systems = count > 1 ? atoi(argument[1]) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_passes_unseen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
