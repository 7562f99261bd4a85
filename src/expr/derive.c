/* Derivatives by the chain rule, in both directions.
 *
 * For w = f(u, ...), `through` returns x * df/du. The forward sweep (expr_rate) calls it with x the
 * rate of u and adds up over the operands; the reverse sweep (expr_gradient) calls it with x the
 * derivative of the root by w and adds the answer to the one by u.
 *
 * Gates (if, min, max). On paper the derivative of `if c then f else g` is `if c then f' else g'`.
 * The reverse sweep must not send c ? x : 0 into f instead: where f is not taken it may be
 * singular, and 0 * infinity is not 0. So a gate is differentiated as a separate function, each
 * branch by a reverse sweep from 1, and the sweeps above it use its gradient `if c then f_k else
 * g_k` as the derivative by leaf k. Gates are done once each, in order of their ids, so the cost
 * does not grow with the depth of nesting.
 *
 * Invariants:
 *   1. Every traversal visits only nodes that depend on the leaves in question.
 *   2. No recursion: the depth of a formula is bounded by memory only.
 *   3. A derivative node has the place of the node that it comes from. */
#include "expr/derive.h"

#include "base/memory.h"
#include "expr/graph_walk.h"

#include <stdlib.h>
#include <string.h>

static expr_id add(expr_graph *g, expr_id a, expr_id b)
{
    return expr_binary(g, EXPR_ADD, a, b);
}

static expr_id sub(expr_graph *g, expr_id a, expr_id b)
{
    return expr_binary(g, EXPR_SUB, a, b);
}

static expr_id mul(expr_graph *g, expr_id a, expr_id b)
{
    return expr_binary(g, EXPR_MUL, a, b);
}

static expr_id over(expr_graph *g, expr_id a, expr_id b)
{
    return expr_binary(g, EXPR_DIV, a, b);
}

static expr_id neg(expr_graph *g, expr_id a)
{
    return expr_unary(g, EXPR_NEG, a);
}

static expr_id square(expr_graph *g, expr_id a)
{
    return expr_powi(g, a, 2);
}

/* ---- Terms ------------------------------------------------------------------------------------*/

void expr_terms_free(expr_terms *terms)
{
    base_free(terms->term);
    memset(terms, 0, sizeof *terms);
}

static zw_status terms_push(expr_graph *graph, expr_terms *terms, int index, expr_id id)
{
    if (terms->count == terms->capacity) {
        int capacity = terms->capacity < 8 ? 8 : 2 * terms->capacity;
        expr_term *larger = base_alloc((size_t)capacity * sizeof *larger);
        if (larger == NULL) {
            return graph->status = ZW_NO_MEMORY;
        }
        if (terms->count > 0) {
            memcpy(larger, terms->term, (size_t)terms->count * sizeof *larger);
        }
        base_free(terms->term);
        terms->term = larger;
        terms->capacity = capacity;
    }
    terms->term[terms->count++] = (expr_term){.index = index, .id = id};
    return ZW_OK;
}

static int by_index(const void *a, const void *b)
{
    const expr_term *x = a, *y = b;
    int index = (x->index > y->index) - (x->index < y->index);
    return index != 0 ? index : (x->id > y->id) - (x->id < y->id);
}

/* One term per index, in order, without zeros. */
static void terms_merge(expr_graph *graph, expr_terms *terms)
{
    int sorted = 1;
    for (int i = 1; i < terms->count; i++) {
        sorted &= terms->term[i - 1].index <= terms->term[i].index;
    }
    if (!sorted) {
        qsort(terms->term, (size_t)terms->count, sizeof *terms->term, by_index);
    }
    int kept = 0;
    for (int i = 0; i < terms->count;) {
        expr_term sum = terms->term[i++];
        for (; i < terms->count && terms->term[i].index == sum.index; i++) {
            sum.id = add(graph, sum.id, terms->term[i].id);
        }
        if (sum.id != EXPR_ZERO) {
            terms->term[kept++] = sum;
        }
    }
    terms->count = kept;
}

/* ---- One step of the chain rule ---------------------------------------------------------------*/

/* x * d(a^b) / d(a or b), with w = a^b. */
static expr_id through_pow(expr_graph *g, const expr_node *node, expr_id w, int k, expr_id x)
{
    expr_id a = node->operand[0], b = node->operand[1];
    if (k == 1) {
        return mul(g, x, mul(g, w, expr_unary(g, EXPR_LOG, a)));
    }
    if ((g->node[b].depends & ~EXPR_ON_PARAM) ==
        0) { /* constant exponents: no singularity at a = 0 */
        return mul(g, x, mul(g, b, expr_binary(g, EXPR_POW, a, sub(g, b, EXPR_ONE))));
    }
    return mul(g, x, over(g, mul(g, b, w), a));
}

