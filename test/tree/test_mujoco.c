/* Compared with MuJoCo: the same bodies, the same numbers. Its model is read into a definition
 * field by field; constraints and contacts are off in it.
 *
 *     test_mujoco [file.xml ...] compare these models instead of our own, and say how far apart
 */
#include "trying.h"

#ifndef ZW_HAVE_MUJOCO

int main(void)
{
    printf("skipped: MuJoCo is not here\n");
    return 77;
}

#else

#include <mujoco/mujoco.h>
#include <unistd.h>

static const char *const MODEL =
    "<mujoco><compiler angle='radian'/><option gravity='0.3 -0.5 -9'/><worldbody>"
    "<body pos='0.1 0.2 1.5' quat='1 0.2 -0.1 0.3'><freejoint/>"
    "  <inertial pos='0.05 -0.02 0.1' quat='1 0.1 0.2 0.3' mass='4' diaginertia='0.1 0.15 0.2'/>"
    "  <body pos='0.2 0 -0.1' quat='1 0 0.5 0'>"
    "    <joint type='hinge' axis='1 0 0' pos='0 0 0.1' ref='0.2' armature='0.02' damping='0.3'/>"
    "    <joint type='hinge' axis='0 -1 0.4' pos='0 0 0.1' stiffness='3' springref='0.4'/>"
    "    <joint type='slide' axis='0 0 -2' stiffness='40' ref='0.1'/>"
    "    <inertial pos='0 0.1 -0.2' mass='1.5' fullinertia='0.03 0.02 0.025 0.001 -0.002 0.003'/>"
    "    <body pos='0 0 -0.4'><inertial pos='0 0 0.1' mass='0.3' diaginertia='0.01 0.02 0.015'/>"
    "      <body pos='0.1 0.1 0'><joint type='ball' pos='0.05 0 0.02' stiffness='2' damping='0.1'/>"
    "        <inertial pos='0 0 -0.15' mass='0.7' diaginertia='0.01 0.012 0.004'/></body>"
    "    </body></body>"
    "  <body pos='-0.2 0 0.3'><joint type='hinge' axis='0 1 0' pos='0.1 0.2 0.3'/>"
    "    <inertial pos='0.3 0 0' mass='0.9' diaginertia='0.02 0.02 0.03'/></body>"
    "</body>"
    "<body pos='3 0 0'><inertial pos='0 0 0' mass='5' diaginertia='1 1 1'/>"
    "  <body pos='0 0 1'><joint type='slide' axis='1 0 0'/><joint type='ball' armature='0.05'/>"
    "    <joint type='slide' axis='0 1 1' pos='0.1 0 0' damping='2'/>"
    "    <inertial pos='0.1 0.2 0.3' mass='2' diaginertia='0.1 0.2 0.25'/>"
    "    <body pos='0 0 -1'><joint axis='0 0 1'/><joint axis='0 1 0'/><joint axis='-1 0 0'/>"
    "      <inertial pos='0.2 0 -0.3' mass='0.5' diaginertia='0.01 0.03 0.02'/></body>"
    "  </body></body>"
    "</worldbody></mujoco>";

/* ---- From its model to our definition -------------------------------------------------------- */

static tree_mechanism *tree_of(const mjModel *m)
{
    static const tree_joint_kind kinds[] = {TREE_FREE, TREE_BALL, TREE_SLIDE, TREE_HINGE};
    tree_sketch *s = sketch_new(0.0);
    memcpy(s->def.gravity, m->opt.gravity, sizeof s->def.gravity);
    for (int i = 1; i < m->nbody; i++) {
        const double *p = m->body_pos + 3 * i;
        sketch_body(s, m->body_parentid[i], p[0], p[1], p[2]);
        for (int k = 0; k < m->body_jntnum[i]; k++) {
            int j = m->body_jntadr[i] + k, d = m->jnt_dofadr[j], q = m->jnt_qposadr[j];
            const double *axis = m->jnt_axis + 3 * j;
            tree_joint_def *joint =
                sketch_joint(s, kinds[m->jnt_type[j]], axis[0], axis[1], axis[2]);
            memcpy(joint->anchor, m->jnt_pos + 3 * j, sizeof joint->anchor);
            joint->rest = m->qpos0[q];
            joint->spring = m->qpos_spring[q];
            joint->stiffness = m->jnt_stiffness[j];
            joint->armature = m->dof_armature[d];
            joint->damping = m->dof_damping[d];
        }
        tree_body_def *body = s->body + i;
        double R[9];
        const double *I = m->body_inertia + 3 * i;
        static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
        mju_quat2Mat(R, m->body_iquat + 4 * i);
        for (int e = 0; e < 6; e++) {
            for (int k = 0; k < 3; k++) {
                body->inertia[e] += R[3 * row[e] + k] * I[k] * R[3 * column[e] + k];
            }
        }
        memcpy(body->quat, m->body_quat + 4 * i, sizeof body->quat);
        memcpy(body->com, m->body_ipos + 3 * i, sizeof body->com);
        body->mass = m->body_mass[i];
    }
    return sketch_finish(s);
}

