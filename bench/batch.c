/* Many worlds of a robot: steps per second of a batch, compared with a pool of threads that uses
 * MuJoCo's C library.
 *
 *     batch [WORLDS [THREADS [STEPS [ROBOT [ENGINE]]]]]     ROBOT, ENGINE: a part of the name, or -
 *     batch scale [THREADS [ROBOT]]                         the rates of 1 to 65536 worlds (MuJoCo:
 * at most 4096)
 *
 * The robots are our own models: humanoid, quadruped, hand, manipulator. Every world has its own
 * random controls, new ones for each step; collision detection is part of the step. Engines:
 * `soft`, by the law of MuJoCo; `smooth`, without contacts and limits; `exact`, Coulomb's law;
 * `linear`, the same with one linearisation, without memory. Both engines alternate in turns of a
 * few steps; times are processor time summed over all threads, so that other programs of this
 * machine do not count. Programs of other machines on the same processor do: where its cores are
 * shared by two threads each, the same loop takes up to twice as long while the other one is busy.
 * So the times of the table are the shortest windows of both engines, a window being 5 steps of
 * ours and one of MuJoCo's, which take about as long. Beside them is the ratio of the medians, and
 * how far the medians are above the shortest. WARM steps before that are not timed, so that the
 * worlds have diverged. MuJoCo runs with its defaults and, for the soft law, once more (`matched`)
 * with the largest of the tolerances 1e-8, 1e-9, ... 1e-15 for which its residual does not exceed
 * ours. Residuals are the largest over the worlds in the last step of |M a - f - J'p| / max(|M a|,
 * |f|, |J'p|), the error of the force balance. Ours is the certificate, the largest of all steps of
 * the last call.
 *
 * ZW_BATCH_WARM=N sets the number of those untimed steps, ZW_BATCH_OURS=1 leaves MuJoCo out (for
 * profiles); `exact` uses an eighth of the worlds. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#ifdef ZW_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

#include "base/hash.h"
#include "measure.h"
#include "zwang/batch.h"
#include "zwang/bodies.h"

/* MOST, MATCHED: worlds of MuJoCo, which are large (3 MB each) */
enum { TURN = 5, WINDOWS = 1024, MOST = 4096, MATCHED = 256, ENGINES = 3 };

typedef struct robot {
    const char *name, *file;
    double swing; /* amplitude of the controls */
} robot;

static const robot robots[] = {
    {"humanoid", ZW_SOURCE_DIR "/examples/contact/humanoid_falls.xml", 0.5},
    {"quadruped", ZW_SOURCE_DIR "/examples/contact/quadruped.xml", 0.5},
    {"hand", ZW_SOURCE_DIR "/bench/hand.xml", 1},
    {"manipulator", ZW_SOURCE_DIR "/bench/manipulator.xml", 0.7},
};

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In [-1, 1), a function of world, step and motor. */
static double control(int world, int step, int k)
{
    uint64_t hash = base_hash_word(BASE_HASH_START, (uint64_t)(int64_t)world);
    hash = base_hash_word(base_hash_word(hash, (uint64_t)(int64_t)step), (uint64_t)(int64_t)k);
    return 2 * ((double)(base_hash_word(hash, 1) >> 11) * 0x1p-53) - 1;
}

/* An engine and its worlds. */
typedef struct engine engine;
struct engine {
    const char *name;
    int worlds, threads, step, failed;
    double swing, certificate;
    double tolerance; /* MuJoCo's; 0: its default */
    void (*move)(engine *e, int steps, double *time, double *wall);
    int window, windows; /* steps that are timed together, and how often that was done */
    double turn[WINDOWS], wall[WINDOWS];

    zw_model *model;
    zw_system *system;
    zw_batch *batch;
    zw_run_options options;
    struct pool *pool;
};

