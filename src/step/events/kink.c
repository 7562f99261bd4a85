#include "step/events/kink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* The tapes of the motion, and of its energies, which must not jump. Drawn quantities may have any
 * kinks. */
static const system_part PARTS[] = {PART_TERMS,  PART_POSITION, PART_VELOCITY, PART_SLIP,
                                    PART_METRIC, PART_LAGRANGE, PART_REACTION, PART_ENERGY};
enum { PARTS_COUNT = sizeof PARTS / sizeof *PARTS };

/* ---- The list ---------------------------------------------------------------------------------*/

/* The kink of a node, with a before b; `flip`: the node has them in the opposite order. */
static step_kink kink_of(const expr_graph *graph, expr_id node, int *flip)
{
    const expr_node *n = expr_graph_node(graph, node);
    step_kink k = {.a = n->operand[0], .b = n->operand[1], .node = node, .side = NAN};
    k.is_floor = n->op == EXPR_FLOOR;
    *flip = k.b != EXPR_NONE && k.b < k.a;
    if (*flip) {
        k.a = n->operand[1];
        k.b = n->operand[0];
    }
    return k;
}

static int compare(const void *a, const void *b)
{
    const step_kink *x = a, *y = b;
    if (x->is_floor != y->is_floor) {
        return x->is_floor - y->is_floor;
    }
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static unsigned depends(const expr_graph *graph, expr_id node)
{
    return (unsigned)expr_graph_node(graph, node)->depends & ~(unsigned)EXPR_ON_PARAM;
}

int kinks_exist(const zw_system *system)
{
    for (int p = 0; p < PARTS_COUNT; p++) {
        const expr_tape *tape = system->tape[PARTS[p]].code;
        for (int i = 0; tape && i < expr_tape_kinks(tape); i++) {
            if (depends(system->model->graph, expr_tape_kink(tape, i))) {
                return 1;
            }
        }
    }
    return 0;
}

/* Costs over time, whose integrals are taken from one kink to the next. They are not evaluated with
 * the motion, so this tape only lists their contents. */
static zw_status make_costs(step_kinks *kinks, expr_tape **tape, zw_error *error)
{
    const zw_system *system = kinks->motion->system;
    const zw_model *model = system->model;
    *tape = NULL;
    if (model->cost_count == 0 || system->tree) {
        return ZW_OK;
    }
    expr_id *out = base_alloc((size_t)model->cost_count * sizeof *out);
    if (!out) {
        return base_no_memory(error);
    }
    for (int i = 0; i < model->cost_count; i++) {
        out[i] = model->cost[i].over ? model->cost[i].value : EXPR_ZERO;
    }
    *tape = expr_tape_create(model->graph, &system->shape, out, model->cost_count, error);
    base_free(out);
    return *tape ? ZW_OK : ZW_NO_MEMORY;
}

/* All kinks of the tapes into list (NULL: counts them), with repetitions. */
static int gather(step_kinks *kinks, int alone, const expr_tape *costs, step_kink *list)
{
    const zw_system *system = kinks->motion->system;
    const expr_graph *graph = system->model->graph;
    int count = 0, flip;
    for (int p = 0; p <= PARTS_COUNT; p++) {
        const expr_tape *tape = p < PARTS_COUNT ? system->tape[PARTS[p]].code : costs;
        for (int i = 0; tape && i < expr_tape_kinks(tape); i++) {
            expr_id node = expr_tape_kink(tape, i);
            unsigned on = depends(graph, node), of_time = on == EXPR_ON_TIME;
            if (on == 0) {
                continue;
            }
            if (!of_time && (alone || system->tree || on & (EXPR_ON_ACCEL | EXPR_ON_LAMBDA))) {
                kinks->blind = 1;
                continue;
            }
            if (list) {
                list[count] = kink_of(graph, node, &flip);
                list[count].of_time = (int)of_time;
            }
            count++;
        }
    }
    return count;
}

zw_status kinks_meet(step_kinks *kinks, const expr_tape *tape, zw_error *error)
{
    int count = tape ? expr_tape_kinks(tape) : 0;
    if (kinks->scratch && count <= kinks->capacity) {
        return ZW_OK;
    }
    base_free(kinks->scratch);
    kinks->capacity = count;
    kinks->scratch = base_alloc(((size_t)count + 1) * sizeof(double));
    return kinks->scratch ? ZW_OK : base_no_memory(error);
}

static expr_id last_of(const step_kink *kink)
{
    return kink->b > kink->a ? kink->b : kink->a;
}

/* Sorts so that none depends on a later one. */
static void put_in_order(step_kinks *kinks)
{
    for (int k = 0; k < kinks->count; k++) {
        int i = k;
        for (; i > 0 && last_of(&kinks->kink[kinks->order[i - 1]]) > last_of(&kinks->kink[k]);
             i--) {
            kinks->order[i] = kinks->order[i - 1];
        }
        kinks->order[i] = k;
    }
}

/* Makes the tape of a and b of all kinks. */
static zw_status make_tape(step_kinks *kinks, zw_error *error)
{
    const zw_system *system = kinks->motion->system;
    expr_id *out = base_alloc(2 * (size_t)kinks->count * sizeof *out);
    if (!out) {
        return base_no_memory(error);
    }
    for (int k = 0; k < kinks->count; k++) {
        out[2 * k] = kinks->kink[k].a;
        out[2 * k + 1] = kinks->kink[k].b == EXPR_NONE ? EXPR_ZERO : kinks->kink[k].b;
    }
    kinks->tape =
        expr_tape_create(system->model->graph, &system->shape, out, 2 * kinks->count, error);
    base_free(out);
    if (!kinks->tape) {
        return ZW_NO_MEMORY;
    }
    size_t registers = expr_tape_registers(kinks->tape) + 1, size = (size_t)kinks->motion->size + 1;
    kinks->registers = base_alloc(registers * sizeof(double));
    kinks->jets = base_alloc(registers * sizeof(expr_jet));
    kinks->out = base_alloc(2 * (size_t)kinks->count * sizeof(double));
    kinks->jet_out = base_alloc(2 * (size_t)kinks->count * sizeof(expr_jet));
    kinks->y = base_alloc(size * sizeof(expr_jet));
    kinks->rate = base_alloc(size * sizeof(double));
    kinks->before = base_alloc((size_t)kinks->count * sizeof(double));
    kinks->comes = base_alloc((size_t)kinks->count * sizeof(int));
    kinks->order = base_alloc((size_t)kinks->count * sizeof(int));
    if (!kinks->before || !kinks->comes || !kinks->order || !kinks->registers || !kinks->jets ||
        !kinks->out || !kinks->jet_out || !kinks->y || !kinks->rate) {
        return base_no_memory(error);
    }
    put_in_order(kinks);
    zw_status status = kinks_meet(kinks, kinks->tape, error);
    for (int p = 0; p < PARTS_COUNT && status == ZW_OK; p++) {
        status = kinks_meet(kinks, system->tape[PARTS[p]].code, error);
    }
    return status;
}

zw_status kinks_create(step_kinks *kinks, step_motion *motion, int alone, zw_error *error)
{
    expr_tape *costs;
    *kinks = (step_kinks){.motion = motion, .latch = !alone};
    zw_status status = make_costs(kinks, &costs, error);
    int all = status == ZW_OK ? gather(kinks, alone, costs, NULL) : 0;
    if (all == 0) {
        expr_tape_free(costs);
        return status;
    }
    kinks->kink = base_alloc((size_t)all * sizeof *kinks->kink);
    if (kinks->kink) {
        gather(kinks, alone, costs, kinks->kink);
    }
    expr_tape_free(costs);
    if (!kinks->kink) {
        return base_no_memory(error);
    }
    qsort(kinks->kink, (size_t)all, sizeof *kinks->kink, compare);
    for (int i = 0; i < all; i++) {
        if (i == 0 || compare(&kinks->kink[kinks->count - 1], &kinks->kink[i]) != 0) {
            kinks->kink[kinks->count++] = kinks->kink[i];
        }
    }
    status = make_tape(kinks, error);
    if (status != ZW_OK) {
        kinks_free(kinks);
    }
    return status;
}

void kinks_free(step_kinks *kinks)
{
    expr_tape_free(kinks->tape);
    void *list[] = {kinks->kink,    kinks->registers, kinks->jets, kinks->out,
                    kinks->jet_out, kinks->y,         kinks->rate, kinks->scratch,
                    kinks->before,  kinks->comes,     kinks->order};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        base_free(list[i]);
    }
    *kinks = (step_kinks){0};
}

