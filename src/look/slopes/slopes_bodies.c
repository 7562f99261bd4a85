/* Derivatives at an instant of a robot with loops, contacts, or forces that turn with it.
 *
 * With the active set fixed (slopes_hold.c), the accelerations a and the multipliers l solve
 *
 *     R = M a - force - sum over active rows of B' l = 0
 *     x = B a + B' v = 0            of each active row
 *     l_i = -mu_i^2 u_i/|mu u| l_n  friction of a sliding point, u = B_t v; where sliding begins,
 *                                   x_t takes the place of u
 *
 * and K dx = -dr. K is [M -B'; B 0], where the column of the normal force of a sliding point
 * includes its friction; where sliding begins, friction also turns with the accelerations. The
 * slopes of R, x and u at constant a and l come from four evaluations of these equations, not of
 * their solution,
 *
 *     f' = (8 (f1 - f-1) - (f2 - f-2))/12 s,          s = 2^-10,
 *
 * whose error is s^4 times the fifth derivative, plus round-off over s: about 1e-12; s is less
 * where that is not enough, and at a corner of a force the slopes are those of one side (number.c).
 * They therefore cover everything that a robot may contain. M a - force of a tree with plain joints
 * and motors has analytic slopes (slopes_tree.c) and is then left out of the differences. Friction,
 * whose direction may turn quickly, is differentiated by hand. B' v of points is a difference of
 * the same kind along q (+) s v.
 *
 * Where rows depend on each other: slopes.c. */
#include "look/slopes/slopes_bodies.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_side.h"

static int grow(double **list, size_t *scratch, size_t need)
{
    if (need > *scratch) {
        base_free(*list);
        *list = base_alloc(2 * need * sizeof **list);
        *scratch = *list ? 2 * need : 0;
    }
    return need <= *scratch;
}

/* ---- Their slopes ---------------------------------------------------------------------------- */

/* The equations with a column's variable changed. */
typedef struct changed {
    zw_slopes *slopes;
    zw_state *state;
    int column;
    zw_status status;
    zw_error *error;
} changed;

static int look(void *user, double by, double *y)
{
    changed *at = user;
    slopes_bodies *s = at->slopes->bodies;
    const zw_system *system = s->system;
    const zw_state *state = at->state;
    int n = system->n, column = at->column;
    size_t nq = (size_t)system->nq, params = (size_t)system->shape.params, wide = slopes_width(s);
    size_t speeds = (size_t)(n + system->carried); /* activations follow */
    double *q = s->y + 7 * wide, *v = q + nq, *unit = v + speeds;
    memcpy(q, state_q(at->state), nq * sizeof *q);
    memcpy(v, state_v(at->state), speeds * sizeof *v);
    if (params > 0) {
        memcpy(s->param, state_param(at->state), params * sizeof *v);
    }
    if (column < n) {
        memset(unit, 0, (size_t)n * sizeof *unit);
        unit[column] = 1;
        system_move(system, q, by, unit);
    } else if (column < 2 * n) {
        v[column - n] += by;
    } else if (column > 2 * n) {
        s->param[column - 2 * n - 1] += by;
    }
    at->status = slopes_equations(s, state->t + (column == 2 * n ? by : 0), q, v, s->param,
                                  at->slopes->work->a, y, NULL, at->error);
    return at->status == ZW_OK && !s->lost;
}

/* The slopes along one column, into table 4 of s->y; the equations themselves are in table 5. */
static zw_status differ(zw_slopes *slopes, slopes_bodies *s, zw_state *state, int column,
                        zw_error *error)
{
    int param = column - 2 * s->system->n - 1;
    size_t wide = slopes_width(s);
    double size = param >= 0 ? 1 + fabs(state_param(state)[param]) : 1;
    changed at = {slopes, state, column, ZW_OK, error};
    const number_way way = {.look = look,
                            .user = &at,
                            .step = SLOPES_SMALL * size,
                            .tries = 4,
                            .enough = SLOPES_ENOUGH,
                            .count = wide,
                            .y0 = s->y + 5 * wide,
                            .noise = number_noise(wide, s->y + 5 * wide),
                            .scratch = s->y};
    int good = number_along(&way, s->y + 6 * wide);
    if (good == 2) {
        slopes->answer.kinks++;
        slopes->answer.kink = "a corner of a force";
    }
    memcpy(s->y + 4 * wide, s->y + 6 * wide, wide * sizeof *s->y);
    return at.status;
}

/* The change of the friction of a sliding point as its direction changes by d[rows], added to
 * to[n]. */
