/* Threads that share one model and one system: each gets, bit for bit, what one thread alone gets.
 *
 * Every thread compiles the shared model for itself, and on the shared system makes a work and a
 * state and calls what the public headers offer: forward, fields, run with observers and
 * recordings, single steps, writing into a state, saving, batches, certify, reach: each function
 * that takes a const model or system, which tools/check-shared looks up. What comes out of each
 * call goes into one hash. ThreadSanitizer (tools/test-all, preset `thread`) sees any write
 * that another thread could see; the hash sees its effect in every other build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zwang/batch.h"
#include "zwang/bodies.h"
#include "zwang/fit.h"
#include "zwang/inverse.h"
#include "zwang/look.h"
#include "zwang/modes.h"
#include "zwang/optimise.h"
#include "zwang/path.h"
#include "zwang/sensitivity.h"
#include "zwang/show.h"
#include "zwang/slopes.h"
#include "zwang/verdict.h"
#include "zwang/zwang.h"

enum { THREADS = 3, SAMPLES = 40, WIDEST = 64 };

/* ---- What is compared ------------------------------------------------------------------------ */

static void mix(uint64_t *hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        *hash = (*hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
}

static void mix_status(uint64_t *hash, zw_status status)
{
    int number = (int)status;
    mix(hash, &number, sizeof number);
}

static void mix_fields(uint64_t *hash, const zw_system *system, const zw_state *state,
                       zw_work *work)
{
    for (int field = ZW_FIELD_TIME; field <= ZW_FIELD_SENSOR; field++) {
        zw_view view = zw_field(system, state, work, (zw_field_id)field);
        mix(hash, view.data, (size_t)view.count * sizeof *view.data);
    }
}

/* ---- What a thread does ---------------------------------------------------------------------- */

typedef struct scene {
    const char *file, *text; /* one of them */
    double time, step;
    zw_method method; /* of the run */
    int fails;        /* the run ends with an error, which is compared as well */
} scene;

typedef struct job {
    const scene *scene;
    const zw_model *model;
    const zw_system *system;
    pthread_barrier_t *together; /* or NULL: alone */
    int number;
    uint64_t hash;
    const char *refused; /* a call that should not have failed */
    zw_error error;
} job;

/* A recording, and the samples of q for a trial. */
typedef struct watcher {
    zw_record *record;
    int count, n;
    double t[SAMPLES], q[SAMPLES * WIDEST];
    uint64_t hash;
} watcher;

static int watch(void *user, zw_sample_kind kind, int event, const zw_system *system,
                 const zw_state *state, zw_work *work)
{
    watcher *w = user;
    mix_fields(&w->hash, system, state, work);
    double t = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    zw_view q = zw_field(system, state, work, ZW_FIELD_Q);
    if (w->count < SAMPLES && q.count == w->n && q.count <= WIDEST &&
        (w->count == 0 || t > w->t[w->count - 1])) {
        memcpy(w->q + w->count * w->n, q.data, (size_t)w->n * sizeof *q.data);
        w->t[w->count++] = t;
    }
    return zw_record_observe(w->record, kind, event, system, state, work);
}

static void write_files(job *j, zw_record *record, const zw_run_summary *summary)
{
    static const char *const ending[] = {"csv", "svg", "html"};
    for (int k = 0; k < 3 && !j->refused; k++) {
        char path[128];
        snprintf(path, sizeof path, "/tmp/zwang-share-%ld-%d.%s", (long)getpid(), j->number,
                 ending[k]);
        if (zw_record_write(record, summary, path, &j->error) != ZW_OK) {
            j->refused = "zw_record_write";
        }
        remove(path);
    }
}

static void certify(job *j, const watcher *w)
{
    zw_path *path = zw_path_create(j->system, w->count, w->t, w->q, NULL, &j->error);
    if (!path) {
        j->refused = "zw_path_create";
        return;
    }
    zw_trial *trial = zw_path_certify(j->system, path, NULL, &j->error);
    if (trial) {
        const zw_trial_report *report = zw_trial_look(trial);
        mix(&j->hash, &report->defect, sizeof report->defect);
    } else {
        mix_status(&j->hash, j->error.status);
    }
    zw_trial_free(trial);
    zw_inverse_path *forces = zw_inverse_along(j->model, j->system, path, NULL, &j->error);
    if (forces) {
        zw_inverse_report report = zw_inverse_report_of(forces);
        mix(&j->hash, &report.residual, sizeof report.residual);
    } else {
        mix_status(&j->hash, j->error.status);
    }
    zw_inverse_path_free(forces);
    zw_path_free(path);
}

static void run(job *j, zw_state *state, zw_work *work)
{
    watcher w = {.n = zw_count(j->system, ZW_KIND_SPEED), .hash = j->hash};
    zw_run_summary summary;
    w.record = zw_record_create(j->system, &j->error);
    if (!w.record) {
        j->refused = "zw_record_create";
        return;
    }
    zw_run_options options = {.time = j->scene->time,
                              .every = j->scene->time / 20,
                              .step = j->scene->step,
                              .tolerance = 1e-8,
                              .method = j->scene->method,
                              .observer = watch,
                              .user = &w};
    zw_status status = zw_run(j->system, state, work, &options, &summary, &j->error);
    mix(&w.hash, &summary.energy_end, sizeof summary.energy_end);
    mix_status(&w.hash, status);
    j->hash = w.hash;
    if ((status != ZW_OK) != j->scene->fails) {
        j->refused = "zw_run";
    }
    if (!j->refused) {
        write_files(j, w.record, &summary);
    }
    if (!j->refused && !zw_model_world(j->model) && w.count > 10) {
        certify(j, &w);
    }
    zw_record_free(w.record);
}

/* Steps by two methods, a number written into the state, and the state through bytes. */
static void step(job *j, zw_state *state, zw_work *work)
{
    zw_state *copy = NULL;
    zw_status status = zw_state_copy(state, &copy, &j->error);
    for (int k = 0; k < 3 && status == ZW_OK; k++) {
        status =
            zw_step(j->system, copy, work,
                    &(zw_run_options){.method = j->scene->method ? j->scene->method : ZW_METHOD_RK4,
                                      .step = 1e-3},
                    &j->error);
        mix_status(&j->hash, status);
        mix_fields(&j->hash, j->system, copy, work);
    }
    zw_view v = zw_field(j->system, state, work, ZW_FIELD_V);
    double speed = v.count > 0 ? 1.01 * v.data[0] + 0.01 : 0;
    mix_status(&j->hash, zw_state_set(j->system, state, work, ZW_FIELD_V, 0, 1, &speed, NULL));
    if (zw_count(j->system, ZW_KIND_PARAM) > 0) {
        double value = zw_field(j->system, state, work, ZW_FIELD_PARAM).data[0];
        mix_status(&j->hash,
                   zw_state_set(j->system, state, work, ZW_FIELD_PARAM, 0, 1, &value, NULL));
    }
    size_t size = zw_state_bytes(state);
    void *bytes = malloc(size);
    if (!bytes || zw_state_save(state, bytes, size, &j->error) != ZW_OK) {
        j->refused = "zw_state_save";
    } else {
        zw_state_free(copy);
        copy = zw_state_restore(j->system, bytes, size, &j->error);
        uint64_t hash = copy ? zw_state_hash(copy) : 0;
        mix(&j->hash, &hash, sizeof hash);
    }
    free(bytes);
    zw_state_free(copy);
}

static double first_speed(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    (void)user;
    (void)step;
    (void)state;
    (void)by_q;
    by_v[0] = 1;
    return 0;
}

/* Gradients of motions, of those that have them. */
static void look_back(job *j, const zw_state *state)
{
    size_t n = (size_t)zw_count(j->system, ZW_KIND_SPEED),
           params = (size_t)zw_count(j->system, ZW_KIND_PARAM);
    double *by = calloc(2 * n * (2 * n + params) + 1, sizeof *by);
    const zw_gradient_plan plan = {
        .run = {.method = ZW_METHOD_SOFT}, .steps = 3, .cost = first_speed};
    zw_gradient gradient = {.by_q = by, .by_v = by ? by + n : NULL};
    if (by) {
        mix_status(&j->hash, zw_gradient_find(j->system, state, &plan, &gradient, &j->error));
        mix(&j->hash, by, 2 * n * sizeof *by);
        mix_status(&j->hash, zw_step_slopes(j->system, state, &plan.run, by, NULL, &j->error));
        mix(&j->hash, by, 2 * n * (2 * n + params) * sizeof *by);
    }
    free(by);
}

static void instant(job *j, zw_state *state, zw_work *work)
{
    mix_status(&j->hash, zw_forward(j->system, state, work, NULL, &j->error));
    mix_fields(&j->hash, j->system, state, work);
    int constraints = zw_count(j->system, ZW_KIND_CONSTRAINT);
    zw_constraint *list = calloc((size_t)constraints + 1, sizeof *list);
    if (list) {
        mix_status(&j->hash, zw_constraints_look(j->system, state, work, list, &j->error));
        for (int c = 0; c < constraints; c++) {
            mix(&j->hash, &list[c].force, sizeof list[c].force);
        }
    }
    free(list);
    if (zw_contact_capacity(j->system) > 0) {
        int touching = zw_contacts(j->system, state, work, NULL, 0, &j->error);
        mix(&j->hash, &touching, sizeof touching);
        mix_status(&j->hash, zw_look(j->system, state, work, &j->error));
    }
    zw_inverse *inverse = zw_inverse_create(j->model, j->system, NULL, &j->error);
    zw_inverse_answer answer;
    zw_view a = zw_field(j->system, state, work, ZW_FIELD_A);
    if (inverse && zw_inverse_look(inverse, state, a.data, &answer, &j->error) == ZW_OK) {
        mix(&j->hash, answer.residual, (size_t)a.count * sizeof *answer.residual);
    }
    zw_inverse_free(inverse);
    zw_slopes *slopes = zw_slopes_create(j->model, j->system, &j->error);
    zw_slopes_answer slope;
    if (slopes && zw_slopes_look(slopes, state, &slope, &j->error) == ZW_OK) {
        mix(&j->hash, slope.a_by, (size_t)slope.columns * (size_t)slope.n * sizeof *slope.a_by);
    }
    zw_slopes_free(slopes);
    zw_sensitivity *flow = zw_sensitivity_create(j->model, j->system, NULL, 0, &j->error);
    if (flow && zw_sensitivity_start(flow, state, 0, &j->error) == ZW_OK) {
        zw_sensitivity_answer by = zw_sensitivity_look(flow);
        mix(&j->hash, by.by, 2 * (size_t)by.columns * (size_t)by.n * sizeof *by.by);
    }
    zw_sensitivity_free(flow);
    look_back(j, state);
    zw_path *some =
        zw_path_read(j->system, "no such file.csv", &(zw_path_options){.partial = 1}, &j->error);
    mix_status(&j->hash, some ? ZW_OK : j->error.status);
    zw_path_free(some);
    const zw_fit_problem nothing = {0};
    zw_fit *fit = zw_fit_create(j->model, j->system, &nothing, &j->error);
    mix_status(&j->hash, fit ? ZW_OK : j->error.status);
    zw_fit_free(fit);
    zw_optimum *optimum = zw_optimise(j->model, j->system, NULL, &j->error); /* most have no cost */
    mix_status(&j->hash, optimum ? ZW_OK : j->error.status);
    zw_optimum_free(optimum);
    zw_modes *modes = zw_modes_create(j->model, j->system, state, 0, &j->error);
    mix_status(&j->hash, modes ? (zw_status)zw_modes_stability(modes) : j->error.status);
    zw_modes_free(modes);
    zw_state *lain = NULL;
    if (zw_state_copy(state, &lain, &j->error) == ZW_OK) {
        const zw_rest_options few = {.iterations = 3};
        zw_rest_report rest;
        mix_status(&j->hash, zw_rest(j->model, j->system, lain, work, &few, &rest, &j->error));
        mix(&j->hash, &rest.moved, sizeof rest.moved);
    }
    zw_state_free(lain);
    zw_probe *probe = zw_probe_create(j->model, j->system, &j->error);
    size_t n = (size_t)zw_count(j->system, ZW_KIND_SPEED);
    double *scratch = calloc(n * n + 1, sizeof *scratch);
    if (probe && scratch) {
        mix_status(&j->hash, zw_mass(probe, state, scratch, &j->error));
        mix(&j->hash, scratch, n * n * sizeof *scratch);
        mix_status(&j->hash, zw_force_look(probe, state, ZW_FORCE_ALL, scratch, &j->error));
        mix(&j->hash, scratch, n * sizeof *scratch);
    }
    free(scratch);
    zw_probe_free(probe);
}

static void mix_text(uint64_t *hash, const char *text)
{
    mix(hash, text ? text : "", text ? strlen(text) : 0);
}

/* Names, and what the model was described by. */
/* Which curves and drawings it asks for. */
static void hash_shown(job *j)
{
    for (int i = 0; i < zw_curve_count(j->system); i++) {
        mix_text(&j->hash, zw_curve_of(j->system, i).label);
    }
    for (int i = 0; i < zw_draw_count(j->system); i++) {
        zw_draw draw = zw_draw_of(j->system, i);
        int fixed = zw_output_is_fixed(j->system, draw.output);
        mix(&j->hash, &draw.kind, sizeof draw.kind);
        mix(&j->hash, &fixed, sizeof fixed);
    }
}

static void describe(job *j)
{
    for (int kind = ZW_KIND_SPEED; kind <= ZW_KIND_ACTIVATION; kind++) {
        for (int i = 0; i < zw_count(j->system, (zw_kind)kind); i++) {
            const char *name = zw_name(j->system, (zw_kind)kind, i);
            int id = zw_id(j->system, (zw_kind)kind, name);
            mix_text(&j->hash, name);
            mix(&j->hash, &id, sizeof id);
        }
    }
    hash_shown(j);
    mix_text(&j->hash, zw_law_of(j->system).name);
    mix_text(&j->hash, zw_impact_law_name(zw_model_impact(j->model)));
    mix_text(&j->hash, zw_model_missing_mesh(j->model));
    for (int i = 0; i < zw_model_note_count(j->model); i++) {
        mix_text(&j->hash, zw_model_note(j->model, i).text);
    }
    if (!zw_model_world(j->model)) {
        return;
    }
    double gravity = 0;
    mix_status(&j->hash, zw_model_get(j->model, "gravity", &gravity, &j->error));
    mix(&j->hash, &gravity, sizeof gravity);
    int bodies = zw_model_count(j->model, ZW_KIND_BODY);
    for (int i = 0; i < bodies; i++) {
        const zw_body_def *def = zw_model_def(j->model, ZW_KIND_BODY, i);
        int found = def->name ? zw_model_find(j->model, ZW_KIND_BODY, def->name) : i;
        mix(&j->hash, &found, sizeof found);
    }
    zw_inertia *list = calloc((size_t)bodies + 1, sizeof *list);
    if (list) {
        mix_status(&j->hash, zw_model_inertia(j->model, list, &j->error));
        mix(&j->hash, list, (size_t)bodies * sizeof *list);
    }
    free(list);
}

/* The model by another law, and its limit; both refuse most models. */
static void laws(job *j)
{
    const zw_law law = {.name = "vakonomic"};
    zw_system *other = zw_system_compile(j->model, &law, &j->error);
    zw_limit *limit = zw_limit_create(j->model, NULL, &j->error);
    int made = (other != NULL) + 2 * (limit != NULL);
    mix(&j->hash, &made, sizeof made);
    zw_limit_free(limit);
    zw_system_free(other);
}

/* The state through a file, and a recording of it. */
static void files(job *j, const zw_state *state)
{
    char path[128];
    snprintf(path, sizeof path, "/tmp/zwang-share-%ld-%d.state", (long)getpid(), j->number);
    if (zw_state_write(state, path, &j->error) != ZW_OK) {
        j->refused = "zw_state_write";
        return;
    }
    zw_state *again = zw_state_read(j->system, path, &j->error);
    uint64_t hash = again ? zw_state_hash(again) : 0;
    mix(&j->hash, &hash, sizeof hash);
    zw_state_free(again);
    remove(path);
    mix_status(&j->hash, zw_model_write(j->model, path, &j->error)); /* equations have no MJCF */
    remove(path);
    zw_path *none = zw_path_read(j->system, path, NULL, &j->error);
    mix_status(&j->hash, none ? ZW_OK : j->error.status);
    zw_path_free(none);
}

/* A short run with its digits and its verdict. */
static void conclude(job *j, const zw_state *state, zw_work *work)
{
    zw_run_options options = {.step = j->scene->step > 0 ? j->scene->step : 0.01,
                              .tolerance = 1e-6};
    zw_run_options plan;
    zw_run_summary summary = {0};
    zw_digits digits = {0};
    zw_run_verdict verdict;
    zw_assembly assembly = {0};
    zw_state *copy = NULL;
    options.method = j->scene->method;
    mix_status(&j->hash, zw_run_plan(j->system, state, &options, &plan, &j->error));
    zw_status status = zw_state_copy(state, &copy, &j->error);
    if (status == ZW_OK && !j->scene->fails) {
        options.time = zw_field(j->system, copy, work, ZW_FIELD_TIME).data[0] + 2 * options.step;
        status = zw_run_digits(j->system, copy, work, &options, &summary, &digits, &j->error);
        mix_status(&j->hash, status);
        zw_run_conclude(j->system, &assembly, &summary, &digits, &verdict);
        mix(&j->hash, &verdict.count, sizeof verdict.count);
    }
    zw_digits_free(&digits);
    zw_state_free(copy);
}

/* Forces of single constraints, of contacts by their laws, through joints; sleepers. */
static void forces(job *j, zw_state *state, zw_work *work)
{
    double force[512];
    for (int c = 0; c < zw_count(j->system, ZW_KIND_CONSTRAINT); c++) {
        if (zw_count(j->system, ZW_KIND_SPEED) <= 512) {
            mix_status(&j->hash, zw_constraint_force(j->system, work, c, force));
        }
    }
    int sleepers = zw_sleepers(j->system, state, NULL, &j->error);
    mix(&j->hash, &sleepers, sizeof sleepers);
    for (int contact = ZW_CONTACT_COULOMB; contact <= ZW_CONTACT_SOFT; contact++) {
        const zw_run_options options = {.contact = (zw_contact_law)contact, .step = 1e-3};
        mix_status(&j->hash, zw_forward(j->system, state, work, &options, &j->error));
        mix_fields(&j->hash, j->system, state, work);
        zw_state *copy = NULL;
        if (zw_state_copy(state, &copy, &j->error) == ZW_OK) {
            mix_status(&j->hash, zw_step(j->system, copy, work, &options, &j->error));
            uint64_t hash = zw_state_hash(copy);
            mix(&j->hash, &hash, sizeof hash);
        }
        zw_state_free(copy);
    }
    int joints = zw_count(j->system, ZW_KIND_JOINT);
    zw_wrench *list = calloc((size_t)joints + 1, sizeof *list);
    if (list && joints > 0) {
        mix_status(&j->hash, zw_forward(j->system, state, work, NULL, &j->error));
        mix_status(&j->hash, zw_wrenches(j->system, state, work, ZW_KIND_JOINT, list, &j->error));
        mix(&j->hash, list[0].force, sizeof list[0].force);
    }
    free(list);
}

static void reach(job *j, zw_state *state, zw_work *work)
{
    zw_reach_unknown list[64];
    zw_reach_report report;
    mix_status(&j->hash, zw_reach(j->system, state, work, NULL, NULL, &j->error));
    mix_status(&j->hash, zw_reach_check(j->system, state, work, &report, &j->error));
    int unknowns = zw_reach_unknowns(j->system, state, list); /* as many as it has speeds, here */
    mix(&j->hash, &unknowns, sizeof unknowns);
}

static void batch(job *j)
{
    zw_batch *worlds =
        zw_batch_create(&(zw_batch_def){.system = j->system, .worlds = 9, .threads = 2}, NULL);
    if (worlds) {
        zw_run_options options = {.time = 0.2};
        mix_status(&j->hash, zw_batch_run(worlds, &options, &j->error));
        mix(&j->hash, zw_batch_field(worlds, 8, ZW_FIELD_Q), sizeof(double));
        zw_batch_free(worlds);
    }
    const zw_system *each[] = {j->system, j->system, j->system};
    worlds = zw_batch_create(&(zw_batch_def){.systems = each, .worlds = 3, .threads = 2}, NULL);
    if (worlds) {
        zw_run_options options = {.time = 0.1};
        mix_status(&j->hash, zw_batch_run(worlds, &options, &j->error));
        mix(&j->hash, zw_batch_field(worlds, 2, ZW_FIELD_Q), sizeof(double));
        zw_batch_free(worlds);
    }
}

static void *work_through(void *user)
{
    job *j = user;
    if (j->together) {
        pthread_barrier_wait(j->together);
    }
    zw_system *own = zw_system_compile(j->model, NULL, &j->error);
    zw_work *work = zw_work_create(j->system, &j->error);
    zw_state *state = work ? zw_state_create(j->system, work, NULL, &j->error) : NULL;
    if (!own || !state) {
        j->refused = own ? "zw_state_create" : "zw_system_compile";
    } else {
        uint64_t hash = zw_state_hash(state); /* of the system too */
        zw_work *again = zw_work_create(own, &j->error);
        zw_state *same = again ? zw_state_create(own, again, NULL, &j->error) : NULL;
        if (!same || zw_state_hash(same) != hash) {
            j->refused = "a state of the system that this thread compiled";
        }
        zw_state_free(same);
        zw_work_free(again);
        mix(&j->hash, &hash, sizeof hash);
        if (zw_reach_asked(j->system)) {
            reach(j, state, work);
        }
        describe(j);
        laws(j);
        files(j, state);
        instant(j, state, work);
        forces(j, state, work);
        conclude(j, state, work);
        step(j, state, work);
        run(j, state, work);
        batch(j);
    }
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(own);
    return NULL;
}

/* ---- The comparison -------------------------------------------------------------------------- */

static void check_job(const job *alone, const job *one)
{
    if (one->refused) {
        fail_msg("%s: %s: %s", one->scene->file ? one->scene->file : "text", one->refused,
                 one->error.text);
    }
    if (one->hash != alone->hash) {
        fail_msg("%s: a thread of %d has other bits than one thread alone",
                 one->scene->file ? one->scene->file : one->scene->text, THREADS);
    }
}

static void share(const scene *s)
{
    zw_error error = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s", ZW_SOURCE_DIR, s->file ? s->file : "text.zw");
    zw_model *model =
        s->file ? zw_model_read(path, NULL, &error) : zw_model_parse(s->text, path, NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    if (!system) {
        fail_msg("%s: %s", path, error.text);
    }
    job alone = {.scene = s, .model = model, .system = system};
    work_through(&alone);
    check_job(&alone, &alone);
    job job_of[THREADS];
    pthread_t thread[THREADS];
    pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        job_of[i] =
            (job){.scene = s, .model = model, .system = system, .together = &together, .number = i};
        assert_int_equal(pthread_create(&thread[i], NULL, work_through, &job_of[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    pthread_barrier_destroy(&together);
    for (int i = 0; i < THREADS; i++) {
        check_job(&alone, &job_of[i]);
    }
    zw_system_free(system);
    zw_model_free(model);
}

/* Impacts, friction, an event that sets, a restitution and starts that are formulas. */
static void equations(void **state)
{
    (void)state;
    static const scene list[] = {
        {.text = "param back = 0.5, mu = 0.3, kick = 2\n"
                 "coord x = 0, y = 2 + mu*back\nspeed x' = sqrt(1 + back)\n"
                 "mass 1 at (x, y)\ngravity (0, -9.81)\n"
                 "constraint floor: y >= 0.1*sin(x), restitution back*exp(-0.1*abs(y')), "
                 "friction mu\n"
                 "event lift: x = 0.4*kick rising, set y' = y' + kick*cos(x), set kick = kick + 1\n"
                 "plot time x, y\n",
         .time = 2},
        {.text = "coord x = 1\nspeed x' = -1\nmass 1 at (x, 0)\nforce (0.01/x^3, 0) at (x, 0)\n"
                 "potential 0.001*log(x - 0.5)\n",
         .time = 2,
         .fails = 1}, /* the singular formula is named */
        {.file = "examples/stick_slip.zw", .time = 1},
        {.file = "examples/bouncing_ball.zw", .time = 2},
        {.file = "examples/wedge.zw", .time = 0.5, .step = 0.01, .method = ZW_METHOD_VARIATIONAL},
        {.file = "examples/skate_vakonomic.zw", .time = 0.5},
        {.file = "examples/unit_speed_rule.zw", .time = 0.5},
        {.file = "examples/pendulum_in_honey.zw", .time = 0.5},
        {.file = "examples/kepler.zw", .time = 0.5, .method = ZW_METHOD_STIFF},
        {.file = "examples/heisenberg_reach.zw", .time = 0.5},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        share(&list[i]);
    }
}

static void bodies(void **state)
{
    (void)state;
    static const scene list[] = {
        {.file = "examples/bodies/cart_pole.zw", .time = 0.5},
        {.file = "examples/contact/parcel.zw", .time = 0.1, .step = 0.01},
        {.file = "examples/bodies/flyball_governor.xml", .time = 0.3},
        {.file = "examples/bodies/arm.xml", .time = 0.2},
        {.file = "examples/bodies/brick.urdf", .time = 0.3},
        {.file = "examples/contact/newtons_cradle.xml", .time = 0.05, .step = 0.005},
        {.file = "examples/contact/humanoid_falls.xml", .time = 0.02, .step = 0.01},
        {.file = "examples/contact/gripper_capsule.xml",
         .time = 0.05,
         .step = 0.005,
         .method = ZW_METHOD_SOFT},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        share(&list[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations),
        cmocka_unit_test(bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
