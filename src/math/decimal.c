/* Decimal numbers to doubles, correctly rounded, fast, and the same in every locale: files have a
 * million of them.
 *
 * A number is m 10^e; where the integer m has at most 19 digits it is below 2^64. Three ways:
 *
 * 1. m <= 2^53 and |e| <= 22: both m and 10^|e| are doubles, and one multiplication or division
 *    rounds once.
 * 2. |e| <= 27: 5^|e| < 2^63 is an integer of 64 bits. m 5^e = m * 5^e is exact in 128 bits, and
 *    m / 5^|e| is an integer quotient of 64 bits with a remainder that says on which side of it
 *    the number lies. The power of two is a shift. That is what 17 digits need, as zwang writes.
 * 3. What is left is a list of decimal digits, halved and doubled exactly until the number is
 *    f 2^k with 1/2 <= f < 1. Then f 2^53, or less of it below the normal numbers, is rounded to
 *    an integer by its digits. Of at most 400 digits halving makes at most 1100 more. */
#include "math/decimal.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { DIGITS = 19, POWERS = 27, PLAIN = 22, EXPONENT = 100000 };
enum { LONGEST = MATH_DECIMAL_LONGEST, CAPACITY = LONGEST + 1200, MOST_BITS = 27 };

__extension__ typedef unsigned __int128 wide; /* C17 has none; gcc and clang do */

static const uint64_t five[POWERS + 1] = {1,
                                          5,
                                          25,
                                          125,
                                          625,
                                          3125,
                                          15625,
                                          78125,
                                          390625,
                                          1953125,
                                          9765625,
                                          48828125,
                                          244140625,
                                          1220703125,
                                          6103515625,
                                          30517578125,
                                          152587890625,
                                          762939453125,
                                          3814697265625,
                                          19073486328125,
                                          95367431640625,
                                          476837158203125,
                                          2384185791015625,
                                          11920928955078125,
                                          59604644775390625,
                                          298023223876953125,
                                          1490116119384765625,
                                          7450580596923828125};

