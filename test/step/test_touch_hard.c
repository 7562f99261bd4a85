/* Bullets, and states that should not be. */
#include "touch.h"

static zw_status try(scene *s, double t, double h, zw_error *error)
{
    zw_run_options options = {.time = t, .every = t, .step = h, .method = ZW_METHOD_IMPULSE};
    return zw_run(s->system, s->state, s->work, &options, NULL, error);
}

/* ---- Bullets --------------------------------------------------------------------------------- */

#define BULLET(name, pos)                                                                          \
    "<body name='" name "' pos='" pos "'><freejoint/><geom size='.01' mass='.01'/></body>"

/* A metre a step against a millimetre of wall, however the steps fall. */
static void no_tunnel(void **state)
{
    (void)state;
    for (int k = 0; k < 20; k++) {
        scene s =
            open_scene("<option gravity='0 0 0'/><worldbody>"
                       "<geom type='box' size='.0005 1 1'/>" BULLET("a", "0 0 0") "</worldbody>");
        q_of(&s)[0] = -0.3 - 0.173 * k;
        v_of(&s)[0] = 100;
        v_of(&s)[1] = 3;
        go(&s, 0.1, 0.01);
        assert_true(fabs(q_of(&s)[0] + 0.0105) < 1e-9);
        assert_true(fabs(v_of(&s)[0]) < 1e-9);
        close_scene(&s);
    }
}

/* Two of them, head on: momentum stays, and each stays on its side. */
static void bullet_meets_bullet(void **state)
{
    (void)state;
    for (int k = 0; k < 20; k++) {
        scene s = open_scene("<option gravity='0 0 0'/><worldbody>" BULLET("a", "0 0 0")
                                 BULLET("b", "0 0 0") "</worldbody>");
        q_of(&s)[0] = -0.6 - 0.131 * k;
        q_of(&s)[7] = 0.6 + 0.07 * k;
        v_of(&s)[0] = 100;
        v_of(&s)[6] = -60;
        go(&s, 0.1, 0.01);
        assert_true(q_of(&s)[7] - q_of(&s)[0] > 0.02 - 1e-9);
        assert_true(fabs(v_of(&s)[0] - 20) < 1e-6 && fabs(v_of(&s)[6] - 20) < 1e-6);
        close_scene(&s);
    }
}

/* What passes beside an edge goes on. */
static void no_ghosts(void **state)
{
    (void)state;
    for (int k = 0; k < 20; k++) {
        scene s =
            open_scene("<option gravity='0 0 0'/><worldbody>"
                       "<geom type='box' size='.1 .1 .1'/>" BULLET("a", "0 0 0") "</worldbody>");
        q_of(&s)[0] = -0.4 - 0.05 * k;
        q_of(&s)[2] = 0.111;
        v_of(&s)[0] = 100;
        go(&s, 0.05, 0.01);
        assert_true(fabs(q_of(&s)[0] - (-0.4 - 0.05 * k + 5)) < 1e-9);
        assert_true(fabs(q_of(&s)[2] - 0.111) < 1e-9);
        close_scene(&s);
    }
}

/* ---- States that should not be --------------------------------------------------------------- */

static void no_numbers(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        scene s = open_scene("<worldbody><geom name='floor' type='plane' size='0 0 1'/>"
                             "<body name='a' pos='0 0 1'><freejoint/><geom name='g' size='.1'/>"
                             "</body></worldbody>");
        zw_error error = {0};
        zw_contact list[4];
        (k % 2 ? v_of(&s) : q_of(&s))[2] = k < 2 ? (double)NAN : (double)INFINITY;
        zw_status status = try(&s, 0.1, 0.01, &error);
        assert_true(status != ZW_OK && error.text[0] != 0);
        printf("%s: %s\n", zw_status_text(status), error.text);
        assert_true(zw_contacts(s.system, s.state, s.work, list, 4, &error) <= 0);
        close_scene(&s);
    }
}

