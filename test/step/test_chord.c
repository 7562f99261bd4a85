/* Newton's rule for whole steps (impulse_chord.c): its slopes of inertia are those of the inverse
 * dynamics, and a robot that stands and moves is stepped without the kernel. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "impulse_go.h"
#include "read/file/xml.h"
#include "tree/sweeps.h"

/* bias is quadratic in the speeds, so central differences of it are exact up to round-off. */
static void slopes_are_those_of_the_inverse_dynamics(void **state)
{
    static const char *const file[] = {"humanoid.xml", "quadruped.xml", "gyroscope.xml",
                                       "stewart.xml"};
    (void)state;
    for (size_t f = 0; f < sizeof file / sizeof *file; f++) {
        robot r = robot_compile(robot_example(file[f], NULL));
        const tree_mechanism *tree = r.system->tree;
        int n = r.system->n;
        size_t side = (size_t)n;
        double *sweeps = calloc((size_t)tree->at.count, sizeof *sweeps);
        double *q = calloc((size_t)tree->nq, sizeof *q), *tau = calloc(3 * side, sizeof *tau);
        double *v = tau + n, *other = v + n, *N = calloc(side * side, sizeof *N);
        double *room = calloc(balance_slopes_room(r.system), sizeof *room), worst = 0, most = 0;
        for (int i = 0; i < tree->nq; i++) {
            q[i] = sin(1.0 + 2.3 * i);
        }
        for (int i = 0; i < n; i++) {
            v[i] = 2 * cos(0.7 + 1.7 * i);
        }
        tree_kinematics(tree, q, sweeps);
        tree_velocities(tree, v, sweeps);
        balance_slopes(r.system, sweeps, v, 1, room, N, n);
        for (int j = 0; j < n; j++) {
            const double at = v[j];
            v[j] = at + 1;
            tree_velocities(tree, v, sweeps);
            tree_inverse(tree, NULL, NULL, sweeps, tau);
            v[j] = at - 1;
            tree_velocities(tree, v, sweeps);
            tree_inverse(tree, NULL, NULL, sweeps, other);
            v[j] = at;
            for (int i = 0; i < n; i++) {
                double slope = 0.5 * (tau[i] - other[i]);
                worst = fmax(worst, fabs(N[(size_t)i * side + (size_t)j] - slope));
                most = fmax(most, fabs(slope));
            }
        }
        print_message("%s: %.1e of %.1e\n", file[f], worst, most);
        assert_true(most > 0 && worst <= 1e-12 * most);
        free(sweeps);
        free(q);
        free(tau);
        free(N);
        free(room);
        robot_end(&r);
    }
}

/* Motors that sway hold it up. One solve of the kernel is that of the speeds at the end of a step;
 * the rounds have it where something begins to slide or to lift. With the kernel alone there are
 * six. */
static void standing_robot_hardly_needs_the_kernel(void **state)
{
    (void)state;
    zw_error error = {0};
    char path[500];
    snprintf(path, sizeof path, "%s/examples/contact/humanoid_falls.xml", ZW_SOURCE_DIR);
    robot r = robot_of(zw_model_read(path, NULL, 0, &error));
    const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .step = 0.002};
    const struct system_bodies *bodies = r.system->bodies;
    const int settle = 20, steps = 60;
    double solves = 0, searches = 0, factors = 0, worst = 0;
    for (int k = 0; k < settle + steps; k++) {
        for (int i = 0; i < bodies->motor_count; i++) {
            const double value = 0.02 * sin(0.05 * k * (1 + 0.1 * (i % 7)) + i);
            zw_state_set(r.system, r.state, r.work, ZW_FIELD_PARAM, bodies->motor[i].param, 1,
                         &value, NULL);
        }
        assert_int_equal(zw_step(r.system, r.state, r.work, &options, &error), ZW_OK);
        if (k >= settle) {
            solves += (double)r.work->effort.rounds / steps;
            searches += (double)r.work->effort.searches / steps;
            factors += (double)r.work->effort.factors / steps;
            worst = fmax(worst, r.work->certificate);
        }
    }
    print_message("solves %.2f, searches %.2f, factorisations %.2f, residual %.1e\n", solves,
                  searches, factors, worst);
    assert_true(solves <= 2 && searches <= 7.5 && factors <= 8 && worst <= 1e-9);
    robot_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_those_of_the_inverse_dynamics),
        cmocka_unit_test(standing_robot_hardly_needs_the_kernel),
    };
    return xml_available() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
