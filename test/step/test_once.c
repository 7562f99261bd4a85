/* Loops of zw_step: the same bits as a run, about its cost, and no allocation.
 *
 *     test_once count MODEL METHOD run|step N     just that, for tools/count-steps */
#include "step/integrate.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "model/bodies.h"
#include "system/bodies/bodies.h"
#include "system/robots.h"

#define H 0.002
#define HUMANOID "/examples/contact/humanoid_falls.xml"
#define PENDULUM "/examples/double_pendulum.zw"

static robot open_path(const char *path)
{
    zw_error error = {0};
    zw_model *model = zw_model_read(path, NULL, &error);
    if (!model) {
        fail_msg("%s", error.text);
    }
    return robot_of(model);
}

static robot open_file(const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s%s", ZW_SOURCE_DIR, name);
    return open_path(path);
}

static void take_steps(robot *r, zw_method method, int count)
{
    zw_error error = {0};
    for (int i = 0; i < count; i++) {
        assert_fine(zw_step(r->system, r->state, r->work,
                            &(zw_run_options){.method = method, .step = H}, &error));
    }
}

static void run_steps(robot *r, zw_method method, int count)
{
    zw_error error = {0};
    const zw_run_options options = {
        .time = r->state->t + count * H, .every = 1e9, .step = H, .method = method};
    assert_fine(zw_run(r->system, r->state, r->work, &options, NULL, &error));
}

/* Replace the work by a new one, which has no cached data. */
static void change_work(robot *r)
{
    zw_error error = {0};
    zw_work_free(r->work);
    r->work = zw_work_create(r->system, &error);
    assert_non_null(r->work);
}

/* The same with round friction cones, whose Newton's method ends on curved pieces: under the soft
 * law its last bits depend on where it began, which is so part of the state. */
static robot open_round(const char *name)
{
    char path[400];
    zw_error error = {0};
    snprintf(path, sizeof path, "%s%s", ZW_SOURCE_DIR, name);
    zw_model *model = zw_model_read(path, NULL, &error);
    assert_non_null(model);
    model->bodies->world.elliptic = 1;
    return robot_of(model);
}

/* The same with other speeds. */
static robot open_moving(const char *name, double phase)
{
    robot r = open_file(name);
    double *v = state_v(r.state);
    for (int i = 0; i < r.system->n; i++) {
        v[i] += 0.1 * sin(1.3 * i + phase);
    }
    return r;
}

/* A work that also moves another world, as those of the threads of a batch do, gives the same bits:
 * what it keeps of that, such as the order in which a matrix was eliminated or the forces of
 * contacts, has no effect. A file with events and kinks of formulas takes its steps as runs. */
static void other_worlds_leave_no_trace(void **state)
{
    (void)state;
    static const char *const file[] = {"/examples/contact/card_house.xml",
                                       "/examples/contact/quadruped_walks.zw"};
    zw_error error = {0};
    const zw_run_options options = {.method = ZW_METHOD_IMPULSE};
    for (int k = 0; k < 2; k++) {
        robot a = open_moving(file[k], 0.4), b = open_moving(file[k], 0.4);
        robot other = open_moving(file[k], 2.2);
        for (int i = 0; i < 30; i++) {
            assert_fine(zw_step(b.system, other.state, b.work, &options, &error));
            assert_fine(zw_step(a.system, a.state, a.work, &options, &error));
            assert_fine(zw_step(b.system, b.state, b.work, &options, &error));
            assert_memory_equal(state_q(a.state), state_q(b.state),
                                (size_t)a.system->nq * sizeof(double));
        }
        robot_end(&a);
        robot_end(&b);
        robot_end(&other);
    }
}

/* Two gears by the soft law, turned into each other until their teeth overlap so far that the
 * normals of contacts are along the shafts: they push with 1e18 N, of which round-off leaves more
 * than what moves the gears. No search for the minimum is sure of its bits then, so it must always
 * begin in the same way, and not where the one of the last step ended. */
