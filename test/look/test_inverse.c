/* Inverse dynamics: the inverse of forward is the identity, for equations and robots, with loops,
 * contacts, friction and limits; undetermined forces are those of least norm. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../system/world.h"
#include "base/memory.h"
#include "system/bodies/bodies.h"
#include "zwang/inverse.h"

static zw_error error;

static double size_of(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static double chance(unsigned *seed) /* -1 ... 1 */
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* ---- Forward, then inverse ------------------------------------------------------------------ */

/* The forces of the actuators now. */
static void motors_of(world *w, double *force)
{
    for (int k = 0; w->system->bodies && k < w->system->bodies->motor_count; k++) {
        const double *q = state_q(w->state), *v = state_v(w->state);
        force[k] = bodies_motor_look(w->system, w->work, k, q, v).force;
    }
}

typedef struct worst {
    double residual, motor, lambda, reaction;
    int choices, contacts, least;
} worst;

/* At the state of the world; relative differences. */
static worst there_and_back(world *w, const char *name, zw_inverse *inverse)
{
    const zw_system *system = w->system;
    worst far = {.least = 1};
    zw_inverse_answer x;
    double given[64] = {0}, ours = 0, theirs = 0;
    if (zw_forward(system, w->state, w->work, NULL, &error) != ZW_OK) {
        fail_msg("%s: %s", name, error.text);
    }
    const double *a = world_field(w, ZW_FIELD_A), *lambda = world_field(w, ZW_FIELD_LAMBDA);
    const zw_motion *motion = zw_work_motion(w->work);
    if (zw_inverse_look(inverse, w->state, a, &x, &error) != ZW_OK) {
        fail_msg("%s: %s", name, error.text);
    }
    double size = 1e-6 + fmax(size_of(motion->F_N, system->n), size_of(x.demand, system->n));
    far.residual = size_of(x.residual, system->n) / size;
    far.choices = x.choices;
    far.contacts = x.contacts;
    far.least = x.least;
    motors_of(w, given);
    for (int k = 0; k < x.motors; k++) {
        far.motor = fmax(far.motor, fabs(x.motor[k] - given[k]) / size);
        ours += x.motor[k] * x.motor[k];
        theirs += given[k] * given[k];
    }
    for (int r = 0; r < system->m; r++) {
        far.lambda = fmax(far.lambda, fabs(x.lambda[r] - lambda[r]) / (size + fabs(lambda[r])));
    }
    for (int i = 0; i < system->n; i++) {
        double force = motion->F_L[i] + motion->F_C[i];
        for (int k = 0; k < system->C_count; k++) { /* a force that is known */
            force -= system->C_coord[k] == i ? w->work->out[PART_TERMS][system->at.C + k] : 0;
        }
        force -= x.constraint[i] + x.touch[i];
        far.reaction = fmax(far.reaction, fabs(force) / size);
    }
    if (x.choices > 0 && x.least && ours > theirs * (1 + 1e-6) + 1e-9 * size * size) {
        fail_msg("%s: %g is not the least sum of squares, %g does it", name, ours, theirs);
    }
    return far;
}

static void check(const char *name, const worst *far)
{
    print_message(
        "%-28s residual %.1e motor %.1e lambda %.1e reaction %.1e choices %d touching %d%s\n", name,
        far->residual, far->motor, far->lambda, far->reaction, far->choices, far->contacts,
        far->least ? "" : " not least");
    assert_true(far->residual <= 1e-9);
    if (far->choices == 0) {
        assert_true(far->motor <= 1e-9);
        assert_true(far->lambda <= 1e-9);
        assert_true(far->reaction <= 1e-9);
    }
}

