/* One problem, solved by the given algebra, dense or sparse; for the tests of the sparse path. */
#ifndef ZWANG_TEST_SPARSE_ANSWER_H
#define ZWANG_TEST_SPARSE_ANSWER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "scene/campaign.h"
#include "scene/scene.h"
#include "zwang/gauss.h"

typedef struct answer {
    zw_gauss_work *work;
    zw_motion motion;
    zw_error error;
    zw_status status;
} answer;

static inline answer solve_with(const zw_gauss *problem, zw_gauss_options options,
                                zw_algebra algebra)
{
    answer s = {.work = NULL};
    options.algebra = algebra;
    s.work = zw_gauss_work_create(problem, &options, &s.error);
    assert_non_null(s.work);
    s.status = zw_gauss_solve(problem, &options, s.work, &s.motion, &s.error);
    return s;
}

static inline answer solve_sparse(const zw_gauss *problem)
{
    return solve_with(problem, (zw_gauss_options){.contact = ZW_CONTACT_CONVEX}, ZW_ALGEBRA_SPARSE);
}

/* |a - b| over |a| in the metric. */
static inline double distance(const scene *s, const double *a, const double *b)
{
    size_t n = (size_t)s->problem.n;
    double *v = calloc(2 * n, sizeof *v), *Mv = v + n, step = 0.0, size = 0.0;
    for (size_t i = 0; i < n; i++) {
        v[i] = a[i] - b[i];
    }
    scene_times_M(s, v, Mv);
    for (size_t i = 0; i < n; i++) {
        step += v[i] * Mv[i];
    }
    scene_times_M(s, a, Mv);
    for (size_t i = 0; i < n; i++) {
        size += a[i] * Mv[i];
    }
    free(v);
    return sqrt(fabs(step) / (fabs(size) + 1e-300));
}

static inline int same_list(int count, const int *a, int other, const int *b)
{
    return count == other && memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static inline double now(void) /* CPU time, since other processes may be running */
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
