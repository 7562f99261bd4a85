/* The formulas of a system's equations, and their exact slopes.
 *
 * With accelerations a and multipliers lambda as separate leaves, the equations at an instant are
 *
 *     r1 = M a - force - C - A' lambda - friction - T' h = 0          [n]
 *     r2 = A a - b = 0                                                [m] closed rows
 *     r3 = T a + D e = 0                                              where friction sticks
 *
 * (system.h, slip.c), where friction = -mu N T' d with N = |sum nu lambda| and the direction d of
 * sliding, e/|e|. Each residual is a formula; its gradient by every kind of leaf is one reverse
 * sweep (expr/derive.h). The mode of a constraint with friction is a number among the leaves, so
 * that one tape serves all modes: it sticks (its holding forces h act), slides (d = e/|e|), or
 * begins to slide (d is given). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "look/slopes/slopes.h"
#include "system/events/tangent.h"
#include "system/list.h"

typedef struct writer {
    zw_slopes *slopes;
    const zw_system *system;
    expr_graph *g;
    const expr_id *term; /* outputs of PART_TERMS */
    expr_id *r;          /* [rows] */
    system_list out;
    int entry_capacity;
} writer;

static expr_id add(writer *w, expr_id a, expr_id b)
{
    return expr_binary(w->g, EXPR_ADD, a, b);
}

static expr_id sub(writer *w, expr_id a, expr_id b)
{
    return expr_binary(w->g, EXPR_SUB, a, b);
}

static expr_id mul(writer *w, expr_id a, expr_id b)
{
    return expr_binary(w->g, EXPR_MUL, a, b);
}

static expr_id lambda(writer *w, int index)
{
    return expr_leaf(w->g, EXPR_LAMBDA, index);
}

static expr_id accel(writer *w, int index)
{
    return expr_leaf(w->g, EXPR_ACCEL, index);
}

/* ---- Residuals ------------------------------------------------------------------------------ */

static void write_masses(writer *w)
{
    const zw_system *system = w->system;
    for (int i = 0; i < system->n; i++) {
        w->r[i] = expr_unary(w->g, EXPR_NEG, w->term[system->at.force + i]);
    }
    for (int j = 0; j < system->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            int i = system->M_row[k];
            expr_id M = w->term[system->at.M + k];
            w->r[i] = add(w, w->r[i], mul(w, M, accel(w, j)));
            if (i != j) {
                w->r[j] = add(w, w->r[j], mul(w, M, accel(w, i)));
            }
        }
    }
    for (int k = 0; k < system->C_count; k++) {
        int i = system->C_coord[k];
        w->r[i] = sub(w, w->r[i], w->term[system->at.C + k]);
    }
}

static void write_rows(writer *w)
{
    const zw_system *system = w->system;
    for (int r = 0; r < system->m; r++) {
        expr_id *row = &w->r[system->n + r];
        *row = expr_unary(w->g, EXPR_NEG, w->term[system->at.b + r]);
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            int i = system->A_column[k];
            expr_id A = w->term[system->at.A + k];
            *row = add(w, *row, mul(w, A, accel(w, i)));
            w->r[i] = sub(w, w->r[i], mul(w, A, lambda(w, r)));
        }
    }
}

static expr_id size_of(writer *w, const expr_id *x, int count)
{
    expr_id sum = EXPR_ZERO;
    for (int k = 0; k < count; k++) {
        sum = add(w, sum, mul(w, x[k], x[k]));
    }
    return expr_unary(w->g, EXPR_SQRT, sum);
}

/* |sum nu lambda|; for a single row |nu| |lambda|, for a contact, which only pushes, |nu| lambda.
 */
static expr_id normal_force(writer *w, int c, const expr_id *nu)
{
    const system_slip *slip = &w->system->slip[c];
    expr_id sum[MODEL_DIMENSION];
    if (slip->rows == 1) {
        int pushes = w->system->model->constraint[c].relation == MODEL_AT_LEAST;
        expr_id one = lambda(w, slip->row[0]);
        return mul(w, size_of(w, nu, slip->size), pushes ? one : expr_unary(w->g, EXPR_ABS, one));
    }
    for (int k = 0; k < slip->size; k++) {
        sum[k] = EXPR_ZERO;
        for (int r = 0; r < slip->rows; r++) {
            sum[k] = add(w, sum[k], mul(w, nu[r * slip->size + k], lambda(w, slip->row[r])));
        }
    }
    return size_of(w, sum, slip->size);
}

