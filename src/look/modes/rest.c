/* Rest: a position in which nothing accelerates when released.
 *
 * At speeds zero a(q) is a field on the positions; in an overdamped motion the system would follow
 * it, q' ~ a. An implicit step of that, with steps of length 1/s and G = N' a_q N for the columns
 * of N that speeds may have (linear.c), is
 *
 *     (s - G) y = N' a,      q <- q (+) N y,     then onto the constraints.
 *
 * With s = 0 it is Newton's method. s falls with the accelerations that are left, from the largest
 * eigenvalue of G to 0, so that the last steps are Newton's; but it is never less than twice the
 * largest real part of an eigenvalue: so it goes downhill, and leaves a maximum unless it starts
 * exactly on it. No step is longer than STRIDE of 1 + the coordinates, nor so long that there is no
 * position near its end that the constraints admit (a chain of many links), nor so long that
 * something penetrates something else: then it ends where that lands, and the contact is active
 * from there on.
 *
 * Where friction slides, a is 0 just where it begins to hold, and is 0 from there on. Steps go
 * BEYOND that border, so that it is crossed and not only approached: on it the forward problem
 * treats slow slips as zero (slopes_hold.c), and no direction remains to step along. What is left
 * is measured along N for the same reason; beside that (a drive, which no friction holds) no more
 * may be left than the slips that pass for zero there.
 *
 * Activations of actuators follow their controls, whatever the robot does: they are where that ends
 * from the start on. (So their own modes, with -1/tau, are not among those of linear.c, which are
 * exact nevertheless: the rates of activations do not depend on q and v.)
 *
 * A robot for which this fails relaxes by its own motion (rest_relax.c), and the search begins
 * again from there. A fall depends on its last digits: if that fails too, it falls again by shorter
 * steps. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/modes/linear.h"
#include "look/modes/rest_touch.h"
#include "look/slopes/slopes_bodies.h"
#include "math/dense/dense.h"
#include "math/dense/eigen.h"
#include "step/set.h"
#include "system/bodies/bodies.h"
#include "zwang/modes.h"

#define STRIDE 0.3
#define BEYOND 0.1
#define SHORTEST 0.125 /* of the steps by which a robot relaxes */
enum {
    HALVES = 12,
    LANDING = 40
}; /* of a step so long that constraints cannot be met after it;
      of one in which something lands */

typedef struct search {
    linear l;
    const zw_system *system;
    zw_state *state;
    zw_work *work;
    double *N;                         /* [n][n] rows that speeds may have, */
    int freedom;                       /* so many */
    double *K, *values, *y, *q, *zero; /* [n n], [2 n], [n], [nq], [n] */
    double *from;                      /* [nq] where a step begins */
    double
        scale; /* the largest acceleration on the way, free ones and those of unit ways included */
} search;

/* The directions that speeds may have: orthogonal to the derivatives by v of all active rows. */
static zw_status find_directions(search *s, zw_error *error)
{
    const linear *l = &s->l;
    size_t n = (size_t)s->system->n, wide = 2 * n;
    size_t forbidden = (size_t)l->rank;
    double *C = base_alloc((forbidden * n + n + 3 * forbidden + 1) * sizeof *C);
    int *order = base_alloc((forbidden + 1) * sizeof *order);
    if (!C || !order) {
        base_free(C);
        base_free(order);
        return base_no_memory(error);
    }
    /* (0, u) is tangent if it is orthogonal to all that is forbidden: by its part on v alone */
    for (size_t r = 0; r < forbidden; r++) {
        memcpy(C + r * n, l->tangent + r * wide + n, n * sizeof *C);
    }
    double *beta = C + forbidden * n;
    int rank = forbidden > 0
                   ? dense_lq((int)forbidden, (int)n, C, (int)n, 1e-9, order, beta, beta + n)
                   : 0;
    s->freedom = (int)n - rank;
    for (int i = 0; i < s->freedom; i++) {
        double *row = s->N + (size_t)i * n;
        memset(row, 0, n * sizeof *row);
        row[rank + i] = 1;
        dense_lq_apply(rank, (int)n, C, (int)n, beta, row);
    }
    base_free(C);
    base_free(order);
    return ZW_OK;
}

