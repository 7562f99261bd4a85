/* Derivatives of a motion, compared with extrapolated central differences of whole runs, each of a
 * new system with another parameter: so the effect of parameters on starts and assembly is
 * included. A parameter x0 (vx0) that is the start (initial speed) of x tests derivatives by these,
 * too. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../system/world.h"
#include "base/memory.h"
#include "system/work.h"
#include "zwang/sensitivity.h"

static zw_error error;
enum { WIDE = 64, MIDDLE = 3 };

typedef struct scene {
    const char *name, *text;
    double time, h; /* h: of the differences, relative */
    int events;     /* that there are at least */
    int rk4;        /* by this method, too */
} scene;

static zw_run_options tight(double time, zw_method method)
{
    return (zw_run_options){.time = time,
                            .tolerance = 1e-13,
                            .method = method,
                            .every = time / MIDDLE,
                            .step = method == ZW_METHOD_RK4 ? time / 2048 : 0};
}

/* ---- Differences ---------------------------------------------------------------------------- */

typedef struct sampled {
    int count;
    double x[MIDDLE][WIDE];
} sampled;

/* Output times and the end; jumps lie between. */
static int keep(void *user, zw_sample_kind kind, int event, const zw_system *system,
                const zw_state *state, zw_work *work)
{
    sampled *s = user;
    (void)event;
    (void)work;
    if ((kind == ZW_SAMPLE_OUTPUT || kind == ZW_SAMPLE_END) && s->count < MIDDLE) {
        zw_state *now = (zw_state *)state;
        memcpy(s->x[s->count], state_q(now), (size_t)system->n * sizeof(double));
        memcpy(s->x[s->count] + system->n, state_v(now), (size_t)system->n * sizeof(double));
        s->count++;
    }
    return 0;
}

static void run_with(const scene *of, zw_method method, const char *name, double value,
                     sampled *out)
{
    world w;
    const zw_setting setting = {name, value};
    if (!world_try(&w, of->text, &setting, name ? 1 : 0, NULL)) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    zw_run_options options = tight(of->time, method);
    zw_run_summary summary;
    *out = (sampled){0};
    options.observer = keep;
    options.user = out;
    if (zw_run(w.system, w.state, w.work, &options, &summary, &w.error) != ZW_OK) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    world_end(&w);
}

/* Central differences with h, h/2, h/4, extrapolated twice: out[MIDDLE][2 n]. */
static void differences(const scene *of, zw_method method, const char *name, double value, int wide,
                        double out[MIDDLE][WIDE])
{
    static sampled up, down;
    static double level[3][MIDDLE][WIDE];
    double h = of->h * (1 + fabs(value));
    for (int k = 0; k < 3; k++, h /= 2) {
        run_with(of, method, name, value + h, &up);
        run_with(of, method, name, value - h, &down);
        assert_int_equal(up.count, down.count);
        for (int s = 0; s < MIDDLE; s++) {
            for (int i = 0; i < wide; i++) {
                level[k][s][i] = (up.x[s][i] - down.x[s][i]) / (2 * h);
            }
        }
    }
    for (int s = 0; s < MIDDLE; s++) {
        for (int i = 0; i < wide; i++) {
            double x = (4 * level[1][s][i] - level[0][s][i]) / 3;
            double y = (4 * level[2][s][i] - level[1][s][i]) / 3;
            out[s][i] = (16 * y - x) / 15;
        }
    }
}

/* ---- Ours ----------------------------------------------------------------------------------- */

typedef struct seen {
    int count;
    double by[MIDDLE][WIDE * WIDE], x[MIDDLE][WIDE];
} seen;

static int look(void *user, const zw_state *state, const zw_sensitivity_answer *answer)
{
    seen *to = user;
    zw_state *now = (zw_state *)state;
    size_t n = (size_t)answer->n;
    assert_true(to->count < MIDDLE);
    memcpy(to->by[to->count], answer->by, 2 * n * (size_t)answer->columns * sizeof(double));
    memcpy(to->x[to->count], state_q(now), n * sizeof(double));
    memcpy(to->x[to->count] + n, state_v(now), n * sizeof(double));
    to->count++;
    return 0;
}

