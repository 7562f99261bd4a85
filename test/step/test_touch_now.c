/* Contacts at an instant: accelerations, forces and loads of zw_forward, compared with closed forms
 * and with the limit of short steps. */
#include "touch.h"

#define FLOOR "<geom name='floor' type='plane' size='0 0 1' friction='.5 0 0'/>"
#define CRATE                                                                                      \
    "<body name='crate' pos='0 0 .1'><freejoint/>"                                                 \
    "<geom name='box' type='box' size='.1 .1 .1' friction='.5 0 0' mass='2'/></body>"

static const double *forward(scene *s)
{
    zw_error error = {0};
    must(zw_forward(s->system, s->state, s->work, NULL, &error), &error);
    assert_true(zw_work_motion(s->work)->certificate.worst < 1e-8);
    return zw_field(s->system, s->state, s->work, ZW_FIELD_A).data;
}

static int look(scene *s, zw_contact *list, int capacity)
{
    zw_error error = {0};
    int count = zw_contacts(s->system, s->state, s->work, list, capacity, &error);
    must(count >= 0 ? ZW_OK : error.status, &error);
    return count;
}

/* What the body with this name gets from the first of the pair. */
static zw_contact_sum sum_on(scene *s, const char *name)
{
    zw_contact list[64];
    zw_contact_sum sums[8];
    int pairs = zw_contact_sums(list, look(s, list, 64), sums, 8);
    for (int k = 0; k < pairs && k < 8; k++) {
        if (!strcmp(sums[k].body_name[1], name)) {
            return sums[k];
        }
    }
    return (zw_contact_sum){0};
}

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

/* ---- What touches ---------------------------------------------------------------------------- */

/* Gaps up to 1e-6 of the smaller geom are none; a ball above that falls freely. */
static void gaps_are_none_up_to_a_millionth(void **state)
{
    (void)state;
    static const double gap[] = {3e-7, 3e-6, 3e-5};
    for (int k = 0; k < 3; k++) {
        char text[300];
        snprintf(text, sizeof text,
                 "<worldbody>" FLOOR "<body pos='0 0 %.9f'><freejoint/>"
                 "<geom type='sphere' size='1' mass='1'/></body></worldbody>",
                 1 + gap[k]);
        scene s = open_scene(text);
        zw_contact list[4];
        const double *a = forward(&s);
        assert_true(fabs(a[2] - (k == 0 ? 0 : -9.81)) < 1e-9);
        assert_int_equal(look(&s, list, 4), k == 0);
        close_scene(&s);
    }
}

/* And up to 1e-9 of the distance from the origin, to which positions are known: a grain of sand. */
static void gaps_of_what_is_far_away(void **state)
{
    (void)state;
    static const struct {
        double x, gap;
        int touches;
    } row[] = {{0, 5e-10, 1}, {0, 3e-7, 0}, {1000, 3e-7, 1}, {1000, 3e-6, 0}};
    for (int k = 0; k < 4; k++) {
        char text[300];
        snprintf(text, sizeof text,
                 "<worldbody>" FLOOR "<body pos='%g 0 %.12f'><freejoint/>"
                 "<geom type='sphere' size='.001' mass='1'/></body></worldbody>",
                 row[k].x, 0.001 + row[k].gap);
        scene s = open_scene(text);
        assert_true(fabs(forward(&s)[2] - (row[k].touches ? 0 : -9.81)) < 1e-9);
        close_scene(&s);
    }
}

/* ---- A box ----------------------------------------------------------------------------------- */

static void a_crate_stands(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR CRATE "</worldbody>");
    zw_contact list[8];
    assert_true(largest(forward(&s), 6) < 1e-10);
    assert_int_equal(look(&s, list, 8), 4);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(list[k].state, ZW_TOUCH_STICK);
    }
    zw_contact_sum sum = sum_on(&s, "crate");
    assert_true(fabs(sum.normal - 2 * G) < 1e-9 && fabs(sum.force[2] - 2 * G) < 1e-9);
    assert_true(fabs(sum.moment[0]) + fabs(sum.moment[1]) + fabs(sum.moment[2]) < 1e-9);
    q_of(&s)[2] = 0.2; /* in the air */
    assert_true(fabs(forward(&s)[2] + G) < 1e-12);
    assert_int_equal(look(&s, list, 8), 0);
    close_scene(&s);
}

