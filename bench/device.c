/* Rates of worlds on a device, compared with the same batch on the processor.
 *
 *     device DEVICE WORLDS [FILE ...]      WORLDS: 1024,8192,...   DEVICE: cuda, emulated, none;
 *                                          with ",float": in single precision; with ",exact":
 *                                          by Coulomb's law with one linearisation
 *     device DEVICE poison WORLDS [FILE ...]  one world fails: are the others unaffected?
 *     device DEVICE bits STEPS[,WORLDS] [FILE ...]  64 worlds, device and processor, compared bit
 * by bit; a GPU takes lanes from 64 worlds a multiprocessor on
 *
 * Every world has random controls in the middle 0.3 of their ranges (the full ranges throw some
 * humanoids into states that no engine can step), new ones every 25 steps, sent to the device
 * within the time measured. Steps are those of the file, by the soft law or Coulomb's. Contacts,
 * rows and iterations are the largest that a world had in a step; the certificate is the largest of
 * all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "batch/on_device.h"
#include "zwang/batch.h"
#include "zwang/bodies.h"

enum { HOLD = 25, ROUNDS = 16, THREADS = 16 };
#define LONGEST 3.0 /* seconds */
#define PART 0.3    /* of the range of a control */

static const char *const usual[] = {"examples/contact/humanoid_falls.xml",
                                    "examples/contact/quadruped.xml",
                                    "examples/bodies/humanoid.xml", "examples/bodies/arm.xml"};

typedef struct scene {
    zw_model *model;
    zw_system *system;
    int controls, params;
    zw_error error;
} scene;

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double draw(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

static scene scene_of(const char *file)
{
    char path[500];
    scene s = {0};
    snprintf(path, sizeof path, "%s%s", *file == '/' ? "" : ZW_SOURCE_DIR "/", file);
    s.model = zw_model_read(path, NULL, &s.error);
    s.system = s.model ? zw_system_compile(s.model, NULL, &s.error) : NULL;
    if (s.system) {
        s.controls = zw_model_count(s.model, ZW_KIND_ACTUATOR);
        s.params = zw_count(s.system, ZW_KIND_PARAM);
    }
    return s;
}

static void scene_end(scene *s)
{
    zw_system_free(s->system);
    zw_model_free(s->model);
}

/* Controls within their ranges; without one, between -1 and 1. */
static void control(const scene *s, zw_batch *batch, int worlds, unsigned long long *seed)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int i = 0; i < worlds; i++) {
        double *param = zw_batch_field(batch, i, ZW_FIELD_PARAM);
        for (int k = 0; k < bodies->motor_count; k++) {
            const bodies_motor *motor = &bodies->motor[k];
            double low = motor->clamp_control ? motor->control[0] : -1;
            double high = motor->clamp_control ? motor->control[1] : 1;
            param[motor->param] = 0.5 * (low + high) + 0.5 * PART * (high - low) * draw(seed);
        }
    }
}

static void disturb(const scene *s, zw_batch *batch, int worlds, unsigned long long *seed)
{
    int n = zw_count(s->system, ZW_KIND_SPEED);
    for (int i = 0; i < worlds; i++) {
        double *v = zw_batch_field(batch, i, ZW_FIELD_V);
        for (int k = 0; k < n; k++) {
            v[k] += 0.1 * draw(seed);
        }
    }
}

static int is_with(const char *device, const char *word)
{
    const char *comma = strchr(device, ',');
    return comma && strcmp(comma + 1, word) == 0;
}

static zw_run_options options_of(const char *device)
{
    return is_with(device, "exact")
               ? (zw_run_options){.method = ZW_METHOD_IMPULSE, .tolerance = 1, .memoryless = 1}
               : (zw_run_options){.contact = ZW_CONTACT_SOFT};
}

static zw_batch *batch_of(scene *s, const char *device, int worlds, int threads)
{
    char name[40];
    const char *comma = strchr(device, ',');
    snprintf(name, sizeof name, "%.*s", comma ? (int)(comma - device) : 39, device);
    const zw_batch_def def = {.system = s->system,
                              .worlds = worlds,
                              .threads = threads,
                              .precision = is_with(device, "float") ? ZW_PRECISION_FLOAT
                                                                    : ZW_PRECISION_DOUBLE,
                              .device = strcmp(name, "none") == 0 ? NULL : name};
    return zw_batch_create(&def, &s->error);
}

