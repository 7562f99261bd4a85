/* The force of soft rows as a function of their acceleration; soft.h has the law.
 *
 * lambda minimises 1/2 lambda' R lambda + lambda' (x - aref) over its convex set K. With z = R^-1/2
 * (aref - x) and lambda = R^-1/2 y, y is the projection of z onto R^1/2 K:
 *
 *   all            y = z                                   SOFT_EQUAL
 *   y >= 0         y = max(z, 0)                           SOFT_ABOVE, edges of SOFT_PYRAMID
 *   a box          z cut off at its ends                   SOFT_BOX
 *   a cone         R_j mu_j^2 is the same for all j > 0 (soft_rows.c), so R^1/2 K is the round cone
 *                  |y_t| <= m y_0,  m = mu_1 (R_1/R_0)^1/2:
 *                     |z_t| <= m z_0       y = z                              it sticks
 *                     m |z_t| <= -z_0      y = 0                              it is open
 *                     else                 y = alpha (1, m e),  e = z_t/|z_t|,
 *                                          alpha = (z_0 + m |z_t|)/(1 + m^2)  it slides
 *
 * The minimum, 1/2 |y|^2, is convex and once differentiable in x, with derivative -lambda; its
 * second derivative C is R^-1/2 P R^-1/2, P being the derivative of the projection: for sliding
 *
 *     P = g g'/(1 + m^2) + (m alpha/|z_t|) (1 - e e'),     g = (1, m e). */
#include <math.h>
#include <string.h>

#include "math/lane.h"
#include "system/soft/soft.h"

enum { OPEN, STICK, SLIDE };

static int corner(int i, int j)
{
    return i * (i + 1) / 2 + j;
}

static void clear(const soft_block *k, soft_reply *to)
{
    to->state = to->curved = 0;
    for (int i = 0; i < k->width; i++) {
        to->force[i] = to->rest[i] = 0;
    }
    for (int i = 0; i < corner(k->width, 0); i++) {
        to->C[i] = 0;
    }
}

static void reply_rows(const soft_block *k, const double *b, const double *D, const double *x,
                       soft_reply *to)
{
    for (int i = 0; i < k->width; i++) {
        double lambda = D[i] * (b[i] - x[i]);
        int end = k->kind == SOFT_BOX && fabs(lambda) > k->most;
        if (k->kind == SOFT_ABOVE && !(lambda > 0)) {
            continue;
        }
        if (end) {
            to->force[i] = to->rest[i] = lambda > 0 ? k->most : -k->most;
            to->state |= (lambda > 0 ? 2 : 3) << 2 * i;
            continue;
        }
        to->state |= 1 << 2 * i;
        to->force[i] = lambda;
        to->C[corner(i, i)] = D[i];
        to->rest[i] = D[i] * b[i];
    }
}

/* The same for one row: limits, friction of joints, and equalities of one row. */
static void reply_row(const soft_block *k, double b, double D, double x, soft_reply *to)
{
    double lambda = D * (b - x), end = lambda > 0 ? k->most : -k->most;
    int open = k->kind == SOFT_ABOVE && !(lambda > 0);
    int cut = k->kind == SOFT_BOX && fabs(lambda) > k->most;
    to->curved = 0;
    to->state = open ? 0 : !cut ? 1 : lambda > 0 ? 2 : 3;
    to->force[0] = open ? 0 : cut ? end : lambda;
    to->rest[0] = open ? 0 : cut ? end : D * b;
    to->C[0] = open || cut ? 0 : D;
}

