/* Bodies that are welded together are one body: a definition without them, before tree_create.
 *
 * A body without joints is merged with its parent, which may be the world, and its mass is added
 * there. It is kept as a frame: the body that carries it, and its pose there. The joints and their
 * order, and so q and v, are those of the given definition; M, tau and a are the same. */
#ifndef ZW_TREE_FUSE_H
#define ZW_TREE_FUSE_H

#include "tree/tree.h"

typedef struct tree_frame {
    int body; /* in the fused definition; 0: fixed to the world */
    double pos[3], quat[4];
} tree_frame;

typedef struct tree_fused {
    tree_def def;      /* its joints are those of the given definition */
    tree_frame *frame; /* [bodies of the given definition] */
    tree_body_def *body;
} tree_fused;

/* The joints of `def` must outlive `fused`. On failure nothing has to be freed. */
zw_status tree_fuse(const tree_def *def, tree_fused *fused, zw_error *error);
void tree_fused_free(tree_fused *fused);

#endif
