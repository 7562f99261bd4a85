#include "step/events/pulse.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "step/ode/path.h"
#include "system/formulas.h"

enum { LOOKS = 400, DEPTH = 60 }; /* pieces of a step; largest number of halvings */
enum { NONE = -1, SEVERAL = -2 }; /* variables of a node; otherwise as step_pulses.variable */
#define LEAST                                                                                      \
    1e-3 /* relative: how far a part may exceed its bound, since intervals are not sharper */
#define TINY 1e-10 /* least size, in any unit */

/* ---- Watched formulas
 * ------------------------------------------------------------------------- */

/* For every node of the graph up to `top`. */
typedef struct survey {
    const expr_graph *graph;
    int top;
    int *used;     /* whether the motion depends on it */
    int *variable; /* its variable */
    int *sharp;
    int tree; /* coordinates are those of frames of bodies */
} survey;

static const system_part PARTS[] = {PART_TERMS, PART_POSITION, PART_VELOCITY, PART_SLIP};
enum { PARTS_COUNT = sizeof PARTS / sizeof *PARTS };

static int find_top(const zw_system *system)
{
    int top = -1;
    for (int p = 0; p < PARTS_COUNT; p++) {
        const expr_id *list;
        int count = system_formulas(system, PARTS[p], &list);
        for (int i = 0; i < count; i++) {
            top = list[i] > top ? list[i] : top;
        }
    }
    return top;
}

static int is_sharp_itself(const expr_graph *graph, const expr_node *node)
{
    switch (node->op) {
    case EXPR_DIV:
        return (expr_graph_node(graph, node->operand[1])->depends & ~EXPR_ON_PARAM) != 0;
    case EXPR_POWI:
        return node->index < 0;
    case EXPR_POW:
    case EXPR_EXP:
    case EXPR_TANH:
    case EXPR_ATAN:
    case EXPR_ATAN2:
        return 1;
    default:
        return 0;
    }
}

static int variable_of_leaf(const zw_system *system, const expr_node *node)
{
    switch (node->op) {
    case EXPR_TIME:
        return 0;
    case EXPR_COORD:
        return system->tree ? SEVERAL : 1 + node->index;
    case EXPR_SPEED:
        return system->tree ? SEVERAL : 1 + system->nq + node->index;
    case EXPR_CONST:
    case EXPR_PARAM:
        return NONE;
    default:
        return SEVERAL;
    }
}

/* Operands have smaller ids: a downward pass finds the used nodes, an upward one their
 * variables. */
static void look_over(const zw_system *system, survey *s)
{
    for (int p = 0; p < PARTS_COUNT; p++) {
        const expr_id *list;
        int count = system_formulas(system, PARTS[p], &list);
        for (int i = 0; i < count; i++) {
            s->used[list[i]] = 1;
        }
    }
    for (int id = s->top; id >= 0; id--) {
        const expr_node *node = expr_graph_node(s->graph, id);
        for (int k = 0; k < expr_op_operands((expr_op)node->op) && s->used[id]; k++) {
            s->used[node->operand[k]] = 1;
        }
    }
    for (int id = 0; id <= s->top; id++) {
        const expr_node *node = expr_graph_node(s->graph, id);
        int operands = expr_op_operands((expr_op)node->op), is = NONE;
        s->sharp[id] = is_sharp_itself(s->graph, node);
        for (int k = 0; k < operands; k++) {
            int of = s->variable[node->operand[k]];
            is = of == NONE ? is : is == NONE || is == of ? of : SEVERAL;
            s->sharp[id] |= s->sharp[node->operand[k]];
        }
        s->variable[id] = operands == 0 ? variable_of_leaf(system, node) : is;
    }
}

/* Sums and products with constants are as sharp as their operands, which are watched. */
static int is_scaled(const survey *s, int id)
{
    const expr_node *node = expr_graph_node(s->graph, id);
    int varying = 0;
    for (int k = 0; k < expr_op_operands((expr_op)node->op); k++) {
        varying += s->variable[node->operand[k]] != NONE;
    }
    return varying == 1 && !is_sharp_itself(s->graph, node) &&
           (node->op == EXPR_ADD || node->op == EXPR_SUB || node->op == EXPR_MUL ||
            node->op == EXPR_DIV || node->op == EXPR_NEG);
}

