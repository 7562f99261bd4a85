/* Newton's method for whole steps (impulse_chord.c): its derivatives of momenta and of contacts are
 * those of differences, and most steps of a robot that stands and sways need no solve by the
 * kernel. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "impulse_go.h"
#include "tree/sweeps.h"

static robot falling_humanoid(void)
{
    zw_error error = {0};
    char path[500];
    snprintf(path, sizeof path, "%s/examples/contact/humanoid_falls.xml", ZW_SOURCE_DIR);
    return robot_of(zw_model_read(path, NULL, &error));
}

/* The momenta at q (+) f v, gathered at q0; scratch: sweeps of the tree. */
static void gather_momenta(const zw_system *system, const double *place, const double *q,
                           const double *v, double f, double *sweeps, double *tau)
{
    const tree_mechanism *tree = system->tree;
    double there[200], P[600];
    assert_true(tree->nq <= 200 && 6 * tree->bodies <= 600);
    tree_advance(tree, q, v, &f, there);
    tree_kinematics(tree, there, sweeps);
    tree_velocities(tree, v, sweeps);
    balance_momenta(system, sweeps, P);
    balance_gather(system, place, P, tau);
}

/* By how much the derivatives are off from differences of order four, relative to the largest. */
static double slope_error(const robot *r, const double *q, double *v, double f)
{
    static const double weight[] = {8, -8, -1, 1};
    const tree_mechanism *tree = r->system->tree;
    const double step = 2e-3;
    const int n = r->system->n;
    size_t side = (size_t)n;
    double *place = tree_work_create(tree, 1), *sweeps = tree_work_create(tree, 1);
    double *N = calloc(side * side, sizeof *N), *tau = calloc(side, sizeof *tau);
    double *scratch = calloc(balance_slopes_scratch(r->system), sizeof *scratch);
    double *slope = calloc(side, sizeof *slope), worst = 0, most = 0;
    tree_kinematics(tree, q, place);
    gather_momenta(r->system, place, q, v, f, sweeps, tau);
    const balance_step it = {.place = place, .sweeps = sweeps, .v = v, .f = f};
    balance_slopes(r->system, &it, scratch, N, n);
    for (int j = 0; j < n; j++) {
        const double at = v[j];
        memset(slope, 0, side * sizeof *slope);
        for (int k = 0; k < 4; k++) {
            v[j] = at + (k % 2 ? -1 : 1) * (k < 2 ? 1 : 2) * step;
            gather_momenta(r->system, place, q, v, f, sweeps, tau);
            for (int i = 0; i < n; i++) {
                slope[i] += weight[k] / (12 * step) * tau[i];
            }
        }
        v[j] = at;
        for (int i = 0; i < n; i++) {
            worst = fmax(worst, fabs(N[(size_t)i * side + (size_t)j] - slope[i]));
            most = fmax(most, fabs(slope[i]));
        }
    }
    base_free(place);
    base_free(sweeps);
    free(N);
    free(tau);
    free(scratch);
    free(slope);
    return worst / most;
}

/* exp of nothing, and of angles on both sides of where the series ends. */
static void turning_is_smooth(void **state)
{
    (void)state;
    const double f = 0.1, none[3] = {0}, less[3] = {0.9999999, 0, 0}, more[3] = {1.0000001, 0, 0};
    double part[3][2];
    balance_turning(none, f, part[0]);
    balance_turning(less, f, part[1]);
    balance_turning(more, f, part[2]);
    assert_true(fabs(part[0][0] - f / 2) < 1e-16 && fabs(part[0][1] - f * f / 6) < 1e-16);
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(part[1][k] / part[2][k] - 1) < 1e-9);
    }
}

/* Bodies that turn by half a radian. */
static void slopes_of_momenta_are_those_of_differences(void **state)
{
    static const char *const file[] = {"humanoid.xml", "quadruped.xml", "gyroscope.xml",
                                       "stewart.xml", "arm.xml"};
    (void)state;
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        robot r = robot_compile(robot_example(file[k], NULL));
        double q[200], v[100];
        for (int i = 0; i < r.system->nq; i++) {
            q[i] = sin(1.0 + 2.3 * i);
        }
        for (int i = 0; i < r.system->n; i++) {
            v[i] = 2 * cos(0.7 + 1.7 * i);
        }
        double slow = slope_error(&r, q, v, 0.02), fast = slope_error(&r, q, v, 0.25);
        print_message("%s: %.1e, %.1e\n", file[k], slow, fast);
        assert_true(slow <= 1e-11 && fast <= 1e-11);
        robot_end(&r);
    }
}

