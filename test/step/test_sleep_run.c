/* Runs with sleepers: what they measure and show is what they would of all bodies awake, and who
 * has to wake does. */
#include "touch.h"

#define ON "<option><flag sleep='enable'/></option>"
#define FLOOR "<geom type='plane' size='0 0 1'/>"
#define BOX(name, pos)                                                                             \
    "<body name='" name "' pos='" pos "'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
/* A loop of four bars, with a limit and dry friction, that swings beside all the rest. */
#define BAR(to)                                                                                    \
    "<geom type='capsule' fromto='0 0 0 " to "' size='.02' contype='0' conaffinity='0'/>"
#define SWING                                                                                      \
    "<body pos='0 0 3'><joint axis='0 1 0'/>" BAR(                                                 \
        ".3 0 -.4") "<body name='two' pos='.3 0 -.4'><joint axis='0 1 0' "                         \
                    "frictionloss='.01'/>" BAR("1 0 0") "</body></body><body name='three' pos='1 " \
                                                        "0 3'><joint axis='0 1 0' "                \
                                                        "limited='true' range='-10 50'/>" BAR(     \
                                                            ".3 0 -.4") "</body>"
#define TIE "<equality><connect body1='two' body2='three' anchor='1 0 0'/></equality>"

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

static zw_run_summary ran(scene *s, double t, double every, zw_observer *observer, void *user)
{
    zw_run_options options = {.time = t,
                              .every = every,
                              .step = 0.01,
                              .method = ZW_METHOD_IMPULSE,
                              .observer = observer,
                              .user = user};
    zw_run_summary summary = {0};
    zw_error error = {0};
    must(zw_run(s->system, s->state, s->work, &options, &summary, &error), &error);
    return summary;
}

/* ---- What is measured ------------------------------------------------------------------------ */

/* Between samples only what is awake is looked at, at samples all bodies are: a run that is shown
 * at every step measures what one does that is not shown at all. The swing moves among boxes that
 * fall asleep; the theorem of energy holds with what these lost. */
static void measures_what_all_would(void **state)
{
    (void)state;
    const char *text =
        ON "<worldbody>" SWING FLOOR BOX("a", "1 1 .15") BOX("b", "2 1 .1") "</worldbody>" TIE;
    scene hidden = open_scene(text), shown = open_scene(text);
    scene awake = open_scene(text + sizeof ON - 1);
    for (int k = 1; k <= 3; k++) {
        zw_run_summary x = ran(&hidden, k, 9, NULL, NULL), y = ran(&shown, k, -1, NULL, NULL);
        assert_memory_equal(q_of(&hidden), q_of(&shown), 17 * sizeof(double));
        assert_true(x.violation_position > 0 && x.violation_velocity > 0);
        assert_true(fabs(x.violation_position - y.violation_position) < 1e-16);
        assert_true(fabs(x.violation_velocity - y.violation_velocity) < 1e-15);
        assert_true(x.contacts == y.contacts && x.depth == y.depth);
        assert_true(x.work == y.work && x.energy_end == y.energy_end);
        zw_run_summary z = ran(&awake, k, -1, NULL, NULL);
        /* the energy of sleepers is looked at less often, so the largest may be missed by a little
         */
        assert_true(y.energy_drift <= z.energy_drift + 1e-12);
        assert_true(y.energy_drift > 0.99 * z.energy_drift);
        assert_true(fabs(y.work - z.work) < 1e-6);
        zw_view energy = zw_field(shown.system, shown.state, shown.work, ZW_FIELD_ENERGY);
        assert_true(fabs(y.energy_end - energy.data[0]) < 1e-12 * fabs(energy.data[0]));
        assert_true(k > 1 || x.work < -0.049 * 8 * G); /* a box of 8 kg fell 5 cm */
    }
    assert_int_equal(sleepers(&hidden), 2);
    close_scene(&hidden);
    close_scene(&shown);
    close_scene(&awake);
}

/* ---- What is shown --------------------------------------------------------------------------- */

