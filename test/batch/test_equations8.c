/* Equations that take fixed steps in lanes (src/step/equations8): each world has the bits of
 * zw_step alone, to the last byte of its state, whatever the other lanes hold. The test covers all
 * examples in formulas that lanes support; worlds differ in parameters and speeds, and are advanced
 * in calls of one, several and many steps.
 *
 *     test_equations8 [STEPS [WORLDS]]       longer, with more worlds */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "batch/batch.h"

static int worlds = 11, steps = 40;
static const zw_run_options by_rk4 = {.method = ZW_METHOD_RK4, .step = 0.01};
static const zw_run_options by_dop853 = {.method = ZW_METHOD_DOP853, .step = 0.01};
static const zw_run_options *by = &by_rk4; /* of the current test */

/* In [-1, 1) */
static double drawn(int world, int k)
{
    uint64_t hash = base_hash_word(BASE_HASH_START, (uint64_t)(int64_t)world);
    hash = base_hash_word(hash, (uint64_t)(int64_t)k);
    return 2 * ((double)(base_hash_word(hash, 1) >> 11) * 0x1p-53) - 1;
}

typedef struct scene {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_error error;
    unsigned char may_vary[64]; /* parameters that neither others nor the structure depend on */
} scene;

static int open_scene(scene *s, const char *path)
{
    *s = (scene){0};
    s->model = zw_model_read(path, NULL, &s->error);
    s->system = s->model ? zw_system_compile(s->model, NULL, &s->error) : NULL;
    s->work = s->system ? zw_work_create(s->system, &s->error) : NULL;
    zw_state *state = s->work ? zw_state_create(s->system, s->work, NULL, &s->error) : NULL;
    for (int k = 0; state && k < s->system->shape.params && k < 64; k++) {
        double other = 1.01 * state_param(state)[k];
        s->may_vary[k] = zw_state_set(s->system, state, s->work, ZW_FIELD_PARAM, k, 1, &other,
                                      &s->error) == ZW_OK;
    }
    zw_state_free(state);
    return state != NULL;
}

static void close_scene(scene *s)
{
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
}

/* The start of world i, with its own numbers. */
static void vary(const scene *s, int world, double *param, double *v)
{
    for (int k = 0; k < s->system->shape.params; k++) {
        param[k] *= s->may_vary[k] ? 1 + 0.02 * drawn(world, k) : 1;
    }
    for (int k = 0; k < s->system->n; k++) {
        v[k] += 0.3 * drawn(world, 1000 + k);
    }
}

/* Half way some worlds get other parameters. */
static int changes(const scene *s, int world, int step, double *param)
{
    int any = 0;
    for (int k = 0; k < s->system->shape.params && step == steps / 2 && world % 3 == 1; k++) {
        param[k] *= s->may_vary[k] ? 1 + 0.01 * drawn(world, 2000 + k) : 1;
        any |= s->may_vary[k];
    }
    return any;
}

/* The same world alone. */
static zw_state *move_alone(scene *s, int world, zw_status *status, double *certificate)
{
    zw_state *state = zw_state_create(s->system, s->work, NULL, &s->error);
    assert_non_null(state);
    int params = s->system->shape.params, n = s->system->n;
    double param[64], v[128];
    assert_in_range(params, 0, 64);
    assert_in_range(n, 1, 128);
    memcpy(param, state_param(state), (size_t)params * sizeof *param);
    memcpy(v, state_v(state), (size_t)n * sizeof *v);
    vary(s, world, param, v);
    *status = params > 0 ? zw_state_set(s->system, state, s->work, ZW_FIELD_PARAM, 0, params, param,
                                        &s->error)
                         : ZW_OK;
    *status = *status == ZW_OK
                  ? zw_state_set(s->system, state, s->work, ZW_FIELD_V, 0, n, v, &s->error)
                  : *status;
    *certificate = 0;
    for (int k = 0; k < steps && *status == ZW_OK; k++) {
        if (changes(s, world, k, param)) {
            *status = zw_state_set(s->system, state, s->work, ZW_FIELD_PARAM, 0, params, param,
                                   &s->error);
        }
        *status = *status == ZW_OK ? zw_step(s->system, state, s->work, by, &s->error) : *status;
        *certificate = s->work->certificate;
    }
    return state;
}

