/* The velocity form with one linearisation (a tolerance of 1), and single steps. */
#include "touch.h"

#include "base/memory.h"
#include "model/pose.h"
#include "scene/dice.h"

#define FOLDER ZW_SOURCE_DIR "/examples/bodies/"

static scene open_file(const char *file)
{
    char path[500];
    zw_error error = {0};
    snprintf(path, sizeof path, FOLDER "%s", file);
    scene s = {.model = zw_model_read(path, NULL, &error)};
    must(s.model ? ZW_OK : error.status, &error);
    int key = zw_model_find(s.model, ZW_KIND_KEY, "up");
    if (key >= 0) {
        zw_key_def def = *(const zw_key_def *)zw_model_def(s.model, ZW_KIND_KEY, key);
        def.start = 1;
        must(zw_model_change(s.model, ZW_KIND_KEY, key, &def, &error), &error);
    }
    s.system = zw_system_compile(s.model, NULL, &error);
    must(s.system ? ZW_OK : error.status, &error);
    s.work = zw_work_create(s.system, &error);
    s.state = zw_state_create(s.system, s.work, NULL, &error);
    must(s.state ? ZW_OK : error.status, &error);
    return s;
}

static zw_run_summary run(scene *s, zw_method method, double t, double h, double tolerance)
{
    zw_run_options options = {
        .time = t, .every = t, .step = h, .method = method, .tolerance = tolerance};
    zw_run_summary summary = {0};
    zw_error error = {0};
    must(zw_run(s->system, s->state, s->work, &options, &summary, &error), &error);
    return summary;
}

/* It approximates the exact motion with an error of order h. */
static void order_one(void **state)
{
    (void)state;
    static const char *const file[] = {"double_pendulum.xml", "four_bar.xml", "bricard.xml"};
    for (size_t k = 0; k < 3; k++) {
        double miss[2];
        scene exact = open_file(file[k]);
        run(&exact, ZW_METHOD_DOP853, 0.5, 0, 1e-12);
        for (int half = 0; half < 2; half++) {
            scene s = open_file(file[k]);
            run(&s, ZW_METHOD_IMPULSE, 0.5, half ? 2.5e-4 : 5e-4, 1);
            miss[half] = 0;
            for (int i = 0; i < zw_count(s.system, ZW_KIND_COORD); i++) {
                miss[half] = fmax(miss[half], fabs(q_of(&s)[i] - q_of(&exact)[i]));
            }
            close_scene(&s);
        }
        close_scene(&exact);
        print_message("%s: %.3g, ratio %.3g\n", file[k], miss[0], miss[0] / miss[1]);
        assert_true(miss[0] < 0.05 && miss[0] / miss[1] > 1.7 && miss[0] / miss[1] < 2.3);
    }
}

/* The error of a loop due to curvature is of order h^2, and does not accumulate. */
static void loops_do_not_drift(void **state)
{
    (void)state;
    double off[2][2];
    for (int half = 0; half < 2; half++) {
        for (int late = 0; late < 2; late++) {
            scene s = open_file("four_bar.xml");
            off[half][late] =
                run(&s, ZW_METHOD_IMPULSE, late ? 8 : 2, half ? 1e-3 : 2e-3, 1).violation_position;
            close_scene(&s);
        }
    }
    assert_true(off[0][0] < 1e-3);
    assert_true(off[0][1] < 3 * off[0][0]);
    assert_true(off[0][0] / off[1][0] > 3);
}

/* Bodies come to rest on each other exactly where they touch. */
static void piles_rest(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody><geom type='plane' size='0 0 1'/>"
                         "<body pos='0 0 .11'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
                         "<body pos='0 0 .32'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
                         "<body pos='0 0 .53'><freejoint/><geom size='.1'/></body></worldbody>");
    zw_run_summary summary = run(&s, ZW_METHOD_IMPULSE, 2, 0.005, 1);
    assert_true(summary.certificate < 1e-8);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(q_of(&s)[7 * i + 2] - 0.1 - 0.2 * i) < 1e-9);
    }
    for (int i = 0; i < 18; i++) {
        assert_true(fabs(v_of(&s)[i]) < 1e-9);
    }
    close_scene(&s);
}

