#include "step/motion.h"

#include <string.h>

step_motion motion_of(const zw_system *system, zw_work *work, double *stage)
{
    int carried = system->carried;
    return (step_motion){.system = system,
                         .work = work,
                         .carried = carried,
                         .size = system->nq + system->n + carried + system->works,
                         .stage = stage,
                         .at_node = 1,
                         .margin = 1};
}

static zw_status accelerate(step_motion *motion, double t, const double *y, double *dy,
                            zw_error *error)
{
    int nq = motion->system->nq;
    system_rates(motion->system, y, y + nq, dy);
    zw_status status =
        system_accelerate(motion->system, motion->work, t, y, y + nq, dy + nq, error);
    if (motion->system->works) {
        dy[motion->size - 1] = motion->work->power;
    }
    return status;
}

/* At a point of the manifold: with the margin of the rows there. */
static zw_status accelerate_at_node(step_motion *motion, double t, const double *y, double *dy,
                                    zw_error *error)
{
    system_solver *solver = motion->work->motion;
    solver->options.margin = 1;
    zw_status status = accelerate(motion, t, y, dy, error);
    solver->options.margin = 0;
    motion->margin = solver->rows > 0 ? solver->answer.margin : 1.0;
    return status;
}

/* Rows that depend on each other only on the manifold (Bricard's mechanism) are independent and
 * contradictory beside it, where the stages of a step are; and where rows are about to lose rank
 * (a parallelogram that lies flat), a point beside the manifold by d is answered with accelerations
 * that are off by d over their distance from that. In both cases the field is taken at the nearest
 * point of the manifold instead: it is as smooth, and on the manifold the same. */
zw_status motion_field(void *user, double t, const double *y, double *dy, zw_error *error)
{
    enum { SINGULAR = 20 }; /* rows closer to dependence than 1/SINGULAR */
    step_motion *motion = user;
    const system_solver *solver = motion->work->motion;
    int node = motion->at_node;
    motion->at_node = 0;
    if (!motion->careful || node) {
        zw_status status = node ? accelerate_at_node(motion, t, y, dy, error)
                                : accelerate(motion, t, y, dy, error);
        if (status != ZW_OK || solver->rows == 0) {
            return status;
        }
        int singular = SINGULAR * solver->answer.independence < 1;
        motion->rank = node ? solver->answer.rank : motion->rank;
        motion->careful = singular || solver->answer.rank > motion->rank ||
                          (motion->careful && motion->rank < solver->rows);
        if (node || !motion->careful) {
            return ZW_OK;
        }
    }
    memcpy(motion->stage, y, (size_t)motion->size * sizeof *y);
    zw_status status = motion_project(motion, t, motion->stage, error);
    motion->at_node = 0;
    return status == ZW_OK ? accelerate(motion, t, motion->stage, dy, error) : status;
}

zw_status motion_project(void *user, double t, double *y, zw_error *error)
{
    step_motion *motion = user;
    double *v = y + motion->system->nq;
    system_normalise(motion->system, y);
    zw_status status = system_project_position(motion->system, motion->work, t, y, v, error);
    if (status == ZW_OK) {
        status = system_project_velocity(motion->system, motion->work, t, y, v, error);
    }
    motion->at_node = 1;
    return status;
}

void motion_move(void *user, double *q, double h, const double *v)
{
    const step_motion *motion = user;
    system_move(motion->system, q, h, v);
}

/* For a point that the steps know nothing of. */
zw_status motion_exact(void *user, double t, double *y, double *dy, zw_error *error)
{
    step_motion *motion = user;
    int node = motion->at_node;
    zw_status status = motion_project(motion, t, y, error);
    motion->at_node = node;
    return status == ZW_OK ? accelerate_at_node(motion, t, y, dy, error) : status;
}

void motion_pack(const step_motion *motion, const zw_state *state, double *y)
{
    int n = motion->system->n, nq = motion->system->nq;
    zw_state *from = (zw_state *)state; /* only read */
    memcpy(y, state_q(from), (size_t)nq * sizeof *y);
    memcpy(y + nq, state_v(from), (size_t)(n + motion->carried) * sizeof *y);
    if (motion->system->works) {
        y[motion->size - 1] = state->work;
    }
}

void motion_unpack(const step_motion *motion, double t, const double *y, zw_state *state)
{
    int n = motion->system->n, nq = motion->system->nq;
    state->t = t;
    memcpy(state_q(state), y, (size_t)nq * sizeof *y);
    memcpy(state_v(state), y + nq, (size_t)(n + motion->carried) * sizeof *y);
    if (motion->system->works) {
        state->work = y[motion->size - 1];
    }
}