/* Faster than anything: stopped by the floor, or refused; never beyond it, never without end. */
static void no_speed_is_too_high(void **state)
{
    (void)state;
    const double speed[] = {1e4, 1e8, 1e12, 1e100, 1e300};
    for (int k = 0; k < 5; k++) {
        scene s = open_scene("<worldbody><geom type='plane' size='0 0 1'/>"
                             "<body pos='0 0 1'><freejoint/><geom type='box' size='.1 .1 .1'/>"
                             "</body></worldbody>");
        zw_error error = {0};
        v_of(&s)[2] = -speed[k];
        v_of(&s)[3] = k % 2 ? speed[k] : 0;
        zw_status status = try(&s, 0.1, 0.01, &error);
        printf("%g: %s %s\n", speed[k], zw_status_text(status), error.text);
        if (status == ZW_OK) {
            assert_true(q_of(&s)[2] > 0.0999 - 1e-15 * speed[k]);
        } else {
            assert_true(error.text[0] != 0);
        }
        close_scene(&s);
    }
}

/* In one another at the start: the pair is named, and pushed apart without being given a speed. A
 * box in the floor is lifted out of it: m g depth of work, and at rest then; without weight two
 * boxes come to rest beside each other. With rounds, and with one linearisation. */
static void overlaps_are_named_and_give_no_energy(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const int weighs = k < 2;
        const double still = k % 2 ? 1e-6 : 1e-8; /* one linearisation is solved to 1e-10 */
        scene s = open_scene(
            weighs ? "<worldbody><geom name='floor' type='plane' size='0 0 1'/><body pos='0 0 .05'>"
                     "<freejoint/><geom name='box' type='box' size='.1 .1 .1' mass='2'/></body>"
                     "</worldbody>"
                   : "<option gravity='0 0 0'/><worldbody><body><freejoint/><geom name='floor' "
                     "type='box' size='.1 .1 .1' mass='1'/></body><body pos='.15 0 0'><freejoint/>"
                     "<geom name='box' type='box' size='.1 .1 .1' mass='2'/></body></worldbody>");
        const zw_run_options options = {.time = 0.5,
                                        .step = 0.002,
                                        .every = -1,
                                        .tolerance = k % 2 ? 1 : 0,
                                        .method = ZW_METHOD_IMPULSE};
        zw_run_summary it;
        zw_error error = {0};
        must(zw_run(s.system, s.state, s.work, &options, &it, &error), &error);
        assert_int_equal(it.overlaps, 1);
        assert_true(fabs(it.overlap_depth - 0.05) < 1e-12);
        assert_string_equal(it.overlap_name, "box in floor");
        assert_true(fabs(it.work - (weighs ? 2 * G * 0.05 : 0)) < 1e-8 && it.energy_drift < 1e-8);
        for (int i = 0; i < (weighs ? 6 : 12); i++) {
            assert_true(fabs(v_of(&s)[i]) < still);
        }
        double apart = weighs ? q_of(&s)[2] - 0.1 : q_of(&s)[7] - q_of(&s)[0] - 0.2;
        assert_true(fabs(apart) < still);
        must(zw_run(s.system, s.state, s.work,
                    &(zw_run_options){.time = 1, .step = 0.002, .method = ZW_METHOD_IMPULSE}, &it,
                    &error),
             &error);
        assert_int_equal(it.overlaps, 0); /* now they do not */
        close_scene(&s);
    }
}

/* The same against what resists: a box on a slide, 8 mm in another one, with a spring, a damper, a
 * servo, and servos with limits. All that pushing spends is booked: no energy comes from nowhere.
 */
