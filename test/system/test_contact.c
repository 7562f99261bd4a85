/* One-sided constraints at work: impacts, resting contact, sticking and sliding. Every motion here
 * is compared with a closed form, and every run must keep the energy theorem (Cardin-Zanzotto 1989,
 * eq. (3.14)): the work of friction and impacts is in it. */
#include "system/contact.h"

static const double g = G;

/* ---- Impacts ------------------------------------------------------------------------------- */

/* Flights last 2 e^k u/g: a geometric series that ends at t0 (1 + e)/(1 - e). */
static void a_ball_bounces_to_rest(void **state)
{
    (void)state;
    world w = world_of("coord y = 2\nmass 1 at (0, y)\ngravity (0, -9.81)\n"
                       "constraint floor: y >= 0, restitution 0.8\nevent hit: y = 0 falling\n");
    static history d;
    zw_run_summary summary = go(&w, 7, &d);
    double fall = sqrt(4 / g), t = fall, flight = 2 * fall, zeno = fall * 9;
    for (int k = 0; k < 60; k++) {
        NEAR(d.time[k], t, 1e-12);
        NEAR(d.v[k][0], -g * flight / 2, 1e-12);
        flight *= 0.8;
        t += flight;
    }
    NEAR(d.impact, zeno, 1e-9); /* the last ones are below round-off of y: it does not pass zero */
    NEAR(d.time[d.events - 1], zeno, 1e-8);
    NEAR(summary.work, -2 * g, 1e-12);
    NEAR(q_of(&w, 0), 0, 1e-15);
    NEAR(v_of(&w, 0), 0, 1e-15);
    assert_int_equal(look_at(&w, "floor").mode, ZW_MODE_CLOSED);
    NEAR(look_at(&w, "floor").force, g, 1e-12);
    world_end(&w);
}

static void an_elastic_ball_keeps_its_height(void **state)
{
    (void)state;
    world w = world_of("coord y = 2\nmass 1 at (0, y)\ngravity (0, -9.81)\n"
                       "constraint floor: y >= 0, restitution 1\nevent top: y' = 0 falling\n");
    static history d;
    double period = 2 * sqrt(4 / g);
    go(&w, 1000.2 * period, &d);
    assert_int_equal(d.events, 1000);
    for (int k = 0; k < d.events; k++) {
        NEAR(d.q[k][0], 2, 1e-9);
        NEAR(d.time[k], (k + 1) * period, 1e-8);
    }
    world_end(&w);
}

/* Where y is known to 1e-13 only, the last bounces are below round-off. */
static void small_bounces_on_a_high_floor_end(void **state)
{
    (void)state;
    static const double e[] = {0.5, 0.8, 0.95};
    for (int i = 0; i < 3; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "coord y = 1000.5\nmass 1 at (0, y)\ngravity (0, -9.81)\n"
                 "constraint floor: y >= 1000, restitution %g\n",
                 e[i]);
        world w = world_of(text);
        go(&w, 20, NULL);
        NEAR(q_of(&w, 0), 1000, 1e-12);
        NEAR(v_of(&w, 0), 0, 1e-12);
        assert_int_equal(look_at(&w, "floor").mode, ZW_MODE_CLOSED);
        world_end(&w);
    }
}

static void almost_elastic_bounces_do_not_stall(void **state)
{
    (void)state;
    world w = world_of("coord y = 0.001\nmass 1 at (0, y)\ngravity (0, -9.81)\n"
                       "constraint floor: y >= 0, restitution 0.99\n");
    double fall = sqrt(0.002 / g);
    zw_run_summary summary = go(&w, 200 * fall, NULL); /* Zeno at 199 falls */
    assert_true(summary.events < 3000);
    NEAR(q_of(&w, 0), 0, 1e-14);
    NEAR(v_of(&w, 0), 0, 1e-14);
    world_end(&w);
}