/* An exponential or tanh of several variables of the state. */
static int is_of_several(const survey *s, int id)
{
    const expr_node *node = expr_graph_node(s->graph, id);
    const int state = EXPR_ON_PARAM | EXPR_ON_TIME | EXPR_ON_COORD | EXPR_ON_SPEED;
    return s->variable[id] == SEVERAL && (node->depends & ~state) == 0 && !s->tree &&
           (node->op == EXPR_EXP || node->op == EXPR_TANH);
}

static int is_watched(const survey *s, int id)
{
    int is_of_one = s->sharp[id] && s->variable[id] >= 0 && !is_scaled(s, id);
    return s->used[id] && (is_of_one || is_of_several(s, id));
}

/* The number of watched parts; the caller frees s->used, which holds all lists. -1: no memory. */
static int find(const zw_system *system, survey *s)
{
    *s = (survey){
        .graph = system->model->graph, .top = find_top(system), .tree = system->tree != NULL};
    size_t nodes = (size_t)s->top + 1;
    int count = 0;
    if (s->top < 0) {
        return 0;
    }
    s->used = base_alloc(3 * nodes * sizeof(int));
    if (!s->used) {
        return -1;
    }
    memset(s->used, 0, 3 * nodes * sizeof(int));
    s->variable = s->used + nodes;
    s->sharp = s->variable + nodes;
    look_over(system, s);
    for (int id = 0; id <= s->top; id++) {
        count += is_watched(s, id);
    }
    return count;
}

int pulses_exist(const zw_system *system)
{
    survey s;
    int count = find(system, &s);
    base_free(s.used);
    return count;
}

/* ---- Creation ---------------------------------------------------------------------------------*/

static void add_variable(step_pulses *pulses, int variable)
{
    for (int i = 0; i < pulses->variables; i++) {
        if (pulses->variable[i] == variable) {
            return;
        }
    }
    pulses->variable[pulses->variables++] = variable;
}

static void list_parts(step_pulses *pulses, const survey *s)
{
    int all = 1 + pulses->motion->system->nq + pulses->motion->system->n;
    for (int id = 0, k = 0; id <= s->top; id++) {
        if (!is_watched(s, id)) {
            continue;
        }
        int one = s->variable[id];
        pulses->node[k++] = id;
        for (int i = one == SEVERAL ? 0 : one; i <= (one == SEVERAL ? all - 1 : one); i++) {
            add_variable(pulses, i);
        }
    }
}

/* The nodes below the parts, in the order of the graph. Uses s->sharp for its marks. */
static zw_status list_below(step_pulses *pulses, survey *s)
{
    int *is = s->sharp, last = pulses->node[pulses->count - 1];
    pulses->below = base_alloc(((size_t)last + 1) * sizeof(int));
    if (!pulses->below) {
        return ZW_NO_MEMORY;
    }
    memset(is, 0, ((size_t)s->top + 1) * sizeof *is);
    for (int k = 0; k < pulses->count; k++) {
        is[pulses->node[k]] = 1;
    }
    for (int id = last; id >= 0; id--) {
        const expr_node *node = expr_graph_node(s->graph, id);
        for (int k = 0; k < expr_op_operands((expr_op)node->op) && is[id]; k++) {
            is[node->operand[k]] = 1;
        }
    }
    for (int id = 0; id <= last; id++) {
        if (is[id]) {
            pulses->below[pulses->below_count++] = id;
        }
    }
    return ZW_OK;
}

