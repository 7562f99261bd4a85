/* Contact sensors under exact contact, compared with statics in closed form. */
#include "touch.h"

static const double *readings(scene *s)
{
    zw_error error = {0};
    must(zw_look(s->system, s->state, s->work, &error), &error);
    return zw_field(s->system, s->state, s->work, ZW_FIELD_SENSOR).data;
}

static void near(double x, double y, double within)
{
    if (!(fabs(x - y) <= within)) {
        fail_msg("%.15g is not %.15g", x, y);
    }
}

/* A brick of 2 kg on a floor: the net force is the weight, and acts below the middle. */
static void contacts_are_reported(void **state)
{
    (void)state;
    scene s = open_scene(
        "<worldbody><geom name='floor' type='plane' size='3 3 .1'/><site name='half' type='box' "
        "size='1 1 1' pos='1.5 0 0'/><body name='brick' pos='0.5 0 0.1'><freejoint/><geom "
        "name='brick' type='box' size='.2 .1 .1' mass='2'/></body></worldbody><sensor>"
        "<contact name='net' geom1='floor' data='found force torque pos' reduce='netforce'/>"
        "<contact name='up' geom1='floor' data='normal'/><contact name='down' geom2='floor' "
        "data='normal'/><contact name='half' site='half' data='found'/><contact name='least' "
        "geom2='brick' data='found force dist' num='6' reduce='maxforce'/></sensor>");
    go(&s, 0.2, 0.002);
    const double *x = readings(&s);
    assert_string_equal(zw_name(s.system, ZW_KIND_READING, 0), "net.found");
    assert_string_equal(zw_name(s.system, ZW_KIND_READING, 3), "net.force.z");
    assert_string_equal(zw_name(s.system, ZW_KIND_READING, 17), "least.0.found");
    near(x[0], 4, 0);
    near(x[1], 0, 1e-8);
    near(x[2], 0, 1e-8);
    near(x[3], 2 * G, 1e-8); /* the force of the floor on the brick */
    near(x[4], 0, 1e-8);     /* about its middle */
    near(x[5], 0, 1e-8);
    near(x[7], 0.5, 1e-9); /* which is below that of the weight */
    near(x[8], 0, 1e-9);
    near(x[9], 0, 1e-9);
    near(x[12], 1, 1e-12);  /* away from the floor */
    near(x[15], -1, 1e-12); /* and towards it */
    near(x[16], 2, 0);      /* two corners lie in the zone */
    double sum = 0, last = INFINITY;
    for (int k = 0; k < 4; k++) {
        const double *own = x + 17 + 5 * k;
        near(own[0], 4, 0);
        near(own[4], 0, 1e-9);
        assert_true(own[1] <= last + 1e-9);
        sum += own[1];
        last = own[1];
    }
    near(sum, 2 * G, 1e-8);
    for (int k = 37; k < 47; k++) {
        near(x[k], 0, 0); /* there are no more contacts */
    }
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
