/* Elementary functions over lanes: the ordinary arguments, without a branch.
 *
 * Included with zw_real = double by elementary.c and with eight lanes by elementary8.c. Only sums,
 * products, quotients, square roots, comparisons and operations on the bits of a double occur; each
 * is exact or rounded once by IEEE 754, and their order is that of this text, so the result has the
 * same bits everywhere. A function `fast_f` sets the top bit of `rare` where its answer does not
 * hold (huge, infinite, not a number, out of the domain or of the normal exponents); there
 * elementary.c knows better, and lanes ask it one by one.
 *
 * A pair (hi, lo) is the number hi + lo. Each function becomes a sum hi + lo whose hi is exact and
 * whose lo is a fraction q of it. A few roundings in lo, each at most half an ulp of lo, then cost
 * about q ulp beside the half ulp of the last addition; q is at most 0.1 or so, and where it was
 * more, the largest term of lo was made exact too. tools/elementary-coefficients makes the
 * polynomials, all nearer than 2^-56 to their functions. The worst errors seen in millions of
 * arguments are below 0.85 ulp, and the test says which function has which.
 *
 * Circle. k = round(2 x / pi), r = x - k pi/2. pi/2 = P1 + P2 with P1 of 33 bits, so that k P1 is
 * exact for k < 2^20 and so is x - k P1 (the two are within a factor of two). What the rounding of
 * P2 and k P2 costs is below 2^-85 |x|: an ulp of r has none of it unless |r| < 2^-28 |x|, which
 * is rare, and which also makes P2 k < |r| so that d = r's rest comes out exactly.
 *     sin(r + d) = r + (r z S(z) + d - r (2 r d) / 6),  z = r^2,  S = (sin r / r - 1) / z
 *     cos(r + d) = 1 - z/2 + (z^2 C(z) - (2 r d) / 2),            C = (cos r - 1 + z/2) / z^2
 * with |r| <= pi/4. The tangent is a quotient of pairs.
 *
 * Exponential and hyperbola. k = round(x / ln 2), r = x - k ln 2, ln 2 = L1 + L2, L1 of 42 bits.
 *     sinh r = r + s,  s = r z S(z);   cosh r = 1 + c,  c = z/2 + z^2 C(z);   |r| <= 0.347
 *     exp x  = 2^k (1 + r + (c + s))
 *     sinh x = (U - V) (1 + c) + (U + V) (r + s),   U = 2^k / 2,  V = 2^-k / 2
 *     cosh x = (U + V) (1 + c) + (U - V) (r + s)
 * where U r and V r are exact. Nothing cancels: for k = 0 sinh is r + s, and for k > 0 the first
 * term is larger than the second.
 *
 * Logarithm. x = 2^k m, m in [sqrt(1/2), sqrt 2), f = m - 1 (exact), s = f / (2 + f), z = s^2.
 *     log m = 2 atanh s = 2 s + s R(z) = f - f^2/2 + s (f^2/2 + R(z))
 * by 2 s = f - s f and s f = f^2/2 - s f^2/2; f^2/2 is a pair. For powers all is in pairs:
 *     log m = log c + 2 s + (2/3) s^3 + s^5 T(z),   s = (m - c) / (m + c),   c = 3/4, 1 or 21/16
 * with |s| < 0.0754, so that the last term is below 2^-17 of the one before and needs 53 bits only.
 * Then log x is right to 2^-67 and y log x, below 709, to 2^-57: a sixteenth of an ulp at the ends.
 *
 * Arcs. asin x = x + x z A(z) up to 1/2, and pi/2 - 2 asin sqrt((1 - x)/2) beyond, the root a pair.
 * For atan(y / x) the point is turned back by 0, pi/4 or pi/2 to a ratio |t| <= sqrt 2 - 1,
 *     t = y / x,   (y - x) / (y + x)   or   -x / y,   a pair;   atan t = t + t z T(z).
 *
 * Cube root. A polynomial gives 16 bits and Halley's step makes 48 of them. The upper half h of
 * these has an exact cube; h + (m - h^3) / (3 h^2 + 3 h d + d^2), d the lower half, is the root. */

