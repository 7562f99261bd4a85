/* Window and degree of a piece.
 *
 * At probes spread over the piece, each of a series of window lengths and each degree is rated by
 * the error estimate of fit.c. That estimate assumes that the coefficients decay; for a window so
 * long that they have not begun to, it is a guess. So the deviations of the samples are used as
 * well: they must not exceed those from fits of short windows, which are the noise, nor the
 * accuracy of the recording. A window that exceeds both is rated worse in proportion. */
#include <math.h>
#include <string.h>

#include "math/dense/dense.h"
#include "path/fit/fit_inner.h"

enum { PROBES = 12, LADDER = 40 };
#define GOOD                                                                                       \
    2.0             /* windows with so many times the least error are good enough: the longest is  \
                       taken */
#define EXCUSED 4.0 /* times the allowed mean square */

double fit_level(const fitter *f, int k, int degree)
{
    enum { TAIL = 6 };
    const double *c = f->c + (size_t)k * BASIS_MOST;
    double sum = 0;
    int count = 0;
    for (int j = degree - 1; j < f->size && count < TAIL; j++, count++) {
        sum += c[j] * c[j];
    }
    return count > 0 ? sum / count : 0;
}

double fit_miss(const fitter *f, int k, int degree)
{
    const double *c = f->c + (size_t)k * BASIS_MOST;
    double sum = f->left[k];
    for (int j = degree + 1; j < f->size; j++) {
        sum += c[j] * c[j];
    }
    return sum / (f->basis->samples - degree - 1);
}

double fit_score(const fitter *f, int degree)
{
    double sum = 0;
    for (int k = 0; k < f->samples->n; k++) {
        double scale = f->samples->scale[k], floor = f->samples->noise[k];
        if (scale > 0) {
            double miss = fit_miss(f, k, degree);
            double level =
                fmax(fmax(fit_level(f, k, degree), miss), fmax(floor * floor, f->usual[k]));
            sum += level / (scale * scale) * (1 + miss / (EXCUSED * f->allowed[k]));
        }
    }
    return fmax(sum, 1e-34);
}

/* For each column, the median over the probes (the largest value if `most`) of the mean square of
 * the deviations from fits of this degree to windows of this length; `size` polynomials are
 * computed. */
static void median_miss(fitter *f, int window, int size, int degree, int most, double *miss)
{
    enum { MANY = 15 };
    long slack = f->end - f->first - 1 - (long)(window - 1) * f->stride;
    int probes = slack < MANY ? (int)slack + 1 : MANY, n = f->samples->n;
    for (int probe = 0; probe < probes; probe++) {
        long start = f->first + (probes > 1 ? probe * slack / (probes - 1) : 0);
        fit_window(f, start, window, size);
        fit_project(f, start);
        fit_leave(f, start);
        for (int k = 0; k < n; k++) {
            double *found = f->sorted + (size_t)k * MANY, now = fit_miss(f, k, degree);
            int i = probe;
            for (; i > 0 && found[i - 1] > now; i--) {
                found[i] = found[i - 1];
            }
            found[i] = now;
        }
    }
    for (int k = 0; k < n; k++) {
        miss[k] = f->sorted[(size_t)k * MANY + (size_t)(most ? probes - 1 : probes / 2)];
    }
}

enum { SHORT = 13, SHORT_DEGREE = 7 };

static long samples_of(const fitter *f, int stride)
{
    return (f->end - f->first - 1) / stride + 1;
}

static int within(const fitter *f, const double *miss)
{
    for (int k = 0; k < f->samples->n; k++) {
        if (!(miss[k] <= EXCUSED * f->allowed[k])) {
            return 0;
        }
    }
    return 1;
}

/* The allowed deviations from a fit: the noise that short windows show, or the accuracy of the
 * recording if that is larger. Returns whether it is the noise. */
static int allow(fitter *f)
{
    int noisy = 0;
    for (int k = 0; k < f->samples->n; k++) {
        double accuracy = f->samples->accuracy[k], floor = f->samples->noise[k];
        f->allowed[k] = fmax(fmax(accuracy * accuracy, floor * floor), 1e-300);
        f->usual[k] = 0;
    }
    f->stride = 1;
    if (samples_of(f, 1) < SHORT) {
        return 0;
    }
    median_miss(f, SHORT, SHORT - 1, SHORT_DEGREE, 0, f->mean);
    for (int k = 0; k < f->samples->n; k++) {
        noisy |= f->mean[k] > f->allowed[k];
        f->allowed[k] = fmax(f->allowed[k], f->mean[k]);
    }
    return noisy;
}

/* A recording with more samples than its motion needs is fitted to every second, fourth ... of
 * them, as long as short windows of those still resolve it and the longest windows do not cover all
 * of it. That allows windows that are long enough in time. Where noise dominates, every sample is
 * used. */
