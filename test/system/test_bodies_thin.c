/* Points, thin rods and bodies without mass in maximal coordinates: random trees move as in reduced
 * ones, or both are refused by the name of the body.
 *
 * There a point has no inertia against turning, a rod none about its own axis, a body without mass
 * (its joint has an armature) none at all: M is singular, and only the joints hold these motions.
 *
 * How near two forms of one motion can be.  Where a point comes near its own axis, the reduced M is
 * nearly singular too: s, its least eigenvalue over the largest, has been seen at 7e-10, with
 * speeds of 26000 rad/s. Round-off of the accelerations grows by 1/s there, whatever the form and
 * however small the tolerance. So forms that are more than 1e-9 apart must be no farther than both
 * state of themselves (zw_run_digits; a digit too many at most), must have such a position, and
 * lose no more energy than round-off does there. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "math/dense/eigen.h"
#include "scene/campaign.h"
#include "scene/dice.h"
#include "system/world.h"
#include "zwang/bodies.h"
#include "zwang/look.h"
#include "zwang/verdict.h"

enum { BODIES = 16 };

typedef struct text {
    char line[16000];
    size_t used;
} text;

static void write(text *to, const char *form, ...)
{
    va_list list;
    va_start(list, form);
    to->used += (size_t)vsnprintf(to->line + to->used, sizeof to->line - to->used, form, list);
    va_end(list);
    assert_true(to->used < sizeof to->line);
}

static void write_vector(text *to, const char *name, dice *d, double size)
{
    double x = dice_between(d, -size, size), y = dice_between(d, -size, size);
    double z = dice_between(d, -size, size);
    write(to, " %s='%.6f %.6f %.6f'", name, x, y, z);
}

static void write_body(text *to, dice *d, const int *parent, int count, int i, int large)
{
    static const char *const moments[] = {"0.02 0.03 0.025", "0 0 0", "0.02 0.02 0"};
    static const char *const kinds[] = {"hinge", "hinge", "slide", "ball"};
    int kind = dice_int(d, 0, 3); /* solid, point, rod, nothing */
    const char *joint = kinds[large || kind == 1 ? 0 : dice_int(d, 0, 3)];
    int twice = !large && joint == kinds[0] && dice_chance(d, 0.2);
    write(to, "<body name='b%d'", i);
    write_vector(to, "pos", d, 1);
    for (int k = 0; k <= twice; k++) {
        write(to, "><joint name='j%d_%d' type='%s'", i, k, joint);
        write_vector(to, "axis", d, 1);
        if (joint != kinds[2]) {
            write_vector(to, "pos", d, 0.3);
        }
        write(to, kind == 3 ? " armature='0.02'/" : "/");
    }
    if (kind < 3) {
        write(to, "><inertial mass='%.6f' diaginertia='%s'", dice_between(d, 0.5, 2),
              moments[kind]);
        write_vector(to, "pos", d, dice_chance(d, 0.3) ? 0 : 0.5);
        write(to, "/");
    }
    write(to, ">");
    for (int child = i + 1; child < count; child++) {
        if (parent[child] == i) {
            write_body(to, d, parent, count, child, large);
        }
    }
    write(to, "</body>");
}

static void write_tree(text *to, uint64_t seed, int large)
{
    dice d = dice_of(seed);
    int parent[BODIES], count = large ? dice_int(&d, 13, BODIES) : dice_int(&d, 1, 5);
    for (int i = 0; i < count; i++) {
        parent[i] = dice_int(&d, -1, i - 1);
    }
    to->used = 0;
    write(to, "<mujoco><compiler angle='radian'/><worldbody>");
    for (int i = 0; i < count; i++) {
        if (parent[i] == -1) {
            write_body(to, &d, parent, count, i, large);
        }
    }
    write(to, "</worldbody></mujoco>");
}

