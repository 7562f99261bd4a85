/* States as bytes: a restored state continues with the same bits, and corrupt data is refused. */
#include "step/integrate.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "record/scratch.h"
#include "system/robots.h"

#define PENDULUM                                                                                   \
    "param m = 1, l = 1, g = 9.81\ncoord x = 0.6, y = -0.8\nspeed x' = 0.4\nmass m at (x, y)\n"    \
    "gravity (0, -g)\nconstraint rod: x^2 + y^2 = l^2\n"
#define DRIVEN                                                                                     \
    "coord x = 0, y = 0\nmass 1 at (x, y)\nspeed y' = 1\nforce x: -2*x - 0.3*x', y: sin(3*t)\n"    \
    "constraint arm: x = 0.1*sin(2*t) + 0.2*y\n"
#define HOPPER                                                                                     \
    "coord x = 0, y = 1\nspeed x' = 1\nmass 1 at (x, y)\ngravity (0, -9.81)\n"                     \
    "constraint floor: y >= 0, restitution 0.5, friction 0.2\n"
#define SKATE                                                                                      \
    "coord x = 0, y = 0, th = 0.3\nspeed th' = 1\nmass 1 at (x, y)\nkinetic 0.1*th'^2\n"           \
    "gravity (0, -1)\nconstraint blade: sin(th)*x' - cos(th)*y' = 0\nlaw vakonomic\n"
#define ROBOT(mass)                                                                                \
    "<mujoco><worldbody><body><freejoint/><inertial pos='0.1 0 0.2' mass='" mass                   \
    "' diaginertia='0.3 0.2 0.25'/><body pos='0.5 0 0'><joint axis='0 1 0.3' damping='0.1'/>"      \
    "<inertial pos='0.3 0 0' mass='1' diaginertia='0.05 0.06 0.08'/>"                              \
    "<site name='a' pos='0.5 0 0'/></body>"                                                        \
    "<body pos='-0.5 0 0'><joint name='arm' type='ball'/>"                                         \
    "<inertial pos='0 0.2 0.1' mass='0.5' diaginertia='0.03 0.04 0.05'/></body></body>"            \
    "</worldbody></mujoco>"
#define LOOP                                                                                       \
    "<mujoco><compiler angle='radian'/><default><geom type='capsule' size='0.02'/>"                \
    "<joint axis='0 -1 0'/></default><worldbody><body><joint name='crank' ref='1.57'/>"            \
    "<geom fromto='0 0 0  0.3 0 0'/><body pos='0.3 0 0'><joint/><geom fromto='0 0 0  0.9 0 0'/>"   \
    "<site name='end' pos='0.9 0 0'/></body></body><body pos='0.8 0 0'><joint/>"                   \
    "<geom fromto='0 0 0  0.7 0 0'/><site name='tip' pos='0.7 0 0'/></body></worldbody>"           \
    "<equality><connect name='pin' site1='end' site2='tip'/></equality>"                           \
    "<keyframe><key qpos='3.14 -0.9 1.6'/></keyframe></mujoco>"

static robot make(const char *text)
{
    zw_error error = {0};
    zw_model *model = zw_model_parse(text, text[0] == '<' ? "a.xml" : "a.zw", NULL, &error);
    if (!model) {
        fail_msg("%d: %s", error.line, error.text);
    }
    if (text[0] == '<' && zw_model_count(model, ZW_KIND_KEY) > 0) {
        robot_begin_with(model, 0);
    }
    return robot_of(model);
}

static void run(robot *r, zw_method method, double time, double every)
{
    zw_error error = {0};
    const zw_run_options options = {.time = time, .every = every, .step = 0.01, .method = method};
    assert_fine(zw_run(r->system, r->state, r->work, &options, NULL, &error));
}

static unsigned char *bytes_of(const zw_state *state)
{
    zw_error error = {0};
    unsigned char *bytes = malloc(zw_state_bytes(state));
    assert_non_null(bytes);
    assert_fine(zw_state_save(state, bytes, zw_state_bytes(state), &error));
    return bytes;
}

