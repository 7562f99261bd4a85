/* The accelerations of the system along a path, and the modes of its contacts: those with no gap
 * that do not separate are closed, and those with friction that do not slide stick, as far as the
 * errors of positions and speeds can determine. A closed contact that would have to pull is taken
 * to be open, and one that sticks beyond its friction limit to slide: then the system would move
 * differently, and the extra force is the difference. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "path/trial/certify.h"
#include "system/events/tangent.h"

enum { POLL = 1024 };

/* A gap or speed counts as zero below BORDER times its error, or below SMALL times the scale. */
#define BORDER 6.0
#define SMALL 1e-7

zw_status certify_polled(path_certifier *certifier, long sample, zw_error *error)
{
    const zw_certify_options *options = certifier->options;
    if (options->poll && options->poll(options->user, certifier->trial->t[sample])) {
        return base_fail_as(error, ZW_INTERRUPTED);
    }
    return ZW_OK;
}

/* The error of row r with entries A: from the errors of the coordinates, and a part of
 * their scale. */
static double border(const path_certifier *certifier, int r, const double *A, const double *error,
                     const double *scale)
{
    const zw_system *system = certifier->system;
    double sum = 0, size = 0;
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        int i = system->A_column[k];
        double e = isfinite(error[i]) ? A[k] * error[i] : 0;
        sum += e * e;
        size += fabs(A[k]) * scale[i];
    }
    return BORDER * sqrt(sum) + SMALL * size;
}

static int touches(const path_certifier *certifier, int c, long i)
{
    const zw_system *system = certifier->system;
    int r = system->first_row[c], n = certifier->n;
    const double *position = certifier->work->out[PART_POSITION];
    const double *velocity = certifier->work->out[PART_VELOCITY];
    return position[r] <= border(certifier, r, position + certifier->m, certifier->blur[0] + i * n,
                                 certifier->size) &&
           fabs(velocity[r]) <= border(certifier, r, velocity + certifier->m,
                                       certifier->blur[1] + i * n, certifier->swift);
}

static int slides(const path_certifier *certifier, int c, long i)
{
    tangent t = tangent_look(certifier->system, c, certifier->work->out[PART_SLIP]);
    const double *error = certifier->blur[1] + i * certifier->n;
    double sum = 0, size = 0;
    for (int row = 0; row < t.width; row++) {
        for (int k = 0; k < t.columns; k++) {
            double T = t.T[row * t.columns + k];
            double e = isfinite(error[t.column[k]]) ? T * error[t.column[k]] : 0;
            sum += e * e;
            size += fabs(T) * certifier->swift[t.column[k]];
        }
    }
    return tangent_speed(&t) > BORDER * sqrt(sum) + SMALL * size;
}

/* The modes of sample i that follow from its positions and speeds. */
static zw_status look(path_certifier *certifier, long i, const double *q, const double *v,
                      double *mode, zw_error *error)
{
    const zw_system *system = certifier->system;
    const zw_model *model = system->model;
    double t = certifier->trial->t[i];
    zw_work *work = certifier->work;
    zw_status status = ZW_OK;
    if (system->contact_count > 0) {
        status = system_evaluate(system, work, PART_POSITION, t, q, v, NULL, NULL, error);
        status = status != ZW_OK
                     ? status
                     : system_evaluate(system, work, PART_VELOCITY, t, q, v, NULL, NULL, error);
    }
    status = status != ZW_OK ? status : system_note_slip(system, work, t, q, v, error);
    for (int c = 0; c < certifier->constraints && status == ZW_OK; c++) {
        int closed = model->constraint[c].relation != MODEL_AT_LEAST || touches(certifier, c, i);
        int rough = closed && system->slip[c].width > 0;
        mode[c] = !closed                             ? SYSTEM_OPEN
                  : rough && !slides(certifier, c, i) ? SYSTEM_STUCK
                                                      : SYSTEM_CLOSED;
    }
    return status;
}

/* Corrects one mode that the forces contradict; returns its constraint, or -1. */
static int object(path_certifier *certifier, double *mode, double size)
{
    const zw_system *system = certifier->system;
    zw_work *work = certifier->work;
    double *lambda = certifier->scratch[0];
    solver_multipliers(work->motion, lambda);
    for (int c = 0; c < certifier->constraints; c++) {
        int one_sided = system->model->constraint[c].relation == MODEL_AT_LEAST;
        if (one_sided && mode[c] != SYSTEM_OPEN && lambda[system->first_row[c]] < -1e-9 * size) {
            mode[c] = SYSTEM_OPEN;
            return c;
        }
        if (mode[c] == SYSTEM_STUCK && system_hold(system, work, c) < -1e-9 * size) {
            mode[c] = SYSTEM_CLOSED;
            return c;
        }
    }
    return -1;
}