#define WATCHED                                                                                    \
    "<worldbody>" FLOOR BOX(                                                                       \
        "low",                                                                                     \
        "0 0 .1") "<body name='high' pos='0 0 .3'><freejoint/><geom type='box' size='.1 .1 .1'/>"  \
                  "<site name='s' size='.2'/></body><body name='ball' pos='1 0 .9'><freejoint/>"   \
                  "<geom size='.1' mass='1'/></body></worldbody>"                                  \
                  "<sensor><accelerometer site='s'/><touch site='s'/></sensor>"

typedef struct seen {
    int samples, wrong, slept;
} seen;

/* Of two boxes, one on the other: nothing accelerates, weight is carried. */
static int stand(void *user, zw_sample_kind kind, int event, const zw_system *system,
                 const zw_state *state, zw_work *work)
{
    seen *it = user;
    const double *a = zw_field(system, state, work, ZW_FIELD_A).data;
    const double *reading = zw_field(system, state, work, ZW_FIELD_SENSOR).data;
    zw_contact list[64];
    int count = zw_contacts(system, state, work, list, 64, NULL),
        low = zw_id(system, ZW_KIND_BODY, "low");
    double carried = 0;
    (void)kind;
    (void)event;
    for (int d = 0; d < 12; d++) {
        it->wrong += !(fabs(a[d]) < 1e-6);
    }
    for (int k = 0; k < count; k++) {
        carried += list[k].body[0] == low || list[k].body[1] == low ? list[k].force[0] : 0;
    }
    it->wrong += !(fabs(reading[2] - G) < 1e-6 && fabs(reading[3] - 8 * G) < 1e-6);
    it->wrong += !(fabs(carried - 24 * G) < 1e-6); /* 16 from the floor, 8 from above */
    it->samples++;
    return 0;
}

/* Also between steps, in the step after which they sleep, and when a run begins among sleepers. */
static void sleepers_stand_by_forces(void **state)
{
    (void)state;
    scene s = open_scene(ON WATCHED);
    seen it = {0};
    ran(&s, 0.9, 0.0049, stand, &it);
    assert_true(it.samples > 180);
    assert_int_equal(it.wrong, 0);
    assert_true(sleeps(&s, "low") && sleeps(&s, "high"));
    zw_error error = {0};
    for (int k = 0; k < 10; k++) {
        must(zw_step(s.system, s.state, s.work,
                     &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = 0.01}, &error),
             &error);
    }
    ran(&s, 1.2, 0.01, stand, &it);
    assert_int_equal(it.wrong, 0);
    ran(&s, 1.25, 0.01, NULL, NULL); /* no samples are wanted */
    zw_contact list[64];
    assert_int_equal(zw_contacts(s.system, s.state, s.work, list, 64, &error), 9);
    assert_int_equal(sleepers(&s), 3);
    close_scene(&s);
}

/* ---- Waking ---------------------------------------------------------------------------------- */

/* A box sleeps on a tray that a motor pulls away; another beside it. It falls, as it does where
 * bodies do not sleep. */
static void a_tray_is_pulled_away(void **state)
{
    (void)state;
    double end[2][15];
    for (int on = 0; on < 2; on++) {
        char text[2000];
        snprintf(
            text, sizeof text, "%s%s", on ? ON : "",
            "<worldbody>" FLOOR
            "<body name='tray' pos='0 0 .5'><joint name='j' type='slide' axis='1 0 0' "
            "damping='50'/><geom type='box' size='.15 .15 .01' friction='.1'/></body>" BOX(
                "load", "0 0 .61")
                BOX("other",
                    "3 0 .1") "</worldbody><actuator><position joint='j' kp='2000'/></actuator>");
        scene s = open_scene(text);
        ran(&s, 1, 1, NULL, NULL);
        assert_int_equal(sleepers(&s), on ? 3 : 0);
        ((double *)zw_field(s.system, s.state, s.work, ZW_FIELD_PARAM).data)[0] = 2;
        ran(&s, 1.01, 1, NULL, NULL);
        assert_true(!sleeps(&s, "tray") && !sleeps(&s, "load"));
        assert_int_equal(sleeps(&s, "other"), on);
        ran(&s, 1.25, 1, NULL, NULL);
        memcpy(end[on], q_of(&s), sizeof end[on]);
        ran(&s, 4, 1, NULL, NULL);
        assert_true(q_of(&s)[3] < 0.3);
        assert_int_equal(sleepers(&s), on ? 3 : 0);
        close_scene(&s);
    }
    for (int i = 0; i < 15; i++) {
        assert_true(fabs(end[0][i] - end[1][i]) < 1e-6);
    }
    assert_true(end[0][0] > 0.05);
}

