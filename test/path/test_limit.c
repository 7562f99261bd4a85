/* The limits of Kozlov (2000), section 4 b) and c): systems with added mass and friction tend to
 * (18), like 1/N, and no N is too large. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "record/scratch.h"
#include "zwang/path.h"

/* The skate of reference E03. */
#define SKATE                                                                                      \
    "param m = 1, J = 1, g = 1\n"                                                                  \
    "coord x = 0, y = 0, phi = 0\n"                                                                \
    "speed x' = 1, phi' = 0.5\n"                                                                   \
    "kinetic m/2*(x'^2 + y'^2) + J/2*phi'^2\n"                                                     \
    "potential -m*g*x\n"                                                                           \
    "constraint edge: x'*sin(phi) = y'*cos(phi)\n"

typedef struct scene {
    zw_model *model;
    zw_limit *limit;
} scene;

static void open_scene(scene *s, const char *text, const zw_run_options *options)
{
    zw_error error = {0};
    s->model = zw_model_parse(text, "test_limit", NULL, &error);
    s->limit = s->model ? zw_limit_create(s->model, options, &error) : NULL;
    if (!s->limit) {
        print_error("%s\n", error.text);
        fail();
    }
}

static void close_scene(scene *s)
{
    zw_limit_free(s->limit);
    zw_model_free(s->model);
}

static const zw_limit_row *add(scene *s, double N)
{
    zw_error error = {0};
    if (zw_limit_add(s->limit, N, &error) != ZW_OK) {
        print_error("N = %g: %s\n", N, error.text);
        fail();
    }
    return zw_limit_look(s->limit, zw_limit_count(s->limit) - 1);
}

static void run_decades(scene *s, const char *law, double time, double to)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s\n", SKATE, law);
    open_scene(s, text, &(zw_run_options){.time = time});
    add(s, INFINITY);
    for (double N = 10; N <= to * 1.001; N *= 10) {
        add(s, N);
    }
}

static const double *last_sample(const scene *s, int row, int n)
{
    zw_view y = zw_limit_path(s->limit, row, ZW_FIELD_Q);
    return y.data + y.count - 2 * (ptrdiff_t)n;
}

/* ---- Order ---------------------------------------------------------------------------------- */

static const char *const laws[] = {"law vakonomic", "law mixed alpha=1 beta=1",
                                   "law penalty N=5 alpha=0 beta=1", "law nonholonomic", ""};

/* Distance, Phi and N Phi - lambda all fall by ten per decade: the next term of the expansion, of
 * the size 1/N, is all that ratios may differ by. */
static void distance_falls_like_one_over_N(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        scene s;
        run_decades(&s, laws[k], 2, 1e8);
        assert_int_equal(zw_limit_count(s.limit), 9);
        double error = zw_limit_look(s.limit, 0)->distance;
        assert_true(error > 0 && error < 1e-10);
        for (int i = 2; i < 9; i++) {
            const zw_limit_row *row = zw_limit_look(s.limit, i), *before = row - 1;
            double within = 150 / row->N + 20 * error / row->distance;
            assert_true(fabs(row->ratio / 10 - 1) < within);
            assert_true(fabs(before->phi / row->phi / 10 - 1) < within);
            assert_true(fabs(before->multiplier / row->multiplier / 10 - 1) < within);
            assert_true(row->distance_end <= row->distance);
        }
        zw_limit_order order = zw_limit_order_of(s.limit);
        print_message("    %-32s order %.6f, error %.1e\n", laws[k], order.order, error);
        assert_true(order.rows == 4 && order.to == 1e8);
        assert_true(fabs(order.order - 1) < 1e-3);
        close_scene(&s);
    }
}

/* No law, the nonholonomic one and friction alone have one and the same limit; and the law that is
 * run is the limit's, whatever N the file has. */
static void friction_tends_to_the_nonholonomic_law(void **state)
{
    (void)state;
    scene s[3];
    for (int k = 0; k < 3; k++) {
        run_decades(&s[k], laws[2 + k], 1, 100);
        assert_string_equal(zw_limit_law(s[k].limit).name, "nonholonomic");
        for (int i = 0; i < 3; i++) {
            assert_memory_equal(last_sample(&s[k], i, 3), last_sample(&s[0], i, 3),
                                6 * sizeof(double));
        }
    }
    for (int k = 0; k < 3; k++) {
        close_scene(&s[k]);
    }
}

/* alpha and beta count only through alpha N and beta N, if lambda starts at 0. */
static void twice_the_mass_is_twice_the_N(void **state)
{
    (void)state;
    scene one, two;
    open_scene(&one, SKATE "law mixed alpha=1 beta=0.5\n", &(zw_run_options){.time = 2});
    open_scene(&two, SKATE "law mixed alpha=2 beta=1\n", &(zw_run_options){.time = 2});
    add(&one, INFINITY);
    add(&two, INFINITY);
    for (double N = 20; N < 1e5; N *= 10) {
        double a = add(&one, N)->distance, b = add(&two, N / 2)->distance;
        assert_true(fabs(a - b) < 1e-10);
        assert_true(a > 1e-6);
    }
    close_scene(&one);
    close_scene(&two);
}

