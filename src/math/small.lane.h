/* Cholesky factorisation of small matrices, over lanes: H = L L' in the lower triangle of H (n x n,
 * row by row), in its place. A pivot that is not positive becomes `floor`; the mask says where. */

zw_mask LANE(small_cholesky)(int n, zw_real *H, double floor)
{
    zw_real zero = H[0] - H[0];
    zw_mask bad = zero > zero;
    for (int j = 0; j < n; j++) {
        zw_real pivot = H[j * n + j];
        for (int k = 0; k < j; k++) {
            pivot -= H[j * n + k] * H[j * n + k];
        }
        zw_mask low = pivot <= zero + floor;
        bad |= low;
        zw_real root = lane_sqrt(lane_select(low, zero + floor, pivot));
        H[j * n + j] = root;
        for (int i = j + 1; i < n; i++) {
            zw_real entry = H[i * n + j];
            for (int k = 0; k < j; k++) {
                entry -= H[i * n + k] * H[j * n + k];
            }
            H[i * n + j] = entry / root;
        }
    }
    return bad;
}

/* x = L L' \ x */
void LANE(small_cholesky_solve)(int n, const zw_real *L, zw_real *x)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            x[i] -= L[i * n + k] * x[k];
        }
        x[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            x[i] -= L[k * n + i] * x[k];
        }
        x[i] /= L[i * n + i];
    }
}
