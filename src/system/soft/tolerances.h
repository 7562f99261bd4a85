/* Numbers of the soft law, for one world and for eight: quantity, unit, reason, and the test that
 * fails with another. */
#ifndef ZW_SYSTEM_SOFT_TOLERANCES_H
#define ZW_SYSTEM_SOFT_TOLERANCES_H

/* Part of the laws as MuJoCo has them, and of its fluids, tendons, drives and sensors. Lower bound
 * of denominators, of widths of impedances (m or rad) and of weights of mixtures:
 * test/system/test_soft_step.c, widths_of_impedance. */
#define SOFT_LEAST 1e-15

/* The same for coefficients of friction: test_soft_step.c, slippery_floors_brake_little. */
#define SOFT_LEAST_FRICTION 1e-5

/* Contacts push away by so much less, in m/s^2: a thousand times the round-off of accelerations of
 * 1 m/s^2, and no more than what they add to a speed in a step that is lost in round-off of 1 m/s.
 * Where bodies just touch (a tower that begins to stand) rows would else be at the edge of pushing
 * but for round-off, and the last bits would depend on the start of the search: test_once.c,
 * towers. */
#define SOFT_HAIR 1e-12

/* The gradient of Newton's method, relative to the largest of its terms. EXACT: round-off leaves no
 * less, and no step is tried: test_crowd.c. CLOSE: enough where a step does not halve it any more:
 * test_soft_deep.c. With more than GAUSS_GOOD after all steps, a step fails. */
#define SOFT_EXACT 1e-13
#define SOFT_CLOSE 1e-10

/* Accelerations start from their last values plus this part of their last change: measured to save
 * most iterations for falling humanoids. Results do not depend on it; test/step/test_cost.c does.
 */
#define SOFT_ONWARD 0.6

/* Products in the factorisation of an island beyond which its factor is sparse (soft_large.c), so
 * that no path in it is longer than the cube root of six times that; and products per dof beyond
 * which chains are factored as articulated bodies: soft_deep.c, test_soft_deep.c. Measured; results
 * do not depend on them. */
#define SOFT_TOO_LONG 1e6
enum { SOFT_DEEPEST = 184 };
#define SOFT_DEEP 1600

#endif