/* x * dw/d(k-th operand) for the node w, which is not a gate. long: one case per operation */
static expr_id through(expr_graph *g, const expr_node *node, expr_id w, int k, expr_id x)
{
    expr_id a = node->operand[0], b = node->operand[1], slope;
    switch ((expr_op)node->op) {
    case EXPR_ADD:
        return x;
    case EXPR_SUB:
        return k == 0 ? x : neg(g, x);
    case EXPR_MUL:
        return mul(g, x, k == 0 ? b : a);
    case EXPR_DIV: /* (a/b)' = (a' - (a/b) b') / b */
        slope = over(g, x, b);
        return k == 0 ? slope : neg(g, mul(g, slope, w));
    case EXPR_NEG:
        return neg(g, x);
    case EXPR_POW:
        return through_pow(g, node, w, k, x);
    case EXPR_POWI:
        slope = expr_powi(g, a, node->index - 1);
        return mul(g, mul(g, expr_const(g, node->index), x), slope);
    case EXPR_SQRT:
        return over(g, mul(g, expr_const(g, 0.5), x), w);
    case EXPR_EXP:
        return mul(g, x, w);
    case EXPR_LOG:
        return over(g, x, a);
    case EXPR_SIN:
        return mul(g, x, expr_unary(g, EXPR_COS, a));
    case EXPR_COS:
        return neg(g, mul(g, x, expr_unary(g, EXPR_SIN, a)));
    case EXPR_TAN:
        return mul(g, x, add(g, EXPR_ONE, square(g, w)));
    case EXPR_ASIN:
        return over(g, x, expr_unary(g, EXPR_SQRT, sub(g, EXPR_ONE, square(g, a))));
    case EXPR_ACOS:
        return neg(g, over(g, x, expr_unary(g, EXPR_SQRT, sub(g, EXPR_ONE, square(g, a)))));
    case EXPR_ATAN:
        return over(g, x, add(g, EXPR_ONE, square(g, a)));
    case EXPR_SINH:
        return mul(g, x, expr_unary(g, EXPR_COSH, a));
    case EXPR_COSH:
        return mul(g, x, expr_unary(g, EXPR_SINH, a));
    case EXPR_TANH:
        return mul(g, x, sub(g, EXPR_ONE, square(g, w)));
    case EXPR_ATAN2: /* a = y, b = x: (b a' - a b') / (a^2 + b^2) */
        slope = over(g, x, add(g, square(g, a), square(g, b)));
        return k == 0 ? mul(g, slope, b) : neg(g, mul(g, slope, a));
    case EXPR_HYPOT:
        slope = over(g, x, w);
        return mul(g, slope, k == 0 ? a : b);
    case EXPR_ABS:
        return mul(g, x, expr_unary(g, EXPR_SIGN, a));
    default: /* leaves and locally constant operations */
        return EXPR_ZERO;
    }
}

/* The condition of a gate, and its two branches. */
static expr_id gate_condition(expr_graph *g, const expr_node *gate, expr_id *yes, expr_id *no)
{
    if (gate->op == EXPR_SELECT) {
        *yes = gate->operand[1];
        *no = gate->operand[2];
        return gate->operand[0];
    }
    *yes = gate->operand[0];
    *no = gate->operand[1];
    return gate->op == EXPR_MIN ? expr_binary(g, EXPR_LESS_EQUAL, *yes, *no)
                                : expr_binary(g, EXPR_LESS_EQUAL, *no, *yes);
}

/* ---- Forward ----------------------------------------------------------------------------------*/

static expr_id leaf_rate(expr_graph *g, const expr_node *node, expr_rate_kind kind)
{
    switch ((expr_op)node->op) {
    case EXPR_TIME:
        return EXPR_ONE;
    case EXPR_COORD:
        return expr_leaf(g, EXPR_SPEED, node->index);
    case EXPR_SPEED:
        return kind == EXPR_RATE_FULL ? expr_leaf(g, EXPR_ACCEL, node->index) : EXPR_ZERO;
    default:
        return EXPR_ZERO;
    }
}

