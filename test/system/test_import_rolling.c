/* What rolls over imported robots, by statements: the snakeboard of the equations, and the frames
 * that the words mean. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import.h"
#include "system/bodies/bodies.h"

/* The wheels of the snakeboard as elements, its gait as formulas. (In examples/snakeboard.zw the
 * wheels that turn by +phi are those at -l.) */
static void a_snakeboard(void **state)
{
    (void)state;
    world w = formulas("import \"snakeboard.xml\" as s\n"
                       "start s.front = -0.5*sin(1), s.rear = 0.5*sin(1)\n"
                       "speed s.x' = 0.05, s.y' = 0\n"
                       "constraint rotor: s.rotor = 0.7*sin(2*t)\n"
                       "constraint fore: s.front = -0.5*sin(2*t + 1)\n"
                       "constraint aft: s.rear = 0.5*sin(2*t + 1)\n"
                       "blade front: s.front_truck on z = 0, without touch\n"
                       "blade rear: s.rear_truck on z = 0, without touch\n"
                       "plot time lambda(front), lambda(rear)\n");
    world v = {0};
    v.model = zw_model_read(ZW_SOURCE_DIR "/examples/snakeboard.zw", NULL, &v.error);
    v.system = v.model ? zw_system_compile(v.model, NULL, &v.error) : NULL;
    v.work = v.system ? zw_work_create(v.system, &v.error) : NULL;
    v.state = v.work ? zw_state_create(v.system, v.work, NULL, &v.error) : NULL;
    assert_non_null(v.state);
    for (int k = 1; k <= 5; k++) {
        zw_run_summary one = world_run(&w, 2 * k, 1e-13);
        world_run(&v, 2 * k, 1e-13);
        assert_true(one.violation_velocity <= 1e-12 && one.violation_position <= 1e-12);
        assert_true(one.energy_drift <= 1e-10);
        for (int i = 0; i < 3; i++) {
            close_to("place", world_field(&w, ZW_FIELD_Q)[i], world_field(&v, ZW_FIELD_Q)[i],
                     1e-10);
            close_to("speed", world_field(&w, ZW_FIELD_V)[i], world_field(&v, ZW_FIELD_V)[i],
                     1e-10);
        }
    }
    world_forward(&w);
    world_forward(&v);
    for (int k = 0; k < 2; k++) { /* looked at by name; rows: rotor fore aft front rear */
        close_to("lambda", world_field(&w, ZW_FIELD_OUTPUT)[2 * k + 1],
                 world_field(&w, ZW_FIELD_LAMBDA)[3 + k], 0);
        close_to("sideways", fabs(world_field(&w, ZW_FIELD_LAMBDA)[3 + k]),
                 fabs(world_field(&v, ZW_FIELD_LAMBDA)[3 - k]), 1e-8);
    }
    world_end(&w);
    world_end(&v);
}

/* Statements and definitions in C say the same: which frames, which axes, which plane. */
static void statements_are_definitions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int kind;
        double turn[4], roller; /* of frame 1 in the site */
        int on_base;
        double turn2[4], pos2[3];
    } list[] = {
        {"wheel w: s.tip radius 0.3 on s.base",
         ZW_EQUALITY_WHEEL,
         {1, 0, 0, 0},
         0,
         1,
         {1, 0, 0, 0},
         {0}},
        {"wheel w: s.tip radius 0.3 axle x on z = -0.5",
         ZW_EQUALITY_WHEEL,
         {0.5, 0.5, 0.5, 0.5},
         0,
         0,
         {1, 0, 0, 0},
         {0, 0, -0.5}},
        {"mecanum w: s.tip radius 0.3 rollers 0.7 axle y on x = 2",
         ZW_EQUALITY_MECANUM,
         {0.5, -0.5, -0.5, -0.5},
         0.7,
         0,
         {0.5, 0.5, 0.5, 0.5},
         {2, 0, 0}},
        {"roll w: s.tip radius 0.3 on y = 0.1",
         ZW_EQUALITY_ROLL,
         {1, 0, 0, 0},
         0,
         0,
         {0.5, -0.5, -0.5, -0.5},
         {0, 0.1, 0}},
        {"blade w: s.tip along z on s.base",
         ZW_EQUALITY_BLADE,
         {0.5, -0.5, -0.5, -0.5},
         0,
         1,
         {1, 0, 0, 0},
         {0}},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[300];
        zw_error error = {0};
        snprintf(text, sizeof text, "import \"space.xml\" as s\n%s\n", list[i].text);
        zw_model *said = zw_model_parse(text, FOLDER "test.zw", NULL, &error);
        if (!said) {
            fail_msg("%s", error.text);
        }
        zw_model *made = zw_model_read(FOLDER "space.xml", NULL, &error);
        const zw_site_def *tip =
            zw_model_def(made, ZW_KIND_SITE, zw_model_find(made, ZW_KIND_SITE, "tip"));
        zw_equality_def def = zw_equality_default();
        def.kind = list[i].kind;
        def.radius = 0.3;
        def.roller = list[i].roller;
        def.first = tip->body;
        def.second = list[i].on_base ? zw_model_find(made, ZW_KIND_BODY, "base") : 0;
        memcpy(def.pos1, tip->pos, sizeof def.pos1);
        model_quat_multiply(def.quat1, tip->quat, list[i].turn);
        memcpy(def.pos2, list[i].pos2, sizeof def.pos2);
        memcpy(def.quat2, list[i].turn2, sizeof def.quat2);
        assert_true(zw_model_add_equality(made, &def, &error) >= 0);
        robot one = robot_compile(said), two = robot_compile(made);
        assert_int_equal(one.system->m, two.system->m);
        double v[32];
        unsigned die = 7;
        for (int k = 0; k < one.system->n; k++) {
            v[k] = dice(&die);
        }
        for (int part = 0; part < 2; part++) {
            system_part which = part ? PART_VELOCITY : PART_POSITION;
            assert_int_equal(system_evaluate(one.system, one.work, which, 0, one.system->bodies->q,
                                             v, NULL, NULL, &error),
                             ZW_OK);
            assert_int_equal(system_evaluate(two.system, two.work, which, 0, two.system->bodies->q,
                                             v, NULL, NULL, &error),
                             ZW_OK);
            for (int k = 0; k < one.system->m; k++) {
                close_to(list[i].text, one.work->out[which][k], two.work->out[which][k], 1e-14);
            }
        }
        robot_end(&one);
        robot_end(&two);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_snakeboard),
                                       cmocka_unit_test(statements_are_definitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
