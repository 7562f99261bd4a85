/* Motions of examples are certified as motions; changes made to them are detected, with their time
 * and place. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "path/recorded.h"
#include "scene/campaign.h"

typedef struct example {
    const char *name;
    double time;
    long samples;
    const char *bumped;  /* coordinate, or NULL: none */
    const char *param;   /* is 0.1 % larger than it was; or NULL: nothing depends on one */
    const char *moves;   /* coordinates that it moves */
    const char *dropped; /* constraint, or NULL */
    const char *acts;    /* coordinates that it acts on */
    int rough;           /* there is friction `mu` */
} example;

static const example list[] = {
    {"pendulum", 5, 2500, "y", "g", " x y ", "rod", " x y ", 0},
    {"double_pendulum", 5, 2500, "x1", "m1", " x1 y1 x2 y2 ", "lower", " x1 y1 x2 y2 ", 0},
    {"double_pendulum_angles", 5, 2500, "th1", "m1", " th1 th2 ", NULL, NULL, 0},
    {"chaplygin_sleigh", 5, 2500, "th", "m", " x y th ", "edge", " x y ", 0},
    {"rolling_disk", 5, 2500, "phi", "A", " x y phi th psi ", "roll_x", " x th phi psi ", 0},
    {"bead_on_parabola", 0.8, 1600, "x", "g", " x y ", "wire", " x y ", 1},
    {"block_on_slope", 2, 1000, "x", "g", " x y ", "face", " x y ", 1},
    {"appell_hamel", 0.75, 1500, "z", "m", " x y z ", "climb", " x y z ", 0},
    {"snakeboard", 5, 2500, "th", "m", " x y th ", "front", " x y th ", 0},
    {"randers_circle", 5, 2500, "x", "b", " x y ", "circle", " x y ", 0},
    {"ball_on_turntable", 5, 2500, "x", "I", " x y p1 p2 ", "roll_x", " x p2 ", 0},
    {"lagrange_top", 5, 2500, "a2", "mgl", " a1 a2 a3 b1 b2 b3 c1 c2 c3 ", NULL, NULL, 0},
    {"bowling_ball", 3, 1500, NULL, NULL, NULL, NULL, NULL, 1},
    {"stick_slip", 3, 1500, NULL, NULL, NULL, NULL, NULL, 1},
    {"bouncing_ball", 4, 4000, NULL, "g", " y ", NULL, NULL, 0},
};
enum { EXAMPLES = sizeof list / sizeof *list };

static int flagged(const zw_trial_report *report)
{
    return report->verdict == ZW_VERDICT_NOT_MOTION || report->verdict == ZW_VERDICT_OFF;
}

/* Says what was found if it is not what was wanted; `names` with blanks around each. */
static void check(const char *what, const example *it, const zw_system *system,
                  const zw_trial_report *report, const char *names, double from, double to)
{
    char name[64];
    const char *coord =
        report->worst_coord < 0 ? "-" : zw_name(system, ZW_KIND_COORD, report->worst_coord);
    snprintf(name, sizeof name, " %s ", coord);
    int named = report->worst_coord >= 0 && strstr(names, name);
    int timely = report->worst_time >= from && report->worst_time <= to;
    if (!flagged(report) || !named || !timely) {
        print_error("%s, %s: verdict %d, worst %.3g with error %.3g at %.4g of %s\n", it->name,
                    what, (int)report->verdict, report->worst, report->worst_error,
                    report->worst_time, coord);
        fail();
    }
}

static void exact_motions_pass(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i += campaign_stride(3)) {
        recorded r =
            recorded_run(recorded_example(list[i].name, NULL, 0), list[i].time, list[i].samples);
        for (int speeds = 0; speeds < 2; speeds++) {
            zw_trial_report report = recorded_try(&r, r.system, speeds, NULL);
            if (report.verdict != ZW_VERDICT_MOTION) {
                print_error("%s: verdict %d, worst %.3g with error %.3g at %.4g, off %.3g %.3g\n",
                            list[i].name, (int)report.verdict, report.worst, report.worst_error,
                            report.worst_time, report.violation_position,
                            report.violation_velocity);
                fail();
            }
            assert_true(report.defect <= 9 * report.defect_error);
            assert_int_equal(report.speeds, speeds);
        }
        recorded_end(&r);
    }
}

static void bumps_of_a_millionth_are_seen(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i += campaign_stride(3)) {
        if (!list[i].bumped) {
            continue;
        }
        recorded r =
            recorded_run(recorded_example(list[i].name, NULL, 0), list[i].time, list[i].samples);
        char names[64];
        double width = 0.1 * list[i].time, middle = 0.5 * list[i].time;
        snprintf(names, sizeof names, " %s ", list[i].bumped);
        recorded_bump(&r, zw_id(r.system, ZW_KIND_COORD, list[i].bumped), 1e-6, middle, width);
        for (int speeds = 0; speeds < 2; speeds++) {
            zw_trial_report report = recorded_try(&r, r.system, speeds, NULL);
            check("bump", &list[i], r.system, &report, names, middle - width, middle + width);
        }
        recorded_end(&r);
    }
}

static double param_of(const zw_system *system, const char *name)
{
    return system->model->param[zw_id(system, ZW_KIND_PARAM, name)].value;
}

static void wrong_parameters_are_seen(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i += campaign_stride(3)) {
        recorded r =
            recorded_run(recorded_example(list[i].name, NULL, 0), list[i].time, list[i].samples);
        for (int rough = 0; rough < 2; rough++) {
            const char *name = rough ? "mu" : list[i].param;
            if (!name || (rough && !list[i].rough)) {
                continue;
            }
            const zw_setting setting = {name, param_of(r.system, name) * (rough ? 1.01 : 1.001)};
            zw_model *model = recorded_example(list[i].name, &setting, 1);
            zw_system *system = recorded_system(model);
            zw_trial_report report = recorded_try(&r, system, 1, NULL);
            check(name, &list[i], system, &report, list[i].moves ? list[i].moves : " x y v th ", 0,
                  list[i].time);
            zw_system_free(system);
            zw_model_free(model);
        }
        recorded_end(&r);
    }
}

static void dropped_constraints_are_seen(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i += campaign_stride(3)) {
        if (!list[i].dropped) {
            continue;
        }
        recorded r =
            recorded_run(recorded_example(list[i].name, NULL, 0), list[i].time, list[i].samples);
        zw_model *model = recorded_without(list[i].name, list[i].dropped);
        zw_system *system = recorded_system(model);
        zw_trial_report report = recorded_try(&r, system, 0, NULL);
        check("dropped", &list[i], system, &report, list[i].acts, 0, list[i].time);
        zw_system_free(system);
        zw_model_free(model);
        recorded_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_motions_pass),
        cmocka_unit_test(bumps_of_a_millionth_are_seen),
        cmocka_unit_test(wrong_parameters_are_seen),
        cmocka_unit_test(dropped_constraints_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