/* Speeds of the rows of contacts, gap/h and slip, at the iterate s->u. */
static int row_speeds(step_impulse *s, double *w)
{
    const impulse_problem *p = &s->problem;
    impulse_balance(s, s->u, s->other);
    impulse_fill_rows(s, s->t + s->h);
    tree_velocities(s->system->tree, s->u, s->work->sweeps);
    assert_int_equal(impulse_find_contacts(s, s->work->sweeps, s->u, NULL), ZW_OK);
    impulse_put_rows(s);
    int first = p->first[p->blocks - s->touch.found.count];
    for (int i = first; i < p->rows; i++) {
        w[i - first] = -p->b[i];
        for (int e = p->start[i]; e < p->start[i + 1]; e++) {
            w[i - first] += p->value[e] * s->u[p->column[e]];
        }
    }
    return p->rows - first;
}

typedef struct slopes_seen {
    step_impulse *s;
    double worst, most;
    int points;
} slopes_seen;

/* After a part of a step: compare the derivatives of all points with differences. */
static void compare_slopes(void *user, const step_impulse *piece, const double *v1)
{
    enum { MOST = 200, WIDE = 64 };
    static double before[MOST], after[MOST], slope[MOST][WIDE], part[3 * WIDE];
    slopes_seen *seen = user;
    step_impulse *s = seen->s; /* the same, ours to change */
    (void)piece;
    (void)v1;
    s->touch.stay.differs = 1;
    int rows = row_speeds(s, before), points = s->touch.found.count;
    assert_true(rows == 3 * points && rows <= MOST && s->system->n <= WIDE);
    memset(slope, 0, sizeof slope);
    for (int k = 0; k < points; k++) {
        impulse_contact_slopes(s, k, part);
        for (int r = 0; r < 3; r++) {
            for (int e = 0; e < s->touch.columns[k]; e++) {
                slope[3 * k + r][s->touch.column[k * s->touch.wide + e]] =
                    part[r * s->touch.columns[k] + e];
            }
        }
    }
    for (int j = 0; j < s->system->n; j++) {
        const double u = s->u[j], step = 1e-5;
        s->u[j] = u + step;
        assert_int_equal(row_speeds(s, after), rows);
        s->u[j] = u;
        for (int i = 0; i < rows; i++) {
            double off = fabs((after[i] - before[i]) / step - slope[i][j]);
            seen->worst = fmax(seen->worst, off);
            seen->most = fmax(seen->most, fabs(slope[i][j]));
        }
    }
    row_speeds(s, before);
    s->touch.stay.differs = 0;
    seen->points += points;
}

static void forget_piece(void *user, const step_impulse *s, int hit)
{
    (void)user;
    (void)s;
    (void)hit;
}

/* A humanoid that is pushed turns and rolls on its feet: gaps and slips change with the speeds as
 * impulse_slip.c predicts, to second order in the rotation of a step. */
static void slopes_of_contacts_are_those_of_differences(void **state)
{
    (void)state;
    zw_error error = {0};
    robot r = falling_humanoid();
    step_impulse *s = impulse_create(r.system, r.work, &error);
    slopes_seen seen = {.s = s};
    const impulse_watch watch = {.solved = compare_slopes, .taken = forget_piece, .user = &seen};
    double *q = state_q(r.state), *v = state_v(r.state);
    const double h = 0.002;
    v[0] = 0.3;
    v[5] = 1;
    impulse_set_tolerance(s, 1e-10);
    for (int k = 0; k < 20; k++) {
        s->watch = k == 19 ? &watch : NULL;
        assert_int_equal(impulse_step(s, k * h, h, q, v, q, v, &error), ZW_OK);
    }
    print_message("%d points: %.1e of %.1e\n", seen.points, seen.worst, seen.most);
    assert_true(seen.points > 3 && seen.worst <= 5e-8 * seen.most);
    impulse_free(s);
    robot_end(&r);
}

/* Oscillating motors hold it up. The kernel is called only where something begins to slide or to
 * lift. With the kernel alone there are six solves. */
static void standing_robot_hardly_needs_the_kernel(void **state)
{
    (void)state;
    zw_error error = {0};
    robot r = falling_humanoid();
    const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .step = 0.002};
    const struct system_bodies *bodies = r.system->bodies;
    const int settle = 20, steps = 60;
    double solves = 0, searches = 0, factors = 0, worst = 0;
    for (int k = 0; k < settle + steps; k++) {
        for (int i = 0; i < bodies->motor_count; i++) {
            const double value = 0.02 * sin(0.05 * k * (1 + 0.1 * (i % 7)) + i);
            zw_state_set(r.system, r.state, r.work, ZW_FIELD_PARAM, bodies->motor[i].param, 1,
                         &value, NULL);
        }
        assert_int_equal(zw_step(r.system, r.state, r.work, &options, &error), ZW_OK);
        if (k >= settle) {
            solves += (double)r.work->effort.rounds / steps;
            searches += (double)r.work->effort.searches / steps;
            factors += (double)r.work->effort.factors / steps;
            worst = fmax(worst, r.work->certificate);
        }
    }
    print_message("solves %.2f, searches %.2f, factorisations %.2f, residual %.1e\n", solves,
                  searches, factors, worst);
    assert_true(solves <= 0.3 && searches <= 5.2 && factors <= 5.5 && worst <= 1e-10);
    robot_end(&r);
}