static int thin(fitter *f, int noisy)
{
    int stride = 1;
    while (!noisy && samples_of(f, 2 * stride) >= 2 * FIT_LONGEST) {
        f->stride = 2 * stride;
        median_miss(f, SHORT, SHORT - 1, SHORT_DEGREE, 1, f->mean);
        if (!within(f, f->mean)) {
            break;
        }
        stride *= 2;
    }
    return stride;
}

/* The noise is what the longest acceptable windows leave, including all structure in it; no window
 * is assumed to have less. */
static void find_noise(fitter *f)
{
    long length = samples_of(f, f->stride);
    int window = length < FIT_LONGEST ? (int)length : FIT_LONGEST;
    for (; window >= SHORT; window = window * 3 / 5) {
        int size = window - 1 < BASIS_MOST ? window - 1 : BASIS_MOST;
        median_miss(f, window, size, size - 1 - FIT_SPARE, 0, f->mean);
        if (within(f, f->mean)) {
            memcpy(f->usual, f->mean, (size_t)f->samples->n * sizeof(double));
            return;
        }
    }
}

/* sum_(j <= degree) p_j''(t)^2 for all degrees. */
static void add_gain(const path_basis *basis, double t, double weight, double *gain)
{
    double p[3][BASIS_MOST], sum = 0;
    basis_at(basis, basis->size, t, p);
    for (int j = 0; j < basis->size; j++) {
        sum += p[2][j] * p[2][j];
        gain[j] += weight * sum;
    }
}

typedef struct choice {
    double best[BASIS_MOST]; /* mean log of the error squared, by degree */
    double end[BASIS_MOST];  /* the same near the end of the piece */
    int size;
} choice;

/* Errors for windows of this length, by degree. */
static void try_window(fitter *f, int window, choice *it)
{
    long slack = f->end - f->first - 1 - (long)(window - 1) * f->stride;
    int probes = slack < PROBES ? (int)slack + 1 : PROBES;
    int want = window - 1 < BASIS_MOST ? window - 1 : BASIS_MOST;
    memset(it, 0, sizeof *it);
    it->size = want;
    for (int probe = 0; probe < probes; probe++) {
        long start = f->first + (probes > 1 ? probe * slack / (probes - 1) : slack / 2);
        double gain[BASIS_MOST] = {0}, outer[BASIS_MOST] = {0};
        const double *t = f->when;
        int middle = window / 2, off = window / (2 * FIT_HOPS);
        fit_window(f, start, window, want);
        it->size = f->basis->size < it->size ? f->basis->size : it->size;
        add_gain(f->basis, t[middle], 0.5, gain);
        add_gain(f->basis, t[middle - off], 0.25, gain);
        add_gain(f->basis, t[middle + off], 0.25, gain);
        add_gain(f->basis, t[0], 0.5, outer);
        add_gain(f->basis, t[middle / 2], 0.5, outer);
        fit_project(f, start);
        fit_leave(f, start);
        for (int degree = 3; degree + FIT_SPARE < it->size; degree++) {
            double score = fit_score(f, degree);
            it->best[degree] += log(score * gain[degree]) / probes;
            it->end[degree] += log(score * outer[degree]) / probes;
        }
    }
}

static int best_degree(const double *score, int size, int most)
{
    int best = 3;
    for (int degree = 4; degree + FIT_SPARE < size && degree <= most; degree++) {
        best = score[degree] < score[best] ? degree : best;
    }
    return best;
}

/* The best window length with this stride. */
static fit_shape climb(fitter *f)
{
    fit_shape list[LADDER];
    double score[LADDER], best = INFINITY;
    int count = 0, worse = 0;
    long length = samples_of(f, f->stride);
    for (double w = FIT_LEAST; count < LADDER && worse < 6; w *= 1.3) {
        int window = w < (double)length ? (int)w : (int)length;
        choice it;
        try_window(f, window, &it);
        int degree = best_degree(it.best, it.size, BASIS_MOST);
        list[count] = (fit_shape){window, f->stride, degree, best_degree(it.end, it.size, degree)};
        score[count] = it.best[degree];
        worse = score[count] > best + 2 * log(30) ? worse + 1 : 0;
        best = fmin(best, score[count++]);
        if (window == length || window * 1.3 > FIT_LONGEST) {
            break;
        }
    }
    int take = count - 1;
    while (take > 0 && !(score[take] <= best + 2 * log(GOOD))) {
        take--;
    }
    return list[take];
}

fit_shape fit_choose(fitter *f)
{
    int noisy = allow(f), stride = thin(f, noisy);
    for (;;) {
        f->stride = stride;
        find_noise(f);
        fit_shape s = climb(f);
        int longest = s.window * 1.3 > FIT_LONGEST;
        if (!noisy || !longest || samples_of(f, 2 * stride) < 2 * FIT_LONGEST) {
            return s;
        }
        stride *= 2;
    }
}
