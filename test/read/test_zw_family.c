/* Families, orders of definition, parameters from outside, files that include files; and speed. */
#include "reading.h"

#include <time.h>
#include <unistd.h>

#include "read/zw/zw.h"

static void members_of_families(void **state)
{
    (void)state;
    world w = world_of("param n = 4, l = 0.5\n"
                       "coord x[i] = i*l, y[i] = -i   for i in 1..n\n"
                       "speed x[i]' = i^2             for i in 2..n\n"
                       "point p[0] = (0, 0)\n"
                       "point p[i] = (x[i], y[i])     for i in 1..n\n"
                       "mass  i at p[i]               for i in 1..n\n"
                       "constraint link[i]: |p[i] - p[i-1]| = l   for i in 1..n\n"
                       "force y[i]: -i                for i in 1..2\n"
                       "plot  time x[i], 2*y[i+1]'    for i in 1..2\n"
                       "draw  line p[i-1] p[i]        for i in 1..n\n"
                       "event low[i]: y[i] = 0        for i in 1..n\n",
                       1);
    zw_model *m = w.model;
    assert_int_equal(m->coord_count, 8);
    assert_string_equal(m->coord[2].name, "x[2]");
    assert_string_equal(m->coord[3].name, "y[2]");
    ASSERT_CLOSE(value(&w, m->coord[4].start), 1.5);
    ASSERT_CLOSE(value(&w, m->coord[5].start), -3);
    assert_int_equal(m->coord[0].speed, EXPR_NONE);
    ASSERT_CLOSE(value(&w, m->coord[6].speed), 16);
    double K = 0;
    for (int i = 1; i <= 4; i++) {
        K += i / 2.0 * (w.v[2 * i - 2] * w.v[2 * i - 2] + w.v[2 * i - 1] * w.v[2 * i - 1]);
    }
    ASSERT_CLOSE(value(&w, m->kinetic), K);
    assert_int_equal(m->constraint_count, 4);
    assert_string_equal(m->constraint[3].name, "link[4]");
    ASSERT_CLOSE(value(&w, m->constraint[0].residual[0]), hypot(w.q[0], w.q[1]) - 0.5);
    ASSERT_CLOSE(value(&w, m->constraint[2].residual[0]),
                 hypot(w.q[4] - w.q[2], w.q[5] - w.q[3]) - 0.5);
    ASSERT_CLOSE(value(&w, m->coord[3].force), -2);
    assert_int_equal(m->coord[5].force, EXPR_ZERO);
    assert_int_equal(m->plot_count, 1);
    assert_int_equal(m->plot[0].curve_count, 4);
    assert_string_equal(m->plot[0].curve[2].label, "x[2]");
    assert_string_equal(m->plot[0].curve[3].label, "2*y[3]'");
    assert_int_equal(m->draw_count, 4);
    assert_string_equal(m->event[1].name, "low[2]");
    assert_true(m->param[0].is_size && !m->param[1].is_size);
    world_free(&w);
}

static void two_indices(void **state)
{
    (void)state;
    world w = world_of("param n = 3\n"
                       "coord u[i, j] = 10*i + j   for i in 0..n-1, j in 1..2\n"
                       "kinetic u[i, j]'^2/2       for i in 0..n-1, j in 1..2\n"
                       "potential sum(u[i, j]*u[i, 3-j] for i in 0..n-1, j in 1..2)\n"
                       "let tri[i, j] = i*j        for i in 1..3, j in 1..i\n"
                       "plot time tri[3, 2], u[2, 1]\n",
                       1);
    assert_int_equal(w.model->coord_count, 6);
    assert_string_equal(w.model->coord[3].name, "u[1,2]");
    ASSERT_CLOSE(value(&w, w.model->coord[3].start), 12);
    const double *q = w.q;
    ASSERT_CLOSE(value(&w, w.model->potential), 2 * (q[0] * q[1] + q[2] * q[3] + q[4] * q[5]));
    ASSERT_CLOSE(curve(&w, 0), 6);
    ASSERT_CLOSE(curve(&w, 1), q[4]);
    world_free(&w);
}

