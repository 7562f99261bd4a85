#include "step/events/guard.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/events/decide.h"
#include "system/formulas.h"

static int one_sided(const model_constraint *constraint)
{
    return constraint->relation == MODEL_AT_LEAST;
}

static unsigned depends(const step_guards *guards, expr_id node)
{
    const zw_model *model = guards->motion->system->model;
    return (unsigned)expr_graph_node(model->graph, node)->depends & ~(unsigned)EXPR_ON_PARAM;
}

/* ---- Kinds ------------------------------------------------------------------------------------*/

static int kind_of_part(const step_guards *guards, int i)
{
    const zw_system *system = guards->motion->system;
    unsigned on = depends(guards, guards->root[i]);
    if ((on & ~(unsigned)EXPR_ON_TIME) == 0) {
        return STEP_EVENT_OF_TIME;
    }
    return system->tree || on & (EXPR_ON_ACCEL | EXPR_ON_LAMBDA) ? STEP_EVENT_SAMPLED
                                                                 : STEP_EVENT_FORMULA;
}

static int kind_of_constraint(const step_guards *guards, int k)
{
    int mode = guards->motion->work->mode[guards->constraint[k]];
    int formula = guards->motion->system->tree ? STEP_EVENT_SAMPLED : STEP_EVENT_FORMULA;
    if (guards->what[k] == GUARD_GAP) {
        return mode == SYSTEM_OPEN ? formula : STEP_EVENT_SAMPLED;
    }
    if (guards->what[k] == GUARD_SIGN) {
        return guards->motion->work->press[guards->constraint[k]] ? STEP_EVENT_SAMPLED
                                                                  : STEP_EVENT_OFF;
    }
    return mode == SYSTEM_STUCK    ? STEP_EVENT_SAMPLED
           : mode == SYSTEM_CLOSED ? formula
                                   : STEP_EVENT_OFF;
}

/* A gap that starts at zero is known to round-off, and a bouncing body must not sink. But one that
 * is open at rest, held by friction or by a force that is nearly zero, is known only as well as the
 * kernel's decision: speeds below SYSTEM_REST of the largest, BESIDE of its terms. */
static double slack_of_gap(const step_guards *guards, int c, double rest)
{
    const double BESIDE = 1e-9;
    const zw_system *system = guards->motion->system;
    const zw_work *work = guards->motion->work;
    const double *A = work->out[PART_POSITION] + system->m;
    double size = 1.0;
    int r = system->first_row[c];
    for (int i = system->A_start[r]; i < system->A_start[r + 1]; i++) {
        size += fabs(A[i] * guards->y[system->A_column[i]]);
    }
    return fabs(work->out[PART_VELOCITY][r]) <= rest ? BESIDE * size : 0.0;
}

/* Steps keep speeds to the tolerance times 1 + |v|, and forces follow from these. So a contact that
 * closes without force, or a joint that begins to slide without acceleration, is not clearly away
 * from zero below that. */
static void list_slack(const step_guards *guards, double *slack)
{
    const zw_system *system = guards->motion->system;
    zw_work *work = guards->motion->work;
    const double *v = guards->y + system->nq;
    double force = 1.0, speed = 1.0;
    for (int i = 0; i < work->motion->rows; i++) {
        force = fmax(force, fabs(work->motion->answer.lambda[i]));
    }
    for (int i = 0; i < system->n; i++) {
        speed = fmax(speed, fabs(v[i]));
    }
    int known = guards->others > 0 && system_evaluate(system, work, PART_VELOCITY, guards->t,
                                                      guards->y, v, NULL, NULL, NULL) == ZW_OK;
    memset(slack, 0, (size_t)guards->count * sizeof *slack);
    for (int k = 0; k < guards->others; k++) {
        int c = guards->constraint[k], mode = work->mode[c], what = guards->what[k];
        double *to = &slack[guards->parts + k];
        if (what == GUARD_GAP && mode == SYSTEM_OPEN) {
            *to = known ? slack_of_gap(guards, c, SYSTEM_REST * speed) : 0.0;
        } else {
            int slides = what == GUARD_SLIP && mode == SYSTEM_CLOSED;
            *to = guards->tolerance * (slides ? 1.0 : force);
        }
    }
    for (int i = guards->parts + guards->others; i < guards->count; i++) {
        int k = guards->kink[i - guards->parts - guards->others] / 2;
        slack[i] = kinks_rest(&guards->kinks, k, guards->t, guards->y, GUARD_ROUND);
    }
}

