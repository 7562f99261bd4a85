/* Formulas over imported bodies: the pattern of their rows; and plots, draws, events and checks,
 * copied to the model `shown`. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"
#include "system/list.h"
#include "tree/sweeps.h"

/* ---- Patterns ------------------------------------------------------------------------------- */

/* mark[dof] is its position among the columns of row r; returns their number. */
static int mark_columns(bodies_builder *b, int r, int *column)
{
    const bodies_formulas *f = b->to->formulas;
    const tree_mechanism *tree = b->system->tree;
    int n = b->system->n, count = 0;
    memset(b->mark, 0, (size_t)n * sizeof *b->mark);
    for (int k = f->start[r]; k < f->start[r + 1]; k++) {
        const bodies_seen *seen = &f->seen[f->entry[k]];
        if (seen->kind == MODEL_SEEN_JOINT) {
            b->mark[seen->dof] = 1;
        } else if (seen->frame >= 0) {
            for (int d = tree->body[f->frame[seen->frame].body].last_dof; d >= 0;
                 d = tree->dof_parent[d]) {
                b->mark[d] = 1;
            }
        }
    }
    for (int i = 0; i < n; i++) {
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

static int has_piece(const bodies_formulas *f, int r, int frame)
{
    for (int i = f->piece_count - 1; i >= 0 && f->piece[i].row == r; i--) {
        if (f->piece[i].frame == frame) {
            return 1;
        }
    }
    return 0;
}

static zw_status add_pieces(bodies_builder *b, int r)
{
    bodies_formulas *f = b->to->formulas;
    int *dof = b->mark + b->system->n;
    for (int k = f->start[r]; k < f->start[r + 1]; k++) {
        const bodies_seen *seen = &f->seen[f->entry[k]];
        f->column[k] = seen->kind == MODEL_SEEN_JOINT ? b->mark[seen->dof] : -1;
        if (seen->frame < 0 || has_piece(f, r, seen->frame)) {
            continue;
        }
        bodies_piece *piece = &f->piece[f->piece_count];
        *piece = (bodies_piece){.row = r, .frame = seen->frame};
        piece->chain = tree_chain(b->system->tree, f->frame[seen->frame].body, dof);
        piece->column = base_alloc(((size_t)piece->chain + 1) * sizeof(int));
        if (!piece->column) {
            return ZW_NO_MEMORY;
        }
        f->piece_count++;
        for (int d = 0; d < piece->chain; d++) {
            piece->column[d] = b->mark[dof[d]];
        }
    }
    return ZW_OK;
}

int bodies_formula_count(bodies_builder *b)
{
    int entries = 0;
    for (int r = 0; b->to->formulas && r < b->to->formulas->rows; r++) {
        entries += mark_columns(b, r, NULL);
    }
    return entries;
}

zw_status bodies_formula_pattern(bodies_builder *b, int *used, zw_error *error)
{
    zw_system *system = b->system;
    bodies_formulas *f = b->to->formulas;
    if (!f) {
        return ZW_OK;
    }
    size_t entries = (size_t)f->start[f->rows] + 1;
    f->column = base_alloc(entries * sizeof *f->column);
    f->piece = base_alloc(entries * sizeof *f->piece);
    if (!f->column || !f->piece) {
        return base_no_memory(error);
    }
    for (int c = 0, r = 0; c < f->constraints; c++) {
        const model_constraint *constraint = &b->to->shown->constraint[c];
        system->first_row[c] = r;
        system->contact_count += constraint->relation == MODEL_AT_LEAST;
        for (int k = 0; k < constraint->rows; k++, r++) {
            int count = mark_columns(b, r, system->A_column + *used);
            if (count == 0) {
                return model_fail(b->model, error, ZW_BAD_INPUT, constraint->place,
                                  "constraint %s has nothing in it that moves", constraint->name);
            }
            system->row_constraint[r] = c;
            system->row_kind[r] = f->kind[r];
            system->A_start[r] = *used;
            *used += count;
            if (add_pieces(b, r) != ZW_OK) {
                return base_no_memory(error);
            }
        }
    }
    return ZW_OK;
}

/* ---- Checks, plots, draws, events ------------------------------------------------------------ */

/* K + V of the robot, with the formulas' terms of V. */
static expr_id energy_of(bodies_builder *b)
{
    expr_graph *graph = b->to->shown->graph;
    expr_id kinetic = bodies_see(b, &(model_seen){.kind = MODEL_SEEN_KINETIC, .site = -1});
    expr_id potential = bodies_see(b, &(model_seen){.kind = MODEL_SEEN_POTENTIAL, .site = -1});
    return expr_binary(graph, EXPR_ADD, expr_binary(graph, EXPR_ADD, kinetic, potential),
                       b->model->potential);
}

static zw_status copy_plot(bodies_builder *b, const model_plot *from)
{
    model_plot *plot = model_add_plot(b->to->shown);
    if (!plot) {
        return ZW_NO_MEMORY;
    }
    *plot = *from;
    plot->curve_count = 0;
    plot->curve = base_alloc(((size_t)from->curve_count + 1) * sizeof *plot->curve);
    for (int k = 0; plot->curve && k < from->curve_count; k++) {
        model_curve *curve = &plot->curve[plot->curve_count++];
        *curve = from->curve[k];
        curve->x = curve->x == EXPR_NONE ? expr_leaf(b->to->shown->graph, EXPR_TIME, 0) : curve->x;
        curve->label = curve->label ? bodies_copy(curve->label) : NULL;
        curve->x_label = curve->x_label ? bodies_copy(curve->x_label) : NULL;
        if ((from->curve[k].label && !curve->label) ||
            (from->curve[k].x_label && !curve->x_label)) {
            return ZW_NO_MEMORY;
        }
    }
    return plot->curve ? ZW_OK : ZW_NO_MEMORY;
}

zw_status bodies_formula_plots(bodies_builder *b)
{
    const zw_model *model = b->model;
    zw_model *shown = b->to->shown;
    expr_id energy = EXPR_NONE;
    zw_status status = ZW_OK;
    for (int i = 0; i < model->check_count; i++) {
        model_check *check = model_add_check(shown);
        if (!check) {
            return ZW_NO_MEMORY;
        }
        *check = model->check[i];
        if (check->name && !(check->name = bodies_copy(check->name))) {
            return ZW_NO_MEMORY;
        }
        energy = check->value == EXPR_NONE && energy == EXPR_NONE ? energy_of(b) : energy;
        b->to->energy = energy;
    }
    for (int i = 0; i < model->plot_count && status == ZW_OK; i++) {
        status = copy_plot(b, &model->plot[i]);
    }
    return status;
}

zw_status bodies_formula_draws(bodies_builder *b)
{
    for (int i = 0; i < b->model->draw_count; i++) {
        const model_draw *from = &b->model->draw[i];
        size_t points = (size_t)(from->point_count * from->dimension);
        model_draw *draw = model_add_draw(b->to->shown);
        if (!draw) {
            return ZW_NO_MEMORY;
        }
        *draw = *from;
        draw->point = base_alloc((points + 1) * sizeof *draw->point);
        draw->text = from->text ? bodies_copy(from->text) : NULL;
        draw->colour = from->colour ? bodies_copy(from->colour) : NULL;
        if (!draw->point || (from->text && !draw->text) || (from->colour && !draw->colour)) {
            return ZW_NO_MEMORY;
        }
        memcpy(draw->point, from->point, points * sizeof *draw->point);
    }
    return ZW_OK;
}

zw_status bodies_formula_events(bodies_builder *b, zw_error *error)
{
    for (int i = 0; i < b->model->event_count && b->to->formulas; i++) {
        const model_event *from = &b->model->event[i];
        model_event *event = model_add_event(b->to->shown);
        if (!event) {
            return base_no_memory(error);
        }
        *event = *from;
        event->name = bodies_copy(from->name);
        event->reset = base_alloc(((size_t)from->reset_count + 1) * sizeof *event->reset);
        event->part = base_alloc((size_t)from->part_count * sizeof *event->part);
        if (!event->name || !event->reset || !event->part) {
            return base_no_memory(error);
        }
        memcpy(event->part, from->part, (size_t)from->part_count * sizeof *event->part);
        for (int k = 0; k < from->reset_count; k++) {
            event->reset[k] = from->reset[k];
            int *at = &event->reset[k].index;
            if (from->reset[k].kind == MODEL_SET_PARAM) {
                continue;
            }
            const char *name = b->model->coord[*at].name;
            *at = bodies_seen_target(b, *at, from->reset[k].kind == MODEL_SET_SPEED);
            if (*at < 0) {
                return model_fail(b->model, error, ZW_BAD_INPUT, from->place,
                                  "%s is not a coordinate of the robot and cannot be set", name);
            }
        }
    }
    return ZW_OK;
}

static void list_plots(const zw_model *shown, system_list *out)
{
    for (int i = 0; i < shown->plot_count; i++) {
        for (int k = 0; k < shown->plot[i].curve_count; k++) {
            const model_curve *curve = &shown->plot[i].curve[k];
            system_list_add(out, curve->x);
            system_list_add(out, curve->y);
        }
    }
}

zw_status bodies_formula_list(bodies_builder *b)
{
    bodies_formulas *f = b->to->formulas;
    const zw_model *shown = b->to->shown;
    system_list out = {0};
    for (int i = 0; i < shown->check_count; i++) {
        system_list_add(&out,
                        shown->check[i].value == EXPR_NONE ? b->to->energy : shown->check[i].value);
    }
    list_plots(shown, &out);
    for (int i = 0; i < shown->draw_count; i++) {
        const model_draw *draw = &shown->draw[i];
        for (int k = 0; k < draw->point_count * draw->dimension; k++) {
            system_list_add(&out, draw->point[k]);
        }
        system_list_add(&out, draw->radius == EXPR_NONE ? EXPR_ZERO : draw->radius);
    }
    for (int k = 0; k < b->to->mark_count && !out.failed;
         k++) { /* points of bodies are not leaves */
        for (int i = 0; i < 3; i++) {
            out.item[b->to->mark_output[k] + i] = EXPR_ZERO;
        }
    }
    f->out[PART_OUTPUTS] = out.item;
    f->outputs[PART_OUTPUTS] = out.count;
    f->most = out.count > f->most ? out.count : f->most;
    b->to->outputs = out.count;
    return out.failed ? ZW_NO_MEMORY : expr_graph_status(shown->graph);
}