/* A block slides on the floor and hits a wall: the floor holds on, the wall gives back. */
static void an_impact_leaves_a_resting_contact_alone(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 0\nspeed x' = 2, y' = 0\nmass 3 at (x, y)\n"
                       "gravity (0, -9.81)\nconstraint floor: y >= 0, friction 0.1\n"
                       "constraint wall: x <= 1, restitution 0.5\n");
    double a = 0.1 * g, u = sqrt(4 - 2 * a), stop = 1 - u * u / 8 / a;
    go(&w, 3, NULL);
    NEAR(q_of(&w, 0), stop, 1e-12);
    NEAR(q_of(&w, 1), 0, 1e-14);
    assert_int_equal(look_at(&w, "floor").mode, ZW_MODE_STUCK);
    assert_int_equal(look_at(&w, "wall").mode, ZW_MODE_OPEN);
    world_end(&w);
}

/* Oblique impact with friction, m = 1: the tangential impulse is mu times the normal one, or what
 * stops the sliding if that is less. */
static void an_oblique_impact_rubs(void **state)
{
    (void)state;
    static const double speed[] = {3, 0.5};
    for (int i = 0; i < 2; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "coord x = 0, y = 1\nspeed x' = %g, y' = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                 "constraint floor: y >= 0, restitution 0.5, friction 0.1\n",
                 speed[i]);
        world w = world_of(text);
        double u = sqrt(2 * g), rub = 0.1 * 1.5 * u;
        go(&w, 0.5, NULL);
        NEAR(v_of(&w, 0), speed[i] > rub ? speed[i] - rub : 0, 1e-12);
        world_end(&w);
    }
}

static void a_ball_ends_in_the_corner(void **state)
{
    (void)state;
    world w = world_of("coord x = 1, y = 1\nspeed x' = -2, y' = 0\nmass 1 at (x, y)\n"
                       "gravity (-3, -9.81)\nconstraint floor: y >= 0, restitution 0.5\n"
                       "constraint wall: x >= 0, restitution 0.5\n");
    go(&w, 6, NULL);
    for (int i = 0; i < 2; i++) {
        NEAR(q_of(&w, i), 0, 1e-14);
        NEAR(v_of(&w, i), 0, 1e-14);
    }
    NEAR(look_at(&w, "floor").force, g, 1e-12);
    NEAR(look_at(&w, "wall").force, 3, 1e-12);
    world_end(&w);
}

/* Both touch at the same moment: one impact. */
static void two_contacts_close_at_once(void **state)
{
    (void)state;
    world w = world_of("coord x = 1, y = 1\nspeed x' = -1, y' = -1\nmass 1 at (x, y)\n"
                       "constraint floor: y >= 0, restitution 0.5\n"
                       "constraint wall: x >= 0, restitution 0.25\n");
    zw_run_summary summary = go(&w, 3, NULL);
    assert_int_equal(summary.events, 1);
    NEAR(q_of(&w, 0), 0.5, 1e-12);
    NEAR(q_of(&w, 1), 1, 1e-12);
    world_end(&w);
}

static void a_stack_comes_to_rest(void **state)
{
    (void)state;
    world w = world_of("coord y1 = 0.5, y2 = 1\nmass 1 at (0, y1), 3 at (0, y2)\n"
                       "gravity (0, -9.81)\nconstraint floor: y1 >= 0, restitution 0.5\n"
                       "constraint top: y2 - y1 >= 0, restitution 0.6\n");
    go(&w, 6, NULL);
    NEAR(q_of(&w, 0), 0, 1e-14);
    NEAR(q_of(&w, 1), 0, 1e-14);
    world_forward(&w);
    NEAR(world_field(&w, ZW_FIELD_LAMBDA)[0], 4 * g, 1e-10);
    NEAR(world_field(&w, ZW_FIELD_LAMBDA)[1], 3 * g, 1e-10);
    world_end(&w);
}

/* ---- Opening and closing ------------------------------------------------------------------- */

