/* What is reported about contacts: methods, lists, sums, names; and runs in pieces. */
#include "touch.h"

#define FLOOR "<geom name='floor' type='plane' size='0 0 1' friction='.5 0 0'/>"
#define BOX                                                                                        \
    "<body name='crate' pos='0 0 .1'><freejoint/>"                                                 \
    "<geom name='box' type='box' size='.1 .1 .1' friction='.5 0 0' mass='2'/></body>"

static zw_method planned(const char *inner, double *step)
{
    scene s = open_scene(inner);
    zw_run_options options = {.time = 1}, plan;
    zw_error error = {0};
    must(zw_run_plan(s.system, s.state, &options, &plan, &error), &error);
    *step = plan.step;
    close_scene(&s);
    return plan.method;
}

/* A model with possible contacts is run by method impulse with the file's timestep, one without by
 * DOP853. */
static void method_by_default(void **state)
{
    (void)state;
    double step;
    assert_int_equal(planned("<worldbody>" FLOOR BOX "</worldbody>", &step), ZW_METHOD_IMPULSE);
    assert_true(step == 0.002);
    assert_int_equal(planned("<worldbody>" BOX "</worldbody>", &step), ZW_METHOD_DOP853);
    assert_int_equal(planned("<option><flag contact='disable'/></option><worldbody>" FLOOR BOX
                             "</worldbody>",
                             &step),
                     ZW_METHOD_DOP853);
}

static int look(scene *s, zw_contact *list, int capacity)
{
    zw_error error = {0};
    int count = zw_contacts(s->system, s->state, s->work, list, capacity, &error);
    must(count >= 0 ? ZW_OK : error.status, &error);
    return count;
}

/* A crate that stands: four points that carry its weight, by name; at the start and after a run. */
static void a_crate_stands(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR BOX "</worldbody>");
    zw_contact list[16];
    zw_contact_sum sum[2];
    assert_true(zw_contact_capacity(s.system) > 4);
    for (int ran = 0; ran < 2; ran++) {
        assert_int_equal(look(&s, list, 16), 4);
        for (int k = 0; k < 4; k++) {
            assert_string_equal(list[k].geom_name[0], "floor");
            assert_string_equal(list[k].geom_name[1], "box");
            assert_string_equal(list[k].body_name[1], "crate");
            assert_string_equal(zw_name(s.system, ZW_KIND_BODY, list[k].body[0]), "world");
            assert_int_equal(list[k].state, ZW_TOUCH_STICK);
            assert_true(fabs(list[k].gap) < 1e-12);
            assert_true(fabs(fabs(list[k].pos[0]) - 0.1) < 1e-9);
            assert_true(fabs(list[k].frame[2] - 1) < 1e-12);
        }
        assert_int_equal(zw_contact_sums(list, 4, sum, 2), 1);
        assert_int_equal(sum[0].count, 4);
        assert_true(fabs(sum[0].normal - 2 * G) < 1e-9);
        assert_true(fabs(sum[0].force[2] - 2 * G) < 1e-9);
        assert_true(fabs(sum[0].force[0]) + fabs(sum[0].force[1]) < 1e-9);
        assert_true(fabs(sum[0].moment[0]) + fabs(sum[0].moment[1]) < 1e-9);
        go(&s, 0.1 * (ran + 1), 0.01);
    }
    assert_int_equal(look(&s, list, 2), 4); /* more than there is room for */
    close_scene(&s);
}

/* One that slides: mu N against its way, slip as fast as it is. */
static void a_crate_slides(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR BOX "</worldbody>");
    zw_contact list[16];
    zw_contact_sum sum;
    v_of(&s)[0] = 3;
    v_of(&s)[1] = 4;
    go(&s, 0.1, 0.01);
    int count = look(&s, list, 16);
    assert_int_equal(zw_contact_sums(list, count, &sum, 1), 1);
    double speed = hypot(v_of(&s)[0], v_of(&s)[1]);
    assert_true(fabs(speed - (5 - 0.5 * G * 0.1)) < 1e-9);
    assert_true(fabs(sum.force[0] + 0.5 * 2 * G * 0.6) < 1e-8);
    assert_true(fabs(sum.force[1] + 0.5 * 2 * G * 0.8) < 1e-8);
    int sliding = 0;
    for (int k = 0; k < count; k++) {
        sliding += list[k].state == ZW_TOUCH_SLIDE;
        assert_true(fabs(hypot(list[k].slip[1], list[k].slip[2]) - speed) < 1e-8);
        assert_true(hypot(list[k].force[1], list[k].force[2]) <= 0.5 * list[k].force[0] + 1e-9);
    }
    assert_true(sliding > 0);
    close_scene(&s);
}

/* A state that was changed is not the one that the last step led to. */
static void what_changed_is_looked_at_again(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR BOX "</worldbody>");
    zw_contact list[16];
    go(&s, 0.1, 0.01);
    assert_int_equal(look(&s, list, 16), 4);
    q_of(&s)[2] = 5;
    assert_int_equal(look(&s, list, 16), 0);
    close_scene(&s);
}

static int count_in_run(void *user, zw_sample_kind kind, int event, const zw_system *system,
                        const zw_state *state, zw_work *work)
{
    int *most = user;
    zw_contact list[64];
    int count = zw_contacts(system, state, work, list, 64, NULL);
    (void)event;
    *most = kind == ZW_SAMPLE_OUTPUT && count > *most ? count : *most;
    return 0;
}

