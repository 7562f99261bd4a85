/* Nothing passes unseen: random systems with many events against motions that are computed here, in
 * other ways: free flights and constant forces in closed form, the first of all times at which
 * something happens by formulas or by a dense search with tiny steps.
 *
 *     test_unseen [systems]        campaign of that many systems (a sample without it) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene/campaign.h"
#include "scene/dice.h"
#include "system/world.h"

enum { MOST = 64, BODIES = 4 };
static int systems = 0;

/* What happened, and the state at the end. */
typedef struct story {
    int count;
    double time[MOST];
    int sizes;
    double q[8], v[8];
} story;

static int note_jump(void *user, zw_sample_kind kind, int event, const zw_system *system,
                     const zw_state *state, zw_work *work)
{
    story *s = user;
    double t = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    (void)event;
    /* a jump is shown from both sides */
    if (kind == ZW_SAMPLE_JUMP && (s->count == 0 || s->time[s->count - 1] != t) &&
        s->count < MOST) {
        s->time[s->count++] = t;
    }
    return 0;
}

static story told_by_zwang(const char *text, double end, zw_run_summary *summary)
{
    world w = world_of(text);
    story s = {0};
    const zw_run_options options = {
        .time = end, .every = 2 * end, .tolerance = 1e-12, .observer = note_jump, .user = &s};
    if (zw_run(w.system, w.state, w.work, &options, summary, &w.error) != ZW_OK) {
        print_error("%s\n%s\n", w.error.text, text);
        fail();
    }
    s.sizes = zw_count(w.system, ZW_COORD);
    memcpy(s.q, world_field(&w, ZW_FIELD_Q), (size_t)s.sizes * sizeof(double));
    memcpy(s.v, world_field(&w, ZW_FIELD_V), (size_t)s.sizes * sizeof(double));
    world_end(&w);
    return s;
}

static void assert_same_story(const char *text, const story *mine, const story *zwang, double bound)
{
    int same = mine->count == zwang->count;
    for (int i = 0; i < mine->count && same; i++) {
        same &= fabs(mine->time[i] - zwang->time[i]) <= bound;
    }
    for (int i = 0; i < zwang->sizes && same; i++) {
        same &= fabs(mine->q[i] - zwang->q[i]) <= 100 * bound &&
                fabs(mine->v[i] - zwang->v[i]) <= 100 * bound;
    }
    if (!same) {
        print_error("%s\n", text);
        for (int i = 0; i < mine->count || i < zwang->count; i++) {
            print_error("event %d: %.15g, zwang %.15g\n", i, i < mine->count ? mine->time[i] : NAN,
                        i < zwang->count ? zwang->time[i] : NAN);
        }
        for (int i = 0; i < zwang->sizes; i++) {
            print_error("q %.15g, zwang %.15g; v %.15g, zwang %.15g\n", mine->q[i], zwang->q[i],
                        mine->v[i], zwang->v[i]);
        }
        fail();
    }
}

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

static int write_disks(const disks *s, char *text, int room)
{
    int at = 0, apart = 1;
    for (int i = 0; i < s->n; i++) {
        at += snprintf(text + at, (size_t)(room - at),
                       "coord x%d = %.17g, y%d = %.17g\nspeed x%d' = %.17g, y%d' = %.17g\n"
                       "mass %.17g at (x%d, y%d)\n",
                       i, s->x[i], i, s->y[i], i, s->vx[i], i, s->vy[i], s->m[i], i, i);
    }
    for (int i = 0; i < s->n; i++) {
        for (int j = i + 1; j < s->n; j++) {
            double x = s->x[i] - s->x[j], y = s->y[i] - s->y[j];
            apart &= x * x + y * y > 1.1 * s->d * s->d;
            at += snprintf(
                text + at, (size_t)(room - at),
                "constraint c%d%d: (x%d-x%d)^2 + (y%d-y%d)^2 >= %.17g, restitution %.17g\n", i, j,
                i, j, i, j, s->d * s->d, s->e);
        }
    }
    return apart;
}

/* 1: compared. */
static int compare_disks(dice *d, long *events, long *unproved)
{
    char text[4096];
    disks s = random_disks(d);
    int doubtful = 0, one = 0, two = 0;
    story mine = {0};
    if (!write_disks(&s, text, sizeof text)) {
        return 0;
    }
    double t = 0, end = 8;
    for (;;) {
        double step = next_collision(&s, &one, &two, &doubtful);
        doubtful |= fabs(t + step - end) < 1e-6 || mine.count == MOST / 2;
        if (doubtful) {
            return 0;
        }
        if (t + step > end) {
            break;
        }
        t += step;
        fly(&s, step);
        collide(&s, one, two);
        mine.time[mine.count++] = t;
    }
    fly(&s, end - t);
    for (int i = 0; i < s.n; i++) {
        mine.q[2 * i] = s.x[i];
        mine.q[2 * i + 1] = s.y[i];
        mine.v[2 * i] = s.vx[i];
        mine.v[2 * i + 1] = s.vy[i];
    }
    zw_run_summary summary;
    story zwang = told_by_zwang(text, end, &summary);
    /* each collision multiplies errors by about path/d */
    assert_same_story(text, &mine, &zwang, mine.count < 4 ? 1e-10 : 1e-8);
    *events += mine.count;
    *unproved += summary.unproved;
    return 1;
}

