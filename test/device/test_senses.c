/* Sensors and accelerations of batches by the soft law: whether worlds step eight at a time, on an
 * emulated device or on a GPU, each has the bits of zw_step and zw_look on its state alone, and
 * before the first step those of zw_forward by the soft law. */
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

enum { WORLDS = 11, CALLS = 5, STEPS = 30 };

typedef struct stage {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_error error;
} stage;

static stage stage_of(const char *file, const char *text)
{
    char path[400];
    stage s = {0};
    snprintf(path, sizeof path, "%s/%s", ZW_SOURCE_DIR, file);
    s.model =
        text ? zw_model_parse(text, file, NULL, &s.error) : zw_model_read(path, NULL, &s.error);
    s.system = s.model ? zw_system_compile(s.model, NULL, &s.error) : NULL;
    s.work = s.system ? zw_work_create(s.system, &s.error) : NULL;
    if (!s.work) {
        print_error("%s: %s\n", file, s.error.text);
    }
    assert_non_null(s.work);
    return s;
}

static void stage_end(stage *s)
{
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
}

static void same(const stage *s, zw_batch *batch, int world, const zw_state *state)
{
    static const zw_field_id fields[] = {ZW_FIELD_A, ZW_FIELD_SENSOR};
    for (int k = 0; k < 2; k++) {
        zw_view view = zw_field(s->system, state, s->work, fields[k]);
        const double *seen = zw_batch_field(batch, world, fields[k]);
        for (int i = 0; i < view.count; i++) {
            if (memcmp(&view.data[i], &seen[i], sizeof *seen) != 0) {
                print_error("world %d, %s: %.17g alone, %.17g in the batch\n", world,
                            k ? zw_name(s->system, ZW_KIND_READING, i) : "an acceleration",
                            view.data[i], seen[i]);
            }
        }
        assert_memory_equal(seen, view.data, (size_t)view.count * sizeof *seen);
    }
}

/* Other controls in each call, and in the first other speeds. */
static double wave(int world, int call, int k)
{
    return 0.3 * sin(1.7 * world + 2.3 * call + 0.9 * k);
}

static void vary(const stage *s, zw_batch *batch, zw_state **alone, int call)
{
    int n = zw_count(s->system, ZW_KIND_SPEED),
        controls = zw_model_count(s->model, ZW_KIND_ACTUATOR);
    for (int i = 0; i < WORLDS; i++) {
        double v[64], u[64];
        for (int k = 0; k < n; k++) {
            v[k] = wave(i, call, k);
        }
        for (int k = 0; k < controls; k++) {
            u[k] = wave(i, call, k + 7);
        }
        if (call == 0) {
            memcpy(zw_batch_field(batch, i, ZW_FIELD_V), v, (size_t)n * sizeof *v);
            zw_state_set(s->system, alone[i], s->work, ZW_FIELD_V, 0, n, v, NULL);
        }
        memcpy(zw_batch_field(batch, i, ZW_FIELD_PARAM), u, (size_t)controls * sizeof *u);
        zw_state_set(s->system, alone[i], s->work, ZW_FIELD_PARAM, 0, controls, u, NULL);
    }
}

static zw_batch *batch_on(stage *s, const char *device)
{
    const zw_batch_def def = {
        .system = s->system, .worlds = WORLDS, .threads = 2, .device = device};
    zw_batch *batch = zw_batch_create(&def, &s->error);
    if (!batch) {
        print_error("%s\n", s->error.text);
    }
    assert_non_null(batch);
    return batch;
}

static void check(const char *file, const char *device)
{
    const zw_run_options soft = {.contact = ZW_CONTACT_SOFT};
    stage s = stage_of(file, NULL);
    zw_batch *batch = batch_on(&s, device);
    zw_state *alone[WORLDS];
    for (int i = 0; i < WORLDS; i++) {
        alone[i] = zw_state_create(s.system, s.work, NULL, &s.error);
    }
    for (int call = 0; call < CALLS; call++) {
        int steps = call == 0 ? 0 : STEPS;
        vary(&s, batch, alone, call);
        assert_int_equal(zw_batch_step(batch, &soft, steps, ZW_BATCH_SENSE, &s.error), ZW_OK);
        for (int i = 0; i < WORLDS; i++) {
            for (int k = 0; k < steps; k++) {
                assert_int_equal(zw_step(s.system, alone[i], s.work, &soft, &s.error), ZW_OK);
            }
            zw_status status = steps > 0 ? zw_look(s.system, alone[i], s.work, &s.error)
                                         : zw_forward(s.system, alone[i], s.work, &soft, &s.error);
            assert_int_equal(status, ZW_OK);
            same(&s, batch, i, alone[i]);
        }
    }
    for (int i = 0; i < WORLDS; i++) {
        zw_state_free(alone[i]);
    }
    zw_batch_free(batch);
    stage_end(&s);
}