/* Repeated zw_step gives the same as zw_run, and allocates nothing in steady state. */
static void steps_are_the_run(void **state)
{
    (void)state;
    const char *text = "<worldbody><geom type='plane' size='0 0 1'/>"
                       "<body pos='0 0 .2' euler='10 20 30'><freejoint/>"
                       "<geom type='box' size='.1 .2 .1'/></body></worldbody>";
    scene a = open_scene(text), b = open_scene(text);
    zw_error error = {0};
    const double h = 0x1p-8;
    for (int k = 0; k < 256; k++) {
        must(zw_step(a.system, a.state, a.work,
                     &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = h}, &error),
             &error);
    }
    run(&b, ZW_METHOD_IMPULSE, 1, h, 0);
    for (int i = 0; i < 7; i++) {
        assert_true(q_of(&a)[i] == q_of(&b)[i]);
    }
    base_alloc_fail_after(1);
    zw_status status = zw_step(a.system, a.state, a.work,
                               &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = h}, &error);
    base_alloc_fail_after(0);
    assert_int_equal(status, ZW_OK);
    must(zw_step(a.system, a.state, a.work, &(zw_run_options){.method = ZW_METHOD_RK4, .step = h},
                 &error),
         &error);
    zw_run_options without = {.time = 9, .method = ZW_METHOD_RK4};
    zw_run_summary summary = {0};
    assert_int_equal(zw_run(a.system, a.state, a.work, &without, &summary, &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "needs a step"));
    close_scene(&a);
    close_scene(&b);
}

/* Plates that turn by up to ten radians a step: in flight, and in a box of plates with bounce. One
 * linearisation makes energy of that, 1e80 J in the end; such steps are taken with more, which keep
 * the angular momentum, so that the energy of turning is at most by the ratio of the moments of
 * inertia above what it was. */
static void nothing_makes_energy(void **state)
{
    (void)state;
    const double most = (0.2 * 0.2 + 0.1 * 0.1) / (0.01 * 0.01 + 0.1 * 0.1);
    for (int k = 0; k < 4; k++) {
        char text[2500];
        const char *wall = "<geom type='box' size='%s' pos='%s'/>";
        size_t used = (size_t)snprintf(
            text, sizeof text, "<option gravity='0 0 0'/>%s<worldbody>",
            k > 1 ? "<custom><numeric name='restitution' data='.5'/></custom>" : "");
        static const char *const size[] = {".01 1 1", "1 .01 1", "1 1 .01"};
        static const char *const pos[] = {"1.01 0 0",  "-1.01 0 0", "0 1.01 0",
                                          "0 -1.01 0", "0 0 1.01",  "0 0 -1.01"};
        for (int i = 0; i < 6 && k > 0; i++) {
            char one[100];
            snprintf(one, sizeof one, wall, size[i / 2], pos[i]);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", one);
        }
        snprintf(text + used, sizeof text - used,
                 "<body><freejoint/><geom type='box' size='.2 .01 .1'/></body></worldbody>");
        scene s = open_scene(text);
        const double v[] = {k > 0 ? 20 : 0, 3, 1, 200, 150 + 20 * k, 100};
        memcpy(v_of(&s), v, sizeof v);
        zw_run_summary it = run(&s, ZW_METHOD_IMPULSE, 1.05, 0.035, 1);
        print_message("plate %d: energy %.4g -> %.4g, equations to %.1e\n", k, it.energy_start,
                      it.energy_end, it.certificate);
        assert_true(it.energy_end <= most * it.energy_start);
        assert_true(it.certificate <= 1e-9);
        close_scene(&s);
    }
}

/* The size of the angular momentum of a free body with this inertia in axes turned by `turn`. */
static double spin_of(const double inertia[3], const double turn[4], const double omega[3])
{
    double R[9], sum = 0;
    model_quat_matrix(turn, R);
    for (int k = 0; k < 3; k++) {
        double L = inertia[k] * (R[k] * omega[0] + R[3 + k] * omega[1] + R[6 + k] * omega[2]);
        sum += L * L;
    }
    return sqrt(sum);
}

static scene open_spinning(const double inertia[3], const double turn[4])
{
    char text[500];
    snprintf(text, sizeof text,
             "<option gravity='0 0 0'/><worldbody><body><freejoint/><inertial pos='0 0 0' mass='1'"
             " diaginertia='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'/></body></worldbody>",
             inertia[0], inertia[1], inertia[2], turn[0], turn[1], turn[2], turn[3]);
    return open_scene(text);
}

/* A body in the air keeps its energy and the size of its angular momentum, however long it spins:
 * balls, plates and needles, about any axis, from a hundredth of a radian in a step to thirty.
 * (With the moment of the start of a step they have 1e16 times their energy after 10 s.) */
