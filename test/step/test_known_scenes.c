/* Scenes of examples/contact whose motion is known: a ladder, books over an edge, a parcel. */
#include "step/touch.h"

static void prepare(scene *s)
{
    zw_error error = {0};
    s->system = zw_system_compile(s->model, NULL, &error);
    must(s->system ? ZW_OK : error.status, &error);
    s->work = zw_work_create(s->system, &error);
    s->state = zw_state_create(s->system, s->work, NULL, &error);
    must(s->state ? ZW_OK : error.status, &error);
}

static scene open_example(const char *name, const char *key)
{
    char path[400];
    zw_error error = {0};
    scene s = {0};
    snprintf(path, sizeof path, "%s/examples/contact/%s", ZW_SOURCE_DIR, name);
    s.model = zw_model_read(path, NULL, &error);
    must(s.model ? ZW_OK : error.status, &error);
    if (key) {
        int index = zw_model_find(s.model, ZW_KIND_KEY, key);
        zw_key_def def = *(const zw_key_def *)zw_model_def(s.model, ZW_KIND_KEY, index);
        def.start = 1;
        must(zw_model_change(s.model, ZW_KIND_KEY, index, &def, &error), &error);
    }
    prepare(&s);
    return s;
}

static void step(scene *s, double h)
{
    zw_error error = {0};
    must(zw_step(s->system, s->state, s->work,
                 &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = h}, &error),
         &error);
}

/* The contact force on a fixed geom in the last step. */
static double push_of(scene *s, const char *geom)
{
    zw_contact list[32];
    zw_error error = {0};
    double push = 0;
    int count = zw_contacts(s->system, s->state, s->work, list, 32, &error);
    for (int k = 0; k < count && k < 32; k++) {
        push += strcmp(list[k].geom_name[0], geom) == 0 ? list[k].force[0] : 0;
    }
    return push;
}

/* With x = l cos a, z = l sin a of the middle and the radius of gyration k the energy gives a'^2 =
 * 2 g l (sin a0 - sin a)/(l^2 + k^2), and the wall pushes with m x'' = 0 where sin a = 2/3 sin a0.
 * Its middle then keeps l a' sin a. Steps of 1 ms: order one. */
static void a_ladder_leaves_the_wall(void **state)
{
    (void)state;
    const double h = 1e-3, l = 1, high = sqrt(0.75);
    scene s = open_example("ladder.xml", NULL);
    zw_inertia in[2];
    zw_error error = {0};
    must(zw_model_inertia(s.model, in, &error), &error);
    double kk = fmax(in[1].moment[0], in[1].moment[1]) / in[1].mass, left = 0, sine = 1;
    for (int k = 1; k <= 600; k++) {
        step(&s, h);
        double now = (q_of(&s)[2] - 0.01) / l;
        if (push_of(&s, "wall") > 1e-9) {
            left = k * h;
            sine = now;
        }
    }
    double turn = sqrt(2 * G * l * high / 3 / (l * l + kk)), speed = l * turn * high * 2 / 3;
    printf("the wall lets go at %g s, sine %g of %g; speed %g of %g\n", left, sine, high * 2 / 3,
           v_of(&s)[0], speed);
    assert_true(fabs(sine - high * 2 / 3) < 2 * h * turn);
    assert_true(fabs(v_of(&s)[0] - speed) < 2 * h);
    close_scene(&s);
}

/* The harmonic series: just below the limit of overhang the stack stays at rest; above it falls. */
static void books_stand_or_fall(void **state)
{
    (void)state;
    for (int falls = 0; falls < 2; falls++) {
        scene s = open_example("overhang.xml", falls ? "falls" : NULL);
        const double top = q_of(&s)[30], out = q_of(&s)[28];
        assert_true(out - 0.12 > 0.03); /* all of it is beyond the edge at 0 */
        for (int k = 0; k < 160; k++) {
            step(&s, 0.005);
        }
        double weight = 5 * 0.24 * 0.17 * 0.03 * 700 * G;
        if (falls) {
            assert_true(q_of(&s)[30] < top - 0.01);
        } else {
            assert_true(fabs(q_of(&s)[30] - top) < 1e-12 && fabs(q_of(&s)[28] - out) < 1e-12);
            assert_true(fabs(push_of(&s, "table") - weight) < 1e-8);
        }
        close_scene(&s);
    }
}

/* v = mu g t up to the belt's speed, then constant; the force of the drive is the friction. At the
 * end of the belt the parcel is at rest, and the force of the stop balances the friction. */
static void a_parcel_on_a_belt(void **state)
{
    (void)state;
    const double h = 0.002, pull = 0.3 * 2 * G;
    scene s = open_example("parcel.zw", NULL);
    int along = zw_id(s.system, ZW_KIND_SPEED, "parcel.vx");
    assert_true(along >= 0);
    for (int k = 1; k <= 800; k++) {
        step(&s, h);
        double t = k * h, v = v_of(&s)[along];
        if (t < 1.4) {
            assert_true(fabs(v - fmin(0.3 * G * t, 1)) < 1e-9);
        } else if (t > 1.5) {
            assert_true(fabs(v) < 1e-9 && fabs(push_of(&s, "end") - pull) < 1e-8);
        }
    }
    close_scene(&s);
}

/* A brick of a URDF file slides v^2/(2 mu g) far on the ground, with its own friction, or with that
 * of the ground if that is given, even if it is smaller. */
static void a_brick_on_the_ground(void **state)
{
    (void)state;
    static const struct {
        const char *ground;
        double mu;
    } is[] = {{"z = 0", 0.4}, {"z = 0, friction 0.8", 0.8}, {"z = 0, friction 0.2", 0.2}};
    for (int k = 0; k < 3; k++) {
        char text[200];
        zw_error error = {0};
        scene s = {0};
        snprintf(text, sizeof text, "import \"brick.urdf\"\nground %s\nspeed brick.x' = 1\n",
                 is[k].ground);
        s.model = zw_model_parse(text, ZW_SOURCE_DIR "/examples/bodies/ground.zw", NULL, &error);
        must(s.model ? ZW_OK : error.status, &error);
        prepare(&s);
        for (int i = 0; i < 300; i++) {
            step(&s, 0.002);
        }
        double far = 1 / (2 * is[k].mu * G);
        assert_true(fabs(q_of(&s)[0] - far) < 0.0025 && fabs(v_of(&s)[0]) < 1e-9);
        assert_true(fabs(q_of(&s)[2] - 0.0565) < 1e-12);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ladder_leaves_the_wall),
        cmocka_unit_test(books_stand_or_fall),
        cmocka_unit_test(a_parcel_on_a_belt),
        cmocka_unit_test(a_brick_on_the_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