static void on(const char *device)
{
    check("test/device/senses.xml", device);
    check("test/device/hulls.xml", device);
    check("examples/contact/humanoid_falls.xml", device);
    check("examples/bodies/flyball_governor.xml", device);
}

static void worlds_sense_as_alone(void **state)
{
    (void)state;
    on(NULL);
}

static void an_emulated_device_senses(void **state)
{
    (void)state;
    on("emulated");
}

static void a_gpu_senses(void **state)
{
    (void)state;
    stage s = stage_of("examples/bodies/cart_pole.xml", NULL);
    const zw_batch_def def = {.system = s.system, .worlds = 1, .device = "cuda"};
    zw_batch *batch = zw_batch_create(&def, &s.error);
    int there = batch != NULL;
    if (!there) {
        print_message("skipped: %s\n", s.error.text);
    }
    zw_batch_free(batch);
    stage_end(&s);
    if (!there) {
        skip();
    }
    on("cuda");
}

/* With ZW_BATCH_STAY nothing is copied until it is asked for; the fields are addresses there, and
 * cannot be set. A world that has failed keeps what it had. */
static void readings_stay_on_the_device(void **state)
{
    (void)state;
    const zw_run_options soft = {.contact = ZW_CONTACT_SOFT};
    stage s = stage_of("test/device/senses.xml", NULL);
    zw_batch *batch = batch_on(&s, "emulated");
    const double *seen = zw_batch_field(batch, 0, ZW_FIELD_SENSOR);
    double *there = zw_batch_device_field(batch, ZW_FIELD_SENSOR);
    int count = zw_count(s.system, ZW_KIND_READING);
    assert_non_null(there);
    assert_int_equal(zw_batch_step(batch, &soft, 3, ZW_BATCH_SENSE | ZW_BATCH_STAY, &s.error),
                     ZW_OK);
    assert_true(seen[0] == 0 && there[0] != 0);
    assert_int_equal(zw_batch_pull(batch, &s.error), ZW_OK);
    assert_memory_equal(seen, there, (size_t)(WORLDS * count) * sizeof *seen);
    assert_int_not_equal(zw_batch_push(batch, ZW_FIELD_SENSOR, &s.error), ZW_OK);
    double before = zw_batch_field(batch, 4, ZW_FIELD_SENSOR)[0];
    zw_batch_field(batch, 4, ZW_FIELD_PARAM)[0] = NAN;
    assert_int_not_equal(zw_batch_step(batch, &soft, 3, ZW_BATCH_SENSE, &s.error), ZW_OK);
    assert_true(zw_batch_field(batch, 4, ZW_FIELD_SENSOR)[0] == before);
    assert_true(isfinite(zw_batch_field(batch, 5, ZW_FIELD_SENSOR)[0]));
    zw_batch_free(batch);
    stage_end(&s);
}

static void refuse(const char *text, const zw_run_options *options, const char *why)
{
    stage s = stage_of("refused.xml", text);
    zw_batch *batch = batch_on(&s, "emulated");
    assert_int_not_equal(zw_batch_step(batch, options, 1, ZW_BATCH_SENSE, &s.error), ZW_OK);
    if (!strstr(s.error.text, why)) {
        print_error("%s\n", s.error.text);
    }
    assert_non_null(strstr(s.error.text, why));
    assert_int_equal(zw_batch_step(batch, options, 1, 0, &s.error), ZW_OK); /* without them */
    zw_batch_free(batch);
    stage_end(&s);
}

static void what_is_not_there_is_refused_by_name(void **state)
{
    static const char eye[] =
        "<mujoco><option timestep='1e-3'/><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>"
        "</asset><worldbody><geom type='mesh' mesh='m' contype='0' conaffinity='0'/>"
        "<body pos='0 0 2'><freejoint/><geom size='.1'/><site name='eye'/></body></worldbody>"
        "<sensor><rangefinder site='eye'/></sensor></mujoco>";
    static const char ball[] = "<mujoco><option timestep='1e-3'/><worldbody>"
                               "<body pos='0 0 2'><freejoint/><geom size='.1'/></body></worldbody>"
                               "</mujoco>";
    const zw_run_options soft = {.contact = ZW_CONTACT_SOFT};
    const zw_run_options once = {.method = ZW_METHOD_IMPULSE, .tolerance = 1, .memoryless = 1};
    (void)state;
    refuse(eye, &soft, "rangefinders that may see meshes");
    refuse(ball, &once, "Coulomb's law");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_sense_as_alone),
        cmocka_unit_test(an_emulated_device_senses),
        cmocka_unit_test(readings_stay_on_the_device),
        cmocka_unit_test(what_is_not_there_is_refused_by_name),
        cmocka_unit_test(a_gpu_senses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