static zw_status make_room(step_pulses *pulses)
{
    size_t count = (size_t)pulses->count, size = (size_t)pulses->motion->size + 1;
    size_t registers = expr_tape_registers(pulses->tape) + 1;
    pulses->b = base_alloc((4 * size + 4) * sizeof(double));
    pulses->part = base_alloc((4 * size + 4) * sizeof(double));
    pulses->registers = base_alloc(registers * sizeof(double));
    pulses->jets = base_alloc(registers * sizeof(expr_jet));
    pulses->out = base_alloc(count * sizeof(double));
    pulses->low = base_alloc(count * sizeof(double));
    pulses->high = base_alloc(count * sizeof(double));
    pulses->size = base_alloc(count * sizeof(double));
    pulses->value = base_alloc(2 * ((size_t)pulses->node[count - 1] + 1) * sizeof(double));
    pulses->jet_out = base_alloc(count * sizeof(expr_jet));
    pulses->y = base_alloc(size * sizeof(expr_jet));
    pulses->at = base_alloc(size * sizeof(double));
    if (!pulses->b || !pulses->part || !pulses->registers || !pulses->jets || !pulses->out ||
        !pulses->low || !pulses->high || !pulses->size || !pulses->value || !pulses->jet_out ||
        !pulses->y || !pulses->at) {
        return ZW_NO_MEMORY;
    }
    memset(pulses->y, 0, size * sizeof(expr_jet));
    memset(pulses->at, 0, size * sizeof(double));
    return ZW_OK;
}

zw_status pulses_create(step_pulses *pulses, const step_motion *motion, zw_error *error)
{
    const zw_system *system = motion->system;
    survey s;
    *pulses = (step_pulses){.motion = motion, .count = find(system, &s)};
    zw_status status = pulses->count < 0 ? ZW_NO_MEMORY : ZW_OK;
    if (pulses->count > 0) {
        pulses->node = base_alloc((size_t)pulses->count * sizeof *pulses->node);
        pulses->variable = base_alloc(((size_t)motion->size + 1) * sizeof(int));
        status = pulses->node && pulses->variable ? ZW_OK : ZW_NO_MEMORY;
    }
    if (status == ZW_OK && pulses->count > 0) {
        list_parts(pulses, &s);
        pulses->tape = expr_tape_create(system->model->graph, &system->shape, pulses->node,
                                        pulses->count, error);
        status = pulses->tape ? make_room(pulses) : ZW_NO_MEMORY;
        status = status == ZW_OK ? list_below(pulses, &s) : status;
    }
    base_free(s.used);
    if (status != ZW_OK) {
        pulses_free(pulses);
        return base_fail_as(error, status);
    }
    return ZW_OK;
}

void pulses_free(step_pulses *pulses)
{
    void *list[] = {pulses->variable, pulses->b,    pulses->part, pulses->registers, pulses->jets,
                    pulses->out,      pulses->low,  pulses->high, pulses->jet_out,   pulses->y,
                    pulses->at,       pulses->size, pulses->node, pulses->value,     pulses->below};
    expr_tape_free(pulses->tape);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        base_free(list[i]);
    }
    *pulses = (step_pulses){0};
}

/* ---- A step -----------------------------------------------------------------------------------*/

/* The course of the variables in the step. */
static void take(step_pulses *pulses, const stepper_view *step)
{
    int nq = pulses->motion->system->nq;
    double h = step->t - step->t_before;
    const double *y0 = step->y_before, *y1 = step->y;
    for (int k = 0; k < pulses->variables; k++) {
        int i = pulses->variable[k] - 1, speed = i >= nq;
        double from = i < 0 ? step->t_before : y0[i], to = i < 0 ? step->t : y1[i];
        double *b = pulses->b + 4 * k;
        b[0] = from;
        b[3] = to;
        b[1] = i < 0 || speed ? from + (to - from) / 3 : from + h * y0[nq + i] / 3;
        b[2] = i < 0 || speed ? to - (to - from) / 3 : to - h * y1[nq + i] / 3;
    }
}

static void prepare(step_pulses *pulses, const step_kinks *kinks)
{
    expr_tape_prepare(pulses->tape, pulses->motion->work->param, pulses->registers);
    if (kinks->count > 0) {
        kinks_latch_tape(kinks, pulses->tape, pulses->registers);
    }
    expr_enclose_prepare(pulses->tape, pulses->registers, pulses->jets);
}

static double value_at(const double b[4], double x)
{
    double u = 1 - x;
    return u * u * (u * b[0] + 3 * x * b[1]) + x * x * (3 * u * b[2] + x * b[3]);
}

