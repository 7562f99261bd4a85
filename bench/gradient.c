/* The cost of derivatives.
 *
 *     gradient [STEPS [run | back | forward | slopes [soft | impulse]]]     the table; or one thing
 * alone, to count its instructions
 *
 * A motion: the humanoid of examples/contact/humanoid_falls.xml falls, by method soft and by method
 * impulse; the cost is the height of its trunk, summed; the unknowns are the controls of all motors
 * in all steps. The backward pass includes the motion itself. An instant: derivatives of the
 * accelerations by coordinates and speeds, compared with one forward dynamics of the same tree.
 * Times are the least of several rounds, in seconds of this thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "system/bodies/bodies.h"
#include "system/system.h"
#include "tree/differ.h"
#include "tree/sweeps.h"
#include "zwang/sensitivity.h"

enum { ROUNDS = 5, MANY = 2000 };

typedef struct setting {
    zw_system *system;
    zw_state *start, *state;
    zw_work *work;
    zw_gradient_plan plan;
    zw_gradient gradient;
    double *scratch, *by, *a;
    double *lanes;
    zw_error error;
} setting;

static void must(setting *s, zw_status status)
{
    if (status != ZW_OK) {
        fprintf(stderr, "%s\n", s->error.text);
        exit(1);
    }
}

static double height(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    (void)user;
    (void)step;
    (void)by_v;
    by_q[2] = 1;
    return state_q((zw_state *)state)[2];
}

static void run(setting *s)
{
    must(s, zw_state_copy(s->start, &s->state, &s->error));
    for (long k = 0; k < s->plan.steps; k++) {
        for (int c = 0; c < s->plan.controls; c++) {
            state_param(s->state)[s->plan.control[c]] = s->plan.value[k * s->plan.controls + c];
        }
        must(s, zw_step(s->system, s->state, s->work, &s->plan.run, &s->error));
    }
}

static void back(setting *s)
{
    s->plan.memory = 0;
    must(s, zw_gradient_find(s->system, s->start, &s->plan, &s->gradient, &s->error));
}

static void back_small(setting *s)
{
    s->plan.memory = 1;
    must(s, zw_gradient_find(s->system, s->start, &s->plan, &s->gradient, &s->error));
}

/* Articulated bodies (Featherstone). */
static void forward(setting *s)
{
    const tree_mechanism *tree = s->system->tree;
    double *sweeps = s->work->sweeps;
    int bad = 0;
    for (int i = 0; i < MANY; i++) {
        tree_kinematics(tree, state_q(s->start), sweeps);
        tree_velocities(tree, state_v(s->start), sweeps);
        tree_articulate(tree, NULL, sweeps, &bad);
        tree_forward(tree, s->scratch, NULL, sweeps, s->a);
    }
}

/* The accelerations and poses are known: the remaining cost. */
static void slopes(setting *s)
{
    const tree_mechanism *tree = s->system->tree;
    double *sweeps = s->work->sweeps;
    int n = tree->nv, bad = 0;
    for (int i = 0; i < MANY; i++) {
        tree_differ(tree, state_v(s->start), s->a, sweeps, s->scratch, s->by, s->by + n * n);
        tree_composite(tree, sweeps);
        tree_factor(tree, NULL, sweeps, &bad);
        tree_solve_many(tree, sweeps, 2 * tree->nv, s->by, s->lanes);
    }
}

static double time_of(setting *s, void (*what)(setting *))
{
    double least = INFINITY;
    for (int k = 0; k < ROUNDS; k++) {
        double begin = seconds_computed();
        what(s);
        least = fmin(least, seconds_computed() - begin);
    }
    return least;
}

static void row(setting *s, const char *name, double seconds, double unit, size_t memory)
{
    printf("| %s | %.2f | %.2f | ", name, 1e6 * seconds / (double)s->plan.steps, seconds / unit);
    if (memory > 0) {
        printf("%.0f KiB |\n", (double)memory / 1024);
    } else {
        printf("|\n");
    }
}

static void motion(setting *s, zw_method method)
{
    s->plan.run.method = method;
    double unit = time_of(s, run);
    printf("### %ld steps of a falling humanoid by method %s, by all %ld controls\n\n| | us a step "
           "| motions | states kept |\n|---|---|---|---|\n",
           s->plan.steps, zw_method_name(method), s->plan.steps * s->plan.controls);
    row(s, "the motion alone", unit, unit, 0);
    double seconds = time_of(s, back);
    row(s, "with its gradient", seconds, unit, s->gradient.memory);
    seconds = time_of(s, back_small);
    row(s, "the same, few states kept", seconds, unit, s->gradient.memory);
    printf("\n");
}

static void table(setting *s)
{
    printf("## Gradients (`bench/gradient`)\n\n");
    motion(s, ZW_METHOD_SOFT);
    motion(s, ZW_METHOD_IMPULSE);
    double unit = time_of(s, forward), seconds = time_of(s, slopes);
    printf("### The humanoid at an instant\n\n| | us | forward dynamics |\n|---|---|---|\n");
    printf("| forward dynamics | %.2f | 1 |\n", 1e6 * unit / MANY);
    printf("| and all its %d slopes by q, v | %.2f | %.2f |\n", 2 * s->system->n * s->system->n,
           1e6 * seconds / MANY, seconds / unit);
}

int main(int argc, char **argv)
{
    setting s = {0};
    long steps = argc > 1 ? atol(argv[1]) : 500;
    zw_model *model =
        zw_model_read(ZW_SOURCE_DIR "/examples/contact/humanoid_falls.xml", NULL, &s.error);
    s.system = model ? zw_system_compile(model, NULL, &s.error) : NULL;
    s.work = s.system ? zw_work_create(s.system, &s.error) : NULL;
    s.start = s.work ? zw_state_create(s.system, s.work, NULL, &s.error) : NULL;
    must(&s, s.start ? ZW_OK : s.error.status);
    size_t n = (size_t)s.system->n;
    int motors = s.system->bodies->motor_count,
        *control = allocate((size_t)motors, sizeof *control);
    double *value = allocate((size_t)(steps * motors), sizeof *value);
    s.gradient.by_control = allocate((size_t)(steps * motors), sizeof(double));
    s.scratch = allocate(tree_differ_scratch(s.system->tree), sizeof *s.scratch);
    s.by = allocate(2 * n * n, sizeof *s.by);
    s.a = allocate(n, sizeof *s.a);
    s.lanes = allocate(8 * n, sizeof *s.lanes);
    for (int k = 0; k < motors; k++) {
        control[k] = s.system->bodies->motor[k].param;
    }
    for (long k = 0; k < steps * motors; k++) {
        value[k] = 0.2 * sin(0.1 * (double)k);
    }
    s.plan = (zw_gradient_plan){.run = {.method = ZW_METHOD_SOFT},
                                .steps = steps,
                                .controls = motors,
                                .control = control,
                                .value = value,
                                .cost = height};
    for (size_t i = 0; i < n; i++) {
        state_v(s.start)[i] = 0.1 * (double)(i % 5);
    }
    if (argc > 3) {
        s.plan.run.method = ZW_METHOD_IMPULSE;
    }
    if (argc <= 2) {
        table(&s);
    } else {
        forward(&s);
        (strcmp(argv[2], "run") == 0      ? run
         : strcmp(argv[2], "back") == 0   ? back
         : strcmp(argv[2], "slopes") == 0 ? slopes
                                          : forward)(&s);
    }
    return 0;
}
