/* Seeded convex problems and zwang's answers as text, for compare_convex.py:
 *
 *     compare_convex [COUNT [FIRST_SEED]]
 *
 * After each problem (scene_write) comes
 *
 *     answer STATUS METHOD
 *     a          then one line of n numbers, lambda one of m: only with ZW_OK
 *     lambda
 *     conflict K INDEX ...    only with ZW_CONFLICT
 *     done
 *
 * The problems: sizes to 30, all kinds of rows, metrics and features; three difficulties in turn;
 * every eighth contradicts itself, every eighth has coordinates without mass, every eighth is a
 * contact scene under the convex law. */
#include <stdio.h>
#include <stdlib.h>

#include "scene/scene.h"

static scene *draw(uint64_t seed)
{
    static const double difficulty[] = {0.1, 0.25, 0.4};
    scene_random_params p = scene_random_everything(difficulty[seed % 3]);
    p.n_max = 30;
    p.features &= ~(unsigned)SCENE_PARALLEL; /* the other solver needs a strictly feasible point */
    if (seed % 8 == 3)
        p.infeasible = 1;
    if (seed % 8 == 5)
        p.features |= SCENE_MASSLESS;
    if (seed % 8 == 7) {
        static const scene_family small[] = {SCENE_ISOSTATIC, SCENE_WEDGE,   SCENE_GRIPPER,
                                             SCENE_IMPACT,    SCENE_ROLLING, SCENE_ROBOT,
                                             SCENE_JOINTED};
        scene *s = scene_contact(small[seed / 8 % (sizeof small / sizeof *small)], seed);
        s->law = ZW_CONTACT_CONVEX;
        return s;
    }
    return scene_random(seed, &p);
}

static const char *status_name(zw_status status)
{
    switch (status) {
#define STATUS_NAME(code, text)                                                                    \
    case code:                                                                                     \
        return #code;
        ZW_STATUS_TABLE(STATUS_NAME)
#undef STATUS_NAME
    }
    return "unknown";
}

static void write_line(const char *name, const double *x, int count)
{
    printf("%s\n", name);
    for (int i = 0; i < count; i++)
        printf("%s%.17g", i ? " " : "", x[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 600;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (int i = 0; i < count; i++) {
        scene *s = draw(first + (uint64_t)i);
        zw_gauss_options options = zw_gauss_options_default();
        options.contact = ZW_CONTACT_CONVEX;
        zw_error error = {0};
        zw_motion motion = {0};
        zw_gauss_work *work = zw_gauss_work_create(&s->problem, &options, &error);
        zw_status status =
            work ? zw_gauss_solve(&s->problem, &options, work, &motion, &error) : error.status;

        scene_write(s, stdout);
        printf("answer %s %s\n", status_name(status),
               work && motion.method ? motion.method : "none");
        if (status == ZW_OK) {
            write_line("a", motion.a, motion.n);
            write_line("lambda", motion.lambda, motion.m);
        }
        if (status == ZW_CONFLICT) {
            printf("conflict %d", motion.conflict_count);
            for (int k = 0; k < motion.conflict_count; k++)
                printf(" %d", motion.conflict[k]);
            printf("\n");
        }
        printf("done\n");
        zw_gauss_work_free(work);
        scene_free(s);
    }
    return 0;
}
