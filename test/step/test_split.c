/* Islands are stepped apart from each other: what happens in one has no influence on the others,
 * and what can meet is in one island. */
#include "base/memory.h"
#include "step/split/split.h"
#include "touch.h"

#define FLOOR "<geom type='plane' size='0 0 1'/>"
#define LEG(pos)                                                                                   \
    "<body pos='" pos "'><joint axis='0 1 0' damping='.1'/><joint axis='1 0 0' damping='.1'/>"     \
    "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.03' mass='.3'/></body>"
/* 22 speeds: more than the kernel is used for as a whole */
#define CENTIPEDE(pos, turn)                                                                       \
    "<body pos='" pos "' euler='" turn "'><freejoint/>"                                            \
    "<geom type='capsule' fromto='-.4 0 0 .4 0 0' size='.06' mass='4'/>" LEG("-.4 .1 0")           \
        LEG("-.4 -.1 0") LEG("-.15 .1 0") LEG("-.15 -.1 0") LEG(".15 .1 0") LEG(".15 -.1 0")       \
            LEG(".4 .1 0") LEG(".4 -.1 0") "</body>"
#define BOX(pos)                                                                                   \
    "<body pos='" pos "' euler='10 20 0'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
#define BALL(pos, mass)                                                                            \
    "<body pos='" pos "'><freejoint/><geom type='sphere' size='.05' mass='" mass "'/></body>"

enum { LEGGED = 23, BODY = 7 }; /* coordinates */
#define FIRST 1e-6              /* the first step looks for overlaps, as a whole */

static void step_by(scene *s, double h)
{
    zw_error error = {0};
    must(zw_step(s->system, s->state, s->work,
                 &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = h}, &error),
         &error);
}

/* The number of islands of a step from the state of the scene; 1: it was taken as a whole. */
static int count_islands(scene *s, double h)
{
    zw_error error = {0};
    zw_work *work = zw_work_create(s->system, &error);
    step_impulse *impulse = impulse_create(s->system, work, &error);
    double q[256], v[256];
    assert_true(impulse && split_begin(impulse) && impulse->split);
    impulse_set_tolerance(impulse, 0);
    memcpy(q, q_of(s), (size_t)s->system->nq * sizeof *q);
    memcpy(v, v_of(s), (size_t)s->system->n * sizeof *v);
    must(impulse_step(impulse, 0, FIRST, q, v, q, v, &error), &error);
    must(impulse_step(impulse, 0, h, q, v, q, v, &error), &error);
    int parts = impulse->split->parts;
    impulse_free(impulse);
    zw_work_free(work);
    return parts > 0 ? parts : 1;
}

/* A robot that falls among other things, which it does not reach, has the bits of the robot
 * alone. */
static void a_robot_among_others_has_the_bits_of_the_robot_alone(void **state)
{
    (void)state;
    scene alone = open_scene("<worldbody>" FLOOR CENTIPEDE("0 0 .5", "20 10 0") "</worldbody>");
    scene all = open_scene("<worldbody>" FLOOR CENTIPEDE("0 0 .5", "20 10 0") CENTIPEDE(
        "0 3 .8", "60 0 40") BOX("0 -2 .5") BOX("0 -2 .9") BOX("3 0 .3") "</worldbody>");
    assert_int_equal(count_islands(&all, 0.005), 5);
    for (int k = 0; k < 200; k++) {
        step_by(&alone, 0.005);
        step_by(&all, 0.005);
        assert_memory_equal(q_of(&alone), q_of(&all), LEGGED * sizeof(double));
    }
    close_scene(&alone);
    close_scene(&all);
}

/* The memory of a step is in the state: other steppers continue with the same bits. */
static void steppers_can_be_replaced(void **state)
{
    (void)state;
    const char *text = "<worldbody>" FLOOR CENTIPEDE("0 0 .4", "20 10 0") BOX("0 -2 .3")
        BOX("0 -2 .6") BOX("0 -.5 .9") BALL("0 .6 .3", "1") BALL("0 .75 .3", "1") "</worldbody>";
    scene one = open_scene(text), many = open_scene(text);
    for (int k = 0; k < 160; k++) {
        step_by(&one, 0.005);
        step_by(&many, 0.005);
        if (k % 7 == 0) {
            zw_work_free(many.work);
            many.work = zw_work_create(many.system, NULL);
        }
        assert_true(zw_state_hash(one.state) == zw_state_hash(many.state));
    }
    close_scene(&one);
    close_scene(&many);
}

/* A ball hits a light one at rest, which was not expected to move and hits the next one in the same
 * step, and so on: none passes through another, and momentum is kept. */
static void an_impact_reaches_other_islands(void **state)
{
    (void)state;
    const double mass[] = {1, 0.01, 1, 0.01, 1};
    scene s =
        open_scene("<option gravity='0 0 0'/><default><geom condim='1'/></default>"
                   "<worldbody>" BALL("0 0 0", "1") BALL(".103 0 0", ".01") BALL(".23 0 0", "1")
                       BALL(".36 0 0", ".01") BALL(".9 0 0", "1") "</worldbody>");
    zw_error error = {0};
    v_of(&s)[0] = 10;
    assert_int_equal(count_islands(&s, 0.001), 4); /* in so short a step nothing meets */
    step_by(&s, FIRST);
    for (int k = 0; k < 100; k++) {
        must(zw_step(s.system, s.state, s.work,
                     &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = 0.004}, &error),
             &error);
        double momentum = 0;
        for (int i = 0; i < 5; i++) {
            momentum += mass[i] * v_of(&s)[6 * i];
            assert_true(i == 0 || q_of(&s)[BODY * i] - q_of(&s)[BODY * (i - 1)] > 0.1 - 1e-9);
        }
        assert_true(fabs(momentum - 10) < 1e-9);
    }
    assert_true(v_of(&s)[24] > 0); /* the last one was hit, too */
    close_scene(&s);
}

/* Contacts are those of all islands, and landings are located in each of them. */
static void all_islands_count(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR BOX("0 0 .2") BOX("1 0 .2") BOX("2 0 .2")
                             BOX("3 0 .2") "</worldbody>");
    zw_run_summary summary;
    zw_error error = {0};
    must(zw_run(s.system, s.state, s.work,
                &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = 0.005, .time = 3}, &summary,
                &error),
         &error);
    zw_contact list[64];
    int count = zw_contacts(s.system, s.state, s.work, list, 64, &error);
    double weight = 0;
    assert_int_equal(count, 16);
    for (int k = 0; k < count; k++) {
        weight += list[k].force[0];
    }
    assert_true(fabs(weight / (4 * 8 * 9.81) - 1) < 1e-9); /* boxes of 8 kg */
    assert_int_equal(summary.late, 0); /* each island is divided where something lands */
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_robot_among_others_has_the_bits_of_the_robot_alone),
        cmocka_unit_test(steppers_can_be_replaced),
        cmocka_unit_test(an_impact_reaches_other_islands),
        cmocka_unit_test(all_islands_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
