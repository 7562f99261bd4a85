/* Small deviations from a motion, on the constraints.
 *
 * x = (q, v), deviations along the speeds: dq' = dv, and of a ball, whose speeds w are along axes
 * that turn with it, dq' = dv - w x dq; dv' = a_q dq + a_v dv (slopes.h). What constraints forbid:
 *
 *     phi(q, t) = 0:      A dq = 0,  and  psi_q dq + A dv = 0  for psi = D phi
 *     psi(q, v, t) = 0:   psi_q dq + psi_v dv = 0
 *     friction that sticks: e_q dq + T dv = 0  for the speed of sliding e
 *
 *     a closed contact: as phi, and if it sticks, also as friction
 *
 * with all derivatives from formulas, or for robots from slopes_bodies.c. These rows span the
 * forbidden directions; their orthogonal complement is the tangent space. */
#include "look/modes/linear.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "look/slopes/slopes_bodies.h"
#include "math/dense/dense.h"
#include "system/bodies/bodies.h"
#include "system/list.h"

/* ---- Formulas -------------------------------------------------------------------------------- */

static zw_status add_row(linear *l, expr_id id, int row, int *scratch, system_list *out)
{
    static const expr_op kinds[] = {EXPR_COORD, EXPR_SPEED};
    expr_terms terms = {0};
    zw_status status = ZW_OK;
    for (int k = 0; k < 2 && status == ZW_OK; k++) {
        status = expr_gradient(l->graph, id, kinds[k], &terms);
        for (int i = 0; i < terms.count && status == ZW_OK; i++) {
            if (!base_list_reserve(&l->entry, scratch, l->entries, sizeof *l->entry)) {
                status = ZW_NO_MEMORY;
                break;
            }
            l->entry[l->entries++] = (slopes_entry){row, (int)kinds[k], terms.term[i].index};
            system_list_add(out, terms.term[i].id);
        }
    }
    expr_terms_free(&terms);
    return status;
}

static zw_status add_formulas(linear *l, zw_error *error)
{
    const zw_system *system = l->system;
    system_list out = {0};
    int scratch = 0;
    zw_status status = ZW_OK;
    l->graph = expr_graph_copy(system->model->graph);
    if (!l->graph) {
        return base_no_memory(error);
    }
    for (int r = 0; r < system->m && status == ZW_OK; r++) {
        status = add_row(l, system->tape[PART_VELOCITY].out[r], r, &scratch, &out);
    }
    l->held = system->m;
    for (int c = 0; c < system->model->constraint_count && status == ZW_OK; c++) {
        const system_slip *slip = &system->slip[c];
        const expr_id *e = system->tape[PART_TERMS].out + system->at.slip + slip->at;
        l->hold[c] = slip->width > 0 ? l->held : -1;
        for (int k = 0; k < slip->width && status == ZW_OK; k++) {
            status = add_row(l, e[k], l->held++, &scratch, &out);
        }
    }
    status = status != ZW_OK ? status : out.failed ? ZW_NO_MEMORY : expr_graph_status(l->graph);
    if (status == ZW_OK) {
        l->tape = expr_tape_create(l->graph, &system->shape, out.item, out.count, error);
        size_t registers = l->tape ? expr_tape_registers(l->tape) : 0;
        l->registers = base_alloc((registers + 1) * sizeof(double));
        l->out = base_alloc(((size_t)out.count + 1) * sizeof(double));
        status = l->tape && l->registers && l->out ? ZW_OK : ZW_NO_MEMORY;
    }
    system_list_free(&out);
    return status == ZW_NO_MEMORY ? base_no_memory(error) : status;
}

