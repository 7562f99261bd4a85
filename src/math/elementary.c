/* The elementary functions for one world, and all arguments that are not ordinary.
 *
 * elementary.lane.h derives the ordinary case. Here are huge angles, results beyond the normal
 * exponents, and the special values of C17 Annex F.
 *
 * Huge angles (Payne and Hanek 1983). x = m 2^e with an integer m < 2^53. Of the bits of 2/pi those
 * that make multiples of 4 in m 2^e (2/pi) do not matter and those below 2^-170 do not either; the
 * 256 bits from the first word that matters are multiplied with m exactly. A double is never nearer
 * to a multiple of pi/2 than about 2^-62 in turns, so 128 bits of the fraction leave 66 good ones.
 */
#include "math/elementary.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/lane.h"

#define INLINE static inline __attribute__((always_inline))

INLINE unsigned long long bits_of(double x)
{
    unsigned long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double real_of(unsigned long long bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define zw_real double
#define zw_mask int
#define zw_bits unsigned long long
#define LANE(name) name##1
#define LANE_INFINITY ((double)INFINITY)
#define lane_pick lane_select1
#define lane_less(x, y) ((x) < (y))
#define lane_sqrt sqrt
#define lane_bits bits_of
#define lane_real real_of
#define lane_fill(c) (c)
#include "math/elementary.lane.h"

typedef elementary_pair1 pair;

static const double NOT_A_NUMBER = (double)NAN;

/* ---- Huge angles ----------------------------------------------------------------------------- */

static const uint32_t TWO_OVER_PI_BITS[41] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
    0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
    0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
    0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
    0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d, 0xa9e39161};

/* The upper 128 bits of the fraction of x (2/pi), highest word first; returns the integer mod 4. */
static unsigned fraction(double x, uint32_t *word)
{
    int e = (int)(bits_of(x) >> 52) - 1075, first = e > 34 ? (e - 2) / 32 : 0;
    uint64_t m = (bits_of(x) & MANTISSA) | (MANTISSA + 1), half[2] = {m & 0xffffffffU, m >> 32};

    /* product = m times the eight words from `first` on, lowest word first */
    uint32_t product[12] = {0};
    for (int i = 0; i < 2; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < 8; j++) {
            carry += half[i] * TWO_OVER_PI_BITS[first + 7 - j] + product[i + j];
            product[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        product[i + 8] = (uint32_t)carry;
    }

    /* the binary point stands this many bits above the lowest */
    int point = 32 * (first + 8) - e, w = point / 32, shift = point % 32;
    uint32_t window[6];
    for (int i = 0; i < 6; i++) {
        uint64_t two = (uint64_t)product[w + 1 - i] << 32 | (w - i >= 0 ? product[w - i] : 0);
        window[i] = (uint32_t)(two >> shift);
    }
    memcpy(word, window + 1, 4 * sizeof *word);
    return window[0] & 3U;
}

/* x = k pi/2 + r for x from 1/2 up. */
static unsigned long long reduce(double x, pair *r)
{
    uint32_t word[4];
    unsigned k = fraction(x, word);

    /* to the nearest integer: above 1/2 the fraction is minus its complement */
    int up = word[0] >> 31 != 0;
    k += up ? 1U : 0U;
    pair f = {0.0, 0.0};
    double unit = 0x1p-128;
    for (int i = 3; i >= 0; i--, unit *= 0x1p32) {
        double part = (up ? (double)(uint32_t)~word[i] : (double)word[i]) * unit;
        pair s = sum1(part, f.hi);
        f = sum1(s.hi, s.lo + f.lo);
    }
    pair p = product1(f.hi, 2.0 * PI_4_1);
    p = sum1(p.hi, p.lo + (f.hi * (2.0 * PI_4_2) + f.lo * (2.0 * PI_4_1)));
    *r = up ? (pair){-p.hi, -p.lo} : p;
    return k;
}

static void slow_sincos(double x, double *sine, double *cosine)
{
    pair r;
    if (!isfinite(x)) {
        *sine = *cosine = NOT_A_NUMBER;
        return;
    }
    unsigned long long k = reduce(fabs(x), &r);
    sincos_of1(k, r, sine, cosine);
    *sine = turn1(*sine, sign1(x));
}

static double slow_sin(double x)
{
    double sine, cosine;
    slow_sincos(x, &sine, &cosine);
    return sine;
}

static double slow_cos(double x)
{
    double sine, cosine;
    slow_sincos(x, &sine, &cosine);
    return cosine;
}

static double slow_tan(double x)
{
    pair r;
    if (!isfinite(x)) {
        return NOT_A_NUMBER;
    }
    unsigned long long k = reduce(fabs(x), &r);
    return turn1(tan_of1(k, r), sign1(x));
}

/* ---- Beyond the normal exponents ------------------------------------------------------------- */

/* 2^n exp(x + lo), in two steps when 2^k alone would leave the normal numbers. */
static double exp_wide(double x, double lo, int n)
{
    if (!(fabs(x) < 800.0)) {
        return x > 0.0 ? (double)INFINITY : x < 0.0 ? 0.0 : NOT_A_NUMBER;
    }
    unsigned long long bits;
    double y = power_of_e1(x, lo, &bits);
    int k = (int)(bits & 0xfffULL), half;
    k = (k < 2048 ? k : k - 4096) + n;
    half = k / 2;
    y *= real_of((unsigned long long)(1023 + half) << 52);
    return y * real_of((unsigned long long)(1023 + k - half) << 52);
}

static double slow_exp(double x)
{
    return exp_wide(x, 0.0, 0);
}

static double slow_expm1(double x)
{
    return x < 0.0 ? -1.0 : exp_wide(x, 0.0, 0);
}

static double slow_sinh(double x)
{
    return isnan(x) ? NOT_A_NUMBER : turn1(exp_wide(fabs(x), 0.0, -1), sign1(x));
}

static double slow_cosh(double x)
{
    return exp_wide(fabs(x), 0.0, -1);
}

static double slow_log(double x)
{
    if (x > 0.0 && x < 0x1p-1022) {
        double k, m = mantissa1(x * 0x1p54, &k);
        return log_sum1(k - 54.0, m - 1.0, 0.0);
    }
    return x == 0.0 ? -(double)INFINITY : x > 0.0 ? x : NOT_A_NUMBER;
}

static double slow_log1p(double x)
{
    return x == -1.0 ? -(double)INFINITY : x > 0.0 ? x : NOT_A_NUMBER;
}

static double slow_cbrt(double x)
{
    if (x == 0.0 || isinf(x)) {
        return x;
    }
    unsigned long long rare;
    return isnan(x) ? NOT_A_NUMBER : fast_cbrt1(x * 0x1p54, &rare) * 0x1p-18;
}

static double slow_hypot(double x, double y)
{
    if (isinf(x) || isinf(y)) {
        return (double)INFINITY;
    }
    unsigned long long rare;
    double large = fabs(x) > fabs(y) ? fabs(x) : fabs(y), scale = large > 1.0 ? 0x1p-600 : 0x1p600;
    if (isnan(x) || isnan(y)) {
        return NOT_A_NUMBER;
    }
    if (large == 0.0) {
        return 0.0;
    }
    return fast_hypot1(x * scale, y * scale, &rare) / scale;
}

/* ---- Special values -------------------------------------------------------------------------- */

static double slow_asin(double x)
{
    (void)x;
    return NOT_A_NUMBER;
}

static double slow_acos(double x)
{
    (void)x;
    return NOT_A_NUMBER;
}

static double slow_tanh(double x)
{
    (void)x;
    return NOT_A_NUMBER;
}

static double slow_floor(double x)
{
    (void)x;
    return NOT_A_NUMBER;
}

static double slow_sqrt(double x)
{
    return x == 0.0 ? x : NOT_A_NUMBER;
}

static double slow_atan(double x)
{
    return isnan(x) ? NOT_A_NUMBER : turn1(2.0 * PI_4_1, sign1(x));
}

static double slow_atan2(double y, double x)
{
    if (isnan(x) || isnan(y)) {
        return NOT_A_NUMBER;
    }
    double v = fabs(y), h = fabs(x), angle;
    int left = signbit(x) != 0;
    unsigned long long rare;
    if (isinf(v) && isinf(h)) {
        angle = left ? 3.0 * PI_4_1 : PI_4_1;
    } else {
        double scale = v > 1.0 || h > 1.0 ? (v > 0x1p400 || h > 0x1p400 ? 0x1p-600 : 1.0) : 0x1p600;
        double V = v * scale, H = h * scale;
        if (V * 0x1p-100 > H || H == 0.0) {
            angle = v == 0.0 ? (left ? 4.0 * PI_4_1 : 0.0) : 2.0 * PI_4_1;
        } else if (H * 0x1p-100 > V || V == 0.0) {
            angle = left ? 4.0 * PI_4_1 : v / h;
        } else {
            angle = fast_atan21(V, left ? -H : H, &rare);
        }
    }
    return turn1(angle, sign1(y));
}

/* 0: y is not an integer; 1: odd; 2: even. */
static int parity(double y)
{
    double size = fabs(y), half = 0.5 * size;
    if (size >= 0x1p53) {
        return 2;
    }
    unsigned long long rare;
    return fast_floor1(size, &rare) != size ? 0 : fast_floor1(half, &rare) != half ? 1 : 2;
}

static double slow_pow(double x, double y)
{
    double size = fabs(x);
    if (y == 0.0 || x == 1.0) {
        return 1.0;
    }
    if (isnan(x) || isnan(y)) {
        return NOT_A_NUMBER;
    }
    if (isinf(y)) {
        return size == 1.0 ? 1.0 : (size > 1.0) == (y > 0.0) ? y * y : 0.0;
    }
    int kind = parity(y);
    unsigned long long turn = kind == 1 ? sign1(x) : 0;
    if (size == 0.0 || isinf(size)) {
        return turn1((size == 0.0) == (y > 0.0) ? 0.0 : (double)INFINITY, turn);
    }
    if (x < 0.0 && kind == 0) {
        return NOT_A_NUMBER;
    }

    double k, m = mantissa1(size < 0x1p-1022 ? size * 0x1p54 : size, &k);
    pair log_x = log_pair1(size < 0x1p-1022 ? k - 54.0 : k, m);
    if (fabs(log_x.hi) * 0x1p-1000 * fabs(y) > 800.0 * 0x1p-1000) {
        return turn1((log_x.hi > 0.0) == (y > 0.0) ? (double)INFINITY : 0.0, turn);
    }
    pair p = exponent1(log_x, y);
    return turn1(exp_wide(p.hi, p.lo, 0), turn);
}

/* ---- One world ------------------------------------------------------------------------------- */

#define UNARY(name)                                                                                \
    double math_##name(double x)                                                                   \
    {                                                                                              \
        unsigned long long rare;                                                                   \
        double y = fast_##name##1(x, &rare);                                                       \
        return __builtin_expect((long long)rare < 0, 0) ? slow_##name(x) : y;                      \
    }

#define BINARY(name)                                                                               \
    double math_##name(double x, double y)                                                         \
    {                                                                                              \
        unsigned long long rare;                                                                   \
        double z = fast_##name##1(x, y, &rare);                                                    \
        return __builtin_expect((long long)rare < 0, 0) ? slow_##name(x, y) : z;                   \
    }

ELEMENTARY_FUNCTIONS(UNARY, BINARY)

void math_sincos(double x, double *sine, double *cosine)
{
    unsigned long long rare;
    fast_sincos1(x, sine, cosine, &rare);
    if (__builtin_expect((long long)rare < 0, 0)) {
        slow_sincos(x, sine, cosine);
    }
}

double math_powi(double x, int n)
{
    unsigned long long rare;
    double y = fast_powi1(x, n, &rare);
    return (long long)rare < 0 ? NOT_A_NUMBER : y;
}
