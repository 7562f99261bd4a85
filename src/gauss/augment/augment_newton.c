/* Coulomb's law by augmented multipliers: Newton's method for one world, in the rows that may push.
 *
 * With W = J H \ J' the speeds of the rows are w = free + W lambda. With the projection P of
 * z = (z_n, z_t) onto the law,
 *
 *     open     z_n <= 0                     P = 0
 *     sticks   |z_t| <= mu z_n              P = z
 *     slides   else                         P = (z_n, mu z_n t),     t = z_t/|z_t|
 *
 * Coulomb's law is lambda = P(z), z = lambda - k (w - b), for one k > 0 and then for every one:
 * where it sticks w = b, and where it slides w_t is opposite to lambda_t (Alart and Curnier 1991;
 * De Saxce and Feng 1998 have it as one projection). lambda - P(z) with k = 1/G, times G, is a
 * speed: the residual of the law. G is the speed that a unit impulse gives, the largest entry of W
 * on its diagonal.
 *
 * A step. For the current modes the law is linear in the results of the step, lambda and w, except
 * for the direction t, which is taken from z; with k_t = mu z_n/(G (|z_t| - mu z_n)), which at the
 * solution is mu lambda_n/|w_t|, the rate at which friction turns with the slip,
 *
 *     open     lambda = 0
 *     sticks   w = b (w_t = 0)
 *     slides   w_n = b,     lambda_t = mu lambda_n t - k_t (1 - tt') w_t
 *
 * A condition w = b is replaced by lambda = lambda before - rho (w - b), with a large rho =
 * stiff/G: it misses b by (lambda - lambda before)/rho, which vanishes as steps are repeated, by a
 * factor of about 1/stiff each. Then W may have any rank: where points can share a load in many
 * ways (four feet, the corners of a box) one of these is found, near the previous multipliers. In
 * units of speed, the rows of a step are
 *
 *     holds    (G/stiff) lambda + W lambda = b - free + (G/stiff) lambda before
 *     slips    G (lambda_t - mu t lambda_n) + G k_t (1 - tt') (free_t + W_t lambda) = 0
 *
 * They are eliminated from the last to the first without pivoting, those of friction before the
 * normal one of their point: pivots may become small, and the solution is checked. Points that are
 * open have no rows. So a step costs about m^3/3 operations for m rows of closed points, 7 on
 * average for a humanoid that flails (bench/batch), where a matrix of its 27 speeds would have to
 * be assembled and factored otherwise. Eight worlds take steps together while there are several of
 * them with something to do: augment_together.c.
 *
 * Before the first step SWEEPS sweeps over the blocks (each solved with the others as they are, a
 * projected Gauss-Seidel method) show roughly what pushes and what slides: they cost about as much
 * as two steps, and save half of them. Then whole steps are taken. stiff is STIFF while modes
 * change, as stiffer rows make multipliers vary wildly where points can share them in many ways,
 * and STIFFEST where they do not. k_t is at most STIFFEST/G: the direction of very slow sliding
 * turns almost at once. (All of these, and MOST, determine the cost of a step and how many worlds
 * remain unsolved: test_soft8.c guards them.)
 *
 * Points that cannot all stick. Two points of one foot that stick have rows that depend on each
 * other, and gaps of different size leave them right sides that do not: they contradict each other
 * by what is of second order. Then one of them slides, by as little, and its multipliers are at the
 * edge of its cone; stiff rows move them far beyond it, and change the modes. So once stiff rows
 * have changed modes, a world's rows become stiffer only by SLOWLY per step: multipliers grow to
 * where something slides, and not much farther.
 *
 * Cycling modes. Where modes still change after CALM steps, which usually means that they cycle
 * with a period of two to five, they are decided by a mean of z and the previous one, for TURN
 * steps of 2 TURN.
 *
 * It ends where modes are the same before and after a step, and the residual of the law is CLOSE;
 * or FAIR, and not smaller after one more step: rows of points that share a load need not agree on
 * more digits than their gaps have.
 *
 * Beginning again. A world that is unsolved after MOST steps (2 in 1000 manipulators) begins again
 * up to TRIES times, with MOST/2 steps each, after AGAIN sweeps from where it is; its rows get
 * stiffer slowly from the start. That solves 9 of 10 of these, and costs less than the methods to
 * which the others are left. */
#include <string.h>

#include "gauss/augment/augment.h"
#include "gauss/augment/augment_numbers.h"
#include "math/four.h"

