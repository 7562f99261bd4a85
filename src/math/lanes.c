#include "math/lanes.h"

#include <string.h>

ZW_INLINE zw_real4 four_at(const double *x)
{
    zw_real4 y;
    memcpy(&y, x, sizeof y);
    return y;
}

ZW_CLONES void math_from_lanes(int count, const zw_real8 *from, int lanes, double *const *to)
{
    double spare[4]; /* for lanes that are not wanted */
    for (int first = 0; first < lanes; first += 4) {
        const double *at = (const double *)from + first;
        double *a = to[first], *b = first + 1 < lanes ? to[first + 1] : spare;
        double *c = first + 2 < lanes ? to[first + 2] : spare;
        double *d = first + 3 < lanes ? to[first + 3] : spare;
        int k = 0;
        for (; k + 4 <= count; k += 4, at += 4 * LANES) {
            zw_real4 x = four_at(at), y = four_at(at + LANES);
            zw_real4 z = four_at(at + 2 * LANES), w = four_at(at + 3 * LANES);
            lane_transpose4(&x, &y, &z, &w);
            memcpy(a + k, &x, sizeof x);
            memcpy(b + (b == spare ? 0 : k), &y, sizeof y);
            memcpy(c + (c == spare ? 0 : k), &z, sizeof z);
            memcpy(d + (d == spare ? 0 : k), &w, sizeof w);
        }
        for (; k < count; k++, at += LANES) {
            for (int l = first; l < first + 4 && l < lanes; l++) {
                to[l][k] = at[l - first];
            }
        }
    }
}

ZW_CLONES void math_to_lanes(int count, const double *const *from, zw_real8 *to)
{
    for (int first = 0; first < LANES; first += 4) {
        const double *a = from[first], *b = from[first + 1], *c = from[first + 2];
        const double *d = from[first + 3];
        double *at = (double *)to + first;
        int k = 0;
        for (; k + 4 <= count; k += 4, at += 4 * LANES) {
            zw_real4 x = four_at(a + k), y = four_at(b + k), z = four_at(c + k), w = four_at(d + k);
            lane_transpose4(&x, &y, &z, &w);
            memcpy(at, &x, sizeof x);
            memcpy(at + LANES, &y, sizeof y);
            memcpy(at + 2 * LANES, &z, sizeof z);
            memcpy(at + 3 * LANES, &w, sizeof w);
        }
        for (; k < count; k++, at += LANES) {
            at[0] = a[k];
            at[1] = b[k];
            at[2] = c[k];
            at[3] = d[k];
        }
    }
}
