/* Newton's method for a whole step, when it is known what sticks, slides and is open.
 *
 * The equations of a step (impulse.c) are r(u) = B' lambda and the laws of its rows, whose speeds
 * w(u) are those of q1: gap/h, slip, phi/h. As in gauss/contact/prox.c a law is lambda = P(lambda -
 * k w), with a weight k and the projection P of the row or cone. With slopes N of r, G of w, and D
 * of P, one step of Newton is
 *
 *     (N + k B' D G) du = B' P(lambda - k w) - r,      lambda' = P(lambda - k w) - k D G du
 *
 * for the current modes: P is extended linearly from the mode of lambda. Rows may be dependent:
 * lambda stays as it was in undetermined directions.
 *
 * N is H with the derivatives of the momenta, S' P of balance_slopes, in place of M(q0): a speed du
 * changes the momenta, carries the bodies to where these are taken, and turns them there. What is
 * left out are S of the iterate, if theta > 0, and what B lambda changes by as it acts elsewhere,
 * both O(h^2).
 *
 * The rows of a cone have one scale, by which it is the self-dual one. The rows of moments are then
 * short: coefficients of rolling friction are lengths of 1e-4 m, and by the weight k alone such a
 * moment grows to what holds the body in thousands of steps. Where that is seen, moments of what
 * sticks get weights of their own, k times `stiff`, as rows of length one have: what sticks has no
 * use for the cone, as P is the identity there, row by row. They do not have them from the start:
 * with equal weights, loads that can be shared in many ways stay in the middle of the cones.
 *
 * B are the rows that impulses act along, G those of the iterate: a roller (impulse_roll.c) pushes
 * along those of q0 and slips by the mean of both. That mean is half of J(q0) u + J(q1) u, of which
 * the second depends on q1 too: altogether the slope is J(q1) up to O(h^2), if the point stays on
 * its bodies. The same holds for constraints.
 *
 * The factors are kept for all rounds of a step (the chord method), and so are B, D and G: the
 * residuals are those of the iterate. So a round costs as much as evaluating the iterate. Global
 * convergence is not guaranteed: the rounds check it, and use the kernel where it fails. */
#include <math.h>
#include <string.h>

#include "math/dense/dense.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

enum { TRIES = 3, FEW_TRIES = 2 }; /* with the last modes: then sweeps, or another method */

#define SETTLED 1e-10 /* error of the laws, relative, before another evaluation; */
#define EXACT 1e-14   /* and at the end of a step, which has none: or as small as requested */
#define ROUGH 1e-3    /* sweeps end at such changes of multipliers, */
#define FINE 1e-7     /* and the second time */
#define TURNED                                                                                     \
    1e-2 /* the factors are valid for sliding directions that turned by no more than this */

/* ---- The factors ----------------------------------------------------------------------------- */

/* The rows of the problem, scaled. */
static void put_rows(impulse_chord *x, const impulse_problem *p)
{
    double *to[] = {x->B, x->G};
    const double *from[] = {p->value, p->slope};
    for (int k = 0; k < (x->G == x->B ? 1 : 2) && p->rows > 0; k++) {
        memset(to[k], 0, (size_t)p->rows * (size_t)x->wide * sizeof(double));
        for (int i = 0; i < p->rows; i++, to[k] += x->wide) {
            for (int e = p->start[i]; e < p->start[i + 1]; e++) {
                to[k][p->column[e]] = x->scale[i] * from[k][e];
            }
        }
    }
}

