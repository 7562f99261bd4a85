/* The sparse path where it is hard: contradictions, undetermined unknowns, contact with friction.
 */
#include "gauss/sparse_answer.h"

/* ---- Conflicts ----------------------------------------------------------------------------- */

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
        scene_random_params params = {.features = SCENE_COMPRESSED | SCENE_REDUNDANT,
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

/* A point on no string and without mass. */
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

/* ---- Coulomb ------------------------------------------------------------------------------- */

static void contacts_are_solved(void **state)
{
    (void)state;
    int solved = 0, count = 0;
    const uint64_t stride = (uint64_t)campaign_stride(4);
    for (int family = 0; family < SCENE_FAMILIES; family++) {
        for (uint64_t seed = 1; seed <= (family == SCENE_STACK_TALL ? 2u : 8u); seed += stride) {
            scene *s = scene_contact((scene_family)family, seed);
            answer a = solve_with(&s->problem, (zw_gauss_options){.contact = ZW_COULOMB},
                                  ZW_ALGEBRA_SPARSE);
            if (a.status == ZW_OK) {
                assert_true(a.motion.certificate.worst <= 1e-8);
            } else {
                assert_int_equal(a.status, ZW_JAMMED);
            }
            solved += a.status == ZW_OK;
            count++;
            zw_gauss_work_free(a.work);
            scene_free(s);
        }
    }
    print_message("Coulomb's law: %d of %d solved\n", solved, count);
    assert_true(solved >= count * 93 / 100);
}

/* Walls that close on a body: no motion and no force, said with the names of the contacts. */
static void closing_walls_have_no_solution(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed += (uint64_t)campaign_stride(4)) {
        scene *s = scene_contact(SCENE_WEDGE_CLOSING, seed);
        answer a =
            solve_with(&s->problem, (zw_gauss_options){.contact = ZW_COULOMB}, ZW_ALGEBRA_SPARSE);
        assert_int_equal(a.status, ZW_NO_SOLUTION);
        assert_true(a.motion.conflict_count >= 2);
        assert_false(a.motion.certificate.worst <= 1.0);
        zw_gauss_work_free(a.work);
        scene_free(s);
    }
}

/* From the answer to a nearby problem, the same branch in fewer steps. */
static void a_guess_helps(void **state)
{
    (void)state;
    int cold = 0, warm = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (int law = ZW_COULOMB; law <= ZW_CONVEX; law++) {
            scene *s = scene_contact(seed % 2 == 0 ? SCENE_PILE : SCENE_ROBOT, seed);
            zw_gauss_options options = {.contact = (zw_contact_law)law};
            answer a = solve_with(&s->problem, options, ZW_ALGEBRA_SPARSE);
            assert_int_equal(a.status, ZW_OK);
            options.guess = a.motion.lambda;
            answer b = solve_with(&s->problem, options, ZW_ALGEBRA_SPARSE);
            assert_int_equal(b.status, ZW_OK);
            assert_true(distance(s, a.motion.a, b.motion.a) <= 1e-6);
            cold += a.motion.factorizations;
            warm += b.motion.factorizations;
            zw_gauss_work_free(a.work);
            zw_gauss_work_free(b.work);
            scene_free(s);
        }
    }
    print_message("factorisations: cold %d, warm %d\n", cold, warm);
    assert_true(2 * warm < cold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradicting_links_are_named),
        cmocka_unit_test(contradictions_are_found),
        cmocka_unit_test(what_nothing_holds_is_named),
        cmocka_unit_test(contacts_are_solved),
        cmocka_unit_test(closing_walls_have_no_solution),
        cmocka_unit_test(a_guess_helps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