/* The rate of w from the rates x[k] of its operands. */
static expr_id node_rate(expr_graph *g, const expr_node *node, expr_id w, const expr_id *x)
{
    expr_id a = node->operand[0], b = node->operand[1], yes, no, condition;
    switch ((expr_op)node->op) {
    case EXPR_DIV: /* one division */
        return over(g, sub(g, x[0], mul(g, w, x[1])), b);
    case EXPR_HYPOT:
        return over(g, add(g, mul(g, a, x[0]), mul(g, b, x[1])), w);
    case EXPR_ATAN2:
        return over(g, sub(g, mul(g, b, x[0]), mul(g, a, x[1])),
                    add(g, square(g, a), square(g, b)));
    case EXPR_MIN:
    case EXPR_MAX:
        condition = gate_condition(g, node, &yes, &no);
        return expr_select(g, condition, x[0], x[1]);
    case EXPR_SELECT:
        return expr_select(g, a, x[1], x[2]);
    default:
        break;
    }
    expr_id sum = EXPR_ZERO;
    for (int k = 0; k < 2; k++) {
        if (x[k] != EXPR_ZERO) {
            sum = add(g, sum, through(g, node, w, k, x[k]));
        }
    }
    return sum;
}

zw_status expr_rate(expr_graph *graph, const expr_id *id, int count, expr_rate_kind kind,
                    expr_id *rate)
{
    int depends = EXPR_ON_TIME | EXPR_ON_COORD | (kind == EXPR_RATE_FULL ? EXPR_ON_SPEED : 0);
    int place = graph->place;
    for (int i = 0; i < count; i++) {
        rate[i] = EXPR_ZERO;
    }
    expr_walk walk;
    if (expr_walk_start(graph, id, count, EXPR_WALK_SMOOTH, depends, &walk) != ZW_OK) {
        return graph->status;
    }
    for (int i = 0; i < walk.count; i++) {
        expr_node node = graph->node[walk.list[i]]; /* a copy, as the graph may be reallocated */
        graph->place = node.place;
        if (node.operand[0] == EXPR_NONE) {
            walk.image[i] = leaf_rate(graph, &node, kind);
            continue;
        }
        expr_id x[3] = {EXPR_ZERO, EXPR_ZERO, EXPR_ZERO};
        int moves = 0;
        for (int k = 0; k < 3 && node.operand[k] != EXPR_NONE; k++) {
            int at = expr_walk_position(graph, &walk, node.operand[k]);
            x[k] = at >= 0 ? walk.image[at] : EXPR_ZERO;
            moves |= x[k] != EXPR_ZERO;
        }
        walk.image[i] =
            moves && !expr_is_flat(node.op) ? node_rate(graph, &node, walk.list[i], x) : EXPR_ZERO;
    }
    for (int i = 0; i < count; i++) {
        int at = expr_walk_position(graph, &walk, id[i]);
        rate[i] = at >= 0 ? walk.image[at] : EXPR_ZERO;
    }
    expr_walk_end(&walk);
    graph->place = place;
    return graph->status;
}

/* ---- Reverse ----------------------------------------------------------------------------------*/

/* The gates below a root, by id, and the gradients computed so far. */
typedef struct gate {
    expr_id id;
    expr_terms slope;
} gate;

typedef struct sweep {
    expr_graph *graph;
    expr_op leaf;
    int depends;
    int gates;
    gate *gate; /* [gates] */
} sweep;