/* Scales of the rows of block b: as prox.c has them. */
static void scale_block(impulse_chord *x, const impulse_problem *p, int b)
{
    const zw_block *block = &p->block[b];
    int cone = block->kind == ZW_CONE, first = p->first[b];
    double longest = 0;
    for (int r = 0; r < block->rows; r++) {
        double mu = cone && r > 0 ? block->friction[r - 1] : 1, square = p->give[first + r];
        for (int e = p->start[first + r]; e < p->start[first + r + 1]; e++) {
            double part = p->value[e] * x->inverse[p->column[e]];
            square += part * part;
        }
        x->scale[first + r] = cone ? mu : square > 0 ? 1 / sqrt(square) : 1;
        x->stiff[first + r] = 1;
        x->stiffer[first + r] = cone && r > 2 && square > 0 ? 1 / (mu * mu * square) : 0;
        longest = fmax(longest, mu * mu * square);
    }
    for (int r = 0; r < block->rows && cone && longest > 0; r++) {
        x->scale[first + r] /= sqrt(longest);
        x->stiffer[first + r] *= longest;
    }
}

static void list_units(impulse_chord *x, const impulse_problem *p)
{
    x->units = 0;
    for (int b = 0; b < p->blocks; b++) {
        const zw_block *block = &p->block[b];
        int step = block->kind == ZW_CONE ? block->rows : 1;
        scale_block(x, p, b);
        for (int i = p->first[b]; i < p->first[b] + block->rows; i += step) {
            prox_unit *it = &x->unit[x->units++];
            *it = (prox_unit){.at = i, .rows = step, .columns = p->start[i + 1] - p->start[i]};
        }
    }
}

/* The parts of the units that belong to an iterate: the ends of intervals change with the time of a
 * flight. */
static void renew_units(impulse_chord *x, const impulse_problem *p)
{
    for (int b = 0, k = 0; b < p->blocks; b++) {
        for (int end = p->first[b] + p->block[b].rows; k < x->units && x->unit[k].at < end; k++) {
            prox_unit *it = &x->unit[k];
            double s = x->scale[it->at];
            it->column = p->column + p->start[it->at];
            it->soft = 1 / (1 + CHORD_WEIGHT * s * s * p->give[it->at]);
            prox_interval(&p->block[b], s, it);
        }
    }
}

/* z = lambda - k w of the iterate, in scaled units. */
static void find_z(impulse_chord *x, const impulse_problem *p, const double *u, int anew)
{
    renew_units(x, p);
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        for (int i = it->at; i < it->at + it->rows; i++) {
            double w = -p->b[i], s = x->scale[i];
            for (int e = p->start[i]; e < p->start[i + 1]; e++) {
                w += p->value[e] * u[p->column[e]];
            }
            x->lambda[i] = s > 0 ? p->guess[i] / s : 0;
            int forget = anew && it->now.mode == PROX_HELD;
            x->speed[i] = x->off[i] = CHORD_WEIGHT * s * w;
            x->z[i] = it->soft * ((forget ? 0 : x->lambda[i]) - x->speed[i]);
        }
    }
}

int chord_holds(const prox_unit *it)
{
    return it->now.mode == PROX_HELD || it->now.mode == PROX_SLIDES;
}

/* K += k B' D G of one unit, whose columns are those of its first row. */
static void fold(impulse_chord *x, const prox_unit *it)
{
    double *B = x->B + (size_t)it->at * (size_t)x->wide,
           *G = x->G + (size_t)it->at * (size_t)x->wide;
    if (it->now.mode == PROX_SLIDES) {
        double D[CONE_MAX][CONE_MAX], T[CONE_MAX * 8 * ((CHORD_MOST + 7) / 8)];
        prox_slope(x->coulomb, it->rows, &it->now, D);
        dense_product(0, it->rows, it->rows, x->wide, D[0], CONE_MAX, 1, G, x->wide, T, x->wide);
        dense_fold(it->columns, it->column, it->rows, CHORD_WEIGHT, B, T, x->wide, x->K);
        return;
    }
    int forces = it->rows < 3 ? it->rows : 3;
    dense_fold(it->columns, it->column, forces, CHORD_WEIGHT * it->soft, B, G, x->wide, x->K);
    for (int i = forces; i < it->rows; i++) {
        dense_fold(it->columns, it->column, 1, CHORD_WEIGHT * it->soft * x->stiff[it->at + i],
                   B + i * x->wide, G + i * x->wide, x->wide, x->K);
    }
}

