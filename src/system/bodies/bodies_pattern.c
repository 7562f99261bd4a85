/* The patterns of M and A of bodies, and the layout of all outputs. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"

/* The lower triangle of M by columns, from the tree's rows; both in rising order. */
static zw_status metric_pattern(bodies_builder *b)
{
    zw_system *system = b->system;
    const tree_mechanism *tree = system->tree;
    int n = system->n, *next = b->mark;
    system->M_start = base_alloc(((size_t)n + 1) * sizeof(int));
    system->M_row = base_alloc(((size_t)tree->entries + 1) * sizeof(int));
    b->to->entry = base_alloc(((size_t)tree->entries + 1) * sizeof(int));
    if (!system->M_start || !system->M_row || !b->to->entry) {
        return ZW_NO_MEMORY;
    }
    for (int k = 0; k < tree->entries; k++) {
        system->M_start[tree->column[k] + 1]++;
    }
    system->M_diagonal = tree->entries == n;
    for (int j = 0; j < n; j++) {
        system->M_start[j + 1] += system->M_start[j];
        next[j] = system->M_start[j];
    }
    for (int d = 0; d < n; d++) {
        for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
            int at = next[tree->column[k]]++;
            system->M_row[at] = d;
            b->to->entry[k] = at;
        }
    }
    return ZW_OK;
}

/* Is the moment of inertia about some axis negligible compared with the others? */
static int is_thin(const double *J)
{
    double trace = J[0] + J[1] + J[2];
    double det = J[0] * (J[1] * J[2] - J[5] * J[5]) - J[3] * (J[3] * J[2] - J[5] * J[4]) +
                 J[4] * (J[3] * J[5] - J[1] * J[4]);
    return !(det > 1e-10 * trace * trace * trace);
}

/* J - m [c][c], with entries that are round-off of its largest moment set to zero. */
static void shift_inertia(const tree_body *body, bodies_thin *thin)
{
    const double *c = body->com, m = body->mass;
    double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2], trace = 0;
    for (int k = 0; k < 6; k++) {
        static const int i[6] = {0, 1, 2, 0, 0, 1}, j[6] = {0, 1, 2, 1, 2, 2};
        thin->inertia[k] = body->inertia[k] + m * ((k < 3 ? square : 0) - c[i[k]] * c[j[k]]);
        trace += k < 3 ? thin->inertia[k] : 0;
    }
    for (int k = 0; k < 6; k++) {
        thin->inertia[k] = fabs(thin->inertia[k]) <= 1e-14 * trace ? 0 : thin->inertia[k];
    }
}

static zw_status list_thin(bodies_builder *b)
{
    const tree_mechanism *tree = b->system->tree;
    struct system_bodies *to = b->to;
    to->thin = base_alloc(((size_t)tree->bodies + 1) * sizeof *to->thin);
    if (!to->thin) {
        return ZW_NO_MEMORY;
    }
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        if (body->is_free && body->subtree_mass == body->mass && is_thin(body->inertia)) {
            bodies_thin *thin = &to->thin[to->thin_count++];
            *thin = (bodies_thin){.body = i, .dof = body->dof, .mass = body->mass};
            memcpy(thin->com, body->com, sizeof thin->com);
            shift_inertia(body, thin);
        }
    }
    return ZW_OK;
}

/* Marks the present rows of column j; then those of tendons with armature that move j. */
static void mark_column(bodies_builder *b, int j)
{
    const zw_system *system = b->system;
    memset(b->mark, 0, (size_t)system->n * sizeof *b->mark);
    for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
        b->mark[system->M_row[k]] = 1;
    }
    for (int i = 0; i < b->to->length_count; i++) {
        const bodies_length *length = &b->to->length[i];
        const bodies_term *term = b->to->term + length->first;
        int moves = 0;
        for (int k = 0; k < length->count && length->armature != 0; k++) {
            moves |= term[k].dof == j;
        }
        for (int k = 0; k < length->count && moves; k++) {
            b->mark[term[k].dof] |= term[k].dof >= j;
        }
    }
}

/* The index of entry (row, column) in the pattern. */
static int entry_at(const zw_system *system, int row, int column)
{
    int k = system->M_start[column];
    while (system->M_row[k] != row) {
        k++;
    }
    return k;
}

