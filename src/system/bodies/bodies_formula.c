/* Compiles formulas over imported bodies: the quantities they use ("seen"), their rows and forces,
 * derived over these as system/compile.c derives over coordinates. The section in bodies.h shows
 * how the tree converts them into rows and forces on its coordinates. */
#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "system/bodies/bodies_build.h"
#include "system/list.h"

/* ---- Seen quantities ------------------------------------------------------------------------ */

static int same_frame(const bodies_frame *x, const bodies_frame *y)
{
    return x->body == y->body && memcmp(x->pos, y->pos, sizeof x->pos) == 0 &&
           memcmp(x->quat, y->quat, sizeof x->quat) == 0;
}

/* The index of the frame on the tree; a new one if there is no equal one. */
static int frame_of(bodies_builder *b, const model_seen *seen)
{
    static const double upright[4] = {1, 0, 0, 0};
    bodies_formulas *f = b->to->formulas;
    const zw_site_def *site = seen->site >= 0 ? &b->from->site[seen->site] : NULL;
    const double none[3] = {0, 0, 0};
    int body = site ? site->body : seen->body;
    const double *pos = site ? site->pos : seen->centre ? b->inertia[body].com : none;
    bodies_frame frame = bodies_frame_on(b, body, pos, site ? site->quat : upright);
    for (int i = 0; i < f->frame_count; i++) {
        if (same_frame(&f->frame[i], &frame)) {
            return i;
        }
    }
    f->frame[f->frame_count] = frame;
    return f->frame_count++;
}

static bodies_seen seen_of(bodies_builder *b, const model_seen *from)
{
    bodies_seen seen = {
        .kind = from->kind, .frame = -1, .axis = from->axis, .component = from->component};
    if (from->kind == MODEL_SEEN_JOINT) {
        seen.q = b->joint_q[from->joint];
        seen.dof = b->joint_dof[from->joint];
    } else if (from->kind >= MODEL_SEEN_POINT && from->kind <= MODEL_SEEN_TURN) {
        seen.frame = frame_of(b, from);
    }
    return seen;
}

expr_id bodies_see(bodies_builder *b, const model_seen *seen)
{
    bodies_formulas *f = b->to->formulas;
    f->seen[f->count] = seen_of(b, seen);
    return expr_leaf(b->to->shown->graph, EXPR_COORD, f->count++);
}

/* The free joint of this body, whose coordinates are its position; -1: none. */
static int free_joint(const bodies_builder *b, int body)
{
    for (int j = 0; j < b->from->count[ZW_KIND_JOINT]; j++) {
        if (b->from->joint[j].body == body && b->from->joint[j].kind == ZW_JOINT_FREE) {
            return j;
        }
    }
    return -1;
}

int bodies_seen_target(const bodies_builder *b, int coord, int is_speed)
{
    const model_seen *seen = &b->model->coord[coord].seen;
    int moves = seen->kind == MODEL_SEEN_POINT && seen->site < 0 && !seen->centre;
    int joint = seen->kind == MODEL_SEEN_JOINT ? seen->joint
                : moves                        ? free_joint(b, seen->body)
                                               : -1;
    int part = seen->kind == MODEL_SEEN_JOINT ? 0 : seen->component;
    return joint < 0 ? -1 : (is_speed ? b->joint_dof : b->joint_q)[joint] + part;
}

static zw_status add_begin(bodies_builder *b, int coord, int is_speed, zw_error *error)
{
    bodies_formulas *f = b->to->formulas;
    const model_coord *from = &b->model->coord[coord];
    int at = bodies_seen_target(b, coord, is_speed);
    if (at < 0) {
        return model_fail(b->model, error, ZW_BAD_INPUT, from->place,
                          "%s is not a coordinate of the robot and cannot be given a start",
                          from->name);
    }
    f->begin[f->begin_count++] = (bodies_begin){.at = at,
                                                .is_speed = is_speed,
                                                .value = is_speed ? from->speed : from->start,
                                                .place = from->place};
    return ZW_OK;
}

