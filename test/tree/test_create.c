/* Definitions that are no trees, tables that are right, memory that is missing. */
#include "trying.h"

#include "tree/fuse.h"

enum { BODIES = 4, JOINTS = 4 };

typedef struct draft {
    tree_body_def body[BODIES];
    tree_joint_def joint[JOINTS];
    tree_def def;
} draft;

/* The world, a floating trunk with a hinged and slid arm, and a pendulum on a ball. */
static void draw(draft *d)
{
    *d = (draft){.body = {tree_body_default(-1), tree_body_default(0), tree_body_default(1),
                          tree_body_default(0)},
                 .joint = {tree_joint_default(TREE_FREE), tree_joint_default(TREE_HINGE),
                           tree_joint_default(TREE_SLIDE), tree_joint_default(TREE_BALL)}};
    for (int i = 1; i < BODIES; i++) {
        d->body[i].mass = 1.0;
        d->body[i].inertia[0] = d->body[i].inertia[1] = d->body[i].inertia[2] = 0.1;
        d->body[i].joint_count = i == 2 ? 2 : 1;
    }
    d->def = (tree_def){.gravity = {0.0, 0.0, -9.81},
                        .body_count = BODIES,
                        .body = d->body,
                        .joint_count = JOINTS,
                        .joint = d->joint};
}

static void tables(void **state)
{
    (void)state;
    draft d;
    draw(&d);
    d.body[3].mass = 2.5;
    d.joint[1].rest = 0.5;
    d.joint[1].spring = 0.25;
    d.body[1].pos[2] = 7.0;
    tree_mechanism *tree = tree_create(&d.def, NULL);
    assert_non_null(tree);
    assert_int_equal(tree->nq, 7 + 1 + 1 + 4);
    assert_int_equal(tree->nv, 6 + 1 + 1 + 3);
    assert_int_equal(tree->entries, 21 + 7 + 8 + 6);
    const int parents[] = {-1, 0, 1, 2, 3, 4, 5, 6, -1, 8, 9};
    assert_memory_equal(tree->dof_parent, parents, sizeof parents);
    const int last_row[] = {8, 9, 10};
    assert_memory_equal(tree->column + tree->start[10], last_row, sizeof last_row);
    assert_int_equal(tree->start[11], tree->entries);
    assert_true(tree->body[0].subtree_mass == 4.5 && tree->body[1].subtree_mass == 2.0);
    const double rest[] = {0, 0, 7, 1, 0, 0, 0, 0.5, 0, 1, 0, 0, 0};
    assert_memory_equal(tree->q_rest, rest, sizeof rest);
    assert_true(tree->q_spring[7] == 0.25);
    tree_free(tree);

    /* the world alone has nothing to compute, and nothing breaks */
    d.def.body_count = 1;
    d.def.joint_count = 0;
    tree = tree_create(&d.def, NULL);
    assert_non_null(tree);
    double *work = tree_work_create(tree, 1), none;
    int bad;
    tree_kinematics(tree, &none, work);
    tree_velocities(tree, &none, work);
    tree_articulate(tree, NULL, work, &bad);
    tree_forward(tree, &none, NULL, work, &none);
    base_free(work);
    tree_free(tree);
}

/* Each spoils one thing. */
static void parent_after(draft *d)
{
    d->body[2].parent = 2;
}
static void parent_none(draft *d)
{
    d->body[2].parent = -1;
}
static void world_moves(draft *d)
{
    d->body[0].parent = 0;
}
static void forgotten_quat(draft *d)
{
    memset(d->body[3].quat, 0, sizeof d->body[3].quat);
}
static void nan_mass(draft *d)
{
    d->body[1].mass = (double)NAN;
}
static void negative_mass(draft *d)
{
    d->body[1].mass = -1.0;
}
static void no_inertia(draft *d)
{
    d->body[1].inertia[3] = 0.2;
}
static void negative_inertia(draft *d)
{
    d->body[1].inertia[1] = -0.1;
}
static void too_few_joints(draft *d)
{
    d->body[3].joint_count = 2;
}
static void too_many_joints(draft *d)
{
    d->body[3].joint_count = 0;
}
static void no_kind(draft *d)
{
    d->joint[3].kind = (tree_joint_kind)0;
}
static void no_axis(draft *d)
{
    d->joint[1].axis[2] = 0.0;
}
static void inner_free(draft *d)
{
    d->joint[1].kind = TREE_FREE;
}
static void negative_armature(draft *d)
{
    d->joint[1].armature = -1.0;
}
static void infinite_rest(draft *d)
{
    d->joint[1].rest = (double)INFINITY;
}
static void infinite_gravity(draft *d)
{
    d->def.gravity[0] = (double)INFINITY;
}

