/* Interval arithmetic: sets [lo, hi] that contain every value a formula takes while its arguments
 * range over intervals (Moore 1966).
 *
 * Rounding. Sums, products, quotients and square roots are rounded to nearest, so the exact result
 * is within half a unit in the last place of the computed one; elementary functions are within one
 * (math/elementary.h). A unit in the last place of x is at most |x| 2^-52, so moving a bound out by
 * that once, or for elementary functions twice, makes it a bound of the exact result. Sums that
 * underflow are exact; products that do are moved by the smallest normal number.
 *
 * An infinite bound means that there is no bound on that side. Arguments outside the domain of a
 * function are cut off, as the formula has no value there; if nothing is left, the result is the
 * whole line. */
#ifndef ZW_EXPR_INTERVAL_H
#define ZW_EXPR_INTERVAL_H

#include <float.h>
#include <math.h>

typedef struct expr_interval {
    double lo, hi;
} expr_interval;

#define INTERVAL_ALL ((expr_interval){-INFINITY, INFINITY})

static inline double interval_down(double x)
{
    return x == INFINITY ? DBL_MAX : x - fabs(x) * DBL_EPSILON;
}

static inline double interval_up(double x)
{
    return x == -INFINITY ? -DBL_MAX : x + fabs(x) * DBL_EPSILON;
}

static inline expr_interval interval_out(double lo, double hi)
{
    return (expr_interval){interval_down(lo), interval_up(hi)};
}

static inline expr_interval interval_point(double x)
{
    return (expr_interval){x, x};
}

static inline int interval_has(expr_interval x, double value)
{
    return x.lo <= value && value <= x.hi;
}

static inline int interval_is_zero(expr_interval x)
{
    return x.lo == 0.0 && x.hi == 0.0;
}

static inline expr_interval interval_hull(expr_interval x, expr_interval y)
{
    return (expr_interval){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
}

/* The intersection of two enclosures of the same value; if round-off has made it empty, the
 * second. */
static inline expr_interval interval_meet(expr_interval x, expr_interval y)
{
    expr_interval z = {x.lo > y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi};
    return z.lo <= z.hi ? z : y;
}

static inline expr_interval interval_neg(expr_interval x)
{
    return (expr_interval){-x.hi, -x.lo};
}

static inline expr_interval interval_add(expr_interval x, expr_interval y)
{
    return interval_out(x.lo + y.lo, x.hi + y.hi);
}

static inline expr_interval interval_sub(expr_interval x, expr_interval y)
{
    return interval_out(x.lo - y.hi, x.hi - y.lo);
}

/* Largest absolute value. */
static inline double interval_size(expr_interval x)
{
    return fmax(fabs(x.lo), fabs(x.hi));
}

expr_interval interval_mul(expr_interval x, expr_interval y);
expr_interval interval_div(expr_interval x, expr_interval y);
expr_interval interval_square(expr_interval x);
expr_interval interval_abs(expr_interval x);
expr_interval interval_powi(expr_interval x, int n);
expr_interval interval_pow(expr_interval x, expr_interval y);
expr_interval interval_sqrt(expr_interval x);
expr_interval interval_exp(expr_interval x);
expr_interval interval_log(expr_interval x);
expr_interval interval_sin(expr_interval x);
expr_interval interval_cos(expr_interval x);
expr_interval interval_tan(expr_interval x);
expr_interval interval_asin(expr_interval x);
expr_interval interval_acos(expr_interval x);
expr_interval interval_atan(expr_interval x);
expr_interval interval_sinh(expr_interval x);
expr_interval interval_cosh(expr_interval x);
expr_interval interval_tanh(expr_interval x);
expr_interval interval_atan2(expr_interval y, expr_interval x);
expr_interval interval_hypot(expr_interval x, expr_interval y);

#endif