/* From the top of a unit circle at speed v0: it leaves where v^2 = g cos, at height 2/3 + v0^2/3g,
 * then falls freely to the ground. */
static void a_point_leaves_a_hill(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 1\nspeed x' = 0.5, y' = 0\nmass 1 at (x, y)\n"
                       "gravity (0, -9.81)\nconstraint hill: hypot(x, y) >= 1\n"
                       "constraint ground: y >= -1\nevent off: lambda(hill) = 0 falling\n"
                       "event down: y = -1 falling\n");
    static history d;
    go(&w, 2, &d);
    double height = 2.0 / 3 + 0.25 / 3 / g, v = sqrt(g * height), x = sqrt(1 - height * height);
    NEAR(d.q[0][1], height, 1e-12);
    NEAR(d.v[0][0], v * height, 1e-12);
    double sink = v * x, fly = (sqrt(sink * sink + 2 * g * (1 + height)) - sink) / g;
    NEAR(d.time[1], d.time[0] + fly, 1e-12);
    NEAR(d.q[1][0], x + v * height * fly, 1e-12);
    NEAR(v_of(&w, 0), v * height, 1e-12);
    assert_int_equal(look_at(&w, "hill").mode, ZW_MODE_OPEN);
    assert_int_equal(look_at(&w, "ground").mode, ZW_MODE_CLOSED);
    world_end(&w);
}

/* With friction u = v^2 obeys du/ds = 2 g sin s - 2 mu (g cos s - u) along the arc s, so
 * u = A e^(2 mu s) + B cos s + C sin s; it leaves where u = g cos s. */
static void a_point_leaves_a_rough_hill(void **state)
{
    (void)state;
    static const double mus[] = {0.1, 0.3, 0.5};
    for (int i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "coord x = 0, y = 1\nspeed x' = 2, y' = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                 "constraint hill: hypot(x, y) >= 1, friction %g\n"
                 "event off: lambda(hill) = 0 falling\n",
                 mus[i]);
        world w = world_of(text);
        static history d;
        go(&w, 1, &d);
        double mu = mus[i], k = 2 * g / (1 + 4 * mu * mu);
        double B = k * (2 * mu * mu - 1), C = -3 * mu * k, A = 4 - B;
        double s = atan2(d.q[0][0], d.q[0][1]);
        double u = A * exp(2 * mu * s) + B * cos(s) + C * sin(s);
        assert_int_equal(d.events, 1);
        NEAR(u, g * cos(s), 1e-10);
        NEAR(hypot(d.v[0][0], d.v[0][1]), sqrt(u), 1e-11);
        world_end(&w);
    }
}

/* The force vanishes for a moment, or begins at nothing: what comes next decides. */
static void borders_are_decided_by_what_comes(void **state)
{
    (void)state;
    static const struct {
        const char *force;
        double y;
    } list[] = {{"-t", 0},          {"t", 8.0 / 6},
                {"t - 1", 1.0 / 6}, {"9.81*t/2 - 9.81*t/2 - t^3", 0},
                {"t^3", 32.0 / 20}, {"-(t - 1)^2", 0}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "coord y = 0\nmass 1 at (0, y)\ngravity (0, -9.81)\nforce y: 9.81 + %s\n"
                 "constraint floor: y >= 0\n",
                 list[i].force);
        world w = world_of(text);
        go(&w, 2, NULL);
        NEAR(q_of(&w, 0), list[i].y, 1e-10);
        world_end(&w);
    }
}

/* It flies over a bump and touches its top in passing: nothing happens. */
static void touching_in_passing_changes_nothing(void **state)
{
    (void)state;
    world w = world_of("coord x = -1, y = 1\nspeed x' = 1, y' = 0\nmass 1 at (x, y)\n"
                       "constraint bump: y - 1/(1 + x^2) >= 0, friction 0.5\n");
    go(&w, 3, NULL);
    NEAR(q_of(&w, 0), 2, 1e-9);
    NEAR(q_of(&w, 1), 1, 1e-9);
    world_end(&w);
}