static void overlaps_part_against_forces(void **state)
{
    (void)state;
    static const char *const joint[] = {
        "stiffness='1000'", "damping='100'", "frictionloss='5'", "", "", "", "", ""};
    static const char *const motor[] = {
        "",
        "",
        "",
        "<position joint='z' kp='1000'/>",
        "<position joint='z' kp='1000' forcerange='-5 5'/>",
        "<position joint='z' kp='1000' kv='100' forcerange='-50 50'/>",
        "<position joint='z' kp='2000' kv='300'/>", /* stiff: forces are of the end of the step, */
        "<position joint='z' kp='2000' kv='300' forcerange='-60 60'/>"}; /* with limits, too */
    for (int k = 0; k < 8; k++) {
        char text[800];
        snprintf(text, sizeof text,
                 "<option gravity='0 0 0'/><worldbody><geom type='box' size='.1 .1 .1'/><body "
                 "pos='0 0 .192'><joint name='z' type='slide' axis='0 0 1' %s/><geom type='box' "
                 "size='.1 .1 .1' mass='1'/></body></worldbody><actuator>%s</actuator>",
                 joint[k], motor[k]);
        scene s = open_scene(text);
        const zw_run_options options = {.time = 0.03, .step = 0.002, .method = ZW_METHOD_IMPULSE};
        zw_run_summary it;
        zw_error error = {0};
        must(zw_run(s.system, s.state, s.work, &options, &it, &error), &error);
        assert_int_equal(it.overlaps, 1);
        assert_true(fabs(q_of(&s)[0] - 0.008) < 1e-8 && fabs(v_of(&s)[0]) < 1e-8);
        assert_true(it.energy_drift < 1e-8);
        close_scene(&s);
    }
}

/* Pairs that nothing can part are named and ignored: neighbours on a hinge that overlap along its
 * axis swing as if they could not touch, up to the tolerance of 1000 steps (where nothing can
 * touch, Newton's method has other slopes); two arms that begin inside each other, on a loop or
 * not, go on as well. */
static void what_cannot_part_is_ignored(void **state)
{
    (void)state;
    double end[3] = {0};
    for (int k = 0; k < 3; k++) { /* by a centimetre, not at all, by 10 micrometres */
        char text[800];
        snprintf(
            text, sizeof text,
            "<worldbody><geom name='base' type='cylinder' size='.1 .1' euler='90 0 0' "
            "contype='%d' conaffinity='%d'/><body pos='0 %g 0'><joint axis='0 1 0' "
            "damping='.01'/><geom "
            "name='arm' type='box' size='.04 .06 .3' pos='.1 0 -.2' mass='1'/></body></worldbody>",
            k != 1, k != 1, k == 2 ? -0.15999 : -0.15);
        scene s = open_scene(text);
        const zw_run_options options = {.time = 2, .step = 0.002, .method = ZW_METHOD_IMPULSE};
        zw_run_summary it;
        zw_error error = {0};
        must(zw_run(s.system, s.state, s.work, &options, &it, &error), &error);
        assert_int_equal(it.overlaps, k != 1);
        assert_int_equal(it.overlaps_stuck, k != 1);
        end[k] = q_of(&s)[0];
        close_scene(&s);
    }
    assert_true(fabs(end[0]) > 0.01);
    assert_true(fabs(end[1] - end[0]) < 1000 * 1e-10);
    assert_true(fabs(end[2] - end[0]) < 1e-12);
}

/* A bar on a rail begins stuck between two posts that leave it too little room. It leaves them at
 * the speed that it has, and hits a wall; back at the posts it is stopped by them: it was apart. */
static void what_has_come_apart_is_in_contact(void **state)
{
    (void)state;
    scene s = open_scene(
        "<option gravity='0 0 0'/><default><geom friction='0 0 0'/></default><worldbody>"
        "<geom type='box' size='.05 .05 .05' pos='0 .14 0'/>"
        "<geom type='box' size='.05 .05 .05' pos='0 -.14 0'/>"
        "<geom type='box' size='.05 .5 .05' pos='.65 0 0'/>"
        "<body><joint type='slide' axis='1 0 0'/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
        "</worldbody>");
    v_of(&s)[0] = 1;
    go(&s, 0.3, 0.002);
    assert_true(fabs(q_of(&s)[0] - 0.3) < 1e-12 && fabs(v_of(&s)[0] - 1) < 1e-12);
    go(&s, 0.7, 0.002);
    assert_true(fabs(q_of(&s)[0] - 0.5) < 1e-12 && fabs(v_of(&s)[0]) < 1e-12);
    v_of(&s)[0] = -1;
    go(&s, 1.5, 0.002);
    assert_true(fabs(q_of(&s)[0] - 0.15) < 1e-12 && fabs(v_of(&s)[0]) < 1e-12);
    close_scene(&s);
}

