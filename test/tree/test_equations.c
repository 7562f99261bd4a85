/* The same mechanism as bodies and as equations. */
#include "trying.h"

#include "system/world.h"

/* Forward dynamics of t at rest forces: accelerations of all bodies in the work. */
static void accelerate(trying *t)
{
    int bad;
    memset(t->tau, 0, (size_t)t->tree->nv * sizeof *t->tau);
    tree_kinematics(t->tree, t->q, t->work);
    tree_velocities(t->tree, t->v, t->work);
    tree_articulate(t->tree, NULL, t->work, &bad);
    assert_false(bad);
    tree_forward(t->tree, t->tau, NULL, t->work, t->a);
}

static void point_mass(tree_sketch *s, double mass, double z)
{
    tree_body_def *body = s->body + s->def.body_count - 1;
    body->mass = mass;
    body->com[2] = z;
}

static void double_pendulum(void **state)
{
    (void)state;
    for (int k = 0; k < 20; k++) {
        tree_sketch *s = sketch_new(9.81);
        sketch_body(s, 0, 0.0, 0.0, 0.0);
        sketch_joint(s, TREE_HINGE, 0.0, -1.0, 0.0);
        point_mass(s, 1.3, -0.7);
        sketch_body(s, 1, 0.0, 0.0, -0.7);
        sketch_joint(s, TREE_HINGE, 0.0, -1.0, 0.0);
        point_mass(s, 0.4, -1.1);
        trying t = try_tree(sketch_finish(s), (uint64_t)k);
        accelerate(&t);

        /* in the equations both angles are from the vertical */
        char text[512];
        snprintf(text, sizeof text,
                 "coord th1 = %.17g, th2 = %.17g\n"
                 "speed th1' = %.17g, th2' = %.17g\n"
                 "point p1 = (0.7*sin(th1), -0.7*cos(th1))\n"
                 "point p2 = p1 + (1.1*sin(th2), -1.1*cos(th2))\n"
                 "mass  1.3 at p1, 0.4 at p2\n"
                 "gravity (0, -9.81)\n",
                 t.q[0], t.q[0] + t.q[1], t.v[0], t.v[0] + t.v[1]);
        world w = world_of(text);
        world_forward(&w);
        const double *a = world_field(&w, ZW_FIELD_A);
        double bodies[2] = {t.a[0], t.a[0] + t.a[1]};
        assert_small(apart(bodies, a, 2), 1e-11 * (1.0 + largest(a, 2)));
        world_end(&w);
        try_free(&t);
    }
}

/* Two hinges and a point mass, against three coordinates and a rod. */
static void spherical_pendulum(void **state)
{
    (void)state;
    for (int k = 0; k < 20; k++) {
        tree_sketch *s = sketch_new(9.81);
        sketch_body(s, 0, 0.0, 0.0, 0.0);
        sketch_joint(s, TREE_HINGE, 1.0, 0.0, 0.0);
        sketch_joint(s, TREE_HINGE, 0.0, 1.0, 0.0);
        point_mass(s, 2.0, -1.5);
        trying t = try_tree(sketch_finish(s), (uint64_t)k);
        const double *x = t.work + t.tree->at.com + 3, *V = t.work + t.tree->at.V + 9;
        t.q[1] *= 0.25; /* not along the first axis, where the two hinges fail */
        accelerate(&t);
        char text[512];
        snprintf(text, sizeof text,
                 "coord x = %.17g, y = %.17g, z = %.17g\n"
                 "speed x' = %.17g, y' = %.17g, z' = %.17g\n"
                 "mass  2 at (x, y, z)\n"
                 "gravity (0, 0, -9.81)\n"
                 "constraint rod: x^2 + y^2 + z^2 = 1.5^2\n",
                 x[0], x[1], x[2], V[0], V[1], V[2]);
        world w = world_of(text);
        world_forward(&w);
        const double *a = world_field(&w, ZW_FIELD_A);
        assert_small(apart(t.work + t.tree->at.A + 9, a, 3), 1e-11 * (1.0 + largest(a, 3)));
        world_end(&w);
        try_free(&t);
    }
}

/* ---- A chain of rigid bodies on balls, against the axes of the bodies ------------------------ */

enum { LINKS = 3 };

static const double LINK[LINKS][3] = {{0.1, 0.2, -0.9}, {-0.3, 0.1, -0.7}, {0.2, -0.2, -0.8}};
static const double CENTRE[LINKS][3] = {{0.05, 0.1, -0.5}, {0.1, 0.2, -0.4}, {-0.1, 0.1, -0.3}};
static const double INERTIA[LINKS][3] = {{0.3, 0.4, 0.2}, {0.1, 0.15, 0.2}, {0.06, 0.09, 0.05}};
static const double MASS[LINKS] = {2.0, 1.0, 3.0};

