/* A loop of the caller's: he writes controls, coordinates and parameters into a state, and looks.
 */
#include "step/touch.h"

/* A finger of 0.1 kg presses a box of 0.5 kg down on the floor, by a motor along its slide. */
static const char press[] =
    "<worldbody><geom name='floor' type='plane' size='1 1 1' friction='0.5 0 0'/>"
    "<body name='box' pos='0 0 0.1'><freejoint name='box'/>"
    "<geom type='box' size='0.1 0.1 0.1' mass='0.5' friction='0.5 0 0'/></body>"
    "<body name='finger' pos='0 0 0.25'><joint name='down' type='slide' axis='0 0 -1'/>"
    "<geom type='sphere' size='0.05' mass='0.1'/><site name='tip'/></body></worldbody>"
    "<actuator><motor name='press' joint='down'/></actuator>"
    "<sensor><force name='sensed' site='tip'/></sensor>";

static void step(scene *s)
{
    zw_error error = {0};
    must(zw_step(s->system, s->state, s->work,
                 &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = 0.005}, &error),
         &error);
}

static void set(scene *s, zw_field_id field, int first, int count, const double *value)
{
    zw_error error = {0};
    must(zw_state_set(s->system, s->state, s->work, field, first, count, value, &error), &error);
}

/* The push of the floor is the weight and what the motor adds, in the step after it was set. */
static void test_controls(void **unused)
{
    (void)unused;
    scene s = open_scene(press);
    int motor = zw_id(s.system, ZW_KIND_PARAM, "press");
    assert_true(motor >= 0);
    for (int k = 0; k < 8; k++) {
        double push = 1 + k;
        zw_contact list[16];
        zw_contact_sum sum[4];
        zw_error error = {0};
        set(&s, ZW_FIELD_PARAM, motor, 1, &push);
        step(&s);
        int count = zw_contacts(s.system, s.state, s.work, list, 16, &error);
        int pairs = zw_contact_sums(list, count, sum, 4);
        assert_int_equal(pairs, 2);
        for (int i = 0; i < pairs; i++) {
            double expected = sum[i].body[0] == 0 ? 0.6 * G + push : 0.1 * G + push;
            assert_true(fabs(sum[i].normal - expected) < 1e-9);
        }
        /* the box's push goes back through the slide's motor: the world gets `push` through the
         * joint */
        must(zw_look(s.system, s.state, s.work, &error), &error);
        const double *sensed = zw_field(s.system, s.state, s.work, ZW_FIELD_SENSOR).data;
        assert_true(fabs(sensed[2] + push) < 1e-9);
        assert_int_equal(zw_contacts(s.system, s.state, s.work, list, 16, &error), count);
    }
    close_scene(&s);
}

/* What is lifted by hand falls, and its energy is accounted for; a quaternion may be of any length.
 */
static void test_places(void **unused)
{
    (void)unused;
    scene s = open_scene("<worldbody><geom type='plane' size='1 1 1'/><body name='a' pos='0 0 0.1'>"
                         "<freejoint name='a'/><geom size='0.1' mass='2'/></body></worldbody>");
    const double place[7] = {3, 0, 0.6, 2, 0, 0, 0}, spin[3] = {0, 0, 5};
    for (int k = 0; k < 5; k++) {
        step(&s);
    }
    set(&s, ZW_FIELD_Q, 0, 7, place);
    set(&s, ZW_FIELD_V, 3, 3, spin);
    const double *q = zw_field(s.system, s.state, s.work, ZW_FIELD_Q).data;
    assert_true(q[3] == 1 && q[0] == 3);
    zw_run_options options = {.time = 0.025 + 0.3, .step = 0.0005, .method = ZW_METHOD_IMPULSE};
    zw_run_summary summary;
    zw_error error = {0};
    must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
    q = zw_field(s.system, s.state, s.work, ZW_FIELD_Q).data;
    assert_true(fabs(q[2] - (0.6 - 0.5 * G * 0.09)) < 0.0005 * 0.3 * G); /* order one */
    assert_true(fabs(summary.energy_start - (2 * G * 0.6 + 0.5 * 0.4 * 2 * 0.01 * 25)) < 1e-12);
    close_scene(&s);
}

