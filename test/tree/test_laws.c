/* Laws of mechanics: power, momentum, and a free body's own. */
#include "trying.h"

enum { TREES = 40 };

/* Energy along q (+) s v, v + s a: its slope at 0 is that of the motion. */
static void energy_later(void *user, double s, double *value)
{
    trying *t = user;
    double *q = doubles(t->tree->nq), *v = doubles(t->tree->nv);
    double *work = tree_work_create(t->tree, 1), energy[2];
    tree_advance(t->tree, t->q, t->v, &s, q);
    for (int d = 0; d < t->tree->nv; d++) {
        v[d] = t->v[d] + s * t->a[d];
    }
    tree_kinematics(t->tree, q, work);
    tree_velocities(t->tree, v, work);
    tree_energies(t->tree, q, v, work, energy);
    value[0] = energy[0] + energy[1];
    value[1] = energy[0];
    free(q);
    free(v);
    base_free(work);
}

/* Springs are in the energy; so the power is that of tau, dampers and wrenches. Quaternions are
 * kept off the half turn from the springs' rest, where |log| has a fold. */
static void energy_grows_by_the_power(void **state)
{
    (void)state;
    FOR_RANDOM_TREES(t, TREES, 2.0)
    {
        int n = t.tree->nv, bad;
        double power = 0.0, rate[2], *passive = doubles(n), size;
        for (int j = 0; j < t.tree->joints; j++) {
            const tree_joint *joint = t.tree->joint + j;
            int turning = joint->kind == TREE_FREE ? 3 : 0;
            if (joint->kind <= TREE_BALL) {
                double *x = t.q + joint->q + turning;
                const double *rest = t.tree->q_spring + joint->q + turning;
                for (int k = 0; k < 4; k++) {
                    x[k] += 2.0 * rest[k];
                }
            }
        }
        tree_kinematics(t.tree, t.q, t.work);
        tree_velocities(t.tree, t.v, t.work);
        tree_passive(t.tree, t.q, t.v, passive);
        for (int d = 0; d < n; d++) {
            t.x[d] = t.tau[d] + passive[d];
            power += (t.tau[d] - t.tree->damping[d] * t.v[d]) * t.v[d];
        }
        for (int i = 1; i < t.tree->bodies; i++) {
            for (int k = 0; k < 6; k++) {
                power += t.wrench[6 * i + k] * t.work[t.tree->at.V + 6 * i + k];
            }
        }
        tree_articulate(t.tree, NULL, t.work, &bad);
        tree_forward(t.tree, t.x, t.wrench, t.work, t.a);
        slope(energy_later, &t, 2, 1e-3 / (1.0 + 0.01 * largest(t.a, n)), rate);
        energy_later(&t, 0.0, t.y);
        size = fabs(rate[1]) + fabs(power) + 100.0 * (1.0 + fabs(t.y[0]) + t.y[1]);
        assert_small(fabs(rate[0] - power), 1e-9 * size);
        free(passive);
    }
}

/* p along q (+) s v, v + s a. */
static void momenta_later(void *user, double s, double *p)
{
    trying *t = user;
    double *q = doubles(t->tree->nq), *v = doubles(t->tree->nv), *g = doubles(t->tree->nv);
    double *work = tree_work_create(t->tree, 1);
    tree_advance(t->tree, t->q, t->v, &s, q);
    for (int d = 0; d < t->tree->nv; d++) {
        v[d] = t->v[d] + s * t->a[d];
    }
    tree_kinematics(t->tree, q, work);
    tree_velocities(t->tree, v, work);
    tree_momenta(t->tree, v, work, p, g);
    free(q);
    free(v);
    free(g);
    base_free(work);
}