/* The state goes through its bytes into a system that was compiled anew. */
static void move_house(robot *r, const char *text)
{
    size_t size = zw_state_bytes(r->state);
    uint64_t hash = zw_state_hash(r->state);
    unsigned char *bytes = bytes_of(r->state);
    robot_end(r);
    *r = make(text);
    zw_state_free(r->state);
    r->state = zw_state_restore(r->system, bytes, size, &r->error);
    if (!r->state) {
        fail_msg("%s", r->error.text);
    }
    assert_true(zw_state_hash(r->state) == hash);
    free(bytes);
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* In one piece, in pieces, and looked at in between: the same bits, all of them. 0.07 and 0.29 are
 * no multiples of 0.01 in binary. */
static void pieces_are_the_whole(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int lagrangian; /* the variational methods know it */
    } systems[] = {{PENDULUM, 1}, {DRIVEN, 1}, {HOPPER, 0}, {SKATE, 0}, {ROBOT("2"), 1}, {LOOP, 1}};
    const zw_method method[] = {ZW_METHOD_RK4, ZW_METHOD_EULER, ZW_METHOD_MIDPOINT,
                                ZW_METHOD_VARIATIONAL, ZW_METHOD_VARIATIONAL4};
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        for (int m = 0; m < (systems[k].lagrangian ? 5 : 2); m++) {
            robot whole = make(systems[k].text), parts = make(systems[k].text);
            run(&whole, method[m], 0.41, 0.1);
            run(&parts, method[m], 0.07, 0.013);
            run(&parts, method[m], 0.08, -1);
            move_house(&parts, systems[k].text);
            run(&parts, method[m], 0.29, 0.5);
            move_house(&parts, systems[k].text);
            run(&parts, method[m], 0.41, 0.002);
            assert_memory_equal(whole.state, parts.state, whole.state->bytes);
            assert_true(zw_state_hash(whole.state) == zw_state_hash(parts.state));
            robot_end(&whole);
            robot_end(&parts);
        }
    }
}

/* Work is the integral of a power that solvers compute; near dependent rows they know more within a
 * run than at its beginning, and the work must not show it. */
static void work_is_the_same_in_pieces(void **state)
{
    (void)state;
    zw_error error = {0};
    const char *file = ZW_SOURCE_DIR "/examples/bodies/flyball_governor.xml";
    robot whole = robot_of(zw_model_read(file, NULL, &error));
    robot parts = robot_of(zw_model_read(file, NULL, &error));
    run(&whole, ZW_METHOD_VARIATIONAL4, 0.61, 0.1);
    for (int k = 1; k <= 61; k += 4) {
        run(&parts, ZW_METHOD_VARIATIONAL4, 0.01 * k, 0.1);
        zw_work_free(parts.work);
        parts.work = zw_work_create(parts.system, &error);
        assert_non_null(parts.work);
    }
    assert_memory_equal(whole.state, parts.state, whole.state->bytes);
    robot_end(&whole);
    robot_end(&parts);
}

/* What is remembered is for this very state, method and step. */
static void memories_do_not_outlive_their_state(void **state)
{
    (void)state;
    robot a = make(PENDULUM), b = make(PENDULUM);
    zw_error error = {0};
    run(&a, ZW_METHOD_VARIATIONAL, 0.2, 1);
    assert_true(a.state->remembered != 0);
    /* the same numbers without the memory */
    memcpy(b.state->data, a.state->data, (size_t)(a.state->nq + a.state->n) * sizeof(double));
    b.state->t = a.state->t;
    b.state->work = a.state->work;
    assert_true(zw_state_hash(a.state) != zw_state_hash(b.state));
    run(&a, ZW_METHOD_RK4, 0.4, 1);
    run(&b, ZW_METHOD_RK4, 0.4, 1);
    assert_memory_equal(a.state, b.state, a.state->bytes);
    /* a speed was changed: begin afresh, with p = M v */
    run(&a, ZW_METHOD_VARIATIONAL, 0.5, 1);
    memcpy(b.state, a.state, a.state->bytes);
    state_v(a.state)[0] *= 0.5, state_v(a.state)[1] *= 0.5;
    state_v(b.state)[0] *= 0.5, state_v(b.state)[1] *= 0.5;
    b.state->remembered = 0;
    run(&a, ZW_METHOD_VARIATIONAL, 0.7, 1);
    run(&b, ZW_METHOD_VARIATIONAL, 0.7, 1);
    assert_memory_equal(a.state, b.state, a.state->bytes);
    /* adaptive methods have none */
    const zw_run_options options = {.time = 1};
    assert_fine(zw_run(a.system, a.state, a.work, &options, NULL, &error));
    assert_true(a.state->remembered == 0);
    robot_end(&a);
    robot_end(&b);
}

