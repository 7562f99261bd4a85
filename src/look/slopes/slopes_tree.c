/* Derivatives at an instant of a robot.
 *
 * r = M a + bias - springs - dampers - motors - A' lambda; M a + bias is differentiated by sweeps
 * (tree/differ.c), the forces by hand (slopes_pull.c), and rows of limits and of linear couplings
 * are constant: d lambda follows from K = [M -A'; A 0]. If no constraint is closed, da = -M \ dr by
 * the factors of the tree.
 *
 * Loops, contacts, static friction and forces along directions that turn are left to
 * slopes_bodies.c, which for a plain tree takes the slopes of M a - force from here. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/slopes/slopes.h"
#include "look/slopes/slopes_bodies.h"
#include "look/slopes/slopes_pull.h"
#include "system/bodies/bodies.h"
#include "tree/differ.h"
#include "tree/sweeps.h"

struct slopes_tree {
    double *scratch, *by_q, *by_v;
    double *lanes; /* [8 n] */
};

static zw_status not_yet(zw_error *error, const char *what)
{
    return base_fail(error, ZW_BAD_INPUT, "derivatives of %s are not supported yet", what);
}

zw_status slopes_tree_create(zw_slopes *slopes, zw_error *error)
{
    const zw_system *system = slopes->system;
    size_t n = (size_t)system->n;
    zw_error unused = {0};
    int simple = slopes_pulls_check(system, &unused) == ZW_OK;
    if (system->tree->without_matrix) {
        return not_yet(error, "trees without a mass matrix");
    }
    slopes->bodies = slopes_bodies_create(system, simple, error);
    if (!slopes->bodies) {
        return ZW_NO_MEMORY;
    }
    slopes->formulas.rows = system->n + system->m;
    slopes->tree = base_alloc(sizeof *slopes->tree);
    if (slopes->tree) {
        slopes->tree->scratch =
            base_alloc((tree_differ_scratch(system->tree) + 1) * sizeof(double));
        slopes->tree->by_q = base_alloc((2 * n * n + 1) * sizeof(double));
        slopes->tree->lanes = base_alloc((8 * n + 1) * sizeof(double));
        slopes->tree->by_v = slopes->tree->by_q ? slopes->tree->by_q + n * n : NULL;
    }
    return slopes->tree && slopes->tree->scratch && slopes->tree->by_q && slopes->tree->lanes
               ? ZW_OK
               : base_no_memory(error);
}

void slopes_tree_free(struct slopes_tree *tree)
{
    if (tree) {
        base_free(tree->scratch);
        base_free(tree->lanes);
        base_free(tree->by_q);
        base_free(tree);
    }
}

/* ---- What is active -------------------------------------------------------------------------- */

/* 0: an active constraint has rows that are not constant. */
static int find_active(zw_slopes *s, int *size)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    const zw_work *work = s->work;
    *size = system->n;
    for (int i = 0; i < system->n + system->m; i++) {
        s->active[i] = i < system->n ? i : -1;
    }
    if (!s->bodies->simple || work->shown_by != work->motion) {
        return 0;
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        int k = c - bodies_first_constraint(bodies);
        if (work->mode[c] == SYSTEM_OPEN) {
            continue;
        }
        if (k < 0 || k >= bodies->constraint_count) { /* dry friction: a constant while it slides */
            if (work->mode[c] != SYSTEM_CLOSED) {
                return 0;
            }
            continue;
        }
        if (!slopes_is_constant(&bodies->constraint[k])) {
            return 0;
        }
        for (int r = system->first_row[c]; r < system->first_row[c + 1]; r++) {
            s->active[system->n + r] = (*size)++;
        }
    }
    return 1;
}

/* ---- Forces ---------------------------------------------------------------------------------- */

/* known -= coef slope coef' at columns from `first` on: a force of F(L) or F(L'). */
static void add_along(zw_slopes *s, int first, const slopes_pull *pull, double slope)
{
    size_t n = (size_t)s->system->n;
    for (int j = 0; j < pull->count && slope != 0; j++) {
        for (int i = 0; i < pull->count; i++) {
            s->known[(size_t)(first + pull->dof[j]) * n + (size_t)pull->dof[i]] -=
                pull->coef[i] * slope * pull->coef[j];
        }
    }
}