static void jams_know_no_history(void **state)
{
    (void)state;
    for (int k = 1; k <= 8; k++) {
        zw_error error = {0};
        robot a = open_file("/examples/contact/gears.xml");
        robot b = open_file("/examples/contact/gears.xml");
        state_v(a.state)[0] = state_v(b.state)[0] = 0.5 * k;
        state_v(a.state)[1] = state_v(b.state)[1] = -0.3;
        zw_status status = ZW_OK;
        for (int i = 0; i < 25 && status == ZW_OK; i++) {
            const zw_run_options options = {.method = ZW_METHOD_SOFT};
            change_work(&b);
            status = zw_step(a.system, a.state, a.work, &options, &error);
            assert_int_equal(zw_step(b.system, b.state, b.work, &options, &error), status);
            assert_memory_equal(state_v(a.state), state_v(b.state), 2 * sizeof(double));
        }
        robot_end(&a);
        robot_end(&b);
    }
}

/* Twenty boxes that begin to stand, by the soft law: as long as the lower ones have not been pushed
 * together, contacts of the upper ones are exactly at the edge of pushing, and round-off, which
 * depends on where the search for the minimum began, must not decide. */
static void towers_know_no_history(void **state)
{
    (void)state;
    zw_error error = {0};
    const zw_run_options options = {.method = ZW_METHOD_SOFT};
    robot a = open_file("/examples/contact/tower.xml"),
          b = open_file("/examples/contact/tower.xml");
    robot other = open_moving("/examples/contact/tower.xml", 0.3);
    for (int i = 0; i < 30; i++) {
        assert_fine(zw_step(b.system, other.state, b.work, &options, &error));
        assert_fine(zw_step(a.system, a.state, a.work, &options, &error));
        assert_fine(zw_step(b.system, b.state, b.work, &options, &error));
        assert_memory_equal(state_v(a.state), state_v(b.state),
                            (size_t)a.system->n * sizeof(double));
    }
    robot_end(&a);
    robot_end(&b);
    robot_end(&other);
}

/* Fixed steps have the bits of a run, whether or not the stepper was kept, and whatever was read in
 * between. */
static void has_the_bits_of_a_run(void **state)
{
    (void)state;
    static const zw_method method[] = {ZW_METHOD_EULER,    ZW_METHOD_RK4,  ZW_METHOD_VARIATIONAL,
                                       ZW_METHOD_MIDPOINT, ZW_METHOD_SOFT, ZW_METHOD_IMPULSE};
    zw_error error = {0};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        robot (*open)(const char *) = method[k] == ZW_METHOD_SOFT ? open_round : open_file;
        robot a = open(HUMANOID), b = open(HUMANOID);
        if (method[k] == ZW_METHOD_SOFT) { /* until it slides on the floor */
            take_steps(&a, method[k], 1340);
            take_steps(&b, method[k], 1340);
        }
        run_steps(&a, method[k], 30);
        take_steps(&b, method[k], 7);
        change_work(&b);
        take_steps(&b, method[k], 5);
        assert_fine(zw_forward(b.system, b.state, b.work, NULL, &error));
        assert_fine(zw_look(b.system, b.state, b.work, &error));
        take_steps(&b, method[k], 6);
        zw_state *other = NULL; /* another motion by the same work */
        assert_fine(zw_state_copy(b.state, &other, &error));
        other->data[0] += 0.1;
        zw_step(b.system, other, b.work, &(zw_run_options){.method = method[k], .step = H}, &error);
        zw_state_free(other);
        take_steps(&b, method[k], 12);
        size_t bytes = (size_t)(a.system->nq + a.system->n) * sizeof(double);
        assert_memory_equal(a.state->data, b.state->data, bytes);
        robot_end(&a);
        robot_end(&b);
    }
}

