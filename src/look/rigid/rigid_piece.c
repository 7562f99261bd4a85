/* A piece of a step by method impulse: derivatives of its end by its start.
 *
 * A piece from (q0, v0) over h has been solved: u and multipliers lambda satisfy the balance and
 * the laws of the rows (impulse.c), then v1 and mu those of the speeds at its end
 * (impulse_close.c):
 *
 *     F(u, lambda; q0, v0, h, p) = 0        R = r(u) - B' lambda;    the laws of rigid_law.c
 *     G(v1, mu, u, lambda; q0, v0, h, p) = 0
 *
 * These are differentiated where they hold (the implicit function theorem), with the modes that
 * there are: no round is repeated. F_u du + F_lambda dlambda = -F_q dq0 - ..., and the same for G:
 * two linear systems, one after the other. Rows may depend on each other: multipliers are then not
 * determined, but what they push is (slopes_solve.c).
 *
 * Slopes by multipliers and by v1 are there. Those by u, q0, v0, h and p are differences of the
 * equations, not of solutions: with f at four places, (8 (f1 - f-1) - (f2 - f-2))/12 s, where
 * places move by s = 4.9e-4 (m or rad) and speeds by s/h, or by less where that is too far
 * (number.h). The error by their length is of order s^4, round-off gives 1e-12; directions of slip,
 * which may change quickly, and laws of boxes are not in them (rigid_law.c). theta and sigma are.
 * The equations are evaluated by the functions that a step has them of (impulse_again.c), so that
 * there is no second form of them. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/rigid/rigid.h"
#include "system/bodies/bodies.h"
#include "system/bodies/bodies_side.h"
#include "tree/sweeps.h"

#define SMALL (RIGID_REACH / 16) /* m, rad; of a parameter, this part */
#define LONGER 0x1p-9            /* of the length of the piece */

typedef enum rigid_what { BY_U, BY_Q, BY_V, BY_ACT, BY_H, BY_T, BY_PARAM } rigid_what;

/* ---- What was solved ------------------------------------------------------------------------- */

static int note_block_keys(sens_rigid *r)
{
    const rigid_half *half = &r->half[1];
    if (half->blocks > r->block_key_capacity) {
        base_free(r->block_key);
        r->block_key = base_alloc(2 * (size_t)half->blocks * sizeof *r->block_key);
        r->block_key_capacity = r->block_key ? 2 * half->blocks : 0;
    }
    for (int b = 0; b < half->blocks && half->blocks <= r->block_key_capacity; b++) {
        r->block_key[b] = (impulse_block_key){.key = half->block[b].key,
                                              .apart = half->block[b].kind == ZW_EQUALITY};
    }
    return half->blocks <= r->block_key_capacity;
}

static void note_kinks(sens_rigid *r, const step_impulse *s)
{
    if (impulse_roll_jumps(s, RIGID_NEAR)) {
        rigid_note_kink(r, "a contact point that moves far in a step");
    }
    for (int i = 0; i < s->touch.deep_count; i++) { /* what is deeper than round-off */
        if (s->touch.deep[i].fixed || s->touch.deep[i].left > 1e-9 * impulse_extent(s)) {
            rigid_note_kink(r, "overlapping shapes");
        }
    }
    if (s->touch.stuck_count > 0 || impulse_parts(s)) { /* the way out is not differentiated */
        rigid_note_open(r, "overlapping shapes");
    }
    for (int j = 0; s->touch.is_there && j < s->touch.stay.count; j++) {
        if (impulse_stay_at(&s->touch, &s->touch.stay.list[j]) != &s->touch.stay.list[j]) {
            rigid_note_open(r, "a contact point that runs along a rim");
        }
    }
    if (s->equally_stiff) {
        rigid_note_kink(r, "two joints whose forces are equally stiff");
    }
    if (s->missed) {
        rigid_note_open(r, "a step that was not solved exactly");
    }
}

