/* Sticking, sliding and rolling against closed forms; see test_contact.c for the rest. */
#include "system/contact.h"

static const double g = G;

/* Block on an incline: it stays below atan(mu) and moves above; thrown, it stops after v^2/2a. */
static void an_incline_holds_up_to_its_angle(void **state)
{
    (void)state;
    const double mu = 0.4;
    static const double part[] = {0.99, 1.01, 1 - 1e-7, 1 + 1e-7};
    for (int i = 0; i < 4; i++) {
        double tilt = part[i] * atan(mu);
        char text[300];
        snprintf(text, sizeof text,
                 "param tilt = %.17g\ncoord x = 0, y = 0\nmass 2 at (x, y)\n"
                 "gravity 9.81*(sin(tilt), -cos(tilt))\nconstraint face: y >= 0, friction 0.4\n",
                 tilt);
        world w = world_of(text);
        go(&w, 2, NULL);
        double a = g * (sin(tilt) - mu * cos(tilt));
        NEAR(q_of(&w, 0), a > 0 ? 2 * a : 0, 1e-12);
        assert_int_equal(look_at(&w, "face").mode, a > 0 ? ZW_MODE_SLIDING : ZW_MODE_STUCK);
        world_end(&w);
    }
}

static void a_thrown_block_stops_and_stays(void **state)
{
    (void)state;
    static const double throw[] = {3, -3};
    for (int i = 0; i < 2; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "coord x = 0, y = 0\nspeed x' = %g, y' = 0\nmass 2 at (x, y)\n"
                 "gravity 9.81*(sin(0.3), -cos(0.3))\nconstraint face: y >= 0, friction 0.4\n"
                 "event still: x' = 0\n",
                 throw[i]);
        world w = world_of(text);
        static history d;
        go(&w, 5, &d);
        double a = g * (0.4 * cos(0.3) - (throw[i] > 0 ? 1 : -1) * sin(0.3)), v = throw[i];
        NEAR(d.time[0], fabs(v) / a, 1e-12);
        NEAR(q_of(&w, 0), v * fabs(v) / 2 / a, 1e-12);
        NEAR(v_of(&w, 0), 0, 1e-15);
        assert_int_equal(look_at(&w, "face").mode, ZW_MODE_STUCK);
        world_end(&w);
    }
}

/* The three ways to say where a ball rubs are one. It rolls from t = 2 v/(7 mu g) on at 5/7 v. */
static void a_bowling_ball_begins_to_roll(void **state)
{
    (void)state;
    static const char *const way[] = {"at (x - r*th, y - r)", "slip x' - r*th'",
                                      "slip (x' - r*th', z')"};
    for (int i = 0; i < 3; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "param r = 0.11\ncoord x = 0, y = r, th = 0, z = 0\nspeed x' = 5, th' = 0\n"
                 "mass 1 at (x, y)\nkinetic z'^2/2\ninertia 0.4*r^2 of th\ngravity (0, -9.81)\n"
                 "constraint lane: y >= r, friction 0.2 %s\nevent rolls: x' - r*th' = 1e-11\n",
                 way[i]);
        world w = world_of(text);
        static history d;
        go(&w, 2, &d);
        double t = 2 * 5 / (7 * 0.2 * g), v = 25.0 / 7;
        NEAR(d.time[0], t, 1e-11);
        NEAR(v_of(&w, 0), v, 1e-12);
        NEAR(v_of(&w, 2), v / 0.11, 1e-11);
        NEAR(q_of(&w, 0), 12 * 25 / (49 * 0.2 * g) + v * (2 - t), 1e-11);
        assert_int_equal(look_at(&w, "lane").mode, ZW_MODE_STUCK);
        world_end(&w);
    }
}

