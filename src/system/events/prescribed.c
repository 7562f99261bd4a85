/* Friction where other constraints prescribe how it slides.
 *
 * A constraint with friction at rest may be held by its friction, if a force along e can keep e =
 * 0. Where other constraints prescribe e, as a drive does that reverses, no force can, and rows
 * that hold it would contradict them. Friction then opposes the imminent sliding: its direction is
 * that of e', which it cannot change along a curve, and which it rotates on a surface where only
 * one direction is prescribed; or, where e' vanishes, that of e' a moment later; if nothing moves
 * at all, there is none.
 *
 * The mobility W = T a along e decides, with a the response of the masses and all active rows to
 * the forces T': W is singular compared with W0 = T M^-1 T', without rows, if e is prescribed. Both
 * are squares of lengths in the metric of the masses, so W < rank^2 W0 is where the projections
 * also fail to distinguish rows (GAUSS_PROJECTION_RANK). */
#include <string.h>

#include "gauss/tolerances.h"
#include "system/events/decide.h"

/* W[2][2] of constraint c for the rows in `role`. */
static zw_status mobility(decision *d, int c, const int *role, double W[2][2], zw_error *error)
{
    const zw_system *system = d->system;
    const double *out = d->work->out[PART_TERMS];
    const system_rows rows = {
        .A = out + system->at.A, .b = out + system->at.b, .slip = out + system->at.slip};
    tangent t = tangent_look(system, c, rows.slip);
    double *force = d->work->spare[0], direction[2][TANGENT_WIDTH];
    system_solver *solver = solver_create(system, role, NULL, 0, error);
    zw_status status = solver ? ZW_OK : ZW_NO_MEMORY;
    for (int k = 0; k < t.rank; k++) {
        tangent_direction(&t, k, direction[k]);
    }
    for (int k = 0; k < t.rank && status == ZW_OK; k++) {
        memset(force, 0, (size_t)system->n * sizeof *force);
        for (int i = 0; i < t.width; i++) {
            for (int j = 0; j < t.columns; j++) {
                force[t.column[j]] += direction[k][i] * t.T[i * t.columns + j];
            }
        }
        solver_fill(solver, out + system->at.M, rows, force, NULL);
        memset(solver->b, 0, (size_t)solver->rows * sizeof *solver->b);
        solver->options.least_squares = 1;
        status = solver_solve(solver, error);
        status = status == ZW_INACCURATE ? ZW_OK : status;
        for (int l = 0; l < t.rank && status == ZW_OK; l++) {
            W[l][k] = 0;
            for (int i = 0; i < t.width; i++) {
                for (int j = 0; j < t.columns; j++) {
                    W[l][k] +=
                        direction[l][i] * t.T[i * t.columns + j] * solver->answer.a[t.column[j]];
                }
            }
        }
    }
    solver_free(solver);
    return status;
}

/* Do the active equations, in the current modes, prescribe how c slides? Its own friction is not
 * included, nor are contacts, which may open. PART_TERMS has been evaluated. */
zw_status decide_prescribed(decision *d, int c, int *yes, zw_error *error)
{
    const zw_system *system = d->system;
    int *role = d->trial, rank = system->slip[c].rank;
    double W[2][2] = {{0}}, W0[2][2] = {{0}};
    for (int k = 0; k < system->model->constraint_count; k++) {
        int mode = (int)state_mode(d->state)[k];
        role[k] = SOLVER_ABSENT;
        if (mode != SYSTEM_OPEN && !decide_one_sided(system, k)) {
            role[k] = mode == SYSTEM_STUCK && k != c ? SOLVER_EQUAL_HELD : SOLVER_EQUAL;
        }
    }
    zw_status status = mobility(d, c, role, W, error);
    for (int k = 0; k < system->model->constraint_count; k++) {
        role[k] = SOLVER_ABSENT;
    }
    status = status == ZW_OK ? mobility(d, c, role, W0, error) : status;
    double least = GAUSS_PROJECTION_RANK * GAUSS_PROJECTION_RANK, size = W0[0][0] + W0[1][1];
    double product = W[0][0] * W[1][1] - W[0][1] * W[1][0];
    *yes = rank == 1 ? W[0][0] <= least * W0[0][0] : product <= least * size * size;
    if (status != ZW_OK && status != ZW_NO_MEMORY) { /* singular masses: undecided */
        *yes = 0;
        status = ZW_OK;
    }
    return status;
}