/* A pendulum by equations: what is written comes onto the rod, the nearest place. */
static void test_constraints(void **unused)
{
    (void)unused;
    zw_error error = {0};
    scene s = {.model = zw_model_parse("param l = 1, g = 9.81, n = 2, half = l/2\n"
                                       "param k = 3\n"
                                       "coord x = 0.6, y = -0.8\n"
                                       "mass 1 at (x, y)\n"
                                       "gravity (0, -g)\n"
                                       "spring k from (0, 0) to (x, y)\n"
                                       "constraint rod: |(x, y)| = 2*half\n",
                                       "p.zw", NULL, &error)};
    must(s.model ? ZW_OK : error.status, &error);
    s.system = zw_system_compile(s.model, NULL, &error);
    s.work = zw_work_create(s.system, &error);
    s.state = zw_state_create(s.system, s.work, NULL, &error);
    assert_non_null(s.state);
    const double place[2] = {3, -4}, speed[2] = {1, 0}, half = 1, stiff = 5;
    set(&s, ZW_FIELD_Q, 0, 2, place);
    const double *q = zw_field(s.system, s.state, s.work, ZW_FIELD_Q).data;
    const double *v = zw_field(s.system, s.state, s.work, ZW_FIELD_V).data;
    assert_true(fabs(q[0] - 0.6) < 1e-12 && fabs(q[1] + 0.8) < 1e-12);
    set(&s, ZW_FIELD_V, 0, 2, speed); /* its part along the rod goes */
    assert_true(fabs(v[0] - 0.64) < 1e-12 && fabs(v[1] - 0.48) < 1e-12);
    set(&s, ZW_FIELD_PARAM, zw_id(s.system, ZW_KIND_PARAM, "half"), 1, &half); /* a longer rod */
    assert_true(fabs(q[0] - 1.2) < 1e-12 && fabs(q[1] + 1.6) < 1e-12);
    double before = zw_field(s.system, s.state, s.work, ZW_FIELD_ENERGY).data[0];
    set(&s, ZW_FIELD_PARAM, zw_id(s.system, ZW_KIND_PARAM, "k"), 1, &stiff);
    double after = zw_field(s.system, s.state, s.work, ZW_FIELD_ENERGY).data[0];
    assert_true(fabs(after - before - 0.5 * 2 * 4) < 1e-12);
    int l = zw_id(s.system, ZW_KIND_PARAM, "l");
    assert_int_equal(zw_state_set(s.system, s.state, s.work, ZW_FIELD_PARAM, l, 1, &stiff, &error),
                     ZW_BAD_INPUT); /* `half` was computed from it */
    assert_non_null(strstr(error.text, "computed from l"));
    close_scene(&s);
}

static void test_refused(void **unused)
{
    (void)unused;
    scene s = open_scene(press);
    zw_error error = {0};
    const double zeros[8] = {0}, bad = NAN;
    uint64_t hash = zw_state_hash(s.state);
    static const struct {
        zw_field_id field;
        int first, count;
    } wrong[] = {{ZW_FIELD_Q, 3, 4},      {ZW_FIELD_Q, -1, 1},     {ZW_FIELD_Q, 7, 2},
                 {ZW_FIELD_PARAM, 1, 1},  {ZW_FIELD_A, 0, 1},      {ZW_FIELD_SENSOR, 0, 1},
                 {ZW_FIELD_LAMBDA, 0, 0}, {ZW_FIELD_ENERGY, 0, 1}, {ZW_FIELD_V, 0, 1 << 30}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_int_equal(zw_state_set(s.system, s.state, s.work, wrong[k].field, wrong[k].first,
                                      wrong[k].count, zeros, &error),
                         ZW_BAD_INPUT);
        assert_true(strlen(error.text) > 0);
    }
    assert_int_equal(zw_state_set(s.system, s.state, s.work, ZW_FIELD_V, 0, 1, &bad, &error),
                     ZW_BAD_INPUT);
    assert_true(zw_state_hash(s.state) == hash);
    close_scene(&s);
}

/* A step that fails leaves the time that the last one reached, to the bit. */
static void test_failed(void **unused)
{
    (void)unused;
    static const zw_method methods[] = {ZW_METHOD_SOFT, ZW_METHOD_RK4, ZW_METHOD_EULER};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        scene s = open_scene("<worldbody><body><joint name='along' type='slide'/>"
                             "<geom type='sphere' size='0.05' mass='0.1'/></body></worldbody>"
                             "<actuator><motor name='push' joint='along'/></actuator>");
        const zw_run_options options = {.method = methods[k], .step = 0.005};
        const double absurd = 1e308;
        zw_error error = {0};
        for (int i = 0; i < 200; i++) {
            must(zw_step(s.system, s.state, s.work, &options, &error), &error);
        }
        double reached = zw_field(s.system, s.state, s.work, ZW_FIELD_TIME).data[0];
        set(&s, ZW_FIELD_PARAM, zw_id(s.system, ZW_KIND_PARAM, "push"), 1, &absurd);
        assert_int_not_equal(zw_step(s.system, s.state, s.work, &options, &error), ZW_OK);
        double now = zw_field(s.system, s.state, s.work, ZW_FIELD_TIME).data[0];
        assert_memory_equal(&now, &reached, sizeof now);
        close_scene(&s);
    }
}

/* A weight falls until a string over pulleys is taut, and lifts another off the stop on which it
 * rests: one limit is reached and one is left in the same step. Samples within that step have a gap
 * at both, and violate none. */