/* Deep in one another at the start: pushed out without being shot away. */
static void overlaps_part(void **state)
{
    (void)state;
    const double h[] = {0.002, 0.01, 0.05};
    for (int k = 0; k < 3; k++) {
        scene s =
            open_scene("<worldbody><geom type='plane' size='0 0 1'/>"
                       "<body pos='0 0 .04'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
                       "<body pos='.03 0 .15'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
                       "<body pos='0 0 .15'><freejoint/><geom size='.1'/></body></worldbody>");
        double top = 0, fastest = 0;
        for (int i = 1; i <= 60; i++) {
            go(&s, 0.05 * i, h[k]);
            for (int b = 0; b < 3; b++) {
                top = fmax(top, q_of(&s)[7 * b + 2]);
                for (int d = 0; d < 3; d++) {
                    fastest = fmax(fastest, fabs(v_of(&s)[6 * b + d]));
                }
            }
        }
        printf("h = %g: top %g, fastest %g\n", h[k], top, fastest);
        assert_true(top < 0.35 && fastest < 2.5); /* 0.5 m/s, and what falls off */
        zw_contact list[64];
        int count = zw_contacts(s.system, s.state, s.work, list, 64, NULL);
        for (int i = 0; i < count; i++) {
            assert_true(list[i].gap > -1e-8);
        }
        close_scene(&s);
    }
}

/* A box wedged between the floor and boxes that stand fast, in all of which it begins: after a
 * while no motion parts it from all at once, along today's normals there seems to be one. What is
 * booked as work is what the energy has changed by. */
static void what_is_wedged_does_no_work(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody><geom type='plane' size='5 5 1'/>"
                         "<geom type='box' size='.2 .2 .2' pos='-.267 .135 .145' euler='47 52 0'/>"
                         "<geom type='box' size='.2 .2 .2' pos='-.28 -.216 .295' euler='52 23 0'/>"
                         "<geom type='box' size='.2 .2 .2' pos='.279 -.036 0' euler='69 49 0'/>"
                         "<body pos='-.05 -.21 .08' euler='61 29 80'><freejoint/>"
                         "<geom type='box' size='.1 .1 .1'/></body></worldbody>");
    const zw_run_options options = {
        .time = 0.1, .step = 0.002, .every = -1, .method = ZW_METHOD_IMPULSE};
    zw_run_summary it;
    zw_error error = {0};
    must(zw_run(s.system, s.state, s.work, &options, &it, &error), &error);
    assert_true(it.overlaps > 0);
    assert_true(fabs(it.energy_drift) < 1e-3 && it.certificate < 1e-8); /* falls with the step */
    close_scene(&s);
}

/* A row of balls on a rail, each a centimetre in the next and the first in a post. The least of the
 * ways on which all part lacks N^2/2 GIVE of the depths (impulse_part.c): up to 14 come apart, of
 * more those that have to go farthest do not feel each other. */
static void long_rows_are_not_parted(void **state)
{
    (void)state;
    static const int balls[] = {12, 14, 16, 18};
    for (int k = 0; k < 4; k++) {
        static char text[4000];
        int used = snprintf(text, sizeof text,
                            "<option gravity='0 0 0'/><worldbody><geom size='.1' pos='-.19 0 0'/>");
        for (int i = 0; i < balls[k]; i++) {
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "<body pos='%g 0 0'><joint type='slide' axis='1 0 0'/>"
                             "<geom size='.1' mass='1'/></body>",
                             0.19 * i);
        }
        snprintf(text + used, sizeof text - (size_t)used, "</worldbody>");
        scene s = open_scene(text);
        const zw_run_options options = {.time = 0.01, .step = 0.002, .method = ZW_METHOD_IMPULSE};
        zw_run_summary it;
        zw_error error = {0};
        must(zw_run(s.system, s.state, s.work, &options, &it, &error), &error);
        assert_int_equal(it.overlaps, balls[k]);
        assert_int_equal(it.overlaps_stuck > 0, balls[k] > 14);
        close_scene(&s);
    }
}

