/* The mass matrix of a tree as a metric of Gauss's principle: the kernel's "tree-factored" one.
 *
 *     TREE_ENTRIES      by the entries of M and their factors: best for trees that are not deep
 *     TREE_ARTICULATED  by sweeps over the bodies, O(n) each: best for long chains (from about
 *                       20 dofs in a row), and for trees without_matrix
 *
 * The metric is M + diagonal at the q that tree_kinematics was last given; the pointers must stay
 * valid, and the struct in its place, as long as the operator is used. TREE_ENTRIES expects
 * tree_composite to have been run; `factor` is run by the kernel. */
#ifndef ZW_TREE_METRIC_H
#define ZW_TREE_METRIC_H

#include "tree/tree.h"
#include "zwang/gauss.h"

typedef enum tree_metric_form { TREE_ENTRIES, TREE_ARTICULATED } tree_metric_form;

typedef struct tree_metric {
    const tree_mechanism *tree;
    double *work;
    const double *diagonal; /* [nv] or NULL */
    zw_metric_operator operator_;
} tree_metric;

void tree_metric_wire(tree_metric *metric, tree_metric_form form, const tree_mechanism *tree,
                      const double *diagonal, double *work);

#endif
