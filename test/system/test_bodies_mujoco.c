/* MuJoCo as a judge of a whole way: the same file read by both, the same accelerations and energies
 * at random states and controls; constraints off in both.
 *
 *     test_bodies_mujoco [file.xml ...]      judge these, and say how far apart
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef ZW_HAVE_MUJOCO

int main(void)
{
    printf("skipped: MuJoCo is not here\n");
    return 77;
}

#else

#include <dirent.h>
#include <mujoco/mujoco.h>
#include <unistd.h>

#include "robots.h"
#include "tree/sweeps.h"

enum { STATES = 100 };

static const char *const MODEL =
    "<mujoco><compiler angle='radian'/><option gravity='0.3 -0.5 -9'/><worldbody>"
    "<body name='trunk' pos='0.1 0.2 1.5' quat='1 0.2 -0.1 0.3'><freejoint name='base'/>"
    "  <geom type='box' size='0.2 0.1 0.3'/><site name='engine' pos='0.1 0 0' quat='1 0.3 0 0.1'/>"
    "  <body pos='0.2 0 -0.1' quat='1 0 0.5 0'>"
    "    <joint name='a' axis='1 0 0' pos='0 0 0.1' ref='0.2' armature='0.02' damping='0.3'/>"
    "    <joint name='b' axis='0 -1 0.4' pos='0 0 0.1' stiffness='3' springref='0.4'/>"
    "    <joint name='c' type='slide' axis='0 0 -2' stiffness='40' ref='0.1'/>"
    "    <geom type='capsule' size='0.1' fromto='0 0 0 0.2 0.1 -0.3'/>"
    "    <body pos='0 0 -0.4'><geom type='sphere' size='0.1'/>"
    "      <body pos='0.1 0.1 0'><joint name='d' type='ball' pos='0.05 0 0.02' damping='0.1'/>"
    "        <geom type='cylinder' size='0.1 0.2' pos='0 0 -0.15'/></body>"
    "    </body></body>"
    "</body></worldbody>"
    "<tendon><fixed name='t' stiffness='7' damping='0.4' springlength='0.3'>"
    "  <joint joint='a' coef='1.5'/><joint joint='c' coef='-2'/></fixed></tendon>"
    "<actuator><motor joint='a' gear='3' ctrllimited='true' ctrlrange='-0.5 0.5'/>"
    "  <position joint='b' kp='20'/><velocity joint='c' kv='3' gear='2'/>"
    "  <motor joint='d' gear='1 2 3'/><position joint='d' kp='4' gear='0.3 0.5 -0.2'/>"
    "  <motor joint='base' gear='1 2 3 0.1 0.2 0.3'/>"
    "  <motor jointinparent='base' gear='1 2 3 0.1 0.2 0.3'/>"
    "  <motor jointinparent='d' gear='1 -2 0.5'/>"
    "  <motor site='engine' gear='0 0 2 0.1 0.2 -0.3'/>"
    "  <general tendon='t' gear='1.5' gaintype='affine' gainprm='3 0.2 0.1' biastype='affine' "
    "    biasprm='0.1 -2 -0.3' forcelimited='true' forcerange='-2 2'/>"
    "  <general joint='a' dyntype='filter' dynprm='0.3' gainprm='2' ctrllimited='true' "
    "    ctrlrange='-0.2 0.3'/><intvelocity joint='b' kp='5' actrange='-2 2'/>"
    "  <cylinder joint='c' timeconst='0.5' area='3' bias='0.1 -0.2 -0.3'/>"
    "</actuator></mujoco>";

/* Ours without constraints; and without motors where they are not obeyed yet. NULL: refused. */
static zw_model *read_ours(const char *path, int *without, zw_error *error)
{
    zw_model *model = zw_model_read(path, NULL, 0, error);
    for (int more = 0; more < 2 && model; more++) {
        zw_world_def world = *zw_model_world(model);
        world.without |= ZW_WITHOUT_CONSTRAINT | (more ? ZW_WITHOUT_ACTUATION : 0);
        *without = world.without;
        if (zw_model_set_world(model, &world, error) != ZW_OK) {
            break;
        }
        zw_system *system = zw_system_compile(model, error);
        if (system) {
            zw_system_free(system);
            return model;
        }
    }
    zw_model_free(model);
    return NULL;
}

typedef struct distance {
    double acceleration, energy;
    double masses; /* old versions measure meshes in another way */
    double apart;
    int states;
} distance;

static double compare_masses(const zw_model *model, const mjModel *m)
{
    double worst = 0;
    zw_error error = {0};
    zw_inertia *list = calloc((size_t)m->nbody, sizeof *list);
    assert_non_null(list);
    assert_int_equal(zw_model_count(model, ZW_THING_BODY), m->nbody);
    assert_int_equal(zw_model_inertia(model, list, &error), ZW_OK);
    for (int i = 1; i < m->nbody; i++) {
        worst = fmax(worst, fabs(list[i].mass - m->body_mass[i]) / (1e-12 + m->body_mass[i]));
    }
    free(list);
    return worst;
}

