/* One shape of Gauss's problem over the rows of a system.
 *
 * A constraint with friction has tangential rows d' T, one for each direction d it can slide in
 * (slip.c, tangent.c). In a cone the normal row is divided by the length of its push nu, so that
 * its multiplier is a force and may be compared with the tangential ones. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/contact/apart.h"
#include "system/events/tangent.h"
#include "system/work.h"

/* Approximate limit on the operations of one solve: about a second. A factorisation has m rows of n
 * + m numbers; at least LEAST of them are allowed, however large the problem is. */
#define OPERATIONS 1e9
enum { LEAST = 150 };

static int effort(double n, double m)
{
    return (int)fmin(1e6, fmax(LEAST, OPERATIONS / (2 * m * m * (n + m) + 1)));
}

static int tangents(const zw_system *system, int constraint, int role)
{
    return role == SOLVER_EQUAL_HELD || role == SOLVER_CONE ? system->slip[constraint].rank : 0;
}

/* ---- Shape --------------------------------------------------------------------------------- */

typedef struct shape {
    int rows, blocks, entries;
} shape;

static shape measure(const zw_system *system, const int *role, int held, const solver_tail *tail)
{
    shape s = {
        .rows = held + tail->rows, .blocks = held + tail->blocks, .entries = held + tail->entries};
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (role[c] == SOLVER_ABSENT) {
            continue;
        }
        int first = system->first_row[c], end = system->first_row[c + 1];
        int t = tangents(system, c, role[c]);
        s.rows += end - first + t;
        s.blocks += 1 + (role[c] == SOLVER_EQUAL_HELD && t > 0);
        s.entries += system->A_start[end] - system->A_start[first];
        s.entries += t * system->slip[c].columns;
    }
    return s;
}

static void lay_out(system_solver *solver, base_arena *arena, shape s)
{
    const zw_system *system = solver->system;
    size_t n = (size_t)system->n, rows = (size_t)s.rows;
    size_t entries = system->sparse ? (size_t)s.entries : rows * n;
    solver->role = base_arena_ints(arena, (size_t)system->model->constraint_count);
    solver->row_of = base_arena_ints(arena, rows);
    solver->tangent_of = base_arena_ints(arena, rows);
    solver->scale = base_arena_doubles(arena, rows);
    solver->block = base_arena_bytes(arena, (size_t)s.blocks * sizeof(zw_block));
    solver->M = base_arena_doubles(arena, system->sparse || system->M_diagonal ? 0 : n * n);
    solver->A = base_arena_doubles(arena, entries);
    solver->A_start = base_arena_ints(arena, system->sparse ? rows + 1 : 0);
    solver->A_column = base_arena_ints(arena, system->sparse ? entries : 0);
    solver->b = base_arena_doubles(arena, rows);
    solver->flex = base_arena_doubles(arena, rows);
    solver->C = base_arena_doubles(arena, n);
    solver->pushed = base_arena_doubles(arena, n);
    solver->lambda = base_arena_doubles(arena, rows);
}

static void add_block(system_solver *solver, const char *name, zw_block_kind kind, int rows)
{
    solver->block[solver->block_count++] = (zw_block){.name = name, .kind = kind, .rows = rows};
}

static void add_rows_of(system_solver *solver, int c)
{
    const zw_system *system = solver->system;
    const char *name = system->model->constraint[c].name;
    int role = solver->role[c], t = tangents(system, c, role);
    int rows = system->first_row[c + 1] - system->first_row[c];
    for (int r = system->first_row[c]; r < system->first_row[c + 1]; r++) {
        solver->row_of[solver->rows++] = r;
    }
    for (int k = 0; k < t; k++) {
        solver->row_of[solver->rows] = -1;
        solver->tangent_of[solver->rows++] = c * 4 + k;
    }
    if (role == SOLVER_CONE) {
        add_block(solver, name, ZW_CONE, rows + t);
    } else {
        if (rows > 0) { /* dry friction has none */
            add_block(solver, name, role == SOLVER_AT_LEAST ? ZW_INEQUALITY : ZW_EQUALITY, rows);
        }
        if (t > 0) {
            add_block(solver, name, ZW_EQUALITY, t);
        }
    }
}

/* The columns of every row, if rows are compressed. */
static void set_pattern(system_solver *solver)
{
    const zw_system *system = solver->system;
    int k = 0;
    for (int i = 0; i < solver->rows; i++) {
        int r = solver->row_of[i];
        solver->A_start[i] = k;
        if (r >= 0) {
            for (int e = system->A_start[r]; e < system->A_start[r + 1]; e++) {
                solver->A_column[k++] = system->A_column[e];
            }
        } else if (r == -1) {
            const system_slip *slip = &system->slip[solver->tangent_of[i] / 4];
            for (int e = 0; e < slip->columns; e++) {
                solver->A_column[k++] = system->slip_column[slip->first_column + e];
            }
        } else {
            solver->A_column[k++] = -2 - r;
        }
    }
    solver->A_start[solver->rows] = k;
}

