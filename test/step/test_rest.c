/* A step of a robot at rest costs one search for contacts and no factorisation, as the forces are
 * those of the step before; and the motion is the same. */
#include "system/contact/contacts.h"
#include "system/work.h"
#include "touch.h"

/* A torso on two legs of two parts each, with springs and dampers in the joints, and a tail that
 * hangs at its limit. */
static const char robot[] =
    "<worldbody><geom type='plane' size='5 5 1' friction='0.8'/>"
    "<body name='torso' pos='0 0 0.52'><freejoint/><geom type='box' size='.12 .1 .06' mass='4'/>"
    "<body pos='0 .1 -.06'><joint axis='0 1 0' stiffness='60' damping='3'/>"
    "<geom type='capsule' fromto='0 0 0 .05 0 -.2' size='.03' mass='.5'/>"
    "<body pos='.05 0 -.2'><joint axis='0 1 0' stiffness='60' damping='3'/>"
    "<geom type='capsule' fromto='0 0 0 -.05 0 -.2' size='.03' mass='.4'/>"
    "<geom type='box' pos='-.03 0 -.22' size='.08 .04 .02' mass='.2'/></body></body>"
    "<body pos='0 -.1 -.06'><joint axis='0 1 0' stiffness='60' damping='3'/>"
    "<geom type='capsule' fromto='0 0 0 .05 0 -.2' size='.03' mass='.5'/>"
    "<body pos='.05 0 -.2'><joint axis='0 1 0' stiffness='60' damping='3'/>"
    "<geom type='capsule' fromto='0 0 0 -.05 0 -.2' size='.03' mass='.4'/>"
    "<geom type='box' pos='-.03 0 -.22' size='.08 .04 .02' mass='.2'/></body></body>"
    "<body pos='-.12 0 0'><joint axis='0 1 0' limited='true' range='-20 20' damping='.05'/>"
    "<geom type='capsule' fromto='0 0 0 -.15 0 0' size='.02' mass='.1'/></body>"
    "</body></worldbody>";

static void steps(scene *s, int count, double h)
{
    zw_error error = {0};
    for (int k = 0; k < count; k++) {
        must(zw_step(s->system, s->state, s->work,
                     &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = h}, &error),
             &error);
    }
}

static double weight_held(const scene *s)
{
    double sum = 0;
    for (int k = 0; k < s->work->touched->count; k++) {
        sum += s->work->touched->contact[k].force[0];
    }
    return sum;
}

static double fastest(const scene *s)
{
    zw_view v = zw_field(s->system, s->state, s->work, ZW_FIELD_V);
    double most = 0;
    for (int i = 0; i < v.count; i++) {
        most = fmax(most, fabs(v.data[i]));
    }
    return most;
}

static void one_look_and_no_solve(void **state)
{
    (void)state;
    scene s = open_scene(robot);
    steps(&s, 6000, 0.005);
    print_message("speeds %.1e\n", fastest(&s));
    int nq = zw_field(s.system, s.state, s.work, ZW_FIELD_Q).count;
    double q[32];
    assert_true(nq <= 32);
    memcpy(q, q_of(&s), (size_t)nq * sizeof *q);
    for (int k = 0; k < 200; k++) {
        steps(&s, 1, 0.005);
        const struct system_effort *cost = &s.work->effort;
        assert_int_equal(cost->searches, 1);
        assert_int_equal(cost->factors, 0);
        assert_int_equal(cost->rounds, 0);
        assert_true(s.work->certificate <= 1e-10);
        assert_true(fabs(weight_held(&s) / (6.3 * G) - 1) < 1e-9);
    }
    for (int i = 0; i < nq; i++) {
        assert_true(fabs(q_of(&s)[i] - q[i]) < 1e-11);
    }
    close_scene(&s);
}

/* A robot that is pushed moves, and comes to rest again. */
static void a_push_is_sensed(void **state)
{
    (void)state;
    scene s = open_scene(robot);
    zw_error error = {0};
    const double push = 0.3;
    steps(&s, 6000, 0.005);
    must(zw_state_set(s.system, s.state, s.work, ZW_FIELD_V, 0, 1, &push, &error), &error);
    steps(&s, 1, 0.005);
    assert_true(s.work->effort.rounds > 0 && s.work->effort.searches > 1);
    steps(&s, 1, 0.005);
    assert_true(fastest(&s) > 1e-3);
    steps(&s, 6000, 0.005);
    assert_int_equal(s.work->effort.rounds, 0);
    close_scene(&s);
}

/* Rest is a fixed point: after a fall, a push or a swing of its motors the state is the same after
 * every further step, but for the last digit of quaternions, which are normalised in each. Robots
 * with motors, dry friction, limits, without contacts; objects. */
static void rest_lasts(void **state)
{
    static const struct {
        const char *file;
        double pushed; /* speed of its first coordinate */
    } all[] = {{"contact/humanoid_falls.xml", 3}, {"contact/humanoid_falls.xml", 0},
               {"contact/quadruped.xml", 0},      {"contact/gripper_capsule.xml", 0},
               {"contact/card_house.xml", 0},     {"contact/dominoes.xml", 3},
               {"contact/tower.xml", 0.2},        {"bodies/servo.xml", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char path[500];
        zw_error error = {0};
        snprintf(path, sizeof path, "%s/examples/%s", ZW_SOURCE_DIR, all[i].file);
        scene s = scene_of(zw_model_read(path, NULL, &error));
        zw_state_set(s.system, s.state, s.work, ZW_FIELD_V, 0, 1, &all[i].pushed, NULL);
        steps(&s, 3500, 0.005);
        int nq = zw_field(s.system, s.state, s.work, ZW_FIELD_Q).count;
        double *q = malloc((size_t)nq * sizeof *q);
        memcpy(q, q_of(&s), (size_t)nq * sizeof *q);
        for (int k = 0; k < 3000; k++) {
            steps(&s, 1, 0.005);
            const struct system_effort *cost = &s.work->effort;
            if (cost->factors > 0 || cost->searches > 1 || fastest(&s) > 0) {
                fail_msg("%s: %ld factorisations, %ld searches, %g m/s in step %d", all[i].file,
                         (long)cost->factors, (long)cost->searches, fastest(&s), k);
            }
            for (int j = 0; j < nq; j++) {
                assert_true(fabs(q_of(&s)[j] - q[j]) <= 0x1p-52);
            }
        }
        free(q);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_lasts),
        cmocka_unit_test(one_look_and_no_solve),
        cmocka_unit_test(a_push_is_sensed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
