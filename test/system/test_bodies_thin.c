/* Points, thin rods and bodies without mass in maximal coordinates: random trees move as in reduced
 * ones, or both are refused by the name of the body.
 *
 * There a point has no inertia against turning, a rod none about its own axis, a body without mass
 * (its joint has an armature) none at all: M is singular, and only the joints hold these motions.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene/campaign.h"
#include "scene/dice.h"
#include "system/world.h"
#include "zwang/bodies.h"

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
    r->model = zw_model_parse(line, "tree.xml", NULL, 0, &r->error);
    if (r->model && maximal) {
        zw_world_def def = *zw_model_world(r->model);
        def.maximal = 1;
        zw_model_set_world(r->model, &def, &r->error);
    }
    r->system = r->model ? zw_system_compile(r->model, &r->error) : NULL;
    r->work = r->system ? zw_work_create(r->system, &r->error) : NULL;
    r->state = r->work ? zw_state_create(r->system, r->work, NULL, &r->error) : NULL;
    return r->state != NULL;
}

static zw_run_summary go(world *r, double time, const char *line)
{
    zw_run_summary summary;
    const zw_run_options options = {
        .time = time, .every = time / 10, .tolerance = 1e-12, .method = ZW_METHOD_DOP853};
    if (zw_run(r->system, r->state, r->work, &options, &summary, &r->error) != ZW_OK) {
        fail_msg("%s\n%s", r->error.text, line);
    }
    assert_true(summary.energy_drift < 1e-9 && summary.certificate < 1e-9);
    return summary;
}

/* The worst difference of coordinates and speeds that have the same name in both. */
static double difference(world *one, world *two)
{
    const double *q[2] = {zw_field(one->system, one->state, one->work, ZW_FIELD_Q).data,
                          zw_field(two->system, two->state, two->work, ZW_FIELD_Q).data};
    const double *v[2] = {zw_field(one->system, one->state, one->work, ZW_FIELD_V).data,
                          zw_field(two->system, two->state, two->work, ZW_FIELD_V).data};
    double worst = 0;
    for (int i = 0; i < zw_count(one->system, ZW_COORD); i++) {
        int k = zw_id(two->system, ZW_COORD, zw_name(one->system, ZW_COORD, i));
        assert_true(k >= 0);
        worst = fmax(worst, fabs(q[0][i] - q[1][k]) / (1 + fabs(q[0][i])));
    }
    for (int i = 0; i < zw_count(one->system, ZW_SPEED); i++) {
        int k = zw_id(two->system, ZW_SPEED, zw_name(one->system, ZW_SPEED, i));
        assert_true(k >= 0);
        worst = fmax(worst, fabs(v[0][i] - v[1][k]) / (1 + fabs(v[0][i])));
    }
    return worst;
}

/* Small trees have dense algebra, large ones sparse. ZW_SYSTEMS=1000 in the environment: so many.
 */
static void try_trees(int count, int large)
{
    const char *wanted = getenv("ZW_SYSTEMS");
    int refused = 0, systems = wanted ? atoi(wanted) : campaign(count);
    double worst = 0, drift = 0;
    for (int seed = 0; seed < systems; seed++) {
        static text to;
        world one, two;
        write_tree(&to, (uint64_t)seed, large);
        if (!start(&one, to.line, 0)) {
            assert_non_null(strstr(one.error.text, "body 'b"));
            assert_false(start(&two, to.line, 1));
            assert_non_null(strstr(two.error.text, "body 'b"));
            refused++;
        } else {
            if (!start(&two, to.line, 1)) {
                fail_msg("seed %d: %s\n%s", seed, two.error.text, to.line);
            }
            double time = large ? 0.2 : 1;
            zw_run_summary first = go(&one, time, to.line), second = go(&two, time, to.line);
            double off = difference(&one, &two);
            if (!(off < 1e-9)) {
                fail_msg("seed %d: %.3g apart\n%s", seed, off, to.line);
            }
            worst = fmax(worst, off);
            drift = fmax(drift, fmax(first.energy_drift, second.energy_drift));
            assert_true(fabs(first.energy_end - second.energy_end) <
                        1e-9 * (1 + fabs(first.energy_end)));
        }
        world_end(&one);
        world_end(&two);
    }
    print_message("    %d trees, %d refused, %.1e apart at most, drift %.1e\n", systems, refused,
                  worst, drift);
    assert_true(4 * refused <= systems);
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
                                       cmocka_unit_test(test_large_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
