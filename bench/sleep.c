/* The cost of sleeping bodies, which should be zero.
 *
 *     sleep                     the tables
 *     sleep runs                only the last of them
 *     sleep save FILE N ROBOT   saves a world of N sleeping boxes, with the robot (1) or without
 * (0) sleep step FILE N ROBOT   1000 steps from there, after a first one: for valgrind
 *                               --tool=callgrind '--toggle-collect=steps*'
 *
 * Boxes stand on a floor; next to them a quadruped keeps bending its knees. */
#include <stdint.h>
#include <string.h>

#include "measure.h"
#include "scene/touch.h"

#define H 0.005
#define ROBOT ZW_SOURCE_DIR "/examples/contact/quadruped.xml"
enum { STEPS = 1000, ROUNDS = 9 };

static void must(zw_status status, const zw_error *error)
{
    if (status != ZW_OK) {
        fprintf(stderr, "%s: %s\n", zw_status_text(status), error->text);
        exit(1);
    }
}

static void add_floor(zw_model *model)
{
    zw_error error = {0};
    zw_geom_def plane = zw_geom_default();
    plane.shape = ZW_SHAPE_PLANE;
    plane.size[2] = 1;
    must(zw_model_add_geom(model, &plane, &error) < 0 ? error.status : ZW_OK, &error);
}

static void add_box(zw_model *model, int number)
{
    zw_error error = {0};
    zw_body_def body = zw_body_default();
    zw_joint_def joint = zw_joint_default();
    zw_geom_def geom = zw_geom_default();
    body.pos[0] = 3 + 0.5 * (number % 100);
    body.pos[1] = 0.5 * (double)(number / 100);
    body.pos[2] = 0.1;
    joint.body = geom.body = zw_model_add_body(model, &body, &error);
    joint.kind = ZW_JOINT_FREE;
    geom.shape = ZW_SHAPE_BOX;
    geom.size[0] = geom.size[1] = geom.size[2] = 0.1;
    int ok = joint.body >= 0 && zw_model_add_joint(model, &joint, &error) >= 0 &&
             zw_model_add_geom(model, &geom, &error) >= 0;
    must(ok ? ZW_OK : error.status, &error);
}

/* seconds: to build and compile the model and to create work and state. */
static touch open_world(int boxes, int robot, int sleep, double *seconds)
{
    touch s = {0};
    double start = seconds_computed();
    s.model = robot ? zw_model_read(ROBOT, NULL, &s.error) : zw_model_create(&s.error);
    must(s.model ? ZW_OK : s.error.status, &s.error);
    if (!robot) {
        add_floor(s.model);
    }
    for (int i = 0; i < boxes; i++) {
        add_box(s.model, i);
    }
    zw_world_def world = *zw_model_world(s.model);
    world.sleep = sleep;
    must(zw_model_set_world(s.model, &world, &s.error), &s.error);
    must(touch_start(&s, NULL), &s.error);
    *seconds = seconds_computed() - start;
    return s;
}

/* The robot bends its knees periodically. */
static void drive(touch *s, long k)
{
    zw_view param = zw_field(s->system, s->state, s->work, ZW_FIELD_PARAM);
    double *control = (double *)param.data;
    for (int i = 0; i < param.count; i++) {
        control[i] = i % 3 == 0 ? 0 : (i % 3 == 1 ? 0.2 : -0.4) * (double)labs(k % 200 - 100) / 100;
    }
}

/* A separate function, so that callgrind can select it by name. */
__attribute__((noinline)) static double steps(touch *s, long count)
{
    double start = seconds_computed();
    for (long k = 0; k < count; k++) {
        drive(s, k);
        must(zw_step(s->system, s->state, s->work,
                     &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = H}, &s->error),
             &s->error);
    }
    return (seconds_computed() - start) / (double)count;
}

static int sleepers(touch *s)
{
    return zw_sleepers(s->system, s->state, NULL, NULL);
}

/* Runs until all boxes sleep. */
static void settle(touch *s, int boxes)
{
    for (int k = 0; k < 40 && sleepers(s) < boxes; k++) {
        steps(s, 10);
    }
    if (sleepers(s) < boxes) {
        fprintf(stderr, "only %d of %d boxes sleep\n", sleepers(s), boxes);
        exit(1);
    }
}

/* ---- Tables --------------------------------------------------------------------------------- */

static void beside_a_robot(void)
{
    double compiled, alone[ROUNDS], among[ROUNDS], ratio[ROUNDS];
    touch one = open_world(0, 1, 0, &compiled);
    printf("\n## A robot beside boxes that sleep\n\n"
           "| boxes | step of the robot alone, us | with them | ratio |\n|---|---|---|---|\n");
    for (int boxes = 100; boxes <= 10000; boxes *= 10) {
        touch s = open_world(boxes, 1, 1, &compiled);
        settle(&s, boxes);
        for (int k = 0; k < ROUNDS; k++) {
            alone[k] = steps(&one, STEPS);
            among[k] = steps(&s, STEPS);
            ratio[k] = among[k] / alone[k];
        }
        printf("| %d | %.1f | %.1f | %.3f |\n", boxes, 1e6 * median(alone, ROUNDS),
               1e6 * median(among, ROUNDS), median(ratio, ROUNDS));
        touch_close(&s);
    }
    touch_close(&one);
}

