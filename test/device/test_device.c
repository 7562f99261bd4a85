/* Worlds on a device: the emulated one has the bits of zw_batch_step, whatever the calls are cut
 * into; a world that fails disturbs no other, stands still and is named; what a device does not
 * know is refused by name. The same on a GPU where there is one, and else that is skipped. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zwang/batch.h"
#include "zwang/bodies.h"

enum { WORLDS = 6, FIELDS = 5 };

static const zw_field_id fields[FIELDS] = {ZW_FIELD_TIME, ZW_FIELD_PARAM, ZW_FIELD_Q, ZW_FIELD_V,
                                           ZW_FIELD_ACTIVATION};

typedef struct scene {
    const char *file; /* in examples/ or test/device/ */
    double step;      /* 0: the file's */
    int steps;
} scene;

static const scene scenes[] = {
    {"examples/bodies/cart_pole.xml", 0.01, 60},
    {"examples/bodies/humanoid.xml", 0.002, 40},
    {"examples/bodies/quadruped.xml", 0.002, 40},
    {"examples/bodies/flyball_governor.xml", 0.002, 40},
    {"examples/bodies/servo.xml", 0.002, 40},
    {"examples/bodies/gripper.xml", 0.002, 40},
    {"examples/contact/humanoid_falls.xml", 0, 80},
    {"examples/contact/quadruped.xml", 0, 80},
    {"examples/contact/gripper_capsule.xml", 0, 40},
    {"examples/contact/newtons_cradle.xml", 0, 40},
    {"examples/contact/dominoes.xml", 0, 30},
    {"examples/contact/tippe_top.xml", 0, 40},
};

typedef struct stage {
    zw_model *model;
    zw_system *system;
    zw_error error;
} stage;

static stage stage_of(const char *file)
{
    char path[400];
    stage s = {0};
    snprintf(path, sizeof path, "%s/%s", ZW_SOURCE_DIR, file);
    s.model = zw_model_read(path, NULL, &s.error);
    s.system = s.model ? zw_system_compile(s.model, NULL, &s.error) : NULL;
    if (!s.system) {
        print_error("%s: %s\n", file, s.error.text);
    }
    assert_non_null(s.system);
    return s;
}

static void stage_end(stage *s)
{
    zw_system_free(s->system);
    zw_model_free(s->model);
}

static zw_batch *batch_on(stage *s, const char *device, int points)
{
    const zw_batch_def def = {.system = s->system,
                              .worlds = WORLDS,
                              .threads = 1,
                              .device = device,
                              .contact_capacity = points};
    zw_batch *batch = zw_batch_create(&def, &s->error);
    if (!batch) {
        print_error("%s\n", s->error.text);
    }
    assert_non_null(batch);
    return batch;
}

static double spread(int world, int k)
{
    return 0.3 * sin(1.7 * world + 0.9 * k);
}

/* Other speeds and controls in every world. */
static void vary(stage *s, zw_batch *batch, int round)
{
    int n = zw_count(s->system, ZW_KIND_SPEED), params = zw_count(s->system, ZW_KIND_PARAM);
    int controls = zw_model_count(s->model, ZW_KIND_ACTUATOR);
    for (int i = 0; i < WORLDS; i++) {
        double *v = zw_batch_field(batch, i, ZW_FIELD_V);
        double *param = zw_batch_field(batch, i, ZW_FIELD_PARAM);
        for (int k = 0; k < n && round == 0; k++) {
            v[k] += spread(i, k);
        }
        for (int k = 0; k < controls && k < params; k++) {
            param[k] = spread(i + 7 + 3 * round, k);
        }
    }
}

static void assert_same(zw_batch *a, zw_batch *b, const char *what)
{
    for (int k = 0; k < FIELDS; k++) {
        long count = WORLDS * (zw_batch_field(a, 1, fields[k]) - zw_batch_field(a, 0, fields[k]));
        const double *x = zw_batch_field(a, 0, fields[k]), *y = zw_batch_field(b, 0, fields[k]);
        for (long i = 0; i < count; i++) {
            if (memcmp(&x[i], &y[i], sizeof *x) != 0) {
                print_error("%s: field %d, number %ld: %.17g on the processor, %.17g\n", what, k, i,
                            x[i], y[i]);
            }
            assert_memory_equal(&x[i], &y[i], sizeof *x);
        }
    }
}

