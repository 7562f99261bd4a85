/* A lane of eight has the bits of the world alone: every sweep, every array of the work. */
#include "trying.h"

enum { TREES = 12 };

typedef struct eight {
    zw_real8 *q, *v, *a, *tau, *wrench, *out, *work;
} eight;

static zw_real8 *reals8(int count)
{
    zw_real8 *x = base_alloc(((size_t)count + 1) * sizeof *x);
    assert_non_null(x);
    return x;
}

static void set_lane(zw_real8 *x, int lane, const double *from, int n)
{
    for (int k = 0; k < n; k++) {
        ((double *)x)[LANES * k + lane] = from[k];
    }
}

static void assert_lane(const char *what, const zw_real8 *x, int lane, const double *alone, int n)
{
    for (int k = 0; k < n; k++) {
        double here = ((const double *)x)[LANES * k + lane];
        if (memcmp(&here, alone + k, sizeof here) != 0 && !(here != here && alone[k] != alone[k])) {
            fail_msg("%s: lane %d, number %d: %.17g, alone %.17g", what, lane, k, here, alone[k]);
        }
    }
}

/* Everything there is, in an order that makes sense; results are appended to `out`. */
#define SWEEP_ALL(LANE, real, mask, tree, q, v, a, tau, wrench, work, out)                         \
    do {                                                                                           \
        int n_ = (tree)->nv, m_ = (tree)->nq;                                                      \
        real *to_ = (out), h_ = (q)[0] * 0.0 + 0.01, place_[3];                                    \
        mask bad_;                                                                                 \
        LANE(tree_kinematics)(tree, q, work);                                                      \
        LANE(tree_velocities)(tree, v, work);                                                      \
        LANE(tree_inverse)(tree, a, wrench, work, to_);                                            \
        LANE(tree_composite)(tree, work);                                                          \
        LANE(tree_factor)(tree, NULL, work, &bad_);                                                \
        to_ += n_;                                                                                 \
        LANE(tree_multiply)(tree, a, work, tau, to_);                                              \
        LANE(tree_solve)(tree, work, to_);                                                         \
        LANE(tree_solve_lower)(tree, work, to_);                                                   \
        LANE(tree_solve_upper)(tree, work, to_);                                                   \
        LANE(tree_articulate)(tree, NULL, work, &bad_);                                            \
        to_ += n_;                                                                                 \
        LANE(tree_inertia_times)(tree, tau, work, to_);                                            \
        LANE(tree_articulated_solve)(tree, work, to_);                                             \
        LANE(tree_articulated_lower)(tree, work, to_);                                             \
        LANE(tree_articulated_upper)(tree, work, to_);                                             \
        to_ += n_;                                                                                 \
        LANE(tree_inertia_diagonal)(tree, work, to_);                                              \
        to_ += n_;                                                                                 \
        LANE(tree_passive)(tree, q, v, to_);                                                       \
        to_ += n_;                                                                                 \
        LANE(tree_forward)(tree, tau, wrench, work, to_);                                          \
        to_ += n_;                                                                                 \
        LANE(tree_energies)(tree, q, v, work, to_);                                                \
        LANE(tree_momentum)(tree, work, to_ + 2);                                                  \
        to_ += 11;                                                                                 \
        LANE(tree_advance)(tree, q, v, &h_, to_);                                                  \
        LANE(tree_difference)(tree, to_, q, to_ + m_);                                             \
        to_ += m_ + n_;                                                                            \
        LANE(tree_difference)(tree, q, q, to_);                                                    \
        to_ += n_;                                                                                 \
        LANE(tree_rates)(tree, q, v, to_);                                                         \
        to_ += m_;                                                                                 \
        const double local_[3] = {0.1, 0.2, 0.3};                                                  \
        LANE(tree_point)(tree, (tree)->bodies - 1, local_, work, place_);                          \
        LANE(tree_jacobian)(tree, (tree)->bodies - 1, place_, work, to_);                          \
        to_ += 6 * n_;                                                                             \
        LANE(tree_halfway)(tree, q, v, &h_, to_, to_ + m_);                                        \
        to_ += 2 * m_;                                                                             \
        LANE(tree_point_velocity)(tree, (tree)->bodies - 1, place_, work, to_);                    \
        LANE(tree_point_acceleration)(tree, (tree)->bodies - 1, place_, work, to_ + 6);            \
        to_ += 12;                                                                                 \
        LANE(tree_momenta)(tree, v, work, to_, to_ + n_);                                          \
        assert_true(to_ + 2 * n_ == (out) + 16 * n_ + 4 * m_ + 23);                                \
    } while (0)

static void lanes_are_worlds(tree_mechanism *tree, uint64_t seed)
{
    int n = tree->nv, outputs = 16 * n + 4 * tree->nq + 23;
    eight e = {reals8(tree->nq),
               reals8(n),
               reals8(n),
               reals8(n),
               reals8(6 * tree->bodies),
               reals8(outputs),
               tree_work_create(tree, LANES)};
    trying t = try_tree(tree, seed);
    double *out[LANES], *work[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        out[lane] = doubles(outputs);
        work[lane] = tree_work_create(tree, 1);
        set_lane(e.q, lane, t.q, tree->nq);
        set_lane(e.v, lane, t.v, n);
        set_lane(e.a, lane, t.a, n);
        set_lane(e.tau, lane, t.tau, n);
        set_lane(e.wrench, lane, t.wrench, 6 * tree->bodies);
        SWEEP_ALL(TREE_ONE, double, int, tree, t.q, t.v, t.a, t.tau, t.wrench, work[lane],
                  out[lane]);
        tree_random_q(tree, &t.dice, t.q);
        tree_random_v(tree, &t.dice, t.v);
        tree_random_v(tree, &t.dice, t.a);
        if (lane == 2) { /* a world at rest, and one that has gone wrong */
            memset(t.v, 0, (size_t)n * sizeof *t.v);
        } else if (lane == 4) {
            t.q[tree->nq - 1] = (double)NAN;
        }
    }
    SWEEP_ALL(TREE_EIGHT, zw_real8, zw_mask8, tree, e.q, e.v, e.a, e.tau, e.wrench, e.work, e.out);
    for (int lane = 0; lane < LANES; lane++) {
        assert_lane("results", e.out, lane, out[lane], outputs);
        int rest = tree->at.quat; /* before it is padding that only one world uses */
        assert_lane("work", e.work + rest, lane, work[lane] + rest, tree->at.count - rest);
        free(out[lane]);
        base_free(work[lane]);
    }
    zw_real8 *const list[] = {e.q, e.v, e.a, e.tau, e.wrench, e.out, e.work};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        base_free(list[k]);
    }
    try_free(&t);
}

static void random_trees(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        lanes_are_worlds(tree_random(seed + 100, 1 + (int)(seed * 5 % 30), 2.0), seed);
    }
}

static void humanoid(void **state)
{
    (void)state;
    lanes_are_worlds(tree_humanoid(0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees),
        cmocka_unit_test(humanoid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
