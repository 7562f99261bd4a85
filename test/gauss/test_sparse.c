/* The sparse path: the same solutions as the dense one, and linear cost for chains. */
#include "gauss/sparse_answer.h"

/* ---- Dense = sparse ------------------------------------------------------------------------ */

typedef struct group {
    const char *name;
    scene_random_params params;
    int least_squares;
    int status_misses, list_misses; /* allowed, of COUNT */
} group;

enum { COUNT = 150 };

static int compare(const group *g, uint64_t seed, int *lists)
{
    scene *s = scene_random(seed, &g->params);
    zw_gauss_options options = {.contact = ZW_CONTACT_CONVEX, .least_squares = g->least_squares};
    answer dense = solve_with(&s->problem, options, ZW_ALGEBRA_DENSE);
    answer sparse = solve_with(&s->problem, options, ZW_ALGEBRA_SPARSE);
    int same = dense.status == sparse.status;
    if (sparse.status == ZW_OK) { /* never silently wrong */
        assert_true(sparse.motion.certificate.worst <= 1e-10);
    }
    if (s->witness != NULL) {
        assert_int_not_equal(sparse.status, ZW_CONFLICT);
    } else {
        assert_int_not_equal(sparse.status, ZW_OK);
    }
    if (same && (dense.status == ZW_OK || g->least_squares)) {
        double off = distance(s, dense.motion.a, sparse.motion.a);
        double limit = g->least_squares ? 1e-7 : g->params.difficulty > 0.5 ? 1e-8 : 1e-9;
        if (off > limit) {
            print_message("%s: %s: motions differ by %.2e\n", g->name, s->name, off);
        }
        assert_true(off <= limit);
    }
    *lists += same && !(dense.motion.rank == sparse.motion.rank &&
                        same_list(dense.motion.redundant_count, dense.motion.redundant,
                                  sparse.motion.redundant_count, sparse.motion.redundant));
    zw_gauss_work_free(dense.work);
    zw_gauss_work_free(sparse.work);
    scene_free(s);
    return same;
}

static void dense_is_sparse(void **state)
{
    (void)state;
    enum { USUAL = SCENE_UNITS | SCENE_COMPRESSED | SCENE_FORCE };
    const group groups[] = {
        {"equality", {.kinds = SCENE_EQUALITY, .features = USUAL, .difficulty = 0.3}, 0, 0, 0},
        {"redundant",
         {.kinds = SCENE_EQUALITY, .features = USUAL | SCENE_REDUNDANT, .difficulty = 0.3},
         0,
         1,
         3},
        {"redundant, hard",
         {.kinds = SCENE_EQUALITY, .features = USUAL | SCENE_REDUNDANT, .difficulty = 1.0},
         0,
         2,
         6},
        {"compliant",
         {.kinds = SCENE_EQUALITY, .features = SCENE_COMPLIANT | SCENE_REDUNDANT},
         0,
         1,
         3},
        {"parallel",
         {.kinds = SCENE_EQUALITY, .features = SCENE_PARALLEL, .difficulty = 0.3},
         0,
         2,
         15},
        {"massless",
         {.kinds = SCENE_EQUALITY, .features = SCENE_MASSLESS | SCENE_REDUNDANT},
         0,
         2,
         6},
        {"least squares", {.kinds = SCENE_EQUALITY, .infeasible = 1}, 1, 1, 3},
        {"non-ideal",
         {.kinds = SCENE_EQUALITY, .features = SCENE_NONIDEAL | USUAL, .difficulty = 0.3},
         0,
         0,
         1},
    };
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
        int misses = 0, lists = 0;
        for (uint64_t seed = 1; seed <= COUNT; seed += (uint64_t)campaign_stride(6)) {
            misses += !compare(&groups[k], seed, &lists);
        }
        print_message("%-16s %d of %d with another status, %d with other names\n", groups[k].name,
                      misses, COUNT, lists);
        assert_true(misses <= groups[k].status_misses);
        assert_true(lists <= groups[k].list_misses);
    }
}