static void test_samples(void **unused)
{
    (void)unused;
    static const double steps[] = {0.01, 0.02, 0.005};
    scene s = open_scene(
        "<worldbody><body><joint name='a' type='slide' axis='0 0 1' limited='true' range='0 5'/>"
        "<geom size='0.05' mass='1' contype='0' conaffinity='0'/></body>"
        "<body pos='1 0 0'><joint name='b' type='slide' axis='0 0 1'/>"
        "<geom size='0.05' mass='2' contype='0' conaffinity='0'/></body></worldbody>"
        "<tendon><fixed name='string' limited='true' range='-0.3 9'><joint joint='a' coef='1'/>"
        "<joint joint='b' coef='1'/></fixed></tendon>");
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        zw_error error = {0};
        zw_run_summary summary;
        zw_state *state = zw_state_create(s.system, s.work, NULL, &error);
        must(
            zw_run(s.system, state, s.work,
                   &(zw_run_options){
                       .method = ZW_METHOD_IMPULSE, .step = steps[k], .time = 0.5, .every = 0.0017},
                   &summary, &error),
            &error);
        assert_true(zw_field(s.system, state, s.work, ZW_FIELD_Q).data[0] > 0.1);
        assert_true(summary.violation_position < 1e-14);
        zw_state_free(state);
    }
    close_scene(&s);
}

static zw_state *saved(const zw_system *system, const zw_state *state)
{
    zw_error error = {0};
    size_t size = zw_state_bytes(state);
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    must(zw_state_save(state, bytes, size, &error), &error);
    zw_state *copy = zw_state_restore(system, bytes, size, &error);
    assert_non_null(copy);
    free(bytes);
    return copy;
}

/* At an instant, what holds follows the controls at once: a stop and a floor do not pull, friction
 * holds up to its limit and slides beyond it, and afterwards it holds again. */
static void by_other_controls(const char *name, const char *text, double force, double expected)
{
    zw_error error = {0};
    zw_model *model = zw_model_parse(text, name, NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    must(state ? ZW_OK : error.status, &error);
    const double push[] = {0, force, 0};
    int u = zw_id(system, ZW_KIND_PARAM, "u");
    for (int k = 0; k < 3; k++) {
        must(zw_state_set(system, state, work, ZW_FIELD_PARAM, u, 1, &push[k], &error), &error);
        must(zw_forward(system, state, work, NULL, &error), &error);
        double a = zw_field(system, state, work, ZW_FIELD_A).data[0];
        assert_true(fabs(a - (k == 1 ? expected : 0)) < 1e-9);
        must(zw_look(system, state, work, &error), &error);
        assert_true(zw_field(system, state, work, ZW_FIELD_A).data[0] == a);
        zw_state *kept = saved(system, state);
        must(zw_forward(system, kept, work, NULL, &error), &error);
        assert_true(zw_field(system, kept, work, ZW_FIELD_A).data[0] == a);
        zw_state_free(kept);
    }
    assert_true(zw_field(system, state, work, ZW_FIELD_Q).data[0] == 0);
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
}

#define SLIDER(more, gravity)                                                                      \
    "<mujoco><option timestep='1e-3' gravity='" gravity "'/><worldbody><body><joint name='j' "     \
    "type='slide' axis='1 0 0' " more "/><geom size='.1' mass='2' contype='0' conaffinity='0'/>"   \
    "</body></worldbody><actuator><motor joint='j' name='u'/></actuator></mujoco>"

static void test_instants(void **unused)
{
    (void)unused;
    by_other_controls("floor.zw",
                      "param u = 0\ncoord y = 0\nmass 2 at (y)\nforce y: u - 10\n"
                      "constraint floor: y >= 0\n",
                      30, 10);
    by_other_controls("rough.zw",
                      "param u = 0\ncoord x = 0, y = 0\nmass 2 at (x, y)\nforce y: -10\n"
                      "force x: u\nconstraint floor: y >= 0\nfriction floor: 0.5\n",
                      8, 1.5);
    by_other_controls("stop.xml", SLIDER("limited='true' range='0 1'", "-3 0 0"), 8, 1);
    by_other_controls("dry.xml", SLIDER("frictionloss='4'", "0 0 0"), 8, 2);
}

/* Soft steps do not decide what is closed: after them a stop that was left does not pull. */
static void test_instants_after_soft_steps(void **unused)
{
    (void)unused;
    zw_error error = {0};
    const zw_run_options soft = {.contact = ZW_CONTACT_SOFT};
    const double push = 8;
    scene s = scene_of(
        zw_model_parse(SLIDER("limited='true' range='0 1'", "-3 0 0"), "stop.xml", NULL, &error));
    set(&s, ZW_FIELD_PARAM, 0, 1, &push);
    for (int k = 0; k < 100; k++) {
        must(zw_step(s.system, s.state, s.work, &soft, &error), &error);
    }
    must(zw_forward(s.system, s.state, s.work, NULL, &error), &error);
    assert_true(zw_field(s.system, s.state, s.work, ZW_FIELD_Q).data[0] > 4e-3);
    assert_true(fabs(zw_field(s.system, s.state, s.work, ZW_FIELD_A).data[0] - 1) < 1e-9);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_controls),    cmocka_unit_test(test_places),
        cmocka_unit_test(test_constraints), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failed),      cmocka_unit_test(test_samples),
        cmocka_unit_test(test_instants),    cmocka_unit_test(test_instants_after_soft_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