static void move_ours(engine *e, int steps, double *time, double *wall)
{
    zw_error error;
    int motors = zw_count(e->system, ZW_KIND_PARAM);
    *time = *wall = 0;
    for (int s = 0; s < steps; s++, e->step++) {
        for (int i = 0; i < e->worlds; i++) {
            double *u = zw_batch_field(e->batch, i, ZW_FIELD_PARAM);
            for (int k = 0; k < motors; k++) {
                u[k] = e->swing * control(i, e->step, k);
            }
        }
        double begun = processor(), clock = seconds_now();
        zw_batch_step(e->batch, &e->options, 1, 0, &error);
        *time += processor() - begun;
        *wall += seconds_now() - clock;
    }
}

static int make_ours(engine *e, const robot *of, int smooth)
{
    zw_error error = {0};
    e->model = zw_model_read(of->file, NULL, &error);
    if (e->model && smooth) {
        zw_world_def world = *zw_model_world(e->model);
        world.without |= ZW_WITHOUT_CONTACT | ZW_WITHOUT_LIMIT;
        zw_model_set_world(e->model, &world, &error);
    }
    e->system = e->model ? zw_system_compile(e->model, NULL, &error) : NULL;
    e->batch =
        e->system
            ? zw_batch_create(
                  &(zw_batch_def){.system = e->system, .worlds = e->worlds, .threads = e->threads},
                  &error)
            : NULL;
    e->move = move_ours;
    e->swing = of->swing;
    if (!e->batch) {
        printf("%s: %s\n", of->name, error.text);
    }
    return e->batch != NULL;
}

static void end_ours(engine *e)
{
    for (int i = 0; e->batch && i < e->worlds; i++) {
        e->certificate = fmax(e->certificate, zw_batch_look(e->batch, i).certificate);
        e->failed += zw_batch_look(e->batch, i).status != ZW_OK;
    }
    zw_batch_free(e->batch);
    zw_system_free(e->system);
    zw_model_free(e->model);
}

#ifdef ZW_HAVE_MUJOCO
typedef struct pool {
    mjModel *model;
    mjData **data;
    engine *of;
    pthread_t *thread;
    atomic_int next;
    pthread_barrier_t begin, end;
    int over;
} pool;

static void step_some(pool *p)
{
    for (int i = atomic_fetch_add(&p->next, 1); i < p->of->worlds;
         i = atomic_fetch_add(&p->next, 1)) {
        for (int k = 0; k < p->model->nu; k++) {
            p->data[i]->ctrl[k] = p->of->swing * control(i, p->of->step, k);
        }
        mj_step(p->model, p->data[i]);
    }
}

static void *member(void *user)
{
    pool *p = user;
    for (;;) {
        pthread_barrier_wait(&p->begin);
        if (p->over) {
            return NULL;
        }
        step_some(p);
        pthread_barrier_wait(&p->end);
    }
}

static void move_theirs(engine *e, int steps, double *time, double *wall)
{
    pool *p = e->pool;
    double begun = processor(), clock = seconds_now();
    for (int s = 0; s < steps; s++, e->step++) {
        atomic_store(&p->next, 0);
        pthread_barrier_wait(&p->begin);
        step_some(p);
        pthread_barrier_wait(&p->end);
    }
    *time = processor() - begun;
    *wall = seconds_now() - clock;
}

/* The error of the force balance in the last step, the largest over the worlds. */
static double left_by_theirs(const engine *e)
{
    pool *p = e->pool;
    int n = p->model->nv;
    double worst = 0, *Ma = allocate((size_t)n, sizeof *Ma);
    for (int i = 0; i < e->worlds; i++) {
        const mjData *d = p->data[i];
        double left = 0, size[3] = {0};
        mj_mulM(p->model, d, Ma, d->qacc);
        for (int k = 0; k < n; k++) {
            double r = Ma[k] - d->qfrc_smooth[k] - d->qfrc_constraint[k];
            left += r * r;
            size[0] += Ma[k] * Ma[k];
            size[1] += d->qfrc_smooth[k] * d->qfrc_smooth[k];
            size[2] += d->qfrc_constraint[k] * d->qfrc_constraint[k];
        }
        worst = fmax(worst, sqrt(left / fmax(fmax(size[0], 1e-300), fmax(size[1], size[2]))));
    }
    free(Ma);
    return worst;
}