static void turn_friction(const slopes_bodies *s, const slopes_hold *it, const double *d,
                          double sign, double *to)
{
    size_t n = (size_t)s->system->n;
    double rho = 0, drho = 0;
    for (int r = 1; r < it->rows; r++) {
        rho += it->mu[r - 1] * it->turn[r] * it->mu[r - 1] * it->turn[r];
    }
    rho = sqrt(rho);
    for (int r = 1; r < it->rows; r++) {
        drho += it->mu[r - 1] * it->mu[r - 1] * it->turn[r] * d[r] / rho;
    }
    for (int r = 1; r < it->rows; r++) {
        double mu = it->mu[r - 1];
        double by = -mu * mu * (d[r] - it->turn[r] * drho / rho) / rho * it->lambda[0];
        const double *B = s->B + (size_t)(it->first + r) * n;
        for (size_t i = 0; i < n && by != 0; i++) {
            to[i] += sign * by * B[i];
        }
    }
}

/* Fills by[columns][size] with minus the slopes of the equations, known[] with those of M a -
 * force, and the slopes of the slips. */
static zw_status fill_columns(zw_slopes *slopes, slopes_bodies *s, zw_state *state, zw_error *error)
{
    size_t n = (size_t)s->system->n, m = (size_t)s->system->m, size = n + (size_t)s->unknowns;
    size_t values = (size_t)s->values;
    slopes_equation by = slopes_part(s, s->y + 4 * slopes_width(s));
    for (int c = 0; c < slopes->columns; c++) {
        int number = c - slopes->columns + slopes->numbers;
        zw_status status = s->lost       ? ZW_OK
                           : number >= 0 ? slopes_number_differ(slopes, state, number, error)
                                         : differ(slopes, s, state, c, error);
        double *to = s->by + (size_t)c * size, *known = slopes->known + (size_t)c * n;
        if (status != ZW_OK || s->lost) {
            return status;
        }
        for (size_t i = 0; i < n; i++) {
            known[i] = s->simple && number < 0 ? known[i] : by.known[i];
            to[i] = by.push[i] - known[i];
        }
        if (number >= 0) {
            slopes_number_friction(slopes, number, to);
        }
        for (int h = 0; h < s->holds; h++) {
            const slopes_hold *it = &s->hold[h];
            for (int r = 0; r < it->unknowns; r++) {
                to[n + (size_t)(it->at + r)] = -by.rate[it->first + r];
            }
            if (it->way != WAY_HELD) {
                turn_friction(s, it, (it->way == WAY_SLIDES ? by.slip : by.rate) + it->first, 1,
                              to);
            }
        }
        if (c < 2 * (int)n) {
            memcpy(s->psi_by + (size_t)c * values, by.slip, values * sizeof *by.slip);
        }
        for (size_t r = 0; r < m && slopes->scratch; r++) {
            slopes->scratch[(size_t)c * m + r] = by.Aw[r];
        }
    }
    return ZW_OK;
}

/* ---- The solution ---------------------------------------------------------------------------- */

/* The force of a unit of an unknown, to[n]. */
static void push_of(const slopes_bodies *s, const slopes_hold *it, int r, double *to)
{
    size_t n = (size_t)s->system->n;
    double rho = 0;
    memcpy(to, s->B + (size_t)(it->first + r) * n, n * sizeof *to);
    for (int k = 1; k < it->rows && it->way != WAY_HELD; k++) {
        rho += it->mu[k - 1] * it->turn[k] * it->mu[k - 1] * it->turn[k];
    }
    rho = sqrt(rho);
    for (int k = 1; k < it->rows && it->way != WAY_HELD; k++) {
        double mu = it->mu[k - 1], by = -mu * mu * it->turn[k] / rho;
        for (size_t i = 0; i < n; i++) {
            to[i] += by * s->B[(size_t)(it->first + k) * n + i];
        }
    }
}

static void fill_matrix(const zw_slopes *slopes, slopes_bodies *s)
{
    const zw_system *system = s->system;
    const double *M = slopes->work->out[PART_TERMS] + system->at.M;
    size_t n = (size_t)system->n, wide = n + (size_t)s->unknowns;
    double *push = s->K + wide * wide;
    memset(s->K, 0, wide * wide * sizeof *s->K);
    for (int j = 0; j < system->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            size_t i = (size_t)system->M_row[k];
            s->K[i * wide + (size_t)j] = s->K[(size_t)j * wide + i] = M[k];
        }
    }
    for (int h = 0; h < s->holds; h++) {
        const slopes_hold *it = &s->hold[h];
        for (int r = 0; r < it->unknowns; r++) {
            size_t row = n + (size_t)(it->at + r);
            push_of(s, it, r, push);
            for (size_t i = 0; i < n; i++) {
                s->K[row * wide + i] = s->B[(size_t)(it->first + r) * n + i];
                s->K[i * wide + row] = -push[i];
            }
        }
        for (size_t j = 0; j < n && it->way == WAY_BEGINS; j++) {
            double x[6] = {0};
            for (int r = 0; r < it->rows; r++) {
                x[r] = s->B[(size_t)(it->first + r) * n + j];
            }
            memset(push, 0, n * sizeof *push);
            turn_friction(s, it, x, -1, push);
            for (size_t i = 0; i < n; i++) {
                s->K[i * wide + j] += push[i];
            }
        }
    }
}

