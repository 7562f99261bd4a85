/* Pulses: formulas that are sharp, such as exp(-((t - 5)/1e-3)^2), and may have come and gone
 * between the places at which a method looks at its field. Then all of them agree that nothing was
 * there, and no estimate of an error knows better.
 *
 * Watched is every part of a formula of the motion that depends on one variable alone (time, a
 * coordinate or a speed) and can be sharp: it has a quotient, an exponential, a power, tanh or atan
 * in it. (What is a polynomial, or a sine of something, changes as slowly as its argument.) Its
 * values where the method looks span [low, high]. Interval arithmetic over the
 * same tape, on pieces that are halved as long as need be, proves that it stays within
 *
 *     [low - (high - low), high + (high - low)]
 *
 * in all of the step, but for a thousandth of these values, or finds where it does not: such a step
 * is to be taken again, shorter. What is left is seen by the method: a parabola stays within a
 * quarter of that. (Small pulses on something large are seen by the part that they are themselves.)
 *
 * Coordinates go as the cubic through places and speeds of both ends, speeds linearly.
 *
 * Limits. Of formulas of several variables exponentials and tanh are watched, quotients and powers
 * are not, nor is what is seen of bodies. */
#ifndef ZW_STEP_PULSE_H
#define ZW_STEP_PULSE_H

#include "step/events/kink.h"
#include "step/stepper.h"

typedef struct step_pulses {
    const step_motion *motion;
    int count;       /* parts that are watched; 0: none */
    int variables;   /* that they depend on, */
    int *variable;   /* [variables] 0: time, 1 + i: component i of y */
    double *b;       /* [variables][4] and how each goes, in Bernstein's basis, */
    double *part;    /* [variables][4] over a piece */
    expr_tape *tape; /* of these parts */
    int below_count;
    int *below;    /* [below_count] nodes that the parts are made of */
    expr_id *node; /* [count] in the graph, rising */
    double *registers, *out;
    const double *look; /* [looks] where the method looks, in parts of a step */
    int looks;
    double *low, *high;           /* [count] between which a part is where the method looks, */
    double *size;                 /* [count] and how large; */
    int sized;                    /* it is known how large what cancels in them is */
    double *value;                /* [2][last node + 1] scratch */
    expr_jet *jets, *jet_out, *y; /* y: [size] */
    double *at, now;              /* [size] a state, and its time */
} step_pulses;

zw_status pulses_create(step_pulses *pulses, const step_motion *motion, zw_error *error);
void pulses_free(step_pulses *pulses);
/* How many parts of the motion's formulas are watched; -1: no memory. */
int pulses_exist(const zw_system *system);

/* The last step, on the sides of its kinks. *at: the part of it after which something shows that
 * was not seen where the method looks, in (0, 1); 1: nothing does, which is `proved`, or could not
 * be. */
void pulses_scan(step_pulses *pulses, const step_kinks *kinks, const stepper_view *step,
                 zw_method method, double *at, int *proved);

#endif
