/* A problem that consists of independent pieces, called islands. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gauss/contact/apart.h"
#include "gauss/contact/islands.h"

enum { MOST = 40, PER = 3, CONTACTS = 4 };

/* Heaps of points: in each, PER unknowns coupled by masses, and CONTACTS cones among them; their
 * unknowns are interleaved, so that no piece is a contiguous range. */
typedef struct scene {
    int heaps, n, m;
    double metric[MOST * PER * PER], free[MOST * PER];
    int start[MOST * PER + 1], row[MOST * PER * PER];
    zw_block block[MOST * CONTACTS];
    int A_start[MOST * CONTACTS * 3 + 1], A_column[MOST * CONTACTS * 3 * PER];
    double A[MOST * CONTACTS * 3 * PER], b[MOST * CONTACTS * 3];
    zw_gauss problem;
} scene;

static double random_number(unsigned long *seed)
{
    *seed = *seed * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static int card(const scene *s, int heap, int i)
{
    return i * s->heaps + heap;
}

/* Heap h does not depend on the others: its numbers come from its own seed. */
static void put_heap(scene *s, int heap, unsigned long seed)
{
    for (int k = 0; k < CONTACTS; k++) {
        int at = heap * CONTACTS + k;
        s->block[at] =
            (zw_block){.name = "contact", .kind = ZW_CONE, .rows = 3, .friction = {0.5, 0.5}};
        for (int r = 0; r < 3; r++) {
            int row = 3 * at + r;
            for (int i = 0; i < PER; i++) {
                s->A_column[PER * row + i] = card(s, heap, i);
                s->A[PER * row + i] = random_number(&seed) + (r == 0 && i == 0 ? 2 : 0);
            }
            s->b[row] = 0.1 * random_number(&seed);
        }
    }
    for (int i = 0; i < PER; i++) {
        s->free[card(s, heap, i)] = random_number(&seed) - (i == 0);
    }
}

static void make(scene *s, int heaps, const unsigned long *seed)
{
    *s = (scene){.heaps = heaps, .n = heaps * PER, .m = heaps * CONTACTS * 3};
    for (int i = 0, at = 0; i < PER; i++) {
        for (int heap = 0; heap < heaps; heap++) {
            int j = card(s, heap, i);
            s->start[j] = at;
            for (int k = i; k < PER; k++) {
                s->row[at] = card(s, heap, k);
                s->metric[at++] = k == i ? 2 + i : 0.5;
            }
            s->start[j + 1] = at;
        }
    }
    for (int heap = 0; heap < heaps; heap++) {
        put_heap(s, heap, seed[heap]);
    }
    for (int row = 0; row <= s->m; row++) {
        s->A_start[row] = PER * row;
    }
    s->problem = (zw_gauss){
        .n = s->n,
        .metric = {.kind = ZW_METRIC_SPARSE, .value = s->metric, .start = s->start, .row = s->row},
        .free = s->free,
        .block_count = heaps * CONTACTS,
        .block = s->block,
        .A = {.start = s->A_start, .column = s->A_column, .value = s->A},
        .b = s->b};
}

static void together_as_alone(void **state)
{
    (void)state;
    static scene all, one;
    unsigned long seed[MOST];
    for (int i = 0; i < MOST; i++) {
        seed[i] = (unsigned long)i * 77 + 5;
    }
    make(&all, MOST, seed);
    gauss_islands *islands = gauss_islands_create(), *alone = gauss_islands_create();
    gauss_islands_answer whole, part;
    zw_gauss_options options = zw_gauss_options_default();
    assert_int_equal(gauss_islands_solve(islands, &all.problem, &options, NULL, &whole, NULL),
                     ZW_OK);
    assert_int_equal(whole.count, MOST);
    assert_int_equal(whole.largest, PER);
    assert_true(whole.certificate < 1e-8);
    for (int heap = 0; heap < MOST; heap++) {
        make(&one, 1, seed + heap);
        assert_int_equal(gauss_islands_solve(alone, &one.problem, &options, NULL, &part, NULL),
                         ZW_OK);
        for (int i = 0; i < PER; i++) {
            assert_memory_equal(&part.a[i], &whole.a[card(&all, heap, i)], sizeof(double));
        }
        assert_memory_equal(part.lambda, whole.lambda + heap * CONTACTS * 3,
                            CONTACTS * 3 * sizeof(double));
    }
    gauss_islands_free(islands);
    gauss_islands_free(alone);
}

/* An admissible free motion is the solution: no forces, and it is certified. Coulomb's law
 * requires that the gap does not close, the convex law that it opens with mu times the slip. */
static void free_where_it_may(void **state)
{
    (void)state;
    static scene s;
    const zw_contact_law law[] = {ZW_CONTACT_COULOMB, ZW_CONTACT_CONVEX};
    unsigned long seed[1] = {0};
    int frees[2] = {0, 0};
    gauss_islands *islands = gauss_islands_create();
    for (int k = 0; k < 2; k++) {
        for (seed[0] = 0; seed[0] < 300; seed[0]++) {
            make(&s, 1, seed);
            s.free[0] = 0.01 * (double)seed[0]; /* upwards, faster each time */
            zw_gauss_options options = {.contact = law[k]};
            gauss_islands_answer answer;
            zw_certificate proof;
            gauss_islands_solve(islands, &s.problem, &options, NULL, &answer, NULL);
            if (answer.count > 0) {
                continue;
            }
            frees[k]++;
            assert_memory_equal(answer.a, s.free, PER * sizeof(double));
            zw_gauss_certify(&s.problem, law[k], answer.a, answer.lambda, NULL, NULL, &proof);
            assert_true(proof.worst < 1e-14);
        }
    }
    print_message("free: %d by Coulomb, %d by the convex law\n", frees[0], frees[1]);
    assert_true(frees[0] > frees[1] && frees[1] > 0 && frees[0] < 300);
    gauss_islands_free(islands);
}

/* Under the convex law the motion is unique: solved by pieces it is that of the whole. */
static void as_the_whole(void **state)
{
    (void)state;
    static scene all;
    unsigned long seed[MOST] = {3, 1, 4, 15, 9, 26};
    make(&all, 6, seed);
    zw_gauss_options options = zw_gauss_options_default();
    options.contact = ZW_CONTACT_CONVEX;
    gauss_islands *islands = gauss_islands_create();
    gauss_islands_answer answer;
    zw_motion motion;
    zw_gauss_work *work = zw_gauss_work_create(&all.problem, &options, NULL);
    assert_int_equal(zw_gauss_solve(&all.problem, &options, work, &motion, NULL), ZW_OK);
    assert_int_equal(gauss_islands_solve(islands, &all.problem, &options, NULL, &answer, NULL),
                     ZW_OK);
    for (int j = 0; j < all.n; j++) {
        assert_true(fabs(answer.a[j] - motion.a[j]) < 1e-9);
    }
    zw_gauss_work_free(work);
    gauss_islands_free(islands);
}

/* Pieces without rows move freely; one that fails does not disturb the others and is named. */
static void one_contradicts(void **state)
{
    (void)state;
    double mass[4] = {1, 1, 1, 1}, free[4] = {1, -2, 3, -4}, value[4] = {1, 1, -1, 1};
    double b[3] = {0, 1, 0};
    int start[4] = {0, 1, 2, 3}, column[3] = {1, 2, 2};
    value[2] = 1;
    zw_block block[3] = {{.name = "floor", .kind = ZW_INEQUALITY, .rows = 1},
                         {.name = "here", .kind = ZW_EQUALITY, .rows = 1},
                         {.name = "there", .kind = ZW_EQUALITY, .rows = 1}};
    zw_gauss problem = {.n = 4,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .free = free,
                        .block_count = 3,
                        .block = block,
                        .A = {.start = start, .column = column, .value = value},
                        .b = b};
    gauss_islands *islands = gauss_islands_create();
    gauss_islands_answer answer;
    zw_error error = {0};
    assert_int_equal(gauss_islands_solve(islands, &problem, NULL, NULL, &answer, &error),
                     ZW_CONFLICT);
    assert_non_null(strstr(error.text, "here"));
    assert_true(answer.a[0] == 1 && answer.a[1] == 0 && answer.a[3] == -4);
    gauss_islands_free(islands);
}

/* A shape that was solved before needs no allocation; a failed allocation is reported. */
static void memory(void **state)
{
    (void)state;
    static scene all;
    unsigned long seed[MOST] = {8, 9, 10};
    gauss_islands_answer answer;
    make(&all, 3, seed);
    int failed = 0;
    for (int k = 1;; k++) {
        gauss_islands *islands = gauss_islands_create();
        base_alloc_fail_after(k);
        zw_status status = gauss_islands_solve(islands, &all.problem, NULL, NULL, &answer, NULL);
        base_alloc_fail_after(0);
        failed += status == ZW_NO_MEMORY;
        if (status == ZW_OK) {
            base_alloc_fail_after(1);
            assert_int_equal(gauss_islands_solve(islands, &all.problem, NULL, NULL, &answer, NULL),
                             ZW_OK);
            base_alloc_fail_after(0);
            gauss_islands_free(islands);
            break;
        }
        assert_int_equal(status, ZW_NO_MEMORY);
        gauss_islands_free(islands);
    }
    assert_true(failed > 10);
}

/* ---- With all fields of a motion ------------------------------------------------------------- */

/* The same scene by forces, F = M free, with three equal joints in each heap instead of its
 * first contact, and a non-ideal force. */
static void by_force(scene *s, double *force, double *C)
{
    memset(force, 0, (size_t)s->n * sizeof *force);
    for (int j = 0; j < s->n; j++) {
        C[j] = 0.1 * (j % 3);
        for (int k = s->start[j]; k < s->start[j + 1]; k++) {
            force[s->row[k]] += s->metric[k] * s->free[j];
            force[j] += s->row[k] != j ? s->metric[k] * s->free[s->row[k]] : 0;
        }
    }
    for (int heap = 0; heap < s->heaps; heap++) {
        zw_block *block = &s->block[heap * CONTACTS];
        int row = 3 * heap * CONTACTS;
        *block = (zw_block){.name = "joint", .kind = ZW_EQUALITY, .rows = 3};
        for (int r = 0; r < 3; r++) {
            memmove(s->A + PER * (row + r), s->A + PER * row, PER * sizeof(double));
            s->b[row + r] = 0;
        }
        for (int k = 1; k < CONTACTS; k++) { /* rest is admitted */
            s->b[row + 3 * k] = -0.2;
        }
    }
    s->problem.free = NULL;
    s->problem.force = force;
    s->problem.C = C;
}

static void near(const double *x, const double *y, int n)
{
    for (int i = 0; i < n; i++) {
        assert_true(fabs(x[i] - y[i]) < 1e-8);
    }
}

/* Motion, forces, Z, rank and redundant blocks are those of the whole; the certificate is one. */
static void reported_as_of_the_whole(void **state)
{
    (void)state;
    static scene s;
    double force[MOST * PER], C[MOST * PER];
    unsigned long seed[MOST] = {3, 1, 4, 15, 9, 26};
    zw_gauss_options options = {.contact = ZW_CONTACT_CONVEX};
    zw_motion motion, parts;
    zw_status status;
    zw_certificate proof;
    make(&s, 6, seed);
    by_force(&s, force, C);
    gauss_apart *apart = gauss_apart_create();
    zw_gauss_work *work = zw_gauss_work_create(&s.problem, &options, NULL);
    assert_int_equal(zw_gauss_solve(&s.problem, &options, work, &motion, NULL), ZW_OK);
    assert_true(gauss_apart_solve(apart, &s.problem, &options, 0, &parts, &status, NULL));
    assert_int_equal(status, ZW_OK);
    near(parts.a, motion.a, s.n);
    near(parts.F_N, motion.F_N, s.n);
    near(parts.F_L, motion.F_L, s.n);
    near(parts.F_C, motion.F_C, s.n);
    near(&parts.Z, &motion.Z, 1);
    assert_int_equal(parts.rank, motion.rank);
    assert_int_equal(parts.redundant_count, motion.redundant_count);
    assert_int_equal(parts.redundant_count, 6);
    assert_memory_equal(parts.redundant, motion.redundant, 6 * sizeof(int));
    zw_gauss_certify(&s.problem, ZW_CONTACT_CONVEX, parts.a, parts.lambda, NULL, NULL, &proof);
    assert_true(proof.worst < 1e-9 && parts.certificate.worst < 1e-9);
    zw_gauss_work_free(work);
    gauss_apart_free(apart);
}

/* If b of one heap changes, the others keep their bits, and the solution is that of a new solve;
 * problems with conflicts or without separate pieces are refused. */
static void again_where_it_changed(void **state)
{
    (void)state;
    static scene s;
    double force[MOST * PER], C[MOST * PER], before[MOST * PER];
    unsigned long seed[MOST] = {3, 1, 4, 15};
    zw_gauss_options options = {.contact = ZW_CONTACT_COULOMB};
    zw_motion motion, other;
    zw_status status;
    make(&s, 4, seed);
    by_force(&s, force, C);
    gauss_apart *apart = gauss_apart_create(), *anew = gauss_apart_create();
    assert_true(gauss_apart_solve(apart, &s.problem, &options, 0, &motion, &status, NULL));
    memcpy(before, motion.a, (size_t)s.n * sizeof *before);
    for (int k = 1; k < CONTACTS; k++) {
        s.b[3 * CONTACTS + 3 * k] = -0.1;
    }
    assert_true(gauss_apart_solve(apart, &s.problem, &options, 1, &motion, &status, NULL));
    assert_true(gauss_apart_solve(anew, &s.problem, &options, 0, &other, &status, NULL));
    assert_memory_equal(motion.a, other.a, (size_t)s.n * sizeof *before);
    int moved = 0;
    for (int heap = 0; heap < 4; heap++) {
        for (int i = 0; i < PER; i++) {
            int j = card(&s, heap, i), same = before[j] == motion.a[j];
            assert_true(heap == 1 || same);
            moved += !same;
        }
    }
    assert_true(moved > 0);
    s.b[0] += 1; /* equal joints, and in two places */
    assert_false(gauss_apart_solve(apart, &s.problem, &options, 1, &motion, &status, NULL));
    make(&s, 1, seed);
    by_force(&s, force, C);
    assert_false(gauss_apart_solve(apart, &s.problem, &options, 0, &motion, &status, NULL));
    gauss_apart_free(apart);
    gauss_apart_free(anew);
}

/* Pieces marked as solved keep their bits; the others are solved as usual. */
static void settled_stay(void **state)
{
    (void)state;
    static scene s;
    unsigned long seed[MOST] = {8, 9, 10};
    double start[3 * PER], guess[3 * CONTACTS * 3], excess[3 * PER] = {0}, solved[3 * PER];
    gauss_islands_answer answer;
    gauss_islands *islands = gauss_islands_create();
    zw_gauss_options options = zw_gauss_options_default();
    make(&s, 3, seed);
    for (int i = 0; i < s.n; i++) {
        start[i] = 0.1 * i;
    }
    for (int r = 0; r < s.m; r++) {
        guess[r] = 0.01 * r;
    }
    options.guess = guess;
    gauss_islands_hint hint = {.start = start};
    assert_int_equal(gauss_islands_solve(islands, &s.problem, &options, &hint, &answer, NULL), 0);
    memcpy(solved, answer.a, sizeof solved);
    excess[card(&s, 0, 0)] = 1;
    excess[card(&s, 0, 1)] = -0.5;
    excess[card(&s, 1, 0)] = 1;
    excess[card(&s, 1, 2)] = -2;
    excess[card(&s, 2, 1)] = INFINITY;
    hint.excess = excess;
    assert_int_equal(gauss_islands_solve(islands, &s.problem, &options, &hint, &answer, NULL), 0);
    assert_int_equal(answer.count, 3);
    for (int i = 0; i < PER; i++) {
        assert_true(answer.a[card(&s, 0, i)] == solved[card(&s, 0, i)]);
        assert_true(answer.a[card(&s, 1, i)] == start[card(&s, 1, i)]);
        assert_true(answer.a[card(&s, 2, i)] == solved[card(&s, 2, i)]);
    }
    for (int r = CONTACTS * 3; r < 2 * CONTACTS * 3; r++) {
        double w = -s.b[r];
        for (int e = s.A_start[r]; e < s.A_start[r + 1]; e++) {
            w += s.A[e] * start[s.A_column[e]];
        }
        assert_true(answer.lambda[r] == guess[r]);
        assert_true(fabs(answer.residual[r] - w) < 1e-15);
    }
    gauss_islands_free(islands);
}

static void memory_apart(void **state)
{
    (void)state;
    static scene s;
    double force[MOST * PER], C[MOST * PER];
    unsigned long seed[MOST] = {8, 9, 10};
    zw_gauss_options options = {0};
    zw_motion motion;
    zw_status status;
    int failed = 0, done = 0;
    make(&s, 3, seed);
    by_force(&s, force, C);
    for (int k = 1; !done; k++) {
        gauss_apart *apart = gauss_apart_create();
        base_alloc_fail_after(k);
        done = gauss_apart_solve(apart, &s.problem, &options, 0, &motion, &status, NULL);
        base_alloc_fail_after(0);
        failed += !done;
        gauss_apart_free(apart);
    }
    assert_true(failed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(together_as_alone),
        cmocka_unit_test(as_the_whole),
        cmocka_unit_test(free_where_it_may),
        cmocka_unit_test(one_contradicts),
        cmocka_unit_test(memory),
        cmocka_unit_test(reported_as_of_the_whole),
        cmocka_unit_test(again_where_it_changed),
        cmocka_unit_test(settled_stay),
        cmocka_unit_test(memory_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