static void put_metric(impulse_chord *x, const impulse_matrix *H)
{
    memset(x->N, 0, (size_t)(x->n * x->wide) * sizeof(double));
    for (int j = 0; j < x->n; j++) {
        for (int k = H->start[j]; k < H->start[j + 1]; k++) {
            int i = H->row[k];
            x->N[i * x->wide + j] = x->N[j * x->wide + i] = H->value[k];
        }
    }
}

/* K for the modes of now, and its factors; 0: there are none. */
static int factor(step_impulse *s)
{
    impulse_chord *x = &s->chord;
    memcpy(x->K, x->N, (size_t)(x->n * x->wide) * sizeof(double));
    for (int k = 0; k < x->units; k++) {
        prox_unit *it = &x->unit[k];
        if (chord_holds(it)) {
            fold(x, it);
        }
        it->used = it->now;
    }
    s->work->effort.factors++;
    return dense_ul(x->n, x->K, x->wide, x->U) == x->n;
}

/* G of contacts, whose rows come last. */
static void put_contact_slopes(step_impulse *s)
{
    impulse_chord *x = &s->chord;
    int contacts = x->units - s->touch.found.count;
    double slope[3 * CHORD_MOST];
    if (s->touch.found.count > 0) {
        tree_velocities(s->system->tree, s->u, s->work->sweeps);
    }
    for (int k = 0; k < s->touch.found.count; k++) {
        const prox_unit *it = &x->unit[contacts + k];
        impulse_contact_slopes(s, k, slope);
        for (int r = 0; r < 3 && r < it->rows; r++) {
            double *G = x->G + (size_t)(it->at + r) * (size_t)x->wide;
            for (int e = 0; e < it->columns; e++) {
                G[it->column[e]] = x->scale[it->at + r] * slope[r * it->columns + e];
            }
        }
    }
}

/* Units, rows and H of a problem, linear: rows are their slopes. 0: no room, or H is no metric. */
static int open_problem(step_impulse *s, const impulse_problem *p, int linear)
{
    impulse_chord *x = &s->chord;
    if (!x->is_there || p->no_memory || !chord_make_room(x, p)) {
        return 0;
    }
    for (int i = 0; i < x->n; i++) {
        double H = matrix_diagonal(&s->H, i);
        if (!(H > 0)) {
            return 0;
        }
        x->inverse[i] = 1 / sqrt(H);
    }
    x->G = linear ? x->B : x->G;
    x->coulomb = p->options.contact != ZW_CONTACT_CONVEX;
    x->blocks = problem_blocks(p);
    put_metric(x, &s->H);
    list_units(x, p);
    put_rows(x, p);
    return 1;
}

/* N += the derivatives of the momenta at the iterate, in place of the masses at q0. */
static void add_momenta(step_impulse *s)
{
    impulse_chord *x = &s->chord;
    const tree_mechanism *tree = s->system->tree;
    const double *M = s->begin + tree->at.M;
    const balance_step step = {.place = s->theta > 0 ? s->place : s->begin,
                               .sweeps = s->middle,
                               .v = s->u,
                               .f = 0.5 * (1 + s->theta) * s->h};
    balance_slopes(s->system, &step, x->scratch, x->N, x->wide);
    for (int d = 0; d < x->n; d++) {
        for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
            int e = tree->column[k];
            x->N[d * x->wide + e] -= M[k];
            x->N[e * x->wide + d] -= e == d ? 0 : M[k];
        }
        x->N[d * x->wide + d] += tree->armature[d];
    }
}

int chord_factor(step_impulse *s)
{
    if (!open_problem(s, &s->problem, 0)) {
        return 0;
    }
    add_momenta(s);
    find_z(&s->chord, &s->problem, s->u, 0);
    chord_guess_modes(s);
    put_contact_slopes(s);
    return factor(s);
}

/* ---- A round --------------------------------------------------------------------------------- */

int chord_fits(const step_impulse *s)
{
    return s->chord.is_there && problem_blocks(&s->problem) == s->chord.blocks;
}