#include "math/elementary.table.h"

/* x + ROUND - ROUND is x to the nearest integer, and the low bits of x + ROUND are that integer. */
#define ROUND 0x1.8p52
#define SIGN 0x8000000000000000ULL
#define SQRT_HALF 0x3fe6a09e667f3bcdULL
#define ONE 0x3ff0000000000000ULL
#define MANTISSA 0x000fffffffffffffULL

#define pair LANE(elementary_pair)
typedef struct {
    zw_real hi, lo;
} pair;

/* ---- Bits and pairs -------------------------------------------------------------------------- */

INLINE zw_real LANE(magnitude)(zw_real x)
{
    return lane_real(lane_bits(x) & ~SIGN);
}

INLINE zw_bits LANE(sign)(zw_real x)
{
    return lane_bits(x) & SIGN;
}

/* x with its sign turned by these bits. */
INLINE zw_real LANE(turn)(zw_real x, zw_bits sign)
{
    return lane_real(lane_bits(x) ^ sign);
}

/* Top bit set where |x| > limit or x is not a number: as integers, doubles keep their order. */
INLINE zw_bits LANE(above)(zw_real x, double limit)
{
    return lane_bits(lane_fill(limit)) - (lane_bits(x) & ~SIGN);
}

INLINE zw_bits LANE(below)(zw_real x, double limit)
{
    return (lane_bits(x) & ~SIGN) - lane_bits(lane_fill(limit));
}

/* Top bit set unless x is positive, normal and finite. */
INLINE zw_bits LANE(abnormal)(zw_real x)
{
    return lane_bits(x) | LANE(below)(x, 0x1p-1022) | LANE(above)(x, 0x1.fffffffffffffp1023);
}

/* odd ? x : y, by the lowest bit. */
INLINE zw_real LANE(choose)(zw_bits odd, zw_real x, zw_real y)
{
    zw_bits mask = -(odd & 1ULL);
    return lane_real((lane_bits(x) & mask) | (lane_bits(y) & ~mask));
}

/* x + y, exact for |x| >= |y| or x = 0. */
INLINE pair LANE(sum)(zw_real x, zw_real y)
{
    zw_real s = x + y;
    return (pair){s, y - (s - x)};
}

/* The upper 26 bits. */
INLINE zw_real LANE(head)(zw_real x)
{
    return lane_real(lane_bits(x) & 0xfffffffff8000000ULL);
}

/* x y, to 2^-105. */
INLINE pair LANE(product)(zw_real x, zw_real y)
{
    zw_real xh = LANE(head)(x), xl = x - xh, yh = LANE(head)(y), yl = y - yh, p = x * y;
    return (pair){p, ((xh * yh - p) + (xh * yl + xl * yh)) + xl * yl};
}

/* x^2 - z for z = x * x, to 2^-105. */
INLINE zw_real LANE(square_rest)(zw_real x, zw_real z)
{
    zw_real h = LANE(head)(x);
    return (h * h - z) + (x - h) * (h + x);
}

/* n / d for numbers whose reciprocals are ordinary: t = n (1/d), and what t d misses of n. */
INLINE pair LANE(quotient)(pair n, pair d)
{
    zw_real inverse = 1.0 / d.hi, t = n.hi * inverse;
    pair p = LANE(product)(t, d.hi);
    return (pair){t, (((n.hi - p.hi) - p.lo) + (n.lo - t * d.lo)) * inverse};
}

/* sqrt(x) - root for root near sqrt(x), both from 2^-500 up or zero. */
INLINE zw_real LANE(root_rest)(zw_real x, zw_real x_lo, zw_real root)
{
    pair p = LANE(product)(root, root);
    return (((x - p.hi) - p.lo) + x_lo) / (2.0 * root + 0x1p-1000);
}

/* ---- Polynomials, in the order of Estrin: short chains --------------------------------------- */

INLINE zw_real LANE(poly4)(const double *c, zw_real z, zw_real z2)
{
    return c[0] + (z * c[1] + z2 * (c[2] + z * c[3]));
}

