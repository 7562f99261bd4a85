/* A ball that bounces with restitution e comes to rest after sqrt(2 h / g) (1 + e)/(1 - e), in
 * infinitely many bounces. In a run, bounces end when their speed is below that which counts as
 * rest: after about log(v0 / rest)/log(1/e) of them. `rest` is SYSTEM_REST = 1e-10, or, on a
 * floor far from the origin of heights, the speed sqrt(2 g d) of a fall through 16 units of
 * round-off, d = 16 * 2.3e-16 H, of its height H. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "zwang/zwang.h"

static int count_bounces(void *user, zw_sample_kind kind, int event, const zw_system *system,
                         const zw_state *state, zw_work *work)
{
    double *last = user; /* time of the last bounce, and their number */
    (void)event;
    if (kind == ZW_SAMPLE_JUMP) {
        double t = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
        last[1] += t > last[0];
        last[0] = t;
    }
    return 0;
}

static void bounces_end(void **state)
{
    (void)state;
    static const double back[] = {0.2, 0.5, 0.8}, height[] = {0, 1e4};
    for (int k = 0; k < 6; k++) {
        char text[300];
        zw_error error = {0};
        zw_run_summary summary;
        double e = back[k % 3], H = height[k / 3], last[2] = {-1, 0};
        double end = sqrt(2 / 9.81) * (1 + e) / (1 - e), v0 = sqrt(2 * 9.81);
        snprintf(text, sizeof text,
                 "coord y = %.17g\nmass 1 at (0, y)\ngravity (0, -9.81)\n"
                 "constraint floor: y >= %.17g, restitution %g\n",
                 H + 1, H, e);
        zw_model *model = zw_model_parse(text, "ball.zw", NULL, &error);
        zw_system *system = zw_system_compile(model, NULL, &error);
        zw_work *work = zw_work_create(system, &error);
        zw_state *ball = zw_state_create(system, work, NULL, &error);
        assert_non_null(ball);
        const zw_run_options options = {
            .time = 2 * end, .every = 1e9, .observer = count_bounces, .user = last};
        zw_status status = zw_run(system, ball, work, &options, &summary, &error);
        if (status != ZW_OK) {
            fail_msg("e = %g: %s", e, error.text);
        }
        double rest = fmax(1e-10, sqrt(2 * 9.81 * 16 * 2.3e-16 * H));
        double most = log(10 * v0 / rest) / log(1 / e), least = log(v0 / rest / 10) / log(1 / e);
        print_message("e = %g, floor at %g: %g bounces, the last at %.15g of %.15g\n", e, H,
                      last[1], last[0], end);
        assert_true(last[1] > least && last[1] < most);
        assert_true(fabs(last[0] - end) < 10 * rest + 1e-9);
        assert_true(fabs(zw_field(system, ball, work, ZW_FIELD_Q).data[0] - H) <=
                    1e-12 + 1e-15 * H);
        assert_true(fabs(zw_field(system, ball, work, ZW_FIELD_V).data[0]) < 1e-12);
        zw_state_free(ball);
        zw_work_free(work);
        zw_system_free(system);
        zw_model_free(model);
    }
}

/* Masses that hang on springs and just touch the floor do not press on it, and the net force is
 * round-off. They stay there, to the accuracy of the kernel (1e-9), for any number of steps. */
static void what_only_touches_stays(void **state)
{
    (void)state;
    for (int k = 0; k < 40; k++) {
        char text[700];
        zw_error error = {0};
        zw_run_summary summary;
        double m = 0.3 + 0.173 * k, stiff = 2.1 + 1.37 * (k * 7 % 23), at = 0.1 * (k % 5);
        snprintf(text, sizeof text,
                 "param g = 9.81, m = %.17g, k = %.17g, h = %.17g\ncoord y = h, z = 3*h\n"
                 "mass m at (0, y), 2*m at (1, z)\ngravity (0, -g)\n"
                 "potential k*(y - h - m*g/k)^2/2 + k*(z - 3*h - 2*m*g/k)^2/2\n"
                 "constraint floor: y >= h\nconstraint table: z >= 3*h\n",
                 m, stiff, at);
        zw_model *model = zw_model_parse(text, "hang.zw", NULL, &error);
        zw_system *system = zw_system_compile(model, NULL, &error);
        zw_work *work = zw_work_create(system, &error);
        zw_state *hang = zw_state_create(system, work, NULL, &error);
        assert_non_null(hang);
        const zw_run_options options = {.time = 100, .every = 1e9};
        zw_status status = zw_run(system, hang, work, &options, &summary, &error);
        if (status != ZW_OK) {
            fail_msg("m = %g, k = %g: %s", m, stiff, error.text);
        }
        const double *q = zw_field(system, hang, work, ZW_FIELD_Q).data;
        if (!(summary.violation_position < 1e-9)) {
            fail_msg("m = %g, k = %g: in the floor by %g", m, stiff, summary.violation_position);
        }
        assert_true(fabs(q[0] - at) < 1e-9 && fabs(q[1] - 3 * at) < 1e-9);
        zw_state_free(hang);
        zw_work_free(work);
        zw_system_free(system);
        zw_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounces_end),
        cmocka_unit_test(what_only_touches_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
