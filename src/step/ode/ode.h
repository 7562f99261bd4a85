/* One step after another of y' = f(t, y): the part of the motion that knows nothing of mechanics.
 *
 *     step_ode_options options = {.method = STEP_DOP853, .n = n, .field = f, .user = me,
 *                                 .project = onto_the_constraints, .tolerance = 1e-10};
 *     step_ode *ode = step_ode_create(&options, &error);
 *     step_ode_start(ode, t, y, &error);
 *     while (step_ode_look(ode)->t < end) {
 *         step_ode_advance(ode, end, &error);            one accepted step, never past `end`
 *         step_ode_dense(ode, t_inside, y_out, &error);  anywhere in the step just taken
 *     }
 *     step_ode_free(ode);
 *
 * An event at time te inside the step: step_ode_retake(ode, te, ...) takes the last step again but
 * only to te, as a real step with projection; then, if the event changed the state,
 * step_ode_restart(ode, te, y, ...). See step/events/event.h for finding te.
 *
 * Invariants
 * 1. The state is always (t, y, dy) with y projected and dy = f(t, y); after a failure it is the
 *    end of the last accepted step.
 * 2. Nothing is allocated after step_ode_create, except inside SUNDIALS.
 * 3. Same bits on every run and compiler: only + - * / and sqrt, in a fixed order (not STEP_BDF,
 *    whose arithmetic is that of the SUNDIALS library it is linked with).
 * 4. For adaptive methods the length of a step is the difference of its two end times, both as
 *    stored, so time has no accumulated round-off. Fixed steps end at t_start + k * step.
 * 5. y carries its low-order part over the steps (compensated summation).
 */
#ifndef ZW_STEP_ODE_H
#define ZW_STEP_ODE_H

#include "step/ode/symplectic.h"
#include "zwang/status.h"

/* dy = f(t, y). A status other than ZW_OK, or an entry that is not finite, makes the integrator
 * try again with shorter steps; what stays is reported. */
typedef zw_status step_field(void *user, double t, const double *y, double *dy, zw_error *error);

/* Move y, by about a tolerance, onto the manifold on which it belongs. */
typedef zw_status step_projection(void *user, double t, double *y, zw_error *error);

/* y onto the manifold, as a projection does, and dy = f(t, y) there. */
typedef zw_status step_exact_field(void *user, double t, double *y, double *dy, zw_error *error);

/* A whole step: y1 from (t, y0), after h. */
typedef zw_status step_whole(void *user, double t, double h, const double *y0, double *y1,
                             zw_error *error);

/* q moved along the speeds v for a time h. */
typedef void step_move(void *user, double *q, double h, const double *v);

typedef enum step_method {
    STEP_DOP853,      /* Dormand and Prince, order 8, adaptive; dense output of order 7 */
    STEP_RADAU,       /* Radau IIA, order 5, adaptive, for stiff problems; collocation polynomial */
    STEP_BDF,         /* variable order 1..5, adaptive, for stiff problems: CVODE from SUNDIALS */
    STEP_RK4,         /* fixed step; cubic Hermite dense output */
    STEP_EULER,       /* fixed step, semi-implicit, order 1; cubic Hermite dense output */
    STEP_VARIATIONAL, /* fixed step, discrete Lagrangian, order 2; cubic Hermite dense output */
    STEP_VARIATIONAL4, /* the same, composed to order 4 */
    STEP_MIDPOINT,     /* the same of order 2, but for the sigma of rotations */
    STEP_GIVEN         /* fixed step, a whole step of the caller's; a straight line in between */
} step_method;

typedef struct step_ode_options {
    step_method method;
    int n;
    step_field *field;
    step_projection *project; /* may be NULL */
    void *user;

    /* One-step adaptive methods: for fields that are singular beside the manifold where the motion
     * passes certain instants, and on it only by round-off. Both or neither. *margin, after a field
     * at a projected point, says how far that is from being so: linear in time on the way to zero,
     * 1 when far. The integrator leaps over such instants; see leap.c. */
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
     * `move` says how, and v has `speeds` entries. */
    int positions;
    int speeds;
    step_move *move;

    step_whole *given; /* of STEP_GIVEN; the field is asked at the start only */
    const int *seen;   /* NULL, or what it sets: y1 has been seen to be finite */
    double *kept;      /* [kept_count] what it hands from step to step, the caller's */
    int kept_count;

    /* Variational methods: the system, copied; y = (q, v, rest). The field is used for dense output
     * and to integrate the rest (by Simpson's rule), if there is any. There is no projection: the
     * method keeps its constraints. */
    const step_lagrangian *lagrangian;
} step_ode_options;

/* What there is to see; pointers hold until the next call that moves the state. */
typedef struct step_ode_view {
    double t;         /* now: the end of the last step */
    const double *y;  /* [n] */
    const double *dy; /* [n] f(t, y); NULL: not known (variational methods) */
    double t_before;  /* where the last step began; equals t before the first step */
    const double *y_before;
    double next;      /* the length that the next step will try */
    int culprit;      /* component with the largest error, or the first not finite; -1: none */
    double reachable; /* the tolerance that round-off allows, if that is known to be above the one
                         asked for; else 0 */
    long steps;       /* accepted; a retake is not a new step */
    long rejected;    /* tried and thrown away, for whatever reason */
    long evaluations; /* of the field */
} step_ode_view;

typedef struct step_ode step_ode;

/* NULL on failure, with the reason in `error` (which, here and below, may be NULL). */
step_ode *step_ode_create(const step_ode_options *options, zw_error *error);
void step_ode_free(step_ode *ode); /* NULL is fine */

/* Is its method one for stiff systems? */
int step_ode_is_stiff(const step_ode *ode);

/* Begin at (t, y); y must be on the manifold already. Counters start at 0. */
zw_status step_ode_start(step_ode *ode, double t, const double *y, zw_error *error);
/* Go on from (t, y) after a jump: keeps counters and what is known about the step size. */
zw_status step_ode_restart(step_ode *ode, double t, const double *y, zw_error *error);

/* Fixed steps: how many numbers the next step needs to know beside t and y (0: this is an adaptive
 * method), these numbers, and a start that goes on with them: with the same bits. */
int step_ode_memory(const step_ode *ode);
void step_ode_keep(const step_ode *ode, double *memory);
zw_status step_ode_resume(step_ode *ode, const double *y, const double *memory, zw_error *error);

/* One accepted step towards `limit`, which may lie in the past, and not beyond it; when the limit
 * is within reach, t == limit afterwards, exactly. At the limit already: nothing happens. */
zw_status step_ode_advance(step_ode *ode, double limit, zw_error *error);

/* The state at a time inside the last step, ends included, where it is exact. Not projected. */
zw_status step_ode_dense(step_ode *ode, double t, double *y, zw_error *error);

/* The last step again from its start, but to `t` (anywhere between its start and its first end):
 * one step of the method, projected. Dense output then covers the shorter step. May be called
 * again, with any other t of the original step. STEP_BDF: the interpolant at t, projected. */
zw_status step_ode_retake(step_ode *ode, double t, zw_error *error);

const step_ode_view *step_ode_look(const step_ode *ode);

/* Is the method there in this build? (STEP_BDF may be missing.) */
int step_method_present(step_method method);

#endif
