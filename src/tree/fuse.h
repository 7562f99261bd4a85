/* Bodies that are welded together are one body: a definition without them, before tree_create.
 *
 * A body without joints joins its parent, the world included, and gives it its mass. What was known
 * of it stays known as a frame: the body that carries it, and its pose there. The joints and their
 * order, and so q and v, are those of the given definition; M, tau and a are the same. */
#ifndef ZW_TREE_FUSE_H
#define ZW_TREE_FUSE_H

#include "tree/tree.h"

typedef struct tree_frame {
    int body; /* of the fused definition; 0: it stands in the world */
    double pos[3], quat[4];
} tree_frame;

typedef struct tree_fused {
    tree_def def;      /* its joints are those of the given definition */
    tree_frame *frame; /* [bodies of the given definition] */
    tree_body_def *body;
} tree_fused;

/* The joints of `def` must outlive it. On failure nothing is to be freed. */
zw_status tree_fuse(const tree_def *def, tree_fused *fused, zw_error *error);
void tree_fused_free(tree_fused *fused);

#endif
