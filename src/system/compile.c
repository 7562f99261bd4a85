/* From the model's formulas to tables and tapes; the equations are at the head of system.h.
 *
 * The order: rows first (they are local), then the Lagrangian's gradient in one reverse sweep, then
 * M row by row (again local). So ten thousand links cost ten thousand small derivations and two
 * large ones. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/events/slip.h"
#include "system/law.h"
#include "system/list.h"
#include "system/system.h"

enum { SPARSE_FROM = 80 }; /* unknowns; below it dense algebra is faster */

/* Intermediate results of compilation. Every array has [n] or [m] nodes. */
typedef struct builder {
    zw_system *system;
    expr_graph *graph;
    const zw_model *model;
    expr_terms terms;
    expr_id lagrangian;
    expr_id *p;      /* [n] dL/dv */
    expr_id *p_mass; /* [n] the same without the terms of a law */
    expr_id *L_q;    /* [n] dL/dq */
    expr_id *p_bias; /* [n] D p */
    expr_id *Q;      /* [n] generalized forces - dR/dv */
    expr_id *phi;    /* [m] position residual, zero for velocity rows */
    expr_id *psi;    /* [m] velocity residual */
    expr_id *bias;   /* [m] D psi */
    system_list A_column, A, M_row, M, C, C_coord, slip;
} builder;

static expr_id *new_ids(int count)
{
    return base_alloc(((size_t)count + 1) * sizeof(expr_id));
}

static void free_builder(builder *b)
{
    expr_terms_free(&b->terms);
    expr_id *array[] = {b->p, b->p_mass, b->L_q, b->p_bias, b->Q, b->phi, b->psi, b->bias};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        base_free(array[i]);
    }
    system_list *list[] = {&b->A_column, &b->A, &b->M_row, &b->M, &b->C, &b->C_coord, &b->slip};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        system_list_free(list[i]);
    }
}

