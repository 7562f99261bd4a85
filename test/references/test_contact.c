/* The references on contact (category H), all of them, at the tolerance that they ask for:
 * |x - reference| <= 1e-10 (1 + |reference|). The numbers were found without zwang.
 *
 *     id    how
 *     H01   equations, impacts as events; and as bodies, `impulse`, for two steps
 *     H02   equations: accelerations, stops; as bodies: who sticks, forces, speeds, for two steps
 *     H03   the kernel, at one instant; as a body, by zw_forward
 *     H04   equations: the instant of rolling; as bodies: speeds while it slides, speed in the end
 *     H05   bodies: thresholds from both sides; equations: toppling from both sides
 *     H06   the kernel
 *     H08   equations, events
 *     H10   equations, at instants, and as a body there, by zw_forward; slip as an event
 *
 * `impulse` is of order 1: as bodies only what does not depend on the step is asked for here. How
 * the rest converges is in step/test_scenarios.c. */
#include <dirent.h>

#include "references/contact_instant.h"
#include "references/contact_kernel.h"

/* ---- H01: a bouncing ball ------------------------------------------------------------------- */

typedef struct seen {
    int impacts, tops;
    double last; /* impact */
} seen;

static int watch(void *user, zw_sample_kind kind, int event, const zw_system *system,
                 const zw_state *state, zw_work *work)
{
    seen *it = user;
    double t = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    double y = zw_field(system, state, work, ZW_FIELD_Q).data[0];
    double v = zw_field(system, state, work, ZW_FIELD_V).data[0];
    (void)event;
    if (kind == ZW_SAMPLE_JUMP && v >= 0) {
        if (it->impacts < BOUNCES) {
            compare("time of impact", t, impact_time[it->impacts]);
            compare("speed after it", v, speed_after[it->impacts]);
        }
        it->impacts++;
        it->last = t;
    }
    if (kind == ZW_SAMPLE_EVENT) {
        if (it->tops < BOUNCES) {
            compare("height", y, apex[it->tops]);
        }
        it->tops++;
    }
    return 0;
}

static void H01_as_bodies(double h)
{
    touch s = open_bodies(
        "<custom><numeric name='restitution' data='.8'/></custom><worldbody>"
        "<geom type='plane' size='0 0 1'/><body pos='0 0 .1'><joint name='y' type='slide' "
        "axis='0 0 1'/><geom size='.1' mass='1'/></body></worldbody>");
    touch_field(&s, ZW_FIELD_Q)[0] = 2;
    for (int k = 0; k < COUNT(ball); k++) {
        move_to(&s, ball[k][0], h);
        compare("height of the body", touch_field(&s, ZW_FIELD_Q)[0], ball[k][1]);
        compare("speed of the body", touch_field(&s, ZW_FIELD_V)[0], ball[k][2]);
    }
    touch_close(&s);
}

static void H01(void)
{
    moving m;
    seen it = {0};
    open_text(&m,
              "coord y = 2\nmass 1 at (0, y)\ngravity (0, -9.81)\n"
              "constraint floor: y >= 0, restitution 0.8\nevent top: y' = 0 falling\n",
              NULL, 0);
    for (int k = 0; k < COUNT(ball); k++) {
        zw_run_options options = {.time = ball[k][0],
                                  .every = ball[k][0],
                                  .tolerance = PRECISION,
                                  .observer = watch,
                                  .user = &it};
        assert_int_equal(zw_run(m.system, m.state, m.work, &options, NULL, &m.error), ZW_OK);
        compare("y", moving_value(&m, "y"), ball[k][1]);
        compare("y'", moving_value(&m, "y'"), ball[k][2]);
    }
    assert_true(it.impacts >= BOUNCES && it.tops >= BOUNCES);
    compare("time of rest", it.last, zeno);
    moving_close(&m);
    for (int k = 0; k < COUNT(steps); k++) {
        H01_as_bodies(steps[k]);
    }
}