/* w with A w = lambda over the active rows of the system: see slopes.c. */
static int find_w(zw_slopes *slopes, slopes_bodies *s, double *A)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, m = (size_t)system->m;
    memset(A, 0, m * n * sizeof *A);
    for (int h = 0; h < s->holds; h++) {
        if (s->hold[h].kind == HOLD_ROW) {
            memcpy(A + (size_t)s->hold[h].index * n, s->B + (size_t)s->hold[h].first * n,
                   n * sizeof *A);
        }
    }
    return m == 0 || slopes_some((int)m, (int)n, A, slopes->work->push, s->w);
}

/* The part of the multipliers that redundant rows leave undetermined. */
static int settle(zw_slopes *slopes, slopes_bodies *s, const double *A)
{
    size_t m = (size_t)s->system->m, columns = (size_t)slopes->columns;
    double *carry = slopes->scratch;
    for (size_t c = 0; c < columns; c++) {
        for (size_t r = 0; r < m; r++) {
            carry[c * m + r] -= slopes->lambda_by[c * m + r];
        }
    }
    for (size_t r = 0; r < m; r++) {
        for (size_t c = 0; c < columns && slopes->active[s->system->n + (int)r] < 0; c++) {
            carry[c * m + r] = 0;
        }
    }
    if (!slopes_outside((int)m, s->system->n, A, slopes->columns, carry)) {
        return 0;
    }
    for (size_t k = 0; k < m * columns; k++) {
        slopes->lambda_by[k] += carry[k];
    }
    return 1;
}

/* Copies the solutions to the tables of the answer; dF = M da + d(M a - force - C). */
static void spread(zw_slopes *slopes, const slopes_bodies *s)
{
    const zw_system *system = s->system;
    const double *M = slopes->work->out[PART_TERMS] + system->at.M;
    size_t n = (size_t)system->n, m = (size_t)system->m, size = n + (size_t)s->unknowns;
    memset(slopes->lambda_by, 0, m * (size_t)slopes->columns * sizeof *slopes->lambda_by);
    for (size_t c = 0; c < (size_t)slopes->columns; c++) {
        const double *x = s->by + c * size;
        double *F = slopes->force_by + c * n;
        memcpy(slopes->a_by + c * n, x, n * sizeof *x);
        for (int h = 0; h < s->holds; h++) {
            if (s->hold[h].kind == HOLD_ROW) {
                slopes->lambda_by[c * m + (size_t)s->hold[h].index] = x[n + (size_t)s->hold[h].at];
            }
        }
        memcpy(F, slopes->known + c * n, n * sizeof *F);
        for (int j = 0; j < system->n; j++) {
            for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
                int i = system->M_row[k];
                F[i] += M[k] * x[j];
                F[j] += i != j ? M[k] * x[i] : 0;
            }
        }
    }
}

static void note_weak(zw_slopes *slopes, const slopes_bodies *s, double *scratch)
{
    size_t n = (size_t)s->system->n;
    int strong = 0;
    for (int h = 0; h < s->holds; h++) {
        const slopes_hold *it = &s->hold[h];
        for (int r = 0; r < it->unknowns && !it->weak; r++, strong++) {
            for (size_t i = 0; i < n; i++) { /* a column for each row that is not weak */
                scratch[i * (size_t)s->unknowns + (size_t)strong] =
                    s->B[(size_t)(it->first + r) * n + i];
            }
        }
    }
    for (size_t i = 0; i < n; i++) { /* remove the unused columns */
        memmove(scratch + i * (size_t)strong, scratch + i * (size_t)s->unknowns,
                (size_t)strong * sizeof *scratch);
    }
    for (int h = 0; h < s->holds; h++) {
        const slopes_hold *it = &s->hold[h];
        double *row = scratch + n * (size_t)s->unknowns, most = 0, left = 0;
        if (!it->weak) {
            continue;
        }
        memcpy(row, s->B + (size_t)it->first * n, n * sizeof *row);
        for (size_t i = 0; i < n; i++) {
            most = fmax(most, fabs(row[i]));
        }
        if (strong == 0 || slopes_outside((int)n, strong, scratch, 1, row)) {
            for (size_t i = 0; i < n; i++) {
                left = fmax(left, fabs(row[i]));
            }
        }
        if (left > 1e-6 * most) {
            slopes->answer.kinks++;
            slopes->answer.kink = "a contact about to open";
        }
    }
}

/* Several sliding contacts may share a load in a way that rigid bodies do not determine: friction,
 * and with it the accelerations, depend on how they share it. */
