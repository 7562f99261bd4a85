/* The quantities that a model asks to show, found among its outputs; and many frames at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zwang/bodies.h"
#include "zwang/look.h"
#include "zwang/show.h"

typedef struct world {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
} world;

static world open_world(const char *text, const char *name)
{
    zw_error error = {0};
    world w = {.model = zw_model_parse(text, name, NULL, &error)};
    assert_non_null(w.model);
    w.system = zw_system_compile(w.model, NULL, &error);
    w.work = zw_work_create(w.system, &error);
    w.state = zw_state_create(w.system, w.work, NULL, &error);
    assert_non_null(w.state);
    return w;
}

static void close_world(world *w)
{
    zw_state_free(w->state);
    zw_work_free(w->work);
    zw_system_free(w->system);
    zw_model_free(w->model);
}

static void test_equations(void **unused)
{
    (void)unused;
    world w =
        open_world("param r = 0.25\ncoord x = 3, y = 4\nspeed x' = 5, y' = 6\nmass 1 at (x, y)\n"
                   "check x' within 1\nplot time x, 2*y\nplot phase x x'\n"
                   "draw line (0, 1) (x, y)\ndraw circle (y, x) radius r\n",
                   "a.zw");
    zw_view out = zw_field(w.system, w.state, w.work, ZW_FIELD_OUTPUT);
    assert_int_equal(zw_curve_count(w.system), 3);
    zw_curve second = zw_curve_of(w.system, 1), phase = zw_curve_of(w.system, 2);
    assert_int_equal(second.kind, ZW_PLOT_TIME);
    assert_int_equal(second.plot, 0);
    assert_true(out.data[second.output] == 0 && out.data[second.output + 1] == 8);
    assert_int_equal(phase.kind, ZW_PLOT_PHASE);
    assert_string_equal(phase.x_label, "x");
    assert_string_equal(phase.label, "x'");
    assert_true(out.data[phase.output] == 3 && out.data[phase.output + 1] == 5);
    assert_int_equal(zw_draw_count(w.system), 2);
    zw_draw line = zw_draw_of(w.system, 0), circle = zw_draw_of(w.system, 1);
    assert_true(line.kind == ZW_DRAW_LINE && line.points == 2 && line.dimension == 2);
    static const double ends[4] = {0, 1, 3, 4};
    for (int k = 0; k < 4; k++) {
        assert_true(out.data[line.output + k] == ends[k]);
        assert_int_equal(zw_output_is_fixed(w.system, line.output + k), k < 2);
    }
    assert_false(line.has_radius);
    assert_true(circle.kind == ZW_DRAW_CIRCLE && circle.has_radius);
    assert_true(out.data[circle.output + 2] == 0.25);
    assert_string_equal(zw_curve_of(w.system, 3).label, "");
    assert_string_equal(zw_draw_of(w.system, -1).text, "");
    close_world(&w);
}

/* One by one and together: the same numbers. */
static void test_frames(void **unused)
{
    (void)unused;
    zw_error error = {0};
    world w =
        open_world("<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='0.1' pos='1 0 0'/>"
                   "<body pos='1 0 0'><joint axis='1 0 0'/><geom size='0.2' pos='0 1 0'/></body>"
                   "</body></worldbody></mujoco>",
                   "a.xml");
    zw_run_options options = {.step = 0.01};
    for (int k = 0; k < 30; k++) {
        assert_int_equal(zw_step(w.system, w.state, w.work, &options, &error), ZW_OK);
    }
    zw_view out = zw_field(w.system, w.state, w.work, ZW_FIELD_OUTPUT);
    zw_view q = zw_field(w.system, w.state, w.work, ZW_FIELD_Q);
    zw_curve curve = zw_curve_of(w.system, 1); /* joints over time */
    assert_int_equal(zw_curve_count(w.system), 2);
    assert_true(out.data[curve.output] > 0.29 && out.data[curve.output + 1] == q.data[1]);
    assert_true(q.data[1] != 0);
    for (int i = 0; i < zw_draw_count(w.system); i++) {
        zw_draw draw = zw_draw_of(w.system, i);
        double radius = out.data[draw.output + draw.points * draw.dimension];
        assert_true(!draw.has_radius || radius == 0.1 || radius == 0.2);
    }
    zw_probe *probe = zw_probe_create(w.model, w.system, &error);
    zw_frame frame[3];
    zw_frame_motion all[3], one;
    double a[2] = {3, -2};
    for (int i = 0; i < 3; i++) {
        frame[i] = (zw_frame){.body = i, .pos = {0.1, 0.2, 0.3}, .quat = {1, 0, 0, 0}};
    }
    assert_int_equal(zw_frame_look(probe, w.state, frame, 3, a, all, &error), ZW_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(zw_frame_look(probe, w.state, &frame[i], 1, a, &one, &error), ZW_OK);
        assert_memory_equal(&one.pos, &all[i].pos, sizeof one.pos);
        assert_memory_equal(&one.quat, &all[i].quat, sizeof one.quat);
        assert_memory_equal(&one.acceleration, &all[i].acceleration, sizeof one.acceleration);
    }
    frame[1].body = 9;
    assert_int_equal(zw_frame_look(probe, w.state, frame, 3, a, all, &error), ZW_BAD_INPUT);
    zw_probe_free(probe);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_equations),
                                       cmocka_unit_test(test_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