/* ---- H02: a block on a slope ---------------------------------------------------------------- */

/* Along the slope: x, x'. */
static moving on_slope(double alpha, double speed, const char *more)
{
    moving m;
    char text[500];
    const zw_setting setting[] = {{"alpha", alpha}, {"v0", speed}};
    snprintf(text, sizeof text,
             "param alpha = 0, v0 = 0, g = 9.81\ncoord x = 0, y = 0\nspeed x' = v0\n"
             "mass 1 at (x, y)\ngravity (g*sin(alpha), -g*cos(alpha))\n"
             "constraint face: y >= 0, friction 0.4\n%s",
             more);
    open_text(&m, text, setting, 2);
    return m;
}

static void H02_case(const incline *c)
{
    moving m = on_slope(c->alpha, c->speed, "");
    if (c->speed == 0) {
        look(&m);
        double a = moving_field(&m, ZW_FIELD_A)[0];
        compare("acceleration", a, c->acceleration);
        compare("friction", G * sin(c->alpha) - a, c->friction);
        run_to(&m, 1);
        compare("x at 1", moving_value(&m, "x"), c->x1);
    } else {
        run_to(&m, 2);
        compare("x at 2", moving_value(&m, "x"), c->x2);
        compare("x' at 2", moving_value(&m, "x'"), c->v2);
        moving_close(&m);
        m = on_slope(c->alpha, c->speed,
                     c->speed > 0 ? "stop when x' < 1e-13" : "stop when x' > -1e-13");
        run_to(&m, 5);
        compare("time of the stop", moving_time(&m), c->stop_time);
        compare("place of the stop", moving_value(&m, "x"), c->stop_x);
    }
    moving_close(&m);
    m = on_slope(c->alpha, 0, "");
    look(&m);
    decide("sticks", fabs(moving_field(&m, ZW_FIELD_A)[0]) < 1e-10, c->sticks);
    moving_close(&m);
}

static touch block_on_slope(double alpha, double speed)
{
    char text[600];
    snprintf(text, sizeof text,
             "<option gravity='%.17g 0 %.17g'/><default><geom friction='.4 0 0'/></default>"
             "<worldbody><geom type='plane' size='0 0 1'/><body pos='0 0 .1'><freejoint/>"
             "<geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody>",
             G * sin(alpha), -G * cos(alpha));
    touch s = open_bodies(text);
    touch_field(&s, ZW_FIELD_V)[0] = speed;
    return s;
}

/* From rest every step has it; thrown, the speed until it stops. */
static void H02_as_bodies(double h)
{
    for (int k = 0; k < COUNT(inclines); k++) {
        const incline *c = &inclines[k];
        touch s = block_on_slope(c->alpha, c->speed);
        double force[2];
        move_to(&s, c->speed == 0 ? 1 : 2, h);
        const double *q = touch_field(&s, ZW_FIELD_Q), *v = touch_field(&s, ZW_FIELD_V);
        if (c->speed == 0) {
            force_on(&s, force);
            compare("body: speed", v[0], c->acceleration);
            compare("body: friction", force[1], c->friction);
            compare("body: way", q[0], c->x1);
        } else if (c->alpha < 0.4) {
            compare("body: speed", v[0], c->v2);
        }
        compare("body: height", q[2], 0.1);
        touch_close(&s);
    }
    for (int k = 0; k < 2; k++) {
        touch s = block_on_slope(slope_limit + (k ? 1 : -1) * TOLERANCE * (1 + slope_limit), 0);
        move_to(&s, 1, h);
        decide("body: slides at the limit", touch_field(&s, ZW_FIELD_V)[0] > 1e-10, k);
        touch_close(&s);
    }
}

