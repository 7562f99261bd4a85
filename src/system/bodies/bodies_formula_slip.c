/* Friction of constraints over imported bodies. slip.c derives the sliding speed over seen
 * quantities: e(y, y'), T = de/dy', nu. Through the tree that becomes, for coordinates,
 *
 *     e,      D e + T (J' v),      T J,      nu
 *
 * in the order of system_slip. */
#include <string.h>

#include "base/memory.h"
#include "system/bodies/bodies_build.h"
#include "system/events/slip.h"
#include "tree/sweeps.h"

/* ---- Formulas -------------------------------------------------------------------------------- */

zw_status bodies_slip_derive(bodies_builder *b, const int *start, const int *entry,
                             const expr_id *value, system_list *out, zw_error *error)
{
    bodies_formulas *f = b->to->formulas;
    int *first_row = base_alloc(((size_t)f->constraints + 1) * sizeof *first_row);
    if (!first_row) {
        return ZW_NO_MEMORY;
    }
    for (int c = 0; c < f->constraints; c++) {
        const model_constraint *constraint = &b->model->constraint[c];
        first_row[c + 1] = first_row[c] + constraint->rows;
        f->rough |= constraint->friction != EXPR_NONE;
    }
    /* The system as slip.c needs it, with seen quantities for coordinates. */
    zw_system over = {.own = *b->model, .first_row = first_row, .A_start = (int *)start};
    over.own.graph = b->to->shown->graph; /* nodes are added to this graph */
    over.model = &over.own;
    zw_status status = slip_derive(&over, (slip_rows){.column = entry, .node = value}, out, error);
    f->slip = over.slip;
    f->slip_seen = over.slip_column;
    f->works |= f->rough;
    base_free(first_row);
    return status;
}

/* ---- Patterns -------------------------------------------------------------------------------- */

/* The dofs that the slip of constraint c depends on, in rising order; column may be NULL. */
static int columns_of(const bodies_builder *b, int c, int *column)
{
    const bodies_formulas *f = b->to->formulas;
    const tree_mechanism *tree = b->system->tree;
    int n = b->system->n, count = 0;
    memset(b->mark, 0, (size_t)n * sizeof *b->mark);
    for (int k = 0; k < f->slip[c].columns; k++) {
        const bodies_seen *seen = &f->seen[f->slip_seen[f->slip[c].first_column + k]];
        int last = seen->frame >= 0 ? tree->body[f->frame[seen->frame].body].last_dof : -1;
        for (int d = last; d >= 0; d = tree->dof_parent[d]) {
            b->mark[d] = 1;
        }
        if (seen->kind == MODEL_SEEN_JOINT) {
            b->mark[seen->dof] = 1;
        }
    }
    for (int d = 0; d < n; d++) {
        if (b->mark[d]) {
            if (column) {
                column[count] = d;
            }
            count++;
        }
    }
    return count;
}

int bodies_slip_columns(const bodies_builder *b)
{
    int count = 0;
    for (int c = 0; b->to->formulas && c < b->to->formulas->constraints; c++) {
        count += columns_of(b, c, NULL);
    }
    return count;
}

void bodies_slip_pattern(const bodies_builder *b, int *at, int *column)
{
    zw_system *system = b->system;
    const bodies_formulas *f = b->to->formulas;
    for (int c = 0; f && c < f->constraints; c++) {
        const model_constraint *constraint = &b->to->shown->constraint[c];
        if (f->slip[c].width == 0) {
            continue;
        }
        system_slip *slip = &system->slip[c];
        *slip = f->slip[c];
        slip->first_column = *column;
        slip->columns = columns_of(b, c, system->slip_column + *column);
        slip->at = *at;
        *column += slip->columns;
        *at += slip->width * (2 + slip->columns) + slip->rows * slip->size + 1;
        system->has_friction |= constraint->relation == MODEL_EQUAL;
    }
}

/* ---- At an instant --------------------------------------------------------------------------- */

static int column_at(const int *column, int count, int dof)
{
    int k = 0;
    while (k < count && column[k] != dof) {
        k++;
    }
    return k;
}

/* T[columns] = the sum over seen quantities of x * J. */
static void through_tree(const zw_system *system, zw_work *work, int c, const double *x, double *T)
{
    const bodies_formulas *f = system->bodies->formulas;
    const tree_mechanism *tree = system->tree;
    const int *seen = f->slip_seen + f->slip[c].first_column;
    const int *column = system->slip_column + system->slip[c].first_column;
    int columns = system->slip[c].columns, count = f->slip[c].columns;
    memset(T, 0, (size_t)columns * sizeof *T);
    for (int k = 0; k < count; k++) {
        if (f->seen[seen[k]].kind == MODEL_SEEN_JOINT) {
            T[column_at(column, columns, f->seen[seen[k]].dof)] += x[k];
        }
    }
    for (int frame = 0; frame < f->frame_count; frame++) {
        double coefficients[6];
        const double *place;
        if (!bodies_gather(system, work, frame, seen, x, count, coefficients, &place)) {
            continue;
        }
        int body = f->frame[frame].body, d = tree->body[body].last_dof;
        tree_jacobian(tree, body, place, work->sweeps, work->jacobian);
        for (int k = tree_chain(tree, body, NULL) - 1; k >= 0; k--, d = tree->dof_parent[d]) {
            T[column_at(column, columns, d)] += bodies_entry(coefficients, work->jacobian + 6 * k);
        }
    }
}

double *bodies_put_slip(const zw_system *system, zw_work *work, const double *from, double *out)
{
    const bodies_formulas *f = system->bodies->formulas;
    for (int c = 0; f && c < f->constraints; c++) {
        const system_slip *own = &f->slip[c];
        int width = own->width, columns = system->slip[c].columns;
        if (width == 0) {
            continue;
        }
        const double *e = from + own->at, *bias = e + width, *T = bias + width;
        const double *rest = T + width * own->columns;
        int more = own->rows * own->size + 1;
        memcpy(out, e, (size_t)width * sizeof *out);
        for (int i = 0; i < width; i++) {
            const double *row = T + i * own->columns;
            out[width + i] =
                bias[i] + bodies_accelerated(system, work, f->slip_seen + own->first_column, row,
                                             own->columns);
            through_tree(system, work, c, row, out + 2 * width + i * columns);
        }
        out += width * (2 + columns);
        memcpy(out, rest, (size_t)more * sizeof *out);
        out += more;
    }
    return out;
}
