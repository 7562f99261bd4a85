/* Derivatives of an instant against extrapolated central differences of zw_forward, for equations
 * and robots; along a motion against the motion itself; and random trees with all kinds of joints.
 */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "scene/trees.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "tree/differ.h"
#include "tree/sweeps.h"
#include "zwang/slopes.h"

#include "../system/world.h"

static zw_error error;
enum { WIDE = 400 };

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static double chance(unsigned *seed) /* -1 ... 1 */
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* ---- Differences ---------------------------------------------------------------------------- */

/* a, lambda and force of constraints with number `column` moved by h; 0: no answer there. */
static int moved(world *w, const zw_state *at, int column, double h, double *out)
{
    const zw_system *system = w->system;
    int n = system->n;
    double along[WIDE] = {0};
    assert_int_equal(zw_state_copy(at, &w->state, &error), ZW_OK);
    if (column < n) {
        along[column] = 1;
        system_move(system, state_q(w->state), h, along);
    } else if (column < 2 * n) {
        state_v(w->state)[column - n] += h;
    } else if (column == 2 * n) {
        w->state->t += h;
    } else {
        state_param(w->state)[column - 2 * n - 1] += h;
    }
    if (zw_forward(system, w->state, w->work, NULL, &error) != ZW_OK) {
        return 0;
    }
    const zw_motion *motion = zw_work_motion(w->work);
    memcpy(out, w->work->a, (size_t)n * sizeof *out);
    memcpy(out + n, w->work->push, (size_t)system->m * sizeof *out);
    for (int i = 0; i < n; i++) {
        out[n + system->m + i] = motion->F_L[i] + motion->F_C[i];
    }
    for (int k = 0; k < system->C_count; k++) {
        out[n + system->m + system->C_coord[k]] -= w->work->out[PART_TERMS][system->at.C + k];
    }
    return 1;
}

/* Central differences with h, h/2, h/4, extrapolated twice. */
static int differences(world *w, const zw_state *at, int column, double h, int size, double *out)
{
    static double up[WIDE], down[WIDE], level[3][WIDE];
    for (int k = 0; k < 3; k++, h /= 2) {
        if (!moved(w, at, column, h, up) || !moved(w, at, column, -h, down)) {
            return 0;
        }
        for (int i = 0; i < size; i++) {
            level[k][i] = (up[i] - down[i]) / (2 * h);
        }
    }
    for (int i = 0; i < size; i++) {
        double x = (4 * level[1][i] - level[0][i]) / 3, y = (4 * level[2][i] - level[1][i]) / 3;
        out[i] = (16 * y - x) / 15;
    }
    return 1;
}

typedef struct tally {
    int columns, none, kinks;
    double worst;
} tally;

