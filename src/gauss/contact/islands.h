/* A problem that falls apart is solved piece by piece.
 *
 * Unknowns are neighbours if the metric or a block of rows couples them. Z is a sum over the pieces
 * and no row sees two of them, so each piece is Gauss's problem of its own: its answer does not
 * depend on what goes on elsewhere, bit for bit, and costs what it costs alone. A piece without
 * rows moves freely, at no cost, and so does one whose rows admit its free motion, if that is
 * given. Small pieces are tried by prox.h first.
 *
 * The shape of the problem may change from call to call. Workspaces of pieces are kept by their
 * shape; where shapes come back, nothing is allocated. */
#ifndef ZW_GAUSS_ISLANDS_H
#define ZW_GAUSS_ISLANDS_H

#include "zwang/gauss.h"

typedef struct gauss_islands gauss_islands;

gauss_islands *gauss_islands_create(void); /* NULL: no memory */
void gauss_islands_free(gauss_islands *islands);

/* What came out; pointers hold until the next solve. */
typedef struct gauss_islands_answer {
    const double *a;                /* [n] */
    const double *lambda;           /* [m] */
    const double *residual;         /* [m] */
    int count;                      /* pieces that had to be solved */
    int largest;                    /* unknowns of the largest of them */
    double certificate;             /* the worst of all */
    int worst_block;                /* where, or -1 */
    int iterations, factorizations; /* of all */
    double futile;                  /* operations, about, of dense solves that did not arrive */
} gauss_islands_answer;

/* What helps; all may be 0. A problem that gives `force` instead of `free` needs a function that
 * makes the free motion of it, once something asks for that. */
typedef struct gauss_islands_hint {
    const double *start;               /* [n] a motion near the answer */
    const double *(*free)(void *user); /* NULL: no memory, or no metric */
    void *user;
    /* Where contacts of a small piece push that are more than it needs, the forces are those of
     * compliances `share` that go to 0, see choose.c; about those of the guess, which are such
     * already but for parts of `share`, or about none. share = 0: whichever are found first. */
    double share;
    int about_guess;
    /* The guess is of an instant ago and nothing has moved since: where an answer near it leaves no
     * choice (choose.h), it is taken. Answers with a choice are off those without by parts of
     * `share`: motions that pass from one to the other have a kink of that size. */
    int at_rest;
    double fair; /* a certificate that does where prox.h finds none that is better */
    /* [n] Where the sum over a piece is not above 0, the start and the guess are its answer. */
    const double *excess;
    int polish; /* and one step more than its tolerance asks for */
} gauss_islands_hint;

/* The metric is diagonal or compressed, the rows are compressed, C and law are not given. Of pieces
 * that fail, the first by number of its first unknown says why; the others are solved.
 * ZW_INACCURATE and ZW_JAMMED leave the best answer, ZW_CONFLICT that of least squares if requested
 * for. */
zw_status gauss_islands_solve(gauss_islands *islands, const zw_gauss *problem,
                              const zw_gauss_options *options, const gauss_islands_hint *hint,
                              gauss_islands_answer *answer, zw_error *error);

#endif