/* Multipliers of least norm in the user's rows, whatever these are scaled by. */
static void multipliers_have_least_norm(void **state)
{
    (void)state;
    scene_random_params params = {.kinds = SCENE_EQUALITY, .features = SCENE_REDUNDANT};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        scene *s = scene_random(seed, &params);
        answer dense = solve_with(&s->problem, (zw_gauss_options){0}, ZW_ALGEBRA_DENSE);
        answer sparse = solve_with(&s->problem, (zw_gauss_options){0}, ZW_ALGEBRA_SPARSE);
        assert_int_equal(sparse.status, ZW_OK);
        double off = 0.0, size = 0.0;
        for (int i = 0; i < s->m; i++) {
            off = fmax(off, fabs(dense.motion.lambda[i] - sparse.motion.lambda[i]));
            size = fmax(size, fabs(dense.motion.lambda[i]));
        }
        assert_true(off <= 1e-7 * size + 1e-12);
        zw_gauss_work_free(dense.work);
        zw_gauss_work_free(sparse.work);
        scene_free(s);
    }
}

static void sliding_law(void *user, const double *lambda, const double *reaction, double *C)
{
    (void)lambda;
    int n = *(const int *)user;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += reaction[i] * reaction[i];
    }
    for (int i = 0; i < n; i++) {
        C[i] = -0.1 * sqrt(sum / n) * (i % 2 == 0 ? 1.0 : -0.5);
    }
}

static void laws_of_friction_agree(void **state)
{
    (void)state;
    scene_random_params params = {.kinds = SCENE_EQUALITY, .n_max = 30};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        scene *s = scene_random(seed, &params);
        zw_gauss problem = s->problem;
        problem.law = sliding_law;
        problem.law_user = &s->problem.n;
        problem.law_on = seed % 2 == 0 ? ZW_ON_TOTAL_REACTION : ZW_ON_IDEAL_REACTION;
        answer dense = solve_with(&problem, (zw_gauss_options){0}, ZW_ALGEBRA_DENSE);
        answer sparse = solve_with(&problem, (zw_gauss_options){0}, ZW_ALGEBRA_SPARSE);
        assert_int_equal(sparse.status, ZW_OK);
        if (dense.status == ZW_OK) {
            assert_true(distance(s, dense.motion.a, sparse.motion.a) <= 1e-9);
            for (int i = 0; i < problem.n; i++) {
                assert_true(fabs(dense.motion.F_C[i] - sparse.motion.F_C[i]) <=
                            1e-7 * (1.0 + fabs(dense.motion.F_C[i])));
            }
        }
        zw_gauss_work_free(dense.work);
        zw_gauss_work_free(sparse.work);
        scene_free(s);
    }
}

/* ---- Chains and nets ----------------------------------------------------------------------- */

static void chains_are_solved(void **state)
{
    (void)state;
    for (int links = 1000; links <= 10000; links *= 10) {
        scene *one = scene_chain(links), *three = scene_triple(one);
        answer a = solve_sparse(&one->problem), b = solve_sparse(&three->problem);
        assert_int_equal(a.status, ZW_OK);
        assert_int_equal(b.status, ZW_OK);
        assert_true(a.motion.certificate.worst <= 1e-10);
        assert_true(b.motion.certificate.worst <= 1e-10);
        assert_true(distance(one, a.motion.a, b.motion.a) <= 1e-12);
        assert_int_equal(a.motion.rank, links);
        assert_int_equal(b.motion.rank, links);
        assert_int_equal(a.motion.redundant_count, 0);
        assert_int_equal(b.motion.redundant_count, 2 * links);
        assert_int_equal(b.motion.redundant[0], links); /* later rows are listed as redundant */
        for (int i = 0; i < links; i++) {               /* and the load is shared equally */
            assert_true(fabs(3.0 * b.motion.lambda[i] - a.motion.lambda[i]) <=
                        1e-9 * (1.0 + fabs(a.motion.lambda[i])));
        }
        zw_gauss_work_free(a.work);
        zw_gauss_work_free(b.work);
        scene_free(one);
        scene_free(three);
    }
}

