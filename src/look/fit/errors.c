/* Errors of the results of a fit.
 *
 * If the noise were known, the covariance of the unknowns would be C = (A'A)^-1, A being
 * derivatives divided by noise. Estimated weights scatter: the square of the noise of channel c by
 * the part sqrt(2/f_c) of it, f_c being its free residuals (fit.c). With the information N_c =
 * A_c'A_c of its rows, A'A = sum of N_c, this adds
 *
 *     L = C [sum of 2/f_c (N_c - N_c C N_c)] C
 *
 * to the covariance, and makes C itself too small by as much: C + 2 L (Kackar and Harville 1984,
 * Kenward and Roger 1997). With one channel L is 0. Intervals are those of Student's distribution,
 * by its expansion about the normal one, with the freedoms that Welch (1947) gives to a sum of
 * variances. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/fit/fit.h"

#define NONE 1e-8        /* derivatives are accurate to about this, */
#define CLEAR 5          /* standard deviations */
#define DIGITS 1e-6      /* of what was recorded */
#define NONE_ROBOTS 1e-6 /* and those of robots by numbers of the model to this */

double fit_none(const zw_fit *fit)
{
    return fit->system->tree ? NONE_ROBOTS : NONE;
}

int fit_is_known(const zw_fit *fit, size_t direction)
{
    return fit->value[direction] > fit_none(fit) * fit->value[0];
}

/* In the basis of singular directions, in which C is 1/value^2: to[u][u] += by (N - N C N) of a
 * channel. */
static void add_scatter(const zw_fit *fit, int channel, double by, double *N, double *to)
{
    size_t u = (size_t)fit->count;
    memset(N, 0, u * u * sizeof *N);
    for (long i = 0; i < fit->rows; i++) {
        const double *a = fit->A + (size_t)i * u;
        for (size_t k = 0; k < u * u && fit->row[i].channel == channel; k++) {
            N[k] += a[k / u] * a[k % u]; /* V' A_c' A_c V, as A is U S by now */
        }
    }
    for (size_t k = 0; k < u * u; k++) {
        double sum = N[k];
        for (size_t j = 0; j < u && fit_is_known(fit, j); j++) {
            sum -= N[k / u * u + j] * N[j * u + k % u] / (fit->value[j] * fit->value[j]);
        }
        to[k] += by * sum;
    }
}

/* 2 L of the head, added to the covariance. */
static zw_status add_scatters(zw_fit *fit, zw_error *error)
{
    size_t u = (size_t)fit->count;
    double *L = base_alloc(2 * u * u * sizeof *L);
    if (!L) {
        return base_no_memory(error);
    }
    memset(L, 0, 2 * u * u * sizeof *L);
    for (int c = 0; c < fit->channels; c++) {
        if (fit->scale[c] > 0 && !fit->given[c]) {
            add_scatter(fit, c, 4 / fit->free[c], L + u * u, L);
        }
    }
    for (size_t i = 0; i < u * u; i++) {
        for (size_t k = 0; k < u * u; k++) {
            size_t a = k / u, b = k % u;
            if (fit_is_known(fit, a) && fit_is_known(fit, b)) {
                double square = fit->value[a] * fit->value[a] * fit->value[b] * fit->value[b];
                fit->covariance[i] += fit->V[i / u * u + a] * fit->V[i % u * u + b] * L[k] /
                                      (square * fit->size[i / u] * fit->size[i % u]);
            }
        }
    }
    base_free(L);
    return ZW_OK;
}

