/* From the graph to the tape:
 *
 *   mark      the nodes that the outputs need, and how often each is used
 *   choose    one instruction for each node, except that a product can be part of the sum above it,
 *             and that sine and cosine of the same node are one instruction; nodes that depend on
 *             parameters only belong to the prologue, the others to the main part
 *   order     tape_order.c
 *   place     registers: fixed ones first, then temporaries by linear scan
 *   emit      words
 *
 * This takes a few passes over the graph up to the last output. */
#include "expr/tape.h"

#include "base/error.h"
#include "base/memory.h"
#include "expr/graph_walk.h"
#include "expr/tape_plan.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { PROLOGUE, MAIN, STAGES };
enum { MOST_WORDS = 6 }; /* of an instruction, including its head */

typedef struct plan {
    const expr_graph *graph;
    const expr_id *out;
    int outs;
    int nodes; /* up to the last output */

    /* mark [nodes] */
    int *uses;      /* 0: not needed; outputs count twice, so that they are never absorbed */
    int *first_out; /* 1 + the first output that is this node; 0: none */
    int *next_out;  /* [outs] 1 + the next output that is the same node; 0: none */
    int *sine;      /* [node]: the needed SIN of it, or 0 */
    int *cosine;
    int operations; /* needed nodes other than leaves */

    /* choose */
    unsigned char *absorbed; /* [nodes] the node is part of another node's instruction */
    unsigned char *pinned;   /* [nodes] made by the prologue, and needed after it */
    int *maker;              /* [nodes] step, or -1 */
    tape_step *step;         /* [operations + outs] prologue first */
    int first[STAGES + 1];   /* step first[s] .. first[s + 1] - 1: stage s */
    int *order;              /* [operations + outs] */

    /* place */
    int *place;    /* [nodes] register */
    int *side;     /* [nodes] register, of kinks */
    int *last_use; /* [nodes] position in the order */
    int *vacant;   /* [2 operations] stack of registers */
    int registers;

    /* emit */
    uint32_t *word; /* [MOST_WORDS (operations + outs) + STAGES] */
    int words[STAGES];
} plan;

static void lay_out_nodes(plan *p, base_arena *arena)
{
    size_t nodes = (size_t)p->nodes;
    p->uses = base_arena_ints(arena, nodes);
    p->first_out = base_arena_ints(arena, nodes);
    p->next_out = base_arena_ints(arena, (size_t)p->outs);
    p->sine = base_arena_ints(arena, nodes);
    p->cosine = base_arena_ints(arena, nodes);
    p->maker = base_arena_ints(arena, nodes);
    p->place = base_arena_ints(arena, nodes);
    p->side = base_arena_ints(arena, nodes);
    p->last_use = base_arena_ints(arena, nodes);
    p->absorbed = base_arena_bytes(arena, nodes);
    p->pinned = base_arena_bytes(arena, nodes);
}

static void lay_out_steps(plan *p, base_arena *arena)
{
    size_t count = (size_t)p->operations + (size_t)p->outs;
    p->step = base_arena_bytes(arena, count * sizeof *p->step);
    p->order = base_arena_ints(arena, count);
    p->vacant = base_arena_ints(arena, 2 * (size_t)p->operations);
    p->word = base_arena_bytes(arena, (MOST_WORDS * count + STAGES) * sizeof *p->word);
}

static int is_leaf(const expr_node *node)
{
    return node->operand[0] == EXPR_NONE;
}

int expr_is_kink(int op)
{
    return op == EXPR_ABS || op == EXPR_SIGN || op == EXPR_FLOOR || op == EXPR_MIN ||
           op == EXPR_MAX || op == EXPR_LESS || op == EXPR_LESS_EQUAL;
}

static int stage_of(const expr_node *node)
{
    return (node->depends & ~EXPR_ON_PARAM) == 0 ? PROLOGUE : MAIN;
}

/* ---- Mark -------------------------------------------------------------------------------------*/

