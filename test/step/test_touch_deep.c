/* Overlaps at an instant: zw_forward ignores pairs that no motion separates, as steps do; others
 * hold without friction. */
#include "touch.h"

#define FLOOR "<geom name='floor' type='plane' size='0 0 1' friction='.8 0 0'/>"

static zw_status forward(scene *s, double *a)
{
    zw_error error = {0};
    zw_status status = zw_forward(s->system, s->state, s->work, NULL, &error);
    zw_view list = zw_field(s->system, s->state, s->work, ZW_FIELD_A);
    memcpy(a, list.data, (size_t)list.count * sizeof *a);
    return status;
}

/* An arm whose shapes overlap around its joints: boxes, inside each other near the hinge, on all
 * sides. The same as if contacts of neighbours were excluded: the joints are free, with friction of
 * their own, and the hand presses on the floor. */
static void neighbours_overlap(void **state)
{
    (void)state;
    static const char *const exclude[] = {
        "", "<contact><exclude body1='a' body2='b'/><exclude body1='a' body2='c'/>"
            "<exclude body1='b' body2='c'/></contact>"};
    double a[2][16];
    for (int k = 0; k < 2; k++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "<worldbody>" FLOOR "<body name='a' pos='0 0 .6'><freejoint/>"
                 "<geom type='box' size='.1 .1 .1' mass='3'/>"
                 "<body name='b' pos='.1 0 -.05'><joint axis='0 1 0' frictionloss='.2'/>"
                 "<geom type='box' size='.15 .04 .04' pos='.12 0 0' mass='1'/>"
                 "<body name='c' pos='.05 0 0'><joint axis='0 1 0' frictionloss='.1'/>"
                 "<geom type='box' size='.2 .03 .03' pos='.1 0 0' mass='.5'/>"
                 "</body></body></body></worldbody>%s",
                 exclude[k]);
        scene s = open_scene(text);
        q_of(&s)[2] = 0.1; /* the box stands on the floor */
        v_of(&s)[6] = 0.3;
        v_of(&s)[7] = -0.2;
        assert_int_equal(forward(&s, a[k]), ZW_OK);
        close_scene(&s);
    }
    for (int i = 0; i < 8; i++) {
        assert_true(fabs(a[0][i] - a[1][i]) < 1e-9 * (1 + fabs(a[1][i])));
    }
}

/* A crate slides, a millimetre deep in the floor: it can be lifted, so that the floor holds it, but
 * without friction, as in a step. At a micrometre there is friction. */
static void a_deep_crate_slides(void **state)
{
    (void)state;
    static const double depth[] = {1e-3, 2e-4, 5e-5, 1e-6}, slows[] = {0, 0, 0.8, 0.8};
    for (int k = 0; k < 4; k++) {
        scene s = open_scene("<worldbody>" FLOOR "<body pos='0 0 .1'><freejoint/><geom type='box' "
                             "size='.1 .1 .1' mass='2' friction='.8 0 0'/></body></worldbody>");
        double a[6];
        q_of(&s)[2] -= depth[k];
        v_of(&s)[0] = 1;
        assert_int_equal(forward(&s, a), ZW_OK);
        assert_true(fabs(a[0] + slows[k] * G) < 1e-8 && fabs(a[2]) < 1e-8);
        close_scene(&s);
    }
}

/* A spring pulls a door sideways, which hangs in its frame, deep in it on both sides: the frame
 * does not hold it. Where only one side of it is there, the door could leave, and is held. */
static void a_door_in_its_frame(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "<worldbody><geom type='box' size='.1 .5 .5' pos='-.099 0 0'/>%s<body pos='.1 0 0'>"
            "<joint type='slide' axis='1 0 0' stiffness='10' springref='-1'/>"
            "<geom type='box' size='.1 .3 .3' mass='2'/></body></worldbody>",
            k == 0 ? "<geom type='box' size='.1 .5 .5' pos='.299 0 0'/>" : "");
        scene s = open_scene(text);
        zw_contact list[64];
        double a[1], normal = 0;
        assert_int_equal(forward(&s, a), ZW_OK);
        int found = zw_contacts(s.system, s.state, s.work, list, 64, NULL);
        for (int i = 0; i < found; i++) {
            normal += list[i].force[0];
        }
        assert_true(found > 0 && fabs(a[0] + (k == 0 ? 5 : 0)) < 1e-9); /* both are listed */
        assert_true(fabs(normal - (k == 0 ? 0 : 10)) < 1e-8);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_overlap),
        cmocka_unit_test(a_deep_crate_slides),
        cmocka_unit_test(a_door_in_its_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