/* An empty world cannot be compiled: the smallest one has one body, and is nearly as good as empty
 * when that sleeps. */
static void all_asleep(void)
{
    double compiled, least[ROUNDS], all[ROUNDS], ratio[ROUNDS];
    touch one = open_world(1, 0, 1, &compiled);
    settle(&one, 1);
    printf(
        "\n## All asleep\n\n"
        "| boxes | s to make the world | us a step awake | asleep | a single box, asleep | ratio "
        "|\n|---|---|---|---|---|---|\n");
    for (int boxes = 1; boxes <= 100000; boxes *= 10) {
        touch s = open_world(boxes, 0, 1, &compiled);
        double awake = steps(&s, 5);
        if (boxes <= 10000) {
            settle(&s, boxes);
            for (int k = 0; k < ROUNDS; k++) {
                least[k] = steps(&one, 100 * STEPS);
                all[k] = steps(&s, 100 * STEPS);
                ratio[k] = all[k] / least[k];
            }
            printf("| %d | %.2f | %.1f | %.3f | %.3f | %.3f |\n", boxes, compiled, 1e6 * awake,
                   1e6 * median(all, ROUNDS), 1e6 * median(least, ROUNDS), median(ratio, ROUNDS));
        } else {
            printf("| %d | %.2f | %.1f |  |  |  |\n", boxes, compiled, 1e6 * awake);
        }
        fflush(stdout);
        touch_close(&s);
    }
    touch_close(&one);
}

/* A run by zw_run with samples at its two ends only: seconds. */
__attribute__((noinline)) static double ran(touch *s, long count)
{
    double now = zw_field(s->system, s->state, s->work, ZW_FIELD_TIME).data[0];
    const zw_run_options options = {.time = now + H * (double)count,
                                    .every = 2 * H * (double)count,
                                    .step = H,
                                    .method = ZW_METHOD_IMPULSE};
    double start = seconds_computed();
    must(zw_run(s->system, s->state, s->work, &options, NULL, &s->error), &s->error);
    return seconds_computed() - start;
}

/* Seconds per step between samples: the difference of a long and a short run. */
static double step_of_run(touch *s)
{
    enum { FEW = 10, MANY = 2000 * STEPS };
    double few = ran(s, FEW), many = ran(s, MANY);
    return (many - few) / (MANY - FEW);
}

static void runs(void)
{
    double compiled, least[ROUNDS], all[ROUNDS], ratio[ROUNDS];
    touch one = open_world(1, 0, 1, &compiled);
    settle(&one, 1);
    printf("\n## Runs (zw_run), all asleep\n\n| boxes | us a step between samples | a single box, "
           "asleep | ratio | ms for both ends of a run |\n|---|---|---|---|---|\n");
    for (int boxes = 100; boxes <= 10000; boxes *= 10) {
        touch s = open_world(boxes, 0, 1, &compiled);
        settle(&s, boxes);
        for (int k = 0; k < ROUNDS; k++) {
            least[k] = step_of_run(&one);
            all[k] = step_of_run(&s);
            ratio[k] = all[k] / least[k];
        }
        double ends = ran(&s, 1);
        printf("| %d | %.3f | %.3f | %.3f | %.1f |\n", boxes, 1e6 * median(all, ROUNDS),
               1e6 * median(least, ROUNDS), median(ratio, ROUNDS), 1e3 * ends);
        if (sleepers(&s) < boxes) {
            printf("only %d of %d boxes sleep\n", sleepers(&s), boxes);
        }
        fflush(stdout);
        touch_close(&s);
    }
    touch_close(&one);
}

/* ---- For callgrind -------------------------------------------------------------------------- */

static int one_world(const char *what, const char *file, int boxes, int robot)
{
    double compiled;
    touch s = open_world(boxes, robot, boxes > 1, &compiled);
    if (strcmp(what, "save") == 0) {
        if (boxes > 1) {
            settle(&s, boxes);
        }
        must(zw_state_write(s.state, file, &s.error), &s.error);
    } else {
        zw_state_free(s.state);
        s.state = zw_state_read(s.system, file, &s.error);
        must(s.state ? ZW_OK : s.error.status, &s.error);
        drive(&s, 0);
        must(zw_step(s.system, s.state, s.work,
                     &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = H}, &s.error),
             &s.error);
        printf("%.3f us\n", 1e6 * steps(&s, STEPS));
    }
    touch_close(&s);
    return 0;
}

int main(int count, char **word)
{
    if (count == 5) {
        return one_world(word[1], word[2], atoi(word[3]), atoi(word[4]));
    }
    if (count == 2 && strcmp(word[1], "runs") == 0) {
        runs();
        return 0;
    }
    beside_a_robot();
    all_asleep();
    runs();
    return 0;
}