static inline double larger(double x, double y)
{
    return x > y ? x : y;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

void augment_clear(augment_problem *p)
{
    p->slots = p->rows = p->live = p->careful = p->tries = 0;
    p->fastest = p->best = 0;
}

int augment_add(augment_problem *p, int width, double mu, double b, const double *free)
{
    if (p->slots == AUGMENT_SLOTS || p->rows + width > AUGMENT_ROWS) {
        return -1;
    }
    augment_slot *k = &p->slot[p->slots];
    k->width = width;
    k->row = p->rows;
    k->closed = 1;
    k->slides = 0;
    k->mu = mu;
    k->b = b;
    k->G = k->natural = k->own = k->turn = k->t[0] = k->t[1] = 0;
    for (int r = 0; r < 3; r++) {
        k->free[r] = r < width ? free[r] : 0;
        k->lambda[r] = k->w[r] = k->then[r] = k->z[r] = k->best[r] = k->found[r] = 0;
        p->fastest = larger(fabs(k->free[r]), p->fastest);
    }
    p->rows += width;
    return p->slots++;
}

void augment_put(augment_problem *p, int a, int b, const double *tile)
{
    int row = p->slot[a].row, column = p->slot[b].row, width = p->slot[b].width;
    for (int r = 0; r < p->slot[a].width; r++) {
        for (int c = 0; c < width; c++) {
            double value = tile[width * r + c];
            p->W[(row + r) * AUGMENT_ROWS + column + c] = value;
            p->W[(column + c) * AUGMENT_ROWS + row + r] = value;
        }
    }
}

/* ---- The matrix of a step ------------------------------------------------------------------- */

static void list(augment_problem *p)
{
    augment_scratch *s = p->scratch;
    s->lines = 0;
    for (int i = 0; i < p->slots; i++) {
        const augment_slot *k = &p->slot[i];
        for (int r = 0; r < k->width && k->closed; r++) {
            s->line[s->lines++] = k->row + r;
        }
    }
}

/* The two rows of friction of a point that slides; its rows begin at `first`. */
static void fill_sliding(augment_problem *p, const augment_slot *k, int first)
{
    augment_scratch *s = p->scratch;
    double x = k->t[0], y = k->t[1], turn = k->G * k->turn;
    double by[2][2] = {{turn * (y * y), -(turn * (x * y))}, {-(turn * (x * y)), turn * (x * x)}};
    const double *W1 = p->W + (k->row + 1) * AUGMENT_ROWS, *W2 = W1 + AUGMENT_ROWS;
    for (int r = 0; r < 2; r++) {
        double *row = s->A[first + 1 + r];
        for (int c = 0; c < s->lines; c++) {
            row[c] = by[r][0] * W1[s->line[c]] + by[r][1] * W2[s->line[c]];
        }
        row[first] -= k->G * (k->mu * k->t[r]);
        row[first + 1 + r] += k->G;
        s->right[first + 1 + r] = -(by[r][0] * k->free[1] + by[r][1] * k->free[2]);
    }
}

/* The entries of a row of W at closed slots. */
static void pick(const augment_problem *p, const double *W, double *row)
{
    const augment_scratch *s = p->scratch;
    if (s->lines == p->rows) {
        memcpy(row, W, (size_t)s->lines * sizeof *row);
        return;
    }
    for (int c = 0; c < s->lines; c++) {
        row[c] = W[s->line[c]];
    }
}

static void fill(augment_problem *p)
{
    augment_scratch *s = p->scratch;
    for (int i = 0, first = 0; i < p->slots; i++) {
        const augment_slot *k = &p->slot[i];
        if (!k->closed) {
            continue;
        }
        double soft = k->G / p->stiff;
        for (int r = 0; r < (k->slides ? 1 : k->width); r++) {
            double *row = s->A[first + r];
            const double *W = p->W + (k->row + r) * AUGMENT_ROWS;
            pick(p, W, row);
            row[first + r] += soft;
            s->right[first + r] = (r == 0 ? k->b : 0) - k->free[r] + soft * k->lambda[r];
        }
        if (k->slides) {
            fill_sliding(p, k, first);
        }
        first += k->width;
    }
}

/* right = A \ right, from the last row to the first and back. What working on four numbers at a
 * time changes beyond the diagonal is not used any more. 0: a pivot vanished. */
ZW_CLONES static int solve(augment_scratch *s)
{
    double *x = s->right;
    int good = 1;
    for (int k = s->lines - 1; k >= 0; k--) {
        double *row = s->A[k], inverse = 1 / row[k];
        good &= fabs(row[k]) > 0;
        for (int i = 0; i < k; i++) {
            double *to = s->A[i], by = to[k] * inverse;
            if (by == 0) { /* bodies that are not connected */
                continue;
            }
            for (int c = 0; c < k; c += 4) {
                four_put(to + c, four_at(to + c) - by * four_at(row + c));
            }
            x[i] -= by * x[k];
        }
        row[k] = inverse;
    }
    for (int k = 0; k < s->lines; k++) {
        const double *row = s->A[k];
        double sum = x[k];
        for (int c = 0; c < k; c++) {
            sum -= row[c] * x[c];
        }
        x[k] = sum * row[k];
    }
    return good;
}

/* ---- The law -------------------------------------------------------------------------------- */

/* P at z; returns |z_t|. */
static double put_in_law(const augment_slot *k, const double *z, double *to, int *closed,
                         int *slides)
{
    double length = 0;
    *closed = z[0] > 0;
    *slides = 0;
    to[0] = *closed ? z[0] : 0;
    if (k->width == 3) {
        double most = k->mu * to[0];
        length = sqrt(z[1] * z[1] + z[2] * z[2]);
        *slides = *closed && length > most;
        double share = *slides ? most / length : 1;
        to[1] = *closed ? share * z[1] : 0;
        to[2] = *closed ? share * z[2] : 0;
    }
    return length;
}

/* The law at the multipliers and speeds after the step. Have modes changed? */
static int look_at(augment_slot *k, int mean, double *lost, double *size)
{
    double z[3] = {0};
    int closed, slides;
    for (int r = 0; r < k->width; r++) {
        z[r] = k->lambda[r] - k->natural * (k->w[r] - (r == 0 ? k->b : 0));
    }
    double length = put_in_law(k, z, k->then, &closed, &slides);
    for (int r = 0; r < k->width; r++) {
        *lost = larger(k->G * fabs(k->then[r] - k->lambda[r]), *lost);
    }
    *size = larger(k->G * k->then[0], *size);
    if (mean) {
        double spare[3];
        for (int r = 0; r < k->width; r++) {
            z[r] = MEAN * z[r] + (1 - MEAN) * k->z[r];
        }
        length = put_in_law(k, z, spare, &closed, &slides);
    }
    memcpy(k->z, z, sizeof z);
    if (slides) {
        double most = k->mu * z[0], turn = k->natural * most / (length - most);
        k->turn = turn < STIFFEST * k->natural ? turn : STIFFEST * k->natural;
        k->t[0] = z[1] / length;
        k->t[1] = z[2] / length;
    }
    int other = closed != k->closed || slides != k->slides;
    k->closed = closed;
    k->slides = slides;
    return other;
}

/* w = free + W lambda, for the multipliers of the closed slots. */
ZW_CLONES static void find_speeds(const augment_problem *p)
{
    augment_scratch *s = p->scratch;
    for (int i = 0; i < p->slots; i++) {
        for (int r = 0; r < p->slot[i].width; r++) {
            s->w[p->slot[i].row + r] = p->slot[i].free[r];
        }
    }
    for (int k = 0; k < s->lines; k++) {
        const double *W = p->W + s->line[k] * AUGMENT_ROWS;
        for (int c = 0; c < p->rows; c += 4) {
            four_put(s->w + c, four_at(s->w + c) + four_at(W + c) * s->right[k]);
        }
    }
}

/* The law at these speeds. */
static int look(augment_problem *p, double *lost)
{
    const augment_scratch *s = p->scratch;
    double off = 0, size = p->fastest;
    int late = p->age - CALM, mean = late >= 0 && late / TURN % 2 == 0, other = 0;
    find_speeds(p);
    for (int i = 0, at = 0; i < p->slots; i++) {
        augment_slot *k = &p->slot[i];
        for (int r = 0; r < k->width; r++) {
            k->lambda[r] = k->closed ? s->right[at + r] : 0;
            k->w[r] = s->w[k->row + r];
        }
        at += k->closed ? k->width : 0;
        other |= look_at(k, mean, &off, &size);
    }
    *lost = off / (size > 0 ? size : 1);
    return !other;
}

/* ---- Sweeps --------------------------------------------------------------------------------- */

/* The speeds of a slot: W has the same entries by rows and by columns. */
ZW_INLINE zw_real4 find_slot_speeds(const augment_problem *p, const augment_slot *k)
{
    const double *W = p->W + k->row, *lambda = p->scratch->right;
    zw_real4 w = {k->free[0], k->free[1], k->free[2], 0};
    for (int c = 0; c < p->rows; c++, W += AUGMENT_ROWS) {
        w += four_at(W) * lambda[c];
    }
    return w;
}

/* The law of one block after another, each with the others as they are. */
ZW_INLINE void sweep_slot(const augment_problem *p, const augment_slot *k)
{
    const double *W = p->W + k->row * AUGMENT_ROWS + k->row;
    double *lambda = p->scratch->right + k->row;
    zw_real4 w = find_slot_speeds(p, k);
    double now = lambda[0] - k->own * (w[0] - k->b), before = lambda[0];
    lambda[0] = now > 0 ? now : 0;
    if (k->width == 3) {
        double by = lambda[0] - before;
        double x = lambda[1] - k->natural * (w[1] + W[1] * by);
        double y = lambda[2] - k->natural * (w[2] + W[2] * by);
        double most = k->mu * lambda[0], square = x * x + y * y;
        double share = square > most * most ? most / sqrt(square) : 1;
        lambda[1] = share * x;
        lambda[2] = share * y;
    }
}

ZW_CLONES static void sweep(augment_problem *p, int count)
{
    double spare[2] = {0}, *lambda = p->scratch->right;
    for (int i = 0; i < p->slots; i++) {
        const augment_slot *k = &p->slot[i];
        memcpy(lambda + k->row, k->lambda, (size_t)k->width * sizeof *lambda);
    }
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < p->slots; i++) {
            sweep_slot(p, &p->slot[i]);
        }
    }
    for (int i = 0; i < p->slots; i++) {
        augment_slot *k = &p->slot[i];
        zw_real4 w = find_slot_speeds(p, k);
        for (int r = 0; r < k->width; r++) {
            k->lambda[r] = lambda[k->row + r];
            k->w[r] = w[r];
        }
        look_at(k, 0, &spare[0], &spare[1]);
    }
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static void restart(augment_problem *p, double stiff, int sweeps)
{
    for (int i = 0; i < p->slots; i++) {
        augment_slot *k = &p->slot[i];
        double G = 0;
        for (int r = k->row; r < k->row + k->width; r++) {
            double own = p->W[r * AUGMENT_ROWS + r];
            G = own > G ? own : G;
        }
        k->G = G > 0 ? G : 1;
        k->natural = 1 / k->G;
        double normal = p->W[k->row * AUGMENT_ROWS + k->row];
        k->own = normal > 0 ? 1 / normal : k->natural;
    }
    augment_set_out(p);
    p->stiff = stiff;
    sweep(p, sweeps);
}