zw_status rigid_piece_note(sens_rigid *r, const step_impulse *s, const double *v1)
{
    const zw_system *system = r->system;
    if (!rigid_copy_piece(r, s) ||
        !rigid_list(&r->half[0], system->n, &s->problem, s->problem.guess, s) ||
        !rigid_list(&r->half[1], system->n, &s->aside, s->aside.answer.lambda, s) ||
        !note_block_keys(r)) {
        return rigid_no_memory(r);
    }
    memcpy(r->joined, s->joined, (size_t)system->bodies->motor_count * sizeof(int));
    memcpy(r->u, s->u, (size_t)system->n * sizeof(double));
    memcpy(r->v_end, v1, (size_t)system->n * sizeof(double));
    memcpy(r->q_end, s->q1, (size_t)system->nq * sizeof(double));
    r->slow = 1e-9 * impulse_gravity(s) * s->h + 1e-12;
    note_kinks(r, s);
    return ZW_OK;
}

/* ---- The equations at one place -------------------------------------------------------------- */

static size_t count_of(const sens_rigid *r)
{
    return 2 * ((size_t)r->system->n + (size_t)r->half[0].rows + (size_t)r->half[1].rows) +
           (size_t)r->acts;
}

/* y: R, values of the first half; R, values of the second; activations. */
static int look(sens_rigid *r, step_impulse *s, double *y)
{
    int n = r->system->n;
    double *second = y + n + 2 * r->half[0].rows, *change = r->unit;
    if (!impulse_look_again(s, r->joined)) {
        return 0;
    }
    memcpy(y, s->r, (size_t)n * sizeof *y);
    if (!rigid_values(&r->half[0], &s->problem, s->u, y, y + n) ||
        !impulse_close_again(s, r->closed, r->block_key, r->half[1].blocks, r->gain)) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        change[i] = r->v_end[i] - s->u[i];
    }
    matrix_times(&s->H, change, second);
    for (int i = 0; i < n; i++) {
        second[i] -= r->gain[i];
    }
    for (int k = 0; k < r->acts; k++) {
        second[n + 2 * r->half[1].rows + k] = s->act[k];
    }
    return rigid_values(&r->half[1], &s->aside, r->v_end, second, second + n);
}

/* Modes, from the equations where they hold. */
int rigid_piece_decide(sens_rigid *r)
{
    step_impulse *s = r->here.s;
    const zw_system *system = r->system;
    r->here.work->control_side = NULL;
    system_bind(system, r->here.work, r->param);
    if (!impulse_begin_again(s, r->joined) || (r->differs == RIGID_TAPE && !rigid_tape_start(r)) ||
        !impulse_look_again(s, r->joined) ||
        !rigid_decide(r, &r->half[0], &s->problem, s->u, &s->H, &r->half[1])) {
        return 0;
    }
    memset(r->closed, 0, (size_t)system->m * sizeof(int));
    for (int b = 0; b < r->half[0].blocks; b++) {
        const rigid_block *it = &r->half[0].block[b];
        if (it->key < impulse_held(s)) {
            r->closed[system->first_row[it->key]] =
                it->kind == ZW_INEQUALITY && it->mode == RIGID_HELD;
        }
    }
    rigid_rims(r);
    rigid_motors(r);
    impulse_keep_sides(s, s);
    for (int k = 0; k < NUMBER_SYSTEMS * r->names; k++) {
        const rigid_place *at = rigid_beside(r, k);
        system_bind(at->s->system, at->work, r->param);
        impulse_keep_sides(at->s, s);
    }
    return impulse_close_again(s, r->closed, r->block_key, r->half[1].blocks, r->gain) &&
           rigid_decide(r, &r->half[1], &s->aside, r->v_end, &s->H, NULL);
}

/* ---- Differences ----------------------------------------------------------------------------- */

static double size_of(const sens_rigid *r, rigid_what what, int j)
{
    double h = r->here.s->h;
    return what == BY_H ? LONGER * h
                        : SMALL * (what == BY_Q       ? 1
                                   : what == BY_T     ? 1
                                   : what == BY_ACT   ? 1 + fabs(r->here.s->act0[j])
                                   : what == BY_PARAM ? 1 + fabs(r->param[j])
                                                      : 1 / h);
}

