/* Whole steps of robots through the public interface, compared with MuJoCo's for the same file.
 *
 *     robots                        all cases: a table of Markdown
 *     robots CASE ENGINE            one of them; ENGINE: mujoco, exact, once (one linearisation) or
 * soft
 *
 * Each engine first takes untimed steps from the start of the file, until the scene is what its
 * name says; then steps are timed (this thread's time, the best of several repetitions) while the
 * controls oscillate about their values in the file. Instructions: callgrind with
 * --toggle-collect=timed_steps (mujoco_timed_steps). The residual is the largest that a step
 * reported; rounds, factorisations and contact searches are means per step. */
#include <string.h>

#ifdef ZW_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

#include "measure.h"
#include "step/impulse/impulse.h"

#define MODELS "/work/shared/models/"

typedef enum engine { MUJOCO, EXACT, ONCE, SOFT, ENGINES } engine;
static const char *const engine_name[] = {"mujoco", "exact", "once", "soft"};

typedef struct scene {
    const char *name, *file;
    double raise;      /* height added to the first free body at the start */
    double swing;      /* amplitude of the controls */
    int settle, steps; /* untimed steps, and timed ones */
} scene;

static const scene all[] = {
    {"air", "mujoco_samples/humanoid.xml", 1000, 0.1, 5, 100},
    {"standing", "mujoco_samples/humanoid.xml", 0, 0.02, 20, 60},
    {"lying", "mujoco_samples/humanoid.xml", 0, 0.02, 800, 100},
    {"flailing", "mujoco_samples/humanoid.xml", 0, 1, 400, 500},
    {"falling", "mujoco_samples/humanoid.xml", 0, 0.1, 0, 600},
    {"resting", "mujoco_samples/humanoid.xml", 0, 0, 4000, 100},
    {"crowd", "mujoco_samples/22_humanoids.xml", 0, 0.1, 300, 20},
    {"cassie", "agility_cassie/scene.xml", 0, 0.1, 300, 100},
    {"shadow", "shadow_hand/scene_right.xml", 0, 0.1, 300, 100},
    {"allegro", "wonik_allegro/scene_right.xml", 0, 0.1, 300, 100},
    {"wx250s", "trossen_wx250s/scene.xml", 0, 0.1, 300, 100},
    {"kuka", "kuka_iiwa_14/scene.xml", 0, 0.1, 300, 100},
    {"go1", "unitree_go1/scene.xml", 0, 0.1, 300, 100},
    {"2f85", "robotiq_2f85/scene.xml", 0, 0.1, 300, 100},
    {"skydio", "skydio_x2/scene.xml", 0, 0.1, 300, 100},
};

typedef struct figures {
    double seconds, contacts, residual, rounds, searches,
        factors; /* per step; the residual: the largest */
    int failed;
    char reason[400];
} figures;

static double swing_of(const scene *it, long step, int k)
{
    return it->swing * sin(0.05 * (double)step * (1 + 0.1 * (k % 7)) + k);
}

#ifdef ZW_HAVE_MUJOCO
static inline __attribute__((always_inline)) void mujoco_steps(mjModel *m, mjData *d,
                                                               const scene *it, const double *given,
                                                               long from, long to, figures *f)
{
    for (long s = from; s < to; s++) {
        for (int k = 0; k < m->nu; k++) {
            d->ctrl[k] = given[k] + swing_of(it, s, k);
        }
        mj_step(m, d);
        f->contacts += d->ncon;
    }
}

static __attribute__((noinline)) void mujoco_timed_steps(mjModel *m, mjData *d, const scene *it,
                                                         const double *given, figures *f)
{
    mujoco_steps(m, d, it, given, it->settle, it->settle + it->steps, f);
}

static figures run_mujoco(const scene *it, const char *path)
{
    figures f = {0};
    mjModel *m = mj_loadXML(path, NULL, f.reason, sizeof f.reason);
    mjData *d = m ? mj_makeData(m) : NULL;
    f.failed = d == NULL;
    if (f.failed) {
        return f;
    }
    double *given = allocate((size_t)m->nu, sizeof *given);
    if (m->nkey > 0 && it->raise == 0 && strstr(path, "humanoid") == NULL) {
        mj_resetDataKeyframe(m, d, 0);
    }
    memcpy(given, d->ctrl, (size_t)m->nu * sizeof *given);
    d->qpos[2] += it->raise;
    mujoco_steps(m, d, it, given, 0, it->settle, &f);
    f = (figures){0};
    double start = seconds_computed();
    mujoco_timed_steps(m, d, it, given, &f);
    f.seconds = seconds_computed() - start;
    free(given);
    mj_deleteData(d);
    mj_deleteModel(m);
    return f;
}
#else
static figures run_mujoco(const scene *it, const char *path)
{
    (void)it;
    (void)path;
    return (figures){.failed = 1, .reason = "built without MuJoCo"};
}
#endif

typedef struct world {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    double *given;
    zw_run_options options;
    zw_error error;
} world;