/* Reference E03 (forty digits): the largest difference of any coordinate or speed at t = 2. */
static void reference_distances(void **state)
{
    (void)state;
    static const struct {
        const char *law;
        double distance[5];
    } known[] = {{"law vakonomic",
                  {0.18309569673871606, 0.020495227866270095, 0.0020735190541106207,
                   0.00020759423785591898, 2.0761849505651696e-05}},
                 {"law mixed alpha=1 beta=1",
                  {0.14666254410888643, 0.015320976216028128, 0.0015388148991204952,
                   0.00015394882827578243, 1.5395556376330133e-05}},
                 {"", {0.26792927661486643, 0.029490666600990666, 0.002978171174367595}}};
    double worst = 0;
    for (int k = 0; k < 3; k++) {
        scene s;
        run_decades(&s, known[k].law, 2, 1e5);
        for (int i = 0; i < 5 && known[k].distance[i] > 0; i++) {
            const double *limit = last_sample(&s, 0, 3), *path = last_sample(&s, i + 1, 3);
            double distance = 0;
            for (int c = 0; c < 6; c++) {
                distance = fmax(distance, fabs(path[c] - limit[c]));
            }
            worst = fmax(worst, fabs(distance - known[k].distance[i]));
        }
        close_scene(&s);
    }
    print_message("    off by %.1e\n", worst);
    assert_true(worst < 1e-10);
}

/* ---- Size of N ------------------------------------------------------------------------------ */

/* With added mass no N is stiff: all take the limit's steps, give or take a few. */
static void large_N_takes_the_steps_of_the_limit(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        scene s;
        run_decades(&s, laws[k], 5, 1e12);
        const zw_limit_row *limit = zw_limit_look(s.limit, 0);
        for (int i = 3; i < zw_limit_count(s.limit); i++) {
            const zw_limit_row *row = zw_limit_look(s.limit, i);
            assert_true((double)labs(row->steps - limit->steps) <= 0.1 * (double)limit->steps);
            assert_true(row->distance < 1e3 / row->N + 10 * limit->distance);
        }
        close_scene(&s);
    }
}

/* Friction alone is stiff; but its steps do not depend on N either, hardly one is rejected, and the
 * energy theorem holds as well as for small N. */
static void stiff_friction_is_no_harder_for_large_N(void **state)
{
    (void)state;
    scene s;
    long steps = 0;
    run_decades(&s, "", 2, 1e12);
    for (int i = 3; i < zw_limit_count(s.limit); i++) {
        const zw_limit_row *row = zw_limit_look(s.limit, i);
        steps = i == 3 ? row->steps : steps;
        assert_true((double)row->steps < 1.1 * (double)steps);
        assert_true(row->rejected < 20);
        assert_true(row->distance < 5 / row->N + 10 * zw_limit_look(s.limit, 0)->distance);
    }
    close_scene(&s);
    for (double N = 1e4; N < 2e12; N *= 1e4) {
        zw_error error = {0};
        zw_run_summary summary;
        zw_setting set = {"N", N};
        zw_model *model =
            zw_model_parse("param N = 1\n" SKATE "law penalty N=N alpha=0 beta=1\n", "test_limit",
                           &(zw_read_options){.settings = &set, .setting_count = 1}, &error);
        zw_system *system = zw_system_compile(model, NULL, &error);
        zw_work *work = zw_work_create(system, &error);
        zw_state *start = zw_state_create(system, work, NULL, &error);
        zw_run_options options = {.time = 2, .tolerance = 1e-12};
        assert_int_equal(zw_run(system, start, work, &options, &summary, &error), ZW_OK);
        print_message("    N = %g: %ld steps, %ld rejected, energy drift %.1e\n", N, summary.steps,
                      summary.rejected, summary.energy_drift);
        assert_true(summary.energy_drift < 2e-12 && summary.violation_velocity < 1e-14);
        zw_state_free(start);
        zw_work_free(work);
        zw_system_free(system);
        zw_model_free(model);
    }
}