/* ---- Sides ------------------------------------------------------------------------------------*/

void kinks_sides(const step_kinks *kinks, const expr_graph *graph, const expr_tape *tape,
                 double *side)
{
    for (int i = 0; i < expr_tape_kinks(tape); i++) {
        int flip;
        step_kink key = kink_of(graph, expr_tape_kink(tape, i), &flip);
        const step_kink *kink = kinks->count == 0 ? NULL
                                                  : bsearch(&key, kinks->kink, (size_t)kinks->count,
                                                            sizeof key, compare);
        side[i] = !kink ? NAN : flip ? -kink->side : kink->side;
    }
}

void kinks_latch_tape(const step_kinks *kinks, const expr_tape *tape, double *registers)
{
    kinks_sides(kinks, kinks->motion->system->model->graph, tape, kinks->scratch);
    expr_tape_latch(tape, kinks->scratch, registers);
}

void kinks_latch(const step_kinks *kinks)
{
    if (kinks->count == 0) {
        return;
    }
    const zw_system *system = kinks->motion->system;
    expr_tape_prepare(kinks->tape, kinks->motion->work->param, kinks->registers);
    kinks_latch_tape(kinks, kinks->tape, kinks->registers);
    expr_enclose_prepare(kinks->tape, kinks->registers, kinks->jets);
    for (int p = 0; p < PARTS_COUNT && kinks->latch; p++) {
        const expr_tape *tape = system->tape[PARTS[p]].code;
        if (tape) {
            kinks_latch_tape(kinks, tape, kinks->motion->work->registers[PARTS[p]]);
        }
    }
}