static inline __attribute__((always_inline)) void take_steps(world *w, const scene *it, long from,
                                                             long to, figures *f)
{
    const struct system_bodies *bodies = w->system->bodies;
    for (long s = from; s < to && !f->failed; s++) {
        for (int k = 0; k < bodies->motor_count; k++) {
            double value = w->given[k] + swing_of(it, s, k);
            zw_state_set(w->system, w->state, w->work, ZW_FIELD_PARAM, bodies->motor[k].param, 1,
                         &value, NULL);
        }
        f->failed = zw_step(w->system, w->state, w->work, &w->options, &w->error) != ZW_OK;
        f->contacts += w->work->touched ? w->work->touched->count : 0;
        f->residual = fmax(f->residual, w->work->certificate);
        f->rounds += w->work->effort.rounds;
        f->searches += w->work->effort.searches;
        f->factors += w->work->effort.factors;
    }
}

static __attribute__((noinline)) void timed_steps(world *w, const scene *it, figures *f)
{
    take_steps(w, it, it->settle, it->settle + it->steps, f);
}

static figures run_zwang(const scene *it, const char *path, engine e)
{
    figures f = {0};
    world w = {.options = {.method = e == SOFT ? ZW_METHOD_SOFT : ZW_METHOD_IMPULSE,
                           .contact = e == SOFT ? ZW_CONTACT_SOFT : ZW_CONTACT_COULOMB,
                           .tolerance = e == ONCE ? 1 : 0}};
    zw_run_options plan;
    w.model = zw_model_read(path, NULL, &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &w.error) : NULL;
    f.failed =
        !w.state || zw_run_plan(w.system, w.state, &(zw_run_options){.method = ZW_METHOD_IMPULSE},
                                &plan, &w.error) != ZW_OK;
    if (!f.failed) {
        const struct system_bodies *bodies = w.system->bodies;
        w.options.step = plan.step;
        w.given = allocate((size_t)bodies->motor_count, sizeof(double));
        for (int k = 0; k < bodies->motor_count; k++) {
            w.given[k] = state_param(w.state)[bodies->motor[k].param];
        }
        if (it->raise > 0) {
            state_q(w.state)[2] += it->raise;
        }
        take_steps(&w, it, 0, it->settle, &f);
    }
    if (!f.failed) {
        f = (figures){0};
        double start = seconds_computed();
        timed_steps(&w, it, &f);
        f.seconds = seconds_computed() - start;
    }
    snprintf(f.reason, sizeof f.reason, "%.380s", w.error.text);
    free(w.given);
    zw_state_free(w.state);
    zw_work_free(w.work);
    zw_system_free(w.system);
    zw_model_free(w.model);
    return f;
}

static figures run(const scene *it, engine e)
{
    char path[400];
    snprintf(path, sizeof path, MODELS "%s", it->file);
    figures f = e == MUJOCO ? run_mujoco(it, path) : run_zwang(it, path, e);
    double *a_step[] = {&f.seconds, &f.contacts, &f.rounds, &f.searches, &f.factors};
    for (int k = 0; k < 5; k++) {
        *a_step[k] /= it->steps;
    }
    return f;
}

static void compare(const scene *it, int only)
{
    const int repeats = only < 0 ? 3 : 1;
    figures best[ENGINES];
    for (int k = 0; k < repeats; k++) {
        for (int e = 0; e < ENGINES; e++) {
            if (only < 0 || e == only) {
                figures f = run(it, (engine)e);
                f.seconds = k > 0 ? fmin(f.seconds, best[e].seconds) : f.seconds;
                best[e] = f;
            }
        }
    }
    for (int e = 0; e < ENGINES; e++) {
        if (only >= 0 && e != only) {
            continue;
        }
        if (best[e].failed) {
            printf("| %s | %s | *%.*s* |\n", it->name, engine_name[e],
                   (int)strcspn(best[e].reason, "\n"), best[e].reason);
            continue;
        }
        printf("| %s | %s | ", it->name, engine_name[e]);
        printf(only >= 0 || best[MUJOCO].failed ? "- |" : "%.2f |",
               best[MUJOCO].seconds / best[e].seconds);
        printf(" %.1f | %.1f | %.1e | %.2f | %.2f | %.2f |\n", 1e6 * best[e].seconds,
               best[e].contacts, best[e].residual, best[e].rounds, best[e].searches,
               best[e].factors);
    }
    fflush(stdout);
}

int main(int arguments, char **argument)
{
    FILE *file = fopen(MODELS "mujoco_samples/humanoid.xml", "rb");
    int only = -1;
    if (!file) {
        printf("Skipped: there are no models in " MODELS ".\n");
        return 0;
    }
    fclose(file);
    for (int e = 0; e < ENGINES && arguments > 2; e++) {
        only = strcmp(argument[2], engine_name[e]) == 0 ? e : only;
    }
    printf("\n## Robots by zw_step\n\n| scene | engine | MuJoCo's time / this | us a step | "
           "contacts | "
           "worst residual | solves | contact searches | factorisations |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (arguments < 2 || strcmp(argument[1], all[k].name) == 0 ||
            strcmp(argument[1], "all") == 0) {
            compare(&all[k], only);
        }
    }
    return 0;
}
