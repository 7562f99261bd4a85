/* Derivatives of the accelerations and multipliers at an instant, by the implicit function theorem.
 *
 * At an instant the unknowns x solve r(x; p) = 0. They are the accelerations, the multipliers of
 * closed constraints and the holding forces of static friction; p stands for coordinates, speeds,
 * time and parameters. With the active set fixed,
 *
 *     K dx = -dr/dp dp,        K = dr/dx = [M  -A'; A  0], which friction makes unsymmetric.
 *
 * Redundant rows make K singular. They are consistent on the whole manifold, so they are consistent
 * in dx as well. So K is factored with its rank (slopes_solve.c), the accelerations are unique, and
 * the multipliers of least norm, lambda = (A')^+ g, have the derivative
 *
 *     d lambda = (A')^+ (dg - dA' lambda) + (1 - A A^+) dA w,      A w = lambda:
 *
 * the derivative of a pseudoinverse at constant rank. Its first part lies in the range of A, its
 * second is orthogonal to that range, and any solution w will do: for A z = 0 the part of dA z
 * orthogonal to the range is zero, since that of A z is always zero.
 *
 * Where contacts that slide are redundant, friction depends on how they share the load, and so do
 * the accelerations: K has null vectors that move something. Multipliers are still those of least
 * norm, so that the part o of d lambda outside the range of A is the one above. With the projector
 * P = 1 - A A^+ onto the outside, both are
 *
 *     A da + P d lambda = (dr/dp of the rows) + o,
 *
 * as rows of A da and their right sides are in the range, and P d lambda and o are not.
 *
 * The force of the constraints is F = M a - force - C, so dF = M da + d(M a - force - C). */
#include "look/slopes/slopes.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/slopes/slopes_bodies.h"

#define LOOSE 1e-9 /* null vectors of K move something, as a part of their largest number */

/* ---- Creating and freeing -------------------------------------------------------------------- */

static void lay_out(zw_slopes *s, base_arena *arena)
{
    size_t n = (size_t)s->system->n, m = (size_t)s->system->m, columns = (size_t)s->columns;
    size_t rows = (size_t)s->formulas.rows;
    s->active = base_arena_ints(arena, rows);
    s->K = base_arena_doubles(arena, rows * rows);
    s->by = base_arena_doubles(arena, rows * columns);
    s->K_kept = base_arena_doubles(arena, rows * rows);
    s->by_kept = base_arena_doubles(arena, rows * columns);
    s->known = base_arena_doubles(arena, n * columns);
    s->a_by = base_arena_doubles(arena, n * columns);
    s->lambda_by = base_arena_doubles(arena, m * columns);
    s->force_by = base_arena_doubles(arena, n * columns);
    s->force = base_arena_doubles(arena, n);
    s->scratch = base_arena_doubles(arena, m * columns + m * n + n + m * m + rows);
}

static zw_status prepare(zw_slopes *s, zw_error *error)
{
    enum { MOST = 2000 };
    const zw_system *system = s->system;
    if (system->law.carried > 0) {
        return base_fail(error, ZW_BAD_INPUT,
                         "derivatives of an instant are of the nonholonomic law; this system has "
                         "another, whose multipliers are part of the state");
    }
    if (system->n + system->m > MOST) {
        return base_fail(error, ZW_BAD_INPUT,
                         "derivatives of an instant fill tables of %d by %d numbers here; they are "
                         "for systems of up to %d coordinates and rows",
                         system->n + system->m, system->n + system->m, MOST);
    }
    return system->tree ? slopes_tree_create(s, error) : slopes_formulas_create(s, error);
}