/* All columns at the state of the world. */
static tally compare(world *w, zw_slopes *slopes, double h)
{
    static double theirs[WIDE], ours[WIDE];
    const zw_system *system = w->system;
    int n = system->n, m = system->m, size = 2 * n + m;
    zw_state *at = NULL;
    zw_slopes_answer x;
    tally sum = {0};
    assert_true(size <= WIDE);
    assert_int_equal(zw_state_copy(w->state, &at, &error), ZW_OK);
    if (zw_slopes_look(slopes, at, &x, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
    sum.kinks = x.kinks;
    for (int c = 0; c < x.columns && x.kinks == 0; c++) {
        if (!differences(w, at, c, h, size, theirs)) {
            sum.none++;
            continue;
        }
        memcpy(ours, x.a_by + (size_t)c * (size_t)n, (size_t)n * sizeof *ours);
        memcpy(ours + n, x.lambda_by + (size_t)c * (size_t)m, (size_t)m * sizeof *ours);
        memcpy(ours + n + m, x.force_by + (size_t)c * (size_t)n, (size_t)n * sizeof *ours);
        double scale = 1 + largest(theirs, size) + largest(x.a, n) + largest(x.lambda, m);
        for (int i = 0; i < size; i++) {
            sum.worst = fmax(sum.worst, fabs(ours[i] - theirs[i]) / scale);
        }
        sum.columns++;
    }
    zw_state_copy(at, &w->state, &error);
    zw_state_free(at);
    return sum;
}

/* Along the motion: a' = a_q v + a_v a + a_t, where the constraints stay what they are. */
static double along_motion(world *w, zw_slopes *slopes, double h)
{
    static double up[2][WIDE], ours[WIDE], now[WIDE];
    int n = w->system->n, m = w->system->m;
    zw_state *at = NULL;
    zw_slopes_answer x;
    double far = 0;
    zw_run_summary summary;
    assert_int_equal(zw_state_copy(w->state, &at, &error), ZW_OK);
    assert_int_equal(zw_slopes_look(slopes, at, &x, &error), ZW_OK);
    for (int i = 0; i < n + m; i++) {
        const double *by = i < n ? x.a_by + i : x.lambda_by + i - n;
        size_t wide = (size_t)(i < n ? n : m);
        ours[i] = by[(size_t)(2 * n) * wide];
        for (int j = 0; j < n; j++) {
            ours[i] += by[(size_t)j * wide] * state_v(at)[j];
            ours[i] += by[(size_t)(n + j) * wide] * x.a[j];
        }
    }
    memcpy(up[0], x.a, (size_t)n * sizeof *ours);
    memcpy(up[0] + n, x.lambda, (size_t)m * sizeof *ours);
    for (int k = 1; k < 5; k++) { /* one-sided, of order 4: f' = sum c_k f(k h) / 12 h */
        static const double c[] = {-25, 48, -36, 16, -3};
        const zw_run_options options = {
            .time = at->t + k * h, .tolerance = 1e-13, .method = ZW_METHOD_DOP853};
        zw_state_copy(at, &w->state, &error);
        if (zw_run(w->system, w->state, w->work, &options, &summary, &error) != ZW_OK ||
            zw_forward(w->system, w->state, w->work, NULL, &error) != ZW_OK || summary.events > 0) {
            zw_state_free(at);
            return 0;
        }
        memcpy(now, w->work->a, (size_t)n * sizeof *now);
        memcpy(now + n, w->work->push, (size_t)m * sizeof *now);
        for (int i = 0; i < n + m; i++) {
            up[1][i] = k == 1 ? c[0] * up[0][i] : up[1][i];
            up[1][i] += c[k] * now[i];
        }
    }
    double size = 1 + largest(ours, n + m);
    for (int i = 0; i < n + m; i++) {
        far = fmax(far, fabs(up[1][i] / (12 * h) - ours[i]) / size);
    }
    zw_state_copy(at, &w->state, &error);
    zw_state_free(at);
    return far;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static int open_file(world *w, const char *folder, const char *file)
{
    char path[600];
    *w = (world){0};
    snprintf(path, sizeof path, "%s/%s", folder, file);
    w->model = zw_model_read(path, NULL, &error);
    if (w->model && strstr(file, ".xml") && zw_model_count(w->model, ZW_KIND_KEY) > 0) {
        zw_key_def key = *(const zw_key_def *)zw_model_def(w->model, ZW_KIND_KEY, 0);
        key.start = 1;
        zw_model_change(w->model, ZW_KIND_KEY, 0, &key, &error);
    }
    w->system = w->model ? zw_system_compile(w->model, NULL, &error) : NULL;
    w->work = w->system ? zw_work_create(w->system, &error) : NULL;
    w->state = w->work ? zw_state_create(w->system, w->work, NULL, &error) : NULL;
    if (!w->state) {
        fail_msg("%s: %s", file, error.text);
    }
    return 2 * w->system->n + w->system->m <= WIDE;
}

static int tried, refused;

static void try_file(const char *folder, const char *file)
{
    world w;
    unsigned seed = 5;
    if (!open_file(&w, folder, file)) {
        world_end(&w);
        return;
    }
    zw_slopes *slopes = zw_slopes_create(w.model, w.system, &error);
    if (!slopes) {
        assert_int_equal(error.status, ZW_BAD_INPUT);
        print_message("%-28s %s\n", file, error.text);
        refused++;
        world_end(&w);
        return;
    }
    for (int k = 0; w.system->bodies && k < w.system->bodies->motor_count; k++) {
        state_param(w.state)[w.system->bodies->motor[k].param] += 0.1 * chance(&seed);
    }
    zw_run_summary summary;
    const zw_run_options options = {.time = 0.17, .tolerance = 1e-10};
    zw_run(w.system, w.state, w.work, &options, &summary, &error);
    zw_slopes_answer x;
    if (zw_slopes_look(slopes, w.state, &x, &error) != ZW_OK) {
        assert_int_equal(error.status, ZW_BAD_INPUT);
        print_message("%-28s %s\n", file, error.text);
        refused++;
    } else {
        /* beside the manifold redundant rows contradict each other, or become independent */
        assert_int_equal(zw_forward(w.system, w.state, w.work, NULL, &error), ZW_OK);
        int redundant = zw_work_motion(w.work)->redundant_count > 0;
        /* what touches would open or sink: test_slopes_touch.c */
        int touches = w.work->touched && w.work->touched->count > 0;
        tally sum = redundant || touches ? (tally){.kinks = x.kinks} : compare(&w, slopes, 1e-3);
        if (sum.worst > 1e-9) { /* steps that are too wide for this system */
            tally finer = compare(&w, slopes, 1e-4);
            sum = finer.worst < sum.worst ? finer : sum;
        }
        assert_int_equal(sum.none, 0);
        int along = x.kinks == 0 && redundant && !touches;
        double far = along ? along_motion(&w, slopes, 4e-4) : 0;
        for (double h = 2e-4; far > 2e-9 && h > 1e-5; h /= 2) { /* as above */
            far = fmin(far, along_motion(&w, slopes, h));
        }
        print_message(
            "%-28s %3d columns off by %.1e, %d without answer, %d kinks; along motion %.1e\n", file,
            sum.columns, sum.worst, sum.none, sum.kinks, far);
        assert_true(sum.worst <= 1e-8);
        assert_true(far <= 1e-8);
        tried++;
    }
    zw_slopes_free(slopes);
    world_end(&w);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static void try_folder(const char *folder)
{
    static char *name[400];
    int count = 0;
    DIR *all = opendir(folder);
    assert_non_null(all);
    for (struct dirent *e; (e = readdir(all)) != NULL && count < 400;) {
        const char *end = strrchr(e->d_name, '.');
        if (e->d_name[0] != '.' && end && (!strcmp(end, ".zw") || !strcmp(end, ".xml"))) {
            name[count] = malloc(strlen(e->d_name) + 1);
            strcpy(name[count++], e->d_name);
        }
    }
    closedir(all);
    qsort(name, (size_t)count, sizeof *name, by_name);
    for (int i = 0; i < count; i++) {
        try_file(folder, name[i]);
        free(name[i]);
    }
}

static void test_equations(void **state)
{
    (void)state;
    tried = refused = 0;
    try_folder(ZW_SOURCE_DIR "/examples");
    assert_true(tried >= 50);
}

static void test_robots(void **state)
{
    (void)state;
    tried = refused = 0;
    try_folder(ZW_SOURCE_DIR "/examples/bodies");
    assert_true(tried >= 5);
}

/* ---- Trees ---------------------------------------------------------------------------------- */

/* tau of a random tree with number `column` of q or v moved by h. */
static void moved_tau(const tree_mechanism *tree, const double *q, const double *v, const double *a,
                      int column, double h, double *work, double *tau)
{
    double next[WIDE], speed[WIDE], along[WIDE] = {0};
    memcpy(speed, v, (size_t)tree->nv * sizeof *speed);
    memcpy(next, q, (size_t)tree->nq * sizeof *next);
    if (column < tree->nv) {
        along[column] = 1;
        tree_advance(tree, q, along, &h, next);
    } else {
        speed[column - tree->nv] += h;
    }
    tree_kinematics(tree, next, work);
    tree_velocities(tree, speed, work);
    tree_inverse(tree, a, NULL, work, tau);
}

static double compare_tree(const tree_mechanism *tree, dice *d)
{
    static double q[WIDE], v[WIDE], a[WIDE], up[WIDE], down[WIDE], level[3][WIDE];
    size_t n = (size_t)tree->nv;
    double *work = tree_work_create(tree, 1), far = 0, size = 1;
    double *scratch = base_alloc((tree_differ_scratch(tree) + 1) * sizeof *scratch);
    double *by = base_alloc((2 * n * n + 1) * sizeof *by);
    assert_true(tree->nv <= WIDE && tree->nq <= WIDE && work && scratch && by);
    tree_random_q(tree, d, q);
    tree_random_v(tree, d, v);
    tree_random_v(tree, d, a);
    tree_kinematics(tree, q, work);
    tree_velocities(tree, v, work);
    tree_differ(tree, v, a, work, scratch, by, by + n * n);
    for (size_t k = 0; k < 2 * n * n; k++) {
        size = fmax(size, fabs(by[k]));
    }
    for (int c = 0; c < 2 * tree->nv; c++) {
        double h = 2e-2;
        for (int k = 0; k < 3; k++, h /= 2) {
            moved_tau(tree, q, v, a, c, h, work, up);
            moved_tau(tree, q, v, a, c, -h, work, down);
            for (size_t i = 0; i < n; i++) {
                level[k][i] = (up[i] - down[i]) / (2 * h);
            }
        }
        for (size_t i = 0; i < n; i++) {
            double x = (4 * level[1][i] - level[0][i]) / 3, y = (4 * level[2][i] - level[1][i]) / 3;
            far = fmax(far, fabs((16 * y - x) / 15 - by[(size_t)c * n + i]) / size);
        }
    }
    base_free(work);
    base_free(scratch);
    base_free(by);
    return far;
}

static void test_trees(void **state)
{
    (void)state;
    double worst = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        dice d = dice_of(seed);
        tree_mechanism *tree = tree_random(seed, 3 + (int)(seed % 12), 1);
        double far = compare_tree(tree, &d);
        worst = fmax(worst, far);
        assert_true(far <= 1e-8);
        tree_free(tree);
    }
    dice d = dice_of(3);
    tree_mechanism *humanoid = tree_humanoid(1);
    double far = compare_tree(humanoid, &d);
    print_message("random trees off by %.1e, the humanoid by %.1e\n", worst, far);
    assert_true(far <= 1e-9);
    tree_free(humanoid);
}

/* ---- Kinks ---------------------------------------------------------------------------------- */

static int kinks_of(const char *text, const char **name)
{
    world w = world_of(text);
    zw_slopes *slopes = zw_slopes_create(w.model, w.system, &error);
    zw_slopes_answer x;
    assert_non_null(slopes);
    assert_int_equal(zw_slopes_look(slopes, w.state, &x, &error), ZW_OK);
    static char kept[100];
    snprintf(kept, sizeof kept, "%s", x.kink ? x.kink : "");
    *name = kept;
    zw_slopes_free(slopes);
    world_end(&w);
    return x.kinks;
}

static void test_kinks(void **state)
{
    (void)state;
    const char *name;
    assert_int_equal(kinks_of("coord x = 0.3\nmass 1 at (x, 0)\nforce x: -abs(x)\n", &name), 0);
    assert_true(kinks_of("coord x = 0\nmass 1 at (x, 0)\nforce x: -abs(x)\n", &name) > 0);
    assert_string_equal(name, "a corner of a formula");
    static const char rests[] = "coord x = 0, y = 0\nmass 2 at (x, y)\ngravity (0, -10)\n"
                                "constraint floor: y >= 0\n";
    assert_int_equal(kinks_of(rests, &name), 0);
    static const char floats[] = "coord x = 0, y = 0\nmass 2 at (x, y)\n"
                                 "constraint floor: y >= 0\n";
    assert_true(kinks_of(floats, &name) > 0); /* it touches, and pushes with nothing */
    assert_string_equal(name, "floor");
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void test_no_memory(void **state)
{
    (void)state;
    world w = world_of("coord x = 0.6, y = -0.8\nmass 2 at (x, y)\ngravity (0, -10)\n"
                       "constraint rod: x^2 + y^2 = 1\nconstraint again: 2*x^2 + 2*y^2 = 2\n");
    zw_slopes_answer x;
    int done = 0;
    for (int k = 1; !done && k < 2000; k++) {
        base_alloc_fail_after(k);
        zw_slopes *slopes = zw_slopes_create(w.model, w.system, &error);
        zw_status status = slopes ? zw_slopes_look(slopes, w.state, &x, &error) : ZW_NO_MEMORY;
        base_alloc_fail_after(0);
        done = status == ZW_OK;
        assert_true(done || status == ZW_NO_MEMORY);
        zw_slopes_free(slopes);
    }
    assert_true(done);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),     cmocka_unit_test(test_kinks),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_equations),
        cmocka_unit_test(test_robots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