/* Directions without effect; and the covariance over the others. */
static zw_status find_covariance(zw_fit *fit, zw_error *error)
{
    size_t u = (size_t)fit->count;
    memset(fit->covariance, 0, u * u * sizeof *fit->covariance);
    fit->report.nulls = 0;
    for (size_t k = 0; k < u; k++) {
        double s = fit->value[k], most = 0;
        double *null = fit->null + (size_t)fit->report.nulls * u;
        for (size_t i = 0; i < u && s > fit_none(fit) * fit->value[0]; i++) {
            for (size_t j = 0; j < u; j++) {
                fit->covariance[i * u + j] +=
                    fit->V[i * u + k] * fit->V[j * u + k] / (s * s * fit->size[i] * fit->size[j]);
            }
        }
        if (s > fit_none(fit) * fit->value[0]) {
            continue;
        }
        int held = 0;
        for (size_t i = 0; i < u; i++) {
            double part = fabs(fit->V[i * u + k]) < 100 * fit_none(fit)
                              ? 0
                              : fit->V[i * u + k] / fit->size[i];
            null[i] = part;
            most = fabs(part) > fabs(most) ? part : most;
            held |= part != 0 && fit->bound[i];
        }
        for (size_t i = 0; i < u && !held; i++) {
            null[i] /= most;
        }
        fit->report.nulls += !held; /* a direction held by a bound is no null direction */
    }
    zw_status status = add_scatters(fit, error);
    for (size_t i = 0; i < u; i++) {
        for (int k = 0; k < fit->report.nulls; k++) {
            if (fit->null[(size_t)k * u + i] != 0) {
                fit->covariance[i * u + i] = INFINITY;
            }
        }
    }
    for (size_t i = 0; i < u * u; i++) {
        double a = fit->covariance[i / u * u + i / u], b = fit->covariance[i % u * u + i % u];
        int known = isfinite(a) && isfinite(b) && a > 0 && b > 0;
        fit->correlation[i] = i / u == i % u ? 1 : known ? fit->covariance[i] / sqrt(a * b) : 0;
    }
    return status;
}

/* Of a variance that is a sum of those of several channels, each estimated from its own numbers:
 * the freedoms of Welch (1947). Noise that was given has any number of them. */
static void find_freedoms(zw_fit *fit)
{
    size_t u = (size_t)fit->count;
    for (size_t k = 0; k < u; k++) {
        double all = 0, squares = 0;
        for (int c = 0; c < fit->channels; c++) {
            double part = 0;
            for (long i = 0; i < fit->rows; i++) {
                double x = 0;
                for (size_t j = 0; j < u && fit->row[i].channel == c && fit_is_known(fit, j); j++) {
                    x += fit->A[(size_t)i * u + j] * fit->V[k * u + j] /
                         (fit->value[j] * fit->value[j]);
                }
                part += x * x;
            }
            all += part;
            squares += part > 0 && !fit->given[c] ? part * part / fit->free[c] : 0;
        }
        fit->freedom[k] = squares > 0 ? fmax(all * all / squares, 1) : INFINITY;
    }
}

/* Residuals that are no noise. Of n independent ones, the statistic has a standard deviation of
 * 2/sqrt(n), and the mean of their squares one of sqrt(2/n). Those that are smaller than the digits
 * of a recording are not looked at. */
static void find_unexplained(zw_fit *fit)
{
    fit->report.unexplained = 0;
    for (int c = 0; c < fit->channels; c++) {
        const fit_row *last = NULL;
        double squares = 0, changes = 0, pairs = 0, count = 0, before = 0;
        for (long i = 0; i < fit->rows; i++) {
            const fit_row *row = &fit->row[i];
            double r = fit->residual[i];
            if (row->channel != c) {
                continue;
            }
            if (last && last->recording == row->recording) {
                changes += (r - before) * (r - before);
                pairs++;
            }
            squares += r * r;
            count++;
            before = r;
            last = row;
        }
        fit->alike[c] = pairs > 0 && squares > 0 ? changes / pairs / (squares / count) : 2;
        double high = squares / (fit->sigma[c] * fit->sigma[c] * fit->free[c]) - 1;
        int alike = (2 - fit->alike[c]) * sqrt(pairs) > 2 * CLEAR;
        int large = fit->given[c] && high > CLEAR * sqrt(2 / fit->free[c]);
        fit->report.unexplained +=
            fit->scale[c] > 0 && (alike || large) && fit->sigma[c] > DIGITS * fit->scale[c];
    }
}

zw_status fit_find_errors(zw_fit *fit, zw_error *error)
{
    zw_status status = find_covariance(fit, error);
    find_freedoms(fit);
    find_unexplained(fit);
    return status;
}
