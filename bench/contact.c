/* Scenes with contacts: what a step costs, how good it is, and how long it may be.
 *
 *     contact            tables; times are those of this thread
 *
 * Beside zwang's rate stand its worst certificate and depth over the run. MuJoCo runs the same file
 * with the same step; its depth is the worst that it reports. A scene that takes longer than its
 * share of time is ended, and the table says when. */
#include <stdint.h>
#include <string.h>

#ifdef ZW_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

#include "measure.h"
#include "read/xml.h"
#include "scene/dice.h"
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
    {"rattleback.xml", "against", 1, 1e-4}, {"tippe_top.xml", "spun", 0, 5e-4},
    {"gripper_capsule.xml", "up", 1, 5e-3}, {"gears.xml", "drive", 0, 0.002},
    {"arch_bridge.xml", NULL, -1, 0.005},   {"heap.xml", NULL, -1, 0.005},
    {"skid_steer.xml", "drive", 0, 0.01},   {"quadruped.xml", NULL, -1, 0.005},
    {"quadruped.xml", "squat", 0, 0.005},   {"quadruped_walks.zw", NULL, -1, 0.005},
    {"terrain.xml", "rolls", 0, 0.005},     {"humanoid_falls.xml", "fall", 0, 0.005},
};
enum { SCENES = sizeof list / sizeof *list };

#ifdef ZW_HAVE_MUJOCO
/* Warnings are counted, not printed and not kept in a file. */
static void be_quiet(const char *text)
{
    (void)text;
}

