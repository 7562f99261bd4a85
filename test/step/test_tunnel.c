/* Fast and thin bodies do not tunnel: test/scene/fast.h has the scenes and determines on which side
 * the bodies are. bench/tunnel runs thousands of them. */
#include "touch.h"

#include "scene/campaign.h"
#include "scene/dice.h"
#include "scene/fast.h"

static void must_stay(const fast_case *c)
{
    fast_report r = fast_run(c);
    if (r.result != FAST_FINE) {
        fail_msg("%s %d, %s, steps of %g ms: %s %g m after %d steps %s", fast_name(c->family),
                 (int)c->seed, c->what, 1e3 * c->step,
                 r.result == FAST_THROUGH ? "through by" : "aborted", r.beyond, r.at, r.error);
    }
}

static void a_bar_meets_a_post(void **state)
{
    (void)state;
    static const double rate[] = {20, 60, 100, 300}, step[] = {0.001, 0.005, 0.02};
    fast_case c;
    for (int k = 0; k < 24; k++) {
        fast_bar(&c, k % 2, rate[k / 2 % 4], step[k / 8]);
        must_stay(&c);
    }
}

static void bullets_meet_a_wall(void **state)
{
    (void)state;
    static const double speed[] = {10, 50, 100, 300, 600, 1000}, step[] = {0.001, 0.01, 0.05};
    fast_case c;
    for (int k = 0; k < 36; k++) {
        fast_bullet(&c, k % 2, speed[k / 2 % 6], step[k / 12]);
        must_stay(&c);
    }
}

static void a_sample_of_the_campaign(void **state)
{
    (void)state;
    static const int count[FAST_FAMILIES] = {30, 60, 1, 20, 10};
    fast_case c;
    for (int f = 0; f < FAST_FAMILIES; f++) {
        for (int k = 1; k <= campaign(count[f]); k++) {
            fast_draw(&c, (fast_family)f, (uint64_t)k);
            must_stay(&c);
        }
    }
}

/* A run reports for how many steps it is proved that nothing tunnelled: all, but not with soft
 * contacts. */
static void runs_count_what_is_proved(void **state)
{
    (void)state;
    for (int soft = 0; soft < 2; soft++) {
        scene s = open_scene("<worldbody><geom type='box' size='.0005 5 5'/><body pos='-.7 0 0'>"
                             "<freejoint/><geom size='.01'/></body></worldbody>");
        zw_run_options options = {.time = 0.1,
                                  .every = 0.1,
                                  .step = 0.01,
                                  .method = soft ? ZW_METHOD_SOFT : ZW_METHOD_IMPULSE};
        zw_run_summary summary = {0};
        zw_error error = {0};
        v_of(&s)[0] = 300;
        must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
        assert_int_equal(summary.proved, soft ? 0 : 10);
        assert_int_equal(summary.unproved, soft ? 10 : 0);
        assert_true(soft || q_of(&s)[0] < -0.01);
        close_scene(&s);
    }
}

/* A ball flies along the floor of a mesh, close to it, at a wall of the same mesh; and at a plain
 * wall: in steps of contact as they stand, and with one linearisation. */
static void one_linearisation_and_meshes(void **state)
{
    (void)state;
    static const double speed[] = {30, 100, 300}, tol[] = {0, 1};
    static const char *const wall[] = {
        "<custom><text name='triangles' data='g'/></custom><asset><mesh name='m' vertex='-9 -9 0 1 "
        "-9 0 1 9 0 -9 9 0 1 "
        "-9 9 "
        "1 9 9' face='0 1 2 0 2 3 1 4 5 1 5 2'/></asset><worldbody><geom name='g' type='mesh' "
        "mesh='m'/>",
        "<worldbody><geom type='box' size='.001 9 9' pos='1.001 0 0'/>"};
    for (int k = 0; k < 12; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "%s<body pos='0 0 .03'><freejoint/><geom size='.02'/></body></worldbody>",
                 wall[k % 2]);
        scene s = open_scene(text);
        zw_run_options options = {.time = 0.1,
                                  .every = 0.1,
                                  .step = 0.01,
                                  .tolerance = tol[k / 2 % 2],
                                  .method = ZW_METHOD_IMPULSE};
        zw_run_summary summary = {0};
        zw_error error = {0};
        v_of(&s)[0] = speed[k / 4];
        must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
        assert_int_equal(summary.unproved, 0);
        if (!(q_of(&s)[0] < 0.981)) {
            fail_msg("wall %d, tol %g, %g m/s: at %g", k % 2, tol[k / 2 % 2], speed[k / 4],
                     q_of(&s)[0]);
        }
        close_scene(&s);
    }
}

