/* The formulas that determine a motion besides its equations, and their slopes by every leaf: rows
 * of constraints and their rates, speeds of sliding, coefficients of restitution, event functions
 * and their resets, kinks, initial values, parameters that are computed from others. All are in one
 * tape. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "look/sensitivity/sensitivity.h"
#include "system/list.h"

typedef struct writer {
    zw_sensitivity *s;
    sens_functions *f;
    system_list out;
    int list_capacity, leaf_capacity;
    zw_status status;
} writer;

/* Adds a formula (EXPR_NONE: zero) and its slopes after it; returns its index. */
static int add(writer *w, expr_id id)
{
    static const expr_op kinds[] = {EXPR_COORD, EXPR_SPEED, EXPR_PARAM,
                                    EXPR_TIME,  EXPR_ACCEL, EXPR_LAMBDA};
    sens_functions *f = w->f;
    expr_terms terms = {0};
    if (w->status != ZW_OK ||
        !base_list_reserve(&f->list, &w->list_capacity, f->count, sizeof *f->list)) {
        w->status = ZW_NO_MEMORY;
        return f->count;
    }
    sens_function *function = &f->list[f->count];
    *function = (sens_function){.at = w->out.count, .first = f->leaves};
    system_list_add(&w->out, id == EXPR_NONE ? EXPR_ZERO : id);
    for (int k = 0; k < 6 && w->status == ZW_OK && id != EXPR_NONE; k++) {
        w->status = expr_gradient(f->graph, id, kinds[k], &terms);
        for (int i = 0; i < terms.count && w->status == ZW_OK; i++) {
            if (!base_list_reserve(&f->leaf, &w->leaf_capacity, f->leaves, sizeof *f->leaf)) {
                w->status = ZW_NO_MEMORY;
                break;
            }
            f->leaf[f->leaves++] = (sens_leaf){(int)kinds[k], terms.term[i].index};
            system_list_add(&w->out, terms.term[i].id);
            function->count++;
        }
    }
    expr_terms_free(&terms);
    return f->count++;
}

static void add_constraints(writer *w)
{
    const zw_system *system = w->s->system;
    const zw_model *model = system->model;
    sens_functions *f = w->f;
    f->phi = f->count;
    for (int r = 0; r < system->m; r++) {
        add(w, system->tape[PART_POSITION].out[r]);
    }
    f->psi = f->count;
    for (int r = 0; r < system->m; r++) {
        add(w, system->tape[PART_VELOCITY].out[r]);
    }
    for (int c = 0; c < model->constraint_count; c++) {
        f->slip[c] = f->count;
        for (int k = 0; k < system->slip[c].width; k++) {
            add(w, system->tape[PART_SLIP].out[system->slip[c].at + k]);
        }
    }
    f->restitution = f->count;
    for (int c = 0; c < model->constraint_count; c++) {
        add(w, model->constraint[c].restitution);
    }
}

static void add_others(writer *w)
{
    const zw_system *system = w->s->system;
    const zw_model *model = system->model;
    const step_kinks *kinks = &w->s->kinks;
    sens_functions *f = w->f;
    f->root = f->count;
    for (int i = 0; i < model->event_count; i++) {
        add(w, model->event[i].root);
    }
    for (int i = 0; i < model->event_count; i++) {
        f->reset[i] = f->count;
        for (int k = 0; k < model->event[i].reset_count; k++) {
            add(w, model->event[i].reset[k].value);
        }
    }
    f->kink = f->count;
    for (int k = 0; k < kinks->count; k++) {
        const step_kink *kink = &kinks->kink[k];
        expr_id b = kink->b == EXPR_NONE || kink->is_floor ? EXPR_ZERO : kink->b;
        add(w, expr_binary(f->graph, EXPR_SUB, kink->a, b));
    }
    f->start = f->count;
    for (int i = 0; i < system->n; i++) {
        add(w, model->coord[i].start);
    }
    for (int i = 0; i < system->n; i++) {
        add(w, model->coord[i].speed);
    }
    f->param = f->count;
    for (int k = 0; k < system->shape.params; k++) {
        add(w, model->param[k].formula);
    }
    f->cost = f->count;
    for (int k = 0; k < model->cost_count; k++) {
        add(w, model->cost[k].value);
    }
}

