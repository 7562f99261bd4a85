/* Equilibria and small motions: find an equilibrium, and linearise about it, about a steady motion
 * or about a periodic one.
 *
 *     zw_rest(model, system, state, work, NULL, &rest, &error);       the state is there now
 *     zw_modes *modes = zw_modes_create(model, system, state, 0, &error);
 *     zw_mode mode = zw_modes_look(modes, k);
 *     zw_modes_free(modes);
 *
 * With x = (q, v) and x' = f(x), small deviations follow y' = F y, F = df/dx (slopes.h), and stay
 * tangent to the constraints: F is restricted to the space of these, so that there are no modes of
 * what cannot move. Deviations evolve as exp(s t), with the eigenvalues s of this restriction.
 *
 * Along a motion that is steady (a bicycle that rolls straight on), F is constant too. Where forces
 * are periodic, give the period: the eigenvalues are those of the map of deviations over it
 * (monodromy), and s = log(multiplier)/period.
 */
#ifndef ZWANG_MODES_H
#define ZWANG_MODES_H

#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- Rest --------------------------------------------------------------------------------- */

typedef struct zw_rest_options {
    double tolerance; /* of accelerations, relative to the largest on the way, or that a way of 1
                         would give; 0: 1e-10 */
    int iterations;   /* at most; 0: 200 */
} zw_rest_options;

typedef struct zw_rest_report {
    int iterations;
    double acceleration; /* largest that is left */
    double moved;        /* largest change of a coordinate, along speeds */
} zw_rest_report;

/* Moves the state to a nearby equilibrium, where nothing accelerates from rest: it is followed
 * as through honey, q' ~ a, by implicit steps that grow until they are Newton's. So it goes
 * downhill, and stays where it is if it stands on top. Speeds become zero. ZW_NOT_REACHED: none was
 * found. */
zw_status zw_rest(const zw_model *model, const zw_system *system, zw_state *state, zw_work *work,
                  const zw_rest_options *options, zw_rest_report *report, zw_error *error);

/* ---- Modes -------------------------------------------------------------------------------- */

typedef struct zw_modes zw_modes;

typedef struct zw_mode {
    double growth;    /* real part of s, 1/time: negative dies out */
    double frequency; /* imaginary part, in radians by time; never negative: pairs are one mode */
    double damping;   /* -growth/|s|; of s = 0: 0 */
    double multiplier[2]; /* of a period; else exp(s) is not asked for, and these are 0 */
} zw_mode;

typedef enum zw_stability {
    ZW_STABLE,  /* all modes die out */
    ZW_NEUTRAL, /* none grows, some neither grow nor die out */
    ZW_UNSTABLE
} zw_stability;

/* The state is only read; model and system must outlive it. period 0: none. */
zw_modes *zw_modes_create(const zw_model *model, const zw_system *system, const zw_state *state,
                          double period, zw_error *error);
void zw_modes_free(zw_modes *modes);

int zw_modes_count(const zw_modes *modes);              /* pairs count once */
zw_mode zw_modes_look(const zw_modes *modes, int mode); /* those that grow fastest first */
/* The shape of a mode: n pairs (real, imaginary) of deviations along the speeds; the largest is 1.
 */
const double *zw_modes_shape(const zw_modes *modes, int mode);
/* The state moved along a mode, for pictures: positions by size Re(shape exp(i phase)), then onto
 * the constraints. Speeds are zero. */
zw_status zw_modes_move(const zw_modes *modes, int mode, double size, double phase,
                        const zw_state *from, zw_state *to, zw_work *work, zw_error *error);
zw_stability zw_modes_stability(const zw_modes *modes);
/* How far F leads out of the tangent space, relative to its size: 0 at rest and in steady motion.
 * Of a period: how far the motion is from where it was. More than round-off: it is not steady. */
double zw_modes_unsteady(const zw_modes *modes);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