/* The accelerations in the memory of a step are no more than a guess, whatever they are: also where
 * the matrix of the iterate they lead to is nearly singular, or has no finite numbers. (How feet
 * share a load does depend on it, and with that the speeds, a little.) */
static void wild_guesses_do_no_harm(void **state)
{
    (void)state;
    enum { STEPS = 20, DOFS = 64 };
    static const double wild[] = {3e6, 1e200};
    const double h = 0.005;
    zw_error error = {0};
    robot r = falling_humanoid();
    step_impulse *s = impulse_create(r.system, r.work, &error);
    double q[2][DOFS], v[2][DOFS], *kept, worst = 0;
    const int n = r.system->n;
    assert_true(r.system->nq < DOFS);
    size_t bytes = (size_t)impulse_memory(s, &kept) * sizeof *kept;
    double *before = malloc(bytes), *after = malloc(bytes);
    memcpy(q[0], state_q(r.state), (size_t)r.system->nq * sizeof(double));
    memcpy(v[0], state_v(r.state), (size_t)n * sizeof(double));
    v[0][0] = 2;
    v[0][5] = 5;
    impulse_set_tolerance(s, 1e-10);
    for (int k = 0; k < STEPS; k++) {
        memcpy(before, kept, bytes);
        assert_int_equal(impulse_step(s, k * h, h, q[0], v[0], q[1], v[1], &error), ZW_OK);
        memcpy(after, kept, bytes);
        for (size_t w = 0; w < sizeof wild / sizeof *wild && before[3] > 0; w++) {
            double there[DOFS], then[DOFS];
            int at = IMPULSE_HEAD + IMPULSE_BLOCK * (int)before[1] + (int)before[2];
            memcpy(kept, before, bytes);
            for (int i = 0; i < n; i++) {
                kept[at + i] += wild[w] * sin(1 + k + 2.3 * i);
            }
            assert_int_equal(impulse_step(s, k * h, h, q[0], v[0], there, then, &error), ZW_OK);
            for (int i = 0; i < n; i++) {
                assert_true(fabs(then[i] - v[1][i]) < 1);
            }
            worst = fmax(worst, s->residual);
        }
        memcpy(kept, after, bytes);
        memcpy(q[0], q[1], sizeof q[0]);
        memcpy(v[0], v[1], sizeof v[0]);
    }
    print_message("wild guesses: residual %.1e\n", worst);
    assert_true(worst <= 1e-8);
    free(before);
    free(after);
    impulse_free(s);
    robot_end(&r);
}

/* After a flight of 1e-7 s in which a speed changed by an impulse. */
static void speeds_are_extrapolated_by_what_was_seen(void **state)
{
    (void)state;
    zw_error error = {0};
    robot r = falling_humanoid();
    step_impulse *s = impulse_create(r.system, r.work, &error);
    const double h = 0.005, change = 0.25, short_time = 1e-7;
    double *q = state_q(r.state), *v = state_v(r.state);
    v[0] = 1;
    assert_int_equal(impulse_step(s, 0, h, q, v, q, v, &error), ZW_OK);
    for (int longer = 0; longer < 2; longer++) {
        double time = longer ? h : short_time, v1[64] = {0}, u[64] = {0};
        v1[0] = change;
        impulse_note_trend(s, u, v1, time);
        memcpy(s->v0, v, (size_t)r.system->n * sizeof *v);
        memcpy(s->u, v, (size_t)r.system->n * sizeof *v);
        s->theta = 0;
        s->h = h;
        impulse_extrapolate(s);
        assert_true(fabs(s->u[0] - v[0] - (longer ? 0.5 : 1) * change) <= 1e-12);
        s->plain = 0;
        impulse_keep(s);
        double *kept;
        impulse_memory(s, &kept);
        double stored = kept[IMPULSE_HEAD + IMPULSE_BLOCK * (int)kept[1] + (int)kept[2]];
        assert_true(fabs(0.5 * h * stored - (longer ? 0.5 : 1) * change) <= 1e-12);
    }
    impulse_free(s);
    robot_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turning_is_smooth),
        cmocka_unit_test(slopes_of_momenta_are_those_of_differences),
        cmocka_unit_test(slopes_of_contacts_are_those_of_differences),
        cmocka_unit_test(standing_robot_hardly_needs_the_kernel),
        cmocka_unit_test(wild_guesses_do_no_harm),
        cmocka_unit_test(speeds_are_extrapolated_by_what_was_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
