/* Lanes: one source for one world and for many (design.md section 7).
 *
 * A leaf kernel is written once over zw_real in a file `name.lane.h` with LANE(name) as the names
 * of its functions, and included by one translation unit with zw_real = double (`name.c`) and by
 * another with eight worlds in a vector (lanes8.c). Choices that depend on data are selects. No
 * operation mixes lanes, so a lane of eight has the bits of the world alone.
 *
 * ZW_CLONES compiles one function for several vector widths and picks at load time. All loops so
 * marked are elementwise and -ffp-contract=off forbids fused operations, so every width gives the
 * same bits. */
#ifndef ZW_MATH_LANE_H
#define ZW_MATH_LANE_H

#include <math.h>
#include <string.h>

#include "math/crew.h"

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&                        \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ZW_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ZW_CLONES
#endif

/* A function of vectors is always inlined: else a clone would call it by another convention. */
#ifdef ZW_SMALL /* one convention, and size counts: the compiler chooses */
#define ZW_INLINE static inline
#else
#define ZW_INLINE static inline __attribute__((always_inline))
#endif

/* Compilers note that vectors wider than the machine's are passed in memory. That is fine with us.
 */
#pragma GCC diagnostic ignored "-Wpsabi"

/* Eight worlds on a processor. On a GPU every thread has one, and those of a warp go together:
 * device/cuda/one_lane.h. */
#ifndef ZW_LANES
#define ZW_LANES 8
#define LANE_VOTE(own) (own)
/* Numbers that lanes have in common are written by all of them, and none does that while others
 * still read the old ones. */
#define LANE_MEET() ((void)0)
/* By one of them: what is changed step by step. */
#define LANE_ONE()
#endif
enum { LANES = ZW_LANES };

/* A number of one lane, and an integer of its size. With ZW_FLOAT (device/float_lanes.h) lanes are
 * in single precision: constants of a system are double everywhere, and are converted where they
 * meet a lane. */
#ifdef ZW_FLOAT
typedef float zw_scalar;
typedef int zw_whole;
#define LANE_SIGN ((int)0x80000000)
#define LANE_SQRT sqrtf
#else
typedef double zw_scalar;
typedef long long zw_whole;
#define LANE_SIGN ((long long)0x8000000000000000)
#define LANE_SQRT sqrt
#endif
/* A threshold, in double and in single precision. */
#define LANE_LIMIT(in_double, in_float)                                                            \
    ((zw_scalar)(sizeof(zw_scalar) == sizeof(double) ? (in_double) : (in_float)))
typedef zw_scalar zw_real8 __attribute__((vector_size(sizeof(zw_scalar) * ZW_LANES)));
typedef zw_whole zw_mask8 __attribute__((vector_size(sizeof(zw_whole) * ZW_LANES)));

/* Numbers in the scratch of lanes, for the loops where most of the time goes. A GPU has short
 * addresses for the memory of a thread (device/cuda/one_lane.h): a general one costs it three more
 * instructions each time. */
#ifndef LANE_NEAR
#define LANE_NEAR
#endif
typedef LANE_NEAR zw_real8 zw_near8;
#define NEAR8(x) ((zw_near8 *)(x))

/* Is a lane of the mask set, of those that go together? */
ZW_INLINE int lane_any8(zw_mask8 mask)
{
    zw_whole all = 0;
    for (int k = 0; k < LANES; k++) {
        all |= mask[k];
    }
    return LANE_VOTE(all != 0);
}