static void set_problem(system_solver *solver)
{
    const zw_system *system = solver->system;
    zw_gauss *problem = &solver->problem;
    problem->n = system->n;
    if (system->M_diagonal) {
        problem->metric.kind = ZW_METRIC_DIAGONAL;
    } else if (system->sparse) {
        problem->metric =
            (zw_metric){.kind = ZW_METRIC_SPARSE, .start = system->M_start, .row = system->M_row};
    } else {
        problem->metric = (zw_metric){.kind = ZW_METRIC_DENSE, .value = solver->M};
    }
    problem->block_count = solver->block_count;
    problem->block = solver->block;
    if (system->sparse) {
        problem->A =
            (zw_rows){.start = solver->A_start, .column = solver->A_column, .value = solver->A};
    } else {
        problem->A.dense = solver->A;
    }
    problem->b = solver->b;
    solver->options = zw_gauss_options_default();
    solver->options.effort = effort(system->n, solver->rows);
    solver->options.algebra = system->sparse ? ZW_ALGEBRA_SPARSE : ZW_ALGEBRA_DENSE;
}

system_solver *solver_create_with(const zw_system *system, const int *role, const int *held,
                                  int held_count, const solver_tail *tail, zw_error *error)
{
    system_solver *solver = base_alloc(sizeof *solver);
    base_arena arena = {0};
    shape s = measure(system, role, held_count, tail);
    if (solver) {
        solver->system = system;
        lay_out(solver, &arena, s);
        solver->block_of_memory = base_alloc(arena.used);
    }
    if (!solver || !solver->block_of_memory) {
        base_free(solver);
        base_no_memory(error);
        return NULL;
    }
    arena = (base_arena){.block = solver->block_of_memory};
    lay_out(solver, &arena, s);
    for (int c = 0; c < system->model->constraint_count; c++) {
        solver->role[c] = role[c];
        if (role[c] != SOLVER_ABSENT) {
            add_rows_of(solver, c);
        }
    }
    for (int i = 0; i < held_count; i++) {
        solver->row_of[solver->rows++] = -2 - held[i];
        add_block(solver, system_speed_name(system, held[i]), ZW_EQUALITY, 1);
    }
    solver->extra = held_count;
    if (system->sparse) {
        set_pattern(solver);
    }
    set_problem(solver);
    return solver;
}

system_solver *solver_create(const zw_system *system, const int *role, const int *held,
                             int held_count, zw_error *error)
{
    return solver_create_with(system, role, held, held_count, &(solver_tail){0}, error);
}

/* Writes the entries of row i: consecutive if compressed, by column if dense. */
static void put_row(system_solver *solver, int i, int count, const int *column, const double *value,
                    double scale)
{
    if (solver->system->sparse) {
        double *to = solver->A + solver->A_start[i];
        for (int k = 0; k < count; k++) {
            to[k] = scale * value[k];
        }
    } else {
        double *to = solver->A + (size_t)i * (size_t)solver->system->n;
        for (int k = 0; k < count; k++) {
            to[column[k]] = scale * value[k];
        }
    }
}

/* Appends a row. */
void solver_add_row(system_solver *solver, int count, const int *column, const double *value,
                    double b)
{
    int i = solver->rows + solver->tail++;
    if (solver->system->sparse) {
        int at = solver->A_start[i];
        memcpy(solver->A_column + at, column, (size_t)count * sizeof *column);
        solver->A_start[i + 1] = at + count;
    }
    put_row(solver, i, count, column, value, 1);
    solver->b[i] = b;
}

void solver_add_block(system_solver *solver, const zw_block *block)
{
    solver->block[solver->block_count++] = *block;
    solver->problem.block_count = solver->block_count;
}

void solver_free(system_solver *solver)
{
    if (solver) {
        zw_gauss_work_free(solver->gauss);
        base_free(solver->block_of_memory);
        base_free(solver);
    }
}

/* ---- Numbers ------------------------------------------------------------------------------- */

static void fill_metric(system_solver *solver, const double *M)
{
    const zw_system *system = solver->system;
    if (system->M_diagonal || system->sparse) {
        solver->problem.metric.value = M;
        return;
    }
    int n = system->n;
    for (int j = 0; j < n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            int i = system->M_row[k];
            solver->M[i * n + j] = solver->M[j * n + i] = M[k];
        }
    }
}

