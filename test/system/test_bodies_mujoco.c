/* Comparison with MuJoCo: both read the same file and compute the same quantities at random states
 * and controls (numbers.h); constraints are off in both.
 *
 *     test_bodies_mujoco [file.xml ...] compares these, and prints the differences
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

#include "numbers.h"
#include "read/older.h"

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

/* ---- Comparison ------------------------------------------------------------------------------ */

enum { MASSES, MATRIX, BIAS, FREE, ENERGY, MOMENTUM, POSES, WHATS };

typedef struct verdict {
    int dofs, motors_off;
    double worst[WHATS]; /* relative */
} verdict;

/* |ours - theirs| over the largest of theirs, or over the floor; kept if it is the worst. */
static void compare(double *worst, const double *ours, const double *theirs, int n, double floor)
{
    double far = 0, size = floor;
    for (int i = 0; i < n; i++) {
        double d = fabs(ours[i] - theirs[i]);
        far = isnan(far) || d <= far ? far : d; /* what is no number stays so */
        size = fmax(size, fabs(theirs[i]));
    }
    *worst = isnan(*worst) || far / size <= *worst ? *worst : far / size;
}

/* Mass, centre and moments of every body, each relative to its own size. */
static void compare_masses(const zw_model *model, const mjModel *m, double *worst)
{
    zw_error error = {0};
    zw_inertia *own = calloc((size_t)m->nbody, sizeof *own);
    assert_non_null(own);
    assert_int_equal(zw_model_count(model, ZW_KIND_BODY), m->nbody);
    assert_int_equal(zw_model_inertia(model, own, &error), ZW_OK);
    for (int i = 1; i < m->nbody; i++) {
        double ours[6], theirs[6], mass = m->body_mass[i], most = 0;
        model_principal_matrix(own[i].quat, own[i].moment, ours);
        model_principal_matrix(m->body_iquat + 4 * i, m->body_inertia + 3 * i, theirs);
        for (int k = 0; k < 3; k++) {
            most = fmax(most, m->body_inertia[3 * i + k]);
        }
        compare(worst, &own[i].mass, &mass, 1, 1e-12);
        compare(worst, own[i].com, m->body_ipos + 3 * i, 3,
                fmax(1e-3, mass > 0 ? sqrt(most / mass) : 1));
        compare(worst, ours, theirs, 6, 1e-12);
    }
    free(own);
}

/* What it weighs with its floats and its principal axes, which it finds to 1e-6, is given to our
 * bodies too: the rest is compared for the same masses. */
static void give_masses(zw_model *model, const mjModel *m)
{
    zw_error error = {0};
    zw_world_def world = *zw_model_world(model);
    world.from_geoms = 0;
    world.bound_mass = world.bound_inertia = world.total_mass = 0;
    assert_int_equal(zw_model_set_world(model, &world, &error), ZW_OK);
    for (int i = 1; i < m->nbody; i++) {
        zw_body_def body = *(const zw_body_def *)zw_model_def(model, ZW_KIND_BODY, i);
        body.inertial = 1;
        body.mass = m->body_mass[i];
        memcpy(body.com, m->body_ipos + 3 * i, sizeof body.com);
        memcpy(body.inertia_quat, m->body_iquat + 4 * i, sizeof body.inertia_quat);
        memset(body.inertia, 0, sizeof body.inertia);
        memcpy(body.inertia, m->body_inertia + 3 * i, 3 * sizeof *body.inertia);
        assert_int_equal(zw_model_change(model, ZW_KIND_BODY, i, &body, &error), ZW_OK);
    }
}

static void compare_matrix(const numbers *x, const mjModel *m, const mjData *d, double *worst)
{
    const tree_mechanism *tree = x->system->tree;
    size_t n = (size_t)m->nv;
    double *full = calloc(n * n + 1, sizeof *full), *ours = calloc(n * n + 1, sizeof *ours);
    assert_true(full && ours);
    mj_fullM(m, full, d->qM);
    for (int i = 0; i < m->nv; i++) {
        for (int e = tree->start[i]; e < tree->start[i + 1]; e++) {
            int j = tree->column[e];
            ours[i * m->nv + j] = ours[j * m->nv + i] = x->M[e];
        }
    }
    compare(worst, ours, full, m->nv * m->nv, 1e-12);
    free(full);
    free(ours);
}

