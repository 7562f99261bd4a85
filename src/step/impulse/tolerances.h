/* Numbers that several files of a step share: quantity, unit, reason, and the test that fails with
 * another. Those that one file needs are at its head. */
#ifndef ZW_STEP_IMPULSE_TOLERANCES_H
#define ZW_STEP_IMPULSE_TOLERANCES_H

#include "system/contact/tolerances.h"

/* Depths of overlaps, relative to the size of the mechanism: deeper ones are separated before a
 * step (OVERLAP), and have no friction (INSIDE). With one linearisation, which leaves curvature
 * effects in gaps and corrects them slowly, both are SUNK, except while overlaps are being
 * separated and in motions that begin. test/step/test_overlap.c. */
#define IMPULSE_OVERLAP CONTACT_OVERLAP
#define IMPULSE_INSIDE CONTACT_DEEP
#define IMPULSE_SUNK 1e-2

/* Of positions and gaps, relative to the size of the mechanism: as near as round-off allows. */
#define IMPULSE_PLACE 1e-13

/* The same, up to which gaps are closed where nothing bounces, limits are reached, lever arms are
 * none, and separated pairs exceed contact. */
#define IMPULSE_CLOSED 1e-12

/* Of the balance, relative to its terms: enough where round-off prevents better, and for a step by
 * one linearisation that needs rounds. */
#define IMPULSE_BALANCED 1e-9

/* m/s: the speed at which overlaps are separated, slow enough that nothing is thrown. */
#define IMPULSE_RECOVERY 0.5

/* m: gaps up to this are closed for adhesion. test/step/test_grip.c. */
#define IMPULSE_GRIP 1e-6

/* Relative to a step: a remainder of a few roundings is no piece. */
#define IMPULSE_ROUNDED 4e-15

/* m/s: added to the speed that gravity gives in a step, below which a landing is no impact: without
 * gravity that would be 0, and round-off would land. */
#define IMPULSE_SLOWEST 1e-9

/* The weight k of rows in Newton's method with known modes, in units in which rows have length one:
 * gauss/contact/prox.c derives it. test/step/test_chord.c. */
#define CHORD_WEIGHT 1e5

#endif