/* All edges have the same D. Width is a constant where this is inlined, if it is 3. */
ZW_INLINE void reply_pyramid(const soft_block *k, const int width, const double *b, double D,
                             const double *x, soft_reply *to)
{
    double normal = 0, rest = 0;
    int pushing = 0, state = 0;
    for (int j = 1; j < width; j++) {
        double mu = k->mu[j - 1], along = mu * x[j], *C = to->C + corner(j, 0);
        double plus = D * (b[2 * j - 2] - x[0] - along), minus = D * (b[2 * j - 1] - x[0] + along);
        int up = plus > 0, down = minus > 0;
        plus = up ? plus : 0;
        minus = down ? minus : 0;
        double b_plus = up ? D * b[2 * j - 2] : 0, b_minus = down ? D * b[2 * j - 1] : 0;
        pushing += up + down;
        state |= (up + 2 * down) << 2 * j;
        normal += plus + minus;
        rest += b_plus + b_minus;
        to->force[j] = mu * (plus - minus);
        to->rest[j] = mu * (b_plus - b_minus);
        C[0] = (up - down) * mu * D;
        for (int i = 1; i < j; i++) {
            C[i] = 0;
        }
        C[j] = (up + down) * mu * mu * D;
    }
    to->C[0] = pushing * D;
    to->force[0] = normal;
    to->rest[0] = rest;
    to->state = state;
    to->curved = 0;
}

static void reply_cone(const soft_block *k, const double *b, const double *D, const double *x,
                       soft_reply *to)
{
    double root[6], z[6] = {0}, square = 0, m = k->mu[0] * sqrt(D[0] / D[1]);
    for (int i = 0; i < k->width; i++) {
        root[i] = sqrt(D[i]);
        z[i] = root[i] * (b[i] - x[i]);
        square += i > 0 ? z[i] * z[i] : 0;
    }
    double t = sqrt(square);
    to->state = t <= m * z[0] ? STICK : m * t <= -z[0] ? OPEN : SLIDE;
    if (to->state == STICK) {
        for (int i = 0; i < k->width; i++) {
            to->force[i] = root[i] * z[i];
            to->C[corner(i, i)] = D[i];
            to->rest[i] = D[i] * b[i];
        }
    } else if (to->state == SLIDE) {
        double share = 1 / (1 + m * m), alpha = (z[0] + m * t) * share, beta = m * alpha / t;
        double g[6] = {1};
        to->curved = 1;
        for (int i = 1; i < k->width; i++) {
            g[i] = m * z[i] / t;
        }
        for (int i = 0; i < k->width; i++) {
            to->force[i] = root[i] * alpha * g[i];
            for (int j = 0; j <= i; j++) {
                double P = g[i] * g[j] * share;
                P += j > 0 ? beta * ((i == j) - z[i] / t * (z[j] / t)) : 0;
                to->C[corner(i, j)] = root[i] * root[j] * P;
            }
        }
        for (int i = 0; i < k->width; i++) {
            to->rest[i] = to->force[i];
            for (int j = 0; j < k->width; j++) {
                to->rest[i] += to->C[i > j ? corner(i, j) : corner(j, i)] * x[j];
            }
        }
    }
}

void soft_law(const soft_block *k, const double *b, const double *D, const double *x,
              soft_reply *to)
{
    if (k->kind == SOFT_PYRAMID) {
        if (k->width == 3) {
            reply_pyramid(k, 3, b, D[0], x, to);
        } else {
            reply_pyramid(k, k->width, b, D[0], x, to);
        }
        return;
    }
    if (k->width == 1 && k->kind <= SOFT_BOX) {
        reply_row(k, b[0], D[0], x[0], to);
        return;
    }
    clear(k, to);
    switch (k->kind) {
    case SOFT_CONE:
        reply_cone(k, b, D, x, to);
        break;
    case SOFT_MASS:
        to->force[0] = -k->most * x[0];
        to->C[0] = k->most;
        break;
    default:
        reply_rows(k, b, D, x, to);
        break;
    }
}

void soft_law_force(const soft_block *k, const double *b, const double *D, const double *x,
                    soft_reply *to)
{
    if (k->kind != SOFT_PYRAMID) {
        soft_law(k, b, D, x, to);
        return;
    }
    double normal = 0;
    int state = 0;
    for (int j = 1; j < k->width; j++) {
        double mu = k->mu[j - 1], along = mu * x[j], D0 = D[0];
        double plus = D0 * (b[2 * j - 2] - x[0] - along),
               minus = D0 * (b[2 * j - 1] - x[0] + along);
        int up = plus > 0, down = minus > 0;
        plus = up ? plus : 0;
        minus = down ? minus : 0;
        state |= (up + 2 * down) << 2 * j;
        normal += plus + minus;
        to->force[j] = mu * (plus - minus);
    }
    to->force[0] = normal;
    to->state = state;
    to->curved = 0;
}