/* Energies without what stands still; momenta about the origin. */
static void compare_motion(const numbers *x, const mjModel *m, const mjData *d, double *worst)
{
    double still = 0, mass = 0, turn[3], momentum[6];
    for (int i = 1; i < m->nbody; i++) {
        mass += m->body_mass[i];
        if (m->body_weldid[i] == 0) {
            still -= m->body_mass[i] * model_dot(m->opt.gravity, d->xipos + 3 * i);
        }
    }
    double energy[2] = {d->energy[1], d->energy[0] - still};
    for (int k = 0; k < 3; k++) {
        momentum[k] = mass * d->subtree_linvel[k];
    }
    model_cross(turn, d->subtree_com, momentum);
    for (int k = 0; k < 3; k++) {
        momentum[3 + k] = turn[k] + d->subtree_angmom[k];
    }
    compare(&worst[ENERGY], x->energy, energy, 2, 1e-12);
    compare(&worst[MOMENTUM], x->momentum, momentum, 3, 1e-12);
    compare(&worst[MOMENTUM], x->momentum + 3, momentum + 3, 3, 1e-12);
}

static void compare_poses(const numbers *x, const mjModel *m, const mjData *d, double *worst)
{
    for (int i = 1; i < m->nbody; i++) {
        double quat[4], sign = 0;
        for (int k = 0; k < 4; k++) {
            sign += x->pose[i][3 + k] * d->xquat[4 * i + k];
        }
        for (int k = 0; k < 4; k++) {
            quat[k] = sign < 0 ? -x->pose[i][3 + k] : x->pose[i][3 + k];
        }
        compare(worst, x->pose[i], d->xpos + 3 * i, 3, 1);
        compare(worst, quat, d->xquat + 4 * i, 4, 1);
    }
}

static void compare_state(numbers *x, const mjModel *m, mjData *d, double *worst)
{
    zw_error error = {0};
    numbers_draw(x);
    if (!numbers_compute(x, &error)) {
        fail_msg("%s", error.text);
    }
    memcpy(d->qpos, x->q, (size_t)m->nq * sizeof *d->qpos);
    memcpy(d->qvel, x->v, (size_t)m->nv * sizeof *d->qvel);
    memcpy(d->ctrl, x->u, (size_t)(x->motors_off ? 0 : m->nu) * sizeof *d->ctrl);
    mj_forward(m, d);
    mj_subtreeVel(m, d);
    compare_matrix(x, m, d, &worst[MATRIX]);
    compare(&worst[BIAS], x->bias, d->qfrc_bias, m->nv, 1e-3);
    compare(&worst[FREE], x->a, d->qacc, m->nv, 1e-3);
    compare_motion(x, m, d, worst);
    compare_poses(x, m, d, &worst[POSES]);
}

