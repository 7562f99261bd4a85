/* Every allocation may fail: in reading, compiling, creating a state, running, recording, writing.
 * Then the call returns ZW_NO_MEMORY, nothing leaks (checked by the sanitizer build), and results
 * remain correct: a run that ends with ZW_OK although an allocation failed has the bits of a run
 * without failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "scene/campaign.h"
#include "zwang/bodies.h"
#include "zwang/zwang.h"

typedef struct scene {
    const char *file, *text; /* one of them */
    double time, step;
    zw_method method;
    int stride; /* between allocations that fail, in small campaigns */
} scene;

/* The result of one use of the library from reading to writing. */
typedef struct outcome {
    zw_status status;
    const char *call;
    uint64_t hash; /* of the state at the end */
    zw_error error;
} outcome;

static zw_status record_and_run(const scene *s, const zw_system *system, zw_state *state,
                                zw_work *work, outcome *o)
{
    zw_run_summary summary;
    char path[64];
    zw_record *record = zw_record_create(system, &o->error);
    o->call = "zw_record_create";
    if (!record) {
        return o->error.status;
    }
    o->call = "zw_run";
    const zw_run_options options = {.time = s->time,
                                    .every = s->time / 4,
                                    .step = s->step,
                                    .tolerance = 1e-6,
                                    .method = s->method,
                                    .observer = zw_record_observe,
                                    .user = record};
    zw_status status = zw_run(system, state, work, &options, &summary, &o->error);
    if (status == ZW_OK) {
        o->call = "zw_record_write";
        snprintf(path, sizeof path, "/tmp/zwang-memory-%ld.csv", (long)getpid());
        status = zw_record_write(record, &summary, path, &o->error);
        remove(path);
    }
    zw_record_free(record);
    return status;
}

static outcome use(const scene *s, int refused)
{
    char path[512];
    outcome o = {.call = "zw_model_read"};
    snprintf(path, sizeof path, "%s/%s", ZW_SOURCE_DIR, s->file ? s->file : "text.zw");
    base_alloc_fail_after(refused);
    zw_model *model = s->file ? zw_model_read(path, NULL, &o.error)
                              : zw_model_parse(s->text, path, NULL, &o.error);
    zw_system *system = NULL;
    zw_work *work = NULL;
    zw_state *state = NULL;
    if (model) {
        o.call = "zw_system_compile";
        system = zw_system_compile(model, NULL, &o.error);
    }
    if (system) {
        o.call = "zw_work_create";
        work = zw_work_create(system, &o.error);
    }
    if (work) {
        o.call = "zw_state_create";
        state = zw_state_create(system, work, NULL, &o.error);
    }
    o.status = state ? record_and_run(s, system, state, work, &o) : o.error.status;
    base_alloc_fail_after(0);
    o.hash = state ? zw_state_hash(state) : 0;
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return o;
}

static void refuse_each(const scene *s)
{
    outcome whole = use(s, 0);
    const char *name = s->file ? s->file : "text";
    if (whole.status != ZW_OK) {
        fail_msg("%s: %s: %s", name, whole.call, whole.error.text);
    }
    int limit = 1 << 20, refused = 0, survived = 0;
    for (int k = 1; k < limit; k += campaign_stride(s->stride)) {
        outcome o = use(s, k);
        if (o.status == ZW_OK && o.hash != whole.hash) {
            fail_msg("%s: request %d is refused, and the motion is another, with ZW_OK", name, k);
        }
        if (o.status != ZW_OK && o.status != ZW_NO_MEMORY) {
            fail_msg("%s: request %d is refused, and %s says: %s", name, k, o.call, o.error.text);
        }
        refused += o.status != ZW_OK;
        survived = o.status == ZW_OK ? survived + 1 : 0;
        if (survived > 20) {
            break; /* there are no more requests, or these are not needed */
        }
    }
    print_message("%-44s %d requests refused\n", name, refused);
    assert_true(refused > 2);
}

static void equations(void **state)
{
    (void)state;
    static const scene list[] = {
        {.text = "param back = 0.5, mu = 0.3, kick = 2\ncoord x = 0, y = 0.2 + mu*back\n"
                 "speed x' = sqrt(1 + back)\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                 "constraint floor: y >= 0, restitution back*exp(-0.1*abs(y')), friction mu\n"
                 "event lift: x = 0.1*kick rising, set y' = y' + kick*cos(x), set kick = kick + 1\n"
                 "plot time x, y\n",
         .time = 0.5,
         .stride = 7},
        {.file = "examples/rule.zw", .time = 0.2, .stride = 7},
        {.file = "examples/unit_speed_rule.zw", .time = 0.2, .stride = 7},
        {.file = "examples/stick_slip.zw", .time = 0.1, .stride = 7},
        {.file = "examples/skate_vakonomic.zw", .time = 0.1, .stride = 7},
        {.file = "examples/pendulum_in_honey.zw", .time = 0.1, .stride = 7},
        {.file = "examples/wedge.zw", .time = 0.1, .step = 0.01, .method = 2, .stride = 7},
        {.file = "examples/kepler.zw", .time = 0.1, .method = ZW_METHOD_STIFF, .stride = 7},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        refuse_each(&list[i]);
    }
}

static void bodies(void **state)
{
    (void)state;
    static const scene list[] = {
        {.file = "examples/bodies/cart_pole.zw", .time = 0.1, .stride = 11},
        {.file = "examples/contact/parcel.zw", .time = 0.03, .step = 0.01, .stride = 11},
        {.file = "examples/bodies/flyball_governor.xml", .time = 0.02, .stride = 11},
        {.file = "examples/bodies/brick.urdf", .time = 0.1, .stride = 11},
        {.file = "examples/contact/newtons_cradle.xml", .time = 0.02, .step = 0.01, .stride = 11},
        {.file = "examples/contact/gripper_capsule.xml",
         .time = 0.02,
         .step = 0.01,
         .method = ZW_METHOD_SOFT,
         .stride = 23},
        {.file = "examples/contact/humanoid_falls.xml", .time = 0.02, .step = 0.01, .stride = 97},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        refuse_each(&list[i]);
    }
}

/* With files as arguments: these, each for a few steps. */
int main(int count, char **file)
{
    for (int i = 1; i < count; i++) {
        const scene one = {.file = file[i], .time = 0.02, .stride = 1};
        refuse_each(&one);
    }
    if (count > 1) {
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations),
        cmocka_unit_test(bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