static zw_run_summary derive(const scene *of, world *w, zw_method method, seen *out)
{
    double time[MIDDLE];
    zw_run_summary summary = {0};
    for (int k = 0; k < MIDDLE; k++) {
        time[k] = k + 1 == MIDDLE ? of->time : (k + 1) * (of->time / MIDDLE);
    }
    const zw_sensitivity_plan plan = {.run = tight(of->time, method),
                                      .times = MIDDLE,
                                      .time = time,
                                      .observer = look,
                                      .user = out};
    zw_sensitivity *s = zw_sensitivity_create(w->model, w->system, NULL, 0, &error);
    out->count = 0;
    if (!s || zw_sensitivity_start(s, w->state, 1, &error) != ZW_OK ||
        zw_sensitivity_run(s, w->state, w->work, &plan, &summary, &error) != ZW_OK) {
        fail_msg("%s: %s", of->name, error.text);
    }
    zw_sensitivity_answer end = zw_sensitivity_look(s);
    assert_int_equal(out->count, MIDDLE);
    assert_int_equal(end.columns, 2 * w->system->n + w->system->shape.params);
    assert_true(end.columns * end.n * 2 <= WIDE * WIDE);
    assert_memory_equal(end.by, out->by[MIDDLE - 1],
                        2 * (size_t)end.n * (size_t)end.columns * sizeof(double));
    zw_sensitivity_free(s);
    return summary;
}

/* The column of the start that a parameter is; -1: it is none. */
static int start_of(const world *w, const char *name)
{
    char text[64];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < w->system->n; i++) {
            snprintf(text, sizeof text, "%s%s0", k ? "v" : "", w->system->model->coord[i].name);
            if (strcmp(text, name) == 0) {
                return k * w->system->n + i;
            }
        }
    }
    return -1;
}

static double worst;

static void try_scene(const scene *of, zw_method method, double allowed)
{
    static double theirs[MIDDLE][WIDE];
    static seen ours;
    world w = world_of(of->text);
    int n = w.system->n, wide = 2 * n, starts = 0;
    double far = 0, unlike = 0;
    zw_run_summary summary = derive(of, &w, method, &ours);
    assert_true(summary.events + summary.impacts >= of->events);
    for (int k = 0; k < w.system->shape.params; k++) {
        const model_param *param = &w.system->model->param[k];
        int column = 2 * n + k, start = start_of(&w, param->name);
        differences(of, method, param->name, param->value, wide, theirs);
        for (int s = 0; s < MIDDLE; s++) {
            const double *x = ours.by[s] + column * wide;
            const double *y = ours.by[s] + (start >= 0 ? start * wide : 0);
            double size = 1, off = 0;
            for (int i = 0; i < wide; i++) {
                size = fmax(size, fabs(theirs[s][i]));
                off = fmax(off, fabs(x[i] - theirs[s][i]));
                unlike = fmax(unlike, start >= 0 ? fabs(x[i] - y[i]) : 0);
            }
            far = fmax(far, off / size);
            if (off / size > allowed) {
                print_error("%s by %s at sample %d: off by %.2e\n", of->name, param->name, s,
                            off / size);
            }
        }
        starts += start >= 0;
    }
    print_message("%-24s %-7s %2d parameters, %d starts, %3ld events: off by %.1e, starts %.1e\n",
                  of->name, zw_method_name(method), w.system->shape.params, starts,
                  summary.events + summary.impacts, far, unlike);
    assert_true(far <= allowed);
    assert_true(unlike <= 1e-12);
    worst = fmax(worst, far);
    world_end(&w);
}

