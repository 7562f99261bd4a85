/* Friction campaign: one physical system in several descriptions, Cartesian, polar, generalised and
 * relative, on fixed, driven and free ground, with random parameters and starts. All must move
 * alike, and as equations that were reduced on paper and are integrated here by Runge and Kutta's
 * method of order four; energy is balanced by the work of friction, and what is conserved stays.
 *
 * These are followed up to where sliding stops or a normal force comes near to zero. From there on,
 * to two seconds, through stops, reversals and changes of the side that presses, the descriptions
 * are compared with each other.
 *
 *     test_friction_campaign        a sample; with ZW_CAMPAIGN=small a smaller one
 *     test_friction_campaign 200    so many draws of each system, and the worst figures of each */
#include <stdlib.h>

#include "system/work.h"

#include "system/friction_reduced.h"

#include "scene/campaign.h"

enum { PARAMETERS = 7, SEEN = 6, FORMS = 4, STATES = 8, STEPS = 4000 };

typedef struct form {
    const char *text;      /* parameters are called as in its system */
    const char *see[SEEN]; /* what is compared, as formulas */
    const char *conserved; /* or NULL */
} form;

/* The motion reduced on paper: f = y'; returns the smallest normal force and slip, over m and 1. */
typedef void reduced(const double *p, double t, const double *y, double *f, double *press,
                     double *slip);

typedef struct physics {
    const char *name;
    const char *parameter[PARAMETERS];
    double low[PARAMETERS], high[PARAMETERS];
    int states;
    void (*start)(const double *p, double *y);
    reduced *field;
    void (*see)(const double *p, double t, const double *y, double *seen);
    form form[FORMS];
} physics;

/* ---- The table ---------------------------------------------------------------------------- */

#define XY_SEEN                                                                                    \
    {                                                                                              \
        "x", "x'", "y", "y'", NULL                                                                 \
    }
#define CIRCLE "speed x' = -R*w*sin(u), y' = R*w*cos(u)\nmass m at (x, y)\ngravity (0, -9.81)\n"

#define SPHERE                                                                                     \
    "coord x = R*sin(h), y = 0, z = -R*cos(h)\nspeed x' = w*cos(h), y' = v, z' = w*sin(h)\n"       \
    "mass m at (x, y, z)\ngravity (0, 0, -9.81)\n"
#define XYZ_SEEN                                                                                   \
    {                                                                                              \
        "x", "x'", "y", "y'", "z", "z'"                                                            \
    }
#define CONE_TIP "stop when z < 0.01*k*r0\n" /* the tip is singular */
#define CONE                                                                                       \
    "coord x = r0, y = 0, z = k*r0\nspeed x' = w, y' = v, z' = k*w\nmass m at (x, y, z)\n"         \
    "gravity (0, 0, -9.81)\n" CONE_TIP
#define DISK                                                                                       \
    "coord x = r0, y = 0, z = 0\nspeed x' = w, y' = v, z' = 0\nmass m at (x, y, z)\n"              \
    "gravity (0, 0, -9.81)\nconstraint top: z = 0\n"
#define HELIX                                                                                      \
    "coord x = R*cos(u), y = R*sin(u), z = k*u\n"                                                  \
    "speed x' = -R*w*sin(u), y' = R*w*cos(u), z' = k*w\nmass m at (x, y, z)\n"                     \
    "gravity (0, 0, -9.81)\n"
#define OUT(X, s, n) "(" X " + " s "*cos(s0) + " n "*sin(s0), -" s "*sin(s0) + " n "*cos(s0))"
#define IN_BAR(px) "((" px " - x)*cos(th) - y*sin(th), -(" px " - x)*sin(th) - y*cos(th))"
#define IN_END(px) "((" px " - a)*cos(th) - b*sin(th), -(" px " - a)*sin(th) - b*cos(th))"