/* Tightens its tolerance until its residual does not exceed ours. */
static void match(engine *e, double wanted)
{
    double spare[2];
    for (double tolerance = 1e-8; tolerance > 0.5e-15; tolerance /= 10) {
        e->tolerance = e->pool->model->opt.tolerance = tolerance;
        e->move(e, 2, &spare[0], &spare[1]);
        if (left_by_theirs(e) <= wanted) {
            return;
        }
    }
}

static int make_theirs(engine *e, const robot *of, int smooth)
{
    char reason[400] = "";
    pool *p = e->pool = allocate(1, sizeof *p);
    p->of = e;
    p->model = getenv("ZW_BATCH_OURS") ? NULL : mj_loadXML(of->file, NULL, reason, sizeof reason);
    e->move = move_theirs;
    e->swing = of->swing;
    if (!p->model) {
        printf("MuJoCo: %s\n", reason);
        return 0;
    }
    p->model->opt.disableflags |= smooth ? mjDSBL_CONTACT | mjDSBL_LIMIT : 0;
    p->thread = allocate((size_t)e->threads, sizeof *p->thread);
    p->data = allocate((size_t)e->worlds, sizeof *p->data);
    for (int i = 0; i < e->worlds; i++) {
        p->data[i] = mj_makeData(p->model);
    }
    pthread_barrier_init(&p->begin, NULL, (unsigned)e->threads);
    pthread_barrier_init(&p->end, NULL, (unsigned)e->threads);
    for (int k = 1; k < e->threads; k++) {
        pthread_create(&p->thread[k], NULL, member, p);
    }
    return 1;
}

static void end_theirs(engine *e)
{
    pool *p = e->pool;
    e->certificate = NAN;
    if (p && p->model) {
        e->certificate = left_by_theirs(e);
        p->over = 1;
        pthread_barrier_wait(&p->begin);
        for (int k = 1; k < e->threads; k++) {
            pthread_join(p->thread[k], NULL);
        }
        for (int i = 0; i < e->worlds; i++) {
            mj_deleteData(p->data[i]);
        }
        mj_deleteModel(p->model);
        free(p->data);
        free(p->thread);
    }
    free(p);
}
#else
static void match(engine *e, double wanted)
{
    (void)e, (void)wanted;
}

static int make_theirs(engine *e, const robot *of, int smooth)
{
    (void)e, (void)of, (void)smooth;
    puts("MuJoCo: not there (Debian: libmujoco-dev)");
    return 0;
}
static void end_theirs(engine *e)
{
    (void)e;
}
#endif

static const char *const names[] = {"soft", "smooth", "exact", "linear"};

static double worst_of_ours(const engine *e)
{
    double worst = 0;
    for (int i = 0; i < e->worlds; i++) {
        worst = fmax(worst, zw_batch_look(e->batch, i).certificate);
    }
    return worst;
}

static void take_turn(engine *e)
{
    for (int s = 0; s < TURN; s += e->window, e->windows++) {
        e->move(e, e->window, &e->turn[e->windows], &e->wall[e->windows]);
    }
}

/* All engines in turns, after `warm` steps. */
static void take_turns(engine *list, const int *good, int turns, int warm)
{
    double spare[2];
    for (int k = 0; k < ENGINES; k++) {
        if (good[k]) {
            list[k].move(&list[k], warm, &spare[0], &spare[1]);
        }
    }
    if (good[0] && good[2]) {
        match(&list[2], worst_of_ours(&list[0]));
    }
    for (int t = 0; t < turns; t++) {
        for (int k = 0; k < ENGINES; k++) {
            if (good[k]) {
                take_turn(&list[k]);
            }
        }
    }
}

