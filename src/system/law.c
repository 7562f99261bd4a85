#include "system/law.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- Reading -------------------------------------------------------------------------------- */

static int has_speeds(const zw_model *model, const model_constraint *constraint)
{
    int any = 0;
    for (int k = 0; k < constraint->rows; k++) {
        any |= expr_graph_node(model->graph, constraint->residual[k])->depends & EXPR_ON_SPEED;
    }
    return any != 0;
}

/* (18) does not define lambda in an impact, nor friction of a row whose force is not normal. */
static zw_status check(const zw_system *system, int governed, zw_error *error)
{
    const zw_model *model = system->model;
    int place = system->given.place;
    for (int c = 0; c < model->constraint_count; c++) {
        const model_constraint *constraint = &model->constraint[c];
        if (constraint->relation == MODEL_AT_LEAST || constraint->friction != EXPR_NONE) {
            return model_fail(model, error, ZW_BAD_INPUT, place,
                              "this law does not allow inequalities or friction: see %s",
                              constraint->name);
        }
    }
    if (model->massless) {
        return model_fail(model, error, ZW_BAD_INPUT, place, "this law is for systems with masses");
    }
    return governed > 0 ? ZW_OK
                        : model_fail(model, error, ZW_BAD_INPUT, place,
                                     "no constraint here has speeds: all laws are the same, and "
                                     "the line can be removed");
}

static void read_numbers(system_law *law, const model_law *given)
{
    law->alpha = given->kind == MODEL_LAW_VAKONOMIC ? 1 : given->alpha;
    law->beta = given->kind == MODEL_LAW_VAKONOMIC ? 0 : given->beta;
    law->flex = given->kind == MODEL_LAW_PENALTY ? 1 / given->N : 0;
}

zw_status law_read(zw_system *system, zw_error *error)
{
    const zw_model *model = system->model;
    system_law *law = &system->law;
    int row = 0, governed = 0;
    law->of_row = base_alloc(((size_t)system->m + 1) * sizeof(int));
    law->row = base_alloc(((size_t)system->m + 1) * sizeof(int));
    law->reaction_start = base_alloc(((size_t)system->m + 2) * sizeof(int));
    if (!law->of_row || !law->row || !law->reaction_start) {
        return base_no_memory(error);
    }
    for (int r = 0; r < system->m; r++) {
        law->of_row[r] = -1;
    }
    if (system->given.kind == MODEL_LAW_NONHOLONOMIC) {
        return ZW_OK;
    }
    read_numbers(law, &system->given);
    law->loose = law->alpha == 0 && law->flex > 0;
    for (int c = 0; c < model->constraint_count; c++) {
        int with_speeds = has_speeds(model, &model->constraint[c]);
        for (int k = 0; k < model->constraint[c].rows; k++, row++) {
            governed += with_speeds;
            if (with_speeds && (law->alpha > 0 || law->loose)) {
                law->of_row[row] = law->carried;
                law->row[law->carried++] = row;
            }
        }
    }
    return check(system, governed, error);
}

zw_law zw_law_of(const zw_system *system)
{
    static const char *const name[] = {"nonholonomic", "vakonomic", "mixed", "penalty"};
    const system_law *law = &system->law;
    model_law_kind kind = system->given.kind;
    return (zw_law){.name = name[kind],
                    .alpha = law->alpha,
                    .beta = kind == MODEL_LAW_NONHOLONOMIC ? 1 : law->beta,
                    .N = law->flex > 0 ? 1 / law->flex : INFINITY};
}

/* ---- Formulas ------------------------------------------------------------------------------- */

static expr_id times(expr_graph *graph, double factor, expr_id x)
{
    return expr_binary(graph, EXPR_MUL, expr_const(graph, factor), x);
}

static expr_id carried(const zw_system *system, int j)
{
    return expr_leaf(system->model->graph, EXPR_SPEED, system->n + j);
}

/* Phi of row r, as written in the file. */
static expr_id residual_of(const zw_system *system, int r)
{
    int c = system->row_constraint[r];
    return system->model->constraint[c].residual[r - system->first_row[c]];
}

void law_rows(const zw_system *system, expr_id *psi)
{
    expr_graph *graph = system->model->graph;
    for (int r = 0; r < system->m && system->law.flex > 0; r++) {
        int j = system->law.of_row[r];
        if (j >= 0) {
            expr_id give = times(graph, system->law.flex, carried(system, j));
            psi[r] = expr_binary(graph, EXPR_SUB, psi[r], give);
        }
    }
}

expr_id law_offset(const zw_system *system, int r)
{
    const system_law *law = &system->law;
    int j = law->of_row[r];
    return j < 0 || law->loose ? EXPR_ZERO
                               : times(system->model->graph, -law->flex * law->beta / law->alpha,
                                       carried(system, j));
}