static void H02(void)
{
    for (int k = 0; k < COUNT(inclines); k++) {
        H02_case(&inclines[k]);
    }
    for (int k = 0; k < 2; k++) {
        moving m = on_slope(slope_limit + (k ? 1 : -1) * TOLERANCE * (1 + slope_limit), 0, "");
        look(&m);
        decide("slides at the limit", moving_field(&m, ZW_FIELD_A)[0] > 1e-10, k);
        moving_close(&m);
    }
    for (int k = 0; k < COUNT(steps); k++) {
        H02_as_bodies(steps[k]);
    }
}

/* ---- H03: Painleve's rod --------------------------------------------------------------------- */

static void H03(void)
{
    H03_alone();
    H03_as_bodies();
}

/* ---- H04: a bowling ball -------------------------------------------------------------------- */

static void H04_case(const bowl *c)
{
    static const char text[] =
        "param r = 0.11, v0 = 0, w0 = 0\ncoord x = 0, y = r, th = 0\nspeed x' = v0, th' = w0\n"
        "mass 1 at (x, y)\ninertia 0.4*r^2 of th\ngravity (0, -9.81)\n"
        "constraint lane: y >= r, friction 0.2 at (x - r*th, y - r)\n";
    char stops[500];
    const zw_setting setting[] = {{"v0", c->v0}, {"w0", c->w0}};
    moving m;
    open_text(&m, text, setting, 2);
    for (int k = 0; k < 4; k++) {
        run_to(&m, c->state[k][0]);
        compare("x", moving_value(&m, "x"), c->state[k][1]);
        compare("x'", moving_value(&m, "x'"), c->state[k][2]);
        compare("th'", moving_value(&m, "th'"), c->state[k][3]);
    }
    run_to(&m, 3);
    compare("x' in the end", moving_value(&m, "x'"), c->v_final);
    moving_close(&m);
    snprintf(stops, sizeof stops, "%sstop when %s(x' - r*th') < 1e-13\n", text,
             c->v0 > 0.11 * c->w0 ? "" : "-");
    open_text(&m, stops, setting, 2);
    run_to(&m, 3);
    compare("time of rolling", moving_time(&m), c->t_roll);
    compare("place of rolling", moving_value(&m, "x"), c->x_roll);
    moving_close(&m);
}

/* Speeds while it slides, and in the end, are those of every step. */
static void H04_as_bodies(const bowl *c, double h)
{
    touch s = open_bodies("<default><geom friction='.2 0 0'/></default><worldbody>"
                          "<geom type='plane' size='0 0 1'/><body pos='0 0 .11'><freejoint/>"
                          "<geom size='.11' mass='1'/></body></worldbody>");
    double *v = touch_field(&s, ZW_FIELD_V);
    v[0] = c->v0;
    v[4] = c->w0;
    for (int k = 0; k < 4; k++) {
        move_to(&s, c->state[k][0], h);
        compare("body: speed", v[0], c->state[k][2]);
        compare("body: spin", v[4], c->state[k][3]);
    }
    move_to(&s, 3, h);
    compare("body: speed in the end", v[0], c->v_final);
    touch_close(&s);
}

static void H04(void)
{
    for (int i = 0; i < COUNT(bowls); i++) {
        H04_case(&bowls[i]);
        for (int k = 0; k < COUNT(steps); k++) {
            H04_as_bodies(&bowls[i], steps[k]);
        }
    }
}

/* ---- H05: a box slides or tips -------------------------------------------------------------- */

#define TIP_ANGLE 0.3805063771123649
#define SLIDE_ANGLE 0.4636476090008061
#define SLIDE_FORCE 49.05
#define CRITICAL_HEIGHT 0.4
#define TIP_AT_TOP 19.62
#define TIP_AT_08 24.525
#define TIP_PLATFORM 3.924
#define TOPPLE_ENERGY 3.7784667579894844
#define TOPPLE_SPEED 1.3979911865175574

