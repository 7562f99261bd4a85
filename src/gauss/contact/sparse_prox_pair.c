/* Newton's method in motion and multipliers together, for units whose modes are right.
 *
 * With pi(r, w) of sparse_prox.c (1) for kappa = 1, the laws and the balance are
 *
 *     e = pi(r, w) - r = 0,     F = M x - J' r = 0,     w = J x + c,                            (1)
 *
 * and with P and -P K the slopes of pi in r and w (K: the weights of the rows) a step has (1 - P)
 * dr + P K dw = e. Where rows are dependent 1 - P does not determine how r is shared between them,
 * so dr is penalised by P / kappa:
 *
 *     A dr = e - P K dw,     A = 1 - (1 - 1/kappa) P,     G = A^-1 P K,     q = A^-1 e,
 *     (M + J' G J) dx = J' q - F,     dr = q - G J dx.                                          (2)
 *
 * This is a step of the method of multipliers, r -> r - kappa K w where a contact sticks, taken
 * as an increment: F and w are those of the iterate, so that each further step with the same
 * factors corrects the last one, and round-off of kappa K w, which ends the digits of
 * sparse_prox_newton.c at kappa 1e7, does not accumulate. A step gains the factor
 * 1/(1 + kappa s) + kappa eps, s the eigenvalues of J M^-1 J': with kappa = FIRM modes are solved
 * in a step that are as soft as a tower of 300 boxes that bends (s = 1/N^4).
 *
 * kappa. A contact that sticks by mistake exerts kappa times its w, which must not exceed the
 * actual forces. Errors of the certificate are those of w and of r to the largest, so kappa = SHARE
 * / error, and a step that makes the error worse is the last one. So this is useful where the error
 * is small or the modes are already right; which contacts open or slide is determined by the other
 * methods.
 *
 * Factors are kept while no unit changes its mode, and a step gains KEEP: where contacts slide, the
 * slopes turn with the slip. Where the error has reached its target, steps continue with the
 * existing factors as long as they gain: they cost little, and the next problem starts from their
 * solution. */
#include <math.h>
#include <string.h>

#include "gauss/contact/sparse_prox_inner.h"
#include "math/cone.h"
#include "math/dense/dense.h"

enum { STEPS = 20 };
#define FIRM 1e10    /* the largest kappa */
#define SHARE 0.1    /* kappa times the error of the certificate */
#define KEEP 0.03    /* of the error: factors that gain less are made anew */
#define TOUCHES 1e-6 /* of the worst speed of approach: bodies that part more slowly touch */

/* B = A^-1 and G = B P K of a unit that is not open, from G = P K at the iterate. */
static void invert(const many_unit *u, double kappa, double *G, double *B)
{
    int d = u->d, pivot[MANY_ROWS];
    double A[MANY_ROWS * MANY_ROWS], column[MANY_ROWS], T[MANY_ROWS * MANY_ROWS] = {0};
    for (int i = 0; i < d * d; i++) {
        double K = i % d > 0 ? u->tangent : u->normal;
        A[i] = (i / d == i % d) - (1 - 1 / kappa) * (K > 0 ? G[i] / K : 0);
    }
    dense_lu(d, A, d, pivot, 0.5 / kappa); /* no eigenvalue of P is above 1 */
    for (int j = 0; j < d; j++) {
        memset(column, 0, sizeof column);
        column[j] = 1;
        dense_lu_solve(d, A, d, pivot, column);
        for (int i = 0; i < d; i++) {
            B[i * d + j] = column[i];
            for (int k = 0; k < d; k++) {
                T[i * d + k] += column[i] * G[j * d + k];
            }
        }
    }
    memcpy(G, T, (size_t)(d * d) * sizeof *G);
}

/* All at the iterate. */
static void look(sparse_prox *s)
{
    const many_table *t = &s->t;
    many_residuals(t, s->x, s->w);
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        int at = u->first;
        s->state[k] = (unsigned char)many_law(u, 1, s->r + at, s->w + at, s->pi + at);
    }
    many_metric_times(t, s->x, s->F);
    many_rows_push(t, s->r, s->F);
}