/* p = M v, and p' = g + tau for the motion that tau brings about: Newton and Lagrange agree. */
static void momenta_change_by_forces(void **state)
{
    (void)state;
    FOR_RANDOM_TREES(t, TREES, 1.0)
    {
        int n = t.tree->nv, bad;
        double *g = doubles(n), *rate = doubles(n);
        tree_articulate(t.tree, NULL, t.work, &bad);
        tree_forward(t.tree, t.tau, NULL, t.work, t.a);
        tree_momenta(t.tree, t.v, t.work, t.x, g);
        tree_inertia_times(t.tree, t.v, t.work, t.y);
        assert_small(apart(t.x, t.y, n), 1e-13 * (1.0 + largest(t.x, n)));

        slope(momenta_later, &t, n, 1e-3 / (1.0 + 0.01 * largest(t.a, n)), rate);
        for (int d = 0; d < n; d++) {
            g[d] += t.tau[d];
        }
        assert_small(apart(rate, g, n), 1e-9 * (1.0 + largest(t.x, n) + largest(g, n)));
        free(g);
        free(rate);
    }
}

/* One step of order 4 for q' = N(q) v, v' = a. */
static void step(trying *t, const double *tau, double h)
{
    static const double c[4] = {0.0, 0.5, 0.5, 1.0}, b[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    int n = t->tree->nv, m = t->tree->nq, bad;
    double *a = doubles(n), *rate = doubles(m), *v = doubles(n), *q = doubles(m);
    double *v_end = doubles(n), *q_end = doubles(m);
    memcpy(v_end, t->v, (size_t)n * sizeof *v);
    memcpy(q_end, t->q, (size_t)m * sizeof *q);
    for (int s = 0; s < 4; s++) {
        for (int d = 0; d < n; d++) {
            v[d] = t->v[d] + c[s] * h * a[d];
        }
        for (int k = 0; k < m; k++) {
            q[k] = t->q[k] + c[s] * h * rate[k];
        }
        tree_kinematics(t->tree, q, t->work);
        tree_velocities(t->tree, v, t->work);
        tree_articulate(t->tree, NULL, t->work, &bad);
        tree_forward(t->tree, tau, NULL, t->work, a);
        tree_rates(t->tree, q, v, rate);
        for (int d = 0; d < n; d++) {
            v_end[d] += h * b[s] * a[d];
        }
        for (int k = 0; k < m; k++) {
            q_end[k] += h * b[s] * rate[k];
        }
    }
    memcpy(t->v, v_end, (size_t)n * sizeof *v);
    memcpy(t->q, q_end, (size_t)m * sizeof *q);
    double *const list[] = {a, rate, v, q, v_end, q_end};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        free(list[k]);
    }
}

static void momentum_now(trying *t, double *momentum)
{
    tree_kinematics(t->tree, t->q, t->work);
    tree_velocities(t->tree, t->v, t->work);
    tree_momentum(t->tree, t->work, momentum);
}

/* A floating tree: a free trunk, no gravity, and any forces within. */
static tree_mechanism *floating(uint64_t seed)
{
    tree_sketch *s = tree_random_sketch(seed, 9, 1.0), *f = sketch_new(0.0);
    sketch_body(f, 0, 0.0, 0.0, 0.0);
    sketch_joint(f, TREE_FREE, 0.0, 0.0, 0.0);
    sketch_rod(f, 1.0, 0.2, (double[3]){0.1, 0.0, 0.2}, (double[3]){-0.3, 0.4, 0.1});
    for (int i = 1, joint = 0; i < s->def.body_count; i++) {
        sketch_body(f, s->body[i].parent + 1, 0.0, 0.0, 0.0);
        tree_body_def *body = f->body + i + 1;
        int parent = body->parent, count = s->body[i].joint_count;
        *body = s->body[i];
        body->parent = parent;
        body->joint_count = 0;
        for (int k = 0; k < count; k++, joint++) {
            if (s->joint[joint].kind != TREE_FREE) {
                tree_joint_def *copy = sketch_joint(f, s->joint[joint].kind, 0.0, 0.0, 1.0);
                *copy = s->joint[joint];
                copy->armature = 0.0; /* the inertia of rotors is not in the momentum */
            }
        }
    }
    tree_free(sketch_finish(s));
    return sketch_finish(f);
}