static void seen_while_it_runs(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR BOX "</worldbody>");
    int most = 0;
    zw_run_options options = {.time = 0.1, .every = 0.013, .observer = count_in_run, .user = &most};
    zw_run_summary summary;
    zw_error error = {0};
    must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
    assert_int_equal(most, 4);
    assert_int_equal(summary.contacts, 4);
    assert_true(summary.depth < 1e-12);
    close_scene(&s);
}

/* ---- Runs in pieces -------------------------------------------------------------------------- */

/* A heap that falls, slides and turns; a hinge with dry friction, a limit and a motor. */
#define HEAP                                                                                       \
    "<worldbody>" FLOOR                                                                            \
    "<body pos='0 0 .15' euler='20 10 0'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"    \
    "<body pos='.03 .02 .45' euler='0 30 0'><freejoint/><geom type='box' size='.1 .1 .1'/></body>" \
    "<body pos='0 .1 .7'><freejoint/><geom size='.1' condim='6' friction='.6 .01 .01'/></body>"    \
    "<body pos='.5 0 .3'><joint name='j' axis='0 1 0' range='-60 60' limited='true' "              \
    "frictionloss='.05'/><geom type='capsule' size='.03 .1' pos='0 0 .1'/>"                        \
    "<body pos='0 0 .25'><joint axis='1 0 0'/><geom type='capsule' size='.03 .1' "                 \
    "pos='0 0 .1'/></body></body></worldbody>"                                                     \
    "<actuator><position joint='j' kp='5' ctrlrange='-1 1'/></actuator>"

/* In one piece, in three, and in three by way of bytes in another world: the same bits. */
static void the_same_in_pieces(void **state)
{
    (void)state;
    uint64_t hash[3];
    for (int kind = 0; kind < 3; kind++) {
        scene s = open_scene(HEAP);
        v_of(&s)[0] = 1;
        if (kind > 0) {
            go(&s, 0.21, 0.01);
        }
        if (kind == 2) {
            size_t size = zw_state_bytes(s.state);
            void *bytes = malloc(size);
            zw_error error = {0};
            zw_state_save(s.state, bytes, size, &error);
            close_scene(&s);
            s = open_scene(HEAP);
            zw_state_free(s.state);
            s.state = zw_state_restore(s.system, bytes, size, &error);
            must(s.state ? ZW_OK : error.status, &error);
            free(bytes);
        }
        if (kind > 0) {
            go(&s, 0.5, 0.01);
        }
        go(&s, 1, 0.01);
        hash[kind] = zw_state_hash(s.state);
        close_scene(&s);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] == hash[2]);
}

/* A pair that is written has a margin larger than those of its geoms, and friction of its own: a
 * ball is held that far above a slab, and a crate slides to where the pair's friction stops it;
 * also in maximal coordinates, where the description that was compiled is gone by now. */
static void pairs_have_their_own_numbers(void **state)
{
    (void)state;
    for (int maximal = 0; maximal < 2; maximal++) {
        scene s = open_scene(
            "<worldbody><geom name='slab' type='box' size='5 5 .5' pos='0 0 -.5' friction='1 0 0'/>"
            "<body pos='2 0 .6'><freejoint/><geom name='ball' size='.1'/></body>" BOX
            "</worldbody><contact><pair geom1='slab' geom2='ball' margin='.3'/>"
            "<pair geom1='slab' geom2='box' friction='.2 .2 0 0 0'/></contact>");
        zw_error error = {0};
        zw_contact list[8];
        if (maximal) {
            zw_world_def world = *zw_model_world(s.model);
            zw_state_free(s.state);
            zw_work_free(s.work);
            zw_system_free(s.system);
            world.maximal = 1;
            must(zw_model_set_world(s.model, &world, &error), &error);
            s.system = zw_system_compile(s.model, NULL, &error);
            s.work = zw_work_create(s.system, &error);
            s.state = zw_state_create(s.system, s.work, NULL, &error);
            must(s.state ? ZW_OK : error.status, &error);
        }
        v_of(&s)[6] = 1;
        go(&s, 2, 0.01);
        assert_true(fabs(q_of(&s)[2] - 0.4) < 1e-9);
        assert_true(fabs(q_of(&s)[7] - 1 / (2 * 0.2 * G)) < 0.01);
        int count = look(&s, list, 8);
        assert_true(count == 5);
        assert_string_equal(list[0].geom_name[0], "slab");
        close_scene(&s);
    }
}

/* Forces are means over a step: a crate that lands and slides gets by them what its momentum and
 * its weight tell, in the step of the blow too. */
static void forces_make_the_momentum(void **state)
{
    (void)state;
    const double h = 0.005, m = 2;
    scene s = open_scene("<worldbody>" FLOOR BOX "</worldbody>");
    double up = 0, hardest = 0;
    q_of(&s)[2] = 0.1512;
    v_of(&s)[0] = 1;
    for (int k = 1; k <= 40; k++) {
        zw_contact list[8];
        zw_error error = {0};
        must(zw_step(s.system, s.state, s.work,
                     &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = h}, &error),
             &error);
        int count = look(&s, list, 8);
        for (int i = 0; i < count; i++) {
            up += h * list[i].force[0];
            hardest = fmax(hardest, list[i].force[0]);
        }
        assert_true(fabs(up - m * (v_of(&s)[2] + k * h * G)) < 1e-9);
    }
    assert_true(hardest > 5 * m * G);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(method_by_default),
        cmocka_unit_test(a_crate_stands),
        cmocka_unit_test(a_crate_slides),
        cmocka_unit_test(what_changed_is_looked_at_again),
        cmocka_unit_test(seen_while_it_runs),
        cmocka_unit_test(the_same_in_pieces),
        cmocka_unit_test(pairs_have_their_own_numbers),
        cmocka_unit_test(forces_make_the_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
