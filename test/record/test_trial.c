/* The trial of a path as a file: its numbers are those of the series, and the file is complete or
 * absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/memory.h"
#include "path/path.h"
#include "record/scratch.h"
#include "record/write.h"

/* A coordinate called power, and more of them than a chart takes. */
static const char text[] = "coord power = 0.1\n"
                           "coord x[i] = 0.1*i for i in 1..14\n"
                           "kinetic power'^2/2 + sum(x[i]'^2 for i in 1..14)/2\n"
                           "constraint tie: x[1] = power\n";

enum { N = 15, SAMPLES = 81 };

typedef struct world {
    zw_model *model;
    zw_system *system;
    zw_path *path;
    zw_trial *trial;
} world;

/* Free, but coordinate x[13] swings: an extra force acts on it, -cos t; x[1] and power go on. */
static world tried(void)
{
    zw_error error = {0};
    world w = {.model = zw_model_parse(text, "test.zw", NULL, &error)};
    assert_non_null(w.model);
    w.system = zw_system_compile(w.model, NULL, &error);
    assert_non_null(w.system);
    static double t[SAMPLES], q[SAMPLES * N];
    for (int i = 0; i < SAMPLES; i++) {
        t[i] = 0.05 * i;
        for (int k = 0; k < N; k++) {
            q[i * N + k] = k < 2 ? 0.1 + 0.5 * t[i] : 0.1 * k;
        }
        q[i * N + 13] = cos(t[i]);
    }
    w.path = zw_path_create(w.system, SAMPLES, t, q, NULL, &error);
    assert_non_null(w.path);
    w.trial = zw_path_certify(w.system, w.path, NULL, &error);
    if (w.trial == NULL) {
        print_error("%s\n", error.text);
    }
    assert_non_null(w.trial);
    return w;
}

static void world_free(world *w)
{
    zw_trial_free(w->trial);
    zw_path_free(w->path);
    zw_system_free(w->system);
    zw_model_free(w->model);
}

static void the_extra_force_is_found(void **state)
{
    (void)state;
    world w = tried();
    const zw_trial_report *report = zw_trial_look(w.trial);
    assert_int_equal(report->verdict, ZW_VERDICT_NOT_MOTION);
    assert_int_equal(report->worst_coord, 13);
    zw_view extra = zw_trial_series_of(w.trial, ZW_SERIES_EXTRA);
    for (int i = 5; i < SAMPLES - 5; i++) {
        assert_true(fabs(extra.data[i * N + 13] + cos(0.05 * i)) < 1e-3);
    }
    world_free(&w);
}

/* Column by column what the series say, in full precision. */
static void csv_has_the_series(void **state)
{
    (void)state;
    static const char head[] = "t,power,x[1],x[2],x[3],x[4],x[5],x[6],x[7],x[8],x[9],x[10],x[11],"
                               "x[12],x[13],x[14],extra(power),extra(x[1]),";
    static const char tail[] = "extra(x[14]),|extra|,|extra| error,lambda(tie),power (2)\n";
    world w = tried();
    zw_error error;
    assert_int_equal(zw_trial_write(w.trial, scratch("a.csv"), &error), ZW_OK);
    char *csv = scratch_read(scratch("a.csv"), NULL), *at = strchr(csv, '\n') + 1;
    assert_int_equal(strncmp(csv, head, strlen(head)), 0);
    assert_memory_equal(at - strlen(tail), tail, strlen(tail));
    static const zw_trial_series series[] = {
        ZW_SERIES_TIME,        ZW_SERIES_Q,      ZW_SERIES_EXTRA, ZW_SERIES_EXTRA_SIZE,
        ZW_SERIES_EXTRA_ERROR, ZW_SERIES_LAMBDA, ZW_SERIES_POWER};
    static const int width[] = {1, N, N, 1, 1, 1, 1};
    for (int i = 0; i < SAMPLES; i++) {
        for (int s = 0; s < 7; s++) {
            zw_view view = zw_trial_series_of(w.trial, series[s]);
            assert_int_equal(view.count, SAMPLES * width[s]);
            for (int k = 0; k < width[s]; k++) {
                double read = strtod(at, &at);
                assert_memory_equal(&read, &view.data[i * width[s] + k], sizeof read);
                at++;
            }
        }
    }
    assert_int_equal(*at, 0);
    free(csv);
    world_free(&w);
}

static void pictures_show_what_is_large(void **state)
{
    (void)state;
    world w = tried();
    zw_error error;
    assert_int_equal(zw_trial_write(w.trial, scratch("a.svg"), &error), ZW_OK);
    assert_int_equal(zw_trial_write(w.trial, scratch("a.html"), &error), ZW_OK);
    char *svg = scratch_read(scratch("a.svg"), NULL), *page = scratch_read(scratch("a.html"), NULL);
    char *first = strstr(svg, "extra(x[13])"); /* the one that is pushed comes first */
    assert_non_null(first);
    assert_non_null(strstr(svg, "|extra| error"));
    assert_non_null(strstr(svg, "Constraint forces"));
    assert_true(strstr(svg, "extra(power)") == NULL || strstr(svg, "extra(power)") > first);
    assert_non_null(strstr(page, "not a motion of this system"));
    free(svg);
    free(page);
    if (record_has_h5()) {
        assert_int_equal(zw_trial_write(w.trial, scratch("a.h5"), &error), ZW_OK);
    }
    assert_int_equal(scratch_count(), record_has_h5() ? 3 : 2);
    world_free(&w);
}

static void what_cannot_be_written(void **state)
{
    (void)state;
    world w = tried();
    zw_error error;
    assert_int_equal(zw_trial_write(w.trial, scratch("a.txt"), &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "must end in .csv"));
    assert_int_equal(zw_trial_write(w.trial, scratch("none/a.csv"), &error), ZW_NO_FILE);
    assert_int_equal(scratch_count(), 0);
    const char *const file[] = {"a.csv", "a.svg", "a.html"};
    for (int f = 0; f < 3; f++) {
        for (int k = 1;; k++) {
            base_alloc_fail_after(k);
            zw_status status = zw_trial_write(w.trial, scratch(file[f]), &error);
            base_alloc_fail_after(0);
            if (status == ZW_OK) {
                assert_true(k > 10);
                break;
            }
            assert_int_equal(status, ZW_NO_MEMORY);
            assert_int_equal(scratch_count(), f);
            assert_true(k < 10000);
        }
    }
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_extra_force_is_found),
        cmocka_unit_test_teardown(csv_has_the_series, scratch_empty),
        cmocka_unit_test_teardown(pictures_show_what_is_large, scratch_empty),
        cmocka_unit_test_teardown(what_cannot_be_written, scratch_empty),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
