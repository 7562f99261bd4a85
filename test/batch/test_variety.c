/* Worlds that vary: twelve files, equations and robots, 64 worlds of each with masses, friction,
 * damping, gravity or parameters of their own, other speeds and other controls: each has the bits
 * of its motion alone, for every number of threads. Stops, a whole batch as bytes, one bad world
 * among thousands. */
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

enum { WORLDS = 64, STEPS = 4, NAMES = 2, POISONED = 1717 };

typedef struct scene {
    const char *file; /* in examples/ */
    double step;
    zw_contact_law contact;
    struct {
        const char *name;
        double low, high;
    } varies[NAMES];
} scene;

static const scene scenes[] = {
    {"double_pendulum.zw", 0.01, 0, {{"m2", 0.2, 3}, {"l1", 0.5, 2}}},
    {"bouncing_ball.zw", 0.3, 0, {{"g", 1, 20}, {"h", 0.1, 1}}},
    {"sliding_ladder.zw", 0.01, 0, {{"l", 1, 3}, {"start", 0.8, 1.4}}},
    {"chaplygin_sleigh.zw", 0.01, 0, {{"I", 0.1, 1}, {"a", 0.1, 0.8}}},
    {"stick_slip.zw", 0.01, 0, {{"mu", 0.1, 0.9}, {"tilt", 0.1, 0.4}}},
    {"bodies/cart_pole.xml", 0.01, 0, {{"pole.mass", 0.1, 2}, {"along.damping", 0, 3}}},
    {"bodies/quadruped.xml", 0.002, 0, {{"fl_thigh.damping", 0, 2}, {"gravity", 1, 12}}},
    {"bodies/humanoid.xml", 0.002, 0, {{"left_knee.armature", 0.001, 0.1}, {"gravity", 1, 12}}},
    {"four_bar.zw", 0.005, 0, {{"a", 0.25, 0.32}, {"d", 0.76, 0.82}}},
    {"contact/humanoid_falls.xml", 0, 0, {{"floor.friction", 0.1, 1.5}, {"gravity", 5, 12}}},
    {"contact/humanoid_falls.xml",
     0,
     ZW_CONTACT_SOFT,
     {{"floor.friction", 0.1, 1.5}, {"gravity", 5, 12}}},
    {"contact/newtons_cradle.xml", 0, 0, {{"gravity", 5, 12}, {"density", 0, 2}}},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

static double draw(int world, int k)
{
    return 0.5 + 0.5 * sin(12.9898 * world + 78.233 * k);
}

/* ---- Systems --------------------------------------------------------------------------------- */

typedef struct family {
    zw_model *model[WORLDS];
    zw_system *system[WORLDS];
} family;

static void load(family *f, const scene *it)
{
    char path[400];
    zw_error error = {0};
    snprintf(path, sizeof path, "%s/examples/%s", ZW_SOURCE_DIR, it->file);
    for (int i = 0; i < WORLDS; i++) {
        zw_setting setting[NAMES];
        for (int k = 0; k < NAMES; k++) {
            double low = it->varies[k].low, high = it->varies[k].high;
            setting[k] = (zw_setting){it->varies[k].name, low + (high - low) * draw(i, k)};
        }
        f->model[i] = zw_model_read(
            path, &(zw_read_options){.settings = setting, .setting_count = NAMES}, &error);
        f->system[i] = f->model[i] ? zw_system_compile(f->model[i], NULL, &error) : NULL;
        if (!f->system[i]) {
            print_error("%s: %s\n", it->file, error.text);
        }
        assert_non_null(f->system[i]);
    }
}

static void unload(family *f)
{
    for (int i = 0; i < WORLDS; i++) {
        zw_system_free(f->system[i]);
        zw_model_free(f->model[i]);
    }
}

/* Other speeds, and other controls of robots. */
static void stir(int world, double *v, int n, double *control, int controls)
{
    for (int k = 0; k < n; k++) {
        v[k] += 0.2 * (draw(world, 10 + k) - 0.5);
    }
    for (int k = 0; k < controls; k++) {
        control[k] += draw(world, 100 + k) - 0.5;
    }
}

static int is_robot(const scene *it)
{
    return strstr(it->file, ".xml") != NULL;
}

/* The hash of the world's state after the steps, alone. */
static uint64_t alone(const scene *it, const zw_system *system, int world, zw_status *status)
{
    double v[200], control[200];
    zw_run_options options = {.step = it->step, .contact = it->contact};
    zw_work *work = zw_work_create(system, NULL);
    zw_state *state = zw_state_create(system, work, NULL, NULL);
    zw_view vs = zw_field(system, state, work, ZW_FIELD_V);
    zw_view ps = zw_field(system, state, work, ZW_FIELD_PARAM);
    int controls = is_robot(it) ? ps.count : 0;
    memcpy(v, vs.data, (size_t)vs.count * sizeof *v);
    memcpy(control, ps.data, (size_t)controls * sizeof *control);
    stir(world, v, vs.count, control, controls);
    *status = controls > 0
                  ? zw_state_set(system, state, work, ZW_FIELD_PARAM, 0, controls, control, NULL)
                  : ZW_OK;
    if (*status == ZW_OK) {
        *status = zw_state_set(system, state, work, ZW_FIELD_V, 0, vs.count, v, NULL);
    }
    for (int k = 0; k < STEPS && *status == ZW_OK; k++) {
        *status = zw_step(system, state, work, &options, NULL);
    }
    uint64_t hash = zw_state_hash(state);
    zw_state_free(state);
    zw_work_free(work);
    return hash;
}

static void test_each_is_itself(void **unused)
{
    (void)unused;
    static const int threads[] = {1, 2, 3, 7};
    const char *size = getenv("ZW_CAMPAIGN");
    family f;
    for (int k = 0; k < SCENES; k += size && !strcmp(size, "small") ? 3 : 1) {
        const scene *it = &scenes[k];
        zw_error error = {0};
        zw_run_options options = {.step = it->step, .contact = it->contact};
        load(&f, it);
        zw_batch *batch =
            zw_batch_create(&(zw_batch_def){.systems = (const zw_system *const *)f.system,
                                            .worlds = WORLDS,
                                            .threads = threads[k % 4]},
                            &error);
        if (!batch) {
            print_error("%s: %s\n", it->file, error.text);
        }
        assert_non_null(batch);
        for (int i = 0; i < WORLDS; i++) {
            stir(i, zw_batch_field(batch, i, ZW_FIELD_V), zw_count(f.system[i], ZW_KIND_SPEED),
                 zw_batch_field(batch, i, ZW_FIELD_PARAM),
                 is_robot(it) ? zw_count(f.system[i], ZW_KIND_PARAM) : 0);
        }
        zw_batch_step(batch, &options, STEPS, 0, &error);
        int sound = 0, different = 0;
        uint64_t first = zw_state_hash(zw_batch_state(batch, 0));
        for (int i = 0; i < WORLDS; i++) {
            zw_status status;
            uint64_t hash = alone(it, f.system[i], i, &status);
            assert_int_equal(zw_batch_look(batch, i).status, status);
            if (hash != zw_state_hash(zw_batch_state(batch, i))) {
                print_error("%s, world %d\n", it->file, i);
            }
            assert_int_equal(hash, zw_state_hash(zw_batch_state(batch, i)));
            sound += status == ZW_OK;
            different += hash != first;
        }
        assert_in_range(sound, WORLDS - 4, WORLDS);
        assert_int_equal(different, WORLDS - 1);
        zw_batch_free(batch);
        unload(&f);
    }
}

/* ---- Stops ----------------------------------------------------------------------------------- */

/* x'' = 1 from v: `stop when x > 1` ends each world at its own time, and it stands there until it
 * begins anew. */
static void test_stops(void **unused)
{
    (void)unused;
    zw_error error = {0};
    zw_model *model = zw_model_parse("coord x = 0\nkinetic x'^2/2\nforce x: 1\nstop when x > 1\n",
                                     "fall.zw", NULL, &error);
    zw_system *system = zw_system_compile(model, NULL, &error);
    zw_batch *batch =
        zw_batch_create(&(zw_batch_def){.system = system, .worlds = 8, .threads = 2}, &error);
    zw_run_options options = {.step = 0.05};
    for (int i = 0; i < 8; i++) {
        *zw_batch_field(batch, i, ZW_FIELD_V) = 0.5 * i;
    }
    for (int call = 0; call < 40; call++) {
        assert_int_equal(zw_batch_step(batch, &options, 1, 0, &error), ZW_OK);
    }
    for (int i = 0; i < 8; i++) {
        double v = 0.5 * i, t = sqrt(v * v + 2) - v;
        assert_int_equal(zw_batch_look(batch, i).stopped_by, 0);
        assert_true(fabs(*zw_batch_field(batch, i, ZW_FIELD_TIME) - t) < 1e-12);
        assert_true(fabs(*zw_batch_field(batch, i, ZW_FIELD_Q) - 1) < 1e-12);
    }
    unsigned char mask[8] = {[3] = 1};
    assert_int_equal(zw_batch_reset(batch, mask, NULL, &error), ZW_OK);
    assert_int_equal(zw_batch_step(batch, &options, 2, 0, &error), ZW_OK);
    assert_true(fabs(*zw_batch_field(batch, 3, ZW_FIELD_TIME) - 0.1) < 1e-12);
    assert_int_equal(zw_batch_look(batch, 3).stopped_by, -1);
    zw_batch_free(batch);
    zw_system_free(system);
    zw_model_free(model);
}

/* ---- A whole batch as bytes ------------------------------------------------------------------ */

static void test_saved(void **unused)
{
    (void)unused;
    zw_error error = {0};
    family f;
    const scene *it = &scenes[9];
    zw_run_options options = {.contact = it->contact};
    load(&f, it);
    zw_batch *batch = zw_batch_create(
        &(zw_batch_def){.systems = (const zw_system *const *)f.system, .worlds = 6, .threads = 2},
        &error);
    zw_batch *other = zw_batch_create(
        &(zw_batch_def){.systems = (const zw_system *const *)f.system, .worlds = 6, .threads = 1},
        &error);
    zw_batch_field(batch, 4, ZW_FIELD_V)[2] = NAN;
    assert_int_equal(zw_batch_step(batch, &options, 5, 0, &error), ZW_BAD_INPUT);
    size_t size = zw_batch_bytes(batch);
    unsigned char *bytes = malloc(size);
    assert_int_equal(zw_batch_save(batch, bytes, size, &error), ZW_OK);
    assert_int_equal(zw_batch_save(batch, bytes, size - 1, &error), ZW_TOO_LARGE);

    /* what is damaged or cut short is refused, and nothing has changed */
    uint64_t before = zw_state_hash(zw_batch_state(other, 0));
    assert_int_equal(zw_batch_restore(other, bytes, size - 9, &error), ZW_BAD_INPUT);
    bytes[size - 20] ^= 1;
    assert_int_not_equal(zw_batch_restore(other, bytes, size, &error), ZW_OK);
    bytes[size - 20] ^= 1;
    assert_int_equal(zw_state_hash(zw_batch_state(other, 0)), before);

    assert_int_equal(zw_batch_restore(other, bytes, size, &error), ZW_OK);
    zw_batch_step(batch, &options, 5, 0, &error);
    zw_batch_step(other, &options, 5, 0, &error);
    for (int i = 0; i < 6; i++) {
        if (i != 4) {
            assert_int_equal(zw_state_hash(zw_batch_state(batch, i)),
                             zw_state_hash(zw_batch_state(other, i)));
            assert_true(zw_batch_look(other, i).end > 0);
        }
    }
    free(bytes);
    zw_batch_free(batch);
    zw_batch_free(other);
    unload(&f);
}

/* ---- One of 4096 ----------------------------------------------------------------------------- */

static void check_poison(const char *file, zw_field_id field, double poison)
{
    enum { MANY = 4096 };
    char path[400], culprit[32];
    zw_error error = {0};
    snprintf(path, sizeof path, "%s/examples/%s", ZW_SOURCE_DIR, file);
    zw_model *model = zw_model_read(path, NULL, &error);
    zw_system *system = zw_system_compile(model, NULL, &error);
    zw_run_options options = {.step = 0.01};
    zw_batch *sound =
        zw_batch_create(&(zw_batch_def){.system = system, .worlds = MANY, .threads = 2}, &error);
    zw_batch *batch =
        zw_batch_create(&(zw_batch_def){.system = system, .worlds = MANY, .threads = 2}, &error);
    for (int i = 0; i < MANY; i++) {
        zw_batch_field(sound, i, ZW_FIELD_V)[0] = zw_batch_field(batch, i, ZW_FIELD_V)[0] =
            draw(i, 0);
    }
    zw_batch_field(batch, POISONED, field)[0] = poison;
    assert_int_equal(zw_batch_step(sound, &options, 2, 0, &error), ZW_OK);
    assert_int_not_equal(zw_batch_step(batch, &options, 2, 0, &error), ZW_OK);
    snprintf(culprit, sizeof culprit, "world %d: ", POISONED);
    if (!strstr(error.text, culprit)) {
        print_error("%s\n", error.text);
    }
    assert_non_null(strstr(error.text, culprit));
    for (int i = 0; i < MANY; i++) {
        if (i != POISONED) {
            assert_int_equal(zw_state_hash(zw_batch_state(batch, i)),
                             zw_state_hash(zw_batch_state(sound, i)));
            assert_null(zw_batch_why(batch, i));
        }
    }
    zw_batch_free(batch);
    zw_batch_free(sound);
    zw_system_free(system);
    zw_model_free(model);
}

/* No number for a control, or for a mass; a speed beyond all measure. */
static void test_poison(void **unused)
{
    (void)unused;
    check_poison("bodies/cart_pole.xml", ZW_FIELD_PARAM, NAN);
    check_poison("bodies/cart_pole.xml", ZW_FIELD_V, 1e300);
    check_poison("pendulum.zw", ZW_FIELD_PARAM, NAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_is_itself),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_saved),
        cmocka_unit_test(test_poison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
