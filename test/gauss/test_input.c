/* Every kind of bad input gets a defined status and a message that names its cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/solved.h"

#include <string.h>

/* ---- A good problem to spoil ----------------------------------------------------------------- */

typedef struct sample {
    zw_gauss problem;
    double metric[9], free[3], A[12], b[4], compliance[4], C[3];
    zw_block block[3];
    int start[5], column[12], metric_start[4], metric_row[9], block_size[2];
} sample;

/* Three blocks: an equality, an inequality, a contact of two rows. */
static sample *sample_new(void)
{
    static sample s;
    static const double A[12] = {1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0};
    memset(&s, 0, sizeof s);
    memcpy(s.A, A, sizeof A);
    for (int i = 0; i < 3; i++) {
        s.metric[4 * i] = 1.0 + i;
        s.free[i] = -1.0 - i;
        s.metric_start[i + 1] = 3 * i + 3;
    }
    for (int i = 0; i < 12; i++) {
        s.column[i] = i % 3;
        s.start[i / 3 + 1] = i + 1;
    }
    for (int i = 0; i < 9; i++) {
        s.metric_row[i] = i % 3;
    }
    s.block[0] = (zw_block){.name = "hinge", .kind = ZW_EQUALITY, .rows = 1};
    s.block[1] = (zw_block){.name = "stop", .kind = ZW_INEQUALITY, .rows = 1};
    s.block[2] = (zw_block){.name = "foot", .kind = ZW_CONE, .rows = 2, .friction = {0.5}};
    s.block_size[0] = 1;
    s.block_size[1] = 2;
    s.problem = (zw_gauss){.n = 3,
                           .metric = {.kind = ZW_METRIC_DENSE, .value = s.metric},
                           .free = s.free,
                           .block_count = 3,
                           .block = s.block,
                           .A.dense = s.A,
                           .b = s.b,
                           .compliance = s.compliance,
                           .C = s.C};
    return &s;
}

/* Refused both when the workspace is created and by a workspace created before the problem was
 * spoiled; the message contains `word`. */
static void refuse(void (*spoil)(sample *s, double bad), double bad, const char *word)
{
    sample *s = sample_new();
    zw_error error = {.status = ZW_OK};
    zw_motion motion;
    zw_gauss_work *work = zw_gauss_work_create(&s->problem, NULL, &error);
    assert_non_null(work);
    assert_int_equal(zw_gauss_solve(&s->problem, NULL, work, &motion, &error), ZW_OK);
    spoil(s, bad);
    zw_gauss_work *none = zw_gauss_work_create(&s->problem, NULL, &error);
    assert_null(none);
    assert_int_equal(error.status, ZW_BAD_INPUT);
    if (strstr(error.text, word) == NULL) {
        fail_msg("\"%s\" does not name %s", error.text, word);
    }
    assert_null(zw_gauss_work_create(&s->problem, NULL, NULL));
    memset(&error, 0, sizeof error);
    assert_int_equal(zw_gauss_solve(&s->problem, NULL, work, &motion, &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, word));
    assert_int_equal(zw_gauss_solve(&s->problem, NULL, work, &motion, NULL), ZW_BAD_INPUT);
    zw_gauss_work_free(work);
}

static void spoil_metric(sample *s, double bad)
{
    s->metric[4] = bad;
}

static void spoil_free(sample *s, double bad)
{
    s->free[2] = bad;
}

static void spoil_force(sample *s, double bad)
{
    s->problem.force = s->free;
    s->problem.free = NULL;
    s->free[1] = bad;
}

static void spoil_A(sample *s, double bad)
{
    s->A[7] = bad;
}

static void spoil_compressed(sample *s, double bad)
{
    s->problem.A = (zw_rows){.start = s->start, .column = s->column, .value = s->A};
    s->A[7] = bad;
}

static void spoil_b(sample *s, double bad)
{
    s->b[3] = bad;
}

static void spoil_compliance(sample *s, double bad)
{
    s->compliance[1] = bad;
}

static void spoil_C(sample *s, double bad)
{
    s->C[0] = bad;
}

static void spoil_friction(sample *s, double bad)
{
    s->block[2].friction[0] = bad;
}

