/* A hash of the exact bits of many results: every compiler and every sanitizer must print the same
 * line. Nothing is timed.
 *
 *     bits            one line: the hash over all scenes
 *     bits each       also a line for each scene, to find the one that differs */
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "scene/scene.h"
#include "scene/trees.h"
#include "tree/sweeps.h"
#include "zwang/zwang.h"

/* FNV-1a, 64 bits, byte by byte from the low end: the same on every machine. */
static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    for (int i = 0; i < 8; i++) {
        hash ^= (word >> (8 * i)) & 0xff;
        hash *= UINT64_C(1099511628211);
    }
    return hash;
}

static uint64_t hash_numbers(uint64_t hash, const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, &x[i], sizeof word);
        hash = hash_word(hash, word);
    }
    return hash;
}

typedef struct tally {
    uint64_t hash;
    int scenes, solved, each;
    long numbers;
} tally;

/* Status, motion and multipliers of one scene, which is freed. */
static void add_scene(tally *t, scene *s, zw_contact_law law)
{
    zw_gauss_options options = zw_gauss_options_default();
    options.contact = law;
    zw_error error = {0};
    zw_motion motion = {0};
    zw_gauss_work *work = zw_gauss_work_create(&s->problem, &options, &error);
    zw_status status =
        work ? zw_gauss_solve(&s->problem, &options, work, &motion, &error) : error.status;

    uint64_t hash = hash_word(UINT64_C(14695981039346656037), (uint64_t)status);
    if (work && (status == ZW_OK || status == ZW_INACCURATE || status == ZW_JAMMED)) {
        hash = hash_numbers(hash, motion.a, motion.n);
        hash = hash_numbers(hash, motion.lambda, motion.m);
        t->numbers += motion.n + motion.m;
    }
    if (t->each)
        printf("%016" PRIx64 "  %-24s %-8s status %d  %s\n", hash, s->name,
               law == ZW_CONTACT_CONVEX ? "convex" : "coulomb", status,
               work && motion.method ? motion.method : "-");
    t->hash = hash_word(t->hash, hash);
    t->solved += status == ZW_OK;
    t->scenes++;
    zw_gauss_work_free(work);
    scene_free(s);
}

/* The state after a short run of an example, of `time` at most. */
static void add_example(tally *t, const char *path, zw_run_options wanted, double time)
{
    zw_error error = {0};
    zw_model *model = zw_model_read(path, NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    zw_run_summary summary = {0};
    zw_run_options options = wanted;
    zw_status status = ZW_BAD_INPUT;
    if (state && zw_run_plan(system, state, &wanted, &options, &error) == ZW_OK) {
        options.time = options.time < time ? options.time : time;
        options.every = options.time;
        status = zw_run(system, state, work, &options, &summary, &error);
        zw_view q = zw_field(system, state, work, ZW_FIELD_Q);
        zw_view v = zw_field(system, state, work, ZW_FIELD_V);
        t->hash = hash_numbers(t->hash, q.data, q.count);
        t->hash = hash_numbers(t->hash, v.data, v.count);
        t->numbers += q.count + v.count;
    }
    if (t->each)
        printf("%016" PRIx64 "  %s, method %d, status %d %s\n", t->hash, path, (int)options.method,
               status, error.text);
    t->solved += status == ZW_OK;
    t->scenes++;
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
}

static void add_examples(tally *t)
{
    glob_t found;
    if (glob(ZW_SOURCE_DIR "/examples/*.zw", 0, NULL, &found) == 0) { /* in order of their names */
        for (size_t i = 0; i < found.gl_pathc; i++)
            add_example(t, found.gl_pathv[i], (zw_run_options){.tolerance = 1e-9}, 2);
        globfree(&found);
    }
}

/* Robots by the methods for them: trees and loops, formulas, contacts. */
static void add_robots(tally *t)
{
    static const struct {
        const char *file;
        zw_method method;
        double step, time;
    } robot[] = {
        {"examples/bodies/quadruped.xml", ZW_METHOD_DOP853, 0, 0.1},
        {"examples/bodies/bicycle.zw", ZW_METHOD_DOP853, 0, 0.2},
        {"examples/bodies/snakeboard.zw", ZW_METHOD_DOP853, 0, 0.5},
        {"examples/bodies/stewart.xml", ZW_METHOD_IMPULSE, 0.005, 0.1},
        {"examples/bodies/gyroscope.xml", ZW_METHOD_MIDPOINT, 0.01, 0.5},
        {"examples/bodies/double_pendulum.xml", ZW_METHOD_VARIATIONAL4, 0.01, 0.2},
        {"bench/pile.xml", ZW_METHOD_IMPULSE, 0.005, 1},
    };
    for (size_t k = 0; k < sizeof robot / sizeof *robot; k++) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", ZW_SOURCE_DIR, robot[k].file);
        zw_run_options wanted = {.method = robot[k].method,
                                 .tolerance = robot[k].step > 0 ? 0 : 1e-9,
                                 .step = robot[k].step};
        add_example(t, path, wanted, robot[k].time);
    }
}