static void sort(void *user, int *kind, int *is_guard, double *slack)
{
    step_guards *guards = user;
    if (slack) {
        list_slack(guards, slack);
    }
    for (int i = 0; i < guards->parts; i++) {
        kind[i] = guards_is_at_rest(guards, i) ? STEP_EVENT_SAMPLED : kind_of_part(guards, i);
        is_guard[i] = 0;
    }
    for (int k = 0; k < guards->others; k++) {
        kind[guards->parts + k] = kind_of_constraint(guards, k);
        is_guard[guards->parts + k] = 1;
    }
    for (int i = guards->parts + guards->others; i < guards->count; i++) {
        const step_kink *kink =
            &guards->kinks.kink[guards->kink[i - guards->parts - guards->others] / 2];
        kind[i] = kink->side != kink->side ? STEP_EVENT_OFF
                  : kink->of_time          ? STEP_EVENT_OF_TIME
                                           : STEP_EVENT_FORMULA;
        is_guard[i] = kink->is_floor || kink->side != 0.0;
    }
    if (guards->tape) {
        expr_tape_prepare(guards->tape, guards->motion->work->param, guards->registers);
        if (guards->kinks.count > 0) {
            kinks_latch_tape(&guards->kinks, guards->tape, guards->registers);
        }
        expr_enclose_prepare(guards->tape, guards->registers, guards->jets);
    }
    if (slack && guards->parts > 0) {
        guards_find_rest(guards, slack);
    }
}

/* ---- Values -----------------------------------------------------------------------------------*/

static int needs_forces(const step_guards *guards)
{
    for (int i = 0; i < guards->parts; i++) {
        unsigned on = depends(guards, guards->root[i]);
        if (on & (EXPR_ON_ACCEL | EXPR_ON_LAMBDA)) {
            return 1;
        }
    }
    for (int k = 0; k < guards->others; k++) {
        int mode = guards->motion->work->mode[guards->constraint[k]];
        if ((guards->what[k] == GUARD_SLIP && mode == SYSTEM_STUCK) ||
            (guards->what[k] == GUARD_GAP && mode != SYSTEM_OPEN) ||
            (guards->what[k] == GUARD_SIGN && mode == SYSTEM_CLOSED)) {
            return 1;
        }
    }
    return 0;
}

static double guard_of(const step_guards *guards, int k)
{
    const zw_system *system = guards->motion->system;
    const zw_work *work = guards->motion->work;
    int c = guards->constraint[k], mode = work->mode[c], r = system->first_row[c];
    if (guards->what[k] == GUARD_GAP) {
        return mode == SYSTEM_OPEN ? work->out[PART_POSITION][r] : work->lambda[r];
    }
    if (guards->what[k] == GUARD_SIGN) {
        return work->press[c] ? work->press[c] * work->lambda[r] : 1;
    }
    if (mode == SYSTEM_STUCK) {
        return system_hold(system, work, c);
    }
    return mode == SYSTEM_CLOSED ? system_slide(system, work, c) : 1;
}

/* Guard j of the kinks from a - b, or from a for a floor. */
static double guard_of_kink(const step_guards *guards, int j, double x)
{
    const step_kink *kink = &guards->kinks.kink[guards->kink[j] / 2];
    if (kink->side != kink->side) {
        return 1.0; /* no value here */
    }
    if (kink->is_floor) {
        return guards->kink[j] % 2 ? kink->side + 1.0 - x : x - kink->side;
    }
    return kink->side < 0.0 ? -x : x;
}

static void values_of_kinks(const step_guards *guards, double t, const double *y, double *g)
{
    kinks_values(&guards->kinks, t, y);
    for (int j = 0; j < guards->count - guards->parts - guards->others; j++) {
        g[j] = guard_of_kink(guards, j, guards->kinks.out[guards->kink[j] / 2 * 2]);
    }
}