/* On a slope at angle x, gravity turned: at rest below and above the angle of friction, and sliding
 * down or up it. Slower than a tenth of what friction stops in a step of 2 ms, 1e-3 m/s, is at
 * rest.
 */
static void a_crate_on_a_slope(void **state)
{
    (void)state;
    static const struct {
        double angle, speed;
    } cases[] = {{0.4, 0}, {0.5, 0}, {0.4, 2}, {0.4, -2}, {0.6, 0.3}, {0.4, 0.02}, {0.4, 1e-4}};
    for (int k = 0; k < 7; k++) {
        char text[1000];
        double along = G * sin(cases[k].angle), press = G * cos(cases[k].angle), mu = 0.5;
        snprintf(text, sizeof text,
                 "<option gravity='%.17g 0 %.17g'/><worldbody>" FLOOR CRATE "</worldbody>", along,
                 -press);
        scene s = open_scene(text);
        v_of(&s)[0] = cases[k].speed;
        double way = cases[k].speed != 0 ? copysign(1, cases[k].speed) : 1;
        int holds = fabs(cases[k].speed) < 5e-4 && along < mu * press;
        double want = holds ? 0 : along - way * mu * press;
        const double *a = forward(&s);
        assert_true(fabs(a[0] - want) < 1e-9);
        assert_true(largest(a + 1, 5) < 1e-8);
        zw_contact list[8];
        int count = look(&s, list, 8);
        for (int i = 0; i < count; i++) {
            int state_now = list[i].state;
            assert_true(state_now == (holds ? ZW_TOUCH_STICK : ZW_TOUCH_SLIDE) ||
                        state_now == ZW_TOUCH_OPEN);
            assert_true(fabs(hypot(list[i].slip[1], list[i].slip[2]) - fabs(cases[k].speed)) <
                        1e-12);
        }
        zw_contact_sum sum = sum_on(&s, "crate");
        assert_true(fabs(sum.force[0] - 2 * (want - along)) < 1e-8);
        assert_true(fabs(sum.normal - 2 * press) < 1e-8);
        close_scene(&s);
    }
}

/* Approaching contacts are reported; separating ones have no effect. */
static void impacts_are_reported(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR CRATE "</worldbody>");
    zw_contact list[8];
    v_of(&s)[2] = -1;
    assert_true(largest(forward(&s), 6) < 1e-10);
    assert_int_equal(look(&s, list, 8), 4);
    assert_int_equal(list[0].state, ZW_TOUCH_HIT);
    assert_true(fabs(list[0].slip[0] + 1) < 1e-12);
    v_of(&s)[2] = 1;
    assert_true(fabs(forward(&s)[2] + G) < 1e-12);
    look(&s, list, 8);
    assert_int_equal(list[0].state, ZW_TOUCH_OPEN);
    close_scene(&s);
}

/* ---- What curves ----------------------------------------------------------------------------- */

/* A ball of radius r rolls without slipping on the floor: nothing accelerates. Inside of a turning
 * frame nothing would; so also on a ball that it rolls over at its top, where the path of its
 * centre has radius R + r: with the speed v of the centre the force is m (g - v^2/(R + r)). */
static void balls_roll(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR "<body name='ball' pos='0 0 .2'><freejoint/>"
                         "<geom size='.2' mass='3' friction='.5 0 0'/></body></worldbody>");
    v_of(&s)[0] = 2;
    v_of(&s)[4] = 10;
    assert_true(largest(forward(&s), 6) < 1e-8);
    assert_true(fabs(sum_on(&s, "ball").normal - 3 * G) < 1e-8);
    close_scene(&s);

    s = open_scene("<worldbody><geom name='hill' size='1' friction='.5 0 0'/>"
                   "<body name='ball' pos='0 0 1.2'><freejoint/>"
                   "<geom size='.2' mass='3' friction='.5 0 0'/></body></worldbody>");
    v_of(&s)[0] = 1.5;
    v_of(&s)[4] = 7.5;
    forward(&s);
    assert_true(fabs(sum_on(&s, "ball").normal - 3 * (G - 1.5 * 1.5 / 1.2)) < 1e-8);
    v_of(&s)[4] = 0; /* it slides: the same, and friction against it */
    const double *a = forward(&s);
    double normal = 3 * (G - 1.5 * 1.5 / 1.2);
    assert_true(fabs(sum_on(&s, "ball").normal - normal) < 1e-8);
    assert_true(fabs(a[0] + 0.5 * normal / 3) < 1e-8);
    close_scene(&s);
}

