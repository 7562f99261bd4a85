/* The zero of a rising function f on t > 0, given f(0) < 0, by bracketed secants: one try at a
 * time.
 *
 *     bracket b = bracket_start(f0);
 *     while (bracket_next(&b, f(b.t))) { }
 *     the answer is b.t
 */
#ifndef ZW_MATH_SEARCH_H
#define ZW_MATH_SEARCH_H

typedef struct bracket {
    double t; /* where to look next; in the end the answer */
    double start, low, high, at_low, at_high;
    int tries;
} bracket;

bracket bracket_start(double f0);
int bracket_next(bracket *b, double f); /* f = f(t); 0 when |f| has fallen to a twentieth of |f0| */

#endif
