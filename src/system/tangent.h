/* The directions in which a constraint with friction lets its point slide; see solver.c. */
#ifndef ZW_SYSTEM_TANGENT_H
#define ZW_SYSTEM_TANGENT_H

#include "system/system.h"

#define TANGENT_SUPPORT 3 /* friction acts on a point: at most three coordinates */

/* The coordinates a constraint involves, in order; `support` may be NULL. Counts all of them,
 * writes at most TANGENT_SUPPORT. */
int tangent_support(const zw_system *system, int constraint, int *support);
/* How many directions are left beside its rows. */
int tangent_count(const zw_system *system, int constraint);
/* Direction k over the support, from the values of A (pattern of the system). */
void tangent_vector(const zw_system *system, int constraint, int k, const double *A, double *t);
/* The part of the speeds v that slides: over the support, without what the rows of A hold. Answers
 * its size; s[TANGENT_SUPPORT], support may be NULL. */
double tangent_speed(const zw_system *system, int constraint, const double *A, const double *v,
                     double *s, int *support);

#endif
