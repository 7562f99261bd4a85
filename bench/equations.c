/* Batches of equations.
 *
 *     equations [steps | sweep] [RUNS [THREADS]]
 *
 * `steps`: fixed steps (rk4) of 1024 worlds that differ, by zw_batch_step and one world after
 * another by zw_step, in turns; processor time per step and world. The last column reports whether
 * all worlds end with the same bits.
 *
 * `sweep`: RUNS (20000) double pendulums, let go at angles of a grid, for 10 s, by zw_batch_run
 * with the method dop853 and the tolerance 1e-10; and by a program written for this one system:
 * the accelerations solved on paper, arrays of four numbers, the same method, error estimate and
 * step control, libm. A sample of its runs is timed (`by hand`). The table has the largest
 * change of energy of both, and the share of runs that agree to 1e-6 at the end, since the
 * motion is chaotic. */
#include <string.h>

#include "base/hash.h"
#include "measure.h"
#include "step/ode/control.h"
#include "step/ode/dop853.h"
#include "zwang/batch.h"

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In [-1, 1) */
static double drawn(int world, int k)
{
    uint64_t hash = base_hash_word(BASE_HASH_START, (uint64_t)(int64_t)world);
    hash = base_hash_word(hash, (uint64_t)(int64_t)k);
    return 2 * ((double)(base_hash_word(hash, 1) >> 11) * 0x1p-53) - 1;
}

typedef struct scene {
    zw_model *model;
    zw_system *system;
    zw_work *work;
} scene;

static scene open_scene(const char *path)
{
    zw_error error = {0};
    scene s = {.model = zw_model_read(path, NULL, &error)};
    s.system = s.model ? zw_system_compile(s.model, NULL, &error) : NULL;
    s.work = s.system ? zw_work_create(s.system, &error) : NULL;
    if (!s.work) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        exit(1);
    }
    return s;
}

static void close_scene(scene *s)
{
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
}

static zw_batch *open_batch(const scene *s, int worlds, int threads)
{
    zw_error error = {0};
    zw_batch *batch = zw_batch_create(
        &(zw_batch_def){.system = s->system, .worlds = worlds, .threads = threads}, &error);
    if (!batch) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return batch;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

enum { WORLDS = 1024, TURNS = 15 };

typedef struct chosen {
    const char *file;
    double step;
} chosen;

static const chosen files[] = {
    {"double_pendulum", 0.005},
    {"four_bar", 0.002},
    {"spherical_pendulum", 0.01},
    {"slider_crank", 0.001},
    {"chain", 0.002},
    {"chaplygin_sleigh", 0.01},
    {"snakeboard", 0.01},
    {"double_pendulum_angles", 0.005},
};

/* Single worlds start as those of the batch do. */
static void begin(const scene *s, zw_batch *batch, zw_state **alone)
{
    zw_error error = {0};
    int n = zw_field(s->system, zw_batch_state(batch, 0), s->work, ZW_FIELD_V).count;
    for (int i = 0; i < WORLDS; i++) {
        double *v = zw_batch_field(batch, i, ZW_FIELD_V);
        for (int k = 0; k < n; k++) {
            v[k] += 0.1 * drawn(i, k);
        }
        zw_state_copy(zw_batch_state(batch, i), &alone[i], &error);
        zw_state_set(s->system, alone[i], s->work, ZW_FIELD_V, 0, n, v, &error);
    }
}

/* The number of worlds of the batch that differ from the single ones. */
static int count_others(const scene *s, zw_batch *batch, zw_state **alone)
{
    int others = 0;
    for (int i = 0; i < WORLDS; i++) {
        zw_view q = zw_field(s->system, alone[i], s->work, ZW_FIELD_Q);
        zw_view v = zw_field(s->system, alone[i], s->work, ZW_FIELD_V);
        others += memcmp(q.data, zw_batch_field(batch, i, ZW_FIELD_Q),
                         (size_t)q.count * sizeof *q.data) != 0 ||
                  memcmp(v.data, zw_batch_field(batch, i, ZW_FIELD_V),
                         (size_t)v.count * sizeof *v.data) != 0;
    }
    return others;
}

static void time_steps(const chosen *of)
{
    enum { EACH = 4 }; /* steps per turn */
    char path[300];
    snprintf(path, sizeof path, "%s/examples/%s.zw", ZW_SOURCE_DIR, of->file);
    scene s = open_scene(path);
    zw_error error = {0};
    zw_batch *batch = open_batch(&s, WORLDS, 1);
    zw_state **alone = allocate(WORLDS, sizeof *alone);
    const zw_run_options options = {.method = ZW_METHOD_RK4, .step = of->step};
    double together[TURNS], apart[TURNS];
    int failed = 0;
    begin(&s, batch, alone);
    for (int t = 0; t < TURNS; t++) {
        double begun = processor();
        for (int k = 0; k < EACH; k++) {
            failed |= zw_batch_step(batch, &options, 1, 0, &error) != ZW_OK;
        }
        together[t] = processor() - begun;
        begun = processor();
        for (int i = 0; i < WORLDS; i++) {
            for (int k = 0; k < EACH; k++) {
                failed |= zw_step(s.system, alone[i], s.work, &options, &error) != ZW_OK;
            }
        }
        apart[t] = processor() - begun;
    }
    double us = 1e6 / (WORLDS * (double)EACH), a = us * median(apart, TURNS);
    double b = us * median(together, TURNS);
    int others = count_others(&s, batch, alone);
    printf("| %-24s | %8.3f | %8.3f | %6.1f | %s |\n", of->file, a, b, a / b,
           failed   ? error.text
           : others ? "other bits"
                    : "equal");
    fflush(stdout);
    for (int i = 0; i < WORLDS; i++) {
        zw_state_free(alone[i]);
    }
    free(alone);
    zw_batch_free(batch);
    close_scene(&s);
}

/* ---- By hand --------------------------------------------------------------------------------- */

enum { N = 4 }; /* th1 th2 w1 w2 */
static const double GRAVITY = 9.81, TOLERANCE = 1e-10, END = 10;

static void rates(const double *y, double *dy)
{
    double c = cos(y[0] - y[1]), s = sin(y[0] - y[1]);
    double f1 = -s * y[3] * y[3] - 2 * GRAVITY * sin(y[0]);
    double f2 = s * y[2] * y[2] - GRAVITY * sin(y[1]);
    double determinant = 2 - c * c;
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = (f1 - c * f2) / determinant;
    dy[3] = (2 * f2 - c * f1) / determinant;
}

static double energy(const double *y)
{
    return y[2] * y[2] + 0.5 * y[3] * y[3] + y[2] * y[3] * cos(y[0] - y[1]) -
           GRAVITY * (2 * cos(y[0]) + cos(y[1]));
}

static double size_of(const double *y0, const double *x, const double *minus)
{
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double d = fabs(minus ? x[i] - minus[i] : x[i]);
        worst = fmax(worst, d / (TOLERANCE * (1 + fabs(y0[i]))));
    }
    return worst;
}

