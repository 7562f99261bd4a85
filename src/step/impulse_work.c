/* The work of a step: what changes the energy of bodies but their potentials.
 *
 * A step leads from v0 (at q0) to u, and from there to v1 (at q1). Each time a sum of impulses
 * changes the speeds, and M (after - before) = A' lambda gives to the kinetic energy
 *
 *     1/2 (after' M after - before' M before) = lambda' A (before + after)/2
 *
 * exactly. Closers that stay where they are do no work, and what they seem to do in a step is an
 * error of the step; but those that move (psi at rest is not 0) do, as limits, contacts and
 * friction. */
#include "step/impulse.h"

/* Does constraint c ask for speeds other than 0? */
static int moves(const step_impulse *s, int c)
{
    int found = 0;
    for (int r = s->system->first_row[c]; r < s->system->first_row[c + 1]; r++) {
        found |= s->psi0[r] != 0 || s->psi[r] != 0;
    }
    return found;
}

double impulse_work(const step_impulse *s, const impulse_problem *p, const double *lambda,
                    const double *before, const double *after)
{
    int held = impulse_held(s);
    double sum = 0;
    for (int k = 0; k < p->blocks; k++) {
        if (p->block[k].kind == ZW_EQUALITY && p->key[k] < held && !moves(s, (int)p->key[k])) {
            continue; /* closers do none */
        }
        for (int i = p->first[k]; i < p->first[k] + p->block[k].rows; i++) {
            for (int e = p->start[i]; e < p->start[i + 1]; e++) {
                int d = p->column[e];
                sum += lambda[i] * p->value[e] * 0.5 * (before[d] + after[d]);
            }
        }
    }
    return sum;
}

double impulse_kinetic(step_impulse *s, const double *v)
{
    double sum = 0;
    matrix_times(&s->H, v, s->other);
    for (int i = 0; i < s->system->n; i++) {
        sum += 0.5 * v[i] * s->other[i];
    }
    return sum;
}

double impulse_forces_work(const step_impulse *s, const double *before)
{
    double sum = s->h * s->drift;
    for (int i = 0; i < s->system->n; i++) {
        sum += s->fall * s->Q[i] * 0.5 * (s->u[i] + before[i]);
    }
    return sum;
}
