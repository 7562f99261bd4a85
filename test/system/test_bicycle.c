/* The benchmark bicycle (Meijaard, Papadopoulos, Ruina, Schwab: Linearized dynamics equations for
 * the balance and steer of a bicycle, Proc. R. Soc. A 463, 2007): how the bodies of
 * examples/bodies/bicycle.zw, rolling on two wheels, answer to a little lean and steer has the
 * eigenvalues of the paper's tables. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "robots.h"
#include "world.h"

#define FILE_NAME ZW_SOURCE_DIR "/examples/bodies/bicycle.zw"

/* The text of the example with starts that can be set. */
static char *text_of(void)
{
    static char text[4000];
    FILE *file = fopen(FILE_NAME, "rb");
    assert_non_null(file);
    size_t got = fread(text, 1, 2000, file);
    fclose(file);
    text[got] = 0;
    char *line = strstr(text, "start "), *end = strchr(line, '\n');
    assert_non_null(line);
    memset(line, ' ', (size_t)(end - line));
    line = strstr(text, "speed ");
    end = strchr(line, '\n');
    memset(line, ' ', (size_t)(end - line));
    strcat(text, "param lean = 0, steer = 0, lean_rate = 0, steer_rate = 0\n"
                 "start bike.lean = lean, bike.steer = steer\n"
                 "speed bike.x' = v, bike.lean' = lean_rate, bike.steer' = steer_rate\n");
    return text;
}

/* Accelerations of lean and steer at this speed, with one of lean, steer and their rates changed.
 */
static void answer(const char *text, double v, const char *what, double by, double out[2])
{
    const zw_setting setting[] = {{"v", v}, {what, by}};
    world w = {0};
    w.model = zw_model_parse(text, FILE_NAME,
                             &(zw_read_options){.settings = setting, .setting_count = 2}, &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s", w.error.text);
    }
    world_forward(&w);
    int lean = zw_id(w.system, ZW_KIND_SPEED, "bike.lean'"),
        steer = zw_id(w.system, ZW_KIND_SPEED, "bike.steer'");
    assert_true(lean >= 0 && steer >= 0);
    out[0] = w.work->a[lean];
    out[1] = w.work->a[steer];
    world_end(&w);
}

/* (lean, steer)'' = K (lean, steer) + D (lean, steer)': by differences of order four. */
static void linearise(double v, double K[2][2], double D[2][2])
{
    static const char *const what[] = {"lean", "steer", "lean_rate", "steer_rate"};
    const char *text = text_of();
    const double h = 1e-3;
    for (int k = 0; k < 4; k++) {
        double near[2][2], far[2][2];
        for (int side = 0; side < 2; side++) {
            answer(text, v, what[k], side ? h : -h, near[side]);
            answer(text, v, what[k], side ? 2 * h : -2 * h, far[side]);
        }
        for (int i = 0; i < 2; i++) {
            double slope = (8 * (near[1][i] - near[0][i]) - (far[1][i] - far[0][i])) / (12 * h);
            (k < 2 ? K : D)[i][k % 2] = slope;
        }
    }
}

static double complex det(double K[2][2], double D[2][2], double complex s)
{
    double complex a = s * s - s * D[0][0] - K[0][0], b = -s * D[0][1] - K[0][1];
    double complex c = -s * D[1][0] - K[1][0], d = s * s - s * D[1][1] - K[1][1];
    return a * d - b * c;
}

/* The root of the determinant nearest to s, by Newton. */
static double complex root(double K[2][2], double D[2][2], double complex s)
{
    for (int i = 0; i < 50; i++) {
        double complex step = 1e-6;
        double complex slope = (det(K, D, s + step) - det(K, D, s - step)) / (2 * step);
        s -= det(K, D, s) / slope;
    }
    return s;
}

static void eigenvalues_of_the_benchmark(void **state)
{
    (void)state;
    const double weave_real = -0.77534188219585, weave_imaginary = 4.46486771378823;
    const double capsize = -0.32286642900409, castering = -14.07838969279822;
    double K[2][2], D[2][2];
    linearise(5, K, D);
    double complex weave = root(K, D, weave_real + weave_imaginary * I);
    close_to("weave, real", creal(weave), weave_real, 1e-8);
    close_to("weave, imaginary", cimag(weave), weave_imaginary, 1e-8);
    close_to("capsize", creal(root(K, D, capsize)), capsize, 1e-8);
    close_to("castering", creal(root(K, D, castering)), castering, 1e-8);
}

/* Stable by itself between these speeds, and not beside them. */
static void speeds_of_self_stability(void **state)
{
    (void)state;
    const struct {
        double v, near;
        double complex start;
        int stable;
    } list[] = {{4.29, 0.01, 3.4 * I, 0},
                {4.295, 0.01, 3.4 * I, 1},
                {6.02, 0.01, 0, 1},
                {6.03, 0.01, 0, 0}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        double K[2][2], D[2][2];
        linearise(list[i].v, K, D);
        double complex s = root(K, D, list[i].start);
        print_message("%g m/s: %.3e + %.3f i\n", list[i].v, creal(s), cimag(s));
        assert_true(fabs(creal(s)) < list[i].near);
        assert_int_equal(creal(s) < 0, list[i].stable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eigenvalues_of_the_benchmark),
                                       cmocka_unit_test(speeds_of_self_stability)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
