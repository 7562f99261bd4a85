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

#include "batch/on_device.h"
#include "zwang/batch.h"
#include "zwang/bodies.h"

enum { WORLDS = 6, FIELDS = 5 };

static const zw_field_id fields[FIELDS] = {ZW_FIELD_TIME, ZW_FIELD_PARAM, ZW_FIELD_Q, ZW_FIELD_V,
                                           ZW_FIELD_ACTIVATION};

/* The soft law; the same, and all steps are taken in lanes, none alone; Coulomb's law with one
 * linearisation. */
typedef enum law { SOFT, LANES_ONLY, EXACT } law;

typedef struct scene {
    const char *file; /* in examples/ or test/device/ */
    double step;      /* 0: the file's */
    int steps;
    law law;
} scene;

static const scene scenes[] = {
    {"examples/bodies/cart_pole.xml", 0.01, 60, SOFT},
    {"examples/bodies/humanoid.xml", 0.002, 40, LANES_ONLY},
    {"examples/bodies/quadruped.xml", 0.002, 40, LANES_ONLY},
    {"examples/bodies/flyball_governor.xml", 0.002, 40, SOFT},
    {"examples/bodies/servo.xml", 0.002, 40, SOFT},
    {"examples/bodies/gripper.xml", 0.002, 40, SOFT},
    {"examples/contact/humanoid_falls.xml", 0, 80, LANES_ONLY},
    {"examples/contact/quadruped.xml", 0, 80, LANES_ONLY},
    {"examples/contact/gripper_capsule.xml", 0, 40, SOFT},
    {"examples/contact/newtons_cradle.xml", 0, 40, SOFT},
    {"examples/contact/dominoes.xml", 0, 30, SOFT},
    {"examples/contact/tippe_top.xml", 0, 40, SOFT},
    {"examples/bodies/arm.xml", 0.002, 40, EXACT},
    {"examples/contact/humanoid_falls.xml", 0, 120, EXACT},
    {"examples/contact/quadruped.xml", 0, 80, EXACT},
    {"bench/manipulator.xml", 0, 80, EXACT},
    {"test/device/hulls.xml", 0, 80, LANES_ONLY},
    {"test/device/hulls.xml", 0, 80, EXACT},
    {"examples/contact/arch_bridge.xml", 0, 20, SOFT},
    {"examples/contact/dominoes.xml", 0, 30, EXACT},
    {"examples/contact/humanoid_falls.xml", 0.1, 4,
     EXACT}, /* more points in reach than there is room */
};

static zw_run_options options_of(const scene *it)
{
    return it->law == EXACT ? (zw_run_options){.step = it->step,
                                               .method = ZW_METHOD_IMPULSE,
                                               .tolerance = 1,
                                               .memoryless = 1}
                            : (zw_run_options){.step = it->step, .contact = ZW_CONTACT_SOFT};
}

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

static zw_batch *batch_in(stage *s, const char *device, int points, zw_precision precision)
{
    const zw_batch_def def = {.system = s->system,
                              .worlds = WORLDS,
                              .threads = 1,
                              .device = device,
                              .contact_capacity = points,
                              .precision = precision};
    zw_batch *batch = zw_batch_create(&def, &s->error);
    if (!batch) {
        print_error("%s\n", s->error.text);
    }
    assert_non_null(batch);
    return batch;
}

