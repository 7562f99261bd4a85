/* Constants that several files of the kernel share, each with its meaning, its reason and the test
 * that guards it. All are ratios: no unit of the problem enters. */
#ifndef ZW_GAUSS_TOLERANCES_H
#define ZW_GAUSS_TOLERANCES_H

/* Scales of residuals and forces are at least this part of the sizes of what they are made of, so
 * that a problem whose free motion is all but admissible is not measured against its round-off:
 * with 1e-3 a certificate of 1e-10 asks for 1e-13 of the terms, which sums of doubles can give.
 * Held by test/gauss/test_certificate.c. */
#define GAUSS_SCALE_FLOOR 1e-3

/* Friction below this counts as none: its rows would be shorter than the others by 1e9, and their
 * forces below the round-off of the others. */
#define GAUSS_NO_FRICTION 1e-9

/* Rows of projections (of positions, of speeds, of impacts) are dependent below this relative
 * length: along the remainder round-off would be amplified a million times. */
#define GAUSS_PROJECTION_RANK 1e-6

#endif