static const physics list[] = {
    {"circle",
     {"mu", "m", "R", "u", "w"},
     {0.05, 0.2, 0.3, -2, 7},
     {0.5, 5, 2, -1, 12},
     2,
     first_two,
     circle_field,
     circle_see,
     {{"coord x = R*cos(u), y = R*sin(u)\n" CIRCLE
       "constraint c: x^2 + y^2 = R^2\nfriction c: mu\n",
       XY_SEEN, NULL},
      {"coord r = R, th = u\nspeed r' = 0, th' = w\nmass m at (r*cos(th), r*sin(th))\n"
       "gravity (0, -9.81)\nconstraint c: r = R\nfriction c: mu\n",
       {"r*cos(th)", "r'*cos(th) - r*th'*sin(th)", "r*sin(th)", "r'*sin(th) + r*th'*cos(th)"},
       NULL},
      {"coord a = R*cos(u) + 0.3*R*sin(u), b = R*sin(u)\n"
       "speed a' = R*w*(0.3*cos(u) - sin(u)), b' = R*w*cos(u)\npoint p = (a - 0.3*b, b)\n"
       "mass m at p\ngravity (0, -9.81)\nconstraint c: 7/|p| = 7/R\nfriction c: mu\n",
       {"p.x", "p.x'", "p.y", "p.y'"},
       NULL},
      {"coord a = R*cos(u), b = R*sin(u)\nspeed a' = -R*w*sin(u) - 2, b' = R*w*cos(u) + 1\n"
       "point p = (a + 2*t, b - t)\nmass m at p\ngravity (0, -9.81)\nconstraint c: p . p = R^2\n"
       "friction c: mu at p\n",
       {"p.x", "p.x'", "p.y", "p.y'"},
       NULL}}},
    {"spiral",
     {"mu", "m", "k", "u", "w"},
     {0.02, 0.2, 0.3, 1, 4},
     {0.3, 5, 1, 3, 8},
     2,
     first_two,
     spiral_field,
     spiral_see,
     {{"coord r = k*u, th = u\nspeed r' = k*w, th' = w\nmass m at (r*cos(th), r*sin(th))\n"
       "gravity (0, -9.81)\nconstraint c: r = k*th\nfriction c: mu\n"
       "stop when r < 0.05*k\n", /* all three are singular at the origin */
       {"r*cos(th)", "r'*cos(th) - r*th'*sin(th)", "r*sin(th)", "r'*sin(th) + r*th'*cos(th)"},
       NULL},
      {"coord x = k*u*cos(u), y = k*u*sin(u)\n"
       "speed x' = k*w*(cos(u) - u*sin(u)), y' = k*w*(sin(u) + u*cos(u))\nmass m at (x, y)\n"
       "gravity (0, -9.81)\nconstraint c: x*sin(hypot(x, y)/k) = y*cos(hypot(x, y)/k)\n"
       "friction c: mu\nstop when hypot(x, y) < 0.05*k\n",
       XY_SEEN, NULL},
      {"coord n = 0, th = u\nspeed n' = 0, th' = w\npoint p = (k*th + n)*(cos(th), sin(th))\n"
       "mass m at p\ngravity (0, -9.81)\nconstraint c: n = 0\nfriction c: mu\n"
       "stop when th < 0.05\n",
       {"p.x", "p.x'", "p.y", "p.y'"},
       NULL}}},
    {"parabola",
     {"mu", "m", "k", "u", "w"},
     {0.05, 0.2, 0.2, -2, 3},
     {0.5, 5, 2, -1, 8},
     2,
     first_two,
     parabola_field,
     parabola_see,
     {{"coord x = u, y = k*u^2\nspeed x' = w, y' = 2*k*u*w\nmass m at (x, y)\ngravity (0, -9.81)\n"
       "constraint c: y = k*x^2\nfriction c: mu\n",
       XY_SEEN, NULL},
      {"coord q = u, n = 0\nspeed q' = w, n' = 0\npoint p = (q + n^2, k*q^2 + 3*n)\nmass m at p\n"
       "gravity (0, -9.81)\nconstraint c: n = 0\nfriction c: mu\n",
       {"p.x", "p.x'", "p.y", "p.y'"},
       NULL},
      {"let c0 = cos(0.7), s0 = sin(0.7)\ncoord a = cos(0.7)*u + sin(0.7)*k*u^2, "
       "b = cos(0.7)*k*u^2 - sin(0.7)*u\nspeed a' = w*(cos(0.7) + 2*k*u*sin(0.7)), "
       "b' = w*(2*k*u*cos(0.7) - sin(0.7))\npoint p = (c0*a - s0*b, s0*a + c0*b)\n"
       "mass m at (a, b)\ngravity (-9.81*sin(0.7), -9.81*cos(0.7))\n"
       "constraint c: p.y = k*p.x^2\nfriction c: mu\n",
       {"p.x", "p.x'", "p.y", "p.y'"},
       NULL}}},
    {"helix",
     {"mu", "m", "R", "u", "w", "k"},
     {0.05, 0.2, 0.3, -1, 3, 0.1},
     {0.5, 5, 1, 1, 8, 0.5},
     2,
     first_two,
     helix_field,
     helix_see,
     {{HELIX "constraint a: x^2 + y^2 = R^2\nconstraint b: y*cos(z/k) = x*sin(z/k)\n"
             "friction a, b: mu\n",
       XYZ_SEEN, NULL},
      {HELIX "constraint c: (x, y) = R*(cos(z/k), sin(z/k))\nfriction c: mu at (x, y, z)\n",
       XYZ_SEEN, NULL},
      {"coord r = R, ph = u, z = k*u\nspeed r' = 0, ph' = w, z' = k*w\n"
       "point p = (r*cos(ph), r*sin(ph), z)\nmass m at p\ngravity (0, 0, -9.81)\n"
       "constraint a: r^3 = R^3\nconstraint b: 10*z = 10*k*ph\nfriction b, a: mu\n",
       {"p.x", "p.x'", "p.y", "p.y'", "p.z", "p.z'"},
       NULL}}},
    {"sphere",
     {"mu", "m", "R", "h", "v", "w"},
     {0.05, 0.2, 0.5, 0.3, 1, -2},
     {0.5, 5, 2, 1.2, 6, 2},
     6,
     sphere_start,
     sphere_field,
     see_six,
     {{SPHERE "constraint c: x^2 + y^2 + z^2 = R^2\nfriction c: mu\n", XYZ_SEEN, NULL},
      {SPHERE "constraint c: |(x, y, z)| = R\nfriction c: mu at (z, x, y)\n", XYZ_SEEN, NULL},
      {"coord r = R, th = h, ph = 0\nspeed r' = 0, th' = w/R, ph' = v/(R*sin(h))\n"
       "point p = r*(sin(th)*cos(ph), sin(th)*sin(ph), -cos(th))\nmass m at p\n"
       "gravity (0, 0, -9.81)\nconstraint c: r = R\nfriction c: mu\n",
       {"p.x", "p.x'", "p.y", "p.y'", "p.z", "p.z'"},
       NULL}}},
    {"cone",
     {"mu", "m", "k", "r0", "v", "w"},
     {0.05, 0.2, 0.3, 0.5, 2, -1},
     {0.5, 5, 2, 2, 6, 1},
     6,
     cone_start,
     cone_field,
     see_six,
     {{CONE "constraint c: z = k*hypot(x, y)\nfriction c: mu\n", XYZ_SEEN, NULL},
      {CONE "constraint c: z^2 = k^2*(x^2 + y^2)\nfriction c: mu\n", XYZ_SEEN, NULL},
      {"coord r = r0, ph = 0, z = k*r0\nspeed r' = w, ph' = v/r0, z' = k*w\n"
       "point p = (r*cos(ph), r*sin(ph), z)\nmass m at p\ngravity (0, 0, -9.81)\n" CONE_TIP
       "constraint c: z = k*r\nfriction c: mu\n",
       {"p.x", "p.x'", "p.y", "p.y'", "p.z", "p.z'"},
       NULL}}},
    {"driven turntable",
     {"mu", "m", "r0", "w", "v", "W"},
     {0.05, 0.2, 0.3, -2, -2, -6},
     {0.5, 5, 2, 2, 2, 6},
     8,
     disk_start,
     driven_disk_field,
     disk_see,
     {{DISK "let a = W*t\nfriction top: mu at (x*cos(a) + y*sin(a), y*cos(a) - x*sin(a), z)\n",
       {"x", "x'", "y", "y'", "W*t", "W"},
       NULL},
      {"let a = W*t\ncoord X = r0, Y = 0, z = 0\nspeed X' = w, Y' = v - W*r0, z' = 0\n"
       "point p = (X*cos(a) - Y*sin(a), X*sin(a) + Y*cos(a), z)\nmass m at p\n"
       "gravity (0, 0, -9.81)\nconstraint top: z = 0\nfriction top: mu at (X, Y, z)\n",
       {"p.x", "p.x'", "p.y", "p.y'", "a", "W"},
       NULL},
      {DISK "friction top: mu slip (x' + W*y, y' - W*x)\n",
       {"x", "x'", "y", "y'", "W*t", "W"},
       NULL}}},
    {"free turntable",
     {"mu", "m", "r0", "w", "v", "W", "I"},
     {0.05, 0.2, 0.3, -2, -2, -6, 0.2},
     {0.5, 5, 2, 2, 2, 6, 5},
     8,
     disk_start,
     free_disk_field,
     disk_see,
     {{"coord a = 0\nspeed a' = W\ninertia I of a\n" DISK
       "friction top: mu at (x*cos(a) + y*sin(a), y*cos(a) - x*sin(a), z)\n",
       {"x", "x'", "y", "y'", "a", "a'"},
       "I*a' + m*(x*y' - y*x')"},
      {"coord X = r0, Y = 0, z = 0, a = 0\nspeed X' = w, Y' = v - W*r0, z' = 0, a' = W\n"
       "inertia I of a\npoint p = (X*cos(a) - Y*sin(a), X*sin(a) + Y*cos(a), z)\nmass m at p\n"
       "gravity (0, 0, -9.81)\nconstraint top: z = 0\nfriction top: mu at (X, Y, z)\n",
       {"p.x", "p.x'", "p.y", "p.y'", "a", "a'"},
       "I*a' + m*(p.x*p.y' - p.y*p.x')"}}},
    {"free wedge",
     {"mu", "m", "s0", "M", "w", "v"},
     {0.02, 0.2, 0.2, 0.5, 0.5, -2},
     {0.3, 5, 1, 9, 3, 2},
     4,
     wedge_start,
     free_wedge_field,
     wedge_see,
     {{"coord X = 0, x = 0, y = 0\nspeed X' = v, x' = v + w*cos(s0), y' = -w*sin(s0)\n"
       "mass M at (X, 0), m at (x, y)\ngravity (0, -9.81)\n"
       "constraint face: y = tan(s0)*(X - x)\nfriction face: mu at (x - X, y)\n",
       {"X", "X'", "x", "x'", "y", "y'"},
       "M*X' + m*x'"},
      {"coord X = 0, d = 0, n = 0\nspeed X' = v, d' = w, n' = 0\npoint p = " OUT(
           "X", "d", "n") "\n"
                          "mass M at (X, 0), m at p\ngravity (0, -9.81)\nconstraint face: n = 0\n"
                          "friction face: mu at (d, n)\n",
       {"X", "X'", "p.x", "p.x'", "p.y", "p.y'"},
       "M*X' + m*p.x'"},
      {"coord c = 0, d = 0, y = 0\nlet f = m/(M + m)\npoint P = (c - f*d, 0), p = (c + (1 - f)*d, "
       "y)\n"
       "speed c' = v + m/(M + m)*w*cos(s0), d' = w*cos(s0), y' = -w*sin(s0)\n"
       "mass M at P, m at p\ngravity (0, -9.81)\nconstraint face: y*cos(s0) + d*sin(s0) = 0\n"
       "friction face: mu at p - P\n",
       {"P.x", "P.x'", "p.x", "p.x'", "p.y", "p.y'"},
       "M*P.x' + m*p.x'"}}},
    {"driven wedge",
     {"mu", "m", "s0", "A", "w"},
     {0.02, 0.2, 0.2, 0.01, 1},
     {0.3, 5, 1, 0.2, 3},
     4,
     driven_wedge_start,
     driven_wedge_field,
     driven_wedge_see,
     {{"let X = A*sin(3*t)\ncoord x = 0, y = 0\nspeed x' = 3*A + w*cos(s0), y' = -w*sin(s0)\n"
       "mass m at (x, y)\ngravity (0, -9.81)\nconstraint face: y = tan(s0)*(X - x)\n"
       "friction face: mu at (x - X, y)\n",
       XY_SEEN, NULL},
      {"let X = A*sin(3*t)\ncoord d = 0, n = 0\nspeed d' = w, n' = 0\npoint p = " OUT(
           "X", "d", "n") "\nmass m at p\ngravity (0, -9.81)\nconstraint face: n = 0\n"
                          "friction face: mu at (d, n)\n",
       {"p.x", "p.x'", "p.y", "p.y'", NULL},
       NULL}}},
    {"ladder",
     {"mu", "m", "l", "th0", "w", "k"},
     {0.02, 0.2, 0.5, 0.9, 0.2, 0.2},
     {0.3, 5, 2, 1.3, 1, 0.5},
     2,
     ladder_start,
     ladder_field,
     ladder_see,
     {{"coord x = l*cos(th0), y = l*sin(th0), th = th0\n"
       "speed x' = l*w*sin(th0), y' = -l*w*cos(th0), th' = -w\nmass m at (x, y)\n"
       "inertia m*k^2 of th\ngravity (0, -9.81)\n"
       "constraint floor: y = l*sin(th)\nconstraint wall: x = l*cos(th)\n"
       "friction floor: mu at (x + l*cos(th), y - l*sin(th))\n"
       "friction wall: mu at (x - l*cos(th), y + l*sin(th))\n",
       {"x", "x'", "th", "th'"},
       NULL},
      {"coord a = 2*l*cos(th0), b = 0, th = th0\nspeed a' = 2*l*w*sin(th0), b' = 0, th' = -w\n"
       "point p = (a - l*cos(th), b + l*sin(th)), top = (a - 2*l*cos(th), b + 2*l*sin(th))\n"
       "mass m at p\ninertia m*k^2 of th\ngravity (0, -9.81)\n"
       "constraint floor: b = 0\nconstraint wall: 3*top.x = 0\n"
       "friction floor: mu at (a, b)\nfriction wall: mu at top\n",
       {"p.x", "p.x'", "th", "th'"},
       NULL}}},
    {"bar in a sleeve",
     {"mu", "m", "d", "s", "w", "k"},
     {0.02, 0.2, 0.3, 1.2, 1, 0.2},
     {0.3, 5, 1, 2, 4, 1},
     2,
     sleeve_start,
     sleeve_field,
     sleeve_see,
     {{"coord x = s, y = 0, th = 0\nspeed x' = w, y' = 0, th' = 0\nmass m at (x, y)\n"
       "inertia m*k^2 of th\ngravity (0, -9.81)\npoint u = " IN_BAR("0") ", v = " IN_BAR(
           "d") "\nconstraint one: u.y = 0\nconstraint two: v.y = 0\n"
                "friction one: mu at u\nfriction two: mu at v\n",
       {"x", "x'", "y", "th'"},
       NULL},
      {"coord a = s + 2, b = 0, th = 0\nspeed a' = w, b' = 0, th' = 0\n"
       "point p = (a, b) - 2*(cos(th), sin(th)), u = " IN_END("0") ", v = " IN_END(
           "d") "\nmass m at p\ninertia m*k^2 of th\ngravity (0, -9.81)\n"
                "constraint one: 7*u.y = 0\nconstraint two: v.y = 0\n"
                "friction one: mu at u\nfriction two: mu at v\n",
       {"p.x", "p.x'", "p.y", "th'"},
       NULL}}}};