static void run_mujoco(const char *path, const struct scene *from)
{
    char problem[500] = "";
    mju_user_warning = be_quiet;
    mjModel *m = mj_loadXML(path, NULL, problem, sizeof problem);
    if (m) { /* room enough, so that it drops no contact */
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

static void run_scene(const struct scene *from)
{
    char path[500];
    touch s;
    snprintf(path, sizeof path, FOLDER "/%s", from->file);
    zw_status status = touch_open(&s, path, from->key);
    double start = seconds_computed(), used = 0, t = 0;
    for (int part = 1; part <= 200 && status == ZW_OK && used < SHARE; part++) {
        status = touch_run(&s, 0.05 * part, from->step);
        used = seconds_computed() - start;
        t = status == ZW_OK ? 0.05 * part : t;
    }
    printf("| %s%s%s | %g | %.4g | %d | %.0f | %.1e | %.1e |", from->file, from->key ? " " : "",
           from->key ? from->key : "", from->step, t, s.contacts, (double)s.steps / used,
           s.certificate, s.depth);
    run_mujoco(path, from);
    if (status != ZW_OK) {
        printf("| *%s* |\n", s.error.text);
    }
    touch_close(&s);
}

/* ---- How long a step may be ----------------------------------------------------------------- */

typedef int stable(double h, void *user);

/* Doubling from `first` up to `most`, then bisection to a millisecond. */
static double largest_step(stable *is_stable, void *user, double first, double most)
{
    double good = 0, bad = first;
    while (is_stable(bad, user)) {
        good = bad;
        if (bad >= most) {
            return good;
        }
        bad = fmin(2 * bad, most);
    }
    while (good > 0 && bad - good > 1e-3) {
        double middle = 0.5 * (good + bad);
        *(is_stable(middle, user) ? &good : &bad) = middle;
    }
    return good;
}

typedef struct boxes {
    double half[3], density;
} boxes;

static int boxes_stand(double h, void *user)
{
    const boxes *b = user;
    const double *a = b->half, top = 2 * a[0] + 2 * a[1] + a[2];
    const double z[3] = {a[0], 2 * a[0] + a[1], top};
    char text[2000];
    touch s;
    int used = snprintf(text, sizeof text,
                        "<mujoco><worldbody><geom type='plane' size='0 0 1' friction='.1 0 0'/>");
    for (int i = 0; i < 3; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "<body pos='0 0 %g'><freejoint/><geom type='box' size='%g %g %g' "
                         "density='%g' friction='.1 0 0'/></body>",
                         z[i], a[i], a[i], a[i], b->density);
    }
    snprintf(text + used, sizeof text - (size_t)used, "</worldbody></mujoco>");
    int good = touch_parse(&s, text, NULL) == ZW_OK;
    for (double t = h; good && t < 3 + h; t += h) {
        good = touch_run(&s, t, h) == ZW_OK &&
               fabs(touch_field(&s, ZW_FIELD_Q)[16] - top) <= 0.1; /* 3.0 of the scenario */
    }
    touch_close(&s);
    return good;
}

static int pendulum_holds(double h, void *user)
{
    static const char text[] =
        "<mujoco><worldbody><body pos='0 0 2'><joint name='j' axis='0 -1 0' damping='25'/>"
        "<geom type='box' size='.5 .05 .05' pos='.5 0 0' mass='1'/></body></worldbody>"
        "<actuator><position joint='j' kp='1000'/></actuator>"
        "<keyframe><key name='go' ctrl='1.0471975511965976'/></keyframe></mujoco>";
    touch s;
    (void)user;
    int good = touch_parse(&s, text, "go") == ZW_OK;
    for (double t = h; good && t < 3 + h; t += h) {
        good = touch_run(&s, t, h) == ZW_OK && fabs(touch_field(&s, ZW_FIELD_Q)[0]) < acos(-1);
    }
    touch_close(&s);
    return good;
}

/* ---- Over an obstacle ----------------------------------------------------------------------- */

typedef struct trial {
    double half, x, speed, yaw;
    double track[81][3]; /* each tenth of a second, where it was asked for */
} trial;

/* The example with another obstacle, wheels ramped over a second, eight seconds. */
static int drive(double h, trial *d, int records)
{
    touch s;
    int good = touch_open(&s, FOLDER "/skid_steer.xml", NULL) == ZW_OK;
    if (good) {
        int index = zw_model_find(s.model, ZW_THING_GEOM, "obstacle");
        zw_geom_def geom = *(const zw_geom_def *)zw_model_def(s.model, ZW_THING_GEOM, index);
        zw_model *model = s.model;
        geom.pos[0] = d->x;
        geom.pos[2] = geom.size[2] = d->half;
        zw_state_free(s.state);
        zw_work_free(s.work);
        zw_system_free(s.system);
        good = zw_model_change(model, ZW_THING_GEOM, index, &geom, &s.error) == ZW_OK;
        s = (touch){.model = model};
        good &= touch_start(&s, NULL) == ZW_OK;
    }
    double *q = good ? touch_field(&s, ZW_FIELD_Q) : NULL;
    if (good) {
        q[3] = cos(d->yaw / 2);
        q[6] = sin(d->yaw / 2);
    }
    long steps = (long)ceil(8 / h - 1e-9);
    for (long k = 0; k < steps && good; k++) {
        double t = (double)k * h, ramp = fmin(t + h, 1);
        for (int i = 0; i < 3; i++) {
            touch_field(&s, ZW_FIELD_PARAM)[i] = d->speed * ramp;
        }
        good = touch_run(&s, t + h, h) == ZW_OK && q[2] > 0.05 && q[2] < 2;
        long tenth = lround(10 * (t + h));
        if (records && tenth <= 80 && fabs(10 * (t + h) - (double)tenth) < 1e-6) {
            memcpy(d->track[tenth], q, 3 * sizeof *q);
        }
    }
    good = good && q[0] > d->x + 1;
    touch_close(&s);
    return good;
}

static int drives(double h, void *user)
{
    return drive(h, user, 0);
}

static void obstacle(void)
{
    static const double steps[] = {0.01, 0.05, 0.1, 0.2};
    double largest[10], start = seconds_computed();
    dice d = dice_of(6);
    printf("\n## Skid-steer robot over an obstacle\n\n");
    printf("Ten trials (half height .07-.09, place 1.5-2.5, speed 3.5-4.5, yaw +-.1); the largest "
           "step, up to 0.4 s, of the scenario's test\n(.05 < z < 2, passes the obstacle), and how "
           "far the robot "
           "is from where a step of 2 ms leads: at most within\n2 s, and within 8 s. Which way it "
           "skids on the obstacle is not "
           "settled by any step yet.\n\n"
           "| trial | largest stable step [s] | 10 ms | 50 ms | 100 ms | 200 ms |\n"
           "|---|---|---|---|---|---|\n");
    int count = 0;
    for (; count < 10 && seconds_computed() - start < 12 * SHARE; count++) {
        static trial exact, other;
        exact = (trial){.half = dice_between(&d, 0.07, 0.09),
                        .x = dice_between(&d, 1.5, 2.5),
                        .speed = dice_between(&d, 3.5, 4.5),
                        .yaw = dice_between(&d, -0.1, 0.1)};
        largest[count] = largest_step(drives, &exact, 0.05, 0.4);
        drive(0.002, &exact, 1);
        printf("| %d | %.3f |", count + 1, largest[count]);
        for (int k = 0; k < 4; k++) {
            double off = 0, soon = 0;
            other = exact;
            int good = drive(steps[k], &other, 1);
            for (int i = 2; i <= 80; i += 2) {
                double dx = other.track[i][0] - exact.track[i][0];
                double dy = other.track[i][1] - exact.track[i][1];
                double dz = other.track[i][2] - exact.track[i][2];
                off = fmax(off, sqrt(dx * dx + dy * dy + dz * dz));
                soon = i <= 20 ? off : soon;
            }
            printf(good ? " %.3f, %.3f m |" : " (%.3f, %.3f m, fails) |", soon, off);
        }
        printf("\n");
        fflush(stdout);
    }
    printf("\nMedian of %d trials: %.3f s.\n", count, median(largest, count));
}

int main(void)
{
    boxes light = {{0.3, 0.6, 1.2}, 500}, heavy = {{0.2, 0.8, 1.6}, 1500};
    if (!xml_available()) {
        printf("Built without expat: no scenes.\n");
        return 0;
    }
    printf("\n## Scenes of examples/contact, ten seconds each\n\n"
           "| scene | step | time reached | contacts | steps/s | worst certificate | depth [m] | "
           "MuJoCo steps/s | its depth [m] |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < SCENES; k++) {
        run_scene(&list[k]);
        fflush(stdout);
    }
    printf("\n## Largest stable step\n\n| scenario | step [s], 2 is the ceiling |\n|---|---|\n");
    printf("| stacked boxes 64:1 | %.3f |\n", largest_step(boxes_stand, &light, 0.01, 2));
    printf("| stacked boxes 512:1 | %.3f |\n", largest_step(boxes_stand, &heavy, 0.01, 2));
    printf("| pendulum control | %.3f |\n", largest_step(pendulum_holds, NULL, 0.001, 2));
    fflush(stdout);
    obstacle();
    return 0;
}