/* Computes the step y. */
static zw_status find_step(search *s, zw_error *error)
{
    const linear *l = &s->l;
    size_t n = (size_t)s->system->n, size = (size_t)s->freedom;
    double *G = s->K, most = 0, shift = 0;
    for (size_t j = 0; j < size; j++) {
        memset(s->y, 0, n * sizeof *s->y);
        for (size_t k = 0; k < n; k++) { /* a_q N_j */
            dense_axpy((int)n, s->N[j * n + k], l->answer.a_by + k * n, s->y);
        }
        for (size_t i = 0; i < size; i++) {
            G[i * size + j] = dense_dot((int)n, s->N + i * n, s->y);
        }
    }
    int found = dense_eigen(s->freedom, G, s->values, NULL);
    if (found <= 0) {
        return found < 0 ? base_no_memory(error)
                         : base_fail(error, ZW_NOT_REACHED, "the search for an equilibrium failed");
    }
    for (size_t k = 0; k < size; k++) {
        most = fmax(most, hypot(s->values[2 * k], s->values[2 * k + 1]));
        shift = fmax(shift, s->values[2 * k]);
    }
    shift = shift > 1e-9 * most ? 2 * shift : 0;
    double left = dense_largest((int)n, l->answer.a);
    shift = fmax(shift, (most + left) * left / s->scale); /* also where the field does not change */
    for (size_t i = 0; i < size; i++) {
        s->y[i] = dense_dot((int)n, s->N + i * n, l->answer.a);
        for (size_t j = 0; j < size; j++) {
            G[i * size + j] = (i == j ? shift : 0) - G[i * size + j];
        }
    }
    return slopes_solve(s->freedom, 1, G, s->y) >= 0 ? ZW_OK : base_no_memory(error);
}

/* The state after the fraction h of the step: constraints are met, active contacts closed. */
static zw_status move(search *s, rest_touch *touch, double h, const double *along, int *sinks,
                      zw_error *error)
{
    const zw_system *system = s->system;
    memcpy(s->q, s->from, (size_t)system->nq * sizeof *s->q);
    system_move(system, s->q, h, along);
    zw_status status = rest_touch_close(touch, s->q, error);
    if (status == ZW_OK) {
        status = set_held(system, s->state, s->work, ZW_FIELD_Q, s->q, error);
    }
    return status == ZW_OK ? rest_touch_sinks(touch, state_q(s->state), sinks, error) : status;
}

/* Moves as far as possible without penetration. */
static zw_status land(search *s, rest_touch *touch, double h, const double *along, zw_error *error)
{
    double low = 0, high = h;
    zw_status status = ZW_OK;
    for (int k = 0; k < LANDING && status != ZW_NO_MEMORY; k++) {
        int sinks = 1;
        status = move(s, touch, 0.5 * (low + high), along, &sinks, error);
        *(status != ZW_OK || sinks ? &high : &low) = 0.5 * (low + high);
    }
    int sinks;
    return status == ZW_NO_MEMORY ? status : move(s, touch, low, along, &sinks, error);
}

static int slides(const search *s)
{
    const slopes_bodies *bodies = s->l.slopes->by_bodies ? s->l.slopes->bodies : NULL;
    int any = 0;
    for (int k = 0; bodies && k < bodies->holds; k++) {
        const slopes_hold *it = &bodies->hold[k];
        any |= it->kind == HOLD_SLIP || (it->kind == HOLD_POINT && it->way != WAY_HELD);
    }
    return any;
}

