/* Loops that close only up to the digits written in the file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "zwang/bodies.h"

/* A door on two points of its hinge, the upper of which stands `off` too high in the frame. */
static zw_status hang(double off, double *violation, char message[256])
{
    char text[1000];
    zw_error error = {0};
    snprintf(text, sizeof text,
             "<mujoco><worldbody><site name='low' pos='1 0 .1'/><site name='high' pos='1 0 %.17g'/>"
             "<body name='door' pos='1 0 0'><freejoint/><geom type='box' size='.3 .02 .4'/>"
             "<site name='a' pos='0 0 .1'/><site name='b' pos='0 0 .3'/></body></worldbody>"
             "<equality><connect site1='low' site2='a'/><connect site1='high' site2='b'/>"
             "</equality></mujoco>",
             0.3 + off);
    zw_model *model = zw_model_parse(text, "door.xml", NULL, &error);
    zw_system *system = zw_system_compile(model, NULL, &error);
    zw_work *work = zw_work_create(system, &error);
    zw_state *state = zw_state_create(system, work, NULL, &error);
    if (state) {
        assert_int_equal(zw_forward(system, state, work, NULL, &error), ZW_OK);
        assert_int_equal(zw_work_motion(work)->rank, 5);
        *violation = zw_field(system, state, work, ZW_FIELD_VIOLATION).data[0];
    }
    snprintf(message, 256, "%.255s", error.text);
    zw_status status = state ? ZW_OK : error.status;
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return status;
}

/* Half a unit of the sixth digit of 1.044 m on one side, of 1 m and 0.3 m on the other: 1.17e-5 m.
 */
static void digits_close_loops(void **unused)
{
    (void)unused;
    char message[256];
    double violation = 1;
    const double meets[] = {0, 1e-8, 1e-6, -1.1e-5}, parts[] = {1.3e-5, -1e-3};
    for (size_t i = 0; i < sizeof meets / sizeof *meets; i++) {
        assert_int_equal(hang(meets[i], &violation, message), ZW_OK);
        assert_true(violation < 1e-15);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_int_equal(hang(parts[i], &violation, message), ZW_CONFLICT);
        assert_non_null(strstr(message, "no nearby position"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(digits_close_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