static void nets_are_solved(void **state)
{
    (void)state;
    for (int side = 5; side <= 40; side *= 2) {
        scene *s = scene_net(side, side);
        answer a = solve_sparse(&s->problem);
        assert_int_equal(a.status, ZW_OK);
        assert_true(a.motion.certificate.worst <= 1e-10);
        if (side <= 10) {
            answer dense = solve_with(&s->problem, (zw_gauss_options){0}, ZW_ALGEBRA_DENSE);
            assert_true(distance(s, dense.motion.a, a.motion.a) <= 1e-9);
            assert_int_equal(dense.motion.rank, a.motion.rank);
            zw_gauss_work_free(dense.work);
        }
        zw_gauss_work_free(a.work);
        scene_free(s);
    }
}

/* A chain and more rows, each with one entry or a sum of two rows of the chain. */
typedef struct longer {
    zw_gauss problem;
    int *start, *column;
    double *value, *b;
    zw_block *block;
    int m, blocks, entries;
} longer;

static longer longer_chain(const scene *chain, int blocks, int rows, int entries)
{
    longer l = {.problem = chain->problem, .m = chain->m, .blocks = chain->m};
    l.entries = chain->problem.A.start[chain->m];
    l.start = malloc((size_t)(l.m + rows + 1) * sizeof *l.start);
    l.column = malloc((size_t)(l.entries + entries) * sizeof *l.column);
    l.value = malloc((size_t)(l.entries + entries) * sizeof *l.value);
    l.b = malloc((size_t)(l.m + rows) * sizeof *l.b);
    l.block = calloc((size_t)(l.m + blocks), sizeof *l.block);
    memcpy(l.start, chain->problem.A.start, (size_t)(l.m + 1) * sizeof *l.start);
    memcpy(l.column, chain->problem.A.column, (size_t)l.entries * sizeof *l.column);
    memcpy(l.value, chain->problem.A.value, (size_t)l.entries * sizeof *l.value);
    memcpy(l.b, chain->problem.b, (size_t)l.m * sizeof *l.b);
    memcpy(l.block, chain->problem.block, (size_t)l.m * sizeof *l.block);
    return l;
}

static void longer_row(longer *l, double b)
{
    l->b[l->m] = b;
    l->start[++l->m] = l->entries;
    zw_gauss *problem = &l->problem;
    problem->A.start = l->start;
    problem->A.column = l->column;
    problem->A.value = l->value;
    problem->b = l->b;
    problem->block = l->block;
    problem->block_count = l->blocks;
}

static void longer_entry(longer *l, int column, double value)
{
    l->column[l->entries] = column;
    l->value[l->entries++] = value;
}

static void longer_free(longer *l)
{
    free(l->start);
    free(l->column);
    free(l->value);
    free(l->b);
    free(l->block);
}

/* Every point above a floor: a_z >= bound, with friction or without. */
static longer chain_with_floor(const scene *chain, double bound, double friction)
{
    int points = chain->problem.n / 3, d = friction > 0.0 ? 3 : 1;
    longer l = longer_chain(chain, points, d * points, d * points);
    for (int i = 0; i < points; i++) {
        l.block[l.blocks++] = (zw_block){.name = "floor",
                                         .kind = d == 3 ? ZW_CONE : ZW_INEQUALITY,
                                         .rows = d,
                                         .friction = {friction, friction}};
        for (int k = 0; k < d; k++) {
            longer_entry(&l, 3 * i + (k + 2) % 3, 1.0);
            longer_row(&l, k == 0 ? bound : 0.0);
        }
    }
    return l;
}

/* The sum of every second link and the one after it is added as another row. */
static longer chain_with_sums(const scene *chain)
{
    int links = chain->m, sums = links / 2;
    longer l = longer_chain(chain, sums, sums, 6 * links);
    for (int i = 0; i < sums; i++) {
        l.block[l.blocks++] = (zw_block){.name = "sum", .kind = ZW_EQUALITY, .rows = 1};
        for (int k = l.start[2 * i]; k < l.start[2 * i + 2]; k++) {
            longer_entry(&l, l.column[k], l.value[k]);
        }
        longer_row(&l, l.b[2 * i] + l.b[2 * i + 1]);
    }
    return l;
}