/* A change of a parameter or the state between steps acts at once, as with a new work. */
static void changes_are_seen(void **state)
{
    (void)state;
    for (int what = 0; what < 2; what++) {
        robot a = open_file(PENDULUM), b = open_file(PENDULUM);
        take_steps(&a, ZW_METHOD_RK4, 5);
        take_steps(&b, ZW_METHOD_RK4, 5);
        double *list[] = {what ? state_param(a.state) : state_v(a.state),
                          what ? state_param(b.state) : state_v(b.state)};
        list[0][0] *= 1.125;
        list[1][0] *= 1.125;
        change_work(&b);
        take_steps(&a, ZW_METHOD_RK4, 5);
        take_steps(&b, ZW_METHOD_RK4, 5);
        assert_true(zw_state_hash(a.state) == zw_state_hash(b.state));
        robot_end(&a);
        robot_end(&b);
    }
}

/* After a change of controls the soft law continues as with a new work. */
static void controls_are_heard(void **state)
{
    (void)state;
    robot a = open_file(HUMANOID), b = open_file(HUMANOID);
    const struct system_bodies *bodies = a.system->bodies;
    assert_true(bodies->motor_count > 0);
    for (int step = 0; step < 40; step++) {
        for (int k = 0; k < bodies->motor_count; k++) {
            double value = 0.3 * ((step + k) % 5 - 2);
            state_param(a.state)[bodies->motor[k].param] = value;
            state_param(b.state)[bodies->motor[k].param] = value;
        }
        take_steps(&a, ZW_METHOD_SOFT, 1);
        change_work(&b);
        take_steps(&b, ZW_METHOD_SOFT, 1);
        assert_true(zw_state_hash(a.state) == zw_state_hash(b.state));
    }
    robot_end(&a);
    robot_end(&b);
}

/* No allocation after the first few steps: the next one is set to fail. */
static void nothing_is_allocated(void **state)
{
    (void)state;
    static const zw_method method[] = {ZW_METHOD_DOP853, ZW_METHOD_EULER,       ZW_METHOD_RK4,
                                       ZW_METHOD_STIFF,  ZW_METHOD_VARIATIONAL, ZW_METHOD_MIDPOINT,
                                       ZW_METHOD_SOFT,   ZW_METHOD_IMPULSE};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        robot r = open_file(HUMANOID);
        take_steps(&r, method[k], 10);
        base_alloc_fail_after(1);
        take_steps(&r, method[k], 10);
        assert_null(base_alloc(1)); /* the failure was still pending */
        base_alloc_fail_after(0);
        robot_end(&r);
    }
}

/* If an allocation fails in the first step, it is reported, and a repeated step gives the same
 * result as without the failure. */
static void memory_may_be_missing(void **state)
{
    (void)state;
    static const zw_method method[] = {ZW_METHOD_DOP853, ZW_METHOD_EULER, ZW_METHOD_MIDPOINT,
                                       ZW_METHOD_SOFT, ZW_METHOD_IMPULSE};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        robot r = open_file("/examples/bodies/double_pendulum.xml"),
              wanted = open_file("/examples/bodies/double_pendulum.xml");
        zw_error error = {0};
        zw_state *start = NULL;
        assert_fine(zw_state_copy(r.state, &start, &error));
        take_steps(&wanted, method[k], 2);
        zw_status status = ZW_NO_MEMORY;
        for (int failing = 1; status != ZW_OK; failing++) {
            change_work(&r);
            assert_fine(zw_state_copy(start, &r.state, &error));
            base_alloc_fail_after(failing);
            status = zw_step(r.system, r.state, r.work,
                             &(zw_run_options){.method = method[k], .step = H}, &error);
            base_alloc_fail_after(0);
            if (status != ZW_OK) {
                assert_int_equal(status, ZW_NO_MEMORY);
                take_steps(&r, method[k], 1);
            }
            take_steps(&r, method[k], 1);
            assert_true(zw_state_hash(r.state) == zw_state_hash(wanted.state));
        }
        zw_state_free(start);
        robot_end(&r);
        robot_end(&wanted);
    }
}