/* One thing is so much more than it was. */
static void change(sens_rigid *r, rigid_what what, int j, double by)
{
    step_impulse *s = r->here.s;
    const double *q0 = r->next; /* scratch: where the piece began */
    switch (what) {
    case BY_U:
        s->u[j] += by;
        break;
    case BY_V:
        s->v0[j] += by;
        break;
    case BY_ACT:
        s->act0[j] += by;
        break;
    case BY_H:
        s->h += by;
        break;
    case BY_T:
        s->t += by;
        break;
    case BY_PARAM:
        r->param[j] += by;
        break;
    case BY_Q:
        memset(r->unit, 0, (size_t)r->system->n * sizeof(double));
        r->unit[j] = 1;
        tree_advance(r->system->tree, q0, r->unit, &by, s->q0);
        break;
    }
}

static void put_back(sens_rigid *r, rigid_what what, int j, double was)
{
    step_impulse *s = r->here.s;
    double *at[] = {s->u + j, NULL, s->v0 + j, s->act0 + j, &s->h, &s->t, r->param + j};
    if (what == BY_Q) {
        memcpy(s->q0, r->next, (size_t)r->system->nq * sizeof(double));
    } else {
        *at[what] = was;
    }
}

static double now(const sens_rigid *r, rigid_what what, int j)
{
    const step_impulse *s = r->here.s;
    return what == BY_U       ? s->u[j]
           : what == BY_V     ? s->v0[j]
           : what == BY_ACT   ? s->act0[j]
           : what == BY_H     ? s->h
           : what == BY_T     ? s->t
           : what == BY_PARAM ? r->param[j]
                              : 0;
}

typedef struct changed {
    sens_rigid *r;
    rigid_what what;
    int j;
    double was;
} changed;

static int look_changed(void *user, double by, double *y)
{
    const changed *at = user;
    sens_rigid *r = at->r;
    change(r, at->what, at->j, by);
    system_bind(r->system, r->here.work, r->param);
    int good =
        (at->what == BY_U || impulse_begin_again(r->here.s, r->joined)) && look(r, r->here.s, y);
    put_back(r, at->what, at->j, at->was);
    return good;
}

/* Round-off of the equations: of momenta, whose terms H_ij u_j are at most sqrt(H_ii H_jj) u_j, and
 * of gaps over the length of the piece, which have much more. Errors of momenta change speeds by
 * what they are beside the inertia. */
static void note_each(sens_rigid *r, number_each *each)
{
    const step_impulse *s = r->here.s;
    const size_t n = (size_t)r->system->n, rows = 2 * (size_t)r->half[0].rows;
    double sum = 0, speeds = 0;
    for (size_t i = 0; i < n; i++) {
        double speed = fabs(s->u[i]) + fabs(s->v0[i]);
        sum += sqrt(matrix_diagonal(&s->H, (int)i)) * speed;
        speeds = fmax(speeds, speed);
    }
    double gaps = fmax(speeds, (s->touch.is_there ? impulse_extent(s) : 1) / s->h);
    r->noise = NUMBER_NOISE * gaps;
    for (size_t i = 0; i < count_of(r); i++) {
        each[i] = (number_each){NUMBER_NOISE * (i < n + rows ? gaps : speeds), HUGE_VAL};
    }
    for (size_t i = 0; i < n; i++) {
        double inertia = matrix_diagonal(&s->H, (int)i);
        double momentum = sqrt(inertia) * sum + s->h * fabs(s->force[i]);
        each[i] = each[n + rows + i] = (number_each){NUMBER_NOISE * momentum, inertia};
        r->noise = fmax(r->noise, each[i].noise);
    }
}

/* What differences need: where the piece began, and the equations there, after their scratch. */
static int look_here(sens_rigid *r)
{
    changed at = {r, BY_H, 0, r->here.s->h};
    note_each(r, (number_each *)(r->y + 6 * count_of(r)));
    memcpy(r->next, r->here.s->q0, (size_t)r->system->nq * sizeof(double));
    return look_changed(&at, 0, r->y + 5 * count_of(r));
}

