/* Derivatives of positions and speeds that are changed in an instant.
 *
 * Speeds.  Impulses take v0 to v, w = v - v0, by rows that act and friction at contacts:
 *
 *     M w = A' lambda + T' h - mu N T' d                          (slopes_formula.c, a for w)
 *     psi(q, v) + e psi(q, v0) = 0     for rows that act, e = 0 unless a contact bounces
 *     e(q, v) = 0                      for contacts that stick afterwards, with impulses h
 *     v_i = v0_i                       for speeds that are held, with their own impulses
 *
 * This covers an impact by one round of the law of gauss/contact/impact.c, a reset that constraints
 * correct, and the assembly of speeds. Each line is a formula; with their slopes the implicit
 * function theorem gives dv from dq, dv0, the parameters and the time. The multipliers follow from
 * M w; if none reproduce it, the impact had several rounds, which is rejected.
 *
 * Positions.  q is the admissible position nearest to q0, delta = q - q0 (assemble.c):
 *
 *     M(q0) delta = A(q)' nu,     phi(q) = 0.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/sensitivity/sensitivity.h"
#include "math/dense/dense.h"

/* ---- Unknowns -------------------------------------------------------------------------------- */

/* Indices of the unknowns after v: of rows, of sticking contacts, of held speeds. */
static int row_at(const zw_sensitivity *s, const sens_push *push, int row)
{
    int at = s->n;
    for (int r = 0; r < row; r++) {
        at += push->acts[r];
    }
    return push->acts[row] ? at : -1;
}

static int stick_at(const zw_sensitivity *s, const sens_push *push, int constraint)
{
    int at = s->n;
    for (int r = 0; r < s->system->m; r++) {
        at += push->acts[r];
    }
    for (int c = 0; c < constraint; c++) {
        at += push->does[c] == SENS_STICKS ? s->system->slip[c].width : 0;
    }
    return at;
}

static int held_at(const zw_sensitivity *s, const sens_push *push)
{
    return stick_at(s, push, s->system->model->constraint_count);
}

/* The unknown of a leaf of the multipliers; -1: none. */
static int unknown_of(const zw_sensitivity *s, const sens_push *push, int index)
{
    const zw_system *system = s->system;
    const int *slot = s->slopes->formulas.slot;
    if (index < system->m) {
        return row_at(s, push, index);
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        int width = system->slip[c].width, k = slot[c] >= 0 ? index - slot[c] - 1 - width : -1;
        if (k >= 0 && k < width && push->does[c] == SENS_STICKS) {
            return stick_at(s, push, c) + k;
        }
    }
    return -1;
}

/* ---- The balance of impulses ----------------------------------------------------------------- */

/* Sets the leaves of the formulas: w, and multipliers x[size] (NULL: 1 for each row that acts). */
static void set_leaves(zw_sensitivity *s, const sens_push *push, const double *w, const double *x)
{
    const zw_system *system = s->system;
    slopes_formulas *f = &s->slopes->formulas;
    memset(f->lambda, 0, (size_t)f->shape.lambdas * sizeof *f->lambda);
    memcpy(f->a, w, (size_t)s->n * sizeof *w);
    for (int r = 0; r < system->m; r++) {
        int at = row_at(s, push, r);
        f->lambda[r] = at < 0 ? 0 : x ? x[at] : 1;
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        int width = system->slip[c].width;
        if (f->slot[c] < 0) {
            continue;
        }
        f->lambda[f->slot[c]] = push->does[c] == SENS_SLIDES ? SLOPES_SLIDES : SLOPES_RESTS;
        for (int k = 0; k < width && x && push->does[c] == SENS_STICKS; k++) {
            f->lambda[f->slot[c] + 1 + width + k] = x[stick_at(s, push, c) + k];
        }
    }
}

static void clear_leaves(zw_sensitivity *s)
{
    slopes_formulas *f = &s->slopes->formulas;
    memset(f->lambda, 0, (size_t)f->shape.lambdas * sizeof *f->lambda);
    memset(f->a, 0, (size_t)s->n * sizeof *f->a);
}