/* Without options a step uses the method and the timestep of the file. */
static void a_step_as_the_file_says(void **state)
{
    (void)state;
    robot a = open_file(HUMANOID), b = open_file(HUMANOID);
    zw_error error = {0};
    const double h = zw_model_world(a.model)->timestep;
    for (int k = 0; k < 3; k++) {
        assert_fine(zw_step(a.system, a.state, a.work, NULL, &error));
        assert_fine(zw_step(b.system, b.state, b.work,
                            &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = h}, &error));
    }
    assert_true(zw_state_hash(a.state) == zw_state_hash(b.state));
    robot_end(&a);
    robot_end(&b);
}

/* A pendulum is thrown back where it passes an angle: by steps as by a run. */
static void events_happen_in_steps(void **state)
{
    (void)state;
    static const zw_method method[] = {ZW_METHOD_IMPULSE, ZW_METHOD_RK4};
    static const char *const text = "import \"double_pendulum.xml\"\nparam kick = 2\n"
                                    "event up: shoulder = 0.1, set shoulder' = kick\n";
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        zw_error error = {0};
        double end[2];
        for (int steps = 0; steps < 2; steps++) {
            zw_model *model =
                zw_model_parse(text, ZW_SOURCE_DIR "/examples/bodies/x.zw", NULL, &error);
            if (!model) {
                fail_msg("%s", error.text);
            }
            robot r = robot_of(model);
            state_v(r.state)[0] = 1;
            (steps ? take_steps : run_steps)(&r, method[k], 400);
            end[steps] = state_q(r.state)[0];
            robot_end(&r);
        }
        /* steps end at the times of the caller, those of a run at others after the event */
        assert_true(fabs(end[1] - end[0]) <= (k == 0 ? 1e-4 : 1e-7));
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Instructions are counted by tools/count-steps; this test takes the best of several times, and
 * allows 50 % more. A zw_step that created its stepper anew would cost 2.5 to 12 times as much.
 * Where other machines on the same processor disturb some of the times and not others, the best of
 * more of them is taken. */
static void costs_what_a_step_of_a_run_costs(void **state)
{
    (void)state;
    static const zw_method method[] = {ZW_METHOD_EULER, ZW_METHOD_RK4, ZW_METHOD_SOFT,
                                       ZW_METHOD_IMPULSE};
    enum { STEPS = 20, TIMES = 8, MORE = 80 };
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        robot r = open_file(HUMANOID);
        zw_error error = {0};
        zw_state *start = NULL;
        double best[3] = {1e9, 1e9, 1e9};
        int holds = 0;
        take_steps(&r, method[k], 2);
        assert_fine(zw_state_copy(r.state, &start, &error));
        /* a run of STEPS, one of twice as many, steps */
        for (int i = 0; i < 3 * TIMES || (i < 3 * MORE && !holds); i++) {
            assert_fine(zw_state_copy(start, &r.state, &error));
            take_steps(&r, method[k], i % 3 == 2);
            double before = seconds();
            if (i % 3 < 2) {
                run_steps(&r, method[k], (1 + i % 3) * STEPS);
            } else {
                take_steps(&r, method[k], STEPS);
            }
            best[i % 3] = fmin(best[i % 3], seconds() - before);
            holds = i % 3 == 2 && best[2] <= 1.5 * (best[1] - best[0]);
        }
        assert_true(holds);
        zw_state_free(start);
        robot_end(&r);
    }
}

