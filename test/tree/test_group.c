/* Equal trees, worked on together, have the bits of the sweeps over all of them: every array. */
#include "trying.h"

#include "tree/group.h"

enum { COPIES = 11, SEEDS = 40 };

/* Copies of a sketch, one beside the other; free bodies are put elsewhere each time. The last copy
 * has another mass where `odd` is set: it is of a kind of its own. */
static tree_mechanism *copies_of(uint64_t seed, int bodies, int odd)
{
    tree_sketch *one = tree_random_sketch(seed, bodies, 1.0);
    int count = one->def.body_count - 1, joints = one->def.joint_count;
    tree_body_def *body = calloc((size_t)(COPIES * count + 1), sizeof *body);
    tree_joint_def *joint = calloc((size_t)(COPIES * joints + 1), sizeof *joint);
    assert_non_null(body);
    assert_non_null(joint);
    body[0] = one->body[0];
    for (int c = 0; c < COPIES; c++) {
        for (int i = 1, first = 0; i <= count; first += one->body[i++].joint_count) {
            tree_body_def *to = &body[c * count + i];
            *to = one->body[i];
            to->parent += to->parent > 0 ? c * count : 0;
            if (to->joint_count > 0 && one->joint[first].kind == TREE_FREE) {
                to->pos[0] += 3.0 * c;
            }
            to->mass *= odd && c == COPIES - 1 && i == 1 ? 2 : 1;
        }
        memcpy(joint + c * joints, one->joint, (size_t)joints * sizeof *joint);
    }
    tree_def def = one->def;
    def.body_count = COPIES * count + 1;
    def.joint_count = COPIES * joints;
    def.body = body;
    def.joint = joint;
    tree_mechanism *tree = tree_create(&def, NULL);
    assert_non_null(tree);
    tree_free(sketch_finish(one));
    free(body);
    free(joint);
    return tree;
}

static void assert_bits(const char *what, const double *x, const double *y, int n)
{
    for (int k = 0; k < n; k++) {
        if (memcmp(x + k, y + k, sizeof *x) != 0) {
            fail_msg("%s: number %d of %d: %.17g, not %.17g", what, k, n, x[k], y[k]);
        }
    }
}

static void compare(trying *t, tree_group *group)
{
    const tree_mechanism *tree = t->tree;
    const tree_places *at = &tree->at;
    double *work = tree_work_create(tree, 1);
    assert_non_null(work);
    int bad = 0;
    tree_composite(tree, t->work);
    tree_inverse(tree, NULL, NULL, t->work, t->x);
    const double *bias = tree_group_smooth(group, t->q, t->v, work);
    assert_bits("bias", bias, t->x, tree->nv);
    assert_bits("places and motions", work + at->quat, t->work + at->quat, at->V - at->quat);
    assert_bits("speeds", work + at->V, t->work + at->V, at->A - at->V);
    assert_bits("masses", work + at->M, t->work + at->M, tree->entries);

    for (int d = 0; d < tree->nv; d++) {
        t->z[d] = 0.1 + 0.01 * (d % 7);
        t->y[d] = t->x[d] = t->tau[d];
    }
    tree_factor(tree, t->z, t->work, &bad);
    tree_solve(tree, t->work, t->x);
    assert_int_equal(tree_group_solve(group, t->z, t->y), !bad);
    assert_bits("solution", t->y, t->x, tree->nv);
    base_free(work);
}

static void test_bits(void **unused)
{
    (void)unused;
    int groups = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (int odd = 0; odd < 2; odd++) {
            trying t = try_tree(copies_of(seed, 6 + (int)seed % 9, odd), seed + 100);
            int failed;
            tree_group *group = tree_group_create(t.tree, &failed);
            assert_false(failed);
            if (group) {
                compare(&t, group);
                groups++;
            }
            tree_group_free(group);
            try_free(&t);
        }
    }
    if (groups < SEEDS / 4) { /* of many the bodies do not stand together */
        fail_msg("only %d groups", groups);
    }
}

/* One tree, or all different: the usual sweeps are better. */
static void test_none(void **unused)
{
    (void)unused;
    int failed = 1;
    trying t = try_tree(tree_humanoid(1), 1);
    assert_null(tree_group_create(t.tree, &failed));
    assert_false(failed);
    try_free(&t);
}

static void test_memory(void **unused)
{
    (void)unused;
    for (int k = 1, more = 1; more; k++) {
        int failed;
        trying t = try_tree(copies_of(3, 9, 0), 1);
        base_alloc_fail_after(k);
        tree_group *group = tree_group_create(t.tree, &failed);
        base_alloc_fail_after(0);
        assert_true(!failed || !group);
        more = failed;
        if (!failed) {
            assert_non_null(group);
        }
        tree_group_free(group);
        try_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits), cmocka_unit_test(test_none),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
