/* The picture and what it is made of: ticks, thinned curves, a file of a bounded size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/axis.h"
#include "record/pendulum.h"
#include "record/scratch.h"
#include "record/thin.h"
#include "record/write.h"

/* ---- Axes ------------------------------------------------------------------------------------ */

static void ticks_are_round_and_inside(void **state)
{
    (void)state;
    static const double range[][2] = {
        {0, 1},         {0, 20},       {-3.7, 12.1},          {1e-9, 2.3e-9},
        {5, 5},         {0, 0},        {-1e308, 1e308},       {5e-324, 1e-320},
        {1e6, 1e6 + 1}, {-1e-5, 1e-5}, {19.62, 19.62 + 1e-14}};
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++) {
        for (int wanted = 3; wanted < 9; wanted++) {
            record_axis axis;
            record_axis_make(&axis, range[i][0], range[i][1], false, 0.05, wanted);
            assert_true(axis.low < axis.high && axis.tick_count >= 1);
            assert_true(axis.tick_count <= wanted + 2);
            double place = record_axis_place(&axis, range[i][0]);
            assert_true(place >= 0 && place <= 1);
            char before[64] = "", label[64];
            for (int k = 0; k < axis.tick_count; k++) {
                record_axis_label(&axis, axis.tick[k], label, sizeof label);
                assert_string_not_equal(label, before); /* neighbours can be distinguished */
                strcpy(before, label);
            }
        }
    }
    record_axis none;
    record_axis_make(&none, INFINITY, -INFINITY, false, 0, 5);
    assert_true(none.tick_count > 1);
    assert_true(isnan(record_axis_place(&none, NAN)));
    assert_true(isnan(record_axis_place(&none, -INFINITY)));
}

static void labels_read_as_on_paper(void **state)
{
    (void)state;
    record_axis axis;
    char text[64];
    record_axis_make(&axis, -20, 20, false, 0, 4);
    record_axis_label(&axis, -10, text, sizeof text);
    assert_string_equal(text, "\xe2\x88\x92"
                              "10");
    record_axis_make(&axis, 0, 1, false, 0, 5);
    record_axis_label(&axis, axis.tick[1], text, sizeof text);
    assert_string_equal(text, "0.2");
    record_axis_make(&axis, 0, 3e-6, false, 0, 3);
    record_axis_label(&axis, axis.tick[2], text, sizeof text);
    assert_string_equal(text, "2");
    record_axis_factor_text(&axis, text, sizeof text);
    assert_string_equal(text, "\xc3\x97"
                              "10\xe2\x81\xbb\xe2\x81\xb6");
    record_axis_make(&axis, 1e-16, 3e-12, true, 0, 5);
    record_axis_label(&axis, -12, text, sizeof text);
    assert_string_equal(text, "10\xe2\x81\xbb\xc2\xb9\xc2\xb2");
    assert_true(isnan(record_axis_place(&axis, 0)));
    record_axis_make(&axis, INFINITY, 0, true, 0, 5);
    assert_true(record_axis_place(&axis, 0) >= 0);
}

/* ---- Thinning -------------------------------------------------------------------------------- */

/* The distance of a point from a piece of the drawn line. */
static double distance(double x, double y, const double a[2], const double b[2])
{
    double dx = b[0] - a[0], dy = b[1] - a[1], length = dx * dx + dy * dy;
    double part = length > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / length : 0;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return hypot(x - a[0] - part * dx, y - a[1] - part * dy);
}

/* The corners of path data as the writer makes it: M, l and h0, numbers glued by signs. */
static int corners(const char *path, double (*corner)[2], int capacity)
{
    int count = 0;
    double x = 0, y = 0;
    bool relative = false;
    for (const char *c = path; *c != '\0' && count < capacity;) {
        if (*c == 'M' || *c == 'l') {
            relative = *c++ == 'l';
        }
        if (*c == 'h') {
            c += 2;
            continue;
        }
        char *end;
        double u = strtod(c, &end), v = strtod(end, &end);
        assert_ptr_not_equal(end, c);
        x = relative ? x + u : u;
        y = relative ? y + v : v;
        corner[count][0] = x;
        corner[count++][1] = y;
        c = end;
    }
    return count;
}

static char *thin(const double *x, const double *y, int count, unsigned char *cover, size_t *kept)
{
    record_file file;
    record_thin sieve;
    assert_int_equal(record_file_open(&file, scratch("path"), NULL), ZW_OK);
    record_thin_begin(&sieve, &file, 0.1, 300, 200, cover, 0.5);
    for (int i = 0; i < count; i++) {
        record_thin_add(&sieve, x[i], y[i]);
    }
    record_thin_end(&sieve);
    *kept = sieve.kept;
    assert_int_equal(record_file_close(&file, NULL), ZW_OK);
    return scratch_read(scratch("path"), NULL);
}

