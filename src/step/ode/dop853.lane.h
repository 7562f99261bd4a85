/* The arithmetic of a DOP853 step, over lanes: n components, stage[s * n + i]. */

/* sum = sum_j w_j k_j over the first `count` stages. */
LANE_PART void LANE(combine)(int n, int count, const double *w, const zw_real *restrict stage,
                             zw_real *restrict sum)
{
    for (int i = 0; i < n; i++) {
        sum[i] = LANE_ZERO;
    }
    for (int j = 0; j < count; j++) {
        const zw_real *k = stage + (long)j * n;
        if (w[j] != 0.0) {
            for (int i = 0; i < n; i++) {
                sum[i] += w[j] * k[i];
            }
        }
    }
}

LANE_CLONES void LANE(step_dop853_argument)(int n, int s, const zw_real *h, const zw_real *stage,
                                            const zw_real *y0, const zw_real *low0, zw_real *trial)
{
    zw_real length = *h;
    LANE(combine)(n, s, step_dop853_a[s], stage, trial);
    for (int i = 0; i < n; i++) {
        trial[i] = y0[i] + (low0[i] + length * trial[i]);
    }
}

LANE_CLONES void LANE(step_dop853_sum)(int n, int count, const double *w, const zw_real *h,
                                       const zw_real *stage, zw_real *sum)
{
    zw_real length = *h;
    LANE(combine)(n, count, w, stage, sum);
    for (int i = 0; i < n; i++) {
        sum[i] *= length;
    }
}

/* Comparisons are written so that NaN becomes the largest E5, and is ignored in the others. */
LANE_CLONES void LANE(step_dop853_error)(int n, double tolerance, const double *weight,
                                         const zw_real *stage, const zw_real *y0,
                                         const zw_real *increment, zw_real *error)
{
    zw_real largest5 = LANE_ZERO, largest3 = LANE_ZERO, which = LANE_ZERO - 1.0;
    for (int i = 0; i < n; i++) {
        zw_real e5 = LANE_ZERO, e3 = LANE_ZERO;
        for (int j = 0; j < STEP_DOP853_STAGES; j++) {
            zw_real k = stage[(long)j * n + i];
            e5 += step_dop853_e5[j] * k;
            e3 += step_dop853_e3[j] * k;
        }
        zw_real before = lane_abs(y0[i]), after = lane_abs(y0[i] + increment[i]);
        zw_real scale = tolerance * (weight[i] + lane_select(after > before, after, before));
        zw_real x5 = lane_abs(e5) / scale, x3 = lane_abs(e3) / scale;
        which = lane_select(x5 <= largest5, which, LANE_ZERO + (double)i);
        largest5 = lane_select(x5 <= largest5, largest5, x5);
        largest3 = lane_select(x3 > largest3, x3, largest3);
    }
    error[0] = largest5;
    error[1] = largest3;
    error[2] = which;
}

LANE_CLONES void LANE(step_add)(int n, const zw_real *y0, const zw_real *low0,
                                const zw_real *increment, zw_real *y1, zw_real *low1)
{
    for (int i = 0; i < n; i++) {
        zw_real a = y0[i], b = low0[i] + increment[i];
        zw_real sum = a + b, part = sum - a;
        y1[i] = sum;
        low1[i] = (a - (sum - part)) + (b - part);
    }
}