static void check_scene(const char *device, const scene *it)
{
    stage s = stage_of(it->file);
    zw_batch *here = batch_on(&s, NULL, 0), *there = batch_on(&s, device, 0);
    zw_run_options options = {.step = it->step, .contact = ZW_CONTACT_SOFT};
    for (int round = 0; round < 4; round++) { /* pieces; controls change between them */
        vary(&s, here, round);
        vary(&s, there, round);
        int steps = it->steps / 4 + round;
        zw_status a = zw_batch_step(here, &options, steps, 0, &s.error);
        if (a != ZW_OK) {
            print_error("%s: %s\n", it->file, s.error.text);
        }
        zw_status b = zw_batch_step(there, &options, steps, 0, &s.error);
        if (b != ZW_OK) {
            print_error("%s: %s\n", it->file, s.error.text);
        }
        assert_int_equal(a, ZW_OK);
        assert_int_equal(b, ZW_OK);
        assert_same(here, there, it->file);
        assert_int_equal(zw_batch_look(there, 2).steps, steps);
    }
    zw_batch_free(here);
    zw_batch_free(there);
    stage_end(&s);
}

/* The GPU, or NULL: it is said why there is none, and the test is skipped. */
static const char *gpu(void)
{
    stage s = stage_of("examples/bodies/cart_pole.xml");
    const zw_batch_def def = {.system = s.system, .worlds = 1, .device = "cuda"};
    zw_batch *batch = zw_batch_create(&def, &s.error);
    if (!batch) {
        print_message("skipped: %s\n", s.error.text);
    }
    zw_batch_free(batch);
    stage_end(&s);
    return batch ? "cuda" : NULL;
}

static void emulated_has_the_bits(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        check_scene("emulated", &scenes[k]);
    }
}

static void gpu_has_the_bits(void **state)
{
    (void)state;
    const char *device = gpu();
    for (size_t k = 0; device && k < sizeof scenes / sizeof *scenes; k++) {
        check_scene(device, &scenes[k]);
    }
    if (!device) {
        skip();
    }
}

/* One world is written to: nonsense, or so fast that its step fails. It stands still, is named,
 * and goes on after a reset; the others have the bits of a batch without it. */
static void check_poison(const char *device, zw_field_id field, double value)
{
    enum { BAD = 3 };
    stage s = stage_of("examples/contact/humanoid_falls.xml");
    zw_batch *well = batch_on(&s, device, 0), *ill = batch_on(&s, device, 0);
    zw_run_options options = {.contact = ZW_CONTACT_SOFT};
    zw_batch_field(ill, BAD, field)[2] = value;
    assert_int_equal(zw_batch_step(well, &options, 20, 0, &s.error), ZW_OK);
    zw_status status = zw_batch_step(ill, &options, 20, 0, &s.error);
    if (status == ZW_OK) {
        print_error("field %d = %g went unnoticed\n", (int)field, value);
    }
    assert_int_not_equal(status, ZW_OK);
    assert_non_null(strstr(s.error.text, "world 3: "));
    assert_non_null(zw_batch_why(ill, BAD));
    assert_int_not_equal(zw_batch_look(ill, BAD).status, ZW_OK);
    zw_batch_step(ill, &options, 5, 0, &s.error);
    zw_batch_step(well, &options, 5, 0, &s.error);
    for (int i = 0; i < WORLDS; i++) {
        for (int k = 0; k < FIELDS && i != BAD; k++) {
            size_t bytes = sizeof(double) * (size_t)(zw_batch_field(well, 1, fields[k]) -
                                                     zw_batch_field(well, 0, fields[k]));
            assert_memory_equal(zw_batch_field(well, i, fields[k]),
                                zw_batch_field(ill, i, fields[k]), bytes);
        }
    }
    unsigned char mask[WORLDS] = {[BAD] = 1};
    assert_int_equal(zw_batch_reset(ill, mask, NULL, &s.error), ZW_OK);
    assert_true(*zw_batch_field(ill, BAD, ZW_FIELD_TIME) == 0);
    assert_int_equal(zw_batch_step(ill, &options, 20, 0, &s.error), ZW_OK);
    assert_int_equal(zw_batch_step(well, &options, 20, 0, &s.error), ZW_OK);
    assert_true(*zw_batch_field(ill, BAD, ZW_FIELD_TIME) < *zw_batch_field(ill, 0, ZW_FIELD_TIME));
    zw_batch_free(well);
    zw_batch_free(ill);
    stage_end(&s);
}