/* Extends the pattern by the entries m coef coef' of tendons with armature. */
static zw_status widen_metric(bodies_builder *b, size_t more)
{
    zw_system *system = b->system;
    const tree_mechanism *tree = system->tree;
    int n = system->n, used = 0;
    int *start = base_alloc(((size_t)n + 1) * sizeof(int));
    int *row = base_alloc(((size_t)tree->entries + more + 1) * sizeof(int));
    for (int j = 0; j < n && start && row; j++) {
        start[j] = used;
        mark_column(b, j);
        for (int i = j; i < n; i++) {
            row[used] = i;
            used += b->mark[i];
        }
    }
    if (!start || !row) {
        base_free(start);
        base_free(row);
        return ZW_NO_MEMORY;
    }
    start[n] = used;
    base_free(system->M_start);
    base_free(system->M_row);
    system->M_start = start;
    system->M_row = row;
    system->M_diagonal = used == n;
    for (int d = 0; d < n; d++) {
        for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
            b->to->entry[k] = entry_at(system, d, tree->column[k]);
        }
    }
    return ZW_OK;
}

/* A tendon with armature m has the kinetic energy m/2 (sum of coef v)^2. */
static zw_status armature_pattern(bodies_builder *b)
{
    size_t more = 0;
    for (int i = 0; i < b->to->length_count; i++) {
        size_t count = (size_t)b->to->length[i].count;
        more += b->to->length[i].armature != 0 ? count * (count + 1) / 2 : 0;
    }
    if (more == 0) {
        return ZW_OK;
    }
    b->to->extra = base_alloc(more * sizeof *b->to->extra);
    if (!b->to->extra || widen_metric(b, more) != ZW_OK) {
        return ZW_NO_MEMORY;
    }
    for (int i = 0; i < b->to->length_count; i++) {
        const bodies_length *length = &b->to->length[i];
        const bodies_term *term = b->to->term + length->first;
        for (int k = 0; k < length->count * length->count && length->armature != 0; k++) {
            const bodies_term *x = term + k / length->count, *y = term + k % length->count;
            if (x->dof >= y->dof) {
                b->to->extra[b->to->extra_count++] =
                    (bodies_extra){.at = entry_at(b->system, x->dof, y->dof),
                                   .length = i,
                                   .x = k / length->count,
                                   .y = k % length->count};
            }
        }
    }
    return ZW_OK;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* The dofs of side k of a constraint, in the order of its coefficients: their number. */
static int side(const bodies_builder *b, const bodies_constraint *constraint, int k, int *dof)
{
    if (constraint->kind < CONSTRAINT_LENGTH) {
        return tree_chain(b->system->tree, constraint->frame[k].body, dof);
    }
    if (constraint->kind == CONSTRAINT_BALL) {
        for (int i = 0; i < 3 && k == 0; i++) {
            dof[i] = constraint->dof + i;
        }
        return k == 0 ? 3 : 0;
    }
    if (constraint->length[k] < 0) {
        return 0;
    }
    const bodies_length *length = &b->to->length[constraint->length[k]];
    for (int i = 0; i < length->count; i++) {
        dof[i] = b->to->term[length->first + i].dof;
    }
    return length->count;
}

/* The columns of a constraint's rows, in rising order; column may be NULL. mark[dof] is then its
 * position among them. Returns their number. */
static int columns_of(bodies_builder *b, const bodies_constraint *constraint, int *column)
{
    int n = b->system->n, count = 0, first = n, last = -1, *dof = b->mark + n;
    for (int k = 0; k < 2; k++) {
        int used = side(b, constraint, k, dof);
        for (int d = 0; d < used; d++) {
            first = dof[d] < first ? dof[d] : first;
            last = dof[d] > last ? dof[d] : last;
        }
    }
    for (int i = first; i <= last;
         i++) { /* not all dofs, as a constraint involves few of many bodies */
        b->mark[i] = 0;
    }
    for (int k = 0; k < 2; k++) {
        int used = side(b, constraint, k, dof);
        for (int d = 0; d < used; d++) {
            b->mark[dof[d]] = 1;
        }
    }
    for (int i = first; i <= last; i++) {
        if (b->mark[i]) {
            b->mark[i] = count;
            if (column) {
                column[count] = i;
            }
            count++;
        }
    }
    return count;
}

/* The positions of the dofs of each side among the columns; after columns_of. */
static zw_status place_columns(bodies_builder *b, bodies_constraint *constraint)
{
    int *dof = b->mark + b->system->n;
    for (int k = 0; k < 2; k++) {
        constraint->chain[k] = side(b, constraint, k, dof);
        constraint->column[k] = base_alloc(((size_t)constraint->chain[k] + 1) * sizeof(int));
        if (!constraint->column[k]) {
            return ZW_NO_MEMORY;
        }
        for (int d = 0; d < constraint->chain[k]; d++) {
            constraint->column[k][d] = b->mark[dof[d]];
        }
    }
    return ZW_OK;
}

/* Constraints of dry friction have no rows, but their first_row must be a valid index: so there is
 * one additional, empty row at the end. */
static zw_status allocate_rows(bodies_builder *b)
{
    zw_system *system = b->system;
    const struct system_bodies *to = b->to;
    size_t m = (size_t)system->m, constraints = (size_t)to->shown->constraint_count + 1;
    size_t entries = 1 + (size_t)bodies_formula_count(b);
    for (int c = 0; c < to->constraint_count; c++) {
        entries += (size_t)to->constraint[c].rows * (size_t)columns_of(b, &to->constraint[c], NULL);
    }
    system->row_constraint = base_alloc((m + 1) * sizeof(int));
    system->row_kind = base_alloc((m + 1) * sizeof(system_row));
    system->first_row = base_alloc(constraints * sizeof(int));
    system->A_start = base_alloc((m + 2) * sizeof(int));
    system->A_column = base_alloc(entries * sizeof(int));
    system->slip = base_alloc(constraints * sizeof *system->slip);
    size_t slips = (size_t)to->term_count + (size_t)bodies_slip_columns(b) + 1;
    system->slip_column = base_alloc(slips * sizeof(int));
    int all = system->row_constraint && system->row_kind && system->first_row && system->A_start &&
              system->A_column && system->slip && system->slip_column;
    return all ? ZW_OK : ZW_NO_MEMORY;
}

/* The number of constraints of formulas, which come first. */
static int before_constraints(const bodies_builder *b)
{
    return b->to->formulas ? b->to->formulas->constraints : 0;
}

static zw_status row_patterns(bodies_builder *b, zw_error *error)
{
    zw_system *system = b->system;
    int used = 0;
    zw_status status = allocate_rows(b);
    status = status == ZW_OK ? bodies_formula_pattern(b, &used, error) : status;
    if (status != ZW_OK) {
        return status;
    }
    for (int i = 0; i < b->to->constraint_count; i++) {
        bodies_constraint *constraint = &b->to->constraint[i];
        int one_sided = constraint->kind >= CONSTRAINT_LOWER, c = before_constraints(b) + i;
        system->first_row[c] = constraint->row;
        int count = columns_of(b, constraint, system->A_column + used), first = used;
        if (place_columns(b, constraint) != ZW_OK) {
            return ZW_NO_MEMORY;
        }
        for (int k = 0; k < constraint->rows; k++) {
            int r = constraint->row + k;
            system->row_constraint[r] = c;
            system->row_kind[r] = one_sided                       ? SYSTEM_CONTACT
                                  : bodies_is_rolling(constraint) ? SYSTEM_VELOCITY
                                                                  : SYSTEM_HOLONOMIC;
            system->A_start[r] = used;
            memmove(system->A_column + used, system->A_column + first, (size_t)count * sizeof(int));
            used += count;
        }
        system->contact_count += one_sided;
    }
    system->A_start[system->m] = system->A_start[system->m + 1] = used;
    return ZW_OK;
}

/* For each dry friction: e, its bias, T over its terms, no nu, and the error number 0. */
static int slip_patterns(bodies_builder *b)
{
    zw_system *system = b->system;
    int at = 0, column = 0, constraints = before_constraints(b) + b->to->constraint_count;
    bodies_slip_pattern(b, &at, &column);
    for (int k = 0; k < b->to->dry_count; k++) {
        const bodies_dry *dry = &b->to->dry[k];
        system->first_row[constraints + k] = system->m;
        system->slip[constraints + k] = (system_slip){
            .width = 1, .rank = 1, .columns = dry->count, .first_column = column, .at = at};
        for (int i = 0; i < dry->count; i++) {
            system->slip_column[column++] = b->to->term[dry->first + i].dof;
        }
        at += 3 + dry->count;
    }
    system->first_row[constraints + b->to->dry_count] = system->m;
    system->has_friction |= b->to->dry_count > 0;
    return at;
}

/* ---- Outputs -------------------------------------------------------------------------------- */

/* Sizes of the outputs, given by tapes without formulas. */
static zw_status lay_out(bodies_builder *b, int slip, zw_error *error)
{
    zw_system *system = b->system;
    int l = system->M_start[system->n], n = system->n, m = system->m, k = system->A_start[m];
    int work = system->conservative ? 0 : n + 1;
    system->at = (system_layout){.M = 0,
                                 .force = l,
                                 .A = l + n,
                                 .b = l + n + k,
                                 .mu = l + n + k + m,
                                 .C = l + n + k + m + b->to->shown->constraint_count};
    system->at.Q = system->at.C;
    system->at.dLdt = system->at.Q + work - (work > 0);
    system->at.slip = system->at.Q + work;
    const int count[PART_COUNT] = {[PART_TERMS] = system->at.slip + slip,
                                   [PART_POSITION] = m + k + 1, /* for the additional row */
                                   [PART_VELOCITY] = m + k + 1,
                                   [PART_SLIP] = slip,
                                   [PART_METRIC] = l,
                                   [PART_ENERGY] = 3,
                                   [PART_LAGRANGE] = 2 * n,
                                   [PART_EVENTS] =
                                       b->to->formulas ? b->to->formulas->outputs[PART_EVENTS] : 0,
                                   [PART_OUTPUTS] = b->to->outputs};
    const bodies_formulas *f = b->to->formulas;
    system->shape = (expr_shape){.params = b->to->shown->param_count, .coords = n, .lambdas = m};
    expr_shape seen = system->shape;
    seen.coords = f ? f->count : n;
    for (int part = 0; part < PART_COUNT; part++) {
        const expr_id none = EXPR_ZERO, *out = f && f->out[part] ? f->out[part] : &none;
        system->tape[part].count = count[part];
        system->tape[part].code =
            expr_tape_create(b->to->shown->graph, &seen, out, f ? f->outputs[part] : 0, error);
        if (!system->tape[part].code) {
            return ZW_NO_MEMORY;
        }
    }
    return ZW_OK;
}

static int is_conservative(const bodies_builder *b)
{
    int damped = b->to->motor_count > 0 || b->to->motor_lifts || b->to->dry_count > 0 ||
                 b->to->fluid_count > 0;
    damped |= b->to->formulas && b->to->formulas->works;
    for (int i = 0; i < b->system->n; i++) {
        damped |= b->system->tree->damping[i] != 0;
    }
    for (int i = 0; i < b->to->length_count; i++) {
        damped |= b->to->length[i].damping != 0;
    }
    return !damped;
}

static zw_status list_coefs(bodies_builder *b)
{
    b->to->coef = base_alloc(((size_t)b->to->term_count + 1) * sizeof *b->to->coef);
    for (int k = 0; k < b->to->term_count && b->to->coef; k++) {
        b->to->coef[k] = b->to->term[k].coef;
    }
    return b->to->coef ? ZW_OK : ZW_NO_MEMORY;
}

zw_status bodies_make_patterns(bodies_builder *b, zw_error *error)
{
    enum { SPARSE_FROM = 80 }; /* as for equations */
    zw_system *system = b->system;
    system->conservative = is_conservative(b);
    system->sparse = system->n >= SPARSE_FROM;
    if (b->to->formulas && b->to->formulas->rough && b->to->dry_count > 0) {
        return model_fail(
            b->model, error, ZW_BAD_INPUT, -1,
            "friction of constraints beside dry friction of joints is not supported yet");
    }
    zw_status status = list_coefs(b);
    status = status != ZW_OK ? status : metric_pattern(b);
    status = status != ZW_OK ? status : armature_pattern(b);
    status = status != ZW_OK ? status : list_thin(b);
    status = status != ZW_OK ? status : row_patterns(b, error);
    system->works = !system->conservative || zw_contact_capacity(system) > 0;
    for (int r = 0; r < system->m && status == ZW_OK; r++) {
        system->works |= system->row_kind[r] == SYSTEM_CONTACT; /* impacts lose energy */
    }
    status = status == ZW_NO_MEMORY ? base_no_memory(error) : status;
    return status != ZW_OK ? status : lay_out(b, slip_patterns(b), error);
}
