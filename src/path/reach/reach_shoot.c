/* Newton's method on the motion itself.
 *
 * z moves on the manifold psi(q0, z) = 0 with the given values fixed: a step goes along a basis of
 * the tangent space and is then projected onto the manifold. The matrix dF/dz along that basis
 * comes from central differences of whole motions. Its error slows Newton's method down a little
 * but does not affect the solution, since F itself is accurate to the tolerance of the motions.
 *
 * Steps are the shortest with J d = -F. Where a whole family of motions arrives (at a point on the
 * z axis of the Heisenberg group: all rotations of one about that axis) J loses rank, and the step
 * is orthogonal to the family.
 *
 * Where neighbouring motions diverge quickly, a guess is too rough for the whole time although it
 * is good for a short one. Then Newton's method follows the discrete path: to the end of its first
 * part, with that result to the end of the second, and so on. Each time it starts with an error
 * that has grown over one part only.
 *
 * Without a good guess the end is moved continuously: F(z) = (1 - s) F(z0), s from 0 to 1 in steps
 * that grow while Newton's method follows easily and shrink when it does not. */
#include <math.h>
#include <string.h>

#include "math/dense/dense.h"
#include "path/reach/reach.h"

enum { LANDINGS = 30, STEPS = 40, HALVINGS = 12, LEADS = 400 };

static const double close_enough = 1e-10; /* threshold of arrival, relative to 1 + |target| */

int reach_stopped(reach *r)
{
    const zw_reach_options *o = &r->options;
    if (!r->report.interrupted && o->poll && o->poll(o->user, r->state->t)) {
        r->report.interrupted = 1;
    }
    return r->report.interrupted || r->failure != ZW_OK;
}

/* ---- The start ------------------------------------------------------------------------------ */

static int holds(const zw_system *system, int row)
{
    int loose = system->law.loose && system->row_kind[row] == SYSTEM_VELOCITY;
    return system->row_kind[row] != SYSTEM_CONTACT && !loose;
}

/* Rows of the start at z, and their residuals; 0: not finite. */
static int start_rows(reach *r, const double *z, double *residual)
{
    const zw_system *system = r->system;
    reach_rows *rows = &r->start;
    double *q = state_q(r->state);
    system_bind(system, r->work, state_param(r->state));
    if (system_evaluate(system, r->work, PART_VELOCITY, r->state->t, q, z, NULL, NULL, NULL) !=
        ZW_OK) {
        return 0;
    }
    const double *psi = r->work->out[PART_VELOCITY], *A = psi + system->m;
    rows->rows = 0;
    for (int i = 0; i < system->m + r->size; i++) {
        double *row = rows->J + (long)rows->rows * r->size;
        int coord = i - system->m;
        if (coord < 0 ? !holds(system, i) : !r->held[coord]) {
            continue;
        }
        memset(row, 0, (size_t)r->size * sizeof *row);
        if (coord >= 0) {
            row[coord] = 1;
            residual[rows->rows++] = z[coord] - r->given[coord];
            continue;
        }
        for (int k = system->A_start[i]; k < system->A_start[i + 1]; k++) {
            row[system->A_column[k]] += A[k];
        }
        if (system->law.of_row[i] >= 0) {
            row[r->n + system->law.of_row[i]] -= system->law.flex;
        }
        residual[rows->rows++] = psi[i];
    }
    reach_rows_factor(rows, 1e-10);
    return 1;
}

int reach_land(reach *r, double *z)
{
    double *residual = r->land, *move = r->land + r->system->m + r->size;
    double before = INFINITY;
    for (int round = 0; round < LANDINGS; round++) {
        if (!start_rows(r, z, residual)) {
            return 0;
        }
        double now = dense_largest(r->start.rows, residual);
        double small = 4e-16 * (1 + dense_largest(r->size, z));
        if (now <= small ||
            (now >= 0.5 * before && now <= 1e-12 * (1 + dense_largest(r->size, z)))) {
            return 1;
        }
        before = now;
        reach_rows_solve(&r->start, residual, move);
        dense_axpy(r->size, -1, move, z);
    }
    return 0;
}

/* The directions in which z can move, as rows of r->basis; z is on the manifold. */
static int tangent(reach *r, const double *z)
{
    if (!start_rows(r, z, r->land)) {
        return 0;
    }
    int count = r->size - r->start.rank;
    for (int k = 0; k < count; k++) {
        reach_rows_null(&r->start, k, r->basis + (long)k * r->size);
    }
    return count;
}

/* ---- The end -------------------------------------------------------------------------------- */

