/* Friction of the constraints, seed 000: C = -mu |F| s/|s|.
 *
 * F is the force of the constraint and s the speed of its point, both over the coordinates that the
 * constraint involves. The kernel calls the law with the ideal multipliers (eq. (20)) for two-sided
 * constraints; where contacts slide it iterates to the fixed point with the total ones, as
 * Coulomb's law demands.
 *
 * s is the tangential part of the speed: what the constraint lets happen.
 *
 * Direction: s/|s|, turned so that it does not oppose the direction at the start of the step (the
 * hint). So the field has a smooth continuation beyond the moment at which sliding stops, the
 * integrator sees no jump, and the moment is found as the zero of s . hint. */
#include "system/friction.h"

#include <math.h>
#include <string.h>

#include "system/tangent.h"

static const double *terms(const zw_work *work, int at)
{
    return work->out[PART_TERMS] + at;
}

static int slides(const zw_system *system, const system_solver *solver, int c)
{
    int role = solver->role[c];
    return system->model->constraint[c].friction != EXPR_NONE &&
           (role == SOLVER_EQUAL || role == SOLVER_AT_LEAST);
}

/* Unit direction of sliding, or zero. */
static void direction(const zw_system *system, const zw_work *work, int c, const double *A,
                      const double *v, double *d)
{
    int count = tangent_support(system, c, NULL);
    const double *hint = work->hint + 3 * c;
    double s[TANGENT_SUPPORT], speed = tangent_speed(system, c, A, v, s, NULL), along = 0;
    for (int i = 0; i < count; i++) {
        along += s[i] * hint[i];
    }
    int still = !(speed > 1e-11);
    double sign = along < 0 ? -1 : 1;
    for (int i = 0; i < count; i++) {
        d[i] = still ? hint[i] : sign * s[i] / speed;
    }
}

static void friction_of(const zw_system *system, const zw_work *work, int c, const double *lambda,
                        double *C)
{
    double mu = terms(work, system->at.mu)[c], force = 0;
    int support[TANGENT_SUPPORT], count = tangent_support(system, c, support);
    double F[TANGENT_SUPPORT] = {0}, d[TANGENT_SUPPORT];
    const double *A = terms(work, system->at.A);
    for (int r = system->first_row[c]; r < system->first_row[c + 1]; r++) {
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            for (int i = 0; i < count; i++) {
                F[i] += system->A_column[k] == support[i] ? A[k] * lambda[r] : 0;
            }
        }
    }
    for (int i = 0; i < count; i++) {
        force += F[i] * F[i];
    }
    direction(system, work, c, A, work->slip, d);
    for (int i = 0; i < count; i++) {
        C[support[i]] -= mu * sqrt(force) * d[i];
    }
}

/* The kernel's zw_nonideal_law: explicit C and friction of all that slides. */
static void law(void *user, const double *kernel_lambda, const double *reaction, double *C)
{
    zw_work *work = user;
    const zw_system *system = work->system;
    const system_solver *solver = work->solving;
    double *lambda = work->spare[3];
    (void)reaction;
    memcpy(C, solver->C, (size_t)system->n * sizeof *C);
    memset(lambda, 0, (size_t)system->m * sizeof *lambda);
    for (int i = 0; i < solver->rows; i++) {
        if (solver->row_of[i] >= 0) {
            lambda[solver->row_of[i]] = solver->scale[i] * kernel_lambda[i];
        }
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (slides(system, solver, c)) {
            friction_of(system, work, c, lambda, C);
        }
    }
}

int friction_set_up(const zw_system *system, zw_work *work, system_solver *solver, const double *v)
{
    int any = 0, one_sided = 0;
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (slides(system, solver, c)) {
            any = 1;
            one_sided |= system->model->constraint[c].relation == MODEL_AT_LEAST;
        }
    }
    if (any) {
        work->solving = solver;
        memcpy(work->slip, v, (size_t)system->n * sizeof *v);
        solver->problem.law = law;
        solver->problem.law_user = work;
        solver->problem.law_on = one_sided ? ZW_ON_TOTAL_REACTION : ZW_ON_IDEAL_REACTION;
    }
    return any;
}

/* A at the state, as the position part has just given it. */
static const double *rows_now(const zw_system *system, const zw_work *work)
{
    return work->out[PART_POSITION] + system->m;
}

zw_status system_note_slip(const zw_system *system, zw_work *work, double t, const double *q,
                           const double *v, zw_error *error)
{
    zw_status status = system_evaluate(system, work, PART_POSITION, t, q, v, NULL, NULL, error);
    for (int c = 0; c < system->model->constraint_count && status == ZW_OK; c++) {
        double d[TANGENT_SUPPORT];
        const double *A = rows_now(system, work);
        if (system->model->constraint[c].friction != EXPR_NONE &&
            tangent_speed(system, c, A, v, d, NULL) > 1e-9) {
            direction(system, work, c, A, v, d);
            memcpy(work->hint + 3 * c, d, (size_t)tangent_support(system, c, NULL) * sizeof *d);
        }
    }
    return status;
}

double system_slip(const zw_system *system, const zw_work *work, int c, const double *v)
{
    double s[TANGENT_SUPPORT], along = 0;
    tangent_speed(system, c, rows_now(system, work), v, s, NULL);
    for (int i = 0; i < tangent_support(system, c, NULL); i++) {
        along += s[i] * work->hint[3 * c + i];
    }
    return along;
}

double system_hold(const zw_system *system, const zw_work *work, int c)
{
    const system_solver *solver = work->motion;
    const double *A = terms(work, system->at.A), mu = terms(work, system->at.mu)[c];
    double normal[TANGENT_SUPPORT] = {0}, N = 0, T = 0;
    int support[TANGENT_SUPPORT], count = tangent_support(system, c, support);
    for (int i = 0; i < solver->rows; i++) {
        int r = solver->row_of[i];
        double lambda = solver->answer.lambda[i] * solver->scale[i];
        if (r == -1 && solver->tangent_of[i] / 4 == c) {
            T += solver->answer.lambda[i] * solver->answer.lambda[i];
        }
        if (r < 0 || system->row_constraint[r] != c) {
            continue;
        }
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            for (int j = 0; j < count; j++) {
                normal[j] += system->A_column[k] == support[j] ? A[k] * lambda : 0;
            }
        }
    }
    for (int j = 0; j < count; j++) {
        N += normal[j] * normal[j];
    }
    return mu * sqrt(N) - sqrt(T);
}