/* Slopes of all equations along one change. */
static int differ(sens_rigid *r, rigid_what what, int j, double *to)
{
    changed at = {r, what, j, now(r, what, j)};
    number_way way = {.look = look_changed,
                      .user = &at,
                      .step = size_of(r, what, j),
                      .tries = 4,
                      .enough = NUMBER_ENOUGH,
                      .count = count_of(r),
                      .noise = r->noise,
                      .scratch = r->y};
    way.y0 = r->y + 5 * way.count;
    way.each = (const number_each *)(r->y + 6 * way.count);
    if (what == BY_ACT) {
        const bodies_motor *motor = &r->system->bodies->motor[r->system->bodies->act_motor[j]];
        way.inward = motor->excited ? bodies_activation_end(motor, at.was) : 0;
    }
    if (what == BY_PARAM || what == BY_ACT) {
        way.shift = rigid_shift(r, what == BY_ACT, j, at.was, &way.step);
    }
    int good = number_along(&way, to);
    if (good == 2) {
        rigid_note_kink(r, "a corner of a force");
    }
    return good;
}

/* Only formulas know the time. */
static int differ_time(sens_rigid *r, double *to)
{
    memset(to, 0, count_of(r) * sizeof *to);
    return !r->system->bodies->formulas || differ(r, BY_T, 0, to);
}

typedef struct named {
    sens_rigid *r;
    const rigid_variant *of;
} named;

static int look_named(void *user, int k, double *y)
{
    const named *it = user;
    step_impulse *s = it->of->at[k].s;
    return impulse_begin_again(s, it->r->joined) && look(it->r, s, y);
}

static int differ_name(sens_rigid *r, int name, double *to)
{
    named it = {r, &r->variant[name]};
    size_t count = count_of(r);
    int good =
        number_differ(&it.of->of, count, look_named, &it, r->y + 5 * count, r->noise, r->y, to);
    if (good == 2) {
        rigid_note_kink(r, "a number of the model at which something switches");
    }
    return good;
}

/* ---- The linear systems ---------------------------------------------------------------------- */

/* Slopes of the equations of both halves. */
typedef struct slopes {
    int n, size[2], starts; /* starts: columns of the start: q0, v0, activations, h, t, more */
    double *by_u[2];        /* [n][size] */
    double *by_start[2];    /* [starts][size] */
    double *by_end;         /* [n][size] of the second half, by v1 */
    double *y;              /* [Y] */
} slopes;

int rigid_is_coulomb(const sens_rigid *r)
{
    return r->here.s->problem.options.contact != ZW_CONTACT_CONVEX;
}

/* Friction of a joint that slides in the second half has what was left of it (impulse_boxes.c): its
 * multiplier is less by what that of the first half is more. Its block there; NULL: it does not. */
const rigid_block *rigid_spends(const rigid_half half[2], const rigid_block *it)
{
    if (it->kind == ZW_BOX && it->mode == RIGID_GIVEN && it->give == 0) {
        for (int k = 0; k < half[0].blocks; k++) {
            if (half[0].block[k].key == it->key) {
                return &half[0].block[k];
            }
        }
    }
    return NULL;
}

static void spread(const sens_rigid *r, const slopes *m, double *const to[2], int column)
{
    double *y[2] = {m->y, m->y + m->n + 2 * r->half[0].rows};
    for (int b = 0; b < r->half[1].blocks; b++) {
        const rigid_block *it = &r->half[1].block[b], *was = rigid_spends(r->half, it);
        if (was && was->mode == RIGID_GIVEN) {
            y[1][m->n + it->first] -= y[0][m->n + was->first];
        }
    }
    for (int k = 0; k < 2; k++) {
        rigid_spread(&r->half[k], m->n, rigid_is_coulomb(r), y[k], y[k] + m->n,
                     to[k] + (size_t)column * (size_t)m->size[k]);
    }
}