/* ---- Draws ----------------------------------------------------------------------------------- */

static double next_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* y to `end` in equal steps; with `watch` it stops at the first at which something presses or
 * slides less than a tenth of what it did at first. The time there. */
static double integrate(const physics *it, const double *p, double end, int watch, double *y)
{
    double h = end / STEPS, first[2] = {0};
    int n = it->states;
    for (int step = 0; step < STEPS; step++) {
        double f[4][STATES], z[STATES], press, slip, t = step * h;
        for (int k = 0; k < 4; k++) {
            double part = k == 0 ? 0 : k == 3 ? h : h / 2;
            for (int i = 0; i < n; i++) {
                z[i] = k == 0 ? y[i] : y[i] + part * f[k - 1][i];
            }
            it->field(p, t + part, z, f[k], &press, &slip);
            if (k == 0) {
                first[0] = step == 0 ? press : first[0];
                first[1] = step == 0 ? slip : first[1];
                if (watch && (press <= 0.1 * first[0] || slip <= 0.1 * first[1])) {
                    return t;
                }
            }
        }
        for (int i = 0; i < n; i++) {
            y[i] += h / 6 * (f[0][i] + 2 * f[1][i] + 2 * f[2][i] + f[3][i]);
        }
    }
    return end;
}

typedef struct figures {
    double motion, between, after, energy, kept;
    int draws;
} figures;