/* e' at (t, q, v), with friction along the hint; 0: no answer. */
static int acceleration_of(decision *d, int c, double t, const double *q, const double *v,
                           double *e, double *size)
{
    zw_error ignored;
    zw_work *work = d->work;
    if (system_accelerate(d->system, work, t, q, v, work->a, &ignored) != ZW_OK) {
        return 0;
    }
    tangent now = tangent_look(d->system, c, work->out[PART_TERMS] + d->system->at.slip);
    *size = 0;
    for (int i = 0; i < now.width; i++) {
        e[i] = now.bias[i];
        *size += fabs(now.bias[i]);
        for (int k = 0; k < now.columns; k++) {
            double part = now.T[i * now.columns + k] * work->a[now.column[k]];
            e[i] += part;
            *size += fabs(part);
        }
    }
    return 1;
}

static int take_direction(const double *e, double size, double *hint)
{
    double length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    if (!(length > DECIDE_BORDER * size)) {
        return 0;
    }
    for (int i = 0; i < TANGENT_WIDTH; i++) {
        hint[i] = e[i] / length;
    }
    return 1;
}

/* The unit vector h = (B + s) \ c, s >= 0. B is positive semidefinite, so that |h| falls with s,
 * and s <= |c|. */
static void turn(const double B[2][2], const double c[2], double h[2])
{
    enum { HALVINGS = 60 };
    double low = 0, high = hypot(c[0], c[1]);
    for (int k = 0; k <= HALVINGS; k++) {
        double s = k == HALVINGS ? high : 0.5 * (low + high);
        double a = B[0][0] + s, b = B[1][1] + s, det = a * b - B[0][1] * B[1][0];
        h[0] = (b * c[0] - B[0][1] * c[1]) / det;
        h[1] = (a * c[1] - B[1][0] * c[0]) / det;
        *(hypot(h[0], h[1]) > 1 ? &low : &high) = s;
    }
    double length = hypot(h[0], h[1]);
    h[0] /= length;
    h[1] /= length;
}

/* On a surface friction along h changes the direction of the acceleration that h follows: e'(h) = c
 * - B h = s h. B is found from e' of two directions; c again from h, since normal forces may depend
 * on it. */
static int follow_on_surface(decision *d, int c, double t, const double *q, const double *v,
                             double *hint)
{
    enum { ROUNDS = 4 };
    double e[TANGENT_WIDTH] = {0}, size, direction[2][TANGENT_WIDTH];
    double B[2][2] = {{0}}, free[2] = {0}, h[2] = {0};
    tangent now = tangent_look(d->system, c, d->work->out[PART_TERMS] + d->system->at.slip);
    tangent_direction(&now, 0, direction[0]);
    tangent_direction(&now, 1, direction[1]);
    for (int k = -1; k < 2 + ROUNDS; k++) { /* without friction, along each direction, along h */
        for (int i = 0; i < TANGENT_WIDTH; i++) {
            hint[i] = k < 0   ? 0
                      : k < 2 ? direction[k][i]
                              : h[0] * direction[0][i] + h[1] * direction[1][i];
        }
        if (!acceleration_of(d, c, t, q, v, e, &size)) {
            return 0;
        }
        for (int l = 0; l < 2; l++) {
            const double *along = direction[l];
            double part = along[0] * e[0] + along[1] * e[1] + along[2] * e[2];
            if (k >= 0 && k < 2) {
                B[l][k] = free[l] - part;
            } else {
                free[l] = k < 0 ? part : part + B[l][0] * h[0] + B[l][1] * h[1];
            }
        }
        if (k > 0 && !(hypot(free[0], free[1]) > DECIDE_BORDER * size)) {
            return 0;
        }
        if (k > 0) {
            turn(B, free, h);
        }
    }
    return 1;
}

static int follow_at(decision *d, int c, double t, const double *q, const double *v)
{
    double *hint = d->work->hint + 3 * c, e[TANGENT_WIDTH] = {0}, size;
    memset(hint, 0, TANGENT_WIDTH * sizeof *hint);
    int found = acceleration_of(d, c, t, q, v, e, &size);
    if (found && d->system->slip[c].rank > 1) {
        found = follow_on_surface(d, c, t, q, v, hint);
    } else if (found) {
        found = take_direction(e, size, hint);
    }
    if (!found) {
        memset(hint, 0, TANGENT_WIDTH * sizeof *hint);
    }
    return found;
}

zw_status decide_follow(decision *d, int c, zw_error *error)
{
    zw_state *state = d->state;
    state_mode(state)[c] = SYSTEM_CLOSED;
    zw_status status = system_set_modes(d->system, d->work, state_mode(state), error);
    int found = status == ZW_OK && follow_at(d, c, state->t, state_q(state), state_v(state));
    for (double moment = DECIDE_MOMENT; moment < DECIDE_LATEST && !found && status == ZW_OK;
         moment *= 100) {
        decide_go_ahead(d, d->work->a, moment);
        found = follow_at(d, c, state->t + moment, d->ahead, d->ahead + d->system->nq);
    }
    return status;
}