static const scene scenes[] = {
    {"pendulum in its angle",
     "param m = 1.3, l = 0.7, g = 9.81, a0 = 0.8, va0 = 0.4, c = 0.1\n"
     "coord a = a0\nspeed a' = va0\nmass m at l*(sin(a), -cos(a))\ngravity (0, -g)\n"
     "force a: -c*a'\n",
     2, 1e-2, 0, 1},
    {"pendulum on a rod", /* the start moves with the rod, and is off it */
     "param m = 1.3, l = 0.7, g = 9.81, y0 = -0.3\n"
     "coord x = 0.6, y = y0\nmass m at (x, y)\ngravity (0, -g)\n"
     "constraint rod: x^2 + y^2 = l^2\n",
     2, 1e-3, 0, 0},
    {"speeds from a rod", /* one is given, the other follows */
     "param m = 1, l = 1, s = 0.6, vx0 = 0.5\n"
     "coord x = s, y = -sqrt(l^2 - s^2)\nspeed x' = vx0\nmass m at (x, y)\n"
     "gravity (0, -9.81)\nconstraint rod: x^2 + y^2 = l^2\n",
     1.5, 1e-3, 0, 0},
    {"double pendulum",
     "param m1 = 1, m2 = 2, l1 = 1, l2 = 0.8, g = 9.81\n"
     "coord x1 = l1, y1 = 0, x2 = l1, y2 = -l2\nmass m1 at (x1, y1), m2 at (x2, y2)\n"
     "gravity (0, -g)\nconstraint one: x1^2 + y1^2 = l1^2\n"
     "constraint two: (x2 - x1)^2 + (y2 - y1)^2 = l2^2\n",
     1.5, 1e-3, 0, 1},
    {"four-bar loop",
     "param l1 = 0.5, l2 = 1.3, l3 = 1, d = 1.2, g = 9.81, w = 3\n"
     "coord a = 1, b = 0.435, c = 1.319\nspeed a' = w\n"
     "point p = l1*(cos(a), sin(a))\npoint q = p + l2*(cos(b), sin(b))\n"
     "point r = (d, 0) + l3*(cos(c), sin(c))\n"
     "mass 1 at p, 2 at q\ngravity (0, -g)\nconstraint close: q = r\n",
     1.2, 1e-3, 0, 0},
    {"redundant rows",
     "param l = 1, m = 2, k = 3\ncoord x = 0.6, y = -0.8, z = 0.1\nmass m at (x, y, z)\n"
     "gravity (0, -9.81, 0)\nconstraint rod: x^2 + y^2 = l^2\n"
     "constraint again: 2*x^2 + 2*y^2 = 2*l^2\nspring k from (x, y, z) to (x, y, 0)\n",
     1.2, 1e-2, 0, 0},
    {"sleigh",
     "param m = 1, I = 0.3, s = 0.2, vx0 = 1, w0 = 1.5\ncoord x = 0, y = 0, th = 0\n"
     "speed x' = vx0, th' = w0\nmass m at (x + s*cos(th), y + s*sin(th))\n"
     "kinetic I*th'^2/2\nconstraint blade: y'*cos(th) = x'*sin(th)\n",
     3, 1e-3, 0, 0},
    {"driven constraint",
     "param l = 1, A = 0.2, w = 3, m = 1, k = 2\ncoord x = 0.1, y = -1\nmass m at (x, y)\n"
     "gravity (0, -9.81)\nconstraint rod: (x - A*sin(w*t))^2 + y^2 = l^2\n"
     "spring k from (x, y) to (1, 0)\n",
     2, 1e-3, 0, 0},
    {"bouncing ball",
     "param m = 1, g = 9.81, h = 1, bounce = 0.8, vx0 = 0.5, tilt = 0.2\ncoord x = 0, y = h\n"
     "speed x' = vx0\nmass m at (x, y)\ngravity (0, -g)\n"
     "constraint floor: y >= tilt*x, restitution bounce\n",
     1.7, 1e-3, 3, 1},
    {"ball with friction",
     "param m = 1, r = 0.1, bounce = 0.6, mu = 0.3, w0 = 4, vx0 = 1.4\n"
     "coord x = 0, y = 0.5, th = 0\nspeed x' = vx0, th' = w0\nmass m at (x, y)\n"
     "kinetic 0.4*m*r^2*th'^2/2\ngravity (0, -9.81)\n"
     "constraint lane: y >= r, restitution bounce, friction mu slip x' - r*th'\n",
     0.9, 1e-3, 1, 0},
    {"ball that sticks",
     "param m = 1, r = 0.1, bounce = 0.6, mu = 0.9, w0 = 4, vx0 = 0.5\n"
     "coord x = 0, y = 0.5, th = 0\nspeed x' = vx0, th' = w0\nmass m at (x, y)\n"
     "kinetic 0.4*m*r^2*th'^2/2\ngravity (0, -9.81)\n"
     "constraint lane: y >= r, restitution bounce, friction mu slip x' - r*th'\n",
     0.9, 1e-3, 1, 0},
    {"a landing that stays",
     "param m = 1, k = 200, l = 0.3, h = 0.5\ncoord y1 = h, y2 = h + 0.3\n"
     "speed y1' = 0, y2' = -1\nmass m at (0, y1), 2*m at (0, y2)\ngravity (0, -9.81)\n"
     "potential k*(y2 - y1 - l)^2/2\nconstraint floor: y1 >= 0\n",
     0.9, 1e-3, 1, 0},
    {"pendulum hits a wall",
     "param l = 1, bounce = 0.7, wall = 0.3, a = 1.2\ncoord x = l*sin(a), y = -l*cos(a)\n"
     "mass 1 at (x, y)\ngravity (0, -9.81)\nconstraint rod: x^2 + y^2 = l^2\n"
     "constraint block: x >= wall, restitution bounce\n",
     1.6, 1e-3, 2, 0},
    {"friction that slides",
     "param m = 2, g = 9.81, tilt = 0.6, mu = 0.3\ncoord x = 0, y = 0\n"
     "speed x' = 0.5*cos(tilt), y' = -0.5*sin(tilt)\nmass m at (x, y)\ngravity (0, -g)\n"
     "constraint face: y*cos(tilt) + x*sin(tilt) = 0\nfriction face: mu\n",
     1.5, 1e-3, 0, 0},
    {"a load that is shared", /* the more the smooth row takes, the less friction */
     "param m = 2, g = 9.81, bend = 0.2, mu = 0.4, share = 2\ncoord x = 0, y = 0\nspeed x' = 2\n"
     "mass m at (x, y)\ngravity (0, -g)\nconstraint rough: y = bend*x^2\nfriction rough: mu\n"
     "constraint smooth: share*y = share*bend*x^2\n",
     0.8, 1e-3, 0, 0},
    {"a ladder leaves a rough wall", /* where the normal force ends it is 0, to either side */
     "param L = 2, m = 3, J = 0.9, mu = 0.2, g = 9.81, gap = 0.01, w = 0.3\n"
     "coord th = 0.4, x = L/2*sin(0.4) + gap, y = L/2*cos(0.4)\nspeed th' = w, x' = -0.2\n"
     "mass m at (x, y)\ninertia J of th\ngravity (0, -g)\nconstraint floor: y = L/2*cos(th)\n"
     "constraint wall: x >= L/2*sin(th), friction mu at (x - L/2*sin(th), y + L/2*cos(th))\n",
     0.9, 1e-3, 2, 0},
    {"bead on a rough hoop", /* it stops, sticks or turns; the normal force changes its sign */
     "param m = 1, R = 1, mu = 0.1, g = 9.81, w = 5.2\ncoord x = 0, y = -R\n"
     "speed x' = w\nmass m at (x, y)\ngravity (0, -g)\n"
     "constraint hoop: x^2 + y^2 = R^2\nfriction hoop: mu\n",
     1.4, 1e-4, 0, 0},
    {"stick and slip",
     "param m = 1, k = 30, mu = 0.3, drive = 0.5, x0 = 0\ncoord x = x0, y = 0\n"
     "speed x' = 0.1\nmass m at (x, y)\ngravity (0, -9.81)\nconstraint belt: y = 0\n"
     "friction belt: mu slip x'\nforce x: k*(drive*t - x)\n",
     2.5, 1e-4, 0, 0},
    {"an event that sets", /* also a parameter, from now on */
     "param l = 1, k = 0.9, push = 0.3, g = 9.81, c = 0\ncoord a = 1\nmass 1 at l*(sin(a), "
     "-cos(a))\n"
     "gravity (0, -g)\nforce a: -c*a'\nevent kick: a = 0, set a' = k*a' + push, set c = c + "
     "0.1*push\n",
     3, 1e-3, 2, 1},
    {"an event on a rod", /* what is set is corrected by the rod */
     "param l = 1, k = 0.5\ncoord x = 0.8*l, y = -0.6*l\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
     "constraint rod: x^2 + y^2 = l^2\nevent kick: x = 0.1 falling, set x' = k*x'\n",
     1.3, 1e-3, 1, 0},
    {"an event on a force",
     "param l = 1, g = 9.81, f = 15\ncoord x = 0.8, y = -0.6\nmass 1 at (x, y)\ngravity (0, -g)\n"
     "constraint rod: x^2 + y^2 = l^2\n"
     "event taut: lambda(rod) = -f/2, set x' = 0.9*x', set y' = 0.9*y'\n",
     1.3, 1e-3, 1, 0},
    {"formulas with kinks",
     "param k = 5, f = 2, c = 0.3\ncoord x = 1\nmass 1 at (x, 0)\n"
     "force x: -k*x - f*floor(x + 0.5) - c*abs(x)*x'\n",
     2.5, 1e-3, 0, 0},
    {"parameters of parameters",
     "param r = 0.2, rho = 3, m = rho*r^2, I = m*r^2/2, l = 5*r\ncoord a = 0.6\n"
     "mass m at l*(sin(a), -cos(a))\nkinetic I*a'^2/2\ngravity (0, -9.81)\n",
     2, 1e-3, 0, 0},
};

