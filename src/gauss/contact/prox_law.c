#include "gauss/contact/prox_law.h"

#include <math.h>
#include <string.h>

#include "math/dense/dense.h"

#define NEAR_END                                                                                   \
    1e-6 /* relative to a cone or a box: a guess this close to its surface is on it                \
          */

void prox_interval(const zw_block *block, double scale, prox_unit *it)
{
    int box = block->kind == ZW_BOX, equality = block->kind == ZW_EQUALITY;
    it->low = box ? block->limit[0] / scale : equality ? -HUGE_VAL : 0;
    it->high = box ? block->limit[1] / scale : HUGE_VAL;
}

/* lambda = P(z), and its mode. */
void prox_project(int coulomb, const prox_unit *it, const double *z, prox_state *now,
                  double *lambda)
{
    int d = it->rows;
    if (d == 1) {
        now->mode = z[0] >= it->high ? PROX_FULL : z[0] > it->low ? PROX_HELD : PROX_OPEN;
        lambda[0] = interval_nearest(it->low, it->high, z[0]);
        return;
    }
    double across = cone_tangent(d, z);
    if (!coulomb) {
        cone_side side = cone_project(d, z, lambda);
        now->mode = side == CONE_INSIDE    ? PROX_HELD
                    : side == CONE_OUTSIDE ? PROX_OPEN
                                           : PROX_SLIDES;
    } else {
        now->mode = z[0] <= 0 ? PROX_OPEN : across <= z[0] ? PROX_HELD : PROX_SLIDES;
        lambda[0] = now->mode == PROX_OPEN ? 0 : z[0];
        for (int i = 1; i < d; i++) {
            lambda[i] = now->mode == PROX_OPEN   ? 0
                        : now->mode == PROX_HELD ? z[i]
                                                 : z[0] * (z[i] / across);
        }
    }
    if (now->mode == PROX_SLIDES) {
        now->curve = z[0] / across;
        for (int i = 1; i < d; i++) {
            now->t[i] = z[i] / across;
        }
    }
}

/* At the very start: units with a force are held, or slide; those without are held if they
 * approach. */
void prox_guess(prox_unit *it, const double *r, const double *z, double least)
{
    int slides = it->rows > 1 && r[0] > 0 && cone_tangent(it->rows, r) > (1 - NEAR_END) * r[0];
    double low = it->rows > 1 ? 0 : it->low, high = it->rows > 1 ? HUGE_VAL : it->high;
    double near = high < HUGE_VAL && low > -HUGE_VAL ? NEAR_END * (high - low) : 0;
    it->now.mode = slides                                           ? PROX_SLIDES
                   : r[0] >= high - near && !(z[0] < high - least)  ? PROX_FULL
                   : r[0] > low + near || z[0] > low + near + least ? PROX_HELD
                                                                    : PROX_OPEN;
}

/* D, d x d, of what slides. */
void prox_slope(int coulomb, int d, const prox_state *now, double D[CONE_MAX][CONE_MAX])
{
    D[0][0] = coulomb ? 1 : 0.5;
    for (int i = 1; i < d; i++) {
        D[i][0] = coulomb ? now->t[i] : 0.5 * now->t[i];
        D[0][i] = coulomb ? 0 : 0.5 * now->t[i];
        for (int j = 1; j < d; j++) {
            double turn = (i == j) - now->t[i] * now->t[j];
            D[i][j] = coulomb ? now->curve * turn : 0.5 * ((i == j) + now->curve * turn);
        }
    }
}

/* P extended from where r would stay if it slid in the direction of its friction, at the current
 * slip: z' has the tangential direction of r, and P(z') = r up to the distance of r from the cone's
 * surface. Friction follows the tangential force, whose part k w belongs to a gap that is not
 * closed yet and vanishes with the step: its direction is that of the step's derivatives, as a
 * difference would remain as a force, times k. */