/* A change of the state is noticed by the next run: it begins with all awake, and what was not
 * touched sleeps again. */
static void a_push_wakes(void **state)
{
    (void)state;
    scene s =
        open_scene(ON "<worldbody>" FLOOR BOX("a", "0 0 .1") BOX("b", "3 0 .1") "</worldbody>");
    ran(&s, 1, 1, NULL, NULL);
    assert_int_equal(sleepers(&s), 2);
    v_of(&s)[0] = 2;
    ran(&s, 1.01, 1, NULL, NULL);
    assert_int_equal(sleepers(&s), 0);
    ran(&s, 3, 1, NULL, NULL);
    assert_true(fabs(q_of(&s)[0] - 2.0 * 2 / (2 * G)) < 0.03); /* v^2 / (2 mu g), mu = 1 */
    assert_int_equal(sleepers(&s), 2);
    close_scene(&s);
}

/* Another gravity is another system: it takes no state of the first. */
static void other_gravity(void **state)
{
    (void)state;
    const char *world = "<worldbody>" FLOOR BOX("a", "0 0 .1") "</worldbody>";
    char text[2000];
    snprintf(text, sizeof text, "%s%s", ON, world);
    scene s = open_scene(text);
    snprintf(text, sizeof text, "<option gravity='0 0 -3'><flag sleep='enable'/></option>%s",
             world);
    scene moon = open_scene(text);
    zw_error error = {0};
    ran(&s, 1, 1, NULL, NULL);
    size_t size = zw_state_bytes(s.state);
    void *bytes = malloc(size);
    must(zw_state_save(s.state, bytes, size, &error), &error);
    assert_null(zw_state_restore(moon.system, bytes, size, &error));
    free(bytes);
    close_scene(&s);
    close_scene(&moon);
}

/* ---- Activations and armatures --------------------------------------------------------------- */

/* Two arms on a tendon with armature, driven through filters that take their time, and a crate. */
#define ARMS                                                                                       \
    "<worldbody>" FLOOR BOX(                                                                       \
        "crate",                                                                                   \
        "3 0 .1") "<body name='a' pos='0 0 1'><joint name='ja' "                                   \
                  "axis='0 1 0' damping='.5'/><geom type='capsule' fromto='0 0 0 .4 0 0' "         \
                  "size='.03' "                                                                    \
                  "contype='0' conaffinity='0'/></body>" BOX(                                      \
                      "chest",                                                                     \
                      "3 2 .12") "<body name='b' pos='0 1 1'>"                                     \
                                 "<joint name='jb' axis='0 1 0' damping='.5'/><geom "              \
                                 "type='capsule' fromto='0 0 0 .4 0 0' "                           \
                                 "size='.03' contype='0' conaffinity='0'/></body><body name='c' "  \
                                 "pos='0 2 1'><joint name='jc' "                                   \
                                 "axis='0 1 0' damping='.5'/><geom type='capsule' fromto='0 0 0 "  \
                                 ".4 0 0' size='.03' "                                             \
                                 "contype='0' conaffinity='0'/></body></worldbody><tendon><fixed " \
                                 "name='t' armature='.2' "                                         \
                                 "damping='.3'><joint joint='ja' coef='1'/><joint joint='jb' "     \
                                 "coef='-.5'/></fixed></tendon>"                                   \
                                 "<actuator><general joint='ja' dyntype='filter' dynprm='.1' "     \
                                 "gainprm='10' biastype='affine' "                                 \
                                 "biasprm='0 -10 -1'/><general joint='jc' dyntype='%s' "           \
                                 "dynprm='.3' gainprm='1'/></actuator>"