static void write_friction(writer *w, int c)
{
    const zw_system *system = w->system;
    const system_slip *slip = &system->slip[c];
    const slopes_formulas *f = &w->slopes->formulas;
    const expr_id *e = w->term + system->at.slip + slip->at, *bias = e + slip->width;
    const expr_id *T = bias + slip->width, *nu = T + slip->width * slip->columns;
    expr_id does = lambda(w, f->slot[c]), speed = size_of(w, e, slip->width);
    expr_id begins = expr_binary(w->g, EXPR_SUB, does, expr_const(w->g, SLOPES_SLIDES));
    expr_id most = mul(w, w->term[system->at.mu + c], normal_force(w, c, nu));
    for (int j = 0; j < slip->width; j++) {
        expr_id given = lambda(w, f->slot[c] + 1 + j);
        expr_id hold = lambda(w, f->slot[c] + 1 + slip->width + j);
        expr_id moving = expr_binary(w->g, EXPR_DIV, e[j], speed);
        expr_id way = expr_select(w->g, begins, given, moving);
        expr_id pull = expr_select(w->g, does, mul(w, most, way), EXPR_ZERO);
        expr_id *row = &w->r[f->hold[c] + j];
        *row = bias[j];
        for (int k = 0; k < slip->columns; k++) {
            int i = system->slip_column[slip->first_column + k];
            expr_id t = T[j * slip->columns + k];
            w->r[i] = add(w, w->r[i], mul(w, pull, t));
            w->r[i] = sub(w, w->r[i], mul(w, hold, t));
            *row = add(w, *row, mul(w, t, accel(w, i)));
        }
    }
}

/* ---- The tape ------------------------------------------------------------------------------- */

static zw_status add_gradient(writer *w, int row, expr_op kind)
{
    slopes_formulas *f = &w->slopes->formulas;
    expr_terms terms = {0};
    zw_status status = expr_gradient(w->g, w->r[row], kind, &terms);
    for (int k = 0; k < terms.count && status == ZW_OK; k++) {
        if (!base_list_reserve(&f->entry, &w->entry_capacity, f->entries, sizeof *f->entry)) {
            status = ZW_NO_MEMORY;
            break;
        }
        f->entry[f->entries++] = (slopes_entry){row, (int)kind, terms.term[k].index};
        system_list_add(&w->out, terms.term[k].id);
    }
    expr_terms_free(&terms);
    return status;
}

static zw_status write_all(writer *w)
{
    static const expr_op kinds[] = {EXPR_ACCEL, EXPR_LAMBDA, EXPR_COORD,
                                    EXPR_SPEED, EXPR_PARAM,  EXPR_TIME};
    zw_status status = ZW_OK;
    write_masses(w);
    write_rows(w);
    for (int c = 0; c < w->system->model->constraint_count; c++) {
        if (w->slopes->formulas.slot[c] >= 0) {
            write_friction(w, c);
        }
    }
    for (int row = 0; row < w->slopes->formulas.rows && status == ZW_OK; row++) {
        for (int k = 0; k < 6 && status == ZW_OK; k++) {
            status = add_gradient(w, row, kinds[k]);
        }
    }
    return status != ZW_OK ? status : w->out.failed ? ZW_NO_MEMORY : expr_graph_status(w->g);
}

static zw_status make_tape(writer *w, zw_error *error)
{
    slopes_formulas *f = &w->slopes->formulas;
    f->tape = expr_tape_create(w->g, &f->shape, w->out.item, w->out.count, error);
    size_t registers = f->tape ? expr_tape_registers(f->tape) : 0;
    f->registers = base_alloc((registers + 1) * sizeof(double));
    f->out = base_alloc(((size_t)w->out.count + 1) * sizeof(double));
    f->a = base_alloc(((size_t)w->system->n + 1) * sizeof(double));
    f->lambda = base_alloc(((size_t)f->shape.lambdas + 1) * sizeof(double));
    size_t kinks = f->tape ? (size_t)expr_tape_kinks(f->tape) : 0;
    f->side = base_alloc((kinks + 1) * sizeof(double));
    return f->tape && f->registers && f->out && f->a && f->lambda && f->side ? ZW_OK : ZW_NO_MEMORY;
}