#if ZW_LANES == 8 && !defined(ZW_FLOAT)
/* Eight numbers from anywhere. */
ZW_INLINE zw_real8 lane_load8(const double *x)
{
    zw_real8 v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* The first n of eight, then zeros. */
ZW_INLINE zw_real8 lane_some8(int n, const double *x)
{
    switch (n) {
    case 0:
        return (zw_real8){0.0};
    case 1:
        return (zw_real8){x[0]};
    case 2:
        return (zw_real8){x[0], x[1]};
    case 3:
        return (zw_real8){x[0], x[1], x[2]};
    case 4:
        return (zw_real8){x[0], x[1], x[2], x[3]};
    case 5:
        return (zw_real8){x[0], x[1], x[2], x[3], x[4]};
    case 6:
        return (zw_real8){x[0], x[1], x[2], x[3], x[4], x[5]};
    case 7:
        return (zw_real8){x[0], x[1], x[2], x[3], x[4], x[5], x[6]};
    default:
        return lane_load8(x);
    }
}

/* The first n of eight numbers, zeros for the others, whatever they are. */
ZW_INLINE zw_real8 lane_first8(int n, zw_real8 x)
{
    static const long long keep[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    zw_mask8 mask;
    memcpy(&mask, keep + 8 - n, sizeof mask);
    return (zw_real8)((zw_mask8)x & mask);
}

/* The last n of eight numbers, zeros for the others. */
ZW_INLINE zw_real8 lane_last8(int n, zw_real8 x)
{
    static const long long keep[16] = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
    zw_mask8 mask;
    memcpy(&mask, keep + n, sizeof mask);
    return (zw_real8)((zw_mask8)x & mask);
}

ZW_INLINE void lane_store8(double *x, zw_real8 v)
{
    memcpy(x, &v, sizeof v);
}

/* Four numbers of each of four, from x[k][i] to x[i][k]. */
typedef double zw_real4 __attribute__((vector_size(32)));
#if defined(__clang__)
#define LANE_MIX4(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
typedef long long zw_mask4 __attribute__((vector_size(32)));
#define LANE_MIX4(x, y, a, b, c, d) __builtin_shuffle(x, y, (zw_mask4){a, b, c, d})
#endif
ZW_INLINE void lane_transpose4(zw_real4 *x, zw_real4 *y, zw_real4 *z, zw_real4 *w)
{
    zw_real4 a = LANE_MIX4(*x, *y, 0, 4, 2, 6), b = LANE_MIX4(*x, *y, 1, 5, 3, 7);
    zw_real4 c = LANE_MIX4(*z, *w, 0, 4, 2, 6), d = LANE_MIX4(*z, *w, 1, 5, 3, 7);
    *x = LANE_MIX4(a, c, 0, 1, 4, 5);
    *y = LANE_MIX4(b, d, 0, 1, 4, 5);
    *z = LANE_MIX4(a, c, 2, 3, 6, 7);
    *w = LANE_MIX4(b, d, 2, 3, 6, 7);
}

#endif

/* x = 0, x = y, n of them. */
ZW_INLINE void lane_clear8(int n, zw_real8 *x)
{
    CREW_FOR (i, n) {
        x[i] = (zw_real8){0};
    }
    CREW_MEET();
}

ZW_INLINE void lane_copy8(int n, const zw_real8 *y, zw_real8 *x)
{
    CREW_FOR (i, n) {
        x[i] = y[i];
    }
    CREW_MEET();
}

/* mask ? x : y, lane by lane; a lane of the mask is all ones or all zeros. */
ZW_INLINE zw_real8 lane_select8(zw_mask8 mask, zw_real8 x, zw_real8 y)
{
    return (zw_real8)((mask & (zw_mask8)x) | (~mask & (zw_mask8)y));
}

ZW_INLINE zw_real8 lane_size8(zw_real8 x)
{
    return (zw_real8)((zw_mask8)x & ~LANE_SIGN);
}

#if ZW_LANES == 8 && !defined(ZW_FLOAT)
/* Halves, quarters, the rest: the same order on every machine. */
ZW_INLINE double lane_sum8(zw_real8 s)
{
    typedef double real4 __attribute__((vector_size(32)));
    typedef double real2 __attribute__((vector_size(16)));
    real4 half[2];
    memcpy(half, &s, sizeof s);
    half[0] += half[1];
    real2 quarter[2];
    memcpy(quarter, half, sizeof quarter);
    quarter[0] += quarter[1];
    return quarter[0][0] + quarter[0][1];
}
#endif

ZW_INLINE zw_real8 lane_sqrt8(zw_real8 x)
{
    zw_real8 y;
    for (int k = 0; k < LANES; k++) {
        y[k] = LANE_SQRT(x[k]);
    }
    return y;
}

ZW_INLINE double lane_select1(int mask, double x, double y)
{
    return mask ? x : y;
}

#endif