static zw_slopes *create(const zw_model *model, const zw_system *system, int numbers,
                         zw_error *error)
{
    zw_slopes *s = base_alloc(sizeof *s);
    base_arena arena = {0};
    if (!s) {
        base_no_memory(error);
        return NULL;
    }
    s->model = model;
    s->system = system;
    s->numbers = numbers;
    s->columns = 2 * system->n + 1 + system->shape.params + numbers;
    zw_status status = prepare(s, error);
    if (status == ZW_OK) {
        lay_out(s, &arena);
        s->memory = base_alloc(arena.used + 1);
        status = s->memory ? ZW_OK : base_no_memory(error);
    }
    if (status == ZW_OK) {
        arena = (base_arena){.block = s->memory};
        lay_out(s, &arena);
        s->work = zw_work_create(system, error);
    }
    if (status != ZW_OK || !s->work) {
        zw_slopes_free(s);
        return NULL;
    }
    return s;
}

zw_slopes *zw_slopes_create(const zw_model *model, const zw_system *system, zw_error *error)
{
    return create(model, system, 0, error);
}

zw_slopes *zw_slopes_create_numbers(zw_model *model, const zw_system *system,
                                    const char *const *number, int numbers, zw_error *error)
{
    zw_error mine = {0};
    error = error ? error : &mine;
    zw_slopes *s = create(model, system, numbers, error);
    if (s && slopes_numbers_create(s, model, number, error) != ZW_OK) {
        zw_slopes_free(s);
        return NULL;
    }
    return s;
}

void zw_slopes_free(zw_slopes *slopes)
{
    if (slopes) {
        slopes_numbers_free(slopes);
        zw_work_free(slopes->work);
        slopes_formulas_free(&slopes->formulas);
        slopes_tree_free(slopes->tree);
        slopes_bodies_free(slopes->bodies);
        base_free(slopes->memory);
        base_free(slopes);
    }
}

int zw_slopes_of_q(const zw_slopes_answer *answer, int speed)
{
    (void)answer;
    return speed;
}

int zw_slopes_of_v(const zw_slopes_answer *answer, int speed)
{
    return answer->n + speed;
}

int zw_slopes_of_t(const zw_slopes_answer *answer)
{
    return 2 * answer->n;
}

int zw_slopes_of_param(const zw_slopes_answer *answer, int param)
{
    return 2 * answer->n + 1 + param;
}

int zw_slopes_of_number(const zw_slopes_answer *answer, int number)
{
    return 2 * answer->n + 1 + answer->params + number;
}

/* ---- Solving -------------------------------------------------------------------------------- */

/* Is a closed one-sided constraint about to open, or an open one about to close? */
static void count_contacts(zw_slopes *s, zw_state *state, zw_error *error)
{
    const zw_system *system = s->system;
    zw_work *work = s->work;
    if (system->contact_count == 0 ||
        system_evaluate(system, work, PART_POSITION, state->t, state_q(state), state_v(state), NULL,
                        NULL, error) != ZW_OK) {
        return;
    }
    double most = 1e-300;
    for (int r = 0; r < system->m; r++) {
        most = fmax(most, fabs(work->push[r]));
    }
    for (int r = 0; r < system->m; r++) {
        int c = system->row_constraint[r];
        if (system->row_kind[r] != SYSTEM_CONTACT) {
            continue;
        }
        int open = work->mode[c] == SYSTEM_OPEN;
        if (open ? fabs(work->out[PART_POSITION][r]) <= 1e-12 : work->push[r] <= 1e-9 * most) {
            s->answer.kinks++;
            s->answer.kink = system->model->constraint[c].name;
        }
    }
}

/* Copies the solutions of all columns to the tables of the answer. */
static void spread(zw_slopes *s, int size, const double *by)
{
    size_t n = (size_t)s->system->n, m = (size_t)s->system->m;
    for (size_t c = 0; c < (size_t)s->columns; c++) {
        const double *x = by + c * (size_t)size;
        memcpy(s->a_by + c * n, x, n * sizeof *x);
        for (size_t r = 0; r < m; r++) {
            s->lambda_by[c * m + r] = s->active[n + r] >= 0 ? x[s->active[n + r]] : 0;
        }
    }
}

