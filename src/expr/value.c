/* Values of single nodes, without a tape: for sizes, initial values, what an event sets, and
 * diagnosis.
 *
 * Nothing is written into the graph, so several threads may use one graph. The nodes below a root
 * are found by a heap of ids: operands have smaller ids than their users, so taking the largest one
 * again and again meets every node after all its users, and the same id several times in a row. The
 * cost is that of sorting the nodes below the root, whatever the size of the graph. */
#include "base/list.h"
#include "base/memory.h"
#include "expr/graph_walk.h"

#include <math.h>

typedef struct id_list {
    int count, capacity;
    expr_id *id;
} id_list;

/* The nodes below a root and the root itself, last first: from the root down. */
typedef struct below {
    id_list list;
    double *value; /* of each */
} below;

static zw_status append(id_list *list, expr_id id)
{
    if (!base_list_reserve(&list->id, &list->capacity, list->count, sizeof *list->id)) {
        return ZW_NO_MEMORY;
    }
    list->id[list->count++] = id;
    return ZW_OK;
}

static zw_status heap_push(id_list *heap, expr_id id)
{
    zw_status status = append(heap, id);
    if (status != ZW_OK) {
        return status;
    }
    int at = heap->count - 1;
    for (; at > 0 && heap->id[(at - 1) / 2] < id; at = (at - 1) / 2) {
        heap->id[at] = heap->id[(at - 1) / 2];
    }
    heap->id[at] = id;
    return ZW_OK;
}

static expr_id heap_pop(id_list *heap)
{
    expr_id top = heap->id[0], last = heap->id[--heap->count];
    int at = 0;
    for (int child; (child = 2 * at + 1) < heap->count; at = child) {
        child += child + 1 < heap->count && heap->id[child + 1] > heap->id[child];
        if (heap->id[child] <= last) {
            break;
        }
        heap->id[at] = heap->id[child];
    }
    heap->id[at] = last;
    return top;
}

static zw_status collect_below(const expr_graph *graph, expr_id root, id_list *list)
{
    id_list heap = {0};
    zw_status status = heap_push(&heap, root);
    while (status == ZW_OK && heap.count > 0) {
        expr_id id = heap_pop(&heap);
        if (list->count > 0 && list->id[list->count - 1] == id) {
            continue;
        }
        status = append(list, id);
        const expr_node *node = &graph->node[id];
        for (int k = 0; k < 3 && node->operand[k] != EXPR_NONE && status == ZW_OK; k++) {
            status = heap_push(&heap, node->operand[k]);
        }
    }
    base_free(heap.id);
    return status;
}

/* The position of an id in a decreasing list that contains it. */
static int position_of(const id_list *list, expr_id id)
{
    int first = 0, last = list->count - 1;
    while (first < last) {
        int middle = (first + last) / 2;
        if (list->id[middle] > id) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}

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

static void free_below(below *b)
{
    base_free(b->list.id);
    base_free(b->value);
}

static zw_status evaluate_below(const expr_graph *graph, expr_id root, const expr_inputs *inputs,
                                below *b)
{
    if (graph->status != ZW_OK) {
        return graph->status; /* after a failure the root may be a placeholder */
    }
    zw_status status = collect_below(graph, root, &b->list);
    b->value = status == ZW_OK ? base_alloc((size_t)b->list.count * sizeof *b->value) : NULL;
    if (b->value == NULL) {
        return ZW_NO_MEMORY;
    }
    for (int i = b->list.count - 1; i >= 0; i--) {
        const expr_node *node = &graph->node[b->list.id[i]];
        if (node->operand[0] == EXPR_NONE) {
            b->value[i] = leaf_value(node, inputs);
            continue;
        }
        double x[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < 3 && node->operand[k] != EXPR_NONE; k++) {
            x[k] = b->value[position_of(&b->list, node->operand[k])];
        }
        b->value[i] = expr_apply((expr_op)node->op, node->index, x[0], x[1], x[2]);
    }
    return ZW_OK;
}

zw_status expr_value(const expr_graph *graph, expr_id id, const expr_inputs *inputs, double *value)
{
    const expr_node *root = &graph->node[id];
    if (root->operand[0] == EXPR_NONE && graph->status == ZW_OK) {
        *value = leaf_value(root, inputs);
        return ZW_OK;
    }
    below b = {0};
    zw_status status = evaluate_below(graph, id, inputs, &b);
    *value = status == ZW_OK ? b.value[0] : (double)NAN;
    free_below(&b);
    return status;
}

/* Does the node's value depend on the k-th operand? Not on the branch that is not taken. */
static int matters(const below *b, const expr_node *node, int k)
{
    if (node->op != EXPR_SELECT || k == 0) {
        return node->operand[k] != EXPR_NONE;
    }
    return k == (b->value[position_of(&b->list, node->operand[0])] != 0.0 ? 1 : 2);
}

zw_status expr_culprit(const expr_graph *graph, expr_id id, const expr_inputs *inputs,
                       expr_id *culprit)
{
    below b = {0};
    *culprit = EXPR_NONE;
    zw_status status = evaluate_below(graph, id, inputs, &b);
    unsigned char *used = status == ZW_OK ? base_alloc((size_t)b.list.count) : NULL;
    if (used == NULL) {
        free_below(&b);
        return ZW_NO_MEMORY;
    }
    used[0] = 1;
    for (int i = 0; i < b.list.count; i++) {
        if (!used[i]) {
            continue;
        }
        const expr_node *node = &graph->node[b.list.id[i]];
        for (int k = 0; k < 3; k++) {
            if (matters(&b, node, k)) {
                used[position_of(&b.list, node->operand[k])] = 1;
            }
        }
        if (!isfinite(b.value[i])) {
            *culprit = b.list.id[i]; /* ids decrease: the last one found is evaluated first */
        }
    }
    base_free(used);
    free_below(&b);
    return ZW_OK;
}