static zw_status take_step(search *s, zw_error *error)
{
    size_t n = (size_t)s->system->n;
    double *along = s->values, longest = 0, size = 1;
    rest_touch touch;
    memset(along, 0, n * sizeof *along);
    for (int i = 0; i < s->freedom; i++) {
        dense_axpy((int)n, s->y[i], s->N + (size_t)i * n, along);
    }
    for (size_t i = 0; i < n; i++) {
        longest = fmax(longest, fabs(along[i]));
    }
    memcpy(s->from, state_q(s->state), (size_t)s->system->nq * sizeof *s->q);
    for (int i = 0; i < s->system->nq; i++) {
        size = fmax(size, fabs(s->from[i]));
    }
    double h = longest > STRIDE * size ? STRIDE * size / longest : slides(s) ? 1 + BEYOND : 1;
    zw_status status = rest_touch_begin(&touch, &s->l, s->from, error);
    int sinks = 0, good = status == ZW_OK;
    status = good ? ZW_CONFLICT : status;
    for (int k = 0; good && k < HALVES && status != ZW_OK && status != ZW_NO_MEMORY; k++) {
        status = move(s, &touch, h, along, &sinks, error);
        h *= status == ZW_OK ? 1 : 0.5;
    }
    if (status == ZW_OK && sinks) {
        status = land(s, &touch, h, along, error);
    }
    rest_touch_free(&touch);
    return status == ZW_OK ? set_held(s->system, s->state, s->work, ZW_FIELD_V, s->zero, error)
                           : status;
}

/* The largest acceleration, and that along the admissible directions. */
static double measure(search *s, double *along)
{
    zw_view a_free = zw_field(s->system, s->state, s->l.slopes->work, ZW_FIELD_A_FREE);
    const double *a = s->l.answer.a;
    int n = s->system->n;
    double most = dense_largest(n, a);
    memset(s->y, 0, (size_t)n * sizeof *s->y);
    for (int i = 0; i < s->freedom; i++) { /* N N' a */
        const double *row = s->N + (size_t)i * (size_t)n;
        dense_axpy(n, dense_dot(n, row, a), row, s->y);
    }
    *along = dense_largest(n, s->y);
    s->scale = fmax(s->scale, dense_largest(n * n, s->l.answer.a_by)); /* by the coordinates */
    for (int i = 0; i < n; i++) {
        s->scale = isfinite(a_free.data[i]) ? fmax(s->scale, fabs(a_free.data[i])) : s->scale;
    }
    s->scale = fmax(s->scale, most);
    return most;
}

/* The coordinate whose speed this is; falls: of a body that nothing carries. */
static int coordinate_of(const zw_system *system, int speed, double a, int *falls)
{
    const tree_mechanism *tree = system->tree;
    int found = speed;
    *falls = 0;
    for (int j = 0; tree && j < tree->joints; j++) { /* in the order of their speeds */
        const tree_joint *joint = &tree->joint[j];
        int past = speed - joint->v;
        found = past >= 0 ? joint->q + past : found;
        if (past >= 0 && past < 3 && joint->kind == TREE_FREE) {
            double pull = tree->gravity[past];
            *falls = pull != 0 && fabs(a - pull) < 1e-9 * fabs(pull);
        }
    }
    return found;
}

static zw_status not_found(const search *s, int steps, zw_error *error)
{
    const zw_system *system = s->system;
    const double *a = s->l.answer.a;
    int worst = 0, falls;
    for (int i = 1; i < system->n; i++) {
        worst = fabs(a[i]) > fabs(a[worst]) ? i : worst;
    }
    const model_coord *coord =
        &system->model->coord[coordinate_of(system, worst, a[worst], &falls)];
    return model_fail(system->model, error, ZW_NOT_REACHED, coord->place,
                      "no equilibrium was found near the start: after %d steps %s still "
                      "accelerates by %.3g%s",
                      steps, coord->name, a[worst],
                      falls ? ": it falls freely, and there is nothing that it could land on" : "");
}

static zw_status follow(search *s, const zw_rest_options *options, zw_rest_report *report,
                        zw_error *error)
{
    int most = options->iterations > 0 ? options->iterations : 200;
    double tolerance = options->tolerance > 0 ? options->tolerance : 1e-10, along;
    zw_status status = set_held(s->system, s->state, s->work, ZW_FIELD_V, s->zero, error);
    for (int k = 0; status == ZW_OK; k++, report->iterations++) {
        status = linear_look(&s->l, s->state, 1, error);
        status = status == ZW_OK ? find_directions(s, error) : status;
        if (status != ZW_OK) {
            break;
        }
        report->acceleration = measure(s, &along);
        int ends = along <= tolerance * s->scale;
        if (ends && report->acceleration <= fmax(SLOPES_STILL, tolerance) * s->scale) {
            return ZW_OK;
        }
        if (k == most || ends) {
            return not_found(s, report->iterations, error);
        }
        status = find_step(s, error);
        status = status == ZW_OK ? take_step(s, error) : status;
    }
    return status;
}

