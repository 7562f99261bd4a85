/* Trees of bodies, shared by tests and benchmarks: drawn body by body, or seeded. */
#ifndef ZWANG_TEST_SCENE_TREES_H
#define ZWANG_TEST_SCENE_TREES_H

#include <stdint.h>

#include "dice.h"
#include "tree/tree.h"

/* A definition being drawn. Memory that is missing ends the program. */
typedef struct tree_sketch {
    tree_def def;
    int body_capacity, joint_capacity;
    tree_body_def *body;
    tree_joint_def *joint;
} tree_sketch;

tree_sketch *sketch_new(double gravity); /* the world alone; gravity along -z */
int sketch_body(tree_sketch *s, int parent, double x, double y, double z); /* its number */
/* A joint for the body drawn last; the pointer holds until the next call. */
tree_joint_def *sketch_joint(tree_sketch *s, tree_joint_kind kind, double x, double y, double z);
/* A rod with the mass of a capsule from `from` to `to`, for the body drawn last: sums up. */
void sketch_rod(tree_sketch *s, double mass, double radius, const double *from, const double *to);
tree_mechanism *sketch_finish(tree_sketch *s); /* the sketch is released */
tree_mechanism *sketch_fused(tree_sketch *s);  /* the same with welded bodies fused */

/* 27 dofs: a free trunk, 21 hinges, of which several bodies have two or three. Sixteen bodies, and
 * thirteen if the welded ones are fused. */
tree_mechanism *tree_humanoid(int is_fused);

/* Links of one metre, each on a hinge across it, alternately about x and y; `last` is the mass of
 * the last one, the others have 1. */
tree_mechanism *tree_chain_of(int links, double last, int without_matrix);

/* All kinds of joints, several in a body, welded ones, masses over `decades` powers of ten. */
tree_mechanism *tree_random(uint64_t seed, int bodies, double decades);
tree_sketch *tree_random_sketch(uint64_t seed, int bodies, double decades);

/* The tree as MJCF, for peers: robot_0.xml in this folder, and how many files there are. MuJoCo's
 * parser of XML goes only so deep: what is deeper is in robot_1.xml ..., included where it belongs.
 * Bodies must be in depth-first order, as those of the humanoid and the chains are. */
#define TREE_MJCF_FILES 20
int tree_mjcf(const tree_mechanism *tree, const char *folder);

/* A random configuration and random speeds; quaternions are not quite unit. */
void tree_random_q(const tree_mechanism *tree, dice *d, double *q);
void tree_random_v(const tree_mechanism *tree, dice *d, double *v);

#endif
