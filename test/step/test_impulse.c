/* The velocity form of the principle: a step of bodies that is implicit in the next velocity.
 * Forces in joints are tested in test_impulse_joint.c, contact in test_touch*.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "step/impulse_go.h"
#include "tree/sweeps.h"

/* ---- Orders --------------------------------------------------------------------------------- */

/* The error of q at the end, against DOP853. */
static double miss(const char *file, const char *key, double time, double step)
{
    robot exact = robot_of(robot_example(file, key)), r = robot_of(robot_example(file, key));
    go(&exact, ZW_METHOD_DOP853, time, 0, NULL, NULL);
    go(&r, ZW_METHOD_IMPULSE, time, step, NULL, NULL);
    double worst = 0;
    for (int i = 0; i < r.system->nq; i++) {
        worst = fmax(worst, fabs(state_q(r.state)[i] - state_q(exact.state)[i]));
    }
    robot_end(&exact);
    robot_end(&r);
    return worst;
}

/* Weight and constraints are of order two, dampers and motors of order one. */
static void orders(void **state)
{
    (void)state;
    static const struct {
        const char *file, *key;
        double time, step, ratio;
    } list[] = {{"double_pendulum.xml", NULL, 1, 1e-3, 4},
                {"four_bar.xml", "up", 1, 1e-3, 2},
                {"arm.xml", "reach", 0.5, 1e-3, 2},
                {"bricard.xml", NULL, 0.5, 1e-3, 4},
                {"gyroscope.xml", "spinning", 0.2, 2.5e-4, 4}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        double one = miss(list[k].file, list[k].key, list[k].time, list[k].step);
        double half = miss(list[k].file, list[k].key, list[k].time, list[k].step / 2);
        print_message("%s: %.3g, ratio %.3g\n", list[k].file, one, one / half);
        if (!(one < 0.05 && one / half > 0.9 * list[k].ratio)) {
            fail_msg("%s: errors %g and %g", list[k].file, one, half);
        }
    }
}

/* ---- Tops ----------------------------------------------------------------------------------- */

typedef struct top_watch {
    double first, turned, most, least; /* |L|: at first, its change; energy */
} top_watch;

static int watch_top(void *user, zw_sample_kind kind, int event, const zw_system *system,
                     const zw_state *state, zw_work *work)
{
    (void)event;
    top_watch *w = user;
    double now[9], energy[2];
    const double *q = state_q((zw_state *)state), *v = state_v((zw_state *)state);
    tree_kinematics(system->tree, q, work->sweeps);
    tree_velocities(system->tree, v, work->sweeps);
    tree_momentum(system->tree, work->sweeps, now);
    tree_energies(system->tree, q, v, work->sweeps, energy);
    double L = sqrt(now[6] * now[6] + now[7] * now[7] + now[8] * now[8]);
    if (kind == ZW_SAMPLE_START) {
        *w = (top_watch){.first = L, .most = energy[0], .least = energy[0]};
    }
    w->turned = fmax(w->turned, fabs(L - w->first));
    w->most = fmax(w->most, energy[0]);
    w->least = fmin(w->least, energy[0]);
    return 0;
}

/* Angular momentum is conserved for any step, which bounds the energy: L^2 over twice the largest
 * and the smallest inertia. With small steps the energy has no drift. */
static void free_top_is_bounded(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/>"
        "<inertial pos='0 0 0' mass='1' diaginertia='1 2 3'/></body></worldbody></mujoco>";
    static const double spin[][3] = {{0.1, 20, 0.1}, {3, 5, 40}, {100, 1, 1}, {10, 10, 10}};
    static const double step[] = {1e-3, 1e-2, 0.1, 0.5};
    for (size_t k = 0; k < sizeof spin / sizeof *spin; k++) {
        double w = fmax(spin[k][0], fmax(spin[k][1], spin[k][2]));
        for (size_t j = 0; j < sizeof step / sizeof *step; j++) {
            robot r = robot_read(text);
            memcpy(state_v(r.state) + 3, spin[k], sizeof spin[k]);
            top_watch it;
            go(&r, ZW_METHOD_IMPULSE, 300 * step[j], step[j], watch_top, &it);
            double L2 = it.first * it.first;
            if (!(it.turned <= 1e-8 * it.first)) {
                fail_msg("spin %zu, step %g: momentum off by %g of %g", k, step[j], it.turned,
                         it.first);
            }
            assert_true(it.least >= L2 / 6 * (1 - 1e-7) && it.most <= L2 / 2 * (1 + 1e-7));
            double hw = step[j] * w, spread = (it.most - it.least) / it.most;
            print_message("h w = %g: energy within %.2g\n", hw, spread);
            assert_true(hw > 0.5 || spread <= 0.1 * hw * hw);
            robot_end(&r);
        }
    }
}

