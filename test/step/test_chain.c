/* Long chains are stepped in pieces: the motion is that in the coordinates of the joints, and the
 * cost is linear in the number of links. */
#include "step/chain/chain.h"
#include "system/bodies/bodies_build.h"
#include "touch.h"

enum { LINKS = 66, FEW = 8 }; /* three speeds each, most of them; every FEW-th has a contact */

typedef struct text {
    char data[40000];
    size_t length;
} text;

static void put(text *t, const char *part)
{
    t->length += (size_t)snprintf(t->data + t->length, sizeof t->data - t->length, "%s", part);
    assert_true(t->length + 1 < sizeof t->data);
}

/* On a floor at `height`, with hinges that have limits, friction and motors, and a branch. */
static void write_chain(text *t, int links, const char *height)
{
    t->length = 0;
    put(t, "<default><geom conaffinity='0' friction='.2' density='500'/></default><worldbody>"
           "<geom type='plane' size='9 9 1' conaffinity='1'/>");
    for (int k = 0; k < links; k++) {
        char hinge[200];
        snprintf(hinge, sizeof hinge,
                 "<body pos='.1 0 0'><joint name='h%d' axis='0 1 0' range='-3 5' limited='true' "
                 "frictionloss='.001'/>",
                 k);
        put(t, k == 0 ? "<body pos='0 0 " : k % FEW == FEW / 2 ? hinge : "<body pos='.1 0 0'>");
        put(t, k == 0 ? height : "");
        put(t, k == 0               ? "'><freejoint/>"
               : k % FEW == FEW / 2 ? ""
                                    : "<joint type='ball' damping='1e-5'/>");
        put(t, "<geom type='capsule' size='.01' fromto='0 0 0 .08 0 0' contype='0'/>");
        put(t, k % FEW == 0 ? "<geom size='.03'/>" : "");
        put(t, k == links / 2 ? "<body><joint axis='0 0 1'/><geom size='.02' pos='0 .1 0'/></body>"
                              : "");
    }
    for (int k = 0; k < links; k++) {
        put(t, "</body>");
    }
    put(t, "</worldbody><actuator><motor joint='h4' ctrlrange='-1 1'/></actuator>");
}

static scene open_chain(const char *inner, int by_pieces)
{
    static char all[42000];
    scene s = {0};
    zw_error error = {0};
    snprintf(all, sizeof all, "<mujoco><compiler angle='degree'/>%s</mujoco>", inner);
    s.model = zw_model_parse(all, "chain.xml", NULL, &error);
    must(s.model ? ZW_OK : error.status, &error);
    s.system = zw_system_compile(s.model, NULL, &error);
    must(s.system ? ZW_OK : error.status, &error);
    if (!by_pieces) {
        bodies_chain_free(s.system->bodies->chain);
        s.system->bodies->chain = NULL;
    }
    s.work = zw_work_create(s.system, &error);
    s.state = zw_state_create(s.system, s.work, NULL, &error);
    must(s.state ? ZW_OK : error.status, &error);
    const double speed[6] = {0.1, 0.3, 0, 1, -0.5, 0.4}, control = 0.01;
    must(zw_state_set(s.system, s.state, s.work, ZW_FIELD_V, 0, 6, speed, &error), &error);
    must(zw_state_set(s.system, s.state, s.work, ZW_FIELD_PARAM, 0, 1, &control, &error), &error);
    return s;
}

static void run_by(scene *s, double time, double h, double tolerance, zw_run_summary *summary)
{
    const zw_run_options options = {.time = time,
                                    .every = time,
                                    .step = h,
                                    .tolerance = tolerance,
                                    .method = ZW_METHOD_IMPULSE};
    zw_error error = {0};
    must(zw_run(s->system, s->state, s->work, &options, summary, &error), &error);
}

