#include "path/reach/reach_terms.h"

#include <math.h>

#include "expr/derive.h"
#include "system/list.h"

/* ---- A graph of our own --------------------------------------------------------------------- */

static expr_id rebuild(expr_graph *to, const expr_node *node, const expr_id *map)
{
    expr_id a = node->operand[0] >= 0 ? map[node->operand[0]] : EXPR_NONE;
    expr_id b = node->operand[1] >= 0 ? map[node->operand[1]] : EXPR_NONE;
    switch (node->op) {
    case EXPR_CONST:
        return expr_const(to, node->value);
    case EXPR_POWI:
        return expr_powi(to, a, node->index);
    case EXPR_SELECT:
        return expr_select(to, a, b, map[node->operand[2]]);
    default:
        break;
    }
    int operands = expr_op_operands((expr_op)node->op);
    return operands == 0   ? expr_leaf(to, (expr_op)node->op, node->index)
           : operands == 1 ? expr_unary(to, (expr_op)node->op, a)
                           : expr_binary(to, (expr_op)node->op, a, b);
}

/* Copies the nodes that id[count] depend on; id[] become nodes of the copy. */
static zw_status copy(const expr_graph *from, expr_graph *to, expr_id *id, int count)
{
    int last = 0;
    for (int i = 0; i < count; i++) {
        last = id[i] > last ? id[i] : last;
    }
    expr_id *map = base_alloc(((size_t)last + 1) * sizeof *map); /* 0: not needed */
    if (!map) {
        return ZW_NO_MEMORY;
    }
    for (int i = 0; i < count; i++) {
        map[id[i]] = 1;
    }
    for (int i = last; i >= 0; i--) {
        const expr_node *node = expr_graph_node(from, i);
        for (int k = 0; k < 3 && map[i]; k++) {
            if (node->operand[k] >= 0) {
                map[node->operand[k]] = 1;
            }
        }
    }
    for (int i = 0; i <= last; i++) {
        if (map[i]) {
            map[i] = rebuild(to, expr_graph_node(from, i), map);
        }
    }
    for (int i = 0; i < count; i++) {
        id[i] = map[id[i]];
    }
    base_free(map);
    return expr_graph_status(to);
}

/* ---- Derivatives ---------------------------------------------------------------------------- */

typedef struct maker {
    expr_graph *graph;
    expr_terms terms;
    system_list out, index; /* the derivatives, and the x of each */
    int n;
} maker;

/* Derivatives of `id` by x number `from` and all after it. */
static zw_status gradient(maker *m, expr_id id, int from)
{
    static const expr_op leaf[] = {EXPR_COORD, EXPR_SPEED};
    zw_status status = ZW_OK;
    for (int k = 0; k < 2 && status == ZW_OK; k++) {
        status = expr_gradient(m->graph, id, leaf[k], &m->terms);
        for (int i = 0; i < m->terms.count && status == ZW_OK; i++) {
            int x = k * m->n + m->terms.term[i].index;
            if (x >= from) {
                system_list_add(&m->out, m->terms.term[i].id);
                system_list_add(&m->index, x);
            }
        }
    }
    return status == ZW_OK && (m->out.failed || m->index.failed) ? ZW_NO_MEMORY : status;
}

static int *ints(int count)
{
    return base_alloc(((size_t)count + 1) * sizeof(int));
}

static zw_status derive_all(reach_terms *terms, maker *m, expr_id G, const expr_id *g)
{
    zw_status status = gradient(m, G, 0);
    terms->G_count = m->out.count;
    terms->g_start = ints(terms->rows);
    for (int s = 0; s < terms->rows && status == ZW_OK && terms->g_start; s++) {
        terms->g_start[s] = m->out.count - terms->G_count;
        status = gradient(m, g[s], 0);
    }
    if (status != ZW_OK || !terms->g_start) {
        return ZW_NO_MEMORY;
    }
    int first = m->out.count;
    terms->g_start[terms->rows] = first - terms->G_count;
    system_list row = {0};
    for (int i = 0; i < terms->G_count && status == ZW_OK; i++) {
        int before = m->out.count;
        status = gradient(m, m->out.item[i], m->index.item[i]);
        for (int k = before; k < m->out.count; k++) {
            system_list_add(&row, m->index.item[i]);
        }
    }
    terms->H_count = m->out.count - first;
    terms->H_row = row.item;
    terms->G_index = ints(terms->G_count);
    terms->g_index = ints(first - terms->G_count);
    terms->H_column = ints(terms->H_count);
    if (status != ZW_OK || row.failed || !terms->G_index || !terms->g_index || !terms->H_column) {
        return ZW_NO_MEMORY;
    }
    for (int k = 0; k < m->index.count; k++) {
        int *to = k < terms->G_count ? &terms->G_index[k]
                  : k < first        ? &terms->g_index[k - terms->G_count]
                                     : &terms->H_column[k - first];
        *to = m->index.item[k];
    }
    return ZW_OK;
}

