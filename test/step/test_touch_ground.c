/* Bodies on height fields, on triangle meshes, and cones: the same motions as on planes, and places
 * of rest that are known. */
#include "touch.h"

/* The same ball, rolling, on two grounds. */
static void same_motion(const char *assets, const char *one, const char *other)
{
    static const char *const ball =
        "<body pos='-.6 -.7 .6'><freejoint/><geom size='.1' friction='.8'/></body></worldbody>";
    char text[2][6000];
    snprintf(text[0], sizeof text[0], "<worldbody>%s%s", one, ball);
    snprintf(text[1], sizeof text[1], "%s<worldbody>%s%s", assets, other, ball);
    scene s[2] = {open_scene(text[0]), open_scene(text[1])};
    double worst = 0, way = 0;
    for (int k = 0; k < 2; k++) {
        v_of(&s[k])[0] = 0.9;
        v_of(&s[k])[1] = 1.1;
    }
    for (int i = 1; i <= 12; i++) {
        go(&s[0], 0.1 * i, 0.005);
        go(&s[1], 0.1 * i, 0.005);
        for (int k = 0; k < 7; k++) {
            worst = fmax(worst, fabs(q_of(&s[0])[k] - q_of(&s[1])[k]));
        }
    }
    way = hypot(q_of(&s[0])[0] + 0.6, q_of(&s[0])[1] + 0.7);
    printf("after %.2f m apart by %.1e\n", way, worst);
    assert_true(way > 0.5 && worst < 1e-9);
    close_scene(&s[0]);
    close_scene(&s[1]);
}

static void a_flat_field_is_a_plane(void **state)
{
    (void)state;
    same_motion("<asset><hfield name='h' nrow='9' ncol='11' size='2 2 1 .1'/></asset>",
                "<geom type='plane' size='0 0 1'/>", "<geom type='hfield' hfield='h'/>");
}

/* 3 m up over 4 m: a plane turned by atan(3/4) about -y, through the field's lowest edge. */
static void a_ramp_is_a_plane(void **state)
{
    (void)state;
    same_motion("<asset><hfield name='h' nrow='3' ncol='5' size='2 2 3 .1' "
                "elevation='0 1 2 3 4  0 1 2 3 4  0 1 2 3 4'/></asset>",
                "<geom type='plane' size='0 0 1' pos='0 0 -1.2' zaxis='-3 0 4'/>",
                "<geom type='hfield' hfield='h' pos='0 0 -2.7'/>");
}

/* A trough of four triangles with an angle of 90 degrees. */
#define TROUGH                                                                                     \
    "<asset><mesh name='m' vertex='-1 -1 1  1 -1 1  -1 0 0  1 0 0  -1 1 1  1 1 1' "                \
    "face='0 3 2  0 1 3  2 5 4  2 3 5'/></asset>"

/* A long box falls into it edge down, and lies with two faces on its sides; on the hull, which
 * fills the trough, it stays above. */
static void a_box_in_a_trough(void **state)
{
    (void)state;
    const double a = 0.1, height[2] = {a * sqrt(2.0), 1};
    for (int hull = 0; hull < 2; hull++) {
        char text[2000];
        snprintf(text, sizeof text,
                 TROUGH "<worldbody><geom name='g' type='mesh' mesh='m' friction='.5'/>"
                        "<body pos='.1 .01 1.3' euler='45 0 0'><freejoint/>"
                        "<geom type='box' size='.3 .1 .1' friction='.5'/></body></worldbody>%s",
                 hull ? "" : "<custom><text name='triangles' data='g'/></custom>");
        scene s = open_scene(text);
        double certificate = go(&s, 2, 0.005);
        printf("%s: height %.9f, certificate %.1e\n", hull ? "hull" : "triangles", q_of(&s)[2],
               certificate);
        if (hull) {
            assert_true(q_of(&s)[2] > height[1]);
        } else {
            assert_true(fabs(q_of(&s)[2] - height[0]) < 1e-7 && fabs(q_of(&s)[1]) < 1e-7);
        }
        close_scene(&s);
    }
}

/* A wide box on many small triangles: more points than there is room for, of which the outermost
 * hold it. */
static void a_box_on_many_triangles(void **state)
{
    (void)state;
    scene s = open_scene("<asset><hfield name='h' nrow='60' ncol='70' size='1 1 1 .1'/></asset>"
                         "<worldbody><geom type='hfield' hfield='h'/><body pos='.03 .02 .3'>"
                         "<freejoint/><geom type='box' size='.5 .4 .1'/></body></worldbody>");
    zw_contact list[64];
    go(&s, 1, 0.01);
    int count = zw_contacts(s.system, s.state, s.work, list, 64, NULL);
    assert_true(fabs(q_of(&s)[2] - 0.1) < 1e-9);
    assert_in_range(count, 4, 32);
    close_scene(&s);
}

