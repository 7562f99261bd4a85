/* The cost of the sweeps over a tree, for one world and for each of eight.
 *
 *     tree            tables; times are those of this thread, the least of several runs
 *
 * Besides every rate the table has the error of the forces recovered from the accelerations
 * (inverse of forward), relative to the largest force between bodies. */
#include <string.h>
#include <unistd.h>

#ifdef ZW_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

#include "base/memory.h"
#include "measure.h"
#include "scene/trees.h"
#include "tree/sweeps.h"

enum { RUNS = 15 };

typedef struct stage {
    tree_mechanism *tree;
    double *q, *v, *tau, *a, *back, *work, *next;
    zw_real8 *q8, *v8, *tau8, *a8, *back8, *work8, *next8;
} stage;

static void *numbers(int count, int lanes)
{
    void *block = base_alloc(((size_t)count + 1) * (size_t)lanes * sizeof(double));
    if (block == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return block;
}

/* All lanes start as the one world, so that they do the same arithmetic. */
static stage stage_of(tree_mechanism *tree)
{
    int n = tree->nv, m = tree->nq;
    stage s = {.tree = tree,
               .q = numbers(m, 1),
               .v = numbers(n, 1),
               .tau = numbers(n, 1),
               .a = numbers(n, 1),
               .back = numbers(n, 1),
               .next = numbers(m, 1),
               .work = numbers(tree->at.count, 1),
               .q8 = numbers(m, 8),
               .v8 = numbers(n, 8),
               .tau8 = numbers(n, 8),
               .a8 = numbers(n, 8),
               .back8 = numbers(n, 8),
               .next8 = numbers(m, 8),
               .work8 = numbers(tree->at.count, 8)};
    dice d = dice_of(1);
    tree_random_q(tree, &d, s.q);
    tree_random_v(tree, &d, s.v);
    tree_random_v(tree, &d, s.tau);
    for (int lane = 0; lane < LANES; lane++) {
        for (int k = 0; k < m; k++) {
            s.q8[k][lane] = s.q[k];
        }
        for (int k = 0; k < n; k++) {
            s.v8[k][lane] = s.v[k];
            s.tau8[k][lane] = s.tau[k];
        }
    }
    return s;
}

static void stage_end(stage *s)
{
    void *const list[] = {s->q,  s->v,  s->tau,  s->a,  s->back,  s->work,  s->next,
                          s->q8, s->v8, s->tau8, s->a8, s->back8, s->work8, s->next8};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        base_free(list[k]);
    }
    tree_free(s->tree);
}

/* ---- Measured functions ---------------------------------------------------------------------- */

typedef void part(stage *s);

static void kinematics1(stage *s)
{
    tree_kinematics(s->tree, s->q, s->work);
}
static void kinematics8(stage *s)
{
    tree_kinematics8(s->tree, s->q8, s->work8);
}
static void velocities1(stage *s)
{
    tree_velocities(s->tree, s->v, s->work);
}
static void velocities8(stage *s)
{
    tree_velocities8(s->tree, s->v8, s->work8);
}
static void inverse1(stage *s)
{
    tree_inverse(s->tree, NULL, NULL, s->work, s->a);
}
static void inverse8(stage *s)
{
    tree_inverse8(s->tree, NULL, NULL, s->work8, s->a8);
}
static void composite1(stage *s)
{
    tree_composite(s->tree, s->work);
}
static void composite8(stage *s)
{
    tree_composite8(s->tree, s->work8);
}

static void factor1(stage *s)
{
    int bad;
    tree_factor(s->tree, NULL, s->work, &bad);
}

static void factor8(stage *s)
{
    zw_mask8 bad;
    tree_factor8(s->tree, NULL, s->work8, &bad);
}

static void solve1(stage *s)
{
    memcpy(s->a, s->tau, (size_t)s->tree->nv * sizeof *s->a);
    tree_solve(s->tree, s->work, s->a);
}

static void solve8(stage *s)
{
    memcpy(s->a8, s->tau8, (size_t)s->tree->nv * sizeof *s->a8);
    tree_solve8(s->tree, s->work8, s->a8);
}

static void articulate1(stage *s)
{
    int bad;
    tree_articulate(s->tree, NULL, s->work, &bad);
}

static void articulate8(stage *s)
{
    zw_mask8 bad;
    tree_articulate8(s->tree, NULL, s->work8, &bad);
}