static double first_length(const double *y, const double *f)
{
    double trial[N], f1[N], d1 = size_of(y, f, NULL);
    double h0 = step_first_trial(size_of(y, y, NULL), d1, END, INFINITY);
    for (int i = 0; i < N; i++) {
        trial[i] = y[i] + h0 * f[i];
    }
    rates(trial, f1);
    return step_first(d1, size_of(y, f1, f), h0, END, 3);
}

/* One attempt: the end into y1; returns the norm of its error. */
static double attempt(const double *y, const double *f, double h, double k[STEP_DOP853_STAGES][N],
                      double *y1)
{
    double worst5 = 0, worst3 = 0;
    memcpy(k[0], f, sizeof k[0]);
    for (int s = 1; s <= STEP_DOP853_STAGES; s++) {
        double sum[N] = {0};
        for (int j = 0; j < s; j++) {
            for (int i = 0; i < N; i++) {
                sum[i] += step_dop853_a[s][j] * k[j][i];
            }
        }
        for (int i = 0; i < N; i++) {
            y1[i] = y[i] + h * sum[i];
        }
        if (s < STEP_DOP853_STAGES) {
            rates(y1, k[s]);
        }
    }
    for (int i = 0; i < N; i++) {
        double e5 = 0, e3 = 0, scale = TOLERANCE * (1 + fmax(fabs(y[i]), fabs(y1[i])));
        for (int j = 0; j < STEP_DOP853_STAGES; j++) {
            e5 += step_dop853_e5[j] * k[j][i];
            e3 += step_dop853_e3[j] * k[j][i];
        }
        worst5 = fmax(worst5, fabs(e5) / scale);
        worst3 = fmax(worst3, fabs(e3) / scale);
    }
    return step_dop853_size(h, worst5, worst3);
}

static long run_by_hand(double *y)
{
    double t = 0, f[N], k[STEP_DOP853_STAGES][N], y1[N], last = 1e-4;
    long steps = 0;
    int again = 0;
    rates(y, f);
    double length = first_length(y, f);
    while (t < END) {
        double t1 = step_aim(t, END, length), h = t1 - t, size = attempt(y, f, h, k, y1);
        steps++;
        if (size > 1) {
            length = step_shorter(h, size, 3);
            again = 1;
            continue;
        }
        length = step_longer(h, length, step_dop853_growth(last, size), again);
        last = fmax(size, 1e-4);
        again = 0;
        t = t1;
        memcpy(y, y1, sizeof y1);
        rates(y, f);
    }
    return steps;
}

/* ---- The sweep ------------------------------------------------------------------------------- */

