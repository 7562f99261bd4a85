/* Elementary functions of our own: the same bits with every compiler, C library and vector width.
 *
 * `math_f` takes one argument, `math_f8` the arguments of eight worlds; a lane of eight has the
 * bits of one alone. Errors are below 1 ulp (elementary.lane.h derives them, the test measures
 * them). Outside of a domain the answer is the one quiet NaN of the library; infinities, signed
 * zeros, overflow and gradual underflow are those of IEEE 754 and C17 Annex F. Nothing touches
 * errno.
 *
 * The arrays have eight entries and any alignment; a result may take the place of an argument. */
#ifndef ZW_MATH_ELEMENTARY_H
#define ZW_MATH_ELEMENTARY_H

double math_sin(double x);
double math_cos(double x);
void math_sincos(double x, double *sine, double *cosine);
double math_tan(double x);
double math_asin(double x);
double math_acos(double x);
double math_atan(double x);
double math_atan2(double y, double x);

double math_exp(double x);
double math_expm1(double x); /* exp(x) - 1 */
double math_log(double x);
double math_log1p(double x); /* log(1 + x) */
double math_sinh(double x);
double math_cosh(double x);
double math_tanh(double x);

double math_pow(double x, double y);
double math_hypot(double x, double y);
double math_cbrt(double x);
double math_sqrt(double x);
double math_floor(double x);

/* x^n by squaring, from the lowest bit of |n| up; for n < 0 the reciprocal of x^|n|. x^0 = 1.
 * Each of the (at most 2 log2 |n|) products is rounded, so the error grows as |n| / 2 ulp. */
double math_powi(double x, int n);

void math_sin8(const double *x, double *y);
void math_cos8(const double *x, double *y);
void math_sincos8(const double *x, double *sine, double *cosine);
void math_tan8(const double *x, double *y);
void math_asin8(const double *x, double *y);
void math_acos8(const double *x, double *y);
void math_atan8(const double *x, double *y);
void math_atan28(const double *y, const double *x, double *angle);

void math_exp8(const double *x, double *y);
void math_expm18(const double *x, double *y);
void math_log8(const double *x, double *y);
void math_log1p8(const double *x, double *y);
void math_sinh8(const double *x, double *y);
void math_cosh8(const double *x, double *y);
void math_tanh8(const double *x, double *y);

void math_pow8(const double *x, const double *y, double *power);
void math_hypot8(const double *x, const double *y, double *length);
void math_cbrt8(const double *x, double *y);
void math_sqrt8(const double *x, double *y);
void math_floor8(const double *x, double *y);
void math_powi8(const double *x, int n, double *y); /* one n for all */

/* All of them with one or two arguments and one value, for tables of them. */
#define ELEMENTARY_FUNCTIONS(ONE, TWO)                                                             \
    ONE(sin)                                                                                       \
    ONE(cos)                                                                                       \
    ONE(tan)                                                                                       \
    ONE(asin)                                                                                      \
    ONE(acos)                                                                                      \
    ONE(atan)                                                                                      \
    ONE(exp)                                                                                       \
    ONE(expm1)                                                                                     \
    ONE(log)                                                                                       \
    ONE(log1p)                                                                                     \
    ONE(sinh)                                                                                      \
    ONE(cosh)                                                                                      \
    ONE(tanh)                                                                                      \
    ONE(cbrt)                                                                                      \
    ONE(sqrt)                                                                                      \
    ONE(floor)                                                                                     \
    TWO(atan2)                                                                                     \
    TWO(pow)                                                                                       \
    TWO(hypot)

#endif
