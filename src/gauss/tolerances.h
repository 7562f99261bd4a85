/* Constants that several files of the kernel share, each with its meaning, its reason and the test
 * that guards it. All are ratios: no unit of the problem enters. */
#ifndef ZW_GAUSS_TOLERANCES_H
#define ZW_GAUSS_TOLERANCES_H

#include <float.h>

/* Scales of residuals and forces are at least this part of the sizes of what they are made of, so
 * that a problem whose free motion is all but admissible is not measured against its round-off:
 * with 1e-3 a certificate of 1e-10 asks for 1e-13 of the terms, which sums of doubles can give.
 * Held by test/gauss/test_certificate.c. */
#define GAUSS_SCALE_FLOOR 1e-3

/* Certificates. SOLVED: what is requested without cones, where round-off is all that is left. GOOD:
 * with cones, whose directions of sliding cost half of the digits; it is accepted where more was
 * requested and cannot be reached. SETTLED, of the tolerance: better ones are not refined. */
#define GAUSS_SOLVED 1e-10
#define GAUSS_GOOD 1e-8
#define GAUSS_SETTLED 1e-3

/* Round-off of forces that cancel, of their sizes, which no certificate counts as an error; but not
 * more than GRANTED_MOST of the scale of forces. */
#define GAUSS_GRANTED (64.0 * DBL_EPSILON)
#define GAUSS_GRANTED_MOST 1e-8

/* Of the scale of forces: a smaller multiplier is a trace, and its row does not push. */
#define GAUSS_PUSHES 1e-6

/* Of the largest entry of a vector that proves a conflict, or along which nothing has mass: what is
 * smaller is round-off, and is not named in the message. */
#define GAUSS_NAMED 1e-6

/* A pivot below this fraction of its diagonal entry counts as zero: a metric is singular there, a
 * row depends on the others. Relative to the entry itself, so that units and mass ratios do not
 * matter. */
#define GAUSS_PIVOT_FLOOR 1e-13

/* Friction below this counts as none: its rows would be shorter than the others by 1e9, and their
 * forces below the round-off of the others. */
#define GAUSS_NO_FRICTION 1e-9

/* Rows of projections (of positions, of speeds, of impacts) are dependent below this relative
 * length: along the remainder round-off would be amplified a million times. */
#define GAUSS_PROJECTION_RANK 1e-6

#endif
