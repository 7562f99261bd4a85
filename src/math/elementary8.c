/* The elementary functions for eight worlds at once.
 *
 * Arguments and results go by pointer: how a vector wider than the machine's is passed by value
 * depends on the machine, and the clones for different machines must be called alike. */
#include "math/elementary.h"

#include "math/lane.h"

typedef unsigned long long zw_bits8 __attribute__((vector_size(64)));
typedef double any_real8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef long long zw_mask2 __attribute__((vector_size(16)));

#define INLINE static inline __attribute__((always_inline))

/* All ones where x < y, for numbers; by their difference, since comparisons of doubles that are
 * joined or nested become scalar code in the vectors of gcc 12. */
INLINE zw_bits8 less8(zw_real8 x, zw_real8 y)
{
    return -((zw_bits8)(x - y) >> 63);
}

INLINE zw_real8 pick8(zw_bits8 mask, zw_real8 x, zw_real8 y)
{
    return (zw_real8)(((zw_bits8)x & mask) | ((zw_bits8)y & ~mask));
}

INLINE zw_real8 root8(zw_real8 x)
{
    union {
        zw_real8 whole;
        double part[LANES];
    } y = {x};
    for (int k = 0; k < LANES; k++) {
        y.part[k] = sqrt(y.part[k]);
    }
    return y.whole;
}

#define zw_real zw_real8
#define zw_bits zw_bits8
#define zw_mask zw_bits8
#define LANE(name) name##8
#define LANE_INFINITY __builtin_inf()
#define lane_sqrt root8
#define lane_pick pick8
#define lane_less less8
#define lane_bits(x) ((zw_bits8)(x))
#define lane_real(b) ((zw_real8)(b))
#define lane_fill(c) ((zw_real8){c, c, c, c, c, c, c, c})
#include "math/elementary.lane.h"

INLINE int some(zw_bits8 rare)
{
    union {
        zw_bits8 whole;
        zw_mask2 part[4];
    } m = {rare};
    zw_mask2 all = (m.part[0] | m.part[1]) | (m.part[2] | m.part[3]);
    return (all[0] | all[1]) < 0;
}

/* The lanes that are rare, one by one. These are not cloned. */
static __attribute__((noinline)) void recompute(double (*f)(double), const zw_real8 *x,
                                                const zw_bits8 *rare, zw_real8 *y)
{
    for (int k = 0; k < LANES; k++) {
        (*y)[k] = (long long)(*rare)[k] < 0 ? f((*x)[k]) : (*y)[k];
    }
}

static __attribute__((noinline)) void recompute2(double (*f)(double, double), const zw_real8 *x,
                                                 const zw_real8 *y, const zw_bits8 *rare,
                                                 zw_real8 *z)
{
    for (int k = 0; k < LANES; k++) {
        (*z)[k] = (long long)(*rare)[k] < 0 ? f((*x)[k], (*y)[k]) : (*z)[k];
    }
}

#define UNARY(name)                                                                                \
    ZW_CLONES void math_##name##8(const double *x, double *y)                                      \
    {                                                                                              \
        zw_real8 input = *(const any_real8 *)x;                                                    \
        zw_bits8 rare;                                                                             \
        zw_real8 output = fast_##name##8(input, &rare);                                            \
        if (__builtin_expect(some(rare), 0)) {                                                     \
            zw_real8 fixed = output;                                                               \
            recompute(math_##name, &input, &rare, &fixed);                                         \
            output = fixed;                                                                        \
        }                                                                                          \
        *(any_real8 *)y = output;                                                                  \
    }

#define BINARY(name)                                                                               \
    ZW_CLONES void math_##name##8(const double *x, const double *y, double *z)                     \
    {                                                                                              \
        zw_real8 first = *(const any_real8 *)x, second = *(const any_real8 *)y;                    \
        zw_bits8 rare;                                                                             \
        zw_real8 output = fast_##name##8(first, second, &rare);                                    \
        if (__builtin_expect(some(rare), 0)) {                                                     \
            zw_real8 fixed = output;                                                               \
            recompute2(math_##name, &first, &second, &rare, &fixed);                               \
            output = fixed;                                                                        \
        }                                                                                          \
        *(any_real8 *)z = output;                                                                  \
    }

ELEMENTARY_FUNCTIONS(UNARY, BINARY)

ZW_CLONES void math_sincos8(const double *x, double *sine, double *cosine)
{
    zw_real8 input = *(const any_real8 *)x, s, c;
    zw_bits8 rare;
    fast_sincos8(input, &s, &c, &rare);
    if (__builtin_expect(some(rare), 0)) {
        zw_real8 fixed[2] = {s, c};
        recompute(math_sin, &input, &rare, &fixed[0]);
        recompute(math_cos, &input, &rare, &fixed[1]);
        s = fixed[0];
        c = fixed[1];
    }
    *(any_real8 *)sine = s;
    *(any_real8 *)cosine = c;
}

ZW_CLONES void math_powi8(const double *x, int n, double *y)
{
    zw_bits8 rare;
    zw_real8 output = fast_powi8(*(const any_real8 *)x, n, &rare);
    *(any_real8 *)y = pick8(-(rare >> 63), lane_fill((double)NAN), output);
}
