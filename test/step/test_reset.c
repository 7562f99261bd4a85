/* What an event or a caller sets is kept: closed contacts and friction that sticks do not undo it.
 * What holds afterwards follows from the state that was set, as at a start. And friction that
 * sticks at the time of an impact, or of a drive whose speed jumps, has a bounded impulse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "system/import.h"

#define BLOCK "coord x, y\nmass 1 at (x, y)\ngravity (0, -10)\n"
#define RIDER "coord x, y, c\nmass 1 at (x, y), 2 at c\ngravity (0, -10)\n"
#define FLOOR "constraint f: y >= 0"
#define GROOVE "constraint f: y = 0\nfriction f: "
#define AT_ONE "\nevent k: t = 1, set "

enum { COORDS = 4 };

/* The coordinates and their speeds at t = 1.25, in closed form. */
typedef struct reset_case {
    const char *text;
    int coords;
    double q[COORDS], v[COORDS];
    int impacts;
    double loss;
} reset_case;

static const reset_case CASES[] = {
    /* a body that lies on the floor is thrown up, lifted, or loses the floor */
    {BLOCK FLOOR AT_ONE "y' = 2\n", 2, {0, 0.1875}, {0, -0.5}, 0, 0},
    {BLOCK FLOOR AT_ONE "y = 0.5\n", 2, {0, 0.1875}, {0, -2.5}, 0, 0},
    {"param h = 0\n" BLOCK "constraint f: y >= h" AT_ONE "h = -1\n",
     2,
     {0, -0.3125},
     {0, -2.5},
     0,
     0},
    /* thrown at the floor it bounces; a floor that is raised lifts it, and no more */
    {BLOCK FLOOR ", restitution 0.5" AT_ONE "y' = -3\n", 2, {0, 0.0625}, {0, -1}, 1, 3.375},
    {"param h = 0\n" BLOCK "constraint f: y >= h" AT_ONE "h = 0.5\n", 2, {0, 0.5}, {0, 0}, 0, 0},
    /* a rope that is made longer is slack */
    {"param l = 1\ncoord x, y = -1\nmass 1 at (x, y)\ngravity (0, -10)\n"
     "constraint rope: x^2 + y^2 <= l^2" AT_ONE "l = 2\n",
     2,
     {0, -1.3125},
     {0, -2.5},
     0,
     0},
    /* what sticks slides, as fast as was set, on a floor and in a groove */
    {BLOCK FLOOR ", friction 0.5" AT_ONE "x' = 2\n", 2, {0.34375, 0}, {0.75, 0}, 0, 0},
    {BLOCK GROOVE "0.5 at (x, y)" AT_ONE "x' = 2\n", 2, {0.34375, 0}, {0.75, 0}, 0, 0},
    /* a block that slides is turned round: friction turns round, too */
    {"speed x' = 8\n" BLOCK FLOOR ", friction 0.5" AT_ONE "x' = -2\n",
     2,
     {5.5 - 0.34375, 0},
     {-0.75, 0},
     0,
     0},
    /* a rider that sticks to a cart slides until the speeds are equal, 2/9 s */
    {RIDER FLOOR ", friction 0.3 at (x - c, y)" AT_ONE "c' = 1\n",
     3,
     {5 / 54.0, 0, 5 / 27.0 + 1 / 54.0},
     {2 / 3.0, 0, 2 / 3.0},
     0,
     0},
    {RIDER GROOVE "0.3 at (x - c, y)" AT_ONE "c' = 1\n",
     3,
     {5 / 54.0, 0, 5 / 27.0 + 1 / 54.0},
     {2 / 3.0, 0, 2 / 3.0},
     0,
     0},
    /* two-sided constraints hold what is set */
    {BLOCK "constraint f: y = 0" AT_ONE "y' = 2, set x' = 1\n", 2, {0.25, 0}, {1, 0}, 0, 0},
    /* a belt under a block starts at once: the block follows with mu g */
    {BLOCK FLOOR ", friction 0.3 at (x - 2*max(0, t - 1), y)\n", 2, {0.09375, 0}, {0.75, 0}, 0, 0},
    {BLOCK GROOVE "0.3 at (x - 2*max(0, t - 1), y)\n", 2, {0.09375, 0}, {0.75, 0}, 0, 0},
    /* a cart is stopped by a wall, its rider slides on */
    {RIDER "speed x' = 1, c' = 1\nconstraint w: c <= 1\n" GROOVE "0.3 at (x - c, y)\n",
     3,
     {1.15625, 0, 1},
     {0.25, 0, 0},
     1,
     1},
    {RIDER "speed x' = 1, c' = 1\nconstraint w: c <= 1\n" FLOOR ", friction 0.3 at (x - c, y)\n",
     3,
     {1.15625, 0, 1},
     {0.25, 0, 0},
     1,
     1},
    /* dry friction of joints, beside a wall that stops a cart under a rider; one that sticks, and
       one at its limit, are set */
    {"import \"resets.xml\" as r\nspeed r.a' = 0.5" AT_ONE "r.s' = 1, set r.z' = 2\n",
     4,
     {0.1875, 0.1875, 0.5, 0.109375},
     {0.5, -0.5, 0, 0.375},
     1,
     0.125},
};

