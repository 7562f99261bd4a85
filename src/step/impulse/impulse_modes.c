/* Which contacts stick, slide or are open after a step of Newton's rule (impulse_chord.c): what its
 * law asks for there, where that is not what the step assumed. */
#include <math.h>

#include "math/dense/dense.h"
#include "step/impulse/impulse.h"

/* -k w after the step, of row r of a unit that is not held */
static double speed_after(const impulse_chord *x, const prox_unit *it, int r)
{
    int i = it->at + r;
    double dw;
    dense_lines_times(1, x->wide, x->G + (size_t)i * (size_t)x->wide, x->way, &dw);
    return x->z[i] - it->soft * (x->lambda[i] + CHORD_WEIGHT * dw);
}

/* Would a unit that is open, or at the end of its interval, have to be held after the step; or one
 * that slides, as it would slide along its friction? */
static int comes_in(const impulse_chord *x, const prox_unit *it)
{
    double along = 0;
    if (it->now.mode != PROX_SLIDES) {
        double z = x->change[it->at] + speed_after(x, it, 0);
        return it->now.mode == PROX_OPEN ? z > (it->rows > 1 ? 0 : it->low) : z < it->high;
    }
    for (int r = 1; r < it->rows; r++) {
        along += it->now.t[r] * speed_after(x, it, r);
    }
    return along < 0;
}

/* The mode that the law asks for after the step, as far as that is not the one that was assumed. */
static prox_mode next_mode(const impulse_chord *x, const prox_unit *it)
{
    const double *lambda = x->change + it->at;
    if (it->now.mode != PROX_HELD && comes_in(x, it)) {
        return PROX_HELD;
    }
    if (it->now.mode != PROX_HELD && it->now.mode != PROX_SLIDES) {
        return it->now.mode;
    }
    if (it->rows == 1) {
        return lambda[0] < it->low ? PROX_OPEN : lambda[0] > it->high ? PROX_FULL : PROX_HELD;
    }
    return lambda[0] < 0                                                               ? PROX_OPEN
           : it->now.mode == PROX_SLIDES || cone_tangent(it->rows, lambda) > lambda[0] ? PROX_SLIDES
                                                                                       : PROX_HELD;
}

/* Modes for another try; 0: those at hand are right. */
int chord_change_modes(impulse_chord *x)
{
    int changed = 0;
    for (int k = 0; k < x->units; k++) {
        prox_unit *it = &x->unit[k];
        prox_mode next = next_mode(x, it);
        double across = cone_tangent(it->rows, x->change + it->at);
        changed += next != it->now.mode;
        if (next == PROX_SLIDES && next != it->now.mode) {
            it->now.curve = fmax(x->change[it->at], 0) / across;
            for (int i = 1; i < it->rows; i++) {
                it->now.t[i] = x->change[it->at + i] / across;
            }
        }
        it->now.mode = next;
    }
    return changed;
}