/* 0: refused. */
static int start(world *r, const char *line, int maximal)
{
    *r = (world){0};
    r->model = zw_model_parse(line, "tree.xml", NULL, &r->error);
    if (r->model && maximal) {
        zw_world_def def = *zw_model_world(r->model);
        def.maximal = 1;
        zw_model_set_world(r->model, &def, &r->error);
    }
    r->system = r->model ? zw_system_compile(r->model, NULL, &r->error) : NULL;
    r->work = r->system ? zw_work_create(r->system, &r->error) : NULL;
    r->state = r->work ? zw_state_create(r->system, r->work, NULL, &r->error) : NULL;
    return r->state != NULL;
}

static void look_at(zw_run_options *options, double time)
{
    *options = (zw_run_options){
        .time = time, .every = time / 10, .tolerance = 1e-12, .method = ZW_METHOD_DOP853};
}

static zw_run_summary go(world *r, double time, const char *line)
{
    zw_run_summary summary;
    zw_run_options options;
    look_at(&options, time);
    if (zw_run(r->system, r->state, r->work, &options, &summary, &r->error) != ZW_OK) {
        fail_msg("%s\n%s", r->error.text, line);
    }
    assert_true(summary.certificate < 1e-9);
    return summary;
}

static zw_view view_of(const world *w, int speeds)
{
    return zw_field(w->system, w->state, w->work, speeds ? ZW_FIELD_V : ZW_FIELD_Q);
}

/* The worst difference of coordinates and speeds that have the same name in both, over 1 and their
 * size, and over what the forms state of themselves, if they do. */
static double difference(world *one, world *two, const zw_digits *stated)
{
    double worst = 0;
    for (int speeds = 0; speeds < 2; speeds++) {
        zw_kind kind = speeds ? ZW_KIND_SPEED : ZW_KIND_COORD;
        const double *x = view_of(one, speeds).data, *y = view_of(two, speeds).data;
        int first[2] = {speeds ? zw_count(one->system, ZW_KIND_COORD) : 0,
                        speeds ? zw_count(two->system, ZW_KIND_COORD) : 0};
        for (int i = 0; i < zw_count(one->system, kind); i++) {
            int k = zw_id(two->system, kind, zw_name(one->system, kind, i));
            assert_true(k >= 0);
            double may = 1 + fabs(x[i]);
            for (int form = 0; stated && form < 2; form++) {
                may += 1e9 *
                       (stated[form].known ? stated[form].error[first[form] + (form ? k : i)] : 0);
            }
            worst = fmax(worst, fabs(x[i] - y[k]) / may);
        }
    }
    return worst;
}

/* Least s of the steps. */
typedef struct least {
    zw_probe *probe;
    double s;
} least;

static int look(void *user, zw_sample_kind kind, int event, const zw_system *system,
                const zw_state *state, zw_work *work)
{
    least *to = user;
    enum { SPEEDS = 64 };
    double M[SPEEDS * SPEEDS], value[2 * SPEEDS];
    zw_error error = {0};
    int n = zw_count(system, ZW_KIND_SPEED);
    (void)kind, (void)event, (void)work;
    assert_true(n <= SPEEDS);
    assert_int_equal(zw_mass(to->probe, state, M, &error), ZW_OK);
    assert_int_equal(dense_eigen(n, M, value, NULL), 1);
    double low = INFINITY, high = 0;
    for (int i = 0; i < n; i++) {
        low = fmin(low, value[2 * i]);
        high = fmax(high, value[2 * i]);
    }
    to->s = fmin(to->s, low / high);
    return 0;
}