/* Computes accelerations and multipliers into the work. */
static zw_status forces_at(const step_guards *guards, double t, const double *y, zw_error *error)
{
    const zw_system *system = guards->motion->system;
    zw_work *work = guards->motion->work;
    zw_status status = system_accelerate(system, work, t, y, y + system->nq, work->a, error);
    if (status == ZW_OK && work->motion->rows > 0) {
        solver_multipliers(work->motion, work->lambda);
    } else { /* nothing is closed */
        memset(work->lambda, 0, (size_t)system->m * sizeof *work->lambda);
    }
    return status;
}

zw_status guards_evaluate(void *user, double t, const double *y, double *g, zw_error *error)
{
    step_guards *guards = user;
    const zw_system *system = guards->motion->system;
    zw_work *work = guards->motion->work;
    const double *q = y, *v = y + system->nq;
    guards->t = t;
    guards->y = y;
    zw_status status = needs_forces(guards) ? forces_at(guards, t, y, error) : ZW_OK;
    if (status == ZW_OK && guards->others > 0) {
        status = system_evaluate(system, work, PART_POSITION, t, q, v, NULL, NULL, error);
    }
    if (status == ZW_OK && guards->others > 0) {
        status = system_evaluate(system, work, PART_SLIP, t, q, v, NULL, NULL, error);
    }
    if (status == ZW_OK && guards->parts > 0) {
        status = system_evaluate(system, work, PART_EVENTS, t, q, v, work->a, work->lambda, error);
        memcpy(g, work->out[PART_EVENTS], (size_t)guards->parts * sizeof *g);
    }
    for (int k = 0; k < guards->others && status == ZW_OK; k++) {
        g[guards->parts + k] = guard_of(guards, k);
    }
    if (status == ZW_OK && guards->count > guards->parts + guards->others) {
        values_of_kinks(guards, t, y, g + guards->parts + guards->others);
    }
    return status == ZW_OK ? guards_look_at_rest(guards, t, y, g, error) : status;
}

/* ---- Enclosures -------------------------------------------------------------------------------*/

/* The sliding speed along the hint: a sum over the outputs of its speeds. */
static expr_jet slide(const step_guards *guards, int k)
{
    int c = guards->constraint[k], at = guards->at[guards->parts + k];
    const double *hint = guards->motion->work->hint + 3 * c;
    expr_jet sum = {interval_point(0.0), interval_point(0.0)};
    for (int i = 0; i < guards->motion->system->slip[c].width; i++) {
        expr_interval d = interval_point(hint[i]);
        sum.value = interval_add(sum.value, interval_mul(d, guards->out[at + i].value));
        sum.rate = interval_add(sum.rate, interval_mul(d, guards->out[at + i].rate));
    }
    return sum;
}

static expr_jet enclose_kink(const step_guards *guards, int j)
{
    const step_kink *kink = &guards->kinks.kink[guards->kink[j] / 2];
    expr_jet x = guards->kinks.jet_out[guards->kink[j] / 2 * 2];
    int down = kink->is_floor ? guards->kink[j] % 2 : kink->side < 0.0;
    if (kink->is_floor) {
        expr_interval level = interval_point(kink->side + down);
        x.value = interval_sub(x.value, level);
    }
    return down ? (expr_jet){interval_neg(x.value), interval_neg(x.rate)} : x;
}

static void enclose(void *user, const step_piece *piece, expr_jet *g)
{
    const step_guards *guards = user;
    const expr_jets in = {.t = piece->t, .q = piece->y, .v = piece->y + guards->motion->system->nq};
    if (guards->tape) {
        expr_enclose_run(guards->tape, &in, guards->jets, guards->out);
    }
    for (int i = 0; i < guards->parts + guards->others; i++) {
        int k = i - guards->parts;
        if (guards->at[i] < 0) {
            continue;
        }
        g[i] =
            k >= 0 && guards->what[k] == GUARD_SLIP ? slide(guards, k) : guards->out[guards->at[i]];
    }
    if (guards->count > guards->parts + guards->others) {
        kinks_enclose(&guards->kinks, &in);
    }
    for (int i = guards->parts + guards->others; i < guards->count; i++) {
        g[i] = enclose_kink(guards, i - guards->parts - guards->others);
    }
}

