/* The work of a step: what changes the energy of bodies but their potentials.
 *
 * A step leads from v0 (at q0) to w, from there to u, and to v1 (at q1). Each time a sum of
 * impulses changes the speeds, and M (after - before) = A' lambda gives to the kinetic energy
 *
 *     1/2 (after' M after - before' M before) = lambda' A (before + after)/2
 *
 * exactly. Closers that stay where they are do no work, and what they seem to do in a step is an
 * error of the step; but those that move (psi at rest is not 0) do, as limits, contacts and
 * friction. What a closer that moves gives when v1 is found, it takes back when w is.
 *
 * Contacts without bounce and limits take energy. In a step there may seem to be more, as what
 * rolls swings by a part of h n; but the equations of a step that is too long for them have other
 * solutions, too: a stone that rocks may as well have turned over, by a push at the point where it
 * arrives. There most of the kinetic energy comes from nothing. A step that ends so is not the one
 * meant, which is the one that goes to w with h: it is taken in halves. */
#include <math.h>

#include "model/pose.h"
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

/* What all but contacts and limits gave on the way from w to u; *pushes: something touches. */
static double given(const step_impulse *s, int *pushes)
{
    const tree_mechanism *tree = s->system->tree;
    const double *com0 = s->begin + tree->at.com, *com1 = s->work->sweeps + tree->at.com;
    const impulse_problem *p = &s->problem;
    double sum = impulse_work(s, p, p->guess, s->w, s->u);
    *pushes = 0;
    for (int k = 0; k < p->blocks; k++) {
        int one_sided = p->block[k].kind == ZW_CONE || p->block[k].kind == ZW_INEQUALITY;
        *pushes |= one_sided && p->guess[p->first[k]] > 0;
        for (int i = p->first[k]; i < p->first[k] + p->block[k].rows && one_sided; i++) {
            for (int e = p->start[i]; e < p->start[i + 1]; e++) {
                int d = p->column[e];
                sum -= p->guess[i] * p->value[e] * 0.5 * (s->w[d] + s->u[d]);
            }
        }
    }
    for (int d = 0; d < s->system->n; d++) {
        sum += s->h * s->force[d] * 0.5 * (s->w[d] + s->u[d]);
    }
    for (int i = 1; i < tree->bodies; i++) {
        for (int k = 0; k < 3; k++) {
            sum -= tree->body[i].lift[k] * (com1[3 * i + k] - com0[3 * i + k]);
        }
    }
    return sum;
}

int impulse_is_driven(step_impulse *s)
{
    const tree_mechanism *tree = s->system->tree;
    double T0 = impulse_kinetic(s, s->w), T1 = impulse_kinetic(s, s->u), fall = 0;
    int pushes;
    if (!(T1 > T0)) {
        return 0;
    }
    for (int i = 1; i < tree->bodies; i++) {
        const double *lift = tree->body[i].lift;
        fall += 0.5 * s->h * s->h * model_dot(lift, lift) / fmax(tree->body[i].mass, 1e-300);
    }
    double more = T1 - T0 - given(s, &pushes);
    return pushes && more > fmax(0.1 * (T0 + T1), 1e-6 * fall);
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
        sum += s->h * s->Q[i] * 0.5 * (s->u[i] + before[i]);
    }
    return sum;
}
