/* The matrix of the impulse step is assembled in linear time: eight times as many bodies take about
 * eight times as long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <time.h>

#include "step/problem/matrix.h"
#include "system/bodies/bodies.h"
#include "zwang/bodies.h"

/* Hinges with dampers, one beside the other. */
static zw_system *many_hinges(int count, zw_model **model)
{
    zw_error error;
    *model = zw_model_create(&error);
    assert_non_null(*model);
    for (int i = 0; i < count; i++) {
        zw_body_def body = zw_body_default();
        body.pos[0] = i;
        zw_joint_def joint = zw_joint_default();
        zw_geom_def geom = zw_geom_default();
        joint.body = geom.body = zw_model_add_body(*model, &body, &error);
        joint.damping = 0.1;
        geom.size[0] = 0.1;
        geom.pos[0] = 0.2;
        geom.contype = geom.conaffinity = 0;
        assert_true(zw_model_add_joint(*model, &joint, &error) >= 0);
        assert_true(zw_model_add_geom(*model, &geom, &error) >= 0);
    }
    zw_system *system = zw_system_compile(*model, NULL, &error);
    if (!system) {
        fail_msg("%s", error.text);
    }
    return system;
}

static double seconds_for(int count)
{
    zw_model *model;
    zw_system *system = many_hinges(count, &model);
    impulse_matrix H;
    clock_t begin = clock();
    assert_int_equal(matrix_create(&H, system, 0, NULL), ZW_OK);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    assert_int_equal(H.start[H.n], count); /* a diagonal one */
    assert_int_equal(system->bodies->length_count, count);
    matrix_free(&H);
    zw_system_free(system);
    zw_model_free(model);
    return seconds;
}

static void many_bodies_take_time_in_proportion(void **state)
{
    (void)state;
    double few = seconds_for(2000), many = seconds_for(16000);
    print_message("2000 bodies: %.2g s, 16000: %.2g s\n", few, many);
    assert_true(many < 24 * few + 0.05); /* 64 times as long if each looked at all others */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_bodies_take_time_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
