/* Rigid bodies are thrown, and pushed over ice: the gradient scenarios of Axion (docs/toolbox.md),
 * by method impulse, with NLopt's search and the exact gradient of the computed motion. Speeds are
 * among the unknowns, and numbers of the model too: mass and friction. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "system/system.h"
#include "zwang/bodies.h"
#include "zwang/sensitivity.h"

#if __has_include(<nlopt.h>)
#include <nlopt.h>
#endif

enum { STEPS = 100, UNKNOWNS = 4 };

typedef struct task {
    const char *name, *text;
    long steps;
    double h;
    int speeds, speed[3]; /* unknown initial speeds, then */
    int numbers;          /* numbers of the model */
    const char *number[2];
    double start[UNKNOWNS], target[UNKNOWNS], low[UNKNOWNS];
    int only_end; /* how far it gets along y, which is target[0]; else all places, as of the target
                   */
    double aim;
    double path[STEPS + 1][3];
    int evaluations, kinks;
    double least, seconds;
} task;

/* ---- A motion -------------------------------------------------------------------------------- */

static int has_cost(const task *of, long step)
{
    return !of->only_end || step == of->steps;
}

static double cost_of_state(void *user, long step, const zw_state *state, double *by_q,
                            double *by_v)
{
    const task *of = user;
    const double *q = state_q((zw_state *)state);
    double sum = 0;
    (void)by_v;
    for (int k = 0; k < 3 && has_cost(of, step); k++) {
        double off = of->only_end ? (k == 1 ? q[1] - of->aim : 0) : q[k] - of->path[step][k];
        sum += off * off;
        by_q[k] = 2 * off;
    }
    return sum;
}

/* A world with these unknowns, at its start. */
typedef struct place {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    zw_error error;
} place;

static place begin(const task *of, const double *x)
{
    place w = {0};
    w.model = zw_model_parse(of->text, "throw.xml", NULL, &w.error);
    for (int k = 0; k < of->numbers && w.model; k++) {
        assert_int_equal(zw_model_set(w.model, of->number[k], x[of->speeds + k], &w.error), ZW_OK);
    }
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    for (int k = 0; k < of->speeds; k++) {
        state_v(w.state)[of->speed[k]] = x[k];
    }
    zw_wake(w.state);
    return w;
}

static void end(place *w)
{
    zw_state_free(w->state);
    zw_work_free(w->work);
    zw_system_free(w->system);
    zw_model_free(w->model);
}

/* The places that are to be met. */
static void aim(task *of)
{
    place w = begin(of, of->target);
    const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .step = of->h};
    for (long k = 0; k <= of->steps; k++) {
        memcpy(of->path[k], state_q(w.state), sizeof of->path[k]);
        if (k < of->steps) {
            assert_int_equal(zw_step(w.system, w.state, w.work, &options, &w.error), ZW_OK);
        }
    }
    end(&w);
}

#if __has_include(<nlopt.h>)
static double objective(unsigned count, const double *x, double *gradient, void *user)
{
    task *of = user;
    place w = begin(of, x);
    double by_v[6], by_number[2] = {0};
    const zw_gradient_plan plan = {.run = {.method = ZW_METHOD_IMPULSE, .step = of->h},
                                   .steps = of->steps,
                                   .cost = cost_of_state,
                                   .user = of,
                                   .numbers = of->numbers,
                                   .number = of->number,
                                   .model = w.model};
    zw_gradient to = {.by_v = by_v, .by_number = by_number};
    clock_t before = clock();
    if (zw_gradient_find(w.system, w.state, &plan, &to, &w.error) != ZW_OK) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    of->seconds += (double)(clock() - before) / CLOCKS_PER_SEC;
    of->evaluations++;
    of->kinks += to.kinks;
    of->least = fmin(of->least, to.cost);
    for (unsigned k = 0; k < count && gradient; k++) {
        gradient[k] = (int)k < of->speeds ? by_v[of->speed[k]] : by_number[(int)k - of->speeds];
    }
    end(&w);
    return to.cost;
}

static void find(task *of)
{
    unsigned count = (unsigned)(of->speeds + of->numbers);
    nlopt_opt search = nlopt_create(NLOPT_LD_SLSQP, count);
    double x[UNKNOWNS], least;
    of->least = INFINITY;
    memcpy(x, of->start, sizeof x);
    nlopt_set_min_objective(search, objective, of);
    nlopt_set_lower_bounds(search, of->low);
    nlopt_set_stopval(search, 1e-13);
    nlopt_set_maxeval(search, 200);
    nlopt_optimize(search, x, &least);
    nlopt_destroy(search);
    printf("%-28s loss %.1e  %3d motions of %.1f ms  kinks %d  at", of->name, of->least,
           of->evaluations, 1e3 * of->seconds / of->evaluations, of->kinks);
    for (unsigned k = 0; k < count; k++) {
        printf(" %.7g", x[k]);
    }
    printf("\n");
    assert_true(of->least < 1e-12);
    for (unsigned k = 0; k < count && !of->only_end; k++) {
        assert_true(fabs(x[k] - of->target[k]) < 1e-5 * (1 + fabs(of->target[k])));
    }
}
#endif

#define BALL(option)                                                                               \
    "<mujoco><option " option "/><worldbody><geom type='plane' size='50 50 1'/><body pos='0 0 1'>" \
    "<freejoint/><geom name='ball' size='.2' mass='1'/></body></worldbody></mujoco>"
#define BOX                                                                                        \
    "<mujoco><worldbody><geom type='plane' size='50 50 1' friction='.001 0 0'/><body "             \
    "pos='0 0 .21'><freejoint/><geom name='box' type='box' size='.2 .2 .2' density='100' "         \
    "friction='.1 0 0'/></body></worldbody></mujoco>"

static task tasks[] = {
    {.name = "ball_throw",
     .text = BALL(""),
     .steps = 50,
     .h = .03,
     .speeds = 3,
     .speed = {0, 1, 2},
     .start = {0, 2, 1},
     .target = {0, 4, 7},
     .low = {-20, -20, -20}},
    {.name = "the same in air, and its mass",
     .text = BALL("density='1.2' viscosity='2e-5'"),
     .steps = 50,
     .h = .03,
     .speeds = 3,
     .speed = {0, 1, 2},
     .numbers = 1,
     .number = {"ball.mass"},
     .start = {0, 2, 1, 3},
     .target = {0, 4, 7, 1},
     .low = {-20, -20, -20, .1}},
    {.name = "curling_box",
     .text = BOX,
     .steps = 100,
     .h = .03,
     .speeds = 1,
     .speed = {1},
     .start = {1},
     .only_end = 1,
     .aim = 3.5,
     .low = {0}},
    {.name = "the same, and its friction",
     .text = BOX,
     .steps = 60,
     .h = .03,
     .speeds = 1,
     .speed = {1},
     .numbers = 1,
     .number = {"box.friction"},
     .start = {1, .2},
     .target = {2.5, .1},
     .low = {0, .02}},
};

static void test_tasks(void **state)
{
    (void)state;
#if __has_include(<nlopt.h>)
    for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++) {
        if (!tasks[k].only_end) {
            aim(&tasks[k]);
        }
        find(&tasks[k]);
    }
#else
    skip(); /* without NLopt (Debian: libnlopt-dev) */
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tasks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