static void redundancy_of_any_number(void **state)
{
    (void)state;
    for (int links = 100; links <= 10000; links *= 10) {
        scene *chain = scene_chain(links);
        longer l = chain_with_sums(chain);
        answer a = solve_sparse(&chain->problem), b = solve_sparse(&l.problem);
        assert_int_equal(b.status, ZW_OK);
        assert_true(b.motion.certificate.worst <= 1e-10);
        assert_int_equal(b.motion.rank, links);
        assert_int_equal(b.motion.redundant_count, links / 2);
        assert_true(distance(chain, a.motion.a, b.motion.a) <= 1e-12);
        zw_gauss_work_free(b.work);
        l.b[links + links / 4] += 1.0;
        b = solve_sparse(&l.problem);
        assert_int_equal(b.status, ZW_CONFLICT);
        assert_int_equal(b.motion.conflict_count, 3);
        zw_gauss_work_free(a.work);
        zw_gauss_work_free(b.work);
        longer_free(&l);
        scene_free(chain);
    }
}

static void a_chain_lands(void **state)
{
    (void)state;
    for (int links = 30; links <= 3000 / campaign_stride(10); links *= 10) {
        for (int law = 0; law < 3; law++) { /* no friction, convex, Coulomb */
            scene *chain = scene_chain(links);
            longer l = chain_with_floor(chain, -9.0, law > 0 ? 0.4 : 0.0);
            zw_gauss_options options = {.contact =
                                            law == 2 ? ZW_CONTACT_COULOMB : ZW_CONTACT_CONVEX};
            double begin = now();
            answer a = solve_with(&l.problem, options, ZW_ALGEBRA_SPARSE);
            print_message("chain of %4d on a floor, %s: certificate %.1e, %s, %d factorisations, "
                          "%.1f ms\n",
                          links,
                          law == 0   ? "smooth"
                          : law == 1 ? "convex"
                                     : "Coulomb",
                          a.motion.certificate.worst, a.motion.method, a.motion.factorizations,
                          1e3 * (now() - begin));
            assert_int_equal(a.status, ZW_OK);
            if (links <= 300) {
                answer dense = solve_with(&l.problem, options, ZW_ALGEBRA_DENSE);
                assert_true(distance(chain, dense.motion.a, a.motion.a) <= 1e-7);
                zw_gauss_work_free(dense.work);
            }
            zw_gauss_work_free(a.work);
            longer_free(&l);
            scene_free(chain);
        }
    }
}

/* ---- What has no answer --------------------------------------------------------------------- */

static void contradicting_links_are_named(void **state)
{
    (void)state;
    const int links = 2000, odd = 1234;
    scene *one = scene_chain(links), *s = scene_triple(one);
    s->b[2 * links + odd] += 1.0; /* link[1234] again again */
    answer a = solve_sparse(&s->problem);
    assert_int_equal(a.status, ZW_CONFLICT);
    assert_int_equal(a.motion.conflict_count, 2);
    assert_int_equal(a.motion.conflict[0] + a.motion.conflict[1], 2 * links + odd + odd);
    assert_true(a.motion.conflict[0] == odd || a.motion.conflict[1] == odd);
    assert_non_null(strstr(a.error.text, "link[1234]"));
    zw_gauss_work_free(a.work);
    scene_free(one);
    scene_free(s);
}

static void contradictions_are_found(void **state)
{
    (void)state;
    int found = 0, few = 0, count = campaign(120);
    for (int seed = 1; seed <= count; seed++) {
        scene_random_params params = {.kinds = SCENE_EQUALITY,
                                      .features = SCENE_COMPRESSED | SCENE_REDUNDANT,
                                      .infeasible = 1};
        scene *s = scene_random((uint64_t)seed, &params);
        answer a = solve_sparse(&s->problem);
        assert_int_not_equal(a.status, ZW_OK);
        found += a.status == ZW_CONFLICT;
        few += a.status == ZW_CONFLICT && a.motion.conflict_count > 0 &&
               a.motion.conflict_count <= s->conflict_count;
        zw_gauss_work_free(a.work);
        scene_free(s);
    }
    print_message("%d of %d contradictions found, %d with at most the blocks made to disagree\n",
                  found, count, few);
    assert_true(found >= count - count / 40);
    assert_true(few >= count * 9 / 10);
}

