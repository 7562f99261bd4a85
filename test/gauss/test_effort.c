/* A solve costs no more than its limit on every path through the kernel, and stops when asked to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/solved.h"
#include "scene/scene.h"

enum { SEEDS = 12, ROUND = 4 }; /* ROUND: an iteration in progress is completed */

static const zw_algebra algebra[] = {ZW_ALGEBRA_DENSE, ZW_ALGEBRA_SPARSE};

/* Walls that close on a body: no solution exists, and without a limit every method is tried. */
static scene *hard(int k, int seed)
{
    static const scene_family family[] = {SCENE_WEDGE_CLOSING, SCENE_IMPACT, SCENE_STACK_TALL,
                                          SCENE_MANY_ON_FEW, SCENE_JOINTED};
    return scene_contact(family[k], (uint64_t)(7000 + seed));
}

static void effort_is_a_bound(void **state)
{
    (void)state;
    int bounded = 0;
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < SEEDS; i++) {
            scene *s = hard(k, i);
            for (int law = ZW_CONTACT_COULOMB; law <= ZW_CONTACT_CONVEX; law++) {
                for (int effort = 1; effort <= 64; effort *= 4) {
                    zw_gauss_options options = {.contact = (zw_contact_law)law,
                                                .algebra = ZW_ALGEBRA_DENSE,
                                                .effort = effort};
                    solved answer = solve(&s->problem, &options);
                    assert_true(answer.motion.factorizations <= effort + ROUND);
                    assert_true(answer.status == ZW_OK || answer.status == ZW_JAMMED ||
                                answer.status == ZW_INACCURATE || answer.status == ZW_CONFLICT ||
                                answer.status == ZW_NO_SOLUTION);
                    /* a solution is certified, however small the limit */
                    if (answer.status == ZW_OK) {
                        assert_true(certify(&s->problem, options.contact, answer.motion.a,
                                            answer.motion.lambda, answer.motion.C)
                                        .worst <= 1e-8);
                    }
                    bounded += answer.status == ZW_JAMMED || answer.status == ZW_INACCURATE;
                    solved_free(&answer);
                }
            }
            scene_free(s);
        }
    }
    assert_true(bounded > 100); /* some need more than that */
}

static int count_down(void *user)
{
    int *left = user;
    return --*left < 0;
}

static void a_solve_ends_when_asked_to(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        scene *s = hard(k, 1);
        for (int a = 0; a < 2; a++) {
            for (int law = ZW_CONTACT_COULOMB; law <= ZW_CONTACT_CONVEX; law++) {
                int left = 5;
                zw_gauss_options options = {.contact = (zw_contact_law)law,
                                            .algebra = k == 0 ? ZW_ALGEBRA_AUTO : algebra[a],
                                            .stop = count_down,
                                            .user = &left};
                solved answer = solve(&s->problem, &options);
                if (left < 0) { /* the callback has requested a stop */
                    assert_int_equal(answer.status, ZW_INTERRUPTED);
                    assert_true(answer.motion.factorizations <= 5 + ROUND);
                }
                assert_true(left < 0 || answer.motion.factorizations <= 5 + ROUND ||
                            answer.status == ZW_BAD_INPUT);
                solved_free(&answer);
            }
        }
        scene_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effort_is_a_bound),
        cmocka_unit_test(a_solve_ends_when_asked_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
