/* Worlds of every kind in a batch: by steps and by runs, in any number of threads, each has the
 * bits of its motion alone; and a world that fails disturbs no other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "zwang/batch.h"
#include "zwang/bodies.h"

enum { WORLDS = 12, STEPS = 25 };

typedef struct scene {
    const char *file; /* in examples/ */
    double step;      /* 0: the file's */
    zw_contact_law contact;
    double run; /* final time of the run; 0: steps only */
} scene;

static const scene scenes[] = {
    {"double_pendulum.zw", 0.01, ZW_CONTACT_DEFAULT, 1},
    {"bouncing_ball.zw", 0.02, ZW_CONTACT_DEFAULT, 2},
    {"sliding_ladder.zw", 0.01, ZW_CONTACT_DEFAULT, 0.3},
    {"chaplygin_sleigh.zw", 0.01, ZW_CONTACT_DEFAULT, 1},
    {"stick_slip.zw", 0.01, ZW_CONTACT_DEFAULT, 1},
    {"bodies/humanoid.xml", 0.002, ZW_CONTACT_DEFAULT, 0.02},
    {"bodies/quadruped.xml", 0.002, ZW_CONTACT_DEFAULT, 0.02},
    {"bodies/cart_pole.xml", 0.01, ZW_CONTACT_DEFAULT, 0.5},
    {"contact/humanoid_falls.xml", 0, ZW_CONTACT_DEFAULT, 0.1},
    {"contact/humanoid_falls.xml", 0, ZW_CONTACT_SOFT, 0.1},
    {"contact/dominoes.xml", 0, ZW_CONTACT_DEFAULT, 0},
};

typedef struct stage {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *start;
    zw_error error;
} stage;

static stage stage_of(const char *file)
{
    char path[400];
    stage s = {0};
    snprintf(path, sizeof path, "%s/examples/%s", ZW_SOURCE_DIR, file);
    s.model = zw_model_read(path, NULL, &s.error);
    s.system = s.model ? zw_system_compile(s.model, NULL, &s.error) : NULL;
    s.work = s.system ? zw_work_create(s.system, &s.error) : NULL;
    s.start = s.work ? zw_state_create(s.system, s.work, NULL, &s.error) : NULL;
    if (!s.start) {
        print_error("%s: %s\n", file, s.error.text);
    }
    assert_non_null(s.start);
    return s;
}

static stage stage_of_text(const char *text)
{
    stage s = {0};
    s.model = zw_model_parse(text, "text.xml", NULL, &s.error);
    s.system = s.model ? zw_system_compile(s.model, NULL, &s.error) : NULL;
    s.work = s.system ? zw_work_create(s.system, &s.error) : NULL;
    s.start = s.work ? zw_state_create(s.system, s.work, NULL, &s.error) : NULL;
    assert_non_null(s.start);
    return s;
}

static void stage_end(stage *s)
{
    zw_state_free(s->start);
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
}

static double spread(int world, int k)
{
    return 0.3 * sin(1.7 * world + 0.9 * k);
}

/* What world i starts with: other speeds, other controls. Speeds of .zw files may be tied by
 * constraints; what is written is brought onto them. */
static void vary(int world, double *v, int n, double *param, int controls)
{
    for (int k = 0; k < n; k++) {
        v[k] += spread(world, k);
    }
    for (int k = 0; k < controls; k++) {
        param[k] = spread(world + 7, k);
    }
}

static int controls_of(const stage *s)
{
    return zw_model_count(s->model, ZW_KIND_ACTUATOR);
}

/* The same world alone, its speeds and controls written by zw_state_set. */
static zw_state *begin_alone(stage *s, int world)
{
    double v[200], param[200];
    zw_state *state = NULL;
    assert_int_equal(zw_state_copy(s->start, &state, &s->error), ZW_OK);
    zw_view vs = zw_field(s->system, state, s->work, ZW_FIELD_V);
    zw_view ps = zw_field(s->system, state, s->work, ZW_FIELD_PARAM);
    assert_in_range(vs.count, 1, 200);
    assert_in_range(ps.count, 0, 200);
    memcpy(v, vs.data, (size_t)vs.count * sizeof *v);
    memcpy(param, ps.data, (size_t)ps.count * sizeof *param);
    vary(world, v, vs.count, param, controls_of(s));
    if (controls_of(s) > 0) {
        assert_int_equal(
            zw_state_set(s->system, state, s->work, ZW_FIELD_PARAM, 0, ps.count, param, &s->error),
            ZW_OK);
    }
    zw_status status =
        zw_state_set(s->system, state, s->work, ZW_FIELD_V, 0, vs.count, v, &s->error);
    if (status != ZW_OK) {
        print_error("%s\n", s->error.text);
    }
    assert_int_equal(status, ZW_OK);
    return state;
}