INLINE zw_real LANE(poly5)(const double *c, zw_real z, zw_real z2)
{
    return c[0] + (z * c[1] + z2 * ((c[2] + z * c[3]) + z2 * c[4]));
}

INLINE zw_real LANE(poly6)(const double *c, zw_real z, zw_real z2)
{
    return c[0] + (z * c[1] + z2 * ((c[2] + z * c[3]) + z2 * (c[4] + z * c[5])));
}

INLINE zw_real LANE(poly7)(const double *c, zw_real z, zw_real z2)
{
    zw_real upper = (c[4] + z * c[5]) + z2 * c[6];
    return c[0] + (z * c[1] + z2 * ((c[2] + z * c[3]) + z2 * upper));
}

INLINE zw_real LANE(poly8)(const double *c, zw_real z, zw_real z2)
{
    zw_real upper = LANE(poly4)(c + 4, z, z2);
    return c[0] + (z * c[1] + z2 * ((c[2] + z * c[3]) + z2 * upper));
}

INLINE zw_real LANE(poly12)(const double *c, zw_real z, zw_real z2)
{
    zw_real upper = LANE(poly4)(c + 4, z, z2) + (z2 * z2) * LANE(poly4)(c + 8, z, z2);
    return c[0] + (z * c[1] + z2 * ((c[2] + z * c[3]) + z2 * upper));
}

INLINE zw_real LANE(poly14)(const double *c, zw_real z, zw_real z2)
{
    zw_real upper = LANE(poly4)(c + 4, z, z2) + (z2 * z2) * LANE(poly6)(c + 8, z, z2);
    return c[0] + (z * c[1] + z2 * ((c[2] + z * c[3]) + z2 * upper));
}

/* ---- Circle ---------------------------------------------------------------------------------- */

/* |x| = k pi/2 + r.hi + r.lo; the low bits of the result are k. */
INLINE zw_bits LANE(quarter)(zw_real x, pair *r, zw_bits *rare)
{
    zw_real shifted = x * TWO_OVER_PI + ROUND, k = shifted - ROUND;
    zw_real a = x - k * HALF_PI_1, b = k * HALF_PI_2;
    r->hi = a - b;
    r->lo = (a - r->hi) - b;
    *rare = lane_bits(LANE(magnitude)(r->hi) - x * 0x1p-28) | LANE(above)(x, 0x1p20);
    return lane_bits(shifted);
}

/* cos(r + d), with z_lo = (r + d)^2 - z. */
INLINE pair LANE(cosine)(zw_real z, zw_real z2, zw_real z_lo)
{
    pair c = LANE(sum)(lane_fill(1.0), -0.5 * z);
    c.lo += z2 * LANE(poly6)(COS, z, z2) - 0.5 * z_lo;
    return c;
}

/* Sine and cosine of k pi/2 + r, for fast and slow reductions alike. */
INLINE void LANE(sincos_of)(zw_bits k, pair r, zw_real *sine, zw_real *cosine)
{
    zw_real z = r.hi * r.hi, z2 = z * z, z_lo = 2.0 * r.hi * r.lo;
    zw_real cubic = (r.hi * z) * LANE(poly7)(SIN, z, z2);
    pair c = LANE(cosine)(z, z2, z_lo);
    zw_real y = r.hi + (cubic + (r.lo - (r.hi * z_lo) * (1.0 / 6.0))), x = c.hi + c.lo;
    *sine = LANE(turn)(LANE(choose)(k, x, y), (k & 2ULL) << 62);
    *cosine = LANE(turn)(LANE(choose)(k, y, x), ((k + 1ULL) & 2ULL) << 62);
}