static void test_dop853(void **state)
{
    (void)state;
    const char *only = getenv("ZW_SCENE");
    worst = 0;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        if (!only || strstr(scenes[k].name, only)) {
            try_scene(&scenes[k], ZW_METHOD_DOP853, 1e-8);
        }
    }
    print_message("worst %.1e\n", worst);
}

static void test_rk4(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes && !getenv("ZW_SCENE"); k++) {
        if (scenes[k].rk4) {
            try_scene(&scenes[k], ZW_METHOD_RK4, 1e-8);
        }
    }
}

/* ---- At rest -------------------------------------------------------------------------------- */

/* Where the motion is at rest, or decays, its steps are long; deviations are not at rest. With x''
 * + 2 d x' + k x = F sin(w t) + p at x = 0, F = p = 0, all derivatives have closed forms. Beside it
 * a slow pendulum that moves, and a rod in two coordinates whose second speed stays round-off. */
typedef struct still {
    const char *text;
    double k, d, time;
} still;

/* x and x' of y'' + 2 d y' + k y = 0 from (1, 0), and from (0, 1), real and complex roots. */
static void at_rest_closed(double k, double d, double t, double y[4])
{
    double D = d * d - k, r = sqrt(fabs(D)), e = exp(-d * t);
    double c = D > 0 ? cosh(r * t) : cos(r * t), s = (D > 0 ? sinh(r * t) : sin(r * t)) / r;
    y[0] = e * (c + d * s);
    y[1] = -e * k * s;
    y[2] = e * s;
    y[3] = e * (c - d * s);
}