static void compare(const char *text, const char *what, double is, double wanted, double bound)
{
    if (!(fabs(is - wanted) <= bound)) {
        fail_msg("%s%s = %.17g, expected %.17g", text, what, is, wanted);
    }
}

static void check(const reset_case *c, zw_method method, double step, double bound)
{
    world w = formulas(c->text);
    zw_run_summary s;
    const zw_run_options options = {.time = 1.25, .every = 4, .method = method, .step = step};
    if (zw_run(w.system, w.state, w.work, &options, &s, &w.error) != ZW_OK) {
        fail_msg("%s%s", c->text, w.error.text);
    }
    for (int i = 0; i < c->coords; i++) {
        compare(c->text, "place", world_field(&w, ZW_FIELD_Q)[i], c->q[i], bound);
        compare(c->text, "speed", world_field(&w, ZW_FIELD_V)[i], c->v[i], bound);
    }
    compare(c->text, "drift", s.energy_drift, 0, bound);
    assert_int_equal(s.impacts, c->impacts);
    compare(c->text, "loss", s.impact_loss, c->loss, bound);
    world_end(&w);
}

static void what_is_set_is_kept(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        check(&CASES[k], ZW_METHOD_DOP853, 0, 1e-10);
        check(&CASES[k], ZW_METHOD_STIFF, 0, 1e-8);
        check(&CASES[k], ZW_METHOD_RK4, 0.01, 1e-8);
    }
}

/* Sets what a case sets, as a caller does: "y' = 2, set x' = 1". */
static void set_numbers(world *w, const reset_case *c, const char *set)
{
    while (set) {
        char name[20];
        double value;
        if (sscanf(set, "%19s = %lf", name, &value) != 2) {
            fail_msg("%s", set);
        }
        char *prime = strchr(name, '\'');
        if (prime) {
            *prime = 0;
        }
        int param = zw_id(w->system, ZW_KIND_PARAM, name);
        zw_field_id field = param >= 0 ? ZW_FIELD_PARAM : prime ? ZW_FIELD_V : ZW_FIELD_Q;
        int index = param >= 0 ? param : zw_id(w->system, ZW_KIND_COORD, name);
        if (zw_state_set(w->system, w->state, w->work, field, index, 1, &value, &w->error)) {
            fail_msg("%s%s", c->text, w->error.text);
        }
        set = strstr(set, "set ");
        set = set ? set + 4 : NULL;
    }
}

/* The same by the caller, between two runs. */
static void check_call(const reset_case *c, const char *set, zw_method method, double step,
                       double bound)
{
    char text[600];
    snprintf(text, sizeof text, "%.*s\n", (int)(set - c->text), c->text);
    world w = formulas(text);
    zw_run_summary s[2];
    for (int k = 0; k < 2; k++) {
        const zw_run_options options = {
            .time = k ? 1.25 : 1, .every = 4, .method = method, .step = step};
        if (zw_run(w.system, w.state, w.work, &options, &s[k], &w.error) != ZW_OK) {
            fail_msg("%s%s", c->text, w.error.text);
        }
        if (k == 0) {
            set_numbers(&w, c, set + sizeof AT_ONE - 1);
        }
    }
    for (int i = 0; i < c->coords; i++) {
        compare(c->text, "place", world_field(&w, ZW_FIELD_Q)[i], c->q[i], bound);
        compare(c->text, "speed", world_field(&w, ZW_FIELD_V)[i], c->v[i], bound);
    }
    compare(c->text, "drift", s[1].energy_drift, 0, bound);
    assert_int_equal(s[0].impacts + s[1].impacts, c->impacts);
    compare(c->text, "loss", s[0].impact_loss + s[1].impact_loss, c->loss, bound);
    world_end(&w);
}

static void what_a_caller_sets_is_kept(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        const char *set = strstr(CASES[k].text, AT_ONE);
        if (set) {
            check_call(&CASES[k], set, ZW_METHOD_DOP853, 0, 1e-10);
            check_call(&CASES[k], set, ZW_METHOD_RK4, 0.01, 1e-8);
        }
    }
}

/* By steps with contacts in them; the impact, the rider's sliding and the dry joint's are within
 * their steps, of constant forces. */
static void by_steps_with_contacts(void **unused)
{
    (void)unused;
    const reset_case *joints = &CASES[sizeof CASES / sizeof *CASES - 1];
    check(joints, ZW_METHOD_IMPULSE, 0.01, 1e-9);
}

/* A hopper that kicks off whenever the floor carries it: y' = 3 from each landing. The first after
 * sqrt(2/10) s, then every 0.6 s. */
static void a_hopper(void **unused)
{
    (void)unused;
    world w = world_of("coord y = 1\nmass 1 at y\nforce y: -10\nconstraint f: y >= 0\n"
                       "event land: when lambda(f) > 0, set y' = 3\n");
    world_run(&w, sqrt(0.2) + 0.6 + 0.2, 1e-12);
    compare("hopper: ", "place", world_field(&w, ZW_FIELD_Q)[0], 0.6 - 0.2, 1e-10);
    compare("hopper: ", "speed", world_field(&w, ZW_FIELD_V)[0], 1, 1e-10);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_set_is_kept), cmocka_unit_test(what_a_caller_sets_is_kept),
        cmocka_unit_test(by_steps_with_contacts), cmocka_unit_test(a_hopper)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