/* Cones by the C interface: one stands, one is dropped on its side and rolls to rest on it: its
 * axis then leans by half its apex angle. */
static void cones_stand_and_lie(void **state)
{
    (void)state;
    zw_error error = {0};
    scene s = {.model = zw_model_create(&error)};
    zw_geom_def floor = zw_geom_default(), cone = zw_geom_default();
    floor.shape = ZW_SHAPE_PLANE;
    assert_true(zw_model_add_geom(s.model, &floor, &error) >= 0);
    const double half = 0.2, radius = 0.1, slant = sqrt(4 * half * half + radius * radius);
    for (int k = 0; k < 2; k++) {
        zw_body_def body = zw_body_default();
        zw_joint_def joint = zw_joint_default();
        body.pos[0] = k;
        body.pos[2] = k ? 0.15 : 0.25;
        body.quat[0] = body.quat[2] = k ? sqrt(0.5) : 0;
        body.quat[0] = k ? body.quat[0] : 1;
        joint.kind = ZW_JOINT_FREE;
        joint.body = cone.body = zw_model_add_body(s.model, &body, &error);
        assert_true(joint.body > 0 && zw_model_add_joint(s.model, &joint, &error) >= 0);
        cone.shape = ZW_SHAPE_CONE;
        cone.size[0] = radius;
        cone.size[1] = half;
        cone.friction[2] = 0.01;
        cone.condim = 6;
        assert_true(zw_model_add_geom(s.model, &cone, &error) >= 0);
    }
    s.system = zw_system_compile(s.model, NULL, &error);
    must(s.system ? ZW_OK : error.status, &error);
    s.work = zw_work_create(s.system, &error);
    s.state = zw_state_create(s.system, s.work, NULL, &error);
    must(s.state ? ZW_OK : error.status, &error);
    go(&s, 3, 0.005);
    const double *q = q_of(&s) + 7;
    double lean = 1 - 2 * (q[4] * q[4] + q[5] * q[5]); /* z of the axis */
    printf("stands at %.9f, lies with its axis leaning %.9f of %.9f\n", q_of(&s)[2], lean,
           -radius / slant);
    assert_true(fabs(q_of(&s)[2] - half) < 1e-9);
    assert_true(fabs(lean + radius / slant) < 1e-6);
    close_scene(&s);
}

/* What cannot be is said: triangles that move. */
static void triangles_stand_still(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *m = zw_model_parse("<mujoco>" TROUGH "<worldbody><body name='b'><freejoint/>"
                                 "<geom name='g' type='mesh' mesh='m' mass='1'/>"
                                 "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body>"
                                 "</worldbody><custom><text name='triangles' data='g'/></custom>"
                                 "</mujoco>",
                                 "scene.xml", NULL, &error);
    assert_non_null(m);
    assert_null(zw_system_compile(m, NULL, &error));
    assert_non_null(strstr(error.text, "geom g touches by its triangles, but its body moves"));
    assert_true(error.line > 0);
    zw_model_free(m);
}

/* A plane carried by a body, beside a plane of the world: two planes have no contact, and what lies
 * on both touches either. The body falls freely, and a ball that starts below it with the speed 2
 * m/s meets the plane that it carries upside down. */
static void planes_beside_planes(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody><geom type='plane' size='0 0 1'/>"
                         "<body pos='0 0 3'><freejoint/><geom type='plane' size='0 0 1' "
                         "euler='180 0 0'/><inertial pos='0 0 0' mass='1' diaginertia='1 "
                         "1 1'/></body>"
                         "<body pos='0 0 1'><freejoint/><geom size='.1' mass='1'/></body>"
                         "</worldbody>");
    go(&s, 0.3, 0.01);
    assert_true(fabs(q_of(&s)[2] - (3 - G * 0.045)) < 1e-12);
    v_of(&s)[8] = 10;
    go(&s, 0.7, 0.01);
    assert_true(q_of(&s)[9] <= q_of(&s)[2] - 0.1 + 1e-9 && q_of(&s)[9] >= 0.1 - 1e-9);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flat_field_is_a_plane), cmocka_unit_test(a_ramp_is_a_plane),
        cmocka_unit_test(a_box_in_a_trough),       cmocka_unit_test(a_box_on_many_triangles),
        cmocka_unit_test(cones_stand_and_lie),     cmocka_unit_test(triangles_stand_still),
        cmocka_unit_test(planes_beside_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
