/* The C side of test/python/bits.py: the same questions by the C interface, printed bit for bit.
 *
 *     compare_bits FILE METHOD STEP STEPS    what a motion by steps leads to, and what is asked
 * there compare_bits cost STEPS                the least time of a step of an oscillator, in
 * seconds compare_bits batch FILE METHOD STEP    the least time of a step of 4096 worlds, in
 * seconds
 *
 * A line is a name and numbers as hexadecimal bits. METHOD "-" is the default, STEP 0 the file's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "zwang/batch.h"
#include "zwang/bodies.h"
#include "zwang/inverse.h"
#include "zwang/look.h"
#include "zwang/sensitivity.h"
#include "zwang/slopes.h"
#include "zwang/zwang.h"

static zw_error error;

typedef struct world {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    zw_run_options options;
} world;

static void give_up(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, error.text);
    exit(1);
}

static world open_world(zw_model *model, const char *method, double step)
{
    world w = {.model = model};
    w.system = w.model ? zw_system_compile(w.model, NULL, &error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &error) : NULL;
    if (!w.state) {
        give_up("open");
    }
    if (strcmp(method, "-") != 0) {
        zw_method_find(method, &w.options.method);
    }
    w.options.step = step;
    return w;
}

static void close_world(world *w)
{
    zw_state_free(w->state);
    zw_work_free(w->work);
    zw_system_free(w->system);
    zw_model_free(w->model);
}

static void put(const char *name, const double *x, long count)
{
    printf("%s", name);
    for (long i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        printf(" %016" PRIx64, bits);
    }
    printf("\n");
}

static void put_field(const world *w, const char *name, zw_field_id field)
{
    zw_view view = zw_field(w->system, w->state, w->work, field);
    put(name, view.data, view.count);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static void put_look(const world *w, double *scratch)
{
    int n = zw_count(w->system, ZW_KIND_SPEED);
    zw_probe *probe = zw_probe_create(w->model, w->system, &error);
    if (zw_mass(probe, w->state, scratch, &error) == ZW_OK) {
        put("mass", scratch, (long)n * n);
    }
    if (zw_force_look(probe, w->state, ZW_FORCE_ALL, scratch, &error) == ZW_OK) {
        put("force", scratch, n);
    }
    int bodies = zw_count(w->system, ZW_KIND_BODY);
    zw_frame frame;
    if (bodies > 1 && zw_frame_find(probe, zw_name(w->system, ZW_KIND_BODY, bodies - 1), &frame,
                                    &error) == ZW_OK) {
        zw_frame_motion motion;
        zw_frame_look(probe, w->state, &frame, 1, NULL, &motion, &error);
        put("pos", motion.pos, 3);
        zw_frame_jacobian(probe, w->state, &frame, scratch, NULL, &error);
        put("jacobian", scratch, 3L * n);
    }
    zw_probe_free(probe);
}

static void put_near(const world *w, const double *a, double *scratch)
{
    int n = zw_count(w->system, ZW_KIND_SPEED), params = zw_count(w->system, ZW_KIND_PARAM);
    zw_inverse *inverse = zw_inverse_create(w->model, w->system, NULL, &error);
    zw_inverse_answer forces;
    if (inverse && zw_inverse_look(inverse, w->state, a, &forces, &error) == ZW_OK) {
        put("motor", forces.motor, forces.motors);
        put("residual", forces.residual, n);
    }
    zw_inverse_free(inverse);
    zw_slopes *slopes = zw_slopes_create(w->model, w->system, &error);
    zw_slopes_answer by;
    if (slopes && zw_slopes_look(slopes, w->state, &by, &error) == ZW_OK) {
        put("a_by", by.a_by, (long)by.columns * n);
    }
    zw_slopes_free(slopes);
    int kinks;
    if (zw_step_slopes(w->system, w->state, &w->options, scratch, &kinks, &error) == ZW_OK) {
        put("step_by", scratch, 2L * n * (2 * n + params));
    }
}

static void put_contacts(const world *w)
{
    int scratch = zw_contact_capacity(w->system);
    zw_contact *list = calloc((size_t)scratch + 1, sizeof *list);
    int count = zw_contacts(w->system, w->state, w->work, list, scratch, &error);
    for (int i = 0; i < count; i++) {
        put("contact", list[i].force, 6);
    }
    free(list);
}

/* Worlds of a batch whose first speed differs. */
static void put_batch(const world *w, int steps)
{
    zw_batch *batch =
        zw_batch_create(&(zw_batch_def){.system = w->system, .worlds = 5, .threads = 2}, &error);
    int n = zw_count(w->system, ZW_KIND_SPEED), nq = zw_count(w->system, ZW_KIND_COORD);
    for (int i = 0; i < 5; i++) {
        zw_batch_field(batch, i, ZW_FIELD_V)[n - 1] += 0.01 * i;
    }
    zw_batch_step(batch, &w->options, steps, 0, &error);
    put("batch_q", zw_batch_field(batch, 0, ZW_FIELD_Q), 5L * nq);
    put("batch_v", zw_batch_field(batch, 0, ZW_FIELD_V), 5L * n);
    zw_batch_free(batch);
}