/* Width 0.4 and this height; gravity along x and z; pushed along x at a height. */
static touch box_of(double height, double gx, double gz, double at, double force)
{
    char text[900];
    snprintf(text, sizeof text,
             "<option gravity='%.17g 0 %.17g'/><default><geom friction='.5 0 0'/></default>"
             "<worldbody><geom type='plane' size='0 0 1'/><body pos='0 0 %g'><freejoint/>"
             "<geom type='box' size='.2 .2 %g' mass='10'/><site name='hand' pos='-.2 0 %.17g'/>"
             "</body></worldbody><actuator><general name='push' site='hand' gear='1 0 0 0 0 0' "
             "biastype='affine' biasprm='%.17g 0 0'/></actuator>",
             gx, gz, height / 2, height / 2, at - height / 2, force);
    return open_bodies(text);
}

enum { SLOPE = -1, PLATFORM = -2, CRITICAL = -3 };

/* What happens just below and just above `limit`: nothing, and a slip or a tilt. */
typedef struct box_limit {
    const char *what;
    double limit, height, at; /* at: height of the push; or one of those below */
    int tips;
} box_limit;

static const box_limit box_limits[] = {
    {"angle that tips", TIP_ANGLE, 1, SLOPE, 1},
    {"angle that lets it slide, if low", SLIDE_ANGLE, 0.3, SLOPE, 0},
    {"push at 0.3 that lets it slide", SLIDE_FORCE, 1, 0.3, 0},
    {"height at which it tips first", CRITICAL_HEIGHT, 1, CRITICAL, 1},
    {"push at 0.8 that tips", TIP_AT_08, 1, 0.8, 1},
    {"push at the top that tips", TIP_AT_TOP, 1, 1, 1},
    {"platform that tips", TIP_PLATFORM, 1, PLATFORM, 1},
};

static void H05_limit(const box_limit *c, double h)
{
    for (int above = 0; above < 2; above++) {
        double x = c->limit + (above ? 1 : -1) * TOLERANCE * (1 + c->limit);
        double almost = (1 - 0.5 * TOLERANCE * (1 + 1 / c->limit)) * SLIDE_FORCE;
        touch s = c->at == SLOPE      ? box_of(c->height, G * sin(x), -G * cos(x), 0, 0)
                  : c->at == PLATFORM ? box_of(c->height, x, -G, 0, 0)
                  : c->at == CRITICAL ? box_of(c->height, 0, -G, x, almost)
                                      : box_of(c->height, 0, -G, c->at, x);
        move_to(&s, 1, h);
        const double *v = touch_field(&s, ZW_FIELD_V);
        decide(c->what, v[0] > 2e-11, above);
        decide(c->what, v[4] > 2e-11, above && c->tips);
        touch_close(&s);
    }
}

/* Energy: of the box on its edge less that of the box on its side. */
static void H05_energy(void)
{
    touch s = box_of(1, 0, -G, 0, 0);
    zw_error error = {0};
    double energy[2], *q = touch_field(&s, ZW_FIELD_Q);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(zw_forward(s.system, s.state, s.work, NULL, &error), ZW_OK);
        energy[k] = touch_field(&s, ZW_FIELD_ENERGY)[2];
        double lean = atan(0.4);
        q[2] = 0.2 * sin(lean) + 0.5 * cos(lean);
        q[3] = cos(lean / 2);
        q[5] = sin(lean / 2);
    }
    compare("energy to topple", energy[1] - energy[0], TOPPLE_ENERGY);
    touch_close(&s);
}

/* About its edge, from flat: does it come back? It stays long near the top. */
static void H05_topples(void)
{
    for (int above = 0; above < 2; above++) {
        const zw_setting setting[] = {
            {"rate", TOPPLE_SPEED + (above ? 1 : -1) * TOLERANCE * (1 + TOPPLE_SPEED)}};
        moving m;
        open_text(&m,
                  "param rate = 1, w = 0.4, h = 1, m = 10\ncoord th = 0\nspeed th' = rate\n"
                  "point c = (-w/2*cos(th) + h/2*sin(th), w/2*sin(th) + h/2*cos(th))\n"
                  "mass m at c\ninertia m*(w^2 + h^2)/12 of th\ngravity (0, -9.81)\n"
                  "stop when th > 0.9\nstop when th < 0\n",
                  setting, 1);
        run_to(&m, 60);
        decide("topples", moving_value(&m, "th") > 0.5, above);
        moving_close(&m);
    }
}

