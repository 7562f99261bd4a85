/* The backward pass over a motion of equations.
 *
 * The motion is divided into parts over which controls are constant. For each part the variational
 * equations (follow.c), with all coordinates, speeds and parameters as unknowns, give the matrix Z
 * of the derivatives of its end; events, impacts and kinks within it have their jumps (jump.c), so
 * that Z includes saltation. Slopes g by the end of a part become g Z by its start. The cost is
 * therefore that of 2 n + parameters columns, however many controls all parts have together; parts
 * are restarted from stored states (gradient.c). */
#include "look/sensitivity/flow.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/work.h"

sens_flow *flow_create(const zw_model *model, const zw_system *system, const zw_run_options *run,
                       zw_error *error)
{
    sens_flow *flow = base_alloc(sizeof *flow);
    if (!flow) {
        base_no_memory(error);
        return NULL;
    }
    *flow = (sens_flow){.system = system, .run = *run};
    flow->run.observer = NULL;
    flow->slopes = zw_sensitivity_create(model, system, NULL, 0, error);
    flow->work = flow->slopes ? zw_work_create(system, error) : NULL;
    flow->now = flow->work ? state_allocate(system) : NULL;
    if (!flow->now) {
        if (flow->work) {
            base_no_memory(error);
        }
        flow_free(flow);
        return NULL;
    }
    return flow;
}

void flow_free(sens_flow *flow)
{
    if (flow) {
        zw_sensitivity_free(flow->slopes);
        zw_work_free(flow->work);
        zw_state_free(flow->now);
        base_free(flow);
    }
}

zw_status flow_take(sens_flow *flow, const zw_state *from, const double *param, double until,
                    int differs, zw_error *error)
{
    zw_sensitivity_plan plan = {.run = flow->run};
    zw_run_summary summary;
    size_t params = (size_t)flow->system->shape.params;
    memcpy(flow->now, from, from->bytes);
    if (params > 0) {
        memcpy(state_param(flow->now), param, params * sizeof *param);
    }
    plan.run.time = until;
    plan.run.every = 2 * (fabs(until) + fabs(from->t)) + 1;
    zw_status status = differs ? zw_sensitivity_start(flow->slopes, flow->now, 0, error) : ZW_OK;
    if (status == ZW_OK) {
        status = differs ? zw_sensitivity_run(flow->slopes, flow->now, flow->work, &plan, &summary,
                                              error)
                         : zw_run(flow->system, flow->now, flow->work, &plan.run, &summary, error);
    }
    if (status == ZW_OK && differs) {
        zw_sensitivity_answer answer = zw_sensitivity_look(flow->slopes);
        flow->kink_count += answer.kinks;
        flow->kink = answer.kinks > 0 ? answer.kink : flow->kink;
    }
    return status == ZW_OK && flow->now->t < until
               ? base_fail(error, ZW_BAD_INPUT,
                           "the motion ends at t = %.9g: a sum over its states needs all of them",
                           flow->now->t)
               : status;
}

void flow_back(const sens_flow *flow, double *g, double *by_param, double *scratch)
{
    zw_sensitivity_answer answer = zw_sensitivity_look(flow->slopes);
    int two = 2 * answer.n;
    for (int c = 0; c < answer.columns; c++) {
        const double *by = answer.by + (size_t)c * (size_t)two;
        double sum = 0;
        for (int i = 0; i < two; i++) {
            sum += g[i] * by[i];
        }
        if (c < two) {
            scratch[c] = sum;
        } else {
            by_param[c - two] += sum;
        }
    }
    memcpy(g, scratch, (size_t)two * sizeof *g);
}
