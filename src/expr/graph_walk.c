#include "expr/graph_walk.h"

#include "base/memory.h"

#include <math.h>
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

/* Depth first with a stack of our own: a node is listed when all its operands are. Returns how many
 * there are. */
static int collect(expr_graph *graph, const expr_id *id, int count, expr_walk_kind kind,
                   int depends)
{
    if (++graph->epoch == 0) { /* once in four billion walks */
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

void expr_walk_resume(expr_graph *graph, const expr_walk *walk)
{
    for (int i = 0; i < walk->count; i++) {
        graph->position[walk->list[i]] = i;
    }
}

/* ---- Values -----------------------------------------------------------------------------------*/

static double leaf_value(const expr_node *node, const expr_inputs *inputs)
{
    switch (node->op) {
    case EXPR_CONST:
        return node->value;
    case EXPR_PARAM:
        return inputs->param[node->index];
    case EXPR_TIME:
        return inputs->t;
    case EXPR_COORD:
        return inputs->q[node->index];
    case EXPR_SPEED:
        return inputs->v[node->index];
    case EXPR_ACCEL:
        return inputs->a[node->index];
    default:
        return inputs->lambda[node->index];
    }
}

/* value[position] of every node of the walk; NULL: no memory. To be freed. */
static double *walk_values(expr_graph *graph, const expr_walk *walk, const expr_inputs *inputs)
{
    double *value = base_alloc((size_t)walk->count * sizeof *value);
    if (value == NULL) {
        graph->status = ZW_NO_MEMORY;
        return NULL;
    }
    for (int i = 0; i < walk->count; i++) {
        const expr_node *node = &graph->node[walk->list[i]];
        if (node->operand[0] == EXPR_NONE) {
            value[i] = leaf_value(node, inputs);
            continue;
        }
        double x[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < 3 && node->operand[k] != EXPR_NONE; k++) {
            x[k] = value[graph->position[node->operand[k]]];
        }
        value[i] = expr_apply((expr_op)node->op, node->index, x[0], x[1], x[2]);
    }
    return value;
}

double expr_value(expr_graph *graph, expr_id id, const expr_inputs *inputs)
{
    expr_walk walk;
    if (expr_walk_start(graph, &id, 1, EXPR_WALK_ALL, 0, &walk) != ZW_OK) {
        return (double)NAN;
    }
    double *value = walk_values(graph, &walk, inputs);
    double result = value != NULL ? value[walk.count - 1] : (double)NAN;
    base_free(value);
    expr_walk_end(&walk);
    return result;
}

/* Whether the k-th operand has a say in the node's value: not so the branch not taken. */
static int has_say(const expr_graph *graph, const expr_node *node, int k, const double *value)
{
    if (node->op != EXPR_SELECT || k == 0) {
        return node->operand[k] != EXPR_NONE;
    }
    return k == (value[graph->position[node->operand[0]]] != 0.0 ? 1 : 2);
}

expr_id expr_culprit(expr_graph *graph, expr_id id, const expr_inputs *inputs)
{
    expr_walk walk;
    if (expr_walk_start(graph, &id, 1, EXPR_WALK_ALL, 0, &walk) != ZW_OK) {
        return EXPR_NONE;
    }
    expr_id culprit = EXPR_NONE;
    double *value = walk_values(graph, &walk, inputs);
    if (value != NULL) {
        walk.image[walk.count - 1] = 1; /* image: whether it has a say in the end */
        for (int i = walk.count - 1; i >= 0; i--) {
            if (!walk.image[i]) {
                continue;
            }
            const expr_node *node = &graph->node[walk.list[i]];
            for (int k = 0; k < 3; k++) {
                if (has_say(graph, node, k, value)) {
                    walk.image[graph->position[node->operand[k]]] = 1;
                }
            }
            if (!isfinite(value[i]) && (culprit == EXPR_NONE || walk.list[i] < culprit)) {
                culprit = walk.list[i]; /* the smallest id: operands have smaller ones */
            }
        }
    }
    base_free(value);
    expr_walk_end(&walk);
    return culprit;
}
