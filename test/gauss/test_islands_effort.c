/* Islands of many bodies with a small limit of effort: where sparse algebra does not converge,
 * dense algebra is tried as far as its cost is small, since the limit is meant for large problems.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "gauss/contact/islands.h"
#include "gauss/packed.h"

enum { SEEDS = 12 };

static packed trial;

/* Counts of islands with at most 100 rows, and with more. */
typedef struct tally {
    int all, good, fair; /* certificates of 1e-8, of 1e-3 */
} tally;

static void solve_all(int effort, tally of[2])
{
    gauss_islands *islands = gauss_islands_create();
    for (int family = 0; family < SCENE_FAMILIES; family++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            scene *s = scene_contact((scene_family)family, seed);
            if (s->witness && pack(s, &trial) && trial.problem.n >= 24) {
                zw_gauss_options options = {.effort = effort};
                gauss_islands_answer answer;
                tally *to = &of[s->m > 100];
                gauss_islands_solve(islands, &trial.problem, &options, NULL, &answer, NULL);
                to->all++;
                to->good += answer.certificate <= 1e-8;
                to->fair += answer.certificate <= 1e-3;
            }
            scene_free(s);
        }
    }
    gauss_islands_free(islands);
}

static void little_effort(void **state)
{
    (void)state;
    for (int effort = 2; effort <= 4; effort *= 2) {
        tally of[2] = {{0}};
        solve_all(effort, of);
        printf("effort %d: %d of %d small ones solved (%d fair), %d of %d large ones fair\n",
               effort, of[0].good, of[0].all, of[0].fair, of[1].fair, of[1].all);
        assert_true(of[0].good >= 48 && of[0].fair >= 51); /* of 53 */
        assert_true(of[1].fair >= 10);                     /* of 23 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(little_effort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