/* A rod falls about its foot; F/N = mu at the onset angle (sin 3(3c - 2)/(3c - 1)^2, c = cos). */
static void the_foot_of_a_falling_rod_slips(void **state)
{
    (void)state;
    static const double onset[][2] = {
        {0.1, 0.13375640453557902}, {0.2, 0.2708620856068016}, {0.3, 0.4217712932784831}};
    for (int i = 0; i < 3; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "param s = 0.05, w = sqrt(3*9.81*(1 - cos(s)))\n"
                 "coord x = sin(s)/2, y = cos(s)/2, th = s\n"
                 "speed x' = w*cos(s)/2, y' = -w*sin(s)/2, th' = w\n"
                 "mass 1 at (x, y)\ninertia 1/12 of th\ngravity (0, -9.81)\n"
                 "point foot = (x, y) - (sin(th), cos(th))/2\n"
                 "constraint floor: y - cos(th)/2 >= 0, friction %g at foot\n"
                 "event onset: th = %.17g rising\n",
                 onset[i][0], onset[i][1]);
        world w = world_of(text);
        static history d;
        go(&w, 0.6, &d);
        double F = d.a[0][0], N = d.a[0][1] + g;
        NEAR(F / N, onset[i][0], 1e-10);
        NEAR(d.q[0][0], sin(onset[i][1]) / 2, 1e-11);
        int held = 0, slid = 0;
        for (int k = 0; k < d.outputs; k++) {
            int before = d.at[k] <= d.time[0];
            assert_int_equal(d.mode[k][0], before ? ZW_MODE_STUCK : ZW_MODE_SLIDING);
            held += before;
            slid += !before;
        }
        assert_true(held > 5 && slid > 5);
        double back = sin(d.x[d.outputs - 1][2]) / 2 - d.x[d.outputs - 1][0];
        assert_true(back > 1e-4);
        world_end(&w);
    }
}

static const char *const BOX =
    "param w = 0.4, h = 1, m = 10\ncoord x = 0, y = h/2, th = 0\nmass m at (x, y)\n"
    "inertia m*(w^2 + h^2)/12 of th\n"
    "point a = (x, y) + ( w/2*cos(th) + h/2*sin(th),  w/2*sin(th) - h/2*cos(th))\n"
    "point b = (x, y) + (-w/2*cos(th) + h/2*sin(th), -w/2*sin(th) - h/2*cos(th))\n"
    "constraint front: a.y >= 0, friction mu at a\nconstraint back: b.y >= 0, friction mu at b\n";

/* A box on two corners holds in many ways; it slides at tan = mu or tips at tan = w/h, whichever is
 * first, however the forces are shared. */
static void a_box_slides_or_tips(void **state)
{
    (void)state;
    static const struct {
        double mu, tilt;
        zw_constraint_mode front, back;
    } list[] = {{0.5, 0.999 * 0.3805063771123649, ZW_MODE_STUCK, ZW_MODE_STUCK},
                {0.5, 1.001 * 0.3805063771123649, ZW_MODE_STUCK, ZW_MODE_OPEN},
                {0.3, 0.999 * 0.2914567944778671, ZW_MODE_STUCK, ZW_MODE_STUCK},
                {0.3, 1.001 * 0.2914567944778671, ZW_MODE_SLIDING, ZW_MODE_SLIDING}};
    for (int i = 0; i < 4; i++) {
        char text[900];
        snprintf(text, sizeof text,
                 "%sparam mu = %g, tilt = %.17g\ngravity 9.81*(sin(tilt), -cos(tilt))\n", BOX,
                 list[i].mu, list[i].tilt);
        world w = world_of(text);
        go(&w, 0.5, NULL);
        zw_constraint front = look_at(&w, "front"), back = look_at(&w, "back");
        assert_int_equal(back.mode == ZW_MODE_OPEN, list[i].back == ZW_MODE_OPEN);
        double a = g * (sin(list[i].tilt) - list[i].mu * cos(list[i].tilt));
        int slides = list[i].front == ZW_MODE_SLIDING;
        assert_int_equal(front.mode, list[i].front);
        if (list[i].back != ZW_MODE_OPEN) {
            NEAR(q_of(&w, 0), slides ? a / 8 : 0, 1e-12);
            NEAR(q_of(&w, 2), 0, 1e-14);
        } else {
            assert_true(q_of(&w, 2) < -1e-5);
        }
        world_end(&w);
    }
}

