/* A recording for the tests of the writers: a double pendulum, swung by a small Runge-Kutta. */
#ifndef ZW_TEST_RECORD_PENDULUM_H
#define ZW_TEST_RECORD_PENDULUM_H

#include "record/table.h"

#include <math.h>
#include <stdio.h>

enum { PENDULUM_COLUMNS = 19 };

static const char pendulum_source[] =
    "# double_pendulum.zw: two rods in a plane, let go from above\n"
    "param  m1 = 1, m2 = 1, l1 = 1, l2 = 0.8, g = 9.81\n"
    "coord  th1 = 1.5, th2 = 1.9\n"
    "point  p1 = (l1*sin(th1), -l1*cos(th1))\n"
    "point  p2 = p1 + (l2*sin(th2), -l2*cos(th2))\n"
    "mass   m1 at p1, m2 at p2      # adds m/2 |p'|^2, and weight if gravity is given\n"
    "gravity (0, -9.81)\n"
    "\n"
    "constraint rod1: |p1| = l1     # redundant here, for its force\n"
    "constraint rod2: |p2 - p1| = l2\n"
    "event  turn: th1' = 0\n"
    "\n"
    "draw line (0,0) p1 p2\n"
    "plot phase th1 th1'\n"
    "plot phase th2 th2'\n"
    "plot time th1, th2\n";

/* Both masses 1, rods 1 and l; (th1, th2, th1', th2')' */
static const double pendulum_l = 0.8, pendulum_g = 9.81;

static void pendulum_rate(const double s[4], double rate[4])
{
    /* M th'' = r with M = [2, l cos d; l cos d, l^2] */
    double d = s[0] - s[1], l = pendulum_l, g = pendulum_g, c = l * cos(d), k = l * sin(d);
    double r1 = -k * s[3] * s[3] - 2 * g * sin(s[0]);
    double r2 = k * s[2] * s[2] - g * l * sin(s[1]);
    double det = 2 * l * l - c * c;
    rate[0] = s[2];
    rate[1] = s[3];
    rate[2] = (l * l * r1 - c * r2) / det;
    rate[3] = (2 * r2 - c * r1) / det;
}