static void add_pull(void *user, const slopes_pull *pull)
{
    zw_slopes *s = user;
    size_t n = (size_t)s->system->n;
    add_along(s, 0, pull, pull->by_length);
    add_along(s, s->system->n, pull, pull->by_rate);
    for (int i = 0; i < pull->count && pull->param >= 0; i++) {
        size_t column = 2 * n + 1 + (size_t)pull->param;
        s->known[column * n + (size_t)pull->dof[i]] -= pull->by_control * pull->coef[i];
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

/* da = -M \ known by the factors of the tree. 0: M has none. */
static int solve_free(zw_slopes *s)
{
    const zw_system *system = s->system;
    double *sweeps = s->work->sweeps;
    size_t n = (size_t)system->n;
    int bad = 0;
    if (system->bodies->thin_count > 0) {
        return 0;
    }
    tree_composite(system->tree, sweeps);
    tree_factor(system->tree, NULL, sweeps, &bad);
    for (size_t i = 0; i < n * (size_t)s->columns && !bad; i++) {
        s->a_by[i] = -s->known[i];
    }
    if (!bad) {
        tree_solve_many(system->tree, sweeps, s->columns, s->a_by, s->tree->lanes);
    }
    return !bad;
}

/* With rows that are closed: K = [M -A'; A 0]. */
static zw_status solve_closed(zw_slopes *s, int size, zw_error *error)
{
    const zw_system *system = s->system;
    const double *out = s->work->out[PART_TERMS];
    size_t n = (size_t)system->n, m = (size_t)system->m, wide = (size_t)size;
    memset(s->K, 0, wide * wide * sizeof *s->K);
    for (int j = 0; j < system->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            size_t i = (size_t)system->M_row[k];
            s->K[i * wide + (size_t)j] = s->K[(size_t)j * wide + i] = out[system->at.M + k];
        }
    }
    for (size_t r = 0; r < m; r++) {
        for (int k = system->A_start[r]; k < system->A_start[r + 1] && s->active[n + r] >= 0; k++) {
            size_t row = (size_t)s->active[n + r], i = (size_t)system->A_column[k];
            s->K[row * wide + i] = out[system->at.A + k];
            s->K[i * wide + row] = -out[system->at.A + k];
        }
    }
    memset(s->by, 0, (size_t)s->columns * wide * sizeof *s->by);
    for (size_t c = 0; c < (size_t)s->columns; c++) {
        for (size_t i = 0; i < n; i++) {
            s->by[c * wide + i] = -s->known[c * n + i];
        }
    }
    if (slopes_solve(size, s->columns, s->K, s->by) < 0) {
        return base_no_memory(error);
    }
    for (size_t c = 0; c < (size_t)s->columns; c++) {
        memcpy(s->a_by + c * n, s->by + c * wide, n * sizeof *s->by);
        for (size_t r = 0; r < m; r++) {
            s->lambda_by[c * m + r] =
                s->active[n + r] >= 0 ? s->by[c * wide + (size_t)s->active[n + r]] : 0;
        }
    }
    return ZW_OK;
}

/* F = A' lambda and its slopes. */
static void find_forces(zw_slopes *s)
{
    const zw_system *system = s->system;
    const double *A = s->work->out[PART_TERMS] + system->at.A;
    size_t n = (size_t)system->n, m = (size_t)system->m;
    for (int c = -1; c < s->columns; c++) {
        const double *x = c < 0 ? s->work->push : s->lambda_by + (size_t)c * m;
        double *y = c < 0 ? s->force : s->force_by + (size_t)c * n;
        memset(y, 0, n * sizeof *y);
        for (int r = 0; r < system->m; r++) {
            for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
                y[system->A_column[k]] += s->active[(int)n + r] >= 0 ? A[k] * x[r] : 0;
            }
        }
    }
}

/* known: the slopes of M a - force of a plain tree. */
static void find_known(zw_slopes *s, const double *q, const double *v)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n;
    slopes_kinks kinks = {0};
    memset(s->known, 0, (size_t)s->columns * n * sizeof *s->known);
    if (!s->bodies->simple) {
        return;
    }
    tree_kinematics(system->tree, q, s->work->sweeps);
    tree_velocities(system->tree, v, s->work->sweeps);
    tree_differ(system->tree, v, s->work->a, s->work->sweeps, s->tree->scratch, s->tree->by_q,
                s->tree->by_v);
    memcpy(s->known, s->tree->by_q, 2 * n * n * sizeof *s->known);
    slopes_pulls(system, s->work, q, v, add_pull, s, &kinks);
    s->answer.kinks += kinks.count;
    s->answer.kink = kinks.name ? kinks.name : s->answer.kink;
}

zw_status slopes_tree_look(zw_slopes *s, zw_state *state, zw_error *error)
{
    const zw_system *system = s->system;
    int size, plain = find_active(s, &size) && s->numbers == 0;
    zw_status status = ZW_OK;
    s->by_bodies = !plain;
    find_known(s, state_q(state), state_v(state));
    if (!plain) {
        return slopes_bodies_look(s, state, error);
    }
    memset(s->lambda_by, 0, (size_t)s->columns * (size_t)system->m * sizeof *s->lambda_by);
    if (size > system->n || !solve_free(s)) {
        status = solve_closed(s, size, error);
    }
    find_forces(s);
    for (int r = 0; r < system->m; r++) {
        int closed = s->active[system->n + r] >= 0 && system->row_kind[r] == SYSTEM_CONTACT;
        if (closed && !(s->work->push[r] > 0)) {
            s->answer.kinks++;
            s->answer.kink = zw_name(system, ZW_KIND_ROW, r);
        }
    }
    return status;
}