static zw_status make_tapes(reach_terms *terms, maker *m, const expr_id *f, const expr_shape *shape,
                            const double *param)
{
    expr_id G = f[0];
    for (int s = 0; s < terms->rows; s++) {
        expr_id lambda = expr_leaf(m->graph, EXPR_LAMBDA, s);
        G = expr_binary(m->graph, EXPR_ADD, G, expr_binary(m->graph, EXPR_MUL, lambda, f[s + 1]));
    }
    zw_status status = derive_all(terms, m, G, f + 1);
    if (status != ZW_OK || expr_graph_status(m->graph) != ZW_OK) {
        return ZW_NO_MEMORY;
    }
    terms->value = expr_tape_create(m->graph, shape, f, 1 + terms->rows, NULL);
    terms->derive = expr_tape_create(m->graph, shape, m->out.item, m->out.count, NULL);
    if (!terms->value || !terms->derive) {
        return ZW_NO_MEMORY;
    }
    terms->value_registers = base_alloc((expr_tape_registers(terms->value) + 1) * sizeof(double));
    terms->derive_registers = base_alloc((expr_tape_registers(terms->derive) + 1) * sizeof(double));
    terms->f = base_alloc(((size_t)terms->rows + 2) * sizeof(double));
    terms->out = base_alloc(((size_t)m->out.count + 1) * sizeof(double));
    if (!terms->value_registers || !terms->derive_registers || !terms->f || !terms->out) {
        return ZW_NO_MEMORY;
    }
    expr_tape_prepare(terms->value, param, terms->value_registers);
    expr_tape_prepare(terms->derive, param, terms->derive_registers);
    return ZW_OK;
}

zw_status reach_terms_create(reach_terms *terms, const zw_system *system, int lagrangian,
                             const expr_id *g, int rows, const double *param)
{
    const zw_model *model = system->model;
    *terms = (reach_terms){.n = system->n, .rows = rows};
    const expr_shape shape = {.params = system->shape.params, .coords = system->n, .lambdas = rows};
    maker m = {.n = system->n, .graph = expr_graph_create()};
    expr_id *id = ints(rows + 3);
    zw_status status = m.graph && id ? ZW_OK : ZW_NO_MEMORY;
    if (status == ZW_OK) {
        id[0] = model->potential;
        id[1] = model->lagrangian;
        id[2] = model->kinetic;
        for (int s = 0; s < rows; s++) {
            id[s + 3] = g[s];
        }
        status = copy(model->graph, m.graph, id, rows + 3);
        id[2] = expr_binary(m.graph, EXPR_SUB, id[2], id[0]);
        id[2] = lagrangian ? expr_binary(m.graph, EXPR_ADD, id[2], id[1]) : EXPR_ZERO;
    }
    status = status == ZW_OK ? make_tapes(terms, &m, id + 2, &shape, param) : status;
    base_free(id);
    expr_terms_free(&m.terms);
    system_list_free(&m.out);
    system_list_free(&m.index);
    if (m.graph) {
        expr_graph_free(m.graph);
    }
    return status;
}

void reach_terms_free(reach_terms *terms)
{
    if (terms->value) {
        expr_tape_free(terms->value);
    }
    if (terms->derive) {
        expr_tape_free(terms->derive);
    }
    void *array[] = {terms->value_registers, terms->derive_registers, terms->f,       terms->out,
                     terms->G_index,         terms->g_start,          terms->g_index, terms->H_row,
                     terms->H_column};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        base_free(array[i]);
    }
    *terms = (reach_terms){0};
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static int finite(int count, const double *x)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += x[i] * 0;
    }
    return sum == 0;
}

int reach_terms_value(reach_terms *terms, double t, const double *q, const double *v)
{
    const expr_inputs in = {.t = t, .q = q, .v = v};
    expr_tape_run(terms->value, &in, terms->value_registers, terms->f);
    return finite(1 + terms->rows, terms->f);
}

int reach_terms_derive(reach_terms *terms, double t, const double *q, const double *v,
                       const double *lambda)
{
    const expr_inputs in = {.t = t, .q = q, .v = v, .lambda = lambda};
    expr_tape_run(terms->derive, &in, terms->derive_registers, terms->out);
    return finite(terms->G_count + terms->g_start[terms->rows] + terms->H_count, terms->out);
}