/* Forms that are apart, or lose energy: by less than round-off explains? */
static void compare_forms(int seed, const char *line, double time)
{
    world form[2], seen;
    zw_digits stated[2] = {{0}, {0}};
    zw_run_summary summary[2], plain;
    zw_run_options options;
    look_at(&options, time);
    for (int k = 0; k < 2; k++) {
        start(&form[k], line, k);
        assert_int_equal(zw_run_digits(form[k].system, form[k].state, form[k].work, &options,
                                       &summary[k], &stated[k], &form[k].error),
                         ZW_OK);
    }
    start(&seen, line, 0);
    least to = {.probe = zw_probe_create(seen.model, seen.system, &seen.error), .s = 1};
    assert_non_null(to.probe);
    options.observer = look;
    options.user = &to;
    options.every = -1;
    assert_int_equal(zw_run(seen.system, seen.state, seen.work, &options, &plain, &seen.error),
                     ZW_OK);
    double apart = difference(&form[0], &form[1], NULL),
           over = difference(&form[0], &form[1], stated);
    double drift = fmax(summary[0].energy_drift, summary[1].energy_drift);
    print_message("    seed %d: %.1e apart, %.2g of what is stated; drift %.1e, s = %.1e\n", seed,
                  apart, over * 1e9, drift, to.s);
    assert_true(stated[0].known);
    if (!(over < 1e-8) || !(to.s < 1e-4) || !(drift < 1e-9 + 1e-15 / to.s)) {
        fail_msg("%s", line);
    }
    zw_probe_free(to.probe);
    world_end(&seen);
    for (int k = 0; k < 2; k++) {
        zw_digits_free(&stated[k]);
        world_end(&form[k]);
    }
}

static int one_tree(int seed, int large, double *worst, double *drift)
{
    static text to;
    world one, two;
    write_tree(&to, (uint64_t)seed, large);
    int refused = !start(&one, to.line, 0);
    if (refused) {
        assert_non_null(strstr(one.error.text, "body 'b"));
        assert_false(start(&two, to.line, 1));
        assert_non_null(strstr(two.error.text, "body 'b"));
    } else {
        if (!start(&two, to.line, 1)) {
            fail_msg("seed %d: %s\n%s", seed, two.error.text, to.line);
        }
        double time = large ? 0.2 : 1;
        zw_run_summary first = go(&one, time, to.line), second = go(&two, time, to.line);
        double off = difference(&one, &two, NULL);
        double lost = fmax(first.energy_drift, second.energy_drift);
        double energy = fabs(first.energy_end - second.energy_end);
        if (!(off < 1e-9) || !(lost < 1e-9) || !(energy < 1e-9 * (1 + fabs(first.energy_end)))) {
            compare_forms(seed, to.line, time);
        } else {
            *worst = fmax(*worst, off);
            *drift = fmax(*drift, lost);
        }
    }
    world_end(&one);
    world_end(&two);
    return refused;
}

/* Small trees have dense algebra, large ones sparse. ZW_SYSTEMS=1000 in the environment: so many,
 * and of large ones a twentieth.
 */
static void try_trees(int count, int large)
{
    const char *wanted = getenv("ZW_SYSTEMS");
    int refused = 0, systems = wanted ? atoi(wanted) / (large ? 20 : 1) : campaign(count);
    double worst = 0, drift = 0;
    for (int seed = 0; seed < systems; seed++) {
        refused += one_tree(seed, large, &worst, &drift);
    }
    print_message("    %d trees, %d refused, others %.1e apart at most, drift %.1e\n", systems,
                  refused, worst, drift);
    assert_true(4 * refused <= systems);
}

/* Those of the first 2000 that are more than 1e-9 apart; without ZW_SYSTEMS the quickest one, in
 * small campaigns none. */
static void test_nearly_singular(void **state)
{
    (void)state;
    static const int seeds[] = {63, 909, 1460, 75, 1227, 1535, 1706, 346};
    double worst = 0, drift = 0;
    int count = getenv("ZW_SYSTEMS") ? 8 : !campaign_is_small();
    for (int i = 0; i < count; i++) {
        assert_false(one_tree(seeds[i], 0, &worst, &drift));
    }
}

static void test_small_trees(void **state)
{
    (void)state;
    try_trees(40, 0);
}

static void test_large_trees(void **state)
{
    (void)state;
    try_trees(3, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_trees),
                                       cmocka_unit_test(test_large_trees),
                                       cmocka_unit_test(test_nearly_singular)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