typedef struct figures {
    double contacts, rows, alone,
        iterations; /* means over worlds of the most of a step; iterations: mean */
    int most;
    double certificate;
    int large; /* worlds with a certificate above 1e-3: where a contact begins, in float */
    int failed;
} figures;

static figures look(zw_batch *batch, int worlds)
{
    figures f = {0};
    long steps = 0;
    for (int i = 0; i < worlds; i++) {
        zw_batch_result r = zw_batch_look(batch, i);
        f.failed += r.status != ZW_OK;
        f.certificate = fmax(f.certificate, r.certificate);
        f.large += r.certificate > 1e-3;
        if (batch->device) {
            const device_result *own = &batch->device->result[i];
            f.contacts += own->contacts;
            f.rows += own->rows;
            f.alone += own->alone;
            f.iterations += own->total;
            steps += own->steps;
            f.most = own->iterations > f.most ? own->iterations : f.most;
        }
    }
    f.contacts /= worlds;
    f.rows /= worlds;
    f.alone /= steps > 0 ? (double)steps : 1;
    f.iterations /= steps > 0 ? (double)steps : 1;
    return f;
}

static void rate(const char *device, const char *file, int worlds)
{
    scene s = scene_of(file);
    zw_batch *batch = s.system ? batch_of(&s, device, worlds, THREADS) : NULL;
    zw_run_options options = options_of(device);
    unsigned long long seed = 1;
    zw_status status = batch ? ZW_OK : ZW_BAD_INPUT;
    double spent = 0;
    int steps = 0, rounds = batch && batch->device ? ROUNDS : 2;
    if (batch) {
        disturb(&s, batch, worlds, &seed);
        control(&s, batch, worlds, &seed);
        status = zw_batch_step(batch, &options, HOLD, 0, &s.error); /* and images are made */
    }
    for (int k = 0; k < rounds && batch && spent < LONGEST; k++) {
        control(&s, batch, worlds, &seed);
        double start = now();
        if (batch->device) {
            zw_batch_push(batch, ZW_FIELD_PARAM, &s.error);
        }
        zw_status again = zw_batch_step(batch, &options, HOLD, ZW_BATCH_STAY, &s.error);
        spent += now() - start;
        status = status == ZW_OK ? again : status;
        steps += HOLD;
    }
    if (batch) {
        figures f = look(batch, worlds);
        printf("| %s | %d | %.3g | %.2f | %.1f | %.1f | %.2f | %d | %.1e | %d | %.5f | %d |\n",
               file, worlds, (double)worlds * steps / spent, spent, f.contacts, f.rows,
               f.iterations, f.most, f.certificate, f.large, f.alone, f.failed);
    }
    if (status != ZW_OK) {
        printf("  (%s: %s)\n", file, s.error.text);
    }
    fflush(stdout);
    zw_batch_free(batch);
    scene_end(&s);
}

static const zw_field_id fields[] = {ZW_FIELD_TIME, ZW_FIELD_Q, ZW_FIELD_V, ZW_FIELD_ACTIVATION};

static long differences(zw_batch *a, zw_batch *b, int worlds)
{
    long count = 0;
    for (int k = 0; k < 4; k++) {
        const double *x = zw_batch_field(a, 0, fields[k]), *y = zw_batch_field(b, 0, fields[k]);
        long numbers = zw_batch_field(a, 1, fields[k]) - x;
        for (long i = 0; i < numbers * worlds; i++) {
            count += memcmp(&x[i], &y[i], sizeof *x) != 0;
        }
    }
    return count;
}

static void compare(const char *device, const char *file, int steps, int worlds)
{
    scene s = scene_of(file);
    const char *other_home = is_with(device, "float") ? "emulated,float" : "none";
    zw_batch *here = s.system ? batch_of(&s, other_home, worlds, THREADS) : NULL;
    zw_batch *there = here ? batch_of(&s, device, worlds, 1) : NULL;
    zw_run_options options = options_of(device);
    long wrong = 0;
    int done = 0;
    zw_status status = there ? ZW_OK : ZW_BAD_INPUT;
    if (there) {
        unsigned long long one = 1, two = 1;
        disturb(&s, here, worlds, &one);
        disturb(&s, there, worlds, &two);
        while (done < steps && wrong == 0) { /* worlds that fail stand still in both */
            control(&s, here, worlds, &one);
            control(&s, there, worlds, &two);
            zw_batch_step(here, &options, HOLD, 0, &s.error);
            zw_status other = zw_batch_step(there, &options, HOLD, 0, &s.error);
            status = status == ZW_OK ? other : status;
            wrong = differences(here, there, worlds);
            done += HOLD;
        }
        figures f = look(there, worlds);
        printf("| %s | %d | %d | %ld | %.1f | %.2f |\n", file, worlds, done, wrong, f.contacts,
               f.iterations);
    }
    if (status != ZW_OK) {
        printf("  (%s: %s)\n", file, s.error.text);
    }
    fflush(stdout);
    zw_batch_free(here);
    zw_batch_free(there);
    scene_end(&s);
}

