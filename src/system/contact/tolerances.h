/* Numbers of contact: quantity, unit, reason, and the test that fails with another. Searches on the
 * way of a step (contact_path), waiting (contact_wait), contacts at an instant (contact_now).
 * Ratios, unless a unit is given. */
#ifndef ZW_SYSTEM_CONTACT_TOLERANCES_H
#define ZW_SYSTEM_CONTACT_TOLERANCES_H

/* ---- At an instant: test/step/test_touch_now.c ----------------------------------------------- */

/* Gaps count as closed up to TOUCH of the smaller geom, which is what its shape is known to, and up
 * to FAR of the distance from the origin, or of 1 m: round-off of positions, with room for what
 * integrators add. */
#define CONTACT_TOUCH 1e-6
#define CONTACT_FAR 1e-9

/* Speeds count as zero up to this part of 1 m/s or of the largest speed; and slips up to this part
 * of the speed that gravity gives in a step, as contacts of the last step may still have that. */
#define CONTACT_REST 1e-8
#define CONTACT_SLIPS 0.1

/* The shift that makes a contact slide on, in multiples of the accelerations: with more of it fewer
 * rounds are needed, and round-off grows. */
#define CONTACT_PUSH 100

/* Errors of the direction of friction below this are accepted where a round does not halve them, as
 * round-off, or the kernel's own error, does not allow for less. */
#define CONTACT_LEFT 1e-7

/* Rates of rows are differences over motions of this part of the geoms: its fourth power, and
 * round-off over it, are both below 1e-12. */
#define CONTACT_ASIDE 0x1p-12

/* Depths of overlaps, relative to the largest distance from the origin, or to 1 m: deeper ones are
 * tested whether they can separate (OVERLAP), and have no friction (DEEP). Steps have the
 * same: IMPULSE_OVERLAP, IMPULSE_INSIDE. test/step/test_touch_deep.c */
#define CONTACT_OVERLAP 1e-6
#define CONTACT_DEEP 1e-4

/* The compliance of points in that test, and the part of its depth that a pair may keep and count
 * as separable. step/impulse/impulse_part.c. test/step/test_touch_deep.c, test_overlap.c */
#define CONTACT_GIVE 1e-3
#define CONTACT_LACK 0.1

/* ---- On the way of a step: test/system/test_contact_path.c ----------------------------------- */

/* Pairs closer than this touch (m): from the sum of the two thicknesses, which a step resolves to a
 * millionth, and round-off of positions whose coordinates sum to `far`. */
#define CONTACT_PATH_HAIR(thick, far) (1e-6 * (thick) + 1e-13 * ((far) + (thick)))

/* The largest number of tests on a path; beyond it nothing is proved. */
enum { CONTACT_PATH_LOOKS = 400 };

/* Fraction of the depth that cannot be passed: closer pairs in the problem of one linearisation
 * count as touching. The problem determines how they meet; a proof that they do not touch at all
 * would have to follow a gap of the size of round-off along bounds of the accelerations, in
 * hundreds of tests. (test/step/test_cost.c checks it from both sides: 0 and 1 both cost more.) */
#define CONTACT_PATH_NEAR 0.1

/* ---- Waiting: test/system/test_crowd.c ------------------------------------------------------- */

/* Two geoms a distance apart need no test until one of them has moved by half of it; less, which
 * covers round-off. */
#define CONTACT_HALF 0.49

#endif
