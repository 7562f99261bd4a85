/* The struct expr_graph, and walks over the part of it below some nodes. For the files of this
 * folder only.
 *
 * The cost of a walk depends on the nodes it visits, not on the size of the graph: every node has a
 * stamp and a position, and a stamp of an earlier walk means "not visited". */
#ifndef ZW_EXPR_GRAPH_WALK_H
#define ZW_EXPR_GRAPH_WALK_H

#include "expr/graph.h"

typedef struct expr_slot {
    unsigned hash;
    int owner; /* id + 1; 0: the slot is free */
} expr_slot;

struct expr_graph {
    zw_status status;
    int count;
    int capacity;
    int place;            /* given to new nodes */
    unsigned epoch;       /* number of the latest walk */
    unsigned char *block; /* memory of the arrays below */
    expr_node *node;      /* [capacity] */
    expr_slot *slot;      /* [2 capacity] hash table of the nodes */
    unsigned *stamp;      /* [capacity] == epoch: visited by the current walk */
    int *position;        /* [capacity] in the list of the latest walk that visited the node */
    int *list;            /* [capacity] scratch of the current walk */
    int *stack;           /* [capacity] the same */
};

/* Which operands a walk descends to. */
typedef enum expr_walk_kind {
    EXPR_WALK_ALL,
    EXPR_WALK_SMOOTH, /* only where derivatives come from: no conditions, nothing below sign, < ...
                       */
    EXPR_WALK_PIECE   /* the same, and nothing below a gate (if, min, max) */
} expr_walk_kind;

typedef struct expr_walk {
    int count;
    expr_id *list;  /* [count] operands before their users */
    expr_id *image; /* [count] for the caller's results; initially zero */
} expr_walk;

/* Collects the nodes id[count] and all below them; with depends != 0 only those that depend on one
 * of these bits. */
zw_status expr_walk_start(expr_graph *graph, const expr_id *id, int count, expr_walk_kind kind,
                          int depends, expr_walk *walk);
void expr_walk_end(expr_walk *walk);

/* The position of a node in the list; -1: it is not there. */
static inline int expr_walk_position(const expr_graph *graph, const expr_walk *walk, expr_id id)
{
    int position = graph->position[id];
    return position < walk->count && walk->list[position] == id ? position : -1;
}

/* Piecewise: the value is that of one of two operands. */
static inline int expr_is_gate(int op)
{
    return op == EXPR_SELECT || op == EXPR_MIN || op == EXPR_MAX;
}

/* Locally constant: the derivative is zero wherever it exists. */
static inline int expr_is_flat(int op)
{
    return op == EXPR_SIGN || op == EXPR_FLOOR || (op >= EXPR_LESS && op <= EXPR_NOT);
}

/* The bit of a leaf's kind; 0 for operations and constants. */
int expr_leaf_bit(expr_op leaf);

#endif