static double kinetic(scene *s)
{
    zw_error error = {0};
    must(zw_forward(s->system, s->state, s->work, NULL, &error), &error);
    return zw_field(s->system, s->state, s->work, ZW_FIELD_ENERGY).data[1];
}

/* Where it has come to rest in a corner, its contact comes and goes with the rounds of a step. */
static void a_chain_that_rests_goes_on(void **state)
{
    fast_case c;
    (void)state;
    fast_draw(&c, FAST_CHAIN, 48);
    must_stay(&c);
}

/* A flight towards a blow ends 1.1e-6 m beyond it: what is in one another there is no overlap that
 * nothing can part, and a way that parts so little is found as well as others are. */
static void a_flight_that_goes_too_far_is_no_overlap(void **state)
{
    static fast_case c;
    (void)state;
    fast_draw(&c, FAST_POST, 137);
    must_stay(&c);
}

/* Of three bodies that meet at 759 m/s, a trial of a long piece has 46 points: it fails, and costs
 * what a step may cost in vain if nothing is fast. Short pieces are solved, by Coulomb's law. */
static void dear_trials_of_fast_bodies_end_no_run(void **state)
{
    (void)state;
    static fast_case c;
    fast_draw(&c, FAST_ROOM, 152);
    c.steps = 1;
    if (!campaign_is_small()) { /* the longest single step of all */
        must_stay(&c);
    }
}

/* A person is thrown, limbs flailing at up to 30 rad/s. Steps are cut where limbs would meet; what
 * round-off leaves of a step behind the last piece (1e-18 s) is no time to push joints out of
 * limits that they have passed by round-off. Then kinetic energy is what was given, less what
 * impacts took, and what weight and motors add, which is little: they are weak. */
static void limbs_that_flail_gain_no_energy(void **state)
{
    static const int seeds[] = {59,
                                205}; /* of 600, those in which that made 10 to 20 times as much */
    (void)state;
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
        zw_error error = {0};
        scene s = {.model = zw_model_read(ZW_SOURCE_DIR "/examples/contact/humanoid_falls.xml",
                                          NULL, &error)};
        must(s.model ? ZW_OK : error.status, &error);
        s.system = zw_system_compile(s.model, NULL, &error);
        s.work = s.system ? zw_work_create(s.system, &error) : NULL;
        s.state = s.work ? zw_state_create(s.system, s.work, NULL, &error) : NULL;
        must(s.state ? ZW_OK : error.status, &error);
        dice d = dice_of((uint64_t)seeds[k]);
        for (int i = 6; i < zw_field(s.system, s.state, s.work, ZW_FIELD_V).count; i++) {
            v_of(&s)[i] = dice_between(&d, -30, 30);
        }
        double begun = kinetic(&s), most = 0;
        const zw_run_options options = {.step = 0.005, .method = ZW_METHOD_IMPULSE};
        for (int i = 0; i < 60; i++) {
            must(zw_step(s.system, s.state, s.work, &options, &error), &error);
            most = fmax(most, kinetic(&s));
        }
        if (!(most < 1.2 * begun)) {
            fail_msg("seed %d: %g J, then %g J", seeds[k], begun, most);
        }
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_bar_meets_a_post),
                                       cmocka_unit_test(bullets_meet_a_wall),
                                       cmocka_unit_test(a_sample_of_the_campaign),
                                       cmocka_unit_test(runs_count_what_is_proved),
                                       cmocka_unit_test(one_linearisation_and_meshes),
                                       cmocka_unit_test(a_chain_that_rests_goes_on),
                                       cmocka_unit_test(a_flight_that_goes_too_far_is_no_overlap),
                                       cmocka_unit_test(dear_trials_of_fast_bodies_end_no_run),
                                       cmocka_unit_test(limbs_that_flail_gain_no_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
