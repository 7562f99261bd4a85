/* Contradictions are found, named, and minimal: the named blocks contradict each other, and no
 * longer do so if any one of them is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/rows.h"
#include "gauss/solved.h"
#include "scene/scene.h"

#include <string.h>

enum { SCENES = 60 };

/* ---- Parts of a problem --------------------------------------------------------------------- */

/* The problem with the listed blocks only, except `without` (-1: all of the list). */
static solved solve_part(const zw_gauss *whole, int count, const int *list, int without)
{
    size_t n = (size_t)whole->n, m = (size_t)solved_rows(whole) + 1;
    zw_block *block = calloc((size_t)count + 1, sizeof *block);
    double *A = calloc(n * m, sizeof *A), *b = calloc(m, sizeof *b), *R = calloc(m, sizeof *R);
    zw_gauss part = *whole;
    size_t rows = 0;
    part.block_count = 0;
    for (int k = 0, at = 0; k < whole->block_count; at += whole->block[k++].rows) {
        if (!lists(count, list, k) || k == without) {
            continue;
        }
        block[part.block_count++] = whole->block[k];
        for (int i = at; i < at + whole->block[k].rows; i++, rows++) {
            gauss_row_copy(whole, i, A + rows * n);
            b[rows] = whole->b != NULL ? whole->b[i] : 0.0;
            R[rows] = whole->compliance != NULL ? whole->compliance[i] : 0.0;
        }
    }
    part.block = block;
    part.A = (zw_rows){.dense = A};
    part.b = b;
    part.compliance = whole->compliance != NULL ? R : NULL;
    solved s = solve_convex(&part);
    free(block);
    free(A);
    free(b);
    free(R);
    return s;
}

static void check_minimal(const char *name, const zw_gauss *problem, const solved *answer)
{
    int count = answer->motion.conflict_count;
    const int *conflict = answer->motion.conflict;
    assert_true(count > 0);
    solved all = solve_part(problem, count, conflict, -1);
    assert_status(all, ZW_CONFLICT);
    solved_free(&all);
    for (int k = 0; k < count; k++) {
        solved others = solve_part(problem, count, conflict, conflict[k]);
        if (others.status != ZW_OK) {
            print_error("%s: of %d blocks, %d can be left out\n", name, count, conflict[k]);
        }
        assert_status(others, ZW_OK);
        solved_free(&others);
    }
}

/* Every block of the conflict is in the text, unless the text is full. */
static void check_named(const zw_gauss *problem, const solved *answer)
{
    assert_int_equal(answer->error.status, ZW_CONFLICT);
    for (int k = 0; k < answer->motion.conflict_count; k++) {
        const char *name = problem->block[answer->motion.conflict[k]].name;
        assert_true(name == NULL || strstr(answer->error.text, name) != NULL ||
                    strlen(answer->error.text) + 1 >= sizeof answer->error.text);
    }
}

/* ---- Random contradictions ------------------------------------------------------------------- */

static void random_conflicts(unsigned kinds, unsigned features, uint64_t first)
{
    for (int i = 0; i < SCENES; i++) {
        scene_random_params params = {
            .n_max = 16, .kinds = kinds, .features = features, .infeasible = 1};
        scene *s = scene_random(first + (unsigned)i, &params);
        solved answer = solve_convex(&s->problem);
        if (answer.status != ZW_CONFLICT) {
            print_error("%s\n", s->name);
        }
        assert_status(answer, ZW_CONFLICT);
        check_named(&s->problem, &answer);
        check_minimal(s->name, &s->problem, &answer);
        solved_free(&answer);
        scene_free(s);
    }
}

static void equalities(void **state)
{
    (void)state;
    random_conflicts(SCENE_EQUALITY, 0, 100);
}

static void equalities_among_redundant_ones(void **state)
{
    (void)state;
    random_conflicts(SCENE_EQUALITY, SCENE_REDUNDANT | SCENE_COMPRESSED, 200);
}

static void inequalities(void **state)
{
    (void)state;
    random_conflicts(SCENE_INEQUALITY, 0, 300);
}

static void all_kinds(void **state)
{
    (void)state;
    random_conflicts(SCENE_ALL_KINDS, SCENE_REDUNDANT, 400);
}

/* Scales of rows, units and masses do not change which blocks are named. */
static void blame_does_not_depend_on_units(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        scene_random_params params = {.n_max = 12, .kinds = SCENE_EQUALITY, .infeasible = 1};
        scene *s = scene_random(500 + i, &params), *other = scene_copy(s);
        scene_rescale_rows(other, 1e6);
        scene_rescale_units(other, 1e-6);
        scene_rescale_masses(other, 1e6);
        solved one = solve_convex(&s->problem), two = solve_convex(&other->problem);
        assert_status(one, ZW_CONFLICT);
        assert_status(two, ZW_CONFLICT);
        assert_int_equal(one.motion.conflict_count, two.motion.conflict_count);
        assert_memory_equal(one.motion.conflict, two.motion.conflict,
                            (size_t)one.motion.conflict_count * sizeof(int));
        solved_free(&one);
        solved_free(&two);
        scene_free(s);
        scene_free(other);
    }
}

