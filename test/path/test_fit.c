/* The fit gives derivatives with error estimates; integrals are those of polynomials. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "path/fit/basis.h"
#include "path/fit/fit.h"
#include "path/trial/quadrature.h"
#include "scene/campaign.h"

static double random_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static double gauss(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += random_number(seed);
    }
    return sum;
}

/* sin(3 t) + sin(7 t)/5 and exp(-t) with its derivatives. */
static void curve(double t, double y[3][2])
{
    y[0][0] = sin(3 * t) + sin(7 * t) / 5;
    y[1][0] = 3 * cos(3 * t) + 7 * cos(7 * t) / 5;
    y[2][0] = -9 * sin(3 * t) - 49 * sin(7 * t) / 5;
    for (int d = 0; d < 3; d++) {
        y[d][1] = d % 2 ? -exp(-t) : exp(-t);
    }
}

typedef struct sampled {
    path_samples samples;
    path_fit fit;
    double *t, *y;
    long start[3];
    double noise[2], accuracy[2], scale[2];
} sampled;

/* Samples on [0, 6], uneven by that part of their distance, with noise. */
static void sample(sampled *s, long count, double uneven, double noise)
{
    uint64_t seed = 5;
    *s = (sampled){.start = {0, count}, .scale = {2, 1}};
    s->t = malloc((size_t)count * sizeof(double));
    s->y = malloc((size_t)count * 2 * sizeof(double));
    for (long i = 0; i < count; i++) {
        double y[3][2];
        s->t[i] = 6 * ((double)i + uneven * (random_number(&seed) - 0.5)) / (double)(count - 1);
        curve(s->t[i], y);
        for (int k = 0; k < 2; k++) {
            s->y[2 * i + k] = y[0][k] + noise * gauss(&seed);
            s->noise[k] = 4e-16;
            s->accuracy[k] = 2e-10;
        }
    }
    s->samples = (path_samples){.count = count,
                                .n = 2,
                                .t = s->t,
                                .y = s->y,
                                .pieces = 1,
                                .start = s->start,
                                .noise = s->noise,
                                .accuracy = s->accuracy,
                                .scale = s->scale};
}

static void end(sampled *s)
{
    path_fit_free(&s->fit);
    free(s->t);
    free(s->y);
}

/* Root mean square of true error over estimated one, of derivative d. */
static double honesty(const sampled *s, int d, double *error)
{
    double sum = 0, squares = 0;
    long count = s->samples.count;
    for (long i = 0; i < count; i++) {
        double y[3][2];
        curve(s->t[i], y);
        for (int k = 0; k < 2; k++) {
            double miss = s->fit.y[d][2 * i + k] - y[d][k], e = s->fit.error[d][2 * i + k];
            assert_true(e > 0 && isfinite(e));
            sum += miss * miss / (e * e);
            squares += miss * miss;
        }
    }
    *error = sqrt(squares / (double)(2 * count));
    return sqrt(sum / (double)(2 * count));
}

static void errors_are_as_estimated(void **state)
{
    (void)state;
    static const double noise[] = {0, 1e-9, 1e-6, 1e-3};
    static const long counts[] = {150, 1200, 20000};
    for (int n = 0; n < 4; n += campaign_stride(3)) {
        for (int c = 0; c < 3; c++) {
            for (int uneven = 0; uneven < 2; uneven++) {
                sampled s;
                double error[3];
                sample(&s, counts[c], 0.8 * uneven, noise[n]);
                assert_int_equal(path_fit_make(&s.fit, &s.samples, NULL), ZW_OK);
                assert_int_equal(s.fit.cuts, 0);
                for (int d = 0; d < 3; d++) {
                    double ratio = honesty(&s, d, &error[d]);
                    if (!(ratio < 2)) {
                        print_error("noise %g, %ld samples: derivative %d errs %.3g times what is "
                                    "said (%.3g)\n",
                                    noise[n], counts[c], d, ratio, error[d]);
                        fail();
                    }
                }
                /* and small: least squares over windows of about half a second */
                double points = sqrt((double)counts[c] / 12);
                if (!(error[0] < 1e-8 + 3 * noise[n] / sqrt(points) &&
                      error[2] < (c ? 1e-5 : 1e-3) + 1e4 * noise[n] / points)) {
                    print_error("noise %g, %ld samples: errors %.3g and %.3g, D %d W %d\n",
                                noise[n], counts[c], error[0], error[2], s.fit.degree,
                                s.fit.window);
                    fail();
                }
                end(&s);
            }
        }
    }
}

static void jumps_part_the_samples(void **state)
{
    (void)state;
    for (int uneven = 0; uneven < 2; uneven++) {
        for (int kind = 0; kind < 3; kind++) {
            sampled s;
            long at = 700;
            sample(&s, 1200, 0.5 * uneven, 1e-7);
            for (long i = at; i < 1200; i++) {
                double x = s.t[i] - 0.5 * (s.t[at - 1] + s.t[at]);
                s.y[2 * i + 1] += kind == 0 ? 0.01 : kind == 1 ? 0.1 * x : x * x;
            }
            assert_int_equal(path_fit_make(&s.fit, &s.samples, NULL), ZW_OK);
            assert_int_equal(s.fit.cuts, 1);
            assert_true(labs(s.fit.cut[0] - at) <= kind);
            end(&s);
        }
    }
    sampled s; /* one wrong number is no jump */
    sample(&s, 1200, 0, 1e-7);
    s.y[2 * 500] += 1e-4;
    assert_int_equal(path_fit_make(&s.fit, &s.samples, NULL), ZW_OK);
    assert_int_equal(s.fit.cuts, 0);
    assert_int_equal(s.fit.slip, 500);
    assert_int_equal(s.fit.slip_coord, 0);
    assert_true(fabs(s.fit.slip_size - 1e-4) < 1e-5);
    end(&s);
}