static void test_still(void **state)
{
    (void)state;
    static const still all[] = {
        {"param p = 0, k = -4, d = 0, mute = 3\ncoord x = 0\n", -4, 0, 5},
        {"param p = 0, k = 4, d = 0, mute = 3\ncoord x = 0\n", 4, 0, 50},
        {"param p = 0, k = 99, d = 50, mute = 3\ncoord x = 0\n", 99, 50, 3},
        {"param p = 0, k = 100, d = 0.1, mute = 3\ncoord x = 0, slow = 1\nmass 1 at slow\nforce "
         "slow: -slow/100\n",
         100, 0.1, 30},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        char text[600];
        double y[4], off = 0;
        zw_run_summary summary;
        snprintf(text, sizeof text,
                 "%scoord u = 0.6, w = -0.8\nmass mute at (u, w), 1 at x\n"
                 "force x: -k*x - 2*d*x' + p\nconstraint rod: u^2 + w^2 = 1\n",
                 all[k].text);
        world w = world_of(text);
        int n = w.system->n;
        const zw_unknown by[] = {{ZW_UNKNOWN_START, 0},
                                 {ZW_UNKNOWN_SPEED, 0},
                                 {ZW_UNKNOWN_PARAM, 0},
                                 {ZW_UNKNOWN_PARAM, 1},
                                 {ZW_UNKNOWN_PARAM, 3}};
        const zw_sensitivity_plan plan = {.run = {.time = all[k].time}};
        zw_sensitivity *s = zw_sensitivity_create(w.model, w.system, by, 5, &error);
        assert_int_equal(zw_sensitivity_start(s, w.state, 0, &error), ZW_OK);
        assert_int_equal(zw_sensitivity_run(s, w.state, w.work, &plan, &summary, &error), ZW_OK);
        at_rest_closed(all[k].k, all[k].d, all[k].time, y);
        const double *z = zw_sensitivity_look(s).by;
        const double exact[][2] = {
            {y[0], y[1]}, {y[2], y[3]}, {(1 - y[0]) / all[k].k, y[2]}, {0, 0}, {0, 0}};
        for (int c = 0; c < 5; c++) {
            double size = hypot(y[0], y[1]) + hypot(y[2], y[3]);
            off = fmax(off, fabs(z[2 * n * c] - exact[c][0]) / size);
            off = fmax(off, fabs(z[2 * n * c + n] - exact[c][1]) / size);
        }
        print_message("at rest, k %g, d %g, to %g: off by %.1e\n", all[k].k, all[k].d, all[k].time,
                      off);
        assert_true(off < 2e-9);
        zw_sensitivity_free(s);
        world_end(&w);
    }
}

