/* Paths with their derivatives, for the tests of path/law/variation.h. */
#ifndef ZW_TEST_PATH_SAMPLED_H
#define ZW_TEST_PATH_SAMPLED_H

#include "held.h"
#include "path/law/variation.h"
#include "references/moving.h"

/* ---- Paths ----------------------------------------------------------------------------------- */

/* A path with all that is known of it, and what the variation found. */
typedef struct sampled {
    moving m;
    int n, rows, carried;
    long count;
    double *t, *q, *v, *a, *true_lambda;
    long part[3];
    path_variation found;
    double *memory;
} sampled;

static inline moving opened(const char *text)
{
    moving m;
    const char *failed = moving_open(&m, text, "test_variation", NULL, 0);
    if (failed) {
        moving_complain(&m, "test_variation", failed);
        fail();
    }
    return m;
}

static inline sampled sampled_create(const char *text, long count)
{
    sampled w = {.m = opened(text), .count = count};
    w.n = w.m.system->n;
    w.rows = w.m.system->m;
    w.carried = w.m.system->law.carried;
    size_t n = (size_t)w.n, m = (size_t)w.rows, k = (size_t)w.carried, all = (size_t)count;
    w.memory = calloc(all * (5 * n + m + 3 * k + 4) + 1, sizeof(double));
    assert_non_null(w.memory);
    double **by_coord[] = {&w.q, &w.v, &w.a, &w.found.extra, &w.found.apart};
    double *at = w.memory;
    for (int i = 0; i < 5; i++, at += all * n) {
        *by_coord[i] = at;
    }
    w.found.lambda = at;
    w.found.carried = at += all * m;
    w.found.rate = at += all * k;
    w.true_lambda = at += all * k;
    w.t = at += all * k;
    w.found.size = at += all;
    w.found.square = at += all;
    w.found.error = at + all;
    w.part[1] = w.part[2] = count;
    return w;
}

static inline void sampled_free(sampled *w)
{
    free(w->memory);
    moving_close(&w->m);
}

/* Runs the model and samples it. */
static inline sampled sampled_along(const char *text, long count, double time)
{
    sampled w = sampled_create(text, count);
    size_t bytes = (size_t)w.n * sizeof(double);
    for (long i = 0; i < count; i++) {
        w.t[i] = time * (double)i / (double)(count - 1);
        const char *failed = moving_run(&w.m, w.t[i], 1e-13);
        if (failed) {
            moving_complain(&w.m, "test_variation", failed);
            fail();
        }
        assert_int_equal(zw_forward(w.m.system, w.m.state, w.m.work, NULL, &w.m.error), ZW_OK);
        memcpy(w.q + i * w.n, moving_field(&w.m, ZW_FIELD_Q), bytes);
        memcpy(w.v + i * w.n, moving_field(&w.m, ZW_FIELD_V), bytes);
        memcpy(w.a + i * w.n, moving_field(&w.m, ZW_FIELD_A), bytes);
        if (w.carried > 0) {
            memcpy(w.true_lambda + i * w.carried, moving_field(&w.m, ZW_FIELD_CARRIED),
                   (size_t)w.carried * sizeof(double));
        }
    }
    return w;
}

static inline zw_status solve(sampled *w, int parts, zw_error *error)
{
    w->found.system = w->m.system;
    w->found.work = w->m.work;
    w->found.count = w->count;
    w->found.t = w->t;
    w->found.q = w->q;
    w->found.v = w->v;
    w->found.a = w->a;
    w->found.parts = parts;
    w->found.part = w->part;
    return path_variation_solve(&w->found, error);
}

static inline void solved(sampled *w)
{
    zw_error error;
    if (solve(w, 1, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
}

/* Root of the defect over the whole. */
static inline double miss(const sampled *w)
{
    return sqrt(w->found.defect / w->found.whole);
}

/* Largest extra in terms of its error. */
static inline double of_stated(const sampled *w)
{
    double worst = 0;
    for (long i = 0; i < w->count; i++) {
        worst = fmax(worst, w->found.size[i] / w->found.error[i]);
    }
    return worst;
}

/* Largest error of lambda, of its largest value. */
static inline double lambda_error(const sampled *w)
{
    double worst = 0, size = 0;
    for (long i = 0; i < w->count * w->carried; i++) {
        worst = fmax(worst, fabs(w->found.carried[i] - w->true_lambda[i]));
        size = fmax(size, fabs(w->true_lambda[i]));
    }
    return worst / size;
}

/* The path of one model tried as a motion of another with the same coordinates. */
static inline double miss_under(const sampled *path, const char *text)
{
    sampled w = sampled_create(text, path->count);
    size_t all = (size_t)path->count * (size_t)path->n * sizeof(double);
    memcpy(w.t, path->t, (size_t)path->count * sizeof(double));
    memcpy(w.q, path->q, all);
    memcpy(w.v, path->v, all);
    memcpy(w.a, path->a, all);
    solved(&w);
    double answer = miss(&w);
    sampled_free(&w);
    return answer;
}

/* ---- Models ---------------------------------------------------------------------------------- */

#define SKATE                                                                                      \
    "param m = 2, J = 0.3\ncoord x = 0, y = 0.2, phi = 0.3\nspeed x' = 1, phi' = 0.5\n"            \
    "kinetic m/2*(x'^2 + y'^2) + J/2*phi'^2 + 0.1*x*y'*phi'\n"                                     \
    "potential -3*x + y^2/2\nforce phi: -0.2*phi'\n"                                               \
    "constraint edge: x'*sin(phi) = y'*cos(phi) + 0.1*sin(t)\n"

static inline void near(double is, double should, double within)
{
    if (!(fabs(is - should) <= within * (1 + fabs(should)))) {
        fail_msg("%.15g is not %.15g", is, should);
    }
}

#endif