static void forward1(stage *s)
{
    tree_forward(s->tree, s->tau, NULL, s->work, s->a);
}
static void forward8(stage *s)
{
    tree_forward8(s->tree, s->tau8, NULL, s->work8, s->a8);
}

static void advance1(stage *s)
{
    double h = 1e-3;
    tree_advance(s->tree, s->q, s->v, &h, s->next);
}

static void advance8(stage *s)
{
    zw_real8 h = {1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3};
    tree_advance8(s->tree, s->q8, s->v8, &h, s->next8);
}

/* Everything that a smooth step needs, once by articulated bodies and once by the matrix. */
static void by_bodies1(stage *s)
{
    kinematics1(s);
    velocities1(s);
    articulate1(s);
    forward1(s);
    advance1(s);
}

static void by_bodies8(stage *s)
{
    kinematics8(s);
    velocities8(s);
    articulate8(s);
    forward8(s);
    advance8(s);
}

static void by_matrix1(stage *s)
{
    kinematics1(s);
    velocities1(s);
    inverse1(s);
    composite1(s);
    factor1(s);
    for (int d = 0; d < s->tree->nv; d++) {
        s->a[d] = s->tau[d] - s->a[d];
    }
    tree_solve(s->tree, s->work, s->a);
    advance1(s);
}

static void by_matrix8(stage *s)
{
    kinematics8(s);
    velocities8(s);
    inverse8(s);
    composite8(s);
    factor8(s);
    for (int d = 0; d < s->tree->nv; d++) {
        s->a8[d] = s->tau8[d] - s->a8[d];
    }
    tree_solve8(s->tree, s->work8, s->a8);
    advance8(s);
}

/* Seconds per call, the least of several runs. */
static double cost(part *f, stage *s)
{
    double best = 1e300, spent = 0.0;
    int repeat = 1;
    while (spent < 2e-3) { /* long enough for the clock */
        repeat *= 2;
        double start = seconds_computed();
        for (int k = 0; k < repeat; k++) {
            f(s);
        }
        spent = seconds_computed() - start;
    }
    for (int run = 0; run < RUNS; run++) {
        double start = seconds_computed();
        for (int k = 0; k < repeat; k++) {
            f(s);
        }
        spent = (seconds_computed() - start) / repeat;
        best = spent < best ? spent : best;
    }
    return best;
}

/* |inverse(forward(tau)) - tau| over the largest force or moment between bodies. */
static double residual(stage *s)
{
    double most = 0.0, size = 0.0;
    tree_inverse(s->tree, s->a, NULL, s->work, s->back);
    for (int d = 0; d < s->tree->nv; d++) {
        most = fmax(most, fabs(s->back[d] - s->tau[d]));
    }
    for (int k = 6; k < 6 * s->tree->bodies; k++) {
        size = fmax(size, fabs(s->work[s->tree->at.F + k]));
    }
    return most / size;
}

static void parts_of_a_humanoid(int is_fused)
{
    static const struct {
        const char *name;
        part *one, *eight;
    } list[] = {{"kinematics", kinematics1, kinematics8},
                {"velocities", velocities1, velocities8},
                {"inverse dynamics: bias", inverse1, inverse8},
                {"composite inertia M", composite1, composite8},
                {"M = L'DL", factor1, factor8},
                {"M \\ x", solve1, solve8},
                {"articulated inertias", articulate1, articulate8},
                {"forward, given these", forward1, forward8},
                {"q (+) h v", advance1, advance8},
                {"smooth step by articulated bodies", by_bodies1, by_bodies8},
                {"smooth step by the matrix", by_matrix1, by_matrix8}};
    stage s = stage_of(tree_humanoid(is_fused));
    by_matrix1(&s);
    by_matrix8(&s);
    by_bodies1(&s);
    by_bodies8(&s);
    printf("Humanoid%s: %d dofs, %d bodies, %d entries of M; work %d numbers.\n\n",
           is_fused ? ", welded bodies fused" : "", s.tree->nv, s.tree->bodies - 1, s.tree->entries,
           s.tree->at.count);
    printf("| sweep | one world, ns | a world of eight, ns | ratio |\n|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        double one = cost(list[k].one, &s), eight = cost(list[k].eight, &s) / LANES;
        printf("| %s | %.0f | %.1f | %.1f |\n", list[k].name, 1e9 * one, 1e9 * eight, one / eight);
    }
    by_bodies1(&s);
    double bodies = residual(&s);
    by_matrix1(&s);
    printf("\nForces come back to %.1e by articulated bodies, to %.1e by the matrix.\n\n", bodies,
           residual(&s));
    stage_end(&s);
}

