/* The rows of a contact in lanes: for the soft law (soft8_rows.c) and for Coulomb's (step/once8).
 */
#ifndef ZW_SYSTEM_SOFT8_JACOBIAN_H
#define ZW_SYSTEM_SOFT8_JACOBIAN_H

#include "system/soft8/soft8.h"

/* Rows of J, and the speeds along them, unless that is NULL: as contact_rows. Width is a constant
 * where this is inlined, if it is 3. The speeds of a crew are in a shared array. */
ZW_INLINE void soft8_put_rows(const soft8 *s, const soft8_match *match, const int width,
                              const zw_real8 *pos, const zw_real8 *frame, zw_real8 *J,
                              zw_real8 *speed)
{
    const tree_mechanism *tree = s->system->tree;
    const zw_real8 *sweep = s->sweeps + tree->at.S, *com = s->sweeps + tree->at.com;
    int columns = match->columns;
    for (int r = 0; r < width && speed && CREW_SIZE == 1; r++) {
        speed[r] = (zw_real8){0};
    }
    CREW_FOR (c, columns) {
        int d = match->column[c];
        zw_scalar side = (zw_scalar)match->side[c];
        const zw_real8 *S = sweep + 6 * d, *own = com + 3 * tree->dof_body[d];
        zw_real8 x = pos[0] - own[0], y = pos[1] - own[1], z = pos[2] - own[2];
        zw_real8 u = S[3] + S[1] * z - S[2] * y, v = S[4] + S[2] * x - S[0] * z,
                 w = S[5] + S[0] * y - S[1] * x;
        for (int r = 0; r < width; r++) {
            const zw_real8 *f = frame + 3 * (r < 3 ? r : r - 3);
            zw_real8 entry =
                r < 3 ? f[0] * u + f[1] * v + f[2] * w : f[0] * S[0] + f[1] * S[1] + f[2] * S[2];
            entry = side * entry;
            J[r * columns + c] = entry;
            if (speed && CREW_SIZE == 1) {
                speed[r] += entry * s->v[d];
            }
        }
    }
    CREW_MEET();
    CREW_FOR (r, speed && CREW_SIZE > 1 ? width : 0) {
        zw_real8 sum = {0};
        for (int c = 0; c < columns; c++) {
            sum += J[r * columns + c] * s->v[match->column[c]];
        }
        speed[r] = sum;
    }
    CREW_MEET();
}

#endif