/* All points lie by the thinned line, and far fewer are left. */
static void thinned_curves_stay_close(void **state)
{
    (void)state;
    enum { COUNT = 6000, CAPACITY = 4000 };
    static double x[COUNT], y[COUNT], corner[CAPACITY][2];
    for (int curve = 0; curve < 3; curve++) {
        for (int i = 0; i < COUNT; i++) {
            double t = 1e-3 * i;
            x[i] = curve == 0 ? 300 * t / 6 : 150 + 20 * t * cos(5 * t);
            y[i] = curve == 0   ? 100 + 90 * sin(7 * t)
                   : curve == 1 ? 100 + 15 * t * sin(5 * t)
                                : 100 + 90 * fabs(fmod(t, 2) - 1); /* corners that turn back */
        }
        size_t size = record_thin_cover_size(300, 200, 0.5), kept;
        unsigned char *cover = curve == 0 ? NULL : calloc(1, size);
        char *path = thin(x, y, COUNT, cover, &kept);
        int count = corners(path, corner, CAPACITY);
        assert_true(count > 10 && count < COUNT / 6);
        assert_int_equal(count, kept);
        for (int i = 0; i < COUNT; i++) {
            double nearest = INFINITY;
            for (int k = 0; k + 1 < count; k++) {
                nearest = fmin(nearest, distance(x[i], y[i], corner[k], corner[k + 1]));
            }
            assert_true(nearest < 0.8); /* 0.1, and what bins and cells of half a pixel hide */
        }
        free(path);
        free(cover);
    }
}

static void gaps_part_a_curve(void **state)
{
    (void)state;
    const double x[] = {0, 10, 20, NAN, 40, NAN, 60, 70}, y[] = {5, 5, 15, 0, 7, 0, 8, INFINITY};
    size_t kept;
    char *path = thin(x, y, 8, NULL, &kept);
    assert_string_equal(path, "M0 5l10 0 10 10M40 7h0M60 8h0");
    free(path);
    path = thin(x, y, 0, NULL, &kept);
    assert_string_equal(path, "");
    assert_int_equal(kept, 0);
    free(path);
}

/* Round and round on the same ring: once is enough. */
static void ink_is_not_spent_twice(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    double *x = calloc(COUNT, sizeof *x), *y = calloc(COUNT, sizeof *y);
    unsigned char *cover = calloc(1, record_thin_cover_size(300, 200, 0.5));
    for (int i = 0; i < COUNT; i++) {
        x[i] = 150 + 90 * cos(0.01 * i);
        y[i] = 100 + 90 * sin(0.01 * i);
    }
    size_t kept;
    free(thin(x, y, COUNT, cover, &kept));
    assert_true(kept < 2500);
    free(x);
    free(y);
    free(cover);
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static size_t picture(const record_table *table, const char *must)
{
    zw_error error;
    size_t size = 0;
    assert_int_equal(record_write_svg(table, scratch("x.svg"), &error), ZW_OK);
    char *text = scratch_read(scratch("x.svg"), &size);
    assert_non_null(strstr(text, "</svg>"));
    assert_non_null(strstr(text, must));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
    return size;
}

static void a_table_without_plots_shows_coordinates_and_energy(void **state)
{
    (void)state;
    zw_error error;
    record_table *table = record_table_create(&error);
    record_table_add_column(table, "t", RECORD_ROLE_TIME, NULL, &error);
    picture(table, "nothing to plot");
    record_table_add_column(table, "x<&\"'", RECORD_ROLE_COORD, NULL, &error);
    record_table_add_column(table, "E", RECORD_ROLE_ENERGY, NULL, &error);
    picture(table, ">Coordinates</text>");
    picture(table, ">Energy</text>");
    picture(table, "x&lt;&amp;&quot;\xe2\x80\xb2");
    for (int i = 0; i < 3; i++) {
        const double row[] = {i, NAN, 7};
        record_table_add_row(table, row, &error);
        picture(table, ">Energy</text>");
    }
    record_table_free(table);
}

static void a_million_rows_make_a_small_picture(void **state)
{
    (void)state;
    zw_error error;
    const int rows = getenv("ZW_CAMPAIGN") != NULL ? 100000 : 1000000;
    record_table *table = record_table_create(&error);
    record_table_add_column(table, "t", RECORD_ROLE_TIME, NULL, &error);
    record_table_add_column(table, "noise", RECORD_ROLE_COORD, NULL, &error);
    record_table_add_column(table, "wave", RECORD_ROLE_COORD, NULL, &error);
    const int y[] = {1, 2};
    record_table_add_plot(table, &(record_plot){.y_count = 2, .y = y}, &error);
    record_table_add_plot(
        table, &(record_plot){.kind = RECORD_PLOT_PHASE, .x = 1, .y_count = 1, .y = y + 1}, &error);
    unsigned seed = 1;
    for (int i = 0; i < rows; i++) {
        seed = seed * 1664525u + 1013904223u;
        const double row[] = {1e-3 * i, seed / 4294967296.0, sin(0.3 * i) * cos(1e-5 * i)};
        record_table_add_row(table, row, &error);
    }
    assert_true(picture(table, "<svg") < 1100000);
    record_table_free(table);
}

static void numbers_know_no_locale(void **state)
{
    (void)state;
    char text[64];
    record_number_text(text, sizeof text, -1.5e-7, 17);
    assert_string_equal(text, "-1.4999999999999999e-07");
    record_number_text(text, sizeof text, -INFINITY, 5);
    assert_string_equal(text, "-inf");
    record_fixed_text(text, sizeof text, 2.5, 3);
    assert_string_equal(text, "2.500");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round_and_inside),
        cmocka_unit_test(labels_read_as_on_paper),
        cmocka_unit_test(thinned_curves_stay_close),
        cmocka_unit_test(gaps_part_a_curve),
        cmocka_unit_test(ink_is_not_spent_twice),
        cmocka_unit_test(a_table_without_plots_shows_coordinates_and_energy),
        cmocka_unit_test(a_million_rows_make_a_small_picture),
        cmocka_unit_test(numbers_know_no_locale),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
