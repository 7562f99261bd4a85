/* What a run measures after each step, for awake bodies only.
 *
 * Nothing changes for sleeping bodies: the violation of their rows is that at the end of the step
 * that put them to sleep, which included them; they do not slide; and their numbers were finite
 * when they came to rest. So the largest violation of a run, and the last sliding direction of each
 * dry friction, are those that a check of all bodies would find. */
#include <math.h>
#include <string.h>

#include "step/sleep/sleep.h"
#include "tree/sweeps.h"

int sleep_is_finite(const step_impulse *s)
{
    const step_sleep *z = s->sleep;
    int finite = 1;
    for (int i = 0; z->inner && i < z->part.system.nq && finite; i++) {
        finite = isfinite(z->q1[i]);
    }
    for (int i = 0; z->inner && i < z->part.system.n + z->part.system.carried && finite; i++) {
        finite = isfinite(z->v1[i]);
    }
    return finite;
}

/* The rows use memory of the inner stepper, which refills it in its next step. */
void sleep_violation(step_impulse *s, double t, double violation[2])
{
    const step_sleep *z = s->sleep;
    const zw_system *part = &z->part.system;
    step_impulse *inner = z->inner;
    violation[0] = violation[1] = 0;
    if (!inner || part->m == 0) {
        return;
    }
    tree_kinematics(part->tree, z->q1, z->work->sweeps);
    tree_velocities(part->tree, z->v1, z->work->sweeps);
    tree_accelerations(part->tree, NULL, z->work->sweeps);
    bodies_fill_rows(
        part, z->work, z->q1, z->v1,
        (bodies_rows){.phi = inner->phi, .psi = inner->psi, .b = inner->b, .A = inner->A});
    if (z->part.bodies.formulas) {
        const expr_inputs in = {.t = t, .param = z->work->param, .q = z->q1, .v = z->v1};
        size_t bytes = (size_t)z->part.formulas.rows * sizeof(double);
        memcpy(inner->phi, bodies_run_formulas(part, z->work, PART_POSITION, &in), bytes);
        memcpy(inner->psi, bodies_run_formulas(part, z->work, PART_VELOCITY, &in), bytes);
    }
    for (int c = 0; c < z->part.model.constraint_count - z->part.bodies.dry_count; c++) {
        for (int r = part->first_row[c]; r < part->first_row[c + 1]; r++) {
            int holds = z->mode[c] != SYSTEM_OPEN, rolls = part->row_kind[r] == SYSTEM_VELOCITY;
            violation[0] = holds && !rolls ? fmax(violation[0], fabs(inner->phi[r])) : violation[0];
            violation[1] = holds ? fmax(violation[1], fabs(inner->psi[r])) : violation[1];
        }
    }
}

void sleep_note_slip(const step_impulse *s)
{
    const step_sleep *z = s->sleep;
    const struct system_bodies *bodies = &z->part.bodies;
    int first = z->part.model.constraint_count - bodies->dry_count;
    for (int k = 0; z->inner && k < bodies->dry_count; k++) {
        const bodies_dry *dry = &bodies->dry[k];
        double e = 0;
        for (int i = dry->first; i < dry->first + dry->count; i++) {
            e += bodies->coef[i] * z->v1[bodies->term[i].dof];
        }
        if (fabs(e) > SYSTEM_SLOW_SLIP) { /* as in system_note_slip */
            s->work->hint[3 * z->part.constraint[first + k]] = e > 0 ? 1 : -1;
        }
    }
}