static void numbers_that_are_none(void **state)
{
    (void)state;
    const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL, 1e300, -1e300};
    for (int i = 0; i < 5; i++) {
        refuse(spoil_metric, bad[i], "metric");
        refuse(spoil_free, bad[i], "free[2]");
        refuse(spoil_force, bad[i], "force[1]");
        refuse(spoil_A, bad[i], "row 2");
        refuse(spoil_compressed, bad[i], "row 2");
        refuse(spoil_b, bad[i], "b[3]");
        refuse(spoil_compliance, bad[i], "compliance");
        refuse(spoil_C, bad[i], "C[0]");
        refuse(spoil_friction, bad[i], "foot");
    }
    refuse(spoil_compliance, -1e-9, "row 1");
    refuse(spoil_friction, -0.1, "foot");
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void no_unknowns(sample *s, double bad)
{
    s->problem.n = (int)bad;
}

static void negative_blocks(sample *s, double bad)
{
    s->problem.block_count = (int)bad;
}

static void rows_of_hinge(sample *s, double bad)
{
    s->block[0].rows = (int)bad;
}

static void rows_of_foot(sample *s, double bad)
{
    s->block[2].rows = (int)bad;
}

static void kind_of_stop(sample *s, double bad)
{
    int kind = (int)bad;
    memcpy(&s->block[1].kind, &kind, sizeof kind);
}

static void kind_of_metric(sample *s, double bad)
{
    int kind = (int)bad;
    memcpy(&s->problem.metric.kind, &kind, sizeof kind);
}

static void free_and_force(sample *s, double bad)
{
    (void)bad;
    s->problem.force = s->free;
}

static void compressed_start(sample *s, double bad)
{
    spoil_compressed(s, 0.0);
    s->start[2] = (int)bad;
}

static void compressed_first(sample *s, double bad)
{
    spoil_compressed(s, 0.0);
    s->start[0] = (int)bad;
}

static void compressed_column(sample *s, double bad)
{
    spoil_compressed(s, 0.0);
    s->column[4] = (int)bad;
}

static void no_rows(sample *s, double bad)
{
    (void)bad;
    s->problem.A = (zw_rows){.dense = NULL};
}

static void no_metric(sample *s, double bad)
{
    (void)bad;
    s->problem.metric.value = NULL;
}

static void no_operator(sample *s, double bad)
{
    (void)bad;
    s->problem.metric.kind = ZW_METRIC_OPERATOR;
}

static void metric_blocks(sample *s, double bad)
{
    s->problem.metric.kind = ZW_METRIC_BLOCKS;
    s->problem.metric.block_count = 2;
    s->problem.metric.block_size = s->block_size;
    s->block_size[1] = (int)bad;
}

static void sparse_metric(sample *s)
{
    s->problem.metric = (zw_metric){.kind = ZW_METRIC_SPARSE,
                                    .value = s->metric,
                                    .start = s->metric_start,
                                    .row = s->metric_row};
}

static void metric_row(sample *s, double bad)
{
    sparse_metric(s);
    s->metric_row[4] = (int)bad;
}

static void metric_start(sample *s, double bad)
{
    sparse_metric(s);
    s->metric_start[1] = (int)bad;
}

static void shapes_that_are_none(void **state)
{
    (void)state;
    refuse(no_unknowns, -3, "-3 unknowns");
    refuse(negative_blocks, -1, "-1 blocks");
    refuse(rows_of_hinge, -1, "hinge");
    refuse(rows_of_foot, 7, "foot");
    refuse(rows_of_foot, 0, "foot");
    refuse(kind_of_stop, 4, "stop");
    refuse(kind_of_stop, -1, "stop");
    refuse(kind_of_metric, 6, "metric");
    refuse(free_and_force, 0, "force");
    refuse(compressed_start, 1, "row 1");
    refuse(compressed_first, 2, "row");
    refuse(compressed_column, 3, "row 1");
    refuse(compressed_column, -1, "row 1");
    refuse(no_rows, 0, "rows");
    refuse(no_metric, 0, "metric");
    refuse(no_operator, 0, "operator");
    refuse(metric_blocks, 1, "metric");
    refuse(metric_blocks, 3, "metric");
    refuse(metric_row, 3, "metric");
    refuse(metric_row, -1, "metric");
    refuse(metric_start, 7, "metric");
}