static void H05(void)
{
    for (int i = 0; i < COUNT(box_limits); i++) {
        for (int k = 0; k < COUNT(steps); k++) {
            H05_limit(&box_limits[i], steps[k]);
        }
    }
    H05_energy();
    H05_topples();
}

/* ---- H08: a ladder -------------------------------------------------------------------------- */

#define LADDER                                                                                     \
    "param l = 2, start = 1.2\ncoord x = l/2*cos(start), y = l/2*sin(start), th = start\n"         \
    "mass 1 at (x, y)\ninertia l^2/12 of th\ngravity (0, -9.81)\n"

static void H08(void)
{
    moving m; /* held to the wall: when does it stop to push? */
    open_text(&m,
              LADDER "constraint wall: x = l/2*cos(th)\nconstraint floor: y = l/2*sin(th)\n"
                     "stop when lambda(wall) < 0\n",
              NULL, 0);
    run_to(&m, 0.2);
    compare("th at 0.2", moving_value(&m, "th"), 1.1454543662752343);
    run_to(&m, 0.4);
    compare("th at 0.4", moving_value(&m, "th"), 0.9668882345001851);
    run_to(&m, 2);
    compare("time of release", moving_time(&m), 0.5765852438461303);
    compare("th of release", moving_value(&m, "th"), 0.6704764784266558);
    compare("th' of release", moving_value(&m, "th'"), -2.138142117977485);
    moving_close(&m);
    open_text(&m,
              LADDER "constraint wall: x >= l/2*cos(th)\nconstraint floor: y >= l/2*sin(th)\n"
                     "stop when th < 0\n",
              NULL, 0);
    run_to(&m, 0.4);
    compare("th at 0.4, one-sided", moving_value(&m, "th"), 0.9668882345001851);
    run_to(&m, 2);
    compare("time of the impact", moving_time(&m), 0.8158862175789053);
    compare("x of the impact", moving_value(&m, "x"), 1.1014501199177935);
    compare("x' of the impact", moving_value(&m, "x'"), 1.3285546835385096);
    compare("th' of the impact", moving_value(&m, "th'"), -3.52010823550124);
    moving_close(&m);
}

/* ---- H10: a falling rod --------------------------------------------------------------------- */

#define ROD                                                                                        \
    "param start = 0.05, mu = 0.1\nparam rate = sqrt(3*9.81*(1 - cos(start)))\n"                   \
    "coord x = sin(start)/2, y = cos(start)/2, th = start\nspeed th' = rate\nmass 1 at (x, y)\n"   \
    "inertia 1/12 of th\ngravity (0, -9.81)\nconstraint foot: (x, y) = (sin(th), cos(th))/2\n"

/* Reactions over the weight at an angle, as it falls from the vertical. */
static double reactions(double angle, double *N, double *F)
{
    const zw_setting setting[] = {{"start", angle}};
    moving m;
    open_text(&m, ROD, setting, 1);
    look(&m);
    *F = moving_field(&m, ZW_FIELD_LAMBDA)[0] / G;
    *N = moving_field(&m, ZW_FIELD_LAMBDA)[1] / G;
    moving_close(&m);
    return *F / *N;
}

/* d ratio / d angle by nine points: their error is of order 8. */
static double ratio_slope(double angle)
{
    static const double weight[4] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
    const double d = 0.01;
    double sum = 0, N, F;
    for (int k = 1; k <= 4; k++) {
        sum +=
            weight[k - 1] * (reactions(angle + k * d, &N, &F) - reactions(angle - k * d, &N, &F));
    }
    return sum / d;
}