/* A pole that turns about its foot on the floor, held by friction: I a = m g l sin, with the foot's
 * force that of the centre of mass's motion. The foot is a sphere without size worth mention. */
static void a_pole_falls(void **state)
{
    (void)state;
    double l = 0.5, m = 1.5, angle = 0.3, w = 0.7, r = 1e-3;
    char text[1000];
    snprintf(text, sizeof text,
             "<worldbody>" FLOOR "<body name='pole' pos='0 0 %.17g'><freejoint/>"
             "<inertial pos='0 0 %g' mass='%g' diaginertia='.2 .2 .01'/>"
             "<geom size='%g' friction='.9 0 0'/></body></worldbody>",
             r, l, m, r);
    scene s = open_scene(text);
    double *q = q_of(&s), *v = v_of(&s);
    q[3] = cos(angle / 2);
    q[5] = sin(angle / 2);
    v[4] = w;
    v[0] = w * r; /* the foot rolls */
    forward(&s);
    /* about the axis of the foot's centre, which moves along x at w r: Lagrange's equation of the
     * angle with x' = r w, by hand */
    double s1 = sin(angle), c1 = cos(angle), I = 0.2;
    double inertia = I + m * (l * l + r * r + 2 * l * r * c1);
    double alpha = (m * G * l * s1 + m * l * r * s1 * w * w) / inertia;
    double ax = r * alpha + l * (c1 * alpha - s1 * w * w), az = -l * (s1 * alpha + c1 * w * w);
    zw_contact_sum sum = sum_on(&s, "pole");
    assert_true(fabs(sum.force[0] - m * ax) < 1e-6);
    assert_true(fabs(sum.force[2] - m * (G + az)) < 1e-6);
    close_scene(&s);
}

/* Friction of spinning and rolling is against them, mu N of each where it is alone; what spins and
 * slides shares the cone: moments by mu_i^2 u_i / |mu u|. */
static void balls_spin(void **state)
{
    (void)state;
    double N = 3 * G, slide = 0.5, spin = 0.02, roll = 0.01;
    scene s =
        open_scene("<worldbody><geom name='floor' type='plane' size='0 0 1' condim='6' "
                   "friction='.5 .02 .01'/><body name='ball' pos='0 0 .2'><freejoint/><geom "
                   "size='.2' mass='3' condim='6' friction='.5 .02 .01'/></body></worldbody>");
    v_of(&s)[5] = 4;
    forward(&s);
    zw_contact list[2];
    assert_int_equal(look(&s, list, 2), 1);
    assert_int_equal(list[0].rows, 6);
    assert_true(fabs(list[0].force[3] + spin * N) < 1e-8 && fabs(list[0].force[1]) < 1e-8);
    v_of(&s)[0] = 0.3;
    double size = hypot(slide * 0.3, spin * 4);
    const double *a = forward(&s);
    look(&s, list, 2);
    assert_int_equal(list[0].state, ZW_TOUCH_SLIDE);
    assert_true(fabs(list[0].force[3] + spin * spin * 4 / size * N) < 1e-8);
    assert_true(fabs(a[0] + slide * slide * 0.3 / size * G) < 1e-8);
    v_of(&s)[0] = 2; /* rolls */
    v_of(&s)[4] = 10;
    v_of(&s)[5] = 0;
    forward(&s);
    look(&s, list, 2);
    assert_int_equal(list[0].state, ZW_TOUCH_STICK);
    assert_true(fabs(hypot(list[0].force[4], list[0].force[5]) - roll * N) < 1e-8);
    close_scene(&s);
}

/* ---- Robots ---------------------------------------------------------------------------------- */