void kinks_release(const step_kinks *kinks)
{
    for (int k = 0; k < kinks->count; k++) {
        kinks->kink[k].side = NAN;
    }
    kinks_latch(kinks);
}

void kinks_values(const step_kinks *kinks, double t, const double *y)
{
    const expr_inputs in = {.t = t, .q = y, .v = y + kinks->motion->system->nq};
    expr_tape_run(kinks->tape, &in, kinks->registers, kinks->out);
    for (int k = 0; k < kinks->count; k++) {
        kinks->out[2 * k] -= kinks->out[2 * k + 1];
    }
}

void kinks_enclose(const step_kinks *kinks, const expr_jets *in)
{
    expr_jet *out = kinks->jet_out;
    expr_enclose_run(kinks->tape, in, kinks->jets, out);
    for (int k = 0; k < kinks->count; k++) {
        out[2 * k].value = interval_sub(out[2 * k].value, out[2 * k + 1].value);
        out[2 * k].rate = interval_sub(out[2 * k].rate, out[2 * k + 1].rate);
    }
}

double kinks_rest(const step_kinks *kinks, int k, double t, const double *y, double part)
{
    if (kinks->kink[k].is_floor || kinks->kink[k].side != 0.0) {
        return 0.0;
    }
    for (int i = 0; i < kinks->motion->size; i++) {
        double off = part * (1.0 + fabs(y[i]));
        kinks->y[i] = (expr_jet){{y[i] - off, y[i] + off}, INTERVAL_ALL};
    }
    const expr_jets in = {.t = {interval_point(t), interval_point(1.0)},
                          .q = kinks->y,
                          .v = kinks->y + kinks->motion->system->nq};
    kinks_enclose(kinks, &in);
    double width = 0.5 * (kinks->jet_out[2 * k].value.hi - kinks->jet_out[2 * k].value.lo);
    return isfinite(width) ? width : 0.0;
}

/* The rate of a - b of kink k with the current sides. */
static zw_status rate_of(step_kinks *kinks, int k, double t, const double *y, expr_interval *rate,
                         zw_error *error)
{
    step_motion *motion = kinks->motion;
    int nq = motion->system->nq;
    kinks_latch(kinks);
    if (kinks->latch && !kinks->kink[k].of_time) {
        system_rates(motion->system, y, y + nq, kinks->rate);
        zw_status status =
            system_accelerate(motion->system, motion->work, t, y, y + nq, kinks->rate + nq, error);
        if (status != ZW_OK) {
            return status;
        }
    }
    for (int i = 0; i < motion->size; i++) {
        kinks->y[i] = (expr_jet){interval_point(y[i]), interval_point(kinks->rate[i])};
    }
    const expr_jets in = {
        .t = {interval_point(t), interval_point(1.0)}, .q = kinks->y, .v = kinks->y + nq};
    kinks_enclose(kinks, &in);
    *rate = kinks->jet_out[2 * k].rate;
    return ZW_OK;
}

static int sign_of(expr_interval x)
{
    return x.lo > 0.0 ? 1 : x.hi < 0.0 ? -1 : 0;
}