zw_status slopes_formulas_create(zw_slopes *slopes, zw_error *error)
{
    const zw_system *system = slopes->system;
    slopes_formulas *f = &slopes->formulas;
    size_t constraints = (size_t)system->model->constraint_count;
    writer w = {.slopes = slopes, .system = system, .term = system->tape[PART_TERMS].out};
    f->slot = base_alloc((constraints + 1) * sizeof(int));
    f->hold = base_alloc((constraints + 1) * sizeof(int));
    f->graph = w.g = expr_graph_copy(system->model->graph);
    if (!f->slot || !f->hold || !f->graph) {
        return base_no_memory(error);
    }
    f->shape = system->shape;
    f->shape.lambdas = system->m;
    f->rows = system->n + system->m;
    for (int c = 0; c < system->model->constraint_count; c++) {
        int width = system->slip[c].width;
        f->slot[c] = width > 0 ? f->shape.lambdas : -1;
        f->hold[c] = f->rows;
        f->shape.lambdas += width > 0 ? 1 + 2 * width : 0;
        f->rows += width;
    }
    w.r = base_alloc(((size_t)f->rows + 1) * sizeof *w.r);
    zw_status status = w.r ? write_all(&w) : ZW_NO_MEMORY;
    status = status == ZW_OK ? make_tape(&w, error) : status;
    base_free(w.r);
    system_list_free(&w.out);
    return status == ZW_NO_MEMORY ? base_no_memory(error) : status;
}