static void copies_are_equal(void **state)
{
    (void)state;
    robot a = make(ROBOT("2")), b = make(PENDULUM);
    zw_state *copy = NULL;
    zw_error error = {0};
    run(&a, ZW_METHOD_MIDPOINT, 0.1, 1);
    assert_fine(zw_state_copy(a.state, &copy, &error));
    assert_true(zw_state_hash(copy) == zw_state_hash(a.state));
    run(&a, ZW_METHOD_MIDPOINT, 0.2, 1);
    assert_true(zw_state_hash(copy) != zw_state_hash(a.state));
    assert_fine(zw_state_copy(a.state, &copy, &error));
    assert_true(zw_state_hash(copy) == zw_state_hash(a.state));
    assert_int_equal(zw_state_copy(a.state, &b.state, &error), ZW_BAD_INPUT);
    zw_state_free(copy);
    copy = NULL;
    base_alloc_fail_after(1);
    assert_int_equal(zw_state_copy(a.state, &copy, &error), ZW_NO_MEMORY);
    assert_null(copy);
    robot_end(&a);
    robot_end(&b);
}

/* Every number counts, and so does the sign of zero. */
static void hashes_see_every_bit(void **state)
{
    (void)state;
    robot r = make(ROBOT("2"));
    run(&r, ZW_METHOD_MIDPOINT, 0.1, 1);
    uint64_t hash = zw_state_hash(r.state);
    size_t count = zw_state_bytes(r.state) / 8 - 15;
    for (size_t k = 0; k < count; k++) {
        double kept = r.state->data[k];
        r.state->data[k] = -kept;
        assert_true(zw_state_hash(r.state) != hash);
        r.state->data[k] = kept;
    }
    r.state->t = nextafter(r.state->t, 1);
    assert_true(zw_state_hash(r.state) != hash);
    robot_end(&r);
}

/* The same on every machine and compiler, as long as the version is 3. (The fingerprint may change
 * with the way in which formulas are derived.) */
static void the_hash_is_known(void **state)
{
    (void)state;
    robot r = make("coord x = 0.5\nspeed x' = 0.25\nkinetic x'^2/2\n"), again = make(PENDULUM);
    robot once = make(PENDULUM);
    assert_true(zw_state_hash(once.state) == zw_state_hash(again.state));
    r.state->fingerprint = 1;
    print_message("hash %016llx\n", (unsigned long long)zw_state_hash(r.state));
    assert_true(zw_state_hash(r.state) == 0xd1bc3696eacf5bbdull);
    robot_end(&r);
    robot_end(&once);
    robot_end(&again);
}

/* ---- What is broken -------------------------------------------------------------------------- */

static void must_fail(const robot *r, const unsigned char *bytes, size_t size, const char *message)
{
    zw_error error = {0};
    zw_state *state = zw_state_restore(r->system, bytes, size, &error);
    assert_null(state);
    assert_int_equal(error.status, ZW_BAD_INPUT);
    if (!strstr(error.text, message)) {
        fail_msg("'%s' does not say '%s'", error.text, message);
    }
}

/* Cut off anywhere, or one bit flipped anywhere. The copies are as long as they say, so that a
 * sanitizer sees reads that go too far. */
static void damage_is_reported(void **state)
{
    (void)state;
    robot r = make(HOPPER);
    run(&r, ZW_METHOD_RK4, 1, 1);
    size_t size = zw_state_bytes(r.state);
    unsigned char *bytes = bytes_of(r.state);
    for (size_t k = 0; k < size; k++) {
        unsigned char *cut = malloc(k + 1);
        assert_non_null(cut);
        memcpy(cut, bytes, k);
        unsigned char *exact = k > 0 ? realloc(cut, k) : cut;
        assert_non_null(exact);
        must_fail(&r, exact, k, k < 8 ? "not a state" : "truncated");
        free(exact);
        for (int bit = 0; bit < 8; bit++) {
            bytes[k] ^= (unsigned char)(1 << bit);
            must_fail(&r, bytes, size,
                      k < 8    ? "not a state"
                      : k < 16 ? "version"
                      : k < 24 ? "bytes"
                               : "damaged");
            bytes[k] ^= (unsigned char)(1 << bit);
        }
    }
    unsigned char *longer = calloc(size + 8, 1);
    assert_non_null(longer);
    memcpy(longer, bytes, size);
    must_fail(&r, longer, size + 1, "bytes, but there are");
    must_fail(&r, longer, size + 8, "bytes, but there are");
    free(longer);
    free(bytes);
    robot_end(&r);
}