/* ---- Creation ---------------------------------------------------------------------------------*/

/* The list of guards; with NULL only counts them. */
static int list(const zw_system *system, step_guards *guards)
{
    int k = 0;
    for (int c = 0; c < system->model->constraint_count; c++) {
        const model_constraint *constraint = &system->model->constraint[c];
        const int has[] = {[GUARD_GAP] = one_sided(constraint),
                           [GUARD_SLIP] = constraint->friction != EXPR_NONE,
                           [GUARD_SIGN] = constraint->friction != EXPR_NONE &&
                                          system_presses_both_ways(system, c)};
        for (int what = GUARD_GAP; what <= GUARD_SIGN; what++) {
            if (has[what] && guards) {
                guards->constraint[k] = c;
                guards->what[k] = what;
            }
            k += has[what];
        }
    }
    return k;
}

/* With an unknown sign the law uses |N|; its solution gives the sign. */
static zw_status see_signs(step_guards *guards, double t, const double *y, zw_error *error)
{
    const zw_system *system = guards->motion->system;
    zw_work *work = guards->motion->work;
    int unknown = 0;
    for (int k = 0; k < guards->others; k++) {
        if (guards->what[k] == GUARD_SIGN) {
            int c = guards->constraint[k], slides = work->mode[c] == SYSTEM_CLOSED;
            work->press[c] = slides ? work->press[c] : 0;
            unknown |= slides && !work->press[c];
        }
    }
    zw_status status =
        unknown ? system_accelerate(system, work, t, y, y + system->nq, work->a, error) : ZW_OK;
    if (!unknown || status != ZW_OK) {
        return status;
    }
    solver_multipliers(work->motion, work->lambda);
    for (int k = 0; k < guards->others; k++) {
        int c = guards->constraint[k];
        if (guards->what[k] == GUARD_SIGN && work->mode[c] == SYSTEM_CLOSED && !work->press[c]) {
            work->press[c] = work->lambda[system->first_row[c]] < 0 ? -1 : 1;
        }
    }
    return ZW_OK;
}

zw_status guards_decide(step_guards *guards, double t, const double *y, zw_error *error)
{
    zw_status status = kinks_decide(&guards->kinks, t, y, error);
    return status == ZW_OK ? see_signs(guards, t, y, error) : status;
}

/* A sign that the force contradicts becomes unknown again. */
zw_status guards_see_signs(step_guards *guards, double t, const double *y, zw_error *error)
{
    zw_work *work = guards->motion->work;
    int known = 0;
    for (int k = 0; k < guards->others; k++) {
        known |= guards->what[k] == GUARD_SIGN && work->press[guards->constraint[k]];
    }
    zw_status status = known ? forces_at(guards, t, y, error) : ZW_OK;
    for (int k = 0; k < guards->others && known && status == ZW_OK; k++) {
        if (guards->what[k] == GUARD_SIGN && guard_of(guards, k) < 0) {
            work->press[guards->constraint[k]] = 0;
        }
    }
    return status == ZW_OK ? see_signs(guards, t, y, error) : status;
}

/* Forces are known to the tolerance of the steps, and decisions leave what is within DECIDE_BORDER
 * of zero unchanged. */
zw_status guards_are_denied(step_guards *guards, double t, const double *y, int *denied,
                            zw_error *error)
{
    const zw_work *work = guards->motion->work;
    *denied = 0;
    if (guards->others == 0 || !needs_forces(guards)) {
        return ZW_OK;
    }
    zw_status status = forces_at(guards, t, y, error);
    double most = 0;
    for (int i = 0; i < work->motion->rows && status == ZW_OK; i++) {
        most = fmax(most, fabs(work->motion->answer.lambda[i]));
    }
    for (int k = 0; k < guards->others && status == ZW_OK; k++) {
        int mode = work->mode[guards->constraint[k]], what = guards->what[k];
        int of_force = what == GUARD_GAP    ? mode != SYSTEM_OPEN
                       : what == GUARD_SLIP ? mode == SYSTEM_STUCK
                                            : 0;
        *denied |=
            of_force && guard_of(guards, k) < -2 * fmax(guards->tolerance, DECIDE_BORDER) * most;
    }
    return status;
}

