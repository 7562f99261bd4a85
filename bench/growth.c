/* How cost grows with size: each row is measured at 1, 10 and 100 times its first size.
 *
 *     growth [ROW]     the table, or one row of it
 *
 * Times are seconds of this thread, the least of three where that is short. The exponent is that of
 * the cost between the two larger sizes; 1 is expected, and n log n counts as 1.1. */
#include <string.h>

#include "base/memory.h"
#include "collide/hull.h"
#include "measure.h"
#include "scene/dice.h"
#include "zwang/zwang.h"

typedef struct text {
    char *data;
    size_t length, capacity;
} text;

/* Appends; `number` is for a format that has one. */
static void put(text *t, const char *format, double number)
{
    if (t->length + 400 > t->capacity) {
        t->capacity = 2 * t->capacity + 1000;
        t->data = realloc(t->data, t->capacity);
        if (!t->data) {
            exit(2);
        }
    }
    t->length += (size_t)snprintf(t->data + t->length, 400, format, number);
}

static void must(zw_status status, const zw_error *error)
{
    if (status != ZW_OK) {
        fprintf(stderr, "%s: %s\n", zw_status_text(status), error->text);
        exit(1);
    }
}

typedef struct world {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
} world;

static world open_world(const text *t, const char *name)
{
    zw_error error = {0};
    world w = {0};
    w.model = zw_model_parse(t->data, name, NULL, &error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &error) : NULL;
    must(w.state ? ZW_OK : error.status, &error);
    return w;
}

static void close_world(world *w)
{
    zw_state_free(w->state);
    zw_work_free(w->work);
    zw_system_free(w->system);
    zw_model_free(w->model);
}