expr_id law_lagrangian(const zw_system *system)
{
    expr_graph *graph = system->model->graph;
    const system_law *law = &system->law;
    expr_id sum = EXPR_ZERO;
    for (int j = 0; j < law->carried && law->alpha > 0; j++) {
        expr_id lambda = carried(system, j), phi = residual_of(system, law->row[j]);
        expr_id half = times(graph, law->flex / 2, lambda);
        expr_id inner = expr_binary(graph, EXPR_SUB, phi, half);
        expr_id term = times(graph, law->alpha, expr_binary(graph, EXPR_MUL, lambda, inner));
        sum = expr_binary(graph, EXPR_ADD, sum, term);
    }
    return sum;
}

expr_id law_rayleigh(const zw_system *system)
{
    expr_graph *graph = system->model->graph;
    expr_id sum = EXPR_ZERO;
    for (int j = 0; j < system->law.carried && system->law.loose; j++) {
        expr_id drag = times(graph, system->law.beta, carried(system, j));
        expr_id term = expr_binary(graph, EXPR_MUL, drag, residual_of(system, system->law.row[j]));
        sum = expr_binary(graph, EXPR_ADD, sum, term);
    }
    return sum;
}

/* The reaction of one row: value[n] are nodes, EXPR_ZERO where there is none. */
static zw_status react(const zw_system *system, int r, expr_terms *terms, expr_id *value)
{
    expr_graph *graph = system->model->graph;
    expr_id phi = residual_of(system, r);
    zw_status status = expr_gradient(graph, phi, EXPR_COORD, terms);
    for (int k = 0; k < terms->count && status == ZW_OK; k++) {
        value[terms->term[k].index] = times(graph, -system->law.alpha, terms->term[k].id);
    }
    status = status == ZW_OK ? expr_gradient(graph, phi, EXPR_SPEED, terms) : status;
    for (int k = 0; k < terms->count && status == ZW_OK; k++) {
        expr_id *to = &value[terms->term[k].index], rate = EXPR_ZERO;
        status = expr_rate(graph, &terms->term[k].id, 1, EXPR_RATE_FULL, &rate);
        *to = expr_binary(graph, EXPR_ADD, *to, times(graph, system->law.alpha, rate));
        *to = expr_binary(graph, EXPR_ADD, *to, times(graph, system->law.beta, terms->term[k].id));
    }
    return status;
}

/* Is the Phi of some integrated multiplier not linear in the speeds? */
static int is_curved(const zw_system *system, const expr_terms *terms)
{
    int curved = 0;
    for (int k = 0; k < terms->count; k++) {
        const expr_node *node = expr_graph_node(system->model->graph, terms->term[k].id);
        curved |= node->depends & EXPR_ON_SPEED;
    }
    return curved != 0;
}

zw_status law_curvature(zw_system *system)
{
    expr_terms terms = {0};
    zw_status status = ZW_OK;
    for (int j = 0; j < system->law.carried && status == ZW_OK; j++) {
        expr_id phi = residual_of(system, system->law.row[j]);
        status = expr_gradient(system->model->graph, phi, EXPR_SPEED, &terms);
        system->law.curved |= is_curved(system, &terms);
    }
    expr_terms_free(&terms);
    return status;
}

zw_status law_reaction(zw_system *system, system_list *out)
{
    system_law *law = &system->law;
    system_list column = {0};
    expr_terms terms = {0};
    expr_id *value = base_alloc(((size_t)system->n + 1) * sizeof *value);
    zw_status status = value ? ZW_OK : ZW_NO_MEMORY;
    for (int j = 0; j < law->carried && status == ZW_OK; j++) {
        law->reaction_start[j] = out->count;
        memset(value, 0, (size_t)system->n * sizeof *value); /* EXPR_ZERO */
        status = react(system, law->row[j], &terms, value);
        for (int i = 0; i < system->n && status == ZW_OK; i++) {
            if (value[i] != EXPR_ZERO) {
                system_list_add(out, value[i]);
                system_list_add(&column, i);
            }
        }
    }
    law->reaction_start[law->carried] = out->count;
    law->reaction_column = column.item;
    base_free(value);
    expr_terms_free(&terms);
    return column.failed ? ZW_NO_MEMORY : status;
}

/* ---- Running -------------------------------------------------------------------------------- */

void law_set_up(const zw_system *system, system_solver *solver)
{
    const system_law *law = &system->law;
    if (law->flex == 0 || law->carried == 0 || law->loose) {
        return;
    }
    for (int i = 0; i < solver->rows; i++) {
        int r = solver->row_of[i];
        solver->flex[i] = r >= 0 && law->of_row[r] >= 0 ? law->flex / law->alpha : 0;
    }
    solver->problem.compliance = solver->flex;
}