zw_status linear_create(linear *l, const zw_model *model, const zw_system *system, zw_error *error)
{
    size_t n = (size_t)system->n, constraints = (size_t)system->model->constraint_count;
    *l = (linear){.system = system};
    for (int k = 0; system->tree && k < system->bodies->motor_count; k++) {
        const bodies_motor *motor = &system->bodies->motor[k];
        if (motor->act >= 0 && motor->formula >= 0) {
            return base_fail(error, ZW_BAD_INPUT,
                             "equilibria and modes are not supported where the activation of an "
                             "actuator follows a formula, as that of %s does",
                             zw_name(system, ZW_KIND_PARAM, motor->param));
        }
    }
    l->slopes = zw_slopes_create(model, system, error);
    if (!l->slopes) {
        return error && error->status ? error->status : ZW_NO_MEMORY;
    }
    l->hold = base_alloc((constraints + 1) * sizeof(int));
    l->F = base_alloc((4 * n * n + 1) * sizeof(double));
    if (!l->hold || !l->F) {
        return base_no_memory(error);
    }
    l->held = system->m;
    zw_status status = system->tree ? ZW_OK : add_formulas(l, error);
    l->tangent = status == ZW_OK ? base_alloc((4 * n * n + 1) * sizeof(double)) : NULL;
    return status != ZW_OK ? status : l->tangent ? ZW_OK : base_no_memory(error);
}

void linear_free(linear *l)
{
    zw_slopes_free(l->slopes);
    expr_tape_free(l->tape);
    expr_graph_free(l->graph);
    base_free(l->entry);
    base_free(l->hold);
    base_free(l->registers);
    base_free(l->out);
    base_free(l->F);
    base_free(l->tangent);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Speeds of a ball are along axes that turn with it. */
static void turn_axes(const linear *l, const double *v)
{
    const tree_mechanism *tree = l->system->tree;
    size_t wide = 2 * (size_t)l->system->n;
    for (int j = 0; tree && j < tree->joints; j++) {
        const tree_joint *joint = &tree->joint[j];
        if (joint->kind != TREE_BALL && joint->kind != TREE_FREE) {
            continue;
        }
        int d = joint->v + (joint->kind == TREE_FREE ? 3 : 0);
        for (int k = 0; k < 3; k++) { /* -w x dq */
            int x = (k + 1) % 3, y = (k + 2) % 3;
            l->F[(size_t)(d + k) * wide + (size_t)(d + y)] -= v[d + x];
            l->F[(size_t)(d + k) * wide + (size_t)(d + x)] += v[d + y];
        }
    }
}

static void fill_F(linear *l, const double *v)
{
    size_t n = (size_t)l->system->n, wide = 2 * n;
    memset(l->F, 0, wide * wide * sizeof *l->F);
    for (size_t i = 0; i < n; i++) {
        l->F[i * wide + n + i] = 1;
        for (size_t j = 0; j < wide; j++) {
            l->F[(n + i) * wide + j] = l->answer.a_by[j * n + i];
        }
    }
    turn_axes(l, v);
}

static int is_active(const linear *l, int row)
{
    const zw_system *system = l->system;
    const int *mode = l->slopes->work->mode;
    if (row < system->m) {
        return mode[system->row_constraint[row]] != SYSTEM_OPEN;
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (l->hold[c] >= 0 && row >= l->hold[c] && row < l->hold[c] + system->slip[c].width) {
            return mode[c] == SYSTEM_STUCK;
        }
    }
    return 0;
}

/* For robots with loops or contacts: a row of speeds for each active one, and one of positions
 * unless it is friction. */
static int fill_holds(const linear *l, double *C)
{
    const slopes_bodies *s = l->slopes->bodies;
    size_t n = (size_t)l->system->n, wide = 2 * n, values = (size_t)s->values;
    int count = 0;
    for (int h = 0; h < s->holds; h++) {
        const slopes_hold *it = &s->hold[h];
        for (int r = 0; r < it->unknowns; r++) {
            size_t value = (size_t)(it->first + r);
            const double *B = s->B + value * n;
            int of_speeds =
                it->kind == HOLD_DRY || r > 0 ||
                (it->kind == HOLD_ROW && l->system->row_kind[it->index] == SYSTEM_VELOCITY);
            if (!of_speeds) {
                memcpy(C + (size_t)count++ * wide, B, n * sizeof *C);
            }
            double *row = C + (size_t)count++ * wide;
            memcpy(row + n, B, n * sizeof *C);
            for (size_t j = 0; j < n; j++) {
                row[j] = s->psi_by[j * values + value];
            }
        }
    }
    return count;
}

/* For formulas, and for trees with no constraints except limits and couplings. */
static int fill_plain(linear *l, zw_state *state, double *C)
{
    const zw_system *system = l->system;
    size_t n = (size_t)system->n, wide = 2 * n;
    const double *A = l->slopes->work->out[PART_TERMS] + system->at.A;
    int count = 0;
    if (l->tape) {
        const expr_inputs in = {
            .t = state->t, .param = state_param(state), .q = state_q(state), .v = state_v(state)};
        expr_tape_prepare(l->tape, in.param, l->registers);
        expr_tape_run(l->tape, &in, l->registers, l->out);
    }
    for (int r = 0; r < l->held; r++) {
        double *on_q = C + (size_t)count * wide, *on_v = on_q + n;
        int holonomic = r < system->m && system->row_kind[r] != SYSTEM_VELOCITY;
        if (!is_active(l, r)) {
            continue;
        }
        if (holonomic) {
            for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
                on_q[system->A_column[k]] = A[k];
            }
            count++;
            on_q += wide;
            on_v += wide;
        }
        for (int k = 0; k < l->entries; k++) {
            const slopes_entry *entry = &l->entry[k];
            if (entry->row == r && entry->index < system->n) {
                (entry->kind == EXPR_COORD ? on_q : on_v)[entry->index] = l->out[k];
            }
        }
        for (int k = system->A_start[r]; r < system->m && !l->tape && k < system->A_start[r + 1];
             k++) {
            on_v[system->A_column[k]] = A[k];
        }
        count++;
    }
    return count;
}