static void a_poisoned_world_harms_no_other(void **state)
{
    (void)state;
    check_poison("emulated", ZW_FIELD_PARAM, NAN);
    check_poison("emulated", ZW_FIELD_V, 1e300);
}

/* The same where nothing on the way looks at what is put into the device's memory. */
static void check_poison_inside(const char *device, zw_field_id field, double value)
{
    enum { BAD = 3 };
    stage s = stage_of("examples/contact/humanoid_falls.xml");
    zw_batch *well = batch_on(&s, device, 0), *ill = batch_on(&s, device, 0);
    zw_run_options options = {.contact = ZW_CONTACT_SOFT};
    assert_int_equal(zw_batch_step(well, &options, 1, 0, &s.error), ZW_OK);
    assert_int_equal(zw_batch_step(ill, &options, 1, 0, &s.error), ZW_OK);
    zw_batch_field(ill, BAD, field)[4] = value; /* of its turning */
    assert_int_equal(zw_batch_push(ill, field, &s.error), ZW_OK);
    assert_int_equal(zw_batch_step(well, &options, 20, ZW_BATCH_STAY, &s.error), ZW_OK);
    assert_int_not_equal(zw_batch_step(ill, &options, 20, ZW_BATCH_STAY, &s.error), ZW_OK);
    assert_non_null(zw_batch_why(ill, BAD));
    assert_int_equal(zw_batch_pull(well, &s.error), ZW_OK);
    assert_int_equal(zw_batch_pull(ill, &s.error), ZW_OK);
    for (int i = 0; i < WORLDS; i++) {
        for (int k = 0; k < FIELDS && i != BAD; k++) {
            size_t bytes = sizeof(double) * (size_t)(zw_batch_field(well, 1, fields[k]) -
                                                     zw_batch_field(well, 0, fields[k]));
            assert_memory_equal(zw_batch_field(well, i, fields[k]),
                                zw_batch_field(ill, i, fields[k]), bytes);
        }
    }
    zw_batch_free(well);
    zw_batch_free(ill);
    stage_end(&s);
}

static void a_world_poisoned_on_the_device_harms_no_other(void **state)
{
    (void)state;
    const char *device[2] = {"emulated", gpu()};
    for (int k = 0; k < 2 && device[k]; k++) {
        check_poison_inside(device[k], ZW_FIELD_V, NAN);
        check_poison_inside(device[k], ZW_FIELD_V, 1e300);
        check_poison_inside(device[k], ZW_FIELD_Q, INFINITY);
    }
}

/* More contacts than there is room for: the world says how many, and stands where it was. */
static void room_for_contacts_is_counted(void **state)
{
    (void)state;
    stage s = stage_of("examples/contact/humanoid_falls.xml");
    zw_batch *batch = batch_on(&s, "emulated", 2);
    zw_run_options options = {.contact = ZW_CONTACT_SOFT};
    zw_status status = zw_batch_step(batch, &options, 400, 0, &s.error);
    assert_int_equal(status, ZW_TOO_LARGE);
    assert_non_null(strstr(s.error.text, "contacts, more than a world on the device has room for"));
    double t = *zw_batch_field(batch, 0, ZW_FIELD_TIME);
    assert_int_equal(zw_batch_step(batch, &options, 3, 0, &s.error), ZW_OK); /* none is left */
    assert_true(t == *zw_batch_field(batch, 0, ZW_FIELD_TIME));
    zw_batch_free(batch);
    stage_end(&s);
}

