/* Theorem 2 of Kozlov (2000), and its form for (18): for laws whose multiplier has a rate.
 *
 * Along a path a law (18) can exert the forces
 *
 *     W lambda = -alpha ((lambda Phi_v)' - lambda Phi_q) - beta lambda Phi_v
 *
 * for functions lambda(t), and R = [T] - F of a motion is one of them. Integrated by parts against
 * a variation dx that vanishes at both ends,
 *
 *     int W lambda . dx dt = int lambda (alpha Phi_v dx' + alpha Phi_q dx - beta Phi_v dx) dt,
 *
 * so that W is the adjoint of the operator whose null space consists of the admitted variations.
 * (The paper prints + beta in that equation, its last one. With (18) as printed there it must be -
 * beta, as the line above shows; for beta = 0, equation (12), there is no difference.) R = W lambda
 * for some lambda if and only if int R . dx = 0 for all admitted dx, which is the theorem. The
 * distance of a path from that can be measured. In (13), with any metric B for A (remark a),
 *
 *     int B^-1 (R + B dx) . (R + B dx) dt = int |R|^2 + 2 int R . dx + int B dx . dx
 *
 * is least for -dx = B^-1 times the part of R that is orthogonal to all W lambda, and the least
 * value is int |R|^2 less the square of that part,
 *
 *     defect = min over lambda of  int |R - W lambda|^2 dt.
 *
 * What is left over, extra = R - W lambda, is the extra force that would be needed. Unlike Theorem
 * 1 this cannot be evaluated instant by instant, since lambda at one time depends on all others.
 *
 * Rows that carry no multiplier (holonomic ones) can exert any force along A' at any time, as in
 * Theorem 1: their part is removed from R and from W lambda first.
 *
 * Where W lambda = 0 has other solutions than 0 (abnormal paths; rows that are integrable, for
 * which a constant lambda exerts no force) the path does not determine lambda. Then the smallest
 * one is chosen, up to the error of the path; the extra force is the same for all.
 *
 * Finite N, (17) with alpha > 0: R = W lambda holds as it stands, with lambda = N Phi(path). Using
 * that value would multiply errors of the speeds by N in the force. So lambda is the least-squares
 * solution here as well, and N Phi only where R does not determine it; Phi = lambda/N remains a
 * constraint that the path must satisfy. */
#ifndef ZW_PATH_VARIATION_H
#define ZW_PATH_VARIATION_H

#include "base/memory.h"
#include "system/work.h"

typedef struct path_variation {
    /* The path: q, v, a [count * n], in parts in which they are smooth. lambda may jump from one
     * part to the next; no condition links them. */
    const zw_system *system; /* with carried multipliers, alpha > 0 */
    zw_work *work;           /* bound to the parameters */
    long count;
    const double *t, *q, *v, *a;
    int parts;
    const long *part;     /* [parts + 1] */
    const double *metric; /* B[n * n], or NULL: the masses */
    double blur;          /* relative error of the speeds: effects of lambda below it are ignored */
    zw_poll *poll;        /* or NULL */
    void *user;

    /* Results, in arrays of the caller: */
    double *
        lambda; /* [count * m] of all rows; for rows without a carried multiplier as in Theorem 1 */
    double *carried; /* [count * carried] */
    double *rate;    /* [count * carried] its derivative */
    double *extra;   /* [count * n] */
    double *apart;   /* [count * n] B \ extra */
    double *size;    /* [count] |extra| in the metric B^-1 */
    double *square;  /* [count] |R|^2 */
    double *error;   /* [count] error of |extra| by discretisation and round-off */
    double whole;    /* integral of |R|^2: the right side of (13) */
    double defect;   /* integral of |extra|^2: `whole` minus the least left side */
} path_variation;

zw_status path_variation_solve(path_variation *variation, zw_error *error);

/* ---- variation_rows.c: R and W at one sample ------------------------------------------------- */

/* Vectors are in coordinates in which the metric is the identity, and in which the first `rank`
 * directions span the forces of rows without a carried multiplier. */
typedef struct path_rows {
    int n, carried;
    int others, rank; /* rows without a carried multiplier */
    double *x;        /* [(2 carried + 1) * n] W of lambda', W of lambda, R */
    double square;    /* |R|^2 */
    double *held;     /* [carried] N Phi, or 0 where N is infinite */

    double *factor; /* [n * n] upper, of the metric */
    double *normal; /* [others * n] */
    double *beta, *distance;
    int *order, *row;
    double *v; /* [n + carried] */
} path_rows;

void path_rows_lay_out(path_rows *rows, const zw_system *system, base_arena *arena);
zw_status path_rows_look(path_rows *rows, const path_variation *variation, long i, zw_error *error);
/* For a remainder x[n], puts the multipliers of the other rows into lambda[m] and leaves the extra
 * force in x, in the coordinates in which the metric is the identity. */
void path_rows_take(const path_rows *rows, double *x, double *lambda);
/* From those coordinates to forces, and to accelerations by the metric. */
void path_rows_force(const path_rows *rows, const double *x, double *force);
void path_rows_apart(const path_rows *rows, double *x);

#endif
