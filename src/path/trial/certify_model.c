/* The accelerations that the system would have along a path, and what holds there: contacts that
 * touch and do not part are closed, what rubs and does not slide sticks, as far as the errors of
 * positions and speeds can tell. A closed contact that would have to pull is open, friction that
 * would have to hold more than it can slides: then the system would move otherwise, and the extra
 * force is what makes the difference. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "path/trial/certify.h"
#include "system/events/tangent.h"

enum { POLL = 1024 };

/* A gap or speed counts as none below BORDER times its error, or below SMALL of the scale. */
#define BORDER 6.0
#define SMALL 1e-7

zw_status judge_polled(path_judge *judge, long sample, zw_error *error)
{
    const zw_certify_options *options = judge->options;
    if (options->poll && options->poll(options->user, judge->trial->t[sample])) {
        return base_fail(error, ZW_INTERRUPTED, "%s", zw_status_text(ZW_INTERRUPTED));
    }
    return ZW_OK;
}

/* The error of row r with entries A for errors of the coordinates, and a share of their scale. */
static double border(const path_judge *judge, int r, const double *A, const double *error,
                     const double *scale)
{
    const zw_system *system = judge->system;
    double sum = 0, size = 0;
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        int i = system->A_column[k];
        double e = isfinite(error[i]) ? A[k] * error[i] : 0;
        sum += e * e;
        size += fabs(A[k]) * scale[i];
    }
    return BORDER * sqrt(sum) + SMALL * size;
}

static int touches(const path_judge *judge, int c, long i)
{
    const zw_system *system = judge->system;
    int r = system->first_row[c], n = judge->n;
    const double *position = judge->work->out[PART_POSITION];
    const double *velocity = judge->work->out[PART_VELOCITY];
    return position[r] <=
               border(judge, r, position + judge->m, judge->blur[0] + i * n, judge->size) &&
           fabs(velocity[r]) <=
               border(judge, r, velocity + judge->m, judge->blur[1] + i * n, judge->swift);
}

static int slides(const path_judge *judge, int c, long i)
{
    tangent t = tangent_look(judge->system, c, judge->work->out[PART_SLIP]);
    const double *error = judge->blur[1] + i * judge->n;
    double sum = 0, size = 0;
    for (int row = 0; row < t.width; row++) {
        for (int k = 0; k < t.columns; k++) {
            double T = t.T[row * t.columns + k];
            double e = isfinite(error[t.column[k]]) ? T * error[t.column[k]] : 0;
            sum += e * e;
            size += fabs(T) * judge->swift[t.column[k]];
        }
    }
    return tangent_speed(&t) > BORDER * sqrt(sum) + SMALL * size;
}

/* The modes of sample i as positions and speeds have them. */
static zw_status look(path_judge *judge, long i, const double *q, const double *v, double *mode,
                      zw_error *error)
{
    const zw_system *system = judge->system;
    const zw_model *model = system->model;
    double t = judge->trial->t[i];
    zw_work *work = judge->work;
    zw_status status = ZW_OK;
    if (system->contact_count > 0) {
        status = system_evaluate(system, work, PART_POSITION, t, q, v, NULL, NULL, error);
        status = status != ZW_OK
                     ? status
                     : system_evaluate(system, work, PART_VELOCITY, t, q, v, NULL, NULL, error);
    }
    status = status != ZW_OK ? status : system_note_slip(system, work, t, q, v, error);
    for (int c = 0; c < judge->constraints && status == ZW_OK; c++) {
        int closed = model->constraint[c].relation != MODEL_AT_LEAST || touches(judge, c, i);
        int rough = closed && system->slip[c].width > 0;
        mode[c] = !closed                         ? SYSTEM_OPEN
                  : rough && !slides(judge, c, i) ? SYSTEM_STUCK
                                                  : SYSTEM_CLOSED;
    }
    return status;
}