/* Hanging and slow, since the motion of a thousand links adds up. */
static void calm(stage *s)
{
    for (int d = 0; d < s->tree->nv; d++) {
        s->q[d] *= 0.02;
        s->v[d] *= 0.01;
        for (int lane = 0; lane < LANES; lane++) {
            s->q8[d][lane] = s->q[d];
            s->v8[d][lane] = s->v[d];
        }
    }
}

static void chains(void)
{
    static const int links[] = {10, 30, 100, 300, 1000, 100000};
    printf("| chain, links | one world, us | ns a link | of eight, ns a link | by the matrix, us "
           "| forces come back to |\n|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
        int n = links[k], matrix = n <= 1000;
        stage s = stage_of(tree_chain_of(n, 1.0, !matrix));
        calm(&s);
        double one = cost(by_bodies1, &s), eight = cost(by_bodies8, &s) / LANES;
        by_bodies1(&s);
        double back = residual(&s);
        printf("| %d | %.2f | %.0f | %.0f | ", n, 1e6 * one, 1e9 * one / n, 1e9 * eight / n);
        if (matrix) {
            printf("%.1f | %.1e |\n", 1e6 * cost(by_matrix1, &s), back);
        } else {
            printf("- | %.1e |\n", back);
        }
        stage_end(&s);
    }
}

/* ---- MuJoCo ---------------------------------------------------------------------------------- */

/* The same step as its Euler: springs and dampers, the latter implicit; otherwise explicit. For one
 * world and for eight it is compiled as the sweeps are, for the widest vectors of the machine. */
ZW_CLONES void euler1(stage *s);
ZW_CLONES void euler8(stage *s);

ZW_CLONES void euler1(stage *s)
{
    const double h = 1e-7; /* so small that the state hardly changes, however often it is called */
    int n = s->tree->nv, bad;
    kinematics1(s);
    velocities1(s);
    tree_passive(s->tree, s->q, s->v, s->tau);
    for (int d = 0; d < n; d++) {
        s->back[d] = h * s->tree->damping[d];
    }
    tree_articulate(s->tree, s->back, s->work, &bad);
    forward1(s);
    for (int d = 0; d < n; d++) {
        s->v[d] += h * s->a[d];
    }
    tree_advance(s->tree, s->q, s->v, &h, s->q);
}

ZW_CLONES void euler8(stage *s)
{
    const zw_real8 h = {1e-7, 1e-7, 1e-7, 1e-7, 1e-7, 1e-7, 1e-7, 1e-7};
    zw_mask8 bad;
    int n = s->tree->nv;
    kinematics8(s);
    velocities8(s);
    tree_passive8(s->tree, s->q8, s->v8, s->tau8);
    for (int d = 0; d < n; d++) {
        s->back8[d] = h * s->tree->damping[d];
    }
    tree_articulate8(s->tree, s->back8, s->work8, &bad);
    forward8(s);
    for (int d = 0; d < n; d++) {
        s->v8[d] += h * s->a8[d];
    }
    tree_advance8(s->tree, s->q8, s->v8, &h, s->q8);
}

#ifdef ZW_HAVE_MUJOCO

static mjModel *read_model(const tree_mechanism *tree)
{
    char folder[] = "/tmp/zwang_bench_XXXXXX", path[100], problem[500] = "";
    if (mkdtemp(folder) == NULL) {
        fprintf(stderr, "cannot make %s\n", folder);
        exit(2);
    }
    int files = tree_mjcf(tree, folder);
    snprintf(path, sizeof path, "%s/robot_0.xml", folder);
    mjModel *m = mj_loadXML(path, NULL, problem, sizeof problem);
    for (int k = 0; k < files; k++) {
        snprintf(path, sizeof path, "%s/robot_%d.xml", folder, k);
        unlink(path);
    }
    rmdir(folder);
    if (m == NULL) {
        fprintf(stderr, "MuJoCo: %s\n", problem);
        exit(2);
    }
    m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT;
    m->opt.timestep = 1e-7;
    return m;
}