static verdict compare_models(numbers *x, mjModel *m)
{
    verdict v = {.dofs = m->nv, .motors_off = x->motors_off};
    assert_int_equal(x->bodies, m->nbody);
    assert_int_equal(x->system->nq, m->nq);
    assert_int_equal(x->system->n, m->nv);
    m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT;
    m->opt.disableflags |= x->motors_off ? mjDSBL_ACTUATION : 0;
    m->opt.enableflags |= mjENBL_ENERGY;
    mjData *d = mj_makeData(m);
    assert_non_null(d);
    for (int k = 0; k < STATES; k++) {
        compare_state(x, m, d, v.worst);
    }
    mj_deleteData(d);
    return v;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Both models of a file and how far their masses are apart, or the message of the one that does not
 * read it.
 */
static int load(const char *path, mjModel **m, numbers *x, double *masses, char message[1000])
{
    zw_error error = {0};
    zw_model *model = zw_model_read(path, NULL, &error);
    *m = mj_loadXML(path, NULL, message, 1000);
    if (model && *m) {
        older_weigh(model);
        *masses = 0;
        compare_masses(model, *m, masses);
        if (*masses > 1e-12) {
            give_masses(model, *m);
        }
    }
    int ok = model && numbers_open(x, model, &error); /* has taken the model over */
    if (!ok) {
        snprintf(message, 1000, "we: %.900s", error.text);
    } else if (!*m) {
        numbers_close(x);
        memmove(message + 8, message, 900);
        memcpy(message, "MuJoCo: ", 8);
    }
    if (!ok && *m) {
        mj_deleteModel(*m);
        *m = NULL;
    }
    return *m != NULL;
}

/* As it is, or without what is too new for this MuJoCo. 0: not compared. */
static int load_any(const char *path, mjModel **m, numbers *x, double *masses, char message[1000],
                    int *simpler)
{
    char folder[200], copy[600], first[1000];
    *simpler = 0;
    if (load(path, m, x, masses, message) || strncmp(message, "we", 2) == 0) {
        return *m != NULL;
    }
    snprintf(first, sizeof first, "%s", message);
    if (older_simplify(path, folder, copy)) {
        *simpler = load(copy, m, x, masses, message);
        older_done(folder);
    }
    if (!*simpler) {
        memcpy(message, first, sizeof first);
    }
    return *simpler;
}

/* Masses from meshes are of floats, and principal axes of several geoms or of a full matrix known
 * to about 1e-6, those of a mesh on top of it: a turn by so much changes the moments by as much. */
static int is_exact(const mjModel *m)
{
    int turned = m->nmesh > 0;
    for (int i = 1; i < m->nbody; i++) {
        turned |= m->body_geomnum[i] > 1;
    }
    return !turned;
}

/* This MuJoCo looks for the lengths of muscles with another solver: they are compared with the
 * current one. */
static int has_muscles(const mjModel *m)
{
    int any = 0;
    for (int i = 0; i < m->nu; i++) {
        any |= m->actuator_gaintype[i] == mjGAIN_MUSCLE;
    }
    return any;
}

/* Whether it agrees; what was not compared does, and says why. */
static int compare_forms(const char *name, const char *path)
{
    mjModel *m;
    numbers x;
    char message[1000] = "";
    double masses = 0;
    int simpler;
    if (!load_any(path, &m, &x, &masses, message, &simpler)) {
        print_message("| %s | not compared: %.*s |\n", name, (int)strcspn(message, "\n"), message);
        return 1;
    }
    verdict v = compare_models(&x, m);
    v.worst[MASSES] = masses;
    int good = masses <= (is_exact(m) ? 1e-10 : 3e-6);
    print_message("| %s%s%s | %d", name, simpler ? ", simplified" : "",
                  v.motors_off ? ", motors off" : "", v.dofs);
    for (int k = 0; k < WHATS; k++) {
        good &= k == MASSES || v.worst[k] <= 1e-10 || (k == FREE && has_muscles(m));
        print_message(" | %.0e", v.worst[k]);
    }
    print_message(" |%s\n", good ? "" : " DIFFERS");
    numbers_close(&x);
    mj_deleteModel(m);
    return good;
}

static void head(void)
{
    print_message("MuJoCo %s, %d states each, largest relative differences\n\n"
                  "| model | dofs | masses | M | bias | qacc | energies | momenta | poses |\n"
                  "|---|---|---|---|---|---|---|---|---|\n",
                  mj_versionString(), STATES);
}

static void our_model(void **state)
{
    (void)state;
    char path[] = "/tmp/zwang_bodies_XXXXXX.xml", message[1000] = "";
    int file = mkstemps(path, 4);
    mjModel *m;
    numbers x;
    assert_true(file >= 0);
    assert_true(write(file, MODEL, strlen(MODEL)) == (ssize_t)strlen(MODEL));
    close(file);
    double masses = 0;
    int loaded = load(path, &m, &x, &masses, message);
    unlink(path);
    if (!loaded) {
        fail_msg("%s", message);
    }
    verdict v = compare_models(&x, m);
    assert_false(v.motors_off);
    assert_true(masses <= 1e-10);
    for (int k = 0; k < WHATS; k++) {
        assert_true(v.worst[k] <= 1e-10);
    }
    numbers_close(&x);
    mj_deleteModel(m);
}

static int is_robot(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".xml") == 0;
}

static int is_plain(const struct dirent *entry)
{
    return strchr(entry->d_name, '.') == NULL;
}

/* In $ZW_MODELS (or /work/shared/models), if they are there: one folder for each robot. */
static void public_models(void **state)
{
    (void)state;
    const char *models = getenv("ZW_MODELS");
    struct dirent **folder, **file;
    models = models ? models : "/work/shared/models";
    int folders = scandir(models, &folder, is_plain, alphasort), good = 1;
    if (folders < 0) {
        print_message("skipped: there is no folder %s (see ZW_MODELS)\n", models);
        skip();
    }
    head();
    for (int i = 0; i < folders; i++) {
        char inner[600], path[1000], name[600];
        snprintf(inner, sizeof inner, "%s/%.200s", models, folder[i]->d_name);
        int files = scandir(inner, &file, is_robot, alphasort);
        for (int k = 0; k < files; k++) {
            snprintf(path, sizeof path, "%s/%.255s", inner, file[k]->d_name);
            snprintf(name, sizeof name, "%.200s/%.255s", folder[i]->d_name, file[k]->d_name);
            good &= compare_forms(name, path);
            free(file[k]);
        }
        free(files < 0 ? NULL : file);
        free(folder[i]);
    }
    free(folder);
    assert_true(good);
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
    if (argc == 1) {
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    head();
    int good = 1;
    for (int i = 1; i < argc; i++) {
        good &= compare_forms(argv[i], argv[i]);
    }
    return good ? 0 : 1;
}

#endif