/* What the form sees now; checks are the first outputs. */
static const double *look(world *w)
{
    zw_state *s = w->state;
    assert_int_equal(system_evaluate(w->system, w->work, PART_OUTPUTS, s->t, state_q(s), state_v(s),
                                     w->work->a, w->work->lambda, &w->error),
                     ZW_OK);
    return w->work->out[PART_OUTPUTS];
}

static world begin(const physics *it, const form *way, const double *p)
{
    char text[3000];
    size_t used = 0;
    for (int k = 0; k < PARAMETERS && it->parameter[k]; k++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "param %s = %.17g\n",
                                 it->parameter[k], p[k]);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "%s", way->text);
    for (int k = 0; k < SEEN && way->see[k]; k++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "check seen%d: %s within 1e9\n",
                                 k, way->see[k]);
    }
    if (way->conserved) {
        snprintf(text + used, sizeof text - used, "check kept: %s within 1e9\n", way->conserved);
    }
    return world_of(text);
}

static double worst_of(double a, double b)
{
    return b <= a ? a : b; /* NaN stays */
}

static void move_all(const physics *it, const double *p, double end, const double *y,
                     figures *worst)
{
    double expected[SEEN] = {0}, first[SEEN] = {0}, last[SEEN] = {0}, stop = 0;
    it->see(p, end, y, expected);
    for (int k = 0; k < FORMS && it->form[k].text; k++) {
        const form *way = &it->form[k];
        int seen = 0;
        world w = begin(it, way, p);
        while (seen < SEEN && way->see[seen]) {
            seen++;
        }
        double before = way->conserved ? look(&w)[seen] : 0;
        zw_run_summary summary = world_run(&w, end, 1e-12);
        const double *now = look(&w);
        for (int i = 0; i < seen; i++) {
            double size = 1 + fabs(expected[i]);
            first[i] = k == 0 ? now[i] : first[i];
            worst->motion = worst_of(worst->motion, fabs(now[i] - expected[i]) / size);
            worst->between = worst_of(worst->between, fabs(now[i] - first[i]) / size);
        }
        worst->energy = worst_of(worst->energy, summary.energy_drift);
        summary = world_run(&w, 2, 1e-12); /* ends before that where the file says so */
        worst->energy = worst_of(worst->energy, summary.energy_drift);
        stop = k == 0 ? summary.end : stop;
        worst->after = worst_of(worst->after, fabs(summary.end - stop));
        now = look(&w);
        for (int i = 0; i < seen; i++) {
            last[i] = k == 0 ? now[i] : last[i];
            worst->after = worst_of(worst->after, fabs(now[i] - last[i]) / (1 + fabs(last[i])));
        }
        if (way->conserved) {
            worst->kept = worst_of(worst->kept, fabs(now[seen] - before) / (1 + fabs(before)));
        }
        world_end(&w);
    }
}