static zw_batch *begin_batch(stage *s, int threads)
{
    zw_batch *batch = zw_batch_create(
        &(zw_batch_def){.system = s->system, .worlds = WORLDS, .threads = threads}, &s->error);
    if (!batch) {
        print_error("%s\n", s->error.text);
    }
    assert_non_null(batch);
    for (int i = 0; i < WORLDS; i++) {
        vary(i, zw_batch_field(batch, i, ZW_FIELD_V), zw_count(s->system, ZW_KIND_SPEED),
             zw_batch_field(batch, i, ZW_FIELD_PARAM), controls_of(s));
    }
    return batch;
}

static void same(const stage *s, zw_batch *batch, int world, const zw_state *state,
                 zw_status status)
{
    static const zw_field_id fields[] = {ZW_FIELD_TIME, ZW_FIELD_Q, ZW_FIELD_V, ZW_FIELD_PARAM};
    assert_int_equal(zw_batch_look(batch, world).status, status);
    for (int k = 0; k < 4; k++) {
        zw_view view = zw_field(s->system, state, s->work, fields[k]);
        assert_memory_equal(zw_batch_field(batch, world, fields[k]), view.data,
                            (size_t)view.count * sizeof *view.data);
    }
}

static void check_steps(const scene *it, int threads)
{
    stage s = stage_of(it->file);
    zw_batch *batch = begin_batch(&s, threads);
    zw_run_options options = {.step = it->step, .contact = it->contact};
    zw_batch_step(batch, &options, STEPS - 1, 0, NULL);
    zw_batch_step(batch, &options, 1, ZW_BATCH_SENSE, NULL);
    for (int i = 0; i < WORLDS; i++) {
        zw_state *state = begin_alone(&s, i);
        zw_status status = ZW_OK;
        for (int k = 0; k < STEPS && status == ZW_OK; k++) {
            status = zw_step(s.system, state, s.work, &options, NULL);
        }
        same(&s, batch, i, state, status);
        if (status == ZW_OK && zw_look(s.system, state, s.work, NULL) == ZW_OK) {
            zw_view a = zw_field(s.system, state, s.work, ZW_FIELD_A);
            assert_memory_equal(zw_batch_field(batch, i, ZW_FIELD_A), a.data,
                                (size_t)a.count * sizeof *a.data);
        }
        zw_state_free(state);
    }
    zw_batch_free(batch);
    stage_end(&s);
}

static void check_run(const scene *it, int threads)
{
    stage s = stage_of(it->file);
    zw_batch *batch = begin_batch(&s, threads);
    zw_run_options options = {.time = it->run, .contact = it->contact};
    zw_batch_run(batch, &options, NULL);
    for (int i = 0; i < WORLDS; i++) {
        zw_state *state = begin_alone(&s, i);
        zw_run_summary summary;
        zw_status status = zw_run(s.system, state, s.work, &options, &summary, NULL);
        same(&s, batch, i, state, status);
        if (status == ZW_OK) {
            assert_int_equal(zw_batch_look(batch, i).steps, summary.steps);
            assert_int_equal(zw_batch_look(batch, i).stopped_by, summary.stopped_by);
        }
        zw_state_free(state);
    }
    zw_batch_free(batch);
    stage_end(&s);
}

static void test_steps_are_worlds_alone(void **unused)
{
    (void)unused;
    static const int threads[] = {1, 2, 3, 7};
    for (int k = 0; k < (int)(sizeof scenes / sizeof *scenes); k++) {
        check_steps(&scenes[k], threads[k % 4]);
    }
}

static void test_runs_are_worlds_alone(void **unused)
{
    (void)unused;
    static const int threads[] = {2, 7, 1, 3};
    for (int k = 0; k < (int)(sizeof scenes / sizeof *scenes); k++) {
        if (scenes[k].run > 0) {
            check_run(&scenes[k], threads[k % 4]);
        }
    }
}

