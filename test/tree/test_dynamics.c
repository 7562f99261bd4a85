/* One mass matrix, seen from all sides: inverse dynamics, composite inertia, its factors, and the
 * articulated sweep must agree. */
#include "trying.h"

#include "zwang/gauss.h"

enum { TREES = 60 };

/* y = M x by the columns of inverse dynamics: tau(e) - tau(0). */
static double *dense_matrix(trying *t)
{
    int n = t->tree->nv;
    double *M = doubles(n * n), *e = doubles(n);
    for (int d = 0; d < n; d++) {
        e[d] = 1.0;
        tree_inertia_times(t->tree, e, t->work, t->x);
        e[d] = 0.0;
        for (int i = 0; i < n; i++) {
            M[i * n + d] = t->x[i];
        }
    }
    free(e);
    return M;
}

/* Size of the terms that make up M a + bias: what rounding is relative to. */
static double size_of_terms(trying *t, const double *a)
{
    int n = t->tree->nv;
    double *M = dense_matrix(t), most = 0.0;
    tree_inverse(t->tree, NULL, NULL, t->work, t->x);
    for (int i = 0; i < n; i++) {
        double sum = fabs(t->x[i]);
        for (int j = 0; j < n; j++) {
            sum += fabs(M[i * n + j] * a[j]);
        }
        most = sum > most ? sum : most;
    }
    free(M);
    return most;
}

static void inverse_of_forward(double decades, double bound)
{
    FOR_RANDOM_TREES(t, TREES, decades)
    {
        int n = t.tree->nv, bad;
        tree_articulate(t.tree, NULL, t.work, &bad);
        assert_false(bad);
        tree_forward(t.tree, t.tau, t.wrench, t.work, t.a);
        tree_inverse(t.tree, t.a, t.wrench, t.work, t.y);
        assert_small(apart(t.y, t.tau, n), bound * (1.0 + size_of_terms(&t, t.a)));
    }
}

static void inverse_dynamics_undo_forward_dynamics(void **state)
{
    (void)state;
    inverse_of_forward(1.0, 1e-12);
}

static void also_with_masses_over_six_decades(void **state)
{
    (void)state;
    inverse_of_forward(6.0, 1e-12);
}

static void composite_inertia_has_the_columns_of_inverse_dynamics(void **state)
{
    (void)state;
    FOR_RANDOM_TREES(t, TREES, 3.0)
    {
        int n = t.tree->nv;
        double *M = dense_matrix(&t), *rest = doubles(n), *e = doubles(n), size = largest(M, n * n);
        tree_composite(t.tree, t.work);
        tree_inverse(t.tree, NULL, NULL, t.work, rest);
        for (int i = 0; i < n; i++) {
            e[i] = 1.0;
            tree_inverse(t.tree, e, NULL, t.work, t.y);
            e[i] = 0.0;
            int entry = t.tree->start[i];
            for (int j = 0; j < n; j++) {
                double here = 0.0;
                if (j <= i && entry < t.tree->start[i + 1] && t.tree->column[entry] == j) {
                    here = t.work[t.tree->at.M + entry++];
                }
                if (j <= i) { /* below the diagonal, zeros included */
                    assert_small(fabs(M[i * n + j] - here), 1e-13 * size);
                    assert_small(fabs(M[j * n + i] - here), 1e-13 * size);
                }
                assert_small(fabs(t.y[j] - rest[j] - M[j * n + i]),
                             1e-13 * (size + largest(rest, n)));
            }
            assert_int_equal(entry, t.tree->start[i + 1]);
        }
        tree_inertia_diagonal(t.tree, t.work, t.x);
        for (int i = 0; i < n; i++) {
            assert_true(t.x[i] == t.work[t.tree->at.M + t.tree->start[i + 1] - 1]);
        }
        free(M);
        free(rest);
        free(e);
    }
}

static void matrix_times_acceleration_and_bias_are_the_forces(void **state)
{
    (void)state;
    FOR_RANDOM_TREES(t, TREES, 3.0)
    {
        int n = t.tree->nv;
        double size = size_of_terms(&t, t.a);
        tree_composite(t.tree, t.work);
        tree_inverse(t.tree, NULL, NULL, t.work, t.x);
        tree_multiply(t.tree, NULL, t.work, t.a, t.y);
        for (int i = 0; i < n; i++) {
            t.y[i] += t.x[i];
        }
        tree_inverse(t.tree, t.a, NULL, t.work, t.z);
        assert_small(apart(t.y, t.z, n), 1e-13 * (1.0 + size));
    }
}

static void kinetic_energy_is_that_of_the_matrix(void **state)
{
    (void)state;
    FOR_RANDOM_TREES(t, TREES, 6.0)
    {
        double energy[2], twice = 0.0;
        tree_composite(t.tree, t.work);
        tree_multiply(t.tree, NULL, t.work, t.v, t.x);
        for (int i = 0; i < t.tree->nv; i++) {
            twice += t.v[i] * t.x[i];
        }
        tree_energies(t.tree, t.q, t.v, t.work, energy);
        assert_small(fabs(energy[0] - 0.5 * twice), 1e-12 * (1e-6 + energy[0]));
    }
}

