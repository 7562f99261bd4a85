/* Factorisations of small symmetric matrices, over lanes, in the lower triangle of H (n x n, row by
 * row), in its place. A pivot that is not above `floor` becomes `floor`; the mask says where. */

/* H = L L' */

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

/* H = L D L', L with ones on its diagonal, D in their place: no square roots, and half as many
 * divisions to wait for as with L L'. Row i first holds g_ij = l_ij d_j, then
 *
 *     g_ij = h_ij - sum_k g_ik l_jk,    l_ij = g_ij / d_j,    d_i = h_ii - sum_j l_ij g_ij
 */
zw_mask LANE(small_ldl)(int n, zw_real *H, double floor)
{
    zw_real zero = H[0] - H[0];
    zw_mask bad = zero > zero;
    for (int i = 0; i < n; i++) {
        zw_real *g = H + i * n, pivot = g[i];
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) {
                g[j] -= g[k] * H[j * n + k];
            }
        }
        for (int j = 0; j < i; j++) {
            zw_real l = g[j] / H[j * n + j];
            pivot -= l * g[j];
            g[j] = l;
        }
        zw_mask low = pivot <= zero + floor;
        bad |= low;
        g[i] = lane_select(low, zero + floor, pivot);
    }
    return bad;
}

/* x = L D L' \ x */
void LANE(small_ldl_solve)(int n, const zw_real *L, zw_real *x)
{
    for (int i = 1; i < n; i++) {
        for (int k = 0; k < i; k++) {
            x[i] -= L[i * n + k] * x[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= L[i * n + i];
        for (int k = i + 1; k < n; k++) {
            x[i] -= L[k * n + i] * x[k];
        }
    }
}