static void note_loose(zw_slopes *slopes, const slopes_bodies *s, const double *loose)
{
    double most = 0;
    for (int i = 0; i < s->system->n; i++) {
        most = fmax(most, loose[i]);
    }
    for (int h = 0; h < s->holds; h++) {
        const slopes_hold *it = &s->hold[h];
        most = it->way != WAY_HELD ? fmax(most, loose[s->system->n + it->at]) : most;
    }
    if (most > 1e-6) {
        slopes->answer.kinks++;
        slopes->answer.kink = "contacts that slide and share a load";
    }
}

static void note_carried(zw_slopes *slopes, const slopes_bodies *s)
{
    for (int h = 0; h < s->holds; h++) {
        if (s->hold[h].carried) {
            slopes->answer.kinks++;
            slopes->answer.kink = "a contact that moves to other parts of the shapes";
        }
    }
}

static int make_room(zw_slopes *slopes, slopes_bodies *s)
{
    size_t n = (size_t)s->system->n, size = n + (size_t)s->unknowns, values = (size_t)s->values;
    size_t more = (size_t)s->system->nq + 2 * n + (size_t)s->system->carried;
    return grow(&s->B, &s->B_capacity, values * n + 1) &&
           grow(&s->y, &s->y_capacity, 7 * slopes_width(s) + more) &&
           grow(&s->psi_by, &s->psi_capacity, 2 * n * values + 1) &&
           grow(&s->K, &s->K_capacity, size * size + n * size + 2 * n) &&
           grow(&s->by, &s->by_capacity, size * (size_t)slopes->columns + 1);
}

/* The equations here have just been evaluated. */
static void keep_here(zw_slopes *slopes, slopes_bodies *s)
{
    size_t wide = slopes_width(s);
    memcpy(s->y + 5 * wide, s->y, wide * sizeof *s->y);
    int ends = bodies_control_sides(s->system, s->work, SLOPES_END, s->control_side);
    s->work->control_side = s->control_side;
    if (ends > 0 && !s->simple) {
        slopes->answer.kinks++;
        slopes->answer.kink = "an actuator at its limit";
    }
}

static zw_status look_at_all(zw_slopes *slopes, zw_state *state, zw_error *error)
{
    slopes_bodies *s = slopes->bodies;
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, m = (size_t)system->m;
    zw_status status = slopes_hold_find(slopes, s, state, error);
    if (status != ZW_OK) {
        return status;
    }
    if (!make_room(slopes, s)) {
        return base_no_memory(error);
    }
    s->reach = s->nearer = 0;
    for (int i = 0; zw_contact_capacity(system) > 0 && i < system->bodies->contact->geom_count;
         i++) {
        double r = system->bodies->contact->geom[i].radius;
        s->reach = isfinite(r) ? fmax(s->reach, 8 * SLOPES_SMALL * (1 + r)) : s->reach;
    }
    memset(s->B, 0, (size_t)s->values * n * sizeof *s->B);
    memset(s->w, 0, n * sizeof *s->w);
    status = slopes_equations(s, state->t, state_q(state), state_v(state), state_param(state),
                              slopes->work->a, s->y, s->B, error);
    memcpy(slopes->force, slopes_part(s, s->y).push, n * sizeof *slopes->force);
    keep_here(slopes, s);
    double *A = slopes->scratch + m * (size_t)slopes->columns;
    if (status == ZW_OK && !find_w(slopes, s, A)) {
        return base_no_memory(error);
    }
    for (int i = 0; i < system->n + system->m; i++) {
        slopes->active[i] = i < system->n ? i : -1;
    }
    for (int h = 0; h < s->holds; h++) {
        if (s->hold[h].kind == HOLD_ROW) {
            slopes->active[system->n + s->hold[h].index] = system->n + s->hold[h].at;
        }
    }
    do { /* again whenever another point had to be carried */
        s->lost = 0;
        status = status == ZW_OK ? fill_columns(slopes, s, state, error) : status;
    } while (status == ZW_OK && s->lost);
    if (status != ZW_OK) {
        return status;
    }
    note_carried(slopes, s);
    note_weak(slopes, s, s->K);
    fill_matrix(slopes, s);
    int size = system->n + s->unknowns;
    double *loose = s->K + (size_t)size * (size_t)size;
    int rank = slopes_solve_to(size, slopes->columns, s->K, s->by, SLOPES_RANK, loose, NULL);
    if (rank < 0) {
        return base_no_memory(error);
    }
    spread(slopes, s);
    note_loose(slopes, s, loose);
    return rank < size && m > 0 && !settle(slopes, s, A) ? base_no_memory(error) : ZW_OK;
}

zw_status slopes_bodies_look(zw_slopes *slopes, zw_state *state, zw_error *error)
{
    zw_status status = look_at_all(slopes, state, error);
    slopes->bodies->work->control_side = NULL;
    return status;
}