/* The first n rows of K: M, and the slopes of the impulses by their multipliers. */
static void fill_masses(zw_sensitivity *s, const sens_push *push, int size)
{
    const slopes_formulas *f = &s->slopes->formulas;
    size_t wide = (size_t)size;
    memset(s->K, 0, wide * wide * sizeof *s->K);
    for (int k = 0; k < f->entries; k++) {
        const slopes_entry *entry = &f->entry[k];
        int unknown = entry->kind == EXPR_ACCEL    ? entry->index
                      : entry->kind == EXPR_LAMBDA ? unknown_of(s, push, entry->index)
                                                   : -1;
        if (entry->row < s->n && unknown >= 0) {
            s->K[(size_t)entry->row * wide + (size_t)unknown] += f->out[k];
        }
    }
    for (int i = 0, at = held_at(s, push); i < s->n && push->held; i++) {
        if (push->held[i]) {
            s->K[(size_t)i * wide + (size_t)at++] = -1;
        }
    }
}

/* Slopes of the balance, for the present leaves and times `sign`, by everything except w and the
 * multipliers: subtracted from by[c][i]; those by speeds added to K, if `speeds` is set. */
static void add_slopes(zw_sensitivity *s, int size, double sign, int speeds, const double *x,
                       const double *later)
{
    const slopes_formulas *f = &s->slopes->formulas;
    size_t n = (size_t)s->n, wide = (size_t)size, params = (size_t)s->params;
    for (int k = 0; k < f->entries; k++) {
        const slopes_entry *entry = &f->entry[k];
        size_t i = (size_t)entry->row, j = (size_t)entry->index;
        if (entry->row >= s->n || entry->kind == EXPR_ACCEL || entry->kind == EXPR_LAMBDA) {
            continue;
        }
        if (entry->kind == EXPR_SPEED) {
            s->K[i * wide + j] += speeds ? sign * f->out[k] : 0;
            continue;
        }
        for (size_t c = 0; c < (size_t)s->count; c++) {
            double part = entry->kind == EXPR_COORD   ? x[c * 2 * n + j]
                          : entry->kind == EXPR_PARAM ? s->param[c * params + j]
                          : later                     ? later[c]
                                                      : 0;
            s->by[c * wide + i] -= part != 0 ? sign * f->out[k] * part : 0;
        }
    }
}