static zw_status start_builder(builder *b, zw_system *system, zw_error *error)
{
    size_t n = (size_t)system->n, m = (size_t)system->m;
    *b = (builder){.system = system, .graph = system->model->graph, .model = system->model};
    b->p = new_ids(system->n);
    b->p_mass = new_ids(system->n);
    b->L_q = new_ids(system->n);
    b->p_bias = new_ids(system->n);
    b->Q = new_ids(system->n);
    b->phi = new_ids(system->m);
    b->psi = new_ids(system->m);
    b->bias = new_ids(system->m);
    system->row_constraint = base_alloc((m + 1) * sizeof(int));
    system->row_kind = base_alloc((m + 1) * sizeof(system_row));
    system->first_row = base_alloc(((size_t)b->model->constraint_count + 1) * sizeof(int));
    system->A_start = base_alloc((m + 1) * sizeof(int));
    system->M_start = base_alloc((n + 1) * sizeof(int));
    if (!b->p || !b->p_mass || !b->L_q || !b->p_bias || !b->Q || !b->phi || !b->psi || !b->bias ||
        !system->row_constraint || !system->row_kind || !system->first_row || !system->A_start ||
        !system->M_start) {
        return base_no_memory(error);
    }
    return ZW_OK;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static unsigned depends(const builder *b, expr_id id)
{
    return expr_graph_node(b->graph, id)->depends;
}

static void number_rows(builder *b)
{
    zw_system *system = b->system;
    int r = 0;
    for (int c = 0; c < b->model->constraint_count; c++) {
        const model_constraint *constraint = &b->model->constraint[c];
        system->first_row[c] = r;
        for (int k = 0; k < constraint->rows; k++, r++) {
            expr_id residual = constraint->residual[k];
            int holonomic = !(depends(b, residual) & EXPR_ON_SPEED);
            system->row_constraint[r] = c;
            system->row_kind[r] = !holonomic                               ? SYSTEM_VELOCITY
                                  : constraint->relation == MODEL_AT_LEAST ? SYSTEM_CONTACT
                                                                           : SYSTEM_HOLONOMIC;
            b->phi[r] = holonomic ? residual : EXPR_ZERO;
            b->psi[r] = residual;
        }
        system->contact_count += constraint->relation == MODEL_AT_LEAST;
    }
    system->first_row[b->model->constraint_count] = r;
    law_rows(system, b->psi);
}

/* psi = D phi where a row is holonomic, bias = D psi, and the rows of A. */
static zw_status derive_rows(builder *b, zw_error *error)
{
    zw_system *system = b->system;
    zw_status status = expr_rate(b->graph, b->phi, system->m, EXPR_RATE_BIAS, b->bias);
    for (int r = 0; r < system->m && status == ZW_OK; r++) {
        if (system->row_kind[r] != SYSTEM_VELOCITY) {
            b->psi[r] = b->bias[r];
        }
    }
    if (status == ZW_OK) {
        status = expr_rate(b->graph, b->psi, system->m, EXPR_RATE_BIAS, b->bias);
    }
    for (int r = 0; r < system->m && status == ZW_OK; r++) {
        const model_constraint *constraint = &b->model->constraint[system->row_constraint[r]];
        system->A_start[r] = b->A.count;
        status = system->row_kind[r] == SYSTEM_VELOCITY
                     ? expr_gradient(b->graph, b->psi[r], EXPR_SPEED, &b->terms)
                     : expr_gradient(b->graph, b->phi[r], EXPR_COORD, &b->terms);
        if (status == ZW_OK && b->terms.count == 0) {
            return model_fail(b->model, error, ZW_BAD_INPUT, constraint->place,
                              "constraint %s has no coordinate or speed in it", constraint->name);
        }
        for (int i = 0; i < b->terms.count && status == ZW_OK; i++) {
            if (b->terms.term[i].index < system->n) {
                system_list_add(&b->A_column, b->terms.term[i].index);
                system_list_add(&b->A, b->terms.term[i].id);
            }
        }
        if (constraint->relation == MODEL_AT_LEAST && system->row_kind[r] == SYSTEM_VELOCITY) {
            return model_fail(b->model, error, ZW_BAD_INPUT, constraint->place,
                              "constraint %s: an inequality may not have speeds in it",
                              constraint->name);
        }
    }
    system->A_start[system->m] = b->A.count;
    return status;
}

/* ---- The Lagrangian ------------------------------------------------------------------------ */

/* array[index] = node for the terms of a gradient; the others are zero. Multipliers that a law
 * integrates are left out. */
static zw_status gradient_into(builder *b, expr_id id, expr_op leaf, expr_id *array)
{
    zw_status status = expr_gradient(b->graph, id, leaf, &b->terms);
    for (int i = 0; i < b->terms.count && status == ZW_OK; i++) {
        if (b->terms.term[i].index < b->system->n) {
            array[b->terms.term[i].index] = b->terms.term[i].id;
        }
    }
    return status;
}

static expr_id add(builder *b, expr_id x, expr_id y)
{
    return expr_binary(b->graph, EXPR_ADD, x, y);
}

static expr_id subtract(builder *b, expr_id x, expr_id y)
{
    return expr_binary(b->graph, EXPR_SUB, x, y);
}

static expr_id negative(builder *b, expr_id x)
{
    return expr_unary(b->graph, EXPR_NEG, x);
}

static zw_status derive_lagrangian(builder *b)
{
    const zw_model *model = b->model;
    b->lagrangian = add(b, subtract(b, model->kinetic, model->potential), model->lagrangian);
    zw_status status = gradient_into(b, b->lagrangian, EXPR_SPEED, b->p_mass);
    b->lagrangian = add(b, b->lagrangian, law_lagrangian(b->system));
    if (status == ZW_OK) {
        status = gradient_into(b, b->lagrangian, EXPR_SPEED, b->p);
    }
    if (status == ZW_OK) {
        status = gradient_into(b, b->lagrangian, EXPR_COORD, b->L_q);
    }
    if (status == ZW_OK) {
        status = expr_rate(b->graph, b->p, b->system->n, EXPR_RATE_BIAS, b->p_bias);
    }
    if (status == ZW_OK) {
        expr_id rayleigh = add(b, model->rayleigh, law_rayleigh(b->system));
        status = gradient_into(b, rayleigh, EXPR_SPEED, b->Q);
    }
    for (int i = 0; i < b->system->n && status == ZW_OK; i++) {
        b->Q[i] = subtract(b, model->coord[i].force, b->Q[i]);
    }
    return status;
}

/* M by columns of its lower triangle: as M is symmetric, column j is the part of row j of dp/dv
 * from the diagonal on. The diagonal is always there. */
static zw_status derive_metric(builder *b)
{
    zw_system *system = b->system;
    const zw_model *model = b->model;
    zw_status status = ZW_OK;
    if (model->massless && model->metric != EXPR_NONE) {
        status = gradient_into(b, model->metric, EXPR_SPEED, b->p);
    }
    system->M_diagonal = !system->law.curved;
    for (int j = 0; j < system->n && status == ZW_OK; j++) {
        system->M_start[j] = b->M.count;
        status = expr_gradient(b->graph, b->p[j], EXPR_SPEED, &b->terms);
        int identity = model->massless && model->metric == EXPR_NONE;
        int k = 0;
        while (k < b->terms.count && b->terms.term[k].index < j) {
            k++;
        }
        if (status == ZW_OK && (k == b->terms.count || b->terms.term[k].index > j)) {
            system_list_add(&b->M_row, j);
            system_list_add(&b->M, identity ? EXPR_ONE : EXPR_ZERO);
        }
        for (; k < b->terms.count && b->terms.term[k].index < system->n; k++) {
            system_list_add(&b->M_row, b->terms.term[k].index);
            system_list_add(&b->M, b->terms.term[k].id);
            system->M_diagonal &= b->terms.term[k].index == j;
        }
    }
    system->M_start[system->n] = b->M.count;
    return b->M.failed || b->M_row.failed ? ZW_NO_MEMORY : status;
}

/* ---- Tapes --------------------------------------------------------------------------------- */

static zw_status make_tape(builder *b, system_part part, system_list *out, zw_error *error)
{
    system_tape *tape = &b->system->tape[part];
    if (out->failed) {
        system_list_free(out);
        return base_no_memory(error);
    }
    tape->count = out->count;
    tape->out = out->item;
    tape->code = expr_tape_create(b->graph, &b->system->shape, out->item, out->count, error);
    return tape->code ? ZW_OK : ZW_NO_MEMORY;
}

static void add_all(system_list *list, const int *item, int count)
{
    for (int i = 0; i < count; i++) {
        system_list_add(list, item[i]);
    }
}

/* Explicit non-ideal forces, Fan et al. (2005), eq. (17). */
static void list_nonideal(builder *b)
{
    for (int c = 0; c < b->model->constraint_count; c++) {
        const model_constraint *constraint = &b->model->constraint[c];
        for (int k = 0; k < constraint->nonideal_count; k++) {
            system_list_add(&b->C_coord, constraint->nonideal_coord[k]);
            system_list_add(&b->C, constraint->nonideal[k]);
        }
    }
}

/* The free motion of a system without masses is s of Fan et al. (2005), eqs. (39)-(43), and c acts
 * as C; in a metric G both become forces, G s and G c. */
static expr_id massless_force(builder *b, int i, int preferred)
{
    const zw_model *model = b->model;
    const zw_system *system = b->system;
    expr_id sum = EXPR_ZERO;
    for (int j = 0; j < system->n; j++) {
        int low = i < j ? i : j, high = i < j ? j : i;
        expr_id x = preferred ? model->coord[j].prefer : model->coord[j].free;
        for (int k = system->M_start[low]; k < system->M_start[low + 1]; k++) {
            if (b->M_row.item[k] == high && x != EXPR_ZERO) {
                sum = add(b, sum, expr_binary(b->graph, EXPR_MUL, b->M.item[k], x));
            }
        }
    }
    return sum;
}

static void list_massless(builder *b)
{
    for (int i = 0; i < b->system->n; i++) {
        expr_id c = massless_force(b, i, 0);
        b->Q[i] = add(b, b->Q[i], massless_force(b, i, 1));
        if (c != EXPR_ZERO) {
            system_list_add(&b->C_coord, i);
            system_list_add(&b->C, c);
        }
    }
}

static zw_status make_terms(builder *b, zw_error *error)
{
    zw_system *system = b->system;
    system_layout *at = &system->at;
    system_list out = {0};
    at->M = 0;
    add_all(&out, b->M.item, b->M.count);
    at->force = out.count;
    for (int i = 0; i < system->n; i++) {
        system_list_add(&out, add(b, subtract(b, b->L_q[i], b->p_bias[i]), b->Q[i]));
    }
    at->A = out.count;
    add_all(&out, b->A.item, b->A.count);
    at->b = out.count;
    for (int r = 0; r < system->m; r++) {
        system_list_add(&out, subtract(b, law_offset(system, r), b->bias[r]));
    }
    at->mu = out.count;
    for (int c = 0; c < b->model->constraint_count; c++) {
        const model_constraint *constraint = &b->model->constraint[c];
        int friction = constraint->friction != EXPR_NONE;
        system_list_add(&out, friction ? constraint->friction : EXPR_ZERO);
        system->has_friction |= friction && constraint->relation == MODEL_EQUAL;
    }
    at->C = out.count;
    add_all(&out, b->C.item, b->C.count);
    at->Q = out.count;
    if (!system->conservative) {
        add_all(&out, b->Q, system->n);
    }
    at->dLdt = out.count;
    if (!system->conservative) {
        expr_terms *terms = &b->terms;
        zw_status status = expr_gradient(b->graph, b->lagrangian, EXPR_TIME, terms);
        if (status != ZW_OK) {
            system_list_free(&out);
            return status;
        }
        system_list_add(&out, terms->count ? negative(b, terms->term[0].id) : EXPR_ZERO);
    }
    at->slip = out.count;
    add_all(&out, b->slip.item, b->slip.count);
    return make_tape(b, PART_TERMS, &out, error);
}

static zw_status make_rows(builder *b, system_part part, const expr_id *residual, zw_error *error)
{
    system_list out = {0};
    add_all(&out, residual, b->system->m);
    add_all(&out, b->A.item, b->A.count);
    return make_tape(b, part, &out, error);
}

static zw_status make_energy(builder *b, zw_error *error)
{
    system_list out = {0};
    expr_id energy = negative(b, b->lagrangian);
    for (int i = 0; i < b->system->n && !b->model->massless; i++) {
        if (b->p[i] != EXPR_ZERO) {
            expr_id v = expr_leaf(b->graph, EXPR_SPEED, i);
            energy = add(b, energy, expr_binary(b->graph, EXPR_MUL, v, b->p[i]));
        }
    }
    system_list_add(&out, energy);
    system_list_add(&out, b->model->kinetic);
    system_list_add(&out, b->model->potential);
    return make_tape(b, PART_ENERGY, &out, error);
}

static zw_status make_lagrange(builder *b, zw_error *error)
{
    system_list out = {0};
    add_all(&out, b->p, b->system->n);
    for (int i = 0; i < b->system->n; i++) {
        system_list_add(&out, add(b, b->L_q[i], b->Q[i]));
    }
    return make_tape(b, PART_LAGRANGE, &out, error);
}

static zw_status make_slip(builder *b, zw_error *error)
{
    system_list out = {0};
    add_all(&out, b->slip.item, b->slip.count);
    return make_tape(b, PART_SLIP, &out, error);
}

/* The metric of projections, in the pattern of M: what a law adds is left out. */
static zw_status make_metric(builder *b, zw_error *error)
{
    const zw_system *system = b->system;
    system_list out = {0};
    zw_status status = ZW_OK;
    if (!system->law.curved) {
        add_all(&out, b->M.item, b->M.count);
    }
    for (int j = 0; j < system->n && system->law.curved && status == ZW_OK; j++) {
        status = expr_gradient(b->graph, b->p_mass[j], EXPR_SPEED, &b->terms);
        for (int k = system->M_start[j], e = 0; k < system->M_start[j + 1]; k++) {
            int row = b->M_row.item[k];
            while (e < b->terms.count && b->terms.term[e].index < row) {
                e++;
            }
            int there = e < b->terms.count && b->terms.term[e].index == row;
            system_list_add(&out, there ? b->terms.term[e].id : EXPR_ZERO);
        }
    }
    if (status != ZW_OK) {
        system_list_free(&out);
        return status;
    }
    return make_tape(b, PART_METRIC, &out, error);
}

static zw_status make_reaction(builder *b, zw_error *error)
{
    system_list out = {0};
    zw_status status = law_reaction(b->system, &out);
    if (status != ZW_OK) {
        system_list_free(&out);
        return status;
    }
    return make_tape(b, PART_REACTION, &out, error);
}

/* Equations have none. */
static zw_status make_slopes(builder *b, zw_error *error)
{
    system_list none = {0};
    return make_tape(b, PART_SLOPES, &none, error);
}

static zw_status make_events(builder *b, zw_error *error)
{
    system_list out = {0};
    system_list_comparisons(&out, b->model);
    return make_tape(b, PART_EVENTS, &out, error);
}

static zw_status make_outputs(builder *b, zw_error *error)
{
    const zw_model *model = b->model;
    expr_id energy = b->system->tape[PART_ENERGY].out[0];
    system_list out = {0};
    for (int i = 0; i < model->check_count; i++) {
        expr_id value = model->check[i].value;
        system_list_add(&out, value == EXPR_NONE ? energy : value);
    }
    for (int i = 0; i < model->plot_count; i++) {
        for (int k = 0; k < model->plot[i].curve_count; k++) {
            expr_id x = model->plot[i].curve[k].x;
            system_list_add(&out, x == EXPR_NONE ? expr_leaf(b->graph, EXPR_TIME, 0) : x);
            system_list_add(&out, model->plot[i].curve[k].y);
        }
    }
    for (int i = 0; i < model->draw_count; i++) {
        const model_draw *draw = &model->draw[i];
        add_all(&out, draw->point, draw->point_count * draw->dimension);
        system_list_add(&out, draw->radius == EXPR_NONE ? EXPR_ZERO : draw->radius);
    }
    return make_tape(b, PART_OUTPUTS, &out, error);
}

/* Nothing does work if there are no forces but potential ones, nothing depends on time, no
 * constraint holds speeds (linear ones without time do not work either, but that is not proved
 * here) and no force is non-ideal. Then the energy theorem needs no quadrature.
 *
 * A constraint phi(q, t) = 0 has the power lambda' A v = -lambda' dphi/dt. A drive of constant
 * speed, a = t, shows it in phi alone: neither psi = v - 1 nor what follows holds the time. */
static int is_conservative(const builder *b)
{
    unsigned seen = depends(b, b->lagrangian);
    for (int i = 0; i < b->system->n; i++) {
        if (b->Q[i] != EXPR_ZERO) {
            return 0;
        }
    }
    for (int r = 0; r < b->system->m; r++) {
        seen |= depends(b, b->phi[r]);
        if (b->system->row_kind[r] == SYSTEM_VELOCITY) {
            return 0;
        }
    }
    for (int c = 0; c < b->model->constraint_count; c++) {
        if (b->model->constraint[c].friction != EXPR_NONE) {
            return 0;
        }
    }
    return !(seen & EXPR_ON_TIME) && b->C.count == 0 && !b->model->massless;
}

static void keep_patterns(builder *b)
{
    zw_system *system = b->system;
    system->A_column = b->A_column.item;
    system->M_row = b->M_row.item;
    system->C_coord = b->C_coord.item;
    system->C_count = b->C.count;
    b->A_column.item = b->M_row.item = b->C_coord.item = NULL;
    system->sparse = system->n >= SPARSE_FROM;
}

static zw_status make_tapes(builder *b, zw_error *error)
{
    zw_status status = make_terms(b, error);
    status = status != ZW_OK ? status : make_rows(b, PART_POSITION, b->phi, error);
    status = status != ZW_OK ? status : make_rows(b, PART_VELOCITY, b->psi, error);
    status = status != ZW_OK ? status : make_slip(b, error);
    status = status != ZW_OK ? status : make_metric(b, error);
    status = status != ZW_OK ? status : make_energy(b, error);
    status = status != ZW_OK ? status : make_lagrange(b, error);
    status = status != ZW_OK ? status : make_reaction(b, error);
    status = status != ZW_OK ? status : make_slopes(b, error);
    status = status != ZW_OK ? status : make_events(b, error);
    return status != ZW_OK ? status : make_outputs(b, error);
}

zw_status system_derive(zw_system *system, zw_error *error)
{
    builder b;
    zw_status status = start_builder(&b, system, error);
    if (status == ZW_OK) {
        number_rows(&b);
        status = derive_rows(&b, error);
    }
    if (status == ZW_OK) {
        slip_rows A = {.column = b.A_column.item, .node = b.A.item};
        int failed = b.A_column.failed || b.A.failed;
        status = failed ? ZW_NO_MEMORY : slip_derive(system, A, &b.slip, error);
    }
    status = status != ZW_OK ? status : law_curvature(system);
    status = status != ZW_OK ? status : derive_lagrangian(&b);
    status = status != ZW_OK ? status : derive_metric(&b);
    if (status == ZW_OK) {
        list_nonideal(&b);
        if (b.model->massless) {
            list_massless(&b);
        }
        system->conservative = is_conservative(&b);
        system->works = !system->conservative && !b.model->massless;
        status = make_tapes(&b, error);
    }
    int short_of = b.A.failed || b.M.failed || b.C.failed || b.slip.failed;
    if (status == ZW_OK && (b.A_column.failed || b.M_row.failed || b.C_coord.failed || short_of)) {
        status = ZW_NO_MEMORY;
    }
    if (status == ZW_OK) {
        keep_patterns(&b);
        status = expr_graph_status(b.graph);
    }
    free_builder(&b);
    if (status == ZW_NO_MEMORY) {
        base_fail_as(error, status);
    }
    return status;
}