/* Seconds of a run of this many steps. */
static double run(world *w, zw_method method, double tolerance, double step, int steps)
{
    zw_error error = {0};
    zw_run_summary summary = {0};
    zw_run_options options = {.time = step * steps,
                              .every = step * steps,
                              .step = step,
                              .tolerance = tolerance,
                              .method = method};
    double from = seconds_computed();
    must(zw_run(w->system, w->state, w->work, &options, &summary, &error), &error);
    return seconds_computed() - from;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static double events(int n)
{
    text t = {0};
    put(&t, "coord  x = 0\nspeed  x' = 1\nkinetic  1/2*x'^2\n", 0);
    for (int k = 0; k < n; k++) {
        put(&t, "event  e%.0f: ", k);
        put(&t, "x = %.9f\n", 0.1 + 0.8 * k / n);
    }
    put(&t, "run  time 1\n", 0);
    world w = open_world(&t, "events.zw");
    double seconds = run(&w, ZW_METHOD_DOP853, 0, 1, 1);
    close_world(&w);
    free(t.data);
    return seconds;
}

static text boxes(int n)
{
    text t = {0};
    put(&t, "<mujoco><worldbody><geom type='plane' size='9 9 1'/>", 0);
    for (int k = 0; k < n; k++) {
        put(&t, "<body pos='%g ", 0.3 * (k % 100));
        put(&t, "%g .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>",
            0.3 * (double)(k / 100));
    }
    put(&t, "</worldbody></mujoco>", 0);
    return t;
}

static double box_steps(int n, zw_method method, double tolerance)
{
    text t = boxes(n);
    world w = open_world(&t, "boxes.xml");
    double seconds = run(&w, method, tolerance, 0.002, 2);
    close_world(&w);
    free(t.data);
    return seconds;
}

static double soft_boxes(int n)
{
    return box_steps(n, ZW_METHOD_SOFT, 0);
}

static double impulse_boxes(int n)
{
    return box_steps(n, ZW_METHOD_IMPULSE, 1);
}

static double classes(int n)
{
    text t = {0};
    zw_error error = {0};
    put(&t, "<mujoco><default>", 0);
    for (int k = 0; k < n; k++) {
        put(&t, "<default class='kind%.0f'><geom size='.1'/></default>", k);
    }
    put(&t, "</default><worldbody>", 0);
    for (int k = 0; k < n; k++) {
        put(&t, "<geom class='kind%.0f'/>", k);
    }
    put(&t, "</worldbody></mujoco>", 0);
    double from = seconds_computed();
    zw_model *model = zw_model_parse(t.data, "classes.xml", NULL, &error);
    double seconds = seconds_computed() - from;
    must(model ? ZW_OK : error.status, &error);
    zw_model_free(model);
    free(t.data);
    return seconds;
}

static double hull(int n)
{
    double *x = allocate(3 * (size_t)n, sizeof *x);
    dice d = dice_of(7);
    for (int k = 0; k < n; k++) {
        dice_direction(&d, &x[3 * k]);
    }
    double from = seconds_computed();
    struct collide_hull *h = collide_hull_new(x, n);
    double seconds = seconds_computed() - from;
    must(h ? ZW_OK : ZW_NO_MEMORY, &(zw_error){0});
    collide_hull_free(h);
    free(x);
    return seconds;
}

static double chain(int n)
{
    text t = {0};
    put(&t,
        "<mujoco><default><geom conaffinity='0'/></default><worldbody>"
        "<geom type='plane' size='9 9 1' conaffinity='1'/>"
        "<body pos='0 0 .019'><freejoint/><geom type='capsule' size='.02' fromto='0 0 0 .1 0 0'/>",
        0);
    for (int k = 1; k < n; k++) {
        put(&t,
            k % 2 ? "<body pos='.1 0 0'><joint axis='0 1 0' damping='.01'/>"
                  : "<body pos='.1 0 0'><joint axis='0 0 1' damping='.01'/>",
            0);
        put(&t, "<geom type='capsule' size='.02' fromto='0 0 0 .1 0 0'/>", 0);
    }
    for (int k = 0; k < n; k++) {
        put(&t, "</body>", 0);
    }
    put(&t, "</worldbody></mujoco>", 0);
    world w = open_world(&t, "chain.xml");
    double few = run(&w, ZW_METHOD_SOFT, 0, 0.002, 10);
    double more = run(&w, ZW_METHOD_SOFT, 0, 0.002, 90);
    close_world(&w);
    free(t.data);
    return (more - few) / 80;
}

/* Seconds per step, without the first ten. */
static double a_step(const text *t, const char *name, double tolerance, double speed)
{
    const zw_run_options options = {
        .method = ZW_METHOD_IMPULSE, .step = 0.002, .tolerance = tolerance};
    world w = open_world(t, name);
    zw_error error = {0};
    must(zw_state_set(w.system, w.state, w.work, ZW_FIELD_V, 1, 1, &speed, &error), &error);
    double from = 0;
    for (int k = 0; k < 30; k++) {
        from = k == 10 ? seconds_computed() : from;
        must(zw_step(w.system, w.state, w.work, &options, &error), &error);
    }
    double seconds = seconds_computed() - from;
    close_world(&w);
    return seconds / 20;
}

/* Pushed sideways: every link has a contact, and slides. */
static double slides(int n, double tolerance)
{
    text t = {0};
    put(&t,
        "<mujoco><default><geom conaffinity='0' friction='.1'/></default><worldbody>"
        "<geom type='plane' size='9 9 1' conaffinity='1'/>",
        0);
    for (int k = 0; k < n; k++) {
        put(&t,
            k == 0 ? "<body pos='0 0 .03'><freejoint/>"
                   : "<body pos='.1 0 0'><joint type='ball' damping='.01'/>",
            0);
        put(&t, "<geom size='.03' pos='.05 0 0'/>", 0);
    }
    for (int k = 0; k < n; k++) {
        put(&t, "</body>", 0);
    }
    put(&t, "</worldbody></mujoco>", 0);
    double seconds = a_step(&t, "slides.xml", tolerance, 0.5);
    free(t.data);
    return seconds;
}

static double linear_slides(int n)
{
    return slides(n, 1);
}

static double exact_slides(int n)
{
    return slides(n, 0);
}

static double tower(int n)
{
    text t = {0};
    put(&t, "<mujoco><worldbody><geom type='plane' size='9 9 1'/>", 0);
    for (int k = 0; k < n; k++) {
        put(&t,
            "<body pos='0 0 %.17g'><freejoint/><geom type='box' size='.1 .1 .1'/>"
            "</body>",
            0.1 * (2 * k + 1));
    }
    put(&t, "</worldbody></mujoco>", 0);
    double seconds = a_step(&t, "tower.xml", 1, 0);
    free(t.data);
    return seconds;
}

/* ---- Table ----------------------------------------------------------------------------------- */

typedef struct row {
    const char *name, *what;
    int first;
    double (*cost)(int n);
} row;

int main(int argc, char **argv)
{
    static const row list[] = {
        {"events", "events that all fire in one step", 30, events},
        {"soft", "boxes on a floor, soft: start and two steps", 100, soft_boxes},
        {"impulse", "boxes on a floor, one linearisation: start and two steps", 100, impulse_boxes},
        {"classes", "MJCF classes, each used once: reading", 100, classes},
        {"hull", "points on a sphere: the hull and its table", 10000, hull},
        {"chain", "links on a floor, soft: a step", 10, chain},
        {"linear", "links that slide on a floor, one linearisation: a step", 10, linear_slides},
        {"exact", "links that slide on a floor, exact: a step", 10, exact_slides},
        {"tower", "boxes on one another, one linearisation: a step", 10, tower}};
    printf(
        "\n| row | sizes | seconds x 1 | x 10 | x 100 | exponent |\n|---|---|---|---|---|---|\n");
    for (size_t r = 0; r < sizeof list / sizeof *list; r++) {
        double cost[3];
        if (argc > 1 && strcmp(argv[1], list[r].name) != 0) {
            continue;
        }
        for (int k = 0, n = list[r].first; k < 3; k++, n *= 10) {
            cost[k] = list[r].cost(n);
            for (int again = 0; again < 2 && cost[k] < 0.5; again++) {
                cost[k] = fmin(cost[k], list[r].cost(n));
            }
        }
        printf("| %s | %d to %d | %.2g | %.2g | %.2g | %.2f |\n", list[r].what, list[r].first,
               100 * list[r].first, cost[0], cost[1], cost[2], log10(cost[2] / cost[1]));
        fflush(stdout);
    }
    return 0;
}
