/* A campaign of random problems with fixed seeds, short enough for every test run. The environment
 * variable ZW_CAMPAIGN scales it: "small" is a 25th, a number is a factor.
 *
 * A problem reported as solved must pass the public certificate; nearly all problems that have a
 * solution must be solved; one that has none must never be reported as solved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/solved.h"
#include "scene/campaign.h"
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

enum {
    CONVEX = 1500,
    EACH_FAMILY = 105,
    TALL_STACKS = 40,
    INFEASIBLE = 400,
    CLOSING = 40,
    SHOWN = 12
};

#define CONVEX_TOLERANCE 1e-10
#define COULOMB_TOLERANCE 1e-8

static int scaled(int count)
{
    const char *size = getenv("ZW_CAMPAIGN");
    double factor = size == NULL || *size == '\0' ? 1.0 : atof(size);
    if (campaign_is_small()) {
        factor = 0.04;
    }
    return factor > 0.0 ? (int)ceil(factor * count) : count;
}

typedef struct tally {
    const char *title;
    int count, solved, wrong, shown;
    int slandered; /* reported as contradictory though a feasible motion is known */
    double worst;  /* largest certificate of the solved problems */
} tally;

static void tally_complain(tally *t, const scene *s, const solved *answer, double worst)
{
    if (t->shown++ < SHOWN) {
        print_message("    %s (n %d, m %d): %s; certificate %.2e; %s\n", s->name, s->problem.n,
                      s->m, zw_status_text(answer->status), worst, answer->error.text);
    }
}

/* Solve, check with the public certificate, and count. */
static void tally_scene(tally *t, const scene *s, zw_contact_law law, double tolerance)
{
    zw_gauss_options options = {.contact = law};
    solved answer = solve(&s->problem, &options);
    double worst = HUGE_VAL;
    t->count++;
    if (answer.status == ZW_OK) {
        worst =
            certify(&s->problem, law, answer.motion.a, answer.motion.lambda, answer.motion.C).worst;
        t->solved++;
        t->worst = fmax(t->worst, worst);
        t->wrong += !(worst <= tolerance);
    }
    if (answer.status == ZW_CONFLICT || answer.status == ZW_NO_SOLUTION) {
        t->slandered += s->witness != NULL && scene_violation(s, s->witness) <= 1e-12;
    }
    if (answer.status != ZW_OK || !(worst <= tolerance)) {
        tally_complain(t, s, &answer, worst);
    }
    solved_free(&answer);
}

static void tally_check(const tally *t, double fraction)
{
    print_message("    %s: %d of %d solved (%.2f %%), %d wrong, worst certificate %.1e\n", t->title,
                  t->solved, t->count, 100.0 * t->solved / t->count, t->wrong, t->worst);
    assert_int_equal(t->wrong, 0);
    assert_int_equal(t->slandered, 0);
    assert_true(t->solved >= fraction * t->count);
}

static void convex_campaign(const char *title, const scene_random_params *params, uint64_t first)
{
    tally t = {.title = title};
    for (int i = 0; i < scaled(CONVEX); i++) {
        scene *s = scene_random(first + (uint64_t)i, params);
        tally_scene(&t, s, ZW_CONTACT_CONVEX, CONVEX_TOLERANCE);
        scene_free(s);
    }
    tally_check(&t, 0.995);
}

static void convex_full_difficulty(void **state)
{
    (void)state;
    scene_random_params params = scene_random_everything(1.0);
    params.features &= ~(unsigned)SCENE_PARALLEL;
    convex_campaign("convex, full difficulty", &params, 1000000);
}

static void convex_all_features(void **state)
{
    (void)state;
    scene_random_params params = scene_random_everything(0.5);
    convex_campaign("convex, all features", &params, 2000000);
}

static void coulomb_all_families(void **state)
{
    (void)state;
    tally all = {.title = "Coulomb"};
    for (int family = 0; family < SCENE_FAMILIES; family++) {
        tally t = {.title = scene_family_name((scene_family)family)};
        /* A tall stack costs as much as all other scenes together: use fewer of them. */
        int tall = family == SCENE_STACK_TALL, count = tall ? TALL_STACKS : EACH_FAMILY;
        for (int i = 0; i < scaled(count); i += tall ? campaign_stride(4) : 1) {
            scene *s = scene_contact((scene_family)family, 3000000u + (unsigned)i);
            tally_scene(&t, s, ZW_CONTACT_COULOMB, COULOMB_TOLERANCE);
            scene_free(s);
        }
        all.count += t.count;
        all.solved += t.solved;
        all.wrong += t.wrong;
        all.slandered += t.slandered;
        all.worst = fmax(all.worst, t.worst);
        print_message("    %-16s %4d of %4d\n", t.title, t.solved, t.count);
    }
    tally_check(&all, 0.99);
}

static void infeasible_never_solved(void **state)
{
    (void)state;
    scene_random_params params = scene_random_everything(0.5);
    int solved_anyway = 0, named = 0, count = scaled(INFEASIBLE);
    params.infeasible = 1;
    for (int i = 0; i < count; i++) {
        scene *s = scene_random(4000000u + (unsigned)i, &params);
        solved answer = solve_convex(&s->problem);
        solved_anyway += answer.status == ZW_OK;
        named += answer.status == ZW_CONFLICT && answer.motion.conflict_count > 0;
        if (answer.status == ZW_OK) {
            print_message("    %s called solved\n", s->name);
        }
        solved_free(&answer);
        scene_free(s);
    }
    print_message("    infeasible: %d of %d named as conflicts\n", named, count);
    assert_int_equal(solved_anyway, 0);
    assert_true(named >= 0.99 * count);
}

static void closing_wedge_never_solved(void **state)
{
    (void)state;
    for (int i = 0; i < scaled(CLOSING); i++) {
        scene *s = scene_contact(SCENE_WEDGE_CLOSING, 5000000u + (unsigned)i);
        solved answer = solve(&s->problem, NULL);
        assert_int_not_equal(answer.status, ZW_OK);
        solved_free(&answer);
        scene_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convex_full_difficulty),     cmocka_unit_test(convex_all_features),
        cmocka_unit_test(coulomb_all_families),       cmocka_unit_test(infeasible_never_solved),
        cmocka_unit_test(closing_wedge_never_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