static zw_status see_all(bodies_builder *b, zw_error *error)
{
    bodies_formulas *f = b->to->formulas;
    const zw_model *model = b->model;
    /* quantities in formulas, then those for output: energies, and up to three coordinates of each
     * joint */
    size_t all = (size_t)model->coord_count + 3 * (size_t)b->from->count[ZW_KIND_JOINT] + 3;
    f->seen = base_alloc(all * sizeof *f->seen);
    f->frame = base_alloc(all * sizeof *f->frame);
    f->begin = base_alloc(2 * all * sizeof *f->begin);
    if (!f->seen || !f->frame || !f->begin) {
        return base_no_memory(error);
    }
    zw_status status = ZW_OK;
    for (int i = 0; i < model->coord_count && status == ZW_OK; i++) {
        f->seen[f->count++] = seen_of(b, &model->coord[i].seen);
        if (model->coord[i].start != EXPR_NONE) {
            status = add_begin(b, i, 0, error);
        }
        if (model->coord[i].speed != EXPR_NONE && status == ZW_OK) {
            status = add_begin(b, i, 1, error);
        }
    }
    return status;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

typedef struct derived {
    expr_graph *graph;
    expr_id *phi, *psi, *bias;
    system_list start, entry, value; /* of A, over seen quantities */
    system_list potential, potential_force, force, force_value, slip;
    expr_id time_rate; /* dV/dt */
    expr_terms terms, rates;
    system_list slope; /* on, control, by of each; */
    system_list slope_value;
} derived;

static unsigned depends(const derived *d, expr_id id)
{
    return expr_graph_node(d->graph, id)->depends;
}

static void number_rows(bodies_builder *b, derived *d)
{
    bodies_formulas *f = b->to->formulas;
    for (int c = 0, r = 0; c < f->constraints; c++) {
        const model_constraint *constraint = &b->model->constraint[c];
        for (int k = 0; k < constraint->rows; k++, r++) {
            int holds_speeds = (depends(d, constraint->residual[k]) & EXPR_ON_SPEED) != 0;
            f->kind[r] = holds_speeds                             ? SYSTEM_VELOCITY
                         : constraint->relation == MODEL_AT_LEAST ? SYSTEM_CONTACT
                                                                  : SYSTEM_HOLONOMIC;
            d->phi[r] = holds_speeds ? EXPR_ZERO : constraint->residual[k];
            d->psi[r] = constraint->residual[k];
            f->works |= holds_speeds || (depends(d, constraint->residual[k]) & EXPR_ON_TIME);
        }
    }
}

static zw_status derive_row(bodies_builder *b, derived *d, int r, const model_constraint *of,
                            zw_error *error)
{
    bodies_formulas *f = b->to->formulas;
    int speeds = f->kind[r] == SYSTEM_VELOCITY;
    if (speeds && of->relation == MODEL_AT_LEAST) {
        return model_fail(b->model, error, ZW_BAD_INPUT, of->place,
                          "constraint %s: an inequality may not have speeds in it", of->name);
    }
    zw_status status = expr_gradient(d->graph, speeds ? d->psi[r] : d->phi[r],
                                     speeds ? EXPR_SPEED : EXPR_COORD, &d->terms);
    system_list_add(&d->start, d->entry.count);
    for (int i = 0; i < d->terms.count && status == ZW_OK; i++) {
        system_list_add(&d->entry, d->terms.term[i].index);
        system_list_add(&d->value, d->terms.term[i].id);
    }
    return status;
}

static zw_status derive_rows(bodies_builder *b, derived *d, zw_error *error)
{
    bodies_formulas *f = b->to->formulas;
    number_rows(b, d);
    zw_status status = expr_rate(d->graph, d->phi, f->rows, EXPR_RATE_BIAS, d->bias);
    for (int r = 0; r < f->rows && status == ZW_OK; r++) {
        d->psi[r] = f->kind[r] == SYSTEM_VELOCITY ? d->psi[r] : d->bias[r];
    }
    if (status == ZW_OK) {
        status = expr_rate(d->graph, d->psi, f->rows, EXPR_RATE_BIAS, d->bias);
    }
    for (int c = 0, r = 0; c < f->constraints; c++) {
        const model_constraint *constraint = &b->model->constraint[c];
        for (int k = 0; k < constraint->rows && status == ZW_OK; k++, r++) {
            status = derive_row(b, d, r, constraint, error);
        }
    }
    system_list_add(&d->start, d->entry.count);
    return status;
}

/* ---- Forces --------------------------------------------------------------------------------- */

/* -V_y; and Q - R_y', where nonzero. */
static zw_status derive_forces(bodies_builder *b, derived *d)
{
    const zw_model *model = b->model;
    bodies_formulas *f = b->to->formulas;
    expr_id *Q = base_alloc(((size_t)model->coord_count + 1) * sizeof *Q);
    zw_status status =
        Q ? expr_gradient(d->graph, model->potential, EXPR_COORD, &d->terms) : ZW_NO_MEMORY;
    for (int i = 0; i < d->terms.count && status == ZW_OK; i++) {
        system_list_add(&d->potential, d->terms.term[i].index);
        system_list_add(&d->potential_force, expr_unary(d->graph, EXPR_NEG, d->terms.term[i].id));
    }
    if (status == ZW_OK) {
        status = expr_gradient(d->graph, model->potential, EXPR_TIME, &d->terms);
        d->time_rate = d->terms.count > 0 ? d->terms.term[0].id : EXPR_ZERO;
    }
    if (status == ZW_OK) {
        status = expr_gradient(d->graph, model->rayleigh, EXPR_SPEED, &d->terms);
    }
    for (int i = 0; i < model->coord_count && status == ZW_OK; i++) {
        Q[i] = model->coord[i].force;
    }
    for (int i = 0; i < d->terms.count && status == ZW_OK; i++) {
        expr_id *at = &Q[d->terms.term[i].index];
        *at = expr_binary(d->graph, EXPR_SUB, *at, d->terms.term[i].id);
    }
    for (int i = 0; i < model->coord_count && status == ZW_OK; i++) {
        if (Q[i] != EXPR_ZERO) {
            system_list_add(&d->force, i);
            system_list_add(&d->force_value, Q[i]);
        }
    }
    base_free(Q);
    f->works |= d->force.count > 0 || d->time_rate != EXPR_ZERO || model->motor_count > 0;
    return status;
}

/* Derivatives of `value`, a force on a seen quantity or a control, by the values and rates of seen
 * quantities.
 */
static zw_status derive_slopes_of(derived *d, int on, int control, expr_id value)
{
    zw_status status = expr_gradient(d->graph, value, EXPR_COORD, &d->terms);
    status = status == ZW_OK ? expr_gradient(d->graph, value, EXPR_SPEED, &d->rates) : status;
    for (int i = 0, k = 0; status == ZW_OK && (i < d->terms.count || k < d->rates.count);) {
        int place = i < d->terms.count ? d->terms.term[i].index : INT_MAX;
        int rate = k < d->rates.count ? d->rates.term[k].index : INT_MAX;
        system_list_add(&d->slope, on);
        system_list_add(&d->slope, control);
        system_list_add(&d->slope, place < rate ? place : rate);
        system_list_add(&d->slope_value, place <= rate ? d->terms.term[i++].id : EXPR_ZERO);
        system_list_add(&d->slope_value, rate <= place ? d->rates.term[k++].id : EXPR_ZERO);
    }
    return status;
}

static zw_status derive_slopes(bodies_builder *b, derived *d)
{
    bodies_formulas *f = b->to->formulas;
    zw_status status = ZW_OK;
    for (int i = 0; i < d->potential.count && status == ZW_OK; i++) {
        status = derive_slopes_of(d, d->potential.item[i], -1, d->potential_force.item[i]);
    }
    for (int i = 0; i < d->force.count && status == ZW_OK; i++) {
        status = derive_slopes_of(d, d->force.item[i], -1, d->force_value.item[i]);
    }
    for (int k = 0; k < b->model->motor_count && status == ZW_OK; k++) {
        status = derive_slopes_of(d, -1, k, b->model->motor[k].control);
    }
    if (status != ZW_OK || d->slope.failed || d->slope_value.failed) {
        return status != ZW_OK ? status : ZW_NO_MEMORY;
    }
    f->slope_count = d->slope.count / 3;
    f->slope = base_alloc(((size_t)f->slope_count + 1) * sizeof *f->slope);
    for (int i = 0; i < f->slope_count && f->slope; i++) {
        const int *item = d->slope.item + 3 * i;
        f->slope[i] = (bodies_slope){.on = item[0], .control = item[1], .by = item[2]};
    }
    return f->slope ? ZW_OK : ZW_NO_MEMORY;
}

/* ---- Outputs -------------------------------------------------------------------------------- */

static void add_all(system_list *list, const int *item, int count)
{
    for (int i = 0; i < count; i++) {
        system_list_add(list, item[i]);
    }
}

static zw_status keep(bodies_formulas *f, system_part part, system_list *out)
{
    f->out[part] = out->item;
    f->outputs[part] = out->count;
    f->most = out->count > f->most ? out->count : f->most;
    return out->failed ? ZW_NO_MEMORY : ZW_OK;
}

static zw_status list_outputs(bodies_builder *b, derived *d)
{
    bodies_formulas *f = b->to->formulas;
    const zw_model *model = b->model;
    system_list terms = {0}, rows[2] = {{0}, {0}}, energy = {0}, events = {0}, slip = {0};
    system_list slopes = {0};
    add_all(&slopes, d->slope_value.item, d->slope_value.count);
    add_all(&terms, d->value.item, d->value.count);
    f->at_bias = terms.count;
    add_all(&terms, d->bias, f->rows);
    f->at_potential = terms.count;
    add_all(&terms, d->potential_force.item, d->potential_force.count);
    f->at_force = terms.count;
    add_all(&terms, d->force_value.item, d->force_value.count);
    f->at_time = terms.count;
    system_list_add(&terms, d->time_rate);
    f->at_control = terms.count;
    for (int k = 0; k < model->motor_count; k++) {
        system_list_add(&terms, model->motor[k].control);
    }
    f->at_mu = terms.count;
    for (int c = 0; c < f->constraints; c++) {
        expr_id mu = model->constraint[c].friction;
        system_list_add(&terms, mu == EXPR_NONE ? EXPR_ZERO : mu);
    }
    f->at_slip = terms.count;
    add_all(&terms, d->slip.item, d->slip.count);
    add_all(&slip, d->slip.item, d->slip.count);
    for (int k = 0; k < 2; k++) {
        add_all(&rows[k], k == 0 ? d->phi : d->psi, f->rows);
        add_all(&rows[k], d->value.item, d->value.count);
    }
    system_list_add(&energy, model->potential);
    system_list_comparisons(&events, model);
    zw_status status =
        keep(f, PART_TERMS, &terms); /* all lists are kept, and freed with the rest */
    status = keep(f, PART_POSITION, &rows[0]) != ZW_OK ? ZW_NO_MEMORY : status;
    status = keep(f, PART_VELOCITY, &rows[1]) != ZW_OK ? ZW_NO_MEMORY : status;
    status = keep(f, PART_SLIP, &slip) != ZW_OK ? ZW_NO_MEMORY : status;
    status = keep(f, PART_SLOPES, &slopes) != ZW_OK ? ZW_NO_MEMORY : status;
    status = keep(f, PART_ENERGY, &energy) != ZW_OK ? ZW_NO_MEMORY : status;
    return keep(f, PART_EVENTS, &events) != ZW_OK ? ZW_NO_MEMORY : status;
}

static int *take(system_list *list)
{
    int *item = list->item;
    list->item = NULL;
    return item;
}

static zw_status derive(bodies_builder *b, derived *d, zw_error *error)
{
    bodies_formulas *f = b->to->formulas;
    size_t rows = (size_t)f->rows + 1;
    d->graph = b->to->shown->graph;
    d->phi = base_alloc(rows * sizeof *d->phi);
    d->psi = base_alloc(rows * sizeof *d->psi);
    d->bias = base_alloc(rows * sizeof *d->bias);
    f->kind = base_alloc(rows * sizeof *f->kind);
    if (!d->phi || !d->psi || !d->bias || !f->kind) {
        return ZW_NO_MEMORY;
    }
    zw_status status = derive_rows(b, d, error);
    status = status == ZW_OK ? derive_forces(b, d) : status;
    if (d->start.failed || d->entry.failed || d->value.failed || d->potential.failed ||
        d->potential_force.failed || d->force.failed || d->force_value.failed) {
        status = ZW_NO_MEMORY;
    }
    if (status == ZW_OK) {
        status =
            bodies_slip_derive(b, d->start.item, d->entry.item, d->value.item, &d->slip, error);
    }
    status = status == ZW_OK ? derive_slopes(b, d) : status;
    status = status == ZW_OK ? list_outputs(b, d) : status;
    if (status == ZW_OK) {
        f->potential_count = d->potential.count;
        f->force_count = d->force.count;
        f->control_count = b->model->motor_count;
        f->start = take(&d->start);
        f->entry = take(&d->entry);
        f->potential = take(&d->potential);
        f->force = take(&d->force);
        status = expr_graph_status(d->graph);
    }
    return status;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static zw_status copy_params(bodies_builder *b)
{
    for (int i = 0; i < b->model->param_count; i++) {
        model_param *param = model_add_param(b->to->shown);
        if (!param) {
            return ZW_NO_MEMORY;
        }
        *param = b->model->param[i];
        if (!(param->name = bodies_copy(param->name))) {
            return ZW_NO_MEMORY;
        }
    }
    return ZW_OK;
}

static zw_status copy_constraints(bodies_builder *b)
{
    for (int i = 0; i < b->model->constraint_count; i++) {
        model_constraint *constraint = model_add_constraint(b->to->shown);
        if (!constraint) {
            return ZW_NO_MEMORY;
        }
        *constraint = b->model->constraint[i];
        constraint->nonideal_count = 0;
        constraint->nonideal_coord = NULL;
        constraint->nonideal = NULL;
        b->system->m += constraint->rows;
        if (!(constraint->name = bodies_copy(constraint->name))) {
            return ZW_NO_MEMORY;
        }
    }
    b->to->formulas->constraints = b->model->constraint_count;
    b->to->formulas->rows = b->system->m;
    return ZW_OK;
}

/* `shown` starts with a copy of the file's graph and its run options. */
static zw_status share(bodies_builder *b)
{
    zw_model *shown = b->to->shown;
    expr_graph_free(shown->graph);
    shown->graph = expr_graph_copy(b->model->graph);
    if (!shown->graph) {
        return ZW_NO_MEMORY;
    }
    if (b->model->run.method && !(shown->run.method = bodies_copy(b->model->run.method))) {
        return ZW_NO_MEMORY;
    }
    return ZW_OK;
}

zw_status bodies_make_formulas(bodies_builder *b, zw_error *error)
{
    if (b->model->title && !(b->to->shown->title = bodies_copy(b->model->title))) {
        return base_no_memory(error);
    }
    if (!b->model->imported) {
        return ZW_OK;
    }
    derived d = {.time_rate = EXPR_ZERO};
    b->to->formulas = base_alloc(sizeof *b->to->formulas);
    if (!b->to->formulas) {
        return base_no_memory(error);
    }
    zw_status status = share(b);
    status = status == ZW_OK ? copy_params(b) : status;
    status = status == ZW_OK ? copy_constraints(b) : status;
    status = status == ZW_OK ? see_all(b, error) : status;
    status = status == ZW_OK ? derive(b, &d, error) : status;
    system_list *list[] = {&d.start, &d.entry,       &d.value, &d.potential, &d.potential_force,
                           &d.force, &d.force_value, &d.slip,  &d.slope,     &d.slope_value};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        system_list_free(list[i]);
    }
    expr_terms_free(&d.terms);
    expr_terms_free(&d.rates);
    base_free(d.phi);
    base_free(d.psi);
    base_free(d.bias);
    return status == ZW_NO_MEMORY ? base_no_memory(error) : status;
}