/* More points than there is room for: how many. */
static void room_runs_out(void **state)
{
    (void)state;
    static char text[8000];
    int used = snprintf(text, sizeof text, "<worldbody><geom type='plane' size='0 0 1'/>");
    for (int i = 0; i < 30; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "<body pos='%g 0 .1'><freejoint/><geom size='.1'/></body>", 0.5 * i);
    }
    snprintf(text + used, sizeof text - (size_t)used, "</worldbody>");
    scene s = open_scene(text);
    zw_error error = {0};
    zw_world_def world = *zw_model_world(s.model);
    world.contact_capacity = 1;
    must(zw_model_set_world(s.model, &world, &error), &error);
    zw_state_free(s.state);
    zw_work_free(s.work);
    zw_system_free(s.system);
    s.system = zw_system_compile(s.model, NULL, &error);
    s.work = zw_work_create(s.system, &error);
    s.state = zw_state_create(s.system, s.work, NULL, &error);
    assert_int_equal(zw_contact_capacity(s.system), 1);
    assert_int_equal(try(&s, 0.1, 0.01, &error), ZW_TOO_LARGE);
    assert_non_null(strstr(error.text, "30 contacts"));
    close_scene(&s);
}

/* Boxes that begin in others, with room for little more than the points of the start: points of a
 * trial, together with those that are pushed apart with the normals of the start, are more than
 * there is room for. That wrote past the end. The step is taken in pieces, or what cannot be
 * parted so is let go: it goes on. */
static void deep_points_have_room(void **state)
{
    (void)state;
    scene s = open_scene("<option timestep='0.002'/>"
                         "<custom><numeric name='contact_capacity' data='29'/></custom><worldbody>"
                         "<geom type='plane' size='5 5 1'/>"
                         "<geom type='box' size='.2 .2 .2' pos='.15 .148 .26' euler='36 55 0'/>"
                         "<geom type='box' size='.2 .2 .2' pos='.279 .04 .224' euler='35 83 0'/>"
                         "<geom type='box' size='.2 .2 .2' pos='-.08 .13 .176' euler='12 46 0'/>"
                         "<body pos='-.393 .011 .048' euler='63 47 3'><freejoint/>"
                         "<geom type='box' size='.1 .1 .1'/></body>"
                         "<body pos='-.127 -.003 .012' euler='41 10 20'><freejoint/>"
                         "<geom type='box' size='.1 .1 .1'/></body>"
                         "<body pos='-.127 .052 .239' euler='46 10 37'><freejoint/>"
                         "<geom type='box' size='.1 .1 .1'/></body>"
                         "<body pos='-.271 -.338 .455' euler='69 56 63'><freejoint/>"
                         "<geom type='box' size='.1 .1 .1'/></body></worldbody>");
    zw_error error = {0};
    assert_int_equal(zw_contact_capacity(s.system), 29);
    must(try(&s, 0.2, 0.002, &error), &error);
    close_scene(&s);
}

/* The tips of two fingers that mirror each other are parted to where corner meets corner: every
 * direction between their faces is a normal, and round-off has a say. The rounds keep to one. */
