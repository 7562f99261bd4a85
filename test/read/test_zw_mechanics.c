/* Masses, energies and forces by value, at random states. */
#include "reading.h"

#define EACH_SEED(seed) for (uint64_t seed = 1; seed <= 5; seed++)

static double square(double x)
{
    return x * x;
}

static void energies_add_up(void **state)
{
    (void)state;
    EACH_SEED(seed)
    {
        world w = world_of("param m = 3\ncoord x, y\n"
                           "kinetic m/2*x'^2\nkinetic y'^2/2\n"
                           "potential m*x\npotential y^2\n"
                           "lagrangian x'*y\nlagrangian sin(t)\n"
                           "rayleigh 2*x'^2\nrayleigh y'^2\n"
                           "plot time energy, kinetic_energy, potential_energy\n",
                           seed);
        const double *q = w.q, *v = w.v;
        double K = 1.5 * v[0] * v[0] + v[1] * v[1] / 2, V = 3 * q[0] + q[1] * q[1];
        ASSERT_CLOSE(value(&w, w.model->kinetic), K);
        ASSERT_CLOSE(value(&w, w.model->potential), V);
        ASSERT_CLOSE(value(&w, w.model->lagrangian), v[0] * q[1] + sin(w.t));
        ASSERT_CLOSE(value(&w, w.model->rayleigh), 2 * v[0] * v[0] + v[1] * v[1]);
        ASSERT_CLOSE(curve(&w, 0), K + V - sin(w.t)); /* what is linear in v drops out */
        ASSERT_CLOSE(curve(&w, 1), K);
        ASSERT_CLOSE(curve(&w, 2), V);
        assert_int_equal(w.model->massless, 0);
        world_free(&w);
    }
}

/* K of degree p in the speeds: E = (p - 1) K + V (Cardin-Zanzotto 1989). */
static void energy_of_a_kinetic_energy_that_is_not_quadratic(void **state)
{
    (void)state;
    world w = world_of("coord x\nkinetic x'^4\npotential x\nplot time energy\n", 3);
    ASSERT_CLOSE(curve(&w, 0), 3 * square(square(w.v[0])) + w.q[0]);
    world_free(&w);
}

static void masses_move_and_weigh(void **state)
{
    (void)state;
    EACH_SEED(seed)
    {
        world w = world_of("param m1 = 2, m2 = 3, l = 1.5, J = 0.3\n"
                           "coord th, x\n"
                           "mass m1 at (l*sin(th), -l*cos(th)), m2 at (x, 1)\n"
                           "mass 0.5 at x\n"
                           "inertia J of th\n"
                           "gravity (1, -9.81)\n",
                           seed);
        double th = w.q[0], x = w.q[1], l = 1.5;
        double K = 2.0 / 2 * square(l * w.v[0]) + 3.0 / 2 * square(w.v[1]) +
                   0.5 / 2 * square(w.v[1]) + 0.3 / 2 * square(w.v[0]);
        double V = -2 * (l * sin(th) + 9.81 * l * cos(th)) - 3 * (x - 9.81);
        ASSERT_CLOSE(value(&w, w.model->kinetic), K);
        ASSERT_CLOSE(value(&w, w.model->potential), V);
        world_free(&w);
    }
}

/* The point of a mass may move by itself: p' holds the partial rate. */
static void masses_ride_on_moving_points(void **state)
{
    (void)state;
    world w = world_of("coord x\nmass 2 at (x + sin(t), 0, t^2)\ngravity (0, 0, -9)\n", 4);
    ASSERT_CLOSE(value(&w, w.model->kinetic), square(w.v[0] + cos(w.t)) + square(2 * w.t));
    ASSERT_CLOSE(value(&w, w.model->potential), 2 * 9 * w.t * w.t);
    world_free(&w);
}

static void springs_and_dampers(void **state)
{
    (void)state;
    EACH_SEED(seed)
    {
        world w = world_of("param k = 7, c = 0.4, l = 0.9\ncoord x, y, u\n"
                           "kinetic x'^2 + y'^2 + u'^2\n"
                           "spring k from (x, y) to (2, 3) length l\n"
                           "spring 2*k from (x, y) to (0, 0)\n"
                           "spring 3 from x to u length 0.1, 4 from u to 0\n"
                           "damper c from (x, y) to (2, 3)\n"
                           "damper 5 from x to u\n",
                           seed);
        double x = w.q[0], y = w.q[1], u = w.q[2];
        double d = hypot(x - 2, y - 3);
        double rate = ((x - 2) * w.v[0] + (y - 3) * w.v[1]) / d;
        ASSERT_CLOSE(value(&w, w.model->potential), 3.5 * square(d - 0.9) + 7 * (x * x + y * y) +
                                                        1.5 * square(fabs(x - u) - 0.1) +
                                                        2 * u * u);
        ASSERT_CLOSE(value(&w, w.model->rayleigh),
                     0.2 * square(rate) + 2.5 * square(w.v[0] - w.v[2]));
        world_free(&w);
    }
}

