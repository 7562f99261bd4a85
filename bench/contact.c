/* Scenes with contacts: the cost and accuracy of a step.
 *
 *     contact            tables; times are those of this thread
 *
 * Besides zwang's rate the tables have its worst certificate and depth over the run. MuJoCo runs
 * the same file with the same step; its depth is the largest that it reports. A scene that exceeds
 * its share of time is stopped, and the table gives the time it reached. */
#include <stdint.h>
#include <string.h>

#ifdef ZW_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

#include "measure.h"
#include "scene/touch.h"

#define SHARE 10.0 /* seconds that a scene may take */
#define FOLDER ZW_SOURCE_DIR "/examples/contact"

/* ---- The examples, ten seconds each --------------------------------------------------------- */

static const struct scene {
    const char *file, *key;
    int number; /* of the key */
    double step;
} list[] = {
    {"tower.xml", NULL, -1, 0.01},          {"card_house.xml", NULL, -1, 0.005},
    {"dominoes.xml", NULL, -1, 0.002},      {"newtons_cradle.xml", "one", 0, 0.002},
    {"rattleback.xml", "against", 1, 1e-3}, {"tippe_top.xml", "spun", 0, 1e-3},
    {"gripper_capsule.xml", "up", 1, 5e-3}, {"gears.xml", "drive", 0, 0.002},
    {"arch_bridge.xml", NULL, -1, 0.005},   {"heap.xml", NULL, -1, 0.005},
    {"skid_steer.xml", "drive", 0, 0.01},   {"quadruped.xml", NULL, -1, 0.005},
    {"quadruped.xml", "squat", 0, 0.005},   {"quadruped_walks.zw", NULL, -1, 0.005},
    {"terrain.xml", "rolls", 0, 0.005},     {"humanoid_falls.xml", "fall", 0, 0.005},
};
enum { SCENES = sizeof list / sizeof *list };

#ifdef ZW_HAVE_MUJOCO
/* Counts warnings instead of printing or logging them. */
static void be_quiet(const char *text)
{
    (void)text;
}

static void run_mujoco(const char *path, const struct scene *from)
{
    char problem[500] = "";
    mju_user_warning = be_quiet;
    mjModel *m = mj_loadXML(path, NULL, problem, sizeof problem);
    if (m) { /* enough memory, so that it drops no contact */
        m->nconmax = 2000;
        m->njmax = 8000;
        m->nstack = 20000000;
    }
    mjData *d = m ? mj_makeData(m) : NULL;
    if (!d) {
        printf(" not read |  |\n");
        return;
    }
    long steps = lround(10 / from->step), done = 0;
    double depth = 0, start = seconds_computed(), used = 0;
    if (from->number >= 0) {
        mj_resetDataKeyframe(m, d, from->number);
    }
    for (; done < steps && used < SHARE && !d->warning[mjWARN_BADQACC].number; done++) {
        mj_step(m, d);
        used = seconds_computed() - start;
        for (int i = 0; i < d->ncon; i++) {
            depth = fmax(depth, -d->contact[i].dist);
        }
    }
    printf(" %.0f | %.1e |%s\n", (double)done / used, depth,
           d->warning[mjWARN_BADQACC].number ? " MuJoCo: not finite;" : "");
    mj_deleteData(d);
    mj_deleteModel(m);
}
#else
static void run_mujoco(const char *path, const struct scene *from)
{
    (void)path;
    (void)from;
    printf("  |  |\n");
}
#endif

/* The worst certificate of the run. */
static double run_scene(const struct scene *from, double tolerance)
{
    char path[500];
    touch s;
    snprintf(path, sizeof path, FOLDER "/%s", from->file);
    zw_status status = touch_open(&s, path, from->key);
    s.tolerance = tolerance;
    double start = seconds_computed(), used = 0, t = 0;
    for (int part = 1; part <= 200 && status == ZW_OK && used < SHARE; part++) {
        status = touch_run(&s, 0.05 * part, from->step);
        used = seconds_computed() - start;
        t = status == ZW_OK ? 0.05 * part : t;
    }
    printf("| %s%s%s | %g | %.4g | %d | %.0f | %.1e | %.1e |", from->file, from->key ? " " : "",
           from->key ? from->key : "", from->step, t, s.contacts, (double)s.steps / used,
           s.certificate, s.depth);
    if (tolerance == 0) {
        run_mujoco(path, from);
    } else {
        printf("\n");
    }
    if (status != ZW_OK) {
        printf("| *%s* |\n", s.error.text);
    }
    fflush(stdout);
    double worst = s.certificate;
    touch_close(&s);
    return worst;
}

static void examples(void)
{
    static const struct scene spheres = {"spheres.xml", NULL, -1, 0.005};
    double worst = 0;
    printf("\n## Scenes of examples/contact, ten seconds each\n\n"
           "| scene | step | time reached | contacts | steps/s | worst certificate | depth [m] | "
           "MuJoCo steps/s | its depth [m] |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < SCENES; k++) {
        worst = fmax(worst, run_scene(&list[k], 0));
    }
    printf("\nWorst certificate of all: %.1e\n\n## The same, one linearisation a step (--tol 1)\n\n"
           "| scene | step | time reached | contacts | steps/s | worst certificate | depth [m] |\n"
           "|---|---|---|---|---|---|---|\n",
           worst);
    worst = 0;
    for (int k = 0; k < SCENES; k++) {
        worst = fmax(worst, run_scene(&list[k], 1));
    }
    worst = fmax(worst, run_scene(&spheres, 1));
    printf("\nWorst certificate of all: %.1e\n", worst);
}

int main(void)
{
    examples();
    return 0;
}