/* A table is tilted slowly: the box begins to slide at tan = mu. Its way from there is
 * x = integral of g sin - mu g cos. */
static void a_box_slides_from_a_tilting_table(void **state)
{
    (void)state;
    char text[900];
    const double mu = 0.3, rate = 0.5, t = 0.9;
    snprintf(text, sizeof text, "%sparam mu = 0.3\nforce x: 98.1*sin(t/2), y: -98.1*cos(t/2)\n",
             BOX);
    world w = world_of(text);
    go(&w, t, NULL);
    double s = atan(mu), end = rate * t, k = g / rate / rate;
    /* v' = g (sin - mu cos): twice from s to end */
    double x = k * (-sin(end) + sin(s) + cos(s) * (end - s)) +
               k * mu * (cos(end) - cos(s) + sin(s) * (end - s));
    NEAR(q_of(&w, 0), x, 1e-11);
    world_end(&w);
}

/* ---- Moving surfaces ----------------------------------------------------------------------- */

/* The motion on a belt that moves with cos 3t, piece by piece: it sticks while 3 |sin 3t| <= f, and
 * else slides with +-f until the speeds meet. */
typedef struct belt {
    double t, x, v;
} belt;

static double meet(double t0, double v0, double a)
{
    double low = t0 + 1e-6, high = low, sign = v0 + a * (low - t0) - cos(3 * low);
    while ((v0 + a * (high - t0) - cos(3 * high)) * sign > 0) {
        high += 1e-4;
    }
    for (int i = 0; i < 200; i++) {
        double middle = 0.5 * (low + high);
        *((v0 + a * (middle - t0) - cos(3 * middle)) * sign > 0 ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

/* The first time from t on at which 3 |sin 3t| rises to f. */
static double breaks(double t, double f)
{
    double first = asin(f / 3), k = ceil((3 * t - first) / M_PI);
    return (first + k * M_PI) / 3;
}

static belt follow(double f, double end)
{
    belt b = {0, 0, 0};
    int stuck = 0;
    while (b.t < end) {
        double direction = stuck ? (sin(3 * b.t + 1e-7) > 0 ? -1 : 1) : b.v < cos(3 * b.t) ? 1 : -1;
        int holds = stuck && fabs(3 * sin(3 * b.t)) < f * (1 - 1e-9);
        double next = holds ? breaks(b.t, f) : meet(b.t, b.v, direction * f);
        double to = next < end ? next : end, h = to - b.t;
        if (holds) {
            b.x += (sin(3 * to) - sin(3 * b.t)) / 3;
            b.v = cos(3 * to);
        } else {
            b.x += b.v * h + direction * f * h * h / 2;
            b.v += direction * f * h;
        }
        stuck = to == next; /* the speeds have met, or it sticks no more */
        b.t = to;
    }
    return b;
}

static void a_block_on_a_shaking_belt(void **state)
{
    (void)state;
    static const double mus[] = {0.05, 0.15, 0.25, 0.3, 0.31};
    for (int i = 0; i < 5; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "coord x = 0, y = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                 "constraint belt: y >= 0, friction %g slip x' - cos(3*t)\n",
                 mus[i]);
        world w = world_of(text);
        static const double times[] = {0.5, 1, 2, 4, 7.3};
        for (int k = 0; k < 5; k++) {
            go(&w, times[k], NULL);
            belt b = follow(mus[i] * g, times[k]);
            NEAR(q_of(&w, 0), b.x, 1e-10);
            NEAR(v_of(&w, 0), b.v, 1e-10);
        }
        world_end(&w);
    }
}

/* A bead sticks on a wire that turns in a vertical plane until g sin - w^2 r = mu g cos: what keeps
 * it at its place there is not force alone, but the acceleration of the place. */
static void a_bead_sticks_to_a_turning_wire(void **state)
{
    (void)state;
    world w = world_of("coord x = 1, y = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                       "constraint wire: y*cos(t/2) - x*sin(t/2) = 0\nfriction wire: 0.5 at "
                       "(x*cos(t/2) + y*sin(t/2), y*cos(t/2) - x*sin(t/2))\n");
    const double mu = 0.5;
    double angle = atan(mu) + asin(0.25 / g / sqrt(1 + mu * mu));
    static history d;
    go(&w, 1.6, &d);
    int held = 0;
    for (int k = 0; k < d.outputs; k++) {
        int before = d.at[k] / 2 < angle;
        double r = hypot(d.x[k][0], d.x[k][1]);
        assert_int_equal(d.mode[k][0], before ? ZW_MODE_STUCK : ZW_MODE_SLIDING);
        if (before) {
            NEAR(r, 1, 1e-12);
        }
        held += before;
    }
    assert_true(held > 20 && held < d.outputs);
    assert_true(hypot(q_of(&w, 0), q_of(&w, 1)) < 0.95);
    world_end(&w);
}

/* ---- In space ------------------------------------------------------------------------------- */

/* Thrown across a slope with G = g sin, f = mu g cos: friction turns with the motion. The hodograph
 * v = v0 tan(p/2)^k / sin p, k = f/G, integrates to the time and place of rest. */
static void a_path_on_a_slope_bends(void **state)
{
    (void)state;
    static const char *const where[] = {"z >= 0, friction 0.3", "z >= 0, friction 0.3 at (x, y, z)",
                                        "z >= 0, friction 0.3 slip (x', y')"};
    for (int i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "coord x = 0, y = 0, z = 0\nspeed x' = 2, y' = 0, z' = 0\nmass 1 at (x, y, z)\n"
                 "gravity (0, -1, -9.81)\nconstraint slope: %s\n",
                 where[i]);
        world w = world_of(text);
        const double k = 0.3 * g, v0 = 2, stop = v0 * k / (k * k - 1);
        go(&w, 0.999 * stop, NULL);
        double p = atan2(v_of(&w, 0), -v_of(&w, 1));
        NEAR(hypot(v_of(&w, 0), v_of(&w, 1)), v0 * pow(tan(p / 2), k) / sin(p), 1e-10);
        go(&w, 2, NULL);
        NEAR(q_of(&w, 0), v0 * v0 * 2 * k / (4 * k * k - 1), 1e-10);
        NEAR(q_of(&w, 1), -v0 * v0 / (4 * (k * k - 1)), 1e-10);
        assert_int_equal(look_at(&w, "slope").mode, ZW_MODE_STUCK);
        world_end(&w);
    }
}

/* A ball thrown sliding in space: the slip keeps its direction, and rolling begins after
 * 2 |u|/(7 mu g) with u the first slip. */
/* A puck is pulled across its way by k = F/(mu m g) < 1 of what holds it at rest: with the angle
 * between pull and motion as a parameter its speeds are elementary, and it comes to rest at
 * x = 2 v^2/(mu g (4 - k^2)), y = k v^2/(4 mu g (1 - k^2)). Its direction turns ever faster towards
 * the end, and is followed as long as the tolerance knows it. */
static void a_puck_turns_as_it_stops(void **state)
{
    (void)state;
    const double k = 0.1;
    world w = world_of("coord x, y, z\nspeed x' = 1\nmass 1 at (x, y, z)\ngravity (0, 0, -10)\n"
                       "force y: 0.5\nconstraint floor: z >= 0, friction 0.5\n");
    world_run(&w, 2, 1e-6);
    const double *q = world_field(&w, ZW_FIELD_Q);
    assert_true(fabs(q[0] - 2 / (5 * (4 - k * k))) < 1e-7);
    assert_true(fabs(q[1] - k / (20 * (1 - k * k))) < 1e-7);
    world_end(&w);
}

static void a_ball_in_space_begins_to_roll(void **state)
{
    (void)state;
    world w = world_of("param r = 0.2\ncoord x = 0, y = 0, z = r, a = 0, b = 0\n"
                       "speed x' = 3, y' = 1, z' = 0, a' = 0, b' = -5\nmass 2 at (x, y, z)\n"
                       "kinetic 0.4*2*r^2/2*(a'^2 + b'^2)\ngravity (0, 0, -9.81)\n"
                       "constraint floor: z >= r, friction 0.25 slip (x' - r*b', y' + r*a')\n");
    double ux = 3 + 0.2 * 5, uy = 1, u = hypot(ux, uy), t = 2 * u / (7 * 0.25 * g);
    go(&w, 0.5 * t, NULL);
    NEAR(v_of(&w, 0), 3 - 0.25 * g * ux / u * 0.5 * t, 1e-12);
    go(&w, 2, NULL);
    NEAR(v_of(&w, 0), 3 - 2 * ux / 7, 1e-11);
    NEAR(v_of(&w, 1), 1 - 2 * uy / 7, 1e-11);
    NEAR(v_of(&w, 0) - 0.2 * v_of(&w, 4), 0, 1e-13);
    assert_int_equal(look_at(&w, "floor").mode, ZW_MODE_STUCK);
    world_end(&w);
}

/* ---- Ladders -------------------------------------------------------------------------------- */

static void a_smooth_ladder_leaves_the_wall(void **state)
{
    (void)state;
    world w = world_of("param s = 1.2\ncoord x = cos(s), y = sin(s), th = s\nmass 1 at (x, y)\n"
                       "inertia 1/3 of th\ngravity (0, -9.81)\n"
                       "constraint wall: x - cos(th) >= 0\nconstraint floor: y - sin(th) >= 0\n"
                       "event off: lambda(wall) = 0 falling\nstop when th < 0.01\n");
    static history d;
    go(&w, 2, &d);
    NEAR(sin(d.q[0][2]), 2.0 / 3 * sin(1.2), 1e-12);
    NEAR(d.time[0], 0.5765852438461303, 1e-11);
    NEAR(v_of(&w, 0), sqrt(2 * g * pow(sin(1.2), 3)) / 3, 1e-11);
    world_end(&w);
}

/* Rough wall and floor: a ladder stands up to tan th = (1 - mu^2)/(2 mu), and slides below. */
static void a_rough_ladder_stands_or_slides(void **state)
{
    (void)state;
    const double mu = 0.4, border = atan((1 - mu * mu) / (2 * mu));
    for (int i = 0; i < 2; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "param s = %.17g, mu = 0.4\ncoord x = cos(s), y = sin(s), th = s\n"
                 "mass 1 at (x, y)\ninertia 1/3 of th\ngravity (0, -9.81)\n"
                 "constraint wall: x - cos(th) >= 0, friction mu at (x - cos(th), y + sin(th))\n"
                 "constraint floor: y - sin(th) >= 0, friction mu at (x + cos(th), y - sin(th))\n",
                 border * (i ? 0.999 : 1.001));
        world w = world_of(text);
        double s = q_of(&w, 2);
        go(&w, 0.5, NULL);
        if (i == 0) {
            NEAR(q_of(&w, 2), s, 1e-12);
        } else {
            assert_true(q_of(&w, 2) < s - 1e-4);
            assert_int_equal(look_at(&w, "wall").mode, ZW_MODE_SLIDING);
            assert_int_equal(look_at(&w, "floor").mode, ZW_MODE_SLIDING);
        }
        world_end(&w);
    }
}