/* Has a unit turned since the factors were computed, so that they are no longer valid for it? */
static int has_turned(const prox_unit *it)
{
    double off = fabs(it->now.curve - it->used.curve) / (it->used.curve + TURNED);
    for (int i = 1; i < it->rows; i++) {
        off = fmax(off, fabs(it->now.t[i] - it->used.t[i]));
    }
    return it->now.mode == PROX_SLIDES && !(off <= TURNED);
}

/* change = P(z), extended in its mode with the derivatives of the factors, minus lambda. 1: they
 * are not valid for that. */
static int continue_laws(impulse_chord *x)
{
    int turned = 0;
    for (int k = 0; k < x->units; k++) {
        prox_unit *it = &x->unit[k];
        double *to = x->change + it->at;
        prox_carry_on(x->coulomb, it, 1, x->lambda + it->at, x->z + it->at, to);
        for (int i = it->at; i < it->at + it->rows; i++) {
            double more = it->now.mode == PROX_HELD ? (x->stiff[i] - 1) * x->off[i] : 0;
            x->change[i] -= x->lambda[i] + more;
        }
        turned |= has_turned(it);
    }
    return turned;
}

/* to[rows] -= k D G way of one unit */
static void follow(const impulse_chord *x, const prox_unit *it, double *to)
{
    double D[CONE_MAX][CONE_MAX];
    const double *dw = x->dw + it->at;
    if (it->now.mode == PROX_SLIDES) {
        prox_slope(x->coulomb, it->rows, &it->used, D);
    }
    for (int i = 0; i < it->rows; i++) {
        double sum = it->soft * x->stiff[it->at + i] * dw[i];
        for (int j = 0; j < it->rows && it->now.mode == PROX_SLIDES; j++) {
            sum = (j == 0 ? 0 : sum) + D[i][j] * dw[j];
        }
        to[i] -= CHORD_WEIGHT * sum;
    }
}

/* way = K \ (way + B' change), and change becomes lambda + change - k D G way: the multipliers. */
static void solve(impulse_chord *x, int more)
{
    int rows = x->units > 0 ? x->unit[x->units - 1].at + x->unit[x->units - 1].rows : 0;
    dense_combine(rows, x->wide, x->change, 1, x->B, x->wide, x->way);
    dense_ul_solve(x->n, x->K, x->wide, x->U, x->way);
    dense_lines_times(rows, x->wide, x->G, x->way, x->dw);
    for (int i = 0; i < rows; i++) {
        x->moved[i] = x->dw[i] + (more ? x->moved[i] : 0);
    }
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        if (chord_holds(it)) {
            follow(x, it, x->change + it->at);
        }
        for (int i = it->at; i < it->at + it->rows; i++) {
            x->change[i] += x->lambda[i];
        }
    }
}

/* The step for these modes: way, and in change the multipliers after it; 0: there is none. */
static int aim(step_impulse *s)
{
    impulse_chord *x = &s->chord;
    if (continue_laws(x)) {
        if (!factor(s)) {
            return 0;
        }
        continue_laws(x);
    }
    memcpy(x->way, x->lack, (size_t)x->wide * sizeof(double));
    solve(x, 0);
    return 1;
}

/* lambda and z after the step. */
static void look_after(impulse_chord *x)
{
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        for (int r = it->at; r < it->at + it->rows; r++) {
            x->lambda[r] = x->change[r];
            x->off[r] = x->speed[r] + CHORD_WEIGHT * x->moved[r];
            x->z[r] = it->soft * (x->change[r] - x->speed[r] - CHORD_WEIGHT * x->moved[r]);
        }
    }
}

/* The error of the laws, relative to the largest multiplier: speeds of sticking rows, times k the
 * change of their multipliers, and friction of sliding ones. */