/* Here sine and cosine are better, since their errors meet: r - r^3/6 is a pair, and z too. */
INLINE zw_real LANE(tan_of)(zw_bits k, pair r)
{
    zw_real z = r.hi * r.hi, z2 = z * z, cube = r.hi * z;
    zw_real z_lo = LANE(square_rest)(r.hi, z) + 2.0 * r.hi * r.lo;
    pair c = LANE(cosine)(z, z2, z_lo), s = LANE(sum)(r.hi, cube * SIN[0]);
    s.lo += cube * (z * LANE(poly6)(SIN + 1, z, z2)) + (r.lo - (r.hi * z_lo) * (1.0 / 6.0));
    s = LANE(sum)(s.hi, s.lo);
    c = LANE(sum)(c.hi, c.lo);
    pair n = {LANE(choose)(k, -c.hi, s.hi), LANE(choose)(k, -c.lo, s.lo)};
    pair d = {LANE(choose)(k, s.hi, c.hi), LANE(choose)(k, s.lo, c.lo)};
    pair t = LANE(quotient)(n, d);
    return t.hi + t.lo;
}

INLINE void LANE(fast_sincos)(zw_real x, zw_real *sine, zw_real *cosine, zw_bits *rare)
{
    pair r;
    zw_bits k = LANE(quarter)(LANE(magnitude)(x), &r, rare);
    LANE(sincos_of)(k, r, sine, cosine);
    *sine = LANE(turn)(*sine, LANE(sign)(x));
}

INLINE zw_real LANE(fast_sin)(zw_real x, zw_bits *rare)
{
    zw_real sine, cosine;
    LANE(fast_sincos)(x, &sine, &cosine, rare);
    return sine;
}

INLINE zw_real LANE(fast_cos)(zw_real x, zw_bits *rare)
{
    zw_real sine, cosine;
    LANE(fast_sincos)(x, &sine, &cosine, rare);
    return cosine;
}

INLINE zw_real LANE(fast_tan)(zw_real x, zw_bits *rare)
{
    pair r;
    zw_bits k = LANE(quarter)(LANE(magnitude)(x), &r, rare);
    return LANE(turn)(LANE(tan_of)(k, r), LANE(sign)(x));
}

/* ---- Exponential and hyperbola --------------------------------------------------------------- */

/* x = k ln 2 + r for |x| < 2000, z = r^2 and with the letters of the head quartic = c - z/2 and
 * odd = s. The low bits of the result are k. */
typedef struct {
    pair r;
    zw_real z, quartic, odd;
} LANE(octave);

INLINE zw_bits LANE(fold)(zw_real x, LANE(octave) * o)
{
    zw_real shifted = x * LOG2_E + ROUND, k = shifted - ROUND;
    zw_real a = x - k * LN2_1, b = k * LN2_2, r = a - b, z = r * r, z2 = z * z;
    o->r = (pair){r, (a - r) - b};
    o->z = z;
    o->quartic = z2 * LANE(poly5)(COSH, z, z2);
    o->odd = r * (z * LANE(poly5)(SINH, z, z2));
    return lane_bits(shifted);
}

/* exp(x + lo) / 2^k for small lo, and k. */
INLINE zw_real LANE(power_of_e)(zw_real x, zw_real lo, zw_bits *k)
{
    LANE(octave) o;
    *k = LANE(fold)(x, &o);
    pair w = LANE(sum)(lane_fill(1.0), o.r.hi);
    zw_real rest = 0.5 * o.z + (o.quartic + o.odd);
    return w.hi + (w.lo + ((lo + o.r.lo) * (w.hi + rest) + rest));
}

INLINE zw_real LANE(fast_exp)(zw_real x, zw_bits *rare)
{
    zw_bits k;
    zw_real y = LANE(power_of_e)(x, lane_fill(0.0), &k);
    *rare = LANE(above)(x, 708.0);
    return lane_real(lane_bits(y) + (k << 52));
}

/* 2^k - 1 + 2^k (r + z/2 + ...), the sum of the three kept whole. */
INLINE zw_real LANE(fast_expm1)(zw_real x, zw_bits *rare)
{
    LANE(octave) o;
    zw_bits k = LANE(fold)(x, &o);
    zw_real r = o.r.hi, U = lane_real((k << 52) + ONE), t = U - 1.0, t_lo = (U - t) - 1.0;
    pair v = LANE(sum)(t, U * r), w = LANE(sum)(v.hi, 0.5 * U * o.z);
    zw_real rest = (o.r.lo + o.r.lo * r) + 0.5 * LANE(square_rest)(r, o.z);
    zw_real y = w.hi + (((v.lo + w.lo) + t_lo) + U * (rest + (o.quartic + o.odd)));
    *rare = LANE(above)(x, 708.0);
    return lane_real(lane_bits(LANE(magnitude)(y)) | LANE(sign)(x));
}

