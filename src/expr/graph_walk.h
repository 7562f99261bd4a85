/* The inside of expr_graph, and walks over the part of it that lies below some nodes. For the
 * files of this folder only.
 *
 * A walk costs what it visits, however large the graph is: the graph keeps a stamp and a position
 * for every node, and a stamp of an earlier walk means "not seen". */
#ifndef ZW_EXPR_GRAPH_WALK_H
#define ZW_EXPR_GRAPH_WALK_H

#include "expr/graph.h"

typedef struct expr_slot {
    unsigned hash;
    int tenant; /* id + 1; 0: the slot is free */
} expr_slot;

struct expr_graph {
    zw_status status;
    int count;
    int capacity;
    int place;            /* of the nodes to come */
    unsigned epoch;       /* of the latest walk */
    unsigned char *block; /* where the arrays below live */
    expr_node *node;      /* [capacity] */
    expr_slot *slot;      /* [2 capacity] hash table of the nodes */
    unsigned *stamp;      /* [capacity] == epoch: seen by the walk that is collecting */
    int *position;        /* [capacity] in the list of the latest walk that saw the node */
    int *list;            /* [capacity] scratch of the collecting walk */
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
    expr_id *image; /* [count] what the caller makes of each; zeros at first */
} expr_walk;

/* The nodes below id[count], and these themselves. With depends != 0 only those that depend on one
 * of these bits. */
zw_status expr_walk_start(expr_graph *graph, const expr_id *id, int count, expr_walk_kind kind,
                          int depends, expr_walk *walk);
void expr_walk_end(expr_walk *walk);

/* Where the node stands in the list; -1: nowhere. */
static inline int expr_walk_position(const expr_graph *graph, const expr_walk *walk, expr_id id)
{
    int position = graph->position[id];
    return position < walk->count && walk->list[position] == id ? position : -1;
}

/* Piecewise: one of two operands counts. */
static inline int expr_is_gate(int op)
{
    return op == EXPR_SELECT || op == EXPR_MIN || op == EXPR_MAX;
}

/* Locally constant: the derivative is zero wherever it exists. */
static inline int expr_is_flat(int op)
{
    return op == EXPR_SIGN || op == EXPR_FLOOR || (op >= EXPR_LESS && op <= EXPR_NOT);
}

/* The bit of a leaf's kind; 0 for what is no leaf, and for constants. */
int expr_leaf_bit(expr_op leaf);

#endif