/* Order does not matter, also not for definitions far down. */
static void order_is_free(void **state)
{
    (void)state;
    world w = world_of("plot time T, s[1], kin\nlet kin = energy - potential_energy\n"
                       "let T = 2*lambda(rod)\n"
                       "constraint rod: r = a\nlet r = |p|\npoint p = q + (1, 0)\n"
                       "point q = (x, y)\nkinetic (x'^2 + y'^2)*h\npotential x\n"
                       "let s[i] = s[i+1] + i*x for i in 1..5000\nlet s[5001] = y\n"
                       "coord x, y = h\nparam h = a/2, a = b, b = 3\n",
                       1);
    ASSERT_CLOSE(curve(&w, 0), 2 * w.lambda[0]);
    ASSERT_CLOSE(curve(&w, 1), w.q[1] + 5000.0 * 5001 / 2 * w.q[0]);
    ASSERT_CLOSE(curve(&w, 2), 1.5 * (w.v[0] * w.v[0] + w.v[1] * w.v[1]));
    ASSERT_CLOSE(value(&w, w.model->coord[1].start), 1.5);
    ASSERT_CLOSE(value(&w, w.model->constraint[0].residual[0]), hypot(w.q[0] + 1, w.q[1]) - 3);
    world_free(&w);
}

static void parameters_depend_on_parameters(void **state)
{
    (void)state;
    zw_setting set[] = {{"n", 4}, {"m[2]", 7}};
    zw_error error;
    const char *text = "param l = 1/n, n = 2, k = l\nparam m[i] = i*l for i in 1..n\n"
                       "coord x[i] for i in 1..n\nkinetic m[i]*x[i]'^2 for i in 1..n\n";
    zw_model *m = zw_model_parse(text, "test.zw",
                                 &(zw_read_options){.settings = set, .setting_count = 2}, &error);
    assert_non_null(m);
    assert_int_equal(m->coord_count, 4);
    assert_int_equal(m->param_count, 7);
    assert_true(m->param[0].value == 0.25 && m->param[1].value == 4);
    assert_string_equal(m->param[4].name, "m[2]");
    assert_true(m->param[3].value == 0.25 && m->param[4].value == 7 && m->param[6].value == 1);
    assert_true(m->param[1].is_size && m->param[1].is_source);
    assert_true(m->param[0].is_source && !m->param[0].is_size && !m->param[2].is_source);
    zw_model_free(m);
}

static void settings_must_be_known(void **state)
{
    (void)state;
    const char *text = "param mass_1 = 1\ncoord x\nkinetic mass_1*x'^2\n";
    zw_error error;
    zw_setting wrong[] = {{"mass1", 1}};
    assert_null(zw_model_parse(text, "test.zw",
                               &(zw_read_options){.settings = wrong, .setting_count = 1}, &error));
    assert_string_equal(error.text, "there is no parameter 'mass1' to set; did you mean 'mass_1'?");
    assert_string_equal(error.file, "test.zw");
    assert_int_equal(error.line, 0);
    zw_setting nan[] = {{"mass_1", NAN}};
    assert_null(zw_model_parse(text, "test.zw",
                               &(zw_read_options){.settings = nan, .setting_count = 1}, &error));
    assert_string_equal(error.text,
                        "the value given for the parameter 'mass_1' is not a finite number");
    assert_null(zw_model_parse(text, "test.zw",
                               &(zw_read_options){.settings = wrong, .setting_count = 1},
                               NULL)); /* no message is wanted */
}

