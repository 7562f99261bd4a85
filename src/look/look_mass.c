/* The mass matrix: its entries, products and solves; and rows of constraints. */
#include <string.h>

#include "base/error.h"
#include "look/probe.h"

/* Where a law adds to the metric of the projections, the terms have the whole of it. */
zw_status probe_metric(zw_probe *probe, probe_now now, zw_error *error)
{
    const zw_system *system = probe->system;
    system_part part = system->law.curved ? PART_TERMS : PART_METRIC;
    zw_status status = probe_evaluate(probe, now, part, error);
    const double *from = probe->work->out[part] + (part == PART_TERMS ? system->at.M : 0);
    memcpy(probe->M, from, (size_t)system->M_start[system->n] * sizeof *from);
    return status;
}

zw_mass_pattern zw_mass_pattern_of(const zw_probe *probe)
{
    const zw_system *system = probe->system;
    return (zw_mass_pattern){system->n, system->M_start[system->n], system->M_start, system->M_row};
}

zw_status zw_mass_entries(zw_probe *probe, const zw_state *state, double *value, zw_error *error)
{
    zw_status status = probe_metric(probe, probe_bind(probe, state), error);
    if (status == ZW_OK) {
        memcpy(value, probe->M, (size_t)probe->system->M_start[probe->system->n] * sizeof *value);
    }
    return status;
}

zw_status zw_mass(zw_probe *probe, const zw_state *state, double *M, zw_error *error)
{
    const zw_system *system = probe->system;
    size_t n = (size_t)system->n;
    zw_status status = probe_metric(probe, probe_bind(probe, state), error);
    if (status != ZW_OK) {
        return status;
    }
    memset(M, 0, n * n * sizeof *M);
    for (int j = 0; j < system->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            size_t i = (size_t)system->M_row[k];
            M[i * n + (size_t)j] = M[(size_t)j * n + i] = probe->M[k];
        }
    }
    return ZW_OK;
}

zw_status zw_mass_times(zw_probe *probe, const zw_state *state, const double *x, double *y,
                        zw_error *error)
{
    const zw_system *system = probe->system;
    double *sum = probe->scratch;
    zw_status status = probe_metric(probe, probe_bind(probe, state), error);
    if (status != ZW_OK) {
        return status;
    }
    memset(sum, 0, (size_t)system->n * sizeof *sum);
    for (int j = 0; j < system->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            int i = system->M_row[k];
            sum[i] += probe->M[k] * x[j];
            sum[j] += i != j ? probe->M[k] * x[i] : 0;
        }
    }
    memcpy(y, sum, (size_t)system->n * sizeof *y);
    return ZW_OK;
}

zw_status zw_mass_solve(zw_probe *probe, const zw_state *state, const double *x, double *y,
                        zw_error *error)
{
    const zw_system *system = probe->system;
    size_t bytes = (size_t)system->n * sizeof *y;
    probe_now now = probe_bind(probe, state);
    memmove(y, x, bytes);
    if (system_solve_tree(system, probe->work, now.q, y)) {
        return ZW_OK;
    }
    zw_status status = probe_metric(probe, now, error);
    if (status != ZW_OK) {
        return status;
    }
    zw_motion motion;
    zw_gauss problem = {.n = system->n,
                        .metric = {.kind = ZW_METRIC_SPARSE,
                                   .value = probe->M,
                                   .start = system->M_start,
                                   .row = system->M_row},
                        .force = probe->scratch};
    memcpy(probe->scratch, x, bytes);
    if (!probe->solver) {
        probe->solver = zw_gauss_work_create(&problem, NULL, error);
    }
    if (!probe->solver) {
        return ZW_NO_MEMORY;
    }
    status = zw_gauss_solve(&problem, NULL, probe->solver, &motion, error);
    if (status == ZW_OK) {
        memcpy(y, motion.a, bytes);
    } else if (status == ZW_UNDETERMINED && motion.undetermined_count > 0) {
        base_fail(error, status, "%s has no mass of its own: M is singular",
                  zw_name(system, ZW_KIND_SPEED, motion.undetermined[0]));
    }
    return status;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

zw_status zw_rows_look(zw_probe *probe, const zw_state *state, double *A, double *b, double *phi,
                       double *psi, zw_error *error)
{
    const zw_system *system = probe->system;
    size_t n = (size_t)system->n, m = (size_t)system->m;
    probe_now now = probe_bind(probe, state);
    zw_status status = probe_evaluate(probe, now, PART_TERMS, error);
    const double *out = probe->work->out[PART_TERMS];
    if (A && status == ZW_OK) {
        memset(A, 0, m * n * sizeof *A);
        for (int r = 0; r < system->m; r++) {
            for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
                A[(size_t)r * n + (size_t)system->A_column[k]] = out[system->at.A + k];
            }
        }
    }
    if (b && status == ZW_OK) {
        memcpy(b, out + system->at.b, m * sizeof *b);
    }
    if (phi && status == ZW_OK) {
        status = probe_evaluate(probe, now, PART_POSITION, error);
        memcpy(phi, probe->work->out[PART_POSITION], m * sizeof *phi);
    }
    for (int r = 0; phi && r < system->m; r++) {
        phi[r] = system->row_kind[r] == SYSTEM_VELOCITY ? 0 : phi[r];
    }
    if (psi && status == ZW_OK) {
        status = probe_evaluate(probe, now, PART_VELOCITY, error);
        memcpy(psi, probe->work->out[PART_VELOCITY], m * sizeof *psi);
    }
    return status;
}