/* ---- Ends, kinks, refusals ------------------------------------------------------------------ */

static zw_status derive_text(world *w, const zw_unknown *by, int count, zw_method method,
                             double time, double *out, double *t_by, int *kinks)
{
    zw_run_summary summary;
    const zw_sensitivity_plan plan = {.run = tight(time, method)};
    zw_sensitivity *s = zw_sensitivity_create(w->model, w->system, by, count, &error);
    zw_status status = s ? zw_sensitivity_start(s, w->state, 1, &error) : error.status;
    if (status == ZW_OK) {
        status = zw_sensitivity_run(s, w->state, w->work, &plan, &summary, &error);
    }
    if (status == ZW_OK) {
        zw_sensitivity_answer x = zw_sensitivity_look(s);
        memcpy(out, x.by, 2 * (size_t)x.n * (size_t)x.columns * sizeof *out);
        memcpy(t_by, x.t_by, (size_t)x.columns * sizeof *t_by);
        *kinks = x.kinks;
    }
    zw_sensitivity_free(s);
    return status;
}

/* A throw from the height h ends on the floor after T = (u + sqrt(u^2 + 2 g h))/g. */
static void test_stop(void **state)
{
    (void)state;
    double g = 9.81, u = 3, h = 1.2, root = sqrt(u * u + 2 * g * h), T = (u + root) / g;
    const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 1}, {ZW_UNKNOWN_START, 1}};
    double out[8], t_by[2];
    int kinks;
    world w = world_of("param u = 3, g = 9.81, h = 1.2\ncoord x = 0, y = h\n"
                       "speed x' = 2, y' = u\nmass 1 at (x, y)\ngravity (0, -g)\n"
                       "stop when y < 0\n");
    assert_int_equal(derive_text(&w, by, 2, ZW_METHOD_DOP853, 10, out, t_by, &kinks), ZW_OK);
    assert_true(fabs(w.state->t - T) < 1e-12 && kinks == 0);
    assert_true(fabs(t_by[0] - (h / root - T) / g) < 1e-12); /* dT/dg */
    assert_true(fabs(t_by[1] - 1 / root) < 1e-12);           /* dT/dh */
    assert_true(fabs(out[1] + T * T / 2) < 1e-12 && fabs(out[3] + T) < 1e-12);
    assert_true(fabs(out[4 + 1] - 1) < 1e-12 && fabs(out[4 + 3]) < 1e-12);
    world_end(&w);
}

/* A ball bounces infinitely often, and rests: dx = d vx * t, and of y nothing is left. */
static void test_rest(void **state)
{
    (void)state;
    double out[64] = {0}, t_by[8];
    int kinks;
    world w = world_of("param bounce = 0.5, h = 1, u = 0.3\ncoord x = 0, y = h\nspeed x' = u\n"
                       "mass 1 at (x, y)\ngravity (0, -9.81)\n"
                       "constraint floor: y >= 0, restitution bounce\n");
    assert_int_equal(derive_text(&w, NULL, 0, ZW_METHOD_DOP853, 2, out, t_by, &kinks), ZW_OK);
    for (int c = 4; c < 7; c++) {
        const double *x = out + 4 * c;
        assert_true(fabs(x[0] - (c == 6 ? 2 : 0)) < 1e-10 && fabs(x[1]) < 1e-10);
        assert_true(fabs(x[2] - (c == 6 ? 1 : 0)) < 1e-10 && fabs(x[3]) < 1e-10);
    }
    world_end(&w);
}

