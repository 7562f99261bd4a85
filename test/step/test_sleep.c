/* Islands fall asleep when they have come to rest, cost nothing, and wake when something happens to
 * them: for all others the motion is the same. */
#include "base/memory.h"
#include "touch.h"

#define ON "<option><flag sleep='enable'/></option>"
#define FLOOR "<geom type='plane' size='0 0 1'/>"
#define BOX(name, pos)                                                                             \
    "<body name='" name "' pos='" pos "'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
#define TOWER(a, x) BOX(a "1", x " 0 .1") BOX(a "2", x " 0 .3") BOX(a "3", x " 0 .5")

static void steps(scene *s, int count, double h)
{
    zw_error error = {0};
    for (int k = 0; k < count; k++) {
        must(zw_step(s->system, s->state, s->work,
                     &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = h}, &error),
             &error);
    }
}

static int sleepers(scene *s)
{
    return zw_sleepers(s->system, s->state, NULL, NULL);
}

static int sleeps(scene *s, const char *name)
{
    int list[64], body = zw_id(s->system, ZW_KIND_BODY, name);
    assert_true(body > 0 && body < 64);
    assert_true(zw_sleepers(s->system, s->state, list, NULL) >= 0);
    return list[body];
}

static double energy(scene *s)
{
    return zw_field(s->system, s->state, s->work, ZW_FIELD_ENERGY).data[0];
}

static uint64_t hash(scene *s)
{
    return zw_state_hash(s->state);
}

/* ---- Asleep --------------------------------------------------------------------------------- */

/* Half a second after all is at rest it sleeps, not before, and then not a bit changes. */
static void a_tower_sleeps(void **state)
{
    (void)state;
    scene s = open_scene(ON "<worldbody>" FLOOR TOWER("a", "0") BOX("b", "3 0 .15") "</worldbody>");
    double q[28];
    steps(&s, 49, 0.01);
    assert_int_equal(sleepers(&s), 0);
    steps(&s, 3, 0.01);
    assert_int_equal(sleepers(&s), 3); /* the box still fell for 0.1 s */
    steps(&s, 20, 0.01);
    assert_int_equal(sleepers(&s), 4);
    memcpy(q, q_of(&s), sizeof q);
    steps(&s, 500, 0.01);
    assert_memory_equal(q, q_of(&s), sizeof q);
    for (int i = 0; i < 24; i++) {
        assert_true(v_of(&s)[i] == 0);
    }
    assert_true(fabs(zw_field(s.system, s.state, s.work, ZW_FIELD_TIME).data[0] - 5.72) < 1e-9);
    zw_wake(s.state);
    assert_int_equal(sleepers(&s), 0);
    steps(&s, 1, 0.01);
    assert_int_equal(sleepers(&s), 0);
    close_scene(&s);
}

/* Air slows a plate that falls, whether others sleep or not. */
static void air_does_not_sleep(void **state)
{
    (void)state;
#define PLATE                                                                                      \
    "<worldbody>" FLOOR BOX("a", "0 0 .1")                                                         \
        BOX("b", "1 0 .1") "<body pos='3 0 20' euler='10 20 0'><freejoint/>"                       \
                           "<geom type='box' size='.1 .1 .01' mass='.05'/></body></worldbody>"
#define AIR "<option density='1.2' viscosity='2e-5'/>"
    scene with = open_scene(ON AIR PLATE), without = open_scene(AIR PLATE);
    steps(&with, 300, 0.005);
    steps(&without, 300, 0.005);
    assert_int_equal(sleepers(&with), 2);
    for (int i = 14; i < 21; i++) {
        assert_true(fabs(q_of(&with)[i] - q_of(&without)[i]) < 1e-9);
    }
    close_scene(&with);
    close_scene(&without);
}

/* Without the switch nothing sleeps, and the numbers of a state are those of before. */
static void nothing_sleeps_unasked(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody>" FLOOR TOWER("a", "0") "</worldbody>");
    steps(&s, 100, 0.01);
    assert_int_equal(sleepers(&s), 0);
    close_scene(&s);
}

/* A rod that stands upright all but 1e-7 falls, however slowly it begins to. */
static void what_begins_to_fall_does_not_sleep(void **state)
{
    (void)state;
    scene s = open_scene(ON "<worldbody><body pos='0 0 0'><joint name='j' axis='0 1 0'/>"
                            "<geom type='capsule' fromto='0 0 0 0 0 1' size='.02'/></body>"
                            "</worldbody>");
    q_of(&s)[0] = 1e-7;
    for (int k = 0; k < 60; k++) {
        steps(&s, 10, 0.01);
        assert_int_equal(sleepers(&s), 0);
    }
    assert_true(fabs(q_of(&s)[0]) > 1);
    close_scene(&s);
}