static void H10(void)
{
    static const double table[][4] = {
        {0.2, 0.9410937514913833, 0.14009163890464, 0.1488604495382442},
        {0.5, 0.6664662512660982, 0.22751655000257906, 0.34137745095173494},
        {0.7, 0.4189497548360384, 0.14230441538048114, 0.3396694084143189},
        {1.0, 0.09638135008225523, -0.23924687203295286, -2.4822942595094504},
        {1.2, 0.0018954383010884464, -0.6381625508307948, -336.68336788611526}};
    static const double onset[][2] = {
        {0.1, 0.13375640453557902}, {0.2, 0.2708620856068016}, {0.3, 0.4217712932784831}};
    double N, F;
    for (int k = 0; k < COUNT(table); k++) {
        double ratio = reactions(table[k][0], &N, &F);
        compare("N", N, table[k][1]);
        compare("F", F, table[k][2]);
        compare("F/N", ratio, table[k][3]);
        H10_as_bodies(table[k][0], table[k][1], table[k][2]);
    }
    for (int k = 0; k < COUNT(onset); k++) {
        const zw_setting setting[] = {{"mu", onset[k][0]}};
        moving m;
        open_text(&m, ROD "stop when lambda(foot).x > mu*lambda(foot).y\n", setting, 1);
        run_to(&m, 5);
        compare("angle of slip", moving_value(&m, "th"), onset[k][1]);
        moving_close(&m);
    }
    double angle = 0.6, step = 0.01, slope = ratio_slope(angle);
    for (int k = 0; k < 8 && fabs(step) > 1e-12; k++) { /* the secant to slope 0 */
        double next = ratio_slope(angle + step), way = -next * step / (next - slope);
        angle += step;
        slope = next;
        step = way;
    }
    compare("angle of the largest F/N", angle, 0.6125547383393389);
    compare("largest F/N", reactions(angle, &N, &F), 0.37057941330098193);
}

/* ---- All of them ---------------------------------------------------------------------------- */

static const struct {
    const char *id;
    double tolerance; /* as the reference asks */
    int numbers;      /* that it gives, at least */
    int bodies;       /* needs a reader of MJCF */
    void (*check)(void);
} references[] = {
    {"H01", 1e-10, 51, 1, H01}, {"H02", 1e-10, 31, 1, H02}, {"H03", 1e-10, 12, 1, H03},
    {"H04", 1e-10, 75, 1, H04}, {"H05", 1e-10, 10, 1, H05}, {"H06", 1e-10, 60, 0, H06},
    {"H08", 1e-10, 10, 0, H08}, {"H10", 1e-10, 20, 1, H10},
};

static void all_hold(void **state)
{
    int failures = 0;
    (void)state;
    for (int i = 0; i < COUNT(references); i++) {
        assert_true(references[i].tolerance == TOLERANCE);
        memset(&now, 0, sizeof now);
        now.id = references[i].id;
        references[i].check();
        print_message("    %s: %d numbers, the worst at %.2g of %g (%s)\n", now.id, now.numbers,
                      now.worst, TOLERANCE, now.what);
        assert_true(now.numbers >= references[i].numbers);
        failures += now.failures;
    }
    assert_int_equal(failures, 0);
}

/* In $ZW_REFERENCES (or /work/shared/refs), if it is there: nothing of category H that is not here.
 */
static void none_is_missing(void **state)
{
    const char *folder = getenv("ZW_REFERENCES");
    DIR *list = opendir(folder ? folder : "/work/shared/refs");
    (void)state;
    if (!list) {
        print_message("    the collection of references is not here\n");
        return;
    }
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        int known = entry->d_name[0] != 'H';
        for (int i = 0; i < COUNT(references); i++) {
            known |= strncmp(entry->d_name, references[i].id, 3) == 0;
        }
        if (!known) {
            fail_msg("%s is not compared", entry->d_name);
        }
    }
    closedir(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_hold),
                                       cmocka_unit_test(none_is_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
