/* Assembly: the position as written is moved to the nearest one that satisfies all constraints,
 * including one-sided ones and limits; if there is none, the constraints in conflict are named.
 *
 * The random systems are checked by an independent search: many starts, Newton's method onto every
 * choice of rows, and a random walk on them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/memory.h"
#include "scene/campaign.h"
#include "scene/dice.h"
#include "system/world.h"

enum { N = 3, ROWS = 4 };

/* phi_r = sum_i c_i x_i + s_i sin(w_i x_i) + e x_0 x_1 - d = 0, or >= 0. */
typedef struct row {
    double c[N], s[N], w[N], e, d;
    int one_sided;
} row;

typedef struct problem {
    int n, rows;
    double mass[N], start[N];
    row row[ROWS];
} problem;

static double value_of(const row *r, int n, const double *x)
{
    double sum = r->e * x[0] * x[1] - r->d;
    for (int i = 0; i < n; i++) {
        sum += r->c[i] * x[i] + r->s[i] * sin(r->w[i] * x[i]);
    }
    return sum;
}

static void slope_of(const row *r, int n, const double *x, double *slope)
{
    for (int i = 0; i < n; i++) {
        slope[i] = r->c[i] + r->s[i] * r->w[i] * cos(r->w[i] * x[i]);
    }
    slope[0] += r->e * x[1];
    slope[1] += r->e * x[0];
}

static double distance_of(const problem *p, const double *x)
{
    double sum = 0;
    for (int i = 0; i < p->n; i++) {
        sum += p->mass[i] * (x[i] - p->start[i]) * (x[i] - p->start[i]);
    }
    return sqrt(sum);
}

/* Two-sided rows, then one-sided ones, all admitting one point at random. */
static problem problem_of(uint64_t seed)
{
    dice d = dice_of(seed);
    problem p = {.n = dice_int(&d, 2, N)};
    int equal = dice_int(&d, 0, p.n - 1), at_least = dice_int(&d, equal == 0, 2);
    double there[N];
    p.rows = equal + at_least;
    for (int i = 0; i < p.n; i++) {
        there[i] = dice_between(&d, -2, 2);
        p.start[i] = dice_between(&d, -2, 2);
        p.mass[i] = dice_power(&d, -0.5, 0.5);
    }
    for (int k = 0; k < p.rows; k++) {
        row *r = &p.row[k];
        for (int i = 0; i < p.n; i++) {
            r->c[i] = dice_between(&d, -1, 1);
            r->s[i] = dice_between(&d, -1, 1);
            r->w[i] = dice_between(&d, 0.5, 2);
        }
        r->e = dice_between(&d, -0.5, 0.5);
        r->one_sided = k >= equal;
        double gap = dice_between(&d, 0, 0.5);
        r->d = value_of(r, p.n, there) - (r->one_sided ? gap : 0);
    }
    return p;
}

static void write_problem(const problem *p, char *text, size_t capacity)
{
    size_t used = 0;
    for (int i = 0; i < p->n; i++) {
        used += (size_t)snprintf(text + used, capacity - used,
                                 "coord x%d = %.17g\nkinetic %.17g*x%d'^2/2\n", i, p->start[i],
                                 p->mass[i], i);
    }
    for (int k = 0; k < p->rows; k++) {
        const row *r = &p->row[k];
        used +=
            (size_t)snprintf(text + used, capacity - used, "constraint r%d: %.17g*x0*x1", k, r->e);
        for (int i = 0; i < p->n; i++) {
            used += (size_t)snprintf(text + used, capacity - used,
                                     " + %.17g*x%d + %.17g*sin(%.17g*x%d)", r->c[i], i, r->s[i],
                                     r->w[i], i);
        }
        used += (size_t)snprintf(text + used, capacity - used, " %s %.17g\n",
                                 r->one_sided ? ">=" : "=", r->d);
    }
}

/* ---- A search of its own -------------------------------------------------------------------- */

/* x = G \ x, G symmetric and positive, count <= ROWS; 0: singular. */
static int solve_small(int count, double G[ROWS][ROWS], double *x)
{
    for (int k = 0; k < count; k++) {
        if (!(fabs(G[k][k]) > 1e-10)) {
            return 0;
        }
        for (int i = k + 1; i < count; i++) {
            double part = G[i][k] / G[k][k];
            for (int j = k; j < count; j++) {
                G[i][j] -= part * G[k][j];
            }
            x[i] -= part * x[k];
        }
    }
    for (int k = count - 1; k >= 0; k--) {
        for (int j = k + 1; j < count; j++) {
            x[k] -= G[k][j] * x[j];
        }
        x[k] /= G[k][k];
    }
    return 1;
}

