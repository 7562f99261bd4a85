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
 * so that W is the adjoint of the operator whose kernel the admitted variations are. (The paper
 * prints + beta in that equation, its last one. With (18) as printed there it must be - beta, as
 * the line above shows; for beta = 0, equation (12), there is no difference.) R = W lambda for some
 * lambda if and only if int R . dx = 0 for all admitted dx, which is the theorem. How far a path is
 * from that has a measure. In (13), with any metric B for A (remark a),
 *
 *     int B^-1 (R + B dx) . (R + B dx) dt = int |R|^2 + 2 int R . dx + int B dx . dx
 *
 * is least for -dx = B^-1 times the part of R that is orthogonal to all W lambda, and the least
 * value is int |R|^2 less the square of that part,
 *
 *     defect = min over lambda of  int |R - W lambda|^2 dt.
 *
 * What is left over, extra = R - W lambda, is the extra force that would be needed.
 * Unlike Theorem 1 this cannot be done moment by moment: lambda at one time answers for all others.
 *
 * Rows without a multiplier of their own (holonomic ones) push with any force along A' at any time,
 * as in Theorem 1: their part is taken out of R and of W lambda first.
 *
 * Where W lambda = 0 has other solutions than 0 (abnormal paths; rows that are integrable, for
 * which a constant lambda does nothing) lambda is not determined by the path. Then it is the
 * smallest one, up to the path's own error; the extra force is the same for all.
 *
 * Finite N, (17) with alpha > 0: R = W lambda holds as it stands, with lambda = N Phi(path). To
 * take that for lambda would make errors of the speeds N times as large in the force. So lambda is
 * the least-squares one here as well, N Phi only where R does not determine it; and Phi = lambda/N
 * remains as a constraint that the path must keep. */
#ifndef ZW_PATH_VARIATION_H
#define ZW_PATH_VARIATION_H

#include "base/memory.h"
#include "system/work.h"

typedef struct path_variation {
    /* The path: q, v, a [count * n], in parts in which they are smooth. lambda may jump from one
     * part to the next; nothing is asked there. */
    const zw_system *system; /* with carried multipliers, alpha > 0 */
    zw_work *work;           /* bound to the parameters */
    long count;
    const double *t, *q, *v, *a;
    int parts;
    const long *part;     /* [parts + 1] */
    const double *metric; /* B[n * n], or NULL: the masses */
    double blur;          /* relative error of the speeds: what lambda does less is not seen */
    zw_poll *poll;        /* or NULL */
    void *user;

    /* What was found, in arrays of the caller: */
    double *lambda;  /* [count * m] of all rows; those of others as in Theorem 1 */
    double *carried; /* [count * carried] */
    double *rate;    /* [count * carried] its derivative */
    double *extra;   /* [count * n] */
    double *apart;   /* [count * n] B \ extra */
    double *size;    /* [count] |extra| in the metric B^-1 */
    double *square;  /* [count] |R|^2 */
    double *error;   /* [count] what discretisation and round-off make of |extra| */
    double whole;    /* integral of |R|^2: the right side of (13) */
    double defect;   /* integral of |extra|^2: whole less the least left side */
} path_variation;

zw_status path_variation_solve(path_variation *variation, zw_error *error);

/* ---- variation_rows.c: R and W at one sample ------------------------------------------------- */

/* Vectors are in coordinates in which the metric is the identity and the first `rank` ones are what
 * rows without a multiplier can exert. */
typedef struct path_rows {
    int n, carried;
    int others, rank; /* rows without a multiplier */
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
/* What is left of x[n]: the other rows' multipliers into lambda[m]; x becomes the extra force's, in
 * the coordinates of the metric alone. */
void path_rows_take(const path_rows *rows, double *x, double *lambda);
/* From those coordinates to forces, and to accelerations of the metric. */
void path_rows_force(const path_rows *rows, const double *x, double *force);
void path_rows_apart(const path_rows *rows, double *x);

#endif