/* A disc falls on two others and they stand: by statics the upper contacts press with g/2, the
 * floor with 3 g/2, and friction is tan 15 degrees of the pressure between discs. */
static void three_discs_make_a_heap(void **state)
{
    (void)state;
    world w = world_of(
        "param r = 0.5, mu = 0.6\ncoord x1 = -0.5, y1 = r, a1 = 0\ncoord x2 = 0.5, y2 = r, a2 = 0\n"
        "coord x3 = 0, y3 = 1.6, a3 = 0\nmass 1 at (x1, y1), 1 at (x2, y2), 1 at (x3, y3)\n"
        "inertia r^2/2 of a1\ninertia r^2/2 of a2\ninertia r^2/2 of a3\ngravity (0, -9.81)\n"
        "let d13 = hypot(x3 - x1, y3 - y1), d23 = hypot(x3 - x2, y3 - y2)\n"
        "let s13 = ((x3' - x1')*(y3 - y1) - (y3' - y1')*(x3 - x1))/d13 - r*(a1' + a3')\n"
        "let s23 = ((x3' - x2')*(y3 - y2) - (y3' - y2')*(x3 - x2))/d23 - r*(a2' + a3')\n"
        "constraint f1: y1 >= r, friction mu slip x1' - r*a1'\n"
        "constraint f2: y2 >= r, friction mu slip x2' - r*a2'\n"
        "constraint c13: d13 >= 2*r, friction mu slip s13\n"
        "constraint c23: d23 >= 2*r, friction mu slip s23\n");
    go(&w, 3, NULL);
    world_forward(&w);
    const double *lambda = world_field(&w, ZW_FIELD_LAMBDA);
    for (int i = 0; i < 2; i++) {
        NEAR(lambda[i], 1.5 * g, 1e-10);
        NEAR(lambda[2 + i], 0.5 * g, 1e-10);
    }
    NEAR(q_of(&w, 7), 0.5 + sqrt(0.75), 1e-12);
    world_end(&w);
}