/* The speeds of the end after a run. */
static void run_text(const char *text, double *y)
{
    zw_error error = {0};
    zw_model *model = zw_model_parse(text, "test_limit", NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    zw_run_options options = {.time = 2, .tolerance = 1e-12, .method = ZW_METHOD_STIFF};
    zw_run_summary summary;
    if (!state || zw_run(system, state, work, &options, &summary, &error) != ZW_OK) {
        print_error("%s\n", error.text);
        fail();
    }
    assert_true(summary.events >= 1);
    memcpy(y, zw_field(system, state, work, ZW_FIELD_Q).data, 3 * sizeof *y);
    memcpy(y + 3, zw_field(system, state, work, ZW_FIELD_V).data, 3 * sizeof *y);
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
}

/* The same free system as (17) is written, without constraint and law: also where an event gives it
 * speeds across the blade. */
static void finite_N_is_a_free_system(void **state)
{
    (void)state;
#define FREE                                                                                       \
    "param N = 30\ncoord x = 0, y = 0, phi = 0\nspeed x' = 1, phi' = 0.5\n"                        \
    "kinetic (x'^2 + y'^2 + phi'^2)/2\npotential -x\n"                                             \
    "event push: phi = 0.4 rising, set y' = y' + 0.7, set phi' = 0.8*phi'\n"
#define EDGE "constraint edge: x'*sin(phi) = y'*cos(phi)\n"
    static const char *const pair[][2] = {{FREE EDGE "law penalty N=N alpha=1 beta=0\n",
                                           FREE "kinetic N/2*(x'*sin(phi) - y'*cos(phi))^2\n"},
                                          {FREE EDGE "law penalty N=N alpha=1 beta=2\n",
                                           FREE "kinetic N/2*(x'*sin(phi) - y'*cos(phi))^2\n"
                                                "rayleigh N*(x'*sin(phi) - y'*cos(phi))^2\n"},
                                          {FREE EDGE "law penalty N=N alpha=0 beta=1\n",
                                           FREE "rayleigh N/2*(x'*sin(phi) - y'*cos(phi))^2\n"}};
    for (int k = 0; k < 3; k++) {
        double a[6], b[6], worst = 0;
        run_text(pair[k][0], a);
        run_text(pair[k][1], b);
        for (int i = 0; i < 6; i++) {
            worst = fmax(worst, fabs(a[i] - b[i]));
        }
        print_message("    apart by %.1e\n", worst);
        assert_true(worst < 2e-10);
    }
}

/* ---- The start ------------------------------------------------------------------------------ */

/* N Phi(0) is the multiplier that the law starts with. */
static void starts_with_the_multiplier(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, SKATE "law vakonomic edge = 0.3\n", &(zw_run_options){.time = 1});
    add(&s, INFINITY);
    for (double N = 10; N < 2e4; N *= 10) {
        add(&s, N);
        const double *y = zw_limit_path(s.limit, zw_limit_count(s.limit) - 1, ZW_FIELD_Q).data;
        double phi = y[3] * sin(y[2]) - y[4] * cos(y[2]);
        assert_true(fabs(N * phi - 0.3) < 1e-10);
    }
    assert_true(fabs(zw_limit_order_of(s.limit).order - 1) < 0.02);
    close_scene(&s);
}

/* Where the file asks for an end, the limit arrives there, and all others begin as it does. */
static void starts_as_the_limit_must(void **state)
{
    (void)state;
    scene s;
    open_scene(
        &s,
        "coord x = 0, y = 0, z = 0\nkinetic (x'^2 + y'^2)/2\n"
        "constraint lift: z' = (x*y' - y*x')/2\nlaw vakonomic\nreach x = 1, y = 0, z = 0.5 at "
        "1\n",
        &(zw_run_options){.time = 1});
    add(&s, INFINITY);
    const double *end = last_sample(&s, 0, 3), *start = zw_limit_path(s.limit, 0, ZW_FIELD_Q).data;
    assert_true(fabs(end[0] - 1) < 1e-9 && fabs(end[1]) < 1e-9 && fabs(end[2] - 0.5) < 1e-9);
    assert_true(hypot(start[3], start[4]) > 1);
    for (double N = 10; N < 2e5; N *= 10) {
        const zw_limit_row *row = add(&s, N);
        const double *y = zw_limit_path(s.limit, zw_limit_count(s.limit) - 1, ZW_FIELD_Q).data;
        assert_true(fabs(y[3] - start[3]) + fabs(y[4] - start[4]) < 20 / N);
        assert_true(row->distance < 20 / N);
    }
    assert_true(fabs(zw_limit_order_of(s.limit).order - 1) < 0.01);
    close_scene(&s);
}

/* A run that an event ends is compared as long as both last. */
static void paths_may_end_early(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, SKATE "law vakonomic\nstop when x > 1\n",
               &(zw_run_options){.time = 5, .every = 0.01});
    add(&s, INFINITY);
    double d = add(&s, 100)->distance;
    int whole = zw_limit_path(s.limit, 0, ZW_FIELD_TIME).count;
    assert_true(whole > 20 && whole < 400);
    assert_true(d > 1e-4 && d < 0.05);
    close_scene(&s);
}

/* ---- What cannot be ------------------------------------------------------------------------- */