static void corners_on_corners_keep_their_normal(void **state)
{
    (void)state;
    scene s =
        open_scene("<option timestep='.002' gravity='0 0 0'/><asset>"
                   "<mesh name='tip' vertex='0 0 0 .03 .05 .01 -.02 .05 .03 -.01 .05 -.04 .02 .05 "
                   "-.02'/><mesh name='mirrored' vertex='0 0 0 .03 -.05 .01 -.02 -.05 .03 -.01 "
                   "-.05 -.04 .02 -.05 -.02'/></asset><worldbody><body euler='10 20 30'>"
                   "<joint axis='0 1 0' frictionloss='.1'/><joint axis='1 0 0' frictionloss='.1'/>"
                   "<joint axis='0 0 1' frictionloss='.1'/>"
                   "<geom size='.02' pos='0 0 -.2' mass='1' contype='0' conaffinity='0'/>"
                   "<body pos='.1 .001 .2'><joint name='a' type='slide' axis='0 -1 0' "
                   "range='0 .1'/><geom type='mesh' mesh='mirrored' mass='.1'/></body>"
                   "<body pos='.1 -.001 .2'><joint name='b' type='slide' axis='0 1 0' "
                   "range='0 .1'/><geom type='mesh' mesh='tip' mass='.1'/></body></body>"
                   "</worldbody><equality><joint joint1='a' joint2='b'/></equality>"
                   "<actuator><position joint='a' kp='20'/><position joint='b' kp='20'/>"
                   "</actuator>");
    const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .time = 0.008, .step = 0.002};
    zw_run_summary summary;
    zw_error error = {0};
    must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
    assert_int_equal(summary.halved, 0);
    assert_int_equal(summary.inexact, 0);
    close_scene(&s);
}

/* Round ends turn their normal as they slide over each other: what is long and thin is no corner.
 * The same motion as with balls in place of the ends. */
static void thin_ends_are_round(void **state)
{
    (void)state;
    enum { STEPS = 20 };
    const char *const ends[2][2] = {
        {"type='capsule' fromto='0 0 -1 0 0 0' size='.01'",
         "type='capsule' fromto='0 0 0 0 0 1' size='.01'"},
        {"size='.01'", "size='.01'"},
    };
    double q[2][2];
    for (int k = 0; k < 2; k++) {
        char text[900];
        snprintf(text, sizeof text,
                 "<option timestep='.001'/><default><geom friction='0'/></default><worldbody>"
                 "<geom %s/><body pos='.001 0 .0199749'><inertial pos='0 0 0' mass='1' "
                 "diaginertia='1 1 1'/><joint type='slide' axis='1 0 0'/>"
                 "<joint type='slide' axis='0 0 1'/><geom %s/></body></worldbody>",
                 ends[k][0], ends[k][1]);
        scene s = open_scene(text);
        const double speed = 0.3;
        zw_error error = {0};
        zw_state_set(s.system, s.state, s.work, ZW_FIELD_V, 0, 1, &speed, NULL);
        must(try(&s, 0.001 * STEPS, 0.001, &error), &error);
        memcpy(q[k], zw_field(s.system, s.state, s.work, ZW_FIELD_Q).data, sizeof q[k]);
        close_scene(&s);
    }
    print_message("    %.3g and %.3g apart\n", fabs(q[0][0] - q[1][0]), fabs(q[0][1] - q[1][1]));
    assert_true(fabs(q[0][0] - q[1][0]) < 1e-13 && fabs(q[0][1] - q[1][1]) < 1e-13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_tunnel),
        cmocka_unit_test(bullet_meets_bullet),
        cmocka_unit_test(no_ghosts),
        cmocka_unit_test(no_numbers),
        cmocka_unit_test(no_speed_is_too_high),
        cmocka_unit_test(overlaps_part),
        cmocka_unit_test(what_cannot_part_is_ignored),
        cmocka_unit_test(what_has_come_apart_is_in_contact),
        cmocka_unit_test(overlaps_part_against_forces),
        cmocka_unit_test(overlaps_are_named_and_give_no_energy),
        cmocka_unit_test(what_is_wedged_does_no_work),
        cmocka_unit_test(long_rows_are_not_parted),
        cmocka_unit_test(corners_on_corners_keep_their_normal),
        cmocka_unit_test(thin_ends_are_round),
        cmocka_unit_test(room_runs_out),
        cmocka_unit_test(deep_points_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