/* It bounces and rubs its way into a corner, where it can be held in several ways, and is still. */
static void a_rod_falls_into_a_corner(void **state)
{
    (void)state;
    world w = world_of(
        "coord x = 0.3, y = 1.2, th = 1.2\nspeed x' = 1, y' = 0, th' = -3\nmass 1 at (x, y)\n"
        "inertia 1/12 of th\ngravity 9.81*(sin(0.4), -cos(0.4))\n"
        "point a = (x, y) + (cos(th), sin(th))/2\npoint b = (x, y) - (cos(th), sin(th))/2\n"
        "constraint fa: a.y >= 0, restitution 0.7, friction 0.3 at a\n"
        "constraint fb: b.y >= 0, restitution 0.7, friction 0.3 at b\n"
        "constraint ra: a.x <= 1.2, restitution 0.7, friction 0.3 at a\n"
        "constraint rb: b.x <= 1.2, restitution 0.7, friction 0.3 at b\n");
    go(&w, 8, NULL);
    world_forward(&w);
    for (int i = 0; i < 3; i++) {
        NEAR(v_of(&w, i), 0, 1e-12);
        NEAR(world_field(&w, ZW_FIELD_A)[i], 0, 1e-10);
    }
    world_end(&w);
}

/* A force that friction can just hold, and touches that border again and again. */
static void a_force_on_the_border_is_held(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                       "force x: 9.81*0.3*sin(2*t)\nconstraint floor: y >= 0, friction 0.3\n");
    go(&w, 10, NULL);
    NEAR(q_of(&w, 0), 0, 1e-12);
    world_end(&w);
}