/* One world gets what cannot be; the others have the bits of a batch without it. */
static void test_a_poisoned_world(void **unused)
{
    (void)unused;
    enum { POISONED = 5 };
    stage s = stage_of("contact/humanoid_falls.xml");
    zw_batch *sound = begin_batch(&s, 2), *batch = begin_batch(&s, 2);
    int n = zw_count(s.system, ZW_KIND_SPEED), nq = zw_count(s.system, ZW_KIND_COORD);
    zw_run_options options = {0};
    zw_batch_field(batch, POISONED, ZW_FIELD_V)[3] = NAN;
    assert_int_equal(zw_batch_step(batch, &options, 10, 0, &s.error), ZW_BAD_INPUT);
    assert_non_null(strstr(s.error.text, "world 5: "));
    assert_non_null(zw_batch_why(batch, POISONED));
    assert_null(zw_batch_why(batch, 0));
    assert_int_equal(zw_batch_step(sound, &options, 10, 0, &s.error), ZW_OK);
    for (int i = 0; i < WORLDS; i++) {
        if (i != POISONED) {
            assert_memory_equal(zw_batch_field(batch, i, ZW_FIELD_Q),
                                zw_batch_field(sound, i, ZW_FIELD_Q), (size_t)nq * sizeof(double));
        }
    }

    unsigned char mask[WORLDS] = {[POISONED] = 1};
    assert_int_equal(zw_batch_reset(batch, mask, NULL, &s.error), ZW_OK);
    zw_view v = zw_field(s.system, s.start, s.work, ZW_FIELD_V);
    assert_memory_equal(zw_batch_field(batch, POISONED, ZW_FIELD_V), v.data,
                        (size_t)n * sizeof(double));
    assert_int_equal(zw_batch_step(batch, &options, 1, 0, &s.error), ZW_OK);
    assert_true(zw_batch_look(batch, POISONED).steps == 1);

    /* the state of one world goes to all */
    zw_state *copy = NULL;
    assert_int_equal(zw_state_copy(zw_batch_state(batch, 2), &copy, &s.error), ZW_OK);
    assert_int_equal(zw_batch_reset(batch, NULL, copy, &s.error), ZW_OK);
    assert_int_equal(zw_batch_step(batch, &options, 5, 0, &s.error), ZW_OK);
    for (int i = 1; i < WORLDS; i++) {
        assert_true(zw_state_hash(zw_batch_state(batch, i)) ==
                    zw_state_hash(zw_batch_state(batch, 0)));
    }
    zw_state_free(copy);
    zw_batch_free(batch);
    zw_batch_free(sound);
    stage_end(&s);
}

/* Poses of mocap bodies are the end of Q: what is welded to them follows, as after zw_state_set,
 * and is not moved there at once, as if its own coordinates had been written as well. */
static void test_mocap(void **unused)
{
    (void)unused;
    enum { POSE = 7, MOVED = 7 };
    stage s = stage_of_text(
        "<mujoco><option timestep='0.005'/><worldbody><geom type='plane' size='1 1 1'/>"
        "<body name='hand' mocap='true' pos='0 0 0.5'><geom size='0.02' contype='0'/></body>"
        "<body name='box' pos='0 0 0.5'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
        "</worldbody><equality><weld body1='hand' body2='box'/></equality></mujoco>");
    static const zw_contact_law laws[] = {ZW_CONTACT_DEFAULT, ZW_CONTACT_SOFT};
    for (int k = 0; k < 2; k++) {
        zw_run_options options = {.contact = laws[k]};
        zw_batch *batch = zw_batch_create(
            &(zw_batch_def){.system = s.system, .worlds = WORLDS, .threads = 2}, &s.error);
        zw_state *alone = NULL;
        assert_non_null(batch);
        assert_int_equal(zw_state_copy(s.start, &alone, &s.error), ZW_OK);
        for (int i = 0; i < STEPS; i++) {
            const double pose[POSE] = {0.01 * i, 0, 0.5 - 0.01 * i, 1, 0, 0, 0};
            for (int w = 0; w < WORLDS; w++) {
                memcpy(zw_batch_field(batch, w, ZW_FIELD_Q) + MOVED, pose, sizeof pose);
            }
            assert_int_equal(zw_batch_step(batch, &options, 1, 0, &s.error), ZW_OK);
            assert_int_equal(
                zw_state_set(s.system, alone, s.work, ZW_FIELD_MOCAP, 0, POSE, pose, &s.error),
                ZW_OK);
            assert_int_equal(zw_step(s.system, alone, s.work, &options, &s.error), ZW_OK);
            zw_view q = zw_field(s.system, alone, s.work, ZW_FIELD_Q);
            assert_int_equal(q.count, MOVED + POSE);
            assert_memory_equal(zw_batch_field(batch, 3, ZW_FIELD_Q), q.data,
                                (size_t)q.count * sizeof(double));
        }
        zw_state_free(alone);
        zw_batch_free(batch);
    }
    stage_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_are_worlds_alone),
        cmocka_unit_test(test_runs_are_worlds_alone),
        cmocka_unit_test(test_a_poisoned_world),
        cmocka_unit_test(test_mocap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