/* Worlds of systems that differ, by steps in pieces that stay on the device. */
static void worlds_may_vary(void **state)
{
    (void)state;
    stage a = stage_of("examples/bodies/humanoid.xml");
    stage b = stage_of("examples/contact/humanoid_falls.xml");
    const zw_system *systems[WORLDS];
    for (int i = 0; i < WORLDS; i++) {
        systems[i] = i % 3 == 1 ? b.system : a.system;
    }
    zw_batch_def def = {.systems = systems, .worlds = WORLDS, .threads = 1};
    zw_batch *here = zw_batch_create(&def, &a.error);
    def.device = "emulated";
    zw_batch *there = zw_batch_create(&def, &a.error);
    assert_non_null(here);
    assert_non_null(there);
    zw_run_options options = {.contact = ZW_CONTACT_SOFT, .step = 0.004};
    assert_int_equal(zw_batch_step(here, &options, 40, 0, &a.error), ZW_OK);
    assert_int_equal(zw_batch_step(there, &options, 25, ZW_BATCH_STAY, &a.error), ZW_OK);
    assert_int_equal(zw_batch_step(there, &options, 15, ZW_BATCH_STAY, &a.error), ZW_OK);
    assert_true(*zw_batch_field(there, 0, ZW_FIELD_TIME) == 0); /* an old copy */
    assert_int_equal(zw_batch_pull(there, &a.error), ZW_OK);
    assert_same(here, there, "worlds that vary");
    assert_non_null(zw_batch_device_field(there, ZW_FIELD_Q));
    assert_null(zw_batch_device_field(here, ZW_FIELD_Q));
    zw_batch_free(here);
    zw_batch_free(there);
    stage_end(&a);
    stage_end(&b);
}

static void expect_refusal(const char *file, const char *device, const char *why)
{
    stage s = stage_of(file);
    const zw_batch_def def = {.system = s.system, .worlds = 2, .device = device};
    zw_batch *batch = zw_batch_create(&def, &s.error);
    assert_null(batch);
    if (!strstr(s.error.text, why)) {
        print_error("%s: %s\n", file, s.error.text);
    }
    assert_non_null(strstr(s.error.text, why));
    stage_end(&s);
}

static void what_is_not_there_is_refused_by_name(void **state)
{
    (void)state;
    expect_refusal("examples/double_pendulum.zw", "emulated", "equations without bodies");
    expect_refusal("examples/contact/terrain.xml", "emulated", "geom bowl is a mesh or height");
    expect_refusal("examples/contact/heap.xml", "emulated", "1 to 128 speeds");
    expect_refusal("examples/bodies/cart_pole.zw", "emulated", "formulas over bodies");
    expect_refusal("examples/bodies/cart_pole.xml", "toaster", "no device is called \"toaster\"");
    expect_refusal("examples/bodies/cart_pole.xml", "cuda:x", "no device is called");
    stage s = stage_of("examples/bodies/cart_pole.xml");
    zw_batch *batch = batch_on(&s, "emulated", 0);
    zw_run_options soft = {.contact = ZW_CONTACT_SOFT, .step = 0.01}, other = {.step = 0.01};
    assert_int_not_equal(zw_batch_step(batch, &soft, 1, ZW_BATCH_SENSE, &s.error), ZW_OK);
    assert_int_not_equal(zw_batch_step(batch, &other, 1, 0, &s.error), ZW_OK);
    assert_non_null(strstr(s.error.text, "moves by the soft law"));
    assert_int_not_equal(zw_batch_run(batch, &soft, &s.error), ZW_OK);
    assert_null(zw_batch_state(batch, 0));
    zw_batch_free(batch);
    stage_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emulated_has_the_bits),
        cmocka_unit_test(a_poisoned_world_harms_no_other),
        cmocka_unit_test(a_world_poisoned_on_the_device_harms_no_other),
        cmocka_unit_test(room_for_contacts_is_counted),
        cmocka_unit_test(worlds_may_vary),
        cmocka_unit_test(what_is_not_there_is_refused_by_name),
        cmocka_unit_test(gpu_has_the_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
