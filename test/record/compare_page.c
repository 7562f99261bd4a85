/* Write recordings into a folder, for compare_page.py and for inspection: compare_page FOLDER. */
#include "record/pendulum.h"
#include "record/write.h"

#include <stdlib.h>
#include <string.h>

static void must(zw_status status, const zw_error *error)
{
    if (status != ZW_OK) {
        fprintf(stderr, "compare_page: %s\n", error->text);
        exit(1);
    }
}

static void write_all(const record_table *table, const char *folder, const char *name)
{
    char path[4096];
    zw_error error;
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    must(record_write_csv(table, path, &error), &error);
    snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    must(record_write_svg(table, path, &error), &error);
    snprintf(path, sizeof path, "%s/%s.html", folder, name);
    must(record_write_html(table, path, &error), &error);
}

static record_table *empty(void)
{
    zw_error error;
    record_table *table = record_table_create(&error);
    must(table != NULL ? ZW_OK : ZW_NO_MEMORY, &error);
    return table;
}

/* Names, texts and numbers that break files which do not expect them. */
static record_table *nasty(void)
{
    zw_error error;
    record_table *table = empty();
    const char *bad = "</script><b>&\"'\n\t\x01\xff]]>\xe2\x82\xac<!--";
    static const char *const name[] = {"t",    "</script><i>", "a,b \"c\"\n&",
                                       "flat", "\xffz\x02'",   "hole"};
    for (int i = 0; i < RECORD_TEXT_COUNT; i++) {
        must(record_table_set_text(table, (record_text)i, bad, &error), &error);
    }
    for (int i = 0; i < 6; i++) {
        record_role role = i == 0   ? RECORD_ROLE_TIME
                           : i == 3 ? RECORD_ROLE_ENERGY
                           : i == 5 ? RECORD_ROLE_VIOLATION
                                    : RECORD_ROLE_COORD;
        must(record_table_add_column(table, name[i], role, NULL, &error), &error);
    }
    const int y[] = {1, 2, 3, 4, 5};
    const record_point at = {{1, 2, 3}, {0, 0, 0}};
    must(record_table_add_plot(table, &(record_plot){.title = bad, .y_count = 5, .y = y}, &error),
         &error);
    must(record_table_add_plot(table,
                               &(record_plot){.kind = RECORD_PLOT_PHASE,
                                              .x = 1,
                                              .y_count = 1,
                                              .y = &y[1],
                                              .x_label = bad,
                                              .y_label = bad},
                               &error),
         &error);
    must(record_table_add_draw(table,
                               &(record_draw){.kind = RECORD_DRAW_TEXT,
                                              .dimension = 3,
                                              .point_count = 1,
                                              .point = &at,
                                              .text = bad},
                               &error),
         &error);
    must(record_table_add_mark(table, 1.5, bad, &error), &error);
    must(record_table_add_summary(table, bad, bad, &error), &error);
    for (int i = 0; i < 200; i++) {
        double t = 0.02 * i;
        const double row[] = {t,
                              i % 50 < 40 ? sin(3 * t) : NAN,
                              i == 77 ? INFINITY : i == 78 ? 1e308 : -1e308 * cos(t),
                              5,
                              i % 2 == 0 ? NAN : 1e-320 * i,
                              i == 100 ? NAN : i % 3 == 0 ? 0 : 1e-14 * i};
        must(record_table_add_row(table, row, &error), &error);
    }
    return table;
}

/* All shapes, in space; the last column alone has a circle's radius. */
static record_table *solid(void)
{
    zw_error error;
    record_table *table = empty();
    static const char *const name[] = {"t", "x", "y", "z", "r"};
    must(record_table_set_text(table, RECORD_TEXT_TITLE, "Shapes in space", &error), &error);
    for (int i = 0; i < 5; i++) {
        must(record_table_add_column(table, name[i], i == 0 ? RECORD_ROLE_TIME : RECORD_ROLE_COORD,
                                     NULL, &error),
             &error);
    }
    const record_point p[] = {{{-1, -1, -1}, {0, 0, 2}}, {{1, 2, 3}, {0, 0, 0}},
                              {{1, 2, -1}, {0, 0, 0}},   {{-1, -1, -1}, {1, 0, 0}},
                              {{-1, -1, -1}, {0, 1, 0}}, {{-1, -1, -1}, {-1, -1, 0}}};
    const record_draw draw[] = {
        {.kind = RECORD_DRAW_POLYGON, .dimension = 3, .point_count = 3, .point = p + 3},
        {.kind = RECORD_DRAW_TRAIL, .dimension = 3, .point_count = 1, .point = p + 1, .seconds = 2},
        {.kind = RECORD_DRAW_SPRING, .dimension = 3, .point_count = 2, .point = p},
        {.kind = RECORD_DRAW_CIRCLE,
         .dimension = 3,
         .point_count = 1,
         .point = p + 2,
         .radius_column = 4},
        {.kind = RECORD_DRAW_POINT,
         .dimension = 3,
         .point_count = 1,
         .point = p + 1,
         .color = "green",
         .text = "bob"},
        {.kind = RECORD_DRAW_TEXT, .dimension = 3, .point_count = 1, .point = p, .text = "hook"},
    };
    for (size_t i = 0; i < sizeof draw / sizeof draw[0]; i++) {
        must(record_table_add_draw(table, &draw[i], &error), &error);
    }
    for (int i = 0; i <= 1000; i++) {
        double t = 0.01 * i, r = 0.6 + 0.3 * cos(1.7 * t);
        const double row[] = {t, r * cos(3 * t), r * sin(3 * t), 0.8 + 0.4 * sin(5 * t),
                              0.2 + 0.1 * sin(5 * t)};
        must(record_table_add_row(table, row, &error), &error);
    }
    return table;
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: compare_page FOLDER\n");
        return 2;
    }
    zw_error error;
    const struct {
        const char *name;
        record_table *table;
    } made[] = {{"pendulum", pendulum_record(2001, &error)},
                {"long", pendulum_record(100001, &error)},
                {"one", pendulum_record(1, &error)},
                {"empty", empty()},
                {"nasty", nasty()},
                {"solid", solid()}};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        must(made[i].table != NULL ? ZW_OK : ZW_NO_MEMORY, &error);
        write_all(made[i].table, arguments[1], made[i].name);
        record_table_free(made[i].table);
    }
    return 0;
}