static int compare(char **words)
{
    world w = open_world(zw_model_read(words[1], NULL, &error), words[2], atof(words[3]));
    int steps = atoi(words[4]), n = zw_count(w.system, ZW_KIND_SPEED);
    double *scratch =
        calloc((size_t)(2 * n) * (size_t)(2 * n + zw_count(w.system, ZW_KIND_PARAM) + 3) + 8,
               sizeof *scratch);
    for (int k = 0; k < steps; k++) {
        if (zw_step(w.system, w.state, w.work, &w.options, &error) != ZW_OK) {
            give_up("step");
        }
    }
    printf("hash %016" PRIx64 "\n", zw_state_hash(w.state));
    put_field(&w, "q", ZW_FIELD_Q);
    put_field(&w, "v", ZW_FIELD_V);
    put_contacts(&w);
    if (zw_forward(w.system, w.state, w.work, &w.options, &error) == ZW_OK) {
        put_field(&w, "a", ZW_FIELD_A);
        put_field(&w, "multipliers", ZW_FIELD_LAMBDA);
        put_field(&w, "sensors", ZW_FIELD_SENSOR);
        put_look(&w, scratch);
        put_near(&w, zw_field(w.system, w.state, w.work, ZW_FIELD_A).data, scratch);
    }
    put_batch(&w, steps);
    free(scratch);
    close_world(&w);
    return 0;
}

/* ---- Times ----------------------------------------------------------------------------------- */

static double clock_of_thread(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int cost(int steps)
{
    static const char text[] = "param k = 4\ncoord x = 1\nmass 1 at (x)\nforce x: -k * x\n";
    world w = open_world(zw_model_parse(text, "text.zw", NULL, &error), "euler", 1e-3);
    double least = 1e9;
    for (int take = 0; take < 15; take++) {
        double start = clock_of_thread();
        for (int k = 0; k < steps; k++) {
            zw_step(w.system, w.state, w.work, &w.options, &error);
        }
        double took = (clock_of_thread() - start) / steps;
        least = took < least ? took : least;
    }
    printf("%.9g\n", least);
    close_world(&w);
    return 0;
}

static int batch_cost(char **words)
{
    world w = open_world(zw_model_read(words[2], NULL, &error), words[3], atof(words[4]));
    zw_batch *batch =
        zw_batch_create(&(zw_batch_def){.system = w.system, .worlds = 4096, .threads = 1}, &error);
    double least = 1e9;
    for (int take = 0; take < 8; take++) {
        double start = clock_of_thread();
        zw_batch_step(batch, &w.options, 1, 0, &error);
        double took = clock_of_thread() - start;
        least = took < least ? took : least;
    }
    printf("%.9g\n", least);
    zw_batch_free(batch);
    close_world(&w);
    return 0;
}

int main(int count, char **words)
{
    if (count == 3 && !strcmp(words[1], "cost")) {
        return cost(atoi(words[2]));
    }
    if (count == 5 && !strcmp(words[1], "batch")) {
        return batch_cost(words);
    }
    return count == 5 ? compare(words) : 2;
}