/* A fast gyroscope: with two radians of spin per step it gains no energy, with a quarter it
 * precesses. */
static void gyroscope_at_large_steps(void **state)
{
    (void)state;
    robot exact = robot_of(robot_example("gyroscope.xml", "spinning"));
    go(&exact, ZW_METHOD_DOP853, 1, 0, NULL, NULL);
    static const double step[] = {0.05, 0.02, 0.01, 0.005, 0.0025};
    for (size_t k = 0; k < sizeof step / sizeof *step; k += (size_t)campaign_stride(3)) {
        robot r = robot_of(robot_example("gyroscope.xml", "spinning"));
        zw_run_summary summary = go(&r, ZW_METHOD_IMPULSE, 1, step[k], NULL, NULL);
        const double *q = state_q(r.state), *p = state_q(exact.state);
        double up = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
        double right = 1 - 2 * (p[1] * p[1] + p[2] * p[2]);
        print_message("gyroscope, step %g: height %.3g for %.3g, energy %.4g of %.4g\n", step[k],
                      up, right, summary.energy_end, summary.energy_start);
        assert_true(summary.energy_end <= 1.001 * summary.energy_start);
        if (step[k] <= 0.005) {
            close_to("height", up, right, 0.05);
            close_to("energy", summary.energy_end, summary.energy_start,
                     0.01 * summary.energy_start);
        }
        robot_end(&r);
    }
    robot_end(&exact);
}

/* Chains without damping at steps too long to resolve the motion: they come to rest hanging down.
 */
static void chain_is_stable_at_huge_steps(void **state)
{
    (void)state;
    static const double step[] = {0.05, 0.1, 0.2, 0.5};
    const int steps = 1000;
    for (size_t k = 0; k < sizeof step / sizeof *step; k += (size_t)campaign_stride(3)) {
        robot r = robot_of(robot_example("double_pendulum.xml", NULL));
        zw_run_summary summary = go(&r, ZW_METHOD_IMPULSE, steps * step[k], step[k], NULL, NULL);
        if (!(summary.energy_end < -9)) {
            fail_msg("step %g: energy %g", step[k], summary.energy_end);
        }
        robot_end(&r);
    }
}

/* A conservative chain and a loop: no energy drift over 4000 steps (400 under sanitizers). */
static void energy_has_no_slope(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        double step, within;
    } list[] = {{"double_pendulum.xml", 1e-3, 0.1}, {"bricard.xml", 2e-3, 0.05}};
    for (size_t k = 0; k < 2; k++) {
        robot r = robot_of(robot_example(list[k].file, NULL));
        zw_run_summary summary =
            go(&r, ZW_METHOD_IMPULSE, campaign(4000) * list[k].step, list[k].step, NULL, NULL);
        print_message("%s: drift %.3g, end %.3g\n", list[k].file, summary.energy_drift,
                      summary.energy_end - summary.energy_start);
        assert_true(summary.energy_drift < list[k].within);
        robot_end(&r);
    }
}

/* ---- Loops ---------------------------------------------------------------------------------- */

static void loops_hold(void **state)
{
    (void)state;
    static const struct {
        const char *file, *key;
        double time;
    } list[] = {{"four_bar.xml", "up", 2},
                {"four_bar.xml", "driven", 2},
                {"stewart.xml", "tilt", 0.5},
                {"bricard.xml", NULL, 1}};
    static const double step[] = {1e-3, 0.05};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        for (size_t j = 0; j < 2; j++) {
            robot r = robot_of(robot_example(list[k].file, list[k].key));
            double time = list[k].time * (campaign_is_small() ? 0.2 : 1);
            zw_run_summary summary = go(&r, ZW_METHOD_IMPULSE, time, step[j], NULL, NULL);
            if (!(summary.violation_position <= 1e-12 && summary.violation_velocity <= 1e-11)) {
                fail_msg("%s, step %g: off by %g, %g", list[k].file, step[j],
                         summary.violation_position, summary.violation_velocity);
            }
            robot_end(&r);
        }
    }
}

/* ---- The rest ------------------------------------------------------------------------------- */

static void same_bits_twice(void **state)
{
    (void)state;
    robot a = robot_of(robot_example("four_bar.xml", "driven")),
          b = robot_of(robot_example("four_bar.xml", "driven"));
    go(&a, ZW_METHOD_IMPULSE, 1, 0.003, NULL, NULL);
    go(&b, ZW_METHOD_IMPULSE, 1, 0.003, NULL, NULL);
    assert_int_equal(a.state->bytes, b.state->bytes);
    assert_memory_equal(a.state, b.state, a.state->bytes);
    robot_end(&a);
    robot_end(&b);
}