static int differ_all(sens_rigid *r, const slopes *m)
{
    int n = m->n, state = r->state, params = r->more - r->names;
    if (!look_here(r)) {
        return 0;
    }
    const double *act = m->y + count_of(r) - r->acts;
    for (int j = 0; j < n; j++) {
        if (!differ(r, BY_U, j, m->y)) {
            return 0;
        }
        for (int i = 0; i < r->acts; i++) {
            r->act_by_u[(size_t)i * (size_t)n + (size_t)j] = act[i];
        }
        spread(r, m, m->by_u, j);
    }
    for (int c = 0; c < m->starts; c++) {
        int k = c - state - 2;
        int good = c < n        ? differ(r, BY_Q, c, m->y)
                   : c < 2 * n  ? differ(r, BY_V, c - n, m->y)
                   : c < state  ? differ(r, BY_ACT, c - 2 * n, m->y)
                   : k < -1     ? differ(r, BY_H, 0, m->y)
                   : k < 0      ? differ_time(r, m->y)
                   : k < params ? differ(r, BY_PARAM, k, m->y)
                                : differ_name(r, k - params, m->y);
        if (!good) {
            return 0;
        }
        for (int i = 0; i < r->acts; i++) {
            r->piece[(size_t)(2 * n + i) * (size_t)m->starts + (size_t)c] = act[i];
        }
        spread(r, m, m->by_start, c);
    }
    return 1;
}

int rigid_piece_column(sens_rigid *r, int column, double *const to[2])
{
    slopes m = {.n = r->system->n};
    size_t count = count_of(r) + 2 * (size_t)m.n;
    if (!rigid_grow(&r->y, &r->y_capacity, 9 * count)) {
        return 0;
    }
    m.y = r->y + 8 * count;
    for (int k = 0; k < 2; k++) {
        m.size[k] = m.n + r->half[k].unknowns;
    }
    if (!look_here(r) ||
        !(column == 0 ? differ(r, BY_H, 0, m.y) : differ_name(r, column - 1, m.y))) {
        return 0;
    }
    spread(r, &m, to, 0);
    return 1;
}

/* The second half's equations by v1: H, and rows. */
static void slopes_by_end(sens_rigid *r, const slopes *m, double *to)
{
    const rigid_half *half = &r->half[1];
    int n = m->n;
    double *dR = m->y, *dvalue = m->y + n;
    memset(dvalue, 0, 2 * (size_t)half->rows * sizeof *dvalue);
    for (int j = 0; j < n; j++) {
        memset(r->unit, 0, (size_t)n * sizeof(double));
        r->unit[j] = 1;
        matrix_times(&r->here.s->H, r->unit, dR);
        for (int b = 0; b < half->blocks; b++) {
            const rigid_block *it = &half->block[b];
            double factor = it->mode != RIGID_GIVEN ? 1 : it->side >= 0 ? 0 : -1 / it->give;
            for (int i = it->first; i < it->first + it->rows; i++) {
                dvalue[i] = factor * half->B[(size_t)i * (size_t)n + (size_t)j];
            }
        }
        rigid_spread(half, n, rigid_is_coulomb(r), dR, dvalue, to + (size_t)j * (size_t)m->size[1]);
    }
}

/* For a change of the multipliers of the first half. */
static void add_spent(const sens_rigid *r, const slopes *m, const double *first, double *second)
{
    for (int b = 0; b < r->half[1].blocks; b++) {
        const rigid_block *it = &r->half[1].block[b], *was = rigid_spends(r->half, it);
        if (was && was->mode == RIGID_HELD) {
            const double *B = r->half[1].B + (size_t)it->first * (size_t)m->n;
            for (int j = 0; j < m->n; j++) {
                second[j] += B[j] * first[m->n + was->at];
            }
        }
    }
}