/* Without a length there is no root: the energy of a spring of no extension is smooth. */
static void springs_without_length_have_no_root(void **state)
{
    (void)state;
    zw_model *m = read_text("coord x, y\nmass 1 at (x, y)\nspring 2 from (x, y) to (0, 0)\n");
    for (int i = 0; i < expr_graph_count(m->graph); i++) {
        assert_int_not_equal(expr_graph_node(m->graph, i)->op, EXPR_SQRT);
    }
    zw_model_free(m);
}

/* Q_i = dp/dq_i . F, by hand for a double pendulum; forces on coordinates and imbeddings add. */
static void forces_do_virtual_work(void **state)
{
    (void)state;
    EACH_SEED(seed)
    {
        world w = world_of("param a = 1.2, b = 0.7\ncoord f, g\n"
                           "point p = (a*sin(f), -a*cos(f))\n"
                           "point q = p + (b*sin(g), -b*cos(g))\n"
                           "imbed h = a*sin(f) + g\n"
                           "mass 1 at p, 1 at q\n"
                           "force (3, t) at q, (0, f') at p\n"
                           "force f: 5, g: g'\n"
                           "torque g: 2\n"
                           "force h: 7\n",
                           seed);
        double f = w.q[0], g = w.q[1], a = 1.2, b = 0.7;
        double Qf = 3 * a * cos(f) + w.t * a * sin(f) + w.v[0] * a * sin(f) + 5 + 7 * a * cos(f);
        double Qg = 3 * b * cos(g) + w.t * b * sin(g) + w.v[1] + 2 + 7;
        ASSERT_CLOSE(value(&w, w.model->coord[0].force), Qf);
        ASSERT_CLOSE(value(&w, w.model->coord[1].force), Qg);
        world_free(&w);
    }
}

static void starts_and_speeds(void **state)
{
    (void)state;
    world w = world_of("param l = 2, a = 30*deg\nlet x0 = l*sin(a)\n"
                       "coord x = x0, y = -l*cos(a), z\nspeed z' = l/4\nkinetic x'^2\n",
                       1);
    ASSERT_CLOSE(value(&w, w.model->coord[0].start), 1);
    ASSERT_CLOSE(value(&w, w.model->coord[1].start), -sqrt(3));
    assert_int_equal(w.model->coord[2].start, EXPR_ZERO);
    assert_int_equal(w.model->coord[0].speed, EXPR_NONE);
    ASSERT_CLOSE(value(&w, w.model->coord[2].speed), 0.5);
    w.param[0] = 4; /* parameters stay leaves: another length, another start */
    ASSERT_CLOSE(value(&w, w.model->coord[0].start), 2);
    world_free(&w);
}

static void systems_without_masses(void **state)
{
    (void)state;
    world w = world_of("coord a, b, c\nrelation total: a' + b' + c' = 1\n"
                       "metric (a'^2 + 2*b'^2)/2\nmetric c'^2/2\n"
                       "prefer (0, -b, t)\nfree b: 0.1\n",
                       2);
    assert_int_equal(w.model->massless, 1);
    ASSERT_CLOSE(value(&w, w.model->metric),
                 square(w.v[0]) / 2 + square(w.v[1]) + square(w.v[2]) / 2);
    assert_int_equal(w.model->coord[0].prefer, EXPR_ZERO);
    ASSERT_CLOSE(value(&w, w.model->coord[1].prefer), -w.q[1]);
    ASSERT_CLOSE(value(&w, w.model->coord[2].prefer), w.t);
    assert_int_equal(w.model->coord[0].free, EXPR_ZERO);
    ASSERT_CLOSE(value(&w, w.model->coord[1].free), 0.1);
    assert_string_equal(w.model->constraint[0].name, "total");
    world_free(&w);

    w = world_of("coord a, b\nrelation a' + b' = 1\nprefer a: -a\nfree (1, 2)\n", 2);
    assert_int_equal(w.model->metric, EXPR_NONE);
    ASSERT_CLOSE(value(&w, w.model->coord[1].free), 2);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energies_add_up),
        cmocka_unit_test(energy_of_a_kinetic_energy_that_is_not_quadratic),
        cmocka_unit_test(masses_move_and_weigh),
        cmocka_unit_test(masses_ride_on_moving_points),
        cmocka_unit_test(springs_and_dampers),
        cmocka_unit_test(springs_without_length_have_no_root),
        cmocka_unit_test(forces_do_virtual_work),
        cmocka_unit_test(starts_and_speeds),
        cmocka_unit_test(systems_without_masses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
