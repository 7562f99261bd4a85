/* Exact derivatives: new nodes in the same graph. Only the nodes below the given ones are visited,
 * so the derivatives of ten thousand small constraints cost ten thousand small traversals.
 *
 * At corners (abs, min, max, sign, if) the derivative is the one of the branch taken. */
#ifndef ZW_EXPR_DERIVE_H
#define ZW_EXPR_DERIVE_H

#include "expr/graph.h"

typedef struct expr_term {
    int index; /* of the leaf */
    expr_id id;
} expr_term;

/* A growing list of terms; start from {0}. */
typedef struct expr_terms {
    int count;
    int capacity;
    expr_term *term;
} expr_terms;

void expr_terms_free(expr_terms *terms);

/* d id / d (every leaf of this kind below it), in order of the leaves' indices, zeros left out: the
 * reverse sweep. Replaces the contents of `terms`. */
zw_status expr_gradient(expr_graph *graph, expr_id id, expr_op leaf, expr_terms *terms);

/* The leaves of a kind below `id`, by index; the ids in `terms` are the leaves. */
zw_status expr_support(expr_graph *graph, expr_id id, expr_op leaf, expr_terms *terms);

/* The total time derivative of several nodes at once: q -> v, t -> 1, and v -> 0 (EXPR_RATE_BIAS:
 * the part without accelerations) or v -> a (EXPR_RATE_FULL). The forward sweep. */
typedef enum expr_rate_kind { EXPR_RATE_BIAS, EXPR_RATE_FULL } expr_rate_kind;
zw_status expr_rate(expr_graph *graph, const expr_id *id, int count, expr_rate_kind kind,
                    expr_id *rate);

#endif