static zw_batch *move_together(scene *s, int threads, int at_once, long *in_lanes)
{
    const zw_batch_def def = {.system = s->system, .worlds = worlds, .threads = threads};
    zw_batch *batch = zw_batch_create(&def, &s->error);
    assert_non_null(batch);
    for (int i = 0; i < worlds; i++) {
        vary(s, i, zw_batch_field(batch, i, ZW_FIELD_PARAM), zw_batch_field(batch, i, ZW_FIELD_V));
    }
    for (int k = 0, count; k < steps; k += count) {
        int until = k < steps / 2 ? steps / 2 : steps;
        count = until - k < at_once ? until - k : at_once;
        for (int i = 0; i < worlds; i++) {
            if (zw_batch_look(batch, i).status == ZW_OK) {
                changes(s, i, k, zw_batch_field(batch, i, ZW_FIELD_PARAM));
            }
        }
        zw_batch_step(batch, by, count, 0, &s->error);
    }
    *in_lanes = 0;
    for (int k = 0; k < threads; k++) {
        *in_lanes += batch->worker[k].equations8 ? batch->worker[k].equations8->taken : 0;
        *in_lanes += batch->worker[k].stepped;
    }
    return batch;
}

/* Byte for byte, with all that a state stores. */
static int differs(const zw_state *a, const zw_state *b)
{
    return a->bytes != b->bytes || a->remembered != b->remembered || a->t != b->t ||
           memcmp(&a->work, &b->work, sizeof a->work) != 0 ||
           memcmp(a->data, b->data, a->bytes - offsetof(zw_state, data)) != 0;
}

/* Worlds of a batch against the same alone; the part of the steps that lanes have taken, in
 * percent. */
static int compare(scene *s, const char *name)
{
    static const struct {
        int threads, at_once;
    } way[] = {{1, 1}, {3, 7}, {2, 1000}};
    long in_lanes = 0, least = LONG_MAX;
    for (size_t w = 0; w < sizeof way / sizeof *way; w++) {
        zw_batch *batch = move_together(s, way[w].threads, way[w].at_once, &in_lanes);
        least = in_lanes < least ? in_lanes : least;
        for (int i = 0; i < worlds; i++) {
            zw_status status;
            double certificate;
            zw_state *alone = move_alone(s, i, &status, &certificate);
            zw_batch_result result = zw_batch_look(batch, i);
            if (result.status != status || differs(alone, batch->state[i])) {
                print_error("%s, world %d, %d threads, %d steps at once: another motion (%s)\n",
                            name, i, way[w].threads, way[w].at_once, zw_status_text(status));
                fail();
            }
            assert_true(status != ZW_OK || way[w].at_once > 1 || result.certificate == certificate);
            zw_state_free(alone);
        }
        zw_batch_free(batch);
    }
    return (int)(100 * least / ((long)worlds * steps));
}

static void open_example(scene *s, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/examples/%s", ZW_SOURCE_DIR, name);
    assert_true(open_scene(s, path));
}

/* One world gets a speed of NaN, one an absurd speed: both are reported, and the others move as
 * they would without them. */
static void test_poison(void **state)
{
    (void)state;
    scene s;
    long in_lanes;
    open_example(&s, "double_pendulum.zw");
    zw_batch *clean = move_together(&s, 1, 4, &in_lanes);
    const zw_batch_def def = {.system = s.system, .worlds = worlds, .threads = 2};
    zw_batch *batch = zw_batch_create(&def, &s.error);
    for (int i = 0; i < worlds; i++) {
        vary(&s, i, zw_batch_field(batch, i, ZW_FIELD_PARAM), zw_batch_field(batch, i, ZW_FIELD_V));
    }
    zw_batch_field(batch, 2, ZW_FIELD_V)[0] = NAN;
    zw_batch_field(batch, 5, ZW_FIELD_V)[1] = 1e200;
    for (int k = 0; k < steps; k++) {
        for (int i = 0; i < worlds; i++) {
            if (zw_batch_look(batch, i).status == ZW_OK) {
                changes(&s, i, k, zw_batch_field(batch, i, ZW_FIELD_PARAM));
            }
        }
        zw_error error;
        zw_status status = zw_batch_step(batch, by, 1, 0, &error);
        assert_true(k > 0 || (status != ZW_OK && strncmp(error.text, "world 2:", 8) == 0));
    }
    for (int i = 0; i < worlds; i++) {
        if (i == 2 || i == 5) {
            assert_non_null(zw_batch_why(batch, i));
        } else {
            assert_false(differs(batch->state[i], clean->state[i]));
        }
    }
    zw_batch_free(batch);
    zw_batch_free(clean);
    close_scene(&s);
}

