/* The workspace: every allocation fails in turn, a solve makes none, results are reproducible. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gauss/solved.h"
#include "scene/campaign.h"
#include "scene/scene.h"

#include <malloc.h>
#include <string.h>

static size_t memory_in_use(void)
{
    return mallinfo2().uordblks; /* always 0 under a sanitizer, which finds leaks itself */
}

/* ---- Memory that is refused ------------------------------------------------------------------ */

static int refuse_in_turn(const zw_gauss *problem, const zw_gauss_options *options)
{
    for (int k = 1; k < 1000; k++) {
        zw_error error = {.status = ZW_OK};
        size_t before = memory_in_use();
        base_alloc_fail_after(k);
        zw_gauss_work *work = zw_gauss_work_create(problem, options, &error);
        base_alloc_fail_after(0);
        if (work != NULL) {
            zw_gauss_work_free(work);
            assert_true(memory_in_use() == before);
            return k - 1;
        }
        assert_int_equal(error.status, ZW_NO_MEMORY);
        assert_true(strlen(error.text) > 0);
        assert_true(memory_in_use() == before);
    }
    fail_msg("a workspace of a thousand allocations");
    return 0;
}

static void every_allocation_refused_in_turn(void **state)
{
    (void)state;
    zw_gauss_options dense = {.algebra = ZW_ALGEBRA_DENSE}, sparse = {.algebra = ZW_ALGEBRA_SPARSE};
    scene *s = scene_chain(20);
    int of_dense = refuse_in_turn(&s->problem, &dense);
    int of_sparse = refuse_in_turn(&s->problem, &sparse);
    print_message("    allocations: dense %d, sparse %d\n", of_dense, of_sparse);
    assert_true(of_dense >= 1 && of_sparse >= 1);
    scene_free(s);
    s = scene_contact(SCENE_STACK, 3);
    assert_true(refuse_in_turn(&s->problem, NULL) >= 1);
    scene_free(s);
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    zw_gauss_work_free(NULL);
}

/* ---- No allocation in a solve ---------------------------------------------------------------- */

static void solve_without_memory(const scene *s, const zw_gauss_options *options)
{
    zw_motion motion;
    zw_error error = {.status = ZW_OK};
    zw_gauss_work *work = zw_gauss_work_create(&s->problem, options, &error);
    assert_non_null(work);
    size_t before = memory_in_use();
    base_alloc_fail_after(1);
    zw_status status = zw_gauss_solve(&s->problem, options, work, &motion, &error);
    assert_int_not_equal(status, ZW_NO_MEMORY);
    assert_true(memory_in_use() == before);
    assert_null(base_alloc(1)); /* the refusal was still pending: nothing was allocated */
    base_alloc_fail_after(0);
    zw_gauss_work_free(work);
}

static void solve_allocates_nothing(void **state)
{
    (void)state;
    zw_gauss_options convex = {.contact = ZW_CONTACT_CONVEX};
    zw_gauss_options sparse = {.contact = ZW_CONTACT_CONVEX, .algebra = ZW_ALGEBRA_SPARSE};
    scene_random_params params = scene_random_everything(0.5);
    for (unsigned seed = 0; seed < 20; seed++) {
        scene *s = scene_random(100 + seed, &params);
        solve_without_memory(s, &convex);
        scene_free(s);
    }
    params.infeasible = 1;
    for (unsigned seed = 0; seed < 20; seed++) {
        scene *s = scene_random(200 + seed, &params);
        solve_without_memory(s, &convex);
        scene_free(s);
    }
    for (int family = 0; family <= SCENE_WEDGE_CLOSING; family++) {
        if (family == SCENE_STACK_TALL && campaign_is_small()) {
            continue; /* takes as long as all others together */
        }
        scene *s = scene_contact((scene_family)family, 7);
        solve_without_memory(s, NULL);
        scene_free(s);
    }
    scene *s = scene_chain(50);
    solve_without_memory(s, &sparse);
    scene_free(s);
}

/* ---- The same bits
 * ------------------------------------------------------------------------------- */

typedef struct bits {
    double *a, *lambda;
    zw_motion motion; /* its numbers; the pointers are not used later */
    zw_status status;
} bits;

static bits bits_of(const scene *s, zw_gauss_work *work, const zw_gauss_options *options)
{
    bits b = {.a = calloc((size_t)s->problem.n, sizeof(double)),
              .lambda = calloc((size_t)s->m + 1, sizeof(double))};
    b.status = zw_gauss_solve(&s->problem, options, work, &b.motion, NULL);
    if (b.status == ZW_OK) {
        memcpy(b.a, b.motion.a, (size_t)s->problem.n * sizeof(double));
        memcpy(b.lambda, b.motion.lambda, (size_t)s->m * sizeof(double));
    }
    return b;
}