static void files_include_files(void **state)
{
    (void)state;
    zw_error error;
    const char *main_file = ZW_SOURCE_DIR "/test/read/include/main.zw";
    zw_model *m = zw_model_read(main_file, NULL, &error);
    if (m == NULL) {
        print_error("%s:%d: %s\n", error.file, error.line, error.text);
    }
    assert_non_null(m);
    assert_int_equal(m->file_count, 3); /* masses.zw is asked for twice and read once */
    assert_string_equal(m->title, "a pendulum in three files");
    assert_int_equal(m->coord_count, 2);
    assert_int_equal(m->param_count, 2);
    assert_int_equal(m->constraint_count, 1);
    zw_model_free(m);

    assert_null(zw_model_read(ZW_SOURCE_DIR "/test/read", NULL, &error)); /* a folder */
    assert_int_equal(error.status, ZW_BAD_INPUT);
    assert_null(zw_model_read("/nowhere/at/all.zw", NULL, &error));
    assert_string_equal(error.text, "cannot open the file '/nowhere/at/all.zw'");
    assert_null(zw_model_read(NULL, NULL, &error));
    assert_null(zw_model_parse(NULL, NULL, NULL, &error));
}

/* A chain of ten thousand links: coordinates, points, masses, constraints. */
static void ten_thousand_links_in_no_time(void **state)
{
    (void)state;
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    zw_model *m = read_text("param  n = 10000, l = 1/n, m = 1/n\n"
                            "coord  x[i] = i*l, y[i] = 0         for i in 1..n\n"
                            "point  p[0] = (0,0)\n"
                            "point  p[i] = (x[i], y[i])          for i in 1..n\n"
                            "mass   m at p[i]                    for i in 1..n\n"
                            "gravity (0, -9.81)\n"
                            "constraint link[i]: |p[i] - p[i-1]| = l   for i in 1..n\n"
                            "plot   time sum(y[i] for i in 1..n)/n\n");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    print_message("ten thousand links: %.0f ms, %d nodes\n", 1e3 * seconds,
                  expr_graph_count(m->graph));
    assert_int_equal(m->coord_count, 20000);
    assert_int_equal(m->constraint_count, 10000);
    assert_true(m->place_count < 100);
    assert_true(seconds < 20); /* a square of ten thousand would take longer, sanitizers included */
    zw_model_free(m);
}

/* Formulas that are written in a line may have more operations than there is memory for. */
static void memory_of_formulas_is_bounded(void **state)
{
    (void)state;
    zw_error error;
    const char *text = "coord x = 0\nmass 1 at (x, 0)\n"
                       "force x: sum(sum(sin(x + i + 100*j) for i in 1..50) for j in 1..50)\n";
    read_limits limits = {.members = 1e3, .work = 1e6, .nodes = 1e4};
    zw_model *model = read_zw_text(text, "sums.zw", NULL, 0, &limits, &error);
    assert_non_null(model);
    zw_model_free(model);
    limits.nodes = 3000;
    assert_null(read_zw_text(text, "sums.zw", NULL, 0, &limits, &error));
    assert_int_equal(error.status, ZW_BAD_INPUT);
    assert_int_equal(error.line, 3);
    assert_non_null(strstr(error.text, "more than 3000 operations"));
}

/* The limit is reported, and not "out of memory". The file is sparse: it takes no disk space. */
static void large_files_are_reported(void **state)
{
    (void)state;
    zw_error error;
    const char *ending[] = {".zw", ".xml"};
    for (int i = 0; i < 2; i++) {
        char path[100];
        snprintf(path, sizeof path, "/tmp/zwang-large-%ld%s", (long)getpid(), ending[i]);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fseek(file, 300L << 20, SEEK_SET), 0);
        fputc('\n', file);
        fclose(file);
        zw_model *model = zw_model_read(path, NULL, &error);
        remove(path);
        assert_null(model);
        assert_non_null(strstr(error.text, "has more than 256 MB"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_families),
        cmocka_unit_test(two_indices),
        cmocka_unit_test(order_is_free),
        cmocka_unit_test(parameters_depend_on_parameters),
        cmocka_unit_test(settings_must_be_known),
        cmocka_unit_test(files_include_files),
        cmocka_unit_test(ten_thousand_links_in_no_time),
        cmocka_unit_test(memory_of_formulas_is_bounded),
        cmocka_unit_test(large_files_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