/* What cannot be as it was seen: the constraint whose mode was changed, or -1. */
static int object(path_judge *judge, double *mode, double size)
{
    const zw_system *system = judge->system;
    zw_work *work = judge->work;
    double *lambda = judge->room[0];
    solver_multipliers(work->motion, lambda);
    for (int c = 0; c < judge->constraints; c++) {
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

static double largest_force(const path_judge *judge)
{
    const double *force = judge->work->out[PART_TERMS] + judge->system->at.force;
    double most = 0;
    for (int k = 0; k < judge->n; k++) {
        most = fmax(most, fabs(force[k]));
    }
    return most;
}

static zw_status accelerate(path_judge *judge, long i, const double *q, const double *v, double *a,
                            zw_error *error)
{
    const double *wide = v;
    zw_status status = judge_law_speeds(judge, i, q, v, &wide, error);
    if (status == ZW_OK) {
        status = system_accelerate(judge->system, judge->work, judge->trial->t[i], q, wide,
                                   judge->wide[1], error);
        memcpy(a, judge->wide[1], (size_t)judge->n * sizeof *a);
    }
    return status;
}

/* Near singular positions the best answer will do: what it lacks is part of the errors. */
static zw_status settle(const path_judge *judge, zw_status status, double *a)
{
    const zw_motion *answer = &judge->work->motion->answer;
    if (status == ZW_INACCURATE && answer->certificate.worst < 1e-3) {
        memcpy(a, answer->a, (size_t)judge->n * sizeof *a);
        return ZW_OK;
    }
    return status;
}

zw_status judge_sample(path_judge *judge, long i, const double *q, const double *v, double *a,
                       zw_error *error)
{
    const zw_system *system = judge->system;
    zw_work *work = judge->work;
    double *mode = judge->modes;
    int changing = system->contact_count > 0 || system->has_friction;
    zw_status status = changing ? look(judge, i, q, v, mode, error) : ZW_OK;
    for (int round = 0; status == ZW_OK && round <= 2 * judge->constraints; round++) {
        status = system_set_modes(system, work, mode, error);
        if (status == ZW_OK) { /* the path is not on the constraints, redundant ones contradict */
            work->motion->options.least_squares = 1;
            status = settle(judge, accelerate(judge, i, q, v, a, error), a);
        }
        if (status != ZW_OK || !changing || object(judge, mode, largest_force(judge)) < 0) {
            break;
        }
    }
    return status;
}

/* What the constraints exert, without the non-ideal part: F_L + F_C - C. */
static void note_reaction(path_judge *judge, long i)
{
    const system_solver *motion = judge->work->motion;
    double *react = judge->react + i * judge->n;
    for (int k = 0; k < judge->n; k++) {
        const zw_motion *answer = &motion->answer;
        react[k] = motion->rows > 0 ? answer->F_L[k] + answer->F_C[k] - answer->C[k] : 0;
    }
}

/* Those that a law carries are known. */
static void note_multipliers(path_judge *judge, long i)
{
    const system_law *law = &judge->system->law;
    double *lambda = judge->trial->lambda + i * judge->m;
    solver_multipliers(judge->work->motion, lambda);
    for (int j = 0; j < law->carried; j++) {
        lambda[law->row[j]] = judge->carried[i * law->carried + j];
    }
}

zw_status judge_model(path_judge *judge, const double *q, const double *v, double *a, long every,
                      zw_error *error)
{
    int n = judge->n;
    if (judge->lanes) {
        return judge_lanes_model(judge, q, v, a, every, error);
    }
    for (long i = 0, polled = 0; i < judge->count; i += every) {
        zw_status status = ZW_OK;
        if (i - polled >= POLL) {
            polled = i;
            status = judge_polled(judge, i, error);
        }
        if (status == ZW_OK) {
            status = judge_sample(judge, i, q + i * n, v + i * n, a + i * n, error);
        }
        if (status != ZW_OK) {
            return status;
        }
        if (every > 1) {
            continue;
        }
        judge->trial->power[i] = judge->work->power;
        note_reaction(judge, i);
        note_multipliers(judge, i);
        for (int c = 0; c < judge->constraints; c++) {
            judge->mode[i * judge->constraints + c] = (unsigned char)judge->modes[c];
        }
    }
    return ZW_OK;
}
