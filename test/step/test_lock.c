/* A plate on a crank and two rods, with a servo: by rods of three lengths it cannot move, though
 * their rows allow it to at first order; by equal ones it does. */
#include "touch.h"

#define ROD                                                                                        \
    "<geom type='capsule' size='.003' mass='.01' contype='0' conaffinity='0' fromto='0 0 0 0 0 "
#define ONE(name, x, length)                                                                       \
    "<body pos='" x " 0 0'><joint name='" name "' axis='0 1 0'/>" ROD length                       \
    "'/><site name='" name "' pos='0 0 " length "'/></body>"
#define NECK(a, front, b, back)                                                                    \
    "<worldbody><geom type='plane' size='1 1 .1'/><body pos='0 0 .06'><freejoint/>"                \
    "<geom type='box' size='.06 .03 .02' pos='0 0 -.03' mass='.3'/>"                               \
    "<body><joint name='crank' axis='0 1 0' armature='.001' frictionloss='.01'/>" ROD ".04'/>"     \
    "<body pos='0 0 .04'><joint axis='0 1 0'/>"                                                    \
    "<geom type='box' size='.05 .03 .005' pos='.01 0 .01' mass='.1'/>"                             \
    "<site name='a' pos='.05 0 " a "'/><site name='b' pos='-.03 0 " b                              \
    "'/></body></body>" ONE("front", ".05", front)                                                 \
        ONE("back", "-.03",                                                                        \
            back) "</body></worldbody>"                                                            \
                  "<equality><connect site1='a' site2='front'/><connect site1='b' "                \
                  "site2='back'/></equality>"                                                      \
                  "<actuator><position joint='crank' kp='20' forcerange='-3 3'/></actuator>"

static double turned(const char *text, double *height)
{
    double aim = 0.5;
    zw_error error = {0};
    scene s = open_scene(text);
    must(zw_state_set(s.system, s.state, s.work, ZW_FIELD_PARAM, 0, 1, &aim, &error), &error);
    go(&s, 0.3, 0.002);
    double crank = q_of(&s)[7];
    *height = q_of(&s)[2];
    close_scene(&s);
    return crank;
}

static void a_rigid_loop_holds_a_servo(void **state)
{
    (void)state;
    double height;
    assert_true(fabs(turned(NECK("1e-4", ".0401", "-1e-4", ".0399"), &height)) < 1e-12);
    assert_true(fabs(height - 0.05) < 1e-9);
}

static void equal_rods_let_it_move(void **state)
{
    (void)state;
    double height;
    assert_true(turned(NECK("0", ".04", "0", ".04"), &height) > 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_rigid_loop_holds_a_servo),
                                       cmocka_unit_test(equal_rods_let_it_move)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