/* Both factorisations, alone and in halves, with something on the diagonal. */
static void factors_solve(void **state)
{
    (void)state;
    FOR_RANDOM_TREES(t, TREES, 3.0)
    {
        int n = t.tree->nv, bad[2];
        double *extra = doubles(n), *by_sweep = doubles(n);
        for (int i = 0; i < n; i++) {
            extra[i] = dice_between(&t.dice, 0.0, 1.0);
        }
        tree_composite(t.tree, t.work);
        tree_factor(t.tree, extra, t.work, &bad[0]);
        tree_articulate(t.tree, extra, t.work, &bad[1]);
        assert_false(bad[0] || bad[1]);
        for (int i = 0; i < n; i++) { /* the same pivots */
            double D = t.work[t.tree->at.L + t.tree->start[i + 1] - 1];
            assert_small(fabs(t.work[t.tree->at.pivot + i] / D - 1.0), 1e-8);
        }
        memcpy(t.x, t.tau, (size_t)n * sizeof *t.x);
        memcpy(t.y, t.tau, (size_t)n * sizeof *t.x);
        memcpy(by_sweep, t.tau, (size_t)n * sizeof *t.x);
        tree_solve(t.tree, t.work, t.x);
        tree_articulated_solve(t.tree, t.work, by_sweep);
        assert_small(apart(t.x, by_sweep, n), 1e-9 * largest(t.x, n));
        for (int form = 0; form < 2; form++) {
            const double *x = form ? by_sweep : t.x;
            tree_multiply(t.tree, extra, t.work, x, t.z);
            assert_small(apart(t.z, t.tau, n), 1e-12 * (1.0 + size_of_terms(&t, by_sweep)));
        }
        tree_solve_lower(t.tree, t.work, t.y);
        tree_solve_upper(t.tree, t.work, t.y);
        memcpy(t.x, t.tau, (size_t)n * sizeof *t.x);
        tree_solve(t.tree, t.work, t.x);
        assert_small(apart(t.x, t.y, n), 1e-13 * largest(t.x, n));
        memcpy(t.y, t.tau, (size_t)n * sizeof *t.x);
        tree_articulated_lower(t.tree, t.work, t.y);
        tree_articulated_upper(t.tree, t.work, t.y);
        assert_small(apart(by_sweep, t.y, n), 1e-12 * largest(t.x, n));
        free(extra);
        free(by_sweep);
    }
}

/* Without an inertia along a dof there is no factor, and both say so. */
static void massless_dofs_are_reported(void **state)
{
    (void)state;
    tree_sketch *s = sketch_new(9.81);
    sketch_body(s, 0, 0.0, 0.0, 0.0);
    sketch_joint(s, TREE_HINGE, 0.0, 0.0, 1.0);
    trying t = try_tree(sketch_finish(s), 1);
    int bad[2] = {0, 0};
    double extra = 1.0;
    tree_composite(t.tree, t.work);
    tree_factor(t.tree, NULL, t.work, &bad[0]);
    tree_articulate(t.tree, NULL, t.work, &bad[1]);
    assert_true(bad[0] && bad[1]);
    tree_factor(t.tree, &extra, t.work, &bad[0]);
    tree_articulate(t.tree, &extra, t.work, &bad[1]);
    assert_false(bad[0] || bad[1]);
    try_free(&t);
}

/* ---- A long chain ---------------------------------------------------------------------------- */

/* A thousand links and a mass of a million at the end: forces come back to what rounding of that
 * mass times the accelerations in the chain leaves of them. */
static void long_chain_with_a_heavy_end(void **state)
{
    (void)state;
    const double heavy = 1e6;
    trying t = try_tree(tree_chain_of(1000, heavy, 1), 3);
    int n = t.tree->nv, bad;
    for (int d = 0; d < n; d++) {
        t.q[d] *= 0.1;
        t.v[d] *= 0.01;
    }
    tree_kinematics(t.tree, t.q, t.work);
    tree_velocities(t.tree, t.v, t.work);
    tree_articulate(t.tree, NULL, t.work, &bad);
    assert_false(bad);
    tree_forward(t.tree, t.tau, NULL, t.work, t.a);
    tree_inverse(t.tree, t.a, NULL, t.work, t.y);
    double force = heavy * largest(t.work + t.tree->at.A, 6 * t.tree->bodies);
    assert_small(apart(t.y, t.tau, n), 1e-12 * force);
    try_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverse_dynamics_undo_forward_dynamics),
        cmocka_unit_test(also_with_masses_over_six_decades),
        cmocka_unit_test(composite_inertia_has_the_columns_of_inverse_dynamics),
        cmocka_unit_test(matrix_times_acceleration_and_bias_are_the_forces),
        cmocka_unit_test(kinetic_energy_is_that_of_the_matrix),
        cmocka_unit_test(factors_solve),
        cmocka_unit_test(massless_dofs_are_reported),
        cmocka_unit_test(long_chain_with_a_heavy_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