void augment_set_out(augment_problem *p)
{
    p->age = p->careful = 0;
    p->live = 1;
    p->stiff = STIFF;
    p->best = FAIR;
}

void augment_restart(augment_problem *p)
{
    p->tries = TRIES;
    restart(p, STIFF, SWEEPS);
}

void augment_resume(augment_problem *p)
{
    p->tries = 0; /* without memory it begins anew */
    restart(p, STIFFEST, 0);
}

static void advance(augment_problem *p)
{
    double lost;
    list(p);
    fill(p);
    if (!solve(p->scratch)) {
        p->live = 0;
        p->best = FAIR;
        return;
    }
    int same = look(p, &lost), better = same && lost < p->best;
    int done = p->best < FAIR && !better;
    for (int i = 0; i < p->slots && better; i++) {
        memcpy(p->slot[i].best, p->slot[i].lambda, sizeof p->slot[i].best);
        memcpy(p->slot[i].found, p->slot[i].then, sizeof p->slot[i].found);
    }
    p->best = better ? lost : p->best;
    p->careful |= !same && p->stiff > STIFF;
    p->stiff = !same ? STIFF : p->careful ? fmin(SLOWLY * p->stiff, STIFFEST) : STIFFEST;
    p->age++;
    p->live = !done && p->best > CLOSE && p->age < MOST;
}

/* Does a world that is unsolved begin again? */
static int begins_again(augment_problem *p)
{
    if (augment_is_solved(p) || p->tries == 0) {
        return 0;
    }
    p->tries--;
    augment_set_out(p);
    p->age = MOST / 2;
    p->careful = 1;
    sweep(p, AGAIN);
    return 1;
}

int augment_advance(augment_problem *p)
{
    int steps = 0;
    do {
        while (p->live) {
            advance(p);
            steps++;
        }
    } while (begins_again(p));
    return steps;
}

int augment_is_solved(const augment_problem *p)
{
    return p->best < FAIR;
}