void slopes_formulas_free(slopes_formulas *f)
{
    expr_tape_free(f->tape);
    expr_graph_free(f->graph);
    base_free(f->slot);
    base_free(f->hold);
    base_free(f->entry);
    base_free(f->registers);
    base_free(f->out);
    base_free(f->a);
    base_free(f->lambda);
    base_free(f->side);
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static expr_inputs inputs_of(zw_slopes *slopes, zw_state *state)
{
    return (expr_inputs){.t = state->t,
                         .param = state_param(state),
                         .q = state_q(state),
                         .v = state_v(state),
                         .a = slopes->formulas.a,
                         .lambda = slopes->formulas.lambda};
}

/* Takes the branches of a run, and the signs of normal forces in it. */
static void latch(zw_slopes *slopes)
{
    slopes_formulas *f = &slopes->formulas;
    const int *press = slopes->work->press;
    kinks_sides(slopes->kinks, f->graph, f->tape, f->side);
    for (int i = 0; i < expr_tape_kinks(f->tape); i++) {
        const expr_node *node = expr_graph_node(f->graph, expr_tape_kink(f->tape, i));
        if (node->op == EXPR_ABS || node->op == EXPR_SIGN) {
            const expr_node *of = expr_graph_node(f->graph, node->operand[0]);
            int force = of->op == EXPR_LAMBDA && of->index < slopes->system->m;
            int sign = force ? press[slopes->system->row_constraint[of->index]] : 0;
            f->side[i] = sign ? sign : f->side[i];
        }
    }
    expr_tape_latch(f->tape, f->side, f->registers);
}

void slopes_formulas_run(zw_slopes *slopes, zw_state *state)
{
    slopes_formulas *f = &slopes->formulas;
    expr_inputs in = inputs_of(slopes, state);
    expr_tape_prepare(f->tape, in.param, f->registers);
    if (slopes->kinks) {
        latch(slopes);
    }
    expr_tape_run(f->tape, &in, f->registers, f->out);
}

/* The holding forces of c: the sum of those that the kernel found along its directions. */
static void take_hold(const zw_slopes *slopes, int c, double *hold)
{
    const system_solver *solver = slopes->work->motion;
    const zw_system *system = slopes->system;
    tangent t = tangent_look(system, c, slopes->work->out[PART_TERMS] + system->at.slip);
    for (int i = 0; i < solver->rows; i++) {
        if (solver->row_of[i] == -1 && solver->tangent_of[i] / 4 == c) {
            double d[TANGENT_WIDTH];
            tangent_direction(&t, solver->tangent_of[i] % 4, d);
            for (int k = 0; k < t.width; k++) {
                hold[k] += d[k] * solver->answer.lambda[i];
            }
        }
    }
}

static void note_kink(zw_slopes *slopes, const char *name)
{
    slopes->answer.kinks++;
    slopes->answer.kink = slopes->answer.kink ? slopes->answer.kink : name;
}

/* Sets the leaves for the friction of c at this instant; a kink if it is at its limit or begins to
 * slide. */
static void take_friction(zw_slopes *slopes, int c)
{
    const zw_system *system = slopes->system;
    const zw_work *work = slopes->work;
    slopes_formulas *f = &slopes->formulas;
    tangent t = tangent_look(system, c, work->out[PART_TERMS] + system->at.slip);
    double *leaf = f->lambda + f->slot[c], *way = leaf + 1, *hold = way + t.width, pull = 0;
    double most = work->out[PART_TERMS][system->at.mu + c] * tangent_force(&t, work->push);
    int rests = work->mode[c] == SYSTEM_STUCK;
    memset(leaf, 0, (1 + 2 * (size_t)t.width) * sizeof *leaf);
    if (work->mode[c] == SYSTEM_OPEN) {
        return;
    }
    if (rests) {
        take_hold(slopes, c, hold);
        for (int k = 0; k < t.width; k++) {
            pull += hold[k] * hold[k];
        }
        if (sqrt(pull) >= most * (1 - 1e-9)) {
            note_kink(slopes, system->model->constraint[c].name);
        }
        return;
    }
    double sum = 0, speed = tangent_speed(&t);
    for (int k = 0; k < t.width; k++) {
        sum += t.e[k] * work->hint[3 * c + k];
    }
    *leaf = speed > work->slow && sum >= 0 ? SLOPES_SLIDES : SLOPES_BEGINS;
    for (int k = 0; k < t.width; k++) {
        way[k] = speed > work->slow ? -t.e[k] / speed : work->hint[3 * c + k];
    }
    if (*leaf == SLOPES_BEGINS) {
        note_kink(slopes, system->model->constraint[c].name);
    }
}

/* Sets the leaves from the last zw_forward and numbers the unknowns: a, then the active rows. */
static int take_instant(zw_slopes *slopes)
{
    const zw_system *system = slopes->system;
    const zw_work *work = slopes->work;
    slopes_formulas *f = &slopes->formulas;
    int size = system->n;
    memcpy(f->a, work->a, (size_t)system->n * sizeof *f->a);
    for (int i = 0; i < f->rows; i++) {
        slopes->active[i] = i < system->n ? i : -1;
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        int open = work->mode[c] == SYSTEM_OPEN;
        for (int r = system->first_row[c]; r < system->first_row[c + 1]; r++) {
            f->lambda[r] = open ? 0 : work->push[r];
            slopes->active[system->n + r] = open ? -1 : size++;
        }
        if (f->slot[c] >= 0) {
            take_friction(slopes, c);
            for (int k = 0; k < system->slip[c].width; k++) {
                slopes->active[f->hold[c] + k] = work->mode[c] == SYSTEM_STUCK ? size++ : -1;
            }
        }
    }
    return size;
}

/* The unknown of leaf `index` of the multipliers; -1: none. */
static int unknown_of(const zw_slopes *slopes, int index)
{
    const zw_system *system = slopes->system;
    const slopes_formulas *f = &slopes->formulas;
    if (index < system->m) {
        return slopes->active[system->n + index];
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        int k = f->slot[c] >= 0 ? index - f->slot[c] - 1 - system->slip[c].width : -1;
        if (k >= 0 && k < system->slip[c].width) {
            return slopes->active[f->hold[c] + k];
        }
    }
    return -1;
}

/* The column of a leaf of the state. */
static int column_of(const zw_slopes *slopes, const slopes_entry *entry)
{
    int n = slopes->system->n;
    switch (entry->kind) {
    case EXPR_COORD:
        return entry->index;
    case EXPR_SPEED:
        return entry->index < n ? n + entry->index : -1;
    case EXPR_TIME:
        return 2 * n;
    default:
        return 2 * n + 1 + entry->index;
    }
}

zw_status slopes_formulas_fill(zw_slopes *slopes, zw_state *state, int *size, zw_error *error)
{
    slopes_formulas *f = &slopes->formulas;
    size_t n = (size_t)slopes->system->n, wide = (size_t)take_instant(slopes);
    (void)error;
    *size = (int)wide;
    slopes_formulas_run(slopes, state);
    memset(slopes->K, 0, wide * wide * sizeof *slopes->K);
    memset(slopes->by, 0, (size_t)slopes->columns * wide * sizeof *slopes->by);
    for (int k = 0; k < f->entries; k++) {
        const slopes_entry *entry = &f->entry[k];
        int row = slopes->active[entry->row];
        if (row < 0) {
            continue;
        }
        int unknown = entry->kind == EXPR_ACCEL    ? entry->index
                      : entry->kind == EXPR_LAMBDA ? unknown_of(slopes, entry->index)
                                                   : -1;
        if (unknown >= 0) {
            slopes->K[(size_t)row * wide + (size_t)unknown] += f->out[k];
        } else if (entry->kind != EXPR_LAMBDA && column_of(slopes, entry) >= 0) {
            slopes->by[(size_t)column_of(slopes, entry) * wide + (size_t)row] -= f->out[k];
        }
    }
    /* without multipliers: M a - force - C alone */
    memset(f->lambda, 0, (size_t)f->shape.lambdas * sizeof *f->lambda);
    slopes_formulas_run(slopes, state);
    memset(slopes->known, 0, (size_t)slopes->columns * n * sizeof *slopes->known);
    for (int k = 0; k < f->entries; k++) {
        const slopes_entry *entry = &f->entry[k];
        int free = entry->kind != EXPR_ACCEL && entry->kind != EXPR_LAMBDA;
        int column = free ? column_of(slopes, entry) : -1;
        if (entry->row < (int)n && column >= 0) {
            slopes->known[(size_t)column * n + (size_t)entry->row] += f->out[k];
        }
    }
    return ZW_OK;
}

/* r2 is linear in a: its slopes for a = w less those for a = 0 are those of A w. */
void slopes_formulas_carry(zw_slopes *slopes, zw_state *state, const double *w, double *out)
{
    slopes_formulas *f = &slopes->formulas;
    int n = slopes->system->n, m = slopes->system->m;
    memset(out, 0, (size_t)slopes->columns * (size_t)m * sizeof *out);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            f->a[i] = pass == 0 ? w[i] : 0;
        }
        slopes_formulas_run(slopes, state);
        for (int k = 0; k < f->entries; k++) {
            const slopes_entry *entry = &f->entry[k];
            int free = entry->kind != EXPR_ACCEL && entry->kind != EXPR_LAMBDA;
            int column = free ? column_of(slopes, entry) : -1, row = entry->row - n;
            if (row >= 0 && row < m && column >= 0) {
                out[(size_t)column * (size_t)m + (size_t)row] += pass == 0 ? f->out[k] : -f->out[k];
            }
        }
    }
}