static zw_batch *batch_on(stage *s, const char *device, int points)
{
    return batch_in(s, device, points, ZW_PRECISION_DOUBLE);
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
    zw_run_options options = options_of(it);
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
        if (b == ZW_TOO_LARGE && it->law == EXACT && strcmp(device, "cuda") == 0) {
            print_message("%s is too large for the GPU by Coulomb's law\n", it->file);
            break;
        }
        assert_int_equal(b, ZW_OK);
        assert_same(here, there, it->file);
        assert_int_equal(zw_batch_look(there, 2).steps, steps);
        for (int i = 0; i < WORLDS && it->law == LANES_ONLY; i++) {
            assert_int_equal(there->device->result[i].alone, 0);
        }
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
static void check_poison(const char *device, int exact, zw_field_id field, double value)
{
    enum { BAD = 3 };
    stage s = stage_of("examples/contact/humanoid_falls.xml");
    zw_batch *well = batch_on(&s, device, 0), *ill = batch_on(&s, device, 0);
    zw_run_options options = options_of(&(scene){.law = exact ? EXACT : SOFT});
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
    for (int exact = 0; exact < 2; exact++) {
        check_poison("emulated", exact, ZW_FIELD_PARAM, NAN);
        check_poison("emulated", exact, ZW_FIELD_V, 1e300);
    }
}

/* The same where nothing on the way looks at what is put into the device's memory. */
static void check_poison_inside(const char *device, int exact, zw_field_id field, double value)
{
    enum { BAD = 3 };
    stage s = stage_of("examples/contact/humanoid_falls.xml");
    zw_batch *well = batch_on(&s, device, 0), *ill = batch_on(&s, device, 0);
    zw_run_options options = options_of(&(scene){.law = exact ? EXACT : SOFT});
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
        check_poison_inside(device[k], 0, ZW_FIELD_V, NAN);
        check_poison_inside(device[k], 1, ZW_FIELD_V, NAN);
        check_poison_inside(device[k], 0, ZW_FIELD_V, 1e300);
        check_poison_inside(device[k], 1, ZW_FIELD_V, 1e300);
        check_poison_inside(device[k], 0, ZW_FIELD_Q, INFINITY);
        check_poison_inside(device[k], 1, ZW_FIELD_Q, INFINITY);
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
    expect_refusal("examples/contact/terrain.xml", "emulated",
                   "geom bowl is a height field or a mesh");
    expect_refusal("examples/contact/heap.xml", "emulated", "1 to 128 speeds");
    expect_refusal("examples/bodies/cart_pole.zw", "emulated", "formulas over bodies");
    expect_refusal("examples/bodies/cart_pole.xml", "toaster", "no device is called \"toaster\"");
    expect_refusal("examples/bodies/cart_pole.xml", "cuda:x", "no device is called");
    stage s = stage_of("examples/bodies/cart_pole.xml");
    zw_batch *batch = batch_on(&s, "emulated", 0);
    zw_run_options soft = {.contact = ZW_CONTACT_SOFT, .step = 0.01}, other = {.step = 0.01};
    assert_int_not_equal(zw_batch_step(batch, &other, 1, 0, &s.error), ZW_OK);
    assert_non_null(strstr(s.error.text, "moves by the soft law"));
    zw_run_options once = {.step = 0.01, .method = ZW_METHOD_IMPULSE, .tolerance = 1};
    assert_int_not_equal(zw_batch_step(batch, &once, 1, 0, &s.error), ZW_OK);
    assert_non_null(strstr(s.error.text, "steps that depend on the ones before (memoryless)"));
    assert_int_not_equal(zw_batch_run(batch, &soft, &s.error), ZW_OK);
    assert_null(zw_batch_state(batch, 0));
    zw_batch_free(batch);
    stage_end(&s);
}

/* ---- Single precision ------------------------------------------------------------------------ */

/* Steps by float and by double from the same states, as far as a contact that begins a step earlier
 * or later lets them be compared: `closeness` of the speeds, relative to the largest. Two runs in
 * float are equal, and the certificate, which is evaluated in double, says how good they are. */
typedef struct single {
    const char *file;
    double step;
    int steps;
    double lift; /* of its first body: at its start it touches the ground */
    double closeness;
} single;

static void check_single(const char *device, const single *it)
{
    stage s = stage_of(it->file);
    zw_batch *exact = batch_on(&s, device, 0);
    zw_batch *other = batch_in(&s, device, 0, ZW_PRECISION_FLOAT);
    zw_batch *again = batch_in(&s, device, 0, ZW_PRECISION_FLOAT);
    zw_run_options options = {.step = it->step, .contact = ZW_CONTACT_SOFT};
    zw_batch *all[3] = {exact, other, again};
    double most = 0, apart = 0;
    for (int k = 0; k < 3; k++) {
        vary(&s, all[k], 0);
        for (int i = 0; i < WORLDS && it->lift > 0; i++) {
            zw_batch_field(all[k], i, ZW_FIELD_Q)[2] += it->lift;
        }
        assert_int_equal(zw_batch_step(all[k], &options, it->steps, 0, &s.error), ZW_OK);
    }
    assert_same(other, again, it->file);
    for (int i = 0; i < WORLDS; i++) {
        int n = zw_count(s.system, ZW_KIND_SPEED);
        const double *x = zw_batch_field(exact, i, ZW_FIELD_V);
        const double *y = zw_batch_field(other, i, ZW_FIELD_V);
        for (int k = 0; k < n; k++) {
            most = fmax(most, fabs(x[k]));
            apart = fmax(apart, fabs(x[k] - y[k]));
        }
        double certificate = zw_batch_look(other, i).certificate;
        if (!(certificate > 1e-9 && certificate < 1e-4)) {
            print_error("%s: world %d has a certificate of %g\n", it->file, i, certificate);
        }
        assert_true(certificate > 1e-9 && certificate < 1e-4);
        assert_int_equal(zw_batch_look(other, i).steps, it->steps);
    }
    if (!(apart <= it->closeness * most)) {
        print_error("%s: speeds differ by %g of %g\n", it->file, apart, most);
    }
    assert_true(apart > 0 && apart <= it->closeness * most);
    for (int k = 0; k < 3; k++) {
        zw_batch_free(all[k]);
    }
    stage_end(&s);
}

static void single_precision_is_close(void **state)
{
    (void)state;
    static const single list[] = {
        {"examples/bodies/arm.xml", 0.002, 200, 0, 1e-5},
        {"examples/bodies/cart_pole.xml", 0.01, 100, 0, 1e-5},
        {"examples/contact/quadruped.xml", 0, 40, 0.01, 1e-4},
        {"examples/bodies/humanoid.xml", 0.002, 30, 0.01, 1e-4},
    };
    const char *device[2] = {"emulated", gpu()};
    for (int d = 0; d < 2 && device[d]; d++) {
        for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
            check_single(device[d], &list[k]);
        }
    }
}