/* The largest difference of coordinates and speeds. */
static double apart(scene *a, scene *b)
{
    double most = 0;
    assert_int_equal(a->system->nq, b->system->nq);
    for (int i = 0; i < a->system->nq; i++) {
        most = fmax(most, fabs(q_of(a)[i] - q_of(b)[i]));
    }
    for (int i = 0; i < a->system->n; i++) {
        most = fmax(most, fabs(v_of(a)[i] - v_of(b)[i]));
    }
    return most;
}

/* After this time, relative to the fastest speed: by pieces and by joints. */
static double compare(const text *t, double time, double h, double tolerance)
{
    scene a = open_chain(t->data, 1), b = open_chain(t->data, 0);
    zw_run_summary by_pieces = {0}, by_joints = {0};
    double fastest = 0;
    assert_non_null(a.system->bodies->chain);
    run_by(&a, time, h, tolerance, &by_pieces);
    run_by(&b, time, h, tolerance, &by_joints);
    for (int i = 0; i < b.system->n; i++) {
        fastest = fmax(fastest, fabs(v_of(&b)[i]));
    }
    double most = apart(&a, &b) / fastest;
    assert_true(fabs(by_pieces.work - by_joints.work) < 1e-4 * fabs(by_joints.work));
    assert_true(by_pieces.certificate < 1e-8);
    assert_int_equal(by_pieces.contacts, by_joints.contacts);
    for (int k = 0; k < a.system->model->constraint_count; k++) {
        assert_true(state_mode(a.state)[k] == state_mode(b.state)[k]);
    }
    close_scene(&a);
    close_scene(&b);
    return most;
}

static void one_linearisation_is_that_of_the_joints(void **state)
{
    (void)state;
    static text t;
    write_chain(&t, LINKS, ".03");
    assert_true(compare(&t, 0.04, 2e-3, 1) < 1e-8);
    write_chain(&t, LINKS, "3");
    assert_true(compare(&t, 0.04, 2e-3, 1) < 1e-8);
}

/* Impulses act at poses within the step, which differ by what the welds turn in it. */
static void exact_steps_are_those_of_the_joints_to_their_order(void **state)
{
    (void)state;
    static text t;
    write_chain(&t, LINKS, ".03");
    assert_true(compare(&t, 0.02, 2e-3, 0) < 1e-5);
}

/* The memory of a step is that of the pieces, and is part of the state. */
static void a_run_in_parts_has_the_bits_of_the_whole(void **state)
{
    (void)state;
    static text t;
    zw_run_summary summary = {0};
    write_chain(&t, LINKS, ".03");
    scene a = open_chain(t.data, 1), b = open_chain(t.data, 1);
    run_by(&a, 0.02, 2e-3, 0, &summary);
    run_by(&b, 0.008, 2e-3, 0, &summary);
    run_by(&b, 0.02, 2e-3, 0, &summary);
    assert_true(apart(&a, &b) == 0);
    close_scene(&a);
    close_scene(&b);
}

/* Numbers of M and of the rows of a step are proportional to the links; short chains have none. */
static void long_chains_alone_have_pieces_and_these_grow_linearly(void **state)
{
    (void)state;
    static text t;
    double numbers[2] = {0};
    for (int k = 0; k < 2; k++) {
        write_chain(&t, LINKS << k, ".03");
        scene s = open_chain(t.data, 1);
        const zw_system *pieces = s.system->bodies->chain->system;
        numbers[k] = pieces->M_start[pieces->n] + pieces->A_start[pieces->m];
        assert_true(pieces->bodies->widest < 45);
        assert_true(numbers[k] < 0.6 * s.system->M_start[s.system->n]);
        close_scene(&s);
    }
    assert_true(numbers[1] < 2.1 * numbers[0]);
    write_chain(&t, 56, ".03"); /* half as fast again in pieces: bench/growth */
    scene s = open_chain(t.data, 1);
    assert_null(s.system->bodies->chain);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_linearisation_is_that_of_the_joints),
        cmocka_unit_test(exact_steps_are_those_of_the_joints_to_their_order),
        cmocka_unit_test(a_run_in_parts_has_the_bits_of_the_whole),
        cmocka_unit_test(long_chains_alone_have_pieces_and_these_grow_linearly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