static void put_word(unsigned char *bytes, size_t word, uint64_t value)
{
    for (int k = 0; k < 8; k++) {
        bytes[8 * word + (size_t)k] = (unsigned char)(value >> 8 * k);
    }
}

static uint64_t get_word(const unsigned char *bytes, size_t word)
{
    uint64_t value = 0;
    for (int k = 7; k >= 0; k--) {
        value = value << 8 | bytes[8 * word + (size_t)k];
    }
    return value;
}

/* Nonsense with a hash that fits: refused, or a state that a run survives. */
static void nonsense_does_no_harm(void **state)
{
    (void)state;
    const char *const text[] = {HOPPER, ROBOT("2"), LOOP};
    const zw_method method[] = {ZW_METHOD_RK4, ZW_METHOD_MIDPOINT, ZW_METHOD_VARIATIONAL};
    const double odd[] = {(double)NAN, (double)INFINITY, -1, 0.5, 3, 1e300, 1e17, -1e300};
    for (int s = 0; s < 3; s++) {
        robot r = make(text[s]);
        run(&r, method[s], 0.05, 1);
        size_t words = zw_state_bytes(r.state) / 8;
        for (size_t k = 2; k + 1 < words; k++) {
            for (size_t o = 0; o < sizeof odd / sizeof *odd; o++) {
                unsigned char *bytes = bytes_of(r.state);
                uint64_t hash = BASE_HASH_START;
                put_word(bytes, k, base_hash_bits(odd[o]));
                if (k > 13 + (size_t)(words - 15 - (size_t)r.state->memory)) {
                    /* ... and the memory believes that it belongs here */
                    put_word(bytes, 12,
                             state_digest(r.state, state_memory(r.state)[0] != ZW_METHOD_IMPULSE));
                }
                for (size_t i = 0; i + 1 < words; i++) {
                    hash = base_hash_word(hash, get_word(bytes, i));
                }
                put_word(bytes, words - 1, hash);
                zw_error error = {0};
                zw_state *x = zw_state_restore(r.system, bytes, 8 * words, &error);
                assert_true(x || error.text[0]);
                if (x) {
                    const zw_run_options two = {
                        .time = x->t + 0.02, .step = 0.01, .method = method[s], .every = 1};
                    zw_run(r.system, x, r.work, &two, NULL, &error);
                }
                zw_state_free(x);
                free(bytes);
            }
        }
        robot_end(&r);
    }
}

/* A mode that its constraint cannot have, and multipliers that are not finite, are refused by
 * name. */
static void modes_and_multipliers_are_looked_at(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double mode;
        int refused;
    } list[] = {
        {"coord y = 0\nmass 1 at (0, y)\nconstraint floor: y >= 0\n", SYSTEM_OPEN, 0},
        {"coord y = 0\nmass 1 at (0, y)\nconstraint floor: y >= 0\n", SYSTEM_CLOSED, 0},
        {"coord y = 0\nmass 1 at (0, y)\nconstraint floor: y >= 0\n", SYSTEM_STUCK, 1},
        {"coord y = 0\nmass 1 at (0, y)\nconstraint floor: y >= 0\n", 0.5, 1},
        {"coord x = 0, y = 0\nmass 1 at (x, y)\nconstraint floor: y = 0\n", SYSTEM_CLOSED, 0},
        {"coord x = 0, y = 0\nmass 1 at (x, y)\nconstraint floor: y = 0\n", SYSTEM_OPEN, 1},
        {"coord x = 0, y = 0\nmass 1 at (x, y)\nconstraint floor: y = 0\n", SYSTEM_HELD, 1},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        robot r = make(list[k].text);
        zw_error error = {0};
        state_mode(r.state)[0] = list[k].mode;
        unsigned char *bytes = bytes_of(r.state);
        if (list[k].refused) {
            must_fail(&r, bytes, zw_state_bytes(r.state), "floor in a mode that it cannot be in");
        } else {
            zw_state *same = zw_state_restore(r.system, bytes, zw_state_bytes(r.state), &error);
            assert_non_null(same);
            zw_state_free(same);
        }
        free(bytes);
        robot_end(&r);
    }
    robot r = make("coord x = 0, y = 0\nspeed x' = 1\nmass 1 at (x, y)\n"
                   "constraint skate: y' = 0\nlaw vakonomic skate = 1\n");
    assert_int_equal(r.state->carried, 1);
    state_v(r.state)[r.state->n] = (double)NAN;
    unsigned char *bytes = bytes_of(r.state);
    must_fail(&r, bytes, zw_state_bytes(r.state), "not finite");
    free(bytes);
    robot_end(&r);
}