void reach_end_rows(reach *r, const double *q, int with_named)
{
    const zw_system *system = r->system;
    reach_rows *rows = &r->end;
    rows->rows = 0;
    rows->rank = 0;
    if (system_evaluate(system, r->work, PART_POSITION, r->time, q, state_v(r->trial), NULL, NULL,
                        NULL) != ZW_OK) {
        return;
    }
    const double *A = r->work->out[PART_POSITION] + system->m;
    for (int i = 0; i < system->m + (with_named ? r->n : 0); i++) {
        double *row = rows->J + (long)rows->rows * r->n;
        int coord = i - system->m;
        if (coord < 0 ? system->row_kind[i] != SYSTEM_HOLONOMIC : !r->is_named[coord]) {
            continue;
        }
        memset(row, 0, (size_t)r->n * sizeof *row);
        if (coord >= 0) {
            row[coord] = 1;
        }
        for (int k = coord < 0 ? system->A_start[i] : 0; coord < 0 && k < system->A_start[i + 1];
             k++) {
            row[system->A_column[k]] += A[k];
        }
        rows->rows++;
    }
    reach_rows_factor(rows, 1e-9);
}

/* Runs one motion to the end, in r->trial. */
static int fly(reach *r, const double *z)
{
    zw_run_summary summary = {.stopped_by = -1};
    zw_run_options options = {.time = r->time,
                              .every = r->time - r->state->t,
                              .tolerance = r->options.tolerance,
                              .poll = r->options.poll,
                              .user = r->options.user};
    if (r->report.interrupted || r->failure != ZW_OK || r->report.runs >= r->most_runs) {
        return 0;
    }
    memcpy(r->trial, r->state, r->state->bytes);
    memcpy(state_v(r->trial), z, (size_t)r->size * sizeof *z);
    r->report.runs++;
    zw_status status = ZW_OK;
    if (r->system->contact_count > 0 || r->system->has_friction) {
        status = system_decide(r->system, r->work, r->trial, NULL, &r->why);
    }
    if (status == ZW_OK) {
        status = zw_run(r->system, r->trial, r->work, &options, &summary, &r->why);
    }
    r->failure = status == ZW_NO_MEMORY ? status : r->failure;
    r->report.interrupted |= summary.interrupted;
    return status == ZW_OK && !summary.interrupted && summary.stopped_by < 0;
}

int reach_miss(reach *r, const double *z, double *F)
{
    if (!fly(r, z)) {
        return 0;
    }
    const double *q = state_q(r->trial), *v = state_v(r->trial);
    int count = 0;
    for (int i = 0; i < r->n; i++) {
        if (r->is_named[i]) {
            F[count++] = (q[i] - r->target[i]) / (1 + fabs(r->target[i]));
        }
    }
    if (r->natural) {
        if (system_evaluate(r->system, r->work, PART_LAGRANGE, r->time, q, v, NULL, NULL, NULL) !=
            ZW_OK) {
            return 0;
        }
        memcpy(F + count, r->work->out[PART_LAGRANGE], (size_t)r->n * sizeof *F);
        reach_end_rows(r, q, 1);
        reach_rows_remove(&r->end, F + count);
    }
    for (int i = 0; i < r->conditions; i++) {
        if (!isfinite(F[i])) {
            return 0;
        }
    }
    return 1;
}

/* ---- Newton's method ------------------------------------------------------------------------ */

/* z_try = z + sum_k d_k basis_k, projected onto the manifold, and F there. */
static int probe(reach *r, const double *z, const double *d, int count, double *F)
{
    memcpy(r->z_try, z, (size_t)r->size * sizeof *z);
    for (int k = 0; k < count; k++) {
        dense_axpy(r->size, d[k], r->basis + (long)k * r->size, r->z_try);
    }
    return reach_land(r, r->z_try) && reach_miss(r, r->z_try, F);
}

/* dF along the basis into r->step, factored; returns the number of directions, 0: failed. */
static int differentiate(reach *r, const double *z)
{
    int count = tangent(r, z);
    double h = 1e-5 * (1 + dense_largest(r->size, z)), *d = r->move;
    reach_rows *J = &r->step;
    J->rows = r->conditions;
    J->columns = count;
    for (int k = 0; k < count; k++) {
        memset(d, 0, (size_t)r->size * sizeof *d);
        d[k] = h;
        int plus = probe(r, z, d, count, r->F_plus);
        d[k] = -h;
        int minus = probe(r, z, d, count, r->F_minus);
        if (!plus || !minus) {
            return 0;
        }
        for (int i = 0; i < r->conditions; i++) {
            J->J[(long)i * count + k] = (r->F_plus[i] - r->F_minus[i]) / (2 * h);
        }
    }
    reach_rows_factor(J, 3e-7);
    return count;
}

static double distance(const reach *r, const double *F, double s)
{
    double worst = 0;
    for (int i = 0; i < r->conditions; i++) {
        worst = fmax(worst, fabs(F[i] - s * r->wanted[i]));
    }
    return worst;
}

