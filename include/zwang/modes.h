/* Equilibria and small motions: find an equilibrium, and linearise about it, about a steady motion
 * or about a periodic one.
 *
 *     zw_rest(model, system, state, work, NULL, &rest, &error);       the state is there now
 *     zw_modes *modes = zw_modes_create(model, system, state, 0, &error);
 *     zw_mode mode = zw_modes_look(modes, k);
 *     zw_modes_free(modes);
 *
 * With x = (q, v) and x' = f(x), small deviations follow y' = F y, F = df/dx (slopes.h), and stay
 * tangent to the constraints: F is restricted to the space of these, so that directions that cannot
 * move have no modes. Deviations evolve as exp(s t), with the eigenvalues s of this restriction.
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
    double tolerance; /* of accelerations, relative to the largest met on the way, or to what a
                         displacement of 1 would cause; 0: 1e-10 */
    int iterations;   /* the most that are made; 0: 200 */
} zw_rest_options;

typedef struct zw_rest_report {
    int iterations;
    double acceleration; /* largest that remains */
    double moved;        /* largest change of position along a speed */
} zw_rest_report;

/* Moves the state to a nearby equilibrium, where nothing accelerates from rest, by following the
 * overdamped motion q' ~ a in implicit steps that grow until they are Newton's. So it moves towards
 * lower potential energy; a start in an unstable equilibrium stays there. Speeds become zero, and
 * activations of actuators what their controls lead them to.
 * ZW_NOT_REACHED: no equilibrium was found. */
zw_status zw_rest(const zw_model *model, const zw_system *system, zw_state *state, zw_work *work,
                  const zw_rest_options *options, zw_rest_report *report, zw_error *error);

/* ---- Modes -------------------------------------------------------------------------------- */

typedef struct zw_modes zw_modes;

typedef struct zw_mode {
    double growth;    /* real part of s, 1/time; negative: it decays; -INFINITY: over the period by
                         more than 1e12, which is more than the map over it resolves */
    double frequency; /* imaginary part, radians per unit of time; never negative, as a conjugate
                         pair is one mode */
    double damping;   /* -growth/|s|; 0 if s = 0 */
    double multiplier[2]; /* over the period (real, imaginary part); 0 if no period was given */
} zw_mode;

typedef enum zw_stability {
    ZW_STABLE,  /* all modes decay */
    ZW_NEUTRAL, /* none grows, some neither grow nor decay */
    ZW_UNSTABLE
} zw_stability;

/* The state is only read; model and system must outlive the modes. period 0: none. */
zw_modes *zw_modes_create(const zw_model *model, const zw_system *system, const zw_state *state,
                          double period, zw_error *error);
void zw_modes_free(zw_modes *modes);

int zw_modes_count(const zw_modes *modes);              /* a conjugate pair counts once */
zw_mode zw_modes_look(const zw_modes *modes, int mode); /* fastest growing first */
/* The shape of a mode: n pairs (real, imaginary) of deviations along the speeds; the largest has
 * size 1.
 */
const double *zw_modes_shape(const zw_modes *modes, int mode);
/* The state displaced along a mode, for pictures: positions are moved by size Re(shape exp(i
 * phase)), then projected onto the constraints. Speeds are zero. */
zw_status zw_modes_move(const zw_modes *modes, int mode, double size, double phase,
                        const zw_state *from, zw_state *to, zw_work *work, zw_error *error);
zw_stability zw_modes_stability(const zw_modes *modes);
/* How far the state is from an equilibrium or a steady motion, relative to free accelerations and
 * those by a displacement of one: the largest acceleration along what constraints admit, its rate
 * along the motion, and how far F leads out of the tangent space. With a period: how far the motion
 * ends from where it began. If this is more than round-off, there are no such modes: the answer is
 * the linearisation at this instant (over this period), about a motion that goes elsewhere. */
double zw_modes_unsteady(const zw_modes *modes);
/* Forces or constraints depend on time, and no period was given: all of this (and a rest) is that
 * of the system as it is at the time of the state, as if it stayed so. */
int zw_modes_frozen(const zw_modes *modes);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
