/* The elementary functions: their errors against long double, their special values, equal bits in
 * lanes, and one hash of many results that every compiler and machine has to meet. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "math/elementary.h"
#include "scene/campaign.h"
#include "scene/dice.h"

#define INF ((double)INFINITY)
#define PI 3.14159265358979323846

typedef double unary(double);
typedef void unary8(const double *, double *);
typedef long double unary_reference(long double);
typedef double binary(double, double);
typedef void binary8(const double *, const double *, double *);
typedef long double binary_reference(long double, long double);

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double any_double(dice *d)
{
    uint64_t bits = dice_bits(d);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* |y - exact| in units of the last place of `exact`; beyond the largest double, of that one. */
static double ulps(double y, long double exact)
{
    const long double end = 0x1p1024L;
    if (isnan(y) || isnan(exact)) {
        return isnan(y) && isnan(exact) ? 0.0 : INF;
    }
    long double value = isinf(y) ? copysignl(end, y) : y;
    exact = exact > end ? end : exact < -end ? -end : exact;
    int e = -1021;
    if (exact != 0.0L) {
        frexpl(exact, &e);
    }
    e = e < -1021 ? -1021 : e > 1024 ? 1024 : e;
    return (double)(fabsl(value - exact) / ldexpl(1.0L, e - 53));
}

/* Of four arguments two are even in ranges, one in a range of powers of ten, one any bits. */
static double draw(dice *d, int turn, const double *range)
{
    if (turn == 3) {
        return any_double(d);
    }
    return turn == 2 ? dice_sign(d, dice_power(d, range[0], range[1]))
                     : dice_between(d, range[0], range[1]);
}

/* The ranges hold the hard places of each function, and the bounds are what millions of arguments
 * in each showed, with some air. Results below the normal numbers, rounded twice, have 0.75. */
static const struct {
    const char *name;
    unary *f;
    unary_reference *reference;
    double bound, range[3][2];
} UNARY[] = {
    {"sin", math_sin, sinl, 0.90, {{-10, 10}, {-1.1e6, 1.1e6}, {-20, 300}}},
    {"cos", math_cos, cosl, 0.90, {{-10, 10}, {-1.1e6, 1.1e6}, {-20, 300}}},
    {"tan", math_tan, tanl, 0.85, {{-10, 10}, {-1.1e6, 1.1e6}, {-20, 300}}},
    {"asin", math_asin, asinl, 0.72, {{-1, 1}, {0.45, 0.6}, {-20, 0}}},
    {"acos", math_acos, acosl, 0.70, {{-1, 1}, {0.45, 0.6}, {-20, 0}}},
    {"atan", math_atan, atanl, 0.90, {{-5, 5}, {0.4, 0.5}, {-300, 300}}},
    {"exp", math_exp, expl, 0.80, {{-1, 1}, {-750, 720}, {-20, 2.8}}},
    {"expm1", math_expm1, expm1l, 0.75, {{-1, 1}, {-60, 720}, {-20, 2.8}}},
    {"log", math_log, logl, 0.70, {{0.5, 2}, {0.69, 0.72}, {-307, 300}}},
    {"log1p", math_log1p, log1pl, 0.70, {{-1, 1}, {0.40, 0.42}, {-307, 300}}},
    {"sinh", math_sinh, sinhl, 0.80, {{-1, 1}, {-720, 720}, {-20, 2.8}}},
    {"cosh", math_cosh, coshl, 0.75, {{-1, 1}, {-720, 720}, {-20, 2.8}}},
    {"tanh", math_tanh, tanhl, 0.85, {{-1, 1}, {-25, 25}, {-20, 2.8}}},
    {"cbrt", math_cbrt, cbrtl, 0.51, {{-8, 8}, {0.9, 1.1}, {-307, 300}}},
    {"sqrt", math_sqrt, sqrtl, 0.501, {{0, 8}, {0.9, 1.1}, {-307, 300}}},
    {"floor", math_floor, floorl, 0.0, {{-8, 8}, {-1e16, 1e16}, {-307, 300}}},
};