/* A pendulum of two links without friction: after 5000 steps its energy is that of the steps in
 * double precision up to a thousandth of the error of the method. */
static void single_precision_keeps_energy(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><option timestep='1e-3'/><worldbody><body pos='0 0 2'>"
        "<joint name='a' type='hinge' axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 0 0 -1' size='.05' contype='0' conaffinity='0'/>"
        "<body pos='0 0 -1'><joint name='b' type='hinge' axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 0 0 -.7' size='.05' contype='0' conaffinity='0'/>"
        "</body></body></worldbody><sensor><e_potential/><e_kinetic/></sensor></mujoco>";
    stage s = {0};
    s.model = zw_model_parse(text, "pendulum.xml", NULL, &s.error);
    s.system = s.model ? zw_system_compile(s.model, NULL, &s.error) : NULL;
    if (!s.system) {
        print_error("%s\n", s.error.text);
    }
    assert_non_null(s.system);
    zw_run_options options = {.contact = ZW_CONTACT_SOFT};
    zw_batch *here = batch_on(&s, NULL, 0); /* for its sensors */
    double energy[3];
    for (int k = 0; k < 3; k++) { /* at first, and in the end */
        zw_batch *there = batch_in(&s, "emulated", 0, (zw_precision)(k == 2));
        zw_batch_field(there, 0, ZW_FIELD_V)[0] = 4;
        zw_batch_field(there, 0, ZW_FIELD_V)[1] = -2;
        assert_int_equal(zw_batch_step(there, &options, k == 0 ? 0 : 5000, 0, &s.error), ZW_OK);
        for (int f = 2; f < 4; f++) {
            memcpy(zw_batch_field(here, 0, fields[f]), zw_batch_field(there, 0, fields[f]),
                   2 * sizeof(double));
        }
        assert_int_equal(zw_batch_step(here, &options, 0, ZW_BATCH_SENSE, &s.error), ZW_OK);
        const double *sensor = zw_batch_field(here, 0, ZW_FIELD_SENSOR);
        energy[k] = sensor[0] + sensor[1];
        zw_batch_free(there);
    }
    assert_true(fabs(energy[2] - energy[1]) < 1e-3 * fabs(energy[1] - energy[0]));
    zw_batch_free(here);
    stage_end(&s);
}

static void refuse_single(const char *file, const char *device, const char *why)
{
    stage s = stage_of(file);
    const zw_batch_def def = {
        .system = s.system, .worlds = 2, .device = device, .precision = ZW_PRECISION_FLOAT};
    zw_batch *batch = zw_batch_create(&def, &s.error);
    assert_null(batch);
    if (!strstr(s.error.text, why)) {
        print_error("%s: %s\n", file, s.error.text);
    }
    assert_non_null(strstr(s.error.text, why));
    stage_end(&s);
}

static void single_precision_is_refused_by_name(void **state)
{
    (void)state;
    refuse_single("examples/bodies/arm.xml", NULL, "single precision is for batches on a device");
    refuse_single("examples/bodies/flyball_governor.xml", "emulated", "loops");
    refuse_single("examples/bodies/servo.xml", "emulated", "dry friction in joints");
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
        cmocka_unit_test(single_precision_is_close),
        cmocka_unit_test(single_precision_keeps_energy),
        cmocka_unit_test(single_precision_is_refused_by_name),
        cmocka_unit_test(gpu_has_the_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