static int gate_by_id(const void *a, const void *b)
{
    const gate *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Reverse step through a gate: each of its leaves gets x * its derivative. */
static void through_gate(const sweep *s, expr_id id, expr_id x, expr_terms *terms)
{
    gate key = {.id = id};
    const gate *found = bsearch(&key, s->gate, (size_t)s->gates, sizeof key, gate_by_id);
    for (int i = 0; found != NULL && i < found->slope.count; i++) {
        const expr_term *slope = &found->slope.term[i];
        terms_push(s->graph, terms, slope->index, mul(s->graph, x, slope->id));
    }
}

/* Reverse sweep over the list of a walk, whose last node is the root: terms of the gradient, not
 * yet merged. */
static void sweep_down(const sweep *s, expr_walk *walk, expr_terms *terms)
{
    expr_graph *graph = s->graph;
    if (walk->count > 0) {
        walk->image[walk->count - 1] = EXPR_ONE;
    }
    for (int i = walk->count - 1; i >= 0 && graph->status == ZW_OK; i--) {
        expr_id x = walk->image[i];
        if (x == EXPR_ZERO) {
            continue;
        }
        expr_node node = graph->node[walk->list[i]];
        graph->place = node.place;
        if (node.op == s->leaf) {
            terms_push(graph, terms, node.index, x);
        } else if (expr_is_gate(node.op)) {
            through_gate(s, walk->list[i], x, terms);
        } else if (!expr_is_flat(node.op)) {
            for (int k = 0; k < 2 && node.operand[k] != EXPR_NONE; k++) {
                int at = expr_walk_position(graph, walk, node.operand[k]);
                if (at >= 0) {
                    expr_id share = through(graph, &node, walk->list[i], k, x);
                    walk->image[at] = add(graph, walk->image[at], share);
                }
            }
        }
    }
}

static void sweep_branch(const sweep *s, expr_id root, expr_terms *terms)
{
    expr_walk walk;
    if (expr_walk_start(s->graph, &root, 1, EXPR_WALK_PIECE, s->depends, &walk) == ZW_OK) {
        sweep_down(s, &walk, terms);
        terms_merge(s->graph, terms);
        expr_walk_end(&walk);
    }
}

/* Derivative of the gate = if condition then that of yes else that of no, leaf by leaf. */
static void sweep_gate(const sweep *s, gate *g)
{
    expr_graph *graph = s->graph;
    expr_node node = graph->node[g->id];
    expr_id yes, no;
    graph->place = node.place;
    expr_id condition = gate_condition(graph, &node, &yes, &no);
    expr_terms of_yes = {0}, of_no = {0};
    sweep_branch(s, yes, &of_yes);
    sweep_branch(s, no, &of_no);
    graph->place = node.place;
    for (int i = 0, j = 0; (i < of_yes.count || j < of_no.count) && graph->status == ZW_OK;) {
        expr_term x = {0}, y = {0};
        int next =
            j >= of_no.count || (i < of_yes.count && of_yes.term[i].index <= of_no.term[j].index)
                ? of_yes.term[i].index
                : of_no.term[j].index;
        if (i < of_yes.count && of_yes.term[i].index == next) {
            x = of_yes.term[i++];
        }
        if (j < of_no.count && of_no.term[j].index == next) {
            y = of_no.term[j++];
        }
        terms_push(graph, &g->slope, next, expr_select(graph, condition, x.id, y.id));
    }
    expr_terms_free(&of_yes);
    expr_terms_free(&of_no);
}

/* The gates of the list in order of their ids, as operands have smaller ids. */
static void sweep_gates(sweep *s, const expr_walk *walk, int gates)
{
    s->gate = base_alloc((size_t)gates * sizeof *s->gate);
    if (s->gate == NULL) {
        s->graph->status = ZW_NO_MEMORY;
        return;
    }
    for (int i = 0; i < walk->count; i++) {
        if (expr_is_gate(s->graph->node[walk->list[i]].op)) {
            s->gate[s->gates++].id = walk->list[i];
        }
    }
    qsort(s->gate, (size_t)gates, sizeof *s->gate, gate_by_id);
    for (int i = 0; i < gates; i++) {
        sweep_gate(s, &s->gate[i]);
    }
}

zw_status expr_gradient(expr_graph *graph, expr_id id, expr_op leaf, expr_terms *terms)
{
    sweep s = {.graph = graph, .leaf = leaf, .depends = expr_leaf_bit(leaf)};
    int place = graph->place;
    terms->count = 0;
    expr_walk walk;
    if (s.depends == 0 ||
        expr_walk_start(graph, &id, 1, EXPR_WALK_SMOOTH, s.depends, &walk) != ZW_OK) {
        return graph->status;
    }
    int gates = 0;
    for (int i = 0; i < walk.count; i++) {
        gates += expr_is_gate(graph->node[walk.list[i]].op);
    }
    if (gates == 0) {
        sweep_down(&s, &walk, terms);
        terms_merge(graph, terms);
    } else {
        sweep_gates(&s, &walk, gates);
        sweep_branch(&s, id, terms);
    }
    for (int i = 0; i < s.gates; i++) {
        expr_terms_free(&s.gate[i].slope);
    }
    base_free(s.gate);
    expr_walk_end(&walk);
    graph->place = place;
    return graph->status;
}

/* ---- Leaves -----------------------------------------------------------------------------------*/

zw_status expr_support(expr_graph *graph, expr_id id, expr_op leaf, expr_terms *terms)
{
    terms->count = 0;
    expr_walk walk;
    int depends = expr_leaf_bit(leaf);
    if (depends == 0 || expr_walk_start(graph, &id, 1, EXPR_WALK_ALL, depends, &walk) != ZW_OK) {
        return graph->status;
    }
    for (int i = 0; i < walk.count; i++) {
        const expr_node *node = &graph->node[walk.list[i]];
        if (node->op == leaf) {
            terms_push(graph, terms, node->index, walk.list[i]);
        }
    }
    terms_merge(graph, terms);
    expr_walk_end(&walk);
    return graph->status;
}