/* ---- Comparison ------------------------------------------------------------------------------ */

enum { POSES, MATRIX, BIAS, PASSIVE, INVERSE, FREE, ENERGY, MOMENTUM, JACOBIAN, WHATS };
static const char *const NAME[WHATS] = {
    "poses", "M", "bias", "passive", "inverse dynamics", "qacc", "energy", "momentum", "Jacobians"};

/* |x - y| over the largest of y, kept if it is the worst so far. */
static void worse(double *worst, const double *x, const double *y, int n, double floor)
{
    double far = apart(x, y, n) / fmax(largest(y, n), floor);
    *worst = far <= *worst ? *worst : far;
}

static void compare_poses(trying *t, const mjData *d, double *worst)
{
    const tree_places *at = &t->tree->at;
    int n = t->tree->bodies;
    worse(worst, t->work + at->origin, d->xpos, 3 * n, 1.0);
    worse(worst, t->work + at->R, d->xmat, 9 * n, 1.0);
    worse(worst, t->work + at->com + 3, d->xipos + 3, 3 * (n - 1), 1.0);
    worse(worst, t->work + at->anchor, d->xanchor, 3 * t->tree->joints, 1.0);
}

static void compare_matrix(trying *t, const mjModel *m, const mjData *d, double *worst)
{
    int n = t->tree->nv;
    double *full = doubles(n * n), *ours = doubles(n * n);
    mj_fullM(m, full, d->qM);
    tree_composite(t->tree, t->work);
    for (int i = 0; i < n; i++) {
        for (int e = t->tree->start[i]; e < t->tree->start[i + 1]; e++) {
            int j = t->tree->column[e];
            ours[i * n + j] = ours[j * n + i] = t->work[t->tree->at.M + e];
        }
    }
    worse(worst, ours, full, n * n, 1e-300);
    free(full);
    free(ours);
}

static void compare_jacobian(trying *t, const mjModel *m, const mjData *d, double *worst)
{
    int n = t->tree->nv, *chain = calloc((size_t)n + 1, sizeof *chain);
    double *p = doubles(3 * n), *r = doubles(3 * n), *J = doubles(6 * n), *ours = doubles(6 * n);
    const double place[3] = {0.3, -0.4, 1.2};
    for (int body = 0; body < m->nbody; body++) {
        mj_jac(m, d, p, r, place, body);
        tree_jacobian(t->tree, body, place, t->work, J);
        memset(ours, 0, (size_t)(6 * n) * sizeof *ours);
        for (int k = 0, count = tree_chain(t->tree, body, chain); k < count; k++) {
            for (int row = 0; row < 3; row++) {
                ours[row * n + chain[k]] = J[6 * k + row];
                ours[(3 + row) * n + chain[k]] = J[6 * k + 3 + row];
            }
        }
        worse(worst, ours, r, 3 * n, 1.0);
        worse(worst, ours + 3 * n, p, 3 * n, 1.0);
    }
    double *const list[] = {p, r, J, ours};
    for (size_t k = 0; k < 4; k++) {
        free(list[k]);
    }
    free(chain);
}

