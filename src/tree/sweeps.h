/* The sweeps over a tree, for one world and for eight (name8): sweep_list.lane.h has the list,
 * tree.h says what they compute, the other .lane.h files derive how. A lane of eight has the same
 * bits as that world alone. No sweep allocates or branches on data; NaN propagates.
 *
 * Order: tree_kinematics; tree_velocities; then any others. Each lists the sweeps that must have
 * been run before, whose results it reads from the work, and fills the arrays listed under its name
 * in tree_places. */
#ifndef ZW_TREE_SWEEPS_H
#define ZW_TREE_SWEEPS_H

#include "math/lane.h"
#include "tree/tree.h"

#define TREE_ONE(name) name
#ifdef ZW_FLOAT
#define TREE_EIGHT(name) name##_float
#else
#define TREE_EIGHT(name) name##8
#endif

#define zw_real double
#define zw_mask int
#define LANE TREE_ONE
#include "tree/sweep_list.lane.h"
#undef zw_real
#undef zw_mask
#undef LANE

#define zw_real zw_real8
#define zw_mask zw_mask8
#define LANE TREE_EIGHT
#include "tree/sweep_list.lane.h"
#undef zw_real
#undef zw_mask
#undef LANE

/* Pose and velocity of one body and its ancestors, after a time t at the constant speeds v from q:
 * quat, R, origin, com, V and the arrays these are computed from. next[nq] is scratch.
 * known[bodies] (or NULL) marks bodies that are in the work already; the new ones are added. */
void tree_path_body(const tree_mechanism *tree, const double *q, const double *v, double t,
                    int body, unsigned char *known, double *next, double *work);

#endif