static void try_file(const char *folder, const char *file)
{
    char path[600];
    world w = {0};
    unsigned seed = 7;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    w.model = zw_model_read(path, NULL, &error);
    if (w.model && strstr(file, ".xml") && zw_model_count(w.model, ZW_KIND_KEY) > 0) {
        zw_key_def key = *(const zw_key_def *)zw_model_def(w.model, ZW_KIND_KEY, 0);
        key.start = 1;
        assert_int_equal(zw_model_change(w.model, ZW_KIND_KEY, 0, &key, &error), ZW_OK);
    }
    w.system = w.model ? zw_system_compile(w.model, NULL, &error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &error) : NULL;
    if (!w.state) {
        fail_msg("%s: %s", file, error.text);
    }
    zw_inverse *inverse = zw_inverse_create(w.model, w.system, NULL, &error);
    if (w.system->law.carried > 0) {
        assert_null(inverse);
        assert_int_equal(error.status, ZW_BAD_INPUT);
        world_end(&w);
        return;
    }
    assert_non_null(inverse);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; w.system->bodies && i < w.system->bodies->motor_count; i++) {
            state_param(w.state)[w.system->bodies->motor[i].param] += 0.3 * chance(&seed);
        }
        worst far = there_and_back(&w, file, inverse);
        check(file, &far);
        double time = 0.05 + 0.11 * k;
        const zw_run_options options = {.time = world_field(&w, ZW_FIELD_TIME)[0] + time,
                                        .tolerance = 1e-9};
        zw_run_summary summary;
        if (zw_run(w.system, w.state, w.work, &options, &summary, &error) != ZW_OK) {
            break; /* some have a `reach` that is asked for elsewhere, or end early */
        }
    }
    zw_inverse_free(inverse);
    world_end(&w);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static void try_folder(const char *folder)
{
    static char *name[400];
    int count = 0;
    DIR *all = opendir(folder);
    assert_non_null(all);
    for (struct dirent *e; (e = readdir(all)) != NULL && count < 400;) {
        const char *end = strrchr(e->d_name, '.');
        if (e->d_name[0] != '.' && end && (!strcmp(end, ".zw") || !strcmp(end, ".xml"))) {
            name[count] = malloc(strlen(e->d_name) + 1);
            strcpy(name[count++], e->d_name);
        }
    }
    closedir(all);
    qsort(name, (size_t)count, sizeof *name, by_name);
    for (int i = 0; i < count; i++) {
        try_file(folder, name[i]);
        free(name[i]);
    }
}

static void test_equations(void **state)
{
    (void)state;
    try_folder(ZW_SOURCE_DIR "/examples");
}

static void test_robots(void **state)
{
    (void)state;
    try_folder(ZW_SOURCE_DIR "/examples/bodies");
}

/* ---- Least forces --------------------------------------------------------------------------- */

/* Two motors with gears 1 and 3 on one hinge: force g_k T/(g_1^2 + g_2^2). */
static void test_two_motors(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><option gravity='0 0 -10'/><worldbody><body><joint name='j' axis='0 1 0'/>"
        "<inertial pos='0.5 0 0' mass='2' diaginertia='0.1 0.1 0.1'/></body></worldbody>"
        "<actuator><motor joint='j' gear='1'/><motor joint='j' gear='3'/></actuator></mujoco>";
    FILE *f = fopen("two_motors.xml", "w");
    fputs(text, f);
    fclose(f);
    world w = {0};
    w.model = zw_model_read("two_motors.xml", NULL, &error);
    assert_non_null(w.model);
    w.system = zw_system_compile(w.model, NULL, &error);
    w.work = zw_work_create(w.system, &error);
    w.state = zw_state_create(w.system, w.work, NULL, &error);
    zw_inverse *inverse = zw_inverse_create(w.model, w.system, NULL, &error);
    double a = 1.5, T = (0.1 + 2 * 0.25) * a - 2 * 10 * 0.5;
    zw_inverse_answer x;
    assert_int_equal(zw_inverse_look(inverse, w.state, &a, &x, &error), ZW_OK);
    assert_int_equal(x.choices, 1);
    assert_int_equal(x.least, 1);
    assert_true(fabs(x.demand[0] - T) < 1e-12);
    assert_true(fabs(x.motor[0] - T / 10) < 1e-10);
    assert_true(fabs(x.motor[1] - 3 * T / 10) < 1e-10);
    assert_true(fabs(x.residual[0]) < 1e-10);
    zw_inverse_free(inverse);
    world_end(&w);
    remove("two_motors.xml");
}