void prox_carry_on(int coulomb, prox_unit *it, int by_used, const double *r, const double *z,
                   double *lambda)
{
    int d = it->rows;
    double push = cone_tangent(d, r), slip[CONE_MAX], off[CONE_MAX], D[CONE_MAX][CONE_MAX];
    prox_state *now = &it->now;
    for (int i = 0; i < d; i++) {
        lambda[i] = now->mode == PROX_OPEN ? 0 : z[i];
        slip[i] = z[i] - r[i];
    }
    if (d == 1 && now->mode != PROX_HELD) {
        lambda[0] = now->mode == PROX_OPEN ? it->low : it->high;
    }
    if (now->mode != PROX_SLIDES) {
        return;
    }
    if (!(push > 0)) {
        prox_project(coulomb, it, z, now, lambda);
        return;
    }
    double speed = cone_tangent(d, slip), across = push + speed;
    double normal = coulomb ? r[0] : r[0] - speed; /* by the convex law a sliding contact lifts */
    now->curve = fmin(normal / across, 1);
    for (int i = 1; i < d; i++) {
        now->t[i] = r[i] / push;
        off[i] = z[i] - across * now->t[i];
    }
    off[0] = z[0] - normal;
    prox_slope(coulomb, d, now, D);
    for (int i = 1; i < d && by_used; i++) {
        D[i][0] = D[0][0] * it->used.t[i];
    }
    for (int i = 0; i < d; i++) {
        lambda[i] = i == 0 ? r[0] : r[0] * now->t[i];
        for (int k = 0; k < d; k++) {
            lambda[i] += D[i][k] * off[k];
        }
    }
}

double prox_reach(const prox_unit *it, const double *r, const double *way)
{
    if (it->rows == 1 || it->now.mode != PROX_HELD) { /* what slides may open */
        double end = it->rows > 1 ? 0 : way[0] > 0 ? it->high : it->low;
        int goes = it->rows > 1 ? way[0] < 0 : way[0] != 0 && it->now.mode == PROX_HELD;
        return goes ? fmax((end - r[0]) / way[0], 0) : HUGE_VAL;
    }
    /* |r_T + t way_T| = r_N + t way_N, a t^2 + 2 b t - c = 0 with c >= 0 inside the cone. */
    double a = dense_dot(it->rows, way, way) - 2 * way[0] * way[0];
    double b = dense_dot(it->rows, r, way) - 2 * r[0] * way[0];
    double c = 2 * r[0] * r[0] - dense_dot(it->rows, r, r);
    double root = b * b + a * c;
    if (!(c > 0)) {
        return 0;
    }
    return root < 0 || b + sqrt(root) <= 0 ? HUGE_VAL : c / (b + sqrt(root));
}

/* ---- Sweeps ---------------------------------------------------------------------------------- */

/* One unit as the others leave it; by how much it changes. */
static double sweep_unit(const prox_unit *it, const double *W, int lines, const double *q,
                         double *lambda)
{
    const int i = it->at, cone = it->rows > 1;
    double *own = lambda + i, w[CONE_MAX], before = own[0], size = 0, change = 0;
    W += (long)i * lines + i;
    dense_lines_times(1, lines, W - i, lambda, w);
    own[0] = interval_nearest(cone ? 0 : it->low, cone ? HUGE_VAL : it->high,
                              W[0] > 0 ? own[0] - (w[0] + q[i]) / W[0] : own[0]);
    before -= own[0];
    change = fabs(before);
    if (cone && own[0] == 0) { /* it is open */
        memset(own + 1, 0, (size_t)(it->rows - 1) * sizeof *own);
        return change;
    }
    dense_lines_times(it->rows - 1, lines, W - i + lines, lambda, w + 1);
    for (int r = 1; r < it->rows; r++) {
        size = fmax(size, W[r * lines + r]);
    }
    for (int r = 1; r < it->rows && size > 0; r++) {
        double step = (w[r] + q[i + r]) / size;
        own[r] -= step;
        change = fmax(change, fabs(step));
    }
    double across = cone ? cone_tangent(it->rows, own) : 0;
    if (!(across > own[0])) {
        return change;
    }
    for (int r = 1; r < it->rows; r++) {
        own[r] *= own[0] / across;
    }
    return fabs(before);
}

int prox_sweeps(int units, const prox_unit *unit, const double *W, int lines, const double *q,
                double enough, double *lambda)
{
    enum { SWEEPS = 200 };
    double size = 0;
    for (int s = 1; s <= SWEEPS; s++) {
        double most = 0;
        for (int k = 0; k < units; k++) {
            most = fmax(most, sweep_unit(&unit[k], W, lines, q, lambda));
        }
        for (int i = 0; i < lines; i++) {
            size = lambda[i] > size ? lambda[i] : size;
        }
        if (!(most > enough * size)) {
            return s;
        }
    }
    return SWEEPS;
}