/* ---- Beads on a vertical wire, above a floor
 * ---------------------------------------------------*/

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

static int compare_beads(dice *d, long *events, long *unproved)
{
    char text[2048];
    beads s = {.n = dice_int(d, 1, 3), .g = dice_between(d, 1, 20), .e = dice_between(d, 0.6, 1)};
    int at = 0, which = 0, doubtful = 0;
    size_t room = sizeof text;
    for (int i = 1; i <= s.n; i++) {
        s.y[i] = s.y[i - 1] + dice_between(d, 0.05, 1);
        s.v[i] = dice_between(d, -3, 3);
        s.m[i] = dice_between(d, 0.5, 2);
        at += snprintf(text + at, room - (size_t)at,
                       "coord y%d = %.17g\nspeed y%d' = %.17g\nmass %.17g at (0, y%d)\n", i, s.y[i],
                       i, s.v[i], s.m[i], i);
    }
    at += snprintf(text + at, room - (size_t)at,
                   "gravity (0, -%.17g)\nconstraint c1: y1 >= 0, restitution %.17g\n", s.g, s.e);
    for (int i = 2; i <= s.n; i++) {
        at += snprintf(text + at, room - (size_t)at,
                       "constraint c%d: y%d - y%d >= 0, restitution %.17g\n", i, i, i - 1, s.e);
    }
    story mine = {0};
    double t = 0, end = dice_between(d, 0.5, 2);
    for (;;) {
        double step = next_bounce(&s, &which, &doubtful);
        doubtful |= fabs(t + step - end) < 1e-6 || mine.count == 12;
        if (doubtful) {
            return 0;
        }
        if (t + step > end) {
            break;
        }
        t += step;
        fall(&s, step);
        bounce(&s, which);
        mine.time[mine.count++] = t;
    }
    fall(&s, end - t);
    memcpy(mine.q, s.y + 1, (size_t)s.n * sizeof(double));
    memcpy(mine.v, s.v + 1, (size_t)s.n * sizeof(double));
    zw_run_summary summary;
    story zwang = told_by_zwang(text, end, &summary);
    assert_same_story(text, &mine, &zwang, 1e-10);
    *events += mine.count;
    *unproved += summary.unproved;
    return 1;
}

/* ---- Gates in time: pulses of any width
 * --------------------------------------------------------*/

static int compare_gates(dice *d, long *events, long *unproved)
{
    char text[2048];
    int n = dice_int(d, 1, 5), at;
    double end = 10, x = 0, v = 0;
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
    }
    snprintf(text + at, sizeof text - (size_t)at, "\n");
    zw_run_summary summary;
    story mine = {.q = {x}, .v = {v}}, zwang = told_by_zwang(text, end, &summary);
    for (int i = 0; i < 1; i++) { /* the state is as large as the force makes it */
        double scale = 1 + fabs(mine.q[i]) + fabs(mine.v[i]);
        mine.q[i] /= scale;
        mine.v[i] /= scale;
        zwang.q[i] /= scale;
        zwang.v[i] /= scale;
    }
    assert_same_story(text, &mine, &zwang, 1e-12);
    *events += 2 * n;
    *unproved += summary.unproved;
    return 1;
}

/* ---- Nested conditions: a force that is constant in each cell of (x, t)
 * ------------------------*/