/* A cart that is pushed only by a drive; the pole has none: what it takes there is the residual. In
 * Gauss's measure the least residual for M = [2 c; c 1] is not just the demand on the pole. */
static void test_residual(void **state)
{
    (void)state;
    world w = world_of("param c = 0.5\ncoord x = 0, y = 0\n"
                       "kinetic x'^2 + y'^2/2 + c*x'*y'\nforce y: -3\n");
    const int drive = 0;
    const zw_inverse_options options = {.drive = &drive, .drive_count = 1};
    zw_inverse *inverse = zw_inverse_create(w.model, w.system, &options, &error);
    const double a[2] = {1, 2}, D[2] = {2 * 1 + 0.5 * 2, 0.5 * 1 + 2 + 3};
    zw_inverse_answer x;
    assert_non_null(inverse);
    assert_int_equal(zw_inverse_look(inverse, w.state, a, &x, &error), ZW_OK);
    assert_true(fabs(x.demand[0] - D[0]) < 1e-14 && fabs(x.demand[1] - D[1]) < 1e-14);
    /* minimise r' M^-1 r, r = (D0 - u, D1): M^-1 = [1 -c; -c 2]/(2 - c^2), so r0 = c r1 */
    assert_true(fabs(x.residual[1] - D[1]) < 1e-12);
    assert_true(fabs(x.residual[0] - 0.5 * D[1]) < 1e-12);
    assert_true(fabs(x.drive[0] - (D[0] - 0.5 * D[1])) < 1e-12);
    assert_true(fabs(x.missing[0]) < 1e-12 && fabs(x.missing[1] - D[1]) < 1e-12);
    assert_true(fabs(x.size - D[1]) < 1e-12);
    zw_inverse_free(inverse);
    world_end(&w);
}

/* Speeds in other units, reversed or missing (0) give other forces; noise in them, or in the
 * positions of what rests, does not make them wrong. */
static void test_speeds_of_other_positions(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    static const double factor[] = {1, 2, 57.3, -1, 0, 1.2};
    world w = world_of("coord x = 1, y = 0\nkinetic (x'^2 + y'^2)/2\npotential x^2/2\n");
    const int drive[] = {0, 1};
    const zw_inverse_options options = {.drive = drive, .drive_count = 2};
    for (size_t k = 0; k < sizeof factor / sizeof *factor; k++) {
        double t[COUNT], q[2 * COUNT], v[2 * COUNT];
        unsigned seed = 7;
        for (long i = 0; i < COUNT; i++) {
            t[i] = 0.05 * (double)i;
            q[2 * i] = cos(t[i]) + 1e-3 * chance(&seed);
            v[2 * i] = -factor[k] * sin(t[i]) + 1e-2 * chance(&seed);
            q[2 * i + 1] = 1e-3 * chance(&seed);
            v[2 * i + 1] = 1e-2 * chance(&seed);
        }
        zw_path *path = zw_path_create(w.system, COUNT, t, q, v, &error);
        assert_non_null(path);
        zw_inverse_path *table = zw_inverse_along(w.model, w.system, path, &options, &error);
        int right = fabs(factor[k] - 1) < 0.3;
        assert_int_equal(table != NULL, right);
        assert_true(right || strstr(error.text, "speeds of x are not those of its positions"));
        zw_inverse_path_free(table);
        zw_path_free(path);
    }
    world_end(&w);
}

