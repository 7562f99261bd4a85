/* Steps of y' = f(t, y): the part of the motion that is independent of mechanics.
 *
 *     step_ode_options options = {.method = STEP_DOP853, .n = n, .field = f, .user = me,
 *                                 .project = onto_the_constraints, .tolerance = 1e-10};
 *     stepper *ode = step_ode_create(&options, &error);
 *
 * step/stepper.h declares what can be done with it. A retake is an actual step with projection.
 *
 * Invariants
 * 1. The state is always (t, y, dy) with y projected and dy = f(t, y); after a failure it is the
 *    end of the last accepted step.
 * 2. Nothing is allocated after step_ode_create, except inside SUNDIALS.
 * 3. Same bits on every run and compiler: only + - * / and sqrt, in a fixed order (not STEP_BDF,
 *    whose arithmetic is that of the SUNDIALS library it is linked with).
 * 4. For adaptive methods the length of a step is the difference of its two end times, both as
 *    stored, so time has no accumulated round-off. Fixed steps end at t_start + k * step.
 * 5. y carries its low-order part over the steps (compensated summation). */
#ifndef ZW_STEP_ODE_H
#define ZW_STEP_ODE_H

#include "step/ode/symplectic.h"
#include "step/stepper.h"

/* dy = f(t, y). After a status other than ZW_OK, or an entry that is not finite, the integrator
 * tries again with shorter steps; a failure that persists is reported. */
typedef zw_status step_field(void *user, double t, const double *y, double *dy, zw_error *error);

/* Moves y, by about a tolerance, onto the manifold to which it belongs. */
typedef zw_status step_projection(void *user, double t, double *y, zw_error *error);

/* Projects y onto the manifold, and computes dy = f(t, y) there. */
typedef zw_status step_exact_field(void *user, double t, double *y, double *dy, zw_error *error);

/* Moves q along the speeds v for a time h. */
typedef void step_move(void *user, double *q, double h, const double *v);

typedef enum step_method {
    STEP_DOP853,      /* Dormand and Prince, order 8, adaptive; dense output of order 7 */
    STEP_RADAU,       /* Radau IIA, order 5, adaptive, for stiff problems; collocation polynomial */
    STEP_BDF,         /* variable order 1..5, adaptive, for stiff problems: CVODE from SUNDIALS */
    STEP_RK4,         /* fixed step; cubic Hermite dense output */
    STEP_EULER,       /* fixed step, semi-implicit, order 1; cubic Hermite dense output */
    STEP_VARIATIONAL, /* fixed step, discrete Lagrangian, order 2; cubic Hermite dense output */
    STEP_VARIATIONAL4, /* the same, composed to order 4 */
    STEP_MIDPOINT      /* as VARIATIONAL, but without the sigma of rotations */
} step_method;

typedef struct step_ode_options {
    step_method method;
    int n;
    step_field *field;
    step_projection *project; /* may be NULL */
    void *user;

    /* One-step adaptive methods: for fields that are singular off the manifold where the motion
     * passes certain instants, and on it only by round-off. Both or neither. *margin, after a field
     * evaluation at a projected point, is the distance from such an instant: it falls to zero
     * linearly in time, and is 1 far away. The integrator leaps over such instants; see leap.c. */
    step_exact_field *exact;
    const double *margin;

    /* Adaptive: the error of a step, component by component, is kept below
     * tolerance * (weight_i + |y_i|). 0: 1e-10. (STEP_BDF: in the mean over the components.) */
    double tolerance;
    const double *weight; /* [n] > 0, copied; NULL: 1 */
    double step;          /* fixed-step methods: the step. Adaptive: the largest; 0: no limit */
    double first;         /* adaptive: the first step to try; 0: estimated */

    /* Semi-implicit Euler: y = (q, v, rest) with `positions` entries in q and in v; the rest, if
     * any, is advanced explicitly. 0: n / 2. Where q is not moved by adding h v (quaternions),
     * `move` does it, and v has `speeds` entries. */
    int positions;
    int speeds;
    step_move *move;

    /* Variational methods: the system, copied; y = (q, v, rest). The field is used for dense output
     * and to integrate the rest (by Simpson's rule), if there is any. There is no projection: the
     * method satisfies its constraints itself. */
    const step_lagrangian *lagrangian;
} step_ode_options;

/* NULL on failure, with the reason in `error` (which may be NULL). */
stepper *step_ode_create(const step_ode_options *options, zw_error *error);

/* Is the method available in this build? (STEP_BDF may be missing.) */
int step_method_present(step_method method);

#endif