static const struct {
    const char *name;
    binary *f;
    binary_reference *reference;
    double bound, first[3][2], second[3][2];
} BINARY[] = {
    {"atan2",
     math_atan2,
     atan2l,
     0.90,
     {{-1, 1}, {0.4, 0.5}, {-300, 300}},
     {{-1, 1}, {0.9, 1.1}, {-300, 300}}},
    {"hypot",
     math_hypot,
     hypotl,
     0.51,
     {{-1, 1}, {1, 1e9}, {-300, 300}},
     {{-1, 1}, {1, 1e9}, {-300, 300}}},
    {"pow",
     math_pow,
     powl,
     0.80,
     {{0, 10}, {0.7, 1.42}, {-300, 300}},
     {{-10, 10}, {-2000, 2000}, {-3, 3}}},
};

static void errors_of_one_argument(void **state)
{
    (void)state;
#if LDBL_MANT_DIG < 64
    skip(); /* no reference */
#else
    dice d = dice_of(1);
    for (size_t i = 0; i < sizeof UNARY / sizeof *UNARY; i++) {
        double worst = 0.0, where = 0.0;
        for (int n = campaign(200000); n > 0; n--) {
            double x = draw(&d, n % 4, UNARY[i].range[n % 4 % 3]);
            double error = ulps(UNARY[i].f(x), UNARY[i].reference(x));
            where = error > worst ? x : where;
            worst = error > worst ? error : worst;
        }
        print_message("    %-6s %.3f ulp at %.17g\n", UNARY[i].name, worst, where);
        assert_true(worst <= UNARY[i].bound);
    }
#endif
}

static void errors_of_two_arguments(void **state)
{
    (void)state;
#if LDBL_MANT_DIG < 64
    skip();
#else
    dice d = dice_of(2);
    for (size_t i = 0; i < sizeof BINARY / sizeof *BINARY; i++) {
        double worst = 0.0, where[2] = {0.0, 0.0};
        for (int n = campaign(200000); n > 0; n--) {
            double x = draw(&d, n % 4, BINARY[i].first[n % 4 % 3]);
            double y = draw(&d, n % 4, BINARY[i].second[n % 4 % 3]);
            double error = ulps(BINARY[i].f(x, y), BINARY[i].reference(x, y));
            if (error > worst) {
                worst = error;
                where[0] = x;
                where[1] = y;
            }
        }
        print_message("    %-6s %.3f ulp at %.17g, %.17g\n", BINARY[i].name, worst, where[0],
                      where[1]);
        assert_true(worst <= BINARY[i].bound);
    }
#endif
}

/* The doubles nearest to multiples of pi/2, where the reduction of the angle has the most to do.
 * 6381956970095103 * 2^797 is the nearest of all doubles (Kahan; Muller, Elementary Functions). */
