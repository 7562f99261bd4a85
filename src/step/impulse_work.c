/* The work of a step: what changes the energy of bodies but their potentials.
 *
 * A step leads from v0 (at q0) to u, and from there to v1 (at q1). Each time a sum of impulses
 * changes the speeds, and M (after - before) = A' lambda gives to the kinetic energy
 *
 *     1/2 (after' M after - before' M before) = lambda' A (before + after)/2
 *
 * exactly. Closers that stay where they are do no work, and what they seem to do in a step is an
 * error of the step; but those that move (psi at rest is not 0) do, as limits, contacts and
 * friction.
 *
 * Contacts without bounce and limits take energy. In a step there may seem to be more, as what
 * rolls swings by a part of h n; but the equations of a step that is too long for them have other
 * solutions, too: a stone that rocks may as well have turned over, by a push at the point where it
 * arrives. There most of the kinetic energy comes from nothing. A step that ends so is not the one
 * meant, which is the one that goes to v0 with h: it is taken in halves. */
#include <math.h>

#include "model/pose.h"
#include "step/impulse.h"
#include "tree/sweeps.h"

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

static int is_one_sided(const impulse_problem *p, int k)
{
    return p->block[k].kind == ZW_CONE || p->block[k].kind == ZW_INEQUALITY;
}

/* What contacts and limits gave. */
static double gift(const impulse_problem *p, const double *lambda, const double *before,
                   const double *after)
{
    double sum = 0;
    for (int k = 0; k < p->blocks; k++) {
        for (int i = p->first[k]; i < p->first[k] + p->block[k].rows && is_one_sided(p, k); i++) {
            for (int e = p->start[i]; e < p->start[i + 1]; e++) {
                int d = p->column[e];
                sum += lambda[i] * p->value[e] * 0.5 * (before[d] + after[d]);
            }
        }
    }
    return sum;
}

static int pushes(const impulse_problem *p)
{
    for (int k = 0; k < p->blocks; k++) {
        if (is_one_sided(p, k) && p->guess[p->first[k]] > 0) {
            return 1;
        }
    }
    return 0;
}

/* Kinetic and potential energy at (q1, v1) less those at (q0, v0). */
static double risen(step_impulse *s, const double *v1)
{
    const double *out = s->work->out[PART_ENERGY];
    system_evaluate(s->system, s->work, PART_ENERGY, s->t, s->q0, s->v0, NULL, NULL, NULL);
    double before = out[0];
    system_evaluate(s->system, s->work, PART_ENERGY, s->t + s->h, s->q1, v1, NULL, NULL, NULL);
    return out[0] - before;
}

int impulse_is_driven(step_impulse *s, const double *v1, double gained)
{
    const tree_mechanism *tree = s->system->tree;
    double before[2], after[2], fall = 0;
    if (!pushes(&s->problem)) {
        return 0;
    }
    tree_energies(tree, s->q0, s->v0, s->begin, before);
    tree_velocities(tree, v1, s->work->sweeps);
    tree_energies(tree, s->q1, v1, s->work->sweeps, after);
    for (int i = 1; i < tree->bodies; i++) {
        const double *lift = tree->body[i].lift;
        fall += 0.5 * s->h * s->h * model_dot(lift, lift) / fmax(tree->body[i].mass, 1e-300);
    }
    double least = fmax(0.1 * (before[0] + after[0]), 1e-6 * fall);
    if (!(after[0] > before[0] && after[0] + after[1] - before[0] - before[1] > least)) {
        return 0; /* that tells nearly all steps, but for what springs do between bodies */
    }
    double given = s->system->works ? gained - gift(&s->problem, s->problem.guess, s->v0, s->u) -
                                          gift(&s->aside, s->aside.answer.lambda, s->u, v1)
                                    : 0;
    return risen(s, v1) - given > least;
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
