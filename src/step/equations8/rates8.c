/* The field y' = f(t, y) for eight worlds, as system/forward.c computes it for a system without
 * rows. */
#include "math/dense/small.h"
#include "step/equations8/equations8.h"

#define LANE_PART static inline __attribute__((always_inline))

/* Repeated here for inlining: a function with vectors in its own interface has no clones. */
LANE_PART zw_mask8 equations8_small_cholesky(int n, zw_real8 *H, double floor)
    __attribute__((unused));
LANE_PART void equations8_small_cholesky_solve(int n, const zw_real8 *L, zw_real8 *x)
    __attribute__((unused));
LANE_PART zw_mask8 equations8_small_ldl(int n, zw_real8 *H, double floor);
LANE_PART void equations8_small_ldl_solve(int n, const zw_real8 *L, zw_real8 *x);

#define zw_real zw_real8
#define zw_mask zw_mask8
#define LANE(name) equations8_##name
#define lane_select lane_select8
#define lane_sqrt lane_sqrt8
#include "math/dense/small.lane.h"

/* a = M \ force; the mask marks lanes where M is not positive definite. */
LANE_PART zw_mask8 accelerate(const zw_system *system, const zw_real8 *M, const zw_real8 *force,
                              zw_real8 *H, zw_real8 *a)
{
    const zw_real8 zero = {0};
    zw_mask8 bad = zero > zero;
    int n = system->n;
    if (system->M_diagonal) {
        for (int i = 0; i < n; i++) {
            bad |= ~(M[i] > zero);
            a[i] = force[i] / M[i];
        }
        return bad;
    }
    for (int i = 0; i < n * n; i++) {
        H[i] = zero;
    }
    for (int j = 0; j < n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            H[system->M_row[k] * n + j] = M[k];
        }
        a[j] = force[j];
    }
    bad = equations8_small_ldl(n, H, 0);
    equations8_small_ldl_solve(n, H, a);
    return bad;
}

/* Zero where all are finite: x * 0 is NaN if x is not finite. */
LANE_PART zw_real8 nothing(int count, const zw_real8 *x)
{
    zw_real8 sum = {0};
    for (int i = 0; i < count; i++) {
        sum += x[i] * 0.0;
    }
    return sum;
}

ZW_CLONES void equations8_rates(const zw_system *system, const zw_real8 *out, const zw_real8 *y,
                                zw_real8 *H, zw_real8 *dy, zw_mask8 *good)
{
    int n = system->n, size = 2 * n + system->works;
    const zw_real8 zero = {0};
    for (int i = 0; i < n; i++) {
        dy[i] = y[n + i];
    }
    zw_mask8 bad = accelerate(system, out + system->at.M, out + system->at.force, H, dy + n);
    if (system->works) { /* system/forward.c: power_of */
        zw_real8 sum = out[system->at.dLdt];
        for (int i = 0; i < n; i++) {
            sum += out[system->at.Q + i] * y[n + i];
        }
        dy[2 * n] = sum;
    }
    zw_real8 none = nothing(system->tape[PART_TERMS].count, out);
    none += nothing(size, y);
    none += nothing(size, dy);
    *good = (none == zero) & ~bad;
}

ZW_CLONES void equations8_blend(int n, const zw_mask8 *mask, const zw_real8 *from, zw_real8 *to)
{
    for (int i = 0; i < n; i++) {
        to[i] = lane_select8(*mask, from[i], to[i]);
    }
}