static void pieces_do_not_know_each_other(void **state)
{
    (void)state;
    sampled s, first;
    sample(&s, 900, 0, 1e-6);
    sample(&first, 900, 0, 1e-6);
    for (long i = 400; i < 900; i++) {
        s.y[2 * i] = -s.y[2 * i] + 3;
    }
    s.start[1] = first.start[1] = 400;
    s.start[2] = first.start[2] = 900;
    s.samples.pieces = first.samples.pieces = 2;
    assert_int_equal(path_fit_make(&s.fit, &s.samples, NULL), ZW_OK);
    assert_int_equal(path_fit_make(&first.fit, &first.samples, NULL), ZW_OK);
    for (int d = 0; d < 3; d++) {
        assert_memory_equal(s.fit.y[d], first.fit.y[d], 400 * 2 * sizeof(double));
        assert_memory_equal(s.fit.error[d], first.fit.error[d], 400 * 2 * sizeof(double));
    }
    end(&first);
    end(&s);
}

/* Orthonormal over the samples; values and derivatives are those of polynomials of their degree. */
static void the_basis_is_orthonormal(void **state)
{
    (void)state;
    path_basis basis;
    uint64_t seed = 11;
    double t[60];
    assert_true(basis_create(&basis, 60));
    for (int uneven = 0; uneven < 2; uneven++) {
        for (int i = 0; i < 60; i++) {
            t[i] = 100 + 0.01 * (i + 0.9 * uneven * random_number(&seed));
        }
        assert_int_equal(basis_make(&basis, 60, t, BASIS_MOST), BASIS_MOST);
        for (int j = 0; j < BASIS_MOST; j++) {
            for (int k = 0; k <= j; k++) {
                double sum = 0;
                for (int i = 0; i < 60; i++) {
                    sum += basis.p[60 * j + i] * basis.p[60 * k + i];
                }
                assert_true(fabs(sum - (j == k)) < 1e-13);
            }
        }
        for (int i = 0; i < 60; i += 7) {
            double f[3][BASIS_MOST], before[3][BASIS_MOST], after[3][BASIS_MOST], h = 1e-6;
            basis_at(&basis, BASIS_MOST, t[i], f);
            basis_at(&basis, BASIS_MOST, t[i] - h, before);
            basis_at(&basis, BASIS_MOST, t[i] + h, after);
            for (int j = 0; j < 16; j++) {
                double size = fabs(f[2][j]) + 1e3 * fabs(f[1][j]) + 1e6 * fabs(f[0][j]);
                assert_true(fabs(f[0][j] - basis.p[60 * j + i]) < 1e-9);
                assert_true(fabs((after[0][j] - before[0][j]) / (2 * h) - f[1][j]) < 1e-4 * size);
                assert_true(fabs((after[1][j] - before[1][j]) / (2 * h) - f[2][j]) < 1e-4 * size);
            }
        }
        for (int i = 0; i < 60; i++) {
            t[i] += 3; /* elsewhere, but alike */
        }
        assert_true(basis_fits(&basis, 60, t));
        t[17] += 1e-9;
        assert_false(basis_fits(&basis, 60, t));
    }
    basis_free(&basis);
}

/* Ten samples integrate polynomials of degree nine exactly, however the times lie; two samples that
 * nearly coincide do no harm. */
static void integrals_of_polynomials_are_exact(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int kind = 0; kind < 3; kind++) {
        for (int degree = 0; degree < 10; degree++) {
            double t[80], y[80], sum[80] = {0}, rough[80], carry[1];
            for (int i = 0; i < 80; i++) {
                t[i] = (i + (kind ? 0.6 * random_number(&seed) : 0)) / 80;
                t[i] = kind == 2 && i % 20 == 7 ? t[i - 1] + 1e-13 : t[i];
                y[i] = pow(t[i], degree);
            }
            path_integrate(80, t, 1, y, sum, rough, carry);
            for (int i = 0; i < 80; i++) {
                double wanted = (pow(t[i], degree + 1) - pow(t[0], degree + 1)) / (degree + 1);
                assert_true(fabs(sum[i] - wanted) < 2e-15);
                assert_true(rough[i] < 1e-9);
            }
        }
    }
    double t[3] = {0, 1, 3}, y[3] = {1, 2, 10}, sum[3] = {0}, carry[1];
    path_integrate(3, t, 1, y, sum, NULL, carry); /* 1 + t^2 */
    assert_true(fabs(sum[2] - 12) < 1e-14);
    path_integrate(1, t, 1, y, sum, NULL, carry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_as_estimated),
        cmocka_unit_test(jumps_part_the_samples),
        cmocka_unit_test(pieces_do_not_know_each_other),
        cmocka_unit_test(the_basis_is_orthonormal),
        cmocka_unit_test(integrals_of_polynomials_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
