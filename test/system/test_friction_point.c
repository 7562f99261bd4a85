/* The point where friction acts: an ambiguous statement is refused with the line to write instead,
 * and the friction obeys action = reaction and does not depend on scales or coordinates. */
#include "system/contact.h"

#define WEDGE                                                                                      \
    "param m1 = 3, m2 = 1, s = 0.5\ncoord x1 = 0, x2 = -2, y2 = 2*tan(s)\n"                        \
    "mass m1 at (x1, 0), m2 at (x2, y2)\ngravity (0, -9.81)\n"                                     \
    "constraint face: y2 = tan(s)*(x1 - x2)\n"

/* A block on a free wedge with friction between them: the forces are constant. With the slope s,
 * the normal force N and friction F = mu N up the slope, m1 X'' = -N sin + F cos,
 * m2 x'' = N sin - F cos, m2 y'' = N cos + F sin - m2 g, y'' = tan (X'' - x''). */
static void a_block_on_a_free_wedge_keeps_the_momentum(void **state)
{
    (void)state;
    const double m1 = 3, m2 = 1, s = 0.5, mu = 0.3, c = cos(s), d = sin(s);
    double across = (d - mu * c) * (1 / m1 + 1 / m2), up = (c + mu * d) / m2;
    double N = G / (up + across * d / c), push = N * (d - mu * c);
    static const char *const way[] = {"0.3 at (x2 - x1, y2)", "0.3 at (x2, y2) - (x1, 0)",
                                      "0.3 at (c*(x2 - x1) - d*y2, d*(x2 - x1) + c*y2)"};
    for (int i = 0; i < 3; i++) {
        char text[600];
        snprintf(text, sizeof text, WEDGE "let c = cos(s), d = sin(s)\nfriction face: %s\n",
                 way[i]);
        world w = world_of(text);
        go(&w, 1, NULL);
        NEAR(v_of(&w, 0), -push / m1, 1e-13);
        NEAR(v_of(&w, 1), push / m2, 1e-13);
        NEAR(q_of(&w, 1), -2 + push / m2 / 2, 1e-12);
        NEAR(m1 * v_of(&w, 0) + m2 * v_of(&w, 1), 0, 1e-14);
        world_end(&w);
    }
}

/* A bead on the spiral r = th: in polar coordinates as in Cartesian ones. */
static void a_spiral_is_the_same_in_polar_coordinates(void **state)
{
    (void)state;
    world p = world_of("coord r = 1, th = 1\nspeed th' = 2\nmass 1 at (r*cos(th), r*sin(th))\n"
                       "constraint spiral: r = th\nfriction spiral: 0.2\n");
    world x =
        world_of("coord x = cos(1), y = sin(1)\n"
                 "speed x' = 2*(cos(1) - sin(1)), y' = 2*(sin(1) + cos(1))\nmass 1 at (x, y)\n"
                 "constraint spiral: hypot(x, y) = atan2(y, x)\nfriction spiral: 0.2\n");
    go(&p, 1, NULL);
    go(&x, 1, NULL);
    double r = q_of(&p, 0), th = q_of(&p, 1);
    NEAR(q_of(&x, 0), r * cos(th), 1e-11);
    NEAR(q_of(&x, 1), r * sin(th), 1e-11);
    /* th^2 + 1 per th'^2: (1 + r^2) th'' + r th'^2 = -mu N sqrt(1 + r^2), N = th'^2 (2 + r^2)
     * / sqrt(1 + r^2), so that ln th' falls with th by (r + mu (2 + r^2))/(1 + r^2) */
    double left = log(2) - 0.5 * log((1 + th * th) / 2) - 0.2 * (th - 1 + atan(th) - atan(1));
    NEAR(log(v_of(&p, 1)), left, 1e-11);
    world_end(&p);
    world_end(&x);
}

/* The scale of an equation does not change how hard it presses. */
static void a_scaled_equation_presses_as_hard(void **state)
{
    (void)state;
    static const char *const form[] = {"x^2 + y^2 = 0.49", "|(x, y)| = 0.7", "1000*|(x, y)| = 700",
                                       "1/|(x, y)| = 1/0.7"};
    double first[2] = {0};
    for (int i = 0; i < 4; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "coord x = 0, y = -0.7\nspeed x' = 5, y' = 0\nmass 2 at (x, y)\n"
                 "gravity (0, -9.81)\nconstraint hoop: %s\nfriction hoop: 0.15\n",
                 form[i]);
        world w = world_of(text);
        go(&w, 0.4, NULL);
        for (int k = 0; k < 2; k++) {
            first[k] = i == 0 ? q_of(&w, k) : first[k];
            NEAR(q_of(&w, k), first[k], 1e-11);
        }
        world_end(&w);
    }
}

