/* The nearest point of the self-dual cone, over lanes; cone.c derives it. */

void LANE(cone_nearest)(int d, const zw_real *z, zw_real *p)
{
    zw_real zero = z[0] - z[0], sum = zero;
    for (int i = 1; i < d; i++) {
        sum += z[i] * z[i];
    }
    zw_real length = lane_sqrt(sum), half = 0.5 * (z[0] + length);
    zw_real factor = half / lane_select(length > zero, length, zero + 1.0);
    zw_mask inside = z[0] >= length, outside = z[0] <= -length;
    for (int i = d - 1; i >= 0; i--) {
        zw_real between = i == 0 ? half : factor * z[i];
        p[i] = lane_select(inside, z[i], lane_select(outside, zero, between));
    }
}
