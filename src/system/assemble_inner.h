/* The search of assemble.c: its data, and its steps (assemble_steps.c). */
#ifndef ZW_SYSTEM_ASSEMBLE_INNER_H
#define ZW_SYSTEM_ASSEMBLE_INNER_H

#include "system/work.h"

typedef struct assemble_search {
    const zw_system *system;
    zw_work *work;
    double t;
    const double *v;
    const double *start; /* [nq] q0 */
    double *M;           /* in the pattern of the system */
    int *role;           /* [constraints] */
    system_solver *solver;
    double *weight, *b;                                     /* [m] */
    double *delta, *gradient, *d, *step, *before, *product; /* [n] */
    double *force, *first;                                  /* [n] */
    double *q, *trial, *ahead, *best;                       /* [nq] */
    double most;                                            /* the largest sum of violations met */
    double cost;                                            /* operations so far, about */
    void *memory;
} assemble_search;

int assemble_is_one_sided(const zw_system *system, int c);
void assemble_copy_place(const assemble_search *s, double *to, const double *from);
double assemble_metric_square(const assemble_search *s, const double *x); /* x' M x */
/* Is the step s->d from q less than `part` times 1 + the largest coordinate? */
int assemble_is_small(const assemble_search *s, const double *q, double part);
/* delta, f's gradient, and 2 f, the square of the distance. */
double assemble_look_back(assemble_search *s, const double *q);
void assemble_move_from(const assemble_search *s, const double *from, double length,
                        const double *d, double *to);
/* The violation of row r for the residuals phi. */
double assemble_violated_by(const assemble_search *s, int r, const double *phi);
/* The sum of all violations at a position, with the weights of the last linearisation. */
double assemble_sum_of_violations(assemble_search *s, const double *q);
zw_status assemble_linearise(assemble_search *s, const double *q, zw_error *error);
/* s->d: the step from q, against the gradient (or NULL). solve_soft repeats it with slightly
 * compliant rows. */
zw_status assemble_find_step(assemble_search *s, const double *q, const double *gradient,
                             zw_error *error);
zw_status assemble_solve_soft(assemble_search *s, zw_error *error);
/* Moves q onto the constraints; *done: it converged. */
zw_status assemble_restore(assemble_search *s, double *q, int *done, zw_error *error);
/* Moves s->q, which is admissible, to the nearest admissible position around it; *distance to
 * it. */
zw_status assemble_descend(assemble_search *s, double *distance, zw_error *error);

#endif