zw_status kinks_refuse(const step_kinks *kinks, int k, double t, zw_error *error)
{
    const zw_model *model = kinks->motion->system->model;
    const expr_node *node = expr_graph_node(model->graph, kinks->kink[k].node);
    return model_fail(model, error, ZW_NO_STEP, node->place,
                      "at t = %.9g the motion leads back to the jump of '%s' from both sides, and "
                      "no branch holds there; for dry friction write a `friction` line, else a "
                      "steep smooth function such as tanh(x/small)",
                      t, expr_op_text((expr_op)node->op));
}

static int is_divided_by(const expr_node *n, const char *marked)
{
    int base = n->operand[0], other = n->operand[1];
    switch (n->op) {
    case EXPR_DIV:
        return marked[other];
    case EXPR_POWI:
        return n->index < 0 && marked[base];
    case EXPR_POW:
    case EXPR_ATAN2:
        return marked[base] || marked[other];
    default:
        return n->op == EXPR_LOG && marked[base];
    }
}

/* abs, min and max only bend; but x/abs(x) jumps, so nothing may be divided by one. */
int kinks_jumps(const step_kinks *kinks, int k)
{
    const zw_system *system = kinks->motion->system;
    const expr_graph *graph = system->model->graph;
    int flip, jumps = 0, count = expr_graph_count(graph);
    char *marked = base_alloc((size_t)count + 1);
    if (!marked) {
        return 1;
    }
    memset(marked, 0, (size_t)count + 1);
    for (int p = 0; p < PARTS_COUNT; p++) {
        const expr_tape *tape = system->tape[PARTS[p]].code;
        for (int i = 0; tape && i < expr_tape_kinks(tape); i++) {
            expr_id node = expr_tape_kink(tape, i);
            int op = expr_graph_node(graph, node)->op;
            step_kink it = kink_of(graph, node, &flip);
            marked[node] = compare(&it, &kinks->kink[k]) == 0;
            jumps |= marked[node] && op != EXPR_ABS && op != EXPR_MIN && op != EXPR_MAX;
        }
    }
    for (int i = 0; i < count && !jumps; i++) {
        const expr_node *n = expr_graph_node(graph, i);
        for (int o = 0; o < 3 && n->operand[o] != EXPR_NONE; o++) {
            marked[i] |= marked[n->operand[o]];
        }
        jumps = marked[i] && n->operand[0] != EXPR_NONE && is_divided_by(n, marked);
    }
    base_free(marked);
    return jumps;
}

/* At zero: chooses the side to which the motion leads. (To a bend it leads from both sides only
 * where it rests: the rates are those of round-off, of x'*abs(x') of what friction holds.) `whole`:
 * for floor, the integer that a is at. */
static zw_status decide_at_zero(step_kinks *kinks, int k, double whole, double t, const double *y,
                                zw_error *error)
{
    step_kink *kink = &kinks->kink[k];
    int to[2];
    for (int i = 0; i < 2; i++) { /* below, then above */
        expr_interval rate;
        kink->side = kink->is_floor ? whole - 1 + i : 2 * i - 1;
        zw_status status = rate_of(kinks, k, t, y, &rate, error);
        if (status != ZW_OK) {
            return status;
        }
        to[i] = sign_of(rate);
    }
    if (to[0] > 0 && to[1] < 0 && kinks_jumps(kinks, k)) {
        return kinks_refuse(kinks, k, t, error);
    }
    int above = to[1] > 0 && to[0] >= 0, below = to[0] < 0 && to[1] <= 0;
    double natural = kink->is_floor ? whole : 0.0;
    kink->side = above   ? (kink->is_floor ? whole : 1.0)
                 : below ? (kink->is_floor ? whole - 1 : -1.0)
                         : natural;
    kinks_latch(kinks);
    return ZW_OK;
}

/* ---- Jumps ------------------------------------------------------------------------------------
 *
 * The function of a kink may depend on the sides of others: floor(n/2) with n = floor(t), the
 * largest of two numbers of which one is a sign. Operands have smaller ids in the graph, so a kink
 * depends only on those before it in `order`, which sorts by the larger of a and b, and one pass in
 * this order decides all. Where one is crossed, others may jump, or stay at zero from there on: 0 <
 * max(0, x). */

/* Changes of functions above the round-off that remains where something continuous has a kink. */
#define JUMPS 1e-9

