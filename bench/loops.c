/* A minute of closed loops at 1 ms, gravity and motors on: do they hold, does the energy balance
 * close?
 *
 *     loops [seconds]      60 without
 *
 * So that nothing comes to rest, the motors alternate between the controls of two keyframes, for a
 * second each; the energy balance is over the whole run, E(t) - E(0) - work, in units of 1 +
 * |E(0)|, at the ends of the seconds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "system/system.h"
#include "zwang/bodies.h"

typedef struct loop {
    const char *file, *key[2];
    double second[2]; /* the controls of the first motor, if the second key is NULL */
} loop;

static const loop list[] = {
    {"four_bar", {"driven", NULL}, {2, 0.5}},
    {"jansen_leg", {"walk", NULL}, {4, -4}},
    {"gripper", {"open", "close"}, {0, 0}},
    {"biped_leg", {"step", "stand"}, {0, 0}},
};

typedef struct tally {
    long steps;
    double position, velocity, certificate, balance, seconds;
} tally;

static const zw_key_def *key_of(const zw_model *model, const char *name)
{
    return zw_model_def(model, ZW_KIND_KEY, zw_model_find(model, ZW_KIND_KEY, name));
}

/* Sets the controls of one of the two. */
static void steer(const loop *l, const zw_model *model, const zw_system *system, zw_state *state,
                  int which)
{
    for (int i = 0; i < zw_model_count(model, ZW_KIND_ACTUATOR); i++) {
        const zw_actuator_def *motor = zw_model_def(model, ZW_KIND_ACTUATOR, i);
        double control = l->key[1] ? key_of(model, l->key[which])->ctrl[i] : l->second[which];
        state_param(state)[zw_id(system, ZW_KIND_PARAM, motor->name)] = control;
    }
}

static zw_status drive(const loop *l, const zw_model *model, const zw_system *system, zw_work *work,
                       zw_state *state, zw_method method, int seconds, tally *t, zw_error *error)
{
    double energy = 0, done = 0, start = seconds_computed();
    for (int second = 0; second < seconds; second++) {
        zw_run_summary s;
        const zw_run_options options = {
            .time = second + 1, .every = 1e-3, .step = 1e-3, .method = method};
        steer(l, model, system, state, second % 2);
        zw_status status = zw_run(system, state, work, &options, &s, error);
        if (status != ZW_OK) {
            return status;
        }
        energy = second == 0 ? s.energy_start : energy;
        done += s.work;
        t->steps += s.steps;
        t->position = fmax(t->position, s.violation_position);
        t->velocity = fmax(t->velocity, s.violation_velocity);
        t->certificate = fmax(t->certificate, s.certificate);
        t->balance = fmax(t->balance, fabs(s.energy_end - energy - done) / (1 + fabs(energy)));
    }
    t->seconds = seconds_computed() - start;
    return ZW_OK;
}

static int row(const loop *l, zw_method method, int seconds)
{
    char path[500];
    zw_error error = {0};
    tally t = {0};
    snprintf(path, sizeof path, "%s/examples/bodies/%s.xml", ZW_SOURCE_DIR, l->file);
    zw_model *model = zw_model_read(path, NULL, &error);
    if (model) {
        zw_key_def key = *key_of(model, l->key[0]);
        key.start = 1;
        zw_model_change(model, ZW_KIND_KEY, zw_model_find(model, ZW_KIND_KEY, l->key[0]), &key,
                        &error);
    }
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    zw_status status = error.status;
    if (state) {
        status = drive(l, model, system, work, state, method, seconds, &t, &error);
    }
    if (status != ZW_OK) {
        printf("%s by %s: %s\n", l->file, zw_method_name(method), error.text);
    } else {
        printf("| %s | %s | %ld | %.1e | %.1e | %.1e | %.1e | %.1f | %.0f |\n", l->file,
               zw_method_name(method), t.steps, t.position, t.velocity, t.balance, t.certificate,
               1e6 * t.seconds / (double)t.steps, seconds / t.seconds);
    }
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
    return status != ZW_OK;
}

int main(int count, char **word)
{
    static const char *const method[] = {"dop853", "rk4", "impulse"};
    int seconds = count > 1 ? atoi(word[1]) : 60, failed = 0;
    printf("%d s, steps of at most 1 ms\n\n", seconds);
    printf("| mechanism | method | steps | violation, position | velocity | energy balance | "
           "certificate | us a step | times real time |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
        zw_method known;
        if (zw_method_find(method[m], &known) != ZW_OK) {
            continue; /* not available yet */
        }
        for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
            failed |= row(&list[i], known, seconds);
        }
    }
    return failed;
}
