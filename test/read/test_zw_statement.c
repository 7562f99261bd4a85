/* Constraints, laws, events and pictures: what each statement puts into the model. */
#include "reading.h"

#define XY "coord x, y, z\nkinetic x'^2 + y'^2 + z'^2\n"

static void constraints_become_residuals(void **state)
{
    (void)state;
    world w = world_of(XY "constraint rod: x^2 + y^2 = 4\n"
                          "constraint (x, y, z) = (y, z, x')\n"
                          "constraint y >= x, restitution 0.8, friction 0.3 at (x, y)\n"
                          "constraint roof: y <= 2*z, friction z\n"
                          "constraint wire: z = x*y, friction 0.1\n"
                          "constraint y'*cos(z) = x'*sin(z)\n",
                       7);
    const model_constraint *c = w.model->constraint;
    const double *q = w.q, *v = w.v;
    assert_int_equal(w.model->constraint_count, 6);
    assert_string_equal(c[0].name, "rod");
    assert_int_equal(c[0].relation, MODEL_EQUAL);
    assert_int_equal(c[0].rows, 1);
    ASSERT_CLOSE(value(&w, c[0].residual[0]), q[0] * q[0] + q[1] * q[1] - 4);
    assert_int_equal(c[0].friction, EXPR_NONE);
    assert_int_equal(c[0].restitution, EXPR_NONE);
    assert_int_equal(w.model->place[c[0].place].line, 3);
    assert_int_equal(w.model->place[c[0].place].column, 12);

    assert_string_equal(c[1].name, "constraint 2");
    assert_int_equal(c[1].rows, 3);
    ASSERT_CLOSE(value(&w, c[1].residual[0]), q[0] - q[1]);
    ASSERT_CLOSE(value(&w, c[1].residual[2]), q[2] - v[0]);

    assert_int_equal(c[2].relation, MODEL_AT_LEAST);
    ASSERT_CLOSE(value(&w, c[2].residual[0]), q[1] - q[0]);
    ASSERT_CLOSE(value(&w, c[2].restitution), 0.8);
    ASSERT_CLOSE(value(&w, c[2].friction), 0.3);
    assert_int_equal(c[2].contact_count, 2);
    ASSERT_CLOSE(value(&w, c[2].contact[1]), q[1]);

    ASSERT_CLOSE(value(&w, c[3].residual[0]), 2 * q[2] - q[1]);
    ASSERT_CLOSE(value(&w, c[3].friction), q[2]);
    assert_int_equal(c[3].contact_count, 0);
    assert_int_equal(c[4].relation, MODEL_EQUAL);
    ASSERT_CLOSE(value(&w, c[4].friction), 0.1);
    ASSERT_CLOSE(value(&w, c[5].residual[0]), v[1] * cos(q[2]) - v[0] * sin(q[2]));
    world_free(&w);
}

static void friction_and_nonideal_find_their_constraint(void **state)
{
    (void)state;
    world w = world_of(XY "constraint wire: z = x^2\nconstraint blade: y' = z\n"
                          "friction wire: 0.2\n"
                          "nonideal wire: (-3*x', -4*z')\n"
                          "nonideal blade: x: 5*y, y: -y'\n",
                       3);
    const model_constraint *wire = &w.model->constraint[0], *blade = wire + 1;
    ASSERT_CLOSE(value(&w, wire->friction), 0.2);
    assert_int_equal(blade->friction, EXPR_NONE);
    assert_int_equal(wire->nonideal_count, 2);
    assert_int_equal(wire->nonideal_coord[0], 0);
    assert_int_equal(wire->nonideal_coord[1], 2);
    ASSERT_CLOSE(value(&w, wire->nonideal[0]), -3 * w.v[0]);
    ASSERT_CLOSE(value(&w, wire->nonideal[1]), -4 * w.v[2]);
    assert_int_equal(blade->nonideal_count, 2);
    assert_int_equal(blade->nonideal_coord[1], 1);
    ASSERT_CLOSE(value(&w, blade->nonideal[0]), 5 * w.q[1]);
    world_free(&w);

    /* coordinates and speeds both count as involved, each coordinate once */
    w = world_of(XY "constraint c: z' + x = x'*t\nnonideal c: (1, 2)\n", 3);
    assert_int_equal(w.model->constraint[0].nonideal_coord[1], 2);
    world_free(&w);
}