static void angles_near_the_axes(void **state)
{
    (void)state;
    double nearest = ldexp(6381956970095103.0, 797);
    assert_true(fabs(math_cos(nearest) + 4.68716592425462761112e-19) < 1e-33);
    assert_true(math_sin(nearest) == 1.0);
    assert_true(math_sin(PI) == 1.2246467991473531772e-16);
    assert_true(math_cos(PI / 2.0) == 6.1232339957367658861e-17);
    assert_true(math_tan(PI / 2.0) == 16331239353195370.0);
    assert_true(math_sin(1e22) == -0.85220084976718880177);
#if LDBL_MANT_DIG >= 64
    for (int k = 1; k < campaign(300000); k++) {
        double x = k * (PI / 2.0);
        assert_true(ulps(math_sin(x), sinl(x)) < 0.90 && ulps(math_cos(x), cosl(x)) < 0.90);
        assert_true(ulps(math_tan(x), tanl(x)) < 0.85);
    }
#endif
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void same(double x, double y)
{
    if (bits_of(x) != bits_of(y)) {
        print_error("%a is not %a\n", x, y);
    }
    assert_true(bits_of(x) == bits_of(y));
}

static void special_values_of_one_argument(void **state)
{
    (void)state;
    unary *const odd[] = {math_sin,   math_tan,  math_asin, math_atan,  math_expm1,
                          math_log1p, math_sinh, math_tanh, math_floor, math_cbrt};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        same(odd[i](0.0), 0.0);
        same(odd[i](-0.0), -0.0);
        if (i < 8) {
            same(odd[i](-0x1p-1074), -0x1p-1074); /* they begin as x does */
        }
    }
    same(math_cbrt(-0x1p-1074), -0x1p-358);
    for (size_t i = 0; i < sizeof UNARY / sizeof *UNARY; i++) {
        same(UNARY[i].f((double)NAN), (double)NAN);
        same(UNARY[i].f(-(double)NAN), (double)NAN);
    }
    unary *const nowhere[] = {math_sin, math_cos, math_tan, math_asin, math_acos};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        same(nowhere[i](INF), (double)NAN);
        same(nowhere[i](-INF), (double)NAN);
    }
    same(math_asin(1.0), PI / 2.0);
    same(math_asin(-1.0), -PI / 2.0);
    same(math_asin(1.0000000000000002), (double)NAN);
    same(math_acos(1.0), 0.0);
    same(math_acos(0.0), PI / 2.0);
    same(math_acos(-1.0), PI);
    same(math_atan(INF), PI / 2.0);
    same(math_atan(-INF), -PI / 2.0);
    same(math_atan(1.0), PI / 4.0);
    same(math_exp(0.0), 1.0);
    same(math_exp(INF), INF);
    same(math_exp(-INF), 0.0);
    same(math_exp(710.0), INF);
    same(math_exp(-746.0), 0.0);
    same(math_exp(-745.0), 0x1p-1074);
    same(math_expm1(INF), INF);
    same(math_expm1(-INF), -1.0);
    same(math_log(1.0), 0.0);
    same(math_log(0.0), -INF);
    same(math_log(-0.0), -INF);
    same(math_log(-1.0), (double)NAN);
    same(math_log(INF), INF);
    same(math_log1p(-1.0), -INF);
    same(math_log1p(-1.5), (double)NAN);
    same(math_log1p(INF), INF);
    same(math_sinh(-INF), -INF);
    same(math_cosh(-INF), INF);
    same(math_cosh(0.0), 1.0);
    same(math_tanh(INF), 1.0);
    same(math_tanh(-30.0), -1.0);
    same(math_cbrt(-27.0), -3.0);
    same(math_cbrt(-INF), -INF);
    same(math_sqrt(-0.0), -0.0);
    same(math_sqrt(-1.0), (double)NAN);
    same(math_sqrt(INF), INF);
    same(math_floor(-0.5), -1.0);
    same(math_floor(0.5), 0.0);
    same(math_floor(-INF), -INF);
}