/* ---- Waking --------------------------------------------------------------------------------- */

/* A ball falls on one of two towers: that wakes, and only that. Energy falls all the time. */
static void a_ball_wakes_what_it_hits(void **state)
{
    (void)state;
    scene s = open_scene(ON "<worldbody>" FLOOR TOWER("a", "0") TOWER(
        "b", "3") "<body name='ball' pos='.01 0 6'><freejoint/><geom size='.1'/></body>"
                  "</worldbody>");
    double q[21], before = energy(&s), least = 1;
    int woken = 0, hits = 0;
    steps(&s, 80, 0.01);
    assert_int_equal(sleepers(&s), 6);
    memcpy(q, q_of(&s) + 21, sizeof q);
    for (int k = 0; k < 600; k++) {
        steps(&s, 1, 0.01);
        int now = !sleeps(&s, "a1") && !sleeps(&s, "a2") && !sleeps(&s, "a3");
        hits += now && !woken;
        woken |= now;
        assert_true(sleeps(&s, "b1") && sleeps(&s, "b2") && sleeps(&s, "b3"));
        if (!woken) {
            least = fmin(least, q_of(&s)[42 + 2] - 0.7);
        }
        assert_true(energy(&s) <= before + 1e-9);
        before = energy(&s);
    }
    assert_true(woken && hits == 1);
    assert_true(least < 0.2); /* not before it was near: 11 m/s are 0.11 m in a step */
    assert_memory_equal(q, q_of(&s) + 21, sizeof q);
    assert_int_equal(sleepers(&s), 7); /* and all is quiet again */
    close_scene(&s);
}

/* A heavy ball knocks the lowest box out: those above it wake and come down. */
static void what_loses_its_support_falls(void **state)
{
    (void)state;
    scene s = open_scene(ON "<worldbody>" FLOOR TOWER(
        "a", "0") "<body name='ball' pos='-12 0 .09'><freejoint/>"
                  "<geom size='.09' density='20000'/></body></worldbody>");
    v_of(&s)[18] = 12; /* it slides, then rolls */
    steps(&s, 70, 0.01);
    assert_int_equal(sleepers(&s), 3);
    double top = q_of(&s)[14 + 2];
    steps(&s, 330, 0.01);
    assert_true(q_of(&s)[0] > 0.3);             /* out */
    assert_true(q_of(&s)[14 + 2] < top - 0.19); /* down by a box at least */
    close_scene(&s);
}

/* A table on a motor sleeps with the box on it until it is commanded elsewhere. */
static void controls_wake(void **state)
{
    (void)state;
    scene s = open_scene(
        ON "<worldbody>" FLOOR "<body name='table' pos='0 0 1'><joint name='up' type='slide' "
           "axis='0 0 1' damping='2000'/><geom type='box' size='.5 .5 .05'/></body>" BOX("box",
                                                                                         "0 0 1.15")
               BOX("other", "3 0 .1") "</worldbody><actuator><position name='lift' joint='up' "
                                      "kp='100000'/></actuator>");
    double *control = (double *)zw_field(s.system, s.state, s.work, ZW_FIELD_PARAM).data;
    steps(&s, 300, 0.01);
    assert_int_equal(sleepers(&s), 3);
    double z = q_of(&s)[1 + 2];
    *control = -0.3;
    steps(&s, 1, 0.01);
    assert_true(!sleeps(&s, "table") && !sleeps(&s, "box") && sleeps(&s, "other"));
    steps(&s, 300, 0.01);
    assert_true(fabs(q_of(&s)[1 + 2] - (z - 0.3)) < 1e-6);
    assert_int_equal(sleepers(&s), 3);
    close_scene(&s);
}

/* ---- The same motion ------------------------------------------------------------------------ */

/* A box slides into one that has fallen asleep, or would have: they end at the same places. */
static void sleep_changes_nothing_else(void **state)
{
    (void)state;
    double end[2][14];
    for (int on = 0; on < 2; on++) {
        char text[2000];
        snprintf(text, sizeof text, "%s<worldbody>%s</worldbody>", on ? ON : "",
                 FLOOR BOX("a", "0 0 .1") BOX("b", "-4 0 .1"));
        scene s = open_scene(text);
        v_of(&s)[6] = 10;
        int slept = 0;
        for (int k = 0; k < 300; k++) {
            steps(&s, 1, 0.01);
            slept |= on && sleeps(&s, "a") && !sleeps(&s, "b");
        }
        assert_int_equal(slept, 0); /* 4 m take less than half a second */
        v_of(&s)[6] = -3;
        zw_wake(s.state);
        for (int k = 0; k < 300; k++) {
            steps(&s, 1, 0.01);
            slept |= on && sleeps(&s, "a") && !sleeps(&s, "b");
        }
        assert_int_equal(slept, on);
        memcpy(end[on], q_of(&s), sizeof end[on]);
        close_scene(&s);
    }
    for (int i = 0; i < 14; i++) {
        assert_true(fabs(end[0][i] - end[1][i]) < 1e-9);
    }
    assert_true(fabs(end[0][0]) > 0.1);
}