/* sinh and cosh of x in [0, 708]. */
INLINE void LANE(hyperbola)(zw_real x, pair *sine, pair *cosine)
{
    LANE(octave) o;
    zw_bits k = LANE(fold)(x, &o) << 52;
    zw_real r = o.r.hi, r_lo = o.r.lo, even = 0.5 * o.z + o.quartic, odd = o.odd;
    zw_real U = lane_real(ONE + k) * 0.5, V = lane_real(ONE - k) * 0.5;
    zw_real A = U - V, A_lo = (U - A) - V, B = U + V, B_lo = V - (B - U);
    pair s = LANE(sum)(A, U * r), s2 = LANE(sum)(s.hi, V * r);
    pair c = LANE(sum)(B, U * r), c2 = LANE(sum)(c.hi, -V * r);
    zw_real tail_s = (B + A * r) * r_lo + (A * even + B * odd);
    zw_real tail_c = (A + B * r) * r_lo + (B * even + A * odd);
    *sine = (pair){s2.hi, ((A_lo + s.lo) + s2.lo) + tail_s};
    *cosine = (pair){c2.hi, ((B_lo + c.lo) + c2.lo) + tail_c};
}

INLINE zw_real LANE(fast_sinh)(zw_real x, zw_bits *rare)
{
    zw_real size = LANE(magnitude)(x);
    pair s, c;
    LANE(hyperbola)(size, &s, &c);
    *rare = LANE(above)(x, 708.0);
    return LANE(turn)(lane_pick(lane_less(size, lane_fill(0x1p-30)), size, s.hi + s.lo),
                      LANE(sign)(x));
}

INLINE zw_real LANE(fast_cosh)(zw_real x, zw_bits *rare)
{
    zw_real size = LANE(magnitude)(x);
    pair s, c;
    LANE(hyperbola)(size, &s, &c);
    *rare = LANE(above)(x, 708.0);
    return c.hi + c.lo;
}

INLINE zw_real LANE(fast_tanh)(zw_real x, zw_bits *rare)
{
    zw_real size = LANE(magnitude)(x);
    pair s, c;
    *rare = LANE(above)(x, LANE_INFINITY);
    LANE(hyperbola)(lane_pick(lane_less(lane_fill(22.0), size), lane_fill(22.0), size), &s, &c);
    pair t = LANE(quotient)(LANE(sum)(s.hi, s.lo), LANE(sum)(c.hi, c.lo));
    return LANE(turn)(lane_pick(lane_less(size, lane_fill(0x1p-30)), size, t.hi + t.lo),
                      LANE(sign)(x));
}

/* ---- Logarithm ------------------------------------------------------------------------------- */

/* m in [sqrt(1/2), sqrt 2) and k with x = 2^k m, for normal x > 0. */
INLINE zw_real LANE(mantissa)(zw_real x, zw_real *k)
{
    zw_bits t = lane_bits(x) + (ONE - SQRT_HALF);
    *k = lane_real((t >> 52) | 0x4330000000000000ULL) - (0x1p52 + 1023.0);
    return lane_real((t & MANTISSA) + SQRT_HALF);
}

/* log(2^k (1 + f)) + lo */
INLINE zw_real LANE(log_sum)(zw_real k, zw_real f, zw_real lo)
{
    zw_real s = f / (2.0 + f), z = s * s, f2 = f * f, half = 0.5 * f2;
    zw_real R = z * LANE(poly8)(LOG, z, z * z);
    pair v = LANE(sum)(k * LN2_1, f), w = LANE(sum)(v.hi, -half);
    lo += k * LN2_2 - 0.5 * LANE(square_rest)(f, f2);
    return w.hi + ((v.lo + w.lo) + (s * (half + R) + lo));
}