/* Activations where they stay with these controls. */
static zw_status settle_activations(search *s, zw_error *error)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->tree ? system->bodies : NULL;
    if (!bodies || bodies->act_count == 0) {
        return ZW_OK;
    }
    zw_status status = zw_forward(system, s->state, s->work, NULL, error);
    for (int k = 0; k < bodies->act_count && status == ZW_OK; k++) {
        const int index = bodies->act_motor[k], at = system->n + system->law.carried + k;
        double *now = state_v(s->state) + at;
        *now = s->work->a[at] != 0
                   ? bodies_activated(system, s->work, &bodies->motor[index], *now, HUGE_VAL)
                   : *now;
        if (!isfinite(*now)) {
            return base_fail(error, ZW_NOT_REACHED,
                             "no equilibrium: the activation of %s grows without end with this "
                             "control",
                             zw_name(system, ZW_KIND_PARAM, bodies->motor[index].param));
        }
    }
    zw_wake(s->state);
    return status;
}

/* From the start on, or from where the robot relaxes to. */
static zw_status search_all(search *s, const zw_rest_options *options, const double *start,
                            zw_rest_report *report, zw_error *error)
{
    const zw_system *system = s->system;
    zw_status status = follow(s, options, report, error);
    int never = status == ZW_BAD_INPUT && report->iterations == 0;
    if (status == ZW_OK || status == ZW_NO_MEMORY || never || !system->tree) {
        return status;
    }
    for (double step = 1; step >= SHORTEST && status != ZW_OK; step /= 2) {
        status = set_held(system, s->state, s->work, ZW_FIELD_Q, start, error);
        if (status == ZW_OK) {
            status = set_held(system, s->state, s->work, ZW_FIELD_V, s->zero, error);
        }
        status = status == ZW_OK ? rest_relax(system, s->state, s->work, step, error) : status;
        status = status == ZW_OK ? follow(s, options, report, error) : status;
        if (status == ZW_NO_MEMORY) {
            return status;
        }
    }
    if (status == ZW_NOT_REACHED) {
        status = linear_look(&s->l, s->state, 1, error);
        return status == ZW_OK ? not_found(s, report->iterations, error) : status;
    }
    return status;
}

zw_status zw_rest(const zw_model *model, const zw_system *system, zw_state *state, zw_work *work,
                  const zw_rest_options *options, zw_rest_report *report, zw_error *error)
{
    static const zw_rest_options usual = {0};
    zw_rest_report own = {0};
    size_t n = (size_t)system->n, nq = (size_t)system->nq;
    search s = {.system = system, .state = state, .work = work};
    double *scratch = base_alloc((2 * n * n + 5 * n + 3 * nq + 8) * sizeof *scratch);
    if (!scratch) {
        return base_no_memory(error);
    }
    s.N = scratch;
    s.K = s.N + n * n;
    s.values = s.K + n * n;
    s.y = s.values + 2 * n;
    s.zero = s.y + n;
    s.q = s.zero + n;
    s.from = s.q + nq;
    double *before = s.from + nq;
    memcpy(before, state_q(state), nq * sizeof *before);
    zw_status status = linear_create(&s.l, model, system, error);
    status = status == ZW_OK ? settle_activations(&s, error) : status;
    status =
        status == ZW_OK ? search_all(&s, options ? options : &usual, before, &own, error) : status;
    for (size_t i = 0; i < nq; i++) {
        own.moved = fmax(own.moved, fabs(state_q(state)[i] - before[i]));
    }
    if (report) {
        *report = own;
    }
    linear_free(&s.l);
    base_free(scratch);
    return status;
}