#define ROBOT                                                                                      \
    "<body name='arm' pos='0 0 2'><joint name='h1' axis='0 1 0' damping='.01'/>"                   \
    "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.03'/>"                                      \
    "<body name='fore' pos='.4 0 0'><joint name='h2' axis='0 1 0' limited='true' range='-60 60'/>" \
    "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.03'/></body></body>"                        \
    "<body name='bar' pos='0 .3 2'><joint name='h3' axis='0 1 0' frictionloss='.02'/>"             \
    "<geom type='capsule' fromto='0 0 0 .8 0 0' size='.03' contype='0' conaffinity='0'/></body>"
#define DRIVE                                                                                      \
    "<tendon><fixed name='t' stiffness='3' springlength='.2'><joint joint='h1' coef='1'/>"         \
    "<joint joint='h3' coef='-.5'/></fixed></tendon><actuator><motor joint='h3' gear='.5'/>"       \
    "<position joint='h1' kp='5'/></actuator>"

/* A robot of two trees with tendon, limit, friction and motors moves beside sleeping boxes as it
 * moves alone, bit for bit. */
static void who_is_awake_moves_as_alone(void **state)
{
    (void)state;
    scene alone = open_scene("<worldbody>" FLOOR ROBOT "</worldbody>" DRIVE);
    scene among = open_scene(ON "<worldbody>" FLOOR BOX("a", "1 1 .1")
                                 ROBOT BOX("b", "2 1 .1") "</worldbody>" DRIVE);
    for (int k = 0; k < 400; k++) {
        if (k == 100) {
            assert_int_equal(sleepers(&among), 2);
        }
        ((double *)zw_field(alone.system, alone.state, alone.work, ZW_FIELD_PARAM).data)[0] =
            ((double *)zw_field(among.system, among.state, among.work, ZW_FIELD_PARAM).data)[0] =
                k % 100 < 50 ? 1 : -1;
        steps(&alone, 1, 0.01);
        steps(&among, 1, 0.01);
        assert_memory_equal(q_of(&alone), q_of(&among) + 7, 3 * sizeof(double));
        assert_memory_equal(v_of(&alone), v_of(&among) + 6, 3 * sizeof(double));
    }
    assert_true(fabs(v_of(&alone)[0]) > 1e-3);
    close_scene(&alone);
    close_scene(&among);
}

/* ---- In pieces ------------------------------------------------------------------------------ */

static void save_and_restore(scene *s)
{
    zw_error error = {0};
    size_t size = zw_state_bytes(s->state);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    must(zw_state_save(s->state, bytes, size, &error), &error);
    zw_state_free(s->state);
    zw_work_free(s->work);
    s->work = zw_work_create(s->system, &error);
    s->state = zw_state_restore(s->system, bytes, size, &error);
    must(s->state ? ZW_OK : error.status, &error);
    free(bytes);
}

/* Saved and restored in between, with a new work each time, steps and runs have the same bits; with
 * and without sleep. */
static void in_pieces(void **state)
{
    (void)state;
    for (int on = 0; on < 2; on++) {
        char text[4000];
        snprintf(
            text, sizeof text, "%s<worldbody>%s</worldbody>", on ? ON : "",
            FLOOR TOWER("a", "0") BOX(
                "b",
                "3 0 .1") "<body name='ball' pos='.01 0 6'><freejoint/><geom size='.1'/></body>");
        scene whole = open_scene(text), pieces = open_scene(text), runs = open_scene(text);
        scene run = open_scene(text);
        int seen = 0;
        go(&run, 1.7, 0.01);
        for (int k = 0; k < 17; k++) {
            steps(&whole, 10, 0.01);
            steps(&pieces, 10, 0.01);
            save_and_restore(&pieces);
            assert_true(hash(&whole) == hash(&pieces));
            go(&runs, (k + 1) / 10.0, 0.01);
            save_and_restore(&runs);
            seen |= sleepers(&whole) == 4 ? 1 : seen && sleepers(&whole) == 1 ? 2 : 0;
        }
        assert_int_equal(seen, on ? 3 : 0);
        assert_true(hash(&run) == hash(&runs));
        assert_memory_equal(q_of(&run), q_of(&whole), 35 * sizeof(double));
        assert_memory_equal(v_of(&run), v_of(&whole), 30 * sizeof(double));
        close_scene(&whole);
        close_scene(&pieces);
        close_scene(&runs);
        close_scene(&run);
    }
}