/* x onto the rows of this choice (a bit for each); 0: not there, or others are violated. */
static int put_on(const problem *p, unsigned choice, double *x)
{
    for (int round = 0; round < 25; round++) {
        double slope[ROWS][N], off[ROWS], G[ROWS][ROWS], worst = 0;
        int count = 0;
        for (int k = 0; k < p->rows; k++) {
            double value = value_of(&p->row[k], p->n, x);
            if (choice >> k & 1) {
                slope_of(&p->row[k], p->n, x, slope[count]);
                off[count++] = -value;
                worst = fmax(worst, fabs(value));
            }
        }
        if (worst < 1e-12) {
            for (int k = 0; k < p->rows; k++) {
                if (value_of(&p->row[k], p->n, x) < -1e-11) {
                    return 0;
                }
            }
            return 1;
        }
        for (int a = 0; a < count; a++) {
            for (int b = 0; b < count; b++) {
                G[a][b] = 0;
                for (int i = 0; i < p->n; i++) {
                    G[a][b] += slope[a][i] * slope[b][i] / p->mass[i];
                }
            }
        }
        if (!solve_small(count, G, off)) {
            return 0;
        }
        for (int i = 0; i < p->n; i++) {
            for (int a = 0; a < count; a++) {
                x[i] += slope[a][i] * off[a] / p->mass[i];
            }
        }
    }
    return 0;
}

/* The nearest admissible point found from `starts` points around x within `radius`, then by smaller
 * and smaller steps from the best; returns its distance from the start as written. */
