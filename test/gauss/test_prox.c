/* Problems near one whose multipliers are known: solved in few steps, and the solutions have the
 * reported certificates. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gauss/contact/prox.h"
#include "gauss/contact/prox_law.h"

enum { N = 13, CONTACTS = 5, HELD = 3, LIMITS = 2, M = 3 * CONTACTS + HELD + LIMITS };

/* A body with arms that have contacts, a repeated constraint, and limits. */
typedef struct scene {
    double metric[N * N], free[N], A[M * N], b[M];
    int start[N + 1], row[N * N], A_start[M + 1], A_column[M * N];
    int unknown[N], block_number[CONTACTS + 2], first[CONTACTS + 3];
    zw_block block[CONTACTS + 2];
    zw_gauss problem;
    gauss_piece piece;
} scene;

static double random_number(unsigned long *seed)
{
    *seed = *seed * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

/* A metric: J'J plus a diagonal. */
static void put_metric(scene *s, unsigned long *seed)
{
    double J[N * N];
    for (int i = 0; i < N * N; i++) {
        J[i] = random_number(seed);
    }
    for (int j = 0, at = 0; j < N; j++) {
        s->start[j] = at;
        for (int i = j; i < N; i++) {
            double sum = i == j ? 2 : 0;
            for (int k = 0; k < N; k++) {
                sum += J[k * N + i] * J[k * N + j];
            }
            s->row[at] = i;
            s->metric[at++] = sum;
        }
        s->start[j + 1] = at;
    }
}

static void put_rows(scene *s, unsigned long *seed)
{
    for (int r = 0; r < M; r++) {
        for (int j = 0; j < N; j++) {
            s->A_column[r * N + j] = j;
            s->A[r * N + j] = random_number(seed);
        }
        s->b[r] = 0.2 * random_number(seed);
        s->A_start[r] = r * N;
    }
    s->A_start[M] = M * N;
    memcpy(s->A + (3 * CONTACTS + 2) * N, s->A + 3 * CONTACTS * N, N * sizeof(double));
    s->b[3 * CONTACTS + 2] = s->b[3 * CONTACTS];
}

static void make(scene *s, unsigned long seed)
{
    *s = (scene){0};
    put_metric(s, &seed);
    put_rows(s, &seed);
    for (int j = 0; j < N; j++) {
        s->free[j] = 2 * random_number(&seed);
        s->unknown[j] = j;
    }
    for (int k = 0; k < CONTACTS + 2; k++) {
        s->block[k] = k < CONTACTS ? (zw_block){.kind = ZW_CONE, .rows = 3, .friction = {0.6, 0.4}}
                      : k == CONTACTS ? (zw_block){.kind = ZW_EQUALITY, .rows = HELD}
                                      : (zw_block){.kind = ZW_INEQUALITY, .rows = LIMITS};
        s->block_number[k] = k;
        s->first[k + 1] = s->first[k] + s->block[k].rows;
    }
    s->problem = (zw_gauss){
        .n = N,
        .metric = {.kind = ZW_METRIC_SPARSE, .value = s->metric, .start = s->start, .row = s->row},
        .free = s->free,
        .block_count = CONTACTS + 2,
        .block = s->block,
        .A = {.start = s->A_start, .column = s->A_column, .value = s->A},
        .b = s->b};
    s->piece = (gauss_piece){.n = N,
                             .m = M,
                             .block_count = CONTACTS + 2,
                             .unknown = s->unknown,
                             .local = s->unknown,
                             .block = s->block_number,
                             .first = s->first,
                             .blocks = s->block};
}

/* Change everything that may change from step to step, a little. */
static void disturb(scene *s, unsigned long *seed, double size)
{
    for (int i = 0; i < M * N; i++) {
        s->A[i] += size * random_number(seed);
    }
    memcpy(s->A + (3 * CONTACTS + 2) * N, s->A + 3 * CONTACTS * N, N * sizeof(double));
    for (int j = 0; j < N; j++) {
        s->free[j] += size * random_number(seed);
    }
}

/* Returns 0 if no motion satisfies the rows of this scene. */
static int solve_cold(const scene *s, const zw_gauss_options *options, double *a, double *lambda)
{
    zw_gauss_work *work = zw_gauss_work_create(&s->problem, options, NULL);
    zw_motion motion;
    zw_status status = zw_gauss_solve(&s->problem, options, work, &motion, NULL);
    assert_true(status == ZW_OK || status == ZW_CONFLICT);
    if (status == ZW_OK) {
        memcpy(a, motion.a, N * sizeof *a);
        memcpy(lambda, motion.lambda, M * sizeof *lambda);
    }
    zw_gauss_work_free(work);
    return status == ZW_OK;
}

static void near_law(zw_contact_law law, int *asked, int *found, int *steps)
{
    static scene s;
    gauss_prox *prox = gauss_prox_create();
    for (unsigned long seed = 1; seed <= 60; seed++) {
        zw_gauss_options options = {.contact = law};
        gauss_prox_answer answer;
        double a[N], lambda[M], b[N], other[M];
        unsigned long more = seed * 31;
        make(&s, seed);
        if (!solve_cold(&s, &options, a, lambda)) {
            continue;
        }
        disturb(&s, &more, 1e-3);
        (*asked)++;
        options.guess = lambda;
        int is = gauss_prox_solve(prox, &s.problem, &s.piece, &options, 0, 0, a, &answer);
        *found += is > 0;
        *steps += answer.iterations;
        if (is <= 0) {
            continue;
        }
        zw_certificate proof;
        assert_int_equal(
            zw_gauss_certify(&s.problem, law, answer.a, answer.lambda, NULL, NULL, &proof), ZW_OK);
        assert_true(proof.worst <= 1e-11);
        assert_true(fabs(proof.worst - answer.certificate.worst) <= 1e-13);
        options.guess = NULL;
        assert_true(solve_cold(&s, &options, b, other));
        for (int j = 0; j < N && law == ZW_CONTACT_CONVEX; j++) { /* the motion is unique */
            assert_true(fabs(answer.a[j] - b[j]) <= 1e-9);
        }
    }
    gauss_prox_free(prox);
}

static void near_what_was(void **state)
{
    (void)state;
    for (int law = 0; law < 2; law++) {
        int asked = 0, found = 0, steps = 0;
        near_law(law ? ZW_CONTACT_CONVEX : ZW_CONTACT_COULOMB, &asked, &found, &steps);
        print_message("%d of %d in %d steps\n", found, asked, steps);
        assert_true(asked >= 40);
        assert_true(100 * found >= 97 * asked);
        assert_true(steps <= 6 * asked);
    }
}

/* A force instead of the free motion: M is not factored, and the motion is the same. */
static void by_force(void **state)
{
    (void)state;
    static scene s;
    gauss_prox *prox = gauss_prox_create();
    zw_gauss_options options = {.contact = ZW_CONTACT_COULOMB};
    gauss_prox_answer answer;
    double a[N], lambda[M], force[N] = {0};
    make(&s, 7);
    assert_true(solve_cold(&s, &options, a, lambda));
    for (int j = 0; j < N; j++) {
        for (int k = s.start[j]; k < s.start[j + 1]; k++) {
            force[s.row[k]] += s.metric[k] * s.free[j];
            force[j] += s.row[k] != j ? s.metric[k] * s.free[s.row[k]] : 0;
        }
    }
    s.problem.free = NULL;
    s.problem.force = force;
    options.guess = lambda;
    assert_int_equal(gauss_prox_solve(prox, &s.problem, &s.piece, &options, 0, 0, NULL, &answer),
                     1);
    for (int j = 0; j < N; j++) {
        assert_true(fabs(answer.a[j] - a[j]) <= 1e-9);
    }
    gauss_prox_free(prox);
}

/* Contradictory rows have no solution; a failed allocation is reported. */
static void nothing_to_find(void **state)
{
    (void)state;
    static scene s;
    gauss_prox *prox = gauss_prox_create();
    zw_gauss_options options = {.contact = ZW_CONTACT_COULOMB};
    gauss_prox_answer answer;
    make(&s, 3);
    s.b[3 * CONTACTS + 2] += 1;
    base_alloc_fail_after(1);
    assert_int_equal(gauss_prox_solve(prox, &s.problem, &s.piece, &options, 0, 0, NULL, &answer),
                     -1);
    base_alloc_fail_after(0);
    assert_int_equal(gauss_prox_solve(prox, &s.problem, &s.piece, &options, 0, 0, NULL, &answer),
                     0);
    gauss_prox_free(prox);
}

/* A block of mass 1 on the floor, friction 0.5, and an arm on rails that moves it to the side by
 * `pull`. Sticking and the arm contradict each other: the stress between them grows by 1e5 times
 * pull in a step, until the block slides. With a latch instead of the floor, it holds up to 1. */
static void contradiction(void **state)
{
    (void)state;
    static const double one[] = {1, 1}, A[] = {1, 1, 1};
    static const int start[] = {0, 1, 2}, row[] = {0, 1}, unknown[] = {0, 1};
    static const int cone_start[] = {0, 1, 2, 3}, cone_column[] = {1, 0, 0};
    static const int latch_column[] = {0, 0}, number[] = {0, 1};
    static const int cone_first[] = {0, 2, 3}, latch_first[] = {0, 1, 2};
    static const zw_block cone[] = {{.kind = ZW_CONE, .rows = 2, .friction = {0.5}},
                                    {.kind = ZW_EQUALITY, .rows = 1}};
    static const zw_block latch[] = {{.kind = ZW_BOX, .rows = 1, .limit = {-1, 1}},
                                     {.kind = ZW_EQUALITY, .rows = 1}};
    const double pull = 1e-8, free[] = {0, -9}, guess[] = {9, 0, 0};
    const double b[] = {0, 0, pull}, *latch_b = b + 1;
    gauss_prox *prox = gauss_prox_create();
    for (int k = 0; k < 2; k++) {
        zw_gauss problem = {
            .n = 2,
            .metric = {.kind = ZW_METRIC_SPARSE, .value = one, .start = start, .row = row},
            .free = free,
            .block_count = 2,
            .block = k ? latch : cone,
            .A = {.start = cone_start, .column = k ? latch_column : cone_column, .value = A},
            .b = k ? latch_b : b};
        gauss_piece piece = {.n = 2,
                             .m = k ? 2 : 3,
                             .block_count = 2,
                             .unknown = unknown,
                             .local = unknown,
                             .block = number,
                             .first = k ? latch_first : cone_first,
                             .blocks = problem.block};
        zw_gauss_options options = {.contact = ZW_CONTACT_COULOMB, .guess = guess + k};
        gauss_prox_answer answer;
        assert_int_equal(gauss_prox_solve(prox, &problem, &piece, &options, 0, 0, NULL, &answer),
                         1);
        assert_true(answer.iterations <= 10);
        assert_true(fabs(answer.a[0] - pull) <= 1e-15);
        assert_true(fabs(answer.lambda[k ? 0 : 1] + (k ? 1 : 4.5)) <= 1e-9);
    }
    gauss_prox_free(prox);
}

/* How far a force may go before a contact that sticks slides or opens, or a latch yields. */
static void reach(void **state)
{
    (void)state;
    const prox_unit cone = {.rows = 3, .now = {.mode = PROX_HELD}};
    const prox_unit slides = {.rows = 3, .now = {.mode = PROX_SLIDES}};
    const prox_unit box = {.rows = 1, .low = -1, .high = 3, .now = {.mode = PROX_HELD}};
    const prox_unit floor = {.rows = 1, .low = 0, .high = HUGE_VAL, .now = {.mode = PROX_HELD}};
    const double r[] = {2, 1, 0}, aside[] = {0, 0, 1}, down[] = {-1, 0, 0}, up[] = {1, 0.9, 0};
    const double across[] = {0, -1, 0}, minus[] = {-0.5}, none[] = {0};
    assert_true(fabs(prox_reach(&cone, r, aside) - sqrt(3)) <= 1e-15);
    assert_true(fabs(prox_reach(&cone, r, across) - 3) <= 1e-15);
    assert_true(fabs(prox_reach(&cone, r, down) - 1) <= 1e-15);
    assert_true(prox_reach(&cone, r, up) == HUGE_VAL);
    assert_true(prox_reach(&slides, r, down) == 2);
    assert_true(prox_reach(&slides, r, aside) == HUGE_VAL);
    assert_true(prox_reach(&box, r, r) == 0.5);
    assert_true(prox_reach(&box, r, minus) == 6);
    assert_true(prox_reach(&box, r, none) == HUGE_VAL);
    assert_true(prox_reach(&floor, r, r) == HUGE_VAL);
    assert_true(prox_reach(&floor, r, minus) == 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_what_was),   cmocka_unit_test(by_force),
        cmocka_unit_test(nothing_to_find), cmocka_unit_test(contradiction),
        cmocka_unit_test(reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