static figures draw(const physics *it, int draws)
{
    figures worst = {.draws = draws};
    uint64_t seed = 1;
    for (int d = 0; d < draws; d++) {
        double p[PARAMETERS] = {0}, y[STATES];
        for (int k = 0; k < PARAMETERS; k++) {
            p[k] = it->low[k] + (it->high[k] - it->low[k]) * next_number(&seed);
        }
        it->start(p, y);
        double end = integrate(it, p, 0.6, 1, y);
        if (end < 0.6) { /* once more, with all steps on the way to there */
            it->start(p, y);
            integrate(it, p, end, 0, y);
        }
        move_all(it, p, end, y, &worst);
    }
    return worst;
}

static int draws_asked, loud;

static void all_descriptions_move_alike(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        figures worst = draw(&list[k], draws_asked);
        int wrong = !(worst.motion < 1e-9 && worst.between < 1e-9 && worst.after < 1e-9 &&
                      worst.energy < 1e-10 && worst.kept < 1e-10);
        if (loud || wrong) {
            print_message(
                "%-18s %4d draws: from reduced %.1e, between forms %.1e, after stops %.1e, "
                "energy %.1e, "
                "conserved %.1e\n",
                list[k].name, worst.draws, worst.motion, worst.between, worst.after, worst.energy,
                worst.kept);
        }
        if (wrong) {
            fail_msg("%s", list[k].name);
        }
    }
}

int main(int count, char **argument)
{
    draws_asked = count > 1 ? atoi(argument[1]) : campaign(8);
    loud = count > 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_descriptions_move_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
