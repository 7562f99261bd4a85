/* How the files of the kernel call each other; see solve.c. */
#ifndef ZW_GAUSS_INTERNAL_H
#define ZW_GAUSS_INTERNAL_H

#include "gauss/work.h"

#define GAUSS_HUGE 1e100   /* a larger number is taken for a mistake, */
#define GAUSS_TRACE 1e-100 /* and a smaller multiplier for zero */

/* work.c: room for `count` numbers in whole cache lines. */
int gauss_whole_lines(int count);

/* work.c: a number that distinguishes the patterns of A and M. */
uint64_t gauss_pattern(const zw_gauss *problem);

/* check.c */
const char *gauss_block_name(const zw_gauss *problem, int k);
zw_status gauss_check(const zw_gauss *problem, zw_error *error);

/* normal.c: metric factored, free motion. */
zw_status gauss_normal(const zw_gauss *problem, zw_gauss_work *work, zw_error *error);
/* Rows in energy units. */
void gauss_normal_rows(const zw_gauss *problem, zw_gauss_work *work);
/* Rows in energy units again, equality rows only of the blocks in `list` except `without`. */
void gauss_normal_part(const zw_gauss *problem, zw_gauss_work *work, const int *list, int count,
                       int without);
/* c = scaled residual of the free motion a_free + M \ C. */
void gauss_normal_residual(const zw_gauss *problem, zw_gauss_work *work, const double *C);
/* x = L \ x and x = L' \ x for the metric as factored. */
void gauss_solve_lower(const zw_gauss *problem, const zw_gauss_work *work, double *x);
void gauss_solve_upper(const zw_gauss *problem, const zw_gauss_work *work, double *x);

/* part.c: which cones take part: all of them; or at first those with a force in `guess`. */
void gauss_part_all(zw_gauss_work *work);
void gauss_part_start(const zw_gauss *problem, zw_gauss_work *work, const double *guess);
/* How many more does the motion need? */
int gauss_part_missing(const zw_gauss *problem, const zw_gauss_options *options,
                       zw_gauss_work *work);
/* 1 if the problem must be solved again, with more of them and from `guess`. */
int gauss_part_again(const zw_gauss_options *options, zw_gauss_work *work, zw_status status,
                     const double **guess);

/* equality.c */
void gauss_equality_factor(const zw_gauss *problem, zw_gauss_work *work);
/* Particular solution z from work->c; counts conflicts. */
zw_status gauss_equality_particular(const zw_gauss *problem, zw_gauss_work *work, double tolerance,
                                    int least_squares);
/* lambda of the equality rows from g = z - B1' r, of least norm. */
void gauss_equality_multipliers(zw_gauss_work *work, const double *g, double *lambda);

/* pass.c: work->a and lambda with the non-ideal force C acting. */
zw_status gauss_pass(const zw_gauss *problem, const zw_gauss_options *options, zw_gauss_work *work,
                     const double *C, const double *guess, double *lambda, const char **method);

/* The core problem and where its methods start: at the multipliers of `guess`, or 0. */
void gauss_core_open(const zw_gauss *problem, zw_gauss_work *work, const zw_gauss_options *options,
                     const double *guess);
void gauss_core_start(zw_gauss_work *work, const double *guess);

/* nonideal.c: the ideal reaction, then the motion with C. */
zw_status gauss_nonideal(const zw_gauss *problem, const zw_gauss_options *options,
                         zw_gauss_work *work, const char **method);

/* A method that gave up may still have met the tolerance: the certificate decides. */
zw_status gauss_verdict(const zw_gauss_options *options, const zw_gauss_work *work,
                        zw_status status);

/* refine.c: improve work->a and lambda, as far as sixteen digits go. */
void gauss_refine(const zw_gauss *problem, const zw_gauss_options *options, zw_gauss_work *work,
                  const double *C, double *lambda);

/* conflict.c: the blocks of the proof (work->proof) that nothing is admissible, reduced until none
 * can be left out, into work->conflict. The rest of the workspace is overwritten. */
void gauss_conflict_cones(const zw_gauss *problem, const zw_gauss_options *options,
                          zw_gauss_work *work, int normals_only);

#endif
