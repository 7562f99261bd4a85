/* Shared by graph.c and graph_fold.c only. */
#ifndef ZW_EXPR_GRAPH_FOLD_H
#define ZW_EXPR_GRAPH_FOLD_H

#include "expr/graph.h"

/* A node, or its value if all operands are constants. Unused operands are EXPR_NONE. */
expr_id fold_operation(expr_graph *graph, expr_op op, int index, expr_id a, expr_id b, expr_id c);

#endif