static void compare_state(trying *t, const mjModel *m, mjData *d, double *worst)
{
    int n = t->tree->nv, bad;
    double energy[2], momentum[9];
    memcpy(d->qpos, t->q, (size_t)m->nq * sizeof *t->q);
    memcpy(d->qvel, t->v, (size_t)n * sizeof *t->v);
    memcpy(d->qfrc_applied, t->tau, (size_t)n * sizeof *t->tau);
    for (int i = 1; i < m->nbody; i++) { /* theirs is force, moment */
        memcpy(d->xfrc_applied + 6 * i, t->wrench + 6 * i + 3, 3 * sizeof(double));
        memcpy(d->xfrc_applied + 6 * i + 3, t->wrench + 6 * i, 3 * sizeof(double));
    }
    mj_forward(m, d);
    mj_subtreeVel(m, d);
    tree_kinematics(t->tree, t->q, t->work);
    tree_velocities(t->tree, t->v, t->work);
    compare_poses(t, d, &worst[POSES]);
    compare_matrix(t, m, d, &worst[MATRIX]);
    compare_jacobian(t, m, d, &worst[JACOBIAN]);

    tree_inverse(t->tree, NULL, NULL, t->work, t->x);
    worse(&worst[BIAS], t->x, d->qfrc_bias, n, 1e-300);
    tree_passive(t->tree, t->q, t->v, t->y);
    worse(&worst[PASSIVE], t->y, d->qfrc_passive, n, 1.0);
    for (int k = 0; k < n; k++) {
        t->y[k] += t->tau[k];
    }
    tree_articulate(t->tree, NULL, t->work, &bad);
    tree_forward(t->tree, t->y, t->wrench, t->work, t->a);
    worse(&worst[FREE], t->a, d->qacc, n, 1e-300);
    tree_energies(t->tree, t->q, t->v, t->work, energy);
    double theirs[2] = {d->energy[1], d->energy[0]};
    worse(&worst[ENERGY], energy, theirs, 2, 1e-300);
    tree_momentum(t->tree, t->work, momentum);
    worse(&worst[MOMENTUM], momentum, d->subtree_com, 3, 1.0);
    for (int k = 0; k < 3; k++) { /* theirs is a velocity */
        momentum[3 + k] /= t->tree->body[0].subtree_mass;
    }
    worse(&worst[MOMENTUM], momentum + 3, d->subtree_linvel, 3, 1.0);
    worse(&worst[MOMENTUM], momentum + 6, d->subtree_angmom, 3, 1.0);

    /* M a + bias by their own recursion */
    tree_inverse(t->tree, t->tau, NULL, t->work, t->x);
    memcpy(d->qacc, t->tau, (size_t)n * sizeof *t->tau);
    mj_rne(m, d, 1, t->y);
    for (int k = 0; k < n; k++) {
        t->y[k] += m->dof_armature[k] * t->tau[k];
    }
    worse(&worst[INVERSE], t->x, t->y, n, 1e-300);
}

static void compare_model(mjModel *m, int states, double *worst)
{
    m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT | mjDSBL_ACTUATION;
    m->opt.enableflags |= mjENBL_ENERGY;
    mjData *d = mj_makeData(m);
    assert_non_null(d);
    trying t = try_tree(tree_of(m), 7);
    assert_int_equal(t.tree->nq, m->nq);
    assert_int_equal(t.tree->nv, m->nv);
    for (int k = 0; k < states; k++) {
        tree_random_q(t.tree, &t.dice, t.q);
        tree_random_v(t.tree, &t.dice, t.v);
        tree_random_v(t.tree, &t.dice, t.tau);
        compare_state(&t, m, d, worst);
    }
    try_free(&t);
    mj_deleteData(d);
}

static mjModel *read_text(const char *text)
{
    char path[] = "/tmp/zwang_mujoco_XXXXXX.xml", problem[1000] = "";
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    mjModel *m = mj_loadXML(path, NULL, problem, sizeof problem);
    unlink(path);
    if (m == NULL) {
        fail_msg("%s", problem);
    }
    return m;
}

static void same_numbers_as_mujoco(void **state)
{
    (void)state;
    double worst[WHATS] = {0};
    mjModel *m = read_text(MODEL);
    compare_model(m, 100, worst);
    mj_deleteModel(m);
    for (int k = 0; k < WHATS; k++) {
        print_message("%-18s %.1e\n", NAME[k], worst[k]);
        assert_small(worst[k], 1e-10);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_numbers_as_mujoco)};
    for (int i = 1; i < argc; i++) {
        double worst[WHATS] = {0};
        char problem[1000] = "";
        mjModel *m = mj_loadXML(argv[i], NULL, problem, sizeof problem);
        printf("%s: %s\n", argv[i], m == NULL ? problem : "");
        if (m != NULL) {
            compare_model(m, 100, worst);
            mj_deleteModel(m);
        }
        for (int k = 0; k < WHATS && m != NULL; k++) {
            printf("    %-18s %.1e\n", NAME[k], worst[k]);
        }
    }
    return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
