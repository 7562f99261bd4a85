/* Which contacts stick, slide or are open after a Newton step (impulse_chord.c): the modes required
 * by the law there, where they differ from those assumed.
 *
 * Using these for the next attempt cycles where a body has more points than are needed, such as
 * four under a foot: with a weight of 1e5 a slip of 1e-5 m/s that the points do not share is a
 * force as large as the load, and the resulting modes are those of another problem. So after a few
 * tries they are found by projected Gauss-Seidel sweeps over the multipliers of the same linear
 * problem,
 *
 *     w = W lambda + q,    W = G N \ B',    lambda_i := P(lambda_i - w_i/W_ii)
 *
 * (prox_law.h). A load that can be shared in many ways is shared starting from the forces of the
 * last step. They are stopped early, and Newton's method continues from there. */
#include <math.h>
#include <string.h>

#include "math/dense/dense.h"
#include "step/impulse/impulse.h"

#define INSIDE 1e-6 /* relative to its cone: contacts closer to its surface slide */

/* ---- Before a step --------------------------------------------------------------------------- */

/* Was point k closed at the start of the step, and slower than what this impulse, in scaled units,
 * would stop? */
static int rested(const step_impulse *s, int k, double scale, double push)
{
    const impulse_roller *it = k >= 0 ? impulse_rolled(s, k) : NULL;
    double square = 0;
    for (int i = 0; i < 3 && it; i++) {
        square += it->begun[i] * it->begun[i];
    }
    return it && CHORD_WEIGHT * scale * sqrt(square) <= push;
}

/* The slip of a unit, as k times a speed. */
static double slip_of(const prox_unit *it, const double *lambda, const double *z)
{
    double square = 0;
    for (int i = 1; i < it->rows; i++) {
        square += (z[i] - lambda[i]) * (z[i] - lambda[i]);
    }
    return sqrt(square);
}

void chord_guess_modes(step_impulse *s)
{
    impulse_chord *x = &s->chord;
    int contacts = x->units - s->touch.found.count; /* they come last, a unit each */
    double most = 0;
    for (int i = 0; i < s->problem.rows; i++) {
        most = fmax(most, fabs(x->lambda[i]));
    }
    for (int k = 0; k < x->units; k++) {
        prox_unit *it = &x->unit[k];
        const double *lambda = x->lambda + it->at, *z = x->z + it->at;
        prox_guess(it, lambda, z, 0);
        int rests = s->rounds == 0
                        ? rested(s, k - contacts, x->scale[it->at], most)
                        : it->now.mode == PROX_SLIDES && slip_of(it, lambda, z) <= lambda[0];
        if (rests && it->rows > 1) {
            it->now.mode = PROX_HELD;
        }
        if (it->now.mode == PROX_SLIDES) { /* which way */
            prox_carry_on(x->coulomb, it, 0, lambda, z, x->change + it->at);
        }
    }
}

/* ---- After it -------------------------------------------------------------------------------- */

/* -k w after the step, of row r of a unit that is not held */
static double speed_after(const impulse_chord *x, const prox_unit *it, int r)
{
    int i = it->at + r;
    return x->z[i] - it->soft * (x->lambda[i] + CHORD_WEIGHT * x->moved[i]);
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

/* The mode that the law requires after the step, if it differs from the one assumed. */
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

/* Modes for another try; 0: the current ones are right. */
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

/* ---- Sweeps ---------------------------------------------------------------------------------- */

/* W = G N \ B' with what gives way, in whole lines, and in change the speeds for lambda = 0; 0:
 * there are no factors. */
static int find_delassus(impulse_chord *x, int rows, int lines)
{
    const int n = x->n, wide = x->wide;
    memcpy(x->K, x->N, (size_t)(n * wide) * sizeof(double));
    if (dense_ul(n, x->K, wide, x->U) != n) {
        return 0;
    }
    memcpy(x->way, x->lack, (size_t)wide * sizeof(double));
    dense_ul_solve(n, x->K, wide, x->U, x->way);
    memcpy(x->answer, x->B, (size_t)rows * (size_t)wide * sizeof(double));
    for (int j = 0; j < rows; j++) {
        dense_ul_solve(n, x->K, wide, x->U, x->answer + (size_t)j * (size_t)wide);
    }
    memset(x->W, 0, (size_t)rows * (size_t)lines * sizeof(double));
    for (int i = 0; i < rows; i++) {
        const double *G = x->G + (size_t)i * (size_t)wide;
        double *W = x->W + (size_t)i * (size_t)lines, by = 0;
        dense_lines_times(1, wide, G, x->way, &x->change[i]);
        dense_lines_times(rows, wide, x->answer, G, W);
        for (int j = 0; j < rows; j++) {
            by += W[j] * x->lambda[j];
        }
        x->change[i] += x->speed[i] / CHORD_WEIGHT - by;
    }
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        x->W[(size_t)it->at * (size_t)(lines + 1)] += (1 - it->soft) / (it->soft * CHORD_WEIGHT);
    }
    return 1;
}

/* Modes of the multipliers that the sweeps have reached. */
static void read_modes(impulse_chord *x)
{
    for (int k = 0; k < x->units; k++) {
        prox_unit *it = &x->unit[k];
        const double *lambda = x->lambda + it->at;
        if (it->rows == 1) {
            it->now.mode = lambda[0] <= it->low    ? PROX_OPEN
                           : lambda[0] >= it->high ? PROX_FULL
                                                   : PROX_HELD;
        } else {
            it->now.mode = !(lambda[0] > 0) ? PROX_OPEN
                           : cone_tangent(it->rows, lambda) < (1 - INSIDE) * lambda[0]
                               ? PROX_HELD
                               : PROX_SLIDES;
        }
        if (it->now.mode == PROX_SLIDES) {
            prox_carry_on(x->coulomb, it, 0, lambda, x->z + it->at, x->change + it->at);
        }
    }
}

int chord_sweep(impulse_chord *x, int rows, double enough)
{
    const int lines = (rows + 7) / 8 * 8;
    double lambda[CHORD_ROWS] = {0};
    if (!x->coulomb || rows > CHORD_ROWS || !find_delassus(x, rows, lines)) {
        return 0;
    }
    memcpy(lambda, x->lambda, (size_t)rows * sizeof *lambda);
    prox_sweeps(x->units, x->unit, x->W, lines, x->change, enough, lambda);
    for (int i = 0; i < rows; i++) {
        x->change[i] = lambda[i] - x->lambda[i];
        x->lambda[i] = lambda[i];
    }
    dense_combine(rows, x->wide, x->change, 1, x->B, x->wide, x->lack);
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        for (int i = it->at; i < it->at + it->rows; i++) {
            x->z[i] = it->soft * (x->lambda[i] - x->speed[i]);
            x->off[i] = x->speed[i];
        }
    }
    read_modes(x);
    return 1;
}
