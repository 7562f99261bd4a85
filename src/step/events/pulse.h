/* Pulses: sharp formulas, such as exp(-((t - 5)/1e-3)^2), which may rise and fall between the
 * points at which a method evaluates its field. Then all evaluations miss it, and no error estimate
 * can notice.
 *
 * Every part of a formula of the motion is watched that depends on one variable alone (time, a
 * coordinate or a speed) and can be sharp: it contains a quotient, an exponential, a power, tanh or
 * atan. (A polynomial, or a sine, changes as slowly as its argument.) Its values where the method
 * evaluates the field span [low, high]. Interval arithmetic over the same tape, on pieces that are
 * halved as often as necessary, proves that it stays within
 *
 *     [low - (high - low), high + (high - low)]
 *
 * in the whole step, up to a thousandth of these values, or finds where it does not: then the step
 * must be repeated with a shorter length. The method resolves what remains: a parabola stays within
 * a quarter of that range. (Small pulses added to something large are found because they are
 * watched as a part themselves.)
 *
 * Coordinates follow the cubic through the coordinates and speeds of both ends; speeds are linear.
 *
 * Limits. In formulas of several variables exponentials and tanh are watched; quotients and powers
 * are not, nor is anything that depends on bodies. */
#ifndef ZW_STEP_PULSE_H
#define ZW_STEP_PULSE_H

#include "step/events/kink.h"
#include "step/stepper.h"

typedef struct step_pulses {
    const step_motion *motion;
    int count;       /* number of watched parts; 0: none */
    int variables;   /* that they depend on, */
    int *variable;   /* [variables] 0: time, 1 + i: component i of y */
    double *b;       /* [variables][4] and the course of each, in the Bernstein basis, */
    double *part;    /* [variables][4] over a piece */
    expr_tape *tape; /* of these parts */
    int below_count;
    int *below;    /* [below_count] nodes below the parts */
    expr_id *node; /* [count] in the graph, ascending */
    double *registers, *out;
    const double *look; /* [looks] where the method evaluates the field, in fractions of a step */
    int looks;
    double *low, *high;           /* [count] the range of a part at those points, */
    double *size;                 /* [count] and its size; */
    int sized;                    /* whether the sizes of cancelling terms are known */
    double *value;                /* [2][last node + 1] scratch */
    expr_jet *jets, *jet_out, *y; /* y: [size] */
    double *at, now;              /* [size] a state, and its time */
} step_pulses;

zw_status pulses_create(step_pulses *pulses, const step_motion *motion, zw_error *error);
void pulses_free(step_pulses *pulses);
/* The number of watched parts of the motion's formulas; -1: no memory. */
int pulses_exist(const zw_system *system);

/* The last step, with the sides of its kinks. *at: the fraction of it, in (0, 1), after which
 * something appears that the method did not see; 1: nothing does, which is `proved`, or could not
 * be. */
void pulses_scan(step_pulses *pulses, const step_kinks *kinks, const stepper_view *step,
                 zw_method method, double *at, int *proved);

#endif
