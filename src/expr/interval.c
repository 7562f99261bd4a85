#include "expr/interval.h"

#include "math/elementary.h"

static const double PI = 3.14159265358979323846;

/* ---- Products --------------------------------------------------------------------------------*/

/* 0 times an infinite bound is 0: values are finite, whatever the bound. */
static double product(double x, double y)
{
    return x == 0.0 || y == 0.0 ? 0.0 : x * y;
}

/* A product or quotient of numbers that are not zero may underflow. */
static expr_interval out_of_products(double lo, double hi)
{
    expr_interval z = interval_out(lo, hi);
    if (fabs(lo) < DBL_MIN && lo != 0.0) {
        z.lo -= DBL_MIN;
    }
    if (fabs(hi) < DBL_MIN && hi != 0.0) {
        z.hi += DBL_MIN;
    }
    return z;
}

expr_interval interval_mul(expr_interval x, expr_interval y)
{
    if (interval_is_zero(x) || interval_is_zero(y)) {
        return interval_point(0.0);
    }
    double a = product(x.lo, y.lo), b = product(x.lo, y.hi), c = product(x.hi, y.lo),
           d = product(x.hi, y.hi);
    double lo = fmin(fmin(a, b), fmin(c, d)), hi = fmax(fmax(a, b), fmax(c, d));
    expr_interval z = out_of_products(lo, hi);
    /* a bound is 0 although no factor is: it underflowed to 0 */
    z.lo = lo == 0.0 && !interval_has(x, 0.0) && !interval_has(y, 0.0) ? -DBL_MIN : z.lo;
    z.hi = hi == 0.0 && !interval_has(x, 0.0) && !interval_has(y, 0.0) ? DBL_MIN : z.hi;
    return z;
}

/* 1/y; a zero at one end of y makes one side unbounded, a zero inside both. */
static expr_interval inverse(expr_interval y)
{
    if (y.lo > 0.0 || y.hi < 0.0) {
        return out_of_products(1.0 / y.hi, 1.0 / y.lo);
    }
    if (y.lo == 0.0 && y.hi > 0.0) {
        return (expr_interval){interval_down(1.0 / y.hi), INFINITY};
    }
    if (y.hi == 0.0 && y.lo < 0.0) {
        return (expr_interval){-INFINITY, interval_up(1.0 / y.lo)};
    }
    return INTERVAL_ALL;
}

expr_interval interval_div(expr_interval x, expr_interval y)
{
    if (!(y.lo > 0.0 || y.hi < 0.0)) {
        return interval_mul(x, inverse(y));
    }
    double a = x.lo / y.lo, b = x.lo / y.hi, c = x.hi / y.lo, d = x.hi / y.hi;
    if (isinf(x.lo) || isinf(x.hi) || isinf(y.lo) || isinf(y.hi)) {
        return interval_mul(x, inverse(y));
    }
    expr_interval z = out_of_products(fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)));
    z.lo = z.lo == 0.0 && !interval_has(x, 0.0) ? -DBL_MIN : z.lo;
    z.hi = z.hi == 0.0 && !interval_has(x, 0.0) ? DBL_MIN : z.hi;
    return z;
}

expr_interval interval_abs(expr_interval x)
{
    double most = interval_size(x);
    return (expr_interval){interval_has(x, 0.0) ? 0.0 : fmin(fabs(x.lo), fabs(x.hi)), most};
}

expr_interval interval_square(expr_interval x)
{
    x = interval_abs(x);
    expr_interval z = interval_mul(x, x);
    return (expr_interval){fmax(z.lo, 0.0), z.hi};
}

/* x^n for x >= 0 and n > 0 by repeated squaring, all of whose steps are monotone there. */
static expr_interval power_of_positive(expr_interval x, unsigned n)
{
    expr_interval z = {1.0, 1.0};
    for (; n > 0; n >>= 1) {
        if (n & 1) {
            z = interval_mul(z, x);
            z.lo = fmax(z.lo, 0.0);
        }
        if (n > 1) {
            x = interval_square(x);
        }
    }
    return z;
}

expr_interval interval_powi(expr_interval x, int n)
{
    if (n == 0) {
        return interval_point(1.0);
    }
    unsigned size = n > 0 ? (unsigned)n : 0u - (unsigned)n;
    expr_interval z;
    if (size % 2 == 0) {
        z = power_of_positive(interval_abs(x), size);
    } else {
        expr_interval below = {fmax(-x.hi, 0.0), fmax(-x.lo, 0.0)};
        expr_interval above = {fmax(x.lo, 0.0), fmax(x.hi, 0.0)};
        z = (expr_interval){
            x.lo < 0.0 ? -power_of_positive(below, size).hi : power_of_positive(above, size).lo,
            x.hi > 0.0 ? power_of_positive(above, size).hi : -power_of_positive(below, size).lo};
    }
    return n > 0 ? z : inverse(z);
}

/* ---- Elementary functions ---------------------------------------------------------------------*/

/* Widened by two units in the last place, but not beyond the range of the function. */
static expr_interval out_twice(double lo, double hi, double least, double most)
{
    lo = interval_down(interval_down(lo));
    hi = interval_up(interval_up(hi));
    return (expr_interval){fmax(lo, least), fmin(hi, most)};
}

expr_interval interval_sqrt(expr_interval x)
{
    if (x.hi < 0.0) {
        return INTERVAL_ALL;
    }
    return out_twice(sqrt(fmax(x.lo, 0.0)), sqrt(x.hi), 0.0, INFINITY);
}

