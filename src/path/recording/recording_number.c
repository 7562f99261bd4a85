/* Decimal numbers to doubles, exactly rounded and fast: files have a million of them.
 *
 * A number is m 10^e with an integer m of at most 19 digits, so m < 2^64. Three ways:
 *
 * 1. m <= 2^53 and |e| <= 22: both m and 10^|e| are doubles, and one multiplication or division
 *    rounds once.
 * 2. |e| <= 27: 5^|e| < 2^63 is an integer of 64 bits. m 5^e = m * 5^e is exact in 128 bits, and
 *    m / 5^|e| is an integer quotient of 64 bits with a remainder that says on which side of it
 *    the number lies. The power of two is a shift. That is what 17 digits need, as zwang writes.
 * 3. What is left goes to strtod, with the decimal point that it wants in this locale. */
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "path/recording/recording.h"

enum { DIGITS = 19, POWERS = 27, PLAIN = 22, LONGEST = 400, EXPONENT = 100000 };

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

/* The digits as they stand. */
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

/* strtod, with the decimal point of this locale. */
static double by_library(const char *text, int length)
{
    char digits[LONGEST + 16];
    const char *point = localeconv()->decimal_point;
    size_t width = strlen(point), used = 0;
    for (int i = 0; i < length; i++) {
        if (text[i] == '.' && width < 8) {
            memcpy(digits + used, point, width);
            used += width;
        } else {
            digits[used++] = text[i];
        }
    }
    digits[used] = 0;
    return strtod(digits, NULL);
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

int recording_number(const char *text, const char *end, double *value)
{
    decimal d = {0};
    const char *at = text;
    int minus = at < end && *at == '-', any = 0;
    at += at < end && (*at == '-' || *at == '+');
    const char *first = at;
    at = take_digits(&d, at, end, &any);
    if (at < end && *at == '.') {
        const char *point = at + 1;
        const char *last = take_digits(&d, point, end, &any);
        d.e = (int)(point - last);
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
        size = by_library(first, (int)(at - first));
    } else {
        return 0; /* 400 digits are no measurement */
    }
    *value = minus ? -size : size;
    return length;
}
