/* The cost of contacts of many bodies: sweeps and factorisations over sets of scenes, which depend
 * on the constants of sparse_prox*.c. The table below holds the present costs as upper bounds;
 * lower them with every improvement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gauss/contact/sparse_prox.h"
#include "gauss/packed.h"

enum { SEEDS = 30 }; /* with fewer, two scenes decide */

typedef struct cost {
    int asked, solved, iterations, factorizations;
    double worst; /* largest certificate of the solved scenes */
} cost;

typedef struct line {
    int solved, iterations, factorizations;
} line;

static packed trial;

static void solve_one(sparse_prox *prox, const zw_gauss_options *options, cost *c,
                      zw_motion *motion)
{
    int answer = sparse_prox_solve(prox, &trial.problem, options, motion);
    c->asked++;
    c->solved += answer == 1;
    c->iterations += motion->iterations;
    c->factorizations += motion->factorizations;
    c->worst = answer == 1 ? fmax(c->worst, motion->certificate.worst) : c->worst;
}

/* Cold, then with the answer as a guess while gravity is a little stronger. */
static void solve_families(zw_gauss_options options, cost *cold, cost *warm)
{
    sparse_prox *prox = sparse_prox_create();
    for (int family = 0; family < SCENE_FAMILIES; family++) {
        for (uint64_t seed = 11; seed < 11 + SEEDS; seed++) {
            scene *s = scene_contact((scene_family)family, seed);
            if (s->witness && pack(s, &trial)) {
                double lambda[ROWS];
                zw_motion motion;
                options.guess = NULL;
                solve_one(prox, &options, cold, &motion);
                memcpy(lambda, motion.lambda, (size_t)motion.m * sizeof *lambda);
                options.guess = lambda;
                for (int i = 0; i < trial.problem.n; i++) {
                    trial.free[i] *= 1.01;
                }
                solve_one(prox, &options, warm, &motion);
            }
            scene_free(s);
        }
    }
    sparse_prox_free(prox);
}

/* One percent more is tolerated. */
static void hold(const char *name, const cost *c, const line *most)
{
    printf("%-20s %3d of %3d, %6d iterations, %5d factorisations, %.1e\n", name, c->solved,
           c->asked, c->iterations, c->factorizations, c->worst);
    assert_true(c->solved >= most->solved);
    assert_true(100 * c->iterations <= 101 * most->iterations);
    assert_true(100 * c->factorizations <= 101 * most->factorizations);
}

static void families(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        zw_gauss_options options;
        line cold, warm;
    } set[] = {
        {"Coulomb", {0}, {339, 23868, 3812}, {347, 12344, 1784}},
        {"to 1e-3", {.tolerance = 1e-3}, {344, 25042, 2355}, {350, 7451, 652}},
        {"to 1e-6", {.tolerance = 1e-6}, {340, 23269, 3618}, {347, 12148, 1636}},
        {"with effort 12", {.effort = 12}, {287, 16351, 1830}, {318, 9844, 1026}},
        {"convex", {.contact = ZW_CONTACT_CONVEX}, {343, 10033, 5530}, {343, 8526, 4218}},
    };
    for (size_t k = 0; k < sizeof set / sizeof *set; k++) {
        cost cold = {0}, warm = {0};
        solve_families(set[k].options, &cold, &warm);
        hold(set[k].name, &cold, &set[k].cold);
        hold("  warm", &warm, &set[k].warm);
    }
}

/* ---- Heaps ----------------------------------------------------------------------------------- */

static int rows_of, entries_of;

static void put_row(int i, int j, int normal, int u)
{
    for (int side = 0; side < 2; side++) {
        int body = side == 0 ? i : j, a = (normal + 1) % 3, b = (normal + 2) % 3;
        if (body < 0) {
            continue;
        }
        trial.column[entries_of] = 6 * body + u;
        trial.value[entries_of++] = side == 0 ? 1.0 : -1.0;
        if (u != normal) {
            trial.column[entries_of] = 6 * body + 3 + (u == a ? b : a);
            trial.value[entries_of++] = u == a ? -0.5 : 0.5;
        }
    }
    trial.A_start[++rows_of] = entries_of;
}