/* Slopes at the iterate, factored. */
static int factor(sparse_prox *s, double kappa)
{
    s->kappa = 1; /* of pi */
    for (int k = 0; k < s->t.units; k++) {
        const many_unit *u = &s->t.unit[k];
        if (s->state[k] != MANY_OPEN) {
            many_slope(s, k, s->G + u->G);
            invert(u, kappa, s->G + u->G, s->B + u->G);
        }
    }
    return many_factor(s);
}

/* q of one unit; what is open goes to its bound. */
static void aim(const sparse_prox *s, int k, double *q)
{
    const many_unit *u = &s->t.unit[k];
    const double *B = s->B + u->G, *pi = s->pi + u->first, *r = s->r + u->first;
    int d = u->d;
    for (int i = 0; i < d; i++) {
        q[i] = s->state[k] == MANY_OPEN ? pi[i] - r[i] : 0;
        for (int j = 0; j < d && s->state[k] != MANY_OPEN; j++) {
            q[i] += B[i * d + j] * (pi[j] - r[j]);
        }
    }
}

/* Sliding contacts are at the friction limit; a step along the tangent leaves the cone in second
 * order. */
static void onto_cone(int d, double *r)
{
    double size = cone_tangent(d, r);
    for (int i = 1; i < d && size > 0; i++) {
        r[i] *= fmax(r[0], 0) / size;
    }
}

/* (2) with the current factors. */
static void advance(sparse_prox *s)
{
    const many_table *t = &s->t;
    double *q = s->pi_new;
    memcpy(s->d, s->F, (size_t)t->n * sizeof(double));
    for (int k = 0; k < t->units; k++) {
        aim(s, k, q + t->unit[k].first);
    }
    many_rows_push(t, q, s->d);
    dense_scale(t->n, -1, s->d);
    front_solve(s->front, s->d);
    many_rows_times(t, s->d, s->dw);
    dense_axpy(t->n, 1, s->d, s->x);
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        const double *G = s->G + u->G, *dw = s->dw + u->first;
        for (int i = 0; i < u->d; i++) {
            double dr = q[u->first + i];
            for (int j = 0; j < u->d && s->state[k] != MANY_OPEN; j++) {
                dr -= G[i * u->d + j] * dw[j];
            }
            s->r[u->first + i] += dr;
        }
        if (s->state[k] == MANY_SLIDE) {
            onto_cone(u->d, s->r + u->first);
        }
    }
    s->iterations++;
}

/* All that touch, and that the free motion does not part, stick. */
static void hold(sparse_prox *s)
{
    double worst = 0;
    for (int k = 0; k < s->t.units; k++) {
        worst = fmax(worst, -s->w[s->t.unit[k].first]);
    }
    for (int k = 0; k < s->t.units; k++) {
        const many_unit *u = &s->t.unit[k];
        if (u->kind != ZW_CONE || !(s->w[u->first] <= TOUCHES * worst)) {
            continue;
        }
        s->state[k] = MANY_STICK;
        for (int i = u->first; i < u->first + u->d; i++) {
            s->pi[i] = s->r[i] - (i > u->first ? u->tangent : u->normal) * s->w[i];
        }
    }
}

int many_pair(sparse_prox *s, const many_task *task, int effort, int cold)
{
    double last = HUGE_VAL;
    int end = s->factorizations + effort;
    s->has_factor = 0;
    for (int step = 0; step < STEPS && !many_spent(s, task); step++) {
        look(s);
        double error = many_certify(s, task, s->x, s->r), kappa = fmin(SHARE / error, FIRM);
        if (error <= MANY_EXACT || !(error < last)) {
            break;
        }
        if (cold && step == 0) {
            hold(s);
            kappa = FIRM;
        }
        int same = s->has_factor && memcmp(s->state, s->factored, (size_t)s->t.units) == 0;
        if (!same || (error > KEEP * last && error > task->aim)) {
            if (s->factorizations >= end || !factor(s, kappa)) {
                break;
            }
        }
        last = error;
        advance(s);
    }
    return s->best <= task->tolerance;
}