/* x: the multipliers that produce w; 0: none do. Only M and the columns of K are read. */
static int explain(zw_sensitivity *s, int size, const double *w, double *x, zw_status *status)
{
    size_t n = (size_t)s->n, wide = (size_t)size, more = wide - n;
    double *B = base_alloc((n * more + 3 * n + wide + 1) * sizeof *B), most = 0, off = 0;
    if (!B) {
        *status = ZW_NO_MEMORY;
        return 0;
    }
    double *b = B + n * more;
    for (size_t i = 0; i < n; i++) {
        b[i] = 0;
        for (size_t j = 0; j < n; j++) {
            b[i] += s->K[i * wide + j] * w[j];
        }
        for (size_t j = 0; j < more; j++) {
            B[i * more + j] = -s->K[i * wide + n + j];
        }
        most = fmax(most, fabs(b[i]));
    }
    memset(x, 0, wide * sizeof *x);
    if (more > 0 && !slopes_some((int)n, (int)more, B, b, x + n)) {
        *status = ZW_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        double sum = -b[i];
        for (size_t j = 0; j < more; j++) {
            sum += B[i * more + j] * x[n + j];
        }
        off = fmax(off, fabs(sum));
    }
    base_free(B);
    return *status == ZW_OK && off <= 1e-7 * most;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void fill_row(zw_sensitivity *s, int size, int row, int function, const double *x,
                     const double *later)
{
    size_t n = (size_t)s->n, wide = (size_t)size, at = (size_t)row;
    memset(s->zs, 0, n * sizeof *s->zs);
    sens_gradient(s, function, s->zs, s->K + at * wide);
    for (size_t c = 0; c < (size_t)s->count; c++) {
        const sens_way way = {.q = x + c * 2 * n,
                              .param = s->param + c * (size_t)s->params,
                              .t = later ? later[c] : 0};
        s->by[c * wide + at] -= sens_along(s, function, &way);
    }
}

/* Rows that bounce: - d(e psi(q, v0)), at the speeds before. */
static void add_bounce(zw_sensitivity *s, const step_kinks *kinks, const sens_push *push, int size,
                       const double *x, const double *later)
{
    const zw_system *system = s->system;
    size_t n = (size_t)s->n, wide = (size_t)size;
    double *v = state_v(s->now);
    memcpy(s->keep, v, n * sizeof *v);
    memcpy(v, push->v0, n * sizeof *v);
    sens_functions_run(s, kinks, NULL, NULL);
    for (int r = 0; r < system->m; r++) {
        int at = row_at(s, push, r), e = s->f.restitution + system->row_constraint[r];
        if (at < 0 || !push->bounces[r]) {
            continue;
        }
        for (size_t c = 0; c < (size_t)s->count; c++) {
            const sens_way way = {.q = x + c * 2 * n,
                                  .v = x + c * 2 * n + n,
                                  .param = s->param + c * (size_t)s->params,
                                  .t = later ? later[c] : 0};
            s->by[c * wide + (size_t)at] -= sens_along(s, e, &way) * sens_value(s, s->f.psi + r);
            s->by[c * wide + (size_t)at] -= sens_value(s, e) * sens_along(s, s->f.psi + r, &way);
        }
    }
    memcpy(v, s->keep, n * sizeof *v);
}

static void fill_rows(zw_sensitivity *s, const step_kinks *kinks, const sens_push *push, int size,
                      const double *x, const double *later)
{
    const zw_system *system = s->system;
    size_t n = (size_t)s->n, wide = (size_t)size;
    int any = 0;
    for (int r = 0; r < system->m && push->bounces; r++) {
        any |= push->bounces[r];
    }
    if (any) {
        add_bounce(s, kinks, push, size, x, later);
    }
    sens_functions_run(s, kinks, NULL, NULL);
    for (int r = 0; r < system->m; r++) {
        if (push->acts[r]) {
            fill_row(s, size, row_at(s, push, r), s->f.psi + r, x, later);
        }
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        for (int k = 0; k < system->slip[c].width && push->does[c] == SENS_STICKS; k++) {
            fill_row(s, size, stick_at(s, push, c) + k, s->f.slip[c] + k, x, later);
        }
    }
    for (int i = 0, at = held_at(s, push); i < s->n && push->held; i++) {
        if (push->held[i]) {
            s->K[(size_t)at * wide + (size_t)i] = 1;
            for (size_t c = 0; c < (size_t)s->count; c++) {
                s->by[c * wide + (size_t)at] = x[c * 2 * n + n + (size_t)i];
            }
            at++;
        }
    }
}

/* ---- Speeds ---------------------------------------------------------------------------------- */

static int size_of(const zw_sensitivity *s, const sens_push *push)
{
    int size = held_at(s, push);
    for (int i = 0; i < s->n && push->held; i++) {
        size += push->held[i];
    }
    return size;
}

zw_status sens_impulse(zw_sensitivity *s, const step_kinks *kinks, const sens_push *push, double *x,
                       const double *later, zw_error *error)
{
    size_t n = (size_t)s->n, wide = (size_t)size_of(s, push);
    double *w = s->w, *lambda = s->multiplier;
    zw_status status = ZW_OK;
    int size = (int)wide, moved = 0;
    for (size_t i = 0; i < n; i++) {
        w[i] = state_v(s->now)[i] - push->v0[i];
        moved |= w[i] != 0;
    }
    s->slopes->kinks = kinks;
    set_leaves(s, push, w, NULL);
    slopes_formulas_run(s->slopes, s->now);
    fill_masses(s, push, size);
    memset(s->by, 0, (size_t)s->count * wide * sizeof *s->by);
    for (size_t c = 0; c < (size_t)s->count; c++) { /* M dv0 */
        for (size_t i = 0; i < n; i++) {
            s->by[c * wide + i] = dense_dot((int)n, s->K + i * wide, x + c * 2 * n + n);
        }
    }
    if (moved) {
        if (!explain(s, size, w, lambda, &status)) {
            s->slopes->kinks = NULL;
            return status != ZW_OK ? base_no_memory(error)
                                   : base_fail(error, ZW_BAD_INPUT,
                                               "at t = %.9g several contacts are involved in one "
                                               "impact: their derivatives are not supported yet",
                                               s->now->t);
        }
        set_leaves(s, push, w, lambda);
        slopes_formulas_run(s->slopes, s->now);
        add_slopes(s, size, 1, 1, x, later);
        clear_leaves(s);
        slopes_formulas_run(s->slopes, s->now);
        add_slopes(s, size, -1, 1, x, later);
    }
    s->slopes->kinks = NULL;
    fill_rows(s, kinks, push, size, x, later);
    if (slopes_solve(size, s->count, s->K, s->by) < 0) {
        return base_no_memory(error);
    }
    for (size_t c = 0; c < (size_t)s->count; c++) {
        memcpy(x + c * 2 * n + n, s->by + c * wide, n * sizeof *x);
    }
    return ZW_OK;
}

/* ---- Positions ------------------------------------------------------------------------------- */

/* The rows of constraints on positions alone, without friction. */
static int position_rows(const zw_sensitivity *s, const sens_push *push, int *acts)
{
    int count = 0;
    for (int r = 0; r < s->system->m; r++) {
        acts[r] = push->acts[r] && s->system->row_kind[r] != SYSTEM_VELOCITY;
        count += acts[r];
    }
    return count;
}

/* M(q0) in place of M(q) in K. */
static void weigh_before(zw_sensitivity *s, int size, const double *q0)
{
    size_t n = (size_t)s->n, wide = (size_t)size;
    const slopes_formulas *f = &s->slopes->formulas;
    double *q = state_q(s->now);
    memcpy(s->keep, q, n * sizeof *q);
    memcpy(q, q0, n * sizeof *q);
    clear_leaves(s);
    slopes_formulas_run(s->slopes, s->now);
    memcpy(q, s->keep, n * sizeof *q);
    for (size_t i = 0; i < n; i++) {
        memset(s->K + i * wide, 0, n * sizeof *s->K);
    }
    for (int k = 0; k < f->entries; k++) {
        const slopes_entry *entry = &f->entry[k];
        if (entry->row < s->n && entry->kind == EXPR_ACCEL) {
            s->K[(size_t)entry->row * wide + (size_t)entry->index] += f->out[k];
        }
    }
}

/* The slopes of M(q0) delta by q0 and the parameters. */
static void add_distance(zw_sensitivity *s, int size, const double *q0, const double *delta,
                         const double *x)
{
    size_t n = (size_t)s->n;
    double *q = state_q(s->now);
    memcpy(s->keep, q, n * sizeof *q);
    memcpy(q, q0, n * sizeof *q);
    for (int pass = 0; pass < 2; pass++) {
        clear_leaves(s);
        if (pass == 0) {
            memcpy(s->slopes->formulas.a, delta, n * sizeof *q);
        }
        slopes_formulas_run(s->slopes, s->now);
        add_slopes(s, size, pass == 0 ? 1 : -1, 0, x, NULL);
    }
    memcpy(q, s->keep, n * sizeof *q);
}

/* The slopes of A(q)' nu: those by the parameters to the right side, by q into K. */
static void add_bend(zw_sensitivity *s, const sens_push *rows, int size, const double *nu)
{
    size_t n = (size_t)s->n, wide = (size_t)size, params = (size_t)s->params;
    const slopes_formulas *f = &s->slopes->formulas;
    for (int pass = 0; pass < 2; pass++) {
        double sign = pass == 0 ? 1 : -1;
        memset(s->w, 0, n * sizeof *s->w);
        set_leaves(s, rows, s->w, nu);
        if (pass == 1) {
            clear_leaves(s);
        }
        slopes_formulas_run(s->slopes, s->now);
        for (int k = 0; k < f->entries; k++) {
            const slopes_entry *entry = &f->entry[k];
            size_t i = (size_t)entry->row, j = (size_t)entry->index;
            if (entry->row >= s->n) {
                continue;
            }
            if (entry->kind == EXPR_COORD) {
                s->K[i * wide + j] += sign * f->out[k];
            }
            for (size_t c = 0; c < (size_t)s->count && entry->kind == EXPR_PARAM; c++) {
                s->by[c * wide + i] -= sign * f->out[k] * s->param[c * params + j];
            }
        }
    }
}

/* phi(q) = 0 for the rows. */
static void fill_places(zw_sensitivity *s, const sens_push *rows, int size, const double *later)
{
    size_t wide = (size_t)size;
    for (int r = 0; r < s->system->m; r++) {
        if (rows->acts[r]) {
            size_t at = (size_t)row_at(s, rows, r);
            sens_gradient(s, s->f.phi + r, s->K + at * wide, s->zs);
            for (size_t c = 0; c < (size_t)s->count; c++) {
                const sens_way way = {.param = s->param + c * (size_t)s->params,
                                      .t = later ? later[c] : 0};
                s->by[c * wide + at] = -sens_along(s, s->f.phi + r, &way);
            }
        }
    }
}

zw_status sens_settle(zw_sensitivity *s, const step_kinks *kinks, const sens_push *push,
                      const double *q0, double *x, const double *later, zw_error *error)
{
    size_t n = (size_t)s->n;
    sens_push rows = {.acts = s->acts2, .does = s->none};
    size_t wide = n + (size_t)position_rows(s, push, s->acts2);
    double *delta = s->delta;
    zw_status status = ZW_OK;
    int size = (int)wide, moved = 0;
    for (size_t i = 0; i < n; i++) {
        delta[i] = q0 ? state_q(s->now)[i] - q0[i] : 0;
        moved |= delta[i] != 0;
    }
    if (wide == n) {
        return ZW_OK;
    }
    s->slopes->kinks = kinks;
    set_leaves(s, &rows, delta, NULL);
    slopes_formulas_run(s->slopes, s->now);
    fill_masses(s, &rows, size);
    memset(s->by, 0, (size_t)s->count * wide * sizeof *s->by);
    if (moved) {
        weigh_before(s, size, q0);
    }
    if (moved && !explain(s, size, delta, s->multiplier, &status)) {
        s->slopes->kinks = NULL;
        return status != ZW_OK
                   ? base_no_memory(error)
                   : base_fail(error, ZW_BAD_INPUT,
                               "at t = %.9g the position was corrected by constraints that are not "
                               "active there: their derivatives are not supported yet",
                               s->now->t);
    }
    for (size_t c = 0; c < (size_t)s->count; c++) { /* M dq0 */
        for (size_t i = 0; i < n; i++) {
            s->by[c * wide + i] = dense_dot((int)n, s->K + i * wide, x + c * 2 * n);
        }
    }
    if (moved) {
        add_distance(s, size, q0, delta, x);
        add_bend(s, &rows, size, s->multiplier);
    }
    s->slopes->kinks = NULL;
    sens_functions_run(s, kinks, NULL, NULL);
    fill_places(s, &rows, size, later);
    if (slopes_solve(size, s->count, s->K, s->by) < 0) {
        return base_no_memory(error);
    }
    for (size_t c = 0; c < (size_t)s->count; c++) {
        memcpy(x + c * 2 * n, s->by + c * wide, n * sizeof *x);
    }
    return ZW_OK;
}