static void mark(plan *p)
{
    for (int i = 0; i < p->outs; i++) {
        p->uses[p->out[i]] += 2;
        p->next_out[i] = p->first_out[p->out[i]];
        p->first_out[p->out[i]] = i + 1;
    }
    for (expr_id id = p->nodes - 1; id >= 0; id--) {
        const expr_node *node = &p->graph->node[id];
        if (p->uses[id] == 0 || is_leaf(node)) {
            continue;
        }
        p->operations++;
        for (int k = 0; k < 3 && node->operand[k] != EXPR_NONE; k++) {
            p->uses[node->operand[k]]++;
        }
        if (node->op == EXPR_SIN || node->op == EXPR_COS) {
            (node->op == EXPR_SIN ? p->sine : p->cosine)[node->operand[0]] = id;
        }
    }
}

/* ---- Choose -----------------------------------------------------------------------------------*/

/* Is it a product with no other use, in the same stage as its user? */
static int can_absorb(const plan *p, const expr_node *user, expr_id id)
{
    const expr_node *node = &p->graph->node[id];
    return node->op == EXPR_MUL && p->uses[id] == 1 && stage_of(node) == stage_of(user);
}

/* A sum with the products that it absorbs, which are marked. */
static tape_step step_of_sum(plan *p, const expr_node *node)
{
    expr_id a = node->operand[0], b = node->operand[1];
    int left = can_absorb(p, node, a), right = can_absorb(p, node, b);
    int is_sum = node->op == EXPR_ADD;
    const expr_id *x = p->graph->node[a].operand, *y = p->graph->node[b].operand;
    tape_step step = {.op = node->op, .operand = {a, b, EXPR_NONE, EXPR_NONE}};
    if (left && right) {
        step =
            (tape_step){.op = is_sum ? TAPE_DOT : TAPE_CROSS, .operand = {x[0], x[1], y[0], y[1]}};
    } else if (left) {
        step = (tape_step){.op = is_sum ? TAPE_MUL_ADD : TAPE_MUL_SUB,
                           .operand = {x[0], x[1], b, EXPR_NONE}};
    } else if (right && is_sum) {
        step = (tape_step){.op = TAPE_MUL_ADD, .operand = {y[0], y[1], a, EXPR_NONE}};
    } else if (right) {
        step = (tape_step){.op = TAPE_SUB_MUL, .operand = {a, y[0], y[1], EXPR_NONE}};
    }
    p->absorbed[a] |= (unsigned char)left;
    p->absorbed[b] |= (unsigned char)right;
    return step;
}

static tape_step step_of(plan *p, expr_id id)
{
    const expr_node *node = &p->graph->node[id];
    tape_step step = {.op = node->op,
                      .number = node->index,
                      .operand = {node->operand[0], node->operand[1], node->operand[2], EXPR_NONE}};
    if (node->op == EXPR_ADD || node->op == EXPR_SUB) {
        step = step_of_sum(p, node);
    }
    step.result[0] = id;
    step.result[1] = EXPR_NONE;
    if (node->op == EXPR_SIN || node->op == EXPR_COS) {
        expr_id sine = p->sine[node->operand[0]], cosine = p->cosine[node->operand[0]];
        if (sine != 0 && cosine != 0) {
            step.op = TAPE_SIN_COS;
            step.result[0] = sine;
            step.result[1] = cosine;
        }
    }
    return step;
}

static tape_step step_of_output(expr_id id, int number)
{
    return (tape_step){.op = TAPE_OUT,
                       .number = number,
                       .result = {EXPR_NONE, EXPR_NONE},
                       .operand = {id, EXPR_NONE, EXPR_NONE, EXPR_NONE}};
}

/* Steps from the last node down, so that sums come before the products they absorb; then the order
 * is reversed. */