expr_interval interval_exp(expr_interval x)
{
    double lo = x.lo == -INFINITY ? 0.0 : math_exp(x.lo);
    double hi = x.hi == INFINITY ? INFINITY : math_exp(x.hi);
    return (expr_interval){fmax(interval_down(interval_down(lo)) - DBL_MIN, 0.0),
                           interval_up(interval_up(hi)) + DBL_MIN};
}

expr_interval interval_log(expr_interval x)
{
    if (!(x.hi > 0.0)) {
        return INTERVAL_ALL;
    }
    double lo = x.lo > 0.0 ? math_log(x.lo) : -INFINITY;
    return out_twice(lo, x.hi == INFINITY ? INFINITY : math_log(x.hi), -INFINITY, INFINITY);
}

/* Whether k + part may lie in x / pi for an integer k (with `parity`, an even or odd one).
 * Quotients are accurate to two units in the last place, and the bounds are widened by four. */
static int meets(expr_interval x, double part, int parity)
{
    double from = x.lo / PI - part, to = x.hi / PI - part;
    double slack = 4.0 * DBL_EPSILON * (fmax(fabs(from), fabs(to)) + 1.0);
    double first = ceil(from - slack);
    if (parity >= 0 && fmod(fabs(first), 2.0) != parity) {
        first += 1.0;
    }
    return first <= to + slack;
}

/* A wave with its maxima at (2k + part) pi and its minima one pi later. */
static expr_interval wave(expr_interval x, double part, double (*f)(double))
{
    if (!(x.hi - x.lo < 7.0) || interval_size(x) > 1e15) {
        return (expr_interval){-1.0, 1.0};
    }
    double a = f(x.lo), b = f(x.hi);
    return out_twice(meets(x, part, 1) ? -1.0 : fmin(a, b), meets(x, part, 0) ? 1.0 : fmax(a, b),
                     -1.0, 1.0);
}

expr_interval interval_sin(expr_interval x)
{
    return wave(x, 0.5, math_sin);
}

expr_interval interval_cos(expr_interval x)
{
    return wave(x, 0.0, math_cos);
}

expr_interval interval_tan(expr_interval x)
{
    if (!(x.hi - x.lo < 4.0) || interval_size(x) > 1e15 || meets(x, 0.5, -1)) {
        return INTERVAL_ALL;
    }
    return out_twice(math_tan(x.lo), math_tan(x.hi), -INFINITY, INFINITY);
}

static expr_interval in_domain_of_asin(expr_interval x)
{
    return (expr_interval){fmax(x.lo, -1.0), fmin(x.hi, 1.0)};
}

expr_interval interval_asin(expr_interval x)
{
    expr_interval in = in_domain_of_asin(x);
    return in.lo > in.hi ? INTERVAL_ALL
                         : out_twice(math_asin(in.lo), math_asin(in.hi), -INFINITY, INFINITY);
}

expr_interval interval_acos(expr_interval x)
{
    expr_interval in = in_domain_of_asin(x);
    return in.lo > in.hi ? INTERVAL_ALL
                         : out_twice(math_acos(in.hi), math_acos(in.lo), 0.0, INFINITY);
}

expr_interval interval_atan(expr_interval x)
{
    return out_twice(math_atan(x.lo), math_atan(x.hi), -INFINITY, INFINITY);
}

expr_interval interval_sinh(expr_interval x)
{
    return out_twice(math_sinh(x.lo), math_sinh(x.hi), -INFINITY, INFINITY);
}

expr_interval interval_cosh(expr_interval x)
{
    x = interval_abs(x);
    return out_twice(math_cosh(x.lo), math_cosh(x.hi), 1.0, INFINITY);
}

expr_interval interval_tanh(expr_interval x)
{
    return out_twice(math_tanh(x.lo), math_tanh(x.hi), -1.0, 1.0);
}

/* Monotone in each argument where x > 0 or y has one sign: the extremes are at corners. */
expr_interval interval_atan2(expr_interval y, expr_interval x)
{
    if (x.lo <= 0.0 && interval_has(y, 0.0)) {
        return out_twice(-PI, PI, -INFINITY, INFINITY);
    }
    double a = math_atan2(y.lo, x.lo), b = math_atan2(y.lo, x.hi), c = math_atan2(y.hi, x.lo),
           d = math_atan2(y.hi, x.hi);
    return out_twice(fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)), -INFINITY,
                     INFINITY);
}

expr_interval interval_hypot(expr_interval x, expr_interval y)
{
    x = interval_abs(x);
    y = interval_abs(y);
    return out_twice(math_hypot(x.lo, y.lo), math_hypot(x.hi, y.hi), 0.0, INFINITY);
}

/* For x >= 0 monotone in each argument: the extremes are at corners. Negative x have powers only
 * for integer exponents. */
expr_interval interval_pow(expr_interval x, expr_interval y)
{
    if (y.lo == y.hi && y.lo == floor(y.lo) && fabs(y.lo) < 1e6) {
        expr_interval z = interval_powi(x, (int)y.lo);
        return (expr_interval){interval_down(z.lo), interval_up(z.hi)};
    }
    if (x.hi < 0.0 || isinf(y.lo) || isinf(y.hi) || isinf(x.hi)) {
        return x.hi < 0.0 ? INTERVAL_ALL : (expr_interval){0.0, INFINITY};
    }
    double low = fmax(x.lo, 0.0);
    double a = math_pow(low, y.lo), b = math_pow(low, y.hi), c = math_pow(x.hi, y.lo),
           d = math_pow(x.hi, y.hi);
    return out_twice(fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)), 0.0, INFINITY);
}
