/* Formulas over bodies, in subsets.
 *
 * All that formulas use and act on is one group, with the motors that they control: while all of it
 * is at rest, their values and forces are constant, unless they depend on time. Quantities used
 * only for output (plots, checks, events) belong to no island, and are ignored if their body is not
 * in the subset. The formulas are searched from their outputs down to their leaves to find out.
 */
#include <string.h>

#include "base/memory.h"
#include "expr/graph.h"
#include "system/subset/subset_inner.h"

/* ---- What they depend on -------------------------------------------------------------------- */

typedef struct search {
    const expr_graph *graph;
    unsigned char *known; /* [nodes] */
    expr_id *stack;       /* [nodes] */
    int height;
    unsigned char *acts; /* [seen] */
    int depends_on_time;
} search;

static void push(search *x, expr_id id)
{
    if (id >= 0 && !x->known[id]) {
        x->known[id] = 1;
        x->stack[x->height++] = id;
    }
}

static void search_below(search *x, expr_id id)
{
    push(x, id);
    while (x->height > 0) {
        const expr_node *node = expr_graph_node(x->graph, x->stack[--x->height]);
        x->depends_on_time |= node->op == EXPR_TIME;
        if (node->op == EXPR_COORD || node->op == EXPR_SPEED || node->op == EXPR_ACCEL) {
            x->acts[node->index] = 1;
        }
        for (int k = 0; k < expr_op_operands((expr_op)node->op); k++) {
            push(x, node->operand[k]);
        }
    }
}

/* Marks the seen quantities that forces act on or depend on. */
static int search_all(search *x, const bodies_formulas *f)
{
    const system_part part[] = {PART_TERMS, PART_POSITION, PART_VELOCITY};
    size_t nodes = (size_t)expr_graph_count(x->graph) + 1;
    x->known = base_alloc(nodes);
    x->stack = base_alloc(nodes * sizeof *x->stack);
    for (size_t p = 0; p < sizeof part / sizeof *part && x->known && x->stack; p++) {
        for (int k = 0; k < f->outputs[part[p]]; k++) {
            search_below(x, f->out[part[p]][k]);
        }
    }
    const int *list[] = {f->entry, f->potential, f->force};
    const int count[] = {f->start[f->rows], f->potential_count, f->force_count};
    for (int l = 0; l < 3; l++) {
        for (int k = 0; k < count[l]; k++) {
            x->acts[list[l][k]] = 1;
        }
    }
    int done = x->known && x->stack;
    base_free(x->known);
    base_free(x->stack);
    return done;
}

static int body_of(const zw_system *system, const bodies_seen *seen)
{
    return seen->kind == MODEL_SEEN_JOINT ? system->tree->dof_body[seen->dof]
           : seen->frame >= 0             ? system->bodies->formulas->frame[seen->frame].body
                                          : 0;
}

int subset_tie_formulas(subset_groups *g, int *link)
{
    const zw_system *system = g->whole;
    const bodies_formulas *f = system->bodies->formulas;
    g->formula = 0;
    if (!f) {
        return 1;
    }
    unsigned char *acts = base_alloc((size_t)f->count + 1);
    search x = {.graph = system->bodies->shown->graph, .acts = acts};
    int done = acts && search_all(&x, f);
    for (int k = 0; k < f->count && done; k++) {
        if (acts[k]) {
            g->formula = subset_tie(link, g->formula, body_of(system, &f->seen[k]));
        }
    }
    for (int k = 0; k < system->bodies->motor_count && done; k++) {
        if (system->bodies->motor[k].formula >= 0) {
            g->formula = subset_tie(link, g->formula, g->motor[k]);
        }
    }
    g->restless = x.depends_on_time;
    base_free(acts);
    return done;
}

/* ---- In a subset ---------------------------------------------------------------------------- */

void subset_measure_formulas(subset *s, const subset_groups *g, int there)
{
    const bodies_formulas *from = g->whole->bodies->formulas;
    s->bodies.formulas = NULL;
    if (from && there) {
        s->formulas = *from;
        s->bodies.formulas = &s->formulas;
        s->system.m = from->rows;
        for (int r = 0; r < from->rows; r++) {
            s->system.contact_count += from->kind[r] == SYSTEM_CONTACT;
        }
    }
}

/* Replaces the numbers of coordinates and bodies by those of the subset; all else is unchanged: the
 * rows have the same columns in the same order. */
void subset_fill_formulas(subset *s, const subset_groups *g)
{
    const zw_system *whole = g->whole;
    const bodies_formulas *from = whole->bodies->formulas;
    bodies_formulas *to = s->bodies.formulas;
    zw_system *system = &s->system;
    if (!to) {
        return;
    }
    for (int k = 0; k < from->frame_count; k++) {
        to->frame[k] = from->frame[k];
        to->frame[k].body = g->to[from->frame[k].body];
    }
    for (int k = 0; k < from->count; k++) {
        bodies_seen *seen = &to->seen[k];
        *seen = from->seen[k];
        int body = body_of(whole, seen);
        if (body > 0 && !g->keep[body]) {
            *seen = (bodies_seen){.kind = MODEL_SEEN_NOTHING, .frame = -1};
        } else if (seen->kind == MODEL_SEEN_JOINT) {
            seen->q = g->to_q[seen->q];
            seen->dof = g->to_v[seen->dof];
        }
    }
    for (int c = 0; c < from->constraints; c++) {
        s->constraint[c] = c;
        s->model.constraint[c] = whole->model->constraint[c];
        system->first_row[c] = whole->first_row[c];
    }
    for (int r = 0; r < from->rows; r++) {
        int row = system->m++, used = system->A_start[row];
        system->row_constraint[row] = whole->row_constraint[r];
        system->row_kind[row] = whole->row_kind[r];
        for (int k = whole->A_start[r]; k < whole->A_start[r + 1]; k++) {
            system->A_column[used++] = g->to_v[whole->A_column[k]];
        }
        system->A_start[row + 1] = used;
    }
}