static void nothing_spins_up(void **state)
{
    (void)state;
    const double h = 0.01;
    double worst = 0;
    dice d = dice_of(11);
    for (int k = 0; k < 200; k++) {
        double s[] = {1, dice_power(&d, -6, 0), dice_power(&d, -6, 0)}, turn[4], omega[3];
        const double inertia[] = {s[0] + s[1], s[0] + s[2], s[1] + s[2]};
        for (int i = 0; i < 7; i++) {
            *(i < 4 ? &turn[i] : &omega[i - 4]) = dice_bell(&d);
        }
        double fast = dice_power(&d, -2, 1.5) / h / sqrt(model_dot(omega, omega));
        assert_true(model_quat_unit(turn));
        scene it = open_spinning(inertia, turn);
        for (int i = 0; i < 3; i++) {
            v_of(&it)[3 + i] = omega[i] *= fast;
        }
        zw_run_summary sum = run(&it, ZW_METHOD_IMPULSE, 500 * h, h, 1);
        double energy = sum.energy_end / sum.energy_start - 1;
        double spin = spin_of(inertia, turn, v_of(&it) + 3) / spin_of(inertia, turn, omega) - 1;
        worst = fmax(worst, fmax(fabs(energy), fabs(spin)));
        assert_true(fabs(energy) < 1e-10 && fabs(spin) < 1e-10);
        close_scene(&it);
    }
    print_message("energy and angular momentum of 200 spinning bodies: %.1e off\n", worst);
}

/* In the axes of a body with inertia A, A, C the angular velocity turns about the third of them by
 * the angle a = (C/A - 1) omega_3 h in a step; the midpoint rule makes 2 atan(a/2) of it. */
static void spin_precesses(void **state)
{
    (void)state;
    const double inertia[] = {1, 1, 0.3}, turn[] = {1, 0, 0, 0}, h = 0.01;
    for (int k = 0; k < 2; k++) {
        scene s = open_spinning(inertia, turn);
        const double v[] = {20, 0, k == 0 ? 100 : 800};
        memcpy(v_of(&s) + 3, v, sizeof v);
        run(&s, ZW_METHOD_IMPULSE, h, h, 1);
        double by = atan2(v_of(&s)[4], v_of(&s)[3]), exact = -0.7 * v[2] * h;
        assert_true(fabs(by - 2 * atan(exact / 2)) < 1e-12);
        close_scene(&s);
    }
}

/* In a step of 1e9 s bodies fall by 1e19 m, of which the last digit is a kilometre. */
static void steps_beyond_round_off_are_refused(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        scene s =
            open_scene("<worldbody><body><freejoint/><geom type='box' size='.1 .2 .3'/></body>"
                       "<body pos='1 0 0'><freejoint/><geom size='.1'/></body></worldbody>");
        const zw_run_options options = {.time = 1e9,
                                        .every = 1e9,
                                        .step = 1e9,
                                        .method = ZW_METHOD_IMPULSE,
                                        .tolerance = k == 0 ? 1 : 1e-10};
        zw_error error = {0};
        assert_int_equal(zw_run(s.system, s.state, s.work, &options, NULL, &error), ZW_INACCURATE);
        assert_non_null(strstr(error.text, "take shorter steps"));
        close_scene(&s);
    }
}

/* Sixty arms turn, each to a post of its own at another angle behind it: all meet theirs in one
 * step, one after the other, where a plane between the two at the start says nothing about them,
 * and none is missed. */
static void sixty_meetings_in_a_step(void **state)
{
    (void)state;
    enum { ARMS = 60 };
    static char text[30000];
    size_t used = (size_t)snprintf(text, sizeof text, "<option gravity='0 0 0'/><worldbody>");
    for (int k = 0; k < ARMS; k++) {
        double at = 1.7 + 0.02 * k;
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<geom size='.02' pos='%.17g %.17g 0'/>"
                                 "<body pos='0 %d 0'><joint axis='0 0 1'/>"
                                 "<geom type='capsule' size='.01' fromto='.05 0 0 .4 0 0'/></body>",
                                 0.3 * cos(at), k + 0.3 * sin(at), k);
    }
    snprintf(text + used, sizeof text - used, "</worldbody>");
    scene s = open_scene(text);
    for (int k = 0; k < ARMS; k++) {
        v_of(&s)[k] = 3.2;
    }
    zw_run_summary it = run(&s, ZW_METHOD_IMPULSE, 1, 1, 1);
    assert_true(it.proved == 1);
    for (int k = 0; k < ARMS; k++) {
        assert_true(fabs(q_of(&s)[k] - (1.7 + 0.02 * k - asin(0.03 / 0.3))) < 1e-3);
    }
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_one),
        cmocka_unit_test(loops_do_not_drift),
        cmocka_unit_test(piles_rest),
        cmocka_unit_test(steps_are_the_run),
        cmocka_unit_test(nothing_makes_energy),
        cmocka_unit_test(nothing_spins_up),
        cmocka_unit_test(spin_precesses),
        cmocka_unit_test(steps_beyond_round_off_are_refused),
        cmocka_unit_test(sixty_meetings_in_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