INLINE zw_real LANE(fast_log)(zw_real x, zw_bits *rare)
{
    zw_real k, m = LANE(mantissa)(x, &k);
    *rare = LANE(abnormal)(x);
    return LANE(log_sum)(k, m - 1.0, lane_fill(0.0));
}

INLINE zw_real LANE(fast_log1p)(zw_real x, zw_bits *rare)
{
    zw_real w = 1.0 + x, part = w - 1.0, lo = (1.0 - (w - part)) + (x - part); /* 1 + x = w + lo */
    zw_real k, m = LANE(mantissa)(w, &k), y = LANE(log_sum)(k, m - 1.0, lo / w);
    *rare = LANE(abnormal)(w);
    return lane_real(lane_bits(LANE(magnitude)(y)) | LANE(sign)(x));
}

/* log(2^k m) as a pair, to 2^-67. */
INLINE pair LANE(log_pair)(zw_real k, zw_real m)
{
    zw_mask low = lane_less(m, lane_fill(0.86)), high = lane_less(lane_fill(1.145), m);
    zw_real zero = lane_fill(0.0);
    zw_real c = lane_pick(high, lane_fill(1.3125), lane_pick(low, lane_fill(0.75), lane_fill(1.0)));
    zw_real c1 = lane_pick(high, lane_fill(LOG_HIGH_1), lane_pick(low, lane_fill(LOG_LOW_1), zero));
    zw_real c2 = lane_pick(high, lane_fill(LOG_HIGH_2), lane_pick(low, lane_fill(LOG_LOW_2), zero));
    zw_real d = m + c, part = d - m, d_lo = (m - (d - part)) + (c - part);
    pair s = LANE(quotient)((pair){m - c, zero}, (pair){d, d_lo});
    s = LANE(sum)(s.hi, s.lo);
    pair z = LANE(product)(s.hi, s.hi);
    z.lo += 2.0 * s.hi * s.lo;

    /* (2/3) z s + s z^2 T(z) */
    pair a = LANE(product)(z.hi, lane_fill(TWO_THIRDS_1));
    a.lo += z.hi * TWO_THIRDS_2 + z.lo * TWO_THIRDS_1;
    pair b = LANE(product)(a.hi, s.hi);
    b.lo += a.hi * s.lo + a.lo * s.hi;
    b.lo += (s.hi * z.hi) * (z.hi * LANE(poly6)(LOG_TAIL, z.hi, z.hi * z.hi));

    /* k ln 2 + log c (exact so far) + 2 s + b, from the largest down */
    pair t = LANE(sum)(k * LN2_1 + c1, 2.0 * s.hi), v = LANE(sum)(t.hi, b.hi);
    return LANE(sum)(v.hi, (t.lo + v.lo) + (((k * LN2_2 + c2) + 2.0 * s.lo) + b.lo));
}

/* y log x as a pair. */
INLINE pair LANE(exponent)(pair log_x, zw_real y)
{
    pair p = LANE(product)(log_x.hi, y);
    p.lo += log_x.lo * y;
    return p;
}

INLINE zw_real LANE(fast_pow)(zw_real x, zw_real y, zw_bits *rare)
{
    zw_real k, m = LANE(mantissa)(x, &k);
    pair p = LANE(exponent)(LANE(log_pair)(k, m), y);
    zw_bits n;
    zw_real w = LANE(power_of_e)(p.hi, p.lo, &n);
    *rare = LANE(abnormal)(x) | LANE(above)(p.hi, 708.0) | LANE(above)(y, 0x1p1000);
    return lane_real(lane_bits(w) + (n << 52));
}

/* ---- Arcs ------------------------------------------------------------------------------------ */

/* Both arcs of |x|: asin = B + (hi + lo) for some B, see there. Beyond 1/2, the root's arc. */
INLINE pair LANE(arc)(zw_real size, zw_mask far)
{
    zw_real w = lane_pick(far, 0.5 - 0.5 * size, size * size), root = lane_sqrt(w);
    zw_real x = lane_pick(far, root, size), rest = LANE(root_rest)(w, lane_fill(0.0), root);
    zw_real tail = x * (w * LANE(poly14)(ASIN, w, w * w));
    return (pair){x, tail + lane_pick(far, rest, lane_fill(0.0))};
}