void guards_release(const step_guards *guards)
{
    kinks_release(&guards->kinks);
    if (guards->motion) {
        int constraints = guards->motion->system->model->constraint_count;
        memset(guards->motion->work->press, 0, (size_t)constraints * sizeof(int));
        guards->motion->work->tolerance = 0;
    }
}

int guards_have_branches(const step_guards *guards)
{
    int signs = 0;
    for (int k = 0; k < guards->others; k++) {
        signs |= guards->what[k] == GUARD_SIGN;
    }
    return signs || guards->kinks.count > 0;
}

int guards_turn_sign(const step_guards *guards, int k)
{
    int sign = guards->what[k] == GUARD_SIGN;
    if (sign) {
        guards->motion->work->press[guards->constraint[k]] *= -1;
    }
    return sign;
}

static int list_kinks(const step_kinks *kinks, int *guard)
{
    int count = 0;
    for (int k = 0; k < kinks->count; k++) {
        for (int end = 0; end <= kinks->kink[k].is_floor; end++) {
            if (guard) {
                guard[count] = 2 * k + end;
            }
            count++;
        }
    }
    return count;
}

/* Puts the formulas of events and constraints into out (NULL: counts them), and notes where each
 * begins. */
static int list_formulas(step_guards *guards, expr_id *out)
{
    const zw_system *system = guards->motion->system;
    int count = 0;
    for (int i = 0; i < guards->parts; i++) {
        int is = kind_of_part(guards, i) != STEP_EVENT_SAMPLED;
        guards->at[i] = is ? count : -1;
        if (is && out) {
            out[count] = guards->root[i];
        }
        count += is;
    }
    for (int k = 0; k < guards->others; k++) {
        int c = guards->constraint[k], friction = guards->what[k] == GUARD_SLIP;
        int is = !system->tree && guards->what[k] != GUARD_SIGN;
        int width = !is ? 0 : friction ? system->slip[c].width : 1;
        const system_tape *tape = &system->tape[friction ? PART_SLIP : PART_POSITION];
        int first = friction ? system->slip[c].at : system->first_row[c];
        guards->at[guards->parts + k] = width > 0 ? count : -1;
        for (int i = 0; i < width && out; i++) {
            out[count + i] = tape->out[first + i];
        }
        count += width;
    }
    return count;
}

static zw_status make_tape(step_guards *guards, zw_error *error)
{
    const zw_system *system = guards->motion->system;
    int count = list_formulas(guards, NULL);
    if (count == 0) {
        return ZW_OK;
    }
    expr_id *out = base_alloc((size_t)count * sizeof *out);
    if (!out) {
        return base_no_memory(error);
    }
    list_formulas(guards, out);
    guards->tape = expr_tape_create(system->model->graph, &system->shape, out, count, error);
    base_free(out);
    if (!guards->tape) {
        return ZW_NO_MEMORY;
    }
    size_t registers = expr_tape_registers(guards->tape) + 1;
    guards->registers = base_alloc(registers * sizeof(double));
    guards->jets = base_alloc(registers * sizeof(expr_jet));
    guards->out = base_alloc((size_t)count * sizeof(expr_jet));
    if (!guards->registers || !guards->jets || !guards->out) {
        return base_no_memory(error);
    }
    return kinks_meet(&guards->kinks, guards->tape, error);
}

/* The components of y that formulas read. */
static int list_components(const step_guards *guards, int *component)
{
    const expr_tape *tape[] = {guards->tape, guards->kinks.tape};
    int nq = guards->motion->system->nq, count = 0;
    for (int i = 0; i < guards->motion->size; i++) {
        int reads = 0;
        for (int k = 0; k < 2; k++) {
            int first, number, at = i < nq ? i : i - nq;
            if (tape[k]) {
                expr_tape_reads(tape[k], i < nq ? EXPR_COORD : EXPR_SPEED, &first, &number);
                reads |= at >= first && at < first + number;
            }
        }
        if (reads) {
            component[count++] = i;
        }
    }
    return count;
}