/* The values of all parts at x in [0, 1]. */
static void look_at(step_pulses *pulses, double x)
{
    int nq = pulses->motion->system->nq;
    for (int k = 0; k < pulses->variables; k++) {
        double value = value_at(pulses->b + 4 * k, x);
        if (pulses->variable[k] == 0) {
            pulses->now = value;
        } else {
            pulses->at[pulses->variable[k] - 1] = value;
        }
    }
    const expr_inputs in = {.t = pulses->now, .q = pulses->at, .v = pulses->at + nq};
    expr_tape_run(pulses->tape, &in, pulses->registers, pulses->out);
}

static void enclose(step_pulses *pulses, double from, double to)
{
    int nq = pulses->motion->system->nq;
    expr_jets in = {.q = pulses->y, .v = pulses->y + nq};
    for (int k = 0; k < pulses->variables; k++) {
        double *b = pulses->part + 4 * k;
        memcpy(b, pulses->b + 4 * k, 4 * sizeof *b);
        bernstein_restrict(3, 1, b, from, to);
        expr_interval value = interval_point(b[0]), rate = interval_point(3 * (b[1] - b[0]));
        for (int i = 1; i < 4; i++) {
            value = interval_hull(value, interval_point(b[i]));
            rate = interval_hull(rate, interval_point(3 * (b[i] - b[i - 1])));
        }
        const expr_jet jet = {.value = interval_out(value.lo, value.hi),
                              .rate = interval_out(rate.lo, rate.hi)};
        if (pulses->variable[k] == 0) {
            in.t = jet;
        } else {
            pulses->y[pulses->variable[k] - 1] = jet;
        }
    }
    expr_enclose_run(pulses->tape, &in, pulses->jets, pulses->jet_out);
}

/* The range of part k where the method evaluates it, extended by its width on both sides. */
static expr_interval bound_of(const step_pulses *pulses, int k)
{
    double low = pulses->low[k], high = pulses->high[k];
    double more = high - low + LEAST * pulses->size[k];
    return (expr_interval){low - more, high + more};
}

/* The size of a node from those of its operands: as large as it would be without cancellation. */
static double size_of(const expr_node *node, double value, const double *at, const double *size)
{
    const int *o = node->operand;
    switch (node->op) {
    case EXPR_ADD:
    case EXPR_SUB:
        return size[o[0]] + size[o[1]];
    case EXPR_MUL:
        return size[o[0]] * size[o[1]];
    case EXPR_DIV:
        return size[o[0]] / fabs(at[o[1]]);
    case EXPR_NEG:
    case EXPR_SIN:
    case EXPR_ABS:
        return size[o[0]];
    case EXPR_POWI:
        return node->index > 0 ? expr_apply(EXPR_POWI, node->index, size[o[0]], 0, 0) : fabs(value);
    case EXPR_SQRT:
        return sqrt(size[o[0]]);
    default:
        return fabs(value);
    }
}

/* Parts that are zero because their terms cancel, such as (1 - x/|x|)^2, have intervals as wide as
 * those terms: so a pulse must be large relative to the terms. Slow, and rarely needed. */
static void see_sizes(step_pulses *pulses)
{
    const expr_graph *graph = pulses->motion->system->model->graph;
    const double *param = pulses->motion->work->param;
    int nq = pulses->motion->system->nq, last = pulses->node[pulses->count - 1];
    double *at = pulses->value, *size = at + last + 1;
    for (int k = 0; k < pulses->looks; k++) {
        look_at(pulses, pulses->look[k]);
        for (int n = 0, part = 0; n < pulses->below_count; n++) {
            int id = pulses->below[n];
            const expr_node *node = expr_graph_node(graph, id);
            double of[3] = {0, 0, 0};
            for (int i = 0; i < expr_op_operands((expr_op)node->op); i++) {
                of[i] = at[node->operand[i]];
            }
            at[id] = node->op == EXPR_CONST   ? node->value
                     : node->op == EXPR_PARAM ? param[node->index]
                     : node->op == EXPR_TIME  ? pulses->now
                     : node->op == EXPR_COORD ? pulses->at[node->index]
                     : node->op == EXPR_SPEED ? pulses->at[nq + node->index]
                     : node->op <= EXPR_LAMBDA
                         ? 0
                         : expr_apply((expr_op)node->op, node->index, of[0], of[1], of[2]);
            size[id] = size_of(node, at[id], at, size);
            if (pulses->node[part] == id) {
                double most = size[id] < INFINITY ? size[id] : 0;
                pulses->size[part] = fmax(pulses->size[part], most);
                part++;
            }
        }
    }
    pulses->sized = 1;
}