static scene open_humanoid(int maximal)
{
    zw_error error = {0};
    zw_model *model =
        zw_model_read(ZW_SOURCE_DIR "/examples/contact/humanoid_falls.xml", NULL, &error);
    must(model ? ZW_OK : error.status, &error);
    zw_world_def world = *zw_model_world(model);
    world.maximal = maximal;
    must(zw_model_set_world(model, &world, &error), &error);
    zw_system *system = zw_system_compile(model, NULL, &error);
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    must(state ? ZW_OK : error.status, &error);
    return (scene){model, system, work, state};
}

/* In other coordinates the same forces. */
static void maximal_coordinates_agree(void **state)
{
    (void)state;
    zw_contact_sum sum[2];
    for (int k = 0; k < 2; k++) {
        scene s = open_humanoid(k);
        zw_contact list[8];
        forward(&s);
        assert_int_equal(look(&s, list, 8), 8);
        assert_string_equal(list[0].geom_name[0], "floor");
        sum[k] = sum_on(&s, "left_foot");
        close_scene(&s);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(sum[0].force[i] - sum[1].force[i]) < 1e-6);
        assert_true(fabs(sum[0].moment[i] - sum[1].moment[i]) < 1e-6);
    }
}

/* A humanoid stands with motors and limits: at its start, and when it has settled. */
static void a_humanoid_stands(void **state)
{
    (void)state;
    zw_error error = {0};
    scene s = open_humanoid(0);
    const zw_model *model = s.model;
    const zw_system *system = s.system;
    zw_work *work = s.work;
    zw_inertia part[100];
    double mass = 0;
    assert_true(zw_model_count(model, ZW_KIND_BODY) <= 100);
    must(zw_model_inertia(model, part, &error), &error);
    for (int i = 1; i < zw_model_count(model, ZW_KIND_BODY); i++) {
        mass += part[i].mass;
    }
    for (int k = 0; k < 2; k++) {
        zw_contact list[64];
        zw_contact_sum sums[8];
        zw_wrench ground[100];
        assert_true(largest(forward(&s), zw_count(system, ZW_KIND_SPEED)) < 1e-6);
        int pairs = zw_contact_sums(list, look(&s, list, 64), sums, 8);
        double force[3] = {0};
        assert_int_equal(pairs, 2);
        for (int i = 0; i < 6; i++) {
            force[i % 3] += sums[i / 3].force[i % 3];
        }
        assert_true(fabs(force[2] - mass * 9.81) < 1e-6 * mass);
        assert_true(hypot(force[0], force[1]) < 1e-6 * mass);
        must(zw_wrenches(system, s.state, work, ZW_KIND_BODY, ground, &error), &error);
        assert_true(fabs(ground[0].force[2] - mass * 9.81) < 1e-6 * mass); /* holds the world */
        go(&s, 0.1 * (k + 1), 0.005);
    }
    close_scene(&s);
}

/* ---- Sensors and wrenches -------------------------------------------------------------------- */

/* A leg with a knee stands on a foot; what its force sensor reads is the weight above it. */
#define LEG                                                                                        \
    "<worldbody>" FLOOR "<body name='hip' pos='0 0 1'><joint type='slide' axis='0 0 1'/>"          \
    "<geom type='box' size='.1 .1 .1' mass='4' contype='0' conaffinity='0'/>"                      \
    "<site name='imu'/>"                                                                           \
    "<body name='foot' pos='0 0 -.5'><geom type='sphere' size='.1' mass='1' pos='0 0 -.4'/>"       \
    "<site name='ankle' pos='0 0 -.2'/><site name='sole' type='box' size='.1 .1 .05' "             \
    "pos='0 0 -.5'/><site name='shin' type='box' size='.1 .1 .05' pos='.5 0 -.2'/></body></body>"  \
    "</worldbody><sensor><accelerometer site='imu'/><force site='ankle'/>"                         \
    "<touch site='sole'/><touch site='shin'/></sensor>"

