/* Differences of one step of method impulse, for the tests of its derivatives: test_rigid.c,
 * test_back.c. */
#ifndef ZW_TEST_RIGID_DIFFER_H
#define ZW_TEST_RIGID_DIFFER_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/contact/contacts.h" /* its arguments are called world, too */

#include "rigid_scenes.h"
#include "system/bodies/bodies.h"
#include "system/system.h"
#include "tree/sweeps.h"

/* ---- Directions ------------------------------------------------------------------------------ */

/* What touches at the start may open or not: to move bodies apart there, or into one another, is a
 * kink. So directions of q are those along which no gap that is closed changes: the rows of these,
 * made orthonormal, are taken out. */
typedef struct closed_rows {
    int n, count;
    double *row;
} closed_rows;

static void add_row(closed_rows *to, const double *row)
{
    double *mine = to->row + (size_t)to->count * (size_t)to->n, size = 0, left = 0;
    for (int i = 0; i < to->n; i++) {
        mine[i] = row[i];
        size += row[i] * row[i];
    }
    for (int k = 0; k < 2 * to->count; k++) { /* twice is enough */
        const double *other = to->row + (size_t)(k % to->count) * (size_t)to->n;
        double along = 0;
        for (int i = 0; i < to->n; i++) {
            along += other[i] * mine[i];
        }
        for (int i = 0; i < to->n; i++) {
            mine[i] -= along * other[i];
        }
    }
    for (int i = 0; i < to->n; i++) {
        left += mine[i] * mine[i];
    }
    for (int i = 0; i < to->n && left > 1e-12 * size; i++) {
        mine[i] /= sqrt(left);
    }
    to->count += left > 1e-12 * size;
}

/* Limits that are reached. */
static void add_limits(const world *w, closed_rows *to, double *row)
{
    const zw_system *system = w->system;
    size_t m = (size_t)system->m;
    double *phi = calloc(3 * m + 1, sizeof *phi), *still = calloc((size_t)system->n, sizeof *still);
    double *A = calloc(m > 0 ? (size_t)system->A_start[m] : 1, sizeof *A);
    bodies_fill_rows(system, w->work, state_q(w->state), still,
                     (bodies_rows){.phi = phi, .psi = phi + m, .b = phi + 2 * m, .A = A});
    for (size_t r = 0; r < m; r++) {
        if (system->row_kind[r] == SYSTEM_CONTACT && phi[r] < 1e-6) {
            memset(row, 0, (size_t)system->n * sizeof *row);
            for (int e = system->A_start[r]; e < system->A_start[r + 1]; e++) {
                row[system->A_column[e]] = A[e];
            }
            add_row(to, row);
        }
    }
    free(phi);
    free(still);
    free(A);
}

static closed_rows find_closed(const world *w)
{
    const zw_system *system = w->system;
    int n = system->n, wide = 2 * n + 2;
    closed_rows rows = {.n = n, .row = calloc((size_t)n * (size_t)n + (size_t)n, sizeof(double))};
    contact_work found = {0};
    double *row = calloc((size_t)n, sizeof *row), *J = calloc(6 * (size_t)wide, sizeof *J);
    int *column = calloc((size_t)wide, sizeof *column);
    double *sweeps = w->work->sweeps;
    assert_int_equal(contact_work_create(&found, system->bodies->contact), ZW_OK);
    tree_kinematics(system->tree, state_q(w->state), sweeps);
    tree_velocities(system->tree, state_v(w->state), sweeps);
    assert_int_equal(contact_find(system, &found, sweeps, 0, 1e-6, NULL), ZW_OK);
    for (int k = 0; k < found.count && rows.count < n; k++) {
        int count = contact_rows(system, &found.point[k], sweeps, column, J);
        memset(row, 0, (size_t)n * sizeof *row);
        for (int i = 0; i < count; i++) {
            row[column[i]] = J[i];
        }
        add_row(&rows, row);
    }
    contact_work_free(&found);
    add_limits(w, &rows, row);
    free(row);
    free(J);
    free(column);
    return rows;
}

/* Direction c of q, v, parameters: [wide]. */
static void direction(const closed_rows *rows, int c, int wide, double *to)
{
    memset(to, 0, (size_t)wide * sizeof *to);
    to[c] = 1;
    for (int k = 0; k < rows->count && c < rows->n; k++) {
        const double *row = rows->row + (size_t)k * (size_t)rows->n;
        double along = row[c];
        for (int i = 0; i < rows->n; i++) {
            to[i] -= along * row[i];
        }
    }
}

/* ---- Differences ----------------------------------------------------------------------------- */

/* The end of a step from the state moved by h along a direction, seen from another end: [2 n]. */
static void end_of(world *w, const scene *of, const double *along, double h, const double *from,
                   double *to)
{
    const zw_system *system = w->system;
    const zw_run_options options = plan_of(of);
    int n = system->n;
    zw_state *at = NULL;
    assert_int_equal(zw_state_copy(w->state, &at, &w->error), ZW_OK);
    if (from) {
        system_move(system, state_q(at), h, along);
        for (int i = 0; i < n; i++) {
            state_v(at)[i] += h * along[n + i];
        }
        for (int i = 0; i < system->shape.params; i++) {
            state_param(at)[i] += h * along[2 * n + i];
        }
        zw_wake(at);
    }
    if (zw_step(system, at, w->work, &options, &w->error) != ZW_OK) {
        fail_msg("%s: %s", of->name, w->error.text);
    }
    if (from) {
        tree_difference(system->tree, state_q(at), from, to);
        memcpy(to + n, state_v(at), (size_t)n * sizeof *to);
    } else {
        memcpy(to, state_q(at), (size_t)system->nq * sizeof *to);
    }
    zw_state_free(at);
}