/* The square of the turning speed of a bead on a ring of radius 1 at the angle u from below, if it
 * was E0 at u0 and the ring has pressed inwards (side 1) or outwards (-1) since:
 * (w^2)' = -2 g sin u - 2 mu side (w^2 + g cos u), which is linear. */
static double ring_square(double mu, int side, double u0, double E0, double u)
{
    double k = 2 * mu * side, a = G * (2 - k * k) / (1 + k * k), b = -3 * k * G / (1 + k * k);
    double rest = E0 - a * cos(u0) - b * sin(u0);
    return rest * exp(-k * (u - u0)) + a * cos(u) + b * sin(u);
}

/* Where the ring ceases to press to this side. */
static double ring_turn(double mu, int side, double u0, double E0, double far)
{
    double near = u0;
    for (int i = 0; i < 80; i++) {
        double u = 0.5 * (near + far);
        *(side * (ring_square(mu, side, u0, E0, u) + G * cos(u)) > 0 ? &near : &far) = u;
    }
    return near;
}

/* On its way over the top the ring presses outwards: |N| has two corners. */
static void a_bead_goes_over_the_top(void **state)
{
    (void)state;
    double mu = 0.1, square = 70;
    double one = ring_turn(mu, 1, 0, square, 3.1), at_one = ring_square(mu, 1, 0, square, one);
    double two = ring_turn(mu, -1, one + 1e-9, at_one, 4.5);
    double at_two = ring_square(mu, -1, one, at_one, two);
    for (int form = 0; form < 2; form++) {
        world w = world_of(form ? "coord r = 1, u = 0\nspeed u' = sqrt(70)\n"
                                  "mass 1 at (r*sin(u), -r*cos(u))\ngravity (0, -9.81)\n"
                                  "constraint c: r^2 = 1\nfriction c: 0.1\nstop when u > 5.5\n"
                                : "coord x = 0, y = -1\nspeed x' = sqrt(70)\nmass 1 at (x, y)\n"
                                  "gravity (0, -9.81)\nconstraint c: x^2 + y^2 = 1\n"
                                  "friction c: 0.1\nstop when x > -0.7 and x < -0.69 and y < 0\n");
        world_run(&w, 5, 1e-12);
        const double *q = world_field(&w, ZW_FIELD_Q), *v = world_field(&w, ZW_FIELD_V);
        double u = form ? q[1] : 2 * 3.14159265358979323846 + atan2(q[0], -q[1]);
        double found = form ? v[1] * v[1] : v[0] * v[0] + v[1] * v[1];
        double exact = ring_square(mu, 1, two, at_two, u);
        assert_true(one > 2 && two < 4.4 && exact > 1);
        assert_true(fabs(found - exact) < 1e-10);
        world_end(&w);
    }
}