static void a_leg_stands(void **state)
{
    (void)state;
    scene s = open_scene(LEG);
    for (int ran = 0; ran < 2; ran++) {
        forward(&s);
        const double *reading = zw_field(s.system, s.state, s.work, ZW_FIELD_SENSOR).data;
        assert_true(fabs(reading[2] - G) < 1e-9); /* at rest it reads g */
        assert_true(fabs(reading[5] + 4 * G) < 1e-8);
        assert_true(fabs(reading[6] - 5 * G) < 1e-8);
        assert_true(reading[7] == 0);
        zw_wrench list[4];
        must(zw_wrenches(s.system, s.state, s.work, ZW_KIND_BODY, list, NULL), NULL);
        assert_true(fabs(list[1].force[2]) < 1e-8); /* the slide does nothing along itself */
        assert_true(fabs(list[2].force[2] + 4 * G) < 1e-8); /* the foot is pressed down */
        go(&s, 0.1 * (ran + 1), 0.01);
    }
    close_scene(&s);
}

/* Every sample of a run shows the forces of its steps: readings at rest are those of rest. */
static int stands(void *user, zw_sample_kind kind, int event, const zw_system *system,
                  const zw_state *state, zw_work *work)
{
    int *wrong = user;
    const double *reading = zw_field(system, state, work, ZW_FIELD_SENSOR).data;
    const double *a = zw_field(system, state, work, ZW_FIELD_A).data;
    (void)kind;
    (void)event;
    *wrong += !(fabs(reading[2] - G) < 1e-8 && fabs(reading[6] - 5 * G) < 1e-8);
    *wrong += !(fabs(a[0]) < 1e-8);
    return 0;
}

static void samples_know_contacts(void **state)
{
    (void)state;
    scene s = open_scene(LEG);
    int wrong = 0;
    zw_run_options options = {.time = 0.1, .every = 0.013, .observer = stands, .user = &wrong};
    zw_run_summary summary;
    zw_error error = {0};
    must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
    assert_int_equal(wrong, 0);
    close_scene(&s);
}

/* ---- Short steps ----------------------------------------------------------------------------- */

/* A four-legged heap: a table with a load that slides on it, and a ball that rolls against a wall.
 * The forces of steps tend to those of the instant, with their length. */
#define PARTY                                                                                      \
    "<worldbody>" FLOOR "<body name='table' pos='0 0 .5'><freejoint/>"                             \
    "<geom type='box' size='.5 .5 .05' mass='5' friction='.4 0 0'/>"                               \
    "<geom type='sphere' size='.05' pos='.4 .4 -.45' mass='1' friction='.8 0 0'/>"                 \
    "<geom type='sphere' size='.05' pos='-.4 .4 -.45' mass='1' friction='.8 0 0'/>"                \
    "<geom type='sphere' size='.05' pos='0 -.4 -.45' mass='1' friction='.8 0 0'/></body>"          \
    "<body name='load' pos='.1 0 .65'><freejoint/>"                                                \
    "<geom type='box' size='.1 .1 .1' mass='2' friction='.4 0 0'/></body></worldbody>"

static void steps_tend_to_it(void **state)
{
    (void)state;
    double off[3];
    for (int k = 0; k < 3; k++) {
        scene s = open_scene(PARTY);
        zw_error error = {0};
        double h = 4e-3 / (1 << (2 * k));
        v_of(&s)[6] = 1;
        v_of(&s)[7] = 0.5;
        forward(&s);
        zw_contact_sum now = sum_on(&s, "load"), floor = sum_on(&s, "table");
        assert_true(fabs(floor.normal - 10 * G) < 1e-7);
        must(zw_step(s.system, s.state, s.work,
                     &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = h}, &error),
             &error);
        zw_contact_sum then = sum_on(&s, "load"), under = sum_on(&s, "table");
        off[k] = 0;
        for (int i = 0; i < 3; i++) {
            off[k] = fmax(off[k], fabs(now.force[i] - then.force[i]));
            off[k] = fmax(off[k], fabs(now.moment[i] - then.moment[i]));
            off[k] = fmax(off[k], fabs(floor.force[i] - under.force[i]));
            off[k] = fmax(off[k], fabs(floor.moment[i] - under.moment[i]));
        }
        close_scene(&s);
    }
    assert_true(off[0] < 0.5);
    assert_true(off[1] < 0.3 * off[0] && off[2] < 0.3 * off[1]);
}

