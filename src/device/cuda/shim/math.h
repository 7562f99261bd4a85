/* The part of libm that device code uses: rounding, square roots and comparisons, which IEEE 754
 * defines exactly. Elementary functions are our own (math/elementary.h). */
#ifndef ZW_DEVICE_SHIM_MATH_H
#define ZW_DEVICE_SHIM_MATH_H

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_inf()
#define M_PI 3.14159265358979323846
#define isfinite(x) __builtin_isfinite(x)
#define isinf(x) __builtin_isinf(x)
#define isnan(x) __builtin_isnan(x)
#define signbit(x) __builtin_signbit(x)
#define fabs(x) __builtin_fabs(x)
#define sqrt(x) __builtin_sqrt(x)
#define copysign(x, y) __builtin_copysign(x, y)
#define floor(x) __builtin_floor(x)
#define ceil(x) __builtin_ceil(x)
#define trunc(x) __builtin_trunc(x)

/* As glibc on x86: of two zeros the second is returned. */
static inline double fmax(double x, double y)
{
    return x > y || y != y ? x : y;
}

static inline double fmin(double x, double y)
{
    return x < y || y != y ? x : y;
}

double ldexp(double x, int power);
double frexp(double x, int *power);
double fmod(double x, double y);
double hypot(double x, double y);
double nearbyint(double x);
double rint(double x);

#endif