/* Starts that run beyond the arrays and come back: refused before anything beyond is read. */
static void starts_that_run_away(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        sample *s = sample_new();
        int *index = malloc(9 * sizeof *index);
        double *value = malloc(9 * sizeof *value);
        zw_error error = {.status = ZW_OK};
        memcpy(index, s->metric_row, 9 * sizeof *index);
        memcpy(value, s->metric, 9 * sizeof *value);
        s->problem.block_count = 2; /* two rows */
        if (k == 0) {
            sparse_metric(s);
            s->problem.metric.row = index;
            s->problem.metric.value = value;
            s->metric_start[1] = 1 << 20;
        } else {
            s->problem.A = (zw_rows){.start = s->start, .column = index, .value = value};
            s->start[1] = 1 << 20;
        }
        assert_null(zw_gauss_work_create(&s->problem, NULL, &error));
        assert_int_equal(error.status, ZW_BAD_INPUT);
        free(index);
        free(value);
    }
}

/* Blocks without rows and problems without blocks are fine. */
static void empty_blocks_are_fine(void **state)
{
    (void)state;
    const double free[2] = {3, -4};
    const zw_block block[2] = {{.name = "nothing", .kind = ZW_EQUALITY},
                               {.name = "no stops", .kind = ZW_INEQUALITY}};
    for (int count = 0; count <= 2; count++) {
        zw_gauss problem = {.n = 2, .free = free, .block_count = count, .block = block};
        solved s = solve(&problem, NULL);
        assert_status(s, ZW_OK);
        assert_true(s.motion.a[0] == 3.0 && s.motion.a[1] == -4.0 && s.motion.Z == 0.0);
        solved_free(&s);
    }
    zw_gauss nothing = {.n = 2};
    solved s = solve(&nothing, NULL);
    assert_status(s, ZW_OK);
    assert_true(s.motion.a[0] == 0.0 && s.motion.a[1] == 0.0);
    solved_free(&s);
}

/* ---- Another shape --------------------------------------------------------------------------- */

static void wrong_workspace(const char *what, void (*change)(sample *s, double bad), double bad)
{
    sample *s = sample_new();
    zw_error error = {.status = ZW_OK};
    zw_motion motion;
    s->problem.compliance = NULL;
    zw_gauss_work *work = zw_gauss_work_create(&s->problem, NULL, &error);
    assert_non_null(work);
    change(s, bad);
    zw_status status = zw_gauss_solve(&s->problem, NULL, work, &motion, &error);
    if (status != ZW_TOO_LARGE) {
        print_error("%s: %s\n", what, zw_status_text(status));
    }
    assert_int_equal(status, ZW_TOO_LARGE);
    assert_int_equal(error.status, ZW_TOO_LARGE);
    assert_true(strlen(error.text) > 0);
    zw_gauss_work_free(work);
}

static void add_compliance(sample *s, double bad)
{
    (void)bad;
    s->problem.compliance = s->compliance;
}

static void foot_is_an_equality(sample *s, double bad)
{
    (void)bad;
    s->block[2].kind = ZW_EQUALITY;
}

static void foot_is_two_stops(sample *s, double bad)
{
    (void)bad;
    s->block[2].kind = ZW_INEQUALITY;
}

static void swap_kinds(sample *s, double bad)
{
    (void)bad;
    s->block[0].kind = ZW_INEQUALITY;
    s->block[1].kind = ZW_EQUALITY;
}

static void workspace_of_another_shape(void **state)
{
    (void)state;
    wrong_workspace("fewer unknowns", no_unknowns, 2);
    wrong_workspace("fewer blocks", negative_blocks, 2);
    wrong_workspace("fewer rows of a contact", rows_of_foot, 1);
    wrong_workspace("fewer rows of a hinge", rows_of_hinge, 0);
    wrong_workspace("compliance", add_compliance, 0);
    wrong_workspace("a contact as equality", foot_is_an_equality, 0);
    wrong_workspace("a contact as two stops", foot_is_two_stops, 0);
    wrong_workspace("kinds exchanged", swap_kinds, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_are_none),      cmocka_unit_test(shapes_that_are_none),
        cmocka_unit_test(starts_that_run_away),       cmocka_unit_test(empty_blocks_are_fine),
        cmocka_unit_test(workspace_of_another_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