static const double ten[PLAIN + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The digits as written. */
typedef struct decimal {
    uint64_t m;
    int e;
    int digits; /* of m, without leading zeros */
} decimal;

static int leading_zeros(uint64_t x)
{
    return __builtin_clzll(x);
}

/* x 2^shift + something below 1 ulp of x if `more`, rounded; x has 64 significant bits, and the
 * result is a normal number. */
static double round_off(uint64_t x, int more, int shift)
{
    uint64_t kept = x >> 11, rest = x & 0x7ff, half = 0x400;
    if (rest > half || (rest == half && (more || (kept & 1)))) {
        kept++; /* 2^53 at most, which is a double as well */
    }
    return ldexp((double)kept, shift + 11);
}

static double exactly(uint64_t m, int e)
{
    if (e >= 0) {
        wide product = (wide)m * five[e];
        uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
        if (high == 0) {
            int zeros = leading_zeros(low);
            return round_off(low << zeros, 0, e - zeros);
        }
        int zeros = leading_zeros(high);
        uint64_t top = zeros == 0 ? high : high << zeros | low >> (64 - zeros);
        return round_off(top, (low << zeros) != 0, e + 64 - zeros);
    }
    /* Both with their highest bit at the top, m below the divisor, so that m 2^64 / d has 64 bits
     * and its highest is set. */
    uint64_t d = five[-e];
    int zeros_m = leading_zeros(m), zeros_d = leading_zeros(d);
    wide up = (wide)(m << zeros_m) << 63;
    d <<= zeros_d;
    int twice = (m << zeros_m) < d;
    up <<= twice;
    uint64_t quotient = (uint64_t)(up / d);
    return round_off(quotient, (wide)quotient * d != up, e - 63 - twice - zeros_m + zeros_d);
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits into d; leading zeros do not count. With more than 19 m is worthless, and not used. */
static const char *take_digits(decimal *d, const char *at, const char *end, int *any)
{
    uint64_t m = d->m;
    const char *from = at;
    while (d->digits == 0 && at < end && *at == '0') {
        at++;
    }
    const char *first = at;
    while (at < end && is_digit(*at)) {
        m = 10 * m + (uint64_t)(*at++ - '0');
    }
    *any |= at > from;
    d->m = m;
    d->digits += (int)(at - first);
    return at;
}

static const char *take_exponent(decimal *d, const char *at, const char *end)
{
    const char *from = at + 1;
    int minus = from < end && *from == '-', e = 0;
    from += from < end && (*from == '-' || *from == '+');
    if (from == end || !is_digit(*from)) {
        return at; /* it is none */
    }
    for (; from < end && is_digit(*from); from++) {
        e = e < EXPONENT ? 10 * e + (*from - '0') : e;
    }
    d->e += minus ? -e : e;
    return from;
}

/* ---- Digits, halved and doubled -------------------------------------------------------------- */

/* 0.d d d ... 10^point, the first digit not 0. */
typedef struct digits {
    int count, point;
    unsigned char digit[CAPACITY];
} digits;

static void strip(digits *x)
{
    int zeros = 0;
    while (zeros < x->count && x->digit[zeros] == 0) {
        zeros++;
    }
    memmove(x->digit, x->digit + zeros, (size_t)(x->count - zeros));
    x->count -= zeros;
    x->point -= zeros;
    while (x->count > 0 && x->digit[x->count - 1] == 0) {
        x->count--;
    }
}

/* x *= 2^bits, from the last digit on. 2^53 has 16 digits. */
static void multiply(digits *x, int bits)
{
    enum { MORE = 17 };
    uint64_t carry = 0;
    for (int i = x->count + MORE; i-- > 0;) {
        carry += i < MORE ? 0 : (uint64_t)x->digit[i - MORE] << bits;
        x->digit[i] = (unsigned char)(carry % 10);
        carry /= 10;
    }
    x->count += MORE;
    x->point += MORE;
    strip(x);
}

/* x /= 2^bits, from the first digit on, until nothing is left. */
static void divide(digits *x, int bits)
{
    uint64_t rest = 0, below = ((uint64_t)1 << bits) - 1;
    int used = 0;
    for (int i = 0; i < x->count || rest > 0; i++) {
        rest = 10 * rest + (i < x->count ? x->digit[i] : 0);
        x->digit[used++] = (unsigned char)(rest >> bits);
        rest &= below;
    }
    x->count = used;
    strip(x);
}

/* The nearest integer; of two the even one. */
static uint64_t nearest(const digits *x)
{
    uint64_t whole = 0;
    for (int i = 0; i < x->point; i++) {
        whole = 10 * whole + (i < x->count ? x->digit[i] : 0);
    }
    if (x->point < 0 || x->point >= x->count) {
        return whole;
    }
    int first = x->digit[x->point], more = x->point + 1 < x->count;
    return whole + (first > 5 || (first == 5 && (more || (whole & 1))));
}

/* How many bits may be taken so that a number of so many digits before the point stays above a
 * half, or one of so many zeros after it below 1. */
static int bits_for(int places)
{
    static const int bits[] = {1, 3, 6, 9, 13, 16, 19, 23, 26};
    return places < 9 ? bits[places] : MOST_BITS;
}

static double by_digits(digits *x)
{
    enum { LEAST = -1021, GREATEST = 1024, SIGNIFICANT = 53 };
    int power = 0, bits = SIGNIFICANT;
    if (x->point > 310 || x->point < -330) {
        return x->point > 0 ? (double)INFINITY : 0;
    }
    while (x->point > 0) {
        int n = bits_for(x->point);
        divide(x, n);
        power += n;
    }
    while (x->point < 0 || x->digit[0] < 5) {
        int n = bits_for(-x->point);
        multiply(x, n);
        power -= n;
    }
    if (power < LEAST) { /* gradual underflow */
        bits -= LEAST - power;
    }
    if (bits < 0) {
        return 0;
    }
    if (bits > 0) {
        multiply(x, bits);
    }
    double size = ldexp((double)nearest(x), power - bits);
    return power > GREATEST ? (double)INFINITY : size;
}

/* The digits of a number that has some besides zeros. */
static double by_list(const char *at, const char *end, int exponent)
{
    digits x = {0};
    int passed = 0;
    for (; at < end && (is_digit(*at) || *at == '.'); at++) {
        passed |= *at == '.';
        if (*at != '.') {
            x.digit[x.count++] = (unsigned char)(*at - '0');
            x.point += !passed;
        }
    }
    strip(&x);
    x.point += exponent;
    return by_digits(&x);
}

/* nan, inf and infinity in any case. */
static int word(const char *at, const char *end, int minus, double *value)
{
    static const char *const words[] = {"infinity", "inf", "nan"};
    for (int k = 0; k < 3; k++) {
        const char *c = at, *w = words[k];
        while (*w != 0 && c < end && (*c | 32) == *w) {
            c++;
            w++;
        }
        if (*w == 0) {
            *value = k == 2 ? (double)NAN : minus ? -(double)INFINITY : (double)INFINITY;
            return (int)(c - at);
        }
    }
    return 0;
}

int math_decimal(const char *text, const char *end, double *value)
{
    decimal d = {0};
    int behind = 0; /* digits after the point */
    const char *at = text;
    int minus = at < end && *at == '-', any = 0;
    at += at < end && (*at == '-' || *at == '+');
    const char *first = at;
    at = take_digits(&d, at, end, &any);
    if (at < end && *at == '.') {
        const char *point = at + 1;
        const char *last = take_digits(&d, point, end, &any);
        behind = (int)(last - point);
        d.e = -behind;
        at = any ? last : at;
    }
    if (!any) {
        int length = word(first, end, minus, value);
        return length > 0 ? (int)(first - text) + length : 0;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at = take_exponent(&d, at, end);
    }
    int length = (int)(at - text);
    if (d.digits == 0) {
        *value = minus ? -0.0 : 0.0;
        return length;
    }
    double size;
    if (d.digits <= DIGITS && d.m <= (uint64_t)1 << 53 && d.e >= -PLAIN && d.e <= PLAIN) {
        size = d.e < 0 ? (double)d.m / ten[-d.e] : (double)d.m * ten[d.e];
    } else if (d.digits <= DIGITS && d.e >= -POWERS && d.e <= POWERS) {
        size = exactly(d.m, d.e);
    } else if (length <= LONGEST) {
        size = by_list(first, at, d.e + behind);
    } else {
        return 0;
    }
    *value = minus ? -size : size;
    return length;
}
