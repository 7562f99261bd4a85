#include "expr/graph_walk.h"

#include "base/memory.h"

#include <string.h>

/* ---- Collecting -------------------------------------------------------------------------------*/

/* The next operand to descend to from this node, or EXPR_NONE. */
static expr_id next_operand(const expr_graph *graph, expr_id id, expr_walk_kind kind, int depends)
{
    const expr_node *node = &graph->node[id];
    int first = 0;
    if (kind != EXPR_WALK_ALL) {
        if (expr_is_flat(node->op) || (kind == EXPR_WALK_PIECE && expr_is_gate(node->op))) {
            return EXPR_NONE;
        }
        first = node->op == EXPR_SELECT ? 1 : 0;
    }
    for (int k = first; k < 3; k++) {
        expr_id operand = node->operand[k];
        if (operand == EXPR_NONE) {
            break;
        }
        if (graph->stamp[operand] != graph->epoch &&
            (depends == 0 || (graph->node[operand].depends & depends))) {
            return operand;
        }
    }
    return EXPR_NONE;
}

/* Depth first with an explicit stack: a node is listed after all its operands. Returns their
 * number. */
static int collect(expr_graph *graph, const expr_id *id, int count, expr_walk_kind kind,
                   int depends)
{
    if (++graph->epoch == 0) { /* the counter wrapped around */
        memset(graph->stamp, 0, (size_t)graph->capacity * sizeof *graph->stamp);
        graph->epoch = 1;
    }
    int listed = 0;
    for (int i = 0; i < count; i++) {
        if (graph->stamp[id[i]] == graph->epoch ||
            (depends != 0 && !(graph->node[id[i]].depends & depends))) {
            continue;
        }
        int depth = 0;
        graph->stack[depth++] = id[i];
        graph->stamp[id[i]] = graph->epoch;
        while (depth > 0) {
            expr_id top = graph->stack[depth - 1];
            expr_id below = next_operand(graph, top, kind, depends);
            if (below != EXPR_NONE) {
                graph->stack[depth++] = below;
                graph->stamp[below] = graph->epoch;
            } else {
                depth--;
                graph->position[top] = listed;
                graph->list[listed++] = top;
            }
        }
    }
    return listed;
}

zw_status expr_walk_start(expr_graph *graph, const expr_id *id, int count, expr_walk_kind kind,
                          int depends, expr_walk *walk)
{
    memset(walk, 0, sizeof *walk);
    if (graph->status != ZW_OK) {
        return graph->status;
    }
    int listed = collect(graph, id, count, kind, depends);
    walk->list = base_alloc(2 * (size_t)listed * sizeof *walk->list);
    if (walk->list == NULL) {
        return graph->status = ZW_NO_MEMORY;
    }
    walk->count = listed;
    walk->image = walk->list + listed;
    memcpy(walk->list, graph->list, (size_t)listed * sizeof *walk->list);
    return ZW_OK;
}

void expr_walk_end(expr_walk *walk)
{
    base_free(walk->list);
    memset(walk, 0, sizeof *walk);
}