static void other_systems_are_reported(void **state)
{
    (void)state;
    robot a = make(ROBOT("2")), b = make(ROBOT("2.5")), c = make(PENDULUM);
    size_t size = zw_state_bytes(a.state);
    unsigned char *bytes = bytes_of(a.state);
    must_fail(&b, bytes, size, "other names, formulas or masses");
    must_fail(&c, bytes, size, "another system: it has 10 speeds, this one 2");
    robot d = make("param m = 1, l = 1, g = 9.81\ncoord x = 0.6, y = -0.8\nmass m at (x, y)\n"
                   "gravity (0, -g)\nconstraint rod: x^2 + y^2 = 2*l^2\n");
    free(bytes);
    bytes = bytes_of(c.state);
    size = zw_state_bytes(c.state);
    must_fail(&d, bytes, size, "other names, formulas or masses");
    /* where it starts and what is plotted is no part of a system */
    robot e = make("param m = 2, l = 1, g = 9.81\ncoord x = 0, y = -1\nmass m at (x, y)\n"
                   "gravity (0, -g)\nconstraint rod: x^2 + y^2 = l^2\nplot time x\n");
    zw_error error = {0};
    zw_state *x = zw_state_restore(e.system, bytes, size, &error);
    assert_non_null(x);
    assert_true(zw_field(e.system, x, e.work, ZW_FIELD_PARAM).data[0] == 1);
    zw_state_free(x);
    assert_int_equal(zw_state_save(c.state, bytes, size - 1, &error), ZW_TOO_LARGE);
    base_alloc_fail_after(1);
    assert_null(zw_state_restore(c.system, bytes, size, &error));
    assert_int_equal(error.status, ZW_NO_MEMORY);
    free(bytes);
    robot_end(&a);
    robot_end(&b);
    robot_end(&c);
    robot_end(&d);
    robot_end(&e);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void files_are_whole_or_not_there(void **state)
{
    (void)state;
    robot r = make(ROBOT("2"));
    zw_error error = {0};
    const char *path = scratch("run.state");
    run(&r, ZW_METHOD_MIDPOINT, 0.1, 1);
    assert_fine(zw_state_write(r.state, path, &error));
    zw_state *x = zw_state_read(r.system, path, &error);
    assert_non_null(x);
    assert_memory_equal(x, r.state, r.state->bytes);
    zw_state_free(x);
    for (int k = 1; k <= 2; k++) { /* the old file stays when there is no memory */
        base_alloc_fail_after(k);
        assert_int_equal(zw_state_write(r.state, path, &error), ZW_NO_MEMORY);
        base_alloc_fail_after(0);
        x = zw_state_read(r.system, path, &error);
        assert_non_null(x);
        zw_state_free(x);
    }
    assert_int_equal(zw_state_write(r.state, scratch("none/such.state"), &error), ZW_NO_FILE);
    assert_null(zw_state_read(r.system, scratch("none/such.state"), &error));
    assert_int_equal(error.status, ZW_NO_FILE);
    assert_non_null(strstr(error.file, "such.state"));
    robot_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(work_is_the_same_in_pieces),
        cmocka_unit_test(memories_do_not_outlive_their_state),
        cmocka_unit_test(copies_are_equal),
        cmocka_unit_test(hashes_see_every_bit),
        cmocka_unit_test(the_hash_is_known),
        cmocka_unit_test(damage_is_reported),
        cmocka_unit_test(nonsense_does_no_harm),
        cmocka_unit_test(modes_and_multipliers_are_looked_at),
        cmocka_unit_test(other_systems_are_reported),
        cmocka_unit_test(files_are_whole_or_not_there),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
