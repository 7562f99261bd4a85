/* Adhesion under exact contact, compared with statics in closed form. */
#include "touch.h"

static void set_grip(scene *s, double force)
{
    zw_error error = {0};
    must(zw_state_set(s->system, s->state, s->work, ZW_FIELD_PARAM, 0, 1, &force, &error), &error);
}

/* At the end of a run: the sums of normal forces and of friction. */
static int sum_pushes(scene *s, double *normal, double *across)
{
    zw_contact list[16];
    zw_error error = {0};
    int count = zw_contacts(s->system, s->state, s->work, list, 16, &error);
    *normal = *across = 0;
    for (int k = 0; k < count; k++) {
        *normal += list[k].force[0];
        *across += hypot(list[k].force[1], list[k].force[2]);
    }
    return count;
}

#define UNDER                                                                                      \
    "<worldbody><geom type='box' size='1 1 0.1' pos='0 0 0.1'/><body name='brick' "                \
    "pos='0 0 -0.1'><freejoint/><geom type='box' size='0.2 0.1 0.1' mass='2'/></body></worldbody>" \
    "<actuator><adhesion body='brick' ctrlrange='0 100'/></actuator>"

/* A brick hangs from a ceiling if the adhesion exceeds its weight: the normal force is the excess.
 * Released, it falls, and the adhesion ends. */
static void a_brick_hangs(void **state)
{
    (void)state;
    double normal, across;
    scene s = open_scene(UNDER);
    set_grip(&s, 50);
    go(&s, 0.5, 0.002);
    assert_true(sum_pushes(&s, &normal, &across) >= 3);
    assert_true(fabs(normal - (50 - 2 * G)) < 1e-8);
    assert_true(fabs(q_of(&s)[2] + 0.1) < 1e-12);
    set_grip(&s, 0);
    go(&s, 0.7, 0.002);
    assert_true(fabs(q_of(&s)[2] + 0.1 + G * 0.2 * 0.2 / 2) < 1e-9);
    close_scene(&s);
}

/* If the adhesion is less than its weight, it acts only in the one step in which the brick leaves.
 */
static void a_weak_grip_lasts_a_step(void **state)
{
    (void)state;
    scene s = open_scene(UNDER);
    set_grip(&s, 5);
    go(&s, 0.1, 0.002);
    assert_true(fabs(v_of(&s)[2] + G * 0.1 - 5 / 2.0 * 0.002) < 1e-9);
    close_scene(&s);
}

/* A brick within a micrometre is in contact and is pulled up; one farther away falls. */
static void a_micrometre_is_contact(void **state)
{
    (void)state;
    for (int far = 0; far < 2; far++) {
        scene s = open_scene(UNDER);
        set_grip(&s, 50);
        q_of(&s)[2] -= far ? 2e-6 : 5e-7;
        go(&s, 0.1, 0.002);
        assert_true(far ? fabs(q_of(&s)[2] + 0.1 + 2e-6 + G * 0.005) < 1e-9
                        : fabs(q_of(&s)[2] + 0.1) < 1e-12);
        close_scene(&s);
    }
}

/* On a wall friction carries the weight if mu F exceeds it; the normal force is then F. */
static void friction_follows_what_pushes(void **state)
{
    (void)state;
    for (int slides = 0; slides < 2; slides++) {
        double force = slides ? 30 : 60, normal, across;
        scene s = open_scene("<worldbody><geom type='box' size='0.1 1 1' pos='-0.1 0 0' "
                             "friction='0.4'/><body name='pad' pos='0.1 0 0'><freejoint/><geom "
                             "type='box' size='0.1 0.1 0.1' mass='2' friction='0.4'/></body>"
                             "</worldbody><actuator><adhesion body='pad' ctrlrange='0 100'/>"
                             "</actuator>");
        set_grip(&s, force);
        go(&s, 0.3, 0.002);
        sum_pushes(&s, &normal, &across);
        double fall = slides ? (G - 0.4 * force / 2) * 0.3 * 0.3 / 2 : 0;
        assert_true(fabs(normal - force) < 1e-7);
        assert_true(fabs(across - (slides ? 0.4 * force : 2 * G)) < 1e-6);
        assert_true(fabs(q_of(&s)[2] + fall) < 1e-6);
        close_scene(&s);
    }
}

/* Two bodies that hold each other exert opposite forces: their centre of mass is not accelerated,
 * and their angular momentum is conserved. */
static void nothing_comes_from_outside(void **state)
{
    (void)state;
    scene s = open_scene(
        "<option gravity='0 0 0'/><worldbody><body name='a'><freejoint/><geom size='0.1' mass='1'/>"
        "</body><body pos='0.18 0.02 0.05'><freejoint/><geom type='box' size='0.09 0.1 0.1' "
        "mass='3'/></body></worldbody><actuator><adhesion body='a' ctrlrange='0 100'/></actuator>");
    set_grip(&s, 20);
    v_of(&s)[6] = 0.3; /* the box moves away, and turns */
    v_of(&s)[10] = 2;
    go(&s, 0.5, 0.002);
    const double *q = q_of(&s), *v = v_of(&s);
    assert_true(fabs(v[0] + 3 * v[6] - 0.9) < 1e-9);
    assert_true(fabs(v[1] + 3 * v[7]) < 1e-9 && fabs(v[2] + 3 * v[8]) < 1e-9);
    assert_true(hypot(hypot(q[7] - q[0], q[8] - q[1]), q[9] - q[2]) < 0.3); /* adhesion holds it */
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_brick_hangs),
        cmocka_unit_test(a_weak_grip_lasts_a_step),
        cmocka_unit_test(a_micrometre_is_contact),
        cmocka_unit_test(friction_follows_what_pushes),
        cmocka_unit_test(nothing_comes_from_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
