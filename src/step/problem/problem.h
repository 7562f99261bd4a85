/* Gauss's problem of one step, assembled again for each.
 *
 *     minimise  1/2 (u - free)' H (u - free)     subject to     A u - b  in  K*
 *
 * Each active element appends its block of rows: an equality constraint, a limit, dry friction, a
 * motor with a range of force, a contact with its friction cone. How many there are may change from
 * step to step.
 *
 *     problem_begin(p);                                          no rows
 *     problem_block(p, key, &block);                             then each of its rows:
 *     problem_row(p, count, column, value, b);
 *     problem_solve(p, H, free, NULL, error);                       p->answer
 *
 * Multipliers are remembered by key: a block that was there in the last problem with as many rows
 * starts from the ones it had, wherever it is now. Running out of memory while appending is
 * remembered and reported by problem_solve.
 *
 * Memory: arrays grow by doubling and stay, and so do the workspaces of the islands. So a steady
 * motion allocates nothing. */
#ifndef ZW_STEP_PROBLEM_H
#define ZW_STEP_PROBLEM_H

#include <stdint.h>

#include "gauss/contact/islands.h"
#include "step/problem/matrix.h"

typedef struct impulse_problem {
    int n;
    zw_gauss_options options; /* the caller's to change between solves */
    double wanted; /* the certificate requested of the next solve; 0: the kernel's default */
    double fair;   /* and the one accepted where a better one takes longer: gauss_islands_hint */
    double enough; /* a solution that misses the tolerance is accepted up to this certificate, */
    const double *excess; /* [n] of the next solve: gauss_islands_hint */
    double jammed;        /* and one that the kernel suspects not to exist, up to this */
    gauss_islands *islands;
    gauss_islands_answer answer; /* after problem_solve */
    int contradicts; /* its equations contradicted each other, and the solution is a compromise */

    /* The rows as appended. */
    int blocks, rows, entries;
    int block_capacity, row_capacity, entry_capacity;
    zw_block *block;
    int64_t *key; /* [blocks] */
    int *first;   /* [blocks] their first rows */
    int *start;   /* [rows + 1] compressed rows */
    double *b;    /* [rows] */
    double *guess;
    double *give; /* compliances; all are 0 if not `gives` */
    int gives;
    int *column;
    double *value;
    double *slope; /* of the rows by u, where that differs from the row itself */

    /* The multipliers of the last solve, by key. */
    int old_blocks, old_at;
    int old_block_capacity, old_row_capacity;
    int64_t *old_key;
    int *old_first, *old_rows;
    double *old_lambda;
    int *slot; /* [slots] where a key is among them, plus 1: made when a search needs it, */
    int slots, slot_capacity; /* a power of two; 0: not since problem_begin */

    int fresh;   /* number of blocks without multipliers to start from */
    int at_rest; /* hardly anything moves */
    int chosen;  /* the guess has been chosen among the possible distributions of a load, in a round
                    before */
    int no_memory;
} impulse_problem;

zw_status problem_create(impulse_problem *p, int n, zw_error *error);
void problem_free(impulse_problem *p);

void problem_begin(impulse_problem *p);
void problem_block(impulse_problem *p, int64_t key, const zw_block *block); /* name: not copied */
/* The next row of the last block. Columns in any order, none twice. */
void problem_row(impulse_problem *p, int count, const int *column, const double *value, double b);
/* How the speed of the last row changes with u, along the same columns. */
void problem_slope(impulse_problem *p, const double *slope);
/* The compliance of the last row; the default is 0. */
void problem_give(impulse_problem *p, double compliance);

zw_gauss problem_rows(const impulse_problem *p); /* without metric and free motion */
/* Adds this to all multipliers that are remembered. */
void problem_add(impulse_problem *p, double by, const double *lambda);
/* out = A' lambda with the multipliers that the rows start from. */
void problem_guess_push(const impulse_problem *p, double *out);

/* The motion nearest to `free` in the metric H. After ZW_OK, p->answer, which is remembered.
 * `start` is a motion near it, or NULL. */
zw_status problem_solve(impulse_problem *p, const impulse_matrix *H, const double *free,
                        const double *start, zw_error *error);
/* The same where H free is known; the hint says how to compute the rest. */
zw_status problem_solve_force(impulse_problem *p, const impulse_matrix *H, const double *force,
                              const gauss_islands_hint *hint, zw_error *error);
/* The same without initial guess, and not remembered: for auxiliary problems. */
zw_status problem_solve_aside(impulse_problem *p, const impulse_matrix *H, const double *free,
                              zw_error *error);
/* Accepts these multipliers as a solution: they are remembered. 0: no memory. */
int problem_accept(impulse_problem *p, const double *lambda);
uint64_t problem_blocks(const impulse_problem *p); /* which ones, in their order */
/* Memory for multipliers from elsewhere; 0: no memory. */
int problem_room_for_old(impulse_problem *p, int block_count, int row_count);
/* The same from a start and the guess, which may come from another problem, times a factor. */
zw_status problem_solve_near(impulse_problem *p, const impulse_matrix *H, const double *given,
                             const double *start, zw_error *error);
void problem_guess_from(impulse_problem *p, const impulse_problem *other, double factor);
/* Adds the multipliers of one block to those of another. */
void problem_move_multipliers(impulse_problem *p, int64_t from, int64_t to);
/* The multiplier of row `row` of block `key` in the last solve; 0: it was not there. */
double problem_multiplier(const impulse_problem *p, int64_t key, int row);
/* The same for one block after another: it is looked for after the last, which `from` says. */
double problem_next_multiplier(const impulse_problem *p, int64_t key, int row, int *from);

#endif