/* A point without mass and without a link. */
static void what_nothing_holds_is_named(void **state)
{
    (void)state;
    scene *s = scene_chain(50);
    s->metric[3 * 20] = s->metric[3 * 20 + 1] = s->metric[3 * 20 + 2] = 0.0;
    answer a = solve_sparse(&s->problem);
    assert_int_equal(a.status, ZW_UNDETERMINED);
    assert_true(a.motion.undetermined_count >= 1);
    for (int k = 0; k < a.motion.undetermined_count; k++) {
        assert_true(a.motion.undetermined[k] < s->problem.n);
    }
    zw_gauss_work_free(a.work);
    scene_free(s);
}

/* ---- Memory, bits, time --------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    scene_random_params params = {
        .kinds = SCENE_EQUALITY, .features = SCENE_COMPLIANT | SCENE_COMPRESSED, .n_min = 5};
    scene *s = scene_random(3, &params);
    zw_gauss_options options = {.algebra = ZW_ALGEBRA_SPARSE};
    int k = 1;
    for (;; k++) {
        zw_error error = {0};
        base_alloc_fail_after(k);
        zw_gauss_work *work = zw_gauss_work_create(&s->problem, &options, &error);
        base_alloc_fail_after(0);
        if (work != NULL) {
            zw_gauss_work_free(work);
            break;
        }
        assert_int_equal(error.status, ZW_NO_MEMORY);
    }
    assert_true(k > 3);
    scene_free(s);
}

static void a_solve_allocates_nothing_and_repeats(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed += (uint64_t)campaign_stride(4)) {
        scene_random_params params = {.kinds = SCENE_EQUALITY, .features = SCENE_ALL_FEATURES};
        scene *s = scene_random(seed, &params);
        zw_gauss_options options = {.algebra = ZW_ALGEBRA_SPARSE};
        answer a = solve_with(&s->problem, options, ZW_ALGEBRA_SPARSE);
        zw_gauss_work *work = zw_gauss_work_create(&s->problem, &options, NULL);
        zw_motion motion;
        for (int pass = 0; pass < 2; pass++) {
            base_alloc_fail_after(1);
            zw_status status = zw_gauss_solve(&s->problem, &options, work, &motion, NULL);
            assert_null(base_alloc(1)); /* the failure has not been used up */
            assert_int_equal(status, a.status);
            assert_memory_equal(motion.a, a.motion.a, (size_t)motion.n * sizeof(double));
            assert_memory_equal(motion.lambda, a.motion.lambda, (size_t)motion.m * sizeof(double));
        }
        zw_gauss_work_free(work);
        zw_gauss_work_free(a.work);
        scene_free(s);
    }
}

static void time_per_link_is_constant(void **state)
{
    (void)state;
    for (int links = 1000; links <= 100000 / campaign_stride(10); links *= 10) {
        scene *s = scene_chain(links);
        zw_gauss_options options = {.algebra = ZW_ALGEBRA_SPARSE};
        zw_motion motion;
        double begin = now(), best = HUGE_VAL;
        zw_gauss_work *work = zw_gauss_work_create(&s->problem, &options, NULL);
        double created = now() - begin;
        assert_non_null(work);
        for (int k = 0; k < 3; k++) {
            begin = now();
            assert_int_equal(zw_gauss_solve(&s->problem, &options, work, &motion, NULL), ZW_OK);
            best = fmin(best, now() - begin);
        }
        print_message("chain of %6d: create %7.2f ms, solve %7.2f ms, %4.0f ns per link\n", links,
                      1e3 * created, 1e3 * best, 1e9 * best / links);
        assert_true(motion.certificate.worst <= 1e-10);
        zw_gauss_work_free(work);
        scene_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_is_sparse),
        cmocka_unit_test(multipliers_have_least_norm),
        cmocka_unit_test(laws_of_friction_agree),
        cmocka_unit_test(chains_are_solved),
        cmocka_unit_test(nets_are_solved),
        cmocka_unit_test(redundancy_of_any_number),
        cmocka_unit_test(a_chain_lands),
        cmocka_unit_test(contradicting_links_are_named),
        cmocka_unit_test(contradictions_are_found),
        cmocka_unit_test(what_nothing_holds_is_named),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_solve_allocates_nothing_and_repeats),
        cmocka_unit_test(time_per_link_is_constant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