static void choose_stage(plan *p, int stage)
{
    int first = p->first[stage], count = 0;
    for (expr_id id = p->nodes - 1; id >= 0; id--) {
        const expr_node *node = &p->graph->node[id];
        for (int o = stage == MAIN ? p->first_out[id] - 1 : -1; o >= 0; o = p->next_out[o] - 1) {
            p->step[first + count++] = step_of_output(id, o);
        }
        if (p->uses[id] > 0 && !is_leaf(node) && stage_of(node) == stage && !p->absorbed[id]) {
            p->step[first + count++] = step_of(p, id);
        }
    }
    for (int i = 0, j = count - 1; i < j; i++, j--) {
        tape_step moved = p->step[first + i];
        p->step[first + i] = p->step[first + j];
        p->step[first + j] = moved;
    }
    p->first[stage + 1] = first + count;
}

static void pin(plan *p, expr_id id)
{
    const expr_node *node = &p->graph->node[id];
    p->pinned[id] |= !is_leaf(node) && stage_of(node) == PROLOGUE;
}

static void choose(plan *p)
{
    for (expr_id id = 0; id < p->nodes; id++) {
        p->maker[id] = -1;
        if (p->sine[id] != 0 && p->cosine[id] != 0) { /* the earlier of the two computes both */
            p->absorbed[p->sine[id] > p->cosine[id] ? p->sine[id] : p->cosine[id]] = 1;
        }
    }
    choose_stage(p, PROLOGUE);
    choose_stage(p, MAIN);
    for (int i = 0; i < p->first[STAGES]; i++) {
        for (int k = 0; k < 2 && p->step[i].result[k] != EXPR_NONE; k++) {
            p->maker[p->step[i].result[k]] = i;
        }
        for (int k = 0; i >= p->first[MAIN] && k < 4 && p->step[i].operand[k] != EXPR_NONE; k++) {
            pin(p, p->step[i].operand[k]);
        }
    }
}

/* ---- Place ------------------------------------------------------------------------------------*/

/* The leaves of one kind: one register each, from the first to the last that is needed. */
static void place_leaves(plan *p, expr_op leaf, tape_input *input)
{
    int low = INT_MAX, high = -1;
    for (expr_id id = 0; id < p->nodes; id++) {
        const expr_node *node = &p->graph->node[id];
        if (p->uses[id] > 0 && node->op == leaf) {
            low = node->index < low ? node->index : low;
            high = node->index > high ? node->index : high;
        }
    }
    if (high < 0) {
        return;
    }
    *input = (tape_input){.first = low, .count = high - low + 1, .base = p->registers};
    p->registers += input->count;
    for (expr_id id = 0; id < p->nodes; id++) {
        if (p->graph->node[id].op == leaf) {
            p->place[id] = input->base + p->graph->node[id].index - low;
        }
    }
}

/* Everything with a permanent register: constants, leaves, and results of the prologue that the
 * main part uses. */
static void place_fixed(plan *p, expr_tape *tape)
{
    for (expr_id id = 0; id < p->nodes; id++) {
        if (p->uses[id] > 0 && p->graph->node[id].op == EXPR_CONST) {
            p->place[id] = p->registers++;
        }
    }
    for (expr_id id = 0; id < p->nodes; id++) {
        if (p->uses[id] > 0 && expr_is_kink(p->graph->node[id].op)) {
            p->side[id] = p->registers++;
            tape->kinks++;
        }
    }
    tape->constants = p->registers;
    place_leaves(p, EXPR_PARAM, &tape->input[EXPR_PARAM]);
    for (expr_id id = 0; id < p->nodes; id++) {
        if (p->pinned[id]) {
            p->place[id] = p->registers++;
        }
    }
    for (int leaf = EXPR_TIME; leaf <= EXPR_LAMBDA; leaf++) {
        place_leaves(p, (expr_op)leaf, &tape->input[leaf]);
    }
}

/* Linear scan in the order of evaluation: a register is free again after its value's last use, even
 * for the result of the instruction that used it. The register freed last is taken first, as it is
 * in the cache. */