/* ---- By hand --------------------------------------------------------------------------------- */

typedef struct hand {
    const char *about;
    int n, blocks;
    zw_block block[4];
    double A[12], b[6];
    int conflict_count, conflict[4];
} hand;

#define EQUAL(title)                                                                               \
    {                                                                                              \
        .name = title, .kind = ZW_EQUALITY, .rows = 1                                              \
    }
#define LEAST(title)                                                                               \
    {                                                                                              \
        .name = title, .kind = ZW_INEQUALITY, .rows = 1                                            \
    }

static const hand hands[] = {
    {"0 = 1", 1, 2, {EQUAL("fine"), EQUAL("empty")}, {1, 0}, {1, 1}, 1, {1}},
    {"0 >= 1", 1, 2, {LEAST("fine"), LEAST("empty")}, {1, 0}, {1, 1}, 1, {1}},
    {"0 >= -1", 1, 2, {LEAST("fine"), LEAST("empty")}, {1, 0}, {1, -1}, 0, {0}},
    {"a >= 1, -a >= 0", 1, 2, {LEAST("low"), LEAST("high")}, {1, -1}, {1, 0}, 2, {0, 1}},
    {"a >= 0, -a >= 0", 1, 2, {LEAST("low"), LEAST("high")}, {1, -1}, {0, 0}, 0, {0}},
    {"a = 0, a >= 1", 1, 2, {EQUAL("held"), LEAST("pushed")}, {1, 1}, {0, 1}, 2, {0, 1}},
    {"x + y >= 2, x <= 0, y <= 0, x >= -9",
     2,
     4,
     {LEAST("sum"), LEAST("x"), LEAST("y"), LEAST("bystander")},
     {1, 1, -1, 0, 0, -1, 1, 0},
     {2, 0, 0, -9},
     3,
     {0, 1, 2}},
    {"x = 1, y = 1, x + y = 3, x - y = 0",
     2,
     4,
     {EQUAL("x"), EQUAL("y"), EQUAL("sum"), EQUAL("difference")},
     {1, 0, 0, 1, 1, 1, 1, -1},
     {1, 1, 3, 0},
     3,
     {0, 1, 2}},
    {"normal = -1 against its cone",
     2,
     2,
     {EQUAL("held"), {.name = "floor", .kind = ZW_CONE, .rows = 2, .friction = {0.5}}},
     {1, 0, 1, 0, 0, 1},
     {-1, 0, 0},
     2,
     {0, 1}},
    {"sliding that the convex law does not admit",
     2,
     2,
     {{.name = "held", .kind = ZW_EQUALITY, .rows = 2},
      {.name = "floor", .kind = ZW_CONE, .rows = 2, .friction = {0.5}}},
     {1, 0, 0, 1, 1, 0, 0, 1},
     {0, 1, 0, 0},
     2,
     {0, 1}},
};

static void by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hands / sizeof *hands; i++) {
        const hand *c = &hands[i];
        print_message("    %s\n", c->about);
        zw_gauss problem = {
            .n = c->n, .block_count = c->blocks, .block = c->block, .A.dense = c->A, .b = c->b};
        solved s = solve_convex(&problem);
        assert_status(s, c->conflict_count > 0 ? ZW_CONFLICT : ZW_OK);
        assert_int_equal(s.motion.conflict_count, c->conflict_count);
        for (int k = 0; k < c->conflict_count; k++) {
            assert_true(lists(c->conflict_count, s.motion.conflict, c->conflict[k]));
        }
        if (c->conflict_count > 0) {
            check_named(&problem, &s);
        }
        solved_free(&s);
    }
}

/* Contradictory but compliant rows are springs that pull against each other, which is no conflict.
 */
static void compliance_settles_a_conflict(void **state)
{
    (void)state;
    const double A[2] = {1, 1}, b[2] = {1, 3}, R[2] = {0.5, 0.5};
    const zw_block block[2] = {EQUAL("to 1"), EQUAL("to 3")};
    zw_gauss problem = {
        .n = 1, .block_count = 2, .block = block, .A.dense = A, .b = b, .compliance = R};
    solved s = solve_convex(&problem);
    assert_status(s, ZW_OK);
    assert_close(s.motion.a[0], 8.0 / 5, 1e-13); /* a = 2 (1 - a) + 2 (3 - a) */
    assert_int_equal(s.motion.conflict_count, 0);
    assert_int_equal(s.motion.redundant_count, 0);
    solved_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equalities),
        cmocka_unit_test(equalities_among_redundant_ones),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(blame_does_not_depend_on_units),
        cmocka_unit_test(compliance_settles_a_conflict),
        cmocka_unit_test(inequalities),
        cmocka_unit_test(all_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