static void pendulum_step(double s[4], double h)
{
    double k[4][4], at[4];
    const double part[4] = {0, 0.5, 0.5, 1};
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < 4; i++) {
            at[i] = s[i] + (stage > 0 ? part[stage] * h * k[stage - 1][i] : 0);
        }
        pendulum_rate(at, k[stage]);
    }
    for (int i = 0; i < 4; i++) {
        s[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

/* The row of a state: energies, places of the masses, forces of the rods. */
static void pendulum_row(double t, const double s[4], double row[PENDULUM_COLUMNS])
{
    double rate[4], l = pendulum_l, g = pendulum_g;
    pendulum_rate(s, rate);
    double s1 = sin(s[0]), c1 = cos(s[0]), s2 = sin(s[1]), c2 = cos(s[1]);
    double x1 = s1, y1 = -c1, dx = l * s2, dy = -l * c2;
    double u1 = c1 * s[2], v1 = s1 * s[2], u2 = u1 + l * c2 * s[3], v2 = v1 + l * s2 * s[3];
    double ax1 = c1 * rate[2] - s1 * s[2] * s[2], ay1 = s1 * rate[2] + c1 * s[2] * s[2];
    double ax2 = ax1 + l * (c2 * rate[3] - s2 * s[3] * s[3]);
    double ay2 = ay1 + l * (s2 * rate[3] + c2 * s[3] * s[3]);
    double kinetic = 0.5 * (u1 * u1 + v1 * v1 + u2 * u2 + v2 * v2), height = y1 + y1 + dy;
    double pull2 = -(ax2 * dx + (ay2 + g) * dy) / l;
    double pull1 = -((ax1 - pull2 * dx / l) * x1 + (ay1 + g - pull2 * dy / l) * y1);
    const double values[PENDULUM_COLUMNS] = {t,
                                             s[0],
                                             s[1],
                                             s[2],
                                             s[3],
                                             kinetic + g * height,
                                             kinetic,
                                             g * height,
                                             x1,
                                             y1,
                                             x1 + dx,
                                             y1 + dy,
                                             pull1,
                                             pull2,
                                             fabs(hypot(x1, y1) - 1),
                                             fabs(hypot(dx, dy) - l),
                                             1e-15 * (1 + fabs(s[2])),
                                             2e-16 * (1 + fabs(s[3])),
                                             t - t};
    for (int i = 0; i < PENDULUM_COLUMNS; i++) {
        row[i] = values[i];
    }
}

static const struct {
    const char *name;
    record_role role;
} pendulum_column[PENDULUM_COLUMNS] = {
    {"t", RECORD_ROLE_TIME},
    {"th1", RECORD_ROLE_COORD},
    {"th2", RECORD_ROLE_COORD},
    {"th1'", RECORD_ROLE_SPEED},
    {"th2'", RECORD_ROLE_SPEED},
    {"energy", RECORD_ROLE_ENERGY},
    {"kinetic", RECORD_ROLE_ENERGY},
    {"potential", RECORD_ROLE_ENERGY},
    {"p1.x", RECORD_ROLE_OTHER},
    {"p1.y", RECORD_ROLE_OTHER},
    {"p2.x", RECORD_ROLE_OTHER},
    {"p2.y", RECORD_ROLE_OTHER},
    {"lambda(rod1)", RECORD_ROLE_MULTIPLIER},
    {"lambda(rod2)", RECORD_ROLE_MULTIPLIER},
    {"violation(rod1)", RECORD_ROLE_VIOLATION},
    {"violation(rod2)", RECORD_ROLE_VIOLATION},
    {"stationarity", RECORD_ROLE_CERTIFICATE},
    {"feasibility", RECORD_ROLE_CERTIFICATE},
    {"idle", RECORD_ROLE_OTHER},
};

static zw_status pendulum_describe(record_table *table, zw_error *error)
{
    static const int angle1[] = {3}, angle2[] = {4}, angles[] = {1, 2}, tip[] = {11};
    static const record_plot plot[] = {
        {.kind = RECORD_PLOT_PHASE, .title = "Upper rod", .x = 1, .y_count = 1, .y = angle1},
        {.kind = RECORD_PLOT_PHASE, .title = "Lower rod", .x = 2, .y_count = 1, .y = angle2},
        {.kind = RECORD_PLOT_TIME, .title = "Angles", .y_count = 2, .y = angles, .y_label = "rad"},
        {.kind = RECORD_PLOT_XY, .title = "Path of the tip", .x = 10, .y_count = 1, .y = tip},
    };
    static const record_point line[] = {
        {{-1, -1, -1}, {0, 0, 0}}, {{8, 9, -1}, {0, 0, 0}}, {{10, 11, -1}, {0, 0, 0}}};
    static const record_draw draw = {
        .kind = RECORD_DRAW_LINE, .dimension = 2, .point_count = 3, .point = line};
    zw_status status = record_table_set_text(table, RECORD_TEXT_TITLE, "Double pendulum", error);
    if (status == ZW_OK) {
        status = record_table_set_text(table, RECORD_TEXT_FILE, "double_pendulum.zw", error);
    }
    if (status == ZW_OK) {
        status = record_table_set_text(table, RECORD_TEXT_SOURCE, pendulum_source, error);
    }
    for (int i = 0; i < PENDULUM_COLUMNS && status == ZW_OK; i++) {
        status = record_table_add_column(table, pendulum_column[i].name, pendulum_column[i].role,
                                         NULL, error);
    }
    for (int i = 0; i < 4 && status == ZW_OK; i++) {
        status = record_table_add_plot(table, &plot[i], error);
    }
    return status == ZW_OK ? record_table_add_draw(table, &draw, error) : status;
}

static zw_status pendulum_summarise(record_table *table, double first, double last, zw_error *error)
{
    char text[80];
    snprintf(text, sizeof text, "%.2e of %.4f", last - first, first);
    zw_status status = record_table_add_summary(table, "energy drift", text, error);
    if (status == ZW_OK) {
        status = record_table_add_summary(table, "redundant rows", "rod1, rod2", error);
    }
    return status == ZW_OK ? record_table_add_summary(table, "certificate",
                                                      "worst 8.1e-15, mean 3.0e-15", error)
                           : status;
}

/* `rows` samples, 1/100 s apart; NULL when the table could not be made. */
static inline record_table *pendulum_record(int rows, zw_error *error)
{
    record_table *table = record_table_create(error);
    if (table == NULL) {
        return NULL;
    }
    double state[4] = {1.5, 1.9, 0, 0}, row[PENDULUM_COLUMNS], first = 0;
    zw_status status = pendulum_describe(table, error);
    for (int i = 0; i < rows && status == ZW_OK; i++) {
        pendulum_row(0.01 * i, state, row);
        first = i == 0 ? row[5] : first;
        status = record_table_add_row(table, row, error);
        double before = state[2];
        for (int k = 0; k < 4; k++) {
            pendulum_step(state, 0.0025);
        }
        if (status == ZW_OK && before * state[2] < 0) {
            double t = 0.01 * i + 0.01 * before / (before - state[2]);
            status = record_table_add_mark(
                table, t, state[0] > 0 ? "turns on the right" : "turns on the left", error);
        }
    }
    if (status == ZW_OK) {
        status = pendulum_summarise(table, first, row[5], error);
    }
    if (status != ZW_OK) {
        record_table_free(table);
        return NULL;
    }
    return table;
}

#endif