static int compare_cells(dice *d, long *events, long *unproved)
{
    enum { LEVELS = 3 };
    char text[2048], *to = text;
    double level[LEVELS], moment = dice_between(d, 0.5, 4), force[LEVELS + 1][2];
    double x = dice_between(d, -2, 2), v = dice_between(d, -4, 4), t = 0, end = 5;
    level[0] = dice_between(d, -1, -0.3);
    level[1] = level[0] + dice_power(d, -6, -0.3);
    level[2] = level[1] + dice_power(d, -6, -0.3);
    int at = snprintf(to, sizeof text,
                      "coord x = %.17g\nspeed x' = %.17g\nmass 1 at x\nforce x: ", x, v);
    for (int i = 0; i <= LEVELS; i++) {
        force[i][0] = dice_between(d, -10, 10);
        force[i][1] = dice_between(d, -10, 10);
        at += i < LEVELS
                  ? snprintf(to + at, sizeof text - (size_t)at,
                             "if(x < %.17g, if(t < %.17g, %.17g, %.17g), ", level[i], moment,
                             force[i][0], force[i][1])
                  : snprintf(to + at, sizeof text - (size_t)at, "if(t >= %.17g, %.17g, %.17g)",
                             moment, force[i][1], force[i][0]);
    }
    snprintf(to + at, sizeof text - (size_t)at, ")))\n");
    story mine = {0};
    int cell = (x >= level[0]) + (x >= level[1]) + (x >= level[2]), crossings = 0;
    while (t < end) {
        double a = force[cell][t >= moment], stop = t < moment ? moment : end, step = stop - t;
        int next = cell;
        for (int side = 0; side < 2; side++) { /* down to level[cell - 1], up to level[cell] */
            int border = cell - 1 + side;
            if (border < 0 || border >= LEVELS) {
                continue;
            }
            double c = x - level[border], s = INFINITY;
            if (c == 0) { /* just come through it */
                s = a != 0 ? -2 * v / a : INFINITY;
                s = s > 0 ? s : INFINITY;
            } else {
                s = root_after(0.5 * a, v, c, 0);
            }
            if (s < step) {
                step = s;
                next = side ? cell + 1 : cell - 1;
            }
        }
        x += v * step + 0.5 * a * step * step;
        v += a * step;
        t = next == cell ? stop : t + step;
        if (next != cell) {
            x = level[next > cell ? cell : next];
            if (++crossings > 40 || fabs(v) < 1e-3) {
                return 0; /* it hovers, or turns at a border */
            }
        }
        cell = next;
    }
    mine.q[0] = x;
    mine.v[0] = v;
    zw_run_summary summary;
    story zwang = told_by_zwang(text, end, &summary);
    assert_same_story(text, &mine, &zwang, 1e-10 * (1 + crossings));
    *events += crossings + 1;
    *unproved += summary.unproved;
    return 1;
}

/* ---- A polygon that falls on a floor
 * -----------------------------------------------------------*/

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
static double next_touch(const polygon *p, double room, int *which, int *doubtful)
{
    double best = INFINITY, tiny = 2e-4;
    for (int i = 0; i < p->n; i++) {
        double before = corner(p, i, 1e-7);
        *doubtful |= before < 0;
        for (double t = tiny; t < room && t < best + tiny; t += tiny) {
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

static int compare_polygons(dice *d, long *events, long *unproved)
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
    double t = 0, end = dice_between(d, 0.8, 1.6);
    int at = snprintf(text, sizeof text,
                      "coord y = %.17g, a = %.17g\nspeed y' = %.17g, a' = %.17g\n"
                      "kinetic y'^2/2 + %.17g*a'^2/2\npotential %.17g*y\n",
                      p.y, p.angle, p.v, p.turn, p.inertia, p.g);
    for (int i = 0; i < p.n; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "constraint c%d: y + %.17g*sin(a + %.17g) >= 0, restitution %.17g\n", i, p.r,
                       6.283185307179586 * i / p.n, p.e);
    }
    story mine = {0};
    for (;;) {
        int i = 0, doubtful = mine.count == 6;
        double step = next_touch(&p, end - t, &i, &doubtful);
        if (doubtful || fabs(t + step - end) < 1e-4) {
            return 0;
        }
        double go = fmin(step, end - t);
        p.y += p.v * go - 0.5 * p.g * go * go;
        p.v -= p.g * go;
        p.angle += p.turn * go;
        t += go;
        if (step > go) {
            break;
        }
        double arm = p.r * cos(p.angle + 6.283185307179586 * i / p.n), u = p.v + arm * p.turn;
        double push = -(1 + p.e) * u / (1 + arm * arm / p.inertia);
        p.v += push;
        p.turn += push * arm / p.inertia;
        mine.time[mine.count++] = t;
        if (fabs(u) < 0.05) {
            return 0; /* times of slow touches are known less well */
        }
    }
    mine.q[0] = p.y;
    mine.q[1] = p.angle;
    mine.v[0] = p.v;
    mine.v[1] = p.turn;
    zw_run_summary summary;
    story zwang = told_by_zwang(text, end, &summary);
    assert_same_story(text, &mine, &zwang, mine.count < 3 ? 1e-10 : 1e-9);
    *events += mine.count;
    *unproved += summary.unproved;
    return 1;
}

/* ---- All --------------------------------------------------------------------------------------*/

static void nothing_passes_unseen(void **unused)
{
    static const struct {
        const char *name;
        int (*compare)(dice *, long *, long *);
    } kind[] = {{"disks", compare_disks},
                {"beads", compare_beads},
                {"gates", compare_gates},
                {"cells", compare_cells},
                {"polygons", compare_polygons}};
    (void)unused;
    int each = systems > 0 ? (systems + 4) / 5 : campaign(60);
    for (int k = 0; k < 5; k++) {
        long events = 0, unproved = 0;
        int done = 0;
        for (unsigned seed = 0; done < each; seed++) {
            dice d = dice_of(1000000u * (unsigned)k + seed);
            done += kind[k].compare(&d, &events, &unproved);
        }
        print_message("%d %s: %ld events, none missed; %ld steps without proof\n", done,
                      kind[k].name, events, unproved);
    }
}

int main(int count, char **argument)
{
    systems = count > 1 ? atoi(argument[1]) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_passes_unseen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