/* ---- Limits of the law ----------------------------------------------------------------------- */

/* Painleve: a rod drags its lower end over a floor of great friction. Either there are forces, with
 * a certificate, or it is said by name that there are none. */
static void painleve_is_reported(void **state)
{
    (void)state;
    int reported = 0;
    for (int k = 1; k < 15; k++) {
        double angle = 0.1 * k;
        char text[1000];
        snprintf(text, sizeof text,
                 "<worldbody><geom name='floor' type='plane' size='0 0 1' friction='3 0 0'/>"
                 "<body name='rod' pos='0 0 %.17g'><freejoint/>"
                 "<inertial pos='0 0 .5' mass='1' diaginertia='.02 .02 .001'/>"
                 "<geom name='tip' size='.001' friction='3 0 0'/></body></worldbody>",
                 0.001);
        scene s = open_scene(text);
        zw_error error = {0};
        q_of(&s)[3] = cos(angle / 2);
        q_of(&s)[5] = sin(angle / 2);
        v_of(&s)[0] = -1;
        zw_status status = zw_forward(s.system, s.state, s.work, NULL, &error);
        if (status != ZW_OK) {
            assert_true(status == ZW_NO_SOLUTION || status == ZW_JAMMED);
            assert_non_null(strstr(error.text, "contact of tip with floor"));
            reported++;
        } else {
            assert_true(zw_work_motion(s.work)->certificate.worst < 1e-8);
        }
        close_scene(&s);
    }
    assert_true(reported > 0 && reported < 14);
}

/* A joint whose dry friction cannot hold what the contact asks of it turns: 0.5 g, be it just less.
 */
static void friction_of_joints_gives_way(void **state)
{
    (void)state;
    static const double limit[] = {2, 0.999 * 0.5 * G, 1.001 * 0.5 * G, 10};
    for (int k = 0; k < 4; k++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "<worldbody>" FLOOR "<body name='post' pos='0 0 .1'><joint type='slide' "
                 "axis='0 0 1'/><geom type='sphere' size='.1' mass='1'/>"
                 "<body name='arm' pos='0 0 .2'><joint name='elbow' axis='0 1 0' "
                 "frictionloss='%.17g'/><inertial pos='1 0 0' mass='.5' diaginertia='.1 .1 .1'/>"
                 "</body></body></worldbody>",
                 limit[k]);
        scene s = open_scene(text);
        double torque = 0.5 * G - limit[k], inertia = 0.1 + 0.5;
        const double *a = forward(&s);
        assert_true(fabs(a[0]) < 1e-9);
        assert_true(fabs(a[1] - fmax(torque / inertia, 0)) < 1e-6);
        close_scene(&s);
    }
}

/* Without gravity, too, what stands but for round-off is held: springs press a box on the floor
 * with 10 N and pull it along with 4, which is less than friction bears, and with 6. What creeps
 * at a millionth of 1 m/s slides. */
static void springs_press_without_gravity(void **state)
{
    (void)state;
    static const double creeps[] = {0, 1e-10, 1e-6};
    for (int k = 0; k < 6; k++) {
        char text[900];
        double pull = k < 3 ? 4 : 6, creep = creeps[k % 3];
        snprintf(text, sizeof text,
                 "<option gravity='0 0 0'/><worldbody>" FLOOR "<body pos='0 0 .1'>"
                 "<joint type='slide' axis='1 0 0' stiffness='1' springref='%g'/>"
                 "<joint type='slide' axis='0 0 1' stiffness='10' springref='-1'/>"
                 "<geom type='box' size='.1 .1 .1' friction='.5 0 0' mass='2'/></body></worldbody>",
                 pull);
        scene s = open_scene(text);
        v_of(&s)[0] = creep;
        const double *a = forward(&s);
        double sum = pull - 5, along = creep > 1e-9 ? sum : fmax(sum, 0);
        assert_true(fabs(a[0] - along / 2) < 1e-9 && fabs(a[1]) < 1e-9);
        close_scene(&s);
    }
}

/* A bar on two feet, its weight near one of them: by the lever the other bears 1/20 of it, and
 * bears it: it is no open contact. */