static tree_mechanism *ball_chain(void)
{
    tree_sketch *s = sketch_new(9.81);
    for (int i = 0; i < LINKS; i++) {
        static const double none[3] = {0.0, 0.0, 0.0};
        const double *from = i > 0 ? LINK[i - 1] : none;
        tree_body_def *body = s->body + sketch_body(s, i, from[0], from[1], from[2]);
        body = s->body + s->def.body_count - 1;
        sketch_joint(s, TREE_BALL, 0.0, 0.0, 0.0);
        body->mass = MASS[i];
        memcpy(body->com, CENTRE[i], sizeof body->com);
        memcpy(body->inertia, INERTIA[i], sizeof INERTIA[i]);
    }
    return sketch_finish(s);
}

static char *say(char *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    to += vsprintf(to, format, list);
    va_end(list);
    return to;
}

/* The axes a, b, c of each body as coordinates: the columns of R, and of omega x R. The kinetic
 * energy of the turning is 1/2 sum E_k |axis_k'|^2 with E_a = (Iyy + Izz - Ixx) / 2 and so on. */
static void write_chain(const trying *t, char *to)
{
    to = say(to, "gravity (0, 0, -9.81)\npoint o1 = (0, 0, 0)\n");
    for (int i = 1; i <= LINKS; i++) {
        const double *R = t->work + t->tree->at.R + 9 * i, *I = INERTIA[i - 1];
        const double *w = t->work + t->tree->at.V + 6 * i, *l = LINK[i - 1], *g = CENTRE[i - 1];
        for (int k = 0; k < 3; k++) {
            double x = R[k], y = R[3 + k], z = R[6 + k];
            to = say(to, "coord %c%dx = %.17g, %c%dy = %.17g, %c%dz = %.17g\n", 'a' + k, i, x,
                     'a' + k, i, y, 'a' + k, i, z);
            to = say(to, "speed %c%dx' = %.17g, %c%dy' = %.17g, %c%dz' = %.17g\n", 'a' + k, i,
                     w[1] * z - w[2] * y, 'a' + k, i, w[2] * x - w[0] * z, 'a' + k, i,
                     w[0] * y - w[1] * x);
            to = say(to, "point %c%d = (%c%dx, %c%dy, %c%dz)\n", 'a' + k, i, 'a' + k, i, 'a' + k, i,
                     'a' + k, i);
        }
        to = say(to, "point o%d = o%d + %.17g*a%d + %.17g*b%d + %.17g*c%d\n", i + 1, i, l[0], i,
                 l[1], i, l[2], i);
        to = say(to, "mass %.17g at o%d + %.17g*a%d + %.17g*b%d + %.17g*c%d\n", MASS[i - 1], i,
                 g[0], i, g[1], i, g[2], i);
        to = say(to, "constraint lengths%d: (a%d . a%d, b%d . b%d, c%d . c%d) = (1, 1, 1)\n", i, i,
                 i, i, i, i, i);
        to = say(to, "constraint angles%d: (a%d . b%d, a%d . c%d, b%d . c%d) = (0, 0, 0)\n", i, i,
                 i, i, i, i, i);
        to =
            say(to, "kinetic (%.17g*(a%d' . a%d') + %.17g*(b%d' . b%d') + %.17g*(c%d' . c%d'))/4\n",
                I[1] + I[2] - I[0], i, i, I[0] + I[2] - I[1], i, i, I[0] + I[1] - I[2], i, i);
    }
}

static void chain_of_rigid_bodies(void **state)
{
    (void)state;
    for (int k = 0; k < 10; k++) {
        trying t = try_tree(ball_chain(), (uint64_t)k);
        char text[8192];
        accelerate(&t);
        write_chain(&t, text);
        world w = world_of(text);
        world_forward(&w);
        const double *a = world_field(&w, ZW_FIELD_A);
        for (int i = 1; i <= LINKS; i++) {
            for (int c = 0; c < 3; c++) {
                /* the tip of the axis, less the body's origin */
                double local[3] = {0}, place[3], tip[6], base[6], axis[3];
                tree_point(t.tree, i, local, t.work, place);
                tree_point_acceleration(t.tree, i, place, t.work, base);
                local[c] = 1.0;
                tree_point(t.tree, i, local, t.work, place);
                tree_point_acceleration(t.tree, i, place, t.work, tip);
                for (int x = 0; x < 3; x++) {
                    axis[x] = tip[3 + x] - base[3 + x];
                }
                assert_small(apart(axis, a + 9 * (i - 1) + 3 * c, 3),
                             1e-11 * (1.0 + largest(a, 9 * LINKS)));
            }
        }
        world_end(&w);
        try_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_pendulum),
        cmocka_unit_test(spherical_pendulum),
        cmocka_unit_test(chain_of_rigid_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