static double off_laws(const impulse_chord *x)
{
    double off = 0, most = 0;
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        const double *change = x->change + it->at, *lambda = x->lambda + it->at;
        const double *stiff = x->stiff + it->at;
        int slides = it->now.mode == PROX_SLIDES;
        for (int i = 0; i < it->rows; i++) {
            double weight = CHORD_WEIGHT * (slides ? 1 : stiff[i]);
            double part =
                slides && i > 0 ? change[i] - it->now.t[i] * change[0] : change[i] / weight;
            off = fabs(part) > off ? fabs(part) : off;
            most = fabs(lambda[i]) > most ? fabs(lambda[i]) : most;
        }
    }
    return most > 0 ? off / most : 0;
}

/* Larger weights for moments, if one that sticks does not have it yet: factors are not valid for
 * these. Only the first call can answer 1. */
static int stiffen(impulse_chord *x)
{
    int rows = 0, lags = 0;
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        rows = it->at + it->rows;
        for (int i = it->at; i < rows && it->now.mode == PROX_HELD; i++) {
            lags |= x->stiffer[i] > x->stiff[i];
        }
    }
    for (int i = 0; i < rows && lags; i++) {
        x->stiff[i] = fmax(x->stiff[i], x->stiffer[i]);
    }
    return lags;
}

/* The factors depend on the directions of what slides, and nothing else that changes here. */
static int slides(const impulse_chord *x)
{
    int found = 0;
    for (int k = 0; k < x->units; k++) {
        found |= x->unit[k].now.mode == PROX_SLIDES;
    }
    return found;
}

/* One step leaves, of the speeds of sticking rows, 1/k of the change of their multipliers, and the
 * law of sliding is not linear. So it is repeated with the same rows and derivatives, which costs
 * little compared with evaluating the next iterate. 0: there are no factors; -1: the weights have
 * changed. */
static int settle(step_impulse *s, double enough, int last)
{
    enum { MORE = 6 };
    impulse_chord *x = &s->chord;
    double before = INFINITY;
    const int still = !slides(x);
    int fresh = still;
    for (int k = 0;; k++) {
        look_after(x);
        int turned = continue_laws(x);
        double off = off_laws(x);
        int slow = off > 0.1 * before;
        if (slow && off > enough && stiffen(x)) {
            return -1;
        }
        if (k == (last ? 2 * MORE : MORE) || !(off > enough) || (slow && (fresh || !last))) {
            return 1;
        }
        before = off;
        fresh = slow || still;
        if ((turned || slow) && !factor(s)) {
            return 0;
        }
        if (turned || slow) {
            continue_laws(x);
        }
        memcpy(x->first, x->way, (size_t)x->wide * sizeof(double));
        memset(x->way, 0, (size_t)x->wide * sizeof(double));
        solve(x, 1);
        for (int i = 0; i < x->n; i++) {
            x->way[i] += x->first[i];
        }
    }
}

/* The step from the current lack and z, with modes that are those of its end: after these attempts
 * by sweeps. `few`: without these. `last`: there will be no other evaluation. 0: none are found;
 * -1: the weights have changed. */
static int follow_modes(step_impulse *s, int rows, int tries, int few, double enough, int last)
{
    enum { MORE = 4 };
    const int again = tries + MORE;
    for (int k = 0;; k++) {
        if (k > 0 || tries > 0) {
            if (!aim(s)) {
                return 0;
            }
            if (!chord_change_modes(&s->chord)) {
                return settle(s, enough, last);
            }
        }
        int sweeps = k == tries || k == again;
        if ((few && k + 1 == tries) || k == again + MORE ||
            (sweeps && !chord_sweep(&s->chord, rows, k == tries ? ROUGH : FINE)) || !factor(s)) {
            return 0;
        }
    }
}

/* The same with modes from the multipliers of the problem. */
static int follow_multipliers_by(step_impulse *s, const impulse_problem *p, const double *gain,
                                 int tries, int few, double enough)
{
    impulse_chord *x = &s->chord;
    find_z(x, p, s->u, 0);
    for (int k = 0; k < x->units; k++) {
        prox_unit *it = &x->unit[k];
        const double *lambda = x->lambda + it->at, *z = x->z + it->at;
        prox_guess(it, lambda, z, 0);
        if (it->now.mode == PROX_SLIDES) {
            prox_carry_on(x->coulomb, it, 0, lambda, z, x->change + it->at);
        }
    }
    problem_guess_push(p, x->lack);
    for (int i = 0; i < x->n; i++) {
        x->lack[i] += gain[i];
    }
    return factor(s) ? follow_modes(s, p->rows, tries, few, enough, 1) : 0;
}

