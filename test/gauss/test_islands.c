/* A problem that falls apart: the pieces know nothing of each other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gauss/islands.h"

enum { MOST = 40, PER = 3, CONTACTS = 4 };

/* Heaps of points: in each, PER unknowns coupled by masses, and CONTACTS cones among them; their
 * unknowns are dealt out like cards, so no piece is a range. */
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

/* Heap h is the same whatever the others are: its numbers spring from its own seed. */
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

/* Free motions that are admissible are the answer: no push, and certified so. Coulomb's law asks
 * for a normal that does not close, the convex one for mu times the slip. */
static void free_where_it_may(void **state)
{
    (void)state;
    static scene s;
    const zw_contact_law law[] = {ZW_COULOMB, ZW_CONVEX};
    unsigned long seed[1] = {0};
    int frees[2] = {0, 0};
    gauss_islands *islands = gauss_islands_create();
    for (int k = 0; k < 2; k++) {
        for (seed[0] = 0; seed[0] < 300; seed[0]++) {
            make(&s, 1, seed);
            s.free[0] = 0.01 * (double)seed[0]; /* upwards, more and more */
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

/* The convex law has one motion: by pieces it is that of the whole. */
static void as_the_whole(void **state)
{
    (void)state;
    static scene all;
    unsigned long seed[MOST] = {3, 1, 4, 15, 9, 26};
    make(&all, 6, seed);
    zw_gauss_options options = zw_gauss_options_default();
    options.contact = ZW_CONVEX;
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
    assert_int_equal(gauss_islands_of(islands, 0), -1);
    assert_true(answer.a[0] == 1 && answer.a[1] == 0 && answer.a[3] == -4);
    gauss_islands_free(islands);
}

/* Shapes that come back ask for no memory; and memory that is not there is said. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(together_as_alone),
        cmocka_unit_test(as_the_whole),
        cmocka_unit_test(free_where_it_may),
        cmocka_unit_test(one_contradicts),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