/* Two states of one system take turns with one work. */
static void two_states_one_work(void **state)
{
    (void)state;
    const char *text = ON "<worldbody>" FLOOR TOWER("a", "0") BOX("b", "3 0 .1") "</worldbody>";
    scene s = open_scene(text), t = open_scene(text);
    zw_state *other = NULL;
    zw_error error = {0};
    must(zw_state_copy(s.state, &other, &error), &error);
    for (int k = 0; k < 90; k++) {
        steps(&s, 1, 0.01);
        zw_state *kept = s.state;
        s.state = other;
        steps(&s, k < 60 ? 1 : 0, 0.01);
        s.state = kept;
        steps(&t, 1, 0.01);
        assert_true(hash(&s) == hash(&t));
    }
    assert_int_equal(sleepers(&s), 4);
    zw_state_free(other);
    close_scene(&s);
    close_scene(&t);
}

/* Bouncing things and single linearisations sleep and wake, too. */
static void by_other_ways(void **state)
{
    (void)state;
    for (int quick = 0; quick < 2; quick++) {
        char text[2000];
        snprintf(
            text, sizeof text, "%s%s<worldbody>%s</worldbody>", ON,
            quick ? "" : "<custom><numeric name='restitution' data='.3'/></custom>",
            FLOOR BOX("a", "0 0 .1") BOX(
                "c",
                "3 0 .1") "<body name='ball' pos='0 0 5.1'><freejoint/><geom size='.1'/></body>");
        scene s = open_scene(text);
        zw_error error = {0};
        int woken = 0;
        for (int k = 1; k <= 60; k++) {
            zw_run_options options = {.time = k / 20.0,
                                      .every = 1,
                                      .step = 0.01,
                                      .tolerance = quick ? 1 : 0,
                                      .method = ZW_METHOD_IMPULSE};
            zw_run_summary summary = {0};
            must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
            woken |= k > 16 && !sleeps(&s, "a");
            assert_true(k < 16 || sleeps(&s, "c"));
        }
        assert_true(woken);
        assert_true(fabs(q_of(&s)[14 + 2] - 0.3) < 1e-6);
        assert_int_equal(sleepers(&s), 3);
        close_scene(&s);
    }
}

/* Each allocation of the first steps fails once: reported, and the next try goes on as if nothing
 * had been. */
static void memory_can_fail(void **state)
{
    (void)state;
    const char *text = ON "<worldbody>" FLOOR BOX("a", "0 0 .1") BOX("b", "3 0 .11") "</worldbody>";
    scene good = open_scene(text);
    steps(&good, 60, 0.01);
    int failed = 0;
    for (int k = 1; k < 200; k += 3) {
        scene s = open_scene(text);
        zw_error error = {0};
        base_alloc_fail_after(k);
        for (int i = 0; i < 60;) {
            zw_status status =
                zw_step(s.system, s.state, s.work,
                        &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = 0.01}, &error);
            assert_true(status == ZW_OK || status == ZW_NO_MEMORY);
            i += status == ZW_OK;
            failed += status != ZW_OK;
        }
        base_alloc_fail_after(0);
        assert_memory_equal(q_of(&good), q_of(&s), 14 * sizeof(double));
        assert_memory_equal(v_of(&good), v_of(&s), 12 * sizeof(double));
        assert_int_equal(sleepers(&s), sleepers(&good));
        close_scene(&s);
    }
    assert_true(failed > 20);
    close_scene(&good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tower_sleeps),
        cmocka_unit_test(air_does_not_sleep),
        cmocka_unit_test(nothing_sleeps_unasked),
        cmocka_unit_test(what_begins_to_fall_does_not_sleep),
        cmocka_unit_test(a_ball_wakes_what_it_hits),
        cmocka_unit_test(what_loses_its_support_falls),
        cmocka_unit_test(controls_wake),
        cmocka_unit_test(sleep_changes_nothing_else),
        cmocka_unit_test(who_is_awake_moves_as_alone),
        cmocka_unit_test(in_pieces),
        cmocka_unit_test(two_states_one_work),
        cmocka_unit_test(by_other_ways),
        cmocka_unit_test(memory_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