/* Angles of run i of a grid that is filled evenly, whatever part of it is used. */
static void angles(long i, double *y)
{
    y[0] = -3.1 + 6.2 * fmod(0.5 + 0.7548776662466927 * (double)i, 1);
    y[1] = -3.1 + 6.2 * fmod(0.5 + 0.5698402909980532 * (double)i, 1);
    y[2] = y[3] = 0;
}

typedef struct tally {
    double time, wall, drift; /* seconds; largest change of energy relative to its size */
    long runs, steps, failed;
} tally;

static void note_energy(tally *of, long i, const double *y)
{
    double start[N];
    angles(i, start);
    of->drift = fmax(of->drift, fabs(energy(y) - energy(start)) / (3 * GRAVITY));
}

/* Runs ours in batches; the final states of the first `kept` are kept. */
static tally sweep(const scene *s, long runs, int threads, long kept, double *end)
{
    enum { AT_ONCE = 8192 };
    int worlds = runs < AT_ONCE ? (int)runs : AT_ONCE;
    zw_batch *batch = open_batch(s, worlds, threads);
    zw_error error = {0};
    tally all = {0};
    for (long first = 0; first < runs; first += worlds) {
        long count = runs - first < worlds ? runs - first : worlds;
        double begun = processor(), clock = seconds_now();
        zw_batch_reset(batch, NULL, NULL, &error);
        for (long i = 0; i < worlds; i++) {
            double y[N];
            angles(first + (i < count ? i : 0), y);
            memcpy(zw_batch_field(batch, (int)i, ZW_FIELD_Q), y, 2 * sizeof *y);
            *zw_batch_field(batch, (int)i, ZW_FIELD_TIME) = i < count ? 0 : END;
        }
        zw_batch_run(batch, &(zw_run_options){.time = END, .tolerance = TOLERANCE}, &error);
        all.time += processor() - begun;
        all.wall += seconds_now() - clock;
        for (long i = 0; i < count; i++) {
            double y[N];
            zw_batch_result result = zw_batch_look(batch, (int)i);
            memcpy(y, zw_batch_field(batch, (int)i, ZW_FIELD_Q), 2 * sizeof *y);
            memcpy(y + 2, zw_batch_field(batch, (int)i, ZW_FIELD_V), 2 * sizeof *y);
            all.failed += result.status != ZW_OK;
            all.steps += result.steps + result.rejected;
            note_energy(&all, first + i, y);
            if (first + i < kept) {
                memcpy(end + N * (first + i), y, sizeof y);
            }
        }
        all.runs += count;
    }
    zw_batch_free(batch);
    return all;
}

static void time_sweep(long runs, int threads)
{
    enum { SAMPLE = 2000 };
    long kept = runs < SAMPLE ? runs : SAMPLE, agree = 0;
    double *end = allocate((size_t)(N * kept), sizeof *end);
    scene s = open_scene(ZW_SOURCE_DIR "/bench/double_pendulum.zw");
    tally ours = sweep(&s, runs, threads, kept, end), hand = {0};
    double begun = seconds_computed();
    for (long i = 0; i < kept; i++) {
        double y[N], off = 0;
        angles(i, y);
        hand.steps += run_by_hand(y);
        note_energy(&hand, i, y);
        for (int k = 0; k < N; k++) {
            off = fmax(off, fabs(y[k] - end[N * i + k]));
        }
        agree += off <= 1e-6;
    }
    hand.time = seconds_computed() - begun;
    hand.runs = kept;
    double us = 1e6 * ours.time / (double)ours.runs, them = 1e6 * hand.time / (double)hand.runs;
    puts(
        "| double pendulum, 10 s | runs | threads | us of processor a run | tries a run | runs/s | "
        "energy |\n|---|---|---|---|---|---|---|");
    printf("| zw_batch_run | %ld | %d | %.2f | %.1f | %.0f | %.1e |\n", ours.runs, threads, us,
           (double)ours.steps / (double)ours.runs, (double)ours.runs / ours.wall, ours.drift);
    printf("| by hand, in C | %ld | 1 | %.2f | %.1f | %.0f | %.1e |\n", hand.runs, them,
           (double)hand.steps / (double)hand.runs, 1e6 / them, hand.drift);
    printf("ratio %.2f; %ld failed; %ld of %ld agree to 1e-6\n", them / us, ours.failed, agree,
           kept);
    close_scene(&s);
    free(end);
}

int main(int count, char **word)
{
    const char *what = count > 1 ? word[1] : "";
    if (strcmp(what, "sweep") != 0) {
        puts("| equations, rk4           | alone us | batch us | ratio  | bits "
             "|\n|---|---|---|---|---|");
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            time_steps(&files[k]);
        }
    }
    if (strcmp(what, "steps") != 0) {
        time_sweep(count > 2 ? atol(word[2]) : 20000, count > 3 ? atoi(word[3]) : 2);
    }
    return 0;
}