/* M += gamma A_r' A_r over the rows with an integrated lambda. */
static void add_rows(const zw_system *system, const zw_work *work, system_solver *solver,
                     double gamma)
{
    const double *A = work->out[PART_TERMS] + system->at.A;
    for (int j = 0; j < system->law.carried; j++) {
        int start = system->A_start[system->law.row[j]],
            end = system->A_start[system->law.row[j] + 1];
        for (int k = start; k < end; k++) {
            for (int l = start; l < end; l++) {
                solver->M[system->A_column[k] * system->n + system->A_column[l]] +=
                    gamma * A[k] * A[l];
            }
        }
    }
}

zw_status law_solve_convex(const zw_system *system, zw_work *work, zw_error *error)
{
    system_solver *solver = work->motion;
    const double *A = work->out[PART_TERMS] + system->at.A;
    double mass = 0, row = 0, added = 0;
    zw_status status = ZW_NOT_A_METRIC;
    for (int k = 0; k < system->n * system->n; k++) {
        mass = fmax(mass, fabs(solver->M[k]));
    }
    for (int k = 0; k < system->A_start[system->m]; k++) {
        row = fmax(row, A[k] * A[k]);
    }
    for (double times = 4; times <= 5000 && status == ZW_NOT_A_METRIC && row > 0; times *= 8) {
        double gamma = times * mass / row;
        add_rows(system, work, solver, gamma - added);
        added = gamma;
        status = solver_solve(solver, error);
    }
    work->gamma = added;
    return status;
}

double law_rates(const zw_system *system, const zw_work *work, const double *v, const double *a,
                 double *rate)
{
    const system_law *law = &system->law;
    const double *A = work->out[PART_TERMS] + system->at.A,
                 *b = work->out[PART_TERMS] + system->at.b;
    double power = 0;
    for (int j = 0; j < law->carried && law->loose; j++) {
        int r = law->row[j];
        double sum = -b[r];
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            sum += A[k] * a[system->A_column[k]];
        }
        rate[j] = sum / law->flex;
    }
    if (law->loose) {
        return 0; /* the friction is among the forces */
    }
    for (int j = 0; j < law->carried; j++) {
        int r = law->row[j];
        double along = 0, shift = work->gamma * work->out[PART_TERMS][system->at.b + r];
        double pull = -(work->push[r] - shift + law->beta * v[system->n + j]);
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            along += A[k] * v[system->A_column[k]];
        }
        rate[j] = pull / law->alpha;
        power += (pull - shift) * along;
    }
    return power;
}

zw_status law_show(const zw_system *system, zw_work *work, double t, const double *q,
                   const double *v, zw_error *error)
{
    const system_law *law = &system->law;
    memcpy(work->lambda, work->push, (size_t)system->m * sizeof(double));
    for (int j = 0; j < law->carried; j++) {
        work->lambda[law->row[j]] = v[system->n + j];
    }
    int given = law->alpha == 0 && law->beta > 0 && !law->loose; /* mu = -beta lambda */
    for (int r = 0; r < system->m && given; r++) {
        work->lambda[r] /= system->row_kind[r] == SYSTEM_VELOCITY ? -law->beta : 1;
    }
    return law->carried == 0
               ? ZW_OK
               : system_evaluate(system, work, PART_REACTION, t, q, v, work->a, NULL, error);
}

int law_add_force(const zw_system *system, const zw_work *work, int r, double *force)
{
    const system_law *law = &system->law;
    const double *A = work->out[PART_TERMS] + system->at.A, *c = work->out[PART_REACTION];
    int j = law->of_row[r];
    if (j < 0) {
        return 0;
    }
    double lambda = work->lambda[r], rate = work->a[system->n + j];
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        force[system->A_column[k]] -= law->alpha * rate * A[k];
    }
    for (int k = law->reaction_start[j]; k < law->reaction_start[j + 1]; k++) {
        force[law->reaction_column[k]] -= lambda * c[k];
    }
    return 1;
}

/* Round-off of Phi is left to the projection, as N times it would be a multiplier. */
zw_status law_follow(const zw_system *system, zw_work *work, double t, const double *q, double *v,
                     zw_error *error)
{
    const system_law *law = &system->law;
    if (law->flex == 0 || law->carried == 0) {
        return ZW_OK;
    }
    zw_status status = system_evaluate(system, work, PART_VELOCITY, t, q, v, NULL, NULL, error);
    const double *psi = work->out[PART_VELOCITY], *A = psi + system->m;
    for (int j = 0; j < law->carried && status == ZW_OK; j++) {
        int r = law->row[j];
        double size = 1e-3;
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            size += fabs(A[k] * v[system->A_column[k]]);
        }
        if (fabs(psi[r]) > 1e-13 * size) {
            v[system->n + j] += psi[r] / law->flex;
        }
    }
    return status;
}

int law_is_loose(const zw_system *system, int c)
{
    return system->law.loose && system->law.of_row[system->first_row[c]] >= 0;
}