static void what_is_no_tree_is_reported(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(draft *);
        const char *says;
    } cases[] = {{parent_after, "body 2 has parent 2"},
                 {parent_none, "body 2 has parent -1"},
                 {world_moves, "body 0 must be the world"},
                 {forgotten_quat, "body 3 has no orientation"},
                 {nan_mass, "body 1 has a number that is not finite"},
                 {negative_mass, "body 1 has a negative mass"},
                 {no_inertia, "body 1 has a negative moment"},
                 {negative_inertia, "body 1 has a negative moment"},
                 {too_few_joints, "body 3 has 2 joints, but only 1 are left"},
                 {too_many_joints, "1 joints belong to no body"},
                 {no_kind, "joint 3 of body 3 has no kind"},
                 {no_axis, "joint 1 of body 2 has no axis"},
                 {inner_free, "joint 1 of body 2 is free"},
                 {negative_armature, "joint 1 of body 2 has a negative armature"},
                 {infinite_rest, "joint 1 of body 2 has a number that is not finite"},
                 {infinite_gravity, "gravity is not finite"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        draft d;
        zw_error error = {0};
        draw(&d);
        cases[k].spoil(&d);
        assert_null(tree_create(&d.def, &error));
        assert_int_equal(error.status, ZW_BAD_INPUT);
        if (strstr(error.text, cases[k].says) == NULL) {
            fail_msg("'%s' does not say '%s'", error.text, cases[k].says);
        }
    }
}

/* Welded bodies: fused or not, the same motion; and their frames are where the bodies were. */
static void fused_trees_move_alike(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        tree_sketch *s = tree_random_sketch(seed, 25, 1.0);
        tree_fused fused;
        s->def.body = s->body;
        s->def.joint = s->joint;
        assert_int_equal(tree_fuse(&s->def, &fused, NULL), ZW_OK);
        trying two = try_tree(tree_create(&fused.def, NULL), seed);
        trying one = try_tree(sketch_finish(s), seed);
        int n = one.tree->nv, bad[2];
        assert_int_equal(two.tree->nv, n);
        assert_int_equal(two.tree->joints, one.tree->joints);
        tree_articulate(one.tree, NULL, one.work, &bad[0]);
        tree_articulate(two.tree, NULL, two.work, &bad[1]);
        assert_false(bad[0] || bad[1]);
        tree_forward(one.tree, one.tau, NULL, one.work, one.a);
        tree_forward(two.tree, one.tau, NULL, two.work, two.a);
        assert_small(apart(one.a, two.a, n), 1e-9 * largest(one.a, n));
        tree_composite(one.tree, one.work);
        tree_composite(two.tree, two.work);
        const double *M = one.work + one.tree->at.M;
        assert_small(apart(M, two.work + two.tree->at.M, one.tree->entries),
                     1e-13 * largest(M, one.tree->entries));
        for (int i = 0; i < one.tree->bodies; i++) {
            double place[3];
            const tree_frame *frame = fused.frame + i;
            tree_point(two.tree, frame->body, frame->pos, two.work, place);
            assert_small(apart(place, one.work + one.tree->at.origin + 3 * i, 3), 1e-13 * 10);
        }
        tree_fused_free(&fused);
        try_free(&one);
        try_free(&two);
    }
}

static void missing_memory_is_reported(void **state)
{
    (void)state;
    draft d;
    draw(&d);
    for (int k = 1;; k++) {
        zw_error error = {0};
        base_alloc_fail_after(k);
        tree_mechanism *tree = tree_create(&d.def, &error);
        base_alloc_fail_after(0);
        if (tree != NULL) {
            assert_int_equal(k, 3);
            tree_free(tree);
            break;
        }
        assert_int_equal(error.status, ZW_NO_MEMORY);
        tree_fused fused;
        base_alloc_fail_after(k);
        assert_int_equal(tree_fuse(&d.def, &fused, &error), ZW_NO_MEMORY);
        base_alloc_fail_after(0);
    }
}

/* A chain whose matrix would not fit: only O(n) will do, and does. */
static void long_chains_have_no_matrix(void **state)
{
    (void)state;
    enum { LINKS = 100000 };
    tree_body_def *body = calloc(LINKS + 1, sizeof *body);
    tree_joint_def joint = tree_joint_default(TREE_HINGE), *joints = calloc(LINKS, sizeof joint);
    zw_error error = {0};
    assert_true(body != NULL && joints != NULL);
    body[0] = tree_body_default(-1);
    for (int i = 1; i <= LINKS; i++) {
        body[i] = tree_body_default(i - 1);
        body[i].mass = body[i].inertia[0] = body[i].inertia[1] = body[i].inertia[2] = 1.0;
        body[i].joint_count = 1;
        joints[i - 1] = joint;
    }
    tree_def def = {.body_count = LINKS + 1, .body = body, .joint_count = LINKS, .joint = joints};
    assert_null(tree_create(&def, &error));
    assert_int_equal(error.status, ZW_TOO_LARGE);
    def.without_matrix = 1;
    tree_mechanism *tree = tree_create(&def, &error);
    assert_non_null(tree);
    assert_int_equal(tree_chain(tree, LINKS, NULL), LINKS);
    tree_free(tree);
    free(body);
    free(joints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(what_is_no_tree_is_reported),
        cmocka_unit_test(fused_trees_move_alike),
        cmocka_unit_test(missing_memory_is_reported),
        cmocka_unit_test(long_chains_have_no_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