static void momentum_of_a_floating_tree_stays(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        trying t = try_tree(floating(seed), seed);
        double before[9], after[9];
        const double h = 2.5e-4;
        for (int d = 0; d < t.tree->nv; d++) {
            t.v[d] *= 0.3;
            t.tau[d] = d < 6 ? 0.0 : 0.2 * t.tau[d];
        }
        momentum_now(&t, before);
        for (int k = 0; k < 100; k++) {
            step(&t, t.tau, h);
        }
        momentum_now(&t, after);
        assert_small(apart(before + 3, after + 3, 6), 1e-8 * (1.0 + largest(before + 3, 6)));

        /* the centre goes on with P / m */
        for (int k = 0; k < 3; k++) {
            before[k] += 100.0 * h * before[3 + k] / t.tree->body[0].subtree_mass;
        }
        assert_small(apart(before, after, 3), 1e-8);
        try_free(&t);
    }
}

/* At the instant, to rounding: forces within give no rate of momentum, F at the trunk is zero. */
static void forces_within_leave_momentum_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        trying t = try_tree(floating(seed), seed);
        int bad;
        double rate[6] = {0}, size = 1.0;
        memset(t.tau, 0, 6 * sizeof *t.tau);
        tree_articulate(t.tree, NULL, t.work, &bad);
        tree_forward(t.tree, t.tau, NULL, t.work, t.a);
        for (int i = 1; i < t.tree->bodies; i++) {
            const double *A = t.work + t.tree->at.A + 6 * i;
            for (int k = 0; k < 3; k++) {
                rate[k] += t.tree->body[i].mass * A[3 + k];
                size += t.tree->body[i].mass * fabs(A[3 + k]);
            }
        }
        assert_small(largest(rate, 3), 1e-12 * size);
        try_free(&t);
    }
}

/* Euler's equations: I w' + w x I w = 0 along the body's axes, the centre in straight motion. */
static void free_body_follows_euler(void **state)
{
    (void)state;
    tree_sketch *s = sketch_new(0.0);
    sketch_body(s, 0, 0.0, 0.0, 0.0);
    sketch_joint(s, TREE_FREE, 0.0, 0.0, 0.0);
    s->body[1].mass = 2.0;
    s->body[1].inertia[0] = 1.0;
    s->body[1].inertia[1] = 2.0;
    s->body[1].inertia[2] = 3.0;
    trying t = try_tree(sketch_finish(s), 5);
    const double *w = t.v + 3;
    double euler[6] = {0.0,
                       0.0,
                       0.0,
                       (2.0 - 3.0) * w[1] * w[2] / 1.0,
                       (3.0 - 1.0) * w[2] * w[0] / 2.0,
                       (1.0 - 2.0) * w[0] * w[1] / 3.0};
    int bad;
    memset(t.tau, 0, 6 * sizeof *t.tau);
    tree_articulate(t.tree, NULL, t.work, &bad);
    tree_forward(t.tree, t.tau, NULL, t.work, t.a);
    assert_small(apart(t.a, euler, 6), 1e-14);
    try_free(&t);
}

/* Speed has no effect on forces, nor on the angular momentum about the centre of mass: a tree that
 * flies by at a thousand times its own speeds. */
static void absolute_velocity_does_not_matter(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        trying t = try_tree(floating(seed), seed);
        const double fast = 8192.0;
        double here[9], there[9], mass = t.tree->body[0].subtree_mass;
        tree_inverse(t.tree, NULL, NULL, t.work, t.x);
        tree_momentum(t.tree, t.work, here);
        t.v[0] += fast;
        tree_velocities(t.tree, t.v, t.work);
        tree_inverse(t.tree, NULL, NULL, t.work, t.y);
        tree_momentum(t.tree, t.work, there);
        assert_memory_equal(t.x, t.y, (size_t)t.tree->nv * sizeof *t.x);
        assert_small(fabs(there[3] - here[3] - mass * fast), 1e-12 * mass * fast);
        assert_small(apart(there + 6, here + 6, 3), 1e-12 * mass * fast);
        try_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_grows_by_the_power),
        cmocka_unit_test(momenta_change_by_forces),
        cmocka_unit_test(momentum_of_a_floating_tree_stays),
        cmocka_unit_test(forces_within_leave_momentum_alone),
        cmocka_unit_test(free_body_follows_euler),
        cmocka_unit_test(absolute_velocity_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