static void a_start_inside_is_moved_out(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = -0.5\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                       "constraint floor: y >= 0\n");
    NEAR(w.assembly.violation_before, 0.5, 1e-15);
    NEAR(w.assembly.position_change, 0.5, 1e-15);
    assert_int_equal(w.assembly.position_coord, 1);
    go(&w, 1, NULL);
    NEAR(q_of(&w, 1), 0, 1e-15);
    world_end(&w);
}

/* ---- What cannot go on --------------------------------------------------------------------- */

static void contradictions_are_named(void **state)
{
    (void)state;
    refused("coord x = 0.3\nmass 1 at (x, 0)\nconstraint left: x >= t, restitution 0.5\n"
            "constraint right: x <= 1 - t\n",
            ZW_CONFLICT, "left, right");
    /* Painleve's rod, sliding towards its lean: p < 0 and b < 0, no force can hold it. */
    refused("coord x = cos(1.1), y = sin(1.1), th = 1.1\nspeed x' = -1, y' = 0, th' = 0\n"
            "mass 1 at (x, y)\ninertia 1/3 of th\ngravity (0, -9.81)\n"
            "constraint floor: y - sin(th) >= 0, friction 2 at (x - cos(th), y - sin(th))\n",
            ZW_NO_SOLUTION, "floor");
}

static void friction_says_where_it_rubs(void **state)
{
    (void)state;
    const char *start = "coord x = 0, y = 1, th = 0\n";
    static const struct {
        const char *text, *words;
    } list[] = {
        {"kinetic (x'^2 + y'^2 + th'^2)/2\nconstraint floor: y >= 0, friction 0.3\n", "no `mass"},
        {"mass 1 at (x, y)\ninertia 1 of th\nconstraint floor: y - sin(th) >= 0, friction 0.3\n",
         "no `mass"},
        {"mass 1 at (x, y), 1 at (th, y)\nconstraint floor: y >= 0, friction 0.3\n", "several"},
        {"mass 1 at (x, y), 1 at (th, 0)\nconstraint floor: y >= 0, friction 0.3 at (x, 0)\n",
         "at this point"},
        {"mass 1 at (x, y), 1 at (th, 0)\nconstraint floor: (x, y) = (th, 1)\n"
         "friction floor: 0.2 at (x - th, y)\n",
         "no direction"},
        {"mass 1 at (x, y), 1 at (th, 0)\nconstraint floor: y >= 0, friction 0.3 slip x'^2\n",
         "linear"},
        {"mass 1 at (x, y), 1 at (th, 0)\nconstraint floor: y >= 0, friction 0.3 slip x\n",
         "is a speed"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", start, list[i].text);
        refused(text, ZW_BAD_INPUT, list[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_bounces_to_rest),
        cmocka_unit_test(an_elastic_ball_keeps_its_height),
        cmocka_unit_test(small_bounces_on_a_high_floor_end),
        cmocka_unit_test(almost_elastic_bounces_do_not_stall),
        cmocka_unit_test(an_impact_leaves_a_resting_contact_alone),
        cmocka_unit_test(an_oblique_impact_rubs),
        cmocka_unit_test(a_ball_ends_in_the_corner),
        cmocka_unit_test(two_contacts_close_at_once),
        cmocka_unit_test(a_stack_comes_to_rest),
        cmocka_unit_test(a_point_leaves_a_hill),
        cmocka_unit_test(a_point_leaves_a_rough_hill),
        cmocka_unit_test(borders_are_decided_by_what_comes),
        cmocka_unit_test(touching_in_passing_changes_nothing),
        cmocka_unit_test(a_start_inside_is_moved_out),
        cmocka_unit_test(contradictions_are_named),
        cmocka_unit_test(friction_says_where_it_rubs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