static void laws_are_parsed(void **state)
{
    (void)state;
    zw_model *m = read_text(XY "constraint edge: x' = y\n");
    assert_int_equal(m->law.kind, MODEL_LAW_NONHOLONOMIC);
    assert_null(m->law.lambda);
    zw_model_free(m);

    m = read_text("param l0 = 0.5\n" XY "constraint (x', y') = (y, z)\nconstraint edge: x' = y\n"
                  "constraint both: (x', z') = (y, y)\n"
                  "law vakonomic edge = l0, both = (1, -2)\n");
    assert_int_equal(m->law.kind, MODEL_LAW_VAKONOMIC);
    const double wanted[] = {0, 0, 0.5, 1, -2};
    assert_memory_equal(m->law.lambda, wanted, sizeof wanted);
    zw_model_free(m);

    m = read_text(XY "constraint edge: x' = y\nlaw mixed alpha=1 beta=10\n");
    assert_int_equal(m->law.kind, MODEL_LAW_MIXED);
    assert_true(m->law.alpha == 1 && m->law.beta == 10);
    zw_model_free(m);

    m = read_text(XY "constraint edge: x' = y\nlaw penalty N=1e4\n");
    assert_int_equal(m->law.kind, MODEL_LAW_PENALTY);
    assert_true(m->law.N == 1e4);
    zw_model_free(m);
}

/* Conditions are positive exactly where they hold. */
static void conditions_become_root_functions(void **state)
{
    (void)state;
    world w = world_of(XY "let low = y < 0.7\n"
                          "stop when t > 1 or y > 5\n"
                          "event a: when x > 0.5 and not low\n"
                          "event b: when x <= y and (y <= z or z < 0.4)\n"
                          "event c: x = 2*y\n"
                          "event d: x = 2*y rising\n"
                          "event e1: x + z = 2*y falling, stop\n",
                       1);
    assert_int_equal(w.model->event_count, 6);
    const model_event *e = w.model->event;
    dice d = dice_of(5);
    for (int trial = 0; trial < 100; trial++) {
        w.t = dice_between(&d, 0, 2);
        for (int i = 0; i < 3; i++) {
            w.q[i] = dice_between(&d, 0, 1);
        }
        double x = w.q[0], y = w.q[1], z = w.q[2];
        ASSERT_CLOSE(value(&w, e[0].root), fmax(w.t - 1, y - 5));
        assert_int_equal(value(&w, e[1].root) > 0, x > 0.5 && y >= 0.7);
        assert_int_equal(value(&w, e[2].root) > 0, x <= y && (y <= z || z < 0.4));
        ASSERT_CLOSE(value(&w, e[3].root), x - 2 * y);
    }
    assert_string_equal(e[0].name, "stop when t > 1 or y > 5");
    assert_true(e[0].stops && e[0].direction == 1);
    assert_true(!e[1].stops && e[1].direction == 1);
    assert_string_equal(e[3].name, "c");
    assert_int_equal(e[3].direction, 0);
    assert_int_equal(e[4].direction, 1);
    assert_int_equal(e[5].direction, -1);
    assert_true(e[5].stops);
    world_free(&w);
}

static void events_set_things(void **state)
{
    (void)state;
    world w = world_of("param k = 2\n" XY
                       "event hit: y = 0 falling, set y' = -0.8*y', set x = x + 1, set k = 2*k\n",
                       1);
    const model_event *e = &w.model->event[0];
    assert_int_equal(e->reset_count, 3);
    assert_true(e->reset[0].kind == MODEL_SET_SPEED && e->reset[0].index == 1);
    ASSERT_CLOSE(value(&w, e->reset[0].value), -0.8 * w.v[1]);
    assert_true(e->reset[1].kind == MODEL_SET_COORD && e->reset[1].index == 0);
    ASSERT_CLOSE(value(&w, e->reset[1].value), w.q[0] + 1);
    assert_true(e->reset[2].kind == MODEL_SET_PARAM && e->reset[2].index == 0);
    ASSERT_CLOSE(value(&w, e->reset[2].value), 4);
    world_free(&w);
}

static void checks_have_names_and_tolerances(void **state)
{
    (void)state;
    world w = world_of(XY "check energy within 1e-9\ncheck spin: x*y' - y*x'\ncheck x + y\n"
                          "check energy\n",
                       1);
    const model_check *c = w.model->check;
    assert_int_equal(w.model->check_count, 4);
    assert_string_equal(c[0].name, "energy");
    assert_int_equal(c[0].value, EXPR_NONE);
    assert_true(c[0].tolerance == 1e-9);
    assert_string_equal(c[1].name, "spin");
    ASSERT_CLOSE(value(&w, c[1].value), w.q[0] * w.v[1] - w.q[1] * w.v[0]);
    assert_true(c[1].tolerance == 1e-6);
    assert_string_equal(c[2].name, "x + y");
    world_free(&w);
}