static double search_from(const problem *p, dice *d, int starts, double radius, int local,
                          double *best)
{
    unsigned two_sided = 0, all = (1u << p->rows) - 1;
    double least = distance_of(p, best), reach = local ? 4 * radius : INFINITY, from[N];
    memcpy(from, local ? best : p->start, sizeof from);
    for (int k = 0; k < p->rows; k++) {
        two_sided |= p->row[k].one_sided ? 0 : 1u << k;
    }
    for (int shrink = 0; shrink < 8; shrink++, radius *= shrink == 1 ? 0.1 : 0.2) {
        for (int k = 0; k < starts; k++) {
            for (unsigned choice = two_sided; choice <= all; choice++) {
                double x[N];
                if ((choice & two_sided) != two_sided) {
                    continue;
                }
                for (int i = 0; i < p->n; i++) {
                    x[i] = (shrink == 0 ? from[i] : best[i]) +
                           radius * dice_between(d, -1, 1) / sqrt(p->mass[i]);
                }
                if (put_on(p, choice, x) && distance_of(p, x) < least &&
                    fabs(x[0] - from[0]) + fabs(x[1] - from[1]) < reach) {
                    least = distance_of(p, x);
                    memcpy(best, x, sizeof x);
                }
            }
        }
    }
    return least;
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ZW_SYSTEMS=5000 in the environment: so many. */
static void test_nearest(void **state)
{
    (void)state;
    const char *wanted = getenv("ZW_SYSTEMS");
    int systems = wanted ? atoi(wanted) : campaign(150), far = 0, moved = 0, refused = 0;
    double *ratio = calloc((size_t)systems + 1, sizeof *ratio);
    assert_non_null(ratio);
    for (int seed = 0; seed < systems; seed++) {
        problem p = problem_of((uint64_t)seed);
        char text[2000];
        dice d = dice_of((uint64_t)(seed + 100000));
        write_problem(&p, text, sizeof text);
        world w;
        if (!world_try(&w, text, NULL, 0, NULL)) {
            print_message("    seed %d: %s\n", seed, w.error.text);
            world_end(&w);
            refused++;
            continue;
        }
        double x[N] = {0}, near[N], local[N];
        memcpy(x, world_field(&w, ZW_FIELD_Q), (size_t)p.n * sizeof *x);
        for (int k = 0; k < p.rows; k++) {
            double value = value_of(&p.row[k], p.n, x);
            assert_true(value > -1e-12 && (p.row[k].one_sided || value < 1e-12));
        }
        assert_true(world_field(&w, ZW_FIELD_VIOLATION)[0] < 1e-12);
        double distance = distance_of(&p, x);
        memcpy(local, x, sizeof x);
        memcpy(near, x, sizeof x);
        double around = search_from(&p, &d, 12, 1e-3 * distance, 1, local);
        double least = search_from(&p, &d, 60, distance, 0, near);
        if (around < distance * (1 - 1e-7)) { /* no point around it is nearer */
            fail_msg("seed %d: %.10g away, %.10g is near it\n%s", seed, distance, around, text);
        }
        ratio[moved] = least > 0 ? distance / least : 1;
        moved += distance > 0;
        far += distance > 1.01 * least;
        if (distance > 1.01 * least) {
            print_message("    seed %d: %.6g away, the nearest %.6g\n", seed, distance, least);
        }
        world_end(&w);
    }
    qsort(ratio, (size_t)moved, sizeof *ratio, compare);
    print_message("    %d of %d moved, %d refused, %d farther than the nearest by 1 %%, worst %.3g "
                  "times\n",
                  moved, systems, refused, far, moved > 0 ? ratio[moved - 1] : 1.0);
    assert_true(far <= systems / 150 && refused <= systems / 300);
    free(ratio);
}

/* Two angles, a rod to a point, and a stop. The equality alone would lead beyond the stop. */
static void test_stop_of_an_arm(void **state)
{
    (void)state;
    world w = world_of("coord a = 2, b = 3\n"
                       "kinetic a'^2 + b'^2\n"
                       "point p = (cos(a) + cos(a + b), sin(a) + sin(a + b))\n"
                       "constraint tip: p = (0.3, 1.7)\n"
                       "constraint lid: b <= 0.5\n");
    const double *q = world_field(&w, ZW_FIELD_Q);
    double b = q[1], reach = 2 * acos(sqrt(0.3 * 0.3 + 1.7 * 1.7) / 2);
    print_message("    %.6g %.6g, expected %.6g\n", q[0], b, -reach);
    assert_true(fabs(b + reach) < 1e-12); /* the other elbow */
    assert_true(world_field(&w, ZW_FIELD_VIOLATION)[0] < 1e-14);
    assert_true(w.assembly.violation_before > 2 && w.assembly.violation_after < 1e-14);
    assert_true(w.assembly.position_change > 3 && w.assembly.position_coord == 1);
    world_end(&w);
}

/* What is open and violated is a violation, in a field and in the summary of a run. */
static void test_gaps_count(void **state)
{
    (void)state;
    world w = world_of("coord x = 1\nmass 1 at x\nparam low = 0\n"
                       "constraint ground: x >= low\n");
    assert_true(world_field(&w, ZW_FIELD_VIOLATION)[0] == 0);
    double *x = (double *)world_field(&w, ZW_FIELD_Q);
    x[0] = -0.25;
    assert_true(fabs(world_field(&w, ZW_FIELD_VIOLATION)[0] - 0.25) < 1e-15);
    world_end(&w);
}

static void is_refused(const char *text, const char *one, const char *other)
{
    world w;
    assert_false(world_try(&w, text, NULL, 0, NULL));
    if (!strstr(w.error.text, one) || !strstr(w.error.text, other) || w.error.line == 0) {
        fail_msg("%s names not both %s and %s", w.error.text, one, other);
    }
    assert_int_equal(w.error.status, ZW_CONFLICT);
    world_end(&w);
}

static void test_conflicts_are_named(void **state)
{
    (void)state;
    is_refused("coord x = 3, y = 1\nmass 1 at (x, y)\nconstraint ring: x^2 + y^2 = 1\n"
               "constraint wall: x >= 2\nconstraint far: y <= 10\n",
               "ring", "wall");
    is_refused("coord x = 3\nmass 1 at x\nconstraint low: x <= 1\nconstraint high: x >= 2\n", "low",
               "high");
    is_refused("coord a = 2, b = 3\nkinetic a'^2 + b'^2\nconstraint arc: a + b^3 = 10\n"
               "constraint lid: b <= 0.5\nconstraint left: a <= 3\n",
               "arc", "lid");
}

/* Whichever allocation fails, that is reported, or the start is found all the same. */
static void test_without_memory(void **state)
{
    (void)state;
    static const char *const text[] = {
        "coord a = 2, b = 3\nkinetic a'^2 + b'^2\nconstraint arc: a + b^3 = 10\n"
        "constraint lid: b <= 0.5\nconstraint left: a <= 3\n",
        "coord x = 3, y = 1\nmass 1 at (x, y)\nconstraint ring: x^2 + y^2 = 1\n"
        "constraint wall: x >= 0.9\n"};
    for (int i = 0; i < 2; i++) {
        zw_error error = {0};
        zw_model *model = zw_model_parse(text[i], "test.zw", NULL, &error);
        zw_system *system = zw_system_compile(model, NULL, &error);
        zw_work *work = zw_work_create(system, &error);
        int failed = 1;
        for (int k = 1; failed; k++) {
            base_alloc_fail_after(k);
            zw_state *start = zw_state_create(system, work, NULL, &error);
            failed = !start && error.status == ZW_NO_MEMORY;
            base_alloc_fail_after(0);
            assert_true(start || failed || (i == 0 && error.status == ZW_CONFLICT));
            zw_state_free(start);
            assert_true(k < 5000);
            if (start && k < 40) {
                failed = 1; /* one that could be done without */
            }
        }
        zw_work_free(work);
        zw_system_free(system);
        zw_model_free(model);
    }
}

/* The gymnast as described hangs beside the bar; his limits hold where he is put. */
static void test_gymnast(void **state)
{
    (void)state;
    zw_error error;
    zw_assembly assembly;
    zw_model *model = zw_model_read(ZW_SOURCE_DIR "/examples/bodies/gymnast.xml", NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *start = work ? zw_state_create(system, work, &assembly, &error) : NULL;
    if (!start) {
        fail_msg("%s", error.text);
    }
    int count = zw_count(system, ZW_KIND_CONSTRAINT), one_sided = 0;
    zw_constraint *list = calloc((size_t)count + 1, sizeof *list);
    assert_non_null(list);
    assert_int_equal(zw_forward(system, start, work, NULL, &error), ZW_OK);
    assert_int_equal(zw_constraints_look(system, start, work, list, &error), ZW_OK);
    for (int c = 0; c < count; c++) {
        int is = list[c].kind == ZW_ONE_SIDED;
        assert_true(!is || list[c].position > -1e-12);
        one_sided += is;
    }
    assert_int_equal(one_sided, 42);
    zw_run_summary summary;
    const zw_run_options options = {.time = 0.2, .tolerance = 1e-10};
    if (zw_run(system, start, work, &options, &summary, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
    assert_true(summary.energy_drift < 1e-9 && summary.violation_position < 1e-12);
    free(list);
    zw_state_free(start);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
}

/* Eighteen pairs of balls on strings that are too long, each string through the inside of a ball
 * that it cannot leave: no position is near. That is reported soon, however many starts fail. */
static void test_ends_soon(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = zw_model_parse(
        "<mujoco><worldbody><body pos='0 0 1.5'><freejoint/><site name='bulb'/><geom name='bulb' "
        "size='.3' density='100' contype='0' conaffinity='0'/></body>"
        "<replicate count='18' euler='0 0 20'><body pos='.2 0 1.5'><freejoint/><site name='a'/>"
        "<geom size='.03'/></body><body pos='1.2 0 1.5'><freejoint/><site name='b'/>"
        "<geom size='.1'/></body></replicate></worldbody><tendon><spatial range='0 .5'>"
        "<site site='a'/><geom geom='bulb' sidesite='bulb'/><site site='b'/></spatial></tendon>"
        "</mujoco>",
        "strings.xml", NULL, &error);
    assert_non_null(model);
    zw_system *system = zw_system_compile(model, NULL, &error);
    zw_work *work = zw_work_create(system, &error);
    assert_non_null(work);
    clock_t begin = clock();
    zw_state *start = zw_state_create(system, work, NULL, &error);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    assert_null(start);
    assert_non_null(strstr(error.text, "no nearby position satisfies"));
    print_message("%.2f s\n", seconds);
    assert_true(seconds < 3 || campaign_is_small()); /* sanitizers take longer */
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest),    cmocka_unit_test(test_stop_of_an_arm),
        cmocka_unit_test(test_gaps_count), cmocka_unit_test(test_conflicts_are_named),
        cmocka_unit_test(test_gymnast),    cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_ends_soon)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
