#include "expr/graph.h"

#include "base/memory.h"
#include "expr/graph_fold.h"
#include "expr/graph_walk.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_CAPACITY = 64, LAST_CAPACITY = 1 << 28, BUCKET = 8 };

const char *expr_op_text(expr_op op)
{
    static const char *const text[] = {
#define EXPR_OP_TEXT(name, spelling, operands) spelling,
        EXPR_OP_TABLE(EXPR_OP_TEXT)
#undef EXPR_OP_TEXT
    };
    return (unsigned)op < EXPR_OP_COUNT ? text[op] : "?";
}

int expr_op_operands(expr_op op)
{
    static const unsigned char operands_of[] = {
#define EXPR_OP_OPERANDS(name, spelling, operands) operands,
        EXPR_OP_TABLE(EXPR_OP_OPERANDS)
#undef EXPR_OP_OPERANDS
    };
    return (unsigned)op < EXPR_OP_COUNT ? operands_of[op] : 0;
}

int expr_leaf_bit(expr_op leaf)
{
    switch (leaf) {
    case EXPR_PARAM:
        return EXPR_ON_PARAM;
    case EXPR_TIME:
        return EXPR_ON_TIME;
    case EXPR_COORD:
        return EXPR_ON_COORD;
    case EXPR_SPEED:
        return EXPR_ON_SPEED;
    case EXPR_ACCEL:
        return EXPR_ON_ACCEL;
    case EXPR_LAMBDA:
        return EXPR_ON_LAMBDA;
    default:
        return 0;
    }
}

/* ---- Memory -----------------------------------------------------------------------------------*/

static void lay_out(expr_graph *graph, base_arena *arena)
{
    size_t capacity = (size_t)graph->capacity;
    graph->node = base_arena_bytes(arena, capacity * sizeof *graph->node);
    graph->slot = base_arena_bytes(arena, 2 * capacity * sizeof *graph->slot);
    graph->stamp = base_arena_bytes(arena, capacity * sizeof *graph->stamp);
    graph->position = base_arena_ints(arena, capacity);
    graph->list = base_arena_ints(arena, capacity);
    graph->stack = base_arena_ints(arena, capacity);
}

static uint32_t mixed(uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 29;
    key *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(key >> 32);
}

static uint32_t hash_of(const expr_node *node)
{
    uint64_t value;
    memcpy(&value, &node->value, sizeof value);
    uint64_t first = (uint64_t)(uint32_t)node->operand[0] << 32 | (uint32_t)node->operand[1];
    uint64_t second = (uint64_t)(uint32_t)node->operand[2] << 32 | (uint32_t)node->index;
    return mixed(first + mixed(second ^ (uint64_t)node->op << 56) + mixed(value));
}

static int is_same(const expr_node *x, const expr_node *y)
{
    return x->op == y->op && x->operand[0] == y->operand[0] && x->operand[1] == y->operand[1] &&
           x->operand[2] == y->operand[2] && x->index == y->index &&
           memcmp(&x->value, &y->value, sizeof x->value) == 0;
}

/* The slot of the node in the table, or the empty slot where it belongs. The first choice is a
 * bucket near those of the operands' neighbours: formulas are built and differentiated in order, so
 * this bucket is usually in the cache. If it is full, any other slot. */
static expr_slot *slot_of(const expr_graph *graph, const expr_node *node, uint32_t hash)
{
    uint32_t near = node->op == EXPR_CONST ? hash : (uint32_t)node->index;
    for (int k = 0; k < 3 && node->operand[k] != EXPR_NONE; k++) {
        near = k == 0 || near < (uint32_t)node->operand[k] ? (uint32_t)node->operand[k] : near;
    }
    uint32_t mask =
        2 * (uint32_t)graph->capacity / BUCKET - 1; /* number of buckets - 1, a power of two - 1 */
    uint32_t at = near * 2 / BUCKET & mask, stride = hash | 1;
    for (;; at = (at + stride) & mask) {
        expr_slot *slot = &graph->slot[at * BUCKET];
        for (int k = 0; k < BUCKET; k++, slot++) {
            if (slot->owner == 0 ||
                (slot->hash == hash && is_same(&graph->node[slot->owner - 1], node))) {
                return slot;
            }
        }
    }
}

