/* Derivatives of inverse dynamics: see differ.c. */
#ifndef ZW_TREE_DIFFER_H
#define ZW_TREE_DIFFER_H

#include "tree/tree.h"

/* Numbers of scratch that tree_differ needs. */
size_t tree_differ_scratch(const tree_mechanism *tree);

/* After kinematics. Slopes of tau = M a + bias (tree_inverse without wrenches) by the coordinates,
 * along each speed, and by the speeds: by_q[j][i] = d tau_i / d q_j, by_v[j][i] = d tau_i / d v_j,
 * both [nv][nv]. */
void tree_differ(const tree_mechanism *tree, const double *v, const double *a, const double *work,
                 double *scratch, double *by_q, double *by_v);

/* After factor. x[count][nv] = M \ x, eight at a time; scratch[8 nv]. */
void tree_solve_many(const tree_mechanism *tree, const double *work, int count, double *x,
                     double *scratch);

#endif