static void refuse(const char *text, const zw_unknown *by, int count, zw_method method,
                   const char *message)
{
    double out[400], t_by[40];
    int kinks;
    world w = world_of(text);
    assert_int_not_equal(derive_text(&w, by, count, method, 1, out, t_by, &kinks), ZW_OK);
    if (!strstr(error.text, message)) {
        fail_msg("%s", error.text);
    }
    world_end(&w);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char falls[] = "coord y = 1\nmass 1 at (0, y)\ngravity (0, -9.81)\n";
    refuse(falls, NULL, 0, ZW_METHOD_STIFF, "not with stiff");
    const zw_unknown none = {ZW_UNKNOWN_PARAM, 3};
    refuse(falls, &none, 1, ZW_METHOD_DOP853, "the system has no unknown");
    const zw_unknown size = {ZW_UNKNOWN_PARAM, 0};
    refuse("param n = 2\ncoord x[i] = i for i in 1..n\nmass 1 at (x[i], 0) for i in 1..n\n", &size,
           1, ZW_METHOD_DOP853, "changes the structure of the model");
    refuse(
        "coord a = -0.5, b = 0, c = 0.1\nspeed a' = 2\nmass 1 at (a, 0), 1 at (b, 0), 1 at (c, 0)\n"
        "constraint one: b - a >= 0.1, restitution 1\n"
        "constraint two: c - b >= 0.1, restitution 1\n",
        NULL, 0, ZW_METHOD_DOP853, "several contacts are involved");
    refuse(
        "coord y = 0\nspeed y' = -1\nmass 1 at (0, y)\nconstraint floor: y >= 0, restitution 1\n",
        NULL, 0, ZW_METHOD_DOP853, "begins with an impact");
    refuse("param k = 0\ncoord x\nmass 1 at x\nforce x: 1\nevent half: x = 0.2, set k = 1\n"
           "event on: when k > 0.5, set x' = 0\n",
           NULL, 0, ZW_METHOD_DOP853, "a jump sets off event on");
}

/* What lies on the floor would not touch it from above: one side of a kink. */
static void test_kinks(void **state)
{
    (void)state;
    double out[64], t_by[8];
    int kinks;
    world w = world_of("param u = 1\ncoord x = 0, y = 0\nspeed x' = u\nmass 1 at (x, y)\n"
                       "gravity (0, -9.81)\nconstraint floor: y >= 0\n");
    const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 0}, {ZW_UNKNOWN_START, 1}};
    assert_int_equal(derive_text(&w, by, 1, ZW_METHOD_DOP853, 1, out, t_by, &kinks), ZW_OK);
    assert_int_equal(kinks, 0);
    assert_true(fabs(out[0] - 1) < 1e-12 && fabs(out[1]) < 1e-12);
    zw_state_free(w.state);
    w.state = zw_state_create(w.system, w.work, NULL, &error);
    assert_int_equal(derive_text(&w, by, 2, ZW_METHOD_DOP853, 1, out, t_by, &kinks), ZW_OK);
    assert_int_equal(kinks, 1);
    world_end(&w);
}

static void test_no_memory(void **state)
{
    (void)state;
    double out[200], t_by[20];
    int done = 0, kinks;
    for (int k = 1; !done && k < 4000; k++) {
        world w = world_of("param m = 1, bounce = 0.5\ncoord x = 0.6, y = -0.8\nmass m at (x, y)\n"
                           "gravity (0, -9.81)\nconstraint rod: x^2 + y^2 = 1\n"
                           "constraint wall: x >= 0.1, restitution bounce\n"
                           "event e1: x = 0.3, set x' = x'/2, set y' = y'/2\n");
        base_alloc_fail_after(k);
        zw_status status = derive_text(&w, NULL, 0, ZW_METHOD_DOP853, 0.7, out, t_by, &kinks);
        base_alloc_fail_after(0);
        done = status == ZW_OK;
        assert_true(done || status == ZW_NO_MEMORY);
        world_end(&w);
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop),      cmocka_unit_test(test_rest),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_kinks),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_dop853),
        cmocka_unit_test(test_rk4),       cmocka_unit_test(test_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