static double side_at(const step_kink *kink, double x)
{
    return !isfinite(x) ? NAN : kink->is_floor ? floor(x) : (x > 0.0) - (x < 0.0);
}

static int is_at_zero(const step_kink *kink, double x)
{
    return isfinite(x) && (kink->is_floor ? x == floor(x) : x == 0.0);
}

/* Decides the side of kink k, whose function is x here. */
static zw_status decide_one(step_kinks *kinks, int k, double x, double t, const double *y,
                            zw_error *error)
{
    step_kink *kink = &kinks->kink[k];
    kink->side = side_at(kink, x);
    kinks_latch(kinks);
    return is_at_zero(kink, x) ? decide_at_zero(kinks, k, x, t, y, error) : ZW_OK;
}

zw_status kinks_decide(step_kinks *kinks, double t, const double *y, zw_error *error)
{
    if (kinks->count == 0) {
        return ZW_OK;
    }
    kinks_release(kinks);
    kinks_values(kinks, t, y);
    for (int k = 0; k < kinks->count; k++) {
        kinks->kink[k].side = side_at(&kinks->kink[k], kinks->out[2 * k]);
    }
    kinks_latch(kinks);
    zw_status status = ZW_OK;
    for (int i = 0; i < kinks->count && status == ZW_OK; i++) {
        int k = kinks->order[i];
        kinks_values(kinks, t, y);
        status = decide_one(kinks, k, kinks->out[2 * k], t, y, error);
    }
    return status;
}

static zw_status cross_alone(step_kinks *kinks, int k, int upper, double t, const double *y,
                             zw_error *error)
{
    step_kink *kink = &kinks->kink[k];
    expr_interval rate;
    if (kink->is_floor) {
        kink->side += upper ? 1.0 : -1.0;
        kinks_latch(kinks);
        return ZW_OK;
    }
    double from = kink->side;
    kink->side = -from;
    zw_status status = rate_of(kinks, k, t, y, &rate, error);
    if (status == ZW_OK && sign_of(rate) == (from > 0 ? 1 : -1)) { /* it leads back */
        kink->side = from;
        status = rate_of(kinks, k, t, y, &rate, error);
        if (status == ZW_OK && sign_of(rate) == (from > 0 ? -1 : 1)) {
            if (kinks_jumps(kinks, k)) {
                return kinks_refuse(kinks, k, t, error);
            }
            kink->side = 0; /* it rests there */
            kinks_latch(kinks);
        }
    }
    return status;
}

static int has_jumped(double before, double now)
{
    return isfinite(now) &&
           (!isfinite(before) || fabs(now - before) > JUMPS * (1.0 + fabs(before)));
}

static void note_values(step_kinks *kinks, double t, const double *y)
{
    kinks_values(kinks, t, y);
    for (int k = 0; k < kinks->count; k++) {
        kinks->before[k] = kinks->out[2 * k];
        kinks->comes[k] = 0;
    }
}

/* Moves those at zero to their other sides, and updates others; the side of `given` is set
 * already. */
static zw_status settle(step_kinks *kinks, int given, double t, const double *y, zw_error *error)
{
    zw_status status = ZW_OK;
    int changed = given >= 0;
    for (int i = 0; i < kinks->count && status == ZW_OK; i++) {
        int k = kinks->order[i];
        kinks_values(kinks, t, y);
        double x = kinks->out[2 * k], side = kinks->kink[k].side;
        int comes = kinks->comes[k] || x != kinks->before[k];
        int stays = changed && comes && is_at_zero(&kinks->kink[k], x);
        if (k != given && (has_jumped(kinks->before[k], x) || stays)) {
            status = decide_one(kinks, k, x, t, y, error);
        } else if (kinks->comes[k]) {
            status = cross_alone(kinks, k, kinks->comes[k] == 2, t, y, error);
        }
        changed |= kinks->kink[k].side != side;
    }
    return status;
}

zw_status kinks_cross(step_kinks *kinks, const int *guard, int count, double t, const double *y,
                      zw_error *error)
{
    note_values(kinks, t, y);
    for (int i = 0; i < count; i++) {
        kinks->comes[guard[i] / 2] = 1 + guard[i] % 2;
    }
    return settle(kinks, -1, t, y, error);
}

zw_status kinks_take(step_kinks *kinks, int k, double side, double t, const double *y,
                     zw_error *error)
{
    note_values(kinks, t, y);
    kinks->kink[k].side = side;
    kinks_latch(kinks);
    return settle(kinks, k, t, y, error);
}
