/* Equal trees of a mechanism, as in a scene with many copies of a robot, computed eight at a time.
 *
 * Trees rooted at the world are independent of each other in the sweeps: eight that have the same
 * bodies and joints are eight worlds of one tree. A lane has the same bits as one world, so the
 * results have the bits of the sweeps over the whole mechanism. */
#ifndef ZW_TREE_GROUP_H
#define ZW_TREE_GROUP_H

#include <stddef.h>

#include "tree/tree.h"

typedef struct tree_group tree_group;

#ifdef ZW_NO_GROUPS
/* Where code must be small and vectors are short (WebAssembly) there are no groups; results have
 * the same bits. */
static inline tree_group *tree_group_create(const tree_mechanism *tree, int *failed)
{
    (void)tree;
    *failed = 0;
    return NULL;
}
static inline void tree_group_free(tree_group *group)
{
    (void)group;
}
static inline const double *tree_group_smooth(tree_group *group, const double *q, const double *v,
                                              double *work)
{
    (void)group, (void)q, (void)v, (void)work;
    return NULL;
}
static inline int tree_group_solve(tree_group *group, const double *diagonal, double *x)
{
    (void)group, (void)diagonal, (void)x;
    return 0;
}
#else

/* A group and its scratch memory. NULL with *failed = 0: the trees are too few or too different for
 * this to be faster. */
tree_group *tree_group_create(const tree_mechanism *tree, int *failed);
void tree_group_free(tree_group *group);

/* tree_kinematics, tree_velocities, tree_composite and tree_inverse without accelerations. work is
 * that of one world of the whole mechanism; angle, sine, cosine, composite, A and F are not filled
 * there. Returns the bias, which is valid until the next call. */
const double *tree_group_smooth(tree_group *group, const double *q, const double *v, double *work);

/* With M of the last tree_group_smooth: x = (M + diagonal) \ x; 0: a pivot is not positive. */
int tree_group_solve(tree_group *group, const double *diagonal, double *x);

#endif
#endif