static void bits_free(bits *b)
{
    free(b->a);
    free(b->lambda);
}

static void bits_equal(const scene *s, const bits *x, const bits *y)
{
    assert_int_equal(x->status, y->status);
    assert_memory_equal(x->a, y->a, (size_t)s->problem.n * sizeof(double));
    assert_memory_equal(x->lambda, y->lambda, (size_t)s->m * sizeof(double));
    assert_int_equal(x->motion.rank, y->motion.rank);
    assert_int_equal(x->motion.iterations, y->motion.iterations);
    assert_int_equal(x->motion.factorizations, y->motion.factorizations);
    assert_string_equal(x->motion.method, y->motion.method);
    if (x->status == ZW_OK) {
        assert_memory_equal(&x->motion.Z, &y->motion.Z, sizeof x->motion.Z);
        assert_memory_equal(&x->motion.certificate.worst, &y->motion.certificate.worst,
                            sizeof(double));
    }
}

/* Twice in one workspace, after another problem of the same shape, and in a new workspace. */
static void same_bits(const scene *s, const zw_gauss_options *options)
{
    zw_gauss_work *work = zw_gauss_work_create(&s->problem, options, NULL);
    assert_non_null(work);
    bits first = bits_of(s, work, options), again = bits_of(s, work, options);
    bits_equal(s, &first, &again);
    bits_free(&again);

    scene *other = scene_copy(s);
    for (int j = 0; j < s->problem.n; j++) {
        if (other->free != NULL) {
            other->free[j] = 3.0 * other->free[j] - 1.0;
        }
        if (other->force != NULL) {
            other->force[j] = 3.0 * other->force[j] - 1.0;
        }
    }
    bits between = bits_of(other, work, options);
    again = bits_of(s, work, options);
    bits_equal(s, &first, &again);
    bits_free(&again);
    bits_free(&between);
    zw_gauss_work_free(work);
    scene_free(other);

    work = zw_gauss_work_create(&s->problem, options, NULL);
    again = bits_of(s, work, options);
    bits_equal(s, &first, &again);
    bits_free(&again);
    bits_free(&first);
    zw_gauss_work_free(work);
}

static void same_bits_every_time(void **state)
{
    (void)state;
    zw_gauss_options convex = {.contact = ZW_CONTACT_CONVEX};
    zw_gauss_options sparse = {.contact = ZW_CONTACT_CONVEX, .algebra = ZW_ALGEBRA_SPARSE};
    scene_random_params params = scene_random_everything(0.7);
    for (unsigned seed = 0; seed < 40; seed += (unsigned)campaign_stride(4)) {
        scene *s = scene_random(300 + seed, &params);
        same_bits(s, &convex);
        scene_free(s);
    }
    for (int family = 0; family <= SCENE_WEDGE_CLOSING; family++) {
        if (family == SCENE_STACK_TALL && campaign_is_small()) {
            continue; /* takes as long as all others together */
        }
        scene *s = scene_contact((scene_family)family, 8);
        same_bits(s, NULL);
        scene_free(s);
    }
    scene *s = scene_net(6, 5);
    same_bits(s, &sparse);
    scene_free(s);
}

/* A problem that is jammed, contradictory or refused does not affect the next solve. */
static void failures_leave_nothing_behind(void **state)
{
    (void)state;
    scene *s = scene_contact(SCENE_STACK, 9);
    zw_gauss_work *work = zw_gauss_work_create(&s->problem, NULL, NULL);
    bits first = bits_of(s, work, NULL);
    assert_int_equal(first.status, ZW_OK);
    scene *bad = scene_copy(s);
    bad->row[0] = NAN;
    bits refused = bits_of(bad, work, NULL);
    assert_int_equal(refused.status, ZW_BAD_INPUT);
    bad->row[0] = 1e8;
    bits odd = bits_of(bad, work, NULL);
    bits again = bits_of(s, work, NULL);
    bits_equal(s, &first, &again);
    bits_free(&first);
    bits_free(&refused);
    bits_free(&odd);
    bits_free(&again);
    zw_gauss_work_free(work);
    scene_free(bad);
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_refused_in_turn),
        cmocka_unit_test(freeing_nothing_is_fine),
        cmocka_unit_test(solve_allocates_nothing),
        cmocka_unit_test(same_bits_every_time),
        cmocka_unit_test(failures_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
