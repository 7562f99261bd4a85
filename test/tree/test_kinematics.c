/* Places, velocities and accelerations are derivatives of each other, along the exponential map. */
#include "trying.h"

enum { TREES = 40 };

/* A point of a body while the tree moves on from t->q with t->v (and t->a): its place, the columns
 * of the body's axes, and its velocity. */
typedef struct moving {
    trying *t;
    double *q, *v, *work; /* of the moment */
    int body;
    const double *local;
} moving;

static void place_later(void *user, double s, double *value)
{
    moving *m = user;
    tree_advance(m->t->tree, m->t->q, m->t->v, &s, m->q);
    tree_kinematics(m->t->tree, m->q, m->work);
    tree_point(m->t->tree, m->body, m->local, m->work, value);
    memcpy(value + 3, m->work + m->t->tree->at.R + 9 * m->body, 9 * sizeof *value);
}

/* q (+) (s v + s^2/2 a) has these speeds and accelerations at s = 0, where exp'' along a fixed
 * direction adds nothing. */
static void velocity_later(void *user, double s, double *value)
{
    moving *m = user;
    double one = 1.0, place[3];
    for (int d = 0; d < m->t->tree->nv; d++) {
        m->v[d] = s * m->t->v[d];
    }
    tree_advance(m->t->tree, m->t->q, m->v, &one, m->q);
    for (int d = 0; d < m->t->tree->nv; d++) {
        m->v[d] = m->t->v[d] + s * m->t->a[d];
    }
    tree_kinematics(m->t->tree, m->q, m->work);
    tree_velocities(m->t->tree, m->v, m->work);
    tree_point(m->t->tree, m->body, m->local, m->work, place);
    tree_point_velocity(m->t->tree, m->body, place, m->work, value);
}

static moving moving_of(trying *t, const double *local)
{
    return (moving){.t = t,
                    .q = doubles(t->tree->nq),
                    .v = doubles(t->tree->nv),
                    .work = tree_work_create(t->tree, 1),
                    .local = local};
}

static void moving_free(moving *m)
{
    free(m->q);
    free(m->v);
    base_free(m->work);
}

static void velocities_are_rates_of_places(void **state)
{
    (void)state;
    const double local[3] = {0.3, -0.2, 0.5};
    FOR_RANDOM_TREES(t, TREES, 1.0)
    {
        moving m = moving_of(&t, local);
        for (m.body = 0; m.body < t.tree->bodies; m.body += 1 + t.tree->bodies / 7) {
            double rate[12], place[3], V[6];
            slope(place_later, &m, 12, 2e-3, rate);
            tree_point(t.tree, m.body, local, t.work, place);
            tree_point_velocity(t.tree, m.body, place, t.work, V);
            double size = 1.0 + largest(V, 6);
            assert_small(apart(V + 3, rate, 3), 1e-9 * size);

            /* R' = omega x R, column by column */
            const double *R = t.work + t.tree->at.R + 9 * m.body;
            for (int c = 0; c < 3; c++) {
                double x = V[1] * R[6 + c] - V[2] * R[3 + c];
                double y = V[2] * R[c] - V[0] * R[6 + c];
                double z = V[0] * R[3 + c] - V[1] * R[c];
                double turned[3] = {x, y, z};
                double column[3] = {rate[3 + c], rate[6 + c], rate[9 + c]};
                assert_small(apart(turned, column, 3), 1e-9 * size);
            }
        }
        moving_free(&m);
    }
}

static void accelerations_are_rates_of_velocities(void **state)
{
    (void)state;
    const double local[3] = {-0.1, 0.4, 0.2};
    FOR_RANDOM_TREES(t, TREES, 1.0)
    {
        moving m = moving_of(&t, local);
        tree_accelerations(t.tree, t.a, t.work);
        for (m.body = 0; m.body < t.tree->bodies; m.body += 1 + t.tree->bodies / 7) {
            double rate[6], place[3], A[6];
            slope(velocity_later, &m, 6, 2e-3, rate);
            tree_point(t.tree, m.body, local, t.work, place);
            tree_point_acceleration(t.tree, m.body, place, t.work, A);
            assert_small(apart(A, rate, 6), 1e-9 * (1.0 + largest(A, 6)));
        }
        moving_free(&m);
    }
}

static void jacobians_give_velocities(void **state)
{
    (void)state;
    FOR_RANDOM_TREES(t, TREES, 1.0)
    {
        int *chain = calloc((size_t)t.tree->nv + 1, sizeof *chain);
        double *J = doubles(6 * t.tree->nv);
        for (int body = 0; body < t.tree->bodies; body++) {
            double place[3], V[6], sum[6] = {0};
            for (int k = 0; k < 3; k++) {
                place[k] = dice_between(&t.dice, -2.0, 2.0);
            }
            int count = tree_chain(t.tree, body, chain);
            assert_int_equal(count, tree_chain(t.tree, body, NULL));
            tree_jacobian(t.tree, body, place, t.work, J);
            for (int k = 0; k < count; k++) {
                assert_true(k == 0 || chain[k] > chain[k - 1]);
                for (int row = 0; row < 6; row++) {
                    sum[row] += J[6 * k + row] * t.v[chain[k]];
                }
            }
            tree_point_velocity(t.tree, body, place, t.work, V);
            assert_small(apart(V, sum, 6), 1e-13 * (1.0 + 10 * largest(V, 6)) * (1 + count));
        }
        free(chain);
        free(J);
    }
}

/* from (+) (q (-) from) = q, quaternions up to sign and length; and (q (+) v) (-) q = v for turns
 * below half a round. */