static void the_lighter_foot_stands(void **state)
{
    (void)state;
    scene s = open_scene("<default><geom condim='1'/></default><worldbody><geom type='plane' "
                         "size='0 0 1'/><body pos='0 0 .1'><joint type='slide' axis='0 0 1'/>"
                         "<joint axis='0 1 0'/><inertial pos='.95 0 .1' mass='2' "
                         "diaginertia='.1 .1 .1'/><geom size='.1'/>"
                         "<geom size='.1' pos='1 0 0'/></body></worldbody>");
    zw_contact list[4];
    const double *a = forward(&s);
    assert_true(fabs(a[0]) < 1e-9 && fabs(a[1]) < 1e-9);
    assert_int_equal(look(&s, list, 4), 2);
    for (int k = 0; k < 2; k++) {
        double part = list[k].pos[0] < 0.5 ? 0.05 : 0.95;
        assert_true(fabs(list[k].force[0] - part * 2 * G) < 1e-9);
        assert_int_equal(list[k].state, ZW_TOUCH_STICK);
    }
    close_scene(&s);
}

/* ---- Other laws ------------------------------------------------------------------------------ */

typedef struct first {
    int known;
    double a[12], normal;
} first;

static int note_first(void *user, zw_sample_kind kind, int event, const zw_system *system,
                      const zw_state *state, zw_work *work)
{
    first *it = user;
    zw_contact list[32];
    (void)event;
    if (kind == ZW_SAMPLE_START) {
        int count = zw_contacts(system, state, work, list, 32, NULL);
        memcpy(it->a, zw_field(system, state, work, ZW_FIELD_A).data, sizeof it->a);
        for (int k = 0; k < count; k++) {
            it->normal += list[k].force[0];
        }
        it->known = 1;
    }
    return 0;
}

/* By each law the instant is as the first sample of a run shows it, and M a = F^N + F^L; after it
 * zw_forward is Coulomb's again. One crate slides, the other is a little in the floor. */
static void by_the_law_of_the_run(void **state)
{
    (void)state;
    static const zw_contact_law law[] = {ZW_CONTACT_CONVEX, ZW_CONTACT_SOFT};
    for (int k = 0; k < 2; k++) {
        const char *text = "<worldbody>" FLOOR CRATE
                           "<body pos='1 0 .0995'><freejoint/><geom type='box' size='.1 .1 .1' "
                           "friction='.5 0 0' mass='2'/></body></worldbody>";
        scene s = open_scene(text), run = open_scene(text);
        zw_run_options options = {.time = 0.01, .contact = law[k], .observer = note_first};
        zw_error error = {0};
        first it = {0};
        double before[12], Z = 0;
        v_of(&s)[0] = v_of(&run)[0] = 1;
        memcpy(before, forward(&s), sizeof before);
        options.user = &it;
        must(zw_forward(s.system, s.state, s.work, &options, &error), &error);
        const zw_motion *motion = zw_work_motion(s.work);
        double by[12], normal = 0;
        zw_contact list[32];
        memcpy(by, motion->a, sizeof by);
        int count = look(&s, list, 32);
        for (int i = 0; i < count; i++) {
            normal += list[i].force[0];
        }
        for (int i = 0; i < 6; i++) { /* of a body without turning, M is its mass */
            int d = i % 3 + 6 * (i / 3);
            assert_true(fabs(2 * by[d] - motion->F_N[d] - motion->F_L[d]) < 1e-9);
            Z += motion->F_L[d] * motion->F_L[d] / 4;
        }
        assert_true(k == 0 || (motion->Z >= Z * (1 - 1e-9) && Z > 0));
        assert_true(motion->certificate.worst < 1e-8 && normal > 0);
        assert_memory_equal(before, forward(&s), sizeof before);
        must(zw_run(run.system, run.state, run.work, &options, NULL, &error), &error);
        close_scene(&run);
        assert_true(it.known && fabs(it.normal - normal) < 1e-9 * normal);
        for (int i = 0; i < 12; i++) {
            assert_true(fabs(it.a[i] - by[i]) < 1e-9 * (1 + fabs(by[i])));
        }
        close_scene(&s);
    }
}