/* A helix presses with one force: v' = -mu sqrt((v^2 cos^2/R)^2 + (g cos)^2) - g sin along it. */
static void a_helix_is_one_contact(void **state)
{
    (void)state;
    const double mu = 0.2, R = 1, slope = atan(0.3), c = cos(slope);
    static const char *const way[] = {
        "constraint a: x = cos(z/0.3)\nconstraint b: y = sin(z/0.3)\nfriction a, b: 0.2\n",
        "constraint b: y = sin(z/0.3)\nconstraint a: 5*x = 5*cos(z/0.3)\nfriction a, b: 0.2\n",
        "constraint c: (x, y) = (cos(z/0.3), sin(z/0.3))\nfriction c: 0.2\n",
        ("constraint a: x^2 + y^2 = 1\nconstraint b: y*cos(z/0.3) = x*sin(z/0.3)\n"
         "friction b, a: 0.2 at (x, y, z)\n")};
    double v = 3, z = 0, h = 1e-4; /* by hand: Runge and Kutta's method along the helix */
    for (int k = 0; k < 5000; k++) {
        double f[4], u = v;
        for (int i = 0; i < 4; i++) {
            f[i] = -mu * hypot(u * u * c * c / R, G * c) - G * sin(slope);
            u = v + (i < 2 ? h / 2 : h) * f[i];
        }
        z += sin(slope) * (h * v + h * h / 6 * (f[0] + f[1] + f[2]));
        v += h / 6 * (f[0] + 2 * f[1] + 2 * f[2] + f[3]);
    }
    for (int i = 0; i < 4; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "param s = atan(0.3)\ncoord x = 1, y = 0, z = 0\n"
                 "speed x' = 0, y' = 3*cos(s), z' = 3*sin(s)\nmass 2 at (x, y, z)\n"
                 "gravity (0, 0, -9.81)\n%s",
                 way[i]);
        world w = world_of(text);
        go(&w, 0.5, NULL);
        NEAR(q_of(&w, 2), z, 1e-11);
        NEAR(v_of(&w, 2), v * sin(slope), 1e-11);
        world_end(&w);
    }
}

/* A wedge that is moved, and a disk that turns, as functions of time. */
static void a_moving_ground_counts(void **state)
{
    (void)state;
    const double s = 0.5, mu = 0.1, A = 2, t = 0.5;
    world w = world_of("param s = 0.5\nlet X = t^2\ncoord x = 0, y = 0\n"
                       "speed x' = 0, y' = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                       "constraint face: y = tan(s)*(X - x)\nfriction face: 0.1 at (x - X, y)\n");
    double N = G * cos(s) + A * sin(s), along = G * sin(s) - A * cos(s) - mu * N;
    assert_true(along > 0); /* down the slope, seen from it */
    go(&w, t, NULL);
    NEAR(q_of(&w, 0), A * t * t / 2 + cos(s) * along * t * t / 2, 1e-12);
    world_end(&w);
}

/* Metres, millimetres or kilometres: it slides, stops and slides again at the same times. */
static void units_do_not_matter(void **state)
{
    (void)state;
    static const double unit[] = {1, 1e3, 1e-3};
    double first = 0;
    for (int i = 0; i < 3; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "param U = %g, g = 9.81*U, tilt = 0.3\ncoord x = 0, y = 0\n"
                 "speed x' = 3*U*cos(tilt), y' = -3*U*sin(tilt)\nmass 1 at (x, y)\n"
                 "gravity (0, -g)\nforce x: 4*U*sin(5*t)\n"
                 "constraint face: y*cos(tilt) + x*sin(tilt) = 0\nfriction face: 0.4\n",
                 unit[i]);
        world w = world_of(text);
        world_run(&w, 5, 1e-13);
        first = i == 0 ? q_of(&w, 0) : first;
        NEAR(q_of(&w, 0) / unit[i], first, 1e-10);
        world_end(&w);
    }
}

/* ---- Refusals ------------------------------------------------------------------------------- */

