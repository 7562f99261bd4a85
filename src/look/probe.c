/* A probe: creating, freeing, and evaluating it at a state. */
#include "look/probe.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tree/sweeps.h"

zw_probe *zw_probe_create(const zw_model *model, const zw_system *system, zw_error *error)
{
    zw_probe *probe = base_alloc(sizeof *probe);
    if (!probe) {
        base_no_memory(error);
        return NULL;
    }
    size_t n = (size_t)system->n;
    probe->model = model;
    probe->system = system;
    probe->M = base_alloc(((size_t)system->M_start[system->n] + 1) * sizeof(double));
    probe->scratch = base_alloc((6 * n + 6) * sizeof(double));
    probe->chain = base_alloc((6 * n + 6 + (size_t)system->carried) * sizeof(double));
    probe->dof = base_alloc((n + 1) * sizeof(int));
    probe->inside = base_alloc((size_t)zw_count(system, ZW_KIND_BODY) + 1);
    probe->work = zw_work_create(system, error);
    if (!probe->M || !probe->scratch || !probe->chain || !probe->dof || !probe->inside) {
        base_no_memory(error);
    } else if (probe->work && probe_points_create(probe, error) == ZW_OK) {
        return probe;
    }
    zw_probe_free(probe);
    return NULL;
}

void zw_probe_free(zw_probe *probe)
{
    if (!probe) {
        return;
    }
    probe_points_free(&probe->points);
    zw_gauss_work_free(probe->solver);
    zw_work_free(probe->work);
    base_free(probe->M);
    base_free(probe->scratch);
    base_free(probe->chain);
    base_free(probe->dof);
    base_free(probe->inside);
    base_free(probe);
}

probe_now probe_bind(zw_probe *probe, const zw_state *state)
{
    zw_state *now = (zw_state *)state; /* only read */
    system_bind(probe->system, probe->work, state_param(now));
    return (probe_now){state->t, state_q(now), state_v(now)};
}

void probe_sweep(zw_probe *probe, probe_now now)
{
    tree_kinematics(probe->system->tree, now.q, probe->work->sweeps);
    tree_velocities(probe->system->tree, now.v, probe->work->sweeps);
}

zw_status probe_evaluate(zw_probe *probe, probe_now now, system_part part, zw_error *error)
{
    return system_evaluate(probe->system, probe->work, part, now.t, now.q, now.v, NULL, NULL,
                           error);
}