/* After a soft step contacts can be read, though they were not requested during the step. */
static void soft_contacts_are_found_later(void **state)
{
    (void)state;
    robot a = open_file(HUMANOID), b = open_file(HUMANOID);
    zw_contact list[2][16];
    zw_error error = {0};
    run_steps(&a, ZW_METHOD_SOFT, 20);
    take_steps(&b, ZW_METHOD_SOFT, 20);
    int count = zw_contacts(a.system, a.state, a.work, list[0], 16, &error);
    assert_true(count > 0);
    assert_int_equal(zw_contacts(b.system, b.state, b.work, list[1], 16, &error), count);
    for (int k = 0; k < count && k < 16; k++) {
        assert_memory_equal(list[0][k].force, list[1][k].force, sizeof list[0][k].force);
    }
    assert_fine(zw_look(b.system, b.state, b.work, &error));
    zw_view accelerations[] = {zw_field(a.system, a.state, a.work, ZW_FIELD_A),
                               zw_field(b.system, b.state, b.work, ZW_FIELD_A)};
    assert_memory_equal(accelerations[0].data, accelerations[1].data,
                        (size_t)accelerations[0].count * sizeof(double));
    robot_end(&a);
    robot_end(&b);
}

/* ---- Ended by the caller --------------------------------------------------------------------- */

static int run_out(void *user, double time)
{
    (void)time;
    return --*(long *)user <= 0;
}

/* Whenever poll ends a fixed step, the step is complete or not taken at all, and the motion can
 * continue. */
static void a_step_that_is_ended(void **state)
{
    (void)state;
    static const zw_method method[] = {ZW_METHOD_EULER, ZW_METHOD_RK4,  ZW_METHOD_VARIATIONAL,
                                       ZW_METHOD_STIFF, ZW_METHOD_SOFT, ZW_METHOD_IMPULSE};
    zw_error error = {0};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        robot a = open_file(HUMANOID), b = open_file(HUMANOID);
        size_t bytes = (size_t)(a.system->nq + a.system->n) * sizeof(double);
        int ended = 0, done = 0;
        take_steps(&a, method[k], 3);
        for (long left = 1; !done && left < 200; left += left < 8 ? 1 : 16) {
            long polls = left;
            const zw_run_options options = {
                .method = method[k], .step = H, .poll = run_out, .user = &polls};
            zw_state_copy(a.state, &b.state, &error);
            zw_status status = zw_step(b.system, b.state, b.work, &options, &error);
            done = status == ZW_OK;
            assert_true(done || status == ZW_INTERRUPTED);
            ended += !done;
            if (!done && method[k] != ZW_METHOD_STIFF && b.state->t == a.state->t) {
                assert_memory_equal(a.state->data, b.state->data, bytes);
            } else if (method[k] != ZW_METHOD_STIFF) {
                assert_true(b.state->t == a.state->t + H);
            }
            take_steps(&b, method[k], 1);
        }
        assert_true(ended > 0);
        robot_end(&a);
        robot_end(&b);
    }
}

static int count(char **argument)
{
    zw_method method;
    if (zw_method_find(argument[1], &method) != ZW_OK) {
        return 1;
    }
    robot r = open_path(argument[0]);
    if (strcmp(argument[2], "run") == 0) {
        run_steps(&r, method, atoi(argument[3]));
    } else {
        take_steps(&r, method, atoi(argument[3]));
    }
    robot_end(&r);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "count") == 0) {
        return count(argv + 2);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_bits_of_a_run),
        cmocka_unit_test(other_worlds_leave_no_trace),
        cmocka_unit_test(jams_know_no_history),
        cmocka_unit_test(towers_know_no_history),
        cmocka_unit_test(changes_are_seen),
        cmocka_unit_test(controls_are_heard),
        cmocka_unit_test(nothing_is_allocated),
        cmocka_unit_test(a_step_as_the_file_says),
        cmocka_unit_test(memory_may_be_missing),
        cmocka_unit_test(events_happen_in_steps),
        cmocka_unit_test(costs_what_a_step_of_a_run_costs),
        cmocka_unit_test(soft_contacts_are_found_later),
        cmocka_unit_test(a_step_that_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