static void differences_undo_advances(void **state)
{
    (void)state;
    FOR_RANDOM_TREES(t, TREES, 1.0)
    {
        double one = 1.0, none = 0.0, third = 0.3;
        tree_random_q(t.tree, &t.dice, t.x);
        tree_difference(t.tree, t.x, t.q, t.y);
        tree_advance(t.tree, t.q, t.y, &one, t.z);
        tree_difference(t.tree, t.z, t.x, t.y);
        assert_small(largest(t.y, t.tree->nv), 1e-14);
        tree_advance(t.tree, t.q, t.v, &third, t.z);
        tree_difference(t.tree, t.z, t.q, t.y);
        for (int d = 0; d < t.tree->nv; d++) {
            assert_small(fabs(t.y[d] - third * t.v[d]), 1e-14);
        }
        tree_advance(t.tree, t.q, t.v, &none, t.z);
        tree_difference(t.tree, t.z, t.q, t.y);
        assert_small(largest(t.y, t.tree->nv), 1e-15);
        tree_difference(t.tree, t.q, t.q, t.y);
        assert_small(largest(t.y, t.tree->nv), 1e-15);
    }
}

static void configuration_later(void *user, double s, double *value)
{
    trying *t = user;
    tree_advance(t->tree, t->q, t->v, &s, value);
}

/* N(q) v is the rate of the exponential, for unit quaternions. */
static void rates_are_those_of_advances(void **state)
{
    (void)state;
    FOR_RANDOM_TREES(t, TREES, 1.0)
    {
        double none = 0.0;
        tree_advance(t.tree, t.q, t.v, &none, t.q); /* unit */
        tree_rates(t.tree, t.q, t.v, t.x);
        slope(configuration_later, &t, t.tree->nq, 1e-2, t.y);
        assert_small(apart(t.x, t.y, t.tree->nq), 1e-12);
    }
}

/* The length of a quaternion is not part of the state. */
static void lengths_of_quaternions_do_not_matter(void **state)
{
    (void)state;
    FOR_RANDOM_TREES(t, TREES, 1.0)
    {
        double none = 0.0, *other = tree_work_create(t.tree, 1);
        tree_advance(t.tree, t.q, t.v, &none, t.x);
        tree_kinematics(t.tree, t.x, other);
        assert_small(apart(other, t.work, t.tree->at.inertia), 1e-13 * 10);
        base_free(other);
    }
}

/* A hand-made one: a slide along x, then hinges about z at (1, 0, 0) and, in the body so turned,
 * about x; the body is given at (0, 0, 2) in the world. */
static void joints_of_a_body_act_in_turn(void **state)
{
    (void)state;
    tree_sketch *s = sketch_new(0.0);
    sketch_body(s, 0, 0.0, 0.0, 2.0);
    sketch_joint(s, TREE_SLIDE, 3.0, 0.0, 0.0);
    tree_joint_def *hinge = sketch_joint(s, TREE_HINGE, 0.0, 0.0, 5.0);
    hinge->anchor[0] = 1.0;
    hinge->rest = 0.25;
    sketch_joint(s, TREE_HINGE, 1.0, 0.0, 0.0);
    s->body[1].mass = 1.0;
    trying t = try_tree(sketch_finish(s), 1);
    const double quarter = 1.57079632679489661923;
    const double q[3] = {0.5, 0.25 + quarter, quarter}, local[3] = {0.0, 0.0, 1.0};
    double place[3];
    tree_kinematics(t.tree, q, t.work);

    /* the origin: to (0.5, 0, 2), then about (1.5, 0, 2) by a quarter: (1.5, -1, 2) */
    tree_point(t.tree, 1, local, t.work, place);
    const double *origin = t.work + t.tree->at.origin + 3;
    assert_small(apart(origin, (double[3]){1.5, -1.0, 2.0}, 3), 1e-15);
    /* the second axis is now y; a quarter about it takes z to x */
    assert_small(apart(t.work + t.tree->at.S + 12, (double[3]){0.0, 1.0, 0.0}, 3), 1e-15);
    assert_small(apart(place, (double[3]){2.5, -1.0, 2.0}, 3), 1e-15);
    assert_small(apart(t.work + t.tree->at.anchor + 3, (double[3]){1.5, 0.0, 2.0}, 3), 1e-15);
    try_free(&t);
}

/* How far away everything is does not touch the dynamics: not a bit. */
static void far_from_the_origin(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const double far = 1e9;
        trying near = try_tree(tree_random(seed, 12, 1.0), seed);
        tree_sketch *s = tree_random_sketch(seed, 12, 1.0);
        for (int i = 1; i < s->def.body_count; i++) {
            s->body[i].pos[0] += s->body[i].parent == 0 ? far : 0.0;
        }
        trying there = try_tree(sketch_finish(s), seed);
        for (int j = 0; j < there.tree->joints; j++) {
            int q = there.tree->joint[j].q;
            there.q[q] += there.tree->joint[j].kind == TREE_FREE ? far : 0.0;
        }
        tree_kinematics(there.tree, there.q, there.work);
        tree_velocities(there.tree, there.v, there.work);
        tree_inverse(near.tree, near.a, NULL, near.work, near.x);
        tree_inverse(there.tree, there.a, NULL, there.work, there.x);
        int n = near.tree->nv;
        double most = apart(near.x, there.x, n);
        assert_small(most, 0.0);
        try_free(&near);
        try_free(&there);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_are_rates_of_places),
        cmocka_unit_test(accelerations_are_rates_of_velocities),
        cmocka_unit_test(jacobians_give_velocities),
        cmocka_unit_test(differences_undo_advances),
        cmocka_unit_test(rates_are_those_of_advances),
        cmocka_unit_test(lengths_of_quaternions_do_not_matter),
        cmocka_unit_test(joints_of_a_body_act_in_turn),
        cmocka_unit_test(far_from_the_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