void solver_clear_metric(system_solver *solver)
{
    const zw_system *system = solver->system;
    int n = system->n, k = 0;
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            int there = k < system->M_start[j + 1] && system->M_row[k] == i;
            solver->M[i * n + j] = solver->M[j * n + i] = there ? solver->M[i * n + j] : 0;
            k += there;
        }
    }
}

/* Row d' T, and b = -d . D e for accelerations, d . (T free - e) for speeds. */
static void fill_tangent(system_solver *solver, int i, const double *slip, const double *free)
{
    int n = solver->system->n, sparse = solver->system->sparse;
    tangent t = tangent_look(solver->system, solver->tangent_of[i] / 4, slip);
    double d[TANGENT_WIDTH], b = 0;
    tangent_direction(&t, solver->tangent_of[i] % 4, d);
    double *to = solver->A + (sparse ? (size_t)solver->A_start[i] : (size_t)i * (size_t)n);
    for (int k = 0; k < t.columns; k++) {
        double sum = 0;
        for (int j = 0; j < t.width; j++) {
            sum += d[j] * t.T[j * t.columns + k];
        }
        to[sparse ? k : t.column[k]] = sum;
        b += free ? sum * free[t.column[k]] : 0;
    }
    for (int j = 0; j < t.width; j++) {
        b -= d[j] * (free ? t.e[j] : t.bias[j]);
    }
    solver->b[i] = b;
}

/* The length of the push of row r, if it belongs to a cone. */
static double length(const system_solver *solver, int r, const double *slip)
{
    int c = solver->system->row_constraint[r];
    if (solver->role[c] != SOLVER_CONE) {
        return 1;
    }
    tangent t = tangent_look(solver->system, c, slip);
    return tangent_push(&t);
}

static void fill_row(system_solver *solver, int i, const system_rows *rows, const double *free)
{
    const zw_system *system = solver->system;
    int r = solver->row_of[i];
    if (r < -1) { /* held: the caller sets its b */
        int coord = -2 - r;
        double one = 1;
        put_row(solver, i, 1, &coord, &one, 1);
    } else if (r == -1) {
        fill_tangent(solver, i, rows->slip, free);
    } else {
        int start = system->A_start[r], count = system->A_start[r + 1] - start;
        double size = length(solver, r, rows->slip);
        solver->scale[i] = size > 0 ? 1 / size : 1;
        put_row(solver, i, count, system->A_column + start, rows->A + start, solver->scale[i]);
        solver->b[i] = solver->scale[i] * rows->b[r];
    }
}

void solver_set_friction(system_solver *solver, const double *mu)
{
    for (int b = 0, i = 0; b < solver->block_count && i < solver->rows;
         i += solver->block[b].rows, b++) {
        if (solver->block[b].kind == ZW_CONE) {
            int c = solver->system->row_constraint[solver->row_of[i]];
            solver->block[b].friction[0] = solver->block[b].friction[1] = mu[c];
        }
    }
}

void solver_fill(system_solver *solver, const double *M, system_rows rows, const double *force,
                 const double *free)
{
    fill_metric(solver, M);
    for (int i = 0; i < solver->rows; i++) {
        fill_row(solver, i, &rows, free);
    }
    solver->problem.force = force;
    solver->problem.free = free;
    solver->problem.C = NULL;
    solver->problem.law = NULL;
    solver->again = 0;
}

static zw_status make_work(system_solver *solver, zw_error *error)
{
    solver->gauss = solver->gauss ? solver->gauss
                                  : zw_gauss_work_create(&solver->problem, &solver->options, error);
    return solver->gauss ? ZW_OK : error ? error->status : ZW_NO_MEMORY;
}

zw_status solver_solve(system_solver *solver, zw_error *error)
{
    zw_status status = ZW_OK;
    solver->options.guess = solver->warm ? solver->lambda : NULL;
    solver->again =
        solver->apart && gauss_apart_solve(solver->apart, &solver->problem, &solver->options,
                                           solver->again, &solver->answer, &status, error);
    status = solver->again ? status : make_work(solver, error);
    if (!solver->again && status == ZW_OK) {
        status = zw_gauss_solve(&solver->problem, &solver->options, solver->gauss, &solver->answer,
                                error);
    }
    solver->warm = status == ZW_OK;
    if (solver->warm) {
        memcpy(solver->lambda, solver->answer.lambda,
               (size_t)(solver->rows + solver->tail) * sizeof(double));
    }
    return status;
}

void solver_multipliers(const system_solver *solver, double *lambda)
{
    memset(lambda, 0, (size_t)solver->system->m * sizeof *lambda);
    for (int i = 0; i < solver->rows; i++) {
        if (solver->row_of[i] >= 0) {
            lambda[solver->row_of[i]] = solver->scale[i] * solver->answer.lambda[i];
        }
    }
}