/* Spheres in a grid, wide by wide by high, pushed sideways at random. */
static void make_heap(int wide, int high, double shake, double friction)
{
    static zw_block block[ROWS / 3];
    static double mass[UNKNOWNS];
    int step[3] = {1, wide, wide * wide}, count = wide * wide * high, blocks = 0;
    unsigned long seed = 1;
    rows_of = entries_of = 0;
    for (int i = 0; i < count; i++) {
        for (int d = 0; d < 6; d++) {
            seed = seed * 6364136223846793005ul + 1442695040888963407ul;
            double random = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
            int at = 6 * i + d;
            mass[at] = d < 3 ? 1.0 : 0.1;
            trial.free[at] = d < 2 ? shake * random : d == 2 ? -0.02 : 0.0;
        }
        for (int axis = 0; axis < 3; axis++) {
            int size = axis == 2 ? high : wide, inside = i / step[axis] % size > 0;
            if (!inside && axis != 2) {
                continue;
            }
            block[blocks++] = (zw_block){
                .name = "touch", .kind = ZW_CONE, .rows = 3, .friction = {friction, friction}};
            for (int r = 0; r < 3; r++) {
                put_row(i, inside ? i - step[axis] : -1, axis, (axis + r) % 3);
            }
        }
    }
    trial.problem =
        (zw_gauss){.n = 6 * count,
                   .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                   .free = trial.free,
                   .block_count = blocks,
                   .block = block,
                   .A = {.start = trial.A_start, .column = trial.column, .value = trial.value}};
}

/* A column of weights stacked on one another, with compliance in every contact. */
static void make_column(int high, double give)
{
    static zw_block block[UNKNOWNS];
    static double mass[UNKNOWNS], compliance[UNKNOWNS];
    for (int k = 0; k < high; k++) {
        block[k] = (zw_block){.name = "rests", .kind = ZW_INEQUALITY, .rows = 1};
        mass[k] = 1;
        compliance[k] = give;
        trial.free[k] = -9.81;
        trial.A_start[k] = k > 0 ? 2 * k - 1 : 0;
        trial.column[trial.A_start[k]] = k > 0 ? k - 1 : k;
        trial.value[trial.A_start[k]] = k > 0 ? -1 : 1;
        trial.column[2 * k] = k;
        trial.value[2 * k] = 1;
    }
    trial.A_start[high] = 2 * high - 1;
    trial.problem =
        (zw_gauss){.n = high,
                   .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                   .free = trial.free,
                   .block_count = high,
                   .block = block,
                   .compliance = compliance,
                   .A = {.start = trial.A_start, .column = trial.column, .value = trial.value}};
}

static void heaps(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int wide, high;
        double shake, friction, give;
        zw_gauss_options options;
        line most;
    } set[] = {
        {"heap 4", 4, 4, 0.02, 0.5, 0, {0}, {1, 55, 2}},
        {"heap 5", 5, 5, 0.02, 0.5, 0, {0}, {1, 72, 4}},
        {"heap 5 to 1e-2", 5, 5, 0.02, 0.5, 0, {.tolerance = 1e-2}, {1, 16, 1}},
        {"heap 5 to 1e-4", 5, 5, 0.02, 0.5, 0, {.tolerance = 1e-4}, {1, 56, 1}},
        {"heap 4 to 1e-4", 4, 4, 0.02, 0.5, 0, {.tolerance = 1e-4}, {1, 46, 1}},
        {"slippery 4", 4, 4, 0.05, 0.1, 0, {0}, {1, 26, 2}},
        {"slippery 5", 5, 5, 0.05, 0.1, 0, {0}, {1, 35, 2}},
        {"slippery 5 to 1e-3", 5, 5, 0.05, 0.1, 0, {.tolerance = 1e-3}, {1, 21, 1}},
        {"tower 2x2x25", 2, 25, 0.005, 0.5, 0, {0}, {1, 132, 11}},
        {"tower 2x2x25, 1e-3", 2, 25, 0.005, 0.5, 0, {.tolerance = 1e-3}, {1, 53, 3}},
        {"heap 4 convex", 4, 4, 0.02, 0.5, 0, {.contact = ZW_CONTACT_CONVEX}, {1, 22, 19}},
        {"gives way", 1, 40, 0, 0, 1, {0}, {1, 14, 4}},
        {"gives way to 1e-3", 1, 40, 0, 0, 0.3, {.tolerance = 1e-3}, {1, 8, 3}},
        {"gives way 340", 1, 340, 0, 0, 1, {.tolerance = 1e-3}, {1, 8, 3}},
    };
    for (size_t k = 0; k < sizeof set / sizeof *set; k++) {
        sparse_prox *prox = sparse_prox_create();
        cost c = {0};
        zw_motion motion;
        if (set[k].give > 0) {
            make_column(set[k].high, set[k].give);
        } else {
            make_heap(set[k].wide, set[k].high, set[k].shake, set[k].friction);
        }
        solve_one(prox, &set[k].options, &c, &motion);
        hold(set[k].name, &c, &set[k].most);
        sparse_prox_free(prox);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(families), cmocka_unit_test(heaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
