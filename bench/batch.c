/* Many worlds of one humanoid: steps a second of a batch, beside a pool of threads around MuJoCo's
 * C library that does the same.
 *
 *     batch [WORLDS] [THREADS] [STEPS]
 *
 * Every world has controls of its own, drawn anew for each step; collision is part of the step. The
 * time is that of the processor, over all threads: what others do on the machine does not count.
 * MuJoCo is asked with its defaults. The certificate is the worst that a step of ours reported. */
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

static const char file[] = ZW_SOURCE_DIR "/examples/contact/humanoid_falls.xml";

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In [-0.5, 0.5), a function of world, step and motor. */
static double control(int world, int step, int k)
{
    uint64_t hash = base_hash_word(BASE_HASH_START, (uint64_t)(int64_t)world);
    hash = base_hash_word(base_hash_word(hash, (uint64_t)(int64_t)step), (uint64_t)(int64_t)k);
    return (double)(base_hash_word(hash, 1) >> 11) * 0x1p-53 - 0.5;
}

static void tell(const char *engine, int worlds, int threads, int steps, double time, double wall,
                 double certificate)
{
    double count = (double)worlds * steps;
    printf("| %-18s | %6d | %d | %8.1f | %9.0f | %8.1e |\n", engine, worlds, threads,
           1e6 * time / count, count / wall, certificate);
    fflush(stdout);
}

static void ours(zw_contact_law contact, double tolerance, const char *name, int worlds,
                 int threads, int steps)
{
    zw_error error = {0};
    zw_model *model = zw_model_read(file, NULL, 0, &error);
    zw_system *system = model ? zw_system_compile(model, &error) : NULL;
    zw_batch *batch = system ? zw_batch_create(system, worlds, threads, &error) : NULL;
    zw_run_options options = {.contact = contact, .tolerance = tolerance};
    double time = 0, wall = 0, certificate = 0;
    int motors = system ? zw_count(system, ZW_KIND_PARAM) : 0, failed = 0;
    for (int s = -2; batch && s < steps; s++) {
        for (int i = 0; i < worlds; i++) {
            for (int k = 0; k < motors; k++) {
                zw_batch_field(batch, i, ZW_FIELD_PARAM)[k] = control(i, s, k);
            }
        }
        double begun = processor(), clock = seconds_now();
        zw_batch_step(batch, &options, 1, 0, &error);
        time += s < 0 ? 0 : processor() - begun;
        wall += s < 0 ? 0 : seconds_now() - clock;
    }
    for (int i = 0; batch && i < worlds; i++) {
        certificate = fmax(certificate, zw_batch_look(batch, i).certificate);
        failed += zw_batch_look(batch, i).status != ZW_OK;
    }
    if (!batch || failed > 0) {
        printf("%s: %d worlds failed: %s\n", name, failed, error.text);
    }
    tell(name, worlds, threads, steps, time, wall, certificate);
    zw_batch_free(batch);
    zw_system_free(system);
    zw_model_free(model);
}

#ifdef ZW_HAVE_MUJOCO
typedef struct pool {
    mjModel *model;
    mjData **data;
    int worlds, threads, step;
    atomic_int next;
    pthread_barrier_t begin, end;
    int over;
} pool;

static void step_some(pool *p)
{
    for (int i = atomic_fetch_add(&p->next, 1); i < p->worlds; i = atomic_fetch_add(&p->next, 1)) {
        for (int k = 0; k < p->model->nu; k++) {
            p->data[i]->ctrl[k] = control(i, p->step, k);
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

static void theirs(int worlds, int threads, int steps)
{
    char reason[400] = "";
    pool p = {.model = mj_loadXML(file, NULL, reason, sizeof reason),
              .worlds = worlds,
              .threads = threads};
    if (!p.model) {
        printf("MuJoCo: %s\n", reason);
        return;
    }
    pthread_t *thread = room((size_t)threads, sizeof *thread);
    p.data = room((size_t)worlds, sizeof *p.data);
    for (int i = 0; i < worlds; i++) {
        p.data[i] = mj_makeData(p.model);
    }
    pthread_barrier_init(&p.begin, NULL, (unsigned)threads);
    pthread_barrier_init(&p.end, NULL, (unsigned)threads);
    for (int k = 1; k < threads; k++) {
        pthread_create(&thread[k], NULL, member, &p);
    }
    double time = 0, wall = 0;
    for (p.step = -2; p.step < steps; p.step++) {
        double begun = processor(), clock = seconds_now();
        atomic_store(&p.next, 0);
        pthread_barrier_wait(&p.begin);
        step_some(&p);
        pthread_barrier_wait(&p.end);
        time += p.step < 0 ? 0 : processor() - begun;
        wall += p.step < 0 ? 0 : seconds_now() - clock;
    }
    p.over = 1;
    pthread_barrier_wait(&p.begin);
    for (int k = 1; k < threads; k++) {
        pthread_join(thread[k], NULL);
    }
    tell("MuJoCo, Newton", worlds, threads, steps, time, wall, NAN);
    for (int i = 0; i < worlds; i++) {
        mj_deleteData(p.data[i]);
    }
    mj_deleteModel(p.model);
    free(p.data);
    free(thread);
}
#endif

int main(int count, char **word)
{
    int worlds = count > 1 ? atoi(word[1]) : 1024, threads = count > 2 ? atoi(word[2]) : 2;
    int steps = count > 3 ? atoi(word[3]) : 20;
    printf("| engine             | worlds | threads | us of processor a world and step | steps/s | "
           "certificate |\n|---|---|---|---|---|---|\n");
    ours(ZW_CONTACT_SOFT, 0, "soft", worlds, threads, steps);
    ours(ZW_CONTACT_COULOMB, 0, "exact", worlds, threads, steps);
    ours(ZW_CONTACT_COULOMB, 1, "one linearisation", worlds, threads, steps);
#ifdef ZW_HAVE_MUJOCO
    theirs(worlds, threads, steps);
#else
    puts("MuJoCo: not there (Debian: libmujoco-dev)");
#endif
    return 0;
}