static void refuses(const char *text, const char *message)
{
    zw_error error = {0};
    zw_model *model = zw_model_parse(text, "test_limit", NULL, &error);
    assert_non_null(model);
    assert_null(zw_limit_create(model, NULL, &error));
    if (!strstr(error.text, message)) {
        print_error("%s\n", error.text);
    }
    assert_non_null(strstr(error.text, message));
    zw_model_free(model);
}

static void says_what_has_no_limit(void **state)
{
    (void)state;
    refuses("coord x = 1, y = 0\nmass 1 at (x, y)\nconstraint rod: x^2 + y^2 = 1\n",
            "no constraint here has speeds");
    refuses("coord x = 1, y = 0\nmass 1 at (x, y)\nconstraint floor: y >= 0\n"
            "constraint slide: x' = y\n",
            "inequalities or friction: see floor");
    refuses("coord x = 1, y = 0\nconstraint slide: x' = y\nprefer (0, -x)\n", "masses");
}

static int stop_at_once(void *user, double time)
{
    (void)time;
    ++*(int *)user;
    return 1;
}

static void rows_come_in_order_and_whole(void **state)
{
    (void)state;
    scene s;
    zw_error error = {0};
    int asked = 0;
    open_scene(&s, SKATE, &(zw_run_options){.time = 1});
    assert_int_equal(zw_limit_add(s.limit, 10, &error), ZW_BAD_INPUT);
    add(&s, INFINITY);
    assert_int_equal(zw_limit_add(s.limit, INFINITY, &error), ZW_BAD_INPUT);
    assert_int_equal(zw_limit_add(s.limit, 0, &error), ZW_BAD_INPUT);
    assert_int_equal(zw_limit_add(s.limit, -1, &error), ZW_BAD_INPUT);
    assert_int_equal(zw_limit_add(s.limit, NAN, &error), ZW_BAD_INPUT);
    assert_int_equal(zw_limit_count(s.limit), 1);
    assert_true(isnan(zw_limit_order_of(s.limit).order));
    close_scene(&s);
    open_scene(&s, SKATE, &(zw_run_options){.time = 1, .poll = stop_at_once, .user = &asked});
    assert_int_equal(zw_limit_add(s.limit, INFINITY, &error), ZW_OK);
    assert_int_equal(asked, 1);
    assert_int_equal(zw_limit_count(s.limit), 0);
    close_scene(&s);
}

/* From creation to freeing, with the file at the end; the status of what failed first. */
static zw_status live(const char *file, zw_error *error)
{
    zw_run_options options = {.time = 0.1, .tolerance = 1e-8, .every = 0.05};
    zw_model *model = zw_model_parse(SKATE "law mixed alpha=1 beta=1\n", "test_limit", NULL, error);
    zw_limit *limit = model ? zw_limit_create(model, &options, error) : NULL;
    zw_status status = limit ? zw_limit_add(limit, INFINITY, error) : error->status;
    status = status == ZW_OK ? zw_limit_add(limit, 100, error) : status;
    status = status == ZW_OK ? zw_limit_write(limit, file, error) : status;
    zw_limit_free(limit);
    zw_model_free(model);
    return status;
}

/* A step that found no memory may be taken again, shorter, and go well: the end is where that
 * happens all the time. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    int failures = 0;
    for (int k = 1, fine = 0; fine < 20; k++) {
        zw_error error = {0};
        base_alloc_fail_after(k);
        zw_status status = live(scratch("a.svg"), &error);
        base_alloc_fail_after(0);
        fine = status == ZW_OK ? fine + 1 : 0;
        if (status == ZW_OK) {
            continue;
        }
        /* a start that could not be evaluated is reported as not finite */
        if (status != ZW_NO_MEMORY && status != ZW_NOT_FINITE) {
            print_error("call %d: %s\n", k, error.text);
        }
        assert_true(status == ZW_NO_MEMORY || status == ZW_NOT_FINITE);
        assert_int_equal(error.status, status);
        failures++;
    }
    print_message("    %d allocations made to fail\n", failures);
    assert_true(failures > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_falls_like_one_over_N),
        cmocka_unit_test(friction_tends_to_the_nonholonomic_law),
        cmocka_unit_test(twice_the_mass_is_twice_the_N),
        cmocka_unit_test(reference_distances),
        cmocka_unit_test(large_N_takes_the_steps_of_the_limit),
        cmocka_unit_test(stiff_friction_is_no_harder_for_large_N),
        cmocka_unit_test(finite_N_is_a_free_system),
        cmocka_unit_test(starts_with_the_multiplier),
        cmocka_unit_test(starts_as_the_limit_must),
        cmocka_unit_test(paths_may_end_early),
        cmocka_unit_test(says_what_has_no_limit),
        cmocka_unit_test(rows_come_in_order_and_whole),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