/* Central differences of order eight along one direction: to[2 n]. */
static void differ(world *w, const scene *of, const double *along, double h, const double *base,
                   double *y, double *to)
{
    static const double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    size_t rows = 2 * (size_t)w->system->n;
    memset(to, 0, rows * sizeof *to);
    for (int k = 0; k < 4; k++) {
        end_of(w, of, along, h * (k + 1), base, y);
        end_of(w, of, along, -h * (k + 1), base, y + rows);
        for (size_t i = 0; i < rows; i++) {
            to[i] += weight[k] * (y[i] - y[rows + i]) / h;
        }
    }
}

/* Differences of order four to one side, up (1) or down (-1): to[2 n]. */
static void differ_aside(world *w, const scene *of, const double *along, double h,
                         const double *base, double *y, double *to)
{
    static const double weight[5] = {-25.0 / 12, 4, -3, 4.0 / 3, -1.0 / 4};
    size_t rows = 2 * (size_t)w->system->n;
    memset(to, 0, rows * sizeof *to);
    for (int k = 0; k < 5; k++) {
        end_of(w, of, along, h * k, base, y);
        for (size_t i = 0; i < rows; i++) {
            to[i] += weight[k] * y[i] / h;
        }
    }
}

/* How far the slopes by[2 n][wide] along a direction are from d, of the largest. */
static double apart_along(const world *w, const double *by, const double *along, const double *d)
{
    size_t rows = 2 * (size_t)w->system->n, wide = rows + (size_t)w->system->shape.params;
    double size = 1, worst = 0;
    for (size_t i = 0; i < rows; i++) {
        double mine = 0;
        for (size_t c = 0; c < wide; c++) {
            mine += by[i * wide + c] * along[c];
        }
        size = fmax(size, fabs(d[i]));
        worst = fmax(worst, fabs(d[i] - mine));
    }
    return worst / size;
}

/* How far slopes are from differences. Long ones meet contacts that open or close, round-off spoils
 * short ones, and where is not known: the nearest of some lengths counts, or the first that is near
 * enough. A kink close by on one side (1e-6 in step 35 of the fall) leaves no length for central
 * differences: these then only show that there is none here, to EITHER, and the digits come from
 * the side that is free. At a kink (flagged) the slopes are those of one side. With a kink at 1e-7
 * on both sides (step 39) differences have seven digits: what those of the nearest length differ by
 * from those of another length beside it is no error of the slopes, if they have six. y[3][2 n] is
 * scratch. */
#define EITHER 1e-6
#define BESIDE 1.25

typedef struct differences {
    double off, length; /* how far they are from the slopes; negative lengths: downwards */
    int aside;
} differences;

static void find_differences(world *w, const scene *of, const double *along, double length,
                             int aside, const double *base, double *y, double *d)
{
    if (aside) {
        differ_aside(w, of, along, length, base, y, d);
    } else {
        differ(w, of, along, length, base, y, d);
    }
}

/* What they differ by from those of lengths beside theirs, longer and shorter, of the largest. */
static double scatter_of(world *w, const scene *of, const double *along, const differences *it,
                         const double *base, double *y)
{
    size_t rows = 2 * (size_t)w->system->n;
    double size = 1, worst = 0, *d = y + 2 * rows, *here = calloc(rows, sizeof *here);
    find_differences(w, of, along, it->length, it->aside, base, y, d);
    memcpy(here, d, rows * sizeof *d);
    for (int shorter = 0; shorter < 2; shorter++) {
        const double beside = (shorter ? 1 / BESIDE : BESIDE) * it->length;
        find_differences(w, of, along, beside, it->aside, base, y, d);
        for (size_t i = 0; i < rows; i++) {
            size = fmax(size, fabs(here[i]));
            worst = fmax(worst, fabs(d[i] - here[i]));
        }
    }
    free(here);
    return worst / size;
}

static double compare_along(world *w, const scene *of, const double *by, const double *along,
                            const double *base, int flagged, double *y)
{
    static const double length[] = {3e-6, 1e-4, 3e-7, 3e-5, 1e-3, 1e-5, 1e-6, 1e-7, 3e-8, 1e-8};
    const size_t lengths = sizeof length / sizeof *length;
    differences best = {.off = INFINITY};
    double *d = y + 4 * (size_t)w->system->n;
    for (size_t k = 0; k < 3 * lengths && best.off > 5e-9; k++) {
        int aside = k >= lengths;
        if (aside && !flagged && !(best.off < EITHER)) {
            break;
        }
        const double far = (k < 2 * lengths ? 1 : -1) * length[k % lengths];
        find_differences(w, of, along, far, aside, base, y, d);
        double off = apart_along(w, by, along, d);
        best = off < best.off ? (differences){off, far, aside} : best;
    }
    double scatter = best.off > 5e-9 ? scatter_of(w, of, along, &best, base, y) : 0;
    return scatter < EITHER ? fmax(best.off - scatter, 0) : best.off;
}

#endif