static zw_status make_scan(step_guards *guards, int jumps, zw_error *error)
{
    const zw_model *model = guards->motion->system->model;
    int *direction = base_alloc(3 * (size_t)guards->count * sizeof(int)), *mark;
    int *component = base_alloc(((size_t)guards->motion->size + 1) * sizeof(int));
    guards->component = component;
    if (direction && component) {
        for (int i = 0; i < guards->count; i++) {
            const model_event *event = i < guards->parts ? &model->event[guards->part_of[i]] : NULL;
            direction[i] = event ? event->direction : -1;
            direction[guards->count + i] = event && event->condition;
            mark = &direction[2 * guards->count + i];
            *mark = event && !jumps && event->part_count == 1 && event->reset_count == 0 &&
                    !event->stops;
        }
        const step_event_options options = {.count = guards->count,
                                            .n = guards->motion->size,
                                            .direction = direction,
                                            .condition = direction + guards->count,
                                            .mark = direction + 2 * guards->count,
                                            .function = guards_evaluate,
                                            .single = guards_evaluate_one,
                                            .sort = sort,
                                            .enclose = enclose,
                                            .jumps = jumps,
                                            .component = component,
                                            .component_count = list_components(guards, component),
                                            .user = guards};
        guards->scan = step_events_create(&options, error);
    }
    base_free(direction);
    return guards->scan ? ZW_OK : base_no_memory(error);
}

zw_status guards_create(step_guards *guards, step_motion *motion, int events_only, double tolerance,
                        zw_error *error)
{
    const zw_model *model = motion->system->model;
    *guards = (step_guards){.motion = motion,
                            .events = model->event_count,
                            .tolerance = tolerance,
                            .in_steps = events_only};
    guards->parts = system_formulas(motion->system, PART_EVENTS, &guards->root);
    memset(motion->work->press, 0, (size_t)model->constraint_count * sizeof(int));
    guards->others = events_only ? 0 : list(motion->system, NULL);
    zw_status status = kinks_create(&guards->kinks, motion, events_only, error);
    if (status != ZW_OK) {
        return status;
    }
    int kinks = list_kinks(&guards->kinks, NULL);
    guards->count = guards->parts + guards->others + kinks;
    if (guards->count == 0) {
        return ZW_OK;
    }
    size_t others = (size_t)guards->others + 1;
    guards->constraint = base_alloc(others * sizeof(int));
    guards->what = base_alloc(others * sizeof(int));
    guards->at = base_alloc(((size_t)guards->parts + others) * sizeof(int));
    guards->kink = base_alloc(((size_t)kinks + 1) * sizeof(int));
    guards->crossing = base_alloc(((size_t)kinks + 1) * sizeof(int));
    if (!guards->constraint || !guards->what || !guards->at || !guards->kink || !guards->crossing ||
        !guards_make_conditions(guards) || !guards_make_rest(guards)) {
        status = base_no_memory(error);
    }
    if (status == ZW_OK) {
        if (!events_only) {
            list(motion->system, guards);
        }
        list_kinks(&guards->kinks, guards->kink);
        status = make_tape(guards, error);
    }
    status = status == ZW_OK ? make_scan(guards, events_only, error) : status;
    if (status != ZW_OK) {
        guards_free(guards);
    }
    return status;
}

void guards_free(step_guards *guards)
{
    step_events_free(guards->scan);
    kinks_free(&guards->kinks);
    expr_tape_free(guards->tape);
    void *memory[] = {guards->constraint, guards->what,      guards->kink,    guards->at,
                      guards->registers,  guards->jets,      guards->out,     guards->component,
                      guards->rests,      guards->around,    guards->near,    guards->part_of,
                      guards->holds,      guards->held,      guards->happens, guards->compared,
                      guards->crossing,   guards->rest_jets, guards->rest_out};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        base_free(memory[i]);
    }
    *guards = (step_guards){0};
}