/* A ring that is pulled off a floor by what no force gives: the floor only pushes. */
static void test_one_sided(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 0\nmass 2 at (x, y)\ngravity (0, -10)\n"
                       "constraint floor: y >= 0\n");
    zw_inverse *inverse = zw_inverse_create(w.model, w.system, NULL, &error);
    zw_inverse_answer x;
    assert_non_null(inverse);
    const double rest[2] = {0, 0}, up[2] = {0, 1}, down[2] = {0, -12};
    assert_int_equal(zw_inverse_look(inverse, w.state, rest, &x, &error), ZW_OK);
    assert_true(fabs(x.lambda[0] - 20) < 1e-12 && fabs(x.residual[1]) < 1e-12);
    assert_int_equal(zw_inverse_look(inverse, w.state, up, &x, &error), ZW_OK); /* it parts */
    assert_true(x.lambda[0] == 0 && fabs(x.residual[1] - 22) < 1e-12);
    assert_int_equal(zw_inverse_look(inverse, w.state, down, &x, &error), ZW_OK);
    assert_true(fabs(x.lambda[0]) < 1e-12 && fabs(x.residual[1] + 4) < 1e-12);
    assert_true(fabs(x.off - 12) < 1e-12);
    zw_inverse_free(inverse);
    world_end(&w);
}

/* What rests has accelerations of round-off size, of any sign: it neither parts nor slides. */
static void test_rest(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 0\nmass 2 at (x, y)\ngravity (0, -10)\nforce x: 1\n"
                       "constraint floor: y >= 0, friction 0.3 slip x'\n");
    zw_inverse *inverse = zw_inverse_create(w.model, w.system, NULL, &error);
    const double a[2] = {-3e-17, 2e-17};
    zw_inverse_answer x;
    assert_int_equal(zw_inverse_look(inverse, w.state, a, &x, &error), ZW_OK);
    assert_true(fabs(x.lambda[0] - 20) < 1e-9 && fabs(x.constraint[0] + 1) < 1e-9);
    assert_true(x.size < 1e-9);
    zw_inverse_free(inverse);
    world_end(&w);
    static const char text[] =
        "<mujoco><option gravity='1 0 -10'/><worldbody><geom type='plane' size='1 1 1'/>"
        "<body pos='0 0 .1'><freejoint/><geom type='box' size='.2 .2 .1' mass='2'/></body>"
        "</worldbody></mujoco>";
    const double b[6] = {1e-16, -2e-16, 3e-16, 1e-16, 0, -1e-16};
    w.model = zw_model_parse(text, "box.xml", NULL, &error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &error) : NULL;
    inverse = w.state ? zw_inverse_create(w.model, w.system, NULL, &error) : NULL;
    assert_non_null(inverse);
    assert_int_equal(zw_inverse_look(inverse, w.state, b, &x, &error), ZW_OK);
    assert_true(fabs(x.touch[0] + 2) < 1e-7 && fabs(x.touch[2] - 20) < 1e-7 && x.size < 1e-7);
    zw_inverse_free(inverse);
    world_end(&w);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void test_no_memory(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = -1\nmass 2 at (x, y)\ngravity (0, -10)\n"
                       "constraint rod: x^2 + y^2 = 1\n");
    const int drive[2] = {0, 1};
    const zw_inverse_options options = {.drive = drive, .drive_count = 2};
    const double a[2] = {0, 0};
    zw_inverse_answer x;
    int done = 0;
    for (int k = 1; !done && k < 500; k++) {
        base_alloc_fail_after(k);
        zw_inverse *inverse = zw_inverse_create(w.model, w.system, &options, &error);
        zw_status status =
            inverse ? zw_inverse_look(inverse, w.state, a, &x, &error) : ZW_NO_MEMORY;
        base_alloc_fail_after(0);
        done = status == ZW_OK;
        assert_true(done || status == ZW_NO_MEMORY);
        if (done) {
            assert_int_equal(x.choices, 1); /* the rod carries all, the drives nothing */
            assert_true(fabs(x.drive[0]) < 1e-5 && fabs(x.drive[1]) < 1e-5);
        }
        zw_inverse_free(inverse);
    }
    assert_true(done);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equations),  cmocka_unit_test(test_robots),
        cmocka_unit_test(test_two_motors), cmocka_unit_test(test_residual),
        cmocka_unit_test(test_one_sided),  cmocka_unit_test(test_rest),
        cmocka_unit_test(test_no_memory),  cmocka_unit_test(test_speeds_of_other_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