static void special_values_of_two_arguments(void **state)
{
    (void)state;
    const double nan = (double)NAN;
    const struct {
        binary *f;
        double x, y, z;
    } row[] = {
        {math_atan2, 0, 1, 0},
        {math_atan2, -0.0, 1, -0.0},
        {math_atan2, 0, -1, PI},
        {math_atan2, -0.0, -0.0, -PI},
        {math_atan2, 0, 0, 0},
        {math_atan2, 1, 0, PI / 2},
        {math_atan2, -1, -0.0, -PI / 2},
        {math_atan2, INF, 1, PI / 2},
        {math_atan2, 1, INF, 0},
        {math_atan2, -1, -INF, -PI},
        {math_atan2, INF, INF, PI / 4},
        {math_atan2, INF, -INF, 3 * (PI / 4)},
        {math_atan2, nan, 1, nan},
        {math_atan2, 1, nan, nan},
        {math_atan2, 1e-320, 1e-320, PI / 4},
        {math_atan2, 1e300, -1e-300, PI / 2},
        {math_atan2, 1e308, 1e308, PI / 4},
        {math_hypot, 3, -4, 5},
        {math_hypot, 0, -0.0, 0},
        {math_hypot, nan, -INF, INF},
        {math_hypot, INF, nan, INF},
        {math_hypot, nan, 0, nan},
        {math_hypot, 0, nan, nan},
        {math_hypot, 0x1.8p1000, 0x1p1001, 0x1.4p1001},
        {math_hypot, 3e-320, 4e-320, 5e-320},
        {math_hypot, 1.5e308, 1.5e308, INF},
        {math_pow, 2, 10, 1024},
        {math_pow, nan, 0, 1},
        {math_pow, 1, nan, 1},
        {math_pow, nan, 1, nan},
        {math_pow, 2, nan, nan},
        {math_pow, -1, INF, 1},
        {math_pow, 2, INF, INF},
        {math_pow, 0.5, INF, 0},
        {math_pow, -2, -INF, 0},
        {math_pow, -0.5, -INF, INF},
        {math_pow, 0, -1, INF},
        {math_pow, -0.0, -1, -INF},
        {math_pow, -0.0, -2, INF},
        {math_pow, -0.0, 3, -0.0},
        {math_pow, -0.0, 0.5, 0},
        {math_pow, INF, -1, 0},
        {math_pow, -INF, 3, -INF},
        {math_pow, -INF, 2, INF},
        {math_pow, -INF, -3, -0.0},
        {math_pow, -2, 3, -8},
        {math_pow, -2, 0.5, nan},
        {math_pow, -8, -1, -0.125},
        {math_pow, 10, 308, 1e308},
        {math_pow, 10, 309, INF},
        {math_pow, 10, -400, 0},
        {math_pow, -10, 401, -INF},
        {math_pow, 2, -1074, 0x1p-1074},
        {math_pow, 0x1p-1074, -0.5, 0x1p537},
        {math_pow, 1.5, 1e300, INF},
        {math_pow, 0.9999999999999999, 1e308, 0},
        {math_pow, 7, 0.0, 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        same(row[i].f(row[i].x, row[i].y), row[i].z);
    }
}

static void integer_powers(void **state)
{
    (void)state;
    same(math_powi(3.0, 0), 1.0);
    same(math_powi(-3.0, 3), -27.0);
    same(math_powi(2.0, -3), 0.125);
    same(math_powi(-0.0, 3), -0.0);
    same(math_powi(-0.0, -3), -INF);
    same(math_powi(1.0, -2147483647 - 1), 1.0);
    same(math_powi(1.1, 5), 1.1 * ((1.1 * 1.1) * (1.1 * 1.1)));
    same(math_powi((double)NAN, 2), (double)NAN);
    dice d = dice_of(3);
    for (int trial = 0; trial < 1000; trial++) {
        double x = dice_between(&d, -2.0, 2.0);
        int n = dice_int(&d, -40, 40);
        assert_true(fabs(math_powi(x, n) / math_pow(x, n) - 1.0) <= 40 * DBL_EPSILON);
    }
}

static void identities(void **state)
{
    (void)state;
    dice d = dice_of(4);
    for (int trial = 0; trial < 20000; trial++) {
        double x = dice_between(&d, -30.0, 30.0), s, c;
        math_sincos(x, &s, &c);
        same(s, math_sin(x));
        same(c, math_cos(x));
        same(-s, math_sin(-x));
        same(c, math_cos(-x));
        assert_true(fabs(s * s + c * c - 1.0) <= 2 * DBL_EPSILON);
        assert_true(fabs(math_tan(x) * c - s) <= 2 * DBL_EPSILON);
        assert_true(fabs(math_log(math_exp(x)) - x) <= 32 * DBL_EPSILON);
        assert_true(fabs(math_log1p(math_expm1(x)) - x) <= fabs(x) * 0x1p-8 || x < -4.0);
        assert_true(fabs(math_cosh(x) + math_sinh(x) - math_exp(x)) <=
                    math_cosh(x) * 2 * DBL_EPSILON);
        assert_true(fabs(math_asin(s) - math_atan2(s, fabs(c))) <= 1e-7);
        assert_true(fabs(math_atan2(s, c) - remainder(x, 2.0 * PI)) <= 1e-14 || fabs(s) < 1e-9);
    }
}

/* ---- Equal bits ------------------------------------------------------------------------------ */

static const double HARD[] = {0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              0.5,
                              -0.5,
                              2.0,
                              INFINITY,
                              -INFINITY,
                              NAN,
                              0x1p-1074,
                              0x1p-1022,
                              1e300,
                              -1e300,
                              1e-300,
                              708.0,
                              -708.0,
                              709.7,
                              -745.0,
                              710.0,
                              22.0,
                              0.25,
                              PI,
                              PI / 2,
                              PI / 4,
                              1e6,
                              1048576.0,
                              1e22,
                              -1e10,
                              0x1p52,
                              0x1p53,
                              -0.9999999999999999,
                              3.0,
                              -3.0,
                              0.7071067811865476,
                              1.4142135623730951,
                              0.34657359,
                              0x1p500,
                              0x1p-500,
                              1.7e308};
enum { HARD_COUNT = sizeof HARD / sizeof *HARD };

static unary8 *const UNARY8[] = {math_sin8,  math_cos8,   math_tan8,  math_asin8,
                                 math_acos8, math_atan8,  math_exp8,  math_expm18,
                                 math_log8,  math_log1p8, math_sinh8, math_cosh8,
                                 math_tanh8, math_cbrt8,  math_sqrt8, math_floor8};
static binary8 *const BINARY8[] = {math_atan28, math_hypot8, math_pow8};

static double hard_or_plain(dice *d)
{
    int kind = dice_int(d, 0, 9);
    if (kind == 0) {
        return HARD[dice_int(d, 0, HARD_COUNT - 1)];
    }
    return kind == 1  ? any_double(d)
           : kind < 5 ? dice_between(d, -1.0, 1.0)
                      : dice_between(d, -20.0, 20.0);
}

static void same_lanes(const double *one, const double *eight)
{
    for (int k = 0; k < 8; k++) {
        same(one[k], eight[k]);
    }
}

static void lanes_have_the_bits_of_one(void **state)
{
    (void)state;
    dice d = dice_of(5);
    for (int trial = 0; trial < campaign(60000); trial++) {
        double x[8], y[8], one[8], two[8], eight[9], other[8];
        for (int k = 0; k < 8; k++) {
            x[k] = trial % 4 == 0 ? dice_between(&d, 0.1, 0.9) : hard_or_plain(&d);
            y[k] = trial % 4 == 0 ? dice_between(&d, 0.1, 0.9) : hard_or_plain(&d);
        }
        for (size_t i = 0; i < sizeof UNARY / sizeof *UNARY; i++) {
            for (int k = 0; k < 8; k++) {
                one[k] = UNARY[i].f(x[k]);
            }
            UNARY8[i](x, eight + 1); /* not aligned */
            same_lanes(one, eight + 1);
        }
        for (size_t i = 0; i < sizeof BINARY / sizeof *BINARY; i++) {
            for (int k = 0; k < 8; k++) {
                one[k] = BINARY[i].f(x[k], y[k]);
            }
            BINARY8[i](x, y, eight + 1);
            same_lanes(one, eight + 1);
        }
        int n = dice_int(&d, -9, 9);
        for (int k = 0; k < 8; k++) {
            math_sincos(x[k], &one[k], &two[k]);
            y[k] = math_powi(x[k], n);
        }
        math_sincos8(x, eight, other);
        same_lanes(one, eight);
        same_lanes(two, other);
        math_powi8(x, n, x); /* in place */
        same_lanes(y, x);
    }
}

/* Arguments made of integers and sums alone, so that nothing but our functions can differ. */
static void all_machines_agree(void **state)
{
    (void)state;
    dice d = dice_of(6);
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (int trial = 0; trial < 20000; trial++) {
        double x = trial < HARD_COUNT ? HARD[trial] : hard_or_plain(&d), y = hard_or_plain(&d);
        for (size_t i = 0; i < sizeof UNARY / sizeof *UNARY; i++) {
            hash = (hash ^ bits_of(UNARY[i].f(x))) * 0x100000001b3ULL;
            hash ^= hash >> 29;
        }
        for (size_t i = 0; i < sizeof BINARY / sizeof *BINARY; i++) {
            hash = (hash ^ bits_of(BINARY[i].f(x, y))) * 0x100000001b3ULL;
            hash ^= hash >> 29;
        }
        hash = (hash ^ bits_of(math_powi(x, trial % 19 - 9))) * 0x100000001b3ULL;
    }
    print_message("    hash %016llx\n", (unsigned long long)hash);
    assert_true(hash == 0xfe507b4231bad4d2ULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_one_argument),
        cmocka_unit_test(errors_of_two_arguments),
        cmocka_unit_test(angles_near_the_axes),
        cmocka_unit_test(special_values_of_one_argument),
        cmocka_unit_test(special_values_of_two_arguments),
        cmocka_unit_test(integer_powers),
        cmocka_unit_test(identities),
        cmocka_unit_test(lanes_have_the_bits_of_one),
        cmocka_unit_test(all_machines_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