/* One Newton step towards F = s wanted, with a line search; F is that of z before and after. */
static int descend(reach *r, double *z, double *F, double s, int count)
{
    double now = distance(r, F, s), *d = r->move, *rest = r->F_plus, *there = r->F_minus;
    for (int i = 0; i < r->conditions; i++) {
        rest[i] = s * r->wanted[i] - F[i];
    }
    reach_rows_solve(&r->step, rest, d);
    double limit = 2 * (1 + dense_largest(r->size, z)), length = dense_norm(count, d);
    double damp = length > limit ? limit / length : 1;
    dense_scale(count, damp, d);
    for (int half = 0; half < HALVINGS; half++) {
        if (probe(r, z, d, count, there) && distance(r, there, s) <= (1 - 1e-3 * damp) * now) {
            memcpy(z, r->z_try, (size_t)r->size * sizeof *z);
            memcpy(F, there, (size_t)r->conditions * sizeof *F);
            return 1;
        }
        if (reach_stopped(r) || now <= close_enough) { /* at the level of round-off */
            return 0;
        }
        dense_scale(count, 0.5, d);
        damp *= 0.5;
    }
    return 0;
}

/* Solves F(z) = s wanted to within `enough`, and further while that is easy; 0: not reached. */
static int newton(reach *r, double *z, double *F, double s, double enough, int steps)
{
    int count = 0, fresh = 0;
    for (int step = 0; step < steps; step++) {
        double before = distance(r, F, s);
        if (before <= 1e-15 || (enough > close_enough && before <= enough)) {
            break;
        }
        if (count == 0) {
            count = differentiate(r, z);
            fresh = 1;
            if (count == 0) {
                break;
            }
        }
        r->report.iterations++;
        if (!descend(r, z, F, s, count)) {
            if (fresh || before <= close_enough) {
                break;
            }
            count = 0; /* perhaps a new matrix helps */
            continue;
        }
        fresh = 0;
        if (distance(r, F, s) > 0.02 * before) {
            count = 0;
        }
    }
    return distance(r, F, s) <= fmax(enough, close_enough);
}

int reach_shoot(reach *r, double *z)
{
    memset(r->wanted, 0, (size_t)r->conditions * sizeof *r->wanted);
    r->most_runs = r->report.runs + 200 + 40L * r->unknowns;
    return reach_land(r, z) && reach_miss(r, z, r->F) && newton(r, z, r->F, 0, 0, STEPS);
}

int reach_extend(reach *r, const reach_path *path, double *z)
{
    enum { PARTS = 16 };
    const reach asked = *r;
    double start = r->state->t, duration = r->time - start;
    int fine = reach_land(r, z);
    r->natural = 0;
    r->conditions = r->n;
    r->target = r->target_part;
    r->is_named = r->all_named;
    r->most_runs = r->report.runs + 400 + 80L * r->unknowns;
    memset(r->wanted, 0, (size_t)r->conditions * sizeof *r->wanted);
    for (int k = 1; k < PARTS && fine; k++) {
        r->time = start + duration * k / PARTS;
        reach_path_at(path, (double)k / PARTS, r->target);
        fine = reach_miss(r, z, r->F) && newton(r, z, r->F, 0, 1e-7, STEPS);
    }
    r->natural = asked.natural;
    r->conditions = asked.conditions;
    r->target = asked.target;
    r->is_named = asked.is_named;
    r->time = asked.time;
    return fine && reach_shoot(r, z);
}

int reach_along(reach *r, const reach_path *path, const double *z)
{
    enum { PARTS = 4 };
    double start = r->state->t, end = r->time, apart = 0, extent = 0, *q = r->target_part;
    int fine = 1;
    r->most_runs = r->report.runs + PARTS;
    for (int k = 1; k < PARTS && fine; k++) {
        r->time = start + (end - start) * k / PARTS;
        reach_path_at(path, (double)k / PARTS, q);
        fine = fly(r, z);
        for (int i = 0; i < r->n && fine; i++) {
            apart = fmax(apart, fabs(state_q(r->trial)[i] - q[i]));
            extent = fmax(extent, fabs(state_q(r->state)[i] - q[i]));
        }
    }
    r->time = end;
    return fine && apart <= 0.1 * extent + 1e-6;
}

int reach_lead(reach *r, double *z)
{
    double s = 1, ds = 1, *F = r->F, *kept = r->kept;
    r->most_runs = r->report.runs + 200 + 40L * r->unknowns;
    if (!reach_land(r, z) || !reach_miss(r, z, F)) {
        return 0;
    }
    memcpy(r->wanted, F, (size_t)r->conditions * sizeof *F);
    memcpy(kept, z, (size_t)r->size * sizeof *z);
    memcpy(r->F_kept, F, (size_t)r->conditions * sizeof *F);
    for (int k = 0; k < LEADS && s > 0 && ds > 1e-5 && !reach_stopped(r); k++) {
        double next = s > ds ? s - ds : 0;
        if (newton(r, z, F, next, next > 0 ? 1e-6 : 0, next > 0 ? 6 : STEPS)) {
            s = next;
            ds *= 2;
            memcpy(kept, z, (size_t)r->size * sizeof *z);
            memcpy(r->F_kept, F, (size_t)r->conditions * sizeof *F);
        } else {
            ds = 0.5 * (ds < s ? ds : s);
            memcpy(z, kept, (size_t)r->size * sizeof *z);
            memcpy(F, r->F_kept, (size_t)r->conditions * sizeof *F);
        }
    }
    return s == 0;
}