/* A of the rows that are active, and o of all columns, before its projection. */
static zw_status find_outside(zw_slopes *s, zw_state *state, double *A, double *carry,
                              zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, m = (size_t)system->m;
    const double *out = s->work->out[PART_TERMS];
    double *w = A + m * n;
    memset(A, 0, m * n * sizeof *A);
    for (size_t r = 0; r < m; r++) {
        if (s->active[n + r] >= 0) { /* open rows stay zero */
            for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
                A[r * n + (size_t)system->A_column[k]] = out[system->at.A + k];
            }
        }
    }
    if (!slopes_some((int)m, (int)n, A, s->work->push, w)) {
        return base_no_memory(error);
    }
    slopes_formulas_carry(s, state, w, carry);
    for (size_t k = 0; k < m * (size_t)s->columns; k++) {
        carry[k] = s->active[n + k % m] >= 0 ? carry[k] : 0;
    }
    return ZW_OK;
}

/* The part of the multipliers that redundant rows leave undetermined. */
static zw_status settle_redundant(zw_slopes *s, zw_state *state, zw_error *error)
{
    size_t n = (size_t)s->system->n, m = (size_t)s->system->m, count = m * (size_t)s->columns;
    double *carry = s->scratch, *A = carry + count;
    zw_status status = find_outside(s, state, A, carry, error);
    for (size_t k = 0; k < count && status == ZW_OK; k++) {
        carry[k] -= s->active[n + k % m] >= 0 ? s->lambda_by[k] : 0;
    }
    if (status == ZW_OK && !slopes_outside((int)m, (int)n, A, s->columns, carry)) {
        return base_no_memory(error);
    }
    for (size_t k = 0; k < count && status == ZW_OK; k++) {
        s->lambda_by[k] += carry[k];
    }
    return status;
}

/* The same where accelerations depend on it: the rows with P and o, solved again. */
static zw_status settle_shared(zw_slopes *s, zw_state *state, int size, zw_error *error)
{
    size_t n = (size_t)s->system->n, m = (size_t)s->system->m, wide = (size_t)size;
    size_t count = m * (size_t)s->columns;
    double *carry = s->scratch, *A = carry + count, *P = A + m * n + n;
    zw_status status = find_outside(s, state, A, carry, error);
    for (size_t k = 0; k < m * m; k++) {
        P[k] = k / m == k % m && s->active[n + k / m] >= 0;
    }
    if (status == ZW_OK && !(slopes_outside((int)m, (int)n, A, s->columns, carry) &&
                             slopes_outside((int)m, (int)n, A, (int)m, P))) {
        status = base_no_memory(error);
    }
    for (size_t r = 0; r < m && status == ZW_OK; r++) {
        int row = s->active[n + r];
        for (size_t k = 0; k < m && row >= 0; k++) {
            int to = s->active[n + k];
            s->K_kept[(size_t)row * wide + (size_t)(to >= 0 ? to : 0)] +=
                to >= 0 ? P[r * m + k] : 0;
        }
        for (size_t c = 0; c < (size_t)s->columns && row >= 0; c++) {
            s->by_kept[c * wide + (size_t)row] += carry[c * m + r];
        }
    }
    if (status == ZW_OK && slopes_solve(size, s->columns, s->K_kept, s->by_kept) < 0) {
        status = base_no_memory(error);
    }
    if (status == ZW_OK) {
        spread(s, size, s->by_kept);
    }
    return status;
}

/* K dx = by for all columns, and what redundant rows leave open. */
static zw_status solve(zw_slopes *s, zw_state *state, int size, int *rank, zw_error *error)
{
    size_t wide = (size_t)size;
    double *loose = s->scratch, most = 0;
    memcpy(s->K_kept, s->K, wide * wide * sizeof *s->K);
    memcpy(s->by_kept, s->by, wide * (size_t)s->columns * sizeof *s->by);
    *rank = slopes_solve_to(size, s->columns, s->K, s->by, SLOPES_RANK, loose, NULL);
    if (*rank < 0) {
        return base_no_memory(error);
    }
    for (int i = 0; i < s->system->n && *rank < size; i++) {
        most = fmax(most, loose[i]);
    }
    spread(s, size, s->by);
    return *rank == size || s->system->m == 0 ? ZW_OK
           : most > LOOSE                     ? settle_shared(s, state, size, error)
                                              : settle_redundant(s, state, error);
}