static void steps(scene *s, int count)
{
    zw_error error = {0};
    for (int k = 0; k < count; k++) {
        must(zw_step(s->system, s->state, s->work,
                     &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = 0.01}, &error),
             &error);
    }
}

/* As long as an activation changes, what it drives is awake, and moves as if no body slept: an
 * integrator with a control never rests, a filter does when it has reached it. Asleep, activations
 * stay. By steps and by runs. */
static void activations_have_to_rest(void **state)
{
    (void)state;
    for (int filter = 0; filter < 2; filter++) {
        char text[4000];
        snprintf(text, sizeof text, ON ARMS, filter ? "filter" : "integrator");
        scene s = open_scene(text), run = open_scene(text),
              awake = open_scene(text + sizeof ON - 1);
        scene *all[] = {&s, &run, &awake};
        for (int i = 0; i < 3; i++) {
            double *control =
                (double *)zw_field(s.system, all[i]->state, s.work, ZW_FIELD_PARAM).data;
            control[0] = 0.3;
            control[1] = 0.01; /* it turns a little, and more and more */
        }
        for (int k = 1; k <= 10; k++) {
            steps(&s, 100);
            steps(&awake, 100);
            ran(&run, k, 9, NULL, NULL);
            assert_memory_equal(q_of(&s), q_of(&run), 17 * sizeof(double));
            for (int i = 0; i < 17; i++) {
                assert_true(fabs(q_of(&s)[i] - q_of(&awake)[i]) < 1e-3);
            }
        }
        const double *act = zw_field(s.system, s.state, s.work, ZW_FIELD_ACTIVATION).data;
        const double *on =
            zw_field(awake.system, awake.state, awake.work, ZW_FIELD_ACTIVATION).data;
        assert_true(fabs(act[0] - 0.3) < 1e-6 && fabs(act[1] - on[1]) < 1e-6);
        assert_true(sleeps(&s, "crate") && sleeps(&s, "chest"));
        assert_true(sleeps(&s, "a") && sleeps(&s, "b"));
        assert_int_equal(sleeps(&s, "c"), filter);
        ((double *)zw_field(s.system, s.state, s.work, ZW_FIELD_PARAM).data)[0] = -0.2;
        steps(&s, 1);
        assert_true(!sleeps(&s, "a") && !sleeps(&s, "b") && sleeps(&s, "crate"));
        assert_int_equal(sleeps(&s, "c"), filter);
        for (int i = 0; i < 3; i++) {
            close_scene(all[i]);
        }
    }
}

/* ---- Which may not --------------------------------------------------------------------------- */

static void by_impulse_only(void **state)
{
    (void)state;
    scene s = open_scene(ON "<worldbody>" FLOOR BOX("a", "0 0 .1") "</worldbody>");
    const zw_run_options wish[] = {{.time = 1, .method = ZW_METHOD_SOFT},
                                   {.time = 1, .contact = ZW_CONTACT_SOFT},
                                   {.time = 1, .method = ZW_METHOD_DOP853}};
    for (int k = 0; k < 3; k++) {
        zw_run_options plan;
        zw_error error = {0};
        assert_int_equal(zw_run_plan(s.system, s.state, &wish[k], &plan, &error), ZW_BAD_INPUT);
        assert_non_null(strstr(error.text, "impulse"));
        assert_non_null(strstr(error.text, k < 2 ? "soft" : "dop853"));
    }
    close_scene(&s);
    s = open_scene(ON "<worldbody><body><joint/><geom size='.1'/></body></worldbody>");
    zw_run_options plan;
    zw_error error = {0};
    must(zw_run_plan(s.system, s.state, NULL, &plan, &error), &error);
    assert_int_equal(plan.method, ZW_METHOD_IMPULSE); /* though nothing can touch */
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_what_all_would),
        cmocka_unit_test(sleepers_stand_by_forces),
        cmocka_unit_test(a_tray_is_pulled_away),
        cmocka_unit_test(a_push_wakes),
        cmocka_unit_test(other_gravity),
        cmocka_unit_test(by_impulse_only),
        cmocka_unit_test(activations_have_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