/* Soft contacts are as stiff as the step allows (a time constant is at least two steps), also if
 * the same work was used with another step before. */
static void by_the_step_of_the_run(void **state)
{
    (void)state;
    double a[2][6];
    scene s = open_scene("<worldbody>" FLOOR CRATE "</worldbody>");
    zw_error error = {0};
    ((double *)zw_field(s.system, s.state, s.work, ZW_FIELD_Q).data)[2] -= 1e-3;
    for (int k = 0; k < 2; k++) {
        zw_work *fresh = zw_work_create(s.system, &error);
        const zw_run_options options = {.step = k ? 0.05 : 1e-3, .contact = ZW_CONTACT_SOFT};
        must(zw_forward(s.system, s.state, s.work, &options, &error), &error);
        must(zw_forward(s.system, s.state, fresh, &options, &error), &error);
        memcpy(a[k], zw_field(s.system, s.state, fresh, ZW_FIELD_A).data, sizeof a[k]);
        assert_memory_equal(zw_field(s.system, s.state, s.work, ZW_FIELD_A).data, a[k],
                            sizeof a[k]);
        zw_work_free(fresh);
    }
    assert_true(a[0][2] > 2 * a[1][2]);
    close_scene(&s);
}

/* ---- Crowds ---------------------------------------------------------------------------------- */

/* Crates that stand, slide and rise, each for itself: as many as make the problem a large one.
 * None affects the others. (What spins on more points than three knows more than one answer.) */
static void pairs_do_not_affect_each_other(void **state)
{
    (void)state;
    enum { CRATES = 20 };
    char text[8000] = "<worldbody>" FLOOR;
    scene alone = open_scene("<worldbody>" FLOOR CRATE "</worldbody>");
    for (int i = 0; i < CRATES; i++) {
        char more[300];
        snprintf(more, sizeof more,
                 "<body pos='%g %g .1'><freejoint/><geom type='box' size='.1 .1 .1' "
                 "friction='.5 0 0' mass='2'/></body>",
                 0.5 * (i % 5), 0.5 * (double)(i / 5));
        strcat(text, more);
    }
    strcat(text, "</worldbody>");
    scene all = open_scene(text);
    for (int i = 0; i < CRATES; i++) {
        double *v = v_of(&all) + 6 * i;
        v[0] = i % 2 ? 0.1 * i : 0;
        v[1] = i % 3 ? -0.05 * i : 0;
        v[2] = i % 5 ? 0 : 0.1 * i;
    }
    const double *together = forward(&all);
    for (int i = 0; i < CRATES; i++) {
        memcpy(v_of(&alone), v_of(&all) + 6 * i, 6 * sizeof(double));
        const double *a = forward(&alone);
        for (int d = 0; d < 6; d++) {
            assert_true(fabs(a[d] - together[6 * i + d]) < 1e-8);
        }
        int slides = i % 5 && (i % 2 || i % 3);
        assert_true(!slides || fabs(hypot(a[0], a[1]) - 0.5 * G) < 1e-6);
    }
    close_scene(&alone);
    close_scene(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_none_up_to_a_millionth),
        cmocka_unit_test(gaps_of_what_is_far_away),
        cmocka_unit_test(a_crate_stands),
        cmocka_unit_test(a_crate_on_a_slope),
        cmocka_unit_test(impacts_are_reported),
        cmocka_unit_test(balls_roll),
        cmocka_unit_test(a_pole_falls),
        cmocka_unit_test(a_leg_stands),
        cmocka_unit_test(samples_know_contacts),
        cmocka_unit_test(steps_tend_to_it),
        cmocka_unit_test(painleve_is_reported),
        cmocka_unit_test(friction_of_joints_gives_way),
        cmocka_unit_test(springs_press_without_gravity),
        cmocka_unit_test(the_lighter_foot_stands),
        cmocka_unit_test(balls_spin),
        cmocka_unit_test(a_humanoid_stands),
        cmocka_unit_test(maximal_coordinates_agree),
        cmocka_unit_test(pairs_do_not_affect_each_other),
        cmocka_unit_test(by_the_law_of_the_run),
        cmocka_unit_test(by_the_step_of_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