/* dF = M da + d(M a - force - C), and F itself. */
static void find_forces(zw_slopes *s)
{
    const zw_system *system = s->system;
    const double *out = s->work->out[PART_TERMS], *M = out + system->at.M;
    size_t n = (size_t)system->n;
    for (int c = -1; c < s->columns; c++) {
        const double *x = c < 0 ? s->work->a : s->a_by + (size_t)c * n;
        double *y = c < 0 ? s->force : s->force_by + (size_t)c * n;
        for (size_t i = 0; i < n; i++) {
            y[i] = c < 0 ? -out[system->at.force + (int)i] : s->known[(size_t)c * n + i];
        }
        for (int k = 0; k < system->C_count && c < 0; k++) {
            y[system->C_coord[k]] -= out[system->at.C + k];
        }
        for (int j = 0; j < system->n; j++) {
            for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
                int i = system->M_row[k];
                y[i] += M[k] * x[j];
                y[j] += i != j ? M[k] * x[i] : 0;
            }
        }
    }
}

static zw_status refuse_held(zw_slopes *s, zw_error *error)
{
    const zw_system *system = s->system;
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (s->work->mode[c] == SYSTEM_HELD) {
            return base_fail(error, ZW_BAD_INPUT,
                             "friction of %s carries a part of the load; its derivatives are not "
                             "supported yet",
                             system->model->constraint[c].name);
        }
    }
    return ZW_OK;
}

static zw_status of_equations(zw_slopes *s, zw_state *state, zw_error *error)
{
    int size = 0;
    zw_status status = refuse_held(s, error);
    status = status == ZW_OK ? slopes_formulas_kinks(s, state, error) : status;
    int kinks = s->answer.kinks;
    status = status == ZW_OK ? slopes_formulas_fill(s, state, &size, error) : status;
    s->answer.kinks = kinks; /* as before that call, which counts those of friction again */
    if (status != ZW_OK) {
        return status;
    }
    int rank;
    status = solve(s, state, size, &rank, error);
    if (status != ZW_OK) {
        return status;
    }
    find_forces(s);
    count_contacts(s, state, error);
    return status;
}

zw_status zw_slopes_look(zw_slopes *slopes, const zw_state *state, zw_slopes_answer *answer,
                         zw_error *error)
{
    zw_state *now = (zw_state *)state; /* not modified */
    const zw_system *system = slopes->system;
    slopes->answer = (zw_slopes_answer){0};
    *answer = slopes->answer;
    zw_status status = zw_forward(system, state, slopes->work, NULL, error);
    if (status == ZW_OK) {
        status =
            slopes->tree ? slopes_tree_look(slopes, now, error) : of_equations(slopes, now, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    *answer = (zw_slopes_answer){.n = system->n,
                                 .m = system->m,
                                 .params = system->shape.params,
                                 .columns = slopes->columns,
                                 .a = slopes->work->a,
                                 .lambda = slopes->work->push,
                                 .force = slopes->force,
                                 .a_by = slopes->a_by,
                                 .lambda_by = slopes->lambda_by,
                                 .force_by = slopes->force_by,
                                 .kinks = slopes->answer.kinks,
                                 .kink = slopes->answer.kink};
    return ZW_OK;
}

zw_status slopes_follow(zw_slopes *slopes, zw_work *work, const step_kinks *kinks, zw_state *state,
                        int *rank, zw_error *error)
{
    zw_work *own = slopes->work;
    int size = 0;
    slopes->work = work;
    slopes->kinks = kinks;
    zw_status status = refuse_held(slopes, error);
    status = status == ZW_OK ? slopes_formulas_fill(slopes, state, &size, error) : status;
    status = status == ZW_OK ? solve(slopes, state, size, rank, error) : status;
    slopes->work = own;
    slopes->kinks = NULL;
    return status;
}