static double theirs(mjModel *m, mjData *d, int steps)
{
    double start = seconds_computed();
    for (int k = 0; k < steps; k++) {
        mj_step(m, d);
    }
    return (seconds_computed() - start) / steps;
}

static double ours(part *step, stage *s, int steps)
{
    double start = seconds_computed();
    for (int k = 0; k < steps; k++) {
        step(s);
    }
    return (seconds_computed() - start) / steps;
}

/* |M a + bias - tau| over the largest force between bodies, tau of springs and dampers: of our
 * accelerations, or of theirs, at our state. */
static double residual_at(stage *s, const double *a)
{
    int bad;
    kinematics1(s);
    velocities1(s);
    tree_passive(s->tree, s->q, s->v, s->tau);
    if (a == NULL) {
        tree_articulate(s->tree, NULL, s->work, &bad);
        forward1(s);
    } else {
        memcpy(s->a, a, (size_t)s->tree->nv * sizeof *a);
    }
    return residual(s);
}

/* First the same steps in both, to see how far apart they get; then timing, interleaved, in
 * sufficiently long runs of each; medians. */
static void against_mujoco(const char *name, tree_mechanism *tree, int is_calm, int steps)
{
    enum { TRIES = 15, RUN = 200 };
    stage s = stage_of(tree);
    mjModel *m = read_model(tree);
    mjData *d = mj_makeData(m);
    double time[3][TRIES], apart = 0.0;
    if (is_calm) {
        calm(&s);
    }
    memcpy(d->qpos, s.q, (size_t)tree->nq * sizeof *s.q);
    memcpy(d->qvel, s.v, (size_t)tree->nv * sizeof *s.v);
    theirs(m, d, steps);
    ours(euler1, &s, steps);
    ours(euler8, &s, steps);
    for (int k = 0; k < tree->nv; k++) {
        apart = fmax(apart, fabs(d->qvel[k] - s.v[k]));
        apart = fmax(apart, fabs(s.v8[k][5] - s.v[k]));
    }
    for (int k = 0; k < TRIES; k++) {
        time[0][k] = theirs(m, d, steps < RUN ? 1 + steps / 10 : RUN);
        time[1][k] = ours(euler1, &s, RUN);
        time[2][k] = ours(euler8, &s, RUN) / LANES;
    }
    memcpy(d->qpos, s.q, (size_t)tree->nq * sizeof *s.q);
    memcpy(d->qvel, s.v, (size_t)tree->nv * sizeof *s.v);
    mj_forward(m, d);
    double peer = median(time[0], TRIES), one = median(time[1], TRIES);
    double eight = median(time[2], TRIES);
    printf("| %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.3f | %.0e | %.0e | %.0e, %d |\n", name,
           peer / one, peer / eight, one / eight, 1e6 * peer, 1e6 * one, 1e6 * eight,
           residual_at(&s, NULL), residual_at(&s, d->qacc), apart, steps);
    mj_deleteData(d);
    mj_deleteModel(m);
    stage_end(&s);
}

static void peer(void)
{
    printf("\nA smooth step (no constraints, dampers implicit) against MuJoCo %s, one thread. The "
           "residual is |M a + bias - tau| over the largest force between bodies.\n\n"
           "| model | one world, times faster | a world of eight | eight over one | MuJoCo, us "
           "| one, us | of eight, us | residual | MuJoCo's | speeds apart, after steps |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n",
           mj_versionString());
    against_mujoco("humanoid", tree_humanoid(0), 0, 2000);
    against_mujoco("humanoid, fused", tree_humanoid(1), 0, 2000);
    against_mujoco("chain of 10", tree_chain_of(10, 1.0, 1), 1, 2000);
    against_mujoco("chain of 30", tree_chain_of(30, 1.0, 1), 1, 2000);
    against_mujoco("chain of 100", tree_chain_of(100, 1.0, 1), 1, 1000);
    against_mujoco("chain of 300", tree_chain_of(300, 1.0, 1), 1, 50);
    against_mujoco("chain of 1000", tree_chain_of(1000, 1.0, 1), 1, 10);
}
#else
static void peer(void)
{
    (void)euler1;
    (void)euler8;
    printf("\nMuJoCo is not here: no comparison.\n");
}
#endif

int main(void)
{
    parts_of_a_humanoid(0);
    parts_of_a_humanoid(1);
    chains();
    peer();
    return 0;
}