INLINE zw_real LANE(fast_asin)(zw_real x, zw_bits *rare)
{
    zw_real size = LANE(magnitude)(x);
    zw_mask far = lane_less(lane_fill(0.5), size);
    pair a = LANE(arc)(size, far), b = LANE(sum)(lane_fill(2.0 * PI_4_1), -2.0 * a.hi);
    zw_real beyond = b.hi + (b.lo + (2.0 * PI_4_2 - 2.0 * a.lo));
    *rare = LANE(above)(x, 1.0);
    return LANE(turn)(lane_pick(far, beyond, a.hi + a.lo), LANE(sign)(x));
}

/* pi/2 - x, or 2 a, or pi - 2 a. */
INLINE zw_real LANE(fast_acos)(zw_real x, zw_bits *rare)
{
    zw_real size = LANE(magnitude)(x), zero = lane_fill(0.0);
    zw_mask far = lane_less(lane_fill(0.5), size), right = lane_less(lane_fill(0.5), x);
    pair a = LANE(arc)(size, far);
    zw_real factor = lane_pick(far, lane_fill(2.0), lane_fill(-1.0));
    factor = LANE(turn)(factor, lane_bits(lane_pick(right, zero, lane_real(LANE(sign)(x)))));
    zw_real base = lane_pick(far, lane_pick(right, zero, lane_fill(4.0)), lane_fill(2.0));
    pair b = LANE(sum)(base * PI_4_1, factor * a.hi);
    *rare = LANE(above)(x, 1.0);
    return b.hi + (b.lo + (base * PI_4_2 + factor * a.lo));
}

/* The angle of (x, y) for x, y >= 0, or of (-x, y) where `left`. */
INLINE zw_real LANE(angle)(zw_real y, zw_real x, zw_mask left)
{
    /* n / d: y / x, or (y - x) / (y + x), or -x / y; base is what to add, in quarters of pi */
    zw_mask steep = lane_less(x, y * 0.41421356), slant = lane_less(x * 0.41421356, y);
    zw_mask over = lane_less(x, y);
    zw_real zero = lane_fill(0.0), one = lane_fill(1.0);
    zw_real large = lane_pick(over, y, x), small = lane_pick(over, x, y);
    pair d = LANE(sum)(large, small), n = LANE(sum)(large, -small);
    zw_real turn = lane_pick(over, one, -one);
    n.hi = lane_pick(steep, -x, lane_pick(slant, turn * n.hi, y));
    n.lo = lane_pick(steep, zero, lane_pick(slant, turn * n.lo, zero));
    d.hi = lane_pick(steep, y, lane_pick(slant, d.hi, x));
    d.lo = lane_pick(steep, zero, lane_pick(slant, d.lo, zero));
    zw_real base = lane_pick(slant, lane_pick(steep, one + one, one), zero);

    /* base + atan t, or pi - base - atan t */
    pair t = LANE(quotient)(n, d);
    zw_real z = t.hi * t.hi, tail = t.lo + t.hi * (z * LANE(poly12)(ATAN, z, z * z));
    zw_real factor = lane_pick(left, -one, one);
    base = lane_pick(left, 4.0 - base, base);
    pair b = LANE(sum)(base * PI_4_1, factor * t.hi);
    return b.hi + (b.lo + (base * PI_4_2 + factor * tail));
}

INLINE zw_real LANE(fast_atan)(zw_real x, zw_bits *rare)
{
    zw_real size = LANE(magnitude)(x);
    zw_real y = LANE(angle)(size, lane_fill(1.0), lane_less(lane_fill(1.0), lane_fill(0.0)));
    *rare = LANE(above)(x, 0x1p500);
    return LANE(turn)(y, LANE(sign)(x));
}