/* With weights that change once at most. */
static int follow_multipliers(step_impulse *s, const impulse_problem *p, const double *gain,
                              int tries, int few, double enough)
{
    int found = follow_multipliers_by(s, p, gain, tries, few, enough);
    return found < 0 ? follow_multipliers_by(s, p, gain, tries, few, enough) : found;
}

/* The same from an iterate, with its modes. */
static int follow_iterate(step_impulse *s, int anew)
{
    impulse_chord *x = &s->chord;
    find_z(x, &s->problem, s->u, anew);
    for (int i = 0; i < x->n; i++) {
        x->lack[i] = s->push[i] - s->r[i];
    }
    return follow_modes(s, s->problem.rows, TRIES, 0, SETTLED, 0);
}

void chord_follow(const impulse_chord *x, double *to)
{
    for (int k = 0; k < x->units; k++) {
        if (chord_holds(&x->unit[k])) {
            follow(x, &x->unit[k], to + x->unit[k].at);
        }
    }
}

int chord_step(step_impulse *s, int anew)
{
    impulse_chord *x = &s->chord;
    impulse_problem *p = &s->problem;
    int found = follow_iterate(s, anew);
    if (found < 0) {
        found = factor(s) && follow_iterate(s, 0);
    }
    if (!found) {
        return 0;
    }
    for (int i = 0; i < p->rows; i++) {
        x->z[i] = x->scale[i] * x->lambda[i];
    }
    if (s->touch.land.seek.moves > 0) {
        impulse_seek_growth(s);
    }
    for (int i = 0; i < x->n; i++) {
        s->u[i] += x->way[i];
    }
    return problem_accept(p, x->z);
}

/* ---- Linear problems ------------------------------------------------------------------------- */

/* Are the laws that accurate, and the modes those of the end of the repeated step? There lambda =
 * P(z), up to k times a speed. */
static int is_answer(const impulse_chord *x, double enough)
{
    double most = 0, off = 0;
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        const double *lambda = x->lambda + it->at;
        double law[CONE_MAX];
        prox_state there;
        prox_project(x->coulomb, it, x->z + it->at, &there, law);
        for (int i = 0; i < it->rows; i++) {
            off = fmax(off, fabs(law[i] - lambda[i]));
            most = fmax(most, fabs(lambda[i]));
        }
    }
    return off_laws(x) <= enough && off <= CHORD_WEIGHT * enough * most;
}

int chord_solve(step_impulse *s, impulse_problem *p, int few, const double *gain, double *v)
{
    impulse_chord *x = &s->chord;
    double enough = p->wanted > 0 ? p->wanted : SETTLED;
    double fair = few ? enough : fmax(enough, p->fair); /* the kernel gets no farther either */
    if (!open_problem(s, p, 1)) {
        return 0;
    }
    double close = p->wanted >= SETTLED ? SETTLED : EXACT;
    int sweeps = close < SETTLED; /* where the kernel would cost more than that */
    if (!(follow_multipliers(s, p, gain, few ? FEW_TRIES : TRIES, few, close) &&
          is_answer(x, fair)) &&
        !(sweeps && !few && follow_multipliers(s, p, gain, 0, 0, close) && is_answer(x, enough))) {
        return 0;
    }
    for (int i = 0; i < p->rows; i++) {
        p->guess[i] = x->scale[i] * x->lambda[i];
    }
    for (int i = 0; i < x->n; i++) {
        v[i] = s->u[i] + x->way[i];
    }
    p->answer = (gauss_islands_answer){
        .a = v, .lambda = p->guess, .certificate = off_laws(x), .worst_block = -1};
    return 1;
}