zw_status sens_functions_create(zw_sensitivity *s, zw_error *error)
{
    const zw_system *system = s->system;
    sens_functions *f = &s->f;
    writer w = {.s = s, .f = f};
    f->graph = expr_graph_copy(system->model->graph);
    f->slip = base_alloc(((size_t)system->model->constraint_count + 1) * sizeof(int));
    f->reset = base_alloc(((size_t)system->model->event_count + 1) * sizeof(int));
    if (!f->graph || !f->slip || !f->reset) {
        return base_no_memory(error);
    }
    add_constraints(&w);
    add_others(&w);
    zw_status status = w.status;
    status = status != ZW_OK ? status : w.out.failed ? ZW_NO_MEMORY : expr_graph_status(f->graph);
    if (status == ZW_OK) {
        expr_shape shape = system->shape;
        shape.lambdas = system->m;
        f->tape = expr_tape_create(f->graph, &shape, w.out.item, w.out.count, error);
        size_t registers = f->tape ? expr_tape_registers(f->tape) : 0;
        size_t kinks = f->tape ? (size_t)expr_tape_kinks(f->tape) : 0;
        f->registers = base_alloc((registers + 1) * sizeof(double));
        f->out = base_alloc(((size_t)w.out.count + 1) * sizeof(double));
        f->side = base_alloc((kinks + 1) * sizeof(double));
        status = f->tape && f->registers && f->out && f->side ? ZW_OK : ZW_NO_MEMORY;
    }
    system_list_free(&w.out);
    return status == ZW_NO_MEMORY ? base_no_memory(error) : status;
}

void sens_functions_free(sens_functions *f)
{
    expr_tape_free(f->tape);
    expr_graph_free(f->graph);
    void *memory[] = {f->slip, f->reset, f->list, f->leaf, f->registers, f->out, f->side};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        base_free(memory[i]);
    }
}

void sens_functions_run(zw_sensitivity *s, const step_kinks *kinks, const double *a,
                        const double *lambda)
{
    sens_functions *f = &s->f;
    const expr_inputs in = {.t = s->now->t,
                            .param = state_param(s->now),
                            .q = state_q(s->now),
                            .v = state_v(s->now),
                            .a = a ? a : s->zero,
                            .lambda = lambda ? lambda : s->zero};
    expr_tape_prepare(f->tape, in.param, f->registers);
    if (kinks) {
        kinks_sides(kinks, f->graph, f->tape, f->side);
        expr_tape_latch(f->tape, f->side, f->registers);
    }
    expr_tape_run(f->tape, &in, f->registers, f->out);
}

double sens_value(const zw_sensitivity *s, int function)
{
    return s->f.out[s->f.list[function].at];
}

static double part_of(const sens_way *way, const sens_leaf *leaf)
{
    const double *list = leaf->kind == EXPR_COORD   ? way->q
                         : leaf->kind == EXPR_SPEED ? way->v
                         : leaf->kind == EXPR_PARAM ? way->param
                         : leaf->kind == EXPR_ACCEL ? way->a
                                                    : way->lambda;
    return leaf->kind == EXPR_TIME ? way->t : list ? list[leaf->index] : 0;
}

double sens_along(const zw_sensitivity *s, int function, const sens_way *way)
{
    const sens_function *f = &s->f.list[function];
    double sum = 0;
    for (int k = 0; k < f->count; k++) {
        double part = part_of(way, &s->f.leaf[f->first + k]);
        sum += part != 0 ? s->f.out[f->at + 1 + k] * part : 0;
    }
    return sum;
}

void sens_gradient(const zw_sensitivity *s, int function, double *by_q, double *by_v)
{
    const sens_function *f = &s->f.list[function];
    for (int k = 0; k < f->count; k++) {
        const sens_leaf *leaf = &s->f.leaf[f->first + k];
        double *to = leaf->kind == EXPR_COORD ? by_q : leaf->kind == EXPR_SPEED ? by_v : NULL;
        if (to) {
            to[leaf->index] += s->f.out[f->at + 1 + k];
        }
    }
}