INLINE zw_real LANE(fast_atan2)(zw_real y, zw_real x, zw_bits *rare)
{
    zw_real v = LANE(magnitude)(y), h = LANE(magnitude)(x);
    *rare = LANE(below)(y, 0x1p-500) | LANE(above)(y, 0x1p500);
    *rare |= LANE(below)(x, 0x1p-500) | LANE(above)(x, 0x1p500);
    return LANE(turn)(LANE(angle)(v, h, lane_less(x, lane_fill(0.0))), LANE(sign)(y));
}

/* ---- Roots and the rest ---------------------------------------------------------------------- */

INLINE zw_real LANE(fast_hypot)(zw_real x, zw_real y, zw_bits *rare)
{
    zw_real a = LANE(magnitude)(x), b = LANE(magnitude)(y);
    zw_real large = lane_pick(lane_less(b, a), a, b), small = lane_pick(lane_less(b, a), b, a);
    pair p = LANE(product)(large, large), q = LANE(product)(small, small);
    pair s = LANE(sum)(p.hi, q.hi);
    zw_real root = lane_sqrt(s.hi);
    *rare = LANE(below)(large, 0x1p-450) | LANE(above)(x, 0x1p500) | LANE(above)(y, 0x1p500);
    return root + LANE(root_rest)(s.hi, s.lo + (p.lo + q.lo), root);
}

INLINE zw_real LANE(fast_cbrt)(zw_real x, zw_bits *rare)
{
    zw_real size = LANE(magnitude)(x), k, m = LANE(mantissa)(size, &k);
    zw_real shifted = k * (1.0 / 3.0) + ROUND, rest = k - 3.0 * (shifted - ROUND);
    zw_mask up = lane_less(lane_fill(0.0), rest), down = lane_less(rest, lane_fill(0.0));
    zw_real factor = lane_pick(up, lane_fill(CBRT_2), lane_fill(1.0));
    factor = lane_pick(down, lane_fill(CBRT_HALF), factor);
    zw_real scale = lane_pick(up, lane_fill(2.0), lane_fill(1.0));
    scale = lane_pick(down, lane_fill(0.5), scale);

    zw_real y = factor * LANE(poly5)(CBRT, m, m * m), y3 = y * y * y;
    m = m * scale;
    y = y * ((y3 + 2.0 * m) / (2.0 * y3 + m));

    zw_real h = LANE(head)(y), d = y - h, h2 = h * h, top = LANE(head)(h2);
    zw_real miss = (m - top * h) - (h2 - top) * h;
    zw_real root = h + miss / (3.0 * (h2 + h * d) + d * d);
    *rare = LANE(abnormal)(size);
    return LANE(turn)(lane_real(lane_bits(root) + (lane_bits(shifted) << 52)), LANE(sign)(x));
}

INLINE zw_real LANE(fast_sqrt)(zw_real x, zw_bits *rare)
{
    *rare = lane_bits(x) | LANE(above)(x, LANE_INFINITY);
    return lane_sqrt(x);
}

INLINE zw_real LANE(fast_floor)(zw_real x, zw_bits *rare)
{
    zw_real size = LANE(magnitude)(x), near = LANE(turn)((size + 0x1p52) - 0x1p52, LANE(sign)(x));
    zw_real below = near - lane_pick(lane_less(x, near), lane_fill(1.0), lane_fill(0.0));
    below = lane_real(lane_bits(LANE(magnitude)(below)) | LANE(sign)(x));
    *rare = LANE(above)(x, LANE_INFINITY);
    return lane_pick(lane_less(size, lane_fill(0x1p52)), below, x);
}

INLINE zw_real LANE(fast_powi)(zw_real x, int n, zw_bits *rare)
{
    zw_real y = lane_fill(1.0), square = x;
    for (unsigned rest = n < 0 ? 0U - (unsigned)n : (unsigned)n; rest != 0; rest >>= 1) {
        y = (rest & 1U) != 0 ? y * square : y;
        square = square * square;
    }
    y = n < 0 ? 1.0 / y : y;
    *rare = LANE(above)(y, LANE_INFINITY);
    return y;
}

#undef pair