static int is_within(expr_interval is, expr_interval may)
{
    return is.lo >= may.lo && is.hi <= may.hi;
}

/* 1: the piece is free of anything else; 0: undecided; -1: there is something in its middle. A part
 * also differs from its value there by at most half of its rate. An undefined value is no pulse. */
static int bound_step(step_pulses *pulses, double from, double to)
{
    int open = 0;
    enclose(pulses, from, to);
    for (int k = 0; k < pulses->count; k++) {
        expr_interval may = bound_of(pulses, k);
        open |= isfinite(may.lo) && isfinite(may.hi) && !is_within(pulses->jet_out[k].value, may);
    }
    if (!open) {
        return 1;
    }
    if (!pulses->sized) {
        see_sizes(pulses);
    }
    look_at(pulses, 0.5 * (from + to));
    open = 0;
    for (int k = 0; k < pulses->count; k++) {
        expr_interval may = bound_of(pulses, k), rate = pulses->jet_out[k].rate;
        double is = pulses->out[k], most = 0.5 * fmax(fabs(rate.lo), fabs(rate.hi));
        if (is < may.lo || is > may.hi) {
            return -1;
        }
        open |= isfinite(may.lo) && isfinite(may.hi) && !is_within(pulses->jet_out[k].value, may) &&
                !is_within((expr_interval){is - most, is + most}, may);
    }
    return !open;
}

/* Where methods evaluate their field, in fractions of a step: for DOP853 and Radau some of the
 * stages. */
static void set_looks(step_pulses *pulses, zw_method method)
{
    static const double ends[] = {0, 1}, middle[] = {0, 0.5, 1}, dop853[] = {0, 1.0 / 3, 0.6, 1};
    static const double radau[] = {0, 0.15505102572168219, 0.64494897427831781, 1};
    int has_middle = method == ZW_METHOD_RK4 || method == ZW_METHOD_VARIATIONAL ||
                     method == ZW_METHOD_VARIATIONAL4 || method == ZW_METHOD_MIDPOINT;
    int stages = method == ZW_METHOD_DOP853 || method == ZW_METHOD_STIFF;
    pulses->look = method == ZW_METHOD_DOP853  ? dop853
                   : method == ZW_METHOD_STIFF ? radau
                   : has_middle                ? middle
                                               : ends;
    pulses->looks = stages ? 4 : has_middle ? 3 : 2;
}

void pulses_scan(step_pulses *pulses, const step_kinks *kinks, const stepper_view *step,
                 zw_method method, double *at, int *proved)
{
    double end[DEPTH + 2], from = 0;
    int top = 0, looks = 0;
    *at = 1;
    *proved = 1;
    if (pulses->count == 0) {
        return;
    }
    pulses->sized = 0;
    set_looks(pulses, method);
    take(pulses, step);
    prepare(pulses, kinks);
    for (int k = 0; k < pulses->looks; k++) {
        look_at(pulses, pulses->look[k]);
        for (int i = 0; i < pulses->count; i++) {
            pulses->low[i] = k ? fmin(pulses->low[i], pulses->out[i]) : pulses->out[i];
            pulses->high[i] = k ? fmax(pulses->high[i], pulses->out[i]) : pulses->out[i];
            pulses->size[i] = fmax(k ? pulses->size[i] : TINY, fabs(pulses->out[i]));
        }
    }
    end[top] = 1; /* ends of the pending pieces; each begins where the last one ended */
    while (top >= 0) {
        double to = end[top];
        int is = bound_step(pulses, from, to);
        if (is < 0) {
            *at = 0.5 * (from + to);
            *proved = 0;
            return;
        }
        if (is > 0) {
            from = to;
            top--;
            continue;
        }
        if (++looks > LOOKS || top >= DEPTH) {
            *proved = 0;
            return;
        }
        end[++top] = 0.5 * (from + to);
    }
}