/* Accelerations and sensors after steps in lanes are those of zw_look. */
static void test_looks(void **state)
{
    (void)state;
    scene s;
    open_example(&s, "four_bar.zw");
    const zw_batch_def def = {.system = s.system, .worlds = worlds};
    zw_batch *batch = zw_batch_create(&def, &s.error);
    assert_int_equal(zw_batch_step(batch, by, 3, ZW_BATCH_SENSE, &s.error), ZW_OK);
    assert_true(batch->worker[0].equations8->taken == 3 * worlds);
    for (int i = 0; i < worlds; i++) {
        assert_int_equal(zw_look(s.system, zw_batch_state(batch, i), s.work, &s.error), ZW_OK);
        assert_memory_equal(zw_batch_field(batch, i, ZW_FIELD_A), s.work->a,
                            (size_t)s.system->n * sizeof(double));
    }
    zw_batch_free(batch);
    close_scene(&s);
}

/* Every example in formulas that is meant: those without constraints, or all. */
static void compare_examples(int only_free, int *tried, int *whole)
{
    DIR *folder = opendir(ZW_SOURCE_DIR "/examples");
    assert_non_null(folder);
    *tried = *whole = 0;
    for (struct dirent *file = readdir(folder); file; file = readdir(folder)) {
        char path[600];
        scene s = {0};
        size_t length = strlen(file->d_name);
        if (length < 4 || strcmp(file->d_name + length - 3, ".zw") != 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s/examples/%s", ZW_SOURCE_DIR, file->d_name);
        if (open_scene(&s, path) && equations8_takes(s.system) > 0 &&
            !(only_free && s.system->m > 0)) {
            int part = compare(&s, file->d_name);
            print_message("%-32s n %2d, rows %2d: %3d %% of the steps in lanes\n", file->d_name,
                          s.system->n, s.system->m, part);
            ++*tried;
            *whole += part > 95;
        }
        close_scene(&s);
    }
    closedir(folder);
}

static void test_fixed_steps(void **state)
{
    (void)state;
    int tried, whole;
    by = &by_rk4;
    compare_examples(0, &tried, &whole);
    assert_in_range(tried, 30, 1000);
    assert_true(10 * whole >= 9 * tried); /* nearly all of most */
}

/* Adaptive ones: the lanes of zw_batch_run. */
/* Parameters that move the state onto other constraints: only what the caller has written is set.
 */
static void test_parameters_that_move(void **state)
{
    (void)state;
    scene s = {0};
    assert_true(open_scene(&s, ZW_SOURCE_DIR "/test/look/whipple_bicycle.zw"));
    assert_true(compare(&s, "whipple_bicycle.zw") > 50);
    close_scene(&s);
}

static void test_adaptive_steps(void **state)
{
    (void)state;
    int tried, whole;
    by = &by_dop853;
    compare_examples(1, &tried, &whole);
    by = &by_rk4;
    assert_in_range(tried, 10, 1000);
    assert_true(10 * whole >= 9 * tried);
}

int main(int argc, char **argv)
{
    const char *size = getenv("ZW_CAMPAIGN");
    steps = size && strcmp(size, "small") == 0 ? 4 : steps;
    steps = argc > 1 ? atoi(argv[1]) : steps;
    worlds = argc > 2 ? atoi(argv[2]) : worlds;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fixed_steps),
                                       cmocka_unit_test(test_parameters_that_move),
                                       cmocka_unit_test(test_adaptive_steps),
                                       cmocka_unit_test(test_poison), cmocka_unit_test(test_looks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
