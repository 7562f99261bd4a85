/* A problem that falls apart is solved piece by piece.
 *
 * Unknowns are neighbours if the metric or a block of rows couples them. Z is a sum over the pieces
 * and no row involves two of them, so each piece is a separate Gauss problem: its solution does not
 * depend on the others, bit for bit, and costs as much as alone. A piece without rows moves freely,
 * at no cost, and so does one whose rows admit its free motion, if that is given. Small pieces are
 * tried by prox.h first.
 *
 * The shape of the problem may change from call to call. Workspaces of pieces are kept by their
 * shape; where shapes recur, nothing is allocated. */
#ifndef ZW_GAUSS_ISLANDS_H
#define ZW_GAUSS_ISLANDS_H

#include "zwang/gauss.h"

typedef struct gauss_islands gauss_islands;

gauss_islands *gauss_islands_create(void); /* NULL: no memory */
void gauss_islands_free(gauss_islands *islands);

/* The result; pointers are valid until the next solve. */
typedef struct gauss_islands_answer {
    const double *a;                /* [n] */
    const double *lambda;           /* [m] */
    const double *residual;         /* [m] */
    int count;                      /* number of pieces that had to be solved */
    int largest;                    /* unknowns of the largest of them */
    double certificate;             /* the worst of all */
    int worst_block;                /* where, or -1 */
    int iterations, factorizations; /* of all */
    double failed_work;             /* approximate operations of dense solves that failed */
} gauss_islands_answer;

/* Optional help; all may be 0. A problem that gives `force` instead of `free` needs a function that
 * computes the free motion, if it is needed. */
typedef struct gauss_islands_hint {
    const double *start;               /* [n] a motion near the solution */
    const double *(*free)(void *user); /* NULL: no memory, or no metric */
    void *user;
    /* Where a small piece has more contacts than it needs, the forces are those of compliances
     * `share` that go to 0, see choose.c; around those of the guess, which are such already to the
     * order of `share`, or around zero. share = 0: the first forces found. */
    double share;
    int about_guess;
    /* The guess is from an instant ago and nothing has moved since: where a solution near it leaves
     * no choice (choose.h), it is used. Solutions with a choice differ from those without by the
     * order of `share`: motions that pass from one to the other have a kink of that size. */
    int at_rest;
    double fair; /* a certificate that is accepted where prox.h finds no better one */
    /* [n] Where the sum over a piece is not above 0, the start and the guess are its solution. */
    const double *excess;
    int polish; /* and one step more than its tolerance requires */
} gauss_islands_hint;

/* The metric is diagonal or compressed, the rows are compressed, C and law are not given. Of pieces
 * that fail, the one with the smallest first unknown is reported; the others are solved.
 * ZW_INACCURATE and ZW_JAMMED leave the best solution, ZW_CONFLICT that of least squares if
 * requested. */
zw_status gauss_islands_solve(gauss_islands *islands, const zw_gauss *problem,
                              const zw_gauss_options *options, const gauss_islands_hint *hint,
                              gauss_islands_answer *answer, zw_error *error);

#endif