/* ---- Kinks of formulas ---------------------------------------------------------------------- */

/* Is the state at the kink of this node: a = b, for abs and sign a = 0, for floor an integer a? */
static zw_status at_corner(const slopes_formulas *f, expr_id id, const expr_inputs *in, int *here)
{
    expr_node node = *expr_graph_node(f->graph, id);
    double x = 0, y = 0;
    zw_status status = expr_value(f->graph, node.operand[0], in, &x);
    int two = node.op != EXPR_ABS && node.op != EXPR_SIGN && node.op != EXPR_FLOOR;
    if (status == ZW_OK && two) {
        status = expr_value(f->graph, node.operand[1], in, &y);
    }
    y = node.op == EXPR_FLOOR ? round(x) : y;
    *here = fabs(x - y) <= 1e-12 * (fabs(x) + fabs(y)) || x == y;
    return status;
}

zw_status slopes_formulas_kinks(zw_slopes *slopes, zw_state *state, zw_error *error)
{
    slopes_formulas *f = &slopes->formulas;
    zw_status status = ZW_OK;
    take_instant(slopes); /* counts the kinks of friction as well */
    expr_inputs in = inputs_of(slopes, state);
    for (int i = 0; i < expr_tape_kinks(f->tape) && status == ZW_OK; i++) {
        int here = 0;
        status = at_corner(f, expr_tape_kink(f->tape, i), &in, &here);
        if (here) {
            note_kink(slopes, "a corner of a formula");
        }
    }
    return status == ZW_OK ? ZW_OK : base_fail_as(error, status);
}