static void plots_keep_the_words(void **state)
{
    (void)state;
    world w = world_of(XY "plot time x,  y' ,\n   z^2\nplot phase x x'\nplot phase x, x', y, y'\n"
                          "plot xy x, 2*y\nplot xy (y, z)\nplot xy r\nplot x\n"
                          "point r = (x, y)\n",
                       1);
    assert_int_equal(w.model->plot_count, 7);
    const model_plot *p = w.model->plot;
    assert_int_equal(p[0].kind, MODEL_PLOT_TIME);
    assert_int_equal(p[0].curve_count, 3);
    assert_string_equal(p[0].curve[1].label, "y'");
    assert_string_equal(p[0].curve[2].label, "z^2");
    assert_string_equal(p[0].curve[2].x_label, "t");
    assert_int_equal(p[0].curve[0].x, EXPR_NONE);
    assert_int_equal(p[1].kind, MODEL_PLOT_PHASE);
    ASSERT_CLOSE(value(&w, p[1].curve[0].x), w.q[0]);
    ASSERT_CLOSE(value(&w, p[1].curve[0].y), w.v[0]);
    assert_string_equal(p[1].curve[0].x_label, "x");
    assert_string_equal(p[1].curve[0].label, "x'");
    assert_int_equal(p[2].curve_count, 2);
    ASSERT_CLOSE(value(&w, p[2].curve[1].y), w.v[1]);
    assert_int_equal(p[3].kind, MODEL_PLOT_XY);
    assert_string_equal(p[3].curve[0].label, "2*y");
    assert_string_equal(p[4].curve[0].x_label, "y");
    assert_string_equal(p[4].curve[0].label, "z");
    assert_string_equal(p[5].curve[0].x_label, "r.x");
    assert_string_equal(p[5].curve[0].label, "r.y");
    ASSERT_CLOSE(value(&w, p[4].curve[0].x), w.q[1]);
    ASSERT_CLOSE(value(&w, p[4].curve[0].y), w.q[2]);
    assert_int_equal(p[6].kind, MODEL_PLOT_TIME);
    world_free(&w);
}

static void drawings_take_points(void **state)
{
    (void)state;
    world w = world_of(XY "point p = (x, y), q = (y, z)\n"
                          "draw line (0,0) p q colour red\n"
                          "draw circle p radius 0.1*z\n"
                          "draw text \"a label\" at q\n"
                          "draw point (x, y, z)\n"
                          "draw polygon p, q, (1, 2)\n"
                          "draw spring p q\ndraw trail p color \"#123456\"\n",
                       1);
    assert_int_equal(w.model->draw_count, 7);
    const model_draw *d = w.model->draw;
    assert_int_equal(d[0].shape, MODEL_DRAW_LINE);
    assert_int_equal(d[0].point_count, 3);
    assert_int_equal(d[0].dimension, 2);
    ASSERT_CLOSE(value(&w, d[0].point[2]), w.q[0]);
    ASSERT_CLOSE(value(&w, d[0].point[5]), w.q[2]);
    assert_string_equal(d[0].colour, "red");
    assert_int_equal(d[0].radius, EXPR_NONE);
    ASSERT_CLOSE(value(&w, d[1].radius), 0.1 * w.q[2]);
    assert_string_equal(d[2].text, "a label");
    assert_int_equal(d[3].dimension, 3);
    assert_int_equal(d[4].shape, MODEL_DRAW_POLYGON);
    assert_int_equal(d[4].point_count, 3);
    assert_int_equal(d[5].shape, MODEL_DRAW_SPRING);
    assert_string_equal(d[6].colour, "#123456");
    world_free(&w);
}

static void runs_and_titles(void **state)
{
    (void)state;
    zw_model *m = read_text("\n  # A first line.  \n# another\nparam T = 5\n" XY
                            "run time 2*T, step 0.01, tol 1e-12\nrun method dop853, every T/100\n");
    assert_true(m->run.time == 10 && m->run.step == 0.01 && m->run.tolerance == 1e-12);
    assert_true(m->run.every == 0.05);
    assert_string_equal(m->run.method, "dop853");
    assert_string_equal(m->title, "A first line.");
    zw_model_free(m);

    m = read_text("# not this\ntitle \"but this\"\n" XY);
    assert_string_equal(m->title, "but this");
    assert_null(m->run.method);
    zw_model_free(m);

    m = read_text(XY "# too late\n");
    assert_null(m->title);
    zw_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constraints_become_residuals),
        cmocka_unit_test(friction_and_nonideal_find_their_constraint),
        cmocka_unit_test(laws_are_parsed),
        cmocka_unit_test(conditions_become_root_functions),
        cmocka_unit_test(events_set_things),
        cmocka_unit_test(checks_have_names_and_tolerances),
        cmocka_unit_test(plots_keep_the_words),
        cmocka_unit_test(drawings_take_points),
        cmocka_unit_test(runs_and_titles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