/* Everything that the sweeps compute for a tree, and its configuration a moment later. */
static void add_tree(tally *t, uint64_t seed)
{
    tree_mechanism *tree = tree_random(seed, 1 + (int)(seed % 40), 2.0);
    double *work = tree_work_create(tree, 1), h = 0.01;
    double *q = base_alloc((size_t)(3 * (tree->nq + tree->nv) + 1) * sizeof *q);
    if (work == NULL || q == NULL)
        return;
    double *v = q + tree->nq, *a = v + tree->nv, *next = a + tree->nv;
    int bad[2];
    dice d = dice_of(seed);
    tree_random_q(tree, &d, q);
    tree_random_v(tree, &d, v);
    tree_kinematics(tree, q, work);
    tree_velocities(tree, v, work);
    tree_composite(tree, work);
    tree_factor(tree, NULL, work, &bad[0]);
    tree_articulate(tree, NULL, work, &bad[1]);
    tree_passive(tree, q, v, next);
    tree_forward(tree, next, NULL, work, a);
    tree_advance(tree, q, a, &h, next);
    tree_difference(tree, q, next, v);
    t->hash = hash_numbers(t->hash, work, tree->at.count);
    t->hash = hash_numbers(t->hash, q, 3 * tree->nq);
    if (t->each)
        printf("%016" PRIx64 "  tree %" PRIu64 "\n", t->hash, seed);
    t->numbers += tree->at.count + 3 * tree->nq;
    t->solved += !bad[0] && !bad[1];
    t->scenes++;
    base_free(q);
    base_free(work);
    tree_free(tree);
}

int main(int argc, char **argv)
{
    tally t = {.hash = UINT64_C(14695981039346656037)};
    t.each = argc > 1 && strcmp(argv[1], "each") == 0;

    scene_random_params hard = scene_random_everything(1), easy = scene_random_everything(0.3);
    hard.n_max = easy.n_max = 30; /* quick under the sanitizers too */
    for (uint64_t seed = 1; seed <= 90; seed++) {
        add_scene(&t, scene_random(seed, &hard), ZW_CONTACT_CONVEX);
        add_scene(&t, scene_random(seed, &easy), ZW_CONTACT_CONVEX);
    }
    for (int family = 0; family < SCENE_FAMILIES; family++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            if (family == SCENE_STACK_TALL && seed > 1)
                continue;
            add_scene(&t, scene_contact((scene_family)family, seed), ZW_CONTACT_COULOMB);
            add_scene(&t, scene_contact((scene_family)family, seed), ZW_CONTACT_CONVEX);
        }
    for (int links = 3; links <= 3000; links *= 10)
        add_scene(&t, scene_chain(links), ZW_CONTACT_COULOMB);
    add_scene(&t, scene_net(7, 5), ZW_CONTACT_COULOMB);
    add_scene(&t, scene_net(20, 30), ZW_CONTACT_COULOMB);

    add_examples(&t);
    add_robots(&t);
    for (uint64_t seed = 1; seed <= 40; seed++)
        add_tree(&t, seed);

    printf("bits %016" PRIx64 " over %d scenes, %d solved, %ld numbers\n", t.hash, t.scenes,
           t.solved, t.numbers);
    return 0;
}
