/* The way back over a step of method impulse against the matrix of the step, which test_rigid.c
 * compares with differences: all that is asked for with one transposed solve. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rigid_scenes.h"
#include "system/system.h"

/* A number that depends on the end of the step alone, with slopes that know all of it. */
static double weight(int i)
{
    return sin(1 + 0.7 * i * i);
}

static double cost(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    const zw_system *system = user;
    (void)state;
    for (int i = 0; i < system->n && step == 1; i++) {
        by_q[i] = weight(i);
        by_v[i] = weight(i + system->n);
    }
    return 0;
}

/* How far the way back is from the matrix, of the largest. */
static double compare(const scene *of)
{
    world w = begin(of);
    int n = w.system->n, params = w.system->shape.params, wide = 2 * n + params, kinks = 0;
    double *by = calloc(2 * (size_t)n * (size_t)wide, sizeof *by), worst = 0, size = 0;
    double *mine = calloc((size_t)wide, sizeof *mine);
    const zw_run_options options = plan_of(of);
    const zw_gradient_plan plan = {.run = options, .steps = 1, .cost = cost, .user = w.system};
    zw_gradient to = {.by_q = mine, .by_v = mine + n, .by_param = mine + 2 * n};
    if (zw_step_slopes(w.system, w.state, &options, by, &kinks, &w.error) != ZW_OK ||
        zw_gradient_find(w.system, w.state, &plan, &to, &w.error) != ZW_OK) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    for (int c = 0; c < wide; c++) {
        double sum = 0;
        for (int i = 0; i < 2 * n; i++) {
            sum += weight(i) * by[i * wide + c];
        }
        size = fmax(size, fabs(sum));
        worst = fmax(worst, fabs(sum - mine[c]));
    }
    printf("%-32s n %3d  worst %.1e  kinks %d, %d\n", of->name, n, worst / size, kinks, to.kinks);
    free(by);
    free(mine);
    world_end(&w);
    return worst / size;
}

static void test_scenes(void **state)
{
    double worst = 0;
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        worst = fmax(worst, compare(&scenes[k]));
    }
    assert_true(worst < 1e-9);
}

/* ---- A fall ---------------------------------------------------------------------------------- */

enum { STEPS = 6, MOTORS_MOST = 40, DIRECTIONS = 3 };

typedef struct fall {
    world w;
    long steps;
    int motors, control[MOTORS_MOST];
    double value[STEPS * MOTORS_MOST], by[STEPS * MOTORS_MOST];
    zw_run_options run;
} fall;

/* Heights and speeds, all the way. */
static double height(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    double sum = state_q((zw_state *)state)[2];
    const zw_system *system = user;
    (void)step;
    by_q[2] += 1;
    for (int i = 0; i < system->n; i++) {
        double v = state_v((zw_state *)state)[i];
        sum += 1e-3 * v * v;
        by_v[i] += 2e-3 * v;
    }
    return sum;
}

/* The cost with all controls moved along a direction. */
static double cost_along(fall *f, int which, double h)
{
    double sum = 0, none[200];
    zw_state *at = NULL;
    assert_int_equal(zw_state_copy(f->w.state, &at, &f->w.error), ZW_OK);
    for (long k = 0; k <= f->steps; k++) {
        sum += height(f->w.system, k, at, none, none + 100);
        for (int c = 0; c < f->motors && k < f->steps; c++) {
            long i = k * f->motors + c;
            state_param(at)[f->control[c]] = f->value[i] + h * weight((int)i * (which + 1));
        }
        if (k < f->steps) {
            assert_int_equal(zw_step(f->w.system, at, f->w.work, &f->run, &f->w.error), ZW_OK);
        }
    }
    zw_state_free(at);
    return sum;
}

/* Extrapolated twice: round-off of the motions, 1e-14, asks for long ways. */
static double difference(fall *f, int which)
{
    const double h = 5e-4;
    double d[3];
    for (int k = 0; k < 3; k++) {
        double way = h * (1 << k);
        d[k] = (cost_along(f, which, way) - cost_along(f, which, -way)) / (2 * way);
    }
    return (64 * d[0] - 20 * d[1] + d[2]) / 45;
}

/* A humanoid that begins to fall, on its feet: slopes of a sum over the motion by all controls of
 * all steps. */
static void test_fall(void **state)
{
    static const scene of = {.name = "a fall", EXAMPLE("contact/humanoid_falls.xml")};
    static fall f;
    double worst = 0;
    (void)state;
    f.w = begin(&of);
    f.steps = STEPS;
    f.run = (zw_run_options){.method = ZW_METHOD_IMPULSE, .tolerance = 1e-15};
    f.motors = f.w.system->bodies->motor_count;
    for (int k = 0; k < f.motors; k++) {
        f.control[k] = f.w.system->bodies->motor[k].param;
    }
    for (int i = 0; i < f.w.system->n; i++) {
        state_v(f.w.state)[i] = 0.1 * (i % 5);
    }
    zw_wake(f.w.state);
    for (long k = 0; k < f.steps * f.motors; k++) {
        f.value[k] = 0.2 * sin(0.1 * (double)k);
    }
    const zw_gradient_plan plan = {.run = f.run,
                                   .steps = f.steps,
                                   .controls = f.motors,
                                   .control = f.control,
                                   .value = f.value,
                                   .cost = height,
                                   .user = f.w.system};
    zw_gradient to = {.by_control = f.by};
    if (zw_gradient_find(f.w.system, f.w.state, &plan, &to, &f.w.error) != ZW_OK) {
        fail_msg("%s", f.w.error.text);
    }
    for (int which = 0; which < DIRECTIONS; which++) {
        double sum = 0, found = difference(&f, which);
        for (long k = 0; k < f.steps * f.motors; k++) {
            sum += f.by[k] * weight((int)k * (which + 1));
        }
        printf("a fall: %.12g, by differences %.12g\n", sum, found);
        worst = fmax(worst, fabs(sum - found) / fabs(found));
    }
    printf("a fall: worst %.1e, kinks %d %s\n", worst, to.kinks, to.kink ? to.kink : "");
    assert_true(worst < 1e-8);
    world_end(&f.w);
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* FILE [BEFORE] */
        const scene own = {
            .name = argv[1], .file = argv[1], .before = argc > 2 ? atof(argv[2]) : 0};
        compare(&own);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenes), cmocka_unit_test(test_fall)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