static void place_temporaries(plan *p, int stage, int base)
{
    for (int at = p->first[stage]; at < p->first[stage + 1]; at++) {
        const tape_step *step = &p->step[p->order[at]];
        for (int k = 0; k < 4 && step->operand[k] != EXPR_NONE; k++) {
            p->last_use[step->operand[k]] = at;
        }
    }
    int vacant = 0, top = base;
    for (int at = p->first[stage]; at < p->first[stage + 1]; at++) {
        const tape_step *step = &p->step[p->order[at]];
        for (int k = 0; k < 4 && step->operand[k] != EXPR_NONE; k++) {
            expr_id id = step->operand[k];
            int is_ours = p->maker[id] >= p->first[stage] && !p->pinned[id];
            if (is_ours && p->last_use[id] == at) {
                p->vacant[vacant++] = p->place[id];
                p->last_use[id] = -1; /* so that x*x frees it once */
            }
        }
        for (int k = 0; k < 2 && step->result[k] != EXPR_NONE; k++) {
            if (!p->pinned[step->result[k]]) {
                p->place[step->result[k]] = vacant > 0 ? p->vacant[--vacant] : top++;
            }
        }
    }
    p->registers = top > p->registers ? top : p->registers;
}

/* ---- Emit -------------------------------------------------------------------------------------*/

static uint32_t *emit_step(const plan *p, const tape_step *step, uint32_t *word)
{
    if (step->op == TAPE_OUT) {
        *word++ = (uint32_t)step->number;
    }
    for (int k = 0; k < 2 && step->result[k] != EXPR_NONE; k++) {
        *word++ = (uint32_t)p->place[step->result[k]];
    }
    for (int k = 0; k < 4 && step->operand[k] != EXPR_NONE; k++) {
        *word++ = (uint32_t)p->place[step->operand[k]];
    }
    if (step->op == EXPR_POWI) {
        *word++ = (uint32_t)step->number;
    }
    if (expr_is_kink(step->op)) {
        *word++ = (uint32_t)p->side[step->result[0]];
    }
    return word;
}

static uint32_t *emit_stage(plan *p, int stage, uint32_t *word)
{
    const uint32_t *start = word;
    for (int at = p->first[stage]; at < p->first[stage + 1];) {
        uint32_t *head = word++, length = 0;
        int op = p->step[p->order[at]].op;
        while (at < p->first[stage + 1] && p->step[p->order[at]].op == op &&
               length < TAPE_RUN_MOST) {
            word = emit_step(p, &p->step[p->order[at++]], word);
            length++;
        }
        *head = length << TAPE_RUN_SHIFT | (uint32_t)op;
    }
    *word++ = TAPE_END;
    p->words[stage] = (int)(word - start);
    return word;
}

/* Arrays in the tape's block: counted with block NULL, then assigned. */
typedef struct parts {
    expr_tape *tape;
    double *constant;
    int *kink;
    uint32_t *code;
} parts;

static parts lay_out_tape(const plan *p, const expr_tape *draft, base_arena *arena)
{
    parts t;
    t.tape = base_arena_bytes(arena, sizeof *t.tape);
    t.constant = base_arena_doubles(arena, (size_t)draft->constants);
    t.kink = base_arena_ints(arena, (size_t)draft->kinks);
    t.code = base_arena_bytes(arena, ((size_t)p->words[PROLOGUE] + (size_t)p->words[MAIN]) *
                                         sizeof *t.code);
    return t;
}

static expr_tape *emit(plan *p, expr_tape *draft)
{
    uint32_t *main_code = emit_stage(p, PROLOGUE, p->word);
    emit_stage(p, MAIN, main_code);
    base_arena arena = {0};
    lay_out_tape(p, draft, &arena);
    arena.block = base_alloc(arena.used);
    if (arena.block == NULL) {
        return NULL;
    }
    arena.used = 0;
    parts t = lay_out_tape(p, draft, &arena);
    for (expr_id id = 0; id < p->nodes; id++) {
        if (p->uses[id] > 0 && p->graph->node[id].op == EXPR_CONST) {
            t.constant[p->place[id]] = p->graph->node[id].value;
        }
        if (p->uses[id] > 0 && expr_is_kink(p->graph->node[id].op)) {
            t.constant[p->side[id]] = NAN;
            t.kink[p->side[id] - (draft->constants - draft->kinks)] = id;
        }
    }
    memcpy(t.code, p->word, ((size_t)p->words[PROLOGUE] + (size_t)p->words[MAIN]) * sizeof *t.code);
    draft->outputs = p->outs;
    draft->instructions = p->first[STAGES] - p->first[MAIN] - p->outs;
    draft->registers = p->registers;
    draft->constant = t.constant;
    draft->kink = t.kink;
    draft->prologue = t.code;
    draft->code = t.code + p->words[PROLOGUE];
    *t.tape = *draft;
    return t.tape;
}