static double largest_force(const path_certifier *certifier)
{
    const double *force = certifier->work->out[PART_TERMS] + certifier->system->at.force;
    double most = 0;
    for (int k = 0; k < certifier->n; k++) {
        most = fmax(most, fabs(force[k]));
    }
    return most;
}

static zw_status accelerate(path_certifier *certifier, long i, const double *q, const double *v,
                            double *a, zw_error *error)
{
    const double *wide = v;
    zw_status status = certify_law_speeds(certifier, i, q, v, &wide, error);
    if (status == ZW_OK) {
        status = system_accelerate(certifier->system, certifier->work, certifier->trial->t[i], q,
                                   wide, certifier->wide[1], error);
        memcpy(a, certifier->wide[1], (size_t)certifier->n * sizeof *a);
    }
    return status;
}

/* Near singular positions the best available solution is accepted: its residual is part of the
 * errors. */
static zw_status settle(const path_certifier *certifier, zw_status status, double *a)
{
    const zw_motion *answer = &certifier->work->motion->answer;
    if (status == ZW_INACCURATE && answer->certificate.worst < 1e-3) {
        memcpy(a, answer->a, (size_t)certifier->n * sizeof *a);
        return ZW_OK;
    }
    return status;
}

zw_status certify_sample(path_certifier *certifier, long i, const double *q, const double *v,
                         double *a, zw_error *error)
{
    const zw_system *system = certifier->system;
    zw_work *work = certifier->work;
    double *mode = certifier->modes;
    int changing = system->contact_count > 0 || system->has_friction;
    zw_status status = changing ? look(certifier, i, q, v, mode, error) : ZW_OK;
    for (int round = 0; status == ZW_OK && round <= 2 * certifier->constraints; round++) {
        status = system_set_modes(system, work, mode, error);
        if (status == ZW_OK) { /* the path violates the constraints a little, so that redundant ones
                                  contradict each other */
            work->motion->options.least_squares = 1;
            status = settle(certifier, accelerate(certifier, i, q, v, a, error), a);
        }
        if (status != ZW_OK || !changing || object(certifier, mode, largest_force(certifier)) < 0) {
            break;
        }
    }
    return status;
}

/* The reaction of the constraints without its non-ideal part: F_L + F_C - C. */
static void note_reaction(path_certifier *certifier, long i)
{
    const system_solver *motion = certifier->work->motion;
    double *react = certifier->react + i * certifier->n;
    for (int k = 0; k < certifier->n; k++) {
        const zw_motion *answer = &motion->answer;
        react[k] = motion->rows > 0 ? answer->F_L[k] + answer->F_C[k] - answer->C[k] : 0;
    }
}

/* Multipliers that a law carries are known already. */
static void note_multipliers(path_certifier *certifier, long i)
{
    const system_law *law = &certifier->system->law;
    double *lambda = certifier->trial->lambda + i * certifier->m;
    solver_multipliers(certifier->work->motion, lambda);
    for (int j = 0; j < law->carried; j++) {
        lambda[law->row[j]] = certifier->carried[i * law->carried + j];
    }
}

zw_status certify_model(path_certifier *certifier, const double *q, const double *v, double *a,
                        long every, zw_error *error)
{
    int n = certifier->n;
    if (certifier->lanes) {
        return certify_lanes_model(certifier, q, v, a, every, error);
    }
    for (long i = 0, polled = 0; i < certifier->count; i += every) {
        zw_status status = ZW_OK;
        if (i - polled >= POLL) {
            polled = i;
            status = certify_polled(certifier, i, error);
        }
        if (status == ZW_OK) {
            status = certify_sample(certifier, i, q + i * n, v + i * n, a + i * n, error);
        }
        if (status != ZW_OK) {
            return status;
        }
        if (every > 1) {
            continue;
        }
        certifier->trial->power[i] = certifier->work->power;
        note_reaction(certifier, i);
        note_multipliers(certifier, i);
        for (int c = 0; c < certifier->constraints; c++) {
            certifier->mode[i * certifier->constraints + c] = (unsigned char)certifier->modes[c];
        }
    }
    return ZW_OK;
}
