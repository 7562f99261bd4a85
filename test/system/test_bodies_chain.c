/* A thousand links with a mass of a million links at their end: the joints hold. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"
#include "zwang/bodies.h"

enum { LINKS = 1000 };

/* Links of 0.1 m and 0.1 kg on hinges across each other, level at the start. */
static char *chain(void)
{
    size_t capacity = 300 * LINKS, used = 0;
    char *text = malloc(capacity);
    assert_non_null(text);
    used += (size_t)snprintf(text, capacity, "<mujoco><worldbody>");
    for (int i = 0; i < LINKS; i++) {
        int last = i == LINKS - 1;
        used += (size_t)snprintf(
            text + used, capacity - used,
            "<body pos='%g 0 0'><inertial pos='.05 0 0' mass='%g' diaginertia='%g %g %g'/>"
            "<joint axis='%d %d 0'/>",
            i ? 0.1 : 0, last ? 1e5 : 0.1, last ? 20 : 2e-5, last ? 100 : 1e-4, last ? 100 : 1e-4,
            i % 2, 1 - i % 2);
    }
    for (int i = 0; i < LINKS; i++) {
        used += (size_t)snprintf(text + used, capacity - used, "</body>");
    }
    snprintf(text + used, capacity - used, "</worldbody></mujoco>");
    return text;
}

/* Where each joint is, seen from its two links: how far are these apart, and how far did they go?
 */
static double widest_gap(const zw_system *system, const double *q, double *lowest)
{
    static const double end[3] = {0.1, 0, 0}, origin[3] = {0, 0, 0};
    double *sweeps = tree_work_create(system->tree, 1), worst = 0;
    assert_non_null(sweeps);
    tree_kinematics(system->tree, q, sweeps);
    for (int i = 2; i < system->tree->bodies; i++) {
        double a[3], b[3];
        tree_point(system->tree, i - 1, end, sweeps, a);
        tree_point(system->tree, i, origin, sweeps, b);
        worst = fmax(worst, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
        *lowest = fmin(*lowest, b[2]);
    }
    base_free(sweeps);
    return worst;
}

static void joints_hold(void **state)
{
    (void)state;
    char *text = chain();
    zw_error error = {0};
    zw_model *model = zw_model_parse(text, "chain.xml", NULL, &error);
    assert_non_null(model);
    zw_system *system = zw_system_compile(model, NULL, &error);
    assert_non_null(system);
    zw_work *work = zw_work_create(system, &error);
    zw_state *at = zw_state_create(system, work, NULL, &error);
    assert_non_null(at);
    zw_run_options options = {.time = 0.1, .every = 0.1, .method = ZW_METHOD_DOP853};
    zw_run_summary summary = {0};
    if (zw_run(system, at, work, &options, &summary, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
    double lowest = 0, gap = widest_gap(system, state_q(at), &lowest);
    print_message("gap %.2g m, energy off by %.2g of %.2g J, lowest joint %.3g m\n", gap,
                  summary.energy_drift * (1 + fabs(summary.energy_start)), 1e5 * 9.81 * -lowest,
                  lowest);
    assert_true(gap <= 1e-9);
    assert_true(lowest < -0.04); /* it fell */
    assert_true(summary.energy_drift < 1e-3);
    zw_state_free(at);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joints_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