static void what_is_not_certain_is_asked(void **state)
{
    (void)state;
#define XYZ "coord x = 1, y = 0, z = 0\nspeed z' = 0.3\nmass 1 at (x, y, z)\n"
    static const struct {
        const char *text, *words;
    } list[] = {
        {WEDGE "friction face: 0.3\n", "`friction face: 0.3 at (x2, y2) - (x1, 0)`"},
        {WEDGE "friction face: 0.3 at (x2, y2)\n", "seen from what it slides on"},
        /* the wedge's part of the row vanishes at the start only */
        {"coord X = 0, x = 0, y = 0\nmass 3 at (X, 0), 1 at (x, y)\n"
         "constraint face: y = (x - X)^2\nfriction face: 0.3 at (x, y)\n",
         "seen from what it slides on"},
        /* a ten-thousandth of it is another body's */
        {"coord X = 0, x = 0, y = 0\nmass 3 at (X, 0), 1 at (x, y)\nconstraint face: y = 0\n"
         "friction face: 0.3 at (x, y + 1e-4*X)\n",
         "seen from what it slides on"},
        {"coord X = 0, s = 0, n = 0\nmass 3 at (X, 1), 1 at (X + s, n)\ngravity (0, -9.81)\n"
         "constraint top: n = 0\nfriction top: 0.3\n",
         "X moves another mass as well"},
        {"coord s = 0, n = 0\nmass 1 at (sin(t) + s, n)\nconstraint top: n = 0\n"
         "friction top: 0.3\n",
         "the time takes part"},
        {"coord x = 1, y = 0\nmass 1 at (x, y)\nconstraint wire: y*cos(t) = x*sin(t)\n"
         "friction wire: 0.2\n",
         "`friction wire: 0.2 at (x, y)`"},
        {"coord x = 1, y = 0\nmass 1 at (x, y)\nconstraint face: y = 0.3*(t - x)\n"
         "friction face: 0.2 at (x, y)\n",
         "seen from what it slides on"},
        {"coord x = 0, y = 1, th = 0\nmass 1 at (x, y)\ninertia 0.4 of th\n"
         "constraint lane: y >= 1, friction 0.2\n",
         "what turns may touch elsewhere"},
        {"coord x = 0, y = 0\nkinetic x'^2 + y'^2\nconstraint wire: y = x^2, friction 0.2\n",
         "`friction wire: 0.2 at p`"},
        {"coord x = 0, y = 0\nkinetic x'^2 + y'^2\nconstraint y = x^2, friction 0.2\n",
         "`constraint ..., friction 0.2 at p`"},
        {XYZ "constraint a: x = cos(z)\nconstraint b: y = sin(z)\nfriction a: 0.1\n"
             "friction b: 0.2\n",
         "`friction a, b: 0.2`"},
        {XYZ "constraint a: x = cos(z)\nconstraint b: y = sin(z)\nfriction a: 0.1\n"
             "friction b: 0.2\n",
         "`friction b: 0.2 at (x, y, z)`"},
        {XYZ "constraint a: x = cos(z)\nconstraint b: y = sin(z)\nfriction a, b: 0.1\n"
             "friction b: 0.2\n",
         "given twice"},
        {XYZ "constraint a: x = cos(z)\nconstraint b: y >= sin(z)\nfriction a, b: 0.1\n",
         "each is one equation"},
        {XYZ "constraint a: x = cos(z)\nfriction a, a: 0.1\n", "given twice"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        refused(list[i].text, ZW_BAD_INPUT, list[i].words);
    }
}

/* Two surfaces that both rub are a groove: explicit points say so, and they press one by one. */
static void a_groove_is_two_contacts(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 0, z = 0\nspeed x' = 3\nmass 1 at (x, y, z)\n"
                       "gravity (0, 0, -9.81)\nconstraint a: z = y\nconstraint b: z = -y\n"
                       "friction a: 0.1 at (x, y, z)\nfriction b: 0.1 at (x, y, z)\n");
    go(&w, 1, NULL);
    NEAR(v_of(&w, 0), 3 - 0.1 * G * sqrt(2), 1e-12);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_on_a_free_wedge_keeps_the_momentum),
        cmocka_unit_test(a_spiral_is_the_same_in_polar_coordinates),
        cmocka_unit_test(a_scaled_equation_presses_as_hard),
        cmocka_unit_test(a_helix_is_one_contact),
        cmocka_unit_test(a_moving_ground_counts),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(what_is_not_certain_is_asked),
        cmocka_unit_test(a_groove_is_two_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