/* The second half along a change of the start, and of the first. */
static void chain(const sens_rigid *r, const slopes *m, const double *first, double *second)
{
    for (int j = 0; j < m->n; j++) {
        const double *by = m->by_u[1] + (size_t)j * (size_t)m->size[1];
        for (int i = 0; i < m->size[1] && first[j] != 0; i++) {
            second[i] += first[j] * by[i];
        }
    }
    add_spent(r, m, first, second);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void put_piece(sens_rigid *r, const slopes *m)
{
    size_t n = (size_t)m->n, wide = (size_t)m->starts;
    double *dq = m->y, *end = m->y + n;
    for (size_t c = 0; c < wide; c++) {
        const double *du = m->by_start[0] + c * (size_t)m->size[0];
        const double *dv = m->by_start[1] + c * (size_t)m->size[1];
        memset(dq, 0, n * sizeof *dq);
        if (c < n) {
            dq[c] = 1;
        }
        rigid_move(r, dq, du, c == (size_t)r->state, end);
        for (size_t i = 0; i < n; i++) {
            r->piece[i * wide + c] = end[i];
            r->piece[(n + i) * wide + c] = dv[i];
        }
        for (size_t i = 0; i < (size_t)r->acts; i++) {
            for (size_t j = 0; j < n; j++) {
                r->piece[(2 * n + i) * wide + c] += r->act_by_u[i * n + j] * du[j];
            }
        }
    }
}

/* Room for all of it. */
static int lay_out(sens_rigid *r, slopes *m)
{
    size_t n = (size_t)r->system->n, first = (size_t)m->size[0], second = (size_t)m->size[1];
    size_t starts = (size_t)m->starts;
    if (!rigid_grow(&r->X, &r->X_capacity, (n + starts) * first + (2 * n + starts) * second)) {
        return 0;
    }
    m->by_u[0] = r->X;
    m->by_u[1] = m->by_u[0] + n * first;
    m->by_start[0] = m->by_u[1] + n * second;
    m->by_start[1] = m->by_start[0] + starts * first;
    return 1;
}

/* Do contacts take part in the piece? If not, differences need not look for them. */
static int touches(const sens_rigid *r)
{
    int found = 0;
    for (int k = 0; k < 2; k++) {
        for (int b = 0; b < r->half[k].blocks; b++) {
            found |= r->half[k].block[b].key >= IMPULSE_CONTACTS;
        }
    }
    return found;
}

static int differ_without(sens_rigid *r, const slopes *m)
{
    int there = r->here.s->touch.is_there;
    for (int k = -1; k < NUMBER_SYSTEMS * r->names; k++) {
        (k < 0 ? &r->here : rigid_beside(r, k))->s->touch.is_there = 0;
    }
    int good = differ_all(r, m);
    for (int k = -1; k < NUMBER_SYSTEMS * r->names; k++) {
        (k < 0 ? &r->here : rigid_beside(r, k))->s->touch.is_there = there;
    }
    return good;
}

zw_status rigid_piece_slopes(sens_rigid *r)
{
    slopes m = {.n = r->system->n, .starts = r->state + 2 + r->more};
    size_t count = count_of(r) + 2 * (size_t)m.n;
    if (!rigid_grow(&r->y, &r->y_capacity, 9 * count)) {
        return rigid_no_memory(r);
    }
    m.y = r->y + 8 * count;
    int good = rigid_piece_decide(r);
    for (int k = 0; k < 2; k++) {
        m.size[k] = m.n + r->half[k].unknowns;
    }
    if (good && !lay_out(r, &m)) {
        return rigid_no_memory(r);
    }
    if (good) {
        m.by_end = m.by_start[1] + (size_t)m.starts * (size_t)m.size[1];
        slopes_by_end(r, &m, m.by_end);
    }
    if (!good || !(touches(r) ? differ_all(r, &m) : differ_without(r, &m))) {
        return base_fail(&r->failure, ZW_INACCURATE,
                         "a contact point vanishes when bodies are moved slightly, so that the "
                         "step has no derivatives");
    }
    zw_status status = rigid_solve(r, &r->half[0], m.by_u[0], m.starts, m.by_start[0]);
    for (int c = 0; c < m.starts && status == ZW_OK; c++) {
        chain(r, &m, m.by_start[0] + (size_t)c * (size_t)m.size[0],
              m.by_start[1] + (size_t)c * (size_t)m.size[1]);
    }
    if (status == ZW_OK) {
        status = rigid_solve(r, &r->half[1], m.by_end, m.starts, m.by_start[1]);
    }
    if (status == ZW_OK) {
        put_piece(r, &m);
    }
    return status;
}