static void judge_state(robot *r, const mjModel *m, mjData *d, unsigned *seed, distance *worst)
{
    int n = r->system->n, params = r->system->shape.params;
    double *q = state_q(r->state), *v = state_v(r->state), size = 0, far = 0;
    memcpy(q, r->system->bodies->q, (size_t)m->nq * sizeof *q);
    for (int i = 0; i < n; i++) {
        v[i] = dice(seed);
    }
    system_move(r->system, q, 1, v);
    for (int i = 0; i < n; i++) {
        v[i] = 2 * dice(seed);
    }
    for (int i = 0; i < params; i++) {
        state_param(r->state)[i] = d->ctrl[i] = dice(seed);
    }
    for (int i = 0; i < r->system->carried; i++) {
        v[n + i] = d->act[i] = dice(seed);
    }
    memcpy(d->qpos, q, (size_t)m->nq * sizeof *q);
    memcpy(d->qvel, v, (size_t)n * sizeof *v);
    mj_forward(m, d);
    const double *a = robot_accelerations(r);
    for (int i = 0; i < n; i++) {
        size = fmax(size, fabs(d->qacc[i]));
        far = fmax(far, fabs(a[i] - d->qacc[i]));
    }
    for (int i = 0; i < r->system->carried; i++) { /* rates of activations */
        far = fmax(far, fabs(a[n + i] - d->act_dot[i]));
    }
    worst->acceleration = fmax(worst->acceleration, far / fmax(size, 1));
    zw_view energy = zw_field(r->system, r->state, r->work, ZW_FIELD_ENERGY);
    double scale = 1 + fabs(d->energy[0]) + d->energy[1];
    if (worst->states++ == 0) {
        worst->apart = energy.data[2] - d->energy[0]; /* of what stands still, they count it */
    }
    worst->energy = fmax(worst->energy, fabs(energy.data[2] - d->energy[0] - worst->apart) / scale);
    worst->energy = fmax(worst->energy, fabs(energy.data[1] - d->energy[1]) / scale);
}

/* 1: judged; 0: one of the two does not read it, said why. */
static int judge(const char *path, int states, distance *worst)
{
    char problem[1000] = "";
    zw_error error = {0};
    int without = 0;
    unsigned seed = 11;
    mjModel *m = mj_loadXML(path, NULL, problem, sizeof problem);
    zw_model *model = m ? read_ours(path, &without, &error) : NULL;
    if (!model) {
        print_message("%s: skipped, %s: %s\n", path, m ? "we say" : "MuJoCo says",
                      m ? error.text : problem);
        if (m) {
            mj_deleteModel(m);
        }
        return 0;
    }
    m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT;
    m->opt.disableflags |= without & ZW_WITHOUT_ACTUATION ? mjDSBL_ACTUATION : 0;
    m->opt.enableflags |= mjENBL_ENERGY;
    m->opt.density = m->opt.viscosity = 0;
    mjData *d = mj_makeData(m);
    worst->masses = compare_masses(model, m);
    robot r = robot_of(model);
    for (int k = 0; k < states; k++) {
        judge_state(&r, m, d, &seed, worst);
    }
    print_message("%s: %d dofs%s, masses %.1e, accelerations %.1e, energies %.1e\n", path, m->nv,
                  without & ZW_WITHOUT_ACTUATION ? ", motors off" : "", worst->masses,
                  worst->acceleration, worst->energy);
    robot_end(&r);
    mj_deleteData(d);
    mj_deleteModel(m);
    return 1;
}

static void our_model(void **state)
{
    (void)state;
    char path[] = "/tmp/zwang_bodies_XXXXXX.xml";
    int file = mkstemps(path, 4);
    distance worst = {0};
    assert_true(file >= 0);
    assert_true(write(file, MODEL, strlen(MODEL)) == (ssize_t)strlen(MODEL));
    close(file);
    int judged = judge(path, STATES, &worst);
    unlink(path);
    assert_true(judged);
    assert_true(worst.acceleration <= 1e-10);
    assert_true(worst.energy <= 1e-10);
}

/* In $ZW_MODELS (or /work/shared/models), if they are there: one folder for each robot. */
static void public_models(void **state)
{
    (void)state;
    static const char *const file[] = {
        "mujoco_samples/humanoid.xml", "mujoco_samples/humanoid100.xml",
        "mujoco_samples/arm26.xml",    "mujoco_samples/slider_crank.xml",
        "mujoco_samples/car.xml",      "unitree_go1/go1.xml",
        "kuka_iiwa_14/iiwa14.xml",     "agility_cassie/cassie.xml",
        "shadow_hand/right_hand.xml",  "robotiq_2f85/2f85.xml",
        "trossen_wx250s/wx250s.xml",   "skydio_x2/x2.xml",
        "wonik_allegro/right_hand.xml"};
    const char *models = getenv("ZW_MODELS");
    models = models ? models : "/work/shared/models";
    DIR *folder = opendir(models);
    if (!folder) {
        print_message("skipped: there is no folder %s (see ZW_MODELS)\n", models);
        skip();
    }
    closedir(folder);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char path[1000];
        distance worst = {0};
        snprintf(path, sizeof path, "%s/%s", models, file[i]);
        judge(path, 20, &worst);
        if (worst.masses < 1e-12) {
            assert_true(worst.acceleration <= 1e-10);
            assert_true(worst.energy <= 1e-10);
        }
    }
}

static void silent(const char *message)
{
    (void)message;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(our_model),
                                       cmocka_unit_test(public_models)};
    mju_user_warning = silent;
    for (int i = 1; i < argc; i++) {
        distance worst = {0};
        judge(argv[i], STATES, &worst);
    }
    return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