/* Fills C with the forbidden directions, rows of length one; returns their number. */
static int fill_rows(linear *l, zw_state *state, double *C)
{
    size_t wide = 2 * (size_t)l->system->n;
    int count = l->slopes->by_bodies ? fill_holds(l, C) : fill_plain(l, state, C);
    for (int r = 0; r < count; r++) {
        double size = dense_norm((int)wide, C + (size_t)r * wide);
        dense_scale((int)wide, size > 0 ? 1 / size : 0, C + (size_t)r * wide);
    }
    return count;
}

/* The largest number of rows. */
static size_t most_rows(const linear *l)
{
    return 2 * (size_t)(l->slopes->by_bodies ? l->slopes->bodies->values : l->held);
}

/* The orthonormal rows of Q: those of the forbidden directions first. */
static zw_status split(linear *l, zw_state *state, zw_error *error)
{
    size_t wide = 2 * (size_t)l->system->n, most = most_rows(l);
    double *C = base_alloc((most * wide + wide + 3 * most + 1) * sizeof *C);
    int *order = base_alloc((most + 1) * sizeof *order);
    if (C && order) {
        double *beta = C + most * wide;
        int count = fill_rows(l, state, C);
        l->rank = count > 0
                      ? dense_lq(count, (int)wide, C, (int)wide, 1e-9, order, beta, beta + wide)
                      : 0;
        for (size_t i = 0; i < wide; i++) {
            double *row = l->tangent + i * wide;
            memset(row, 0, wide * sizeof *row);
            row[i] = 1;
            dense_lq_apply(l->rank, (int)wide, C, (int)wide, beta, row);
        }
    }
    zw_status status = C && order ? ZW_OK : base_no_memory(error);
    base_free(C);
    base_free(order);
    return status;
}

zw_status linear_look(linear *l, const zw_state *state, int with_tangent, zw_error *error)
{
    zw_status status = zw_slopes_look(l->slopes, state, &l->answer, error);
    l->state = state;
    if (status != ZW_OK) {
        return status;
    }
    fill_F(l, state_v((zw_state *)state));
    return with_tangent ? split(l, (zw_state *)state, error) : ZW_OK;
}
