/* What the tests of the kernel share: one solve with its workspace, and comparison of numbers.
 * The including file brings cmocka. */
#ifndef ZWANG_TEST_GAUSS_SOLVED_H
#define ZWANG_TEST_GAUSS_SOLVED_H

#include <math.h>
#include <stdlib.h>

#include "zwang/gauss.h"

/* ---- Solving ------------------------------------------------------------------------------ */

typedef struct solved {
    zw_gauss_work *work; /* owns what `motion` points to */
    zw_motion motion;
    zw_error error;
    zw_status status;
} solved;

static inline solved solve(const zw_gauss *problem, const zw_gauss_options *options)
{
    solved s = {.work = NULL};
    s.work = zw_gauss_work_create(problem, options, &s.error);
    s.status = s.work != NULL ? zw_gauss_solve(problem, options, s.work, &s.motion, &s.error)
                              : s.error.status;
    return s;
}

static inline solved solve_convex(const zw_gauss *problem)
{
    zw_gauss_options options = {.contact = ZW_CONTACT_CONVEX};
    return solve(problem, &options);
}

static inline void solved_free(solved *s)
{
    zw_gauss_work_free(s->work);
    s->work = NULL;
}

static inline int solved_rows(const zw_gauss *problem)
{
    int m = 0;
    for (int k = 0; k < problem->block_count; k++) {
        m += problem->block[k].rows;
    }
    return m;
}

static inline zw_certificate certify(const zw_gauss *problem, zw_contact_law law, const double *a,
                                     const double *lambda, const double *C)
{
    zw_certificate certificate;
    double *scratch = malloc(zw_gauss_certify_scratch(problem) * sizeof *scratch);
    zw_gauss_certify(problem, law, a, lambda, C, scratch, &certificate);
    free(scratch);
    return certificate;
}

static inline int lists(int count, const int *list, int index)
{
    for (int i = 0; i < count; i++) {
        if (list[i] == index) {
            return 1;
        }
    }
    return 0;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

static inline double dot(int n, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

static inline double norm(int n, const double *x)
{
    return sqrt(dot(n, x, x));
}

static inline double largest(int n, const double *x)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static inline double difference(int n, const double *x, const double *y)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i] - y[i]));
    }
    return most;
}

static inline void check_close(double got, double expected, double tolerance, const char *what,
                               const char *file, int line)
{
    if (!(fabs(got - expected) <= tolerance * (1.0 + fabs(expected)))) {
        print_error("%s = %.17g, expected %.17g, off by %.2e > %.0e\n", what, got, expected,
                    got - expected, tolerance);
        _fail(file, line);
    }
}

static inline void check_below(double got, double bound, const char *what, const char *file,
                               int line)
{
    if (!(got <= bound)) {
        print_error("%s = %.6g, expected at most %.6g\n", what, got, bound);
        _fail(file, line);
    }
}

static inline void check_status(zw_status got, zw_status expected, const zw_error *error,
                                const char *file, int line)
{
    if (got != expected) {
        print_error("\"%s\", expected \"%s\"; %s\n", zw_status_text(got), zw_status_text(expected),
                    got != ZW_OK ? error->text : "");
        _fail(file, line);
    }
}

/* |x - y| <= tolerance (1 + |y|), as the reference problems require. */
#define assert_close(x, y, tolerance) check_close(x, y, tolerance, #x, __FILE__, __LINE__)
#define assert_below(x, bound) check_below(x, bound, #x, __FILE__, __LINE__)
#define assert_status(s, expected)                                                                 \
    check_status((s).status, expected, &(s).error, __FILE__, __LINE__)
#define assert_all_close(n, x, y, tolerance)                                                       \
    do {                                                                                           \
        for (int assert_i = 0; assert_i < (n); assert_i++) {                                       \
            check_close((x)[assert_i], (y)[assert_i], tolerance, #x, __FILE__, __LINE__);          \
        }                                                                                          \
    } while (0)

#endif