/* Ours and theirs; microseconds of processor time per step and world. */
static void compare(const robot *of, const char *name, int worlds, int threads, int steps, int warm)
{
    int smooth = strcmp(name, "smooth") == 0, soft = strcmp(name, "soft") == 0;
    int exact = !smooth && !soft;
    worlds = strcmp(name, "exact") == 0 ? (worlds + 7) / 8 : worlds;
    int most = worlds < MOST ? worlds : MOST;
    engine list[ENGINES] = {{.name = name, .worlds = worlds, .threads = threads, .window = TURN},
                            {.name = "MuJoCo", .worlds = most, .threads = threads, .window = 1},
                            {.name = "matched",
                             .worlds = worlds < MATCHED ? worlds : MATCHED,
                             .threads = threads,
                             .window = 1}};
    list[0].options = (zw_run_options){.contact = exact ? ZW_CONTACT_COULOMB : ZW_CONTACT_SOFT,
                                       .tolerance = strcmp(name, "linear") == 0,
                                       .memoryless = strcmp(name, "linear") == 0};
    int good[ENGINES] = {make_ours(&list[0], of, smooth), make_theirs(&list[1], of, smooth)};
    good[2] = soft && good[1] && make_theirs(&list[2], of, smooth);
    int turns = (steps + TURN - 1) / TURN;
    turns = turns > WINDOWS / TURN ? WINDOWS / TURN : turns;
    take_turns(list, good, turns, warm);
    end_ours(&list[0]);
    end_theirs(&list[1]);
    end_theirs(&list[2]);
    double us[ENGINES], middle[ENGINES];
    for (int k = 0; k < ENGINES; k++) {
        double each = 1e6 / (list[k].worlds * (double)list[k].window);
        middle[k] = good[k] ? each * median(list[k].turn, list[k].windows) : NAN;
        us[k] = good[k] ? each * list[k].turn[0] : NAN; /* median has sorted them */
    }
    printf("| %-11s | %-6s | %6d | %7d | %8.2f | %8.2f | %6.2f | %7.2f | %5.2f | %5.2f | %8.2f | "
           "%6.2f | %9.0f | %8.1e | %8.1e | %8.1e | %g |\n",
           of->name, name, worlds, threads, us[0], us[1], us[1] / us[0], middle[1] / middle[0],
           middle[0] / us[0], middle[1] / us[1], us[2], us[2] / us[0],
           good[0] ? worlds * (double)TURN / median(list[0].wall, list[0].windows) : NAN,
           list[0].certificate, list[1].certificate, list[2].certificate, list[2].tolerance);
    if (list[0].failed > 0) {
        printf("%d worlds failed\n", list[0].failed);
    }
    fflush(stdout);
}

static int is_meant(const char *name, const char *wish)
{
    return !wish || strcmp(wish, "-") == 0 || strstr(name, wish) != NULL;
}

static void heading(void)
{
    printf("| robot       | law    | worlds | threads | us       | MuJoCo   | ratio  | medians | "
           "ours+ | its+  | matched  | ratio  | steps/s   | left     | MuJoCo's | matched's | its "
           "tolerance |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

static int scale(int threads, const char *wish)
{
    heading();
    for (size_t r = 0; r < sizeof robots / sizeof *robots; r++) {
        for (int worlds = 1; worlds <= 65536 && is_meant(robots[r].name, wish); worlds *= 4) {
            compare(&robots[r], "soft", worlds, threads, worlds < 1024 ? 200 : 15, 40);
        }
    }
    return 0;
}

int main(int count, char **word)
{
    const char *wish = count > 4 ? word[4] : NULL, *law = count > 5 ? word[5] : NULL;
    if (count > 1 && strcmp(word[1], "scale") == 0) {
        return scale(count > 2 ? atoi(word[2]) : 2, count > 3 ? word[3] : NULL);
    }
    int worlds = count > 1 ? atoi(word[1]) : 1024, threads = count > 2 ? atoi(word[2]) : 2;
    int steps = count > 3 ? atoi(word[3]) : 20;
    const char *before = getenv("ZW_BATCH_WARM");
    heading();
    for (size_t r = 0; r < sizeof robots / sizeof *robots; r++) {
        for (size_t k = 0; k < sizeof names / sizeof *names && is_meant(robots[r].name, wish);
             k++) {
            if (is_meant(names[k], law)) {
                compare(&robots[r], names[k], worlds, threads, steps, before ? atoi(before) : 60);
            }
        }
    }
    return 0;
}