/* ---- Compilation ------------------------------------------------------------------------------*/

/* Every leaf must exist in worlds of this shape. */
static zw_status check_leaves(const plan *p, const expr_shape *shape, zw_error *error)
{
    int count[] = {[EXPR_PARAM] = shape->params, [EXPR_TIME] = 1,
                   [EXPR_COORD] = shape->coords, [EXPR_SPEED] = shape->coords + shape->carried,
                   [EXPR_ACCEL] = shape->coords, [EXPR_LAMBDA] = shape->lambdas};
    for (expr_id id = 0; id < p->nodes; id++) {
        const expr_node *node = &p->graph->node[id];
        if (p->uses[id] > 0 && is_leaf(node) && node->op != EXPR_CONST &&
            (node->index < 0 || node->index >= count[node->op])) {
            return base_fail(error, ZW_BAD_INPUT, "%s %d of a world that has %d",
                             expr_op_text((expr_op)node->op), node->index, count[node->op]);
        }
    }
    return ZW_OK;
}

static expr_tape *compile_steps(plan *p)
{
    choose(p);
    for (int s = 0; s < STAGES; s++) {
        int first = p->first[s], count = p->first[s + 1] - first;
        if (tape_order(p->step, first, count, p->maker, p->order + first) != ZW_OK) {
            return NULL;
        }
    }
    expr_tape draft = {0};
    place_fixed(p, &draft);
    int base = p->registers;
    place_temporaries(p, PROLOGUE, base);
    place_temporaries(p, MAIN, base);
    return emit(p, &draft);
}

expr_tape *expr_tape_create(const expr_graph *graph, const expr_shape *shape, const expr_id *out,
                            int count, zw_error *error)
{
    if (graph->status != ZW_OK) {
        base_fail(error, graph->status, "the graph of the formulas is incomplete");
        return NULL;
    }
    plan p = {.graph = graph, .out = out, .outs = count};
    for (int i = 0; i < count; i++) {
        p.nodes = out[i] >= p.nodes ? out[i] + 1 : p.nodes;
    }
    base_arena nodes = {0}, steps = {0};
    expr_tape *tape = NULL;
    zw_status status = ZW_OK;
    lay_out_nodes(&p, &nodes);
    nodes.block = base_alloc(nodes.used);
    if (nodes.block != NULL) {
        nodes.used = 0;
        lay_out_nodes(&p, &nodes);
        mark(&p);
        status = check_leaves(&p, shape, error);
        lay_out_steps(&p, &steps);
        steps.block = status == ZW_OK ? base_alloc(steps.used) : NULL;
    }
    if (steps.block != NULL) {
        steps.used = 0;
        lay_out_steps(&p, &steps);
        tape = compile_steps(&p);
    }
    if (tape == NULL && status == ZW_OK) {
        base_fail(error, ZW_NO_MEMORY, "no memory to compile %d formulas", count);
    }
    base_free(steps.block);
    base_free(nodes.block);
    return tape;
}

void expr_tape_free(expr_tape *tape)
{
    base_free(tape);
}

int expr_tape_instructions(const expr_tape *tape)
{
    return tape->instructions;
}

int expr_tape_kinks(const expr_tape *tape)
{
    return tape->kinks;
}

expr_id expr_tape_kink(const expr_tape *tape, int i)
{
    return tape->kink[i];
}

void expr_tape_reads(const expr_tape *tape, expr_op leaf, int *first, int *count)
{
    *first = tape->input[leaf].first;
    *count = tape->input[leaf].count;
}

size_t expr_tape_registers(const expr_tape *tape)
{
    return (size_t)tape->registers;
}