/* Moves all arrays to a larger block; on failure the graph is unchanged. */
static zw_status make_room(expr_graph *graph, int capacity)
{
    expr_graph larger = *graph;
    larger.capacity = capacity;
    base_arena arena = {0};
    lay_out(&larger, &arena);
    arena.block = capacity <= LAST_CAPACITY ? base_alloc(arena.used) : NULL;
    if (arena.block == NULL) {
        return graph->status = ZW_NO_MEMORY;
    }
    larger.block = arena.block;
    arena.used = 0;
    lay_out(&larger, &arena);
    if (graph->count > 0) {
        memcpy(larger.node, graph->node, (size_t)graph->count * sizeof *graph->node);
        memcpy(larger.position, graph->position, (size_t)graph->count * sizeof *graph->position);
    }
    for (int id = 0; id < larger.count; id++) {
        uint32_t hash = hash_of(&larger.node[id]);
        *slot_of(&larger, &larger.node[id], hash) = (expr_slot){.hash = hash, .owner = id + 1};
    }
    base_free(graph->block);
    *graph = larger;
    return ZW_OK;
}

expr_graph *expr_graph_create(void)
{
    expr_graph *graph = base_alloc(sizeof *graph);
    if (graph == NULL || make_room(graph, FIRST_CAPACITY) != ZW_OK) {
        base_free(graph);
        return NULL;
    }
    expr_const(graph, 0.0);
    expr_const(graph, 1.0);
    return graph;
}

expr_graph *expr_graph_copy(const expr_graph *graph)
{
    expr_graph *copy = base_alloc(sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    *copy = *graph;
    copy->block = NULL; /* make_room would free the original's block */
    if (make_room(copy, graph->capacity) != ZW_OK) {
        base_free(copy);
        return NULL;
    }
    return copy;
}

void expr_graph_free(expr_graph *graph)
{
    if (graph != NULL) {
        base_free(graph->block);
        base_free(graph);
    }
}

zw_status expr_graph_status(const expr_graph *graph)
{
    return graph->status;
}

int expr_graph_count(const expr_graph *graph)
{
    return graph->count;
}

const expr_node *expr_graph_node(const expr_graph *graph, expr_id id)
{
    return &graph->node[id];
}

void expr_graph_at(expr_graph *graph, int place)
{
    graph->place = place;
}

/* ---- Nodes ------------------------------------------------------------------------------------*/

/* The unique node with this operation and operands: found, or added. */
static expr_id graph_add(expr_graph *graph, expr_node node)
{
    if (graph->status != ZW_OK) {
        return EXPR_ZERO;
    }
    uint32_t hash = hash_of(&node);
    expr_slot *slot = slot_of(graph, &node, hash);
    if (slot->owner != 0) {
        return slot->owner - 1;
    }
    if (graph->count == graph->capacity) {
        if (make_room(graph, 2 * graph->capacity) != ZW_OK) {
            return EXPR_ZERO;
        }
        slot = slot_of(graph, &node, hash);
    }
    node.place = graph->place;
    graph->node[graph->count] = node;
    graph->position[graph->count] = 0;
    *slot = (expr_slot){.hash = hash, .owner = ++graph->count};
    return graph->count - 1;
}

expr_id expr_const(expr_graph *graph, double value)
{
    expr_node node = {.op = EXPR_CONST, .operand = {EXPR_NONE, EXPR_NONE, EXPR_NONE}};
    node.value = value == 0.0 ? 0.0 : value; /* -0 becomes 0 */
    return graph_add(graph, node);
}

expr_id expr_leaf(expr_graph *graph, expr_op leaf, int index)
{
    expr_node node = {.op = (unsigned char)leaf, .operand = {EXPR_NONE, EXPR_NONE, EXPR_NONE}};
    node.depends = (unsigned char)expr_leaf_bit(leaf);
    node.index = leaf == EXPR_TIME ? 0 : index;
    return graph_add(graph, node);
}

/* An operation on nodes without simplification, unless all operands are constants and the value is
 * finite. A value that is not finite remains an operation, so that it can be shown in a message. */
expr_id fold_operation(expr_graph *graph, expr_op op, int index, expr_id a, expr_id b, expr_id c)
{
    if (graph->status != ZW_OK) {
        return EXPR_ZERO;
    }
    expr_node node = {.op = (unsigned char)op, .operand = {a, b, c}, .index = index};
    double x[3] = {0.0, 0.0, 0.0};
    int constants = 1;
    for (int k = 0; k < 3 && node.operand[k] != EXPR_NONE; k++) {
        const expr_node *operand = &graph->node[node.operand[k]];
        node.depends |= operand->depends;
        constants &= operand->op == EXPR_CONST;
        x[k] = operand->value;
    }
    if (constants) {
        double value = expr_apply(op, index, x[0], x[1], x[2]);
        if (value - value == 0.0) {
            return expr_const(graph, value);
        }
    }
    return graph_add(graph, node);
}