/* A mass on a free turntable, which carries it along in the end. Where it ceases to slide, its
 * direction turns the faster the slower it slides, and no tolerance is too tight to get there. */
static void a_turntable_takes_a_mass_along(void **state)
{
    (void)state;
    const double ends[] = {0.1848, 2};
    world w = world_of(
        "coord a = 0, x = 1.7565480948436398, y = 0, z = 0\ninertia 2.1826914057833564 of a\n"
        "speed a' = 3.2097501268943347, x' = -0.94071767097950909, y' = 1.6908214894254123\n"
        "mass 2.8999168838712177 at (x, y, z)\ngravity (0, 0, -9.81)\nconstraint top: z = 0\n"
        "friction top: 0.38756691847865876 at (x*cos(a) + y*sin(a), y*cos(a) - x*sin(a), z)\n");
    for (int k = 0; k < 2; k++) {
        zw_run_summary summary = world_run(&w, ends[k], 1e-12);
        assert_true(summary.energy_drift < 1e-12 && summary.steps < 3000);
    }
    const double *q = world_field(&w, ZW_FIELD_Q), *v = world_field(&w, ZW_FIELD_V);
    assert_true(fabs(v[1] + v[0] * q[2]) < 1e-12 && fabs(v[2] - v[0] * q[1]) < 1e-12);
    assert_true(fabs(q[0] - 3.16284726425) < 1e-10); /* at looser tolerances, too */
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_incline_holds_up_to_its_angle),
        cmocka_unit_test(a_thrown_block_stops_and_stays),
        cmocka_unit_test(a_bowling_ball_begins_to_roll),
        cmocka_unit_test(the_foot_of_a_falling_rod_slips),
        cmocka_unit_test(a_box_slides_or_tips),
        cmocka_unit_test(a_box_slides_from_a_tilting_table),
        cmocka_unit_test(a_block_on_a_shaking_belt),
        cmocka_unit_test(a_bead_sticks_to_a_turning_wire),
        cmocka_unit_test(a_path_on_a_slope_bends),
        cmocka_unit_test(a_puck_turns_as_it_stops),
        cmocka_unit_test(a_ball_in_space_begins_to_roll),
        cmocka_unit_test(a_smooth_ladder_leaves_the_wall),
        cmocka_unit_test(a_rough_ladder_stands_or_slides),
        cmocka_unit_test(three_discs_make_a_heap),
        cmocka_unit_test(a_rod_falls_into_a_corner),
        cmocka_unit_test(a_force_on_the_border_is_held),
        cmocka_unit_test(a_bead_goes_over_the_top),
        cmocka_unit_test(a_turntable_takes_a_mass_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