/* Puts a number that breaks a step into the device's memory, where nothing checks it. */
static void put_poison(zw_batch *batch, int world, zw_field_id field, double value, zw_error *error)
{
    double *at = zw_batch_field(batch, world, field), was = *at;
    *at = value;
    zw_batch_push(batch, field, error);
    *at = batch->device ? was : value;
}

/* Two equal runs, except that one has a world with an absurd number. */
static void poison_by(const char *device, const char *file, int worlds, zw_field_id field,
                      double value)
{
    scene s = scene_of(file);
    zw_batch *well = s.system ? batch_of(&s, device, worlds, 1) : NULL;
    zw_batch *ill = well ? batch_of(&s, device, worlds, 1) : NULL;
    zw_run_options options = options_of(device);
    int bad = worlds / 3;
    if (ill) {
        unsigned long long one = 1, two = 1;
        disturb(&s, well, worlds, &one);
        disturb(&s, ill, worlds, &two);
        zw_batch_step(well, &options, 1, 0, &s.error);
        zw_batch_step(ill, &options, 1, 0, &s.error);
        put_poison(ill, bad, field, value, &s.error);
        zw_batch_step(well, &options, 100, ZW_BATCH_STAY, &s.error);
        zw_batch_step(ill, &options, 100, ZW_BATCH_STAY, &s.error);
        zw_batch_pull(well, &s.error);
        zw_batch_pull(ill, &s.error);
        int same = 0;
        for (int i = 0; i < worlds; i++) {
            int own = 1;
            for (int k = 0; k < 4; k++) {
                const double *x = zw_batch_field(well, i, fields[k]);
                size_t bytes = (size_t)((const char *)zw_batch_field(well, 1, fields[k]) -
                                        (const char *)zw_batch_field(well, 0, fields[k]));
                own &= memcmp(x, zw_batch_field(ill, i, fields[k]), bytes) == 0;
            }
            same += own;
        }
        const zw_error *why = zw_batch_why(ill, bad);
        printf("%s, field %d = %g: %d of %d worlds are the same; %s\n", file, (int)field, value,
               same, worlds, why ? why->text : "nothing failed");
    }
    fflush(stdout);
    zw_batch_free(well);
    zw_batch_free(ill);
    scene_end(&s);
}

static void poison(const char *device, const char *file, int worlds)
{
    poison_by(device, file, worlds, ZW_FIELD_V, 1e300);
    poison_by(device, file, worlds, ZW_FIELD_V, NAN);
    poison_by(device, file, worlds, ZW_FIELD_Q, NAN);
    poison_by(device, file, worlds, ZW_FIELD_Q, INFINITY);
}

int main(int count, char **word)
{
    int bits = count > 3 && strcmp(word[2], "bits") == 0;
    int ill = count > 3 && strcmp(word[2], "poison") == 0, first = bits || ill ? 4 : 3;
    if (count < 3) {
        fprintf(stderr, "usage: device DEVICE WORLDS,... [FILE ...]\n");
        return 2;
    }
    printf(ill    ? ""
           : bits ? "| system | worlds | steps | numbers that differ | contacts | iterations |\n"
                    "|---|---|---|---|---|---|\n"
                  : "| system | worlds | steps/s | seconds | contacts | rows | iterations | most | "
                    "certificate | above 1e-3 | alone | failed |\n"
                    "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < (count > first ? count - first : 4); k++) {
        const char *file = count > first ? word[first + k] : usual[k];
        if (ill) {
            poison(word[1], file, atoi(word[3]));
            continue;
        }
        if (bits) {
            const char *more = strchr(word[3], ',');
            compare(word[1], file, atoi(word[3]), more ? atoi(more + 1) : 64);
            continue;
        }
        for (char *at = word[2]; *at; at += *at == ',') {
            rate(word[1], file, (int)strtol(at, &at, 10));
        }
    }
    return 0;
}