/* The balance of energy accounts for all but the loss of the method. */
static void balance_of_energy_closes_with_the_step(void **state)
{
    (void)state;
    double drift[2];
    for (int k = 0; k < 2; k++) {
        robot r = robot_of(robot_example("arm.xml", "reach"));
        drift[k] = go(&r, ZW_METHOD_IMPULSE, 1, 1e-3 / (1 + k), NULL, NULL).energy_drift;
        robot_end(&r);
    }
    print_message("drift %g %g\n", drift[0], drift[1]);
    assert_true(drift[0] < 0.05 && drift[0] / drift[1] > 1.7);
}

/* If no step is given, that of the file is used. */
static void step_of_the_file(void **state)
{
    (void)state;
    robot r = robot_read("<mujoco><option timestep='0.025'/><worldbody><body><joint/>"
                         "<geom size='.1' pos='1 0 0' contype='0' conaffinity='0'/></body>"
                         "</worldbody></mujoco>");
    assert_int_equal(go(&r, ZW_METHOD_IMPULSE, 1, 0, NULL, NULL).steps, 40);
    robot_end(&r);
}

static void equations_are_refused(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = zw_model_parse("coord x = 1\nkinetic x'^2/2\n", "a.zw", NULL, &error);
    robot r = robot_of(model);
    const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .time = 1, .step = 0.1};
    assert_int_equal(zw_run(r.system, r.state, r.work, &options, NULL, &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "rigid bodies"));
    robot_end(&r);
}

static void steady_motion_allocates_nothing(void **state)
{
    (void)state;
    static const char *const list[][2] = {
        {"four_bar.xml", "driven"}, {"servo.xml", "push"}, {"arm.xml", "reach"}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        robot r = robot_of(robot_example(list[k][0], list[k][1]));
        system_bind(r.system, r.work, state_param(r.state));
        step_impulse *s = impulse_create(r.system, r.work, &r.error);
        double *q = state_q(r.state), *v = state_v(r.state);
        for (int step = 0; step < 400; step++) {
            if (step == 300) {
                base_alloc_fail_after(1);
            }
            double q0[10], v0[10];
            memcpy(q0, q, (size_t)r.system->nq * sizeof *q);
            memcpy(v0, v, (size_t)r.system->n * sizeof *v);
            if (impulse_step(s, 0, 0.005, q0, v0, q, v, &r.error) != ZW_OK) {
                fail_msg("%s: %s", list[k][0], r.error.text);
            }
        }
        base_alloc_fail_after(0);
        impulse_free(s);
        robot_end(&r);
    }
}

/* Blocks appear and disappear: multipliers stay with their blocks, and the solution is that of a
 * new problem. */
static void problem_changes_its_shape(void **state)
{
    (void)state;
    enum { N = 4 };
    impulse_problem p;
    double mass[N] = {1, 2, 3, 4}, given[N] = {-1, -2, -3, -4};
    int start[N + 1] = {0, 1, 2, 3, 4}, row[N] = {0, 1, 2, 3};
    const impulse_matrix H = {.n = N, .start = start, .row = row, .value = mass};
    assert_int_equal(problem_create(&p, N, NULL), ZW_OK);
    for (int round = 0; round < 40; round++) {
        problem_begin(&p);
        double one = 1;
        for (int i = 0; i < N; i++) { /* u_i >= 0, those of this round */
            if (round >> i & 1) {
                problem_block(&p, 10 + i,
                              &(zw_block){.name = "floor", .kind = ZW_INEQUALITY, .rows = 1});
                problem_row(&p, 1, &i, &one, 0);
            }
        }
        assert_int_equal(problem_solve(&p, &H, given, NULL, NULL), ZW_OK);
        for (int i = 0; i < N; i++) {
            int held = round >> i & 1;
            close_to("u", p.answer.a[i], held ? 0 : -1.0 - i, 1e-12);
            close_to("lambda", problem_multiplier(&p, 10 + i, 0), held ? (1.0 + i) * (1 + i) : 0,
                     1e-10);
        }
    }
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
        cmocka_unit_test(free_top_is_bounded),
        cmocka_unit_test(gyroscope_at_large_steps),
        cmocka_unit_test(chain_is_stable_at_huge_steps),
        cmocka_unit_test(energy_has_no_slope),
        cmocka_unit_test(loops_hold),
        cmocka_unit_test(same_bits_twice),
        cmocka_unit_test(balance_of_energy_closes_with_the_step),
        cmocka_unit_test(step_of_the_file),
        cmocka_unit_test(equations_are_refused),
        cmocka_unit_test(steady_motion_allocates_nothing),
        cmocka_unit_test(problem_changes_its_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
