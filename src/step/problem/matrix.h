/* A symmetric matrix over the speeds, in the sparsity of the masses and of what couples joints:
 * H = M + h D + h^2 K of a step. Lower triangle by columns, rows rising. */
#ifndef ZW_STEP_PROBLEM_MATRIX_H
#define ZW_STEP_PROBLEM_MATRIX_H

#include "math/sparse/ldl.h"
#include "system/system.h"

typedef struct impulse_matrix {
    int n;
    int *start, *row; /* [n + 1], [entries] */
    double *value;    /* [entries] */
    int *entry;       /* [entries of the system's M] where each is here */
    sparse_ldl *ldl;
} impulse_matrix;

/* Couplings besides masses and tendons: all of these, ascending. ZW_NO_MEMORY: nothing needs to be
 * freed. */
zw_status matrix_create(impulse_matrix *H, const zw_system *system, int count, const int *coupled);
void matrix_free(impulse_matrix *H);

/* The masses, after tree_composite; nothing else. */
void matrix_set(impulse_matrix *H, const zw_system *system, const double *sweeps);
/* H += weight c c' with c[k] on dof[k]: a joint, a tendon, or a path in the tree. */
void matrix_stiffen(impulse_matrix *H, double weight, int count, const int *dof,
                    const double *coef);
void matrix_times(const impulse_matrix *H, const double *x, double *y);
double matrix_diagonal(const impulse_matrix *H, int i);
int matrix_factor(impulse_matrix *H); /* 0: it is not positive definite */
void matrix_solve(impulse_matrix *H, double *x);

#endif
